/* The state file, the stop file and their times: see observe.h. */
#include "core/observe.h"
#include <stdio.h>
#include <string.h>

const char *observe_protocol_word(ObserveProtocol protocol)
{
    return protocol == OBSERVE_A ? "a" : "b";
}

const char *observe_state_file(ObserveProtocol protocol)
{
    return protocol == OBSERVE_A ? ".index.json" : ".status.json";
}

bool observe_protocol_find(const char *workflow, ObserveProtocol *protocol)
{
    if (!text_equal(workflow, "auto-a") && !text_equal(workflow, "auto-b"))
        return false;
    *protocol = text_equal(workflow, "auto-a") ? OBSERVE_A : OBSERVE_B;
    return true;
}

ObserveProtocol observe_protocol_of(const Workflow *workflow)
{
    return workflow_status_index(workflow, "satisfied") >= 0 ? OBSERVE_B : OBSERVE_A;
}

/* ---- times ---- */

/* Takes exactly `digits` digits; -1 when they are not there. */
static int digits_take(const char **text, int digits)
{
    int number = 0;
    for (int i = 0; i < digits; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        number = number * 10 + (**text - '0');
    }
    return number;
}

static bool char_take(const char **text, char c)
{
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && is_leap ? 29 : days[month - 1];
}

static bool date_take(const char **text)
{
    int year = digits_take(text, 4);
    if (year < 0 || !char_take(text, '-'))
        return false;
    int month = digits_take(text, 2);
    if (month < 1 || month > 12 || !char_take(text, '-'))
        return false;
    int day = digits_take(text, 2);
    return day >= 1 && day <= days_of(year, month);
}

static bool clock_take(const char **text)
{
    int hour = digits_take(text, 2);
    if (hour < 0 || hour > 23 || !char_take(text, ':'))
        return false;
    int minute = digits_take(text, 2);
    if (minute < 0 || minute > 59)
        return false;
    if (!char_take(text, ':'))
        return true; /* seconds may be left out */
    int second = digits_take(text, 2);
    if (second < 0 || second > 60)
        return false;
    if (!char_take(text, '.') && !char_take(text, ','))
        return true;
    size_t length = strspn(*text, "0123456789");
    *text += length;
    return length >= 1 && length <= 9;
}

static bool zone_take(const char **text)
{
    if (**text == '\0' || char_take(text, 'Z'))
        return true;
    if (!char_take(text, '+') && !char_take(text, '-'))
        return false;
    int hour = digits_take(text, 2);
    if (hour < 0 || hour > 23)
        return false;
    bool has_colon = char_take(text, ':');
    if (!has_colon && **text == '\0')
        return true;
    int minute = digits_take(text, 2);
    return minute >= 0 && minute <= 59;
}

bool observe_time_is_valid(const char *text)
{
    return date_take(&text) && char_take(&text, 'T') && clock_take(&text) && zone_take(&text) &&
           *text == '\0';
}

/* Days since 1970 to a date of the Gregorian calendar, for the years that a clock can show. */
static void date_of(int64_t days, int *year, int *month, int *day)
{
    *year = 1970;
    for (;; (*year)++) {
        int length = days_of(*year, 2) == 29 ? 366 : 365;
        if (days < length)
            break;
        days -= length;
    }
    *month = 1;
    for (; days >= days_of(*year, *month); (*month)++)
        days -= days_of(*year, *month);
    *day = (int)days + 1;
}

void observe_time_text(int64_t wall_ms, char out[OBSERVE_TIME_SIZE])
{
    const int64_t day_s = 86400, last_s = 253402300799; /* the end of the year 9999 */
    int64_t seconds = CLAMP(wall_ms / 1000, 0, last_s);
    int year, month, day, left = (int)(seconds % day_s);
    date_of(seconds / day_s, &year, &month, &day);
    (void)snprintf(out, OBSERVE_TIME_SIZE, "%04u-%02u-%02uT%02d:%02d:%02dZ",
                   (unsigned)year % 10000u, (unsigned)month % 100u, (unsigned)day % 100u,
                   left / 3600, left / 60 % 60, left % 60); /* always fits */
}

/* ---- state file ---- */

static void warn(Str *warnings, const char *text)
{
    if (!warnings)
        return;
    str_add(warnings, text);
    str_add_char(warnings, '\n');
}

/* Copies a short text without control bytes; false: not one. */
static bool short_text(const json_t *value, char *out, size_t size)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) >= size)
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return false;
    (void)snprintf(out, size, "%s", text); /* fits */
    return true;
}

static void stamp_read(const json_t *object, ObservedStatus *out, Str *warnings)
{
    const json_t *value = json_object_get(object, "updated");
    if (!value)
        value = json_object_get(object, "updated_at");
    if (json_is_integer(value))
        (void)snprintf(out->stamp, sizeof out->stamp, "%lld",
                       (long long)json_integer_value(value)); /* always fits */
    else if (!short_text(value, out->stamp, sizeof out->stamp))
        warn(warnings, "'updated' is missing or not a stamp");
}

static void steps_read(const json_t *object, ObservedStatus *out, Str *warnings)
{
    const json_t *value = json_object_get(object, "completed_steps");
    int64_t steps = json_is_integer(value) ? json_integer_value(value) : -1;
    if (value && (steps < 0 || steps > INT32_MAX))
        warn(warnings, "'completed_steps' is not a whole number from 0; taken as 0");
    out->completed_steps = steps < 0 || steps > INT32_MAX ? 0 : steps;
}

static bool history_is_valid(const json_t *history)
{
    if (!json_is_array(history))
        return false;
    for (size_t i = 0; i < json_array_size(history); i++)
        if (!json_is_object(json_array_get(history, i)))
            return false;
    return true;
}

/* B-227: missing or broken is {1, []}; the number only grows. */
static void stage_read(const json_t *object, int64_t before, ObservedStatus *out, Str *warnings)
{
    const json_t *stage = json_object_get(object, "stage");
    const json_t *history = json_object_get(stage, "history");
    int64_t current = json_int(stage, "current", 0);
    bool is_good = current >= 1 && current <= INT32_MAX && (!history || history_is_valid(history));
    if (stage && !is_good)
        warn(warnings, "'stage' is broken; taken as the first");
    out->stage = is_good ? current : 1;
    out->stages_done = is_good ? (uint32_t)json_array_size(history) : 0;
    if (is_good && out->stage < before)
        warn(warnings, "'stage' went back; it only grows");
    out->stage = MAX(out->stage, before);
}

bool observe_status_read(const char *text, size_t length, ObserveProtocol protocol,
                         ObservedStatus *now, Str *warnings, Err *err)
{
    ObservedStatus next = {.is_known = true, .stage = 1};
    if (length > OBSERVE_FILE_MAX)
        return err_set(err, ERR_TOO_BIG, "larger than %d bytes", OBSERVE_FILE_MAX);
    CLEANUP(json_freep) json_t *object = json_read(text, length, err);
    if (!object)
        return false;
    if (!json_is_object(object))
        return err_set(err, ERR_USAGE, "found something else than an object");
    if (!short_text(json_object_get(object, "status"), next.status, sizeof next.status) ||
        !observe_word_find(FIELD_STATUS, next.status))
        return err_set(err, ERR_USAGE, "'status' is not one of the protocol");
    const json_t *phase = json_object_get(object, "phase");
    if (phase && !json_is_null(phase) && !short_text(phase, next.phase, sizeof next.phase))
        warn(warnings, "'phase' is not a short text; left out");
    steps_read(object, &next, warnings);
    stamp_read(object, &next, warnings);
    if (protocol == OBSERVE_B)
        stage_read(object, now->stage, &next, warnings);
    *now = next;
    return true;
}

bool observe_status_moved(const ObservedStatus *before, const ObservedStatus *now)
{
    return strcmp(before->status, now->status) != 0 || strcmp(before->phase, now->phase) != 0 ||
           before->completed_steps != now->completed_steps || before->stage != now->stage;
}

static void text_set(json_t *object, const char *key, const char *text)
{
    json_t *value = json_string(text ? text : "");
    json_object_set_new(object, key, value ? value : json_string("")); /* NULL: not UTF-8 */
}

void observe_state_write(const ObserveTask *task, ObserveProtocol protocol, Str *out)
{
    CLEANUP(json_freep) json_t *object = json_object();
    text_set(object, "title", task->title);
    text_set(object, "type", task->type);
    text_set(object, "status", task->status && *task->status ? task->status : "draft");
    text_set(object, "phase", "");
    json_object_set_new(object, "completed_steps", json_integer(0));
    text_set(object, "created", task->created);
    text_set(object, "updated", task->created);
    json_object_set_new(object, "depends_on", json_array());
    json_object_set_new(object, "tags", json_array());
    text_set(object, "branch", task->branch);
    text_set(object, "worktree", task->worktree);
    if (protocol == OBSERVE_B)
        json_object_set_new(object, "stage", json_pack("{s:i,s:[]}", "current", 1, "history"));
    char *text = json_write_pretty(object);
    str_add(out, text ? text : "{}");
    str_add_char(out, '\n');
    free(text);
}

/* ---- stop file ---- */

typedef struct ReasonRow {
    const char *word, *result;
    StopWish stop;
    const char *help;
} ReasonRow;

static const ReasonRow reasons[] = {
#define X(reason, word, result, stop, help) [reason] = {word, result, stop, help},
    OBSERVE_REASONS(X)
#undef X
};

const char *observe_reason_word(ObserveReason reason)
{
    return reasons[reason].word;
}

const char *observe_reason_result(ObserveReason reason)
{
    return reasons[reason].result;
}

const char *observe_reason_help(ObserveReason reason)
{
    return reasons[reason].help;
}

StopWish observe_stop_wish(ObserveReason reason)
{
    return reasons[reason].stop;
}

bool observe_reason_find(const char *word, ObserveReason *reason)
{
    for (int i = REASON_NONE + 1; i < OBSERVE_REASON_COUNT; i++)
        if (text_equal(reasons[i].word, word)) {
            *reason = (ObserveReason)i;
            return true;
        }
    return false;
}

ObserveReason observe_reason_of(StopWish stop)
{
    for (int i = REASON_NONE; i < OBSERVE_REASON_COUNT; i++)
        if (reasons[i].stop == stop)
            return (ObserveReason)i; /* of two with one stop: the first */
    return REASON_USER;
}

void observe_stop_write(ObserveReason reason, const char *timestamp, Str *out)
{
    str_add(out, "{\"reason\":");
    str_add_json(out, observe_reason_word(reason));
    str_add(out, ",\"timestamp\":");
    str_add_json(out, timestamp);
    str_add(out, "}\n");
}

ObserveReason observe_stop_read(const char *text, size_t length)
{
    ObserveReason reason = REASON_USER;
    CLEANUP(json_freep)
    json_t *object = length <= OBSERVE_FILE_MAX ? json_read(text, length, NULL) : NULL;
    if (!json_is_object(object) || !json_is_string(json_object_get(object, "reason")))
        return REASON_NONE;
    if (!observe_reason_find(json_text(object, "reason", ""), &reason))
        return REASON_USER;
    return reason;
}
