/* Objectives: items, requirements, the single confirmation, the ledger of stages and refinements
 * while a task runs (B-11, B-99..B-115, B-227). */
#include "core/target.h"
#include "engine/api_internal.h"
#include "store/flow.h"
#include <string.h>

enum { REFINEMENT_BYTES = 64 * 1024, REFINEMENTS_MOST = 200 };

static json_t *safe_text(const char *text)
{
    return safe_string(text ? text : "", text ? strlen(text) : 0);
}

/* -- reading --------------------------------------------------------------------------------- */

static json_t *items_json(const StoreObjective *objective)
{
    json_t *list = json_array();
    for (size_t i = 0; i < objective->item_count; i++) {
        const StoreItem *item = &objective->items[i];
        json_array_append_new(
            list, json_pack("{s:I,s:b,s:o,s:o,s:I}", "number", (json_int_t)item->number,
                            "constraint", item->is_constraint, "text", safe_text(item->text),
                            "marker", safe_text(item->marker), "stage", (json_int_t)item->stage));
    }
    return list;
}

static json_t *requirements_json(const StoreObjective *objective)
{
    json_t *list = json_array();
    for (size_t i = 0; i < objective->requirement_count; i++) {
        const StoreRequirement *r = &objective->requirements[i];
        json_array_append_new(list,
                              json_pack("{s:I,s:I,s:o,s:o,s:I,s:f,s:f,s:o,s:o}", "number",
                                        (json_int_t)r->number, "item", (json_int_t)r->item, "text",
                                        safe_text(r->text), "criteria", safe_text(r->criteria),
                                        "weight", (json_int_t)r->weight, "coverage",
                                        (double)r->coverage / CONVERGENCE_ONE, "previous",
                                        (double)r->previous / CONVERGENCE_ONE, "reason",
                                        safe_text(r->reason), "source", safe_text(r->source)));
    }
    return list;
}

static bool add_stage(void *user, const StoreStage *stage)
{
    json_t *json = json_pack(
        "{s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I}", "stage", (json_int_t)stage->stage,
        "attempt", (json_int_t)stage->attempt, "name", safe_text(stage->name), "objective",
        safe_text(stage->objective), "moves", safe_text(stage->moves), "reason",
        safe_text(stage->reason), "outcome", safe_text(stage->outcome), "cause",
        safe_text(stage->cause), "commit", text_or_null(stage->commit), "started_ms",
        (json_int_t)stage->started_ms, "ended_ms", (json_int_t)stage->ended_ms);
    json_object_set_new(json, "before", json_real((double)stage->before / CONVERGENCE_ONE));
    json_object_set_new(json, "after", json_real((double)stage->after / CONVERGENCE_ONE));
    json_array_append_new(user, json);
    return true;
}

static bool add_refinement(void *user, const StoreRefinement *r)
{
    json_array_append_new(
        user, json_pack("{s:I,s:o,s:o,s:o,s:I,s:I,s:I}", "id", (json_int_t)r->id, "text",
                        safe_text(r->text), "impact", safe_text(r->impact), "touches",
                        safe_text(r->touches), "at_ms", (json_int_t)r->at_ms, "applied_ms",
                        (json_int_t)r->applied_ms, "withdrawn_ms", (json_int_t)r->withdrawn_ms));
    return true;
}

/* The same rows as core/ knows them, for the confirmation and the checks. */
static void target_of(const StoreObjective *objective, Arena *arena, Target *target)
{
    target->items = arena_alloc(arena, (objective->item_count + 1) * sizeof *target->items);
    target->requirements =
        arena_alloc(arena, (objective->requirement_count + 1) * sizeof *target->requirements);
    target->item_count = objective->item_count;
    target->requirement_count = objective->requirement_count;
    for (size_t i = 0; i < objective->item_count; i++) {
        const StoreItem *item = &objective->items[i];
        target->items[i] =
            (TargetItem){item->number, item->is_constraint, item->text, item->marker};
    }
    for (size_t i = 0; i < objective->requirement_count; i++) {
        const StoreRequirement *r = &objective->requirements[i];
        target->requirements[i] =
            (TargetRequirement){r->number, r->item, r->text, r->criteria, r->weight};
    }
}

static void add_confirmation(const Task *task, const StoreObjective *objective,
                             const StoreTaskText *text, Arena *arena, json_t *json)
{
    Target target;
    CLEANUP(str_done) Str question = STR_INIT;
    json_t *problems = json_array();
    target_of(objective, arena, &target);
    if (objective->item_count)
        target_confirmation(&target, text->title, task->id, &question);
    TextList found = target_check(&target, arena);
    for (size_t i = 0; i < found.count; i++)
        json_array_append_new(problems, safe_text(found.items[i]));
    json_object_set_new(json, "confirmation", safe_text(str_text(&question)));
    json_object_set_new(json, "problems", problems);
}

/* Does a phase write the objective down, or is the task planned as it stands? */
static bool has_objective_phase(const Workflow *flow)
{
    for (unsigned i = 0; i < flow->phase_count; i++)
        if (text_equal(flow->phases[i].answer, "objective"))
            return true;
    return false;
}

static bool reply_target(Call *call)
{
    Engine *engine = call->engine;
    const Task *task = call_task(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    StoreObjective objective = {0};
    if (!task || !engine_commit(engine, &call->err) ||
        !store_task_text_get(engine->store, task->id, &arena, &text, &call->err) ||
        !store_objective_get(engine->store, task->id, &arena, &objective, &call->err))
        return false;
    json_t *stages = json_array(), *refinements = json_array();
    bool is_confirmed = task->is_confirmed ||
                        machine_project(engine->machine, task->project)->limits.auto_confirm ||
                        !text_equal(machine_status_word(engine->machine, task), "draft");
    json_t *json = json_pack("{s:I,s:o,s:s,s:b,s:b,s:o,s:o,s:o,s:o}", "task", (json_int_t)task->id,
                             "title", safe_text(text.title), "state", task_state_word(task->state),
                             "filled", task->is_filled, "confirmed", is_confirmed, "items",
                             items_json(&objective), "requirements", requirements_json(&objective),
                             "stages", stages, "refinements", refinements);
    add_flow_fields(engine, machine_run(engine->machine, task->run), json);
    const Workflow *flow = machine_task_workflow(engine->machine, task);
    json_object_set_new(json, "workflow", json_string(flow->name));
    json_object_set_new(json, "status", json_string(machine_status_word(engine->machine, task)));
    json_object_set_new(json, "is_used", json_boolean(workflow_has_command(flow, "target")));
    json_object_set_new(json, "is_found", json_boolean(has_objective_phase(flow)));
    add_confirmation(task, &objective, &text, &arena, json);
    if (store_stage_list(engine->store, task->id, add_stage, stages, &call->err) &&
        store_refinement_list(engine->store, task->id, true, add_refinement, refinements,
                              &call->err)) {
        reply_json(call, json);
        return true;
    }
    json_decref(json);
    return false;
}

bool api_target_show(Call *call)
{
    return reply_target(call);
}

/* -- changes -------------------------------------------------------------------------------- */

/* The single confirmation: what is clear enough will be planned (B-11, B-103). */
static void mark_confirmed(StoreObjective *objective)
{
    for (size_t i = 0; i < objective->item_count; i++)
        if (!objective->items[i].is_constraint && !*objective->items[i].marker)
            objective->items[i].marker = "confirmed";
}

static bool has_goal(const StoreObjective *objective)
{
    for (size_t i = 0; i < objective->item_count; i++)
        if (!objective->items[i].is_constraint && target_is_filled(objective->items[i].text))
            return true;
    return false;
}

/* While agents work the objective moves by refinements alone: they are judged between two steps
 * instead of changing the ground under one (B-104, B-105). While a person is asked, nobody works.
 */
static bool may_edit(Call *call, const Task *task)
{
    const Run *run = machine_run(call->engine->machine, task->run);
    if (task->state != TASK_ACTIVE || (run && run->state == RUN_ASKING))
        return true;
    return err_set(&call->err, ERR_CONFLICT,
                   "#%u is at work: its objective changes by refinements now (otto target %u "
                   "--refine \"...\")",
                   task->id, task->id);
}

static bool is_written(Engine *engine, TaskId task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    return store_task_text_get(engine->store, task, &arena, &text, NULL) &&
           objective_is_written(text.title, text.body);
}

static bool store_edits(Call *call, const Task *task, StoreObjective *objective, bool is_edited,
                        bool is_confirming)
{
    bool is_filled = has_goal(objective) || is_written(call->engine, task->id);
    bool is_confirmed = is_confirming || (task->is_confirmed && !is_edited);
    Event event = {.kind = EV_TARGET_SET,
                   .project = task->project,
                   .task = task->id,
                   .a = is_filled,
                   .b = is_confirmed,
                   .text = is_confirming ? "confirmed by a person" : "changed by a person"};
    if (!machine_check(call->engine->machine, &event, &call->err))
        return false;
    if (is_confirming)
        mark_confirmed(objective);
    if (is_edited || objective->item_count)
        engine_write(call->engine, &(Write){.kind = WRITE_OBJECTIVE,
                                            .objective = {.task = task->id, .all = *objective}});
    if (is_confirming) /* a task that is blocked stays in the inbox: this is no answer to that */
        engine_write(call->engine, &(Write){.kind = WRITE_NOTICE_CLOSE,
                                            .notice = {.task = task->id,
                                                       .kind = "confirm",
                                                       .at_ms = engine_now(call->engine)}});
    return wish(call, &event);
}

static bool edit_target(Call *call, const Task *task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreObjective objective = {0};
    const json_t *edits = json_object_get(call->body, "edits");
    bool is_edited = json_array_size(edits) > 0;
    return (!is_edited || may_edit(call, task)) &&
           objective_edit(call, task->id, edits, &arena, &objective) &&
           store_edits(call, task, &objective, is_edited, json_flag(call->body, "confirm", false));
}

bool api_target_edit(Call *call)
{
    const Task *task = call_task(call);
    bool is_satisfied = json_flag(call->body, "satisfy", false);
    bool has_edits =
        json_object_get(call->body, "edits") || json_flag(call->body, "confirm", false);
    if (!task || !engine_commit(call->engine, &call->err))
        return false;
    if (!is_satisfied && !has_edits)
        return err_set(&call->err, ERR_USAGE, "nothing was asked for: edits, confirm or satisfy");
    if (has_edits && !edit_target(call, task))
        return false;
    Event event = {
        .kind = EV_COMMAND, .project = task->project, .task = task->id, .text = "satisfy"};
    if (is_satisfied && !wish(call, &event))
        return false;
    return reply_target(call);
}

/* -- refinements ----------------------------------------------------------------------------- */

static bool count_waiting(void *user, const StoreRefinement *refinement)
{
    size_t *count = user;
    (void)refinement;
    (*count)++;
    return true;
}

static bool is_to_confirm(const Engine *engine, const Task *task)
{
    const Run *run = machine_run(engine->machine, task->run);
    return run && run->state == RUN_ASKING &&
           text_equal(engine_phase(engine, run)->name, "confirm");
}

static bool queue_refinement(Call *call, const Task *task, const char *text)
{
    const Workflow *flow = machine_task_workflow(call->engine->machine, task);
    size_t waiting = 0;
    if (!workflow_has_command(flow, "target"))
        return err_set(&call->err, ERR_CONFLICT,
                       "workflow '%s' has no objective to refine; 'otto edit %u' changes its text, "
                       "'otto retry %u --note' tells the agent",
                       flow->name, task->id, task->id);
    if (!store_refinement_list(call->engine->store, task->id, false, count_waiting, &waiting,
                               &call->err))
        return false;
    if (waiting >= REFINEMENTS_MOST)
        return err_set(&call->err, ERR_CONFLICT, "%d refinements wait already", REFINEMENTS_MOST);
    Event event = {.kind = EV_REFINED,
                   .project = task->project,
                   .task = task->id,
                   .a = (int64_t)waiting + 1,
                   .text = text};
    if (!machine_check(call->engine->machine, &event, &call->err))
        return false;
    engine_write(call->engine, &(Write){.kind = WRITE_REFINEMENT,
                                        .refinement = {.task = task->id,
                                                       .text = text,
                                                       .impact = "",
                                                       .touches = "",
                                                       .at_ms = engine_now(call->engine)}});
    if (is_to_confirm(call->engine, task))
        notices_close(call->engine, task->id); /* it is asked again, about what comes of it */
    return wish(call, &event);                 /* what is done is taken up again by it (B-33) */
}

typedef struct Wanted {
    int64_t id;
    size_t waiting;
    bool is_found, is_waiting;
} Wanted;

static bool look_for(void *user, const StoreRefinement *refinement)
{
    Wanted *wanted = user;
    bool is_waiting = !refinement->applied_ms && !refinement->withdrawn_ms;
    wanted->waiting += is_waiting;
    if (refinement->id == wanted->id) {
        wanted->is_found = true;
        wanted->is_waiting = is_waiting;
    }
    return true;
}

/* B-115: only what still waits can be taken back. */
static bool withdraw(Call *call, const Task *task, int64_t id)
{
    Wanted wanted = {.id = id};
    if (!store_refinement_list(call->engine->store, task->id, true, look_for, &wanted, &call->err))
        return false;
    if (!wanted.is_found)
        return err_set(&call->err, ERR_NOT_FOUND, "#%u has no refinement %lld", task->id,
                       (long long)id);
    if (!wanted.is_waiting)
        return err_set(&call->err, ERR_CONFLICT, "refinement %lld was applied or withdrawn already",
                       (long long)id);
    engine_write(
        call->engine,
        &(Write){.kind = WRITE_REFINEMENT_WITHDRAW,
                 .refinement = {.id = id, .task = task->id, .at_ms = engine_now(call->engine)}});
    Event event = {.kind = EV_REFINED,
                   .project = task->project,
                   .task = task->id,
                   .a = (int64_t)wanted.waiting - 1,
                   .text = "withdrawn"};
    return wish(call, &event);
}

bool api_refine(Call *call)
{
    const Task *task = call_task(call);
    const char *text = json_text(call->body, "text", NULL);
    int64_t id = json_int(call->body, "withdraw", 0);
    if (!task || !engine_commit(call->engine, &call->err))
        return false;
    if (!id && (!text || !text[strspn(text, " \t\n")]))
        return err_set(&call->err, ERR_USAGE, "the refinement is empty");
    if (text && strlen(text) > REFINEMENT_BYTES)
        return err_set(&call->err, ERR_TOO_BIG, "the refinement is longer than %d bytes",
                       REFINEMENT_BYTES);
    if (id ? !withdraw(call, task, id) : !queue_refinement(call, task, text))
        return false;
    return reply_target(call);
}
