/* Prompts: the project's own texts, the size, the hash. See prompt.h. */
#include "agent/prompt_parts.h"
#include "base/macros.h"
#include "core/field.h"

/* ---- mistakes in a template ---- */

static int line_at(const char *text, const char *place)
{
    int line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

static bool unknown(const char *file, int line, const char *what, const char *name,
                    const char *const *known, size_t count, Err *err)
{
    const char *near = text_nearest(name, known, count);
    return err_set(err, ERR_USAGE, "'%s' line %d: unknown %s '%s'%s%s%s", file, line, what, name,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool unknown_blank(const char *file, int line, const char *name, Err *err)
{
    enum { MOST = 200 };
    const char *known[MOST];
    size_t count;
    const PromptBlank *blanks = prompt_blanks(&count);
    count = MIN(count, (size_t)MOST);
    for (size_t i = 0; i < count; i++)
        known[i] = blanks[i].name;
    return unknown(file, line, "blank", name, known, count, err);
}

bool prompt_check(const char *file, const char *template_text, Err *err)
{
    PromptPiece piece;
    Err bad = {0};
    const char *text = template_text;
    for (; prompt_piece_next(text, &piece, file, &bad); text = piece.end) {
        char name[64];
        int line = line_at(template_text, piece.begin);
        prompt_value_name(piece.name, name);
        bool is_blank = piece.kind == PIECE_LINE || piece.kind == PIECE_DATA;
        if (is_blank && !prompt_blank_find(piece.name))
            return unknown_blank(file, line, piece.name, err);
        if (!is_blank && field_check_name(piece.name))
            return err_set(err, ERR_USAGE, "'%s' line %d: '%s' cannot be included", file, line,
                           piece.name);
        if (piece.kind == PIECE_OPTIONAL && !prompt_blank_find(name))
            return unknown_blank(file, line, name, err);
    }
    return bad.kind == ERR_NONE || err_set(err, bad.kind, "%s", bad.text);
}

/* ---- which texts ---- */

static uint64_t hash_add(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Text of one prompt, checked when it is the project's own. */
static const char *source_checked(const PromptJob *job, const char *name, Err *err)
{
    bool is_own;
    const char *text = prompt_source(job->find, job->user, name, &is_own);
    if (!text)
        (void)err_set(err, ERR_NOT_FOUND, "there is no prompt '%s'", name); /* NULL says it */
    if (!text || !is_own)
        return text;
    char file[128];
    (void)snprintf(file, sizeof file, PROMPT_FOLDER "/%s.md", name); /* cut: only a message */
    return prompt_check(file, text, err) ? text : NULL;
}

/* Checks the template and all it includes, and adds them to the hash. */
static bool sources_read(const PromptJob *job, const char *text, uint64_t *hash, Err *err)
{
    PromptPiece piece;
    *hash = hash_add(*hash, text);
    for (; prompt_piece_next(text, &piece, job->name, NULL); text = piece.end) {
        if (piece.kind != PIECE_INCLUDE && piece.kind != PIECE_OPTIONAL)
            continue;
        const char *part = source_checked(job, piece.name, err);
        if (!part)
            return err_add(err, "prompt '%s'", job->name);
        *hash = hash_add(*hash, part);
    }
    return true;
}

/* ---- the size ---- */

/* Where a cut at most bytes from the begin ends: after a whole line if one ends near, else after a
 * whole character. */
static size_t cut_begin(const char *text, size_t most)
{
    size_t at = most;
    while (at > most / 4 * 3 && text[at - 1] != '\n')
        at--;
    if (at && text[at - 1] == '\n')
        return at;
    for (at = most; at && ((unsigned char)text[at] & 0xc0) == 0x80;)
        at--;
    return at;
}

/* Where the last most bytes of a text begin, by the same rule. */
static size_t cut_end(const char *text, size_t length, size_t most)
{
    size_t from = length - most, at = from;
    while (at < length - most / 4 * 3 && text[at - 1] != '\n')
        at++;
    if (at < length && text[at - 1] == '\n')
        return at;
    for (at = from; at < length && ((unsigned char)text[at] & 0xc0) == 0x80;)
        at++;
    return at;
}

void prompt_cut(const char *text, size_t most, bool keeps_end, Str *out)
{
    size_t length = strlen(text);
    if (length <= most) {
        str_add(out, text);
        return;
    }
    size_t at = keeps_end ? cut_end(text, length, most) : cut_begin(text, most);
    size_t left_out = keeps_end ? at : length - at;
    if (keeps_end) {
        str_addf(out, "[%zu bytes before this were left out]\n", left_out);
        str_add(out, text + at);
        return;
    }
    str_add_bytes(out, text, at);
    str_addf(out, "%s[%zu bytes after this were left out]\n",
             at && text[at - 1] != '\n' ? "\n" : "", left_out);
}

static PromptValue *value_of(PromptValue *values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(values[i].name, name))
            return &values[i];
    return NULL;
}

static void value_cut(PromptValue *value, const PromptBlank *blank, size_t most, Arena *arena)
{
    CLEANUP(str_done) Str cut = STR_INIT;
    prompt_cut(value->text, most, blank->keeps_end, &cut);
    value->text = arena_strdup(arena, str_text(&cut));
}

static bool render_once(const PromptJob *job, PromptValues values, const char *text, Str *out,
                        Err *err)
{
    PromptValue *tag = value_of((PromptValue *)values.items, values.count, "tag");
    PromptRender render = {.name = job->name,
                           .values = values,
                           .find = job->find,
                           .user = job->user,
                           .out = out,
                           .err = err,
                           .tag = tag ? tag->text : NULL};
    str_clear(out);
    return prompt_render_into(&render, text);
}

/* Renders, and while it is too long cuts the next value in the order of the table. */
static bool render_fitting(const PromptJob *job, const char *text, Str *out, Err *err)
{
    enum { NOTE_BYTES = 64 }; /* what a cut adds to say so */
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    size_t limit = job->limit_bytes ? job->limit_bytes : PROMPT_LIMIT_BYTES, blank_count;
    const PromptBlank *blanks = prompt_blanks(&blank_count);
    size_t count = job->values.count;
    PromptValue *values = arena_alloc(&arena, (count + 1) * sizeof *values);
    if (count)
        memcpy(values, job->values.items, count * sizeof *values);
    for (size_t i = 0; i < count; i++) { /* nobody needs more of it than a whole prompt */
        if (!values[i].text || strnlen(values[i].text, limit + 1) <= limit)
            continue;
        const PromptBlank *blank = prompt_blank_find(values[i].name);
        if (blank && blank->trim != PROMPT_KEEP)
            value_cut(&values[i], blank, limit, &arena);
    }
    PromptValues all = {values, count};
    if (!render_once(job, all, text, out, err))
        return false;
    for (size_t i = 0; i < blank_count && out->length > limit; i++) {
        PromptValue *value = value_of(values, count, blanks[i].name);
        if (blanks[i].trim == PROMPT_KEEP || !value || !value->text || !*value->text)
            continue;
        size_t over = out->length - limit + NOTE_BYTES, has = strlen(value->text);
        value_cut(value, &blanks[i], has > over ? has - over : 0, &arena);
        if (!render_once(job, all, text, out, err))
            return false;
    }
    return true;
}

bool prompt_build(const PromptJob *job, Str *out, uint64_t *hash, Err *err)
{
    CLEANUP(str_done) Str fresh = STR_INIT;
    uint64_t found = UINT64_C(0xcbf29ce484222325);
    const char *text = source_checked(job, job->name, err);
    if (!text || !sources_read(job, text, &found, err) || !render_fitting(job, text, &fresh, err))
        return false;
    if (fresh.length > PROMPT_MOST_BYTES)
        return err_set(err, ERR_TOO_BIG, "prompt '%s' is larger than %d KB", job->name,
                       PROMPT_MOST_BYTES >> 10);
    str_add_bytes(out, str_text(&fresh), fresh.length);
    if (hash)
        *hash = found;
    return true;
}
