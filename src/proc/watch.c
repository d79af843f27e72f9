/* Watching files: see watch.h. */
#include "proc/watch.h"
#include "base/arena.h"
#include "base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SETTLE_TRIES = 16, STREAM_RESTS = 10 };

/* What a file looked like; all zero: it is not there. */
typedef struct Mark {
    bool is_there;
    uint32_t mode;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
} Mark;

struct Watch {
    Loop *loop;
    WatchFn *fn;
    void *user;
    char *root, *below;
    char *names[WATCH_NAMES_MAX];
    Mark marks[WATCH_NAMES_MAX];
    bool is_dirty[WATCH_NAMES_MAX];
    size_t name_count;
    int64_t poll_ms, debounce_ms;
    int notices;      /* inotify; -1: none to be had */
    int handle;       /* of the folder that is watched now; -1 none */
    dev_t device;     /* … and which one that is */
    ino_t inode;      /* not held open: that would hold back the notice of its removal */
    bool is_there;    /* it is the folder itself, not a parent */
    const char *rest; /* what is missing, part of below */
    int64_t first_ms; /* first change of the present burst; 0 none */
    bool *is_gone;    /* set by watch_free while a callback runs */
    LoopTimer poll_timer, rest_timer;
};

/* clang-format off */
static const uint32_t folder_mask = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO |
    IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
static const uint32_t parent_mask = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF |
    IN_ONLYDIR;
static const uint32_t lost_mask = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT |
    IN_Q_OVERFLOW;
/* clang-format on */

/* ---- where the folder is ---- */

static void forget(Watch *watch)
{
    if (watch->handle >= 0)
        (void)inotify_rm_watch(watch->notices, watch->handle); /* the kernel may have been first */
    watch->handle = -1;
    watch->device = 0;
    watch->inode = 0;
    watch->is_there = false;
    watch->rest = watch->below;
}

/* By descriptor: the path could lead elsewhere by now. */
static void remember(Watch *watch, int fd, const struct stat *info, const char *rest)
{
    char path[40];
    forget(watch);
    watch->device = info->st_dev;
    watch->inode = info->st_ino;
    watch->rest = rest;
    watch->is_there = *rest == '\0';
    if (watch->notices < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* always fits */
    uint32_t mask = watch->is_there ? folder_mask : parent_mask;
    watch->handle = inotify_add_watch(watch->notices, path, mask); /* -1: the poll must do */
}

/* Watches the folder or its nearest parent. Looks again after each change of place, since the next
 * part may have been made just before the watch was set. Returns a descriptor of the folder, or
 * -1. */
static int settle(Watch *watch)
{
    for (int i = 0; i < SETTLE_TRIES; i++) {
        const char *rest;
        struct stat info;
        int fd = watch_open_near(watch->root, watch->below, &rest, NULL);
        if (fd < 0 || fstat(fd, &info) != 0) {
            if (fd >= 0)
                (void)close(fd); /* a folder handle */
            forget(watch);
            return -1;
        }
        bool is_same =
            watch->inode == info.st_ino && watch->device == info.st_dev && watch->rest == rest;
        if (!is_same)
            remember(watch, fd, &info, rest);
        if (is_same && watch->is_there)
            return fd;
        (void)close(fd); /* a folder handle */
        if (is_same)
            return -1;
    }
    return -1; /* it changes all the time; the poll comes back */
}

/* ---- what changed ---- */

static Mark mark_of(int folder, const char *name)
{
    struct stat info;
    if (folder < 0 || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return (Mark){0};
    return (Mark){.is_there = true,
                  .mode = info.st_mode & S_IFMT,
                  .inode = info.st_ino,
                  .size = info.st_size,
                  .modified = info.st_mtim,
                  .changed = info.st_ctim};
}

static bool time_equal(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool mark_equal(const Mark *a, const Mark *b)
{
    return a->is_there == b->is_there && a->mode == b->mode && a->inode == b->inode &&
           a->size == b->size && time_equal(a->modified, b->modified) &&
           time_equal(a->changed, b->changed);
}

static void look(Watch *watch)
{
    int folder = settle(watch);
    for (size_t i = 0; i < watch->name_count; i++) {
        Mark now = mark_of(folder, watch->names[i]);
        if (!mark_equal(&now, &watch->marks[i]))
            watch->is_dirty[i] = true;
        watch->marks[i] = now;
    }
    if (folder >= 0)
        (void)close(folder); /* a folder handle */
}

static bool is_any_dirty(const Watch *watch)
{
    for (size_t i = 0; i < watch->name_count; i++)
        if (watch->is_dirty[i])
            return true;
    return false;
}

/* Moves with each change, so that a burst is told once; but not for ever. */
static void rest_set(Watch *watch)
{
    if (!is_any_dirty(watch))
        return;
    int64_t now = clock_mono_ms();
    if (!watch->first_ms)
        watch->first_ms = now;
    int64_t latest = watch->first_ms + watch->debounce_ms * STREAM_RESTS;
    loop_timer_set(watch->loop, &watch->rest_timer, MIN(now + watch->debounce_ms, latest));
}

static void on_rest(void *user)
{
    Watch *watch = user;
    bool is_gone = false;
    look(watch); /* the marks are those of before the reader reads: later changes are seen */
    watch->first_ms = 0;
    watch->is_gone = &is_gone;
    for (size_t i = 0; i < watch->name_count; i++) {
        if (!watch->is_dirty[i])
            continue;
        watch->is_dirty[i] = false;
        watch->fn(watch->user, watch->names[i]);
        if (is_gone)
            return;
    }
    watch->is_gone = NULL;
}

static void on_poll(void *user)
{
    Watch *watch = user;
    look(watch);
    rest_set(watch);
    loop_timer_set(watch->loop, &watch->poll_timer, clock_mono_ms() + watch->poll_ms);
}

/* ---- notices ---- */

static void name_is_dirty(Watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->name_count; i++)
        if (strcmp(watch->names[i], name) == 0)
            watch->is_dirty[i] = true;
}

static bool is_next_part(const Watch *watch, const char *name)
{
    size_t length = strlen(name);
    return strncmp(watch->rest, name, length) == 0 &&
           (watch->rest[length] == '/' || watch->rest[length] == '\0');
}

/* True: the folder must be looked for anew. */
static bool notice_take(Watch *watch, const struct inotify_event *event)
{
    bool is_lost = event->mask & lost_mask;
    if (event->wd != watch->handle && !(event->mask & IN_Q_OVERFLOW))
        return false; /* of a folder that was left */
    if (is_lost) {
        forget(watch); /* whatever was missed: begin again */
        return true;
    }
    if (!event->len)
        return false;
    if (watch->is_there)
        name_is_dirty(watch, event->name);
    return !watch->is_there && is_next_part(watch, event->name);
}

static void on_notices(void *user, uint32_t events)
{
    Watch *watch = user;
    _Alignas(struct inotify_event) char bytes[16384];
    bool is_lost = false;
    (void)events; /* one read per turn of the loop: others have their turn too */
    ssize_t length = read(watch->notices, bytes, sizeof bytes);
    for (ssize_t at = 0; at < length;) {
        const struct inotify_event *event = (const void *)(bytes + at);
        is_lost = notice_take(watch, event) || is_lost;
        at += (ssize_t)(sizeof *event + event->len);
    }
    if (is_lost)
        look(watch);
    rest_set(watch);
}

/* ---- life ---- */

static bool notices_open(Watch *watch, Err *err)
{
    watch->notices = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->notices < 0)
        return watch->poll_ms > 0 || err_errno(err, "no notices of files");
    return loop_watch(watch->loop, watch->notices, EPOLLIN, on_notices, watch, err);
}

static bool spec_is_valid(const WatchSpec *spec, Err *err)
{
    if (spec->name_count > WATCH_NAMES_MAX)
        return err_set(err, ERR_USAGE, "more than %d names", WATCH_NAMES_MAX);
    for (size_t i = 0; i < spec->name_count; i++)
        if (!*spec->names[i] || strchr(spec->names[i], '/'))
            return err_set(err, ERR_USAGE, "'%s' is not a plain file name", spec->names[i]);
    const char *rest;
    int fd = watch_open_near(spec->root, "", &rest, err);
    if (fd >= 0)
        (void)close(fd); /* a folder handle */
    return fd >= 0;
}

Watch *watch_start(Loop *loop, const WatchSpec *spec, WatchFn *fn, void *user, Err *err)
{
    if (!spec_is_valid(spec, err))
        return NULL;
    Watch *watch = mem_alloc(sizeof *watch);
    *watch = (Watch){.loop = loop,
                     .fn = fn,
                     .user = user,
                     .root = mem_strdup(spec->root),
                     .below = mem_strdup(spec->below),
                     .name_count = spec->name_count,
                     .poll_ms = spec->poll_ms,
                     .debounce_ms = spec->debounce_ms,
                     .notices = -1,
                     .handle = -1,
                     .poll_timer = {.fn = on_poll, .user = watch},
                     .rest_timer = {.fn = on_rest, .user = watch}};
    watch->rest = watch->below;
    for (size_t i = 0; i < spec->name_count; i++)
        watch->names[i] = mem_strdup(spec->names[i]);
    if (!notices_open(watch, err)) {
        watch_free(watch);
        return NULL;
    }
    watch_rescan(watch);
    if (watch->poll_ms > 0)
        loop_timer_set(loop, &watch->poll_timer, clock_mono_ms() + watch->poll_ms);
    return watch;
}

void watch_rescan(Watch *watch)
{
    look(watch);
    rest_set(watch);
}

bool watch_is_there(const Watch *watch)
{
    return watch->is_there;
}

bool watch_has_notices(const Watch *watch)
{
    return watch->handle >= 0;
}

void watch_free(Watch *watch)
{
    if (!watch)
        return;
    if (watch->is_gone)
        *watch->is_gone = true;
    loop_timer_clear(watch->loop, &watch->poll_timer);
    loop_timer_clear(watch->loop, &watch->rest_timer);
    if (watch->notices >= 0) {
        loop_unwatch(watch->loop, watch->notices);
        (void)close(watch->notices); /* only read from */
    }
    for (size_t i = 0; i < watch->name_count; i++)
        free(watch->names[i]);
    free(watch->root);
    free(watch->below);
    free(watch);
}
