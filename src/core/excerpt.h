/* Excerpts: the beginning of a foreign text, safe to show in one line. Pure. */
#pragma once
#include "base/arena.h"
#include "base/str.h"

/* At most limit bytes of text, cut between characters (then "…" follows); line breaks become
 * blanks, other control bytes and invalid UTF-8 are shown as \xNN. */
void excerpt_add(Str *out, const char *text, size_t limit);
/* Into a buffer of size bytes, whole characters, without the mark. */
void excerpt_copy(char *to, size_t size, const char *text);
/* The same with the mark, when it was cut. */
void excerpt_mark(char *to, size_t size, const char *text);
char *excerpt(Arena *arena, const char *text, size_t limit);
