/* From verified to landed, and back: merge, land, put the workspace away, roll back. */
#include "base/log.h"
#include "engine/internal.h"
#include <stdlib.h>
#include <string.h>

/* Merging */

static void list_files(const json_t *conflicts, Str *out)
{
    size_t i;
    json_t *item;
    json_array_foreach(conflicts, i, item)
        str_addf(out, "%s%s", i ? "\n" : "", json_text(item, "path", "?"));
}

static void on_conflict(const Act *act, const json_t *result)
{
    CLEANUP(str_done) Str files = STR_INIT;
    list_files(json_object_get(result, "conflicts"), &files);
    json_t *says =
        json_pack("{s:s,s:s,s:s}", "files", str_text(&files), "theirs",
                  json_text(result, "explain", ""), "target_ref", json_text(result, "old", ""));
    char *text = json_write(says);
    engine_write(act->engine, &(Write){.kind = WRITE_RUN_TEXT,
                                       .run_text = {.run = act->run,
                                                    .says = text ? text : "{}",
                                                    .says_kind = SAYS_CONFLICT}});
    free(text);
    json_decref(says);
    Event event = act_event(act, EV_MERGE_CONFLICT);
    event.text = str_text(&files);
    event.ref = json_text(result, "old", "");
    (void)engine_post(act->engine, &event); /* refused only when old */
}

static void on_merge_clean(const Act *act, const json_t *result)
{
    Event event = act_event(act, EV_MERGE_CLEAN);
    event.a = json_flag(result, "same_tree", false);
    event.ref = json_text(result, "old", "");
    event.ref2 = json_text(result, "new", "");
    (void)engine_post(act->engine, &event); /* refused only when old */
}

static void on_unlocked(void *user, const json_t *result, const Err *err)
{
    (void)user;
    if (!result)
        log_line("unlock.failed error=\"%s\"", err->text);
}

/* A git that was killed may have left its lock in the hub. */
static void unlock_hub(const Act *act)
{
    const ProjectInfo *project = project_info(act->engine, act->project);
    if (project)
        job_start(act->engine->jobs, "unlock", json_pack("{s:s}", "hub", project->hub), on_unlocked,
                  NULL);
}

static void on_merged(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    if (!result)
        unlock_hub(act);
    const char *state = json_text(result, "state", "");
    if (!result) {
        post_failure(act, EV_MERGE_FAILED, err);
    } else if (text_equal(state, "clean")) {
        on_merge_clean(act, result);
    } else if (text_equal(state, "conflict")) {
        on_conflict(act, result);
    } else if (text_equal(state, "empty")) {
        Event event = act_event(act, EV_MERGE_EMPTY);
        (void)engine_post(act->engine, &event); /* refused only when old */
    } else {
        Event event = act_event(act, EV_MERGE_FAILED);
        event.text = json_text(result, "why", "the target cannot be merged into");
        (void)engine_post(act->engine, &event); /* refused only when old */
    }
    free(act);
}

void merge_run(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText words = {.title = ""};
    Err ignored = {0};
    if (!store_task_text_get(engine->store, run->task, &arena, &words, &ignored))
        words.title = "";
    char *message = arena_printf(&arena, "Merge task %u: %s", run->task, words.title);
    json_t *in =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "hub", project->hub, "repo", project->path,
                  "target", project->target, "commit", run->commit, "base", run->base, "message",
                  message, "task", (json_int_t)run->task, "run", (json_int_t)run->id);
    job_start(engine->jobs, "merge", in, on_merged, act_new(engine, effect));
}

/* Landing */

static void note_landing(const Act *act, const Run *run)
{
    engine_write(act->engine, &(Write){.kind = WRITE_LANDING,
                                       .landing = {.task = act->task,
                                                   .run = act->run,
                                                   .commit = run->commit,
                                                   .old_tip = run->old_tip,
                                                   .new_tip = run->new_tip,
                                                   .at_ms = engine_now(act->engine)}});
}

static void on_land(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    ProjectInfo *project = project_info(act->engine, act->project);
    const Run *run = machine_run(act->engine->machine, act->run);
    if (!result) {
        unlock_hub(act);
        post_failure(act, EV_LAND_FAILED, err);
    } else if (text_equal(json_text(result, "state", ""), "landed")) {
        if (run)
            note_landing(act, run);
        Event event = act_event(act, EV_LANDED);
        event.a = text_equal(json_text(result, "delivered", ""), "yes");
        event.text = json_text(result, "why", NULL);
        event.ref = json_text(result, "tip", "");
        event.ref2 = act->merge;
        (void)engine_post(act->engine, &event); /* refused only when old */
        if (project)
            project_note_delivery(act->engine, project, result);
        notices_close(act->engine, act->task);
    } else {
        Event event = act_event(act, EV_LAND_MOVED);
        event.ref2 = act->merge;
        (void)engine_post(act->engine, &event); /* refused only when old */
    }
    free(act);
}

void land_run(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:s}", "hub", project->hub, "repo",
                           project->path, "target", project->target, "old", run->old_tip, "new",
                           run->new_tip, "task", (json_int_t)run->task, "commit", run->commit);
    job_start(engine->jobs, "land", in, on_land, act_new(engine, effect));
}

/* Putting the workspace away */

static void on_retired(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    Event event = act_event(act, EV_RETIRED);
    event.a = result ? json_flag(result, "kept", false) : true;
    event.text = result ? json_text(result, "why", NULL) : err->text;
    (void)engine_post(act->engine, &event); /* refused only when old */
    free(act);
}

void retire_run(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreRunText text = {0};
    StoreTaskText words = {.title = ""};
    Err err = {0};
    if (!store_run_text_get(engine->store, effect->run, &arena, &text, &err) ||
        !store_task_text_get(engine->store, effect->task, &arena, &words, &err)) {
        on_retired(act_new(engine, effect), NULL, &err);
        return;
    }
    json_t *in =
        json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:I,s:I,s:s,s:s}", "hub", project->hub, "path",
                  text.workspace_path, "kind", text.workspace_kind, "run", (json_int_t)run->id,
                  "epoch", (json_int_t)run->epoch, "root", engine->path_work, "trash",
                  engine->path_trash, "days", (json_int_t)project->settings.trash.days, "task",
                  (json_int_t)run->task, "title", words.title, "snapshot", run->commit);
    if (run->new_tip[0])
        json_object_set_new(
            in, "landed", json_pack("{s:s,s:s}", "commit", run->commit, "target", project->target));
    job_start(engine->jobs, "retire", in, on_retired, act_new(engine, effect));
}

/* Rolling back: compute the opposite of the landed merge, then land that. */

typedef struct Undo {
    Act act;
    char landed[HASH_SIZE], made[HASH_SIZE];
    RunId run;
} Undo;

static void undo_failed(Undo *undo, const char *why)
{
    Event event = act_event(&undo->act, EV_ROLLBACK_FAILED);
    event.run = 0;
    event.text = why;
    (void)engine_post(undo->act.engine, &event); /* refused only when it is not being undone */
    free(undo);
}

static void on_undone(void *user, const json_t *result, const Err *err)
{
    Undo *undo = user;
    Engine *engine = undo->act.engine;
    ProjectInfo *project = project_info(engine, undo->act.project);
    if (!result || !text_equal(json_text(result, "state", ""), "landed")) {
        undo_failed(undo, result ? "the target moved meanwhile; try again" : err->text);
        return;
    }
    engine_write(engine, &(Write){.kind = WRITE_LANDING_UNDO,
                                  .landing = {.run = undo->run,
                                              .new_tip = undo->made,
                                              .at_ms = engine_now(engine)}});
    if (project)
        project_note_delivery(engine, project, result);
    Event event = act_event(&undo->act, EV_ROLLED_BACK);
    event.run = 0;
    event.ref = undo->made;
    (void)engine_post(engine, &event); /* refused only when it is not being undone */
    free(undo);
}

static void on_undo_computed(void *user, const json_t *result, const Err *err)
{
    Undo *undo = user;
    const ProjectInfo *project = project_info(undo->act.engine, undo->act.project);
    if (!result || !text_equal(json_text(result, "state", ""), "clean")) {
        undo_failed(undo, result ? json_text(result, "why", "later work changed the same lines")
                                 : err->text);
        return;
    }
    (void)snprintf(undo->made, HASH_SIZE, "%s", json_text(result, "new", "")); /* a hash */
    json_t *in =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:s}", "hub", project->hub, "repo", project->path,
                  "target", project->target, "old", json_text(result, "old", ""), "new", undo->made,
                  "task", (json_int_t)undo->act.task, "commit", undo->landed);
    job_start(undo->act.engine->jobs, "land", in, on_undone, undo);
}

static bool find_landing(void *user, const StoreLanding *landing)
{
    Undo *undo = user;
    if (landing->undone_ms)
        return true;
    (void)snprintf(undo->landed, HASH_SIZE, "%s", landing->new_tip); /* a hash */
    undo->run = landing->run;
    return false;
}

void rollback_task(Engine *engine, const Effect *effect)
{
    const ProjectInfo *project = project_info(engine, effect->project);
    Undo *undo = mem_alloc(sizeof *undo);
    undo->act = (Act){engine, 0, effect->task, effect->project, 0, 0, ""};
    Err err = {0};
    if (!store_landing_list_task(engine->store, effect->task, find_landing, undo, &err) ||
        !undo->landed[0]) {
        undo_failed(undo, err.kind ? err.text : "nothing of it has landed");
        return;
    }
    char message[96];
    (void)snprintf(message, sizeof message, "Roll back task %u", effect->task); /* always fits */
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s}", "hub", project->hub, "repo", project->path,
                           "target", project->target, "landed", undo->landed, "message", message);
    job_start(engine->jobs, "rollback", in, on_undo_computed, undo);
}
