/* Workflows: tables that say which phases a task passes and where each result leads.
 *
 * A workflow is data only: phases, statuses, checkpoints, limits, and three lists of rows (entries
 * by status, routes by result, commands of people). One interpreter reads them all; a workflow of a
 * user's file is the same struct. The first row that fits wins. Pure: no clock, no memory.
 *
 * Words in rows. To match: WF_ANY fits everything, WF_NONE fits only none. To set: WF_KEEP keeps
 * what came in, WF_NONE clears. A guard names a row of the guard table; "" always holds. */
#pragma once
#include "base/macros.h"
#include "base/str.h"
#include "core/action.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_ANY "*"
#define WF_NONE ""
#define WF_KEEP "="
#define WF_STOP "(stop)"         /* the run rests or is over; the status says which */
#define WF_ROLLBACK "(rollback)" /* back to the last good commit, then on by the status */

#define PHASE_KINDS(X)                                                                             \
    X(PHASE_AGENT, "agent", "a prompt to the agent, answered in turns")                            \
    X(PHASE_VERIFY, "verify", "the engine runs the checks")                                        \
    X(PHASE_GATE, "gate", "scores or conditions are judged")                                       \
    X(PHASE_MERGE, "merge", "the work goes through the merge queue")                               \
    X(PHASE_APPROVE, "approve", "a person answers")                                                \
    X(PHASE_REPORT, "report", "a report is written")                                               \
    X(PHASE_CHILDREN, "children", "sub-tasks run by their graph")

typedef enum PhaseKind {
#define X(kind, word, help) kind,
    PHASE_KINDS(X)
#undef X
        PHASE_KIND_COUNT
} PhaseKind;

typedef struct WorkflowPhase {
    const char *name;
    PhaseKind kind;
    const char *prompt;  /* name of the prompt file; "" none */
    const char *tier;    /* of the model: "" the task's own, "default", "strong", … */
    bool is_fresh;       /* starts a new conversation */
    const char *results; /* every result it can have, separated by single spaces */
    const char *help;
} WorkflowPhase;

typedef struct WorkflowWord {
    const char *name, *help;
} WorkflowWord;

typedef struct WorkflowStatus {
    const char *name;
    bool is_final; /* nothing leads away from it */
    const char *help;
} WorkflowStatus;

typedef struct WorkflowLimit {
    const char *name; /* of the counter it bounds */
    int64_t fallback;
    bool is_retry; /* RouteInput.retries counts it when it is not listed */
    const char *help;
} WorkflowLimit;

typedef struct WorkflowEntry { /* where a task of this status starts */
    const char *id;
    const char *status, *substate, *guard;                   /* match */
    const char *next, *checkpoint, *to_status, *to_substate; /* set */
    Action actions[ACTIONS_MAX];
    const char *why;
} WorkflowEntry;

typedef struct WorkflowRoute { /* where a result leads */
    const char *id;
    const char *phase, *checkpoint, *result, *status, *guard;   /* match */
    const char *next, *to_checkpoint, *to_status, *to_substate; /* set */
    Action actions[ACTIONS_MAX];
    const char *why;
} WorkflowRoute;

typedef struct WorkflowCommand { /* what a person may do, and what follows */
    const char *id;
    const char *command, *status, *checkpoint, *result, *guard; /* match */
    bool is_allowed;
    const char *to_status, *to_substate; /* set; a refusal keeps */
    Action actions[ACTIONS_MAX];
    const char *why;
} WorkflowCommand;

typedef struct Workflow {
    const char *name, *help;
    const char *first_status;    /* of a new task */
    const WorkflowPhase *phases; /* the index of a phase is stored with a run */
    const WorkflowStatus *statuses;
    const WorkflowWord *checkpoints; /* the index is stored; the first is WF_NONE */
    const WorkflowWord *commands;    /* the words, in the order shown */
    const WorkflowLimit *limits;
    const WorkflowEntry *entries;
    const WorkflowRoute *routes;
    const WorkflowCommand *transitions;
    uint16_t phase_count, status_count, checkpoint_count, command_count, limit_count;
    uint16_t entry_count, route_count, transition_count;
} Workflow;

/* Facts that are true or false. */
#define ROUTE_FLAGS(X)                                                                             \
    X(FLAG_TARGET_FILLED, "target-filled", "the target holds real content")                        \
    X(FLAG_ROLLED_BACK, "rolled-back", "a rollback was made before")                               \
    X(FLAG_REVIEW, "review-wanted", "a person must approve before the merge")                      \
    X(FLAG_ACCEPTED, "accepted", "the last check accepted the work")

typedef enum RouteFlag {
#define X(flag, word, help) flag,
    ROUTE_FLAGS(X)
#undef X
        ROUTE_FLAG_COUNT
} RouteFlag;

/* How much of a counter is used. limit below 0: the workflow's own. */
typedef struct RouteCounter {
    const char *name;
    int64_t used, limit;
} RouteCounter;

typedef struct RouteInput {
    const char *status, *substate;
    const char *step, *checkpoint, *result; /* after a step; NULL or "" for none */
    const RouteCounter *counters;
    size_t counter_count;
    int64_t retries; /* used of a retry counter that is not listed */
    uint32_t flags;  /* 1 << RouteFlag */
} RouteInput;

typedef struct RouteStep {
    const char *row, *why;
    const char *next, *checkpoint, *status, *substate; /* never NULL; "" for none */
    const Action *actions;                             /* ended by ACTION_NONE or ACTIONS_MAX */
    bool is_allowed;                                   /* of a transition */
} RouteStep;

/* false: no row fits (an unknown word; the tables themselves are complete). */
bool workflow_enter(const Workflow *workflow, const RouteInput *input, RouteStep *step) NODISCARD;
bool workflow_route(const Workflow *workflow, const RouteInput *input, RouteStep *step) NODISCARD;
bool workflow_transition(const Workflow *workflow, const RouteInput *input, const char *command,
                         RouteStep *step) NODISCARD;

/* Built-in workflows. */
extern const Workflow workflow_loop;
const Workflow *workflow_find(const char *name); /* NULL when unknown */
const Workflow *const *workflow_all(size_t *count);

const WorkflowPhase *workflow_phase(const Workflow *workflow, const char *name); /* or NULL */
int workflow_phase_index(const Workflow *workflow, const char *name);            /* or -1 */
int workflow_checkpoint_index(const Workflow *workflow, const char *name);       /* or -1 */
bool workflow_has_status(const Workflow *workflow, const char *status);
bool workflow_has_command(const Workflow *workflow, const char *command);
const WorkflowLimit *workflow_limit(const Workflow *workflow, const char *counter); /* or NULL */
bool phase_has_result(const WorkflowPhase *phase, const char *result);
/* Word number i of a list separated by single spaces; false at its end. */
bool word_at(const char *words, size_t i, char *out, size_t size);
const char *phase_kind_word(PhaseKind kind);
bool phase_kind_find(const char *word, PhaseKind *kind);

/* Guards: see workflow_guard.c. */
bool guard_is_known(const char *guard);
bool guard_holds(const Workflow *workflow, const char *guard, const RouteInput *input);
const char *guard_limit(const char *guard); /* the counter it looks at; NULL none; "=" checkpoint */

/* Looks for mistakes in a workflow: unknown words, two rows with one id, a result without a route,
 * a row that can never be reached, a row that does not say why, a status nobody can leave. One line
 * each is added to problems; returns how many. Used by the tests and for users' files. */
size_t workflow_check(const Workflow *workflow, Str *problems);
