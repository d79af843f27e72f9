/* Comparing costs: see measure.h. */
#include "tests/bench/measure.h"
#include "tests/bench/program.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

Watch watch_start(void)
{
    return (Watch){seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC)};
}

Cost watch_stop(Watch watch)
{
    return (Cost){seconds_of(CLOCK_PROCESS_CPUTIME_ID) - watch.cpu_s,
                  seconds_of(CLOCK_MONOTONIC) - watch.wall_s};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double percentile(double *values, size_t count, double part)
{
    if (!count)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    size_t at = (size_t)(part * (double)(count - 1) + 0.5);
    return values[MIN(at, count - 1)];
}

double median(double *values, size_t count)
{
    return percentile(values, count, 0.5);
}

/* Minima of one round; the floor has a second pair for the guard. */
typedef struct Least {
    Cost small, big;
} Least;

static const Least most = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};

static void keep_least(Cost *least, const Cost *cost)
{
    least->cpu_s = MIN(least->cpu_s, cost->cpu_s);
    least->wall_s = MIN(least->wall_s, cost->wall_s);
}

static void run_side(const Side *side, SideResult *result, Least *least)
{
    Cost cost;
    if (result->has_failed)
        return;
    if (side->small) {
        result->has_failed = !side->run(side->user, side->small, &cost, &result->err);
        if (result->has_failed)
            return;
        keep_least(&least->small, &cost);
    }
    result->has_failed = !side->run(side->user, side->big, &cost, &result->err);
    if (!result->has_failed)
        keep_least(&least->big, &cost);
}

static Cost per_unit(const Side *side, const Least *least)
{
    double span = side->big - side->small;
    if (!side->small)
        return (Cost){least->big.cpu_s / side->big, least->big.wall_s / side->big};
    return (Cost){(least->big.cpu_s - least->small.cpu_s) / span,
                  (least->big.wall_s - least->small.wall_s) / span};
}

typedef struct Round {
    Cost costs[SIDE_MOST];
    double guard_cpu, guard_wall;
} Round;

static void run_round(const Plan *plan, const Side *sides, size_t count, Comparison *out,
                      Round *round)
{
    Least least[SIDE_MOST + 1];
    for (size_t i = 0; i <= count; i++)
        least[i] = most;
    for (unsigned n = 0; n < plan->repeats && !is_interrupted(); n++) {
        for (size_t i = 0; i < count; i++)
            if (!sides[i].repeats || n < sides[i].repeats)
                run_side(&sides[i], &out->sides[i], &least[i]);
        run_side(&sides[0], &out->sides[0], &least[count]);
    }
    for (size_t i = 0; i < count; i++)
        round->costs[i] = per_unit(&sides[i], &least[i]);
    Cost again = per_unit(&sides[0], &least[count]);
    round->guard_cpu = again.cpu_s / round->costs[0].cpu_s;
    round->guard_wall = again.wall_s / round->costs[0].wall_s;
}

static bool is_steady(double ratio)
{
    return ratio >= 0.85 && ratio <= 1.15;
}

static bool guard_holds(const Round *round, unsigned guard)
{
    return (!(guard & GUARD_CPU) || is_steady(round->guard_cpu)) &&
           (!(guard & GUARD_WALL) || is_steady(round->guard_wall));
}

static double farther(double a, double b)
{
    return fabs(log(a)) > fabs(log(b)) ? a : b;
}

static void judge(const Round *rounds, size_t round_count, size_t side, SideResult *result)
{
    double cpu[ROUND_MOST], wall[ROUND_MOST];
    result->is_measured = !result->has_failed && round_count > 0;
    result->cpu_s = result->wall_s = INFINITY;
    for (size_t r = 0; r < round_count; r++) {
        const Cost *cost = &rounds[r].costs[side], *floor = &rounds[r].costs[0];
        result->cpu_s = MIN(result->cpu_s, cost->cpu_s);
        result->wall_s = MIN(result->wall_s, cost->wall_s);
        cpu[r] = cost->cpu_s / floor->cpu_s;
        wall[r] = cost->wall_s / floor->wall_s;
    }
    result->cpu_ratio = median(cpu, round_count);
    result->wall_ratio = median(wall, round_count);
}

void compare(const Plan *plan, const Side *sides, size_t count, unsigned guard, Comparison *out)
{
    Round rounds[ROUND_MOST];
    unsigned wanted = MIN(plan->rounds, ROUND_MOST), kept = 0, tries = 0;
    *out = (Comparison){.guard = 1.0};
    while (kept < wanted && !is_interrupted() && !out->sides[0].has_failed) {
        run_round(plan, sides, count, out, &rounds[kept]);
        bool holds = guard_holds(&rounds[kept], guard);
        if (!holds && tries < wanted) { /* repeated, not judged; but not for ever */
            tries++;
            continue;
        }
        out->is_noisy |= !holds;
        if (guard & GUARD_CPU)
            out->guard = farther(out->guard, rounds[kept].guard_cpu);
        if (guard & GUARD_WALL)
            out->guard = farther(out->guard, rounds[kept].guard_wall);
        kept++;
    }
    out->repeats = tries;
    for (size_t i = 0; i < count; i++)
        judge(rounds, is_interrupted() ? 0 : kept, i, &out->sides[i]);
}
