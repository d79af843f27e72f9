/* Errors: a kind and one sentence that grows on the way up.
 *
 * A function that can fail returns bool (or a pointer) and takes Err * last. The table of kinds
 * gives the exit code, the HTTP status and whether trying again can help. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>

/*      kind           name           exit http retry */
#define ERR_KINDS(X)                                                                               \
    X(ERR_NONE, "none", 0, 200, false)                                                             \
    X(ERR_USAGE, "bad-input", 1, 400, false)     /* a wrong flag, value, file or name */           \
    X(ERR_NOT_FOUND, "not-found", 1, 404, false) /* the named thing does not exist */              \
    X(ERR_CONFLICT, "conflict", 1, 409, false)   /* not allowed in the present state */            \
    X(ERR_REFUSED, "refused", 1, 403, false)     /* a rule of safety says no */                    \
    X(ERR_TOO_BIG, "too-big", 1, 413, false)     /* over a stated limit */                         \
    X(ERR_BUSY, "busy", 2, 503, true)            /* somebody else holds it */                      \
    X(ERR_IO, "io", 2, 500, true)                /* a file or socket call failed */                \
    X(ERR_NO_SPACE, "no-space", 2, 507, true)    /* the disk is full */                            \
    X(ERR_PROCESS, "process", 2, 500, true)      /* a program failed or could not start */         \
    X(ERR_GIT, "git", 2, 500, true)              /* git said no */                                 \
    X(ERR_STORE, "store", 2, 500, true)          /* the database said no */                        \
    X(ERR_NEWER, "newer-version", 2, 500, false) /* written by a newer otto */                     \
    X(ERR_CORRUPT, "corrupt", 2, 500, false)     /* data that cannot be what we wrote */           \
    X(ERR_INTERNAL, "internal", 2, 500, false)   /* should not happen */

typedef enum ErrKind {
#define X(kind, name, exit_code, http, retry) kind,
    ERR_KINDS(X)
#undef X
} ErrKind;

typedef struct Err {
    ErrKind kind;
    char text[1024];
} Err;

/* Always returns false, so that a function can `return err_set(...)`. err may be NULL. */
bool err_set(Err *err, ErrKind kind, const char *format, ...) PRINTF(3, 4);
/* Puts "<text>: " before the sentence. Always returns false. */
bool err_add(Err *err, const char *format, ...) PRINTF(2, 3);
/* Sets kind from errno (ENOSPC and EDQUOT become ERR_NO_SPACE) and appends its text. */
bool err_errno(Err *err, const char *format, ...) PRINTF(2, 3);

const char *err_kind_name(ErrKind kind);
int err_exit_code(ErrKind kind);
int err_http_status(ErrKind kind);
bool err_is_retryable(ErrKind kind);
