/* Reading the fields of a job: see job.h. */
#include "git/job.h"
#include "base/str.h"
#include <ctype.h>
#include <string.h>

static bool branch_part_is_valid(const char *part, size_t size)
{
    if (size == 0 || part[0] == '.' || part[0] == '-' || part[size - 1] == '.')
        return false;
    return size < 5 || strncmp(part + size - 5, ".lock", 5) != 0;
}

/* The rules of git check-ref-format, and no leading dash in any part. */
bool branch_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 200 || strcmp(name, "HEAD") == 0 || strcmp(name, "@") == 0 ||
        strstr(name, "..") || strstr(name, "@{"))
        return false;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 127 || strchr("~^:?*[\\", *c))
            return false;
    for (const char *part = name;; part++) {
        size_t size = strcspn(part, "/");
        if (!branch_part_is_valid(part, size))
            return false;
        part += size;
        if (!*part)
            return true;
    }
}

bool id_is_valid(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > 40)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) || (unsigned char)text[i] > 127)
            return false;
    return true;
}

static bool value_is_valid(JobFieldKind kind, const char *text)
{
    switch (kind) {
    case JOB_PATH:
        return path_is_plain(text);
    case JOB_COMMIT:
        return oid_is_hex(text, strlen(text));
    case JOB_BRANCH:
        return branch_is_valid(text);
    case JOB_ID:
        return id_is_valid(text);
    case JOB_TEXT:
        return true;
    }
    return false;
}

static const char *kind_wants(JobFieldKind kind)
{
    switch (kind) {
    case JOB_PATH:
        return "an absolute path without '.' or '..'";
    case JOB_COMMIT:
        return "a full commit name";
    case JOB_BRANCH:
        return "a branch name";
    case JOB_ID:
        return "a number or a word of letters and digits";
    case JOB_TEXT:
        return "text";
    }
    return "";
}

static bool field_read(const json_t *in, const JobField *field, Arena *arena, Err *err)
{
    const json_t *value = json_object_get(in, field->key);
    const char *text = json_string_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= 0 && field->kind == JOB_ID)
        text = arena_printf(arena, "%lld", (long long)json_integer_value(value));
    *field->into = text;
    bool is_absent = !value || json_is_null(value);
    if (is_absent)
        return !field->is_needed || err_set(err, ERR_USAGE, "field '%s' is missing", field->key);
    if (!text || !value_is_valid(field->kind, text))
        return err_set(err, ERR_USAGE, "field '%s' must be %s", field->key,
                       kind_wants(field->kind));
    return true;
}

bool job_read(const json_t *in, const JobField *fields, size_t count, Arena *arena, Err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!field_read(in, &fields[i], arena, err))
            return false;
    return true;
}

json_t *json_lossy(const char *bytes, size_t length)
{
    /* A NUL byte is valid UTF-8, but readers of JSON refuse it. */
    json_t *json = memchr(bytes, '\0', length) ? NULL : json_stringn(bytes, length);
    if (json)
        return json;
    Str clean = STR_INIT;
    for (size_t at = 0; at < length;) {
        size_t size = utf8_length(bytes + at, length - at);
        if (size && bytes[at])
            str_add_bytes(&clean, bytes + at, size);
        else
            str_add(&clean, "\xEF\xBF\xBD");
        at += size ? size : 1;
    }
    json = json_stringn(str_text(&clean), clean.length);
    str_done(&clean);
    return json ? json : json_string("");
}

void out_text(json_t *out, const char *key, const char *text)
{
    json_object_set_new(out, key, text ? json_lossy(text, strlen(text)) : json_null());
}

void out_oid(json_t *out, const char *key, const Oid *oid)
{
    out_text(out, key, oid_is_set(oid) ? oid->hex : NULL);
}

void out_int(json_t *out, const char *key, int64_t number)
{
    json_object_set_new(out, key, json_integer(number));
}

void out_flag(json_t *out, const char *key, bool flag)
{
    json_object_set_new(out, key, json_boolean(flag));
}
