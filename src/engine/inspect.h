/* The git room's answer about a folder: {ok, root, is_bare, is_empty, branch, is_detached,
 * is_dirty, problem?}. Blocks for some milliseconds; the caller frees the result. */
#pragma once
#include "base/json.h"

json_t *inspect_folder(const char *path);

/* Makes the hub when it is missing and brings it in step with the user's branch. What a person must
 * decide (missing branch, rewritten history) is an error with the next step. Blocks. */
bool hub_prepare(const char *hub, const char *repo, const char *target, bool accept_rewrite,
                 Err *err) NODISCARD;
