/* Files and paths: see file.h. */
#include "base/file.h"
#include "base/arena.h"
#include "base/str.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_quietly(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* read-only or already synced */
}

/* Opening a pipe that nobody writes would wait for ever; O_NONBLOCK changes nothing for files. */
static char *read_whole(const char *path, bool is_stream, size_t limit_bytes, size_t *length,
                        Err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | (is_stream ? 0 : O_NONBLOCK));
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        bool is_missing = errno == ENOENT;
        (void)err_errno(err, "cannot read '%s'", path); /* the result below says it failed */
        if (is_missing && err)
            err->kind = ERR_NOT_FOUND;
        close_quietly(fd);
        return NULL;
    }
    if (S_ISDIR(info.st_mode)) {
        (void)err_set(err, ERR_USAGE, "'%s' is a folder, not a file", path); /* see below */
        close_quietly(fd);
        return NULL;
    }
    if (!is_stream && !S_ISREG(info.st_mode)) {
        (void)err_set(err, ERR_USAGE, "'%s' is no ordinary file", path); /* see below */
        close_quietly(fd);
        return NULL;
    }
    Str text = STR_INIT;
    char chunk[65536];
    ssize_t got;
    while ((got = read(fd, chunk, sizeof chunk)) > 0 && text.length <= limit_bytes)
        str_add_bytes(&text, chunk, (size_t)got);
    if (got < 0)
        (void)err_errno(err, "cannot read '%s'", path); /* handled with the next test */
    else if (text.length > limit_bytes)
        (void)err_set(err, ERR_TOO_BIG, "'%s' is larger than %zu bytes", path, limit_bytes);
    close_quietly(fd);
    if (got < 0 || text.length > limit_bytes) {
        str_done(&text);
        return NULL;
    }
    if (length)
        *length = text.length;
    return str_take(&text);
}

char *file_read(const char *path, size_t limit_bytes, size_t *length, Err *err)
{
    return read_whole(path, false, limit_bytes, length, err);
}

char *file_read_stream(const char *path, size_t limit_bytes, size_t *length, Err *err)
{
    return read_whole(path, true, limit_bytes, length, err);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

static bool folder_sync(const char *path)
{
    char copy[PATH_MAX];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return false;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    close_quietly(fd);
    return is_synced;
}

bool file_write_atomic(const char *path, const void *bytes, size_t length, mode_t mode, Err *err)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d.tmp", path, (int)getpid()) >= (int)sizeof beside)
        return err_set(err, ERR_USAGE, "path too long: '%s'", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_errno(err, "cannot write '%s'", path);
    bool is_written = write_all(fd, bytes, length) && fsync(fd) == 0;
    int code = errno;
    if (close(fd) != 0 && is_written) {
        is_written = false;
        code = errno;
    }
    if (is_written && rename(beside, path) == 0 && folder_sync(path))
        return true;
    if (!is_written)
        errno = code;
    (void)err_errno(err, "cannot write '%s'", path); /* the result below says it failed */
    (void)unlink(beside);                            /* may be renamed already */
    return false;
}

bool file_write_plain(const char *path, const void *bytes, size_t length, mode_t mode, Err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_errno(err, "cannot write '%s'", path);
    bool is_written = write_all(fd, bytes, length);
    int code = errno;
    if (close(fd) != 0 && is_written) {
        is_written = false;
        code = errno;
    }
    errno = code;
    return is_written ? true : err_errno(err, "cannot write '%s'", path);
}

bool folder_ensure(const char *path, mode_t mode, Err *err)
{
    char partial[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof partial)
        return err_set(err, ERR_USAGE, "path too long: '%s'", path);
    memcpy(partial, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (partial[i] != '/' && partial[i] != '\0')
            continue;
        char keep = partial[i];
        partial[i] = '\0';
        if (mkdir(partial, mode) != 0 && errno != EEXIST)
            return err_errno(err, "cannot make folder '%s'", partial);
        partial[i] = keep;
    }
    if (!path_is_folder(path))
        return err_set(err, ERR_IO, "'%s' is not a folder", path);
    return true;
}

static bool remove_below(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)fchmod(fd, 0700); /* a read-only folder would keep its entries; failing shows below */
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close_quietly(fd);
        return false;
    }
    bool is_empty = true;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            is_empty = remove_below(dirfd(folder), entry->d_name) && is_empty;
    (void)closedir(folder); /* only read from */
    return is_empty && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool folder_remove(const char *path, Err *err)
{
    if (text_equal(path, "/") || text_equal(path, "") || text_equal(path, "."))
        return err_set(err, ERR_REFUSED, "will not remove '%s'", path);
    return remove_below(AT_FDCWD, path) ? true : err_errno(err, "cannot remove '%s'", path);
}

bool path_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool path_is_inside(const char *path, const char *root)
{
    char real_path[PATH_MAX], real_root[PATH_MAX];
    if (!realpath(path, real_path) || !realpath(root, real_root))
        return false;
    size_t length = strlen(real_root);
    if (strcmp(real_root, "/") == 0)
        return true;
    return strncmp(real_path, real_root, length) == 0 &&
           (real_path[length] == '/' || real_path[length] == '\0');
}
