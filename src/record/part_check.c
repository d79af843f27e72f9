/* The history of checks: scores, verdicts, findings (A-116). */
#include "record/parts.h"
#include "record/plain.h"
#include <ctype.h>

static const char *const dimensions[] = {"d1", "d2", "d3", "d4", "d5", "d6"};

const char *check_verdict(Past *past, const StoreRecord *check)
{
    CLEANUP(json_freep) json_t *data = past_data(check);
    return plain_line(&past->arena, json_text(data, "verdict", check->result), 40);
}

const char *check_line(Past *past, const StoreRecord *check)
{
    CLEANUP(json_freep) json_t *data = past_data(check);
    const char *why = json_text(data, "why", json_text(data, "summary", ""));
    return arena_printf(&past->arena, "%s%s%s%s%s", plain_line(&past->arena, check->checkpoint, 40),
                        *check->checkpoint ? " " : "", check_verdict(past, check), *why ? ": " : "",
                        plain_line(&past->arena, why, RECORD_CELL_MAX));
}

static const char *retries_text(Arena *arena, const json_t *data)
{
    const json_t *retries = json_object_get(data, "retries");
    const char *used = json_number_text(arena, json_object_get(retries, "used"));
    const char *limit = json_number_text(arena, json_object_get(retries, "limit"));
    return *used ? arena_printf(arena, "%s%s%s", used, *limit ? " of " : "", limit) : "";
}

static void check_cells(Doc *doc, const StoreRecord *check, size_t number)
{
    CLEANUP(json_freep) json_t *data = past_data(check);
    const json_t *scores = json_object_get(data, "scores");
    doc_cellf(doc, CELL_NUMBER, "%zu", number);
    doc_cell_time(doc, check->at_ms);
    doc_cell(doc, CELL_TEXT, check->checkpoint);
    doc_cell(doc, CELL_WORD, json_text(data, "verdict", check->result));
    for (size_t i = 0; i < COUNT(dimensions); i++)
        doc_cell(doc, CELL_NUMBER,
                 json_number_text(&doc->arena, json_object_get(scores, dimensions[i])));
    doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(data, "overall")));
    doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(data, "threshold")));
    doc_cellf(doc, CELL_NUMBER, "%zu", json_array_size(json_object_get(data, "findings")));
    doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(data, "rounds")));
    doc_cell(doc, CELL_NUMBER, retries_text(&doc->arena, data));
}

static void check_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {
        ">#",  "At (UTC)", "Checkpoint", "Verdict",    ">D1",       ">D2",     ">D3",     ">D4",
        ">D5", ">D6",      ">Overall",   ">Threshold", ">Findings", ">Rounds", ">Retries"};
    size_t at = 0, number = 0, first = doc_skip(doc, past_count(past, RECORD_CHECK));
    doc_table(doc, heads, COUNT(heads));
    for (const StoreRecord *check; (check = past_next(past, RECORD_CHECK, &at));)
        if (number++ >= first)
            check_cells(doc, check, number);
    doc_end(doc);
}

/* "src/a.c:12". */
static const char *place_of(Arena *arena, const json_t *finding)
{
    const char *file = json_text(finding, "file", "");
    const char *line = json_number_text(arena, json_object_get(finding, "line"));
    return *file && *line ? arena_printf(arena, "%s:%s", file, line) : file;
}

static const char *upper(Arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return copy;
}

static void finding_table(Doc *doc, const json_t *findings)
{
    static const char *const heads[] = {"Severity", "Dimension", "Place", "Finding"};
    size_t i;
    json_t *finding;
    if (!json_has_items(findings))
        return;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(findings, i, finding)
    {
        if (i >= RECORD_ROWS_MAX)
            break;
        doc_cell(doc, CELL_WORD, upper(&doc->arena, json_text(finding, "severity", "")));
        doc_cell(doc, CELL_TEXT, upper(&doc->arena, json_text(finding, "dimension", "")));
        doc_cell(doc, CELL_CODE, place_of(&doc->arena, finding));
        doc_cell(doc, CELL_TEXT, json_text(finding, "text", json_string_value(finding)));
    }
    doc_end(doc);
}

static void scores_fact(Doc *doc, const json_t *scores)
{
    CLEANUP(str_done) Str line = STR_INIT;
    for (size_t i = 0; i < COUNT(dimensions); i++) {
        const char *score = json_number_text(&doc->arena, json_object_get(scores, dimensions[i]));
        if (*score)
            str_addf(&line, "%sD%zu %s", line.length ? ", " : "", i + 1, score);
    }
    doc_fact(doc, "Scores", str_text(&line));
}

void check_body(Doc *doc, const StoreRecord *check)
{
    CLEANUP(json_freep) json_t *data = past_data(check);
    const json_t *overall = json_object_get(data, "overall");
    doc_fact(doc, "Verdict", json_text(data, "verdict", check->result));
    scores_fact(doc, json_object_get(data, "scores"));
    doc_fact(doc, "Overall", json_number_text(&doc->arena, overall));
    doc_fact(doc, "Threshold", json_number_text(&doc->arena, json_object_get(data, "threshold")));
    doc_fact(doc, "Below their floor", json_words(&doc->arena, json_object_get(data, "floors")));
    doc_fact(doc, "Not covered", json_words(&doc->arena, json_object_get(data, "missing")));
    doc_fact(doc, "Audit rounds", json_number_text(&doc->arena, json_object_get(data, "rounds")));
    doc_fact(doc, "Retries used", retries_text(&doc->arena, data));
    doc_fact(doc, "Row", json_text(data, "row", ""));
    doc_fact(doc, "Why", json_text(data, "why", ""));
    doc_text(doc, json_text(data, "summary", ""));
    if (!data)
        doc_block(doc, BLOCK_QUOTE, check->text);
    finding_table(doc, json_object_get(data, "findings"));
}

/* Does a check say more than its row of the table? */
static bool has_details(const StoreRecord *check)
{
    static const char *const keys[] = {"why", "summary", "row"};
    static const char *const lists[] = {"findings", "floors", "missing"};
    CLEANUP(json_freep) json_t *data = past_data(check);
    bool is_more = !data && *check->text;
    for (size_t i = 0; i < COUNT(keys); i++)
        is_more = is_more || *json_text(data, keys[i], "");
    for (size_t i = 0; i < COUNT(lists); i++)
        is_more = is_more || json_has_items(json_object_get(data, lists[i]));
    return is_more;
}

void part_checks(Doc *doc, Past *past)
{
    size_t at = 0, number = 0, count = past_count(past, RECORD_CHECK);
    size_t first = count > RECORD_ROWS_MAX ? count - RECORD_ROWS_MAX : 0;
    if (!count)
        return;
    doc_heading(doc, 2, "Checks");
    check_table(doc, past);
    for (const StoreRecord *check; (check = past_next(past, RECORD_CHECK, &at));) {
        if (number++ < first || !has_details(check))
            continue;
        const char *head = arena_printf(&past->arena, "Check %zu: %s %s", number, check->checkpoint,
                                        check_verdict(past, check));
        doc_heading(doc, 3, head);
        check_body(doc, check);
    }
}
