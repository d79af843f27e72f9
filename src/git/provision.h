/* Equipping a workspace: ignored files of the user's (a copy-list) and the set-up command. */
#pragma once
#include "git/job.h"

/* Copies each path of the list from the repository into the workspace. Refused: "..", links that
 * leave the repository, anything in .git. Nothing is written through a link in the workspace.
 * A path that is not there is named in missing. Each copied path becomes ignored in the
 * workspace, so that a secret cannot end up in a commit by accident. */
bool provision_copy(const char *repo, const char *workspace, const json_t *list, json_t *missing,
                    Err *err) NODISCARD;
