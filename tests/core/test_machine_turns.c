/* One task from start to landed, and everything that can end a turn. */
#include "tests/core/test_machine_rig.h"
#include <string.h>

static void a_task_goes_from_pending_to_landed(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    assert_task(rig, task, "pending");
    rig_run(rig);
    assert_task(rig, task, "active");
    assert_int_equal(rig_effects(rig, FX_PREPARE), 1);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_TURN_STARTED, 4711, 0));
    assert_int_equal(rig_effects(rig, FX_START_TURN), 1);
    rig_end(rig, task, SIGNAL_COMPLETE);
    assert_int_equal(rig_effects(rig, FX_SNAPSHOT), 1);
    rig_gate(rig, task, VERDICT_PASS);
    assert_int_equal(machine_project(rig->machine, 1)->slots_used, 0); /* merging needs no slot */
    rig_merge(rig, task);
    rig_land(rig, task);
    assert_auto(rig, "idle");
    assert_int_equal(rig_effects(rig, FX_AUTOPILOT_ENDED), 1);
    assert_string_equal(rig_run_of(rig, task)->commit, "aaaa");
}

static void a_claim_is_checked_and_a_failed_check_goes_back_to_the_agent(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    rig_gate(rig, task, VERDICT_FAIL);
    assert_run(rig, task, "working");
    assert_int_equal(rig_run_of(rig, task)->turn, 2);
    rig_end(rig, task, SIGNAL_COMPLETE);
    rig_gate(rig, task, VERDICT_NONE); /* no check is configured: the claim alone counts (D-76) */
    rig_merge(rig, task);
    rig_land(rig, task);
}

static void the_verdict_of_an_earlier_turn_proves_nothing(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    Event late = {.kind = EV_GATE_ENDED,
                  .task = task,
                  .run = rig_run_of(rig, task)->id,
                  .epoch = 1,
                  .turn = 1,
                  .a = VERDICT_PASS};
    rig_gate(rig, task, VERDICT_FAIL);
    rig_end(rig, task, SIGNAL_COMPLETE);
    assert_run(rig, task, "verifying");
    assert_false(rig_post(rig, late));
    assert_run(rig, task, "verifying");
}

static void a_turn_without_a_signal_is_followed_by_another(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_PROGRESS, 0));
    rig_end(rig, task, SIGNAL_NONE);
    assert_run(rig, task, "working");
    assert_int_equal(rig_see(rig, task)->turns_used, 2);
}

static void the_last_control_signal_of_a_turn_decides(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_BLOCKED, 0));
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_COMPLETE, 0));
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_DISCOVERY_LOCAL, 0));
    assert_true(rig_report(rig, task, EV_SIGNAL, 999, 0)); /* no signal at all: ignored */
    assert_true(rig_report(rig, task, EV_SIGNAL, -1, 0));
    rig_end(rig, task, SIGNAL_NONE);
    assert_run(rig, task, "verifying");
}

static void a_blocked_agent_waits_for_a_person_and_frees_its_slot(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig), next = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_BLOCKED);
    assert_task(rig, task, "blocked");
    assert_run(rig, task, "ended");
    assert_run(rig, next, "preparing");
    assert_true(rig_effects(rig, FX_NOTICE) > 0);
    assert_true(rig_wish(rig, EV_ANSWER, task, 0));
    assert_task(rig, task, "pending");
}

static void a_question_is_answered_and_the_same_run_goes_on(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig), next = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_PENDING);
    assert_task(rig, task, "active");
    assert_run(rig, task, "asking");
    assert_int_equal(machine_counts(rig->machine, 1).asking, 1);
    assert_run(rig, next, "preparing"); /* others go on meanwhile */
    assert_false(rig_wish(rig, EV_ANSWER, next, 0));
    assert_true(rig_wish(rig, EV_ANSWER, task, 0));
    assert_run(rig, task, "waiting");
    rig_begin(rig, next);
    rig_end(rig, next, SIGNAL_BLOCKED);
    assert_run(rig, task, "working");
    assert_int_equal(rig_run_of(rig, task)->turn, 2);
    assert_int_equal(rig_run_of(rig, task)->epoch, 1);
}

static void the_last_turn_ends_the_task_by_timeout(void **state)
{
    (void)state;
    const SignalType signals[] = {SIGNAL_NONE, SIGNAL_PENDING};
    for (size_t i = 0; i < COUNT(signals); i++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task_of(rig, 0, 1, "{\"max_turns\":1}");
        rig_run(rig);
        rig_begin(rig, task);
        rig_end(rig, task, signals[i]);
        assert_task(rig, task, "timeout");
        assert_int_equal(rig_effects(rig, FX_RETIRE), 0); /* its work is kept */
    }
}

static void a_proven_claim_counts_even_in_the_last_turn_but_a_failed_one_does_not(void **state)
{
    (void)state;
    const Verdict verdicts[] = {VERDICT_PASS, VERDICT_FAIL};
    for (size_t i = 0; i < COUNT(verdicts); i++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task_of(rig, 0, 1, "{\"max_turns\":1}");
        rig_run(rig);
        rig_begin(rig, task);
        rig_end(rig, task, SIGNAL_COMPLETE);
        rig_gate(rig, task, verdicts[i]);
        assert_task(rig, task, verdicts[i] == VERDICT_PASS ? "active" : "timeout");
    }
}

static void the_clock_stops_a_turn_and_the_task_is_a_timeout(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task_of(rig, 0, 1, "{\"timeout_ms\":60000}");
    rig_run(rig);
    rig_begin(rig, task);
    assert_int_equal(machine_deadline(rig->machine), rig->now_ms + 60000);
    assert_true(rig_tick(rig, 59999));
    assert_run(rig, task, "working");
    assert_true(rig_tick(rig, 1));
    assert_run(rig, task, "stopping");
    assert_int_equal(rig_effects(rig, FX_STOP_TURN), 1);
    assert_true(rig_report(rig, task, EV_TURN_STARTED, 1, 0));
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_PROGRESS, 0));
    rig_exit(rig, task, 0, 15);
    assert_task(rig, task, "timeout");
    assert_int_equal(machine_deadline(rig->machine), INT64_MAX);
}

static void time_that_runs_out_between_turns_is_a_timeout_too(void **state)
{
    (void)state;
    const SignalType signals[] = {SIGNAL_NONE, SIGNAL_PENDING, SIGNAL_COMPLETE};
    for (size_t i = 0; i < COUNT(signals); i++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task_of(rig, 0, 1, "{\"timeout_ms\":60000}");
        rig_run(rig);
        rig_begin(rig, task);
        rig->now_ms += 60000; /* the tick comes late */
        rig_end(rig, task, signals[i]);
        if (signals[i] == SIGNAL_COMPLETE)
            rig_gate(rig, task, VERDICT_FAIL);
        assert_task(rig, task, "timeout");
    }
}

static void too_much_output_ends_the_turn_and_too_often_the_task(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_limits(rig, "{\"max_retries\":1}");
    rig_run(rig);
    rig_begin(rig, task);
    for (uint32_t i = 0; i < 2; i++) {
        assert_task(rig, task, "active");
        assert_true(rig_report(rig, task, EV_OUTPUT_LIMIT, 1 << 20, 0));
        assert_run(rig, task, "stopping");
        rig_exit(rig, task, 0, 15);
    }
    assert_task(rig, task, "failed");
    RIG last = rig_new(1);
    task = rig_task_of(last, 0, 1, "{\"max_turns\":1}");
    rig_run(last);
    rig_begin(last, task);
    assert_true(rig_report(last, task, EV_OUTPUT_LIMIT, 1 << 20, 0));
    rig_exit(last, task, 0, 15);
    assert_task(last, task, "timeout");
}

static void an_exit_code_is_a_failure_and_the_work_is_kept(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_COMPLETE, 0));
    rig_exit(rig, task, 3, 0);
    assert_task(rig, task, "failed");
    assert_run(rig, task, "ended");
    assert_true(rig_run_of(rig, task)->has_workspace);
    assert_int_equal(rig_effects(rig, FX_RETIRE), 0);
    assert_true(rig_effects(rig, FX_NOTICE) > 0);
}

static void a_killed_agent_is_tried_again_with_growing_pauses_and_then_failed(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    const int64_t pauses[] = {10000, 20000, 40000};
    rig_run(rig);
    for (uint32_t i = 0; i < 3; i++) {
        rig_begin(rig, task);
        rig_exit(rig, task, i == 1 ? -1 : 0, i == 1 ? 0 : 9); /* once the keeper vanishes */
        assert_task(rig, task, "pending");
        assert_run(rig, task, "parked");
        assert_int_equal(rig_see(rig, task)->retries, i + 1);
        assert_auto(rig, "running"); /* it waits for the pause to end */
        assert_int_equal(machine_deadline(rig->machine), rig->now_ms + pauses[i]);
        assert_says(rig_explain(rig, task), "tried again in");
        assert_true(rig_tick(rig, pauses[i] - 1));
        assert_task(rig, task, "pending");
        assert_true(rig_tick(rig, 1));
        assert_run(rig, task, "preparing");
        assert_int_equal(rig_run_of(rig, task)->epoch, i + 2);
    }
    rig_begin(rig, task);
    rig_exit(rig, task, 0, 9);
    assert_task(rig, task, "failed");
    assert_int_equal(rig_see(rig, task)->attempts, 1); /* one run, four epochs */
}

static void a_step_that_fails_is_tried_three_times(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_limits(rig, "{\"max_retries\":1}");
    rig_run(rig);
    assert_true(rig_report(rig, task, EV_WORKSPACE_FAILED, 1, 0));
    assert_says(rig_explain(rig, task), "tried again shortly");
    assert_false(rig_report(rig, task, EV_WORKSPACE_READY, 0, 0)); /* nobody was asked */
    assert_int_equal(machine_deadline(rig->machine), rig->now_ms + 1000);
    assert_true(rig_tick(rig, 1000));
    assert_true(rig_report(rig, task, EV_WORKSPACE_FAILED, 1, 0));
    assert_int_equal(machine_deadline(rig->machine), rig->now_ms + 2000);
    assert_true(rig_tick(rig, 2000));
    assert_int_equal(rig_effects(rig, FX_PREPARE), 3);
    assert_true(rig_report(rig, task, EV_WORKSPACE_FAILED, 1, 0));
    assert_task(rig, task, "pending"); /* one of its retries */
    assert_true(rig_tick(rig, 10000));
    rig_begin(rig, task);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(rig_report(rig, task, EV_TURN_REFUSED, 1, 0));
        assert_true(rig_tick(rig, 3000));
    }
    assert_task(rig, task, "failed");
}

static void an_agent_that_cannot_be_started_at_all_fails_at_once(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_TURN_REFUSED, 0, 0));
    assert_task(rig, task, "failed");
}

static void nothing_is_judged_before_it_is_saved(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_COMPLETE, 0));
    assert_true(rig_report(rig, task, EV_TURN_ENDED, 0, 0));
    assert_true(rig_report(rig, task, EV_SNAPSHOT_FAILED, 1, 0));
    assert_run(rig, task, "saving");
    assert_true(rig_tick(rig, 1000));
    assert_int_equal(rig_effects(rig, FX_SNAPSHOT), 2);
    assert_true(rig_report(rig, task, EV_SNAPSHOT_TAKEN, 1, 0));
    assert_run(rig, task, "verifying");
}

static void a_check_that_cannot_run_says_nothing_and_ends_with_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_limits(rig, "{\"max_retries\":1}");
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    for (uint32_t i = 0; i < 6; i++) {
        assert_task(rig, task, "active");
        rig_gate(rig, task, VERDICT_ERROR);
        assert_true(rig_tick(rig, 10000));
    }
    assert_task(rig, task, "blocked");
}

static void failures_in_a_row_pause_the_autopilot_and_a_success_counts_anew(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId ids[7];
    for (size_t i = 0; i < COUNT(ids); i++)
        ids[i] = rig_task(rig);
    rig_run(rig);
    for (size_t i = 0; i < 6; i++) {
        if (i == 2) {
            rig_finish(rig, ids[i]);
            continue;
        }
        rig_begin(rig, ids[i]);
        rig_exit(rig, ids[i], 1, 0);
    }
    assert_auto(rig, "paused");
    assert_task(rig, ids[6], "pending");
    assert_says(rig_explain(rig, ids[6]), "paused");
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    assert_task(rig, ids[6], "active");
}

static void turns_without_a_commit_warn_and_may_pause(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_limits(rig, "{\"stuck_turns\":2,\"pause_on_stuck\":true}");
    rig_run(rig);
    rig_begin(rig, task);
    for (uint32_t i = 0; i < 2; i++) {
        rig_take(rig);
        assert_true(rig_report(rig, task, EV_TURN_ENDED, 0, 0));
        assert_true(rig_report(rig, task, EV_SNAPSHOT_TAKEN, 0, 1));
    }
    assert_int_equal(rig_effects(rig, FX_NOTICE), 1);
    assert_run(rig, task, "waiting");
    assert_auto(rig, "paused");
}

static void without_a_workspace_nothing_is_prepared_saved_or_merged(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_limits(rig, "{\"has_workspace\":false}");
    rig_run(rig);
    assert_run(rig, task, "working");
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_COMPLETE, 0));
    assert_true(rig_report(rig, task, EV_TURN_ENDED, 0, 0));
    rig_gate(rig, task, VERDICT_PASS);
    assert_task(rig, task, "done");
    assert_run(rig, task, "ended");
    assert_int_equal(rig_effects(rig, FX_RETIRE), 0);
}

static void a_setting_that_changes_in_the_middle_does_not_lose_verified_work(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    rig_limits(rig, "{\"has_workspace\":false}");
    rig_gate(rig, task, VERDICT_PASS);
    assert_run(rig, task, "merging");
}

static void reports_of_an_old_epoch_are_refused_and_say_so(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task(rig);
    rig_run(rig);
    rig_begin(rig, task);
    rig_exit(rig, task, 0, 9);
    assert_true(rig_tick(rig, 10000));
    Event zombie = {.kind = EV_WORKSPACE_READY, .run = rig_run_of(rig, task)->id, .epoch = 1};
    assert_false(rig_post(rig, zombie));
    assert_says(str_text(&rig->step.why), "epoch 1");
    assert_string_equal(str_text(&rig->step.decision), "refused");
    assert_run(rig, task, "preparing");
    zombie.run = 99;
    assert_false(rig_post(rig, zombie));
}

int test_machine_turns(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_goes_from_pending_to_landed),
        cmocka_unit_test(a_claim_is_checked_and_a_failed_check_goes_back_to_the_agent),
        cmocka_unit_test(the_verdict_of_an_earlier_turn_proves_nothing),
        cmocka_unit_test(a_turn_without_a_signal_is_followed_by_another),
        cmocka_unit_test(the_last_control_signal_of_a_turn_decides),
        cmocka_unit_test(a_blocked_agent_waits_for_a_person_and_frees_its_slot),
        cmocka_unit_test(a_question_is_answered_and_the_same_run_goes_on),
        cmocka_unit_test(the_last_turn_ends_the_task_by_timeout),
        cmocka_unit_test(a_proven_claim_counts_even_in_the_last_turn_but_a_failed_one_does_not),
        cmocka_unit_test(the_clock_stops_a_turn_and_the_task_is_a_timeout),
        cmocka_unit_test(time_that_runs_out_between_turns_is_a_timeout_too),
        cmocka_unit_test(too_much_output_ends_the_turn_and_too_often_the_task),
        cmocka_unit_test(an_exit_code_is_a_failure_and_the_work_is_kept),
        cmocka_unit_test(a_killed_agent_is_tried_again_with_growing_pauses_and_then_failed),
        cmocka_unit_test(a_step_that_fails_is_tried_three_times),
        cmocka_unit_test(an_agent_that_cannot_be_started_at_all_fails_at_once),
        cmocka_unit_test(nothing_is_judged_before_it_is_saved),
        cmocka_unit_test(a_check_that_cannot_run_says_nothing_and_ends_with_a_person),
        cmocka_unit_test(failures_in_a_row_pause_the_autopilot_and_a_success_counts_anew),
        cmocka_unit_test(turns_without_a_commit_warn_and_may_pause),
        cmocka_unit_test(without_a_workspace_nothing_is_prepared_saved_or_merged),
        cmocka_unit_test(a_setting_that_changes_in_the_middle_does_not_lose_verified_work),
        cmocka_unit_test(reports_of_an_old_epoch_are_refused_and_say_so),
    };
    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
