/* Plans: see plan.h. */
#include "core/plan.h"
#include "core/convergence.h"
#include <stdlib.h>
#include <string.h>

static const json_t *steps_of(const json_t *plan)
{
    return json_object_get(plan, "steps");
}

size_t plan_step_count(const json_t *plan)
{
    return json_array_size(steps_of(plan));
}

/* ---- checks ---- */

static PlanCheck check_of(const json_t *check, unsigned number, unsigned step)
{
    const char *command = json_text(check, "command", ""), *name = json_text(check, "name", "");
    return (PlanCheck){.number = number,
                       .step = step,
                       .name = *name ? name : command,
                       .command = command,
                       .mode = json_text(check, "mode", "executable")};
}

const PlanCheck *plan_checks(const json_t *plan, Arena *arena, size_t *count)
{
    size_t i, j, total = 0;
    json_t *step, *check;
    json_array_foreach(steps_of(plan), i, step)
    {
        total += json_array_size(json_object_get(step, "checks"));
    }
    PlanCheck *checks = arena_alloc(arena, (total + 1) * sizeof *checks);
    *count = 0;
    json_array_foreach(steps_of(plan), i, step)
    {
        json_array_foreach(json_object_get(step, "checks"), j, check)
        {
            unsigned number = (unsigned)*count + 1;
            checks[(*count)++] = check_of(check, number, (unsigned)i + 1);
        }
    }
    return checks;
}

/* ---- coverage ---- */

static bool covers(const json_t *plan, uint32_t number)
{
    size_t i, j;
    json_t *step, *id;
    json_array_foreach(steps_of(plan), i, step)
    {
        json_array_foreach(json_object_get(step, "covers"), j, id)
        {
            uint32_t named;
            if (json_is_string(id) && requirement_id_read(json_string_value(id), &named) &&
                named == number)
                return true;
        }
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

TextList plan_missing(const json_t *plan, const uint32_t *required, size_t count, Arena *arena)
{
    TextList missing = {arena_alloc(arena, (count + 1) * sizeof *missing.items), 0};
    uint32_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!covers(plan, required[i]))
            numbers[left++] = required[i];
    }
    qsort(numbers, left, sizeof *numbers, by_number);
    for (size_t i = 0; i < left; i++) {
        if (i == 0 || numbers[i] != numbers[i - 1])
            missing.items[missing.count++] = arena_printf(arena, "R%u", numbers[i]);
    }
    return missing;
}

/* ---- scope ---- */

static void add_texts(TextList *list, const json_t *from)
{
    size_t i;
    json_t *text;
    json_array_foreach(from, i, text)
    {
        if (json_is_string(text))
            list->items[list->count++] = json_string_value(text);
    }
}

TextList plan_scope(const json_t *plan, Arena *arena)
{
    const json_t *scope = json_object_get(plan, "scope");
    size_t i, total = json_array_size(scope);
    bool is_whole = plan_step_count(plan) > 0; /* every step names its files */
    json_t *step;
    json_array_foreach(steps_of(plan), i, step)
    {
        size_t files = json_array_size(json_object_get(step, "files"));
        is_whole = is_whole && files > 0;
        total += files;
    }
    TextList list = {arena_alloc(arena, (total + 1) * sizeof *list.items), 0};
    if (json_array_size(scope) == 0 && !is_whole)
        return list;
    add_texts(&list, scope);
    json_array_foreach(steps_of(plan), i, step)
    {
        add_texts(&list, json_object_get(step, "files"));
    }
    return list;
}

/* ---- progress ---- */

unsigned plan_completed(const json_t *answer, unsigned before, unsigned steps)
{
    const char *result = json_text(answer, "result", "");
    int64_t done = json_int(answer, "completed_steps", 0);
    if (strcmp(result, "(done)") == 0)
        return steps;
    if (done <= 0 && text_starts(result, "(step-"))
        done = strtol(result + strlen("(step-"), NULL, 10); /* its form was checked */
    return (unsigned)CLAMP(done, (int64_t)MIN(before, steps), (int64_t)steps);
}
