/* Lines that several commands print: see view.h. */
#include "cli/view.h"
#include "base/clock.h"
#include "base/macros.h"
#include <inttypes.h>
#include <string.h>

typedef struct StateRow {
    const char *state;
    Style style;
    const char *mark, *plain;
} StateRow;

/* clang-format off */
static const StateRow state_rows[] = {
    {"done",      STYLE_GOOD, "✓", "+"},
    {"failed",    STYLE_BAD,  "✗", "x"},
    {"timeout",   STYLE_BAD,  "✗", "x"},
    {"blocked",   STYLE_WARN, "!", "!"},
    {"review",    STYLE_WARN, "?", "?"},
    {"asking",    STYLE_WARN, "?", "?"},
    {"active",    STYLE_BUSY, "▸", ">"},
    {"skipped",   STYLE_DIM,  "–", "-"},
    {"cancelled", STYLE_DIM,  "–", "-"},
    {"pending",   STYLE_NONE, "·", "."},
};
/* clang-format on */

static const StateRow *row_of(const char *state)
{
    for (size_t i = 0; i < COUNT(state_rows); i++)
        if (text_equal(state_rows[i].state, state))
            return &state_rows[i];
    return &state_rows[COUNT(state_rows) - 1];
}

Style view_state_style(const char *state)
{
    return row_of(state)->style;
}

const char *view_mark(const Term *term, const char *state)
{
    return term->has_utf8 ? row_of(state)->mark : row_of(state)->plain;
}

static const char *dot(const Term *term)
{
    return term->has_utf8 ? " · " : " | ";
}

/* Puts a line together from pieces as long as they fit; pieces are our own or already safe. */
typedef struct Line {
    const Term *term;
    Str *out;
    size_t left;
} Line;

static bool line_add(Line *line, Style style, const char *text)
{
    size_t columns = text_columns(text, strlen(text));
    if (columns > line->left)
        return false;
    term_add(line->term, line->out, style, text);
    line->left -= columns;
    return true;
}

/* Hostile text, cut to what is left or to at most `most` columns. */
static void line_add_cut(Line *line, Style style, const char *text, size_t most)
{
    CLEANUP(str_done) Str cut = STR_INIT;
    size_t used = str_add_cut(&cut, text, MIN(most, line->left));
    term_add(line->term, line->out, style, str_text(&cut));
    line->left -= used;
}

static void line_joined(Line *line, Style style, const char *text)
{
    const char *between = dot(line->term);
    if (text_columns(between, strlen(between)) + text_columns(text, strlen(text)) > line->left)
        return;
    (void)line_add(line, STYLE_DIM, between); /* both were measured */
    (void)line_add(line, style, text);
}

void view_project(const Term *term, const json_t *status, int64_t elapsed_ms, size_t width,
                  Str *out)
{
    Line line = {term, out, width};
    const json_t *project = json_object_get(status, "project");
    const char *autopilot = json_text(project, "autopilot", "idle");
    CLEANUP(str_done) Str state = STR_INIT;
    str_add(&state, autopilot);
    if (text_equal(autopilot, "running") || text_equal(autopilot, "pausing"))
        str_addf(&state, " %" PRId64 "/%" PRId64, json_int(project, "slots_used", 0),
                 json_int(project, "slots", 0));
    line_add_cut(&line, STYLE_BOLD, json_text(project, "name", "otto"), width / 2 + 1);
    CLEANUP(str_done) Str target = STR_INIT;
    (void)str_add_cut(&target, json_text(project, "target", "?"), 30); /* its width is measured */
    line_joined(&line, STYLE_NONE, str_text(&target));
    line_joined(&line, text_equal(autopilot, "running") ? STYLE_BUSY : STYLE_WARN, state.bytes);
    char span[32];
    clock_span(elapsed_ms, span);
    if (elapsed_ms >= 0)
        line_joined(&line, STYLE_NONE, span);
    const char *why = json_text(project, "paused_why", NULL);
    if (why && line.left > 12) {
        (void)line_add(&line, STYLE_DIM, dot(term)); /* 12 columns are left */
        line_add_cut(&line, STYLE_WARN, why, line.left);
    }
}

int64_t view_total(const json_t *counts)
{
    static const char *const states[] = {"pending", "active", "review",  "blocked",
                                         "done",    "failed", "timeout", "skipped"};
    int64_t total = 0;
    for (size_t i = 0; i < COUNT(states); i++)
        total += json_int(counts, states[i], 0);
    return total;
}

typedef struct CountRow {
    const char *key, *word;
    Style style;
} CountRow;

/* clang-format off */
static const CountRow count_rows[] = { /* in the order of interest; what does not fit is left out */
    {"running", "running", STYLE_BUSY},
    {"merging", "merging", STYLE_BUSY},
    {"failed",  "failed",  STYLE_BAD},
    {"timeout", "timed out", STYLE_BAD},
    {"blocked", "blocked", STYLE_WARN},
    {"review",  "to review", STYLE_WARN},
    {"asking",  "asking",  STYLE_WARN},
    {"ready",   "ready",   STYLE_NONE},
    {"waiting", "waiting", STYLE_NONE},
    {"stopped", "stopped", STYLE_WARN},
    {"skipped_by_dependency", "held up", STYLE_WARN},
    {"skipped", "skipped", STYLE_DIM},
};
/* clang-format on */

static void add_bar(Line *line, int64_t done, int64_t total, size_t cells)
{
    CLEANUP(str_done) Str full = STR_INIT;
    CLEANUP(str_done) Str rest = STR_INIT;
    size_t filled = total > 0 ? (size_t)((int64_t)cells * done / total) : 0;
    for (size_t i = 0; i < cells; i++)
        if (line->term->has_utf8)
            str_add(i < filled ? &full : &rest, i < filled ? "█" : "░");
        else
            str_add_char(i < filled ? &full : &rest, i < filled ? '#' : '-');
    (void)line_add(line, STYLE_GOOD, str_text(&full)); /* a bar that does not fit is left out */
    (void)line_add(line, STYLE_DIM, str_text(&rest));  /* the same */
}

void view_progress(const Term *term, const json_t *counts, size_t width, Str *out)
{
    Line line = {term, out, width};
    int64_t done = json_int(counts, "done", 0), total = view_total(counts);
    char text[64];
    if (width >= 24)
        add_bar(&line, done, total, MIN(width / 4, 24));
    (void)snprintf(text, sizeof text, "%s%" PRId64 "/%" PRId64 " done", width >= 24 ? " " : "",
                   done, total);             /* fits */
    (void)line_add(&line, STYLE_NONE, text); /* a tiny terminal shows nothing */
    for (size_t i = 0; i < COUNT(count_rows); i++) {
        int64_t number = json_int(counts, count_rows[i].key, 0);
        (void)snprintf(text, sizeof text, "%" PRId64 " %s", number, count_rows[i].word); /* fits */
        if (number > 0)
            line_joined(&line, count_rows[i].style, text);
    }
}

static void gate_text(const json_t *gate, Str *out)
{
    size_t index, passed = 0;
    const json_t *check;
    const char *running = NULL;
    json_array_foreach(gate, index, check)
    {
        const char *state = json_text(check, "state", "");
        passed += text_equal(state, "passed");
        if (text_equal(state, "running"))
            running = json_text(check, "name", "");
    }
    str_addf(out, "%zu/%zu checks", passed, json_array_size(gate));
    if (running) {
        str_add(out, ": ");
        str_add_line(out, running);
    }
}

/* The last line of output, or what the gate does. */
static void running_tail(const json_t *row, Str *tail)
{
    const json_t *gate = json_object_get(row, "gate");
    if (text_equal(json_text(row, "state", ""), "verifying") && json_array_size(gate))
        gate_text(gate, tail);
    else if (!text_starts(json_text(row, "last_line", ""), "<otto")) /* signals are for us */
        str_add(tail, json_text(row, "last_line", ""));
}

static bool is_plain_loop(const json_t *run)
{
    const char *flow = json_text(run, "workflow", "loop");
    return text_equal(flow, "loop");
}

/* " exec@mid-exec executing, stage 2" of a run that follows another workflow than the loop. */
static void flow_words(const json_t *row, Str *out)
{
    const char *checkpoint = json_text(row, "checkpoint", "");
    str_add_line(out, json_text(row, "phase", ""));
    if (*checkpoint) {
        str_add_char(out, '@');
        str_add_line(out, checkpoint);
    }
    if (*json_text(row, "status", "")) {
        str_add_char(out, ' ');
        str_add_line(out, json_text(row, "status", ""));
    }
    if (json_int(row, "stage", 0) > 1)
        str_addf(out, " stage %" PRId64, json_int(row, "stage", 0));
}

void view_running(const Term *term, const json_t *row, size_t width, Str *out)
{
    Line line = {term, out, width};
    char id[24], phase[96], span[32];
    const char *state = json_text(row, "state", "working");
    const json_t *progress = json_object_get(row, "progress");
    int id_length = snprintf(id, sizeof id, "#%" PRId64 " ", json_int(row, "task", 0));
    for (; id_length < 4; id_length++) /* one to two digits stand in a column */
        memcpy(id + id_length, " ", 2);
    bool has_steps = !is_plain_loop(row) && json_int(row, "max_steps", 0);
    (void)snprintf(phase, sizeof phase, " %.24s %" PRId64 "/%" PRId64, state,
                   has_steps ? json_int(row, "steps_used", 0) + 1 : json_int(row, "turn", 0),
                   json_int(row, has_steps ? "max_steps" : "max_turns", 0)); /* fits */
    size_t used = strlen(phase);
    if (json_is_integer(progress))
        (void)snprintf(phase + used, sizeof phase - used, " %" PRId64 "%%",
                       json_int(row, "progress", 0)); /* fits */
    CLEANUP(str_done) Str flow = STR_INIT;
    if (!is_plain_loop(row))
        flow_words(row, &flow);
    clock_span(json_int(row, "elapsed_ms", 0), span);
    (void)line_add(&line, STYLE_BUSY, id); /* a tiny terminal shows nothing */
    size_t title = width < 60 ? line.left - MIN(line.left, strlen(phase)) : width * 2 / 5;
    CLEANUP(str_done) Str cell = STR_INIT;
    str_add_cell(&cell, json_text(row, "title", ""), title);
    (void)line_add(&line, STYLE_NONE, str_text(&cell)); /* made to fit */
    (void)line_add(&line, STYLE_NONE, phase);           /* left out when it does not fit */
    if (flow.length)
        line_joined(&line, STYLE_NONE, str_text(&flow));
    line_joined(&line, STYLE_NONE, span);
    CLEANUP(str_done) Str tail = STR_INIT;
    running_tail(row, &tail);
    if (tail.length && line.left > 12) {
        (void)line_add(&line, STYLE_DIM, dot(term)); /* 12 columns are left */
        line_add_cut(&line, STYLE_DIM, tail.bytes, line.left);
    }
}

void view_merging(const Term *term, const json_t *merging, size_t width, Str *out)
{
    if (!json_array_size(merging))
        return;
    Line line = {term, out, width};
    (void)line_add(&line, STYLE_DIM, "merge queue:"); /* a tiny terminal shows nothing */
    size_t index;
    const json_t *row;
    json_array_foreach(merging, index, row)
    {
        char text[96];
        (void)snprintf(text, sizeof text, " #%" PRId64 " %.24s", json_int(row, "task", 0),
                       json_text(row, "state", "")); /* fits */
        if (!line_add(&line, STYLE_NONE, text))
            break;
    }
}

void view_flow(const Term *term, const json_t *run, Str *out)
{
    CLEANUP(str_done) Str line = STR_INIT;
    if (!json_text(run, "workflow", NULL) || is_plain_loop(run))
        return;
    str_add(&line, "    ");
    str_add_line(&line, json_text(run, "workflow", ""));
    str_add(&line, ": ");
    flow_words(run, &line);
    if (json_text(run, "substate", NULL)) {
        str_add(&line, ", ");
        str_add_line(&line, json_text(run, "substate", ""));
    }
    if (json_is_number(json_object_get(run, "convergence")))
        str_addf(&line, ", convergence %.2f",
                 json_number_value(json_object_get(run, "convergence")));
    str_add_char(&line, '\n');
    term_add(term, out, STYLE_NONE, str_text(&line));
}

static void add_word(Str *out, const char *before, const json_t *step, const char *key)
{
    if (!*json_text(step, key, ""))
        return;
    str_add(out, before);
    str_add_line(out, json_text(step, key, ""));
}

static void view_step(const Term *term, const json_t *step, Str *out)
{
    CLEANUP(str_done) Str why = STR_INIT;
    str_add(out, "  ");
    add_word(out, "", step, "phase");
    add_word(out, "@", step, "checkpoint");
    add_word(out, " ", step, "result");
    add_word(out, term->has_utf8 ? " → " : " -> ", step, "next");
    add_word(out, ", ", step, "status");
    if (json_int(step, "stage", 0) > 1)
        str_addf(out, ", stage %" PRId64, json_int(step, "stage", 0));
    if (json_text(step, "commit", NULL))
        str_addf(out, ", %.9s", json_text(step, "commit", ""));
    str_add(&why, "\n      ");
    add_word(&why, "", step, "row");
    add_word(&why, ": ", step, "why");
    term_add(term, out, STYLE_DIM, str_text(&why));
    str_add_char(out, '\n');
}

void view_steps(const Term *term, const json_t *steps, Str *out)
{
    size_t index;
    const json_t *step;
    if (json_array_size(steps))
        term_add(term, out, STYLE_BOLD, "steps\n");
    json_array_foreach(steps, index, step)
    {
        view_step(term, step, out);
    }
}
