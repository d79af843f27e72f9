/* The order of the merge queue: see mergeplan.h. */
#include "core/mergeplan.h"
#include "base/str.h"
#include <stdlib.h>

static const char *const words[MERGE_STATE_COUNT] = {
#define X(state, word, help) [state] = word,
    MERGE_STATES(X)
#undef X
};

const char *merge_state_word(MergeState state)
{
    return words[state];
}

bool merge_state_find(const char *word, MergeState *state)
{
    for (unsigned i = 0; i < MERGE_STATE_COUNT; i++) {
        if (text_equal(words[i], word)) {
            *state = (MergeState)i;
            return true;
        }
    }
    return false;
}

static int by(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int mergeplan_compare(const MergeEntry *a, const MergeEntry *b)
{
    int order = by(a->state, b->state);
    if (order == 0)
        order = by(a->unmerged_deps, b->unmerged_deps);
    if (order == 0)
        order = by(b->priority, a->priority);
    if (order == 0)
        order = by(a->completed_ms, b->completed_ms);
    if (order == 0)
        order = by(b->age_ms, a->age_ms);
    return order ? order : by(a->rank, b->rank);
}

static int by_plan(const void *a, const void *b, void *entries)
{
    const MergeEntry *e = entries;
    return mergeplan_compare(&e[*(const uint32_t *)a], &e[*(const uint32_t *)b]);
}

size_t mergeplan_order(const MergeEntry *entries, size_t count, uint32_t *order)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].state != MERGE_MERGED)
            order[used++] = (uint32_t)i;
    }
    if (used)
        qsort_r(order, used, sizeof *order, by_plan, (void *)(uintptr_t)entries);
    return used;
}

size_t mergeplan_free(const MergeEntry *entries, size_t count, size_t window)
{
    size_t merging = 0;
    for (size_t i = 0; i < count; i++)
        merging += entries[i].state == MERGE_MERGING;
    return merging < window ? window - merging : 0;
}
