/* P12: the kill switch: 64 agents with process trees, from the order to the last death. */
#include "proc/procfs.h"
#include "tests/bench/agent.h"
#include "tests/bench/watchers.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AGENTS = 64, DEATH_MS = 20000 };

typedef struct Killing {
    Bench *bench;
    const char *below;
    int left;         /* processes that outlived their killing */
    double reply_s;   /* until the order was acknowledged, least */
    double keepers_s; /* until the keepers have gone too, least */
} Killing;

static const char *pid_file(Bench *bench)
{
    return arena_printf(&bench->arena, "%s/pids", bench_folder(bench, bench->disk));
}

/* Floor: everyone's pidfd is known; a signal to each, wait for each, reap. */
static bool floor_kill(void *user, unsigned size, Cost *cost, Err *err)
{
    Killing *killing = user;
    const char *file = pid_file(killing->bench);
    const char *argv[] = {killing->bench->agent, "tree", file, NULL};
    Program program = {.argv = argv};
    Daemon trees[AGENTS];
    Watched watched = {.count = 0};
    unsigned started = 0;
    bool is_fine = true;
    while (started < size && is_fine) {
        is_fine = daemon_start(&program, &trees[started], err);
        started += is_fine;
    }
    is_fine = is_fine && watched_wait(&watched, file, (size_t)size * TREE_PROCESSES, err) &&
              watched_open(&watched, err);
    Watch watch = watch_start();
    for (size_t i = 0; i < watched.count && is_fine; i++)
        (void)procfs_signal(watched.pidfds[i], SIGKILL); /* none has been reaped */
    is_fine = is_fine && watched_wait_dead(&watched, DEATH_MS, err);
    while (is_fine && waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    *cost = watch_stop(watch);
    watched_close(&watched);
    for (unsigned i = 0; i < started; i++)
        (void)close(trees[i].pidfd); /* many open descriptors would make later spawns slow */
    (void)children_end();            /* after a failure; else there is none */
    return is_fine;
}

/* What counts is the agents' death; their keepers record it and then go. */
static bool kill_all(const Subject *subject, const Watched *agents, const Watched *keepers,
                     Killing *killing, Cost *cost, Err *err)
{
    Watch watch = watch_start();
    if (!subject_call(subject, "POST", "/api/v1/projects/1/stop", "{\"kill\":true}", NULL, err))
        return false;
    killing->reply_s = MIN(killing->reply_s, watch_stop(watch).wall_s);
    if (!watched_wait_dead(agents, DEATH_MS, err))
        return false;
    *cost = watch_stop(watch);
    if (!watched_wait_dead(keepers, DEATH_MS, err))
        return false;
    killing->keepers_s = MIN(killing->keepers_s, watch_stop(watch).wall_s);
    return true;
}

static bool start_and_kill(Killing *killing, const Subject *subject, const Daemon *daemon,
                           unsigned agent_count, const char *file, Cost *cost, Err *err)
{
    Watched agents = {.count = 0}, keepers = {.count = 0};
    bool is_fine = subject_call(subject, "POST", "/api/v1/projects/1/run", "{}", NULL, err) &&
                   watched_wait(&agents, file, (size_t)agent_count * TREE_PROCESSES, err);
    watched_add_parents(&keepers, &agents, daemon->pid);
    is_fine = is_fine && watched_open(&agents, err) && watched_open(&keepers, err) &&
              kill_all(subject, &agents, &keepers, killing, cost, err);
    watched_close(&agents);
    watched_close(&keepers);
    return is_fine;
}

static bool otto_kill(void *user, unsigned size, Cost *cost, Err *err)
{
    Killing *killing = user;
    const char *file = pid_file(killing->bench);
    SubjectSpec spec = {
        .below = killing->below, .slots = size, .agent = {killing->bench->agent, "tree", file}};
    Subject subject;
    Daemon daemon = {0, -1};
    bool is_fine = subject_make(killing->bench, &spec, &subject, err) &&
                   subject_add(&subject, size, err) && subject_serve(&subject, &daemon, err) &&
                   start_and_kill(killing, &subject, &daemon, size, file, cost, err);
    daemon_stop(&daemon);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* orphans that are dead already */
        continue;
    killing->left += children_end();
    return is_fine;
}

static void kill_row(Bench *bench, const char *below)
{
    Killing killing = {.bench = bench, .below = below, .reply_s = 1e9, .keepers_s = 1e9};
    Side sides[] = {
        {"SIGKILL to all by pidfd, wait, reap", floor_kill, &killing, .big = AGENTS},
        {"stop with kill", otto_kill, &killing, .big = AGENTS},
    };
    Plan plan = {bench->plan.rounds, pick(bench, 4, 3)};
    Comparison found;
    compare(&plan, sides, COUNT(sides), GUARD_WALL, &found);
    Row *row = table_add(&bench->table, "P12", "ms",
                         "kill switch, %d agents of %d processes, to the last death, %s", AGENTS,
                         TREE_PROCESSES, disk_word(bench, below));
    if (!row_compare(row, &found, sides, false, 1e3 * AGENTS))
        return;
    row_note(row, "acknowledged after %.1f ms, keepers gone after %.1f ms; left alive: %d",
             killing.reply_s * 1e3, killing.keepers_s * 1e3, killing.left);
    row_goal(row, row->ratio <= 3 && killing.left == 0, "<= 3 x floor, nothing left");
}

void part_kill(Bench *bench)
{
    if (bench->memory)
        kill_row(bench, bench->memory);
    kill_row(bench, bench->disk);
}
