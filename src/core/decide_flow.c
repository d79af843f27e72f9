/* Decisions by workflow tables: route, transition. */
#include "core/decide_table.h"
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

static bool read_counters(DecideInput *in, const Workflow *flow, RouteInput *route)
{
    if (!check_numbers(in, "limits") || !check_numbers(in, "counters"))
        return false;
    const json_t *limits = decide_value(in, in->root, "limits");
    const json_t *used = decide_value(in, in->root, "counters");
    RouteCounter *counters = arena_alloc(&in->arena, flow->limit_count * sizeof *counters);
    route->retries = decide_int(in, in->root, "retries");
    for (unsigned i = 0; i < flow->limit_count; i++) {
        const WorkflowLimit *limit = &flow->limits[i];
        counters[i] = (RouteCounter){
            .name = limit->name,
            .used = number_or(used, limit->name, limit->is_retry ? route->retries : 0),
            .limit = number_or(limits, limit->name, -1)};
    }
    route->counters = counters;
    route->counter_count = flow->limit_count;
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
    return true;
}

static uint32_t read_flags(const DecideInput *in)
{
    uint32_t flags = 0;
    if (decide_bool(in, in->root, "target_filled"))
        flags |= 1U << FLAG_TARGET_FILLED;
    if (decide_bool(in, in->root, "rolled_back"))
        flags |= 1U << FLAG_ROLLED_BACK;
    if (decide_bool(in, in->root, "review"))
        flags |= 1U << FLAG_REVIEW;
    return flags;
}

bool decide_route(DecideInput *in, json_t *out)
{
    RouteInput route = {0};
    RouteStep step;
    const Workflow *flow = read_flow(in, &route);
    if (!flow || !read_counters(in, flow, &route))
        return false;
    bool is_entry = decide_bool(in, in->root, "enter");
    route.substate = decide_text(in, in->root, "phase");
    route.flags = read_flags(in);
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

bool decide_transition(DecideInput *in, json_t *out)
{
    RouteInput route = {0};
    RouteStep step;
    const Workflow *flow = read_flow(in, &route);
    if (!flow)
        return false;
    const char *command = decide_text(in, in->root, "command");
    if (!workflow_has_command(flow, command))
        return unknown(in, "command", word_names(flow->commands, flow->command_count), flow->name);
    route.substate = decide_text(in, in->root, "phase");
    if (decide_bool(in, in->root, "accepted"))
        route.flags |= 1U << FLAG_ACCEPTED;
    if (!workflow_transition(flow, &route, command, &step))
        return decide_fail(in, "command", NULL, NULL, "no row of '%s' fits", flow->name);
    json_object_set_new(out, "allowed", json_boolean(step.is_allowed));
    decide_put_text(out, "status", step.status);
    decide_put_text(out, "phase", step.substate);
    decide_put_actions(out, "effects", step.actions);
    decide_put_row(out, step.row, step.why);
    return true;
}
