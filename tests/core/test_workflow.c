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

static void mistakes_in_a_workflow_are_found(void **state)
{
    (void)state;
    Workflow flow = workflow_loop;
    WorkflowRoute routes[64];
    memcpy(routes, workflow_loop.routes, workflow_loop.route_count * sizeof *routes);
    flow.routes = routes;
    assert_int_equal(problems_of(&flow), 0);
    routes[0].next = "dance";
    assert_int_equal(problems_of(&flow), 1);
    routes[0] = workflow_loop.routes[0];
    routes[0].why = "";
    assert_int_equal(problems_of(&flow), 1);
    routes[0].why = "x";
    routes[0].guard = "moon-full";
    assert_true(problems_of(&flow) >= 1); /* unknown, and COMPLETE is no longer covered */
    routes[0] = workflow_loop.routes[1];
    assert_true(problems_of(&flow) >= 2); /* twice the same id, a row never reached */
    flow.route_count = 3;
    assert_true(problems_of(&flow) > 10);
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
        cmocka_unit_test(words_of_a_list_are_found_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
