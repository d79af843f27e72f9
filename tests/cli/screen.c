/* A very small terminal: see screen.h. */
#include "tests/test.h"

#include "cli/term.h"
#include "tests/cli/screen.h"
#include <stdlib.h>
#include <string.h>

void screen_open(Screen *screen, size_t width)
{
    memset(screen, 0, sizeof *screen);
    screen->width = width;
}

static void clear_below(Screen *screen)
{
    assert_int_equal(screen->column, 0); /* the display clears from the start of a row */
    for (size_t i = screen->row; i < SCREEN_ROWS; i++) {
        screen->cells[i][0] = '\0';
        screen->columns[i] = 0;
    }
}

static size_t take_escape(Screen *screen, const char *bytes, size_t length)
{
    size_t end = 2;
    while (end < length && strchr("0123456789;?", bytes[end]))
        end++;
    assert_true(end < length && bytes[1] == '[');
    size_t number = strtoul(bytes + 2, NULL, 10);
    if (bytes[end] == 'A') {
        assert_true(number <= screen->row);
        screen->row -= number;
    } else if (bytes[end] == 'J') {
        clear_below(screen);
    } else if (bytes[end] == 'l' || bytes[end] == 'h') {
        assert_memory_equal(bytes, "\x1b[?25", 5);
        screen->is_cursor_hidden = bytes[end] == 'l';
    } else {
        assert_int_equal(bytes[end], 'm');
    }
    return end + 1;
}

static void put(Screen *screen, const char *bytes, size_t length)
{
    size_t columns = text_columns(bytes, length);
    if (screen->column + columns > screen->width) {
        screen->row++;
        screen->column = 0;
    }
    assert_true(screen->row < SCREEN_ROWS);
    assert_int_equal(screen->column, screen->columns[screen->row]); /* only appends to rows */
    size_t used = strlen(screen->cells[screen->row]);
    memcpy(screen->cells[screen->row] + used, bytes, length);
    screen->cells[screen->row][used + length] = '\0';
    screen->column += columns;
    screen->columns[screen->row] += columns;
}

void screen_write(Screen *screen, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        if (bytes[i] == '\x1b') {
            i += take_escape(screen, bytes + i, length - i);
        } else if (bytes[i] == '\n') {
            screen->row++;
            screen->column = 0;
            assert_true(screen->row < SCREEN_ROWS);
            i++;
        } else if (bytes[i] == '\r') {
            screen->column = 0;
            i++;
        } else {
            size_t step = utf8_length(bytes + i, length - i);
            assert_true(step > 0 && (unsigned char)bytes[i] >= 0x20);
            put(screen, bytes + i, step);
            i += step;
        }
    }
}

size_t screen_count(const Screen *screen, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < SCREEN_ROWS; i++)
        count += strstr(screen->cells[i], text) != NULL;
    return count;
}
