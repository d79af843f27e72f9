/* Clean checkouts: see checkout.h. */
#include "git/checkout.h"
#include "git/place.h"
#include <string.h>
#include <unistd.h>

bool checkout_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *commit, *path;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"commit", JOB_COMMIT, true, &commit},
        {"path", JOB_PATH, true, &path},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    const char *name = strrchr(path, '/') + 1;
    if (!workspace_name_is_valid(name) || name == path + 1)
        return err_set(err, ERR_REFUSED, "'%s' is not a name for a checkout", path);
    Workspace ws = {.hub = hub,
                    .root = arena_strndup(&arena, path, (size_t)(name - path - 1)),
                    .path = path,
                    .name = name,
                    .index = arena_printf(&arena, "gate-%s", name),
                    .head = oid_from(commit),
                    .files = oid_from(commit)};
    char index[PATH_MAX];
    if (!hub_path(hub, "index", ws.index, index, err) || !workspace_clone.make(&ws, err))
        return err_add(err, "checkout of %s", commit);
    (void)unlink(index); /* nobody takes a snapshot of a checkout */
    out_text(out, "path", path);
    return true;
}

bool discard_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *path, *root;
    const JobField fields[] = {
        {"path", JOB_PATH, true, &path},
        {"root", JOB_PATH, true, &root},
    };
    (void)out; /* nothing to tell */
    return job_read(in, fields, COUNT(fields), &arena, err) && place_remove(root, path, err);
}
