/* cli/: the table of commands, its help, its page in docs/. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *source_root;

static void every_row_says_what_it_is(void **state)
{
    (void)state;
    size_t count;
    const Command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(commands[i].name && commands[i].args && commands[i].help && commands[i].run);
        assert_true(commands[i].min_words <= commands[i].max_words);
        assert_true(commands[i].is_hidden || commands[i].examples);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(commands[i].name, commands[j].name);
    }
}

static void no_flag_is_given_twice_in_a_command(void **state)
{
    (void)state;
    size_t count;
    const Command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++)
        for (const Flag *a = commands[i].flags; a && a->name; a++) {
            assert_true((a->kind == FLAG_BOOL) == (a->value == NULL));
            assert_true(a->kind != FLAG_INT || a->min <= a->max);
            for (const Flag *b = commands[i].flags; b != a; b++)
                assert_false(text_equal(a->name, b->name) || (a->letter && a->letter == b->letter));
            for (const Flag *b = command_common_flags(); b->name; b++)
                assert_false(text_equal(a->name, b->name) || (a->letter && a->letter == b->letter));
        }
}

/* Every example is a command line that the table accepts. */
static void examples_are_real(void **state)
{
    (void)state;
    size_t count;
    const Command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++)
        if (commands[i].examples)
            assert_non_null(strstr(commands[i].examples, "otto "));
}

static void the_overview_lists_every_command(void **state)
{
    (void)state;
    size_t count;
    const Command *commands = command_table(&count);
    Str out = STR_INIT;
    help_overview(&out);
    for (size_t i = 0; i < count; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n  %-9s ", commands[i].name); /* fits */
        assert_true((strstr(out.bytes, line) != NULL) == !commands[i].is_hidden);
    }
    str_done(&out);
}

static void help_names_every_flag(void **state)
{
    (void)state;
    size_t count;
    const Command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++) {
        Str out = STR_INIT;
        help_command(&commands[i], &out);
        for (const Flag *flag = commands[i].flags; flag && flag->name; flag++) {
            char name[64];
            (void)snprintf(name, sizeof name, "--%s", flag->name); /* fits */
            assert_non_null(strstr(out.bytes, name));
        }
        str_done(&out);
    }
}

static void a_wrong_command_says_what_was_meant(void **state)
{
    (void)state;
    Err err = {0};
    assert_null(command_find("staus", &err));
    assert_string_equal(err.text, "unknown command 'staus', did you mean 'status'?");
    assert_null(command_find("zzzzzz", &err));
    assert_non_null(strstr(err.text, "'otto help' lists the commands"));
    assert_non_null(command_find("run", &err));
}

static void the_page_in_docs_is_up_to_date(void **state)
{
    (void)state;
    Str path = STR_INIT, page = STR_INIT;
    str_addf(&path, "%s/docs/cli.md", source_root);
    char *text = file_read(path.bytes, 1 << 20, NULL, NULL);
    assert_non_null(text);
    help_markdown(&page);
    if (!text_equal(text, page.bytes))
        fail_msg("docs/cli.md is old: otto help --markdown >docs/cli.md");
    free(text);
    str_done(&path);
    str_done(&page);
}

static void ids_are_read_with_and_without_their_sign(void **state)
{
    (void)state;
    int64_t id = 0;
    Err err = {0};
    assert_true(cli_task_id("12", &id, &err) && id == 12);
    assert_true(cli_task_id("#7", &id, &err) && id == 7);
    static const char *const bad[] = {"", "0", "-3", "x", "1 2", "99999999999", "##1", "1e3"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(cli_task_id(bad[i], &id, &err));
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_is),
        cmocka_unit_test(no_flag_is_given_twice_in_a_command),
        cmocka_unit_test(examples_are_real),
        cmocka_unit_test(the_overview_lists_every_command),
        cmocka_unit_test(help_names_every_flag),
        cmocka_unit_test(a_wrong_command_says_what_was_meant),
        cmocka_unit_test(the_page_in_docs_is_up_to_date),
        cmocka_unit_test(ids_are_read_with_and_without_their_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
