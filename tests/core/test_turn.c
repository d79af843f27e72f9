#include "tests/test.h"

#include "core/completion.h"
#include "core/exit.h"
#include "core/retry.h"
#include "core/verification.h"
#include <string.h>

/* --- completion --- */

static const CompletionRow *complete(SignalType signal, GateResult gate, DriveMode mode,
                                     int64_t turns, int64_t elapsed)
{
    CompletionInput in = {signal, gate, mode, turns, 50, elapsed, 1000};
    return completion_decide(&in);
}

static void every_completion_row_decides_its_case(void **state)
{
    (void)state;
    static const struct {
        SignalType signal;
        GateResult gate;
        DriveMode mode;
        int64_t turns, elapsed;
        const char *row;
        TaskState task;
    } cases[] = {
        {SIGNAL_COMPLETE, GATE_PASS, MODE_AUTOPILOT, 1, 0, "complete-verified", TASK_DONE},
        {SIGNAL_COMPLETE, GATE_PASS, MODE_SEMI_AUTO, 1, 0, "complete-verified-semi-auto",
         TASK_DONE},
        {SIGNAL_COMPLETE, GATE_NONE, MODE_AUTOPILOT, 1, 0, "complete-unchecked", TASK_DONE},
        {SIGNAL_COMPLETE, GATE_NONE, MODE_SEMI_AUTO, 1, 0, "complete-unchecked-semi-auto",
         TASK_DONE},
        {SIGNAL_BLOCKED, GATE_PASS, MODE_AUTOPILOT, 1, 0, "blocked", TASK_BLOCKED},
        {SIGNAL_BLOCKED, GATE_FAIL, MODE_SEMI_AUTO, 1, 0, "blocked-semi-auto", TASK_BLOCKED},
        {SIGNAL_NONE, GATE_PASS, MODE_AUTOPILOT, 50, 0, "max-iterations", TASK_TIMEOUT},
        {SIGNAL_NONE, GATE_PASS, MODE_SEMI_AUTO, 51, 0, "max-iterations-semi-auto", TASK_TIMEOUT},
        {SIGNAL_NONE, GATE_NONE, MODE_AUTOPILOT, 1, 1000, "wall-clock", TASK_TIMEOUT},
        {SIGNAL_NONE, GATE_NONE, MODE_SEMI_AUTO, 1, 2000, "wall-clock-semi-auto", TASK_TIMEOUT},
        {SIGNAL_PENDING, GATE_NONE, MODE_AUTOPILOT, 1, 0, "pending", TASK_ACTIVE},
        {SIGNAL_PENDING, GATE_FAIL, MODE_SEMI_AUTO, 1, 0, "pending", TASK_ACTIVE},
        {SIGNAL_COMPLETE, GATE_FAIL, MODE_AUTOPILOT, 1, 0, "complete-failed", TASK_ACTIVE},
        {SIGNAL_NONE, GATE_PASS, MODE_AUTOPILOT, 49, 999, "no-signal-pass", TASK_ACTIVE},
        {SIGNAL_NONE, GATE_FAIL, MODE_AUTOPILOT, 1, 0, "no-signal-fail", TASK_ACTIVE},
        {SIGNAL_NONE, GATE_NONE, MODE_AUTOPILOT, 1, 0, "no-signal", TASK_ACTIVE},
        {SIGNAL_PROGRESS, GATE_PASS, MODE_AUTOPILOT, 1, 0, "no-signal-pass", TASK_ACTIVE},
    };
    size_t count;
    const CompletionRow *rows = completion_rows(&count);
    bool is_hit[64] = {false};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const CompletionRow *row = complete(cases[i].signal, cases[i].gate, cases[i].mode,
                                            cases[i].turns, cases[i].elapsed);
        assert_string_equal(row->id, cases[i].row);
        assert_int_equal(row->state, cases[i].task);
        is_hit[row - rows] = true;
    }
    for (size_t i = 0; i < count; i++)
        assert_true(is_hit[i]);
}

static void a_verified_complete_wins_over_a_limit_in_the_same_turn(void **state)
{
    (void)state;
    assert_int_equal(complete(SIGNAL_COMPLETE, GATE_PASS, MODE_AUTOPILOT, 50, 1000)->outcome,
                     OUTCOME_DONE);
    assert_int_equal(complete(SIGNAL_COMPLETE, GATE_NONE, MODE_AUTOPILOT, 50, 1000)->outcome,
                     OUTCOME_DONE);
    assert_int_equal(complete(SIGNAL_COMPLETE, GATE_FAIL, MODE_AUTOPILOT, 50, 0)->outcome,
                     OUTCOME_TIMEOUT);
    assert_int_equal(complete(SIGNAL_BLOCKED, GATE_FAIL, MODE_AUTOPILOT, 50, 1000)->outcome,
                     OUTCOME_BLOCKED);
    assert_int_equal(complete(SIGNAL_PENDING, GATE_FAIL, MODE_AUTOPILOT, 1, 1000)->outcome,
                     OUTCOME_TIMEOUT);
}

static void every_completion_row_has_its_own_id_and_says_why(void **state)
{
    (void)state;
    size_t count;
    const CompletionRow *rows = completion_rows(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(rows[i].why) > 10);
        assert_true(rows[i].actions[0] != ACTION_NONE);
        assert_true(*completion_outcome_word(rows[i].outcome));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rows[i].id, rows[k].id);
    }
}

/* --- exit --- */

static void every_exit_row_decides_its_case(void **state)
{
    (void)state;
    static const struct {
        ExitInput in;
        const char *row;
        TaskState task;
    } cases[] = {
        {{EXIT_ZERO, false, SIGNAL_COMPLETE, CHECK_GOOD}, "complete", TASK_DONE},
        {{EXIT_ZERO, false, SIGNAL_COMPLETE, CHECK_BAD}, "complete-failed", TASK_ACTIVE},
        {{EXIT_ZERO, false, SIGNAL_COMPLETE, CHECK_OPEN}, "complete-open", TASK_ACTIVE},
        {{EXIT_ZERO, false, SIGNAL_NONE, CHECK_OPEN}, "no-signal", TASK_ACTIVE},
        {{EXIT_ZERO, false, SIGNAL_PROGRESS, CHECK_GOOD}, "no-signal", TASK_ACTIVE},
        {{EXIT_ZERO, false, SIGNAL_BLOCKED, CHECK_OPEN}, "blocked", TASK_BLOCKED},
        {{EXIT_ZERO, false, SIGNAL_PENDING, CHECK_OPEN}, "pending", TASK_ACTIVE},
        {{EXIT_NONZERO, false, SIGNAL_NONE, CHECK_OPEN}, "failed", TASK_FAILED},
        {{EXIT_NONZERO, false, SIGNAL_COMPLETE, CHECK_GOOD}, "failed", TASK_FAILED},
        {{EXIT_KILLED, false, SIGNAL_NONE, CHECK_OPEN}, "killed", TASK_PENDING},
        {{EXIT_KILLED, true, SIGNAL_NONE, CHECK_OPEN}, "stopped", TASK_PENDING},
        {{EXIT_NONZERO, true, SIGNAL_NONE, CHECK_OPEN}, "stopped", TASK_PENDING},
        {{EXIT_ZERO, true, SIGNAL_NONE, CHECK_OPEN}, "stopped", TASK_PENDING},
        {{EXIT_ZERO, true, SIGNAL_COMPLETE, CHECK_GOOD}, "complete", TASK_DONE},
    };
    size_t count;
    const ExitRow *rows = exit_rows(&count);
    bool is_hit[32] = {false};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const ExitRow *row = exit_decide(&cases[i].in);
        assert_string_equal(row->id, cases[i].row);
        assert_int_equal(row->state, cases[i].task);
        is_hit[row - rows] = true;
    }
    for (size_t i = 0; i < count; i++)
        assert_true(is_hit[i] && strlen(rows[i].why) > 10);
}

static void every_exit_has_a_row(void **state)
{
    (void)state;
    for (unsigned end = 0; end < EXIT_END_COUNT; end++)
        for (unsigned user = 0; user < 2; user++)
            for (unsigned signal = 0; signal < SIGNAL_TYPE_COUNT; signal++)
                for (unsigned check = 0; check < EXIT_CHECK_COUNT; check++) {
                    ExitInput in = {(ExitEnd)end, user == 1, (SignalType)signal, (ExitCheck)check};
                    assert_non_null(exit_decide(&in));
                }
}

static void signals_of_processes_are_known_by_name(void **state)
{
    (void)state;
    assert_true(exit_signal_is_known("SIGKILL"));
    assert_true(exit_signal_is_known("SIGSEGV"));
    assert_false(exit_signal_is_known("KILL"));
    assert_false(exit_signal_is_known(""));
}

/* --- retry --- */

static void a_retry_waits_longer_each_time_up_to_the_cap(void **state)
{
    (void)state;
    assert_int_equal(retry_delay_ms(1, false, RETRY_CAP_MS), 10000);
    assert_int_equal(retry_delay_ms(2, false, RETRY_CAP_MS), 20000);
    assert_int_equal(retry_delay_ms(5, false, RETRY_CAP_MS), 160000);
    assert_int_equal(retry_delay_ms(6, false, RETRY_CAP_MS), 300000);
    assert_int_equal(retry_delay_ms(INT64_MAX, false, RETRY_CAP_MS), 300000);
    assert_int_equal(retry_delay_ms(3, false, 15000), 15000);
    assert_int_equal(retry_delay_ms(7, true, RETRY_CAP_MS), 1000);
    assert_true(retry_delay_ms(INT64_MAX, false, INT64_MAX) > 0);
}

/* --- verification --- */

static bool read_config(const char *text, Arena *arena, VerifyConfig *out, VerifyProblem *problem)
{
    /* The texts must outlive the tree they are borrowed from. */
    static json_t *kept;
    json_decref(kept);
    kept = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    assert_true(!text || kept);
    bool is_fine = verification_read(kept, arena, out, problem);
    if (!text)
        kept = NULL;
    return is_fine;
}

static void both_forms_of_the_setting_are_read(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    VerifyConfig config;
    VerifyProblem problem;
    assert_true(read_config("[\"make\",{\"command\":\"lint\",\"name\":\"Lint\",\"required\":false,"
                            "\"timeout\":60}]",
                            &arena, &config, &problem));
    assert_int_equal(config.count, 2);
    assert_string_equal(config.commands[0].name, "make");
    assert_int_equal(config.commands[0].timeout_s, 300);
    assert_true(config.commands[0].is_required);
    assert_string_equal(config.commands[1].name, "Lint");
    assert_int_equal(config.commands[1].timeout_s, 60);
    assert_false(config.commands[1].is_required);
    assert_true(
        read_config("{\"defaultTimeout\":9,\"commands\":[\"a\"]}", &arena, &config, &problem));
    assert_int_equal(config.commands[0].timeout_s, 9);
    assert_true(read_config("{\"default_timeout\":8,\"commands\":[{\"command\":\"a\"}]}", &arena,
                            &config, &problem));
    assert_int_equal(config.commands[0].timeout_s, 8);
    static const char *const empty[] = {NULL, "null", "[]", "{}", "{\"commands\":[]}"};
    for (size_t i = 0; i < COUNT(empty); i++) {
        assert_true(read_config(empty[i], &arena, &config, &problem));
        assert_int_equal(config.count, 0);
    }
}

static void a_bad_setting_names_its_place(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    VerifyConfig config;
    VerifyProblem problem;
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"\"make\"", ""},
        {"[1]", "[0]"},
        {"[\"a\",\"\"]", "[1]"},
        {"[{\"name\":\"x\"}]", "[0].command"},
        {"[{\"command\":\"  \"}]", "[0].command"},
        {"[{\"command\":5}]", "[0].command"},
        {"[{\"command\":\"a\",\"timeout\":0}]", "[0].timeout"},
        {"[{\"command\":\"a\",\"timeout\":1.5}]", "[0].timeout"},
        {"[{\"command\":\"a\",\"timeout\":\"5\"}]", "[0].timeout"},
        {"[{\"command\":\"a\",\"timeout\":1e300}]", "[0].timeout"},
        {"[{\"command\":\"a\",\"required\":1}]", "[0].required"},
        {"{\"commands\":[\"a\",{}]}", "commands[1].command"},
        {"{\"commands\":\"a\"}", "commands"},
        {"{\"default_timeout\":-1}", "default_timeout"},
        {"{\"defaultTimeout\":true}", "defaultTimeout"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_false(read_config(cases[i].text, &arena, &config, &problem));
        assert_string_equal(problem.field, cases[i].field);
        assert_true(*problem.message);
    }
    assert_true(read_config("null", &arena, &config, &problem)); /* frees the last tree */
}

static void every_result_of_a_command_has_its_row(void **state)
{
    (void)state;
    VerifyCommand required = {"a", "a", 300, true}, optional = {"b", "b", 300, false};
    VerifyResult good = {false, 0}, bad = {false, 2}, late = {true, 0};
    assert_string_equal(verification_step(&required, &good)->id, "ok");
    assert_string_equal(verification_step(&required, &bad)->error, "VERIFICATION_FAILED");
    assert_string_equal(verification_step(&required, &late)->error, "VERIFICATION_TIMEOUT");
    assert_string_equal(verification_step(&optional, &bad)->warning, "VERIFICATION_SKIPPED");
    assert_string_equal(verification_step(&optional, &late)->warning, "VERIFICATION_SKIPPED");
    assert_int_equal(verification_step(&optional, &bad)->verdict, VERIFY_OPEN);
    size_t count;
    const VerifyRow *rows = verification_rows(&count);
    for (size_t i = 0; i < count; i++)
        assert_true(*rows[i].id && strlen(rows[i].why) > 10);
}

static void the_gate_is_judged_in_order(void **state)
{
    (void)state;
    VerifyCommand commands[] = {{"a", "a", 1, false}, {"b", "b", 1, true}, {"c", "c", 1, true}};
    VerifyConfig config = {commands, 3}, empty = {NULL, 0};
    VerifyResult pass[] = {{false, 1}, {false, 0}, {false, 0}};
    VerifyResult fail_b[] = {{false, 0}, {true, 0}, {false, 1}};
    assert_int_equal(verification_judge(&config, pass, 3).verdict, VERIFY_PASS);
    VerifyJudgement verdict = verification_judge(&config, fail_b, 3);
    assert_int_equal(verdict.verdict, VERIFY_FAIL);
    assert_int_equal(verdict.command, 1);
    assert_string_equal(verdict.row->error, "VERIFICATION_TIMEOUT");
    verdict = verification_judge(&config, pass, 2);
    assert_int_equal(verdict.verdict, VERIFY_OPEN);
    assert_int_equal(verdict.command, 2);
    assert_int_equal(verification_judge(&config, fail_b, 2).verdict, VERIFY_FAIL);
    verdict = verification_judge(&empty, NULL, 0);
    assert_int_equal(verdict.verdict, VERIFY_PASS);
    assert_string_equal(verdict.row->warning, "VERIFICATION_EMPTY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_completion_row_decides_its_case),
        cmocka_unit_test(a_verified_complete_wins_over_a_limit_in_the_same_turn),
        cmocka_unit_test(every_completion_row_has_its_own_id_and_says_why),
        cmocka_unit_test(every_exit_row_decides_its_case),
        cmocka_unit_test(every_exit_has_a_row),
        cmocka_unit_test(signals_of_processes_are_known_by_name),
        cmocka_unit_test(a_retry_waits_longer_each_time_up_to_the_cap),
        cmocka_unit_test(both_forms_of_the_setting_are_read),
        cmocka_unit_test(a_bad_setting_names_its_place),
        cmocka_unit_test(every_result_of_a_command_has_its_row),
        cmocka_unit_test(the_gate_is_judged_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
