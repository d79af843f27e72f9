/* A plan as Markdown, for people and for later prompts. */
#include "core/excerpt.h"
#include "core/plan.h"
#include <string.h>

enum { LINE_BYTES = 32000 }; /* more than any text of an answer has */

static void add_line(Str *out, const char *text)
{
    excerpt_add(out, text, LINE_BYTES);
}

/* Each line of a longer text, indented. */
static void add_text(Str *out, const char *indent, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        str_add(out, length ? indent : "");
        str_add_safe(out, text, length, false);
        str_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
}

static void add_code(Str *out, const char *text)
{
    const char *fence = strchr(text, '`') ? "`` " : "`";
    str_add(out, fence);
    add_line(out, text);
    str_add(out, fence[1] ? " ``" : "`");
}

static void add_joined(Str *out, const char *title, const json_t *list, bool is_code)
{
    size_t i;
    json_t *item;
    if (json_array_size(list) == 0)
        return;
    str_addf(out, "   %s: ", title);
    json_array_foreach(list, i, item)
    {
        str_add(out, i ? ", " : "");
        if (is_code)
            add_code(out, json_string_value(item));
        else
            add_line(out, json_string_value(item));
    }
    str_add_char(out, '\n');
}

static void add_check(Str *out, const json_t *check)
{
    const char *name = json_text(check, "name", "");
    str_addf(out, "   - [VH: %s] ", json_text(check, "mode", "executable"));
    add_line(out, name);
    str_add(out, *name ? ": " : "");
    add_code(out, json_text(check, "command", ""));
    str_add_char(out, '\n');
}

static void add_step(Str *out, const json_t *step, size_t number, bool is_done)
{
    size_t i;
    json_t *check;
    str_addf(out, "%zu. [%c] **", number, is_done ? 'x' : ' ');
    add_line(out, json_text(step, "title", ""));
    str_add(out, "**\n");
    add_text(out, "   ", json_text(step, "detail", ""));
    add_joined(out, "Covers", json_object_get(step, "covers"), false);
    add_joined(out, "Files", json_object_get(step, "files"), true);
    json_array_foreach(json_object_get(step, "checks"), i, check)
    {
        add_check(out, check);
    }
}

static void add_list(Str *out, const char *title, const json_t *list, bool is_code)
{
    size_t i;
    json_t *item;
    if (json_array_size(list) > 0)
        str_addf(out, "\n## %s\n\n", title);
    json_array_foreach(list, i, item)
    {
        str_add(out, "- ");
        if (is_code)
            add_code(out, json_string_value(item));
        else
            add_line(out, json_string_value(item));
        str_add_char(out, '\n');
    }
}

void plan_markdown(const json_t *plan, const PlanOptions *options, Str *out)
{
    size_t i;
    json_t *step;
    const char *type = json_text(plan, "type", "");
    str_add(out, "# ");
    add_line(out, options->title ? options->title : "Plan");
    str_add(out, "\n\n");
    add_text(out, "", json_text(plan, "summary", ""));
    if (*type) {
        str_add(out, "\nType: ");
        add_line(out, type);
        str_add_char(out, '\n');
    }
    str_add(out, "\n## Steps\n\n");
    json_array_foreach(json_object_get(plan, "steps"), i, step)
    {
        add_step(out, step, i + 1, i < options->completed);
    }
    add_list(out, "Done when", json_object_get(plan, "criteria"), false);
    add_list(out, "Scope", json_object_get(plan, "scope"), true);
    add_list(out, "Risks", json_object_get(plan, "risks"), false);
}
