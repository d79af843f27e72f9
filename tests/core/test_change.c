#include "tests/test.h"

#include "base/json.h"
#include "core/change.h"
#include <stdlib.h>
#include <string.h>

static void patterns_of_people_name_folders_and_files(void **state)
{
    (void)state;
    assert_true(path_matches(".github/**", ".github/workflows/ci.yml"));
    assert_true(path_matches(".github", ".github/workflows/ci.yml"));
    assert_true(path_matches(".github/", ".github/x"));
    assert_false(path_matches(".github/", ".github"));
    assert_true(path_matches("*.lock", "web/yarn.lock"));
    assert_false(path_matches("/*.lock", "web/yarn.lock"));
    assert_true(path_matches("./src/a.c", "src/a.c"));
    assert_false(path_matches("src/a.c", "lib/src/a.c"));
    assert_true(path_matches("node_modules", "web/node_modules/x/y.js"));
    assert_false(path_matches("", "x"));
}

/* ---- guards ---- */

typedef struct Case {
    Arena arena;
    ChangedFile files[8];
    size_t count;
    ChangeSettings settings;
} Case;

/* lines separated by newlines; NULL: not read */
static const ChangedLine *lines_of(Case *test, const char *text, size_t *count)
{
    ChangedLine *lines = arena_alloc(&test->arena, 50 * sizeof *lines);
    *count = 0;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        lines[*count] =
            (ChangedLine){(uint32_t)*count + 10, arena_strndup(&test->arena, text, length)};
        ++*count;
        text += length + (text[length] == '\n');
    }
    return lines;
}

static void file(Case *test, char status, const char *path, const char *removed, const char *added)
{
    ChangedFile *out = &test->files[test->count++];
    *out = (ChangedFile){.path = path, .status = status};
    out->removed_lines = lines_of(test, removed, &out->removed_count);
    out->added_lines = lines_of(test, added, &out->added_count);
}

/* want: guards in their order, separated by blanks */
static GuardHits expect(Case *test, const char *want)
{
    char have[500] = "";
    GuardHits hits = change_guards(test->files, test->count, &test->settings, &test->arena);
    for (size_t i = 0; i < hits.count; i++) {
        size_t used = strlen(have);
        (void)snprintf(have + used, sizeof have - used, "%s%s", i ? " " : "",
                       change_guard_word(hits.items[i].guard)); /* long enough */
        json_t *text = json_string(hits.items[i].sentence);
        assert_non_null(text); /* valid UTF-8 */
        json_decref(text);
    }
    assert_string_equal(have, want);
    return hits;
}

static void a_protected_path_is_told(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    const char *protect[] = {".github/**", "LICENSE"};
    test.settings.protect = (TextList){protect, 2};
    file(&test, 'M', ".github/ci.yml", NULL, NULL);
    file(&test, 'M', "src/a.c", NULL, NULL);
    file(&test, 'R', "COPYING", NULL, NULL);
    test.files[2].old_path = "LICENSE";
    GuardHits hits = expect(&test, "protected protected");
    assert_string_equal(hits.items[1].path, "LICENSE");
    arena_done(&test.arena);
}

static void work_outside_the_plan_is_told_but_new_tests_are_welcome(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    const char *scope[] = {"src/**"};
    file(&test, 'M', "docs/a.md", NULL, NULL);
    expect(&test, "");
    test.settings.scope = (TextList){scope, 1};
    file(&test, 'A', "tests/new_test.py", NULL, "assert x");
    file(&test, 'M', "src/a.c", NULL, NULL);
    file(&test, 'M', "tests/old_test.py", NULL, "assert y");
    expect(&test, "out-of-scope out-of-scope");
    arena_done(&test.arena);
}

static void a_deleted_test_is_told(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    file(&test, 'D', "tests/test_a.py", "def test_a():\n    assert a() == 1", NULL);
    file(&test, 'D', "src/a.py", NULL, NULL);
    file(&test, 'D', "tests/data.txt", NULL, NULL);
    GuardHits hits = expect(&test, "test-deleted test-deleted");
    assert_int_equal(hits.items[0].line_total, 2);
    assert_int_equal(hits.items[0].lines[1].line, 11);
    assert_non_null(strstr(hits.items[0].sentence, "def test_a"));
    arena_done(&test.arena);
}

static void a_renamed_or_moved_test_is_not_deleted(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    file(&test, 'R', "tests/unit/test_a.py", NULL, NULL);
    test.files[0].old_path = "tests/test_a.py";
    file(&test, 'D', "tests/test_b.py", "def test_b():\n    assert b() == 1", NULL);
    file(&test, 'A', "tests/test_c.py", NULL, "def test_b():\n        assert   b() == 1");
    expect(&test, "");
    arena_done(&test.arena);
}

static void a_test_renamed_out_of_sight_is_deleted(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    file(&test, 'R', "attic/a.py.old", NULL, NULL);
    test.files[0].old_path = "src/test_a.py";
    GuardHits hits = expect(&test, "test-deleted");
    assert_string_equal(hits.items[0].path, "src/test_a.py");
    arena_done(&test.arena);
}

static void lost_assertions_weaken_and_moved_ones_do_not(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    file(&test, 'M', "tests/a_test.go", "\tt.Errorf(\"x\")\n\tassert.Equal(t, 1, f())",
         "\t// gone");
    GuardHits hits = expect(&test, "test-weakened");
    assert_int_equal(hits.items[0].line_total, 2);
    assert_non_null(strstr(hits.items[0].sentence, "lost 2 assertions and gained 0"));
    test.count = 0; /* moved to another test, with another indent */
    file(&test, 'M', "tests/a_test.py", "  self.assertEqual(f(), 1)", "  check_f()");
    file(&test, 'M', "tests/b_test.py", NULL, "      self.assertEqual(f(), 1)");
    expect(&test, "");
    test.count = 0; /* rewritten */
    file(&test, 'M', "tests/a_test.py", "assert f() == 1", "assert f() == 2");
    expect(&test, "");
    test.count = 0; /* an import is no assertion, a name that begins alike is none either */
    file(&test, 'M', "tests/a.test.js", "import { assert } from 'x'\nconst expected = 4", NULL);
    expect(&test, "");
    test.count = 0; /* outside of tests assertions are the author's own */
    file(&test, 'M', "src/a.c", "assert(x)", NULL);
    expect(&test, "");
    arena_done(&test.arena);
}

static void a_hollow_assertion_is_none(void **state)
{
    (void)state;
    Case test = {.arena = ARENA_INIT};
    file(&test, 'M', "tests/a_test.py", "self.assertEqual(f(), 1)", "self.assertTrue(True)");
    file(&test, 'M', "tests/a.test.js", "expect(f()).toBe(1)", "  expect(true).toBe(true);");
    file(&test, 'M', "tests/b_test.py", "assert f() == 1", "# assert f() == 1");
    expect(&test, "test-weakened test-weakened test-weakened");
    arena_done(&test.arena);
}

static void a_test_switched_off_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *path, *line;
        bool is_skip;
    } cases[] = {
        {"tests/test_a.py", "@pytest.mark.skip(reason='x')", true},
        {"a.test.js", "  it.skip('works', () => {", true},
        {"a.test.js", "  xit('works', () => {", true},
        {"a.test.js", "  exit('works')", false},
        {"a.test.js", "describe.only('x', () => {", true},
        {"a_test.go", "\tt.Skip(\"later\")", true},
        {"src/lib.rs", "    #[ignore]", true},
        {"src/ATest.java", "@Disabled(\"x\")", true},
        {"a_test.cc", "TEST(A, DISABLED_b) {", true},
        {"tests/a.sh", "return 77", true},
        {"tests/a.sh", "return 770", false},
        {"tests/a.c", "    skip();", true},
        {"tests/a.rs", "let x = items.skip(1);", false},
        {"tests/a.py", "model.fit(x)", false},
        {"tests/a.js", "// it.skip was here", false},
        {"tests/a.py", "# @pytest.mark.skip", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Case test = {.arena = ARENA_INIT};
        assert_true(change_wants_lines(cases[i].path, &test.settings));
        file(&test, 'M', cases[i].path, NULL, cases[i].line);
        GuardHits hits = expect(&test, cases[i].is_skip ? "test-skipped" : "");
        if (cases[i].is_skip)
            assert_int_equal(hits.items[0].lines[0].line, 10);
        arena_done(&test.arena);
    }
    Case test = {.arena = ARENA_INIT}; /* it was there before */
    file(&test, 'M', "tests/a.py", "@pytest.mark.skip", "  @pytest.mark.skip");
    expect(&test, "");
    arena_done(&test.arena);
}

static void expect_pattern(const char *pattern, bool is_added, const char *want)
{
    char line[100];
    Case test = {.arena = ARENA_INIT};
    (void)snprintf(line, sizeof line, "%sx", pattern + (*pattern == '^')); /* fits */
    file(&test, 'M', "tests/a", is_added ? NULL : line, is_added ? line : NULL);
    expect(&test, want);
    arena_done(&test.arena);
}

static void every_pattern_finds_its_own_line(void **state)
{
    (void)state;
    size_t count;
    const PatternRow *rows = skip_rows(&count);
    for (size_t i = 0; i < count; i++)
        expect_pattern(rows[i].pattern, true, "test-skipped");
    rows = assertion_rows(&count);
    for (size_t i = 0; i < count; i++)
        expect_pattern(rows[i].pattern, false, "test-weakened");
    rows = trivial_rows(&count);
    for (size_t i = 0; i < count; i++) {
        Case test = {.arena = ARENA_INIT};
        file(&test, 'M', "tests/a", rows[i].pattern, NULL);
        expect(&test, "");
        arena_done(&test.arena);
    }
}

static void own_patterns_say_what_a_test_is(void **state)
{
    (void)state;
    const char *tests[] = {"checks/**"};
    ChangeSettings settings = {.tests = {tests, 1}}, none = {.tests = {NULL, 0}};
    assert_true(change_is_test("checks/a", &settings));
    assert_false(change_is_test("tests/a", &settings));
    assert_true(change_is_test("web/src/App.spec.tsx", &none));
    assert_true(change_is_test("pkg/x_test.go", &none));
    assert_true(change_is_test("src/UserTest.java", &none));
    assert_false(change_is_test("src/contest.java", &none));
    assert_false(change_is_test("src/latest.c", &none));
}

static void many_hits_and_hostile_bytes_are_bounded(void **state)
{
    (void)state;
    enum { FILES = 2000 };
    Arena arena = ARENA_INIT;
    const char *protect[] = {"**"}, *scope[] = {"nothing"};
    ChangeSettings settings = {.protect = {protect, 1}, .scope = {scope, 1}};
    ChangedFile *files = arena_alloc(&arena, FILES * sizeof *files);
    ChangedLine line = {1, "assert \xff\xfe\x1b[31m x"};
    for (size_t i = 0; i < FILES; i++)
        files[i] = (ChangedFile){.path = "tests/\xff\x01"
                                         "a",
                                 .status = 'D',
                                 .removed_lines = &line,
                                 .removed_count = 1};
    GuardHits hits = change_guards(files, FILES, &settings, &arena);
    assert_in_range(hits.count, GUARD_HITS_MAX, GUARD_HITS_MAX + 4);
    json_t *text = json_string(hits.items[1].sentence);
    assert_non_null(text);
    assert_null(strchr(hits.items[1].sentence, '\x1b'));
    json_decref(text);
    assert_non_null(strstr(change_base_tests("npm test", 1, &arena).sentence, "npm test"));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_of_people_name_folders_and_files),
        cmocka_unit_test(a_protected_path_is_told),
        cmocka_unit_test(work_outside_the_plan_is_told_but_new_tests_are_welcome),
        cmocka_unit_test(a_deleted_test_is_told),
        cmocka_unit_test(a_renamed_or_moved_test_is_not_deleted),
        cmocka_unit_test(a_test_renamed_out_of_sight_is_deleted),
        cmocka_unit_test(lost_assertions_weaken_and_moved_ones_do_not),
        cmocka_unit_test(a_hollow_assertion_is_none),
        cmocka_unit_test(a_test_switched_off_is_told),
        cmocka_unit_test(every_pattern_finds_its_own_line),
        cmocka_unit_test(own_patterns_say_what_a_test_is),
        cmocka_unit_test(many_hits_and_hostile_bytes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
