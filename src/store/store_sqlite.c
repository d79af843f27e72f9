/* SQLite as the store: opening, settings, transactions. The queries are in sqlite_*.c by noun. */
#include "base/str.h"
#include "store/migrations.h"
#include "store/sqlite.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_WAIT_MS = 5000 };

static const StoreOps sqlite_ops = {
#define X(name) .name = sqlite_##name,
    STORE_OPS(X)
#undef X
};

/* ---- opening ---- */

/* Made by us and empty, because the database's own way would let others read it (tokens). Only a
 * file that was not there is ever closed here: closing another would drop SQLite's locks on it. */
static bool file_make(const char *path, Err *err)
{
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    return errno == EEXIST || err_errno(err, "database '%s' cannot be made", path);
}

static bool file_find(const char *path, unsigned flags, Err *err)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISREG(info.st_mode))
            return true;
        return err_set(err, ERR_CORRUPT, "'%s' is not a file, so no database", path);
    }
    if (errno != ENOENT)
        return err_errno(err, "database '%s'", path);
    if (flags & STORE_CREATE)
        return file_make(path, err);
    return err_set(err, ERR_NOT_FOUND, "there is no database '%s'", path);
}

static bool db_set(sqlite3 *db, const char *sql, Err *err)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || sqlite_fail(db, code, "setting up", err);
}

/* What touches no byte of the file. Unmeasured memory and no locks inside the library: one thread
 * uses a store. The cache is modest, for P26; the log file stays at its size, for P4: overwriting
 * costs a third of growing. */
static bool db_prepare(sqlite3 *db, Err *err)
{
    int keep = 1;
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_WAIT_MS);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, STORE_TEXT_MAX);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    return db_set(
        db,
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096;"
        "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 1000;"
        /* only after a reader that stood still made the log grow beyond all use */
        "PRAGMA journal_size_limit = 67108864;",
        err);
}

static bool db_is_wal(sqlite3 *db, Err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
    bool is_wal = code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
                  strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
    int end = sqlite3_finalize(stmt);
    if (code == SQLITE_OK)
        code = end;
    if (code != SQLITE_OK)
        return sqlite_fail(db, code, "write-ahead log", err);
    return is_wal || err_set(err, ERR_IO, "write-ahead log: this file system cannot hold one");
}

static bool db_open_writer(sqlite3 *db, const char *path, Err *err)
{
    if (sqlite3_db_readonly(db, "main") == 1)
        return err_set(err, ERR_IO, "database '%s' may not be written", path);
    if (!db_is_wal(db, err) || !migrate_run(db, store_migrations, store_migration_count, err))
        return err_add(err, "database '%s' (its folder must be writable)", path);
    return true;
}

static bool db_open_reader(const char *path, int version, Err *err)
{
    return version == store_migration_count ||
           err_set(err, ERR_CONFLICT,
                   "'%s' has version %d of the schema and has to be brought to %d first; start the "
                   "engine once",
                   path, version, store_migration_count);
}

static bool db_open(sqlite3 *db, const char *path, unsigned flags, Err *err)
{
    int version = 0;
    if (!db_prepare(db, err))
        return err_add(err, "database '%s'", path);
    if (!migrate_look(db, path, &version, err))
        return false;
    if (version > store_migration_count)
        return err_set(err, ERR_NEWER,
                       "'%s' was written by a newer otto: its schema has version %d, this program "
                       "knows versions up to %d; nothing was changed",
                       path, version, store_migration_count);
    return flags & STORE_READ_ONLY ? db_open_reader(path, version, err)
                                   : db_open_writer(db, path, err);
}

Store *store_open(const char *path, unsigned flags, Err *err)
{
    int way = flags & STORE_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    /* Fails once the library is in use, which is fine: it saves time, nothing depends on it. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (flags & STORE_READ_ONLY)
        flags &= ~(unsigned)STORE_CREATE;
    if (!file_find(path, flags, err))
        return NULL;

    SqliteStore *store = mem_alloc(sizeof *store);
    *store = (SqliteStore){.base.ops = &sqlite_ops, .is_read_only = flags & STORE_READ_ONLY};
    int code = sqlite3_open_v2(path, &store->db, way | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        sqlite_fail(store->db, code, path, err);
    if (code != SQLITE_OK || !db_open(store->db, path, flags, err)) {
        /* A file that was refused is left as it is, its log too. */
        if (store->db)
            sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_free(&store->base);
        return NULL;
    }
    return &store->base;
}

void sqlite_free(Store *base)
{
    SqliteStore *store = (SqliteStore *)base;
    for (size_t i = 0; i < COUNT(store->stmts); i++)
        sqlite3_finalize(store->stmts[i]);
    /* With a limit the library would cut the log to nothing at the end. */
    if (store->db)
        (void)sqlite3_exec(store->db, "PRAGMA journal_size_limit = -1", NULL, NULL, NULL);
    int code = sqlite3_close(store->db); /* rolls back */
    assert(code == SQLITE_OK);
    (void)code;
    free(store);
}

/* ---- the whole ---- */

int sqlite_version(Store *base)
{
    (void)base;
    return store_migration_count; /* no store of another version is ever open */
}

static int check_row(void *found, int count, char **values, char **names)
{
    (void)names;
    Str *text = found;
    for (int i = 0; i < count && i < 3; i++)
        str_addf(text, "%s%s", i ? " " : "", values[i] ? values[i] : "-");
    return 1; /* the first finding is enough */
}

static bool check_one(sqlite3 *db, const char *sql, const char *good, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    int code = sqlite3_exec(db, sql, check_row, &text, NULL);
    if (code != SQLITE_OK && code != SQLITE_ABORT)
        return sqlite_fail(db, code, "checking", err);
    if (strcmp(str_text(&text), good) == 0)
        return true;
    return err_set(err, ERR_CORRUPT, "the database is damaged: %s", str_text(&text));
}

bool sqlite_check(Store *base, Err *err)
{
    sqlite3 *db = ((SqliteStore *)base)->db;
    return check_one(db, "PRAGMA integrity_check(1)", "ok", err) &&
           check_one(db, "PRAGMA foreign_key_check", "", err);
}

/* ---- transactions ---- */

bool sqlite_begin(Store *base, Err *err)
{
    SqliteStore *store = (SqliteStore *)base;
    Stmt stmt;
    if (store->in_transaction)
        return err_set(err, ERR_INTERNAL, "a transaction is under way already");
    bool is_taken = store->is_read_only
                        ? stmt_take(base, SLOT_BEGIN_READ, "BEGIN", &stmt, err)
                        : stmt_take(base, SLOT_BEGIN, "BEGIN IMMEDIATE", &stmt, err);
    if (!is_taken || !stmt_run(&stmt, err))
        return false;
    store->in_transaction = true;
    return true;
}

bool sqlite_commit(Store *base, Err *err)
{
    SqliteStore *store = (SqliteStore *)base;
    Stmt stmt;
    if (!store->in_transaction)
        return err_set(err, ERR_INTERNAL, "there is no transaction to commit");
    bool is_done = stmt_take(base, SLOT_COMMIT, "COMMIT", &stmt, err) && stmt_run(&stmt, err);
    if (!is_done) {
        sqlite_rollback(base);
        return false;
    }
    store->in_transaction = false;
    return true;
}

void sqlite_rollback(Store *base)
{
    SqliteStore *store = (SqliteStore *)base;
    /* After some failures the database has rolled back by itself. */
    if (store->in_transaction && !sqlite3_get_autocommit(store->db))
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* cannot fail in a way we
                                                                        could answer */
    store->in_transaction = false;
    store->is_broken = false;
}
