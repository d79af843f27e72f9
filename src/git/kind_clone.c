/* Workspace kind `clone`: a private repository that borrows the hub's objects read-only.
 *
 * Its git folder is written by hand: a few small files instead of a git process. The agent owns
 * it and may do anything with it; otto only ever fetches from it, after looking at it, and never
 * runs a command inside (T8). */
#include "base/file.h"
#include "base/str.h"
#include "git/index.h"
#include "git/ref.h"
#include "git/repo.h"
#include "git/workspace.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- making --------------------------------------------------------------------------------- */

static bool file_put(const char *folder, const char *name, const char *text, Err *err)
{
    char path[PATH_MAX];
    if (!path_join(path, folder, name, err))
        return false;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (!folder_ensure(path, 0755, err))
        return false;
    *slash = '/';
    return file_write_plain(path, text, strlen(text), 0644, err);
}

static bool ref_put(const char *git_dir, const char *ref, const Oid *oid, Err *err)
{
    char line[80];
    snprintf(line, sizeof line, "%s\n", oid->hex);
    return file_put(git_dir, ref, line, err);
}

/* Copies a small file when it is there. */
static bool file_copy(const char *from_folder, const char *name, const char *to_folder,
                      const char *as, Err *err)
{
    char path[PATH_MAX], to[PATH_MAX];
    if (!path_join(path, from_folder, name, err) || !path_join(to, to_folder, as, err))
        return false;
    if (!path_exists(path))
        return true;
    size_t length = 0;
    CLEANUP(mem_freep) char *bytes = file_read(path, (size_t)1 << 30, &length, err);
    return bytes && file_write_plain(to, bytes, length, 0644, err);
}

/* The identity is in the repository itself: some agents hide the user's global file. */
static bool config_put(const Workspace *ws, const char *git_dir, Err *err)
{
    char path[PATH_MAX];
    if (!path_join(path, ws->hub, "config", err))
        return false;
    CLEANUP(mem_freep) char *hub_config = file_read(path, 1 << 20, NULL, err);
    if (!hub_config)
        return false;
    const char *user = strstr(hub_config, "[user]\n");
    bool is_sha256 = strstr(hub_config, "objectformat = sha256");
    Str text = STR_INIT;
    str_addf(&text, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tfilemode = true\n",
             is_sha256 ? 1 : 0);
    str_add(&text, "\tlogallrefupdates = true\n");
    if (is_sha256)
        str_add(&text, "[extensions]\n\tobjectformat = sha256\n");
    str_add(&text, "[gc]\n\tauto = 0\n");
    str_add(&text, user ? user : "");
    bool is_done = file_put(git_dir, "config", str_text(&text), err);
    str_done(&text);
    return is_done;
}

static bool refs_put(const Workspace *ws, const char *git_dir, Err *err)
{
    char ref[300], line[320];
    if (!ws->branch) /* a checkout for the gate: no branch */
        return ref_put(git_dir, "HEAD", &ws->head, err);
    snprintf(ref, sizeof ref, "refs/heads/%s", ws->branch);
    snprintf(line, sizeof line, "ref: %s\n", ref);
    if (!file_put(git_dir, "HEAD", line, err) || !ref_put(git_dir, ref, &ws->head, err))
        return false;
    if (!ws->target)
        return true;
    snprintf(ref, sizeof ref, "refs/remotes/origin/%s", ws->target); /* to compare with */
    return ref_put(git_dir, ref, &ws->head, err);
}

static bool git_dir_put(const Workspace *ws, const char *git_dir, Err *err)
{
    char path[PATH_MAX], common[PATH_MAX];
    Str alternates = STR_INIT;
    str_addf(&alternates, "%s/objects\n", ws->hub);
    bool is_done = path_join(path, git_dir, "objects/pack", err) &&
                   folder_ensure(path, 0755, err) && path_join(path, git_dir, "refs/heads", err) &&
                   folder_ensure(path, 0755, err) && refs_put(ws, git_dir, err) &&
                   file_put(git_dir, "objects/info/alternates", str_text(&alternates), err) &&
                   file_put(git_dir, "info/exclude", "", err) && config_put(ws, git_dir, err) &&
                   file_copy(ws->hub, "shallow", git_dir, "shallow", err);
    str_done(&alternates);
    if (is_done && ws->repo && repo_common_dir(ws->repo, common, NULL))
        is_done = file_copy(common, "info/exclude", git_dir, "info/exclude", err);
    return is_done;
}

static bool clone_make(const Workspace *ws, Err *err)
{
    char part[PATH_MAX], git_dir[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
    return workspace_part_open(ws, part, err) && path_join(git_dir, part, ".git", err) &&
           workspace_fill(ws, part, err) && git_dir_put(ws, git_dir, err) &&
           hub_path(ws->hub, "index", ws->index ? ws->index : ws->name, from, err) &&
           path_join(to, git_dir, "index", err) && index_copy(from, to, 0644, err) &&
           workspace_part_close(ws, part, err);
}

/* -- importing ------------------------------------------------------------------------------ */

static bool is_plain_folder(int at, const char *name)
{
    struct stat info;
    return fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

/* Ordinary files and folders only: a link would show the hub something outside the workspace, a
 * pipe would hold us up. */
static bool folder_is_plain(int at, const char *name, int depth)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list) {
        if (fd >= 0)
            (void)close(fd); /* only read from */
        return false;
    }
    bool is_plain = true;
    for (struct dirent *entry; is_plain && (entry = readdir(list));) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue; /* a temporary file may be gone by now */
        if (S_ISDIR(info.st_mode))
            is_plain = depth > 0 && folder_is_plain(fd, entry->d_name, depth - 1);
        else
            is_plain = S_ISREG(info.st_mode);
    }
    (void)closedir(list); /* only read from */
    return is_plain;
}

static bool file_is_plain(int at, const char *name)
{
    struct stat info;
    return fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(info.st_mode);
}

static bool alternates_are_ours(const char *hub, const char *git_dir)
{
    char path[PATH_MAX], want[PATH_MAX];
    if (!path_join(want, hub, "objects\n", NULL) ||
        !path_join(path, git_dir, "objects/info/alternates", NULL))
        return false;
    if (!path_exists(path))
        return true; /* a new repository of the agent's own */
    CLEANUP(mem_freep) char *text = file_read(path, PATH_MAX, NULL, NULL); /* seen to be a file */
    return text && strcmp(text, want) == 0;
}

/* The agent's git folder before anything reads from it: an ordinary folder that points nowhere
 * else (T8). */
static bool git_dir_check(const Workspace *ws, char git_dir[PATH_MAX], Err *err)
{
    if (!path_join(git_dir, ws->path, ".git", err))
        return false;
    int fd = open(ws->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "cannot open the workspace '%s'", ws->path);
    const char *problem = NULL;
    if (!is_plain_folder(fd, ".git"))
        problem = "its .git is missing or not an ordinary folder";
    else if (faccessat(fd, ".git/commondir", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        problem = "its .git points to another repository";
    else if (!folder_is_plain(fd, ".git/objects", 3) || !folder_is_plain(fd, ".git/refs", 32) ||
             !file_is_plain(fd, ".git/HEAD") || !file_is_plain(fd, ".git/config") ||
             !file_is_plain(fd, ".git/packed-refs") || !file_is_plain(fd, ".git/shallow"))
        problem = "there are links or pipes in its .git";
    else if (!alternates_are_ours(ws->hub, git_dir))
        problem = "it borrows objects from elsewhere";
    (void)close(fd); /* only read from */
    return !problem || err_set(err, ERR_REFUSED, "commits were not taken over: %s", problem);
}

static bool clone_head(const Workspace *ws, const Oid *known, Oid *head, Err *err)
{
    char git_dir[PATH_MAX], ref[400], spec[500];
    if (!git_dir_check(ws, git_dir, err))
        return false;
    *head = ref_read(git_dir, "HEAD"); /* data; believed only when it is what we know already */
    if (oid_is_set(head) && oid_equal(head, known))
        return true;
    snprintf(ref, sizeof ref, "refs/otto/import/%s", ws->name);
    snprintf(spec, sizeof spec, "+HEAD:%s", ref);
    Git git = {.dir = ws->hub, .timeout_ms = GIT_AGENT_MS};
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("fetch", "-q", "--no-tags", "--no-write-fetch-head",
                                    "--no-recurse-submodules", "--refmap=", "--", git_dir, spec);
    bool is_done = git_run(&git, words, NULL, &out, err);
    git_out_done(&out);
    if (!is_done)
        return err_add(err, "commits were not taken over");
    *head = ref_read(ws->hub, ref);
    return oid_is_set(head) || err_set(err, ERR_GIT, "commits were not taken over");
}

static bool clone_discard(const Workspace *ws, const char *trash_entry, Err *err)
{
    (void)ws; /* everything lies in the folder */
    (void)trash_entry;
    (void)err;
    return true;
}

const WorkspaceKind workspace_clone = {
    .name = "clone",
    .is_ours = true,
    .why = "private repository, shared objects; what it plants stays in it",
    .make = clone_make,
    .head = clone_head,
    .discard = clone_discard,
};
