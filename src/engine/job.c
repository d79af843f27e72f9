/* Worker processes: see job.h. */
#include "engine/job.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "proc/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_REPLY_BYTES = 16 * 1024 * 1024, END_WAIT_MS = 5000 };

typedef struct Job Job;
struct Job {
    Jobs *jobs;
    Job *next;
    char name[24];
    pid_t pid;
    int pidfd, out;
    JobDone *done;
    void *user;
    bool owns_user;
    LoopTimer failed; /* reports a failed start from the loop */
    Err err;
};

struct Jobs {
    Loop *loop;
    const char *program;
    int log_fd;
    Job *first;
    uint32_t running;
};

Jobs *jobs_new(Loop *loop, const char *program, const char *log_path)
{
    Jobs *jobs = mem_alloc(sizeof *jobs);
    jobs->loop = loop;
    jobs->program = program;
    jobs->log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return jobs;
}

static void job_unlink(Job *job)
{
    Job **link = &job->jobs->first;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    job->jobs->running--;
}

static void job_free(Job *job)
{
    if (job->pidfd >= 0) {
        loop_unwatch(job->jobs->loop, job->pidfd);
        (void)close(job->pidfd); /* nothing was written through it */
    }
    if (job->out >= 0)
        (void)close(job->out); /* memory only */
    loop_timer_clear(job->jobs->loop, &job->failed);
    job_unlink(job);
    free(job);
}

/* A worker in the middle may hold a lock in the user's repository: most end in milliseconds, and
 * what they leave half done is finished only by the next engine. */
static void let_end(const Job *job, int64_t until_ms)
{
    struct pollfd end = {.fd = job->pidfd, .events = POLLIN};
    int64_t left_ms;
    while ((left_ms = until_ms - clock_mono_ms()) > 0)
        if (poll(&end, 1, (int)left_ms) >= 0 || errno != EINTR)
            return;
}

void jobs_free(Jobs *jobs)
{
    if (!jobs)
        return;
    int64_t until_ms = clock_mono_ms() + END_WAIT_MS;
    for (Job *job = jobs->first, *next; job; job = next) {
        next = job->next;
        if (job->pid > 0) {
            let_end(job, until_ms);
            (void)kill(job->pid, SIGTERM);    /* it may be gone already */
            (void)waitpid(job->pid, NULL, 0); /* ours; it ends at SIGTERM */
        }
        if (job->owns_user)
            free(job->user);
        job_free(job);
    }
    if (jobs->log_fd >= 0)
        (void)close(jobs->log_fd); /* a log */
    free(jobs);
}

uint32_t jobs_running(const Jobs *jobs)
{
    return jobs->running;
}

static json_t *read_reply(const Job *job, Err *err)
{
    off_t size = lseek(job->out, 0, SEEK_END);
    if (size <= 0 || size > MOST_REPLY_BYTES) {
        (void)err_set(err, ERR_PROCESS, "worker '%s' answered nothing", job->name); /* NULL */
        return NULL;
    }
    char *text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, job->out, 0);
    if (text == MAP_FAILED) {
        (void)err_errno(err, "cannot read the answer of worker '%s'", job->name); /* NULL */
        return NULL;
    }
    json_t *reply = json_read(text, (size_t)size, err);
    (void)munmap(text, (size_t)size); /* mapped above */
    return reply;
}

static ErrKind kind_of(const char *name)
{
    for (int kind = ERR_NONE; kind <= ERR_INTERNAL; kind++)
        if (strcmp(err_kind_name((ErrKind)kind), name) == 0)
            return (ErrKind)kind;
    return ERR_PROCESS;
}

static void report(Job *job)
{
    CLEANUP(json_freep) json_t *reply = job->err.kind ? NULL : read_reply(job, &job->err);
    if (reply && !json_flag(reply, "ok", false))
        (void)err_set(&job->err, kind_of(json_text(reply, "kind", "process")), "%s",
                      json_text(reply, "error", "unknown error")); /* reported below */
    if (job->err.kind)
        log_line("job.failed name=%s error=\"%s\"", job->name, job->err.text);
    job->done(job->user, job->err.kind ? NULL : reply, &job->err);
    job_free(job);
}

static void on_worker_exit(void *user, uint32_t events)
{
    (void)events;
    Job *job = user;
    int status = 0;
    if (waitpid(job->pid, &status, WNOHANG) != job->pid)
        return;
    job->pid = 0;
    if (WIFSIGNALED(status))
        (void)err_set(&job->err, ERR_PROCESS, "worker '%s' was killed by signal %d", job->name,
                      WTERMSIG(status)); /* reported below */
    report(job);
}

static void on_failed_start(void *user)
{
    report(user);
}

static int input_file(const json_t *input, Err *err)
{
    char *text = json_write(input);
    int fd = memfd_create("otto-job", MFD_CLOEXEC);
    size_t length = strlen(text);
    bool is_written =
        fd >= 0 && write(fd, text, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0;
    free(text);
    if (is_written)
        return fd;
    (void)err_errno(err, "cannot hand a job its input"); /* -1 says so */
    if (fd >= 0)
        (void)close(fd); /* memory only */
    return -1;
}

static bool launch(Job *job, const json_t *input)
{
    const char *argv[] = {job->jobs->program, "do", job->name, NULL};
    int in = input_file(input, &job->err);
    if (in < 0)
        return false;
    job->out = memfd_create("otto-reply", MFD_CLOEXEC);
    SpawnSpec spec = {
        .argv = argv, .in = in, .out = job->out, .err = job->jobs->log_fd, .flags = SPAWN_GROUP};
    Spawned spawned;
    bool is_started = job->out >= 0 && spawn_process(&spec, &spawned, &job->err);
    (void)close(in); /* the worker has its own */
    if (!is_started)
        return false;
    job->pid = spawned.pid;
    job->pidfd = spawned.pidfd;
    return loop_watch(job->jobs->loop, job->pidfd, EPOLLIN, on_worker_exit, job, &job->err);
}

static void start(Jobs *jobs, const char *name, json_t *input, JobDone *done, void *user,
                  bool owns_user)
{
    Job *job = mem_alloc(sizeof *job);
    *job = (Job){.jobs = jobs,
                 .next = jobs->first,
                 .pidfd = -1,
                 .out = -1,
                 .done = done,
                 .user = user,
                 .owns_user = owns_user};
    job->failed = (LoopTimer){.fn = on_failed_start, .user = job};
    (void)snprintf(job->name, sizeof job->name, "%s", name); /* names are short */
    jobs->first = job;
    jobs->running++;
    if (!launch(job, input)) {
        if (!job->err.kind)
            (void)err_set(&job->err, ERR_PROCESS, "cannot start worker '%s'", name);
        loop_timer_set(jobs->loop, &job->failed, 0);
    }
    json_decref(input);
}

void job_start(Jobs *jobs, const char *name, json_t *input, JobDone *done, void *user)
{
    start(jobs, name, input, done, user, true);
}

void job_start_borrowed(Jobs *jobs, const char *name, json_t *input, JobDone *done, void *user)
{
    start(jobs, name, input, done, user, false);
}
