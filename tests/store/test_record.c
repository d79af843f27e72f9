/* Records: answers once per turn, all else added; lists and the newest. */
#include "tests/store/support.h"

static void every_kind_of_record_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RECORD_KIND_COUNT; i++) {
        RecordKind kind = RECORD_KIND_COUNT;
        assert_true(record_kind_find(record_kind_word((RecordKind)i), &kind));
        assert_int_equal(kind, i);
    }
    RecordKind kind = RECORD_HOOK;
    assert_false(record_kind_find("nonsense", &kind));
    assert_false(record_kind_find("", &kind));
    assert_int_equal(kind, RECORD_HOOK); /* untouched */
    assert_string_equal(record_kind_word(RECORD_KIND_COUNT), "?");
}

static bool take(void *user, const StoreRecord *record)
{
    text_addf(user, "%lld:%s:%s;", (long long)record->id, record_kind_word(record->kind),
              record->text);
    return true;
}

static void assert_records(Store *store, TaskId task, RecordKind kind, const char *want)
{
    Err err = {0};
    char all[256] = "";
    must(store_record_list(store, task, kind, take, all, &err), &err);
    assert_string_equal(all, want);
}

static void an_answer_overwrites_the_one_of_its_turn(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t first = 0, again = 0, next = 0;
    StoreRecord got;
    Store *store = store_with_runs(room->path);
    StoreRecord answer = {.task = 1, .run = 1, .epoch = 2, .turn = 3, .text = "a", .data = "{}"};
    must(store_record_put(store, &answer, &first, &err), &err);
    answer.text = "b";
    answer.data = "{\"b\":1}";
    answer.stage = 5;
    answer.checkpoint = "post-plan";
    answer.result = "PASS";
    answer.at_ms = 9;
    must(store_record_put(store, &answer, &again, &err), &err);
    assert_int_equal(first, again);
    answer.turn = 4;
    answer.text = "c";
    must(store_record_put(store, &answer, &next, &err), &err);
    assert_true(next > again);
    answer.epoch = 3;
    answer.text = "d";
    must(store_record_put(store, &answer, NULL, &err), &err);
    answer.run = 2;
    answer.task = 2;
    must(store_record_put(store, &answer, NULL, &err), &err);
    assert_records(store, 1, RECORD_ANSWER, "1:answer:b;2:answer:c;3:answer:d;");

    must(store_record_answer(store, 1, 2, 3, &room->arena, &got, &err), &err);
    assert_int_equal(got.id, first);
    assert_int_equal(got.task, 1);
    assert_int_equal(got.run, 1);
    assert_int_equal(got.epoch, 2);
    assert_int_equal(got.turn, 3);
    assert_int_equal(got.stage, 5);
    assert_int_equal(got.kind, RECORD_ANSWER);
    assert_string_equal(got.checkpoint, "post-plan");
    assert_string_equal(got.result, "PASS");
    assert_string_equal(got.text, "b");
    assert_string_equal(got.data, "{\"b\":1}");
    assert_int_equal(got.at_ms, 9);
    store_free(store);
}

static void an_answer_of_another_turn_is_not_found(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreRecord got = {.id = 9};
    Store *store = store_with_runs(room->path);
    StoreRecord plan = {.task = 1, .run = 1, .epoch = 2, .turn = 3, .kind = RECORD_PLAN};
    StoreRecord loose = {.task = 1, .text = "of no run"};
    must(store_record_put(store, &plan, NULL, &err), &err);
    must(store_record_put(store, &loose, NULL, &err), &err);
    must(store_record_put(store, &loose, NULL, &err), &err); /* belongs to no turn: added */
    assert_records(store, 1, RECORD_ANSWER, "2:answer:of no run;3:answer:of no run;");
    must(store_record_answer(store, 1, 2, 3, &room->arena, &got, &err), &err);
    assert_int_equal(got.id, 0);
    assert_string_equal(got.text, "");
    assert_string_equal(got.data, "");
    must(store_record_answer(store, 0, 0, 0, &room->arena, &got, &err), &err);
    assert_int_equal(got.id, 0);
    store_free(store);
}

static bool take_one(void *user, const StoreRecord *record)
{
    take(user, record);
    return false;
}

static void records_are_added_and_listed_oldest_first(void **state)
{
    Room *room = *state;
    Err err = {0};
    char first[256] = "";
    Store *store = store_with_runs(room->path);
    static const RecordKind kinds[] = {RECORD_REPORT, RECORD_PLAN, RECORD_CHECK, RECORD_PLAN};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        StoreRecord record = {.task = 1, .run = 1, .epoch = 1, .turn = 1, .kind = kinds[i]};
        record.at_ms = 100 - (int64_t)i; /* a clock that goes back does not matter */
        record.text = "x";
        must(store_record_put(store, &record, NULL, &err), &err);
        record.task = record.run = 2;
        must(store_record_put(store, &record, NULL, &err), &err);
    }
    assert_records(store, 1, RECORD_KIND_COUNT, "1:report:x;3:plan:x;5:check:x;7:plan:x;");
    assert_records(store, 2, RECORD_PLAN, "4:plan:x;8:plan:x;");
    assert_records(store, 1, RECORD_GUARD, "");
    assert_records(store, 9, RECORD_KIND_COUNT, "");
    must(store_record_list(store, 1, RECORD_KIND_COUNT, take_one, first, &err), &err);
    assert_string_equal(first, "1:report:x;");
    store_free(store);
}

static void the_newest_record_is_found_by_kind_and_checkpoint(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreRecord got;
    Store *store = store_with_runs(room->path);
    static const char *const checkpoints[] = {"post-plan", "mid-exec", "post-plan", "mid-exec", ""};
    for (size_t i = 0; i < COUNT(checkpoints); i++) {
        StoreRecord record = {.task = 1, .kind = RECORD_CHECK, .checkpoint = checkpoints[i]};
        must(store_record_put(store, &record, NULL, &err), &err);
    }
    StoreRecord *record = &got;
    must(store_record_last(store, 1, RECORD_CHECK, NULL, &room->arena, record, &err), &err);
    assert_int_equal(got.id, 5);
    must(store_record_last(store, 1, RECORD_CHECK, "post-plan", &room->arena, record, &err), &err);
    assert_int_equal(got.id, 3);
    assert_string_equal(got.checkpoint, "post-plan");
    must(store_record_last(store, 1, RECORD_CHECK, "", &room->arena, record, &err), &err);
    assert_int_equal(got.id, 5);
    must(store_record_last(store, 1, RECORD_CHECK, "post-exec", &room->arena, record, &err), &err);
    assert_int_equal(got.id, 0);
    assert_string_equal(got.result, "");
    must(store_record_last(store, 1, RECORD_PLAN, NULL, &room->arena, record, &err), &err);
    assert_int_equal(got.id, 0);
    must(store_record_last(store, 2, RECORD_CHECK, NULL, &room->arena, record, &err), &err);
    assert_int_equal(got.id, 0);
    store_free(store);
}

static void a_wrong_record_is_refused_and_the_transaction_goes_on(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t id = 77;
    char *huge = mem_alloc(STORE_TEXT_MAX + 2);
    memset(huge, 'x', STORE_TEXT_MAX + 1);
    Store *store = store_with_runs(room->path);
    StoreRecord good = {.task = 1, .run = 1, .epoch = 1, .turn = 1, .text = "kept"};
    must(store_begin(store, &err), &err);
    must(store_record_put(store, &good, NULL, &err), &err);
    StoreRecord wrong = {.task = 1, .kind = RECORD_KIND_COUNT};
    must_fail(store_record_put(store, &wrong, &id, &err), &err, ERR_STORE);
    wrong = good;
    wrong.text = huge;
    must_fail(store_record_put(store, &wrong, &id, &err), &err, ERR_TOO_BIG);
    wrong.text = "";
    wrong.data = huge;
    must_fail(store_record_put(store, &wrong, &id, &err), &err, ERR_TOO_BIG);
    assert_int_equal(id, 77); /* untouched */
    must(store_commit(store, &err), &err);
    assert_records(store, 1, RECORD_KIND_COUNT, "1:answer:kept;");

    must_fail(store_record_put(store, &(StoreRecord){.task = 9}, NULL, &err), &err, ERR_STORE);
    store_free(store);
    free(huge);
}

static void a_rolled_back_answer_leaves_the_one_before(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    StoreRecord answer = {.task = 1, .run = 1, .epoch = 1, .turn = 1, .text = "first"};
    must(store_record_put(store, &answer, NULL, &err), &err);
    must(store_begin(store, &err), &err);
    answer.text = "second";
    must(store_record_put(store, &answer, NULL, &err), &err);
    assert_records(store, 1, RECORD_ANSWER, "1:answer:second;");
    store_rollback(store);
    assert_records(store, 1, RECORD_ANSWER, "1:answer:first;");
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_record_has_a_word_of_its_own),
        ROOM(an_answer_overwrites_the_one_of_its_turn),
        ROOM(an_answer_of_another_turn_is_not_found),
        ROOM(records_are_added_and_listed_oldest_first),
        ROOM(the_newest_record_is_found_by_kind_and_checkpoint),
        ROOM(a_wrong_record_is_refused_and_the_transaction_goes_on),
        ROOM(a_rolled_back_answer_leaves_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
