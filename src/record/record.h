/* Records: what a task left behind, written for people and for other tools.
 *
 * Reads the store and makes texts; touches nothing else: no files, no clock (times come from the
 * rows and from RecordFacts.now_ms, all printed in UTC). Where a text goes is the caller's affair.
 *
 * Everything that is read may come from an agent or a repository: control bytes, terminal
 * sequences, invalid UTF-8 and characters that turn the direction of writing never reach an
 * output; HTML and Markdown are escaped; names of files are made of letters, digits and "-_."
 * only; fields of JSON that are missing or of the wrong type count as missing. Long texts, tables
 * and documents are cut at the limits below, and say so.
 *
 * Every function fails only when the store does (ERR_NOT_FOUND: no such task); outputs are
 * untouched then. */
#pragma once
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "core/types.h"
#include "store/flow.h"

enum {
    RECORD_LOG_MAX = 200,                  /* lines of RecordFacts.log that are used */
    RECORD_ROWS_MAX = 500,                 /* rows of one table; the newest are kept */
    RECORD_CELL_MAX = 400,                 /* bytes of a text in a table or a list */
    RECORD_TEXT_MAX = 32 * 1024,           /* bytes of one quoted text or output */
    RECORD_LOADED_MAX = 24 * 1024 * 1024,  /* bytes of records that are read; the newest */
    RECORD_DOCUMENT_MAX = 4 * 1024 * 1024, /* bytes of one document, about */
    RECORD_SUMMARY_LINES = 200,            /* a summary is shorter */
};

/* What only the caller knows. Any text may be NULL: then the store's own knowledge is used. */
typedef struct RecordFacts {
    int64_t now_ms;         /* 0: no "written at" line */
    const char *project;    /* name */
    const char *target;     /* branch that work lands on */
    const char *workflow;   /* name */
    const char *state;      /* word of the task's state */
    const char *status;     /* of the workflow: "executing" */
    const char *phase;      /* now or last: "exec" */
    const char *checkpoint; /* of that phase: "mid-exec" */
    const char *next;       /* what comes next, a phase or a sentence */
    const char *why;        /* why it stands where it stands, one sentence */
    const char *branch;     /* of the work */
    const char *worktree;   /* path; "" none */
    const char *reason;     /* of a cancellation */
    const char *const *log; /* lines of git log, newest first */
    size_t log_count;
    bool has_completed_steps;
    uint32_t completed_steps; /* of the plan */
} RecordFacts;

typedef enum RecordFormat {
    RECORD_AS_MARKDOWN,
    RECORD_AS_HTML,    /* one file: no script, nothing loaded, light and dark, prints well */
    RECORD_AS_SUMMARY, /* Markdown, on one screen (`--format summary` of A-221) */
} RecordFormat;

typedef enum RecordLayout {
    RECORD_LAYOUT_OTTO, /* no files: the commands of otto are named instead */
    RECORD_LAYOUT_A,    /* A-100..A-108 */
    RECORD_LAYOUT_B,    /* B-226, B-227, B-251 */
} RecordLayout;

/* Every step with the row that decided, the flow line and the time per phase. json is a new
 * object (free with json_decref), text a table of 80 columns, safe for terminals, added to what
 * is there; either may be NULL. */
bool record_timeline(Store *store, TaskId task, json_t **json, Str *text, Err *err) NODISCARD;

/* The report of A-221, added to out. A draft without plan and steps gets a short notice. */
bool record_report(Store *store, TaskId task, const RecordFacts *facts, RecordFormat format,
                   Str *out, Err *err) NODISCARD;

/* The summary: recovery header first (B-189), under RECORD_SUMMARY_LINES lines. */
bool record_summary(Store *store, TaskId task, const RecordFacts *facts, RecordLayout layout,
                    Str *out, Err *err) NODISCARD;

/* One file of an export. path is relative ("/" between parts, no "..", no empty part) and comes
 * once; text ends with a newline. Both are borrowed. Returns false to end the export, which then
 * fails with what was set in err. */
typedef bool RecordFileFn(void *user, const char *path, const char *text, Err *err);

/* The task's folder in the layout of A or B. State files (`.index.json`, `.status.json`) come last
 * (B-254), so that a broken export does not look whole. Layout OTTO: ERR_USAGE. */
bool record_export(Store *store, TaskId task, const RecordFacts *facts, RecordLayout layout,
                   RecordFileFn *fn, void *user, Err *err) NODISCARD;

/* The name of the task's folder: its key, else its title, in safe characters; "task-12" when
 * nothing is left. */
bool record_task_name(Store *store, TaskId task, Str *out, Err *err) NODISCARD;
