/* Folders and files in places that others write: see watch.h. */
#include "proc/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* only read from, or synced before */
}

/* The part of a path up to the next slash; 0: none left, or not a name. */
static size_t part_take(const char *path, char out[NAME_MAX + 1])
{
    size_t length = strcspn(path, "/");
    if (length == 0 || length > NAME_MAX)
        return 0;
    memcpy(out, path, length);
    out[length] = '\0';
    return strcmp(out, ".") == 0 || strcmp(out, "..") == 0 ? 0 : length;
}

static int part_open(int folder, const char *part, bool make)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(folder, part, flags);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (mkdirat(folder, part, 0755) != 0 && errno != EEXIST)
        return -1;
    return openat(folder, part, flags);
}

/* Steps down from folder, which is closed when it is left. errno says why it ended early. */
static int walk(int folder, const char **rest, bool make)
{
    char part[NAME_MAX + 1];
    errno = 0;
    while (**rest) {
        size_t length = part_take(*rest, part);
        int next = length ? part_open(folder, part, make) : -1;
        if (next < 0) {
            errno = length ? errno : EINVAL;
            return folder;
        }
        (void)close(folder); /* a folder handle */
        folder = next;
        *rest += length;
        *rest += strspn(*rest, "/");
    }
    return folder;
}

int watch_open_near(const char *root, const char *below, const char **rest, Err *err)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        (void)err_errno(err, "cannot open folder '%s'", root); /* the result says it failed */
        return -1;
    }
    *rest = below;
    return walk(fd, rest, false);
}

int watch_open(const char *root, const char *below, bool make, Err *err)
{
    const char *rest = below;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        (void)err_errno(err, "cannot open folder '%s'", root); /* the result says it failed */
        return -1;
    }
    fd = walk(fd, &rest, make);
    if (!*rest)
        return fd;
    int code = errno;
    (void)close(fd); /* a folder handle */
    errno = code;
    (void)err_errno(err, "cannot open folder '%s' below '%s'", below, root); /* see below */
    if (err)
        err->kind = code == ENOENT                                       ? ERR_NOT_FOUND
                    : code == ELOOP || code == ENOTDIR || code == EINVAL ? ERR_REFUSED
                                                                         : err->kind;
    return -1;
}

static bool name_is_plain(const char *name)
{
    char part[NAME_MAX + 1];
    return part_take(name, part) == strlen(name) && *name;
}

static bool read_error(const char *name, int code, Err *err)
{
    errno = code;
    (void)err_errno(err, "cannot read '%s'", name); /* false is returned below */
    if (err && code == ENOENT)
        err->kind = ERR_NOT_FOUND;
    if (err && (code == ELOOP || code == ENXIO))
        err->kind = ERR_REFUSED; /* a link, a socket */
    return false;
}

static bool read_all(int fd, const char *name, size_t limit, Str *out, Err *err)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return read_error(name, errno, err);
        if (got == 0)
            return true;
        if (out->length + (size_t)got > limit)
            return err_set(err, ERR_TOO_BIG, "'%s' is larger than %zu bytes", name, limit);
        str_add_bytes(out, chunk, (size_t)got);
    }
}

bool watch_read_at(int folder, const char *name, size_t limit, Str *out, Err *err)
{
    struct stat info;
    str_clear(out);
    if (!name_is_plain(name))
        return err_set(err, ERR_REFUSED, "'%s' is not a plain file name", name);
    /* O_NONBLOCK: a pipe that was planted must not hold us */
    CLEANUP(fd_close)
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return read_error(name, errno, err);
    if (!S_ISREG(info.st_mode))
        return err_set(err, ERR_REFUSED, "'%s' is not a regular file", name);
    if (read_all(fd, name, limit, out, err))
        return true;
    str_clear(out);
    return false;
}

bool watch_read(const char *folder, const char *name, size_t limit, Str *out, Err *err)
{
    str_clear(out);
    CLEANUP(fd_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return read_error(folder, errno, err);
    return watch_read_at(fd, name, limit, out, err);
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t put = write(fd, text, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        text += put;
        length -= (size_t)put;
    }
    return true;
}

static bool beside_write(int folder, const char *beside, const char *text)
{
    if (unlinkat(folder, beside, 0) != 0 && errno != ENOENT)
        return false;
    CLEANUP(fd_close)
    int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return fd >= 0 && write_all(fd, text, strlen(text)) && fsync(fd) == 0;
}

bool watch_write_at(int folder, const char *name, const char *text, Err *err)
{
    char beside[NAME_MAX + 1];
    if (!name_is_plain(name) ||
        snprintf(beside, sizeof beside, "%s.tmp", name) >= (int)sizeof beside)
        return err_set(err, ERR_REFUSED, "'%s' is not a plain file name", name);
    if (beside_write(folder, beside, text) && renameat(folder, beside, folder, name) == 0 &&
        fsync(folder) == 0)
        return true;
    (void)err_errno(err, "cannot write '%s'", name); /* false is returned below */
    (void)unlinkat(folder, beside, 0);               /* may not be there */
    return false;
}
