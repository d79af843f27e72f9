/* The ledger of stages, and refinements. */
#include "tests/store/support.h"

static bool take_stage(void *user, const StoreStage *stage)
{
    text_addf(user, "%u/%u:%s:%s:%d>%d;", stage->stage, stage->attempt, stage->name, stage->outcome,
              stage->before, stage->after);
    return true;
}

static void assert_stages(Store *store, TaskId task, const char *want)
{
    Err err = {0};
    char all[256] = "";
    must(store_stage_list(store, task, take_stage, all, &err), &err);
    assert_string_equal(all, want);
}

static void the_ledger_is_in_order_and_a_stage_is_overwritten(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    StoreStage stage = {.task = 1, .stage = 2, .attempt = 1, .name = "b", .before = -1};
    must(store_stage_put(store, &stage, &err), &err);
    stage = (StoreStage){.task = 1, .stage = 1, .attempt = 2, .name = "a2", .outcome = "accepted"};
    must(store_stage_put(store, &stage, &err), &err);
    stage = (StoreStage){.task = 1, .stage = 1, .attempt = 1, .name = "a1", .cause = "fell"};
    must(store_stage_put(store, &stage, &err), &err);
    stage.task = 2;
    must(store_stage_put(store, &stage, &err), &err);
    assert_stages(store, 1, "1/1:a1::0>0;1/2:a2:accepted:0>0;2/1:b::-1>0;");
    stage = (StoreStage){.task = 1, .stage = 2, .attempt = 1, .outcome = "spent", .after = 9500};
    must(store_stage_put(store, &stage, &err), &err);
    assert_stages(store, 1, "1/1:a1::0>0;1/2:a2:accepted:0>0;2/1::spent:0>9500;");
    assert_stages(store, 2, "1/1:a1::0>0;");
    assert_stages(store, 9, "");
    store_free(store);
}

static bool check_stage(void *user, const StoreStage *stage)
{
    ++*(unsigned *)user;
    assert_int_equal(stage->task, 1);
    assert_string_equal(stage->objective, "objective");
    assert_string_equal(stage->moves, "R1 R4");
    assert_string_equal(stage->reason, "reason");
    assert_string_equal(stage->cause, "cause");
    assert_string_equal(stage->commit, "commit");
    assert_int_equal(stage->started_ms, 3);
    assert_int_equal(stage->ended_ms, 4);
    return true;
}

static void every_field_of_a_stage_comes_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    unsigned count = 0;
    Store *store = store_with_runs(room->path);
    StoreStage stage = {.task = 1,
                        .stage = 1,
                        .attempt = 1,
                        .objective = "objective",
                        .moves = "R1 R4",
                        .reason = "reason",
                        .cause = "cause",
                        .commit = "commit",
                        .started_ms = 3,
                        .ended_ms = 4};
    must(store_stage_put(store, &stage, &err), &err);
    must(store_stage_list(store, 1, check_stage, &count, &err), &err);
    assert_int_equal(count, 1);
    stage.stage = 0;
    must_fail(store_stage_put(store, &stage, &err), &err, ERR_STORE);
    stage.stage = 1;
    stage.attempt = 0;
    must_fail(store_stage_put(store, &stage, &err), &err, ERR_STORE);
    stage.attempt = 1;
    stage.task = 9;
    must_fail(store_stage_put(store, &stage, &err), &err, ERR_STORE);
    store_free(store);
}

static bool take_refinement(void *user, const StoreRefinement *refinement)
{
    text_addf(user, "%lld:%s:%s:%s:%d:%d;", (long long)refinement->id, refinement->text,
              refinement->impact, refinement->touches, (int)refinement->applied_ms,
              (int)refinement->withdrawn_ms);
    return true;
}

static void assert_refinements(Store *store, bool with_ended, const char *want)
{
    Err err = {0};
    char all[256] = "";
    must(store_refinement_list(store, 1, with_ended, take_refinement, all, &err), &err);
    assert_string_equal(all, want);
}

/* Refinements 1 to 3 of task 1, and 4 of task 2. */
static Store *refined_store(Room *room)
{
    static const char *const texts[] = {"a", "b", "c", "other"};
    Err err = {0};
    Store *store = store_with_runs(room->path);
    for (int64_t i = 0; i < 4; i++) {
        int64_t id = 0;
        StoreRefinement refinement = {.task = i < 3 ? 1 : 2, .text = texts[i], .at_ms = 9 - i};
        must(store_refinement_put(store, &refinement, &id, &err), &err);
        assert_int_equal(id, i + 1);
    }
    return store;
}

static void waiting_refinements_are_applied_at_once(void **state)
{
    Room *room = *state;
    Err err = {0};
    uint32_t count = 9;
    Store *store = refined_store(room);
    assert_refinements(store, false, "1:a:::0:0;2:b:::0:0;3:c:::0:0;");
    must(store_refinement_withdraw(store, 1, 2, 5, &err), &err);
    must(store_refinement_apply(store, 1, 6, "minor", NULL, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_refinements(store, false, "");
    assert_refinements(store, true, "1:a:minor::6:0;2:b:::0:5;3:c:minor::6:0;");
    must(store_refinement_apply(store, 1, 7, "major", "R1", &count, &err), &err);
    assert_int_equal(count, 0); /* what was applied stays as it was */
    StoreRefinement late = {.task = 1, .text = "d", .impact = "none", .touches = "R2"};
    must(store_refinement_put(store, &late, NULL, &err), &err);
    must(store_refinement_apply(store, 1, 8, NULL, "R3", NULL, &err), &err);
    assert_refinements(store, true, "1:a:minor::6:0;2:b:::0:5;3:c:minor::6:0;5:d:none:R3:8:0;");
    store_free(store);
}

static void only_a_waiting_refinement_is_withdrawn(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = refined_store(room);
    must(store_begin(store, &err), &err);
    must(store_refinement_withdraw(store, 1, 1, 5, &err), &err);
    must_fail(store_refinement_withdraw(store, 1, 1, 6, &err), &err, ERR_CONFLICT);
    assert_non_null(strstr(err.text, "withdrawn"));
    must_fail(store_refinement_withdraw(store, 1, 4, 6, &err), &err, ERR_NOT_FOUND);
    must_fail(store_refinement_withdraw(store, 1, 99, 6, &err), &err, ERR_NOT_FOUND);
    must(store_refinement_apply(store, 1, 7, NULL, NULL, NULL, &err), &err);
    must_fail(store_refinement_withdraw(store, 1, 2, 8, &err), &err, ERR_CONFLICT);
    assert_non_null(strstr(err.text, "applied"));
    must(store_commit(store, &err), &err);
    assert_refinements(store, true, "1:a:::0:5;2:b:::7:0;3:c:::7:0;");
    must_fail(store_refinement_put(store, &(StoreRefinement){.task = 9}, NULL, &err), &err,
              ERR_STORE);
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(the_ledger_is_in_order_and_a_stage_is_overwritten),
        ROOM(every_field_of_a_stage_comes_back),
        ROOM(waiting_refinements_are_applied_at_once),
        ROOM(only_a_waiting_refinement_is_withdrawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
