/* Judging a check: see judge.h. The rows are in judge_rows.c. */
#include "core/judge.h"
#include "core/excerpt.h"
#include "core/profile.h"
#include <assert.h>
#include <string.h>

/* clang-format off */
static const Dimension dimension_rows[DIMENSIONS] = {
  /* key   name              anchored on                                  question                                               floor */
  { "d1", "correctness",     "the target's requirements and the R#",      "is each requirement implemented, is each R# scored right?", 2 },
  { "d2", "security",        "the target's security constraints",         "are they met?",                                        1 },
  { "d3", "reliability",     "the plan's edge cases and the weights",     "are edge cases covered, critical ones first?",         3 },
  { "d4", "performance",     "the target's performance figures",          "are they met?",                                        0 },
  { "d5", "architecture",    "the plan's architecture",                   "does the structure match it?",                         0 },
  { "d6", "maintainability", "the plan's split into modules",             "is it organised and named as planned?",                0 },
};

static const JudgeCheckpoint checkpoint_rows[CHECKPOINTS] = { /* B-38 to B-40 */
  /* name        threshold retries pass        fail              every result */
  { "post-plan", 0.70,     3,      "PASS",     "NEEDS_REVISION", "PASS NEEDS_REVISION BLOCKED" },
  { "mid-exec",  0.60,     2,      "CONTINUE", "NEEDS_FIX",      "CONTINUE NEEDS_FIX REPLAN BLOCKED" },
  { "post-exec", 0.75,     3,      "ACCEPT",   "NEEDS_FIX",      "ACCEPT NEEDS_FIX REPLAN ROLLBACK GUARDED BLOCKED" },
};

static const char *const outcome_words[] = {
  [OUTCOME_NONE] = "none", [OUTCOME_PASS] = "pass", [OUTCOME_PARTIAL] = "partial", [OUTCOME_FAIL] = "fail",
};
/* clang-format on */

const Dimension *dimensions(void)
{
    return dimension_rows;
}

const JudgeCheckpoint *judge_checkpoints(void)
{
    return checkpoint_rows;
}

int judge_checkpoint_index(const char *name)
{
    for (int i = 0; name && i < CHECKPOINTS; i++) {
        if (strcmp(checkpoint_rows[i].name, name) == 0)
            return i;
    }
    return -1;
}

const JudgeCheckpoint *judge_checkpoint(const char *name)
{
    int i = judge_checkpoint_index(name);
    return i < 0 ? NULL : &checkpoint_rows[i];
}

const char *verify_outcome_word(VerifyOutcome outcome)
{
    return outcome_words[outcome];
}

bool verify_outcome_find(const char *word, VerifyOutcome *outcome)
{
    for (unsigned i = 0; word && i < COUNT(outcome_words); i++) {
        if (strcmp(outcome_words[i], word) == 0) {
            *outcome = (VerifyOutcome)i;
            return true;
        }
    }
    return false;
}

void scores_read(const json_t *object, Scores *scores)
{
    for (unsigned i = 0; i < DIMENSIONS; i++) {
        const json_t *value = json_object_get(object, dimension_rows[i].key);
        if (json_is_number(value))
            scores->d[i] = json_number_value(value);
    }
}

double judge_overall(const Scores *scores, const Scores *weights)
{
    double sum = 0, whole = 0, plain = 0;
    for (unsigned i = 0; i < DIMENSIONS; i++) {
        plain += scores->d[i];
        sum += weights ? scores->d[i] * weights->d[i] : 0;
        whole += weights ? weights->d[i] : 0;
    }
    return whole > 0 ? sum / whole : plain / DIMENSIONS;
}

unsigned judge_floors(const Scores *scores, unsigned broken[DIMENSIONS])
{
    unsigned count = 0;
    for (int order = 1; order <= DIMENSIONS; order++) {
        for (unsigned i = 0; i < DIMENSIONS; i++) {
            if (dimension_rows[i].floor_order == order && scores->d[i] < JUDGE_FLOOR - NUMBERS_NEAR)
                broken[count++] = i;
        }
    }
    return count;
}

bool judge_is_pass(const char *result)
{
    for (unsigned i = 0; i < CHECKPOINTS; i++) {
        if (strcmp(checkpoint_rows[i].pass, result) == 0)
            return true;
    }
    return false;
}

static void compute(const JudgeInput *input, const JudgeCheckpoint *checkpoint, Judgement *out)
{
    *out = (Judgement){
        .overall = judge_overall(&input->scores, input->weights),
        .threshold = input->threshold < 0 ? checkpoint->threshold : input->threshold,
        .retries = input->retries < 0 ? checkpoint->retries : (unsigned)input->retries,
    };
    out->floor_count = judge_floors(&input->scores, out->floors);
    out->is_score_good = out->floor_count == 0 && out->overall >= out->threshold - NUMBERS_NEAR;
}

static bool is_at(const JudgeRow *row, const char *checkpoint)
{
    char word[16];
    if (strcmp(row->checkpoint, "*") == 0)
        return true;
    for (size_t i = 0; word_at(row->checkpoint, i, word, sizeof word); i++) {
        if (strcmp(word, checkpoint) == 0)
            return true;
    }
    return false;
}

static const char *result_of(const JudgeRow *row, const JudgeCheckpoint *checkpoint)
{
    if (strcmp(row->result, "+") == 0)
        return checkpoint->pass;
    return strcmp(row->result, "-") == 0 ? checkpoint->fail : row->result;
}

void judge_check(const JudgeInput *input, Judgement *out)
{
    const JudgeCheckpoint *checkpoint = judge_checkpoint(input->checkpoint);
    CLEANUP(str_done) Str detail = STR_INIT, why = STR_INIT;
    size_t count;
    const JudgeRow *rows = judge_rows(&count), *row = rows;
    assert(checkpoint);
    compute(input, checkpoint, out);
    for (;; row++) {
        assert(row < rows + count); /* the last row always holds */
        str_clear(&detail);
        if (is_at(row, checkpoint->name) && row->holds(input, out, &detail))
            break;
    }
    out->row = row->id;
    out->result = result_of(row, checkpoint);
    str_add(&why, row->why);
    if (detail.length)
        str_addf(&why, ": %s", str_text(&detail));
    excerpt_copy(out->why, sizeof out->why, str_text(&why));
}

/* ---- audit rounds ---- */

static int64_t parts(int64_t amount, int64_t size)
{
    return amount <= 0 ? 0 : amount / size + (amount % size != 0);
}

unsigned audit_rounds(int64_t files, int64_t lines, int64_t dirs, const char *type)
{
    int64_t bonus = profile_type_is_software(type) + profile_type_is_hybrid(type);
    int64_t most = AUDIT_ROUNDS_MAX; /* of each part: the sum cannot overflow */
    int64_t rounds = MIN(parts(files, 5), most) + MIN(parts(lines, 200), most) +
                     MIN(parts(dirs, 3), most) + bonus;
    return (unsigned)CLAMP(rounds, AUDIT_ROUNDS_MIN, AUDIT_ROUNDS_MAX);
}

const char *audit_is_over(const AuditProgress *progress)
{
    if (progress->quiet >= 2)
        return "two rounds in a row found nothing to fix";
    if (progress->done >= 1 && progress->is_first_clean && progress->files <= 3)
        return "everything passed in the first round and at most 3 files changed";
    return progress->done >= progress->rounds ? "the rounds are used up" : NULL;
}
