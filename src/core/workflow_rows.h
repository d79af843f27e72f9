/* Rows that several workflows share, written once: what the accidents of a phase lead to.
 *
 * Only for the files of built-in workflows. The ids begin with the name of the phase. The status is
 * kept: an accident says nothing about the work. */
#pragma once
#include "core/workflow.h"

/* clang-format off */
#define AGENT_WORDS "none PENDING failed killed stopped limit timeout output-limit spawn-failed cannot-start"

#define ACTIONS_END   { ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT }
#define ACTIONS_CUT   { ACTION_STOP_AGENT, ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT }
#define ACTIONS_ASK   { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT }
#define ACTIONS_LATER { ACTION_KEEP_WORKSPACE, ACTION_COUNT_RETRY, ACTION_RETRY_LATER, ACTION_FREE_SLOT }

/* What ends a turn besides its answer. After an accident the phase P goes on at the checkpoint AT,
 * after a turn that wrote too much at LONG. */
#define TURN_ROWS(P, AT, LONG) TURN_ROWS_ENDING(P, AT, LONG, "failed")
/* ENDS: the state of the task after an error of the agent's own. A check that fails to run is not a
 * failure of the work (B-46). */
#define TURN_ROWS_ENDING(P, AT, LONG, ENDS) \
  { P "-none-turns",    P, WF_ANY, "none",         WF_ANY, "turns-spent",  WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "every turn of this step is used and it gave no answer (D-43)", "timeout" }, \
  { P "-none-time",     P, WF_ANY, "none",         WF_ANY, "time-spent",   WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "its time is used up and it gave no answer (D-44)", "timeout" }, \
  { P "-none",          P, WF_ANY, "none",         WF_ANY, "",             P,       WF_KEEP, WF_KEEP, WF_KEEP, { ACTION_COUNT_TURN, ACTION_START_TURN }, "it has not given its answer, so it goes on (D-41)" }, \
  { P "-failed",        P, WF_ANY, "failed",       WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "the agent ended with an error of its own (D-130, B-46)", ENDS }, \
  { P "-killed",        P, WF_ANY, "killed",       WF_ANY, "retries-left", P,       AT,      WF_KEEP, WF_KEEP, ACTIONS_LATER, "being killed is an accident: the step is made again from the kept workspace (D-125)" }, \
  { P "-killed-spent",  P, WF_ANY, "killed",       WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "it was killed too often; a person should look", "failed" }, \
  { P "-stopped",       P, WF_ANY, "stopped",      WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, { ACTION_STASH, ACTION_KEEP_WORKSPACE, ACTION_RELEASE_TASK, ACTION_FREE_SLOT }, "a person stopped it; it goes on by its status when it is taken again (A-205)", "pending" }, \
  { P "-limit",         P, WF_ANY, "limit",        WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_CUT, "every turn is used (D-43)", "timeout" }, \
  { P "-timeout",       P, WF_ANY, "timeout",      WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_CUT, "its time is used up (A-199, D-44)", "timeout" }, \
  { P "-output-turns",  P, WF_ANY, "output-limit", WF_ANY, "turns-spent",  WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "it wrote too much in its last turn (D-35)", "timeout" }, \
  { P "-output-limit",  P, WF_ANY, "output-limit", WF_ANY, "retries-left", P,       LONG,    WF_KEEP, WF_KEEP, { ACTION_COUNT_TURN, ACTION_COUNT_RETRY, ACTION_ALERT, ACTION_START_TURN }, "the turn wrote too much and was ended; the agent is told and goes on (D-35)" }, \
  { P "-output-spent",  P, WF_ANY, "output-limit", WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "it wrote too much again and again; a person should look", "failed" }, \
  { P "-spawn-failed",  P, WF_ANY, "spawn-failed", WF_ANY, "retries-left", P,       WF_KEEP, WF_KEEP, WF_KEEP, { ACTION_COUNT_RETRY, ACTION_RETRY_LATER, ACTION_FREE_SLOT }, "the agent could not be started; it is tried again after a while (D-141)" }, \
  { P "-spawn-spent",   P, WF_ANY, "spawn-failed", WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "the agent could not be started again and again (D-141)", "failed" }, \
  { P "-cannot-start",  P, WF_ANY, "cannot-start", WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "the agent cannot be started, and trying again would not help (D-141)", "failed" }

/* A question goes to the phase ask, at a checkpoint that says who asked. */
#define ASK_ROWS(P, AT) \
  { P "-pending-turns", P, WF_ANY, "PENDING",      WF_ANY, "turns-spent",  WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "no turn is left that could use an answer (D-43)", "timeout" }, \
  { P "-pending-time",  P, WF_ANY, "PENDING",      WF_ANY, "time-spent",   WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "no time is left that could use an answer (D-44)", "timeout" }, \
  { P "-pending",       P, WF_ANY, "PENDING",      WF_ANY, "",             "ask",   AT,      WF_KEEP, WF_KEEP, { ACTION_PAUSE_AGENT, ACTION_ASK_PERSON, ACTION_ALERT, ACTION_FREE_SLOT }, "the agent asks a person; others go on meanwhile (D-22)" }

#define INVALID_ROW(P) \
  { P "-invalid",       P, WF_ANY, "invalid",      WF_ANY, "",             WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_END, "it gave no answer that can be used, not even when it was asked again; a person should look", "failed" }

#define BLOCKED_ROW(P) \
  { P "-says-blocked",  P, WF_ANY, "(blocked)",    WF_ANY, "",             WF_STOP, WF_NONE, "blocked", WF_NONE, { ACTION_LOG_REASON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT }, "the agent cannot go on; a person clears the way (A-203, B-282)" }

/* The engine's own checks could not be run, which says nothing about the work. */
#define VERIFY_ERROR_ROWS \
  { "verify-error",       "verify", WF_ANY, "error", WF_ANY, "retries-left", "verify", WF_KEEP, WF_KEEP, WF_KEEP, { ACTION_COUNT_RETRY, ACTION_RETRY_LATER }, "the checks could not be run, which says nothing about the work" }, \
  { "verify-error-spent", "verify", WF_ANY, "error", WF_ANY, "",             WF_STOP,  WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_ASK, "the checks could not be run again and again; a person should look", "blocked" }

/* Facts go to the check at the checkpoint that asked for them. A person who asks for facts alone
 * names no checkpoint: the status says what there is to judge. */
#define VERIFY_ROWS(WORD, RESULT, WHY) \
  { "verify-" WORD "-planning",    "verify", WF_NONE, RESULT, "planning",    "", "check", "post-plan", WF_KEEP, WF_KEEP, { ACTION_START_TURN }, "a plan is there to be judged with it (A-111)" }, \
  { "verify-" WORD "-re-planning", "verify", WF_NONE, RESULT, "re-planning", "", "check", "post-plan", WF_KEEP, WF_KEEP, { ACTION_START_TURN }, "a new plan is there to be judged with it (A-111)" }, \
  { "verify-" WORD "-executing",   "verify", WF_NONE, RESULT, "executing",   "", "check", "post-exec", WF_KEEP, WF_KEEP, { ACTION_START_TURN }, "work is there to be judged with it (A-111)" }, \
  { "verify-" WORD "-blocked",     "verify", WF_NONE, RESULT, "blocked",     "", WF_STOP, WF_NONE,     WF_KEEP, WF_KEEP, { ACTION_FREE_SLOT }, "the facts are there; it stays blocked" }, \
  { "verify-" WORD "-other",       "verify", WF_NONE, RESULT, WF_ANY,        "", WF_STOP, WF_NONE,     WF_KEEP, WF_KEEP, { ACTION_FREE_SLOT }, "the facts are there; nothing is to be judged in this status", "pending" }, \
  { "verify-" WORD,                "verify", WF_ANY,  RESULT, WF_ANY,        "", "check", WF_KEEP,     WF_KEEP, WF_KEEP, { ACTION_START_TURN }, WHY }

/* Before another step is begun. */
#define STEPS_ROW(ID, AT, RESULT, STATUS, SUB) \
  { ID, "check", AT, RESULT, WF_ANY, "steps-spent", WF_STOP, WF_NONE, STATUS, SUB, ACTIONS_END, "every step of this stage is used (A-198, B-277)", "timeout" }

/* The retries of a checkpoint are spent: back to the good commit and a new plan, once; then stop. */
#define SPENT_ROWS(ID, AT, RESULT) \
  { ID "-back",  "check", AT, RESULT, WF_ANY, "not-rolled-back", WF_ROLLBACK, WF_NONE, "re-planning", "needs-plan", { ACTION_STASH }, "its retries are spent: back to the last good commit, and a new plan (B-26)" }, \
  { ID "-spent", "check", AT, RESULT, WF_ANY, "",                WF_STOP,     WF_NONE, WF_KEEP,       WF_KEEP,      ACTIONS_ASK, "its retries are spent again after a rollback; a person decides (B-38 to B-40)", "blocked" }

/* The check itself went wrong: no verdict, and no retry is used (B-46). */
#define CHECK_ERROR_ROWS \
  { "check-error",  "check", WF_ANY, "error",  WF_ANY, "", WF_STOP, WF_NONE, WF_KEEP, WF_KEEP, ACTIONS_ASK, "the check could not be made, which is no low score; a person should look (B-46)", "blocked" }

#define RESOLVE_WORDS "(done) (blocked) " AGENT_WORDS " invalid"

/* Merging in a status S: conflicts go to the phase resolve. What the tables differ in is not here. */
#define MERGE_ROWS(S, ENDS_WHY) \
  { "merge-conflict",      "merge", WF_ANY, "conflict",    WF_ANY, "",                   WF_STOP,   WF_NONE,         S, WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, ENDS_WHY, "blocked" }, \
  { "merge-collides",      "merge", WF_ANY, "collides",    WF_ANY, "conflict-left",      "resolve", "conflict",      S, WF_NONE, { ACTION_COUNT_RETRY, ACTION_SHOW_FAILURE, ACTION_START_TURN }, "the merge conflicts; the agent that knows the work resolves it (A-220, D-241)" }, \
  { "merge-collides-spent","merge", WF_ANY, "collides",    WF_ANY, "",                   WF_STOP,   WF_NONE,         S, WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the conflict was not resolved in its tries; a person decides (A-39, A-41)", "blocked" }, \
  { "merge-gate-spent",    "merge", WF_ANY, "gate-failed", WF_ANY, "merged-verify-spent", WF_STOP,  WF_NONE,         S, WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "merged it failed its checks again and again; a person decides", "blocked" }, \
  { "merge-moved",         "merge", WF_ANY, "moved",       WF_ANY, "moved-left",         "merge",   WF_KEEP,         S, WF_NONE, { ACTION_ENQUEUE_MERGE }, "the target moved meanwhile, so the merge is computed again" }, \
  { "merge-moved-spent",   "merge", WF_ANY, "moved",       WF_ANY, "",                   WF_STOP,   WF_NONE,         S, WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the target never holds still; a person should look (D-244)", "blocked" }, \
  { "merge-error",         "merge", WF_ANY, "error",       WF_ANY, "retries-left",       "merge",   WF_KEEP,         S, WF_NONE, { ACTION_COUNT_RETRY, ACTION_RETRY_LATER }, "the merge could not be tried, which says nothing about the work" }, \
  { "merge-error-spent",   "merge", WF_ANY, "error",       WF_ANY, "",                   WF_STOP,   WF_NONE,         S, WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the merge could not be tried again and again; a person should look", "blocked" }

/* Limits that every workflow has. */
#define COMMON_LIMITS \
  { "turns",         50,      false, "turns of a step (D-25)" }, \
  { "time-ms",       1800000, false, "time in slots (A-199, B-278)" }, \
  { "retries",       3,       true,  "accidents: killed agents, failed starts, gates and merges that could not be tried" }, \
  { "conflict",      3,       true,  "merges that conflicted (A-220)" }, \
  { "merged-verify", 3,       true,  "merges whose tree failed its checks" }, \
  { "moved",         100,     true,  "merges that found the target moved" }, \
  { "steps",         20,      false, "steps of a stage (A-198, B-277)" }

/* Cells of a matrix of commands and statuses. */
#define MAY(ID, COMMAND, STATUS, TO, SUB, NEXT, WHY) { ID, COMMAND, STATUS, WF_ANY, WF_ANY, "", true,  TO, SUB, { ACTION_NONE }, WHY, NEXT }
#define NOT(ID, COMMAND, STATUS, WHY)                { ID, COMMAND, STATUS, WF_ANY, WF_ANY, "", false, WF_KEEP, WF_KEEP, { ACTION_NONE }, WHY }
#define JUDGED(ID, STATUS, AT, RESULT, TO, SUB, WHY) { ID, "check", STATUS, AT, RESULT, "", true, TO, SUB, { ACTION_NONE }, WHY }

#define WORKFLOW_LISTS \
    .phases = phases, .phase_count = COUNT(phases), \
    .statuses = statuses, .status_count = COUNT(statuses), \
    .checkpoints = checkpoints, .checkpoint_count = COUNT(checkpoints), \
    .commands = commands, .command_count = COUNT(commands), \
    .limits = limits, .limit_count = COUNT(limits), \
    .entries = entries, .entry_count = COUNT(entries), \
    .routes = routes, .route_count = COUNT(routes), \
    .transitions = transitions, .transition_count = COUNT(transitions)
/* clang-format on */
