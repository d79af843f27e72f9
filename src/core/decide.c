/* `otto decide`: see decide.h. The table is in decide_rows.c. */
#include "core/decide.h"
#include "base/str.h"
#include "core/decide_table.h"
#include <string.h>

static const DecideRow *row_find(const char *name)
{
    for (size_t i = 0; i < decide_row_count; i++) {
        if (strcmp(decide_rows[i].name, name) == 0)
            return &decide_rows[i];
    }
    return NULL;
}

static const char *nearest(const char *name)
{
    const char *best = NULL;
    unsigned least = 4; /* further away is no slip of the finger */
    for (size_t i = 0; i < decide_row_count; i++) {
        unsigned distance = text_distance(name, decide_rows[i].name, least);
        if (distance < least) {
            least = distance;
            best = decide_rows[i].name;
        }
    }
    return best;
}

static void fail_name(DecideInput *in, const char *name)
{
    json_t *names = json_array(), *value = json_string(name);
    const char *near = strlen(name) < 64 ? nearest(name) : NULL;
    for (size_t i = 0; i < decide_row_count; i++)
        json_array_append_new(names, json_string(decide_rows[i].name));
    (void)decide_fail(in, "name", value, names, "there is no decision '%.64s'%s%s%s", name,
                      near ? ", did you mean '" : "; see: otto decide --list", near ? near : "",
                      near ? "'?" : ""); /* always false */
    json_decref(value);
}

static json_t *read_input(DecideInput *in, const char *text, size_t length)
{
    json_error_t problem;
    const char *blank = text;
    if (length > DECIDE_INPUT_MAX) {
        (void)decide_fail(in, "", NULL, NULL, "the input has %zu bytes, more than the limit of %d",
                          length, DECIDE_INPUT_MAX); /* NULL says it failed */
        return NULL;
    }
    while (blank < text + length && strchr(" \t\r\n", *blank) && *blank)
        blank++;
    if (blank == text + length) {
        (void)decide_fail(in, "", NULL, NULL,
                          "the input is empty: give a JSON object"); /* likewise */
        return NULL;
    }
    json_t *root = json_loadb(text, length,
                              JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
    if (!root) {
        (void)decide_fail(in, "", NULL, NULL, "not valid JSON: line %d, column %d: %s",
                          problem.line, problem.column, problem.text); /* likewise */
    } else if (!json_is_object(root)) {
        (void)decide_fail(in, "", root, NULL, "the input must be a JSON object"); /* likewise */
        json_decref(root);
        root = NULL;
    }
    return root;
}

/* The answer, or an error in `in`. */
static json_t *answer(DecideInput *in, const char *name, const char *text, size_t length)
{
    CLEANUP(json_freep) json_t *out = json_object();
    in->row = row_find(name);
    if (!in->row) {
        fail_name(in, name);
        return NULL;
    }
    CLEANUP(json_freep) json_t *root = read_input(in, text, length);
    in->root = root;
    if (!root || !decide_check(in) || !in->row->run(in, out))
        return NULL;
    return TAKE(out);
}

char *decide_run(const char *name, const char *json, size_t length, int *exit_code)
{
    DecideInput in = {.arena = ARENA_INIT};
    CLEANUP(json_freep) json_t *out = answer(&in, name, json, length);
    *exit_code = out ? 0 : 1;
    if (!out) {
        out = json_object();
        json_object_set_new(out, "error", in.error);
    }
    arena_done(&in.arena);
    return json_write(out);
}

char *decide_error_message(const char *text)
{
    CLEANUP(json_freep) json_t *root = json_loads(text, JSON_ALLOW_NUL, NULL);
    return mem_strdup(json_text(json_object_get(root, "error"), "message", NULL));
}

char *decide_list(void)
{
    Str out = STR_INIT;
    for (size_t i = 0; i < decide_row_count; i++)
        str_addf(&out, "%-14s %s\n", decide_rows[i].name, decide_rows[i].help);
    return str_take(&out);
}

static void add_bounds(Str *out, const DecideField *field)
{
    if (field->words) {
        str_add(out, "; one of: ");
        str_add(out, field->words);
    }
    if (field->type == IN_INT && (field->min != 0 || field->max != 0)) {
        if (field->max == INT64_MAX && field->min != INT64_MIN)
            str_addf(out, "; at least %lld", (long long)field->min);
        else if (field->max != INT64_MAX)
            str_addf(out, "; %lld to %lld", (long long)field->min, (long long)field->max);
    }
}

char *decide_help(const char *name)
{
    const DecideRow *row = row_find(name);
    Str out = STR_INIT;
    if (!row)
        return NULL;
    str_addf(&out, "otto decide %s: %s\n\nInput (JSON object on stdin):\n", row->name, row->help);
    for (size_t i = 0; i < row->field_count; i++) {
        const DecideField *field = &row->fields[i];
        str_addf(&out, "  %-22s %s%s", field->path, decide_type_word(field->type),
                 field->is_optional ? "" : ", required");
        if (field->fallback)
            str_addf(&out, ", default %s", field->fallback);
        str_addf(&out, "\n  %-22s   %s", "", field->help);
        add_bounds(&out, field);
        str_add_char(&out, '\n');
    }
    str_addf(&out, "\nAnswer:\n  %s\n\nExample:\n  echo '%s' | otto decide %s\n", row->answer,
             row->examples[0].input, row->name);
    return str_take(&out);
}
