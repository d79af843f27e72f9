/* Clean checkouts of a commit for the gate, and getting rid of them. */
#pragma once
#include "git/workspace.h"

/* checkout {hub, commit, path} -> {path}
 * A private clone at that commit, detached, always made anew: a build's leftovers would make the
 * next gate lie. */
bool checkout_job(const json_t *in, json_t *out, Err *err);
/* discard {path, root} -> {}
 * For what can be made again at any time (never for a workspace: see retire.h). */
bool discard_job(const json_t *in, json_t *out, Err *err);
