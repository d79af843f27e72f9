/* Starting the agent: see keeper.h.
 *
 * vfork and not posix_spawn: the child has to ask for its own death with the keeper
 * (PR_SET_PDEATHSIG), which posix_spawn cannot say. The child runs on our stack until exec, so it
 * only makes system calls and leaves its errno in `failed`. */
#include "keeper/keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_all_from(unsigned first)
{
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
    for (unsigned fd = first; fd < 1024; fd++) /* a kernel before 5.9 */
        close((int)fd);
}

static void __attribute__((noreturn)) give_up(volatile StartError *failed, WireStage stage)
{
    failed->stage = stage;
    failed->error = errno;
    _exit(127);
}

static void __attribute__((noreturn)) become_agent(const Order *order, pid_t keeper, int in,
                                                   int out, int err, volatile StartError *failed)
{
    sigset_t none;
    sigemptyset(&none);
    setsid(); /* own session and group: nothing of the keeper's reaches it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127); /* the keeper died before the line above */
    if (order->cwd && chdir(order->cwd) != 0)
        give_up(failed, WIRE_STAGE_CWD);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        give_up(failed, WIRE_STAGE_PIPE);
    close_all_from(3);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(order->argv[0], order->argv);
    give_up(failed, WIRE_STAGE_EXEC);
}

/* All ends above 2, so that the dup2 calls of the child cannot step on each other. */
static bool lift(int *fd)
{
    if (*fd >= 0 && *fd < 3)
        *fd = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    return *fd >= 0;
}

static bool pipe_above_stdio(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0 && lift(&ends[0]) && lift(&ends[1]);
}

bool agent_start(Agent *agent, const Order *order, StartError *failed)
{
    volatile StartError child = {WIRE_STAGE_NONE, 0};
    int out[2], err[2] = {-1, -1};
    const char *path = order->stdin_path ? order->stdin_path : "/dev/null";
    int in = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    *failed = (StartError){WIRE_STAGE_STDIN, errno};
    if (!lift(&in))
        return false;
    *failed = (StartError){WIRE_STAGE_PIPE, 0};
    if (!pipe_above_stdio(out) || (!order->merge_err && !pipe_above_stdio(err))) {
        failed->error = errno;
        return false;
    }
    pid_t keeper = getpid();
    pid_t pid = vfork();
    if (pid == 0)
        become_agent(order, keeper, in, out[1], order->merge_err ? out[1] : err[1], &child);
    int fork_error = errno;
    close(in);
    /* The write ends stay open here on purpose: the end of the run is the agent's exit and never
     * end-of-file, so an agent that closes its stdout early costs nothing and cannot make poll
     * spin. */
    *agent = (Agent){.pid = pid, .out = out[0], .err = err[0]};
    *failed =
        (StartError){pid < 0 ? WIRE_STAGE_EXEC : child.stage, pid < 0 ? fork_error : child.error};
    return pid > 0 && child.stage == WIRE_STAGE_NONE;
}
