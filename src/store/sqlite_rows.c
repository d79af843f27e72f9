/* Saving and reading the rows of core/. This is the hot path: one statement a row, no query before
 * it, numbers by position (P2). */
#include "store/sqlite_rows.h"

#define MARK_NEXT(kind, column, field) ", ?"
#define SET_FIRST(kind, column, field) "\"" #column "\" = ?"
#define SET_NEXT(kind, column, field) ", " SET_FIRST(kind, column, field)

/* Most saves meet a row that is there, so it is updated, and inserted only when there was none: an
 * update without references writes the row in place, at a third of the cost of an upsert. */
#define UPDATE(table, LIST)                                                                        \
    "UPDATE " table " SET " LIST##_FIRST(SET_FIRST) LIST##_REST(SET_NEXT) " WHERE id = ?"
#define INSERT(table, LIST)                                                                        \
    "INSERT INTO " table                                                                           \
    " (id" LIST##_AFTER_ID(COLUMN_NEXT) ") VALUES (?" LIST##_AFTER_ID(MARK_NEXT) ")"

#define BIND_INT(stmt, position, value) bind_int(stmt, position, (int64_t)(value))
#define BIND_HASH(stmt, position, value) bind_text(stmt, position, value)
#define READ_INT(stmt, column, value) (value) = (__typeof__(value))stmt_int(stmt, column)
#define READ_HASH(stmt, column, value) hash_read(stmt, column, value)

#define BIND_ONE(kind, column, field) BIND_##kind(&stmt, ++position, row->field);
#define READ_ONE(kind, column, field) READ_##kind(stmt, first++, row->field);

static void hash_read(const Stmt *stmt, int column, char hash[HASH_SIZE])
{
    const char *text = stmt_text(stmt, column);
    size_t length = strnlen(text, HASH_SIZE - 1);
    memcpy(hash, text, length);
    hash[length] = '\0';
}

static bool project_insert(Store *store, const Project *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_PROJECT_INSERT, INSERT("project", PROJECT), &stmt, err))
        return false;
    PROJECT_COLUMNS(BIND_ONE)
    return stmt_run(&stmt, err);
}

bool sqlite_project_save(Store *store, const Project *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_PROJECT_UPDATE, UPDATE("project", PROJECT), &stmt, err))
        return false;
    PROJECT_FIRST(BIND_ONE)
    PROJECT_REST(BIND_ONE)
    bind_int(&stmt, ++position, row->id);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 || project_insert(store, row, err);
}

static bool task_insert(Store *store, const Task *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_TASK_INSERT, INSERT("task", TASK), &stmt, err))
        return false;
    TASK_COLUMNS(BIND_ONE)
    return stmt_run(&stmt, err);
}

bool sqlite_task_save(Store *store, const Task *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_TASK_UPDATE, UPDATE("task", TASK), &stmt, err))
        return false;
    TASK_FIRST(BIND_ONE)
    TASK_REST(BIND_ONE)
    bind_int(&stmt, ++position, row->id);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 || task_insert(store, row, err);
}

static bool run_insert(Store *store, const Run *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_RUN_INSERT, INSERT("run", RUN), &stmt, err))
        return false;
    RUN_COLUMNS(BIND_ONE)
    return stmt_run(&stmt, err);
}

bool sqlite_run_save(Store *store, const Run *row, Err *err)
{
    Stmt stmt;
    int position = 0;
    if (!stmt_take(store, SLOT_RUN_UPDATE, UPDATE("run", RUN), &stmt, err))
        return false;
    RUN_FIRST(BIND_ONE)
    RUN_REST(BIND_ONE)
    bind_int(&stmt, ++position, row->id);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 || run_insert(store, row, err);
}

void project_read(const Stmt *stmt, int first, Project *row)
{
    *row = (Project){0};
    PROJECT_COLUMNS(READ_ONE)
}

void task_read(const Stmt *stmt, int first, Task *row)
{
    *row = (Task){0};
    TASK_COLUMNS(READ_ONE)
}

void run_read(const Stmt *stmt, int first, Run *row)
{
    *row = (Run){0};
    RUN_COLUMNS(READ_ONE)
}

bool sqlite_dependency_add(Store *store, const Dependency *dependency, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_DEPENDENCY_ADD,
                   "INSERT INTO dependency (task, \"on\", need) VALUES (?1, ?2, ?3)"
                   " ON CONFLICT (task, \"on\") DO UPDATE SET need = ?3",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, dependency->task);
    bind_int(&stmt, 2, dependency->on);
    bind_int(&stmt, 3, dependency->need);
    return stmt_run(&stmt, err);
}

bool sqlite_dependency_remove(Store *store, TaskId task, TaskId on, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_DEPENDENCY_REMOVE,
                   "DELETE FROM dependency WHERE task = ? AND \"on\" = ?", &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, on);
    return stmt_run(&stmt, err);
}
