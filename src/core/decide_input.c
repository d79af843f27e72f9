/* Checking the input of a decision against the fields of its row, and reading it. */
#include "base/str.h"
#include "core/decide_table.h"
#include <stdarg.h>
#include <string.h>

enum { SHOWN_MAX = 200 }; /* bytes of a bad value that are shown again */

static const char *const type_words[] = {
    [IN_TEXT] = "a text",
    [IN_BYTES] = "a text",
    [IN_WORD] = "a word",
    [IN_INT] = "a whole number",
    [IN_NUMBER] = "a number",
    [IN_BOOL] = "true or false",
    [IN_ID] = "a text or a whole number",
    [IN_LIST] = "a list",
    [IN_OBJECT] = "an object",
    [IN_ANY] = "any value",
};

const char *decide_type_word(DecideType type)
{
    return type_words[type];
}

json_t *decide_words(const char *words)
{
    json_t *list = json_array();
    while (*words) {
        size_t length = strcspn(words, " ");
        json_array_append_new(list, json_stringn(words, length));
        words += length + (words[length] == ' ');
    }
    return list;
}

static bool is_showable(const json_t *value)
{
    return value && !json_is_object(value) && !json_is_array(value) &&
           (!json_is_string(value) || json_string_length(value) <= SHOWN_MAX);
}

bool decide_fail(DecideInput *in, const char *field, const json_t *value, json_t *allowed,
                 const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* a cut message is mended below */
    va_end(args);
    size_t whole = 0, step;
    while (text[whole] && (step = utf8_length(text + whole, strlen(text + whole))) > 0)
        whole += step;
    text[whole] = '\0';

    json_t *error = json_object();
    json_object_set_new(error, "kind", json_string("bad-input"));
    json_object_set_new(error, "message", json_string(text));
    if (*field)
        json_object_set_new(error, "field", json_string(field));
    if (is_showable(value))
        json_object_set_new(error, "value", json_deep_copy(value));
    if (allowed)
        json_object_set_new(error, "allowed", allowed);
    json_decref(in->error);
    in->error = error;
    return false;
}

bool decide_to_int(const json_t *value, int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    double real = json_real_value(value);
    const double most = 9007199254740992.0; /* 2^53: beyond it a double skips numbers */
    if (!json_is_real(value) || !(real >= -most && real <= most) || real != (double)(int64_t)real)
        return false;
    *out = (int64_t)real;
    return true;
}

static bool has_nul(const json_t *value)
{
    return strlen(json_string_value(value)) != json_string_length(value);
}

static bool type_fits(const DecideField *field, const json_t *value)
{
    int64_t number;
    switch (field->type) {
    case IN_TEXT:
    case IN_WORD:
        return json_is_string(value) && !has_nul(value);
    case IN_BYTES:
        return json_is_string(value);
    case IN_INT:
        return decide_to_int(value, &number);
    case IN_NUMBER:
        return json_is_number(value);
    case IN_BOOL:
        return json_is_boolean(value);
    case IN_ID:
        return json_is_string(value) || json_is_integer(value);
    case IN_LIST:
        return json_is_array(value);
    case IN_OBJECT:
        return json_is_object(value);
    case IN_ANY:
        return true;
    }
    return false;
}

static bool word_fits(const char *words, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = words; length && *at;) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, text, length) == 0)
            return true;
        at += here + (at[here] == ' ');
    }
    return false;
}

static void bounds(const DecideField *field, int64_t *min, int64_t *max)
{
    bool is_plain = field->min == 0 && field->max == 0;
    *min = is_plain ? 0 : field->min;
    *max = is_plain ? INT64_MAX : field->max;
}

static bool check_leaf(DecideInput *in, const DecideField *field, const char *where,
                       const json_t *value)
{
    if (!value || json_is_null(value)) {
        if (field->is_optional || field->type == IN_ANY)
            return true;
        return decide_fail(in, where, NULL, NULL, "'%s' is missing: %s", where, field->help);
    }
    if (!type_fits(field, value))
        return decide_fail(in, where, value, field->words ? decide_words(field->words) : NULL,
                           "'%s' must be %s", where, type_words[field->type]);
    if (field->type == IN_WORD && !word_fits(field->words, json_string_value(value)))
        return decide_fail(in, where, value, decide_words(field->words),
                           "'%s' is '%s', which is not one of: %s", where, json_string_value(value),
                           field->words);
    if (field->type == IN_INT || field->type == IN_NUMBER) {
        int64_t min, max, whole = 0;
        bounds(field, &min, &max);
        double number = json_number_value(value);
        bool is_whole = decide_to_int(value, &whole);
        if (is_whole ? whole < min || whole > max
                     : !(number >= (double)min && number <= (double)max))
            return max == INT64_MAX
                       ? decide_fail(in, where, value, NULL, "'%s' must be at least %lld", where,
                                     (long long)min)
                       : decide_fail(in, where, value, NULL, "'%s' must be from %lld to %lld",
                                     where, (long long)min, (long long)max);
    }
    return true;
}

static void cut(Str *where, size_t length)
{
    where->length = length;
    if (where->bytes)
        where->bytes[length] = '\0';
}

/* Follows the path from node; every value it leads to is checked. What is missing or of a wrong
 * type on the way is the matter of the row of that part. */
static bool walk(DecideInput *in, const DecideField *field, const json_t *node, const char *path,
                 Str *where)
{
    size_t length = strcspn(path, ".["), start = where->length;
    bool is_fine = true;
    if (length) {
        char key[64];
        (void)snprintf(key, sizeof key, "%.*s", (int)length, path); /* our own short names */
        if (where->length)
            str_add_char(where, '.');
        str_add(where, key);
        if (!json_is_object(node))
            node = NULL;
        node = json_object_get(node, key);
        path += length;
    }
    if (*path == '\0') {
        is_fine = check_leaf(in, field, str_text(where), node);
    } else if (*path == '.') {
        if (json_is_object(node))
            is_fine = walk(in, field, node, path + 1, where);
    } else if (json_is_array(node)) {
        const char *rest = path + 2 + (path[2] == '.');
        size_t base = where->length;
        for (size_t i = 0; is_fine && i < json_array_size(node); i++) {
            cut(where, base);
            str_addf(where, "[%zu]", i);
            is_fine = walk(in, field, json_array_get(node, i), rest, where);
        }
    }
    cut(where, start);
    return is_fine;
}

bool decide_check(DecideInput *in)
{
    CLEANUP(str_done) Str where = STR_INIT;
    for (size_t i = 0; i < in->row->field_count; i++) {
        const DecideField *field = &in->row->fields[i];
        cut(&where, 0);
        if (!walk(in, field, in->root, field->path, &where))
            return false;
    }
    return true;
}

static const DecideField *field_of(const DecideInput *in, const char *path)
{
    for (size_t i = 0; i < in->row->field_count; i++) {
        if (strcmp(in->row->fields[i].path, path) == 0)
            return &in->row->fields[i];
    }
    abort(); /* a decision asks for a field that its row does not list */
}

const json_t *decide_value(const DecideInput *in, const json_t *object, const char *path)
{
    const char *dot = strrchr(path, '.');
    const json_t *value = json_object_get(object, dot ? dot + 1 : path);
    (void)field_of(in, path); /* only to catch a slip */
    return json_is_null(value) ? NULL : value;
}

const char *decide_text(const DecideInput *in, const json_t *object, const char *path)
{
    const json_t *value = decide_value(in, object, path);
    return value ? json_string_value(value) : field_of(in, path)->fallback;
}

int64_t decide_int(const DecideInput *in, const json_t *object, const char *path)
{
    const json_t *value = decide_value(in, object, path);
    const char *fallback = field_of(in, path)->fallback;
    int64_t number = 0;
    if (value)
        (void)decide_to_int(value, &number); /* the check has seen it */
    else if (fallback)
        (void)text_to_int(fallback, &number); /* our own table */
    return number;
}

bool decide_bool(const DecideInput *in, const json_t *object, const char *path)
{
    const json_t *value = decide_value(in, object, path);
    return value ? json_is_true(value) : text_equal(field_of(in, path)->fallback, "true");
}
