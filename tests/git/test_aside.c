/* A rollback inside a run: work is put aside with proof, and the next epoch starts from an older
 * commit without anything of it coming back. */
#include "tests/git/fixture.h"

#include "base/file.h"
#include <string.h>

static const char *const kinds[] = {"clone", "worktree"};

static json_t *aside_in(Fixture *f, const json_t *ws, int task, int epoch, const char *snapshot)
{
    json_t *in = retire_in(f, ws, task, epoch, snapshot);
    json_object_set_new(in, "aside", json_true());
    return in;
}

static const json_t *restore_at(Fixture *f, const char *kind, int task, int epoch,
                                const char *commit)
{
    return job(f, "prepare",
               json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:s}", "hub", f->hub, "repo",
                         f->repo, "target", "main", "root", f->root, "kind", kind, "project", 1,
                         "task", task, "run", task, "epoch", epoch, "restore", commit));
}

static const char *tree_of(Fixture *f, const char *commit)
{
    return sh(f, "git --git-dir=\"$H\" rev-parse '%s^{tree}'", commit);
}

static bool contains(Fixture *f, const char *commit, const char *old)
{
    const char *code =
        sh(f, "git --git-dir=\"$H\" merge-base --is-ancestor %s %s && echo yes || echo no", old,
           commit);
    return strcmp(code, "yes") == 0;
}

/* One stage that was good, one that was not: gives back the snapshot of the good one. */
typedef struct Stages {
    const json_t *ws;
    const char *good, *bad_commit, *bad;
} Stages;

static Stages work_badly(Fixture *f, const char *kind, int task)
{
    Stages s = {.ws = prepare_at(f, kind, task, 1)};
    const char *path = get(s.ws, "path");
    sh(f,
       "cd '%s'; git config core.logAllRefUpdates true; echo good > good%d.txt; git add .; git "
       "commit -q -m good",
       path, task);
    s.good = get(snapshot_at(f, s.ws, task, 1, 1), "commit");
    sh(f,
       "cd '%s'; echo bad > bad%d.txt; rm good%d.txt; git add -A; git commit -q -m bad; echo worse "
       "> worse%d.txt",
       path, task, task, task);
    s.bad_commit = sh(f, "git -C '%s' rev-parse HEAD", path);
    s.bad = get(snapshot_at(f, s.ws, task, 1, 2), "commit");
    return s;
}

static void work_that_was_put_aside_never_comes_back(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        Stages s = work_badly(f, kinds[i], task);
        const json_t *out = job(f, "retire", aside_in(f, s.ws, task, 1, s.bad));
        assert_false(json_flag(out, "kept", true));
        assert_false(path_exists(get(s.ws, "path")));
        assert_string_equal(sh(f, "cat '%s/bad%d.txt' '%s/worse%d.txt'", get(out, "trashed"), task,
                               get(out, "trashed"), task),
                            "bad\nworse");
        const char *trashed = get(out, "trashed");
        out = job(f, "retire", aside_in(f, s.ws, task, 1, s.bad)); /* again is the same */
        assert_text(out, "trashed", trashed);
        const json_t *again = restore_at(f, kinds[i], task, 2, s.good);
        const char *path = get(again, "path");
        assert_text(again, "head", s.good);
        assert_text(again, "base", get(s.ws, "base"));
        assert_string_equal(
            sh(f,
               "cd '%s'; git status --porcelain --ignored; git rev-parse HEAD; git symbolic-ref "
               "--short HEAD; git rev-parse \"$(git symbolic-ref HEAD)\"; git write-tree",
               path),
            arena_printf(&f->arena, "%s\notto/task-%d\n%s\n%s", s.good, task, s.good,
                         tree_of(f, s.good)));
        /* Neither branches nor logs of it name what was given up. */
        assert_string_equal(sh(f,
                               "cd '%s'; { git log --format=%%H HEAD; git log --format=%%H "
                               "--branches=otto/task-%d; git reflog show --format=%%H HEAD; git "
                               "reflog show --format=%%H otto/task-%d; } 2>/dev/null | grep -c -e "
                               "%s -e %s || true",
                               path, task, task, s.bad_commit, s.bad),
                            "0");
        sh(f, "cd '%s'; echo better > better%d.txt; git add .; git commit -q -m better", path,
           task);
        const json_t *shot = snapshot_at(f, again, task, 2, 1);
        const char *commit = get(shot, "commit");
        assert_int_equal(json_int(shot, "commits", 0), 2);
        assert_true(contains(f, commit, s.good));
        assert_false(contains(f, commit, s.bad_commit));
        const json_t *merge = merge_commit(f, commit, task);
        assert_text(merge, "state", "clean");
        assert_text(land_merge(f, merge, commit, task), "state", "landed");
        assert_false(contains(f, "refs/heads/main", s.bad_commit));
        assert_false(contains(f, "refs/heads/main", s.bad));
        assert_string_equal(
            sh(f, "cd \"$R\"; ls *%d.txt; git log --format=%%s | grep -cx bad || true", task),
            arena_printf(&f->arena, "better%d.txt\ngood%d.txt\n0", task, task));
        /* What was given up is not lost: its snapshot is there. */
        assert_string_equal(sh(f, "git --git-dir=\"$H\" show %s:worse%d.txt", s.bad, task),
                            "worse");
    }
}

static void uncommitted_work_is_laid_back_exactly(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        const char *path = get(ws, "path");
        sh(f, "cd '%s'; echo half > half.txt; rm b.txt; echo z >> a.txt", path);
        const json_t *good = snapshot_at(f, ws, task, 1, 1);
        sh(f, "cd '%s'; git add -A; git commit -q -m bad; echo more > more.txt", path);
        const char *bad = sh(f, "git -C '%s' rev-parse HEAD", path);
        const char *last = get(snapshot_at(f, ws, task, 1, 2), "commit");
        job(f, "retire", aside_in(f, ws, task, 1, last));
        const json_t *again = restore_at(f, kinds[i], task, 2, get(good, "commit"));
        assert_text(again, "head", get(good, "head"));
        const json_t *shot = snapshot_at(f, again, task, 2, 1);
        assert_string_equal(tree_of(f, get(shot, "commit")), tree_of(f, get(good, "commit")));
        assert_true(json_flag(shot, "has_uncommitted", false));
        assert_false(contains(f, get(shot, "commit"), bad));
        /* And back to where the run began. */
        job(f, "retire", aside_in(f, again, task, 2, get(shot, "commit")));
        const json_t *base = restore_at(f, kinds[i], task, 3, get(ws, "base"));
        shot = snapshot_at(f, base, task, 3, 1);
        assert_true(json_flag(shot, "is_empty", false));
        assert_text(shot, "commit", get(ws, "base"));
    }
}

static void what_came_after_the_snapshot_is_saved_before_it_goes(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        const char *commit = get(snapshot_at(f, ws, task, 1, 1), "commit");
        sh(f, "cd '%s'; echo late > late.txt; echo i > ignored.log", get(ws, "path"));
        /* An ordinary retirement would keep it. */
        assert_true(json_flag(job(f, "retire", retire_in(f, ws, task, 1, commit)), "kept", false));
        const json_t *out = job(f, "retire", aside_in(f, ws, task, 1, commit));
        assert_false(json_flag(out, "kept", true));
        assert_string_equal(sh(f, "git --git-dir=\"$H\" show %s:late.txt", get(out, "last")),
                            "late");
        assert_string_equal(sh(f, "git --git-dir=\"$H\" rev-parse refs/otto/runs/%d/e1/last", task),
                            get(out, "last"));
        assert_string_equal(sh(f, "cat '%s/ignored.log'", get(out, "trashed")), "i");
    }
}

static void your_own_repository_is_not_put_aside(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "none", 1, 1);
    sh(f, "echo precious > \"$R/precious\"");
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    const json_t *out = job_fail(f, "retire", aside_in(f, ws, 1, 1, commit));
    assert_text(out, "kind", "refused");
    assert_non_null(strstr(get(out, "error"), "your repository itself"));
    assert_string_equal(sh(f, "cat \"$R/precious\""), "precious");
    const json_t *clone = prepare_at(f, "clone", 2, 1);
    json_t *in = aside_in(f, clone, 2, 1, get(snapshot_at(f, clone, 2, 1, 1), "commit"));
    json_object_set_new(in, "landed", json_pack("{s:s,s:s}", "commit", commit, "target", "main"));
    assert_text(job_fail(f, "retire", in), "kind", "bad-input");
    assert_true(path_exists(get(clone, "path")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(work_that_was_put_aside_never_comes_back),
        GIT_TEST(uncommitted_work_is_laid_back_exactly),
        GIT_TEST(what_came_after_the_snapshot_is_saved_before_it_goes),
        GIT_TEST(your_own_repository_is_not_put_aside),
    };
    return cmocka_run_group_tests_name("git aside", tests, NULL, NULL);
}
