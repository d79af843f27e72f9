/* Dependencies: the graph (graph.h) plus, per task, what it waits for. See deps.h. */
#include "core/deps.h"
#include "base/arena.h"
#include "core/graph.h"
#include <stdlib.h>
#include <string.h>

typedef struct Link {
    TaskId on;
    uint32_t next; /* 0 ends the list */
    Need need;
} Link;

struct Deps {
    Graph *graph;
    uint32_t *first; /* by task: its first link */
    uint32_t first_size;
    Link *links; /* link 0 is not used */
    uint32_t link_count, link_size, free_link;
};

Deps *deps_new(void)
{
    Deps *deps = mem_alloc(sizeof *deps);
    deps->graph = graph_new();
    deps->link_count = 1;
    deps_reserve(deps, 16, 16);
    return deps;
}

void deps_free(Deps *deps)
{
    if (!deps)
        return;
    graph_free(deps->graph);
    free(deps->first);
    free(deps->links);
    free(deps);
}

static void reserve_links(Deps *deps, uint32_t size)
{
    if (size <= deps->link_size)
        return;
    deps->links = mem_grow(deps->links, size, sizeof *deps->links);
    deps->link_size = size;
}

void deps_reserve(Deps *deps, uint32_t tasks, uint32_t edges)
{
    graph_reserve(deps->graph, tasks, edges);
    reserve_links(deps, edges + 1);
    if (tasks + 1 <= deps->first_size)
        return;
    deps->first = mem_grow(deps->first, tasks + 1, sizeof *deps->first);
    memset(deps->first + deps->first_size, 0, (tasks + 1 - deps->first_size) * sizeof *deps->first);
    deps->first_size = tasks + 1;
}

void deps_grow(Deps *deps, TaskId task)
{
    if (task >= deps->first_size)
        deps_reserve(deps, MAX(task, deps->first_size * 2), 0);
    graph_add_node(deps->graph, task);
}

static unsigned level_of(Need need)
{
    return (unsigned)need + 1;
}

static Link *link_find(const Deps *deps, TaskId task, TaskId on)
{
    for (uint32_t i = deps->first[task]; i; i = deps->links[i].next)
        if (deps->links[i].on == on)
            return &deps->links[i];
    return NULL;
}

static void link_add(Deps *deps, TaskId task, TaskId on, Need need)
{
    uint32_t index = deps->free_link;
    if (index)
        deps->free_link = deps->links[index].next;
    else if (deps->link_count == deps->link_size)
        reserve_links(deps, deps->link_size * 2);
    if (!index)
        index = deps->link_count++;
    deps->links[index] = (Link){on, deps->first[task], need};
    deps->first[task] = index;
}

static void link_drop(Deps *deps, TaskId task, TaskId on)
{
    for (uint32_t *at = &deps->first[task]; *at; at = &deps->links[*at].next)
        if (deps->links[*at].on == on) {
            uint32_t index = *at;
            *at = deps->links[index].next;
            deps->links[index].next = deps->free_link;
            deps->free_link = index;
            return;
        }
}

void deps_load(Deps *deps, TaskId task, TaskId on, Need need)
{
    deps_grow(deps, MAX(task, on));
    graph_load_edge(deps->graph, on, task, level_of(need));
    link_add(deps, task, on, need);
}

bool deps_add(Deps *deps, TaskId task, TaskId on, Need need, TaskId *cycle, uint32_t most,
              uint32_t *count)
{
    deps_grow(deps, MAX(task, on));
    if (link_find(deps, task, on))
        (void)deps_remove(deps, task, on); /* it was just found */
    GraphNodes members = {NULL, 0};
    if (task != on &&
        graph_add_edge(deps->graph, on, task, level_of(need), &members) == GRAPH_ADDED) {
        link_add(deps, task, on, need);
        return true;
    }
    if (task == on)
        members = (GraphNodes){&task, 1};
    for (uint32_t i = 0; i < members.count && i < most; i++)
        cycle[i] = members.items[i];
    if (count)
        *count = (uint32_t)MIN(members.count, (size_t)most);
    return false;
}

bool deps_has(const Deps *deps, TaskId task, TaskId on)
{
    return task < deps->first_size && link_find(deps, task, on);
}

bool deps_remove(Deps *deps, TaskId task, TaskId on)
{
    if (task >= deps->first_size || !graph_remove_edge(deps->graph, on, task))
        return false;
    link_drop(deps, task, on);
    return true;
}

void deps_reach(Deps *deps, TaskId task, uint8_t reach, DepsFn *fn, void *user)
{
    deps_grow(deps, task);
    unsigned before = graph_level(deps->graph, task);
    if (before == reach)
        return;
    GraphNodes freed = graph_set_level(deps->graph, task, reach);
    for (size_t i = 0; fn && i < freed.count; i++)
        fn(user, freed.items[i]);
    TaskId dependent;
    unsigned need;
    if (reach > before || !fn)
        return;
    for (uint32_t edge = graph_next(deps->graph, task, 0, &dependent, &need); edge;
         edge = graph_next(deps->graph, task, edge, &dependent, &need))
        fn(user, dependent); /* it may be held again */
}

uint8_t deps_reached(const Deps *deps, TaskId task)
{
    return (uint8_t)graph_level(deps->graph, task);
}

uint32_t deps_open(const Deps *deps, TaskId task)
{
    return graph_open_count(deps->graph, task);
}

uint32_t deps_unblocks(const Deps *deps, TaskId task)
{
    return graph_dependents(deps->graph, task);
}

uint32_t deps_of(const Deps *deps, TaskId task, Dependency *out, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = task < deps->first_size ? deps->first[task] : 0; i; i = deps->links[i].next)
        if (count++ < most)
            out[count - 1] = (Dependency){task, deps->links[i].on, deps->links[i].need};
    return count;
}

static void keep_root(void *context, uint32_t node, uint32_t because)
{
    TaskId *root = context;
    root[node] = because;
}

void deps_roots(const Deps *deps, TaskId last, DepsDead *is_dead, const void *user, TaskId *root)
{
    memset(root, 0, (last + 1) * sizeof *root);
    uint32_t *dead = mem_alloc((last + 1) * sizeof *dead), count = 0;
    for (TaskId i = 1; i <= last; i++)
        if (is_dead(user, i))
            dead[count++] = i;
    if (count)
        graph_skip(deps->graph, dead, count, keep_root, root);
    free(dead);
}
