/* The table of decisions, shared by the decide*.c files only. */
#pragma once
#include "base/arena.h"
#include "base/json.h"
#include "core/action.h"

typedef enum DecideType {
    IN_TEXT,   /* without NUL bytes */
    IN_BYTES,  /* any text */
    IN_WORD,   /* one of words */
    IN_INT,    /* from min to max */
    IN_NUMBER, /* from min to max, may have a fraction */
    IN_BOOL,
    IN_ID, /* a text or a whole number */
    IN_LIST,
    IN_OBJECT,
    IN_ANY, /* read by the decision itself */
} DecideType;

typedef struct DecideField {
    const char *path; /* "mode", "tasks[].id", "exclude[]": a list's items follow their list */
    DecideType type;
    bool is_optional;
    const char *fallback; /* shown and used; NULL: none */
    int64_t min, max;     /* of a number; both 0: not negative */
    const char *words;    /* of IN_WORD, separated by single spaces */
    const char *help;
} DecideField;

typedef struct DecideExample {
    const char *title, *input;
} DecideExample;

typedef struct DecideInput DecideInput;
/* Fills out, or fails through in and returns false. */
typedef bool DecideFn(DecideInput *in, json_t *out);

enum { DECIDE_EXAMPLES_MAX = 8 };

typedef struct DecideRow {
    const char *name, *help;
    const char *answer; /* the fields of the answer, in words */
    const DecideField *fields;
    size_t field_count;
    DecideFn *run;
    DecideExample examples[DECIDE_EXAMPLES_MAX];
} DecideRow;

struct DecideInput {
    const DecideRow *row;
    const json_t *root;
    Arena arena;
    json_t *error; /* object, once something failed */
};

extern const DecideRow decide_rows[];
extern const size_t decide_row_count;

DecideFn decide_route, decide_transition, decide_signal, decide_completion, decide_exit;
DecideFn decide_score, decide_convergence, decide_audit_rounds;
DecideFn decide_verification, decide_select, decide_graph, decide_retry_delay, decide_merge_plan;

/* Always false. field "" for the whole input; value and allowed may be NULL; allowed is stolen. */
bool decide_fail(DecideInput *in, const char *field, const json_t *value, json_t *allowed,
                 const char *format, ...) PRINTF(5, 6);
/* A list of the words in a text separated by spaces, for `allowed`. */
json_t *decide_words(const char *words);

/* Checks the input against the fields of its row. */
bool decide_check(DecideInput *in);
const char *decide_type_word(DecideType type);

/* After the check; path is that of the field, object the one that holds its last part. Missing
 * values take the fallback; without one: NULL, 0, false. */
const json_t *decide_value(const DecideInput *in, const json_t *object, const char *path);
const char *decide_text(const DecideInput *in, const json_t *object, const char *path);
int64_t decide_int(const DecideInput *in, const json_t *object, const char *path);
bool decide_bool(const DecideInput *in, const json_t *object, const char *path);
bool decide_to_int(const json_t *value, int64_t *out); /* also 5.0 */

/* Writing the answer; NULL or "" becomes null. */
void decide_put_text(json_t *out, const char *key, const char *text);
void decide_put_actions(json_t *out, const char *key, const Action *actions);
void decide_put_row(json_t *out, const char *row, const char *why);

/* Ids: the items of a list, sorted (numbers by value, then texts bytewise). */
typedef struct DecideIds {
    const json_t **ids; /* ascending, borrowed */
    uint32_t *index;    /* place in the list of ids[i] */
    uint32_t *rank;     /* place in ids of item number i */
    uint32_t count;
} DecideIds;

int decide_id_compare(const json_t *a, const json_t *b);
/* list: objects with the key "id". Fails on an id given twice. */
bool decide_ids(DecideInput *in, const json_t *list, const char *path, DecideIds *out);
/* Place in ids, or -1. */
int64_t decide_id_find(const DecideIds *ids, const json_t *id);
