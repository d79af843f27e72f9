/* Backlog: from text to checked tasks. See backlog.h. */
#include "core/backlog.h"
#include "core/backlog_parts.h"

static bool title_check(const char *title, char *why, size_t size)
{
    size_t length = text_characters(title);
    if (!length || strspn(title, " \t") == strlen(title))
        (void)snprintf(why, size, "the title is empty"); /* fits */
    else if (length > BACKLOG_MOST_TITLE)
        (void)snprintf(why, size, "the title is longer than %d characters",
                       BACKLOG_MOST_TITLE); /* fits */
    else if (field_check_line(title))
        (void)snprintf(why, size, "the title holds control characters"); /* fits */
    else
        return true;
    return false;
}

bool backlog_title_check(const char *title, Err *err)
{
    char why[80];
    return title_check(title, why, sizeof why) || err_set(err, ERR_USAGE, "%s", why);
}

/* A copy with \n line ends and a last newline; without NUL and broken UTF-8. */
static char *clean_copy(const BacklogSource *source, Arena *arena, Err *err)
{
    char *copy = arena_alloc(arena, source->length + 2);
    size_t used = 0;
    int line = 1;
    for (size_t at = 0; at < source->length;) {
        const char *c = source->text + at;
        size_t step = utf8_length(c, source->length - at);
        if (step == 0 || *c == '\0') {
            (void)err_set(err, ERR_USAGE, "%d: not a text file (%s)", line,
                          step ? "a NUL byte" : "not UTF-8"); /* NULL says it failed */
            return NULL;
        }
        line += *c == '\n';
        bool is_skipped = (*c == '\r' && at + 1 < source->length && c[1] == '\n') ||
                          (at == 0 && step == 3 && memcmp(c, "\xef\xbb\xbf", 3) == 0);
        if (!is_skipped) {
            memcpy(copy + used, c, step);
            used += step;
        }
        at += step;
    }
    if (used && copy[used - 1] != '\n')
        copy[used] = '\n';
    return copy;
}

static bool task_read(const BacklogPart *part, Arena *arena, BacklogTask *task, Err *err)
{
    *task = (BacklogTask){.line = part->line, .body = part->body, .priority = PRIORITY_NONE};
    if (part->yaml && !backlog_front_matter(part, arena, task, err))
        return false;
    if (!task->title)
        task->title = part->title;
    if (!task->title)
        return err_set(err, ERR_USAGE,
                       "%d: title: is missing; give it in the front matter or as a heading",
                       part->line);
    char why[80];
    if (!title_check(task->title, why, sizeof why))
        return err_set(err, ERR_USAGE, "%d: title: %s", part->line, why);
    return true;
}

/* Keys in order, so that ten thousand tasks are checked without comparing each with each. */
typedef struct Keys {
    const BacklogTask **sorted;
    size_t count;
} Keys;

static int compare_keys(const void *a, const void *b)
{
    const BacklogTask *left = *(const BacklogTask *const *)a;
    const BacklogTask *right = *(const BacklogTask *const *)b;
    int order = strcmp(left->key, right->key);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static Keys keys_collect(const Backlog *backlog, Arena *arena)
{
    Keys keys = {arena_alloc(arena, (backlog->count + 1) * sizeof *keys.sorted), 0};
    for (size_t i = 0; i < backlog->count; i++)
        if (backlog->tasks[i].key)
            keys.sorted[keys.count++] = &backlog->tasks[i];
    qsort(keys.sorted, keys.count, sizeof *keys.sorted, compare_keys);
    return keys;
}

static bool keys_hold(const Keys *keys, const char *key)
{
    size_t low = 0, high = keys->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(keys->sorted[middle]->key, key);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool is_known(const BacklogSource *source, const char *key)
{
    return source->known && source->known(source->known_data, key);
}

static bool keys_check(const BacklogSource *source, const Keys *keys, Err *err)
{
    for (size_t i = 0; i < keys->count; i++) {
        const BacklogTask *task = keys->sorted[i];
        if (i && text_equal(keys->sorted[i - 1]->key, task->key))
            return err_set(err, ERR_USAGE, "%d: key: '%s' is used already by the task at line %d",
                           task->line, task->key, keys->sorted[i - 1]->line);
        if (is_known(source, task->key))
            return err_set(err, ERR_CONFLICT, "%d: key: a task with key '%s' exists already",
                           task->line, task->key);
    }
    return true;
}

static bool reference_check(const BacklogSource *source, const Keys *keys, const BacklogTask *task,
                            const char *field, const char *key, Err *err)
{
    if (!key)
        return true; /* an id, or none; ids are checked by whoever knows the tasks */
    if (task->key && text_equal(task->key, key))
        return err_set(err, ERR_USAGE, "%d: %s: task '%s' names itself", task->line, field, key);
    if (keys_hold(keys, key) || is_known(source, key))
        return true;
    CLEANUP(str_done) Str hint = STR_INIT;
    unsigned best = 3;
    for (size_t i = 0; i < keys->count; i++) {
        unsigned distance = text_distance(key, keys->sorted[i]->key, 2);
        if (distance >= best)
            continue;
        best = distance;
        str_clear(&hint);
        str_addf(&hint, ", did you mean '%s'?", keys->sorted[i]->key);
    }
    return err_set(err, ERR_USAGE, "%d: %s: there is no task with key '%s'%s", task->line, field,
                   key, str_text(&hint));
}

static bool references_check(const BacklogSource *source, const Backlog *backlog, const Keys *keys,
                             Err *err)
{
    for (size_t i = 0; i < backlog->count; i++) {
        const BacklogTask *task = &backlog->tasks[i];
        if (!reference_check(source, keys, task, "parent", task->parent.key, err))
            return false;
        for (size_t j = 0; j < task->after_count; j++)
            if (!reference_check(source, keys, task, "after", task->after[j].key, err))
                return false;
    }
    return true;
}

static bool read_all(const BacklogSource *source, Arena *arena, Backlog *backlog, Err *err)
{
    BacklogParts parts = {0};
    const char *text = clean_copy(source, arena, err);
    if (!text || !backlog_split(text, arena, &parts, err))
        return false;
    if (!parts.count)
        return err_set(err, ERR_USAGE,
                       "1: no task found; a task begins with a front matter ('---'), a heading "
                       "('# title') or a list item ('- [ ] title')");
    Backlog fresh = {arena_alloc(arena, parts.count * sizeof *fresh.tasks), parts.count};
    for (size_t i = 0; i < parts.count; i++)
        if (!task_read(&parts.items[i], arena, &fresh.tasks[i], err))
            return false;
    Keys keys = keys_collect(&fresh, arena);
    if (!keys_check(source, &keys, err) || !references_check(source, &fresh, &keys, err))
        return false;
    *backlog = fresh;
    return true;
}

bool backlog_read(const BacklogSource *source, Arena *arena, Backlog *backlog, Err *err)
{
    if (source->length > BACKLOG_MOST_BYTES)
        return err_set(err, ERR_TOO_BIG, "'%s' is larger than %d MB", source->name,
                       BACKLOG_MOST_BYTES >> 20);
    if (read_all(source, arena, backlog, err))
        return true;
    if (err) { /* "12: ..." becomes "backlog.md:12: ..." */
        char rest[sizeof err->text];
        (void)snprintf(rest, sizeof rest, "%s", err->text); /* fits: it came from there */
        return err_set(err, err->kind, "%s:%s", source->name, rest);
    }
    return false;
}
