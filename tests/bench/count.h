/* Counting instead of timing: instructions, system calls, wake-ups, memory. These hold on a busy
 * machine. */
#pragma once
#include "tests/bench/program.h"

typedef struct Counts {
    double instructions; /* of the process itself, not of its children */
    double calls, syncs; /* system calls; fsync and fdatasync */
} Counts;

/* Runs the program under callgrind. ERR_NOT_FOUND: valgrind is not installed. */
bool count_instructions(const Program *program, const char *folder, Counts *counts,
                        Err *err) NODISCARD;
/* Runs the program under strace. ERR_NOT_FOUND: strace is not installed. */
bool count_calls(const Program *program, const char *folder, Counts *counts, Err *err) NODISCARD;

typedef struct ProcFacts {
    double rss_kb, peak_kb, private_kb; /* private_kb: pages that nobody shares */
    double wakeups;                     /* voluntary context switches */
    double ticks;                       /* of CPU, user and system */
} ProcFacts;
bool proc_facts(pid_t pid, ProcFacts *facts, Err *err) NODISCARD;
