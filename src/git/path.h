/* Paths as text. */
#pragma once
#include "base/err.h"
#include <limits.h>

bool path_is_plain(const char *path); /* absolute and without ".", ".." and empty parts */
/* FOLDER/NAME; false with ERR_USAGE when it is too long (out is "" then). */
bool path_join(char out[PATH_MAX], const char *folder, const char *name, Err *err) NODISCARD;
