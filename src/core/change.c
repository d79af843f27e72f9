/* Guards against cheating: see change.h. The tables are in change_patterns.c. */
#include "core/change.h"
#include "base/glob.h"
#include "core/excerpt.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SHOWN = 160, PATH_SHOWN = 200, KEY_BYTES = 1000, FILE_HITS_MAX = 4 };

static const struct {
    const char *word, *help;
} guards[] = {
#define X(guard, text, meaning) [guard] = {text, meaning},
    CHANGE_GUARDS(X)
#undef X
};

const char *change_guard_word(ChangeGuard guard)
{
    return guards[guard].word;
}

const char *change_guard_help(ChangeGuard guard)
{
    return guards[guard].help;
}

bool change_guard_find(const char *word, ChangeGuard *guard)
{
    for (unsigned i = 0; word && i < CHANGE_GUARD_COUNT; i++) {
        if (strcmp(guards[i].word, word) == 0) {
            *guard = (ChangeGuard)i;
            return true;
        }
    }
    return false;
}

bool path_matches(const char *pattern, const char *path)
{
    const char *from = pattern + (text_starts(pattern, "./") ? 2 : 0);
    return *from && glob_fits(from, path);
}

bool path_matches_any(TextList patterns, const char *path)
{
    for (size_t i = 0; i < patterns.count; i++) {
        if (path_matches(patterns.items[i], path))
            return true;
    }
    return false;
}

bool change_is_test(const char *path, const ChangeSettings *settings)
{
    size_t count;
    const PatternRow *rows = test_file_rows(&count);
    if (settings->tests.count)
        return path_matches_any(settings->tests, path);
    for (size_t i = 0; i < count; i++) {
        if (glob_fits(rows[i].pattern, path))
            return true;
    }
    return false;
}

bool change_wants_lines(const char *path, const ChangeSettings *settings)
{
    return text_ends(path, ".rs") || change_is_test(path, settings);
}

/* ---- lines ---- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The pattern stands in the line as whole words; "^" at its start: it begins the line. */
static bool line_has(const char *line, const char *pattern)
{
    if (*pattern == '^')
        return text_starts(line, pattern + 1);
    size_t length = strlen(pattern);
    for (const char *at = strstr(line, pattern); at; at = strstr(at + 1, pattern)) {
        bool starts = at == line || !is_word_char(*pattern) || !is_word_char(at[-1]);
        bool ends =
            !isdigit((unsigned char)pattern[length - 1]) || !isdigit((unsigned char)at[length]);
        if (starts && ends)
            return true;
    }
    return false;
}

static bool has_one_of(const char *line, const PatternRow *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (line_has(line, rows[i].pattern))
            return true;
    }
    return false;
}

/* A comment says nothing; "#[" and "#define" are no comments. */
static bool is_comment(const char *key)
{
    return text_starts(key, "//") || text_starts(key, "/*") || text_starts(key, "--") ||
           text_starts(key, "* ") || text_starts(key, "<!--") ||
           (*key == '#' && (key[1] == '\0' || strchr(" #!", key[1])));
}

/* Naming a function is not calling it. */
static bool is_import(const char *key)
{
    static const char *const heads[] = {"import ", "from ",  "#include",
                                        "use ",    "using ", "const {"};
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (text_starts(key, heads[i]))
            return true;
    }
    return false;
}

static bool is_trivial(const char *key)
{
    size_t count, length = strlen(key);
    const PatternRow *rows = trivial_rows(&count);
    while (length > 0 && strchr(";, ", key[length - 1]))
        length--;
    for (size_t i = 0; i < count; i++) {
        size_t tail = strlen(rows[i].pattern);
        if (length >= tail && memcmp(key + length - tail, rows[i].pattern, tail) == 0)
            return true;
    }
    return false;
}

static bool is_assertion(const char *key)
{
    size_t count;
    const PatternRow *rows = assertion_rows(&count);
    return !is_comment(key) && !is_import(key) && has_one_of(key, rows, count) && !is_trivial(key);
}

static bool is_skip(const char *key)
{
    size_t count;
    const PatternRow *rows = skip_rows(&count);
    return !is_comment(key) && has_one_of(key, rows, count);
}

/* ---- what was taken away and did not come back elsewhere ---- */

typedef struct Mark {
    const char *key; /* the line without blanks around it, runs of blanks as one */
    size_t file;
    ChangedLine line;
    bool is_matched;
} Mark;

typedef struct Marks {
    Mark *removed, *added;
    size_t removed_count, added_count;
} Marks;

static const char *key_of(const char *text, Arena *arena)
{
    size_t length = strnlen(text, KEY_BYTES), used = 0;
    char *key = arena_alloc(arena, length + 1);
    for (size_t i = 0; i < length; i++) {
        if (!isspace((unsigned char)text[i]))
            key[used++] = text[i];
        else if (used && key[used - 1] != ' ')
            key[used++] = ' ';
    }
    while (used && key[used - 1] == ' ')
        used--;
    key[used] = '\0';
    return key;
}

typedef bool LineTest(const char *key);

static size_t collect(const ChangedLine *lines, size_t count, size_t file, LineTest *fits,
                      Arena *arena, Mark *out)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *key = key_of(lines[i].text, arena);
        if (fits(key))
            out[used++] = (Mark){.key = key, .file = file, .line = lines[i]};
    }
    return used;
}

static int by_file(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->line.line > y->line.line) - (x->line.line < y->line.line);
}

static int by_key(const void *a, const void *b)
{
    int order = strcmp(((const Mark *)a)->key, ((const Mark *)b)->key);
    return order ? order : by_file(a, b);
}

static int same_place(const Mark *a, const Mark *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return strcmp(a->key, b->key);
}

static int same_key(const Mark *a, const Mark *b)
{
    return strcmp(a->key, b->key);
}

/* Both lists are sorted in the order of compare; equal marks are paired off, one by one. */
static void pair_off(Marks *marks, int (*compare)(const Mark *, const Mark *))
{
    size_t i = 0, j = 0;
    while (i < marks->removed_count && j < marks->added_count) {
        Mark *removed = &marks->removed[i], *added = &marks->added[j];
        int order = removed->is_matched ? -1 : added->is_matched ? 1 : compare(removed, added);
        if (order == 0)
            removed->is_matched = added->is_matched = true;
        i += order <= 0;
        j += order >= 0;
    }
}

static void sort(Marks *marks, int (*compare)(const void *, const void *))
{
    qsort(marks->removed, marks->removed_count, sizeof *marks->removed, compare);
    qsort(marks->added, marks->added_count, sizeof *marks->added, compare);
}

/* Lines that fit, paired within their file first, then with other files: moving is not removing. */
static Marks marks_of(const ChangedFile *files, size_t count, LineTest *fits, Arena *arena)
{
    size_t removed = 0, added = 0;
    for (size_t i = 0; i < count; i++) {
        removed += files[i].removed_count;
        added += files[i].added_count;
    }
    Marks marks = {.removed = arena_alloc(arena, (removed + 1) * sizeof *marks.removed),
                   .added = arena_alloc(arena, (added + 1) * sizeof *marks.added)};
    for (size_t i = 0; i < count; i++) {
        const ChangedFile *file = &files[i];
        marks.removed_count += collect(file->removed_lines, file->removed_count, i, fits, arena,
                                       marks.removed + marks.removed_count);
        marks.added_count += collect(file->added_lines, file->added_count, i, fits, arena,
                                     marks.added + marks.added_count);
    }
    sort(&marks, by_file);
    pair_off(&marks, same_place);
    sort(&marks, by_key);
    pair_off(&marks, same_key);
    sort(&marks, by_file);
    return marks;
}

/* ---- hits ---- */

typedef struct Guarding {
    const ChangedFile *files;
    const ChangeSettings *settings;
    Marks assertions, skips;
    GuardHits hits;
    Arena *arena;
} Guarding;

static GuardHit *hit(Guarding *guarding, ChangeGuard guard, const char *path)
{
    GuardHit *out = &guarding->hits.items[guarding->hits.count++];
    *out = (GuardHit){.guard = guard, .path = path};
    return out;
}

static void keep_line(GuardHit *out, const ChangedLine *line)
{
    if (out->line_count < GUARD_LINES_MAX)
        out->lines[out->line_count++] = *line;
    out->line_total++;
}

static int by_line(const void *a, const void *b)
{
    const ChangedLine *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static void say(GuardHit *out, Arena *arena, const char *what)
{
    CLEANUP(str_done) Str text = STR_INIT;
    qsort(out->lines, out->line_count, sizeof *out->lines, by_line);
    str_addf(&text, "%s: ", change_guard_word(out->guard));
    excerpt_add(&text, out->path, PATH_SHOWN);
    str_addf(&text, " %s", what);
    if (out->line_count) {
        str_addf(&text, " (line %u: ", out->lines[0].line);
        excerpt_add(&text, key_of(out->lines[0].text, arena), LINE_SHOWN);
        str_add_char(&text, ')');
    }
    out->sentence = arena_strdup(arena, str_text(&text));
}

/* The first mark of a file, in a list sorted by file. */
static size_t first_of(const Mark *marks, size_t count, size_t file)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks[middle].file < file)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t unmatched(const Mark *marks, size_t count, size_t file, GuardHit *into)
{
    size_t found = 0;
    for (size_t i = first_of(marks, count, file); i < count && marks[i].file == file; i++) {
        if (marks[i].is_matched)
            continue;
        found++;
        if (into)
            keep_line(into, &marks[i].line);
    }
    return found;
}

static void guard_protected(Guarding *guarding, const ChangedFile *file)
{
    TextList protect = guarding->settings->protect;
    bool is_new = path_matches_any(protect, file->path);
    bool is_old = file->old_path && path_matches_any(protect, file->old_path);
    if (is_new || is_old)
        say(hit(guarding, CHANGE_PROTECTED, is_new ? file->path : file->old_path), guarding->arena,
            "is protected and was changed");
}

/* New tests are welcome everywhere. */
static void guard_scope(Guarding *guarding, const ChangedFile *file)
{
    TextList scope = guarding->settings->scope;
    bool is_new_test = file->status == 'A' && change_is_test(file->path, guarding->settings);
    if (scope.count == 0 || is_new_test)
        return;
    bool is_out = !path_matches_any(scope, file->path);
    bool is_old_out = file->old_path && !path_matches_any(scope, file->old_path);
    if (is_out || is_old_out)
        say(hit(guarding, CHANGE_OUT_OF_SCOPE, is_out ? file->path : file->old_path),
            guarding->arena, "was changed, but the plan does not name it");
}

static bool is_gone(const Guarding *guarding, const ChangedFile *file)
{
    if (file->status == 'D')
        return change_is_test(file->path, guarding->settings);
    return file->old_path && file->status == 'R' &&
           change_is_test(file->old_path, guarding->settings) &&
           !change_is_test(file->path, guarding->settings);
}

/* All that it asserted is asserted elsewhere now. */
static bool has_moved(const Guarding *guarding, size_t index)
{
    const Marks *marks = &guarding->assertions;
    size_t first = first_of(marks->removed, marks->removed_count, index);
    return first < marks->removed_count && marks->removed[first].file == index &&
           unmatched(marks->removed, marks->removed_count, index, NULL) == 0;
}

static void guard_deleted(Guarding *guarding, size_t index)
{
    const ChangedFile *file = &guarding->files[index];
    const Marks *marks = &guarding->assertions;
    if (file->status == 'D' && has_moved(guarding, index))
        return;
    GuardHit *out =
        hit(guarding, CHANGE_TEST_DELETED, file->status == 'D' ? file->path : file->old_path);
    (void)unmatched(marks->removed, marks->removed_count, index, out); /* the lines matter */
    say(out, guarding->arena,
        file->status == 'D' ? "is a test and was deleted"
                            : "is a test and was renamed to something that is none");
}

static void guard_weakened(Guarding *guarding, size_t index)
{
    const Marks *marks = &guarding->assertions;
    size_t lost = unmatched(marks->removed, marks->removed_count, index, NULL);
    size_t won = unmatched(marks->added, marks->added_count, index, NULL);
    if (lost <= won || !change_is_test(guarding->files[index].path, guarding->settings))
        return;
    GuardHit *out = hit(guarding, CHANGE_TEST_WEAKENED, guarding->files[index].path);
    (void)unmatched(marks->removed, marks->removed_count, index, out); /* the lines matter */
    say(out, guarding->arena,
        arena_printf(guarding->arena, "lost %zu assertions and gained %zu", lost, won));
}

static void guard_skipped(Guarding *guarding, size_t index)
{
    const Marks *marks = &guarding->skips;
    size_t found = unmatched(marks->added, marks->added_count, index, NULL);
    if (!found)
        return;
    GuardHit *out = hit(guarding, CHANGE_TEST_SKIPPED, guarding->files[index].path);
    (void)unmatched(marks->added, marks->added_count, index, out); /* the lines matter */
    say(out, guarding->arena,
        arena_printf(guarding->arena, "switches tests off in %zu place%s", found,
                     found == 1 ? "" : "s"));
}

GuardHits change_guards(const ChangedFile *files, size_t count, const ChangeSettings *settings,
                        Arena *arena)
{
    Guarding guarding = {.files = files,
                         .settings = settings,
                         .assertions = marks_of(files, count, is_assertion, arena),
                         .skips = marks_of(files, count, is_skip, arena),
                         .arena = arena};
    size_t most = MIN(count * FILE_HITS_MAX, (size_t)GUARD_HITS_MAX + FILE_HITS_MAX);
    guarding.hits.items = arena_alloc(arena, (most + 1) * sizeof *guarding.hits.items);
    for (size_t i = 0; i < count && guarding.hits.count < GUARD_HITS_MAX; i++) {
        guard_protected(&guarding, &files[i]);
        if (is_gone(&guarding, &files[i]))
            guard_deleted(&guarding, i);
        else
            guard_weakened(&guarding, i);
        guard_skipped(&guarding, i);
        guard_scope(&guarding, &files[i]);
    }
    return guarding.hits;
}

GuardHit change_base_tests(const char *command, int exit_code, Arena *arena)
{
    GuardHit out = {.guard = CHANGE_BASE_TESTS, .path = command};
    out.sentence =
        arena_printf(arena, "%s: '%s' with the tests as they were ends with exit code %d",
                     change_guard_word(out.guard), excerpt(arena, command, PATH_SHOWN), exit_code);
    return out;
}
