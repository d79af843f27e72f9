/* Searches over the dependency graph: cycles, components, skips. None recurses. */
#include "base/arena.h"
#include "core/graph_inside.h"
#include <stdlib.h>
#include <string.h>

/* A new stamp: every node counts as unvisited. */
static uint32_t stamp_new(Graph *graph)
{
    uint32_t size = graph->node_count + 1;
    if (size > graph->mark_size) {
        graph->marks = mem_grow(graph->marks, size, sizeof *graph->marks);
        memset(graph->marks + graph->mark_size, 0,
               (size_t)(size - graph->mark_size) * sizeof *graph->marks);
        graph->mark_size = size;
    }
    if (++graph->stamp == 0) {
        memset(graph->marks, 0, (size_t)graph->mark_size * sizeof *graph->marks);
        graph->stamp = 1;
    }
    return graph->stamp;
}

/* Depth first; the buffer holds pairs: a node on the way, and the edge taken from it. */
bool graph_find_path(Graph *graph, uint32_t start, uint32_t goal, GraphNodes *path)
{
    if (start > graph->node_count || goal > graph->node_count || !graph->nodes[start].first)
        return false;
    uint32_t stamp = stamp_new(graph);
    graph->buffer_count = 0;
    graph_push(graph, start);
    graph_push(graph, graph->nodes[start].first);
    graph->marks[start] = stamp;
    while (graph->buffer_count) {
        uint32_t edge = graph->buffer[graph->buffer_count - 1];
        if (edge == 0) {
            graph->buffer_count -= 2;
            continue;
        }
        uint32_t to = graph->edges[edge].to;
        graph->buffer[graph->buffer_count - 1] = graph->edges[edge].next;
        if (graph->marks[to] == stamp)
            continue;
        graph->marks[to] = stamp;
        graph_push(graph, to);
        graph_push(graph, graph->nodes[to].first);
        if (to == goal)
            break;
    }
    if (graph->buffer_count && path) {
        for (size_t i = 0; i < graph->buffer_count; i += 2)
            graph->buffer[i / 2] = graph->buffer[i];
        *path = (GraphNodes){graph->buffer, graph->buffer_count / 2};
    }
    return graph->buffer_count > 0;
}

/* Tarjan's algorithm with its own stacks. */
typedef struct Components {
    Graph *graph;
    uint32_t *index, *low; /* per node; index 0: not visited; low UINT32_MAX: finished */
    uint32_t *stack, *path, *edge;
    uint32_t counter, stack_count, path_count;
    uint32_t *members, *starts; /* the groups found */
    uint32_t member_count, group_count;
} Components;

static void component_enter(Components *c, uint32_t node)
{
    c->index[node] = c->low[node] = ++c->counter;
    c->stack[c->stack_count++] = node;
    c->edge[c->path_count] = c->graph->nodes[node].first;
    c->path[c->path_count++] = node;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All edges of the node are seen: if it is the root of a group, the group is on the stack. */
static void component_leave(Components *c, uint32_t node)
{
    if (c->low[node] != c->index[node])
        return;
    uint32_t start = c->member_count, member;
    do {
        member = c->stack[--c->stack_count];
        c->low[member] = UINT32_MAX;
        c->members[c->member_count++] = member;
    } while (member != node);
    if (c->member_count - start == 1) {
        c->member_count = start;
        return;
    }
    qsort(c->members + start, c->member_count - start, sizeof *c->members, by_number);
    c->starts[c->group_count++] = start;
}

static void component_search(Components *c, uint32_t root)
{
    component_enter(c, root);
    while (c->path_count) {
        uint32_t node = c->path[c->path_count - 1], edge = c->edge[c->path_count - 1];
        if (edge == 0) {
            component_leave(c, node);
            c->path_count--;
            if (c->path_count && c->low[node] != UINT32_MAX) {
                uint32_t up = c->path[c->path_count - 1];
                c->low[up] = MIN(c->low[up], c->low[node]);
            }
            continue;
        }
        c->edge[c->path_count - 1] = c->graph->edges[edge].next;
        uint32_t to = c->graph->edges[edge].to;
        if (c->index[to] == 0)
            component_enter(c, to);
        else if (c->low[to] != UINT32_MAX)
            c->low[node] = MIN(c->low[node], c->index[to]);
    }
}

static int by_first(const void *a, const void *b, void *members)
{
    const uint32_t *m = members;
    return by_number(&m[*(const uint32_t *)a], &m[*(const uint32_t *)b]);
}

static void components_report(Components *c, GraphGroup *found, void *context)
{
    /* Where each group ends, before the starts are sorted by their lowest member. */
    uint32_t *ends = mem_alloc((size_t)(c->member_count + 1) * sizeof *ends);
    for (uint32_t i = 0; i < c->group_count; i++)
        ends[c->starts[i]] = i + 1 < c->group_count ? c->starts[i + 1] : c->member_count;
    qsort_r(c->starts, c->group_count, sizeof *c->starts, by_first, c->members);
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t start = c->starts[i];
        found(context, (GraphNodes){c->members + start, ends[start] - start});
    }
    free(ends);
}

void graph_components(Graph *graph, GraphGroup *found, void *context)
{
    size_t n = (size_t)graph->node_count + 1;
    uint32_t *room = mem_alloc(7 * n * sizeof *room);
    Components c = {.graph = graph,
                    .index = room,
                    .low = room + n,
                    .stack = room + 2 * n,
                    .path = room + 3 * n,
                    .edge = room + 4 * n,
                    .members = room + 5 * n,
                    .starts = room + 6 * n};
    for (uint32_t node = 1; node <= graph->node_count; node++) {
        if (c.index[node] == 0)
            component_search(&c, node);
    }
    components_report(&c, found, context);
    free(room);
}

void graph_skip(Graph *graph, const uint32_t *failed, size_t count, GraphSkip *skip, void *context)
{
    uint32_t stamp = stamp_new(graph);
    for (size_t i = 0; i < count; i++) {
        if (failed[i] <= graph->node_count)
            graph->marks[failed[i]] = stamp;
    }
    for (size_t i = 0; i < count; i++) {
        graph->buffer_count = 0;
        if (failed[i] <= graph->node_count)
            graph_push(graph, failed[i]);
        while (graph->buffer_count) {
            uint32_t node = graph->buffer[--graph->buffer_count];
            for (uint32_t e = graph->nodes[node].first; e; e = graph->edges[e].next) {
                uint32_t to = graph->edges[e].to;
                if (graph->marks[to] == stamp || graph->nodes[to].level == GRAPH_LEVEL_MAX ||
                    graph->nodes[node].level >= graph->edges[e].need)
                    continue; /* seen, finished, or not held by this one */
                graph->marks[to] = stamp;
                skip(context, to, failed[i]);
                graph_push(graph, to);
            }
        }
    }
}
