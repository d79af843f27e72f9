#include "tests/test.h"

#include "base/json.h"
#include "core/decide.h"
#include "core/green.h"
#include "core/judge.h"
#include "core/refine.h"
#include "core/review.h"
#include <stdlib.h>
#include <string.h>

#define NAMES(...)                                                                                 \
    (JudgeNames)                                                                                   \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) \
    }

static Scores all(double score)
{
    return (Scores){{score, score, score, score, score, score}};
}

static JudgeInput good(const char *checkpoint)
{
    JudgeInput input = JUDGE_INPUT_INIT;
    input.checkpoint = checkpoint;
    input.scores = all(0.9);
    input.verify = OUTCOME_PASS;
    return input;
}

static bool seen[64]; /* rows of the table that some test has reached */

static void expect(const JudgeInput *input, const char *row, const char *result, const char *part)
{
    Judgement out;
    size_t count, i = 0;
    const JudgeRow *rows = judge_rows(&count);
    judge_check(input, &out);
    if (strcmp(out.row, row) != 0 || strcmp(out.result, result) != 0 || !strstr(out.why, part))
        fail_msg("%s: wanted %s %s, got %s %s: %s", input->checkpoint, row, result, out.row,
                 out.result, out.why);
    while (strcmp(rows[i].id, out.row) != 0)
        i++;
    seen[i] = true;
    assert_non_null(strstr(judge_checkpoint(input->checkpoint)->verdicts, result));
}

static void every_checkpoint_passes_good_work(void **state)
{
    (void)state;
    JudgeInput input = good("post-plan");
    expect(&input, "passed", "PASS", "overall 0.90 reaches 0.70");
    input = good("mid-exec");
    expect(&input, "passed", "CONTINUE", "0.60");
    input = good("post-exec");
    expect(&input, "passed", "ACCEPT", "0.75");
}

static void opinions_count_only_where_they_may(void **state)
{
    (void)state;
    JudgeInput input = good("post-exec");
    input.verdict = "BLOCKED";
    expect(&input, "blocked", "BLOCKED", "cannot go on");
    input.verdict = "NEEDS_FIX"; /* A-117: in doubt another round */
    expect(&input, "doubt", "NEEDS_FIX", "it says NEEDS_FIX, although overall");
    input.verdict = "REPLAN";
    expect(&input, "doubt", "NEEDS_FIX", "it says REPLAN");
    input.scores = all(0.6);
    expect(&input, "replan", "REPLAN", "overall 0.60 is below 0.75");
    input.verify = OUTCOME_FAIL;
    expect(&input, "replan", "REPLAN", "");
    input.verdict = "ACCEPT";
    input.verify = OUTCOME_PASS;
    expect(&input, "score", "NEEDS_FIX", "overall 0.60 is below 0.75");
    input = good("post-plan");
    input.verdict = "REPLAN";
    input.scores = all(0.6);
    expect(&input, "score", "NEEDS_REVISION", "is below 0.70");
    input = good("mid-exec");
    input.verdict = "REPLAN";
    input.scores = all(0.59);
    expect(&input, "replan", "REPLAN", "");
}

static void a_plan_must_be_safe_and_cover_everything(void **state)
{
    (void)state;
    JudgeInput input = good("post-plan");
    input.verify = OUTCOME_FAIL; /* the baseline of the project may be red */
    input.missing = NAMES("R2", "R5");
    expect(&input, "uncovered", "NEEDS_REVISION", "R2, R5");
    input.unsafe = NAMES("step 1: rm -rf /");
    expect(&input, "unsafe-plan", "NEEDS_REVISION", "rm -rf /");
    input.unmet = NAMES("task 3 (pending)");
    expect(&input, "dependencies", "BLOCKED", "task 3");
    input = good("post-plan");
    input.verify = OUTCOME_FAIL;
    expect(&input, "passed", "PASS", "");
}

static void evidence_comes_before_scores(void **state)
{
    (void)state;
    static const char *const exec[] = {"mid-exec", "post-exec"};
    for (unsigned i = 0; i < 2; i++) {
        JudgeInput input = good(exec[i]);
        input.verify = OUTCOME_FAIL;
        input.verify_why = "npm test: exit 1";
        expect(&input, "verify-failed", "NEEDS_FIX", "npm test: exit 1");
        input.broken = NAMES("starts");
        expect(&input, "broken", "NEEDS_FIX", "starts");
        input.regressed = NAMES("a", "b", "c", "d", "e", "f", "g");
        expect(&input, "regressed", "NEEDS_FIX", "e and 2 more");
    }
    JudgeInput input = good("post-exec");
    input.verify = OUTCOME_NONE;
    expect(&input, "unverified", "NEEDS_FIX", "before its checks were run");
    input.verify = OUTCOME_PARTIAL;
    expect(&input, "passed", "ACCEPT", "");
    input = good("mid-exec");
    input.verify = OUTCOME_NONE;
    expect(&input, "passed", "CONTINUE", "");
}

static void floors_block_whatever_the_mean(void **state)
{
    (void)state;
    JudgeInput input = good("post-exec");
    Judgement out;
    input.scores = (Scores){{0.49, 0.1, 0.2, 1, 1, 1}};
    input.threshold = 0;
    expect(&input, "floor", "NEEDS_FIX", "d2 (security) is 0.10, below 0.50, d1");
    judge_check(&input, &out);
    assert_int_equal(out.floor_count, 3);
    assert_int_equal(out.floors[0], 1); /* the order of B-56: d2, d1, d3 */
    assert_int_equal(out.floors[1], 0);
    assert_int_equal(out.floors[2], 2);
    assert_false(out.is_score_good);
    input.scores = (Scores){{0.5, 0.5, 0.5, 0, 0, 0}};
    expect(&input, "passed", "ACCEPT", "overall 0.25");
    assert_int_equal(out.retries, 3);
}

static void numbers_are_compared_with_a_tolerance(void **state)
{
    (void)state;
    JudgeInput input = good("post-plan");
    input.scores = (Scores){{0.7, 0.7, 0.7, 0.7, 0.7, 0.7}};
    expect(&input, "passed", "PASS", "");
    input.scores.d[5] = 0.699;
    expect(&input, "score", "NEEDS_REVISION", "");
    Scores weights = {{1, 1, 1, 1, 1, 0}};
    input.weights = &weights;
    expect(&input, "passed", "PASS", "");
    assert_true(judge_overall(&(Scores){{1, 0, 0, 0, 0, 0}}, &(Scores){{3, 1, 0, 0, 0, 0}}) ==
                0.75);
    assert_true(judge_overall(&(Scores){{1, 1, 1, 0, 0, 0}}, &(Scores){{0}}) == 0.5);
}

static void doubt_is_not_accepted(void **state)
{
    (void)state;
    JudgeInput input = good("post-plan");
    input.high = NAMES("src/a.c:4 loses data");
    expect(&input, "high-finding", "NEEDS_REVISION", "src/a.c:4");
    input = good("post-exec");
    input.high = NAMES("src/a.c:4 loses data");
    expect(&input, "high-finding", "NEEDS_FIX", "src/a.c:4");
    input = good("post-exec");
    input.discipline = 49;
    expect(&input, "discipline", "NEEDS_FIX", "49 %");
    input.discipline = 50;
    expect(&input, "passed", "ACCEPT", "test-first in 50 %");
    input.early = NAMES("true");
    expect(&input, "passed", "ACCEPT", "green before the work, so they prove nothing: true");
    input.refused = NAMES("readable");
    expect(&input, "inspected", "NEEDS_FIX", "rejected checks of the plan: readable");
}

static void the_direction_is_judged_after_the_quality(void **state)
{
    (void)state;
    JudgeInput input = good("post-exec");
    input.stage = 2;
    input.convergence = (ConvergenceInput){true, 0.5, 0.6, POLICY_ALLOW_EQUAL};
    expect(&input, "direction", "ROLLBACK", "0.5000 after 0.6000");
    input.convergence.policy = POLICY_ASK;
    expect(&input, "direction", "ROLLBACK", "");
    input.stage = 1;
    expect(&input, "first-stage", "NEEDS_FIX", "nothing to roll back to");
    input.stage = 2;
    input.convergence.value = 0.6;
    expect(&input, "direction-ask", "GUARDED", "a person decides");
    input.convergence.policy = POLICY_STRICT;
    expect(&input, "direction", "ROLLBACK", "strict");
    input.convergence.policy = POLICY_ALLOW_EQUAL;
    expect(&input, "passed", "ACCEPT", "convergence 0.6000 after 0.6000");
    input.convergence = (ConvergenceInput){false, 0, 0.6, POLICY_STRICT};
    expect(&input, "passed", "ACCEPT", "");
}

static void a_guard_needs_a_person_at_the_end(void **state)
{
    (void)state;
    JudgeInput input = good("post-exec");
    input.guards = NAMES("protected: .github/ci.yml was changed");
    expect(&input, "guarded", "GUARDED", ".github/ci.yml");
    input.scores = all(0.5);
    expect(&input, "score", "NEEDS_FIX", "");
    input = good("mid-exec");
    input.guards = NAMES("protected: x");
    expect(&input, "passed", "CONTINUE", "1 guards fired");
}

static void every_row_was_reached_and_says_why(void **state)
{
    (void)state;
    size_t count;
    const JudgeRow *rows = judge_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (!seen[i] || !*rows[i].why)
            fail_msg("row '%s' was never reached", rows[i].id);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rows[i].id, rows[j].id);
    }
}

static void a_hostile_name_stays_short_and_valid(void **state)
{
    (void)state;
    char name[5000];
    Judgement out;
    memset(name, 0xE2, sizeof name - 1);
    name[sizeof name - 1] = '\0';
    JudgeInput input = good("post-exec");
    input.guards = NAMES(name, name, name, name, name);
    judge_check(&input, &out);
    json_t *text = json_string(out.why);
    assert_non_null(text); /* valid UTF-8 */
    json_decref(text);
}

static void convergence_follows_its_policy(void **state)
{
    (void)state;
    Requirement all_of[] = {{"R1", 3, 1, -1, NULL}, {"R2", 1, 0.5, 0.5, NULL}};
    assert_true(convergence_value(all_of, 2) == 0.875);
    assert_true(convergence_value(NULL, 0) == 0);
    static const struct {
        ConvergenceInput input;
        const char *row, *verdict;
        bool is_satisfied;
    } cases[] = {
        {{false, 0, 0.5, POLICY_STRICT}, "no-requirements", "accept", false},
        {{true, 0.6, 0.5, POLICY_STRICT}, "higher", "accept", false},
        {{true, 0.1 + 0.2, 0.3, POLICY_STRICT}, "equal-strict", "rollback", false},
        {{true, 0.3, 0.1 + 0.2, POLICY_ALLOW_EQUAL}, "equal-allowed", "accept", false},
        {{true, 0.3, 0.3, POLICY_ASK}, "equal-ask", "ask", false},
        {{true, 0.2, 0.3, POLICY_ALLOW_EQUAL}, "lower", "rollback", false},
        {{true, 0.95, 0.9, POLICY_STRICT}, "higher", "accept", true},
        {{true, 0.95, 0.97, POLICY_STRICT}, "lower", "rollback", true},
        {{true, 0.9499, 0, POLICY_STRICT}, "higher", "accept", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ConvergenceRow *row = convergence_judge(&cases[i].input);
        assert_string_equal(row->id, cases[i].row);
        assert_string_equal(convergence_verdict_word(row->verdict), cases[i].verdict);
        assert_int_equal(convergence_is_satisfied(&cases[i].input), cases[i].is_satisfied);
    }
}

static void a_jump_of_coverage_needs_a_reason(void **state)
{
    (void)state;
    Requirement one = {"R1", 1, 0.75, 0.5, NULL};
    assert_false(requirement_is_unexplained(&one));
    one.coverage = 0.76;
    assert_true(requirement_is_unexplained(&one));
    one.reason = "its test was added";
    assert_false(requirement_is_unexplained(&one));
    one = (Requirement){"R1", 1, 0.2, 0.5, ""};
    assert_true(requirement_is_unexplained(&one));
    one.previous = -1;
    assert_false(requirement_is_unexplained(&one));
    assert_string_equal(coverage_step(0.8)->word, "mostly");
    assert_string_equal(coverage_step(0)->word, "nothing");
    assert_string_equal(coverage_step(1)->word, "done");
    uint32_t number;
    assert_true(requirement_id_read("R12", &number) && number == 12);
    assert_false(requirement_id_read("R0", &number) || requirement_id_read("R", &number) ||
                 requirement_id_read("R1x", &number) || requirement_id_read("R1234567", &number));
}

static void audit_rounds_follow_the_formula(void **state)
{
    (void)state;
    assert_int_equal(audit_rounds(0, 0, 0, NULL), 2);
    assert_int_equal(audit_rounds(1, 1, 1, NULL), 3);
    assert_int_equal(audit_rounds(6, 201, 4, NULL), 6);
    assert_int_equal(audit_rounds(6, 201, 4, "software"), 7);
    assert_int_equal(audit_rounds(6, 201, 4, "software|data-pipeline"), 8);
    assert_int_equal(audit_rounds(6, 201, 4, "writing|poetry"), 7);
    assert_int_equal(audit_rounds(INT64_MAX, INT64_MAX, INT64_MAX, "software|x"), 10);
    AuditProgress progress = {.done = 1, .rounds = 4, .quiet = 1, .files = 4};
    assert_null(audit_is_over(&progress));
    progress.is_first_clean = true;
    assert_null(audit_is_over(&progress));
    progress.files = 3;
    assert_non_null(audit_is_over(&progress));
    progress = (AuditProgress){.done = 3, .rounds = 4, .quiet = 2, .files = 9};
    assert_non_null(audit_is_over(&progress));
    progress = (AuditProgress){.done = 4, .rounds = 4, .files = 9};
    assert_non_null(audit_is_over(&progress));
}

/* ---- green ---- */

static void colours_follow_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(green_colour(0, false), COLOUR_GREEN);
    assert_int_equal(green_colour(1, false), COLOUR_RED);
    assert_int_equal(green_colour(2, false), COLOUR_BROKEN);
    assert_int_equal(green_colour(127, false), COLOUR_BROKEN);
    assert_int_equal(green_colour(-1, false), COLOUR_BROKEN);
    assert_int_equal(green_colour(0, true), COLOUR_BROKEN);
    assert_true(green_runs_again(COLOUR_BROKEN, 1));
    assert_false(green_runs_again(COLOUR_BROKEN, 2));
    assert_false(green_runs_again(COLOUR_RED, 1));
}

static void every_move_of_a_check_has_a_row(void **state)
{
    (void)state;
    size_t count;
    const GreenRow *rows = green_rows(&count);
    for (size_t i = 0; i < count; i++) { /* each row is reached by its own key */
        CheckState from = rows[i].from == CHECK_STATE_COUNT ? CHECK_NEW : rows[i].from;
        assert_string_equal(green_step(rows[i].when, from, rows[i].colour)->id, rows[i].id);
    }
    for (unsigned from = 0; from < CHECK_STATE_COUNT; from++) {
        for (unsigned colour = COLOUR_GREEN; colour <= COLOUR_BROKEN; colour++) {
            const GreenRow *row = green_step(GREEN_WORK, (CheckState)from, (Colour)colour);
            bool was_green = check_state_is_green((CheckState)from);
            assert_int_equal(check_state_is_green(row->to), colour == COLOUR_GREEN);
            assert_true(!was_green || colour == COLOUR_GREEN || row->is_regression);
        }
    }
    assert_int_equal(green_step(GREEN_BASELINE, CHECK_NEW, COLOUR_GREEN)->to, CHECK_EARLY);
    assert_true(green_step(GREEN_WORK, CHECK_RED, COLOUR_GREEN)->is_cycle);
    assert_false(green_step(GREEN_WORK, CHECK_REGRESSED, COLOUR_GREEN)->is_cycle);
}

static void cycles_and_discipline_are_counted(void **state)
{
    (void)state;
    GreenCheck checks[] = {{1, "executable", CHECK_GREEN},    {1, NULL, CHECK_GREEN},
                           {2, "executable", CHECK_EARLY},    {3, "executable", CHECK_RED},
                           {4, "human", CHECK_WAITS},         {5, "executable", CHECK_REGRESSED},
                           {5, "inspectable", CHECK_APPROVED}};
    GreenTotals totals = green_totals(checks, 7);
    assert_int_equal(totals.total, 7);
    assert_int_equal(totals.green, 3);
    assert_int_equal(totals.early, 1);
    assert_int_equal(totals.regressed, 1);
    assert_int_equal(totals.waiting, 1);
    assert_int_equal(green_discipline(checks, 7, 0), 33);
    assert_int_equal(green_discipline(checks + 2, 1, 0), -1); /* early: no work can mend it */
    assert_int_equal(green_discipline(checks, 7, 1), 100);
    assert_int_equal(green_discipline(checks + 4, 1, 0), -1);
    GreenCheck read[] = {{1, "executable", CHECK_GREEN}, {1, "inspectable", CHECK_NEW}};
    assert_int_equal(green_discipline(read + 1, 1, 0), -1); /* nothing of it could be red */
    assert_int_equal(green_discipline(read, 2, 0), 100);
    read[1].state = CHECK_RED; /* the reviewer rejected it */
    assert_int_equal(green_discipline(read, 2, 0), 0);
    Colour colour;
    assert_true(green_inspected("approve", &colour) && colour == COLOUR_GREEN);
    assert_true(green_inspected("reject", &colour) && colour == COLOUR_RED);
    assert_false(green_inspected("", &colour) || green_inspected(NULL, &colour));
    assert_string_equal(green_baseline(checks, 7).word, "early");
    assert_string_equal(green_baseline(checks + 3, 1).word, "ok");
    assert_string_equal(green_baseline(checks + 4, 1).word, "generation_failed");
}

static void a_check_in_between_is_due_once(void **state)
{
    (void)state;
    GreenTrend trend = {.quiet_steps = 2, .green_before = 3, .green_now = 3};
    assert_null(green_wants_check(&trend));
    trend.quiet_steps = 3;
    assert_non_null(green_wants_check(&trend));
    trend.was_triggered = true;
    assert_null(green_wants_check(&trend));
    trend = (GreenTrend){.green_before = 3, .green_now = 2};
    assert_non_null(green_wants_check(&trend));
}

static void a_human_check_waits_or_falls_back(void **state)
{
    (void)state;
    assert_int_equal(green_human("approve", true)->to, CHECK_APPROVED);
    assert_int_equal(green_human("reject", false)->to, CHECK_RED);
    assert_true(green_human(NULL, false)->is_pending);
    assert_true(green_human(NULL, true)->is_inspectable);
}

/* ---- review, refine ---- */

static void expect_need(const ReviewInput *input, const char *row, const char *need,
                        const char *part)
{
    ReviewAnswer answer = review_decide(input);
    if (strcmp(answer.row, row) != 0 || strcmp(review_need_word(answer.need), need) != 0 ||
        !strstr(answer.why, part))
        fail_msg("wanted %s %s: %s %s: %s", row, need, answer.row, review_need_word(answer.need),
                 answer.why);
}

static void labels_and_guards_call_a_person(void **state)
{
    (void)state;
    static const ReviewLabel rules[] = {
        {"docs", REVIEW_RULE_SKIP},    {"small", REVIEW_RULE_AUTO_APPROVE},
        {"weekly", REVIEW_RULE_BATCH}, {"ui", REVIEW_RULE_PER_TASK},
        {"api", REVIEW_RULE_PER_TASK}, {"money", REVIEW_RULE_NO_AUTO}};
    static const char *labels[] = {"docs", "small", "weekly", "ui", "api", "money"};
    ReviewInput input = {.mode = REVIEW_MODE_AUTO,
                         .rules = rules,
                         .rule_count = 6,
                         .iterations = 3,
                         .is_verified = true};
    expect_need(&input, "mode-auto", "none", "auto");
    input.iterations = 40;
    expect_need(&input, "mode-auto", "none", "auto");
    input.mode = REVIEW_MODE_BATCH;
    expect_need(&input, "mode-batch", "batch", "");
    input.mode = REVIEW_MODE_PER_TASK;
    expect_need(&input, "mode-per-task", "wait", "");
    input.mode = REVIEW_MODE_SKIP;
    expect_need(&input, "mode-skip", "none", "");
    input.labels = (TextList){labels, 1};
    input.mode = REVIEW_MODE_PER_TASK;
    expect_need(&input, "label-skip", "none", "docs");
    input.labels.count = 2;
    expect_need(&input, "label-doubt", "wait", "more than 3 turns");
    input.iterations = 3;
    expect_need(&input, "label-approve", "none", "small");
    input.is_verified = false;
    expect_need(&input, "label-doubt", "wait", "did not prove");
    input.is_verified = input.was_stopped = true;
    expect_need(&input, "label-doubt", "wait", "question");
    input.labels.count = 3;
    expect_need(&input, "label-batch", "batch", "weekly");
    input.labels.count = 5;
    expect_need(&input, "label-wait", "wait", "'api'"); /* the tie goes by the alphabet */
    input.labels.count = 6;
    expect_need(&input, "label-wait", "wait", "money");
    input.labels.count = 1;
    input.guards = 1;
    input.mode = REVIEW_MODE_SKIP;
    expect_need(&input, "guard", "wait", "guard");
}

static void an_impact_says_what_follows(void **state)
{
    (void)state;
    static const char *const want[] = {"append-steps", "mark", "mid-exec-check", "replan"};
    for (uint32_t weight = 0; weight <= 3; weight++)
        assert_string_equal(refine_row(refine_impact(&weight, 1, false))->follows, want[weight]);
    uint32_t weights[] = {1, 3, 2}, huge = 99;
    assert_int_equal(refine_impact(weights, 3, false), IMPACT_MAJOR);
    assert_int_equal(refine_impact(&huge, 1, false), IMPACT_MAJOR);
    assert_int_equal(refine_impact(NULL, 0, false), IMPACT_NONE);
    assert_int_equal(refine_impact(NULL, 0, true), IMPACT_MAJOR);
    Impact impact;
    assert_true(refine_find("moderate", &impact) && impact == IMPACT_MODERATE);
    assert_false(refine_find("huge", &impact));
}

/* ---- otto decide ---- */

static void decide(const char *name, const char *text, int want_exit, const char *part)
{
    int exit_code;
    char *answer = decide_run(name, text, strlen(text), &exit_code);
    if (exit_code != want_exit || !strstr(answer, part))
        fail_msg("%s: '%s' lacks '%s'", name, answer, part);
    free(answer);
}

#define SCORES(d2)                                                                                 \
    "\"scores\":{\"d1\":0.8,\"d2\":" d2 ",\"d3\":0.8,\"d4\":0.8,\"d5\":0.8,\"d6\":0.8}"

static void decide_answers_like_the_engine(void **state)
{
    (void)state;
    decide("score", "{\"checkpoint\":\"post-exec\"," SCORES("0.8") "}", 0,
           "{\"overall\":0.8,\"threshold\":0.75,\"floor_broken\":[],\"pass\":true,"
           "\"verdict\":\"ACCEPT\",\"retries_left\":3,\"row\":\"passed\"");
    decide("score", "{\"checkpoint\":\"mid-exec\",\"retries\":9," SCORES("0.4") "}", 0,
           "\"floor_broken\":[\"d2\"],\"pass\":false,\"verdict\":\"NEEDS_FIX\",\"retries_left\":0");
    decide("score",
           "{\"checkpoint\":\"post-plan\"," SCORES(
               "0.8") ",\"profile\":{\"thresholds\":{\"post-plan\":0.81},\"retries\":{\"post-"
                      "plan\":5}}}",
           0, "\"pass\":false,\"verdict\":\"NEEDS_REVISION\",\"retries_left\":5,\"row\":\"score\"");
    decide("score", "{\"checkpoint\":\"pre-merge\"," SCORES("0.8") "}", 1, "post-plan");
    decide("score", "{\"checkpoint\":\"mid-exec\"," SCORES("1.1") "}", 1, "scores.d2");
    decide("score", "{\"checkpoint\":\"mid-exec\",\"scores\":{}}", 1, "missing");
    decide("score",
           "{\"checkpoint\":\"mid-exec\"," SCORES(
               "1") ",\"weights\":{\"d1\":0,\"d2\":0,\"d3\":0,\"d4\":0,\"d5\":0,\"d6\":0}}",
           1, "above 0");
    decide("convergence",
           "{\"requirements\":[{\"id\":1,\"weight\":\"critical\",\"coverage\":1},"
           "{\"id\":2,\"weight\":2,\"coverage\":0.9}]}",
           0, "{\"value\":0.96,\"verdict\":\"accept\",\"satisfied\":true");
    decide("convergence", "{\"requirements\":[]}", 0, "\"row\":\"no-requirements\"");
    decide("convergence",
           "{\"requirements\":[{\"id\":\"R1\",\"weight\":1,\"coverage\":0.5}],\"previous\":0.5,"
           "\"policy\":\"ask\"}",
           0, "\"verdict\":\"ask\",\"satisfied\":false");
    decide("convergence", "{\"requirements\":[{\"id\":1,\"weight\":0,\"coverage\":1}]}", 1,
           "requirements[0].weight");
    decide("convergence", "{\"requirements\":[{\"id\":1,\"weight\":1,\"coverage\":2}]}", 1,
           "requirements[0].coverage");
    decide("audit-rounds", "{\"files\":7,\"lines\":350,\"dirs\":3,\"type\":\"software\"}", 0,
           "{\"rounds\":6");
    decide("audit-rounds", "{\"files\":0,\"lines\":0,\"dirs\":0}", 0, "{\"rounds\":2");
    decide("audit-rounds", "{\"files\":1,\"lines\":1,\"dirs\":1,\"type\":\"a b\"}", 1, "type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_checkpoint_passes_good_work),
        cmocka_unit_test(opinions_count_only_where_they_may),
        cmocka_unit_test(a_plan_must_be_safe_and_cover_everything),
        cmocka_unit_test(evidence_comes_before_scores),
        cmocka_unit_test(floors_block_whatever_the_mean),
        cmocka_unit_test(numbers_are_compared_with_a_tolerance),
        cmocka_unit_test(doubt_is_not_accepted),
        cmocka_unit_test(the_direction_is_judged_after_the_quality),
        cmocka_unit_test(a_guard_needs_a_person_at_the_end),
        cmocka_unit_test(every_row_was_reached_and_says_why),
        cmocka_unit_test(a_hostile_name_stays_short_and_valid),
        cmocka_unit_test(convergence_follows_its_policy),
        cmocka_unit_test(a_jump_of_coverage_needs_a_reason),
        cmocka_unit_test(audit_rounds_follow_the_formula),
        cmocka_unit_test(colours_follow_exit_codes),
        cmocka_unit_test(every_move_of_a_check_has_a_row),
        cmocka_unit_test(cycles_and_discipline_are_counted),
        cmocka_unit_test(a_check_in_between_is_due_once),
        cmocka_unit_test(a_human_check_waits_or_falls_back),
        cmocka_unit_test(labels_and_guards_call_a_person),
        cmocka_unit_test(an_impact_says_what_follows),
        cmocka_unit_test(decide_answers_like_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
