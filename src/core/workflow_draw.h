/* Shared by the files that show workflows only: rows gathered into ways. */
#pragma once
#include "base/arena.h"
#include "core/workflow.h"

/* Everything that leads from one phase to one place. */
typedef struct Way {
    const char *to;     /* phase, WF_STOP or WF_ROLLBACK */
    const char *state;  /* of a stop: state of the task; of a rollback: the status; else "" */
    const char *labels; /* "PASS at post-plan, (done)": results with their conditions */
} Way;

enum { WAYS_MAX = 80 };

/* The ways from a phase in the order of their rows. Accidents (see draw_is_accident) only if asked
 * for. Returns how many. */
unsigned draw_ways(const Workflow *flow, unsigned phase, bool with_accidents, Arena *arena,
                   Way ways[WAYS_MAX]);
/* Ends of a turn that say nothing about the work: killed, timeout, and so on. */
bool draw_is_accident(const char *result);
/* Statuses that begin with this phase, separated by ", "; "" none. */
const char *draw_entries(const Workflow *flow, const char *phase, Arena *arena);
