/* What a workspace's files hold beyond a commit: changed, deleted and untracked files.
 *
 * Works with the hub's git folder and an index of otto's own, so that nothing an agent planted in
 * its repository (filters, monitors, hooks, attributes drivers) is even read. Repositories inside
 * the tree and submodules are not entered. */
#pragma once
#include "git/cmd.h"

typedef struct Scan {
    Str changed; /* paths to take from the files, each ended by NUL */
    Str removed; /* paths that are gone, each ended by NUL */
    size_t changed_count, removed_count;
    size_t nested;  /* repositories inside the tree: their files are not taken */
    size_t skipped; /* unreadable or impossible names: not taken */
    int64_t untracked_bytes;
} Scan;
#define SCAN_INIT                                                                                  \
    {                                                                                              \
        STR_INIT, STR_INIT, 0, 0, 0, 0, 0                                                          \
    }

/* git: hub, tree and index are set. Over limit_bytes of untracked files is ERR_TOO_BIG. */
bool scan_run(const Git *git, int64_t limit_bytes, Scan *scan, Err *err) NODISCARD;
/* Brings the index up to the files; then writes its tree. */
bool scan_apply(const Git *git, Scan *scan, Oid *tree, Err *err) NODISCARD;
/* Is there any ignored file or folder? */
bool scan_has_ignored(const Git *git, bool *has_ignored, Err *err) NODISCARD;
void scan_done(Scan *scan);
