/* The descendants of a process (or other processes), held by pidfd so that a reused pid is never
 * hit. Private to this room; costs a scan of /proc, so it is for time-outs and not for every day.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Family {
    int *pidfds;
    size_t count, size;
} Family;

/* Adds the processes below root and those of its session. May be called again: somebody who is
 * found twice is only signalled twice. */
void family_collect(Family *family, pid_t root);
void family_push(Family *family, int pidfd); /* takes it */
void family_signal(const Family *family, int signo);
/* Until each has ended or the time (clock_mono_ms) is up; returns how many have. */
size_t family_wait(const Family *family, int64_t until_ms);
void family_done(Family *family);
