/* Reading structured answers: see answer.h. */
#include "core/answer.h"
#include "core/answer_parts.h"
#include "core/convergence.h"
#include "core/excerpt.h"
#include <ctype.h>
#include <string.h>

enum { SHOWN_MAX = 60, PATH_MAX_BYTES = 160 }; /* bytes of a bad value, of a path's place */

static const char *const kind_words[] = {
#define X(kind, word) [kind] = word,
    ANSWER_KINDS(X)
#undef X
};

const char *answer_kind_word(AnswerKind kind)
{
    return kind_words[kind];
}

bool answer_kind_find(const char *word, AnswerKind *kind)
{
    for (unsigned i = 0; word && i < ANSWER_KIND_COUNT; i++) {
        if (strcmp(kind_words[i], word) == 0) {
            *kind = (AnswerKind)i;
            return true;
        }
    }
    return false;
}

const char *answer_last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (text_ends(path, "[]"))
        return path + strlen(path) - 2;
    return dot ? dot + 1 : path;
}

bool answer_is_child(const AnswerField *field, const char *prefix, size_t length)
{
    const char *last = answer_last_part(field->path);
    size_t head = (size_t)(last - field->path);
    if (head && last[-1] == '.')
        head--;
    return head == length && memcmp(field->path, prefix, length) == 0;
}

/* ---- what is expected, what was found ---- */

static void add_bounds(const AnswerField *field, const char *noun, Str *out)
{
    if (field->min > 0)
        str_addf(out, " of %.0f to %.0f %s", field->min, field->max, noun);
    else
        str_addf(out, " of at most %.0f %s", field->max, noun);
}

static void add_words(const char *words, Str *out)
{
    for (const char *at = words; *at; at++) {
        if (*at == ' ')
            str_add_char(out, ',');
        str_add_char(out, *at);
    }
}

void answer_expected(const AnswerField *field, Str *out)
{
    switch (field->type) {
    case AS_TEXT:
        str_add(out, "a text");
        add_bounds(field, "characters", out);
        return;
    case AS_WORD:
        str_add(out, "one of: ");
        add_words(field->words, out);
        return;
    case AS_WHOLE:
        str_addf(out, "a whole number from %.0f to %.0f", field->min, field->max);
        return;
    case AS_NUMBER:
        str_addf(out, "a number from %.0f to %.0f", field->min, field->max);
        return;
    case AS_BOOL:
        str_add(out, "true or false");
        return;
    case AS_R:
        str_add(out, "the number of a requirement such as \"R1\"");
        return;
    case AS_WEIGHT:
        str_add(out, "1, 2, 3, or one of: ");
        add_words(field->words, out);
        return;
    case AS_LIST:
        str_add(out, "a list");
        add_bounds(field, "items", out);
        return;
    case AS_OBJECT:
        str_add(out, "an object");
        return;
    case AS_WORDS_BY_NAME:
        str_add(out, "an object of names, each with one of: ");
        add_words(field->words, out);
        return;
    }
}

static void add_found(Str *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        str_addf(out, "a text of %zu bytes: '", json_string_length(value));
        excerpt_add(out, json_string_value(value), SHOWN_MAX);
        str_add_char(out, '\'');
        return;
    case JSON_INTEGER:
        str_addf(out, "the number %lld", (long long)json_integer_value(value));
        return;
    case JSON_REAL:
        str_addf(out, "the number %g", json_real_value(value));
        return;
    case JSON_ARRAY:
        str_addf(out, "a list of %zu items", json_array_size(value));
        return;
    case JSON_OBJECT:
        str_add(out, "an object");
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        str_add(out, json_is_true(value) ? "true" : "false");
        return;
    case JSON_NULL:
        str_add(out, "null");
        return;
    }
}

static bool fail(const AnswerField *field, const char *where, const json_t *value, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    if (value) {
        str_addf(&text, "'%s' is ", where);
        add_found(&text, value);
        str_add(&text, "; expected ");
    } else {
        str_addf(&text, "'%s' is missing; expected ", where);
    }
    answer_expected(field, &text);
    return err_set(err, ERR_USAGE, "%s", str_text(&text));
}

/* ---- one value ---- */

static bool text_fits(const AnswerField *field, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t characters = 0;
    bool is_blank = true;
    if (!text)
        return false;
    for (; *text; text++) {
        characters += ((unsigned char)*text & 0xC0) != 0x80;
        is_blank = is_blank && isspace((unsigned char)*text);
    }
    return (double)characters <= field->max && !(is_blank && field->min > 0);
}

/* "(step-12)" for the listed "(step-N)". */
static bool is_step(const char *word)
{
    int64_t number;
    char digits[8];
    size_t length = strlen(word);
    if (!text_starts(word, "(step-") || !text_ends(word, ")") || length > 6 + sizeof digits)
        return false;
    (void)snprintf(digits, sizeof digits, "%.*s", (int)(length - 7), word + 6); /* bounded above */
    return isdigit((unsigned char)digits[0]) && text_to_int(digits, &number) && number > 0;
}

static bool word_fits(const char *words, const char *word)
{
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (strlen(word) == length && memcmp(words, word, length) == 0)
            return strcmp(word, ANSWER_STEP_WORD) != 0;
        if (length == strlen(ANSWER_STEP_WORD) && memcmp(words, ANSWER_STEP_WORD, length) == 0 &&
            is_step(word))
            return true;
    }
    return false;
}

/* A word in another case, or an outcome without its parentheses, is put right. */
static bool mend_word(const char *words, json_t *value)
{
    const char *text = json_string_value(value);
    char tries[3][40];
    if (!text || strlen(text) > 30)
        return false;
    (void)snprintf(tries[0], sizeof tries[0], "(%s)", text); /* bounded above, as the others */
    (void)snprintf(tries[1], sizeof tries[1], "%s", text);
    (void)snprintf(tries[2], sizeof tries[2], "%s", text);
    for (char *at = tries[1]; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    for (char *at = tries[2]; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    for (unsigned i = 0; i < COUNT(tries); i++) {
        if (word_fits(words, tries[i]))
            return json_string_set(value, tries[i]) == 0;
    }
    return false;
}

static bool word_value_fits(const char *words, json_t *value)
{
    const char *word = json_string_value(value);
    return word && (word_fits(words, word) || mend_word(words, value));
}

static bool number_fits(const AnswerField *field, const json_t *value)
{
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= field->min && number <= field->max))
        return false;
    return field->type != AS_WHOLE || json_is_integer(value);
}

static bool names_fit(const AnswerField *field, json_t *value)
{
    const char *name;
    json_t *word;
    if (!json_is_object(value) || (double)json_object_size(value) > field->max)
        return false;
    json_object_foreach(value, name, word)
    {
        if (!word_value_fits(field->words, word))
            return false;
    }
    return true;
}

static bool id_fits(const json_t *value)
{
    uint32_t number;
    const char *text = json_string_value(value);
    return text && requirement_id_read(text, &number);
}

static bool weight_fits(const AnswerField *field, const json_t *value)
{
    double weight;
    return weight_read(value, &weight) && weight >= field->min && weight <= field->max &&
           (!json_is_number(value) || json_is_integer(value));
}

static bool list_fits(const AnswerField *field, const json_t *value)
{
    double count = (double)json_array_size(value);
    return json_is_array(value) && count >= field->min && count <= field->max;
}

static bool value_fits(const AnswerField *field, json_t *value)
{
    switch (field->type) {
    case AS_TEXT:
        return text_fits(field, value);
    case AS_WORD:
        return word_value_fits(field->words, value);
    case AS_WHOLE:
    case AS_NUMBER:
        return number_fits(field, value);
    case AS_BOOL:
        return json_is_boolean(value);
    case AS_R:
        return id_fits(value);
    case AS_WEIGHT:
        return weight_fits(field, value);
    case AS_LIST:
        return list_fits(field, value);
    case AS_OBJECT:
        return json_is_object(value);
    case AS_WORDS_BY_NAME:
        return names_fit(field, value);
    }
    return false;
}

/* ---- the whole ---- */

typedef struct Walk {
    const AnswerField *field;
    char where[PATH_MAX_BYTES];
    Err *err;
} Walk;

static bool check_leaf(const Walk *walk, json_t *value)
{
    if (!value || json_is_null(value))
        return walk->field->is_optional || fail(walk->field, walk->where, NULL, walk->err);
    return value_fits(walk->field, value) || fail(walk->field, walk->where, value, walk->err);
}

/* What is missing or of a wrong type on the way is the matter of the row of that part. */
static bool follow(Walk *walk, json_t *node, const char *path, size_t used)
{
    size_t length = strcspn(path, ".[");
    if (length) {
        char key[64];
        (void)snprintf(key, sizeof key, "%.*s", (int)length, path); /* our own short names */
        used += (size_t)snprintf(walk->where + used, sizeof walk->where - used, "%s%s",
                                 used ? "." : "", key);
        node = json_object_get(node, key);
        path += length;
    }
    if (*path == '\0')
        return check_leaf(walk, node);
    if (*path == '.')
        return !json_is_object(node) || follow(walk, node, path + 1, used);
    for (size_t i = 0; i < json_array_size(node); i++) {
        size_t inner =
            used + (size_t)snprintf(walk->where + used, sizeof walk->where - used, "[%zu]", i);
        if (!follow(walk, json_array_get(node, i), path + 2 + (path[2] == '.'), inner))
            return false;
    }
    return true;
}

static bool is_too_deep(const json_t *node, unsigned left)
{
    const char *key;
    json_t *value;
    size_t i;
    if (left == 0)
        return true;
    json_object_foreach((json_t *)(uintptr_t)node, key, value)
    {
        if (is_too_deep(value, left - 1))
            return true;
    }
    json_array_foreach(node, i, value)
    {
        if (is_too_deep(value, left - 1))
            return true;
    }
    return false;
}

/* Lists in lists have a limit for all together. */
static bool check_total(const json_t *answer, const char *list, const char *inner, size_t most,
                        Err *err)
{
    size_t i, total = 0;
    json_t *item;
    json_array_foreach(json_object_get(answer, list), i, item)
    {
        total += json_array_size(json_object_get(item, inner));
    }
    return total <= most ||
           err_set(err, ERR_USAGE, "'%s[].%s' has %zu items in all; expected at most %zu", list,
                   inner, total, most);
}

/* An objective that names neither goals nor a stage says nothing at all. */
static bool check_objective(const json_t *answer, Err *err)
{
    return json_array_size(json_object_get(answer, "items")) || json_object_get(answer, "stage") ||
           json_flag(answer, "exhausted", false) ||
           err_set(err, ERR_USAGE,
                   "'items' and 'stage' are missing; expected at least one of them, or "
                   "'exhausted' to be true");
}

static bool check(AnswerKind kind, json_t *answer, Err *err)
{
    const AnswerShape *shape = answer_shape(kind);
    if (!json_is_object(answer)) {
        CLEANUP(str_done) Str found = STR_INIT;
        add_found(&found, answer);
        return err_set(err, ERR_USAGE, "the answer is %s; expected an object", str_text(&found));
    }
    if (is_too_deep(answer, ANSWER_DEPTH_MAX))
        return err_set(err, ERR_USAGE, "the answer is nested deeper than %d levels",
                       ANSWER_DEPTH_MAX);
    for (size_t i = 0; i < shape->field_count; i++) {
        Walk walk = {.field = &shape->fields[i], .err = err};
        if (!follow(&walk, answer, shape->fields[i].path, 0))
            return false;
    }
    if (kind == ANSWER_OBJECTIVE && !check_objective(answer, err))
        return false;
    return check_total(answer, "steps", "checks", ANSWER_FINDINGS_MAX, err) &&
           check_total(answer, "steps", "files", ANSWER_FINDINGS_MAX, err) &&
           check_total(answer, "items", "requirements", ANSWER_REQUIREMENTS_MAX, err);
}

/* Blanks and a fence of Markdown around the JSON. */
static void unwrap(const char **text, size_t *length)
{
    const char *start = *text, *end = *text + *length;
    for (unsigned round = 0; round < 2; round++) {
        while (start < end && isspace((unsigned char)*start))
            start++;
        while (end > start && isspace((unsigned char)end[-1]))
            end--;
        if (round || end - start < 8 || memcmp(start, "```", 3) != 0 ||
            memcmp(end - 3, "```", 3) != 0)
            break;
        const char *line = memchr(start, '\n', (size_t)(end - start));
        if (!line)
            break;
        start = line;
        end -= 3;
    }
    *text = start;
    *length = start < end ? (size_t)(end - start) : 0;
}

json_t *answer_read(AnswerKind kind, const char *text, size_t length, Err *err)
{
    if (length > ANSWER_BYTES_MAX) {
        (void)err_set(err, ERR_TOO_BIG, "the answer has %zu bytes; expected at most %d", length,
                      ANSWER_BYTES_MAX); /* NULL says it failed */
        return NULL;
    }
    unwrap(&text, &length);
    json_t *answer = json_read(text, length, err);
    if (answer && !check(kind, answer, err)) {
        json_decref(answer);
        return NULL;
    }
    return answer;
}

const char *answer_result(const json_t *answer, const char *fallback)
{
    return json_text(answer, "result", fallback);
}
