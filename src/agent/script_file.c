/* The scripted agent: files of the workspace. See script_parts.h. */
#include "agent/script_parts.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Opens the folder that holds the last part of the path; leaf gets that part. Links are refused, so
 * that a repository cannot lead the player out of its workspace. */
static int open_parent(const char *path, bool create, char leaf[256])
{
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (;;) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        bool is_last = !path[length + strspn(path + length, "/")];
        if (folder < 0 || !length || length > 255 || (length == 2 && memcmp(path, "..", 2) == 0)) {
            errno = folder < 0 ? errno : EINVAL;
            close_fd(&folder);
            return -1;
        }
        memcpy(leaf, path, length);
        leaf[length] = '\0';
        if (is_last)
            return folder;
        if (create)
            (void)mkdirat(folder, leaf, 0777); /* may be there; opening decides */
        int below = openat(folder, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int saved = errno;
        close_fd(&folder);
        errno = saved;
        folder = below;
        path += length;
    }
}

static int open_file(const char *path, int flags, mode_t mode)
{
    char leaf[256];
    CLEANUP(close_fd) int folder = open_parent(path, (flags & O_CREAT) != 0, leaf);
    return folder < 0 ? -1 : openat(folder, leaf, flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

bool script_write(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = write(fd, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

bool script_file_write(const char *path, const char *bytes, size_t length, bool append,
                       bool executable, Err *err)
{
    int flags = O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC);
    CLEANUP(close_fd) int fd = open_file(path, flags, executable ? 0777 : 0666);
    if (fd < 0 || !script_write(fd, bytes, length))
        return err_errno(err, "cannot write '%s'", path);
    if (executable && fchmod(fd, 0755) != 0)
        return err_errno(err, "cannot make '%s' executable", path);
    return true;
}

bool script_file_fill(const char *path, size_t length, Err *err)
{
    static char block[65536];
    memset(block, 'x', sizeof block);
    CLEANUP(close_fd) int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return err_errno(err, "cannot write '%s'", path);
    for (size_t done = 0; done < length;) {
        size_t part = MIN(sizeof block, length - done);
        if (!script_write(fd, block, part))
            return err_errno(err, "cannot write '%s'", path);
        done += part;
    }
    return true;
}

char *script_file_read(const char *path, size_t limit_bytes, size_t *length, Err *err)
{
    CLEANUP(close_fd) int fd = open_file(path, O_RDONLY | O_NONBLOCK, 0);
    CLEANUP(str_done) Str text = STR_INIT;
    char block[16384];
    ssize_t count = fd < 0 ? -1 : 1;
    while (count > 0 && text.length < limit_bytes) {
        count = read(fd, block, sizeof block);
        if (count > 0)
            str_add_bytes(&text, block, (size_t)count);
    }
    if (count < 0) {
        (void)err_errno(err, "cannot read '%s'", path); /* NULL says it failed */
        return NULL;
    }
    *length = text.length;
    return str_take(&text);
}

bool script_file_delete(const char *path, Err *err)
{
    char leaf[256];
    CLEANUP(close_fd) int folder = open_parent(path, false, leaf);
    if (folder < 0)
        return errno == ENOENT || err_errno(err, "cannot remove '%s'", path);
    if (unlinkat(folder, leaf, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return err_errno(err, "cannot remove '%s'", path);
    return folder_remove(path, err); /* the way to it was just walked without links */
}

bool script_file_has(const char *path)
{
    char leaf[256];
    struct stat about;
    CLEANUP(close_fd) int folder = open_parent(path, false, leaf);
    return folder >= 0 && fstatat(folder, leaf, &about, AT_SYMLINK_NOFOLLOW) == 0;
}
