/* One engine per state folder: a lock that dies with its holder.
 *
 * flock on a file that is never removed (removing it would let two holders lock two files of one
 * name). The holder's pid is written into it for messages only; the kernel is what decides. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

/* On success *fd holds the lock until lock_drop or the end of the process (close-on-exec, so
 * children do not keep it). ERR_BUSY names the holder's pid.
 * wait: blocks in the kernel, at most wait_ms (-1: without limit). */
bool lock_take(const char *path, bool wait, int64_t wait_ms, int *fd, Err *err) NODISCARD;
void lock_drop(int *fd); /* sets it to -1; -1 is fine */
