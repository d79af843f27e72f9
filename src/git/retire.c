/* Retiring a workspace: see retire.h. */
#include "git/retire.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "git/place.h"
#include "git/ref.h"
#include "git/snapshot.h"
#include "git/trash.h"
#include <string.h>
#include <unistd.h>

typedef struct Retire {
    const char *hub, *path, *kind_name, *run, *epoch, *root, *trash, *task, *title, *snapshot;
    const char *landed, *target;
    int64_t days;
    const WorkspaceKind *kind;
    Workspace ws;
    Snapshot last;
    bool is_saved_whole; /* nothing in the folder that the hub does not have */
    bool is_aside;       /* given up: what came after the snapshot is saved, not kept for */
    char why[700];
} Retire;

static bool retire_read(const json_t *in, Retire *r, Arena *arena, Err *err)
{
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &r->hub},      {"path", JOB_PATH, true, &r->path},
        {"kind", JOB_ID, true, &r->kind_name}, {"run", JOB_ID, true, &r->run},
        {"epoch", JOB_ID, true, &r->epoch},    {"root", JOB_PATH, true, &r->root},
        {"trash", JOB_PATH, true, &r->trash},  {"task", JOB_ID, false, &r->task},
        {"title", JOB_TEXT, false, &r->title}, {"snapshot", JOB_COMMIT, true, &r->snapshot},
    };
    const JobField landed[] = {
        {"commit", JOB_COMMIT, true, &r->landed},
        {"target", JOB_BRANCH, true, &r->target},
    };
    const json_t *object = json_object_get(in, "landed");
    if (!job_read(in, fields, COUNT(fields), arena, err) || !hub_check(r->hub, err) ||
        (json_is_object(object) && !job_read(object, landed, COUNT(landed), arena, err)))
        return false;
    r->days = json_int(in, "days", 7);
    r->is_aside = json_flag(in, "aside", false);
    if (r->is_aside && r->landed)
        return err_set(err, ERR_USAGE, "what has landed is not put aside");
    r->kind = workspace_kind_get(r->kind_name, err);
    r->ws = (Workspace){
        .hub = r->hub, .root = r->root, .path = r->path, .name = strrchr(r->path, '/') + 1};
    if (r->kind && r->kind->is_ours && !workspace_name_is_valid(r->ws.name))
        return err_set(err, ERR_REFUSED, "'%s' is not a workspace of otto", r->path);
    return r->kind != NULL;
}

static bool keep(Retire *r, json_t *out, const char *why)
{
    out_text(out, "trashed", NULL);
    out_flag(out, "kept", true);
    out_text(out, "why", why);
    out_oid(out, "last", &r->last.commit);
    return true;
}

/* Does the snapshot have what the workspace has? *why is set when it does not. */
static bool proof_find(Retire *r, const char **why, Err *err)
{
    Git hub = {.dir = r->hub};
    Oid wanted = oid_from(r->snapshot), tree = {""}, landed = oid_from(r->landed);
    WorkspaceNote note = {0};
    if (!commit_exists(&hub, &wanted)) {
        *why = "the hub does not have the snapshot";
        return true;
    }
    Oid base = workspace_note_read(r->hub, r->ws.name, &note) ? note.base : wanted;
    SnapshotSpec spec = {.kind = r->kind,
                         .ws = r->ws,
                         .run = r->run,
                         .epoch = r->epoch,
                         .turn = "last",
                         .base = base,
                         .limit_bytes = INT64_MAX};
    char name[80], ref[300];
    bool is_contained = true, is_landed = true;
    snprintf(name, sizeof name, "%s^{tree}", wanted.hex);
    snprintf(ref, sizeof ref, "refs/heads/%s", r->target ? r->target : "");
    Oid tip = r->target ? ref_read(r->hub, ref) : landed;
    if (!snapshot_take(&spec, true, &r->last, err) ||
        !git_oids(&hub, ARGV("rev-parse", name), NULL, &tree, 1, err) ||
        !commit_is_ancestor(&hub, &r->last.head, &wanted, &is_contained, err))
        return false;
    if (r->landed && oid_is_set(&tip) && !commit_is_ancestor(&hub, &landed, &tip, &is_landed, err))
        return false;
    if (!oid_equal(&tree, &r->last.tree))
        *why = "the workspace has changes that the snapshot does not have; they were saved";
    else if (!is_contained)
        *why = "the workspace has commits that the snapshot does not have; they were saved";
    else if (!is_landed || (r->landed && !oid_is_set(&tip)))
        *why = "its work is not in the target branch";
    return true;
}

/* Other branches, tags and the stash. False: they could not be saved. */
static bool rescue(const Retire *r)
{
    char git_dir[PATH_MAX], path[PATH_MAX], spec[300], branch[200];
    WorkspaceNote note = {0};
    if (r->kind != &workspace_clone)
        return true; /* its branches are the hub's own */
    if (r->last.is_head_lost)
        return false; /* its git folder is not one to read from */
    if (!path_join(git_dir, r->path, ".git", NULL) || !path_join(path, git_dir, "refs/stash", NULL))
        return false;
    snprintf(spec, sizeof spec, "+refs/*:refs/otto/rescue/%s/e%s/*", r->run, r->epoch);
    (void)workspace_note_read(r->hub, r->ws.name, &note); /* then the branch is saved twice */
    snprintf(branch, sizeof branch, "refs/heads/%s", note.branch);
    Oid tip = ref_read(git_dir, branch);
    bool is_branch_saved = oid_is_set(&tip) && oid_equal(&tip, &r->last.head);
    snprintf(branch, sizeof branch, "^refs/heads/%s", note.branch);
    Git hub = {.dir = r->hub, .timeout_ms = GIT_AGENT_MS};
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
             "--refmap=", "--", git_dir, spec, "^refs/remotes/*", is_branch_saved ? branch : NULL);
    bool is_done = git_run(&hub, words, NULL, &out, NULL);
    git_out_done(&out);
    return is_done && !path_exists(path); /* older stashes are only in its log */
}

static json_t *meta_build(const Retire *r)
{
    json_t *meta = json_object();
    int64_t now_ms = clock_wall_ms();
    int64_t days = r->is_saved_whole && r->landed ? 0 : r->days;
    out_text(meta, "what", "workspace");
    out_text(meta, "task", r->task);
    out_text(meta, "title", r->title);
    out_text(meta, "run", r->run);
    out_text(meta, "epoch", r->epoch);
    out_text(meta, "kind", r->kind->name);
    out_text(meta, "hub", r->hub);
    out_text(meta, "snapshot", r->is_aside ? r->last.commit.hex : r->snapshot);
    out_int(meta, "when_ms", now_ms);
    out_int(meta, "expires_ms", now_ms + days * 24 * 3600 * 1000);
    out_text(meta, "from", r->path);
    return meta;
}

static bool put_away(Retire *r, json_t *out, Err *err)
{
    char entry[PATH_MAX], tree[PATH_MAX], index[PATH_MAX];
    bool was_there = false;
    CLEANUP(json_freep) json_t *meta = meta_build(r);
    if (!trash_open(r->trash, r->ws.name, meta, entry, err) ||
        !place_move(r->root, r->path, entry, "tree", &was_there, err) ||
        !r->kind->discard(&r->ws, entry, err))
        return false;
    if (hub_path(r->hub, "index", r->ws.name, index, NULL))
        (void)unlink(index);                     /* large, and made again when it is needed */
    (void)trash_has(r->trash, r->ws.name, tree); /* moved a moment ago */
    out_text(out, "trashed", tree);
    out_flag(out, "kept", false);
    out_text(out, "why", r->is_saved_whole ? "the hub has everything it held" : r->why);
    out_oid(out, "last", &r->last.commit);
    return true;
}

/* The folder is not there: an earlier try moved it, or there never was one. */
static bool already_gone(Retire *r, json_t *out, Err *err)
{
    char tree[PATH_MAX], entry[PATH_MAX];
    bool is_trashed = trash_has(r->trash, r->ws.name, tree);
    snprintf(entry, sizeof entry, "%s", tree);
    if (is_trashed) {
        *strrchr(entry, '/') = '\0';
        if (!r->kind->discard(&r->ws, entry, err))
            return false;
    }
    out_text(out, "trashed", is_trashed ? tree : NULL);
    out_flag(out, "kept", false);
    out_text(out, "why", is_trashed ? "it was moved before" : "it is gone already");
    out_oid(out, "last", &r->last.commit);
    return true;
}

bool retire_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Retire r = {0};
    const char *why = NULL;
    char name[PLACE_NAME_SIZE];
    if (!retire_read(in, &r, &arena, err))
        return false;
    if (!r.kind->is_ours && r.is_aside)
        return err_set(err, ERR_REFUSED,
                       "'%s' is your repository itself; its work cannot be put aside (use the "
                       "workspace kind clone or worktree)",
                       r.path);
    if (!r.kind->is_ours)
        return keep(&r, out, "it is your repository; it is never removed");
    int folder = place_open(r.root, r.path, name, err); /* refuse before anything is done */
    if (folder < 0)
        return false;
    (void)close(folder); /* a folder handle */
    if (!path_exists(r.path))
        return already_gone(&r, out, err);
    if (!proof_find(&r, &why, err))
        return err_add(err, "'%s' stays", r.path);
    if (why && !(r.is_aside && oid_is_set(&r.last.commit)))
        return keep(&r, out, why);
    bool is_rescued = rescue(&r);
    const Snapshot *last = &r.last;
    r.is_saved_whole =
        is_rescued && !last->has_ignored && !last->nested && !last->skipped && !last->is_head_lost;
    snprintf(r.why, sizeof r.why, "the hub has its work; the trash keeps the rest: %s",
             last->is_head_lost  ? "commits that could not be taken over"
             : last->nested      ? "repositories inside it"
             : last->has_ignored ? "ignored files"
             : last->skipped     ? "unreadable files"
                                 : "branches or stashes");
    return put_away(&r, out, err);
}
