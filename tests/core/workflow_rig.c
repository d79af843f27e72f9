#include "tests/test.h"

#include "tests/core/workflow_rig.h"
#include <string.h>

enum { HITS = 2048 };
static const char *hits[HITS];
static unsigned hit_count;

static void note_hit(const char *row)
{
    for (unsigned i = 0; i < hit_count; i++) {
        if (hits[i] == row)
            return;
    }
    assert_true(hit_count < HITS);
    hits[hit_count++] = row;
}

void rig_forget(void)
{
    hit_count = 0;
}

RouteStep rig_route(const Workflow *flow, const RouteCase *c)
{
    const WorkflowLimit *limit = c->spent ? workflow_limit(flow, c->spent) : NULL;
    RouteCounter spent = {c->spent ? c->spent : "", limit ? limit->fallback : 0, -1};
    RouteInput in = {.status = c->status,
                     .step = c->step,
                     .checkpoint = c->checkpoint,
                     .result = c->result,
                     .counters = &spent,
                     .counter_count = c->spent ? 1 : 0,
                     .flags = c->flags,
                     .stage = c->stage,
                     .has_convergence = c->value > 0 || c->previous > 0,
                     .convergence = c->value,
                     .previous = c->previous};
    RouteStep step;
    if (c->spent)
        assert_non_null(limit);
    if (!(c->step ? workflow_route(flow, &in, &step) : workflow_enter(flow, &in, &step)))
        fail_msg("%s: no row for %s %s %s %s", flow->name, c->status, c->step ? c->step : "(enter)",
                 c->checkpoint ? c->checkpoint : "", c->result ? c->result : "");
    note_hit(step.row);
    return step;
}

static void expect(const Workflow *flow, const RouteCase *c, const char *what, const char *have,
                   const char *want, const char *row)
{
    if (want && strcmp(have, want) != 0)
        fail_msg("%s: %s %s at '%s' says %s: %s is '%s', not '%s' (row %s)", flow->name, c->status,
                 c->step ? c->step : "(enter)", c->checkpoint ? c->checkpoint : "",
                 c->result ? c->result : "", what, have, want, row);
}

void rig_check(const Workflow *flow, const RouteCase *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const RouteCase *c = &cases[i];
        RouteStep step = rig_route(flow, c);
        expect(flow, c, "next", step.next, c->next, step.row);
        expect(flow, c, "checkpoint", step.checkpoint, c->to_checkpoint, step.row);
        expect(flow, c, "status", step.status,
               c->to_status && !strcmp(c->to_status, "=") ? c->status : c->to_status, step.row);
        expect(flow, c, "sub-state", step.substate, c->to_substate, step.row);
        expect(flow, c, "ends", step.ends, c->ends, step.row);
    }
}

/* Verdicts belong to checkpoints; everything else can come at any. */
static void try_result(const Workflow *flow, const WorkflowPhase *phase, const char *status,
                       const char *result)
{
    for (unsigned c = 0; c < flow->checkpoint_count; c++) {
        const char *checkpoint = flow->checkpoints[c].name;
        if (phase->kind == PHASE_GATE && !phase_result_at(flow, phase, checkpoint, result))
            continue;
        RouteCase one = {.status = status,
                         .step = phase->name,
                         .checkpoint = checkpoint,
                         .result = result,
                         .stage = 1};
        (void)rig_route(flow, &one); /* fails by itself */
    }
}

void rig_total(const Workflow *flow)
{
    char result[64];
    for (unsigned s = 0; s < flow->status_count; s++) {
        for (unsigned p = 0; p < flow->phase_count; p++) {
            for (size_t i = 0; word_at(flow->phases[p].results, i, result, sizeof result); i++)
                try_result(flow, &flow->phases[p], flow->statuses[s].name, result);
        }
    }
}

static RouteStep transition(const Workflow *flow, const char *status, const MatrixRow *row)
{
    RouteInput in = {.status = status,
                     .checkpoint = row->checkpoint,
                     .result = row->result,
                     .flags = (row->is_accepted ? 1U << FLAG_ACCEPTED : 0) | 1U << FLAG_CONFIRMED};
    RouteStep step;
    assert_true(workflow_transition(flow, &in, row->command, &step));
    note_hit(step.row);
    return step;
}

void rig_matrix(const Workflow *flow, const char *statuses, const MatrixRow *rows, size_t count)
{
    char status[32], want[32];
    for (size_t r = 0; r < count; r++) {
        size_t s = 0;
        for (; word_at(statuses, s, status, sizeof status); s++) {
            assert_true(word_at(rows[r].cells, s, want, sizeof want));
            RouteStep step = transition(flow, status, &rows[r]);
            bool is_allowed = strcmp(want, "-") != 0;
            const char *to = !is_allowed || !strcmp(want, "=") ? status : want;
            if (step.is_allowed != is_allowed || strcmp(step.status, to) != 0)
                fail_msg("%s: %s%s%s%s%s on %s: %s %s, wanted %s (row %s)", flow->name,
                         rows[r].command, rows[r].checkpoint ? " " : "",
                         rows[r].checkpoint ? rows[r].checkpoint : "", rows[r].result ? " " : "",
                         rows[r].result ? rows[r].result : "", status,
                         step.is_allowed ? "allowed" : "refused", step.status, want, step.row);
        }
        assert_false(word_at(rows[r].cells, s, want, sizeof want));
        assert_int_equal(s, flow->status_count);
    }
}

const char *rig_substate(const Workflow *flow, const char *status, const char *command,
                         const char *checkpoint, const char *result)
{
    MatrixRow row = {command, checkpoint, result, true, NULL};
    return transition(flow, status, &row).substate;
}

void rig_reach_entry(const Workflow *flow, const char *status, const char *substate)
{
    RouteInput in = {.status = status, .substate = substate};
    RouteStep step;
    assert_true(workflow_enter(flow, &in, &step));
    note_hit(step.row);
}

void rig_reach_command(const Workflow *flow, const char *status, const char *command)
{
    RouteInput in = {.status = status};
    RouteStep step;
    assert_true(workflow_transition(flow, &in, command, &step));
    note_hit(step.row);
}

static void want_hit(const Workflow *flow, const char *id)
{
    for (unsigned i = 0; i < hit_count; i++) {
        if (hits[i] == id)
            return;
    }
    fail_msg("%s: no test reached the row '%s'", flow->name, id);
}

void rig_every_row_was_hit(const Workflow *flow, bool with_transitions)
{
    for (unsigned i = 0; i < flow->entry_count; i++)
        want_hit(flow, flow->entries[i].id);
    for (unsigned i = 0; i < flow->route_count; i++)
        want_hit(flow, flow->routes[i].id);
    for (unsigned i = 0; with_transitions && i < flow->transition_count; i++)
        want_hit(flow, flow->transitions[i].id);
}
