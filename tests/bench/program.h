/* Running programs and what they cost, with everything they leave behind.
 *
 * The benchmark is a sub-reaper: a process whose parent has gone becomes its child, is counted and
 * reaped. Processes are ended by their id, and only those that descend from us. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "tests/bench/measure.h"
#include <sys/types.h>

void programs_init(void);  /* sub-reaper, signals */
bool is_interrupted(void); /* Ctrl-C came: end soon */

typedef struct Program {
    const char *const *argv;
    const char *const *envp; /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    const char *input;       /* stdin; NULL: nothing */
    size_t input_length;
    int64_t timeout_ms; /* 0: two minutes */
    bool is_beside;     /* other children live on: only this one is waited for */
    int ok_exit;        /* another exit code that is fine; 0: none */
} Program;

/* Runs it to its end and reaps everything that came from it. out (may be NULL) gets stdout.
 * False: it could not be started, took too long, or ended with another code than 0. */
bool program_run(const Program *program, Cost *cost, Str *out, Err *err) NODISCARD;

/* Programs that go on beside. */
typedef struct Daemon {
    pid_t pid; /* 0: none */
    int pidfd;
} Daemon;
bool daemon_start(const Program *program, Daemon *daemon, Err *err) NODISCARD;
bool daemon_lives(const Daemon *daemon);
void daemon_stop(Daemon *daemon); /* TERM, then KILL; not started: nothing happens */
void daemon_kill(Daemon *daemon); /* KILL at once, and reap */
/* Ends and reaps every process that descends from us; returns how many there were. */
int children_end(void);

int pidfd_of(pid_t pid); /* -1 when it is gone */
bool wait_readable(int fd, int64_t timeout_ms);
bool program_is_installed(const char *name);
/* An environment (NULL: ours, without what belongs to an otto around us) with these entries in
 * front; owned by the arena. */
const char *const *env_with(Arena *arena, const char *const *env, const char *const *entries);
