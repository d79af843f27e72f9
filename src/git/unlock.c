/* Stale locks: see unlock.h. */
#include "git/unlock.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MIN_AGE_S = 10, DEPTH_MAX = 24 };

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

/* Does the process run git on this hub? Its words or its variables name the folder. */
static bool process_uses(const char *pid, const char *hub)
{
    static const char *const files[] = {"cmdline", "environ"};
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    CLEANUP(mem_freep) char *comm = file_read(path, sizeof name, NULL, NULL);
    if (!comm || strncmp(comm, "git", 3) != 0)
        return false;
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t length = 0;
        snprintf(path, sizeof path, "/proc/%.20s/%s", pid, files[i]);
        CLEANUP(mem_freep) char *text = file_read(path, 4 << 20, &length, NULL);
        if (!text)
            return path_exists(path); /* a git that hides: it may be ours */
        if (memmem(text, length, hub, strlen(hub)))
            return true;
    }
    return false;
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

/* Private files of workers that died: "NAME.PID" and "NAME.PID.lock". */
static void sweep_tmp(const char *hub)
{
    char folder[PATH_MAX], path[PATH_MAX], name[NAME_MAX + 1];
    if (!hub_path(hub, "tmp", "", folder, NULL))
        return;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        snprintf(name, sizeof name, "%s", entry->d_name);
        if (text_ends(name, ".lock"))
            name[strlen(name) - 5] = '\0';
        const char *dot = strrchr(name, '.');
        int64_t pid = 0;
        if (dot && text_to_int(dot + 1, &pid) && pid > 0 && kill((pid_t)pid, 0) != 0 &&
            errno == ESRCH && path_join(path, folder, entry->d_name, NULL))
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
    const JobField fields[] = {{"hub", FIELD_PATH, true, &hub}};
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
    if (!u.is_in_use)
        sweep_tmp(real);
    walk(&u, real, 0);
    return true;
}
