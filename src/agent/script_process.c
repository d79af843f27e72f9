/* The scripted agent: processes. See script_parts.h. */
#include "agent/script_parts.h"
#include "base/macros.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int script_signal_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } rows[] = {{"TERM", SIGTERM}, {"KILL", SIGKILL}, {"INT", SIGINT},  {"HUP", SIGHUP},
                {"QUIT", SIGQUIT}, {"ABRT", SIGABRT}, {"SEGV", SIGSEGV}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (text_equal(rows[i].name, name))
            return rows[i].number;
    return SIGTERM;
}

void script_ignore_term(void)
{
    (void)signal(SIGTERM, SIG_IGN); /* cannot fail for these numbers */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
}

void script_sleep(double seconds)
{
    if (!(seconds > 0))
        return;
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static void become(const char *const *argv, int input)
{
    int nothing = input >= 0 ? input : open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        (void)dup2(nothing, 0); /* a tool that waits for input must not wait for ours */
    if (nothing > 2)
        close(nothing);
    (void)dup2(2, 1); /* without it the output is only in another place */
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static int run_wait(pid_t pid, const char *name, Err *err)
{
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            pid = -1;
    if (pid < 0) {
        (void)err_errno(err, "cannot run '%s'", name); /* -1 says it failed */
        return -1;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int script_run(const char *const *argv, Err *err)
{
    pid_t pid = fork();
    if (pid == 0)
        become(argv, -1);
    return run_wait(pid, argv[0], err);
}

int script_run_with(const char *const *argv, const char *input, size_t length, Err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)err_errno(err, "no pipe"); /* -1 says it failed */
        return -1;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* it may end without reading */
    pid_t pid = fork();
    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        become(argv, ends[0]);
    }
    close(ends[0]);
    if (pid > 0)
        (void)script_write(ends[1], input, length); /* its exit code tells */
    close(ends[1]);
    (void)signal(SIGPIPE, before);
    return run_wait(pid, argv[0], err);
}

/* The life of a process left behind. */
static void linger(double seconds, bool ignore_term, bool is_daemon)
{
    if (ignore_term)
        script_ignore_term();
    if (is_daemon) {
        int nothing = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            (void)dup2(nothing, fd); /* a daemon lets go of its terminal */
    }
    script_sleep(seconds);
    _exit(0);
}

/* In the child: tells its id (or its child's) through the pipe. */
static void leave_child(const char *how, double seconds, bool ignore_term, int pipe_end)
{
    bool is_daemon = text_equal(how, "daemon");
    if (!text_equal(how, "child"))
        (void)setsid(); /* a fresh child leads no group, so this works */
    if (is_daemon && fork() != 0)
        _exit(0);
    pid_t self = getpid();
    bool is_told = script_write(pipe_end, (const char *)&self, sizeof self);
    close(pipe_end);
    if (!is_told)
        _exit(1);
    linger(seconds, ignore_term, is_daemon);
}

pid_t script_leave(const char *how, double seconds, bool ignore_term, Err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)err_errno(err, "no pipe"); /* -1 says it failed */
        return -1;
    }
    pid_t child = fork();
    if (child == 0)
        leave_child(how, seconds, ignore_term, ends[1]);
    close(ends[1]);
    pid_t left = -1;
    if (child < 0 || read(ends[0], &left, sizeof left) != (ssize_t)sizeof left) {
        (void)err_errno(err, "cannot start a process"); /* -1 says it failed */
        left = -1;
    }
    close(ends[0]);
    if (child > 0 && text_equal(how, "daemon"))
        (void)waitpid(child, NULL, 0); /* the middle one ended at once */
    return left;
}
