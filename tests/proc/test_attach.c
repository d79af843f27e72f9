/* The engine goes and comes back; the keeper stays, or is lost. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "tests/proc/keep_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints a line for each file that appears: go1, go2, ... */
static const char *const steps = "n=0; while [ $n -lt 3 ]; do echo line$n; n=$((n+1)); "
                                 "until test -e go$n; do sleep 0.01; done; done; exit 3";

static void go(Watcher *w, const char *name)
{
    CLEANUP(mem_freep) char *path = path_in(w, name);
    Err err = {0};
    assert_true(file_write_plain(path, "", 0, 0600, &err));
}

static void start_steps(Watcher *w)
{
    KeepSpec spec = spec_of(w, SH(steps));
    spec.cwd = w->folder;
    start(w, &spec);
    UNTIL(w, strstr(str_text(&w->out), "line0\n"));
}

static void a_live_run_goes_on_where_it_was_left(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    pid_t agent = w->agent;
    int64_t offset = w->offset;
    detach(w);
    go(w, "go1"); /* nobody is listening now */
    attach(w, offset);
    UNTIL(w, strstr(str_text(&w->out), "line1\n"));
    assert_int_equal(w->starts, 1);
    assert_int_equal(w->agent, agent);
    go(w, "go2");
    go(w, "go3");
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 3);
    assert_string_equal(str_text(&w->out), "line1\nline2\n"); /* nothing twice, nothing missed */
}

static void from_the_beginning_everything_is_heard_again(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    detach(w);
    w->offset = 0;
    go(w, "go1");
    go(w, "go2");
    go(w, "go3");
    attach(w, 0);
    until_exit(w);
    assert_string_equal(str_text(&w->out), "line0\nline1\nline2\n");
}

static void a_run_that_ended_meanwhile_is_read_from_its_journal(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    int64_t offset = w->offset;
    ProcIdent keeper = w->keeper;
    detach(w);
    go(w, "go1");
    go(w, "go2");
    go(w, "go3");
    UNTIL(w, ident_is_alive(&keeper) == PROC_DEAD);
    attach(w, offset);
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 3);
    assert_false(w->exit.lost);
    assert_string_equal(str_text(&w->out), "line1\nline2\n");
    assert_int_equal(w->starts, 0);
}

static void a_keeper_killed_under_our_eyes_is_lost(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    ProcIdent agent;
    assert_true(ident_of(w->agent, &agent));
    assert_int_equal(kill(w->keeper.pid, SIGKILL), 0);
    until_exit(w);
    assert_true(w->exit.lost);
    assert_int_equal(w->exit.exit_code, -1);
    assert_string_equal(w->exit.text, "the keeper left no exit record");
    UNTIL(w, ident_is_alive(&agent) == PROC_DEAD); /* the agent dies with its keeper */
}

static void a_keeper_killed_while_nobody_looked_is_lost(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    ProcIdent keeper = w->keeper;
    detach(w);
    w->offset = 0;
    assert_int_equal(kill(keeper.pid, SIGKILL), 0);
    UNTIL(w, ident_is_alive(&keeper) == PROC_DEAD);
    attach(w, 0);
    until_exit(w);
    assert_true(w->exit.lost);
    assert_string_equal(str_text(&w->out), "line0\n");
}

static void a_keeper_killed_after_we_came_back_is_lost(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    int64_t offset = w->offset;
    detach(w);
    attach(w, offset);
    UNTIL(w, w->starts);
    assert_int_equal(kill(w->keeper.pid, SIGKILL), 0);
    until_exit(w);
    assert_true(w->exit.lost);
}

static void strays_of_a_lost_keeper_are_found_by_their_mark(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("setsid sleep 1000 & setsid sh -c 'echo up; sleep 1000'"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    assert_int_equal(kill(w->keeper.pid, SIGKILL), 0);
    until_exit(w);
    assert_true(w->exit.lost);
    assert_true(strays(w) >= 2); /* the sleeper and the shell; the agent dies by itself */
    assert_int_equal(strays(w), 0);
}

static void orders_work_after_coming_back(void **state)
{
    Watcher *w = *state;
    start_steps(w);
    int64_t offset = w->offset;
    detach(w);
    attach(w, offset);
    keep_kill(w->keep); /* before it is even connected */
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGKILL);
    assert_true(w->exit.was_stopped);
}

static void a_newer_engine_is_let_in_when_the_older_goes(void **state)
{
    Watcher *w = *state, *second;
    assert_int_equal(watcher_setup((void **)&second), 0);
    start_steps(w);
    char *own = second->folder;
    second->folder = w->folder;
    attach(second, w->offset);
    (void)loop_run_once(second->loop, 50); /* there is no door while the older one is there */
    keep_free(w->keep);
    w->keep = NULL;
    UNTIL(second, second->starts);
    go(w, "go1");
    go(w, "go2");
    go(w, "go3");
    until_exit(second);
    assert_string_equal(str_text(&second->out), "line1\nline2\n");
    assert_int_equal(second->exit.exit_code, 3);
    second->folder = own;
    assert_int_equal(watcher_teardown((void **)&second), 0);
}

static void without_a_journal_it_was_never_started(void **state)
{
    Watcher *w = *state;
    Err err = {0};
    KeepCalls none = {0};
    assert_null(keep_attach(w->loop, w->folder, "a", 0, &none, NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void an_empty_journal_that_nobody_holds_is_lost(void **state)
{
    Watcher *w = *state;
    go(w, "a.journal"); /* a keeper died between its first two steps */
    attach(w, 0);
    until_exit(w);
    assert_true(w->exit.lost);
}

static void a_failed_start_is_told_after_coming_back_too(void **state)
{
    Watcher *w = *state;
    run_to_end(w, ARGV("no-such-program"));
    detach(w);
    attach(w, 0);
    until_exit(w);
    assert_true(w->exit.could_not_start);
    assert_int_equal(w->exit.error, ENOENT);
}

static void letting_go_inside_a_callback_is_fine(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("yes | head -c 3000000"));
    w->stop_at_output = 2;
    w->is_forgetful = true;
    start(w, &spec);
    UNTIL(w, !w->keep);
    ProcIdent keeper = w->keeper;
    int64_t offset = w->offset, before = w->bytes;
    UNTIL(w, ident_is_alive(&keeper) == PROC_DEAD);
    assert_int_equal(w->outputs, 2);
    assert_int_equal(w->exits, 0);
    w->stop_at_output = 0;
    detach(w);
    attach(w, offset);
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 0);
    assert_int_equal(before + w->bytes, 3000000);
}

static void an_engine_that_does_not_read_blocks_nobody(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("yes | head -c 5000000; touch all; until test -e go; do "
                                  "sleep 0.01; done; exit 2"));
    spec.cwd = w->folder;
    w->is_forgetful = true;
    start(w, &spec);
    while (!exists_in(w, "all")) /* the loop does not turn */
        assert_int_equal(usleep(1000), 0);
    go(w, "go");
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 2);
    assert_int_equal(w->bytes, 5000000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, watcher_setup, watcher_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_live_run_goes_on_where_it_was_left),
        TEST(from_the_beginning_everything_is_heard_again),
        TEST(a_run_that_ended_meanwhile_is_read_from_its_journal),
        TEST(a_keeper_killed_under_our_eyes_is_lost),
        TEST(a_keeper_killed_while_nobody_looked_is_lost),
        TEST(a_keeper_killed_after_we_came_back_is_lost),
        TEST(strays_of_a_lost_keeper_are_found_by_their_mark),
        TEST(orders_work_after_coming_back),
        TEST(a_newer_engine_is_let_in_when_the_older_goes),
        TEST(without_a_journal_it_was_never_started),
        TEST(an_empty_journal_that_nobody_holds_is_lost),
        TEST(a_failed_start_is_told_after_coming_back_too),
        TEST(letting_go_inside_a_callback_is_fine),
        TEST(an_engine_that_does_not_read_blocks_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
