/* Copying a git index.
 *
 * git knows a file as unchanged by its times and size, and looks at the bytes only when the file
 * is not older than the index ("racily clean"). So a copy must be as old as the original: a newer
 * one would hide an edit of the same size made in the second the files were laid down. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

bool index_copy(const char *from, const char *to, mode_t mode, Err *err) NODISCARD;
