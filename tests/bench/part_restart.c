/* P16: after kill -9, how long until the engine decides again; beside reading the same number of
 * tasks back with raw SQLite. P18: `otto status` beside one git command. */
#include "tests/bench/floor_sql.h"
#include "tests/bench/subject.h"
#include <math.h>

enum { EDGES = 3 };

typedef struct Restart {
    Bench *bench;
    Subject subject;
    Daemon daemon;
    const char *raw;
} Restart;

static bool read_back(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    const Restart *restart = user;
    Watch watch = watch_start();
    SqlFloor *sql = sql_open(restart->raw, SQL_FULL);
    int64_t rows = sql ? sql_read_back(sql) : 0;
    *cost = watch_stop(watch);
    sql_free(sql);
    return rows > 0 || err_set(err, ERR_STORE, "raw SQLite failed");
}

static bool start_again(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    Restart *restart = user;
    daemon_kill(&restart->daemon);
    Watch watch = watch_start();
    bool is_up = subject_serve(&restart->subject, &restart->daemon, err);
    *cost = watch_stop(watch);
    return is_up;
}

static bool start_only(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    const Restart *restart = user;
    const char *argv[] = {restart->bench->otto, "version", NULL};
    Program program = subject_program(&restart->subject, argv);
    program.is_beside = true;
    return program_run(&program, cost, NULL, err);
}

static bool restart_open(Bench *bench, unsigned tasks, Restart *restart, Err *err)
{
    SubjectSpec spec = {.below = bench->disk, .slots = 4, .agent = {bench->agent}};
    *restart = (Restart){.bench = bench, .daemon = {0, -1}};
    restart->raw = arena_printf(&bench->arena, "%s/raw.db", bench_folder(bench, bench->disk));
    SqlFloor *sql = sql_open(restart->raw, SQL_FULL);
    bool is_filled = sql && sql_fill(sql, tasks, EDGES);
    sql_free(sql);
    if (!is_filled)
        return err_set(err, ERR_STORE, "the floor's database could not be made");
    return subject_make(bench, &spec, &restart->subject, err) &&
           subject_add(&restart->subject, 1, err) &&
           subject_fill(&restart->subject, tasks, EDGES, err) &&
           /* Two small commits: the first moves the large one out of the log, the second begins
            * the log anew. A real log is never that long. */
           subject_add(&restart->subject, 1, err) && subject_add(&restart->subject, 1, err) &&
           subject_serve(&restart->subject, &restart->daemon, err);
}

static void large_row(Bench *bench)
{
    enum { TASKS = 100000 };
    Err err = {0};
    Restart restart;
    Row *row = table_add(&bench->table, "P16", "ms", "kill -9 to deciding again, %d tasks", TASKS);
    Side sides[] = {
        {"reading tasks and dependencies back, raw SQLite", read_back, &restart, .big = 1},
        {"otto serve until it answers", start_again, &restart, .big = 1},
        {"otto version", start_only, &restart, .big = 1},
    };
    Comparison found;
    if (!restart_open(bench, TASKS, &restart, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        compare(&bench->plan, sides, COUNT(sides), GUARD_WALL, &found);
        if (row_compare(row, &found, sides, false, 1e3))
            row_goal(row, row->ratio <= 2.5, "<= 2.5 x read-back");
    }
    daemon_kill(&restart.daemon);
}

static void small_row(Bench *bench)
{
    enum { TASKS = 1000 };
    Err err = {0};
    Restart restart;
    Row *row = table_add(&bench->table, "P16", "ms", "kill -9 to deciding again, %d tasks", TASKS);
    Side sides[] = {
        {"process start: otto version", start_only, &restart, .big = 1},
        {"otto serve until it answers", start_again, &restart, .big = 1},
    };
    Comparison found;
    if (!restart_open(bench, TASKS, &restart, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        compare(&bench->plan, sides, COUNT(sides), GUARD_WALL, &found);
        if (row_compare(row, &found, sides, false, 1e3))
            row_goal(row, row->otto - row->floor <= 20, "<= 20 ms over process start");
    }
    daemon_kill(&restart.daemon);
}

void part_restart(Bench *bench)
{
    large_row(bench);
    if (!is_interrupted())
        small_row(bench);
}

/* -- P18 --------------------------------------------------------------------------------------- */

typedef struct Command {
    const Subject *subject;
    const char *const *argv;
} Command;

static bool run_command(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    const Command *command = user;
    Program program = subject_program(command->subject, command->argv);
    program.is_beside = true;
    return program_run(&program, cost, NULL, err);
}

static void status_rows(Bench *bench, const Subject *subject)
{
    const char *git[] = {"git", "rev-parse", "HEAD", NULL};
    const char *status[] = {bench->otto, "status", NULL};
    const char *nothing[] = {"true", NULL};
    Command commands[] = {{subject, git}, {subject, status}, {subject, nothing}};
    Side sides[] = {
        {"git rev-parse HEAD", run_command, &commands[0], .big = 1},
        {"otto status", run_command, &commands[1], .big = 1},
        {"true", run_command, &commands[2], .big = 1},
    };
    Plan plan = {bench->plan.rounds, pick(bench, 60, 30)};
    Comparison found;
    compare(&plan, sides, COUNT(sides), GUARD_CPU, &found);
    for (int by_cpu = 1; by_cpu >= 0; by_cpu--) {
        Row *row = table_add(&bench->table, "P18", "ms", "otto status beside a running engine, %s",
                             by_cpu ? "CPU" : "wall");
        if (!row_compare(row, &found, sides, by_cpu, 1e3))
            continue;
        row_note(row, "spawn of true %.2f ms",
                 1e3 * (by_cpu ? found.sides[2].cpu_s : found.sides[2].wall_s));
        row_goal(row, row->ratio < 1, "< git rev-parse");
    }
}

void part_status(Bench *bench)
{
    Err err = {0};
    Subject subject;
    Daemon daemon = {0, -1};
    SubjectSpec spec = {.below = bench->disk, .slots = 4, .agent = {bench->agent}};
    if (subject_make(bench, &spec, &subject, &err) && subject_add(&subject, 50, &err) &&
        subject_serve(&subject, &daemon, &err))
        status_rows(bench, &subject);
    else
        row_fail(table_add(&bench->table, "P18", "", "otto status"), "%s", err.text);
    daemon_stop(&daemon);
}
