/* Workflows that may be used in a repository: the built-in ones and the user's files.
 *
 * Files are read from three folders, in this order; a later one with the same name takes the place
 * of an earlier one, and each may take the place of a built-in one:
 *   $XDG_CONFIG_HOME/otto/workflows/ (or ~/.config/otto/workflows/), for all repositories
 *   workflows/ of the repository; a file there with neither `phases` nor `extends` is
 *     somebody else's and left alone
 *   .otto/workflows/ of the repository
 * Touches these folders only, and only reads. A file that is wrong is a problem with its place, not
 * a failure: the others can be used. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "core/workflow.h"

enum { WORKFLOW_FILES_MAX = 200, WORKFLOW_PROBLEMS_MAX = 200 };

typedef struct WorkflowItem {
    const char *name;
    const char *path;         /* of its file; "" built in */
    const Workflow *workflow; /* in the set's arena, or built in */
    const char *definition;   /* JSON, compact; "" built in */
    bool is_override;         /* a built-in one has the same name */
} WorkflowItem;

typedef struct WorkflowProblem {
    const char *path;
    int line; /* 0: not known */
    const char *text;
} WorkflowProblem;

typedef struct WorkflowSet {
    WorkflowItem *items; /* by name once: the one that counts; built-in ones first */
    size_t count;
    WorkflowProblem *problems; /* in order of files and lines */
    size_t problem_count;
    const char *repo; /* whose own prompts count; NULL none */
    Arena arena;      /* owns all of it */
} WorkflowSet;

/* repo: root of the repository, NULL none. false: nothing could be read (err). The set must be
 * given back with workflows_done in both cases. */
bool workflows_load(const char *repo, WorkflowSet *set, Err *err) NODISCARD;
/* Reads one file into a set that is empty or loaded: its item is added as if it stood in the last
 * folder, or its problems are. false: the file could not be opened. */
bool workflows_read_file(const char *path, WorkflowSet *set, Err *err) NODISCARD;
void workflows_done(WorkflowSet *set);
const WorkflowItem *workflows_find(const WorkflowSet *set, const char *name); /* or NULL */
