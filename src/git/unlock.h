/* Stale locks: files *.lock that a killed git left in the hub (F12, F15).
 *
 * Removed only when nobody can be their owner any more: no process has the file open, no git
 * process works on the hub, and the lock is older than the machine's start or than a few seconds.
 * A process that cannot be looked at counts as a possible owner. The user's repository is never
 * touched. */
#pragma once
#include "git/hub.h"

/* unlock {hub, min_age_s?} -> {removed: [path], kept: [{path, why}]} */
bool unlock_job(const json_t *in, json_t *out, Err *err);
