/* The gate: verification commands, one after the other, each under a keeper of its own
 * (D-64..D-89).
 *
 * The checkout is made by the caller and is clean; commands are shell text that the user wrote.
 * A time-out kills the whole tree (D-88). The first required failure ends the gate. */
#pragma once
#include "base/err.h"
#include "core/event.h"
#include "core/settings.h"
#include "proc/loop.h"

typedef struct Gate Gate;

typedef enum GateState {
    GATE_ROW_WAITING,
    GATE_ROW_RUNNING,
    GATE_ROW_PASSED,
    GATE_ROW_FAILED,
    GATE_ROW_TIMEOUT,
} GateState;

typedef struct GateRow {
    const VerifyCommand *command; /* borrowed from the spec */
    GateState state;
    int exit_code; /* -1: killed, timed out or not run */
    int64_t started_ms, took_ms;
    const char *tail; /* last output, at most GATE_TAIL_BYTES; valid until the next row starts */
} GateRow;

enum { GATE_TAIL_BYTES = 16 * 1024, GATE_JOURNAL_BYTES = 32 * 1024 * 1024 };

typedef struct GateCalls {
    void (*on_row)(void *user, size_t index, const GateRow *row); /* at each end of a command */
    /* verdict NONE: there was no command (D-76). failed: index of the command that decided, or -1.
     * error: why it could not be run at all (VERDICT_ERROR). The gate may be freed in this call. */
    void (*on_done)(void *user, Verdict verdict, int failed, const char *error);
} GateCalls;

typedef struct GateSpec {
    const char *keeper;            /* program */
    const char *folder;            /* where journals go; exists */
    const char *name;              /* prefix of the journals' names, unique in the folder */
    const char *cwd;               /* the clean checkout */
    const char *const *envp;       /* complete */
    const VerifyCommand *commands; /* borrowed until gate_free */
    size_t count;
    int64_t grace_ms;
} GateSpec;

/* Starts from the loop: no callback is made inside this call. */
Gate *gate_start(Loop *loop, const GateSpec *spec, const GateCalls *calls, void *user);
const GateRow *gate_rows(const Gate *gate, size_t *count); /* for display */
void gate_free(Gate *gate);                                /* kills what still runs */
