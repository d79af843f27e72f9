/* Counting instead of timing: instructions, system calls, wake-ups, memory. These hold on a busy
 * machine. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include <sys/types.h>

typedef struct Counts {
    double instructions; /* of the process itself, not of its children */
    double calls, syncs; /* system calls; fsync and fdatasync */
} Counts;

/* A program that watches another one: put its words before the other's, run, read the file. It
 * stays with the process that it starts and does not follow its children. */
typedef struct Counter {
    const char *name;     /* program that must be installed */
    const char *words[8]; /* before the watched program's; "@" stands for the file */
    bool (*read)(const char *file, Counts *counts, Err *err);
} Counter;

extern const Counter counter_calls, counter_instructions;
/* The watched program's argument vector behind the counter's. */
const char *const *counter_argv(const Counter *counter, const char *file, const char *const *argv,
                                Arena *arena);

typedef struct ProcFacts {
    double rss_kb, peak_kb, private_kb; /* private_kb: pages that nobody shares */
    double wakeups;                     /* voluntary context switches */
    double ticks;                       /* of CPU, user and system */
} ProcFacts;
bool proc_facts(pid_t pid, ProcFacts *facts, Err *err) NODISCARD;
