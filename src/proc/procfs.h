/* Reading /proc: the few fields that proc/ needs. Private to this room. */
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcStat {
    char state; /* 'R', 'S', 'Z', ... */
    pid_t parent, session;
    uint64_t start_ticks;
} ProcStat;

/* false with errno: ENOENT or ESRCH when there is no such process, EPROTO for an odd line. */
bool procfs_stat(pid_t pid, ProcStat *stat);
/* The next process of an opendir("/proc"); 0 at the end. */
pid_t procfs_next(DIR *proc);
/* pidfd_open and pidfd_send_signal; -1 with errno. */
int procfs_pidfd(pid_t pid);
bool procfs_signal(int pidfd, int signo);
