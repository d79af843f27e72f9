/* Patterns of text: that part of extended regular expressions which tables of ours need.
 *
 *   a .  [abc] [a-z] [^abc]   one byte; ASCII letters fit in either case
 *   ^ $                       the start, the end of the text (not of a line)
 *   \b                        the edge of a word (letters, digits, underscore)
 *   \x                        x itself
 *   (a|b)  a*  a+  a?         groups, choices, repetition
 * Found anywhere in the text. All places are followed together, so the work is pattern times text
 * at most, whatever a hostile text holds; the C library's engine is larger than that of otto. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>

typedef struct Pattern Pattern;

/* NULL: not a pattern (a slip in a table of ours, so the caller may abort). Lives in the arena; the
 * words must live as long. */
Pattern *pattern_read(Arena *arena, const char *words) NODISCARD;
bool pattern_fits(const Pattern *pattern, const char *text);
