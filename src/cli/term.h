/* Terminal output: colour, width, cutting text to columns.
 *
 * Everything that an agent or a task says passes through here on its way to a terminal: control
 * bytes are shown, not sent (T5), and characters that change the direction of text are dropped.
 * Widths come from a small table of our own: the C library's needs a locale, which is read from
 * disk at every start. */
#pragma once
#include "base/str.h"

/*    style        escape    use */
#define STYLES(X)                                                                                  \
    X(STYLE_NONE, "")                                                                              \
    X(STYLE_BOLD, "1")  /* names of things */                                                      \
    X(STYLE_DIM, "2")   /* side remarks, output of agents */                                       \
    X(STYLE_GOOD, "32") /* landed, passed */                                                       \
    X(STYLE_BAD, "31")  /* failed */                                                               \
    X(STYLE_WARN, "33") /* blocked, needs a person */                                              \
    X(STYLE_BUSY, "36") /* at work */

typedef enum Style {
#define X(style, code) style,
    STYLES(X)
#undef X
} Style;

typedef struct Term {
    bool is_terminal; /* else: plain lines, no escape codes */
    bool has_colour;  /* a terminal, and NO_COLOR is not set */
    bool has_utf8;    /* bars and marks beyond ASCII */
    int width, height;
} Term;

/* Looks at the descriptor, COLUMNS, LINES, NO_COLOR, TERM and the locale's name. */
void term_init(Term *term, int fd);
void term_resize(Term *term, int fd); /* width and height again */

/* text is our own (a literal or built by us); style only where the terminal has colour. */
void term_add(const Term *term, Str *out, Style style, const char *text);
/* Hostile text, one line, at most columns wide, with an ellipsis when cut. Returns its width. */
size_t str_add_cut(Str *out, const char *text, size_t columns);
/* The same, filled up with blanks to columns. */
void str_add_cell(Str *out, const char *text, size_t columns);
/* Hostile text of one line, uncut. */
void str_add_line(Str *out, const char *text);
/* Its first line only. */
void str_add_first(Str *out, const char *text);
/* Hostile text of many lines; each begins with indent blanks. Ends with a newline. */
void str_add_block(Str *out, const char *text, size_t indent);
size_t text_columns(const char *text, size_t length);
size_t styled_columns(const char *line, size_t length); /* with our own colours in it */
/* Lines that are already safe, broken between words where they are wider than width. */
void str_add_wrapped(Str *out, const char *text, size_t width);
/* Without references such as " (D-22, D-53)": they are for `otto why`, not for one line. */
void text_without_ids(const char *text, Str *out);
