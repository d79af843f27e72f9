/* Watching a few named files in one folder, as they come, change and go.
 *
 * inotify tells quickly; a slow poll is the net below it, since notices get lost: renames of parent
 * folders, a full queue, file systems without notices (defect 18). The folder may be made later, be
 * removed and made again: the nearest existing parent is watched meanwhile. A burst of changes is
 * told once, after a short rest; whether a file is complete is for its reader to find out.
 *
 * The folder lies in a place that others write: below the root no link is followed, neither as a
 * folder nor as a file. Touches one inotify descriptor and two timers; after watch_free nothing is
 * left, and nothing is polled. Without a free inotify instance the poll does all the work. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "proc/loop.h"

typedef struct Watch Watch; /* made by watch_start, freed by watch_free */

enum { WATCH_NAMES_MAX = 8 };

typedef struct WatchSpec {
    const char *root;         /* trusted, must exist at the start */
    const char *below;        /* the folder, relative to root; "": root itself */
    const char *const *names; /* plain file names, at most WATCH_NAMES_MAX */
    size_t name_count;
    int64_t poll_ms;     /* 0: no poll (tests) */
    int64_t debounce_ms; /* rest after a change; a steady stream is told every ten of these */
} WatchSpec;

/* A file came, changed or went. May call watch_free. */
typedef void WatchFn(void *user, const char *name);

/* Files that are there at the start are reported once, from the loop. All texts are copied. */
Watch *watch_start(Loop *loop, const WatchSpec *spec, WatchFn *fn, void *user, Err *err) NODISCARD;
void watch_free(Watch *watch);              /* NULL is fine */
void watch_rescan(Watch *watch);            /* looks now; changes are reported from the loop */
bool watch_is_there(const Watch *watch);    /* the folder exists, as of the last look */
bool watch_has_notices(const Watch *watch); /* false: only the poll works */

/* The folder as a descriptor, no link followed below root; -1: see err (ERR_NOT_FOUND when it is
 * not there, ERR_REFUSED for a link). make: missing ones are made (0755). */
int watch_open(const char *root, const char *below, bool make, Err *err) NODISCARD;
/* As far as it exists: what is missing goes to *rest ("": nothing; borrowed from below). A link
 * counts as missing. -1: not even root. */
int watch_open_near(const char *root, const char *below, const char **rest, Err *err) NODISCARD;
/* A regular file of the folder, not through a link; ERR_NOT_FOUND, ERR_REFUSED, ERR_TOO_BIG. Bytes
 * are put into out, which is emptied before. */
bool watch_read(const char *folder, const char *name, size_t limit, Str *out, Err *err) NODISCARD;
bool watch_read_at(int folder, const char *name, size_t limit, Str *out, Err *err) NODISCARD;
/* Beside, synced, renamed; a planted link is replaced, not followed. */
bool watch_write_at(int folder, const char *name, const char *text, Err *err) NODISCARD;
