/* Texts from outside made fit to print: clean, bounded, measured; times in UTC; safe names.
 *
 * Clean means: valid UTF-8; no control bytes but newline and tab; terminal sequences gone; no
 * characters that turn the direction of writing. What cannot be kept becomes U+FFFD. */
#pragma once
#include "base/arena.h"
#include "base/str.h"

/* One line: white space becomes one space, the ends are trimmed, "…" where it was cut after max
 * bytes. */
void plain_add_line(Str *out, const char *text, size_t max);
const char *plain_line(Arena *arena, const char *text, size_t max);
/* Several lines, without empty ones at the end; a line that says that something was cut. */
void plain_add_block(Str *out, const char *text, size_t max);
const char *plain_block(Arena *arena, const char *text, size_t max);
/* The same for outputs of programs, where the end is what matters: the last max bytes. */
const char *plain_tail(Arena *arena, const char *text, size_t max);

/* Columns of a terminal, for clean text. */
size_t plain_width(const char *text);
/* Exactly so many columns: padded, or cut with "…". */
void plain_add_padded(Str *out, const char *text, size_t columns);
/* Words wrapped so that no line is wider than columns; every line starts with indent spaces, and
 * the last one ends with a newline. Words that do not fit are broken. */
void plain_add_wrapped(Str *out, const char *text, size_t indent, size_t columns);

/* Letters a-z, digits and single "-": "Fix: ../a B" is "fix-a-b". "" when nothing is left. */
void plain_add_slug(Str *out, const char *text, size_t max);
const char *plain_slug(Arena *arena, const char *text, size_t max, const char *fallback);

enum { PLAIN_TIME_SIZE = 32 };
void plain_date(int64_t ms, char out[PLAIN_TIME_SIZE]);  /* "2026-11-15" */
void plain_time(int64_t ms, char out[PLAIN_TIME_SIZE]);  /* "2026-11-15 05:46:28"; "" for 0 */
void plain_stamp(int64_t ms, char out[PLAIN_TIME_SIZE]); /* "2026-11-15T05:46:28Z" */
const char *plain_took(Arena *arena, int64_t started_ms, int64_t ended_ms); /* "" unknown */
/* 1/10000 as "0.62"; two digits, more only where they are needed. */
const char *plain_part(Arena *arena, int64_t part);
