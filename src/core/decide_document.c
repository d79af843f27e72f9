/* docs/decide.md, made from the table. Each example is run, so the page cannot be wrong. */
#include "base/str.h"
#include "core/decide.h"
#include "core/decide_table.h"
#include <stdlib.h>

static void add_pretty(Str *out, const char *text)
{
    json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    char *pretty = json_write_pretty(json);
    str_add(out, pretty ? pretty : text);
    free(pretty);
    json_decref(json);
}

static void add_cell(Str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            str_add_char(out, '\\');
        str_add_char(out, *text);
    }
}

static void add_fields(Str *out, const DecideRow *row)
{
    str_add(out, "| field | type | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < row->field_count; i++) {
        const DecideField *field = &row->fields[i];
        str_addf(out, "| `%s`%s | %s | %s | ", field->path, field->is_optional ? "?" : "",
                 decide_type_word(field->type), field->fallback ? field->fallback : "");
        add_cell(out, field->help);
        if (field->words) {
            str_add(out, ": ");
            str_add(out, field->words);
        }
        str_add(out, " |\n");
    }
}

static void add_example(Str *out, const DecideRow *row, const DecideExample *example)
{
    int exit_code;
    Str input = STR_INIT;
    str_add(&input, example->input);
    char *answer = decide_run(row->name, str_text(&input), input.length, &exit_code);
    str_addf(out, "\n%s\n\n```json\n", example->title);
    add_pretty(out, example->input);
    str_add(out, "\n```\n\n```json\n");
    add_pretty(out, answer);
    str_add(out, "\n```\n");
    free(answer);
    str_done(&input);
}

static void add_row(Str *out, const DecideRow *row)
{
    str_addf(out, "\n## %s\n\n%s.\n\n", row->name, row->help);
    add_fields(out, row);
    str_add(out, "\nAnswer: ");
    str_add(out, row->answer);
    str_add(out, ".\n");
    for (unsigned i = 0; i < DECIDE_EXAMPLES_MAX && row->examples[i].input; i++)
        add_example(out, row, &row->examples[i]);
}

char *decide_document(void)
{
    Str out = STR_INIT;
    str_add(&out,
            "# otto decide\n\n"
            "Generated from the table of decisions; every example is run as a test. To write it "
            "again: `ninja docs-decide` in the build folder.\n\n"
            "`otto decide NAME < in.json` prints one JSON object and exits 0. Bad input gives "
            "`{\"error\":{\"kind\":\"bad-input\",\"message\":…}}` with `field`, `value` and "
            "`allowed` where they help, and exit code 1. Unknown fields are ignored; `null` counts "
            "as missing; fields marked `?` may be missing. Times are milliseconds (epoch for "
            "points in time); no decision reads a clock. Ids are texts or whole numbers and come "
            "back as given; numbers sort by value and before texts, texts by their bytes. The "
            "input may have up to 16 MB.\n\n"
            "| name | decides |\n|---|---|\n");
    for (size_t i = 0; i < decide_row_count; i++)
        str_addf(&out, "| [%s](#%s) | %s |\n", decide_rows[i].name, decide_rows[i].name,
                 decide_rows[i].help);
    for (size_t i = 0; i < decide_row_count; i++)
        add_row(&out, &decide_rows[i]);
    str_add(&out, "\n## Workflows\n\nEvery row that `route` and `transition` may name: "
                  "[workflows.md](workflows.md).\n");
    str_add(&out, "\n## Words of effects and actions\n\n| word | meaning |\n|---|---|\n");
    for (unsigned i = 1; i < ACTION_COUNT; i++)
        str_addf(&out, "| `%s` | %s |\n", action_word((Action)i), action_help((Action)i));
    return str_take(&out);
}
