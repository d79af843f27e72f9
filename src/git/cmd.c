/* Starting git: see cmd.h. */
#include "git/cmd.h"
#include "base/arena.h"
#include "base/file.h"
#include "proc/run.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char *const fixed_env[] = {
    "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "LC_ALL=C",
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
    "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_SSH_COMMAND=false",
    "GIT_EDITOR=false", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_ALLOW_PROTOCOL=file",
};

/* Outranks the configuration of any repository: each row is a way to start a program (T8), or
 * changes what is written. */
static const char *const fixed_config[][2] = {
    { "core.hooksPath",            "/dev/null" },
    { "core.fsmonitor",            "false" },
    { "core.untrackedCache",       "false" },
    { "core.splitIndex",           "false" },
    { "core.pager",                "cat" },
    { "core.editor",               "false" },
    { "core.askPass",              "false" },
    { "core.sshCommand",           "false" },
    { "core.gitProxy",             "false" },
    { "core.alternateRefsCommand", "true" },
    { "core.attributesFile",       "/dev/null" },
    { "core.quotePath",            "false" },
    { "credential.helper",         "" },
    { "diff.external",             "" },
    { "diff.ignoreSubmodules",     "all" },
    { "protocol.ext.allow",        "never" },
    { "submodule.recurse",         "false" },
    { "fetch.recurseSubmodules",   "false" },
    { "commit.gpgSign",            "false" },
    { "log.showSignature",         "false" },
    { "core.filesRefLockTimeout",  "3000" }, /* several workers on one hub take turns */
    { "core.packedRefsTimeout",    "3000" },
    { "gc.auto",                   "0" },
    { "maintenance.auto",          "false" },
    { "color.ui",                  "false" },
    { "advice.detachedHead",       "false" },
};
/* clang-format on */
enum { ENV_MAX = COUNT(fixed_env) + 2 * COUNT(fixed_config) + 24, WORDS_MAX = 96 };

static const char *path_line(Arena *arena)
{
    const char *path = getenv("PATH");
    return arena_printf(arena, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
}

static size_t env_config(Arena *arena, const char **env, size_t count, const char *excludes)
{
    size_t keys = 0;
    for (; keys < COUNT(fixed_config); keys++) {
        env[count++] = arena_printf(arena, "GIT_CONFIG_KEY_%zu=%s", keys, fixed_config[keys][0]);
        env[count++] = arena_printf(arena, "GIT_CONFIG_VALUE_%zu=%s", keys, fixed_config[keys][1]);
    }
    env[count++] = arena_printf(arena, "GIT_CONFIG_KEY_%zu=core.excludesFile", keys);
    env[count++] =
        arena_printf(arena, "GIT_CONFIG_VALUE_%zu=%s", keys, excludes ? excludes : "/dev/null");
    env[count++] = arena_printf(arena, "GIT_CONFIG_COUNT=%zu", keys + 1);
    return count;
}

static void env_fill(Arena *arena, const Git *git, const char **env)
{
    size_t count = 0;
    env[count++] = path_line(arena);
    for (size_t i = 0; i < COUNT(fixed_env); i++)
        env[count++] = fixed_env[i];
    if (getenv("TMPDIR"))
        env[count++] = arena_printf(arena, "TMPDIR=%s", getenv("TMPDIR"));
    count = env_config(arena, env, count, git->excludes);
    if (git->index)
        env[count++] = arena_printf(arena, "GIT_INDEX_FILE=%s", git->index);
    for (const char *const *more = git->env; more && *more && count + 1 < ENV_MAX; more++)
        env[count++] = *more;
    env[count] = NULL;
}

static bool words_fill(Arena *arena, const Git *git, const char *const *words, const char **argv,
                       Err *err)
{
    size_t count = 0;
    argv[count++] = "git";
    if (git->dir)
        argv[count++] = arena_printf(arena, "--git-dir=%s", git->dir);
    if (git->tree)
        argv[count++] = arena_printf(arena, "--work-tree=%s", git->tree);
    for (; *words; words++) {
        if (count + 1 >= WORDS_MAX)
            return err_set(err, ERR_INTERNAL, "too many words for git");
        argv[count++] = *words;
    }
    argv[count] = NULL;
    return true;
}

static bool run_git(const Git *git, const char *const *words, const GitInput *input, size_t limit,
                    GitOut *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *env[ENV_MAX], *argv[WORDS_MAX];
    env_fill(&arena, git, env);
    if (!words_fill(&arena, git, words, argv, err))
        return false;
    RunSpec spec = {.argv = argv,
                    .envp = env,
                    .cwd = git->cwd    ? git->cwd
                           : git->tree ? git->tree
                                       : "/",
                    .input = input && input->length ? input->bytes : NULL,
                    .input_length = input ? input->length : 0,
                    .timeout_ms = git->timeout_ms ? git->timeout_ms : GIT_TIMEOUT_MS,
                    .limit_bytes = limit};
    RunResult result;
    if (!proc_run(&spec, &result, err))
        return err_add(err, "git %s", words[0]);
    *out = (GitOut){result.exit_code, result.out_cut, result.out, result.err};
    if (result.timed_out)
        return err_set(err, ERR_PROCESS, "git %s did not end in time", words[0]);
    if (result.exit_code < 0)
        /* an accident, never an answer (T16) */
        return err_set(err, ERR_PROCESS, "git %s was ended by signal %d", words[0], result.signal);
    return true;
}

bool git_call(const Git *git, const char *const *words, const GitInput *input, GitOut *out,
              Err *err)
{
    return run_git(git, words, input, GIT_OUT_LIMIT, out, err);
}

bool git_call_limited(const Git *git, const char *const *words, size_t limit_bytes, GitOut *out,
                      Err *err)
{
    return run_git(git, words, NULL, limit_bytes, out, err);
}

bool git_failed(const char *const *words, const GitOut *out, Err *err)
{
    const char *said = str_text(&out->err);
    ErrKind kind = ERR_GIT;
    if (strstr(said, ".lock'") && strstr(said, "File exists"))
        kind = ERR_BUSY;
    else if (strstr(said, "No space left on device"))
        kind = ERR_NO_SPACE;
    while (text_starts(said, "warning:") && strchr(said, '\n'))
        said = strchr(said, '\n') + 1;
    Str line = STR_INIT;
    str_add_safe(&line, said, MIN(strcspn(said, "\n"), 600), false);
    (void)err_set(err, kind, "git %s: exit %d: %s", words[0], out->code, str_text(&line));
    str_done(&line);
    return false;
}

bool git_run(const Git *git, const char *const *words, const GitInput *input, GitOut *out, Err *err)
{
    if (!git_call(git, words, input, out, err))
        return false;
    if (out->code != 0)
        return git_failed(words, out, err);
    return !out->is_cut || err_set(err, ERR_TOO_BIG, "git %s printed too much", words[0]);
}

bool git_oids(const Git *git, const char *const *words, const GitInput *input, Oid *oids,
              size_t count, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(git, words, input, &out, err);
    const char *line = str_text(&out.out);
    for (size_t i = 0; is_done && i < count; i++) {
        size_t size = strcspn(line, "\n");
        if (!oid_is_hex(line, size)) {
            is_done = err_set(err, ERR_GIT, "git %s did not print an object name", words[0]);
            break;
        }
        memcpy(oids[i].hex, line, size);
        oids[i].hex[size] = '\0';
        line += size + (line[size] == '\n');
    }
    git_out_done(&out);
    return is_done;
}

void git_out_done(GitOut *out)
{
    str_done(&out->out);
    str_done(&out->err);
}

/* -- the user's shell text and settings ---------------------------------------------------- */

static const char *const passed_on[] = {"HOME", "LANG", "TMPDIR", "USER", "LOGNAME", "SHELL"};

static void shell_env(Arena *arena, const char *const *more, const char **env, size_t size)
{
    size_t count = 0;
    env[count++] = path_line(arena);
    for (size_t i = 0; i < COUNT(passed_on); i++)
        if (getenv(passed_on[i]))
            env[count++] = arena_printf(arena, "%s=%s", passed_on[i], getenv(passed_on[i]));
    for (; more && *more && count + 1 < size; more++)
        env[count++] = *more;
    env[count] = NULL;
}

bool shell_run(const ShellSpec *spec, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *env[128];
    shell_env(&arena, spec->env, env, COUNT(env));
    RunSpec run = {.argv = ARGV("sh", "-c", spec->text),
                   .envp = env,
                   .cwd = spec->cwd,
                   .timeout_ms = spec->timeout_ms,
                   .merge_err = true};
    CLEANUP(run_result_done) RunResult result = {0};
    if (!proc_run(&run, &result, err))
        return false;
    if (spec->log_path &&
        !file_write_atomic(spec->log_path, str_text(&result.out), result.out.length, 0600, err))
        return false;
    const char *where = spec->log_path ? spec->log_path : "no log kept";
    if (result.timed_out)
        return err_set(err, ERR_PROCESS, "the set-up command did not end in time (%s)", where);
    if (result.exit_code != 0)
        return err_set(err, ERR_PROCESS, "the set-up command ended with %s %d (%s)",
                       result.signal ? "signal" : "exit code",
                       result.signal ? result.signal : result.exit_code, where);
    return true;
}

static bool identity_ask(const char *folder, const char *key, Str *value, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *env[COUNT(passed_on) + 4];
    /* Reading settings starts nothing, so the user's own file may be read here. */
    shell_env(&arena, ARGV("GIT_TERMINAL_PROMPT=0"), env, COUNT(env));
    RunSpec run = {.argv = ARGV("git", "config", "--get", key),
                   .envp = env,
                   .cwd = folder,
                   .timeout_ms = GIT_TIMEOUT_MS};
    CLEANUP(run_result_done) RunResult result = {0};
    if (!proc_run(&run, &result, err))
        return false;
    if (result.exit_code == 0)
        str_add_bytes(value, str_text(&result.out), strcspn(str_text(&result.out), "\n"));
    return true;
}

bool git_identity(const char *folder, Str *name, Str *mail, Err *err)
{
    return identity_ask(folder, "user.name", name, err) &&
           identity_ask(folder, "user.email", mail, err);
}
