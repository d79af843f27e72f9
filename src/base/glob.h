/* Patterns for paths, as people write them: *.c, src/ **, tests/test_?.py, [ab]*.txt
 *
 *   ?      one byte, never a slash
 *   *      any bytes, never a slash
 *   **     any bytes, also slashes; as a part of its own ("a/ ** /b" without blanks) also nothing
 *   [a-z]  one of these bytes, [!a-z] one of the others; never a slash
 *   \x     x itself
 * A pattern fits a path when it fits the whole of it or a folder above it. Without a slash it may
 * begin at any depth; a leading slash only ties it to the root; one that ends with a slash means a
 * folder, so everything below. Upper and lower case differ. Pure; the work is pattern times path at
 * most, whatever the pattern. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

bool glob_fits(const char *pattern, const char *path);
bool glob_fits_any(const char *const *patterns, size_t count, const char *path);
