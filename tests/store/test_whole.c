/* Puts of several rows are whole or not at all: inside a transaction and without one, when a row is
 * refused, when the disk is full, when the process is killed. */
#include "tests/store/support.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 40 };

/* Items and requirements 1 to count, each with the same text. */
typedef struct Wish {
    StoreItem items[MANY];
    StoreRequirement requirements[MANY];
    StoreCheckpoint checks[MANY];
    StoreObjective objective;
} Wish;

static Wish *wish_make(Wish *wish, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++) {
        wish->items[i] = (StoreItem){.number = i + 1, .text = text};
        wish->requirements[i] = (StoreRequirement){.number = i + 1, .text = text};
        wish->checks[i] = (StoreCheckpoint){.number = i + 1, .command = text};
    }
    wish->objective = (StoreObjective){wish->items, count, wish->requirements, count};
    return wish;
}

static bool wish_save(Store *store, Wish *wish, Err *err)
{
    return store_objective_save(store, 1, &wish->objective, err) &&
           store_checkpoints_save(store, 1, wish->checks, wish->objective.item_count, err);
}

typedef struct Seen {
    size_t count;
    const char *text;
    bool is_same;
} Seen;

static bool see_check(void *user, const StoreCheckpoint *check)
{
    Seen *seen = user;
    seen->count++;
    seen->is_same = seen->is_same && strcmp(check->command, seen->text) == 0;
    return true;
}

/* So many rows of each kind, all with this text. */
static bool is_stored(Store *store, size_t count, const char *text)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Err err = {0};
    StoreObjective got;
    Seen seen = {.text = text, .is_same = true};
    if (!store_objective_get(store, 1, &arena, &got, &err) ||
        !store_checkpoint_list(store, 1, see_check, &seen, &err))
        return false;
    for (size_t i = 0; i < got.item_count; i++)
        seen.is_same = seen.is_same && strcmp(got.items[i].text, text) == 0;
    for (size_t i = 0; i < got.requirement_count; i++)
        seen.is_same = seen.is_same && strcmp(got.requirements[i].text, text) == 0;
    return seen.is_same && seen.count == count && got.item_count == count &&
           got.requirement_count == count;
}

/* Each way to be wrong, in the last row, after all others went in. */
static void refuse_all(Store *store)
{
    Err err = {0};
    Wish wish = {0};
    StoreObjective *objective = &wish_make(&wish, 5, "new")->objective;
    wish.items[4].number = 1;
    must_fail(store_objective_save(store, 1, objective, &err), &err, ERR_CONFLICT);
    wish.items[4].number = 0;
    must_fail(store_objective_save(store, 1, objective, &err), &err, ERR_STORE);
    wish.items[4].number = 5;
    wish.requirements[4].number = 4;
    must_fail(store_objective_save(store, 1, objective, &err), &err, ERR_CONFLICT);
    char *huge = mem_alloc(STORE_TEXT_MAX + 2);
    memset(huge, 'x', STORE_TEXT_MAX + 1);
    wish.requirements[4] = (StoreRequirement){.number = 5, .reason = huge};
    must_fail(store_objective_save(store, 1, objective, &err), &err, ERR_TOO_BIG);
    wish.checks[4].command = huge;
    must_fail(store_checkpoints_save(store, 1, wish.checks, 5, &err), &err, ERR_TOO_BIG);
    wish.checks[4] = wish.checks[0];
    must_fail(store_checkpoints_save(store, 1, wish.checks, 5, &err), &err, ERR_CONFLICT);
    wish.checks[4].number = 0;
    must_fail(store_checkpoints_save(store, 1, wish.checks, 5, &err), &err, ERR_STORE);
    free(huge);
}

static void a_refused_row_leaves_what_was_stored(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    Store *store = store_with_runs(room->path);
    must(wish_save(store, wish_make(&wish, 3, "old"), &err), &err);
    refuse_all(store);
    assert_true(is_stored(store, 3, "old"));
    must(wish_save(store, wish_make(&wish, 4, "next"), &err), &err);
    assert_true(is_stored(store, 4, "next"));
    store_free(store);
}

static void a_refused_row_leaves_the_transaction_as_it_was(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    Store *store = store_with_runs(room->path);
    must(wish_save(store, wish_make(&wish, 3, "old"), &err), &err);
    must(store_begin(store, &err), &err);
    must(store_meta_set(store, "before", "1", &err), &err);
    must(wish_save(store, wish_make(&wish, 2, "inside"), &err), &err);
    refuse_all(store);
    assert_true(is_stored(store, 2, "inside"));
    must(store_meta_set(store, "after", "1", &err), &err);
    must(store_commit(store, &err), &err);
    const char *before = NULL, *after = NULL;
    must(store_meta_find(store, "before", &room->arena, &before, &err), &err);
    must(store_meta_find(store, "after", &room->arena, &after, &err), &err);
    assert_true(before && after);
    assert_true(is_stored(store, 2, "inside"));
    must(store_check(store, &err), &err);
    store_free(store);
}

static void a_rollback_takes_all_of_it_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    Store *store = store_with_runs(room->path);
    must(wish_save(store, wish_make(&wish, 3, "old"), &err), &err);
    must(store_begin(store, &err), &err);
    must(wish_save(store, wish_make(&wish, 5, "new"), &err), &err);
    store_rollback(store);
    assert_true(is_stored(store, 3, "old"));
    store_free(store);
}

static void rows_of_no_task_are_refused_at_the_commit(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    Store *store = store_with_runs(room->path);
    StoreObjective *objective = &wish_make(&wish, 2, "x")->objective;
    must_fail(store_objective_save(store, 9, objective, &err), &err, ERR_STORE);
    must_fail(store_checkpoints_save(store, 9, wish.checks, 2, &err), &err, ERR_STORE);
    must(store_begin(store, &err), &err);
    must(store_objective_save(store, 9, objective, &err), &err);
    must_fail(store_commit(store, &err), &err, ERR_STORE);
    must(store_begin(store, &err), &err); /* a refused one leaves no debt behind */
    wish.requirements[1].number = 1;
    must_fail(store_objective_save(store, 9, objective, &err), &err, ERR_CONFLICT);
    must(store_commit(store, &err), &err);
    StoreObjective got;
    must(store_objective_get(store, 9, &room->arena, &got, &err), &err);
    assert_int_equal(got.item_count + got.requirement_count, 0);
    store_free(store);
}

static bool save_inside(void *user, const StoreStep *step)
{
    Err err = {0};
    Wish wish = {0};
    (void)step;
    must(wish_save(user, wish_make(&wish, 2, "inside"), &err), &err);
    refuse_all(user);
    return true;
}

static void a_list_goes_on_around_it(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_with_runs(room->path);
    for (int i = 0; i < 3; i++)
        must(store_step_put(store, &(StoreStep){.task = 1}, NULL, &err), &err);
    must(store_step_list(store, 1, save_inside, store, &err), &err);
    must(store_begin(store, &err), &err);
    must(store_step_list(store, 1, save_inside, store, &err), &err);
    must(store_commit(store, &err), &err);
    assert_true(is_stored(store, 2, "inside"));
    store_free(store);
}

static void a_reader_may_not_save(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    Store *store = store_with_runs(room->path);
    must(wish_save(store, wish_make(&wish, 3, "old"), &err), &err);
    Store *reader = store_must_open(room->path, STORE_READ_ONLY);
    must_fail(wish_save(reader, wish_make(&wish, 2, "new"), &err), &err, ERR_IO);
    assert_true(is_stored(reader, 3, "old"));
    must_fail(store_record_put(reader, &(StoreRecord){.task = 1}, NULL, &err), &err, ERR_IO);
    store_free(reader);
    store_free(store);
}

/* ---- full disk; in children nobody catches an assertion: any failure is an exit code ---- */

static void want(bool is_done, const Err *err, int code)
{
    if (is_done)
        return;
    fprintf(stderr, "child: %d: %s\n", code, err->text);
    _exit(code);
}

static void limit_files(rlim_t size, Err *err)
{
    struct rlimit limit;
    want(getrlimit(RLIMIT_FSIZE, &limit) == 0, err, 1);
    limit.rlim_cur = size ? size : limit.rlim_max;
    want(setrlimit(RLIMIT_FSIZE, &limit) == 0, err, 1);
}

/* Records go in until the disk is full; how many did. */
static unsigned fill(Store *store, Err *err)
{
    static char text[8192];
    memset(text, 'x', sizeof text - 1);
    StoreRecord record = {.task = 1, .run = 1, .kind = RECORD_NOTES, .text = text};
    for (unsigned count = 0;; count++)
        if (!store_record_put(store, &record, NULL, err))
            return count;
}

static bool count_record(void *user, const StoreRecord *record)
{
    (void)record;
    ++*(unsigned *)user;
    return true;
}

static void save_on_a_full_disk(void *user)
{
    static char text[4096];
    static Wish old, new;
    Err err = {0};
    memset(text, 'y', sizeof text - 1);
    signal(SIGXFSZ, SIG_IGN);
    Store *store = store_open(user, 0, &err);
    want(store, &err, 1);
    want(wish_save(store, wish_make(&old, 3, "old"), &err), &err, 2);
    wish_make(&new, MANY, text);
    limit_files(800000, &err);
    unsigned count = fill(store, &err), listed = 0;
    want(err.kind == ERR_NO_SPACE, &err, 3);
    /* alone */
    want(!wish_save(store, &new, &err) && err.kind == ERR_NO_SPACE, &err, 4);
    want(is_stored(store, 3, "old"), &err, 5);
    /* inside: the failure may come with the put or with the commit, and nothing is kept */
    want(store_begin(store, &err), &err, 6);
    want(store_meta_set(store, "inside", "1", &err), &err, 7);
    bool is_put = wish_save(store, &new, &err);
    want(!store_commit(store, &err) && err.kind == ERR_NO_SPACE, &err, is_put ? 8 : 9);
    want(is_stored(store, 3, "old"), &err, 10);
    /* there is space again, and the very same store goes on */
    limit_files(0, &err);
    want(wish_save(store, &new, &err), &err, 11);
    want(is_stored(store, MANY, text), &err, 12);
    want(store_record_list(store, 1, RECORD_NOTES, count_record, &listed, &err), &err, 13);
    want(listed == count && count > 10, &err, 14);
    want(store_check(store, &err), &err, 15);
    store_free(store);
}

static void a_full_disk_leaves_what_was_stored_and_the_store_goes_on(void **state)
{
    Room *room = *state;
    store_free(store_with_runs(room->path));
    int status = child_run(save_on_a_full_disk, room->path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- killed at every statement ---- */

static int moments_left;

static int on_moment(unsigned kind, void *user, void *a, void *b)
{
    (void)kind, (void)user, (void)a, (void)b;
    if (--moments_left == 0)
        raise(SIGKILL);
    return 0;
}

static int watch(sqlite3 *db, const char **message, const struct sqlite3_api_routines *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, on_moment, NULL);
}

typedef struct Attempt {
    const char *path;
    int moments; /* to live, from the save on */
} Attempt;

static void save_and_die(void *user)
{
    const Attempt *attempt = user;
    static Wish wish;
    Err err = {0};
    sqlite3_auto_extension((void (*)(void))watch);
    Store *store = store_open(attempt->path, 0, &err);
    want(store, &err, 1);
    wish_make(&wish, 4, "new");
    moments_left = attempt->moments;
    want(wish_save(store, &wish, &err), &err, 2);
    moments_left = 0;
    store_free(store);
}

static void killed_at_any_moment_each_list_is_the_old_or_the_new_one(void **state)
{
    Room *room = *state;
    Err err = {0};
    Wish wish = {0};
    store_free(store_with_runs(room->path));
    for (int moments = 1;; moments++) {
        Store *store = store_must_open(room->path, 0);
        must(wish_save(store, wish_make(&wish, 3, "old"), &err), &err);
        store_free(store);
        int status = child_run(save_and_die, &(Attempt){room->path, moments});
        store = store_must_open(room->path, 0);
        StoreObjective got;
        Seen seen = {.text = "", .is_same = true};
        must(store_objective_get(store, 1, &room->arena, &got, &err), &err);
        must(store_checkpoint_list(store, 1, see_check, &seen, &err), &err);
        assert_true(got.item_count == got.requirement_count);
        assert_true(got.item_count == 3 || got.item_count == 4);
        assert_string_equal(got.items[0].text, got.item_count == 3 ? "old" : "new");
        assert_true(seen.count == 3 || seen.count == 4);
        assert_true(seen.count <= got.item_count); /* one save after the other */
        store_free(store);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            assert_int_equal(seen.count, 4);
            assert_true(moments > 30);
            return;
        }
    }
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_refused_row_leaves_what_was_stored),
        ROOM(a_refused_row_leaves_the_transaction_as_it_was),
        ROOM(a_rollback_takes_all_of_it_back),
        ROOM(rows_of_no_task_are_refused_at_the_commit),
        ROOM(a_list_goes_on_around_it),
        ROOM(a_reader_may_not_save),
        ROOM(a_full_disk_leaves_what_was_stored_and_the_store_goes_on),
        ROOM(killed_at_any_moment_each_list_is_the_old_or_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
