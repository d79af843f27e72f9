/* From verified to landed: one merge at a time, conflicts, moved targets, merged trees. */
#include "tests/core/test_machine_rig.h"
#include <string.h>

/* A running rig whose tasks are all verified, in order. */
static void verify_all(Rig *rig, const TaskId *ids, size_t count)
{
    rig_run(rig);
    for (size_t i = 0; i < count; i++) {
        rig_begin(rig, ids[i]);
        rig_end(rig, ids[i], SIGNAL_COMPLETE);
    }
    for (size_t i = 0; i < count; i++) {
        rig->now_ms += 10;
        rig_gate(rig, ids[i], VERDICT_PASS);
    }
}

static void one_merge_at_a_time_the_oldest_first(void **state)
{
    (void)state;
    RIG rig = rig_new(3);
    TaskId ids[] = {rig_task(rig), rig_task(rig), rig_task_of(rig, 0, 0, NULL)};
    verify_all(rig, ids, COUNT(ids));
    assert_run(rig, ids[0], "merging");
    assert_run(rig, ids[1], "queued");
    assert_int_equal(machine_counts(rig->machine, 1).merging, 3);
    rig_merge(rig, ids[0]);
    assert_true(rig_report(rig, ids[0], EV_LANDED, 0, 0));
    assert_run(rig, ids[2], "merging"); /* the more urgent one goes before the older one */
    assert_run(rig, ids[1], "queued");
}

static void a_task_never_lands_before_what_it_depends_on(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId first = rig_task(rig), second = rig_task(rig);
    assert_true(rig_after(rig, second, first, NEED_STARTED));
    rig_run(rig);
    rig_begin(rig, first);
    rig_begin(rig, second);
    rig_end(rig, second, SIGNAL_COMPLETE);
    rig_gate(rig, second, VERDICT_PASS);
    assert_run(rig, second, "queued");
    rig_end(rig, first, SIGNAL_COMPLETE);
    rig_gate(rig, first, VERDICT_PASS);
    rig_merge(rig, first);
    rig_land(rig, first);
    rig_merge(rig, second);
    rig_land(rig, second);
}

static void the_autopilot_ends_when_a_merge_waits_for_a_failed_task(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId first = rig_task(rig), second = rig_task(rig);
    assert_true(rig_after(rig, second, first, NEED_STARTED));
    rig_run(rig);
    rig_begin(rig, first);
    rig_begin(rig, second);
    rig_end(rig, second, SIGNAL_COMPLETE);
    rig_gate(rig, second, VERDICT_PASS);
    rig_exit(rig, first, 1, 0);
    assert_auto(rig, "idle");
    assert_run(rig, second, "queued");
    assert_true(rig_wish(rig, EV_RETRY, first, 0));
    rig_run(rig);
    rig_finish(rig, first);
    assert_run(rig, second, "merging");
}

static void a_conflict_goes_to_its_agent_three_times_and_then_to_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(rig_report(rig, task, EV_MERGE_CONFLICT, 0, 0));
        assert_run(rig, task, "working");
        assert_int_equal(rig_run_of(rig, task)->conflict_tries, i + 1);
        rig_end(rig, task, SIGNAL_COMPLETE);
        rig_gate(rig, task, VERDICT_PASS);
    }
    rig_take(rig);
    assert_true(rig_report(rig, task, EV_MERGE_CONFLICT, 0, 0));
    assert_task(rig, task, "blocked");
    assert_int_equal(rig_effects(rig, FX_NOTICE), 1);
    assert_int_equal(rig_effects(rig, FX_RETIRE), 0);
}

static void a_conflict_holds_up_nobody(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId ids[] = {rig_task(rig), rig_task(rig)};
    verify_all(rig, ids, COUNT(ids));
    assert_true(rig_report(rig, ids[0], EV_MERGE_CONFLICT, 0, 0));
    assert_run(rig, ids[1], "merging");
}

static void a_moved_target_is_merged_again(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    for (uint32_t i = 0; i < 5; i++) {
        rig_merge(rig, task);
        assert_true(rig_report(rig, task, EV_LAND_MOVED, 0, 0));
        assert_run(rig, task, "merging");
    }
    rig_merge(rig, task);
    assert_string_equal(rig_run_of(rig, task)->new_tip, "bbbb");
    rig_land(rig, task);
}

static void the_merged_tree_is_checked_when_it_differs(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    assert_true(rig_report(rig, task, EV_MERGE_CLEAN, 0, 0));
    assert_run(rig, task, "proving");
    assert_int_equal(rig_effects(rig, FX_MERGE_GATE), 1);
    assert_true(rig_report(rig, task, EV_MERGE_GATE_ENDED, VERDICT_ERROR, 0));
    assert_true(rig_tick(rig, 1000));
    assert_true(rig_report(rig, task, EV_MERGE_GATE_ENDED, VERDICT_PASS, 0));
    assert_run(rig, task, "landing");
    rig_land(rig, task);
}

static void a_merged_tree_that_fails_goes_to_its_agent_and_then_to_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(rig_report(rig, task, EV_MERGE_CLEAN, 0, 0));
        assert_true(rig_report(rig, task, EV_MERGE_GATE_ENDED, VERDICT_FAIL, 0));
        if (i == 3)
            break;
        assert_run(rig, task, "working");
        rig_end(rig, task, SIGNAL_COMPLETE);
        rig_gate(rig, task, VERDICT_PASS);
    }
    assert_task(rig, task, "blocked");
    assert_run(rig, task, "ended");
}

static void nothing_to_merge_is_done(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    assert_true(rig_report(rig, task, EV_MERGE_EMPTY, 0, 0));
    assert_task(rig, task, "done"); /* D-143 */
    assert_run(rig, task, "retiring");
    assert_true(rig_report(rig, task, EV_RETIRED, 1, 0));
    assert_true(rig_run_of(rig, task)->has_workspace); /* kept, for want of proof */
}

static void a_merge_that_cannot_be_tried_ends_with_a_person(void **state)
{
    (void)state;
    const EventKind kinds[] = {EV_MERGE_FAILED, EV_LAND_FAILED};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task(rig);
        rig_limits(rig, "{\"max_retries\":1}");
        verify_all(rig, &task, 1);
        if (kinds[i] == EV_LAND_FAILED)
            rig_merge(rig, task);
        for (uint32_t k = 0; k < 6; k++) {
            assert_task(rig, task, "active");
            assert_true(rig_report(rig, task, kinds[i], 1, 0));
            assert_true(rig_tick(rig, 20000));
            if (k == 2 && kinds[i] == EV_LAND_FAILED) /* after the long pause it merges anew */
                rig_merge(rig, task);
        }
        assert_task(rig, task, "blocked");
    }
}

static void a_landing_is_accepted_once(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    verify_all(rig, &task, 1);
    rig_merge(rig, task);
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_false(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_int_equal(rig_effects(rig, FX_RETIRE), 1);
}

static void the_merge_queue_looks_at_every_dependency(void **state)
{
    (void)state;
    enum { MANY = 70 };
    RIG rig = rig_new(2);
    TaskId first = rig_task(rig), others[MANY];
    for (size_t i = 0; i < MANY; i++)
        others[i] = rig_task(rig);
    TaskId last = rig_task(rig);
    assert_true(rig_after(rig, last, first, NEED_STARTED));
    for (size_t i = 0; i < MANY; i++)
        assert_true(rig_after(rig, last, others[i], NEED_DONE));
    rig_run(rig);
    for (size_t i = 0; i < MANY; i++) /* in the second slot; the first task is slow */
        rig_finish(rig, others[i]);
    rig_begin(rig, last);
    rig_end(rig, last, SIGNAL_COMPLETE);
    rig_gate(rig, last, VERDICT_PASS);
    assert_run(rig, last, "queued");
    rig_finish(rig, first);
    assert_run(rig, last, "merging");
}

int test_machine_merges(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_merge_at_a_time_the_oldest_first),
        cmocka_unit_test(a_task_never_lands_before_what_it_depends_on),
        cmocka_unit_test(the_autopilot_ends_when_a_merge_waits_for_a_failed_task),
        cmocka_unit_test(a_conflict_goes_to_its_agent_three_times_and_then_to_a_person),
        cmocka_unit_test(a_conflict_holds_up_nobody),
        cmocka_unit_test(a_moved_target_is_merged_again),
        cmocka_unit_test(the_merged_tree_is_checked_when_it_differs),
        cmocka_unit_test(a_merged_tree_that_fails_goes_to_its_agent_and_then_to_a_person),
        cmocka_unit_test(nothing_to_merge_is_done),
        cmocka_unit_test(a_merge_that_cannot_be_tried_ends_with_a_person),
        cmocka_unit_test(a_landing_is_accepted_once),
        cmocka_unit_test(the_merge_queue_looks_at_every_dependency),
    };
    return cmocka_run_group_tests_name("merges", tests, NULL, NULL);
}
