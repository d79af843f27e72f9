/* Documents as Markdown (CommonMark with tables): see doc.h. */
#include "record/doc.h"
#include <ctype.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* What would begin a heading, a list, a quote or a rule at the start of a line. */
static bool is_marker(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits && digits < 10 && (text[digits] == '.' || text[digits] == ')'))
        return true;
    return *text && strchr("#>-+=~", *text);
}

static bool needs_backslash(const char *start, const char *at, MarkdownPlace place)
{
    if (*at == ']') /* brackets alone are text; a link needs what follows */
        return at[1] && strchr("([:", at[1]);
    if (strchr("\\`*", *at) || (*at == '|' && place == MARKDOWN_TABLE))
        return true;
    if (*at == '_') /* inside a word it means nothing */
        return at == start || !is_letter(at[-1]) || !is_letter(at[1]);
    return *at == '~' && (at[1] == '~' || (at > start && at[-1] == '~'));
}

void markdown_escape(Str *out, const char *text, MarkdownPlace place)
{
    size_t digits = strspn(text, "0123456789");
    const char *marker = place == MARKDOWN_START && is_marker(text) ? text + digits : NULL;
    for (const char *at = text; *at; at++) {
        if (*at == '<')
            str_add(out, "&lt;"); /* readers that know no backslash must see no tag either */
        else if (*at == '&' && (isalpha((unsigned char)at[1]) || at[1] == '#'))
            str_add(out, "&amp;");
        else if (needs_backslash(text, at, place) || at == marker)
            str_addf(out, "\\%c", *at);
        else
            str_add_char(out, *at);
    }
}

static size_t longest_run(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t run = strspn(text, "`");
        longest = MAX(longest, run);
        text += run ? run : 1;
    }
    return longest;
}

static void add_ticks(Str *out, size_t count)
{
    while (count--)
        str_add_char(out, '`');
}

void markdown_code(Str *out, const char *text, bool in_table)
{
    size_t ticks = longest_run(text) + 1, length = strlen(text);
    if (!length)
        return;
    bool needs_space = text[0] == '`' || text[length - 1] == '`';
    add_ticks(out, ticks);
    str_add(out, needs_space ? " " : "");
    for (; *text; text++) {
        if (in_table && *text == '|')
            str_add_char(out, '\\'); /* tables are split before code is seen */
        str_add_char(out, *text);
    }
    str_add(out, needs_space ? " " : "");
    add_ticks(out, ticks);
}

/* Somebody's Markdown keeps its shape; tags, links and pictures become text. */
void markdown_quote(Str *out, const char *text)
{
    str_add(out, "> ");
    for (; *text; text++) {
        if (*text == '<')
            str_add(out, "&lt;");
        else if (*text == ']' && text[1] && strchr("([:", text[1]))
            str_add(out, "]\\");
        else
            str_add_char(out, *text);
        if (*text == '\n')
            str_add(out, text[1] == '\n' ? ">" : "> ");
    }
    str_add_char(out, '\n');
}

void markdown_fence(Str *out, const char *text)
{
    size_t ticks = MAX(longest_run(text) + 1, 3u);
    add_ticks(out, ticks);
    str_addf(out, "\n%s\n", text);
    add_ticks(out, ticks);
    str_add_char(out, '\n');
}

/* Blocks are separated by one empty line. */
static void separate(Doc *doc)
{
    if (doc->body.length)
        str_add_char(&doc->body, '\n');
}

static void heading(Doc *doc, unsigned level, const char *text)
{
    separate(doc);
    while (level--)
        str_add_char(&doc->body, '#');
    str_add_char(&doc->body, ' ');
    markdown_escape(&doc->body, text, MARKDOWN_INSIDE);
    str_add_char(&doc->body, '\n');
}

static void paragraph(Doc *doc, const char *text)
{
    separate(doc);
    markdown_escape(&doc->body, text, MARKDOWN_START);
    str_add_char(&doc->body, '\n');
}

static void open_block(Doc *doc, DocKind kind)
{
    (void)kind;
    separate(doc);
}

static void close_block(Doc *doc, DocKind kind)
{
    (void)doc;
    (void)kind;
}

static void fact(Doc *doc, const char *name, const char *value)
{
    str_addf(&doc->body, "- **%s:** ", name);
    markdown_escape(&doc->body, value, MARKDOWN_INSIDE);
    str_add_char(&doc->body, '\n');
}

static void item(Doc *doc, const char *text)
{
    str_add(&doc->body, "- ");
    markdown_escape(&doc->body, text, MARKDOWN_START);
    str_add_char(&doc->body, '\n');
}

static void heads(Doc *doc, const char *const *names)
{
    str_add_char(&doc->body, '|');
    for (size_t i = 0; i < doc->columns; i++)
        str_addf(&doc->body, " %s |", names[i] + (*names[i] == '>'));
    str_add(&doc->body, "\n|");
    for (size_t i = 0; i < doc->columns; i++)
        str_add(&doc->body, *names[i] == '>' ? "---:|" : "---|");
    str_add_char(&doc->body, '\n');
}

static void cell(Doc *doc, DocCell kind, const char *text)
{
    str_add(&doc->body, doc->column ? " " : "| ");
    if (kind == CELL_CODE)
        markdown_code(&doc->body, text, true);
    else
        markdown_escape(&doc->body, text, MARKDOWN_TABLE);
    str_add(&doc->body, *text ? " |" : "|");
    if (doc->column + 1 == doc->columns)
        str_add_char(&doc->body, '\n');
}

static void block(Doc *doc, DocBlock kind, const char *text)
{
    separate(doc);
    if (kind == BLOCK_PLAIN)
        str_addf(&doc->body, "%s\n", text);
    else if (kind == BLOCK_QUOTE)
        markdown_quote(&doc->body, text);
    else
        markdown_fence(&doc->body, text);
}

static void finish(Doc *doc, Str *out)
{
    str_add(out, "# ");
    markdown_escape(out, doc->title, MARKDOWN_INSIDE);
    str_add(out, doc->body.length ? "\n\n" : "\n");
    str_add_bytes(out, str_text(&doc->body), doc->body.length);
}

const DocOps doc_markdown = {
    .heading = heading,
    .text = paragraph,
    .fact = fact,
    .item = item,
    .open = open_block,
    .close = close_block,
    .heads = heads,
    .cell = cell,
    .block = block,
    .finish = finish,
};
