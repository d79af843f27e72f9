/* Counting: see count.h. */
#include "tests/bench/count.h"
#include "base/arena.h"
#include "base/file.h"
#include <stdlib.h>

enum { WORDS = 24, SLOW_MS = 300000, FILE_LIMIT = 64 << 20 };

/* The program behind another one that watches it. */
static bool run_behind(const char *const *head, const Program *program, Err *err)
{
    const char *argv[WORDS] = {NULL};
    size_t count = 0;
    while (*head && count < WORDS - 1)
        argv[count++] = *head++;
    for (size_t i = 0; program->argv[i] && count < WORDS - 1; i++)
        argv[count++] = program->argv[i];
    Program behind = *program;
    behind.argv = argv;
    behind.timeout_ms = SLOW_MS;
    return program_run(&behind, NULL, NULL, err);
}

static bool number_after(const char *text, const char *word, double *number)
{
    const char *at = strstr(text, word);
    if (!at)
        return false;
    *number = strtod(at + strlen(word), NULL);
    return true;
}

bool count_instructions(const Program *program, const char *folder, Counts *counts, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *file = arena_printf(&arena, "%s/callgrind.out", folder);
    const char *head[] = {"valgrind", "--tool=callgrind", "--trace-children=no", "-q",
                          arena_printf(&arena, "--callgrind-out-file=%s", file), NULL};
    if (!program_is_installed("valgrind"))
        return err_set(err, ERR_NOT_FOUND, "valgrind is not installed");
    if (!run_behind(head, program, err))
        return false;
    CLEANUP(mem_freep) char *text = file_read(file, FILE_LIMIT, NULL, err);
    if (!text)
        return false;
    return number_after(text, "\ntotals: ", &counts->instructions) ||
           number_after(text, "\nsummary: ", &counts->instructions) ||
           err_set(err, ERR_PROCESS, "callgrind wrote no total");
}

/* A line of strace -c: "% time seconds usecs/call calls [errors] syscall". */
static void count_line(char *line, Counts *counts)
{
    char *word, *rest = line, *fields[6];
    size_t count = 0;
    while (count < COUNT(fields) && (word = strsep(&rest, " ")) != NULL)
        if (*word)
            fields[count++] = word;
    if (count < 5)
        return;
    double calls = strtod(fields[3], NULL);
    const char *name = fields[count - 1];
    if (strcmp(name, "total") == 0)
        counts->calls = calls;
    else if (strcmp(name, "fdatasync") == 0 || strcmp(name, "fsync") == 0)
        counts->syncs += calls;
}

bool count_calls(const Program *program, const char *folder, Counts *counts, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *file = arena_printf(&arena, "%s/strace.out", folder);
    const char *head[] = {"strace", "-c", "-o", file, "--", NULL};
    if (!program_is_installed("strace"))
        return err_set(err, ERR_NOT_FOUND, "strace is not installed");
    if (!run_behind(head, program, err))
        return false;
    CLEANUP(mem_freep) char *text = file_read(file, FILE_LIMIT, NULL, err);
    if (!text)
        return false;
    char *rest = text, *line;
    counts->calls = counts->syncs = 0;
    while ((line = strsep(&rest, "\n")) != NULL)
        count_line(line, counts);
    return counts->calls > 0 || err_set(err, ERR_PROCESS, "strace counted nothing");
}

static bool read_proc(pid_t pid, const char *name, char *out, size_t size, Err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name); /* fits */
    FILE *file = fopen(path, "re");
    if (!file)
        return err_errno(err, "cannot read '%s'", path);
    size_t length = fread(out, 1, size - 1, file);
    out[length] = '\0';
    (void)fclose(file); /* only read */
    return true;
}

static double ticks_of(const char *stat)
{
    /* user and system time are fields 14 and 15; the name in field 2 may hold spaces */
    const char *at = strrchr(stat, ')');
    for (int field = 2; at && field < 14; field++)
        at = strchr(at + 1, ' ');
    char *end = NULL;
    double user = at ? strtod(at, &end) : 0;
    return user + (end ? strtod(end, NULL) : 0);
}

bool proc_facts(pid_t pid, ProcFacts *facts, Err *err)
{
    char text[8192];
    double dirty = 0, clean = 0;
    *facts = (ProcFacts){0};
    if (!read_proc(pid, "status", text, sizeof text, err))
        return false;
    if (!number_after(text, "VmRSS:", &facts->rss_kb) ||
        !number_after(text, "VmHWM:", &facts->peak_kb) ||
        !number_after(text, "\nvoluntary_ctxt_switches:", &facts->wakeups))
        return err_set(err, ERR_PROCESS, "/proc/%d/status lacks a field", (int)pid);
    if (!read_proc(pid, "stat", text, sizeof text, err))
        return false;
    facts->ticks = ticks_of(text);
    if (!read_proc(pid, "smaps_rollup", text, sizeof text, err))
        return false;
    (void)(number_after(text, "Private_Dirty:", &dirty) &&
           number_after(text, "Private_Clean:", &clean)); /* absent counts as 0 */
    facts->private_kb = dirty + clean;
    return true;
}
