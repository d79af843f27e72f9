/* What people ask for: pause, resume, stop, retry, skip, remove, restore, roll back; and engines
 * that come and go. */
#include "tests/core/test_machine_rig.h"
#include <string.h>

static void a_pause_takes_hold_at_the_end_of_the_turn(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId one = rig_task(rig), two = rig_task(rig), three = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, one);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    assert_auto(rig, "pausing");
    assert_int_equal(rig_effects(rig, FX_STOP_TURN), 0); /* D-112 */
    assert_true(rig_report(rig, two, EV_WORKSPACE_READY, 0, 0));
    assert_run(rig, two, "waiting"); /* its first turn has not begun, so it does not */
    rig_end(rig, one, SIGNAL_NONE);
    assert_run(rig, one, "waiting");
    assert_auto(rig, "paused");
    assert_false(rig_wish(rig, EV_PAUSE, 0, 0));
    assert_task(rig, three, "pending");
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    assert_run(rig, one, "working");
    assert_int_equal(rig_run_of(rig, one)->epoch, 1); /* the same workspace and conversation */
    assert_run(rig, two, "working");
    assert_false(rig_wish(rig, EV_RESUME, 0, 0));
}

static void a_pause_that_waited_long_enough_stops_and_parks(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 5000));
    assert_int_equal(machine_deadline(rig->machine), rig->now_ms + 5000);
    assert_true(rig_tick(rig, 5000));
    assert_run(rig, task, "stopping");
    rig_exit(rig, task, 0, 15);
    assert_run(rig, task, "parked");
    assert_task(rig, task, "pending");
    assert_int_equal(rig_see(rig, task)->retries, 0); /* no accident */
    assert_auto(rig, "paused");
}

static void nothing_merges_while_paused(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    rig_gate(rig, task, VERDICT_PASS);
    assert_run(rig, task, "queued");
    assert_auto(rig, "paused");
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    assert_run(rig, task, "merging");
}

static void a_stopped_task_goes_back_to_pending_with_its_work_saved(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig), other = rig_task_of(rig, 0, 0, NULL);
    assert_false(rig_wish(rig, EV_STOP, task, 0));
    assert_true(rig_wish(rig, EV_SKIP, other, 0));
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_wish(rig, EV_RETRY, other, 0)); /* so that the slot goes to somebody else */
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    assert_int_equal(rig_effects(rig, FX_STOP_TURN), 1);
    assert_int_equal(rig_effects(rig, FX_KILL_TURN), 0);
    assert_true(rig_wish(rig, EV_STOP, task, 1)); /* a second time, harder */
    assert_int_equal(rig_effects(rig, FX_KILL_TURN), 1);
    rig_exit(rig, task, 1, 0);
    assert_task(rig, task, "pending");
    assert_run(rig, task, "parked");
    assert_run(rig, other, "preparing");
    assert_string_equal(rig_run_of(rig, task)->commit, "aaaa");
}

static void a_stop_reaches_a_run_in_every_state(void **state)
{
    (void)state;
    for (int stage = 0; stage < 6; stage++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task(rig);
        rig_run(rig);
        if (stage >= 1)
            rig_begin(rig, task);
        if (stage == 2)
            assert_true(rig_report(rig, task, EV_TURN_ENDED, 0, 0));
        if (stage == 3)
            rig_end(rig, task, SIGNAL_COMPLETE);
        if (stage == 4)
            rig_end(rig, task, SIGNAL_PENDING);
        if (stage == 5)
            assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
        if (stage == 5)
            rig_end(rig, task, SIGNAL_NONE); /* waiting */
        else
            assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
        assert_true(rig_wish(rig, EV_STOP, task, 0));
        if (stage == 0)
            assert_true(rig_report(rig, task, EV_WORKSPACE_READY, 0, 0));
        if (stage == 1)
            assert_true(rig_report(rig, task, EV_TURN_REFUSED, 0, 0)); /* it never began */
        if (stage == 1 || stage == 2)
            assert_true(rig_report(rig, task, EV_SNAPSHOT_TAKEN, 1, 0));
        if (stage == 3)
            rig_gate(rig, task, VERDICT_PASS);
        assert_run(rig, task, "parked");
        assert_task(rig, task, "pending");
        assert_auto(rig, "paused");
    }
}

static void stop_all_ends_every_agent_and_pauses(void **state)
{
    (void)state;
    RIG rig = rig_new(3);
    TaskId ids[3];
    for (size_t i = 0; i < COUNT(ids); i++)
        ids[i] = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, ids[0]);
    rig_begin(rig, ids[1]);
    assert_true(rig_wish(rig, EV_STOP_ALL, 0, 1));
    assert_int_equal(rig_effects(rig, FX_KILL_TURN), 2);
    rig_exit(rig, ids[0], 0, 9);
    rig_exit(rig, ids[1], 0, 9);
    assert_auto(rig, "pausing");
    assert_true(rig_report(rig, ids[2], EV_WORKSPACE_READY, 0, 0));
    assert_auto(rig, "paused");
    for (size_t i = 0; i < COUNT(ids); i++) {
        assert_task(rig, ids[i], "pending");
        assert_run(rig, ids[i], "parked");
    }
}

static void a_stopped_run_that_cannot_be_saved_is_parked_not_failed(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_wish(rig, EV_STOP_ALL, 0, 0));
    assert_true(rig_report(rig, task, EV_TURN_ENDED, 0, 15));
    assert_true(rig_report(rig, task, EV_SNAPSHOT_FAILED, 0, 0));
    assert_task(rig, task, "pending");
    assert_run(rig, task, "parked");
}

static void a_retry_goes_on_from_the_last_snapshot_unless_it_is_fresh(void **state)
{
    (void)state;
    for (int fresh = 0; fresh < 2; fresh++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task(rig);
        rig_run(rig);
        rig_begin(rig, task);
        rig_exit(rig, task, 1, 0);
        RunId first = rig_see(rig, task)->run;
        assert_auto(rig, "idle");
        assert_true(rig_wish(rig, EV_RETRY, task, fresh));
        assert_task(rig, task, "pending");
        assert_false(rig_wish(rig, EV_RETRY, task, 0)); /* it waits already */
        rig_run(rig);
        assert_int_not_equal(rig_see(rig, task)->run, first);
        assert_int_equal(rig_run_of(rig, task)->from, fresh ? 0 : first);
        assert_false(rig_wish(rig, EV_RETRY, task, 0)); /* it runs */
    }
}

static void a_fresh_start_leaves_no_parked_run_behind(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_wish(rig, EV_SKIP, task, 0));
    rig_exit(rig, task, 0, 15);
    RunId first = rig_see(rig, task)->run;
    assert_run(rig, task, "parked");
    assert_true(rig_wish(rig, EV_RETRY, task, 1));
    rig_run(rig);
    assert_int_not_equal(rig_see(rig, task)->run, first);
    assert_int_equal(machine_run(rig->machine, first)->state, RUN_ENDED);
}

static void a_task_is_skipped_removed_and_brought_back(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    assert_true(rig_wish(rig, EV_SKIP, task, 0));
    assert_task(rig, task, "skipped");
    assert_false(rig_wish(rig, EV_SKIP, task, 0));
    assert_false(rig_wish(rig, EV_RESTORE, task, 0));
    assert_true(rig_wish(rig, EV_REMOVE, task, 0));
    assert_task(rig, task, "cancelled");
    assert_false(rig_wish(rig, EV_RETRY, task, 0));
    assert_false(rig_wish(rig, EV_TASK_EDITED, task, 0));
    rig_run(rig);
    assert_auto(rig, "idle");
    assert_true(rig_wish(rig, EV_RESTORE, task, 0));
    assert_task(rig, task, "pending");
    rig_run(rig);
    rig_finish(rig, task);
    assert_false(rig_wish(rig, EV_SKIP, task, 0)); /* done is done */
    assert_false(rig_wish(rig, EV_REMOVE, task, 0));
}

static void leaving_out_a_running_task_stops_its_agent_first(void **state)
{
    (void)state;
    const EventKind wishes[] = {EV_SKIP, EV_REMOVE};
    for (size_t i = 0; i < COUNT(wishes); i++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task(rig);
        rig_run(rig);
        rig_begin(rig, task);
        assert_true(rig_wish(rig, wishes[i], task, 0));
        assert_int_equal(rig_effects(rig, FX_STOP_TURN), 1);
        if (wishes[i] == EV_REMOVE)
            assert_false(rig_wish(rig, EV_SKIP, task, 0)); /* what is removed is not skipped */
        assert_true(rig_wish(rig, EV_STOP_ALL, 0, 1));     /* brings it not back */
        rig_exit(rig, task, 0, 9);
        assert_task(rig, task, i ? "cancelled" : "skipped");
        assert_run(rig, task, "parked");
        assert_int_equal(rig_effects(rig, FX_RETIRE), 0); /* its work is kept */
    }
}

static void what_is_being_merged_is_neither_stopped_nor_left_out(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    rig_gate(rig, task, VERDICT_PASS);
    const EventKind wishes[] = {EV_STOP, EV_SKIP, EV_REMOVE, EV_RETRY, EV_ROLLBACK};
    for (size_t i = 0; i < COUNT(wishes); i++) {
        Err err = {0};
        assert_false(machine_check(rig->machine, &(Event){.kind = wishes[i], .task = task}, &err));
        assert_true(strlen(err.text) > 10);
        assert_false(rig_wish(rig, wishes[i], task, 0));
    }
    rig_merge(rig, task);
    rig_land(rig, task);
}

static void a_landed_task_is_rolled_back_and_starts_afresh(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_finish(rig, task);
    assert_false(rig_wish(rig, EV_ROLLED_BACK, task, 0)); /* nobody asked */
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_int_equal(rig_effects(rig, FX_ROLLBACK), 1);
    assert_false(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_true(rig_wish(rig, EV_ROLLBACK_FAILED, task, 0));
    assert_task(rig, task, "done");
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    rig_reload(rig, true);
    assert_int_equal(rig_effects(rig, FX_ROLLBACK), 1); /* still owed after a restart */
    assert_true(rig_wish(rig, EV_ROLLED_BACK, task, 0));
    assert_task(rig, task, "pending");
    rig_run(rig);
    assert_int_equal(rig_run_of(rig, task)->from, 0);
    rig_finish(rig, task);
}

static void a_failed_task_is_rolled_back_without_touching_the_target(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    assert_false(rig_wish(rig, EV_ROLLBACK, task, 0));
    rig_begin(rig, task);
    rig_exit(rig, task, 1, 0);
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_task(rig, task, "pending");
    assert_true(rig_see(rig, task)->is_fresh);
    assert_int_equal(rig_effects(rig, FX_ROLLBACK), 0);
}

static void an_edited_failure_is_tried_again(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_exit(rig, task, 1, 0);
    assert_true(rig_wish(rig, EV_TASK_EDITED, task, TAG_CRITICAL));
    assert_task(rig, task, "pending"); /* D-134 */
    assert_int_equal(rig_see(rig, task)->tags, TAG_CRITICAL);
}

static void offline_nothing_is_taken_and_wishes_are_kept(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_reload(rig, false);
    rig_run(rig);
    assert_auto(rig, "running");
    assert_task(rig, task, "pending");
    assert_int_equal(machine_deadline(rig->machine), INT64_MAX);
    rig_reload(rig, true);
    assert_task(rig, task, "active");
    assert_int_equal(rig_effects(rig, FX_PREPARE), 1);
}

static void a_restart_owes_again_what_was_under_way(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId one = rig_task(rig), two = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, one);
    assert_true(rig_report(rig, two, EV_WORKSPACE_FAILED, 1, 0));
    rig_take(rig);
    rig_reload(rig, true);
    assert_int_equal(rig_effects(rig, FX_START_TURN), 1);
    assert_int_equal(rig_effects(rig, FX_PREPARE), 0); /* it waits for its second try */
    assert_true(rig_tick(rig, 1000));
    assert_int_equal(rig_effects(rig, FX_PREPARE), 1);
    assert_int_equal(rig_run_of(rig, one)->epoch, 1); /* the agent went on meanwhile */
    rig_end(rig, one, SIGNAL_COMPLETE);
    assert_run(rig, one, "verifying");
}

static void a_low_disk_takes_nothing_new_and_a_full_one_stops_everything(void **state)
{
    (void)state;
    RIG rig = rig_new(2);
    TaskId one = rig_task(rig), two = rig_task(rig);
    assert_true(rig_after(rig, two, one, NEED_STARTED));
    assert_true(rig_post(rig, (Event){.kind = EV_DISK, .a = 400, .b = 2}));
    rig_run(rig);
    assert_task(rig, one, "pending");
    assert_says(rig_explain(rig, one), "disk");
    assert_true(rig_post(rig, (Event){.kind = EV_DISK, .a = 4000}));
    rig_begin(rig, one);
    assert_true(rig_post(rig, (Event){.kind = EV_DISK, .a = 50, .b = 3}));
    assert_run(rig, one, "stopping");
    rig_exit(rig, one, 0, 15);
    assert_task(rig, one, "pending");
    assert_auto(rig, "running"); /* it goes on when there is room */
}

int test_machine_wishes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_takes_hold_at_the_end_of_the_turn),
        cmocka_unit_test(a_pause_that_waited_long_enough_stops_and_parks),
        cmocka_unit_test(nothing_merges_while_paused),
        cmocka_unit_test(a_stopped_task_goes_back_to_pending_with_its_work_saved),
        cmocka_unit_test(a_stop_reaches_a_run_in_every_state),
        cmocka_unit_test(stop_all_ends_every_agent_and_pauses),
        cmocka_unit_test(a_stopped_run_that_cannot_be_saved_is_parked_not_failed),
        cmocka_unit_test(a_retry_goes_on_from_the_last_snapshot_unless_it_is_fresh),
        cmocka_unit_test(a_fresh_start_leaves_no_parked_run_behind),
        cmocka_unit_test(a_task_is_skipped_removed_and_brought_back),
        cmocka_unit_test(leaving_out_a_running_task_stops_its_agent_first),
        cmocka_unit_test(what_is_being_merged_is_neither_stopped_nor_left_out),
        cmocka_unit_test(a_landed_task_is_rolled_back_and_starts_afresh),
        cmocka_unit_test(a_failed_task_is_rolled_back_without_touching_the_target),
        cmocka_unit_test(an_edited_failure_is_tried_again),
        cmocka_unit_test(offline_nothing_is_taken_and_wishes_are_kept),
        cmocka_unit_test(a_restart_owes_again_what_was_under_way),
        cmocka_unit_test(a_low_disk_takes_nothing_new_and_a_full_one_stops_everything),
    };
    return cmocka_run_group_tests_name("wishes", tests, NULL, NULL);
}
