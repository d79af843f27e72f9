/* Equipping a workspace: see provision.h. */
#include "git/provision.h"
#include "base/file.h"
#include "base/str.h"
#include "git/place.h"
#include "git/ref.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_DEPTH = 40 };

static bool bytes_copy(int from, int to)
{
    for (;;) {
        ssize_t moved = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
        if (moved == 0)
            return true;
        if (moved < 0)
            break;
    }
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return false;
    static char chunk[1 << 16];
    for (ssize_t got; (got = read(from, chunk, sizeof chunk)) != 0;)
        if (got < 0 || write(to, chunk, (size_t)got) != got)
            return false;
    return true;
}

static bool file_copy_to(int from, mode_t mode, int folder, const char *name, Err *err)
{
    if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
        return err_errno(err, "cannot replace '%s'", name);
    int to =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
    if (to < 0)
        return err_errno(err, "cannot make '%s'", name);
    bool is_done = bytes_copy(from, to);
    int code = errno;
    if (close(to) != 0 && is_done) {
        is_done = false;
        code = errno;
    }
    errno = code;
    return is_done || err_errno(err, "cannot copy '%s'", name);
}

static bool entry_copy(int from_folder, const char *name, int to_folder, int depth, Err *err);

static bool list_copy(DIR *list, int to, int depth, Err *err)
{
    for (struct dirent *entry; (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, ".git") != 0 &&
            !entry_copy(dirfd(list), entry->d_name, to, depth + 1, err))
            return false;
    return true;
}

static bool folder_copy(int from, int to_folder, const char *name, int depth, Err *err)
{
    if (mkdirat(to_folder, name, 0755) != 0 && errno != EEXIST)
        return err_errno(err, "cannot make '%s'", name);
    int to = openat(to_folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int again = to >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, 0) : -1;
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    bool is_done =
        list ? list_copy(list, to, depth, err) : err_errno(err, "cannot copy '%s'", name);
    if (list)
        (void)closedir(list); /* only read from */
    if (to >= 0)
        (void)close(to); /* a folder handle */
    return is_done;
}

/* Links inside a copied folder are left out: where they lead cannot be promised. */
static bool entry_copy(int from_folder, const char *name, int to_folder, int depth, Err *err)
{
    struct stat info;
    int from = openat(from_folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0)
        return errno == ELOOP || err_errno(err, "cannot read '%s'", name);
    bool is_done = fstat(from, &info) == 0 || err_errno(err, "cannot read '%s'", name);
    if (is_done && S_ISREG(info.st_mode))
        is_done = file_copy_to(from, info.st_mode, to_folder, name, err);
    else if (is_done && S_ISDIR(info.st_mode))
        is_done = depth < COPY_DEPTH ? folder_copy(from, to_folder, name, depth, err)
                                     : err_set(err, ERR_TOO_BIG, "'%s' is nested too deep", name);
    (void)close(from); /* only read from */
    return is_done;
}

/* Where the wanted path really is: inside the repository and not in its git folder. */
static bool source_find(const char *repo, const char *rel, char real[PATH_MAX], Err *err)
{
    char path[PATH_MAX], root[PATH_MAX];
    if (!path_join(path, repo, rel, NULL) || !path_is_plain(path))
        return err_set(err, ERR_REFUSED, "copy: '%s' is not a plain path", rel);
    if (!realpath(repo, root))
        return err_errno(err, "cannot resolve '%s'", repo);
    if (!realpath(path, real)) {
        real[0] = '\0'; /* it held as far as the path could be followed */
        return errno == ENOENT || err_errno(err, "copy: cannot resolve '%s'", rel);
    }
    size_t length = strlen(root);
    if (strncmp(real, root, length) != 0 || real[length] != '/')
        return err_set(err, ERR_REFUSED, "copy: '%s' leads out of the repository", rel);
    const char *inside = real + length;
    if (strstr(inside, "/.git/") || text_ends(inside, "/.git"))
        return err_set(err, ERR_REFUSED, "copy: '%s' is git's own", rel);
    return true;
}

/* Copies under the name that was asked for, also when it is a link to a place inside. */
static bool source_copy(const char *real, int to_folder, const char *name, Err *err)
{
    struct stat info;
    int from = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0 || fstat(from, &info) != 0) {
        if (from >= 0)
            (void)close(from); /* only read from */
        return err_errno(err, "cannot read '%s'", real);
    }
    bool is_done = true;
    if (S_ISREG(info.st_mode))
        is_done = file_copy_to(from, info.st_mode, to_folder, name, err);
    else if (S_ISDIR(info.st_mode))
        is_done = folder_copy(from, to_folder, name, 0, err);
    (void)close(from); /* only read from */
    return is_done;
}

static bool one_copy(const char *repo, int workspace, const char *rel, json_t *missing, Err *err)
{
    char real[PATH_MAX] = "", name[PLACE_NAME_SIZE];
    if (!source_find(repo, rel, real, err))
        return false;
    if (!real[0]) {
        json_array_append_new(missing, json_lossy(rel, strlen(rel)));
        return true;
    }
    int folder = place_open_below(workspace, rel, true, name, err);
    if (folder < 0)
        return err_add(err, "copy");
    bool is_done = source_copy(real, folder, name, err);
    (void)close(folder); /* a folder handle */
    return is_done || err_add(err, "copy of '%s'", rel);
}

/* Written before the first copy; a pattern's special bytes are escaped. */
static bool exclude_all(const char *workspace, const json_t *list, Err *err)
{
    char path[PATH_MAX];
    size_t i;
    json_t *item;
    if (!path_join(path, workspace, ".git/info/exclude", err))
        return false;
    Str text = STR_INIT;
    CLEANUP(mem_freep) char *old = file_read(path, 1 << 20, NULL, NULL);
    str_add(&text, old ? old : "");
    if (text.length && text.bytes[text.length - 1] != '\n')
        str_add_char(&text, '\n');
    json_array_foreach(list, i, item)
    {
        str_add_char(&text, '/');
        for (const char *c = json_string_value(item); c && *c; c++) {
            if (strchr("*?[]\\! #", *c))
                str_add_char(&text, '\\');
            str_add_char(&text, *c);
        }
        str_add_char(&text, '\n');
    }
    bool is_done = file_write_atomic(path, str_text(&text), text.length, 0644, err);
    str_done(&text);
    return is_done;
}

bool provision_copy(const char *repo, const char *workspace, const json_t *list, json_t *missing,
                    Err *err)
{
    char info_folder[PATH_MAX];
    size_t i;
    json_t *item;
    if (json_array_size(list) == 0)
        return true;
    if (!path_join(info_folder, workspace, ".git/info", err))
        return false;
    if (path_is_folder(info_folder) && !exclude_all(workspace, list, err))
        return false;
    int fd = open(workspace, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "cannot open '%s'", workspace);
    bool is_done = true;
    json_array_foreach(list, i, item)
    {
        const char *rel = json_string_value(item);
        is_done = rel ? one_copy(repo, fd, rel, missing, err)
                      : err_set(err, ERR_USAGE, "copy: a path must be text");
        if (!is_done)
            break;
    }
    (void)close(fd); /* a folder handle */
    return is_done;
}
