/* The rows that judge a check, in their order. */
#include "core/excerpt.h"
#include "core/judge.h"
#include <string.h>

enum { NAMES_SHOWN = 5, NAME_BYTES = 120, DISCIPLINE_LEAST = 50 };

static bool some(JudgeNames names, Str *detail)
{
    for (size_t i = 0; i < MIN(names.count, (size_t)NAMES_SHOWN); i++) {
        str_add(detail, i ? ", " : "");
        excerpt_add(detail, names.items[i], NAME_BYTES);
    }
    if (names.count > NAMES_SHOWN)
        str_addf(detail, " and %zu more", names.count - NAMES_SHOWN);
    return names.count > 0;
}

static bool says(const JudgeInput *in, const char *verdict)
{
    return in->verdict && strcmp(in->verdict, verdict) == 0;
}

static void add_score(const Judgement *numbers, Str *detail)
{
    bool is_low = numbers->overall < numbers->threshold - NUMBERS_NEAR;
    str_addf(detail, "overall %.2f %s %.2f", numbers->overall, is_low ? "is below" : "reaches",
             numbers->threshold);
}

static bool is_blocked(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    (void)detail;
    return says(in, "BLOCKED");
}

static bool has_unmet(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->unmet, detail);
}

static bool is_unsafe(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->unsafe, detail);
}

static bool has_missing(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->missing, detail);
}

static bool is_replan(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    if (!says(in, "REPLAN") || numbers->is_score_good)
        return false;
    add_score(numbers, detail);
    return true;
}

static bool has_regressed(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->regressed, detail);
}

static bool has_broken(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->broken, detail);
}

static bool verify_failed(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    if (in->verify_why)
        excerpt_add(detail, in->verify_why, NAME_BYTES);
    return in->verify == OUTCOME_FAIL;
}

static bool is_unverified(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    (void)detail;
    return in->verify == OUTCOME_NONE;
}

static bool is_floor_broken(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    for (unsigned i = 0; i < numbers->floor_count; i++) {
        const Dimension *dimension = &dimensions()[numbers->floors[i]];
        str_addf(detail, "%s%s (%s) is %.2f, below %.2f", i ? ", " : "", dimension->key,
                 dimension->name, in->scores.d[numbers->floors[i]], JUDGE_FLOOR);
    }
    return numbers->floor_count > 0;
}

static bool is_low(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)in;
    add_score(numbers, detail);
    return !numbers->is_score_good;
}

static bool has_refused(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->refused, detail);
}

static bool has_high(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->high, detail);
}

/* a stricter opinion than the scores wins, a laxer one never does. */
static bool has_doubt(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    static const char *const strict[] = {"NEEDS_REVISION", "NEEDS_FIX", "REPLAN", "ROLLBACK"};
    for (size_t i = 0; i < COUNT(strict); i++)
        if (says(in, strict[i])) {
            str_addf(detail, "it says %s, although ", strict[i]);
            add_score(numbers, detail);
            return true;
        }
    return false;
}

static bool is_undisciplined(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    str_addf(detail, "%d %% of the steps, at least %d %% are needed", in->discipline,
             DISCIPLINE_LEAST);
    return in->discipline >= 0 && in->discipline < DISCIPLINE_LEAST;
}

static bool direction_is(const JudgeInput *in, ConvergenceVerdict verdict, Str *detail)
{
    const ConvergenceRow *row = convergence_judge(&in->convergence);
    str_addf(detail, "convergence %.4f after %.4f, %s", in->convergence.value,
             in->convergence.previous, row->why);
    return row->verdict == verdict;
}

static bool is_first_lower(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return in->stage <= 1 && direction_is(in, CONVERGENCE_ROLLBACK, detail);
}

static bool is_lower(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return direction_is(in, CONVERGENCE_ROLLBACK, detail);
}

static bool is_asked(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return direction_is(in, CONVERGENCE_ASK, detail);
}

static bool is_guarded(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    (void)numbers;
    return some(in->guards, detail);
}

static bool is_good(const JudgeInput *in, const Judgement *numbers, Str *detail)
{
    add_score(numbers, detail);
    if (in->convergence.has_requirements)
        str_addf(detail, ", convergence %.4f after %.4f", in->convergence.value,
                 in->convergence.previous);
    if (in->discipline >= DISCIPLINE_LEAST && in->discipline < 80)
        str_addf(detail, ", test-first in %d %% of the steps", in->discipline);
    if (in->guards.count && strcmp(in->checkpoint, "mid-exec") == 0)
        str_addf(detail, "; %zu guards fired and will need a person at the end", in->guards.count);
    if (in->early.count) {
        str_add(detail, "; green before the work, so they prove nothing: ");
        (void)some(in->early, detail); /* there are some */
    }
    return true;
}

#define EXEC "mid-exec post-exec"

/* clang-format off */
static const JudgeRow rows[] = { /* the first that holds decides */
  /* id              at           holds             result      why */
  { "blocked",       "*",         is_blocked,       "BLOCKED",  "the reviewer says that the work cannot go on" },
  { "dependencies",  "*",         has_unmet,        "BLOCKED",  "dependencies are not met" },
  { "unsafe-plan",   "post-plan", is_unsafe,        "-",        "the plan holds commands that may not be run unattended" },
  { "uncovered",     "post-plan", has_missing,      "-",        "no step of the plan covers these requirements" },
  { "replan",        EXEC,       is_replan,        "REPLAN",   "the scores fail and the reviewer asks for another plan" },
  { "regressed",     EXEC,       has_regressed,    "-",        "checks that were green are not any more" },
  { "broken",        EXEC,       has_broken,       "-",        "checks could not be run, twice" },
  { "verify-failed", EXEC,       verify_failed,    "-",        "the engine's own checks failed" },
  { "unverified",    "post-exec", is_unverified,    "-",        "nothing is accepted before its checks were run" },
  { "inspected",     "post-exec", has_refused,      "-",        "the reviewer rejected checks of the plan" },
  { "floor",         "*",         is_floor_broken,  "-",        "a dimension that blocks is below its floor" },
  { "score",         "*",         is_low,           "-",        "the score is too low" },
  { "high-finding",  "*",         has_high,         "-",        "the score passes, but a finding of severity HIGH is open" },
  { "doubt",         "*",         has_doubt,        "-",        "the reviewer itself would not let it pass" },
  { "discipline",    "post-exec", is_undisciplined, "-",        "too few steps went from a failing check to a passing one" },
  { "first-stage",   "post-exec", is_first_lower,   "-",        "the first stage has nothing to roll back to" },
  { "direction",     "post-exec", is_lower,         "ROLLBACK", "the quality passes, the direction does not" },
  { "direction-ask", "post-exec", is_asked,         "GUARDED",  "a person decides about the direction" },
  { "guarded",       "post-exec", is_guarded,       "GUARDED",  "the work passes, but guards fired" },
  { "passed",        "*",         is_good,          "+",        "the check passes" },
};
/* clang-format on */

const JudgeRow *judge_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}
