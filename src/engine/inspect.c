/* What the doors ask the git room at once: the state of a folder, a hub that is ready. */
#include "engine/inspect.h"
#include "engine/work.h"
#include <string.h>

json_t *inspect_folder(const char *path)
{
    json_t *in = json_pack("{s:s}", "path", path);
    json_t *out = work_run(work_job_find("inspect"), in);
    json_decref(in);
    return out;
}

static json_t *call(const char *job, json_t *in, Err *err)
{
    json_t *out = work_run(work_job_find(job), in);
    json_decref(in);
    if (json_flag(out, "ok", false))
        return out;
    (void)err_set(err, ERR_GIT, "%s", json_text(out, "error", "git failed")); /* NULL says so */
    json_decref(out);
    return NULL;
}

typedef struct SyncRow {
    const char *state;
    bool is_fine;
    const char *next; /* what a person can do */
} SyncRow;

/* clang-format off */
static const SyncRow sync_rows[] = {
    {"same",      true,  NULL},
    {"forwarded", true,  NULL},
    {"merged",    true,  NULL},
    {"ahead",     true,  NULL},
    {"missing",   false, "create the branch, or set `target:` in otto.yaml"},
    {"rewritten", false, "if that is meant, `otto run --accept-rewrite` goes on from your branch as it is now"},
    {"conflict",  false, "merge or rebase your branch by hand, then run again"},
};
/* clang-format on */

static json_t *sync_hub(const char *hub, const char *repo, const char *target, const char *accept,
                        Err *err)
{
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", hub, "repo", repo, "target", target);
    if (accept)
        json_object_set_new(in, "accept", json_string(accept));
    return call("sync", in, err);
}

/* A person has said that the rewritten branch counts; what the hub had stays under refs/otto. */
static json_t *sync_or_accept(const char *hub, const char *repo, const char *target,
                              bool accept_rewrite, Err *err)
{
    json_t *sync = sync_hub(hub, repo, target, NULL, err);
    const char *user_tip = json_text(sync, "user_tip", NULL);
    if (!accept_rewrite || !user_tip || strcmp(json_text(sync, "state", ""), "rewritten") != 0)
        return sync;
    json_t *accepted = sync_hub(hub, repo, target, user_tip, err);
    json_decref(sync);
    return accepted;
}

bool hub_prepare(const char *hub, const char *repo, const char *target, bool accept_rewrite,
                 Err *err)
{
    json_t *made = call("hub", json_pack("{s:s,s:s}", "hub", hub, "repo", repo), err);
    if (!made)
        return false;
    json_decref(made);
    CLEANUP(json_freep) json_t *sync = sync_or_accept(hub, repo, target, accept_rewrite, err);
    if (!sync)
        return false;
    const char *state = json_text(sync, "state", "");
    for (size_t i = 0; i < COUNT(sync_rows); i++) {
        const SyncRow *row = &sync_rows[i];
        if (strcmp(row->state, state) != 0)
            continue;
        if (row->is_fine)
            return true;
        return err_set(err, ERR_USAGE, "target branch '%s': %s; %s", target,
                       json_text(sync, "why", state), row->next);
    }
    return err_set(err, ERR_INTERNAL, "unknown state '%s' of the target branch", state);
}
