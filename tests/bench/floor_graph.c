/* The floor of releasing tasks: see floor_graph.h. */
#include "tests/bench/floor_graph.h"
#include "base/arena.h"
#include "tests/bench/floor_sql.h"
#include <stdbool.h>
#include <stdlib.h>

typedef struct Item {
    int32_t score;
    uint32_t task;
} Item;

struct GraphFloor {
    uint32_t tasks, heap_count;
    unsigned edges;
    uint32_t *first, *to, *open; /* dependents of t: to[first[t]] to to[first[t + 1] - 1] */
    Item *heap;
};

int32_t score_of(uint32_t task)
{
    return (int32_t)(task * 2654435761u >> 24);
}

static void build(GraphFloor *floor)
{
    uint32_t tasks = floor->tasks;
    for (uint32_t t = 1; t <= tasks; t++)
        for (unsigned e = 0; e < floor->edges; e++)
            if (edge_of(t, e))
                floor->first[edge_of(t, e) + 1]++;
    for (uint32_t t = 1; t <= tasks + 1; t++)
        floor->first[t] += floor->first[t - 1];
    uint32_t *at = mem_grow(NULL, tasks + 2, sizeof *at);
    for (uint32_t t = 0; t <= tasks + 1; t++)
        at[t] = floor->first[t];
    for (uint32_t t = 1; t <= tasks; t++)
        for (unsigned e = 0; e < floor->edges; e++)
            if (edge_of(t, e))
                floor->to[at[edge_of(t, e)]++] = t;
    free(at);
}

GraphFloor *graph_floor_new(uint32_t tasks, unsigned edges)
{
    GraphFloor *floor = mem_alloc(sizeof *floor);
    floor->tasks = tasks;
    floor->edges = edges;
    floor->first = mem_alloc(((size_t)tasks + 3) * sizeof *floor->first);
    floor->to = mem_alloc(((size_t)tasks * edges + 1) * sizeof *floor->to);
    floor->open = mem_alloc(((size_t)tasks + 1) * sizeof *floor->open);
    floor->heap = mem_alloc(((size_t)tasks + 1) * sizeof *floor->heap);
    build(floor);
    return floor;
}

static bool is_better(Item a, Item b)
{
    return a.score != b.score ? a.score > b.score : a.task < b.task;
}

static void push(GraphFloor *floor, uint32_t task)
{
    Item item = {score_of(task), task};
    uint32_t at = floor->heap_count++;
    while (at && is_better(item, floor->heap[(at - 1) / 4])) {
        floor->heap[at] = floor->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    floor->heap[at] = item;
}

static uint32_t pop(GraphFloor *floor)
{
    uint32_t best = floor->heap[0].task, at = 0;
    Item item = floor->heap[--floor->heap_count];
    for (;;) {
        uint32_t child = at * 4 + 1, end = child + 4, least = child;
        if (child >= floor->heap_count)
            break;
        for (uint32_t i = child + 1; i < end && i < floor->heap_count; i++)
            if (is_better(floor->heap[i], floor->heap[least]))
                least = i;
        if (!is_better(floor->heap[least], item))
            break;
        floor->heap[at] = floor->heap[least];
        at = least;
    }
    floor->heap[at] = item;
    return best;
}

void graph_floor_reset(GraphFloor *floor)
{
    floor->heap_count = 0;
    for (uint32_t t = 1; t <= floor->tasks; t++) {
        floor->open[t] = 0;
        for (unsigned e = 0; e < floor->edges; e++)
            floor->open[t] += edge_of(t, e) != 0;
        if (!floor->open[t])
            push(floor, t);
    }
}

uint32_t graph_floor_release(GraphFloor *floor)
{
    uint32_t released = 0;
    while (floor->heap_count) {
        uint32_t task = pop(floor);
        released++;
        for (uint32_t i = floor->first[task]; i < floor->first[task + 1]; i++)
            if (--floor->open[floor->to[i]] == 0)
                push(floor, floor->to[i]);
    }
    return released;
}

void graph_floor_free(GraphFloor *floor)
{
    free(floor->first);
    free(floor->to);
    free(floor->open);
    free(floor->heap);
    free(floor);
}
