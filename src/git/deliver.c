/* Delivering: see deliver.h. */
#include "git/deliver.h"
#include "base/file.h"
#include "git/forward.h"
#include "git/ref.h"
#include "git/repo.h"
#include "proc/lock.h"
#include <string.h>

enum { TURN_WAIT_MS = 60000 }; /* as long as another delivery may take */

typedef struct Deliver {
    Git hub;
    const char *target;
    char common[PATH_MAX], head_ref[300], seen_ref[300];
    Oid tip, seen, user;
    Delivery *delivery;
} Deliver;

static bool answer(Deliver *d, const char *state, const char *why)
{
    d->delivery->state = state;
    snprintf(d->delivery->why, sizeof d->delivery->why, "%s", why);
    return true;
}

static bool deliver_open(Deliver *d, const char *repo, Err *err)
{
    snprintf(d->head_ref, sizeof d->head_ref, "refs/heads/%s", d->target);
    snprintf(d->seen_ref, sizeof d->seen_ref, "refs/otto/user/%s", d->target);
    if (!hub_check(d->hub.dir, err) || !repo_common_dir(repo, d->common, err))
        return false;
    d->user = ref_read(d->common, d->head_ref);
    d->tip = ref_read(d->hub.dir, d->head_ref);
    d->seen = ref_read(d->hub.dir, d->seen_ref);
    return true;
}

/* What the user's branch is now is what was seen last: a later reset is then noticed. */
static bool seen_write(Deliver *d, Err *err)
{
    RefTxn txn = REF_TXN_INIT;
    if (!oid_equal(&d->seen, &d->tip))
        ref_txn_update(&txn, d->seen_ref, &d->tip, NULL);
    return ref_txn_commit(&txn, &d->hub, err);
}

static bool swap(Deliver *d, Err *err)
{
    const char *const env[] = {"GIT_COMMITTER_NAME=otto", "GIT_COMMITTER_EMAIL=otto@localhost",
                               NULL};
    Git user = {.dir = d->common, .env = env};
    RefTxn txn = REF_TXN_INIT;
    Err problem = {0};
    ref_txn_update(&txn, d->head_ref, &d->tip, &d->user);
    if (ref_txn_commit(&txn, &user, &problem))
        return seen_write(d, err) && answer(d, "yes", "your branch was moved forward");
    if (problem.kind == ERR_CONFLICT || problem.kind == ERR_BUSY)
        return answer(d, "busy", "your branch moved at this moment; it is tried again");
    if (err)
        *err = problem;
    return false;
}

static bool checked_out(Deliver *d, const RepoTree *tree, const Oid *old, const Oid *new,
                        bool is_again, Err *err)
{
    Forward forward = {.hub = d->hub,
                       .target = d->target,
                       .common = d->common,
                       .tree = *tree,
                       .old = *old,
                       .new = *new,
                       .is_again = is_again};
    return forward_run(&forward, d->delivery, err);
}

/* A worker died in the middle: finish that first, then look again. is_stuck: it cannot be finished
 * now, and the answer says why. */
static bool finish_pending(Deliver *d, const char *repo, bool *is_stuck, Err *err)
{
    Oid old, new;
    RepoTree tree;
    if (!forward_pending(d->hub.dir, d->target, &old, &new) ||
        repo_trees_on(d->common, d->target, &tree) != 1)
        return true;
    if (!checked_out(d, &tree, &old, &new, true, err))
        return false;
    *is_stuck = forward_pending(d->hub.dir, d->target, &old, &new);
    return deliver_open(d, repo, err);
}

static bool is_forward(Deliver *d, bool *is_ahead, Err *err)
{
    *is_ahead = oid_equal(&d->user, &d->seen); /* the hub contains what was seen (sync.h) */
    if (*is_ahead)
        return true;
    if (!commit_exists(&d->hub, &d->user))
        return true; /* commits that the hub has never seen: not behind it */
    return commit_is_ancestor(&d->hub, &d->user, &d->tip, is_ahead, err);
}

/* What the user took away stays away (sync says so, and a person decides). */
static bool was_moved_back(const Deliver *d)
{
    Git user = {.dir = d->common};
    bool is_kept = false;
    if (!oid_is_set(&d->seen) || oid_equal(&d->user, &d->seen))
        return false;
    return !commit_exists(&user, &d->seen) ||
           !commit_is_ancestor(&user, &d->seen, &d->user, &is_kept, NULL) || !is_kept;
}

/* Commits of the user's on top of what landed: nothing waits. Asked in the user's repository, the
 * hub may not have seen them. */
static bool has_all(const Deliver *d)
{
    Git user = {.dir = d->common};
    bool is_inside = false;
    return commit_exists(&user, &d->tip) &&
           commit_is_ancestor(&user, &d->tip, &d->user, &is_inside, NULL) && is_inside;
}

static bool move(Deliver *d, Err *err)
{
    RepoTree tree;
    int count = repo_trees_on(d->common, d->target, &tree);
    if (count > 1)
        return answer(d, "busy", "the branch is checked out more than once");
    if (count == 1 && !tree.path[0])
        return answer(d, "busy", "the branch is checked out, nobody can say where");
    if (count == 0)
        return forward_send(&d->hub, d->common, &d->user, &d->tip, err) && swap(d, err);
    if (!checked_out(d, &tree, &d->user, &d->tip, false, err))
        return false;
    return strcmp(d->delivery->state, "yes") != 0 || seen_write(d, err);
}

static bool deliver_once(Deliver *d, const char *repo, Err *err)
{
    bool is_ahead = false, is_stuck = false;
    if (!deliver_open(d, repo, err) || !finish_pending(d, repo, &is_stuck, err))
        return false;
    if (is_stuck)
        return true;
    if (!oid_is_set(&d->tip))
        return answer(d, "no", "nothing has landed yet");
    if (!oid_is_set(&d->user))
        return answer(d, "no", "the branch does not exist in your repository");
    if (oid_equal(&d->user, &d->tip))
        return seen_write(d, err) && answer(d, "yes", "your branch has everything");
    if (was_moved_back(d))
        return answer(d, "diverged",
                      "your branch no longer contains commits that it had at the last look");
    if (!is_forward(d, &is_ahead, err))
        return false;
    if (!is_ahead && has_all(d))
        return answer(d, "yes", "your branch has everything, and commits of its own");
    if (!is_ahead)
        return answer(d, "diverged", "your branch has commits of its own; they are merged first");
    return move(d, err);
}

static bool turn_take(const char *hub, int *turn, Err *err)
{
    char path[PATH_MAX];
    return hub_check(hub, err) && hub_path(hub, "tmp", "delivery-turn", path, err) &&
           lock_take(path, true, TURN_WAIT_MS, turn, err);
}

bool deliver_target(const char *hub, const char *repo, const char *target, Delivery *delivery,
                    Err *err)
{
    *delivery = (Delivery){.state = "no"};
    Deliver d = {.hub = {.dir = hub}, .target = target, .delivery = delivery};
    int turn = -1;
    /* One at a time: an intent that is found is then known to be of a worker that died. */
    bool is_done = turn_take(hub, &turn, err) && deliver_once(&d, repo, err);
    lock_drop(&turn);
    if (!is_done)
        return err_add(err, "delivery of '%s'", target);
    delivery->behind = 0;
    if (strcmp(delivery->state, "yes") == 0 || !oid_is_set(&d.tip) || !oid_is_set(&d.user))
        return true;
    if (!commit_count(&d.hub, &d.user, &d.tip, &delivery->behind, NULL))
        delivery->behind = 0; /* the user's commits are not in the hub: nobody can count */
    return true;
}

bool deliver_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *repo, *target;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"repo", JOB_PATH, true, &repo},
        {"target", JOB_BRANCH, true, &target},
    };
    Delivery delivery;
    if (!job_read(in, fields, COUNT(fields), &arena, err) ||
        !deliver_target(hub, repo, target, &delivery, err))
        return false;
    out_text(out, "delivered", delivery.state);
    out_text(out, "why", delivery.why);
    out_int(out, "behind", delivery.behind);
    return true;
}
