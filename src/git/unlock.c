/* Stale locks: see unlock.h. */
#include "git/unlock.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MIN_AGE_S = 10, DEPTH_MAX = 24, PROC_TEXT_LIMIT = 4 << 20 };

typedef struct Unlock {
    const char *hub;
    int64_t min_age_s;
    bool is_in_use; /* a git process works on the hub, or may */
    json_t *removed, *kept;
} Unlock;

/* -- who could own it ------------------------------------------------------------------------- */

static bool link_is(const char *path, const char *target)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return false;
    text[length] = '\0';
    return strcmp(text, target) == 0;
}

static bool process_has_open(const char *pid, const char *file)
{
    char folder[64], path[PATH_MAX];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *list = opendir(folder);
    bool has_open = false;
    for (struct dirent *entry; list && !has_open && (entry = readdir(list));) {
        has_open = path_join(path, folder, entry->d_name, NULL) && link_is(path, file);
    }
    if (list)
        (void)closedir(list); /* only read from */
    return has_open;
}

/* What a file in /proc says: false with errno when it cannot be read; a dead process says nothing.
 */
static bool proc_read(const char *pid, const char *name, Str *text)
{
    char path[64], chunk[4096];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got;
    while ((got = read(fd, chunk, sizeof chunk)) > 0 && text->length < PROC_TEXT_LIMIT)
        str_add_bytes(text, chunk, (size_t)got);
    int code = errno;
    (void)close(fd); /* only read from */
    errno = code;
    return got >= 0;
}

/* A process of another user cannot have made a lock that belongs to us. */
static bool process_may_be_ours(const char *pid)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%.20s", pid);
    return stat(path, &info) == 0 && info.st_uid == geteuid();
}

static bool says(const char *pid, const char *name, const char *word)
{
    Str text = STR_INIT;
    bool is_read = proc_read(pid, name, &text);
    bool is_hidden = !is_read && errno != ENOENT && errno != ESRCH;
    bool is_said = text.length > 0 && memmem(text.bytes, text.length, word, strlen(word));
    str_done(&text);
    return is_said || (is_hidden && process_may_be_ours(pid)); /* unknown is never "no" */
}

/* Dead, but not yet reaped by its parent: it holds nothing any more. */
static bool process_is_dead(const char *pid)
{
    Str stat_line = STR_INIT;
    bool is_read = proc_read(pid, "stat", &stat_line);
    const char *end = is_read ? strrchr(str_text(&stat_line), ')') : NULL;
    bool is_dead = end && (text_starts(end, ") Z") || text_starts(end, ") X"));
    str_done(&stat_line);
    return is_dead;
}

/* Does the process run git on this hub? Its words or its variables name the folder. */
static bool process_uses(const char *pid, const char *hub)
{
    Str comm = STR_INIT;
    bool is_git = proc_read(pid, "comm", &comm) && text_starts(str_text(&comm), "git");
    str_done(&comm);
    return is_git && !process_is_dead(pid) &&
           (says(pid, "cmdline", hub) || says(pid, "environ", hub));
}

/* Runs test(pid, argument) over all processes but our own. */
static bool any_process(bool (*test)(const char *pid, const char *argument), const char *argument)
{
    char self[24];
    snprintf(self, sizeof self, "%ld", (long)getpid());
    DIR *list = opendir("/proc");
    bool is_found = list == NULL; /* nothing to look at: then nothing is proven */
    for (struct dirent *entry; list && !is_found && (entry = readdir(list));)
        is_found = isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, self) != 0 &&
                   test(entry->d_name, argument);
    if (list)
        (void)closedir(list); /* only read from */
    return is_found;
}

static bool is_older_than_boot(const struct stat *info)
{
    struct timespec up;
    if (clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return false;
    return (int64_t)info->st_mtime < clock_wall_ms() / 1000 - (int64_t)up.tv_sec - 1;
}

/* NULL: it may go. */
static const char *keep_reason(const Unlock *u, const char *path, const struct stat *info)
{
    int64_t age_s = clock_wall_ms() / 1000 - (int64_t)info->st_mtime;
    if (u->is_in_use)
        return "git is at work in the hub";
    if (info->st_uid != geteuid())
        return "it belongs to another user";
    if (age_s < u->min_age_s && !is_older_than_boot(info))
        return "it is too new";
    if (any_process(process_has_open, path))
        return "a process has it open";
    return NULL;
}

/* -- finding ---------------------------------------------------------------------------------- */

static void lock_judge(const Unlock *u, const char *path, const struct stat *info)
{
    const char *why = keep_reason(u, path, info);
    if (!why && unlink(path) == 0) {
        json_array_append_new(u->removed, json_lossy(path, strlen(path)));
        return;
    }
    json_t *row = json_object();
    out_text(row, "path", path);
    out_text(row, "why", why ? why : "it cannot be removed");
    json_array_append_new(u->kept, row);
}

/* The number of the worker whose private file this is, or 0: "NAME.PID.tmp" (a file being written),
 * and in tmp/ "NAME.PID" and "NAME.PID.lock" (an index). What a delivery is about to do lies there
 * too, under the name of a branch, which may well end like a number. */
static int64_t owner_of(const char *file, bool is_tmp)
{
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", file);
    bool is_write = text_ends(name, ".tmp");
    if (!is_write && (!is_tmp || text_starts(name, "forward-")))
        return 0;
    if (is_write || text_ends(name, ".lock"))
        *strrchr(name, '.') = '\0';
    const char *dot = strrchr(name, '.');
    int64_t pid = 0;
    return dot && text_to_int(dot + 1, &pid) && pid > 0 ? pid : 0;
}

static void sweep(const char *hub, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!hub_path(hub, name, "", folder, NULL))
        return;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        int64_t pid = owner_of(entry->d_name, strcmp(name, "tmp") == 0);
        if (pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
            path_join(path, folder, entry->d_name, NULL))
            (void)unlink(path); /* only wasted space; the next sweep tries again */
    }
    if (list)
        (void)closedir(list); /* only read from */
}

/* Loose objects are many and have no locks. */
static bool is_worth_entering(const char *name, int depth)
{
    bool is_fan = strlen(name) == 2 && isxdigit((unsigned char)name[0]);
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && depth < DEPTH_MAX &&
           !(is_fan && depth == 1);
}

static void walk(const Unlock *u, const char *folder, int depth)
{
    char path[PATH_MAX];
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct stat info;
        if (!is_worth_entering(entry->d_name, depth) ||
            !path_join(path, folder, entry->d_name, NULL) || lstat(path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode))
            walk(u, path, depth + 1);
        else if (S_ISREG(info.st_mode) && text_ends(entry->d_name, ".lock"))
            lock_judge(u, path, &info);
    }
    if (list)
        (void)closedir(list); /* only read from */
}

bool unlock_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub;
    char real[PATH_MAX];
    const JobField fields[] = {{"hub", JOB_PATH, true, &hub}};
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    if (!realpath(hub, real))
        return err_errno(err, "cannot resolve '%s'", hub);
    Unlock u = {.hub = real,
                .min_age_s = json_int(in, "min_age_s", MIN_AGE_S),
                .is_in_use = any_process(process_uses, hub) || any_process(process_uses, real),
                .removed = json_array(),
                .kept = json_array()};
    json_object_set_new(out, "removed", u.removed);
    json_object_set_new(out, "kept", u.kept);
    if (!u.is_in_use) {
        sweep(real, "tmp");
        sweep(real, "ws");
    }
    walk(&u, real, 0);
    return true;
}
