/* Notices: what needs a person, open until somebody or something answers. */
#include "store/sqlite.h"

#define NOTICE_NAMES "id, project, task, run, kind, text, at_ms, closed_ms, answer"

bool sqlite_notice_put(Store *store, const StoreNotice *notice, int64_t *id, Err *err)
{
    Stmt stmt;
    int64_t own = 0;
    if (!stmt_take(store, SLOT_NOTICE_PUT,
                   "INSERT INTO notice (project, task, run, kind, text, at_ms)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                   " ON CONFLICT (project, task, kind) WHERE closed_ms = 0"
                   " DO UPDATE SET run = ?3, text = ?5, at_ms = ?6 RETURNING id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, notice->project);
    bind_int(&stmt, 2, notice->task);
    bind_int(&stmt, 3, notice->run);
    bind_text(&stmt, 4, notice->kind);
    bind_text(&stmt, 5, notice->text);
    bind_int(&stmt, 6, notice->at_ms);
    if (!stmt_answer(&stmt, &own, err))
        return false;
    if (id)
        *id = own;
    return true;
}

static bool notice_close(Stmt *stmt, uint32_t of, const char *kind, int64_t at_ms,
                         const char *answer, Err *err)
{
    bind_int(stmt, 1, of);
    bind_text_or_null(stmt, 2, kind);
    bind_int(stmt, 3, at_ms);
    bind_text(stmt, 4, answer);
    return stmt_run(stmt, err);
}

bool sqlite_notice_close_task(Store *store, TaskId task, const char *kind, int64_t at_ms,
                              const char *answer, Err *err)
{
    Stmt stmt;
    return stmt_take(store, SLOT_NOTICE_CLOSE_TASK,
                     "UPDATE notice SET closed_ms = ?3, answer = ?4"
                     " WHERE task = ?1 AND closed_ms = 0 AND (?2 IS NULL OR kind = ?2)",
                     &stmt, err) &&
           notice_close(&stmt, task, kind, at_ms, answer, err);
}

bool sqlite_notice_close_project(Store *store, ProjectId project, const char *kind, int64_t at_ms,
                                 const char *answer, Err *err)
{
    Stmt stmt;
    return stmt_take(store, SLOT_NOTICE_CLOSE_PROJECT,
                     "UPDATE notice SET closed_ms = ?3, answer = ?4"
                     " WHERE project = ?1 AND closed_ms = 0 AND (?2 IS NULL OR kind = ?2)",
                     &stmt, err) &&
           notice_close(&stmt, project, kind, at_ms, answer, err);
}

static bool notices_give(Stmt *stmt, StoreNoticeFn *fn, void *user, Err *err)
{
    while (stmt_next(stmt)) {
        StoreNotice notice = {
            .id = stmt_int(stmt, 0),
            .project = (ProjectId)stmt_int(stmt, 1),
            .task = (TaskId)stmt_int(stmt, 2),
            .run = (RunId)stmt_int(stmt, 3),
            .kind = stmt_text(stmt, 4),
            .text = stmt_text(stmt, 5),
            .at_ms = stmt_int(stmt, 6),
            .closed_ms = stmt_int(stmt, 7),
            .answer = stmt_text(stmt, 8),
        };
        if (!fn(user, &notice))
            break;
    }
    return stmt_end(stmt, err);
}

bool sqlite_notice_list_open(Store *store, ProjectId project, StoreNoticeFn *fn, void *user,
                             Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_NOTICE_LIST_OPEN,
                   "SELECT " NOTICE_NAMES " FROM notice"
                   " WHERE closed_ms = 0 AND (?1 = 0 OR project = ?1) ORDER BY id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    return notices_give(&stmt, fn, user, err);
}

bool sqlite_notice_list_task(Store *store, TaskId task, StoreNoticeFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_NOTICE_LIST_TASK,
                   "SELECT " NOTICE_NAMES " FROM notice WHERE task = ? ORDER BY id", &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    return notices_give(&stmt, fn, user, err);
}
