/* Raw SQLite: see floor_sql.h. */
#include "tests/bench/floor_sql.h"
#include "base/arena.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
enum { Q_BEGIN, Q_COMMIT, Q_UPDATE, Q_EVENT, Q_INSERT, Q_EDGE, Q_BEST, Q_RELEASE, Q_TASKS, Q_EDGES, Q_COUNT };
static const char *const texts[Q_COUNT] = {
  [Q_BEGIN] = "BEGIN IMMEDIATE",
  [Q_COMMIT] = "COMMIT",
  [Q_UPDATE] = "UPDATE task SET state = ?2, at_ms = ?3 WHERE id = ?1",
  [Q_EVENT] = "INSERT INTO event (at_ms, task, kind, data) VALUES (?1, ?2, ?3, ?4)",
  [Q_INSERT] = "INSERT INTO task (id, state, score, open, at_ms, title) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
  [Q_EDGE] = "INSERT OR IGNORE INTO edge (task, waits_for) VALUES (?1, ?2)",
  [Q_BEST] = "SELECT id FROM task WHERE state = 0 ORDER BY score DESC, id LIMIT 1",
  [Q_RELEASE] = ("UPDATE task SET open = open - 1, state = CASE open WHEN 1 THEN 0 ELSE state END "
                "WHERE id IN (SELECT task FROM edge WHERE waits_for = ?1)"),
  [Q_TASKS] = "SELECT id, state, score, open, at_ms FROM task",
  [Q_EDGES] = "SELECT task, waits_for FROM edge",
};
static const char schema[] =
  "CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, state INT, score INT, open INT, at_ms INT, title TEXT) STRICT;"
  "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, at_ms INT, task INT, kind INT, data TEXT) STRICT;"
  "CREATE TABLE IF NOT EXISTS edge (task INT, waits_for INT, PRIMARY KEY (waits_for, task)) STRICT, WITHOUT ROWID;"
  "CREATE INDEX IF NOT EXISTS task_best ON task (state, score DESC, id);";
/* clang-format on */

struct SqlFloor {
    sqlite3 *db;
    sqlite3_stmt *queries[Q_COUNT];
    int64_t clock;
};

SqlFloor *sql_open(const char *path, SqlSync sync)
{
    SqlFloor *floor = mem_alloc(sizeof *floor);
    bool is_open =
        sqlite3_open(path, &floor->db) == SQLITE_OK &&
        sqlite3_exec(floor->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == 0 &&
        sqlite3_exec(floor->db,
                     sync == SQL_FULL ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
                     NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(floor->db, schema, NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; is_open && i < Q_COUNT; i++)
        is_open =
            sqlite3_prepare_v2(floor->db, texts[i], -1, &floor->queries[i], NULL) == SQLITE_OK;
    if (is_open)
        return floor;
    sql_free(floor);
    return NULL;
}

void sql_free(SqlFloor *floor)
{
    if (!floor)
        return;
    for (size_t i = 0; i < Q_COUNT; i++)
        sqlite3_finalize(floor->queries[i]);
    sqlite3_close(floor->db);
    free(floor);
}

static bool run(SqlFloor *floor, int query)
{
    int code = sqlite3_step(floor->queries[query]);
    sqlite3_reset(floor->queries[query]);
    return code == SQLITE_DONE || code == SQLITE_ROW;
}

bool sql_begin(SqlFloor *floor)
{
    return run(floor, Q_BEGIN);
}

bool sql_commit(SqlFloor *floor)
{
    return run(floor, Q_COMMIT);
}

unsigned edge_of(unsigned id, unsigned edge)
{
    /* Near ones, as people write backlogs; never oneself, a later one, or the same one twice. */
    unsigned back = 1 + edge * 32 + (id * 2654435761u >> (8 + edge * 5)) % 32;
    return back < id ? id - back : 0;
}

static bool fill_edges(SqlFloor *floor, unsigned id, unsigned edges)
{
    for (unsigned e = 0; e < edges; e++) {
        if (!edge_of(id, e))
            continue;
        sqlite3_bind_int64(floor->queries[Q_EDGE], 1, id);
        sqlite3_bind_int64(floor->queries[Q_EDGE], 2, edge_of(id, e));
        if (!run(floor, Q_EDGE))
            return false;
    }
    return true;
}

static unsigned count_edges(unsigned id, unsigned edges)
{
    unsigned count = 0;
    for (unsigned e = 0; e < edges; e++)
        count += edge_of(id, e) != 0;
    return count;
}

bool sql_fill(SqlFloor *floor, unsigned count, unsigned edges)
{
    if (!sql_begin(floor))
        return false;
    for (unsigned id = 1; id <= count; id++) {
        unsigned open = count_edges(id, edges);
        sqlite3_stmt *insert = floor->queries[Q_INSERT];
        char title[32];
        int length = snprintf(title, sizeof title, "Task number %u", id);
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_int(insert, 2, open ? SQL_WAITING : SQL_READY);
        sqlite3_bind_int64(insert, 3, (int64_t)(id * 2654435761u % 100));
        sqlite3_bind_int64(insert, 4, open);
        sqlite3_bind_text(insert, 5, title, length, SQLITE_TRANSIENT);
        if (!run(floor, Q_INSERT) || !fill_edges(floor, id, edges))
            return false;
    }
    return sql_commit(floor);
}

bool sql_transition(SqlFloor *floor, unsigned task, SqlState state)
{
    static const char data[] = "{\"exit_code\":0,\"killed_by\":0}";
    sqlite3_stmt *update = floor->queries[Q_UPDATE], *event = floor->queries[Q_EVENT];
    sqlite3_bind_int64(update, 1, task);
    sqlite3_bind_int(update, 2, state);
    sqlite3_bind_int64(update, 3, ++floor->clock);
    sqlite3_bind_int64(event, 1, floor->clock);
    sqlite3_bind_int64(event, 2, task);
    sqlite3_bind_int(event, 3, state);
    sqlite3_bind_text(event, 4, data, sizeof data - 1, SQLITE_STATIC);
    return run(floor, Q_UPDATE) && run(floor, Q_EVENT);
}

unsigned sql_best(SqlFloor *floor)
{
    unsigned best = 0;
    if (sqlite3_step(floor->queries[Q_BEST]) == SQLITE_ROW)
        best = (unsigned)sqlite3_column_int64(floor->queries[Q_BEST], 0);
    sqlite3_reset(floor->queries[Q_BEST]);
    return best;
}

bool sql_cycle(SqlFloor *floor)
{
    unsigned best = 0;
    if (!sql_begin(floor) || !(best = sql_best(floor)))
        return false;
    sqlite3_bind_int64(floor->queries[Q_RELEASE], 1, best);
    return sql_transition(floor, best, SQL_RUNNING) && sql_transition(floor, best, SQL_DONE) &&
           run(floor, Q_RELEASE) && sql_commit(floor);
}

typedef struct ReadTask {
    int64_t id, state, score, open, at_ms;
} ReadTask;

int64_t sql_read_back(SqlFloor *floor)
{
    size_t count = 0, size = 1024, edges = 0;
    ReadTask *tasks = mem_grow(NULL, size, sizeof *tasks);
    uint32_t(*pairs)[2] = NULL;
    size_t pair_size = 0;
    sqlite3_stmt *query = floor->queries[Q_TASKS];
    for (; sqlite3_step(query) == SQLITE_ROW; count++) {
        if (count == size)
            tasks = mem_grow(tasks, size *= 2, sizeof *tasks);
        int64_t *fields = &tasks[count].id;
        for (int i = 0; i < 5; i++)
            fields[i] = sqlite3_column_int64(query, i);
    }
    sqlite3_reset(query);
    query = floor->queries[Q_EDGES];
    for (; sqlite3_step(query) == SQLITE_ROW; edges++) {
        if (edges == pair_size)
            pairs = mem_grow(pairs, pair_size = pair_size ? pair_size * 2 : 4096, sizeof *pairs);
        pairs[edges][0] = (uint32_t)sqlite3_column_int64(query, 0);
        pairs[edges][1] = (uint32_t)sqlite3_column_int64(query, 1);
    }
    sqlite3_reset(query);
    free(tasks);
    free(pairs);
    return (int64_t)(count + edges);
}
