/* The hook job: a command of the user at a change of status (A-230, D-261). */
#include "engine/hook.h"
#include "base/arena.h"
#include "base/str.h"
#include "proc/run.h"
#include <string.h>

extern char **environ;

enum { MOST_TAIL = 2000 };

static const char *const *hook_env(const json_t *own, Arena *arena)
{
    size_t count = 0, kept = 0;
    const char *key;
    json_t *value;
    while (environ[count])
        count++;
    const char **env = arena_alloc(arena, (count + json_object_size(own) + 1) * sizeof *env);
    for (size_t i = 0; i < count; i++)
        if (!text_starts(environ[i], "OTTO_") && !text_starts(environ[i], "GIT_"))
            env[kept++] = environ[i];
    json_object_foreach((json_t *)(uintptr_t)own, key, value) env[kept++] =
        arena_printf(arena, "%s=%s", key, json_is_string(value) ? json_string_value(value) : "");
    env[kept] = NULL;
    return env;
}

bool hook_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(run_result_done) RunResult result = {0};
    const char *const argv[] = {"/bin/sh", "-c", json_text(in, "command", "true"), NULL};
    RunSpec spec = {.argv = argv,
                    .envp = hook_env(json_object_get(in, "env"), &arena),
                    .cwd = json_text(in, "path", NULL),
                    .timeout_ms = json_int(in, "timeout_s", 10) * 1000,
                    .limit_bytes = MOST_TAIL,
                    .merge_err = true};
    if (!proc_run(&spec, &result, err))
        return false;
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_safe(&safe, str_text(&result.out), result.out.length, true);
    json_object_set_new(out, "exit_code", json_integer(result.exit_code));
    json_object_set_new(out, "timed_out", json_boolean(result.timed_out));
    json_object_set_new(out, "output", json_string(str_text(&safe)));
    return true;
}
