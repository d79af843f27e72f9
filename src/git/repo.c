/* The user's repository: see repo.h. */
#include "git/repo.h"
#include "base/file.h"
#include "base/str.h"
#include "git/cmd.h"
#include "git/ref.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool line_below(const char *folder, const char *name, char out[PATH_MAX])
{
    char path[PATH_MAX];
    return path_join(path, folder, name, NULL) && line_read(path, out, PATH_MAX);
}

/* Resolves a path that may be relative to a folder. */
static bool path_from(const char *folder, const char *path, char out[PATH_MAX])
{
    char joined[PATH_MAX];
    if (path[0] == '/')
        return realpath(path, out);
    return path_join(joined, folder, path, NULL) && realpath(joined, out);
}

/* The git folder of a work tree: ROOT/.git, what a .git file names, or ROOT itself when bare. */
static bool git_dir_of(const char *root, char out[PATH_MAX])
{
    char dot_git[PATH_MAX], line[PATH_MAX];
    struct stat info;
    if (!path_join(dot_git, root, ".git", NULL))
        return false;
    if (stat(dot_git, &info) != 0)
        return line_below(root, "HEAD", line) && realpath(root, out);
    if (S_ISDIR(info.st_mode))
        return realpath(dot_git, out);
    return line_below(root, ".git", line) && text_starts(line, "gitdir: ") &&
           path_from(root, line + 8, out);
}

bool repo_common_dir(const char *root, char out[PATH_MAX], Err *err)
{
    char git_dir[PATH_MAX], line[PATH_MAX];
    if (!git_dir_of(root, git_dir))
        return err_set(err, ERR_NOT_FOUND, "'%s' is not a git repository", root);
    if (line_below(git_dir, "commondir", line)) {
        if (!path_from(git_dir, line, out))
            return err_set(err, ERR_NOT_FOUND, "'%s' points to a missing repository", git_dir);
        return true;
    }
    memcpy(out, git_dir, strlen(git_dir) + 1);
    return true;
}

/* A branch counts as checked out while it is being rebased, too. */
static bool dir_is_on(const char *git_dir, const char *ref)
{
    static const char *const heads[] = {"rebase-merge/head-name", "rebase-apply/head-name"};
    char line[PATH_MAX];
    head_branch(git_dir, line, sizeof line);
    if (strcmp(line, ref) == 0)
        return true;
    for (size_t i = 0; i < COUNT(heads); i++)
        if (line_below(git_dir, heads[i], line) && strcmp(line, ref) == 0)
            return true;
    return false;
}

/* The value of one key in the output of `git config --get-regexp`; NULL when it is not there. */
static const char *setting_in(const char *text, const char *key, Arena *arena)
{
    size_t size = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, key, size) == 0 && line[size] == ' ')
            return arena_strndup(arena, line + size + 1, strcspn(line + size + 1, "\n"));
    return NULL;
}

/* Where the main work tree of a repository is. False when it is bare. An empty path means that
 * there is one, but nobody can say where. */
static bool main_tree(const char *common_dir, RepoTree *tree)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Git git = {.dir = common_dir};
    GitOut out = GIT_OUT_INIT;
    const char *bare = NULL, *elsewhere = NULL;
    const char *const *words = ARGV("config", "--get-regexp", "^core\\.(bare|worktree)$");
    if (git_call(&git, words, NULL, &out, NULL)) {
        bare = setting_in(str_text(&out.out), "core.bare", &arena);
        elsewhere = setting_in(str_text(&out.out), "core.worktree", &arena);
    }
    git_out_done(&out);
    tree->path[0] = '\0';
    snprintf(tree->git_dir, PATH_MAX, "%s", common_dir);
    if (elsewhere && !path_from(common_dir, elsewhere, tree->path))
        tree->path[0] = '\0';
    else if (!elsewhere && text_ends(common_dir, "/.git"))
        snprintf(tree->path, PATH_MAX, "%.*s", (int)(strlen(common_dir) - 5), common_dir);
    return !bare || strcmp(bare, "true") != 0;
}

static bool linked_tree(const char *common_dir, const char *name, RepoTree *tree)
{
    char dot_git[PATH_MAX], folder[PATH_MAX];
    if (!path_join(folder, common_dir, "worktrees", NULL) ||
        !path_join(tree->git_dir, folder, name, NULL) ||
        !line_below(tree->git_dir, "gitdir", dot_git) || !text_ends(dot_git, "/.git"))
        return false;
    dot_git[strlen(dot_git) - 5] = '\0';
    return path_from(tree->git_dir, dot_git, tree->path) && path_is_folder(tree->path);
}

int repo_trees_on(const char *common_dir, const char *target, RepoTree *out)
{
    char ref[PATH_MAX], folder[PATH_MAX];
    snprintf(ref, sizeof ref, "refs/heads/%s", target);
    int count = 0;
    RepoTree *tree = mem_alloc(sizeof *tree);
    if (dir_is_on(common_dir, ref) && main_tree(common_dir, tree) && count++ == 0)
        *out = *tree;
    DIR *list = path_join(folder, common_dir, "worktrees", NULL) ? opendir(folder) : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.' && linked_tree(common_dir, entry->d_name, tree) &&
            dir_is_on(tree->git_dir, ref) && count++ == 0)
            *out = *tree;
    if (list)
        (void)closedir(list); /* only read from */
    free(tree);
    return count;
}

const char *repo_busy_with(const char *git_dir)
{
    static const struct {
        const char *file, *what;
    } rows[] = {
        {"MERGE_HEAD", "a merge"},      {"rebase-merge", "a rebase"},
        {"rebase-apply", "a rebase"},   {"CHERRY_PICK_HEAD", "a cherry-pick"},
        {"REVERT_HEAD", "a revert"},    {"BISECT_LOG", "a bisect"},
        {"sequencer", "a cherry-pick"},
    };
    char path[PATH_MAX];
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (path_join(path, git_dir, rows[i].file, NULL) && path_exists(path))
            return rows[i].what;
    }
    return NULL;
}

/* The line with this number of a text, as a copy in the arena; "" when there is none. */
static const char *line_at(Arena *arena, const char *text, int number)
{
    while (number-- > 0 && text) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? arena_strndup(arena, text, strcspn(text, "\n")) : "";
}

static bool tree_is_dirty(const char *root)
{
    Git git = {.cwd = root};
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all");
    bool is_dirty = !git_run(&git, words, NULL, &out, NULL) || out.out.length > 0;
    git_out_done(&out);
    return is_dirty;
}

static bool config_is_set(const char *common_dir, const char *key)
{
    Git git = {.dir = common_dir};
    GitOut out = GIT_OUT_INIT;
    bool is_set = git_call(&git, ARGV("config", "--get", key), NULL, &out, NULL) && out.code == 0;
    git_out_done(&out);
    return is_set;
}

/* Shallow clones work: the hub takes over the boundary. */
static const char *inspect_problem(const char *common_dir, const char *format)
{
    if (config_is_set(common_dir, "extensions.partialclone"))
        return "this is a partial clone; make a full one first";
    if (strcmp(format, "sha1") != 0 && strcmp(format, "sha256") != 0)
        return "its object format is unknown";
    return NULL;
}

static void inspect_report(const char *path, const GitOut *said, Arena *arena, json_t *out)
{
    const char *text = str_text(&said->out);
    bool is_bare = strcmp(line_at(arena, text, 0), "true") == 0;
    const char *common = line_at(arena, text, 1);
    const char *format = line_at(arena, text, 2);
    const char *root = is_bare ? common : line_at(arena, text, 3);
    char git_dir[PATH_MAX], ref[PATH_MAX];
    if (!git_dir_of(root, git_dir))
        snprintf(git_dir, sizeof git_dir, "%s", common);
    head_branch(git_dir, ref, sizeof ref);
    bool is_detached = ref[0] == '\0';
    Oid head = is_detached ? ref_read(git_dir, "HEAD") : ref_read(common, ref);
    out_text(out, "root", root[0] ? root : path);
    out_flag(out, "is_bare", is_bare);
    out_flag(out, "is_empty", !oid_is_set(&head));
    out_text(out, "branch", text_starts(ref, "refs/heads/") ? ref + 11 : NULL);
    out_flag(out, "is_detached", is_detached);
    out_flag(out, "is_dirty", !is_bare && tree_is_dirty(root));
    out_text(out, "git_dir", common);
    out_text(out, "format", format);
    const char *problem = inspect_problem(common, format);
    if (problem)
        out_text(out, "problem", problem);
}

static void inspect_refused(const char *path, const char *said, json_t *out)
{
    Str text = STR_INIT;
    if (!path_is_folder(path))
        str_addf(&text, "'%s' is not a folder", path);
    else if (strstr(said, "dubious ownership"))
        str_addf(&text, "'%s' belongs to another user; git refuses to work there", path);
    else
        str_addf(&text, "'%s' is not a git repository; make one with: git init", path);
    out_text(out, "root", NULL);
    out_text(out, "branch", NULL);
    out_text(out, "problem", str_text(&text));
    str_done(&text);
}

bool repo_inspect_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *path;
    const JobField fields[] = {{"path", JOB_PATH, true, &path}};
    if (!job_read(in, fields, COUNT(fields), &arena, err))
        return false;
    if (!path_is_folder(path)) {
        inspect_refused(path, "", out);
        return true;
    }
    Git git = {.cwd = path};
    GitOut said = GIT_OUT_INIT;
    /* --show-toplevel is last: in a bare repository it fails after the others were printed. */
    const char *const *words = ARGV("rev-parse", "--path-format=absolute", "--is-bare-repository",
                                    "--git-common-dir", "--show-object-format", "--show-toplevel");
    bool is_done = git_call(&git, words, NULL, &said, err);
    if (is_done && text_starts(str_text(&said.out), "true"))
        inspect_report(path, &said, &arena, out);
    else if (is_done && said.code == 0)
        inspect_report(path, &said, &arena, out);
    else if (is_done)
        inspect_refused(path, str_text(&said.err), out);
    git_out_done(&said);
    return is_done;
}
