/* Exit: what the end of an agent process means for its task (D-126 to D-132).
 *
 * One table, read from the top. The ruling on a crash: a non-zero exit code is the agent's own
 * failure (failed); death by a signal, or an engine that restarted without finding the process, is
 * an accident (pending, one retry more). Pure. */
#pragma once
#include "core/action.h"
#include "core/signal.h"
#include "core/types.h"

typedef enum ExitEnd { EXIT_ZERO, EXIT_NONZERO, EXIT_KILLED, EXIT_END_COUNT } ExitEnd;
/* Of a COMPLETE: not yet checked, checked and good, checked and bad. */
typedef enum ExitCheck { CHECK_OPEN, CHECK_GOOD, CHECK_BAD, EXIT_CHECK_COUNT } ExitCheck;

typedef struct ExitInput {
    ExitEnd end;
    bool is_by_user; /* a person asked for the stop */
    SignalType signal;
    ExitCheck check;
} ExitInput;

typedef struct ExitRow {
    const char *id;
    int end;     /* ExitEnd, or EXIT_ANY */
    int by_user; /* 0, 1 or EXIT_ANY */
    int signal;  /* SignalType, or EXIT_ANY */
    int check;   /* ExitCheck, or EXIT_ANY */
    TaskState state;
    Action actions[ACTIONS_MAX];
    const char *why;
} ExitRow;

enum { EXIT_ANY = -1 };

const ExitRow *exit_decide(const ExitInput *input); /* never NULL */
const ExitRow *exit_rows(size_t *count);            /* for tests and documents */
/* Names such as SIGKILL that end a process. Names, not numbers: numbers differ by machine. */
bool exit_signal_is_known(const char *name);
const char *const *exit_signal_names(size_t *count);
