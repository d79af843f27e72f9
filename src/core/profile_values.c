/* The values of a profile: keys, bounds, defaults, built-in seeds, and the rule of learning. */
#include "core/profile_parts.h"
#include <string.h>

/* clang-format off */
static const ProfileKey keys[PROFILE_VALUES] = {
  /* key                     group        name           default min   max  whole; the defaults of checkpoints are theirs */
  { "thresholds.post-plan",  "thresholds", "post-plan",    0,    0,    1,   false },
  { "thresholds.mid-exec",   "thresholds", "mid-exec",     0,    0,    1,   false },
  { "thresholds.post-exec",  "thresholds", "post-exec",    0,    0,    1,   false },
  { "retries.post-plan",     "retries",    "post-plan",    0,    0,    100, true },
  { "retries.mid-exec",      "retries",    "mid-exec",     0,    0,    100, true },
  { "retries.post-exec",     "retries",    "post-exec",    0,    0,    100, true },
  { "mid_interval",          "",           "mid_interval", 3,    1,    50,  true },   /* B-25 */
  { "compaction",            "",           "compaction",   0.82, 0.50, 0.95, false }, /* B-183 */
  { "weights.d1",            "weights",    "d1",           1,    0,    100, false },
  { "weights.d2",            "weights",    "d2",           1,    0,    100, false },
  { "weights.d3",            "weights",    "d3",           1,    0,    100, false },
  { "weights.d4",            "weights",    "d4",           1,    0,    100, false },
  { "weights.d5",            "weights",    "d5",           1,    0,    100, false },
  { "weights.d6",            "weights",    "d6",           1,    0,    100, false },
};

static const struct { const char *type, *key; double value; } seeds[] = {
  { "bugfix",        "thresholds.post-plan", 0.60 }, /* B-42 */
  { "bugfix",        "thresholds.post-exec", 0.65 },
  { "bugfix",        "retries.post-plan",    2 },
  { "architecture",  "thresholds.post-plan", 0.75 }, /* B-43 */
  { "architecture",  "thresholds.post-exec", 0.80 },
  { "architecture",  "retries.post-exec",    4 },
  { "data-pipeline", "thresholds.mid-exec",  0.70 }, /* B-44 */
  { "data-pipeline", "retries.mid-exec",     4 },
};
/* clang-format on */

const ProfileKey *profile_key_row(unsigned value)
{
    return &keys[value];
}

double profile_fallback(unsigned value)
{
    if (value < PROFILE_RETRIES)
        return judge_checkpoints()[value - PROFILE_THRESHOLD].threshold;
    if (value < PROFILE_MID_INTERVAL)
        return judge_checkpoints()[value - PROFILE_RETRIES].retries;
    return value < PROFILE_VALUES ? keys[value].fallback : 0;
}

const char *profile_key(unsigned value)
{
    return keys[value].key;
}

bool profile_seed(const char *type, unsigned value, double *out)
{
    for (size_t i = 0; i < COUNT(seeds); i++) {
        if (strcmp(seeds[i].type, type) == 0 && strcmp(seeds[i].key, keys[value].key) == 0) {
            *out = seeds[i].value;
            return true;
        }
    }
    return false;
}

/* ---- what was observed ---- */

enum { SAMPLES_MOST = 1000000 };

/* Sums are ours, but they come from a file: nothing negative, nothing huge. */
double profile_sum(const json_t *object, const char *key)
{
    double sum = json_number_value(json_object_get(object, key));
    return sum > 0 && sum < 1e15 ? sum : 0;
}

int64_t profile_samples(const json_t *observed)
{
    int64_t count = json_int(observed, "sample_count", 0);
    return CLAMP(count, 0, SAMPLES_MOST);
}

double profile_average(const json_t *observed, const char *group, const char *key)
{
    int64_t count = profile_samples(observed);
    const json_t *object = *group ? json_object_get(observed, group) : observed;
    return count > 0 ? profile_sum(object, key) / (double)count : 0;
}

/* ---- learning ---- */

#define LEARN_SLOPE 0.10 /* of the threshold, per average retry away from one */
#define LEARN_SPAN 0.10  /* the furthest from the default */
#define THRESHOLD_MIN 0.50
#define THRESHOLD_MAX 0.90
enum { RETRIES_MIN = 1, RETRIES_MAX = 5, FEW_STEPS = 8, MANY_STEPS = 16 };
#define COMPACTION_SIMPLE 0.87  /* B-181 */
#define COMPACTION_COMPLEX 0.78 /* B-182 */

const char *profile_rule(void)
{
    return "From 5 finished tasks of a type on: a = average retries at a checkpoint; its threshold "
           "is the default + 0.10 × (a − 1), at most 0.10 away from the default and within 0.50 to "
           "0.90; its retries are a, rounded, + 2, within 1 to 5. A type that passes at the first "
           "try is simple, one that needs several is hard (B-42, B-43). Compaction: 0.87 when "
           "tasks "
           "take at most 8 steps and less than one retry, 0.78 from 16 steps on.";
}

static double learnt_threshold(double fallback, double retries)
{
    double shift = CLAMP(LEARN_SLOPE * (retries - 1), -LEARN_SPAN, LEARN_SPAN);
    return CLAMP(fallback + shift, THRESHOLD_MIN, THRESHOLD_MAX);
}

static bool learnt_compaction(const json_t *observed, double *out)
{
    double steps = profile_average(observed, "", "iterations"), retries = 0;
    for (unsigned i = 0; i < CHECKPOINTS; i++)
        retries += profile_average(observed, "retries", judge_checkpoints()[i].name);
    if (steps >= MANY_STEPS)
        *out = COMPACTION_COMPLEX;
    else if (steps <= FEW_STEPS && retries < 1)
        *out = COMPACTION_SIMPLE;
    else
        return false;
    return true;
}

bool profile_learn(const json_t *observed, unsigned value, double *out)
{
    const ProfileKey *key = &keys[value];
    if (profile_samples(observed) < PROFILE_SAMPLES_MIN)
        return false;
    if (value == PROFILE_COMPACTION)
        return learnt_compaction(observed, out);
    if (value >= PROFILE_MID_INTERVAL)
        return false;
    double retries = profile_average(observed, "retries", key->name);
    if (value >= PROFILE_RETRIES)
        *out = (double)CLAMP((int64_t)(MIN(retries, 100) + 0.5) + 2, RETRIES_MIN, RETRIES_MAX);
    else
        *out = learnt_threshold(profile_fallback(value), retries);
    return true;
}
