/* A very small terminal: enough to see what the display leaves on a screen. */
#pragma once
#include "base/str.h"

enum { SCREEN_ROWS = 400, SCREEN_COLUMNS = 256 };

typedef struct Screen {
    char cells[SCREEN_ROWS][SCREEN_COLUMNS * 4 + 1]; /* rows as text; scrolled ones stay above */
    size_t columns[SCREEN_ROWS];                     /* used of each row */
    size_t row, column, width;
    bool is_cursor_hidden;
} Screen;

void screen_open(Screen *screen, size_t width);
/* Fails the test at anything that is not text, newline, return, up, clear, colour or cursor. */
void screen_write(Screen *screen, const char *bytes, size_t length);
size_t screen_count(const Screen *screen, const char *text); /* rows that hold it */
