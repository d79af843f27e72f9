/* Safe names and times in UTC: see plain.h. */
#include "base/clock.h"
#include "record/plain.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

void plain_add_slug(Str *out, const char *text, size_t max)
{
    size_t begin = out->length;
    bool wants_dash = false;
    for (; *text && out->length - begin < max; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            if (wants_dash && out->length > begin && out->length - begin + 1 < max)
                str_add_char(out, '-');
            str_add_char(out, c);
            wants_dash = false;
        } else {
            wants_dash = true;
        }
    }
}

const char *plain_slug(Arena *arena, const char *text, size_t max, const char *fallback)
{
    CLEANUP(str_done) Str slug = STR_INIT;
    plain_add_slug(&slug, text, max);
    return arena_strdup(arena, slug.length ? str_text(&slug) : fallback);
}

/* Years of four digits only: the results are parts of names and columns of tables. */
static bool parts_of(int64_t ms, struct tm *parts)
{
    const int64_t most = INT64_C(253402300799);
    time_t seconds = (time_t)(ms / 1000);
    return ms >= 0 && ms / 1000 <= most && gmtime_r(&seconds, parts);
}

void plain_date(int64_t ms, char out[PLAIN_TIME_SIZE])
{
    struct tm parts;
    if (!parts_of(ms, &parts) || !strftime(out, PLAIN_TIME_SIZE, "%Y-%m-%d", &parts))
        memcpy(out, "0000-00-00", sizeof "0000-00-00");
}

void plain_time(int64_t ms, char out[PLAIN_TIME_SIZE])
{
    struct tm parts;
    if (!ms || !parts_of(ms, &parts) ||
        !strftime(out, PLAIN_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &parts))
        out[0] = '\0';
}

void plain_stamp(int64_t ms, char out[PLAIN_TIME_SIZE])
{
    struct tm parts;
    if (!parts_of(ms, &parts) || !strftime(out, PLAIN_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts))
        memcpy(out, "1970-01-01T00:00:00Z", sizeof "1970-01-01T00:00:00Z");
}

const char *plain_took(Arena *arena, int64_t started_ms, int64_t ended_ms)
{
    char span[32];
    if (started_ms <= 0 || ended_ms < started_ms)
        return "";
    clock_span(ended_ms - started_ms, span);
    return arena_strdup(arena, span);
}

const char *plain_part(Arena *arena, int64_t part)
{
    const char *sign = part < 0 ? "-" : "";
    int64_t size = part < 0 ? -part : part;
    if (size % 100 == 0)
        return arena_printf(arena, "%s%" PRId64 ".%02" PRId64, sign, size / 10000,
                            size % 10000 / 100);
    return arena_printf(arena, "%s%" PRId64 ".%04" PRId64, sign, size / 10000, size % 10000);
}
