/* P1: CPU of a no-op task through the whole engine, beside a bare loop, make and GNU parallel. */
#include "base/file.h"
#include "tests/bench/subject.h"
#include <math.h>

typedef struct Noop {
    Bench *bench;
    const char *below, *agent;
    unsigned slots;
} Noop;

static const char *count_text(const Noop *noop, unsigned number)
{
    return arena_printf(&noop->bench->arena, "%u", number);
}

static bool bare_run(void *user, unsigned size, Cost *cost, Err *err)
{
    const Noop *noop = user;
    const char *argv[] = {
        noop->bench->floor, "loop", count_text(noop, size), count_text(noop, noop->slots),
        noop->agent,        NULL};
    Program program = {.argv = argv};
    return program_run(&program, cost, NULL, err);
}

static bool floor_run(void *user, unsigned size, Cost *cost, Err *err)
{
    const Noop *noop = user;
    const char *folder = bench_folder(noop->bench, noop->below);
    const char *fill[] = {noop->bench->floor, "fill", folder, count_text(noop, size), NULL};
    const char *argv[] = {
        noop->bench->floor, "engine", folder, count_text(noop, size), count_text(noop, noop->slots),
        noop->agent,        NULL};
    return program_run(&(Program){.argv = fill}, NULL, NULL, err) &&
           program_run(&(Program){.argv = argv}, cost, NULL, err);
}

static bool otto_run(void *user, unsigned size, Cost *cost, Err *err)
{
    const Noop *noop = user;
    Subject subject;
    SubjectSpec spec = {.below = noop->below, .slots = noop->slots, .agent = {noop->agent}};
    return subject_make(noop->bench, &spec, &subject, err) && subject_add(&subject, size, err) &&
           subject_run(&subject, cost, err);
}

static bool parallel_run(void *user, unsigned size, Cost *cost, Err *err)
{
    const Noop *noop = user;
    const char *folder = bench_folder(noop->bench, noop->below);
    const char *argv[] = {"parallel",    "-j",        count_text(noop, noop->slots),
                          "--joblog",    "log",       "--results",
                          "results",     "--retries", "3",
                          "--will-cite", noop->agent, NULL};
    Str input = STR_INIT; /* each number becomes an argument, which the program ignores */
    for (unsigned i = 0; i < size; i++)
        str_addf(&input, "%u\n", i);
    Program program = {
        .argv = argv, .cwd = folder, .input = input.bytes, .input_length = input.length};
    bool is_fine = program_run(&program, cost, NULL, err);
    str_done(&input);
    return is_fine;
}

static bool make_run(void *user, unsigned size, Cost *cost, Err *err)
{
    const Noop *noop = user;
    const char *folder = bench_folder(noop->bench, noop->below);
    Str text = STR_INIT;
    str_add(&text, ".PHONY: all\nall:");
    for (unsigned i = 0; i < size; i++)
        str_addf(&text, " t%u", i);
    str_addf(&text, "\nt%%:\n\t@%s >$@.log 2>&1\n", noop->agent);
    const char *path = arena_printf(&noop->bench->arena, "%s/Makefile", folder);
    const char *jobs = arena_printf(&noop->bench->arena, "-j%u", noop->slots);
    const char *argv[] = {"make", "-s", jobs, NULL};
    bool is_fine = file_write_plain(path, text.bytes, text.length, 0644, err) &&
                   program_run(&(Program){.argv = argv, .cwd = folder}, cost, NULL, err);
    str_done(&text);
    return is_fine;
}

enum { BARE, OTTO, FLOOR, MAKE, PARALLEL, SIDES };

static void note_side(Row *row, const Comparison *found, const Side *sides, size_t side)
{
    const SideResult *result = &found->sides[side];
    if (result->is_measured)
        row_note(row, "%s %.3f ms (%.2f x)", sides[side].name, result->cpu_s * 1e3,
                 result->cpu_ratio);
    else
        row_note(row, "%s: %s", sides[side].name, result->err.text);
}

static void fill_peer(Row *row, const Comparison *found, size_t count)
{
    const SideResult *peer = &found->sides[PARALLEL];
    if (count <= PARALLEL)
        return;
    if (!peer->is_measured) {
        row_peer(row, NAN, "%s",
                 program_is_installed("parallel") ? peer->err.text : "not installed");
        return;
    }
    row_peer(row, peer->cpu_s * 1e3, "GNU parallel --joblog --results --retries");
    row_note(row, "GNU parallel costs %.1f x otto (goal >= 3: %s)", peer->cpu_s * 1e3 / row->otto,
             peer->cpu_s * 1e3 >= 3 * row->otto ? "met" : "NOT MET");
}

static void noop_row(Noop *noop, const char *child, bool with_peers)
{
    Bench *bench = noop->bench;
    unsigned small = 50, big = pick(bench, 1050, 550);
    Side sides[SIDES] = {
        [BARE] = {"bare posix_spawn loop", bare_run, noop, small, big},
        [OTTO] = {"otto run", otto_run, noop, small, big},
        [FLOOR] = {"floor engine", floor_run, noop, small, big},
        [MAKE] = {"make with logs", make_run, noop, small, big, .repeats = 2},
        [PARALLEL] = {"GNU parallel", parallel_run, noop, small, pick(bench, 550, 250),
                      .repeats = 1},
    };
    size_t count = with_peers ? SIDES : MAKE;
    Plan plan = {bench->plan.rounds, pick(bench, 5, 3)};
    Comparison found;
    compare(&plan, sides, count, GUARD_CPU, &found);
    Row *row = table_add(&bench->table, "P1", "ms", "CPU per no-op task, %u slots, %s, %s agent",
                         noop->slots, disk_word(bench, noop->below), child);
    bool is_measured = row_compare(row, &found, sides, true, 1e3);
    fill_peer(row, &found, count);
    for (size_t i = FLOOR; i < count && i < PARALLEL; i++)
        note_side(row, &found, sides, i);
    if (is_measured)
        row_goal(row, row->ratio <= 2.2, "<= 2.2 x bare");
}

void part_noop(Bench *bench)
{
    static const unsigned slots[] = {4, 64};
    for (size_t i = 0; i < COUNT(slots); i++) {
        /* The goal was set with an ordinary program; a static one costs a third and hides less. */
        Noop noop = {bench, bench->disk, bench->agent_dynamic, slots[i]};
        noop_row(&noop, "dynamic", true);
        noop.agent = bench->agent;
        noop_row(&noop, "static", false);
        noop.below = bench->memory;
        if (bench->memory && !is_interrupted())
            noop_row(&noop, "static", false);
        noop.agent = bench->agent_dynamic;
        if (bench->memory && !is_interrupted())
            noop_row(&noop, "dynamic", false);
    }
}
