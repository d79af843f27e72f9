/* How times are compared on a busy machine: interleaved, by minima, judged by the median of the
 * rounds' ratios, with the floor run twice under two names as a guard. */
#pragma once
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Cost {
    double cpu_s, wall_s;
} Cost;

/* One thing to measure. Two sizes and the difference remove what does not grow with the size. */
typedef struct Side {
    const char *name;
    bool (*run)(void *user, unsigned size, Cost *cost, Err *err);
    void *user;
    unsigned small, big; /* small 0: only the big one is run, and divided by its size */
    unsigned repeats;    /* per round; 0: as the plan says */
} Side;

typedef struct Plan {
    unsigned rounds, repeats;
} Plan;

enum { SIDE_MOST = 6, ROUND_MOST = 8 };

typedef struct SideResult {
    bool is_measured, has_failed;
    Err err;                      /* why it has failed */
    double cpu_s, wall_s;         /* per unit of size, smallest of all rounds */
    double cpu_ratio, wall_ratio; /* to side 0: median of the rounds */
} SideResult;

typedef struct Comparison {
    SideResult sides[SIDE_MOST];
    double guard;     /* floor against itself, the worst judged round, CPU or wall */
    unsigned repeats; /* rounds thrown away by the guard */
    bool is_noisy;    /* the guard still failed at the end */
} Comparison;

enum { GUARD_CPU = 1, GUARD_WALL = 2 };

/* sides[0] is the floor. guard: which of its two figures must repeat within 0.85 to 1.15. */
void compare(const Plan *plan, const Side *sides, size_t count, unsigned guard, Comparison *out);

double median(double *values, size_t count);                  /* sorts; NAN when empty */
double percentile(double *values, size_t count, double part); /* sorts; part 0 to 1 */

/* The cost of code in this process. */
typedef struct Watch {
    double cpu_s, wall_s;
} Watch;
Watch watch_start(void);
Cost watch_stop(Watch watch);
int64_t now_ns(void); /* monotonic */
