/* sim [--seed N] [--seeds COUNT] [--events N] [--tasks N] [--list FILE] [--loop] [--verbose]
 *
 * Tasks follow any workflow, with --loop only the loop. Plays seeds and prints the first that
 * breaks an invariant, with its last events. Seeds in FILE (one number a line, `#` begins a
 * comment) are those that once failed; they are played first. */
#include "tests/sim/sim.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Totals {
    uint64_t seeds, events, accepted, crashes, landings;
} Totals;

static void print_trace(const Sim *sim)
{
    uint64_t first = sim->trace_count > TRACE_EVENTS ? sim->trace_count - TRACE_EVENTS : 0;
    for (uint64_t i = first; i < sim->trace_count; i++)
        (void)printf("  %s\n", sim->trace[i % TRACE_EVENTS]);
}

static bool play(const SimOptions *options, bool is_tracing, Totals *totals)
{
    Sim *sim = mem_alloc(sizeof *sim);
    sim->options = *options;
    sim->is_tracing = is_tracing;
    sim_play(sim);
    bool is_good = !sim_failed(sim);
    if (!is_good && is_tracing) {
        print_trace(sim);
        (void)printf("seed %" PRIu64 " fails after %" PRIu64 " events: %s\n", options->seed,
                     sim->events, str_text(&sim->failure));
    }
    totals->seeds++;
    totals->events += sim->events;
    totals->accepted += sim->accepted;
    totals->crashes += sim->crashes;
    totals->landings += sim->landings;
    sim_done(sim);
    free(sim);
    return is_good;
}

/* A failure is played again to write down how it came to it. */
static bool play_seed(const SimOptions *options, Totals *totals)
{
    Totals again = {0};
    if (play(options, options->is_verbose, totals))
        return true;
    if (!options->is_verbose)
        (void)play(options, true, &again); /* it fails as it did before */
    return false;
}

static bool play_list(const char *path, SimOptions options, Totals *totals)
{
    char line[256];
    bool is_good = true;
    FILE *file = fopen(path, "re");
    if (!file) {
        (void)fprintf(stderr, "sim: cannot read '%s'\n", path);
        return false;
    }
    while (is_good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *end;
        options.seed = strtoull(line, &end, 10);
        if (end != line)
            is_good = play_seed(&options, totals);
    }
    (void)fclose(file); /* only read */
    return is_good;
}

typedef struct Arguments {
    SimOptions options;
    const char *list;
    int64_t seeds;
} Arguments;

static bool read_number(const char *text, int64_t *number)
{
    return text && text_to_int(text, number) && *number >= 0;
}

static bool read_arguments(int argc, char **argv, Arguments *out)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        int64_t number = 0;
        if (strcmp(argv[i], "--verbose") == 0) {
            out->options.is_verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--loop") == 0) {
            out->options.is_loop = true;
            continue;
        }
        if (strcmp(argv[i], "--list") == 0 && value) {
            out->list = argv[++i];
            continue;
        }
        if (!read_number(value, &number))
            return false;
        if (strcmp(argv[i], "--seed") == 0)
            out->options.seed = (uint64_t)number;
        else if (strcmp(argv[i], "--seeds") == 0)
            out->seeds = number;
        else if (strcmp(argv[i], "--events") == 0)
            out->options.events = (uint32_t)number;
        else if (strcmp(argv[i], "--tasks") == 0)
            out->options.tasks = (uint32_t)MAX(1, number);
        else
            return false;
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    Arguments args = {.options = {.seed = 1, .events = 2000, .tasks = 30}, .seeds = 1};
    Totals totals = {0};
    if (!read_arguments(argc, argv, &args)) {
        (void)fputs("usage: sim [--seed N] [--seeds COUNT] [--events N] [--tasks N] "
                    "[--list FILE] [--loop] [--verbose]\n",
                    stderr);
        return 1;
    }
    int64_t start = clock_mono_ms();
    bool is_good = !args.list || play_list(args.list, args.options, &totals);
    for (int64_t i = 0; is_good && i < args.seeds; i++) {
        is_good = play_seed(&args.options, &totals);
        args.options.seed++;
    }
    int64_t took = MAX(1, clock_mono_ms() - start);
    (void)printf("%" PRIu64 " seeds, %" PRIu64 " events (%" PRIu64 " accepted), %" PRIu64
                 " restarts, %" PRIu64 " landings in %" PRId64 " ms: %" PRIu64 " events/s\n",
                 totals.seeds, totals.events, totals.accepted, totals.crashes, totals.landings,
                 took, totals.events * 1000 / (uint64_t)took);
    return is_good ? 0 : 1;
}
