/* The shapes of answers in words: for prompts, and as JSON Schema. */
#include "core/answer_parts.h"
#include <stdlib.h>
#include <string.h>

/* ---- for prompts ---- */

static void add_note(const AnswerField *field, Str *out)
{
    str_addf(out, " // %s%s", field->is_optional ? "optional: " : "", field->help);
    if (field->words && field->type != AS_WEIGHT) {
        str_add(out, "; ");
        answer_expected(field, out);
    } else if (field->type == AS_LIST) {
        str_addf(out, "; at most %.0f", field->max);
    } else if (field->type == AS_NUMBER) {
        str_addf(out, "; from %.0f to %.0f", field->min, field->max);
    } else if (field->type == AS_TEXT && field->max < ANSWER_TEXT_MAX) {
        str_addf(out, "; at most %.0f characters", field->max);
    }
    str_add_char(out, '\n');
}

static void add_children(const AnswerShape *shape, const char *prefix, unsigned depth, Str *out);

static void add_value(const AnswerShape *shape, const AnswerField *field, unsigned depth,
                      const char *comma, Str *out)
{
    if (field->type != AS_LIST && field->type != AS_OBJECT) {
        str_addf(out, "%s%s", field->example, comma);
        add_note(field, out);
        return;
    }
    str_add_char(out, field->type == AS_LIST ? '[' : '{');
    add_note(field, out);
    add_children(shape, field->path, depth + 1, out);
    str_addf(out, "%*s%c%s\n", (int)depth * 2, "", field->type == AS_LIST ? ']' : '}', comma);
}

static const AnswerField *child_after(const AnswerShape *shape, const char *prefix, size_t from,
                                      size_t *at)
{
    for (size_t i = from; i < shape->field_count; i++) {
        if (answer_is_child(&shape->fields[i], prefix, strlen(prefix))) {
            *at = i;
            return &shape->fields[i];
        }
    }
    return NULL;
}

static void add_children(const AnswerShape *shape, const char *prefix, unsigned depth, Str *out)
{
    size_t at = 0, ahead;
    for (const AnswerField *field = child_after(shape, prefix, 0, &at); field;
         field = child_after(shape, prefix, at + 1, &at)) {
        const char *last = answer_last_part(field->path);
        str_addf(out, "%*s", (int)depth * 2, "");
        if (strcmp(last, "[]") != 0)
            str_addf(out, "\"%s\": ", last);
        add_value(shape, field, depth, child_after(shape, prefix, at + 1, &ahead) ? "," : "", out);
    }
}

void answer_schema(AnswerKind kind, Str *out)
{
    const AnswerShape *shape = answer_shape(kind);
    str_add(out, "{\n");
    add_children(shape, "", 1, out);
    str_add(out, "}\n");
    str_add(out, shape->rules);
    str_addf(out,
             "Plain JSON without comments, at most %d KB, a text at most %d characters unless it "
             "says less; other fields are ignored.\n",
             ANSWER_BYTES_MAX / 1024, ANSWER_TEXT_MAX);
}

/* ---- JSON Schema ---- */

static json_t *words_schema(const char *words)
{
    json_t *list = json_array(), *schema = json_object();
    bool has_step = false;
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (length == strlen(ANSWER_STEP_WORD) && memcmp(words, ANSWER_STEP_WORD, length) == 0)
            has_step = true;
        else
            json_array_append_new(list, json_stringn(words, length));
    }
    if (!has_step) {
        json_object_set_new(schema, "enum", list);
        return schema;
    }
    json_object_set_new(schema, "anyOf",
                        json_pack("[{s:o},{s:s,s:s}]", "enum", list, "type", "string", "pattern",
                                  "^\\(step-[1-9][0-9]{0,5}\\)$"));
    return schema;
}

static json_t *children_schema(const AnswerShape *shape, const char *prefix);

static json_t *leaf_schema(const AnswerField *field)
{
    switch (field->type) {
    case AS_TEXT:
        return json_pack("{s:s,s:I,s:I}", "type", "string", "minLength", (json_int_t)field->min,
                         "maxLength", (json_int_t)field->max);
    case AS_WORD:
        return words_schema(field->words);
    case AS_WHOLE:
        return json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum", (json_int_t)field->min,
                         "maximum", (json_int_t)field->max);
    case AS_NUMBER:
        return json_pack("{s:s,s:I,s:I}", "type", "number", "minimum", (json_int_t)field->min,
                         "maximum", (json_int_t)field->max);
    case AS_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case AS_R:
        return json_pack("{s:s,s:s}", "type", "string", "pattern", "^[Rr]?[1-9][0-9]{0,5}$");
    case AS_WEIGHT:
        return json_pack("{s:[{s:s,s:I,s:I},o]}", "anyOf", "type", "integer", "minimum",
                         (json_int_t)field->min, "maximum", (json_int_t)field->max,
                         words_schema(field->words));
    case AS_WORDS_BY_NAME:
        return json_pack("{s:s,s:I,s:o}", "type", "object", "maxProperties", (json_int_t)field->max,
                         "additionalProperties", words_schema(field->words));
    case AS_LIST:
    case AS_OBJECT:
        break;
    }
    return json_object();
}

static json_t *field_schema(const AnswerShape *shape, const AnswerField *field)
{
    json_t *schema;
    size_t at;
    if (field->type == AS_LIST) {
        const AnswerField *item = child_after(shape, field->path, 0, &at);
        schema = json_pack("{s:s,s:I,s:I,s:o}", "type", "array", "minItems", (json_int_t)field->min,
                           "maxItems", (json_int_t)field->max, "items", field_schema(shape, item));
    } else {
        schema =
            field->type == AS_OBJECT ? children_schema(shape, field->path) : leaf_schema(field);
    }
    json_object_set_new(schema, "description", json_string(field->help));
    return schema;
}

static json_t *children_schema(const AnswerShape *shape, const char *prefix)
{
    json_t *properties = json_object(), *required = json_array();
    size_t at = 0;
    for (const AnswerField *field = child_after(shape, prefix, 0, &at); field;
         field = child_after(shape, prefix, at + 1, &at)) {
        const char *name = answer_last_part(field->path);
        json_object_set_new(properties, name, field_schema(shape, field));
        if (!field->is_optional)
            json_array_append_new(required, json_string(name));
    }
    return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", properties, "required",
                     required);
}

static json_t *shape_schema(AnswerKind kind)
{
    const AnswerShape *shape = answer_shape(kind);
    json_t *schema = children_schema(shape, "");
    json_object_set_new(schema, "title", json_string(shape->name));
    json_object_set_new(schema, "description", json_string(shape->help));
    return schema;
}

static void add_pretty(json_t *schema, Str *out)
{
    char *text = json_write_pretty(schema);
    str_add(out, text);
    str_add_char(out, '\n');
    free(text);
    json_decref(schema);
}

#define DRAFT "https://json-schema.org/draft/2020-12/schema"

void answer_json_schema(AnswerKind kind, Str *out)
{
    json_t *schema = shape_schema(kind);
    json_object_set_new(schema, "$schema", json_string(DRAFT));
    add_pretty(schema, out);
}

void answer_json_schema_all(Str *out)
{
    json_t *shapes = json_object();
    for (unsigned i = 0; i < ANSWER_KIND_COUNT; i++)
        json_object_set_new(shapes, answer_kind_word((AnswerKind)i), shape_schema((AnswerKind)i));
    add_pretty(
        json_pack("{s:s,s:s,s:o}", "$schema", DRAFT, "title", "Answers of agents", "$defs", shapes),
        out);
}
