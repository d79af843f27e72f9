/* Tasks through workflows by events alone: every kind of phase, limits, stages, rollbacks. */
#include "tests/core/test_machine_flow.h"
#include <string.h>

TaskId flow_task(Rig *rig, const char *workflow)
{
    char limits[96];
    (void)snprintf(limits, sizeof limits, "{\"workflow\":%d,\"filled\":true,\"confirmed\":true}",
                   workflow_number(workflow) + 1); /* fits */
    return rig_task_of(rig, 0, 1, limits);
}

void flow_begin(Rig *rig, TaskId task)
{
    rig_run(rig);
    rig_begin(rig, task);
}

bool flow_post(Rig *rig, TaskId task, EventKind kind, const char *text, const char *ref)
{
    const Run *run = rig_run_of(rig, task);
    return rig_post(rig, (Event){.kind = kind,
                                 .project = 1,
                                 .task = task,
                                 .run = run->id,
                                 .epoch = run->epoch,
                                 .turn = run->turn,
                                 .text = text,
                                 .ref = ref});
}

void flow_ends(Rig *rig, TaskId task, int code, int killed_by)
{
    char commit[16];
    (void)snprintf(commit, sizeof commit, "c%u", rig_run_of(rig, task)->turn); /* fits */
    assert_true(rig_report(rig, task, EV_TURN_ENDED, code, killed_by));
    if (rig_run_of(rig, task)->state == RUN_SAVING)
        assert_true(flow_post(rig, task, EV_SNAPSHOT_TAKEN, NULL, commit));
}

void flow_says_json(Rig *rig, TaskId task, const char *json)
{
    assert_run(rig, task, "working");
    assert_true(flow_post(rig, task, EV_STEP_RESULT, json, NULL));
    flow_ends(rig, task, 0, 0);
}

void flow_says(Rig *rig, TaskId task, const char *result)
{
    char json[96];
    (void)snprintf(json, sizeof json, "{\"result\":\"%s\"}", result); /* fits */
    flow_says_json(rig, task, json);
}

void flow_to_check(Rig *rig, TaskId task)
{
    assert_phase(rig, task, "plan");
    flow_says(rig, task, "(generated)");
    rig_gate(rig, task, VERDICT_PASS);
    flow_says(rig, task, "PASS");
    flow_says(rig, task, "(done)");
    rig_gate(rig, task, VERDICT_PASS);
    assert_phase(rig, task, "check");
    assert_at(rig, task, "post-exec");
}

void flow_stage(Rig *rig, TaskId task, int convergence)
{
    char json[64];
    (void)snprintf(json, sizeof json, "{\"result\":\"ACCEPT\",\"convergence\":%d}",
                   convergence); /* fits */
    flow_to_check(rig, task);
    flow_says_json(rig, task, json);
    assert_phase(rig, task, "highlight");
    flow_says(rig, task, "(distilled)");
    assert_run(rig, task, "reporting");
    assert_true(rig_report(rig, task, EV_REPORTED, 0, 0));
}

const char *flow_phase(const Rig *rig, TaskId task)
{
    const Run *run = rig_run_of(rig, task);
    return run_workflow(rig->machine, run)->phases[run->phase].name;
}

const char *flow_checkpoint(const Rig *rig, TaskId task)
{
    const Run *run = rig_run_of(rig, task);
    return run_workflow(rig->machine, run)->checkpoints[run->checkpoint].name;
}

bool flow_command(Rig *rig, TaskId task, const char *command)
{
    return rig_post(rig, (Event){.kind = EV_COMMAND, .task = task, .text = command});
}

bool flow_review(Rig *rig, TaskId task, ReviewDecision decision, RedoHow how, const char *commit)
{
    return rig_post(rig, (Event){.kind = EV_REVIEWED,
                                 .task = task,
                                 .a = decision,
                                 .b = how,
                                 .text = "feedback",
                                 .ref = commit});
}

/* -- whole passages ------------------------------------------------------------------------- */

static void a_task_goes_through_the_lifecycle(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    assert_status(rig, task, "draft");
    flow_begin(rig, task);
    assert_phase(rig, task, "plan");
    flow_says(rig, task, "(generated)");
    assert_status(rig, task, "planning");
    assert_at(rig, task, "post-plan");
    rig_gate(rig, task, VERDICT_PASS);
    assert_phase(rig, task, "check");
    rig_take(rig);
    flow_says(rig, task, "PASS");
    assert_int_equal(rig_effects(rig, FX_SNAPSHOT), 0); /* the reviewer works on a copy */
    assert_phase(rig, task, "exec");
    assert_status(rig, task, "executing");
    flow_says(rig, task, "(step-2)");
    assert_at(rig, task, "mid-exec");
    rig_gate(rig, task, VERDICT_FAIL);
    flow_says(rig, task, "CONTINUE");
    flow_says(rig, task, "(done)");
    rig_gate(rig, task, VERDICT_NONE);
    flow_says(rig, task, "ACCEPT");
    assert_int_equal(machine_project(rig->machine, 1)->slots_used, 0);
    assert_string_equal(rig_run_of(rig, task)->commit, "c5");
    rig_merge(rig, task);
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_run(rig, task, "reporting");
    assert_task(rig, task, "active");
    assert_auto(rig, "running"); /* a report under way is something to wait for */
    assert_true(rig_report(rig, task, EV_REPORTED, 0, 0));
    assert_task(rig, task, "done");
    assert_status(rig, task, "complete");
    assert_run(rig, task, "retiring");
    assert_auto(rig, "idle");
}

static void a_task_goes_through_three_stages(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    flow_begin(rig, task);
    assert_phase(rig, task, "target");
    flow_says(rig, task, "(stage-advanced)");
    flow_stage(rig, task, 4000);
    assert_phase(rig, task, "target");
    assert_status(rig, task, "evolving");
    assert_int_equal(rig_run_of(rig, task)->converged, 4000);
    assert_string_equal(rig_run_of(rig, task)->good, "c4");
    flow_says(rig, task, "(stage-advanced)");
    assert_int_equal(rig_run_of(rig, task)->stage, 2);
    assert_int_equal(rig_run_of(rig, task)->steps, 1);
    flow_stage(rig, task, 7000);
    flow_says(rig, task, "(stage-advanced)");
    assert_int_equal(rig_run_of(rig, task)->stage, 3);
    flow_stage(rig, task, 9600);
    assert_status(rig, task, "satisfied");
    assert_string_equal(rig_run_of(rig, task)->commit, rig_run_of(rig, task)->good);
    rig_merge(rig, task);
    rig_land(rig, task);
    assert_status(rig, task, "satisfied");
}

static void a_session_that_drives_itself_is_checked_and_landed(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "auto-a");
    flow_begin(rig, task);
    assert_true(flow_post(rig, task, EV_OBSERVED, "{\"step\":\"plan\"}", "planning"));
    assert_status(rig, task, "planning");
    assert_true(flow_post(rig, task, EV_OBSERVED, "{\"step\":\"exec\"}", "complete"));
    assert_status(rig, task, "planning"); /* only a landing makes it complete */
    flow_says(rig, task, "finished");
    assert_run(rig, task, "verifying");
    rig_gate(rig, task, VERDICT_PASS);
    rig_merge(rig, task);
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_true(rig_report(rig, task, EV_REPORTED, 0, 0));
    assert_status(rig, task, "complete");
}

static void a_stop_wish_of_the_watcher_ends_the_session(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "auto-b");
    flow_begin(rig, task);
    assert_true(flow_post(rig, task, EV_OBSERVED, "{\"wish\":\"max_iterations\"}", NULL));
    assert_run(rig, task, "stopping");
    flow_ends(rig, task, 0, 15);
    assert_task(rig, task, "timeout");
}

/* -- limits --------------------------------------------------------------------------------- */

static void to_plan_check(Rig *rig, TaskId task)
{
    flow_says(rig, task, "(generated)");
    rig_gate(rig, task, VERDICT_PASS);
    assert_phase(rig, task, "check");
}

static void retries_of_a_gate_are_counted_and_begin_anew_when_it_passes(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    for (uint32_t i = 1; i <= 2; i++) {
        to_plan_check(rig, task);
        flow_says(rig, task, "NEEDS_REVISION");
        assert_int_equal(gate_tries_of(rig_run_of(rig, task), 1), i);
    }
    to_plan_check(rig, task);
    flow_ends(rig, task, 0, 9); /* killed: no verdict, no retry of the gate (B-46) */
    assert_int_equal(gate_tries_of(rig_run_of(rig, task), 1), 2);
    assert_int_equal(rig_see(rig, task)->retries, 1);
    assert_run(rig, task, "parked");
    assert_true(rig_tick(rig, 60000));
    rig_begin(rig, task);
    assert_phase(rig, task, "check"); /* it goes on where it was */
    assert_at(rig, task, "post-plan");
    flow_says(rig, task, "PASS");
    assert_int_equal(rig_run_of(rig, task)->gate_tries, 0);
}

static void a_verdict_that_was_told_before_the_accident_is_no_round(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    to_plan_check(rig, task);
    assert_true(flow_post(rig, task, EV_STEP_RESULT, "{\"result\":\"NEEDS_REVISION\"}", NULL));
    flow_ends(rig, task, 0, 9);
    assert_int_equal(rig_run_of(rig, task)->gate_tries, 0);
    assert_int_equal(rig_see(rig, task)->retries, 1);
}

static void spent_retries_are_answered_by_one_rollback_and_then_by_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    rig_limits(rig, "{\"max_steps\":100}");
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 3; i++) {
            to_plan_check(rig, task);
            flow_says(rig, task, "NEEDS_REVISION");
            assert_phase(rig, task, "plan");
        }
        to_plan_check(rig, task);
        flow_says(rig, task, "NEEDS_REVISION");
        if (round == 1)
            break;
        assert_run(rig, task, "resetting");
        assert_int_equal(rig_effects(rig, FX_RESET), 1);
        assert_auto(rig, "running");
        uint32_t epoch = rig_run_of(rig, task)->epoch;
        assert_true(rig_report(rig, task, EV_RESET_DONE, 0, 0));
        assert_int_equal(rig_run_of(rig, task)->epoch, epoch + 1);
        assert_string_equal(rig_run_of(rig, task)->commit, ""); /* the base: nothing was accepted */
        assert_status(rig, task, "re-planning");
        assert_int_equal(rig_run_of(rig, task)->gate_tries, 0);
        rig_begin(rig, task);
        assert_phase(rig, task, "plan");
    }
    assert_task(rig, task, "blocked");
}

static void to_second_stage(Rig *rig, TaskId task)
{
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    flow_stage(rig, task, 5000);
    flow_says(rig, task, "(stage-advanced)");
    flow_to_check(rig, task);
}

static void a_stage_that_leads_nowhere_goes_back_to_the_one_before(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    to_second_stage(rig, task);
    flow_says(rig, task, "ROLLBACK");
    assert_run(rig, task, "resetting");
    assert_true(rig_report(rig, task, EV_RESET_DONE, 0, 0));
    assert_string_equal(rig_run_of(rig, task)->commit, "c4");
    assert_string_equal(rig_run_of(rig, task)->good, "c4");
    assert_status(rig, task, "evolving");
    rig_begin(rig, task);
    assert_phase(rig, task, "target");
    flow_says(rig, task, "(stage-advanced)");
    assert_int_equal(rig_run_of(rig, task)->stage, 3);
}

static void a_stage_that_falls_behind_goes_back(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    to_second_stage(rig, task);
    flow_says_json(rig, task, "{\"result\":\"ACCEPT\",\"convergence\":4999}");
    assert_run(rig, task, "resetting");
    assert_int_equal(rig_run_of(rig, task)->converged, 5000);
    assert_string_equal(rig_run_of(rig, task)->good, "c4");
}

static void a_rollback_that_cannot_be_made_asks_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    to_second_stage(rig, task);
    flow_says(rig, task, "ROLLBACK");
    assert_true(rig_report(rig, task, EV_RESET_FAILED, 1, 0));
    assert_run(rig, task, "resetting");
    assert_false(rig_report(rig, task, EV_RESET_DONE, 0, 0)); /* it is tried again later */
    assert_true(rig_tick(rig, 2000));
    assert_true(rig_report(rig, task, EV_RESET_FAILED, 0, 0));
    assert_task(rig, task, "blocked");
    assert_string_equal(rig_run_of(rig, task)->commit, "c4"); /* it was decided */
}

static void a_rollback_that_is_stopped_goes_on_by_its_status(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    to_second_stage(rig, task);
    flow_says(rig, task, "ROLLBACK");
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    assert_run(rig, task, "resetting");
    Event old = {.kind = EV_RESET_DONE,
                 .task = task,
                 .run = rig_run_of(rig, task)->id,
                 .epoch = rig_run_of(rig, task)->epoch,
                 .turn = rig_run_of(rig, task)->turn};
    assert_true(rig_report(rig, task, EV_RESET_DONE, 0, 0));
    assert_run(rig, task, "parked");
    assert_task(rig, task, "pending");
    rig_run(rig);
    assert_false(rig_post(rig, old)); /* of the epoch before */
    rig_begin(rig, task);
    assert_phase(rig, task, "target");
    assert_string_equal(rig_run_of(rig, task)->commit, "c4");
}

static void the_steps_of_a_stage_are_limited(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    rig_limits(rig, "{\"max_steps\":5}");
    flow_begin(rig, task);
    flow_says(rig, task, "(generated)");
    rig_gate(rig, task, VERDICT_PASS);
    flow_says(rig, task, "NEEDS_REVISION");
    to_plan_check(rig, task);
    assert_int_equal(rig_run_of(rig, task)->steps, 5);
    flow_says(rig, task, "PASS");
    assert_task(rig, task, "timeout");
    assert_status(rig, task, "review"); /* what passed stays passed */
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    flow_begin(rig, task);
    assert_phase(rig, task, "exec");
    assert_int_equal(rig_run_of(rig, task)->steps, 0);
}

static void turns_are_counted_for_each_step(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    rig_limits(rig, "{\"max_turns\":3}");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "NEEDS_FIX");
    assert_int_equal(rig_run_of(rig, task)->turn, 5);
    flow_ends(rig, task, 0, 0); /* no answer in the fifth turn, the first of this step */
    assert_run(rig, task, "working");
    flow_ends(rig, task, 0, 0);
    flow_ends(rig, task, 0, 0);
    assert_task(rig, task, "timeout");
}

/* -- answers -------------------------------------------------------------------------------- */

static void an_answer_that_cannot_be_read_is_asked_for_once_more(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_says_json(rig, task, "{\"resu");
    assert_run(rig, task, "working");
    assert_phase(rig, task, "plan");
    assert_int_equal(rig_run_of(rig, task)->steps, 0);
    flow_says(rig, task, "(generated)");
    rig_gate(rig, task, VERDICT_PASS);
    flow_says(rig, task, "invalid"); /* of a check too */
    assert_phase(rig, task, "check");
    assert_run(rig, task, "working");
    flow_says(rig, task, "invalid");
    assert_task(rig, task, "blocked");
    assert_int_equal(rig_run_of(rig, task)->gate_tries, 0);
}

static void two_answers_that_cannot_be_read_fail(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_says(rig, task, "invalid");
    flow_says(rig, task, "invalid");
    assert_task(rig, task, "failed");
    assert_status(rig, task, "draft");
}

static void reports_of_another_turn_or_epoch_are_refused(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    const Run *run = rig_run_of(rig, task);
    const EventKind kinds[] = {EV_STEP_RESULT, EV_OBSERVED,     EV_REPORTED,
                               EV_RESET_DONE,  EV_RESET_FAILED, EV_GATE_ENDED};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        Event event = {.kind = kinds[i], .task = task, .run = run->id, .text = "{}"};
        event.epoch = run->epoch;
        event.turn = run->turn - 1;
        assert_false(rig_post(rig, event));
        event.epoch = run->epoch + 1;
        event.turn = run->turn;
        assert_false(rig_post(rig, event));
    }
}

static void a_verdict_from_before_the_first_turn_proves_no_later_work(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_ends(rig, task, 1, 0);
    assert_task(rig, task, "blocked");             /* B-46 */
    assert_true(rig_wish(rig, EV_RETRY, task, 0)); /* executing: a new run begins with verify */
    rig_run(rig);
    assert_true(rig_report(rig, task, EV_WORKSPACE_READY, 0, 0));
    assert_run(rig, task, "verifying");
    Event late = {.kind = EV_GATE_ENDED, .task = task, .run = rig_run_of(rig, task)->id};
    late.epoch = 1;
    late.a = VERDICT_PASS;
    assert_true(rig_post(rig, late));
    flow_says(rig, task, "NEEDS_FIX");
    flow_says(rig, task, "(done)");
    assert_run(rig, task, "verifying");
    assert_false(rig_post(rig, late));
}

static void a_workspace_that_cannot_be_made_for_a_check_is_an_error_of_the_check(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    rig_limits(rig, "{\"max_retries\":0}");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_ends(rig, task, 1, 0);
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    rig_run(rig);
    assert_true(rig_report(rig, task, EV_WORKSPACE_FAILED, 0, 0));
    assert_task(rig, task, "blocked");
}

/* -- merging -------------------------------------------------------------------------------- */

static void a_resolved_conflict_is_checked_before_it_lands(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "ACCEPT");
    assert_true(rig_report(rig, task, EV_MERGE_CONFLICT, 0, 0));
    assert_phase(rig, task, "resolve");
    flow_says(rig, task, "(done)");
    assert_run(rig, task, "merging");
    assert_true(rig_report(rig, task, EV_MERGE_CLEAN, 1, 0));
    assert_run(rig, task, "proving"); /* the tree is the agent's own, and nobody has checked it */
}

static void only_accepted_work_is_merged_by_command(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    rig_limits(rig, "{\"max_conflict_tries\":0}");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    flow_ends(rig, task, 0, 15);
    assert_task(rig, task, "pending");
    assert_false(flow_command(rig, task, "merge"));
    rig_run(rig);
    rig_begin(rig, task);
    flow_says(rig, task, "ACCEPT");
    assert_true(rig_report(rig, task, EV_MERGE_CONFLICT, 0, 0));
    assert_task(rig, task, "blocked");
    assert_status(rig, task, "executing");
    assert_true(flow_command(rig, task, "merge"));
    rig_run(rig);
    assert_status(rig, task, "executing"); /* complete only when it has landed */
    assert_run(rig, task, "merging");
    assert_auto(rig, "running");
}

/* -- runs ----------------------------------------------------------------------------------- */

static void a_new_run_goes_on_in_the_status_of_the_last(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "NEEDS_FIX");
    flow_ends(rig, task, 3, 0);
    assert_task(rig, task, "failed");
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    rig_run(rig);
    assert_int_equal(rig_run_of(rig, task)->from, 1);
    assert_status(rig, task, "executing");
    assert_phase(rig, task, "verify");
    assert_at(rig, task, "post-exec");
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    assert_true(rig_report(rig, task, EV_WORKSPACE_READY, 0, 0));
    assert_run(rig, task, "parked");
    assert_true(rig_wish(rig, EV_SKIP, task, 0));
    assert_true(rig_wish(rig, EV_RETRY, task, 1));
    rig_run(rig);
    assert_status(rig, task, "draft");
    assert_phase(rig, task, "plan");
    assert_int_equal(rig_run_of(rig, task)->from, 0);
}

static void a_run_that_rests_goes_on_in_its_phase(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    to_plan_check(rig, task);
    flow_says(rig, task, "PASS");
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    flow_ends(rig, task, 0, 15);
    rig_reload(rig, true);
    rig_run(rig);
    assert_int_equal(rig_run_of(rig, task)->id, 1);
    rig_begin(rig, task);
    assert_phase(rig, task, "exec");
}

static void another_workflow_begins_at_its_own_beginning(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    to_plan_check(rig, task);
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    flow_ends(rig, task, 0, 15);
    assert_true(flow_command(rig, task, "research"));
    rig_limits(rig, "{\"slots\":0}");
    assert_true(
        rig_post(rig, (Event){.kind = EV_TASK_EDITED, .task = task, .ref = "{\"workflow\":3}"}));
    assert_int_equal(rig_see(rig, task)->next_phase, 0);
    assert_status(rig, task, "draft");
    rig_limits(rig, "{\"slots\":1}");
    rig_run(rig);
    rig_begin(rig, task);
    assert_int_equal(rig_run_of(rig, task)->id, rig_see(rig, task)->run);
    assert_phase(rig, task, "target");
}

static void the_loop_takes_the_place_of_a_workflow_that_nobody_knows(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":200}");
    rig_run(rig);
    rig_finish(rig, task);
}

static void a_workflow_of_the_user_is_followed(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    const char *definition =
        "{\"name\":\"small\",\"phases\":{\"work\":{\"kind\":\"agent\",\"prompt\":\"work\"},"
        "\"nod\":{\"kind\":\"approve\"},\"test\":{\"kind\":\"verify\"},"
        "\"land\":{\"kind\":\"merge\"}}}";
    Event event = {.kind = EV_WORKFLOW_DEFINED, .a = 16, .text = definition, .ref = "small"};
    assert_true(rig_post(rig, event));
    event.text = "{\"name\":";
    assert_false(rig_post(rig, event));
    event.text = definition;
    event.a = 3; /* of a built-in one */
    assert_false(rig_post(rig, event));
    event.a = 9999;
    assert_false(rig_post(rig, event));
    TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":17}"), other = rig_task(rig);
    flow_begin(rig, task);
    assert_true(rig_report(rig, task, EV_SIGNAL, SIGNAL_PENDING, 0));
    flow_ends(rig, task, 0, 0);
    assert_run(rig, task, "asking");
    assert_false(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL)); /* it was a question */
    assert_true(rig_wish(rig, EV_ANSWER, task, 0));
    rig_begin(rig, other);
    rig_end(rig, other, SIGNAL_BLOCKED);
    flow_says(rig, task, "COMPLETE");
    assert_run(rig, task, "asking");
    assert_true(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL));
    rig_run(rig);
    rig_gate(rig, task, VERDICT_PASS);
    rig_merge(rig, task);
    rig_land(rig, task);
}

static void dependents_wait_for_the_gate_and_not_for_a_question_before_it(void **state)
{
    (void)state;
    RIG rig = rig_new(3);
    TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":3,\"filled\":true}");
    TaskId started = rig_task(rig), verified = rig_task(rig);
    assert_true(rig_after(rig, started, task, NEED_STARTED));
    assert_true(rig_after(rig, verified, task, NEED_VERIFIED));
    flow_begin(rig, task);
    assert_task(rig, started, "active");
    flow_says(rig, task, "(refined)");
    assert_task(rig, task, "review"); /* to be confirmed: nothing is built yet */
    assert_phase(rig, task, "confirm");
    assert_task(rig, verified, "pending");
    assert_true(rig_wish(rig, EV_HOLD, 0, 1));
    TaskId last = flow_task(rig, "lifecycle"), next = rig_task(rig);
    assert_true(rig_after(rig, next, last, NEED_VERIFIED));
    assert_true(rig_wish(rig, EV_HOLD, 0, 0));
    assert_true(rig_report(rig, last, EV_WORKSPACE_READY, 0, 0));
    flow_to_check(rig, last);
    assert_task(rig, next, "pending");
    flow_says_json(rig, last, "{\"result\":\"ACCEPT\",\"review\":true}");
    assert_task(rig, last, "review");
    assert_task(rig, next, "active");
}

static void the_autopilot_ends_while_people_are_asked(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "GUARDED");
    assert_run(rig, task, "asking");
    assert_task(rig, task, "review");
    assert_auto(rig, "idle");
    rig_reload(rig, true);
    assert_task(rig, task, "review");
    assert_true(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL));
    assert_run(rig, task, "queued"); /* it waits for the next run of the autopilot */
}

static int test_flows(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_goes_through_the_lifecycle),
        cmocka_unit_test(a_task_goes_through_three_stages),
        cmocka_unit_test(a_session_that_drives_itself_is_checked_and_landed),
        cmocka_unit_test(a_stop_wish_of_the_watcher_ends_the_session),
        cmocka_unit_test(retries_of_a_gate_are_counted_and_begin_anew_when_it_passes),
        cmocka_unit_test(a_verdict_that_was_told_before_the_accident_is_no_round),
        cmocka_unit_test(spent_retries_are_answered_by_one_rollback_and_then_by_a_person),
        cmocka_unit_test(a_stage_that_leads_nowhere_goes_back_to_the_one_before),
        cmocka_unit_test(a_stage_that_falls_behind_goes_back),
        cmocka_unit_test(a_rollback_that_cannot_be_made_asks_a_person),
        cmocka_unit_test(a_rollback_that_is_stopped_goes_on_by_its_status),
        cmocka_unit_test(the_steps_of_a_stage_are_limited),
        cmocka_unit_test(turns_are_counted_for_each_step),
        cmocka_unit_test(an_answer_that_cannot_be_read_is_asked_for_once_more),
        cmocka_unit_test(two_answers_that_cannot_be_read_fail),
        cmocka_unit_test(reports_of_another_turn_or_epoch_are_refused),
        cmocka_unit_test(a_verdict_from_before_the_first_turn_proves_no_later_work),
        cmocka_unit_test(a_workspace_that_cannot_be_made_for_a_check_is_an_error_of_the_check),
        cmocka_unit_test(a_resolved_conflict_is_checked_before_it_lands),
        cmocka_unit_test(only_accepted_work_is_merged_by_command),
        cmocka_unit_test(a_new_run_goes_on_in_the_status_of_the_last),
        cmocka_unit_test(a_run_that_rests_goes_on_in_its_phase),
        cmocka_unit_test(another_workflow_begins_at_its_own_beginning),
        cmocka_unit_test(the_loop_takes_the_place_of_a_workflow_that_nobody_knows),
        cmocka_unit_test(a_workflow_of_the_user_is_followed),
        cmocka_unit_test(dependents_wait_for_the_gate_and_not_for_a_question_before_it),
        cmocka_unit_test(the_autopilot_ends_while_people_are_asked),
    };
    return cmocka_run_group_tests_name("workflows", tests, NULL, NULL);
}

int main(void)
{
    int failed = test_flows();
    return failed + test_machine_people();
}
