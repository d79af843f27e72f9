/* Errors: see err.h. */
#include "base/err.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct ErrRow {
    ErrKind kind;
    const char *name;
    int exit_code;
    int http;
    bool retry;
} ErrRow;

static const ErrRow rows[] = {
#define X(kind, name, exit_code, http, retry) {kind, name, exit_code, http, retry},
    ERR_KINDS(X)
#undef X
};

static const ErrRow *row_of(ErrKind kind)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return &rows[COUNT(rows) - 1];
}

bool err_set(Err *err, ErrKind kind, const char *format, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    err->kind = kind;
    (void)vsnprintf(err->text, sizeof err->text, format, args); /* a cut sentence is still one */
    va_end(args);
    return false;
}

bool err_add(Err *err, const char *format, ...)
{
    if (!err)
        return false;
    char head[sizeof err->text];
    char tail[sizeof err->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(head, sizeof head, format, args); /* a cut sentence is still one */
    va_end(args);
    memcpy(tail, err->text, sizeof tail);
    size_t used = strlen(head);
    if (used > sizeof err->text - 3)
        used = sizeof err->text - 3;
    memcpy(err->text, head, used);
    memcpy(err->text + used, ": ", 2);
    size_t left = sizeof err->text - used - 2;
    size_t copy = strnlen(tail, left - 1);
    memcpy(err->text + used + 2, tail, copy);
    err->text[used + 2 + copy] = '\0';
    return false;
}

bool err_errno(Err *err, const char *format, ...)
{
    int code = errno;
    if (!err)
        return false;
    char head[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(head, sizeof head, format, args); /* a cut sentence is still one */
    va_end(args);
    ErrKind kind = code == ENOSPC || code == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    return err_set(err, kind, "%s: %s", head, strerror(code));
}

const char *err_kind_name(ErrKind kind)
{
    return row_of(kind)->name;
}

int err_exit_code(ErrKind kind)
{
    return row_of(kind)->exit_code;
}

int err_http_status(ErrKind kind)
{
    return row_of(kind)->http;
}

bool err_is_retryable(ErrKind kind)
{
    return row_of(kind)->retry;
}
