/* Small facts: usage, discoveries, and values by name. */
#include "store/sqlite.h"

/* ---- usage ---- */

bool sqlite_usage_put(Store *store, const StoreUsage *usage, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_USAGE_PUT,
                   "INSERT INTO usage (run, turn, agent, model, input, output, cache, cost_micros,"
                   " at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, usage->run);
    bind_int(&stmt, 2, usage->turn);
    bind_text(&stmt, 3, usage->agent);
    bind_text(&stmt, 4, usage->model);
    bind_int(&stmt, 5, usage->input);
    bind_int(&stmt, 6, usage->output);
    bind_int(&stmt, 7, usage->cache);
    bind_int(&stmt, 8, usage->cost_micros);
    bind_int(&stmt, 9, usage->at_ms);
    return stmt_run(&stmt, err);
}

#define USAGE_SUM                                                                                  \
    "SELECT count(*), sum(usage.input), sum(usage.output), sum(usage.cache),"                      \
    " sum(usage.cost_micros)"

/* The sum of nothing is NULL and reads as 0. */
static bool usage_sum(Stmt *stmt, uint32_t of, StoreUsageSum *sum, Err *err)
{
    StoreUsageSum own = {0};
    bind_int(stmt, 1, of);
    if (stmt_next(stmt))
        own = (StoreUsageSum){
            .rows = stmt_int(stmt, 0),
            .input = stmt_int(stmt, 1),
            .output = stmt_int(stmt, 2),
            .cache = stmt_int(stmt, 3),
            .cost_micros = stmt_int(stmt, 4),
        };
    if (!stmt_end(stmt, err))
        return false;
    *sum = own;
    return true;
}

bool sqlite_usage_sum_task(Store *store, TaskId task, StoreUsageSum *sum, Err *err)
{
    Stmt stmt;
    return stmt_take(store, SLOT_USAGE_SUM_TASK,
                     USAGE_SUM
                     " FROM run CROSS JOIN usage ON usage.run = run.id WHERE run.task = ?",
                     &stmt, err) &&
           usage_sum(&stmt, task, sum, err);
}

bool sqlite_usage_sum_project(Store *store, ProjectId project, StoreUsageSum *sum, Err *err)
{
    Stmt stmt;
    return stmt_take(store, SLOT_USAGE_SUM_PROJECT,
                     USAGE_SUM " FROM usage CROSS JOIN run ON run.id = usage.run"
                               " WHERE run.project = ?",
                     &stmt, err) &&
           usage_sum(&stmt, project, sum, err);
}

/* ---- discoveries ---- */

static bool is_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* FNV-1a of the trimmed text in lower case. Not a defence: two texts with the same hash cost one
 * of two hints. */
static int64_t text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    while (is_blank((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_blank((unsigned char)text[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        hash ^= c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
        hash *= 0x100000001b3u;
    }
    return (int64_t)hash;
}

static bool discovery_widen(Store *store, ProjectId project, int64_t hash, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_DISCOVERY_WIDEN,
                   "UPDATE discovery SET is_global = 1 WHERE project = ? AND hash = ?", &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    bind_int(&stmt, 2, hash);
    return stmt_run(&stmt, err);
}

bool sqlite_discovery_put(Store *store, const StoreDiscovery *discovery, bool *is_new, Err *err)
{
    Stmt stmt;
    int64_t hash = text_hash(discovery->text ? discovery->text : "");
    if (!stmt_take(store, SLOT_DISCOVERY_PUT,
                   "INSERT INTO discovery (project, task, is_global, text, hash, at_ms)"
                   " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (project, hash) DO NOTHING",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, discovery->project);
    bind_int(&stmt, 2, discovery->task);
    bind_int(&stmt, 3, discovery->is_global);
    bind_text(&stmt, 4, discovery->text);
    bind_int(&stmt, 5, hash);
    bind_int(&stmt, 6, discovery->at_ms);
    if (!stmt_run(&stmt, err))
        return false;
    bool was_there = stmt_changes(&stmt) == 0;
    if (was_there && discovery->is_global && !discovery_widen(store, discovery->project, hash, err))
        return false;
    if (is_new)
        *is_new = !was_there;
    return true;
}

bool sqlite_discovery_list(Store *store, ProjectId project, TaskId task, StoreDiscoveryFn *fn,
                           void *user, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_DISCOVERY_LIST,
                   "SELECT id, project, task, is_global, text, at_ms FROM discovery"
                   " WHERE project = ?1 AND (?2 = 0 OR is_global OR task = ?2) ORDER BY id",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, project);
    bind_int(&stmt, 2, task);
    while (stmt_next(&stmt)) {
        StoreDiscovery discovery = {
            .id = stmt_int(&stmt, 0),
            .project = (ProjectId)stmt_int(&stmt, 1),
            .task = (TaskId)stmt_int(&stmt, 2),
            .is_global = stmt_int(&stmt, 3),
            .text = stmt_text(&stmt, 4),
            .at_ms = stmt_int(&stmt, 5),
        };
        if (!fn(user, &discovery))
            break;
    }
    return stmt_end(&stmt, err);
}

/* ---- values by name ---- */

bool sqlite_meta_set(Store *store, const char *key, const char *value, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_META_SET,
                   "INSERT INTO meta (key, value) VALUES (?1, ?2)"
                   " ON CONFLICT (key) DO UPDATE SET value = ?2",
                   &stmt, err))
        return false;
    bind_text(&stmt, 1, key);
    bind_text(&stmt, 2, value);
    return stmt_run(&stmt, err);
}

bool sqlite_meta_find(Store *store, const char *key, Arena *arena, const char **value, Err *err)
{
    Stmt stmt;
    const char *own = NULL;
    if (!stmt_take(store, SLOT_META_FIND, "SELECT value FROM meta WHERE key = ?", &stmt, err))
        return false;
    bind_text(&stmt, 1, key);
    if (stmt_next(&stmt))
        own = arena_strdup(arena, stmt_text(&stmt, 0));
    if (!stmt_end(&stmt, err))
        return false;
    *value = own;
    return true;
}
