/* Files of an export on disk: see exports.h. */
#include "cli/exports.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "core/field.h"
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 64 * 1024 * 1024, PATH_MOST = 400 };

typedef struct Export {
    const char *folder;
    int64_t task;
    const json_t *files;
    json_t *known; /* object: path -> true; what an earlier export wrote */
    bool is_forced;
    Arena arena;
} Export;

bool export_path_is_fine(const char *path)
{
    if (!*path || strlen(path) > PATH_MOST || field_check_line(path))
        return false;
    for (;;) {
        size_t length = strcspn(path, "/");
        bool is_dots =
            (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.');
        if (!length || is_dots)
            return false;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

static void read_known(Export *export)
{
    const char *path = arena_printf(&export->arena, "%s/" EXPORT_LIST, export->folder);
    CLEANUP(json_freep) json_t *list = json_read_file(path, FILE_MOST, NULL);
    size_t i;
    const json_t *item;
    export->known = json_object();
    if (json_int(list, "task", 0) != export->task)
        return;
    json_array_foreach(json_object_get(list, "files"), i, item)
    {
        if (json_string_value(item))
            (void)json_object_set_new(export->known, json_string_value(item),
                                      json_true()); /* fails only without memory */
    }
}

static const char *place(Export *export, const char *path)
{
    return arena_printf(&export->arena, "%s/%s", export->folder, path);
}

/* No part of the way below the folder may be a link or a file. */
static bool check_way(Export *export, const char *path, Err *err)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat info;
        const char *part = arena_strndup(&export->arena, path, (size_t)(slash - path));
        const char *whole = place(export, part);
        if (lstat(whole, &info) != 0)
            return true; /* it will be made */
        if (!S_ISDIR(info.st_mode))
            return err_set(err, ERR_REFUSED, "'%s' is no folder; nothing was written", whole);
    }
    return true;
}

static bool is_equal(const char *path, const char *text)
{
    size_t length = 0;
    CLEANUP(mem_freep) char *old = file_read(path, FILE_MOST, &length, NULL);
    return old && length == strlen(text) && memcmp(old, text, length) == 0;
}

static bool check_file(Export *export, const json_t *file, Err *err)
{
    struct stat info;
    const char *path = json_text(file, "path", ""), *text = json_text(file, "text", NULL);
    if (!export_path_is_fine(path) || !text)
        return err_set(err, ERR_REFUSED, "the export names a file that cannot be: '%.100s'", path);
    if (!check_way(export, path, err))
        return false;
    const char *whole = place(export, path);
    if (lstat(whole, &info) != 0)
        return true;
    if (!S_ISREG(info.st_mode))
        return err_set(err, ERR_REFUSED, "'%s' is no ordinary file; nothing was written", whole);
    bool is_ours = json_object_get(export->known, path) != NULL;
    return export->is_forced || is_ours || is_equal(whole, text) ||
           err_set(err, ERR_CONFLICT,
                   "'%s' is there and not from an export of this task; --force writes over it",
                   whole);
}

static bool write_file(Export *export, const json_t *file, size_t *count, Err *err)
{
    const char *path = json_text(file, "path", ""), *text = json_text(file, "text", "");
    const char *whole = place(export, path), *slash = strrchr(whole, '/');
    const char *folder = arena_strndup(&export->arena, whole, (size_t)(slash - whole));
    if (is_equal(whole, text))
        return true;
    (*count)++;
    return folder_ensure(folder, 0755, err) &&
           file_write_atomic(whole, text, strlen(text), 0644, err);
}

static bool write_list(Export *export, Err *err)
{
    size_t i;
    const json_t *file;
    json_t *paths = json_array();
    CLEANUP(json_freep)
    json_t *list = json_pack("{s:I,s:o}", "task", (json_int_t) export->task, "files", paths);
    json_array_foreach(export->files, i, file)
    {
        (void)json_array_append_new(/* fails only without memory */
                                    paths, json_string(json_text(file, "path", "")));
    }
    CLEANUP(mem_freep) char *text = json_write_pretty(list);
    return folder_ensure(export->folder, 0755, err) &&
           file_write_atomic(place(export, EXPORT_LIST), text, strlen(text), 0644, err);
}

/* The list first: a broken export can then be repeated without --force. */
static bool write_all(Export *export, size_t *count, Err *err)
{
    size_t i;
    const json_t *file;
    read_known(export);
    json_array_foreach(export->files, i, file)
    {
        if (!check_file(export, file, err))
            return false;
    }
    if (!write_list(export, err))
        return false;
    json_array_foreach(export->files, i, file)
    {
        if (!write_file(export, file, count, err))
            return false;
    }
    return true;
}

bool export_write(const char *folder, int64_t task, const json_t *files, bool is_forced,
                  size_t *count, Err *err)
{
    Export export = {.folder = folder, .task = task, .files = files, .is_forced = is_forced};
    *count = 0;
    bool is_written = write_all(&export, count, err);
    json_decref(export.known);
    arena_done(&export.arena);
    return is_written;
}
