/* Prompts: filling the blanks. See prompt.h. */
#include "agent/prompt.h"
#include "agent/embedded.h"
#include "base/macros.h"

typedef struct Render {
    const char *name;
    PromptValues values;
    Str *out;
    Err *err;
    int depth;
} Render;

static const char *value_find(const Render *render, const char *name)
{
    for (size_t i = 0; i < render->values.count; i++)
        if (text_equal(render->values.items[i].name, name))
            return render->values.items[i].text ? render->values.items[i].text : "";
    return NULL;
}

/* Is this '<' the begin of an opening or closing tag of the run? */
static bool opens_tag(const Render *render, const char *at)
{
    const char *tag = value_find(render, "tag");
    return tag && *tag && text_starts(at + 1 + (at[1] == '/'), tag);
}

static void add_value(Render *render, const char *text, bool one_line)
{
    for (const char *c = text; *c; c++) {
        bool is_control = (unsigned char)*c < 0x20 || *c == 0x7f;
        if (*c == '<' && opens_tag(render, c))
            str_add_char(render->out, '('); /* '[' would look like a malformed signal */
        else if (is_control && (one_line || (*c != '\n' && *c != '\t')))
            str_add_char(render->out, ' ');
        else
            str_add_char(render->out, *c);
    }
}

static size_t longest_run(const char *text, char mark)
{
    size_t best = 0, run = 0;
    for (; *text; text++) {
        run = *text == mark ? run + 1 : 0;
        best = MAX(best, run);
    }
    return best;
}

static void add_fence(Str *out, size_t length)
{
    for (size_t i = 0; i < length; i++)
        str_add_char(out, '~');
    str_add_char(out, '\n');
}

/* The fence is longer than any run of its mark inside, so no line of the text can close it. */
static void add_data(Render *render, const char *text)
{
    size_t length = MAX(longest_run(text, '~') + 1, 5);
    add_fence(render->out, length);
    add_value(render, *text ? text : "(nothing)", false);
    if (render->out->bytes[render->out->length - 1] != '\n')
        str_add_char(render->out, '\n');
    add_fence(render->out, length);
    render->out->bytes[--render->out->length] = '\0'; /* the template goes on after the blank */
}

static bool render_text(Render *render, const char *text);

static bool add_include(Render *render, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "prompts/%s.md", name); /* cut: then it is not found */
    const EmbeddedFile *file = embedded_find(path);
    if (!file || render->depth > 0)
        return err_set(render->err, ERR_USAGE, "prompt '%s': cannot include '%s'", render->name,
                       name);
    render->depth++;
    bool is_added = render_text(render, file->bytes);
    render->depth--;
    return is_added;
}

static bool add_blank(Render *render, const char *blank)
{
    if (text_starts(blank, "include "))
        return add_include(render, blank + strlen("include "));
    bool is_data = text_starts(blank, "data ");
    const char *name = is_data ? blank + strlen("data ") : blank;
    const char *value = value_find(render, name);
    if (!value)
        return err_set(render->err, ERR_USAGE, "prompt '%s': nothing is known for the blank '%s'",
                       render->name, name);
    if (is_data)
        add_data(render, value);
    else if (text_equal(name, "tag"))
        str_add(render->out, value);
    else
        add_value(render, value, true);
    return true;
}

static bool render_text(Render *render, const char *text)
{
    enum { MOST_BLANK = 64 };
    const char *open;
    while ((open = strstr(text, "{{"))) {
        const char *close = strstr(open, "}}");
        if (!close || close - open - 2 >= MOST_BLANK)
            return err_set(render->err, ERR_USAGE, "prompt '%s': '%.20s' has no '}}'", render->name,
                           open);
        char blank[MOST_BLANK];
        (void)snprintf(blank, sizeof blank, "%.*s", (int)(close - open - 2), open + 2); /* fits */
        str_add_bytes(render->out, text, (size_t)(open - text));
        if (!add_blank(render, blank))
            return false;
        text = close + 2;
    }
    str_add(render->out, text);
    return true;
}

bool prompt_render_text(const char *name, const char *template_text, PromptValues values, Str *out,
                        Err *err)
{
    CLEANUP(str_done) Str fresh = STR_INIT;
    Render render = {name, values, &fresh, err, 0};
    if (!render_text(&render, template_text))
        return false;
    if (fresh.length > PROMPT_MOST_BYTES)
        return err_set(err, ERR_TOO_BIG, "prompt '%s' is larger than %d KB", name,
                       PROMPT_MOST_BYTES >> 10);
    str_add_bytes(out, str_text(&fresh), fresh.length);
    return true;
}

static const EmbeddedFile *prompt_find(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "prompts/%s.md", name); /* cut: then it is not found */
    return embedded_find(path);
}

bool prompt_render(const char *name, PromptValues values, Str *out, Err *err)
{
    const EmbeddedFile *file = prompt_find(name);
    if (!file)
        return err_set(err, ERR_NOT_FOUND, "there is no prompt '%s'", name);
    return prompt_render_text(name, file->bytes, values, out, err);
}

uint64_t prompt_hash(const char *name)
{
    const EmbeddedFile *file = prompt_find(name);
    return file ? file->hash : 0;
}
