/* A folder with a repository, a hub and room for workspaces; removed at the end.
 *
 * The repository has the branch main with the files a.txt, b.txt, dir/c.txt and a .gitignore for
 * "*.log" and "ignored/". Shell snippets see T (the folder), R (the repository), H (the hub) and
 * run with `set -e`. */
#pragma once
#include "tests/test.h"

#include "base/arena.h"
#include "base/json.h"
#include <limits.h>

typedef struct Fixture {
    char dir[PATH_MAX];
    const char *repo, *hub, *root, *gate, *trash;
    Arena arena;
    json_t *kept; /* results, freed at the end */
} Fixture;

int fixture_open(void **state);
int fixture_close(void **state);
#define GIT_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

/* Runs shell text; it must end with 0. Gives its output without the last newline. */
const char *sh(Fixture *f, const char *format, ...) PRINTF(2, 3);
/* Runs a job in this process; takes over in. The result belongs to the fixture. */
const json_t *job(Fixture *f, const char *name, json_t *in);      /* must be ok */
const json_t *job_fail(Fixture *f, const char *name, json_t *in); /* must not be */

/* The usual jobs with the usual fields. */
const json_t *sync_main(Fixture *f);
const json_t *prepare_at(Fixture *f, const char *kind, int task, int epoch);
const json_t *snapshot_at(Fixture *f, const json_t *workspace, int task, int epoch, int turn);
const json_t *merge_commit(Fixture *f, const char *commit, int task);
const json_t *land_merge(Fixture *f, const json_t *merge, const char *commit, int task);
json_t *retire_in(Fixture *f, const json_t *workspace, int task, int epoch, const char *snapshot);
/* From a workspace to a landed commit: commits a file in a clone, merges and lands it. */
const json_t *land_file(Fixture *f, int task, const char *file, const char *text);

const char *get(const json_t *object, const char *key); /* text, or "" */
void assert_text(const json_t *object, const char *key, const char *want);
