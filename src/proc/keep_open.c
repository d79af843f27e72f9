/* The engine's side of a keeper: starting one, and finding the one of a journal. See keep.h. */
#include "base/arena.h"
#include "proc/keep_private.h"
#include "proc/procfs.h"
#include "proc/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SOON_MS = 20,     /* a keeper that is just starting or just ending */
    LATER_MS = 1000,  /* a probe failed */
    FIXED_WORDS = 20, /* of the keeper's command line */
};

/* -- starting ---------------------------------------------------------------------------- */

static const char **command_line(const KeepSpec *spec, Arena *arena)
{
    size_t count = 0, at = 0;
    while (spec->argv[count])
        count++;
    const char **words = arena_alloc(arena, (FIXED_WORDS + count + 1) * sizeof *words);
    const char *limit = arena_printf(arena, "%" PRId64, spec->journal_limit_bytes);
    const char *grace = arena_printf(arena, "%d", spec->grace_ms);
    const char *flags[][2] = {
        /* clang-format off */
        { "-d", spec->folder },
        { "-n", spec->name },
        { "-s", "0" },
        { "-w", spec->cwd },
        { "-i", spec->stdin_path },
        { "-c", spec->journal_limit_bytes > 0 ? limit : NULL },
        { "-g", spec->grace_ms > 0 ? grace : NULL },
        { "-m", spec->merge_err ? "1" : NULL },
        /* clang-format on */
    };
    words[at++] = spec->keeper;
    for (size_t i = 0; i < COUNT(flags); i++)
        if (flags[i][1]) {
            words[at++] = flags[i][0];
            words[at++] = flags[i][1];
        }
    words[at++] = "--";
    memcpy(words + at, spec->argv, count * sizeof *words); /* the rest is NULL */
    return words;
}

static bool start_keeper(const KeepSpec *spec, int theirs, pid_t *pid, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    /* The socket is the keeper's stdin: each descriptor passed costs the C library two calls. */
    SpawnSpec spawn = {.argv = command_line(spec, &arena),
                       .envp = spec->envp,
                       .in = theirs,
                       .out = -1,
                       .err = -1,
                       .flags = SPAWN_SESSION | SPAWN_NO_PIDFD};
    Spawned spawned;
    if (!spawn_process(&spawn, &spawned, err))
        return err_add(err, "keeper of '%s'", spec->name);
    *pid = spawned.pid;
    return true;
}

static bool name_is_valid(const char *name)
{
    return name[0] && name[0] != '.' && strlen(name) <= WIRE_NAME_BYTES && !strchr(name, '/');
}

Keep *keep_start(Loop *loop, const KeepSpec *spec, const KeepCalls *calls, void *user, Err *err)
{
    int ends[2];
    pid_t pid = 0;
    if (!name_is_valid(spec->name) || !spec->argv[0]) {
        err_set(err, ERR_USAGE, "'%s' cannot be the name of a run, or it has no program",
                spec->name);
        return NULL;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        err_errno(err, "socket for '%s'", spec->name);
        return NULL;
    }
    Keep *keep = keep_new(loop, spec->folder, spec->name, calls, user);
    /* Watched before the keeper is started: whatever fails, nothing runs unobserved. */
    bool is_started = keep_listen(keep, ends[0], err) && start_keeper(spec, ends[1], &pid, err);
    (void)close(ends[1]); /* the keeper has its own */
    if (!is_started) {
        keep_destroy(keep);
        return NULL;
    }
    keep->child = keep->started_pid = pid;
    return keep;
}

/* -- finding ----------------------------------------------------------------------------- */

/* A path in the folder, however long the folder's is: through a descriptor of it. */
static int connect_to(const Keep *keep)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder = open(keep->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int length = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s.sock",
                          folder, keep->name);
    int fd = -1;
    if (length > 0 && (size_t)length < sizeof address.sun_path)
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int failed = errno;
        (void)close(fd); /* never connected */
        errno = failed;
        fd = -1;
    }
    int failed = errno;
    (void)close(folder); /* a handle only */
    errno = failed;
    return fd;
}

/* Proof of death: the lock it held for life is free, and its process is not seen alive. */
static bool keeper_is_gone(Keep *keep)
{
    ProcIdent keeper = ident_from(keep->start.keeper_pid, keep->start.keeper_start_ticks);
    bool is_free = flock(keep->journal, LOCK_SH | LOCK_NB) == 0;
    if (!is_free && errno == EWOULDBLOCK)
        return false;
    if (!is_free) /* no locks on this file system: only a process proven dead counts */
        return ident_is_alive(&keeper) == PROC_DEAD;
    (void)flock(keep->journal, LOCK_UN); /* just taken */
    return ident_is_alive(&keeper) != PROC_ALIVE;
}

/* Not connected: it starts, it ends, or it is gone. */
static void look_without_socket(Keep *keep)
{
    Err ignored = {0};
    if (!keep_open_journal(keep)) {
        keep_look_again(keep, LATER_MS);
        return;
    }
    keep_read_start(keep);
    if (keep->start.keeper_pid > 0 && keep->pidfd < 0)
        keep->pidfd =
            procfs_pidfd(keep->start.keeper_pid); /* before the proof, so none is missed */
    if (keeper_is_gone(keep)) {
        keep_conclude(keep);
        return;
    }
    if (keep->pidfd < 0)
        keep_look_again(keep, SOON_MS); /* it has not come to its first frame */
    else {
        IGNORE(loop_watch(keep->loop, keep->pidfd, EPOLLIN, keep_on_death, keep, &ignored));
        keep_look_again(keep, LATER_MS); /* it listens as soon as it notices the old engine's end */
    }
}

void keep_look(Keep *keep)
{
    Err ignored = {0};
    int fd = connect_to(keep);
    if (fd >= 0) {
        if (!keep_listen(keep, fd, &ignored)) {
            (void)close(fd); /* nothing was said */
            keep->socket = -1;
            keep_look_again(keep, LATER_MS);
        } else if (keep->wish.type) {
            (void)send(fd, &keep->wish, WIRE_SHORT_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);
            keep->wish.type = 0; /* a failure is the end of the socket, which the loop tells */
        }
    } else if (errno == ENOENT || errno == ECONNREFUSED) {
        look_without_socket(keep);
    } else {
        keep_look_again(keep, errno == EAGAIN ? SOON_MS : LATER_MS);
    }
}

void keep_await_death(Keep *keep)
{
    Err ignored = {0};
    if (!keep->child) {
        look_without_socket(keep);
        return;
    }
    if (waitpid(keep->child, NULL, WNOHANG) == keep->child) {
        keep->child = 0;
        keep_conclude(keep);
        return;
    }
    keep->pidfd = procfs_pidfd(keep->child);
    if (keep->pidfd < 0 ||
        !loop_watch(keep->loop, keep->pidfd, EPOLLIN, keep_on_death, keep, &ignored))
        keep_look_again(keep, LATER_MS);
}

void keep_on_death(void *user, uint32_t events)
{
    Keep *keep = user;
    (void)events;
    keep_enter(keep);
    loop_unwatch(keep->loop, keep->pidfd);
    (void)close(keep->pidfd); /* a handle only */
    keep->pidfd = -1;
    if (keep->child)
        (void)waitpid(keep->child, NULL, 0); /* the pidfd says that it has ended */
    keep->child = 0;
    if (!keep->is_let_go)
        keep_conclude(keep);
    keep_leave(keep);
}

Keep *keep_attach(Loop *loop, const char *folder, const char *name, int64_t journal_offset,
                  const KeepCalls *calls, void *user, Err *err)
{
    if (!name_is_valid(name)) {
        err_set(err, ERR_USAGE, "'%s' cannot be the name of a run", name);
        return NULL;
    }
    Keep *keep = keep_new(loop, folder, name, calls, user);
    if (!keep_open_journal(keep)) {
        if (errno == ENOENT)
            err_set(err, ERR_NOT_FOUND, "no journal of '%s' in '%s'", name, folder);
        else
            err_errno(err, "journal of '%s' in '%s'", name, folder);
        keep_destroy(keep);
        return NULL;
    }
    keep->offset = journal_offset;
    keep_look_again(keep, 0); /* from the loop, so that callbacks come from there too */
    return keep;
}
