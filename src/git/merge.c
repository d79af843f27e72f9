/* Merging in memory: see merge.h. */
#include "git/merge.h"
#include "base/file.h"
#include "base/str.h"
#include "git/explain.h"
#include "git/mergetree.h"
#include "git/ref.h"
#include "git/sync.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Merge {
    const char *hub, *repo, *target, *commit, *base, *message, *task, *run;
    const char *author_name, *author_mail, *landed;
    Git git;
    SyncResult sync;
} Merge;

/* -- remembering ---------------------------------------------------------------------------- */

static bool note_write(const char *hub, const Oid *merged, const Oid *old, const Oid *commit,
                       Err *err)
{
    char path[PATH_MAX], line[140];
    int length = snprintf(line, sizeof line, "%s %s\n", old->hex, commit->hex);
    return hub_path(hub, "merges", merged->hex, path, err) &&
           file_write_plain(path, line, (size_t)length, 0600, err);
}

bool merge_note_matches(const char *hub, const Oid *merged, const Oid *old, const Oid *commit)
{
    char path[PATH_MAX], line[200], want[140];
    snprintf(want, sizeof want, "%s %s", old->hex, commit->hex);
    return hub_path(hub, "merges", merged->hex, path, NULL) && line_read(path, line, sizeof line) &&
           strcmp(line, want) == 0;
}

void merge_note_remove(const char *hub, const Oid *merged)
{
    char path[PATH_MAX];
    if (hub_path(hub, "merges", merged->hex, path, NULL))
        (void)unlink(path); /* a leftover does no harm */
}

/* -- merging -------------------------------------------------------------------------------- */

static bool answer(json_t *out, const char *state, const char *why)
{
    out_text(out, "state", state);
    out_text(out, "why", why);
    return true;
}

/* The message with its trailers; a message ends with exactly one newline. */
static void message_build(const Merge *m, Str *text)
{
    size_t length = strlen(m->message);
    while (length && strchr(" \t\r\n", m->message[length - 1]))
        length--;
    str_add_bytes(text, m->message, length);
    str_add(text, m->task || m->run ? "\n\n" : "\n");
    if (m->task)
        str_addf(text, "Otto-Task: %s\n", m->task);
    if (m->run)
        str_addf(text, "Otto-Run: %s\n", m->run);
}

static bool conflict_report(const Merge *m, const Oid *commit, MergeTree *merge, bool wants_text,
                            json_t *out, Err *err)
{
    Str text = STR_INIT;
    bool is_done =
        !wants_text || explain_conflicts(&m->git, &m->sync.tip, commit, merge, &text, err);
    json_object_set(out, "conflicts", merge->conflicts);
    json_object_set_new(out, "explain", json_lossy(str_text(&text), text.length));
    str_done(&text);
    return is_done && answer(out, "conflict", merge_tree_summary(merge));
}

static bool merge_write(const Merge *m, const Oid *commit, const MergeTree *merge, json_t *out,
                        Err *err)
{
    Oid merged;
    Str text = STR_INIT;
    message_build(m, &text);
    CommitSpec spec = {.tree = merge->tree,
                       .parents = {m->sync.tip, *commit},
                       .message = str_text(&text),
                       .author_name = m->author_name,
                       .author_mail = m->author_mail};
    bool is_done = commit_make(&m->git, &spec, &merged, err) &&
                   note_write(m->hub, &merged, &m->sync.tip, commit, err);
    str_done(&text);
    if (!is_done)
        return false;
    out_oid(out, "new", &merged);
    out_flag(out, "same_tree", oid_equal(&merge->tree, &merge->theirs));
    return answer(out, "clean", "no conflict");
}

static bool merge_onto(const Merge *m, const json_t *in, json_t *out, Err *err)
{
    CLEANUP(merge_tree_done) MergeTree merge = MERGE_TREE_INIT;
    Oid commit = oid_from(m->commit);
    out_oid(out, "old", &m->sync.tip);
    if (!merge_tree_run(&m->git, &m->sync.tip, &commit, &merge, err))
        return false;
    if (merge.is_unrelated)
        return answer(out, "blocked", "the work has no common history with the target");
    if (!merge.is_clean)
        return conflict_report(m, &commit, &merge, json_flag(in, "explain", true), out, err);
    if (oid_equal(&merge.tree, &merge.ours))
        return answer(out, "empty", "the target already has all of it");
    return merge_write(m, &commit, &merge, out, err);
}

/* The user's branch first. False with *is_blocked: the answer is given already. */
static bool sync_first(Merge *m, bool *is_blocked, json_t *out, Err *err)
{
    m->git = (Git){.dir = m->hub};
    if (!sync_target(m->hub, m->repo, m->target, &m->sync, err))
        return false;
    out_text(out, "sync", m->sync.state);
    *is_blocked = !sync_is_fine(&m->sync);
    return !*is_blocked || answer(out, "blocked", m->sync.why);
}

bool merge_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Merge m = {0};
    bool is_blocked = false;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &m.hub},
        {"repo", JOB_PATH, true, &m.repo},
        {"target", JOB_BRANCH, true, &m.target},
        {"commit", JOB_COMMIT, true, &m.commit},
        {"base", JOB_COMMIT, false, &m.base},
        {"message", JOB_TEXT, true, &m.message},
        {"task", JOB_ID, false, &m.task},
        {"run", JOB_ID, false, &m.run},
        {"author_name", JOB_TEXT, false, &m.author_name},
        {"author_email", JOB_TEXT, false, &m.author_mail},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !sync_first(&m, &is_blocked, out, err))
        return false;
    return is_blocked || merge_onto(&m, in, out, err) || err_add(err, "merge");
}

/* -- undoing -------------------------------------------------------------------------------- */

/* A commit that undoes exactly `landed`, beside the branch: its tree is that of landed's first
 * parent, its parent is landed. Merging it with the tip takes the change out again. */
static bool undo_make(const Merge *m, const Oid *landed, Oid *undo, Err *err)
{
    char name[80];
    snprintf(name, sizeof name, "%s^1^{tree}", landed->hex);
    CommitSpec spec = {.parents = {*landed}, .message = "otto: the opposite\n"};
    return git_oids(&m->git, ARGV("rev-parse", name), NULL, &spec.tree, 1, err) &&
           commit_make(&m->git, &spec, undo, err);
}

static bool rollback_write(const Merge *m, const MergeTree *merge, json_t *out, Err *err)
{
    Oid undone;
    Str text = STR_INIT;
    message_build(m, &text);
    CommitSpec spec = {.tree = merge->tree, .parents = {m->sync.tip}, .message = str_text(&text)};
    bool is_done = commit_make(&m->git, &spec, &undone, err);
    str_done(&text);
    if (is_done)
        out_oid(out, "new", &undone);
    return is_done && answer(out, "clean", "no conflict");
}

static bool rollback_onto(const Merge *m, json_t *out, Err *err)
{
    CLEANUP(merge_tree_done) MergeTree merge = MERGE_TREE_INIT;
    Oid landed = oid_from(m->landed), undo;
    bool is_there = false;
    out_oid(out, "old", &m->sync.tip);
    if (!commit_is_ancestor(&m->git, &landed, &m->sync.tip, &is_there, err))
        return false;
    if (!is_there)
        return answer(out, "blocked", "the target does not have this commit");
    if (!undo_make(m, &landed, &undo, err) ||
        !merge_tree_run(&m->git, &m->sync.tip, &undo, &merge, err))
        return false;
    if (merge.conflicts)
        json_object_set(out, "conflicts", merge.conflicts);
    if (!merge.is_clean)
        return answer(out, "conflict", merge_tree_summary(&merge));
    if (oid_equal(&merge.tree, &merge.ours))
        return answer(out, "empty", "nothing of it is left to undo");
    return rollback_write(m, &merge, out, err);
}

bool rollback_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Merge m = {0};
    bool is_blocked = false;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &m.hub},         {"repo", JOB_PATH, true, &m.repo},
        {"target", JOB_BRANCH, true, &m.target}, {"landed", JOB_COMMIT, true, &m.landed},
        {"message", JOB_TEXT, true, &m.message}, {"task", JOB_ID, false, &m.task},
        {"run", JOB_ID, false, &m.run},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !sync_first(&m, &is_blocked, out, err))
        return false;
    return is_blocked || rollback_onto(&m, out, err) || err_add(err, "rollback");
}
