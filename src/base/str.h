/* Str: a growing text. Str s = STR_INIT; str_add(&s, "x"); ... str_done(&s).
 *
 * bytes is always NUL-terminated once something was added; str_text() never returns NULL. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Str {
    char *bytes;
    size_t length, size;
} Str;

#define STR_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void str_add(Str *str, const char *text);
void str_add_bytes(Str *str, const void *bytes, size_t length);
void str_add_char(Str *str, char c);
void str_addf(Str *str, const char *format, ...) PRINTF(2, 3);
void str_add_int(Str *str, int64_t number);
/* A JSON string literal with quotes; invalid UTF-8 becomes U+FFFD, control bytes are escaped. */
void str_add_json(Str *str, const char *text);
/* For terminals: control bytes (except newline when keep_newlines, and tab) shown as \xNN. */
void str_add_safe(Str *str, const char *text, size_t length, bool keep_newlines);
void str_clear(Str *str);
const char *str_text(const Str *str);
char *str_take(Str *str); /* the caller owns the text; str is empty again */
void str_done(Str *str);

/* Small helpers on C strings. */
bool text_starts(const char *text, const char *head);
bool text_ends(const char *text, const char *tail);
bool text_equal(const char *a, const char *b);       /* NULL equals only NULL */
bool text_to_int(const char *text, int64_t *number); /* whole text, base 10 */
/* Edit distance for "did you mean"; at most limit + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);
/* Valid UTF-8 length of the sequence at text (1..4), or 0. */
size_t utf8_length(const char *text, size_t left);
