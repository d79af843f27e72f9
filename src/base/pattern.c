/* Patterns of text: see pattern.h. A pattern becomes a row of steps; the set of steps reached so
 * far is carried along the text. Jumps are relative, so that a piece can be moved as a whole. */
#include "base/pattern.h"
#include <stddef.h>
#include <string.h>

typedef enum StepKind {
    STEP_BYTE,  /* exactly this byte, in either case */
    STEP_ANY,   /* any byte */
    STEP_SET,   /* one of from .. end */
    STEP_START, /* nothing before */
    STEP_END,   /* nothing after */
    STEP_EDGE,  /* of a word */
    STEP_FORK,  /* the next step, and the one `by` further */
    STEP_JUMP,  /* the one `by` further */
    STEP_DONE,
} StepKind;

typedef struct Step {
    StepKind kind;
    char byte;
    int by;
    const char *from, *end;
} Step;

struct Pattern {
    Step *steps;
    size_t count;
};

typedef struct Reader {
    Pattern *out;
    const char *at;
    bool is_broken;
} Reader;

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool is_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static void add(Reader *reader, Step step)
{
    reader->out->steps[reader->out->count++] = step;
}

static void insert(Reader *reader, size_t at, Step step)
{
    Step *steps = reader->out->steps;
    memmove(steps + at + 1, steps + at, (reader->out->count - at) * sizeof *steps);
    steps[at] = step;
    reader->out->count++;
}

static void read_set(Reader *reader)
{
    const char *from = reader->at;
    const char *first = from + (*from == '^');
    const char *end = *first ? strchr(first + 1, ']') : NULL; /* a first ']' is one of the set */
    reader->is_broken = reader->is_broken || !end;
    add(reader, (Step){.kind = STEP_SET, .from = from, .end = end});
    reader->at = end ? end + 1 : from + strlen(from);
}

static void read_choices(Reader *reader);

static void read_group(Reader *reader)
{
    read_choices(reader);
    if (*reader->at == ')')
        reader->at++;
    else
        reader->is_broken = true;
}

static void read_escape(Reader *reader)
{
    char c = *reader->at;
    reader->is_broken = reader->is_broken || !c;
    reader->at += c != '\0';
    Step edge = {.kind = STEP_EDGE}, byte = {.kind = STEP_BYTE, .byte = lower(c)};
    add(reader, c == 'b' ? edge : byte);
}

static void read_piece(Reader *reader)
{
    char c = *reader->at++;
    if (c == '(')
        read_group(reader);
    else if (c == '[')
        read_set(reader);
    else if (c == '\\')
        read_escape(reader);
    else if (c == '.')
        add(reader, (Step){.kind = STEP_ANY});
    else if (c == '^')
        add(reader, (Step){.kind = STEP_START});
    else if (c == '$')
        add(reader, (Step){.kind = STEP_END});
    else if (strchr("*+?{}", c))
        reader->is_broken = true;
    else
        add(reader, (Step){.kind = STEP_BYTE, .byte = lower(c)});
}

/* The piece from start on is repeated, or may be missing. */
static void repeat(Reader *reader, size_t start)
{
    int length = (int)(reader->out->count - start);
    switch (*reader->at++) {
    case '?':
        insert(reader, start, (Step){.kind = STEP_FORK, .by = length + 1});
        return;
    case '*':
        insert(reader, start, (Step){.kind = STEP_FORK, .by = length + 2});
        add(reader, (Step){.kind = STEP_JUMP, .by = -length - 1});
        return;
    default:
        add(reader, (Step){.kind = STEP_FORK, .by = -length});
    }
}

static void read_sequence(Reader *reader)
{
    while (*reader->at && *reader->at != '|' && *reader->at != ')') {
        size_t start = reader->out->count;
        read_piece(reader);
        if (*reader->at && strchr("*+?", *reader->at))
            repeat(reader, start);
    }
}

static void read_choices(Reader *reader)
{
    size_t start = reader->out->count;
    read_sequence(reader);
    if (*reader->at != '|')
        return;
    reader->at++;
    insert(reader, start, (Step){.kind = STEP_FORK, .by = (int)(reader->out->count - start) + 2});
    size_t jump = reader->out->count;
    add(reader, (Step){.kind = STEP_JUMP});
    read_choices(reader);
    reader->out->steps[jump].by = (int)(reader->out->count - jump);
}

Pattern *pattern_read(Arena *arena, const char *words)
{
    Pattern *pattern = arena_alloc(arena, sizeof *pattern);
    Reader reader = {.out = pattern, .at = words};
    /* A byte makes three steps at most: itself, and two around it for what follows. */
    pattern->steps = arena_alloc(arena, (strlen(words) * 3 + 1) * sizeof(Step));
    read_choices(&reader);
    add(&reader, (Step){.kind = STEP_DONE});
    return reader.is_broken || *reader.at ? NULL : pattern;
}

static bool set_holds(const Step *set, char byte)
{
    const char *at = set->from;
    bool is_other = *at == '^', is_in = false;
    for (at += is_other; at < set->end; at++) {
        unsigned char low = (unsigned char)*at, high = low, c = (unsigned char)byte;
        if (set->end - at > 2 && at[1] == '-') {
            high = (unsigned char)at[2];
            at += 2;
        }
        is_in = is_in || (c >= low && c <= high);
    }
    return is_in != is_other;
}

/* Either case of a letter may be in the set; one that is negated holds neither. */
static bool set_takes(const Step *set, char byte)
{
    char other = (char)(byte ^ ('a' - 'A'));
    bool is_letter = lower(byte) >= 'a' && lower(byte) <= 'z', is_other = *set->from == '^';
    bool held = set_holds(set, byte), twin = is_letter ? set_holds(set, other) : held;
    return is_other ? held && twin : held || twin;
}

static bool step_takes(const Step *step, char byte)
{
    switch (step->kind) {
    case STEP_BYTE:
        return step->byte == lower(byte);
    case STEP_ANY:
        return true;
    case STEP_SET:
        return set_takes(step, byte);
    case STEP_START:
    case STEP_END:
    case STEP_EDGE:
    case STEP_FORK:
    case STEP_JUMP:
    case STEP_DONE:
        return false;
    }
    return false;
}

typedef struct Places {
    bool *is_set; /* by step */
    bool is_done;
} Places;

/* A step is reached before *at, and so is what can be reached from it without a byte. As deep as
 * the pattern is long at most. */
static void reach(const Pattern *pattern, const char *text, const char *at, size_t i, Places *out)
{
    const Step *step = &pattern->steps[i];
    if (out->is_set[i])
        return;
    out->is_set[i] = true;
    size_t far = (size_t)((ptrdiff_t)i + step->by);
    bool was_word = at > text && is_word(at[-1]);
    bool passes = (step->kind == STEP_START && at == text) || (step->kind == STEP_END && !*at) ||
                  (step->kind == STEP_EDGE && was_word != is_word(*at)) || step->kind == STEP_FORK;
    if (passes)
        reach(pattern, text, at, i + 1, out);
    if (step->kind == STEP_FORK || step->kind == STEP_JUMP)
        reach(pattern, text, at, far, out);
    out->is_done = out->is_done || step->kind == STEP_DONE;
}

bool pattern_fits(const Pattern *pattern, const char *text)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Places now = {.is_set = arena_alloc(&arena, pattern->count)};
    Places next = {.is_set = arena_alloc(&arena, pattern->count)};
    for (const char *at = text;; at++) {
        reach(pattern, text, at, 0, &now); /* it may begin anywhere */
        if (now.is_done || !*at)
            return now.is_done;
        memset(next.is_set, 0, pattern->count);
        for (size_t i = 0; i < pattern->count; i++) {
            if (now.is_set[i] && step_takes(&pattern->steps[i], *at))
                reach(pattern, text, at + 1, i + 1, &next);
        }
        Places old = now;
        now = next;
        next = old;
    }
}
