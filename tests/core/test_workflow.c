#include "tests/test.h"

#include "core/types.h"
#include "core/workflow.h"
#include <stdlib.h>
#include <string.h>

static RouteStep route(const char *step, const char *result, const RouteCounter *counters,
                       size_t count, uint32_t flags)
{
    RouteInput in = {.status = "active",
                     .step = step,
                     .result = result,
                     .counters = counters,
                     .counter_count = count,
                     .flags = flags};
    RouteStep out;
    assert_true(workflow_route(&workflow_loop, &in, &out));
    return out;
}

static void every_built_in_workflow_is_free_of_mistakes(void **state)
{
    (void)state;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str problems = STR_INIT;
        if (workflow_check(all[i], &problems) != 0)
            fail_msg("%s", str_text(&problems));
    }
}

typedef struct LoopCase {
    const char *step, *result, *spent; /* counter that is used up; NULL none */
    bool review;
    const char *row, *next, *checkpoint, *status;
} LoopCase;

/* clang-format off */
static const LoopCase loop_cases[] = {
  { "work", "COMPLETE", NULL, false, "work-complete", "verify", "", "active" },
  { "work", "COMPLETE", "turns", false, "work-complete", "verify", "", "active" },
  { "work", "BLOCKED", NULL, false, "work-blocked", "(stop)", "", "blocked" },
  { "work", "BLOCKED", "turns", false, "work-blocked", "(stop)", "", "blocked" },
  { "work", "PENDING", NULL, false, "work-pending", "ask", "question", "active" },
  { "work", "PENDING", "turns", false, "work-pending-turns", "(stop)", "", "timeout" },
  { "work", "PENDING", "time-ms", false, "work-pending-time", "(stop)", "", "timeout" },
  { "work", "none", NULL, false, "work-none", "work", "", "active" },
  { "work", "none", "turns", false, "work-none-turns", "(stop)", "", "timeout" },
  { "work", "none", "time-ms", false, "work-none-time", "(stop)", "", "timeout" },
  { "work", "failed", NULL, false, "work-failed", "(stop)", "", "failed" },
  { "work", "killed", NULL, false, "work-killed", "work", "recovery", "pending" },
  { "work", "killed", "retries", false, "work-killed-spent", "(stop)", "", "failed" },
  { "work", "stopped", NULL, false, "work-stopped", "(stop)", "", "pending" },
  { "work", "limit", NULL, false, "work-limit", "(stop)", "", "timeout" },
  { "work", "timeout", NULL, false, "work-timeout", "(stop)", "", "timeout" },
  { "work", "output-limit", NULL, false, "work-output-limit", "work", "output-limit", "active" },
  { "work", "output-limit", "turns", false, "work-output-turns", "(stop)", "", "timeout" },
  { "work", "output-limit", "retries", false, "work-output-spent", "(stop)", "", "failed" },
  { "work", "spawn-failed", NULL, false, "work-spawn-failed", "work", "", "pending" },
  { "work", "spawn-failed", "retries", false, "work-spawn-spent", "(stop)", "", "failed" },
  { "work", "cannot-start", NULL, false, "work-cannot-start", "(stop)", "", "failed" },
  { "verify", "pass", NULL, false, "verify-pass", "merge", "", "active" },
  { "verify", "pass", NULL, true, "verify-pass-review", "ask", "review", "review" },
  { "verify", "fail", NULL, false, "verify-fail", "work", "verify", "active" },
  { "verify", "fail", "turns", false, "verify-fail-turns", "(stop)", "", "timeout" },
  { "verify", "fail", "time-ms", false, "verify-fail-time", "(stop)", "", "timeout" },
  { "verify", "error", NULL, false, "verify-error", "verify", "", "active" },
  { "verify", "error", "retries", false, "verify-error-spent", "(stop)", "", "blocked" },
  { "merge", "landed", NULL, false, "merge-landed", "(stop)", "", "done" },
  { "merge", "empty", NULL, false, "merge-empty", "(stop)", "", "done" },
  { "merge", "conflict", NULL, false, "merge-conflict", "work", "conflict", "active" },
  { "merge", "conflict", "conflict", false, "merge-conflict-spent", "(stop)", "", "blocked" },
  { "merge", "gate-failed", NULL, false, "merge-gate-failed", "work", "merged-verify", "active" },
  { "merge", "gate-failed", "merged-verify", false, "merge-gate-spent", "(stop)", "", "blocked" },
  { "merge", "moved", NULL, false, "merge-moved", "merge", "", "active" },
  { "merge", "moved", "moved", false, "merge-moved-spent", "(stop)", "", "blocked" },
  { "merge", "error", NULL, false, "merge-error", "merge", "", "active" },
  { "merge", "error", "retries", false, "merge-error-spent", "(stop)", "", "blocked" },
  { "ask", "answered", NULL, false, "ask-answered", "work", "answer", "active" },
  { "ask", "approved", NULL, false, "ask-approved", "merge", "", "active" },
  { "ask", "redo", NULL, false, "ask-redo", "work", "review", "active" },
  { "ask", "rejected", NULL, false, "ask-rejected", "(stop)", "", "failed" },
};
/* clang-format on */

static void every_route_of_the_loop_leads_where_it_should(void **state)
{
    (void)state;
    bool is_hit[128] = {false};
    for (size_t i = 0; i < COUNT(loop_cases); i++) {
        const LoopCase *c = &loop_cases[i];
        const WorkflowLimit *limit = workflow_limit(&workflow_loop, c->spent ? c->spent : "turns");
        RouteCounter spent = {limit->name, c->spent ? limit->fallback : 0, -1};
        RouteStep step = route(c->step, c->result, &spent, 1, c->review ? 1U << FLAG_REVIEW : 0);
        assert_string_equal(step.row, c->row);
        assert_string_equal(step.next, c->next);
        assert_string_equal(step.checkpoint, c->checkpoint);
        assert_string_equal(step.status, c->status);
        for (unsigned r = 0; r < workflow_loop.route_count; r++)
            is_hit[r] = is_hit[r] || !strcmp(workflow_loop.routes[r].id, step.row);
    }
    for (unsigned r = 0; r < workflow_loop.route_count; r++)
        assert_true(is_hit[r]);
}

static void limits_can_be_given_with_the_input(void **state)
{
    (void)state;
    RouteCounter one = {"conflict", 1, 1};
    assert_string_equal(route("merge", "conflict", &one, 1, 0).row, "merge-conflict-spent");
    one = (RouteCounter){"conflict", 2, -1};
    assert_string_equal(route("merge", "conflict", &one, 1, 0).row, "merge-conflict");
    RouteInput in = {.status = "active", .step = "merge", .result = "conflict", .retries = 3};
    RouteStep step;
    assert_true(workflow_route(&workflow_loop, &in, &step));
    assert_string_equal(step.row, "merge-conflict-spent");
}

static void the_loop_always_comes_to_an_end(void **state)
{
    (void)state;
    /* Whatever keeps failing, its counter runs out: play each bad result again and again. */
    static const char *const bad[][2] = {
        {"work", "none"},   {"work", "killed"},  {"work", "output-limit"}, {"work", "spawn-failed"},
        {"verify", "fail"}, {"verify", "error"}, {"merge", "conflict"},    {"merge", "gate-failed"},
        {"merge", "moved"}, {"merge", "error"}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        unsigned rounds = 0;
        for (; rounds < 1000; rounds++) {
            RouteCounter counters[] = {{"turns", rounds, -1},
                                       {"retries", rounds, -1},
                                       {"conflict", rounds, -1},
                                       {"merged-verify", rounds, -1},
                                       {"moved", rounds, -1}};
            RouteStep step = route(bad[i][0], bad[i][1], counters, COUNT(counters), 0);
            if (!strcmp(step.next, WF_STOP))
                break;
        }
        assert_true(rounds < 1000);
    }
}

static void every_status_has_its_entry(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"pending", "work", "active"},       {"active", "work", "active"},
        {"blocked", "(stop)", "blocked"},    {"done", "(stop)", "done"},
        {"failed", "(stop)", "failed"},      {"timeout", "(stop)", "timeout"},
        {"review", "ask", "review"},         {"skipped", "(stop)", "skipped"},
        {"cancelled", "(stop)", "cancelled"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        RouteInput in = {.status = cases[i][0]};
        RouteStep step;
        assert_true(workflow_enter(&workflow_loop, &in, &step));
        assert_string_equal(step.next, cases[i][1]);
        assert_string_equal(step.status, cases[i][2]);
    }
    assert_int_equal(COUNT(cases), workflow_loop.entry_count);
}

/* One line a command, one column a status: the status that follows, "-" for a refusal. */
static void every_command_on_every_status_has_its_answer(void **state)
{
    (void)state;
    static const char *const statuses[] = {"pending", "active", "blocked", "done",     "failed",
                                           "timeout", "review", "skipped", "cancelled"};
    static const char *const answers[][10] = {
        {"run", "active", "-", "-", "-", "-", "-", "-", "-", "-"},
        {"pause", "-", "active", "-", "-", "-", "-", "-", "-", "-"},
        {"resume", "-", "active", "-", "-", "-", "-", "-", "-", "-"},
        {"stop", "-", "pending", "-", "-", "-", "-", "-", "-", "-"},
        {"retry", "-", "-", "pending", "-", "pending", "pending", "-", "pending", "-"},
        {"skip", "skipped", "skipped", "skipped", "-", "skipped", "skipped", "skipped", "-", "-"},
        {"edit", "pending", "active", "pending", "done", "pending", "pending", "review", "skipped",
         "-"},
        {"rm", "cancelled", "cancelled", "cancelled", "-", "cancelled", "cancelled", "cancelled",
         "cancelled", "-"},
        {"answer", "-", "active", "pending", "-", "-", "-", "active", "-", "-"},
        {"rollback", "-", "-", "pending", "pending", "pending", "pending", "pending", "-", "-"},
    };
    bool is_hit[128] = {false};
    for (size_t c = 0; c < COUNT(answers); c++) {
        for (size_t s = 0; s < COUNT(statuses); s++) {
            RouteInput in = {.status = statuses[s]};
            RouteStep step;
            const char *want = answers[c][s + 1];
            assert_true(workflow_transition(&workflow_loop, &in, answers[c][0], &step));
            assert_int_equal(step.is_allowed, strcmp(want, "-") != 0);
            assert_string_equal(step.status, step.is_allowed ? want : statuses[s]);
            for (unsigned r = 0; r < workflow_loop.transition_count; r++)
                is_hit[r] = is_hit[r] || !strcmp(workflow_loop.transitions[r].id, step.row);
        }
    }
    for (unsigned r = 0; r < workflow_loop.transition_count; r++)
        assert_true(is_hit[r]);
    assert_int_equal(COUNT(answers), workflow_loop.command_count);
}

static void the_statuses_of_the_loop_are_the_task_states(void **state)
{
    (void)state;
    assert_int_equal(workflow_loop.status_count, TASK_STATE_COUNT);
    for (unsigned i = 0; i < TASK_STATE_COUNT; i++)
        assert_true(workflow_has_status(&workflow_loop, task_state_word((TaskState)i)));
}

static void unknown_words_fit_no_row(void **state)
{
    (void)state;
    RouteInput in = {.status = "active", .step = "dance", .result = "pass"};
    RouteStep step;
    assert_false(workflow_route(&workflow_loop, &in, &step));
    in = (RouteInput){.status = "asleep"};
    assert_false(workflow_enter(&workflow_loop, &in, &step));
    assert_null(workflow_find("waltz"));
    assert_null(workflow_phase(&workflow_loop, "dance"));
    assert_int_equal(workflow_checkpoint_index(&workflow_loop, ""), 0);
    assert_int_equal(workflow_checkpoint_index(&workflow_loop, "x"), -1);
    assert_false(guard_is_known("moon-full"));
}

static size_t problems_of(const Workflow *flow)
{
    CLEANUP(str_done) Str problems = STR_INIT;
    return workflow_check(flow, &problems);
}

/* A copy of a workflow whose rows can be broken. */
typedef struct Copy {
    Workflow flow;
    WorkflowRoute routes[400];
    WorkflowEntry entries[16];
    WorkflowCommand commands[100];
    WorkflowPhase phases[20];
    WorkflowStatus statuses[16];
} Copy;

static Copy *copy_of(const Workflow *flow)
{
    static Copy copy;
    copy.flow = *flow;
    memcpy(copy.routes, flow->routes, flow->route_count * sizeof *copy.routes);
    memcpy(copy.entries, flow->entries, flow->entry_count * sizeof *copy.entries);
    memcpy(copy.commands, flow->transitions, flow->transition_count * sizeof *copy.commands);
    memcpy(copy.phases, flow->phases, flow->phase_count * sizeof *copy.phases);
    memcpy(copy.statuses, flow->statuses, flow->status_count * sizeof *copy.statuses);
    copy.flow.routes = copy.routes;
    copy.flow.entries = copy.entries;
    copy.flow.transitions = copy.commands;
    copy.flow.phases = copy.phases;
    copy.flow.statuses = copy.statuses;
    return &copy;
}

static WorkflowRoute *row_of(Copy *copy, const char *id)
{
    for (unsigned i = 0; i < copy->flow.route_count; i++) {
        if (!strcmp(copy->routes[i].id, id))
            return &copy->routes[i];
    }
    fail_msg("no row '%s'", id);
    return NULL;
}

static void drop_row(Copy *copy, const char *id)
{
    WorkflowRoute *row = row_of(copy, id);
    size_t after = (size_t)(copy->routes + copy->flow.route_count - row - 1);
    memmove(row, row + 1, after * sizeof *row);
    copy->flow.route_count--;
}

/* Exactly the problem with this text is found (or at least it, when several follow from it). */
static void finds(const Copy *copy, const char *text)
{
    CLEANUP(str_done) Str problems = STR_INIT;
    if (workflow_check(&copy->flow, &problems) == 0 || !strstr(str_text(&problems), text))
        fail_msg("%s: '%s' is not in:\n%s", copy->flow.name, text, str_text(&problems));
}

static void mistakes_in_a_workflow_are_found(void **state)
{
    (void)state;
    Copy *copy = copy_of(&workflow_loop);
    assert_int_equal(problems_of(&copy->flow), 0);
    copy->routes[0].next = "dance";
    assert_int_equal(problems_of(&copy->flow), 1);
    finds(copy, "row 'work-complete': there is no phase 'dance'");
    copy = copy_of(&workflow_loop);
    copy->routes[0].why = "";
    finds(copy, "row 'work-complete' does not say why");
    copy = copy_of(&workflow_loop);
    copy->routes[0].guard = "moon-full";
    finds(copy, "row 'work-complete': unknown guard 'moon-full'");
    copy->routes[0].guard = "steps-left";
    finds(copy, "the guard 'steps-left' needs the limit 'steps'");
    copy->routes[0].guard = "retries-left";
    finds(copy, "the result 'COMPLETE' leads somewhere only under conditions");
    copy = copy_of(&workflow_loop);
    copy->routes[0].id = copy->routes[1].id;
    finds(copy, "two rows have the id 'work-blocked'");
    copy = copy_of(&workflow_loop);
    copy->routes[1].result = "COMPLETE";
    finds(copy, "row 'work-blocked' is never reached: 'work-complete' comes first");
    finds(copy, "phase 'work': the result 'BLOCKED' leads nowhere");
    copy = copy_of(&workflow_loop);
    copy->routes[0].result = "FINISHED";
    finds(copy, "the phase 'work' has no result 'FINISHED'; it has: COMPLETE");
    copy = copy_of(&workflow_loop);
    copy->routes[0].to_status = "happy";
    finds(copy, "there is no status 'happy'");
    copy = copy_of(&workflow_loop);
    copy->routes[0].to_checkpoint = "moon";
    finds(copy, "there is no checkpoint 'moon'");
    copy = copy_of(&workflow_loop);
    copy->routes[0].ends = "happy";
    finds(copy, "'happy' is no state of a task");
    copy = copy_of(&workflow_loop);
    copy->flow.first_status = "happy";
    finds(copy, "the first status 'happy' is unknown");
    copy = copy_of(&workflow_loop);
    copy->flow.phase_count = 0;
    finds(copy, "1 to 64 phases");
}

static void words_of_the_lists_are_checked(void **state)
{
    (void)state;
    Copy *copy = copy_of(&workflow_staged);
    copy->phases[0].answer = "poem";
    finds(copy, "phase 'target': there is no answer of the shape 'poem'");
    copy = copy_of(&workflow_staged);
    copy->phases[1].name = "target";
    finds(copy, "two phases are called 'target'");
    copy = copy_of(&workflow_staged);
    copy->phases[0].prompt = "";
    finds(copy, "phase 'target': an agent needs a 'prompt'");
    copy = copy_of(&workflow_staged);
    copy->statuses[0].ends = "happy";
    finds(copy, "status 'draft': 'ends' must name a state of tasks");
    copy = copy_of(&workflow_staged);
    copy->statuses[0].is_final = true;
    finds(copy, "the final status 'draft' can be left");
    copy = copy_of(&workflow_loop);
    copy->entries[0].status = "active";
    finds(copy, "status 'pending' has no entry");
    copy = copy_of(&workflow_loop);
    copy->commands[0].status = "active";
    finds(copy, "is never reached");
    copy = copy_of(&workflow_loop);
    copy->commands[1].to_status = "pending";
    finds(copy, "row 'run-active' refuses but changes the status");
    WorkflowHook hook = {"happy", "x"};
    copy = copy_of(&workflow_loop);
    copy->flow.hooks = &hook;
    copy->flow.hook_count = 1;
    finds(copy, "the hook 'happy' belongs to no status");
    WorkflowThreshold threshold = {"moon", 0.5};
    copy = copy_of(&workflow_loop);
    copy->flow.thresholds = &threshold;
    copy->flow.threshold_count = 1;
    finds(copy, "the threshold 'moon' belongs to no checkpoint");
}

static void phases_that_nothing_leads_to_are_found(void **state)
{
    (void)state;
    Copy *copy = copy_of(&workflow_loop);
    row_of(copy, "work-complete")->next = "ask";
    finds(copy, "phase 'verify' is never reached");
    copy = copy_of(&workflow_staged);
    row_of(copy, "target-advanced-confirm")->next = "plan";
    row_of(copy, "target-refined-confirm")->next = "plan";
    finds(copy, "phase 'confirm' is never reached");
}

/* Without the rows that look at a counter a circle is endless, whichever it is. */
static void circles_without_a_limit_are_found(void **state)
{
    (void)state;
    Copy *copy = copy_of(&workflow_loop);
    drop_row(copy, "work-none-turns");
    assert_int_equal(problems_of(&copy->flow), 0); /* the time is a limit too */
    drop_row(copy, "work-none-time");
    finds(copy, "the circle work -> work has no limit");
    copy = copy_of(&workflow_loop);
    row_of(copy, "merge-moved")->guard = "";
    drop_row(copy, "merge-moved-spent");
    finds(copy, "the circle merge -> merge has no limit");
    copy = copy_of(&workflow_loop);
    row_of(copy, "work-killed")->actions[1] = ACTION_NONE; /* counts nothing any more */
    finds(copy, "the circle work -> work has no limit");
    copy = copy_of(&workflow_loop);
    row_of(copy, "merge-conflict")->guard = "review-wanted"; /* no counter */
    finds(copy, "-> merge");
    copy = copy_of(&workflow_lifecycle);
    drop_row(copy, "check-fix-steps");
    finds(copy, "has no limit");
    copy = copy_of(&workflow_lifecycle);
    drop_row(copy, "check-revise-steps");
    finds(copy, "the circle plan -> verify -> check -> plan has no limit");
    copy = copy_of(&workflow_lifecycle);
    drop_row(copy, "merge-gate-spent");
    finds(copy, "has no limit");
    copy = copy_of(&workflow_staged);
    drop_row(copy, "check-fix-steps"); /* the retries of the checkpoint are a limit as well */
    assert_int_equal(problems_of(&copy->flow), 0);
    drop_row(copy, "target-advanced-stages");
    finds(copy, "has no limit");
    copy = copy_of(&workflow_staged);
    drop_row(copy, "check-fix-steps");
    row_of(copy, "check-fix-back")->guard = "review-wanted";
    finds(copy, "has no limit"); /* a rollback that could be repeated for ever */
}

static void phases_that_never_end_are_found(void **state)
{
    (void)state;
    Copy *copy = copy_of(&workflow_loop);
    for (unsigned i = 0; i < copy->flow.route_count; i++) {
        if (!strcmp(copy->routes[i].next, WF_STOP))
            copy->routes[i].next = "work";
    }
    finds(copy, "phase 'work' never ends");
}

static void dropping_any_last_row_is_noticed(void **state)
{
    (void)state;
    static const Workflow *const flows[] = {&workflow_loop, &workflow_lifecycle, &workflow_staged,
                                            &workflow_auto_a};
    for (size_t f = 0; f < COUNT(flows); f++) {
        for (unsigned i = 0; i < flows[f]->route_count; i++) {
            const WorkflowRoute *row = &flows[f]->routes[i];
            if (*row->guard || strcmp(row->status, WF_ANY) || strcmp(row->checkpoint, WF_ANY))
                continue;
            Copy *copy = copy_of(flows[f]);
            drop_row(copy, row->id);
            if (problems_of(&copy->flow) == 0)
                fail_msg("%s without '%s' looks fine", flows[f]->name, row->id);
        }
    }
}

static void the_engines_words_become_those_of_the_phase(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        {"lifecycle", "merge", "landed", "success"},
        {"lifecycle", "merge", "empty", "success"},
        {"lifecycle", "merge", "collides", "collides"},
        {"lifecycle", "merge", "conflict", "conflict"},
        {"lifecycle", "verify", "pass", "(pass)"},
        {"lifecycle", "verify", "fail", "(fail)"},
        {"lifecycle", "verify", "partial", "(partial)"},
        {"lifecycle", "exec", "COMPLETE", "(done)"},
        {"lifecycle", "exec", "BLOCKED", "(blocked)"},
        {"lifecycle", "exec", "(step-7)", "(step-7)"},
        {"lifecycle", "plan", "COMPLETE", "(generated)"},
        {"lifecycle", "report", "done", "(generated)"},
        {"lifecycle", "check", "invalid", "error"},
        {"lifecycle", "check", "COMPLETE", "error"},
        {"lifecycle", "ask", "approved", "answered"},
        {"lifecycle", "approve", "answered", "redo"},
        {"staged", "target", "COMPLETE", "(refined)"},
        {"staged", "target", "(generated)", "(refined)"},
        {"staged", "highlight", "COMPLETE", "(distilled)"},
        {"staged", "highlight", "BLOCKED", "failed"},
        {"staged", "research", "COMPLETE", "(collected)"},
        {"auto-a", "drive", "COMPLETE", "finished"},
        {"auto-a", "drive", "BLOCKED", "blocked"},
        {"loop", "merge", "collides", "conflict"},
        {"loop", "merge", "success", "landed"},
        {"loop", "verify", "partial", "pass"},
        {"loop", "verify", "(fail)", "fail"},
        {"loop", "work", "(done)", "COMPLETE"},
        {"loop", "work", "invalid", "failed"},
        {"loop", "work", "max-iterations", "limit"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const WorkflowPhase *phase = workflow_phase(workflow_find(cases[i][0]), cases[i][1]);
        const char *word = phase_result(phase, cases[i][2]);
        if (!text_equal(word, cases[i][3]))
            fail_msg("%s of %s is '%s'", cases[i][2], cases[i][1], word ? word : "nothing");
        assert_true(phase_result_index(phase, word) >= 0);
    }
    const WorkflowPhase *verify = workflow_phase(&workflow_loop, "verify");
    assert_null(phase_result(verify, "dance"));
    assert_int_equal(phase_result_index(verify, "dance"), -1);
    assert_false(result_fits("(step-N)", "(step-0)"));
    assert_false(result_fits("(step-N)", "(step-1x)"));
    assert_false(result_fits("(step-N)", "(step-)"));
    assert_true(result_fits("(step-N)", "(step-10)"));
}

static void guards_can_be_joined(void **state)
{
    (void)state;
    RouteInput in = {.stage = 2, .has_convergence = true, .convergence = 0.4, .previous = 0.5};
    assert_true(guard_is_known("convergence-fell later-stage"));
    assert_false(guard_is_known("convergence-fell  later-stage"));
    assert_false(guard_is_known("convergence-fell moon"));
    assert_true(guard_holds(&workflow_staged, "convergence-fell later-stage", &in));
    assert_false(guard_holds(&workflow_staged, "convergence-fell first-stage", &in));
    assert_false(guard_holds(&workflow_staged, "convergence-fell moon", &in));
    in.has_convergence = false;
    assert_false(guard_holds(&workflow_staged, "convergence-fell", &in));
    assert_false(guard_holds(&workflow_staged, "converged", &in));
    in = (RouteInput){.has_convergence = true, .convergence = 0.95 - 1e-10};
    assert_true(guard_holds(&workflow_staged, "converged", &in));
    assert_true(guard_holds(&workflow_staged, "first-stage not-confirmed", &in));
}

static void numbers_and_places_of_workflows_are_fixed(void **state)
{
    (void)state;
    static const char *const names[] = {"loop", "lifecycle", "staged", "auto-a", "auto-b"};
    size_t count;
    (void)workflow_all(&count);
    assert_int_equal(count, COUNT(names));
    assert_true(count <= WORKFLOW_FIRST_OWN);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(workflow_number(names[i]), (int)i);
        assert_ptr_equal(workflow_find(names[i]), workflow_all(&count)[i]);
    }
    assert_int_equal(workflow_number("waltz"), -1);
}

static void words_of_a_list_are_found_by_number(void **state)
{
    (void)state;
    char word[8];
    assert_true(word_at("a bc d", 1, word, sizeof word));
    assert_string_equal(word, "bc");
    assert_false(word_at("a bc d", 3, word, sizeof word));
    assert_false(word_at("", 0, word, sizeof word));
    PhaseKind kind;
    assert_true(phase_kind_find("merge", &kind) && kind == PHASE_MERGE);
    assert_false(phase_kind_find("x", &kind));
    Action action;
    assert_true(action_find("run-gate", &action) && action == ACTION_RUN_GATE);
    assert_false(action_find("x", &action));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_workflow_is_free_of_mistakes),
        cmocka_unit_test(every_route_of_the_loop_leads_where_it_should),
        cmocka_unit_test(limits_can_be_given_with_the_input),
        cmocka_unit_test(the_loop_always_comes_to_an_end),
        cmocka_unit_test(every_status_has_its_entry),
        cmocka_unit_test(every_command_on_every_status_has_its_answer),
        cmocka_unit_test(the_statuses_of_the_loop_are_the_task_states),
        cmocka_unit_test(unknown_words_fit_no_row),
        cmocka_unit_test(mistakes_in_a_workflow_are_found),
        cmocka_unit_test(words_of_the_lists_are_checked),
        cmocka_unit_test(phases_that_nothing_leads_to_are_found),
        cmocka_unit_test(circles_without_a_limit_are_found),
        cmocka_unit_test(phases_that_never_end_are_found),
        cmocka_unit_test(dropping_any_last_row_is_noticed),
        cmocka_unit_test(the_engines_words_become_those_of_the_phase),
        cmocka_unit_test(guards_can_be_joined),
        cmocka_unit_test(numbers_and_places_of_workflows_are_fixed),
        cmocka_unit_test(words_of_a_list_are_found_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
