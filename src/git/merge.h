/* Merging in memory: computed in the hub, nothing is moved (that is land.h).
 *
 * The result is always a real merge commit with two parents: the target's tip and the work. */
#pragma once
#include "git/hub.h"

/* merge {hub, repo, target, commit, base?, message, task?, run?, author_name?, author_email?,
 * explain?} -> {state, old, new, same_tree, conflicts, explain, why, sync}
 * state: clean; conflict (see conflicts and explain); empty (the target has all of it); blocked
 * (hub and user cannot be reconciled, or there is no common history: see why). */
bool merge_job(const json_t *in, json_t *out, Err *err);
/* rollback {hub, repo, target, landed, message} -> {state, old, new, conflicts, why}
 * The opposite of a landed merge, on top of the target. Land it with land.h; commit is `landed`. */
bool rollback_job(const json_t *in, json_t *out, Err *err);
/* Merges made here are remembered until they land: old tip and work of a merge commit. */
bool merge_note_matches(const char *hub, const Oid *merged, const Oid *old, const Oid *commit);
void merge_note_remove(const char *hub, const Oid *merged);
