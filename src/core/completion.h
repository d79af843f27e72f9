/* Completion: what a finished turn means for its task (D-36 to D-50).
 *
 * One table, read from the top; the first row that fits decides. The order states what wins:
 * a verified COMPLETE, then BLOCKED, then the limits (turns, clock), then PENDING (a question makes
 * no sense when no turn is left to use the answer), then going on. A limit counts as reached when
 * the used amount is at least the limit. Pure. */
#pragma once
#include "core/action.h"
#include "core/signal.h"
#include "core/types.h"

typedef enum GateResult { GATE_NONE, GATE_PASS, GATE_FAIL, GATE_RESULT_COUNT } GateResult;
typedef enum DriveMode { MODE_AUTOPILOT, MODE_SEMI_AUTO, DRIVE_MODE_COUNT } DriveMode;

#define COMPLETION_OUTCOMES(X)                                                                     \
    X(OUTCOME_DONE, "done")                                                                        \
    X(OUTCOME_CONTINUE, "continue")                                                                \
    X(OUTCOME_BLOCKED, "blocked")                                                                  \
    X(OUTCOME_PAUSE, "pause")                                                                      \
    X(OUTCOME_TIMEOUT, "timeout")

typedef enum CompletionOutcome {
#define X(outcome, word) outcome,
    COMPLETION_OUTCOMES(X)
#undef X
        OUTCOME_COUNT
} CompletionOutcome;

typedef struct CompletionInput {
    SignalType signal; /* last of the turn; any that is not a control signal counts as none */
    GateResult gate;   /* GATE_NONE: no command is configured (D-76) */
    DriveMode mode;
    int64_t iterations, max_iterations;
    int64_t elapsed_ms, timeout_ms;
} CompletionInput;

typedef enum CompletionLimit { LIMIT_ANY, LIMIT_TURNS, LIMIT_CLOCK } CompletionLimit;

typedef struct CompletionRow {
    const char *id;
    /* what must hold */
    int signal; /* SignalType, or COMPLETION_ANY */
    int gate;   /* GateResult, or COMPLETION_ANY */
    CompletionLimit limit;
    int mode; /* DriveMode, or COMPLETION_ANY */
    /* what follows */
    CompletionOutcome outcome;
    TaskState state;
    Action actions[ACTIONS_MAX];
    const char *why;
} CompletionRow;

enum { COMPLETION_ANY = -1 };

const CompletionRow *completion_decide(const CompletionInput *input); /* never NULL */
const char *completion_outcome_word(CompletionOutcome outcome);
const CompletionRow *completion_rows(size_t *count); /* for tests and documents */
