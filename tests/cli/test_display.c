/* cli/display: what is left on a screen, at several sizes. */
#include "tests/test.h"

#include "cli/display.h"
#include "tests/cli/screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Screen screen;

static json_t *status_of(int running, int done)
{
    json_t *rows = json_array();
    for (int i = 0; i < running; i++)
        json_array_append_new(
            rows, json_pack("{s:i,s:s,s:s,s:i,s:i,s:i,s:s}", "task", 10 + i, "title",
                            "A title that is rather long, with 日本語 and \x1b[31m in it", "state",
                            "working", "turn", 2, "max_turns", 50, "elapsed_ms", 1000 * (i + done),
                            "last_line", "compiling \x1b]0;x\x07 everything, line after line"));
    return json_pack(
        "{s:{s:s,s:s,s:s,s:i,s:i},s:{s:i,s:i,s:i,s:i},s:o,s:[{s:i,s:s,s:s}],s:[{s:i,s:s,s:s,s:s}]}",
        "project", "name", "shop", "target", "main", "autopilot", "running", "slots", 4,
        "slots_used", running, "counts", "done", done, "pending", 5, "running", running, "active",
        running, "running", rows, "merging", "task", 7, "title", "seven", "state", "proving",
        "needs_you", "task", 5, "title", "five", "text", "Which layout?", "command",
        "otto answer 5 \"...\"");
}

static void draw(Display *display, int64_t elapsed_ms)
{
    Str out = STR_INIT;
    display_draw(display, elapsed_ms, &out);
    screen_write(&screen, str_text(&out), out.length);
    str_done(&out);
}

static void event(Display *display, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    display_event(display, json);
    json_decref(json);
}

static void finish(Display *display)
{
    Str out = STR_INIT;
    display_end(display, &out);
    screen_write(&screen, str_text(&out), out.length);
    str_done(&out);
    display_free(display);
}

static void the_block_is_drawn_once_and_lines_stay_above_it(void **state)
{
    (void)state;
    static const int widths[] = {20, 40, 80, 200};
    for (size_t w = 0; w < COUNT(widths); w++) {
        Term term = {.is_terminal = true,
                     .has_colour = true,
                     .has_utf8 = true,
                     .width = widths[w],
                     .height = 24};
        Display *display = display_new(&term, "otto");
        screen_open(&screen, (size_t)widths[w]);
        display_name(display, 3, "Three");
        for (int i = 0; i < 30; i++) {
            json_t *status = status_of(i % 4, i);
            display_snapshot(display, status);
            json_decref(status);
            if (i % 5 == 0)
                event(display,
                      "{\"event\":\"landed\",\"task\":3,\"state\":\"done\",\"why\":\"w\"}");
            draw(display, i * 1000);
        }
        assert_true(screen.is_cursor_hidden);
        assert_int_equal(screen_count(&screen, "shop"), 1);
        assert_int_equal(screen_count(&screen, "#3 Three"), 6);
        finish(display);
        assert_false(screen.is_cursor_hidden);
        assert_int_equal(screen_count(&screen, "shop"), 0);
        assert_int_equal(screen_count(&screen, "#3 Three"), 6);
    }
}

static void three_rows_are_enough(void **state)
{
    (void)state;
    Term term = {.is_terminal = true, .width = 40, .height = 3};
    Display *display = display_new(&term, "otto");
    screen_open(&screen, 40);
    for (int i = 0; i < 5; i++) {
        json_t *status = status_of(4, i);
        display_snapshot(display, status);
        json_decref(status);
        draw(display, i * 1000);
        assert_true(screen.row <= 1); /* two lines of block, the last row stays free */
    }
    finish(display);
    assert_int_equal(screen.row, 0);
}

static void more_running_than_rows_are_counted(void **state)
{
    (void)state;
    Term term = {.is_terminal = true, .width = 60, .height = 7};
    Display *display = display_new(&term, "otto");
    screen_open(&screen, 60);
    json_t *status = status_of(9, 1);
    display_snapshot(display, status);
    json_decref(status);
    draw(display, 0);
    assert_int_equal(screen_count(&screen, "and 6 more"), 1);
    finish(display);
}

static void nothing_new_draws_nothing(void **state)
{
    (void)state;
    Term term = {.is_terminal = true, .width = 80, .height = 24};
    Display *display = display_new(&term, "otto");
    Str out = STR_INIT;
    json_t *status = status_of(2, 1);
    display_snapshot(display, status);
    display_draw(display, 5000, &out);
    assert_true(out.length > 0);
    str_clear(&out);
    display_snapshot(display, status);
    display_draw(display, 5000, &out);
    assert_int_equal(out.length, 0);
    json_decref(status);
    str_done(&out);
    display_free(display);
}

/* A real terminal wraps what was drawn when it becomes narrower; the test does it the same way. */
static void a_narrower_terminal_leaves_no_mess(void **state)
{
    (void)state;
    Term term = {.is_terminal = true, .width = 100, .height = 24};
    Display *display = display_new(&term, "otto");
    Str out = STR_INIT;
    json_t *status = status_of(3, 1);
    display_snapshot(display, status);
    display_draw(display, 1000, &out);
    screen_open(&screen, 37); /* the same bytes, wrapped at the new width */
    screen_write(&screen, out.bytes, out.length);
    str_done(&out);
    display_resize(display, 37, 24);
    draw(display, 2000);
    assert_int_equal(screen_count(&screen, "shop"), 1);
    assert_int_equal(screen_count(&screen, "Which"), 1);
    json_decref(status);
    finish(display);
    assert_int_equal(screen.row, 0);
}

static void a_key_that_the_terminal_echoes_leaves_no_mess(void **state)
{
    (void)state;
    for (int width = 20; width < 90; width++) {
        Term term = {.is_terminal = true, .width = width, .height = 24};
        Display *display = display_new(&term, "otto");
        screen_open(&screen, (size_t)width);
        json_t *status = status_of(3, 1);
        display_snapshot(display, status);
        json_decref(status);
        draw(display, 1000);
        screen_write(&screen, "^C", 2);
        display_echoed(display, 2);
        display_say(display, STYLE_WARN, "pausing");
        draw(display, 1000);
        assert_int_equal(screen_count(&screen, "shop"), 1);
        assert_int_equal(screen_count(&screen, "^C"), 0);
        finish(display);
        assert_int_equal(screen.row, 1);
    }
}

static void a_pipe_gets_plain_lines_only(void **state)
{
    (void)state;
    Term term = {.width = 80, .height = 24};
    Display *display = display_new(&term, "otto");
    Str out = STR_INIT;
    json_t *status = status_of(2, 1);
    display_snapshot(display, status);
    json_decref(status);
    display_name(display, 4, "Four \x1b[2J");
    event(display, "{\"event\":\"turn.started\",\"task\":4,\"turn\":1,\"state\":\"active\"}");
    event(display, "{\"event\":\"turn.ended\",\"task\":4,\"state\":\"failed\",\"why\":\"exit "
                   "code 1 \\u001b[2J\"}");
    display_draw(display, 1000, &out);
    display_end(display, &out);
    assert_null(strchr(out.bytes, '\x1b'));
    assert_string_equal(out.bytes, "> #4 Four \\x1b[2J works\n"
                                   "x #4 Four \\x1b[2J failed: exit code 1 \\x1b[2J\n");
    str_done(&out);
    display_free(display);
}

static void each_important_event_has_its_line(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"{\"event\":\"landed\",\"task\":1,\"state\":\"done\",\"why\":\"w\",\"data\":"
         "{\"tip\":\"0123456789abcdef\",\"delivered\":1}}",
         "+ #1 One landed 012345678\n"},
        {"{\"event\":\"landed\",\"task\":1,\"state\":\"done\",\"data\":{\"delivered\":0,"
         "\"note\":\"your checkout is not clean\"}}",
         "+ #1 One landed: your checkout is not clean\n"},
        {"{\"event\":\"turn.ended\",\"task\":1,\"state\":\"timeout\",\"why\":\"50 turns (D-43)\"}",
         "x #1 One timed out: 50 turns\n"},
        {"{\"event\":\"signal\",\"task\":1,\"state\":\"blocked\",\"why\":\"no key\"}",
         "! #1 One blocked: no key\n"},
        {"{\"event\":\"snapshot.taken\",\"task\":1,\"state\":\"active\",\"run_state\":\"asking\","
         "\"why\":\"which?\"}",
         "? #1 One asks: which?\n"},
        {"{\"event\":\"merge.conflict\",\"task\":1,\"state\":\"active\",\"data\":{\"files\":\"a."
         "c\"}}",
         "~ #1 One conflict: a.c\n"},
        {"{\"event\":\"gate.ended\",\"task\":1,\"state\":\"active\",\"data\":{\"verdict\":2},"
         "\"why\":\"npm test\"}",
         "~ #1 One checks failed: npm test\n"},
        {"{\"event\":\"gate.ended\",\"task\":1,\"state\":\"active\",\"data\":{\"verdict\":1}}", ""},
        {"{\"event\":\"pause\",\"project\":1,\"why\":\"3 failures\"}", "= pausing: 3 failures\n"},
        {"{\"event\":\"tick\"}", ""},
        {"{\"event\":\"signal\",\"task\":1,\"state\":\"active\"}", ""},
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        Term term = {.width = 80, .height = 24};
        Display *display = display_new(&term, "otto");
        Str out = STR_INIT;
        display_name(display, 1, "One");
        display_state(display, 1, "active");
        event(display, pairs[i][0]);
        display_end(display, &out);
        assert_string_equal(str_text(&out), pairs[i][1]);
        str_done(&out);
        display_free(display);
    }
}

static void a_question_is_told_in_the_words_of_the_agent(void **state)
{
    (void)state;
    Term term = {.width = 80, .height = 24};
    Display *display = display_new(&term, "otto");
    Str out = STR_INIT;
    display_name(display, 1, "One");
    display_state(display, 1, "active");
    event(display, "{\"event\":\"signal\",\"task\":1,\"state\":\"active\",\"data\":{\"type\":3,"
                   "\"payload\":\"Which layout?\"}}");
    event(display, "{\"event\":\"snapshot.taken\",\"task\":1,\"state\":\"active\","
                   "\"run_state\":\"asking\",\"why\":\"the agent asks\"}");
    display_end(display, &out);
    assert_string_equal(str_text(&out), "? #1 One asks: Which layout?\n");
    str_done(&out);
    display_free(display);
}

static void a_review_is_told_once_and_asks_nothing(void **state)
{
    (void)state;
    Term term = {.width = 80, .height = 24};
    Display *display = display_new(&term, "otto");
    CLEANUP(str_done) Str out = STR_INIT;
    display_name(display, 1, "One");
    event(display, "{\"event\":\"gate.ended\",\"task\":1,\"state\":\"review\","
                   "\"run_state\":\"asking\",\"why\":\"a guard fired\"}");
    event(display, "{\"event\":\"turn.ended\",\"task\":1,\"state\":\"review\","
                   "\"run_state\":\"asking\",\"why\":\"the agent ended with exit code 0\"}");
    display_draw(display, 0, &out);
    assert_string_equal(str_text(&out), "? #1 One waits for approval: a guard fired\n");
    display_free(display);
}

static void lines_of_a_narrow_terminal_break_between_words(void **state)
{
    (void)state;
    Term term = {.is_terminal = true, .width = 30, .height = 24};
    Display *display = display_new(&term, "otto");
    CLEANUP(str_done) Str out = STR_INIT;
    display_name(display, 1, "One");
    event(display, "{\"event\":\"gate.ended\",\"task\":1,\"state\":\"failed\","
                   "\"why\":\"the checks were red again and again\"}");
    display_draw(display, 0, &out);
    assert_non_null(
        strstr(str_text(&out), "x #1 One failed: the checks\n  were red again and again\n"));
    display_free(display);
}

static void a_state_is_told_once(void **state)
{
    (void)state;
    Term term = {.width = 80, .height = 24};
    Display *display = display_new(&term, "otto");
    Str out = STR_INIT;
    display_name(display, 1, "One");
    event(display, "{\"event\":\"turn.ended\",\"task\":1,\"state\":\"failed\",\"why\":\"x\"}");
    event(display, "{\"event\":\"retired\",\"task\":1,\"state\":\"failed\",\"why\":\"kept\"}");
    display_end(display, &out);
    assert_string_equal(str_text(&out), "x #1 One failed: x\n");
    str_done(&out);
    display_free(display);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_is_drawn_once_and_lines_stay_above_it),
        cmocka_unit_test(three_rows_are_enough),
        cmocka_unit_test(more_running_than_rows_are_counted),
        cmocka_unit_test(nothing_new_draws_nothing),
        cmocka_unit_test(a_narrower_terminal_leaves_no_mess),
        cmocka_unit_test(a_key_that_the_terminal_echoes_leaves_no_mess),
        cmocka_unit_test(a_pipe_gets_plain_lines_only),
        cmocka_unit_test(each_important_event_has_its_line),
        cmocka_unit_test(a_question_is_told_in_the_words_of_the_agent),
        cmocka_unit_test(a_review_is_told_once_and_asks_nothing),
        cmocka_unit_test(lines_of_a_narrow_terminal_break_between_words),
        cmocka_unit_test(a_state_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
