/* A merge computed in memory: git merge-tree, and what it said. Nothing is moved. */
#pragma once
#include "git/cmd.h"
#include "git/job.h"

typedef struct MergeTree {
    bool is_clean;
    bool is_unrelated; /* the two have no common history; then nothing else is set */
    Oid tree;          /* the merged tree (with conflict marks when not clean) */
    Oid ours, theirs;  /* the trees of the two commits */
    json_t *conflicts; /* [{path, kind}], at most MERGE_CONFLICT_LIMIT; NULL when clean */
    Str paths;         /* the conflicted paths as bytes, each ended by NUL */
    size_t conflict_count;
    Str summary;
} MergeTree;
#define MERGE_TREE_INIT                                                                            \
    {                                                                                              \
        .conflicts = NULL, .paths = STR_INIT, .summary = STR_INIT                                  \
    }
enum { MERGE_CONFLICT_LIMIT = 500 };

bool merge_tree_run(const Git *hub, const Oid *ours, const Oid *theirs, MergeTree *merge,
                    Err *err) NODISCARD;
/* "'a.c' (contents), 'b.c' (modify/delete) and 3 more" */
const char *merge_tree_summary(MergeTree *merge);
void merge_tree_done(MergeTree *merge);
