/* Records: what steps left in writing. */
#include "store/sqlite.h"
#include <assert.h>

#define RECORD_NAMES                                                                               \
    "id, task, run, epoch, turn, stage, kind, at_ms, checkpoint, result, text, data"

/* The answers of runs, in the words of the index record_one_answer. */
#define IS_ANSWER "kind = 0 AND run > 0"
static_assert(RECORD_ANSWER == 0, "the index of answers knows them by their number");

bool sqlite_record_put(Store *store, const StoreRecord *record, int64_t *id, Err *err)
{
    Stmt stmt;
    int64_t own = 0;
    if (!stmt_take(store, SLOT_RECORD_PUT,
                   "INSERT INTO record (task, run, epoch, turn, stage, kind, at_ms, checkpoint,"
                   " result, text, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
                   " ON CONFLICT (run, epoch, turn) WHERE " IS_ANSWER
                   " DO UPDATE SET stage = ?5, at_ms = ?7, checkpoint = ?8, result = ?9,"
                   " text = ?10, data = ?11 RETURNING id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, record->task);
    bind_int(&stmt, 2, record->run);
    bind_int(&stmt, 3, record->epoch);
    bind_int(&stmt, 4, record->turn);
    bind_int(&stmt, 5, record->stage);
    bind_int(&stmt, 6, record->kind);
    bind_int(&stmt, 7, record->at_ms);
    bind_text(&stmt, 8, record->checkpoint);
    bind_text(&stmt, 9, record->result);
    bind_text(&stmt, 10, record->text);
    bind_text(&stmt, 11, record->data);
    if (!stmt_answer(&stmt, &own, err))
        return false;
    if (id)
        *id = own;
    return true;
}

static StoreRecord record_read(const Stmt *stmt)
{
    return (StoreRecord){
        .id = stmt_int(stmt, 0),
        .task = (TaskId)stmt_int(stmt, 1),
        .run = (RunId)stmt_int(stmt, 2),
        .epoch = (uint32_t)stmt_int(stmt, 3),
        .turn = (uint32_t)stmt_int(stmt, 4),
        .stage = (uint32_t)stmt_int(stmt, 5),
        .kind = (RecordKind)stmt_int(stmt, 6),
        .at_ms = stmt_int(stmt, 7),
        .checkpoint = stmt_text(stmt, 8),
        .result = stmt_text(stmt, 9),
        .text = stmt_text(stmt, 10),
        .data = stmt_text(stmt, 11),
    };
}

/* All kinds come in the order of their ids without sorting the texts: the index gives the ids. */
static bool list_take(Store *store, RecordKind kind, Stmt *stmt, Err *err)
{
    if (kind == RECORD_KIND_COUNT)
        return stmt_take(store, SLOT_RECORD_LIST,
                         "SELECT " RECORD_NAMES " FROM record"
                         " WHERE id IN (SELECT id FROM record WHERE task = ?1) ORDER BY id",
                         stmt, err);
    return stmt_take(store, SLOT_RECORD_LIST_KIND,
                     "SELECT " RECORD_NAMES " FROM record WHERE task = ?1 AND kind = ?2"
                     " ORDER BY id",
                     stmt, err);
}

bool sqlite_record_list(Store *store, TaskId task, RecordKind kind, StoreRecordFn *fn, void *user,
                        Err *err)
{
    Stmt stmt;
    if (!list_take(store, kind, &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    if (kind != RECORD_KIND_COUNT)
        bind_int(&stmt, 2, kind);
    while (stmt_next(&stmt)) {
        StoreRecord record = record_read(&stmt);
        if (!fn(user, &record))
            break;
    }
    return stmt_end(&stmt, err);
}

/* The row, if there is one, into the arena; gives the statement back. */
static bool record_one(Stmt *stmt, Arena *arena, StoreRecord *out, Err *err)
{
    StoreRecord record = {.checkpoint = "", .result = "", .text = "", .data = ""};
    if (stmt_next(stmt)) {
        record = record_read(stmt);
        record.checkpoint = arena_strdup(arena, record.checkpoint);
        record.result = arena_strdup(arena, record.result);
        record.text = arena_strdup(arena, record.text);
        record.data = arena_strdup(arena, record.data);
    }
    if (!stmt_end(stmt, err))
        return false;
    *out = record;
    return true;
}

bool sqlite_record_last(Store *store, TaskId task, RecordKind kind, const char *checkpoint,
                        Arena *arena, StoreRecord *record, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_RECORD_LAST,
                   "SELECT " RECORD_NAMES " FROM record WHERE task = ?1 AND kind = ?2"
                   " AND (?3 IS NULL OR checkpoint = ?3) ORDER BY id DESC LIMIT 1",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, kind);
    bind_text_or_null(&stmt, 3, checkpoint);
    return record_one(&stmt, arena, record, err);
}

bool sqlite_record_answer(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                          StoreRecord *record, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_RECORD_ANSWER,
                   "SELECT " RECORD_NAMES " FROM record"
                   " WHERE run = ? AND epoch = ? AND turn = ? AND " IS_ANSWER,
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, run);
    bind_int(&stmt, 2, epoch);
    bind_int(&stmt, 3, turn);
    return record_one(&stmt, arena, record, err);
}
