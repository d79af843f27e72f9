/* Guards: what must hold besides the result, by name. One row each; a new workflow picks from the
 * list and needs no code. */
#include "core/workflow.h"
#include <string.h>

typedef enum GuardKind { GUARD_LEFT, GUARD_SPENT, GUARD_FLAG, GUARD_NO_FLAG } GuardKind;

typedef struct Guard {
    const char *name;
    GuardKind kind;
    const char *counter; /* "=": the counter named like the checkpoint */
    RouteFlag flag;
} Guard;

/* clang-format off */
static const Guard guards[] = {
  { "turns-left",         GUARD_LEFT,    "turns",         0 },
  { "turns-spent",        GUARD_SPENT,   "turns",         0 },
  { "time-left",          GUARD_LEFT,    "time-ms",       0 },
  { "time-spent",         GUARD_SPENT,   "time-ms",       0 },
  { "retries-left",       GUARD_LEFT,    "retries",       0 },
  { "conflict-left",      GUARD_LEFT,    "conflict",      0 },
  { "merged-verify-left", GUARD_LEFT,    "merged-verify", 0 },
  { "moved-left",         GUARD_LEFT,    "moved",         0 },
  { "checkpoint-left",    GUARD_LEFT,    "=",             0 },
  { "checkpoint-spent",   GUARD_SPENT,   "=",             0 },
  { "target-filled",      GUARD_FLAG,    NULL,            FLAG_TARGET_FILLED },
  { "target-empty",       GUARD_NO_FLAG, NULL,            FLAG_TARGET_FILLED },
  { "rolled-back",        GUARD_FLAG,    NULL,            FLAG_ROLLED_BACK },
  { "not-rolled-back",    GUARD_NO_FLAG, NULL,            FLAG_ROLLED_BACK },
  { "review-wanted",      GUARD_FLAG,    NULL,            FLAG_REVIEW },
  { "accepted",           GUARD_FLAG,    NULL,            FLAG_ACCEPTED },
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

bool guard_is_known(const char *guard)
{
    return *guard == '\0' || guard_find(guard) != NULL;
}

const char *guard_limit(const char *guard)
{
    const Guard *row = guard_find(guard);
    return row ? row->counter : NULL;
}

static bool counter_left(const Workflow *workflow, const char *counter, const RouteInput *input)
{
    if (strcmp(counter, "=") == 0)
        counter = input->checkpoint ? input->checkpoint : WF_NONE;
    const WorkflowLimit *row = workflow_limit(workflow, counter);
    int64_t used = row && row->is_retry ? input->retries : 0, limit = -1;
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

bool guard_holds(const Workflow *workflow, const char *guard, const RouteInput *input)
{
    if (*guard == '\0')
        return true;
    const Guard *row = guard_find(guard);
    if (!row)
        return false;
    switch (row->kind) {
    case GUARD_LEFT:
        return counter_left(workflow, row->counter, input);
    case GUARD_SPENT:
        return !counter_left(workflow, row->counter, input);
    case GUARD_FLAG:
        return (input->flags & (1U << row->flag)) != 0;
    case GUARD_NO_FLAG:
        return (input->flags & (1U << row->flag)) == 0;
    }
    return false;
}
