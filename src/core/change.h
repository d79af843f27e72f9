/* Guards against cheating: what a change did to protected paths, to tests, and outside its scope.
 *
 * Input is the list of changed files, with the removed and added lines of test files; output is
 * every guard that fired, with the lines. A guard accuses nobody: it says that a person, or a
 * changed plan, has to stand for it. Patterns are tables. Paths and lines are hostile data; glob
 * matching takes at most pattern × path steps. Pure. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "core/field.h"

/*    guard               word             meaning */
#define CHANGE_GUARDS(X)                                                                           \
    X(CHANGE_PROTECTED, "protected", "a protected path was changed")                               \
    X(CHANGE_TEST_DELETED, "test-deleted", "a test file is gone, or is no longer found as one")    \
    X(CHANGE_TEST_WEAKENED, "test-weakened", "assertions are gone")                                \
    X(CHANGE_TEST_SKIPPED, "test-skipped", "tests were switched off")                              \
    X(CHANGE_OUT_OF_SCOPE, "out-of-scope", "a file that the plan does not name was changed")       \
    X(CHANGE_BASE_TESTS, "base-tests", "the tests as they were fail against the new code")

typedef enum ChangeGuard {
#define X(guard, word, help) guard,
    CHANGE_GUARDS(X)
#undef X
        CHANGE_GUARD_COUNT
} ChangeGuard;

const char *change_guard_word(ChangeGuard guard);
const char *change_guard_help(ChangeGuard guard);
bool change_guard_find(const char *word, ChangeGuard *guard);

typedef struct ChangedLine {
    uint32_t line; /* in the old file for a removed one, in the new for an added one; 0 unknown */
    const char *text;
} ChangedLine;

typedef struct ChangedFile {
    const char *path;
    char status;          /* 'A', 'M', 'D', 'R' (also 'C' and 'T', which count as 'A' and 'M') */
    const char *old_path; /* of 'R'; NULL else */
    uint32_t added, removed;
    const ChangedLine *added_lines, *removed_lines; /* of test files; NULL: not read */
    size_t added_count, removed_count;
} ChangedFile;

typedef struct ChangeSettings {
    TextList protect; /* globs */
    TextList scope;   /* globs of the plan; empty: no limit */
    TextList tests;   /* globs of test files; empty: the table's */
} ChangeSettings;

enum { GUARD_LINES_MAX = 20, GUARD_HITS_MAX = 500 };

typedef struct GuardHit {
    ChangeGuard guard;
    const char *path;
    ChangedLine lines[GUARD_LINES_MAX]; /* the first ones */
    size_t line_count;                  /* kept above */
    size_t line_total;
    const char
        *sentence; /* "test-weakened: tests/a.py lost 2 assertions (line 4: assert x == 1)" */
} GuardHit;

typedef struct GuardHits {
    GuardHit *items;
    size_t count;
} GuardHits;

/* In the order of the files; texts are borrowed from the input or the arena. */
GuardHits change_guards(const ChangedFile *files, size_t count, const ChangeSettings *settings,
                        Arena *arena);
/* The tests of the base branch were run against the new code, and this command failed. */
GuardHit change_base_tests(const char *command, int exit_code, Arena *arena);
bool change_is_test(const char *path, const ChangeSettings *settings);
/* The lines of such a file have to be given: a test, or a source that holds tests beside the code.
 */
bool change_wants_lines(const char *path, const ChangeSettings *settings);

/* A pattern (base/glob.h) as people write it in settings: one without '/' fits a name at any depth,
 * one that names a folder (with or without '/' at its end) fits everything below it. */
bool path_matches(const char *pattern, const char *path);
bool path_matches_any(TextList patterns, const char *path);

/* The tables, for documents. A part that starts with '^' has to begin the line. */
typedef struct PatternRow {
    const char *pattern, *help;
} PatternRow;
const PatternRow *test_file_rows(size_t *count); /* globs */
const PatternRow *skip_rows(size_t *count);      /* parts of a line */
const PatternRow *assertion_rows(size_t *count); /* parts of a line */
const PatternRow *trivial_rows(size_t *count);   /* ends of a line that asserts nothing */
