/* Workspace kind `worktree`: a linked work tree of the hub. For agents that are trusted: they
 * write into the hub itself. */
#include "base/file.h"
#include "base/str.h"
#include "git/index.h"
#include "git/place.h"
#include "git/ref.h"
#include "git/workspace.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool admin_path(const Workspace *ws, char out[PATH_MAX], Err *err)
{
    char folder[PATH_MAX];
    return path_join(folder, ws->hub, "worktrees", err) && path_join(out, folder, ws->name, err);
}

static bool text_put(const char *folder, const char *name, const char *text, Err *err)
{
    char path[PATH_MAX];
    return path_join(path, folder, name, err) &&
           file_write_plain(path, text, strlen(text), 0644, err);
}

static bool index_put(const Workspace *ws, const char *admin, Err *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    return hub_path(ws->hub, "index", ws->name, from, err) && path_join(to, admin, "index", err) &&
           index_copy(from, to, 0644, err);
}

/* The files that `git worktree add` would write. */
static bool admin_put(const Workspace *ws, const char *part, Err *err)
{
    char admin[PATH_MAX], line[PATH_MAX + 32];
    if (!admin_path(ws, admin, err) || !folder_ensure(admin, 0755, err))
        return false;
    snprintf(line, sizeof line, "ref: refs/heads/%s\n", ws->branch);
    if (!text_put(admin, "HEAD", line, err) || !text_put(admin, "commondir", "../..\n", err))
        return false;
    snprintf(line, sizeof line, "%s/.git\n", ws->path);
    if (!text_put(admin, "gitdir", line, err))
        return false;
    snprintf(line, sizeof line, "gitdir: %s\n", admin);
    return text_put(part, ".git", line, err) && index_put(ws, admin, err);
}

/* The branch is set to where the work starts; its log would still name what was given up. */
static bool log_remove(const Workspace *ws, Err *err)
{
    char path[PATH_MAX], name[300];
    snprintf(name, sizeof name, "logs/refs/heads/%s", ws->branch);
    if (!path_join(path, ws->hub, name, err))
        return false;
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ||
           err_errno(err, "cannot remove '%s'", path);
}

static bool worktree_make(const Workspace *ws, Err *err)
{
    char part[PATH_MAX], ref[300];
    RefTxn txn = REF_TXN_INIT;
    snprintf(ref, sizeof ref, "refs/heads/%s", ws->branch);
    ref_txn_update(&txn, ref, &ws->head, NULL);
    Git hub = {.dir = ws->hub};
    return workspace_part_open(ws, part, err) && workspace_fill(ws, part, err) &&
           admin_put(ws, part, err) && ref_txn_commit(&txn, &hub, err) && log_remove(ws, err) &&
           workspace_part_close(ws, part, err);
}

static bool worktree_head(const Workspace *ws, const Oid *known, Oid *head, Err *err)
{
    char admin[PATH_MAX], ref[PATH_MAX];
    (void)known; /* reading it is as cheap */
    if (!admin_path(ws, admin, err))
        return false;
    head_branch(admin, ref, sizeof ref);
    *head = ref[0] ? ref_read(ws->hub, ref) : ref_read(admin, "HEAD");
    Git hub = {.dir = ws->hub};
    if (!oid_is_set(head) || !commit_exists(&hub, head))
        return err_set(err, ERR_GIT, "commits were not taken over: its HEAD names no commit");
    return true;
}

static bool worktree_discard(const Workspace *ws, const char *trash_entry, Err *err)
{
    char admin[PATH_MAX], to[PATH_MAX];
    if (!admin_path(ws, admin, err) || !path_join(to, trash_entry, "admin", err))
        return false;
    if (rename(admin, to) != 0 && errno != ENOENT)
        return err_errno(err, "cannot move '%s'", admin);
    return true;
}

const WorkspaceKind workspace_worktree = {
    .name = "worktree",
    .is_ours = true,
    .why = "linked work tree of the hub, for trusted use",
    .make = worktree_make,
    .head = worktree_head,
    .discard = worktree_discard,
};
