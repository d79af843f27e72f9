/* Which task comes next: dependencies, minimum states, scores, ageing, wanted tasks. */
#include "tests/core/test_machine_rig.h"
#include <string.h>

static TaskId first_ready(const Rig *rig)
{
    TaskId id = 0;
    (void)machine_ready(rig->machine, 1, rig->now_ms, &id, 1); /* only the best is asked for */
    return id;
}

static void a_circle_is_refused(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId a = rig_task(rig), b = rig_task(rig), c = rig_task(rig);
    assert_true(rig_after(rig, b, a, NEED_DONE));
    assert_true(rig_after(rig, c, b, NEED_STARTED));
    assert_false(rig_after(rig, a, c, NEED_DONE));
    assert_says(str_text(&rig->step.why), "circle");
    assert_false(rig_after(rig, a, a, NEED_DONE));
    assert_false(rig_after(rig, a, 99, NEED_DONE));
    assert_false(rig_post(rig, (Event){.kind = EV_DEPENDENCY_ADDED, .task = a, .a = b, .b = 7}));
    assert_true(rig_wish(rig, EV_DEPENDENCY_REMOVED, c, b));
    assert_false(rig_wish(rig, EV_DEPENDENCY_REMOVED, c, b));
    assert_true(rig_after(rig, a, c, NEED_DONE));
}

static void projects_do_not_wait_for_each_other(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId mine = rig_task(rig);
    assert_true(rig_post(rig, (Event){.kind = EV_PROJECT_ADDED, .project = 2}));
    assert_false(rig_post(rig, (Event){.kind = EV_PROJECT_ADDED, .project = 2}));
    TaskId theirs = machine_next_task(rig->machine);
    Event add = {.kind = EV_TASK_ADDED, .project = 2, .task = theirs, .ref = "{\"parent\":1}"};
    assert_true(rig_post(rig, add));
    assert_int_equal(rig_see(rig, theirs)->parent, 0); /* nor are they related */
    assert_false(rig_after(rig, mine, theirs, NEED_DONE));
}

static void a_dependency_frees_at_its_minimum_state(void **state)
{
    (void)state;
    const Need needs[] = {NEED_STARTED, NEED_VERIFIED, NEED_DONE};
    for (size_t i = 0; i < COUNT(needs); i++) {
        RIG rig = rig_new(2);
        TaskId first = rig_task(rig), second = rig_task(rig);
        assert_true(rig_after(rig, second, first, needs[i]));
        assert_says(rig_explain(rig, second), "waits for #1 (pending)");
        rig_run(rig);
        assert_task(rig, second, needs[i] == NEED_STARTED ? "active" : "pending");
        rig_begin(rig, first);
        rig_end(rig, first, SIGNAL_COMPLETE);
        assert_task(rig, second, needs[i] == NEED_STARTED ? "active" : "pending");
        rig_gate(rig, first, VERDICT_PASS);
        assert_task(rig, second, needs[i] == NEED_DONE ? "pending" : "active");
        rig_merge(rig, first);
        rig_land(rig, first);
        assert_task(rig, second, "active");
    }
}

static void tasks_that_are_being_added_are_not_taken_too_early(void **state)
{
    (void)state;
    RIG rig = rig_new(3);
    TaskId first = rig_task(rig);
    rig_run(rig);
    assert_true(rig_wish(rig, EV_HOLD, 0, 1));
    TaskId second = rig_task(rig);
    assert_task(rig, second, "pending");
    assert_true(rig_after(rig, second, first, NEED_DONE));
    assert_true(rig_wish(rig, EV_HOLD, 0, 0));
    assert_task(rig, second, "pending");
    assert_task(rig, first, "active");
}

static void a_skip_runs_through_the_graph_and_names_its_root(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId a = rig_task(rig), b = rig_task(rig), c = rig_task(rig), d = rig_task(rig);
    assert_true(rig_after(rig, b, a, NEED_DONE));
    assert_true(rig_after(rig, c, b, NEED_DONE));
    assert_true(rig_after(rig, d, c, NEED_STARTED));
    rig_run(rig);
    rig_begin(rig, a);
    rig_exit(rig, a, 1, 0);
    assert_int_equal(machine_root_cause(rig->machine, d), a);
    assert_says(rig_explain(rig, d), "skipped because #1 is failed");
    assert_int_equal(machine_counts(rig->machine, 1).skipped, 3);
    assert_auto(rig, "idle"); /* nothing else can be done */
    assert_true(rig_wish(rig, EV_RETRY, a, 0));
    assert_int_equal(machine_root_cause(rig->machine, d), 0);
}

static void a_blocked_parent_holds_its_children(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId parent = rig_task_of(rig, TAG_CRITICAL, 0, NULL);
    TaskId child = rig_task_of(rig, 0, PRIORITY_NONE, "{\"parent\":1}");
    rig_run(rig);
    rig_begin(rig, parent);
    rig_end(rig, parent, SIGNAL_BLOCKED);
    assert_task(rig, child, "pending");
    assert_says(rig_explain(rig, child), "parent #1 is blocked");
    assert_auto(rig, "idle");
    assert_true(rig_wish(rig, EV_SKIP, parent, 0));
    assert_int_equal(first_ready(rig), child);
}

static void priorities_and_tags_choose_and_ties_go_to_the_oldest(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId plain = rig_task(rig);
    TaskId twin = rig_task(rig);
    TaskId quick = rig_task_of(rig, TAG_QUICK_WIN, PRIORITY_NONE, NULL);
    TaskId urgent = rig_task_of(rig, 0, 0, NULL);
    TaskId next = rig_task_of(rig, TAG_NEXT | TAG_CRITICAL, PRIORITY_NONE, NULL);
    TaskId order[5];
    assert_int_equal(machine_ready(rig->machine, 1, rig->now_ms, order, 5), 5);
    const TaskId want[] = {next, urgent, quick, plain, twin};
    assert_memory_equal(order, want, sizeof want);
    assert_true(rig_wish(rig, EV_TASK_EDITED, plain, TAG_NEXT)); /* P0 besides */
    assert_int_equal(first_ready(rig), plain);
}

static void a_task_that_others_wait_for_comes_sooner(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId plain = rig_task(rig), root = rig_task(rig), leaf = rig_task(rig);
    assert_int_equal(first_ready(rig), plain);
    assert_true(rig_after(rig, leaf, root, NEED_DONE));
    assert_int_equal(first_ready(rig), root);
    assert_true(rig_wish(rig, EV_DEPENDENCY_REMOVED, leaf, root));
    assert_int_equal(first_ready(rig), plain);
}

static void a_nearly_finished_parent_raises_the_rest(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId parent = rig_task_of(rig, TAG_LATER, PRIORITY_NONE, NULL);
    const char *child = "{\"parent\":1}";
    TaskId plain = rig_task(rig);
    TaskId one = rig_task_of(rig, 0, 0, child), two = rig_task_of(rig, 0, 0, child);
    TaskId three = rig_task_of(rig, 0, PRIORITY_NONE, child);
    rig_run(rig);
    rig_finish(rig, one);
    assert_int_equal(rig_see(rig, parent)->children_done, 1);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    assert_true(rig_report(rig, two, EV_WORKSPACE_READY, 0, 0));
    assert_int_equal(first_ready(rig), plain);
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    rig_end(rig, two, SIGNAL_COMPLETE);
    assert_task(rig, plain, "pending");
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    rig_gate(rig, two, VERDICT_PASS);
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    assert_task(rig, plain, "active"); /* one of three is not more than half */
    rig_merge(rig, two);
    rig_land(rig, two);
    TaskId rival = rig_task(rig);
    assert_int_equal(first_ready(rig), three);
    Event edit = {
        .kind = EV_TASK_EDITED, .task = three, .b = PRIORITY_NONE, .ref = "{\"parent\":0}"};
    assert_true(rig_post(rig, edit));
    assert_int_equal(rig_see(rig, parent)->children, 2);
    assert_int_equal(first_ready(rig), three); /* the older one, by now alike */
    assert_true(rig_see(rig, three)->created_ms <= rig_see(rig, rival)->created_ms);
}

static void waiting_makes_a_task_dearer(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId old = rig_task(rig);
    rig->now_ms += 31 * 60000;
    TaskId quick = rig_task_of(rig, TAG_CRITICAL | TAG_QUICK_WIN, PRIORITY_NONE, NULL);
    assert_int_equal(first_ready(rig), old); /* 31 minutes and the bonus of 50 beat 80 */
    assert_true(rig_wish(rig, EV_SKIP, old, 0));
    assert_true(rig_wish(rig, EV_RETRY, old, 0)); /* it waits anew */
    assert_int_equal(first_ready(rig), quick);
}

static void a_restart_keeps_how_long_a_task_has_waited(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId old = rig_task(rig);
    rig->now_ms += 31 * 60000;
    (void)rig_task_of(rig, TAG_CRITICAL | TAG_QUICK_WIN, PRIORITY_NONE, NULL);
    rig_reload(rig, true);
    assert_int_equal(first_ready(rig), old);
}

static void a_restart_keeps_what_had_become_ready_after_its_pause(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    rig_exit(rig, task, 0, 9);
    assert_int_equal(rig_see(rig, task)->ready_ms, 0);
    rig->now_ms += 20000; /* the tick is late; an edit looks at it first */
    assert_true(rig_wish(rig, EV_TASK_EDITED, task, 0));
    int64_t ready_ms = rig_see(rig, task)->ready_ms;
    assert_int_equal(ready_ms, rig->now_ms);
    rig->now_ms += 5000;
    rig_reload(rig, true);
    assert_int_equal(rig_see(rig, task)->ready_ms, ready_ms);
}

static void slots_are_filled_and_never_exceeded(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId ids[4];
    for (size_t i = 0; i < COUNT(ids); i++)
        ids[i] = rig_task(rig);
    rig_run(rig);
    assert_int_equal(machine_project(rig->machine, 1)->slots_used, 2);
    assert_says(rig_explain(rig, ids[3]), "all 2 slots are taken");
    rig_limits(rig, "{\"slots\":3}");
    assert_int_equal(machine_project(rig->machine, 1)->slots_used, 3);
    rig_limits(rig, "{\"slots\":1}"); /* those at work go on; nobody new comes */
    rig_begin(rig, ids[0]);
    rig_end(rig, ids[0], SIGNAL_BLOCKED);
    assert_int_equal(machine_project(rig->machine, 1)->slots_used, 2);
    assert_task(rig, ids[3], "pending");
}

static void only_wanted_tasks_are_taken_when_they_are_named(void **state)
{
    (void)state;
    RIG rig = rig_new(3);
    TaskId other = rig_task(rig), wanted = rig_task_of(rig, TAG_LATER, PRIORITY_NONE, NULL);
    assert_says(rig_explain(rig, wanted), "later");
    assert_true(rig_wish(rig, EV_TASK_WANTED, wanted, 0));
    assert_true(rig_wish(rig, EV_AUTOPILOT_STARTED, 0, 1));
    assert_task(rig, wanted, "active");
    assert_task(rig, other, "pending");
    assert_says(rig_explain(rig, other), "asked for other tasks");
    assert_false(rig_wish(rig, EV_TASK_WANTED, wanted, 0)); /* it runs */
    rig_finish(rig, wanted);
    assert_auto(rig, "idle");
    assert_says(rig_explain(rig, other), "not running");
    rig_run(rig);
    assert_task(rig, other, "active");
}

static void later_is_left_out_until_it_is_named(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task_of(rig, TAG_LATER, PRIORITY_NONE, NULL);
    rig_run(rig);
    assert_task(rig, task, "pending"); /* D-100 */
    assert_auto(rig, "idle");
}

static void every_state_explains_itself(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    assert_says(rig_explain(rig, task), "not running");
    rig_run(rig);
    assert_says(rig_explain(rig, task), "workspace is being made");
    rig_begin(rig, task);
    assert_says(rig_explain(rig, task), "turn 1 of 50");
    rig_end(rig, task, SIGNAL_COMPLETE);
    assert_says(rig_explain(rig, task), "checks the claim");
    rig_gate(rig, task, VERDICT_PASS);
    assert_says(rig_explain(rig, task), "merge");
    rig_merge(rig, task);
    rig_land(rig, task);
    assert_says(rig_explain(rig, task), "landed");
}

int test_machine_queue(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_refused),
        cmocka_unit_test(projects_do_not_wait_for_each_other),
        cmocka_unit_test(a_dependency_frees_at_its_minimum_state),
        cmocka_unit_test(tasks_that_are_being_added_are_not_taken_too_early),
        cmocka_unit_test(a_skip_runs_through_the_graph_and_names_its_root),
        cmocka_unit_test(a_blocked_parent_holds_its_children),
        cmocka_unit_test(priorities_and_tags_choose_and_ties_go_to_the_oldest),
        cmocka_unit_test(a_task_that_others_wait_for_comes_sooner),
        cmocka_unit_test(a_nearly_finished_parent_raises_the_rest),
        cmocka_unit_test(waiting_makes_a_task_dearer),
        cmocka_unit_test(a_restart_keeps_how_long_a_task_has_waited),
        cmocka_unit_test(a_restart_keeps_what_had_become_ready_after_its_pause),
        cmocka_unit_test(slots_are_filled_and_never_exceeded),
        cmocka_unit_test(only_wanted_tasks_are_taken_when_they_are_named),
        cmocka_unit_test(later_is_left_out_until_it_is_named),
        cmocka_unit_test(every_state_explains_itself),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
