/* Score: which ready task is worth taking first (D-90 to D-105).
 *
 * The static score changes only when the task or its surroundings change; ageing is added by the
 * time waited. Both are sums of named parts, so that a choice can be explained. Pure. */
#pragma once
#include "core/types.h"
#include <stddef.h>

/*    part              word          meaning */
#define SCORE_PARTS(X)                                                                             \
    X(PART_UNBLOCKS, "unblocks", "10 for each task that waits for this one (D-92)")                \
    X(PART_CRITICAL, "critical", "50 for the tag critical (D-93)")                                 \
    X(PART_QUICK_WIN, "quick-win", "30 for the tag quick-win (D-94)")                              \
    X(PART_PARENT, "parent", "20 when more than half of the parent is done (D-95)")                \
    X(PART_RETRIES, "retries", "15 less for each retry (D-96)")                                    \
    X(PART_PRIORITY, "priority", "100 for each level above P2, 100 less below (D-104)")            \
    X(PART_NEXT, "next", "200 for the tag next (D-99, D-100)")                                     \
    X(PART_LATER, "later", "200 less for the tag later (D-100)")                                   \
    X(PART_AGE, "age", "1 for each minute waited, at most 50 (D-104, D-105)")                      \
    X(PART_WAITED, "waited", "50 after 30 minutes (D-105)")                                        \
    X(PART_STARVED, "starved", "100 after 10 slots given to others (D-105)")

typedef enum ScorePart {
#define X(part, word, help) part,
    SCORE_PARTS(X)
#undef X
        SCORE_PART_COUNT
} ScorePart;

enum {
    AGE_MAX_MINUTES = 50,       /* ageing stands still from here on */
    AGE_BONUS_MINUTES = 30,     /* the second bonus */
    STARVED_CYCLES = 10,        /* slots given to others */
    SCORE_COUNT_MAX = 10000000, /* unblocks and retries count no further */
};

typedef struct ScoreInput {
    int64_t unblocks; /* tasks that wait for this one */
    int64_t parent_done, parent_total;
    int64_t retries;
    uint8_t tags;     /* TAG_* bits */
    uint8_t priority; /* 0 to 3, or PRIORITY_NONE: no part */
} ScoreInput;

typedef struct Score {
    int32_t total;
    int32_t parts[SCORE_PART_COUNT];
} Score;

/* Fills the static parts; the parts of ageing are 0. */
Score score_static(const ScoreInput *input);
/* Adds the parts of ageing. */
void score_age(Score *score, int64_t waited_minutes, int64_t missed_cycles);
/* The sum of the ageing parts alone. */
int32_t score_age_bonus(int64_t waited_minutes, int64_t missed_cycles);
/* Whole minutes waited, as the engine counts them: from the first full minute of the clock after
 * the task became ready, so that all tasks of one minute age together and never early. */
int64_t score_ready_minute(int64_t ready_ms);
int64_t score_minutes_waited(int64_t ready_ms, int64_t now_ms);
uint8_t score_tag_bit(const char *tag); /* TAG_* of a word, or 0 */
const char *score_part_word(ScorePart part);
const char *score_part_help(ScorePart part);
