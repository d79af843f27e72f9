/* The floor of an engine: pipes, one log for all, a durable row before each start and after each
 * end, one commit per loop turn. No graph, no retries, no limits, no keeper. */
#include "base/str.h"
#include "tests/bench/floor_loop.h"
#include "tests/bench/floor_sql.h"
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct Slot {
    unsigned task; /* 0: free */
    int out, err, pidfd;
} Slot;

typedef struct Floor {
    SqlFloor *sql;
    int epoll, log;
    Slot slots[64];
    unsigned slot_count, tasks, next, ended;
    const char *program;
} Floor;

/* What an epoll event belongs to: slot and which of its three descriptors. */
enum { SLOT_OUT, SLOT_ERR, SLOT_PID, SLOT_PARTS };

static bool watch(Floor *floor, unsigned slot, unsigned part, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = slot * SLOT_PARTS + part};
    return epoll_ctl(floor->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool start(Floor *floor, unsigned slot)
{
    Slot *at = &floor->slots[slot];
    int out[2], err[2];
    pid_t pid;
    char *argv[] = {(char *)floor->program, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return floor_fail("pipe");
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    if (posix_spawn(&pid, floor->program, &actions, NULL, argv, environ) != 0)
        return floor_fail(floor->program);
    posix_spawn_file_actions_destroy(&actions);
    (void)close(out[1]); /* the child's ends */
    (void)close(err[1]);
    at->out = out[0];
    at->err = err[0];
    at->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    return watch(floor, slot, SLOT_OUT, at->out) && watch(floor, slot, SLOT_ERR, at->err) &&
           watch(floor, slot, SLOT_PID, at->pidfd);
}

static bool drain(Floor *floor, int *fd)
{
    char bytes[65536];
    ssize_t length = *fd < 0 ? -1 : read(*fd, bytes, sizeof bytes);
    if (length > 0)
        return write(floor->log, bytes, (size_t)length) == length;
    if (*fd >= 0) {
        (void)epoll_ctl(floor->epoll, EPOLL_CTL_DEL, *fd, NULL); /* before close, see PERF */
        (void)close(*fd);
        *fd = -1;
    }
    return true;
}

static bool finish(Floor *floor, Slot *slot)
{
    siginfo_t info;
    (void)waitid(P_PIDFD, (id_t)slot->pidfd, &info, WEXITED); /* it has ended */
    (void)close(slot->pidfd);                                 /* takes it out of the epoll set */
    while (slot->out >= 0)
        if (!drain(floor, &slot->out))
            return false;
    while (slot->err >= 0)
        if (!drain(floor, &slot->err))
            return false;
    floor->ended++;
    bool is_stored = sql_transition(floor->sql, slot->task, SQL_DONE);
    slot->task = 0;
    return is_stored;
}

/* Claims rows for free slots; their programs are started after the commit. */
static bool claim(Floor *floor, bool claimed[64])
{
    for (unsigned i = 0; i < floor->slot_count; i++) {
        claimed[i] = !floor->slots[i].task && floor->next < floor->tasks;
        if (!claimed[i])
            continue;
        floor->slots[i].task = ++floor->next;
        if (!sql_transition(floor->sql, floor->next, SQL_RUNNING))
            return false;
    }
    return true;
}

static bool turn(Floor *floor)
{
    struct epoll_event events[64];
    bool claimed[64];
    int count = epoll_wait(floor->epoll, events, COUNT(events), -1);
    bool has_ended = false;
    for (int i = 0; i < count; i++) {
        Slot *slot = &floor->slots[events[i].data.u32 / SLOT_PARTS];
        unsigned part = events[i].data.u32 % SLOT_PARTS;
        if (part == SLOT_PID && !has_ended && !sql_begin(floor->sql))
            return false;
        has_ended |= part == SLOT_PID;
        if (!(part == SLOT_PID ? finish(floor, slot)
                               : drain(floor, part == SLOT_OUT ? &slot->out : &slot->err)))
            return false;
    }
    if (!has_ended)
        return true;
    if (!claim(floor, claimed) || !sql_commit(floor->sql))
        return false;
    for (unsigned i = 0; i < floor->slot_count; i++)
        if (claimed[i] && !start(floor, i))
            return false;
    return true;
}

static bool begin(Floor *floor)
{
    bool claimed[64];
    if (!sql_begin(floor->sql) || !claim(floor, claimed) || !sql_commit(floor->sql))
        return false;
    for (unsigned i = 0; i < floor->slot_count; i++)
        if (claimed[i] && !start(floor, i))
            return false;
    return true;
}

static SqlFloor *open_rows(const char *folder)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/floor.db", folder); /* cut only if opening fails too */
    return sql_open(path, SQL_FULL);
}

bool floor_fill(const char *folder, unsigned tasks)
{
    SqlFloor *sql = open_rows(folder);
    bool is_filled = sql && sql_fill(sql, tasks, 0);
    sql_free(sql);
    return is_filled || floor_fail(folder);
}

bool floor_engine(const char *folder, unsigned tasks, unsigned slots, const char *program)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/floor.log", folder); /* cut only if open fails too */
    Floor floor = {.slot_count = MIN(slots, 64), .tasks = tasks, .program = program};
    floor.log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    floor.epoll = epoll_create1(EPOLL_CLOEXEC);
    floor.sql = open_rows(folder);
    if (floor.log < 0 || !floor.sql || !begin(&floor))
        return floor_fail(folder);
    while (floor.ended < tasks)
        if (!turn(&floor))
            return floor_fail("turn");
    sql_free(floor.sql);
    (void)close(floor.log); /* the rows say what counts */
    (void)close(floor.epoll);
    return true;
}
