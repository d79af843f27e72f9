/* The dependency graph: who waits for whom, in memory, by small numbers.
 *
 * Nodes are numbers from 1 (task ids). An edge says that `to` waits until `from` has reached a
 * level; a node's level rises as its task goes on. A node is free when no edge holds it. Edges lie
 * in one array, linked per node: no allocation per edge. graph_pack() sorts them after a load, so
 * that the edges of a node lie together. Pure; memory only. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Graph Graph;

enum { GRAPH_LEVEL_MAX = 3, GRAPH_NODE_MAX = (1 << 30) - 1 };

/* Nodes in a buffer of the graph; valid until the next call that returns one. */
typedef struct GraphNodes {
    const uint32_t *items;
    size_t count;
} GraphNodes;

Graph *graph_new(void);
void graph_free(Graph *graph);
void graph_reserve(Graph *graph, uint32_t nodes, uint32_t edges); /* room ahead of a load */
uint32_t graph_node_count(const Graph *graph);                    /* highest node */
uint32_t graph_edge_count(const Graph *graph);
void graph_add_node(Graph *graph, uint32_t node); /* adding an edge does it too */

typedef enum GraphAdd {
    GRAPH_ADDED,
    GRAPH_SAME,  /* the edge is there already (its level is now the higher one) */
    GRAPH_SELF,  /* refused: SELF_DEPENDENCY (D-214) */
    GRAPH_CYCLE, /* refused: CIRCULAR_DEPENDENCY; the members are in order of waiting */
} GraphAdd;

/* `to` waits until `from` reaches need (1 to GRAPH_LEVEL_MAX). cycle may be NULL; on GRAPH_CYCLE it
 * starts with `to`, and each member is waited for by the next. */
GraphAdd graph_add_edge(Graph *graph, uint32_t from, uint32_t to, unsigned need,
                        GraphNodes *cycle) NODISCARD;
/* For loads: no search for a cycle or for the same edge; see graph_components. */
void graph_load_edge(Graph *graph, uint32_t from, uint32_t to, unsigned need);
bool graph_remove_edge(Graph *graph, uint32_t from, uint32_t to); /* false: was not there */
void graph_pack(Graph *graph);

/* Sets the level (0 to GRAPH_LEVEL_MAX), up or down; returns the nodes that became free. */
GraphNodes graph_set_level(Graph *graph, uint32_t node, unsigned level);
unsigned graph_level(const Graph *graph, uint32_t node);
uint32_t graph_open_count(const Graph *graph, uint32_t node); /* edges that hold it */
uint32_t graph_dependents(const Graph *graph, uint32_t node); /* edges that lead away from it */

/* Walks the edges that lead away: `edge` 0 starts, 0 returned ends. */
uint32_t graph_next(const Graph *graph, uint32_t node, uint32_t edge, uint32_t *to, unsigned *need);

/* Groups of nodes that wait for each other (more than one member), for a load: CIRCULAR_DEPENDENCY_
 * EXISTING. Calls `found` for each group, members ascending; groups ascending by first member. */
typedef void GraphGroup(void *context, GraphNodes members);
void graph_components(Graph *graph, GraphGroup *found, void *context);

/* Who cannot start because of the failed ones: `because` is the lowest failed node on a way. Only
 * nodes below the highest level are skipped; a failed node is not, nor what lies behind a finished
 * one. failed must be ascending. Calls `skip` once for each, in no fixed order. */
typedef void GraphSkip(void *context, uint32_t node, uint32_t because);
void graph_skip(Graph *graph, const uint32_t *failed, size_t count, GraphSkip *skip, void *context);
