/* The target of a task: see target.h. */
#include "core/target.h"
#include "core/excerpt.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- is there content? ---- */

enum { LINE_MAX_BYTES = 4096 };

/* The text without HTML comments; an open one hides the rest. */
static void strip_comments(const char *text, Str *out)
{
    const char *open;
    while ((open = strstr(text, "<!--"))) {
        const char *close = strstr(open, "-->");
        str_add_bytes(out, text, (size_t)(open - text));
        if (!close)
            return;
        text = close + strlen("-->");
    }
    str_add(out, text);
}

/* Bullets, numbers, check boxes and quotes before the words. */
static const char *skip_markers(const char *at)
{
    for (;;) {
        const char *start = at;
        at += strspn(at, " \t>");
        if (strchr("-*+", *at) && *at && isspace((unsigned char)at[1]))
            at += 2;
        if (text_starts(at, "[ ]") || text_starts(at, "[x]"))
            at += 3;
        size_t digits = strspn(at, "0123456789");
        if (digits && (at[digits] == '.' || at[digits] == ')') &&
            isspace((unsigned char)at[digits + 1]))
            at += digits + 1;
        if (at == start)
            return at;
    }
}

/* Without <placeholders>, and without marks and blanks at both ends. */
static void strip_placeholders(const char *from, size_t length, char *to)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const char *close = from[i] == '<' ? memchr(from + i, '>', length - i) : NULL;
        if (close)
            i = (size_t)(close - from);
        else
            to[used++] = from[i];
    }
    while (used && strchr(" \t\r.*_`|-=…", to[used - 1]))
        used--;
    to[used] = '\0';
}

static bool is_placeholder(const char *words)
{
    static const char *const known[] = {
        "todo",          "tbd",          "tba",     "fixme",      "xxx",
        "n/a",           "none",         "fill in", "fill me in", "to be written",
        "to be defined", "\xe2\x80\xa6", "[...]",   "(...)"};
    for (size_t i = 0; i < COUNT(known); i++) {
        if (strcasecmp(words, known[i]) == 0)
            return true;
    }
    return false;
}

static bool line_is_content(const char *line, size_t length)
{
    char buffer[LINE_MAX_BYTES + 1], words[LINE_MAX_BYTES + 1];
    (void)snprintf(buffer, sizeof buffer, "%.*s", (int)MIN(length, (size_t)LINE_MAX_BYTES),
                   line); /* a longer line has content enough */
    const char *at = skip_markers(buffer);
    if (*at == '#' || text_starts(at, "```") || text_starts(at, "~~~"))
        return false;
    at += strspn(at, " \t*_`|-=.");
    strip_placeholders(at, strlen(at), words);
    size_t left = strlen(words);
    bool is_label = left > 0 && words[left - 1] == ':';
    return left > 0 && !is_label && !is_placeholder(words);
}

bool target_is_filled(const char *text)
{
    CLEANUP(str_done) Str plain = STR_INIT;
    if (!text)
        return false;
    strip_comments(text, &plain);
    for (const char *line = str_text(&plain); *line;) {
        size_t length = strcspn(line, "\n");
        if (line_is_content(line, length))
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

/* ---- words ---- */

enum { WORDS_MAX = 200, WORD_BYTES = 32 };

typedef struct Words {
    char items[WORDS_MAX][WORD_BYTES];
    size_t count;
} Words;

static bool is_small_word(const char *word)
{
    static const char *const small[] = {"the",  "and",  "for", "with", "that",   "this", "from",
                                        "into", "must", "can", "are",  "should", "will", "has",
                                        "have", "been", "its", "not",  "shall",  "when", "all"};
    for (size_t i = 0; i < COUNT(small); i++) {
        if (strcmp(small[i], word) == 0)
            return true;
    }
    return strlen(word) < 3;
}

static bool words_have(const Words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0)
            return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The significant words, each once, in lower case. */
static void words_of(const char *text, Words *words)
{
    words->count = 0;
    while (*text && words->count < WORDS_MAX) {
        char *word = words->items[words->count];
        size_t used = 0;
        for (; is_letter(*text); text++) {
            if (used < WORD_BYTES - 1)
                word[used++] = (char)tolower((unsigned char)*text);
        }
        word[used] = '\0';
        if (used && !is_small_word(word) && !words_have(words, word))
            words->count++;
        text += *text != '\0' && !is_letter(*text);
    }
}

int target_match(const Target *target, const char *text)
{
    Words wanted, have;
    int found = -1;
    words_of(text, &wanted);
    for (size_t i = 0; i < target->item_count; i++) {
        size_t shared = 0;
        if (strcasecmp(target->items[i].text, text) == 0)
            return (int)i;
        words_of(target->items[i].text, &have);
        for (size_t j = 0; j < wanted.count; j++)
            shared += words_have(&have, wanted.items[j]);
        if (wanted.count && shared * 2 >= wanted.count)
            found = found == -1 ? (int)i : -2;
    }
    return found;
}

/* ---- soundness ---- */

static bool is_blank(const char *text)
{
    return !text || text[strspn(text, " \t\r\n")] == '\0';
}

/* Signs that a text joins several wishes (B-74); NULL none. */
static const char *compound_sign(const char *text)
{
    static const char *const signs[] = {"; ",       " and also ", " as well as ", " and then ",
                                        " and/or ", "\n- ",       "\n* "};
    for (size_t i = 0; i < COUNT(signs); i++) {
        if (strcasestr(text, signs[i]))
            return signs[i];
    }
    return NULL;
}

typedef struct Problems {
    TextList list;
    size_t most;
    Arena *arena;
} Problems;

static void problem(Problems *problems, const char *what, uint32_t number, const char *wrong,
                    const char *text)
{
    if (problems->list.count < problems->most)
        problems->list.items[problems->list.count++] =
            arena_printf(problems->arena, "%s%u %s: '%s'", what, number, wrong,
                         excerpt(problems->arena, text ? text : "", 100));
}

static size_t requirements_of(const Target *target, uint32_t item)
{
    size_t count = 0;
    for (size_t i = 0; i < target->requirement_count; i++)
        count += target->requirements[i].item == item;
    return count;
}

static bool has_item(const Target *target, uint32_t number)
{
    for (size_t i = 0; i < target->item_count; i++) {
        if (target->items[i].number == number)
            return true;
    }
    return false;
}

static void check_item(const Target *target, const TargetItem *item, Problems *problems)
{
    bool is_pending = item->marker && strcmp(item->marker, "pending") == 0;
    size_t count = requirements_of(target, item->number);
    if (is_blank(item->text))
        problem(problems, "item ", item->number, "has no text", item->text);
    else if (strchr(item->text, '\n'))
        problem(problems, "item ", item->number, "has more than one line", item->text);
    if (item->is_constraint ? count > 0 : is_pending && count > 0)
        problem(problems, "item ", item->number,
                item->is_constraint ? "is a constraint and must not be split"
                                    : "is pending and must not be split yet",
                item->text);
    if (!item->is_constraint && !is_pending && count == 0)
        problem(problems, "item ", item->number, "has no requirement", item->text);
}

static bool is_repeated(const Target *target, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcasecmp(target->requirements[i].text, target->requirements[index].text) == 0)
            return true;
    }
    return false;
}

static void check_requirement(const Target *target, size_t index, Problems *problems)
{
    const TargetRequirement *requirement = &target->requirements[index];
    uint32_t number = requirement->number;
    if (is_blank(requirement->text)) {
        problem(problems, "R", number, "has no text", requirement->text);
        return;
    }
    if (compound_sign(requirement->text))
        problem(problems, "R", number, "joins several behaviours, split it", requirement->text);
    if (is_blank(requirement->criteria))
        problem(problems, "R", number, "has no criteria, so nothing can verify it",
                requirement->text);
    if (requirement->weight < 1 || requirement->weight > 3)
        problem(problems, "R", number, "needs a weight of 1, 2 or 3", requirement->text);
    if (requirement->item && !has_item(target, requirement->item))
        problem(problems, "R", number, "belongs to no item", requirement->text);
    if (is_repeated(target, index))
        problem(problems, "R", number, "is there twice", requirement->text);
}

TextList target_check(const Target *target, Arena *arena)
{
    Problems problems = {.arena = arena, .most = 100};
    problems.list.items = arena_alloc(arena, problems.most * sizeof *problems.list.items);
    for (size_t i = 0; i < target->item_count; i++)
        check_item(target, &target->items[i], &problems);
    for (size_t i = 0; i < target->requirement_count; i++)
        check_requirement(target, i, &problems);
    return problems.list;
}

/* ---- numbers ---- */

static uint32_t place_of(const Target *target, uint32_t item)
{
    for (size_t i = 0; i < target->item_count; i++) {
        if (item && target->items[i].number == item)
            return (uint32_t)i;
    }
    return (uint32_t)target->item_count; /* of no item: last */
}

void target_renumber(Target *target, Arena *arena)
{
    size_t used = 0, count = target->requirement_count;
    TargetRequirement *sorted = arena_alloc(arena, (count + 1) * sizeof *sorted);
    for (uint32_t place = 0; place <= target->item_count; place++) {
        for (size_t i = 0; i < count; i++) {
            if (place_of(target, target->requirements[i].item) != place)
                continue;
            sorted[used] = target->requirements[i];
            sorted[used].item = place < target->item_count ? place + 1 : 0;
            sorted[used].number = (uint32_t)used + 1;
            used++;
        }
    }
    for (size_t i = 0; i < count; i++)
        target->requirements[i] = sorted[i];
    for (size_t i = 0; i < target->item_count; i++)
        target->items[i].number = (uint32_t)i + 1;
}

bool target_drop(Target *target, uint32_t item, Arena *arena)
{
    size_t place = place_of(target, item), used = 0;
    if (place == target->item_count)
        return false;
    for (size_t i = 0; i < target->requirement_count; i++) {
        if (target->requirements[i].item != item)
            target->requirements[used++] = target->requirements[i];
    }
    target->requirement_count = used;
    for (size_t i = place + 1; i < target->item_count; i++)
        target->items[i - 1] = target->items[i];
    target->item_count--;
    target_renumber(target, arena);
    return true;
}
