/* cli/args: flags by table. */
#include "tests/test.h"

#include "base/macros.h"
#include "cli/args.h"
#include <string.h>

static const Flag own[] = {
    {"body", 'b', FLAG_TEXT, "TEXT", "", 0, 0}, {"tag", 't', FLAG_LIST, "TAG", "", 0, 0},
    {"priority", 'p', FLAG_INT, "N", "", 0, 3}, {"json", 0, FLAG_BOOL, NULL, "", 0, 0},
    {"all", 'a', FLAG_BOOL, NULL, "", 0, 0},    {0},
};
static const Flag common[] = {{"directory", 'C', FLAG_TEXT, "DIR", "", 0, 0}, {0}};

static Args args;
static Err err;

#define PARSE(...)                                                                                 \
    args_parse(own, common, (int)COUNT(((char *[]){__VA_ARGS__})), (char *[]){__VA_ARGS__}, &args, \
               &err)

static void every_way_to_write_a_flag_is_read(void **state)
{
    (void)state;
    assert_true(PARSE("Title", "--body", "text", "-t", "a", "-tb", "--tag=c", "-p", "2", "--json",
                      "-C", "/x", "-"));
    assert_int_equal(args.word_count, 2);
    assert_string_equal(args.words[0], "Title");
    assert_string_equal(args.words[1], "-");
    assert_string_equal(args_text(&args, "body", ""), "text");
    assert_string_equal(args_item(&args, "tag", 0), "a");
    assert_string_equal(args_item(&args, "tag", 1), "b");
    assert_string_equal(args_item(&args, "tag", 2), "c");
    assert_null(args_item(&args, "tag", 3));
    assert_int_equal(args_int(&args, "priority", 9), 2);
    assert_true(args_has(&args, "json"));
    assert_false(args_has(&args, "all"));
    assert_string_equal(args_text(&args, "directory", ""), "/x");
}

static void letters_join_and_the_last_may_take_a_value(void **state)
{
    (void)state;
    assert_true(PARSE("-ap3"));
    assert_true(args_has(&args, "all"));
    assert_int_equal(args_int(&args, "priority", 0), 3);
}

static void two_dashes_end_the_flags(void **state)
{
    (void)state;
    assert_true(PARSE("--json", "--", "--body", "-t"));
    assert_int_equal(args.word_count, 2);
    assert_string_equal(args.words[0], "--body");
}

static void a_value_may_look_like_a_flag(void **state)
{
    (void)state;
    assert_true(PARSE("--body", "--json", "-b", "-t"));
    assert_string_equal(args_text(&args, "body", ""), "-t");
    assert_false(args_has(&args, "json"));
}

static void a_wrong_flag_says_what_was_meant(void **state)
{
    (void)state;
    assert_false(PARSE("--bdoy", "x"));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.text, "unknown flag '--bdoy', did you mean '--body'?");
    assert_false(PARSE("-x"));
    assert_non_null(strstr(err.text, "unknown flag '-x'"));
}

static void wrong_values_name_the_flag_and_its_bounds(void **state)
{
    (void)state;
    assert_false(PARSE("--priority", "7"));
    assert_string_equal(err.text, "--priority wants a whole number from 0 to 3, not '7'");
    assert_false(PARSE("--priority", "two"));
    assert_false(PARSE("--body"));
    assert_non_null(strstr(err.text, "--body wants a value"));
    assert_false(PARSE("--json=yes"));
    assert_string_equal(err.text, "--json takes no value");
}

static void too_many_words_are_refused_not_written_over(void **state)
{
    (void)state;
    static char *many[ARGS_MOST + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (char *)"x";
    assert_false(args_parse(own, common, (int)COUNT(many), many, &args, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_a_flag_is_read),
        cmocka_unit_test(letters_join_and_the_last_may_take_a_value),
        cmocka_unit_test(two_dashes_end_the_flags),
        cmocka_unit_test(a_value_may_look_like_a_flag),
        cmocka_unit_test(a_wrong_flag_says_what_was_meant),
        cmocka_unit_test(wrong_values_name_the_flag_and_its_bounds),
        cmocka_unit_test(too_many_words_are_refused_not_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
