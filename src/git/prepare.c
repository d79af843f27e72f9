/* The prepare job: see workspace.h. */
#include "base/file.h"
#include "base/str.h"
#include "git/place.h"
#include "git/provision.h"
#include "git/ref.h"
#include "git/snapshot.h"
#include "git/sync.h"
#include "git/workspace.h"
#include <string.h>
#include <unistd.h>

typedef struct Prepare {
    const char *hub, *repo, *target, *root, *kind_name, *project, *task, *run, *epoch;
    const char *base, *restore, *setup, *setup_log;
    const WorkspaceKind *kind;
    Workspace ws;
    WorkspaceNote note;
} Prepare;

static bool prepare_read(const json_t *in, Prepare *p, Arena *arena, Err *err)
{
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &p->hub},
        {"repo", JOB_PATH, true, &p->repo},
        {"target", JOB_BRANCH, true, &p->target},
        {"root", JOB_PATH, true, &p->root},
        {"kind", JOB_ID, false, &p->kind_name},
        {"project", JOB_ID, true, &p->project},
        {"task", JOB_ID, true, &p->task},
        {"run", JOB_ID, true, &p->run},
        {"epoch", JOB_ID, true, &p->epoch},
        {"base", JOB_COMMIT, false, &p->base},
        {"restore", JOB_COMMIT, false, &p->restore},
        {"setup", JOB_TEXT, false, &p->setup},
        {"setup_log", JOB_PATH, false, &p->setup_log},
    };
    if (!job_read(in, fields, COUNT(fields), arena, err) || !hub_ensure(p->hub, p->repo, err))
        return false;
    p->kind = workspace_kind_get(p->kind_name ? p->kind_name : "auto", err);
    if (!p->kind)
        return false;
    const char *name =
        arena_printf(arena, "p%s-t%s-r%s-e%s", p->project, p->task, p->run, p->epoch);
    p->ws = (Workspace){
        .hub = p->hub,
        .repo = p->repo,
        .root = p->root,
        .path = p->kind->is_ours ? arena_printf(arena, "%s/%s", p->root, name) : p->repo,
        .name = name,
        .branch = arena_printf(arena, "otto/task-%s", p->task),
        .target = p->target,
    };
    return true;
}

/* The newest of the target: what the user did since the last look counts as well. */
static bool target_tip(const Prepare *p, Oid *tip, Err *err)
{
    SyncResult sync = {0};
    if (!sync_target(p->hub, p->repo, p->target, &sync, err))
        return false;
    *tip = sync.tip; /* also when the two cannot be reconciled now: landing will say so */
    return oid_is_set(tip) || err_set(err, ERR_NOT_FOUND, "branch '%s': %s", p->target, sync.why);
}

/* Which commits: the base, or those of a snapshot that is laid back. */
static bool commits_find(Prepare *p, Err *err)
{
    Git hub = {.dir = p->hub};
    Oid base = oid_from(p->base);
    if (!p->base && !target_tip(p, &base, err))
        return false;
    p->ws.head = p->ws.files = base;
    if (p->restore) {
        p->ws.files = oid_from(p->restore);
        if (!snapshot_head(&hub, &p->ws.files, &p->ws.head, err))
            return false;
        Oid common = {""};
        const char *const *words = ARGV("merge-base", base.hex, p->ws.head.hex);
        if (!p->base && git_oids(&hub, words, NULL, &common, 1, NULL))
            base = common; /* what the restored work started from, not what came later */
    }
    if (!commit_exists(&hub, &p->ws.files) || !commit_exists(&hub, &base))
        return err_set(err, ERR_NOT_FOUND, "the hub does not have the commit to start from");
    p->note = (WorkspaceNote){.base = base, .head = p->ws.head};
    snprintf(p->note.branch, sizeof p->note.branch, "%s", p->ws.branch);
    return true;
}

static void env_fill(const json_t *in, Arena *arena, const char **env, size_t size)
{
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach(json_object_get(in, "env"), key, value)
    {
        if (json_is_string(value) && count + 1 < size)
            env[count++] = arena_printf(arena, "%s=%s", key, json_string_value(value));
    }
    env[count] = NULL;
}

static bool equip(const json_t *in, const Prepare *p, json_t *missing, Arena *arena, Err *err)
{
    const char *env[64];
    if (p->kind->is_ours &&
        !provision_copy(p->repo, p->ws.path, json_object_get(in, "copy"), missing, err))
        return false;
    if (!p->setup || !p->setup[0])
        return true;
    env_fill(in, arena, env, COUNT(env));
    ShellSpec spec = {.text = p->setup,
                      .cwd = p->ws.path,
                      .log_path = p->setup_log,
                      .timeout_ms = json_int(in, "setup_timeout_s", 600) * 1000,
                      .env = env};
    return shell_run(&spec, err);
}

static void report(const Prepare *p, json_t *out)
{
    out_text(out, "path", p->ws.path);
    out_text(out, "kind", p->kind->name);
    out_oid(out, "base", &p->note.base);
    out_text(out, "branch", p->note.branch);
    out_oid(out, "head", &p->note.head);
}

bool workspace_prepare_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Prepare p = {0};
    if (!prepare_read(in, &p, &arena, err))
        return false;
    /* Ready means that an agent may have worked in it: from then on it is not touched again. */
    if (workspace_note_read(p.hub, p.ws.name, &p.note) && p.note.is_ready) {
        if (!path_is_folder(p.ws.path))
            return err_set(err, ERR_CONFLICT, "workspace '%s' is gone; its name is not used twice",
                           p.ws.name);
        report(&p, out);
        return true;
    }
    json_t *missing = json_array();
    json_object_set_new(out, "missing", missing);
    if (!commits_find(&p, err) || !p.kind->make(&p.ws, err) || !equip(in, &p, missing, &arena, err))
        return err_add(err, "workspace '%s'", p.ws.name);
    p.note.is_ready = true;
    if (!workspace_note_write(p.hub, p.ws.name, &p.note, err))
        return false;
    report(&p, out);
    return true;
}
