/* Opening: new files, old files, files that are not ours. */
#include "tests/store/support.h"

#include "store/migrations.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static void assert_refused(const char *path, unsigned flags, ErrKind kind)
{
    Err err = {0};
    Store *store = store_open(path, flags, &err);
    assert_null(store);
    if (err.kind != kind)
        fail_msg("expected %s, got %s: %s", err_kind_name(kind), err_kind_name(err.kind), err.text);
}

static void a_missing_file_is_made_only_when_asked(void **state)
{
    Room *room = *state;
    struct stat info;
    assert_refused(room->path, 0, ERR_NOT_FOUND);
    assert_refused(room->path, STORE_READ_ONLY | STORE_CREATE, ERR_NOT_FOUND);
    assert_false(path_exists(room->path));

    mode_t old = umask(0);
    Store *store = store_must_open(room->path, STORE_CREATE);
    umask(old);
    assert_int_equal(store_version(store), store_migration_count);
    store_free(store);
    assert_int_equal(stat(room->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600); /* run tokens are inside */
    store_free(NULL);
}

static void an_empty_file_left_by_a_crash_is_a_new_store(void **state)
{
    Room *room = *state;
    Err err = {0};
    must(file_write_plain(room->path, "", 0, 0600, &err), &err);
    assert_refused(room->path, STORE_READ_ONLY, ERR_CONFLICT);
    store_free(store_must_open(room->path, 0));
    store_free(store_must_open(room->path, STORE_READ_ONLY));
}

static void assert_file(const char *path, const char *bytes, size_t length)
{
    Err err = {0};
    size_t now = 0;
    char *text = file_read(path, 64 << 20, &now, &err);
    must(text, &err);
    assert_int_equal(now, length);
    assert_memory_equal(text, bytes, length);
    free(text);
}

static void a_newer_store_is_refused_and_not_changed(void **state)
{
    Room *room = *state;
    Err err = {0};
    char want[64];
    size_t length = 0;
    store_free(store_must_open(room->path, STORE_CREATE));
    sql(room->path, "PRAGMA user_version = 9001; PRAGMA wal_checkpoint(TRUNCATE);");
    char *before = file_read(room->path, 64 << 20, &length, &err);
    must(before, &err);

    assert_null(store_open(room->path, 0, &err));
    assert_int_equal(err.kind, ERR_NEWER);
    assert_non_null(strstr(err.text, "9001"));
    snprintf(want, sizeof want, "up to %d", store_migration_count);
    assert_non_null(strstr(err.text, want));
    assert_non_null(strstr(err.text, "nothing was changed"));
    assert_refused(room->path, STORE_READ_ONLY, ERR_NEWER);
    assert_refused(room->path, STORE_CREATE, ERR_NEWER);
    assert_file(room->path, before, length);
    free(before);
}

static void a_newer_version_that_is_only_in_the_log_is_seen(void **state)
{
    Room *room = *state;
    sqlite3 *db = NULL;
    store_free(store_must_open(room->path, STORE_CREATE));
    assert_int_equal(sqlite3_open(room->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 9001", NULL, NULL, NULL), SQLITE_OK);
    assert_refused(room->path, 0, ERR_NEWER);
    sqlite3_close(db);
}

static void what_is_no_database_of_otto_is_refused_and_not_changed(void **state)
{
    Room *room = *state;
    Err err = {0};
    char rubbish[8192];
    for (size_t i = 0; i < sizeof rubbish; i++)
        rubbish[i] = (char)(i * 31 + 7);
    must(file_write_plain(room->path, rubbish, sizeof rubbish, 0600, &err), &err);
    assert_refused(room->path, STORE_CREATE, ERR_CORRUPT);
    assert_file(room->path, rubbish, sizeof rubbish);
    must(file_write_plain(room->path, "short", 5, 0600, &err), &err);
    assert_refused(room->path, STORE_CREATE, ERR_CORRUPT);
    assert_file(room->path, "short", 5);
    assert_refused(room->folder, 0, ERR_CORRUPT);

    assert_int_equal(unlink(room->path), 0);
    sql(room->path, "CREATE TABLE task (id INTEGER PRIMARY KEY);");
    assert_refused(room->path, STORE_CREATE, ERR_CORRUPT);
    sql(room->path, "DROP TABLE task; PRAGMA application_id = 7; PRAGMA user_version = 1;");
    assert_refused(room->path, STORE_CREATE, ERR_CORRUPT);
}

static void damage_is_found(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 2000);
    must(store_check(store, &err), &err);
    store_free(store);
    sql(room->path, "PRAGMA wal_checkpoint(TRUNCATE);");

    char other[160];
    struct stat info;
    assert_int_equal(stat(room->path, &info), 0);
    snprintf(other, sizeof other, "%s/cut.db", room->folder);
    file_copy(room->path, other);
    assert_int_equal(truncate(other, info.st_size / 2), 0);
    store = store_open(other, 0, &err); /* found at once or by the check */
    assert_true(!store || !store_check(store, &err));
    assert_int_equal(err.kind, ERR_CORRUPT);
    store_free(store);

    file_copy(room->path, other);
    FILE *file = fopen(other, "r+");
    assert_non_null(file);
    for (long at = info.st_size / 2; at < info.st_size; at += 1000) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fwrite("damage damage damage", 1, 20, file), 20);
    }
    assert_int_equal(fclose(file), 0);
    store = store_open(other, 0, &err);
    assert_true(!store || !store_check(store, &err));
    assert_int_equal(err.kind, ERR_CORRUPT);
    store_free(store);
}

static void a_broken_reference_is_damage_too(void **state)
{
    Room *room = *state;
    Err err = {0};
    store_free(store_must_open(room->path, STORE_CREATE));
    sql(room->path, "INSERT INTO run_text VALUES (7, '', '', '', '', '', '', '', '', 0, '');");
    Store *store = store_must_open(room->path, 0);
    assert_false(store_check(store, &err));
    assert_int_equal(err.kind, ERR_CORRUPT);
    assert_non_null(strstr(err.text, "run_text"));
    store_free(store);
}

static void a_read_only_store_reads_and_writes_nothing(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreCounts counts;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 3);
    store_free(store);
    store = store_must_open(room->path, STORE_READ_ONLY);
    must(store_counts(store, &counts, &err), &err);
    assert_int_equal(counts.tasks, 3);
    assert_false(store_meta_set(store, "k", "v", &err));
    assert_int_equal(err.kind, ERR_IO);
    must(store_begin(store, &err), &err);
    assert_false(store_meta_set(store, "k", "v", &err));
    store_rollback(store);
    must(store_load(store, &(StoreLoader){0}, &err), &err);
    must(store_check(store, &err), &err);
    store_free(store);
}

enum { NOBODY = 65534 };

/* Exit code: the kind of the error. As root the rights of files do not count, so as nobody. */
static void open_as_nobody(void *user)
{
    Err err = {0};
    if (getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(99);
    Store *store = store_open(user, STORE_CREATE, &err);
    store_free(store);
    if (!store && !strstr(err.text, user))
        _exit(98); /* the sentence must name the file */
    _exit(store ? 0 : (int)err.kind);
}

static void a_folder_that_may_not_be_written_is_a_clear_error(void **state)
{
    Room *room = *state;
    int status = 0;
    assert_int_equal(chmod(room->folder, 0555), 0);
    status = child_run(open_as_nobody, room->path); /* the file cannot be made */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ERR_IO);

    assert_int_equal(chmod(room->folder, 0777), 0);
    store_free(store_must_open(room->path, STORE_CREATE));
    assert_int_equal(chmod(room->path, 0444), 0);
    status = child_run(open_as_nobody, room->path); /* the file may not be written */
    assert_int_equal(WEXITSTATUS(status), ERR_IO);

    char log[160];
    snprintf(log, sizeof log, "%s-wal", room->path);
    (void)unlink(log); /* may be absent */
    snprintf(log, sizeof log, "%s-shm", room->path);
    (void)unlink(log); /* may be absent */
    assert_int_equal(chmod(room->path, 0666), 0);
    assert_int_equal(chmod(room->folder, 0555), 0);
    status = child_run(open_as_nobody, room->path); /* the log cannot be made */
    assert_int_equal(WEXITSTATUS(status), ERR_IO);
    assert_int_equal(chmod(room->folder, 0755), 0);
}

/* Some 300 pages of log in one commit. */
static void write_much(Store *store)
{
    Err err = {0};
    static char text[4000];
    memset(text, 'x', sizeof text - 1);
    must(store_begin(store, &err), &err);
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        must(store_meta_set(store, key, text, &err), &err);
    }
    must(store_commit(store, &err), &err);
}

static void the_log_keeps_its_size_and_is_written_over(void **state)
{
    Room *room = *state;
    struct stat before, after;
    char log[160];
    Store *store = store_must_open(room->path, STORE_CREATE);
    snprintf(log, sizeof log, "%s-wal", room->path);
    for (int i = 0; i < 8; i++)
        write_much(store);
    assert_int_equal(stat(log, &before), 0);
    for (int i = 0; i < 16; i++)
        write_much(store);
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    store_free(store);
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    store_free(store_must_open(room->path, 0));
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_missing_file_is_made_only_when_asked),
        ROOM(an_empty_file_left_by_a_crash_is_a_new_store),
        ROOM(a_newer_store_is_refused_and_not_changed),
        ROOM(a_newer_version_that_is_only_in_the_log_is_seen),
        ROOM(what_is_no_database_of_otto_is_refused_and_not_changed),
        ROOM(damage_is_found),
        ROOM(a_broken_reference_is_damage_too),
        ROOM(a_read_only_store_reads_and_writes_nothing),
        ROOM(a_folder_that_may_not_be_written_is_a_clear_error),
        ROOM(the_log_keeps_its_size_and_is_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
