/* Refinements: see refine.h. */
#include "core/refine.h"
#include "base/macros.h"
#include <string.h>

static const RefineRow rows[] = {
#define X(impact, word, follows, why) [impact] = {impact, word, follows, why},
    REFINE_IMPACTS(X)
#undef X
};

const RefineRow *refine_row(Impact impact)
{
    return &rows[impact];
}

bool refine_find(const char *word, Impact *impact)
{
    for (size_t i = 0; word && i < COUNT(rows); i++) {
        if (strcmp(rows[i].word, word) == 0) {
            *impact = rows[i].impact;
            return true;
        }
    }
    return false;
}

Impact refine_impact(const uint32_t *weights, size_t count, bool is_objective)
{
    uint32_t heaviest = 0;
    for (size_t i = 0; i < count; i++)
        heaviest = MAX(heaviest, weights[i]);
    if (is_objective)
        return IMPACT_MAJOR;
    return (Impact)MIN(heaviest, (uint32_t)IMPACT_MAJOR); /* the weights rise with the impact */
}
