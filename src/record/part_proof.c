/* What the engine measured: gate results, checks of the plan, verify records, guards. */
#include "record/parts.h"
#include "record/plain.h"
#include <string.h>

enum { OUTPUT_SHOWN = 4096 }; /* of one failed command */

/* The check of the plan that this command is, or NULL. */
static const StoreCheckpoint *check_of(Past *past, const StoreGateResult *row)
{
    for (size_t i = 0; i < past->checks.count; i++) {
        const StoreCheckpoint *check = &past->checks.rows[i];
        if (!strcmp(check->command, row->command) && !strcmp(check->name, row->name))
            return check;
    }
    return NULL;
}

/* A check of the plan is red until its step is done: that is no failure. */
static const char *gate_word(Past *past, const StoreGateResult *row)
{
    if (row->timed_out)
        return "timeout";
    if (row->exit_code == 0)
        return "passed";
    return check_of(past, row) ? "red" : row->is_required ? "failed" : "optional";
}

static void gate_outputs(Doc *doc, Past *past)
{
    for (size_t i = 0; i < past->gates.count; i++) {
        const StoreGateResult *row = &past->gates.rows[i];
        const StoreCheckpoint *check = check_of(past, row);
        bool is_over = check && !strcmp(check->state, "green"); /* how it was red helps nobody */
        if (!strcmp(gate_word(past, row), "passed") || is_over || !*row->output)
            continue;
        doc_textf(doc, "Output of %s:", *row->name ? row->name : row->command);
        doc_block(doc, BLOCK_CODE, plain_tail(&doc->arena, row->output, OUTPUT_SHOWN));
    }
}

static void gate_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"At (UTC)", "Where", "Name", "Command",
                                        "Result",   ">Exit", ">Took"};
    if (!past->gates.count)
        return;
    doc_heading(doc, 3,
                past->checks.count ? "Commands of the project and the plan"
                                   : "Commands of the project");
    size_t first = doc_skip(doc, past->gates.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->gates.count; i++) {
        const StoreGateResult *row = &past->gates.rows[i];
        doc_cell_time(doc, row->started_ms);
        doc_cell(doc, CELL_TEXT, row->stage);
        doc_cell(doc, CELL_TEXT, row->name);
        doc_cell(doc, CELL_CODE, row->command);
        doc_cell(doc, CELL_WORD, gate_word(past, row));
        doc_cellf(doc, CELL_NUMBER, "%d", row->exit_code);
        doc_cell(doc, CELL_NUMBER, plain_took(&doc->arena, 1, 1 + row->took_ms));
    }
    doc_end(doc);
    gate_outputs(doc, past);
}

void check_colours(Doc *doc, Past *past)
{
    static const char *const heads[] = {">#",   ">Step", "Check",        "Command",
                                        "Mode", "State", "Changed (UTC)"};
    size_t first = doc_skip(doc, past->checks.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->checks.count; i++) {
        const StoreCheckpoint *row = &past->checks.rows[i];
        doc_cellf(doc, CELL_NUMBER, "%u", row->number);
        doc_cellf(doc, CELL_NUMBER, "%u", row->step);
        doc_cell(doc, CELL_TEXT, row->name);
        doc_cell(doc, CELL_CODE, row->command);
        doc_cell(doc, CELL_TEXT, row->mode);
        doc_cell(doc, CELL_WORD, row->state);
        doc_cell_time(doc, row->at_ms);
    }
    doc_end(doc);
}

void part_green(Doc *doc, Past *past)
{
    static const char *const heads[] = {"At (UTC)", ">Step", "Check", "State"};
    size_t at = 0, number = 0, count = past_count(past, RECORD_GREEN);
    if (!count)
        return;
    doc_heading(doc, 3, "Cumulative green");
    size_t first = doc_skip(doc, count);
    doc_table(doc, heads, COUNT(heads));
    for (const StoreRecord *green; (green = past_next(past, RECORD_GREEN, &at));) {
        CLEANUP(json_freep) json_t *data = past_data(green);
        if (number++ < first)
            continue;
        doc_cell_time(doc, green->at_ms);
        doc_cell(doc, CELL_NUMBER, json_any_text(&doc->arena, json_object_get(data, "step")));
        doc_cell(doc, CELL_TEXT, json_any_text(&doc->arena, json_object_get(data, "check")));
        doc_cell(doc, CELL_WORD, json_text(data, "state", green->result));
    }
    doc_end(doc);
}

/* ---- verify records ---- */

static size_t count_state(const json_t *commands, const char *state)
{
    size_t i, count = 0;
    json_t *command;
    json_array_foreach(commands, i, command) count +=
        !strcmp(json_text(command, "state", ""), state);
    return count;
}

static const char *diffstat_text(Arena *arena, const json_t *data)
{
    static const char *const keys[] = {"files", "lines", "dirs", "rounds"};
    const json_t *diffstat = json_object_get(data, "diffstat");
    CLEANUP(str_done) Str line = STR_INIT;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *number = json_number_text(arena, json_object_get(diffstat, keys[i]));
        if (*number)
            str_addf(&line, "%s%s %s", line.length ? ", " : "", keys[i], number);
    }
    return arena_strdup(arena, str_text(&line));
}

static void verify_cells(Doc *doc, const StoreRecord *verify)
{
    static const char *const states[] = {"green", "red", "broken", "regressed", "early"};
    CLEANUP(json_freep) json_t *data = past_data(verify);
    const json_t *commands = json_object_get(data, "commands");
    doc_cell_time(doc, verify->at_ms);
    doc_cell(doc, CELL_TEXT, verify->checkpoint);
    doc_cell(doc, CELL_WORD, json_text(data, "result", verify->result));
    for (size_t i = 0; i < COUNT(states); i++)
        doc_cellf(doc, CELL_NUMBER, "%zu", count_state(commands, states[i]));
    doc_cell(doc, CELL_TEXT, diffstat_text(&doc->arena, data));
}

static void verify_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"At (UTC)", "Checkpoint", "Result", ">Green", ">Red",
                                        ">Broken",  ">Regressed", ">Early", "Change"};
    size_t at = 0, number = 0, count = past_count(past, RECORD_VERIFY);
    if (!count)
        return;
    doc_heading(doc, 3, "Measured before each check");
    size_t first = doc_skip(doc, count);
    doc_table(doc, heads, COUNT(heads));
    for (const StoreRecord *verify; (verify = past_next(past, RECORD_VERIFY, &at));)
        if (number++ >= first)
            verify_cells(doc, verify);
    doc_end(doc);
}

static bool is_good(const json_t *command)
{
    const char *state = json_text(command, "state", "");
    return !strcmp(state, "green") || !strcmp(state, "passed");
}

static void command_outputs(Doc *doc, const json_t *commands)
{
    size_t i;
    json_t *command;
    json_array_foreach(commands, i, command)
    {
        const char *output = json_text(command, "output", "");
        if (i >= RECORD_ROWS_MAX || is_good(command) || !*output)
            continue;
        doc_textf(doc,
                  "Output of %s:", json_text(command, "name", json_text(command, "command", "")));
        doc_block(doc, BLOCK_CODE, plain_tail(&doc->arena, output, OUTPUT_SHOWN));
    }
}

static void command_table(Doc *doc, const json_t *commands)
{
    static const char *const heads[] = {"Name", "Command", "State", ">Exit"};
    size_t i;
    json_t *command;
    if (!json_has_items(commands))
        return;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(commands, i, command)
    {
        if (i >= RECORD_ROWS_MAX)
            break;
        doc_cell(doc, CELL_TEXT, json_text(command, "name", ""));
        doc_cell(doc, CELL_CODE, json_text(command, "command", ""));
        doc_cell(doc, CELL_WORD, json_text(command, "state", ""));
        doc_cell(doc, CELL_NUMBER,
                 json_number_text(&doc->arena, json_object_get(command, "exit_code")));
    }
    doc_end(doc);
    command_outputs(doc, commands);
}

void verify_body(Doc *doc, Past *past, const StoreRecord *verify)
{
    CLEANUP(json_freep) json_t *data = past_data(verify);
    (void)past;
    doc_fact(doc, "Result", json_text(data, "result", verify->result));
    doc_fact(doc, "Change", diffstat_text(&doc->arena, data));
    command_table(doc, json_object_get(data, "commands"));
    if (!data)
        doc_block(doc, BLOCK_QUOTE, verify->text);
}

void part_verification(Doc *doc, Past *past)
{
    const StoreRecord *verify = past_last(past, RECORD_VERIFY);
    bool has_any = past->gates.count || past->checks.count || verify;
    if (!has_any)
        return;
    doc_heading(doc, 2, "Verification");
    if (past->checks.count) {
        doc_heading(doc, 3, "Checks of the plan");
        check_colours(doc, past);
    }
    gate_table(doc, past);
    verify_table(doc, past);
    if (verify) {
        doc_heading(doc, 3, "Newest measurement");
        verify_body(doc, past, verify);
    }
    part_green(doc, past);
}

/* ---- guards ---- */

void guard_body(Doc *doc, const StoreRecord *guard)
{
    static const char *const heads[] = {"Guard", "Place", "Line", "Why"};
    CLEANUP(json_freep) json_t *data = past_data(guard);
    const json_t *guards = json_object_get(data, "guards");
    size_t i;
    json_t *row;
    if (!json_has_items(guards)) {
        doc_block(doc, BLOCK_QUOTE, guard->text);
        return;
    }
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(guards, i, row)
    {
        const char *line = json_number_text(&doc->arena, json_object_get(row, "line"));
        if (i >= RECORD_ROWS_MAX)
            break;
        doc_cell(doc, CELL_TEXT, json_text(row, "guard", ""));
        doc_cellf(doc, CELL_CODE, "%s%s%s", json_text(row, "path", ""), *line ? ":" : "", line);
        doc_cell(doc, CELL_CODE, json_text(row, "text", ""));
        doc_cell(doc, CELL_TEXT, json_text(row, "why", ""));
    }
    doc_end(doc);
}

bool guard_has_fired(const StoreRecord *guard)
{
    CLEANUP(json_freep) json_t *data = past_data(guard);
    return *guard->text || json_has_items(json_object_get(data, "guards"));
}

void part_guards(Doc *doc, Past *past)
{
    size_t at = 0, count = 0;
    for (const StoreRecord *guard; (guard = past_next(past, RECORD_GUARD, &at));) {
        char time[PLAIN_TIME_SIZE];
        if (!guard_has_fired(guard))
            continue; /* they were looked at, and all was well */
        if (!count++)
            doc_heading(doc, 2, "Guards that fired");
        plain_time(guard->at_ms, time);
        doc_textf(doc, "%s %s:", time, *guard->checkpoint ? guard->checkpoint : "guard");
        guard_body(doc, guard);
    }
}
