/* The workflow lifecycle against the requirements, cell by cell. */
#include "tests/test.h"

#include "tests/core/workflow_rig.h"
#include <string.h>

static const Workflow *const flow = &workflow_lifecycle;
#define SPENT(x) .spent = x
#define REVIEW .flags = 1U << FLAG_REVIEW
#define REFINED .flags = 1U << FLAG_REFINED
#define FILLED .flags = 1U << FLAG_TARGET_FILLED
#define STATUSES "draft planning review executing re-planning complete blocked cancelled"

static void the_states_are_those_of_the_catalogue(void **state)
{
    (void)state;
    char status[32];
    static const int ranks[] = {1, 2, 3, 4, 0, 5, 0, 0}; /* */
    static const char *const ends[] = {"blocked", "blocked", "blocked", "blocked",
                                       "blocked", "done",    "blocked", "cancelled"};
    assert_int_equal(flow->status_count, 8); /* */
    for (size_t i = 0; word_at(STATUSES, i, status, sizeof status); i++) {
        assert_int_equal(workflow_status_index(flow, status), (int)i);
        assert_int_equal(flow->statuses[i].rank, ranks[i]);
        assert_string_equal(flow->statuses[i].ends, ends[i]);
        assert_int_equal(flow->statuses[i].is_final, !strcmp(status, "cancelled"));
    }
}

/* clang-format off */
static const RouteCase entries[] = {
  { "draft",       NULL, NULL, NULL, "(stop)", "", "draft", "", "blocked" },                /* */
  { "draft",       NULL, NULL, NULL, "plan", "", "draft", "", "", FILLED },                 /* */
  { "planning",    NULL, NULL, NULL, "verify", "post-plan", "planning", "" },               /* */
  { "review",      NULL, NULL, NULL, "exec", "", "review", "" },                            /* */
  { "executing",   NULL, NULL, NULL, "verify", "post-exec", "executing", "" },              /* */
  { "re-planning", NULL, NULL, NULL, "plan", "", "re-planning" },                           /* */
  { "complete",    NULL, NULL, NULL, "report", "", "complete", "" },                        /* */
  { "blocked",     NULL, NULL, NULL, "(stop)", "", "blocked", "", "blocked" },              /* */
  { "cancelled",   NULL, NULL, NULL, "(stop)", "", "cancelled", "", "cancelled" },          /* */
};

static const RouteCase routes[] = {
  /* plan, by status */
  { "draft",       "plan", NULL, "(generated)",   "verify", "post-plan", "planning", "" },
  { "planning",    "plan", NULL, "(generated)",   "verify", "post-plan", "planning", "" },
  { "blocked",     "plan", NULL, "(generated)",   "verify", "post-plan", "planning", "" },
  { "complete",    "plan", NULL, "(generated)",   "verify", "post-plan", "planning", "" },
  { "review",      "plan", NULL, "(generated)",   "verify", "post-plan", "re-planning", "needs-check" },
  { "executing",   "plan", NULL, "(generated)",   "verify", "post-plan", "re-planning", "needs-check" },
  { "re-planning", "plan", NULL, "(generated)",   "verify", "post-plan", "re-planning", "needs-check" },
  { "planning",    "plan", NULL, "(annotations)", "verify", "post-plan", "planning" },
  { "planning",    "plan", NULL, "(blocked)",     "(stop)", "", "blocked", "", "blocked" },
  /* verify passes the checkpoint on */
  { "planning",    "verify", "post-plan", "(pass)",    "check", "post-plan", "=" },
  { "planning",    "verify", "post-plan", "(fail)",    "check", "post-plan", "=" },
  { "re-planning", "verify", "post-plan", "(partial)", "check", "post-plan", "=" },
  { "executing",   "verify", "mid-exec",  "(pass)",    "check", "mid-exec",  "=" },
  { "executing",   "verify", "mid-exec",  "(fail)",    "check", "mid-exec",  "=" },
  { "executing",   "verify", "post-exec", "(partial)", "check", "post-exec", "=" },
  { "executing",   "verify", "post-exec", "(pass)",    "check", "post-exec", "=" },
  /* without a trigger the status says what is judged */
  { "planning",    "verify", "", "(pass)",    "check", "post-plan", "=" },
  { "planning",    "verify", "", "(fail)",    "check", "post-plan", "=" },
  { "planning",    "verify", "", "(partial)", "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(pass)",    "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(fail)",    "check", "post-plan", "=" },
  { "re-planning", "verify", "", "(partial)", "check", "post-plan", "=" },
  { "executing",   "verify", "", "(pass)",    "check", "post-exec", "=" },
  { "executing",   "verify", "", "(fail)",    "check", "post-exec", "=" },
  { "executing",   "verify", "", "(partial)", "check", "post-exec", "=" },
  { "draft",       "verify", "", "(pass)",    "(stop)", "", "=", NULL, "pending" },
  { "review",      "verify", "", "(fail)",    "(stop)", "", "=", NULL, "pending" },
  { "review",      "verify", "", "(partial)", "(stop)", "", "=", NULL, "pending" },
  { "blocked",     "verify", "", "(pass)",    "(stop)", "", "=", NULL, "blocked" },
  { "blocked",     "verify", "", "(fail)",    "(stop)", "", "=", NULL, "blocked" },
  { "blocked",     "verify", "", "(partial)", "(stop)", "", "=", NULL, "blocked" },
  { "planning",    "verify", "post-plan", "error", "verify", "post-plan", "=" },
  { "planning",    "verify", "post-plan", "error", "(stop)", "", "=", NULL, "blocked", SPENT("retries") },
  /* */
  { "planning",    "check", "post-plan", "PASS",           "exec", "", "review", "" },                     /* */
  { "re-planning", "check", "post-plan", "PASS",           "exec", "", "review", "" },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "plan", "", "planning", "" },                   /* */
  { "re-planning", "check", "post-plan", "NEEDS_REVISION", "plan", "", "re-planning", "needs-plan" },      /* */
  { "planning",    "check", "post-plan", "REPLAN",         "plan", "", "planning", "" },                   /* defect 20 */
  { "re-planning", "check", "post-plan", "REPLAN",         "plan", "", "re-planning", "needs-plan" },
  { "planning",    "check", "post-plan", "BLOCKED",        "(stop)", "", "blocked", "", "blocked" },       /* */
  { "re-planning", "check", "post-plan", "BLOCKED",        "(stop)", "", "blocked", "", "blocked" },
  { "executing",   "check", "mid-exec",  "CONTINUE",       "exec", "", "executing", "" },                  /* */
  { "executing",   "check", "mid-exec",  "NEEDS_FIX",      "exec", "mid-exec", "executing", "" },          /* */
  { "executing",   "check", "mid-exec",  "REPLAN",         "plan", "", "re-planning", "needs-plan" },      /* */
  { "executing",   "check", "mid-exec",  "BLOCKED",        "(stop)", "", "blocked", "", "blocked" },       /* */
  { "executing",   "check", "post-exec", "ACCEPT",         "merge", "", "executing", "" },                 /* */
  { "executing",   "check", "post-exec", "ACCEPT",         "approve", "review", "executing", "", "", REVIEW },
  { "executing",   "check", "post-exec", "ACCEPT",         "plan", "", "re-planning", "needs-plan", "", REFINED },
  { "executing",   "check", "post-exec", "NEEDS_FIX",      "exec", "post-exec", "executing", "" },         /* */
  { "executing",   "check", "post-exec", "REPLAN",         "plan", "", "re-planning", "needs-plan" },      /* */
  { "executing",   "check", "post-exec", "BLOCKED",        "(stop)", "", "blocked", "", "blocked" },       /* */
  { "executing",   "check", "post-exec", "error",          "(stop)", "", "executing", NULL, "blocked" },   /* B-46 */
  { "planning",    "check", "post-plan", "error",          "(stop)", "", "planning", NULL, "blocked" },
  { "executing",   "check", "post-exec", "GUARDED",        "approve", "post-exec", "executing" },
  { "planning",    "check", "post-plan", "GUARDED",        "approve", "post-plan", "planning" },
  /* before another step is begun */
  { "planning",    "check", "post-plan", "PASS",           "(stop)", "", "review", "", "timeout", SPENT("steps") },
  { "planning",    "check", "post-plan", "NEEDS_REVISION", "(stop)", "", "planning", NULL, "timeout", SPENT("steps") },
  { "planning",    "check", "post-plan", "REPLAN",         "(stop)", "", "planning", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "CONTINUE",       "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "NEEDS_FIX",      "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "mid-exec",  "REPLAN",         "(stop)", "", "re-planning", "needs-plan", "timeout", SPENT("steps") },
  { "executing",   "check", "post-exec", "NEEDS_FIX",      "(stop)", "", "executing", NULL, "timeout", SPENT("steps") },
  { "executing",   "check", "post-exec", "REPLAN",         "(stop)", "", "re-planning", "needs-plan", "timeout", SPENT("steps") },
  { "executing",   "check", "post-exec", "ACCEPT",         "merge", "", "executing", "", "", SPENT("steps") },
  /* */
  { "executing",   "exec", NULL, "(done)",     "verify", "post-exec", "executing", "" },
  { "review",      "exec", NULL, "(done)",     "verify", "post-exec", "executing", "" },
  { "executing",   "exec", NULL, "(mid-exec)", "verify", "mid-exec", "executing", "" },
  { "executing",   "exec", NULL, "(step-7)",   "verify", "mid-exec", "executing", "" },
  { "executing",   "exec", NULL, "(step-N)",   "verify", "mid-exec", "executing", "" },
  { "executing",   "exec", NULL, "(blocked)",  "(stop)", "", "blocked", "", "blocked" },
  /* */
  { "executing",   "merge", NULL, "success",     "report", "", "complete", "" },
  { "executing",   "merge", NULL, "conflict",    "(stop)", "", "executing", "", "blocked" },
  { "executing",   "merge", NULL, "collides",    "resolve", "conflict", "executing", "" },
  { "executing",   "merge", NULL, "collides",    "(stop)", "", "executing", "", "blocked", SPENT("conflict") },
  { "executing",   "merge", NULL, "gate-failed", "exec", "merged-verify", "executing", "" },
  { "executing",   "merge", NULL, "gate-failed", "(stop)", "", "executing", "", "blocked", SPENT("merged-verify") },
  { "executing",   "merge", NULL, "moved",       "merge", "", "executing", "" },
  { "executing",   "merge", NULL, "moved",       "(stop)", "", "executing", "", "blocked", SPENT("moved") },
  { "executing",   "merge", NULL, "error",       "merge", "", "executing", "" },
  { "executing",   "merge", NULL, "error",       "(stop)", "", "executing", "", "blocked", SPENT("retries") },
  { "executing",   "resolve", "conflict", "(done)",    "merge", "", "executing", "" },
  { "executing",   "resolve", "conflict", "(blocked)", "(stop)", "", "executing", "", "blocked" },
  /* people */
  { "planning",    "approve", "post-plan", "approved", "exec", "", "review", "" },
  { "executing",   "approve", "mid-exec",  "approved", "exec", "", "executing", "" },
  { "executing",   "approve", "post-exec", "approved", "merge", "", "executing", "" },
  { "executing",   "approve", "review",    "approved", "merge", "", "executing", "" },
  { "planning",    "approve", "post-plan", "redo",     "plan", "review", "planning", "" },
  { "re-planning", "approve", "post-plan", "redo",     "plan", "review", "re-planning", "needs-plan" },
  { "executing",   "approve", "review",    "redo",     "exec", "review", "executing", "" },
  { "executing",   "approve", "review",    "rejected", "(stop)", "", "executing", NULL, "failed" },
  { "planning",    "ask", "post-plan", "answered", "check", "post-plan", "=" },
  { "executing",   "ask", "mid-exec",  "answered", "check", "mid-exec", "=" },
  { "executing",   "ask", "post-exec", "answered", "check", "post-exec", "=" },
  { "executing",   "ask", "conflict",  "answered", "resolve", "conflict", "=" },
  { "planning",    "ask", "research",  "answered", "research", "answer", "=" },
  { "planning",    "ask", "annotate",  "answered", "annotate", "answer", "=" },
  { "planning",    "ask", "question",  "answered", "plan", "answer", "=" },
  { "review",      "ask", "question",  "answered", "exec", "answer", "=" },
  { "executing",   "ask", "question",  "answered", "exec", "answer", "=" },
  { "executing",   "ask", "question",  "rejected", "(stop)", "", "=", NULL, "failed" },
  /* */
  { "complete",    "report", NULL, "(generated)", "(stop)", "", "complete", "", "done" },
  { "blocked",     "report", NULL, "(generated)", "(stop)", "", "blocked", "", "blocked" },
  { "cancelled",   "report", NULL, "(generated)", "(stop)", "", "cancelled", "", "cancelled" },
  { "executing",   "report", NULL, "(generated)", "(stop)", "", "executing", NULL, "pending" },
  { "complete",    "report", NULL, "error",       "report", "", "complete" },
  { "complete",    "report", NULL, "error",       "(stop)", "", "complete", NULL, "done", SPENT("retries") },
  /* */
  { "draft",       "research", NULL, "(collected)",  "plan", "post-research", "=" },
  { "planning",    "research", NULL, "(sufficient)", "plan", "post-research", "=" },
  { "review",      "research", NULL, "(collected)",  "exec", "post-research", "=" },
  { "review",      "research", NULL, "(sufficient)", "exec", "post-research", "=" },
  { "executing",   "research", NULL, "(collected)",  "exec", "post-research", "=" },
  { "executing",   "research", NULL, "(sufficient)", "exec", "post-research", "=" },
  { "blocked",     "research", NULL, "(collected)",  "(stop)", "", "=", NULL, "blocked" },
  { "blocked",     "research", NULL, "(sufficient)", "(stop)", "", "=", NULL, "blocked" },
  { "planning",    "research", NULL, "(blocked)",    "(stop)", "", "blocked", "", "blocked" },
  /* */
  { "draft",       "annotate", NULL, "(processed)", "verify", "post-plan", "planning", "" },
  { "planning",    "annotate", NULL, "(processed)", "verify", "post-plan", "planning", "" },
  { "blocked",     "annotate", NULL, "(processed)", "verify", "post-plan", "planning", "" },
  { "review",      "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "executing",   "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "re-planning", "annotate", NULL, "(processed)", "verify", "post-plan", "re-planning", "needs-check" },
  { "planning",    "annotate", NULL, "(blocked)",   "(stop)", "", "blocked", "", "blocked" },
};

/* Ends of a turn that say nothing about the work; the same for every agent. */
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
/* clang-format on */

static void check_accidents_of(const char *phase)
{
    for (size_t i = 0; i < COUNT(accidents); i++) {
        RouteCase c = accidents[i];
        c.step = phase;
        c.next = strcmp(c.next, "?") ? c.next : phase;
        if (!strcmp(c.result, "invalid") && !strcmp(phase, "check"))
            continue; /* a gate says error instead */
        if (!strcmp(c.result, "failed") && !strcmp(phase, "check"))
            c.ends = "blocked"; /* B-46 */
        rig_check(flow, &c, 1);
    }
}

static void check_spent_retries(void)
{
    /* Limits that are given are honoured: back once, then stop. */
    static const char *const cases[][3] = {{"planning", "post-plan", "NEEDS_REVISION"},
                                           {"planning", "post-plan", "REPLAN"},
                                           {"executing", "mid-exec", "NEEDS_FIX"},
                                           {"executing", "post-exec", "NEEDS_FIX"},
                                           {"executing", "post-exec", "REPLAN"}};
    Workflow own = workflow_lifecycle;
    WorkflowLimit limits[16];
    memcpy(limits, own.limits, own.limit_count * sizeof *limits);
    own.limits = limits;
    for (size_t i = 0; i < COUNT(cases); i++) {
        limits[own.limit_count] = (WorkflowLimit){cases[i][1], 2, true, ""};
        Workflow with = own;
        with.limit_count++;
        RouteCase c = {.status = cases[i][0],
                       .step = "check",
                       .checkpoint = cases[i][1],
                       .result = cases[i][2],
                       .next = "(rollback)",
                       .to_checkpoint = "",
                       .to_status = "re-planning",
                       .to_substate = "needs-plan",
                       .spent = cases[i][1]};
        rig_check(&with, &c, 1);
        c.flags = 1U << FLAG_ROLLED_BACK;
        c.next = "(stop)";
        c.to_status = "=";
        c.to_substate = NULL;
        c.ends = "blocked";
        rig_check(&with, &c, 1);
    }
}

static void every_status_starts_where_the_catalogue_says(void **state)
{
    (void)state;
    RouteStep step;
    rig_check(flow, entries, COUNT(entries));
    RouteInput in = {.status = "re-planning", .substate = "needs-check"};
    assert_true(workflow_enter(flow, &in, &step));
    assert_string_equal(step.next, "verify");
    assert_string_equal(step.checkpoint, "post-plan");
    assert_string_equal(step.substate, "needs-check");
    in.substate = "needs-plan";
    assert_true(workflow_enter(flow, &in, &step));
    assert_string_equal(step.next, "plan");
}

static void play_every_route(void)
{
    static const char *const agents[] = {"plan",    "check",    "exec",
                                         "resolve", "research", "annotate"};
    rig_check(flow, routes, COUNT(routes));
    for (size_t i = 0; i < COUNT(agents); i++)
        check_accidents_of(agents[i]);
    check_spent_retries();
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

static void a_verdict_belongs_to_its_checkpoint(void **state)
{
    (void)state;
    /* with BLOCKED everywhere and REPLAN after a plan (B-64) */
    static const char *const verdicts[][4] = {
        {"PASS", "post-plan", NULL},
        {"NEEDS_REVISION", "post-plan", NULL},
        {"CONTINUE", "mid-exec", NULL},
        {"ACCEPT", "post-exec", NULL},
        {"NEEDS_FIX", "mid-exec", "post-exec", NULL},
    };
    static const char *const checkpoints[] = {"post-plan", "mid-exec", "post-exec"};
    const WorkflowPhase *check = workflow_phase(flow, "check");
    for (size_t v = 0; v < COUNT(verdicts); v++) {
        for (size_t c = 0; c < COUNT(checkpoints); c++) {
            bool want = text_equal(verdicts[v][1], checkpoints[c]) ||
                        text_equal(verdicts[v][2], checkpoints[c]);
            assert_int_equal(phase_result_at(flow, check, checkpoints[c], verdicts[v][0]), want);
        }
    }
    for (size_t c = 0; c < COUNT(checkpoints); c++) {
        assert_true(phase_result_at(flow, check, checkpoints[c], "BLOCKED"));
        assert_true(phase_result_at(flow, check, checkpoints[c], "REPLAN"));
    }
    assert_false(phase_has_result(check, "ROLLBACK"));
}

/* clang-format off */
static const MatrixRow matrix[] = {
  /* at           result           accepted  draft      planning   review       executing    re-planning complete   blocked    cancelled */
  { "plan",     NULL,        NULL,             false, "planning = re-planning re-planning = - planning -" },
  { "annotate", NULL,        NULL,             false, "planning = re-planning re-planning = - planning -" },
  { "check",    "post-plan", "PASS",           false, "- review - - review - - -" },
  { "check",    "post-plan", "NEEDS_REVISION", false, "- = - - = - - -" },
  { "check",    "post-plan", "REPLAN",         false, "- = - - = - - -" },
  { "check",    "post-plan", "BLOCKED",        false, "- blocked - - blocked - - -" },
  { "check",    "post-plan", "GUARDED",        false, "- = - - = - - -" },
  { "check",    "post-plan", "error",          false, "- = - - = - - -" },
  { "check",    "mid-exec",  "CONTINUE",       false, "- - - = - - - -" },
  { "check",    "mid-exec",  "NEEDS_FIX",      false, "- - - = - - - -" },
  { "check",    "mid-exec",  "REPLAN",         false, "- - - re-planning - - - -" },
  { "check",    "mid-exec",  "BLOCKED",        false, "- - - blocked - - - -" },
  { "check",    "mid-exec",  "GUARDED",        false, "- - - = - - - -" },
  { "check",    "mid-exec",  "error",          false, "- - - = - - - -" },
  { "check",    "post-exec", "ACCEPT",         false, "- - - = - - - -" },
  { "check",    "post-exec", "NEEDS_FIX",      false, "- - - = - - - -" },
  { "check",    "post-exec", "REPLAN",         false, "- - - re-planning - - - -" },
  { "check",    "post-exec", "BLOCKED",        false, "- - - blocked - - - -" },
  { "check",    "post-exec", "GUARDED",        false, "- - - = - - - -" },
  { "check",    "post-exec", "error",          false, "- - - = - - - -" },
  { "check",    "",          "",               false, "- = - = = - - -" },
  { "exec",     NULL,        NULL,             false, "- - executing = - - - -" },
  { "exec",     NULL,        "(blocked)",      false, "- - executing blocked - - - -" },
  { "merge",    NULL,        NULL,             true,  "- - - complete - - - -" },
  { "merge",    NULL,        "conflict",       true,  "- - - = - - - -" },
  { "merge",    NULL,        NULL,             false, "- - - - - - - -" },
  { "report",   NULL,        NULL,             false, "= = = = = = = =" },
  { "cancel",   NULL,        NULL,             false, "cancelled cancelled cancelled cancelled cancelled - cancelled -" },
  { "target",   NULL,        NULL,             false, "= = re-planning = = planning planning -" },
  { "verify",   NULL,        NULL,             false, "= = = = = - = -" },
  { "research", NULL,        NULL,             false, "= = = = = - = -" },
  { "retry",    NULL,        NULL,             false, "- - - - - - planning -" },
};
/* clang-format on */

static void every_command_on_every_status_has_its_cell(void **state)
{
    (void)state;
    rig_matrix(flow, STATUSES, matrix, COUNT(matrix));
}

static void the_sub_state_has_its_writers(void **state)
{
    (void)state; /* */
    assert_string_equal(rig_substate(flow, "review", "plan", NULL, NULL), "needs-check");
    assert_string_equal(rig_substate(flow, "executing", "annotate", NULL, NULL), "needs-check");
    assert_string_equal(rig_substate(flow, "re-planning", "plan", NULL, NULL), "needs-check");
    assert_string_equal(rig_substate(flow, "draft", "plan", NULL, NULL), "");
    assert_string_equal(rig_substate(flow, "executing", "check", "mid-exec", "REPLAN"),
                        "needs-plan");
    assert_string_equal(rig_substate(flow, "executing", "check", "post-exec", "REPLAN"),
                        "needs-plan");
    assert_string_equal(rig_substate(flow, "re-planning", "check", "post-plan", "NEEDS_REVISION"),
                        "needs-plan");
    assert_string_equal(rig_substate(flow, "re-planning", "check", "post-plan", "PASS"), "");
    assert_string_equal(rig_substate(flow, "planning", "check", "post-plan", "NEEDS_REVISION"), "");
    assert_string_equal(rig_substate(flow, "blocked", "plan", NULL, NULL), "");
    assert_string_equal(rig_substate(flow, "re-planning", "cancel", NULL, NULL), "");
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
                             .result = row->result};
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

static void the_invariants_of_the_matrix_hold(void **state)
{
    (void)state; /* a refinement may leave complete */
    static const char *const may[][6] = {
        {"draft", "planning", "cancelled"},
        {"planning", "review", "blocked", "cancelled"},
        {"review", "executing", "re-planning", "cancelled"},
        {"executing", "complete", "re-planning", "blocked", "cancelled"},
        {"re-planning", "review", "blocked", "cancelled"},
        {"complete", "planning"},
        {"blocked", "planning", "cancelled"},
        {"cancelled"},
    };
    for (unsigned i = 0; i < flow->transition_count; i++) {
        const WorkflowCommand *row = &flow->transitions[i];
        for (size_t s = 0; s < COUNT(may); s++) {
            RouteInput in = {.status = may[s][0],
                             .checkpoint = strcmp(row->checkpoint, "*") ? row->checkpoint : "",
                             .result = strcmp(row->result, "*") ? row->result : "",
                             .flags = 1U << FLAG_ACCEPTED};
            RouteStep step;
            assert_true(workflow_transition(flow, &in, row->command, &step));
            bool is_fine = !strcmp(step.status, may[s][0]);
            for (size_t k = 1; k < COUNT(may[s]) && may[s][k]; k++)
                is_fine |= !strcmp(step.status, may[s][k]);
            if (!is_fine)
                fail_msg("%s: %s leads to %s", may[s][0], row->command, step.status);
        }
    }
}

static void every_row_is_reached(void **state)
{
    (void)state;
    rig_forget();
    rig_check(flow, entries, COUNT(entries));
    rig_reach_entry(flow, "re-planning", "needs-check");
    play_every_route();
    rig_matrix(flow, STATUSES, matrix, COUNT(matrix));
    rig_every_row_was_hit(flow, true);
}

static void commands_say_what_the_next_run_begins_with(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"blocked", "retry", "plan"},      {"complete", "target", "plan"},
        {"review", "exec", "exec"},        {"executing", "plan", "plan"},
        {"draft", "research", "research"}, {"executing", "report", "report"},
        {"executing", "verify", "verify"}, {"planning", "check", "verify"},
        {"executing", "target", ""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        RouteInput in = {.status = cases[i][0], .flags = 1U << FLAG_ACCEPTED};
        RouteStep step;
        assert_true(workflow_transition(flow, &in, cases[i][1], &step));
        assert_true(step.is_allowed);
        assert_string_equal(step.next, cases[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_states_are_those_of_the_catalogue),
        cmocka_unit_test(every_status_starts_where_the_catalogue_says),
        cmocka_unit_test(every_result_leads_where_the_catalogue_says),
        cmocka_unit_test(no_result_is_without_a_way),
        cmocka_unit_test(a_verdict_belongs_to_its_checkpoint),
        cmocka_unit_test(every_command_on_every_status_has_its_cell),
        cmocka_unit_test(the_sub_state_has_its_writers),
        cmocka_unit_test(a_verdict_means_the_same_as_route_and_as_command),
        cmocka_unit_test(the_invariants_of_the_matrix_hold),
        cmocka_unit_test(every_row_is_reached),
        cmocka_unit_test(commands_say_what_the_next_run_begins_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
