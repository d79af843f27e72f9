/* Retiring a workspace: into the trash, and only with proof that the hub has everything (F21).
 *
 * Proof: a last snapshot is taken; its tree equals that of the snapshot the caller names, and the
 * agent's commits are contained in it. Other branches and the stash go to refs/otto/rescue/.
 * Without proof the workspace stays where it is: {kept: true, why}. Where something is not in the
 * hub (ignored files, repositories inside, older stashes) or the work did not land, the trash
 * keeps it for the given days; otherwise it may be deleted as soon as somebody has the time.
 *
 * With aside the work is given up, for a rollback inside a run: what came after the named snapshot
 * has just been saved as `last`, and that is proof enough; the trash keeps the folder for the given
 * days. The next epoch then starts from an older commit (prepare with restore). The user's own
 * repository (kind none) cannot be put aside: ERR_REFUSED. */
#pragma once
#include "git/workspace.h"

/* retire {hub, path, kind, run, epoch, root, trash, days, task, title?, snapshot, landed?:
 * {commit, target}, aside?} -> {trashed, kept, why, last} */
bool retire_job(const json_t *in, json_t *out, Err *err);
