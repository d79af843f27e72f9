/* Guesses: see guess.h. */
#include "cli/guess.h"
#include "base/file.h"
#include "base/json.h"
#include "proc/spawn.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 1024 * 1024 };

static char *read_in(const char *root, const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", root, name);
    char *text = file_read(path.bytes, FILE_MOST, NULL, NULL);
    str_done(&path);
    return text;
}

static bool is_in(const char *root, const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", root, name);
    bool is_there = access(path.bytes, F_OK) == 0;
    str_done(&path);
    return is_there;
}

/* A test script that is more than npm's placeholder. */
static const char *npm_test(const char *root, const char *file)
{
    char *text = read_in(root, file);
    json_t *json = text ? json_read(text, strlen(text), NULL) : NULL;
    const char *script = json_text(json_object_get(json, "scripts"), "test", "");
    bool is_real = *script && !strstr(script, "no test specified");
    json_decref(json);
    free(text);
    if (!is_real)
        return NULL;
    return is_in(root, "pnpm-lock.yaml") ? "pnpm test"
           : is_in(root, "yarn.lock")    ? "yarn test"
           : is_in(root, "bun.lockb")    ? "bun run test"
                                         : "npm test";
}

static bool has_target(const char *text, const char *target)
{
    size_t length = strlen(target);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, target, length) == 0 &&
            line[length + strspn(line + length, " \t")] == ':')
            return true;
    }
    return false;
}

static const char *make_test(const char *root, const char *file)
{
    char *text = read_in(root, file);
    const char *command = !text                       ? NULL
                          : has_target(text, "test")  ? "make test"
                          : has_target(text, "check") ? "make check"
                                                      : NULL;
    free(text);
    return command;
}

static const char *gradle_test(const char *root, const char *file)
{
    (void)file;
    return is_in(root, "gradlew") ? "./gradlew test" : "gradle test";
}

typedef struct GuessRow {
    const char *file, *language, *command;
    const char *(*find)(const char *root, const char *file); /* instead of command */
} GuessRow;

/* clang-format off */
static const GuessRow rows[] = { /* what says most about its tests comes first */
    {"package.json",     "JavaScript", NULL, npm_test},
    {"Cargo.toml",       "Rust",       "cargo test", NULL},
    {"go.mod",           "Go",         "go test ./...", NULL},
    {"pyproject.toml",   "Python",     "python3 -m pytest", NULL},
    {"pytest.ini",       "Python",     "python3 -m pytest", NULL},
    {"setup.py",         "Python",     "python3 -m pytest", NULL},
    {"meson.build",      "C/C++",      "meson setup build-verify && meson test -C build-verify", NULL},
    {"pom.xml",          "Java",       "mvn -q test", NULL},
    {"build.gradle",     "Java",       NULL, gradle_test},
    {"build.gradle.kts", "Kotlin",     NULL, gradle_test},
    {"mix.exs",          "Elixir",     "mix test", NULL},
    {"deno.json",        "TypeScript", "deno test", NULL},
    {"Makefile",         "make",       NULL, make_test},
    {"makefile",         "make",       NULL, make_test},
    {"GNUmakefile",      "make",       NULL, make_test},
    {"CMakeLists.txt",   "C/C++",      "cmake -B build-verify && cmake --build build-verify && ctest --test-dir build-verify", NULL},
};

static const KnownAgent agents[] = {
    {"claude",   "[claude, -p, --permission-mode, bypassPermissions]", "stdin", "works without asking for approval"},
    {"codex",    "[codex, exec, --full-auto, \"-\"]",                  "stdin", "writes in its workspace without asking"},
    {"gemini",   "[gemini, --approval-mode, yolo, -p]",                "arg",   "works without asking for approval"},
    {"opencode", "[opencode, run]",                                    "arg",   "works by its own permission settings"},
    {"qwen",     "[qwen, --approval-mode, yolo, -p]",                  "arg",   "works without asking for approval"},
    {"pi",       "[pi, -p]",                                           "arg",   "works without asking for approval"},
};
/* clang-format on */

TestGuess guess_test(const char *root)
{
    TestGuess guess = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!is_in(root, rows[i].file))
            continue;
        const char *command = rows[i].find ? rows[i].find(root, rows[i].file) : rows[i].command;
        if (command)
            return (TestGuess){rows[i].language, rows[i].file, command};
        if (!guess.language)
            guess = (TestGuess){rows[i].language, rows[i].file, NULL};
    }
    return guess;
}

const KnownAgent *known_agent(size_t index)
{
    return index < COUNT(agents) ? &agents[index] : NULL;
}

const KnownAgent *guess_agent(size_t index)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < COUNT(agents); i++)
        if (program_find(agents[i].name, getenv("PATH"), path) && index-- == 0)
            return &agents[i];
    return NULL;
}
