/* Migrations that are killed at every statement: the old version or the new one, never between
 * (F19). */
#include "tests/store/support.h"

#include "store/migrations.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a next version could be: a new table, a new column, changed rows, a longer list. */
static const char next[] =
    "CREATE TABLE sprint (id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
    " kind INTEGER NOT NULL CHECK (kind >= 0 AND kind < 3)) STRICT;"
    "ALTER TABLE task ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;"
    "UPDATE task SET weight = id * 2;"
    "INSERT INTO sprint SELECT id, 'of task ' || id, 2 FROM task;"
    "CREATE INDEX sprint_by_name ON sprint (name);" WIDEN(sprint, kind, 3, 5);

/* This program's steps and one more. */
static const char *const *steps(int *count, const char *more)
{
    static const char *list[256];
    assert_in_range(store_migration_count, 1, COUNT(list) - 1);
    memcpy(list, store_migrations, (size_t)store_migration_count * sizeof list[0]);
    list[store_migration_count] = more;
    *count = store_migration_count + 1;
    return list;
}

static int64_t ask(sqlite3 *db, const char *text)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return number;
}

/* ---- killing ---- */

static int moments_left; /* of the child; counted down at the begin and end of each statement */

static int on_moment(unsigned kind, void *user, void *a, void *b)
{
    (void)kind, (void)user, (void)a, (void)b;
    if (--moments_left <= 0)
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
    int moments; /* to live */
} Attempt;

static void watch_from_now(const Attempt *attempt)
{
    moments_left = attempt->moments;
    /* the documented way to hook a function of another shape into every connection */
    sqlite3_auto_extension((void (*)(void))watch);
}

static void open_and_die(void *user)
{
    const Attempt *attempt = user;
    Err err = {0};
    watch_from_now(attempt);
    Store *store = store_open(attempt->path, STORE_CREATE, &err);
    if (!store)
        fprintf(stderr, "child: %s\n", err.text);
    _exit(store ? 0 : 1);
}

static void open_without_space(void *user)
{
    Err err = {0};
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(1);
    limit.rlim_cur = 33000; /* the index of the log just fits, the log of a migration does not */
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(1);
    Store *store = store_open(user, 0, &err);
    _exit(store ? 0 : (int)err.kind);
}

static void migrate_and_die(void *user)
{
    const Attempt *attempt = user;
    Err err = {0};
    sqlite3 *db = NULL;
    int count = 0;
    const char *const *list = steps(&count, next);
    watch_from_now(attempt);
    bool is_done =
        sqlite3_open(attempt->path, &db) == SQLITE_OK && migrate_run(db, list, count, &err);
    if (!is_done)
        fprintf(stderr, "child: %s\n", err.text);
    _exit(is_done ? 0 : 1);
}

/* Lets the child die one moment later each time, until it lives to its end; how often it died. */
static int kill_at_every_moment(const char *path, void (*act)(void *),
                                void (*prepare)(const char *), void (*judge)(const char *))
{
    for (int moments = 1;; moments++) {
        prepare(path);
        int status = child_run(act, &(Attempt){path, moments});
        judge(path);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return moments - 1;
        }
        assert_int_equal(WTERMSIG(status), SIGKILL);
    }
}

/* ---- from nothing to this version ---- */

static void remove_file(const char *path)
{
    char other[160];
    (void)unlink(path); /* absent the first time */
    snprintf(other, sizeof other, "%s-wal", path);
    (void)unlink(other); /* may be absent */
    snprintf(other, sizeof other, "%s-shm", path);
    (void)unlink(other); /* may be absent */
}

/* Every step whole or not at all: the version says which. */
static int64_t judge_version(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int64_t version = ask(db, "PRAGMA user_version");
    int64_t tables = ask(db, "SELECT count(*) FROM sqlite_schema");
    assert_in_range(version, 0, store_migration_count);
    assert_int_equal(version == 0, tables == 0);
    assert_int_equal(ask(db, "PRAGMA application_id"), version ? STORE_APPLICATION_ID : 0);
    /* the first, some of the middle and the last change of step 2 */
    static const char *const of_2[] = {
        "SELECT count(*) FROM sqlite_schema WHERE name = 'event' AND sql LIKE '%kind < 55)%'",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'run' AND sql LIKE '%(state%< 16)%'",
        "SELECT count(*) FROM pragma_table_info('project') WHERE name = 'max_steps'",
        "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'good'",
        "SELECT count(*) FROM pragma_table_info('turn') WHERE name = 'checkpoint'",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'workflow'",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'record_one_answer'",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'plan_check'",
    };
    for (size_t i = 0; i < COUNT(of_2); i++)
        assert_int_equal(ask(db, of_2[i]), version >= 2);
    sqlite3_close(db);
    return version;
}

static void judge_new(const char *path)
{
    Err err = {0};
    judge_version(path);

    Store *store = store_must_open(path, STORE_CREATE); /* the next start goes on */
    store_fill(store, 1);
    must(store_check(store, &err), &err);
    store_free(store);
}

static void a_new_store_is_made_whole_or_not_at_all(void **state)
{
    Room *room = *state;
    assert_true(kill_at_every_moment(room->path, open_and_die, remove_file, judge_new) > 150);
}

/* ---- from the first version to this one ---- */

static void prepare_first(const char *path)
{
    remove_file(path);
    file_copy(FIRST_FILE, path);
}

static void judge_first(const char *path)
{
    Err err = {0};
    int64_t last = 0;
    StoreCounts counts;
    assert_true(judge_version(path) >= 1);
    Store *store = store_must_open(path, 0); /* the next start goes on */
    assert_int_equal(judge_version(path), store_migration_count);
    must(store_check(store, &err), &err);
    must(store_counts(store, &counts, &err), &err);
    assert_int_equal(counts.projects, V1_AUTO_STATES);
    assert_int_equal(counts.tasks, V1_TASK_STATES);
    assert_int_equal(counts.runs, V1_RUN_STATES);
    assert_int_equal(counts.dependencies, V1_NEEDS);
    must(store_event_last(store, &last, &err), &err);
    assert_int_equal(last, V1_EVENTS);
    store_free(store);
}

static void the_first_version_is_brought_to_this_one_whole_or_not_at_all(void **state)
{
    Room *room = *state;
    assert_true(kill_at_every_moment(room->path, open_and_die, prepare_first, judge_first) > 100);
}

static void a_file_that_may_not_grow_keeps_its_first_version(void **state)
{
    Room *room = *state;
    prepare_first(room->path);
    int status = child_run(open_without_space, room->path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ERR_NO_SPACE);
    assert_int_equal(judge_version(room->path), 1);
    judge_first(room->path);
}

/* ---- from this version to the next ---- */

static void prepare_old(const char *path)
{
    remove_file(path);
    Store *store = store_must_open(path, STORE_CREATE);
    store_fill(store, 20);
    store_free(store);
}

static void judge_next(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int64_t version = ask(db, "PRAGMA user_version");
    bool is_new = version == store_migration_count + 1;
    assert_true(is_new || version == store_migration_count);
    assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sprint%'"),
                     is_new ? 2 : 0);
    assert_int_equal(
        ask(db, "SELECT count(*) FROM pragma_table_info('task') WHERE name = 'weight'"), is_new);
    assert_int_equal(ask(db, "SELECT count(*) FROM task"), 20);
    if (is_new) {
        assert_int_equal(ask(db, "SELECT sum(weight) FROM task"), 420);
        assert_int_equal(ask(db, "SELECT count(*) FROM sprint"), 20);
        assert_int_equal(ask(db, "SELECT sql LIKE '%kind < 5)%' FROM sqlite_schema"
                                 " WHERE name = 'sprint'"),
                         1);
    }
    assert_int_equal(ask(db, "SELECT count(*) FROM pragma_integrity_check"
                             " WHERE integrity_check <> 'ok'"),
                     0);
    sqlite3_close(db);
}

static void a_migration_is_taken_whole_or_not_at_all(void **state)
{
    Room *room = *state;
    assert_true(kill_at_every_moment(room->path, migrate_and_die, prepare_old, judge_next) > 20);
}

static void a_step_that_fails_leaves_the_old_version(void **state)
{
    Room *room = *state;
    Err err = {0};
    sqlite3 *db = NULL;
    int count = 0;
    const char *const *wrong =
        steps(&count, "CREATE TABLE sprint (id INTEGER); SELECT * FROM nowhere;");
    prepare_old(room->path);
    assert_int_equal(sqlite3_open(room->path, &db), SQLITE_OK);
    assert_false(migrate_run(db, wrong, count, &err));
    assert_int_equal(err.kind, ERR_STORE);
    assert_non_null(strstr(err.text, "nowhere"));
    sqlite3_close(db);
    judge_next(room->path);
    store_free(store_must_open(room->path, 0));
}

static void a_check_is_widened_without_touching_the_rows(void **state)
{
    Room *room = *state;
    Err err = {0};
    sqlite3 *db = NULL;
    int count = 0;
    const char *const *list = steps(&count, next);
    prepare_old(room->path);
    assert_int_equal(sqlite3_open(room->path, &db), SQLITE_OK);
    must(migrate_run(db, list, count, &err), &err);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO sprint VALUES (100, '', 4)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO sprint VALUES (101, '', 5)", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    must(migrate_run(db, list, count, &err), &err); /* again: nothing to do */
    sqlite3_close(db);
    assert_null(store_open(room->path, 0, &err));
    assert_int_equal(err.kind, ERR_NEWER);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_new_store_is_made_whole_or_not_at_all),
        ROOM(the_first_version_is_brought_to_this_one_whole_or_not_at_all),
        ROOM(a_file_that_may_not_grow_keeps_its_first_version),
        ROOM(a_migration_is_taken_whole_or_not_at_all),
        ROOM(a_step_that_fails_leaves_the_old_version),
        ROOM(a_check_is_widened_without_touching_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
