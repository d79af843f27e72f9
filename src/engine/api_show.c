/* Snapshots for the doors: tasks, one or many, and why they are where they are. */
#include "core/score.h"
#include "engine/api_internal.h"
#include <string.h>

/* Tasks */

static json_t *after_json(Engine *engine, TaskId task)
{
    enum { MOST = 256 };
    Dependency list[MOST];
    json_t *json = json_array();
    uint32_t count = MIN(machine_dependencies(engine->machine, task, list, MOST), (uint32_t)MOST);
    for (uint32_t i = count; i-- > 0;) {
        const Task *on = machine_task(engine->machine, list[i].on);
        json_array_append_new(json, json_pack("{s:I,s:s,s:s}", "task", (json_int_t)list[i].on,
                                              "need", need_word(list[i].need), "state",
                                              on ? task_state_word(on->state) : "unknown"));
    }
    return json;
}

/* The machine's row, not the store's, is what counts now. */
static json_t *task_json(Engine *engine, const Task *task, const StoreTaskText *text)
{
    const Run *run = machine_run(engine->machine, task->run);
    TaskId root = machine_root_cause(engine->machine, task->id);
    CLEANUP(str_done) Str note = STR_INIT;
    task_note(engine, task, &note);
    return json_pack(
        "{s:I,s:I,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:s,s:o}", "id",
        (json_int_t)task->id, "project", (json_int_t)task->project, "title",
        safe_string(text->title, strlen(text->title)), "key", text_or_null(text->key), "state",
        task_state_word(task->state), "run_state",
        run && task->state == TASK_ACTIVE ? json_string(run_state_word(run->state)) : json_null(),
        "priority", task->priority == PRIORITY_NONE ? json_null() : json_integer(task->priority),
        "tags", parse_or(text->tags_json, json_array()), "after", after_json(engine, task->id),
        "parent", task->parent ? json_integer(task->parent) : json_null(), "attempts",
        (json_int_t)task->attempts, "retries", (json_int_t)task->retries, "turns",
        (json_int_t)task->turns_used, "created_ms", (json_int_t)task->created_ms, "note",
        str_text(&note), "skipped_because", root ? json_integer(root) : json_null());
}

static bool add_task(void *user, const Task *stored, const StoreTaskText *text)
{
    Lister *lister = user;
    const Task *task = machine_task(lister->engine->machine, stored->id);
    if (task)
        json_array_append_new(lister->list, task_json(lister->engine, task, text));
    return true;
}

static bool read_states(Call *call, uint32_t *states)
{
    char words[256], *at = words;
    if (!query_get(call, "state", words, sizeof words))
        return true;
    for (char *word; (word = strsep(&at, ","));) {
        TaskState state;
        if (!*word)
            continue;
        if (!task_state_find(word, &state))
            return err_set(&call->err, ERR_USAGE, "unknown state '%.60s'", word);
        *states |= 1u << state;
    }
    return true;
}

bool api_task_list(Call *call)
{
    char text[256] = "";
    Lister lister = {call->engine, json_array()};
    uint32_t total = 0;
    StoreTaskFilter filter = {.project = (ProjectId)query_int(call, "project", 0),
                              .limit = (uint32_t)query_int(call, "limit", 0),
                              .offset = (uint32_t)query_int(call, "offset", 0)};
    if (query_get(call, "q", text, sizeof text) && *text)
        filter.text = text;
    if (!engine_commit(call->engine, &call->err) || !read_states(call, &filter.states) ||
        !store_task_list(call->engine->store, &filter, &total, add_task, &lister, &call->err)) {
        json_decref(lister.list);
        return false;
    }
    reply_json(call, json_pack("{s:o,s:I}", "tasks", lister.list, "total", (json_int_t)total));
    return true;
}

/* One task, whole */

/* The snapshot of a turn is in the event that reported it. */
static bool add_snapshot(void *user, const StoreEvent *event)
{
    json_t *turns = user, *turn;
    size_t i;
    if (event->kind != EV_SNAPSHOT_TAKEN || !event->data)
        return true;
    json_t *data = json_read(event->data, strlen(event->data), NULL);
    json_array_foreach(turns, i, turn)
    {
        if (json_int(turn, "run", 0) == event->run && json_int(turn, "epoch", 0) == event->epoch &&
            json_int(turn, "turn", 0) == event->turn)
            json_object_set_new(turn, "commit", text_or_null(json_text(data, "commit", NULL)));
    }
    json_decref(data);
    return true;
}

static bool add_turn(void *user, const StoreTurn *turn)
{
    Lister *lister = user;
    const char *folder = lister->engine->path_runs;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    json_array_append_new(
        lister->list,
        json_pack(
            "{s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:I,s:s,s:s}", "epoch", (json_int_t)turn->epoch,
            "turn", (json_int_t)turn->turn, "started_ms", (json_int_t)turn->started_ms, "ended_ms",
            (json_int_t)turn->ended_ms, "exit_code", (json_int_t)turn->exit_code, "killed_by",
            (json_int_t)turn->killed_by, "signal",
            text_or_null(turn->signal > 0 && turn->signal < SIGNAL_TYPE_COUNT
                             ? signal_type_word((SignalType)turn->signal)
                             : NULL),
            "payload",
            *turn->payload ? safe_string(turn->payload, strlen(turn->payload)) : json_null(),
            "agent", text_or_null(turn->agent), "output_bytes", (json_int_t)turn->output_bytes,
            "prompt",
            arena_printf(&arena, "%s/%u-e%ut%u.prompt", folder, turn->run, turn->epoch, turn->turn),
            "journal",
            arena_printf(&arena, "%s/%u-e%ut%u.journal", folder, turn->run, turn->epoch,
                         turn->turn)));
    json_t *json = json_array_get(lister->list, json_array_size(lister->list) - 1);
    json_object_set_new(json, "run", json_integer(turn->run));
    json_object_set_new(json, "phase", text_or_null(turn->phase));
    json_object_set_new(json, "checkpoint", text_or_null(turn->checkpoint));
    return true;
}

static bool add_gate(void *user, const StoreGateResult *gate)
{
    Lister *lister = user;
    json_array_append_new(
        lister->list,
        json_pack("{s:I,s:I,s:s,s:o,s:o,s:b,s:I,s:b,s:I,s:I,s:o}", "epoch", (json_int_t)gate->epoch,
                  "turn", (json_int_t)gate->turn, "stage", gate->stage, "name",
                  safe_string(gate->name, strlen(gate->name)), "command",
                  safe_string(gate->command, strlen(gate->command)), "required", gate->is_required,
                  "exit_code", (json_int_t)gate->exit_code, "timed_out", gate->timed_out, "took_ms",
                  (json_int_t)gate->took_ms, "limit_s", (json_int_t)gate->limit_s, "output",
                  safe_string(gate->output, gate->output_length)));
    return true;
}

static bool add_run(void *user, const Run *stored, const StoreRunText *text)
{
    Lister *lister = user;
    Engine *engine = lister->engine;
    const Run *live = machine_run(engine->machine, stored->id), *run = live ? live : stored;
    Lister turns = {engine, json_array()}, gates = {engine, json_array()};
    Err ignored = {0};
    IGNORE(store_turn_list(engine->store, run->id, add_turn, &turns, &ignored));
    IGNORE(
        store_event_list_task(engine->store, run->task, 0, 0, add_snapshot, turns.list, &ignored));
    IGNORE(store_gate_list(engine->store, run->id, add_gate, &gates, &ignored));
    json_t *json = json_pack(
        "{s:I,s:I,s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", (json_int_t)run->id, "epoch",
        (json_int_t)run->epoch, "state", run_state_word(run->state), "turn", (json_int_t)run->turn,
        "started_ms", (json_int_t)run->started_ms, "spent_ms", (json_int_t)run->spent_ms, "base",
        text_or_null(run->base), "commit", text_or_null(run->commit), "landed",
        text_or_null(run->new_tip), "workspace",
        run->has_workspace ? text_or_null(text->workspace_path) : json_null(), "branch",
        text_or_null(text->branch), "turns", turns.list, "gates", gates.list);
    add_flow_fields(engine, run, json);
    json_array_append_new(lister->list, json);
    return true;
}

bool add_landed(void *user, const StoreLanding *landing)
{
    Lister *lister = user;
    json_array_append_new(
        lister->list,
        json_pack("{s:s,s:s,s:s,s:I,s:o}", "commit", landing->commit, "old", landing->old_tip,
                  "new", landing->new_tip, "at_ms", (json_int_t)landing->at_ms, "rolled_back_ms",
                  landing->undone_ms ? json_integer(landing->undone_ms) : json_null()));
    return true;
}

static void add_score(Engine *engine, const Task *task, json_t *json)
{
    Score score;
    if (!machine_score(engine->machine, task->id, engine_now(engine), &score)) {
        json_object_set_new(json, "score", json_null());
        return;
    }
    json_t *parts = json_object();
    for (int i = 0; i < SCORE_PART_COUNT; i++)
        if (score.parts[i])
            json_object_set_new(parts, score_part_word((ScorePart)i), json_integer(score.parts[i]));
    json_object_set_new(json, "score",
                        json_pack("{s:I,s:o}", "score", (json_int_t)score.total, "parts", parts));
}

bool api_task_show(Call *call)
{
    Engine *engine = call->engine;
    const Task *task = call_task(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    if (!task || !engine_commit(engine, &call->err) ||
        !store_task_text_get(engine->store, task->id, &arena, &text, &call->err))
        return false;
    const ProjectInfo *project = project_info(engine, task->project);
    const Run *run = machine_run(engine->machine, task->run);
    Lister runs = {engine, json_array()}, landed = {engine, json_array()},
           notices = {engine, json_array()};
    Err ignored = {0};
    IGNORE(store_run_list(engine->store, task->id, add_run, &runs, &ignored));
    IGNORE(store_landing_list_task(engine->store, task->id, add_landed, &landed, &ignored));
    IGNORE(store_notice_list_task(engine->store, task->id, add_notice, &notices, &ignored));
    json_t *json = task_json(engine, task, &text);
    json_object_set_new(json, "body", safe_string(text.body, strlen(text.body)));
    json_object_set_new(json, "check", parse_or(text.checks_json, json_array()));
    json_object_set_new(json, "agent", text_or_null(text.agent));
    json_object_set_new(json, "workflow", text_or_null(text.workflow));
    json_object_set_new(json, "type", text_or_null(text.type));
    json_object_set_new(json, "flow",
                        json_string(machine_task_workflow(engine->machine, task)->name));
    json_object_set_new(json, "status", json_string(machine_status_word(engine->machine, task)));
    json_object_set_new(json, "stage", json_integer(run ? run->stage : 0));
    json_object_set_new(json, "steps", steps_json(engine, task->id));
    json_object_set_new(json, "guards",
                        task->state == TASK_REVIEW ? guard_lines(engine, task->id) : json_array());
    json_object_set_new(json, "size", text_or_null(text.size));
    json_object_set_new(json, "max_turns", json_integer(task->max_turns));
    json_object_set_new(json, "timeout_minutes", json_integer(task->timeout_ms / 60000));
    json_object_set_new(json, "runs", runs.list);
    json_object_set_new(json, "landings", landed.list);
    json_object_set_new(json, "notices", notices.list);
    json_object_set_new(json, "hub", text_or_null(project ? project->hub : NULL));
    json_object_set_new(json, "base", text_or_null(run ? run->base : NULL));
    json_object_set_new(json, "commit", text_or_null(run ? run->commit : NULL));
    add_score(engine, task, json);
    reply_json(call, json);
    return true;
}

/* Why */

static bool add_event(void *user, const StoreEvent *event)
{
    Lister *lister = user;
    json_array_append_new(
        lister->list,
        json_pack("{s:I,s:I,s:s,s:I,s:I,s:o,s:o}", "id", (json_int_t)event->id, "at_ms",
                  (json_int_t)event->at_ms, "event", event_word((EventKind)event->kind), "run",
                  (json_int_t)event->run, "turn", (json_int_t)event->turn, "why",
                  event->why ? safe_string(event->why, strlen(event->why)) : json_string(""),
                  "decision", text_or_null(event->decision)));
    return true;
}

bool api_task_why(Call *call)
{
    const Task *task = call_task(call);
    Lister lister = {call->engine, json_array()};
    CLEANUP(str_done) Str now = STR_INIT;
    if (!task || !engine_commit(call->engine, &call->err) ||
        !store_event_list_task(call->engine->store, task->id, 0,
                               (uint32_t)query_int(call, "limit", 100), add_event, &lister,
                               &call->err)) {
        json_decref(lister.list);
        return false;
    }
    task_note(call->engine, task, &now);
    json_t *json = json_pack("{s:I,s:s,s:s,s:o,s:o}", "task", (json_int_t)task->id, "state",
                             task_state_word(task->state), "now", str_text(&now), "history",
                             lister.list, "steps", steps_json(call->engine, task->id));
    add_flow_fields(call->engine, machine_run(call->engine->machine, task->run), json);
    reply_json(call, json);
    return true;
}
