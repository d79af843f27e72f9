/* Looking for mistakes in a workflow: see workflow.h. Circles and phases that nothing leads to are
 * found in workflow_reach.c. */
#include "core/answer.h"
#include "core/types.h"
#include "core/workflow_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void check_problem(Check *check, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args); /* a cut line still says what is wrong */
    va_end(args);
    str_addf(check->out, "%s: %s\n", check->flow->name, line);
    check->count++;
}

bool wf_covers(const char *a, const char *b)
{
    return !strcmp(a, WF_ANY) || !strcmp(a, b);
}

bool wf_guard_has(const char *guard, const char *word)
{
    char own[64];
    for (size_t i = 0; word_at(guard, i, own, sizeof own); i++) {
        if (!strcmp(own, word))
            return true;
    }
    return false;
}

/* a holds whenever b does. */
static bool guard_covers(const char *a, const char *b)
{
    char word[64];
    for (size_t i = 0; word_at(a, i, word, sizeof word); i++) {
        if (!wf_guard_has(b, word))
            return false;
    }
    return true;
}

static bool is_special(const char *word)
{
    return !strcmp(word, WF_ANY) || !strcmp(word, WF_NONE) || !strcmp(word, WF_KEEP);
}

static const char *named(const char *text)
{
    return text ? text : WF_NONE;
}

/* Words of rows */

static void check_status(Check *check, const char *id, const char *status)
{
    if (!is_special(status) && !workflow_has_status(check->flow, status))
        check_problem(check, "row '%s': there is no status '%s'; add it to 'statuses'", id, status);
}

static void check_checkpoint(Check *check, const char *id, const char *checkpoint)
{
    if (!is_special(checkpoint) && workflow_checkpoint_index(check->flow, checkpoint) < 0)
        check_problem(check, "row '%s': there is no checkpoint '%s'; add it to 'checkpoints'", id,
                      checkpoint);
}

static void check_next(Check *check, const char *id, const char *next)
{
    if (strcmp(next, WF_STOP) != 0 && strcmp(next, WF_ROLLBACK) != 0 &&
        !workflow_phase(check->flow, next))
        check_problem(check, "row '%s': there is no phase '%s'; next is a phase, %s or %s", id,
                      next, WF_STOP, WF_ROLLBACK);
}

static void check_task_state(Check *check, const char *id, const char *ends)
{
    TaskState state;
    if (*named(ends) && !task_state_find(ends, &state))
        check_problem(check, "row '%s': '%s' is no state of a task that it could end in", id, ends);
}

static void check_guard(Check *check, const char *id, const char *guard)
{
    char word[64];
    if (!guard_is_known(guard)) {
        check_problem(check, "row '%s': unknown guard '%s'", id, guard);
        return;
    }
    for (size_t i = 0; word_at(guard, i, word, sizeof word); i++) {
        const char *limit = guard_limit(word);
        if (limit && strcmp(limit, "=") != 0 && !workflow_limit(check->flow, limit))
            check_problem(check,
                          "row '%s': the guard '%s' needs the limit '%s'; add it to 'limits'", id,
                          word, limit);
    }
}

static void check_common(Check *check, const char *id, const char *why, const char *guard)
{
    if (!id || !*id)
        check_problem(check, "a row has no id");
    if (!why || !*why)
        check_problem(check, "row '%s' does not say why", named(id));
    check_guard(check, named(id), guard);
}

static void check_result(Check *check, const WorkflowRoute *row)
{
    const WorkflowPhase *phase = workflow_phase(check->flow, row->phase);
    if (!phase && strcmp(row->phase, WF_ANY) != 0)
        check_problem(check, "row '%s': there is no phase '%s'", row->id, row->phase);
    if (phase && strcmp(row->result, WF_ANY) != 0 && !phase_has_result(phase, row->result))
        check_problem(check, "row '%s': the phase '%s' has no result '%s'; it has: %s", row->id,
                      row->phase, row->result, phase->results);
}

static void check_rows(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        check_common(check, row->id, row->why, row->guard);
        check_status(check, row->id, row->status);
        check_status(check, row->id, row->to_status);
        check_checkpoint(check, row->id, row->checkpoint);
        check_next(check, row->id, row->next);
        check_task_state(check, row->id, row->ends);
    }
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        check_common(check, row->id, row->why, row->guard);
        check_result(check, row);
        check_status(check, row->id, row->status);
        check_status(check, row->id, row->to_status);
        check_checkpoint(check, row->id, row->checkpoint);
        check_checkpoint(check, row->id, row->to_checkpoint);
        check_next(check, row->id, row->next);
        check_task_state(check, row->id, row->ends);
    }
    for (unsigned i = 0; i < flow->transition_count; i++) {
        const WorkflowCommand *row = &flow->transitions[i];
        check_common(check, row->id, row->why, row->guard);
        if (!workflow_has_command(flow, row->command))
            check_problem(check, "row '%s': there is no command '%s'", row->id, row->command);
        check_status(check, row->id, row->status);
        check_status(check, row->id, row->to_status);
        check_checkpoint(check, row->id, row->checkpoint);
        if (*named(row->next))
            check_next(check, row->id, row->next);
        if (!row->is_allowed && strcmp(row->to_status, WF_KEEP) != 0)
            check_problem(check, "row '%s' refuses but changes the status; let it keep it ('=')",
                          row->id);
    }
}

/* Words of the other lists */

static void check_phases(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned i = 0; i < flow->phase_count; i++) {
        const WorkflowPhase *phase = &flow->phases[i];
        AnswerKind kind;
        if (workflow_phase_index(flow, phase->name) != (int)i)
            check_problem(check, "two phases are called '%s'", phase->name);
        if (*named(phase->answer) && !answer_kind_find(phase->answer, &kind))
            check_problem(check, "phase '%s': there is no answer of the shape '%s'", phase->name,
                          phase->answer);
        if (*named(phase->status) && !is_special(phase->status) &&
            !workflow_has_status(flow, phase->status))
            check_problem(check, "phase '%s': there is no status '%s'", phase->name, phase->status);
        if (phase->kind == PHASE_CHILDREN)
            check_problem(check, "phase '%s': sub-tasks cannot be run by a workflow yet",
                          phase->name);
        if (phase->kind == PHASE_AGENT && !*phase->prompt)
            check_problem(check, "phase '%s': an agent needs a 'prompt'", phase->name);
    }
}

/* Does any guard look at this counter? */
static bool is_counter(const char *name)
{
    const char *guard, *help;
    for (size_t i = 0; (guard = guard_name(i, &help)); i++) {
        const char *limit = guard_limit(guard);
        if (limit && strcmp(limit, name) == 0)
            return true;
    }
    return false;
}

/* A limit that nothing counts against would be believed and have no effect. */
static void check_limits(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned i = 0; i < flow->limit_count; i++) {
        const char *name = flow->limits[i].name;
        bool is_engines = strcmp(name, "equal-stages") == 0; /* counted by the stage ledger */
        if (!is_counter(name) && !is_engines && workflow_checkpoint_index(flow, name) < 0)
            check_problem(check,
                          "the limit '%s' limits nothing: it is neither a counter of a guard "
                          "('turns', 'steps', 'retries', ...) nor a checkpoint",
                          name);
    }
}

static void check_lists(Check *check)
{
    const Workflow *flow = check->flow;
    TaskState state;
    for (unsigned i = 0; i < flow->status_count; i++) {
        const WorkflowStatus *status = &flow->statuses[i];
        const char *ends = *named(status->ends) ? status->ends : status->name;
        if (!task_state_find(ends, &state))
            check_problem(check, "status '%s': 'ends' must name a state of tasks, not '%s'",
                          status->name, ends);
    }
    for (unsigned i = 0; i < flow->threshold_count; i++) {
        if (workflow_checkpoint_index(flow, flow->thresholds[i].checkpoint) < 0)
            check_problem(check, "the threshold '%s' belongs to no checkpoint",
                          flow->thresholds[i].checkpoint);
    }
    for (unsigned i = 0; i < flow->hook_count; i++) {
        if (!workflow_has_status(flow, flow->hooks[i].status))
            check_problem(check, "the hook '%s' belongs to no status", flow->hooks[i].status);
    }
    if (flow->checkpoint_count == 0 || *flow->checkpoints[0].name)
        check_problem(check, "the first checkpoint must be none ('')");
}

/* Rows among each other */

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
                check_problem(check, "two rows have the id '%s'; give one another id",
                              row_id(check->flow, i));
        }
    }
}

static void never(Check *check, const char *id, const char *first)
{
    check_problem(check, "row '%s' is never reached: '%s' comes first; put it before that", id,
                  first);
}

static void check_route_order(Check *check)
{
    const Workflow *flow = check->flow;
    for (unsigned k = 0; k < flow->route_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowRoute *a = &flow->routes[i], *b = &flow->routes[k];
            if (!wf_covers(a->phase, b->phase) || !wf_covers(a->checkpoint, b->checkpoint) ||
                !wf_covers(a->result, b->result) || !wf_covers(a->status, b->status) ||
                !guard_covers(a->guard, b->guard))
                continue;
            never(check, b->id, a->id);
            break;
        }
    }
}

static void check_order(Check *check)
{
    const Workflow *flow = check->flow;
    check_route_order(check);
    for (unsigned k = 0; k < flow->transition_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowCommand *a = &flow->transitions[i], *b = &flow->transitions[k];
            if (!wf_covers(a->command, b->command) || !wf_covers(a->status, b->status) ||
                !wf_covers(a->checkpoint, b->checkpoint) || !wf_covers(a->result, b->result) ||
                !guard_covers(a->guard, b->guard))
                continue;
            never(check, b->id, a->id);
            break;
        }
    }
    for (unsigned k = 0; k < flow->entry_count; k++) {
        for (unsigned i = 0; i < k; i++) {
            const WorkflowEntry *a = &flow->entries[i], *b = &flow->entries[k];
            if (!wf_covers(a->status, b->status) || !wf_covers(a->substate, b->substate) ||
                !guard_covers(a->guard, b->guard))
                continue;
            never(check, b->id, a->id);
            break;
        }
    }
}

/* Results */

static bool is_plain(const WorkflowRoute *row)
{
    return *row->guard == '\0' && !strcmp(row->status, WF_ANY);
}

/* Is there a row without conditions for this result at this checkpoint (WF_ANY: at all of them)?
 * Two rows with opposite guards would do too, but the plain last row is what a reader can trust. */
static bool has_plain_row(const Workflow *flow, const char *phase, const char *checkpoint,
                          const char *result)
{
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        if (wf_covers(row->phase, phase) && wf_covers(row->result, result) &&
            wf_covers(row->checkpoint, checkpoint) && is_plain(row))
            return true;
    }
    return false;
}

/* A verdict may belong to some checkpoints only: then each of those needs its plain row. Anything
 * else can come at every checkpoint. */
static void check_cover_of(Check *check, const WorkflowPhase *phase, const char *result)
{
    const Workflow *flow = check->flow;
    unsigned rows = 0, bare = 0;
    const char *where = NULL;
    if (has_plain_row(flow, phase->name, WF_ANY, result))
        return;
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        if (!wf_covers(row->phase, phase->name) || !wf_covers(row->result, result))
            continue;
        rows++;
        if (!has_plain_row(flow, phase->name, row->checkpoint, result)) {
            bare++;
            where = row->id;
        }
    }
    if (rows == 0)
        check_problem(check, "phase '%s': the result '%s' leads nowhere; add a route for it",
                      phase->name, result);
    else if (bare > 0 || phase->kind != PHASE_GATE)
        check_problem(
            check,
            "phase '%s': the result '%s' leads somewhere only under conditions ('%s'); add "
            "a last row without guard, status and checkpoint",
            phase->name, result, where ? where : "checkpoint");
}

static void check_cover(Check *check)
{
    const Workflow *flow = check->flow;
    char result[64];
    for (unsigned p = 0; p < flow->phase_count; p++) {
        for (size_t i = 0; word_at(flow->phases[p].results, i, result, sizeof result); i++)
            check_cover_of(check, &flow->phases[p], result);
    }
    for (unsigned s = 0; s < flow->status_count; s++) {
        RouteInput input = {.status = flow->statuses[s].name};
        RouteStep step;
        if (!workflow_enter(flow, &input, &step))
            check_problem(check, "status '%s' has no entry; add one", input.status);
        for (unsigned c = 0; c < flow->command_count; c++) {
            if (!workflow_transition(flow, &input, flow->commands[c].name, &step))
                check_problem(check, "command '%s' on status '%s' has no answer; add a row",
                              flow->commands[c].name, input.status);
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
        bool needs_exit = flow->command_count > 0; /* else only the autopilot's commands count */
        if (can_leave && flow->statuses[s].is_final)
            check_problem(check, "the final status '%s' can be left", input.status);
        else if (!can_leave && !flow->statuses[s].is_final && needs_exit)
            check_problem(check,
                          "nothing leads away from the status '%s'; add a command or call it "
                          "final",
                          input.status);
    }
}

/* Work that nobody merges would end as done and be put away. */
static void check_landing(Check *check)
{
    const char *worker = NULL;
    for (unsigned i = 0; i < check->flow->phase_count; i++) {
        const WorkflowPhase *phase = &check->flow->phases[i];
        if (phase->kind == PHASE_MERGE)
            return;
        if (phase->kind == PHASE_AGENT || phase->kind == PHASE_OBSERVE)
            worker = phase->name;
    }
    if (worker)
        check_problem(check,
                      "what '%s' makes never lands; add a phase of kind merge at the end, such as "
                      "'land: {kind: merge}'",
                      worker);
}

size_t workflow_check(const Workflow *workflow, Str *problems)
{
    Check check = {workflow, problems, 0};
    if (workflow->phase_count == 0 || workflow->phase_count > 64)
        check_problem(&check, "a workflow has 1 to 64 phases");
    else if (!workflow_has_status(workflow, workflow->first_status))
        check_problem(&check, "the first status '%s' is unknown", workflow->first_status);
    if (check.count)
        return check.count;
    check_phases(&check);
    check_lists(&check);
    check_limits(&check);
    check_rows(&check);
    if (check.count) /* what follows would only repeat it */
        return check.count;
    check_ids(&check);
    check_order(&check);
    check_cover(&check);
    check_traps(&check);
    check_phase_reach(&check);
    check_phase_ends(&check);
    check_circles(&check);
    check_landing(&check);
    return check.count;
}
