/* The live display of a run: a calm block at the bottom, one permanent line above it for each thing
 * that matters.
 *
 * Fed by events and status snapshots of the API, from this process or another; knows nothing else.
 * Draws into a text that the caller writes, so it can be tested without a terminal. Without a
 * terminal it gives plain lines and no escape codes. */
#pragma once
#include "base/json.h"
#include "cli/term.h"

typedef struct Display Display;

Display *display_new(const Term *term, const char *otto); /* otto: how suggested commands begin */
void display_free(Display *display);

void display_name(Display *display, int64_t task, const char *title);
void display_state(Display *display, int64_t task, const char *state); /* as it is at the start */
void display_event(Display *display, const json_t *event);
void display_snapshot(Display *display, const json_t *status);
/* A permanent line of our own. */
void display_say(Display *display, Style style, const char *text);
/* The terminal itself has written behind the block: "^C" of the person's key. */
void display_echoed(Display *display, size_t columns);
void display_resize(Display *display, int width, int height);
/* What has to be written now; nothing when nothing changed. elapsed_ms: of this run. */
void display_draw(Display *display, int64_t elapsed_ms, Str *out);
/* Permanent lines that wait, then the block goes and the cursor comes back. */
void display_end(Display *display, Str *out);
