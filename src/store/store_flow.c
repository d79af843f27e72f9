/* The part of flow.h that passes on, and the words of records. */
#include "store/ops.h"

static const char *const record_words[RECORD_KIND_COUNT] = {
#define X(kind, word, help) [kind] = word,
    RECORD_KINDS(X)
#undef X
};

const char *record_kind_word(RecordKind kind)
{
    return (unsigned)kind < RECORD_KIND_COUNT ? record_words[kind] : "?";
}

bool record_kind_find(const char *word, RecordKind *kind)
{
    for (unsigned i = 0; i < RECORD_KIND_COUNT; i++)
        if (strcmp(word, record_words[i]) == 0) {
            *kind = (RecordKind)i;
            return true;
        }
    return false;
}

bool store_workflow_put(Store *store, const StoreWorkflow *workflow, Err *err)
{
    return store->ops->workflow_put(store, workflow, err);
}

bool store_workflow_list(Store *store, StoreWorkflowFn *fn, void *user, Err *err)
{
    return store->ops->workflow_list(store, fn, user, err);
}

bool store_step_put(Store *store, const StoreStep *step, int64_t *id, Err *err)
{
    return store->ops->step_put(store, step, id, err);
}

bool store_step_list(Store *store, TaskId task, StoreStepFn *fn, void *user, Err *err)
{
    return store->ops->step_list(store, task, fn, user, err);
}

bool store_record_put(Store *store, const StoreRecord *record, int64_t *id, Err *err)
{
    return store->ops->record_put(store, record, id, err);
}

bool store_record_list(Store *store, TaskId task, RecordKind kind, StoreRecordFn *fn, void *user,
                       Err *err)
{
    return store->ops->record_list(store, task, kind, fn, user, err);
}

bool store_record_last(Store *store, TaskId task, RecordKind kind, const char *checkpoint,
                       Arena *arena, StoreRecord *record, Err *err)
{
    return store->ops->record_last(store, task, kind, checkpoint, arena, record, err);
}

bool store_record_answer(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                         StoreRecord *record, Err *err)
{
    return store->ops->record_answer(store, run, epoch, turn, arena, record, err);
}

bool store_objective_save(Store *store, TaskId task, const StoreObjective *objective, Err *err)
{
    return store->ops->objective_save(store, task, objective, err);
}

bool store_objective_get(Store *store, TaskId task, Arena *arena, StoreObjective *objective,
                         Err *err)
{
    return store->ops->objective_get(store, task, arena, objective, err);
}

bool store_stage_put(Store *store, const StoreStage *stage, Err *err)
{
    return store->ops->stage_put(store, stage, err);
}

bool store_stage_list(Store *store, TaskId task, StoreStageFn *fn, void *user, Err *err)
{
    return store->ops->stage_list(store, task, fn, user, err);
}

bool store_refinement_put(Store *store, const StoreRefinement *refinement, int64_t *id, Err *err)
{
    return store->ops->refinement_put(store, refinement, id, err);
}

bool store_refinement_apply(Store *store, TaskId task, int64_t at_ms, const char *impact,
                            const char *touches, uint32_t *count, Err *err)
{
    return store->ops->refinement_apply(store, task, at_ms, impact, touches, count, err);
}

bool store_refinement_withdraw(Store *store, TaskId task, int64_t id, int64_t at_ms, Err *err)
{
    return store->ops->refinement_withdraw(store, task, id, at_ms, err);
}

bool store_refinement_list(Store *store, TaskId task, bool with_ended, StoreRefinementFn *fn,
                           void *user, Err *err)
{
    return store->ops->refinement_list(store, task, with_ended, fn, user, err);
}

bool store_profile_save(Store *store, const StoreProfile *profile, Err *err)
{
    return store->ops->profile_save(store, profile, err);
}

bool store_profile_find(Store *store, ProjectId project, const char *type, Arena *arena,
                        StoreProfile *profile, Err *err)
{
    return store->ops->profile_find(store, project, type, arena, profile, err);
}

bool store_profile_list(Store *store, ProjectId project, StoreProfileFn *fn, void *user, Err *err)
{
    return store->ops->profile_list(store, project, fn, user, err);
}

bool store_experience_put(Store *store, const StoreExperience *experience, Err *err)
{
    return store->ops->experience_put(store, experience, err);
}

bool store_experience_list(Store *store, ProjectId project, const char *type, uint32_t limit,
                           StoreExperienceFn *fn, void *user, Err *err)
{
    return store->ops->experience_list(store, project, type, limit, fn, user, err);
}

bool store_experience_judge(Store *store, TaskId task, const char *quality, Err *err)
{
    return store->ops->experience_judge(store, task, quality, err);
}

bool store_checkpoints_save(Store *store, TaskId task, const StoreCheckpoint *checks, size_t count,
                            Err *err)
{
    return store->ops->checkpoints_save(store, task, checks, count, err);
}

bool store_checkpoint_state(Store *store, TaskId task, uint32_t number, const char *state,
                            int64_t at_ms, Err *err)
{
    return store->ops->checkpoint_state(store, task, number, state, at_ms, err);
}

bool store_checkpoint_list(Store *store, TaskId task, StoreCheckpointFn *fn, void *user, Err *err)
{
    return store->ops->checkpoint_list(store, task, fn, user, err);
}
