/* P14: releasing all tasks of a graph in memory, and choosing the next of 100,000. */
#include "core/graph.h"
#include "core/queue.h"
#include "tests/bench/bench.h"
#include "tests/bench/floor_graph.h"
#include "tests/bench/floor_sql.h"
#include <math.h>

enum { EDGES = 3, CHOICES = 20000, READY = 100000 };

static const int64_t start_ms = 1700000000000;

static bool floor_release(void *user, unsigned size, Cost *cost, Err *err)
{
    GraphFloor *floor = user;
    graph_floor_reset(floor);
    Watch watch = watch_start();
    uint32_t released = graph_floor_release(floor);
    *cost = watch_stop(watch);
    return released == size || err_set(err, ERR_INTERNAL, "the floor released %u", released);
}

static Graph *build_graph(unsigned size)
{
    Graph *graph = graph_new();
    graph_reserve(graph, size, size * EDGES);
    for (unsigned t = 1; t <= size; t++) {
        graph_add_node(graph, t);
        for (unsigned e = 0; e < EDGES; e++)
            if (edge_of(t, e))
                graph_load_edge(graph, edge_of(t, e), t, GRAPH_LEVEL_MAX);
    }
    graph_pack(graph);
    return graph;
}

static uint32_t release_all(Graph *graph, Queue *queue)
{
    uint32_t released = 0, best;
    while ((best = queue_best(queue, start_ms)) != 0) {
        (void)queue_remove(queue, best); /* it is there: it was the best */
        released++;
        GraphNodes freed = graph_set_level(graph, best, GRAPH_LEVEL_MAX);
        for (size_t i = 0; i < freed.count; i++)
            queue_push(queue, freed.items[i], score_of(freed.items[i]), start_ms, start_ms);
    }
    return released;
}

static bool otto_release(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)user;
    Graph *graph = build_graph(size);
    Queue *queue = queue_new();
    queue_reserve(queue, size, size);
    for (unsigned t = 1; t <= size; t++)
        if (graph_open_count(graph, t) == 0)
            queue_push(queue, t, score_of(t), start_ms, start_ms);
    Watch watch = watch_start();
    uint32_t released = release_all(graph, queue);
    *cost = watch_stop(watch);
    graph_free(graph);
    queue_free(queue);
    return released == size || err_set(err, ERR_INTERNAL, "otto released %u", released);
}

static void release_row(Bench *bench, unsigned size)
{
    GraphFloor *floor = graph_floor_new(size, EDGES);
    Side sides[] = {
        {"adjacency lists and a 4-ary heap", floor_release, floor, .big = size},
        {"core/graph and core/queue", otto_release, NULL, .big = size},
    };
    Plan plan = {bench->plan.rounds, size > 100000 ? pick(bench, 5, 2) : bench->plan.repeats};
    Comparison found;
    compare(&plan, sides, COUNT(sides), GUARD_CPU, &found);
    Row *row = table_add(&bench->table, "P14", "ns",
                         "graph release, %u tasks, %d edges each, per task", size, EDGES);
    if (row_compare(row, &found, sides, true, 1e9))
        row_goal(row, row->ratio <= 4, "<= 4 x floor");
    graph_floor_free(floor);
}

static bool sql_choose(void *user, unsigned size, Cost *cost, Err *err)
{
    Watch watch = watch_start();
    for (unsigned i = 0; i < size; i++)
        if (!sql_best(user))
            return err_set(err, ERR_STORE, "no best task");
    *cost = watch_stop(watch);
    return true;
}

/* Tasks that became ready over several hours, so that many cohorts age at once. */
static bool otto_choose(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)user;
    Queue *queue = queue_new();
    queue_reserve(queue, READY, READY);
    for (uint32_t t = 1; t <= READY; t++)
        queue_push(queue, t, score_of(t), start_ms + t, start_ms + (int64_t)t * 144);
    int64_t now_ms = start_ms + (int64_t)READY * 144;
    bool is_fine = true;
    Watch watch = watch_start();
    for (unsigned i = 0; i < size && is_fine; i++) {
        uint32_t best = queue_best(queue, now_ms + i);
        is_fine = best && queue_remove(queue, best);
        queue_cycle(queue);
    }
    *cost = watch_stop(watch);
    queue_free(queue);
    return is_fine || err_set(err, ERR_INTERNAL, "the queue ran empty");
}

static void choose_row(Bench *bench)
{
    const char *path =
        arena_printf(&bench->arena, "%s/choose.db",
                     bench_folder(bench, bench->memory ? bench->memory : bench->disk));
    SqlFloor *floor = sql_open(path, SQL_NORMAL);
    Row *row = table_add(&bench->table, "P14", "us",
                         "choosing the next of %d ready tasks, ages differ", READY);
    Side sides[] = {
        {"best ready row by an SQLite index", sql_choose, floor, .big = CHOICES},
        {"queue_best + remove + cycle", otto_choose, NULL, .big = CHOICES},
    };
    Comparison found;
    if (!floor || !sql_fill(floor, READY, 0)) {
        row_fail(row, "the floor's database could not be made");
    } else {
        compare(&bench->plan, sides, COUNT(sides), GUARD_CPU, &found);
        if (row_compare(row, &found, sides, true, 1e6))
            row_goal(row, row->otto <= 5, "<= 5 us");
    }
    sql_free(floor);
}

void part_graph(Bench *bench)
{
    release_row(bench, 100000);
    release_row(bench, 1000000);
    choose_row(bench);
}
