#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "core/decide.h"
#include <stdlib.h>
#include <string.h>

static const char *document_path; /* docs/decide.md, given by the build */

static json_t *decide_bytes(const char *name, const char *text, size_t length, int want_exit)
{
    int exit_code = -1;
    char *answer = decide_run(name, text, length, &exit_code);
    json_t *json = json_loads(answer, JSON_ALLOW_NUL, NULL);
    if (exit_code != want_exit || !json)
        fail_msg("%s: exit %d: %s", name, exit_code, answer);
    free(answer);
    return json;
}

static json_t *decide(const char *name, const char *text)
{
    return decide_bytes(name, text, strlen(text), 0);
}

/* The answer holds these members exactly. */
static void expect(const char *name, const char *text, const char *want)
{
    json_t *have = decide(name, text), *part = json_loads(want, 0, NULL), *value;
    const char *key;
    assert_non_null(part);
    json_object_foreach(part, key, value)
    {
        if (!json_equal(json_object_get(have, key), value)) {
            char *shown = json_write(have);
            fail_msg("%s: '%s' differs in %s", name, key, shown);
        }
    }
    assert_true(json_string_length(json_object_get(have, "why")) > 0);
    json_decref(have);
    json_decref(part);
}

static void expect_error(const char *name, const char *text, const char *field, const char *part)
{
    json_t *have = decide_bytes(name, text, strlen(text), 1);
    json_t *error = json_object_get(have, "error");
    assert_string_equal(json_text(error, "kind", ""), "bad-input");
    if (field)
        assert_string_equal(json_text(error, "field", "(none)"), field);
    if (!strstr(json_text(error, "message", ""), part))
        fail_msg("'%s' lacks '%s'", json_text(error, "message", ""), part);
    json_decref(have);
}

static void route_answers_by_the_table(void **state)
{
    (void)state;
    expect("route", "{\"workflow\":\"loop\",\"status\":\"pending\",\"enter\":true}",
           "{\"next\":\"work\",\"status\":\"active\",\"checkpoint\":null,\"phase\":null,"
           "\"effects\":[\"start-turn\"],\"row\":\"enter-pending\"}");
    expect(
        "route",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"merge\",\"result\":\"conflict\","
        "\"retries\":2}",
        "{\"next\":\"work\",\"checkpoint\":\"conflict\",\"status\":\"active\"}");
    expect(
        "route",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"merge\",\"result\":\"conflict\","
        "\"retries\":2,\"limits\":{\"conflict\":2}}",
        "{\"next\":\"(stop)\",\"checkpoint\":null,\"status\":\"blocked\"}");
    expect("route",
           "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"verify\",\"result\":\"pass\","
           "\"review\":true,\"unknown\":1}",
           "{\"next\":\"ask\",\"status\":\"review\"}");
    expect_error("route", "{\"workflow\":\"waltz\",\"status\":\"active\"}", "workflow", "loop");
    expect_error("route", "{\"workflow\":\"loop\",\"status\":\"asleep\"}", "status", "pending");
    expect_error("route", "{\"workflow\":\"loop\",\"status\":\"active\"}", "step", "missing");
    expect_error("route", "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"x\"}", "step",
                 "unknown");
    expect_error("route", "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"work\"}",
                 "result", "missing");
    expect_error("route",
                 "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"work\",\"result\":\"x\"}",
                 "result", "unknown");
    expect_error(
        "route",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"work\",\"result\":\"none\","
        "\"checkpoint\":\"moon\"}",
        "checkpoint", "unknown");
    expect_error(
        "route",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"work\",\"result\":\"none\","
        "\"limits\":{\"turns\":-1}}",
        "limits.turns", "whole number");
}

static void transition_answers_by_the_table(void **state)
{
    (void)state;
    expect("transition", "{\"workflow\":\"loop\",\"status\":\"failed\",\"command\":\"retry\"}",
           "{\"allowed\":true,\"status\":\"pending\",\"phase\":null}");
    expect("transition", "{\"workflow\":\"loop\",\"status\":\"cancelled\",\"command\":\"run\"}",
           "{\"allowed\":false,\"status\":\"cancelled\"}");
    expect_error("transition", "{\"workflow\":\"loop\",\"status\":\"failed\",\"command\":\"sing\"}",
                 "command", "unknown");
}

static void signal_lists_what_it_found(void **state)
{
    (void)state;
    expect("signal", "{\"text\":\"<otto>BLOCKED: x </otto><otto>PROGRESS:9</otto>\"}",
           "{\"signals\":[{\"type\":\"BLOCKED\",\"payload\":\"x\"},"
           "{\"type\":\"PROGRESS\",\"payload\":\"9\"}],\"invalid\":[],"
           "\"decides\":{\"type\":\"BLOCKED\",\"payload\":\"x\"}}");
    expect("signal", "{\"text\":\"\"}", "{\"signals\":[],\"invalid\":[],\"decides\":null}");
    expect("signal", "{\"text\":\"a\\u0000<x>COMPLETE</x>\",\"tag\":\"x\"}",
           "{\"decides\":{\"type\":\"COMPLETE\",\"payload\":null}}");
    expect("signal", "{\"text\":\"<otto>NO</otto>\"}",
           "{\"invalid\":[{\"code\":\"SIGNAL_UNKNOWN_TYPE\",\"raw\":\"<otto>NO</otto>\"}]}");
    expect_error("signal", "{\"text\":\"\",\"tag\":\"a b\"}", "tag", "letter");
    expect_error("signal", "{\"text\":5}", "text", "a text");
}

static void a_long_malformed_signal_is_cut_between_characters(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    str_add(&text, "{\"text\":\"<otto>x");
    for (unsigned i = 0; i < 5000; i++)
        str_add(&text, "\xe2\x82\xac");
    str_add(&text, "\"}");
    expect("signal", str_text(&text), "{\"decides\":null,\"signals\":[]}");
}

static void completion_and_exit_answer_by_their_tables(void **state)
{
    (void)state;
    expect(
        "completion",
        "{\"signal\":\"COMPLETE\",\"verification\":\"pass\",\"iterations\":9,\"max_iterations\":9,"
        "\"elapsed_ms\":9,\"timeout_ms\":9,\"mode\":\"semi-auto\"}",
        "{\"outcome\":\"done\",\"task_state\":\"done\",\"row\":\"complete-verified-semi-auto\"}");
    expect("completion",
           "{\"signal\":null,\"verification\":\"none\",\"iterations\":1,\"max_iterations\":9,"
           "\"elapsed_ms\":9,\"timeout_ms\":9,\"mode\":\"autopilot\"}",
           "{\"outcome\":\"timeout\",\"task_state\":\"timeout\",\"row\":\"wall-clock\"}");
    expect_error("completion", "{\"verification\":\"pass\"}", "iterations", "missing");
    expect_error("completion",
                 "{\"signal\":\"DONE\",\"verification\":\"pass\",\"iterations\":1,"
                 "\"max_iterations\":9,\"elapsed_ms\":9,\"timeout_ms\":9,\"mode\":\"autopilot\"}",
                 "signal", "COMPLETE");
    expect("exit", "{\"exit_code\":0,\"signal\":\"COMPLETE\",\"verified\":true}",
           "{\"task_state\":\"done\"}");
    expect("exit", "{\"exit_code\":3,\"signal\":null}", "{\"task_state\":\"failed\"}");
    expect("exit", "{\"killed_by\":\"SIGKILL\"}",
           "{\"task_state\":\"pending\",\"row\":\"killed\"}");
    expect_error("exit", "{}", "exit_code", "either");
    expect_error("exit", "{\"exit_code\":1,\"killed_by\":\"SIGKILL\"}", "exit_code", "not both");
    expect_error("exit", "{\"killed_by\":\"SIGMOON\"}", "killed_by", "unknown");
    expect_error("exit", "{\"exit_code\":256}", "exit_code", "from 0 to 255");
}

static void verification_normalises_and_judges(void **state)
{
    (void)state;
    expect(
        "verification",
        "{\"config\":[\"make\",{\"command\":\"lint\",\"required\":false}],"
        "\"results\":[{\"exit_code\":0},{\"exit_code\":1}]}",
        "{\"commands\":[{\"name\":\"make\",\"command\":\"make\",\"timeout\":300,\"required\":true},"
        "{\"name\":\"lint\",\"command\":\"lint\",\"timeout\":300,\"required\":false}],"
        "\"pass\":true,\"warnings\":[\"VERIFICATION_SKIPPED: optional command 'lint' failed with "
        "exit code 1\"]}");
    expect("verification",
           "{\"config\":[{\"name\":\"T\",\"command\":\"make "
           "test\"}],\"results\":[{\"timed_out\":true}]}",
           "{\"pass\":false,\"error\":\"VERIFICATION_TIMEOUT\",\"command\":\"make test\"}");
    expect("verification", "{\"config\":[\"a\"]}", "{\"pass\":null,\"warnings\":[]}");
    json_t *empty = decide("verification", "{}");
    assert_true(json_is_true(json_object_get(empty, "pass")));
    assert_null(json_object_get(empty, "error"));
    assert_non_null(strstr(json_string_value(json_array_get(json_object_get(empty, "warnings"), 0)),
                           "VERIFICATION_EMPTY"));
    json_decref(empty);
    expect_error("verification", "{\"config\":[\"a\",{}]}", "config[1].command", "missing");
    expect_error("verification", "{\"config\":{\"commands\":[3]}}", "config.commands[0]",
                 "command");
    expect_error("verification", "{\"config\":7}", "config", "list");
    expect_error("verification", "{\"config\":[\"a\"],\"results\":[{}]}", "results[0].exit_code",
                 "missing");
    expect_error("verification", "{\"config\":[],\"results\":[{\"exit_code\":0}]}", "results",
                 "1 items for 0");
}

static void select_scores_and_chooses(void **state)
{
    (void)state;
    expect("select",
           "{\"now_ms\":9,\"tasks\":[{\"id\":\"b\",\"state\":\"pending\",\"tags\":[\"critical\","
           "\"quick-win\"],\"unblocks\":2,\"retries\":1,\"created_ms\":5,\"waited_ms\":1860000,"
           "\"parent\":{\"done\":2,\"total\":3}},{\"id\":7,\"state\":\"done\",\"tags\":[],"
           "\"unblocks\":99,\"retries\":0,\"created_ms\":1}]}",
           "{\"id\":\"b\",\"scores\":[{\"id\":\"b\",\"score\":186,\"parts\":{\"unblocks\":20,"
           "\"critical\":50,\"quick-win\":30,\"parent\":20,\"retries\":-15,\"age\":31,"
           "\"waited\":50}}]}");
    expect(
        "select",
        "{\"now_ms\":9,\"exclude\":[2,\"x\"],\"tasks\":[{\"id\":3,\"state\":\"ready\"},"
        "{\"id\":2,\"state\":\"pending\",\"tags\":[\"next\"]},{\"id\":1,\"state\":\"pending\"}]}",
        "{\"id\":1}");
    expect("select",
           "{\"now_ms\":600000,\"tasks\":[{\"id\":1,\"state\":\"pending\",\"priority\":\"P0\"},"
           "{\"id\":2,\"state\":\"pending\",\"priority\":3,\"ready_ms\":0}]}",
           "{\"scores\":[{\"id\":1,\"score\":200,\"parts\":{\"priority\":200}},"
           "{\"id\":2,\"score\":-90,\"parts\":{\"priority\":-100,\"age\":10}}]}");
    expect("select", "{\"now_ms\":0,\"tasks\":[]}", "{\"id\":null,\"scores\":[]}");
    expect_error("select", "{\"tasks\":[]}", "now_ms", "missing");
    expect_error("select", "{\"now_ms\":0,\"tasks\":[{\"state\":\"pending\"}]}", "tasks[0].id",
                 "missing");
    expect_error("select", "{\"now_ms\":0,\"tasks\":[{\"id\":1,\"state\":\"x\"}]}",
                 "tasks[0].state", "pending");
    expect_error("select", "{\"now_ms\":0,\"tasks\":[{\"id\":1.5,\"state\":\"done\"}]}",
                 "tasks[0].id", "whole number");
    expect_error(
        "select",
        "{\"now_ms\":0,\"tasks\":[{\"id\":1,\"state\":\"done\"},{\"id\":1,\"state\":\"done\"}]}",
        "tasks[1].id", "twice");
    expect_error("select", "{\"now_ms\":0,\"tasks\":[{\"id\":1,\"state\":\"done\",\"tags\":[4]}]}",
                 "tasks[0].tags[0]", "text");
    expect_error("select",
                 "{\"now_ms\":0,\"tasks\":[{\"id\":1,\"state\":\"done\",\"priority\":\"P9\"}]}",
                 "tasks[0].priority", "P0");
    expect_error("select", "{\"now_ms\":0,\"tasks\":[5]}", "tasks[0]", "object");
    expect_error("select",
                 "{\"now_ms\":0,\"tasks\":[{\"id\":1,\"state\":\"done\",\"retries\":-1}]}",
                 "tasks[0].retries", "from 0");
}

static void graph_orders_skips_and_names_cycles(void **state)
{
    (void)state;
    expect(
        "graph",
        "{\"tasks\":[{\"id\":10,\"blocked_by\":[9]},{\"id\":9,\"blocked_by\":[]},"
        "{\"id\":2,\"blocked_by\":[9,2,77]},{\"id\":3,\"state\":\"closed\",\"blocked_by\":[],"
        "\"blocks\":[9]}]}",
        "{\"levels\":[[9],[2,10]],\"ready\":[9],\"independent\":[9],\"cycles\":[],\"skipped\":[],"
        "\"edges\":[{\"from\":3,\"to\":9},{\"from\":9,\"to\":2},{\"from\":9,\"to\":10}],"
        "\"ignored\":[{\"from\":2,\"to\":2,\"why\":\"self loop\"},"
        "{\"from\":77,\"to\":2,\"why\":\"unknown id\"}]}");
    expect(
        "graph",
        "{\"tasks\":[{\"id\":\"a\",\"blocked_by\":[\"b\"]},{\"id\":\"b\",\"blocked_by\":[\"a\"]},"
        "{\"id\":\"c\",\"blocked_by\":[\"b\"]},{\"id\":\"d\",\"blocked_by\":[]}]}",
        "{\"cycles\":[[\"a\",\"b\"]],\"levels\":[[\"d\"]],\"waiting\":[\"c\"],"
        "\"ready\":[\"d\"]}");
    expect("graph",
           "{\"tasks\":[{\"id\":1},{\"id\":2},{\"id\":3,\"blocked_by\":[2,1]},"
           "{\"id\":4,\"blocked_by\":[3]},{\"id\":5,\"blocked_by\":[2]},{\"id\":6}],"
           "\"failed\":[2,1,2]}",
           "{\"levels\":[[6]],\"ready\":[6],\"skipped\":[{\"id\":3,\"because\":1},"
           "{\"id\":4,\"because\":1},{\"id\":5,\"because\":2}]}");
    expect("graph", "{\"tasks\":[]}",
           "{\"levels\":[],\"ready\":[],\"independent\":[],\"cycles\":[],\"skipped\":[],"
           "\"edges\":[],\"ignored\":[]}");
    expect("graph",
           "{\"tasks\":[{\"id\":1,\"blocks\":[2]},{\"id\":2,\"blocked_by\":[1]},"
           "{\"id\":3,\"blocked_by\":[\"1\"]}]}",
           "{\"edges\":[{\"from\":1,\"to\":2}],\"levels\":[[1,3],[2]]}");
    expect("graph", "{\"tasks\":[{\"id\":5,\"blocked_by\":[8]}],\"failed\":[8]}",
           "{\"skipped\":[{\"id\":5,\"because\":8}],\"levels\":[],\"independent\":[]}");
    expect_error("graph", "{\"tasks\":[{\"id\":1},{\"id\":1}]}", "tasks[1].id", "twice");
    expect_error("graph", "{\"tasks\":[{\"id\":1,\"state\":\"maybe\"}]}", "tasks[0].state", "open");
    expect_error("graph", "{\"tasks\":[{\"id\":1,\"blocked_by\":[true]}]}",
                 "tasks[0].blocked_by[0]", "whole number");
    expect_error("graph", "{}", "tasks", "missing");
}

static void retry_delay_doubles_to_its_cap(void **state)
{
    (void)state;
    expect("retry-delay", "{\"attempt\":1}", "{\"delay_ms\":10000}");
    expect("retry-delay", "{\"attempt\":4.0}", "{\"delay_ms\":80000}");
    expect("retry-delay", "{\"attempt\":9223372036854775807}", "{\"delay_ms\":300000}");
    expect("retry-delay", "{\"attempt\":1,\"clean\":true}", "{\"delay_ms\":1000}");
    expect("retry-delay", "{\"attempt\":9,\"cap_ms\":45000}", "{\"delay_ms\":45000}");
    expect_error("retry-delay", "{\"attempt\":0}", "attempt", "at least 1");
    expect_error("retry-delay", "{\"attempt\":\"1\"}", "attempt", "whole number");
    expect_error("retry-delay", "{\"attempt\":1.5}", "attempt", "whole number");
}

static void merge_plan_orders_and_starts(void **state)
{
    (void)state;
    expect("merge-plan",
           "{\"queue\":[{\"id\":1,\"state\":\"conflict\"},{\"id\":2,\"state\":\"waiting\","
           "\"unmerged_deps\":2},{\"id\":3,\"state\":\"waiting\",\"unmerged_deps\":1},"
           "{\"id\":4,\"state\":\"ready\",\"completed_ms\":5},{\"id\":5,\"state\":\"ready\","
           "\"completed_ms\":4},{\"id\":6,\"state\":\"merged\"}]}",
           "{\"order\":[5,4,3,2,1],\"start\":[5]}");
    expect("merge-plan",
           "{\"queue\":[{\"id\":1,\"state\":\"merging\"},{\"id\":2,\"state\":\"ready\"}]}",
           "{\"order\":[1,2],\"start\":[]}");
    expect("merge-plan", "{\"queue\":[]}", "{\"order\":[],\"start\":[]}");
    expect_error("merge-plan", "{\"queue\":[{\"id\":1,\"state\":\"lost\"}]}", "queue[0].state",
                 "merging");
    expect_error("merge-plan", "{\"queue\":[],\"window\":0}", "window", "from 1");
}

static void input_that_is_no_object_is_refused(void **state)
{
    (void)state;
    expect_error("graph", "", NULL, "empty");
    expect_error("graph", " \n", NULL, "empty");
    expect_error("graph", "[]", NULL, "object");
    expect_error("graph", "null", NULL, "object");
    expect_error("graph", "{", NULL, "not valid JSON");
    expect_error("graph", "{} {}", NULL, "not valid JSON");
    expect_error("graph", "{\"tasks\":[],\"tasks\":[]}", NULL, "duplicate");
    expect_error("retry-delay", "{\"attempt\":NaN}", NULL, "not valid JSON");
    expect_error("retry-delay", "{\"attempt\":1e999}", NULL, "not valid JSON");
    expect_error("retry-delay", "{\"attempt\":99999999999999999999}", NULL, "not valid JSON");
    expect_error("signal", "{\"text\":\"\xff\"}", NULL, "not valid JSON");
    expect_error("retry-delay", "{\"attempt\":null}", "attempt", "missing");
    expect_error("grap", "{}", "name", "did you mean 'graph'");
    expect_error("xyzzyxyzzy", "{}", "name", "--list");
}

static void deep_and_huge_input_is_refused(void **state)
{
    (void)state;
    size_t size = DECIDE_INPUT_MAX + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    json_decref(decide_bytes("graph", text, size, 1));
    memset(text, '[', size);
    json_decref(decide_bytes("graph", text, size - 1, 1));
    free(text);
}

static void a_large_graph_is_answered(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    str_add(&text, "{\"tasks\":[");
    for (unsigned i = 0; i < 20000; i++)
        str_addf(&text, "%s{\"id\":%u,\"blocked_by\":[%u]}", i ? "," : "", i + 1, i);
    str_add(&text, "]}");
    json_t *answer = decide("graph", str_text(&text));
    assert_int_equal(json_array_size(json_object_get(answer, "levels")), 20000);
    json_decref(answer);
}

static void every_name_has_help_and_the_message_can_be_told(void **state)
{
    (void)state;
    char *list = decide_list();
    assert_non_null(strstr(list, "merge-plan"));
    for (char *line = list; *line;) {
        char name[32];
        size_t length = strcspn(line, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, line); /* names are short */
        char *help = decide_help(name);
        assert_non_null(help);
        assert_non_null(strstr(help, name));
        free(help);
        line += strcspn(line, "\n") + 1;
    }
    free(list);
    assert_null(decide_help("waltz"));
    int exit_code;
    char *answer = decide_run("waltz", "{}", 2, &exit_code),
         *message = decide_error_message(answer);
    assert_non_null(strstr(message, "waltz"));
    free(message);
    assert_null(decide_error_message("{\"why\":\"x\"}"));
    free(answer);
}

static void the_document_is_what_the_table_says(void **state)
{
    (void)state;
    Err err = {0};
    size_t length = 0;
    char *have = file_read(document_path, 1 << 20, &length, &err), *want = decide_document();
    if (!have || strcmp(have, want) != 0)
        fail_msg("%s is old: run `ninja docs-decide` in the build folder", document_path);
    free(have);
    free(want);
}

static void no_example_fails(void **state)
{
    (void)state;
    char *text = decide_document();
    assert_null(strstr(text, "\"kind\": \"bad-input\""));
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(route_answers_by_the_table),
        cmocka_unit_test(transition_answers_by_the_table),
        cmocka_unit_test(signal_lists_what_it_found),
        cmocka_unit_test(a_long_malformed_signal_is_cut_between_characters),
        cmocka_unit_test(completion_and_exit_answer_by_their_tables),
        cmocka_unit_test(verification_normalises_and_judges),
        cmocka_unit_test(select_scores_and_chooses),
        cmocka_unit_test(graph_orders_skips_and_names_cycles),
        cmocka_unit_test(retry_delay_doubles_to_its_cap),
        cmocka_unit_test(merge_plan_orders_and_starts),
        cmocka_unit_test(input_that_is_no_object_is_refused),
        cmocka_unit_test(deep_and_huge_input_is_refused),
        cmocka_unit_test(a_large_graph_is_answered),
        cmocka_unit_test(every_name_has_help_and_the_message_can_be_told),
        cmocka_unit_test(the_document_is_what_the_table_says),
        cmocka_unit_test(no_example_fails),
    };
    document_path = argc > 1 ? argv[1] : "docs/decide.md";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
