/* Backlog: Markdown files with tasks in them.
 *
 * One rule, by what the file begins with and holds:
 *   a. it begins with `---`: each front matter block (`---`, YAML, `---`) begins a task, the text
 *      after it is the body. A line `---` in a body always begins the next task (write `***` for
 *      a ruler).
 *   b. no front matter, but headings (`#` to `######`): each heading of the shallowest level found
 *      begins a task, the text below it is the body; text before the first one is left out.
 *   c. no headings either: each list item `- [ ] title` is a task, text indented below it is the
 *      body; items `- [x]` are done and left out.
 * Nothing inside a code fence begins a task. The whole file is good, or nothing is returned.
 * Pure: the caller reads the file and adds the tasks. */
#pragma once
#include "base/err.h"
#include "core/field.h"
#include "core/types.h"

enum {
    BACKLOG_MOST_BYTES = 4 << 20,
    BACKLOG_MOST_TASKS = 10000,
    BACKLOG_MOST_TITLE = 200, /* characters */
    BACKLOG_MOST_BODY = 256 << 10,
    BACKLOG_MOST_AFTER = 256,
    BACKLOG_MOST_REQUIREMENTS = 100,
    BACKLOG_MOST_CRITERIA = 2000, /* characters; also of a requirement's text */
};

typedef struct BacklogAfter {
    const char *key; /* NULL: id is set */
    TaskId id;       /* of a task that exists already; 0: key is set */
    Need need;
    const char *status; /* lifecycle word that was written, see backlog_need_find; NULL: none */
} BacklogAfter;

/* One R# that the task brings along (B-99), so that it can run without a dialogue. */
typedef struct BacklogRequirement {
    const char *text;
    const char *criteria; /* when it counts as met; "" none given */
    int64_t weight;       /* 3 critical, 2 important (when left out), 1 optional (B-69) */
} BacklogRequirement;

typedef struct BacklogTask {
    int line; /* where it begins, from 1 */
    const char *title;
    const char *body; /* never NULL */
    const char *key;  /* name for `after` and scenarios; NULL none */
    BacklogAfter *after;
    size_t after_count;
    TextList checks; /* acceptance commands of this task */
    TextList tags;
    int64_t priority;                   /* 0..3, or PRIORITY_NONE */
    const char *size;                   /* XS S M L XL; NULL none */
    BacklogAfter parent;                /* key NULL and id 0: none */
    const char *agent, *workflow;       /* NULL: the project's */
    int64_t max_turns, timeout_minutes; /* 0: the project's */
    const char *type;                   /* kind of work; NULL none */
    bool is_confirmed;                  /* its objective needs no confirmation (B-11) */
    BacklogRequirement *requirements;
    size_t requirement_count;
} BacklogTask;

typedef struct Backlog {
    BacklogTask *tasks;
    size_t count;
} Backlog;

/* Is there a task with this key already? For `after` and `parent` that point out of the file; also
 * a key that exists may not be given again. NULL: no tasks yet. */
typedef bool BacklogKnown(void *data, const char *key);

typedef struct BacklogSource {
    const char *name; /* of the file, for messages: "backlog.md:12: ..." */
    const char *text;
    size_t length;
    BacklogKnown *known; /* NULL: nothing is known */
    void *known_data;
} BacklogSource;

/* Everything returned lives in the arena. false: err names line and key. */
bool backlog_read(const BacklogSource *source, Arena *arena, Backlog *backlog, Err *err) NODISCARD;
/* The checks of a title, for doors that add single tasks. */
bool backlog_title_check(const char *title, Err *err) NODISCARD;
/* What a dependency must have reached: a need word (started, verified, done), or a status of the
 * lifecycle: draft, planning, review and executing count as started, complete and satisfied
 * as done. false: no such word; blocked, re-planning and cancelled satisfy nothing. */
bool backlog_need_find(const char *word, Need *need);
/* Weight of a requirement: 1 to 3, or its word. 0: neither. */
int64_t backlog_weight(const json_t *value);
FieldTable backlog_rows(void);   /* the keys of a front matter */
void backlog_markdown(Str *out); /* their table for the documentation */
