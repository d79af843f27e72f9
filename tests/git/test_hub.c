/* inspect, hub, sync: the user's repository and its hub. */
#include "tests/git/fixture.h"

#include "base/file.h"
#include <string.h>

static json_t *path_in(const char *path)
{
    return json_pack("{s:s}", "path", path);
}

static void inspect_tells_what_a_repository_is(void **state)
{
    Fixture *f = *state;
    const json_t *seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/dir", f->repo)));
    assert_text(seen, "root", f->repo);
    assert_text(seen, "branch", "main");
    assert_text(seen, "format", "sha1");
    assert_false(json_flag(seen, "is_dirty", true));
    assert_false(json_flag(seen, "is_empty", true));
    assert_null(json_object_get(seen, "problem"));
    sh(f, "cd \"$R\"; echo more >> a.txt; git checkout -q --detach");
    seen = job(f, "inspect", path_in(f->repo));
    assert_true(json_flag(seen, "is_dirty", false));
    assert_true(json_flag(seen, "is_detached", false));
    assert_true(json_is_null(json_object_get(seen, "branch")));
}

static void inspect_knows_bare_empty_linked_and_foreign_folders(void **state)
{
    Fixture *f = *state;
    sh(f, "git init -q --bare \"$T/bare\"; git init -q \"$T/empty\"; mkdir \"$T/plain\"\n"
          "git -C \"$R\" worktree add -q -b side \"$T/linked\"");
    const json_t *seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/bare", f->dir)));
    assert_true(json_flag(seen, "is_bare", false));
    seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/empty", f->dir)));
    assert_true(json_flag(seen, "is_empty", false));
    assert_text(seen, "branch", "main");
    seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/linked", f->dir)));
    assert_text(seen, "branch", "side");
    assert_text(seen, "git_dir", arena_printf(&f->arena, "%s/.git", f->repo));
    seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/plain", f->dir)));
    assert_non_null(strstr(get(seen, "problem"), "not a git repository"));
    seen = job(f, "inspect", path_in(arena_printf(&f->arena, "%s/none", f->dir)));
    assert_non_null(strstr(get(seen, "problem"), "not a folder"));
}

static void fields_are_checked_before_anything_happens(void **state)
{
    Fixture *f = *state;
    static const char *const paths[] = {"relative", "/a/../b", "/a/./b", "/a//b", "/a/", ""};
    for (size_t i = 0; i < COUNT(paths); i++)
        assert_text(job_fail(f, "inspect", path_in(paths[i])), "kind", "bad-input");
    static const char *const branches[] = {"-x",   "a..b", "a b",   "a~1", "x.lock", "/a",
                                           "a/",   "a//b", "HEAD",  "@",   "a@{1}",  "a:b",
                                           "a/.b", "a\nb", "--foo", "",    "x/-y"};
    for (size_t i = 0; i < COUNT(branches); i++)
        assert_text(job_fail(f, "sync",
                             json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target",
                                       branches[i])),
                    "kind", "bad-input");
    assert_false(path_exists(f->hub));
}

static void the_hub_is_made_once_with_a_fixed_configuration(void **state)
{
    Fixture *f = *state;
    sh(f,
       "cd \"$R\"; git config user.name Local; git config user.email 'l\"x@y'; git branch "
       "feature/x\n"
       "printf '#!/bin/sh\\ntouch $T/canary\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/*");
    json_t *in = json_pack("{s:s,s:s}", "hub", f->hub, "repo", f->repo);
    assert_true(json_flag(job(f, "hub", json_incref(in)), "created", false));
    assert_false(json_flag(job(f, "hub", json_incref(in)), "created", true));
    assert_string_equal(sh(f, "git --git-dir=\"$H\" config user.name"), "Local");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" config user.email"), "l\"x@y");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" for-each-ref --format='%%(refname)'"),
                        "refs/otto/seed/feature/x\nrefs/otto/seed/main");
    assert_string_equal(sh(f, "ls \"$H/hooks\" 2>/dev/null | wc -l | tr -d ' '"), "0");
    /* Hard links: the same object file is in both. */
    assert_string_equal(sh(f, "stat -c %%h $(find \"$H/objects\" -type f | head -1)"), "2");
    sh(f, "git -C \"$R\" config user.name Changed");
    assert_false(json_flag(job(f, "hub", in), "created", true));
    assert_string_equal(sh(f, "git --git-dir=\"$H\" config user.name"), "Changed");
    assert_string_equal(sh(f, "ls -d \"$H\".part* 2>/dev/null || true"), "");
    assert_string_equal(sh(f, "ls \"$T/canary\" 2>/dev/null || true"), "");
}

static void a_foreign_folder_is_not_taken_for_a_hub(void **state)
{
    Fixture *f = *state;
    sh(f, "mkdir -p \"$H\"; echo precious > \"$H/file\"");
    const json_t *out = job_fail(f, "hub", json_pack("{s:s,s:s}", "hub", f->hub, "repo", f->repo));
    assert_text(out, "kind", "refused");
    assert_string_equal(sh(f, "cat \"$H/file\""), "precious");
}

static void sync_follows_the_user_forward(void **state)
{
    Fixture *f = *state;
    assert_text(sync_main(f), "state", "forwarded");
    assert_text(sync_main(f), "state", "same");
    sh(f, "cd \"$R\"; echo x > x.txt; git add .; git commit -q -m x");
    const json_t *out = sync_main(f);
    assert_text(out, "state", "forwarded");
    assert_text(out, "tip", sh(f, "git -C \"$R\" rev-parse HEAD"));
    assert_text(sync_main(f), "state", "same");
}

static void sync_works_for_branches_with_a_slash_and_packed_references(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; git branch feature/x; git pack-refs --all");
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "feature/x");
    assert_text(job(f, "sync", json_incref(in)), "state", "forwarded");
    sh(f, "cd \"$R\"; git checkout -q feature/x; echo y > y; git add y; git commit -q -m y");
    assert_text(job(f, "sync", json_incref(in)), "state", "forwarded");
    sh(f, "git --git-dir=\"$H\" pack-refs --all");
    assert_text(job(f, "sync", in), "state", "same");
}

static void a_missing_branch_is_an_answer(void **state)
{
    Fixture *f = *state;
    const json_t *out = job(
        f, "sync", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "nowhere"));
    assert_text(out, "state", "missing");
    assert_true(json_is_null(json_object_get(out, "tip")));
}

static void a_rewritten_branch_changes_nothing_until_a_person_agrees(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; echo x > x.txt; git add .; git commit -q -m x");
    sync_main(f);
    const char *tip = sh(f, "git -C \"$R\" rev-parse HEAD");
    sh(f, "cd \"$R\"; git commit -q --amend -m other");
    const json_t *out = sync_main(f);
    assert_text(out, "state", "rewritten");
    assert_text(out, "tip", tip);
    assert_string_equal(sh(f, "git --git-dir=\"$H\" rev-parse refs/heads/main"), tip);
    out = job(f, "sync",
              json_pack("{s:s,s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "main",
                        "accept", get(out, "user_tip")));
    assert_text(out, "tip", sh(f, "git -C \"$R\" rev-parse HEAD"));
    assert_text(sync_main(f), "state", "same");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" rev-parse refs/otto/before/main/%s", tip), tip);
}

static void taking_back_what_was_delivered_is_noticed(void **state)
{
    Fixture *f = *state;
    sh(f, "git -C \"$R\" checkout -q --detach"); /* so that nothing is in the way of a branch */
    land_file(f, 1, "landed.txt", "landed");
    sh(f, "cd \"$R\"; git checkout -q main; git reset -q --hard HEAD~1");
    assert_text(sync_main(f), "state", "rewritten");
}

static void what_both_changed_is_a_conflict(void **state)
{
    Fixture *f = *state;
    sh(f, "cd \"$R\"; echo dirty >> b.txt"); /* keeps the delivery away */
    const json_t *landed = land_file(f, 1, "a.txt", "theirs");
    assert_text(landed, "delivered", "dirty");
    assert_text(sync_main(f), "state", "ahead");
    sh(f, "cd \"$R\"; echo mine > a.txt; git commit -q -m mine a.txt");
    const json_t *out = sync_main(f);
    assert_text(out, "state", "conflict");
    assert_non_null(strstr(get(out, "why"), "a.txt"));
    /* Another file merges. */
    sh(f, "cd \"$R\"; git reset -q --soft HEAD~1; git checkout -q HEAD -- a.txt\n"
          "echo new > n.txt; git add n.txt; git commit -q -m n n.txt");
    out = sync_main(f);
    assert_text(out, "state", "merged");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" show refs/heads/main:n.txt"), "new");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" show refs/heads/main:a.txt"), "theirs");
}

static void sha256_repositories_work(void **state)
{
    Fixture *f = *state;
    sh(f, "rm -rf \"$R\"; git init -q --object-format=sha256 \"$R\"; cd \"$R\"; echo 1 > a; git "
          "add a; "
          "git commit -q -m 1");
    assert_text(land_file(f, 1, "n.txt", "n"), "delivered", "yes");
    assert_string_equal(sh(f, "cat \"$R/n.txt\"; git -C \"$R\" fsck --strict 2>&1"), "n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(inspect_tells_what_a_repository_is),
        GIT_TEST(inspect_knows_bare_empty_linked_and_foreign_folders),
        GIT_TEST(fields_are_checked_before_anything_happens),
        GIT_TEST(the_hub_is_made_once_with_a_fixed_configuration),
        GIT_TEST(a_foreign_folder_is_not_taken_for_a_hub),
        GIT_TEST(sync_follows_the_user_forward),
        GIT_TEST(sync_works_for_branches_with_a_slash_and_packed_references),
        GIT_TEST(a_missing_branch_is_an_answer),
        GIT_TEST(a_rewritten_branch_changes_nothing_until_a_person_agrees),
        GIT_TEST(taking_back_what_was_delivered_is_noticed),
        GIT_TEST(what_both_changed_is_a_conflict),
        GIT_TEST(sha256_repositories_work),
    };
    return cmocka_run_group_tests_name("git hub", tests, NULL, NULL);
}
