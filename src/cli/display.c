/* The live display of a run: the block and the drawing. See display.h. */
#include "cli/display.h"
#include "base/arena.h"
#include "cli/lines.h"
#include "cli/view.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MOST = 64, NEEDS_MOST = 3 };

struct Display {
    Term term;
    Lines *lines;   /* permanent ones that wait to be written */
    json_t *status; /* the last snapshot */
    char *otto;
    Str block;                 /* as drawn last, lines joined by newlines */
    size_t widths[BLOCK_MOST]; /* of its lines, in columns */
    size_t line_count;
    bool is_hidden; /* the cursor */
};

Display *display_new(const Term *term, const char *otto)
{
    Display *display = mem_alloc(sizeof *display);
    display->term = *term;
    display->lines = lines_new(&display->term);
    display->otto = mem_strdup(otto);
    return display;
}

void display_free(Display *display)
{
    if (!display)
        return;
    lines_free(display->lines);
    json_decref(display->status);
    str_done(&display->block);
    free(display->otto);
    free(display);
}

void display_name(Display *display, int64_t task, const char *title)
{
    lines_name(display->lines, task, title);
}

void display_state(Display *display, int64_t task, const char *state)
{
    lines_state(display->lines, task, state);
}

void display_event(Display *display, const json_t *event)
{
    lines_event(display->lines, event);
}

void display_say(Display *display, Style style, const char *text)
{
    lines_say(display->lines, style, text);
}

void display_snapshot(Display *display, const json_t *status)
{
    static const char *const lists[] = {"running", "merging", "landed", "needs_you"};
    json_decref(display->status);
    display->status = json_deep_copy(status);
    for (size_t i = 0; i < COUNT(lists); i++) {
        size_t index;
        const json_t *row;
        json_array_foreach(json_object_get(status, lists[i]), index, row)
        {
            lines_name(display->lines, json_int(row, "task", 0), json_text(row, "title", ""));
        }
    }
}

void display_resize(Display *display, int width, int height)
{
    display->term.width = width;
    display->term.height = height;
}

void display_echoed(Display *display, size_t columns)
{
    if (display->line_count)
        display->widths[display->line_count - 1] += columns;
    str_add_char(&display->block, '\n'); /* it no longer is what was drawn: draw again */
}

/* -- the block ---------------------------------------------------------------------------- */

typedef struct Block {
    Str text;
    size_t count, most, width;
} Block;

/* True when there is room for a line; begins it. */
static bool block_line(Block *block)
{
    if (block->count >= block->most)
        return false;
    if (block->count++)
        str_add_char(&block->text, '\n');
    return true;
}

static void block_needs(const Display *display, Block *block)
{
    const json_t *needs = json_object_get(display->status, "needs_you"), *row;
    size_t index;
    json_array_foreach(needs, index, row)
    {
        CLEANUP(str_done) Str line = STR_INIT;
        CLEANUP(str_done) Str cut = STR_INIT;
        const char *command = json_text(row, "command", "");
        if (index == NEEDS_MOST || !block_line(block))
            return;
        str_add(&line, "needs you: ");
        if (json_int(row, "task", 0)) /* else it is about the project */
            str_addf(&line, "#%" PRId64 " ", json_int(row, "task", 0));
        str_add_first(&line, json_text(row, "text", ""));
        if (text_starts(command, "otto "))
            str_addf(&line, " > %s%s", display->otto, command + 4);
        (void)str_add_cut(&cut, line.bytes, block->width); /* the line ends here */
        term_add(&display->term, &block->text, STYLE_WARN, cut.bytes);
    }
}

static void block_running(const Display *display, Block *block)
{
    const json_t *running = json_object_get(display->status, "running"), *row;
    size_t index, count = json_array_size(running);
    json_array_foreach(running, index, row)
    {
        if (block->count + 1 == block->most && index + 1 < count) {
            char text[48];
            (void)snprintf(text, sizeof text, "and %zu more", count - index); /* fits */
            if (block_line(block) && strlen(text) <= block->width)
                term_add(&display->term, &block->text, STYLE_DIM, text);
            return;
        }
        if (!block_line(block))
            return;
        view_running(&display->term, row, block->width, &block->text);
    }
}

static void block_build(const Display *display, int64_t elapsed_ms, Block *block)
{
    const json_t *merging = json_object_get(display->status, "merging");
    if (block_line(block))
        view_project(&display->term, display->status, elapsed_ms, block->width, &block->text);
    if (block_line(block))
        view_progress(&display->term, json_object_get(display->status, "counts"), block->width,
                      &block->text);
    block_running(display, block);
    if (json_array_size(merging) && block_line(block))
        view_merging(&display->term, merging, block->width, &block->text);
    block_needs(display, block);
}

/* -- drawing ------------------------------------------------------------------------------ */

static void remember(Display *display, Block *block)
{
    str_done(&display->block);
    display->block = block->text;
    display->line_count = 0;
    for (const char *line = str_text(&display->block); display->line_count < block->count;) {
        size_t length = strcspn(line, "\n");
        display->widths[display->line_count++] = styled_columns(line, length);
        line += length + (line[length] == '\n');
    }
}

/* A terminal made narrower has wrapped our lines: the rows they take now are counted, not the rows
 * they took when they were drawn. */
static void erase(const Display *display, Str *out)
{
    size_t rows = 0, width = (size_t)MAX(display->term.width, 1);
    for (size_t i = 0; i < display->line_count; i++)
        rows += display->widths[i] ? (display->widths[i] + width - 1) / width : 1;
    if (!display->line_count)
        return;
    str_add_char(out, '\r');
    if (rows > 1)
        str_addf(out, "\x1b[%zuA", rows - 1);
    str_add(out, "\x1b[J");
}

void display_draw(Display *display, int64_t elapsed_ms, Str *out)
{
    if (!display->term.is_terminal) {
        lines_flush(display->lines, out);
        return;
    }
    Block block = {.most = (size_t)MIN(MAX(display->term.height - 1, 1), BLOCK_MOST),
                   .width = (size_t)MAX(display->term.width - 1, 1)};
    if (display->status)
        block_build(display, elapsed_ms, &block);
    bool is_same = text_equal(str_text(&block.text), str_text(&display->block));
    if (is_same && !lines_wait(display->lines)) {
        str_done(&block.text);
        return;
    }
    if (!display->is_hidden)
        str_add(out, "\x1b[?25l");
    display->is_hidden = true;
    erase(display, out);
    lines_flush(display->lines, out);
    str_add(out, str_text(&block.text));
    remember(display, &block);
}

void display_end(Display *display, Str *out)
{
    if (display->term.is_terminal)
        erase(display, out);
    lines_flush(display->lines, out);
    display->line_count = 0;
    str_clear(&display->block);
    if (display->is_hidden)
        str_add(out, "\x1b[?25h");
    display->is_hidden = false;
}
