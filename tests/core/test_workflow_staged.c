/* The workflow staged against the requirements, cell by cell (B-11 to B-40, B-76 to B-78, B-136 to
 * B-164, B-231 to B-249, B-272 to B-276). */
#include "tests/test.h"

#include "tests/core/workflow_rig.h"
#include <string.h>

static const Workflow *const flow = &workflow_staged;
#define STATUSES "draft planning review executing re-planning evolving satisfied blocked cancelled"
#define FLAGS(x) .flags = 1U << (x)
#define SPENT(x) .spent = x
#define AT_STAGE(n) .stage = n
#define CONVERGED(now, before) .value = now, .previous = before

static void the_states_are_those_of_the_catalogue(void **state)
{
    (void)state;
    char status[32];
    static const int ranks[] = {1, 2, 3, 4, 0, 4, 5, 0, 0};
    assert_int_equal(flow->status_count, 9); /* B-230 */
    for (size_t i = 0; word_at(STATUSES, i, status, sizeof status); i++) {
        assert_int_equal(workflow_status_index(flow, status), (int)i);
        assert_int_equal(flow->statuses[i].rank, ranks[i]);
        assert_int_equal(flow->statuses[i].is_final, !strcmp(status, "cancelled"));
    }
    assert_string_equal(flow->statuses[workflow_status_index(flow, "satisfied")].ends, "done");
}

static void thresholds_and_retries_are_those_of_the_catalogue(void **state)
{
    (void)state; /* B-38 to B-40 */
    assert_true(workflow_threshold(flow, "post-plan", 0) == 0.70);
    assert_true(workflow_threshold(flow, "mid-exec", 0) == 0.60);
    assert_true(workflow_threshold(flow, "post-exec", 0) == 0.75);
    assert_true(workflow_threshold(flow, "moon", 0.5) == 0.5);
    assert_int_equal(workflow_limit(flow, "post-plan")->fallback, 3);
    assert_int_equal(workflow_limit(flow, "mid-exec")->fallback, 2);
    assert_int_equal(workflow_limit(flow, "post-exec")->fallback, 3);
    assert_int_equal(workflow_limit(flow, "steps")->fallback, 20);
}

/* clang-format off */
static const RouteCase entries[] = {
  { "draft",       NULL, NULL, NULL, "target", "", "draft", "" },                            /* B-136 */
  { "planning",    NULL, NULL, NULL, "plan", "", "planning", "" },                           /* B-137 */
  { "re-planning", NULL, NULL, NULL, "plan", "", "re-planning" },                            /* B-138 */
  { "review",      NULL, NULL, NULL, "exec", "", "review", "" },                             /* B-139 */
  { "executing",   NULL, NULL, NULL, "verify", "post-exec", "executing", "" },               /* B-140 */
  { "evolving",    NULL, NULL, NULL, "target", "", "evolving", "" },                         /* B-141 */
  { "evolving",    NULL, NULL, NULL, "target", "", "evolving", "", "", CONVERGED(0.94, 0.1) },
  { "evolving",    NULL, NULL, NULL, "report", "", "evolving", "", "", CONVERGED(0.95, 0.1) },
  { "evolving",    NULL, NULL, NULL, "target", "", "evolving", "", "", FLAGS(FLAG_REFINED), CONVERGED(0.99, 0.1) }, /* B-33 */
  { "satisfied",   NULL, NULL, NULL, "report", "", "satisfied", "" },                        /* B-142 */
  { "blocked",     NULL, NULL, NULL, "(stop)", "", "blocked", "", "blocked" },               /* B-143 */
  { "cancelled",   NULL, NULL, NULL, "(stop)", "", "cancelled", "", "cancelled" },           /* B-144 */
};

static const RouteCase routes[] = {
  /* B-11, B-21, B-153, B-154 */
  { "draft",    "target", NULL, "(refined)",        "confirm", "confirm", "draft", "" },
  { "draft",    "target", NULL, "(stage-advanced)", "confirm", "confirm", "draft", "" },
  { "draft",    "target", NULL, "(refined)",        "plan", "", "planning", "", "", FLAGS(FLAG_CONFIRMED) },
  { "draft",    "target", NULL, "(stage-advanced)", "plan", "", "planning", "", "", FLAGS(FLAG_CONFIRMED) },
  { "evolving", "target", NULL, "(stage-advanced)", "plan", "", "planning", "" },
  { "evolving", "target", NULL, "(refined)",        "plan", "", "planning", "" },
  { "planning", "target", NULL, "(refined)",        "plan", "", "planning", "" },
  { "executing", "target", "post-exec", "(refined)",          "plan", "", "re-planning", "needs-plan" },         /* B-114 */
  { "executing", "target", "post-exec", "(refined-moderate)", "verify", "mid-exec", "executing", "" },           /* B-113 */
  { "executing", "target", "post-exec", "(refined-minor)",    "verify", "post-exec", "executing", "" },          /* B-112 */
  { "executing", "target", "mid-exec",  "(refined-none)",     "verify", "mid-exec", "executing", "" },           /* B-111 */
  { "executing", "target", "post-exec", "(refined-moderate)", "(stop)", "", "executing", "", "timeout", SPENT("steps") },
  { "executing", "target", "post-exec", "(refined-minor)",    "(stop)", "", "executing", "", "timeout", SPENT("steps") },
  { "executing", "target", "post-exec", "(refined-none)",     "(stop)", "", "executing", "", "timeout", SPENT("steps") },
  { "executing", "exec", NULL, "(done)",     "target", "post-exec", "executing", "", "", FLAGS(FLAG_REFINED) },  /* B-109, B-110 */
  { "executing", "exec", NULL, "(mid-exec)", "target", "mid-exec", "executing", "", "", FLAGS(FLAG_REFINED) },
  { "executing", "exec", NULL, "(step-3)",   "target", "mid-exec", "executing", "", "", FLAGS(FLAG_REFINED) },
  { "evolving", "target", NULL, "(exhausted)",      "(stop)", "", "evolving", "", "blocked" },      /* B-28 */
  { "evolving", "target", NULL, "(stage-advanced)", "(stop)", "", "evolving", "", "timeout", SPENT("stages") },
  { "evolving", "target", NULL, "(refined)",        "(stop)", "", "evolving", "", "timeout", SPENT("stages") },
  { "draft",    "target", NULL, "(blocked)",        "(stop)", "", "blocked", "", "blocked" },
  { "draft",    "confirm", "confirm", "approved",   "plan", "", "planning", "" },                   /* B-89 */
  { "draft",    "confirm", "confirm", "redo",       "target", "confirm", "draft", "" },             /* B-87 */
  { "draft",    "confirm", "confirm", "rejected",   "(stop)", "", "draft", "", "blocked" },
  /* B-155 */
  { "planning",    "plan", NULL, "(generated)", "verify", "post-plan", "planning", "" },
  { "blocked",     "plan", NULL, "(generated)", "verify", "post-plan", "planning", "" },
  { "re-planning", "plan", NULL, "(generated)", "verify", "post-plan", "re-planning", "needs-check" },
  { "review",      "plan", NULL, "(generated)", "verify", "post-plan", "re-planning", "needs-check" },
  { "executing",   "plan", NULL, "(generated)", "verify", "post-plan", "re-planning", "needs-check" },
  { "planning",    "plan", NULL, "(blocked)",   "(stop)", "", "blocked", "", "blocked" },
  /* B-162 */
  { "planning",    "verify", "post-plan", "(pass)",    "check", "post-plan", "=" },
  { "planning",    "verify", "post-plan", "(fail)",    "check", "post-plan", "=" },
  { "executing",   "verify", "mid-exec",  "(partial)", "check", "mid-exec", "=" },
  { "executing",   "verify", "post-exec", "(pass)",    "check", "post-exec", "=" },
  { "executing",   "verify", "post-exec", "error",     "verify", "post-exec", "=" },
  { "executing",   "verify", "post-exec", "error",     "(stop)", "", "=", NULL, "blocked", SPENT("retries") },
  { "planning",    "verify", "", "(pass)",    "check", "post-plan", "=" },
  { "planning",    "verify", "", "(fail)",    "check", "post-plan", "=" },
  { "planning",    "verify", "", "(partial)", "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(pass)",    "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(fail)",    "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(partial)", "check", "post-plan", "=" },
  { "executing",   "verify", "", "(pass)",    "check", "post-exec", "=" },
  { "executing",   "verify", "", "(fail)",    "check", "post-exec", "=" },
  { "executing",   "verify", "", "(partial)", "check", "post-exec", "=" },
  { "evolving",    "verify", "", "(pass)",    "(stop)", "", "=", NULL, "pending" },
  { "evolving",    "verify", "", "(fail)",    "(stop)", "", "=", NULL, "pending" },
  { "evolving",    "verify", "", "(partial)", "(stop)", "", "=", NULL, "pending" },
  { "blocked",     "verify", "", "(pass)",    "(stop)", "", "=", NULL, "blocked" },
  { "blocked",     "verify", "", "(fail)",    "(stop)", "", "=", NULL, "blocked" },
  { "blocked",     "verify", "", "(partial)", "(stop)", "", "=", NULL, "blocked" },
  /* B-22, B-145, B-146, B-64 */
  { "planning",    "check", "post-plan", "PASS",           "exec", "post-plan", "review", "" },
  { "re-planning", "check", "post-plan", "PASS",           "exec", "post-plan", "review", "" },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "plan", "", "planning", "" },
  { "re-planning", "check", "post-plan", "NEEDS_REVISION", "plan", "", "re-planning", "needs-plan" },
  { "planning",    "check", "post-plan", "REPLAN",         "plan", "", "planning", "" },
  { "re-planning", "check", "post-plan", "REPLAN",         "plan", "", "re-planning", "needs-plan" },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "(rollback)", "", "re-planning", "needs-plan", "", SPENT("post-plan") },
  { "planning",    "check", "post-plan", "REPLAN",         "(rollback)", "", "re-planning", "needs-plan", "", SPENT("post-plan") },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "(stop)", "", "planning", NULL, "blocked", SPENT("post-plan"), FLAGS(FLAG_ROLLED_BACK) },
  { "re-planning", "check", "post-plan", "REPLAN",         "(stop)", "", "re-planning", NULL, "blocked", SPENT("post-plan"), FLAGS(FLAG_ROLLED_BACK) },
  /* B-24, B-149, B-150, B-152 */
  { "executing",   "check", "mid-exec",  "CONTINUE",  "exec", "mid-exec", "executing", "" },
  { "executing",   "check", "mid-exec",  "CONTINUE",  "exec", "mid-exec", "executing", "", "", SPENT("mid-exec") },
  { "executing",   "check", "mid-exec",  "NEEDS_FIX", "exec", "mid-exec", "executing", "" },
  { "executing",   "check", "mid-exec",  "NEEDS_FIX", "(rollback)", "", "re-planning", "needs-plan", "", SPENT("mid-exec") },
  { "executing",   "check", "mid-exec",  "NEEDS_FIX", "(stop)", "", "executing", NULL, "blocked", SPENT("mid-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "mid-exec",  "REPLAN",    "plan", "", "re-planning", "needs-plan" },
  { "executing",   "check", "mid-exec",  "BLOCKED",   "(stop)", "", "blocked", "", "blocked" },
  { "executing",   "check", "post-exec", "NEEDS_FIX", "exec", "post-exec", "executing", "" },
  { "executing",   "check", "post-exec", "NEEDS_FIX", "(rollback)", "", "re-planning", "needs-plan", "", SPENT("post-exec") },   /* B-26 */
  { "executing",   "check", "post-exec", "NEEDS_FIX", "(stop)", "", "executing", NULL, "blocked", SPENT("post-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "post-exec", "REPLAN",    "plan", "", "re-planning", "needs-plan" },
  { "executing",   "check", "post-exec", "REPLAN",    "(rollback)", "", "re-planning", "needs-plan", "", SPENT("post-exec") },
  { "executing",   "check", "post-exec", "REPLAN",    "(stop)", "", "executing", NULL, "blocked", SPENT("post-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "post-exec", "BLOCKED",   "(stop)", "", "blocked", "", "blocked" },                                   /* B-31 */
  /* B-27, B-28, B-63, B-147, B-148, B-78 */
  { "executing",   "check", "post-exec", "ACCEPT",    "highlight", "post-exec", "evolving", "" },
  { "executing",   "check", "post-exec", "ACCEPT",    "highlight", "post-exec", "evolving", "", "", AT_STAGE(2), CONVERGED(0.7, 0.6) },
  { "executing",   "check", "post-exec", "ACCEPT",    "highlight", "post-exec", "evolving", "", "", AT_STAGE(2), CONVERGED(0.6, 0.6) },
  { "executing",   "check", "post-exec", "ACCEPT",    "highlight", "post-exec", "evolving", "", "", AT_STAGE(2), CONVERGED(0.6 - 1e-12, 0.6) },
  { "executing",   "check", "post-exec", "ACCEPT",    "(rollback)", "post-exec", "evolving", "", "", AT_STAGE(2), CONVERGED(0.59, 0.6) },
  { "executing",   "check", "post-exec", "ACCEPT",    "exec", "post-exec", "executing", "", "", AT_STAGE(1), CONVERGED(0.1, 0.6) },
  { "executing",   "check", "post-exec", "ACCEPT",    "(rollback)", "", "re-planning", "needs-plan", "", AT_STAGE(1), CONVERGED(0.1, 0.6), SPENT("post-exec") },
  { "executing",   "check", "post-exec", "ACCEPT",    "(stop)", "", "executing", NULL, "blocked", AT_STAGE(1), CONVERGED(0.1, 0.6), SPENT("post-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "post-exec", "ACCEPT",    "(stop)", "", "executing", NULL, "timeout", AT_STAGE(1), CONVERGED(0.1, 0.6), SPENT("steps") },
  { "executing",   "check", "post-exec", "STALLED",   "(stop)", "", "evolving", "", "blocked", AT_STAGE(4) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "(rollback)", "post-exec", "evolving", "", "", AT_STAGE(2) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "(rollback)", "post-exec", "evolving", "", "", AT_STAGE(7), SPENT("post-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "exec", "post-exec", "executing", "", "", AT_STAGE(1) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "exec", "post-exec", "executing", "", "", AT_STAGE(0) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "(rollback)", "", "re-planning", "needs-plan", "", AT_STAGE(1), SPENT("post-exec") },
  { "executing",   "check", "post-exec", "ROLLBACK",  "(stop)", "", "executing", NULL, "blocked", AT_STAGE(1), SPENT("post-exec"), FLAGS(FLAG_ROLLED_BACK) },
  { "executing",   "check", "post-exec", "ROLLBACK",  "(stop)", "", "executing", NULL, "timeout", AT_STAGE(1), SPENT("steps") },
  { "executing",   "check", "post-exec", "GUARDED",   "approve", "post-exec", "executing" },
  { "executing",   "check", "post-exec", "error",     "(stop)", "", "executing", NULL, "blocked" },                               /* B-46 */
  /* B-277 */
  { "planning",    "check", "post-plan", "PASS",           "(stop)", "", "review", "", "timeout", SPENT("steps") },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "(stop)", "", "planning", NULL, "timeout", SPENT("steps") },
  { "planning",    "check", "post-plan", "REPLAN",         "(stop)", "", "planning", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "CONTINUE",       "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "NEEDS_FIX",      "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "REPLAN",         "(stop)", "", "re-planning", "needs-plan", "timeout", SPENT("steps") },
  { "executing",   "check", "post-exec", "NEEDS_FIX",      "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "post-exec", "REPLAN",         "(stop)", "", "re-planning", "needs-plan", "timeout", SPENT("steps") },
  /* B-156 to B-159 */
  { "executing",   "exec", NULL, "(done)",     "verify", "post-exec", "executing", "" },
  { "executing",   "exec", NULL, "(mid-exec)", "verify", "mid-exec", "executing", "" },
  { "executing",   "exec", NULL, "(step-12)",  "verify", "mid-exec", "executing", "" },
  { "executing",   "exec", NULL, "(blocked)",  "(stop)", "", "blocked", "", "blocked" },
  /* B-160 */
  { "evolving", "highlight", "post-exec", "(distilled)",          "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "(skipped-idempotent)", "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "failed",               "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "killed",               "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "PENDING",              "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "invalid",              "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "output-limit",         "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "spawn-failed",         "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "cannot-start",         "report", "", "evolving", "" },
  { "evolving", "highlight", "post-exec", "none",                 "highlight", "post-exec", "evolving" },
  { "evolving", "highlight", "post-exec", "none",                 "report", "", "evolving", "", "", SPENT("turns") },
  { "evolving", "highlight", "post-exec", "stopped",              "(stop)", "", "evolving", NULL, "pending" },
  { "evolving", "highlight", "post-exec", "limit",                "(stop)", "", "evolving", NULL, "timeout" },
  { "evolving", "highlight", "post-exec", "timeout",              "(stop)", "", "evolving", NULL, "timeout" },
  /* B-29, B-30, B-164; the landing is a merge of its own */
  { "evolving",  "report", NULL, "(generated)", "target", "", "evolving", "" },
  { "evolving",  "report", NULL, "(generated)", "target", "", "evolving", "", "", CONVERGED(0.9499, 0.2) },
  { "evolving",  "report", NULL, "(generated)", "(stop)", "", "satisfied", "", "done", CONVERGED(0.95, 0.2) },
  { "evolving",  "report", NULL, "(generated)", "(stop)", "", "satisfied", "", "done", CONVERGED(1.0, 1.0) },
  { "evolving",  "report", NULL, "(generated)", "approve", "review", "evolving", "", "", FLAGS(FLAG_REVIEW), CONVERGED(1.0, 0.2) },
  { "evolving",  "report", NULL, "(generated)", "target", "", "evolving", "", "", FLAGS(FLAG_REFINED), CONVERGED(1.0, 0.2) },
  { "satisfied", "report", NULL, "(generated)", "(stop)", "", "satisfied", "", "done" },
  { "satisfied", "report", NULL, "(generated)", "approve", "review", "satisfied", "", "", FLAGS(FLAG_REVIEW) },
  { "draft",     "report", NULL, "(generated)", "(stop)", "", "=", NULL, "pending" },
  { "planning",  "report", NULL, "(generated)", "(stop)", "", "=", NULL, "pending" },
  { "review",    "report", NULL, "(generated)", "(stop)", "", "=", NULL, "pending" },
  { "executing", "report", NULL, "(generated)", "(stop)", "", "=", NULL, "pending" },
  { "re-planning", "report", NULL, "(generated)", "(stop)", "", "=", NULL, "pending" },
  { "blocked",   "report", NULL, "(generated)", "(stop)", "", "=", NULL, "blocked" },
  { "cancelled", "report", NULL, "(generated)", "(stop)", "", "=", NULL, "cancelled" },
  { "evolving",  "report", NULL, "error", "report", "", "evolving" },
  { "evolving",  "report", NULL, "error", "target", "", "evolving", "", "", SPENT("retries") },
  { "evolving",  "report", NULL, "error", "target", "", "evolving", "", "", SPENT("retries"), FLAGS(FLAG_REFINED) },
  { "evolving",  "report", NULL, "error", "(stop)", "", "satisfied", "", "done", SPENT("retries"), CONVERGED(1.0, 0.2) },
  { "evolving",  "report", NULL, "error", "approve", "review", "evolving", "", "", SPENT("retries"), FLAGS(FLAG_REVIEW), CONVERGED(1.0, 0.2) },
  { "satisfied", "report", NULL, "error", "(stop)", "", "satisfied", "", "done", SPENT("retries") },
  { "satisfied", "report", NULL, "error", "approve", "review", "satisfied", "", "", SPENT("retries"), FLAGS(FLAG_REVIEW) },
  { "draft",     "report", NULL, "error", "(stop)", "", "=", NULL, "pending", SPENT("retries") },
  { "planning",  "report", NULL, "error", "(stop)", "", "=", NULL, "pending", SPENT("retries") },
  { "review",    "report", NULL, "error", "(stop)", "", "=", NULL, "pending", SPENT("retries") },
  { "executing", "report", NULL, "error", "(stop)", "", "=", NULL, "pending", SPENT("retries") },
  { "re-planning", "report", NULL, "error", "(stop)", "", "=", NULL, "pending", SPENT("retries") },
  { "blocked",   "report", NULL, "error", "(stop)", "", "=", NULL, "blocked", SPENT("retries") },
  { "cancelled", "report", NULL, "error", "(stop)", "", "=", NULL, "cancelled", SPENT("retries") },
  { "satisfied", "merge", NULL, "success",     "(stop)", "", "satisfied", "", "done" },
  { "evolving",  "merge", NULL, "success",     "(stop)", "", "evolving", "", "pending" },
  { "satisfied", "merge", NULL, "conflict",    "(stop)", "", "satisfied", "", "blocked" },
  { "satisfied", "merge", NULL, "collides",    "resolve", "conflict", "satisfied", "" },
  { "satisfied", "merge", NULL, "collides",    "(stop)", "", "satisfied", "", "blocked", SPENT("conflict") },
  { "satisfied", "merge", NULL, "gate-failed", "resolve", "merged-verify", "satisfied", "" },
  { "satisfied", "merge", NULL, "gate-failed", "(stop)", "", "satisfied", "", "blocked", SPENT("merged-verify") },
  { "satisfied", "merge", NULL, "moved",       "merge", "", "satisfied", "" },
  { "satisfied", "merge", NULL, "moved",       "(stop)", "", "satisfied", "", "blocked", SPENT("moved") },
  { "satisfied", "merge", NULL, "error",       "merge", "", "satisfied", "" },
  { "satisfied", "merge", NULL, "error",       "(stop)", "", "satisfied", "", "blocked", SPENT("retries") },
  { "satisfied", "resolve", "conflict", "(done)",    "merge", "", "satisfied", "" },
  { "satisfied", "resolve", "conflict", "(blocked)", "(stop)", "", "satisfied", "", "blocked" },
  /* people */
  { "planning",    "approve", "post-plan", "approved", "exec", "", "review", "" },
  { "executing",   "approve", "mid-exec",  "approved", "exec", "", "executing", "" },
  { "executing",   "approve", "post-exec", "approved", "highlight", "post-exec", "evolving", "" },
  { "evolving",    "approve", "review",    "approved", "(stop)", "", "satisfied", "", "done" },
  { "planning",    "approve", "post-plan", "redo",     "plan", "review", "planning", "" },
  { "re-planning", "approve", "post-plan", "redo",     "plan", "review", "re-planning", "needs-plan" },
  { "executing",   "approve", "post-exec", "redo",     "exec", "review", "executing", "" },
  { "evolving",    "approve", "review",    "redo",     "target", "review", "evolving", "" },
  { "evolving",    "approve", "review",    "rejected", "(stop)", "", "evolving", NULL, "failed" },
  { "planning",    "ask", "post-plan", "answered", "check", "post-plan", "=" },
  { "executing",   "ask", "mid-exec",  "answered", "check", "mid-exec", "=" },
  { "executing",   "ask", "post-exec", "answered", "check", "post-exec", "=" },
  { "satisfied",   "ask", "conflict",  "answered", "resolve", "conflict", "=" },
  { "planning",    "ask", "research",  "answered", "research", "answer", "=" },
  { "planning",    "ask", "annotate",  "answered", "annotate", "answer", "=" },
  { "draft",       "ask", "question",  "answered", "target", "answer", "=" },
  { "evolving",    "ask", "question",  "answered", "target", "answer", "=" },
  { "satisfied",   "ask", "question",  "answered", "resolve", "answer", "=" },
  { "planning",    "ask", "question",  "answered", "plan", "answer", "=" },
  { "review",      "ask", "question",  "answered", "exec", "answer", "=" },
  { "executing",   "ask", "question",  "answered", "exec", "answer", "=" },
  { "executing",   "ask", "question",  "rejected", "(stop)", "", "=", NULL, "failed" },
  /* B-161 */
  { "draft",     "research", NULL, "(collected)",          "target", "post-research", "=" },
  { "draft",     "research", NULL, "(sufficient)",         "target", "post-research", "=" },
  { "draft",     "research", NULL, "(objective-complete)", "target", "post-research", "=" },
  { "evolving",  "research", NULL, "(collected)",          "target", "post-research", "=" },
  { "evolving",  "research", NULL, "(sufficient)",         "target", "post-research", "=" },
  { "evolving",  "research", NULL, "(objective-complete)", "target", "post-research", "=" },
  { "planning",  "research", NULL, "(collected)",          "plan", "post-research", "=" },
  { "planning",  "research", NULL, "(sufficient)",         "plan", "post-research", "=" },
  { "planning",  "research", NULL, "(objective-complete)", "plan", "post-research", "=" },
  { "review",    "research", NULL, "(collected)",          "exec", "post-research", "=" },
  { "review",    "research", NULL, "(sufficient)",         "exec", "post-research", "=" },
  { "review",    "research", NULL, "(objective-complete)", "exec", "post-research", "=" },
  { "executing", "research", NULL, "(collected)",          "exec", "post-research", "=" },
  { "executing", "research", NULL, "(sufficient)",         "exec", "post-research", "=" },
  { "executing", "research", NULL, "(objective-complete)", "exec", "post-research", "=" },
  { "blocked",   "research", NULL, "(collected)",          "(stop)", "", "=", NULL, "blocked" },
  { "blocked",   "research", NULL, "(sufficient)",         "(stop)", "", "=", NULL, "blocked" },
  { "blocked",   "research", NULL, "(objective-complete)", "(stop)", "", "=", NULL, "blocked" },
  { "planning",  "research", NULL, "(blocked)",            "(stop)", "", "blocked", "", "blocked" },
  /* B-163 */
  { "planning",    "annotate", NULL, "(processed)", "verify", "post-plan", "planning", "" },
  { "re-planning", "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "review",      "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "executing",   "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "planning",    "annotate", NULL, "(blocked)",   "(stop)", "", "blocked", "", "blocked" },
};

static const RouteCase accidents[] = {
  { "executing", "?", "mid-exec", "none",         "?", "mid-exec", "=" },
  { "executing", "?", "mid-exec", "none",         "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "executing", "?", "mid-exec", "none",         "(stop)", "", "=", NULL, "timeout", SPENT("time-ms") },
  { "executing", "?", "mid-exec", "PENDING",      "ask", NULL, "=" },
  { "executing", "?", "mid-exec", "PENDING",      "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "executing", "?", "mid-exec", "PENDING",      "(stop)", "", "=", NULL, "timeout", SPENT("time-ms") },
  { "executing", "?", "mid-exec", "failed",       "(stop)", "", "=", NULL, "failed" },
  { "executing", "?", "mid-exec", "killed",       "?", NULL, "=" },
  { "executing", "?", "mid-exec", "killed",       "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "executing", "?", "mid-exec", "stopped",      "(stop)", "", "=", NULL, "pending" },
  { "executing", "?", "mid-exec", "limit",        "(stop)", "", "=", NULL, "timeout" },
  { "executing", "?", "mid-exec", "timeout",      "(stop)", "", "=", NULL, "timeout" },
  { "executing", "?", "mid-exec", "output-limit", "?", NULL, "=" },
  { "executing", "?", "mid-exec", "output-limit", "(stop)", "", "=", NULL, "timeout", SPENT("turns") },
  { "executing", "?", "mid-exec", "output-limit", "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "executing", "?", "mid-exec", "spawn-failed", "?", NULL, "=" },
  { "executing", "?", "mid-exec", "spawn-failed", "(stop)", "", "=", NULL, "failed", SPENT("retries") },
  { "executing", "?", "mid-exec", "cannot-start", "(stop)", "", "=", NULL, "failed" },
  { "executing", "?", "mid-exec", "invalid",      "(stop)", "", "=", NULL, "failed" },
};

static const MatrixRow matrix[] = {
  /* B-241 to B-249 (target at draft: confirmed)     draft    planning review executing re-planning evolving satisfied blocked cancelled */
  { "target",    NULL,        NULL,             false, "planning = re-planning = = planning evolving planning -" },
  { "plan",      NULL,        NULL,             false, "planning = re-planning re-planning = - - planning -" },
  { "annotate",  NULL,        NULL,             false, "planning = re-planning re-planning = - - planning -" },
  { "check",     "post-plan", "PASS",           false, "- review - - review - - - -" },
  { "check",     "post-plan", "NEEDS_REVISION", false, "- = - - = - - - -" },
  { "check",     "post-plan", "REPLAN",         false, "- = - - = - - - -" },
  { "check",     "post-plan", "BLOCKED",        false, "- blocked - - blocked - - - -" },
  { "check",     "post-plan", "GUARDED",        false, "- = - - = - - - -" },
  { "check",     "post-plan", "error",          false, "- = - - = - - - -" },
  { "check",     "mid-exec",  "CONTINUE",       false, "- - - = - - - - -" },
  { "check",     "mid-exec",  "NEEDS_FIX",      false, "- - - = - - - - -" },
  { "check",     "mid-exec",  "REPLAN",         false, "- - - re-planning - - - - -" },
  { "check",     "mid-exec",  "BLOCKED",        false, "- - - blocked - - - - -" },
  { "check",     "mid-exec",  "GUARDED",        false, "- - - = - - - - -" },
  { "check",     "mid-exec",  "error",          false, "- - - = - - - - -" },
  { "check",     "post-exec", "ACCEPT",         false, "- - - evolving - - - - -" },
  { "check",     "post-exec", "ROLLBACK",       false, "- - - evolving - - - - -" },
  { "check",     "post-exec", "NEEDS_FIX",      false, "- - - = - - - - -" },
  { "check",     "post-exec", "REPLAN",         false, "- - - re-planning - - - - -" },
  { "check",     "post-exec", "BLOCKED",        false, "- - - blocked - - - - -" },
  { "check",     "post-exec", "GUARDED",        false, "- - - = - - - - -" },
  { "check",     "post-exec", "error",          false, "- - - = - - - - -" },
  { "check",     "",          "",               false, "- = - = = - - - -" },
  { "exec",      NULL,        NULL,             false, "- - executing = - - - - -" },
  { "exec",      NULL,        "(blocked)",      false, "- - executing blocked - - - - -" },
  { "highlight", NULL,        NULL,             false, "= = = = = = = = -" },
  { "merge",     NULL,        NULL,             true,  "- - - = - = - - -" },
  { "merge",     NULL,        NULL,             false, "- - - - - - - - -" },
  { "report",    NULL,        NULL,             false, "= = = = = = = = =" },
  { "verify",    NULL,        NULL,             false, "= = = = = = - = -" },
  { "research",  NULL,        NULL,             false, "= = = = = = - = -" },
  { "satisfy",   NULL,        NULL,             false, "- - - - - satisfied - - -" },
  { "retry",     NULL,        NULL,             false, "- - - - - - - planning -" },
  { "cancel",    NULL,        NULL,             false, "cancelled cancelled cancelled cancelled cancelled cancelled cancelled cancelled -" },
  /* B-272 to B-276 */
  { "annotate",  NULL,        "requirement",    false, "= = re-planning re-planning = - - planning -" },
  { "annotate",  NULL,        "planning",       false, "planning = re-planning re-planning = - - planning -" },
  { "annotate",  NULL,        "analysis",       false, "= = re-planning = = = = = -" },
  { "annotate",  NULL,        "test",           false, "= = = = = = = = -" },
  { "annotate",  NULL,        "methodology",    false, "= = = = = = = = -" },
  { "annotate",  NULL,        "information",    false, "= = = = = = = = -" },
  { "annotate",  NULL,        "comment",        false, "= = = = = = = = -" },
};
/* clang-format on */

static void play_every_route(void)
{
    static const char *const agents[] = {"target",  "plan",     "check",   "exec",
                                         "resolve", "research", "annotate"};
    rig_check(flow, routes, COUNT(routes));
    for (size_t a = 0; a < COUNT(agents); a++) {
        for (size_t i = 0; i < COUNT(accidents); i++) {
            RouteCase c = accidents[i];
            c.step = agents[a];
            c.next = strcmp(c.next, "?") ? c.next : agents[a];
            if (!strcmp(c.result, "failed") && !strcmp(c.step, "check"))
                c.ends = "blocked"; /* B-46 */
            if (strcmp(c.result, "invalid") != 0 || strcmp(c.step, "check") != 0)
                rig_check(flow, &c, 1); /* a gate says error instead of invalid */
        }
    }
}

static void every_status_starts_where_the_catalogue_says(void **state)
{
    (void)state;
    rig_check(flow, entries, COUNT(entries));
    RouteInput in = {.status = "re-planning", .substate = "needs-check"};
    RouteStep step;
    assert_true(workflow_enter(flow, &in, &step));
    assert_string_equal(step.next, "verify");
    assert_string_equal(step.checkpoint, "post-plan");
}

static void every_result_leads_where_the_catalogue_says(void **state)
{
    (void)state;
    play_every_route();
}

static void no_result_is_without_a_way(void **state)
{
    (void)state;
    rig_total(flow);
}

static void every_command_on_every_status_has_its_cell(void **state)
{
    (void)state;
    rig_matrix(flow, STATUSES, matrix, COUNT(matrix));
    RouteInput in = {.status = "draft"}; /* B-241: edits of items keep the draft */
    RouteStep step;
    assert_true(workflow_transition(flow, &in, "target", &step));
    assert_true(step.is_allowed);
    assert_string_equal(step.status, "draft");
    assert_string_equal(rig_substate(flow, "review", "target", NULL, NULL), "needs-plan");
    assert_string_equal(rig_substate(flow, "executing", "annotate", NULL, NULL), "needs-check");
}

static void a_verdict_means_the_same_as_route_and_as_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(matrix); i++) {
        const MatrixRow *row = &matrix[i];
        if (strcmp(row->command, "check") != 0 || !*row->checkpoint)
            continue;
        for (unsigned s = 0; s < flow->status_count; s++) {
            RouteInput in = {.status = flow->statuses[s].name,
                             .step = "check",
                             .checkpoint = row->checkpoint,
                             .result = row->result,
                             .stage = 2};
            RouteStep route, command;
            assert_true(workflow_transition(flow, &in, "check", &command));
            if (!command.is_allowed)
                continue;
            assert_true(workflow_route(flow, &in, &route));
            assert_string_equal(route.status, command.status);
            assert_string_equal(route.substate, command.substate);
        }
    }
}

static bool asks_for(const RouteStep *step, Action action)
{
    for (unsigned i = 0; i < ACTIONS_MAX && step->actions[i] != ACTION_NONE; i++) {
        if (step->actions[i] == action)
            return true;
    }
    return false;
}

static void stages_are_counted_and_accepted(void **state)
{
    (void)state;
    RouteCase accept = {"executing", "check", "post-exec", "ACCEPT", NULL};
    RouteCase advance = {"evolving", "target", NULL, "(stage-advanced)", NULL};
    RouteCase first = {"draft", "target", NULL, "(refined)", NULL, FLAGS(FLAG_CONFIRMED)};
    RouteCase last = {"evolving", "report", NULL, "(generated)", NULL, CONVERGED(0.97, 0.4)};
    RouteStep step = rig_route(flow, &accept);
    assert_true(asks_for(&step, ACTION_ACCEPT_STAGE));
    assert_true(asks_for(&step, ACTION_RESET_RETRIES));
    step = rig_route(flow, &advance);
    assert_true(asks_for(&step, ACTION_NEXT_STAGE));
    step = rig_route(flow, &first); /* the first stage is there already */
    assert_false(asks_for(&step, ACTION_NEXT_STAGE));
    step = rig_route(flow, &last);
    assert_true(asks_for(&step, ACTION_ENQUEUE_MERGE));
}

static void the_retries_given_with_the_input_count(void **state)
{
    (void)state;
    RouteCounter one = {"post-exec", 1, 1};
    RouteInput in = {.status = "executing",
                     .step = "check",
                     .checkpoint = "post-exec",
                     .result = "NEEDS_FIX",
                     .counters = &one,
                     .counter_count = 1};
    RouteStep step;
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.next, "(rollback)");
    one.limit = 4;
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.next, "exec");
    in.counter_count = 0;
    in.retries = 3;
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.next, "(rollback)");
}

static void every_row_is_reached(void **state)
{
    (void)state;
    rig_forget();
    rig_check(flow, entries, COUNT(entries));
    rig_reach_entry(flow, "re-planning", "needs-check");
    play_every_route();
    rig_matrix(flow, STATUSES, matrix, COUNT(matrix));
    rig_reach_command(flow, "draft", "target");
    rig_every_row_was_hit(flow, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_states_are_those_of_the_catalogue),
        cmocka_unit_test(thresholds_and_retries_are_those_of_the_catalogue),
        cmocka_unit_test(every_status_starts_where_the_catalogue_says),
        cmocka_unit_test(every_result_leads_where_the_catalogue_says),
        cmocka_unit_test(no_result_is_without_a_way),
        cmocka_unit_test(every_command_on_every_status_has_its_cell),
        cmocka_unit_test(a_verdict_means_the_same_as_route_and_as_command),
        cmocka_unit_test(stages_are_counted_and_accepted),
        cmocka_unit_test(the_retries_given_with_the_input_count),
        cmocka_unit_test(every_row_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
