/* What was learnt: profiles of task types, and experiences. */
#include "store/sqlite.h"

/* ---- profiles ---- */

#define PROFILE_NAMES "project, type, updated_ms, settings, observed"

bool sqlite_profile_save(Store *store, const StoreProfile *profile, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PROFILE_SAVE,
                   "INSERT INTO profile (" PROFILE_NAMES ")"
                   " VALUES (?1, ?2, ?3, ifnull(?4, ''), ifnull(?5, ''))"
                   " ON CONFLICT (project, type) DO UPDATE SET updated_ms = ?3,"
                   " settings = ifnull(?4, settings), observed = ifnull(?5, observed)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, profile->project);
    bind_text(&stmt, 2, profile->type);
    bind_int(&stmt, 3, profile->updated_ms);
    bind_text_or_null(&stmt, 4, profile->settings);
    bind_text_or_null(&stmt, 5, profile->observed);
    return stmt_run(&stmt, err);
}

static StoreProfile profile_read(const Stmt *stmt)
{
    return (StoreProfile){
        .project = (ProjectId)stmt_int(stmt, 0),
        .type = stmt_text(stmt, 1),
        .updated_ms = stmt_int(stmt, 2),
        .settings = stmt_text(stmt, 3),
        .observed = stmt_text(stmt, 4),
    };
}

bool sqlite_profile_find(Store *store, ProjectId project, const char *type, Arena *arena,
                         StoreProfile *profile, Err *err)
{
    Stmt stmt;
    StoreProfile own = {.type = "", .settings = "", .observed = ""};
    if (!stmt_take(store, SLOT_PROFILE_FIND,
                   "SELECT " PROFILE_NAMES " FROM profile WHERE project = ? AND type = ?", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, project);
    bind_text(&stmt, 2, type);
    if (stmt_next(&stmt)) {
        own = profile_read(&stmt);
        own.type = arena_strdup(arena, own.type);
        own.settings = arena_strdup(arena, own.settings);
        own.observed = arena_strdup(arena, own.observed);
    }
    if (!stmt_end(&stmt, err))
        return false;
    *profile = own;
    return true;
}

bool sqlite_profile_list(Store *store, ProjectId project, StoreProfileFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_PROFILE_LIST,
                   "SELECT " PROFILE_NAMES " FROM profile WHERE project = ? ORDER BY type", &stmt,
                   err))
        return false;
    bind_int(&stmt, 1, project);
    while (stmt_next(&stmt)) {
        StoreProfile profile = profile_read(&stmt);
        if (!fn(user, &profile))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- experiences ---- */

bool sqlite_experience_put(Store *store, const StoreExperience *experience, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EXPERIENCE_PUT,
                   "INSERT INTO experience (project, task, at_ms, type, quality, topic, text)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                   " ON CONFLICT (task, topic, type, project) DO UPDATE SET at_ms = ?3,"
                   " quality = ?5, text = ?7",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, experience->project);
    bind_int(&stmt, 2, experience->task);
    bind_int(&stmt, 3, experience->at_ms);
    bind_text(&stmt, 4, experience->type);
    bind_text(&stmt, 5, experience->quality);
    bind_text(&stmt, 6, experience->topic);
    bind_text(&stmt, 7, experience->text);
    return stmt_run(&stmt, err);
}

bool sqlite_experience_list(Store *store, ProjectId project, const char *type, uint32_t limit,
                            StoreExperienceFn *fn, void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EXPERIENCE_LIST,
                   "SELECT id, project, task, at_ms, type, quality, topic, text FROM experience"
                   " WHERE project = ?1 AND (?2 IS NULL OR type = ?2)"
                   " ORDER BY at_ms DESC, id DESC LIMIT ?3",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    bind_text_or_null(&stmt, 2, type);
    bind_limit(&stmt, 3, limit);
    while (stmt_next(&stmt)) {
        StoreExperience experience = {
            .id = stmt_int(&stmt, 0),
            .project = (ProjectId)stmt_int(&stmt, 1),
            .task = (TaskId)stmt_int(&stmt, 2),
            .at_ms = stmt_int(&stmt, 3),
            .type = stmt_text(&stmt, 4),
            .quality = stmt_text(&stmt, 5),
            .topic = stmt_text(&stmt, 6),
            .text = stmt_text(&stmt, 7),
        };
        if (!fn(user, &experience))
            break;
    }
    return stmt_end(&stmt, err);
}

bool sqlite_experience_judge(Store *store, TaskId task, const char *quality, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_EXPERIENCE_JUDGE,
                   "UPDATE experience SET quality = ?2 WHERE task = ?1", &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_text(&stmt, 2, quality);
    return stmt_run(&stmt, err);
}
