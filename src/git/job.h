/* Jobs: how the git room is called. JSON fields in, JSON fields out.
 *
 * Every job may be repeated after a crash at any point and then finishes the work. A job reads its
 * fields with a table, which also checks them: what comes in is data, never trusted as a path, a
 * branch or an object name before it was looked at (T9). */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "git/oid.h"
#include "git/path.h"

/* Adds its result fields to out. false: see err. */
typedef bool (*JobFn)(const json_t *in, json_t *out, Err *err);

typedef enum JobFieldKind {
    JOB_PATH,   /* absolute, without "." and ".." parts */
    JOB_COMMIT, /* full object name */
    JOB_BRANCH, /* a branch name that git allows and that is no option */
    JOB_ID,     /* a whole number or letters and digits: safe inside a file name */
    JOB_TEXT,
} JobFieldKind;

typedef struct JobField {
    const char *key;
    JobFieldKind kind;
    bool is_needed;
    const char **into; /* borrowed from the JSON or the arena; NULL when absent */
} JobField;

bool job_read(const json_t *in, const JobField *fields, size_t count, Arena *arena,
              Err *err) NODISCARD;
bool branch_is_valid(const char *name);
bool id_is_valid(const char *text);

/* Result fields. Text of any bytes is allowed; what is not UTF-8 becomes U+FFFD. */
void out_text(json_t *out, const char *key, const char *text); /* NULL becomes null */
void out_oid(json_t *out, const char *key, const Oid *oid);    /* unset becomes null */
void out_int(json_t *out, const char *key, int64_t number);
void out_flag(json_t *out, const char *key, bool flag);
json_t *json_lossy(const char *bytes, size_t length);
