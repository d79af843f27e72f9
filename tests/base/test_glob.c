/* base/glob: what patterns fit, and that none of them is slow. */
#include "tests/test.h"

#include "base/glob.h"
#include "base/macros.h"
#include "base/str.h"

/* clang-format off */
static const struct {
    const char *pattern, *path;
    bool fits;
} rows[] = {
    {"*.c", "a.c", true},               {"*.c", "deep/er/a.c", true},
    {"*.c", "a.h", false},              {"*.c", "a.c/x", true},
    {"/*.c", "a.c", true},              {"/*.c", "b/a.c", false},
    {"src/*.c", "src/a.c", true},       {"src/*.c", "src/b/a.c", false},
    {"src/**", "src/a", true},          {"src/**", "src/a/b/c", true},
    {"src/**", "src", false},           {"src/**", "srca/b", false},
    {"src/", "src/a/b", true},          {"src/", "x/src/a", true},
    {"src", "src/a/b", true},           {"src", "x/src/a", true},
    {"/src", "x/src/a", false},         {"a/src", "a/src/b", true},
    {"src", "srca/b", false},           {"a/src", "x/a/src/b", false},
    {"**/", "a", false},                {"**/", "a/b", true},
    {"src/", "src", false},             {"a/src/", "x/a/src/b", false},
    {"**/test/*", "test/a", true},      {"**/test/*", "x/y/test/a", true},
    {"**/test/*", "xtest/a", false},    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},        {"a/**/b", "a/xb", false},
    {"a**b", "a/x/b", true},            {"**", "any/thing", true},
    {"test_?.py", "t/test_1.py", true}, {"test_?.py", "test_12.py", false},
    {"a?b", "a/b", false},              {"a*b", "a/b", false},
    {"[ab]*.txt", "b1.txt", true},      {"[!ab]*.txt", "b1.txt", false},
    {"[!ab]*.txt", "c1.txt", true},     {"[a-c]x", "bx", true},
    {"[]x]", "]", true},                {"x[!a]y", "x/y", false},
    {"[a", "[a", true},                 {"\\*.c", "*.c", true},
    {"\\*.c", "a.c", false},            {"a\\", "a\\", true},
    {".github/**", ".github/w/x.yml", true},
    {"*_test.*", "pkg/x_test.go", true},
    {"", "", true},                     {"", "a", false},
    {"A.c", "a.c", false},              {"b\xff*", "b\xff\xfe", true},
};
/* clang-format on */

static void patterns_fit_as_people_expect(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (glob_fits(rows[i].pattern, rows[i].path) != rows[i].fits)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].path);
    const char *const list[] = {"*.c", "docs/"};
    assert_true(glob_fits_any(list, 2, "docs/x.md"));
    assert_false(glob_fits_any(list, 2, "x.md"));
}

/* Backtracking would not end before the sun does. */
static void no_pattern_takes_more_than_pattern_times_path(void **state)
{
    (void)state;
    CLEANUP(str_done) Str pattern = STR_INIT, path = STR_INIT;
    for (int i = 0; i < 200; i++) {
        str_add(&pattern, i % 2 ? "*a" : "**a");
        str_add(&path, "aaaaaaaaaa");
    }
    str_add(&pattern, "b");
    assert_false(glob_fits(str_text(&pattern), str_text(&path)));
    str_add(&path, "b");
    assert_true(glob_fits(str_text(&pattern), str_text(&path)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_fit_as_people_expect),
        cmocka_unit_test(no_pattern_takes_more_than_pattern_times_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
