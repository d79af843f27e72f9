/* Excerpts: see excerpt.h. */
#include "core/excerpt.h"
#include <string.h>

static size_t cut_at(const char *text, size_t limit)
{
    size_t end = 0, length = strnlen(text, limit + 4);
    while (end < length) {
        size_t step = utf8_length(text + end, length - end);
        if (end + MAX(step, 1) > limit)
            break;
        end += MAX(step, 1);
    }
    return end;
}

void excerpt_add(Str *out, const char *text, size_t limit)
{
    size_t end = cut_at(text, limit), at = 0;
    bool is_cut = text[end] != '\0';
    while (at < end) {
        size_t line = strcspn(text + at, "\r\n");
        line = MIN(line, end - at);
        str_add_safe(out, text + at, line, false);
        at += line;
        if (at < end)
            str_add_char(out, ' ');
        at += strspn(text + at, "\r\n");
    }
    if (is_cut)
        str_add(out, "…");
}

char *excerpt(Arena *arena, const char *text, size_t limit)
{
    CLEANUP(str_done) Str out = STR_INIT;
    excerpt_add(&out, text, limit);
    return arena_strdup(arena, str_text(&out));
}

void excerpt_copy(char *to, size_t size, const char *text)
{
    size_t end = cut_at(text, size - 1);
    memcpy(to, text, end);
    to[end] = '\0';
}

void excerpt_mark(char *to, size_t size, const char *text)
{
    static const char mark[] = "…";
    bool is_cut = strlen(text) >= size && size > sizeof mark;
    excerpt_copy(to, is_cut ? size - sizeof mark + 1 : size, text);
    if (is_cut)
        memcpy(to + strlen(to), mark, sizeof mark);
}
