/* The benchmark: what its parts share. A part measures one or a few goals and adds its rows; what
 * cannot be measured gets a row that says why. */
#pragma once
#include "base/arena.h"
#include "tests/bench/measure.h"
#include "tests/bench/table.h"
#include <limits.h>

typedef struct Bench {
    Table table;
    Plan plan; /* rounds and repeats */
    bool is_quick;
    Arena arena; /* lives as long as the run */
    const char *build;
    const char *otto, *keeper, *sim;   /* what is measured; may be missing */
    const char *agent, *agent_dynamic; /* the same program, linked statically and dynamically */
    const char *floor;                 /* the floors that are programs */
    const char *disk, *memory;         /* working folders on the real disk and in memory */
    unsigned folders;                  /* made so far */
} Bench;

/* A new, empty folder below disk or memory. It is removed at the end of the whole run: deleting
 * between repetitions would measure the file system. */
const char *bench_folder(Bench *bench, const char *below);
unsigned pick(const Bench *bench, unsigned full, unsigned quick);
/* Says on stderr what is going on. */
void bench_say(const char *format, ...) PRINTF(1, 2);
/* "disk" or "tmpfs". */
const char *disk_word(const Bench *bench, const char *below);
/* Fills floor, otto, ratio and notes of a row from a comparison whose side 1 is otto. by_cpu: the
 * ratio of CPU minima counts, else of wall minima. Returns false (and the row says why) when
 * something was not measured. scale: from seconds to the row's unit. */
bool row_compare(Row *row, const Comparison *comparison, const Side *sides, bool by_cpu,
                 double scale);

/* The parts. */
void part_noop(Bench *bench);    /* P1 */
void part_counts(Bench *bench);  /* P2 */
void part_refill(Bench *bench);  /* P3 */
void part_durable(Bench *bench); /* P4 */
void part_merge(Bench *bench);   /* P8 */
void part_idle(Bench *bench);    /* P11, P26 */
void part_kill(Bench *bench);    /* P12 */
void part_order(Bench *bench);   /* P13 */
void part_graph(Bench *bench);   /* P14 */
void part_cycle(Bench *bench);   /* P15 */
void part_restart(Bench *bench); /* P16 */
void part_status(Bench *bench);  /* P18 */
void part_size(Bench *bench);    /* P22 */
void part_sim(Bench *bench);     /* P23 */
