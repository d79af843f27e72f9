/* Permanent lines of the display: which events deserve one, and how it reads. */
#pragma once
#include "base/json.h"
#include "cli/term.h"

typedef struct Lines Lines;

Lines *lines_new(const Term *term); /* borrowed */
void lines_free(Lines *lines);
void lines_name(Lines *lines, int64_t task, const char *title);
void lines_state(Lines *lines, int64_t task, const char *state);
void lines_event(Lines *lines, const json_t *event);
void lines_say(Lines *lines, Style style, const char *text);
bool lines_wait(const Lines *lines);
void lines_flush(Lines *lines, Str *out); /* each ends in a newline */
