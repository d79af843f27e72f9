/* The keeper's parts. One keeper per agent run: it holds the pipes and the process tree, writes
 * every byte to the journal, and stays when the engine goes. C library only.
 *
 * It is written for a cheap start (a few dozen system calls for a run that does nothing): poll
 * and not epoll for its five descriptors, all signals blocked at once and not ignored one by one,
 * no stdio, no heap until something has to be listed, openat because musl's open makes a second
 * call for O_CLOEXEC. */
#pragma once
#include "keeper/wire.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The command line. */
typedef struct Order {
    const char *folder, *name, *cwd, *stdin_path;
    uint64_t journal_limit; /* 0: none; counts the whole file, so that the disk is bounded */
    int grace_ms;           /* for a TERM to the keeper itself */
    int engine_fd;          /* -1: nobody listens yet */
    bool merge_err;         /* stderr into stdout: exact order, one stream */
    char **argv;            /* the agent */
} Order;

/* journal.c: the journal file. A failed write loses that piece, never the frames around it. */
typedef struct Tape {
    int fd;
    uint64_t size; /* complete frames end here */
    uint64_t limit;
    bool is_cut, has_failed;
} Tape;

bool tape_create(Tape *tape, const char *path); /* false: errno; EEXIST when it was there */
void tape_start(Tape *tape, const WireStart *start);
void tape_data(Tape *tape, int stream, const void *bytes, size_t length);
void tape_exit(Tape *tape, const WireExit *end);

/* agent.c: starting it. */
typedef struct Agent {
    pid_t pid;    /* 0: never started, or reaped */
    int out, err; /* our ends; err -1 when merged */
} Agent;

typedef struct StartError {
    WireStage stage;
    int error;
} StartError;

bool agent_start(Agent *agent, const Order *order, StartError *failed);

/* tree.c: everything below the keeper. */
void tree_ask(pid_t agent_group);  /* SIGTERM to the group and to each descendant */
void tree_kill(pid_t agent_group); /* SIGKILL to the group and to the keeper's own children */
uint64_t tree_own_start_ticks(void);
