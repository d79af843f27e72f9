/* base/: strings, YAML with lines, errors, files. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "base/yaml.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void errors_grow_on_the_way_up(void **state)
{
    (void)state;
    Err err = {0};
    assert_false(err_set(&err, ERR_GIT, "exit %d", 128));
    assert_false(err_add(&err, "worktree for '%s'", "x"));
    assert_string_equal(err.text, "worktree for 'x': exit 128");
    assert_int_equal(err_exit_code(err.kind), 2);
    assert_int_equal(err_http_status(ERR_NOT_FOUND), 404);
}

static void a_sentence_longer_than_its_room_is_cut(void **state)
{
    (void)state;
    Err err = {0};
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_false(err_set(&err, ERR_IO, "%s", big));
    assert_false(err_add(&err, "%s", big));
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void json_strings_are_always_valid(void **state)
{
    (void)state;
    Str out = STR_INIT;
    str_add_json(&out, "a\"b\\\n\x01\xff\xc3\xa9");
    assert_string_equal(str_text(&out), "\"a\\\"b\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\"");
    str_done(&out);
}

static void control_bytes_never_reach_a_terminal(void **state)
{
    (void)state;
    Str out = STR_INIT;
    const char *evil = "a\x1b[31m\n\xc2\x9b!";
    str_add_safe(&out, evil, strlen(evil), false);
    assert_string_equal(str_text(&out), "a\\x1b[31m\\x0a\\x9b!");
    str_done(&out);
}

static void whole_numbers_only(void **state)
{
    (void)state;
    int64_t n = 7;
    assert_true(text_to_int("-12", &n));
    assert_int_equal(n, -12);
    assert_false(text_to_int("12x", &n));
    assert_false(text_to_int("", &n));
    assert_false(text_to_int("99999999999999999999", &n));
    assert_int_equal(n, -12);
}

static void close_words_are_found(void **state)
{
    (void)state;
    assert_int_equal(text_distance("statsu", "status", 3), 2);
    assert_int_equal(text_distance("abc", "abc", 3), 0);
    assert_int_equal(text_distance("abcdefgh", "zzzzzzzz", 3), 4);
}

static void yaml_knows_the_line_of_each_key(void **state)
{
    (void)state;
    Err err = {0};
    YamlDoc doc;
    const char *text = "a: 1\nlimits:\n  max_turns: 5\n  ok: true\nlist:\n  - {x: 1.5}\n";
    assert_true(yaml_read(text, strlen(text), &doc, &err));
    assert_int_equal(yaml_line(&doc, "limits.max_turns"), 3);
    assert_int_equal(yaml_line(&doc, "list[0].x"), 6);
    assert_int_equal(json_int(json_object_get(doc.root, "limits"), "max_turns", 0), 5);
    assert_true(json_flag(json_object_get(doc.root, "limits"), "ok", false));
    yaml_done(&doc);
}

static void bad_yaml_names_its_line(void **state)
{
    (void)state;
    static const char *const bad[] = {"a: 1\nb: [", "a: 1\na: 2\n", "a: &x 1\nb: *x\n", "\tx: 1",
                                      "a: &x 1\n",  "a: !!str 1\n", "a: 1\n---\nb: 2\n"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        Err err = {0};
        YamlDoc doc;
        assert_false(yaml_read(bad[i], strlen(bad[i]), &doc, &err));
        assert_true(text_starts(err.text, "line "));
    }
}

static void files_are_replaced_whole_and_folders_removed_without_following_links(void **state)
{
    (void)state;
    Err err = {0};
    char root[] = "/tmp/otto-base-XXXXXX";
    assert_non_null(mkdtemp(root));
    Arena arena = ARENA_INIT;
    char *deep = arena_printf(&arena, "%s/a/b/c", root);
    char *file = arena_printf(&arena, "%s/a/b/c/f", root);
    char *outside = arena_printf(&arena, "%s/keep", root);
    char *link = arena_printf(&arena, "%s/a/b/link", root);
    assert_true(folder_ensure(deep, 0700, &err));
    assert_true(folder_ensure(outside, 0700, &err));
    assert_int_equal(symlink(outside, link), 0);
    assert_true(file_write_atomic(file, "hi", 2, 0600, &err));
    size_t length = 0;
    char *text = file_read(file, 10, &length, &err);
    assert_string_equal(text, "hi");
    free(text);
    assert_null(file_read(file, 1, &length, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    assert_true(path_is_inside(deep, root));
    assert_false(path_is_inside(link, deep));
    assert_true(folder_remove(arena_printf(&arena, "%s/a", root), &err));
    assert_false(path_exists(deep));
    assert_true(path_exists(outside));
    assert_true(folder_remove(root, &err));
    assert_false(folder_remove("/", &err));
    arena_done(&arena);
}

static void an_arena_is_emptied_at_once_and_used_again(void **state)
{
    (void)state;
    Arena arena = ARENA_INIT;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5000; i++)
            assert_int_equal(arena_strdup(&arena, "text")[4], '\0');
        arena_reset(&arena);
    }
    assert_string_equal(arena_printf(&arena, "%d-%s", 4, "x"), "4-x");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_grow_on_the_way_up),
        cmocka_unit_test(a_sentence_longer_than_its_room_is_cut),
        cmocka_unit_test(json_strings_are_always_valid),
        cmocka_unit_test(control_bytes_never_reach_a_terminal),
        cmocka_unit_test(whole_numbers_only),
        cmocka_unit_test(close_words_are_found),
        cmocka_unit_test(yaml_knows_the_line_of_each_key),
        cmocka_unit_test(bad_yaml_names_its_line),
        cmocka_unit_test(files_are_replaced_whole_and_folders_removed_without_following_links),
        cmocka_unit_test(an_arena_is_emptied_at_once_and_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
