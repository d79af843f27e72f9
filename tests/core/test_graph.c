#include "tests/test.h"

#include "base/str.h"
#include "core/graph.h"
#include "core/mergeplan.h"
#include <stdlib.h>
#include <string.h>

static uint32_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 16);
}

static void a_task_is_free_when_the_last_dependency_is_done(void **state)
{
    (void)state;
    Graph *graph = graph_new();
    assert_int_equal(graph_add_edge(graph, 1, 3, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_add_edge(graph, 2, 3, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_open_count(graph, 3), 2);
    assert_int_equal(graph_set_level(graph, 1, 3).count, 0);
    GraphNodes free_now = graph_set_level(graph, 2, 3);
    assert_int_equal(free_now.count, 1);
    assert_int_equal(free_now.items[0], 3);
    assert_int_equal(graph_dependents(graph, 1), 1);
    graph_free(graph);
}

static void a_level_may_rise_in_steps_and_fall_again(void **state)
{
    (void)state;
    Graph *graph = graph_new();
    graph_load_edge(graph, 1, 2, 1);
    graph_load_edge(graph, 1, 3, 2);
    graph_load_edge(graph, 1, 4, 3);
    assert_int_equal(graph_set_level(graph, 1, 1).items[0], 2);
    assert_int_equal(graph_set_level(graph, 1, 3).count, 2);
    assert_int_equal(graph_set_level(graph, 1, 3).count, 0);
    assert_int_equal(graph_set_level(graph, 1, 0).count, 0);
    assert_int_equal(
        graph_open_count(graph, 2) + graph_open_count(graph, 3) + graph_open_count(graph, 4), 3);
    assert_int_equal(graph_level(graph, 1), 0);
    graph_free(graph);
}

static void an_edge_that_closes_a_cycle_is_refused_with_its_members(void **state)
{
    (void)state;
    Graph *graph = graph_new();
    GraphNodes cycle;
    assert_int_equal(graph_add_edge(graph, 1, 2, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_add_edge(graph, 2, 3, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_add_edge(graph, 2, 9, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_add_edge(graph, 3, 1, 3, &cycle), GRAPH_CYCLE);
    assert_int_equal(cycle.count, 3);
    assert_int_equal(cycle.items[0], 1);
    assert_int_equal(cycle.items[1], 2);
    assert_int_equal(cycle.items[2], 3);
    assert_int_equal(graph_edge_count(graph), 3);
    assert_int_equal(graph_add_edge(graph, 4, 4, 3, NULL), GRAPH_SELF);
    assert_int_equal(graph_add_edge(graph, 3, 2, 3, NULL), GRAPH_CYCLE);
    graph_free(graph);
}

static void the_same_edge_counts_once(void **state)
{
    (void)state;
    Graph *graph = graph_new();
    assert_int_equal(graph_add_edge(graph, 1, 2, 1, NULL), GRAPH_ADDED);
    assert_int_equal(graph_set_level(graph, 1, 1).count, 1);
    assert_int_equal(graph_add_edge(graph, 1, 2, 3, NULL), GRAPH_SAME);
    assert_int_equal(graph_open_count(graph, 2), 1);
    assert_true(graph_remove_edge(graph, 1, 2));
    assert_false(graph_remove_edge(graph, 1, 2));
    assert_int_equal(graph_open_count(graph, 2), 0);
    assert_int_equal(graph_add_edge(graph, 2, 1, 3, NULL), GRAPH_ADDED);
    assert_int_equal(graph_edge_count(graph), 1);
    graph_free(graph);
}

static void packing_changes_nothing_that_can_be_seen(void **state)
{
    (void)state;
    uint64_t dice = 5;
    Graph *graph = graph_new();
    graph_reserve(graph, 100, 300);
    for (unsigned i = 0; i < 300; i++) {
        uint32_t a = 1 + random_next(&dice) % 99,
                 b = a + 1 + random_next(&dice) % (101 - a - 1 + 1);
        graph_load_edge(graph, a, b, 1 + random_next(&dice) % 3);
    }
    for (unsigned i = 0; i < 40; i++) {
        uint32_t to;
        unsigned need;
        uint32_t from = 1 + random_next(&dice) % 99;
        if (graph_next(graph, from, 0, &to, &need))
            assert_true(graph_remove_edge(graph, from, to));
    }
    uint32_t before[102][2];
    for (uint32_t n = 1; n <= 101; n++) {
        before[n][0] = graph_open_count(graph, n);
        before[n][1] = graph_dependents(graph, n);
    }
    graph_pack(graph);
    for (uint32_t n = 1; n <= 101; n++) {
        uint32_t to, count = 0;
        unsigned need;
        for (uint32_t e = graph_next(graph, n, 0, &to, &need); e;
             e = graph_next(graph, n, e, &to, &need))
            count++;
        assert_int_equal(graph_open_count(graph, n), before[n][0]);
        assert_int_equal(graph_dependents(graph, n), before[n][1]);
        assert_int_equal(count, before[n][1]);
    }
    graph_load_edge(graph, 1, 101, 3);
    graph_free(graph);
}

static void note_group(void *context, GraphNodes members)
{
    Str *out = context;
    for (size_t i = 0; i < members.count; i++)
        str_addf(out, "%s%u", i ? "," : "", members.items[i]);
    str_add_char(out, ';');
}

static void cycles_of_a_load_are_found_as_groups(void **state)
{
    (void)state;
    static const uint32_t edges[][2] = {{5, 6}, {6, 5}, {1, 2}, {2, 3}, {3, 1},
                                        {3, 4}, {7, 8}, {4, 7}, {9, 9}};
    CLEANUP(str_done) Str out = STR_INIT;
    Graph *graph = graph_new();
    for (size_t i = 0; i < COUNT(edges); i++)
        graph_load_edge(graph, edges[i][0], edges[i][1], 3);
    graph_components(graph, note_group, &out);
    assert_string_equal(str_text(&out), "1,2,3;5,6;");
    graph_free(graph);
}

static void a_long_chain_needs_no_deep_stack(void **state)
{
    (void)state;
    enum { LONG = 300000 };
    CLEANUP(str_done) Str out = STR_INIT;
    Graph *graph = graph_new();
    GraphNodes cycle;
    for (uint32_t n = 1; n < LONG; n++)
        graph_load_edge(graph, n, n + 1, 3);
    graph_components(graph, note_group, &out);
    assert_string_equal(str_text(&out), "");
    assert_int_equal(graph_add_edge(graph, LONG, 1, 3, &cycle), GRAPH_CYCLE);
    assert_int_equal(cycle.count, LONG);
    graph_free(graph);
}

static void note_skip(void *context, uint32_t node, uint32_t because)
{
    ((uint32_t *)context)[node] = because;
}

static void a_failure_skips_all_that_wait_for_it(void **state)
{
    (void)state;
    static const uint32_t edges[][2] = {{1, 3}, {2, 3}, {3, 4}, {2, 5}, {6, 7}, {1, 6}, {2, 8}};
    uint32_t because[10] = {0}, failed[] = {1, 2};
    Graph *graph = graph_new();
    for (size_t i = 0; i < COUNT(edges); i++)
        graph_load_edge(graph, edges[i][0], edges[i][1], 3);
    (void)graph_set_level(graph, 6, 3); /* finished before: what waits for it goes on */
    graph_skip(graph, failed, 2, note_skip, because);
    assert_int_equal(because[3], 1);
    assert_int_equal(because[4], 1);
    assert_int_equal(because[5], 2);
    assert_int_equal(because[6], 0);
    assert_int_equal(because[7], 0);
    assert_int_equal(because[8], 2);
    assert_int_equal(because[1] + because[2], 0);
    graph_free(graph);
}

static void a_random_graph_is_released_completely_and_in_order(void **state)
{
    (void)state;
    enum { NODES = 5000 };
    uint64_t dice = 11;
    Graph *graph = graph_new();
    uint32_t *queue = calloc(NODES + 1, sizeof *queue), start = 0, end = 0;
    static bool is_done[NODES + 1];
    static uint32_t from[NODES * 3], to[NODES * 3];
    unsigned edges = 0;
    for (uint32_t n = 1; n <= NODES; n++) {
        graph_add_node(graph, n);
        for (unsigned k = 0; n > 1 && k < 3; k++) {
            uint32_t a = 1 + random_next(&dice) % (n - 1);
            if (graph_add_edge(graph, a, n, 3, NULL) == GRAPH_ADDED) {
                from[edges] = a;
                to[edges++] = n;
            }
        }
    }
    graph_pack(graph);
    for (uint32_t n = 1; n <= NODES; n++) {
        if (graph_open_count(graph, n) == 0)
            queue[end++] = n;
    }
    while (start < end) {
        uint32_t node = queue[start++];
        for (unsigned e = 0; node < 50 && e < edges; e++)
            assert_true(to[e] != node || is_done[from[e]]);
        is_done[node] = true;
        GraphNodes freed = graph_set_level(graph, node, 3);
        for (size_t i = 0; i < freed.count; i++)
            queue[end++] = freed.items[i];
    }
    assert_int_equal(end, NODES);
    free(queue);
    graph_free(graph);
}

/* --- merge plan --- */

static void the_merge_order_follows_its_keys(void **state)
{
    (void)state;
    static const struct {
        MergeEntry first, second;
    } cases[] = {
        {{.state = MERGE_MERGING}, {.state = MERGE_READY}},
        {{.state = MERGE_READY, .completed_ms = 9}, {.state = MERGE_WAITING, .priority = 9}},
        {{.state = MERGE_WAITING, .unmerged_deps = 9}, {.state = MERGE_CONFLICT}},
        {{.unmerged_deps = 0, .completed_ms = 9}, {.unmerged_deps = 1, .priority = 9}},
        {{.priority = 200, .completed_ms = 9}, {.priority = 100, .completed_ms = 1}},
        {{.completed_ms = 1, .rank = 9}, {.completed_ms = 2, .rank = 1}},
        {{.age_ms = 5, .rank = 9}, {.age_ms = 4, .rank = 1}},
        {{.rank = 1}, {.rank = 2}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(mergeplan_compare(&cases[i].first, &cases[i].second) < 0);
        assert_true(mergeplan_compare(&cases[i].second, &cases[i].first) > 0);
    }
}

static void nothing_starts_while_the_window_is_full(void **state)
{
    (void)state;
    MergeEntry entries[] = {{.state = MERGE_READY, .rank = 1},
                            {.state = MERGE_MERGING, .rank = 2},
                            {.state = MERGE_MERGED, .rank = 0}};
    uint32_t order[3];
    assert_int_equal(mergeplan_order(entries, 3, order), 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
    assert_int_equal(mergeplan_free(entries, 3, 1), 0);
    assert_int_equal(mergeplan_free(entries, 3, 2), 1);
    assert_int_equal(mergeplan_order(entries, 0, order), 0);
    MergeState found;
    assert_true(merge_state_find("conflict", &found) && found == MERGE_CONFLICT);
    assert_false(merge_state_find("lost", &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_free_when_the_last_dependency_is_done),
        cmocka_unit_test(a_level_may_rise_in_steps_and_fall_again),
        cmocka_unit_test(an_edge_that_closes_a_cycle_is_refused_with_its_members),
        cmocka_unit_test(the_same_edge_counts_once),
        cmocka_unit_test(packing_changes_nothing_that_can_be_seen),
        cmocka_unit_test(cycles_of_a_load_are_found_as_groups),
        cmocka_unit_test(a_long_chain_needs_no_deep_stack),
        cmocka_unit_test(a_failure_skips_all_that_wait_for_it),
        cmocka_unit_test(a_random_graph_is_released_completely_and_in_order),
        cmocka_unit_test(the_merge_order_follows_its_keys),
        cmocka_unit_test(nothing_starts_while_the_window_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
