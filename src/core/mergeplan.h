/* The order of the merge queue (D-236 to D-246).
 *
 * Keys, first to last: state (merging, ready, waiting, conflict), fewer unmerged dependencies,
 * higher priority number (D-238's boosts: more is sooner), oldest completion, longest age, lowest
 * id. A conflict waits for its own solution and holds up nobody (D-243), so it comes last. What is
 * merged is no longer in the queue. Pure. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the queue. */
#define MERGE_STATES(X)                                                                            \
    X(MERGE_MERGING, "merging", "is being merged now")                                             \
    X(MERGE_READY, "ready", "nothing it depends on is unmerged")                                   \
    X(MERGE_WAITING, "waiting", "a dependency is not merged yet (D-239)")                          \
    X(MERGE_CONFLICT, "conflict", "needs its conflict solved first (D-243)")                       \
    X(MERGE_MERGED, "merged", "has left the queue")

typedef enum MergeState {
#define X(state, word, help) state,
    MERGE_STATES(X)
#undef X
        MERGE_STATE_COUNT
} MergeState;

typedef struct MergeEntry {
    MergeState state;
    int64_t unmerged_deps;
    int64_t priority; /* higher goes first; 0 plain */
    int64_t completed_ms, age_ms;
    uint32_t rank; /* order of the ids: the last key */
} MergeEntry;

/* Less than 0: a goes before b. */
int mergeplan_compare(const MergeEntry *a, const MergeEntry *b);
/* Fills order (room for count) with the indexes of the entries that are not merged, first to merge
 * first; returns how many. */
size_t mergeplan_order(const MergeEntry *entries, size_t count, uint32_t *order);
/* How many may start now: window less those that are merging; never negative. */
size_t mergeplan_free(const MergeEntry *entries, size_t count, size_t window);
const char *merge_state_word(MergeState state);
bool merge_state_find(const char *word, MergeState *state);
