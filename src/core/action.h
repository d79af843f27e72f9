/* Actions: the one listed set of words for what a decision asks to be done next.
 *
 * Completion, exit and workflow rows name their actions from here and nowhere else; the engine
 * carries them out, `otto decide` prints the words. A row holds at most ACTIONS_MAX of them, ended
 * by ACTION_NONE. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*    action                     word                 meaning */
#define ACTIONS(X)                                                                                 \
    X(ACTION_NONE, "none", "nothing")                                                              \
    X(ACTION_START_TURN, "start-turn", "send the next prompt to the agent when a slot is held")    \
    X(ACTION_COUNT_TURN, "count-turn", "count one more turn")                                      \
    X(ACTION_SHOW_FAILURE, "show-failure", "the next prompt carries what failed")                  \
    X(ACTION_RUN_GATE, "run-gate", "check the claim on a clean checkout of the commit")            \
    X(ACTION_WARN_EMPTY, "warn-empty-gate", "say that nothing was checked (D-79)")                 \
    X(ACTION_ENQUEUE_MERGE, "enqueue-merge", "put the work in the merge queue")                    \
    X(ACTION_ASK_PERSON, "ask-person", "put the question in the inbox")                            \
    X(ACTION_WAIT_FOR_USER, "wait-for-user", "a person chooses what comes next (D-45)")            \
    X(ACTION_ALERT, "alert", "tell a person")                                                      \
    X(ACTION_LOG_REASON, "log-reason", "store the reason that the agent gave")                     \
    X(ACTION_STOP_AGENT, "stop-agent", "end the agent and its process tree")                       \
    X(ACTION_PAUSE_AGENT, "pause-agent", "let the agent rest at the end of its turn")              \
    X(ACTION_FREE_SLOT, "free-slot", "give the slot back")                                         \
    X(ACTION_PICK_NEXT, "pick-next", "the autopilot takes the next ready task")                    \
    X(ACTION_KEEP_WORKSPACE, "keep-workspace", "keep the workspace as it is")                      \
    X(ACTION_RETIRE_WORKSPACE, "retire-workspace", "put the workspace away, with proof")           \
    X(ACTION_DISCARD_WORKSPACE, "discard-workspace", "put the workspace in the trash")             \
    X(ACTION_STASH, "stash", "save uncommitted changes in a snapshot")                             \
    X(ACTION_RELEASE_TASK, "release-task", "nobody holds the task any more")                       \
    X(ACTION_COUNT_RETRY, "count-retry", "count one more retry")                                   \
    X(ACTION_RETRY_LATER, "retry-later", "try again after the back-off")                           \
    X(ACTION_RESET_COUNTERS, "reset-counters", "turns, time and retries start at nought (D-137)")  \
    X(ACTION_RELEASE_DEPENDENTS, "release-dependents", "tasks that waited for this one may start") \
    X(ACTION_UNDO_LANDING, "undo-landing", "revert what the task landed (D-135)")                  \
    X(ACTION_RESET_RETRIES, "reset-retries", "the retries of every gate start at nought (B-45)")   \
    X(ACTION_ACCEPT_STAGE, "accept-stage", "its commit is the one a rollback goes back to (B-76)") \
    X(ACTION_NEXT_STAGE, "next-stage", "a new stage begins, with its own counts (B-253)")

/* A byte each: some hundred rows hold six. */
typedef enum __attribute__((packed)) Action {
#define X(action, word, help) action,
    ACTIONS(X)
#undef X
        ACTION_COUNT
} Action;

enum { ACTIONS_MAX = 6 };

const char *action_word(Action action);
const char *action_help(Action action);
bool action_find(const char *word, Action *action);
