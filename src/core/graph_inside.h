/* The inside of a Graph, shared by graph.c and graph_search.c only. */
#pragma once
#include "core/graph.h"

typedef struct GraphNode {
    uint32_t first; /* edge that leads away from it; 0 none */
    uint32_t open;  /* edges that hold it */
    uint32_t dependents : 30, level : 2;
} GraphNode;

typedef struct GraphEdge {
    uint32_t to : 30, need : 2;
    uint32_t next; /* of the same source; 0 ends */
} GraphEdge;

struct Graph {
    GraphNode *nodes; /* by number; 0 unused */
    GraphEdge *edges; /* 0 unused */
    uint32_t node_count, node_size;
    uint32_t edge_count, edge_used, edge_size;
    uint32_t edge_free; /* list of removed edges */
    uint32_t *buffer;   /* nodes handed out, and the stack of searches */
    size_t buffer_count, buffer_size;
    uint32_t *marks; /* per node, for searches: the stamp of the last visit */
    uint32_t mark_size, stamp;
};

void graph_push(Graph *graph, uint32_t node); /* onto the buffer */
/* Is `goal` reached from `start`? path (may be NULL): the nodes on the way, both included. */
bool graph_find_path(Graph *graph, uint32_t start, uint32_t goal, GraphNodes *path);
