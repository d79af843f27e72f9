/* Running programs: see program.h. */
#include "tests/bench/program.h"
#include "base/arena.h"
#include "base/clock.h"
#include "proc/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_MS = 120000, ORPHAN_WAIT_MS = 3000, TERM_WAIT_MS = 10000 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

bool is_interrupted(void)
{
    return interrupted;
}

void programs_init(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a daemon that died is seen by the write */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int pidfd_of(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool wait_readable(int fd, int64_t timeout_ms)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    while (!interrupted) {
        struct pollfd entry = {.fd = fd, .events = POLLIN};
        int64_t left = until - clock_mono_ms();
        int ready = poll(&entry, 1, (int)CLAMP(left, 0, 1000));
        if (ready > 0)
            return true;
        if (left <= 0)
            return false;
    }
    return false;
}

bool program_is_installed(const char *name)
{
    char path[PATH_MAX];
    return program_find(name, getenv("PATH"), path);
}

const char *const *env_with(Arena *arena, const char *const *env, const char *const *entries)
{
    extern char **environ;
    const char *const *base = env ? env : (const char *const *)environ;
    size_t ours = 0, theirs = 0, count = 0;
    while (base[ours])
        ours++;
    while (entries[theirs])
        theirs++;
    const char **out = arena_alloc(arena, (ours + theirs + 1) * sizeof *out);
    for (size_t i = 0; i < theirs; i++)
        out[count++] = entries[i];
    for (size_t i = 0; i < ours; i++)
        if (env || strncmp(base[i], "OTTO_", 5) != 0)
            out[count++] = base[i];
    return out;
}

static double rusage_s(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static int input_file(const Program *program)
{
    if (!program->input)
        return -1;
    int fd = memfd_create("bench-in", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t done = 0; done < program->input_length;) {
        ssize_t wrote = write(fd, program->input + done, program->input_length - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    (void)lseek(fd, 0, SEEK_SET); /* a memory file */
    return fd;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* memory files and pidfds: nothing can be lost */
}

static void read_all(int fd, Str *out)
{
    char buffer[65536];
    ssize_t length;
    (void)lseek(fd, 0, SEEK_SET); /* a memory file */
    while ((length = read(fd, buffer, sizeof buffer)) > 0)
        str_add_bytes(out, buffer, (size_t)length);
}

/* Children of this process, by /proc: there may be processes that we did not start ourselves. */
static size_t list_children(pid_t *pids, size_t most)
{
    char path[64], buffer[65536];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, buffer, sizeof buffer - 1);
    close_fd(fd);
    buffer[MAX(length, 0)] = '\0';
    size_t count = 0;
    for (char *at = buffer, *end; count < most; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        pids[count++] = (pid_t)pid;
    }
    return count;
}

int children_end(void)
{
    int ended = 0;
    pid_t pids[4096];
    size_t count;
    while ((count = list_children(pids, COUNT(pids))) > 0) {
        for (size_t i = 0; i < count; i++)
            (void)kill(pids[i], SIGKILL); /* our own child: it cannot have been reaped elsewhere */
        for (size_t i = 0; i < count; i++)
            if (waitpid(pids[i], NULL, 0) == pids[i])
                ended++;
    }
    return ended;
}

/* What the program left behind: keepers that are just ending. */
static void reap_orphans(Cost *cost)
{
    int64_t until = clock_mono_ms() + ORPHAN_WAIT_MS;
    for (;;) {
        struct rusage usage;
        pid_t pid = wait4(-1, NULL, WNOHANG, &usage);
        if (pid > 0) {
            cost->cpu_s += rusage_s(&usage);
            continue;
        }
        if (pid < 0)
            return;
        if (clock_mono_ms() > until) {
            (void)children_end(); /* they were asked to be gone by now */
            return;
        }
        struct pollfd none = {.fd = -1};
        (void)poll(&none, 1, 1); /* the wait of this loop */
    }
}

static bool judge_end(const Program *program, int status, int err_fd, Err *err)
{
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == program->ok_exit))
        return true;
    Str text = STR_INIT;
    read_all(err_fd, &text);
    size_t length = MIN(strcspn(str_text(&text), "\n"), 200);
    (void)err_set(err, ERR_PROCESS, "'%s%s%s' ended with %s %d%s%.*s", program->argv[0],
                  program->argv[1] ? " " : "", program->argv[1] ? program->argv[1] : "",
                  WIFEXITED(status) ? "code" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), length ? ": " : "",
                  (int)length, str_text(&text)); /* false below */
    str_done(&text);
    return false;
}

static bool wait_for(const Program *program, const Spawned *spawned, int64_t started_ns, int err_fd,
                     Cost *cost, Err *err)
{
    struct rusage usage = {0};
    int status = 0;
    int64_t limit = program->timeout_ms ? program->timeout_ms : DEFAULT_TIMEOUT_MS;
    bool is_over = wait_readable(spawned->pidfd, limit);
    cost->wall_s = (double)(now_ns() - started_ns) / 1e9;
    if (!is_over)
        (void)kill(spawned->pid, SIGKILL);         /* our own child */
    (void)wait4(spawned->pid, &status, 0, &usage); /* ours, and it has ended or will */
    cost->cpu_s = rusage_s(&usage);
    if (!program->is_beside)
        reap_orphans(cost);
    if (!is_over)
        return err_set(err, ERR_BUSY, "'%s' did not end within %lld s", program->argv[0],
                       (long long)(limit / 1000));
    return judge_end(program, status, err_fd, err);
}

bool program_run(const Program *program, Cost *cost, Str *out, Err *err)
{
    Cost unused;
    Spawned spawned;
    int in = input_file(program);
    int out_fd = out ? memfd_create("bench-out", MFD_CLOEXEC) : -1;
    int err_fd = memfd_create("bench-err", MFD_CLOEXEC);
    SpawnSpec spec = {.argv = program->argv,
                      .envp = program->envp,
                      .cwd = program->cwd,
                      .in = in,
                      .out = out_fd,
                      .err = err_fd,
                      .flags = SPAWN_SESSION};
    int64_t started_ns = now_ns();
    bool is_fine = spawn_process(&spec, &spawned, err);
    if (is_fine) {
        is_fine = wait_for(program, &spawned, started_ns, err_fd, cost ? cost : &unused, err);
        close_fd(spawned.pidfd);
    }
    if (out)
        read_all(out_fd, out);
    close_fd(in);
    close_fd(out_fd);
    close_fd(err_fd);
    return is_fine;
}

bool daemon_start(const Program *program, Daemon *daemon, Err *err)
{
    Spawned spawned;
    SpawnSpec spec = {.argv = program->argv,
                      .envp = program->envp,
                      .cwd = program->cwd,
                      .in = -1,
                      .out = -1,
                      .err = -1,
                      .flags = SPAWN_SESSION};
    if (!spawn_process(&spec, &spawned, err))
        return false;
    *daemon = (Daemon){spawned.pid, spawned.pidfd};
    return true;
}

bool daemon_lives(const Daemon *daemon)
{
    struct pollfd entry = {.fd = daemon->pidfd, .events = POLLIN};
    return daemon->pid && poll(&entry, 1, 0) == 0;
}

void daemon_kill(Daemon *daemon)
{
    if (!daemon->pid)
        return;
    (void)kill(daemon->pid, SIGKILL); /* not reaped yet, so the id is still its own */
    (void)waitpid(daemon->pid, NULL, 0);
    close_fd(daemon->pidfd);
    *daemon = (Daemon){0, -1};
}

void daemon_stop(Daemon *daemon)
{
    if (!daemon->pid)
        return;
    (void)kill(daemon->pid, SIGTERM); /* not reaped yet, so the id is still its own */
    (void)wait_readable(daemon->pidfd, TERM_WAIT_MS); /* if not, it is killed below */
    daemon_kill(daemon);
}
