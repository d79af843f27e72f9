/* Clean checkouts: see checkout.h. */
#include "git/checkout.h"
#include "git/overlay.h"
#include "git/place.h"
#include <string.h>
#include <unistd.h>

/* The files become those of the overlay; HEAD and index stay the commit's. */
static bool overlay_put(const json_t *in, Workspace *ws, json_t *out, Arena *arena, Err *err)
{
    const json_t *fields = json_object_get(in, "overlay");
    Overlay overlay = {.hub = ws->hub, .name = ws->index, .base = ws->head};
    if (!fields || json_is_null(fields))
        return true;
    if (!json_is_object(fields))
        return err_set(err, ERR_USAGE, "field 'overlay' must be an object");
    if (!overlay_read(fields, &overlay, arena, err) || !overlay_make(&overlay, err))
        return false;
    ws->files = overlay.tree;
    out_int(out, "laid", (int64_t)overlay.laid);
    out_int(out, "removed", (int64_t)overlay.removed);
    return true;
}

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
    if (!overlay_put(in, &ws, out, &arena, err) || !hub_path(hub, "index", ws.index, index, err) ||
        !workspace_clone.make(&ws, err))
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
