/* Explaining a conflict: see explain.h. */
#include "git/explain.h"
#include "git/ref.h"
#include <string.h>

static void indent(Str *text, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t size = end ? (size_t)(end - bytes) - at : length - at;
        str_add(text, "    ");
        str_add_safe(text, bytes + at, size, false);
        str_add_char(text, '\n');
        at += size + 1;
    }
}

/* One side: the commits that touched the file since the common ancestor, and their sum. */
static bool side_add(const Git *hub, const Oid *from, const Oid *to, const char *path, Str *text,
                     Err *err)
{
    char range[140], count[16];
    snprintf(range, sizeof range, "%s..%s", from->hex, to->hex);
    snprintf(count, sizeof count, "-%d", EXPLAIN_SUBJECTS);
    GitOut log = GIT_OUT_INIT, diff = GIT_OUT_INIT;
    bool is_done = git_call_limited(hub,
                                    ARGV("log", count, "--no-merges", "--format=%h %<(100,trunc)%s",
                                         range, "--", path),
                                    EXPLAIN_DIFF_BYTES, &log, err) &&
                   git_call_limited(hub,
                                    ARGV("diff-tree", "-p", "-r", "--no-renames", "--no-ext-diff",
                                         "--no-textconv", from->hex, to->hex, "--", path),
                                    EXPLAIN_DIFF_BYTES, &diff, err);
    indent(text, str_text(&log.out), log.out.length);
    indent(text, str_text(&diff.out), diff.out.length);
    if (diff.is_cut)
        str_add(text, "    (cut here; the rest is in git)\n");
    git_out_done(&log);
    git_out_done(&diff);
    return is_done;
}

static bool file_add(const Git *hub, const Oid *const sides[3], const char *path, const char *kind,
                     Str *text, Err *err)
{
    str_add(text, "File ");
    str_add_safe(text, path, strlen(path), false);
    str_addf(text, " (%s)\n  What landed since you started:\n", kind);
    if (!side_add(hub, sides[0], sides[1], path, text, err))
        return false;
    str_add(text, "  What you did:\n");
    if (!side_add(hub, sides[0], sides[2], path, text, err))
        return false;
    str_add_char(text, '\n');
    return true;
}

bool explain_conflicts(const Git *hub, const Oid *tip, const Oid *commit, const MergeTree *merge,
                       Str *text, Err *err)
{
    Oid base = {""};
    if (!git_oids(hub, ARGV("merge-base", tip->hex, commit->hex), NULL, &base, 1, err))
        return false;
    const Oid *const sides[3] = {&base, tip, commit};
    const char *path = merge->paths.bytes;
    str_addf(text,
             "%zu file%s cannot be merged by itself. The common start is %.12s, the branch is "
             "now at %.12s.\n\n",
             merge->conflict_count, merge->conflict_count == 1 ? "" : "s", base.hex, tip->hex);
    for (size_t i = 0; i < merge->conflict_count && i < EXPLAIN_FILES; i++) {
        const json_t *row = json_array_get(merge->conflicts, i);
        if (!file_add(hub, sides, path, json_text(row, "kind", ""), text, err))
            return false;
        path += strlen(path) + 1;
    }
    if (merge->conflict_count > EXPLAIN_FILES)
        str_addf(text, "And %zu more files.\n", merge->conflict_count - EXPLAIN_FILES);
    return true;
}
