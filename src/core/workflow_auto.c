/* The workflows `auto-a` and `auto-b`: one session drives itself by the file protocol of system A
 * or B; the engine watches, keeps the limits, checks the claim and lands the work (A-84 to A-98,
 * B-116 to B-124). The tables differ in their statuses and in the word for done. */
#include "core/workflow_rows.h"

/* clang-format off */
#define DRIVE_WORDS "finished blocked continue max-iterations stall-limit loop vanished " AGENT_WORDS

#define AUTO_PHASES(PROMPT) \
  { "drive",   PHASE_OBSERVE, PROMPT,   "heavy",  false, DRIVE_WORDS, "one session makes every step by itself; the engine watches its files", "", WF_KEEP }, \
  { "verify",  PHASE_VERIFY,  "",       "",       false, "(pass) (fail) (partial) error", "the engine checks the claim on a clean checkout", "", WF_KEEP }, \
  { "merge",   PHASE_MERGE,   "",       "",       false, "success conflict collides gate-failed moved error", "the work is merged, checked again and landed", "", WF_KEEP }, \
  { "approve", PHASE_APPROVE, "",       "",       false, "approved redo rejected", "a person judges the work before it lands", "", WF_KEEP }, \
  { "ask",     PHASE_APPROVE, "",       "",       false, "answered rejected", "a person answers the session's question", "", WF_KEEP }, \
  { "report",  PHASE_REPORT,  "report", "medium", false, "(generated) error", "the report is written", "", WF_KEEP }

static const WorkflowPhase phases_a[] = { AUTO_PHASES("auto-a") };
static const WorkflowPhase phases_b[] = { AUTO_PHASES("auto-b") };

static const WorkflowStatus statuses_a[] = {
  { "draft",       false, "its target is being written",               "blocked",   1 },
  { "planning",    false, "the session plans",                         "blocked",   2 },
  { "review",      false, "the plan has passed the session's check",   "blocked",   3 },
  { "executing",   false, "the session works, or its work is landing", "blocked",   4 },
  { "re-planning", false, "the session plans anew",                    "blocked",   0 },
  { "complete",    false, "verified and landed",                       "done",      5 },
  { "blocked",     false, "needs a person before it can go on",        "blocked",   0 },
  { "cancelled",   true,  "given up by a person",                      "cancelled", 0 },
};

static const WorkflowStatus statuses_b[] = {
  { "draft",       false, "its objectives are being defined",          "blocked",   1 },
  { "planning",    false, "the session plans a stage",                 "blocked",   2 },
  { "review",      false, "the plan has passed the session's check",   "blocked",   3 },
  { "executing",   false, "the session works, or its work is landing", "blocked",   4 },
  { "re-planning", false, "the session plans anew",                    "blocked",   0 },
  { "evolving",    false, "the session chooses its next stage",        "blocked",   4 },
  { "satisfied",   false, "verified and landed",                       "done",      5 },
  { "blocked",     false, "needs a person before it can go on",        "blocked",   0 },
  { "cancelled",   true,  "given up by a person",                      "cancelled", 0 },
};

static const WorkflowWord checkpoints[] = {
  { WF_NONE,         "none" },
  { "verify",        "the checks failed; the session sees how" },
  { "conflict",      "the merge conflicted; the session resolves it" },
  { "merged-verify", "the checks failed on the merged tree" },
  { "review",        "a person reviews, or asked for changes" },
  { "question",      "a person is asked by the session" },
  { "answer",        "a person has answered" },
  { "recovery",      "the session goes on after an accident" },
  { "continue",      "the turn ended and nothing followed (B-122)" },
  { "output-limit",  "the turn was ended because it wrote too much" },
};

static const WorkflowWord commands[] = {
  { "target", "say what is wanted, or refine it" },
  { "report", "write the report" },
  { "retry",  "go on after something blocked it" },
  { "cancel", "give it up" },
};

static const WorkflowLimit limits[] = {
  COMMON_LIMITS,
};

#define ENTER(ID, STATUS, GUARD, NEXT, ACTION, WHY) { ID, STATUS, WF_ANY, GUARD, NEXT, WF_NONE, WF_KEEP, WF_KEEP, { ACTION }, WHY }

static const WorkflowEntry entries_a[] = {
  ENTER("enter-draft-empty", "draft",     "target-empty", WF_STOP,  ACTION_ASK_PERSON, "its target holds nothing but placeholders: fill it in (A-53)"),
  ENTER("enter-complete",    "complete",  "",             "report", ACTION_NONE,       "it is landed; only its report is written (A-58)"),
  ENTER("enter-blocked",     "blocked",   "",             WF_STOP,  ACTION_ASK_PERSON, "something blocks it: a person retries it (A-59)"),
  ENTER("enter-cancelled",   "cancelled", "",             WF_STOP,  ACTION_NONE,       "it was given up (A-60)"),
  ENTER("enter-drive",       WF_ANY,      "",             "drive",  ACTION_START_TURN, "the session finds its own place by the status (A-43)"),
};

static const WorkflowEntry entries_b[] = {
  ENTER("enter-satisfied",   "satisfied", "",             "report", ACTION_NONE,       "it is landed; only its report is written (B-142)"),
  ENTER("enter-blocked",     "blocked",   "",             WF_STOP,  ACTION_ASK_PERSON, "something blocks it: a person retries it (B-143)"),
  ENTER("enter-cancelled",   "cancelled", "",             WF_STOP,  ACTION_NONE,       "it was given up (B-144)"),
  ENTER("enter-drive",       WF_ANY,      "",             "drive",  ACTION_START_TURN, "the session finds its own place by the status (B-7)"),
};

#define AUTO_ROUTES(DONE) \
  { "drive-finished",        "drive",   WF_ANY, "finished",       WF_ANY, "",             "verify", WF_NONE,    "executing", WF_NONE, { ACTION_RUN_GATE }, "the session says that it is done; a claim is checked, not believed" }, \
  { "drive-blocked",         "drive",   WF_ANY, "blocked",        WF_ANY, "",             WF_STOP,  WF_NONE,    "blocked",   WF_NONE, { ACTION_LOG_REASON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT }, "the session is blocked; a person clears the way (A-203, B-282)" }, \
  { "drive-continue-steps",  "drive",   WF_ANY, "continue",       WF_ANY, "steps-spent",  WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_END, "every step is used (A-198, B-277)", "timeout" }, \
  { "drive-continue-turns",  "drive",   WF_ANY, "continue",       WF_ANY, "turns-spent",  WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_END, "every turn is used and it is not done", "timeout" }, \
  { "drive-continue-time",   "drive",   WF_ANY, "continue",       WF_ANY, "time-spent",   WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_END, "its time is used up and it is not done (A-199, B-278)", "timeout" }, \
  { "drive-continue",        "drive",   WF_ANY, "continue",       WF_ANY, "",             "drive",  "continue", WF_KEEP,     WF_KEEP, { ACTION_COUNT_TURN, ACTION_START_TURN }, "the turn ended and nothing follows, so it is told to go on (B-122)" }, \
  { "drive-max-iterations",  "drive",   WF_ANY, "max-iterations", WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_CUT, "every step is used (A-198, B-277)", "timeout" }, \
  { "drive-stall-limit",     "drive",   WF_ANY, "stall-limit",    WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_CUT, "it stood still too often (A-132, A-133, B-178)", "failed" }, \
  { "drive-loop",            "drive",   WF_ANY, "loop",           WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_CUT, "it said the same again and again (B-175)", "failed" }, \
  { "drive-vanished",        "drive",   WF_ANY, "vanished",       WF_ANY, "retries-left", "drive",  "recovery", WF_KEEP,     WF_KEEP, ACTIONS_LATER, "the session vanished; it is started again and finds its place (A-129, B-172)" }, \
  { "drive-vanished-spent",  "drive",   WF_ANY, "vanished",       WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, ACTIONS_END, "the session vanished too often (A-184, B-223)", "failed" }, \
  ASK_ROWS("drive", "question"), TURN_ROWS("drive", "recovery", "output-limit"), \
  { "verify-pass-review",    "verify",  WF_ANY, "(pass)",         WF_ANY, "review-wanted", "approve", "review", WF_KEEP,     WF_NONE, { ACTION_ASK_PERSON, ACTION_FREE_SLOT }, "proven, but a person must approve before it lands (D-253)" }, \
  { "verify-pass",           "verify",  WF_ANY, "(pass)",         WF_ANY, "",             "merge",  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT }, "only proven work may merge" }, \
  { "verify-partial-review", "verify",  WF_ANY, "(partial)",      WF_ANY, "review-wanted", "approve", "review", WF_KEEP,     WF_NONE, { ACTION_WARN_EMPTY, ACTION_ASK_PERSON, ACTION_FREE_SLOT }, "nothing that is required failed; a person must approve before it lands (D-253)" }, \
  { "verify-partial",        "verify",  WF_ANY, "(partial)",      WF_ANY, "",             "merge",  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_WARN_EMPTY, ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT }, "nothing that is required failed (D-79)" }, \
  { "verify-fail-steps",     "verify",  WF_ANY, "(fail)",         WF_ANY, "steps-spent",  WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, ACTIONS_END, "the checks failed and no step is left to mend it", "timeout" }, \
  { "verify-fail-turns",     "verify",  WF_ANY, "(fail)",         WF_ANY, "turns-spent",  WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, ACTIONS_END, "the checks failed and no turn is left to mend it", "timeout" }, \
  { "verify-fail",           "verify",  WF_ANY, "(fail)",         WF_ANY, "",             "drive",  "verify",   "executing", WF_NONE, { ACTION_COUNT_TURN, ACTION_SHOW_FAILURE, ACTION_START_TURN }, "the session sees what failed and goes on" }, \
  VERIFY_ERROR_ROWS, \
  { "merge-success",         "merge",   WF_ANY, "success",        WF_ANY, "",             "report", WF_NONE,    DONE,        WF_NONE, { ACTION_RELEASE_DEPENDENTS }, "the target holds the proven work" }, \
  { "merge-conflict",        "merge",   WF_ANY, "conflict",       WF_ANY, "",             WF_STOP,  WF_NONE,    "executing", WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the conflict is still there after its tries (A-77)", "blocked" }, \
  { "merge-collides",        "merge",   WF_ANY, "collides",       WF_ANY, "conflict-left", "drive", "conflict", "executing", WF_NONE, { ACTION_COUNT_RETRY, ACTION_SHOW_FAILURE, ACTION_START_TURN }, "the session that wrote it resolves the conflict (A-220)" }, \
  { "merge-collides-spent",  "merge",   WF_ANY, "collides",       WF_ANY, "",             WF_STOP,  WF_NONE,    "executing", WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the conflict was not resolved in its tries; a person decides (A-41)", "blocked" }, \
  { "merge-gate-failed",     "merge",   WF_ANY, "gate-failed",    WF_ANY, "merged-verify-left", "drive", "merged-verify", "executing", WF_NONE, { ACTION_COUNT_RETRY, ACTION_SHOW_FAILURE, ACTION_START_TURN }, "alone it passes, merged it does not; the session sees the merged failure" }, \
  { "merge-gate-spent",      "merge",   WF_ANY, "gate-failed",    WF_ANY, "",             WF_STOP,  WF_NONE,    "executing", WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "merged it failed its checks again and again; a person decides", "blocked" }, \
  { "merge-moved",           "merge",   WF_ANY, "moved",          WF_ANY, "moved-left",   "merge",  WF_KEEP,    "executing", WF_NONE, { ACTION_ENQUEUE_MERGE }, "the target moved meanwhile, so the merge is computed again" }, \
  { "merge-moved-spent",     "merge",   WF_ANY, "moved",          WF_ANY, "",             WF_STOP,  WF_NONE,    "executing", WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the target never holds still; a person should look (D-244)", "blocked" }, \
  { "merge-error",           "merge",   WF_ANY, "error",          WF_ANY, "retries-left", "merge",  WF_KEEP,    "executing", WF_NONE, { ACTION_COUNT_RETRY, ACTION_RETRY_LATER }, "the merge could not be tried, which says nothing about the work" }, \
  { "merge-error-spent",     "merge",   WF_ANY, "error",          WF_ANY, "",             WF_STOP,  WF_NONE,    "executing", WF_NONE, { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE }, "the merge could not be tried again and again; a person should look", "blocked" }, \
  { "approve-work",          "approve", WF_ANY, "approved",       WF_ANY, "",             "merge",  WF_NONE,    "executing", WF_NONE, { ACTION_ENQUEUE_MERGE }, "a person approved the work (D-256)" }, \
  { "approve-redo",          "approve", WF_ANY, "redo",           WF_ANY, "",             "drive",  "review",   "executing", WF_NONE, { ACTION_SHOW_FAILURE, ACTION_START_TURN }, "a person asked for changes; the session sees them (D-256)" }, \
  { "approve-rejected",      "approve", WF_ANY, "rejected",       WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_KEEP_WORKSPACE }, "a person rejected the work; it is kept, not landed", "failed" }, \
  { "ask-answered",          "ask",     WF_ANY, "answered",       WF_ANY, "",             "drive",  "answer",   WF_KEEP,     WF_KEEP, { ACTION_START_TURN }, "the answer goes to the session and it goes on" }, \
  { "ask-rejected",          "ask",     WF_ANY, "rejected",       WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, { ACTION_KEEP_WORKSPACE }, "a person does not want this any more; what is there is kept", "failed" }, \
  { "report-done",           "report",  WF_ANY, "(generated)",    DONE,   "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_RETIRE_WORKSPACE, ACTION_RELEASE_DEPENDENTS }, "it is landed and reported" }, \
  { "report-blocked",        "report",  WF_ANY, "(generated)",    "blocked", "",          WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_FREE_SLOT }, "the report is written; it stays blocked" }, \
  { "report-cancelled",      "report",  WF_ANY, "(generated)",    "cancelled", "",        WF_STOP,  WF_NONE,    WF_KEEP,     WF_NONE, { ACTION_FREE_SLOT }, "the report is written; it stays given up" }, \
  { "report-snapshot",       "report",  WF_ANY, "(generated)",    WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, { ACTION_FREE_SLOT }, "a report of where it stands; it goes on when it is taken again", "pending" }, \
  { "report-error",          "report",  WF_ANY, "error",          WF_ANY, "retries-left", "report", WF_NONE,    WF_KEEP,     WF_KEEP, { ACTION_COUNT_RETRY, ACTION_RETRY_LATER }, "the report could not be written, which says nothing about the work" }, \
  { "report-error-spent",    "report",  WF_ANY, "error",          WF_ANY, "",             WF_STOP,  WF_NONE,    WF_KEEP,     WF_KEEP, { ACTION_ALERT, ACTION_FREE_SLOT }, "the report could not be written again and again; what was done stays done" }

static const WorkflowRoute routes_a[] = { AUTO_ROUTES("complete") };
static const WorkflowRoute routes_b[] = { AUTO_ROUTES("satisfied") };

#define AUTO_COMMANDS(DONE, AGAIN) \
  MAY("target-done",      "target", DONE,        AGAIN,       WF_NONE, "drive", "a refinement reopens what is done"), \
  MAY("target-blocked",   "target", "blocked",   "planning",  WF_NONE, "drive", "with another target it can be planned again"), \
  NOT("target-cancelled", "target", "cancelled", "it was given up"), \
  MAY("target-any",       "target", WF_ANY,      WF_KEEP,     WF_KEEP, "",      "the session sees the new target at its next step"), \
  MAY("report-any",       "report", WF_ANY,      WF_KEEP,     WF_KEEP, "report", "a report can be written at any time"), \
  { "retry-blocked", "retry", "blocked", WF_ANY, WF_ANY, "", true, "planning", WF_NONE, { ACTION_RESET_COUNTERS, ACTION_KEEP_WORKSPACE }, "a person says that the way is clear", "drive" }, \
  NOT("retry-other",      "retry",  WF_ANY,      "nothing blocks it"), \
  NOT("cancel-done",      "cancel", DONE,        "it is done and landed"), \
  NOT("cancel-cancelled", "cancel", "cancelled", "it was given up already"), \
  { "cancel-any", "cancel", WF_ANY, WF_ANY, WF_ANY, "", true, "cancelled", WF_NONE, { ACTION_STOP_AGENT, ACTION_STASH, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT }, "a person gives it up; its work is kept for a while" }

static const WorkflowCommand transitions_a[] = { AUTO_COMMANDS("complete", "planning") };
static const WorkflowCommand transitions_b[] = { AUTO_COMMANDS("satisfied", "evolving") };

#define AUTO_LISTS(X) \
    .first_status = "draft", \
    .phases = phases_##X, .phase_count = COUNT(phases_##X), \
    .statuses = statuses_##X, .status_count = COUNT(statuses_##X), \
    .checkpoints = checkpoints, .checkpoint_count = COUNT(checkpoints), \
    .commands = commands, .command_count = COUNT(commands), \
    .limits = limits, .limit_count = COUNT(limits), \
    .entries = entries_##X, .entry_count = COUNT(entries_##X), \
    .routes = routes_##X, .route_count = COUNT(routes_##X), \
    .transitions = transitions_##X, .transition_count = COUNT(transitions_##X)

const Workflow workflow_auto_a = {
    .name = "auto-a",
    .help = "one session drives itself by the files of system A; the engine watches, checks and lands",
    AUTO_LISTS(a),
};

const Workflow workflow_auto_b = {
    .name = "auto-b",
    .help = "one session drives itself by the files of system B; the engine watches, checks and lands",
    AUTO_LISTS(b),
};
/* clang-format on */
