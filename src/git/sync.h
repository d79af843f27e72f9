/* Keeping the hub's target branch and the user's in step.
 *
 * The user's repository is only read here. What the user's branch gained comes into the hub; what
 * it lost since the last look is never guessed at: state "rewritten", nothing changed (D-244). */
#pragma once
#include "git/hub.h"

typedef struct SyncResult {
    const char *state; /* same forwarded merged ahead missing rewritten conflict */
    Oid tip;           /* the hub's target after the call; unset when it has none */
    Oid user_tip;      /* the user's branch; unset when it is missing */
    char why[512];
} SyncResult;

/* Makes the hub when there is none. True also for "missing", "rewritten" and "conflict": those are
 * answers. When nothing moved it costs no process. */
bool sync_target(const char *hub, const char *repo, const char *target, SyncResult *result,
                 Err *err) NODISCARD;
/* Can work go on from this result? */
bool sync_is_fine(const SyncResult *result);

/* sync {hub, repo, target, accept?} -> {state, tip, user_tip, why}
 * accept (the user's tip as shown): the user has said that a rewritten branch counts; the hub's
 * target becomes that tip, what it was stays under refs/otto/before/. */
bool sync_job(const json_t *in, json_t *out, Err *err);
