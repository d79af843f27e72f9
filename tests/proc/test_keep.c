/* The keeper and its client: output, ends, trees. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "tests/proc/keep_fixture.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void an_exit_code_comes_back(void **state)
{
    Watcher *w = *state;
    const KeepExit *end = run_to_end(w, SH("exit 42"));
    assert_int_equal(end->exit_code, 42);
    assert_int_equal(end->signal, 0);
    assert_false(end->lost || end->could_not_start || end->was_stopped || end->swept);
    assert_int_equal(w->starts, 1);
    assert_true(w->agent > 0);
    assert_true(w->keeper.start_ticks > 0);
    assert_int_equal(end->output_bytes, 0);
    assert_true(end->max_rss_kb > 0);
    assert_false(exists_in(w, "a.sock"));
    UNTIL(w, waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* the keeper is reaped */
}

static void a_signal_comes_back(void **state)
{
    const KeepExit *end = run_to_end(*state, SH("kill -SEGV $$"));
    assert_int_equal(end->exit_code, -1);
    assert_int_equal(end->signal, SIGSEGV);
}

static void both_streams_are_kept_in_order(void **state)
{
    Watcher *w = *state;
    const KeepExit *end =
        run_to_end(w, SH("i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"));
    Str out = STR_INIT, err = STR_INIT;
    for (int i = 0; i < 200; i++) {
        str_addf(&out, "o%d\n", i);
        str_addf(&err, "e%d\n", i);
    }
    assert_string_equal(str_text(&w->out), str_text(&out));
    assert_string_equal(str_text(&w->err), str_text(&err));
    assert_int_equal(end->output_bytes, out.length + err.length);
    str_done(&out);
    str_done(&err);
}

static void merged_streams_are_one_in_exact_order(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("echo a; echo b >&2; echo c; echo d >&2"));
    spec.merge_err = true;
    start(w, &spec);
    until_exit(w);
    assert_string_equal(str_text(&w->out), "a\nb\nc\nd\n");
}

static void binary_bytes_are_preserved(void **state)
{
    Watcher *w = *state;
    CLEANUP(mem_freep) char *path = path_in(w, "input");
    char bytes[70000];
    Err err = {0};
    uint32_t random = 7;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
    assert_true(file_write_plain(path, bytes, sizeof bytes, 0600, &err));
    KeepSpec spec = spec_of(w, ARGV("cat"));
    spec.stdin_path = path;
    start(w, &spec);
    until_exit(w);
    assert_int_equal(w->out.length, sizeof bytes);
    assert_memory_equal(w->out.bytes, bytes, sizeof bytes);
}

static void without_an_input_file_stdin_is_empty_and_not_open(void **state)
{
    Watcher *w = *state;
    run_to_end(w, SH("cat; readlink /proc/$$/fd/0; ls /proc/$$/fd"));
    assert_string_equal(str_text(&w->out), "/dev/null\n0\n1\n2\n");
}

static void the_agent_has_its_folder_its_environment_and_its_session(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("pwd; echo $OTTO_MARK; cut -d' ' -f1,5,6 /proc/$$/stat; "
                                  "grep SigBlk /proc/self/status"));
    spec.cwd = "/usr";
    start(w, &spec);
    until_exit(w);
    Str expected = STR_INIT;
    str_addf(&expected, "/usr\n%s\n%d %d %d\nSigBlk:\t0000000000000000\n", w->mark + 10,
             (int)w->agent, (int)w->agent, (int)w->agent);
    assert_string_equal(str_text(&w->out), str_text(&expected));
    str_done(&expected);
}

static void a_missing_program_is_told_with_a_sentence(void **state)
{
    Watcher *w = *state;
    const KeepExit *end = run_to_end(w, ARGV("no-such-program"));
    assert_true(end->could_not_start);
    assert_false(end->already_started || end->lost);
    assert_int_equal(end->error, ENOENT);
    assert_int_equal(end->exit_code, -1);
    assert_string_equal(end->text, "cannot start the program: No such file or directory");
    assert_int_equal(w->starts, 0);
}

static void each_failing_step_of_a_start_has_its_sentence(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, ARGV("true"));
    spec.cwd = "/no/such/folder";
    start(w, &spec);
    until_exit(w);
    assert_non_null(strstr(w->exit.text, "agent's folder"));
    detach(w);
    spec = spec_of(w, ARGV("true"));
    spec.name = "b";
    spec.stdin_path = "/no/such/file";
    start(w, &spec);
    until_exit(w);
    assert_non_null(strstr(w->exit.text, "input file"));
    detach(w);
    spec = spec_of(w, ARGV("true"));
    spec.folder = "/no/such/folder";
    start(w, &spec);
    until_exit(w);
    assert_non_null(strstr(w->exit.text, "run's folder"));
}

static void a_missing_keeper_is_an_error_of_the_start(void **state)
{
    Watcher *w = *state;
    Err err = {0};
    KeepCalls none = {0};
    KeepSpec spec = spec_of(w, ARGV("true"));
    spec.keeper = "/no/such/keeper";
    assert_null(keep_start(w->loop, &spec, &none, NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    spec = spec_of(w, ARGV("true"));
    spec.name = "../a";
    assert_null(keep_start(w->loop, &spec, &none, NULL, &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

static void a_keeper_that_dies_at_once_does_not_inherit_an_old_journal(void **state)
{
    Watcher *w = *state;
    run_to_end(w, SH("echo old; exit 0"));
    detach(w);
    KeepSpec spec = spec_of(w, ARGV("true"));
    spec.keeper = "/bin/false"; /* dies without a word */
    start(w, &spec);
    until_exit(w);
    assert_true(w->exit.lost);
    assert_int_equal(w->outputs, 0);
}

static void a_second_start_of_one_name_is_refused_and_harmless(void **state)
{
    Watcher *w = *state, *second;
    assert_int_equal(watcher_setup((void **)&second), 0);
    KeepSpec spec = spec_of(w, SH("echo up; while ! test -e go; do sleep 0.01; done; echo end"));
    spec.cwd = w->folder;
    start(w, &spec);
    UNTIL(w, w->outputs);
    start(second, &spec);
    until_exit(second);
    assert_true(second->exit.already_started);
    assert_true(second->exit.could_not_start);
    assert_int_equal(second->outputs + second->starts, 0);
    assert_true(exists_in(w, "a.journal"));
    CLEANUP(mem_freep) char *go = path_in(w, "go");
    Err err = {0};
    assert_true(file_write_plain(go, "", 0, 0600, &err));
    until_exit(w);
    assert_string_equal(str_text(&w->out), "up\nend\n");
    assert_int_equal(watcher_teardown((void **)&second), 0);
}

static void an_agent_that_ignores_term_is_killed_after_its_grace(void **state)
{
    Watcher *w = *state;
    KeepSpec spec =
        spec_of(w, SH("trap 'echo no' TERM HUP INT; echo up; while :; do sleep 0.01; done"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    keep_stop(w->keep, 200);
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGKILL);
    assert_true(w->exit.was_stopped);
    assert_string_equal(str_text(&w->out), "up\nno\n"); /* it was asked */
    assert_int_equal(strays(w), 0);
}

static void a_polite_agent_ends_by_itself_when_asked(void **state)
{
    Watcher *w = *state;
    KeepSpec spec =
        spec_of(w, SH("trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    keep_stop(w->keep, 60000);
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 5);
    assert_true(w->exit.was_stopped);
    assert_string_equal(str_text(&w->out), "up\nbye\n");
}

static void a_stop_reaches_tools_in_sessions_of_their_own(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(
        w, SH("setsid sh -c 'trap \"echo tool; exit\" TERM; echo up; while :; do sleep 0.01; done' "
              "& trap '' TERM; while :; do wait; done"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    keep_stop(w->keep, 60000);
    UNTIL(w, strstr(str_text(&w->out), "tool"));
    keep_stop(w->keep, 0); /* a shorter grace counts */
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGKILL);
    assert_int_equal(strays(w), 0);
}

static void a_kill_is_at_once_and_for_the_whole_tree(void **state)
{
    Watcher *w = *state;
    KeepSpec spec =
        spec_of(w, SH("trap '' TERM; for i in 1 2 3; do setsid sh -c "
                      "'trap \"\" TERM; (setsid sleep 1000 &) ; sleep 1000 & sleep 1000' & "
                      "done; echo up; while :; do wait; done"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    keep_kill(w->keep);
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGKILL);
    assert_true(w->exit.was_stopped);
    assert_false(w->exit.left_behind);
    assert_int_equal(strays(w), 0);
}

static void a_term_to_the_keeper_is_a_stop_order(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, SH("echo up; while :; do sleep 0.01; done"));
    start(w, &spec);
    UNTIL(w, w->outputs);
    assert_int_equal(kill(w->keeper.pid, SIGHUP), 0); /* ignored */
    assert_int_equal(kill(w->keeper.pid, SIGTERM), 0);
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGTERM);
    assert_true(w->exit.was_stopped);
}

static void a_stop_before_the_agent_has_started_counts(void **state)
{
    Watcher *w = *state;
    KeepSpec spec = spec_of(w, ARGV("sleep", "1000"));
    start(w, &spec);
    keep_stop(w->keep, 60000);
    until_exit(w);
    assert_int_equal(w->exit.signal, SIGTERM);
}

static void daemons_left_after_success_are_swept(void **state)
{
    Watcher *w = *state;
    const KeepExit *end =
        run_to_end(w, SH("(setsid sh -c '(setsid sleep 1000 &); sleep 1000' >/dev/null 2>&1 &); "
                         "setsid sh -c 'trap \"\" TERM HUP; touch up; sleep 1000; sleep 1000' & "
                         "until test -e up; do sleep 0.01; done; echo done"));
    assert_int_equal(end->exit_code, 0);
    assert_true(end->swept);
    assert_false(end->left_behind);
    assert_string_equal(str_text(&w->out), "done\n");
    assert_int_equal(strays(w), 0);
}

static void a_process_that_forks_itself_away_is_caught(void **state)
{
    Watcher *w = *state;
    const KeepExit *end = run_to_end(w, SH("trap '' TERM; f() { f & }; f; echo up"));
    assert_int_equal(end->exit_code, 0);
    assert_true(end->swept);
    assert_false(end->left_behind);
    assert_int_equal(strays(w), 0);
}

static void the_end_does_not_wait_for_a_held_pipe(void **state)
{
    Watcher *w = *state;
    const KeepExit *end = run_to_end(w, SH("setsid sh -c 'trap \"\" TERM; sleep 1000' & exit 9"));
    assert_int_equal(end->exit_code, 9);
    assert_int_equal(strays(w), 0);
}

static void an_agent_that_closes_its_output_runs_on(void **state)
{
    Watcher *w = *state;
    run_to_end(w, SH("echo first; exec >&- 2>&-; sleep 0.2; exit 4"));
    assert_int_equal(w->exit.exit_code, 4);
    assert_string_equal(str_text(&w->out), "first\n");
}

static void twenty_megabytes_without_a_newline_arrive(void **state)
{
    Watcher *w = *state;
    w->is_forgetful = true;
    const KeepExit *end = run_to_end(w, SH("head -c 20000000 /dev/zero | tr '\\0' x"));
    assert_int_equal(end->exit_code, 0);
    assert_int_equal(end->output_bytes, 20000000);
    assert_int_equal(w->bytes, 20000000);
    assert_false(end->cut || end->write_failed);
}

static void the_journal_has_a_limit_and_the_agent_goes_on(void **state)
{
    Watcher *w = *state;
    struct stat about;
    KeepSpec spec = spec_of(w, SH("head -c 5000000 /dev/zero; exit 6"));
    spec.journal_limit_bytes = 1000000;
    w->is_forgetful = true;
    start(w, &spec);
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 6);
    assert_true(w->exit.cut);
    assert_int_equal(w->exit.output_bytes, 5000000);
    assert_true(w->bytes > 900000 && w->bytes <= 1000000);
    CLEANUP(mem_freep) char *path = path_in(w, "a.journal");
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size <= 1000000 + 200);
    assert_int_equal(about.st_mode & 0777, 0600);
}

/* The test's own limit on file sizes is inherited: writing fails as on a full disk. */
static void a_full_disk_neither_stops_nor_crashes(void **state)
{
    Watcher *w = *state;
    w->is_forgetful = true;
    const char *keeper = getenv("OTTO_KEEPER");
    /* The limit is for the keeper, so a shell sets it; the journal then fails after 200 kB. */
    KeepSpec spec = spec_of(w, SH("head -c 3000000 /dev/zero; exit 8"));
    CLEANUP(mem_freep) char *wrapper = path_in(w, "limited");
    Str script = STR_INIT;
    Err err = {0};
    str_addf(&script, "#!/bin/sh\nulimit -f 400\nexec '%s' \"$@\"\n", keeper);
    assert_true(file_write_plain(wrapper, script.bytes, script.length, 0700, &err));
    str_done(&script);
    spec.keeper = wrapper;
    start(w, &spec);
    until_exit(w);
    assert_int_equal(w->exit.exit_code, 8);
    assert_int_equal(w->exit.output_bytes, 3000000);
    assert_true(w->exit.write_failed);
    assert_true(w->bytes < 3000000);
}

static void a_very_long_folder_is_no_obstacle(void **state)
{
    Watcher *w = *state;
    Str path = STR_INIT;
    Err err = {0};
    str_add(&path, w->folder);
    while (path.length < 1500)
        str_add(&path, "/a-folder-name-that-is-rather-long-and-goes-on");
    assert_true(folder_ensure(str_text(&path), 0700, &err));
    char *old = w->folder;
    w->folder = str_take(&path);
    KeepSpec spec = spec_of(w, SH("echo up; while ! test -e go; do sleep 0.01; done; echo end"));
    spec.cwd = w->folder;
    start(w, &spec);
    UNTIL(w, w->outputs);
    int64_t offset = w->offset;
    detach(w);
    attach(w, offset);
    UNTIL(w, w->starts); /* connected, though the path is no socket address */
    CLEANUP(mem_freep) char *go = path_in(w, "go");
    assert_true(file_write_plain(go, "", 0, 0600, &err));
    until_exit(w);
    assert_string_equal(str_text(&w->out), "end\n");
    free(w->folder);
    w->folder = old;
}

static void many_agents_at_once_all_end(void **state)
{
    enum { MANY = 60 };
    Watcher *w = *state;
    Watcher many[MANY];
    char names[MANY][8];
    for (int i = 0; i < MANY; i++) {
        many[i] = (Watcher){.loop = w->loop, .frees_at_exit = true};
        KeepSpec spec = spec_of(w, SH("echo $$; exit 3"));
        (void)snprintf(names[i], sizeof names[i], "t%d", i);
        spec.name = names[i];
        start(&many[i], &spec);
    }
    for (int i = 0; i < MANY; i++) {
        UNTIL(w, many[i].exits);
        assert_int_equal(many[i].exit.exit_code, 3);
        assert_int_equal(strtol(str_text(&many[i].out), NULL, 10), many[i].agent);
        str_done(&many[i].out);
        str_done(&many[i].both);
    }
    UNTIL(w, waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* freed and still reaped */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, watcher_setup, watcher_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_exit_code_comes_back),
        TEST(a_signal_comes_back),
        TEST(both_streams_are_kept_in_order),
        TEST(merged_streams_are_one_in_exact_order),
        TEST(binary_bytes_are_preserved),
        TEST(without_an_input_file_stdin_is_empty_and_not_open),
        TEST(the_agent_has_its_folder_its_environment_and_its_session),
        TEST(a_missing_program_is_told_with_a_sentence),
        TEST(each_failing_step_of_a_start_has_its_sentence),
        TEST(a_missing_keeper_is_an_error_of_the_start),
        TEST(a_keeper_that_dies_at_once_does_not_inherit_an_old_journal),
        TEST(a_second_start_of_one_name_is_refused_and_harmless),
        TEST(an_agent_that_ignores_term_is_killed_after_its_grace),
        TEST(a_polite_agent_ends_by_itself_when_asked),
        TEST(a_stop_reaches_tools_in_sessions_of_their_own),
        TEST(a_kill_is_at_once_and_for_the_whole_tree),
        TEST(a_term_to_the_keeper_is_a_stop_order),
        TEST(a_stop_before_the_agent_has_started_counts),
        TEST(daemons_left_after_success_are_swept),
        TEST(a_process_that_forks_itself_away_is_caught),
        TEST(the_end_does_not_wait_for_a_held_pipe),
        TEST(an_agent_that_closes_its_output_runs_on),
        TEST(twenty_megabytes_without_a_newline_arrive),
        TEST(the_journal_has_a_limit_and_the_agent_goes_on),
        TEST(a_full_disk_neither_stops_nor_crashes),
        TEST(a_very_long_folder_is_no_obstacle),
        TEST(many_agents_at_once_all_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
