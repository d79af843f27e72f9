/* Texts of projects and runs. A NULL text in a save keeps what is stored. */
#include "store/sqlite_rows.h"

/* ---- projects ---- */

#define PROJECT_TEXT_NAMES "id, path, hub, target, name, settings_json, added_ms"

bool sqlite_project_text_save(Store *store, const StoreProjectText *text, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PROJECT_TEXT_SAVE,
                   "INSERT INTO project_text (" PROJECT_TEXT_NAMES ") VALUES (?1, ifnull(?2, ''),"
                   " ifnull(?3, ''), ifnull(?4, ''), ifnull(?5, ''), ifnull(?6, ''), ?7)"
                   " ON CONFLICT (id) DO UPDATE SET path = ifnull(?2, path), hub = ifnull(?3, hub),"
                   " target = ifnull(?4, target), name = ifnull(?5, name),"
                   " settings_json = ifnull(?6, settings_json), added_ms = ifnull(nullif(?7, 0), "
                   "added_ms)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, text->id);
    bind_text_or_null(&stmt, 2, text->path);
    bind_text_or_null(&stmt, 3, text->hub);
    bind_text_or_null(&stmt, 4, text->target);
    bind_text_or_null(&stmt, 5, text->name);
    bind_text_or_null(&stmt, 6, text->settings_json);
    bind_int(&stmt, 7, text->added_ms);
    return stmt_run(&stmt, err);
}

static StoreProjectText project_text_read(const Stmt *stmt)
{
    return (StoreProjectText){
        .id = (ProjectId)stmt_int(stmt, 0),
        .path = stmt_text(stmt, 1),
        .hub = stmt_text(stmt, 2),
        .target = stmt_text(stmt, 3),
        .name = stmt_text(stmt, 4),
        .settings_json = stmt_text(stmt, 5),
        .added_ms = stmt_int(stmt, 6),
    };
}

/* The row, if there is one, into the arena; gives the statement back. */
static bool project_text_one(Stmt *stmt, Arena *arena, StoreProjectText *out, Err *err)
{
    StoreProjectText text = {0};
    if (stmt_next(stmt)) {
        text = project_text_read(stmt);
        text.path = arena_strdup(arena, text.path);
        text.hub = arena_strdup(arena, text.hub);
        text.target = arena_strdup(arena, text.target);
        text.name = arena_strdup(arena, text.name);
        text.settings_json = arena_strdup(arena, text.settings_json);
    }
    if (!stmt_end(stmt, err))
        return false;
    *out = text;
    return true;
}

bool sqlite_project_text_get(Store *store, ProjectId id, Arena *arena, StoreProjectText *text,
                             Err *err)
{
    Stmt stmt;
    StoreProjectText own;
    if (!stmt_take(store, SLOT_PROJECT_TEXT_GET,
                   "SELECT " PROJECT_TEXT_NAMES " FROM project_text WHERE id = ?", &stmt, err))
        return false;
    bind_int(&stmt, 1, id);
    if (!project_text_one(&stmt, arena, &own, err))
        return false;
    if (!own.id)
        return err_set(err, ERR_NOT_FOUND, "there is no project %u", id);
    *text = own;
    return true;
}

bool sqlite_project_text_find(Store *store, const char *path, Arena *arena, StoreProjectText *text,
                              Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PROJECT_TEXT_FIND,
                   "SELECT " PROJECT_TEXT_NAMES " FROM project_text WHERE path = ?", &stmt, err))
        return false;
    bind_text(&stmt, 1, path);
    return project_text_one(&stmt, arena, text, err);
}

bool sqlite_project_text_list(Store *store, StoreProjectFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PROJECT_TEXT_LIST,
                   "SELECT " PROJECT_TEXT_NAMES " FROM project_text ORDER BY id", &stmt, err))
        return false;
    while (stmt_next(&stmt)) {
        StoreProjectText text = project_text_read(&stmt);
        if (!fn(user, &text))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- runs ---- */

#define RUN_TEXT_NAMES                                                                             \
    "run, workspace_path, workspace_kind, branch, agent, tag, token, mark, session, says,"         \
    " says_kind"

bool sqlite_run_text_save(Store *store, const StoreRunText *text, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_RUN_TEXT_SAVE,
                   "INSERT INTO run_text (" RUN_TEXT_NAMES ") VALUES (?1, ifnull(?2, ''),"
                   " ifnull(?3, ''), ifnull(?4, ''), ifnull(?5, ''), ifnull(?6, ''),"
                   " ifnull(?7, ''), ifnull(?8, ''), ifnull(?9, ''), ifnull(?10, ''), ?11)"
                   " ON CONFLICT (run) DO UPDATE SET"
                   " workspace_path = ifnull(?2, workspace_path),"
                   " workspace_kind = ifnull(?3, workspace_kind), branch = ifnull(?4, branch),"
                   " agent = ifnull(?5, agent), tag = ifnull(?6, tag), token = ifnull(?7, token),"
                   " mark = ifnull(?8, mark), session = ifnull(?9, session),"
                   " says = ifnull(?10, says), says_kind = iif(?10 IS NULL, says_kind, ?11)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, text->run);
    bind_text_or_null(&stmt, 2, text->workspace_path);
    bind_text_or_null(&stmt, 3, text->workspace_kind);
    bind_text_or_null(&stmt, 4, text->branch);
    bind_text_or_null(&stmt, 5, text->agent);
    bind_text_or_null(&stmt, 6, text->tag);
    bind_text_or_null(&stmt, 7, text->token);
    bind_text_or_null(&stmt, 8, text->mark);
    bind_text_or_null(&stmt, 9, text->session);
    bind_text_or_null(&stmt, 10, text->says);
    bind_int(&stmt, 11, text->says_kind);
    return stmt_run(&stmt, err);
}

static StoreRunText run_text_read(const Stmt *stmt, int first)
{
    return (StoreRunText){
        .run = (RunId)stmt_int(stmt, first),
        .workspace_path = stmt_text(stmt, first + 1),
        .workspace_kind = stmt_text(stmt, first + 2),
        .branch = stmt_text(stmt, first + 3),
        .agent = stmt_text(stmt, first + 4),
        .tag = stmt_text(stmt, first + 5),
        .token = stmt_text(stmt, first + 6),
        .mark = stmt_text(stmt, first + 7),
        .session = stmt_text(stmt, first + 8),
        .says = stmt_text(stmt, first + 9),
        .says_kind = (int)stmt_int(stmt, first + 10),
    };
}

static StoreRunText run_text_keep(StoreRunText text, Arena *arena)
{
    text.workspace_path = arena_strdup(arena, text.workspace_path);
    text.workspace_kind = arena_strdup(arena, text.workspace_kind);
    text.branch = arena_strdup(arena, text.branch);
    text.agent = arena_strdup(arena, text.agent);
    text.tag = arena_strdup(arena, text.tag);
    text.token = arena_strdup(arena, text.token);
    text.mark = arena_strdup(arena, text.mark);
    text.session = arena_strdup(arena, text.session);
    text.says = arena_strdup(arena, text.says);
    return text;
}

bool sqlite_run_text_get(Store *store, RunId run, Arena *arena, StoreRunText *text, Err *err)
{
    Stmt stmt;
    StoreRunText own = {0};
    if (!stmt_take(store, SLOT_RUN_TEXT_GET,
                   "SELECT " RUN_TEXT_NAMES " FROM run_text WHERE run = ?", &stmt, err))
        return false;
    bind_int(&stmt, 1, run);
    if (stmt_next(&stmt))
        own = run_text_keep(run_text_read(&stmt, 0), arena);
    if (!stmt_end(&stmt, err))
        return false;
    if (!own.run)
        return err_set(err, ERR_NOT_FOUND, "run %u has no texts", run);
    *text = own;
    return true;
}

bool sqlite_run_list(Store *store, TaskId task, StoreRunFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_RUN_LIST,
                   "SELECT " RUN_NAMES ", " RUN_TEXT_NAMES " FROM run"
                   " LEFT JOIN run_text ON run_text.run = run.id WHERE run.task = ?"
                   " ORDER BY run.id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        Run run;
        run_read(&stmt, 0, &run);
        StoreRunText text = run_text_read(&stmt, RUN_WIDTH);
        text.run = run.id;
        if (!fn(user, &run, &text))
            break;
    }
    return stmt_end(&stmt, err);
}
