/* otto-keeper: runs one agent, keeps its output and its process tree, and outlives the engine.
 *
 *   otto-keeper -d FOLDER -n NAME [-w CWD] [-i STDIN_FILE] [-c JOURNAL_LIMIT] [-g GRACE_MS]
 *               [-m 1] [-s ENGINE_FD] -- PROGRAM ARGS...
 *
 * The environment is the agent's. In FOLDER it makes NAME.journal and, while no engine is
 * connected, NAME.sock (see wire.h). Exit code: 0 the run is in the journal; 64 bad usage; 70 it
 * could not start; 75 somebody has already started this name. SIGTERM to the keeper is a stop
 * order. */
#include "keeper/keeper.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 64,
    EXIT_NOT_STARTED = 70,
    SOFT_MS = 100,        /* what outlives a successful agent is asked this long */
    KILL_AGAIN_MS = 20,   /* between two rounds when nobody died */
    KILL_LIMIT_MS = 5000, /* then somebody is left behind (uninterruptible, or not our user) */
    DRAIN_ROUNDS = 64,    /* more than the largest pipe; a stray may write for ever */
    GRACE_MS = 10000,     /* when -g is not given */
    BACKLOG = 4,
};

/* What happens to the tree. Only ever moves down. */
typedef enum Phase {
    PHASE_RUN,
    PHASE_ASK,  /* stop order: SIGTERM is out, the deadline runs */
    PHASE_SOFT, /* the agent is gone, its strays were asked */
    PHASE_KILL, /* SIGKILL until nobody is left */
} Phase;

typedef struct Keeper {
    Order order;
    Tape tape;
    Agent agent;
    WireStart start;
    WireExit end;
    int signals, listener, engine;
    bool engine_is_behind; /* a DATA notice is not acknowledged yet */
    uint64_t told_bytes;   /* journal size in the last notice */
    Phase phase;
    bool agent_is_gone, tree_is_empty;
    int64_t deadline_ms, give_up_ms; /* of the phase; monotonic */
    char socket_path[WIRE_NAME_BYTES + 8];
} Keeper;

static int64_t mono_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* -- the engine's side ------------------------------------------------------------------- */

/* A path relative to the folder always fits into a socket address. Made only when no engine is
 * connected: most runs end under the engine that started them, and a name in the file system is
 * the dearest thing a short run could make. */
static bool listen_here(Keeper *k)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, k->socket_path, strlen(k->socket_path));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, 0600) != 0) /* before bind, so that it is never open to others */
        return false;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno != EADDRINUSE || unlink(k->socket_path) != 0 ||
            bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
            return false; /* a left-over of a lost keeper is replaced: the journal is ours */
    }
    if (listen(fd, BACKLOG) != 0)
        return false;
    k->listener = fd;
    return true;
}

static void engine_drop(Keeper *k)
{
    close(k->engine);
    k->engine = -1;
    k->engine_is_behind = false;
    if (k->listener < 0)
        listen_here(k); /* failing leaves the journal, which says everything at the end */
}

/* Never blocks: at most three packets wait in the socket, and a stuck engine is not waited for. */
static void tell(Keeper *k, WireType type)
{
    WireMessage message = {.type = type, .journal_bytes = k->tape.size};
    size_t length = sizeof message;
    if (k->engine < 0)
        return;
    if (type == WIRE_STARTED)
        message.body.start = k->start;
    else if (type == WIRE_EXITED)
        message.body.exit = k->end;
    else
        length = WIRE_SHORT_BYTES;
    k->told_bytes = k->tape.size;
    if (send(k->engine, &message, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        engine_drop(k);
}

static void tell_of_data(Keeper *k)
{
    if (k->engine < 0 || k->engine_is_behind || k->told_bytes == k->tape.size)
        return;
    k->engine_is_behind = true;
    tell(k, WIRE_DATA);
}

/* One engine at a time: the newest is the true one. */
static void engine_greet(Keeper *k)
{
    int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (k->engine >= 0)
        engine_drop(k);
    k->engine = fd;
    tell(k, WIRE_STARTED);
}

/* -- the tree ---------------------------------------------------------------------------- */

static void enter_kill(Keeper *k)
{
    if (k->phase == PHASE_KILL)
        return;
    k->phase = PHASE_KILL;
    k->deadline_ms = 0; /* the first round is due now */
    k->give_up_ms = mono_ms() + KILL_LIMIT_MS;
}

static void order_stop(Keeper *k, int64_t grace_ms)
{
    int64_t deadline = mono_ms() + grace_ms;
    k->end.flags |= WIRE_EXIT_STOPPED;
    if (k->phase == PHASE_RUN) {
        k->phase = PHASE_ASK;
        k->deadline_ms = deadline;
        tree_ask(k->agent.pid);
    } else if (k->phase == PHASE_ASK && deadline < k->deadline_ms) {
        k->deadline_ms = deadline;
    }
}

static void engine_hear(Keeper *k)
{
    WireMessage message;
    ssize_t length = recv(k->engine, &message, sizeof message, MSG_DONTWAIT);
    if (length < 0 && errno == EAGAIN)
        return;
    if (length < WIRE_SHORT_BYTES) {
        engine_drop(k); /* gone; or not one of ours */
        return;
    }
    if (message.type == WIRE_ACK) {
        k->engine_is_behind = false;
    } else if (message.type == WIRE_STOP) {
        order_stop(k, message.argument);
    } else if (message.type == WIRE_KILL) {
        k->end.flags |= WIRE_EXIT_STOPPED;
        enter_kill(k);
    }
}

static void note_end_of_agent(Keeper *k, int status)
{
    k->agent.pid = 0;
    k->agent_is_gone = true;
    k->end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    k->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static uint64_t micros(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void reap(Keeper *k)
{
    for (;;) {
        int status;
        struct rusage use;
        pid_t pid = wait4(-1, &status, WNOHANG, &use);
        if (pid < 0)
            k->tree_is_empty = true; /* ECHILD: the one proof that nobody is left */
        if (pid <= 0)
            return;
        k->end.user_us += micros(use.ru_utime);
        k->end.sys_us += micros(use.ru_stime);
        if (use.ru_maxrss > (long)k->end.max_rss_kb)
            k->end.max_rss_kb = (uint32_t)use.ru_maxrss;
        if (pid == k->agent.pid)
            note_end_of_agent(k, status);
    }
}

/* The agent is gone and somebody is left: after a success too (a tool's dev server). */
static void enter_sweep(Keeper *k)
{
    bool was_asked = k->phase == PHASE_ASK;
    k->end.flags |= WIRE_EXIT_SWEPT;
    if (!was_asked && k->end.exit_code != 0) {
        enter_kill(k);
        return;
    }
    k->phase = PHASE_SOFT;
    k->deadline_ms = mono_ms() + SOFT_MS;
    if (!was_asked)
        tree_ask(0);
}

static void take_signals(Keeper *k)
{
    struct signalfd_siginfo taken[4];
    ssize_t length = read(k->signals, taken, sizeof taken);
    for (size_t i = 0; length > 0 && i < (size_t)length / sizeof taken[0]; i++)
        if (taken[i].ssi_signo == SIGTERM)
            order_stop(k, k->order.grace_ms);
    reap(k);
    if (k->phase == PHASE_KILL)
        k->deadline_ms = 0; /* somebody died and may have left us his children */
}

/* Moves the phase on when its time is up. */
static void tend_tree(Keeper *k)
{
    if (k->tree_is_empty)
        return;
    if (k->agent_is_gone && k->phase < PHASE_SOFT)
        enter_sweep(k);
    if (k->phase == PHASE_RUN || mono_ms() < k->deadline_ms)
        return;
    enter_kill(k);
    tree_kill(k->agent.pid);
    k->deadline_ms = mono_ms() + KILL_AGAIN_MS;
}

/* -- the loop ---------------------------------------------------------------------------- */

static void copy_output(Keeper *k, int stream, int fd)
{
    static char chunk[WIRE_CHUNK_BYTES];
    ssize_t length = read(fd, chunk, sizeof chunk);
    if (length <= 0)
        return;
    k->end.output_bytes += (uint64_t)length;
    tape_data(&k->tape, stream, chunk, (size_t)length);
}

/* What is in the pipes now; nobody waits for an end of file that a stray could withhold. */
static void drain(Keeper *k)
{
    for (int round = 0; round < DRAIN_ROUNDS; round++) {
        struct pollfd set[] = {{k->agent.out, POLLIN, 0}, {k->agent.err, POLLIN, 0}};
        if (poll(set, 2, 0) <= 0)
            return;
        if (set[0].revents)
            copy_output(k, 1, k->agent.out);
        if (set[1].revents)
            copy_output(k, 2, k->agent.err);
    }
}

static int wait_ms(const Keeper *k)
{
    if (k->phase == PHASE_RUN)
        return -1;
    int64_t left = k->deadline_ms - mono_ms();
    return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

static bool is_over(Keeper *k)
{
    if (k->tree_is_empty)
        return true;
    if (k->phase != PHASE_KILL || mono_ms() < k->give_up_ms)
        return false;
    k->end.flags |= WIRE_EXIT_LEFT_BEHIND;
    return true;
}

static void turn(Keeper *k)
{
    enum { OUT, ERR, SIGNALS, ENGINE, LISTENER, ALL };
    struct pollfd set[ALL] = {
        [OUT] = {k->agent.out, POLLIN, 0},     [ERR] = {k->agent.err, POLLIN, 0},
        [SIGNALS] = {k->signals, POLLIN, 0},   [ENGINE] = {k->engine, POLLIN, 0},
        [LISTENER] = {k->listener, POLLIN, 0},
    };
    if (poll(set, ALL, wait_ms(k)) < 0)
        return; /* out of kernel memory: try again */
    if (set[OUT].revents)
        copy_output(k, 1, k->agent.out);
    if (set[ERR].revents)
        copy_output(k, 2, k->agent.err);
    if (set[SIGNALS].revents)
        take_signals(k);
    if (set[ENGINE].revents)
        engine_hear(k);
    if (set[LISTENER].revents)
        engine_greet(k);
    tend_tree(k);
}

/* -- from start to end ------------------------------------------------------------------- */

static void write_end(Keeper *k)
{
    k->end.flags |= k->tape.is_cut ? WIRE_EXIT_CUT : 0;
    k->end.flags |= k->tape.has_failed ? WIRE_EXIT_WRITE_FAILED : 0;
    if (k->tape.fd >= 0)
        tape_exit(&k->tape, &k->end);
    if (k->listener >= 0)
        unlink(k->socket_path); /* before the message: after it the folder is the engine's */
    tell(k, WIRE_EXITED);
}

static int fail(Keeper *k, WireStage stage, int error)
{
    k->end.error = error;
    k->end.stage = stage;
    write_end(k);
    return stage == WIRE_STAGE_JOURNAL && error == EEXIST ? WIRE_EXIT_TAKEN : EXIT_NOT_STARTED;
}

static void prepare_process(Keeper *k)
{
    sigset_t all, wanted;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* cheaper than ignoring HUP, INT, QUIT, PIPE, ... */
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGCHLD);
    k->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    setsid(); /* fails when the engine has already made us leader, which is as good */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void make_paths(Keeper *k, char journal_path[WIRE_NAME_BYTES + 16])
{
    size_t length = strlen(k->order.name);
    memcpy(journal_path, k->order.name, length);
    memcpy(journal_path + length, ".journal", 9);
    memcpy(k->socket_path, k->order.name, length);
    memcpy(k->socket_path + length, ".sock", 6);
}

static int keep(Keeper *k)
{
    char journal_path[WIRE_NAME_BYTES + 16];
    StartError failed;
    prepare_process(k);
    make_paths(k, journal_path);
    if (k->signals < 0)
        return fail(k, WIRE_STAGE_PIPE, errno);
    if (chdir(k->order.folder) != 0)
        return fail(k, WIRE_STAGE_FOLDER, errno);
    if (!tape_create(&k->tape, journal_path))
        return fail(k, WIRE_STAGE_JOURNAL, errno);
    if (k->engine < 0 && !listen_here(k))
        return fail(k, WIRE_STAGE_SOCKET, errno);
    if (!agent_start(&k->agent, &k->order, &failed))
        return fail(k, failed.stage, failed.error);
    k->start = (WireStart){.version = WIRE_VERSION,
                           .agent_pid = k->agent.pid,
                           .keeper_pid = getpid(),
                           .keeper_start_ticks = tree_own_start_ticks()};
    tape_start(&k->tape, &k->start);
    tell(k, WIRE_STARTED);
    for (turn(k); !is_over(k); turn(k))
        tell_of_data(k);
    drain(k);
    write_end(k);
    return 0;
}

static bool read_order(Order *order, char **argv)
{
    *order = (Order){.grace_ms = GRACE_MS, .engine_fd = -1};
    for (argv++; *argv && strcmp(*argv, "--") != 0; argv += 2) {
        const char *flag = argv[0], *value = argv[1];
        if (flag[0] != '-' || !flag[1] || flag[2] || !value)
            return false;
        /* clang-format off */
        switch (flag[1]) {
        case 'd': order->folder = value; break;
        case 'n': order->name = value; break;
        case 'w': order->cwd = value; break;
        case 'i': order->stdin_path = value; break;
        case 'c': order->journal_limit = strtoull(value, NULL, 10); break;
        case 'g': order->grace_ms = (int)strtol(value, NULL, 10); break;
        case 'm': order->merge_err = value[0] == '1'; break;
        case 's': order->engine_fd = (int)strtol(value, NULL, 10); break;
        default: return false;
        }
        /* clang-format on */
    }
    order->argv = *argv ? argv + 1 : argv;
    return order->folder && order->name && order->name[0] && order->argv[0] &&
           strlen(order->name) <= WIRE_NAME_BYTES && !strchr(order->name, '/');
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: otto-keeper -d FOLDER -n NAME [-w CWD] [-i FILE] "
                                "[-c BYTES] [-g MS] [-m 1] [-s FD] -- PROGRAM ARGS...\n";
    Keeper keeper = {.listener = -1, .tape.fd = -1, .end.exit_code = -1};
    (void)argc;
    if (!read_order(&keeper.order, argv))
        return write(2, usage, sizeof usage - 1) < 0 ? EXIT_USAGE + 1 : EXIT_USAGE;
    keeper.engine = keeper.order.engine_fd;
    keeper.tape.limit = keeper.order.journal_limit;
    return keep(&keeper);
}
