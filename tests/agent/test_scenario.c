/* agent/scenario: what a scenario file may say, and which turn is chosen. */
#include "tests/test.h"

#include "agent/scenario.h"
#include "base/file.h"

static void expect_error(const char *text, const char *sentence)
{
    CLEANUP(yaml_done) YamlDoc doc = {NULL, NULL};
    Err err = {0};
    assert_true(yaml_read(text, strlen(text), &doc, &err));
    assert_false(scenario_check(&doc, &err));
    assert_string_equal(err.text, sentence);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    expect_error("- x\n", "line 1: a scenario is a map with 'turns' or 'tasks'");
    expect_error("turnz:\n", "line 1: unknown key 'turnz', did you mean 'turns'?");
    expect_error("turns: []\n", "line 1: a list of at least one turn is needed");
    expect_error("turns:\n  - say: x\n", "line 2: a turn is a list of steps");
    expect_error("turns:\n  - - say: x\n    - hello\n",
                 "line 3: a step is a map with one step in it, such as {say: hello}");
    expect_error("turns:\n  - - say: x\n    - sya: x\n",
                 "line 3: unknown step 'sya', did you mean 'say'?");
    expect_error("turns:\n  - - say: x\n      sleep: 1\n",
                 "line 3: only one step may stand in a map; begin the next with -");
    expect_error("turns:\n  - - sleep: long\n",
                 "line 2: sleep: seconds must be a number from 0 to 86400");
    expect_error("turns:\n  - - write: {path: a}\n",
                 "line 2: write: one of these keys is needed: text append bytes");
    expect_error("turns:\n  - - write: {text: a}\n",
                 "line 2: write: one of these keys is needed: path; text append bytes");
    expect_error("turns:\n  - - write: a\n", "line 2: write: needs a map of keys and values");
    expect_error("turns:\n  - - write:\n        path: ../x\n        text: y\n",
                 "line 3: write: path must be a relative path that stays inside the repository");
    expect_error("turns:\n  - - write: {path: /etc/x, text: y}\n",
                 "line 2: write: path must be a relative path that stays inside the repository");
    expect_error("turns:\n  - - kill: NOW\n",
                 "line 2: kill: signal must be one of TERM, KILL, INT, HUP, QUIT, ABRT, SEGV");
    expect_error("turns:\n  - - signal: {type: X, vai: tag}\n",
                 "line 2: signal: unknown key 'vai', did you mean 'via'?");
    expect_error("turns:\n  - - if_exists: a\n", "line 2: a condition needs a step beside it");
    expect_error("tasks: [a]\n", "line 1: a map from task keys or titles to turns is needed");
    expect_error("tasks:\n  a:\n    tasks: {}\n", "line 3: unknown key 'tasks'");
    expect_error("tasks:\n  a:\n    attempts: [[[{sai: x}]]]\n",
                 "line 3: unknown step 'sai', did you mean 'say'?");
}

static const char choices[] = "tasks:\n"
                              "  dark:\n"
                              "    - [say: k1]\n"
                              "    - [say: k2]\n"
                              "  'Light mode':\n"
                              "    attempts: [[[say: a1t1], [say: a1t2]], [[say: a2t1]]]\n"
                              "    on_conflict: [[say: c1], [say: c2]]\n"
                              "  '*': [[say: any]]\n"
                              "on_conflict: [[say: top]]\n";

static void expect_choice(const char *text, ScenarioTask task, const char *said)
{
    CLEANUP(yaml_done) YamlDoc doc = {NULL, NULL};
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str path = STR_INIT;
    Err err = {0};
    assert_true(yaml_read(text, strlen(text), &doc, &err));
    if (!scenario_check(&doc, &err))
        fail_msg("%s", err.text);
    const json_t *steps = scenario_find(&doc, &task, &path);
    if (!said) {
        assert_null(steps);
        return;
    }
    const StepRow *row;
    StepArgs args;
    str_add(&path, "[0]");
    assert_true(
        scenario_step(&doc, json_array_get(steps, 0), str_text(&path), &arena, &row, &args, &err));
    assert_string_equal(args.text, said);
    assert_true(yaml_line(&doc, str_text(&path)) > 0); /* the path is a real one */
}

static void a_turn_is_chosen_by_task_attempt_and_number(void **state)
{
    (void)state;
    ScenarioTask dark = {.key = "dark", .title = "x", .turn = 1, .attempt = 1, .tries = 1};
    expect_choice(choices, dark, "k1");
    dark.turn = 2;
    expect_choice(choices, dark, "k2");
    dark.turn = 9;
    expect_choice(choices, dark, "k2");
    dark.checkpoint = "conflict";
    expect_choice(choices, dark, "top");
    ScenarioTask light = {.title = "Light mode", .turn = 2, .attempt = 1, .tries = 1};
    expect_choice(choices, light, "a1t2");
    light.attempt = 5;
    expect_choice(choices, light, "a2t1");
    light.checkpoint = "conflict";
    expect_choice(choices, light, "c1");
    light.tries = 2;
    expect_choice(choices, light, "c2");
    expect_choice(choices, (ScenarioTask){.key = "other", .turn = 1}, "any");
    expect_choice("turns: [[say: x]]\n", (ScenarioTask){.key = "o", .turn = 3}, "x");
    expect_choice("turns: [[say: x]]\n", (ScenarioTask){.checkpoint = "conflict"}, "x");
    expect_choice("tasks: {a: [[say: x]]}\n", (ScenarioTask){.key = "o"}, NULL);
}

static const char by_phase[] = "tasks:\n"
                               "  a:\n"
                               "    phases:\n"
                               "      plan: [[say: p1], [say: p2]]\n"
                               "      check: [[say: c1]]\n"
                               "      check@post-plan: [[say: cp1], [say: cp2]]\n"
                               "      resolve@conflict: [[say: r1]]\n"
                               "    turns: [[say: t1], [say: t2]]\n"
                               "    on_conflict: [[say: oc]]\n"
                               "  '*':\n"
                               "    phases: {exec: [[say: any]]}\n"
                               "phases: {plan: [[say: top1], [say: top2]]}\n"
                               "turns: [[say: last]]\n";

static void expect_phase(const char *key, const char *phase, const char *checkpoint, int64_t visit,
                         int64_t visit_checkpoint, const char *said)
{
    ScenarioTask task = {.key = key, .phase = phase, .checkpoint = checkpoint, .turn = 2};
    task.visit = visit;
    task.visit_checkpoint = visit_checkpoint;
    expect_choice(by_phase, task, said);
}

static void a_turn_is_chosen_by_phase_checkpoint_and_visit(void **state)
{
    (void)state;
    expect_phase("a", "plan", NULL, 1, 1, "p1");
    expect_phase("a", "plan", NULL, 2, 1, "p2");
    expect_phase("a", "plan", "post-plan", 9, 1, "p2"); /* no key for the checkpoint */
    expect_phase("a", "check", "post-plan", 5, 1, "cp1");
    expect_phase("a", "check", "post-plan", 1, 2, "cp2");
    expect_phase("a", "check", "post-exec", 1, 2, "c1");
    expect_phase("a", "resolve", "conflict", 1, 1, "r1");
    expect_phase("a", "merge", "conflict", 1, 1, "oc");
    expect_phase("a", "exec", NULL, 1, 1, "t2"); /* not listed: by the turn */
    expect_phase("a", NULL, NULL, 1, 1, "t2");
    expect_phase("b", "exec", NULL, 1, 1, "any");
    expect_phase("b", "plan", NULL, 2, 1, "top2");
    expect_phase("b", "check", "mid-exec", 2, 1, "last");
    expect_phase("b", "resolve", "conflict", 1, 1, "last");
}

static void mistakes_in_phases_and_answers_are_named(void **state)
{
    (void)state;
    expect_error("phases: [1]\n", "line 1: a map from phases to turns is needed");
    expect_error("phases:\n  plan: x\n", "line 2: a list of at least one turn is needed");
    expect_error("phases:\n  plan@: [[say: x]]\n",
                 "line 2: a phase is written PHASE or PHASE@CHECKPOINT");
    expect_error("phases:\n  plan:\n    - - sai: x\n",
                 "line 3: unknown step 'sai', did you mean 'say'?");
    expect_error("turns:\n  - - answer: 3\n", "line 2: answer: needs a map, or a text");
    expect_error("turns:\n  - - {answer: {a: 1}, via: post}\n",
                 "line 2: via: must be one of tag, command");
    expect_error("turns:\n  - - {say: x, via: tag}\n",
                 "line 2: via: stands beside an answer; here it is a key of signal");
    expect_error("turns:\n  - - auto_signal: {result: x}\n",
                 "line 2: auto_signal: one of these keys is needed: step raw");
    expect_error("turns:\n  - - auto_signal: {stepp: x}\n",
                 "line 2: auto_signal: unknown key 'stepp', did you mean 'step'?");
}

static void every_step_is_one_row_and_is_documented(void **state)
{
    (void)state;
    size_t count, length;
    const StepRow *rows = scenario_steps(&count);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/docs/scenario.md", getenv("TEST_SOURCE"));
    char *page = file_read(path, 1 << 20, &length, NULL);
    assert_non_null(page);
    assert_int_equal(count, STEP_COUNT);
    for (size_t i = 0; i < count; i++) {
        char cell[64];
        assert_int_equal(rows[i].kind, i);
        (void)snprintf(cell, sizeof cell, "| `%s` |", rows[i].name);
        if (!strstr(page, cell))
            fail_msg("docs/scenario.md does not list the step '%s'", rows[i].name);
        for (size_t j = 0; j < rows[i].count; j++) {
            (void)snprintf(cell, sizeof cell, "`%s`", rows[i].fields[j].key);
            if (!strstr(page, cell))
                fail_msg("docs/scenario.md does not name the key '%s'", rows[i].fields[j].key);
        }
    }
    free(page);
}

static void the_example_in_the_documentation_is_a_good_one(void **state)
{
    (void)state;
    size_t length;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/docs/scenario.md", getenv("TEST_SOURCE"));
    char *page = file_read(path, 1 << 20, &length, NULL);
    assert_non_null(page);
    char *begin = strstr(page, "tasks:\n"), *end = begin ? strstr(begin, "```") : NULL;
    assert_non_null(end);
    CLEANUP(yaml_done) YamlDoc doc = {NULL, NULL};
    Err err = {0};
    if (!yaml_read(begin, (size_t)(end - begin), &doc, &err) || !scenario_check(&doc, &err))
        fail_msg("%s", err.text);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(a_turn_is_chosen_by_task_attempt_and_number),
        cmocka_unit_test(a_turn_is_chosen_by_phase_checkpoint_and_visit),
        cmocka_unit_test(mistakes_in_phases_and_answers_are_named),
        cmocka_unit_test(every_step_is_one_row_and_is_documented),
        cmocka_unit_test(the_example_in_the_documentation_is_a_good_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
