/* prepare, snapshot, checkout, discard, retire, trash. */
#include "tests/git/fixture.h"

#include "base/clock.h"
#include "base/file.h"
#include <string.h>

static const char *const kinds[] = {"clone", "worktree"};

static json_t *prepare_in(Fixture *f, int task, int epoch)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "hub", f->hub, "repo", f->repo,
                     "target", "main", "root", f->root, "kind", "clone", "project", 1, "task", task,
                     "run", task, "epoch", epoch);
}

static const char *files_of(Fixture *f, const char *commit)
{
    return sh(f, "git --git-dir=\"$H\" ls-tree -r --name-only %s", commit);
}

static void a_workspace_is_a_clean_checkout_on_its_own_branch(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const json_t *ws = prepare_at(f, kinds[i], (int)i + 1, 1);
        const char *path = get(ws, "path");
        assert_text(ws, "kind", kinds[i]);
        assert_string_equal(path,
                            arena_printf(&f->arena, "%s/p1-t%zu-r%zu-e1", f->root, i + 1, i + 1));
        assert_string_equal(sh(f, "cd '%s'; git status --porcelain --ignored", path), "");
        assert_string_equal(sh(f, "git -C '%s' symbolic-ref --short HEAD", path),
                            get(ws, "branch"));
        assert_string_equal(sh(f, "git -C '%s' config user.email", path), "owner@example.org");
        sh(f,
           "cd '%s'; export HOME=/nonexistent; git mv dir other; echo z >> a.txt\n"
           "git commit -q -a -m moved; git fsck; git log --oneline | wc -l",
           path);
        /* The same call again leaves what the agent did alone. */
        sh(f, "echo precious > '%s/untracked'", path);
        assert_text(prepare_at(f, kinds[i], (int)i + 1, 1), "path", path);
        assert_string_equal(sh(f, "cat '%s/untracked'", path), "precious");
    }
    assert_string_equal(
        sh(f, "cd \"$R\"; git status --porcelain; git for-each-ref --format='%%(refname)'"),
        "refs/heads/main");
}

static void auto_is_clone_and_none_is_the_repository_itself(void **state)
{
    Fixture *f = *state;
    assert_text(prepare_at(f, "auto", 1, 1), "kind", "clone");
    const json_t *ws = prepare_at(f, "none", 2, 1);
    assert_text(ws, "path", f->repo);
    sh(f, "cd \"$R\"; echo n > n.txt; git add n.txt; git commit -q -m n; echo u > u.txt");
    const json_t *shot = snapshot_at(f, ws, 2, 1, 1);
    assert_int_equal(json_int(shot, "commits", 0), 1);
    assert_true(json_flag(shot, "has_uncommitted", false));
    const json_t *out = job(f, "retire", retire_in(f, ws, 2, 1, get(shot, "commit")));
    assert_true(json_flag(out, "kept", false));
    assert_string_equal(sh(f, "cat \"$R/u.txt\""), "u");
    json_t *in = prepare_in(f, 3, 1);
    json_object_set_new(in, "kind", json_string("banana"));
    assert_text(job_fail(f, "prepare", in), "kind", "bad-input");
}

static void half_made_workspaces_are_made_anew(void **state)
{
    Fixture *f = *state;
    json_t *in = prepare_in(f, 1, 1);
    char *path = arena_printf(&f->arena, "%s/p1-t1-r1-e1", f->root);
    json_object_set_new(in, "setup", json_string("test -f \"$T/go\" || exit 3"));
    json_object_set_new(in, "setup_log", json_string(arena_printf(&f->arena, "%s/log", f->dir)));
    json_object_set_new(in, "env", json_pack("{s:s}", "T", f->dir));
    const json_t *out = job_fail(f, "prepare", json_incref(in));
    assert_text(out, "kind", "process");
    assert_non_null(strstr(get(out, "error"), "exit code 3"));
    sh(f, "rm '%s/a.txt'; mkdir '%s.part-1'; touch '%s.part-1/x' \"$T/go\"", path, path, path);
    out = job(f, "prepare", in);
    assert_text(out, "path", path);
    assert_true(path_exists(arena_printf(&f->arena, "%s/a.txt", path)));
    assert_string_equal(sh(f, "cd '%s'; ls -d *part* 2>/dev/null || true", f->root), "");
    /* A name is not used twice. */
    sh(f, "rm -rf '%s'", path);
    assert_text(job_fail(f, "prepare", prepare_in(f, 1, 1)), "kind", "conflict");
}

static void setup_runs_in_the_workspace_and_its_output_is_kept(void **state)
{
    Fixture *f = *state;
    json_t *in = prepare_in(f, 1, 1);
    const char *log = arena_printf(&f->arena, "%s/setup.log", f->dir);
    json_object_set_new(in, "setup", json_string("pwd; echo oops >&2; echo made > made.log"));
    json_object_set_new(in, "setup_log", json_string(log));
    const json_t *ws = job(f, "prepare", in);
    assert_string_equal(sh(f, "cat '%s'", log),
                        arena_printf(&f->arena, "%s\noops", get(ws, "path")));
    assert_string_equal(sh(f, "cat '%s/made.log'", get(ws, "path")), "made");
    in = prepare_in(f, 2, 1);
    json_object_set_new(in, "setup", json_string("exec sleep 60"));
    json_object_set_new(in, "setup_timeout_s", json_integer(1));
    assert_non_null(strstr(get(job_fail(f, "prepare", in), "error"), "in time"));
}

static void ignored_files_are_copied_and_stay_out_of_commits(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; echo secret > .env; chmod 600 .env; mkdir -p ignored/deep; echo d > "
          "ignored/deep/d\n"
          "ln -s ../.env ignored/in; ln -s .env link");
    json_t *in = prepare_in(f, 1, 1);
    json_object_set_new(in, "copy", json_pack("[s,s,s,s]", ".env", "ignored", "link", "absent"));
    const json_t *ws = job(f, "prepare", in);
    const char *path = get(ws, "path");
    assert_string_equal(sh(f, "cd '%s'; cat .env link ignored/deep/d; stat -c %%a .env", path),
                        "secret\nsecret\nd\n600");
    assert_string_equal(json_string_value(json_array_get(json_object_get(ws, "missing"), 0)),
                        "absent");
    assert_string_equal(sh(f, "cd '%s'; git status --porcelain", path), "");
    assert_false(json_flag(snapshot_at(f, ws, 1, 1, 1), "has_uncommitted", true));
}

static void the_copy_list_cannot_leave_the_repository(void **state)
{
    Fixture *f = *state;
    static const char *const bad[] = {"../outside",
                                      "/etc/passwd",
                                      "dir/../../outside",
                                      ".git/config",
                                      "escape",
                                      "escape/passwd",
                                      "",
                                      "a//b",
                                      "gitlink"};
    sh(f, "echo outside > \"$T/outside\"; ln -s /etc \"$R/escape\"; ln -s .git \"$R/gitlink\"");
    for (size_t i = 0; i < COUNT(bad); i++) {
        json_t *in = prepare_in(f, 10 + (int)i, 1);
        json_object_set_new(in, "copy", json_pack("[s]", bad[i]));
        const json_t *out = job_fail(f, "prepare", in);
        assert_text(out, "kind", "refused");
    }
}

static void a_copy_is_not_written_through_a_link_in_the_commit(void **state)
{
    Fixture *f = *state;
    sh(f,
       "mkdir \"$T/victim\"; cd \"$R\"; mkdir conf; echo s > conf/s.log; git init -q \"$T/evil\"\n"
       "cd \"$T/evil\"; ln -s \"$T/victim\" conf; ln -s \"$T/victim/file\" plain; git add .; git "
       "commit -q -m evil\n"
       "cd \"$R\"; git fetch -q \"$T/evil\" main:evil; echo p > plain");
    json_t *in = prepare_in(f, 1, 1);
    json_object_set_new(in, "target", json_string("evil"));
    json_object_set_new(in, "copy", json_pack("[s]", "conf/s.log"));
    assert_false(json_flag(job_fail(f, "prepare", in), "ok", true));
    in = prepare_in(f, 2, 1);
    json_object_set_new(in, "target", json_string("evil"));
    json_object_set_new(in, "copy", json_pack("[s]", "plain"));
    const json_t *ws = job(f, "prepare", in);
    assert_string_equal(sh(f, "ls -A \"$T/victim\"; cat '%s/plain'", get(ws, "path")), "p");
}

static void a_clean_turn_is_the_agents_own_commit(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        const json_t *shot = snapshot_at(f, ws, task, 1, 1);
        assert_true(json_flag(shot, "is_empty", false));
        assert_text(shot, "commit", get(ws, "base"));
        sh(f, "cd '%s'; echo n > n.txt; git add .; git commit -q -m n", get(ws, "path"));
        shot = snapshot_at(f, ws, task, 1, 2);
        assert_text(shot, "commit", sh(f, "git -C '%s' rev-parse HEAD", get(ws, "path")));
        assert_false(json_flag(shot, "has_uncommitted", true));
        assert_false(json_flag(shot, "is_empty", true));
        assert_int_equal(json_int(shot, "commits", 0), 1);
        assert_int_equal(json_int(shot, "files_changed", 0), 1);
        assert_int_equal(json_int(shot, "insertions", 0), 1);
        assert_string_equal(sh(f, "git --git-dir=\"$H\" rev-parse refs/otto/runs/%d/e1/2", task),
                            get(shot, "commit"));
    }
}

/* git keeps times in seconds: the trap closes when the second of the edit is over. */
static const char edit_in_place[] =
    "cd '%s'; tr '[:print:]' '%c' < a.txt > ../same; cat ../same > a.txt\n"
    "s=$(date +%%s); while [ \"$(date +%%s)\" = \"$s\" ]; do sleep 0.02; done";

static void an_edit_of_the_same_size_in_the_same_second_is_not_missed(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        sh(f, edit_in_place, get(ws, "path"), '#');
        const json_t *shot = snapshot_at(f, ws, task, 1, 1);
        assert_true(json_flag(shot, "has_uncommitted", false));
        sh(f, edit_in_place, get(ws, "path"), '+');
        assert_string_not_equal(get(snapshot_at(f, ws, task, 1, 2), "commit"), get(shot, "commit"));
        assert_string_equal(sh(f, "cd '%s'; git diff --name-only", get(ws, "path")), "a.txt");
    }
}

static const char odd_files[] = "cd '%s'\n"
                                "printf n > 'with space'; printf n > \"$(printf 'new\\nline')\"; "
                                "printf n > ./-rf; printf n > \"$(printf 'b\\377d')\"\n"
                                "printf n > ':(glob)*'; printf n > '*'; mkdir -p deep/er; printf n "
                                "> deep/er/x; ln -s /etc/passwd out; ln -s a.txt in\n"
                                "printf n > run.sh; chmod +x run.sh; rm b.txt; rm -r dir; echo t > "
                                "dir; echo changed > a.txt; printf '\\0\\1' > binary\n"
                                "echo ignored > x.log; mkfifo pipe; mkdir empty\n";

static void everything_uncommitted_is_saved_whatever_its_name(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        const char *path = get(ws, "path");
        sh(f, odd_files, path);
        const char *before = sh(f,
                                "cd '%s'; find . -path ./.git -prune -o -printf '%%p %%m %%l\\n' | "
                                "sort; git status --porcelain",
                                path);
        const json_t *shot = snapshot_at(f, ws, task, 1, 1);
        assert_true(json_flag(shot, "has_uncommitted", false));
        assert_text(shot, "head", get(ws, "base"));
        /* Byte for byte what is there, ignored files excepted, and nothing in the folder changed.
         */
        assert_string_equal(sh(f,
                               "cd '%s'; find . -path ./.git -prune -o -printf '%%p %%m %%l\\n' | "
                               "sort; git status --porcelain",
                               path),
                            before);
        sh(f,
           "mkdir \"$T/out%d\"; git --git-dir=\"$H\" archive %s | tar -x -C \"$T/out%d\"\n"
           "cd '%s'; rm x.log pipe; rmdir empty; diff -r --no-dereference --exclude=.git . "
           "\"$T/out%d\"",
           task, get(shot, "commit"), task, path, task);
        /* The same again is the same commit. */
        assert_text(snapshot_at(f, ws, task, 1, 1), "commit", get(shot, "commit"));
        assert_string_equal(
            sh(f, "git --git-dir=\"$H\" fsck --strict 2>&1 | grep -v 'dangling\\|notice' || true"),
            "");
    }
}

static void a_folder_replaced_by_a_link_is_saved_as_a_link(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    sh(f, "cd '%s'; mkdir other; echo different > other/c.txt; rm -r dir; ln -s other dir",
       get(ws, "path"));
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_string_equal(files_of(f, get(shot, "commit")),
                        ".gitignore\na.txt\nb.txt\ndir\nother/c.txt");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" cat-file blob %s:dir", get(shot, "commit")),
                        "other");
}

static void history_may_be_amended_detached_renamed_or_orphaned(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    static const char *const acts[] = {
        "echo 1 >> a.txt; git commit -q -a -m one",
        "git commit -q --amend -m other",
        "git checkout -q --detach; echo 2 >> a.txt; git commit -q -a -m two",
        "git checkout -q -b elsewhere; echo 3 >> a.txt; git commit -q -a -m three",
        "git gc -q --prune=now; git pack-refs --all",
        "git reset -q --hard HEAD~1",
        "git checkout -q --orphan fresh; git commit -q -m orphan",
    };
    for (size_t i = 0; i < COUNT(acts); i++) {
        sh(f, "cd '%s'; %s", path, acts[i]);
        const json_t *shot = snapshot_at(f, ws, 1, 1, (int)i + 1);
        assert_text(shot, "commit", sh(f, "git -C '%s' rev-parse HEAD", path));
        assert_false(json_flag(shot, "is_head_lost", true));
    }
    /* Unrelated history cannot be merged, and that is an answer. */
    assert_text(merge_commit(f, sh(f, "git -C '%s' rev-parse HEAD", path), 1), "state", "blocked");
}

static void a_deleted_git_folder_loses_no_file(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    sh(f, "cd '%s'; echo one > one.txt; git add .; git commit -q -m one", path);
    const char *head = get(snapshot_at(f, ws, 1, 1, 1), "head");
    sh(f, "cd '%s'; rm -rf .git; echo two > two.txt", path);
    const json_t *shot = snapshot_at(f, ws, 1, 1, 2);
    assert_true(json_flag(shot, "is_head_lost", false));
    assert_text(shot, "head", head);
    assert_string_equal(files_of(f, get(shot, "commit")),
                        ".gitignore\na.txt\nb.txt\ndir/c.txt\none.txt\ntwo.txt");
    /* And a repository of its own in place of the old one. */
    sh(f, "cd '%s'; git init -q; git add .; git commit -q -m mine", path);
    shot = snapshot_at(f, ws, 1, 1, 3);
    assert_false(json_flag(shot, "is_head_lost", true));
    assert_text(shot, "commit", sh(f, "git -C '%s' rev-parse HEAD", path));
}

static void repositories_inside_are_neither_entered_nor_taken_for_saved(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    sh(f,
       "cd '%s'; git init -q inner; cd inner; echo i > i; git add i; git commit -q -m i; echo j > "
       "j",
       get(ws, "path"));
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_int_equal(json_int(shot, "nested", 0), 1);
    assert_false(json_flag(shot, "has_uncommitted", true));
    const json_t *out = job(f, "retire", retire_in(f, ws, 1, 1, get(shot, "commit")));
    assert_false(json_flag(out, "kept", true));
    assert_string_equal(sh(f, "cat '%s/inner/j'", get(out, "trashed")), "j");
}

static void submodules_stay_as_they_are(void **state)
{
    Fixture *f = *state;
    sh(f, "git init -q \"$T/sub\"; cd \"$T/sub\"; echo s > s; git add s; git commit -q -m s\n"
          "cd \"$R\"; git -c protocol.file.allow=always submodule --quiet add \"$T/sub\" sub; git "
          "commit -q -m sub");
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    sh(f,
       "cd '%s'; rm -rf sub; git init -q sub; cd sub; echo other > o; git add o; git commit -q -m "
       "o; echo dirty > d\n"
       "cd ..; echo x > x.txt",
       path);
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_string_equal(sh(f, "git --git-dir=\"$H\" ls-tree %s sub", get(shot, "commit")),
                        sh(f, "git -C \"$R\" ls-tree HEAD sub"));
    assert_int_equal(json_int(shot, "files_changed", 0), 1);
    sh(f, "rm -rf '%s/sub'", path);
    shot = snapshot_at(f, ws, 1, 1, 2);
    assert_string_equal(sh(f, "git --git-dir=\"$H\" ls-tree %s sub", get(shot, "commit")),
                        sh(f, "git -C \"$R\" ls-tree HEAD sub"));
}

static void too_much_untracked_is_refused_with_a_sentence(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    sh(f, "truncate -s 10G '%s/huge'", get(ws, "path"));
    const json_t *out = job_fail(f, "snapshot",
                                 json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:s}", "hub", f->hub, "path",
                                           get(ws, "path"), "kind", "clone", "run", 1, "epoch", 1,
                                           "turn", 1, "base", get(ws, "base")));
    assert_text(out, "kind", "too-big");
    assert_non_null(strstr(get(out, "error"), "10240 MB"));
    sh(f, "rm '%s/huge'", get(ws, "path"));
    snapshot_at(f, ws, 1, 1, 1);
}

static void five_thousand_files_are_no_problem(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; for d in $(seq 50); do mkdir d$d; for i in $(seq 100); do echo $d $i > "
          "d$d/f$i; done; done\n"
          "git add .; git commit -q -m many");
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    assert_string_equal(sh(f, "cd '%s'; git status --porcelain", path), "");
    sh(f,
       "cd '%s'; rm -r d1; for i in $(seq 100); do echo changed > d2/f$i; done\n"
       "mkdir new; for i in $(seq 1000); do echo $i > new/f$i; done",
       path);
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_int_equal(json_int(shot, "files_changed", 0), 1200);
    const json_t *out = job(f, "retire", retire_in(f, ws, 1, 1, get(shot, "commit")));
    assert_false(json_flag(out, "kept", true));
}

static void a_snapshot_is_laid_back_as_it_was(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        sh(f,
           "cd '%s'; echo one > one.txt; git add .; git commit -q -m one\n"
           "echo two > two.txt; echo more >> a.txt; rm b.txt",
           get(ws, "path"));
        const json_t *shot = snapshot_at(f, ws, task, 1, 1);
        json_t *in = prepare_in(f, task, 2);
        json_object_set_new(in, "kind", json_string(kinds[i]));
        json_object_set_new(in, "restore", json_string(get(shot, "commit")));
        sh(f, "cd \"$R\"; echo later%d > later.txt; git add .; git commit -q -m later", task);
        const json_t *again = job(f, "prepare", in);
        assert_text(again, "head", get(shot, "head"));
        assert_text(again, "base", get(ws, "base"));
        assert_string_equal(
            sh(f, "cd '%s'; git status --porcelain; git log --format=%%s -1", get(again, "path")),
            " M a.txt\n D b.txt\n?? two.txt\none");
        assert_text(snapshot_at(f, again, task, 2, 1), "head", get(shot, "head"));
    }
}

static void the_gate_gets_a_fresh_checkout_each_time(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    sh(f, "cd '%s'; echo x > x.txt", get(ws, "path"));
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    const char *path = arena_printf(&f->arena, "%s/c-1", f->gate);
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", f->hub, "commit", commit, "path", path);
    for (int i = 0; i < 2; i++) {
        assert_text(job(f, "checkout", json_incref(in)), "path", path);
        assert_string_equal(
            sh(f, "cd '%s'; git status --porcelain --ignored; git rev-parse HEAD; cat x.txt", path),
            arena_printf(&f->arena, "%s\nx", commit));
        sh(f, "cd '%s'; echo junk > junk.log; echo y > y.txt; rm a.txt", path);
    }
    json_decref(in);
    in = json_pack("{s:s,s:s}", "root", f->gate, "path", path);
    job(f, "discard", json_incref(in));
    assert_false(path_exists(path));
    job(f, "discard", in); /* again is fine */
    assert_string_equal(sh(f, "ls -A \"$T/state/trash-now\""), "");
}

static void discard_stays_inside_its_root(void **state)
{
    Fixture *f = *state;
    const char *victim = arena_printf(&f->arena, "%s/victim", f->dir);
    sh(f, "mkdir -p \"$T/victim/keep\" \"$T/state/gate\"; echo precious > \"$T/victim/keep/file\"\n"
          "touch \"$T/state/gate/.otto-root\"; ln -s \"$T/victim\" \"$T/state/gate/link\"; ln -s "
          "\"$T/state/gate\" \"$T/state/gate2\"\n"
          "mkdir -p \"$T/state/gate/real/sub\" \"$T/unmarked/x\"");
    const struct {
        const char *root, *path;
    } rows[] = {
        {f->gate, victim},
        {f->gate, arena_printf(&f->arena, "%s/link", f->gate)},
        {f->gate, arena_printf(&f->arena, "%s/link/keep", f->gate)},
        {f->gate, arena_printf(&f->arena, "%s/../victim", f->gate)},
        {f->gate, f->gate},
        {f->dir, victim}, /* the folder that holds it is not marked */
        {arena_printf(&f->arena, "%s/state/gate2", f->dir),
         arena_printf(&f->arena, "%s/state/gate2/real", f->dir)},
        {f->gate, arena_printf(&f->arena, "%s/real/sub", f->gate)},
        {arena_printf(&f->arena, "%s/unmarked", f->dir),
         arena_printf(&f->arena, "%s/unmarked/x", f->dir)},
        {"/", "/etc"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        job_fail(f, "discard", json_pack("{s:s,s:s}", "root", rows[i].root, "path", rows[i].path));
    assert_string_equal(
        sh(f, "cat \"$T/victim/keep/file\"; ls -d \"$T/state/gate/real/sub\" | wc -l"),
        "precious\n1");
}

static void a_workspace_goes_only_with_proof(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        const char *path = get(ws, "path");
        sh(f, "cd '%s'; echo x > x%d.txt; git add .; git commit -q -m x", path, task);
        const char *commit = get(snapshot_at(f, ws, task, 1, 1), "commit");
        /* Something came after the snapshot. */
        sh(f, "echo later > '%s/later.txt'", path);
        const json_t *out = job(f, "retire", retire_in(f, ws, task, 1, commit));
        assert_true(json_flag(out, "kept", false));
        assert_string_equal(files_of(f, get(out, "last")),
                            arena_printf(&f->arena,
                                         ".gitignore\na.txt\nb.txt\ndir/c.txt\nlater.txt\nx%d.txt",
                                         task));
        assert_true(path_exists(path));
        sh(f, "cd '%s'; rm later.txt; git commit -q --allow-empty -m more", path);
        assert_true(json_flag(job(f, "retire", retire_in(f, ws, task, 1, commit)), "kept", false));
        commit = get(snapshot_at(f, ws, task, 1, 2), "commit");
        /* Said to have landed, but it has not. */
        json_t *in = retire_in(f, ws, task, 1, commit);
        json_object_set_new(in, "landed",
                            json_pack("{s:s,s:s}", "commit", commit, "target", "main"));
        assert_true(json_flag(job(f, "retire", in), "kept", false));
        /* Not landed, but saved: into the trash, for days. */
        out = job(f, "retire", retire_in(f, ws, task, 1, commit));
        assert_false(json_flag(out, "kept", true));
        assert_false(path_exists(path));
        assert_true(path_is_folder(get(out, "trashed")));
        assert_text(job(f, "retire", retire_in(f, ws, task, 1, commit)), "trashed",
                    get(out, "trashed"));
    }
}

static void stashes_and_other_branches_are_rescued(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    sh(f,
       "cd '%s'; git checkout -q -b side; echo s > side.txt; git add .; git commit -q -m side\n"
       "git checkout -q otto/task-1; echo stash >> a.txt; git stash -q",
       path);
    const char *side = sh(f, "git -C '%s' rev-parse side", path);
    const char *stash = sh(f, "git -C '%s' rev-parse stash", path);
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    const json_t *out = job(f, "retire", retire_in(f, ws, 1, 1, commit));
    assert_false(json_flag(out, "kept", true));
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" for-each-ref --format='%%(refname) %%(objectname)' "
              "refs/otto/rescue"),
        arena_printf(&f->arena,
                     "refs/otto/rescue/1/e1/heads/side %s\nrefs/otto/rescue/1/e1/stash %s", side,
                     stash));
}

static void landed_and_saved_whole_may_be_deleted_at_once(void **state)
{
    Fixture *f = *state;
    const json_t *landed = land_file(f, 1, "n.txt", "n");
    const json_t *plain = prepare_at(f, "clone", 1, 1);
    const char *commit = get(snapshot_at(f, plain, 1, 1, 2), "commit");
    json_t *in = retire_in(f, plain, 1, 1, commit);
    json_object_set_new(in, "landed",
                        json_pack("{s:s,s:s}", "commit", get(landed, "tip"), "target", "main"));
    assert_false(json_flag(job(f, "retire", in), "kept", true));
    land_file(f, 2, "m.txt", "m");
    const json_t *ignored = prepare_at(f, "clone", 2, 1);
    sh(f, "echo i > '%s/i.log'", get(ignored, "path"));
    commit = get(snapshot_at(f, ignored, 2, 1, 2), "commit");
    in = retire_in(f, ignored, 2, 1, commit);
    json_object_set_new(in, "landed", json_pack("{s:s,s:s}", "commit", commit, "target", "main"));
    job(f, "retire", in);
    int64_t now = clock_wall_ms();
    const json_t *out = job(f, "trash-expire",
                            json_pack("{s:s,s:I}", "trash", f->trash, "now_ms", (json_int_t)now));
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(out, "removed"), 0)),
                        "p1-t1-r1-e1");
    assert_int_equal(json_int(out, "kept", 0), 1);
    assert_string_equal(sh(f, "cat '%s/p1-t2-r2-e1/tree/i.log'", f->trash), "i");
    out = job(f, "trash-expire",
              json_pack("{s:s,s:I}", "trash", f->trash, "now_ms",
                        (json_int_t)(now + 8LL * 24 * 3600 * 1000)));
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 1);
    assert_string_equal(sh(f, "ls '%s'", f->trash), "");
}

static void the_trash_gives_back_what_it_took(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, kinds[i], task, 1);
        sh(f, "cd '%s'; echo x > x.txt; echo l > l.log", get(ws, "path"));
        const char *commit = get(snapshot_at(f, ws, task, 1, 1), "commit");
        job(f, "retire", retire_in(f, ws, task, 1, commit));
        const json_t *list =
            json_object_get(job(f, "trash-list", json_pack("{s:s}", "trash", f->trash)), "entries");
        assert_int_equal(json_array_size(list), 1);
        assert_text(json_array_get(list, 0), "title", "A title");
        const char *name = get(json_array_get(list, 0), "name");
        const json_t *out =
            job(f, "trash-restore", json_pack("{s:s,s:s}", "trash", f->trash, "name", name));
        assert_text(out, "path", get(ws, "path"));
        assert_string_equal(sh(f, "cd '%s'; cat l.log; git status --porcelain", get(ws, "path")),
                            "l\n?? x.txt");
        job_fail(f, "trash-restore", json_pack("{s:s,s:s}", "trash", f->trash, "name", name));
        /* Elsewhere, but not over something. */
        job(f, "retire", retire_in(f, ws, task, 1, get(snapshot_at(f, ws, task, 1, 2), "commit")));
        job_fail(f, "trash-restore",
                 json_pack("{s:s,s:s,s:s}", "trash", f->trash, "name", name, "to", f->repo));
        const char *to = arena_printf(&f->arena, "%s/back%d", f->dir, task);
        job(f, "trash-restore",
            json_pack("{s:s,s:s,s:s}", "trash", f->trash, "name", name, "to", to));
        assert_string_equal(sh(f, "cd '%s'; cat l.log; git status --porcelain", to), "l\n?? x.txt");
        job(f, "trash-restore",
            json_pack("{s:s,s:s,s:s}", "trash", f->trash, "name", name, "to", to));
    }
    job_fail(f, "trash-restore", json_pack("{s:s,s:s}", "trash", f->trash, "name", "../repo"));
}

static void trash_without_a_readable_note_is_kept(void **state)
{
    Fixture *f = *state;
    sh(f, "mkdir -p \"$T/state/trash/odd/tree\" \"$T/state/trash/torn/tree\"; printf '{\"expires' "
          "> \"$T/state/trash/torn/meta.json\"\n"
          "echo x > \"$T/state/trash/odd/tree/x\"");
    const json_t *out = job(f, "trash-expire",
                            json_pack("{s:s,s:I}", "trash", f->trash, "now_ms", (json_int_t)9e15));
    assert_int_equal(json_array_size(json_object_get(out, "unreadable")), 2);
    assert_string_equal(sh(f, "cat \"$T/state/trash/odd/tree/x\""), "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(a_workspace_is_a_clean_checkout_on_its_own_branch),
        GIT_TEST(auto_is_clone_and_none_is_the_repository_itself),
        GIT_TEST(half_made_workspaces_are_made_anew),
        GIT_TEST(setup_runs_in_the_workspace_and_its_output_is_kept),
        GIT_TEST(ignored_files_are_copied_and_stay_out_of_commits),
        GIT_TEST(the_copy_list_cannot_leave_the_repository),
        GIT_TEST(a_copy_is_not_written_through_a_link_in_the_commit),
        GIT_TEST(a_clean_turn_is_the_agents_own_commit),
        GIT_TEST(an_edit_of_the_same_size_in_the_same_second_is_not_missed),
        GIT_TEST(everything_uncommitted_is_saved_whatever_its_name),
        GIT_TEST(a_folder_replaced_by_a_link_is_saved_as_a_link),
        GIT_TEST(history_may_be_amended_detached_renamed_or_orphaned),
        GIT_TEST(a_deleted_git_folder_loses_no_file),
        GIT_TEST(repositories_inside_are_neither_entered_nor_taken_for_saved),
        GIT_TEST(submodules_stay_as_they_are),
        GIT_TEST(too_much_untracked_is_refused_with_a_sentence),
        GIT_TEST(five_thousand_files_are_no_problem),
        GIT_TEST(a_snapshot_is_laid_back_as_it_was),
        GIT_TEST(the_gate_gets_a_fresh_checkout_each_time),
        GIT_TEST(discard_stays_inside_its_root),
        GIT_TEST(a_workspace_goes_only_with_proof),
        GIT_TEST(stashes_and_other_branches_are_rescued),
        GIT_TEST(landed_and_saved_whole_may_be_deleted_at_once),
        GIT_TEST(the_trash_gives_back_what_it_took),
        GIT_TEST(trash_without_a_readable_note_is_kept),
    };
    return cmocka_run_group_tests_name("git workspace", tests, NULL, NULL);
}
