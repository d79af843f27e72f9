/* The words of the file protocols, and `.auto-signal`: see observe.h. */
#include "core/observe.h"
#include <string.h>

/* clang-format off */
#define S FIELD_STEP
#define R FIELD_RESULT
#define N FIELD_NEXT
#define C FIELD_CHECKPOINT
#define T FIELD_STATUS
static const ObserveWord words[] = { /* every word that a file may hold, and where */
  /* word                  where  end           from */
  {"plan",                  S|N, END_NONE,     "A-87, A-89"},
  {"check",                 S|N, END_NONE,     "A-87, A-89"},
  {"exec",                  S|N, END_NONE,     "A-87, A-89"},
  {"merge",                 S|N, END_NONE,     "A-87, A-89"},
  {"report",                S|N, END_NONE,     "A-87, A-89"},
  {"research",              S|N, END_NONE,     "A-87, A-89, later"},
  {"verify",                S|N, END_NONE,     "A-87, A-89, later"},
  {"annotate",              S|N, END_NONE,     "A-87, A-89, later"},
  {"target",                S|N, END_NONE,     "B-153"},
  {"highlight",             S|N, END_NONE,     "B-160"},
  {"(stop)",                N,   END_NONE,     "A-89"},
  {"(rollback)",            N,   END_NONE,     "B-148"},
  {"PASS",                  R,   END_NONE,     "A-88"},
  {"NEEDS_REVISION",        R,   END_NONE,     "A-88"},
  {"ACCEPT",                R,   END_NONE,     "A-88"},
  {"NEEDS_FIX",             R,   END_NONE,     "A-88"},
  {"REPLAN",                R,   END_NONE,     "A-88"},
  {"BLOCKED",               R,   END_BLOCKED,  "A-88, A-40"},
  {"CONTINUE",              R,   END_NONE,     "A-88"},
  {"ROLLBACK",              R,   END_NONE,     "B-166"},
  {"(generated)",           R,   END_FINISHED, "A-88; of report with (stop): A-39"},
  {"(annotations)",         R,   END_NONE,     "A-88, first form"},
  {"(done)",                R,   END_NONE,     "A-88"},
  {"(mid-exec)",            R,   END_NONE,     "A-88"},
  {"(step-N)",              R,   END_NONE,     "A-88"},
  {"(blocked)",             R,   END_BLOCKED,  "A-88"},
  {"success",               R,   END_NONE,     "A-88"},
  {"conflict",              R,   END_BLOCKED,  "A-88, A-41"},
  {"(collected)",           R,   END_NONE,     "A-88, later"},
  {"(sufficient)",          R,   END_NONE,     "A-88, later"},
  {"(pass)",                R,   END_NONE,     "A-88, later"},
  {"(fail)",                R,   END_NONE,     "A-88, later"},
  {"(partial)",             R,   END_NONE,     "A-88, later"},
  {"(processed)",           R,   END_NONE,     "A-88, later"},
  {"(hil-pending)",         R,   END_BLOCKED,  "B-166"},
  {"(o1-collected)",        R,   END_NONE,     "B-166"},
  {"(o2-collected)",        R,   END_NONE,     "B-166"},
  {"(o3-collected)",        R,   END_NONE,     "B-166"},
  {"(objective-complete)",  R,   END_NONE,     "B-166"},
  {"(distilled)",           R,   END_NONE,     "B-166"},
  {"(skipped-idempotent)",  R,   END_NONE,     "B-166"},
  {"(stage-advanced)",      R,   END_NONE,     "B-153"},
  {"(refined)",             R,   END_NONE,     "B-154"},
  {"failed",                R,   END_NONE,     "B-166; not blocking: B-160"},
  {"stage-done",            R,   END_NONE,     "B-166"},
  {"evolving",              R|T, END_NONE,     "B-166, B-230"},
  {"rejected",              R,   END_BLOCKED,  "B-166"},
  {"",                      C,   END_NONE,     "A-90"},
  {"post-plan",             C,   END_NONE,     "A-90"},
  {"mid-exec",              C,   END_NONE,     "A-90"},
  {"post-exec",             C,   END_NONE,     "A-90"},
  {"post-research",         C,   END_NONE,     "A-90, later"},
  {"quick",                 C,   END_NONE,     "A-90, later"},
  {"full",                  C,   END_NONE,     "A-90, later"},
  {"step-N",                C,   END_NONE,     "A-90, later"},
  {"post-o1",               C,   END_NONE,     "B-166"},
  {"post-o2",               C,   END_NONE,     "B-166"},
  {"post-o3",               C,   END_NONE,     "B-166"},
  {"pre-merge",             C,   END_NONE,     "B-166"},
  {"post-annotate",         C,   END_NONE,     "B-166"},
  {"regression",            C,   END_NONE,     "B-166"},
  {"dependency-blocked",    C,   END_NONE,     "B-166"},
  {"no-accept",             C,   END_NONE,     "B-166"},
  {"checkout-failed",       C,   END_NONE,     "B-166"},
  {"state-transition-failed", C, END_NONE,     "B-166"},
  {"draft",                 T,   END_NONE,     "A-13, B-230"},
  {"planning",              T,   END_NONE,     "A-13, B-230"},
  {"review",                T,   END_NONE,     "A-13, B-230"},
  {"executing",             T,   END_NONE,     "A-13, B-230"},
  {"re-planning",           T,   END_NONE,     "A-13, B-230"},
  {"complete",              T,   END_FINISHED, "A-13; also written by early B"},
  {"satisfied",             T,   END_FINISHED, "B-230"},
  {"blocked",               T,   END_BLOCKED,  "A-13, B-230"},
  {"cancelled",             T,   END_BLOCKED,  "A-13, B-230; whether it is, a person decides"},
};
#undef S
#undef R
#undef N
#undef C
#undef T
/* clang-format on */

const ObserveWord *observe_words(size_t *count)
{
    *count = COUNT(words);
    return words;
}

/* "(step-12)" fits "(step-N)": a number from 1, no leading zero, at most six digits. */
static bool word_fits(const char *pattern, const char *word)
{
    const char *mark = strstr(pattern, "-N");
    if (!mark)
        return strcmp(pattern, word) == 0;
    size_t head = (size_t)(mark - pattern) + 1;
    if (strncmp(pattern, word, head) != 0)
        return false;
    const char *number = word + head;
    size_t digits = strspn(number, "0123456789");
    return digits >= 1 && digits <= 6 && number[0] != '0' && strcmp(mark + 2, number + digits) == 0;
}

const ObserveWord *observe_word_find(ObserveField field, const char *word)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (words[i].fields & (unsigned)field && word_fits(words[i].word, word))
            return &words[i];
    return NULL;
}

/* ---- reading ---- */

/* One field of a document: where it is, and what it may be. */
typedef enum ValueKind {
    VALUE_WORD,  /* of the vocabulary */
    VALUE_TIME,  /* ISO 8601 */
    VALUE_NAME,  /* short free text */
    VALUE_COUNT, /* whole number from 0 */
    VALUE_FIRST, /* whole number from 1 */
    VALUE_PART,  /* 0..1 */
} ValueKind;

typedef struct ValueRow {
    const char *name;
    ValueKind kind;
    ObserveField field; /* of VALUE_WORD */
    bool is_needed;
    size_t offset; /* in ObservedSignal */
} ValueRow;

#define AT(member) offsetof(ObservedSignal, member)
/* clang-format off */
static const ValueRow top_rows[] = {
  {"step",                 VALUE_WORD,  FIELD_STEP,       true,  AT(step)},
  {"result",               VALUE_WORD,  FIELD_RESULT,     true,  AT(result)},
  {"next",                 VALUE_WORD,  FIELD_NEXT,       true,  AT(next)},
  {"checkpoint",           VALUE_WORD,  FIELD_CHECKPOINT, false, AT(checkpoint)},
  {"timestamp",            VALUE_TIME,  0,                true,  AT(timestamp)},
  {"iteration",            VALUE_COUNT, 0,                false, AT(iteration)},
  {"compaction_count",     VALUE_COUNT, 0,                false, AT(compaction_count)},
  {"vfp_cycles_completed", VALUE_COUNT, 0,                false, AT(vfp_cycles)},
  {"retry_count",          VALUE_COUNT, 0,                false, AT(retry_count)},
  {"phase",                VALUE_NAME,  0,                false, AT(phase)},
  {"phase_progress",       VALUE_PART,  0,                false, AT(phase_progress)},
};
static const ValueRow stage_rows[] = {
  {"current", VALUE_FIRST, 0, true,  AT(stage)},
  {"total",   VALUE_FIRST, 0, false, AT(stage_total)},
};
static const ValueRow score_rows[] = {
  {"overall", VALUE_PART, 0, false, AT(overall)},
  {"d1",      VALUE_PART, 0, false, AT(d[0])},
  {"d2",      VALUE_PART, 0, false, AT(d[1])},
  {"d3",      VALUE_PART, 0, false, AT(d[2])},
  {"d4",      VALUE_PART, 0, false, AT(d[3])},
  {"d5",      VALUE_PART, 0, false, AT(d[4])},
  {"d6",      VALUE_PART, 0, false, AT(d[5])},
};
/* clang-format on */

/* What was found, short and safe to be shown. */
static bool refuse(Err *err, const char *path, const json_t *found, const char *expected)
{
    CLEANUP(str_done) Str shown = STR_INIT;
    char *text = found ? json_write(found) : NULL;
    if (text)
        str_add_safe(&shown, text, MIN(strlen(text), (size_t)60), false);
    else
        str_add(&shown, found ? "something that cannot be shown" : "nothing");
    free(text);
    return err_set(err, ERR_USAGE, "%s: found %s, expected %s", path, str_text(&shown), expected);
}

static bool text_copy(const json_t *value, char *out, size_t size)
{
    size_t length = json_string_length(value);
    const char *text = json_string_value(value);
    if (!text || length >= size || strlen(text) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    memcpy(out, text, length + 1);
    return true;
}

static bool word_read(const json_t *value, ObserveField field, char *out)
{
    char word[OBSERVE_WORD_MAX];
    if (!text_copy(value, word, sizeof word) || !observe_word_find(field, word))
        return false;
    memcpy(out, word, sizeof word);
    return true;
}

static bool time_read(const json_t *value, char *out)
{
    char text[OBSERVE_TIME_SIZE];
    if (!text_copy(value, text, sizeof text) || !observe_time_is_valid(text))
        return false;
    memcpy(out, text, sizeof text);
    return true;
}

static bool number_read(const json_t *value, int64_t least, void *out)
{
    int64_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < least || number > INT32_MAX)
        return false;
    memcpy(out, &number, sizeof number);
    return true;
}

static bool part_read(const json_t *value, void *out)
{
    double number = json_is_number(value) ? json_number_value(value) : -1;
    if (!(number >= 0 && number <= 1))
        return false;
    memcpy(out, &number, sizeof number);
    return true;
}

static const char *const expected[] = {
    [VALUE_WORD] = "a word of the protocol",   [VALUE_TIME] = "an ISO 8601 time",
    [VALUE_NAME] = "a text of up to 39 bytes", [VALUE_COUNT] = "a whole number from 0",
    [VALUE_FIRST] = "a whole number from 1",   [VALUE_PART] = "a number from 0 to 1",
};

static bool value_read(const ValueRow *row, const json_t *value, ObservedSignal *out)
{
    char *place = (char *)out + row->offset;
    switch (row->kind) {
    case VALUE_WORD:
        return word_read(value, row->field, place);
    case VALUE_TIME:
        return time_read(value, place);
    case VALUE_NAME:
        return text_copy(value, place, OBSERVE_WORD_MAX);
    case VALUE_COUNT:
        return number_read(value, 0, place);
    case VALUE_FIRST:
        return number_read(value, 1, place);
    case VALUE_PART:
        return part_read(value, place);
    }
    return false;
}

/* null counts as not told. */
static bool rows_read(const ValueRow *rows, size_t count, const json_t *object, ObservedSignal *out,
                      Err *err)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, rows[i].name);
        bool is_told = value && !json_is_null(value);
        if (!is_told && !rows[i].is_needed)
            continue;
        if (!is_told || !value_read(&rows[i], value, out))
            return refuse(err, rows[i].name, value, expected[rows[i].kind]);
    }
    return true;
}

/* An object that may be absent. */
static bool part_of(const json_t *object, const char *name, const ValueRow *rows, size_t count,
                    ObservedSignal *out, Err *err)
{
    const json_t *value = json_object_get(object, name);
    if (!value || json_is_null(value))
        return true;
    if (!json_is_object(value))
        return refuse(err, name, value, "an object");
    return rows_read(rows, count, value, out, err) || err_add(err, "%s", name);
}

/* "check@iter4" */
static bool failure_is_valid(const json_t *value)
{
    char text[128];
    if (!text_copy(value, text, sizeof text))
        return false;
    const char *at = strstr(text, "@iter");
    return at && at > text && at[5] && at[5 + strspn(at + 5, "0123456789")] == '\0';
}

static bool failures_read(const json_t *object, ObservedSignal *out, Err *err)
{
    const json_t *list = json_object_get(object, "delegation_failures");
    if (!list || json_is_null(list))
        return true;
    if (!json_is_array(list) || json_array_size(list) > OBSERVE_FAILURES_MAX)
        return refuse(err, "delegation_failures", list, "a list of at most 100");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!failure_is_valid(json_array_get(list, i)))
            return refuse(err, "delegation_failures", json_array_get(list, i), "command@iterN");
    out->delegation_failures = (uint32_t)json_array_size(list);
    return true;
}

static ObservedSignal signal_empty(void)
{
    return (ObservedSignal){.iteration = -1,
                            .compaction_count = -1,
                            .vfp_cycles = -1,
                            .retry_count = -1,
                            .phase_progress = -1,
                            .overall = -1,
                            .d = {-1, -1, -1, -1, -1, -1}};
}

static bool signal_from(const json_t *object, ObservedSignal *out, Err *err)
{
    ObservedSignal signal = signal_empty();
    if (!json_is_object(object))
        return refuse(err, "file", object, "an object");
    if (!rows_read(top_rows, COUNT(top_rows), object, &signal, err) ||
        !part_of(object, "stage", stage_rows, COUNT(stage_rows), &signal, err) ||
        !part_of(object, "check_score", score_rows, COUNT(score_rows), &signal, err) ||
        !failures_read(object, &signal, err))
        return false;
    if (signal.stage_total && signal.stage_total < signal.stage)
        return err_set(err, ERR_USAGE, "stage: total is below current");
    *out = signal;
    return true;
}

bool observe_signal_read(const char *text, size_t length, ObservedSignal *out, Err *err)
{
    if (length > OBSERVE_FILE_MAX)
        return err_set(err, ERR_TOO_BIG, "larger than %d bytes", OBSERVE_FILE_MAX);
    CLEANUP(json_freep) json_t *object = json_read(text, length, err);
    return object && signal_from(object, out, err);
}

/* ---- writing and comparing ---- */

static void value_write(const ValueRow *row, const ObservedSignal *signal, json_t *object)
{
    const char *place = (const char *)signal + row->offset;
    int64_t number = 0;
    double part = -1;
    switch (row->kind) {
    case VALUE_WORD:
    case VALUE_TIME:
    case VALUE_NAME:
        if (*place || row->is_needed)
            json_object_set_new(object, row->name, json_string(place));
        break;
    case VALUE_COUNT:
    case VALUE_FIRST:
        memcpy(&number, place, sizeof number);
        if (number >= (row->kind == VALUE_FIRST))
            json_object_set_new(object, row->name, json_integer(number));
        break;
    case VALUE_PART:
        memcpy(&part, place, sizeof part);
        if (part >= 0)
            json_object_set_new(object, row->name, json_real(part));
        break;
    }
}

static void part_write(json_t *object, const char *name, const ValueRow *rows, size_t count,
                       const ObservedSignal *signal)
{
    json_t *part = json_object();
    for (size_t i = 0; i < count; i++)
        value_write(&rows[i], signal, part);
    if (json_object_size(part))
        json_object_set(object, name, part);
    json_decref(part);
}

void observe_signal_write(const ObservedSignal *signal, Str *out)
{
    CLEANUP(json_freep) json_t *object = json_object();
    for (size_t i = 0; i < COUNT(top_rows); i++)
        value_write(&top_rows[i], signal, object);
    part_write(object, "stage", stage_rows, COUNT(stage_rows), signal);
    part_write(object, "check_score", score_rows, COUNT(score_rows), signal);
    char *text = json_write(object);
    str_add(out, text ? text : "{}"); /* only checked texts are in it: it can be written */
    free(text);
}

bool observe_signal_is_repeat(const ObservedSignal *a, const ObservedSignal *b)
{
    return strcmp(a->step, b->step) == 0 && strcmp(a->result, b->result) == 0 &&
           strcmp(a->next, b->next) == 0 && strcmp(a->checkpoint, b->checkpoint) == 0;
}

bool observe_signal_is_same(const ObservedSignal *a, const ObservedSignal *b)
{
    return observe_signal_is_repeat(a, b) && a->iteration == b->iteration &&
           strcmp(a->timestamp, b->timestamp) == 0;
}
