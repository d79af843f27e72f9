/* Completion table: see completion.h. */
#include "core/completion.h"
#include <assert.h>

#define ANY COMPLETION_ANY

/* clang-format off */
static const CompletionRow rows[] = { /* the first row that fits wins */
  /* id                             signal           gate       limit        mode            outcome           state */
  { "complete-verified",            SIGNAL_COMPLETE, GATE_PASS, LIMIT_ANY,   MODE_AUTOPILOT, OUTCOME_DONE,     TASK_DONE,
    { ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT, ACTION_PICK_NEXT },
    "the agent says it is done and every required check passed (D-37, D-51)" },
  { "complete-verified-semi-auto",  SIGNAL_COMPLETE, GATE_PASS, LIMIT_ANY,   MODE_SEMI_AUTO, OUTCOME_DONE,     TASK_DONE,
    { ACTION_ENQUEUE_MERGE, ACTION_STOP_AGENT, ACTION_FREE_SLOT, ACTION_WAIT_FOR_USER },
    "the agent says it is done and every required check passed; a person picks the next task (D-37, D-63)" },
  { "complete-unchecked",           SIGNAL_COMPLETE, GATE_NONE, LIMIT_ANY,   MODE_AUTOPILOT, OUTCOME_DONE,     TASK_DONE,
    { ACTION_WARN_EMPTY, ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT, ACTION_PICK_NEXT },
    "no check is configured, so COMPLETE alone finishes the task (D-76)" },
  { "complete-unchecked-semi-auto", SIGNAL_COMPLETE, GATE_NONE, LIMIT_ANY,   MODE_SEMI_AUTO, OUTCOME_DONE,     TASK_DONE,
    { ACTION_WARN_EMPTY, ACTION_ENQUEUE_MERGE, ACTION_STOP_AGENT, ACTION_FREE_SLOT, ACTION_WAIT_FOR_USER },
    "no check is configured, so COMPLETE alone finishes the task; a person picks the next one (D-76, D-63)" },
  { "blocked",                      SIGNAL_BLOCKED,  ANY,       LIMIT_ANY,   MODE_AUTOPILOT, OUTCOME_BLOCKED,  TASK_BLOCKED,
    { ACTION_LOG_REASON, ACTION_ALERT, ACTION_STOP_AGENT, ACTION_FREE_SLOT, ACTION_PICK_NEXT },
    "the agent cannot go on; its slot goes to the next ready task (D-39, D-46)" },
  { "blocked-semi-auto",            SIGNAL_BLOCKED,  ANY,       LIMIT_ANY,   MODE_SEMI_AUTO, OUTCOME_BLOCKED,  TASK_BLOCKED,
    { ACTION_LOG_REASON, ACTION_ALERT, ACTION_STOP_AGENT, ACTION_FREE_SLOT, ACTION_WAIT_FOR_USER },
    "the agent cannot go on; a person decides what follows (D-39, D-45)" },
  { "max-iterations",               ANY,             ANY,       LIMIT_TURNS, MODE_AUTOPILOT, OUTCOME_TIMEOUT,  TASK_TIMEOUT,
    { ACTION_STOP_AGENT, ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT, ACTION_PICK_NEXT },
    "every turn it may take is used and nothing is proven (D-43, D-50)" },
  { "max-iterations-semi-auto",     ANY,             ANY,       LIMIT_TURNS, MODE_SEMI_AUTO, OUTCOME_TIMEOUT,  TASK_TIMEOUT,
    { ACTION_STOP_AGENT, ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT, ACTION_WAIT_FOR_USER },
    "every turn it may take is used and nothing is proven; a person decides what follows (D-43, D-63)" },
  { "wall-clock",                   ANY,             ANY,       LIMIT_CLOCK, MODE_AUTOPILOT, OUTCOME_TIMEOUT,  TASK_TIMEOUT,
    { ACTION_STOP_AGENT, ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT, ACTION_PICK_NEXT },
    "its time is used up and nothing is proven (D-44, D-50)" },
  { "wall-clock-semi-auto",         ANY,             ANY,       LIMIT_CLOCK, MODE_SEMI_AUTO, OUTCOME_TIMEOUT,  TASK_TIMEOUT,
    { ACTION_STOP_AGENT, ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT, ACTION_WAIT_FOR_USER },
    "its time is used up and nothing is proven; a person decides what follows (D-44, D-63)" },
  { "pending",                      SIGNAL_PENDING,  ANY,       LIMIT_ANY,   ANY,            OUTCOME_PAUSE,    TASK_ACTIVE,
    { ACTION_PAUSE_AGENT, ACTION_ASK_PERSON, ACTION_ALERT },
    "the agent asked a person and rests until the answer comes; others go on (D-40, D-53)" },
  { "complete-failed",              SIGNAL_COMPLETE, GATE_FAIL, LIMIT_ANY,   ANY,            OUTCOME_CONTINUE, TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_SHOW_FAILURE, ACTION_START_TURN },
    "the agent says it is done but a required check failed; it sees the failure and goes on (D-38)" },
  { "no-signal-pass",               SIGNAL_NONE,     GATE_PASS, LIMIT_ANY,   ANY,            OUTCOME_CONTINUE, TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_START_TURN },
    "the checks pass but the agent has not said that it is done; it must say so (D-41)" },
  { "no-signal-fail",               SIGNAL_NONE,     GATE_FAIL, LIMIT_ANY,   ANY,            OUTCOME_CONTINUE, TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_SHOW_FAILURE, ACTION_START_TURN },
    "the agent has not said that it is done and a check failed; it goes on (D-42)" },
  { "no-signal",                    SIGNAL_NONE,     GATE_NONE, LIMIT_ANY,   ANY,            OUTCOME_CONTINUE, TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_START_TURN },
    "the agent has not said that it is done; it must say so (D-41)" },
};
/* clang-format on */

static const char *const outcomes[OUTCOME_COUNT] = {
#define X(outcome, word) [outcome] = word,
    COMPLETION_OUTCOMES(X)
#undef X
};

const char *completion_outcome_word(CompletionOutcome outcome)
{
    return outcomes[outcome];
}

const CompletionRow *completion_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

static bool limit_holds(CompletionLimit limit, const CompletionInput *in)
{
    switch (limit) {
    case LIMIT_ANY:
        return true;
    case LIMIT_TURNS:
        return in->iterations >= in->max_iterations;
    case LIMIT_CLOCK:
        return in->elapsed_ms >= in->timeout_ms;
    }
    return false;
}

static bool fits(const CompletionRow *row, const CompletionInput *in, SignalType signal)
{
    return (row->signal == ANY || row->signal == (int)signal) &&
           (row->gate == ANY || row->gate == (int)in->gate) &&
           (row->mode == ANY || row->mode == (int)in->mode) && limit_holds(row->limit, in);
}

const CompletionRow *completion_decide(const CompletionInput *input)
{
    SignalType signal = signal_is_control(input->signal) ? input->signal : SIGNAL_NONE;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (fits(&rows[i], input, signal))
            return &rows[i];
    }
    assert(!"the completion table covers every input");
    return &rows[COUNT(rows) - 1];
}
