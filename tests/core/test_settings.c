/* core/settings: every row, every way of being wrong, and where values come from. */
#include "tests/test.h"

#include "core/settings.h"

typedef struct Fixture {
    YamlDoc doc;
    Settings settings;
    SettingsProblems problems;
} Fixture;

static Fixture read_text(const char *text)
{
    Fixture f = {.problems = SETTINGS_PROBLEMS_INIT};
    Err err = {0};
    settings_init(&f.settings);
    if (!yaml_read(text, strlen(text), &f.doc, &err))
        fail_msg("%s", err.text);
    (void)settings_read(&f.doc, &f.settings, &f.problems); /* tests look at the problems */
    return f;
}

static void fixture_done(Fixture *f)
{
    yaml_done(&f->doc);
    settings_done(&f->settings);
    settings_problems_done(&f->problems);
}

static void expect_problem(const char *text, const char *sentence)
{
    CLEANUP(fixture_done) Fixture f = read_text(text);
    assert_int_equal(f.problems.count, 1);
    assert_string_equal(f.problems.items[0].text, sentence);
}

static void an_empty_file_gives_the_defaults(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("");
    assert_int_equal(f.problems.count, 0);
    assert_null(f.settings.target);
    assert_null(f.settings.agent);
    assert_string_equal(f.settings.workflow, "loop");
    assert_int_equal(f.settings.slots, 3);
    assert_int_equal(f.settings.limits.max_turns, 50);
    assert_int_equal(f.settings.limits.timeout_minutes, 30);
    assert_int_equal(f.settings.limits.max_retries, 3);
    assert_int_equal(f.settings.limits.max_output_mb, 64);
    assert_int_equal(f.settings.limits.max_conflict_tries, 3);
    assert_int_equal(f.settings.limits.pause_after_failures, 3);
    assert_int_equal(f.settings.limits.stuck_turns, 5);
    assert_string_equal(f.settings.workspace.kind, "auto");
    assert_int_equal(f.settings.workspace.setup_timeout_s, 600);
    assert_int_equal(f.settings.stop.grace_s, 10);
    assert_int_equal(f.settings.stop.pause_wait_s, 5);
    assert_int_equal(f.settings.trash.days, 7);
    assert_false(f.settings.pause_on_stuck);
    assert_int_equal(f.settings.verify.count, 0);
    assert_int_equal(f.settings.verify.default_timeout_s, 300);
}

static const char *const full =
    "target: main\n"
    "workflow: loop\n"
    "agent: mine\n"
    "slots: 4\n"
    "verify:\n"
    "  default_timeout: 100\n"
    "  commands:\n"
    "    - {name: tests, command: npm test, timeout: 600}\n"
    "    - {command: npm run lint, required: false}\n"
    "    - make check\n"
    "limits: {max_turns: 7, max_cost: 5.5, max_tokens: 2000000}\n"
    "agents:\n"
    "  mine: {kind: command, command: [./my-agent.sh, --fast], env: {LEVEL: high, N: 3}}\n"
    "  shell: {command: 'cat | tool', prompt: arg, model: m1, signal_tag: otto}\n"
    "  demo: {kind: script, scenario: demo.yaml}\n"
    "workspace: {kind: clone, copy: [.env], setup: npm ci}\n"
    "sandbox: {mode: auto, write: [], network: on}\n"
    "land: {mode: merge}\n"
    "review: {mode: per-task}\n"
    "protect: ['.github/**']\n"
    "pause_on_stuck: true\n";

static void every_kind_of_key_is_read(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text(full);
    if (f.problems.count)
        fail_msg("%s", f.problems.items[0].text);
    assert_string_equal(f.settings.target, "main");
    assert_int_equal(f.settings.slots, 4);
    assert_int_equal(f.settings.limits.max_turns, 7);
    assert_true(f.settings.limits.max_cost > 5.4 && f.settings.limits.max_cost < 5.6);
    assert_string_equal(f.settings.workspace.copy.items[0], ".env");
    assert_string_equal(f.settings.sandbox.network, "on");
    assert_string_equal(f.settings.land.mode, "merge");
    assert_string_equal(f.settings.protect.items[0], ".github/**");
    assert_true(f.settings.pause_on_stuck);
    const AgentSettings *mine = settings_agent(&f.settings, NULL, NULL);
    assert_string_equal(mine->name, "mine");
    assert_int_equal(mine->command.argv.count, 2);
    assert_string_equal(mine->env.items[0], "LEVEL=high");
    assert_string_equal(mine->env.items[1], "N=3");
    assert_int_equal(mine->line, 13);
    const AgentSettings *shell = settings_agent(&f.settings, "shell", NULL);
    assert_string_equal(shell->kind, "command");
    assert_string_equal(shell->command.shell, "cat | tool");
    assert_string_equal(shell->prompt, "arg");
}

static void gates_and_guards_have_defaults(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("");
    const Settings *s = &f.settings;
    assert_null(s->reviewer);
    assert_int_equal(s->limits.max_steps, 20);
    assert_true(s->thresholds.post_plan < 0 && s->thresholds.mid_exec < 0 &&
                s->thresholds.post_exec < 0);
    assert_int_equal(s->retries.post_plan, SETTING_UNSET);
    assert_int_equal(s->retries.mid_exec, SETTING_UNSET);
    assert_int_equal(s->retries.post_exec, SETTING_UNSET);
    assert_string_equal(s->convergence.policy, "allow-equal");
    assert_string_equal(s->objective.confirm, "ask");
    assert_string_equal(s->review.mode, "auto");
    assert_int_equal(s->review.labels.count, 0);
    assert_true(s->guards.tests && s->guards.scope && s->guards.base_tests && s->learn);
    assert_int_equal(s->guards.test_files.count, 0);
    assert_int_equal(s->observe.grace_s, 60);
    assert_int_equal(s->observe.poll_ms, 2000);
    assert_int_equal(s->hooks.timeout_s, 10);
    assert_int_equal(s->hooks.on_status.count, 0);
}

static const char *const gates =
    "workflow: my-own\n"
    "reviewer: other\n"
    "agents: {one: {command: x}, other: {command: y}}\n"
    "limits: {max_steps: 7}\n"
    "thresholds: {post_plan: 0.7, mid_exec: 0, post_exec: 1}\n"
    "retries: {post_plan: 0, post_exec: 5}\n"
    "convergence: {policy: strict}\n"
    "objective: {confirm: auto}\n"
    "review: {mode: batch, labels: {security: per-task-no-auto, docs: skip}}\n"
    "guards: {tests: false, scope: false, base_tests: false, test_files: ['*.spec', 't/**']}\n"
    "learn: false\n"
    "observe: {grace_s: 0, poll_ms: 100}\n"
    "hooks: {timeout_s: 3, on_status: {complete: 'echo done', re-planning: \"a\\nb\"}}\n";

static void gates_and_guards_are_read(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text(gates);
    if (f.problems.count)
        fail_msg("%s", f.problems.items[0].text);
    const Settings *s = &f.settings;
    assert_string_equal(s->workflow, "my-own");
    assert_string_equal(s->reviewer, "other");
    assert_int_equal(s->limits.max_steps, 7);
    assert_true(s->thresholds.post_plan > 0.69 && s->thresholds.post_plan < 0.71);
    assert_true(s->thresholds.mid_exec >= 0 && s->thresholds.mid_exec < 0.01);
    assert_true(s->thresholds.post_exec > 0.99);
    assert_int_equal(s->retries.post_plan, 0);
    assert_int_equal(s->retries.mid_exec, SETTING_UNSET);
    assert_int_equal(s->retries.post_exec, 5);
    assert_string_equal(s->convergence.policy, "strict");
    assert_string_equal(s->objective.confirm, "auto");
    assert_int_equal(s->review.labels.count, 2);
    assert_string_equal(s->review.labels.items[0].key, "security");
    assert_string_equal(text_map_find(&s->review.labels, "docs"), "skip");
    assert_null(text_map_find(&s->review.labels, "doc"));
    assert_false(s->guards.tests || s->guards.scope || s->guards.base_tests || s->learn);
    assert_string_equal(s->guards.test_files.items[1], "t/**");
    assert_int_equal(s->observe.poll_ms, 100);
    assert_string_equal(text_map_find(&s->hooks.on_status, "complete"), "echo done");
    assert_string_equal(text_map_find(&s->hooks.on_status, "re-planning"), "a\nb");
}

static void wrong_gates_and_guards_are_problems(void **state)
{
    (void)state;
    expect_problem("workflow: a/b\n",
                   "otto.yaml:1: workflow: \"a/b\" is not allowed; it must be at "
                   "most 64 letters, digits, '-' and '_'");
    expect_problem("reviewer: x\nagents: {a: {command: x}}\n",
                   "otto.yaml:1: reviewer: there is no agent 'x'; known agents: a");
    expect_problem(
        "thresholds: {post_plan: 1.5}\n",
        "otto.yaml:1: thresholds.post_plan: 1.5 is not allowed; it must be a number from "
        "0 to 1");
    expect_problem("thresholds: {post_plan: -1}\n",
                   "otto.yaml:1: thresholds.post_plan: -1 is not allowed; it must be a number from "
                   "0 to 1");
    expect_problem("retries: {mid_exec: -1}\n",
                   "otto.yaml:1: retries.mid_exec: -1 is not allowed; it must be a whole number "
                   "from 0 to 100 (tries)");
    expect_problem(
        "review: {labels: {docs: maybe}}\n",
        "otto.yaml:1: review.labels: this map is not allowed; it must be a map of label: "
        "rule, one of per-task-no-auto, per-task, batch, auto-approve, skip");
    expect_problem("review: {labels: [docs]}\n",
                   "otto.yaml:1: review.labels: this list is not allowed; it must be a map of "
                   "label: rule, one of per-task-no-auto, per-task, batch, auto-approve, skip");
    expect_problem(
        "review: {labels: {\"a\\e[31m\": skip}}\n",
        "otto.yaml:1: review.labels: this map is not allowed; it must be a map of label: "
        "rule, one of per-task-no-auto, per-task, batch, auto-approve, skip");
    expect_problem("hooks: {on_status: {complete: [a, b]}}\n",
                   "otto.yaml:1: hooks.on_status: this map is not allowed; it must be a map of "
                   "status: shell command");
    expect_problem("hooks: {on_status: {complete: \"a\\eb\"}}\n",
                   "otto.yaml:1: hooks.on_status: this map is not allowed; it must be text without "
                   "control characters");
    expect_problem("objective: {confirm: never}\n",
                   "otto.yaml:1: objective.confirm: \"never\" is not allowed; it must be one of "
                   "ask, auto");
}

static void what_is_not_set_is_shown_as_nothing(void **state)
{
    (void)state;
    CLEANUP(fixture_done)
    Fixture f = read_text("retries: {post_plan: 0}\nreview: {labels: {docs: skip}}\n");
    CLEANUP(json_freep) json_t *shown = settings_show_json(&f.settings);
    char *text = json_write(shown);
    assert_non_null(strstr(text, "\"key\":\"retries.post_plan\",\"value\":0,"));
    assert_non_null(strstr(text, "\"key\":\"retries.mid_exec\",\"value\":null,"));
    assert_non_null(strstr(text, "\"key\":\"thresholds.post_plan\",\"value\":null,"));
    assert_non_null(strstr(text, "\"key\":\"review.labels\",\"value\":{\"docs\":\"skip\"},"));
    free(text);
}

static void verification_takes_both_forms(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text(full);
    const VerifySettings *verify = &f.settings.verify;
    assert_int_equal(verify->count, 3);
    assert_string_equal(verify->commands[0].name, "tests");
    assert_int_equal(verify->commands[0].timeout_s, 600);
    assert_true(verify->commands[0].is_required);
    assert_string_equal(verify->commands[1].name, "npm run lint");
    assert_int_equal(verify->commands[1].timeout_s, 100);
    assert_false(verify->commands[1].is_required);
    assert_string_equal(verify->commands[2].command, "make check");

    CLEANUP(fixture_done)
    Fixture one = read_text("verify: true\nagents: {a: {kind: command, command: [true, 1]}}\n");
    assert_int_equal(one.problems.count, 0);
    assert_string_equal(one.settings.verify.commands[0].command, "true");
    assert_string_equal(one.settings.agents[0].command.argv.items[0], "true");

    CLEANUP(fixture_done) Fixture plain = read_text("verify: [make test, {command: lint}]\n");
    assert_int_equal(plain.problems.count, 0);
    assert_int_equal(plain.settings.verify.count, 2);
    assert_int_equal(plain.settings.verify.commands[1].timeout_s, 300);
}

static void wrong_values_name_line_key_value_and_what_is_allowed(void **state)
{
    (void)state;
    expect_problem("slots: 99\n", "otto.yaml:1: slots: 99 is not allowed; it must be a whole "
                                  "number from 1 to 64 (agents)");
    expect_problem("\nlimits:\n  max_turns: many\n",
                   "otto.yaml:3: limits.max_turns: \"many\" is not allowed; it must be a whole "
                   "number from 1 to 1000 (turns)");
    expect_problem("land: {mode: push}\n", "otto.yaml:1: land.mode: \"push\" is not allowed; it "
                                           "must be one of merge");
    expect_problem("limits: 3\n",
                   "otto.yaml:1: limits: 3 is not allowed; it must be a map of keys and values");
    expect_problem("verify: 5\n",
                   "otto.yaml:1: verify: 5 is not allowed; it must be a list of commands, "
                   "or a map with default_timeout and commands");
    expect_problem("target: -x\n", "otto.yaml:1: target: \"-x\" is not allowed; it must be a "
                                   "branch name such as main");
    expect_problem("pause_on_stuck: yes\n", "otto.yaml:1: pause_on_stuck: \"yes\" is not allowed; "
                                            "it must be true or false");
    expect_problem("- a\n- b\n", "otto.yaml:1: the file must be a map of keys and values");
    expect_problem("workspace: {copy: [../secret]}\n",
                   "otto.yaml:1: workspace.copy: this list is not allowed; it must be a relative "
                   "path that stays inside the repository");
}

static void a_wrong_value_keeps_the_default(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("slots: 0\nlimits: {max_turns: 1.5}\n");
    assert_int_equal(f.problems.count, 2);
    assert_int_equal(f.settings.slots, 3);
    assert_int_equal(f.settings.limits.max_turns, 50);
    const Field *slots = field_find(settings_rows(), "slots");
    assert_int_equal(f.settings.origins[slots - settings_rows().rows].from, ORIGIN_DEFAULT);
}

static void unknown_keys_say_what_was_meant(void **state)
{
    (void)state;
    expect_problem("slotz: 3\n", "otto.yaml:1: slotz: unknown key, did you mean 'slots'?");
    expect_problem("limits:\n  max_turn: 3\n", "otto.yaml:2: limits.max_turn: unknown key, did "
                                               "you mean 'limits.max_turns'?");
    expect_problem("max_turns: 3\n",
                   "otto.yaml:1: max_turns: unknown key, did you mean 'limits.max_turns'?");
    expect_problem("trash: {weeks: 1}\n",
                   "otto.yaml:1: trash.weeks: unknown key; known here: days");
    expect_problem("limits.max_turns: 3\n", "otto.yaml:1: limits.max_turns: unknown key; known "
                                            "here: target, workflow, agent, reviewer, slots, "
                                            "verify, limits, thresholds, retries, convergence, "
                                            "objective, agents, workspace, sandbox, land, review, "
                                            "protect, guards, stop, observe, hooks, trash, learn, "
                                            "pause_on_stuck");
    expect_problem("verify: [{command: x, timeot: 3}]\n",
                   "otto.yaml:1: verify[0].timeot: unknown key, did you mean 'timeout'?");
}

static void all_problems_are_listed_at_once(void **state)
{
    (void)state;
    CLEANUP(fixture_done)
    Fixture f = read_text("slots: x\nagent: nobody\n"
                          "agents:\n"
                          "  a: {kind: magic}\n"
                          "  b: {kind: script}\n"
                          "  c: {kind: command}\n"
                          "  'd e': {command: x}\n"
                          "verify:\n  - {name: x}\n  - 3\n  - [x]\n");
    assert_int_equal(f.problems.count, 9);
    assert_string_equal(f.problems.items[1].text,
                        "otto.yaml:4: agents.a.kind: \"magic\" is not allowed; it must be one of "
                        "command, script");
    assert_string_equal(f.problems.items[2].text,
                        "otto.yaml:5: agents.b: an agent of kind 'script' needs the key "
                        "'scenario'");
    assert_string_equal(f.problems.items[5].text,
                        "otto.yaml:9: verify[0]: the key 'command' is missing");
    assert_string_equal(f.problems.items[8].text,
                        "otto.yaml:2: agent: there is no agent 'nobody'; known agents: a, b, c");
}

static void problems_are_bounded(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    for (int i = 0; i < 500; i++)
        str_addf(&text, "key%d: 1\n", i);
    CLEANUP(fixture_done) Fixture f = read_text(str_text(&text));
    assert_int_equal(f.problems.count, SETTINGS_MOST_PROBLEMS);
}

static void control_characters_of_the_file_never_reach_a_message(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("\"a\\e[31m\": 1\nagent: \"\\u009b\"\n");
    assert_int_equal(f.problems.count, 2);
    for (size_t i = 0; i < f.problems.count; i++) {
        assert_null(strchr(f.problems.items[i].text, '\x1b'));
        assert_null(strstr(f.problems.items[i].text, "\xc2\x9b"));
    }
}

static void environment_of_an_agent_may_not_forge_ours(void **state)
{
    (void)state;
    expect_problem("agents: {a: {command: x, env: {OTTO_TOKEN: y}}}\n",
                   "otto.yaml:1: agents.a.env: this map is not allowed; it must be a map of NAME: "
                   "value, not beginning with OTTO_");
    expect_problem("agents: {a: {command: x, env: {'A=B': y}}}\n",
                   "otto.yaml:1: agents.a.env: this map is not allowed; it must be a map of NAME: "
                   "value, not beginning with OTTO_");
}

static const char *lookup(void *data, const char *variable)
{
    const char *const *pairs = data;
    for (; pairs[0]; pairs += 2)
        if (text_equal(pairs[0], variable))
            return pairs[1];
    return NULL;
}

static const char *origin_of(const json_t *shown, const char *key)
{
    for (size_t i = 0; i < json_array_size(shown); i++)
        if (text_equal(json_text(json_array_get(shown, i), "key", ""), key))
            return json_text(json_array_get(shown, i), "origin", "");
    return "absent";
}

static void a_flag_beats_the_environment_which_beats_the_file(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text(full);
    const char *env[] = {"OTTO_SLOTS", "5", "OTTO_AGENT", "demo", "OTTO_TARGET", "", NULL};
    assert_true(settings_read_env(lookup, env, &f.settings, &f.problems));
    assert_true(settings_set_flag("slots", "6", &f.settings, &f.problems));
    assert_int_equal(f.settings.slots, 6);
    assert_string_equal(f.settings.agent, "demo");
    assert_string_equal(f.settings.target, "main");
    CLEANUP(json_freep) json_t *shown = settings_show_json(&f.settings);
    assert_string_equal(origin_of(shown, "slots"), "flag");
    assert_string_equal(origin_of(shown, "agent"), "environment OTTO_AGENT");
    assert_string_equal(origin_of(shown, "target"), "otto.yaml:1");
    assert_string_equal(origin_of(shown, "limits.max_turns"), "otto.yaml:11");
    assert_string_equal(origin_of(shown, "trash.days"), "default");
    assert_string_equal(origin_of(shown, "agents"), "otto.yaml:12");
}

static void bad_environment_and_flags_are_problems_too(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("slots: 2\n");
    const char *env[] = {"OTTO_SLOTS", "many", "OTTO_AGENT", "x", NULL};
    assert_false(settings_read_env(lookup, env, &f.settings, &f.problems));
    assert_false(settings_set_flag("slot", "6", &f.settings, &f.problems));
    assert_int_equal(f.settings.slots, 2);
    assert_int_equal(f.problems.count, 3);
    assert_string_equal(f.problems.items[0].text, "OTTO_AGENT: agent: there is no agent 'x'; no "
                                                  "agents are configured, add one below "
                                                  "'agents:'");
    assert_string_equal(f.problems.items[1].text, "OTTO_SLOTS: slots: 'many' is not allowed; it "
                                                  "must be a whole number from 1 to 64 (agents)");
    assert_string_equal(f.problems.items[2].text, "flag: slot: unknown key, did you mean 'slots'?");
}

static void without_an_agent_the_error_says_so(void **state)
{
    (void)state;
    CLEANUP(fixture_done) Fixture f = read_text("agents: {a: {command: x}}\n");
    Err err = {0};
    assert_null(settings_agent(&f.settings, NULL, &err));
    assert_string_equal(err.text, "no agent configured: set 'agent:' in otto.yaml or name one; "
                                  "known agents: a");
    assert_null(settings_agent(&f.settings, "b", &err));
    assert_string_equal(err.text, "there is no agent 'b'; known agents: a");
}

static void secrets_are_shown_by_name_only(void **state)
{
    (void)state;
    CLEANUP(fixture_done)
    Fixture f = read_text("agents: {a: {command: x, env: {API_KEY: hunter2}}}\n");
    CLEANUP(json_freep) json_t *shown = settings_show_json(&f.settings);
    char *text = json_write(shown);
    assert_non_null(strstr(text, "\"API_KEY\""));
    assert_null(strstr(text, "hunter2"));
    free(text);
}

static void every_row_says_what_it_is_for(void **state)
{
    (void)state;
    const FieldTable tables[] = {settings_rows(), settings_agent_rows(), settings_verify_rows()};
    for (size_t t = 0; t < COUNT(tables); t++)
        for (size_t i = 0; i < tables[t].count; i++) {
            const Field *row = &tables[t].rows[i];
            assert_non_null(row->help);
            assert_ptr_equal(field_find(tables[t], row->key), row); /* no key twice */
            assert_true(row->type != FIELD_WORD || row->words);
            assert_true((row->type != FIELD_INT && row->type != FIELD_REAL) || row->min < row->max);
        }
    CLEANUP(str_done) Str page = STR_INIT;
    settings_markdown(&page);
    assert_non_null(strstr(str_text(&page), "| `slots` | a whole number from 1 to 64 (agents) | 3 "
                                            "| how many agents work at once (`OTTO_SLOTS`) |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_gives_the_defaults),
        cmocka_unit_test(every_kind_of_key_is_read),
        cmocka_unit_test(gates_and_guards_have_defaults),
        cmocka_unit_test(gates_and_guards_are_read),
        cmocka_unit_test(wrong_gates_and_guards_are_problems),
        cmocka_unit_test(what_is_not_set_is_shown_as_nothing),
        cmocka_unit_test(verification_takes_both_forms),
        cmocka_unit_test(wrong_values_name_line_key_value_and_what_is_allowed),
        cmocka_unit_test(a_wrong_value_keeps_the_default),
        cmocka_unit_test(unknown_keys_say_what_was_meant),
        cmocka_unit_test(all_problems_are_listed_at_once),
        cmocka_unit_test(problems_are_bounded),
        cmocka_unit_test(control_characters_of_the_file_never_reach_a_message),
        cmocka_unit_test(environment_of_an_agent_may_not_forge_ours),
        cmocka_unit_test(a_flag_beats_the_environment_which_beats_the_file),
        cmocka_unit_test(bad_environment_and_flags_are_problems_too),
        cmocka_unit_test(without_an_agent_the_error_says_so),
        cmocka_unit_test(secrets_are_shown_by_name_only),
        cmocka_unit_test(every_row_says_what_it_is_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
