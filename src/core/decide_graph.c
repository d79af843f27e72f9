/* The decision `graph`: levels, ready, cycles and skips of a list of tasks. */
#include "base/str.h"
#include "core/decide_table.h"
#include "core/graph.h"
#include <stdlib.h>

typedef struct Edge {
    uint32_t from, to; /* places in ids */
} Edge;

/* Tasks are numbered by the order of their ids, so that lower numbers are lower ids. */
typedef struct Plan {
    DecideInput *in;
    json_t *nodes; /* the tasks, then the failed ids that are not listed as tasks */
    uint32_t task_count;
    DecideIds ids;
    bool *is_closed, *is_failed, *is_circular;
    uint32_t *because; /* number + 1 of the failed root; 0 none */
    Edge *edges;
    size_t edge_count;
    Graph *graph; /* nodes are numbers + 1; only what is not closed */
    json_t *ignored, *cycles;
} Plan;

static void plan_done(Plan *plan)
{
    graph_free(plan->graph);
    free(plan->edges);
    json_decref(plan->nodes);
}

static json_t *id_of(const Plan *plan, uint32_t number)
{
    return (json_t *)(uintptr_t)plan->ids.ids[number];
}

static int by_id(const void *a, const void *b)
{
    return decide_id_compare(*(json_t *const *)a, *(json_t *const *)b);
}

/* A failed id that is no task of the list still holds up those that wait for it. */
static bool add_nodes(Plan *plan, const json_t *tasks, const json_t *failed)
{
    DecideIds listed;
    size_t count = 0, size = (json_array_size(failed) + 1) * sizeof(json_t *);
    json_t **others = arena_alloc(&plan->in->arena, size);
    if (!decide_ids(plan->in, tasks, "tasks", &listed))
        return false;
    for (size_t i = 0; i < json_array_size(failed); i++) {
        if (decide_id_find(&listed, json_array_get(failed, i)) < 0)
            others[count++] = json_array_get(failed, i);
    }
    if (count)
        qsort(others, count, sizeof *others, by_id);
    plan->nodes = json_copy((json_t *)(uintptr_t)tasks);
    plan->task_count = listed.count;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_id(&others[i - 1], &others[i]) == 0)
            continue;
        json_t *node = json_object();
        json_object_set(node, "id", others[i]);
        json_array_append_new(plan->nodes, node);
    }
    return decide_ids(plan->in, plan->nodes, "tasks", &plan->ids);
}

static void add_edge(Plan *plan, const json_t *from, const json_t *to)
{
    int64_t a = decide_id_find(&plan->ids, from), b = decide_id_find(&plan->ids, to);
    if (a >= 0 && b >= 0 && a != b) {
        plan->edges[plan->edge_count++] = (Edge){(uint32_t)a, (uint32_t)b};
        return;
    }
    json_t *item = json_object();
    json_object_set(item, "from", (json_t *)(uintptr_t)from);
    json_object_set(item, "to", (json_t *)(uintptr_t)to);
    json_object_set_new(item, "why", json_string(a < 0 || b < 0 ? "unknown id" : "self loop"));
    json_array_append_new(plan->ignored, item);
}

static int by_edge(const void *x, const void *y)
{
    const Edge *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static size_t count_edges(const json_t *tasks)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *task = json_array_get(tasks, i);
        count += json_array_size(json_object_get(task, "blocked_by")) +
                 json_array_size(json_object_get(task, "blocks"));
    }
    return count;
}

/* Both directions say the same thing: one edge, however often it is given (E-151). */
static void add_edges(Plan *plan, const json_t *tasks)
{
    plan->edges = mem_alloc((count_edges(tasks) + 1) * sizeof *plan->edges);
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *task = json_array_get(tasks, i), *id = json_object_get(task, "id");
        const json_t *before = json_object_get(task, "blocked_by");
        const json_t *after = json_object_get(task, "blocks");
        for (size_t k = 0; k < json_array_size(before); k++)
            add_edge(plan, json_array_get(before, k), id);
        for (size_t k = 0; k < json_array_size(after); k++)
            add_edge(plan, id, json_array_get(after, k));
    }
    if (plan->edge_count)
        qsort(plan->edges, plan->edge_count, sizeof *plan->edges, by_edge);
    size_t used = 0;
    for (size_t i = 0; i < plan->edge_count; i++) {
        if (used == 0 || by_edge(&plan->edges[used - 1], &plan->edges[i]) != 0)
            plan->edges[used++] = plan->edges[i];
    }
    plan->edge_count = used;
}

static void mark_states(Plan *plan, const json_t *failed)
{
    size_t size = plan->ids.count + 1;
    plan->is_closed = arena_alloc(&plan->in->arena, size);
    plan->is_failed = arena_alloc(&plan->in->arena, size);
    plan->is_circular = arena_alloc(&plan->in->arena, size);
    plan->because = arena_alloc(&plan->in->arena, size * sizeof *plan->because);
    for (size_t i = 0; i < json_array_size(failed); i++)
        plan->is_failed[decide_id_find(&plan->ids, json_array_get(failed, i))] = true;
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        uint32_t number = plan->ids.rank[i];
        const char *state =
            json_string_value(json_object_get(json_array_get(plan->nodes, i), "state"));
        plan->is_closed[number] = !plan->is_failed[number] && text_equal(state, "closed");
    }
}

static void found_cycle(void *context, GraphNodes members)
{
    Plan *plan = context;
    json_t *list = json_array();
    for (size_t i = 0; i < members.count; i++) {
        plan->is_circular[members.items[i] - 1] = true;
        json_array_append(list, id_of(plan, members.items[i] - 1));
    }
    json_array_append_new(plan->cycles, list);
}

static void found_skip(void *context, uint32_t node, uint32_t because)
{
    ((Plan *)context)->because[node - 1] = because;
}

static void build(Plan *plan)
{
    uint32_t *failed = arena_alloc(&plan->in->arena, (plan->ids.count + 1) * sizeof *failed);
    size_t failed_count = 0;
    plan->graph = graph_new();
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        graph_add_node(plan->graph, i + 1);
        if (plan->is_failed[i])
            failed[failed_count++] = i + 1;
    }
    for (size_t i = 0; i < plan->edge_count; i++) {
        const Edge *edge = &plan->edges[i];
        if (!plan->is_closed[edge->from] && !plan->is_closed[edge->to])
            graph_load_edge(plan->graph, edge->from + 1, edge->to + 1, GRAPH_LEVEL_MAX);
    }
    graph_components(plan->graph, found_cycle, plan);
    graph_skip(plan->graph, failed, failed_count, found_skip, plan);
}

static bool can_run(const Plan *plan, uint32_t number)
{
    return !plan->is_closed[number] && !plan->is_failed[number] && !plan->is_circular[number] &&
           !plan->because[number];
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static json_t *ids_json(const Plan *plan, const uint32_t *numbers, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append(list, id_of(plan, numbers[i]));
    return list;
}

/* Level after level: finishing one level frees the next. Fills is_placed. */
static json_t *make_levels(Plan *plan, bool *is_placed)
{
    uint32_t *queue = arena_alloc(&plan->in->arena, (plan->ids.count + 1) * sizeof *queue);
    size_t start = 0, end = 0;
    json_t *levels = json_array();
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        if (can_run(plan, i) && graph_open_count(plan->graph, i + 1) == 0)
            queue[end++] = i;
    }
    while (start < end) {
        size_t level_end = end;
        json_array_append_new(levels, ids_json(plan, queue + start, end - start));
        for (; start < level_end; start++) {
            is_placed[queue[start]] = true;
            GraphNodes freed = graph_set_level(plan->graph, queue[start] + 1, GRAPH_LEVEL_MAX);
            for (size_t i = 0; i < freed.count; i++) {
                if (can_run(plan, freed.items[i] - 1))
                    queue[end++] = freed.items[i] - 1;
            }
        }
        qsort(queue + start, end - start, sizeof *queue, by_number);
    }
    return levels;
}

static json_t *make_independent(const Plan *plan)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        bool is_task = plan->ids.index[i] < plan->task_count;
        if (is_task && !plan->is_closed[i] && graph_open_count(plan->graph, i + 1) == 0)
            json_array_append(list, id_of(plan, i));
    }
    return list;
}

static json_t *make_skipped(const Plan *plan)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        if (!plan->because[i])
            continue;
        json_t *item = json_object();
        json_object_set(item, "id", id_of(plan, i));
        json_object_set(item, "because", id_of(plan, plan->because[i] - 1));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *make_edges(const Plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->edge_count; i++) {
        json_t *item = json_object();
        json_object_set(item, "from", id_of(plan, plan->edges[i].from));
        json_object_set(item, "to", id_of(plan, plan->edges[i].to));
        json_array_append_new(list, item);
    }
    return list;
}

static void put_plan(Plan *plan, json_t *out)
{
    bool *is_placed = arena_alloc(&plan->in->arena, plan->ids.count + 1);
    json_t *independent = make_independent(plan); /* before finishing changes the counts */
    json_t *levels = make_levels(plan, is_placed), *waiting = json_array();
    json_t *skipped = make_skipped(plan), *first = json_array_get(levels, 0);
    for (uint32_t i = 0; i < plan->ids.count; i++) {
        if (can_run(plan, i) && !is_placed[i])
            json_array_append(waiting, id_of(plan, i));
    }
    CLEANUP(str_done) Str why = STR_INIT;
    str_addf(&why, "%zu ready, %zu levels, %zu skipped, %zu cycles, %zu waiting for a cycle",
             json_array_size(first), json_array_size(levels), json_array_size(skipped),
             json_array_size(plan->cycles), json_array_size(waiting));
    json_object_set_new(out, "levels", levels);
    json_object_set_new(out, "ready", first ? json_copy(first) : json_array());
    json_object_set_new(out, "independent", independent);
    json_object_set(out, "cycles", plan->cycles);
    json_object_set_new(out, "skipped", skipped);
    json_object_set_new(out, "waiting", waiting);
    json_object_set_new(out, "edges", make_edges(plan));
    json_object_set(out, "ignored", plan->ignored);
    decide_put_row(out, NULL, str_text(&why));
}

bool decide_graph(DecideInput *in, json_t *out)
{
    CLEANUP(json_freep) json_t *ignored = json_array();
    CLEANUP(json_freep) json_t *cycles = json_array();
    CLEANUP(plan_done) Plan plan = {.in = in, .ignored = ignored, .cycles = cycles};
    const json_t *tasks = decide_value(in, in->root, "tasks");
    const json_t *failed = decide_value(in, in->root, "failed");
    if (!add_nodes(&plan, tasks, failed))
        return false;
    mark_states(&plan, failed);
    add_edges(&plan, tasks);
    build(&plan);
    put_plan(&plan, out);
    return true;
}
