/* See lab.h. */
#include "tests/test.h"

#include "base/file.h"
#include "tests/agent/lab.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *lab_path(Lab *lab, const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", lab->root, name);
    return str_take(&path);
}

void lab_init(Lab *lab)
{
    *lab = (Lab){0};
    char folder[] = "/tmp/otto-agent-XXXXXX";
    assert_non_null(mkdtemp(folder));
    lab->root = mem_strdup(folder);
    lab->workspace = lab_path(lab, "work");
    lab->program = lab_path(lab, "bin/otto");
    lab->signals = lab_path(lab, "signals");
    char *bin = lab_path(lab, "bin");
    assert_true(folder_ensure(bin, 0755, NULL));
    assert_true(folder_ensure(lab->workspace, 0755, NULL));
    const char *player = getenv("TEST_PLAYER");
    assert_non_null(player); /* the build file sets it */
    assert_int_equal(symlink(player, lab->program), 0);
    free(bin);
    (void)setenv("TEST_SIGNALS", lab->signals, 1);
    (void)setenv("HOME", lab->root, 1); /* nobody's git settings */
    (void)setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    (void)setenv("OTTO_SCRIPT_PACE", "0", 1);
    lab->agent = (AgentSettings){.name = "demo", .kind = "script", .prompt = "stdin"};
    lab->agent.scenario = "scenario.yaml";
    lab->turn = (AgentTurn){.task_id = 7,
                            .run_id = 9,
                            .epoch = 1,
                            .turn = 1,
                            .attempt = 1,
                            .prompt = "Do it.\n",
                            .signal_tag = "otto-ab12",
                            .workspace = lab->workspace,
                            .project_root = lab->root,
                            .program = lab->program};
}

void lab_done(Lab *lab)
{
    assert_true(folder_remove(lab->root, NULL));
    free(lab->root);
    free(lab->workspace);
    free(lab->program);
    free(lab->signals);
    str_done(&lab->out);
    str_done(&lab->err);
}

void lab_write(Lab *lab, const char *name, const char *text)
{
    char *path = lab_path(lab, name);
    Err err = {0};
    if (!file_write_plain(path, text, strlen(text), 0644, &err))
        fail_msg("%s", err.text);
    free(path);
}

void lab_scenario(Lab *lab, const char *text)
{
    lab_write(lab, "scenario.yaml", text);
}

char *lab_read(Lab *lab, const char *name)
{
    size_t length;
    char *path = lab_path(lab, name);
    char *text = file_read(path, 64 << 20, &length, NULL);
    free(path);
    return text;
}

static void child_file(const char *path, int flags, int as)
{
    int fd = open(path, flags, 0600);
    if (fd < 0 || dup2(fd, as) < 0)
        _exit(99);
    close(fd);
}

pid_t lab_start(Lab *lab)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    AgentLaunch launch;
    Err err = {0};
    lab->turn.settings = &lab->agent;
    lab->turn.base_env = (const char *const *)environ;
    if (!agent_launch(&lab->turn, &arena, &launch, &err))
        fail_msg("%s", err.text);
    lab_write(lab, "stdin", launch.stdin_text ? launch.stdin_text : "");
    char *in = lab_path(lab, "stdin"), *out = lab_path(lab, "stdout"),
         *bad = lab_path(lab, "stderr");
    pid_t pid = fork();
    if (pid == 0) {
        child_file(in, O_RDONLY, 0);
        child_file(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
        child_file(bad, O_WRONLY | O_CREAT | O_TRUNC, 2);
        if (chdir(lab->workspace) == 0)
            execvpe(launch.argv[0], (char *const *)launch.argv, (char *const *)launch.env);
        _exit(98);
    }
    assert_true(pid > 0);
    free(in);
    free(out);
    free(bad);
    return pid;
}

void lab_wait(Lab *lab, pid_t pid)
{
    assert_int_equal(waitpid(pid, &lab->status, 0), pid);
    char *out = lab_read(lab, "stdout"), *err = lab_read(lab, "stderr");
    str_clear(&lab->out);
    str_clear(&lab->err);
    str_add(&lab->out, out ? out : "");
    str_add(&lab->err, err ? err : "");
    free(out);
    free(err);
}

void lab_turn(Lab *lab)
{
    lab_wait(lab, lab_start(lab));
}

int lab_exit_code(const Lab *lab)
{
    return WIFSIGNALED(lab->status) ? 128 + WTERMSIG(lab->status) : WEXITSTATUS(lab->status);
}

int lab_shell(Lab *lab, const char *folder, const char *command)
{
    char *path = lab_path(lab, folder);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        (void)dup2(nothing, 1);
        (void)dup2(nothing, 2);
        if (chdir(path) == 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(98);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    free(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
