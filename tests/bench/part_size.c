/* P22: how large the programs are. P23: how fast the simulation is. */
#include "tests/bench/bench.h"
#include "tests/bench/program.h"
#include <math.h>
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

/* Its last line says "10 seeds, 214300 events (...)". */
static double count_events(const Str *out)
{
    const char *at = strstr(str_text(out), " seeds, ");
    return at ? strtod(at + strlen(" seeds, "), NULL) : 0;
}

void part_sim(Bench *bench)
{
    Err err = {0};
    double best = INFINITY;
    CLEANUP(str_done) Str out = STR_INIT;
    const char *argv[] = {bench->sim, "--events", "20000", "--seeds", bench->is_quick ? "5" : "20",
                          NULL};
    Program sim = {.argv = argv};
    Row *row = table_add(&bench->table, "P23", "events/min",
                         "simulation on one core, by CPU time, runs of %s events", argv[2]);
    if (access(bench->sim, X_OK) != 0) {
        row_fail(row, "there is no program '%s'", bench->sim);
        return;
    }
    for (unsigned i = 0; i < pick(bench, 3, 1); i++) {
        Cost cost;
        str_clear(&out);
        if (!program_run(&sim, &cost, &out, &err)) {
            row_fail(row, "%s", err.text);
            return;
        }
        best = MIN(best, cost.cpu_s);
    }
    row->otto = count_events(&out) / best * 60;
    row_goal(row, row->otto >= 1e6, ">= 1,000,000 a minute");
}
