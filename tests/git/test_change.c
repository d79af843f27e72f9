/* change, log, checkout with an overlay: what a commit did, told within bounds. */
#include "tests/git/fixture.h"

#include "base/str.h"
#include <string.h>

/* Runs shell text in the repository, commits everything, and lets the hub see it. */
static const char *commit_all(Fixture *f, const char *text)
{
    const char *commit =
        sh(f, "cd \"$R\"; %s\ngit add -A; git commit -q --allow-empty -m step; git rev-parse HEAD",
           text);
    sync_main(f);
    return commit;
}

static const char *tip(Fixture *f)
{
    sync_main(f);
    return sh(f, "git -C \"$R\" rev-parse HEAD");
}

static json_t *change_in(Fixture *f, const char *base, const char *commit)
{
    return json_pack("{s:s,s:s,s:s}", "hub", f->hub, "base", base, "commit", commit);
}

static const json_t *change_tests(Fixture *f, const char *base, const char *commit,
                                  const char *pattern)
{
    json_t *in = change_in(f, base, commit);
    json_object_set_new(in, "tests", json_pack("[s]", pattern));
    return job(f, "change", in);
}

static const json_t *row(const json_t *out, const char *list, const char *path)
{
    const json_t *rows = json_object_get(out, list);
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (strcmp(get(json_array_get(rows, i), "path"), path) == 0)
            return json_array_get(rows, i);
    fail_msg("no '%s' in %s", path, list);
    return NULL;
}

static void assert_row(const json_t *out, const char *path, const char *status, int added,
                       int removed)
{
    const json_t *file = row(out, "files", path);
    assert_text(file, "status", status);
    assert_int_equal(json_int(file, "added", -1), added);
    assert_int_equal(json_int(file, "removed", -1), removed);
}

/* "12:text|13:text|" */
static const char *lines(Fixture *f, const json_t *test, const char *side)
{
    Str text = STR_INIT;
    const json_t *list = json_object_get(test, side);
    for (size_t i = 0; i < json_array_size(list); i++)
        str_addf(&text, "%d:%s|", (int)json_int(json_array_get(list, i), "line", -1),
                 get(json_array_get(list, i), "text"));
    const char *copy = arena_strdup(&f->arena, str_text(&text));
    str_done(&text);
    return copy;
}

static void every_kind_of_change_is_listed(void **state)
{
    Fixture *f = *state;
    const char *base = tip(f);
    const char *commit = commit_all(
        f, "echo new > new.txt; sed -i 's/5/five/' a.txt; rm b.txt; mkdir d2; git mv dir/c.txt "
           "d2/moved.txt; rm .gitignore; ln -s a.txt .gitignore; printf '\\0\\1' > bin; chmod +x "
           "a.txt");
    const json_t *out = job(f, "change", change_in(f, base, commit));
    assert_int_equal(json_array_size(json_object_get(out, "files")), 6);
    assert_row(out, "new.txt", "A", 1, 0);
    assert_row(out, "a.txt", "M", 1, 1);
    assert_row(out, "b.txt", "D", 0, 1);
    assert_row(out, "d2/moved.txt", "R", 0, 0);
    assert_text(row(out, "files", "d2/moved.txt"), "old", "dir/c.txt");
    assert_row(out, ".gitignore", "T", 1, 2);
    assert_row(out, "bin", "A", 0, 0);
    assert_true(json_flag(row(out, "files", "bin"), "binary", false));
    assert_null(json_object_get(row(out, "files", "a.txt"), "binary"));
    const json_t *totals = json_object_get(out, "totals");
    assert_int_equal(json_int(totals, "files", 0), 6);
    assert_int_equal(json_int(totals, "lines", 0), 7);
    assert_int_equal(json_int(totals, "dirs", 0), 2);
    assert_false(json_flag(out, "truncated", true));
    assert_non_null(strstr(get(out, "patch"), "rename from dir/c.txt"));
    assert_non_null(strstr(get(out, "patch"), "+five"));
    assert_int_equal(json_array_size(json_object_get(out, "tests")), 0);
}

static void a_change_can_be_against_nothing_and_can_be_none(void **state)
{
    Fixture *f = *state;
    const char *base = tip(f);
    const json_t *out = job(f, "change", change_in(f, "", base));
    assert_int_equal(json_int(json_object_get(out, "totals"), "files", 0), 4);
    assert_row(out, "dir/c.txt", "A", 1, 0);
    out = job(f, "change", json_pack("{s:s,s:s}", "hub", f->hub, "commit", base));
    assert_int_equal(json_int(json_object_get(out, "totals"), "files", 0), 4);
    out = job(f, "change", change_in(f, base, base));
    assert_int_equal(json_array_size(json_object_get(out, "files")), 0);
    assert_int_equal(json_int(json_object_get(out, "totals"), "dirs", -1), 0);
    assert_text(out, "patch", "");
    json_t *in = change_in(f, "", base);
    json_object_set_new(in, "patch_bytes", json_integer(0));
    assert_text(job(f, "change", in), "patch", "");
}

static void sha256_changes_are_told_too(void **state)
{
    Fixture *f = *state;
    sh(f, "rm -rf \"$R\"; git init -q --object-format=sha256 \"$R\"; cd \"$R\"; echo 1 > a.t; git "
          "add a.t; git commit -q -m 1");
    const char *base = tip(f);
    assert_int_equal(strlen(base), 64);
    assert_row(job(f, "change", change_in(f, "", base)), "a.t", "A", 1, 0);
    const json_t *out = change_tests(f, base, commit_all(f, "echo 2 > a.t"), "*.t");
    assert_string_equal(lines(f, row(out, "tests", "a.t"), "removed"), "1:1|");
    const char *path = arena_printf(&f->arena, "%s/g1", f->gate);
    json_t *in = json_pack("{s:s,s:s,s:s,s:{s:s,s:[s,s]}}", "hub", f->hub, "commit", tip(f), "path",
                           path, "overlay", "commit", base, "paths", "a.t", "gone.t");
    job(f, "checkout", in);
    assert_string_equal(sh(f, "cat '%s/a.t'", path), "1");
}

static void the_lines_of_test_files_are_shown(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(
        f, "mkdir t; printf 'one\\ntwo\\nthree\\nfour\\n' > t/m.py; printf 'gone\\n' > t/d.py\n"
           "seq 20 > t/r.py; seq 30 50 > t/out.py; seq 60 80 > exact.py; echo same > t/exact.py");
    const char *commit = commit_all(
        f,
        "printf 'one\\n-- two\\n@@ -1 +1 @@\\nfour\\nfive' > t/m.py; rm t/d.py; printf 'a\\nb' > "
        "t/a.py\ngit mv t/r.py t/r2.py; sed -i s/7/seven/ t/r2.py; git mv t/out.py out.txt; git "
        "mv exact.py t/in.py; chmod +x t/exact.py; echo x > other.c");
    const json_t *out = change_tests(f, base, commit, "t/**");
    assert_int_equal(json_array_size(json_object_get(out, "tests")), 7);
    const json_t *m = row(out, "tests", "t/m.py");
    assert_string_equal(lines(f, m, "removed"), "2:two|3:three|");
    assert_string_equal(lines(f, m, "added"), "2:-- two|3:@@ -1 +1 @@|5:five|");
    assert_string_equal(lines(f, row(out, "tests", "t/d.py"), "removed"), "1:gone|");
    assert_string_equal(lines(f, row(out, "tests", "t/a.py"), "added"), "1:a|2:b|");
    const json_t *renamed = row(out, "tests", "t/r2.py");
    assert_text(renamed, "status", "R");
    assert_text(renamed, "old", "t/r.py");
    assert_string_equal(lines(f, renamed, "removed"), "7:7|17:17|");
    assert_string_equal(lines(f, renamed, "added"), "7:seven|17:1seven|");
    /* A test that is no longer found as one, and one that is only moved in. */
    assert_text(row(out, "tests", "out.txt"), "old", "t/out.py");
    assert_string_equal(lines(f, row(out, "tests", "t/in.py"), "added"), "");
    assert_string_equal(lines(f, row(out, "tests", "t/exact.py"), "removed"), "");
    assert_false(json_flag(out, "truncated", true));
}

/* git must not be talked into hiding a test: as binary, by attributes, or behind its own words. */
static void a_test_cannot_be_hidden(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(
        f,
        "mkdir t; printf 'assert 1\\nassert 2\\n' > t/nul.py; cp t/nul.py t/attr.py; cp t/nul.py "
        "t/link.py");
    const char *commit = commit_all(
        f, "printf 'assert 1\\n\\0\\n' > t/nul.py; printf 'assert 1\\n' > t/attr.py\n"
           "printf '* binary -diff diff=evil\\n' > .gitattributes; cp .gitattributes t/; rm "
           "t/link.py; ln -s nul.py t/link.py");
    const json_t *out = change_tests(f, base, commit, "/t");
    const json_t *nul = row(out, "tests", "t/nul.py");
    assert_true(json_flag(nul, "binary", false));
    assert_string_equal(lines(f, nul, "removed"), "2:assert 2|");
    assert_string_equal(lines(f, nul, "added"), "2:\xef\xbf\xbd|");
    const json_t *attr = row(out, "tests", "t/attr.py");
    assert_null(json_object_get(attr, "binary"));
    assert_string_equal(lines(f, attr, "removed"), "2:assert 2|");
    const json_t *link = row(out, "tests", "t/link.py");
    assert_text(link, "status", "T");
    assert_string_equal(lines(f, link, "removed"), "1:assert 1|2:assert 2|");
    assert_string_equal(lines(f, link, "added"), "1:nul.py|");
}

static void a_file_that_becomes_a_folder_is_both(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(f, "mkdir t; echo old > t/x; mkdir t/y; echo in > t/y/z");
    const char *commit = commit_all(f, "rm -r t/x t/y; mkdir t/x; echo 1 > t/x/z; echo 2 > t/y");
    const json_t *out = change_tests(f, base, commit, "t/");
    assert_text(row(out, "tests", "t/x"), "status", "D");
    assert_string_equal(lines(f, row(out, "tests", "t/x"), "removed"), "1:old|");
    assert_string_equal(lines(f, row(out, "tests", "t/x/z"), "added"), "1:1|");
    assert_string_equal(lines(f, row(out, "tests", "t/y"), "added"), "1:2|");
    assert_string_equal(lines(f, row(out, "tests", "t/y/z"), "removed"), "1:in|");
}

static void a_submodule_that_moves_is_a_change(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(
        f, "git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,sub"
           "; git commit -q -m sub; mkdir sub");
    const char *commit =
        sh(f, "cd \"$R\"; git update-index --cacheinfo "
              "160000,2222222222222222222222222222222222222222,sub; git commit -q -m moved; git "
              "rev-parse HEAD");
    sync_main(f);
    const json_t *out = change_tests(f, base, commit, "sub");
    assert_text(row(out, "files", "sub"), "status", "M");
    assert_int_equal(json_array_size(json_object_get(row(out, "tests", "sub"), "added")), 0);
    assert_non_null(strstr(get(out, "patch"), "Subproject commit 2222"));
}

static void hostile_names_and_bytes_are_only_data(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(f, "printf 'x\\n' > late.t");
    const char *commit = commit_all(
        f, "for n in '-x.t' 'a b.t' '*.t' \"$(printf 'n\\nl.t')\" \"$(printf 'b\\377.t')\" "
           "\"$(printf 'tab\\there.t')\" \"$(printf 'esc\\033[31m.t')\" ':(glob).t' '\"q\".t' "
           "'@@ -1 +1 @@.t'; do printf 'l\\303\\n\\033[31m\\n' > \"./$n\"; done\n"
           "{ head -c 9000 /dev/zero | tr '\\0' 'x'; printf '\\n\\0\\377end\\n'; } >> late.t");
    const json_t *out = change_tests(f, base, commit, "*.t");
    CLEANUP(mem_freep) char *text = json_write(out);
    Err err = {0};
    CLEANUP(json_freep) json_t *again = json_read(text, strlen(text), &err);
    assert_non_null(again); /* whatever the bytes, the answer can be read */
    assert_int_equal(json_array_size(json_object_get(out, "files")), 11);
    assert_int_equal(json_array_size(json_object_get(out, "tests")), 11);
    assert_string_equal(lines(f, row(out, "tests", "n\nl.t"), "added"),
                        "1:l\xef\xbf\xbd|2:\033[31m|");
    assert_string_equal(lines(f, row(out, "tests", "b\xef\xbf\xbd.t"), "added"),
                        "1:l\xef\xbf\xbd|2:\033[31m|");
    const json_t *late = row(out, "tests", "late.t");
    assert_true(json_flag(late, "cut", false)); /* the long line */
    const json_t *added = json_object_get(late, "added");
    assert_text(json_array_get(added, 1), "text",
                "\xef\xbf\xbd\xef\xbf\xbd"
                "end");
    assert_true(json_flag(out, "truncated", false));
}

static void everything_is_bounded(void **state)
{
    Fixture *f = *state;
    const char *base = tip(f);
    const char *commit = commit_all(
        f, "for d in $(seq 56); do mkdir -p d$d; for i in $(seq 100); do echo $i > d$d/f$i; done; "
           "done\nmkdir t; for i in $(seq 210); do echo $i > t/$i; done; seq 30000 > t/0");
    json_t *in = change_in(f, base, commit);
    json_object_set_new(in, "tests", json_pack("[s]", "t/**"));
    json_object_set_new(in, "patch_bytes", json_integer(1000));
    const json_t *out = job(f, "change", in);
    assert_int_equal(json_array_size(json_object_get(out, "files")), 5000);
    assert_int_equal(json_int(json_object_get(out, "totals"), "files", 0), 5811);
    assert_int_equal(json_int(json_object_get(out, "totals"), "lines", 0), 5810 + 30000);
    assert_int_equal(json_int(json_object_get(out, "totals"), "dirs", 0), 57);
    assert_int_equal(json_array_size(json_object_get(out, "tests")), 200);
    const json_t *big = row(out, "tests", "t/0");
    assert_int_equal(json_array_size(json_object_get(big, "added")), 2000);
    assert_true(json_flag(big, "cut", false));
    assert_true(json_flag(out, "truncated", false));
    const char *patch = get(out, "patch");
    assert_true(strlen(patch) < 1100);
    const char *note = strstr(patch, "\n(cut here after ");
    assert_non_null(note);
    assert_non_null(strstr(note, "bytes; the rest is in git)\n"));
}

static void bad_fields_of_a_change_are_refused(void **state)
{
    Fixture *f = *state;
    const char *base = tip(f);
    assert_text(job_fail(f, "change", change_in(f, "HEAD", base)), "kind", "bad-input");
    assert_text(job_fail(f, "change", change_in(f, "--output=/tmp/x", base)), "kind", "bad-input");
    assert_text(job_fail(f, "change", change_in(f, base, "main")), "kind", "bad-input");
    assert_text(
        job_fail(f, "change", change_in(f, base, "1111111111111111111111111111111111111111")),
        "kind", "git");
    json_t *in = change_in(f, base, base);
    json_object_set_new(in, "tests", json_string("*.c"));
    assert_text(job_fail(f, "change", in), "kind", "bad-input");
    in = change_in(f, base, base);
    json_object_set_new(in, "tests", json_pack("[i]", 1));
    assert_text(job_fail(f, "change", in), "kind", "bad-input");
}

static void a_log_is_bounded_and_clean(void **state)
{
    Fixture *f = *state;
    const char *base = tip(f);
    sh(f,
       "cd \"$R\"; c() { { printf 'tree %%s\\nparent %%s\\nauthor N\\377 <a@b> %%s "
       "+0000\\ncommitter C <c@d> 1700000000 +0000\\n\\n' $(git rev-parse 'HEAD^{tree}' HEAD) $1; "
       "cat; } | git hash-object -t commit -w --stdin; }\n"
       "git reset -q $(printf 'bad \\377 \\033[31m byte\\n' | c 1700000000)\n"
       "git reset -q $(head -c 5000 /dev/zero | tr '\\0' 'y' | c 99999999999)\n"
       "for i in $(seq 205); do git commit -q --allow-empty -m $i; done");
    const char *commit = tip(f);
    json_t *in = json_pack("{s:s,s:s,s:s,s:i}", "hub", f->hub, "base", base, "commit", commit,
                           "limit", 100000);
    const json_t *out = job(f, "log", in);
    const json_t *list = json_object_get(out, "commits");
    assert_int_equal(json_array_size(list), 200);
    assert_true(json_flag(out, "truncated", false));
    assert_text(json_array_get(list, 0), "commit", commit);
    assert_text(json_array_get(list, 0), "subject", "205");
    assert_true(json_int(json_array_get(list, 0), "author_ms", 0) > 1600000000000);
    const char *early = sh(f, "git -C \"$R\" rev-parse HEAD~205");
    out = job(f, "log", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "base", base, "commit", early));
    list = json_object_get(out, "commits");
    assert_int_equal(json_array_size(list), 2);
    assert_false(json_flag(out, "truncated", true));
    assert_int_equal(strlen(get(json_array_get(list, 0), "subject")), 200);
    assert_text(json_array_get(list, 0), "author", "N\xef\xbf\xbd");
    assert_non_null(strstr(get(json_array_get(list, 1), "subject"), "bad \xef\xbf\xbd"));
    out =
        job(f, "log",
            json_pack("{s:s,s:s,s:s,s:i}", "hub", f->hub, "base", "", "commit", early, "limit", 3));
    assert_int_equal(json_array_size(json_object_get(out, "commits")), 3);
    assert_false(json_flag(out, "truncated", true));
    job_fail(f, "log", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "base", "--all", "commit", early));
}

static const json_t *overlay_at(Fixture *f, const char *commit, const char *over, json_t *paths,
                                const char **path)
{
    *path = arena_printf(&f->arena, "%s/g1", f->gate);
    return job(f, "checkout",
               json_pack("{s:s,s:s,s:s,s:{s:s,s:o}}", "hub", f->hub, "commit", commit, "path",
                         *path, "overlay", "commit", over, "paths", paths));
}

static void the_tests_of_the_base_are_laid_over_new_code(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(
        f, "mkdir t; echo strict > t/a; echo gone > t/b; printf '#!x' > t/run; chmod +x t/run");
    const char *commit = commit_all(
        f, "echo weak > t/a; rm t/b; echo cheat > t/new; echo mine > t/stays; echo code > code; "
           "chmod -x t/run");
    const char *path;
    json_t *paths = json_pack("[s,s,s,s,s,s]", "t/new", "t/a", "t/b", "t/run", "t/a", "nowhere");
    const json_t *out = overlay_at(f, commit, base, paths, &path);
    assert_int_equal(json_int(out, "laid", 0), 3);
    assert_int_equal(json_int(out, "removed", 0), 2);
    assert_string_equal(
        sh(f, "cd '%s'; cat t/a t/b code t/stays; ls t; test -x t/run && echo runs", path),
        "strict\ngone\ncode\nmine\na\nb\nrun\nstays\nruns");
    assert_string_equal(sh(f, "cd '%s'; git rev-parse HEAD; git status --porcelain", path),
                        arena_printf(&f->arena, "%s\n M t/a\n D t/new\n M t/run\n?? t/b", commit));
    /* Without an overlay it is the commit again, and no temporary index is left. */
    job(f, "checkout", json_pack("{s:s,s:s,s:s}", "hub", f->hub, "commit", commit, "path", path));
    assert_string_equal(
        sh(f, "cat '%s/t/a'; ls -A \"$H/otto/tmp\" \"$H/otto/index\"", path),
        arena_printf(&f->arena, "weak\n%s/otto/index:\n\n%s/otto/tmp:", f->hub, f->hub));
    overlay_at(f, commit, base, json_array(), &path);
    assert_string_equal(sh(f, "cat '%s/t/a'", path), "weak");
}

/* A folder of tests that became a link, or a file: nothing is written through it. */
static void an_overlay_never_follows_what_the_commit_planted(void **state)
{
    Fixture *f = *state;
    const char *base = commit_all(f, "mkdir t u; echo strict > t/a; echo file > u/v; echo w > w");
    const char *commit = commit_all(
        f, "mkdir \"$T/victim\"; rm -r t u w; ln -s \"$T/victim\" t; echo flat > u; mkdir w; echo "
           "deep > w/x");
    const char *path;
    overlay_at(f, commit, base, json_pack("[s,s,s]", "t/a", "u/v", "w"), &path);
    assert_string_equal(sh(f, "cd '%s'; cat t/a u/v w; ls -A \"$T/victim\"", path),
                        "strict\nfile\nw");
    static const char *const bad[] = {"../x", "/etc/passwd", "", "a//b", "./a", "a/.."};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_text(
            job_fail(f, "checkout",
                     json_pack("{s:s,s:s,s:s,s:{s:s,s:[s]}}", "hub", f->hub, "commit", commit,
                               "path", path, "overlay", "commit", base, "paths", bad[i])),
            "kind", "bad-input");
    job_fail(f, "checkout",
             json_pack("{s:s,s:s,s:s,s:s}", "hub", f->hub, "commit", commit, "path", path,
                       "overlay", "x"));
    job_fail(f, "checkout",
             json_pack("{s:s,s:s,s:s,s:{s:s,s:[s]}}", "hub", f->hub, "commit", commit, "path", path,
                       "overlay", "commit", "HEAD", "paths", "w"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(every_kind_of_change_is_listed),
        GIT_TEST(a_change_can_be_against_nothing_and_can_be_none),
        GIT_TEST(sha256_changes_are_told_too),
        GIT_TEST(the_lines_of_test_files_are_shown),
        GIT_TEST(a_test_cannot_be_hidden),
        GIT_TEST(a_file_that_becomes_a_folder_is_both),
        GIT_TEST(a_submodule_that_moves_is_a_change),
        GIT_TEST(hostile_names_and_bytes_are_only_data),
        GIT_TEST(everything_is_bounded),
        GIT_TEST(bad_fields_of_a_change_are_refused),
        GIT_TEST(a_log_is_bounded_and_clean),
        GIT_TEST(the_tests_of_the_base_are_laid_over_new_code),
        GIT_TEST(an_overlay_never_follows_what_the_commit_planted),
    };
    return cmocka_run_group_tests_name("git change", tests, NULL, NULL);
}
