/* Signal types, codes and payload duties: see signal.h. The scanner is in signal_scan.c. */
#include "core/signal.h"
#include "base/json.h"
#include <string.h>

static const struct {
    const char *word;
    SignalDuty duty;
    bool is_control;
    const char *help;
} types[SIGNAL_TYPE_COUNT] = {
#define X(type, word, duty, control, help) [type] = {word, duty, control, help},
    SIGNAL_TYPES(X)
#undef X
};

static const char *const codes[SIGNAL_CODE_COUNT] = {
#define X(code, word, help) [code] = word,
    SIGNAL_CODES(X)
#undef X
};

const char *signal_type_word(SignalType type)
{
    return types[type].word;
}

const char *signal_type_help(SignalType type)
{
    return types[type].help;
}

SignalDuty signal_duty(SignalType type)
{
    return types[type].duty;
}

size_t signal_payload_max(SignalType type)
{
    return type == SIGNAL_RESULT ? SIGNAL_RESULT_MAX : SIGNAL_PAYLOAD_MAX;
}

bool signal_is_control(SignalType type)
{
    return types[type].is_control;
}

const char *signal_code_word(SignalCode code)
{
    return codes[code];
}

bool signal_type_find(const char *word, size_t length, SignalType *type)
{
    for (unsigned i = SIGNAL_NONE + 1; i < SIGNAL_TYPE_COUNT; i++) {
        if (strlen(types[i].word) == length && memcmp(types[i].word, word, length) == 0) {
            *type = (SignalType)i;
            return true;
        }
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool signal_tag_is_valid(const char *tag)
{
    size_t length = strlen(tag);
    if (length == 0 || length > SIGNAL_TAG_MAX || !is_letter(tag[0]))
        return false;
    for (size_t i = 1; i < length; i++) {
        char c = tag[i];
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whole number 0 to 100, digits only. */
static bool read_percent(const char *text, size_t length, int *percent)
{
    int value = 0;
    if (length == 0 || length > 3)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *percent = value;
    return value <= 100;
}

static bool is_json_object(const char *text, size_t length)
{
    if (text[0] != '{' || text[length - 1] != '}' || length > SIGNAL_RESULT_MAX)
        return false;
    CLEANUP(json_freep) json_t *json = json_read(text, length, NULL);
    return json_is_object(json);
}

static SignalCode judge_payload(Signal *out)
{
    bool is_empty = out->payload == NULL;
    switch (types[out->type].duty) {
    case DUTY_NONE:
        return is_empty ? SIGNAL_OK : SIGNAL_INVALID_PAYLOAD;
    case DUTY_TEXT:
        return is_empty ? SIGNAL_MISSING_PAYLOAD : SIGNAL_OK;
    case DUTY_PERCENT:
        if (is_empty)
            return SIGNAL_MISSING_PAYLOAD;
        return read_percent(out->payload, out->payload_length, &out->percent)
                   ? SIGNAL_OK
                   : SIGNAL_INVALID_PAYLOAD;
    case DUTY_JSON:
        if (is_empty)
            return SIGNAL_MISSING_PAYLOAD;
        return is_json_object(out->payload, out->payload_length) ? SIGNAL_OK
                                                                 : SIGNAL_INVALID_PAYLOAD;
    }
    return SIGNAL_MALFORMED;
}

void signal_judge(const char *type, size_t type_length, const char *payload, size_t payload_length,
                  Signal *out)
{
    while (payload && payload_length && is_space(payload[0])) {
        payload++;
        payload_length--;
    }
    while (payload && payload_length && is_space(payload[payload_length - 1]))
        payload_length--;
    out->type = SIGNAL_NONE;
    out->percent = 0;
    out->payload = payload && payload_length ? payload : NULL;
    out->payload_length = out->payload ? payload_length : 0;
    out->code =
        signal_type_find(type, type_length, &out->type) ? judge_payload(out) : SIGNAL_UNKNOWN_TYPE;
}
