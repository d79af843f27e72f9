/* May the files be moved forward? See forward_check.h. */
#include "git/forward_check.h"
#include "base/arena.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path that differs between the old and the new commit. */
typedef struct Change {
    const char *path; /* borrowed from the output */
    bool is_added;
    Oid old, new;
} Change;

typedef struct Changes {
    GitOut out;
    Change *rows;
    size_t count, size;
} Changes;

static void changes_done(Changes *changes)
{
    git_out_done(&changes->out);
    free(changes->rows);
}

/* ":OLDMODE NEWMODE OLDOID NEWOID STATUS" NUL PATH NUL */
static bool change_parse(const char *head, const char *path, Change *change)
{
    char old[65], new[65], old_mode[8], new_mode[8];
    if (sscanf(head, ":%7s %7s %64s %64s", old_mode, new_mode, old, new) != 4)
        return false;
    *change = (Change){.path = path,
                       .is_added = strcmp(old_mode, "000000") == 0,
                       .old = oid_from(old),
                       .new = oid_from(new)};
    return true;
}

static bool changes_find(const ForwardCheck *check, Changes *changes, Err *err)
{
    const char *const *words = ARGV("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames",
                                    check->old->hex, check->new->hex);
    if (!git_run(check->hub, words, NULL, &changes->out, err))
        return false;
    const char *at = str_text(&changes->out.out);
    const char *end = at + changes->out.out.length;
    while (at < end) {
        const char *path = at + strlen(at) + 1;
        if (changes->count == changes->size)
            changes->rows = mem_grow(changes->rows, changes->size = changes->size * 2 + 64,
                                     sizeof *changes->rows);
        if (path >= end || !change_parse(at, path, &changes->rows[changes->count++]))
            return err_set(err, ERR_GIT, "git diff-tree said something unexpected");
        at = path + strlen(path) + 1;
    }
    return true;
}

/* The rows are sorted by path bytes, as git prints them. */
static const Change *change_of(const Changes *changes, const char *path)
{
    size_t low = 0, high = changes->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(changes->rows[middle].path, path);
        if (order == 0)
            return &changes->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* -- after a crash: is the file one that we wrote, or were about to? -------------------------- */

static bool blob_starts_with(const ForwardCheck *check, const Oid *blob, const char *bytes,
                             size_t length, bool must_be_all)
{
    GitOut out = GIT_OUT_INIT;
    bool is_start = git_run(check->hub, ARGV("cat-file", "blob", blob->hex), NULL, &out, NULL) &&
                    length <= out.out.length && (!must_be_all || length == out.out.length) &&
                    memcmp(str_text(&out.out), bytes, length) == 0;
    git_out_done(&out);
    return is_start;
}

static bool file_is_known(const ForwardCheck *check, const char *full, const Change *change)
{
    Git user = {.dir = check->tree->git_dir, .tree = check->tree->path};
    Oid now = {""};
    if (git_oids(&user, ARGV("hash-object", "--", change->path), NULL, &now, 1, NULL) &&
        (oid_equal(&now, &change->old) || oid_equal(&now, &change->new)))
        return true;
    size_t length = 0;
    CLEANUP(mem_freep) char *bytes = file_read(full, (size_t)1 << 30, &length, NULL);
    return bytes && blob_starts_with(check, &change->new, bytes, length, false); /* cut short */
}

static bool state_is_known(const ForwardCheck *check, const Change *change)
{
    char full[PATH_MAX], link_text[PATH_MAX];
    struct stat info;
    if (!path_join(full, check->tree->path, change->path, NULL))
        return false;
    if (lstat(full, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR; /* taken away, not yet written */
    if (S_ISREG(info.st_mode))
        return file_is_known(check, full, change);
    ssize_t length = S_ISLNK(info.st_mode) ? readlink(full, link_text, sizeof link_text) : -1;
    return length >= 0 && (blob_starts_with(check, &change->new, link_text, (size_t)length, true) ||
                           blob_starts_with(check, &change->old, link_text, (size_t)length, true));
}

/* -- the checks ------------------------------------------------------------------------------- */

static void say(char *why, size_t size, const char *path, const char *what)
{
    Str text = STR_INIT;
    str_add_safe(&text, path, strnlen(path, 150), false);
    snprintf(why, size, "'%s' %s", str_text(&text), what);
    str_done(&text);
}

static bool status_check(const ForwardCheck *check, const Changes *changes, char *why, size_t size,
                         Err *err)
{
    Git user = {.dir = check->tree->git_dir, .tree = check->tree->path};
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("status", "--porcelain", "-z", "--untracked-files=no",
                                    "--no-renames", "--ignore-submodules=all");
    bool is_done = git_run(&user, words, NULL, &out, err);
    const char *end = out.out.bytes + out.out.length;
    for (const char *line = out.out.bytes; is_done && line && line < end && !why[0];
         line += strlen(line) + 1) {
        const char *path = strlen(line) > 3 ? line + 3 : "";
        const Change *change = check->is_started ? change_of(changes, path) : NULL;
        if (!change || !state_is_known(check, change))
            say(why, size, path, "has changes that are not committed");
    }
    git_out_done(&out);
    return is_done;
}

/* Something of the user's where a new file comes: untracked or ignored, a link or file on the way.
 */
static void added_check(const ForwardCheck *check, const Changes *changes, char *why, size_t size)
{
    int root = open(check->tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < changes->count && !why[0]; i++) {
        const Change *change = &changes->rows[i];
        struct stat info;
        char part[PATH_MAX];
        if (!change->is_added || (check->is_started && state_is_known(check, change)))
            continue;
        for (const char *slash = strchr(change->path, '/'); slash; slash = strchr(slash + 1, '/')) {
            snprintf(part, sizeof part, "%.*s", (int)(slash - change->path), change->path);
            if (fstatat(root, part, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode) &&
                !change_of(changes, part))
                say(why, size, part, "is in the way of a new folder");
        }
        if (fstatat(root, change->path, &info, AT_SYMLINK_NOFOLLOW) == 0)
            say(why, size, change->path, "is in the way of a new file");
    }
    if (root >= 0)
        (void)close(root); /* a folder handle */
}

/* Files with a filter (large-file stores) can only be written by the user's own git. */
static bool filter_check(const ForwardCheck *check, const Changes *changes, char *why, size_t size,
                         bool *is_filtered, Err *err)
{
    char path[PATH_MAX], more[PATH_MAX];
    if (!path_join(path, check->tree->path, ".gitattributes", err) ||
        !path_join(more, check->common, "info/attributes", err))
        return false;
    if (!path_exists(path) && !path_exists(more))
        return true;
    Str list = STR_INIT;
    for (size_t i = 0; i < changes->count; i++)
        str_add_bytes(&list, changes->rows[i].path, strlen(changes->rows[i].path) + 1);
    Git user = {.dir = check->tree->git_dir, .tree = check->tree->path};
    GitInput input = {list.bytes, list.length};
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(&user, ARGV("check-attr", "-z", "--stdin", "filter"), &input, &out, err);
    const char *end = out.out.bytes + out.out.length;
    for (const char *at = out.out.bytes; is_done && at && at < end && !why[0];) {
        const char *name = at + strlen(at) + 1; /* PATH NUL "filter" NUL VALUE NUL */
        const char *value = name < end ? name + strlen(name) + 1 : end;
        *is_filtered =
            value < end && strcmp(value, "unspecified") != 0 && strcmp(value, "unset") != 0;
        if (*is_filtered)
            snprintf(why, size,
                     "files use the filter '%.40s'; take them over yourself: git merge "
                     "--ff-only %s",
                     value, check->new->hex);
        at = value < end ? value + strlen(value) + 1 : end;
    }
    git_out_done(&out);
    str_done(&list);
    return is_done;
}

bool forward_check(const ForwardCheck *check, char *why, size_t size, bool *is_filtered, Err *err)
{
    CLEANUP(changes_done) Changes changes = {.out = GIT_OUT_INIT};
    if (!changes_find(check, &changes, err) || !status_check(check, &changes, why, size, err))
        return false;
    if (!why[0])
        added_check(check, &changes, why, size);
    return why[0] || filter_check(check, &changes, why, size, is_filtered, err);
}
