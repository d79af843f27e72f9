/* P2: what the engine's own process does for one task, counted: instructions, system calls, syncs.
 * The difference between two sizes; keepers, agents and the display are not in it. */
#include "base/clock.h"
#include "base/file.h"
#include "tests/bench/agent.h"
#include "tests/bench/count.h"
#include "tests/bench/subject.h"
#include <sys/stat.h>
#include <unistd.h>

enum { SLOW_MS = 300000 };

/* One counted run. */
typedef struct Counting {
    Bench *bench;
    const Counter *counter;
    unsigned slots, size;
    const char *otto;               /* the program to count */
    const char *file;               /* what the counter writes */
    const char *const *environment; /* for an old valgrind; see pidfd_shim.c */
} Counting;

static const char *number(const Counting *counting, unsigned value)
{
    return arena_printf(&counting->bench->arena, "%u", value);
}

static Program counted(const Counting *counting, const char *const *argv, const char *const *env)
{
    Arena *arena = &counting->bench->arena;
    return (Program){.argv = counter_argv(counting->counter, counting->file, argv, arena),
                     .envp = env_with(arena, env, counting->environment),
                     .timeout_ms = SLOW_MS,
                     .is_beside = true};
}

static bool count_floor(const Counting *counting, Err *err)
{
    const Bench *bench = counting->bench;
    const char *folder = bench_folder(counting->bench, bench->disk);
    const char *size = number(counting, counting->size);
    const char *fill[] = {bench->floor, "fill", folder, size, NULL};
    const char *argv[] = {bench->floor, "engine", folder, size, number(counting, counting->slots),
                          bench->agent, NULL};
    Program program = counted(counting, argv, NULL);
    return program_run(&(Program){.argv = fill, .is_beside = true}, NULL, NULL, err) &&
           program_run(&program, NULL, NULL, err);
}

/* The agents' own stamps tell when the work is done: asking the engine would be counted. */
static bool wait_stamps(const char *file, unsigned count, Err *err)
{
    int64_t until = clock_mono_ms() + SLOW_MS;
    struct stat info;
    while (stat(file, &info) != 0 || info.st_size < (off_t)(count * sizeof(AgentStamp))) {
        if (clock_mono_ms() > until || is_interrupted())
            return err_set(err, ERR_BUSY, "not all agents were started");
        usleep(10000); /* the wait of this loop */
    }
    return true;
}

static bool wait_quiet(const Subject *subject, Err *err)
{
    int64_t until = clock_mono_ms() + 60000;
    for (;;) {
        CLEANUP(json_freep) json_t *reply = NULL;
        usleep(500000); /* seldom: each question is counted too */
        if (!subject_call(subject, "GET", "/api/v1/status?project=1", NULL, &reply, err))
            return false;
        const char *state = json_text(json_object_get(reply, "project"), "autopilot", "");
        if (text_equal(state, "idle"))
            return true;
        if (clock_mono_ms() > until || is_interrupted())
            return err_set(err, ERR_BUSY, "the autopilot is still '%s'", state);
    }
}

static bool count_otto(const Counting *counting, Err *err)
{
    Bench *bench = counting->bench;
    const char *stamps = arena_printf(&bench->arena, "%s/stamps", bench_folder(bench, bench->disk));
    SubjectSpec spec = {
        .below = bench->disk, .slots = counting->slots, .agent = {bench->agent, "stamp", stamps}};
    const char *argv[] = {counting->otto, "serve", NULL};
    Subject subject;
    Daemon daemon = {0, -1};
    if (!subject_make(bench, &spec, &subject, err) || !subject_add(&subject, counting->size, err))
        return false;
    Program program = counted(counting, argv, subject.env);
    program.cwd = subject.repo;
    bool is_fine = daemon_start(&program, &daemon, err) && subject_wait(&subject, &daemon, err) &&
                   subject_call(&subject, "POST", "/api/v1/projects/1/run", "{}", NULL, err) &&
                   wait_stamps(stamps, counting->size, err) && wait_quiet(&subject, err);
    daemon_stop(&daemon);
    return is_fine;
}

/* The counter may still be writing when the program has gone. */
static bool read_counts(const Counting *counting, Counts *counts, Err *err)
{
    int64_t until = clock_mono_ms() + 5000;
    Err not_yet;
    while (!counting->counter->read(counting->file, counts, &not_yet)) {
        if (clock_mono_ms() > until)
            return err_set(err, not_yet.kind, "%s", not_yet.text);
        usleep(20000); /* the wait of this loop */
    }
    return true;
}

typedef bool CountRun(const Counting *counting, Err *err);

static bool count_slope(Counting *counting, CountRun *run, Counts *per_task, Err *err)
{
    Bench *bench = counting->bench;
    unsigned sizes[2] = {20, pick(bench, 220, 120)};
    double span = sizes[1] - sizes[0];
    Counts at[2] = {{0}, {0}};
    if (!program_is_installed(counting->counter->name))
        return err_set(err, ERR_NOT_FOUND, "%s is not installed", counting->counter->name);
    for (size_t i = 0; i < 2; i++) {
        counting->size = sizes[i];
        counting->file = arena_printf(&bench->arena, "%s/counts", bench_folder(bench, bench->disk));
        if (!run(counting, err) || !read_counts(counting, &at[i], err))
            return false;
    }
    *per_task = (Counts){(at[1].instructions - at[0].instructions) / span,
                         (at[1].calls - at[0].calls) / span, (at[1].syncs - at[0].syncs) / span};
    return true;
}

typedef struct Found {
    Counts floor, otto;
    Err floor_err, otto_err; /* kind NONE: counted */
} Found;

static Found count_pair(Counting *counting)
{
    Found found = {0};
    (void)count_slope(counting, count_floor, &found.floor, &found.floor_err); /* see the rows */
    (void)count_slope(counting, count_otto, &found.otto, &found.otto_err);
    return found;
}

static void counts_row(Bench *bench, const Found *found, const char *what, double floor,
                       double otto, double goal)
{
    Row *row = table_add(&bench->table, "P2", "", "%s", what);
    if (found->floor_err.kind == ERR_NONE)
        row_floor(row, floor, "floor engine, the same slots");
    else
        row_note(row, "floor: %.100s", found->floor_err.text);
    if (found->otto_err.kind != ERR_NONE) {
        row_fail(row, "%s", found->otto_err.text);
        return;
    }
    row->otto = otto;
    if (found->floor_err.kind == ERR_NONE && floor > 0)
        row->ratio = otto / floor;
    row_goal(row, otto <= goal, "<= %.6g", goal);
}

/* The dynamically linked program with a keeper beside it, where it looks for one. */
static const char *counted_otto(Bench *bench, Err *err)
{
    Arena *arena = &bench->arena;
    const char *folder = bench_folder(bench, bench->disk);
    const char *copies[][2] = {
        {arena_printf(arena, "%s/tests/bench/otto-counted", bench->build), "otto"},
        {bench->keeper, "otto-keeper"}};
    for (size_t i = 0; i < COUNT(copies); i++) {
        size_t length = 0;
        CLEANUP(mem_freep) char *bytes = file_read(copies[i][0], 64 << 20, &length, err);
        const char *to = arena_printf(arena, "%s/%s", folder, copies[i][1]);
        if (!bytes || !file_write_plain(to, bytes, length, 0755, err))
            return NULL;
    }
    return arena_printf(arena, "%s/otto", folder);
}

static Found count_instructions(Bench *bench)
{
    Arena *arena = &bench->arena;
    const char *socket = arena_printf(arena, "%s/pidfds", bench_folder(bench, bench->disk));
    const char *environment[] = {
        arena_printf(arena, "LD_PRELOAD=%s/tests/bench/libbench-pidfd.so", bench->build),
        arena_printf(arena, "BENCH_PIDFDS=%s", socket), NULL};
    const char *argv[] = {bench->floor, "pidfds", socket, NULL};
    Counting counting = {bench, &counter_instructions, .slots = 4, .environment = environment};
    Daemon helper = {0, -1};
    Found found = {0};
    counting.otto = counted_otto(bench, &found.otto_err);
    if (!counting.otto || !daemon_start(&(Program){.argv = argv}, &helper, &found.otto_err))
        return found;
    found = count_pair(&counting);
    daemon_kill(&helper);
    return found;
}

void part_counts(Bench *bench)
{
    const char *nothing[] = {NULL};
    Counting counting = {bench, &counter_calls, .slots = 4, .otto = bench->otto,
                         .environment = nothing};
    Found found = count_instructions(bench);
    (void)children_end(); /* keepers that have ended */
    counts_row(bench, &found, "instructions of the engine per task, 4 slots",
               found.floor.instructions, found.otto.instructions, 200000);
    found = count_pair(&counting);
    (void)children_end();
    counts_row(bench, &found, "system calls of the engine per task, 4 slots", found.floor.calls,
               found.otto.calls, 60);
    counts_row(bench, &found, "fdatasync per task, 4 slots", found.floor.syncs, found.otto.syncs,
               0.5);
    counting.slots = 1;
    found = count_pair(&counting);
    (void)children_end();
    counts_row(bench, &found, "fdatasync per task, 1 slot", found.floor.syncs, found.otto.syncs, 2);
}
