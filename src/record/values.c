/* Small readings of JSON that may be anything: see parts.h. */
#include "record/parts.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

bool json_has_items(const json_t *list)
{
    return json_is_array(list) && json_array_size(list) > 0;
}

const char *json_words(Arena *arena, const json_t *list)
{
    CLEANUP(str_done) Str words = STR_INIT;
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        const char *text = json_string_value(word);
        if (words.length > RECORD_CELL_MAX)
            break;
        if (text && *text)
            str_addf(&words, "%s%.*s", words.length ? ", " : "", (int)RECORD_CELL_MAX, text);
    }
    return arena_strdup(arena, str_text(&words));
}

const char *json_number_text(Arena *arena, const json_t *value)
{
    double number = json_number_value(value);
    if (json_is_integer(value))
        return arena_printf(arena, "%" PRId64, (int64_t)json_integer_value(value));
    if (!json_is_real(value) || !isfinite(number) || fabs(number) > 1e12)
        return "";
    char *text = arena_printf(arena, "%.4f", number);
    for (size_t end = strlen(text); text[end - 1] == '0' && text[end - 3] != '.'; end--)
        text[end - 1] = '\0';
    return text;
}

const char *json_any_text(Arena *arena, const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "yes" : "no";
    return json_number_text(arena, value);
}
