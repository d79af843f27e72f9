/* Snapshots for the doors: what was done (D-179). */
#include "engine/api_internal.h"
#include <string.h>

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

static json_t *landed_of(Engine *engine, TaskId task, int64_t *at_ms)
{
    Lister lister = {engine, json_array()};
    Err ignored = {0};
    IGNORE(store_landing_list_task(engine->store, task, add_landed, &lister, &ignored));
    const json_t *first = json_array_get(lister.list, 0);
    bool stands = first && json_is_null(json_object_get(first, "rolled_back_ms"));
    json_t *commit = stands ? json_string(json_text(first, "new", "")) : json_null();
    *at_ms = stands ? json_int(first, "at_ms", 0) : 0;
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
    task_note(tally->engine, task, &note);
    int64_t before = tally->took_ms;
    IGNORE(store_run_list(tally->engine->store, task->id, add_times, tally, &ignored));
    if (task->turns_used) {
        tally->total += task->turns_used;
        tally->most = MAX(tally->most, (int64_t)task->turns_used);
        tally->least = tally->finished++ ? MIN(tally->least, (int64_t)task->turns_used)
                                         : (int64_t)task->turns_used;
    }
    int64_t landed_ms = 0;
    json_t *commit = landed_of(tally->engine, task->id, &landed_ms);
    bool is_left_out = task->tags & TAG_LATER && !task->is_wanted && task->state == TASK_PENDING;
    tally->landed += !json_is_null(commit);
    json_array_append_new(
        tally->items,
        json_pack("{s:I,s:o,s:s,s:I,s:I,s:o,s:I,s:b,s:s}", "id", (json_int_t)task->id, "title",
                  safe_string(text->title, strlen(text->title)), "state",
                  task_state_word(task->state), "turns", (json_int_t)task->turns_used, "took_ms",
                  (json_int_t)(tally->took_ms - before), "commit", commit, "landed_ms",
                  (json_int_t)landed_ms, "left_out", is_left_out, "note", str_text(&note)));
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
