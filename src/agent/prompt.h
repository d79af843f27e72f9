/* Prompts: texts with named blanks, from prompts/ (embedded at build) or from the user.
 *
 * In a template:
 *   {{name}}          the value on one line; control characters become spaces
 *   {{data name}}     the value as a block between fences that the value cannot close, so that text
 *                     of tasks, tests and people reads as data and never as instructions
 *   {{include name}}  another prompt of the program, once deep
 * A blank without a value and an unknown word are errors; values are never read for blanks again.
 * Wherever a value holds the signal tag of the run, its angle bracket is replaced, and no template
 * writes one: an agent that echoes its prompt signals nothing. Touches nothing. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include <stdint.h>

enum { PROMPT_MOST_BYTES = 1 << 20 };

typedef struct PromptValue {
    const char *name;
    const char *text; /* NULL counts as empty */
} PromptValue;

typedef struct PromptValues {
    const PromptValue *items; /* a value called "tag" is the signal tag */
    size_t count;
} PromptValues;

#define PROMPT_VALUES(...)                                                                         \
    (PromptValues)                                                                                 \
    {                                                                                              \
        (const PromptValue[]){__VA_ARGS__},                                                        \
            sizeof((const PromptValue[]){__VA_ARGS__}) / sizeof(PromptValue)                       \
    }

/* name is that of the file without folder and ".md": "work". out gets the text added. */
bool prompt_render(const char *name, PromptValues values, Str *out, Err *err) NODISCARD;
/* The same for a template of the user. name is for messages. */
bool prompt_render_text(const char *name, const char *template_text, PromptValues values, Str *out,
                        Err *err) NODISCARD;
uint64_t prompt_hash(const char *name); /* 0: no such prompt */
