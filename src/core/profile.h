/* Profiles: thresholds, retries and intervals per task type, and what was observed (B-41 to B-44,
 * B-289).
 *
 * Each value comes from the first of: what a person fixed, what was learnt, the built-in seed of
 * the type, the workflow, the default. The two JSON texts of a stored profile are read and made
 * here: settings
 * {"thresholds":{"post-plan":0.7,…},"retries":{…},"mid_interval":3,"compaction":0.82,
 *             "weights":{"d1":1,…}}; "default" or null counts as missing
 *   observed {"sample_count":n, sums: "iterations","mid_checks","compactions","retries":{…},
 *             "durations_ms":{phase:…}}
 * Learning: see profile_rule(). Pure. */
#pragma once
#include "base/arena.h"
#include "core/field.h"
#include "core/judge.h"
#include "core/workflow.h"

enum {
    PROFILE_TYPE_MAX = 128,   /* characters of a type */
    PROFILE_SEGMENTS_MAX = 8, /* of a hybrid type */
    PROFILE_SAMPLES_MIN = 5,  /* before anything is learnt */
    PROFILE_PHASES_MAX = 64,  /* durations that are kept */
};
#define PROFILE_TYPE_DEFAULT "software" /* */

typedef enum ProfileOrigin {
    PROFILE_FROM_DEFAULT,
    PROFILE_FROM_WORKFLOW,
    PROFILE_FROM_SEED,
    PROFILE_FROM_LEARNING,
    PROFILE_FROM_SETTING
} ProfileOrigin;

typedef struct ProfileValue {
    double value;
    ProfileOrigin from;
} ProfileValue;

/* Order: thresholds, retries (both in the order of judge_checkpoints), mid_interval, compaction,
 * weights. */
enum {
    PROFILE_THRESHOLD = 0,
    PROFILE_RETRIES = PROFILE_THRESHOLD + CHECKPOINTS,
    PROFILE_MID_INTERVAL = PROFILE_RETRIES + CHECKPOINTS,
    PROFILE_COMPACTION,
    PROFILE_WEIGHT,
    PROFILE_VALUES = PROFILE_WEIGHT + DIMENSIONS
};

typedef struct Profile {
    ProfileValue values[PROFILE_VALUES];
} Profile;

typedef struct ProfileInput {
    const char *type;         /* NULL or "": the default */
    const json_t *settings;   /* NULL none */
    const json_t *observed;   /* NULL none */
    const Workflow *workflow; /* NULL none */
} ProfileInput;

void profile_resolve(const ProfileInput *input, Profile *out);
double profile_threshold(const Profile *profile, const char *checkpoint); /* 1 when unknown */
unsigned profile_retries(const Profile *profile, const char *checkpoint); /* 0 when unknown */
Scores profile_weights(const Profile *profile);
unsigned profile_mid_interval(const Profile *profile);
const char *profile_origin_word(ProfileOrigin origin); /* "default", "workflow", "built-in", … */
const char *profile_key(unsigned value);               /* "thresholds.post-plan" */

/* What one finished task took. */
typedef struct ProfileDuration {
    const char *phase;
    int64_t ms;
} ProfileDuration;

typedef struct ProfileSample {
    unsigned iterations; /* steps */
    unsigned retries[CHECKPOINTS];
    unsigned mid_checks, compactions;
    const ProfileDuration *durations;
    size_t duration_count;
} ProfileSample;

/* The sums with one more sample: a new object. observed may be NULL or broken. */
json_t *profile_observe(const json_t *observed, const ProfileSample *sample);
int64_t profile_samples(const json_t *observed);
/* Learnt values: false and untouched when there are too few samples or nothing is learnt for it. */
bool profile_learn(const json_t *observed, unsigned value, double *out);
const char *profile_rule(void); /* how learning works, in words */

/* {type, sample_count, values:[{key, value, origin}], observed:{avg_…}, rule} */
json_t *profile_show_json(const ProfileInput *input);

/* A setting as a person gives it; the error names the key, the value and the bounds. */
bool profile_settings_check(const json_t *settings, Err *err) NODISCARD;

/* Types: segments of letters, digits, '_', ':' and '-', joined by '|'. */
bool profile_type_is_valid(const char *type);
/* The names to look a profile up by, best first: of "A|B" they are A, then B. */
TextList profile_type_names(const char *type, Arena *arena);
bool profile_type_is_software(const char *type); /* some segment is software (B-197) */
bool profile_type_is_hybrid(const char *type);
