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

static void it_gives_structured_answers(void **state)
{
    Lab *lab = *state;
    lab->turn.phase = "check";
    lab->turn.checkpoint = "post-plan";
    lab->turn.visit = 3;
    lab->turn.visit_checkpoint = 2;
    play(lab,
         "phases:\n"
         "  check@post-plan:\n"
         "    - - answer: no\n"
         "    - - answer: {scores: {d1: 0.5}, list: [R1, 2, true], text: \"a\\n\\\"b\\\"\"}\n"
         "      - answer: '{broken'\n"
         "      - {answer: {a: 1}, via: command}\n",
         0);
    assert_string_equal(str_text(&lab->out),
                        "<otto-ab12>RESULT:{\"scores\":{\"d1\":0.5},\"list\":[\"R1\",2,true],"
                        "\"text\":\"a\\n\\\"b\\\"\"}</otto-ab12>\n"
                        "<otto-ab12>RESULT:{broken</otto-ab12>\n");
    expect_file(lab, "signals", "{\"a\":1}\n");
}

static json_t *read_signal(Lab *lab)
{
    char *text = lab_read(lab, "files/.auto-signal");
    assert_non_null(text);
    json_t *json = json_read(text, strlen(text), NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static void it_drives_itself_by_files(void **state)
{
    Lab *lab = *state;
    char *folder = lab_path(lab, "files"); /* made by the session */
    lab->turn.task_dir = folder;
    play(lab,
         "turns:\n"
         "  - - status_file: {status: planning, stage: {current: 1}}\n"
         "    - index_file: '{half'\n"
         "    - auto_signal: {step: plan, result: (generated), next: check,\n"
         "                    checkpoint: post-plan, iteration: 1}\n",
         0);
    CLEANUP(json_freep) json_t *found = read_signal(lab);
    assert_string_equal(json_text(found, "step", ""), "plan");
    assert_string_equal(json_text(found, "result", ""), "(generated)");
    assert_string_equal(json_text(found, "next", ""), "check");
    assert_string_equal(json_text(found, "checkpoint", ""), "post-plan");
    assert_int_equal(json_int(found, "iteration", 0), 1);
    assert_int_equal(strlen(json_text(found, "timestamp", "")), strlen("2026-01-31T10:00:00Z"));
    expect_file(lab, "files/.status.json",
                "{\n  \"status\": \"planning\",\n  \"stage\": {\n    \"current\": 1\n  }\n}");
    expect_file(lab, "files/.index.json", "{half");
    assert_int_equal(lab_shell(lab, "files", "test \"$(ls -A | wc -l)\" = 3"), 0);
    play(lab, "turns: [[auto_signal: {raw: '{\"step\":', slow: true}]]\n", 0);
    expect_file(lab, "files/.auto-signal", "{\"step\":");
    lab_write(lab, "files/.auto-stop", "{}");
    play(lab, "turns: [[{wait_stop: 5}, {auto_clean: true}, {say: over}]]\n", 0);
    assert_string_equal(str_text(&lab->out), "over\n");
    assert_int_equal(lab_shell(lab, "files", "test \"$(ls -A | wc -l)\" = 2"), 0);
    play(lab, "turns: [[wait_stop: {seconds: 0.01}]]\n", SCRIPT_FAILED);
    free(folder);
}

static void a_slow_report_stands_half_written_until_it_is_whole(void **state)
{
    Lab *lab = *state;
    char *folder = lab_path(lab, "files");
    lab->turn.task_dir = folder;
    (void)setenv("OTTO_SCRIPT_PACE", "1", 1);
    lab_scenario(lab, "turns: [[auto_signal: {raw: '0123456789', slow: true, seconds: 600}]]\n");
    pid_t pid = lab_start(lab);
    for (bool is_half = false; !is_half;) {
        char *text = lab_read(lab, "files/.auto-signal");
        is_half = text && text_equal(text, "01234");
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        free(text);
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    lab_wait(lab, pid);
    free(folder);
}

static void a_self_driving_step_needs_its_folder(void **state)
{
    Lab *lab = *state;
    play(lab, "turns: [[auto_clean: true]]\n", SCRIPT_FAILED);
    assert_non_null(strstr(str_text(&lab->err), "OTTO_TASK_DIR names no folder"));
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
        T(it_gives_structured_answers),
        T(it_drives_itself_by_files),
        T(a_slow_report_stands_half_written_until_it_is_whole),
        T(a_self_driving_step_needs_its_folder),
        T(a_shell_agent_gets_prompt_and_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
