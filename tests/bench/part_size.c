/* P22: how large the programs are. P23: how fast the simulation is. */
#include "tests/bench/bench.h"
#include "tests/bench/program.h"
#include <sys/stat.h>
#include <unistd.h>

static bool stripped_size(Bench *bench, const char *program, double *bytes, Err *err)
{
    const char *copy = arena_printf(&bench->arena, "%s/stripped", bench_folder(bench, bench->disk));
    const char *argv[] = {"strip", "-o", copy, program, NULL};
    Program strip = {.argv = argv};
    struct stat info;
    if (access(program, R_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "there is no program '%s'", program);
    if (!program_run(&strip, NULL, NULL, err) || stat(copy, &info) != 0)
        return err_add(err, "strip");
    *bytes = (double)info.st_size;
    return true;
}

void part_size(Bench *bench)
{
    Err err = {0};
    double bytes;
    Row *row =
        table_add(&bench->table, "P22", "KB", "program otto, stripped (there is no page yet)");
    if (!stripped_size(bench, bench->otto, &bytes, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        row->otto = bytes / 1024;
        row_goal(row, row->otto <= 3072, "<= 3072 KB");
    }
    row = table_add(&bench->table, "P22", "KB", "program otto-keeper, stripped");
    if (!stripped_size(bench, bench->keeper, &bytes, &err)) {
        row_fail(row, "%s", err.text);
    } else {
        row->otto = bytes / 1024;
        row_goal(row, row->otto <= 100, "<= 100 KB");
    }
}

void part_sim(Bench *bench)
{
    Err err = {0};
    Cost cost, best = {1e9, 1e9};
    double events = pick(bench, 1000000, 300000);
    const char *argv[] = {bench->sim, "--events", arena_printf(&bench->arena, "%.0f", events),
                          NULL};
    Program sim = {.argv = argv};
    Row *row = table_add(&bench->table, "P23", "events/min",
                         "simulation on one core, by CPU time, %.0f events", events);
    if (access(bench->sim, X_OK) != 0) {
        row_fail(row, "there is no program '%s'", bench->sim);
        return;
    }
    for (unsigned i = 0; i < pick(bench, 3, 1); i++) {
        if (!program_run(&sim, &cost, NULL, &err)) {
            row_fail(row, "%s", err.text);
            return;
        }
        best.cpu_s = MIN(best.cpu_s, cost.cpu_s);
    }
    row->otto = events / best.cpu_s * 60;
    row_goal(row, row->otto >= 1e6, ">= 1,000,000 events/min");
}
