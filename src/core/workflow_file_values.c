/* Reading workflow files: growing lists, errors with their place, and single values. */
#include "core/workflow_file_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Growing lists */

void *rows_at(const Rows *rows, unsigned i)
{
    return (char *)rows->items + i * rows->item_size;
}

void *rows_add(Reader *reader, Rows *rows)
{
    if (rows->count == rows->size) {
        unsigned size = rows->size ? rows->size * 2 : 16;
        void *items = arena_alloc(reader->arena, size * rows->item_size);
        if (rows->count)
            memcpy(items, rows->items, rows->count * rows->item_size);
        rows->items = items;
        rows->size = size;
    }
    return rows_at(rows, rows->count++);
}

void rows_set(Rows *rows, unsigned i, const void *item)
{
    memmove(rows_at(rows, i), item, rows->item_size);
}

void rows_insert(Reader *reader, Rows *rows, unsigned i, const void *item)
{
    (void)rows_add(reader, rows); /* room; what it holds is moved up now */
    memmove(rows_at(rows, i + 1), rows_at(rows, i), (rows->count - 1 - i) * rows->item_size);
    rows_set(rows, i, item);
}

void reader_publish(Reader *reader)
{
    Workflow *flow = &reader->flow;
#define PUBLISH(list, counter)                                                                     \
    flow->list = reader->list.items;                                                               \
    flow->counter = (uint16_t)reader->list.count
    PUBLISH(phases, phase_count);
    PUBLISH(statuses, status_count);
    PUBLISH(checkpoints, checkpoint_count);
    PUBLISH(commands, command_count);
    PUBLISH(limits, limit_count);
    PUBLISH(thresholds, threshold_count);
    PUBLISH(hooks, hook_count);
    PUBLISH(entries, entry_count);
    PUBLISH(routes, route_count);
    PUBLISH(transitions, transition_count);
#undef PUBLISH
}

/* Errors */

const char *read_path(Reader *reader, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* a cut path still leads close */
    va_end(args);
    return arena_strdup(reader->arena, text);
}

bool read_bad(Reader *reader, const char *path, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* a cut sentence still says what is wrong */
    va_end(args);
    return err_set(reader->err, ERR_USAGE, "%s%s%s", path, *path ? ": " : "", text);
}

bool read_unknown(Reader *reader, const char *path, const char *what, const char *word,
                  WordFn *words, const void *list)
{
    const char *near = NULL, *known;
    unsigned least = 4; /* further away is no slip of the finger */
    CLEANUP(str_done) Str all = STR_INIT;
    for (size_t i = 0; (known = words(list, i)) != NULL; i++) {
        unsigned distance = strlen(word) < 64 ? text_distance(word, known, least) : least;
        if (distance < least) {
            least = distance;
            near = known;
        }
        if (*known && all.length < 200)
            str_addf(&all, "%s%s", all.length ? ", " : "", known);
    }
    if (near && *near)
        return read_bad(reader, path, "unknown %s '%.60s', did you mean '%s'?", what, word, near);
    return read_bad(reader, path, "unknown %s '%.60s'; known: %s", what, word, str_text(&all));
}

const char *word_of_list(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

const char *word_of_phase(const void *list, size_t i)
{
    const Rows *rows = list;
    return i < rows->count ? ((const WorkflowPhase *)rows->items)[i].name : NULL;
}

const char *word_of_status(const void *list, size_t i)
{
    const Rows *rows = list;
    return i < rows->count ? ((const WorkflowStatus *)rows->items)[i].name : NULL;
}

const char *word_of_checkpoint(const void *list, size_t i)
{
    const Rows *rows = list;
    return i < rows->count ? ((const WorkflowWord *)rows->items)[i].name : NULL;
}

const char *word_of_command(const void *list, size_t i)
{
    return word_of_checkpoint(list, i);
}

bool read_keys(Reader *reader, const char *path, const json_t *object, const char *const *keys)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return read_bad(reader, path, "must be a map");
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!keys[i])
            return read_unknown(reader, path, "key", key, word_of_list, keys);
    }
    return true;
}

/* Values */

bool read_text(Reader *reader, const char *path, const json_t *object, const char *key,
               const char **out)
{
    const json_t *value = json_object_get(object, key);
    const char *where = *path ? read_path(reader, "%s.%s", path, key) : key;
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return read_bad(reader, where, "must be a text");
    if (json_string_length(value) > WORKFLOW_TEXT_MAX)
        return read_bad(reader, where, "is longer than %d bytes", WORKFLOW_TEXT_MAX);
    *out = arena_strdup(reader->arena, json_string_value(value));
    return true;
}

bool read_flag(Reader *reader, const char *path, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return true;
    if (!json_is_boolean(value))
        return read_bad(reader, read_path(reader, "%s.%s", path, key), "must be true or false");
    *out = json_is_true(value);
    return true;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool workflow_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= WORKFLOW_NAME_MAX && strspn(name, LETTERS) > 0 &&
           strspn(name, LETTERS "-_") == length;
}

bool read_name(Reader *reader, const char *path, const char *name, const char *what)
{
    if (workflow_name_is_valid(name))
        return true;
    return read_bad(reader, path, "'%.60s' is no name of a %s: 1 to %d letters, digits, '-', '_'",
                    name, what, WORKFLOW_NAME_MAX);
}
