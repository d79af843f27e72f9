/* Looking for mistakes in a workflow: see workflow.h. */
#include "core/workflow.h"
#include <stdarg.h>
#include <string.h>

typedef struct Check {
    const Workflow *flow;
    Str *out;
    size_t count;
} Check;

static void PRINTF(2, 3) problem(Check *check, const char *format, ...);
static void problem(Check *check, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args); /* a cut line still says what is wrong */
    va_end(args);
    str_addf(check->out, "%s: %s\n", check->flow->name, line);
    check->count++;
}

static bool is_special(const char *word)
{
    return !strcmp(word, WF_ANY) || !strcmp(word, WF_NONE) || !strcmp(word, WF_KEEP);
}

static bool status_is_known(const Check *check, const char *status)
{
    return is_special(status) || workflow_has_status(check->flow, status);
}

static bool checkpoint_is_known(const Check *check, const char *checkpoint)
{
    return is_special(checkpoint) || workflow_checkpoint_index(check->flow, checkpoint) >= 0;
}

static bool next_is_known(const Check *check, const char *next)
{
    return !strcmp(next, WF_STOP) || !strcmp(next, WF_ROLLBACK) ||
           workflow_phase(check->flow, next) != NULL;
}

static void check_guard(Check *check, const char *id, const char *guard)
{
    const char *limit = guard_limit(guard);
    if (!guard_is_known(guard))
        problem(check, "row '%s': unknown guard '%s'", id, guard);
    else if (limit && strcmp(limit, "=") != 0 && !workflow_limit(check->flow, limit))
        problem(check, "row '%s': guard '%s' needs the limit '%s'", id, guard, limit);
}

static void check_common(Check *check, const char *id, const char *why, const char *guard)
{
    if (!id || !*id)
        problem(check, "a row has no id");
    if (!why || !*why)
        problem(check, "row '%s' does not say why", id);
    check_guard(check, id, guard);
}

static void check_words(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        check_common(check, row->id, row->why, row->guard);
        if (!status_is_known(check, row->status) || !status_is_known(check, row->to_status) ||
            !checkpoint_is_known(check, row->checkpoint) || !next_is_known(check, row->next))
            problem(check, "row '%s' names something unknown", row->id);
    }
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        const WorkflowPhase *phase = workflow_phase(flow, row->phase);
        check_common(check, row->id, row->why, row->guard);
        if ((!phase && strcmp(row->phase, WF_ANY) != 0) ||
            (phase && strcmp(row->result, WF_ANY) != 0 && !phase_has_result(phase, row->result)) ||
            !status_is_known(check, row->status) || !status_is_known(check, row->to_status) ||
            !checkpoint_is_known(check, row->checkpoint) ||
            !checkpoint_is_known(check, row->to_checkpoint) || !next_is_known(check, row->next))
            problem(check, "row '%s' names something unknown", row->id);
    }
    for (unsigned i = 0; i < flow->transition_count; i++) {
        const WorkflowCommand *row = &flow->transitions[i];
        check_common(check, row->id, row->why, row->guard);
        if (!workflow_has_command(flow, row->command) || !status_is_known(check, row->status) ||
            !status_is_known(check, row->to_status))
            problem(check, "row '%s' names something unknown", row->id);
        if (!row->is_allowed && strcmp(row->to_status, WF_KEEP) != 0)
            problem(check, "row '%s' refuses but changes the status", row->id);
    }
}

static const char *row_id(const Workflow *flow, unsigned i)
{
    if (i < flow->entry_count)
        return flow->entries[i].id;
    i -= flow->entry_count;
    if (i < flow->route_count)
        return flow->routes[i].id;
    return flow->transitions[i - flow->route_count].id;
}

static void check_ids(Check *check)
{
    unsigned count = (unsigned)check->flow->entry_count + check->flow->route_count +
                     check->flow->transition_count;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = i + 1; k < count; k++) {
            if (strcmp(row_id(check->flow, i), row_id(check->flow, k)) == 0)
                problem(check, "two rows have the id '%s'", row_id(check->flow, i));
        }
    }
}

/* Does a fit whatever b fits? */
static bool covers(const char *a, const char *b)
{
    return !strcmp(a, WF_ANY) || !strcmp(a, b);
}

static bool guard_covers(const char *a, const char *b)
{
    return *a == '\0' || !strcmp(a, b);
}

static void check_reach(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned k = 0; k < flow->route_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowRoute *a = &flow->routes[i], *b = &flow->routes[k];
            if (covers(a->phase, b->phase) && covers(a->checkpoint, b->checkpoint) &&
                covers(a->result, b->result) && covers(a->status, b->status) &&
                guard_covers(a->guard, b->guard))
                problem(check, "row '%s' is never reached: '%s' comes first", b->id, a->id);
        }
    }
    for (unsigned k = 0; k < flow->transition_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowCommand *a = &flow->transitions[i], *b = &flow->transitions[k];
            if (covers(a->command, b->command) && covers(a->status, b->status) &&
                covers(a->checkpoint, b->checkpoint) && covers(a->result, b->result) &&
                guard_covers(a->guard, b->guard))
                problem(check, "row '%s' is never reached: '%s' comes first", b->id, a->id);
        }
    }
    for (unsigned k = 0; k < flow->entry_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowEntry *a = &flow->entries[i], *b = &flow->entries[k];
            if (covers(a->status, b->status) && covers(a->substate, b->substate) &&
                guard_covers(a->guard, b->guard))
                problem(check, "row '%s' is never reached: '%s' comes first", b->id, a->id);
        }
    }
}

/* A result is covered when a row without conditions takes it; two rows with opposite guards would
 * do too, but the plain last row is what a reader can trust. */
static bool result_is_covered(const Workflow *flow, const char *phase, const char *result)
{
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        if (covers(row->phase, phase) && covers(row->result, result) && *row->guard == '\0' &&
            !strcmp(row->checkpoint, WF_ANY) && !strcmp(row->status, WF_ANY))
            return true;
    }
    return false;
}

static void check_cover(Check *check)
{
    const Workflow *flow = check->flow;
    char result[64];
    for (unsigned p = 0; p < flow->phase_count; p++) {
        for (size_t i = 0; word_at(flow->phases[p].results, i, result, sizeof result); i++) {
            if (!result_is_covered(flow, flow->phases[p].name, result))
                problem(check, "phase '%s': the result '%s' leads nowhere", flow->phases[p].name,
                        result);
        }
    }
    for (unsigned s = 0; s < flow->status_count; s++) {
        RouteInput input = {.status = flow->statuses[s].name};
        RouteStep step;
        if (!workflow_enter(flow, &input, &step))
            problem(check, "status '%s' has no entry", input.status);
        for (unsigned c = 0; c < flow->command_count; c++) {
            if (!workflow_transition(flow, &input, flow->commands[c].name, &step))
                problem(check, "command '%s' on status '%s' has no answer", flow->commands[c].name,
                        input.status);
        }
    }
}

/* A final status lets nobody leave; any other lets somebody leave. */
static void check_traps(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned s = 0; s < flow->status_count; s++) {
        RouteInput input = {.status = flow->statuses[s].name, .flags = UINT32_MAX};
        RouteStep step;
        bool can_leave = workflow_enter(flow, &input, &step) && strcmp(step.next, WF_STOP) != 0;
        for (unsigned c = 0; c < flow->command_count; c++) {
            if (workflow_transition(flow, &input, flow->commands[c].name, &step) &&
                step.is_allowed && strcmp(step.status, input.status) != 0)
                can_leave = true;
        }
        if (can_leave == flow->statuses[s].is_final)
            problem(check,
                    can_leave ? "the final status '%s' can be left"
                              : "nothing leads away from the status '%s'",
                    input.status);
    }
}

/* Every phase must have a way to an end. */
static void check_ends(Check *check)
{
    const Workflow *flow = check->flow;
    uint64_t ends = 0; /* bit: phase number p reaches an end */
    for (unsigned round = 0; round <= flow->phase_count; round++) {
        for (unsigned i = 0; i < flow->route_count; i++) {
            const WorkflowRoute *row = &flow->routes[i];
            int next = workflow_phase_index(flow, row->next);
            bool has_end = next < 0 || (ends >> next & 1);
            for (unsigned p = 0; has_end && p < flow->phase_count; p++) {
                if (covers(row->phase, flow->phases[p].name))
                    ends |= UINT64_C(1) << p;
            }
        }
    }
    for (unsigned p = 0; p < flow->phase_count; p++) {
        if (!(ends >> p & 1))
            problem(check, "phase '%s' never ends", flow->phases[p].name);
    }
}

size_t workflow_check(const Workflow *workflow, Str *problems)
{
    Check check = {workflow, problems, 0};
    if (workflow->phase_count == 0 || workflow->phase_count > 64)
        problem(&check, "a workflow has 1 to 64 phases");
    else if (!workflow_has_status(workflow, workflow->first_status))
        problem(&check, "the first status '%s' is unknown", workflow->first_status);
    if (check.count)
        return check.count;
    check_words(&check);
    check_ids(&check);
    check_reach(&check);
    check_cover(&check);
    check_traps(&check);
    check_ends(&check);
    return check.count;
}
