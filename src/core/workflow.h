/* Workflows: tables that say which phases a task passes and where each result leads.
 *
 * A workflow is data only: phases, statuses, checkpoints, limits, and three lists of rows (entries
 * by status, routes by result, commands of people). One interpreter reads them all; a workflow of a
 * user's file is the same struct. The first row that fits wins. Pure: no clock, no memory.
 *
 * Words in rows. To match: WF_ANY fits everything, WF_NONE fits only none. To set: WF_KEEP keeps
 * what came in, WF_NONE clears. A guard names rows of the guard table, separated by single spaces:
 * all must hold; "" always holds. */
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
    X(PHASE_GATE, "gate", "a reviewer scores the work on a clean checkout; the engine judges")     \
    X(PHASE_MERGE, "merge", "the work goes through the merge queue")                               \
    X(PHASE_APPROVE, "approve", "a person answers")                                                \
    X(PHASE_REPORT, "report", "a report is written")                                               \
    X(PHASE_CHILDREN, "children", "sub-tasks run by their graph")                                  \
    X(PHASE_OBSERVE, "observe", "one self-driving session; the engine watches its files")

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
    const char *tier;    /* of the model: "" the task's own, "heavy", "medium", "light" */
    bool is_fresh;       /* starts a new conversation */
    const char *results; /* every result it can have, separated by single spaces */
    const char *help;
    const char *answer; /* name of the structured answer it asks for (answer.h); "" signals only */
    const char *status; /* of the task while it runs; WF_KEEP: as it came */
} WorkflowPhase;

typedef struct WorkflowWord {
    const char *name, *help;
} WorkflowWord;

typedef struct WorkflowStatus {
    const char *name;
    bool is_final; /* nothing leads away from it */
    const char *help;
    const char *ends; /* state of the task when a run rests here; "" the status itself is one */
    int rank;         /* order for dependencies with a minimum status; 0 satisfies nothing */
} WorkflowStatus;

typedef struct WorkflowThreshold { /* of a gate */
    const char *checkpoint;
    double value;
} WorkflowThreshold;

typedef struct WorkflowHook { /* a command of the user at a change of status */
    const char *status, *command;
} WorkflowHook;

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
    const char *ends; /* state of the task when next is (stop); NULL or "": the status's own */
} WorkflowEntry;

typedef struct WorkflowRoute { /* where a result leads */
    const char *id;
    const char *phase, *checkpoint, *result, *status, *guard;   /* match */
    const char *next, *to_checkpoint, *to_status, *to_substate; /* set */
    Action actions[ACTIONS_MAX];
    const char *why;
    const char *ends; /* as above */
} WorkflowRoute;

typedef struct WorkflowCommand { /* what a person may do, and what follows */
    const char *id;
    const char *command, *status, *checkpoint, *result, *guard; /* match */
    bool is_allowed;
    const char *to_status, *to_substate; /* set; a refusal keeps */
    Action actions[ACTIONS_MAX];
    const char *why;
    const char *next; /* phase that the next run begins with; NULL or "": by the status */
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
    const WorkflowThreshold *thresholds;
    const WorkflowHook *hooks;
    uint16_t threshold_count, hook_count;
    uint16_t phase_count, status_count, checkpoint_count, command_count, limit_count;
    uint16_t entry_count, route_count, transition_count;
} Workflow;

/* Facts that are true or false. */
#define ROUTE_FLAGS(X)                                                                             \
    X(FLAG_TARGET_FILLED, "target-filled", "the target holds real content")                        \
    X(FLAG_ROLLED_BACK, "rolled-back", "a rollback was made before")                               \
    X(FLAG_REVIEW, "review-wanted", "a person must approve before the merge")                      \
    X(FLAG_ACCEPTED, "accepted", "the last check accepted the work")                               \
    X(FLAG_CONFIRMED, "confirmed", "the objective was confirmed (B-11)")                           \
    X(FLAG_REFINED, "refined", "refinements wait to be applied (B-105)")

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
    int64_t stage;   /* from 1; 0 counts as 1 */
    bool has_convergence;
    double convergence, previous; /* of the stage, and of the last accepted one */
} RouteInput;

typedef struct RouteStep {
    const char *row, *why;
    const char *next, *checkpoint, *status, *substate; /* never NULL; "" for none */
    const Action *actions;                             /* ended by ACTION_NONE or ACTIONS_MAX */
    bool is_allowed;                                   /* of a transition */
    const char *ends;                                  /* task state of a (stop); "" none */
} RouteStep;

/* false: no row fits (an unknown word; the tables themselves are complete). */
bool workflow_enter(const Workflow *workflow, const RouteInput *input, RouteStep *step) NODISCARD;
bool workflow_route(const Workflow *workflow, const RouteInput *input, RouteStep *step) NODISCARD;
bool workflow_transition(const Workflow *workflow, const RouteInput *input, const char *command,
                         RouteStep *step) NODISCARD;

/* Built-in workflows. The place in workflow_all is the number stored with a run; a user's own gets
 * WORKFLOW_FIRST_OWN and up (see workflow_file.h). */
enum { WORKFLOW_FIRST_OWN = 16, WORKFLOW_NUMBER_MAX = 250 };
extern const Workflow workflow_loop, workflow_lifecycle, workflow_staged;
extern const Workflow workflow_auto_a, workflow_auto_b; /* self-driving sessions, observed */
const Workflow *workflow_find(const char *name);        /* NULL when unknown */
const Workflow *const *workflow_all(size_t *count);
int workflow_number(const char *name); /* of a built-in one; -1 unknown */

/* The phase's own word for a result that the engine reports ("landed", "pass", "COMPLETE", …): the
 * word itself when the phase has it, else its first synonym that the phase has; NULL none. */
const char *phase_result(const WorkflowPhase *phase, const char *word);
int phase_result_index(const WorkflowPhase *phase, const char *word); /* in results; or -1 */
bool result_fits(const char *word, const char *result); /* "(step-7)" fits "(step-N)" */
/* May this result come at this checkpoint? Only if a row says where it leads. */
bool phase_result_at(const Workflow *workflow, const WorkflowPhase *phase, const char *checkpoint,
                     const char *result);
int workflow_status_index(const Workflow *workflow, const char *name); /* or -1 */
double workflow_threshold(const Workflow *workflow, const char *checkpoint, double fallback);

const WorkflowPhase *workflow_phase(const Workflow *workflow, const char *name); /* or NULL */
int workflow_phase_index(const Workflow *workflow, const char *name);            /* or -1 */
int workflow_checkpoint_index(const Workflow *workflow, const char *name);       /* or -1 */
bool workflow_has_status(const Workflow *workflow, const char *status);
bool workflow_has_command(const Workflow *workflow, const char *command);
const WorkflowLimit *workflow_limit(const Workflow *workflow, const char *counter); /* or NULL */
/* The number of a counter that the settings know too: what a user's file changes counts, else what
 * is given. */
int64_t workflow_limit_or(const Workflow *workflow, const char *counter, int64_t given);
bool phase_has_result(const WorkflowPhase *phase, const char *result);
/* Word number i of a list separated by single spaces; false at its end. */
bool word_at(const char *words, size_t i, char *out, size_t size);
const char *phase_kind_word(PhaseKind kind);
bool phase_kind_find(const char *word, PhaseKind *kind);

/* Guards: see workflow_guard.c. */
bool guard_is_known(const char *guard);
bool guard_holds(const Workflow *workflow, const char *guard, const RouteInput *input);
/* The counter that one guard word looks at; NULL none; "=" that of the checkpoint. */
const char *guard_limit(const char *guard);
bool guard_is_spent(const char *guard);              /* it holds when the counter is used up */
const char *guard_name(size_t i, const char **help); /* of the table; NULL at its end */

/* Looks for mistakes in a workflow: unknown words, two rows with one id, a result without a route,
 * a row or phase that can never be reached, a circle of routes without a limit, a row that does not
 * say why, a status nobody can leave. One line each is added to problems, with the row and what
 * mends it; returns how many. Used by the tests and for users' files. */
size_t workflow_check(const Workflow *workflow, Str *problems);
