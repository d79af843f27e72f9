/* A tree made of two commits: see overlay.h. */
#include "git/overlay.h"
#include "git/checkout.h"
#include "git/hub.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool path_is_inner(const char *path)
{
    char absolute[PATH_MAX];
    return path[0] && path_join(absolute, "", path, NULL) && path_is_plain(absolute);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void paths_sort(Overlay *overlay)
{
    size_t kept = 0;
    qsort(overlay->paths, overlay->count, sizeof *overlay->paths, compare_paths);
    for (size_t i = 0; i < overlay->count; i++)
        if (!kept || strcmp(overlay->paths[kept - 1], overlay->paths[i]) != 0)
            overlay->paths[kept++] = overlay->paths[i];
    overlay->count = kept;
}

bool overlay_read(const json_t *in, Overlay *overlay, Arena *arena, Err *err)
{
    const char *commit;
    const JobField fields[] = {{"commit", JOB_COMMIT, true, &commit}};
    const json_t *list = json_object_get(in, "paths");
    if (!job_read(in, fields, COUNT(fields), arena, err))
        return err_add(err, "overlay");
    if (!json_is_array(list) || json_array_size(list) > OVERLAY_PATHS)
        return err_set(err, ERR_USAGE, "overlay: field 'paths' must be a list of at most %d paths",
                       OVERLAY_PATHS);
    overlay->over = oid_from(commit);
    overlay->paths = arena_alloc(arena, (json_array_size(list) + 1) * sizeof *overlay->paths);
    for (; overlay->count < json_array_size(list); overlay->count++) {
        const char *path = json_string_value(json_array_get(list, overlay->count));
        if (!path || !path_is_inner(path))
            return err_set(err, ERR_USAGE, "overlay: '%.200s' is not a path inside the repository",
                           path ? path : "");
        overlay->paths[overlay->count] = path;
    }
    paths_sort(overlay);
    return true;
}

/* Lines of `ls-tree -z`, "MODE TYPE OID<tab>PATH" NUL: update-index reads them as they are. */
static void laid_add(Overlay *overlay, const Str *tree, bool *is_laid, Str *lines)
{
    const char *end = tree->bytes + tree->length;
    for (const char *at = tree->bytes; at && at < end; at += strlen(at) + 1) {
        const char *tab = strchr(at, '\t'), *path = tab ? tab + 1 : "";
        const char **hit =
            bsearch(&path, overlay->paths, overlay->count, sizeof *overlay->paths, compare_paths);
        if (!hit)
            continue;
        is_laid[hit - overlay->paths] = true;
        overlay->laid++;
        str_add_bytes(lines, at, strlen(at) + 1);
    }
}

/* Mode 0 takes an entry out; one that is not there does no harm. */
static void removed_add(Overlay *overlay, const bool *is_laid, Str *lines)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    for (size_t i = 0; i < overlay->count; i++) {
        if (is_laid[i])
            continue;
        str_addf(lines, "0 %.*s\t%s", (int)strlen(overlay->over.hex), zeros, overlay->paths[i]);
        str_add_char(lines, '\0');
        overlay->removed++;
    }
}

static bool lines_find(Overlay *overlay, const Git *git, Str *lines, Err *err)
{
    CLEANUP(mem_freep) bool *is_laid = mem_alloc(overlay->count + 1);
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(git, ARGV("ls-tree", "-r", "-z", "--full-tree", overlay->over.hex), NULL,
                           &out, err);
    if (is_done) {
        laid_add(overlay, &out.out, is_laid, lines);
        removed_add(overlay, is_laid, lines);
    }
    git_out_done(&out);
    return is_done;
}

static bool quiet_run(const Git *git, const char *const *words, const GitInput *input, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(git, words, input, &out, err);
    git_out_done(&out);
    return is_done;
}

bool overlay_make(Overlay *overlay, Err *err)
{
    char index[PATH_MAX], file[300];
    snprintf(file, sizeof file, "%s.%ld", overlay->name, (long)getpid());
    if (!hub_path(overlay->hub, "tmp", file, index, err))
        return false;
    (void)unlink(index); /* usually not there */
    CLEANUP(str_done) Str lines = STR_INIT;
    Git git = {.dir = overlay->hub, .index = index};
    overlay->laid = overlay->removed = 0;
    bool is_done = lines_find(overlay, &git, &lines, err);
    GitInput input = {lines.bytes, lines.length};
    /* --replace: a file in place of a folder, or the other way round, gives way. */
    is_done =
        is_done && quiet_run(&git, ARGV("read-tree", overlay->base.hex), NULL, err) &&
        (!lines.length ||
         quiet_run(&git, ARGV("update-index", "--replace", "-z", "--index-info"), &input, err)) &&
        git_oids(&git, ARGV("write-tree"), NULL, &overlay->tree, 1, err);
    (void)unlink(index); /* rubbish */
    return is_done || err_add(err, "overlay of %s", overlay->over.hex);
}
