/* Reading a task's past: the rows of flow.h, and what is drawn from all of them. See past.h. */
#include "core/plan.h"
#include "record/past.h"
#include <string.h>

/* ---- lists that may be long: counted first, then the newest are read ---- */

typedef struct Window {
    Past *past;
    size_t seen, first; /* rows before first are passed over */
} Window;

static bool count_step(void *user, const StoreStep *step)
{
    (void)step;
    ((Window *)user)->seen++;
    return true;
}

static bool take_step(void *user, const StoreStep *step)
{
    Window *window = user;
    Past *past = window->past;
    if (window->seen++ < window->first)
        return true;
    StoreStep *row = PAST_PUSH(past->steps);
    *row = *step;
    const char **texts[] = {&row->phase, &row->checkpoint, &row->result, &row->row,
                            &row->why,   &row->next,       &row->status, &row->commit,
                            &row->agent, &row->prompt_hash};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = past_keep(past, *texts[i]);
    return true;
}

static bool load_steps(Past *past, Store *store, Err *err)
{
    Window window = {.past = past};
    if (!store_step_list(store, past->task.id, count_step, &window, err))
        return false;
    window.first = window.seen > PAST_STEPS_MAX ? window.seen - PAST_STEPS_MAX : 0;
    past->steps.left_out = window.first;
    window.seen = 0;
    return store_step_list(store, past->task.id, take_step, &window, err);
}

/* Kinds that are made from the others, or repeat them. */
static bool is_wanted(const StoreRecord *record)
{
    return record->kind != RECORD_SUMMARY && record->kind != RECORD_REPORT;
}

typedef struct Sizes {
    size_t *bytes, count, size;
} Sizes;

static size_t data_length(const StoreRecord *record)
{
    size_t length = record->data ? strlen(record->data) : 0;
    return length > PAST_DATA_MAX ? 0 : length;
}

static bool measure_record(void *user, const StoreRecord *record)
{
    Sizes *sizes = user;
    if (!is_wanted(record))
        return true;
    sizes->bytes = past_push(sizes->bytes, &sizes->count, &sizes->size, sizeof *sizes->bytes);
    sizes->bytes[sizes->count - 1] =
        strnlen(record->text ? record->text : "", RECORD_TEXT_MAX + 8) + data_length(record);
    return true;
}

/* The first of the newest records that fit into the limits. */
static size_t first_that_fits(const Sizes *sizes)
{
    size_t first = sizes->count, sum = 0;
    while (first && sizes->count - first < PAST_ROWS_MAX &&
           sum + sizes->bytes[first - 1] <= RECORD_LOADED_MAX)
        sum += sizes->bytes[--first];
    return first;
}

static bool take_record(void *user, const StoreRecord *record)
{
    Window *window = user;
    Past *past = window->past;
    if (!is_wanted(record) || window->seen++ < window->first)
        return true;
    StoreRecord *row = PAST_PUSH(past->records);
    *row = *record;
    row->checkpoint = past_keep(past, record->checkpoint);
    row->result = past_keep(past, record->result);
    row->text = past_keep(past, record->text);
    row->data = arena_strndup(&past->arena, record->data ? record->data : "", data_length(record));
    return true;
}

static bool load_records(Past *past, Store *store, Err *err)
{
    Sizes sizes = {0};
    Window window = {.past = past};
    bool is_done =
        store_record_list(store, past->task.id, RECORD_KIND_COUNT, measure_record, &sizes, err);
    window.first = first_that_fits(&sizes);
    past->records.left_out = window.first;
    mem_freep(&sizes.bytes);
    return is_done &&
           store_record_list(store, past->task.id, RECORD_KIND_COUNT, take_record, &window, err);
}

/* ---- short lists ---- */

static bool take_stage(void *user, const StoreStage *stage)
{
    Past *past = user;
    if (past->stages.count >= PAST_ROWS_MAX)
        return false;
    StoreStage *row = PAST_PUSH(past->stages);
    *row = *stage;
    const char **texts[] = {&row->name,    &row->objective, &row->moves, &row->reason,
                            &row->outcome, &row->cause,     &row->commit};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = past_keep(past, *texts[i]);
    return true;
}

static bool take_refinement(void *user, const StoreRefinement *refinement)
{
    Past *past = user;
    if (past->refinements.count >= PAST_ROWS_MAX)
        return false;
    StoreRefinement *row = PAST_PUSH(past->refinements);
    *row = *refinement;
    row->text = past_keep(past, refinement->text);
    row->impact = past_keep(past, refinement->impact);
    row->touches = past_keep(past, refinement->touches);
    return true;
}

static bool take_experience(void *user, const StoreExperience *experience)
{
    Past *past = user;
    if (experience->task != past->task.id)
        return true; /* somebody else's */
    if (past->experiences.count >= PAST_ROWS_MAX)
        return false;
    StoreExperience *row = PAST_PUSH(past->experiences);
    *row = *experience;
    row->type = past_keep(past, experience->type);
    row->topic = past_keep(past, experience->topic);
    row->text = past_keep(past, experience->text);
    row->quality = past_keep(past, experience->quality);
    return true;
}

static bool take_check(void *user, const StoreCheckpoint *check)
{
    Past *past = user;
    if (past->checks.count >= PAST_ROWS_MAX)
        return false;
    StoreCheckpoint *row = PAST_PUSH(past->checks);
    *row = *check;
    row->name = past_keep(past, check->name);
    row->command = past_keep(past, check->command);
    row->mode = past_keep(past, check->mode);
    row->state = past_keep(past, check->state);
    return true;
}

bool past_load_flow(Past *past, Store *store, Err *err)
{
    TaskId task = past->task.id;
    ProjectId project = past->task.project;
    Arena *arena = &past->arena;
    return load_steps(past, store, err) && load_records(past, store, err) &&
           store_stage_list(store, task, take_stage, past, err) &&
           store_refinement_list(store, task, true, take_refinement, past, err) &&
           store_experience_list(store, project, NULL, 0, take_experience, past, err) &&
           store_checkpoint_list(store, task, take_check, past, err) &&
           store_objective_get(store, task, arena, &past->objective, err) &&
           store_profile_find(store, project, past->type, arena, &past->profile, err);
}

/* ---- questions ---- */

json_t *past_data(const StoreRecord *record)
{
    Err ignored = {0};
    if (!record || !*record->data)
        return NULL;
    json_t *json = json_read(record->data, strlen(record->data), &ignored);
    if (json && !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

const StoreRecord *past_next(const Past *past, RecordKind kind, size_t *at)
{
    while (*at < past->records.count) {
        const StoreRecord *record = &past->records.rows[(*at)++];
        if (record->kind == kind)
            return record;
    }
    return NULL;
}

size_t past_count(const Past *past, RecordKind kind)
{
    size_t count = 0, at = 0;
    while (past_next(past, kind, &at))
        count++;
    return count;
}

const StoreRecord *past_last(const Past *past, RecordKind kind)
{
    for (size_t i = past->records.count; i--;)
        if (past->records.rows[i].kind == kind)
            return &past->records.rows[i];
    return NULL;
}

const char *past_phase_of(const Past *past, const StoreRecord *record)
{
    for (size_t i = past->steps.count; i--;) {
        const StoreStep *step = &past->steps.rows[i];
        if (step->run == record->run && step->epoch == record->epoch &&
            step->turn == record->turn && record->turn)
            return step->phase;
    }
    return "";
}

const char *past_step_name(Past *past, const StoreStep *step)
{
    return *step->checkpoint ? arena_printf(&past->arena, "%s %s", step->phase, step->checkpoint)
                             : step->phase;
}

bool past_is_blank(const Past *past)
{
    return !past->steps.count && !past->landings.count && !past->task.turns_used &&
           !past_last(past, RECORD_PLAN);
}

/* ---- what is drawn from the rows ---- */

static const char *first_of(const char *a, const char *b, const char *c)
{
    return *a ? a : *b ? b : c;
}

static void derive_place(Past *past)
{
    static const StoreStep nothing = {.phase = "", .checkpoint = "", .next = "", .status = ""};
    const RecordFacts *facts = &past->facts;
    const StoreStep *last = past->steps.count ? &past->steps.rows[past->steps.count - 1] : &nothing;
    bool is_phase = *last->next && *last->next != '(';
    past->state = first_of(facts->state, task_state_word(past->task.state), "");
    past->status = first_of(facts->status, last->status, past->state);
    past->next = first_of(facts->next, last->next, "");
    past->phase = first_of(facts->phase, is_phase ? last->next : last->phase, "");
    past->checkpoint = *facts->phase || *facts->checkpoint ? facts->checkpoint
                       : is_phase                          ? ""
                                                           : last->checkpoint;
    past->workflow = first_of(facts->workflow, past->text.workflow, "");
    past->branch = first_of(facts->branch, past->run.id ? past->run_text.branch : "", "");
    past->worktree =
        first_of(facts->worktree, past->run.has_workspace ? past->run_text.workspace_path : "", "");
}

static void derive_stage(Past *past)
{
    past->stage = past->stages.count ? 1 : 0;
    for (size_t i = 0; i < past->stages.count; i++)
        past->stage = MAX(past->stage, past->stages.rows[i].stage);
    for (size_t i = 0; i < past->steps.count; i++)
        past->stage = MAX(past->stage, past->steps.rows[i].stage);
    for (size_t i = 0; i < past->records.count; i++)
        past->stage = MAX(past->stage, past->records.rows[i].stage);
}

static void derive_updated(Past *past)
{
    int64_t newest = MAX(past->task.created_ms, past->text.created_ms);
    for (size_t i = 0; i < past->steps.count; i++)
        newest = MAX(newest, past->steps.rows[i].ended_ms);
    for (size_t i = 0; i < past->records.count; i++)
        newest = MAX(newest, past->records.rows[i].at_ms);
    for (size_t i = 0; i < past->stages.count; i++)
        newest = MAX(newest, past->stages.rows[i].ended_ms);
    for (size_t i = 0; i < past->landings.count; i++)
        newest = MAX(newest, past->landings.rows[i].at_ms);
    past->updated_ms = newest;
}

/* Answers since the newest plan say how far the work is. */
static void derive_completed(Past *past)
{
    const StoreRecord *plan = past_last(past, RECORD_PLAN);
    CLEANUP(json_freep) json_t *data = past_data(plan);
    unsigned steps = (unsigned)json_array_size(json_object_get(data, "steps")), done = 0;
    for (size_t at = 0; data && at < past->records.count;) {
        const StoreRecord *answer = past_next(past, RECORD_ANSWER, &at);
        CLEANUP(json_freep)
        json_t *said = answer && answer->id > plan->id ? past_data(answer) : NULL;
        if (said)
            done = plan_completed(said, done, steps);
    }
    past->completed_steps = past->facts.has_completed_steps ? past->facts.completed_steps : done;
}

void past_derive(Past *past)
{
    derive_place(past);
    derive_stage(past);
    derive_updated(past);
    derive_completed(past);
}
