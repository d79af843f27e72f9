/* P3: from the exit of one agent to the start of the next in its slot, durable commit between.
 * The floor is the sum of what cannot be left out: noticing the exit, one commit, two starts. */
#include "base/file.h"
#include "proc/spawn.h"
#include "tests/bench/agent.h"
#include "tests/bench/floor_sql.h"
#include "tests/bench/subject.h"
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 2000 };

static int by_start(const void *a, const void *b)
{
    const AgentStamp *x = a, *y = b;
    return (x->began_ns > y->began_ns) - (x->began_ns < y->began_ns);
}

static AgentStamp *read_stamps(const char *path, size_t *count, Err *err)
{
    size_t length = 0;
    AgentStamp *stamps = (AgentStamp *)file_read(path, MOST * sizeof *stamps, &length, err);
    *count = length / sizeof *stamps;
    if (stamps)
        qsort(stamps, *count, sizeof *stamps, by_start);
    return stamps;
}

typedef struct Parts {
    double wake_us, commit_us, spawn_us; /* p50 */
} Parts;

/* One start and one noticed exit, stamped by the program itself. */
static bool start_one(const char *const *argv, int64_t *spawned_ns, int64_t *noticed_ns, Err *err)
{
    Spawned spawned;
    SpawnSpec spec = {.argv = argv, SPAWN_SPEC_INIT};
    *spawned_ns = now_ns();
    if (!spawn_process(&spec, &spawned, err))
        return false;
    bool has_ended = wait_readable(spawned.pidfd, 10000);
    *noticed_ns = now_ns();
    (void)waitpid(spawned.pid, NULL, 0); /* ours */
    (void)close(spawned.pidfd);
    return has_ended || err_set(err, ERR_BUSY, "the agent did not end");
}

static bool measure_starts(Bench *bench, unsigned count, Parts *parts, Err *err)
{
    double wakes[MOST], spawns[MOST];
    int64_t spawned[MOST], noticed[MOST];
    const char *file = arena_printf(&bench->arena, "%s/stamps", bench_folder(bench, bench->disk));
    const char *argv[] = {bench->agent, "stamp", file, NULL};
    for (unsigned i = 0; i < count; i++)
        if (!start_one(argv, &spawned[i], &noticed[i], err))
            return false;
    size_t found = 0;
    AgentStamp *stamps = read_stamps(file, &found, err);
    for (unsigned i = 0; stamps && i < count && i < found; i++) {
        spawns[i] = (double)(stamps[i].began_ns - spawned[i]) / 1e3;
        wakes[i] = (double)(noticed[i] - stamps[i].ended_ns) / 1e3;
    }
    free(stamps);
    if (found != count)
        return err_set(err, ERR_PROCESS, "%zu of %u agents left a stamp", found, count);
    parts->spawn_us = median(spawns, count);
    parts->wake_us = median(wakes, count);
    return true;
}

static bool measure_commits(Bench *bench, const char *below, unsigned count, Parts *parts, Err *err)
{
    double times[MOST];
    const char *path = arena_printf(&bench->arena, "%s/raw.db", bench_folder(bench, below));
    SqlFloor *sql = sql_open(path, SQL_FULL);
    bool is_fine = sql && sql_fill(sql, count + 1, 0);
    for (unsigned i = 0; i < count && is_fine; i++) {
        int64_t began_ns = now_ns();
        is_fine = sql_begin(sql) && sql_transition(sql, i + 1, SQL_DONE) &&
                  sql_transition(sql, i + 2, SQL_RUNNING) && sql_commit(sql);
        times[i] = (double)(now_ns() - began_ns) / 1e3;
    }
    sql_free(sql);
    if (!is_fine)
        return err_set(err, ERR_STORE, "raw SQLite failed");
    parts->commit_us = median(times, count);
    return true;
}

static bool measure_otto(Bench *bench, const char *below, unsigned count, double *p50, Err *err)
{
    double gaps[MOST];
    const char *file = arena_printf(&bench->arena, "%s/stamps", bench_folder(bench, bench->disk));
    SubjectSpec spec = {.below = below, .slots = 1, .agent = {bench->agent, "stamp", file}};
    Subject subject;
    Cost cost;
    if (!subject_make(bench, &spec, &subject, err) || !subject_add(&subject, count, err) ||
        !subject_run(&subject, &cost, err))
        return false;
    size_t found = 0;
    AgentStamp *stamps = read_stamps(file, &found, err);
    for (size_t i = 0; stamps && i + 1 < found; i++)
        gaps[i] = (double)(stamps[i + 1].began_ns - stamps[i].ended_ns) / 1e3;
    free(stamps);
    if (found != count)
        return err_set(err, ERR_PROCESS, "%zu of %u agents left a stamp", found, count);
    *p50 = median(gaps, found - 1);
    return true;
}

static bool refill_round(Bench *bench, const char *below, Row *row, double *ratio, Err *err)
{
    enum { SAMPLES = 60 }; /* few, so that both sides see the same weather */
    Parts parts = {0};
    double p50 = 0;
    if (!measure_starts(bench, SAMPLES, &parts, err) ||
        !measure_commits(bench, below, SAMPLES, &parts, err) ||
        !measure_otto(bench, below, SAMPLES, &p50, err))
        return false;
    double sum = parts.wake_us + parts.commit_us + 2 * parts.spawn_us;
    if (isnan(row->floor) || sum < row->floor)
        row_floor(row, sum, "wake %.0f + commit %.0f + two spawns of %.0f us", parts.wake_us,
                  parts.commit_us, parts.spawn_us);
    row->otto = isnan(row->otto) ? p50 : MIN(p50, row->otto);
    *ratio = p50 / sum;
    return true;
}

static void refill_row(Bench *bench, const char *below)
{
    enum { MOST_ROUNDS = 15 };
    Err err = {0};
    double ratios[MOST_ROUNDS];
    unsigned rounds = pick(bench, MOST_ROUNDS, 5);
    Row *row = table_add(&bench->table, "P3", "us", "slot refill p50, 1 slot, static agent, %s",
                         disk_word(bench, below));
    for (unsigned i = 0; i < rounds; i++)
        if (is_interrupted() || !refill_round(bench, below, row, &ratios[i], &err)) {
            row_fail(row, "%s", err.text[0] ? err.text : "interrupted");
            return;
        }
    row->ratio = median(ratios, rounds);
    row_note(row, "least p50 of %u rounds; the ratio is the median of the rounds'", rounds);
    row_goal(row, row->ratio <= 1.5, "<= 1.5 x sum");
}

void part_refill(Bench *bench)
{
    refill_row(bench, bench->disk);
    if (bench->memory)
        refill_row(bench, bench->memory);
}
