/* Objectives and the checks of a plan: replaced as a whole. */
#include "tests/store/support.h"

static StoreObjective get(Store *store, TaskId task, Arena *arena)
{
    Err err = {0};
    StoreObjective got = {.item_count = 99};
    must(store_objective_get(store, task, arena, &got, &err), &err);
    return got;
}

static void an_objective_comes_back_by_number(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    StoreItem items[] = {
        {.number = 2, .text = "second", .is_constraint = true, .stage = 7},
        {.number = 1, .text = "first", .marker = "confirmed"},
    };
    StoreRequirement requirements[] = {
        {.number = 30, .text = "late"},
        {.number = 4,
         .item = 1,
         .text = "\xff'\"",
         .criteria = "passes",
         .weight = 3,
         .coverage = 10000,
         .previous = -1,
         .reason = "seen",
         .source = "person"},
    };
    StoreObjective objective = {items, 2, requirements, 2};
    must(store_objective_save(store, 1, &objective, &err), &err);
    StoreObjective got = get(store, 1, &room->arena);
    assert_int_equal(got.item_count, 2);
    assert_int_equal(got.items[0].number, 1);
    assert_false(got.items[0].is_constraint);
    assert_string_equal(got.items[0].text, "first");
    assert_string_equal(got.items[0].marker, "confirmed");
    assert_int_equal(got.items[0].stage, 0);
    assert_true(got.items[1].is_constraint);
    assert_string_equal(got.items[1].marker, "");
    assert_int_equal(got.items[1].stage, 7);
    assert_int_equal(got.requirement_count, 2);
    const StoreRequirement *four = &got.requirements[0];
    assert_int_equal(four->number, 4);
    assert_int_equal(four->item, 1);
    assert_string_equal(four->text, "\xff'\"");
    assert_string_equal(four->criteria, "passes");
    assert_int_equal(four->weight, 3);
    assert_int_equal(four->coverage, 10000);
    assert_int_equal(four->previous, -1);
    assert_string_equal(four->reason, "seen");
    assert_string_equal(four->source, "person");
    assert_int_equal(got.requirements[1].number, 30);
    assert_string_equal(got.requirements[1].criteria, "");
    store_free(store);
}

static void a_save_replaces_all_of_its_task_and_nothing_else(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    StoreItem items[40] = {{0}};
    StoreRequirement requirements[40] = {{0}};
    for (uint32_t i = 0; i < 40; i++)
        items[i].number = requirements[i].number = i + 1;
    StoreObjective many = {items, 40, requirements, 40}, one = {items, 1, NULL, 0};
    assert_int_equal(get(store, 1, &room->arena).item_count, 0);
    must(store_objective_save(store, 1, &many, &err), &err);
    must(store_objective_save(store, 2, &many, &err), &err);
    must(store_objective_save(store, 1, &one, &err), &err);
    StoreObjective got = get(store, 1, &room->arena);
    assert_int_equal(got.item_count, 1);
    assert_int_equal(got.requirement_count, 0);
    got = get(store, 2, &room->arena);
    assert_int_equal(got.item_count, 40);
    assert_int_equal(got.requirement_count, 40);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(got.items[i].number + got.requirements[i].number, 2 * (i + 1));
    must(store_objective_save(store, 2, &(StoreObjective){0}, &err), &err);
    assert_int_equal(get(store, 2, &room->arena).item_count, 0);
    store_free(store);
}

static bool take_check(void *user, const StoreCheckpoint *check)
{
    text_addf(user, "%u.%u:%u:%s:%s:%s:%s:%d;", check->task, check->number, check->step,
              check->name, check->command, check->mode, check->state, (int)check->at_ms);
    return true;
}

static void assert_checks(Store *store, TaskId task, const char *want)
{
    Err err = {0};
    char all[256] = "";
    must(store_checkpoint_list(store, task, take_check, all, &err), &err);
    assert_string_equal(all, want);
}

static void the_checks_of_a_plan_are_replaced_and_coloured(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    StoreCheckpoint checks[] = {
        {.number = 2, .step = 1, .command = "b", .mode = "human", .state = "new"},
        {.task = 9, .number = 1, .step = 3, .name = "n", .command = "a", .mode = "executable"},
    };
    assert_checks(store, 1, "");
    must(store_checkpoints_save(store, 1, checks, 2, &err), &err);
    must(store_checkpoints_save(store, 2, checks, 1, &err), &err);
    assert_checks(store, 1, "1.1:3:n:a:executable::0;1.2:1::b:human:new:0;");
    must(store_checkpoint_state(store, 1, 2, "green", 5, &err), &err);
    must(store_checkpoint_state(store, 1, 2, "regressed", 6, &err), &err);
    assert_checks(store, 1, "1.1:3:n:a:executable::0;1.2:1::b:human:regressed:6;");
    assert_checks(store, 2, "2.2:1::b:human:new:0;");

    must(store_begin(store, &err), &err);
    must_fail(store_checkpoint_state(store, 1, 3, "green", 7, &err), &err, ERR_NOT_FOUND);
    must(store_checkpoint_state(store, 2, 2, "waits", 8, &err), &err);
    must(store_commit(store, &err), &err);
    assert_checks(store, 2, "2.2:1::b:human:waits:8;");

    must(store_checkpoints_save(store, 1, checks, 1, &err), &err);
    assert_checks(store, 1, "1.2:1::b:human:new:0;");
    must(store_checkpoints_save(store, 1, NULL, 0, &err), &err);
    assert_checks(store, 1, "");
    must_fail(store_checkpoint_state(store, 1, 2, "green", 9, &err), &err, ERR_NOT_FOUND);
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(an_objective_comes_back_by_number),
        ROOM(a_save_replaces_all_of_its_task_and_nothing_else),
        ROOM(the_checks_of_a_plan_are_replaced_and_coloured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
