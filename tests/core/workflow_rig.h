/* Helpers for the tests of workflow tables: one line a case, every row must be hit. */
#pragma once
#include "core/workflow.h"

/* What follows from a result, as written in the requirements. NULL: not looked at. */
typedef struct RouteCase {
    const char *status, *step, *checkpoint, *result;
    const char *next, *to_checkpoint, *to_status, *to_substate;
    const char *ends;  /* of a stop */
    const char *spent; /* counter that is used up; NULL none */
    uint32_t flags;    /* 1 << RouteFlag */
    int64_t stage;
    double value, previous; /* convergence; both 0: none given */
} RouteCase;

RouteStep rig_route(const Workflow *flow, const RouteCase *c);
void rig_check(const Workflow *flow, const RouteCase *cases, size_t count);
/* Every result of every phase leads somewhere in every status, at every checkpoint of its kind. */
void rig_total(const Workflow *flow);

/* A matrix of statuses (columns) and commands: the status that follows, "=" the same, "-" refused.
 */
typedef struct MatrixRow {
    const char *command, *checkpoint, *result;
    bool is_accepted;
    const char *cells; /* by status, separated by single spaces */
} MatrixRow;

void rig_matrix(const Workflow *flow, const char *statuses, const MatrixRow *rows, size_t count);
/* Sub-state that a transition leaves. */
const char *rig_substate(const Workflow *flow, const char *status, const char *command,
                         const char *checkpoint, const char *result);
/* Enters with a sub-state, only to have hit the row. */
void rig_reach_entry(const Workflow *flow, const char *status, const char *substate);
/* A command without any flag. */
void rig_reach_command(const Workflow *flow, const char *status, const char *command);
/* Rows that no call of workflow_route, workflow_enter or workflow_transition has hit yet. */
void rig_forget(void);
void rig_every_row_was_hit(const Workflow *flow, bool with_transitions);
