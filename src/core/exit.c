/* Exit table: see exit.h. */
#include "core/exit.h"
#include "base/str.h"
#include <assert.h>

#define ANY EXIT_ANY

/* clang-format off */
static const ExitRow rows[] = { /* the first row that fits wins */
  /* id                 end           user signal           check       state */
  { "complete",         EXIT_ZERO,    ANY, SIGNAL_COMPLETE, CHECK_GOOD, TASK_DONE,
    { ACTION_ENQUEUE_MERGE, ACTION_RETIRE_WORKSPACE, ACTION_FREE_SLOT },
    "it ended well, said COMPLETE and the checks passed (D-126)" },
  { "stopped",          ANY,          1,   ANY,             ANY,        TASK_PENDING,
    { ACTION_STASH, ACTION_RELEASE_TASK, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT },
    "a person stopped it; its changes are saved and the task can be taken again (D-131)" },
  { "killed",           EXIT_KILLED,  0,   ANY,             ANY,        TASK_PENDING,
    { ACTION_KEEP_WORKSPACE, ACTION_COUNT_RETRY, ACTION_RETRY_LATER, ACTION_RELEASE_TASK, ACTION_FREE_SLOT },
    "it was killed, which is an accident: the task is tried again from its kept workspace (D-132)" },
  { "failed",           EXIT_NONZERO, 0,   ANY,             ANY,        TASK_FAILED,
    { ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT },
    "it ended with an error of its own; the workspace is kept for a person (D-130)" },
  { "complete-failed",  EXIT_ZERO,    0,   SIGNAL_COMPLETE, CHECK_BAD,  TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_SHOW_FAILURE, ACTION_START_TURN },
    "it said COMPLETE but a required check failed, so it goes on (D-127)" },
  { "complete-open",    EXIT_ZERO,    0,   SIGNAL_COMPLETE, CHECK_OPEN, TASK_ACTIVE,
    { ACTION_RUN_GATE },
    "it said COMPLETE; a claim is checked, not believed (D-36)" },
  { "blocked",          EXIT_ZERO,    0,   SIGNAL_BLOCKED,  ANY,        TASK_BLOCKED,
    { ACTION_LOG_REASON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT },
    "it said that it cannot go on (D-129)" },
  { "pending",          EXIT_ZERO,    0,   SIGNAL_PENDING,  ANY,        TASK_ACTIVE,
    { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE },
    "it asked a person and goes on with the answer (D-22)" },
  { "no-signal",        EXIT_ZERO,    0,   SIGNAL_NONE,     ANY,        TASK_ACTIVE,
    { ACTION_COUNT_TURN, ACTION_START_TURN },
    "it ended well without saying that it is done, so the next turn follows (D-128)" },
};
/* clang-format on */

static const char *const signal_names[] = {
    "SIGABRT", "SIGALRM", "SIGBUS",  "SIGFPE",  "SIGHUP",    "SIGILL",  "SIGINT",    "SIGIO",
    "SIGKILL", "SIGPIPE", "SIGPROF", "SIGPWR",  "SIGQUIT",   "SIGSEGV", "SIGSTKFLT", "SIGSYS",
    "SIGTERM", "SIGTRAP", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGXCPU", "SIGXFSZ",
};

const ExitRow *exit_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

const char *const *exit_signal_names(size_t *count)
{
    *count = COUNT(signal_names);
    return signal_names;
}

bool exit_signal_is_known(const char *name)
{
    for (size_t i = 0; i < COUNT(signal_names); i++) {
        if (text_equal(signal_names[i], name))
            return true;
    }
    return false;
}

const ExitRow *exit_decide(const ExitInput *input)
{
    SignalType signal = signal_is_control(input->signal) ? input->signal : SIGNAL_NONE;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ExitRow *row = &rows[i];
        if ((row->end == ANY || row->end == (int)input->end) &&
            (row->by_user == ANY || row->by_user == (int)input->is_by_user) &&
            (row->signal == ANY || row->signal == (int)signal) &&
            (row->check == ANY || row->check == (int)input->check))
            return row;
    }
    assert(!"the exit table covers every input");
    return &rows[COUNT(rows) - 1];
}
