/* P4: durable transitions, alone and 64 a commit. P15: a stored scheduling cycle at 100,000 tasks.
 * Both beside raw SQLite on the same disk. */
#include "tests/bench/bench.h"
#include "tests/bench/driver.h"
#include "tests/bench/floor_sql.h"

enum { STORED_TASKS = 20000, CYCLE_TASKS = 100000, CYCLE_EDGES = 3 };

/* One database for each side, used by all its repetitions. */
typedef struct Pair {
    SqlFloor *sql;
    Driver *driver;
    unsigned burst; /* transitions a commit */
    unsigned next;  /* task of the floor's next transition */
} Pair;

static bool raw_transitions(void *user, unsigned size, Cost *cost, Err *err)
{
    Pair *pair = user;
    Watch watch = watch_start();
    for (unsigned i = 0; i < size; i += pair->burst) {
        bool is_fine = sql_begin(pair->sql);
        for (unsigned b = 0; b < pair->burst && is_fine; b++, pair->next++)
            is_fine = sql_transition(pair->sql, 1 + pair->next / 2 % STORED_TASKS,
                                     pair->next % 2 ? SQL_DONE : SQL_RUNNING);
        if (!is_fine || !sql_commit(pair->sql))
            return err_set(err, ERR_STORE, "raw SQLite failed");
    }
    *cost = watch_stop(watch);
    return true;
}

static bool otto_transitions(void *user, unsigned size, Cost *cost, Err *err)
{
    Pair *pair = user;
    Watch watch = watch_start();
    for (unsigned i = 0; i < size; i += pair->burst) {
        for (unsigned b = 0; b < pair->burst; b++)
            if (!driver_step(pair->driver, err))
                return false;
        if (!driver_commit(pair->driver, err))
            return false;
    }
    *cost = watch_stop(watch);
    return true;
}

static bool raw_cycles(void *user, unsigned size, Cost *cost, Err *err)
{
    Pair *pair = user;
    Watch watch = watch_start();
    for (unsigned i = 0; i < size; i++)
        if (!sql_cycle(pair->sql))
            return err_set(err, ERR_STORE, "raw SQLite failed");
    *cost = watch_stop(watch);
    return true;
}

/* One task from being chosen to having released its dependents; one commit, as on the other side.
 */
static bool otto_cycles(void *user, unsigned size, Cost *cost, Err *err)
{
    Pair *pair = user;
    Watch watch = watch_start();
    for (unsigned i = 0; i < size; i++) {
        unsigned before = driver_done(pair->driver);
        while (driver_done(pair->driver) == before)
            if (!driver_step(pair->driver, err))
                return false;
        if (!driver_commit(pair->driver, err))
            return false;
    }
    *cost = watch_stop(watch);
    return true;
}

static bool pair_open(Bench *bench, const char *below, const DriverSpec *size, Pair *pair, Err *err)
{
    const char *folder = bench_folder(bench, below);
    DriverSpec spec = *size;
    spec.path = arena_printf(&bench->arena, "%s/otto.db", folder);
    pair->sql = sql_open(arena_printf(&bench->arena, "%s/raw.db", folder), SQL_FULL);
    if (!pair->sql || !sql_fill(pair->sql, spec.tasks, spec.edges))
        return err_set(err, ERR_STORE, "the floor's database could not be made");
    pair->driver = driver_new(&spec, err);
    return pair->driver != NULL;
}

static void pair_close(Pair *pair)
{
    sql_free(pair->sql);
    driver_free(pair->driver);
}

static void durable_row(Bench *bench, const char *below, unsigned burst)
{
    Err err = {0};
    Pair pair = {.burst = burst};
    unsigned size = burst == 1 ? pick(bench, 300, 200) : pick(bench, 64 * 40, 64 * 20);
    Side sides[] = {
        {"raw SQLite, WAL, FULL", raw_transitions, &pair, .big = size},
        {"machine + store", otto_transitions, &pair, .big = size},
    };
    Row *row = table_add(&bench->table, "P4", "us", "durable transition, %u a commit, %s", burst,
                         disk_word(bench, below));
    DriverSpec spec = {.tasks = STORED_TASKS, .slots = 64};
    Comparison found;
    if (!pair_open(bench, below, &spec, &pair, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        compare(&bench->plan, sides, COUNT(sides), GUARD_WALL, &found);
        if (row_compare(row, &found, sides, false, 1e6) && burst == 1)
            row_goal(row, row->ratio <= 1.3, "<= 1.3 x raw");
        else if (row->finding != FINDING_NOT_MEASURED)
            row_goal(row, row->ratio <= 1 / 0.7, "<= 1.43 x raw (rate >= 0.7)");
    }
    pair_close(&pair);
}

void part_durable(Bench *bench)
{
    const char *places[] = {bench->disk, bench->memory};
    for (size_t i = 0; i < COUNT(places); i++)
        if (places[i]) {
            durable_row(bench, places[i], 1);
            durable_row(bench, places[i], 64);
        }
}

void part_cycle(Bench *bench)
{
    Err err = {0};
    Pair pair = {0};
    unsigned size = pick(bench, 500, 300);
    const char *below = bench->memory ? bench->memory : bench->disk;
    Side sides[] = {
        {"raw SQLite: best by index, two transitions, release", raw_cycles, &pair, .big = size},
        {"machine + store", otto_cycles, &pair, .big = size},
    };
    Row *row =
        table_add(&bench->table, "P15", "us", "stored scheduling cycle, %d tasks, one commit, %s",
                  CYCLE_TASKS, disk_word(bench, below));
    DriverSpec spec = {.tasks = CYCLE_TASKS, .edges = CYCLE_EDGES, .slots = 1};
    Comparison found;
    if (!pair_open(bench, below, &spec, &pair, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        compare(&bench->plan, sides, COUNT(sides), GUARD_CPU, &found);
        if (row_compare(row, &found, sides, true, 1e6))
            row_goal(row, row->ratio <= 1.5, "<= 1.5 x floor");
    }
    pair_close(&pair);
}
