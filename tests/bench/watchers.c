/* Agents that never end: see watchers.h. */
#include "tests/bench/watchers.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/procfs.h"
#include <stdlib.h>
#include <unistd.h>

bool watched_wait(Watched *watched, const char *file, size_t count, Err *err)
{
    int64_t until = clock_mono_ms() + 60000;
    for (;;) {
        size_t length = 0;
        Err ignored;
        int32_t *pids =
            (int32_t *)file_read(file, sizeof(int32_t) * WATCHED_MOST, &length, &ignored);
        watched->count = MIN(length / sizeof *pids, (size_t)WATCHED_MOST);
        for (size_t i = 0; pids && i < watched->count; i++) {
            watched->pids[i] = pids[i];
            watched->pidfds[i] = -1;
        }
        free(pids);
        if (watched->count >= count)
            return true;
        if (clock_mono_ms() > until || is_interrupted())
            return err_set(err, ERR_BUSY, "only %zu of %zu processes have started", watched->count,
                           count);
        usleep(2000); /* the wait of this loop */
    }
}

static bool is_known(const Watched *watched, pid_t pid)
{
    for (size_t i = 0; i < watched->count; i++)
        if (watched->pids[i] == pid)
            return true;
    return false;
}

void watched_add_parents(Watched *parents, const Watched *children, pid_t not_this_one)
{
    for (size_t i = 0; i < children->count && parents->count < WATCHED_MOST; i++) {
        ProcStat stat;
        if (!procfs_stat(children->pids[i], &stat) || stat.parent == getpid() ||
            stat.parent == not_this_one || stat.parent <= 1 || is_known(children, stat.parent) ||
            is_known(parents, stat.parent))
            continue;
        parents->pids[parents->count] = stat.parent;
        parents->pidfds[parents->count++] = -1;
    }
}

bool watched_open(Watched *watched, Err *err)
{
    for (size_t i = 0; i < watched->count; i++) {
        watched->pidfds[i] = pidfd_of(watched->pids[i]);
        if (watched->pidfds[i] < 0)
            return err_errno(err, "process %d", (int)watched->pids[i]);
    }
    return true;
}

bool watched_wait_dead(const Watched *watched, int64_t timeout_ms, Err *err)
{
    for (size_t i = 0; i < watched->count; i++)
        if (!wait_readable(watched->pidfds[i], timeout_ms))
            return err_set(err, ERR_BUSY, "process %d did not die", (int)watched->pids[i]);
    return true;
}

void watched_close(Watched *watched)
{
    for (size_t i = 0; i < watched->count; i++)
        if (watched->pidfds[i] >= 0)
            (void)close(watched->pidfds[i]);
    watched->count = 0;
}
