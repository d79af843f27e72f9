/* A workspace prepared by somebody who wants otto to run his code (T8), and names that are not
 * what they seem (T9). */
#include "tests/git/fixture.h"

#include "base/file.h"
#include <string.h>

/* Every way that git offers to start a program; each leaves a file named after itself. */
static const char plant[] =
    "cd '%s'\n"
    "mkdir -p \"$T/canary\"; mkdir .git/evil\n"
    "c() { printf '#!/bin/sh\\ntouch \"'\"$T\"'/canary/%%s\"\\n%%s\\n' \"$1\" \"$2\" > "
    "\".git/evil/$1\"; chmod +x \".git/evil/$1\"; }\n"
    "for h in pre-commit post-commit post-checkout post-index-change reference-transaction "
    "pre-auto-gc post-merge post-rewrite \\\n"
    "  pre-receive update post-receive post-update fsmonitor-watchman prepare-commit-msg "
    "commit-msg proc-receive push-to-checkout; do c $h; done\n"
    "mkdir -p .git/hooks; cp .git/evil/* .git/hooks/\n"
    "for p in fsmonitor clean smudge process textconv extdiff driver-diff merge-driver pager "
    "editor ssh askpass credential \\\n"
    "  gitproxy alternate-refs pack-hook gpg ext-remote alias uploadpack trailer; do c $p; done; c "
    "clean cat; c smudge cat\n"
    "E=\"$PWD/.git/evil\"\n"
    "s() { git config --file .git/evil.cfg \"$1\" \"$2\"; }\n"
    "s core.hooksPath \"$E\"; s core.fsmonitor \"$E/fsmonitor\"; s core.pager \"$E/pager\"; s "
    "core.editor \"$E/editor\"\n"
    "s core.sshCommand \"$E/ssh\"; s core.askPass \"$E/askpass\"; s credential.helper "
    "\"$E/credential\"; s core.gitProxy \"$E/gitproxy\"\n"
    "s core.alternateRefsCommand \"$E/alternate-refs\"; s uploadpack.packObjectsHook "
    "\"$E/pack-hook\"; s gpg.program \"$E/gpg\"\n"
    "s filter.evil.clean \"$E/clean\"; s filter.evil.smudge \"$E/smudge\"; s diff.evil.textconv "
    "\"$E/textconv\"\n"
    "s diff.evil.command \"$E/driver-diff\"; s diff.external \"$E/extdiff\"; s merge.evil.driver "
    "\"$E/merge-driver\"\n"
    "for a in fetch status diff-tree ls-files read-tree update-index; do s alias.$a \"!$E/alias\"; "
    "done\n"
    "s remote.origin.url \"ext::$E/ext-remote\"; s remote.origin.uploadpack \"$E/uploadpack\"; s "
    "protocol.ext.allow always; s protocol.allow always\n"
    "s trailer.x.command \"$E/trailer\"; s log.showSignature true; s commit.gpgSign true; s "
    "interactive.diffFilter \"$E/pager\"\n"
    "printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes\n"
    "mkdir -p .git/info; cp .gitattributes .git/info/attributes\n";

static const char fire[] = "cd '%s'; git config include.path evil.cfg\n"
                           "git config core.repositoryformatversion 1\n"
                           "git init -q nested; cp -r .git/evil nested/.git/evil; cp .git/evil.cfg "
                           "nested/.git/; git -C nested config include.path evil.cfg\n"
                           "touch nested/x; touch a.txt dir/c.txt\n";

static void agent_commits(Fixture *f, const char *path)
{
    sh(f, plant, path);
    sh(f,
       "cd '%s'; echo work > work.txt; sed -i s/5/mine/ a.txt; git add .; git commit -q -m work; "
       "echo more >> work.txt; echo u > un.txt",
       path);
    sh(f, fire, path);
    sh(f, "rm -f \"$T\"/canary/*"); /* what fired for the agent's own git */
}

static const char *canaries(Fixture *f)
{
    return sh(f, "ls \"$T/canary\" | tr '\\n' ' '");
}

static void nothing_planted_in_a_workspace_is_ever_run(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    agent_commits(f, path);
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_false(json_flag(shot, "is_head_lost", true));
    assert_true(json_flag(shot, "has_uncommitted", false));
    shot = snapshot_at(f, ws, 1, 1, 1);
    const char *commit = get(shot, "commit");
    assert_string_equal(sh(f, "git --git-dir=\"$H\" show %s:work.txt", commit), "work\nmore");
    job(f, "diff",
        json_pack("{s:s,s:s,s:s}", "hub", f->hub, "from", get(ws, "base"), "to", commit));
    job(f, "diff",
        json_pack("{s:s,s:s,s:s,s:b}", "hub", f->hub, "from", get(ws, "base"), "to", commit, "stat",
                  1));
    job(f, "log", json_pack("{s:s,s:s}", "hub", f->hub, "commit", commit));
    job(f, "change",
        json_pack("{s:s,s:s,s:s,s:[s]}", "hub", f->hub, "base", get(ws, "base"), "commit", commit,
                  "tests", "**"));
    const char *gate = arena_printf(&f->arena, "%s/g1", f->gate);
    job(f, "checkout", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "commit", commit, "path", gate));
    assert_string_equal(sh(f, "cat '%s/work.txt'", gate), "work\nmore");
    job(f, "checkout",
        json_pack("{s:s,s:s,s:s,s:{s:s,s:[s,s]}}", "hub", f->hub, "commit", commit, "path", gate,
                  "overlay", "commit", get(ws, "base"), "paths", "a.txt", "work.txt"));
    job(f, "discard", json_pack("{s:s,s:s}", "root", f->gate, "path", gate));
    sh(f, "cd \"$R\"; sed -i s/5/theirs/ a.txt; git commit -q -a -m theirs");
    assert_text(merge_commit(f, commit, 1), "state", "conflict");
    sh(f, "cd \"$R\"; git revert --no-edit HEAD >/dev/null");
    const json_t *merge = merge_commit(f, commit, 1);
    assert_text(merge, "state", "clean");
    const json_t *landed = land_merge(f, merge, commit, 1);
    assert_text(landed, "state", "landed");
    job(f, "prove", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "target", "main", "commit", commit));
    json_t *undo = json_pack("{s:s,s:s,s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target",
                             "main", "landed", get(landed, "tip"), "message", "undo");
    job(f, "rollback", undo);
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:s}", "hub", f->hub, "repo",
                           f->repo, "target", "main", "root", f->root, "kind", "clone", "project",
                           1, "task", 1, "run", 1, "epoch", 2, "restore", commit);
    const json_t *again = job(f, "prepare", in);
    in = retire_in(f, again, 1, 2, get(snapshot_at(f, again, 1, 2, 1), "commit"));
    json_object_set_new(in, "aside", json_true());
    assert_false(json_flag(job(f, "retire", in), "kept", true));
    in = retire_in(f, ws, 1, 1, commit);
    json_object_set_new(in, "landed", json_pack("{s:s,s:s}", "commit", commit, "target", "main"));
    assert_false(json_flag(job(f, "retire", in), "kept", true));
    assert_string_equal(canaries(f), "");
}

/* The same traps, sprung by plain git: otherwise the test above would prove nothing. */
static void the_same_traps_do_fire_for_plain_git(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    agent_commits(f, path);
    sh(f,
       "cd '%s'; git -c alias.status= status >/dev/null 2>&1 || true; touch a.txt; git add -A "
       ">/dev/null 2>&1 || true\n"
       "git -c commit.gpgSign=false commit -q -m x >/dev/null 2>&1 || true; git diff HEAD~1 "
       ">/dev/null 2>&1 || true; git fetch >/dev/null 2>&1 || true",
       path);
    const char *fired = canaries(f);
    static const char *const must[] = {"fsmonitor",  "clean",       "smudge",
                                       "pre-commit", "driver-diff", "ext-remote"};
    for (size_t i = 0; i < COUNT(must); i++)
        if (!strstr(fired, must[i]))
            fail_msg("'%s' did not fire: %s", must[i], fired);
}

static void a_promisor_remote_is_not_asked_for_missing_objects(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    sh(f, plant, path);
    sh(f,
       "cd '%s'; echo w > w.txt; git add w.txt; git commit -q -m w\n"
       "rm -f .git/objects/$(git rev-parse HEAD:w.txt | sed 's,^..,&/,')\n"
       "git config core.repositoryformatversion 1; git config extensions.partialClone origin; git "
       "config remote.origin.promisor true\n"
       "git config include.path evil.cfg; rm -f \"$T\"/canary/*",
       path);
    const json_t *shot = snapshot_at(f, ws, 1, 1, 1);
    assert_true(json_flag(shot, "is_head_lost", false)); /* the files are saved all the same */
    assert_string_equal(sh(f, "git --git-dir=\"$H\" show %s:w.txt", get(shot, "commit")), "w");
    assert_string_equal(canaries(f), "");
}

static void git_folders_that_point_elsewhere_are_not_read(void **state)
{
    Fixture *f = *state;
    static const char *const tricks[] = {
        "mv .git ../moved; ln -s ../moved .git",
        "mv .git ../moved; echo \"gitdir: $PWD/../moved\" > .git",
        "echo \"$T/secret/.git/objects\" >> .git/objects/info/alternates",
        "rm -r .git/objects; ln -s \"$T/secret/.git/objects\" .git/objects",
        "mv .git/objects/pack .git/p; ln -s \"$T/secret/.git/objects/pack\" .git/objects/pack",
        "echo \"$T/secret/.git\" > .git/commondir",
        "rm .git/HEAD; ln -s \"$T/secret/.git/HEAD\" .git/HEAD",
        "rm .git/HEAD; mkfifo .git/HEAD",
        "rm -f .git/refs/heads/otto/task-*; mkfifo .git/refs/heads/otto/x",
        "rm -rf .git; mkfifo .git",
    };
    sh(f, "git init -q \"$T/secret\"; cd \"$T/secret\"; echo secret > s; git add s; git commit -q "
          "-m s");
    const char *secret = sh(f, "git -C \"$T/secret\" rev-parse HEAD");
    for (size_t i = 0; i < COUNT(tricks); i++) {
        int task = (int)i + 1;
        const json_t *ws = prepare_at(f, "clone", task, 1);
        sh(f,
           "rm -rf '%s/moved'; cd '%s'; %s\necho file > file.txt; echo %s > .git/refs/heads/evil "
           "2>/dev/null || true",
           f->root, get(ws, "path"), tricks[i], secret);
        const json_t *shot = snapshot_at(f, ws, task, 1, 1);
        if (!json_flag(shot, "is_head_lost", false))
            fail_msg("trick %zu was not noticed", i);
        assert_string_equal(sh(f, "git --git-dir=\"$H\" show %s:file.txt", get(shot, "commit")),
                            "file");
        const json_t *out = job(f, "retire", retire_in(f, ws, task, 1, get(shot, "commit")));
        assert_false(json_flag(out, "kept", true));
    }
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" cat-file -e %s 2>/dev/null && echo leaked || echo safe",
           secret),
        "safe");
}

static void a_link_in_place_of_a_workspace_is_refused(void **state)
{
    Fixture *f = *state;
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *path = get(ws, "path");
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    sh(f,
       "mkdir \"$T/victim\"; echo precious > \"$T/victim/file\"; rm -rf '%s'; ln -s \"$T/victim\" "
       "'%s'",
       path, path);
    job_fail(f, "snapshot",
             json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:s}", "hub", f->hub, "path", path, "kind",
                       "clone", "run", 1, "epoch", 1, "turn", 2, "base", commit));
    assert_text(job_fail(f, "retire", retire_in(f, ws, 1, 1, commit)), "kind", "refused");
    /* The root itself. */
    const json_t *other = prepare_at(f, "clone", 2, 1);
    commit = get(snapshot_at(f, other, 2, 1, 1), "commit");
    sh(f, "mv '%s' \"$T/victim/work\"; ln -s \"$T/victim/work\" '%s'", f->root, f->root);
    assert_text(job_fail(f, "retire", retire_in(f, other, 2, 1, commit)), "kind", "refused");
    assert_string_equal(sh(f, "cat \"$T/victim/file\"; ls \"$T/victim/work\""),
                        "precious\np1-t1-r1-e1\np1-t2-r2-e1");
}

static void hostile_ids_and_names_never_become_paths(void **state)
{
    Fixture *f = *state;
    static const char *const ids[] = {
        "../x", "a/b",  "-rf",  "",  ".",   "..",
        "a b",  "a\nb", "$(x)", "é", "x;y", "0123456789012345678901234567890123456789x"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:s,s:i,s:i}", "hub", f->hub, "repo",
                               f->repo, "target", "main", "root", f->root, "kind", "clone",
                               "project", 1, "task", ids[i], "run", 1, "epoch", 1);
        assert_text(job_fail(f, "prepare", in), "kind", "bad-input");
    }
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "hub", f->hub, "repo", f->repo,
                           "target", "main", "root", f->root, "kind", "clone", "project", 1, "task",
                           -1, "run", 1, "epoch", 1);
    job_fail(f, "prepare", in);
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    static const char *const commits[] = {"HEAD", "--all", "main", "0123",
                                          "ABCDEF7890123456789012345678901234567890"};
    for (size_t i = 0; i < COUNT(commits); i++)
        job_fail(f, "snapshot",
                 json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:s}", "hub", f->hub, "path", get(ws, "path"),
                           "kind", "clone", "run", 1, "epoch", 1, "turn", 1, "base", commits[i]));
}

static void odd_names_in_conflicts_are_data(void **state)
{
    Fixture *f = *state;
    const json_t *a = prepare_at(f, "clone", 1, 1), *b = prepare_at(f, "clone", 2, 1);
    const char *names = "for n in '-x' 'a b' '*' \"$(printf 'n\\nl')\" \"$(printf 'b\\377')\" "
                        "\"$(printf 'esc\\033[31m')\"; do echo $W > \"./$n\"; done";
    sh(f, "cd '%s'; W=1; %s; git add -A; git commit -q -m one", get(a, "path"), names);
    sh(f, "cd '%s'; W=2; %s; git add -A; git commit -q -m two", get(b, "path"), names);
    const char *first = get(snapshot_at(f, a, 1, 1, 1), "commit"),
               *second = get(snapshot_at(f, b, 2, 1, 1), "commit");
    assert_text(land_merge(f, merge_commit(f, first, 1), first, 1), "delivered", "yes");
    const json_t *merge = merge_commit(f, second, 2);
    assert_text(merge, "state", "conflict");
    assert_int_equal(json_array_size(json_object_get(merge, "conflicts")), 6);
    assert_text(json_array_get(json_object_get(merge, "conflicts"), 0), "kind", "contents");
    assert_null(strchr(get(merge, "explain"), '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(nothing_planted_in_a_workspace_is_ever_run),
        GIT_TEST(the_same_traps_do_fire_for_plain_git),
        GIT_TEST(a_promisor_remote_is_not_asked_for_missing_objects),
        GIT_TEST(git_folders_that_point_elsewhere_are_not_read),
        GIT_TEST(a_link_in_place_of_a_workspace_is_refused),
        GIT_TEST(hostile_ids_and_names_never_become_paths),
        GIT_TEST(odd_names_in_conflicts_are_data),
    };
    return cmocka_run_group_tests_name("git hostile", tests, NULL, NULL);
}
