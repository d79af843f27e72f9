/* The trash: see trash.h. */
#include "git/trash.h"
#include "base/file.h"
#include "base/str.h"
#include "git/place.h"
#include "git/workspace.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool entry_path(const char *trash, const char *name, const char *part, char out[PATH_MAX],
                       Err *err)
{
    if (!workspace_name_is_valid(name))
        return err_set(err, ERR_REFUSED, "'%s' is not a name in the trash", name);
    return snprintf(out, PATH_MAX, "%s/%s%s%s", trash, name, part[0] ? "/" : "", part) < PATH_MAX ||
           err_set(err, ERR_USAGE, "path too long: '%s'", trash);
}

bool trash_open(const char *trash, const char *name, const json_t *meta, char entry[PATH_MAX],
                Err *err)
{
    char path[PATH_MAX];
    if (!place_mark(trash, err) || !entry_path(trash, name, "", entry, err) ||
        !entry_path(trash, name, "meta.json", path, err) || !folder_ensure(entry, 0700, err))
        return false;
    CLEANUP(mem_freep) char *text = json_write_pretty(meta);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

bool trash_has(const char *trash, const char *name, char tree[PATH_MAX])
{
    return entry_path(trash, name, "tree", tree, NULL) && path_is_folder(tree);
}

static json_t *meta_read(const char *trash, const char *name, Err *err)
{
    char path[PATH_MAX];
    if (!entry_path(trash, name, "meta.json", path, err))
        return NULL;
    json_t *meta = json_read_file(path, 1 << 20, err);
    if (meta && json_is_integer(json_object_get(meta, "expires_ms")))
        return meta;
    json_decref(meta);
    (void)err_set(err, ERR_CORRUPT, "'%s' cannot be read", path); /* NULL says it failed */
    return NULL;
}

/* -- listing ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in the trash, sorted; the arena owns them. */
static size_t names_list(const char *trash, Arena *arena, char ***names)
{
    size_t count = 0, size = 0;
    char **list = NULL;
    DIR *folder = opendir(trash);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!workspace_name_is_valid(entry->d_name))
            continue;
        if (count == size)
            list = mem_grow(list, size = size ? size * 2 : 16, sizeof *list);
        list[count++] = arena_strdup(arena, entry->d_name);
    }
    if (folder)
        (void)closedir(folder); /* only read from */
    if (count)
        qsort(list, count, sizeof *list, by_name);
    *names = list;
    return count;
}

bool trash_list_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *trash;
    const JobField fields[] = {{"trash", JOB_PATH, true, &trash}};
    if (!job_read(in, fields, COUNT(fields), &arena, err))
        return false;
    CLEANUP(mem_freep) char **names = NULL;
    size_t count = names_list(trash, &arena, &names);
    json_t *entries = json_array();
    json_object_set_new(out, "entries", entries);
    for (size_t i = 0; i < count; i++) {
        char tree[PATH_MAX];
        if (!trash_has(trash, names[i], tree))
            continue; /* a move that did not happen */
        json_t *meta = meta_read(trash, names[i], NULL);
        json_t *row = meta ? meta : json_object();
        out_text(row, "name", names[i]);
        if (!meta)
            out_text(row, "what", "unreadable");
        json_array_append_new(entries, row);
    }
    return true;
}

/* -- taking out ------------------------------------------------------------------------------- */

/* A linked work tree needs its part of the hub back, pointing to where the folder is now. */
static bool admin_restore(const char *trash, const char *name, const json_t *meta, const char *to,
                          Err *err)
{
    char admin[PATH_MAX], folder[PATH_MAX], home[PATH_MAX], file[PATH_MAX];
    const char *hub = json_text(meta, "hub", NULL);
    if (!entry_path(trash, name, "admin", admin, err) || !path_is_folder(admin) || !hub)
        return true;
    if (!path_join(folder, hub, "worktrees", err) || !path_join(home, folder, name, err) ||
        !path_join(file, home, "gitdir", err))
        return false;
    if (path_exists(home) || rename(admin, home) != 0)
        return err_errno(err, "cannot put '%s' back", home);
    Str line = STR_INIT;
    str_addf(&line, "%s/.git\n", to);
    bool is_done = file_write_atomic(file, line.bytes, line.length, 0644, err);
    str_done(&line);
    return is_done;
}

static bool tree_restore(const char *trash, const char *name, const char *to, Err *err)
{
    char tree[PATH_MAX], parent[PATH_MAX];
    if (!trash_has(trash, name, tree))
        return path_is_folder(to) || /* an earlier try got this far */
               err_set(err, ERR_NOT_FOUND, "there is nothing called '%s' in the trash", name);
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(to, '/') - to), to);
    if (parent[0] && !folder_ensure(parent, 0700, err))
        return false;
    if (renameat2(AT_FDCWD, tree, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST)
        return err_set(err, ERR_CONFLICT, "'%s' exists already; choose another place", to);
    return err_errno(err, "cannot restore to '%s'", to);
}

bool trash_restore_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *trash, *name, *to;
    char entry[PATH_MAX];
    const JobField fields[] = {
        {"trash", JOB_PATH, true, &trash},
        {"name", JOB_TEXT, true, &name},
        {"to", JOB_PATH, false, &to},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) ||
        !entry_path(trash, name, "", entry, err))
        return false;
    if (!path_exists(entry) && to && path_is_folder(to)) {
        out_text(out, "path", to); /* restored before */
        return true;
    }
    if (!path_exists(entry))
        return err_set(err, ERR_NOT_FOUND, "there is nothing called '%s' in the trash", name);
    CLEANUP(json_freep) json_t *meta = meta_read(trash, name, to ? NULL : err);
    const char *place = to ? to : json_text(meta, "from", NULL);
    if (!place)
        return err_set(err, ERR_USAGE, "nobody knows where '%s' was; say where to put it", name);
    if (!path_is_plain(place) || !tree_restore(trash, name, place, err) ||
        !admin_restore(trash, name, meta, place, err) || !place_remove(trash, entry, err))
        return false;
    out_text(out, "path", place);
    return true;
}

bool trash_expire_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *trash, *prefix; /* prefix: only what begins so, the entries of one project */
    const JobField fields[] = {{"trash", JOB_PATH, true, &trash},
                               {"prefix", JOB_TEXT, false, &prefix}};
    if (!job_read(in, fields, COUNT(fields), &arena, err))
        return false;
    int64_t now_ms = json_int(in, "now_ms", 0), kept = 0;
    CLEANUP(mem_freep) char **names = NULL;
    size_t count = names_list(trash, &arena, &names);
    json_t *removed = json_array(), *unreadable = json_array();
    json_object_set_new(out, "removed", removed);
    json_object_set_new(out, "unreadable", unreadable);
    for (size_t i = 0; i < count; i++) {
        char entry[PATH_MAX];
        if (prefix && !text_starts(names[i], prefix))
            continue;
        CLEANUP(json_freep) json_t *meta = meta_read(trash, names[i], NULL);
        if (!meta) {
            json_array_append_new(unreadable, json_string(names[i]));
        } else if (json_int(meta, "expires_ms", INT64_MAX) > now_ms) {
            kept++;
        } else {
            if (!entry_path(trash, names[i], "", entry, err) || !place_remove(trash, entry, err))
                return false;
            json_array_append_new(removed, json_string(names[i]));
        }
    }
    out_int(out, "kept", kept);
    return true;
}
