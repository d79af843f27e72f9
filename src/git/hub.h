/* The hub: per project one bare repository in the state folder, where all of otto's git work
 * happens (DESIGN section 10).
 *
 * It is a local clone of the user's repository with hard links, without hooks or templates, with a
 * configuration that otto writes. References in it:
 *   refs/heads/TARGET             the truth of what landed
 *   refs/otto/user/TARGET         the user's branch as last seen
 *   refs/otto/seed/...            the user's branches when the hub was made
 *   refs/otto/runs/RUN/eEPOCH/TURN  snapshots
 *   refs/otto/rescue/RUN/eEPOCH/...  other branches and stashes of a retired workspace
 *   refs/otto/landed/TASK         the merge that landed a task
 *   refs/otto/before/TARGET/ID    what the target was before a rewritten branch was accepted
 *   refs/otto/import/, incoming/  just arrived, being looked at
 * Beside them the folder otto/: index/ (one index per workspace, never an agent's), ws/ (what is
 * known of each workspace), merges/ (merges made and not yet landed), tmp/. */
#pragma once
#include "git/cmd.h"
#include "git/job.h"
#include <limits.h>

/* hub {hub, repo} -> {created} */
bool hub_job(const json_t *in, json_t *out, Err *err);
/* Is this a hub that we made and finished? */
bool hub_is_ready(const char *hub);
bool hub_check(const char *hub, Err *err) NODISCARD; /* the same with a sentence */
bool hub_ensure(const char *hub, const char *repo, Err *err) NODISCARD; /* makes it when needed */
/* HUB/otto/FOLDER/NAME. */
bool hub_path(const char *hub, const char *folder, const char *name, char out[PATH_MAX],
              Err *err) NODISCARD;
