/* What a commit changed against another: for reports, for the guards and for a reviewer's prompt.
 *
 * Plumbing in the bare hub: no attributes of the commit are followed, no program of a repository is
 * started, names and contents are data. Everything is bounded; what was left out is said. */
#pragma once
#include "git/hub.h"

enum {
    CHANGE_FILES = 5000,          /* listed; more are only counted */
    CHANGE_PATH_BYTES = 1 << 20,  /* of all listed names */
    CHANGE_PATCH_BYTES = 60000,   /* of the patch, when the caller gives none */
    CHANGE_PATCH_MOST = 1 << 20,  /* that a caller may ask for */
    CHANGE_TESTS = 200,           /* test files whose lines are shown */
    CHANGE_LINE_BYTES = 2000,     /* of one line */
    CHANGE_TEST_LINES = 2000,     /* of one file, removed or added */
    CHANGE_TEST_BYTES = 64 << 10, /* of one file, removed or added */
    CHANGE_TEXT_BYTES = 2 << 20,  /* of all lines */
    CHANGE_PATTERNS = 1000,
};

/* change {hub, base, commit, tests?: [pattern], patch_bytes?} -> {
 *   files: [{path, status, old?, added, removed, binary?}],
 *   totals: {files, lines, dirs},
 *   tests: [{path, status, old?, removed: [{line, text}], added: [{line, text}], binary?, cut?}],
 *   patch, truncated}
 * base "" or absent: against nothing. status: A added, M modified, D deleted, R renamed (old: from
 * where), T its type changed. added and removed count lines, 0 for binary files. totals count all
 * of it: lines added and removed, folders with a changed file. tests: those of the files that fit a
 * pattern (base/glob.h) by their new or old name. Their lines are shown also when git takes the
 * file for binary (one NUL byte is enough for that); cut: not all of them are there, so nobody can
 * say what the rest does. patch: unified, cut at a line with a note; patch_bytes 0: none.
 * truncated: any of the bounds was met. */
bool change_job(const json_t *in, json_t *out, Err *err);
