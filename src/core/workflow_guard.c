/* Guards: what must hold besides the result, by name. One row each; a new workflow picks from the
 * list and needs no code. */
#include "core/workflow.h"
#include <string.h>

typedef enum GuardKind {
    GUARD_LEFT,
    GUARD_SPENT,
    GUARD_FLAG,
    GUARD_NO_FLAG,
    GUARD_FIRST_STAGE,
    GUARD_LATER_STAGE,
    GUARD_CONVERGED,
    GUARD_NOT_CONVERGED,
    GUARD_FELL,
} GuardKind;

typedef struct Guard {
    const char *name;
    GuardKind kind;
    const char *counter; /* "=": the counter named like the checkpoint */
    RouteFlag flag;
    const char *help;
} Guard;

enum { GUARD_SIZE = 48 };
#define CONVERGED 0.95 /* B-29 */
#define TOLERANCE 1e-9 /* sums of weights and quarters are not exact */

/* clang-format off */
static const Guard guards[] = {
  { "turns-left",         GUARD_LEFT,          "turns",         0, "turns are left" },
  { "turns-spent",        GUARD_SPENT,         "turns",         0, "every turn is used" },
  { "time-left",          GUARD_LEFT,          "time-ms",       0, "time is left" },
  { "time-spent",         GUARD_SPENT,         "time-ms",       0, "the time is used up" },
  { "retries-left",       GUARD_LEFT,          "retries",       0, "tries after accidents are left" },
  { "retries-spent",      GUARD_SPENT,         "retries",       0, "there were too many accidents" },
  { "steps-left",         GUARD_LEFT,          "steps",         0, "steps of the stage are left" },
  { "steps-spent",        GUARD_SPENT,         "steps",         0, "every step of the stage is used (A-198, B-277)" },
  { "stages-left",        GUARD_LEFT,          "stages",        0, "stages are left" },
  { "stages-spent",       GUARD_SPENT,         "stages",        0, "every stage is used" },
  { "conflict-left",      GUARD_LEFT,          "conflict",      0, "tries at merge conflicts are left" },
  { "conflict-spent",     GUARD_SPENT,         "conflict",      0, "merges conflicted too often" },
  { "merged-verify-left", GUARD_LEFT,          "merged-verify", 0, "tries at merged checks are left" },
  { "merged-verify-spent",GUARD_SPENT,         "merged-verify", 0, "merged checks failed too often" },
  { "moved-left",         GUARD_LEFT,          "moved",         0, "tries at a moving target branch are left" },
  { "moved-spent",        GUARD_SPENT,         "moved",         0, "the target branch moved too often" },
  { "checkpoint-left",    GUARD_LEFT,          "=",             0, "retries of this checkpoint are left" },
  { "checkpoint-spent",   GUARD_SPENT,         "=",             0, "every retry of this checkpoint is used" },
  { "target-filled",      GUARD_FLAG,          NULL,            FLAG_TARGET_FILLED, "the target holds real content" },
  { "target-empty",       GUARD_NO_FLAG,       NULL,            FLAG_TARGET_FILLED, "the target is empty" },
  { "rolled-back",        GUARD_FLAG,          NULL,            FLAG_ROLLED_BACK,   "a rollback was made before" },
  { "not-rolled-back",    GUARD_NO_FLAG,       NULL,            FLAG_ROLLED_BACK,   "no rollback was made yet" },
  { "review-wanted",      GUARD_FLAG,          NULL,            FLAG_REVIEW,        "a person must approve before the merge" },
  { "accepted",           GUARD_FLAG,          NULL,            FLAG_ACCEPTED,      "the last check accepted the work" },
  { "not-accepted",       GUARD_NO_FLAG,       NULL,            FLAG_ACCEPTED,      "no check accepted the work" },
  { "confirmed",          GUARD_FLAG,          NULL,            FLAG_CONFIRMED,     "the objective was confirmed" },
  { "not-confirmed",      GUARD_NO_FLAG,       NULL,            FLAG_CONFIRMED,     "the objective was not confirmed yet" },
  { "refined",            GUARD_FLAG,          NULL,            FLAG_REFINED,       "refinements wait to be applied" },
  { "first-stage",        GUARD_FIRST_STAGE,   NULL,            0, "it is in its first stage" },
  { "later-stage",        GUARD_LATER_STAGE,   NULL,            0, "a stage was accepted before" },
  { "converged",          GUARD_CONVERGED,     NULL,            0, "convergence is at least 0.95 (B-29)" },
  { "not-converged",      GUARD_NOT_CONVERGED, NULL,            0, "convergence is below 0.95 (B-30)" },
  { "convergence-fell",   GUARD_FELL,          NULL,            0, "convergence is below that of the last accepted stage (B-28)" },
};
/* clang-format on */

static const Guard *guard_find(const char *name)
{
    for (size_t i = 0; i < COUNT(guards); i++) {
        if (strcmp(guards[i].name, name) == 0)
            return &guards[i];
    }
    return NULL;
}

const char *guard_name(size_t i, const char **help)
{
    if (i >= COUNT(guards))
        return NULL;
    if (help)
        *help = guards[i].help;
    return guards[i].name;
}

/* Every word of the list is in the table. */
bool guard_is_known(const char *guard)
{
    char word[GUARD_SIZE];
    size_t length = 0;
    for (size_t i = 0; word_at(guard, i, word, sizeof word); i++) {
        if (!guard_find(word))
            return false;
        length += strlen(word) + (i > 0);
    }
    return length == strlen(guard); /* a double space or an endless word is not known */
}

const char *guard_limit(const char *guard)
{
    const Guard *row = guard_find(guard);
    return row ? row->counter : NULL;
}

bool guard_is_spent(const char *guard)
{
    const Guard *row = guard_find(guard);
    return row && row->kind == GUARD_SPENT;
}

static bool counter_left(const Workflow *workflow, const char *counter, const RouteInput *input)
{
    if (strcmp(counter, "=") == 0)
        counter = input->checkpoint ? input->checkpoint : WF_NONE;
    const WorkflowLimit *row = workflow_limit(workflow, counter);
    int64_t used = row && row->is_retry ? input->retries : 0, limit = -1;
    if (strcmp(counter, "stages") == 0)
        used = input->stage > 0 ? input->stage : 1;
    for (size_t i = 0; i < input->counter_count; i++) {
        if (strcmp(input->counters[i].name, counter) == 0) {
            used = input->counters[i].used;
            limit = input->counters[i].limit;
            break;
        }
    }
    if (limit < 0)
        limit = row ? row->fallback : INT64_MAX; /* no such limit: nothing to run out of */
    return used < limit;
}

static bool one_holds(const Workflow *workflow, const Guard *row, const RouteInput *input)
{
    double convergence = input->has_convergence ? input->convergence : 0; /* B-71 */
    switch (row->kind) {
    case GUARD_LEFT:
        return counter_left(workflow, row->counter, input);
    case GUARD_SPENT:
        return !counter_left(workflow, row->counter, input);
    case GUARD_FLAG:
        return (input->flags & (1U << row->flag)) != 0;
    case GUARD_NO_FLAG:
        return (input->flags & (1U << row->flag)) == 0;
    case GUARD_FIRST_STAGE:
        return input->stage <= 1;
    case GUARD_LATER_STAGE:
        return input->stage > 1;
    case GUARD_CONVERGED:
        return convergence >= CONVERGED - TOLERANCE;
    case GUARD_NOT_CONVERGED:
        return convergence < CONVERGED - TOLERANCE;
    case GUARD_FELL:
        return input->has_convergence && convergence < input->previous - TOLERANCE;
    }
    return false;
}

bool guard_holds(const Workflow *workflow, const char *guard, const RouteInput *input)
{
    char word[GUARD_SIZE];
    size_t length = 0;
    for (size_t i = 0; word_at(guard, i, word, sizeof word); i++) {
        const Guard *row = guard_find(word);
        if (!row || !one_holds(workflow, row, input))
            return false;
        length += strlen(word) + (i > 0);
    }
    return length == strlen(guard); /* what is not known does not hold */
}
