/* The dependency graph: see graph.h. Searches are in graph_search.c. */
#include "base/arena.h"
#include "core/graph_inside.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

Graph *graph_new(void)
{
    Graph *graph = mem_alloc(sizeof *graph);
    graph->edge_used = 1; /* edge 0 ends a list */
    return graph;
}

void graph_free(Graph *graph)
{
    if (!graph)
        return;
    free(graph->nodes);
    free(graph->edges);
    free(graph->buffer);
    free(graph->marks);
    free(graph);
}

static void nodes_grow(Graph *graph, uint32_t node)
{
    if (node < graph->node_size)
        return;
    uint32_t size = MAX(node + 1, graph->node_size + graph->node_size / 2);
    graph->nodes = mem_grow(graph->nodes, size, sizeof *graph->nodes);
    memset(graph->nodes + graph->node_size, 0,
           (size_t)(size - graph->node_size) * sizeof *graph->nodes);
    graph->node_size = size;
}

static void edges_grow(Graph *graph, uint32_t size)
{
    if (size <= graph->edge_size)
        return;
    graph->edge_size = MAX(size, graph->edge_size + graph->edge_size / 2);
    graph->edges = mem_grow(graph->edges, graph->edge_size, sizeof *graph->edges);
}

void graph_reserve(Graph *graph, uint32_t nodes, uint32_t edges)
{
    nodes_grow(graph, nodes);
    edges_grow(graph, edges + 1);
}

uint32_t graph_node_count(const Graph *graph)
{
    return graph->node_count;
}

uint32_t graph_edge_count(const Graph *graph)
{
    return graph->edge_count;
}

void graph_add_node(Graph *graph, uint32_t node)
{
    assert(node != 0 && node <= GRAPH_NODE_MAX);
    nodes_grow(graph, node);
    graph->node_count = MAX(graph->node_count, node);
}

void graph_push(Graph *graph, uint32_t node)
{
    if (graph->buffer_count == graph->buffer_size) {
        graph->buffer_size = graph->buffer_size ? graph->buffer_size * 2 : 64;
        graph->buffer = mem_grow(graph->buffer, graph->buffer_size, sizeof *graph->buffer);
    }
    graph->buffer[graph->buffer_count++] = node;
}

static uint32_t edge_new(Graph *graph)
{
    uint32_t edge = graph->edge_free;
    if (edge) {
        graph->edge_free = graph->edges[edge].next;
        return edge;
    }
    edges_grow(graph, graph->edge_used + 1);
    return graph->edge_used++;
}

void graph_load_edge(Graph *graph, uint32_t from, uint32_t to, unsigned need)
{
    assert(need >= 1 && need <= GRAPH_LEVEL_MAX);
    graph_add_node(graph, from);
    graph_add_node(graph, to);
    uint32_t edge = edge_new(graph);
    GraphNode *source = &graph->nodes[from];
    graph->edges[edge] = (GraphEdge){.to = to, .need = need, .next = source->first};
    source->first = edge;
    source->dependents++;
    graph->edge_count++;
    if (source->level < need)
        graph->nodes[to].open++;
}

/* The edge, and in `link` the place that points to it. 0: there is none. */
static uint32_t edge_find(Graph *graph, uint32_t from, uint32_t to, uint32_t **link)
{
    if (from > graph->node_count || to > graph->node_count)
        return 0;
    uint32_t *at = &graph->nodes[from].first;
    while (*at && graph->edges[*at].to != to)
        at = &graph->edges[*at].next;
    *link = at;
    return *at;
}

GraphAdd graph_add_edge(Graph *graph, uint32_t from, uint32_t to, unsigned need, GraphNodes *cycle)
{
    uint32_t *link;
    if (from == to)
        return GRAPH_SELF;
    uint32_t edge = edge_find(graph, from, to, &link);
    if (edge) {
        unsigned old = graph->edges[edge].need, level = graph->nodes[from].level;
        if (need > old) {
            graph->edges[edge].need = need;
            graph->nodes[to].open += level >= old && level < need;
        }
        return GRAPH_SAME;
    }
    if (graph_find_path(graph, to, from, cycle))
        return GRAPH_CYCLE;
    graph_load_edge(graph, from, to, need);
    return GRAPH_ADDED;
}

bool graph_remove_edge(Graph *graph, uint32_t from, uint32_t to)
{
    uint32_t *link;
    uint32_t edge = edge_find(graph, from, to, &link);
    if (!edge)
        return false;
    if (graph->nodes[from].level < graph->edges[edge].need)
        graph->nodes[to].open--;
    *link = graph->edges[edge].next;
    graph->edges[edge].next = graph->edge_free;
    graph->edge_free = edge;
    graph->nodes[from].dependents--;
    graph->edge_count--;
    return true;
}

void graph_pack(Graph *graph)
{
    GraphEdge *packed = mem_alloc((size_t)(graph->edge_count + 1) * sizeof *packed);
    uint32_t used = 1;
    for (uint32_t node = 1; node <= graph->node_count; node++) {
        uint32_t edge = graph->nodes[node].first;
        graph->nodes[node].first = edge ? used : 0;
        for (; edge; edge = graph->edges[edge].next) {
            packed[used] = graph->edges[edge];
            packed[used].next = graph->edges[edge].next ? used + 1 : 0;
            used++;
        }
    }
    free(graph->edges);
    graph->edges = packed;
    graph->edge_size = graph->edge_used = used;
    graph->edge_free = 0;
}

GraphNodes graph_set_level(Graph *graph, uint32_t node, unsigned level)
{
    GraphNode *source = &graph->nodes[node];
    unsigned old = source->level;
    assert(node <= graph->node_count && level <= GRAPH_LEVEL_MAX);
    graph->buffer_count = 0;
    source->level = level;
    for (uint32_t e = old == level ? 0 : source->first; e; e = graph->edges[e].next) {
        unsigned need = graph->edges[e].need;
        uint32_t to = graph->edges[e].to;
        if (old < need && level >= need) {
            if (--graph->nodes[to].open == 0)
                graph_push(graph, to);
        } else if (old >= need && level < need) {
            graph->nodes[to].open++;
        }
    }
    return (GraphNodes){graph->buffer, graph->buffer_count};
}

unsigned graph_level(const Graph *graph, uint32_t node)
{
    return node <= graph->node_count ? graph->nodes[node].level : 0;
}

uint32_t graph_open_count(const Graph *graph, uint32_t node)
{
    return node <= graph->node_count ? graph->nodes[node].open : 0;
}

uint32_t graph_dependents(const Graph *graph, uint32_t node)
{
    return node <= graph->node_count ? graph->nodes[node].dependents : 0;
}

uint32_t graph_next(const Graph *graph, uint32_t node, uint32_t edge, uint32_t *to, unsigned *need)
{
    if (node > graph->node_count)
        return 0;
    edge = edge ? graph->edges[edge].next : graph->nodes[node].first;
    if (edge) {
        *to = graph->edges[edge].to;
        *need = graph->edges[edge].need;
    }
    return edge;
}
