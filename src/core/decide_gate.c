/* Decisions about gates: score, convergence, audit-rounds. */
#include "core/convergence.h"
#include "core/decide_table.h"
#include "core/judge.h"
#include "core/profile.h"

/* Nine decimals: 0.8 is written as 0.8, not as a sum with a tail. */
static json_t *tidy(double value)
{
    return json_real((double)(int64_t)(value * 1e9 + 0.5) / 1e9);
}

static double number_of(const DecideInput *in, const json_t *object, const char *path,
                        double fallback)
{
    const json_t *value = decide_value(in, object, path);
    return value ? json_number_value(value) : fallback;
}

/* ---- score ---- */

static bool read_weights(DecideInput *in, Scores *weights)
{
    const json_t *given = decide_value(in, in->root, "weights");
    double sum = 0;
    for (unsigned i = 0; i < DIMENSIONS; i++)
        weights->d[i] = 1;
    scores_read(given, weights);
    for (unsigned i = 0; i < DIMENSIONS; i++)
        sum += weights->d[i];
    return sum > 0 || decide_fail(in, "weights", given, NULL,
                                  "'weights' must hold at least one number above 0");
}

static void put_floors(json_t *out, const Judgement *judgement)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < judgement->floor_count; i++)
        json_array_append_new(list, json_string(dimensions()[judgement->floors[i]].key));
    json_object_set_new(out, "floor_broken", list);
}

bool decide_score(DecideInput *in, json_t *out)
{
    JudgeInput input = JUDGE_INPUT_INIT;
    Judgement judgement;
    Profile profile;
    Scores weights;
    ProfileInput from = {.settings = decide_value(in, in->root, "profile")};
    if (!read_weights(in, &weights))
        return false;
    profile_resolve(&from, &profile);
    input.checkpoint = decide_text(in, in->root, "checkpoint");
    scores_read(decide_value(in, in->root, "scores"), &input.scores);
    input.weights = &weights;
    input.threshold = profile_threshold(&profile, input.checkpoint);
    input.retries = (int)profile_retries(&profile, input.checkpoint);
    input.verify = OUTCOME_PASS; /* only the scores are asked about */
    judge_check(&input, &judgement);
    int64_t left = judgement.retries - decide_int(in, in->root, "retries");
    json_object_set_new(out, "overall", tidy(judgement.overall));
    json_object_set_new(out, "threshold", tidy(judgement.threshold));
    put_floors(out, &judgement);
    json_object_set_new(out, "pass", json_boolean(judge_is_pass(judgement.result)));
    json_object_set_new(out, "verdict", json_string(judgement.result));
    json_object_set_new(out, "retries_left", json_integer(MAX(left, 0)));
    decide_put_row(out, judgement.row, judgement.why);
    return true;
}

/* ---- convergence ---- */

static bool read_requirement(DecideInput *in, const json_t *object, size_t index, Requirement *out)
{
    const json_t *weight = decide_value(in, object, "requirements[].weight");
    *out = (Requirement){.coverage = number_of(in, object, "requirements[].coverage", 0),
                         .previous = number_of(in, object, "requirements[].previous", -1),
                         .reason = decide_text(in, object, "requirements[].reason")};
    return weight_read(weight, &out->weight) ||
           decide_fail(in, arena_printf(&in->arena, "requirements[%zu].weight", index), weight,
                       decide_words("critical important optional"),
                       "'requirements[%zu].weight' must be a number above 0, or one of: critical, "
                       "important, optional",
                       index);
}

/* Ids of what changed by more than 0.25 without a reason (B-70). */
static void put_unexplained(json_t *out, const json_t *list, const Requirement *requirements)
{
    size_t i;
    json_t *object, *found = json_array();
    json_array_foreach(list, i, object)
    {
        if (requirement_is_unexplained(&requirements[i]))
            json_array_append(found, json_object_get(object, "id"));
    }
    json_object_set_new(out, "unexplained", found);
}

bool decide_convergence(DecideInput *in, json_t *out)
{
    const json_t *list = decide_value(in, in->root, "requirements");
    size_t count = json_array_size(list);
    Requirement *requirements = arena_alloc(&in->arena, (count + 1) * sizeof *requirements);
    DecideIds ids;
    ConvergenceInput input = {.has_requirements = count > 0,
                              .previous = number_of(in, in->root, "previous", 0)};
    if (!decide_ids(in, list, "requirements", &ids))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_requirement(in, json_array_get(list, i), i, &requirements[i]))
            return false;
    }
    /* the check has seen the word */
    (void)convergence_policy_find(decide_text(in, in->root, "policy"), &input.policy);
    input.value = convergence_value(requirements, count);
    const ConvergenceRow *row = convergence_judge(&input);
    json_object_set_new(out, "value", tidy(input.value));
    json_object_set_new(out, "verdict", json_string(convergence_verdict_word(row->verdict)));
    json_object_set_new(out, "satisfied", json_boolean(convergence_is_satisfied(&input)));
    put_unexplained(out, list, requirements);
    decide_put_row(
        out, row->id,
        arena_printf(&in->arena, "%s (%.4f after %.4f)", row->why, input.value, input.previous));
    return true;
}

/* ---- audit-rounds ---- */

bool decide_audit_rounds(DecideInput *in, json_t *out)
{
    const char *type = decide_text(in, in->root, "type");
    int64_t files = decide_int(in, in->root, "files"), lines = decide_int(in, in->root, "lines"),
            dirs = decide_int(in, in->root, "dirs");
    if (type && *type && !profile_type_is_valid(type))
        return decide_fail(in, "type", decide_value(in, in->root, "type"), NULL,
                           "'type' must be words of letters, digits, '_', ':' and '-', joined by "
                           "'|'");
    unsigned rounds = audit_rounds(files, lines, dirs, type);
    json_object_set_new(out, "rounds", json_integer(rounds));
    decide_put_row(out, NULL,
                   arena_printf(&in->arena,
                                "%u rounds for %lld files, %lld lines and %lld folders, within %d "
                                "to %d",
                                rounds, (long long)files, (long long)lines, (long long)dirs,
                                AUDIT_ROUNDS_MIN, AUDIT_ROUNDS_MAX));
    return true;
}
