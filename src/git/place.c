/* Places: see place.h. */
#include "git/place.h"
#include "base/file.h"
#include "base/str.h"
#include "git/path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark_name[] = ".otto-root";
static const char mark_text[] = "otto makes and removes the folders in here. Keep nothing else.\n";

bool place_mark(const char *folder, Err *err)
{
    char path[PATH_MAX];
    if (!path_join(path, folder, mark_name, err))
        return false;
    if (path_exists(path))
        return true;
    return folder_ensure(folder, 0700, err) &&
           file_write_plain(path, mark_text, sizeof mark_text - 1, 0600, err);
}

static void close_quietly(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* a folder handle */
}

static bool part_is_safe(const char *part, size_t size)
{
    if (size == 0 || size >= PLACE_NAME_SIZE)
        return false;
    return !(size == 1 && part[0] == '.') && !(size == 2 && strncmp(part, "..", 2) == 0);
}

/* One step down without following a link. Takes over fd. */
static int step_down(int fd, const char *name, bool make)
{
    if (make && mkdirat(fd, name, 0755) != 0 && errno != EEXIST) {
        close_quietly(fd);
        return -1;
    }
    int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = errno;
    close_quietly(fd);
    errno = code;
    return next;
}

int place_open_below(int folder, const char *rel, bool make, char name[PLACE_NAME_SIZE], Err *err)
{
    int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    for (const char *part = rel; fd >= 0;) {
        size_t size = strcspn(part, "/");
        if (!part_is_safe(part, size)) {
            close_quietly(fd);
            (void)err_set(err, ERR_REFUSED, "'%s' is not a plain path", rel); /* -1 says it */
            return -1;
        }
        memcpy(name, part, size);
        name[size] = '\0';
        if (!part[size])
            return fd;
        fd = step_down(fd, name, make);
        part += size + 1;
    }
    (void)err_errno(err, "cannot go down to '%s' without following links", rel); /* -1 says it */
    return -1;
}

static int root_open(const char *root, Err *err)
{
    int fd = path_is_plain(root) ? open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        (void)err_set(err, ERR_REFUSED, "'%s' is not an ordinary folder", root); /* -1 says it */
    return fd;
}

static bool entry_is_folder_or_missing(int folder, const char *name, const char *path, Err *err)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, "cannot look at '%s'", path);
    return S_ISDIR(info.st_mode) ||
           err_set(err, ERR_REFUSED, "'%s' is a link or a file, not a folder", path);
}

int place_open(const char *root, const char *path, char name[PLACE_NAME_SIZE], Err *err)
{
    size_t length = strlen(root);
    if (!path_is_plain(path) || strncmp(path, root, length) != 0 || path[length] != '/') {
        (void)err_set(err, ERR_REFUSED, "'%s' is outside '%s'", path, root); /* -1 says it */
        return -1;
    }
    int fd = root_open(root, err);
    int folder = fd >= 0 ? place_open_below(fd, path + length + 1, false, name, err) : -1;
    close_quietly(fd);
    if (folder >= 0 && faccessat(folder, mark_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        (void)err_set(err, ERR_REFUSED, "the folder of '%s' does not carry otto's mark", path);
        close_quietly(folder);
        return -1;
    }
    if (folder >= 0 && !entry_is_folder_or_missing(folder, name, path, err)) {
        close_quietly(folder);
        return -1;
    }
    return folder;
}

/* renameat2 without replacing: two callers cannot both win. */
static bool move_entry(int from, const char *name, const char *to_folder, const char *as,
                       bool *was_there, Err *err)
{
    int to = open(to_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return err_errno(err, "cannot open '%s'", to_folder);
    *was_there = true;
    bool is_moved = renameat2(from, name, to, as, RENAME_NOREPLACE) == 0;
    int code = errno;
    close_quietly(to);
    errno = code;
    if (!is_moved && errno == ENOENT) {
        *was_there = false;
        return true;
    }
    return is_moved || err_errno(err, "cannot move '%s' to '%s/%s'", name, to_folder, as);
}

bool place_move(const char *root, const char *path, const char *to_folder, const char *as,
                bool *was_there, Err *err)
{
    char name[PLACE_NAME_SIZE];
    int folder = place_open(root, path, name, err);
    if (folder < 0)
        return false;
    bool is_moved = move_entry(folder, name, to_folder, as, was_there, err);
    close_quietly(folder);
    return is_moved;
}

/* What killed workers left in trash-now: theirs to delete, now ours. */
static void sweep(const char *now)
{
    char path[PATH_MAX];
    DIR *list = opendir(now);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        long pid = 0;
        if (sscanf(entry->d_name, "gone-%ld-", &pid) != 1 || pid <= 0 ||
            (pid != getpid() && (kill((pid_t)pid, 0) == 0 || errno != ESRCH)))
            continue;
        if (!path_join(path, now, entry->d_name, NULL) || !folder_remove(path, NULL))
            continue; /* only wasted space; the next sweep tries again */
    }
    if (list)
        (void)closedir(list); /* only read from */
}

bool place_remove(const char *root, const char *path, Err *err)
{
    static unsigned serial;
    char parent[PATH_MAX], now[PATH_MAX], as[PLACE_NAME_SIZE];
    bool was_there = false;
    snprintf(parent, sizeof parent, "%s", root);
    if (!path_join(now, dirname(parent), "trash-now", err))
        return false;
    if (!path_exists(path))
        return true;
    if (!folder_ensure(now, 0700, err))
        return false;
    sweep(now); /* also frees the name below, should the process number have come round */
    snprintf(as, sizeof as, "gone-%ld-%u", (long)getpid(), serial++);
    if (!place_move(root, path, now, as, &was_there, err))
        return false;
    sweep(now);
    return true;
}
