/* JSON reading: see json.h. */
#include "base/json.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>

void json_freep(json_t **json)
{
    json_decref(*json);
    *json = NULL;
}

json_t *json_read(const char *text, size_t length, Err *err)
{
    json_error_t problem;
    json_t *json = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &problem);
    if (!json)
        (void)err_set(err, ERR_USAGE, "not valid JSON: line %d, column %d: %s", problem.line,
                      problem.column, problem.text); /* the result below says it failed */
    return json;
}

json_t *json_read_file(const char *path, size_t limit_bytes, Err *err)
{
    size_t length = 0;
    char *text = file_read(path, limit_bytes, &length, err);
    if (!text)
        return NULL;
    json_t *json = json_read(text, length, err);
    if (!json)
        (void)err_add(err, "'%s'", path); /* the result below says it failed */
    free(text);
    return json;
}

const char *json_text(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : fallback;
}

int64_t json_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool json_flag(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

/* 15 digits: 0.8 is written as 0.8, not as 0.80000000000000004. */
#define WRITE_FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

char *json_write(const json_t *json)
{
    return json_dumps(json, JSON_COMPACT | WRITE_FLAGS);
}

char *json_write_pretty(const json_t *json)
{
    return json_dumps(json, JSON_INDENT(2) | WRITE_FLAGS);
}
