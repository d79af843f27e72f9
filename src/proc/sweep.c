/* The second net: see sweep.h. */
#include "proc/sweep.h"
#include "base/clock.h"
#include "base/str.h"
#include "proc/family.h"
#include "proc/procfs.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ENVIRON_LIMIT_BYTES = 4 * 1024 * 1024, /* the kernel's own limit is near */
    SWEEP_LIMIT_MS = 5000,
    ROUND_MOST = 512, /* descriptors held at a time */
};

typedef struct Sweep {
    const char *marker;
    size_t marker_length;
    Str scratch;
    int64_t until_ms;
    int killed;
} Sweep;

static bool read_environ(pid_t pid, Str *text)
{
    char path[32], chunk[16 * 1024];
    struct stat about;
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid); /* always fits */
    str_clear(text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_mine = fstat(fd, &about) == 0 && about.st_uid == geteuid();
    for (ssize_t got; is_mine && text->length < ENVIRON_LIMIT_BYTES;) {
        if ((got = read(fd, chunk, sizeof chunk)) <= 0)
            break;
        str_add_bytes(text, chunk, (size_t)got);
    }
    (void)close(fd); /* only read from */
    return text->length > 0;
}

/* A whole entry: between two NULs, not a part of a longer one. */
static bool has_mark(Sweep *sweep, pid_t pid)
{
    if (!read_environ(pid, &sweep->scratch))
        return false;
    const char *at = sweep->scratch.bytes, *end = at + sweep->scratch.length;
    while (at < end) {
        size_t length = strnlen(at, (size_t)(end - at));
        if (length == sweep->marker_length && memcmp(at, sweep->marker, length) == 0)
            return true;
        at += length + 1;
    }
    return false;
}

/* The pidfd is opened before the second look, so the look and the signal mean one process. */
static void kill_marked(Sweep *sweep, pid_t pid, Family *hit)
{
    int pidfd = procfs_pidfd(pid);
    if (pidfd >= 0 && has_mark(sweep, pid) && procfs_signal(pidfd, SIGKILL))
        family_push(hit, pidfd);
    else if (pidfd >= 0)
        (void)close(pidfd); /* gone, or not ours */
}

/* One look at every process: signal all, then see them die. True when somebody was hit, so that
 * the last look is one that hits nobody. */
static bool sweep_round(Sweep *sweep, DIR *proc)
{
    Family hit = {0};
    rewinddir(proc);
    for (pid_t pid; hit.count < ROUND_MOST && (pid = procfs_next(proc));)
        if (pid != getpid() && has_mark(sweep, pid))
            kill_marked(sweep, pid, &hit);
    bool has_hit = hit.count > 0;
    sweep->killed += (int)family_wait(&hit, sweep->until_ms);
    family_done(&hit);
    return has_hit;
}

bool sweep_marked(const char *marker, int *killed, Err *err)
{
    Sweep sweep = {.marker = marker,
                   .marker_length = strlen(marker),
                   .until_ms = clock_mono_ms() + SWEEP_LIMIT_MS};
    const char *equals = strchr(marker, '=');
    if (!equals || equals == marker || !equals[1])
        return err_set(err, ERR_USAGE, "'%s' is not a mark of the form NAME=VALUE", marker);
    DIR *proc = opendir("/proc");
    if (!proc)
        return err_errno(err, "'/proc'");
    bool has_hit;
    do {
        has_hit = sweep_round(&sweep, proc);
    } while (has_hit && clock_mono_ms() < sweep.until_ms);
    (void)closedir(proc); /* only read from */
    str_done(&sweep.scratch);
    if (killed)
        *killed = sweep.killed;
    return !has_hit || err_set(err, ERR_PROCESS, "processes with '%s' do not end", marker);
}
