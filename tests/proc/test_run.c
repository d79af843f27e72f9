/* proc/spawn and proc/run: starting programs and running them to their end. */
#include "tests/test.h"

#include "base/file.h"
#include "proc/ident.h"
#include "proc/run.h"
#include "proc/spawn.h"
#include "proc/sweep.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SH(script) ARGV("sh", "-c", script)

static char folder[64], mark[64]; /* the mark is in the environment of what must not stay */

static int setup_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", "/tmp/otto-run-XXXXXX");
    (void)snprintf(mark, sizeof mark, "OTTO_MARK=run-%d", (int)getpid());
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    Err err = {0};
    (void)state;
    return folder_remove(folder, &err) ? 0 : -1;
}

static RunResult run(RunSpec spec)
{
    RunResult result;
    Err err = {0};
    if (!proc_run(&spec, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

static int wait_code(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_program_runs_with_folder_environment_and_descriptors(void **state)
{
    int ends[2];
    char text[256] = "";
    Err err = {0};
    Spawned child;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    SpawnFd pass = {ends[1], 7};
    SpawnSpec spec = {SPAWN_SPEC_INIT,
                      .argv = SH("exec >&7; echo \"$WORD $PWD\"; ls /proc/$$/fd"),
                      .envp = ARGV("WORD=hello", "PATH=/usr/bin:/bin"),
                      .cwd = folder,
                      .fds = &pass,
                      .fd_count = 1,
                      .flags = SPAWN_SESSION};
    assert_true(spawn_process(&spec, &child, &err));
    assert_true(fcntl(child.pidfd, F_GETFD) & FD_CLOEXEC);
    struct pollfd gone = {child.pidfd, POLLIN, 0};
    assert_int_equal(poll(&gone, 1, -1), 1);
    assert_int_equal(wait_code(child.pid), 0);
    close(child.pidfd);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    char expected[128];
    (void)snprintf(expected, sizeof expected, "hello %s\n0\n1\n2\n7\n", folder);
    assert_string_equal(text, expected);
    close(ends[0]);
}

static void descriptors_may_trade_places(void **state)
{
    int a = open("/dev/null", O_RDONLY | O_CLOEXEC), b = open("/", O_RDONLY | O_CLOEXEC);
    Err err = {0};
    Spawned child;
    (void)state;
    SpawnFd pass[] = {{a, b}, {b, a}};
    char script[200];
    (void)snprintf(script, sizeof script,
                   "test \"$(readlink /proc/$$/fd/%d)\" = /dev/null && "
                   "test \"$(readlink /proc/$$/fd/%d)\" = /",
                   b, a);
    SpawnSpec spec = {SPAWN_SPEC_INIT, .argv = SH(script), .fds = pass, .fd_count = 2};
    assert_true(spawn_process(&spec, &child, &err));
    assert_int_equal(wait_code(child.pid), 0);
    close(child.pidfd);
    close(a);
    close(b);
}

static void a_child_gets_default_signals_and_an_empty_mask(void **state)
{
    sigset_t block, before;
    (void)state;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &before);
    void (*old)(int) = signal(SIGINT, SIG_IGN);
    RunResult result =
        run((RunSpec){.argv = ARGV("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")});
    signal(SIGINT, old);
    sigprocmask(SIG_SETMASK, &before, NULL);
    unsigned long long blocked = 1, ignored = 1;
    assert_int_equal(sscanf(str_text(&result.out), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored),
                     2);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored & 0x7fffffff, 0); /* the C library keeps two real-time ones */
    run_result_done(&result);
}

static void a_missing_program_is_named(void **state)
{
    Err err = {0};
    RunResult result;
    char found[PATH_MAX];
    (void)state;
    assert_false(proc_run(&(RunSpec){.argv = ARGV("no-such-thing")}, &result, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "no-such-thing"));
    assert_false(proc_run(&(RunSpec){.argv = ARGV("/no/such")}, &result, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "/no/such"));
    assert_false(proc_run(&(RunSpec){.argv = ARGV("sh"), .cwd = "/no/folder"}, &result, &err));
    assert_non_null(strstr(err.text, "/no/folder"));
    assert_false(
        proc_run(&(RunSpec){.argv = ARGV("sh"), .envp = ARGV("PATH=/nowhere")}, &result, &err));
    assert_true(program_find("sh", "/nowhere::/bin", found));
    assert_string_equal(found, "/bin/sh");
    assert_false(program_find("sh", "", found));
    assert_false(program_find("", "/bin", found));
    assert_false(program_find("/bin", NULL, found)); /* a folder is no program */
}

static void both_streams_the_input_and_the_code_come_back(void **state)
{
    (void)state;
    RunResult result = run((RunSpec){.argv = SH("cat; echo bad >&2; exit 7"), .input = "in\n"});
    assert_int_equal(result.exit_code, 7);
    assert_int_equal(result.signal, 0);
    assert_string_equal(str_text(&result.out), "in\n");
    assert_string_equal(str_text(&result.err), "bad\n");
    run_result_done(&result);
    result = run((RunSpec){.argv = SH("echo a; echo b >&2; echo c"), .merge_err = true});
    assert_string_equal(str_text(&result.out), "a\nb\nc\n");
    assert_int_equal(result.err.length, 0);
    run_result_done(&result);
    result = run((RunSpec){.argv = SH("kill -9 $$")});
    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGKILL);
    run_result_done(&result);
}

static void input_nobody_reads_is_harmless(void **state)
{
    size_t length = 1 << 20;
    char *input = malloc(length);
    (void)state;
    memset(input, 'x', length);
    RunResult result = run((RunSpec){.argv = ARGV("true"), .input = input, .input_length = length});
    assert_int_equal(result.exit_code, 0);
    run_result_done(&result);
    result = run((RunSpec){.argv = ARGV("wc", "-c"), .input = input, .input_length = length});
    assert_string_equal(str_text(&result.out), "1048576\n");
    run_result_done(&result);
    result = run((RunSpec){.argv = ARGV("cat")}); /* /dev/null: ends at once */
    assert_int_equal(result.exit_code, 0);
    run_result_done(&result);
    free(input);
}

static void output_over_the_limit_keeps_its_head(void **state)
{
    (void)state;
    RunResult result = run((RunSpec){
        .argv = SH("head -c 3000000 /dev/zero | tr '\\0' y; echo e >&2"), .limit_bytes = 1000});
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(result.out.length, 1000);
    assert_true(result.out_cut);
    assert_false(result.err_cut);
    assert_int_equal(result.out.bytes[999], 'y');
    run_result_done(&result);
}

/* How many processes carry the mark; ends them. */
static int strays(void)
{
    Err err = {0};
    int killed = -1;
    if (!sweep_marked(mark, &killed, &err))
        fail_msg("%s", err.text);
    return killed;
}

static void a_grandchild_that_holds_the_pipe_delays_nothing(void **state)
{
    (void)state;
    /* The sleeper is in another session, so the group kill does not end it (D-88). */
    RunResult result = run((RunSpec){.argv = SH("setsid sh -c 'touch up; exec sleep 1000' & "
                                                "until test -e up; do sleep 0.01; done; echo done"),
                                     .cwd = folder,
                                     .envp = ARGV("PATH=/usr/bin:/bin", mark)});
    assert_int_equal(result.exit_code, 0);
    assert_false(result.timed_out);
    assert_string_equal(str_text(&result.out), "done\n");
    run_result_done(&result);
    assert_int_equal(strays(), 1); /* nor does anybody else */
}

static void what_is_left_of_the_group_is_killed_after_success(void **state)
{
    ProcIdent left;
    int64_t pid;
    (void)state;
    RunResult result = run((RunSpec){.argv = SH("sleep 1000 & printf %s $!")});
    assert_int_equal(result.exit_code, 0);
    assert_true(text_to_int(str_text(&result.out), &pid));
    if (ident_of((pid_t)pid, &left)) /* dying, or a zombie until init looks */
        while (ident_is_alive(&left) != PROC_DEAD)
            assert_int_equal(usleep(1000), 0);
    run_result_done(&result);
}

static void a_time_out_ends_the_whole_tree(void **state)
{
    (void)state;
    RunResult result = run((RunSpec){
        .argv = SH("trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' & "
                   "sleep 1000 & echo up; while :; do sleep 1000; done"),
        .envp = ARGV("PATH=/usr/bin:/bin", mark),
        .timeout_ms = 300,
        .grace_ms = 50});
    assert_true(result.timed_out);
    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGKILL);
    assert_string_equal(str_text(&result.out), "up\n");
    run_result_done(&result);
    assert_int_equal(strays(), 0);
}

static void a_time_out_asks_first(void **state)
{
    (void)state;
    RunResult result = run(
        (RunSpec){.argv = SH("trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done"),
                  .timeout_ms = 300,
                  .grace_ms = 60000});
    assert_true(result.timed_out);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(str_text(&result.out), "up\nbye\n");
    run_result_done(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_with_folder_environment_and_descriptors),
        cmocka_unit_test(descriptors_may_trade_places),
        cmocka_unit_test(a_child_gets_default_signals_and_an_empty_mask),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(both_streams_the_input_and_the_code_come_back),
        cmocka_unit_test(input_nobody_reads_is_harmless),
        cmocka_unit_test(output_over_the_limit_keeps_its_head),
        cmocka_unit_test(a_grandchild_that_holds_the_pipe_delays_nothing),
        cmocka_unit_test(what_is_left_of_the_group_is_killed_after_success),
        cmocka_unit_test(a_time_out_ends_the_whole_tree),
        cmocka_unit_test(a_time_out_asks_first),
    };
    return cmocka_run_group_tests(tests, setup_folder, remove_folder);
}
