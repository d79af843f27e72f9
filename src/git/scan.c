/* What the files hold beyond a commit: see scan.h. */
#include "git/scan.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line of `git ls-files -t -s -z`: tag, and for tracked files "MODE OID STAGE<tab>". */
typedef struct ScanLine {
    char tag; /* '?' untracked, 'C' changed, 'R' removed, 'H' as it should be */
    bool is_gitlink;
    const char *path;
} ScanLine;

static bool line_parse(const char *text, ScanLine *line)
{
    line->tag = text[0];
    if (!text[0] || text[1] != ' ')
        return false;
    line->is_gitlink = strncmp(text + 2, "160000 ", 7) == 0;
    line->path = text + 2;
    if (line->tag == '?')
        return true;
    const char *tab = strchr(text, '\t');
    line->path = tab ? tab + 1 : "";
    return tab != NULL;
}

/* Is a folder on the way to the path a link? Then the path itself does not exist any more. */
static bool is_behind_link(int tree, const char *path)
{
    char part[PATH_MAX];
    struct stat info;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t size = (size_t)(slash - path);
        if (size >= sizeof part)
            return true;
        memcpy(part, path, size);
        part[size] = '\0';
        if (fstatat(tree, part, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
            return true;
    }
    return false;
}

static void list_add(Str *list, size_t *count, const char *path)
{
    str_add_bytes(list, path, strlen(path) + 1);
    (*count)++;
}

static void untracked_add(int tree, const char *path, Scan *scan)
{
    struct stat info;
    if (text_ends(path, "/")) {
        scan->nested++;
        return;
    }
    if (fstatat(tree, path, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return; /* gone since it was listed */
    bool is_file = S_ISREG(info.st_mode);
    if ((!is_file && !S_ISLNK(info.st_mode)) ||
        (is_file && faccessat(tree, path, R_OK, AT_EACCESS) != 0)) {
        scan->skipped++;
        return;
    }
    scan->untracked_bytes += info.st_size;
    list_add(&scan->changed, &scan->changed_count, path);
}

static void tracked_add(int tree, const char *path, Scan *scan)
{
    struct stat info;
    if (is_behind_link(tree, path)) {
        list_add(&scan->removed, &scan->removed_count, path);
        return;
    }
    if (fstatat(tree, path, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return; /* listed once more as removed */
    if (S_ISREG(info.st_mode) && faccessat(tree, path, R_OK, AT_EACCESS) != 0)
        scan->skipped++;
    else if (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode))
        list_add(&scan->changed, &scan->changed_count, path);
    else
        list_add(&scan->removed, &scan->removed_count, path); /* a folder took its place */
}

static bool list_take(int tree, const Str *text, Scan *scan)
{
    const char *end = text->bytes + text->length;
    for (const char *at = text->bytes; at && at < end; at += strlen(at) + 1) {
        ScanLine line;
        if (!line_parse(at, &line))
            return false;
        if (line.tag == '?')
            untracked_add(tree, line.path, scan);
        else if (line.is_gitlink || line.tag == 'H')
            continue; /* submodules stay as they are and are never entered */
        else if (line.tag == 'R')
            list_add(&scan->removed, &scan->removed_count, line.path);
        else if (line.tag == 'C')
            tracked_add(tree, line.path, scan);
    }
    return true;
}

bool scan_run(const Git *git, int64_t limit_bytes, Scan *scan, Err *err)
{
    int tree = open(git->tree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tree < 0)
        return err_errno(err, "cannot open '%s'", git->tree);
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("ls-files", "-z", "-t", "-s", "-m", "-d", "-o", "--exclude-standard");
    bool is_done = git_run(git, words, NULL, &out, err);
    if (is_done && !list_take(tree, &out.out, scan))
        is_done = err_set(err, ERR_GIT, "git ls-files said something unexpected");
    if (is_done && out.err.length)
        scan->skipped++; /* a folder that cannot be read */
    git_out_done(&out);
    (void)close(tree); /* a folder handle */
    if (is_done && scan->untracked_bytes > limit_bytes)
        return err_set(err, ERR_TOO_BIG,
                       "new files of %lld MB are more than the limit of %lld MB; remove or ignore "
                       "them",
                       (long long)(scan->untracked_bytes >> 20), (long long)(limit_bytes >> 20));
    return is_done;
}

static bool index_feed(const Git *git, const char *const *words, const Str *list, Scan *scan,
                       Err *err)
{
    if (list->length == 0)
        return true;
    GitOut out = GIT_OUT_INIT;
    GitInput input = {list->bytes, list->length};
    bool is_done = git_run(git, words, &input, &out, err);
    for (const char *said = str_text(&out.err); (said = strstr(said, "Ignoring path")); said++)
        scan->skipped++; /* names like ".GIT/x" that no repository may hold */
    git_out_done(&out);
    return is_done;
}

bool scan_apply(const Git *git, Scan *scan, Oid *tree, Err *err)
{
    const char *const *drop = ARGV("update-index", "-z", "--force-remove", "--stdin");
    const char *const *take =
        ARGV("update-index", "-z", "--add", "--remove", "--replace", "--stdin");
    return index_feed(git, drop, &scan->removed, scan, err) &&
           index_feed(git, take, &scan->changed, scan, err) &&
           git_oids(git, ARGV("write-tree"), NULL, tree, 1, err);
}

bool scan_has_ignored(const Git *git, bool *has_ignored, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory");
    bool is_done = git_run(git, words, NULL, &out, err);
    *has_ignored = out.out.length > 0;
    git_out_done(&out);
    return is_done;
}

void scan_done(Scan *scan)
{
    str_done(&scan->changed);
    str_done(&scan->removed);
}
