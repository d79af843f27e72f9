/* Permanent lines of the display: see lines.h. */
#include "cli/lines.h"
#include "base/arena.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MOST = 1024 * 1024, TITLE_COLUMNS = 48 };

struct Lines {
    const Term *term;
    json_t *titles, *states, *said; /* by id as text; said: the last words of a signal */
    Str waiting;
};

Lines *lines_new(const Term *term)
{
    Lines *lines = mem_alloc(sizeof *lines);
    *lines = (Lines){
        .term = term, .titles = json_object(), .states = json_object(), .said = json_object()};
    return lines;
}

void lines_free(Lines *lines)
{
    json_decref(lines->titles);
    json_decref(lines->states);
    json_decref(lines->said);
    str_done(&lines->waiting);
    free(lines);
}

static void put(json_t *map, int64_t task, const char *text)
{
    char key[24];
    (void)snprintf(key, sizeof key, "%" PRId64, task); /* fits */
    if (task && *text)
        (void)json_object_set_new(map, key, json_string(text)); /* fails only without memory */
}

static const char *get(const json_t *map, int64_t task)
{
    char key[24];
    (void)snprintf(key, sizeof key, "%" PRId64, task); /* fits */
    return json_text(map, key, "");
}

void lines_name(Lines *lines, int64_t task, const char *title)
{
    put(lines->titles, task, title);
}

void lines_state(Lines *lines, int64_t task, const char *state)
{
    put(lines->states, task, state);
}

bool lines_wait(const Lines *lines)
{
    return lines->waiting.length > 0;
}

void lines_flush(Lines *lines, Str *out)
{
    str_add(out, str_text(&lines->waiting));
    str_clear(&lines->waiting);
}

static void add_waiting(Lines *lines, const Str *line)
{
    if (lines->term->is_terminal)
        str_add_wrapped(&lines->waiting, str_text(line), (size_t)MAX(lines->term->width, 20));
    else
        str_add(&lines->waiting, str_text(line));
    str_add_char(&lines->waiting, '\n');
}

void lines_say(Lines *lines, Style style, const char *text)
{
    if (lines->waiting.length > WAITING_MOST)
        return; /* nobody reads that fast */
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_line(&safe, text);
    CLEANUP(str_done) Str line = STR_INIT;
    term_add(lines->term, &line, style, str_text(&safe));
    add_waiting(lines, &line);
}

/* -- which events ------------------------------------------------------------------------- */

typedef struct LineRow {
    const char *event;     /* NULL: any */
    const char *state;     /* the task has just come to this state; NULL: any */
    const char *run_state; /* the run is in this state, and not for a review; NULL: any */
    int64_t verdict;       /* of a gate; 0: any */
    Style style;
    const char *mark, *plain;
    const char *text; /* what happened; the reason follows */
    bool only_plain;  /* not on a terminal, where the block shows it */
    bool is_said;     /* the reason is what the agent said */
} LineRow;

/* clang-format off */
static const LineRow rows[] = { /* the first row that fits wins */
    /* event            state       run state verdict style  mark  plain text */
    {"landed",          NULL,       NULL, 0, STYLE_GOOD, "✓", "+", "landed", false},
    {NULL,              "done",     NULL, 0, STYLE_GOOD, "✓", "+", "done", false},
    {NULL,              "failed",   NULL, 0, STYLE_BAD,  "✗", "x", "failed", false},
    {NULL,              "timeout",  NULL, 0, STYLE_BAD,  "✗", "x", "timed out", false},
    {NULL,              "blocked",  NULL, 0, STYLE_WARN, "!", "!", "blocked", false, true},
    {NULL,              "review",   NULL, 0, STYLE_WARN, "?", "?", "waits for approval", false},
    {NULL,              "skipped",  NULL, 0, STYLE_DIM,  "–", "-", "skipped", false},
    {NULL,              "cancelled", NULL, 0, STYLE_DIM, "–", "-", "removed", false},
    {"turn.ended",      NULL,       "asking", 0, STYLE_WARN, "?", "?", "asks", false, true},
    {"snapshot.taken",  NULL,       "asking", 0, STYLE_WARN, "?", "?", "asks", false, true},
    {"merge.conflict",  NULL,       NULL, 0, STYLE_WARN, "≠", "~", "conflict", false},
    {"gate.ended",      NULL,       NULL, 2, STYLE_WARN, "↻", "~", "checks failed", false},
    {"gate.ended",      NULL,       NULL, 3, STYLE_WARN, "↻", "~", "checks could not run", false},
    {"merge.gate",      NULL,       NULL, 2, STYLE_WARN, "↻", "~", "checks of the merged tree failed", false},
    {"workspace.failed", NULL,      NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"turn.refused",    NULL,       NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"snapshot.failed", NULL,       NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"merge.failed",    NULL,       NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"land.failed",     NULL,       NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"output.limit",    NULL,       NULL, 0, STYLE_WARN, "!", "!", "wrote too much output", false},
    {"turn.ended",      "pending",  NULL, 0, STYLE_WARN, "↻", "~", "retry", false},
    {"reset.done",      NULL,       NULL, 0, STYLE_WARN, "↺", "<", "goes back to its last good commit", false},
    {"reviewed",        NULL,       NULL, 0, STYLE_NONE, "·", ".", "was reviewed", false},
    {"target.set",      NULL,       NULL, 0, STYLE_NONE, "·", ".", "has its objective", false},
    {"refined",         NULL,       NULL, 0, STYLE_NONE, "·", ".", "was refined", false},
    {"command",         NULL,       NULL, 0, STYLE_NONE, "·", ".", "has a command", false},
    {"answer",          NULL,       NULL, 0, STYLE_NONE, "·", ".", "has its answer", false},
    {"retry",           NULL,       NULL, 0, STYLE_NONE, "↻", "~", "retry", false},
    {"rolled.back",     NULL,       NULL, 0, STYLE_WARN, "↺", "<", "rolled back", false},
    {"rollback.failed", NULL,       NULL, 0, STYLE_BAD,  "✗", "x", "could not be rolled back", false},
    {"pause",           NULL,       NULL, 0, STYLE_WARN, "‖", "=", "pausing", false},
    {"resume",          NULL,       NULL, 0, STYLE_NONE, "▸", ">", "resumed", false},
    {"stop.all",        NULL,       NULL, 0, STYLE_WARN, "‖", "=", "stopping", false},
    {"disk",            NULL,       NULL, 0, STYLE_WARN, "!", "!", "disk space", false},
    {"step.result",     NULL,       NULL, 0, STYLE_NONE, "·", ".", "answers", false},
    {"turn.started",    NULL,       NULL, 0, STYLE_BUSY, "▸", ">", "works", true},
};
/* clang-format on */

static bool fits(const LineRow *row, const json_t *event, bool is_new_state)
{
    const json_t *data = json_object_get(event, "data");
    return (!row->event || text_equal(row->event, json_text(event, "event", ""))) &&
           (!row->state ||
            (is_new_state && text_equal(row->state, json_text(event, "state", "")))) &&
           (!row->run_state || (text_equal(row->run_state, json_text(event, "run_state", "")) &&
                                !text_equal(json_text(event, "state", ""), "review"))) &&
           (!row->verdict || row->verdict == json_int(data, "verdict", 0));
}

/* What the agent said, where it is what a person wants to know; else why it was decided. */
static const char *reason_of(const Lines *lines, const LineRow *row, const json_t *event)
{
    static const char *const places[] = {"error", "files", "note", "command"};
    const json_t *data = json_object_get(event, "data");
    const char *said = get(lines->said, json_int(event, "task", 0));
    const char *reason = json_text(event, "why", "");
    if (row->is_said && *said)
        return said;
    for (size_t i = 0; i < COUNT(places) && !*reason; i++)
        reason = json_text(data, places[i], "");
    return reason;
}

static void add_reason(const Lines *lines, const LineRow *row, const json_t *event, Str *out)
{
    const json_t *data = json_object_get(event, "data");
    if (text_equal(row->event, "landed")) { /* which commit says more than why */
        if (json_text(data, "tip", NULL))
            str_addf(out, " %.9s", json_text(data, "tip", ""));
        if (!json_int(data, "delivered", 1) && *json_text(data, "note", "")) {
            str_add(out, ": ");
            str_add_line(out, json_text(data, "note", ""));
        }
        return;
    }
    const char *reason = reason_of(lines, row, event);
    if (!*reason)
        return;
    CLEANUP(str_done) Str plain = STR_INIT;
    text_without_ids(reason, &plain);
    str_add(out, ": ");
    if (lines->term->is_terminal)
        (void)str_add_cut(out, str_text(&plain), 300); /* the line ends here */
    else
        str_add_line(out, str_text(&plain));
}

/* Where in its workflow, or else which turn. */
static void add_place(const json_t *event, int64_t turn, Str *out)
{
    const char *phase = json_text(event, "phase", ""), *at = json_text(event, "checkpoint", "");
    int64_t stage = json_int(event, "stage", 1);
    if (!*phase && turn > 1)
        str_addf(out, " on turn %" PRId64, turn);
    if (!*phase)
        return;
    str_addf(out, " on %s%s%s", phase, *at ? " " : "", at);
    if (stage > 1)
        str_addf(out, ", stage %" PRId64, stage);
}

static void add_row(Lines *lines, const LineRow *row, const json_t *event)
{
    int64_t task = json_int(event, "task", 0), turn = json_int(event, "turn", 0);
    CLEANUP(str_done) Str text = STR_INIT;
    term_add(lines->term, &text, row->style, lines->term->has_utf8 ? row->mark : row->plain);
    str_add_char(&text, ' ');
    if (task) {
        str_addf(&text, "#%" PRId64 " ", task);
        (void)str_add_cut(&text, get(lines->titles, task), TITLE_COLUMNS); /* text goes on */
        str_add_char(&text, ' ');
    }
    term_add(lines->term, &text, row->style, row->text);
    if (text_equal(row->event, "turn.started"))
        add_place(event, turn, &text);
    add_reason(lines, row, event, &text);
    if (lines->waiting.length > WAITING_MOST)
        return; /* nobody reads that fast */
    add_waiting(lines, &text);
}

void lines_event(Lines *lines, const json_t *event)
{
    int64_t task = json_int(event, "task", 0);
    const char *state = json_text(event, "state", "");
    bool is_new = *state && !text_equal(get(lines->states, task), state);
    if (text_equal(json_text(event, "event", ""), "task.added"))
        lines_name(lines, task, json_text(json_object_get(event, "data"), "title", ""));
    if (text_equal(json_text(event, "event", ""), "signal"))
        put(lines->said, task, json_text(json_object_get(event, "data"), "payload", ""));
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!fits(&rows[i], event, is_new))
            continue;
        if (!rows[i].only_plain || !lines->term->is_terminal)
            add_row(lines, &rows[i], event);
        break;
    }
    put(lines->states, task, state);
}
