/* Documents as one HTML file: well-formed, without script, nothing loaded. See doc.h. */
#include "record/doc.h"
#include <string.h>

void html_escape(Str *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            str_add(out, "&amp;");
            break;
        case '<':
            str_add(out, "&lt;");
            break;
        case '>':
            str_add(out, "&gt;");
            break;
        case '"':
            str_add(out, "&quot;");
            break;
        case '\'':
            str_add(out, "&#39;");
            break;
        default:
            str_add_char(out, *text);
        }
    }
}

/* Which colour a word has; the word itself is always there (no meaning by colour alone). */
typedef struct WordColour {
    const char *word, *colour;
} WordColour;

/* clang-format off */
static const WordColour colours[] = {
    /* word             colour */
    { "PASS",           "good" },
    { "ACCEPT",         "good" },
    { "CONTINUE",       "good" },
    { "accept",         "good" },
    { "accepted",       "good" },
    { "approve",        "good" },
    { "approved",       "good" },
    { "complete",       "good" },
    { "done",           "good" },
    { "green",          "good" },
    { "landed",         "good" },
    { "passed",         "good" },
    { "satisfied",      "good" },
    { "success",        "good" },
    { "verified",       "good" },
    { "(pass)",         "good" },
    { "(done)",         "good" },
    { "MEDIUM",         "warn" },
    { "NEEDS_FIX",      "warn" },
    { "NEEDS_REVISION", "warn" },
    { "GUARDED",        "warn" },
    { "REPLAN",         "warn" },
    { "ask",            "warn" },
    { "early",          "warn" },
    { "optional",       "warn" },
    { "redo",           "warn" },
    { "waits",          "warn" },
    { "(partial)",      "warn" },
    { "(rollback)",     "warn" },
    { "re-planning",    "warn" },
    { "BLOCKED",        "bad"  },
    { "HIGH",           "bad"  },
    { "ROLLBACK",       "bad"  },
    { "blocked",        "bad"  },
    { "broken",         "bad"  },
    { "cancelled",      "bad"  },
    { "conflict",       "bad"  },
    { "error",          "bad"  },
    { "failed",         "bad"  },
    { "invalid",        "bad"  },
    { "invalidated",    "bad"  },
    { "red",            "bad"  },
    { "regressed",      "bad"  },
    { "reject",         "bad"  },
    { "rejected",       "bad"  },
    { "rollback",       "bad"  },
    { "rolled-back",    "bad"  },
    { "spent",          "bad"  },
    { "timeout",        "bad"  },
    { "(blocked)",      "bad"  },
    { "(fail)",         "bad"  },
};
/* clang-format on */

static const char *colour_of(const char *word)
{
    for (size_t i = 0; i < COUNT(colours); i++)
        if (!strcmp(colours[i].word, word))
            return colours[i].colour;
    return "plain";
}

static void element(Str *out, const char *tag, const char *text)
{
    str_addf(out, "<%s>", tag);
    html_escape(out, text);
    str_addf(out, "</%s>", tag);
}

static void chip(Str *out, const char *word)
{
    if (!*word)
        return;
    str_addf(out, "<span class=\"chip %s\">", colour_of(word));
    html_escape(out, word);
    str_add(out, "</span>");
}

static void heading(Doc *doc, unsigned level, const char *text)
{
    unsigned number = ++doc->sections;
    level = CLAMP(level, 2u, 6u);
    str_addf(&doc->body, "<h%u id=\"s%u\">", level, number);
    html_escape(&doc->body, text);
    str_addf(&doc->body, "</h%u>\n", level);
    if (level > 2)
        return;
    str_addf(&doc->contents, "<li><a href=\"#s%u\">", number);
    html_escape(&doc->contents, text);
    str_add(&doc->contents, "</a></li>\n");
}

static void paragraph(Doc *doc, const char *text)
{
    element(&doc->body, "p", text);
    str_add_char(&doc->body, '\n');
}

/* clang-format off */
static const struct { const char *open, *close; } tags[] = {
    [DOC_NONE]  = { "", "" },
    [DOC_FACTS] = { "<dl>\n", "</dl>\n" },
    [DOC_LIST]  = { "<ul>\n", "</ul>\n" },
    [DOC_TABLE] = { "<div class=\"wide\"><table>\n", "</tbody></table></div>\n" },
};
/* clang-format on */

static void open_block(Doc *doc, DocKind kind)
{
    str_add(&doc->body, tags[kind].open);
}

static void close_block(Doc *doc, DocKind kind)
{
    str_add(&doc->body, tags[kind].close);
}

static void fact(Doc *doc, const char *name, const char *value)
{
    str_add(&doc->body, "<div>");
    element(&doc->body, "dt", name);
    str_add(&doc->body, "<dd>");
    if (strcmp(colour_of(value), "plain") != 0)
        chip(&doc->body, value);
    else
        html_escape(&doc->body, value);
    str_add(&doc->body, "</dd></div>\n");
}

static void item(Doc *doc, const char *text)
{
    element(&doc->body, "li", text);
    str_add_char(&doc->body, '\n');
}

static void heads(Doc *doc, const char *const *names)
{
    str_add(&doc->body, "<thead><tr>");
    for (size_t i = 0; i < doc->columns; i++) {
        bool is_number = *names[i] == '>';
        str_add(&doc->body, is_number ? "<th class=\"number\">" : "<th>");
        html_escape(&doc->body, names[i] + is_number);
        str_add(&doc->body, "</th>");
    }
    str_add(&doc->body, "</tr></thead>\n<tbody>\n");
}

static void cell(Doc *doc, DocCell kind, const char *text)
{
    str_add(&doc->body, doc->column ? "" : "<tr>");
    str_add(&doc->body, kind == CELL_NUMBER ? "<td class=\"number\">"
                        : kind == CELL_TIME ? "<td class=\"time\">"
                                            : "<td>");
    if (kind == CELL_CODE && *text)
        element(&doc->body, "code", text);
    else if (kind == CELL_WORD)
        chip(&doc->body, text);
    else
        html_escape(&doc->body, text);
    str_add(&doc->body, doc->column + 1 == doc->columns ? "</td></tr>\n" : "</td>");
}

static void block(Doc *doc, DocBlock kind, const char *text)
{
    str_add(&doc->body, kind != BLOCK_CODE ? "<blockquote>" : "<pre>");
    html_escape(&doc->body, text);
    str_add(&doc->body, kind != BLOCK_CODE ? "</blockquote>\n" : "</pre>\n");
}

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2128;--soft:#59636e;--paper:#fff;--card:#f6f8fa;"
    "--line:#d8dee4;--link:#0a5dc2;--good:#11632c;--good-b:#d9f5e0;--warn:#744d00;--warn-b:#fdf0c9;"
    "--bad:#a0111f;--bad-b:#fde3e3}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e4e8ed;--soft:#9aa4af;--paper:#14181d;"
    "--card:#1d232a;--line:#343c46;--link:#7db6ff;--good:#8fe0a4;--good-b:#12351d;--warn:#f0cd76;"
    "--warn-b:#3a2d08;--bad:#ffa6a6;--bad-b:#451a1c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:72rem;padding:2rem 1.25rem 4rem;background:var(--paper);"
    "color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;"
    "overflow-wrap:anywhere}\n"
    "h1{font-size:1.75rem;line-height:1.25;margin:0 0 1rem}\n"
    "h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-bottom:.3rem;"
    "border-bottom:1px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.75rem 0 .5rem}\n"
    "h4,h5,h6{font-size:1rem;margin:1.25rem 0 .5rem}\n"
    "a{color:var(--link)}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0;padding:0;list-style:none;"
    "font-size:.9rem}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.5rem 1.5rem;"
    "margin:1rem 0;padding:1rem;background:var(--card);border:1px solid var(--line);"
    "border-radius:.5rem}\n"
    "dt{color:var(--soft);font-size:.82rem}\ndd{margin:0}\n"
    ".wide{overflow-x:auto;margin:1rem 0;border:1px solid var(--line);border-radius:.5rem}\n"
    "table{border-collapse:collapse;width:100%;font-size:.88rem}\n"
    "th,td{padding:.4rem .65rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line);overflow-wrap:break-word}\n"
    "tbody tr:last-child td{border-bottom:0}\n"
    "th{background:var(--card);color:var(--soft);font-weight:600;white-space:nowrap}\n"
    ".time{white-space:nowrap}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em}\n"
    "pre,blockquote{margin:1rem 0;padding:.75rem 1rem;background:var(--card);"
    "border:1px solid var(--line);border-radius:.5rem;white-space:pre-wrap}\n"
    "pre{max-height:28rem;overflow:auto}\n"
    "blockquote{border-left:4px solid var(--line)}\n"
    ".chip{display:inline-block;padding:0 .5em;border-radius:1em;border:1px solid var(--line);"
    "white-space:nowrap}\n"
    ".good{color:var(--good);background:var(--good-b);border-color:transparent}\n"
    ".warn{color:var(--warn);background:var(--warn-b);border-color:transparent}\n"
    ".bad{color:var(--bad);background:var(--bad-b);border-color:transparent}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;"
    "--line:#bbb;--link:#000;--good:#064d1c;--good-b:#fff;--warn:#5c3d00;--warn-b:#fff;"
    "--bad:#8a0000;--bad-b:#fff}body{max-width:none;padding:0;font-size:10.5pt}nav{display:none}"
    "pre{max-height:none}.wide{overflow:visible}h2,h3{break-after:avoid}"
    "tr,blockquote{break-inside:avoid}.chip{border-color:#999}}\n";

static void finish(Doc *doc, Str *out)
{
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'\" />\n<meta name=\"referrer\" "
                 "content=\"no-referrer\" />\n");
    element(out, "title", doc->title);
    str_addf(out, "\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", style);
    element(out, "h1", doc->title);
    if (doc->contents.length)
        str_addf(out, "\n<nav aria-label=\"Sections\"><ul>\n%s</ul></nav>",
                 str_text(&doc->contents));
    str_addf(out, "\n</header>\n<main>\n%s</main>\n</body>\n</html>\n", str_text(&doc->body));
}

const DocOps doc_html = {
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
