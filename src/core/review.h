/* Must a person look at proven work before it lands? (D-253 to D-255)
 *
 * Label rules come before the mode, the most restrictive first; a guard that fired needs a person
 * in every mode. A wait never holds up other tasks. Pure. */
#pragma once
#include "core/field.h"
#include <stdbool.h>

/*    mode                     word        meaning */
#define REVIEW_MODES(X)                                                                            \
    X(REVIEW_MODE_AUTO, "auto", "proven work lands; only labels and guards call a person")         \
    X(REVIEW_MODE_BATCH, "batch", "work is collected and looked at together")                      \
    X(REVIEW_MODE_PER_TASK, "per-task", "each task waits for a person")                            \
    X(REVIEW_MODE_SKIP, "skip", "nobody looks, unless a guard fired")

typedef enum ReviewMode {
#define X(mode, word, help) mode,
    REVIEW_MODES(X)
#undef X
        REVIEW_MODE_COUNT
} ReviewMode;

/*    rule, the most restrictive first     word                meaning */
#define REVIEW_RULES(X)                                                                            \
    X(REVIEW_RULE_NO_AUTO, "per-task-no-auto", "a person looks, whatever else holds")              \
    X(REVIEW_RULE_PER_TASK, "per-task", "a person looks")                                          \
    X(REVIEW_RULE_BATCH, "batch", "a person looks at the whole batch")                             \
    X(REVIEW_RULE_AUTO_APPROVE, "auto-approve", "nobody looks when all conditions hold (D-254)")   \
    X(REVIEW_RULE_SKIP, "skip", "nobody looks")

typedef enum ReviewRule {
#define X(rule, word, help) rule,
    REVIEW_RULES(X)
#undef X
        REVIEW_RULE_COUNT
} ReviewRule;

bool review_mode_find(const char *word, ReviewMode *mode);
const char *review_mode_word(ReviewMode mode);
bool review_rule_find(const char *word, ReviewRule *rule);
const char *review_rule_word(ReviewRule rule);

typedef struct ReviewLabel { /* setting: label -> rule */
    const char *label;
    ReviewRule rule;
} ReviewLabel;

enum { REVIEW_AUTO_ITERATIONS = 3 };

typedef struct ReviewInput {
    ReviewMode mode;
    const ReviewLabel *rules;
    size_t rule_count;
    TextList labels;     /* of the task */
    unsigned iterations; /* turns it took */
    bool is_verified;    /* its checks passed (not: nothing was there to run) */
    bool was_stopped;    /* BLOCKED or PENDING was signalled on the way */
    unsigned guards;     /* that fired */
} ReviewInput;

typedef enum ReviewNeed { REVIEW_NEED_NONE, REVIEW_NEED_WAIT, REVIEW_NEED_BATCH } ReviewNeed;

typedef struct ReviewAnswer {
    ReviewNeed need;
    const char *row; /* id of the row that decided */
    char why[256];
} ReviewAnswer;

ReviewAnswer review_decide(const ReviewInput *input);
const char *review_need_word(ReviewNeed need); /* "none", "wait", "batch" */
