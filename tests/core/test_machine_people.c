/* What people say to tasks that follow a workflow: wishes in each state of a run, reviews,
 * objectives, refinements, commands. */
#include "tests/core/test_machine_flow.h"

#include "core/excerpt.h"
#include <string.h>

/* -- reviews -------------------------------------------------------------------------------- */

static void to_review(Rig *rig, TaskId task)
{
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says_json(rig, task, "{\"result\":\"ACCEPT\",\"review\":true}");
    assert_run(rig, task, "asking");
    assert_task(rig, task, "review");
}

static void an_approved_work_lands(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    to_review(rig, task);
    assert_false(rig_wish(rig, EV_ANSWER, task, 0)); /* it is to be judged */
    assert_false(flow_review(rig, task, (ReviewDecision)7, REDO_KEEP, NULL));
    assert_true(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL));
    assert_task(rig, task, "active");
    assert_false(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL)); /* once */
    rig_run(rig);
    rig_merge(rig, task);
}

static void a_rejected_work_is_kept(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    to_review(rig, task);
    assert_true(flow_review(rig, task, REVIEW_REJECT, REDO_KEEP, NULL));
    assert_task(rig, task, "failed");
    assert_run(rig, task, "ended");
    assert_true(rig_run_of(rig, task)->has_workspace);
}

static void changes_are_made_on_what_is_there(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    to_review(rig, task);
    assert_true(flow_review(rig, task, REVIEW_REDO, REDO_KEEP, NULL));
    rig_run(rig);
    assert_run(rig, task, "working");
    assert_phase(rig, task, "exec");
    assert_at(rig, task, "review");
    assert_string_equal(rig_run_of(rig, task)->commit, "c3");
}

static void changes_are_made_from_an_earlier_commit(void **state)
{
    (void)state;
    const RedoHow ways[] = {REDO_FRESH, REDO_CHECKPOINT};
    for (size_t i = 0; i < COUNT(ways); i++) {
        RIG rig = rig_new(1);
        TaskId task = flow_task(rig, "lifecycle"), other = rig_task(rig);
        to_review(rig, task);
        assert_run(rig, other, "preparing"); /* it has the only slot */
        assert_true(flow_review(rig, task, REVIEW_REDO, ways[i], "c1"));
        assert_run(rig, task, "resetting");
        assert_int_equal(machine_project(rig->machine, 1)->slots_used, 1);
        assert_true(rig_report(rig, task, EV_RESET_DONE, 0, 0));
        assert_string_equal(rig_run_of(rig, task)->commit, ways[i] == REDO_FRESH ? "" : "c1");
        assert_run(rig, task, "waiting");
        assert_true(rig_wish(rig, EV_SKIP, other, 0));
        assert_true(rig_report(rig, other, EV_WORKSPACE_READY, 0, 0));
        rig_begin(rig, task);
        assert_phase(rig, task, "exec");
        assert_int_equal(rig_run_of(rig, task)->epoch, 2);
    }
}

static void a_person_who_takes_back_a_review_begins_afresh(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    to_review(rig, task);
    assert_false(rig_wish(rig, EV_STOP, task, 0));
    assert_false(rig_wish(rig, EV_RETRY, task, 0));
    assert_false(rig_wish(rig, EV_TASK_WANTED, task, 0));
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_task(rig, task, "pending");
    assert_status(rig, task, "draft");
    rig_run(rig);
    assert_int_equal(rig_run_of(rig, task)->id, 2);
    assert_int_equal(rig_run_of(rig, task)->from, 0);
}

static void a_task_in_review_can_be_left_out(void **state)
{
    (void)state;
    const EventKind wishes[] = {EV_SKIP, EV_REMOVE};
    for (size_t i = 0; i < COUNT(wishes); i++) {
        RIG rig = rig_new(1);
        TaskId task = flow_task(rig, "lifecycle");
        to_review(rig, task);
        assert_task(rig, task, "review");
        assert_int_equal(machine_counts(rig->machine, 1).asking, 0); /* counted as a review */
        assert_true(rig_wish(rig, wishes[i], task, 0));
        assert_task(rig, task, wishes[i] == EV_SKIP ? "skipped" : "cancelled");
        assert_false(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL));
        assert_int_equal(machine_counts(rig->machine, 1).asking, 0);
    }
}

static void a_review_goes_on_while_its_task_is_edited(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    to_review(rig, task);
    assert_true(rig_post(rig, (Event){.kind = EV_TASK_EDITED, .task = task, .text = "other"}));
    assert_task(rig, task, "review");
    assert_run(rig, task, "asking");
}

/* -- wishes in other states ------------------------------------------------------------------ */

static void a_report_of_landed_work_is_not_stopped(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "ACCEPT");
    rig_merge(rig, task);
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_run(rig, task, "reporting");
    const EventKind wishes[] = {EV_STOP, EV_SKIP, EV_REMOVE, EV_RETRY, EV_ROLLBACK};
    for (size_t i = 0; i < COUNT(wishes); i++)
        assert_false(rig_wish(rig, wishes[i], task, 0));
    rig_reload(rig, true);
    assert_int_equal(rig_effects(rig, FX_REPORT), 1);
    assert_true(rig_report(rig, task, EV_REPORTED, 0, 0));
    assert_task(rig, task, "done");
}

static void a_report_between_two_stages_can_be_stopped(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    flow_to_check(rig, task);
    flow_says_json(rig, task, "{\"result\":\"ACCEPT\",\"convergence\":100}");
    flow_says(rig, task, "(distilled)");
    assert_run(rig, task, "reporting");
    assert_true(rig_wish(rig, EV_STOP, task, 0));
    assert_task(rig, task, "pending");
    assert_false(rig_report(rig, task, EV_REPORTED, 0, 0));
    rig_run(rig);
    assert_phase(rig, task, "target");
}

static void a_task_that_goes_back_can_be_left_out(void **state)
{
    (void)state;
    const EventKind wishes[] = {EV_SKIP, EV_REMOVE};
    for (size_t i = 0; i < COUNT(wishes); i++) {
        RIG rig = rig_new(1);
        TaskId task = flow_task(rig, "lifecycle");
        to_review(rig, task);
        assert_true(flow_review(rig, task, REVIEW_REDO, REDO_FRESH, NULL));
        assert_run(rig, task, "resetting");
        assert_true(rig_wish(rig, wishes[i], task, 0));
        assert_false(rig_wish(rig, EV_RETRY, task, 0));
        assert_true(rig_report(rig, task, EV_RESET_DONE, 0, 0));
        assert_task(rig, task, wishes[i] == EV_SKIP ? "skipped" : "cancelled");
        assert_run(rig, task, "parked");
    }
}

static void a_pause_lets_a_phase_end_and_begins_no_other(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    flow_says(rig, task, "(generated)");
    rig_gate(rig, task, VERDICT_PASS); /* costs nothing: it is not held up */
    assert_run(rig, task, "waiting");
    assert_auto(rig, "paused");
    rig_reload(rig, true);
    assert_true(rig_wish(rig, EV_RESUME, 0, 0));
    assert_phase(rig, task, "check");
    assert_run(rig, task, "working");
}

static void what_was_undone_does_not_come_back_with_a_retry(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_says(rig, task, "ACCEPT");
    rig_merge(rig, task);
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_true(rig_report(rig, task, EV_REPORTED, 0, 0));
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_false(flow_command(rig, task, "report")); /* it is being undone */
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 1}));
    assert_task(rig, task, "done");
    assert_true(rig_wish(rig, EV_ROLLED_BACK, task, 0));
    assert_true(rig_wish(rig, EV_SKIP, task, 0));
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    assert_status(rig, task, "draft");
    rig_run(rig);
    assert_phase(rig, task, "plan");
    assert_int_equal(rig_run_of(rig, task)->from, 0);
}

/* -- objectives and refinements -------------------------------------------------------------- */

static void an_empty_target_waits_for_a_person(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":2}");
    rig_run(rig);
    assert_task(rig, task, "blocked");
    assert_run(rig, task, "ended");
    assert_auto(rig, "idle");
    assert_true(rig_post(rig, (Event){.kind = EV_TARGET_SET, .task = task, .a = 1}));
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    rig_run(rig);
    rig_begin(rig, task);
    assert_phase(rig, task, "plan");
}

static void objectives_are_confirmed_once(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        RIG rig = rig_new(1);
        TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":3}");
        if (way == 2)
            rig_limits(rig, "{\"auto_confirm\":true}");
        flow_begin(rig, task);
        flow_says(rig, task, "(refined)");
        if (way == 0)
            assert_true(flow_review(rig, task, REVIEW_APPROVE, REDO_KEEP, NULL));
        if (way == 1)
            assert_true(
                rig_post(rig, (Event){.kind = EV_TARGET_SET, .task = task, .a = 1, .b = 1}));
        rig_run(rig);
        assert_phase(rig, task, "plan");
        assert_status(rig, task, "planning");
        assert_int_equal(rig_see(rig, task)->is_confirmed, way != 2);
    }
}

static void a_refinement_instead_of_a_yes_leads_back_to_the_objective(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = rig_task_of(rig, 0, 1, "{\"workflow\":3}");
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    assert_phase(rig, task, "confirm");
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 0}));
    assert_phase(rig, task, "confirm"); /* one that was withdrawn changes nothing */
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 1}));
    rig_run(rig);
    assert_phase(rig, task, "target");
    assert_task(rig, task, "active");
    assert_false(rig_see(rig, task)->is_confirmed);
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 0}));
    flow_says(rig, task, "(refined)");
    assert_phase(rig, task, "confirm");
}

static void a_refinement_is_planned_before_the_work_lands(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 2}));
    flow_to_check(rig, task);
    flow_says(rig, task, "ACCEPT");
    assert_phase(rig, task, "plan");
    assert_status(rig, task, "re-planning");
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 0}));
    assert_false(rig_see(rig, task)->is_refined);
}

static void a_refinement_reopens_what_is_done(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "staged");
    flow_begin(rig, task);
    flow_says(rig, task, "(refined)");
    flow_stage(rig, task, 10000);
    rig_merge(rig, task);
    rig_land(rig, task);
    assert_true(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 1}));
    assert_task(rig, task, "pending");
    assert_true(rig_wish(rig, EV_REMOVE, task, 0));
    assert_false(rig_post(rig, (Event){.kind = EV_REFINED, .task = task, .a = 1}));
    assert_false(rig_post(rig, (Event){.kind = EV_TARGET_SET, .task = task, .a = 1}));
}

/* -- commands -------------------------------------------------------------------------------- */

/* Every command in every status: the machine does what the table says, and nothing else. */
static void try_command(const Workflow *flow, const char *status, const char *command)
{
    RIG rig = rig_new(0); /* nothing is taken */
    TaskId task = flow_task(rig, flow->name);
    Machine *machine = rig->machine;
    Run run = {.id = 1, .task = task, .project = 1, .state = RUN_ENDED, .epoch = 1, .stage = 1};
    Task row = *rig_see(rig, task);
    run.workflow = (uint8_t)workflow_number(flow->name);
    run.status = (uint8_t)workflow_status_index(flow, status);
    run.convergence = -1;
    row.run = 1;
    row.attempts = 1;
    if (!task_state_find(flow->statuses[run.status].ends, &row.state))
        fail_msg("%s ends in no state", status);
    machine_load_run(machine, &run);
    machine_load_task(machine, &row);
    machine_loaded(machine);
    RouteInput input = {.status = status,
                        .substate = WF_NONE,
                        .flags = 1u << FLAG_TARGET_FILLED | 1u << FLAG_CONFIRMED};
    RouteStep step;
    assert_true(workflow_transition(flow, &input, command, &step));
    bool is_over = step.is_allowed && strcmp(step.status, "cancelled") == 0;
    bool is_landed = row.state == TASK_DONE; /* what is on the target is undone, not given up */
    bool is_taken = flow_command(rig, task, command);
    if (is_taken != (step.is_allowed && !(is_over && is_landed)))
        fail_msg("%s: %s in %s is %s", flow->name, command, status, is_taken ? "taken" : "refused");
    if (!is_taken)
        return;
    assert_task(rig, task, is_over ? "cancelled" : "pending");
    int phase = is_over ? -1 : workflow_phase_index(flow, step.next);
    assert_int_equal(rig_see(rig, task)->next_phase, phase + 1);
    if (!is_over && (phase < 0 || flow->phases[phase].kind != PHASE_MERGE))
        assert_status(rig, task, step.status);
}

static void every_command_does_what_the_table_says(void **state)
{
    (void)state;
    const Workflow *const flows[] = {&workflow_lifecycle, &workflow_staged, &workflow_auto_a,
                                     &workflow_auto_b};
    for (size_t i = 0; i < COUNT(flows); i++)
        for (unsigned k = 0; k < flows[i]->status_count; k++)
            for (unsigned c = 0; c < flows[i]->command_count; c++)
                try_command(flows[i], flows[i]->statuses[k].name, flows[i]->commands[c].name);
}

static void a_reason_that_is_cut_says_so(void **state)
{
    (void)state;
    char small[12];
    excerpt_mark(small, sizeof small, "eleven char");
    assert_string_equal(small, "eleven char");
    excerpt_mark(small, sizeof small, "twelve chars");
    assert_string_equal(small, "twelve c…");
    excerpt_mark(small, sizeof small, "seven: \xc3\xa4\xc3\xa4\xc3\xa4"); /* between characters */
    assert_string_equal(small, "seven: …");
}

static void commands_need_a_task_at_rest_and_a_known_word(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle"), loop = rig_task(rig);
    assert_false(flow_command(rig, task, "nonsense"));
    assert_false(flow_command(rig, task, NULL));
    assert_false(flow_command(rig, 99, "plan"));
    assert_false(flow_command(rig, loop, "rm")); /* the loop's own are events of their own */
    assert_task(rig, loop, "pending");
    flow_begin(rig, task);
    assert_false(flow_command(rig, task, "plan"));
    flow_to_check(rig, task);
    flow_says(rig, task, "GUARDED");
    assert_false(flow_command(rig, task, "report"));
}

static void a_command_after_an_undoing_begins_from_the_target(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_to_check(rig, task);
    flow_ends(rig, task, 1, 0);
    assert_true(rig_wish(rig, EV_PAUSE, 0, 0));
    assert_true(rig_wish(rig, EV_ROLLBACK, task, 0));
    assert_status(rig, task, "draft");
    assert_false(flow_command(rig, task, "exec"));
    assert_true(flow_command(rig, task, "research"));
    rig_run(rig);
    assert_phase(rig, task, "research");
    assert_int_equal(rig_run_of(rig, task)->from, 0);
}

static void a_phase_of_another_workflow_is_forgotten(void **state)
{
    (void)state;
    RIG rig = rig_new(0);
    TaskId task = rig_task_of(rig, 0, 1, "{\"filled\":true}");
    rig_limits(rig, "{\"workflow\":1}");
    assert_true(flow_command(rig, task, "research")); /* in staged this place is `resolve` */
    rig_limits(rig, "{\"workflow\":2}");
    assert_int_equal(rig_see(rig, task)->next_phase, 0);
}

static void what_is_blocked_is_planned_again_after_a_retry(void **state)
{
    (void)state;
    RIG rig = rig_new(1);
    TaskId task = flow_task(rig, "lifecycle");
    flow_begin(rig, task);
    flow_says(rig, task, "(blocked)");
    assert_task(rig, task, "blocked");
    assert_status(rig, task, "blocked");
    assert_true(rig_wish(rig, EV_RETRY, task, 0));
    assert_status(rig, task, "planning");
    flow_begin(rig, task);
    assert_phase(rig, task, "plan");
}

int test_machine_people(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_approved_work_lands),
        cmocka_unit_test(a_rejected_work_is_kept),
        cmocka_unit_test(changes_are_made_on_what_is_there),
        cmocka_unit_test(changes_are_made_from_an_earlier_commit),
        cmocka_unit_test(a_person_who_takes_back_a_review_begins_afresh),
        cmocka_unit_test(a_task_in_review_can_be_left_out),
        cmocka_unit_test(a_review_goes_on_while_its_task_is_edited),
        cmocka_unit_test(a_report_of_landed_work_is_not_stopped),
        cmocka_unit_test(a_report_between_two_stages_can_be_stopped),
        cmocka_unit_test(a_task_that_goes_back_can_be_left_out),
        cmocka_unit_test(a_pause_lets_a_phase_end_and_begins_no_other),
        cmocka_unit_test(what_was_undone_does_not_come_back_with_a_retry),
        cmocka_unit_test(an_empty_target_waits_for_a_person),
        cmocka_unit_test(objectives_are_confirmed_once),
        cmocka_unit_test(a_refinement_instead_of_a_yes_leads_back_to_the_objective),
        cmocka_unit_test(a_refinement_is_planned_before_the_work_lands),
        cmocka_unit_test(a_refinement_reopens_what_is_done),
        cmocka_unit_test(every_command_does_what_the_table_says),
        cmocka_unit_test(a_reason_that_is_cut_says_so),
        cmocka_unit_test(commands_need_a_task_at_rest_and_a_known_word),
        cmocka_unit_test(a_command_after_an_undoing_begins_from_the_target),
        cmocka_unit_test(a_phase_of_another_workflow_is_forgotten),
        cmocka_unit_test(what_is_blocked_is_planned_again_after_a_retry),
    };
    return cmocka_run_group_tests_name("people", tests, NULL, NULL);
}
