/* The half of a document that is the same for every format: see doc.h. */
#include "record/doc.h"
#include "record/plain.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void doc_init(Doc *doc, RecordFormat format, const char *title)
{
    *doc = (Doc){.ops = format == RECORD_AS_HTML ? &doc_html : &doc_markdown};
    doc->title = plain_line(&doc->arena, title, RECORD_CELL_MAX);
}

void doc_done(Doc *doc)
{
    arena_done(&doc->arena);
    str_done(&doc->body);
    str_done(&doc->contents);
}

/* Only asked where a row or a block begins, so that nothing is left half written. */
static bool has_room(Doc *doc)
{
    doc->is_full = doc->is_full || doc->body.length > RECORD_DOCUMENT_MAX;
    return !doc->is_full;
}

static void switch_to(Doc *doc, DocKind kind)
{
    if (doc->kind == kind && kind != DOC_TABLE)
        return;
    while (doc->kind == DOC_TABLE && doc->column)
        doc->ops->cell(doc, CELL_TEXT, ""), doc->column = (doc->column + 1) % doc->columns;
    if (doc->kind != DOC_NONE)
        doc->ops->close(doc, doc->kind);
    doc->kind = kind;
    if (kind != DOC_NONE)
        doc->ops->open(doc, kind);
}

void doc_end(Doc *doc)
{
    switch_to(doc, DOC_NONE);
}

void doc_finish(Doc *doc, Str *out)
{
    doc_end(doc);
    if (doc->is_full)
        doc->ops->text(doc, "The rest is left out: the document would be too long.");
    doc->ops->finish(doc, out);
}

void doc_heading(Doc *doc, unsigned level, const char *text)
{
    CLEANUP(str_done) Str line = STR_INIT;
    if (!has_room(doc))
        return;
    doc_end(doc);
    plain_add_line(&line, text, RECORD_CELL_MAX);
    doc->ops->heading(doc, level, str_text(&line));
}

void doc_text(Doc *doc, const char *text)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, text, RECORD_TEXT_MAX);
    if (!line.length || !has_room(doc))
        return;
    doc_end(doc);
    doc->ops->text(doc, str_text(&line));
}

void doc_fact(Doc *doc, const char *name, const char *value)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, value ? value : "", RECORD_CELL_MAX);
    if (!line.length || !has_room(doc))
        return;
    switch_to(doc, DOC_FACTS);
    doc->ops->fact(doc, name, str_text(&line));
}

void doc_item(Doc *doc, const char *text)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, text, RECORD_CELL_MAX);
    if (!line.length || !has_room(doc))
        return;
    switch_to(doc, DOC_LIST);
    doc->ops->item(doc, str_text(&line));
}

void doc_table(Doc *doc, const char *const *heads, size_t count)
{
    if (!has_room(doc))
        return;
    doc_end(doc);
    doc->columns = count;
    doc->column = 0;
    switch_to(doc, DOC_TABLE);
    doc->ops->heads(doc, heads);
}

void doc_cell(Doc *doc, DocCell cell, const char *text)
{
    CLEANUP(str_done) Str line = STR_INIT;
    if (doc->is_full || (doc->column == 0 && !has_room(doc)))
        return;
    plain_add_line(&line, text ? text : "", RECORD_CELL_MAX);
    doc->ops->cell(doc, cell, str_text(&line));
    doc->column = (doc->column + 1) % doc->columns;
}

void doc_cell_time(Doc *doc, int64_t ms)
{
    char time[PLAIN_TIME_SIZE];
    plain_time(ms, time);
    doc_cell(doc, CELL_TIME, time);
}

void doc_block(Doc *doc, DocBlock block, const char *text)
{
    CLEANUP(str_done) Str lines = STR_INIT;
    plain_add_block(&lines, text ? text : "", RECORD_TEXT_MAX);
    if (!lines.length || !has_room(doc))
        return;
    doc_end(doc);
    doc->ops->block(doc, block, str_text(&lines));
}

size_t doc_skip(Doc *doc, size_t count)
{
    if (count <= RECORD_ROWS_MAX)
        return 0;
    doc_textf(doc, "%zu older rows are left out.", count - RECORD_ROWS_MAX);
    return count - RECORD_ROWS_MAX;
}

/* The printf forms. */
#define FORMATTED(text)                                                                            \
    CLEANUP(mem_freep) char *text = NULL;                                                          \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    if (vasprintf(&text, format, args) < 0)                                                        \
        abort(); /* out of memory */                                                               \
    va_end(args)

void doc_textf(Doc *doc, const char *format, ...)
{
    FORMATTED(text);
    doc_text(doc, text);
}

void doc_factf(Doc *doc, const char *name, const char *format, ...)
{
    FORMATTED(text);
    doc_fact(doc, name, text);
}

void doc_itemf(Doc *doc, const char *format, ...)
{
    FORMATTED(text);
    doc_item(doc, text);
}

void doc_cellf(Doc *doc, DocCell cell, const char *format, ...)
{
    FORMATTED(text);
    doc_cell(doc, cell, text);
}
