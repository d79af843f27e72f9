/* The ledger of stages, and the refinements that reach a task while it runs. */
#include "store/sqlite.h"

/* ---- stages ---- */

#define STAGE_NAMES                                                                                \
    "task, stage, attempt, \"before\", \"after\", started_ms, ended_ms, name, objective, moves,"   \
    " reason, outcome, cause, \"commit\""

bool sqlite_stage_put(Store *store, const StoreStage *stage, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_STAGE_PUT,
                   "INSERT INTO stage (" STAGE_NAMES ")"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
                   " ON CONFLICT (task, stage, attempt) DO UPDATE SET \"before\" = ?4,"
                   " \"after\" = ?5, started_ms = ?6, ended_ms = ?7, name = ?8, objective = ?9,"
                   " moves = ?10, reason = ?11, outcome = ?12, cause = ?13, \"commit\" = ?14",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, stage->task);
    bind_int(&stmt, 2, stage->stage);
    bind_int(&stmt, 3, stage->attempt);
    bind_int(&stmt, 4, stage->before);
    bind_int(&stmt, 5, stage->after);
    bind_int(&stmt, 6, stage->started_ms);
    bind_int(&stmt, 7, stage->ended_ms);
    bind_text(&stmt, 8, stage->name);
    bind_text(&stmt, 9, stage->objective);
    bind_text(&stmt, 10, stage->moves);
    bind_text(&stmt, 11, stage->reason);
    bind_text(&stmt, 12, stage->outcome);
    bind_text(&stmt, 13, stage->cause);
    bind_text(&stmt, 14, stage->commit);
    return stmt_run(&stmt, err);
}

static StoreStage stage_read(const Stmt *stmt)
{
    return (StoreStage){
        .task = (TaskId)stmt_int(stmt, 0),
        .stage = (uint32_t)stmt_int(stmt, 1),
        .attempt = (uint32_t)stmt_int(stmt, 2),
        .before = (int32_t)stmt_int(stmt, 3),
        .after = (int32_t)stmt_int(stmt, 4),
        .started_ms = stmt_int(stmt, 5),
        .ended_ms = stmt_int(stmt, 6),
        .name = stmt_text(stmt, 7),
        .objective = stmt_text(stmt, 8),
        .moves = stmt_text(stmt, 9),
        .reason = stmt_text(stmt, 10),
        .outcome = stmt_text(stmt, 11),
        .cause = stmt_text(stmt, 12),
        .commit = stmt_text(stmt, 13),
    };
}

bool sqlite_stage_list(Store *store, TaskId task, StoreStageFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_STAGE_LIST,
                   "SELECT " STAGE_NAMES " FROM stage WHERE task = ? ORDER BY stage, attempt",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        StoreStage stage = stage_read(&stmt);
        if (!fn(user, &stage))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- refinements ---- */

#define WAITS "applied_ms = 0 AND withdrawn_ms = 0"

bool sqlite_refinement_put(Store *store, const StoreRefinement *refinement, int64_t *id, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REFINEMENT_PUT,
                   "INSERT INTO refinement (task, at_ms, applied_ms, withdrawn_ms, impact,"
                   " touches, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, refinement->task);
    bind_int(&stmt, 2, refinement->at_ms);
    bind_int(&stmt, 3, refinement->applied_ms);
    bind_int(&stmt, 4, refinement->withdrawn_ms);
    bind_text(&stmt, 5, refinement->impact);
    bind_text(&stmt, 6, refinement->touches);
    bind_text(&stmt, 7, refinement->text);
    if (!stmt_run(&stmt, err))
        return false;
    if (id)
        *id = sqlite3_last_insert_rowid(stmt.store->db);
    return true;
}

bool sqlite_refinement_apply(Store *store, TaskId task, int64_t at_ms, const char *impact,
                             const char *touches, uint32_t *count, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REFINEMENT_APPLY,
                   "UPDATE refinement SET applied_ms = ?2, impact = ifnull(?3, impact),"
                   " touches = ifnull(?4, touches) WHERE task = ?1 AND " WAITS,
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, at_ms);
    bind_text_or_null(&stmt, 3, impact);
    bind_text_or_null(&stmt, 4, touches);
    if (!stmt_run(&stmt, err))
        return false;
    if (count)
        *count = (uint32_t)stmt_changes(&stmt);
    return true;
}

/* Why one does not wait; always false. */
static bool refinement_refuse(Store *store, TaskId task, int64_t id, Err *err)
{
    Stmt stmt;
    int64_t ended = 0;
    if (!stmt_take(store, SLOT_REFINEMENT_ENDED,
                   "SELECT iif(applied_ms, 1, 2) FROM refinement WHERE id = ? AND task = ?", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, id);
    bind_int(&stmt, 2, task);
    if (!stmt_answer(&stmt, &ended, err))
        return false;
    if (!ended)
        return err_set(err, ERR_NOT_FOUND, "task %u has no refinement %lld", task, (long long)id);
    return err_set(err, ERR_CONFLICT, "refinement %lld was %s already", (long long)id,
                   ended == 1 ? "applied" : "withdrawn");
}

bool sqlite_refinement_withdraw(Store *store, TaskId task, int64_t id, int64_t at_ms, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REFINEMENT_WITHDRAW,
                   "UPDATE refinement SET withdrawn_ms = ? WHERE id = ? AND task = ? AND " WAITS,
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, at_ms);
    bind_int(&stmt, 2, id);
    bind_int(&stmt, 3, task);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 || refinement_refuse(store, task, id, err);
}

bool sqlite_refinement_list(Store *store, TaskId task, bool with_ended, StoreRefinementFn *fn,
                            void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REFINEMENT_LIST,
                   "SELECT id, task, at_ms, applied_ms, withdrawn_ms, impact, touches, text"
                   " FROM refinement WHERE task = ?1 AND (?2 OR (" WAITS ")) ORDER BY id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, with_ended);
    while (stmt_next(&stmt)) {
        StoreRefinement refinement = {
            .id = stmt_int(&stmt, 0),
            .task = (TaskId)stmt_int(&stmt, 1),
            .at_ms = stmt_int(&stmt, 2),
            .applied_ms = stmt_int(&stmt, 3),
            .withdrawn_ms = stmt_int(&stmt, 4),
            .impact = stmt_text(&stmt, 5),
            .touches = stmt_text(&stmt, 6),
            .text = stmt_text(&stmt, 7),
        };
        if (!fn(user, &refinement))
            break;
    }
    return stmt_end(&stmt, err);
}
