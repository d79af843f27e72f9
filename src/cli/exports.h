/* Files of an export on disk: everything below one folder, nothing outside it, nobody's work lost.
 *
 * A file that an earlier export of the same task wrote may be replaced; the folder remembers those
 * in EXPORT_LIST. Any other file with other content is refused unless is_forced. Everything is
 * looked at before the first file is written. Links on the way are not followed. */
#pragma once
#include "base/err.h"
#include "base/json.h"

#define EXPORT_LIST ".otto-export.json"

/* files: [{path, text}]. count: written ones (equal ones are left alone). */
bool export_write(const char *folder, int64_t task, const json_t *files, bool is_forced,
                  size_t *count, Err *err) NODISCARD;
/* Relative, "/" between parts, no empty part, no "." or "..", no control characters. */
bool export_path_is_fine(const char *path);
