/* P2: what the engine's own process does for one task, counted: instructions, system calls, syncs.
 * The difference between two sizes; keepers and agents are not in it. */
#include "tests/bench/count.h"
#include "tests/bench/subject.h"
#include <math.h>

typedef struct Slope {
    Counts per_task;
    Err calls_err, instructions_err; /* kind NONE: counted */
} Slope;

typedef bool MakeProgram(Bench *bench, unsigned slots, unsigned size, Program *program, Err *err);

static bool make_otto(Bench *bench, unsigned slots, unsigned size, Program *program, Err *err)
{
    Subject *subject = arena_alloc(&bench->arena, sizeof *subject);
    SubjectSpec spec = {.below = bench->disk, .slots = slots, .agent = {bench->agent}};
    if (!subject_make(bench, &spec, subject, err) || !subject_add(subject, size, err))
        return false;
    const char **argv = arena_alloc(&bench->arena, 4 * sizeof *argv);
    argv[0] = bench->otto;
    argv[1] = "run";
    argv[2] = "--quiet";
    *program = subject_program(subject, argv);
    return true;
}

static bool make_floor(Bench *bench, unsigned slots, unsigned size, Program *program, Err *err)
{
    const char *folder = bench_folder(bench, bench->disk);
    const char *number = arena_printf(&bench->arena, "%u", size);
    const char *fill[] = {bench->floor, "fill", folder, number, NULL};
    const char **argv = arena_alloc(&bench->arena, 7 * sizeof *argv);
    argv[0] = bench->floor;
    argv[1] = "engine";
    argv[2] = folder;
    argv[3] = number;
    argv[4] = arena_printf(&bench->arena, "%u", slots);
    argv[5] = bench->agent;
    *program = (Program){.argv = argv};
    return program_run(&(Program){.argv = fill}, NULL, NULL, err);
}

typedef bool CountProgram(const Program *program, const char *folder, Counts *counts, Err *err);

static bool count_both(Bench *bench, MakeProgram *make, CountProgram *count, unsigned slots,
                       Counts at[2], const unsigned sizes[2], Err *err)
{
    for (size_t i = 0; i < 2; i++) {
        Program program;
        if (!make(bench, slots, sizes[i], &program, err) ||
            !count(&program, bench_folder(bench, bench->disk), &at[i], err))
            return false;
    }
    return true;
}

static void measure_slope(Bench *bench, MakeProgram *make, unsigned slots, Slope *slope)
{
    unsigned sizes[2] = {20, pick(bench, 220, 120)};
    double span = sizes[1] - sizes[0];
    Counts at[2] = {{0}, {0}};
    *slope = (Slope){0};
    if (count_both(bench, make, count_calls, slots, at, sizes, &slope->calls_err)) {
        slope->per_task.calls = (at[1].calls - at[0].calls) / span;
        slope->per_task.syncs = (at[1].syncs - at[0].syncs) / span;
    }
    if (slots > 1 && /* the instructions of a task do not depend on the slots */
        count_both(bench, make, count_instructions, slots, at, sizes, &slope->instructions_err))
        slope->per_task.instructions = (at[1].instructions - at[0].instructions) / span;
}

static void counts_row(Bench *bench, const char *what, const char *unit, double floor, double otto,
                       const Err *floor_err, const Err *otto_err, double goal)
{
    Row *row = table_add(&bench->table, "P2", unit, "%s", what);
    if (floor_err->kind == ERR_NONE)
        row_floor(row, floor, "floor engine, the same slots");
    if (otto_err->kind != ERR_NONE) {
        row_fail(row, "%s", otto_err->text);
        return;
    }
    row->otto = otto;
    if (floor_err->kind == ERR_NONE && floor > 0)
        row->ratio = otto / floor;
    row_goal(row, otto <= goal, "<= %g", goal);
}

void part_counts(Bench *bench)
{
    Slope floor, otto;
    measure_slope(bench, make_floor, 4, &floor);
    measure_slope(bench, make_otto, 4, &otto);
    counts_row(bench, "instructions of the engine per task, 4 slots", "",
               floor.per_task.instructions, otto.per_task.instructions, &floor.instructions_err,
               &otto.instructions_err, 200000);
    counts_row(bench, "system calls of the engine per task, 4 slots", "", floor.per_task.calls,
               otto.per_task.calls, &floor.calls_err, &otto.calls_err, 60);
    counts_row(bench, "fdatasync per task, 4 slots", "", floor.per_task.syncs, otto.per_task.syncs,
               &floor.calls_err, &otto.calls_err, 0.5);
    measure_slope(bench, make_floor, 1, &floor);
    measure_slope(bench, make_otto, 1, &otto);
    counts_row(bench, "fdatasync per task, 1 slot", "", floor.per_task.syncs, otto.per_task.syncs,
               &floor.calls_err, &otto.calls_err, 2);
}
