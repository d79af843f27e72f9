/* Lines that several commands print: states, bars, running tasks, what needs a person. They take
 * the JSON of the API and know nothing else. No line is wider than asked for; none ends in a
 * newline. */
#pragma once
#include "base/json.h"
#include "cli/term.h"

Style view_state_style(const char *state);
/* "✓", "✗", … or an ASCII letter where the terminal knows no better. */
const char *view_mark(const Term *term, const char *state);
/* "otto · name · main · running 2/3 · 1 min 3 s" of a status reply. */
void view_project(const Term *term, const json_t *status, int64_t elapsed_ms, size_t width,
                  Str *out);
/* A bar and the counts: "[####----] 3/8 done · 2 running · 1 failed". */
void view_progress(const Term *term, const json_t *counts, size_t width, Str *out);
/* "#12 title  working 2/50  1 min 3 s  last line" of an element of running. */
void view_running(const Term *term, const json_t *row, size_t width, Str *out);
/* "merge queue: #3 merging, #4 queued"; nothing when it is empty. */
void view_merging(const Term *term, const json_t *merging, size_t width, Str *out);
int64_t view_total(const json_t *counts); /* tasks that are not cancelled */
/* "  stands in exec at mid-exec, status executing, stage 2" of a run; whole lines. Nothing for a
 * run of the loop, whose state says it all. */
void view_flow(const Term *term, const json_t *run, Str *out);
/* Steps of a workflow: phase, checkpoint, result, what follows, and the row that decided with its
 * sentence; whole lines. */
void view_steps(const Term *term, const json_t *steps, Str *out);
