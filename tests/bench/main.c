/* otto-bench --build BUILD_DIR [--quick] [--json FILE] [P1 P8 ...]
 *
 * Measures the goals of the project beside their floors and peers in the same run, prints one table
 * and writes it as JSON. A missed goal is a finding, not a failure: the exit code says only whether
 * the benchmark itself worked. */
#include "base/clock.h"
#include "base/file.h"
#include "tests/bench/bench.h"
#include "tests/bench/program.h"
#include <math.h>
#include <stdarg.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef struct Part {
    const char *ids; /* words that choose it */
    void (*run)(Bench *bench);
    const char *help;
} Part;

/* clang-format off */
static const Part parts[] = { /* quiet figures first; those that fill the disk last */
  {"P22",     part_size,    "footprint"},
  {"P14",     part_graph,   "graph release and choosing"},
  {"P23",     part_sim,     "simulation"},
  {"P15",     part_cycle,   "stored scheduling cycle"},
  {"P4",      part_durable, "durable transitions"},
  {"P16",     part_restart, "restart after kill -9"},
  {"P11 P26", part_idle,    "idle daemon and memory"},
  {"P18",     part_status,  "status round trip"},
  {"P13",     part_order,   "operator order noticed"},
  {"P12",     part_kill,    "kill switch"},
  {"P3",      part_refill,  "slot refill"},
  {"P2",      part_counts,  "counts per task"},
  {"P8",      part_merge,   "clean merge"},
  {"P1",      part_noop,    "no-op tasks"},
};
/* clang-format on */

void bench_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "bench: "); /* progress only */
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
    va_end(args);
}

unsigned pick(const Bench *bench, unsigned full, unsigned quick)
{
    return bench->is_quick ? quick : full;
}

const char *bench_folder(Bench *bench, const char *below)
{
    Err err;
    const char *path = arena_printf(&bench->arena, "%s/%u", below, ++bench->folders);
    if (!folder_ensure(path, 0755, &err))
        bench_say("%s", err.text); /* the part that uses it says what it misses */
    return path;
}

const char *disk_word(const Bench *bench, const char *below)
{
    return below == bench->memory ? "tmpfs" : "disk";
}

bool row_compare(Row *row, const Comparison *comparison, const Side *sides, bool by_cpu,
                 double scale)
{
    const SideResult *floor = &comparison->sides[0], *otto = &comparison->sides[1];
    if (!floor->is_measured || !otto->is_measured) {
        const SideResult *bad = floor->is_measured ? otto : floor;
        row_fail(row, "%s", bad->err.text[0] ? bad->err.text : "interrupted");
        return false;
    }
    row_floor(row, (by_cpu ? floor->cpu_s : floor->wall_s) * scale, "%s", sides[0].name);
    row->otto = (by_cpu ? otto->cpu_s : otto->wall_s) * scale;
    row->ratio = by_cpu ? otto->cpu_ratio : otto->wall_ratio;
    row_note(row, "%s %.2f x, A/A %.2f%s", by_cpu ? "wall" : "CPU",
             by_cpu ? otto->wall_ratio : otto->cpu_ratio, comparison->guard,
             comparison->is_noisy ? " (noisy)" : "");
    return true;
}

static bool is_chosen(const Part *part, char **words)
{
    if (!*words)
        return true;
    for (; *words; words++) {
        const char *at = strstr(part->ids, *words);
        size_t length = strlen(*words);
        if (at && length && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void usage(void)
{
    (void)fprintf(stderr,
                  "usage: otto-bench --build BUILD_DIR [--quick] [--json FILE] [P1 P8 ...]\n");
    for (size_t i = 0; i < COUNT(parts); i++)
        (void)fprintf(stderr, "  %-8s %s\n", parts[i].ids, parts[i].help);
}

static bool make_places(Bench *bench)
{
    char *disk = arena_printf(&bench->arena, "%s/bench.XXXXXX", bench->build);
    char *memory = arena_printf(&bench->arena, "/dev/shm/otto-bench.XXXXXX");
    if (!mkdtemp(disk))
        return false;
    bench->disk = disk;
    bench->memory = mkdtemp(memory);
    return true;
}

static void remove_places(Bench *bench)
{
    Err err;
    if (bench->disk && !folder_remove(bench->disk, &err))
        bench_say("%s", err.text);
    if (bench->memory && !folder_remove(bench->memory, &err))
        bench_say("%s", err.text);
}

static void find_programs(Bench *bench)
{
    bench->otto = arena_printf(&bench->arena, "%s/src/cli/otto", bench->build);
    bench->keeper = arena_printf(&bench->arena, "%s/src/keeper/otto-keeper", bench->build);
    bench->sim = arena_printf(&bench->arena, "%s/tests/sim/sim", bench->build);
    bench->floor = arena_printf(&bench->arena, "%s/tests/bench/otto-floor", bench->build);
    bench->agent = arena_printf(&bench->arena, "%s/tests/bench/bench-agent", bench->build);
    bench->agent_dynamic =
        arena_printf(&bench->arena, "%s/tests/bench/bench-agent-dynamic", bench->build);
}

static json_t *about(const Bench *bench, int64_t began_ms)
{
    struct utsname name;
    char when[32];
    json_t *out = json_object();
    (void)uname(&name); /* cannot fail with a good pointer */
    clock_format(clock_wall_ms(), when);
    json_object_set_new(out, "at", json_string(when));
    json_object_set_new(out, "version", json_string(OTTO_VERSION));
    json_object_set_new(out, "system", json_string(name.release));
    json_object_set_new(out, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(out, "is_quick", json_boolean(bench->is_quick));
    json_object_set_new(out, "took_s", json_real((double)(clock_mono_ms() - began_ms) / 1000));
    return out;
}

static void run_parts(Bench *bench, char **words)
{
    for (size_t i = 0; i < COUNT(parts) && !is_interrupted(); i++) {
        if (!is_chosen(&parts[i], words))
            continue;
        int64_t began_ms = clock_mono_ms();
        bench_say("%s %s", parts[i].ids, parts[i].help);
        parts[i].run(bench);
        int left = children_end();
        bench_say("%s took %.1f s%s", parts[i].ids, (double)(clock_mono_ms() - began_ms) / 1000,
                  left ? " (processes were left and ended)" : "");
    }
}

/* Returns the first word that chooses parts, or NULL after a bad option. */
static char **read_arguments(int argc, char **argv, Bench *bench, const char **json)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            bench->is_quick = true;
        else if (strcmp(argv[i], "--build") == 0 && i + 1 < argc)
            bench->build = realpath(argv[++i], NULL);
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            *json = argv[++i];
        else
            return NULL;
    }
    return bench->build ? argv + i : NULL;
}

int main(int argc, char **argv)
{
    Err err = {0};
    Bench bench = {0};
    const char *json = NULL;
    int64_t began_ms = clock_mono_ms();
    char **words = read_arguments(argc, argv, &bench, &json);
    if (!words) {
        usage();
        return 1;
    }
    bench.plan = bench.is_quick ? (Plan){1, 3} : (Plan){3, 7};
    programs_init();
    find_programs(&bench);
    if (!make_places(&bench)) {
        bench_say("cannot make a working folder below '%s'", bench.build);
        return 2;
    }
    run_parts(&bench, words);
    remove_places(&bench);
    table_print(&bench.table);
    if (!json)
        json = arena_printf(&bench.arena, "%s/bench.json", bench.build);
    bool is_saved = table_save(&bench.table, about(&bench, began_ms), json, &err);
    bench_say("%s%s", is_saved ? "written: " : err.text, is_saved ? json : "");
    table_done(&bench.table);
    arena_done(&bench.arena);
    free((char *)bench.build);
    return is_interrupted() ? 130 : is_saved ? 0 : 2;
}
