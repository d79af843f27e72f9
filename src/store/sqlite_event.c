/* Events: put once, read in order. */
#include "store/sqlite.h"

#define EVENT_NAMES "id, at_ms, kind, project, task, run, epoch, turn, data, decision, why"

bool sqlite_event_put(Store *store, const StoreEvent *event, int64_t *id, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EVENT_PUT,
                   "INSERT INTO event (at_ms, kind, project, task, run, epoch, turn, data,"
                   " decision, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, event->at_ms);
    bind_int(&stmt, 2, event->kind);
    bind_int(&stmt, 3, event->project);
    bind_int(&stmt, 4, event->task);
    bind_int(&stmt, 5, event->run);
    bind_int(&stmt, 6, event->epoch);
    bind_int(&stmt, 7, event->turn);
    bind_text_or_null(&stmt, 8, event->data);
    bind_text_or_null(&stmt, 9, event->decision);
    bind_text_or_null(&stmt, 10, event->why);
    if (!stmt_run(&stmt, err))
        return false;
    if (id)
        *id = sqlite3_last_insert_rowid(stmt.store->db);
    return true;
}

static bool events_give(Stmt *stmt, StoreEventFn *fn, void *user, Err *err)
{
    while (stmt_next(stmt)) {
        StoreEvent event = {
            .id = stmt_int(stmt, 0),
            .at_ms = stmt_int(stmt, 1),
            .kind = (int)stmt_int(stmt, 2),
            .project = (ProjectId)stmt_int(stmt, 3),
            .task = (TaskId)stmt_int(stmt, 4),
            .run = (RunId)stmt_int(stmt, 5),
            .epoch = (uint32_t)stmt_int(stmt, 6),
            .turn = (uint32_t)stmt_int(stmt, 7),
            .data = stmt_text_or_null(stmt, 8),
            .decision = stmt_text_or_null(stmt, 9),
            .why = stmt_text_or_null(stmt, 10),
        };
        if (!fn(user, &event))
            break;
    }
    return stmt_end(stmt, err);
}

bool sqlite_event_list_task(Store *store, TaskId task, int64_t before, uint32_t limit,
                            StoreEventFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EVENT_LIST_TASK,
                   "SELECT " EVENT_NAMES " FROM event WHERE task = ? AND id < ?"
                   " ORDER BY id DESC LIMIT ?",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, before ? before : INT64_MAX);
    bind_limit(&stmt, 3, limit);
    return events_give(&stmt, fn, user, err);
}

/* By id and not by an index of projects: streams ask for the newest, and writing an index at every
 * event would cost more than these reads ever will. */
bool sqlite_event_list(Store *store, ProjectId project, int64_t after, uint32_t limit,
                       StoreEventFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EVENT_LIST,
                   "SELECT " EVENT_NAMES " FROM event WHERE id > ?1 AND (?2 = 0 OR project = ?2)"
                   " ORDER BY id LIMIT ?3",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, after);
    bind_int(&stmt, 2, project);
    bind_limit(&stmt, 3, limit);
    return events_give(&stmt, fn, user, err);
}

bool sqlite_event_count(Store *store, int kind, RunId run, uint32_t epoch, uint32_t turn,
                        int64_t *count, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EVENT_COUNT,
                   "SELECT count(*) FROM event WHERE task = (SELECT task FROM run WHERE id = ?1)"
                   " AND run = ?1 AND epoch = ?2 AND turn = ?3 AND kind = ?4",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, run);
    bind_int(&stmt, 2, epoch);
    bind_int(&stmt, 3, turn);
    bind_int(&stmt, 4, kind);
    return stmt_answer(&stmt, count, err);
}

bool sqlite_event_last(Store *store, int64_t *id, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EVENT_LAST, "SELECT max(id) FROM event", &stmt, err))
        return false;
    return stmt_answer(&stmt, id, err);
}
