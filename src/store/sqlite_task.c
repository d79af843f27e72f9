/* Texts of tasks, and lists of tasks for the doors. */
#include "store/sqlite_rows.h"

#define TASK_TEXT_NAMES                                                                            \
    "id, project, title, body, key, checks_json, tags_json, size, agent, workflow, type,"          \
    " created_ms, deleted_ms"
#define TASK_TEXT_OF_X                                                                             \
    "x.id, x.project, x.title, x.body, x.key, x.checks_json, x.tags_json, x.size, x.agent,"        \
    " x.workflow, x.type, x.created_ms, x.deleted_ms"
enum { TASK_TEXT_WIDTH = 13 };

/* The project stays what the first save said, as in the task's own row. */
bool sqlite_task_text_save(Store *store, const StoreTaskText *text, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TASK_TEXT_SAVE,
                   "INSERT INTO task_text (" TASK_TEXT_NAMES ") VALUES (?1, ?2, ifnull(?3, ''),"
                   " ifnull(?4, ''), ifnull(?5, ''), ifnull(?6, ''), ifnull(?7, ''),"
                   " ifnull(?8, ''), ifnull(?9, ''), ifnull(?10, ''), ifnull(?11, ''), ?12, ?13)"
                   " ON CONFLICT (id) DO UPDATE SET title = ifnull(?3, title),"
                   " body = ifnull(?4, body), key = ifnull(?5, key),"
                   " checks_json = ifnull(?6, checks_json), tags_json = ifnull(?7, tags_json),"
                   " size = ifnull(?8, size), agent = ifnull(?9, agent),"
                   " workflow = ifnull(?10, workflow), type = ifnull(?11, type), created_ms = ?12,"
                   " deleted_ms = ?13",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, text->id);
    bind_int(&stmt, 2, text->project);
    bind_text_or_null(&stmt, 3, text->title);
    bind_text_or_null(&stmt, 4, text->body);
    bind_text_or_null(&stmt, 5, text->key);
    bind_text_or_null(&stmt, 6, text->checks_json);
    bind_text_or_null(&stmt, 7, text->tags_json);
    bind_text_or_null(&stmt, 8, text->size);
    bind_text_or_null(&stmt, 9, text->agent);
    bind_text_or_null(&stmt, 10, text->workflow);
    bind_text_or_null(&stmt, 11, text->type);
    bind_int(&stmt, 12, text->created_ms);
    bind_int(&stmt, 13, text->deleted_ms);
    return stmt_run(&stmt, err);
}

static StoreTaskText task_text_read(const Stmt *stmt)
{
    return (StoreTaskText){
        .id = (TaskId)stmt_int(stmt, 0),
        .project = (ProjectId)stmt_int(stmt, 1),
        .title = stmt_text(stmt, 2),
        .body = stmt_text(stmt, 3),
        .key = stmt_text(stmt, 4),
        .checks_json = stmt_text(stmt, 5),
        .tags_json = stmt_text(stmt, 6),
        .size = stmt_text(stmt, 7),
        .agent = stmt_text(stmt, 8),
        .workflow = stmt_text(stmt, 9),
        .type = stmt_text(stmt, 10),
        .created_ms = stmt_int(stmt, 11),
        .deleted_ms = stmt_int(stmt, 12),
    };
}

/* The row, if there is one, into the arena; gives the statement back. */
static bool task_text_one(Stmt *stmt, Arena *arena, StoreTaskText *out, Err *err)
{
    StoreTaskText text = {0};
    if (stmt_next(stmt)) {
        text = task_text_read(stmt);
        text.title = arena_strdup(arena, text.title);
        text.body = arena_strdup(arena, text.body);
        text.key = arena_strdup(arena, text.key);
        text.checks_json = arena_strdup(arena, text.checks_json);
        text.tags_json = arena_strdup(arena, text.tags_json);
        text.size = arena_strdup(arena, text.size);
        text.agent = arena_strdup(arena, text.agent);
        text.workflow = arena_strdup(arena, text.workflow);
        text.type = arena_strdup(arena, text.type);
    }
    if (!stmt_end(stmt, err))
        return false;
    *out = text;
    return true;
}

bool sqlite_task_text_get(Store *store, TaskId id, Arena *arena, StoreTaskText *text, Err *err)
{
    Stmt stmt;
    StoreTaskText own;
    if (!stmt_take(store, SLOT_TASK_TEXT_GET,
                   "SELECT " TASK_TEXT_NAMES " FROM task_text WHERE id = ?", &stmt, err))
        return false;
    bind_int(&stmt, 1, id);
    if (!task_text_one(&stmt, arena, &own, err))
        return false;
    if (!own.id)
        return err_set(err, ERR_NOT_FOUND, "there is no task %u", id);
    *text = own;
    return true;
}

bool sqlite_task_text_find(Store *store, ProjectId project, const char *key, Arena *arena,
                           StoreTaskText *text, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_TASK_TEXT_FIND,
                   "SELECT " TASK_TEXT_NAMES " FROM task_text"
                   " WHERE project = ? AND key = ? AND key <> ''"
                   " ORDER BY deleted_ms <> 0, id DESC LIMIT 1",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    bind_text(&stmt, 2, key);
    return task_text_one(&stmt, arena, text, err);
}

/* ---- lists ---- */

/* ?1 project, ?2 bits of states, ?3 text or NULL, ?4 with deleted. One project is found by its
 * index, all projects by the table, so the part with the project is the statement's own. */
#define TASK_FITS                                                                                  \
    " AND (?4 OR x.deleted_ms = 0) AND (?2 >> task.state) & 1"                                     \
    " AND (?3 IS NULL OR instr(lower(x.title), lower(?3)) OR instr(lower(x.key), lower(?3))"       \
    "  OR instr(lower(x.body), lower(?3)))"
#define TASK_LIST_HEAD                                                                             \
    "SELECT " TASK_TEXT_OF_X ", " TASK_NAMES                                                       \
    " FROM task_text AS x CROSS JOIN task ON task.id = x.id"

static void filter_bind(Stmt *stmt, const StoreTaskFilter *filter)
{
    bind_int(stmt, 1, filter->project);
    bind_int(stmt, 2, filter->states ? filter->states : UINT32_MAX);
    bind_text_or_null(stmt, 3, filter->text && filter->text[0] ? filter->text : NULL);
    bind_int(stmt, 4, filter->with_deleted);
}

static bool list_take(Store *store, const StoreTaskFilter *filter, Stmt *stmt, Err *err)
{
    if (filter->project)
        return stmt_take(store, SLOT_TASK_LIST_PROJECT,
                         TASK_LIST_HEAD " WHERE x.project = ?1 AND x.id > ?5" TASK_FITS
                                        " ORDER BY x.id LIMIT ?6 OFFSET ?7",
                         stmt, err);
    return stmt_take(
        store, SLOT_TASK_LIST,
        TASK_LIST_HEAD " WHERE x.id > ?5" TASK_FITS " ORDER BY x.id LIMIT ?6 OFFSET ?7", stmt, err);
}

static bool list_count(Store *store, const StoreTaskFilter *filter, uint32_t *total, Err *err)
{
    Stmt stmt;
    int64_t number = 0;
    if (!stmt_take(store, SLOT_TASK_COUNT,
                   "SELECT count(*) FROM task_text AS x CROSS JOIN task ON task.id = x.id"
                   " WHERE (?1 = 0 OR x.project = ?1)" TASK_FITS,
                   &stmt, err))
        return false;
    filter_bind(&stmt, filter);
    if (!stmt_answer(&stmt, &number, err))
        return false;
    *total = (uint32_t)number;
    return true;
}

bool sqlite_task_list(Store *store, const StoreTaskFilter *filter, uint32_t *total, StoreTaskFn *fn,
                      void *user, Err *err)
{
    Stmt stmt;
    if (total && !list_count(store, filter, total, err))
        return false;
    if (!list_take(store, filter, &stmt, err))
        return false;
    filter_bind(&stmt, filter);
    bind_int(&stmt, 5, filter->after);
    bind_limit(&stmt, 6, filter->limit);
    bind_int(&stmt, 7, filter->offset);
    while (stmt_next(&stmt)) {
        Task task;
        StoreTaskText text = task_text_read(&stmt);
        task_read(&stmt, TASK_TEXT_WIDTH, &task);
        if (!fn(user, &task, &text))
            break;
    }
    return stmt_end(&stmt, err);
}
