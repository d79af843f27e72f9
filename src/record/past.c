/* Reading a task's past: the rows of store.h. See past.h. */
#include "record/past.h"
#include "core/profile.h"
#include "record/plain.h"
#include <stdlib.h>
#include <string.h>

void *past_push(void *rows, size_t *count, size_t *size, size_t item_size)
{
    if (*count == *size) {
        *size = *size ? *size * 2 : 16;
        rows = mem_grow(rows, *size, item_size);
    }
    memset((char *)rows + *count * item_size, 0, item_size);
    (*count)++;
    return rows;
}

void past_done(Past *past)
{
    free(past->steps.rows);
    free(past->records.rows);
    free(past->stages.rows);
    free(past->refinements.rows);
    free(past->experiences.rows);
    free(past->checks.rows);
    free(past->landings.rows);
    free(past->gates.rows);
    free(past->notices.rows);
    free(past->discoveries.rows);
    free(past->dependencies.rows);
    arena_done(&past->arena);
    *past = (Past){0};
}

/* A little more than is shown, so that a cut is noticed. */
const char *past_keep(Past *past, const char *text)
{
    size_t length = text ? strnlen(text, RECORD_TEXT_MAX + 8) : 0;
    return arena_strndup(&past->arena, text ? text : "", length);
}

/* ---- the task itself ---- */

static bool take_task(void *user, const Task *task, const StoreTaskText *text)
{
    Past *past = user;
    past->task = *task;
    past->text = *text;
    past->text.title = past_keep(past, text->title);
    past->text.body = past_keep(past, text->body);
    past->text.key = past_keep(past, text->key);
    past->text.checks_json = past_keep(past, text->checks_json);
    past->text.tags_json = past_keep(past, text->tags_json);
    past->text.size = past_keep(past, text->size);
    past->text.agent = past_keep(past, text->agent);
    past->text.workflow = past_keep(past, text->workflow);
    past->text.type = past_keep(past, text->type);
    return false;
}

static bool load_task(Past *past, Store *store, TaskId id, Err *err)
{
    StoreTaskFilter filter = {.after = id - 1, .limit = 1, .with_deleted = true};
    if (id && !store_task_list(store, &filter, NULL, take_task, past, err))
        return false;
    if (!id || past->task.id != id)
        return err_set(err, ERR_NOT_FOUND, "there is no task %u", id);
    return store_project_text_get(store, past->task.project, &past->arena, &past->project, err);
}

static bool take_run(void *user, const Run *run, const StoreRunText *text)
{
    Past *past = user;
    past->runs++;
    past->spent_ms += run->spent_ms;
    past->run = *run;
    past->run_text = (StoreRunText){.run = run->id,
                                    .branch = past_keep(past, text->branch),
                                    .agent = past_keep(past, text->agent),
                                    .workspace_path = past_keep(past, text->workspace_path)};
    return true;
}

static bool take_gate(void *user, const StoreGateResult *result)
{
    Past *past = user;
    if (past->gates.count >= PAST_ROWS_MAX)
        return false;
    StoreGateResult *row = PAST_PUSH(past->gates);
    *row = *result;
    row->stage = past_keep(past, result->stage);
    row->name = past_keep(past, result->name);
    row->command = past_keep(past, result->command);
    char *output = arena_alloc(&past->arena, result->output_length + 1);
    for (size_t i = 0; i < result->output_length; i++)
        output[i] = result->output[i] ? result->output[i] : '\x01'; /* shown as unknown */
    row->output = output;
    return true;
}

static bool take_landing(void *user, const StoreLanding *landing)
{
    Past *past = user;
    if (past->landings.count >= PAST_ROWS_MAX)
        return false;
    StoreLanding *row = PAST_PUSH(past->landings);
    *row = *landing;
    row->commit = past_keep(past, landing->commit);
    row->old_tip = past_keep(past, landing->old_tip);
    row->new_tip = past_keep(past, landing->new_tip);
    row->undone_by = past_keep(past, landing->undone_by);
    return true;
}

static bool take_notice(void *user, const StoreNotice *notice)
{
    Past *past = user;
    if (past->notices.count >= PAST_ROWS_MAX)
        return false;
    StoreNotice *row = PAST_PUSH(past->notices);
    *row = *notice;
    row->kind = past_keep(past, notice->kind);
    row->text = past_keep(past, notice->text);
    row->answer = past_keep(past, notice->answer);
    return true;
}

static bool take_discovery(void *user, const StoreDiscovery *discovery)
{
    Past *past = user;
    if (discovery->task != past->task.id)
        return true; /* somebody else's */
    if (past->discoveries.count >= PAST_ROWS_MAX)
        return false;
    StoreDiscovery *row = PAST_PUSH(past->discoveries);
    *row = *discovery;
    row->text = past_keep(past, discovery->text);
    return true;
}

static void take_dependency(void *user, const Dependency *dependency)
{
    Past *past = user;
    if (dependency->task != past->task.id || past->dependencies.count >= PAST_ROWS_MAX)
        return;
    PastDependency *row = PAST_PUSH(past->dependencies);
    row->task = dependency->on;
    row->need = dependency->need;
}

static const char *name_of(Past *past, const StoreTaskText *text)
{
    const char *fallback = arena_printf(&past->arena, "task-%u", text->id);
    const char *name = plain_slug(&past->arena, text->key, 48, "");
    return *name ? name : plain_slug(&past->arena, text->title, 48, fallback);
}

static bool name_dependency(void *user, const Task *task, const StoreTaskText *text)
{
    Past *past = user;
    PastDependency *row = NULL;
    for (size_t i = 0; i < past->dependencies.count; i++)
        if (past->dependencies.rows[i].task == task->id)
            row = &past->dependencies.rows[i];
    if (row) {
        row->name = name_of(past, text);
        row->title = past_keep(past, text->title);
        row->state = task_state_word(task->state);
    }
    return false;
}

static bool load_dependencies(Past *past, Store *store, Err *err)
{
    StoreLoader loader = {.user = past, .dependency = take_dependency};
    if (!store_load(store, &loader, err))
        return false;
    for (size_t i = 0; i < past->dependencies.count; i++) {
        PastDependency *row = &past->dependencies.rows[i];
        StoreTaskFilter filter = {.after = row->task - 1, .limit = 1, .with_deleted = true};
        row->name = arena_printf(&past->arena, "task-%u", row->task);
        row->title = row->state = "";
        if (!store_task_list(store, &filter, NULL, name_dependency, past, err))
            return false;
    }
    return true;
}

static bool load_rows(Past *past, Store *store, Err *err)
{
    TaskId task = past->task.id;
    ProjectId project = past->task.project;
    return store_run_list(store, task, take_run, past, err) &&
           (!past->run.id || store_gate_list(store, past->run.id, take_gate, past, err)) &&
           store_landing_list_task(store, task, take_landing, past, err) &&
           store_notice_list_task(store, task, take_notice, past, err) &&
           store_discovery_list(store, project, task, take_discovery, past, err) &&
           store_usage_sum_task(store, task, &past->usage, err) &&
           load_dependencies(past, store, err);
}

/* ---- what the caller knows ---- */

static void take_facts(Past *past, const RecordFacts *facts)
{
    static const RecordFacts none;
    RecordFacts *own = &past->facts;
    *own = facts ? *facts : none;
    const char **texts[] = {&own->project, &own->target, &own->workflow,   &own->state,
                            &own->status,  &own->phase,  &own->checkpoint, &own->next,
                            &own->why,     &own->branch, &own->worktree,   &own->reason};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = *texts[i] ? *texts[i] : "";
    own->log_count = own->log ? MIN(own->log_count, (size_t)RECORD_LOG_MAX) : 0;
}

bool past_load(Past *past, Store *store, TaskId task, const RecordFacts *facts, Err *err)
{
    *past = (Past){0};
    take_facts(past, facts);
    if (!load_task(past, store, task, err) || !load_rows(past, store, err)) {
        past_done(past);
        return false;
    }
    past->name = name_of(past, &past->text);
    past->type = profile_type_is_valid(past->text.type) ? past->text.type : PROFILE_TYPE_DEFAULT;
    if (!past_load_flow(past, store, err)) {
        past_done(past);
        return false;
    }
    past_derive(past);
    return true;
}
