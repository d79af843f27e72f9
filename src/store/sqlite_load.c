/* Reading the state back at start: four scans in the order of the tables, no join, no sort (P16).
 */
#include "store/sqlite_rows.h"

bool sqlite_counts(Store *store, StoreCounts *counts, Err *err)
{
    Stmt stmt;
    /* Ids are dense and rows are never deleted: the highest is also the count, and found at once.
     */
    if (!stmt_take(store, SLOT_COUNTS,
                   "SELECT (SELECT max(id) FROM project), (SELECT max(id) FROM task),"
                   " (SELECT max(id) FROM run), (SELECT count(*) FROM dependency)",
                   &stmt, err))
        return false;
    StoreCounts own = {0};
    if (stmt_next(&stmt)) {
        own.projects = own.max_project = (ProjectId)stmt_int(&stmt, 0);
        own.tasks = own.max_task = (TaskId)stmt_int(&stmt, 1);
        own.runs = own.max_run = (RunId)stmt_int(&stmt, 2);
        own.dependencies = (uint32_t)stmt_int(&stmt, 3);
    }
    if (!stmt_end(&stmt, err))
        return false;
    *counts = own;
    return true;
}

static bool load_projects(Store *store, const StoreLoader *loader, Err *err)
{
    Stmt stmt;
    Project project;
    if (!loader->project)
        return true;
    if (!stmt_take(store, SLOT_PROJECT_LOAD, "SELECT " PROJECT_NAMES " FROM project ORDER BY id",
                   &stmt, err))
        return false;
    while (stmt_next(&stmt)) {
        project_read(&stmt, 0, &project);
        loader->project(loader->user, &project);
    }
    return stmt_end(&stmt, err);
}

/* The latest run of each task, by task id; zero where there is none. */
typedef struct Latest {
    RunId *runs;
    size_t size;
} Latest;

static bool load_tasks(Store *store, const StoreLoader *loader, Latest *latest, Err *err)
{
    Stmt stmt;
    Task task;
    if (!stmt_take(store, SLOT_TASK_LOAD, "SELECT " TASK_NAMES " FROM task ORDER BY id", &stmt,
                   err))
        return false;
    while (stmt_next(&stmt)) {
        task_read(&stmt, 0, &task);
        if (task.id < latest->size)
            latest->runs[task.id] = task.run;
        if (loader->task)
            loader->task(loader->user, &task);
    }
    return stmt_end(&stmt, err);
}

static bool load_dependencies(Store *store, const StoreLoader *loader, Err *err)
{
    Stmt stmt;
    if (!loader->dependency)
        return true;
    if (!stmt_take(store, SLOT_DEPENDENCY_LOAD,
                   "SELECT task, \"on\", need FROM dependency ORDER BY task, \"on\"", &stmt, err))
        return false;
    while (stmt_next(&stmt)) {
        Dependency dependency = {.task = (TaskId)stmt_int(&stmt, 0),
                                 .on = (TaskId)stmt_int(&stmt, 1),
                                 .need = (Need)stmt_int(&stmt, 2)};
        loader->dependency(loader->user, &dependency);
    }
    return stmt_end(&stmt, err);
}

static bool load_runs(Store *store, const StoreLoader *loader, const Latest *latest, Err *err)
{
    Stmt stmt;
    Run run;
    if (!loader->run)
        return true;
    if (!stmt_take(store, SLOT_RUN_LOAD, "SELECT " RUN_NAMES " FROM run ORDER BY id", &stmt, err))
        return false;
    while (stmt_next(&stmt)) {
        RunId id = (RunId)stmt_int(&stmt, RUN_COLUMN_id);
        TaskId task = (TaskId)stmt_int(&stmt, RUN_COLUMN_task);
        bool is_latest = task < latest->size && latest->runs[task] == id;
        if (!is_latest && stmt_int(&stmt, RUN_COLUMN_state) == RUN_ENDED)
            continue; /* history: read only when somebody asks */
        run_read(&stmt, 0, &run);
        loader->run(loader->user, &run);
    }
    return stmt_end(&stmt, err);
}

static bool max_task(Store *store, TaskId *highest, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_MAX_TASK, "SELECT max(id) FROM task", &stmt, err))
        return false;
    if (stmt_next(&stmt))
        *highest = (TaskId)stmt_int(&stmt, 0);
    return stmt_end(&stmt, err);
}

static bool load_all(Store *store, const StoreLoader *loader, Err *err)
{
    TaskId highest = 0;
    if (!max_task(store, &highest, err))
        return false;
    Latest latest = {.size = (size_t)highest + 1};
    latest.runs = mem_alloc(latest.size * sizeof *latest.runs);
    bool is_done = load_projects(store, loader, err) && load_tasks(store, loader, &latest, err) &&
                   load_dependencies(store, loader, err) && load_runs(store, loader, &latest, err);
    free(latest.runs);
    return is_done;
}

/* Pages are read in place while everything is read once; afterwards the memory is given back. */
static void map_file(Store *store, bool is_mapped)
{
    IGNORE(sqlite3_exec(((SqliteStore *)store)->db,
                        is_mapped ? "PRAGMA mmap_size = 1073741824" : "PRAGMA mmap_size = 0", NULL,
                        NULL, NULL)); /* only quicker */
}

/* One view for all four scans, even while another process writes. */
bool sqlite_load(Store *store, const StoreLoader *loader, Err *err)
{
    if (((SqliteStore *)store)->in_transaction)
        return load_all(store, loader, err);
    map_file(store, true);
    bool is_done = store_begin(store, err);
    if (is_done) {
        is_done = load_all(store, loader, err);
        store_rollback(store); /* nothing was written */
    }
    map_file(store, false);
    return is_done;
}
