/* Counting: see count.h. */
#include "tests/bench/count.h"
#include "base/file.h"
#include "base/str.h"
#include <stdlib.h>

enum { FILE_LIMIT = 64 << 20 };

const char *const *counter_argv(const Counter *counter, const char *file, const char *const *argv,
                                Arena *arena)
{
    size_t own = 0, theirs = 0;
    while (own < COUNT(counter->words) && counter->words[own])
        own++;
    while (argv[theirs])
        theirs++;
    const char **out = arena_alloc(arena, (own + theirs + 1) * sizeof *out);
    for (size_t i = 0; i < own; i++) {
        const char *at = strchr(counter->words[i], '@');
        out[i] = at ? arena_printf(arena, "%.*s%s", (int)(at - counter->words[i]),
                                   counter->words[i], file)
                    : counter->words[i];
    }
    for (size_t i = 0; i < theirs; i++)
        out[own + i] = argv[i];
    return out;
}

static bool number_after(const char *text, const char *word, double *number)
{
    const char *at = strstr(text, word);
    if (!at)
        return false;
    *number = strtod(at + strlen(word), NULL);
    return true;
}

static bool read_callgrind(const char *file, Counts *counts, Err *err)
{
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

static bool read_strace(const char *file, Counts *counts, Err *err)
{
    CLEANUP(mem_freep) char *text = file_read(file, FILE_LIMIT, NULL, err);
    if (!text)
        return false;
    char *rest = text, *line;
    counts->calls = counts->syncs = 0;
    while ((line = strsep(&rest, "\n")) != NULL)
        count_line(line, counts);
    return counts->calls > 0 || err_set(err, ERR_PROCESS, "strace counted nothing");
}

const Counter counter_calls = {
    /* -D: the watched program is our child, so that signals reach it and not strace */
    "strace",
    {"strace", "-D", "-c", "-o", "@", "--"},
    read_strace};
const Counter counter_instructions = {
    "valgrind",
    {"valgrind", "--tool=callgrind", "--trace-children=no", "-q", "--callgrind-out-file=@"},
    read_callgrind};

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
