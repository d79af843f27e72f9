/* The operations behind store.h and flow.h, one row each. A database implements all of them with
 * the very signatures of these headers; the functions there only pass on. Inside of store/ only. */
#pragma once
#include "store/flow.h"
#include "store/store.h"

#define STORE_OPS(X)                                                                               \
    X(free)                                                                                        \
    X(check)                                                                                       \
    X(version)                                                                                     \
    X(begin)                                                                                       \
    X(commit)                                                                                      \
    X(rollback)                                                                                    \
    X(event_put)                                                                                   \
    X(event_list_task)                                                                             \
    X(event_list)                                                                                  \
    X(event_count)                                                                                 \
    X(event_last)                                                                                  \
    X(project_save)                                                                                \
    X(task_save)                                                                                   \
    X(run_save)                                                                                    \
    X(dependency_add)                                                                              \
    X(dependency_remove)                                                                           \
    X(counts)                                                                                      \
    X(load)                                                                                        \
    X(project_text_save)                                                                           \
    X(project_text_get)                                                                            \
    X(project_text_find)                                                                           \
    X(project_text_list)                                                                           \
    X(task_text_save)                                                                              \
    X(task_text_get)                                                                               \
    X(task_text_find)                                                                              \
    X(task_list)                                                                                   \
    X(run_text_save)                                                                               \
    X(run_text_get)                                                                                \
    X(run_list)                                                                                    \
    X(turn_start)                                                                                  \
    X(turn_keeper)                                                                                 \
    X(turn_end)                                                                                    \
    X(turn_get)                                                                                    \
    X(turn_list)                                                                                   \
    X(gate_put)                                                                                    \
    X(gate_list)                                                                                   \
    X(landing_put)                                                                                 \
    X(landing_undo)                                                                                \
    X(landing_list_task)                                                                           \
    X(landing_list)                                                                                \
    X(notice_put)                                                                                  \
    X(notice_close_task)                                                                           \
    X(notice_close_project)                                                                        \
    X(notice_list_open)                                                                            \
    X(notice_list_task)                                                                            \
    X(usage_put)                                                                                   \
    X(usage_sum_task)                                                                              \
    X(usage_sum_project)                                                                           \
    X(discovery_put)                                                                               \
    X(discovery_list)                                                                              \
    X(meta_set)                                                                                    \
    X(meta_find)                                                                                   \
    X(workflow_put)                                                                                \
    X(workflow_list)                                                                               \
    X(step_put)                                                                                    \
    X(step_list)                                                                                   \
    X(record_put)                                                                                  \
    X(record_list)                                                                                 \
    X(record_last)                                                                                 \
    X(record_answer)                                                                               \
    X(objective_save)                                                                              \
    X(objective_get)                                                                               \
    X(stage_put)                                                                                   \
    X(stage_list)                                                                                  \
    X(refinement_put)                                                                              \
    X(refinement_apply)                                                                            \
    X(refinement_withdraw)                                                                         \
    X(refinement_list)                                                                             \
    X(profile_save)                                                                                \
    X(profile_find)                                                                                \
    X(profile_list)                                                                                \
    X(experience_put)                                                                              \
    X(experience_list)                                                                             \
    X(experience_judge)                                                                            \
    X(checkpoints_save)                                                                            \
    X(checkpoint_state)                                                                            \
    X(checkpoint_list)

typedef struct StoreOps {
#define X(name) __typeof__(store_##name) *name;
    STORE_OPS(X)
#undef X
} StoreOps;

/* First member of every implementation's own struct. */
struct Store {
    const StoreOps *ops;
};
