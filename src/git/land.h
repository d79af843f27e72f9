/* Landing: the target branch of the hub moves to a merge, by compare-and-swap, with proof (F15,
 * F20); then it is delivered to the user's repository (deliver.h). */
#pragma once
#include "git/hub.h"

/* land {hub, repo, target, old, new, commit, task?, deliver?} -> {state, tip, delivered, why}
 * state: landed (also when it had landed before) or moved (the target is not at old any more). */
bool land_job(const json_t *in, json_t *out, Err *err);
/* prove {hub, commit, target} -> {landed, why}: the commit is in the target, or the patch of every
 * commit of it is. */
bool prove_job(const json_t *in, json_t *out, Err *err);
