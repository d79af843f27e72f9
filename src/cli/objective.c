/* Objectives from words and Markdown: see objective.h. */
#include "cli/objective.h"
#include "base/arena.h"
#include "base/str.h"
#include <string.h>
#include <strings.h>

static char *trimmed(Arena *arena, const char *text, size_t length)
{
    while (length && strchr(" \t\r", *text)) {
        text++;
        length--;
    }
    while (length && strchr(" \t\r", text[length - 1]))
        length--;
    return arena_strndup(arena, text, length);
}

static bool put(json_t *edit, const char *key, const char *text, Err *err)
{
    json_t *value = json_string(text);
    if (!value)
        return err_set(err, ERR_USAGE, "the %s is not valid UTF-8 text", key);
    (void)json_object_set_new(edit, key, value); /* fails only without memory */
    return true;
}

static bool put_weight(json_t *edit, const char *word, Err *err)
{
    int64_t number;
    if (!text_to_int(word, &number))
        return put(edit, "weight", word, err); /* the engine knows the words */
    (void)json_object_set_new(edit, "weight", json_integer(number)); /* fails only without memory */
    return true;
}

bool objective_requirement(const char *text, json_t *edit, Err *err)
{
    static const char *const keys[] = {"text", "criteria", "weight"};
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    for (size_t i = 0; text; i++) {
        const char *end = strstr(text, "::");
        const char *part = trimmed(&scratch, text, end ? (size_t)(end - text) : strlen(text));
        if (i == COUNT(keys))
            return err_set(err, ERR_USAGE,
                           "a requirement is TEXT :: CRITERIA :: WEIGHT, with nothing after it");
        if (*part && !(i == 2 ? put_weight(edit, part, err) : put(edit, keys[i], part, err)))
            return false;
        text = end ? end + 2 : NULL;
    }
    return true;
}

/* -- Markdown -------------------------------------------------------------------------------- */

typedef struct Reader {
    const char *name;
    json_t *edits;
    Arena arena;
    int line;
    bool in_constraints, in_fence, has_item;
} Reader;

/* Where the text of a list item begins: "- x", "* x", "+ x", "12. x", "12) x"; NULL: none. */
static const char *item_text(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    if (strchr("-*+", *line) && *line && line[1] == ' ')
        line += 2;
    else if (digits && digits < 4 && strchr(".)", line[digits]) && line[digits] &&
             line[digits + 1] == ' ')
        line += digits + 2;
    else
        return NULL;
    line += strspn(line, " \t");
    bool is_box = line[0] == '[' && line[1] && line[2] == ']' && strchr(" xX", line[1]);
    return is_box ? line + 3 : line;
}

/* Length of a note that otto itself writes behind an item: "(R: 3)", "[CONFIRMED]"; 0 none. */
static size_t note_length(const char *text)
{
    static const char *const notes[] = {"[CONFIRMED]", "[PROCESSED]", "(pending detail)"};
    size_t length = strlen(text);
    for (size_t i = 0; i < COUNT(notes); i++)
        if (text_ends(text, notes[i]))
            return strlen(notes[i]);
    const char *count = strrchr(text, '(');
    bool is_count = count && text_starts(count, "(R: ") && text_ends(count, ")") &&
                    strspn(count + 4, "0123456789") == strlen(count) - 5;
    return is_count ? length - (size_t)(count - text) : 0;
}

static char *without_notes(Arena *arena, const char *text)
{
    char *clean = trimmed(arena, text, strlen(text));
    for (size_t note; (note = note_length(clean));)
        clean = trimmed(arena, clean, strlen(clean) - note);
    return clean;
}

static bool add_edit(Reader *reader, const char *op, const char *text, Err *err)
{
    json_t *edit = json_pack("{s:s}", "op", op);
    (void)json_array_append_new(reader->edits, edit); /* fails only without memory */
    if (json_array_size(reader->edits) > OBJECTIVE_MOST_EDITS)
        return err_set(err, ERR_TOO_BIG, "%s: more than %d items and requirements", reader->name,
                       OBJECTIVE_MOST_EDITS);
    bool is_put = text_equal(op, "add-requirement") ? objective_requirement(text, edit, err)
                                                    : put(edit, "text", text, err);
    return is_put || err_add(err, "%s:%d", reader->name, reader->line);
}

static bool read_line(Reader *reader, const char *line, Err *err)
{
    size_t indent = strspn(line, " \t");
    const char *at = line + indent, *text = item_text(at);
    if (text_starts(at, "```") || text_starts(at, "~~~"))
        reader->in_fence = !reader->in_fence;
    if (reader->in_fence)
        return true;
    if (*at == '#') {
        at += strspn(at, "# ");
        reader->in_constraints = strncasecmp(at, "constraint", 10) == 0;
        reader->has_item = false;
        return true;
    }
    if (!text || !*(text = without_notes(&reader->arena, text)))
        return true;
    if (indent < 2) {
        reader->has_item = !reader->in_constraints;
        return add_edit(reader, reader->in_constraints ? "add-constraint" : "add-item", text, err);
    }
    if (!reader->has_item)
        return err_set(err, ERR_USAGE, "%s:%d: a requirement without an item above it",
                       reader->name, reader->line);
    return add_edit(reader, "add-requirement", text, err);
}

bool objective_markdown(const char *name, const char *text, json_t *edits, Err *err)
{
    Reader reader = {.name = name, .edits = edits};
    size_t before = json_array_size(edits);
    bool is_fine = true;
    while (is_fine && *text) {
        size_t length = strcspn(text, "\n");
        reader.line++;
        is_fine = read_line(&reader, arena_strndup(&reader.arena, text, length), err);
        text += length + (text[length] == '\n');
    }
    arena_done(&reader.arena);
    if (is_fine && json_array_size(edits) == before)
        return err_set(err, ERR_USAGE, "'%s' holds no list: write items as '- text'", name);
    return is_fine;
}
