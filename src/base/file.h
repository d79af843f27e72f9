/* Files and paths. The one place that writes whole files: beside, synced, renamed. */
#pragma once
#include "base/err.h"
#include <stddef.h>
#include <sys/types.h>

/* Whole file, NUL-terminated, owned by the caller; ERR_TOO_BIG above limit_bytes. Never waits: a
 * pipe, socket or device is refused. */
char *file_read(const char *path, size_t limit_bytes, size_t *length, Err *err) NODISCARD;
/* The same for what a person names on the command line, where a pipe is fine. */
char *file_read_stream(const char *path, size_t limit_bytes, size_t *length, Err *err) NODISCARD;
/* Temporary name, write, fsync, rename, fsync of the folder: readers see old or new. */
bool file_write_atomic(const char *path, const void *bytes, size_t length, mode_t mode,
                       Err *err) NODISCARD;
/* Plain create and write, for files that nobody reads before we say so (prompts). */
bool file_write_plain(const char *path, const void *bytes, size_t length, mode_t mode,
                      Err *err) NODISCARD;
bool folder_ensure(const char *path, mode_t mode, Err *err) NODISCARD; /* with parents */
/* Removes a tree without following links; missing is fine. */
bool folder_remove(const char *path, Err *err) NODISCARD;
bool path_exists(const char *path); /* does not follow a final link */
bool path_is_folder(const char *path);
/* Real location (links resolved) lies below or is the real root. False when either is missing. */
bool path_is_inside(const char *path, const char *root);
