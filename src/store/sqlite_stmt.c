/* Statements: prepared once, taken and given back; failures translated. */
#include "store/sqlite.h"
#include <errno.h>

/* The system's own reason for a failed call. A failed commit does not pass it on, so the log file
 * is asked for its last one. */
static int system_reason(sqlite3 *db, int code)
{
    sqlite3_file *log = NULL;
    int reason = sqlite3_system_errno(db);
    if (code != SQLITE_IOERR_WRITE && code != SQLITE_IOERR_FSYNC)
        return reason;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log &&
        log->pMethods)
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &reason); /* or as it is */
    return reason;
}

static bool is_full(sqlite3 *db, int code)
{
    int reason = system_reason(db, code);
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR &&
            (reason == ENOSPC || reason == EDQUOT || reason == EFBIG));
}

static ErrKind kind_of(sqlite3 *db, int code)
{
    if (is_full(db, code))
        return ERR_NO_SPACE;
    if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY)
        return ERR_CONFLICT;
    switch (code & 0xff) { /* result codes are ints, not an enum */
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return ERR_CORRUPT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ERR_BUSY;
    case SQLITE_TOOBIG:
        return ERR_TOO_BIG;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return ERR_IO;
    case SQLITE_MISUSE:
        return ERR_INTERNAL;
    default:
        return ERR_STORE;
    }
}

bool sqlite_fail(sqlite3 *db, int code, const char *what, Err *err)
{
    int reason = system_reason(db, code);
    ErrKind kind = kind_of(db, code);

    if (kind == ERR_TOO_BIG)
        return err_set(err, kind, "%s: a text is longer than %d bytes", what, STORE_TEXT_MAX);
    if (kind == ERR_NO_SPACE)
        return err_set(err, kind, "%s: the disk is full (%s)", what, sqlite3_errmsg(db));
    if (kind == ERR_IO && reason)
        return err_set(err, kind, "%s: %s (%s)", what, sqlite3_errmsg(db), strerror(reason));
    return err_set(err, kind, "%s: %s", what, sqlite3_errmsg(db));
}

/* A rule of the schema undoes its own statement only; after anything else the transaction is not
 * to be trusted (SQLite may have rolled it back already, and a later put would then commit alone).
 */
static bool stmt_fail(SqliteStore *store, int code, Err *err)
{
    Err own;
    sqlite_fail(store->db, code, "database", &own);
    if (store->in_transaction && (code & 0xff) != SQLITE_CONSTRAINT && own.kind != ERR_TOO_BIG) {
        store->is_broken = true;
        store->broken = own;
    }
    if (err)
        *err = own;
    return false;
}

static bool stmt_prepare(SqliteStore *store, const char *sql, sqlite3_stmt **raw, Err *err)
{
    int code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, raw, NULL);
    return code == SQLITE_OK || stmt_fail(store, code, err);
}

bool stmt_take(Store *base, Slot slot, const char *sql, Stmt *stmt, Err *err)
{
    SqliteStore *store = (SqliteStore *)base;
    if (store->is_broken) {
        if (err)
            *err = store->broken;
        return false;
    }
    sqlite3_stmt **kept = &store->stmts[slot];
    *stmt = (Stmt){.store = store};
    if (!*kept && !stmt_prepare(store, sql, kept, err))
        return false;
    stmt->raw = *kept;
    if (!sqlite3_stmt_busy(*kept))
        return true;
    stmt->is_own = true;
    return stmt_prepare(store, sql, &stmt->raw, err);
}

static bool stmt_give(Stmt *stmt, Err *err)
{
    int code = stmt->is_own ? sqlite3_finalize(stmt->raw) : sqlite3_reset(stmt->raw);
    if (stmt->code != SQLITE_OK)
        code = stmt->code;
    return code == SQLITE_OK || stmt_fail(stmt->store, code, err);
}

bool stmt_run(Stmt *stmt, Err *err)
{
    while (stmt_next(stmt))
        ; /* a write may return rows that nobody wants */
    return stmt_give(stmt, err);
}

bool stmt_next(Stmt *stmt)
{
    return stmt->code == SQLITE_OK && sqlite3_step(stmt->raw) == SQLITE_ROW;
}

bool stmt_end(Stmt *stmt, Err *err)
{
    return stmt_give(stmt, err); /* which knows the result of the last step */
}

bool stmt_answer(Stmt *stmt, int64_t *number, Err *err)
{
    int64_t own = stmt_next(stmt) ? stmt_int(stmt, 0) : 0;
    if (!stmt_end(stmt, err))
        return false;
    *number = own;
    return true;
}

int stmt_changes(const Stmt *stmt)
{
    return sqlite3_changes(stmt->store->db);
}

const char *stmt_text(const Stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt->raw, column);
    return text ? text : "";
}

const char *stmt_text_or_null(const Stmt *stmt, int column)
{
    return (const char *)sqlite3_column_text(stmt->raw, column);
}

static void bind_check(Stmt *stmt, int code)
{
    if (code != SQLITE_OK)
        stmt->code = code;
}

void bind_text(Stmt *stmt, int position, const char *text)
{
    bind_check(stmt, sqlite3_bind_text(stmt->raw, position, text ? text : "", -1, SQLITE_STATIC));
}

void bind_text_or_null(Stmt *stmt, int position, const char *text)
{
    /* a NULL pointer binds NULL */
    bind_check(stmt, sqlite3_bind_text(stmt->raw, position, text, -1, SQLITE_STATIC));
}

void bind_bytes(Stmt *stmt, int position, const void *bytes, size_t length)
{
    bind_check(
        stmt, sqlite3_bind_blob64(stmt->raw, position, length ? bytes : "", length, SQLITE_STATIC));
}
