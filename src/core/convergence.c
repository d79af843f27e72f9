/* Convergence: see convergence.h. */
#include "core/convergence.h"
#include <string.h>

/* clang-format off */
static const CoverageStep steps[] = {
  /* from   word       meaning */
  { 1.00, "done",    "done and verified" },
  { 0.75, "mostly",  "mostly there" },
  { 0.50, "partly",  "partly there" },
  { 0.25, "begun",   "begun" },
  { 0.00, "nothing", "nothing yet" },
};

static const struct { int weight; const char *word; } weights[] = {
#define X(weight, word) { weight, word },
  REQUIREMENT_WEIGHTS(X)
#undef X
};

static const char *const policy_words[] = {
#define X(policy, word, help) [policy] = word,
  CONVERGENCE_POLICIES(X)
#undef X
};

static const char *const verdict_words[] = {
  [CONVERGENCE_ACCEPT] = "accept", [CONVERGENCE_ROLLBACK] = "rollback", [CONVERGENCE_ASK] = "ask",
};

enum { ROW_NO_BASELINE, ROW_HIGHER, ROW_LOWER, ROW_EQUAL_STRICT, ROW_EQUAL_ALLOWED, ROW_EQUAL_ASK };

static const ConvergenceRow rows[] = {
  [ROW_NO_BASELINE]   = { "no-requirements", CONVERGENCE_ACCEPT, "there are no requirements to measure, so the direction is not judged" },
  [ROW_HIGHER]        = { "higher", CONVERGENCE_ACCEPT, "more of the objective is met than before" },
  [ROW_LOWER]         = { "lower", CONVERGENCE_ROLLBACK, "less of the objective is met than before" },
  [ROW_EQUAL_STRICT]  = { "equal-strict", CONVERGENCE_ROLLBACK, "no more of the objective is met than before, and the policy is strict" },
  [ROW_EQUAL_ALLOWED] = { "equal-allowed", CONVERGENCE_ACCEPT, "as much of the objective is met as before, which the policy allows" },
  [ROW_EQUAL_ASK]     = { "equal-ask", CONVERGENCE_ASK, "as much of the objective is met as before, and the policy says that a person decides" },
};

static const unsigned equal_rows[POLICY_COUNT] = {
  [POLICY_STRICT] = ROW_EQUAL_STRICT, [POLICY_ALLOW_EQUAL] = ROW_EQUAL_ALLOWED, [POLICY_ASK] = ROW_EQUAL_ASK,
};
/* clang-format on */

const char *convergence_policy_word(ConvergencePolicy policy)
{
    return policy_words[policy];
}

bool convergence_policy_find(const char *word, ConvergencePolicy *policy)
{
    for (unsigned i = 0; word && i < POLICY_COUNT; i++) {
        if (strcmp(policy_words[i], word) == 0) {
            *policy = (ConvergencePolicy)i;
            return true;
        }
    }
    return false;
}

const char *convergence_verdict_word(ConvergenceVerdict verdict)
{
    return verdict_words[verdict];
}

double convergence_value(const Requirement *requirements, size_t count)
{
    double covered = 0, whole = 0;
    for (size_t i = 0; i < count; i++) {
        covered += requirements[i].weight * requirements[i].coverage;
        whole += requirements[i].weight;
    }
    return whole > 0 ? covered / whole : 0;
}

const ConvergenceRow *convergence_judge(const ConvergenceInput *input)
{
    double rise = input->value - input->previous;
    if (!input->has_requirements)
        return &rows[ROW_NO_BASELINE];
    if (rise > NUMBERS_NEAR)
        return &rows[ROW_HIGHER];
    if (rise < -NUMBERS_NEAR)
        return &rows[ROW_LOWER];
    return &rows[equal_rows[input->policy]];
}

const ConvergenceRow *convergence_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

bool convergence_is_satisfied(const ConvergenceInput *input)
{
    return input->has_requirements && input->value >= CONVERGENCE_SATISFIED - NUMBERS_NEAR;
}

bool requirement_is_unexplained(const Requirement *requirement)
{
    double change = requirement->coverage - requirement->previous;
    bool is_far =
        change > CONVERGENCE_JUMP + NUMBERS_NEAR || change < -CONVERGENCE_JUMP - NUMBERS_NEAR;
    return requirement->previous >= 0 && is_far && (!requirement->reason || !*requirement->reason);
}

bool weight_read(const json_t *value, double *weight)
{
    const char *word = json_string_value(value);
    if (json_is_number(value)) {
        *weight = json_number_value(value);
        return *weight > 0;
    }
    for (size_t i = 0; word && i < COUNT(weights); i++) {
        if (strcmp(weights[i].word, word) == 0) {
            *weight = weights[i].weight;
            return true;
        }
    }
    return false;
}

const char *weight_word(int weight)
{
    for (size_t i = 0; i < COUNT(weights); i++) {
        if (weights[i].weight == weight)
            return weights[i].word;
    }
    return "";
}

const CoverageStep *coverage_step(double coverage)
{
    size_t i = 0;
    while (i + 1 < COUNT(steps) && coverage < steps[i].coverage - NUMBERS_NEAR)
        i++;
    return &steps[i];
}

const CoverageStep *coverage_steps(size_t *count)
{
    *count = COUNT(steps);
    return steps;
}

bool requirement_id_read(const char *text, uint32_t *number)
{
    int64_t read;
    if (*text == 'R' || *text == 'r')
        text++;
    if (*text < '1' || *text > '9' || strlen(text) > 6 || !text_to_int(text, &read))
        return false;
    *number = (uint32_t)read;
    return true;
}
