/* Landing: see land.h. */
#include "git/land.h"
#include "base/str.h"
#include "git/deliver.h"
#include "git/merge.h"
#include "git/ref.h"
#include <string.h>

typedef struct Land {
    const char *hub, *repo, *target, *task;
    Oid old, new, commit, tip;
    char head_ref[300], landed_ref[100];
    Git git;
} Land;

/* The work is in the merge, and the merge is on top of the old tip. A merge made here is known to
 * be so; for any other, git is asked. */
static bool proof_find(const Land *land, bool *is_proven, Err *err)
{
    bool has_work = false, is_on_top = false;
    *is_proven = merge_note_matches(land->hub, &land->new, &land->old, &land->commit);
    if (*is_proven)
        return true;
    if (!commit_is_ancestor(&land->git, &land->commit, &land->new, &has_work, err) ||
        !commit_is_ancestor(&land->git, &land->old, &land->new, &is_on_top, err))
        return false;
    *is_proven = has_work && is_on_top;
    return true;
}

static bool landed_note(Land *land, RefTxn *txn)
{
    if (!land->task)
        return true;
    Oid known = ref_read(land->hub, land->landed_ref);
    if (!oid_equal(&known, &land->new))
        ref_txn_update(txn, land->landed_ref, &land->new, NULL);
    return true;
}

/* The target is not at old: did this merge land before? */
static bool look_back(Land *land, bool *is_landed, Err *err)
{
    RefTxn txn = REF_TXN_INIT;
    *is_landed = false;
    if (!oid_is_set(&land->tip))
        return err_set(err, ERR_NOT_FOUND, "the hub has no branch '%s'", land->target);
    if (!commit_is_ancestor(&land->git, &land->new, &land->tip, is_landed, err))
        return false;
    return !*is_landed || (landed_note(land, &txn) && ref_txn_commit(&txn, &land->git, err));
}

static bool swap(Land *land, bool *is_landed, Err *err)
{
    bool is_proven = false;
    if (!proof_find(land, &is_proven, err))
        return false;
    if (!is_proven)
        return err_set(err, ERR_REFUSED, "%.12s does not contain the work and the old tip",
                       land->new.hex);
    RefTxn txn = REF_TXN_INIT;
    Err problem = {0};
    ref_txn_update(&txn, land->head_ref, &land->new, &land->old);
    *is_landed = landed_note(land, &txn) && ref_txn_commit(&txn, &land->git, &problem);
    land->tip = ref_read(land->hub, land->head_ref);
    if (*is_landed)
        return true;
    if (problem.kind == ERR_CONFLICT && !oid_equal(&land->tip, &land->old))
        return look_back(land, is_landed, err); /* moved by others, or by a git we thought dead */
    if (err)
        *err = problem;
    return false;
}

static bool land_read(const json_t *in, Land *land, Arena *arena, Err *err)
{
    const char *old, *new, *commit;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &land->hub},
        {"repo", JOB_PATH, true, &land->repo},
        {"target", JOB_BRANCH, true, &land->target},
        {"old", JOB_COMMIT, true, &old},
        {"new", JOB_COMMIT, true, &new},
        {"commit", JOB_COMMIT, true, &commit},
        {"task", JOB_ID, false, &land->task},
    };
    if (!job_read(in, fields, COUNT(fields), arena, err) || !hub_check(land->hub, err))
        return false;
    land->old = oid_from(old);
    land->new = oid_from(new);
    land->commit = oid_from(commit);
    land->git = (Git){.dir = land->hub};
    snprintf(land->head_ref, sizeof land->head_ref, "refs/heads/%s", land->target);
    snprintf(land->landed_ref, sizeof land->landed_ref, "refs/otto/landed/%s",
             land->task ? land->task : "");
    land->tip = ref_read(land->hub, land->head_ref);
    return true;
}

static bool report(const Land *land, bool is_landed, bool wants_delivery, json_t *out, Err *err)
{
    Delivery delivery = {.state = "no", .why = "not asked for"};
    if (is_landed && wants_delivery &&
        !deliver_target(land->hub, land->repo, land->target, &delivery, err)) {
        /* Landed it is; delivery can be tried again. */
        delivery = (Delivery){.state = "no"};
        snprintf(delivery.why, sizeof delivery.why, "%.500s", err ? err->text : "");
    }
    out_text(out, "state", is_landed ? "landed" : "moved");
    out_oid(out, "tip", &land->tip);
    out_text(out, "delivered", delivery.state);
    out_text(out, "why", is_landed ? delivery.why : "the branch moved; merge again");
    return true;
}

bool land_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Land land = {0};
    bool is_landed = false;
    if (!land_read(in, &land, &arena, err))
        return false;
    bool is_at_old = oid_equal(&land.tip, &land.old);
    if (is_at_old ? !swap(&land, &is_landed, err) : !look_back(&land, &is_landed, err))
        return err_add(err, "landing on '%s'", land.target);
    merge_note_remove(land.hub, &land.new); /* landed, or to be made anew */
    return report(&land, is_landed, json_flag(in, "deliver", true), out, err);
}

/* -- proof afterwards ----------------------------------------------------------------------- */

/* `git cherry`: "+ ID" for a patch that the target does not have, "- ID" for one that it has. */
static bool patches_find(const Git *hub, const Oid *tip, const Oid *commit, size_t *absent,
                         size_t *present, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(hub, ARGV("cherry", tip->hex, commit->hex), NULL, &out, err);
    for (const char *line = str_text(&out.out); is_done && *line;) {
        *absent += line[0] == '+';
        *present += line[0] == '-';
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    git_out_done(&out);
    return is_done;
}

bool prove_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *commit, *target;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"commit", JOB_COMMIT, true, &commit},
        {"target", JOB_BRANCH, true, &target},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    char ref[300], why[200] = "the target contains the commit";
    snprintf(ref, sizeof ref, "refs/heads/%s", target);
    Git git = {.dir = hub};
    Oid work = oid_from(commit), tip = ref_read(hub, ref);
    bool is_landed = false;
    size_t absent = 0, present = 0;
    if (!oid_is_set(&tip))
        return err_set(err, ERR_NOT_FOUND, "the hub has no branch '%s'", target);
    if (!commit_is_ancestor(&git, &work, &tip, &is_landed, err))
        return false;
    if (!is_landed) {
        if (!patches_find(&git, &tip, &work, &absent, &present, err))
            return false;
        is_landed = absent == 0 && present > 0;
        snprintf(why, sizeof why, "%zu of %zu patches are in the target", present,
                 present + absent);
    }
    out_flag(out, "landed", is_landed);
    out_text(out, "why", why);
    return true;
}
