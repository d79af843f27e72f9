/* Snapshots for the doors. Nothing here changes anything. */
#include "base/file.h"
#include "core/score.h"
#include "engine/api_internal.h"
#include "proc/journal.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Texts of agents may hold bytes that are not UTF-8. */
static json_t *safe_string(const char *text, size_t length)
{
    json_t *plain = json_stringn(text, length);
    if (plain)
        return plain;
    CLEANUP(str_done) Str clean = STR_INIT;
    for (size_t i = 0; i < length;) {
        size_t step = utf8_length(text + i, length - i);
        if (step && text[i])
            str_add_bytes(&clean, text + i, step);
        else
            str_add(&clean, "\xef\xbf\xbd");
        i += step ? step : 1;
    }
    return json_stringn(str_text(&clean), clean.length);
}

static json_t *parse_or(const char *text, json_t *fallback)
{
    json_t *json = text && *text ? json_read(text, strlen(text), NULL) : NULL;
    if (json)
        json_decref(fallback);
    return json ? json : fallback;
}

/* Status */

static const char *paused_why(const Engine *engine, const Project *row)
{
    if (row->autopilot != AUTO_PAUSED && row->autopilot != AUTO_PAUSING)
        return NULL;
    if (row->limits.pause_after && row->failures >= row->limits.pause_after)
        return "several tasks failed in a row";
    return engine->disk_level >= 2 ? "the disk is too full" : "you asked for it";
}

json_t *project_json(Engine *engine, const ProjectInfo *project)
{
    const Project *row = machine_project(engine->machine, project->id);
    const char *agent = project->agent_flag ? project->agent_flag
                        : project->is_read  ? project->settings.agent
                                            : NULL;
    return json_pack(
        "{s:I,s:s,s:s,s:s,s:s,s:o,s:I,s:I,s:o,s:I,s:I,s:o,s:I}", "id", (json_int_t)project->id,
        "name", project->name, "path", project->path, "target",
        project->target ? project->target : "", "autopilot", auto_state_word(row->autopilot),
        "paused_why", text_or_null(paused_why(engine, row)), "slots", (json_int_t)row->limits.slots,
        "slots_used", (json_int_t)row->slots_used, "agent", text_or_null(agent), "verify_count",
        (json_int_t)(project->is_read ? project->settings.verify.count : 0), "undelivered",
        (json_int_t)project->behind, "deliver_note", text_or_null(project->deliver_why),
        "pause_wait_ms", (json_int_t)row->limits.pause_wait_ms);
}

static json_t *counts_json(const Counts *counts)
{
    json_t *json = json_object();
    for (int i = 0; i < TASK_STATE_COUNT; i++)
        json_object_set_new(json, task_state_word((TaskState)i), json_integer(counts->by_state[i]));
    json_object_set_new(json, "ready", json_integer(counts->ready));
    json_object_set_new(json, "running", json_integer(counts->running));
    json_object_set_new(json, "merging", json_integer(counts->merging));
    json_object_set_new(json, "asking", json_integer(counts->asking));
    json_object_set_new(json, "waiting", json_integer(counts->waiting));
    json_object_set_new(json, "skipped_by_dependency", json_integer(counts->skipped));
    return json;
}

static json_t *title_of(Engine *engine, TaskId task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    if (!store_task_text_get(engine->store, task, &arena, &text, NULL))
        return json_string("");
    return safe_string(text.title, strlen(text.title));
}

static json_t *gate_json(Engine *engine, RunId run)
{
    static const char *const words[] = {"waiting", "running", "passed", "failed", "timeout"};
    json_t *list = json_array();
    LiveGate *live = gate_of(engine, run);
    size_t count = 0;
    const GateRow *rows = live && live->gate ? gate_rows(live->gate, &count) : NULL;
    int64_t now = engine_now(engine);
    for (size_t i = 0; i < count; i++) {
        bool is_running = rows[i].state == GATE_ROW_RUNNING;
        json_array_append_new(
            list, json_pack("{s:o,s:s,s:I,s:I,s:b}", "name",
                            safe_string(rows[i].command->name, strlen(rows[i].command->name)),
                            "state", words[rows[i].state], "elapsed_ms",
                            (json_int_t)(is_running ? now - rows[i].started_ms : rows[i].took_ms),
                            "limit_s", (json_int_t)rows[i].command->timeout_s, "required",
                            rows[i].command->is_required));
    }
    return list;
}

static json_t *running_json(Engine *engine, const Run *run)
{
    const Task *task = machine_task(engine->machine, run->task);
    const Project *project = machine_project(engine->machine, run->project);
    const LiveTurn *turn = turn_of(engine, run->id);
    int64_t elapsed =
        run->spent_ms + (run->slot_ms ? MAX(engine_now(engine) - run->slot_ms, 0) : 0);
    uint32_t most = task->max_turns ? task->max_turns : project->limits.max_turns;
    int64_t limit = task->timeout_ms ? task->timeout_ms : project->limits.timeout_ms;
    json_t *json = json_pack(
        "{s:I,s:o,s:I,s:I,s:s,s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o}", "task", (json_int_t)task->id,
        "title", title_of(engine, task->id), "run", (json_int_t)run->id, "epoch",
        (json_int_t)run->epoch, "state", run_state_word(run->state), "phase",
        workflow_loop.phases[run->phase].name, "turn", (json_int_t)run->turn, "max_turns",
        (json_int_t)most, "elapsed_ms", (json_int_t)elapsed, "timeout_ms", (json_int_t)limit,
        "progress", turn && turn->progress >= 0 ? json_integer(turn->progress) : json_null(),
        "agent", text_or_null(turn ? turn->agent : NULL), "gate", gate_json(engine, run->id));
    json_object_set_new(json, "last_line",
                        turn ? safe_string(turn->line, strlen(turn->line)) : json_string(""));
    return json;
}

static json_t *runs_json(Engine *engine, ProjectId project, bool is_merging)
{
    json_t *list = json_array();
    for (RunId i = 1; i <= machine_run_count(engine->machine); i++) {
        const Run *run = machine_run(engine->machine, i);
        if (!run || run->project != project)
            continue;
        bool is_merge = run->state >= RUN_QUEUED && run->state <= RUN_LANDING;
        if (is_merging ? is_merge : run_holds_slot(run->state))
            json_array_append_new(list, running_json(engine, run));
    }
    return list;
}

typedef struct Lister {
    Engine *engine;
    json_t *list;
} Lister;

static bool add_landing(void *user, const StoreLanding *landing)
{
    Lister *lister = user;
    if (!landing->undone_ms)
        json_array_append_new(lister->list,
                              json_pack("{s:I,s:o,s:s,s:I}", "task", (json_int_t)landing->task,
                                        "title", title_of(lister->engine, landing->task), "commit",
                                        landing->new_tip, "at_ms", (json_int_t)landing->at_ms));
    return true;
}

typedef struct Hint {
    const char *kind, *command;
} Hint;

/* clang-format off */
static const Hint hints[] = {
    {"question", "otto answer %u \"...\""},
    {"blocked",  "otto answer %u \"...\"   (or: otto retry %u, otto skip %u)"},
    {"conflict", "otto diff %u; otto retry %u   (or: otto skip %u)"},
    {"failed",   "otto logs %u; otto retry %u   (or: otto skip %u)"},
    {"timeout",  "otto logs %u; otto retry %u   (or: otto edit %u --max-turns N)"},
    {"stuck",    "otto logs %u"},
    {"waiting",  "otto run --slots N   (or: otto edit %u --priority 0)"},
    {"rollback", "otto why %u"},
    {"paused",   "otto resume"},
    {"delivery", "commit or stash your changes; otto delivers at the next run"},
};
/* clang-format on */

/* Puts the id into each %u of a hint. */
static json_t *hint_of(const char *kind, TaskId task)
{
    for (size_t i = 0; i < COUNT(hints); i++) {
        if (!text_equal(hints[i].kind, kind))
            continue;
        CLEANUP(str_done) Str out = STR_INIT;
        for (const char *p = hints[i].command; *p; p++) {
            if (p[0] == '%' && p[1] == 'u') {
                str_add_int(&out, task);
                p++;
            } else {
                str_add_char(&out, *p);
            }
        }
        return json_string(str_text(&out));
    }
    return json_null();
}

static json_t *notice_json(Engine *engine, const StoreNotice *notice)
{
    return json_pack("{s:I,s:s,s:I,s:o,s:o,s:I,s:I,s:o}", "id", (json_int_t)notice->id, "kind",
                     notice->kind, "task", (json_int_t)notice->task, "title",
                     notice->task ? title_of(engine, notice->task) : json_string(""), "text",
                     safe_string(notice->text, strlen(notice->text)), "at_ms",
                     (json_int_t)notice->at_ms, "closed_ms", (json_int_t)notice->closed_ms,
                     "command", hint_of(notice->kind, notice->task));
}

static bool add_notice(void *user, const StoreNotice *notice)
{
    Lister *lister = user;
    json_array_append_new(lister->list, notice_json(lister->engine, notice));
    return true;
}

json_t *needs_you_json(Engine *engine, ProjectId project)
{
    Lister lister = {engine, json_array()};
    Err ignored = {0};
    IGNORE(store_notice_list_open(engine->store, project, add_notice, &lister, &ignored));
    return lister.list;
}

/* For display: a wrong otto.yaml is said by config, run and doctor. */
static void read_quietly(Engine *engine, ProjectInfo *project)
{
    Err ignored = {0};
    if (!project->is_read && !project_read_settings(engine, project, &ignored))
        project_default_settings(project);
}

bool api_status(Call *call)
{
    Engine *engine = call->engine;
    json_t *json = json_object();
    json_object_set_new(
        json, "engine",
        json_pack("{s:I,s:s,s:I,s:b,s:s,s:b}", "pid", (json_int_t)getpid(), "version", OTTO_VERSION,
                  "started_ms", (json_int_t)engine->started_ms, "online", engine->options.is_online,
                  "state_dir", engine->options.state_dir, "storing", !engine->is_failing));
    int64_t id = query_int(call, "project", 0);
    ProjectInfo *project = id ? call_project(call) : NULL;
    if (id && !project) {
        json_decref(json);
        return false;
    }
    if (project) {
        IGNORE(engine_commit(engine, NULL)); /* what is shown is stored, if it can be */
        read_quietly(engine, project);
        Counts counts = machine_counts(engine->machine, project->id);
        Lister landed = {engine, json_array()};
        Err ignored = {0};
        IGNORE(store_landing_list(engine->store, project->id, 10, add_landing, &landed, &ignored));
        json_object_set_new(json, "project", project_json(engine, project));
        json_object_set_new(json, "counts", counts_json(&counts));
        json_object_set_new(json, "running", runs_json(engine, project->id, false));
        json_object_set_new(json, "merging", runs_json(engine, project->id, true));
        json_object_set_new(json, "landed", landed.list);
        json_object_set_new(json, "needs_you", needs_you_json(engine, project->id));
    }
    reply_json(call, json);
    return true;
}

bool api_projects(Call *call)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < call->engine->project_count; i++)
        json_array_append_new(list, project_json(call->engine, call->engine->projects[i]));
    reply_json(call, json_pack("{s:o}", "projects", list));
    return true;
}

/* Every problem at once; the settings shown are those that are in force. */
bool api_project_config(Call *call)
{
    ProjectInfo *project = call_project(call);
    if (!project)
        return false;
    Err err = {0};
    json_t *problems = project_problems(project, &err);
    if (!json_array_size(problems) && !project_read_settings(call->engine, project, &err))
        json_array_append_new(problems, json_pack("{s:s}", "message", err.text));
    project_default_settings(project);
    reply_json(call, json_pack("{s:o,s:o}", "settings", settings_show_json(&project->settings),
                               "problems", problems));
    return true;
}

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
    machine_explain(engine->machine, task->id, engine_now(engine), &note);
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
    IGNORE(store_gate_list(engine->store, run->id, add_gate, &gates, &ignored));
    json_array_append_new(
        lister->list,
        json_pack("{s:I,s:I,s:s,s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id",
                  (json_int_t)run->id, "epoch", (json_int_t)run->epoch, "state",
                  run_state_word(run->state), "phase", workflow_loop.phases[run->phase].name,
                  "turn", (json_int_t)run->turn, "started_ms", (json_int_t)run->started_ms,
                  "spent_ms", (json_int_t)run->spent_ms, "base", text_or_null(run->base), "commit",
                  text_or_null(run->commit), "landed", text_or_null(run->new_tip), "workspace",
                  run->has_workspace ? text_or_null(text->workspace_path) : json_null(), "branch",
                  text_or_null(text->branch), "turns", turns.list, "gates", gates.list));
    return true;
}

static bool add_landed(void *user, const StoreLanding *landing)
{
    Lister *lister = user;
    json_array_append_new(
        lister->list,
        json_pack("{s:s,s:s,s:s,s:I,s:o}", "commit", landing->commit, "old", landing->old_tip,
                  "new", landing->new_tip, "at_ms", (json_int_t)landing->at_ms, "rolled_back_ms",
                  landing->undone_ms ? json_integer(landing->undone_ms) : json_null()));
    return true;
}

static const Task *call_task(Call *call)
{
    const Task *task = call->id > 0 && call->id <= UINT32_MAX
                           ? machine_task(call->engine->machine, (TaskId)call->id)
                           : NULL;
    if (!task)
        (void)err_set(&call->err, ERR_NOT_FOUND, "there is no task #%lld", (long long)call->id);
    return task;
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
    machine_explain(call->engine->machine, task->id, engine_now(call->engine), &now);
    reply_json(call, json_pack("{s:I,s:s,s:s,s:o}", "task", (json_int_t)task->id, "state",
                               task_state_word(task->state), "now", str_text(&now), "history",
                               lister.list));
    return true;
}

/* The log: frames of the journals, in pieces of bounded size */

typedef struct LogWalk {
    Call *call;
    json_t *chunks;
    int64_t room; /* bytes still allowed in this answer */
    RunId run;    /* filters; 0 all */
    uint32_t turn;
    int64_t skip_run, skip_epoch, skip_turn, skip_offset; /* go on from here */
    json_t *next;
} LogWalk;

static void read_journal(LogWalk *walk, const StoreTurn *turn, int64_t offset)
{
    char path[PATH_MAX];
    JournalReader reader;
    JournalFrame frame;
    (void)snprintf(path, sizeof path, "%s/%u-e%ut%u.journal", walk->call->engine->path_runs,
                   turn->run, turn->epoch, turn->turn); /* state paths are short */
    int64_t reached = offset;
    if (journal_open(&reader, path, offset, NULL)) {
        while (walk->room > 0 && journal_next(&reader, &frame) == JOURNAL_FRAME) {
            reached = frame.offset_after;
            if (frame.type != WIRE_FRAME_DATA)
                continue;
            walk->room -= (int64_t)frame.length;
            json_array_append_new(walk->chunks,
                                  json_pack("{s:I,s:I,s:I,s:i,s:I,s:o}", "run",
                                            (json_int_t)turn->run, "epoch", (json_int_t)turn->epoch,
                                            "turn", (json_int_t)turn->turn, "stream", frame.stream,
                                            "at_ms", (json_int_t)frame.wall_ms, "text",
                                            safe_string(frame.bytes, frame.length)));
        }
        journal_close(&reader);
    }
    json_decref(walk->next);
    walk->next = json_pack("{s:I,s:I,s:I,s:I}", "run", (json_int_t)turn->run, "epoch",
                           (json_int_t)turn->epoch, "turn", (json_int_t)turn->turn, "offset",
                           (json_int_t)reached);
}

static bool log_turn(void *user, const StoreTurn *turn)
{
    LogWalk *walk = user;
    if (walk->turn && turn->turn != walk->turn)
        return true;
    bool is_same = turn->run == walk->skip_run && turn->epoch == walk->skip_epoch &&
                   turn->turn == walk->skip_turn;
    bool is_before = turn->run < walk->skip_run ||
                     (turn->run == walk->skip_run &&
                      (turn->epoch < walk->skip_epoch ||
                       (turn->epoch == walk->skip_epoch && turn->turn < walk->skip_turn)));
    if (!is_before)
        read_journal(walk, turn, is_same ? walk->skip_offset : 0);
    return walk->room > 0;
}

static bool log_run(void *user, const Run *run, const StoreRunText *text)
{
    LogWalk *walk = user;
    (void)text;
    if ((walk->run && run->id != walk->run) || run->id < walk->skip_run)
        return true;
    return store_turn_list(walk->call->engine->store, run->id, log_turn, walk, &walk->call->err) &&
           walk->room > 0;
}

bool api_task_log(Call *call)
{
    const Task *task = call_task(call);
    LogWalk walk = {.call = call,
                    .chunks = json_array(),
                    .next = json_null(),
                    .room = query_int(call, "limit", 1 << 20),
                    .run = (RunId)query_int(call, "run", 0),
                    .turn = (uint32_t)query_int(call, "turn", 0),
                    .skip_run = query_int(call, "from_run", 0),
                    .skip_epoch = query_int(call, "from_epoch", 0),
                    .skip_turn = query_int(call, "from_turn", 0),
                    .skip_offset = query_int(call, "after", 0)};
    bool is_read = task && engine_commit(call->engine, &call->err) &&
                   store_run_list(call->engine->store, task->id, log_run, &walk, &call->err) &&
                   !call->err.kind;
    if (!is_read) {
        json_decref(walk.chunks);
        json_decref(walk.next);
        return false;
    }
    reply_json(call,
               json_pack("{s:o,s:o,s:b,s:b}", "chunks", walk.chunks, "next", walk.next, "running",
                         turn_of(call->engine, task->run) != NULL, "more", walk.room <= 0));
    return true;
}

/* The report (D-179) */

typedef struct Tally {
    Engine *engine;
    json_t *items;
    int64_t total, most, least, finished, took_ms;
    int64_t landed, conflicts;
} Tally;

static bool add_times(void *user, const Run *run, const StoreRunText *text)
{
    Tally *tally = user;
    (void)text;
    tally->took_ms += run->spent_ms;
    tally->conflicts += run->conflict_tries > 0 && run->new_tip[0] && run->state >= RUN_ENDED;
    return true;
}

static json_t *landed_of(Engine *engine, TaskId task)
{
    Lister lister = {engine, json_array()};
    Err ignored = {0};
    IGNORE(store_landing_list_task(engine->store, task, add_landed, &lister, &ignored));
    const json_t *first = json_array_get(lister.list, 0);
    bool stands = first && json_is_null(json_object_get(first, "rolled_back_ms"));
    json_t *commit = stands ? json_string(json_text(first, "new", "")) : json_null();
    json_decref(lister.list);
    return commit;
}

static bool add_item(void *user, const Task *stored, const StoreTaskText *text)
{
    Tally *tally = user;
    const Task *task = machine_task(tally->engine->machine, stored->id);
    CLEANUP(str_done) Str note = STR_INIT;
    Err ignored = {0};
    if (!task)
        return true;
    machine_explain(tally->engine->machine, task->id, engine_now(tally->engine), &note);
    int64_t before = tally->took_ms;
    IGNORE(store_run_list(tally->engine->store, task->id, add_times, tally, &ignored));
    if (task->turns_used) {
        tally->total += task->turns_used;
        tally->most = MAX(tally->most, (int64_t)task->turns_used);
        tally->least = tally->finished++ ? MIN(tally->least, (int64_t)task->turns_used)
                                         : (int64_t)task->turns_used;
    }
    json_t *commit = landed_of(tally->engine, task->id);
    tally->landed += !json_is_null(commit);
    json_array_append_new(
        tally->items, json_pack("{s:I,s:o,s:s,s:I,s:I,s:o,s:s}", "id", (json_int_t)task->id,
                                "title", safe_string(text->title, strlen(text->title)), "state",
                                task_state_word(task->state), "turns", (json_int_t)task->turns_used,
                                "took_ms", (json_int_t)(tally->took_ms - before), "commit", commit,
                                "note", str_text(&note)));
    return true;
}

bool api_report(Call *call)
{
    ProjectInfo *project = call_project(call);
    Tally tally = {.engine = call->engine, .items = json_array()};
    StoreTaskFilter filter = {.project = project ? project->id : 0};
    if (!project || !engine_commit(call->engine, &call->err) ||
        !store_task_list(call->engine->store, &filter, NULL, add_item, &tally, &call->err)) {
        json_decref(tally.items);
        return false;
    }
    Counts counts = machine_counts(call->engine->machine, project->id);
    json_t *json =
        json_pack("{s:o,s:I,s:o,s:{s:I,s:f,s:I,s:I},s:{s:I,s:I,s:I},s:o,s:o}", "project",
                  project_json(call->engine, project), "runtime_ms", (json_int_t)tally.took_ms,
                  "tasks", counts_json(&counts), "turns", "total", (json_int_t)tally.total,
                  "average", tally.finished ? (double)tally.total / (double)tally.finished : 0.0,
                  "fastest", (json_int_t)tally.least, "slowest", (json_int_t)tally.most, "merges",
                  "landed", (json_int_t)tally.landed, "conflicts_resolved",
                  (json_int_t)tally.conflicts, "pending", (json_int_t)counts.merging, "items",
                  tally.items, "needs_you", needs_you_json(call->engine, project->id));
    reply_json(call, json);
    return true;
}
