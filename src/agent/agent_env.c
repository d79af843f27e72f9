/* Agents: the environment that every kind gets.
 *
 * The engine's own, without what belongs to the engine or to a git command that happened to start
 * it, then ours. Values of the user's settings come last and win, except over OTTO_*. */
#include "agent/kind.h"
#include <inttypes.h>

typedef struct EnvList {
    const char **items;
    size_t count;
    Arena *arena;
} EnvList;

/* Never inherited. A name that ends with '*' stands for all that begin so. */
static const char *const engine_only[] = {
    "OTTO_*", /* state folder, tokens of an outer run; ours are set below */
    "OLDPWD", /* the engine's folders are no business of the agent */
    "NOTIFY_SOCKET",
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES", /* of a service manager */
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
};

/* How fast the scripted agent sleeps; tests of a whole engine set it once for all runs. */
static const char pace[] = "OTTO_SCRIPT_PACE";

static bool name_is(const char *pair, const char *name)
{
    size_t length = strlen(name);
    if (length && name[length - 1] == '*')
        return strncmp(pair, name, length - 1) == 0;
    return strncmp(pair, name, length) == 0 && pair[length] == '=';
}

/* The first letters of the table above: most variables begin with none of them. */
static bool may_be_listed(const char *pair)
{
    return strchr("OLNG", pair[0]) != NULL;
}

static bool is_inherited(const char *pair)
{
    if (!may_be_listed(pair))
        return strchr(pair, '=') != NULL;
    if (name_is(pair, pace))
        return true;
    for (size_t i = 0; i < COUNT(engine_only); i++)
        if (name_is(pair, engine_only[i]))
            return false;
    return strchr(pair, '=') != NULL;
}

static const char *env_get(const EnvList *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (name_is(list->items[i], name))
            return list->items[i] + strlen(name) + 1;
    return NULL;
}

static void env_put(EnvList *list, const char *pair)
{
    size_t length = strcspn(pair, "=") + 1;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i][0] == pair[0] && strncmp(list->items[i], pair, length) == 0) {
            list->items[i] = pair;
            return;
        }
    list->items[list->count++] = pair;
}

static void env_set(EnvList *list, const char *name, const char *value)
{
    if (value)
        env_put(list, arena_printf(list->arena, "%s=%s", name, value));
}

static void env_set_int(EnvList *list, const char *name, int64_t value)
{
    env_put(list, arena_printf(list->arena, "%s=%" PRId64, name, value));
}

static void env_default(EnvList *list, const char *name, const char *value)
{
    if (!env_get(list, name))
        env_set(list, name, value);
}

static void add_run(EnvList *list, const AgentTurn *turn)
{
    env_set_int(list, "OTTO_TASK_ID", turn->task_id);
    env_set_int(list, "OTTO_RUN_ID", turn->run_id);
    env_set_int(list, "OTTO_EPOCH", turn->epoch);
    env_set_int(list, "OTTO_TURN", turn->turn);
    env_set_int(list, "OTTO_ATTEMPT", turn->attempt);
    env_set(list, "OTTO_SIGNAL_TAG", turn->signal_tag);
    env_set(list, "OTTO_SOCKET", turn->socket);
    env_set(list, "OTTO_TOKEN", turn->token);
    env_set(list, "OTTO_TASK_TITLE", turn->task_title);
    env_set(list, "OTTO_TASK_KEY", turn->task_key);
    env_set(list, "OTTO_MARK", turn->mark);
    env_set(list, "OTTO_MODEL", turn->settings->model);
    env_set(list, "OTTO_TARGET_REF", turn->target_ref);
    if (turn->tries)
        env_set_int(list, "OTTO_TRY", turn->tries);
    env_set(list, "PWD", turn->workspace);
}

static void set_given(EnvList *list, const char *name, const char *value)
{
    env_set(list, name, value && *value ? value : NULL);
}

static void set_counted(EnvList *list, const char *name, int64_t value)
{
    if (value > 0)
        env_set_int(list, name, value);
}

/* Where the task stands in its workflow. */
static void add_flow(EnvList *list, const AgentTurn *turn)
{
    set_given(list, "OTTO_PHASE", turn->phase);
    set_given(list, "OTTO_CHECKPOINT", turn->checkpoint);
    set_counted(list, "OTTO_VISIT", turn->visit);
    set_counted(list, "OTTO_VISIT_CHECKPOINT", turn->visit_checkpoint);
    set_counted(list, "OTTO_STAGE", turn->stage);
    set_given(list, "OTTO_TASK_DIR", turn->task_dir);
    set_given(list, "OTTO_ANSWER", turn->answer_path);
    set_given(list, "OTTO_SESSION", turn->resume_id);
}

/* Some agents hide the user's git settings from their shells; the identity must not depend on
 * them. */
static void add_identity(EnvList *list, const AgentTurn *turn)
{
    const char *name = turn->author_name ? turn->author_name : "otto";
    const char *email = turn->author_email ? turn->author_email : "otto@localhost";
    env_default(list, "GIT_AUTHOR_NAME", name);
    env_default(list, "GIT_AUTHOR_EMAIL", email);
    env_default(list, "GIT_COMMITTER_NAME", name);
    env_default(list, "GIT_COMMITTER_EMAIL", email);
}

/* `otto signal` must be this program, wherever it was started from. */
static void add_path(EnvList *list, const AgentTurn *turn)
{
    const char *slash = turn->program ? strrchr(turn->program, '/') : NULL;
    const char *path = env_get(list, "PATH");
    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    if (slash)
        path = arena_printf(list->arena, "%.*s:%s", (int)MAX(slash - turn->program, 1),
                            turn->program, path);
    env_set(list, "PATH", path);
}

const char *const *agent_env(const AgentTurn *turn, Arena *arena)
{
    enum { MOST_OURS = 40 };
    size_t inherited = 0;
    while (turn->base_env && turn->base_env[inherited])
        inherited++;
    size_t size = inherited + turn->settings->env.count + MOST_OURS;
    EnvList list = {arena_alloc(arena, size * sizeof(char *)), 0, arena};
    for (size_t i = 0; i < inherited; i++)
        if (is_inherited(turn->base_env[i]))
            list.items[list.count++] = turn->base_env[i];
    for (size_t i = 0; i < turn->settings->env.count; i++)
        if (!text_starts(turn->settings->env.items[i], "OTTO_"))
            env_put(&list, turn->settings->env.items[i]);
    add_run(&list, turn);
    add_flow(&list, turn);
    add_identity(&list, turn);
    add_path(&list, turn);
    return list.items; /* zeroed beyond count, so NULL-terminated */
}
