/* Structured answers: what an agent says at the end of a phase, as JSON of a known shape.
 *
 * A shape is a table of fields (answer_shapes.c); reading, the text for prompts and the JSON Schema
 * all go by it. An answer is hostile data: its length, depth, lists and texts are bounded, and
 * every error names the path, what was found and what is expected. Unknown fields are ignored, null
 * counts as missing. Pure. */
#pragma once
#include "base/json.h"
#include "base/str.h"

/*    kind              word */
#define ANSWER_KINDS(X)                                                                            \
    X(ANSWER_RESULT, "result")                                                                     \
    X(ANSWER_PLAN, "plan")                                                                         \
    X(ANSWER_REVIEW, "review")                                                                     \
    X(ANSWER_OBJECTIVE, "objective")                                                               \
    X(ANSWER_NOTES, "notes")

typedef enum AnswerKind {
#define X(kind, word) kind,
    ANSWER_KINDS(X)
#undef X
        ANSWER_KIND_COUNT
} AnswerKind;

enum {
    ANSWER_BYTES_MAX = 256 * 1024,
    ANSWER_TEXT_MAX = 8000, /* characters of a text that people read */
    ANSWER_DEPTH_MAX = 16,
    ANSWER_STEPS_MAX = 200,
    ANSWER_FINDINGS_MAX = 500,
    ANSWER_REQUIREMENTS_MAX = 300,
};

typedef enum AnswerType {
    AS_TEXT,   /* of min to max characters */
    AS_WORD,   /* one of words; "(step-N)" stands for any N from 1 */
    AS_WHOLE,  /* from min to max */
    AS_NUMBER, /* from min to max */
    AS_BOOL,
    AS_R,      /* "R1" */
    AS_WEIGHT, /* 1, 2, 3, or the words of B-69 */
    AS_LIST,   /* of min to max items */
    AS_OBJECT,
    AS_WORDS_BY_NAME, /* an object of free names with words as values */
} AnswerType;

typedef struct AnswerField {
    const char *path; /* "steps[].checks[].mode"; the fields of an object follow it */
    AnswerType type;
    bool is_optional;
    double min, max;
    const char *words;   /* separated by single spaces */
    const char *example; /* JSON; NULL for lists and objects */
    const char *help;
} AnswerField;

typedef struct AnswerShape {
    const char *name, *help;
    const AnswerField *fields;
    size_t field_count;
    const char *rules; /* whole sentences for the prompt, one per line */
} AnswerShape;

const AnswerShape *answer_shape(AnswerKind kind);
const char *answer_kind_word(AnswerKind kind);
bool answer_kind_find(const char *word, AnswerKind *kind);

/* The answer, owned by the caller, or NULL with an error that can be shown to the agent. A fence of
 * Markdown around the JSON is taken off, and "done" is read as "(done)". */
json_t *answer_read(AnswerKind kind, const char *text, size_t length, Err *err) NODISCARD;
/* Its "result", or the given word of its phase when it names none. */
const char *answer_result(const json_t *answer, const char *fallback);

/* The shape for a prompt: a commented example, then the rules. */
void answer_schema(AnswerKind kind, Str *out);
/* The shape as a JSON Schema (2020-12). */
void answer_json_schema(AnswerKind kind, Str *out);
/* All shapes in one document, under $defs; for docs/answers.schema.json. */
void answer_json_schema_all(Str *out);
