/* Starting programs: see spawn.h. */
#include "proc/spawn.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef posix_spawn_file_actions_t Actions;
typedef posix_spawnattr_t Attributes;

/* -- finding ----------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat about;
    return access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool join(char out[PATH_MAX], const char *folder, size_t folder_length, const char *name)
{
    size_t length = strlen(name);
    if (folder_length + 1 + length + 1 > PATH_MAX)
        return false;
    memcpy(out, folder, folder_length);
    out[folder_length] = '/';
    memcpy(out + folder_length + 1, name, length + 1);
    return true;
}

bool program_find(const char *name, const char *path_env, char out[PATH_MAX])
{
    const char *at = path_env ? path_env : "/usr/local/bin:/usr/bin:/bin";
    if (!name[0])
        return false;
    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX || !is_program(name))
            return false;
        memcpy(out, name, strlen(name) + 1);
        return true;
    }
    for (;;) {
        size_t length = strcspn(at, ":");
        /* An empty entry would mean the current folder, which may be an agent's: skipped. */
        if (length && join(out, at, length, name) && is_program(out))
            return true;
        if (!at[length])
            return false;
        at += length + 1;
    }
}

static const char *env_value(const char *const *envp, const char *name)
{
    size_t length = strlen(name);
    for (; *envp; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    return NULL;
}

/* -- descriptors ------------------------------------------------------------------------- */

typedef struct Plan {
    SpawnFd rows[SPAWN_FDS + 3]; /* what goes where; fd -1: /dev/null */
    bool is_lifted[SPAWN_FDS + 3];
    size_t count;
} Plan;

static void plan_make(Plan *plan, const SpawnSpec *spec)
{
    assert(spec->fd_count <= SPAWN_FDS);
    *plan = (Plan){.rows = {{spec->in, 0}, {spec->out, 1}, {spec->err, 2}}, .count = 3};
    for (size_t i = 0; i < spec->fd_count; i++)
        plan->rows[plan->count++] = spec->fds[i];
}

/* A source that is also somebody's target would be overwritten before its turn: move it away. */
static bool plan_lift(Plan *plan, Err *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        bool is_target = false;
        SpawnFd *row = &plan->rows[i];
        for (size_t j = 0; j < i; j++)
            is_target |= plan->rows[j].as == row->fd;
        if (!is_target || row->fd < 0)
            continue;
        row->fd = fcntl(row->fd, F_DUPFD_CLOEXEC, 64);
        if (row->fd < 0)
            return err_errno(err, "passing a descriptor");
        plan->is_lifted[i] = true;
    }
    return true;
}

static void plan_done(Plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->is_lifted[i] && plan->rows[i].fd >= 0)
            (void)close(plan->rows[i].fd); /* our copy; nothing was written through it */
}

static int plan_actions(const Plan *plan, Actions *actions)
{
    int highest = 2, null_at = -1, failed = 0;
    for (size_t i = 0; i < plan->count && !failed; i++) {
        const SpawnFd *row = &plan->rows[i];
        highest = MAX(highest, row->as);
        if (row->fd >= 0) {
            failed = posix_spawn_file_actions_adddup2(actions, row->fd, row->as);
        } else if (null_at >= 0) {
            failed = posix_spawn_file_actions_adddup2(actions, null_at, row->as);
        } else {
            null_at = row->as;
            failed = posix_spawn_file_actions_addopen(actions, row->as, "/dev/null", O_RDWR, 0);
        }
    }
    return failed ? failed : posix_spawn_file_actions_addclosefrom_np(actions, highest + 1);
}

/* -- starting ---------------------------------------------------------------------------- */

static int set_attributes(Attributes *attributes, unsigned flags)
{
    sigset_t all, none;
    short bits = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    bits = (short)(bits | (flags & SPAWN_SESSION ? POSIX_SPAWN_SETSID : 0));
    bits = (short)(bits | (flags & SPAWN_GROUP ? POSIX_SPAWN_SETPGROUP : 0));
    sigfillset(&all);
    sigemptyset(&none);
    int failed = posix_spawnattr_setflags(attributes, bits);
    failed = failed ? failed : posix_spawnattr_setsigdefault(attributes, &all);
    return failed ? failed : posix_spawnattr_setsigmask(attributes, &none);
}

static int start(const SpawnSpec *spec, const char *path, const Plan *plan, pid_t *pid)
{
    Actions actions;
    Attributes attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        failed = set_attributes(&attributes, spec->flags);
        if (!failed && spec->cwd)
            failed = posix_spawn_file_actions_addchdir_np(&actions, spec->cwd);
        if (!failed)
            failed = plan_actions(plan, &actions);
        if (!failed) /* posix_spawn takes both lists without const and changes neither */
            failed = posix_spawn(pid, path, &actions, &attributes, (char **)(uintptr_t)spec->argv,
                                 spec->envp ? (char **)(uintptr_t)spec->envp : environ);
        (void)posix_spawnattr_destroy(&attributes); /* always succeeds */
    }
    (void)posix_spawn_file_actions_destroy(&actions); /* always succeeds */
    return failed;
}

static bool explain(const SpawnSpec *spec, int failed, Err *err)
{
    struct stat about;
    const char *name = spec->argv[0];
    if (spec->cwd && (stat(spec->cwd, &about) != 0 || !S_ISDIR(about.st_mode)))
        return err_set(err, ERR_NOT_FOUND, "cannot start '%s': no folder '%s'", name, spec->cwd);
    if (failed == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "no program '%s'", name);
    return err_set(err, ERR_PROCESS, "cannot start '%s': %s", name, strerror(failed));
}

bool spawn_process(const SpawnSpec *spec, Spawned *spawned, Err *err)
{
    Plan plan;
    char found[PATH_MAX];
    const char *path = spec->argv[0];
    const char *const *envp = spec->envp ? spec->envp : (const char *const *)environ;
    pid_t pid = -1;
    if (!strchr(path, '/')) { /* else the kernel looks, from the child's folder */
        if (!program_find(path, env_value(envp, "PATH"), found))
            return err_set(err, ERR_NOT_FOUND, "no program '%s' in PATH", path);
        path = found;
    }
    plan_make(&plan, spec);
    bool is_ready = plan_lift(&plan, err);
    int failed = is_ready ? start(spec, path, &plan, &pid) : 0;
    plan_done(&plan);
    if (!is_ready)
        return false;
    if (failed)
        return explain(spec, failed, err);
    *spawned = (Spawned){.pid = pid, .pidfd = -1};
    if (!(spec->flags & SPAWN_NO_PIDFD))
        spawned->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (!(spec->flags & SPAWN_NO_PIDFD) && spawned->pidfd < 0) {
        err_errno(err, "watching '%s'", spec->argv[0]); /* out of descriptors: undo */
        (void)kill(pid, SIGKILL);                       /* our own unreaped child */
        (void)waitpid(pid, NULL, 0);
        return false;
    }
    return true;
}
