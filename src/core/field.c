/* Fields: reading one value by its row. See field.h. */
#include "core/field.h"
#include <errno.h>
#include <inttypes.h>

const char *field_type_word(FieldType type)
{
    static const char *const words[] = {
#define X(kind, word) [kind] = word,
        FIELD_TYPES(X)
#undef X
    };
    return words[type];
}

/* Whole numbers are written without a fraction, so that "64" is not shown as "64.0". */
static void add_number(Str *out, double number)
{
    str_addf(out, "%.15g", number);
}

static void add_words(Str *out, const char *words)
{
    for (const char *c = words; *c; c++)
        if (*c == ' ')
            str_add(out, ", ");
        else
            str_add_char(out, *c);
}

static void add_count(const Field *field, const char *what, Str *out)
{
    if (field->max > 0) {
        str_addf(out, "%s of ", what);
        add_number(out, field->min);
        str_add(out, " to ");
        add_number(out, field->max);
    } else {
        str_add(out, what);
    }
}

static void add_range(const Field *field, const char *what, Str *out)
{
    str_addf(out, "%s from ", what);
    add_number(out, field->min);
    str_add(out, " to ");
    add_number(out, field->max);
    if (field->unit)
        str_addf(out, " (%s)", field->unit);
}

void field_allowed(const Field *field, Str *out)
{
    switch (field->type) {
    case FIELD_TEXT:
        add_count(field, "text", out);
        str_add(out, field->max > 0 ? " characters" : "");
        return;
    case FIELD_WORD:
        str_add(out, "one of ");
        add_words(out, field->words);
        return;
    case FIELD_INT:
        add_range(field, "a whole number", out);
        return;
    case FIELD_REAL:
        add_range(field, "a number", out);
        return;
    case FIELD_BOOL:
        str_add(out, "true or false");
        return;
    case FIELD_TEXTS:
        add_count(field, "a list", out);
        str_add(out, field->max > 0 ? " texts" : " of texts");
        return;
    case FIELD_COMMAND:
        str_add(out, "a list [program, argument, ...] or one text for the shell");
        return;
    case FIELD_ENV:
        str_add(out, "a map of NAME: value, not beginning with OTTO_");
        return;
    case FIELD_MAP:
        str_addf(out, "a map of %s", field->unit ? field->unit : "name: text");
        if (field->words) {
            str_add(out, ", one of ");
            add_words(out, field->words);
        }
        return;
    case FIELD_OWN:
        str_add(out, field->unit ? field->unit : "a list or a map");
        return;
    }
}

static bool refuse(const Field *field, Str *allowed)
{
    field_allowed(field, allowed);
    return false;
}

static bool has_word(const char *words, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (length && !strchr(text, ' ') && strncmp(at, text, length) == 0 &&
            (at[length] == ' ' || !at[length]))
            return true;
    }
    return false;
}

static bool text_fits(const Field *field, const char *text, Str *allowed)
{
    size_t characters = text_characters(text);
    if (field->type == FIELD_TEXT && field->max > 0 &&
        ((double)characters < field->min || (double)characters > field->max))
        return refuse(field, allowed);
    const char *wrong = field->check ? field->check(text) : NULL;
    if (wrong)
        str_add(allowed, wrong);
    return !wrong;
}

static bool number_fits(const Field *field, double number)
{
    return number >= field->min && number <= field->max; /* false for not-a-number */
}

/* Text of a scalar: strings without NUL, and whole numbers (a title such as 2026). */
static const char *scalar_text(const json_t *value, Arena *arena)
{
    if (json_is_integer(value))
        return arena_printf(arena, "%" PRId64, (int64_t)json_integer_value(value));
    if (json_is_boolean(value)) /* `true` is a program, too */
        return json_is_true(value) ? "true" : "false";
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value))
        return NULL;
    return arena_strdup(arena, text);
}

static bool read_texts(const Field *field, const json_t *value, Arena *arena, TextList *out,
                       Str *allowed)
{
    bool is_one = !json_is_array(value); /* `check: make test` is a list of one */
    size_t count = is_one ? 1 : json_array_size(value);
    if ((double)count < field->min || (field->max > 0 && (double)count > field->max))
        return refuse(field, allowed);
    TextList list = {arena_alloc(arena, (count + 1) * sizeof(char *)), count};
    for (size_t i = 0; i < count; i++) {
        list.items[i] = scalar_text(is_one ? value : json_array_get(value, i), arena);
        if (!list.items[i] || !*list.items[i])
            return refuse(field, allowed);
        if (!text_fits(field, list.items[i], allowed))
            return false;
    }
    *out = list;
    return true;
}

static bool read_command(const Field *field, const json_t *value, Arena *arena, CommandText *out,
                         Str *allowed)
{
    static const Field list = {.type = FIELD_TEXTS, .min = 1, .max = 256};
    CommandText command = {0};
    if (json_is_array(value)) {
        Str unused = STR_INIT;
        bool is_list = read_texts(&list, value, arena, &command.argv, &unused);
        str_done(&unused);
        if (!is_list)
            return refuse(field, allowed);
    } else {
        command.shell = scalar_text(value, arena);
        if (!command.shell || !*command.shell)
            return refuse(field, allowed);
    }
    *out = command;
    return true;
}

static bool env_name_is_fine(const char *name)
{
    if (!*name || (*name >= '0' && *name <= '9') || text_starts(name, "OTTO_"))
        return false;
    return !field_check_name(name) && !strchr(name, '-');
}

static bool read_env(const Field *field, const json_t *value, Arena *arena, TextList *out,
                     Str *allowed)
{
    if (!json_is_object(value))
        return refuse(field, allowed);
    TextList list = {arena_alloc(arena, (json_object_size(value) + 1) * sizeof(char *)), 0};
    const char *name;
    json_t *item;
    json_object_foreach((json_t *)value, name, item)
    {
        const char *text = scalar_text(item, arena);
        if (!text || !env_name_is_fine(name))
            return refuse(field, allowed);
        list.items[list.count++] = arena_printf(arena, "%s=%s", name, text);
    }
    *out = list;
    return true;
}

/* Keys are words of people: labels, statuses. */
static bool map_key_is_fine(const char *key)
{
    size_t characters = text_characters(key);
    return characters >= 1 && characters <= 64 && !field_check_line(key);
}

static bool read_pairs(const Field *field, const json_t *value, Arena *arena, TextMap *out,
                       Str *allowed)
{
    if (!json_is_object(value) || (double)json_object_size(value) > field->max)
        return refuse(field, allowed);
    TextMap map = {arena_alloc(arena, (json_object_size(value) + 1) * sizeof *map.items), 0};
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)value, key, item)
    {
        const char *text = scalar_text(item, arena);
        if (!text || !*text || !map_key_is_fine(key) ||
            (field->words && !has_word(field->words, text)))
            return refuse(field, allowed);
        if (!text_fits(field, text, allowed))
            return false;
        map.items[map.count++] = (TextPair){arena_strdup(arena, key), text};
    }
    *out = map;
    return true;
}

static bool read_text(const Field *field, const json_t *value, const char **out, Arena *arena,
                      Str *allowed)
{
    const char *text = scalar_text(value, arena);
    if (!text || (field->type == FIELD_WORD && !has_word(field->words, text)))
        return refuse(field, allowed);
    if (!text_fits(field, text, allowed))
        return false;
    *out = text;
    return true;
}

static bool read_int(const Field *field, const json_t *value, int64_t *out, Str *allowed)
{
    if (!json_is_integer(value) || !number_fits(field, (double)json_integer_value(value)))
        return refuse(field, allowed);
    *out = json_integer_value(value);
    return true;
}

static bool read_real(const Field *field, const json_t *value, double *out, Str *allowed)
{
    if (!json_is_number(value) || !number_fits(field, json_number_value(value)))
        return refuse(field, allowed);
    *out = json_number_value(value);
    return true;
}

bool field_read(const Field *field, const json_t *value, void *base, Arena *arena, Str *allowed)
{
    void *at = (char *)base + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_WORD:
        return read_text(field, value, at, arena, allowed);
    case FIELD_INT:
        return read_int(field, value, at, allowed);
    case FIELD_REAL:
        return read_real(field, value, at, allowed);
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return refuse(field, allowed);
        *(bool *)at = json_is_true(value);
        return true;
    case FIELD_TEXTS:
        return read_texts(field, value, arena, at, allowed);
    case FIELD_COMMAND:
        return read_command(field, value, arena, at, allowed);
    case FIELD_ENV:
        return read_env(field, value, arena, at, allowed);
    case FIELD_MAP:
        return read_pairs(field, value, arena, at, allowed);
    case FIELD_OWN:
        break;
    }
    return refuse(field, allowed);
}

/* Text from a variable or a flag, as the value that YAML would have read. */
static json_t *value_of_text(const Field *field, const char *text)
{
    int64_t whole;
    char *end = NULL;
    if (field->type == FIELD_INT)
        return text_to_int(text, &whole) ? json_integer(whole) : NULL;
    if (field->type == FIELD_REAL) {
        errno = 0;
        double real = strtod(text, &end);
        return end != text && !*end && !errno ? json_real(real) : NULL;
    }
    if (field->type == FIELD_BOOL && (text_equal(text, "true") || text_equal(text, "false")))
        return json_boolean(text_equal(text, "true"));
    return json_string(text); /* NULL when it is not UTF-8 */
}

bool field_parse(const Field *field, const char *text, void *base, Arena *arena, Str *allowed)
{
    CLEANUP(json_freep) json_t *value = value_of_text(field, text);
    return value ? field_read(field, value, base, arena, allowed) : refuse(field, allowed);
}

void field_defaults(FieldTable table, void *base, Arena *arena)
{
    Str wrong = STR_INIT;
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].fallback &&
            !field_parse(&table.rows[i], table.rows[i].fallback, base, arena, &wrong))
            abort(); /* a default outside its own bounds is a bug in the table */
    str_done(&wrong);
}
