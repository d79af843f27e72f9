/* Snapshots for the doors: what is going on now. Nothing here changes anything. */
#include "engine/api_internal.h"
#include <string.h>
#include <unistd.h>

json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Texts of agents may hold bytes that are not UTF-8. */
json_t *safe_string(const char *text, size_t length)
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

json_t *parse_or(const char *text, json_t *fallback)
{
    json_t *json = text && *text ? json_read(text, strlen(text), NULL) : NULL;
    if (json)
        json_decref(fallback);
    return json ? json : fallback;
}

/* Why a task is where it is: the machine's sentence, or the words of the person who decided it. */
void task_note(Engine *engine, const Task *task, Str *out)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreRecord last = {0};
    Err ignored = {0};
    if (task->state == TASK_FAILED &&
        store_record_last(engine->store, task->id, RECORD_FEEDBACK, NULL, &arena, &last,
                          &ignored) &&
        last.id && last.run == task->run && text_equal(last.result, "reject")) {
        str_add(out, "rejected by a person: ");
        str_add_safe(out, last.text, strlen(last.text), true);
        return;
    }
    machine_explain(engine->machine, task->id, engine_now(engine), out);
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

json_t *counts_json(const Counts *counts)
{
    json_t *json = json_object();
    for (int i = 0; i < TASK_STATE_COUNT; i++)
        json_object_set_new(json, task_state_word((TaskState)i), json_integer(counts->by_state[i]));
    json_object_set_new(json, "ready", json_integer(counts->ready));
    json_object_set_new(json, "running", json_integer(counts->running));
    json_object_set_new(json, "merging", json_integer(counts->merging));
    json_object_set_new(json, "asking", json_integer(counts->asking));
    json_object_set_new(json, "waiting", json_integer(counts->waiting));
    json_object_set_new(json, "stopped", json_integer(counts->resting));
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
    json_t *json =
        json_pack("{s:I,s:o,s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o}", "task", (json_int_t)task->id,
                  "title", title_of(engine, task->id), "run", (json_int_t)run->id, "epoch",
                  (json_int_t)run->epoch, "state", run_state_word(run->state), "turn",
                  (json_int_t)(run->turn - run->cut_turns), "max_turns", (json_int_t)most,
                  "elapsed_ms", (json_int_t)elapsed, "timeout_ms", (json_int_t)limit, "progress",
                  turn && turn->progress >= 0 ? json_integer(turn->progress) : json_null(), "agent",
                  text_or_null(turn ? turn->agent : NULL), "gate", gate_json(engine, run->id));
    add_flow_fields(engine, run, json);
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
    {"confirm",  "otto target %u --confirm   (or change it first: otto target %u --help)"},
    {"review",   "otto approve %u   (or: otto diff %u, otto redo %u --note \"...\", otto reject %u --note \"...\")"},
    {"check",    "otto approve %u   (or: otto redo %u --note \"...\")"},
    {"alert",    "otto why %u"},
    {"refined",  "otto target %u   (or say it in other words: otto target %u --refine \"...\")"},
    {"blocked",  "otto answer %u \"...\"   (or: otto retry %u, otto skip %u)"},
    {"conflict", "otto diff %u; otto retry %u   (or: otto skip %u)"},
    {"failed",   "otto logs %u; otto retry %u   (or: otto skip %u)"},
    {"timeout",  "otto logs %u; otto retry %u   (or: otto edit %u --max-turns N)"},
    {"stuck",    "otto logs %u"},
    {"waiting",  "otto run --slots N   (or: otto edit %u --priority 0)"},
    {"rollback", "otto why %u"},
    {"paused",   "otto resume"},
    {"disk",     "free some space; otto goes on by itself"},
    {"delivery", "commit or stash your changes; otto delivers at the next run"},
};
/* clang-format on */

/* Puts the id into each %u of a hint. */
json_t *hint_of(const char *kind, TaskId task)
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

/* The same notice may have ended a task in several states, and each takes other commands. */
static const char *hint_kind(Engine *engine, const StoreNotice *notice)
{
    const Task *task = machine_task(engine->machine, notice->task);
    if (!task || !text_equal(notice->kind, "blocked"))
        return notice->kind;
    return task->state == TASK_FAILED    ? "failed"
           : task->state == TASK_TIMEOUT ? "timeout"
                                         : "blocked";
}

static json_t *notice_json(Engine *engine, const StoreNotice *notice)
{
    return json_pack("{s:I,s:s,s:I,s:o,s:o,s:I,s:I,s:o}", "id", (json_int_t)notice->id, "kind",
                     notice->kind, "task", (json_int_t)notice->task, "title",
                     notice->task ? title_of(engine, notice->task) : json_string(""), "text",
                     safe_string(notice->text, strlen(notice->text)), "at_ms",
                     (json_int_t)notice->at_ms, "closed_ms", (json_int_t)notice->closed_ms,
                     "command", hint_of(hint_kind(engine, notice), notice->task));
}

bool add_notice(void *user, const StoreNotice *notice)
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

/* Tasks that a person stopped: nothing waits for them, so they are easily forgotten. */
static json_t *stopped_json(Engine *engine, ProjectId project)
{
    json_t *list = json_array();
    for (TaskId i = 1; i <= machine_task_count(engine->machine); i++) {
        const Task *task = machine_task(engine->machine, i);
        if (task && task->project == project && machine_is_resting(engine->machine, i))
            json_array_append_new(
                list, json_pack("{s:I,s:o}", "task", (json_int_t)i, "title", title_of(engine, i)));
    }
    return list;
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
        json_object_set_new(json, "stopped", stopped_json(engine, project->id));
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
