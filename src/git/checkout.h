/* Clean checkouts of a commit for the gate, and getting rid of them. */
#pragma once
#include "git/workspace.h"

enum { OVERLAY_PATHS = 5000 };

/* checkout {hub, commit, path, overlay?: {commit, paths: [path]}} -> {path, laid?, removed?}
 * A private clone at that commit, detached, always made anew: a build's leftovers would make the
 * next gate lie. overlay: the listed files are as in another commit: laid over, brought back when
 * they are gone, removed when that commit does not have them. So the tests of the base branch run
 * against new code. HEAD and index stay those of commit; laid and removed count files. */
bool checkout_job(const json_t *in, json_t *out, Err *err);
/* discard {path, root} -> {}
 * For what can be made again at any time (never for a workspace: see retire.h). */
bool discard_job(const json_t *in, json_t *out, Err *err);
