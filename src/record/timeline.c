/* The timeline of a task: flow line, table, time per phase (A-108). */
#include "base/clock.h"
#include "record/parts.h"
#include "record/plain.h"
#include <string.h>

/* ---- the flow line ---- */

static bool is_gate_word(const char *result)
{
    return *result >= 'A' && *result <= 'Z'; /* PASS, NEEDS_FIX: worth showing */
}

static const char *flow_name(Past *past, const StoreStep *step)
{
    const char *phase = plain_line(&past->arena, step->phase, 40);
    const char *result = plain_line(&past->arena, step->result, 40);
    return is_gate_word(result) ? arena_printf(&past->arena, "%s(%s)", phase, result) : phase;
}

const char *flow_line(Past *past)
{
    CLEANUP(str_done) Str line = STR_INIT;
    enum { SHOWN = 200 };
    size_t count = past->steps.count, i = count > SHOWN ? count - SHOWN : 0;
    str_add(&line, i || past->steps.left_out ? "…" : "");
    while (i < count) {
        const char *name = flow_name(past, &past->steps.rows[i]);
        size_t times = 1;
        while (i + times < count && !strcmp(name, flow_name(past, &past->steps.rows[i + times])))
            times++;
        str_addf(&line, "%s%s", line.length ? " → " : "", name);
        if (times > 1)
            str_addf(&line, " ×%zu", times);
        i += times;
    }
    const char *last = count ? past->steps.rows[count - 1].next : "";
    if (!strcmp(last, "(stop)")) {
        str_add(&line, " → ");
        plain_add_line(&line, past->steps.rows[count - 1].status, 40);
    }
    return arena_strdup(&past->arena, str_text(&line));
}

/* ---- time per phase ---- */

typedef struct PhaseTime {
    const char *phase;
    uint32_t steps;
    int64_t took_ms;
} PhaseTime;

typedef struct PhaseTimes {
    PhaseTime rows[32];
    size_t count;
    int64_t total_ms;
} PhaseTimes;

static int64_t took_ms(const StoreStep *step)
{
    bool is_known = step->started_ms > 0 && step->ended_ms >= step->started_ms;
    return is_known ? step->ended_ms - step->started_ms : 0;
}

static PhaseTimes phase_times(const Past *past)
{
    PhaseTimes times = {0};
    for (size_t i = 0; i < past->steps.count; i++) {
        const StoreStep *step = &past->steps.rows[i];
        size_t at = 0;
        while (at < times.count && strcmp(times.rows[at].phase, step->phase) != 0)
            at++;
        if (at == COUNT(times.rows))
            continue; /* more phases than a workflow has: not worth a row */
        if (at == times.count)
            times.rows[times.count++].phase = step->phase;
        times.rows[at].steps++;
        times.rows[at].took_ms += took_ms(step);
        times.total_ms += took_ms(step);
    }
    return times;
}

static unsigned share(const PhaseTimes *times, size_t i)
{
    return times->total_ms ? (unsigned)(times->rows[i].took_ms * 100 / times->total_ms) : 0;
}

/* ---- as a section ---- */

static void step_cells(Doc *doc, Past *past, const StoreStep *step, bool has_stages)
{
    doc_cellf(doc, CELL_NUMBER, "%zu",
              (size_t)(step - past->steps.rows) + past->steps.left_out + 1);
    if (has_stages)
        doc_cellf(doc, CELL_NUMBER, "%u", step->stage);
    doc_cell_time(doc, step->started_ms);
    doc_cell(doc, CELL_NUMBER, plain_took(&past->arena, step->started_ms, step->ended_ms));
    doc_cell(doc, CELL_TEXT, past_step_name(past, step));
    doc_cell(doc, CELL_WORD, step->result);
    doc_cell(doc, CELL_TEXT, step->next);
    doc_cell(doc, CELL_WORD, step->status);
    doc_cell(doc, CELL_CODE, step->row);
    doc_cell(doc, CELL_TEXT, step->why);
    doc_cell(doc, CELL_TEXT, step->agent);
    doc_cellf(doc, CELL_CODE, "%.10s", step->commit);
}

static void time_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"Phase", ">Steps", ">Time", ">Share"};
    PhaseTimes times = phase_times(past);
    doc_heading(doc, 3, "Time per phase");
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < times.count; i++) {
        doc_cell(doc, CELL_TEXT, times.rows[i].phase);
        doc_cellf(doc, CELL_NUMBER, "%u", times.rows[i].steps);
        doc_cell(doc, CELL_NUMBER, plain_took(&past->arena, 1, 1 + times.rows[i].took_ms));
        doc_cellf(doc, CELL_NUMBER, "%u %%", share(&times, i));
    }
    doc_end(doc);
}

void part_timeline(Doc *doc, Past *past)
{
    static const char *const heads[] = {">#",   ">Stage", "Started (UTC)", ">Took",
                                        "Step", "Result", "Next",          "Status",
                                        "Row",  "Why",    "Agent",         "Commit"};
    static const char *const plain[] = {">#",     "Started (UTC)", ">Took",  "Step",
                                        "Result", "Next",          "Status", "Row",
                                        "Why",    "Agent",         "Commit"};
    bool has_stages = past->stage > 0;
    if (!past->steps.count)
        return;
    doc_heading(doc, 2, "Timeline");
    doc_textf(doc, "Flow: %s", flow_line(past));
    size_t first = doc_skip(doc, past->steps.count);
    doc_table(doc, has_stages ? heads : plain, has_stages ? COUNT(heads) : COUNT(plain));
    for (size_t i = first; i < past->steps.count; i++)
        step_cells(doc, past, &past->steps.rows[i], has_stages);
    doc_end(doc);
    time_table(doc, past);
}

/* ---- as JSON ---- */

static json_t *clean_string(Past *past, const char *text)
{
    return json_string(plain_line(&past->arena, text, RECORD_CELL_MAX));
}

static json_t *step_json(Past *past, const StoreStep *step, size_t number)
{
    json_t *json = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "number", (json_int_t)number, "id",
                             (json_int_t)step->id, "run", (json_int_t)step->run, "epoch",
                             (json_int_t)step->epoch, "turn", (json_int_t)step->turn, "stage",
                             (json_int_t)step->stage);
    const struct {
        const char *key, *text;
    } texts[] = {{"phase", step->phase},   {"checkpoint", step->checkpoint},
                 {"result", step->result}, {"row", step->row},
                 {"why", step->why},       {"next", step->next},
                 {"status", step->status}, {"agent", step->agent},
                 {"commit", step->commit}, {"prompt_hash", step->prompt_hash}};
    for (size_t i = 0; i < COUNT(texts); i++)
        json_object_set_new(json, texts[i].key, clean_string(past, texts[i].text));
    json_object_set_new(json, "started_ms", json_integer(step->started_ms));
    json_object_set_new(json, "ended_ms", json_integer(step->ended_ms));
    json_object_set_new(json, "took_ms", json_integer(took_ms(step)));
    return json;
}

json_t *timeline_json(Past *past)
{
    json_t *steps = json_array(), *phases = json_array();
    PhaseTimes times = phase_times(past);
    for (size_t i = 0; i < past->steps.count; i++)
        json_array_append_new(steps,
                              step_json(past, &past->steps.rows[i], past->steps.left_out + i + 1));
    for (size_t i = 0; i < times.count; i++)
        json_array_append_new(phases, json_pack("{s:o,s:I,s:I}", "phase",
                                                clean_string(past, times.rows[i].phase), "steps",
                                                (json_int_t)times.rows[i].steps, "took_ms",
                                                (json_int_t)times.rows[i].took_ms));
    return json_pack(
        "{s:I,s:o,s:o,s:o,s:o,s:I,s:s,s:o,s:I,s:o,s:I}", "task", (json_int_t)past->task.id, "title",
        clean_string(past, past->text.title), "workflow", clean_string(past, past->workflow),
        "state", clean_string(past, past->state), "status", clean_string(past, past->status),
        "stage", (json_int_t)past->stage, "flow", flow_line(past), "steps", steps, "left_out",
        (json_int_t)past->steps.left_out, "phases", phases, "took_ms", (json_int_t)times.total_ms);
}

/* ---- as text of 80 columns ---- */

enum { TEXT_COLUMNS = 80, TEXT_INDENT = 6 };

static void add_column(Past *past, Str *out, const char *text, size_t columns)
{
    plain_add_padded(out, plain_line(&past->arena, text, 200), columns);
    str_add_char(out, ' ');
}

static void trim_line(Str *out)
{
    while (out->length && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    str_add_char(out, '\n');
}

/* The number is aligned to the right; 79 columns at most. */
static void add_columns(Past *past, Str *out, const char *number, const char *const texts[5])
{
    static const size_t widths[] = {14, 11, 17, 15, 13};
    str_addf(out, "%4s ", number);
    for (size_t i = 0; i < COUNT(widths); i++)
        add_column(past, out, texts[i], widths[i]);
    trim_line(out);
}

static void step_text(Past *past, const StoreStep *step, Str *out)
{
    Arena *arena = &past->arena;
    char time[PLAIN_TIME_SIZE];
    size_t number = (size_t)(step - past->steps.rows) + past->steps.left_out + 1;
    plain_time(step->started_ms, time);
    const char *texts[] = {*time ? time + 5 : "",
                           plain_took(arena, step->started_ms, step->ended_ms),
                           past_step_name(past, step), step->result, step->next};
    add_columns(past, out, arena_printf(arena, "%zu", number), texts);
    plain_add_wrapped(out, arena_printf(arena, "%s: %s", step->row, step->why), TEXT_INDENT,
                      TEXT_COLUMNS);
    const char *who = *step->agent ? step->agent : "engine";
    plain_add_wrapped(out,
                      arena_printf(arena, "%s · %s%s%.10s", step->status, who,
                                   *step->commit ? " · " : "", step->commit),
                      TEXT_INDENT, TEXT_COLUMNS);
}

static void times_text(Past *past, Str *out)
{
    PhaseTimes times = phase_times(past);
    char span[32];
    str_add(out, "\nTime per phase\n");
    for (size_t i = 0; i < times.count; i++) {
        str_add(out, "      ");
        add_column(past, out, times.rows[i].phase, 20);
        clock_span(times.rows[i].took_ms, span);
        str_addf(out, "%12s  %3u %%  %u step%s\n", span, share(&times, i), times.rows[i].steps,
                 times.rows[i].steps == 1 ? "" : "s");
    }
}

void timeline_text(Past *past, Str *out)
{
    static const char *const heads[] = {"started (UTC)", "took", "step", "result", "next"};
    size_t count = past->steps.count;
    plain_add_wrapped(out,
                      arena_printf(&past->arena, "#%u %s (%s%s%s)", past->task.id,
                                   plain_line(&past->arena, past->text.title, 200), past->workflow,
                                   *past->workflow ? ", " : "", past->status),
                      0, TEXT_COLUMNS);
    if (!count) {
        str_add(out, "no step has ended yet\n");
        return;
    }
    size_t first = count > RECORD_ROWS_MAX ? count - RECORD_ROWS_MAX : 0;
    if (first + past->steps.left_out)
        str_addf(out, "%zu older steps are left out\n", first + past->steps.left_out);
    str_add_char(out, '\n');
    add_columns(past, out, "#", heads);
    for (size_t i = first; i < count; i++) {
        const StoreStep *step = &past->steps.rows[i];
        if (step->stage && (i == first || step->stage != step[-1].stage))
            str_addf(out, "stage %u\n", step->stage);
        step_text(past, step, out);
    }
    str_add(out, "\nFlow\n");
    plain_add_wrapped(out, flow_line(past), TEXT_INDENT, TEXT_COLUMNS);
    times_text(past, out);
}
