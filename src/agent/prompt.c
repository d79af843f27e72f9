/* Prompts: filling the blanks. See prompt.h. */
#include "agent/prompt.h"
#include "agent/embedded.h"
#include "agent/prompt_parts.h"
#include "base/macros.h"
#include "core/field.h"

static const EmbeddedFile *file_find(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "prompts/%s.md", name); /* cut: then it is not found */
    return embedded_find(path);
}

const char *prompt_text(const char *name)
{
    const EmbeddedFile *file = file_find(name);
    return file ? file->bytes : NULL;
}

uint64_t prompt_hash(const char *name)
{
    const EmbeddedFile *file = file_find(name);
    return file ? file->hash : 0;
}

const char *prompt_source(PromptFind *find, void *user, const char *name, bool *is_own)
{
    const char *own = find ? find(user, name) : NULL;
    *is_own = own != NULL;
    return own ? own : prompt_text(name);
}

void prompt_value_name(const char *include, char out[64])
{
    size_t i = 0;
    for (; i < 63 && include[i]; i++)
        out[i] = include[i] == '-' ? '_' : include[i];
    out[i] = '\0';
}

bool prompt_piece_next(const char *text, PromptPiece *piece, const char *name, Err *err)
{
    static const struct {
        const char *head;
        int kind;
    } kinds[] = {{"data ", PIECE_DATA},
                 {"include ", PIECE_INCLUDE},
                 {"optional ", PIECE_OPTIONAL},
                 {"", PIECE_LINE}};
    piece->begin = strstr(text, "{{");
    if (!piece->begin)
        return false;
    const char *close = strstr(piece->begin, "}}");
    size_t length = close ? (size_t)(close - piece->begin) - 2 : 0;
    if (!close || length >= sizeof piece->name) {
        (void)err_set(err, ERR_USAGE, "prompt '%s': '%.20s' has no '}}'", name,
                      piece->begin); /* the result says it failed */
        return false;
    }
    const char *words = piece->begin + 2;
    size_t row = 0, head;
    while (head = strlen(kinds[row].head), head > length || !text_starts(words, kinds[row].head))
        row++;
    piece->kind = kinds[row].kind;
    memcpy(piece->name, words + head, length - head);
    piece->name[length - head] = '\0';
    piece->end = close + 2;
    return true;
}

static const char *value_find(const PromptRender *render, const char *name)
{
    for (size_t i = 0; i < render->values.count; i++) {
        const PromptValue *value = &render->values.items[i];
        if (*value->name == *name && text_equal(value->name, name)) /* some thousand a prompt */
            return value->text ? value->text : "";
    }
    return NULL;
}

/* Is this '<' the begin of an opening or closing tag of the run? */
static bool opens_tag(const PromptRender *render, const char *at)
{
    return render->tag && *render->tag && text_starts(at + 1 + (at[1] == '/'), render->tag);
}

static void add_value(PromptRender *render, const char *text, bool one_line)
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
static void add_data(PromptRender *render, const char *text)
{
    size_t length = MAX(longest_run(text, '~') + 1, 5);
    add_fence(render->out, length);
    add_value(render, *text ? text : "(nothing)", false);
    if (render->out->bytes[render->out->length - 1] != '\n')
        str_add_char(render->out, '\n');
    add_fence(render->out, length);
    render->out->bytes[--render->out->length] = '\0'; /* the template goes on after the blank */
}

static bool add_include(PromptRender *render, const char *name, bool is_wanted)
{
    bool is_own;
    const char *text = prompt_source(render->find, render->user, name, &is_own);
    if (!text || render->depth > 0)
        return err_set(render->err, ERR_USAGE, "prompt '%s': cannot include '%s'", render->name,
                       name);
    if (!is_wanted)
        return true;
    render->depth++;
    bool is_added = prompt_render_into(render, text);
    render->depth--;
    return is_added;
}

static bool missing(const PromptRender *render, const char *name)
{
    enum { MOST_NAMES = 200 };
    const char *names[MOST_NAMES];
    size_t count = MIN(render->values.count, (size_t)MOST_NAMES);
    for (size_t i = 0; i < count; i++)
        names[i] = render->values.items[i].name;
    const char *near = text_nearest(name, names, count);
    return err_set(render->err, ERR_USAGE, "prompt '%s': nothing is known for the blank '%s'%s%s%s",
                   render->name, name, near ? ", did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

static bool add_piece(PromptRender *render, const PromptPiece *piece, const char *value)
{
    if (piece->kind == PIECE_INCLUDE || piece->kind == PIECE_OPTIONAL)
        return add_include(render, piece->name, piece->kind == PIECE_INCLUDE || *value);
    if (!value)
        return missing(render, piece->name);
    if (piece->kind == PIECE_DATA)
        add_data(render, value);
    else if (text_equal(piece->name, "tag"))
        str_add(render->out, value);
    else
        add_value(render, value, true);
    return true;
}

/* A part that is left out takes its line along, and the empty line after it. */
static const char *skip_line(const Str *out, const char *text)
{
    if (out->length && out->bytes[out->length - 1] != '\n')
        return text;
    text += *text == '\n';
    return text + (*text == '\n');
}

bool prompt_render_into(PromptRender *render, const char *text)
{
    PromptPiece piece = {0};
    Err bad = {0};
    while (prompt_piece_next(text, &piece, render->name, &bad)) {
        char value_name[64];
        const char *name = piece.name;
        if (piece.kind == PIECE_OPTIONAL) {
            prompt_value_name(piece.name, value_name);
            name = value_name;
        }
        const char *value = value_find(render, name);
        if (piece.kind == PIECE_OPTIONAL && !value)
            return missing(render, name);
        str_add_bytes(render->out, text, (size_t)(piece.begin - text));
        if (!add_piece(render, &piece, value))
            return false;
        bool is_left_out = piece.kind == PIECE_OPTIONAL && !*value;
        text = is_left_out ? skip_line(render->out, piece.end) : piece.end;
    }
    if (bad.kind != ERR_NONE)
        return err_set(render->err, bad.kind, "%s", bad.text);
    str_add(render->out, text);
    return true;
}

bool prompt_render_text(const char *name, const char *template_text, PromptValues values, Str *out,
                        Err *err)
{
    CLEANUP(str_done) Str fresh = STR_INIT;
    PromptRender render = {.name = name, .values = values, .out = &fresh, .err = err};
    render.tag = value_find(&render, "tag");
    if (!prompt_render_into(&render, template_text))
        return false;
    if (fresh.length > PROMPT_MOST_BYTES)
        return err_set(err, ERR_TOO_BIG, "prompt '%s' is larger than %d KB", name,
                       PROMPT_MOST_BYTES >> 10);
    str_add_bytes(out, str_text(&fresh), fresh.length);
    return true;
}

bool prompt_render(const char *name, PromptValues values, Str *out, Err *err)
{
    const char *text = prompt_text(name);
    if (!text)
        return err_set(err, ERR_NOT_FOUND, "there is no prompt '%s'", name);
    return prompt_render_text(name, text, values, out, err);
}
