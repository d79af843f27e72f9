/* Workflows of users, and the timeline of steps. */
#include "tests/store/support.h"

static bool take_workflow(void *user, const StoreWorkflow *workflow)
{
    text_addf(user, "%u:%s:%s:%d;", workflow->number, workflow->name, workflow->text,
              (int)workflow->at_ms);
    return true;
}

static void a_workflow_is_never_changed(void **state)
{
    Room *room = *state;
    Err err = {0};
    char all[256] = "";
    Store *store = store_must_open(room->path, STORE_CREATE);
    must(store_workflow_list(store, take_workflow, all, &err), &err);
    assert_string_equal(all, "");
    StoreWorkflow one = {17, "mine", "{}", 1};
    must(store_workflow_put(store, &one, &err), &err);
    must(store_workflow_put(store, &(StoreWorkflow){16, "mine", "{\"old\":1}", 2}, &err), &err);
    one.at_ms = 3; /* the same again is fine, and the first stays */
    must(store_workflow_put(store, &one, &err), &err);

    must(store_begin(store, &err), &err);
    one.text = "{} ";
    must_fail(store_workflow_put(store, &one, &err), &err, ERR_CONFLICT);
    one.text = "{}";
    one.name = "Mine";
    must_fail(store_workflow_put(store, &one, &err), &err, ERR_CONFLICT);
    must(store_workflow_put(store, &(StoreWorkflow){255, "other", NULL, 4}, &err), &err);
    must(store_commit(store, &err), &err);
    must(store_workflow_list(store, take_workflow, all, &err), &err);
    assert_string_equal(all, "16:mine:{\"old\":1}:2;17:mine:{}:1;255:other::4;");
    store_free(store);
}

static void a_workflow_has_a_number_that_fits_a_run(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    must_fail(store_workflow_put(store, &(StoreWorkflow){0, "n", "t", 1}, &err), &err, ERR_STORE);
    must_fail(store_workflow_put(store, &(StoreWorkflow){256, "n", "t", 1}, &err), &err, ERR_STORE);
    store_free(store);
}

static bool take_step(void *user, const StoreStep *step)
{
    text_addf(user, "%lld:%s>%s;", (long long)step->id, step->phase, step->next);
    return true;
}

static bool take_one_step(void *user, const StoreStep *step)
{
    take_step(user, step);
    return false;
}

static void steps_are_listed_in_the_order_of_their_task(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t ids[3] = {0};
    char all[256] = "", first[256] = "";
    Store *store = store_with_runs(room->path);
    StoreStep plan = {.task = 1, .run = 1, .phase = "plan", .next = "check", .ended_ms = 9};
    StoreStep other = {.task = 2, .run = 2, .phase = "plan", .next = "(stop)"};
    StoreStep check = {.task = 1, .run = 1, .phase = "check", .next = "exec", .ended_ms = 3};
    must(store_step_put(store, &plan, &ids[0], &err), &err);
    must(store_step_put(store, &other, &ids[1], &err), &err);
    must(store_step_put(store, &check, &ids[2], &err), &err);
    must(store_step_put(store, &check, NULL, &err), &err); /* a second passage is a second row */
    assert_true(ids[0] > 0 && ids[0] < ids[1] && ids[1] < ids[2]);
    must(store_step_list(store, 1, take_step, all, &err), &err);
    assert_string_equal(all, "1:plan>check;3:check>exec;4:check>exec;");
    must(store_step_list(store, 1, take_one_step, first, &err), &err);
    assert_string_equal(first, "1:plan>check;");
    all[0] = '\0';
    must(store_step_list(store, 9, take_step, all, &err), &err);
    assert_string_equal(all, "");
    store_free(store);
}

static bool check_step(void *user, const StoreStep *step)
{
    ++*(unsigned *)user;
    assert_int_equal(step->run, 0);
    assert_int_equal(step->epoch, 2);
    assert_int_equal(step->turn, UINT32_MAX);
    assert_int_equal(step->stage, 4);
    assert_int_equal(step->started_ms, 5);
    assert_int_equal(step->ended_ms, 6);
    assert_string_equal(step->phase, "check");
    assert_string_equal(step->checkpoint, "post-exec");
    assert_string_equal(step->result, "NEEDS_FIX");
    assert_string_equal(step->row, "route.12");
    assert_string_equal(step->why, "'; DROP TABLE step; --\n\xff");
    assert_string_equal(step->next, "exec");
    assert_string_equal(step->status, "executing");
    assert_string_equal(step->commit, "abc");
    assert_string_equal(step->agent, ""); /* not given */
    assert_string_equal(step->prompt_hash, "hash");
    return true;
}

static void every_field_of_a_step_comes_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    unsigned count = 0;
    Store *store = store_with_runs(room->path);
    StoreStep step = {.task = 1,
                      .epoch = 2,
                      .turn = UINT32_MAX,
                      .stage = 4,
                      .phase = "check",
                      .checkpoint = "post-exec",
                      .result = "NEEDS_FIX",
                      .row = "route.12",
                      .why = "'; DROP TABLE step; --\n\xff",
                      .next = "exec",
                      .status = "executing",
                      .commit = "abc",
                      .prompt_hash = "hash",
                      .started_ms = 5,
                      .ended_ms = 6};
    must(store_step_put(store, &step, NULL, &err), &err);
    must(store_step_list(store, 1, check_step, &count, &err), &err);
    assert_int_equal(count, 1);
    store_free(store);
}

static void a_step_of_no_task_is_refused(void **state)
{
    Room *room = *state;
    Err err = {0};
    char all[256] = "";
    Store *store = store_with_runs(room->path);
    must_fail(store_step_put(store, &(StoreStep){.task = 9}, NULL, &err), &err, ERR_STORE);
    must(store_begin(store, &err), &err);
    must(store_step_put(store, &(StoreStep){.task = 1}, NULL, &err), &err);
    must(store_step_put(store, &(StoreStep){.task = 9}, NULL, &err), &err);
    must_fail(store_commit(store, &err), &err, ERR_STORE);
    must(store_step_list(store, 1, take_step, all, &err), &err);
    must(store_step_list(store, 9, take_step, all, &err), &err);
    assert_string_equal(all, "");
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_workflow_is_never_changed),
        ROOM(a_workflow_has_a_number_that_fits_a_run),
        ROOM(steps_are_listed_in_the_order_of_their_task),
        ROOM(every_field_of_a_step_comes_back),
        ROOM(a_step_of_no_task_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
