/* A merge in memory: see mergetree.h. */
#include "git/mergetree.h"
#include <stdlib.h>
#include <string.h>

/* The fields of the output: each ended by a NUL byte. */
typedef struct Fields {
    const char *at, *end;
} Fields;

static const char *field_next(Fields *fields)
{
    if (fields->at >= fields->end)
        return NULL;
    const char *field = fields->at;
    fields->at += strlen(field) + 1; /* the buffer ends with a NUL in any case */
    return field;
}

/* A merge of a commit with itself gives its tree: "1", tree, "". */
static bool tree_take(Fields *fields, Oid *tree)
{
    const char *status = field_next(fields);
    const char *name = field_next(fields);
    const char *end = field_next(fields);
    if (!status || !name || !end || strcmp(status, "1") != 0 || *end)
        return false;
    *tree = oid_from(name);
    return oid_is_set(tree);
}

static bool path_is_listed(const MergeTree *merge, const char *path)
{
    const char *end = merge->paths.bytes + merge->paths.length;
    for (const char *known = merge->paths.bytes; known && known < end; known += strlen(known) + 1)
        if (strcmp(known, path) == 0)
            return true;
    return false;
}

static void conflict_add(MergeTree *merge, const char *path)
{
    if (merge->conflict_count >= MERGE_CONFLICT_LIMIT || path_is_listed(merge, path))
        return;
    str_add_bytes(&merge->paths, path, strlen(path) + 1);
    json_t *row = json_object();
    out_text(row, "path", path);
    out_text(row, "kind", "contents");
    json_array_append_new(merge->conflicts, row);
    merge->conflict_count++;
}

/* "CONFLICT (modify/delete)" names the kind for its first path. */
static void conflict_kind(MergeTree *merge, const char *path, const char *type)
{
    const char *open = strchr(type, '(');
    if (!text_starts(type, "CONFLICT (") || !open)
        return;
    const char *known = merge->paths.bytes;
    for (size_t i = 0; i < merge->conflict_count; i++, known += strlen(known) + 1)
        if (strcmp(known, path) == 0) {
            json_t *kind = json_lossy(open + 1, strcspn(open + 1, ")"));
            json_object_set_new(json_array_get(merge->conflicts, i), "kind", kind);
        }
}

static bool conflicts_take(Fields *fields, MergeTree *merge)
{
    const char *field;
    merge->conflicts = json_array();
    while ((field = field_next(fields)) && *field) { /* "MODE OID STAGE<tab>PATH" */
        const char *tab = strchr(field, '\t');
        if (!tab)
            return false;
        conflict_add(merge, tab + 1);
    }
    while ((field = field_next(fields)) && *field) { /* COUNT, PATHS, TYPE, MESSAGE */
        long count = strtol(field, NULL, 10);
        const char *first = count > 0 ? field_next(fields) : "";
        for (long i = 1; i < count; i++)
            (void)field_next(fields); /* the first path is enough */
        const char *type = field_next(fields);
        if (!first || !type || !field_next(fields))
            return false;
        if (text_starts(type, "CONFLICT"))
            conflict_add(merge, first); /* some kinds have no entry above (folder renames) */
        conflict_kind(merge, first, type);
    }
    return field != NULL;
}

static bool output_take(const Str *text, MergeTree *merge)
{
    Fields fields = {text->bytes, text->bytes + text->length};
    if (!tree_take(&fields, &merge->ours) || !tree_take(&fields, &merge->theirs))
        return false;
    const char *status = field_next(&fields);
    const char *tree = field_next(&fields);
    if (!status || !tree)
        return false;
    merge->is_clean = strcmp(status, "1") == 0;
    merge->tree = oid_from(tree);
    return oid_is_set(&merge->tree) && (merge->is_clean || conflicts_take(&fields, merge));
}

bool merge_tree_run(const Git *hub, const Oid *ours, const Oid *theirs, MergeTree *merge, Err *err)
{
    /* Three merges in one process: the first two only tell the trees of the two commits, which
     * saves the process that would ask for them. */
    char lines[600];
    snprintf(lines, sizeof lines, "%s %s\n%s %s\n%s %s\n", ours->hex, ours->hex, theirs->hex,
             theirs->hex, ours->hex, theirs->hex);
    GitInput input = {lines, strlen(lines)};
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("merge-tree", "--write-tree", "--stdin");
    bool is_done = git_call(hub, words, &input, &out, err);
    if (is_done && strstr(str_text(&out.err), "unrelated histories"))
        merge->is_unrelated = true;
    else if (is_done && (out.code != 0 || out.is_cut || !out.out.bytes))
        is_done = git_failed(words, &out, err);
    else if (is_done && !output_take(&out.out, merge))
        is_done = err_set(err, ERR_GIT, "git merge-tree said something unexpected");
    git_out_done(&out);
    return is_done;
}

const char *merge_tree_summary(MergeTree *merge)
{
    str_clear(&merge->summary);
    if (merge->is_unrelated)
        str_add(&merge->summary, "the two have no common history");
    for (size_t i = 0; i < merge->conflict_count && i < 5; i++) {
        const json_t *row = json_array_get(merge->conflicts, i);
        str_addf(&merge->summary, "%s'%s' (%s)", i ? ", " : "", json_text(row, "path", ""),
                 json_text(row, "kind", ""));
    }
    if (merge->conflict_count > 5)
        str_addf(&merge->summary, " and %zu more", merge->conflict_count - 5);
    return str_text(&merge->summary);
}

void merge_tree_done(MergeTree *merge)
{
    json_decref(merge->conflicts);
    str_done(&merge->paths);
    str_done(&merge->summary);
    *merge = (MergeTree)MERGE_TREE_INIT;
}
