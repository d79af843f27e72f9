/* Events: in order, for ever. */
#include "tests/store/support.h"

#include "core/event.h"
#include <sqlite3.h>

typedef struct Seen {
    int64_t ids[64];
    unsigned count, most;
    StoreEvent last;
    char data[256];
} Seen;

static bool see(void *user, const StoreEvent *event)
{
    Seen *seen = user;
    seen->ids[seen->count++] = event->id;
    seen->last = *event;
    snprintf(seen->data, sizeof seen->data, "%s|%s|%s", event->data ? event->data : "NULL",
             event->decision ? event->decision : "NULL", event->why ? event->why : "NULL");
    return seen->most == 0 || seen->count < seen->most;
}

static int64_t put(Store *store, ProjectId project, TaskId task)
{
    Err err = {0};
    int64_t id = 0;
    StoreEvent event = {.kind = EV_TICK, .project = project, .task = task};
    must(store_event_put(store, &event, &id, &err), &err);
    return id;
}

static void an_event_comes_back_whole(void **state)
{
    Room *room = *state;
    Err err = {0};
    Seen seen = {0};
    int64_t id = 0, last = -1;
    Store *store = store_must_open(room->path, STORE_CREATE);
    must(store_event_last(store, &last, &err), &err);
    assert_int_equal(last, 0);
    StoreEvent event = {.at_ms = 1700000000000,
                        .project = 1,
                        .task = 2,
                        .run = 3,
                        .epoch = 4,
                        .turn = 5,
                        .kind = EVENT_COUNT - 1,
                        .data = "{\"a\":1}",
                        .decision = "task 2 pending -> active",
                        .why = "its turn"};
    must(store_event_put(store, &event, &id, &err), &err);
    assert_int_equal(id, 1);
    store_free(store);

    store = store_must_open(room->path, 0);
    must(store_event_list(store, 0, 0, 0, see, &seen, &err), &err);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.id, 1);
    assert_int_equal(seen.last.at_ms, event.at_ms);
    assert_int_equal(seen.last.project, 1);
    assert_int_equal(seen.last.task, 2);
    assert_int_equal(seen.last.run, 3);
    assert_int_equal(seen.last.epoch, 4);
    assert_int_equal(seen.last.turn, 5);
    assert_int_equal(seen.last.kind, EVENT_COUNT - 1);
    assert_string_equal(seen.data, "{\"a\":1}|task 2 pending -> active|its turn");

    must(store_event_put(store, &(StoreEvent){.data = ""}, NULL, &err), &err);
    must(store_event_list(store, 0, 1, 0, see, &seen, &err), &err);
    assert_string_equal(seen.data, "|NULL|NULL");
    must(store_event_last(store, &last, &err), &err);
    assert_int_equal(last, 2);
    store_free(store);
}

static void lists_keep_order_limit_and_bounds(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    for (int i = 0; i < 10; i++) /* odd ids: project 1, task 7; even ids: project 2, task 8 */
        put(store, i % 2 ? 2 : 1, i % 2 ? 8 : 7);

    Seen seen = {0};
    must(store_event_list_task(store, 7, 0, 3, see, &seen, &err), &err);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.ids[0], 9);
    assert_int_equal(seen.ids[2], 5);
    must(store_event_list_task(store, 7, 5, 0, see, &seen, &err), &err);
    assert_int_equal(seen.count, 5);
    assert_int_equal(seen.ids[3], 3);
    assert_int_equal(seen.ids[4], 1);

    seen = (Seen){0};
    must(store_event_list(store, 2, 4, 2, see, &seen, &err), &err);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.ids[0], 6);
    assert_int_equal(seen.ids[1], 8);

    seen = (Seen){.most = 4};
    must(store_event_list(store, 0, 2, 0, see, &seen, &err), &err);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.ids[3], 6);
    store_free(store);
}

static void events_of_a_kind_are_counted_in_one_turn(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t count = -1;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    Run run = run_sample(1, 1, 1);
    must(store_run_save(store, &run, &err), &err);
    for (uint32_t turn = 1; turn <= 3; turn++)
        for (uint32_t i = 0; i < turn; i++) {
            StoreEvent event = {
                .kind = EV_SIGNAL, .project = 1, .task = 1, .run = 1, .epoch = 1, .turn = turn};
            must(store_event_put(store, &event, NULL, &err), &err);
            event.kind = EV_TURN_STARTED;
            must(store_event_put(store, &event, NULL, &err), &err);
        }
    must(store_event_count(store, EV_SIGNAL, 1, 1, 3, &count, &err), &err);
    assert_int_equal(count, 3);
    must(store_event_count(store, EV_SIGNAL, 1, 2, 3, &count, &err), &err);
    assert_int_equal(count, 0);
    must(store_event_count(store, EV_SIGNAL, 9, 1, 3, &count, &err), &err);
    assert_int_equal(count, 0);
    store_free(store);
}

static void the_database_itself_refuses_to_change_or_delete_an_event(void **state)
{
    Room *room = *state;
    Err err = {0};
    Seen seen = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    put(store, 1, 1);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(room->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE event SET why = 'x'", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM event", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_non_null(strstr(sqlite3_errmsg(db), "never deleted"));
    sqlite3_close(db);
    must(store_event_list(store, 0, 0, 0, see, &seen, &err), &err);
    assert_int_equal(seen.count, 1);
    store_free(store);
}

typedef struct Nest {
    Store *store;
    unsigned outer, inner;
} Nest;

static bool count_inner(void *user, const StoreEvent *event)
{
    (void)event;
    ((Nest *)user)->inner++;
    return true;
}

static bool list_again(void *user, const StoreEvent *event)
{
    Nest *nest = user;
    Err err = {0};
    nest->outer++;
    must(store_event_list(nest->store, 0, event->id, 0, count_inner, nest, &err), &err);
    return true;
}

static void a_list_may_be_read_inside_of_the_same_list(void **state)
{
    Room *room = *state;
    Err err = {0};
    Nest nest = {.store = store_must_open(room->path, STORE_CREATE)};
    for (int i = 0; i < 4; i++)
        put(nest.store, 1, 1);
    must(store_event_list(nest.store, 0, 0, 0, list_again, &nest, &err), &err);
    assert_int_equal(nest.outer, 4);
    assert_int_equal(nest.inner, 3 + 2 + 1);
    store_free(nest.store);
}

static void a_rolled_back_event_leaves_no_trace(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t last = -1;
    Store *store = store_must_open(room->path, STORE_CREATE);
    put(store, 1, 1);
    must(store_begin(store, &err), &err);
    assert_false(store_begin(store, &err));
    put(store, 1, 1);
    store_rollback(store);
    store_rollback(store);
    assert_false(store_commit(store, &err));
    must(store_event_last(store, &last, &err), &err);
    assert_int_equal(last, 1);
    assert_int_equal(put(store, 1, 1), 2);
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(an_event_comes_back_whole),
        ROOM(lists_keep_order_limit_and_bounds),
        ROOM(events_of_a_kind_are_counted_in_one_turn),
        ROOM(the_database_itself_refuses_to_change_or_delete_an_event),
        ROOM(a_list_may_be_read_inside_of_the_same_list),
        ROOM(a_rolled_back_event_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
