/* Prompts: texts with named blanks, from prompts/ (embedded at build) or from the user.
 *
 * In a template:
 *   {{name}}           the value on one line; control characters become spaces
 *   {{data name}}      the value as a block between fences that the value cannot close, so that
 *                      text of tasks, tests and people reads as data and never as instructions
 *   {{include name}}   another prompt, once deep
 *   {{optional name}}  the same, but only when the value of that name is not empty; a line with
 *                      nothing else on it vanishes together with the empty line after it
 * A blank without a value and an unknown word are errors; values are never read for blanks again.
 * Wherever a value holds the signal tag of the run, its angle bracket is replaced, and no template
 * writes one: an agent that echoes its prompt signals nothing.
 *
 * Size. Above the limit, values are cut one after another in the order of prompt_blanks() until the
 * whole fits: first the diff, then output of checks, then history and notes, then experiences, then
 * the plan. Each cut says how much was left out. The task's text, rules, the shape of the answer
 * and the words of people are never cut: when they alone are longer, the prompt is longer, up to
 * PROMPT_MOST_BYTES; beyond that it is refused. Touches nothing. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include <stdint.h>

enum {
    PROMPT_LIMIT_BYTES = 200 << 10, /* values are cut until the whole is not longer */
    PROMPT_MOST_BYTES = 1 << 20,    /* refused above this */
    PROMPT_FILE_BYTES = 256 << 10,  /* of a project's own prompt file */
};

#define PROMPT_FOLDER ".otto/prompts" /* of a project's own prompts: NAME.md */

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

/* The project's own text of a prompt; NULL: the program's is used. Asked again for the same name,
 * it must answer the same. */
typedef const char *PromptFind(void *user, const char *name);

typedef struct PromptJob {
    const char *name; /* that of the file without folder and ".md": "work" */
    PromptValues values;
    PromptFind *find; /* NULL: the program's own texts only */
    void *user;
    size_t limit_bytes; /* 0: PROMPT_LIMIT_BYTES */
} PromptJob;

/* Adds the text to out. hash (may be NULL) is that of the template and the includes that were used,
 * as they were used. */
bool prompt_build(const PromptJob *job, Str *out, uint64_t *hash, Err *err) NODISCARD;
/* The program's own text, whole; nothing is cut. */
bool prompt_render(const char *name, PromptValues values, Str *out, Err *err) NODISCARD;
/* The same for a given template. name is for messages. */
bool prompt_render_text(const char *name, const char *template_text, PromptValues values, Str *out,
                        Err *err) NODISCARD;
uint64_t prompt_hash(const char *name);    /* of the program's file alone; 0: no such prompt */
const char *prompt_text(const char *name); /* the program's own; NULL: no such prompt */

/* Looks for mistakes without values: a blank that does not exist, an include that is none. The
 * error names file, line, the blank and the nearest known one. */
bool prompt_check(const char *file, const char *template_text, Err *err) NODISCARD;

/* Every prompt and every blank, one row each; docs/prompts.md is made of them. */
typedef struct PromptRow {
    const char *name;
    bool is_include; /* a part of others; never sent alone */
    const char *help;
} PromptRow;

/* What gives way when a prompt is too long: the order of the words is the order of cutting. */
#define PROMPT_TRIMS(X)                                                                            \
    X(PROMPT_KEEP, "", "never cut")                                                                \
    X(PROMPT_CUT_DIFF, "diff", "the diff")                                                         \
    X(PROMPT_CUT_VERIFY, "verify", "output of checks")                                             \
    X(PROMPT_CUT_HISTORY, "history", "history, notes, discoveries")                                \
    X(PROMPT_CUT_EXPERIENCE, "experience", "experiences of earlier tasks")                         \
    X(PROMPT_CUT_PLAN, "plan", "details of the plan")

typedef enum PromptTrim {
#define X(trim, word, help) trim,
    PROMPT_TRIMS(X)
#undef X
        PROMPT_TRIM_COUNT
} PromptTrim;

typedef struct PromptBlank {
    const char *name;
    PromptTrim trim;
    bool keeps_end; /* when cut, the end stays, not the begin */
    const char *help;
} PromptBlank;

const PromptRow *prompt_rows(size_t *count);
const PromptBlank *prompt_blanks(size_t *count);
const PromptBlank *prompt_blank_find(const char *name); /* or NULL */
const char *prompt_trim_word(PromptTrim trim);
void prompt_markdown(Str *out); /* the whole of docs/prompts.md */

/* At most most bytes of a text, whole lines and characters where possible, with a line that says
 * how much was left out. */
void prompt_cut(const char *text, size_t most, bool keeps_end, Str *out);
