/* Judging a check: from scores, evidence and guards to one result word (B-38 to B-66, A-111 to
 *
 *
 * An ordered table of rows; the first that holds decides and says why, with the numbers. Evidence
 * that the engine measured comes before the reviewer's opinion; of the reviewer's own verdict
 * BLOCKED counts, REPLAN when the scores fail as well, and one that is stricter than the scores
 * a laxer one never. Sums are never the reviewer's. Pure. */
#pragma once
#include "base/json.h"
#include "base/str.h"
#include "core/convergence.h"

enum {
    DIMENSIONS = 6,
    CHECKPOINTS = 3, /* rows of judge_checkpoints */
    JUDGE_WHY_MAX = 600,
};

#define JUDGE_FLOOR 0.5 /* of d2, d1 and d3 (B-56) */

typedef struct Dimension {
    const char *key;    /* "d1" */
    const char *name;   /* "correctness" */
    const char *anchor; /* what it is judged against (B-48 to B-53) */
    const char *question;
    int floor_order; /* 1, 2, 3: blocks below the floor, in this order; 0: advice only */
} Dimension;

typedef struct Scores { /* or weights */
    double d[DIMENSIONS];
} Scores;

typedef struct JudgeCheckpoint {
    const char *name;
    double threshold;     /* fallback */
    unsigned retries;     /* fallback */
    const char *pass;     /* result when it passes */
    const char *fail;     /* result when it does not */
    const char *verdicts; /* every result it can have */
} JudgeCheckpoint;

const Dimension *dimensions(void);                         /* DIMENSIONS rows, d1 first */
const JudgeCheckpoint *judge_checkpoints(void);            /* CHECKPOINTS rows */
int judge_checkpoint_index(const char *name);              /* or -1 */
const JudgeCheckpoint *judge_checkpoint(const char *name); /* or NULL */

/* From an object with d1 to d6; what is missing keeps its value. */
void scores_read(const json_t *object, Scores *scores);
/* The weighted mean; weights NULL, or all 0: equal. */
double judge_overall(const Scores *scores, const Scores *weights);
/* Indexes of the dimensions below their floor, in the order of B-56; returns how many. */
unsigned judge_floors(const Scores *scores, unsigned broken[DIMENSIONS]);

typedef enum VerifyOutcome {
    OUTCOME_NONE, /* was not run */
    OUTCOME_PASS,
    OUTCOME_PARTIAL, /* nothing required failed, but not everything was green, or nothing was there
                      */
    OUTCOME_FAIL
} VerifyOutcome;

const char *verify_outcome_word(VerifyOutcome outcome); /* "none", "pass", "partial", "fail" */
bool verify_outcome_find(const char *word, VerifyOutcome *outcome);

typedef struct JudgeNames { /* for people, in the order found */
    const char *const *items;
    size_t count;
} JudgeNames;

typedef struct JudgeInput {
    const char *checkpoint;
    Scores scores;
    const Scores *weights; /* NULL: equal */
    double threshold;      /* below 0: the checkpoint's own */
    int retries;           /* limit; below 0: the checkpoint's own */
    const char *verdict;   /* the reviewer's; NULL or "" none */
    JudgeNames unmet;      /* dependencies */
    JudgeNames unsafe;     /* lines of the plan that may not be (B-64) */
    JudgeNames missing;    /* R# that no step of the plan covers (B-62) */
    VerifyOutcome verify;
    const char *verify_why; /* the first failure; NULL or "" none */
    JudgeNames regressed;   /* checks that were green (B-201) */
    JudgeNames broken;      /* checks that could not be run, twice (B-199) */
    JudgeNames guards;      /* that fired, one sentence each */
    JudgeNames refused;     /* inspectable checks that the reviewer rejected (B-198) */
    JudgeNames early;       /* checks that passed before the work: they prove nothing (B-200) */
    JudgeNames high;        /* findings of severity HIGH */
    int discipline;         /* percent of steps with a full cycle (B-65); below 0: not rated */
    ConvergenceInput convergence; /* post-exec; has_requirements false: no direction gate */
    unsigned stage;               /* from 1 */
} JudgeInput;

#define JUDGE_INPUT_INIT                                                                           \
    {                                                                                              \
        .threshold = -1, .retries = -1, .discipline = -1, .stage = 1                               \
    }

typedef struct Judgement {
    const char *result; /* PASS NEEDS_REVISION CONTINUE NEEDS_FIX REPLAN BLOCKED ACCEPT ROLLBACK
                           GUARDED */
    const char *row;    /* id of the row that decided */
    char why[JUDGE_WHY_MAX];
    double overall, threshold;
    bool is_score_good; /* overall reaches the threshold and no floor is broken */
    unsigned floors[DIMENSIONS], floor_count; /* indexes, in the order of B-56 */
    unsigned retries;                         /* limit */
} Judgement;

typedef struct JudgeRow {
    const char *id;
    const char *checkpoint; /* names separated by single spaces; "*": every one */
    bool (*holds)(const JudgeInput *input, const Judgement *numbers, Str *detail);
    const char *result; /* "+": the checkpoint's pass word, "-": its fail word */
    const char *why;
} JudgeRow;

/* The checkpoint must be known. */
void judge_check(const JudgeInput *input, Judgement *out);
const JudgeRow *judge_rows(size_t *count);
/* The result is one that the checkpoint's work continues after without a retry. */
bool judge_is_pass(const char *result);

/* ---- audit rounds (B-58 to B-60) ---- */

enum { AUDIT_ROUNDS_MIN = 2, AUDIT_ROUNDS_MAX = 10, AUDIT_ROUNDS_ALONE = 3 };

unsigned audit_rounds(int64_t files, int64_t lines, int64_t dirs, const char *type);

typedef struct AuditProgress {
    unsigned done, rounds; /* rounds made, and the budget */
    unsigned quiet;        /* rounds in a row without a fix, the last included */
    bool is_first_clean;   /* all gates passed in round 1 */
    int64_t files;
} AuditProgress;

/* Why no further round is needed; NULL: go on. */
const char *audit_is_over(const AuditProgress *progress);
