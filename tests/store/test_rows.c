/* The rows of core: saved whole, read back at start. */
#include "tests/store/support.h"

#include "core/signal.h"

/* A new field in a struct of core needs a column (store/sqlite_rows.h, a migration) or a word that
 * it is derived, and then the new size here. */
static void no_field_of_core_was_forgotten(void **state)
{
    (void)state;
    assert_int_equal(sizeof(Limits), 56);
    assert_int_equal(sizeof(Project), 96);
    assert_int_equal(sizeof(Task), 96);
    assert_int_equal(sizeof(Run), 480);
    assert_int_equal(sizeof(Dependency), 12);
}

typedef struct Loaded {
    Project projects[8];
    Task tasks[16];
    Run runs[16];
    Dependency dependencies[16];
    unsigned project_count, task_count, run_count, dependency_count;
} Loaded;

static void take_project(void *user, const Project *project)
{
    Loaded *loaded = user;
    loaded->projects[loaded->project_count++] = *project;
}

static void take_task(void *user, const Task *task)
{
    Loaded *loaded = user;
    loaded->tasks[loaded->task_count++] = *task;
}

static void take_run(void *user, const Run *run)
{
    Loaded *loaded = user;
    loaded->runs[loaded->run_count++] = *run;
}

static void take_dependency(void *user, const Dependency *dependency)
{
    Loaded *loaded = user;
    loaded->dependencies[loaded->dependency_count++] = *dependency;
}

static Loaded load(Store *store)
{
    Err err = {0};
    Loaded loaded = {0};
    StoreLoader loader = {&loaded, take_project, take_task, take_dependency, take_run};
    must(store_load(store, &loader, &err), &err);
    return loaded;
}

static void every_field_comes_back_after_a_reopen(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    Project project = project_sample(1);
    Task parent = task_sample(1, 1), task = task_sample(2, 1);
    Run first = run_sample(1, 2, 1), run = run_sample(2, 2, 1);
    task.parent = 1;
    task.run = 2;
    run.from = 1;
    must(store_begin(store, &err), &err);
    must(store_project_save(store, &project, &err), &err);
    must(store_task_save(store, &parent, &err), &err);
    must(store_task_save(store, &task, &err), &err);
    must(store_run_save(store, &first, &err), &err);
    must(store_run_save(store, &run, &err), &err);
    must(store_commit(store, &err), &err);
    store_free(store);

    store = store_must_open(room->path, 0);
    Loaded loaded = load(store);
    assert_int_equal(loaded.project_count, 1);
    assert_int_equal(loaded.task_count, 2);
    assert_int_equal(loaded.run_count, 2);
    assert_project(&loaded.projects[0], &project);
    assert_task(&loaded.tasks[0], &parent);
    assert_task(&loaded.tasks[1], &task);
    assert_run(&loaded.runs[0], &first);
    assert_run(&loaded.runs[1], &run);
    store_free(store);
}

static void a_second_save_overwrites_every_field_that_may_change(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    Run run = run_sample(1, 1, 1);
    must(store_run_save(store, &run, &err), &err);

    Project project = {.id = 1, .limits.slots = 1};
    Task task = {.id = 1, .project = 1, .run = 1, .priority = PRIORITY_NONE};
    run = (Run){.id = 1, .task = 1, .project = 1, .state = RUN_ENDED};
    must(store_project_save(store, &project, &err), &err);
    must(store_task_save(store, &task, &err), &err);
    must(store_run_save(store, &run, &err), &err);

    Loaded loaded = load(store);
    assert_project(&loaded.projects[0], &project);
    assert_task(&loaded.tasks[0], &task);
    assert_run(&loaded.runs[0], &run);
    assert_int_equal(loaded.project_count + loaded.task_count + loaded.run_count, 3);
    store_free(store);
}

static void the_order_of_writes_in_a_transaction_does_not_matter(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    Project project = project_sample(1);
    Task task = task_sample(1, 1), other = task_sample(2, 1);
    Run run = run_sample(1, 1, 1);
    task.run = 1;
    task.parent = 2;
    must(store_begin(store, &err), &err);
    must(store_turn_start(store, &(StoreTurn){.run = 1, .epoch = 1, .turn = 1}, &err), &err);
    must(store_usage_put(store, &(StoreUsage){.run = 1}, &err), &err);
    must(store_gate_put(store, &(StoreGateResult){.run = 1, .stage = "gate"}, &err), &err);
    must(store_landing_put(store, &(StoreLanding){.task = 1, .run = 1}, &err), &err);
    must(store_notice_put(store, &(StoreNotice){.project = 1, .kind = "k"}, NULL, &err), &err);
    must(store_discovery_put(store, &(StoreDiscovery){.project = 1, .text = "x"}, NULL, &err),
         &err);
    must(store_step_put(store, &(StoreStep){.task = 1, .run = 1}, NULL, &err), &err);
    must(store_record_put(store, &(StoreRecord){.task = 1, .run = 1}, NULL, &err), &err);
    StoreItem item = {.number = 1};
    must(store_objective_save(store, 2, &(StoreObjective){.items = &item, .item_count = 1}, &err),
         &err);
    must(store_checkpoints_save(store, 2, &(StoreCheckpoint){.number = 1}, 1, &err), &err);
    must(store_stage_put(store, &(StoreStage){.task = 1, .stage = 1, .attempt = 1}, &err), &err);
    must(store_refinement_put(store, &(StoreRefinement){.task = 1}, NULL, &err), &err);
    must(store_profile_save(store, &(StoreProfile){.project = 1, .type = "docs"}, &err), &err);
    must(store_experience_put(store, &(StoreExperience){.project = 1, .task = 1}, &err), &err);
    must(store_dependency_add(store, &(Dependency){1, 2, NEED_DONE}, &err), &err);
    must(store_run_text_save(store, &(StoreRunText){.run = 1}, &err), &err);
    must(store_task_text_save(store, &(StoreTaskText){.id = 1, .project = 1}, &err), &err);
    must(store_project_text_save(store, &(StoreProjectText){.id = 1, .path = "/p"}, &err), &err);
    must(store_run_save(store, &run, &err), &err);
    must(store_task_save(store, &task, &err), &err);
    must(store_task_save(store, &other, &err), &err);
    must(store_project_save(store, &project, &err), &err);
    must(store_commit(store, &err), &err);
    must(store_check(store, &err), &err);
    store_free(store);
}

static void a_reference_to_nothing_fails_at_the_commit_and_leaves_nothing(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    Task task = task_sample(1, 77);
    must(store_begin(store, &err), &err);
    must(store_task_save(store, &task, &err), &err);
    assert_false(store_commit(store, &err));
    assert_int_equal(err.kind, ERR_STORE);
    assert_int_equal(load(store).task_count, 0);

    store_fill(store, 1);
    assert_int_equal(load(store).task_count, 1);
    store_free(store);
}

static void a_value_outside_of_its_list_is_refused_and_the_transaction_goes_on(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    Task task = task_sample(2, 1);
    must(store_begin(store, &err), &err);
    task.state = TASK_STATE_COUNT;
    assert_false(store_task_save(store, &task, &err));
    assert_int_equal(err.kind, ERR_STORE);
    Run run = run_sample(1, 1, 1);
    run.state = RUN_STATE_COUNT;
    assert_false(store_run_save(store, &run, &err));
    run.state = RUN_WORKING;
    run.stop = STOP_WISH_COUNT;
    assert_false(store_run_save(store, &run, &err));
    run.stop = STOP_NONE;
    run.substate = SUBSTATE_COUNT;
    assert_false(store_run_save(store, &run, &err));
    run.substate = SUB_NONE;
    run.signal = SIGNAL_RESULT; /* an answer is no control signal */
    assert_false(store_run_save(store, &run, &err));
    assert_int_equal(err.kind, ERR_STORE);
    run.signal = SIGNAL_NONE;
    assert_false(store_event_put(store, &(StoreEvent){.kind = 10000}, NULL, &err));
    assert_false(store_dependency_add(store, &(Dependency){1, 1, NEED_COUNT}, &err));
    must(store_turn_start(store, &(StoreTurn){.run = 1}, &err), &err);
    assert_false(store_turn_end(store, &(StoreTurn){.run = 1, .signal = 200}, &err));
    assert_int_equal(err.kind, ERR_STORE);
    /* whom the turn belongs to */
    must(store_run_save(store, &run, &err), &err);
    task = task_sample(3, 1);
    must(store_task_save(store, &task, &err), &err);
    must(store_commit(store, &err), &err);
    assert_int_equal(load(store).task_count, 2);
    assert_int_equal(load(store).runs[0].state, RUN_WORKING);
    store_free(store);
}

static void dependencies_are_added_changed_and_removed(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 3);
    must(store_dependency_add(store, &(Dependency){3, 2, NEED_STARTED}, &err), &err);
    must(store_dependency_add(store, &(Dependency){3, 1, NEED_DONE}, &err), &err);
    must(store_dependency_add(store, &(Dependency){3, 2, NEED_VERIFIED}, &err), &err);
    Loaded loaded = load(store);
    assert_int_equal(loaded.dependency_count, 2);
    assert_int_equal(loaded.dependencies[0].on, 1);
    assert_int_equal(loaded.dependencies[0].need, NEED_DONE);
    assert_int_equal(loaded.dependencies[1].task, 3);
    assert_int_equal(loaded.dependencies[1].need, NEED_VERIFIED);

    must(store_dependency_remove(store, 3, 1, &err), &err);
    must(store_dependency_remove(store, 3, 1, &err), &err);
    assert_int_equal(load(store).dependency_count, 1);
    store_free(store);
}

static void ended_runs_that_are_not_the_latest_stay_in_the_store(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 2);
    Run runs[5];
    for (RunId i = 0; i < 5; i++) {
        runs[i] = run_sample(i + 1, i < 3 ? 1 : 2, 1);
        runs[i].state = i == 3 ? RUN_RETIRING : RUN_ENDED;
        must(store_run_save(store, &runs[i], &err), &err);
    }
    Task one = task_sample(1, 1), two = task_sample(2, 1);
    one.run = 3;
    two.run = 5;
    must(store_task_save(store, &one, &err), &err);
    must(store_task_save(store, &two, &err), &err);

    Loaded loaded = load(store);
    assert_int_equal(loaded.run_count, 3);
    assert_int_equal(loaded.runs[0].id, 3);
    assert_int_equal(loaded.runs[1].id, 4);
    assert_int_equal(loaded.runs[2].id, 5);

    StoreCounts counts;
    must(store_counts(store, &counts, &err), &err);
    assert_int_equal(counts.max_run, 5);
    assert_int_equal(counts.max_task, 2);
    assert_int_equal(counts.max_project, 1);
    assert_int_equal(counts.tasks, 2);
    assert_int_equal(counts.dependencies, 0);
    store_free(store);
}

static void an_empty_store_counts_nothing_and_loads_nothing(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreCounts counts = {.max_task = 9};
    Store *store = store_must_open(room->path, STORE_CREATE);
    must(store_counts(store, &counts, &err), &err);
    assert_int_equal(counts.max_task + counts.max_run + counts.max_project, 0);
    assert_int_equal(load(store).task_count, 0);
    must(store_load(store, &(StoreLoader){0}, &err), &err);
    store_free(store);
}

static void ids_reach_to_the_end_of_their_range(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    Project project = project_sample(UINT32_MAX);
    project.failures = UINT32_MAX;
    project.pause_by_ms = INT64_MAX;
    must(store_project_save(store, &project, &err), &err);
    Loaded loaded = load(store);
    assert_project(&loaded.projects[0], &project);
    assert_false(store_project_save(store, &(Project){.id = 0}, &err));
    store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_field_of_core_was_forgotten),
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
        ROOM(every_field_comes_back_after_a_reopen),
        ROOM(a_second_save_overwrites_every_field_that_may_change),
        ROOM(the_order_of_writes_in_a_transaction_does_not_matter),
        ROOM(a_reference_to_nothing_fails_at_the_commit_and_leaves_nothing),
        ROOM(a_value_outside_of_its_list_is_refused_and_the_transaction_goes_on),
        ROOM(dependencies_are_added_changed_and_removed),
        ROOM(ended_runs_that_are_not_the_latest_stay_in_the_store),
        ROOM(an_empty_store_counts_nothing_and_loads_nothing),
        ROOM(ids_reach_to_the_end_of_their_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
