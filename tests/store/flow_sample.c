#include "tests/store/flow_sample.h"

static const StoreWorkflow workflow = {16, "own", "{\"phases\":[]}", 30};

static const StoreStep step = {.task = 1,
                               .run = 1,
                               .epoch = 2,
                               .turn = 3,
                               .stage = 4,
                               .phase = "check",
                               .checkpoint = "post-plan",
                               .result = "PASS",
                               .row = "staged.route.7",
                               .why = "good enough",
                               .next = "exec",
                               .status = "review",
                               .commit = "abc",
                               .agent = "pi",
                               .prompt_hash = "hash",
                               .started_ms = 31,
                               .ended_ms = 32};

/* Its result is the word of its kind. */
static const StoreRecord record = {.task = 1,
                                   .run = 1,
                                   .epoch = 2,
                                   .turn = 3,
                                   .stage = 4,
                                   .checkpoint = "mid-exec",
                                   .text = "# text",
                                   .data = "{}",
                                   .at_ms = 33};

static StoreItem items[] = {
    {1, false, "an aim", "confirmed", 0},
    {2, true, "a bound", "", 5},
};
static StoreRequirement requirements[] = {
    {.number = 1,
     .item = 1,
     .text = "does it",
     .criteria = "a test",
     .weight = 3,
     .coverage = 7500,
     .previous = 5000,
     .reason = "half",
     .source = "agent"},
    {.number = 2, .weight = 1, .source = "backlog"},
};
static const StoreObjective objective = {items, COUNT(items), requirements, COUNT(requirements)};

static const StoreStage stage = {.task = 1,
                                 .stage = 1,
                                 .attempt = 2,
                                 .name = "first",
                                 .objective = "begin",
                                 .moves = "R1 R2",
                                 .reason = "the shortest way",
                                 .outcome = "rolled-back",
                                 .cause = "fell",
                                 .commit = "def",
                                 .before = -1,
                                 .after = 9500,
                                 .started_ms = 34,
                                 .ended_ms = 35};

static const StoreRefinement refinement = {
    .id = 1, .task = 1, .text = "also this", .impact = "minor", .touches = "R2", .at_ms = 36};

static const StoreProfile profile = {1, "docs", "{\"a\":1}", "{\"b\":2}", 37};

static const StoreExperience experience = {.id = 1,
                                           .project = 1,
                                           .task = 1,
                                           .type = "docs",
                                           .topic = "tests",
                                           .text = "run them",
                                           .quality = "verified",
                                           .at_ms = 38};

static const StoreCheckpoint check = {1, 1, 2, "unit", "make test", "executable", "red", 39};

void flow_write(Store *store)
{
    Err err = {0};
    must(store_workflow_put(store, &workflow, &err), &err);
    must(store_step_put(store, &step, NULL, &err), &err);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        StoreRecord one = record;
        one.kind = (RecordKind)kind;
        one.result = record_kind_word(one.kind);
        must(store_record_put(store, &one, NULL, &err), &err);
    }
    must(store_objective_save(store, 1, &objective, &err), &err);
    must(store_stage_put(store, &stage, &err), &err);
    must(store_refinement_put(store, &refinement, NULL, &err), &err);
    must(store_profile_save(store, &profile, &err), &err);
    must(store_experience_put(store, &experience, &err), &err);
    must(store_checkpoints_save(store, 1, &check, 1, &err), &err);
}

/* ---- reading: each row is compared with the one that was written, and counted ---- */

#define SAME(field) assert_int_equal(row->field, want->field)
#define SAME_TEXT(field) assert_string_equal(row->field, want->field ? want->field : "")

static bool old_workflow(void *user, const StoreWorkflow *row)
{
    const StoreWorkflow *want = &workflow;
    ++*(unsigned *)user;
    SAME(number);
    SAME_TEXT(name);
    SAME_TEXT(text);
    SAME(at_ms);
    return true;
}

static bool old_step(void *user, const StoreStep *row)
{
    const StoreStep *want = &step;
    assert_int_equal(row->id, ++*(unsigned *)user);
    SAME(task);
    SAME(run);
    SAME(epoch);
    SAME(turn);
    SAME(stage);
    SAME_TEXT(phase);
    SAME_TEXT(checkpoint);
    SAME_TEXT(result);
    SAME_TEXT(row);
    SAME_TEXT(why);
    SAME_TEXT(next);
    SAME_TEXT(status);
    SAME_TEXT(commit);
    SAME_TEXT(agent);
    SAME_TEXT(prompt_hash);
    SAME(started_ms);
    SAME(ended_ms);
    return true;
}

static bool old_record(void *user, const StoreRecord *row)
{
    const StoreRecord *want = &record;
    assert_int_equal(row->kind, *(unsigned *)user);
    assert_int_equal(row->id, ++*(unsigned *)user);
    assert_string_equal(row->result, record_kind_word(row->kind));
    SAME(task);
    SAME(run);
    SAME(epoch);
    SAME(turn);
    SAME(stage);
    SAME_TEXT(checkpoint);
    SAME_TEXT(text);
    SAME_TEXT(data);
    SAME(at_ms);
    return true;
}

static bool old_stage(void *user, const StoreStage *row)
{
    const StoreStage *want = &stage;
    ++*(unsigned *)user;
    SAME(task);
    SAME(stage);
    SAME(attempt);
    SAME_TEXT(name);
    SAME_TEXT(objective);
    SAME_TEXT(moves);
    SAME_TEXT(reason);
    SAME_TEXT(outcome);
    SAME_TEXT(cause);
    SAME_TEXT(commit);
    SAME(before);
    SAME(after);
    SAME(started_ms);
    SAME(ended_ms);
    return true;
}

static bool old_refinement(void *user, const StoreRefinement *row)
{
    const StoreRefinement *want = &refinement;
    ++*(unsigned *)user;
    SAME(id);
    SAME(task);
    SAME_TEXT(text);
    SAME_TEXT(impact);
    SAME_TEXT(touches);
    SAME(at_ms);
    SAME(applied_ms);
    SAME(withdrawn_ms);
    return true;
}

static bool old_profile(void *user, const StoreProfile *row)
{
    const StoreProfile *want = &profile;
    ++*(unsigned *)user;
    SAME(project);
    SAME_TEXT(type);
    SAME_TEXT(settings);
    SAME_TEXT(observed);
    SAME(updated_ms);
    return true;
}

static bool old_experience(void *user, const StoreExperience *row)
{
    const StoreExperience *want = &experience;
    ++*(unsigned *)user;
    SAME(id);
    SAME(project);
    SAME(task);
    SAME_TEXT(type);
    SAME_TEXT(topic);
    SAME_TEXT(text);
    SAME_TEXT(quality);
    SAME(at_ms);
    return true;
}

static bool old_check(void *user, const StoreCheckpoint *row)
{
    const StoreCheckpoint *want = &check;
    ++*(unsigned *)user;
    SAME(task);
    SAME(number);
    SAME(step);
    SAME_TEXT(name);
    SAME_TEXT(command);
    SAME_TEXT(mode);
    SAME_TEXT(state);
    SAME(at_ms);
    return true;
}

static void old_item(const StoreItem *row, const StoreItem *want)
{
    SAME(number);
    SAME(is_constraint);
    SAME_TEXT(text);
    SAME_TEXT(marker);
    SAME(stage);
}

static void old_requirement(const StoreRequirement *row, const StoreRequirement *want)
{
    SAME(number);
    SAME(item);
    SAME_TEXT(text);
    SAME_TEXT(criteria);
    SAME(weight);
    SAME(coverage);
    SAME(previous);
    SAME_TEXT(reason);
    SAME_TEXT(source);
}

/* Rows of each table, in this order. */
typedef struct Rows {
    unsigned workflows, steps, records, items, requirements, stages, refinements, profiles,
        experiences, checks;
} Rows;

static Rows rows_read(Store *store, Arena *arena)
{
    Err err = {0};
    Rows rows = {0};
    StoreObjective got;
    must(store_workflow_list(store, old_workflow, &rows.workflows, &err), &err);
    must(store_step_list(store, 1, old_step, &rows.steps, &err), &err);
    must(store_record_list(store, 1, RECORD_KIND_COUNT, old_record, &rows.records, &err), &err);
    must(store_objective_get(store, 1, arena, &got, &err), &err);
    for (; rows.items < got.item_count; rows.items++)
        old_item(&got.items[rows.items], &items[rows.items]);
    for (; rows.requirements < got.requirement_count; rows.requirements++)
        old_requirement(&got.requirements[rows.requirements], &requirements[rows.requirements]);
    must(store_stage_list(store, 1, old_stage, &rows.stages, &err), &err);
    must(store_refinement_list(store, 1, true, old_refinement, &rows.refinements, &err), &err);
    must(store_profile_list(store, 1, old_profile, &rows.profiles, &err), &err);
    must(store_experience_list(store, 1, NULL, 0, old_experience, &rows.experiences, &err), &err);
    must(store_checkpoint_list(store, 1, old_check, &rows.checks, &err), &err);
    return rows;
}

void flow_assert(Store *store, Arena *arena, unsigned record_kinds)
{
    Rows want = {1, 1, record_kinds, COUNT(items), COUNT(requirements), 1, 1, 1, 1, 1};
    Rows rows = rows_read(store, arena);
    assert_memory_equal(&rows, &want, sizeof want);
}

void flow_assert_empty(Store *store, Arena *arena)
{
    Rows rows = rows_read(store, arena);
    assert_memory_equal(&rows, &(Rows){0}, sizeof rows);
}
