/* cli/guess: what files of a repository give away. */
#include "tests/test.h"

#include "base/file.h"
#include "cli/guess.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Case {
    const char *file, *text, *language, *command;
} Case;

/* clang-format off */
static const Case cases[] = {
    {"package.json", "{\"scripts\":{\"test\":\"jest\"}}", "JavaScript", "npm test"},
    {"package.json", "{\"scripts\":{\"test\":\"echo \\\"Error: no test specified\\\" && exit 1\"}}", "JavaScript", NULL},
    {"package.json", "not json", "JavaScript", NULL},
    {"Makefile", "all: x\n\ntest : all\n\techo\n", "make", "make test"},
    {"Makefile", "check:\n\techo\n", "make", "make check"},
    {"Makefile", "testing: x\n.PHONY: test\n", "make", NULL},
    {"Cargo.toml", "", "Rust", "cargo test"},
    {"go.mod", "module x\n", "Go", "go test ./..."},
    {"pyproject.toml", "", "Python", "python3 -m pytest"},
    {"pom.xml", "<project/>", "Java", "mvn -q test"},
    {"meson.build", "project('x')", "C/C++", "meson setup build-verify && meson test -C build-verify"},
    {"README.md", "# x", NULL, NULL},
};
/* clang-format on */

static void each_build_file_gives_its_test_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char folder[] = "/tmp/otto-guess-XXXXXX";
        assert_non_null(mkdtemp(folder));
        Str path = STR_INIT;
        str_addf(&path, "%s/%s", folder, cases[i].file);
        assert_true(file_write_plain(path.bytes, cases[i].text, strlen(cases[i].text), 0644, NULL));
        TestGuess guess = guess_test(folder);
        assert_true(text_equal(guess.language, cases[i].language));
        assert_true(text_equal(guess.command, cases[i].command));
        str_done(&path);
        assert_true(folder_remove(folder, NULL));
    }
}

static void a_test_command_beats_a_mere_language(void **state)
{
    (void)state;
    char folder[] = "/tmp/otto-guess-XXXXXX";
    assert_non_null(mkdtemp(folder));
    Str path = STR_INIT;
    str_addf(&path, "%s/package.json", folder);
    assert_true(file_write_plain(path.bytes, "{}", 2, 0644, NULL));
    str_clear(&path);
    str_addf(&path, "%s/Makefile", folder);
    assert_true(file_write_plain(path.bytes, "test:\n", 6, 0644, NULL));
    assert_string_equal(guess_test(folder).command, "make test");
    str_done(&path);
    assert_true(folder_remove(folder, NULL));
}

static void agents_are_found_on_path(void **state)
{
    (void)state;
    char folder[] = "/tmp/otto-guess-XXXXXX";
    assert_non_null(mkdtemp(folder));
    Str path = STR_INIT;
    str_addf(&path, "%s/qwen", folder);
    assert_true(file_write_plain(path.bytes, "#!/bin/sh\n", 10, 0755, NULL));
    char *before = strdup(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", folder, 1);
    assert_string_equal(guess_agent(0)->name, "qwen");
    assert_null(guess_agent(1));
    setenv("PATH", before, 1);
    free(before);
    str_done(&path);
    assert_true(folder_remove(folder, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_build_file_gives_its_test_command),
        cmocka_unit_test(a_test_command_beats_a_mere_language),
        cmocka_unit_test(agents_are_found_on_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
