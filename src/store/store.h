/* The store: everything otto must not forget, in one database file.
 *
 * Owns the schema, the migrations and every query; touches the database file and its two
 * companions (-wal, -shm) and nothing else. No database handle leaves this room. Behind the
 * functions stands a table of operations (store/ops.h), so that a second database can take the
 * place of SQLite.
 *
 * One writer: the engine that holds the lock of the state folder. Other processes may open the
 * same file with STORE_READ_ONLY at any time; they see committed states only.
 *
 * Transactions. store_begin, any number of puts and saves, store_commit: after a commit that
 * returned true the rows survive a power cut; a commit that returned false has rolled everything
 * back. A put outside a transaction is a transaction of its own. Inside one:
 *   - a put that fails with ERR_CONFLICT, ERR_TOO_BIG, ERR_NOT_FOUND or ERR_STORE (a rule of the
 *     schema) leaves no trace and the transaction goes on;
 *   - any other failure (full disk, I/O) breaks the transaction: every further put and the commit
 *     fail with the same error, until store_rollback or the failed commit ends it. Nothing of it
 *     is kept, and the store is usable again.
 * The order of writes inside one transaction does not matter: references are checked at the commit
 * (ERR_STORE when one points nowhere).
 *
 * Texts. Inputs are borrowed during the call; they may hold any bytes but NUL and are given back
 * byte for byte. Texts of "find" and "get" calls live in the caller's arena; texts of a row given
 * to a callback live until the callback returns. A missing text reads as "", never as NULL, unless
 * its field says otherwise. One text of more than STORE_TEXT_MAX bytes is refused: ERR_TOO_BIG.
 *
 * Callbacks return false to end a list early, which is no error. They may call the store, but must
 * not change the rows that are being listed.
 *
 * "get" fails with ERR_NOT_FOUND when the row is absent; "find" returns true and an id of 0. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "core/types.h"

typedef struct Store Store; /* made by store_open(), freed by store_free() */

enum {
    STORE_CREATE = 1,    /* make the file when it is missing */
    STORE_READ_ONLY = 2, /* change nothing, migrate nothing */

    STORE_TEXT_MAX = 16 * 1024 * 1024,
    STORE_OUTPUT_MAX = 16 * 1024, /* tail of a gate command's output */
};

/* Opens and migrates to this program's version. NULL on failure, the file as it was:
 * ERR_NOT_FOUND no such file (without STORE_CREATE); ERR_NEWER written by a newer otto;
 * ERR_CORRUPT not a database, not otto's, or damaged; ERR_IO a folder or file that may not be
 * written; ERR_NO_SPACE; ERR_BUSY. A read-only open of an older version fails with ERR_CONFLICT:
 * an engine has to migrate it first. */
Store *store_open(const char *path, unsigned flags, Err *err) NODISCARD;
void store_free(Store *store); /* rolls back what is not committed; NULL is fine */
/* Reads every page and checks every reference. ERR_CORRUPT with the first finding. Slow. */
bool store_check(Store *store, Err *err) NODISCARD;
int store_version(Store *store); /* of the schema, after migration */

/* On a read-only store: one consistent view until store_rollback or store_commit. */
bool store_begin(Store *store, Err *err) NODISCARD;
bool store_commit(Store *store, Err *err) NODISCARD;
void store_rollback(Store *store); /* without a transaction: nothing happens */

/* ---- events: written once, never changed (the database itself refuses) ---- */

typedef struct StoreEvent {
    int64_t id; /* given by the store, rising; not read by a put */
    int64_t at_ms;
    ProjectId project;
    TaskId task;
    RunId run;
    uint32_t epoch, turn;
    int kind;             /* EventKind */
    const char *data;     /* JSON object; NULL none */
    const char *decision; /* NULL none */
    const char *why;      /* NULL none */
} StoreEvent;

typedef bool StoreEventFn(void *user, const StoreEvent *event);

bool store_event_put(Store *store, const StoreEvent *event, int64_t *id, Err *err) NODISCARD;
/* Newest first; those before an id (0: from the newest); limit 0: all. */
bool store_event_list_task(Store *store, TaskId task, int64_t before, uint32_t limit,
                           StoreEventFn *fn, void *user, Err *err) NODISCARD;
/* Oldest first, those after an id; project 0: of all projects; limit 0: all. For streams and, with
 * project 0 and after 0, for a replay. */
bool store_event_list(Store *store, ProjectId project, int64_t after, uint32_t limit,
                      StoreEventFn *fn, void *user, Err *err) NODISCARD;
/* Events of one kind in one turn. The run must have been saved. */
bool store_event_count(Store *store, int kind, RunId run, uint32_t epoch, uint32_t turn,
                       int64_t *count, Err *err) NODISCARD;
bool store_event_last(Store *store, int64_t *id, Err *err) NODISCARD; /* 0: no event yet */

/* ---- the rows of core: inserted or overwritten whole, but for derived fields and is_dirty. The
 * project of a task, and task and project of a run, are set by the first save and stay. ---- */

bool store_project_save(Store *store, const Project *project, Err *err) NODISCARD;
bool store_task_save(Store *store, const Task *task, Err *err) NODISCARD;
bool store_run_save(Store *store, const Run *run, Err *err) NODISCARD;
/* Adding a dependency again overwrites its need; removing an absent one is fine. */
bool store_dependency_add(Store *store, const Dependency *dependency, Err *err) NODISCARD;
bool store_dependency_remove(Store *store, TaskId task, TaskId on, Err *err) NODISCARD;

/* ---- reading the state back at start ---- */

typedef struct StoreCounts {
    uint32_t projects, tasks, runs; /* at least as many as there are */
    uint32_t dependencies;
    TaskId max_task; /* highest ids ever given; 0 none */
    RunId max_run;
    ProjectId max_project;
} StoreCounts;

/* In this order: all projects, all tasks, all dependencies, then of the runs those that have not
 * ended and the latest of each task (Task.run). Derived fields and is_dirty are 0. A NULL member
 * is left out. */
typedef struct StoreLoader {
    void *user;
    void (*project)(void *user, const Project *project);
    void (*task)(void *user, const Task *task);
    void (*dependency)(void *user, const Dependency *dependency);
    void (*run)(void *user, const Run *run);
} StoreLoader;

bool store_counts(Store *store, StoreCounts *counts, Err *err) NODISCARD;
bool store_load(Store *store, const StoreLoader *loader, Err *err) NODISCARD;

/* ---- texts of projects, tasks, runs. In a save, a NULL text keeps what is stored. ---- */

typedef struct StoreProjectText {
    ProjectId id;
    const char *path; /* unique: ERR_CONFLICT */
    const char *hub;
    const char *target;
    const char *name;
    const char *settings_json;
    int64_t added_ms;
} StoreProjectText;

typedef bool StoreProjectFn(void *user, const StoreProjectText *text);

bool store_project_text_save(Store *store, const StoreProjectText *text, Err *err) NODISCARD;
bool store_project_text_get(Store *store, ProjectId id, Arena *arena, StoreProjectText *text,
                            Err *err) NODISCARD;
bool store_project_text_find(Store *store, const char *path, Arena *arena, StoreProjectText *text,
                             Err *err) NODISCARD;
bool store_project_text_list(Store *store, StoreProjectFn *fn, void *user, Err *err) NODISCARD;

typedef struct StoreTaskText {
    TaskId id;
    ProjectId project;
    const char *title;
    const char *body;
    const char *key; /* of the backlog; "" none; unique among a project's tasks that are not
                        deleted: ERR_CONFLICT */
    const char *checks_json;
    const char *tags_json;
    const char *size;
    const char *agent;
    const char *workflow;
    const char *type; /* of the work: "software", "docs", "software|docs"; "" software */
    int64_t created_ms;
    int64_t deleted_ms; /* 0: not deleted */
} StoreTaskText;

typedef struct StoreTaskFilter {
    ProjectId project; /* 0: of all projects */
    uint32_t states;   /* bits 1 << TaskState; 0: all */
    const char *text;  /* in title, body or key, letters A-Z in any case; NULL: all */
    bool with_deleted;
    TaskId after;   /* only ids above it */
    uint32_t limit; /* 0: all */
    uint32_t offset;
} StoreTaskFilter;

typedef bool StoreTaskFn(void *user, const Task *task, const StoreTaskText *text);

bool store_task_text_save(Store *store, const StoreTaskText *text, Err *err) NODISCARD;
bool store_task_text_get(Store *store, TaskId id, Arena *arena, StoreTaskText *text,
                         Err *err) NODISCARD;
/* The one that is not deleted, or else the latest deleted. */
bool store_task_text_find(Store *store, ProjectId project, const char *key, Arena *arena,
                          StoreTaskText *text, Err *err) NODISCARD;
/* By id. total: how many fit without after, limit and offset; NULL when not wanted, which is much
 * cheaper. */
bool store_task_list(Store *store, const StoreTaskFilter *filter, uint32_t *total, StoreTaskFn *fn,
                     void *user, Err *err) NODISCARD;

typedef struct StoreRunText {
    RunId run;
    const char *workspace_path;
    const char *workspace_kind;
    const char *branch;
    const char *agent;
    const char *tag;
    const char *token;
    const char *mark;
    const char *session; /* id of the conversation that the next turn goes on with; "" none */
    const char *says;    /* text for the next prompt; "" none */
    int says_kind;       /* stored together with says; kept when says is NULL */
} StoreRunText;

typedef bool StoreRunFn(void *user, const Run *run, const StoreRunText *text);

bool store_run_text_save(Store *store, const StoreRunText *text, Err *err) NODISCARD;
bool store_run_text_get(Store *store, RunId run, Arena *arena, StoreRunText *text,
                        Err *err) NODISCARD;
/* Oldest first; a run without texts comes with empty ones. */
bool store_run_list(Store *store, TaskId task, StoreRunFn *fn, void *user, Err *err) NODISCARD;

/* ---- turns ---- */

typedef struct StoreTurn {
    RunId run;
    uint32_t epoch, turn;
    int64_t started_ms;
    const char *prompt_hash;
    const char *agent;
    const char *phase, *checkpoint; /* of the workflow; "" none */
    /* the keeper */
    int64_t pid; /* 0: not known */
    int64_t start_ticks;
    const char *boot_id;
    /* the end */
    int64_t ended_ms; /* 0: not ended */
    int exit_code;    /* -1 none */
    int killed_by;    /* signal number or 0 */
    int signal;       /* SignalType */
    const char *payload;
    const char *commit;
    int64_t output_bytes;
} StoreTurn;

typedef bool StoreTurnFn(void *user, const StoreTurn *turn);

/* Reads run, epoch, turn, started_ms, prompt_hash, agent, phase, checkpoint. Again for the same
 * turn: the first one stays. */
bool store_turn_start(Store *store, const StoreTurn *turn, Err *err) NODISCARD;
/* Reads run, epoch, turn, pid, start_ticks, boot_id. ERR_NOT_FOUND: the turn was not started. */
bool store_turn_keeper(Store *store, const StoreTurn *turn, Err *err) NODISCARD;
/* Reads run, epoch, turn and the fields of the end. ERR_NOT_FOUND: the turn was not started. */
bool store_turn_end(Store *store, const StoreTurn *turn, Err *err) NODISCARD;
bool store_turn_get(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                    StoreTurn *out, Err *err) NODISCARD;
bool store_turn_list(Store *store, RunId run, StoreTurnFn *fn, void *user, Err *err) NODISCARD;

/* ---- gate results ---- */

typedef struct StoreGateResult {
    RunId run;
    uint32_t epoch, turn;
    const char *stage; /* "gate" or "merge" */
    uint32_t position;
    const char *name;
    const char *command;
    bool is_required;
    bool timed_out;
    int exit_code; /* -1 none */
    int64_t started_ms;
    int64_t took_ms;
    int64_t limit_s;
    const char *output; /* any bytes, NUL too; a put keeps the last STORE_OUTPUT_MAX */
    size_t output_length;
} StoreGateResult;

typedef bool StoreGateFn(void *user, const StoreGateResult *result);

/* Again for the same run, epoch, turn, stage and position: overwrites. */
bool store_gate_put(Store *store, const StoreGateResult *result, Err *err) NODISCARD;
bool store_gate_list(Store *store, RunId run, StoreGateFn *fn, void *user, Err *err) NODISCARD;

/* ---- landings ---- */

typedef struct StoreLanding {
    int64_t id; /* given by the store */
    TaskId task;
    RunId run;
    const char *commit;
    const char *old_tip, *new_tip;
    int64_t at_ms;
    int64_t undone_ms;     /* 0: it stands; not read by a put */
    const char *undone_by; /* commit that rolled it back; not read by a put */
} StoreLanding;

typedef bool StoreLandingFn(void *user, const StoreLanding *landing);

/* The same run with the same new_tip again: nothing happens. */
bool store_landing_put(Store *store, const StoreLanding *landing, Err *err) NODISCARD;
/* The run's landing that stands was rolled back by a commit. ERR_NOT_FOUND: none stands. */
bool store_landing_undo(Store *store, RunId run, const char *by_commit, int64_t at_ms,
                        Err *err) NODISCARD;
bool store_landing_list_task(Store *store, TaskId task, StoreLandingFn *fn, void *user,
                             Err *err) NODISCARD; /* newest first */
bool store_landing_list(Store *store, ProjectId project, uint32_t limit, StoreLandingFn *fn,
                        void *user, Err *err) NODISCARD; /* newest first; limit 0: all */

/* ---- notices: what needs a person ---- */

typedef struct StoreNotice {
    int64_t id; /* given by the store */
    ProjectId project;
    TaskId task; /* 0 none */
    RunId run;   /* 0 none */
    const char *kind;
    const char *text;
    int64_t at_ms;
    int64_t closed_ms;  /* 0: open; not read by a put */
    const char *answer; /* not read by a put */
} StoreNotice;

typedef bool StoreNoticeFn(void *user, const StoreNotice *notice);

/* One open notice per project, task and kind: a repeat changes run, text and time of the open one
 * and gives its id. id may be NULL. */
bool store_notice_put(Store *store, const StoreNotice *notice, int64_t *id, Err *err) NODISCARD;
/* kind NULL: of every kind. answer NULL: none. Nothing open is fine. */
bool store_notice_close_task(Store *store, TaskId task, const char *kind, int64_t at_ms,
                             const char *answer, Err *err) NODISCARD;
/* Those of the project, with and without a task. */
bool store_notice_close_project(Store *store, ProjectId project, const char *kind, int64_t at_ms,
                                const char *answer, Err *err) NODISCARD;
bool store_notice_list_open(Store *store, ProjectId project, StoreNoticeFn *fn, void *user,
                            Err *err) NODISCARD; /* oldest first; project 0: of all projects */
bool store_notice_list_task(Store *store, TaskId task, StoreNoticeFn *fn, void *user,
                            Err *err) NODISCARD; /* open and closed, oldest first */

/* ---- usage ---- */

typedef struct StoreUsage {
    RunId run;
    uint32_t turn;
    const char *agent;
    const char *model;
    int64_t input, output, cache; /* tokens */
    int64_t cost_micros;
    int64_t at_ms;
} StoreUsage;

typedef struct StoreUsageSum {
    int64_t rows, input, output, cache, cost_micros;
} StoreUsageSum;

bool store_usage_put(Store *store, const StoreUsage *usage, Err *err) NODISCARD;
bool store_usage_sum_task(Store *store, TaskId task, StoreUsageSum *sum, Err *err) NODISCARD;
bool store_usage_sum_project(Store *store, ProjectId project, StoreUsageSum *sum,
                             Err *err) NODISCARD;

/* ---- discoveries ---- */

typedef struct StoreDiscovery {
    int64_t id; /* given by the store */
    ProjectId project;
    TaskId task;    /* who found it */
    bool is_global; /* for all tasks of the project; else for its own task */
    const char *text;
    int64_t at_ms;
} StoreDiscovery;

typedef bool StoreDiscoveryFn(void *user, const StoreDiscovery *discovery);

/* The same text (trimmed, letters A-Z in any case) is kept once per project; a global repeat makes
 * a local one global. is_new may be NULL. */
bool store_discovery_put(Store *store, const StoreDiscovery *discovery, bool *is_new,
                         Err *err) NODISCARD;
/* What a task may see: the global ones and its own, oldest first. task 0: all of the project. */
bool store_discovery_list(Store *store, ProjectId project, TaskId task, StoreDiscoveryFn *fn,
                          void *user, Err *err) NODISCARD;

/* ---- small facts by name ---- */

bool store_meta_set(Store *store, const char *key, const char *value, Err *err) NODISCARD;
/* *value is NULL when the key was never set. */
bool store_meta_find(Store *store, const char *key, Arena *arena, const char **value,
                     Err *err) NODISCARD;
