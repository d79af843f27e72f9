/* The SQLite implementation's inside, shared by its files (sqlite_*.c). Nobody else includes this.
 *
 * Every statement has a slot and is prepared at its first use, once. The way of a write: stmt_take,
 * bind every parameter by position, stmt_run. The way of a read: stmt_take, bind, stmt_next until
 * it answers false, stmt_end. */
#pragma once
#include "store/ops.h"
#include <sqlite3.h>

typedef enum Slot {
    SLOT_BEGIN,
    SLOT_BEGIN_READ,
    SLOT_COMMIT,
    SLOT_EVENT_PUT,
    SLOT_EVENT_LIST_TASK,
    SLOT_EVENT_LIST,
    SLOT_EVENT_COUNT,
    SLOT_EVENT_LAST,
    SLOT_PROJECT_UPDATE,
    SLOT_PROJECT_INSERT,
    SLOT_PROJECT_LOAD,
    SLOT_TASK_UPDATE,
    SLOT_TASK_INSERT,
    SLOT_TASK_LOAD,
    SLOT_RUN_UPDATE,
    SLOT_RUN_INSERT,
    SLOT_RUN_LOAD,
    SLOT_DEPENDENCY_ADD,
    SLOT_DEPENDENCY_REMOVE,
    SLOT_DEPENDENCY_LOAD,
    SLOT_COUNTS,
    SLOT_MAX_TASK,
    SLOT_PROJECT_TEXT_SAVE,
    SLOT_PROJECT_TEXT_GET,
    SLOT_PROJECT_TEXT_FIND,
    SLOT_PROJECT_TEXT_LIST,
    SLOT_TASK_TEXT_SAVE,
    SLOT_TASK_TEXT_GET,
    SLOT_TASK_TEXT_FIND,
    SLOT_TASK_LIST,
    SLOT_TASK_LIST_PROJECT,
    SLOT_TASK_COUNT,
    SLOT_RUN_TEXT_SAVE,
    SLOT_RUN_TEXT_GET,
    SLOT_RUN_LIST,
    SLOT_TURN_START,
    SLOT_TURN_KEEPER,
    SLOT_TURN_END,
    SLOT_TURN_GET,
    SLOT_TURN_LIST,
    SLOT_GATE_PUT,
    SLOT_GATE_LIST,
    SLOT_LANDING_PUT,
    SLOT_LANDING_UNDO,
    SLOT_LANDING_LIST_TASK,
    SLOT_LANDING_LIST,
    SLOT_NOTICE_PUT,
    SLOT_NOTICE_CLOSE_TASK,
    SLOT_NOTICE_CLOSE_PROJECT,
    SLOT_NOTICE_LIST_OPEN,
    SLOT_NOTICE_LIST_TASK,
    SLOT_USAGE_PUT,
    SLOT_USAGE_SUM_TASK,
    SLOT_USAGE_SUM_PROJECT,
    SLOT_DISCOVERY_PUT,
    SLOT_DISCOVERY_WIDEN,
    SLOT_DISCOVERY_LIST,
    SLOT_META_SET,
    SLOT_META_FIND,
    SLOT_GROUP_BEGIN,
    SLOT_GROUP_UNDO,
    SLOT_GROUP_END,
    SLOT_WORKFLOW_PUT,
    SLOT_WORKFLOW_SAME,
    SLOT_WORKFLOW_LIST,
    SLOT_STEP_PUT,
    SLOT_STEP_LIST,
    SLOT_RECORD_PUT,
    SLOT_RECORD_LIST,
    SLOT_RECORD_LIST_KIND,
    SLOT_RECORD_LAST,
    SLOT_RECORD_ANSWER,
    SLOT_OBJECTIVE_CLEAR,
    SLOT_OBJECTIVE_PUT,
    SLOT_OBJECTIVE_LIST,
    SLOT_REQUIREMENT_CLEAR,
    SLOT_REQUIREMENT_PUT,
    SLOT_REQUIREMENT_LIST,
    SLOT_STAGE_PUT,
    SLOT_STAGE_LIST,
    SLOT_REFINEMENT_PUT,
    SLOT_REFINEMENT_APPLY,
    SLOT_REFINEMENT_WITHDRAW,
    SLOT_REFINEMENT_ENDED,
    SLOT_REFINEMENT_LIST,
    SLOT_PROFILE_SAVE,
    SLOT_PROFILE_FIND,
    SLOT_PROFILE_LIST,
    SLOT_EXPERIENCE_PUT,
    SLOT_EXPERIENCE_LIST,
    SLOT_EXPERIENCE_JUDGE,
    SLOT_PLAN_CHECK_CLEAR,
    SLOT_PLAN_CHECK_PUT,
    SLOT_PLAN_CHECK_STATE,
    SLOT_PLAN_CHECK_LIST,
    SLOT_COUNT_
} Slot;

typedef struct SqliteStore {
    Store base;
    sqlite3 *db;
    sqlite3_stmt *stmts[SLOT_COUNT_];
    bool is_read_only;
    bool in_transaction;
    bool is_broken; /* the transaction under way cannot be committed any more */
    Err broken;     /* why */
} SqliteStore;

/* Each operation is sqlite_NAME with the signature of store_NAME. */
#define X(name) __typeof__(store_##name) sqlite_##name;
STORE_OPS(X)
#undef X

/* A statement in use. sql stays the caller's constant. */
typedef struct Stmt {
    SqliteStore *store;
    sqlite3_stmt *raw;
    int code;    /* a binding that was refused (too long), or SQLITE_OK */
    bool is_own; /* made for this use, because the slot's statement is busy in an outer list */
} Stmt;

bool stmt_take(Store *store, Slot slot, const char *sql, Stmt *stmt, Err *err) NODISCARD;
/* Carries out a write and gives the statement back. */
bool stmt_run(Stmt *stmt, Err *err) NODISCARD;
/* The next row; false at the end and on failure, which stmt_end tells apart. */
bool stmt_next(Stmt *stmt);
/* Gives the statement back. False when the last stmt_next failed. */
bool stmt_end(Stmt *stmt, Err *err) NODISCARD;
/* The one number of a query's one row, and gives the statement back. */
bool stmt_answer(Stmt *stmt, int64_t *number, Err *err) NODISCARD;
/* Rows changed by the last stmt_run. */
int stmt_changes(const Stmt *stmt);

/* Several writes that are one put: all of them or none, with a transaction around it or without.
 * After group_begin returned true, group_end follows with what came of the writes; it passes a
 * false on and leaves err as it is. */
typedef struct Group {
    Store *store;
    bool is_own; /* no transaction was under way, so this is one */
} Group;

bool group_begin(Store *store, Group *group, Err *err) NODISCARD;
bool group_end(Group *group, bool is_done, Err *err) NODISCARD;

/* Sets err from the result code and what the database says; always false. */
bool sqlite_fail(sqlite3 *db, int code, const char *what, Err *err);

/* NULL reads as "". Lives until the next row. */
const char *stmt_text(const Stmt *stmt, int column);
/* NULL stays NULL. */
const char *stmt_text_or_null(const Stmt *stmt, int column);

static inline int64_t stmt_int(const Stmt *stmt, int column)
{
    return sqlite3_column_int64(stmt->raw, column);
}

/* Texts are borrowed until stmt_run or stmt_end, which also tell of a text that was too long. */
static inline void bind_int(const Stmt *stmt, int position, int64_t number)
{
    sqlite3_bind_int64(stmt->raw, position, number);
}

/* LIMIT: 0 means all. */
static inline void bind_limit(const Stmt *stmt, int position, uint32_t limit)
{
    sqlite3_bind_int64(stmt->raw, position, limit ? (int64_t)limit : -1);
}

void bind_text(Stmt *stmt, int position, const char *text);         /* NULL becomes "" */
void bind_text_or_null(Stmt *stmt, int position, const char *text); /* NULL stays NULL */
void bind_bytes(Stmt *stmt, int position, const void *bytes, size_t length);
