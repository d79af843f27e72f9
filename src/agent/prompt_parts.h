/* Prompts, inside: one rendering. Private to prompt*.c. */
#pragma once
#include "agent/prompt.h"

typedef struct PromptRender {
    const char *name; /* for messages */
    PromptValues values;
    PromptFind *find; /* may be NULL */
    void *user;
    Str *out;
    Err *err;
    int depth;
    const char *tag; /* of values; may be NULL */
} PromptRender;

bool prompt_render_into(PromptRender *render, const char *template_text) NODISCARD;

/* One blank of a template. */
typedef struct PromptPiece {
    enum { PIECE_LINE, PIECE_DATA, PIECE_INCLUDE, PIECE_OPTIONAL } kind;
    char name[64];
    const char *begin, *end; /* in the template, braces included */
} PromptPiece;

/* The next blank from text on. false with err untouched: there is none; with err: it has no end. */
bool prompt_piece_next(const char *text, PromptPiece *piece, const char *name, Err *err) NODISCARD;
/* "recovery-header" is included when the value "recovery_header" is there. */
void prompt_value_name(const char *include, char out[64]);
/* The project's text of a prompt, or the program's; NULL none. */
const char *prompt_source(PromptFind *find, void *user, const char *name, bool *is_own);
