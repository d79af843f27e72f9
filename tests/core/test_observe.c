/* core/observe: words, files and decisions about sessions that drive themselves. */
#include "tests/test.h"

#include "core/observe.h"
#include <stdlib.h>
#include <string.h>

/* The result is one that the phase of kind observe can have. */
static bool phase_word_is_listed(const char *word)
{
    CLEANUP(str_done) Str list = STR_INIT, needle = STR_INIT;
    str_addf(&list, " %s ", observe_results);
    str_addf(&needle, " %s ", word);
    return *word && strstr(str_text(&list), str_text(&needle)) != NULL;
}

/* ---- words ---- */

static const char *const steps[] = {"plan",     "check",  "exec",     "merge",  "report",
                                    "research", "verify", "annotate", "target", "highlight"};
static const char *const nexts[] = {"plan",   "check",     "exec",   "merge",
                                    "report", "research",  "verify", "annotate",
                                    "target", "highlight", "(stop)", "(rollback)"};
static const char *const results[] = {
    "PASS",           "NEEDS_REVISION", "ACCEPT",         "NEEDS_FIX",
    "REPLAN",         "BLOCKED",        "CONTINUE",       "ROLLBACK",
    "(generated)",    "(annotations)",  "(done)",         "(mid-exec)",
    "(step-1)",       "(step-999999)",  "(blocked)",      "success",
    "conflict",       "(collected)",    "(sufficient)",   "(pass)",
    "(fail)",         "(partial)",      "(processed)",    "(hil-pending)",
    "(o1-collected)", "(o2-collected)", "(o3-collected)", "(objective-complete)",
    "(distilled)",    "(refined)",      "failed",         "(skipped-idempotent)",
    "stage-done",     "evolving",       "rejected",       "(stage-advanced)"};
static const char *const checkpoints[] = {"",
                                          "post-plan",
                                          "mid-exec",
                                          "post-exec",
                                          "post-research",
                                          "quick",
                                          "full",
                                          "step-1",
                                          "step-12",
                                          "post-o1",
                                          "post-o2",
                                          "post-o3",
                                          "pre-merge",
                                          "post-annotate",
                                          "regression",
                                          "no-accept",
                                          "checkout-failed",
                                          "dependency-blocked",
                                          "state-transition-failed"};
static const char *const statuses[] = {"draft",       "planning", "review",    "executing",
                                       "re-planning", "complete", "satisfied", "blocked",
                                       "cancelled",   "evolving"};

typedef struct List {
    ObserveField field;
    const char *const *words;
    size_t count;
} List;

static const List lists[] = {{FIELD_STEP, steps, COUNT(steps)},
                             {FIELD_RESULT, results, COUNT(results)},
                             {FIELD_NEXT, nexts, COUNT(nexts)},
                             {FIELD_CHECKPOINT, checkpoints, COUNT(checkpoints)},
                             {FIELD_STATUS, statuses, COUNT(statuses)}};

static bool is_listed(const List *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->words[i], word) == 0)
            return true;
    return false;
}

/* Every word of every list against every field: it stands where it is listed and nowhere else. */
static void a_word_stands_only_where_it_belongs(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(lists); f++)
        for (size_t l = 0; l < COUNT(lists); l++)
            for (size_t i = 0; i < lists[l].count; i++) {
                const char *word = lists[l].words[i];
                bool is_known = observe_word_find(lists[f].field, word) != NULL;
                if (is_known != is_listed(&lists[f], word))
                    fail_msg("'%s' in field %d: %d", word, (int)lists[f].field, is_known);
            }
}

static void every_word_of_the_table_is_in_the_lists(void **state)
{
    (void)state;
    size_t count;
    const ObserveWord *words = observe_words(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(words[i].from && *words[i].from && words[i].fields);
        assert_true(strlen(words[i].word) < OBSERVE_WORD_MAX);
        if (strstr(words[i].word, "-N"))
            continue;
        for (size_t f = 0; f < COUNT(lists); f++)
            if (words[i].fields & (unsigned)lists[f].field && !is_listed(&lists[f], words[i].word))
                fail_msg("'%s' is not tested", words[i].word);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(words[i].word, words[j].word);
    }
}

static void words_are_taken_exactly(void **state)
{
    (void)state;
    static const char *const bad[] = {"pass",     "Pass",      "PASS ",         "(step-)",
                                      "(step-0)", "(step-N)",  "(step-01)",     "(step--1)",
                                      "(step-1",  "(step-1x)", "step-1",        "(step-1e3)",
                                      "done",     "(unknown)", "(step-1234567)"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_null(observe_word_find(FIELD_RESULT, bad[i]));
    assert_null(observe_word_find(FIELD_CHECKPOINT, "step-0"));
    assert_null(observe_word_find(FIELD_CHECKPOINT, "(step-1)"));
    assert_null(observe_word_find(FIELD_STEP, ""));
}

static void times_are_iso_8601(void **state)
{
    (void)state;
    static const char *const good[] = {
        "2026-01-31T10:00:00Z",     "2026-01-31T10:00:00.123Z", "2026-01-31T10:00:00+02:00",
        "2026-01-31T10:00:00-0530", "2026-01-31T10:00:00+02",   "2024-02-29T23:59:60Z",
        "2026-01-31T10:00:00",      "2026-01-31T10:00",         "2026-01-31T10:00:00,5Z"};
    static const char *const bad[] = {"",
                                      "now",
                                      "2026-01-31",
                                      "2026-13-31T10:00:00Z",
                                      "2026-02-29T10:00:00Z",
                                      "2026-01-00T10:00:00Z",
                                      "2026-01-31T24:00:00Z",
                                      "2026-01-31T10:60:00Z",
                                      "2026-01-31T10:00:61Z",
                                      "2026-01-31 10:00:00Z",
                                      "2026-01-31T10:00:00Zx",
                                      "2026-01-31T10:00:00.Z",
                                      "2026-01-31T10:00:00+2",
                                      "2026-01-31T10:00:00+02:",
                                      "2026-01-31T10:00:00+02:60",
                                      "1769850000",
                                      "2026-1-31T10:00:00Z"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!observe_time_is_valid(good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (observe_time_is_valid(bad[i]))
            fail_msg("taken: %s", bad[i]);
}

static void times_are_written_as_they_are_read(void **state)
{
    (void)state;
    char text[OBSERVE_TIME_SIZE];
    observe_time_text(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    observe_time_text(INT64_C(951827696789), text);
    assert_string_equal(text, "2000-02-29T12:34:56Z");
    observe_time_text(INT64_C(1772366400000), text);
    assert_string_equal(text, "2026-03-01T12:00:00Z");
    observe_time_text(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
    assert_true(observe_time_is_valid(text));
    observe_time_text(-5, text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
}

/* ---- .auto-signal ---- */

#define GOOD_HEAD "\"step\":\"exec\",\"result\":\"(done)\",\"next\":\"verify\""
#define GOOD_TIME "\"timestamp\":\"2026-01-31T10:00:00Z\""
#define GOOD GOOD_HEAD "," GOOD_TIME

static bool reads(const char *text, ObservedSignal *signal, Err *err)
{
    return observe_signal_read(text, strlen(text), signal, err);
}

static void a_good_signal_is_read(void **state)
{
    (void)state;
    ObservedSignal signal;
    Err err = {0};
    assert_true(reads("{" GOOD ",\"checkpoint\":\"mid-exec\",\"iteration\":7,\"other\":[1]}",
                      &signal, &err));
    assert_string_equal(signal.step, "exec");
    assert_string_equal(signal.result, "(done)");
    assert_string_equal(signal.next, "verify");
    assert_string_equal(signal.checkpoint, "mid-exec");
    assert_string_equal(signal.timestamp, "2026-01-31T10:00:00Z");
    assert_int_equal(signal.iteration, 7);
    assert_int_equal(signal.compaction_count, -1);
}

static void what_may_be_left_out_is_left_out(void **state)
{
    (void)state;
    ObservedSignal signal;
    Err err = {0};
    assert_true(reads("{" GOOD "}", &signal, &err));
    assert_string_equal(signal.checkpoint, "");
    assert_int_equal(signal.iteration, -1);
    assert_true(reads("{" GOOD ",\"checkpoint\":null,\"stage\":null}", &signal, &err));
    assert_int_equal(signal.stage, 0);
}

static void the_early_form_of_b_is_read_with_its_ranges(void **state)
{
    (void)state;
    ObservedSignal signal;
    Err err = {0};
    if (!reads("{" GOOD
               ",\"compaction_count\":1,\"vfp_cycles_completed\":4,\"phase\":\"needs-plan\","
               "\"phase_progress\":0.5,\"stage\":{\"current\":2,\"total\":3},"
               "\"check_score\":{\"overall\":0.8,\"d1\":1,\"d6\":0},\"retry_count\":2,"
               "\"delegation_failures\":[\"check@iter4\",\"exec@iter12\"]}",
               &signal, &err))
        fail_msg("%s", err.text);
    assert_int_equal(signal.compaction_count, 1);
    assert_int_equal(signal.vfp_cycles, 4);
    assert_string_equal(signal.phase, "needs-plan");
    assert_true(signal.phase_progress == 0.5);
    assert_int_equal(signal.stage, 2);
    assert_int_equal(signal.stage_total, 3);
    assert_true(signal.overall == 0.8 && signal.d[0] == 1 && signal.d[5] == 0 && signal.d[1] < 0);
    assert_int_equal(signal.retry_count, 2);
    assert_int_equal(signal.delegation_failures, 2);
}

/* text, then a word that the message must hold */
static const char *const broken[][2] = {
    {"", "JSON"},
    {"{", "JSON"},
    {"[]", "object"},
    {"null", "object"},
    {"{" GOOD, "JSON"},
    {"{" GOOD "} trailing", "JSON"},
    {"{" GOOD ",\"step\":\"plan\"}", "JSON"}, /* twice */
    {"{\"result\":\"(done)\",\"next\":\"verify\"," GOOD_TIME "}", "step"},
    {"{\"step\":\"exec\",\"next\":\"verify\"," GOOD_TIME "}", "result"},
    {"{\"step\":\"exec\",\"result\":\"(done)\"," GOOD_TIME "}", "next"},
    {"{" GOOD_HEAD "}", "timestamp"},
    {"{\"step\":\"dance\",\"result\":\"(done)\",\"next\":\"verify\"," GOOD_TIME "}", "dance"},
    {"{\"step\":7,\"result\":\"(done)\",\"next\":\"verify\"," GOOD_TIME "}", "step"},
    {"{\"step\":\"exec\",\"result\":\"verify\",\"next\":\"verify\"," GOOD_TIME "}", "result"},
    {"{\"step\":\"exec\",\"result\":\"(done)\",\"next\":\"\"," GOOD_TIME "}", "next"},
    {"{" GOOD_HEAD ",\"timestamp\":\"yesterday\"}", "ISO 8601"},
    {"{" GOOD_HEAD ",\"timestamp\":1769850000}", "timestamp"},
    {"{" GOOD ",\"checkpoint\":\"post-war\"}", "checkpoint"},
    {"{" GOOD ",\"checkpoint\":5}", "checkpoint"},
    {"{" GOOD ",\"iteration\":-1}", "iteration"},
    {"{" GOOD ",\"iteration\":1.5}", "iteration"},
    {"{" GOOD ",\"iteration\":\"3\"}", "iteration"},
    {"{" GOOD ",\"iteration\":99999999999}", "iteration"},
    {"{" GOOD ",\"compaction_count\":-2}", "compaction_count"},
    {"{" GOOD ",\"vfp_cycles_completed\":true}", "vfp_cycles_completed"},
    {"{" GOOD ",\"retry_count\":-1}", "retry_count"},
    {"{" GOOD ",\"phase\":{}}", "phase"},
    {"{" GOOD ",\"phase\":\"a\\u001bb\"}", "phase"},
    {"{" GOOD ",\"phase\":\"0123456789012345678901234567890123456789\"}", "phase"},
    {"{" GOOD ",\"phase_progress\":1.01}", "phase_progress"},
    {"{" GOOD ",\"phase_progress\":-0.1}", "phase_progress"},
    {"{" GOOD ",\"stage\":3}", "stage"},
    {"{" GOOD ",\"stage\":{}}", "current"},
    {"{" GOOD ",\"stage\":{\"current\":0}}", "current"},
    {"{" GOOD ",\"stage\":{\"current\":3,\"total\":2}}", "total"},
    {"{" GOOD ",\"check_score\":[]}", "check_score"},
    {"{" GOOD ",\"check_score\":{\"overall\":7}}", "overall"},
    {"{" GOOD ",\"check_score\":{\"d4\":\"good\"}}", "d4"},
    {"{" GOOD ",\"delegation_failures\":\"check@iter4\"}", "delegation_failures"},
    {"{" GOOD ",\"delegation_failures\":[\"check\"]}", "delegation_failures"},
    {"{" GOOD ",\"delegation_failures\":[\"@iter4\"]}", "delegation_failures"},
    {"{" GOOD ",\"delegation_failures\":[\"check@iter4x\"]}", "delegation_failures"},
};

static void a_broken_signal_is_refused_with_its_field_and_nothing_is_touched(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        ObservedSignal signal, before;
        memset(&signal, 0x5a, sizeof signal);
        before = signal;
        Err err = {0};
        if (reads(broken[i][0], &signal, &err))
            fail_msg("taken: %s", broken[i][0]);
        if (!strstr(err.text, broken[i][1]))
            fail_msg("%s: '%s' does not name '%s'", broken[i][0], err.text, broken[i][1]);
        assert_memory_equal(&signal, &before, sizeof signal);
    }
}

static void a_huge_signal_is_refused(void **state)
{
    (void)state;
    Err err = {0};
    ObservedSignal signal;
    size_t length = OBSERVE_FILE_MAX + 1;
    char *text = malloc(length);
    memset(text, ' ', length);
    assert_false(observe_signal_read(text, length, &signal, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    free(text);
}

/* Every cut of a good file: half-written is never taken for whole. */
static void no_part_of_a_signal_is_taken_for_the_whole(void **state)
{
    (void)state;
    static const char text[] = "{" GOOD ",\"iteration\":12}";
    for (size_t length = 0; length < strlen(text); length++) {
        ObservedSignal signal;
        assert_false(observe_signal_read(text, length, &signal, NULL));
    }
}

static void what_was_read_is_written_and_read_again(void **state)
{
    (void)state;
    ObservedSignal first, second;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    assert_true(reads("{" GOOD
                      ",\"iteration\":3,\"stage\":{\"current\":2},\"check_score\":{\"d2\":0.5},"
                      "\"secret\":\"not copied\"}",
                      &first, &err));
    observe_signal_write(&first, &text);
    assert_null(strstr(str_text(&text), "secret"));
    if (!observe_signal_read(str_text(&text), text.length, &second, &err))
        fail_msg("%s: %s", str_text(&text), err.text);
    assert_true(observe_signal_is_same(&first, &second));
    assert_int_equal(second.stage, 2);
    assert_true(second.d[1] == 0.5);
}

/* ---- state file ---- */

static bool status_reads(const char *text, ObserveProtocol protocol, ObservedStatus *now, Str *said)
{
    Err err = {0};
    return observe_status_read(text, strlen(text), protocol, now, said, &err);
}

static void a_state_file_is_read(void **state)
{
    (void)state;
    ObservedStatus now = {0};
    CLEANUP(str_done) Str said = STR_INIT;
    assert_true(status_reads("{\"title\":\"x\",\"status\":\"executing\",\"phase\":\"needs-check\","
                             "\"completed_steps\":4,\"updated\":\"2026-01-31T10:00:00Z\","
                             "\"stage\":{\"current\":3,\"history\":[{\"stage\":1},{\"stage\":2}]}}",
                             OBSERVE_B, &now, &said));
    assert_true(now.is_known);
    assert_string_equal(now.status, "executing");
    assert_string_equal(now.phase, "needs-check");
    assert_int_equal(now.completed_steps, 4);
    assert_int_equal(now.stage, 3);
    assert_int_equal(now.stages_done, 2);
    assert_string_equal(now.stamp, "2026-01-31T10:00:00Z");
    assert_string_equal(str_text(&said), "");
}

static void every_status_is_known_to_both_protocols(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++)
        for (int protocol = OBSERVE_A; protocol <= OBSERVE_B; protocol++) {
            ObservedStatus now = {0};
            CLEANUP(str_done) Str text = STR_INIT;
            str_addf(&text, "{\"status\":\"%s\",\"updated_at\":7}", statuses[i]);
            assert_true(status_reads(str_text(&text), (ObserveProtocol)protocol, &now, NULL));
            assert_string_equal(now.status, statuses[i]);
            assert_string_equal(now.stamp, "7");
        }
}

static void a_broken_state_file_leaves_the_last_good_one(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "{\"status\":\"exec",
                                      "[]",
                                      "7",
                                      "{}",
                                      "{\"status\":\"perfect\"}",
                                      "{\"status\":null}",
                                      "{\"status\":\"\"}",
                                      "{\"status\":[\"draft\"]}"};
    ObservedStatus now = {0};
    assert_true(status_reads("{\"status\":\"review\",\"updated\":\"1\"}", OBSERVE_B, &now, NULL));
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(status_reads(bad[i], OBSERVE_B, &now, NULL));
        assert_string_equal(now.status, "review");
        assert_string_equal(now.stamp, "1");
    }
}

static void small_damage_is_mended_and_said(void **state)
{
    (void)state;
    static const char *const bad_steps[] = {"\"four\"", "-1", "1.5", "null", "99999999999"};
    static const char *const bad_stages[] = {"null",
                                             "3",
                                             "{}",
                                             "{\"current\":0}",
                                             "{\"current\":\"2\"}",
                                             "{\"current\":2,\"history\":{}}",
                                             "{\"current\":2,\"history\":[1]}"};
    for (size_t i = 0; i < COUNT(bad_steps); i++) {
        ObservedStatus now = {0};
        CLEANUP(str_done) Str text = STR_INIT, said = STR_INIT;
        str_addf(&text, "{\"status\":\"draft\",\"updated\":\"1\",\"completed_steps\":%s}",
                 bad_steps[i]);
        assert_true(status_reads(str_text(&text), OBSERVE_A, &now, &said));
        assert_int_equal(now.completed_steps, 0);
        assert_non_null(strstr(str_text(&said), "completed_steps"));
    }
    for (size_t i = 0; i < COUNT(bad_stages); i++) {
        ObservedStatus now = {0};
        CLEANUP(str_done) Str text = STR_INIT, said = STR_INIT;
        str_addf(&text, "{\"status\":\"draft\",\"updated\":\"1\",\"stage\":%s}", bad_stages[i]);
        assert_true(status_reads(str_text(&text), OBSERVE_B, &now, &said));
        assert_int_equal(now.stage, 1);
        assert_int_equal(now.stages_done, 0);
        assert_non_null(strstr(str_text(&said), "stage"));
    }
}

static void a_missing_stage_is_the_first_and_a_stage_only_grows(void **state)
{
    (void)state;
    ObservedStatus now = {0};
    CLEANUP(str_done) Str said = STR_INIT;
    assert_true(status_reads("{\"status\":\"draft\",\"updated\":\"1\"}", OBSERVE_B, &now, &said));
    assert_int_equal(now.stage, 1);
    assert_string_equal(str_text(&said), "");
    assert_true(status_reads("{\"status\":\"draft\",\"updated\":\"2\",\"stage\":{\"current\":4}}",
                             OBSERVE_B, &now, &said));
    assert_true(status_reads("{\"status\":\"draft\",\"updated\":\"3\",\"stage\":{\"current\":2}}",
                             OBSERVE_B, &now, &said));
    assert_int_equal(now.stage, 4);
    assert_non_null(strstr(str_text(&said), "grows"));
}

static void a_new_stamp_alone_is_no_step(void **state)
{
    (void)state;
    ObservedStatus a = {.status = "draft", .stamp = "1", .stage = 1}, b = a;
    b.stamp[0] = '2';
    assert_false(observe_status_moved(&a, &b));
    b.completed_steps = 1;
    assert_true(observe_status_moved(&a, &b));
    b = a;
    b.stage = 2;
    assert_true(observe_status_moved(&a, &b));
    b = a;
    b.phase[0] = 'x';
    assert_true(observe_status_moved(&a, &b));
}

static void a_new_state_file_can_be_read_back(void **state)
{
    (void)state;
    for (int protocol = OBSERVE_A; protocol <= OBSERVE_B; protocol++) {
        ObserveTask task = {.title = "a \"quoted\"\ntitle", .created = "2026-01-31T10:00:00Z"};
        ObservedStatus now = {0};
        CLEANUP(str_done) Str text = STR_INIT, said = STR_INIT;
        observe_state_write(&task, (ObserveProtocol)protocol, &text);
        assert_true(status_reads(str_text(&text), (ObserveProtocol)protocol, &now, &said));
        assert_string_equal(now.status, "draft");
        assert_string_equal(now.stamp, "2026-01-31T10:00:00Z");
        assert_string_equal(str_text(&said), "");
    }
}

/* ---- .auto-stop ---- */

static void every_reason_is_written_and_read(void **state)
{
    (void)state;
    for (int i = REASON_NONE + 1; i < OBSERVE_REASON_COUNT; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        ObserveReason reason = (ObserveReason)i, found = REASON_NONE;
        observe_stop_write(reason, "2026-01-31T10:00:00Z", &text);
        assert_int_equal(observe_stop_read(str_text(&text), text.length), reason);
        assert_true(observe_reason_find(observe_reason_word(reason), &found));
        assert_int_equal(found, reason);
        assert_true(phase_word_is_listed(observe_reason_result(reason)));
        assert_int_not_equal(observe_stop_wish(reason), STOP_NONE);
    }
}

static void a_stop_file_that_is_none_stops_nothing(void **state)
{
    (void)state;
    assert_int_equal(observe_stop_read("", 0), REASON_NONE);
    assert_int_equal(observe_stop_read("{\"reason\":", 10), REASON_NONE);
    assert_int_equal(observe_stop_read("{}", 2), REASON_NONE);
    assert_int_equal(observe_stop_read("{\"reason\":\"mood\"}", 17), REASON_USER);
}

static void every_stored_stop_has_a_reason(void **state)
{
    (void)state;
    static const struct {
        StopWish stop;
        ObserveReason reason;
    } rows[] = {{STOP_NONE, REASON_NONE},      {STOP_BY_USER, REASON_USER},
                {STOP_BY_PAUSE, REASON_USER},  {STOP_BY_CLOCK, REASON_TIMEOUT},
                {STOP_BY_OUTPUT, REASON_USER}, {STOP_BY_REMOVE, REASON_USER},
                {STOP_BY_SKIP, REASON_USER},   {STOP_BY_STEPS, REASON_ITERATIONS},
                {STOP_BY_STALL, REASON_STALL}};
    assert_int_equal(COUNT(rows), STOP_WISH_COUNT);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(observe_reason_of(rows[i].stop), rows[i].reason);
}

/* ---- decisions ---- */

static const ObservedStatus running = {.is_known = true, .status = "executing", .stamp = "1"};
static const ObservedStatus complete = {.is_known = true, .status = "complete", .stamp = "1"};
static const ObservedStatus satisfied = {.is_known = true, .status = "satisfied", .stamp = "1"};
static const ObservedStatus stuck = {.is_known = true, .status = "blocked", .stamp = "1"};
static const ObservedStatus given_up = {.is_known = true, .status = "cancelled", .stamp = "1"};
static const ObservedSignal stepped = {.step = "exec", .result = "(done)", .next = "verify"};
static const ObservedSignal reported = {
    .step = "report", .result = "(generated)", .next = "(stop)"};
static const ObservedSignal refused = {.step = "check", .result = "BLOCKED", .next = "(stop)"};
static const ObservedSignal collided = {.step = "merge", .result = "conflict", .next = "(stop)"};
static const ObservedSignal planned = {.step = "plan", .result = "(generated)", .next = "(stop)"};
static const ObservedSignal went_on = {.step = "check", .result = "BLOCKED", .next = "plan"};

enum { MINUTE = 60000 };

typedef struct Case {
    const char *row;
    ObserveInput in; /* limits: the defaults are filled in */
    ObserveAction action;
    ObserveReason reason;
    const char *result;
} Case;

/* clang-format off */
static const Case cases[] = { /* at least one per row; neighbours show the limits and the order */
  {"quiet",           {0}, OBSERVE_NONE, 0, ""},
  {"quiet",           {.status = &running, .iterations = 19, .elapsed_ms = 30 * MINUTE - 1, .idle_beats = 2, .identical = 5}, OBSERVE_NONE, 0, ""},
  {"step",            {.status = &running, .signal = &stepped, .is_new = true}, OBSERVE_NONE, 0, ""},
  {"step",            {.status = &running, .signal = &went_on, .is_new = true}, OBSERVE_NONE, 0, ""},
  {"rest-finished",   {.status = &running, .signal = &reported, .is_new = true}, OBSERVE_FINISH, 0, "finished"}, /* its last report says it */
  {"rest-blocked",    {.status = &stuck, .signal = &reported, .is_new = true}, OBSERVE_FINISH, 0, "blocked"}, /* the state file says no */
  {"step",            {.status = &running, .signal = &stepped, .is_new = true, .is_claimed = true}, OBSERVE_NONE, 0, ""}, /* it is still at work */
  {"idle",            {.status = &running, .idle_beats = 3}, OBSERVE_NONE, 0, ""},
  {"idle",            {.status = &running, .idle_beats = 3, .recoveries_step = 2, .recoveries_total = 9}, OBSERVE_NONE, 0, ""},
  {"stall",           {.status = &running, .idle_beats = 3, .recoveries_step = 3}, OBSERVE_STOP, REASON_STALL, ""},
  {"stall",           {.status = &running, .idle_beats = 3, .recoveries_total = 10}, OBSERVE_STOP, REASON_STALL, ""},
  {"quiet",           {.status = &running, .idle_beats = 2, .recoveries_total = 10}, OBSERVE_NONE, 0, ""},
  {"loop",            {.status = &running, .signal = &stepped, .is_new = true, .identical = 6}, OBSERVE_STOP, REASON_LOOP, ""},
  {"steps",           {.status = &running, .iterations = 20}, OBSERVE_STOP, REASON_ITERATIONS, ""},
  {"steps",           {.status = &running, .iterations = 500, .identical = 9}, OBSERVE_STOP, REASON_ITERATIONS, ""},
  {"time",            {.status = &running, .elapsed_ms = 30 * MINUTE}, OBSERVE_STOP, REASON_TIMEOUT, ""},
  {"time",            {.elapsed_ms = 31 * MINUTE, .waited_ms = MINUTE, .iterations = 20}, OBSERVE_STOP, REASON_TIMEOUT, ""},
  {"quiet",           {.elapsed_ms = 90 * MINUTE, .waited_ms = 61 * MINUTE}, OBSERVE_NONE, 0, ""}, /* waits do not count */
  {"rest-finished",   {.status = &complete, .iterations = 20, .elapsed_ms = 40 * MINUTE}, OBSERVE_FINISH, 0, "finished"},
  {"rest-finished",   {.protocol = OBSERVE_B, .status = &satisfied}, OBSERVE_FINISH, 0, "finished"},
  {"rest-finished",   {.signal = &reported}, OBSERVE_FINISH, 0, "finished"}, /* no state file: the signal counts */
  {"rest-blocked",    {.status = &stuck}, OBSERVE_FINISH, 0, "blocked"},
  {"rest-blocked",    {.status = &given_up}, OBSERVE_FINISH, 0, "blocked"},
  {"rest-blocked",    {.status = &running, .signal = &refused}, OBSERVE_FINISH, 0, "blocked"},
  {"rest-blocked",    {.status = &running, .signal = &collided}, OBSERVE_FINISH, 0, "blocked"},
  {"rest-grace",      {.status = &complete, .resting_ms = MINUTE}, OBSERVE_KILL, 0, ""},
  {"rest-finished",   {.status = &complete, .resting_ms = MINUTE - 1}, OBSERVE_FINISH, 0, "finished"},
  {"rest-grace",      {.status = &stuck, .resting_ms = 2 * MINUTE}, OBSERVE_KILL, 0, ""},
  {"stop-write",      {.status = &running, .stop = REASON_USER}, OBSERVE_STOP, REASON_USER, ""},
  {"stop-write",      {.status = &complete, .stop = REASON_TIMEOUT}, OBSERVE_STOP, REASON_TIMEOUT, ""},
  {"stop-wait",       {.status = &running, .stop = REASON_USER, .is_stop_written = true, .stopping_ms = MINUTE - 1, .elapsed_ms = 99 * MINUTE}, OBSERVE_NONE, 0, ""},
  {"stop-grace",      {.status = &running, .stop = REASON_USER, .is_stop_written = true, .stopping_ms = MINUTE}, OBSERVE_KILL, 0, ""},
  {"ended-by-person", {.has_ended = true, .stop = REASON_USER, .status = &running}, OBSERVE_FINISH, 0, "stopped"},
  {"ended-by-person", {.has_ended = true, .stop = REASON_USER, .status = &complete, .exit_code = 1}, OBSERVE_FINISH, 0, "stopped"}, /* never undone */
  {"ended-finished",  {.has_ended = true, .status = &complete}, OBSERVE_FINISH, 0, "finished"},
  {"ended-finished",  {.has_ended = true, .status = &satisfied, .stop = REASON_TIMEOUT, .is_stop_written = true}, OBSERVE_FINISH, 0, "finished"}, /* in its last step */
  {"ended-finished",  {.has_ended = true, .status = &complete, .killed_by = 15}, OBSERVE_FINISH, 0, "finished"}, /* it lingered */
  {"ended-blocked",   {.has_ended = true, .status = &stuck}, OBSERVE_FINISH, 0, "blocked"},
  {"ended-blocked",   {.has_ended = true, .status = &running, .signal = &refused, .exit_code = 3}, OBSERVE_FINISH, 0, "blocked"},
  {"ended-by-stop",   {.has_ended = true, .status = &running, .stop = REASON_TIMEOUT}, OBSERVE_FINISH, 0, "timeout"},
  {"ended-by-stop",   {.has_ended = true, .status = &running, .stop = REASON_ITERATIONS}, OBSERVE_FINISH, 0, "max-iterations"},
  {"ended-by-stop",   {.has_ended = true, .status = &running, .stop = REASON_STALL, .killed_by = 9}, OBSERVE_FINISH, 0, "stall-limit"},
  {"ended-by-stop",   {.has_ended = true, .status = &running, .stop = REASON_LOOP}, OBSERVE_FINISH, 0, "loop"},
  {"ended-steps",     {.has_ended = true, .status = &running, .iterations = 20}, OBSERVE_FINISH, 0, "max-iterations"},
  {"ended-time",      {.has_ended = true, .status = &running, .elapsed_ms = 30 * MINUTE}, OBSERVE_FINISH, 0, "timeout"},
  {"ended-loop",      {.has_ended = true, .status = &running, .identical = 6}, OBSERVE_FINISH, 0, "loop"},
  {"ended-vanished",  {.has_ended = true, .status = &running, .exit_code = 1}, OBSERVE_FINISH, 0, "vanished"},
  {"ended-vanished",  {.has_ended = true, .status = &running, .killed_by = 9}, OBSERVE_FINISH, 0, "vanished"},
  {"ended-vanished",  {.has_ended = true, .status = &running, .is_lost = true, .recoveries_step = 3}, OBSERVE_FINISH, 0, "vanished"},
  {"ended-stall",     {.has_ended = true, .status = &running, .recoveries_step = 3}, OBSERVE_FINISH, 0, "stall-limit"},
  {"ended-stall",     {.has_ended = true, .status = &running, .recoveries_total = 10}, OBSERVE_FINISH, 0, "stall-limit"},
  {"ended-moved",     {.has_ended = true, .status = &running, .is_stamp_moved = true}, OBSERVE_NONE, 0, ""},
  {"ended-continue",  {.has_ended = true, .status = &running, .recoveries_total = 10, .has_moved = true}, OBSERVE_CONTINUE, 0, "continue"}, /* it did move */
  {"ended-continue",  {.has_ended = true, .status = &running, .recoveries_step = 2}, OBSERVE_CONTINUE, 0, "continue"},
  {"ended-continue",  {.has_ended = true, .status = &running, .signal = &planned}, OBSERVE_CONTINUE, 0, "continue"}, /* (stop), but nothing is finished */
  {"ended-finished",  {.has_ended = true, .status = &running, .signal = &reported}, OBSERVE_FINISH, 0, "finished"}, /* the last step of its table */
  {"ended-finished",  {.has_ended = true, .status = &running, .signal = &stepped, .is_claimed = true}, OBSERVE_FINISH, 0, "finished"}, /* COMPLETE, as others say it */
  {"ended-finished",  {.has_ended = true, .is_claimed = true}, OBSERVE_FINISH, 0, "finished"},
  {"ended-blocked",   {.has_ended = true, .status = &stuck, .is_claimed = true}, OBSERVE_FINISH, 0, "blocked"},
  {"ended-blocked",   {.has_ended = true, .status = &running, .signal = &refused, .is_claimed = true}, OBSERVE_FINISH, 0, "blocked"},
  {"ended-vanished",  {.has_ended = true, .status = &running, .is_claimed = true, .exit_code = 1}, OBSERVE_FINISH, 0, "vanished"}, /* it broke off */
  {"ended-continue",  {.has_ended = true}, OBSERVE_CONTINUE, 0, "continue"},
};
/* clang-format on */

static void every_case_meets_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ObserveInput in = cases[i].in;
        ObserveStep step;
        in.limits = observe_limits_default();
        observe_decide(&in, &step);
        if (strcmp(step.row, cases[i].row) != 0 || step.action != cases[i].action ||
            step.reason != cases[i].reason || strcmp(step.result, cases[i].result) != 0)
            fail_msg("case %zu: row '%s' action %d reason %d result '%s', expected row '%s'", i,
                     step.row, (int)step.action, (int)step.reason, step.result, cases[i].row);
    }
}

static void every_row_has_a_case_and_says_why(void **state)
{
    (void)state;
    size_t count;
    const ObserveRow *rows = observe_rows(&count);
    for (size_t r = 0; r < count; r++) {
        bool is_met = false;
        for (size_t i = 0; i < COUNT(cases); i++)
            is_met = is_met || strcmp(cases[i].row, rows[r].id) == 0;
        if (!is_met)
            fail_msg("row '%s' has no case", rows[r].id);
        assert_true(strlen(rows[r].why) > 10);
        if (rows[r].action == OBSERVE_FINISH || rows[r].action == OBSERVE_CONTINUE)
            assert_true(!rows[r].result || phase_word_is_listed(rows[r].result));
    }
}

static void every_result_can_come_out(void **state)
{
    (void)state;
    const char *at = observe_results;
    while (*at) {
        size_t length = strcspn(at, " ");
        bool is_met = false;
        for (size_t i = 0; i < COUNT(cases); i++)
            is_met = is_met || (strlen(cases[i].result) == length &&
                                strncmp(cases[i].result, at, length) == 0 && cases[i].in.has_ended);
        if (!is_met)
            fail_msg("no session ends as '%.*s'", (int)length, at);
        at += length + (at[length] == ' ');
    }
}

static void limits_of_zero_are_none(void **state)
{
    (void)state;
    ObserveStep step;
    ObserveInput in = {.iterations = 1000,
                       .elapsed_ms = INT64_C(1) << 40,
                       .identical = 1000,
                       .idle_beats = 1000,
                       .recoveries_step = 99,
                       .recoveries_total = 99};
    observe_decide(&in, &step);
    assert_string_equal(step.row, "quiet");
}

/* All combinations of the facts: never a stop undone, never a word that is not listed, never a
 * result for a living session but its own end. */
static void no_combination_breaks_the_rules(void **state)
{
    (void)state;
    static const ObservedStatus *const states[] = {NULL, &running, &complete, &satisfied, &stuck};
    static const ObservedSignal *const signals[] = {NULL, &stepped, &reported, &refused, &collided};
    for (unsigned bits = 0; bits < 1u << 10; bits++)
        for (size_t s = 0; s < COUNT(states); s++)
            for (size_t g = 0; g < COUNT(signals); g++)
                for (int stop = 0; stop < OBSERVE_REASON_COUNT; stop++) {
                    ObserveStep step;
                    ObserveInput in = {.limits = observe_limits_default(),
                                       .status = states[s],
                                       .signal = signals[g],
                                       .stop = (ObserveReason)stop,
                                       .has_ended = bits & 1,
                                       .exit_code = bits & 2 ? 1 : 0,
                                       .is_stop_written = bits & 4,
                                       .stopping_ms = bits & 8 ? 2 * MINUTE : 0,
                                       .resting_ms = bits & 16 ? 2 * MINUTE : 0,
                                       .iterations = bits & 32 ? 20 : 0,
                                       .elapsed_ms = bits & 64 ? 31 * MINUTE : 0,
                                       .recoveries_step = bits & 128 ? 3 : 0,
                                       .is_stamp_moved = bits & 256,
                                       .is_claimed = bits & 512};
                    observe_decide(&in, &step);
                    if (stop)
                        assert_int_not_equal(step.action, OBSERVE_CONTINUE);
                    if (stop && !in.has_ended && !in.is_stop_written)
                        assert_int_equal(step.action, OBSERVE_STOP);
                    if (in.has_ended)
                        assert_true(step.action == OBSERVE_FINISH ||
                                    step.action == OBSERVE_CONTINUE ||
                                    (step.action == OBSERVE_NONE && in.is_stamp_moved));
                    if (!in.has_ended)
                        assert_int_not_equal(step.action, OBSERVE_CONTINUE);
                    if (step.action == OBSERVE_FINISH)
                        assert_true(phase_word_is_listed(step.result));
                }
}

/* ---- counting ---- */

static ObservedSignal numbered(int64_t iteration, const char *step, const char *time)
{
    ObservedSignal signal = {.result = "(done)", .next = "verify", .iteration = iteration};
    (void)snprintf(signal.step, sizeof signal.step, "%s", step);
    (void)snprintf(signal.timestamp, sizeof signal.timestamp, "%s", time);
    return signal;
}

static void the_engine_counts_for_itself(void **state)
{
    (void)state;
    ObserveHistory history = {0};
    bool is_new;
    ObservedSignal signal = numbered(0, "plan", "1");
    assert_int_equal(observe_count(&history, &signal, &is_new), 1);
    assert_true(is_new);
    assert_int_equal(observe_count(&history, &signal, &is_new), 1); /* read twice */
    assert_false(is_new);
    signal = numbered(0, "exec", "2"); /* a session that does not count is counted */
    assert_int_equal(observe_count(&history, &signal, &is_new), 2);
    signal = numbered(9, "check", "3"); /* one that counted reports we missed is believed */
    assert_int_equal(observe_count(&history, &signal, &is_new), 9);
    signal = numbered(1, "plan", "4"); /* but it cannot go back */
    assert_int_equal(observe_count(&history, &signal, &is_new), 9);
    signal = numbered(-1, "plan", "5");
    assert_int_equal(observe_count(&history, &signal, &is_new), 9);
    assert_int_equal(history.signals, 5);
}

static void equal_reports_in_a_row_are_counted(void **state)
{
    (void)state;
    ObserveHistory history = {.recoveries_step = 2, .recoveries_total = 2};
    bool is_new;
    for (int i = 1; i <= 4; i++) {
        char time[12];
        (void)snprintf(time, sizeof time, "%d", i);
        ObservedSignal signal = numbered(i, "exec", time);
        (void)observe_count(&history, &signal, &is_new);
        assert_int_equal(history.identical, i);
    }
    ObservedSignal other = numbered(5, "check", "5");
    (void)observe_count(&history, &other, &is_new);
    assert_int_equal(history.identical, 1);
    assert_int_equal(history.recoveries_step, 0);
    assert_int_equal(history.recoveries_total, 2);
}

static void steps_of_the_state_file_are_counted_from_where_it_starts(void **state)
{
    (void)state;
    ObserveHistory history = {0};
    bool is_new;
    ObservedStatus status = {.is_known = true, .status = "draft", .stage = 1, .stamp = "1"};
    assert_int_equal(observe_count_status(&history, &status, &is_new), 0);
    assert_false(is_new);
    status.stamp[0] = '2';
    assert_int_equal(observe_count_status(&history, &status, &is_new), 0);
    (void)snprintf(status.status, sizeof status.status, "planning");
    assert_int_equal(observe_count_status(&history, &status, &is_new), 1);
    assert_true(is_new);
    ObservedSignal signal = numbered(-1, "plan", "1"); /* the same step in both files counts once */
    assert_int_equal(observe_count(&history, &signal, &is_new), 1);
}

static void a_turn_without_a_step_is_a_recovery(void **state)
{
    (void)state;
    ObserveHistory history = {0};
    bool is_new;
    observe_count_end(&history, "continue");
    observe_count_end(&history, "continue");
    assert_int_equal(history.recoveries_step, 2);
    ObservedSignal signal = numbered(1, "plan", "1");
    (void)observe_count(&history, &signal, &is_new);
    assert_true(observe_has_moved(&history));
    observe_count_end(&history, "continue");
    assert_int_equal(history.recoveries_step, 0);
    assert_int_equal(history.recoveries_total, 2);
    assert_false(observe_has_moved(&history));
    observe_count_end(&history, "vanished");
    assert_int_equal(history.recoveries_total, 2);
}

static void stored_reports_bring_the_counters_back(void **state)
{
    (void)state;
    ObserveHistory live = {0}, again = {0};
    bool is_new;
    ObservedStatus status = {.is_known = true, .status = "draft", .stage = 1, .stamp = "1"};
    (void)observe_count_status(&live, &status, &is_new);
    for (int i = 0; i < 12; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        int64_t count = live.iterations;
        if (i % 4 == 0) {
            ObservedSignal signal;
            assert_true(reads("{" GOOD "}", &signal, NULL));
            (void)snprintf(signal.timestamp, sizeof signal.timestamp, "2026-01-31T10:00:%02dZ", i);
            count = observe_count(&live, &signal, &is_new);
            observe_signal_write(&signal, &text);
        } else if (i % 4 == 3) {
            observe_count_end(&live, "continue");
            observe_count_end(&again, "continue");
        } else {
            status.completed_steps++;
            count = observe_count_status(&live, &status, &is_new);
            observe_text_status(&status, &text);
        }
        observe_history_add(&again, count, str_text(&text));
    }
    assert_int_equal(again.iterations, live.iterations);
    assert_int_equal(again.signals, live.signals);
    assert_int_equal(again.states, live.states);
    assert_int_equal(again.identical, live.identical);
    assert_int_equal(again.recoveries_step, live.recoveries_step);
    assert_int_equal(again.recoveries_total, live.recoveries_total);
    assert_int_equal(again.turn_iterations, live.turn_iterations);
    assert_true(observe_signal_is_same(&again.signal, &live.signal));
    assert_false(observe_status_moved(&again.status, &live.status));
}

static void texts_that_are_none_change_nothing_but_the_count(void **state)
{
    (void)state;
    ObserveHistory history = {0};
    observe_history_add(&history, 0, NULL);
    observe_history_add(&history, 3, "not json");
    observe_history_add(&history, 2, "[]");
    observe_history_add(&history, 0, "{\"wish\":\"timeout\"}");
    assert_int_equal(history.iterations, 3);
    assert_false(history.has_signal || history.has_status);
}

static void a_wish_in_a_report_names_the_stop(void **state)
{
    (void)state;
    for (int i = REASON_NONE + 1; i < OBSERVE_REASON_COUNT; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        ObserveStep step = {.reason = (ObserveReason)i, .row = "time", .why = "it \"is\" late"};
        observe_text_wish(&step, &text);
        assert_int_equal(observe_text_stop(str_text(&text)), observe_stop_wish(step.reason));
    }
    assert_int_equal(observe_text_stop(NULL), STOP_NONE);
    assert_int_equal(observe_text_stop("{" GOOD "}"), STOP_NONE);
    assert_int_equal(observe_text_stop("{\"wish\":\"\"}"), STOP_NONE);
    assert_int_equal(observe_text_stop("{\"wish\":7}"), STOP_NONE);
}

static void the_workflow_says_the_protocol(void **state)
{
    (void)state;
    ObserveProtocol protocol = OBSERVE_B;
    assert_true(observe_protocol_find("auto-a", &protocol));
    assert_int_equal(protocol, OBSERVE_A);
    assert_string_equal(observe_state_file(protocol), ".index.json");
    assert_true(observe_protocol_find("auto-b", &protocol));
    assert_string_equal(observe_state_file(protocol), ".status.json");
    assert_false(observe_protocol_find("loop", &protocol));
    assert_false(observe_protocol_find(NULL, &protocol));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_stands_only_where_it_belongs),
        cmocka_unit_test(every_word_of_the_table_is_in_the_lists),
        cmocka_unit_test(words_are_taken_exactly),
        cmocka_unit_test(times_are_iso_8601),
        cmocka_unit_test(times_are_written_as_they_are_read),
        cmocka_unit_test(a_good_signal_is_read),
        cmocka_unit_test(what_may_be_left_out_is_left_out),
        cmocka_unit_test(the_early_form_of_b_is_read_with_its_ranges),
        cmocka_unit_test(a_broken_signal_is_refused_with_its_field_and_nothing_is_touched),
        cmocka_unit_test(a_huge_signal_is_refused),
        cmocka_unit_test(no_part_of_a_signal_is_taken_for_the_whole),
        cmocka_unit_test(what_was_read_is_written_and_read_again),
        cmocka_unit_test(a_state_file_is_read),
        cmocka_unit_test(every_status_is_known_to_both_protocols),
        cmocka_unit_test(a_broken_state_file_leaves_the_last_good_one),
        cmocka_unit_test(small_damage_is_mended_and_said),
        cmocka_unit_test(a_missing_stage_is_the_first_and_a_stage_only_grows),
        cmocka_unit_test(a_new_stamp_alone_is_no_step),
        cmocka_unit_test(a_new_state_file_can_be_read_back),
        cmocka_unit_test(every_reason_is_written_and_read),
        cmocka_unit_test(a_stop_file_that_is_none_stops_nothing),
        cmocka_unit_test(every_stored_stop_has_a_reason),
        cmocka_unit_test(every_case_meets_its_row),
        cmocka_unit_test(every_row_has_a_case_and_says_why),
        cmocka_unit_test(every_result_can_come_out),
        cmocka_unit_test(limits_of_zero_are_none),
        cmocka_unit_test(no_combination_breaks_the_rules),
        cmocka_unit_test(the_engine_counts_for_itself),
        cmocka_unit_test(equal_reports_in_a_row_are_counted),
        cmocka_unit_test(steps_of_the_state_file_are_counted_from_where_it_starts),
        cmocka_unit_test(a_turn_without_a_step_is_a_recovery),
        cmocka_unit_test(stored_reports_bring_the_counters_back),
        cmocka_unit_test(texts_that_are_none_change_nothing_but_the_count),
        cmocka_unit_test(a_wish_in_a_report_names_the_stop),
        cmocka_unit_test(the_workflow_says_the_protocol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
