/* Retiring a workspace: into the trash, and only with proof that the hub has everything (F21).
 *
 * Proof: a last snapshot is taken; its tree equals that of the snapshot the caller names, and the
 * agent's commits are contained in it. Other branches and the stash go to refs/otto/rescue/.
 * Without proof the workspace stays where it is: {kept: true, why}. Where something is not in the
 * hub (ignored files, repositories inside, older stashes) or the work did not land, the trash
 * keeps it for the given days; otherwise it may be deleted as soon as somebody has the time. */
#pragma once
#include "git/workspace.h"

/* retire {hub, path, kind, run, epoch, root, trash, days, task, title?, snapshot, landed?:
 * {commit, target}} -> {trashed, kept, why, last} */
bool retire_job(const json_t *in, json_t *out, Err *err);
