/* For the keeper's tests: see keep_fixture.h. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/sweep.h"
#include "tests/proc/keep_fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_started(void *user, pid_t agent, ProcIdent keeper)
{
    Watcher *w = user;
    assert_int_equal(w->exits, 0);
    assert_int_equal(w->outputs, 0);
    w->starts++;
    w->agent = agent;
    w->keeper = keeper;
}

static void on_output(void *user, int stream, const char *bytes, size_t length, int64_t offset)
{
    Watcher *w = user;
    assert_int_equal(w->exits, 0);
    assert_true(stream == 1 || stream == 2);
    assert_true(offset > w->offset);
    w->offset = offset;
    w->bytes += (int64_t)length;
    w->outputs++;
    if (!w->is_forgetful) {
        str_add_bytes(stream == 1 ? &w->out : &w->err, bytes, length);
        str_add_bytes(&w->both, bytes, length);
    }
    if (w->stop_at_output && w->outputs == w->stop_at_output) {
        keep_free(w->keep);
        w->keep = NULL;
    }
}

static void on_exit_of_agent(void *user, const KeepExit *exit)
{
    Watcher *w = user;
    w->exits++;
    w->exit = *exit;
    if (w->frees_at_exit) {
        keep_free(w->keep);
        w->keep = NULL;
    }
}

static const KeepCalls calls = {on_started, on_output, on_exit_of_agent};

int watcher_setup(void **state)
{
    static int number;
    Err err = {0};
    char name[] = "/tmp/otto-keep-XXXXXX";
    Watcher *w = mem_alloc(sizeof *w);
    *state = w;
    w->loop = loop_new(&err);
    w->folder = mem_strdup(mkdtemp(name));
    (void)snprintf(w->mark, sizeof w->mark, "OTTO_MARK=test-%d-%d", (int)getpid(), ++number);
    w->env[0] = "PATH=/usr/bin:/bin";
    w->env[1] = w->mark;
    return w->loop && w->folder ? 0 : -1;
}

int watcher_teardown(void **state)
{
    Watcher *w = *state;
    Err err = {0};
    keep_free(w->keep);
    (void)strays(w); /* a failed test may leave some */
    loop_free(w->loop);
    bool is_removed = folder_remove(w->folder, &err);
    str_done(&w->out);
    str_done(&w->err);
    str_done(&w->both);
    free(w->folder);
    free(w);
    return is_removed ? 0 : -1;
}

KeepSpec spec_of(Watcher *w, const char *const *argv)
{
    return (KeepSpec){.keeper = getenv("OTTO_KEEPER"),
                      .folder = w->folder,
                      .name = "a",
                      .argv = argv,
                      .envp = w->env,
                      .grace_ms = 60000};
}

void start(Watcher *w, const KeepSpec *spec)
{
    Err err = {0};
    assert_non_null(spec->keeper);
    w->keep = keep_start(w->loop, spec, &calls, w, &err);
    if (!w->keep)
        fail_msg("%s", err.text);
    assert_int_equal(w->starts + w->outputs + w->exits, 0); /* never inside the call */
}

void attach(Watcher *w, int64_t offset)
{
    Err err = {0};
    w->keep = keep_attach(w->loop, w->folder, "a", offset, &calls, w, &err);
    if (!w->keep)
        fail_msg("%s", err.text);
    assert_int_equal(w->starts + w->outputs + w->exits, 0); /* never inside the call */
}

void detach(Watcher *w)
{
    keep_free(w->keep);
    w->keep = NULL;
    w->starts = w->outputs = w->exits = 0;
    w->bytes = 0;
    str_clear(&w->out);
    str_clear(&w->err);
    str_clear(&w->both);
}

int64_t until_begin(void)
{
    return clock_mono_ms() + 60000;
}

void until_turn(Watcher *w, int64_t end_ms, const char *condition)
{
    if (clock_mono_ms() > end_ms)
        fail_msg("never happened: %s", condition);
    (void)loop_run_once(w->loop, 20); /* some conditions are not the loop's */
}

void until_exit(Watcher *w)
{
    UNTIL(w, w->exits);
    assert_int_equal(w->exits, 1);
}

const KeepExit *run_to_end(Watcher *w, const char *const *argv)
{
    KeepSpec spec = spec_of(w, argv);
    start(w, &spec);
    until_exit(w);
    return &w->exit;
}

int strays(Watcher *w)
{
    Err err = {0};
    int killed = -1;
    if (w->exits) /* the keeper has the mark too, and may be at its last line */
        UNTIL(w, !w->keeper.pid || ident_is_alive(&w->keeper) == PROC_DEAD);
    if (!sweep_marked(w->mark, &killed, &err))
        print_error("%s\n", err.text);
    return killed;
}

char *path_in(Watcher *w, const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", w->folder, name);
    return str_take(&path);
}

bool exists_in(Watcher *w, const char *name)
{
    CLEANUP(mem_freep) char *path = path_in(w, name);
    return path_exists(path);
}
