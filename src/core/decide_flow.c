/* Decisions by workflow tables: route, transition. */
#include "core/decide_table.h"
#include "core/types.h"
#include "core/workflow.h"
#include <string.h>

static json_t *workflow_names(void)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    json_t *names = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(names, json_string(all[i]->name));
    return names;
}

static json_t *phase_names(const Workflow *flow)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < flow->phase_count; i++)
        json_array_append_new(names, json_string(flow->phases[i].name));
    return names;
}

static json_t *status_names(const Workflow *flow)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < flow->status_count; i++)
        json_array_append_new(names, json_string(flow->statuses[i].name));
    return names;
}

static json_t *word_names(const WorkflowWord *words, unsigned count)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(names, *words[i].name ? json_string(words[i].name) : json_null());
    return names;
}

static bool unknown(DecideInput *in, const char *field, json_t *allowed, const char *of)
{
    const json_t *value = json_object_get(in->root, field);
    CLEANUP(str_done) Str known = STR_INIT;
    for (size_t i = 0; i < json_array_size(allowed); i++) {
        const char *word = json_string_value(json_array_get(allowed, i));
        str_addf(&known, "%s%s", i ? ", " : "", word ? word : "null");
    }
    return decide_fail(in, field, value, allowed, "unknown %s '%.100s'%s%s%s; known: %s", field,
                       json_string_value(value), of ? " of '" : "", of ? of : "", of ? "'" : "",
                       str_text(&known));
}

/* The parts that both decisions share. */
static const Workflow *read_flow(DecideInput *in, RouteInput *route)
{
    const Workflow *flow = workflow_find(decide_text(in, in->root, "workflow"));
    if (!flow) {
        (void)unknown(in, "workflow", workflow_names(), NULL); /* NULL says it failed */
        return NULL;
    }
    route->status = decide_text(in, in->root, "status");
    route->checkpoint = decide_text(in, in->root, "checkpoint");
    route->result = decide_text(in, in->root, "result");
    if (!workflow_has_status(flow, route->status)) {
        (void)unknown(in, "status", status_names(flow), flow->name); /* likewise */
        return NULL;
    }
    if (route->checkpoint && workflow_checkpoint_index(flow, route->checkpoint) < 0) {
        (void)unknown(in, "checkpoint", word_names(flow->checkpoints, flow->checkpoint_count),
                      flow->name); /* likewise */
        return NULL;
    }
    return flow;
}

/* limits and counters: an object of whole numbers. */
static bool check_numbers(DecideInput *in, const char *field)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)decide_value(in, in->root, field), key, value)
    {
        int64_t number;
        if (!decide_to_int(value, &number) || number < 0)
            return decide_fail(in, arena_printf(&in->arena, "%s.%s", field, key), value, NULL,
                               "'%s.%s' must be a whole number from 0", field, key);
    }
    return true;
}

static int64_t number_or(const json_t *object, const char *key, int64_t fallback)
{
    int64_t number = fallback;
    return decide_to_int(json_object_get(object, key), &number) ? number : fallback;
}

/* The workflow's own limits, and those that only the input names: a checkpoint's retries, say. */
static bool read_counters(DecideInput *in, const Workflow *flow, RouteInput *route)
{
    if (!check_numbers(in, "limits") || !check_numbers(in, "counters"))
        return false;
    const json_t *limits = decide_value(in, in->root, "limits");
    const json_t *used = decide_value(in, in->root, "counters");
    size_t most = flow->limit_count + json_object_size(limits);
    RouteCounter *counters = arena_alloc(&in->arena, (most + 1) * sizeof *counters);
    size_t count = 0;
    const char *key;
    json_t *value;
    route->retries = decide_int(in, in->root, "retries");
    for (unsigned i = 0; i < flow->limit_count; i++) {
        const WorkflowLimit *limit = &flow->limits[i];
        int64_t fallback = limit->is_retry                  ? route->retries
                           : !strcmp(limit->name, "stages") ? MAX(route->stage, 1)
                                                            : 0;
        counters[count++] = (RouteCounter){.name = limit->name,
                                           .used = number_or(used, limit->name, fallback),
                                           .limit = number_or(limits, limit->name, -1)};
    }
    json_object_foreach((json_t *)(uintptr_t)limits, key, value)
    {
        if (!workflow_limit(flow, key))
            counters[count++] = (RouteCounter){.name = key,
                                               .used = number_or(used, key, route->retries),
                                               .limit = number_or(limits, key, -1)};
    }
    route->counters = counters;
    route->counter_count = count;
    return true;
}

/* Checkpoints that a gate's rows name; null in the list: it names none at all. */
static json_t *gate_checkpoints(const Workflow *flow, const WorkflowPhase *gate, const char *result)
{
    json_t *names = json_array();
    for (unsigned c = 1; c < flow->checkpoint_count; c++) {
        const char *name = flow->checkpoints[c].name;
        bool is_named = false;
        for (unsigned i = 0; i < flow->route_count; i++) {
            const WorkflowRoute *row = &flow->routes[i];
            is_named |= text_equal(row->phase, gate->name) && text_equal(row->checkpoint, name) &&
                        (!result || result_fits(row->result, result));
        }
        if (is_named)
            json_array_append_new(names, json_string(name));
    }
    return names;
}

static bool has_name(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (text_equal(json_string_value(json_array_get(names, i)), name))
            return true;
    }
    return false;
}

/* A verdict belongs to some checkpoints only. One that is missing is taken when there is no choice;
 * a plan is judged in planning, and nothing else. */
static bool read_gate(DecideInput *in, const Workflow *flow, const WorkflowPhase *gate,
                      RouteInput *route)
{
    CLEANUP(json_freep) json_t *all = gate_checkpoints(flow, gate, NULL);
    CLEANUP(json_freep) json_t *fitting = gate_checkpoints(flow, gate, route->result);
    if (json_array_size(all) == 0 || (!route->checkpoint && json_array_size(fitting) == 0))
        return true; /* the rows do not ask for one */
    if (!route->checkpoint) {
        bool is_planning = strstr(route->status, "planning") != NULL;
        bool is_plan = is_planning && has_name(fitting, "post-plan");
        if (json_array_size(fitting) == 1 || is_plan)
            route->checkpoint =
                is_plan ? "post-plan"
                        : arena_strdup(&in->arena, json_string_value(json_array_get(fitting, 0)));
        else
            return decide_fail(in, "checkpoint", NULL, TAKE(fitting),
                               "'checkpoint' is missing: where the %s said %s", gate->name,
                               route->result);
        return true;
    }
    if (!has_name(all, route->checkpoint) ||
        !phase_result_at(flow, gate, route->checkpoint, route->result))
        return decide_fail(in, "checkpoint", json_object_get(in->root, "checkpoint"),
                           json_array_size(fitting) ? TAKE(fitting) : TAKE(all),
                           "a %s at '%s' cannot say '%s'", gate->name, route->checkpoint,
                           route->result);
    return true;
}

static bool read_step(DecideInput *in, const Workflow *flow, RouteInput *route)
{
    route->step = decide_text(in, in->root, "step");
    if (!route->step)
        return decide_fail(in, "step", NULL, phase_names(flow),
                           "'step' is missing: give 'enter': true, or a step and its result");
    const WorkflowPhase *phase = workflow_phase(flow, route->step);
    if (!phase)
        return unknown(in, "step", phase_names(flow), flow->name);
    if (!route->result)
        return decide_fail(in, "result", NULL, decide_words(phase->results),
                           "'result' is missing: what the step '%s' ended with", phase->name);
    if (!phase_has_result(phase, route->result))
        return unknown(in, "result", decide_words(phase->results), phase->name);
    return phase->kind != PHASE_GATE || read_gate(in, flow, phase, route);
}

static bool read_substate(DecideInput *in, RouteInput *route)
{
    Substate sub;
    route->substate = decide_text(in, in->root, "phase");
    if (!route->substate || substate_find(route->substate, &sub))
        return true;
    return unknown(in, "phase", decide_words("needs-plan needs-check"), NULL);
}

static uint32_t flag_if(bool is_set, RouteFlag flag)
{
    return is_set ? 1U << flag : 0;
}

static uint32_t read_flags(const DecideInput *in, bool is_entry)
{
    const json_t *confirmed = decide_value(in, in->root, "confirmed");
    return flag_if(decide_bool(in, in->root, "target_filled"), FLAG_TARGET_FILLED) |
           flag_if(decide_bool(in, in->root, "rolled_back"), FLAG_ROLLED_BACK) |
           flag_if(decide_bool(in, in->root, "review"), FLAG_REVIEW) |
           flag_if(decide_bool(in, in->root, "refined"), FLAG_REFINED) |
           flag_if(confirmed ? json_is_true(confirmed) : !is_entry, FLAG_CONFIRMED);
}

static void read_convergence(const DecideInput *in, RouteInput *route)
{
    const json_t *convergence = decide_value(in, in->root, "convergence");
    route->has_convergence = convergence != NULL;
    route->convergence = json_number_value(decide_value(in, convergence, "convergence.value"));
    route->previous = json_number_value(decide_value(in, convergence, "convergence.previous"));
}

bool decide_route(DecideInput *in, json_t *out)
{
    RouteInput route = {.stage = decide_int(in, in->root, "stage")};
    RouteStep step;
    bool is_entry = decide_bool(in, in->root, "enter");
    const Workflow *flow = read_flow(in, &route);
    if (!flow || !read_substate(in, &route) || !read_counters(in, flow, &route))
        return false;
    route.flags = read_flags(in, is_entry);
    read_convergence(in, &route);
    if (!is_entry && !read_step(in, flow, &route))
        return false;
    if (!(is_entry ? workflow_enter(flow, &route, &step) : workflow_route(flow, &route, &step)))
        return decide_fail(in, "result", NULL, NULL, "no row of '%s' fits", flow->name);
    decide_put_text(out, "next", step.next);
    decide_put_text(out, "checkpoint", step.checkpoint);
    decide_put_text(out, "status", step.status);
    decide_put_text(out, "phase", step.substate);
    decide_put_actions(out, "effects", step.actions);
    decide_put_row(out, step.row, step.why);
    return true;
}

static const WorkflowPhase *gate_of(const Workflow *flow, const char *command)
{
    const WorkflowPhase *phase = workflow_phase(flow, command);
    return phase && phase->kind == PHASE_GATE ? phase : NULL;
}

/* A checkpoint of the gate. A word that the gate never says there is no mistake of the input: the
 * cell is refused. */
static bool read_place(DecideInput *in, const Workflow *flow, const WorkflowPhase *gate,
                       const RouteInput *route)
{
    CLEANUP(json_freep) json_t *all = gate_checkpoints(flow, gate, NULL);
    if (json_array_size(all) == 0 || has_name(all, route->checkpoint))
        return true;
    return decide_fail(in, "checkpoint", json_object_get(in->root, "checkpoint"), TAKE(all),
                       "'%s' judges nothing at '%s'", gate->name, route->checkpoint);
}

/* A command that is a gate's judgement needs to know what was judged, and how. */
static bool read_verdict(DecideInput *in, const Workflow *flow, const WorkflowPhase *gate,
                         RouteInput *route)
{
    if (!route->checkpoint)
        return decide_fail(in, "checkpoint", NULL, gate_checkpoints(flow, gate, NULL),
                           "'checkpoint' is missing: where '%s' judges", gate->name);
    if (!route->result)
        return decide_fail(in, "result", NULL, decide_words(gate->results),
                           "'result' is missing: what '%s' says", gate->name);
    if (!phase_has_result(gate, route->result))
        return unknown(in, "result", decide_words(gate->results), gate->name);
    return read_place(in, flow, gate, route);
}

bool decide_transition(DecideInput *in, json_t *out)
{
    RouteInput route = {0};
    RouteStep step;
    const Workflow *flow = read_flow(in, &route);
    if (!flow || !read_substate(in, &route))
        return false;
    const char *command = decide_text(in, in->root, "command");
    if (!workflow_has_command(flow, command))
        return unknown(in, "command", word_names(flow->commands, flow->command_count), flow->name);
    const WorkflowPhase *gate = gate_of(flow, command);
    if (gate && !read_verdict(in, flow, gate, &route))
        return false;
    route.flags = flag_if(decide_bool(in, in->root, "accepted"), FLAG_ACCEPTED) |
                  flag_if(decide_bool(in, in->root, "confirmed"), FLAG_CONFIRMED);
    if (!workflow_transition(flow, &route, command, &step))
        return decide_fail(in, "command", NULL, NULL, "no row of '%s' fits", flow->name);
    json_object_set_new(out, "allowed", json_boolean(step.is_allowed));
    decide_put_text(out, "status", step.status);
    decide_put_text(out, "phase", step.substate);
    decide_put_actions(out, "effects", step.actions);
    decide_put_row(out, step.row, step.why);
    return true;
}
