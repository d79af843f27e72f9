/* Snapshots and wishes about the way of a task through its workflow: where it stands, the steps it
 * took with the rows that decided, and the commands of its workflow. */
#include "engine/api_internal.h"
#include "engine/prompts.h"
#include "engine/workflows.h"
#include "store/flow.h"
#include <string.h>

enum { ANSWER_BYTES = 256 * 1024 };

static json_t *safe_text(const char *text)
{
    return text && *text ? safe_string(text, strlen(text)) : json_null();
}

static const char *name_at(const char *name)
{
    return name ? name : "";
}

/* What several snapshots say about a run. */
void add_flow_fields(Engine *engine, const Run *run, json_t *json)
{
    if (!run)
        return;
    const Workflow *flow = run_workflow(engine->machine, run);
    const char *phase = run->phase < flow->phase_count ? flow->phases[run->phase].name : "";
    const char *checkpoint =
        run->checkpoint < flow->checkpoint_count ? flow->checkpoints[run->checkpoint].name : "";
    const char *status = run->status < flow->status_count ? flow->statuses[run->status].name : "";
    json_object_set_new(json, "workflow", json_string(flow->name));
    json_object_set_new(json, "phase", json_string(phase));
    json_object_set_new(json, "checkpoint", text_or_null(checkpoint));
    json_object_set_new(json, "status", text_or_null(status));
    json_object_set_new(json, "substate", text_or_null(substate_word((Substate)run->substate)));
    json_object_set_new(json, "stage", json_integer(run->stage));
    const Project *project = machine_project(engine->machine, run->project);
    json_object_set_new(json, "steps_used", json_integer(run->steps));
    json_object_set_new(
        json, "max_steps",
        json_integer(project ? workflow_limit_or(flow, "steps", project->limits.max_steps) : 0));
    json_object_set_new(json, "convergence",
                        run->convergence >= 0 ? json_real(run->convergence / 10000.0)
                                              : json_null());
}

/* -- steps ----------------------------------------------------------------------------------- */

static bool add_step(void *user, const StoreStep *step)
{
    json_t *json =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", (json_int_t)step->id,
                  "run", (json_int_t)step->run, "epoch", (json_int_t)step->epoch, "turn",
                  (json_int_t)step->turn, "stage", (json_int_t)step->stage, "phase",
                  safe_text(step->phase), "checkpoint", safe_text(step->checkpoint), "result",
                  safe_text(step->result), "row", safe_text(step->row), "why", safe_text(step->why),
                  "next", safe_text(step->next), "status", safe_text(step->status));
    json_object_set_new(json, "commit", text_or_null(step->commit));
    json_object_set_new(json, "agent", safe_text(step->agent));
    json_object_set_new(json, "prompt_hash", text_or_null(step->prompt_hash));
    json_object_set_new(json, "started_ms", json_integer(step->started_ms));
    json_object_set_new(json, "ended_ms", json_integer(step->ended_ms));
    json_array_append_new(user, json);
    return true;
}

json_t *steps_json(Engine *engine, TaskId task)
{
    json_t *list = json_array();
    Err ignored = {0};
    IGNORE(store_step_list(engine->store, task, add_step, list, &ignored));
    return list;
}

/* -- workflows ------------------------------------------------------------------------------- */

static json_t *phases_json(const Workflow *flow)
{
    json_t *list = json_array();
    for (size_t i = 0; i < flow->phase_count; i++) {
        const WorkflowPhase *phase = &flow->phases[i];
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:s,s:s,s:b,s:s,s:s}", "name", phase->name, "kind",
                            phase_kind_word(phase->kind), "prompt", name_at(phase->prompt), "tier",
                            name_at(phase->tier), "fresh", phase->is_fresh, "results",
                            name_at(phase->results), "help", name_at(phase->help)));
    }
    return list;
}

static json_t *item_json(const WorkflowItem *item)
{
    json_t *commands = json_array(), *statuses = json_array();
    for (size_t i = 0; i < item->workflow->command_count; i++)
        json_array_append_new(commands, json_string(item->workflow->commands[i].name));
    for (size_t i = 0; i < item->workflow->status_count; i++)
        json_array_append_new(statuses, json_string(item->workflow->statuses[i].name));
    return json_pack("{s:s,s:s,s:o,s:b,s:o,s:o,s:o}", "name", item->name, "help",
                     name_at(item->workflow->help), "path", text_or_null(item->path), "override",
                     item->is_override, "phases", phases_json(item->workflow), "statuses", statuses,
                     "commands", commands);
}

bool api_workflows(Call *call)
{
    bool has_project = query_int(call, "project", 0) != 0;
    ProjectInfo *project = has_project ? call_project(call) : NULL;
    WorkflowSet set = {0};
    if (has_project && !project)
        return false;
    bool is_read = workflows_load(project ? project->path : NULL, &set, &call->err);
    json_t *items = json_array(), *problems = json_array();
    for (size_t i = 0; i < set.count; i++)
        json_array_append_new(items, item_json(&set.items[i]));
    for (size_t i = 0; i < set.problem_count; i++)
        json_array_append_new(
            problems, json_pack("{s:o,s:i,s:o}", "path", safe_text(set.problems[i].path), "line",
                                set.problems[i].line, "message", safe_text(set.problems[i].text)));
    workflows_done(&set);
    json_t *reply = json_pack("{s:o,s:o}", "workflows", items, "problems", problems);
    if (is_read)
        reply_json(call, reply);
    else
        json_decref(reply);
    return is_read;
}

/* -- commands of the workflow, by hand (A-28) ------------------------------------------------ */

bool api_step(Call *call)
{
    const Task *task = call_task(call);
    const char *command = json_text(call->body, "command", NULL);
    if (!task)
        return false;
    if (!command || !*command)
        return err_set(&call->err, ERR_USAGE, "'command' is missing");
    Event event = {.kind = EV_COMMAND, .project = task->project, .task = task->id, .text = command};
    if (!wish(call, &event))
        return false;
    task = machine_task(call->engine->machine, (TaskId)call->id);
    json_t *reply = json_pack("{s:I,s:s,s:s}", "task", (json_int_t)call->id, "command", command,
                              "state", task_state_word(task->state));
    add_flow_fields(call->engine, machine_run(call->engine->machine, task->run), reply);
    reply_json(call, reply);
    return true;
}

/* -- a structured answer, by the agent ------------------------------------------------------- */

bool api_result(Call *call)
{
    const json_t *result = json_object_get(call->body, "result");
    if (!call->run)
        return err_set(&call->err, ERR_REFUSED, "only an agent can answer (OTTO_TOKEN is missing)");
    if (!json_is_object(result))
        return err_set(&call->err, ERR_USAGE, "'result' must be a JSON object");
    CLEANUP(mem_freep) char *text = json_write(result);
    size_t length = text ? strlen(text) : 0;
    if (length > ANSWER_BYTES)
        return err_set(&call->err, ERR_TOO_BIG, "the result is larger than %d bytes", ANSWER_BYTES);
    if (!turn_answer(call->engine, call->run, call->epoch, text, length, &call->err) ||
        !engine_commit(call->engine, &call->err))
        return false;
    reply_json(call, json_pack("{s:b}", "accepted", 1));
    return true;
}

/* -- prompts --------------------------------------------------------------------------------- */

bool api_prompt(Call *call)
{
    char phase[64] = "", checkpoint[64] = "";
    const Task *task = call_task(call);
    CLEANUP(str_done) Str text = STR_INIT;
    if (!task)
        return false;
    (void)query_get(call, "phase", phase, sizeof phase);                /* "" is the present one */
    (void)query_get(call, "checkpoint", checkpoint, sizeof checkpoint); /* "" is none */
    ProjectInfo *project = project_info(call->engine, task->project);
    if (project && !project->is_read && !project_read_settings(call->engine, project, &call->err))
        return false; /* what would be sent is not known */
    if (!engine_commit(call->engine, &call->err) ||
        !prompt_preview(call->engine, task->id, *phase ? phase : NULL, checkpoint, &text,
                        &call->err))
        return false;
    reply_json(call, json_pack("{s:I,s:o,s:o,s:o}", "task", (json_int_t)task->id, "phase",
                               text_or_null(phase), "checkpoint", text_or_null(checkpoint), "text",
                               safe_string(str_text(&text), text.length)));
    return true;
}
