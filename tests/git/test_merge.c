/* merge, land, deliver, prove, rollback, diff, log. */
#include "tests/git/fixture.h"

#include "base/file.h"
#include "base/str.h"
#include <string.h>

static json_t *target_in(Fixture *f)
{
    return json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "main");
}

/* A commit by an agent: shell text in a clone of its own. Not merged. */
static const char *work(Fixture *f, int task, const char *text)
{
    const json_t *ws = prepare_at(f, "clone", task, 1);
    sh(f, "cd '%s'\n%s\ngit add -A; git commit -q -m 'work of %d'", get(ws, "path"), text, task);
    return get(snapshot_at(f, ws, task, 1, 1), "commit");
}

static const char *user_state(Fixture *f)
{
    return sh(f, "cd \"$R\"; find . -path ./.git/objects -prune -o -type f ! -name otto-\\* -exec "
                 "sha1sum {} + | sort; "
                 "find . -path ./.git -prune -o -printf '%%p %%m %%T@ %%l\\n' | sort");
}

static void a_clean_merge_has_two_parents_and_its_trailers(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 7, "echo n > n.txt");
    const json_t *merge = merge_commit(f, commit, 7);
    assert_text(merge, "state", "clean");
    assert_text(merge, "sync", "same");
    assert_true(json_flag(merge, "same_tree", false));
    assert_string_equal(sh(f, "git --git-dir=\"$H\" log -1 --format=%%P %s", get(merge, "new")),
                        arena_printf(&f->arena, "%s %s", get(merge, "old"), commit));
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" log -1 --format='%%B%%an <%%ae>' %s", get(merge, "new")),
        "Merge it\n\nOtto-Task: 7\nOtto-Run: 7\nOwner <owner@example.org>");
    /* Nothing moved. */
    assert_string_equal(sh(f, "git --git-dir=\"$H\" rev-parse refs/heads/main"), get(merge, "old"));
}

static void the_author_of_a_merge_can_be_given(void **state)
{
    Fixture *f = *state;
    json_t *in = target_in(f);
    json_object_set_new(in, "commit", json_string(work(f, 1, "echo n > n.txt")));
    json_object_set_new(in, "message", json_string("by somebody"));
    json_object_set_new(in, "author_name", json_string("Ada <x>\ny"));
    json_object_set_new(in, "author_email", json_string("ada@example.org"));
    const json_t *merge = job(f, "merge", in);
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" log -1 --format=%%ae/%%ce %s", get(merge, "new")),
        "ada@example.org/owner@example.org");
}

static void a_conflict_is_explained_from_both_sides(void **state)
{
    Fixture *f = *state;
    const char *mine = work(f, 1, "sed -i s/5/mine/ a.txt; git rm -q b.txt; echo ok > other.txt");
    const char *theirs = work(f, 2, "sed -i s/5/theirs/ a.txt; echo more >> b.txt");
    const json_t *first = merge_commit(f, theirs, 2);
    land_merge(f, first, theirs, 2);
    const json_t *merge = merge_commit(f, mine, 1);
    assert_text(merge, "state", "conflict");
    const json_t *list = json_object_get(merge, "conflicts");
    assert_int_equal(json_array_size(list), 2);
    assert_text(json_array_get(list, 0), "path", "a.txt");
    assert_text(json_array_get(list, 0), "kind", "contents");
    assert_text(json_array_get(list, 1), "kind", "modify/delete");
    static const char *const words[] = {"work of 1", "work of 2", "+mine",
                                        "+theirs",   "-b",        "a.txt"};
    for (size_t i = 0; i < COUNT(words); i++)
        assert_non_null(strstr(get(merge, "explain"), words[i]));
    assert_null(strstr(get(merge, "explain"), "other.txt"));
}

static void work_that_changes_nothing_is_empty(void **state)
{
    Fixture *f = *state;
    const char *first = work(f, 1, "echo n > n.txt"), *second = work(f, 2, "echo n > n.txt");
    land_merge(f, merge_commit(f, first, 1), first, 1);
    assert_text(merge_commit(f, second, 2), "state", "empty"); /* the same by other means */
    assert_text(merge_commit(f, first, 1), "state", "empty");  /* landed already */
}

static void what_the_user_did_meanwhile_is_merged_first(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1, "echo n > n.txt");
    sh(f, "cd \"$R\"; echo u > u.txt; git add .; git commit -q -m user");
    const json_t *merge = merge_commit(f, commit, 1);
    assert_text(merge, "sync", "forwarded");
    assert_text(merge, "old", sh(f, "git -C \"$R\" rev-parse HEAD"));
    assert_false(json_flag(merge, "same_tree", true));
    assert_text(land_merge(f, merge, commit, 1), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; git status --porcelain; cat n.txt u.txt"), "n\nu");
}

static void a_rewritten_target_blocks_the_merge(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1, "echo n > n.txt");
    sh(f, "cd \"$R\"; git commit -q --amend -m rewritten");
    const json_t *merge = merge_commit(f, commit, 1);
    assert_text(merge, "state", "blocked");
    assert_text(merge, "sync", "rewritten");
}

static void of_two_landings_one_wins(void **state)
{
    Fixture *f = *state;
    const char *a = work(f, 1, "echo a > a1.txt"), *b = work(f, 2, "echo b > b1.txt");
    const json_t *merge_a = merge_commit(f, a, 1), *merge_b = merge_commit(f, b, 2);
    assert_text(land_merge(f, merge_a, a, 1), "state", "landed");
    const json_t *lost = land_merge(f, merge_b, b, 2);
    assert_text(lost, "state", "moved");
    assert_text(lost, "tip", get(merge_a, "new"));
    merge_b = merge_commit(f, b, 2);
    assert_text(land_merge(f, merge_b, b, 2), "state", "landed");
    /* Repeating either is harmless. */
    assert_text(land_merge(f, merge_a, a, 1), "state", "landed");
    assert_text(land_merge(f, merge_b, b, 2), "state", "landed");
    assert_string_equal(sh(f, "git -C \"$R\" log --merges --oneline | wc -l | tr -d ' '"), "2");
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" rev-parse refs/otto/landed/1 refs/otto/landed/2"),
        arena_printf(&f->arena, "%s\n%s", get(merge_a, "new"), get(merge_b, "new")));
    assert_string_equal(sh(f, "ls \"$H/otto/merges\""), "");
}

static void many_workers_landing_at_once_lose_nothing(void **state)
{
    Fixture *f = *state;
    char commits[8][65];
    for (int i = 0; i < 8; i++)
        snprintf(commits[i], sizeof commits[i], "%s",
                 work(f, i + 1, arena_printf(&f->arena, "echo %d > n%d.txt", i, i)));
    sync_main(f);
    Str text = STR_INIT;
    /* Each worker merges and lands until it has landed. */
    str_addf(&text, "field() { sed -n 's/.*\"'$1'\":\"\\([^\"]*\\)\".*/\\1/p'; }\n");
    for (int i = 0; i < 8; i++)
        str_addf(&text,
                 "( C=%s; while :; do\n"
                 "M=$(printf "
                 "'{\"hub\":\"%%s\",\"repo\":\"%%s\",\"target\":\"main\",\"commit\":\"%%s\","
                 "\"message\":\"m\"}' \"$H\" \"$R\" $C | %s merge)\n"
                 "O=$(echo \"$M\" | field old); N=$(echo \"$M\" | field new); test -n \"$N\" || "
                 "continue\n"
                 "L=$(printf "
                 "'{\"hub\":\"%%s\",\"repo\":\"%%s\",\"target\":\"main\",\"commit\":\"%%s\","
                 "\"old\":\"%%s\",\"new\":\"%%s\",\"task\":%d,\"deliver\":false}' \"$H\" \"$R\" $C "
                 "$O $N | %s land)\n"
                 "test \"$(echo \"$L\" | field state)\" != landed || break; done ) &\n",
                 commits[i], GIT_WORKER, i + 1, GIT_WORKER);
    str_add(&text, "wait\n");
    sh(f, "%s", str_text(&text));
    str_done(&text);
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" log --merges --oneline refs/heads/main | wc -l | tr -d ' '"),
        "8");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; cat n?.txt | tr -d '\\n'; git status --porcelain"),
                        "01234567");
}

static void only_proven_merges_land(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1, "echo n > n.txt"), *other = work(f, 2, "echo m > m.txt");
    const json_t *merge = merge_commit(f, commit, 1);
    json_t *in = target_in(f);
    json_object_set_new(in, "old", json_string(get(merge, "old")));
    json_object_set_new(in, "new", json_string(get(merge, "new")));
    json_object_set_new(in, "commit", json_string(other)); /* not what was merged */
    assert_text(job_fail(f, "land", in), "kind", "refused");
    /* Without the note that merge left, git itself is asked. */
    sh(f, "rm -f \"$H\"/otto/merges/*");
    assert_text(land_merge(f, merge, commit, 1), "state", "landed");
}

static void a_dirty_checkout_stays_untouched_byte_for_byte(void **state)
{
    Fixture *f = *state;
    static const char *const dirt[] = {
        "echo changed >> b.txt",                     /* modified */
        "echo new > staged.txt; git add staged.txt", /* staged */
        "rm b.txt",                                  /* deleted */
        "echo mine > n.txt",                         /* untracked, where a new file comes */
        "echo mine > sub",                           /* a file where a folder comes */
        "ln -s /tmp sub",                            /* a link where a folder comes */
        "mkdir -p sub; echo mine > sub/x.log",       /* ignored, where a new file comes */
        "chmod +x b.txt",
    };
    const char *commit = work(f, 1,
                              "echo n > n.txt; mkdir sub; echo s > sub/s.txt; echo forced > "
                              "sub/x.log; git add -f sub/x.log");
    const json_t *merge = merge_commit(f, commit, 1);
    sh(f, "cp -a \"$R\" \"$T/clean\"");
    for (size_t i = 0; i < COUNT(dirt); i++) {
        sh(f, "rm -rf \"$R\"; cp -a \"$T/clean\" \"$R\"; cd \"$R\"; git status >/dev/null; %s",
           dirt[i]);
        const char *before = user_state(f);
        const json_t *out =
            i == 0 ? land_merge(f, merge, commit, 1) : job(f, "deliver", target_in(f));
        assert_text(out, "delivered", "dirty");
        assert_string_equal(user_state(f), before);
        if (i > 0)
            assert_int_equal(json_int(out, "behind", 0), 2);
    }
    sh(f, "rm -rf \"$R\"; cp -a \"$T/clean\" \"$R\"; cd \"$R\"; echo i > unrelated.log; echo u > "
          "unrelated.txt");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
    assert_string_equal(
        sh(f, "cd \"$R\"; cat unrelated.log sub/x.log n.txt; git status --porcelain"),
        "i\nforced\nn\n?? unrelated.txt");
    assert_string_equal(sh(f, "ls -A \"$R/.git\" | grep otto || true"), "");
}

static void a_checkout_in_the_middle_of_something_is_left_alone(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1, "echo n > n.txt");
    const json_t *merge = merge_commit(f, commit, 1);
    sh(f, "touch \"$R/.git/index.lock\"");
    assert_text(land_merge(f, merge, commit, 1), "delivered", "busy");
    assert_true(path_exists(arena_printf(&f->arena, "%s/.git/index.lock", f->repo)));
    sh(f, "rm \"$R/.git/index.lock\"; git -C \"$R\" rev-parse HEAD > \"$R/.git/MERGE_HEAD\"");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "busy");
    sh(f, "rm \"$R/.git/MERGE_HEAD\"");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
}

static void a_branch_that_nobody_has_checked_out_just_moves(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; git checkout -q -b elsewhere; echo dirty >> a.txt");
    assert_text(land_file(f, 1, "n.txt", "n"), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; git show main:n.txt; git status --porcelain; git "
                              "symbolic-ref HEAD; git fsck 2>&1"),
                        "n M a.txt\nrefs/heads/elsewhere");
    /* A bare repository of the user's. */
    sh(f, "cd \"$T\"; rm -rf \"$H\" \"$T/state\"; git clone -q --bare \"$R\" bare; rm -rf \"$R\"; "
          "mv bare \"$R\"");
    assert_text(land_file(f, 2, "m.txt", "m"), "delivered", "yes");
    assert_string_equal(sh(f, "git --git-dir=\"$R\" show main:m.txt"), "m");
}

static void a_linked_worktree_with_the_branch_is_moved_instead(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; git checkout -q -b elsewhere; git worktree add -q \"$T/linked\" main");
    assert_text(land_file(f, 1, "n.txt", "n"), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$T/linked\"; cat n.txt; git status --porcelain; ls "
                              "\"$R/n.txt\" 2>/dev/null || true"),
                        "n");
    sh(f, "echo dirty >> \"$T/linked/a.txt\"");
    assert_text(land_file(f, 2, "m.txt", "m"), "delivered", "dirty");
    /* In the middle of a rebase the branch counts as checked out. */
    sh(f,
       "cd \"$T/linked\"; git checkout -q a.txt; mkdir \"$R/.git/worktrees/linked/rebase-merge\"\n"
       "echo refs/heads/main > \"$R/.git/worktrees/linked/rebase-merge/head-name\"; git checkout "
       "-q --detach");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "busy");
}

static void odd_bytes_in_paths_do_no_harm(void **state)
{
    Fixture *f = *state;
    f->hub = arena_printf(&f->arena, "%s/st:a te/h\"u\\b", f->dir);
    f->root = arena_printf(&f->arena, "%s/st:a te/work", f->dir);
    sh(f, "mv \"$R\" \"$T/re po:x\"");
    f->repo = arena_printf(&f->arena, "%s/re po:x", f->dir);
    assert_text(land_file(f, 1, "n.txt", "n"), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; cat n.txt; git status --porcelain"), "n");
}

static void own_commits_of_the_user_are_never_overwritten(void **state)
{
    Fixture *f = *state;
    sh(f, "echo dirty >> \"$R/b.txt\"");
    land_file(f, 1, "n.txt", "n");
    sh(f, "cd \"$R\"; git commit -q -a -m own");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "diverged");
    assert_text(sync_main(f), "state", "merged");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; cat n.txt; tail -1 b.txt; git status --porcelain"),
                        "ndirty");
}

static void deletions_links_modes_and_folders_are_delivered(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1,
                              "git rm -q -r dir b.txt; ln -s a.txt link; printf x > run; chmod +x "
                              "run; mkdir -p p/q; echo r > 'p/q/r s'");
    land_merge(f, merge_commit(f, commit, 1), commit, 1);
    assert_string_equal(
        sh(f, "cd \"$R\"; git status --porcelain; ls; readlink link; stat -c %%a run"),
        "a.txt\nlink\np\nrun\na.txt\n755");
}

static void files_with_a_filter_are_left_to_the_users_git(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; echo '*.bin filter=lfs' > .gitattributes; git add .; git commit -q -m "
          "attributes");
    const json_t *out = land_file(f, 1, "x.bin", "pointer");
    assert_text(out, "delivered", "dirty");
    assert_non_null(strstr(get(out, "why"), "git merge --ff-only"));
    sh(f, "cd \"$R\"; git merge -q --ff-only %s", get(out, "tip"));
    assert_text(sync_main(f), "state", "same");
    assert_text(land_file(f, 2, "y.txt", "y"), "delivered", "yes");
}

static void landing_can_be_proven_later(void **state)
{
    Fixture *f = *state;
    const char *commit = work(f, 1, "echo n > n.txt"), *other = work(f, 2, "echo m > m.txt");
    land_merge(f, merge_commit(f, commit, 1), commit, 1);
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", f->hub, "target", "main", "commit", commit);
    assert_true(json_flag(job(f, "prove", json_incref(in)), "landed", false));
    json_object_set_new(in, "commit", json_string(other));
    assert_false(json_flag(job(f, "prove", json_incref(in)), "landed", true));
    /* The same patch under another name. */
    sh(f,
       "cd \"$R\"; git fetch -q \"$H\" %s; git cherry-pick FETCH_HEAD >/dev/null; git commit -q "
       "--amend -m renamed",
       other);
    sync_main(f);
    assert_true(json_flag(job(f, "prove", in), "landed", false));
}

static void a_landed_merge_can_be_undone(void **state)
{
    Fixture *f = *state;
    const char *first = get(land_file(f, 1, "n.txt", "n"), "tip");
    land_file(f, 2, "m.txt", "m");
    json_t *in = target_in(f);
    json_object_set_new(in, "landed", json_string(first));
    json_object_set_new(in, "message", json_string("Undo 1"));
    const json_t *undo = job(f, "rollback", json_incref(in));
    assert_text(undo, "state", "clean");
    assert_text(land_merge(f, undo, first, 1), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; ls; git status --porcelain; git log -1 --format=%%s"),
                        "a.txt\nb.txt\ndir\nm.txt\nUndo 1");
    assert_text(job(f, "rollback", in), "state", "empty");
}

static void an_undo_that_later_work_built_on_is_a_conflict(void **state)
{
    Fixture *f = *state;
    const char *first = get(land_file(f, 1, "n.txt", "1\\n2\\n3\\n"), "tip");
    land_file(f, 2, "n.txt", "1\\n2 changed\\n3\\n");
    json_t *in = target_in(f);
    json_object_set_new(in, "landed", json_string(first));
    json_object_set_new(in, "message", json_string("Undo 1"));
    const json_t *undo = job(f, "rollback", json_incref(in));
    assert_text(undo, "state", "conflict");
    assert_text(json_array_get(json_object_get(undo, "conflicts"), 0), "path", "n.txt");
    json_object_set_new(in, "landed", json_string(work(f, 3, "echo z > z")));
    assert_text(job(f, "rollback", in), "state", "blocked");
}

static void differences_are_bounded_and_always_text(void **state)
{
    Fixture *f = *state;
    const char *base = get(sync_main(f), "tip");
    const char *commit =
        work(f, 1, "printf 'caf\\351\\n' > latin.txt; seq 100000 > long.txt; printf '\\0' > bin");
    json_t *in = json_pack("{s:s,s:s,s:s,s:i}", "hub", f->hub, "from", base, "to", commit,
                           "limit_bytes", 5000);
    const json_t *out = job(f, "diff", json_incref(in));
    assert_true(json_flag(out, "cut", false));
    assert_non_null(strstr(get(out, "text"), "caf\xEF\xBF\xBD"));
    json_object_set_new(in, "stat", json_true());
    out = job(f, "diff", in);
    assert_false(json_flag(out, "cut", true));
    assert_non_null(strstr(get(out, "text"), "3 files changed"));
    const json_t *list = json_object_get(
        job(f, "log", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "base", base, "commit", commit)),
        "commits");
    assert_int_equal(json_array_size(list), 1);
    assert_text(json_array_get(list, 0), "subject", "work of 1");
    assert_text(json_array_get(list, 0), "commit", commit);
    list = json_object_get(
        job(f, "log", json_pack("{s:s,s:s,s:i}", "hub", f->hub, "commit", commit, "limit", 1)),
        "commits");
    assert_int_equal(json_array_size(list), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(a_clean_merge_has_two_parents_and_its_trailers),
        GIT_TEST(the_author_of_a_merge_can_be_given),
        GIT_TEST(a_conflict_is_explained_from_both_sides),
        GIT_TEST(work_that_changes_nothing_is_empty),
        GIT_TEST(what_the_user_did_meanwhile_is_merged_first),
        GIT_TEST(a_rewritten_target_blocks_the_merge),
        GIT_TEST(of_two_landings_one_wins),
        GIT_TEST(many_workers_landing_at_once_lose_nothing),
        GIT_TEST(only_proven_merges_land),
        GIT_TEST(a_dirty_checkout_stays_untouched_byte_for_byte),
        GIT_TEST(a_checkout_in_the_middle_of_something_is_left_alone),
        GIT_TEST(a_branch_that_nobody_has_checked_out_just_moves),
        GIT_TEST(a_linked_worktree_with_the_branch_is_moved_instead),
        GIT_TEST(odd_bytes_in_paths_do_no_harm),
        GIT_TEST(own_commits_of_the_user_are_never_overwritten),
        GIT_TEST(deletions_links_modes_and_folders_are_delivered),
        GIT_TEST(files_with_a_filter_are_left_to_the_users_git),
        GIT_TEST(landing_can_be_proven_later),
        GIT_TEST(a_landed_merge_can_be_undone),
        GIT_TEST(an_undo_that_later_work_built_on_is_a_conflict),
        GIT_TEST(differences_are_bounded_and_always_text),
    };
    return cmocka_run_group_tests_name("git merge", tests, NULL, NULL);
}
