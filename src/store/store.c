/* Passes every call on to the database that implements it. */
#include "store/ops.h"

void store_free(Store *store)
{
    if (store)
        store->ops->free(store);
}

bool store_check(Store *store, Err *err)
{
    return store->ops->check(store, err);
}

int store_version(Store *store)
{
    return store->ops->version(store);
}

bool store_begin(Store *store, Err *err)
{
    return store->ops->begin(store, err);
}

bool store_commit(Store *store, Err *err)
{
    return store->ops->commit(store, err);
}

void store_rollback(Store *store)
{
    store->ops->rollback(store);
}

bool store_event_put(Store *store, const StoreEvent *event, int64_t *id, Err *err)
{
    return store->ops->event_put(store, event, id, err);
}

bool store_event_list_task(Store *store, TaskId task, int64_t before, uint32_t limit,
                           StoreEventFn *fn, void *user, Err *err)
{
    return store->ops->event_list_task(store, task, before, limit, fn, user, err);
}

bool store_event_list(Store *store, ProjectId project, int64_t after, uint32_t limit,
                      StoreEventFn *fn, void *user, Err *err)
{
    return store->ops->event_list(store, project, after, limit, fn, user, err);
}

bool store_event_count(Store *store, int kind, RunId run, uint32_t epoch, uint32_t turn,
                       int64_t *count, Err *err)
{
    return store->ops->event_count(store, kind, run, epoch, turn, count, err);
}

bool store_event_last(Store *store, int64_t *id, Err *err)
{
    return store->ops->event_last(store, id, err);
}

bool store_project_save(Store *store, const Project *project, Err *err)
{
    return store->ops->project_save(store, project, err);
}

bool store_task_save(Store *store, const Task *task, Err *err)
{
    return store->ops->task_save(store, task, err);
}

bool store_run_save(Store *store, const Run *run, Err *err)
{
    return store->ops->run_save(store, run, err);
}

bool store_dependency_add(Store *store, const Dependency *dependency, Err *err)
{
    return store->ops->dependency_add(store, dependency, err);
}

bool store_dependency_remove(Store *store, TaskId task, TaskId on, Err *err)
{
    return store->ops->dependency_remove(store, task, on, err);
}

bool store_counts(Store *store, StoreCounts *counts, Err *err)
{
    return store->ops->counts(store, counts, err);
}

bool store_load(Store *store, const StoreLoader *loader, Err *err)
{
    return store->ops->load(store, loader, err);
}

bool store_project_text_save(Store *store, const StoreProjectText *text, Err *err)
{
    return store->ops->project_text_save(store, text, err);
}

bool store_project_text_get(Store *store, ProjectId id, Arena *arena, StoreProjectText *text,
                            Err *err)
{
    return store->ops->project_text_get(store, id, arena, text, err);
}

bool store_project_text_find(Store *store, const char *path, Arena *arena, StoreProjectText *text,
                             Err *err)
{
    return store->ops->project_text_find(store, path, arena, text, err);
}

bool store_project_text_list(Store *store, StoreProjectFn *fn, void *user, Err *err)
{
    return store->ops->project_text_list(store, fn, user, err);
}

bool store_task_text_save(Store *store, const StoreTaskText *text, Err *err)
{
    return store->ops->task_text_save(store, text, err);
}

bool store_task_text_get(Store *store, TaskId id, Arena *arena, StoreTaskText *text, Err *err)
{
    return store->ops->task_text_get(store, id, arena, text, err);
}

bool store_task_text_find(Store *store, ProjectId project, const char *key, Arena *arena,
                          StoreTaskText *text, Err *err)
{
    return store->ops->task_text_find(store, project, key, arena, text, err);
}

bool store_task_list(Store *store, const StoreTaskFilter *filter, uint32_t *total, StoreTaskFn *fn,
                     void *user, Err *err)
{
    return store->ops->task_list(store, filter, total, fn, user, err);
}

bool store_run_text_save(Store *store, const StoreRunText *text, Err *err)
{
    return store->ops->run_text_save(store, text, err);
}

bool store_run_text_get(Store *store, RunId run, Arena *arena, StoreRunText *text, Err *err)
{
    return store->ops->run_text_get(store, run, arena, text, err);
}

bool store_run_list(Store *store, TaskId task, StoreRunFn *fn, void *user, Err *err)
{
    return store->ops->run_list(store, task, fn, user, err);
}

bool store_turn_start(Store *store, const StoreTurn *turn, Err *err)
{
    return store->ops->turn_start(store, turn, err);
}

bool store_turn_keeper(Store *store, const StoreTurn *turn, Err *err)
{
    return store->ops->turn_keeper(store, turn, err);
}

bool store_turn_end(Store *store, const StoreTurn *turn, Err *err)
{
    return store->ops->turn_end(store, turn, err);
}

bool store_turn_get(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                    StoreTurn *out, Err *err)
{
    return store->ops->turn_get(store, run, epoch, turn, arena, out, err);
}

bool store_turn_list(Store *store, RunId run, StoreTurnFn *fn, void *user, Err *err)
{
    return store->ops->turn_list(store, run, fn, user, err);
}

bool store_gate_put(Store *store, const StoreGateResult *result, Err *err)
{
    return store->ops->gate_put(store, result, err);
}

bool store_gate_list(Store *store, RunId run, StoreGateFn *fn, void *user, Err *err)
{
    return store->ops->gate_list(store, run, fn, user, err);
}

bool store_landing_put(Store *store, const StoreLanding *landing, Err *err)
{
    return store->ops->landing_put(store, landing, err);
}

bool store_landing_undo(Store *store, RunId run, const char *by_commit, int64_t at_ms, Err *err)
{
    return store->ops->landing_undo(store, run, by_commit, at_ms, err);
}

bool store_landing_list_task(Store *store, TaskId task, StoreLandingFn *fn, void *user, Err *err)
{
    return store->ops->landing_list_task(store, task, fn, user, err);
}

bool store_landing_list(Store *store, ProjectId project, uint32_t limit, StoreLandingFn *fn,
                        void *user, Err *err)
{
    return store->ops->landing_list(store, project, limit, fn, user, err);
}

bool store_notice_put(Store *store, const StoreNotice *notice, int64_t *id, Err *err)
{
    return store->ops->notice_put(store, notice, id, err);
}

bool store_notice_close_task(Store *store, TaskId task, const char *kind, int64_t at_ms,
                             const char *answer, Err *err)
{
    return store->ops->notice_close_task(store, task, kind, at_ms, answer, err);
}

bool store_notice_close_project(Store *store, ProjectId project, const char *kind, int64_t at_ms,
                                const char *answer, Err *err)
{
    return store->ops->notice_close_project(store, project, kind, at_ms, answer, err);
}

bool store_notice_list_open(Store *store, ProjectId project, StoreNoticeFn *fn, void *user,
                            Err *err)
{
    return store->ops->notice_list_open(store, project, fn, user, err);
}

bool store_notice_list_task(Store *store, TaskId task, StoreNoticeFn *fn, void *user, Err *err)
{
    return store->ops->notice_list_task(store, task, fn, user, err);
}

bool store_usage_put(Store *store, const StoreUsage *usage, Err *err)
{
    return store->ops->usage_put(store, usage, err);
}

bool store_usage_sum_task(Store *store, TaskId task, StoreUsageSum *sum, Err *err)
{
    return store->ops->usage_sum_task(store, task, sum, err);
}

bool store_usage_sum_project(Store *store, ProjectId project, StoreUsageSum *sum, Err *err)
{
    return store->ops->usage_sum_project(store, project, sum, err);
}

bool store_discovery_put(Store *store, const StoreDiscovery *discovery, bool *is_new, Err *err)
{
    return store->ops->discovery_put(store, discovery, is_new, err);
}

bool store_discovery_list(Store *store, ProjectId project, TaskId task, StoreDiscoveryFn *fn,
                          void *user, Err *err)
{
    return store->ops->discovery_list(store, project, task, fn, user, err);
}

bool store_meta_set(Store *store, const char *key, const char *value, Err *err)
{
    return store->ops->meta_set(store, key, value, err);
}

bool store_meta_find(Store *store, const char *key, Arena *arena, const char **value, Err *err)
{
    return store->ops->meta_find(store, key, arena, value, err);
}
