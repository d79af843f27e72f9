/* Backlog: the requirements (R#) of a task. See backlog.h. */
#include "core/backlog_parts.h"

int64_t backlog_weight(const json_t *value)
{
    static const char *const words[] = {"", "optional", "important", "critical"};
    int64_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    const char *text = json_string_value(value);
    if (text && !text_to_int(text, &number))
        for (size_t i = 1; i < COUNT(words); i++)
            number = text_equal(words[i], text) ? (int64_t)i : number;
    return number >= 1 && number <= 3 ? number : 0;
}

static bool requirement_is_fine(const BacklogRequirement *r)
{
    return r->text && *r->text && text_characters(r->text) <= BACKLOG_MOST_CRITERIA &&
           text_characters(r->criteria) <= BACKLOG_MOST_CRITERIA && r->weight &&
           !field_check_shell(r->text) && !field_check_shell(r->criteria);
}

static const char *trimmed(Arena *arena, const char *text, size_t length)
{
    while (length && strchr(" \t\n", text[length - 1]))
        length--;
    size_t skip = strspn(text, " \t\n");
    return skip < length ? arena_strndup(arena, text + skip, length - skip) : "";
}

/* "text :: criteria :: weight"; the last two may be left out. */
static BacklogRequirement requirement_split(const char *text, Arena *arena)
{
    BacklogRequirement r = {.criteria = "", .weight = 2};
    const char *first = strstr(text, "::"), *second = first ? strstr(first + 2, "::") : NULL;
    r.text = trimmed(arena, text, first ? (size_t)(first - text) : strlen(text));
    if (first)
        r.criteria =
            trimmed(arena, first + 2, second ? (size_t)(second - first - 2) : strlen(first + 2));
    if (second) {
        CLEANUP(json_freep)
        json_t *weight = json_string(trimmed(arena, second + 2, strlen(second + 2)));
        r.weight = backlog_weight(weight);
    }
    return r;
}

static const char *text_of(const json_t *value, Arena *arena)
{
    const char *text = json_string_value(value);
    bool is_whole = text && strlen(text) == json_string_length(value);
    return is_whole ? trimmed(arena, text, strlen(text)) : NULL;
}

static bool read_requirement(const json_t *value, Arena *arena, BacklogRequirement *out)
{
    const json_t *criteria = json_object_get(value, "criteria");
    const json_t *weight = json_object_get(value, "weight");
    const char *text = text_of(value, arena);
    if (text) {
        *out = requirement_split(text, arena);
        return requirement_is_fine(out);
    }
    out->text = text_of(json_object_get(value, "text"), arena);
    out->criteria = criteria ? text_of(criteria, arena) : "";
    out->weight = weight ? backlog_weight(weight) : 2;
    size_t known = 1 + (criteria != NULL) + (weight != NULL);
    return json_object_size(value) == known && out->criteria && requirement_is_fine(out);
}

bool backlog_requirements(const json_t *value, Arena *arena, BacklogTask *task)
{
    bool is_one = !json_is_array(value);
    size_t count = is_one ? 1 : json_array_size(value);
    if (count > BACKLOG_MOST_REQUIREMENTS)
        return false;
    task->requirements = arena_alloc(arena, (count + 1) * sizeof *task->requirements);
    for (; task->requirement_count < count; task->requirement_count++)
        if (!read_requirement(is_one ? value : json_array_get(value, task->requirement_count),
                              arena, &task->requirements[task->requirement_count]))
            return false;
    return true;
}
