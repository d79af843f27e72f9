/* Checks of the plan: replaced as a whole, then coloured one by one. */
#include "store/sqlite.h"

static bool checks_clear(Store *store, TaskId task, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PLAN_CHECK_CLEAR, "DELETE FROM plan_check WHERE task = ?", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, task);
    return stmt_run(&stmt, err);
}

static bool check_put(Store *store, TaskId task, const StoreCheckpoint *check, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PLAN_CHECK_PUT,
                   "INSERT INTO plan_check (task, number, step, at_ms, mode, state, name, command)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, check->number);
    bind_int(&stmt, 3, check->step);
    bind_int(&stmt, 4, check->at_ms);
    bind_text(&stmt, 5, check->mode);
    bind_text(&stmt, 6, check->state);
    bind_text(&stmt, 7, check->name);
    bind_text(&stmt, 8, check->command);
    return stmt_run(&stmt, err);
}

static bool checks_replace(Store *store, TaskId task, const StoreCheckpoint *checks, size_t count,
                           Err *err)
{
    bool is_done = checks_clear(store, task, err);
    for (size_t i = 0; is_done && i < count; i++)
        is_done = check_put(store, task, &checks[i], err);
    return is_done;
}

bool sqlite_checkpoints_save(Store *store, TaskId task, const StoreCheckpoint *checks, size_t count,
                             Err *err)
{
    Group group;
    return group_begin(store, &group, err) &&
           group_end(&group, checks_replace(store, task, checks, count, err), err);
}

bool sqlite_checkpoint_state(Store *store, TaskId task, uint32_t number, const char *state,
                             int64_t at_ms, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PLAN_CHECK_STATE,
                   "UPDATE plan_check SET state = ?3, at_ms = ?4 WHERE task = ?1 AND number = ?2",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, number);
    bind_text(&stmt, 3, state);
    bind_int(&stmt, 4, at_ms);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 ||
           err_set(err, ERR_NOT_FOUND, "the plan of task %u has no check %u", task, number);
}

bool sqlite_checkpoint_list(Store *store, TaskId task, StoreCheckpointFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PLAN_CHECK_LIST,
                   "SELECT task, number, step, at_ms, mode, state, name, command FROM plan_check"
                   " WHERE task = ? ORDER BY number",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        StoreCheckpoint check = {
            .task = (TaskId)stmt_int(&stmt, 0),
            .number = (uint32_t)stmt_int(&stmt, 1),
            .step = (uint32_t)stmt_int(&stmt, 2),
            .at_ms = stmt_int(&stmt, 3),
            .mode = stmt_text(&stmt, 4),
            .state = stmt_text(&stmt, 5),
            .name = stmt_text(&stmt, 6),
            .command = stmt_text(&stmt, 7),
        };
        if (!fn(user, &check))
            break;
    }
    return stmt_end(&stmt, err);
}
