/* The user's own repository: looked at, never changed by anything in here. */
#pragma once
#include "git/job.h"
#include "git/oid.h"
#include <limits.h>

/* The folder that holds objects and references of the repository at root (its .git folder, what a
 * .git file points to, or the bare repository itself). */
bool repo_common_dir(const char *root, char out[PATH_MAX], Err *err) NODISCARD;

typedef struct RepoTree {
    char path[PATH_MAX];    /* folder with the files */
    char git_dir[PATH_MAX]; /* its own git folder: HEAD, index */
} RepoTree;
/* Finds the work trees (main and linked) that have refs/heads/target checked out, or are in the
 * middle of rebasing it. Returns how many, the first one in out. */
int repo_trees_on(const char *common_dir, const char *target, RepoTree *out);
/* The name of an operation that is going on in that tree ("merge", "rebase", ...), or NULL. */
const char *repo_busy_with(const char *git_dir);

/* inspect {path} -> {root, is_bare, is_empty, branch, is_detached, is_dirty, git_dir, format,
 * problem} problem is a sentence when the folder cannot be worked with. */
bool repo_inspect_job(const json_t *in, json_t *out, Err *err);
