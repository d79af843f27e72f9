/* base/pattern: what patterns fit, which are none, and that no text makes them slow. */
#include "tests/test.h"

#include "base/macros.h"
#include "base/pattern.h"
#include "base/str.h"

/* clang-format off */
static const struct {
    const char *pattern, *text;
    bool fits;
} rows[] = {
    {"b", "abc", true},            {"b", "ac", false},
    {"", "", true},                {"", "a", true},
    {"^b", "ab", false},           {"^a", "ab", true},
    {"a$", "ab", false},           {"b$", "ab", true},
    {"^$", "", true},              {"^$", "a", false},
    {"a.c", "a\nc", true},         {"a.c", "ac", false},
    {"ab*c", "ac", true},          {"ab*c", "abbbc", true},
    {"ab+c", "ac", false},         {"ab+c", "abbc", true},
    {"ab?c", "abc", true},         {"ab?c", "abbc", false},
    {"^(a|bc)*$", "abcbca", true}, {"^(a|bc)*$", "abcb", false},
    {"^(a|b|c)$", "c", true},      {"^(a|b|c)$", "d", false},
    {"(^|;)rm", "x;rm", true},     {"(^|;)rm", "x rm", false},
    {"[a-c]x", "bx", true},        {"[a-c]x", "dx", false},
    {"[^a-c]x", "bx", false},      {"[^a-c]x", "dx", true},
    {"[]x]", "]", true},           {"[-a]", "-", true},
    {"RM", "rm", true},            {"rm", "RM", true},
    {"[a-c]X", "BX", true},        {"[^a]b", "Ab", false},
    {"\\bgit\\b", "a git b", true}, {"\\bgit\\b", "digit", false},
    {"\\bgit\\b", "git", true},    {"\\bgit\\b", "git_x", false},
    {"\\.\\*", ".*", true},        {"\\.", "a", false},
    {"(a*)*b", "aab", true},       {"(a*)+$", "b", true},
    {"(a|)b", "b", true},          {"\xff", "a\xff", true},
};
/* clang-format on */

static void patterns_fit_as_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        Arena arena = ARENA_INIT;
        const Pattern *pattern = pattern_read(&arena, rows[i].pattern);
        assert_non_null(pattern);
        if (pattern_fits(pattern, rows[i].text) != rows[i].fits)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
        arena_done(&arena);
    }
}

static void what_is_no_pattern_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"(a", "a)", "[a", "[", "[^", "a\\", "*a", "(+a)", "a{2}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        Arena arena = ARENA_INIT;
        if (pattern_read(&arena, bad[i]))
            fail_msg("'%s' was taken", bad[i]);
        arena_done(&arena);
    }
}

/* Backtracking would not end before the sun does. */
static void no_text_takes_more_than_pattern_times_text(void **state)
{
    (void)state;
    Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    for (int i = 0; i < 10000; i++)
        str_add_char(&text, 'a');
    const Pattern *pattern = pattern_read(&arena, "^((a*)*|a+a+)+(a|aa)+b");
    assert_non_null(pattern);
    assert_false(pattern_fits(pattern, str_text(&text)));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_fit_as_they_say),
        cmocka_unit_test(what_is_no_pattern_is_refused),
        cmocka_unit_test(no_text_takes_more_than_pattern_times_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
