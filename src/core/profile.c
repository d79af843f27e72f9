/* Profiles: see profile.h. */
#include "core/profile.h"
#include "core/profile_parts.h"
#include <ctype.h>
#include <string.h>

/* ---- types ---- */

bool profile_type_is_valid(const char *type)
{
    unsigned segments = 1, length = 0;
    if (!type || strlen(type) > PROFILE_TYPE_MAX)
        return false;
    for (; *type; type++) {
        if (*type == '|') {
            if (length == 0)
                return false;
            segments++;
            length = 0;
        } else if (isalnum((unsigned char)*type) || strchr("_:-", *type)) {
            length++;
        } else {
            return false;
        }
    }
    return length > 0 && segments <= PROFILE_SEGMENTS_MAX;
}

TextList profile_type_names(const char *type, Arena *arena)
{
    TextList list = {arena_alloc(arena, PROFILE_SEGMENTS_MAX * sizeof *list.items), 0};
    if (!profile_type_is_valid(type))
        type = PROFILE_TYPE_DEFAULT;
    for (size_t length; *type; type += length + (type[length] == '|')) {
        length = strcspn(type, "|");
        list.items[list.count++] = arena_strndup(arena, type, length);
    }
    return list;
}

bool profile_type_is_software(const char *type)
{
    const size_t length = strlen(PROFILE_TYPE_DEFAULT);
    if (!profile_type_is_valid(type))
        return false;
    for (; type; type = strchr(type, '|')) {
        type += *type == '|';
        if (strncmp(type, PROFILE_TYPE_DEFAULT, length) == 0 &&
            (type[length] == '\0' || strchr("|:-", type[length])))
            return true;
    }
    return false;
}

bool profile_type_is_hybrid(const char *type)
{
    return profile_type_is_valid(type) && strchr(type, '|');
}

/* ---- where a value comes from ---- */

static bool from_setting(const json_t *settings, const ProfileKey *key, double *out)
{
    const json_t *object = *key->group ? json_object_get(settings, key->group) : settings;
    const json_t *value = json_object_get(object, key->name);
    if (!json_is_number(value))
        return false;
    *out = CLAMP(json_number_value(value), key->min, key->max);
    return true;
}

static bool from_seed(TextList names, unsigned value, double *out)
{
    for (size_t i = 0; i < names.count; i++) {
        if (profile_seed(names.items[i], value, out))
            return true;
    }
    return false;
}

static bool from_workflow(const Workflow *flow, unsigned value, double *out)
{
    const char *name = profile_key_row(value)->name;
    if (!flow)
        return false;
    if (value < PROFILE_RETRIES) {
        *out = workflow_threshold(flow, name, -1);
        return *out >= 0;
    }
    const WorkflowLimit *limit = value < PROFILE_MID_INTERVAL ? workflow_limit(flow, name) : NULL;
    if (limit)
        *out = (double)limit->fallback;
    return limit != NULL;
}

static ProfileValue resolve(const ProfileInput *in, TextList names, unsigned value)
{
    const ProfileKey *key = profile_key_row(value);
    double out = 0;
    if (from_setting(in->settings, key, &out))
        return (ProfileValue){out, PROFILE_FROM_SETTING};
    if (profile_learn(in->observed, value, &out))
        return (ProfileValue){out, PROFILE_FROM_LEARNING};
    if (from_seed(names, value, &out))
        return (ProfileValue){out, PROFILE_FROM_SEED};
    if (from_workflow(in->workflow, value, &out))
        return (ProfileValue){out, PROFILE_FROM_WORKFLOW};
    return (ProfileValue){profile_fallback(value), PROFILE_FROM_DEFAULT};
}

void profile_resolve(const ProfileInput *input, Profile *out)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    TextList names = profile_type_names(input->type, &scratch);
    for (unsigned i = 0; i < PROFILE_VALUES; i++)
        out->values[i] = resolve(input, names, i);
}

double profile_threshold(const Profile *profile, const char *checkpoint)
{
    int i = judge_checkpoint_index(checkpoint);
    return i < 0 ? 1 : profile->values[PROFILE_THRESHOLD + i].value;
}

unsigned profile_retries(const Profile *profile, const char *checkpoint)
{
    int i = judge_checkpoint_index(checkpoint);
    return i < 0 ? 0 : (unsigned)profile->values[PROFILE_RETRIES + i].value;
}

Scores profile_weights(const Profile *profile)
{
    Scores weights;
    for (unsigned i = 0; i < DIMENSIONS; i++)
        weights.d[i] = profile->values[PROFILE_WEIGHT + i].value;
    return weights;
}

unsigned profile_mid_interval(const Profile *profile)
{
    return (unsigned)profile->values[PROFILE_MID_INTERVAL].value;
}

const char *profile_origin_word(ProfileOrigin origin)
{
    static const char *const words[] = {
        [PROFILE_FROM_DEFAULT] = "default", [PROFILE_FROM_WORKFLOW] = "workflow",
        [PROFILE_FROM_SEED] = "built-in",   [PROFILE_FROM_LEARNING] = "learnt",
        [PROFILE_FROM_SETTING] = "set",
    };
    return words[origin];
}

/* ---- observing ---- */

static void add_sum(json_t *to, const json_t *from, const char *key, double more)
{
    json_object_set_new(to, key, json_integer((json_int_t)(profile_sum(from, key) + more)));
}

static json_t *add_durations(const json_t *old, const ProfileSample *sample)
{
    json_t *sums = json_object(), *value;
    const char *phase;
    json_object_foreach((json_t *)(uintptr_t)old, phase, value)
    {
        if (json_object_size(sums) < PROFILE_PHASES_MAX)
            add_sum(sums, old, phase, 0);
    }
    for (size_t i = 0; i < sample->duration_count; i++) {
        const ProfileDuration *duration = &sample->durations[i];
        if (json_object_get(sums, duration->phase) || json_object_size(sums) < PROFILE_PHASES_MAX)
            add_sum(sums, sums, duration->phase, (double)MAX(duration->ms, 0));
    }
    return sums;
}

json_t *profile_observe(const json_t *observed, const ProfileSample *sample)
{
    json_t *sums = json_object(), *retries = json_object();
    const json_t *old = json_object_get(observed, "retries");
    json_object_set_new(sums, "sample_count", json_integer(profile_samples(observed) + 1));
    add_sum(sums, observed, "iterations", sample->iterations);
    add_sum(sums, observed, "mid_checks", sample->mid_checks);
    add_sum(sums, observed, "compactions", sample->compactions);
    for (unsigned i = 0; i < CHECKPOINTS; i++)
        add_sum(retries, old, judge_checkpoints()[i].name, sample->retries[i]);
    json_object_set_new(sums, "retries", retries);
    json_object_set_new(sums, "durations_ms",
                        add_durations(json_object_get(observed, "durations_ms"), sample));
    return sums;
}

/* ---- showing ---- */

static json_t *rounded(double value, bool is_whole)
{
    if (is_whole)
        return json_integer((json_int_t)value);
    return json_real((double)(int64_t)(value * 10000 + 0.5) / 10000);
}

static json_t *show_observed(const json_t *observed)
{
    json_t *retries = json_object(), *durations = json_object(), *value;
    const json_t *times = json_object_get(observed, "durations_ms");
    const char *phase;
    for (unsigned i = 0; i < CHECKPOINTS; i++) {
        const char *name = judge_checkpoints()[i].name;
        json_object_set_new(retries, name,
                            rounded(profile_average(observed, "retries", name), false));
    }
    json_object_foreach((json_t *)(uintptr_t)times, phase, value)
    {
        json_object_set_new(durations, phase,
                            rounded(profile_average(observed, "durations_ms", phase), true));
    }
    return json_pack(
        "{s:I,s:o,s:o,s:o,s:o,s:o}", "sample_count", (json_int_t)profile_samples(observed),
        "avg_iterations", rounded(profile_average(observed, "", "iterations"), false),
        "avg_retries_per_checkpoint", retries, "avg_mid_checks",
        rounded(profile_average(observed, "", "mid_checks"), false), "avg_compaction_count",
        rounded(profile_average(observed, "", "compactions"), false), "avg_duration_ms", durations);
}

json_t *profile_show_json(const ProfileInput *input)
{
    Profile profile;
    json_t *values = json_array();
    const char *type = profile_type_is_valid(input->type) ? input->type : PROFILE_TYPE_DEFAULT;
    profile_resolve(input, &profile);
    for (unsigned i = 0; i < PROFILE_VALUES; i++) {
        const ProfileValue *value = &profile.values[i];
        json_array_append_new(values, json_pack("{s:s,s:o,s:s}", "key", profile_key(i), "value",
                                                rounded(value->value, profile_key_row(i)->is_whole),
                                                "origin", profile_origin_word(value->from)));
    }
    return json_pack("{s:s,s:I,s:o,s:o,s:s}", "type", type, "sample_count",
                     (json_int_t)profile_samples(input->observed), "values", values, "observed",
                     show_observed(input->observed), "rule", profile_rule());
}

/* ---- what a person sets ---- */

static bool check_value(const ProfileKey *key, const json_t *value, Err *err)
{
    double number = json_number_value(value);
    if (!value || json_is_null(value) || text_equal(json_string_value(value), "default"))
        return true;
    if (json_is_number(value) && number >= key->min && number <= key->max &&
        (!key->is_whole || number == (double)(int64_t)number))
        return true;
    return err_set(err, ERR_USAGE, "'%s' must be a %snumber from %g to %g, or \"default\"",
                   key->key, key->is_whole ? "whole " : "", key->min, key->max);
}

static bool is_known(const char *group, const char *name)
{
    for (unsigned i = 0; i < PROFILE_VALUES; i++) {
        const ProfileKey *key = profile_key_row(i);
        if (strcmp(key->group, group) == 0 && (!name || strcmp(key->name, name) == 0))
            return true;
    }
    return false;
}

static bool check_names(const json_t *object, const char *group, Err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        bool is_group = !*group && *name && is_known(name, NULL);
        if (is_group ? !json_is_object(value) : !is_known(group, name))
            return err_set(err, ERR_USAGE,
                           is_group ? "'%s%s%.60s' must be an object" : "unknown key '%s%s%.60s'",
                           group, *group ? "." : "", name);
        if (is_group && !check_names(value, name, err))
            return false;
    }
    return true;
}

bool profile_settings_check(const json_t *settings, Err *err)
{
    if (!json_is_object(settings))
        return err_set(err, ERR_USAGE, "the settings of a profile must be an object");
    if (!check_names(settings, "", err))
        return false;
    for (unsigned i = 0; i < PROFILE_VALUES; i++) {
        const ProfileKey *key = profile_key_row(i);
        const json_t *object = *key->group ? json_object_get(settings, key->group) : settings;
        if (!check_value(key, json_object_get(object, key->name), err))
            return false;
    }
    return true;
}
