/* Agents of the benchmark that never end, and the processes around them. */
#pragma once
#include "tests/bench/subject.h"

enum { WATCHED_MOST = 1024 };

typedef struct Watched {
    pid_t pids[WATCHED_MOST];
    int pidfds[WATCHED_MOST]; /* -1 when not open */
    size_t count;
} Watched;

/* Waits until the file holds this many process ids, as bench-agent writes them. */
bool watched_wait(Watched *watched, const char *file, size_t count, Err *err) NODISCARD;
/* Adds the parents of the children that are not among them: the keepers of agents. */
void watched_add_parents(Watched *parents, const Watched *children, pid_t not_this_one);
bool watched_open(Watched *watched, Err *err) NODISCARD; /* a pidfd for each */
/* Waits until every one is dead. */
bool watched_wait_dead(const Watched *watched, int64_t timeout_ms, Err *err) NODISCARD;
void watched_close(Watched *watched);
