/* Landings: what reached the target branch, and what was rolled back. */
#include "store/sqlite.h"

#define LANDING_NAMES                                                                              \
    "landing.id, landing.task, landing.run, landing.\"commit\", old_tip, new_tip, at_ms,"          \
    " undone_ms, undone_by"

bool sqlite_landing_put(Store *store, const StoreLanding *landing, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_LANDING_PUT,
                   "INSERT INTO landing (task, run, \"commit\", old_tip, new_tip, at_ms)"
                   " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run, new_tip) DO NOTHING",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, landing->task);
    bind_int(&stmt, 2, landing->run);
    bind_text(&stmt, 3, landing->commit);
    bind_text(&stmt, 4, landing->old_tip);
    bind_text(&stmt, 5, landing->new_tip);
    bind_int(&stmt, 6, landing->at_ms);
    return stmt_run(&stmt, err);
}

bool sqlite_landing_undo(Store *store, RunId run, const char *by_commit, int64_t at_ms, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_LANDING_UNDO,
                   "UPDATE landing SET undone_by = ?2, undone_ms = ?3"
                   " WHERE run = ?1 AND undone_ms = 0",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, run);
    bind_text(&stmt, 2, by_commit);
    bind_int(&stmt, 3, at_ms);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 ||
           err_set(err, ERR_NOT_FOUND, "run %u has no landing that stands", run);
}

static bool landings_give(Stmt *stmt, StoreLandingFn *fn, void *user, Err *err)
{
    while (stmt_next(stmt)) {
        StoreLanding landing = {
            .id = stmt_int(stmt, 0),
            .task = (TaskId)stmt_int(stmt, 1),
            .run = (RunId)stmt_int(stmt, 2),
            .commit = stmt_text(stmt, 3),
            .old_tip = stmt_text(stmt, 4),
            .new_tip = stmt_text(stmt, 5),
            .at_ms = stmt_int(stmt, 6),
            .undone_ms = stmt_int(stmt, 7),
            .undone_by = stmt_text(stmt, 8),
        };
        if (!fn(user, &landing))
            break;
    }
    return stmt_end(stmt, err);
}

bool sqlite_landing_list_task(Store *store, TaskId task, StoreLandingFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_LANDING_LIST_TASK,
                   "SELECT " LANDING_NAMES " FROM landing WHERE task = ? ORDER BY id DESC", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, task);
    return landings_give(&stmt, fn, user, err);
}

/* The task knows the project; the newest are asked for, so the walk is short. */
bool sqlite_landing_list(Store *store, ProjectId project, uint32_t limit, StoreLandingFn *fn,
                         void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_LANDING_LIST,
                   "SELECT " LANDING_NAMES " FROM landing CROSS JOIN task ON task.id = landing.task"
                   " WHERE task.project = ? ORDER BY landing.id DESC LIMIT ?",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    bind_limit(&stmt, 2, limit);
    return landings_give(&stmt, fn, user, err);
}
