/* Refinements: what follows from the impact of a message that came while a task runs (B-105 to
 * B-115). Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    impact           word        follows           why */
#define REFINE_IMPACTS(X)                                                                          \
    X(IMPACT_NONE, "none", "append-steps",                                                         \
      "steps are added to the plan, the work goes on (B-111)")                                     \
    X(IMPACT_MINOR, "minor", "mark", "a detail of an optional R#: looked at at the end (B-112)")   \
    X(IMPACT_MODERATE, "moderate", "mid-exec-check", "an important R#: a check now (B-113)")       \
    X(IMPACT_MAJOR, "major", "replan", "a critical R# or the objective: a new plan (B-114)")

typedef enum Impact {
#define X(impact, word, follows, why) impact,
    REFINE_IMPACTS(X)
#undef X
        IMPACT_COUNT
} Impact;

typedef struct RefineRow {
    Impact impact;
    const char *word, *follows, *why;
} RefineRow;

const RefineRow *refine_row(Impact impact);
bool refine_find(const char *word, Impact *impact);
/* From the weights (B-69) of the R# that it touches, as the strongest; nothing touched: none. */
Impact refine_impact(const uint32_t *weights, size_t count, bool is_objective);
