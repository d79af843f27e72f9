/* Keeping hub and user in step: see sync.h. */
#include "git/sync.h"
#include "git/mergetree.h"
#include "git/ref.h"
#include "git/repo.h"
#include <string.h>

typedef struct Sync {
    Git hub;
    const char *target;
    char common[PATH_MAX]; /* the user's git folder */
    char head_ref[300], seen_ref[300];
    Oid tip, seen, user;
    SyncResult *result;
} Sync;

static bool answer(Sync *sync, const char *state, const char *why)
{
    sync->result->state = state;
    sync->result->tip = sync->tip;
    sync->result->user_tip = sync->user;
    snprintf(sync->result->why, sizeof sync->result->why, "%s", why);
    return true;
}

bool sync_is_fine(const SyncResult *result)
{
    return strcmp(result->state, "missing") != 0 && strcmp(result->state, "rewritten") != 0 &&
           strcmp(result->state, "conflict") != 0;
}

static bool sync_open(Sync *sync, const char *hub, const char *repo, Err *err)
{
    sync->hub = (Git){.dir = hub};
    snprintf(sync->head_ref, sizeof sync->head_ref, "refs/heads/%s", sync->target);
    snprintf(sync->seen_ref, sizeof sync->seen_ref, "refs/otto/user/%s", sync->target);
    if (!hub_ensure(hub, repo, err) || !repo_common_dir(repo, sync->common, err))
        return false;
    sync->user = ref_read(sync->common, sync->head_ref);
    sync->tip = ref_read(hub, sync->head_ref);
    sync->seen = ref_read(hub, sync->seen_ref);
    return true;
}

/* Brings the user's branch into the hub. What arrives counts, not what was read before. */
static bool user_fetch(Sync *sync, Err *err)
{
    char seed_ref[300], incoming[300], spec[700];
    snprintf(seed_ref, sizeof seed_ref, "refs/otto/seed/%s", sync->target);
    Oid seed = ref_read(sync->hub.dir, seed_ref);
    if (oid_equal(&seed, &sync->user))
        return true; /* came with the hard links */
    snprintf(incoming, sizeof incoming, "refs/otto/incoming/%s", sync->target);
    snprintf(spec, sizeof spec, "+%s:%s", sync->head_ref, incoming);
    GitOut out = GIT_OUT_INIT;
    /* The user's history is taken as it is: old repositories carry small faults. */
    const char *const *words =
        ARGV("-c", "fetch.fsckObjects=false", "fetch", "-q", "--no-tags", "--no-write-fetch-head",
             "--no-recurse-submodules", "--update-shallow", "--refmap=", "--", sync->common, spec);
    bool is_done = git_run(&sync->hub, words, NULL, &out, err);
    git_out_done(&out);
    if (is_done)
        sync->user = ref_read(sync->hub.dir, incoming);
    return is_done;
}

/* Moves the hub's target (when tip is given) and remembers what was seen, in one transaction. */
static bool hub_move(Sync *sync, const Oid *tip, Err *err)
{
    RefTxn txn = REF_TXN_INIT;
    if (tip)
        ref_txn_update(&txn, sync->head_ref, tip, &sync->tip);
    if (!oid_equal(&sync->seen, &sync->user))
        ref_txn_update(&txn, sync->seen_ref, &sync->user, &sync->seen);
    if (!ref_txn_commit(&txn, &sync->hub, err))
        return false;
    if (tip)
        sync->tip = *tip;
    return true;
}

static bool both_moved(Sync *sync, Err *err)
{
    CLEANUP(merge_tree_done) MergeTree merge = MERGE_TREE_INIT;
    if (!merge_tree_run(&sync->hub, &sync->tip, &sync->user, &merge, err))
        return false;
    if (!merge.is_clean) {
        char why[400];
        snprintf(why, sizeof why, "your branch and what landed change the same places: %.300s",
                 merge_tree_summary(&merge));
        return answer(sync, "conflict", why);
    }
    char message[300];
    snprintf(message, sizeof message, "Merge branch '%s' as changed by its owner\n", sync->target);
    CommitSpec spec = {.tree = merge.tree, .parents = {sync->tip, sync->user}, .message = message};
    Oid merged;
    return commit_make(&sync->hub, &spec, &merged, err) && hub_move(sync, &merged, err) &&
           answer(sync, "merged", "your new commits and what landed were merged");
}

/* The user's branch moved since the last look. */
static bool user_moved(Sync *sync, Err *err)
{
    bool is_kept = true, is_behind = false, is_ahead = false;
    if (!user_fetch(sync, err))
        return false;
    if (!oid_is_set(&sync->tip))
        return hub_move(sync, &sync->user, err) && answer(sync, "forwarded", "first look");
    if (oid_is_set(&sync->seen) &&
        !commit_is_ancestor(&sync->hub, &sync->seen, &sync->user, &is_kept, err))
        return false;
    if (!is_kept)
        return answer(sync, "rewritten",
                      "your branch no longer contains commits that it had at the last look");
    if (!commit_is_ancestor(&sync->hub, &sync->tip, &sync->user, &is_ahead, err))
        return false;
    if (is_ahead)
        return hub_move(sync, &sync->user, err) &&
               answer(sync, "forwarded", "you have new commits");
    if (!commit_is_ancestor(&sync->hub, &sync->user, &sync->tip, &is_behind, err))
        return false;
    if (is_behind)
        return hub_move(sync, NULL, err) &&
               answer(sync, "ahead", "landed work is not delivered yet");
    return both_moved(sync, err);
}

static bool sync_once(Sync *sync, Err *err)
{
    if (!oid_is_set(&sync->user))
        return answer(sync, "missing", "the branch does not exist in your repository");
    if (oid_equal(&sync->user, &sync->tip))
        return hub_move(sync, NULL, err) && answer(sync, "same", "nothing moved");
    /* After each look the hub contains what was seen, and only ever adds to it. */
    if (oid_equal(&sync->user, &sync->seen) && oid_is_set(&sync->tip))
        return answer(sync, "ahead", "landed work is not delivered yet");
    return user_moved(sync, err);
}

bool sync_target(const char *hub, const char *repo, const char *target, SyncResult *result,
                 Err *err)
{
    for (int tries = 0;; tries++) {
        Sync sync = {.target = target, .result = result};
        Err problem = {0};
        if (sync_open(&sync, hub, repo, &problem) && sync_once(&sync, &problem))
            return true;
        if ((problem.kind != ERR_CONFLICT && problem.kind != ERR_BUSY) || tries == 4) {
            if (err)
                *err = problem;
            return err_add(err, "sync of '%s'", target);
        } /* else the hub moved between reading and writing: look again */
    }
}

/* A person decided that the rewritten branch counts. */
static bool sync_accept(Sync *sync, const Oid *accepted, Err *err)
{
    if (!oid_equal(&sync->user, accepted))
        return err_set(err, ERR_CONFLICT, "your branch moved again; look once more");
    if (!user_fetch(sync, err))
        return false;
    RefTxn txn = REF_TXN_INIT;
    char before[400];
    snprintf(before, sizeof before, "refs/otto/before/%s/%s", sync->target, sync->tip.hex);
    if (oid_is_set(&sync->tip))
        ref_txn_update(&txn, before, &sync->tip, NULL);
    ref_txn_update(&txn, sync->head_ref, &sync->user, &sync->tip);
    ref_txn_update(&txn, sync->seen_ref, &sync->user, NULL);
    if (!ref_txn_commit(&txn, &sync->hub, err))
        return false;
    sync->tip = sync->user;
    return answer(sync, "forwarded", "taken over as you said");
}

bool sync_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *repo, *target, *accept;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"repo", JOB_PATH, true, &repo},
        {"target", JOB_BRANCH, true, &target},
        {"accept", JOB_COMMIT, false, &accept},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err))
        return false;
    SyncResult result = {0};
    Oid accepted = oid_from(accept);
    Sync sync = {.target = target, .result = &result};
    bool is_done = accept ? sync_open(&sync, hub, repo, err) && sync_accept(&sync, &accepted, err)
                          : sync_target(hub, repo, target, &result, err);
    if (!is_done)
        return false;
    out_text(out, "state", result.state);
    out_oid(out, "tip", &result.tip);
    out_oid(out, "user_tip", &result.user_tip);
    out_text(out, "why", result.why);
    return true;
}
