/* Moving a checked-out branch of the user's forward: files, index and branch together.
 *
 * Before the first file changes, an intent is written in the hub: from where, to where, and which
 * lock is ours. A worker that died in between is finished by the next call, which then accepts
 * files that are as before, as after, or cut short on the way. */
#pragma once
#include "git/deliver.h"
#include "git/repo.h"

typedef struct Forward {
    Git hub;
    const char *target;
    const char *common; /* the user's shared git folder */
    RepoTree tree;      /* where the branch is checked out */
    Oid old, new;
    bool is_again; /* finishing what an earlier worker began */
} Forward;

/* Gives the user's repository the objects from old to new, as one pack. */
bool forward_send(const Git *hub, const char *common, const Oid *old, const Oid *new,
                  Err *err) NODISCARD;
/* True with delivery->state "yes", "dirty" or "busy". */
bool forward_run(Forward *forward, Delivery *delivery, Err *err) NODISCARD;
/* Reads the intent of an earlier worker, if there is one. */
bool forward_pending(const char *hub, const char *target, Oid *old, Oid *new);
