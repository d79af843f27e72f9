/* The engine's side of a keeper: starts an agent under one, or finds the one that is there.
 *
 * Touches the run's folder (NAME.journal, NAME.sock), the keeper program, the loop. The agent's
 * bytes are read from the journal; the socket carries notices only. A keeper and its agent go on
 * when the engine ends, so the engine may be restarted at any time: keep_attach with the offset it
 * had reached, and no byte is seen twice or missed.
 *
 * Order of callbacks, all from the loop and never inside a call: on_started (once, at most),
 * on_output ..., on_exit (once). Any call below may be made from a callback. */
#pragma once
#include "base/err.h"
#include "proc/ident.h"
#include "proc/journal.h"
#include "proc/loop.h"

typedef struct Keep Keep;

typedef struct KeepSpec {
    const char *keeper;      /* the program otto-keeper */
    const char *folder;      /* the run's folder; absolute, exists */
    const char *name;        /* of this turn in the folder ("e1t2"): at most 64 letters, no slash */
    const char *const *argv; /* the agent */
    const char *const *envp; /* the agent's; NULL: ours. Carries the mark for sweep.h */
    const char *cwd;         /* the agent's, absolute; NULL: the run's folder */
    const char *stdin_path;  /* absolute; NULL: /dev/null, never an open pipe */
    int64_t journal_limit_bytes; /* of the file; 0: none. After it output is read and dropped */
    int grace_ms;                /* when the keeper itself gets SIGTERM; 0: 10 s */
    bool merge_err;              /* stderr into stdout: exact order, one stream */
} KeepSpec;

typedef struct KeepCalls { /* each may be NULL */
    void (*on_started)(void *user, pid_t agent_pid, ProcIdent keeper);
    /* stream 1 out, 2 err. Store the offset with what the bytes led to: the place to attach at. */
    void (*on_output)(void *user, int stream, const char *bytes, size_t length,
                      int64_t journal_offset_after);
    /* exit is borrowed for the call. Nothing of the run is alive unless lost or left_behind; the
     * keeper itself is at its last line, and is reaped by the loop. After lost: sweep_marked. */
    void (*on_exit)(void *user, const KeepExit *exit);
} KeepCalls;

/* Starts the keeper and returns at once. NULL: the keeper program could not be started; nothing
 * runs. That the agent cannot be started, or that this name was started before (nothing happens
 * to that run), is reported by on_exit. */
Keep *keep_start(Loop *loop, const KeepSpec *spec, const KeepCalls *calls, void *user,
                 Err *err) NODISCARD;
/* Goes on at journal_offset (0 or one from on_output) with a run that an earlier process started:
 * it lives, it has ended, or its keeper was lost. ERR_NOT_FOUND: there is no journal, so it was
 * never started, and starting it is harmless. A probe that fails is tried again, and is never
 * taken for a lost keeper (T16). */
Keep *keep_attach(Loop *loop, const char *folder, const char *name, int64_t journal_offset,
                  const KeepCalls *calls, void *user, Err *err) NODISCARD;

/* SIGTERM to the whole tree, SIGKILL after grace_ms; on_exit follows. May be repeated; a shorter
 * grace counts. */
void keep_stop(Keep *keep, int grace_ms);
void keep_kill(Keep *keep); /* SIGKILL at once */
/* Before on_exit: detaches, the keeper and the agent go on. NULL is fine. */
void keep_free(Keep *keep);
