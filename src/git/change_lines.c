/* The lines of a changed file: see change_lines.h. */
#include "git/change_lines.h"
#include "git/change.h"
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES = 4 << 20 };

/* One side of one file. */
typedef struct Side {
    json_t *list;
    size_t left_bytes, *left_all;
    bool is_cut;
} Side;

static void side_open(Side *side, ChangeLines *lines, json_t *row, const char *key)
{
    *side = (Side){json_array(), CHANGE_TEST_BYTES, &lines->left_bytes, false};
    json_object_set_new(row, key, side->list);
}

static void line_add(Side *side, int64_t number, const char *text, size_t length)
{
    size_t kept = MIN(length, CHANGE_LINE_BYTES);
    if (kept > side->left_bytes || kept > *side->left_all ||
        json_array_size(side->list) >= CHANGE_TEST_LINES) {
        side->is_cut = true;
        return;
    }
    side->is_cut = side->is_cut || kept < length;
    side->left_bytes -= kept;
    *side->left_all -= kept;
    json_t *row = json_object();
    out_int(row, "line", number);
    json_object_set_new(row, "text", json_lossy(text, kept));
    json_array_append_new(side->list, row);
}

/* Lines one after the other; the last may lack its newline. */
typedef struct Lines {
    const char *at, *end;
} Lines;

static bool line_next(Lines *lines, const char **text, size_t *length)
{
    if (lines->at >= lines->end)
        return false;
    const char *end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    *text = lines->at;
    *length = (size_t)((end ? end : lines->end) - lines->at);
    lines->at = end ? end + 1 : lines->end;
    return true;
}

/* A file that is there on one side only: all of its lines. */
static bool whole_add(const Git *git, const Oid *blob, Side *side, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("cat-file", "blob", blob->hex);
    bool is_done = git_call_limited(git, words, SAID_BYTES, &out, err);
    if (is_done && out.code != 0)
        is_done = git_failed(words, &out, err);
    if (is_done && out.out.bytes) {
        Lines lines = {out.out.bytes, out.out.bytes + out.out.length};
        const char *text;
        size_t length;
        for (int64_t number = 1; line_next(&lines, &text, &length); number++)
            line_add(side, number, text, length);
        side->is_cut = side->is_cut || out.is_cut;
    }
    git_out_done(&out);
    return is_done;
}

/* "START" or "START,COUNT" */
static const char *range_take(const char *at, int64_t *start, int64_t *count)
{
    char *end;
    *start = strtoll(at, &end, 10);
    *count = 1;
    if (*end == ',')
        *count = strtoll(end + 1, &end, 10);
    return end;
}

/* The header of a hunk says how many lines follow: what they hold cannot be taken for a header. */
static bool hunk_open(const char *text, int64_t starts[2], int64_t counts[2])
{
    if (!text_starts(text, "@@ -"))
        return false;
    const char *at = range_take(text + 4, &starts[0], &counts[0]);
    if (!text_starts(at, " +"))
        return false;
    range_take(at + 2, &starts[1], &counts[1]);
    return counts[0] >= 0 && counts[1] >= 0;
}

static void hunks_take(const Str *said, Side *removed, Side *added)
{
    Lines lines = {said->bytes, said->bytes + said->length};
    int64_t starts[2] = {0}, counts[2] = {0};
    const char *text;
    size_t length;
    while (line_next(&lines, &text, &length)) {
        if (counts[0] + counts[1] == 0) {
            if (!hunk_open(text, starts, counts)) /* header of the file, or "\ No newline" */
                counts[0] = counts[1] = 0;
        } else if (*text == '-' && counts[0] > 0) {
            counts[0]--;
            line_add(removed, starts[0]++, text + 1, length - 1);
        } else if (*text == '+' && counts[1] > 0) {
            counts[1]--;
            line_add(added, starts[1]++, text + 1, length - 1);
        }
    }
    if (counts[0] + counts[1])
        removed->is_cut = added->is_cut = true;
}

static bool hunks_add(const ChangeLines *lines, const ChangeFile *file, Side *removed, Side *added,
                      Err *err)
{
    GitOut out = GIT_OUT_INIT;
    const char *const *words =
        ARGV("diff-tree", "-r", "-p", "-U0", "--text", file->old ? "-M" : "--no-renames",
             "--no-ext-diff", "--no-textconv", "--no-color", lines->from, lines->to, "--",
             file->path, file->old);
    bool is_done = git_call_limited(lines->git, words, SAID_BYTES, &out, err);
    if (is_done && out.code != 0)
        is_done = git_failed(words, &out, err);
    if (is_done && out.out.bytes)
        hunks_take(&out.out, removed, added);
    removed->is_cut = removed->is_cut || out.is_cut;
    git_out_done(&out);
    return is_done;
}

bool change_lines(ChangeLines *lines, const ChangeFile *file, json_t *row, Err *err)
{
    Side removed, added;
    side_open(&removed, lines, row, "removed");
    side_open(&added, lines, row, "added");
    bool is_done = true;
    if (file->is_gitlink || oid_equal(&file->from, &file->to)) {
        /* no lines, or only its name or mode changed */
    } else if (file->status == 'M' || file->status == 'R') {
        is_done = hunks_add(lines, file, &removed, &added, err);
    } else {
        is_done = (!oid_is_set(&file->from) || whole_add(lines->git, &file->from, &removed, err)) &&
                  (!oid_is_set(&file->to) || whole_add(lines->git, &file->to, &added, err));
    }
    if (removed.is_cut || added.is_cut)
        out_flag(row, "cut", true);
    return is_done;
}
