/* Signals: what an agent says in its own text, `<otto>TYPE</otto>` or `<otto>TYPE:payload</otto>`.
 *
 * The rule (D-56, D-57): the tag pair must match exactly; TYPE is upper-case letters and
 * underscores; the payload runs to the first closing tag and is trimmed. All signals are reported
 * in order, the last control signal (COMPLETE, BLOCKED, PENDING) decides. What looks like a signal
 * and is none is reported with a code of D-60 and otherwise ignored: wrong-case tags, [tag] forms,
 * an opening without its end, an unknown type, a wrong payload. A payload where none belongs
 * (COMPLETE, RESOLVED) is an error too: a claim that says more than it may is not believed.
 *
 * The scanner takes a text in pieces split anywhere and gives the same reports as for the whole
 * text. Memory is bounded: a candidate longer than SIGNAL_WINDOW is dropped as malformed. RESULT
 * alone has a wider window, for its payload is a whole JSON object, over as many lines as it likes;
 * a payload that is not one is SIGNAL_INVALID_PAYLOAD. Pure. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SignalDuty { DUTY_NONE, DUTY_TEXT, DUTY_PERCENT, DUTY_JSON } SignalDuty;

/*    type                     word               payload       control meaning */
#define SIGNAL_TYPES(X)                                                                            \
    X(SIGNAL_NONE, "", DUTY_NONE, false, "no signal")                                              \
    X(SIGNAL_COMPLETE, "COMPLETE", DUTY_NONE, true, "the agent claims to be done")                 \
    X(SIGNAL_BLOCKED, "BLOCKED", DUTY_TEXT, true, "the agent cannot go on; payload: why")          \
    X(SIGNAL_PENDING, "PENDING", DUTY_TEXT, true, "the agent asks a person; payload: question")    \
    X(SIGNAL_PROGRESS, "PROGRESS", DUTY_PERCENT, false, "how far; payload: 0 to 100")              \
    X(SIGNAL_RESOLVED, "RESOLVED", DUTY_NONE, false, "a merge conflict is resolved")               \
    X(SIGNAL_DISCOVERY_LOCAL, "DISCOVERY_LOCAL", DUTY_TEXT, false, "learnt for this task")         \
    X(SIGNAL_DISCOVERY_GLOBAL, "DISCOVERY_GLOBAL", DUTY_TEXT, false, "learnt for all tasks")       \
    X(SIGNAL_RESULT, "RESULT", DUTY_JSON, false, "the structured answer of a phase; payload: JSON")

typedef enum SignalType {
#define X(type, word, duty, control, help) type,
    SIGNAL_TYPES(X)
#undef X
        SIGNAL_TYPE_COUNT
} SignalType;

/*    code                  word                       meaning (D-60) */
#define SIGNAL_CODES(X)                                                                            \
    X(SIGNAL_OK, "", "a good signal")                                                              \
    X(SIGNAL_MALFORMED, "SIGNAL_MALFORMED", "looks like a signal but is not written as one")       \
    X(SIGNAL_UNKNOWN_TYPE, "SIGNAL_UNKNOWN_TYPE", "the type is not in the table")                  \
    X(SIGNAL_MISSING_PAYLOAD, "SIGNAL_MISSING_PAYLOAD", "the type needs a payload")                \
    X(SIGNAL_INVALID_PAYLOAD, "SIGNAL_INVALID_PAYLOAD", "the payload is not what the type takes")

typedef enum SignalCode {
#define X(code, word, help) code,
    SIGNAL_CODES(X)
#undef X
        SIGNAL_CODE_COUNT
} SignalCode;

enum {
    SIGNAL_TAG_MAX = 64,                      /* bytes of a tag name */
    SIGNAL_PAYLOAD_MAX = 4096,                /* bytes between TYPE: and the closing tag */
    SIGNAL_WINDOW = SIGNAL_PAYLOAD_MAX + 256, /* longest candidate, tags included */
    SIGNAL_RESULT_MAX = 256 * 1024,           /* the same two for RESULT */
    SIGNAL_RESULT_WINDOW = SIGNAL_RESULT_MAX + 256,
};

#define SIGNAL_DEFAULT_TAG "otto"

typedef struct Signal {
    SignalCode code; /* SIGNAL_OK, or what is wrong */
    SignalType type; /* SIGNAL_NONE when malformed or unknown; of a RESULT without its end RESULT */
    const char *raw; /* the candidate as written; borrowed, valid during the call only */
    size_t raw_length;
    const char *payload; /* trimmed; NULL for none; not NUL-terminated */
    size_t payload_length;
    int percent; /* of PROGRESS */
} Signal;

const char *signal_type_word(SignalType type);
const char *signal_type_help(SignalType type);
SignalDuty signal_duty(SignalType type);
size_t signal_payload_max(SignalType type);
bool signal_is_control(SignalType type);
bool signal_type_find(const char *word, size_t length, SignalType *type);
const char *signal_code_word(SignalCode code);
/* A tag name: a letter, then letters, digits, '-', '_' or '.', at most SIGNAL_TAG_MAX bytes. */
bool signal_tag_is_valid(const char *tag);

/* Judges a type and its payload, also for channels without tags (a tool, `otto signal`).
 * payload NULL means none. Fills code, type, payload, percent; raw stays as it was. */
void signal_judge(const char *type, size_t type_length, const char *payload, size_t payload_length,
                  Signal *out);

typedef void SignalFound(void *context, const Signal *signal);

typedef struct SignalScanner {
    char tag[SIGNAL_TAG_MAX + 1];
    size_t tag_length;
    SignalFound *found;
    void *context;
    char *held;                             /* room for a candidate whose end has not come yet */
    size_t held_at, held_length, held_size; /* it begins at held_at; at most a window and a tag
                                               between calls */
    size_t no_tag, no_close;                /* how far it was searched in vain */
} SignalScanner;

/* tag must be valid (see above). */
void signal_scanner_init(SignalScanner *scanner, const char *tag, SignalFound *found,
                         void *context);
void signal_scanner_feed(SignalScanner *scanner, const char *bytes, size_t length);
/* The text has ended: what is still open is reported. The scanner is ready for a new text. */
void signal_scanner_end(SignalScanner *scanner);
void signal_scanner_done(SignalScanner *scanner); /* frees; fits CLEANUP */
/* The whole text at once. */
void signal_scan(const char *text, size_t length, const char *tag, SignalFound *found,
                 void *context);
