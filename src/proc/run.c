/* Running a program to its end: see run.h. */
#include "proc/run.h"
#include "base/clock.h"
#include "proc/family.h"
#include "proc/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 64 * 1024,
    DRAIN_ROUNDS = 64,   /* more than the largest pipe; a stray may write for ever */
    KILL_WAIT_MS = 2000, /* a process in an uninterruptible call is not waited for longer */
};

typedef enum Stage { STAGE_RUN, STAGE_ASKED, STAGE_KILLED, STAGE_LEFT } Stage;

typedef struct Stream {
    int fd; /* -1: ended, or not there */
    Str *text;
    bool *is_cut;
} Stream;

typedef struct Run {
    const RunSpec *spec;
    RunResult *result;
    Spawned child;
    Stream streams[2];
    Family family;
    Stage stage;
    int64_t deadline_ms; /* INT64_MAX: none */
} Run;

/* -- setting up -------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* pipes and memory: nothing to lose */
    *fd = -1;
}

/* A file in memory and not a pipe: nothing to feed, and no SIGPIPE when nobody reads it. */
static int input_open(const RunSpec *spec, Err *err)
{
    size_t length = spec->input_length ? spec->input_length : strlen(spec->input);
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0) {
        err_errno(err, "memfd");
        return -1;
    }
    for (size_t done = 0; done < length;) {
        ssize_t written = pwrite(fd, spec->input + done, length - done, (off_t)done);
        if (written < 0 && errno != EINTR) {
            err_errno(err, "input of '%s'", spec->argv[0]);
            close_fd(&fd);
            return -1;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return fd;
}

/* Only our end does not block; the child's writes must. */
static bool pipe_open(int *ours, int *theirs, Err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, "pipe");
    *ours = ends[0];
    *theirs = ends[1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0 || err_errno(err, "pipe");
}

static bool start(Run *run, Err *err)
{
    const RunSpec *spec = run->spec;
    int in = -1, out = -1, errors = -1;
    bool is_ready = !spec->input || (in = input_open(spec, err)) >= 0;
    is_ready = is_ready && pipe_open(&run->streams[0].fd, &out, err);
    if (!spec->merge_err)
        is_ready = is_ready && pipe_open(&run->streams[1].fd, &errors, err);
    SpawnSpec spawn = {.argv = spec->argv,
                       .envp = spec->envp,
                       .cwd = spec->cwd,
                       .in = in,
                       .out = out,
                       .err = spec->merge_err ? out : errors,
                       .flags = SPAWN_SESSION};
    is_ready = is_ready && spawn_process(&spawn, &run->child, err);
    close_fd(&in);
    close_fd(&out);
    close_fd(&errors);
    return is_ready;
}

/* -- running ----------------------------------------------------------------------------- */

/* false: nothing was there. */
static bool stream_read(Stream *stream, size_t limit)
{
    char chunk[CHUNK_BYTES];
    if (stream->fd < 0)
        return false;
    ssize_t length = read(stream->fd, chunk, sizeof chunk);
    if (length < 0)
        return errno == EINTR;
    if (length == 0) {
        close_fd(&stream->fd);
        return false;
    }
    size_t room = limit - stream->text->length;
    if ((size_t)length > room)
        *stream->is_cut = true;
    str_add_bytes(stream->text, chunk, MIN((size_t)length, room));
    return true;
}

static size_t limit_of(const RunSpec *spec)
{
    return spec->limit_bytes ? spec->limit_bytes : RUN_LIMIT_BYTES;
}

/* What is there now. Nobody waits for an end of file. */
static void drain(Run *run)
{
    for (size_t i = 0; i < COUNT(run->streams); i++)
        for (int round = 0; round < DRAIN_ROUNDS; round++)
            if (!stream_read(&run->streams[i], limit_of(run->spec)))
                break;
}

/* Group first and before reaping: until then its number cannot be somebody else's. */
static void signal_all(Run *run, int signo)
{
    (void)kill(-run->child.pid, signo); /* ESRCH: nobody left */
    family_signal(&run->family, signo);
}

static void take_exit(Run *run)
{
    siginfo_t info = {0};
    signal_all(run, SIGKILL);
    (void)family_wait(&run->family, clock_mono_ms() + KILL_WAIT_MS); /* empty without time-out */
    if (waitid(P_PIDFD, (id_t)run->child.pidfd, &info, WEXITED) != 0)
        return;
    if (info.si_code == CLD_EXITED)
        run->result->exit_code = info.si_status;
    else
        run->result->signal = info.si_status;
}

/* Ask, wait, kill, and at last let go. */
static void deadline_passed(Run *run)
{
    int64_t grace_ms = run->spec->grace_ms ? run->spec->grace_ms : RUN_GRACE_MS;
    run->result->timed_out = true;
    run->stage++;
    if (run->stage == STAGE_LEFT)
        return;
    family_collect(&run->family, run->child.pid);
    signal_all(run, run->stage == STAGE_ASKED ? SIGTERM : SIGKILL);
    run->deadline_ms =
        clock_mono_ms() + (run->stage == STAGE_ASKED ? grace_ms : (int64_t)KILL_WAIT_MS);
}

static int wait_ms(const Run *run)
{
    if (run->deadline_ms == INT64_MAX)
        return -1;
    int64_t left = run->deadline_ms - clock_mono_ms();
    return (int)MAX(MIN(left, 1000000), 0);
}

static void wait_for_end(Run *run)
{
    while (run->stage != STAGE_LEFT) {
        struct pollfd set[] = {{run->streams[0].fd, POLLIN, 0},
                               {run->streams[1].fd, POLLIN, 0},
                               {run->child.pidfd, POLLIN, 0}};
        int count = poll(set, COUNT(set), wait_ms(run));
        for (size_t i = 0; count > 0 && i < COUNT(run->streams); i++)
            if (set[i].revents)
                (void)stream_read(&run->streams[i], limit_of(run->spec)); /* poll says when more */
        if (count > 0 && set[2].revents) {
            take_exit(run);
            return;
        }
        if (clock_mono_ms() >= run->deadline_ms)
            deadline_passed(run);
    }
}

bool proc_run(const RunSpec *spec, RunResult *result, Err *err)
{
    *result = (RunResult){.exit_code = -1};
    Run run = {
        .spec = spec,
        .result = result,
        .child = {.pidfd = -1},
        .streams = {{-1, &result->out, &result->out_cut}, {-1, &result->err, &result->err_cut}},
        .deadline_ms = spec->timeout_ms ? clock_mono_ms() + spec->timeout_ms : INT64_MAX,
    };
    bool is_started = start(&run, err);
    if (is_started) {
        wait_for_end(&run);
        drain(&run);
    }
    close_fd(&run.streams[0].fd);
    close_fd(&run.streams[1].fd);
    close_fd(&run.child.pidfd);
    family_done(&run.family);
    return is_started;
}

void run_result_done(RunResult *result)
{
    str_done(&result->out);
    str_done(&result->err);
}
