/* Programs that a command starts and waits for: see child.h. */
#include "cli/child.h"
#include "base/clock.h"
#include "proc/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1024 * 1024 };

static int reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_run(const char *const *argv, Err *err)
{
    SpawnSpec spec = {.argv = argv, .in = 0, .out = 1, .err = 2, .flags = SPAWN_NO_PIDFD};
    Spawned child;
    return spawn_process(&spec, &child, err) ? reap(child.pid) : -1;
}

/* False: the time is over. */
static bool collect(int fd, int wait_ms, Str *out)
{
    int64_t end_ms = clock_mono_ms() + wait_ms;
    char chunk[16384];
    for (;;) {
        int64_t left = end_ms - clock_mono_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&wait, 1, (int)left) == 0)
            return false;
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got > 0 && out->length < OUTPUT_MOST)
            str_add_bytes(out, chunk, (size_t)got);
    }
}

int child_output(const char *const *argv, const char *folder, int wait_ms, Str *out, Err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)err_errno(err, "cannot make a pipe"); /* -1 says it failed */
        return -1;
    }
    SpawnSpec spec = {.argv = argv,
                      .cwd = folder,
                      .in = -1,
                      .out = ends[1],
                      .err = ends[1],
                      .flags = SPAWN_SESSION | SPAWN_NO_PIDFD};
    Spawned child;
    bool is_started = spawn_process(&spec, &child, err);
    (void)close(ends[1]); /* the child's end */
    bool is_whole = is_started && collect(ends[0], wait_ms, out);
    (void)close(ends[0]); /* everything wanted was read */
    if (is_started && !is_whole)
        (void)kill(-child.pid, SIGKILL); /* its own group; it may have ended this moment */
    int code = is_started ? reap(child.pid) : -1;
    if (is_started && !is_whole) {
        (void)err_set(err, ERR_PROCESS, "'%s' did not end in time", argv[0]); /* -1 says so */
        return -1;
    }
    return code;
}
