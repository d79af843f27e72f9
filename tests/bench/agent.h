/* What the agent of the benchmark writes. */
#pragma once
#include <stdint.h>

enum { TREE_PROCESSES = 4 }; /* of one agent started with "tree" */

typedef struct AgentStamp {
    int64_t began_ns, ended_ns; /* monotonic */
} AgentStamp;
