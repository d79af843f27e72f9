/* cli/exports: everything below one folder, nobody's work lost. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/exports.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int open_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/otto-export-XXXXXX"); /* fits */
    return mkdtemp(folder) ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    Err err = {0};
    return folder_remove(folder, &err) ? 0 : -1;
}

static char *below(const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", folder, name);
    return str_take(&path);
}

static bool write_one(const char *into, int64_t task, const char *path, const char *text,
                      bool is_forced, Err *err)
{
    size_t count;
    json_t *files = json_pack("[{s:s,s:s}]", "path", path, "text", text);
    char *out = below(into);
    bool is_written = export_write(out, task, files, is_forced, &count, err);
    free(out);
    json_decref(files);
    return is_written;
}

static void assert_holds(const char *name, const char *text)
{
    Err err = {0};
    char *path = below(name), *got = file_read(path, 1000, NULL, &err);
    if (!got)
        fail_msg("%s", err.text);
    assert_string_equal(got, text);
    free(got);
    free(path);
}

static void only_plain_relative_paths_are_fine(void **state)
{
    (void)state;
    static const char *const good[] = {"a", ".status.json", "a/b/c.md", "..a", "a..", "..."};
    static const char *const bad[] = {"",  "/a",  "a/",    "a//b",   "..",   "../a",     "a/..",
                                      ".", "./a", "a/./b", "a/../b", "a\nb", "a\x1b[31m"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!export_path_is_fine(good[i]))
            fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (export_path_is_fine(bad[i]))
            fail_msg("'%s' is accepted", bad[i]);
}

static void files_are_written_and_may_be_written_again(void **state)
{
    (void)state;
    Err err = {0};
    assert_true(write_one("out", 7, "sub/a.md", "one\n", false, &err));
    assert_holds("out/sub/a.md", "one\n");
    assert_true(write_one("out", 7, "sub/a.md", "two\n", false, &err));
    assert_holds("out/sub/a.md", "two\n");
}

static void what_others_wrote_is_kept_unless_forced(void **state)
{
    (void)state;
    Err err = {0};
    char *path = below("notes.md");
    assert_true(file_write_plain(path, "mine", 4, 0644, &err));
    assert_false(write_one("", 7, "notes.md", "theirs", false, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_holds("notes.md", "mine");
    assert_true(write_one("", 7, "notes.md", "theirs", true, &err));
    assert_holds("notes.md", "theirs");
    free(path);
}

static void a_refused_file_leaves_all_others_unwritten(void **state)
{
    (void)state;
    Err err = {0};
    size_t count;
    char *path = below("b");
    assert_true(file_write_plain(path, "mine", 4, 0644, &err));
    json_t *files =
        json_pack("[{s:s,s:s},{s:s,s:s}]", "path", "a", "text", "x", "path", "b", "text", "y");
    assert_false(export_write(folder, 7, files, false, &count, &err));
    char *first = below("a"), *list = below(EXPORT_LIST);
    assert_false(path_exists(first));
    assert_false(path_exists(list));
    free(path);
    free(first);
    free(list);
    json_decref(files);
}

static void the_export_of_another_task_is_not_ours(void **state)
{
    (void)state;
    Err err = {0};
    assert_true(write_one("out", 7, "a", "seven", false, &err));
    assert_false(write_one("out", 8, "a", "eight", false, &err));
    assert_holds("out/a", "seven");
}

static void links_are_not_followed(void **state)
{
    (void)state;
    Err err = {0};
    char *outside = below("outside"), *out = below("out"), *link = below("out/sub");
    char *file = below("out/a"), *secret = below("outside/a");
    assert_true(folder_ensure(outside, 0755, &err) && folder_ensure(out, 0755, &err));
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(symlink(secret, file), 0);
    assert_false(write_one("out", 7, "sub/a", "x", true, &err));
    assert_false(write_one("out", 7, "a", "x", true, &err));
    assert_false(path_exists(secret));
    free(outside);
    free(out);
    free(link);
    free(file);
    free(secret);
}

static void a_path_that_leaves_is_refused(void **state)
{
    (void)state;
    Err err = {0};
    assert_false(write_one("out", 7, "../a", "x", true, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
}

int main(void)
{
#define IN_FOLDER(fn) cmocka_unit_test_setup_teardown(fn, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_plain_relative_paths_are_fine),
        IN_FOLDER(files_are_written_and_may_be_written_again),
        IN_FOLDER(what_others_wrote_is_kept_unless_forced),
        IN_FOLDER(a_refused_file_leaves_all_others_unwritten),
        IN_FOLDER(the_export_of_another_task_is_not_ours),
        IN_FOLDER(links_are_not_followed),
        IN_FOLDER(a_path_that_leaves_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
