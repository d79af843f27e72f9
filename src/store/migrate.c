/* Bringing a file to this program's version of the schema. */
#include "store/migrations.h"
#include "store/sqlite.h"

static bool ask_int(sqlite3 *db, const char *sql, int64_t *number, Err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        *number = sqlite3_column_int64(stmt, 0);
    int end = sqlite3_finalize(stmt);
    if (code == SQLITE_OK)
        code = end;
    return code == SQLITE_OK || sqlite_fail(db, code, "reading the version", err);
}

static bool run_sql(sqlite3 *db, const char *sql, const char *what, Err *err)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || sqlite_fail(db, code, what, err);
}

bool migrate_look(sqlite3 *db, const char *path, int *version, Err *err)
{
    int64_t mark = 0, number = 0, tables = 0;
    if (!ask_int(db, "PRAGMA application_id", &mark, err) ||
        !ask_int(db, "PRAGMA user_version", &number, err) ||
        !ask_int(db, "SELECT count(*) FROM sqlite_schema", &tables, err))
        return err_add(err, "'%s'", path);
    bool is_new = mark == 0 && number == 0 && tables == 0;
    if (!is_new && (mark != STORE_APPLICATION_ID || number < 1))
        return err_set(err, ERR_CORRUPT,
                       "'%s' is a database, but not one of otto; nothing was changed", path);
    *version = (int)number;
    return true;
}

/* From version to version + 1, inside a transaction. */
static bool step_take(sqlite3 *db, const char *step, int version, Err *err)
{
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             STORE_APPLICATION_ID, version + 1);
    return run_sql(db, step, "migrating", err) && run_sql(db, marks, "migrating", err) &&
           run_sql(db, "COMMIT", "migrating", err);
}

bool migrate_run(sqlite3 *db, const char *const *steps, int count, Err *err)
{
    for (;;) {
        int64_t version = 0;
        if (!ask_int(db, "PRAGMA user_version", &version, err))
            return false;
        if (version >= count)
            return true;
        /* read again under the write lock: another process may have been quicker */
        if (!run_sql(db, "BEGIN IMMEDIATE", "migrating", err))
            return false;
        bool is_done = ask_int(db, "PRAGMA user_version", &version, err) &&
                       (version < count ? step_take(db, steps[version], (int)version, err)
                                        : run_sql(db, "COMMIT", "migrating", err));
        if (!is_done) {
            if (!sqlite3_get_autocommit(db))
                (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* the first error counts */
            return err_add(err, "from version %d to %d", (int)version, (int)version + 1);
        }
    }
}
