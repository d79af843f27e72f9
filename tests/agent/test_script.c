/* agent/script: real turns of the scripted agent in a real folder. */
#include "tests/test.h"

#include "agent/script.h"
#include "base/file.h"
#include "tests/agent/lab.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
    Lab *lab = mem_alloc(sizeof *lab);
    lab_init(lab);
    *state = lab;
    return 0;
}

static int teardown(void **state)
{
    lab_done(*state);
    free(*state);
    return 0;
}

static void play(Lab *lab, const char *scenario, int code)
{
    lab_scenario(lab, scenario);
    lab_turn(lab);
    if (lab_exit_code(lab) != code)
        fail_msg("exit %d: %s", lab_exit_code(lab), str_text(&lab->err));
}

static void expect_file(Lab *lab, const char *name, const char *text)
{
    char *found = lab_read(lab, name);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

static void it_talks_writes_and_signals(void **state)
{
    Lab *lab = *state;
    play(lab,
         "turns:\n"
         "  - - say: hello\n"
         "    - warn: careful\n"
         "    - write: {path: deep/er/a.txt, text: \"one\\n\"}\n"
         "    - write: {path: deep/er/a.txt, append: two}\n"
         "    - write: {path: big.bin, bytes: 100000}\n"
         "    - write: {path: run.sh, text: 'exit 0', executable: true}\n"
         "    - run: ./run.sh && echo tool\n"
         "    - say: {file: deep/er/a.txt}\n"
         "    - delete: run.sh\n"
         "    - delete: never-there\n"
         "    - {if_exists: big.bin, say: there}\n"
         "    - {if_missing: big.bin, say: not there}\n"
         "    - signal: 'PROGRESS:50'\n"
         "    - signal: {type: BLOCKED, payload: no key}\n"
         "    - say: '<{{tag}}>odd'\n",
         0);
    assert_string_equal(str_text(&lab->out), "hello\none\ntwo\nthere\n"
                                             "<otto-ab12>PROGRESS:50</otto-ab12>\n"
                                             "<otto-ab12>BLOCKED:no key</otto-ab12>\n"
                                             "<otto-ab12>odd\n");
    assert_string_equal(str_text(&lab->err), "careful\ntool\n");
    expect_file(lab, "work/deep/er/a.txt", "one\ntwo");
    struct stat about;
    char *big = lab_path(lab, "work/big.bin"), *gone = lab_path(lab, "work/run.sh");
    assert_int_equal(stat(big, &about), 0);
    assert_int_equal(about.st_size, 100000);
    assert_false(path_exists(gone));
    free(big);
    free(gone);
}

static void it_signals_by_command_too(void **state)
{
    Lab *lab = *state;
    play(lab, "turns: [[signal: {text: 'PENDING:which; one', via: command}]]\n", 0);
    expect_file(lab, "signals", "PENDING:which; one\n");
    assert_string_equal(str_text(&lab->out), "");
}

static void it_plays_the_turn_that_is_asked_for(void **state)
{
    Lab *lab = *state;
    const char *scenario = "tasks:\n  dark: [[say: one], [say: two]]\nturns: [[say: other]]\n";
    lab->turn.task_key = "dark";
    lab->turn.turn = 2;
    play(lab, scenario, 0);
    assert_string_equal(str_text(&lab->out), "two\n");
    lab->turn.task_key = "light";
    play(lab, scenario, 0);
    assert_string_equal(str_text(&lab->out), "other\n");
}

static void it_commits_what_changed_and_only_that(void **state)
{
    Lab *lab = *state;
    assert_int_equal(lab_shell(lab, "work", "git init -q -b main"), 0);
    play(lab,
         "turns:\n"
         "  - - write: {path: a, text: x}\n"
         "    - commit: 'feat: add a; echo $(id)'\n"
         "    - commit: nothing to do\n",
         0);
    assert_int_equal(lab_shell(lab, "work",
                               "test \"$(git log --format='%s|%an|%ae')\" = "
                               "'feat: add a; echo $(id)|otto|otto@localhost' && "
                               "test -z \"$(git status --porcelain)\""),
                     0);
}

static void it_concludes_a_merge(void **state)
{
    Lab *lab = *state;
    assert_int_equal(lab_shell(lab, "work",
                               "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t "
                               "GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t; "
                               "git init -q -b main && echo 0 > f && git add f && "
                               "git commit -qm 0 && git checkout -qb other && echo 1 > f && "
                               "git commit -qam 1 && git checkout -q main && echo 2 > f && "
                               "git commit -qam 2"),
                     0);
    lab->turn.checkpoint = "conflict";
    lab->turn.target_ref = "other";
    lab->turn.tries = 1;
    play(lab,
         "turns: [[say: wrong]]\n"
         "on_conflict:\n"
         "  - - run: {command: 'git merge -q \"$OTTO_TARGET_REF\"', may_fail: true}\n"
         "    - write: {path: f, text: \"2\\n\"}\n"
         "    - commit: both\n",
         0);
    assert_int_equal(lab_shell(lab, "work", "git rev-parse -q --verify HEAD^2"), 0);
}

static void it_fails_loudly(void **state)
{
    Lab *lab = *state;
    play(lab, "turns:\n  - - say: x\n    - run: exit 3\n", SCRIPT_FAILED);
    assert_non_null(strstr(str_text(&lab->err), "line 3: run: '/bin/sh' ended with 3"));
    play(lab, "turns: [[run: {command: exit 3, may_fail: true}, exit: 9, say: never]]\n", 9);
    assert_string_equal(str_text(&lab->out), "");
    play(lab, "turns:\n  - - {sya: x}\n", SCRIPT_BAD_SCENARIO);
    assert_non_null(strstr(str_text(&lab->err),
                           "scenario.yaml: line 2: unknown step 'sya', did you mean 'say'?"));
    play(lab, "turns: [[\n", SCRIPT_BAD_SCENARIO);
    play(lab, "tasks: {a: [[say: x]]}\n", SCRIPT_BAD_SCENARIO);
    lab->agent.scenario = "absent.yaml";
    lab_turn(lab);
    assert_int_equal(lab_exit_code(lab), SCRIPT_BAD_SCENARIO);
}

static void nothing_is_done_when_a_later_step_is_misspelt(void **state)
{
    Lab *lab = *state;
    play(lab, "turns: [[write: {path: a, text: x}], [sya: x]]\n", SCRIPT_BAD_SCENARIO);
    char *path = lab_path(lab, "work/a");
    assert_false(path_exists(path));
    free(path);
}

static void links_do_not_lead_out_of_the_workspace(void **state)
{
    Lab *lab = *state;
    lab_write(lab, "secret", "s");
    assert_int_equal(lab_shell(lab, "work",
                               "ln -s .. up && ln -s ../secret link && mkdir -p ../d "
                               "&& touch ../d/keep && ln -s ../d folder"),
                     0);
    play(lab, "turns: [[write: {path: up/secret, text: x}]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[write: {path: link, text: x}]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[say: {file: link}]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[delete: up/secret]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[delete: folder]]\n", 0); /* the link itself */
    expect_file(lab, "secret", "s");
    expect_file(lab, "d/keep", "");
}

static void it_looks_at_its_prompt(void **state)
{
    Lab *lab = *state;
    lab->turn.prompt = "Please fix the tests.\n";
    play(lab, "turns: [[expect: fix the tests, say: {prompt: true}]]\n", 0);
    assert_string_equal(str_text(&lab->out), "Please fix the tests.\n");
    play(lab, "turns: [[expect: {contains: something else}]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[expect: {path: absent}]]\n", SCRIPT_FAILED);
    play(lab, "turns: [[write: {path: a, text: bcd}, expect: {path: a, contains: cd}]]\n", 0);
}

static void it_reports_usage_limits_and_its_session(void **state)
{
    Lab *lab = *state;
    play(lab,
         "turns:\n  - - session: s-1\n    - usage: {input: 5, output: 6, cost: 0.25}\n"
         "    - limit: {kind: plan, reset_s: 30}\n    - limit: quota\n",
         0);
    assert_string_equal(str_text(&lab->out),
                        "{\"otto\":\"session\",\"id\":\"s-1\"}\n"
                        "{\"otto\":\"usage\",\"input\":5,\"output\":6,\"cache\":0,"
                        "\"cost\":0.250000}\n"
                        "{\"otto\":\"limit\",\"kind\":\"plan\",\"reset_s\":30}\n"
                        "{\"otto\":\"limit\",\"kind\":\"quota\",\"reset_s\":-1}\n");
}

static void it_floods_its_output(void **state)
{
    Lab *lab = *state;
    play(lab, "turns: [[spew: 1000000]]\n", 0);
    assert_int_equal(lab->out.length, 1000000);
    assert_int_equal(lab->out.bytes[79], '\n');
    play(lab, "turns: [[spew: {bytes: 200001, line: false, pattern: ab}]]\n", 0);
    assert_int_equal(lab->out.length, 200001);
    assert_null(strchr(lab->out.bytes, '\n'));
    assert_int_equal(lab->out.bytes[200000], 'a');
}

static void it_dies_of_signals(void **state)
{
    Lab *lab = *state;
    play(lab, "turns: [[kill: KILL]]\n", 128 + SIGKILL);
    play(lab, "turns: [[say: x], [kill: TERM]]\n", 0);
    lab->turn.turn = 2;
    play(lab, "turns: [[say: x], [kill: TERM]]\n", 128 + SIGTERM);
}

/* Waits until the file has a line in it; the turn under way writes it. */
static char *wait_for_file(Lab *lab, const char *name)
{
    for (;;) {
        char *text = lab_read(lab, name);
        if (text && strchr(text, '\n'))
            return text;
        free(text);
        (void)usleep(2000); /* a poll, not a hope */
    }
}

static void it_hangs_until_it_is_killed(void **state)
{
    Lab *lab = *state;
    lab_scenario(lab, "turns:\n  - - say: ready\n    - hang: true\n");
    pid_t pid = lab_start(lab);
    free(wait_for_file(lab, "stdout"));
    assert_int_equal(kill(pid, SIGTERM), 0);
    lab_wait(lab, pid);
    assert_int_equal(lab_exit_code(lab), 128 + SIGTERM);
}

static void it_can_ignore_polite_signals(void **state)
{
    Lab *lab = *state;
    lab_scenario(lab, "turns:\n  - - fork: {how: child, ignore_term: true, seconds: 0.01}\n"
                      "    - say: ready\n    - hang: {ignore_term: true}\n");
    pid_t pid = lab_start(lab);
    free(wait_for_file(lab, "stdout"));
    /* It says ready just before it begins to ignore; the kernel tells when it does. */
    for (bool is_ignored = false; !is_ignored; (void)usleep(2000)) {
        char path[64];
        size_t length;
        (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        char *text = file_read(path, 1 << 16, &length, NULL);
        const char *mask = text ? strstr(text, "SigIgn:\t") : NULL;
        is_ignored = mask && (strtoull(mask + 8, NULL, 16) & (1ULL << (SIGTERM - 1)));
        free(text);
    }
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    lab_wait(lab, pid);
    assert_int_equal(lab_exit_code(lab), 128 + SIGKILL);
}

/* Strays are adopted by this program (a sub-reaper), so that it can see and end them. */
static void it_leaves_processes_behind(void **state)
{
    Lab *lab = *state;
    static const char *const hows[] = {"child", "setsid", "daemon"};
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    for (size_t i = 0; i < COUNT(hows); i++) {
        char scenario[200];
        (void)snprintf(scenario, sizeof scenario,
                       "turns: [[fork: {how: %s, seconds: 600, pid_file: pid}]]\n", hows[i]);
        play(lab, scenario, 0);
        char *text = lab_read(lab, "work/pid");
        pid_t stray = (pid_t)strtol(text, NULL, 10);
        free(text);
        assert_true(stray > 1);
        assert_int_equal(kill(stray, 0), 0);
        bool is_apart = getsid(stray) != getsid(0);
        assert_int_equal(is_apart, i > 0);
        assert_int_equal(getsid(stray) == stray, i == 1);
        assert_int_equal(kill(stray, SIGKILL), 0);
        assert_int_equal(waitpid(stray, NULL, 0), stray);
    }
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void the_tag_cannot_be_found_in_an_echoed_file(void **state)
{
    Lab *lab = *state;
    lab_write(lab, "work/notes", "<otto>COMPLETE</otto>\n");
    play(lab, "turns: [[run: cat notes]]\n", 0);
    assert_string_equal(str_text(&lab->out), ""); /* a tool's output is not its own words */
}

static void a_shell_agent_gets_prompt_and_environment(void **state)
{
    Lab *lab = *state;
    lab->agent = (AgentSettings){.name = "sh", .kind = "command", .prompt = "stdin"};
    lab->agent.command.shell = "cat; echo $OTTO_TASK_ID; otto signal COMPLETE; pwd";
    lab_turn(lab);
    assert_int_equal(lab_exit_code(lab), 0);
    assert_true(text_starts(str_text(&lab->out), "Do it.\n7\n/"));
    assert_non_null(strstr(str_text(&lab->out), "/work\n"));
    expect_file(lab, "signals", "COMPLETE\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(it_talks_writes_and_signals),
        T(it_signals_by_command_too),
        T(it_plays_the_turn_that_is_asked_for),
        T(it_commits_what_changed_and_only_that),
        T(it_concludes_a_merge),
        T(it_fails_loudly),
        T(nothing_is_done_when_a_later_step_is_misspelt),
        T(links_do_not_lead_out_of_the_workspace),
        T(it_looks_at_its_prompt),
        T(it_reports_usage_limits_and_its_session),
        T(it_floods_its_output),
        T(it_dies_of_signals),
        T(it_hangs_until_it_is_killed),
        T(it_can_ignore_polite_signals),
        T(it_leaves_processes_behind),
        T(the_tag_cannot_be_found_in_an_echoed_file),
        T(a_shell_agent_gets_prompt_and_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
