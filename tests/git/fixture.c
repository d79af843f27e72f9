/* See fixture.h. */
#include "tests/git/fixture.h"
#include "base/file.h"
#include "base/str.h"
#include "engine/work.h"
#include "proc/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char start_text[] =
    "git config --global user.name Owner; git config --global user.email owner@example.org\n"
    "git config --global init.defaultBranch main; git config --global commit.gpgsign false\n"
    "git init -q \"$R\"; cd \"$R\"; mkdir dir\n"
    "printf '1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n' > a.txt; echo b > b.txt; echo c > dir/c.txt\n"
    "printf '*.log\\nignored/\\n' > .gitignore\n"
    "git add .; git commit -q -m start\n";

int fixture_open(void **state)
{
    Fixture *f = mem_alloc(sizeof *f);
    const char *base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s/otto-git-XXXXXX", base);
    assert_non_null(mkdtemp(dir));
    assert_non_null(realpath(dir, f->dir));
    f->repo = arena_printf(&f->arena, "%s/repo", f->dir);
    f->hub = arena_printf(&f->arena, "%s/state/hubs/p1", f->dir);
    f->root = arena_printf(&f->arena, "%s/state/work", f->dir);
    f->gate = arena_printf(&f->arena, "%s/state/gate", f->dir);
    f->trash = arena_printf(&f->arena, "%s/state/trash", f->dir);
    f->kept = json_array();
    setenv("HOME", f->dir, 1);
    sh(f, "%s", start_text);
    *state = f;
    return 0;
}

int fixture_close(void **state)
{
    Fixture *f = *state;
    Err err = {0};
    assert_true(folder_remove(f->dir, &err));
    json_decref(f->kept);
    arena_done(&f->arena);
    free(f);
    return 0;
}

const char *sh(Fixture *f, const char *format, ...)
{
    Str text = STR_INIT;
    va_list args;
    char *body = NULL;
    va_start(args, format);
    assert_true(vasprintf(&body, format, args) >= 0);
    va_end(args);
    str_add(&text, "set -e\n");
    str_add(&text, body);
    free(body);
    const char *env[] = {arena_printf(&f->arena, "PATH=%s", getenv("PATH")),
                         arena_printf(&f->arena, "HOME=%s", f->dir),
                         arena_printf(&f->arena, "T=%s", f->dir),
                         arena_printf(&f->arena, "R=%s", f->repo ? f->repo : ""),
                         arena_printf(&f->arena, "H=%s", f->hub ? f->hub : ""),
                         "GIT_CONFIG_NOSYSTEM=1",
                         NULL};
    const char *argv[] = {"sh", "-c", str_text(&text), NULL};
    RunSpec spec = {.argv = argv, .envp = env, .cwd = f->dir, .timeout_ms = 120000};
    RunResult result;
    Err err = {0};
    assert_true(proc_run(&spec, &result, &err));
    if (result.exit_code != 0)
        fail_msg("shell ended with %d: %s\n%s%s", result.exit_code, str_text(&text),
                 str_text(&result.out), str_text(&result.err));
    size_t length = result.out.length;
    while (length && result.out.bytes[length - 1] == '\n')
        length--;
    const char *out = arena_strndup(&f->arena, str_text(&result.out), length);
    run_result_done(&result);
    str_done(&text);
    return out;
}

static const json_t *run(Fixture *f, const char *name, json_t *in, bool wants_ok)
{
    const WorkJob *work = work_job_find(name);
    assert_non_null(work);
    assert_non_null(in);
    json_t *out = work_run(work, in);
    json_decref(in);
    json_array_append_new(f->kept, out);
    if (json_flag(out, "ok", false) != wants_ok)
        fail_msg("%s: %s: %s", name, get(out, "kind"), get(out, "error"));
    return out;
}

const json_t *job(Fixture *f, const char *name, json_t *in)
{
    return run(f, name, in, true);
}

const json_t *job_fail(Fixture *f, const char *name, json_t *in)
{
    return run(f, name, in, false);
}

const json_t *sync_main(Fixture *f)
{
    return job(f, "sync",
               json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "main"));
}

const json_t *prepare_at(Fixture *f, const char *kind, int task, int epoch)
{
    return job(f, "prepare",
               json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "hub", f->hub, "repo", f->repo,
                         "target", "main", "root", f->root, "kind", kind, "project", 1, "task",
                         task, "run", task, "epoch", epoch));
}

const json_t *snapshot_at(Fixture *f, const json_t *workspace, int task, int epoch, int turn)
{
    return job(f, "snapshot",
               json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:s}", "hub", f->hub, "path",
                         get(workspace, "path"), "kind", get(workspace, "kind"), "run", task,
                         "epoch", epoch, "turn", turn, "base", get(workspace, "base")));
}

const json_t *merge_commit(Fixture *f, const char *commit, int task)
{
    return job(f, "merge",
               json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i}", "hub", f->hub, "repo", f->repo, "target",
                         "main", "commit", commit, "message", "Merge it", "task", task, "run",
                         task));
}

const json_t *land_merge(Fixture *f, const json_t *merge, const char *commit, int task)
{
    return job(f, "land",
               json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i}", "hub", f->hub, "repo", f->repo, "target",
                         "main", "old", get(merge, "old"), "new", get(merge, "new"), "commit",
                         commit, "task", task));
}

json_t *retire_in(Fixture *f, const json_t *workspace, int task, int epoch, const char *snapshot)
{
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:s,s:i,s:i,s:s,s:s}", "hub", f->hub, "path",
                     get(workspace, "path"), "kind", get(workspace, "kind"), "run", task, "epoch",
                     epoch, "root", f->root, "trash", f->trash, "days", 7, "task", task, "title",
                     "A title", "snapshot", snapshot);
}

const json_t *land_file(Fixture *f, int task, const char *file, const char *text)
{
    const json_t *workspace = prepare_at(f, "clone", task, 1);
    sh(f,
       "cd '%s'; mkdir -p \"$(dirname '%s')\"; printf '%s' > '%s'; git add .; git commit -q -m "
       "'task %d'",
       get(workspace, "path"), file, text, file, task);
    const json_t *shot = snapshot_at(f, workspace, task, 1, 1);
    const json_t *merge = merge_commit(f, get(shot, "commit"), task);
    assert_text(merge, "state", "clean");
    return land_merge(f, merge, get(shot, "commit"), task);
}

const char *get(const json_t *object, const char *key)
{
    return json_text(object, key, "");
}

void assert_text(const json_t *object, const char *key, const char *want)
{
    const char *have = get(object, key);
    if (strcmp(have, want) != 0)
        fail_msg("'%s' is '%s', not '%s' (why: %s)", key, have, want, get(object, "why"));
}
