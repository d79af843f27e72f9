/* Workflows of users, and the steps that tasks took through any workflow. */
#include "store/sqlite.h"

/* ---- workflows ---- */

static bool workflow_is_same(Store *store, const StoreWorkflow *workflow, Err *err)
{
    Stmt stmt;
    int64_t is_same = 0;
    if (!stmt_take(store, SLOT_WORKFLOW_SAME,
                   "SELECT name = ?2 AND text = ?3 FROM workflow WHERE number = ?1", &stmt, err))
        return false;
    bind_int(&stmt, 1, workflow->number);
    bind_text(&stmt, 2, workflow->name);
    bind_text(&stmt, 3, workflow->text);
    if (!stmt_answer(&stmt, &is_same, err))
        return false;
    return is_same ||
           err_set(err, ERR_CONFLICT, "workflow %u is another one already", workflow->number);
}

bool sqlite_workflow_put(Store *store, const StoreWorkflow *workflow, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_WORKFLOW_PUT,
                   "INSERT INTO workflow (number, name, text, at_ms) VALUES (?, ?, ?, ?)"
                   " ON CONFLICT DO NOTHING",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, workflow->number);
    bind_text(&stmt, 2, workflow->name);
    bind_text(&stmt, 3, workflow->text);
    bind_int(&stmt, 4, workflow->at_ms);
    if (!stmt_run(&stmt, err))
        return false;
    return stmt_changes(&stmt) > 0 || workflow_is_same(store, workflow, err);
}

bool sqlite_workflow_list(Store *store, StoreWorkflowFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_WORKFLOW_LIST,
                   "SELECT number, name, text, at_ms FROM workflow ORDER BY number", &stmt, err))
        return false;
    while (stmt_next(&stmt)) {
        StoreWorkflow workflow = {
            .number = (uint32_t)stmt_int(&stmt, 0),
            .name = stmt_text(&stmt, 1),
            .text = stmt_text(&stmt, 2),
            .at_ms = stmt_int(&stmt, 3),
        };
        if (!fn(user, &workflow))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- steps ---- */

#define STEP_NAMES                                                                                 \
    "task, run, epoch, turn, stage, started_ms, ended_ms, phase, checkpoint, result, \"row\","     \
    " why, next, status, \"commit\", agent, prompt_hash"

static void step_bind(Stmt *stmt, const StoreStep *step)
{
    bind_int(stmt, 1, step->task);
    bind_int(stmt, 2, step->run);
    bind_int(stmt, 3, step->epoch);
    bind_int(stmt, 4, step->turn);
    bind_int(stmt, 5, step->stage);
    bind_int(stmt, 6, step->started_ms);
    bind_int(stmt, 7, step->ended_ms);
    bind_text(stmt, 8, step->phase);
    bind_text(stmt, 9, step->checkpoint);
    bind_text(stmt, 10, step->result);
    bind_text(stmt, 11, step->row);
    bind_text(stmt, 12, step->why);
    bind_text(stmt, 13, step->next);
    bind_text(stmt, 14, step->status);
    bind_text(stmt, 15, step->commit);
    bind_text(stmt, 16, step->agent);
    bind_text(stmt, 17, step->prompt_hash);
}

bool sqlite_step_put(Store *store, const StoreStep *step, int64_t *id, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_STEP_PUT,
                   "INSERT INTO step (" STEP_NAMES ")"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    step_bind(&stmt, step);
    if (!stmt_run(&stmt, err))
        return false;
    if (id)
        *id = sqlite3_last_insert_rowid(stmt.store->db);
    return true;
}

static StoreStep step_read(const Stmt *stmt)
{
    return (StoreStep){
        .id = stmt_int(stmt, 0),
        .task = (TaskId)stmt_int(stmt, 1),
        .run = (RunId)stmt_int(stmt, 2),
        .epoch = (uint32_t)stmt_int(stmt, 3),
        .turn = (uint32_t)stmt_int(stmt, 4),
        .stage = (uint32_t)stmt_int(stmt, 5),
        .started_ms = stmt_int(stmt, 6),
        .ended_ms = stmt_int(stmt, 7),
        .phase = stmt_text(stmt, 8),
        .checkpoint = stmt_text(stmt, 9),
        .result = stmt_text(stmt, 10),
        .row = stmt_text(stmt, 11),
        .why = stmt_text(stmt, 12),
        .next = stmt_text(stmt, 13),
        .status = stmt_text(stmt, 14),
        .commit = stmt_text(stmt, 15),
        .agent = stmt_text(stmt, 16),
        .prompt_hash = stmt_text(stmt, 17),
    };
}

bool sqlite_step_list(Store *store, TaskId task, StoreStepFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_STEP_LIST,
                   "SELECT id, " STEP_NAMES " FROM step WHERE task = ? ORDER BY id", &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        StoreStep step = step_read(&stmt);
        if (!fn(user, &step))
            break;
    }
    return stmt_end(&stmt, err);
}
