/* The workflows of self-driving sessions. */
#include "tests/test.h"

#include "core/observe.h"
#include "tests/core/workflow_rig.h"
#include <string.h>

#define SPENT(x) .spent = x
#define REVIEW .flags = 1U << FLAG_REVIEW

/* clang-format off */
static const RouteCase routes[] = {
  { "executing", "drive", NULL, "finished",       "verify", "", "executing", "" },
  { "executing", "drive", NULL, "blocked",        "(stop)", "", "blocked", "", "blocked" },
  { "planning",  "drive", NULL, "continue",       "drive", "continue", "=" },
  { "planning",  "drive", NULL, "continue",       "(stop)", "", "=", NULL, "timeout", SPENT("steps") },
  { "planning",  "drive", NULL, "continue",       "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "planning",  "drive", NULL, "continue",       "(stop)", "", "=", NULL, "timeout", SPENT("time-ms") },
  { "planning",  "drive", NULL, "max-iterations", "(stop)", "", "=", NULL, "timeout" },
  { "planning",  "drive", NULL, "timeout",        "(stop)", "", "=", NULL, "timeout" },
  { "planning",  "drive", NULL, "stall-limit",    "(stop)", "", "=", NULL, "failed" },
  { "planning",  "drive", NULL, "loop",           "(stop)", "", "=", NULL, "failed" },
  { "planning",  "drive", NULL, "stopped",        "(stop)", "", "=", NULL, "pending" },
  { "planning",  "drive", NULL, "vanished",       "drive", "recovery", "=" },
  { "planning",  "drive", NULL, "vanished",       "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "planning",  "drive", NULL, "killed",         "drive", "recovery", "=" },
  { "planning",  "drive", NULL, "killed",         "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "planning",  "drive", NULL, "failed",         "(stop)", "", "=", NULL, "failed" },
  { "planning",  "drive", NULL, "none",           "drive", "", "=" },
  { "planning",  "drive", NULL, "none",           "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "planning",  "drive", NULL, "none",           "(stop)", "", "=", NULL, "timeout", SPENT("time-ms") },
  { "planning",  "drive", NULL, "limit",          "(stop)", "", "=", NULL, "timeout" },
  { "planning",  "drive", NULL, "PENDING",        "ask", "question", "=" },
  { "planning",  "drive", NULL, "PENDING",        "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "planning",  "drive", NULL, "PENDING",        "(stop)", "", "=", NULL, "timeout", SPENT("time-ms") },
  { "planning",  "drive", NULL, "output-limit",   "drive", "output-limit", "=" },
  { "planning",  "drive", NULL, "output-limit",   "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "planning",  "drive", NULL, "output-limit",   "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "planning",  "drive", NULL, "spawn-failed",   "drive", "", "=" },
  { "planning",  "drive", NULL, "spawn-failed",   "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "planning",  "drive", NULL, "cannot-start",   "(stop)", "", "=", NULL, "failed" },
  { "executing", "verify", NULL, "(pass)",        "merge", "", "=" },
  { "executing", "verify", NULL, "(pass)",        "approve", "review", "=", "", "", REVIEW },
  { "executing", "verify", NULL, "(partial)",     "merge", "", "=" },
  { "executing", "verify", NULL, "(partial)",     "approve", "review", "=", "", "", REVIEW },
  { "executing", "verify", NULL, "(fail)",        "drive", "verify", "executing" },
  { "executing", "verify", NULL, "(fail)",        "(stop)", "", "=", NULL, "timeout", SPENT("steps") },
  { "executing", "verify", NULL, "(fail)",        "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "executing", "verify", NULL, "error",         "verify", "", "=" },
  { "executing", "verify", NULL, "error",         "(stop)", "", "=", NULL, "blocked", SPENT("retries") },
  { "executing", "merge", NULL, "success",        "report", "", "DONE", "" },
  { "executing", "merge", NULL, "conflict",       "(stop)", "", "executing", "", "blocked" },
  { "executing", "merge", NULL, "collides",       "drive", "conflict", "executing", "" },
  { "executing", "merge", NULL, "collides",       "(stop)", "", "executing", "", "blocked", SPENT("conflict") },
  { "executing", "merge", NULL, "gate-failed",    "drive", "merged-verify", "executing", "" },
  { "executing", "merge", NULL, "gate-failed",    "(stop)", "", "executing", "", "blocked", SPENT("merged-verify") },
  { "executing", "merge", NULL, "moved",          "merge", "", "executing", "" },
  { "executing", "merge", NULL, "moved",          "(stop)", "", "executing", "", "blocked", SPENT("moved") },
  { "executing", "merge", NULL, "error",          "merge", "", "executing", "" },
  { "executing", "merge", NULL, "error",          "(stop)", "", "executing", "", "blocked", SPENT("retries") },
  { "executing", "approve", "review", "approved", "merge", "", "executing", "" },
  { "executing", "approve", "review", "redo",     "drive", "review", "executing", "" },
  { "executing", "approve", "review", "rejected", "(stop)", "", "executing", NULL, "failed" },
  { "executing", "ask", "question", "answered",   "drive", "answer", "=" },
  { "executing", "ask", "question", "rejected",   "(stop)", "", "=", NULL, "failed" },
  { "DONE",      "report", NULL, "(generated)",   "(stop)", "", "DONE", "", "done" },
  { "blocked",   "report", NULL, "(generated)",   "(stop)", "", "blocked", "", "blocked" },
  { "cancelled", "report", NULL, "(generated)",   "(stop)", "", "cancelled", "", "cancelled" },
  { "planning",  "report", NULL, "(generated)",   "(stop)", "", "planning", NULL, "pending" },
  { "DONE",      "report", NULL, "error",         "report", "", "DONE" },
  { "DONE",      "report", NULL, "error",         "(stop)", "", "DONE", NULL, "done", SPENT("retries") },
};
/* clang-format on */

static const char *word_of(const char *word, const char *done)
{
    return word && !strcmp(word, "DONE") ? done : word;
}

static void play(const Workflow *flow, const char *done)
{
    rig_forget();
    for (size_t i = 0; i < COUNT(routes); i++) {
        RouteCase c = routes[i];
        c.status = word_of(c.status, done);
        c.to_status = word_of(c.to_status, done);
        rig_check(flow, &c, 1);
    }
    for (unsigned s = 0; s < flow->status_count; s++) {
        RouteCase enter = {.status = flow->statuses[s].name, .flags = 1U << FLAG_TARGET_FILLED};
        bool is_over = !strcmp(enter.status, "blocked") || !strcmp(enter.status, "cancelled");
        enter.next = is_over ? "(stop)" : !strcmp(enter.status, done) ? "report" : "drive";
        rig_check(flow, &enter, 1);
        enter.flags = 0;
        (void)rig_route(flow, &enter); /* the draft of A needs a target */
    }
    rig_every_row_was_hit(flow, false);
    rig_total(flow);
}

static void a_session_of_system_a_is_watched_checked_and_landed(void **state)
{
    (void)state;
    play(&workflow_auto_a, "complete");
}

static void a_session_of_system_b_is_watched_checked_and_landed(void **state)
{
    (void)state;
    play(&workflow_auto_b, "satisfied");
}

static void commands_are_few(void **state)
{
    (void)state;
    static const MatrixRow a[] = {
        {"target", NULL, NULL, false, "= = = = = planning planning -"},
        {"report", NULL, NULL, false, "= = = = = = = ="},
        {"retry", NULL, NULL, false, "- - - - - - planning -"},
        {"cancel", NULL, NULL, false,
         "cancelled cancelled cancelled cancelled cancelled - cancelled -"},
    };
    static const MatrixRow b[] = {
        {"target", NULL, NULL, false, "= = = = = = evolving planning -"},
        {"report", NULL, NULL, false, "= = = = = = = = ="},
        {"retry", NULL, NULL, false, "- - - - - - - planning -"},
        {"cancel", NULL, NULL, false,
         "cancelled cancelled cancelled cancelled cancelled cancelled - cancelled -"},
    };
    rig_matrix(&workflow_auto_a,
               "draft planning review executing re-planning complete blocked cancelled", a,
               COUNT(a));
    rig_matrix(&workflow_auto_b,
               "draft planning review executing re-planning evolving satisfied blocked cancelled",
               b, COUNT(b));
}

static void every_word_of_the_observer_has_its_route(void **state)
{
    (void)state;
    char word[64];
    const WorkflowPhase *drive = workflow_phase(&workflow_auto_a, "drive");
    for (size_t i = 0; word_at(observe_results, i, word, sizeof word); i++)
        assert_true(phase_has_result(drive, word));
    assert_int_equal(drive->kind, PHASE_OBSERVE);
    assert_string_equal(drive->prompt, "auto-a");
    assert_string_equal(workflow_phase(&workflow_auto_b, "drive")->prompt, "auto-b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_of_system_a_is_watched_checked_and_landed),
        cmocka_unit_test(a_session_of_system_b_is_watched_checked_and_landed),
        cmocka_unit_test(commands_are_few),
        cmocka_unit_test(every_word_of_the_observer_has_its_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
