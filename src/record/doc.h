/* A document written once and rendered as Markdown or HTML.
 *
 * Headings, paragraphs, facts, lists, tables and blocks of text come one after another; a block
 * that is open is closed by whatever follows. Every text is cleaned, bounded (record.h) and escaped
 * here: callers hand over what they found. Once RECORD_DOCUMENT_MAX bytes are written nothing more
 * is taken, and the document says so at its end. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "record/record.h"

typedef enum DocKind { DOC_NONE, DOC_FACTS, DOC_LIST, DOC_TABLE } DocKind;

typedef enum DocCell {
    CELL_TEXT,
    CELL_CODE,   /* commands, commits, names of rows */
    CELL_WORD,   /* a verdict or a state; coloured where colour exists, and still readable */
    CELL_NUMBER, /* aligned to the right */
    CELL_TIME,   /* never broken into lines */
} DocCell;

typedef enum DocBlock {
    BLOCK_CODE,  /* as it is: outputs, diffs */
    BLOCK_QUOTE, /* somebody's own words, perhaps Markdown */
    BLOCK_PLAIN, /* the same without the frame, for files that people go on writing */
} DocBlock;

typedef struct DocOps DocOps;

typedef struct Doc {
    const DocOps *ops;
    Arena arena; /* for texts that live as long as the document */
    Str body;
    Str contents; /* list of the sections; HTML only */
    const char *title;
    DocKind kind; /* of the open block */
    size_t columns, column;
    unsigned sections;
    bool is_full;
} Doc;

void doc_init(Doc *doc, RecordFormat format, const char *title);
void doc_finish(Doc *doc, Str *out); /* adds the whole document, which ends with a newline */
void doc_done(Doc *doc);             /* fits CLEANUP */

void doc_heading(Doc *doc, unsigned level, const char *text); /* 2 and up; the title is 1 */
void doc_text(Doc *doc, const char *text);                    /* a paragraph; none when empty */
void doc_textf(Doc *doc, const char *format, ...) PRINTF(2, 3);
void doc_fact(Doc *doc, const char *name, const char *value); /* none when empty */
void doc_factf(Doc *doc, const char *name, const char *format, ...) PRINTF(3, 4);
void doc_item(Doc *doc, const char *text);
void doc_itemf(Doc *doc, const char *format, ...) PRINTF(2, 3);
/* Heads that begin with ">" are columns of numbers. A row ends by itself. */
void doc_table(Doc *doc, const char *const *heads, size_t count);
void doc_cell(Doc *doc, DocCell cell, const char *text);
void doc_cellf(Doc *doc, DocCell cell, const char *format, ...) PRINTF(3, 4);
void doc_cell_time(Doc *doc, int64_t ms);
void doc_block(Doc *doc, DocBlock block, const char *text); /* none when empty */
void doc_end(Doc *doc);                                     /* closes what is open */
/* For a list of count rows: the first to show; a note when older ones are left out. Before the
 * table is begun. */
size_t doc_skip(Doc *doc, size_t count);

/* How one format writes what was cleaned already. */
struct DocOps {
    void (*heading)(Doc *doc, unsigned level, const char *text);
    void (*text)(Doc *doc, const char *text);
    void (*fact)(Doc *doc, const char *name, const char *value);
    void (*item)(Doc *doc, const char *text);
    void (*open)(Doc *doc, DocKind kind);
    void (*close)(Doc *doc, DocKind kind);
    void (*heads)(Doc *doc, const char *const *heads);
    void (*cell)(Doc *doc, DocCell cell, const char *text); /* at doc->column */
    void (*block)(Doc *doc, DocBlock block, const char *text);
    void (*finish)(Doc *doc, Str *out);
};
extern const DocOps doc_markdown, doc_html;

/* Escaping for texts that are put together elsewhere; the input is clean. */
typedef enum MarkdownPlace {
    MARKDOWN_INSIDE, /* after other text of its line */
    MARKDOWN_START,  /* at the start of a line or a list item */
    MARKDOWN_TABLE,  /* in a cell */
} MarkdownPlace;

void markdown_escape(Str *out, const char *text, MarkdownPlace place);
void markdown_code(Str *out, const char *text, bool in_table);
void markdown_quote(Str *out, const char *text);
void markdown_fence(Str *out, const char *text);
void html_escape(Str *out, const char *text);
