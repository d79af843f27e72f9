#include "tests/test.h"

#include "core/profile.h"
#include <string.h>

static json_t *json(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

static void expect(const ProfileInput *input, unsigned value, double want, ProfileOrigin from)
{
    Profile profile;
    profile_resolve(input, &profile);
    double have = profile.values[value].value;
    if (have - want > 1e-9 || want - have > 1e-9 || profile.values[value].from != from)
        fail_msg("%s is %g (%s), not %g (%s)", profile_key(value), have,
                 profile_origin_word(profile.values[value].from), want, profile_origin_word(from));
}

static void a_value_comes_from_the_nearest_source(void **state)
{
    (void)state;
    static const WorkflowThreshold thresholds[] = {{"post-exec", 0.77}};
    static const WorkflowLimit limits[] = {{"post-exec", 6, true, "tries"}};
    const Workflow flow = {.name = "mine",
                           .thresholds = thresholds,
                           .threshold_count = 1,
                           .limits = limits,
                           .limit_count = 1};
    ProfileInput input = {.type = "architecture"};
    expect(&input, PROFILE_THRESHOLD + 0, 0.75, PROFILE_FROM_SEED);
    expect(&input, PROFILE_THRESHOLD + 1, 0.60, PROFILE_FROM_DEFAULT);
    expect(&input, PROFILE_RETRIES + 2, 4, PROFILE_FROM_SEED);
    input.type = "software";
    expect(&input, PROFILE_THRESHOLD + 2, 0.75, PROFILE_FROM_DEFAULT);
    expect(&input, PROFILE_RETRIES + 1, 2, PROFILE_FROM_DEFAULT);
    expect(&input, PROFILE_MID_INTERVAL, 3, PROFILE_FROM_DEFAULT);
    expect(&input, PROFILE_COMPACTION, 0.82, PROFILE_FROM_DEFAULT);
    input.workflow = &flow;
    expect(&input, PROFILE_THRESHOLD + 2, 0.77, PROFILE_FROM_WORKFLOW);
    expect(&input, PROFILE_RETRIES + 2, 6, PROFILE_FROM_WORKFLOW);
    expect(&input, PROFILE_THRESHOLD + 0, 0.70, PROFILE_FROM_DEFAULT);
    input.type = "bugfix";
    expect(&input, PROFILE_THRESHOLD + 2, 0.65, PROFILE_FROM_SEED);
    json_t *settings = json("{\"thresholds\":{\"post-exec\":0.9,\"post-plan\":\"default\"},"
                            "\"weights\":{\"d4\":0}}");
    input.settings = settings;
    expect(&input, PROFILE_THRESHOLD + 2, 0.9, PROFILE_FROM_SETTING);
    expect(&input, PROFILE_THRESHOLD + 0, 0.6, PROFILE_FROM_SEED);
    expect(&input, PROFILE_WEIGHT + 3, 0, PROFILE_FROM_SETTING);
    Profile profile;
    profile_resolve(&input, &profile);
    assert_true(profile_threshold(&profile, "post-exec") == 0.9);
    assert_true(profile_threshold(&profile, "nowhere") == 1);
    assert_int_equal(profile_retries(&profile, "post-plan"), 2);
    assert_int_equal(profile_mid_interval(&profile), 3);
    assert_true(profile_weights(&profile).d[3] == 0 && profile_weights(&profile).d[0] == 1);
    json_decref(settings);
}

static json_t *observed(unsigned samples, unsigned iterations, unsigned retries)
{
    json_t *sums = NULL;
    ProfileDuration durations[] = {{"plan", 1000}, {"exec", 3000}};
    ProfileSample sample = {.iterations = iterations,
                            .retries = {retries, 0, retries},
                            .mid_checks = 2,
                            .compactions = 1,
                            .durations = durations,
                            .duration_count = 2};
    for (unsigned i = 0; i < samples; i++) {
        json_t *next = profile_observe(sums, &sample);
        json_decref(sums);
        sums = next;
    }
    return sums;
}

static void learning_needs_samples_and_stays_within_its_clamps(void **state)
{
    (void)state;
    static const struct {
        unsigned samples, iterations, retries;
        double threshold, tries, compaction; /* of post-exec; below 0: not learnt */
    } cases[] = {
        {4, 5, 0, -1, -1, -1},     {5, 5, 0, 0.65, 2, 0.87},  {5, 12, 1, 0.75, 3, -1},
        {5, 20, 2, 0.85, 4, 0.78}, {9, 20, 3, 0.85, 5, 0.78}, {5, 20, 100, 0.85, 5, 0.78},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *sums = observed(cases[i].samples, cases[i].iterations, cases[i].retries);
        const double want[] = {cases[i].threshold, cases[i].tries, cases[i].compaction};
        const unsigned keys[] = {PROFILE_THRESHOLD + 2, PROFILE_RETRIES + 2, PROFILE_COMPACTION};
        for (unsigned k = 0; k < 3; k++) {
            double have = -1;
            assert_int_equal(profile_learn(sums, keys[k], &have), want[k] >= 0);
            if (have - want[k] > 1e-9 || want[k] - have > 1e-9)
                fail_msg("case %zu, %s: %g, not %g", i, profile_key(keys[k]), have, want[k]);
        }
        double none;
        assert_false(profile_learn(sums, PROFILE_WEIGHT, &none));
        json_decref(sums);
    }
    json_t *sums = observed(5, 5, 0);
    ProfileInput input = {.type = "architecture", .observed = sums};
    expect(&input, PROFILE_THRESHOLD + 2, 0.65, PROFILE_FROM_LEARNING);
    json_decref(sums);
}

static void broken_observations_count_as_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[]", "7", "{\"sample_count\":-5,\"iterations\":-1}",
        "{\"sample_count\":\"x\",\"retries\":[],\"durations_ms\":3}",
        "{\"sample_count\":5,\"retries\":{\"post-exec\":1e300},\"iterations\":1e300}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *old = json(texts[i]);
        ProfileSample sample = {.iterations = 3};
        json_t *sums = profile_observe(old, &sample);
        assert_int_equal(json_int(sums, "iterations", -1), 3);
        ProfileInput input = {.observed = old, .settings = old};
        json_decref(profile_show_json(&input));
        json_decref(sums);
        json_decref(old);
    }
}

static void what_is_shown_holds_values_origins_and_averages(void **state)
{
    (void)state;
    json_t *sums = observed(6, 12, 2);
    ProfileInput input = {.type = "data-pipeline|software", .observed = sums};
    json_t *shown = profile_show_json(&input);
    json_t *seen = json_object_get(shown, "observed");
    assert_string_equal(json_text(shown, "type", ""), "data-pipeline|software");
    assert_int_equal(json_int(seen, "sample_count", 0), 6);
    assert_true(json_number_value(json_object_get(seen, "avg_iterations")) == 12);
    assert_true(json_number_value(json_object_get(
                    json_object_get(seen, "avg_retries_per_checkpoint"), "post-exec")) == 2);
    assert_int_equal(json_int(json_object_get(seen, "avg_duration_ms"), "exec", 0), 3000);
    assert_int_equal(json_array_size(json_object_get(shown, "values")), PROFILE_VALUES);
    assert_true(strlen(json_text(shown, "rule", "")) > 0);
    json_decref(shown);
    json_decref(sums);
}

static void settings_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part; /* NULL: fine */
    } cases[] = {
        {"{}", NULL},
        {"{\"thresholds\":{\"post-plan\":0.7,\"mid-exec\":null,\"post-exec\":\"default\"},"
         "\"retries\":{\"mid-exec\":2},\"mid_interval\":3,\"compaction\":0.8,"
         "\"weights\":{\"d1\":2.5}}",
         NULL},
        {"[]", "object"},
        {"{\"thresholds\":0.7}", "object"},
        {"{\"thresholds\":{\"post-plan\":1.5}}", "thresholds.post-plan"},
        {"{\"thresholds\":{\"pre-merge\":0.5}}", "unknown key 'thresholds.pre-merge'"},
        {"{\"retries\":{\"mid-exec\":1.5}}", "whole number"},
        {"{\"mid_interval\":0}", "mid_interval"},
        {"{\"weight\":1}", "unknown key 'weight'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Err err = {0};
        json_t *settings = json(cases[i].text);
        bool is_fine = profile_settings_check(settings, &err);
        if (is_fine != !cases[i].part || (cases[i].part && !strstr(err.text, cases[i].part)))
            fail_msg("%s: %s", cases[i].text, err.text);
        json_decref(settings);
    }
}

static void types_are_words_joined_by_bars(void **state)
{
    (void)state;
    assert_true(profile_type_is_valid("software"));
    assert_true(profile_type_is_valid("a_B:9-|x"));
    assert_false(profile_type_is_valid("") || profile_type_is_valid("a||b") ||
                 profile_type_is_valid("|a") || profile_type_is_valid("a|") ||
                 profile_type_is_valid("a b") || profile_type_is_valid("../x") ||
                 profile_type_is_valid(NULL) || profile_type_is_valid("a|b|c|d|e|f|g|h|i"));
    Arena arena = ARENA_INIT;
    TextList names = profile_type_names("data-pipeline|software", &arena);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "data-pipeline");
    assert_string_equal(names.items[1], "software");
    assert_string_equal(profile_type_names("?", &arena).items[0], "software");
    arena_done(&arena);
    assert_true(profile_type_is_software("writing|software"));
    assert_true(profile_type_is_software("software:web"));
    assert_false(profile_type_is_software("softwarez") || profile_type_is_software(NULL));
    assert_true(profile_type_is_hybrid("a|b"));
    assert_false(profile_type_is_hybrid("a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_comes_from_the_nearest_source),
        cmocka_unit_test(learning_needs_samples_and_stays_within_its_clamps),
        cmocka_unit_test(broken_observations_count_as_none),
        cmocka_unit_test(what_is_shown_holds_values_origins_and_averages),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(types_are_words_joined_by_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
