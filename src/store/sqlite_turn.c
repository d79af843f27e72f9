/* Turns: started, known to a keeper, ended. And what the gates said about them. */
#include "store/sqlite.h"

#define TURN_NAMES                                                                                 \
    "run, epoch, turn, started_ms, prompt_hash, agent, pid, start_ticks, boot_id, ended_ms,"       \
    " exit_code, killed_by, signal, payload, \"commit\", output_bytes, phase, checkpoint"

static void turn_key_bind(Stmt *stmt, RunId run, uint32_t epoch, uint32_t turn)
{
    bind_int(stmt, 1, run);
    bind_int(stmt, 2, epoch);
    bind_int(stmt, 3, turn);
}

static bool turn_missing(RunId run, uint32_t epoch, uint32_t turn, Err *err)
{
    return err_set(err, ERR_NOT_FOUND, "turn %u of run %u, epoch %u, was not started", turn, run,
                   epoch);
}

/* For updates: false when the turn is not there. */
static bool turn_run(Stmt *stmt, const StoreTurn *turn, Err *err)
{
    return stmt_run(stmt, err) &&
           (stmt_changes(stmt) > 0 || turn_missing(turn->run, turn->epoch, turn->turn, err));
}

bool sqlite_turn_start(Store *store, const StoreTurn *turn, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TURN_START,
                   "INSERT INTO turn (run, epoch, turn, started_ms, prompt_hash, agent, phase,"
                   " checkpoint) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                   &stmt, err))
        return false;
    turn_key_bind(&stmt, turn->run, turn->epoch, turn->turn);
    bind_int(&stmt, 4, turn->started_ms);
    bind_text(&stmt, 5, turn->prompt_hash);
    bind_text(&stmt, 6, turn->agent);
    bind_text(&stmt, 7, turn->phase);
    bind_text(&stmt, 8, turn->checkpoint);
    return stmt_run(&stmt, err);
}

bool sqlite_turn_keeper(Store *store, const StoreTurn *turn, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TURN_KEEPER,
                   "UPDATE turn SET pid = ?4, start_ticks = ?5, boot_id = ?6"
                   " WHERE run = ?1 AND epoch = ?2 AND turn = ?3",
                   &stmt, err))
        return false;
    turn_key_bind(&stmt, turn->run, turn->epoch, turn->turn);
    bind_int(&stmt, 4, turn->pid);
    bind_int(&stmt, 5, turn->start_ticks);
    bind_text(&stmt, 6, turn->boot_id);
    return turn_run(&stmt, turn, err);
}

bool sqlite_turn_end(Store *store, const StoreTurn *turn, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TURN_END,
                   "UPDATE turn SET ended_ms = ?4, exit_code = ?5, killed_by = ?6, signal = ?7,"
                   " payload = ?8, \"commit\" = ?9, output_bytes = ?10"
                   " WHERE run = ?1 AND epoch = ?2 AND turn = ?3",
                   &stmt, err))
        return false;
    turn_key_bind(&stmt, turn->run, turn->epoch, turn->turn);
    bind_int(&stmt, 4, turn->ended_ms);
    bind_int(&stmt, 5, turn->exit_code);
    bind_int(&stmt, 6, turn->killed_by);
    bind_int(&stmt, 7, turn->signal);
    bind_text(&stmt, 8, turn->payload);
    bind_text(&stmt, 9, turn->commit);
    bind_int(&stmt, 10, turn->output_bytes);
    return turn_run(&stmt, turn, err);
}

static StoreTurn turn_read(const Stmt *stmt)
{
    return (StoreTurn){
        .run = (RunId)stmt_int(stmt, 0),
        .epoch = (uint32_t)stmt_int(stmt, 1),
        .turn = (uint32_t)stmt_int(stmt, 2),
        .started_ms = stmt_int(stmt, 3),
        .prompt_hash = stmt_text(stmt, 4),
        .agent = stmt_text(stmt, 5),
        .pid = stmt_int(stmt, 6),
        .start_ticks = stmt_int(stmt, 7),
        .boot_id = stmt_text(stmt, 8),
        .ended_ms = stmt_int(stmt, 9),
        .exit_code = (int)stmt_int(stmt, 10),
        .killed_by = (int)stmt_int(stmt, 11),
        .signal = (int)stmt_int(stmt, 12),
        .payload = stmt_text(stmt, 13),
        .commit = stmt_text(stmt, 14),
        .output_bytes = stmt_int(stmt, 15),
        .phase = stmt_text(stmt, 16),
        .checkpoint = stmt_text(stmt, 17),
    };
}

bool sqlite_turn_get(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                     StoreTurn *out, Err *err)
{
    Stmt stmt;
    StoreTurn own = {0};
    if (!stmt_take(store, SLOT_TURN_GET,
                   "SELECT " TURN_NAMES " FROM turn WHERE run = ? AND epoch = ? AND turn = ?",
                   &stmt, err))
        return false;
    turn_key_bind(&stmt, run, epoch, turn);
    if (stmt_next(&stmt)) {
        own = turn_read(&stmt);
        own.prompt_hash = arena_strdup(arena, own.prompt_hash);
        own.agent = arena_strdup(arena, own.agent);
        own.boot_id = arena_strdup(arena, own.boot_id);
        own.payload = arena_strdup(arena, own.payload);
        own.commit = arena_strdup(arena, own.commit);
        own.phase = arena_strdup(arena, own.phase);
        own.checkpoint = arena_strdup(arena, own.checkpoint);
    }
    if (!stmt_end(&stmt, err))
        return false;
    if (!own.run)
        return turn_missing(run, epoch, turn, err);
    *out = own;
    return true;
}

bool sqlite_turn_list(Store *store, RunId run, StoreTurnFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TURN_LIST,
                   "SELECT " TURN_NAMES " FROM turn WHERE run = ? ORDER BY epoch, turn", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, run);
    while (stmt_next(&stmt)) {
        StoreTurn turn = turn_read(&stmt);
        if (!fn(user, &turn))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- gate results ---- */

#define GATE_NAMES                                                                                 \
    "run, epoch, turn, stage, position, name, command, is_required, timed_out, exit_code,"         \
    " started_ms, took_ms, limit_s, output"

bool sqlite_gate_put(Store *store, const StoreGateResult *result, Err *err)
{
    Stmt stmt;
    size_t length = result->output ? result->output_length : 0;
    size_t tail = MIN(length, (size_t)STORE_OUTPUT_MAX);
    if (!stmt_take(store, SLOT_GATE_PUT,
                   "INSERT INTO gate_result (" GATE_NAMES ")"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
                   " ON CONFLICT (run, epoch, turn, stage, position) DO UPDATE SET name = ?6,"
                   " command = ?7, is_required = ?8, timed_out = ?9, exit_code = ?10,"
                   " started_ms = ?11, took_ms = ?12, limit_s = ?13, output = ?14",
                   &stmt, err))
        return false;
    turn_key_bind(&stmt, result->run, result->epoch, result->turn);
    bind_text(&stmt, 4, result->stage);
    bind_int(&stmt, 5, result->position);
    bind_text(&stmt, 6, result->name);
    bind_text(&stmt, 7, result->command);
    bind_int(&stmt, 8, result->is_required);
    bind_int(&stmt, 9, result->timed_out);
    bind_int(&stmt, 10, result->exit_code);
    bind_int(&stmt, 11, result->started_ms);
    bind_int(&stmt, 12, result->took_ms);
    bind_int(&stmt, 13, result->limit_s);
    bind_bytes(&stmt, 14, tail ? result->output + (length - tail) : "", tail);
    return stmt_run(&stmt, err);
}

static StoreGateResult gate_read(const Stmt *stmt)
{
    const char *output = sqlite3_column_blob(stmt->raw, 13);
    return (StoreGateResult){
        .run = (RunId)stmt_int(stmt, 0),
        .epoch = (uint32_t)stmt_int(stmt, 1),
        .turn = (uint32_t)stmt_int(stmt, 2),
        .stage = stmt_text(stmt, 3),
        .position = (uint32_t)stmt_int(stmt, 4),
        .name = stmt_text(stmt, 5),
        .command = stmt_text(stmt, 6),
        .is_required = stmt_int(stmt, 7),
        .timed_out = stmt_int(stmt, 8),
        .exit_code = (int)stmt_int(stmt, 9),
        .started_ms = stmt_int(stmt, 10),
        .took_ms = stmt_int(stmt, 11),
        .limit_s = stmt_int(stmt, 12),
        .output = output ? output : "",
        .output_length = (size_t)sqlite3_column_bytes(stmt->raw, 13),
    };
}

bool sqlite_gate_list(Store *store, RunId run, StoreGateFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_GATE_LIST,
                   "SELECT " GATE_NAMES " FROM gate_result WHERE run = ?"
                   " ORDER BY epoch, turn, stage, position",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, run);
    while (stmt_next(&stmt)) {
        StoreGateResult result = gate_read(&stmt);
        if (!fn(user, &result))
            break;
    }
    return stmt_end(&stmt, err);
}
