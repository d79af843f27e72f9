/* The descendants of a process: see family.h. */
#include "proc/family.h"
#include "base/arena.h"
#include "base/clock.h"
#include "proc/procfs.h"
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 4096 }; /* a fork bomb may be larger; the group kill takes the rest */

typedef struct Member {
    pid_t pid, parent;
    uint64_t start_ticks;
    bool is_ours;
} Member;

typedef struct Census {
    Member *members;
    size_t count, size;
} Census;

static void census_take(Census *census, pid_t root)
{
    DIR *proc = opendir("/proc");
    ProcStat stat;
    for (pid_t pid; proc && (pid = procfs_next(proc));) {
        if (!procfs_stat(pid, &stat))
            continue;
        if (census->count == census->size) {
            census->size = census->size ? census->size * 2 : 256;
            census->members = mem_grow(census->members, census->size, sizeof(Member));
        }
        census->members[census->count++] =
            (Member){pid, stat.parent, stat.start_ticks, pid == root || stat.session == root};
    }
    if (proc)
        (void)closedir(proc); /* only read from */
}

static bool parent_is_ours(const Census *census, pid_t parent)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->members[i].pid == parent)
            return census->members[i].is_ours;
    return false;
}

static void census_mark(Census *census)
{
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < census->count; i++) {
            Member *member = &census->members[i];
            if (!member->is_ours && parent_is_ours(census, member->parent))
                member->is_ours = has_changed = true;
        }
    }
}

void family_push(Family *family, int pidfd)
{
    if (family->count == family->size) {
        family->size = family->size ? family->size * 2 : 16;
        family->pidfds = mem_grow(family->pidfds, family->size, sizeof *family->pidfds);
    }
    family->pidfds[family->count++] = pidfd;
}

static void family_add(Family *family, const Member *member)
{
    ProcStat stat;
    int pidfd = procfs_pidfd(member->pid);
    if (pidfd < 0)
        return;
    if (!procfs_stat(member->pid, &stat) || stat.start_ticks != member->start_ticks) {
        (void)close(pidfd); /* somebody else by now */
        return;
    }
    family_push(family, pidfd);
}

void family_collect(Family *family, pid_t root)
{
    Census census = {0};
    census_take(&census, root);
    census_mark(&census);
    for (size_t i = 0; i < census.count && family->count < MOST; i++)
        if (census.members[i].is_ours && census.members[i].pid != root)
            family_add(family, &census.members[i]);
    free(census.members);
}

void family_signal(const Family *family, int signo)
{
    for (size_t i = 0; i < family->count; i++)
        (void)procfs_signal(family->pidfds[i], signo); /* ESRCH: it is gone, as wished */
}

size_t family_wait(const Family *family, int64_t until_ms)
{
    size_t ended = 0;
    for (size_t i = 0; i < family->count; i++) {
        struct pollfd gone = {family->pidfds[i], POLLIN, 0};
        int64_t left_ms = MAX(until_ms - clock_mono_ms(), 0);
        ended += poll(&gone, 1, (int)MIN(left_ms, 1000000)) == 1;
    }
    return ended;
}

void family_done(Family *family)
{
    for (size_t i = 0; i < family->count; i++)
        (void)close(family->pidfds[i]); /* a handle, no data */
    free(family->pidfds);
    *family = (Family){0};
}
