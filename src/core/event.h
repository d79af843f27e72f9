/* Events: everything that happens, each one row for ever. The machine's state follows from them
 * alone, so a log of events is a replayable bug report. */
#pragma once
#include "base/json.h"
#include "base/str.h"
#include "core/types.h"

/* kind, word, then the names of the fields a, b, text, ref, ref2 (NULL: not used), then meaning.
 * project, task, run, epoch and turn are written when they are not 0. Stored by number: once
 * released, new kinds are added at the end. */
/* clang-format off */
#define EVENTS(X) \
  /* wishes of people */ \
  X(EV_PROJECT_ADDED,    "project.added",    NULL, NULL, "path", NULL, NULL, "a repository became known") \
  X(EV_LIMITS_SET,       "limits.set",       NULL, NULL, "limits", NULL, NULL, "settings that decisions use were read (JSON)") \
  X(EV_TASK_ADDED,       "task.added",       "tags", "priority", "title", "limits", NULL, "a task was added") \
  X(EV_TASK_EDITED,      "task.edited",      "tags", "priority", "title", "limits", NULL, "a task was changed") \
  X(EV_DEPENDENCY_ADDED, "dependency.added", "on", "need", NULL, NULL, NULL, "a task waits for another") \
  X(EV_DEPENDENCY_REMOVED, "dependency.removed", "on", NULL, NULL, NULL, NULL, "a task waits for another no more") \
  X(EV_HOLD,             "hold",             "on", NULL, NULL, NULL, NULL, "tasks are being added; nothing is taken until all are there") \
  X(EV_TASK_WANTED,      "task.wanted",      NULL, NULL, NULL, NULL, NULL, "a person named this task for the autopilot") \
  X(EV_AUTOPILOT_STARTED,"autopilot.started","only_wanted", "slots", NULL, NULL, NULL, "the autopilot was asked to run") \
  X(EV_PAUSE,            "pause",            "wait_ms", NULL, NULL, NULL, NULL, "take nothing new; let turns end") \
  X(EV_RESUME,           "resume",           NULL, NULL, NULL, NULL, NULL, "go on") \
  X(EV_STOP,             "stop",             "kill", NULL, NULL, NULL, NULL, "stop the agent of a task; the task goes back to pending") \
  X(EV_STOP_ALL,         "stop.all",         "kill", NULL, NULL, NULL, NULL, "stop every agent of a project") \
  X(EV_RETRY,            "retry",            "fresh", NULL, "note", NULL, NULL, "try an ended task again") \
  X(EV_SKIP,             "skip",             NULL, NULL, "note", NULL, NULL, "leave a task out") \
  X(EV_REMOVE,           "remove",           NULL, NULL, NULL, NULL, NULL, "remove a task") \
  X(EV_RESTORE,          "restore",          NULL, NULL, NULL, NULL, NULL, "bring a removed task back") \
  X(EV_ANSWER,           "answer",           NULL, NULL, "answer", NULL, NULL, "a person answered a question") \
  X(EV_ROLLBACK,         "rollback",         NULL, NULL, NULL, NULL, NULL, "undo what a task landed") \
  /* reports of the world */ \
  X(EV_ENGINE_STARTED,   "engine.started",   "online", NULL, "version", NULL, NULL, "an engine took over the state folder") \
  X(EV_TICK,             "tick",             NULL, NULL, NULL, NULL, NULL, "a deadline has passed") \
  X(EV_WORKSPACE_READY,  "workspace.ready",  NULL, NULL, "path", "base", NULL, "the workspace is ready") \
  X(EV_WORKSPACE_FAILED, "workspace.failed", "retry", NULL, "error", NULL, NULL, "the workspace could not be made") \
  X(EV_TURN_STARTED,     "turn.started",     "pid", NULL, NULL, NULL, NULL, "the agent process runs") \
  X(EV_TURN_REFUSED,     "turn.refused",     "retry", NULL, "error", NULL, NULL, "the agent could not be started") \
  X(EV_SIGNAL,           "signal",           "type", "by_command", "payload", NULL, NULL, "the agent signalled") \
  X(EV_OUTPUT_LIMIT,     "output.limit",     "bytes", NULL, NULL, NULL, NULL, "the agent wrote more than it may") \
  X(EV_TURN_ENDED,       "turn.ended",       "exit_code", "killed_by", NULL, NULL, NULL, "the agent process and its tree are gone") \
  X(EV_SNAPSHOT_TAKEN,   "snapshot.taken",   "commits", "is_empty", "rules", "commit", NULL, "the turn's work is in the hub") \
  X(EV_SNAPSHOT_FAILED,  "snapshot.failed",  "retry", NULL, "error", NULL, NULL, "the turn's work could not be saved") \
  X(EV_GATE_ENDED,       "gate.ended",       "verdict", "review", "command", NULL, NULL, "the claim was checked") \
  X(EV_MERGE_CLEAN,      "merge.clean",      "same_tree", NULL, NULL, "old", "new", "the merge is computed, nothing moved yet") \
  X(EV_MERGE_CONFLICT,   "merge.conflict",   NULL, NULL, "files", "old", NULL, "both sides changed the same lines") \
  X(EV_MERGE_EMPTY,      "merge.empty",      NULL, NULL, NULL, NULL, NULL, "there is nothing to merge") \
  X(EV_MERGE_FAILED,     "merge.failed",     "retry", NULL, "error", NULL, NULL, "the merge could not be tried") \
  X(EV_MERGE_GATE_ENDED, "merge.gate",       "verdict", NULL, "command", NULL, "new", "the merged tree was checked") \
  X(EV_LANDED,           "landed",           "delivered", NULL, "note", "tip", "new", "the target branch holds the work") \
  X(EV_LAND_MOVED,       "land.moved",       NULL, NULL, NULL, NULL, "new", "the target moved meanwhile; merge again") \
  X(EV_LAND_FAILED,      "land.failed",      "retry", NULL, "error", NULL, "new", "the target could not be moved") \
  X(EV_RETIRED,          "retired",          "kept", NULL, "note", NULL, NULL, "the workspace was put away or kept") \
  X(EV_ROLLED_BACK,      "rolled.back",      NULL, NULL, "note", "tip", NULL, "what the task landed is undone") \
  X(EV_ROLLBACK_FAILED,  "rollback.failed",  NULL, NULL, "error", NULL, NULL, "it could not be undone") \
  X(EV_DISK,             "disk",             "free_mb", "level", NULL, NULL, NULL, "free disk space crossed a threshold (D-152)") \
  /* of the machine itself */ \
  X(EV_NOTE,             "note",             NULL, NULL, NULL, NULL, NULL, "a decision about this task that another event brought about") \
  X(EV_DISCARD,          "discard",          NULL, NULL, NULL, NULL, NULL, "a person put the workspace of an ended task in the trash") \
  X(EV_WORKFLOW_DEFINED, "workflow.defined", "number", NULL, "definition", "name", NULL, "a workflow of the user was read, or read anew") \
  X(EV_STEP_RESULT,      "step.result",      NULL, NULL, "result", NULL, NULL, "the step's answer was read and judged (JSON)") \
  X(EV_REPORTED,         "reported",         NULL, NULL, "note", NULL, NULL, "the report is written") \
  X(EV_RESET_DONE,       "reset.done",       NULL, NULL, "note", NULL, NULL, "the workspace was put aside; the work goes on from the good commit") \
  X(EV_RESET_FAILED,     "reset.failed",     "retry", NULL, "error", NULL, NULL, "the workspace could not be put aside") \
  X(EV_REVIEWED,         "reviewed",         "decision", "how", "feedback", "commit", NULL, "a person approved, asked for changes or rejected") \
  X(EV_TARGET_SET,       "target.set",       "filled", "confirmed", "note", NULL, NULL, "the objective was written, changed or confirmed") \
  X(EV_REFINED,          "refined",          "waiting", NULL, "text", NULL, NULL, "a refinement was queued, withdrawn or applied") \
  X(EV_COMMAND,          "command",          NULL, NULL, "command", NULL, NULL, "a person gave a command of the task's workflow") \
  X(EV_OBSERVED,         "observed",         "iteration", NULL, "signal", "status", NULL, "a self-driving session reported a step (JSON)")
/* clang-format on */

typedef enum EventKind {
#define X(kind, word, a, b, text, ref, ref2, help) kind,
    EVENTS(X)
#undef X
        EVENT_COUNT
} EventKind;

typedef enum Verdict { VERDICT_NONE, VERDICT_PASS, VERDICT_FAIL, VERDICT_ERROR } Verdict;

/* EV_REVIEWED */
typedef enum ReviewDecision { REVIEW_APPROVE, REVIEW_REDO, REVIEW_REJECT } ReviewDecision;
typedef enum RedoHow { REDO_KEEP, REDO_FRESH, REDO_CHECKPOINT } RedoHow; /* D-256 */

typedef struct Event {
    EventKind kind;
    int64_t at_ms;
    ProjectId project;
    TaskId task;
    RunId run;
    uint32_t epoch, turn;
    int64_t a, b;
    const char *text, *ref, *ref2; /* borrowed; NULL for none */
} Event;

const char *event_word(EventKind kind);
const char *event_help(EventKind kind);
bool event_find(const char *word, EventKind *kind);
/* The fields beyond the common columns as a JSON object, "{}" when there are none. */
void event_write(const Event *event, Str *out);
/* Fills a, b, text, ref, ref2 from such an object; texts are borrowed from data. */
void event_read(Event *event, const json_t *data);
