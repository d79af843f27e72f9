/* cli/view: where a task stands in its workflow, as people read it. */
#include "tests/test.h"

#include "cli/view.h"
#include <string.h>

static const Term plain = {.width = 80};

static json_t *read_json(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    return json;
}

static void a_step_shows_the_row_that_decided_and_its_sentence(void **state)
{
    (void)state;
    Str out = STR_INIT;
    json_t *steps =
        read_json("[{\"phase\":\"check\",\"checkpoint\":\"post-exec\",\"result\":"
                  "\"NEEDS_FIX\",\"next\":\"exec\",\"status\":\"executing\",\"stage\":2,"
                  "\"row\":\"check-fix\",\"why\":\"overall 0.62 is below 0.75\","
                  "\"commit\":\"0123456789abcdef\"}]");
    view_steps(&plain, steps, &out);
    assert_string_equal(
        out.bytes, "steps\n  check@post-exec NEEDS_FIX -> exec, executing, stage 2, 012345678\n"
                   "      check-fix: overall 0.62 is below 0.75\n");
    json_decref(steps);
    str_done(&out);
}

static void no_steps_are_no_lines(void **state)
{
    (void)state;
    Str out = STR_INIT;
    json_t *steps = json_array();
    view_steps(&plain, steps, &out);
    view_steps(&plain, NULL, &out);
    assert_int_equal(out.length, 0);
    json_decref(steps);
    str_done(&out);
}

static void a_run_of_the_loop_needs_no_line_of_its_own(void **state)
{
    (void)state;
    Str out = STR_INIT;
    json_t *run = read_json("{\"workflow\":\"loop\",\"phase\":\"work\",\"status\":\"active\"}");
    view_flow(&plain, run, &out);
    assert_int_equal(out.length, 0);
    json_decref(run);
    run = read_json("{\"workflow\":\"staged\",\"phase\":\"exec\",\"checkpoint\":\"mid-exec\","
                    "\"status\":\"executing\",\"stage\":3,\"convergence\":0.5}");
    view_flow(&plain, run, &out);
    assert_string_equal(out.bytes,
                        "    staged: exec@mid-exec executing stage 3, convergence 0.50\n");
    json_decref(run);
    str_done(&out);
}

static void a_running_task_shows_phase_status_and_stage(void **state)
{
    (void)state;
    Str out = STR_INIT;
    json_t *row = read_json("{\"task\":7,\"title\":\"T\",\"state\":\"working\",\"turn\":2,"
                            "\"max_turns\":50,\"workflow\":\"staged\",\"phase\":\"exec\","
                            "\"status\":\"executing\",\"stage\":2}");
    view_running(&plain, row, 120, &out);
    assert_non_null(strstr(out.bytes, "exec executing stage 2"));
    str_clear(&out);
    for (size_t width = 1; width < 100; width++) {
        str_clear(&out);
        view_running(&plain, row, width, &out);
        assert_true(text_columns(str_text(&out), out.length) <= width);
    }
    json_decref(row);
    str_done(&out);
}

static void words_of_others_send_nothing_to_the_terminal(void **state)
{
    (void)state;
    Str out = STR_INIT;
    json_t *steps = read_json("[{\"phase\":\"\\u001b[2J\",\"result\":\"\\u0007\",\"row\":\"a\\nb\","
                              "\"why\":\"\\u001b]0;x\\u0007\"}]");
    view_steps(&plain, steps, &out);
    assert_null(memchr(out.bytes, '\x1b', out.length));
    assert_null(memchr(out.bytes, '\x07', out.length));
    json_decref(steps);
    str_clear(&out);
    str_add_first(&out, "one\x1b[1m\ntwo");
    assert_null(memchr(out.bytes, '\x1b', out.length));
    assert_null(strstr(out.bytes, "two"));
    str_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_shows_the_row_that_decided_and_its_sentence),
        cmocka_unit_test(no_steps_are_no_lines),
        cmocka_unit_test(a_run_of_the_loop_needs_no_line_of_its_own),
        cmocka_unit_test(a_running_task_shows_phase_status_and_stage),
        cmocka_unit_test(words_of_others_send_nothing_to_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
