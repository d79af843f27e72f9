/* Delivering: the user's branch follows the hub's target, by fast-forward only.
 *
 * A branch that nobody has checked out moves by compare-and-swap. One that is checked out moves
 * only when its work tree is clean and idle; files, index and branch then change together while
 * git's own index lock is held. Anything the user has there that is not committed, ignored files
 * included, is left untouched byte for byte. */
#pragma once
#include "git/hub.h"

typedef struct Delivery {
    const char *state; /* yes; dirty (files in the way); diverged; busy (somebody works); no */
    int64_t behind;    /* commits that the user's branch still lacks */
    char why[512];
} Delivery;

bool deliver_target(const char *hub, const char *repo, const char *target, Delivery *delivery,
                    Err *err) NODISCARD;
/* deliver {hub, repo, target} -> {delivered, why, behind} */
bool deliver_job(const json_t *in, json_t *out, Err *err);
