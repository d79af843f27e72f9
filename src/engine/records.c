/* Records that the engine writes: texts of steps, the report, the way back to a good commit. */
#include "base/log.h"
#include "core/plan.h"
#include "engine/internal.h"
#include "record/record.h"
#include <stdlib.h>
#include <string.h>

void record_put(Engine *engine, const Run *run, RecordKind kind, const char *result,
                const char *text, const json_t *data)
{
    char *json = data ? json_write(data) : NULL;
    engine_write(engine, &(Write){.kind = WRITE_RECORD,
                                  .record = {.task = run->task,
                                             .run = run->id,
                                             .epoch = run->epoch,
                                             .turn = run->turn,
                                             .stage = run->stage,
                                             .kind = kind,
                                             .checkpoint = engine_checkpoint(engine, run),
                                             .result = result ? result : "",
                                             .text = text ? text : "",
                                             .data = json ? json : "",
                                             .at_ms = engine_now(engine)}});
    free(json);
}

/* Steps of the newest plan that are done, by what the work answered since. */
typedef struct Progress {
    json_t *plan;
    unsigned done;
} Progress;

static bool add_progress(void *user, const StoreRecord *record)
{
    Progress *progress = user;
    bool is_plan = record->kind == RECORD_PLAN;
    if (!is_plan && (record->kind != RECORD_NOTES || !progress->plan))
        return true;
    json_t *data =
        record->data && *record->data ? json_read(record->data, strlen(record->data), NULL) : NULL;
    if (is_plan) {
        json_decref(progress->plan);
        progress->plan = data;
        progress->done = 0;
        return true;
    }
    json_t *answer = json_is_object(data) ? data : json_object();
    json_object_set_new(answer, "result", json_string(record->result));
    progress->done =
        plan_completed(answer, progress->done, (unsigned)plan_step_count(progress->plan));
    json_decref(answer);
    return true;
}

void record_facts(Engine *engine, TaskId id, Arena *arena, RecordFacts *facts)
{
    const Task *task = machine_task(engine->machine, id);
    const Run *run = task ? machine_run(engine->machine, task->run) : NULL;
    const ProjectInfo *project = task ? project_info(engine, task->project) : NULL;
    CLEANUP(str_done) Str why = STR_INIT;
    *facts = (RecordFacts){.now_ms = engine_now(engine)};
    if (!task || !project)
        return;
    task_note(engine, task, &why);
    facts->project = project->name;
    facts->target = project->target;
    facts->workflow = machine_task_workflow(engine->machine, task)->name;
    facts->state = task_state_word(task->state);
    facts->status = machine_status_word(engine->machine, task);
    facts->why = arena_strdup(arena, str_text(&why));
    facts->branch = arena_printf(arena, "otto/task-%u", id);
    Progress progress = {0};
    Err ignored = {0};
    if (store_record_list(engine->store, id, RECORD_KIND_COUNT, add_progress, &progress,
                          &ignored) &&
        progress.plan) {
        facts->has_completed_steps = true;
        facts->completed_steps = progress.done;
    }
    json_decref(progress.plan);
    if (run) {
        facts->phase = engine_phase(engine, run)->name;
        facts->checkpoint = engine_checkpoint(engine, run);
    }
}

/* The report */

static void keep_report(const Act *act, RecordFacts *facts)
{
    Engine *engine = act->engine;
    const Run *run = machine_run(engine->machine, act->run);
    CLEANUP(str_done) Str report = STR_INIT;
    CLEANUP(str_done) Str summary = STR_INIT;
    Err err = {0};
    if (record_report(engine->store, act->task, facts, RECORD_AS_MARKDOWN, &report, &err))
        record_put(engine, run, RECORD_REPORT, "(generated)", str_text(&report), NULL);
    else
        log_line("report.failed task=%u error=\"%s\"", act->task, err.text);
    if (record_summary(engine->store, act->task, facts, RECORD_LAYOUT_OTTO, &summary, &err))
        record_put(engine, run, RECORD_SUMMARY, "", str_text(&summary), NULL);
}

static void on_log(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    RecordFacts facts;
    record_facts(act->engine, act->task, &arena, &facts);
    const json_t *commits = json_object_get(result, "commits");
    size_t count = MIN(json_array_size(commits), (size_t)RECORD_LOG_MAX);
    const char **lines = arena_alloc(&arena, (count + 1) * sizeof *lines);
    for (size_t i = 0; i < count; i++) {
        const json_t *commit = json_array_get(commits, i);
        lines[i] = arena_printf(&arena, "%.10s %s", json_text(commit, "commit", ""),
                                json_text(commit, "subject", ""));
    }
    facts.log = lines;
    facts.log_count = count;
    if (!result)
        log_line("report.log task=%u error=\"%s\"", act->task, err->text); /* goes without */
    keep_report(act, &facts);
    Event event = act_event(act, EV_REPORTED);
    (void)engine_post(act->engine, &event); /* refused only when old */
    free(act);
}

void run_report(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    Act *act = act_new(engine, effect);
    if (!run->commit[0] || !project) {
        Err none = {0};
        on_log(act, NULL, &none);
        return;
    }
    json_t *in = json_pack("{s:s,s:s,s:s,s:i}", "hub", project->hub, "base", run->base, "commit",
                           run->commit, "limit", RECORD_LOG_MAX);
    job_start(engine->jobs, "log", in, on_log, act);
}

/* Back to the good commit (B-76..B-78): the workspace goes to the trash with proof, the snapshots
 * stay in the hub, the target is never touched. */

static void on_aside(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    Err kept = {0};
    if (result && json_flag(result, "kept", false)) {
        (void)err_set(&kept, ERR_REFUSED, "%s", json_text(result, "why", "it cannot be saved"));
        post_failure(act, EV_RESET_FAILED, &kept); /* nothing is thrown away without proof */
    } else if (!result) {
        post_failure(act, EV_RESET_FAILED, err);
    } else {
        Event event = act_event(act, EV_RESET_DONE);
        event.text = json_text(result, "why", NULL);
        (void)engine_post(act->engine, &event); /* refused only when old */
    }
    free(act);
}

void reset_run(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    Act *act = act_new(engine, effect);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreRunText text = {0};
    Err err = {0};
    if (!run->has_workspace) {
        (void)err_set(&err, ERR_REFUSED, "there is no workspace of its own to roll back");
        on_aside(act, NULL, &err);
        return;
    }
    if (!store_run_text_get(engine->store, effect->run, &arena, &text, &err)) {
        on_aside(act, NULL, &err);
        return;
    }
    json_t *in =
        json_pack("{s:b,s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:I,s:I,s:s}", "aside", true, "hub",
                  project->hub, "path", text.workspace_path, "kind", text.workspace_kind, "run",
                  (json_int_t)run->id, "epoch", (json_int_t)run->epoch, "root", engine->path_work,
                  "trash", engine->path_trash, "days", (json_int_t)project->settings.trash.days,
                  "task", (json_int_t)run->task, "snapshot", run->commit);
    job_start(engine->jobs, "retire", in, on_aside, act);
}
