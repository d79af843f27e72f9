/* Workspaces: kinds, notes and laying files down. See workspace.h. */
#include "git/workspace.h"
#include "base/file.h"
#include "base/str.h"
#include "git/place.h"
#include "git/ref.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const WorkspaceKind *const kinds[] = {
    &workspace_clone, /* first: what "auto" takes */
    &workspace_worktree,
    &workspace_none,
};

const WorkspaceKind *workspace_kind(const char *name)
{
    if (text_equal(name, "auto"))
        return kinds[0];
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (text_equal(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

const WorkspaceKind *workspace_kind_get(const char *name, Err *err)
{
    const WorkspaceKind *kind = workspace_kind(name);
    if (!kind)
        (void)err_set(err, ERR_USAGE, "there is no workspace kind '%s'", name); /* NULL says it */
    return kind;
}

bool workspace_note_read(const char *hub, const char *name, WorkspaceNote *note)
{
    char path[PATH_MAX], file[300];
    snprintf(file, sizeof file, "%s.json", name);
    if (!hub_path(hub, "ws", file, path, NULL))
        return false;
    CLEANUP(json_freep) json_t *json = json_read_file(path, 1 << 16, NULL);
    if (!json)
        return false;
    note->is_ready = json_flag(json, "is_ready", false);
    note->base = oid_from(json_text(json, "base", NULL));
    note->head = oid_from(json_text(json, "head", NULL));
    snprintf(note->branch, sizeof note->branch, "%s", json_text(json, "branch", ""));
    return true;
}

bool workspace_note_write(const char *hub, const char *name, const WorkspaceNote *note, Err *err)
{
    char path[PATH_MAX], file[300];
    snprintf(file, sizeof file, "%s.json", name);
    if (!hub_path(hub, "ws", file, path, err))
        return false;
    CLEANUP(json_freep) json_t *json = json_object();
    out_flag(json, "is_ready", note->is_ready);
    out_oid(json, "base", &note->base);
    out_oid(json, "head", &note->head);
    out_text(json, "branch", note->branch);
    CLEANUP(mem_freep) char *text = json_write(json);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

bool workspace_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 200 || name[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] != '-' && !isalnum((unsigned char)name[i]))
            return false;
    return true;
}

/* The index is written under a name of our own and renamed: a killed worker leaves no lock. */
bool workspace_fill(const Workspace *ws, const char *folder, Err *err)
{
    char index[PATH_MAX], part[PATH_MAX], file[300];
    const char *name = ws->index ? ws->index : ws->name;
    snprintf(file, sizeof file, "%s.%ld", name, (long)getpid());
    if (!hub_path(ws->hub, "index", name, index, err) || !hub_path(ws->hub, "tmp", file, part, err))
        return false;
    (void)unlink(part); /* usually not there */
    Git git = {.dir = ws->hub, .tree = folder, .index = part};
    GitOut out = GIT_OUT_INIT;
    bool is_done =
        git_run(&git, ARGV("read-tree", "--reset", "-u", ws->files.hex), NULL, &out, err);
    git_out_done(&out);
    /* Restored work: the files are the snapshot's, the index is the commit's below it. */
    if (is_done && !oid_equal(&ws->files, &ws->head))
        is_done = git_run(&git, ARGV("read-tree", "--reset", ws->head.hex), NULL, &out, err);
    git_out_done(&out);
    if (is_done && rename(part, index) != 0)
        is_done = err_errno(err, "cannot rename '%s'", part);
    if (!is_done)
        (void)unlink(part); /* rubbish */
    return is_done;
}

/* Folders "NAME.part-PID" of killed tries. */
static bool parts_remove(const Workspace *ws, Err *err)
{
    char head[300], path[PATH_MAX];
    snprintf(head, sizeof head, "%s.part-", ws->name);
    DIR *list = opendir(ws->root);
    bool is_done = list || err_errno(err, "cannot list '%s'", ws->root);
    for (struct dirent *entry; list && is_done && (entry = readdir(list));) {
        if (!text_starts(entry->d_name, head))
            continue;
        is_done =
            path_join(path, ws->root, entry->d_name, err) && place_remove(ws->root, path, err);
    }
    if (list)
        (void)closedir(list); /* only read from */
    return is_done;
}

bool workspace_part_open(const Workspace *ws, char part[PATH_MAX], Err *err)
{
    if (snprintf(part, PATH_MAX, "%s.part-%ld", ws->path, (long)getpid()) >= PATH_MAX)
        return err_set(err, ERR_USAGE, "path too long: '%s'", ws->path);
    return place_mark(ws->root, err) && parts_remove(ws, err) &&
           place_remove(ws->root, ws->path, err) && folder_ensure(part, 0755, err);
}

bool workspace_part_close(const Workspace *ws, const char *part, Err *err)
{
    bool was_there = false;
    if (!place_move(ws->root, part, ws->root, ws->name, &was_there, err))
        return false;
    return was_there || err_set(err, ERR_IO, "'%s' vanished while it was made", part);
}
