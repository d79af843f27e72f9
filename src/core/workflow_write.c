/* Writing a workflow as a definition: see workflow_file.h. */
#include "core/workflow_file.h"
#include <string.h>

static void put(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, json_string(text ? text : ""));
}

/* Only what is not there by itself. */
static void put_unless(json_t *object, const char *key, const char *text, const char *fallback)
{
    if (text && strcmp(text, fallback) != 0)
        put(object, key, text);
}

static void put_actions(json_t *object, const Action *actions)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < ACTIONS_MAX && actions[i] != ACTION_NONE; i++)
        json_array_append_new(list, json_string(action_word(actions[i])));
    json_object_set_new(object, "effects", list);
}

static json_t *write_phases(const Workflow *flow)
{
    json_t *phases = json_object();
    char result[64];
    for (unsigned i = 0; i < flow->phase_count; i++) {
        const WorkflowPhase *phase = &flow->phases[i];
        json_t *object = json_object(), *results = json_array();
        put(object, "kind", phase_kind_word(phase->kind));
        put_unless(object, "prompt", phase->prompt, "");
        put_unless(object, "tier", phase->tier, "");
        if (phase->is_fresh)
            json_object_set_new(object, "fresh", json_true());
        put_unless(object, "answer", phase->answer, "");
        put_unless(object, "status", phase->status, WF_KEEP);
        for (size_t r = 0; word_at(phase->results, r, result, sizeof result); r++)
            json_array_append_new(results, json_string(result));
        json_object_set_new(object, "results", results);
        put_unless(object, "help", phase->help, "");
        json_object_set_new(phases, phase->name, object);
    }
    return phases;
}

static json_t *write_statuses(const Workflow *flow)
{
    json_t *statuses = json_object();
    for (unsigned i = 0; i < flow->status_count; i++) {
        const WorkflowStatus *status = &flow->statuses[i];
        json_t *object = json_object();
        if (status->is_final)
            json_object_set_new(object, "final", json_true());
        put_unless(object, "ends", status->ends, "");
        if (status->rank)
            json_object_set_new(object, "rank", json_integer(status->rank));
        put_unless(object, "help", status->help, "");
        json_object_set_new(statuses, status->name, object);
    }
    return statuses;
}

static json_t *write_words(const WorkflowWord *words, unsigned count)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < count; i++)
        put(object, words[i].name, words[i].help);
    return object;
}

static json_t *write_limits(const Workflow *flow)
{
    json_t *limits = json_object();
    for (unsigned i = 0; i < flow->limit_count; i++) {
        const WorkflowLimit *limit = &flow->limits[i];
        json_t *object = json_object();
        json_object_set_new(object, "value", json_integer(limit->fallback));
        json_object_set_new(object, "retry", json_boolean(limit->is_retry));
        put_unless(object, "help", limit->help, "");
        json_object_set_new(limits, limit->name, object);
    }
    return limits;
}

static json_t *write_entries(const Workflow *flow)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        json_t *object = json_object();
        put(object, "id", row->id);
        put_unless(object, "status", row->status, WF_ANY);
        put_unless(object, "substate", row->substate, WF_ANY);
        put_unless(object, "guard", row->guard, "");
        put(object, "next", row->next);
        put_unless(object, "checkpoint", row->checkpoint, WF_NONE);
        put_unless(object, "to_status", row->to_status, WF_KEEP);
        put_unless(object, "to_substate", row->to_substate, WF_NONE);
        put_unless(object, "ends", row->ends, "");
        put_actions(object, row->actions);
        put(object, "why", row->why);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *write_routes(const Workflow *flow)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        json_t *object = json_object();
        put(object, "id", row->id);
        put(object, "phase", row->phase);
        put_unless(object, "checkpoint", row->checkpoint, WF_ANY);
        put_unless(object, "result", row->result, WF_ANY);
        put_unless(object, "status", row->status, WF_ANY);
        put_unless(object, "guard", row->guard, "");
        put(object, "next", row->next);
        put_unless(object, "to_checkpoint", row->to_checkpoint, WF_NONE);
        put(object, "to_status", row->to_status);
        put_unless(object, "to_substate", row->to_substate, WF_NONE);
        put_unless(object, "ends", row->ends, "");
        put_actions(object, row->actions);
        put(object, "why", row->why);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *write_transitions(const Workflow *flow)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < flow->transition_count; i++) {
        const WorkflowCommand *row = &flow->transitions[i];
        json_t *object = json_object();
        put(object, "id", row->id);
        put(object, "command", row->command);
        put_unless(object, "status", row->status, WF_ANY);
        put_unless(object, "checkpoint", row->checkpoint, WF_ANY);
        put_unless(object, "result", row->result, WF_ANY);
        put_unless(object, "guard", row->guard, "");
        json_object_set_new(object, "allowed", json_boolean(row->is_allowed));
        put_unless(object, "to_status", row->to_status, WF_KEEP);
        put_unless(object, "to_substate", row->to_substate, WF_KEEP);
        put_unless(object, "next", row->next, "");
        put_actions(object, row->actions);
        put(object, "why", row->why);
        json_array_append_new(list, object);
    }
    return list;
}

json_t *workflow_write(const Workflow *workflow)
{
    json_t *out = json_object();
    put(out, "name", workflow->name);
    put_unless(out, "help", workflow->help, "");
    put(out, "first_status", workflow->first_status);
    json_object_set_new(out, "phases", write_phases(workflow));
    json_object_set_new(out, "statuses", write_statuses(workflow));
    json_object_set_new(out, "checkpoints",
                        write_words(workflow->checkpoints, workflow->checkpoint_count));
    json_object_set_new(out, "commands", write_words(workflow->commands, workflow->command_count));
    json_object_set_new(out, "limits", write_limits(workflow));
    if (workflow->threshold_count) {
        json_t *thresholds = json_object();
        for (unsigned i = 0; i < workflow->threshold_count; i++)
            json_object_set_new(thresholds, workflow->thresholds[i].checkpoint,
                                json_real(workflow->thresholds[i].value));
        json_object_set_new(out, "thresholds", thresholds);
    }
    if (workflow->hook_count) {
        json_t *hooks = json_object();
        for (unsigned i = 0; i < workflow->hook_count; i++)
            put(hooks, workflow->hooks[i].status, workflow->hooks[i].command);
        json_object_set_new(out, "hooks", hooks);
    }
    json_object_set_new(out, "entries", write_entries(workflow));
    json_object_set_new(out, "routes", write_routes(workflow));
    json_object_set_new(out, "transitions", write_transitions(workflow));
    return out;
}

void workflow_template(const char *name, Str *out)
{
    str_addf(out,
             "name: %s\n"
             "help: work, tests, a second look, then landing\n"
             "phases:\n"
             "  work:  {kind: agent, prompt: work}\n"
             "  test:  {kind: verify}\n"
             "  look:  {kind: gate, prompt: check, answer: review, fresh: true}\n"
             "  land:  {kind: merge}\n"
             "routes:\n"
             "  test: {fail: work}\n"
             "  look: {NEEDS_FIX: work, REPLAN: blocked}\n",
             name);
}
