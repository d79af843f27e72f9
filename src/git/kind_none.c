/* Workspace kind `none`: the user's repository itself. No isolation, no landing, never removed. */
#include "base/file.h"
#include "git/ref.h"
#include "git/repo.h"
#include "git/workspace.h"
#include <stdio.h>

static bool none_make(const Workspace *ws, Err *err)
{
    return path_is_folder(ws->path) || err_set(err, ERR_NOT_FOUND, "there is no '%s'", ws->path);
}

/* The user's own repository: fetched from, with its own alternates if it has some. */
static bool none_head(const Workspace *ws, const Oid *known, Oid *head, Err *err)
{
    char common[PATH_MAX], ref[400], spec[500];
    (void)known; /* the branch may be in a linked tree; git resolves it */
    if (!repo_common_dir(ws->path, common, err))
        return false;
    snprintf(ref, sizeof ref, "refs/otto/import/%s", ws->name);
    snprintf(spec, sizeof spec, "+HEAD:%s", ref);
    Git git = {.dir = ws->hub};
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("-c", "fetch.fsckObjects=false", "fetch", "-q", "--no-tags", "--no-write-fetch-head",
             "--no-recurse-submodules", "--update-shallow", "--refmap=", "--", ws->path, spec);
    bool is_done = git_run(&git, words, NULL, &out, err);
    git_out_done(&out);
    if (!is_done)
        return err_add(err, "commits were not taken over");
    *head = ref_read(ws->hub, ref);
    return oid_is_set(head) || err_set(err, ERR_GIT, "commits were not taken over");
}

static bool none_discard(const Workspace *ws, const char *trash_entry, Err *err)
{
    (void)trash_entry;
    return err_set(err, ERR_REFUSED, "'%s' is your repository; it is never removed", ws->path);
}

const WorkspaceKind workspace_none = {
    .name = "none",
    .is_ours = false,
    .why = "your repository itself: no isolation, no landing",
    .make = none_make,
    .head = none_head,
    .discard = none_discard,
};
