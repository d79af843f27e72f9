/* Convergence: how much of the objective is met, and whether a stage may stay (B-67 to B-75).
 *
 * The engine computes it from the coverage of each requirement and its weight; nobody else's sum is
 * used. Numbers are compared with a tolerance of 1e-9. Pure. */
#pragma once
#include "base/json.h"
#include "base/str.h"

#define NUMBERS_NEAR 1e-9
#define CONVERGENCE_SATISFIED 0.95 /* B-29 */
#define CONVERGENCE_JUMP 0.25      /* a larger change of one R# needs a reason (B-70) */

/*    weight  word (B-69) */
#define REQUIREMENT_WEIGHTS(X)                                                                     \
    X(3, "critical")                                                                               \
    X(2, "important")                                                                              \
    X(1, "optional")

typedef struct CoverageStep { /* B-68 */
    double coverage;
    const char *word, *help;
} CoverageStep;

typedef struct Requirement {
    const char *id;     /* "R1" */
    double weight;      /* above 0 */
    double coverage;    /* 0 to 1 */
    double previous;    /* at the last accepted stage; below 0: not measured before */
    const char *reason; /* of the coverage; NULL or "": none */
} Requirement;

/*    policy                word           meaning (what happens to an equal value) */
#define CONVERGENCE_POLICIES(X)                                                                    \
    X(POLICY_STRICT, "strict", "only progress is kept (B-28)")                                     \
    X(POLICY_ALLOW_EQUAL, "allow-equal", "work that holds the level is kept")                      \
    X(POLICY_ASK, "ask", "a person decides")

typedef enum ConvergencePolicy {
#define X(policy, word, help) policy,
    CONVERGENCE_POLICIES(X)
#undef X
        POLICY_COUNT
} ConvergencePolicy;

typedef enum ConvergenceVerdict {
    CONVERGENCE_ACCEPT,
    CONVERGENCE_ROLLBACK,
    CONVERGENCE_ASK
} ConvergenceVerdict;

typedef struct ConvergenceInput {
    bool has_requirements; /* false: there is no baseline, the gate is skipped (B-63) */
    double value, previous;
    ConvergencePolicy policy;
} ConvergenceInput;

typedef struct ConvergenceRow {
    const char *id;
    ConvergenceVerdict verdict;
    const char *why;
} ConvergenceRow;

const char *convergence_policy_word(ConvergencePolicy policy);
bool convergence_policy_find(const char *word, ConvergencePolicy *policy);
const char *convergence_verdict_word(ConvergenceVerdict verdict);

/* 0 without requirements (B-67). */
double convergence_value(const Requirement *requirements, size_t count);
/* Never NULL. */
const ConvergenceRow *convergence_judge(const ConvergenceInput *input);
const ConvergenceRow *convergence_rows(size_t *count);
/* At least 0.95 of the objective is met (B-29), whatever becomes of the stage. */
bool convergence_is_satisfied(const ConvergenceInput *input);

/* Changed by more than 0.25 without a reason (B-70). */
bool requirement_is_unexplained(const Requirement *requirement);

/* A number above 0, or one of the words. false: neither. */
bool weight_read(const json_t *value, double *weight);
const char *weight_word(int weight);                          /* "" unknown */
const CoverageStep *coverage_step(double coverage);           /* the highest that is reached */
const CoverageStep *coverage_steps(size_t *count);            /* from done to nothing */
bool requirement_id_read(const char *text, uint32_t *number); /* "R12", "r12", "12" */
