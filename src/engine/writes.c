/* Rows for the next commit: copied when they are made, stored in order, kept until that worked. One
 * row of the table per kind: which texts are copied, and how it is stored. */
#include "base/clock.h"
#include "engine/internal.h"
#include <stddef.h>

enum { LAZY_COMMIT_MS = 200, MOST_TEXTS = 12 }; /* facts nobody waits for are stored together */

static void copy_text(Engine *engine, const char **text)
{
    if (*text)
        *text = arena_strdup(&engine->turn_arena, *text);
}

/* Lists */

static void copy_objective(Engine *engine, Write *w)
{
    StoreObjective *all = &w->objective.all;
    Arena *arena = &engine->turn_arena;
    StoreItem *items = arena_alloc(arena, (all->item_count + 1) * sizeof *items);
    StoreRequirement *list = arena_alloc(arena, (all->requirement_count + 1) * sizeof *list);
    for (size_t i = 0; i < all->item_count; i++) {
        items[i] = all->items[i];
        copy_text(engine, &items[i].text);
        copy_text(engine, &items[i].marker);
    }
    for (size_t i = 0; i < all->requirement_count; i++) {
        list[i] = all->requirements[i];
        copy_text(engine, &list[i].text);
        copy_text(engine, &list[i].criteria);
        copy_text(engine, &list[i].reason);
        copy_text(engine, &list[i].source);
    }
    all->items = items;
    all->requirements = list;
}

static void copy_checkpoints(Engine *engine, Write *w)
{
    size_t count = w->checkpoints.count;
    StoreCheckpoint *items = arena_alloc(&engine->turn_arena, (count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = w->checkpoints.items[i];
        copy_text(engine, &items[i].name);
        copy_text(engine, &items[i].command);
        copy_text(engine, &items[i].mode);
        copy_text(engine, &items[i].state);
    }
    w->checkpoints.items = items;
}

/* Storing */

static bool put_event(Store *store, Write *w, Err *err)
{
    return store_event_put(store, &w->event, &w->event.id, err);
}

static bool put_project_text(Store *store, Write *w, Err *err)
{
    return store_project_text_save(store, &w->project_text, err);
}

static bool put_task_text(Store *store, Write *w, Err *err)
{
    return store_task_text_save(store, &w->task_text, err);
}

static bool put_run_text(Store *store, Write *w, Err *err)
{
    return store_run_text_save(store, &w->run_text, err);
}

static bool add_dependency(Store *store, Write *w, Err *err)
{
    return store_dependency_add(store, &w->dependency, err);
}

static bool remove_dependency(Store *store, Write *w, Err *err)
{
    return store_dependency_remove(store, w->dependency.task, w->dependency.on, err);
}

static bool start_turn(Store *store, Write *w, Err *err)
{
    return store_turn_start(store, &w->turn, err);
}

static bool end_turn(Store *store, Write *w, Err *err)
{
    return store_turn_end(store, &w->turn, err) || err->kind == ERR_NOT_FOUND;
}

static bool put_gate(Store *store, Write *w, Err *err)
{
    return store_gate_put(store, &w->gate, err);
}

static bool put_landing(Store *store, Write *w, Err *err)
{
    return store_landing_put(store, &w->landing, err);
}

static bool undo_landing(Store *store, Write *w, Err *err)
{
    return store_landing_undo(store, w->landing.run, w->landing.new_tip, w->landing.at_ms, err) ||
           err->kind == ERR_NOT_FOUND;
}

static bool put_notice(Store *store, Write *w, Err *err)
{
    return store_notice_put(store, &w->notice, NULL, err);
}

static bool close_notice(Store *store, Write *w, Err *err)
{
    const StoreNotice *n = &w->notice;
    return n->task
               ? store_notice_close_task(store, n->task, n->kind, n->at_ms, n->answer, err)
               : store_notice_close_project(store, n->project, n->kind, n->at_ms, n->answer, err);
}

static bool put_usage(Store *store, Write *w, Err *err)
{
    return store_usage_put(store, &w->usage, err);
}

static bool put_discovery(Store *store, Write *w, Err *err)
{
    return store_discovery_put(store, &w->discovery, NULL, err);
}

static bool put_workflow(Store *store, Write *w, Err *err)
{
    return store_workflow_put(store, &w->workflow, err);
}

static bool put_step(Store *store, Write *w, Err *err)
{
    return store_step_put(store, &w->step, NULL, err);
}

static bool put_record(Store *store, Write *w, Err *err)
{
    return store_record_put(store, &w->record, NULL, err);
}

static bool put_objective(Store *store, Write *w, Err *err)
{
    return store_objective_save(store, w->objective.task, &w->objective.all, err);
}

static bool put_stage(Store *store, Write *w, Err *err)
{
    return store_stage_put(store, &w->stage, err);
}

static bool put_refinement(Store *store, Write *w, Err *err)
{
    return store_refinement_put(store, &w->refinement, NULL, err);
}

static bool apply_refinements(Store *store, Write *w, Err *err)
{
    const StoreRefinement *r = &w->refinement;
    return store_refinement_apply(store, r->task, r->at_ms, r->impact, r->touches, NULL, err);
}

static bool withdraw_refinement(Store *store, Write *w, Err *err)
{
    const StoreRefinement *r = &w->refinement;
    return store_refinement_withdraw(store, r->task, r->id, r->at_ms, err) ||
           err->kind == ERR_NOT_FOUND || err->kind == ERR_CONFLICT;
}

static bool put_profile(Store *store, Write *w, Err *err)
{
    return store_profile_save(store, &w->profile, err);
}

static bool put_experience(Store *store, Write *w, Err *err)
{
    return store_experience_put(store, &w->experience, err);
}

static bool judge_experience(Store *store, Write *w, Err *err)
{
    return store_experience_judge(store, w->experience.task, w->experience.quality, err);
}

static bool put_checkpoints(Store *store, Write *w, Err *err)
{
    return store_checkpoints_save(store, w->checkpoints.task, w->checkpoints.items,
                                  w->checkpoints.count, err);
}

static bool set_checkpoint(Store *store, Write *w, Err *err)
{
    const StoreCheckpoint *c = &w->checkpoint;
    return store_checkpoint_state(store, c->task, c->number, c->state, c->at_ms, err) ||
           err->kind == ERR_NOT_FOUND;
}

typedef struct WriteRow {
    bool (*put)(Store *store, Write *w, Err *err);
    size_t texts[MOST_TEXTS];               /* offsets; 0 ends */
    void (*copy)(Engine *engine, Write *w); /* lists; NULL none */
} WriteRow;

/* clang-format off */
#define T(member) offsetof(Write, member)
static const WriteRow rows[WRITE_KIND_COUNT] = {
    [WRITE_EVENT]             = {put_event, {T(event.data), T(event.decision), T(event.why), T(place.phase), T(place.checkpoint), T(place.status)}, NULL},
    [WRITE_PROJECT_TEXT]      = {put_project_text, {T(project_text.path), T(project_text.hub), T(project_text.target), T(project_text.name), T(project_text.settings_json)}, NULL},
    [WRITE_TASK_TEXT]         = {put_task_text, {T(task_text.title), T(task_text.body), T(task_text.key), T(task_text.checks_json), T(task_text.tags_json), T(task_text.size), T(task_text.agent), T(task_text.workflow), T(task_text.type)}, NULL},
    [WRITE_RUN_TEXT]          = {put_run_text, {T(run_text.workspace_path), T(run_text.workspace_kind), T(run_text.branch), T(run_text.agent), T(run_text.tag), T(run_text.token), T(run_text.mark), T(run_text.session), T(run_text.says)}, NULL},
    [WRITE_DEPENDENCY_ADD]    = {add_dependency, {0}, NULL},
    [WRITE_DEPENDENCY_REMOVE] = {remove_dependency, {0}, NULL},
    [WRITE_TURN_START]        = {start_turn, {T(turn.prompt_hash), T(turn.agent), T(turn.phase), T(turn.checkpoint)}, NULL},
    [WRITE_TURN_END]          = {end_turn, {T(turn.payload), T(turn.commit), T(turn.boot_id)}, NULL},
    [WRITE_GATE]              = {put_gate, {T(gate.stage), T(gate.name), T(gate.command), T(gate.output)}, NULL},
    [WRITE_LANDING]           = {put_landing, {T(landing.commit), T(landing.old_tip), T(landing.new_tip)}, NULL},
    [WRITE_LANDING_UNDO]      = {undo_landing, {T(landing.new_tip)}, NULL},
    [WRITE_NOTICE]            = {put_notice, {T(notice.kind), T(notice.text)}, NULL},
    [WRITE_NOTICE_CLOSE]      = {close_notice, {T(notice.kind), T(notice.answer)}, NULL},
    [WRITE_USAGE]             = {put_usage, {T(usage.agent), T(usage.model)}, NULL},
    [WRITE_DISCOVERY]         = {put_discovery, {T(discovery.text)}, NULL},
    [WRITE_WORKFLOW]          = {put_workflow, {T(workflow.name), T(workflow.text)}, NULL},
    [WRITE_STEP]              = {put_step, {T(step.phase), T(step.checkpoint), T(step.result), T(step.row), T(step.why), T(step.next), T(step.status), T(step.commit), T(step.agent), T(step.prompt_hash)}, NULL},
    [WRITE_RECORD]            = {put_record, {T(record.checkpoint), T(record.result), T(record.text), T(record.data)}, NULL},
    [WRITE_OBJECTIVE]         = {put_objective, {0}, copy_objective},
    [WRITE_STAGE]             = {put_stage, {T(stage.name), T(stage.objective), T(stage.moves), T(stage.reason), T(stage.outcome), T(stage.cause), T(stage.commit)}, NULL},
    [WRITE_REFINEMENT]        = {put_refinement, {T(refinement.text), T(refinement.impact), T(refinement.touches)}, NULL},
    [WRITE_REFINEMENT_APPLY]  = {apply_refinements, {T(refinement.impact), T(refinement.touches)}, NULL},
    [WRITE_REFINEMENT_WITHDRAW] = {withdraw_refinement, {0}, NULL},
    [WRITE_PROFILE]           = {put_profile, {T(profile.type), T(profile.settings), T(profile.observed)}, NULL},
    [WRITE_EXPERIENCE]        = {put_experience, {T(experience.type), T(experience.topic), T(experience.text), T(experience.quality)}, NULL},
    [WRITE_EXPERIENCE_JUDGE]  = {judge_experience, {T(experience.quality)}, NULL},
    [WRITE_CHECKPOINTS]       = {put_checkpoints, {0}, copy_checkpoints},
    [WRITE_CHECKPOINT_STATE]  = {set_checkpoint, {T(checkpoint.state)}, NULL},
};
/* clang-format on */

void engine_write(Engine *engine, const Write *write)
{
    if (engine->write_count == engine->write_size) {
        engine->write_size = engine->write_size ? engine->write_size * 2 : 32;
        engine->writes = mem_grow(engine->writes, engine->write_size, sizeof *engine->writes);
    }
    Write *kept = &engine->writes[engine->write_count++];
    *kept = *write;
    const WriteRow *row = &rows[write->kind];
    for (size_t i = 0; i < MOST_TEXTS && row->texts[i]; i++)
        copy_text(engine, (const char **)((char *)kept + row->texts[i]));
    if (row->copy)
        row->copy(engine, kept);
    if (!loop_timer_is_set(&engine->commit_timer))
        loop_timer_set(engine->loop, &engine->commit_timer, clock_mono_ms() + LAZY_COMMIT_MS);
}

bool write_store(Store *store, Write *w, Err *err)
{
    return rows[w->kind].put(store, w, err);
}
