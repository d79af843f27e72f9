/* What a commit changed: see change.h. */
#include "git/change.h"
#include "base/glob.h"
#include "base/str.h"
#include "git/change_lines.h"
#include "git/ref.h"
#include <stdlib.h>
#include <string.h>

typedef struct Change {
    const char *from, *to;
    const char **patterns;
    size_t pattern_count;
    Git git;
    ChangeList list;
    bool is_truncated;
} Change;

/* The tree without files: git knows it without having it. */
static const char *empty_tree(const char *like)
{
    return strlen(like) == 40 ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
                              : "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
}

static bool patterns_read(const json_t *list, Change *change, Arena *arena, Err *err)
{
    size_t count = json_array_size(list);
    if ((list && !json_is_null(list) && !json_is_array(list)) || count > CHANGE_PATTERNS)
        return err_set(err, ERR_USAGE, "field 'tests' must be a list of at most %d patterns",
                       CHANGE_PATTERNS);
    change->patterns = arena_alloc(arena, (count + 1) * sizeof *change->patterns);
    for (; change->pattern_count < count; change->pattern_count++) {
        const char *text = json_string_value(json_array_get(list, change->pattern_count));
        if (!text)
            return err_set(err, ERR_USAGE, "field 'tests' must be a list of patterns");
        change->patterns[change->pattern_count] = text;
    }
    return true;
}

static json_t *row_of(const ChangeFile *file)
{
    char status[2] = {file->status, '\0'};
    json_t *row = json_object();
    out_text(row, "path", file->path);
    out_text(row, "status", status);
    if (file->old)
        out_text(row, "old", file->old);
    return row;
}

static void files_add(Change *change, json_t *files)
{
    size_t left = CHANGE_PATH_BYTES;
    for (size_t i = 0; i < change->list.count; i++) {
        const ChangeFile *file = &change->list.files[i];
        size_t size = strlen(file->path) + (file->old ? strlen(file->old) : 0);
        if (i >= CHANGE_FILES || size > left) {
            change->is_truncated = true;
            return;
        }
        left -= size;
        json_t *row = row_of(file);
        out_int(row, "added", file->added);
        out_int(row, "removed", file->removed);
        if (file->is_binary)
            out_flag(row, "binary", true);
        json_array_append_new(files, row);
    }
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static int compare_folders(const void *a, const void *b)
{
    const char *left = *(const char *const *)a, *right = *(const char *const *)b;
    size_t sizes[2] = {folder_length(left), folder_length(right)};
    int order = memcmp(left, right, MIN(sizes[0], sizes[1]));
    return order ? order : (sizes[0] > sizes[1]) - (sizes[0] < sizes[1]);
}

static void totals_add(const Change *change, json_t *totals)
{
    const ChangeList *list = &change->list;
    CLEANUP(mem_freep) const char **paths = mem_alloc((list->count + 1) * sizeof *paths);
    int64_t lines = 0, folders = 0;
    for (size_t i = 0; i < list->count; i++) {
        lines += list->files[i].added + list->files[i].removed;
        paths[i] = list->files[i].path;
    }
    qsort(paths, list->count, sizeof *paths, compare_folders);
    for (size_t i = 0; i < list->count; i++)
        folders += i == 0 || compare_folders(&paths[i - 1], &paths[i]) != 0;
    out_int(totals, "files", (int64_t)list->count);
    out_int(totals, "lines", lines);
    out_int(totals, "dirs", folders);
}

static bool is_test(const Change *change, const ChangeFile *file)
{
    return glob_fits_any(change->patterns, change->pattern_count, file->path) ||
           (file->old && glob_fits_any(change->patterns, change->pattern_count, file->old));
}

static bool tests_add(Change *change, json_t *tests, Err *err)
{
    ChangeLines lines = {&change->git, change->from, change->to, CHANGE_TEXT_BYTES};
    for (size_t i = 0; i < change->list.count; i++) {
        const ChangeFile *file = &change->list.files[i];
        if (!is_test(change, file))
            continue;
        if (json_array_size(tests) >= CHANGE_TESTS) {
            change->is_truncated = true;
            return true;
        }
        json_t *row = row_of(file);
        json_array_append_new(tests, row);
        if (file->is_binary)
            out_flag(row, "binary", true);
        if (!change_lines(&lines, file, row, err))
            return false;
        change->is_truncated = change->is_truncated || json_flag(row, "cut", false);
    }
    return true;
}

static bool patch_add(Change *change, int64_t limit, json_t *out, Err *err)
{
    if (limit <= 0) {
        out_text(out, "patch", "");
        return true;
    }
    const char *const *words =
        ARGV("diff-tree", "-r", "-p", "-M", "-l1000", "--no-ext-diff", "--no-textconv",
             "--no-color", "--ignore-submodules=none", change->from, change->to);
    GitOut said = GIT_OUT_INIT;
    bool is_done = git_call_limited(&change->git, words, (size_t)limit, &said, err);
    if (is_done && said.code != 0)
        is_done = git_failed(words, &said, err);
    if (is_done) {
        size_t length = said.out.length;
        while (said.is_cut && length && said.out.bytes[length - 1] != '\n')
            length--;
        CLEANUP(str_done) Str patch = STR_INIT;
        str_add_bytes(&patch, str_text(&said.out), length);
        if (said.is_cut)
            str_addf(&patch, "(cut here after %zu bytes; the rest is in git)\n", length);
        json_object_set_new(out, "patch", json_lossy(str_text(&patch), patch.length));
        change->is_truncated = change->is_truncated || said.is_cut;
    }
    git_out_done(&said);
    return is_done;
}

static bool change_tell(Change *change, int64_t patch_bytes, json_t *out, Err *err)
{
    json_t *files = json_array(), *totals = json_object(), *tests = json_array();
    json_object_set_new(out, "files", files);
    json_object_set_new(out, "totals", totals);
    json_object_set_new(out, "tests", tests);
    change->is_truncated = change->list.is_cut;
    files_add(change, files);
    totals_add(change, totals);
    if (!tests_add(change, tests, err) || !patch_add(change, patch_bytes, out, err))
        return false;
    out_flag(out, "truncated", change->is_truncated);
    return true;
}

bool change_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *base, *commit;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"base", JOB_TEXT, false, &base},
        {"commit", JOB_COMMIT, true, &commit},
    };
    Change change = {.list = CHANGE_LIST_INIT};
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err) ||
        !patterns_read(json_object_get(in, "tests"), &change, &arena, err))
        return false;
    if (base && *base && !oid_is_hex(base, strlen(base)))
        return err_set(err, ERR_USAGE, "field 'base' must be a full commit name or empty");
    /* Attributes of the commit could hide a file as binary: none are read (newer gits would). */
    const char *const env[] = {arena_printf(&arena, "GIT_ATTR_SOURCE=%s", empty_tree(commit)),
                               NULL};
    change.git = (Git){.dir = hub, .env = env};
    change.from = base && *base ? base : empty_tree(commit);
    change.to = commit;
    int64_t patch_bytes =
        CLAMP(json_int(in, "patch_bytes", CHANGE_PATCH_BYTES), 0, CHANGE_PATCH_MOST);
    bool is_done = change_list(&change.git, change.from, change.to, &change.list, err) &&
                   change_tell(&change, patch_bytes, out, err);
    change_list_done(&change.list);
    return is_done || err_add(err, "change of %s", commit);
}
