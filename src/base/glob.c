/* Patterns for paths: see glob.h. The pattern becomes a row of steps; the set of steps reached so
 * far is carried along the path, so that no pattern can make it slow. */
#include "base/glob.h"
#include "base/arena.h"
#include <string.h>

typedef struct Step {
    enum {
        STEP_BYTE,  /* exactly this byte */
        STEP_ONE,   /* any but a slash */
        STEP_CLASS, /* one of a set, from .. end */
        STEP_STAR,  /* any number of others than a slash */
        STEP_DEEP,  /* any number of any */
        STEP_PARTS, /* whole parts or none: skips itself and the two steps after it */
    } kind;
    char byte;
    const char *from, *end;
} Step;

typedef struct Steps {
    Step *items;
    size_t count;
    bool is_folder; /* fits only what is above others */
} Steps;

static void step_add(Steps *steps, Step step)
{
    steps->items[steps->count++] = step;
}

static void parts_add(Steps *steps)
{
    step_add(steps, (Step){.kind = STEP_PARTS});
    step_add(steps, (Step){.kind = STEP_DEEP});
    step_add(steps, (Step){.kind = STEP_BYTE, .byte = '/'});
}

/* The end of a set that begins at '[', or NULL when it is never closed. */
static const char *class_end(const char *open)
{
    const char *at = open + 1 + (open[1] == '!' || open[1] == '^');
    return *at ? strchr(at + 1, ']') : NULL; /* a first ']' is one of the set */
}

static bool class_holds(const char *from, const char *end, char byte)
{
    bool is_other = *from == '!' || *from == '^', is_in = false;
    unsigned char c = (unsigned char)byte;
    for (from += is_other; from < end; from++) {
        unsigned char low = (unsigned char)*from, high = low;
        if (end - from > 2 && from[1] == '-') {
            high = (unsigned char)from[2];
            from += 2;
        }
        is_in = is_in || (c >= low && c <= high);
    }
    return byte != '/' && is_in != is_other;
}

/* One piece of the pattern; returns what is left of it. */
static const char *piece_add(Steps *steps, const char *at, bool is_part_start)
{
    const char *end = *at == '[' ? class_end(at) : NULL;
    if (at[0] == '*' && at[1] == '*') {
        if (is_part_start && at[2] == '/') {
            parts_add(steps);
            return at + 3;
        }
        step_add(steps, (Step){.kind = STEP_DEEP});
        return at + 2;
    }
    if (end)
        step_add(steps, (Step){.kind = STEP_CLASS, .from = at + 1, .end = end});
    else if (*at == '*')
        step_add(steps, (Step){.kind = STEP_STAR});
    else if (*at == '?')
        step_add(steps, (Step){.kind = STEP_ONE});
    else
        step_add(steps, (Step){.kind = STEP_BYTE, .byte = *at == '\\' && at[1] ? *++at : *at});
    return end ? end + 1 : at + 1;
}

static Steps steps_of(const char *pattern, Arena *arena)
{
    size_t length = strlen(pattern);
    Steps steps = {arena_alloc(arena, (length + 5) * sizeof(Step)), 0, false};
    steps.is_folder = length > 1 && pattern[length - 1] == '/';
    const char *at = arena_strndup(arena, pattern, length - steps.is_folder);
    if (!strchr(at, '/'))
        parts_add(&steps); /* at any depth */
    at += *at == '/';
    for (bool is_start = true; *at;) {
        const char *next = piece_add(&steps, at, is_start);
        is_start = next[-1] == '/';
        at = next;
    }
    return steps;
}

/* Steps that can be left without a byte. */
static void set_close(const Steps *steps, bool *set)
{
    for (size_t i = 0; i < steps->count; i++) {
        if (!set[i])
            continue;
        if (steps->items[i].kind >= STEP_STAR)
            set[i + 1] = true;
        if (steps->items[i].kind == STEP_PARTS)
            set[i + 3] = true;
    }
}

static bool set_advance(const Steps *steps, const bool *set, char byte, bool *next)
{
    bool is_alive = false;
    memset(next, 0, steps->count + 1);
    for (size_t i = 0; i < steps->count; i++) {
        const Step *step = &steps->items[i];
        if (!set[i] || step->kind == STEP_PARTS)
            continue;
        bool stays = step->kind == STEP_DEEP || (step->kind == STEP_STAR && byte != '/');
        bool passes = (step->kind == STEP_BYTE && step->byte == byte) ||
                      (step->kind == STEP_ONE && byte != '/') ||
                      (step->kind == STEP_CLASS && class_holds(step->from, step->end, byte));
        next[i] = next[i] || stays;
        next[i + 1] = next[i + 1] || passes;
        is_alive = is_alive || stays || passes;
    }
    return is_alive;
}

bool glob_fits(const char *pattern, const char *path)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Steps steps = steps_of(pattern, &arena);
    bool *set = arena_alloc(&arena, steps.count + 1), *next = arena_alloc(&arena, steps.count + 1);
    set[0] = true;
    set_close(&steps, set);
    for (; *path; path++) {
        if (*path == '/' && set[steps.count])
            return true; /* a folder above it */
        if (!set_advance(&steps, set, *path, next))
            return false;
        bool *old = set;
        set = next;
        next = old;
        set_close(&steps, set);
    }
    return set[steps.count] && !steps.is_folder;
}

bool glob_fits_any(const char *const *patterns, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (glob_fits(patterns[i], path))
            return true;
    return false;
}
