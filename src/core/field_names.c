/* Fields: finding rows by name, helping with misspelt ones, checks of texts, showing values. */
#include "core/field.h"

enum { NEAR = 2 }; /* letters that may differ in "did you mean" */

const Field *field_find(FieldTable table, const char *key)
{
    for (size_t i = 0; i < table.count; i++)
        if (text_equal(table.rows[i].key, key))
            return &table.rows[i]; /* cppcheck-suppress returnDanglingLifetime; not the table's own
                                    */
    return NULL;
}

bool field_is_group(FieldTable table, const char *group)
{
    size_t length = strlen(group);
    for (size_t i = 0; i < table.count; i++)
        if (strncmp(table.rows[i].key, group, length) == 0 && table.rows[i].key[length] == '.')
            return true;
    return false;
}

const char *text_nearest(const char *text, const char *const *words, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = NEAR + 1;
    for (size_t i = 0; i < count; i++) {
        unsigned distance = text_distance(text, words[i], NEAR);
        if (distance < best_distance && distance < strlen(words[i])) {
            best = words[i];
            best_distance = distance;
        }
    }
    return best;
}

/* The part of a row's key that stands in the map called prefix: "limits" in the root, "max_turns"
 * in "limits". NULL when the row is elsewhere. */
static const char *name_below(Arena *scratch, const char *key, const char *prefix)
{
    size_t length = strlen(prefix);
    if (length) {
        if (strncmp(key, prefix, length) != 0 || key[length] != '.')
            return NULL;
        key += length + 1;
    }
    return arena_strndup(scratch, key, strcspn(key, "."));
}

/* A key that exists, but in another map: max_turns at the root means limits.max_turns. */
static const char *same_leaf(FieldTable table, const char *key)
{
    for (size_t i = 0; i < table.count; i++) {
        const char *dot = strrchr(table.rows[i].key, '.');
        if (text_equal(dot ? dot + 1 : table.rows[i].key, key))
            return table.rows[i].key;
    }
    return NULL;
}

void field_suggest(FieldTable table, const char *prefix, const char *key, Str *out)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    const char **names = arena_alloc(&scratch, (table.count + 1) * sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < table.count; i++) {
        const char *name = name_below(&scratch, table.rows[i].key, prefix);
        if (name && (!count || !text_equal(names[count - 1], name))) /* groups stand together */
            names[count++] = name;
    }
    const char *near = text_nearest(key, names, count);
    const char *elsewhere = near ? NULL : same_leaf(table, key);
    if (near)
        str_addf(out, ", did you mean '%s%s%s'?", prefix, *prefix ? "." : "", near);
    else if (elsewhere)
        str_addf(out, ", did you mean '%s'?", elsewhere);
    for (size_t i = 0; !near && !elsewhere && i < count; i++)
        str_addf(out, "%s%s", i ? ", " : "; known here: ", names[i]);
}

size_t text_characters(const char *text)
{
    size_t count = 0, left = strlen(text);
    while (left) {
        size_t step = MAX(utf8_length(text, left), 1);
        text += step;
        left -= step;
        count++;
    }
    return count;
}

static bool has_control(const char *text, const char *except)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool is_c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if ((*c < 0x20 && !strchr(except, *c)) || *c == 0x7f || is_c1)
            return true;
    }
    return false;
}

const char *field_check_line(const char *text)
{
    return has_control(text, "") ? "one line without control characters" : NULL;
}

const char *field_check_shell(const char *text)
{
    return has_control(text, "\t\n") ? "text without control characters" : NULL;
}

const char *field_check_branch(const char *text)
{
    static const char allowed[] = "a branch name such as main";
    size_t length = strlen(text);
    bool is_bad = !length || strchr("-/.", text[0]) || strchr("/.", text[length - 1]) ||
                  strpbrk(text, " ~^:?*[\\") || strstr(text, "..") || strstr(text, "//") ||
                  strstr(text, "@{") || strstr(text, "/.") || text_ends(text, ".lock") ||
                  has_control(text, "");
    return is_bad ? allowed : NULL;
}

static bool only_of(const char *text, bool lower_case, const char *others)
{
    for (const char *c = text; *c; c++) {
        bool is_letter = (*c >= 'a' && *c <= 'z') || (!lower_case && *c >= 'A' && *c <= 'Z');
        if (!is_letter && !(*c >= '0' && *c <= '9') && !strchr(others, *c))
            return false;
    }
    return *text && strlen(text) <= 64 && *text != '-';
}

const char *field_check_name(const char *text)
{
    return only_of(text, false, "-_") ? NULL : "at most 64 letters, digits, '-' and '_'";
}

const char *field_check_tag(const char *text)
{
    bool is_fine = only_of(text, true, "-") && *text >= 'a' && *text <= 'z';
    return is_fine ? NULL : "a lower-case letter, then lower-case letters, digits and '-'";
}

const char *field_check_inside(const char *text)
{
    bool is_bad = !*text || *text == '/' || has_control(text, "");
    for (const char *at = text; !is_bad && *at;) {
        size_t length = strcspn(at, "/");
        is_bad = length == 2 && at[0] == '.' && at[1] == '.';
        at += length + (at[length] == '/');
    }
    return is_bad ? "a relative path that stays inside the repository" : NULL;
}

const char *field_check_type(const char *text)
{
    static const char allowed[] = "words of letters, digits, '_', ':' and '-', joined by '|'";
    const char *at = text;
    do {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_:-");
        if (!length || (at[length] && at[length] != '|'))
            return allowed;
        at += length;
    } while (*at++);
    return NULL;
}

const char *text_map_find(const TextMap *map, const char *key)
{
    for (size_t i = 0; i < map->count; i++)
        if (text_equal(map->items[i].key, key))
            return map->items[i].value;
    return NULL;
}

static json_t *show_texts(const TextList *list, bool names_only)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        size_t length = names_only ? strcspn(list->items[i], "=") : strlen(list->items[i]);
        json_array_append_new(array, json_stringn(list->items[i], length));
    }
    return array;
}

static json_t *show_pairs(const TextMap *map)
{
    json_t *object = json_object();
    for (size_t i = 0; i < map->count; i++)
        json_object_set_new(object, map->items[i].key, json_string(map->items[i].value));
    return object;
}

static json_t *show_text(const char *text)
{
    return text ? json_string(text) : json_null();
}

json_t *field_show(const Field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_WORD:
        return show_text(*(const char *const *)at);
    case FIELD_INT: {
        int64_t number = *(const int64_t *)at;
        return number < 0 && field->min >= 0 ? json_null() : json_integer(number);
    }
    case FIELD_REAL: {
        double number = *(const double *)at;
        return number < 0 && field->min >= 0 ? json_null() : json_real(number);
    }
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_TEXTS:
        return show_texts(at, false);
    case FIELD_COMMAND: {
        const CommandText *command = at;
        return command->argv.count ? show_texts(&command->argv, false) : show_text(command->shell);
    }
    case FIELD_ENV:
        return show_texts(at, true);
    case FIELD_MAP:
        return show_pairs(at);
    case FIELD_OWN:
        break;
    }
    return json_null();
}
