/* Stages: convergence, the ledger, the directions that failed (B-67..B-81, B-227). */
#include "record/parts.h"
#include "record/plain.h"
#include <string.h>

const char *convergence_line(Past *past, const StoreRecord *convergence)
{
    CLEANUP(json_freep) json_t *data = past_data(convergence);
    const char *previous = json_number_text(&past->arena, json_object_get(data, "previous"));
    const char *current = json_number_text(&past->arena, json_object_get(data, "current"));
    return *current
               ? arena_printf(&past->arena, "%s%s%s", previous, *previous ? " → " : "", current)
               : "";
}

static void convergence_cells(Doc *doc, const StoreRecord *convergence)
{
    static const char *const keys[] = {"previous", "current", "delta"};
    CLEANUP(json_freep) json_t *data = past_data(convergence);
    doc_cellf(doc, CELL_NUMBER, "%u", convergence->stage);
    doc_cell_time(doc, convergence->at_ms);
    for (size_t i = 0; i < COUNT(keys); i++)
        doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(data, keys[i])));
    doc_cell(doc, CELL_WORD, json_text(data, "verdict", convergence->result));
}

static void requirement_table(Doc *doc, const json_t *requirements)
{
    static const char *const heads[] = {"R#", "Weight", ">Previous", ">Current", "Reason"};
    size_t i;
    json_t *row;
    if (!json_has_items(requirements))
        return;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(requirements, i, row)
    {
        if (i >= RECORD_ROWS_MAX)
            break;
        doc_cell(doc, CELL_TEXT, json_any_text(&doc->arena, json_object_get(row, "id")));
        doc_cell(doc, CELL_TEXT, json_any_text(&doc->arena, json_object_get(row, "weight")));
        doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(row, "previous")));
        doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(row, "current")));
        doc_cell(doc, CELL_TEXT, json_text(row, "reason", ""));
    }
    doc_end(doc);
}

void convergence_body(Doc *doc, const StoreRecord *convergence)
{
    CLEANUP(json_freep) json_t *data = past_data(convergence);
    Arena *arena = &doc->arena;
    doc_factf(doc, "Stage", "%u", convergence->stage);
    doc_fact(doc, "Previous", json_number_text(arena, json_object_get(data, "previous")));
    doc_fact(doc, "Current", json_number_text(arena, json_object_get(data, "current")));
    doc_fact(doc, "Delta", json_number_text(arena, json_object_get(data, "delta")));
    doc_fact(doc, "Verdict", json_text(data, "verdict", convergence->result));
    requirement_table(doc, json_object_get(data, "requirements"));
    doc_block(doc, BLOCK_QUOTE, convergence->text);
}

void part_convergence(Doc *doc, Past *past)
{
    static const char *const heads[] = {">Stage",   "At (UTC)", ">Previous",
                                        ">Current", ">Delta",   "Verdict"};
    const StoreRecord *newest = past_last(past, RECORD_CONVERGENCE);
    size_t at = 0, number = 0;
    if (!newest)
        return;
    doc_heading(doc, 2, "Convergence");
    size_t first = doc_skip(doc, past_count(past, RECORD_CONVERGENCE));
    doc_table(doc, heads, COUNT(heads));
    for (const StoreRecord *row; (row = past_next(past, RECORD_CONVERGENCE, &at));)
        if (number++ >= first)
            convergence_cells(doc, row);
    doc_end(doc);
    doc_heading(doc, 3, "Newest");
    convergence_body(doc, newest);
}

static void stage_cells(Doc *doc, const StoreStage *stage)
{
    doc_cellf(doc, CELL_NUMBER, "%u", stage->stage);
    doc_cellf(doc, CELL_NUMBER, "%u", stage->attempt);
    doc_cell(doc, CELL_TEXT, stage->name);
    doc_cell(doc, CELL_TEXT, stage->objective);
    doc_cell(doc, CELL_TEXT, stage->moves);
    doc_cell(doc, CELL_WORD, *stage->outcome ? stage->outcome : "under way");
    doc_cell(doc, CELL_NUMBER, plain_part(&doc->arena, stage->before));
    doc_cell(doc, CELL_NUMBER, *stage->outcome ? plain_part(&doc->arena, stage->after) : "");
    doc_cellf(doc, CELL_CODE, "%.10s", stage->commit);
    doc_cell_time(doc, stage->started_ms);
    doc_cell(doc, CELL_NUMBER, plain_took(&doc->arena, stage->started_ms, stage->ended_ms));
}

void part_stages(Doc *doc, Past *past)
{
    static const char *const heads[] = {">Stage", ">Try",          "Name",    "Objective",
                                        "Moves",  "Outcome",       ">Before", ">After",
                                        "Commit", "Started (UTC)", ">Took"};
    if (!past->stages.count)
        return;
    doc_heading(doc, 2, "Stages");
    size_t first = doc_skip(doc, past->stages.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->stages.count; i++)
        stage_cells(doc, &past->stages.rows[i]);
    doc_end(doc);
}

static bool has_failed(const StoreStage *stage)
{
    return *stage->outcome && strcmp(stage->outcome, "accepted") != 0;
}

void part_failures(Doc *doc, Past *past)
{
    static const char *const heads[] = {">Stage",  "Direction", "Why it was chosen",
                                        "Outcome", "Cause",     "Convergence"};
    size_t count = 0;
    for (size_t i = 0; i < past->stages.count; i++)
        count += has_failed(&past->stages.rows[i]);
    if (!count)
        return;
    doc_heading(doc, 2, "Failed directions");
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < past->stages.count; i++) {
        const StoreStage *stage = &past->stages.rows[i];
        if (!has_failed(stage))
            continue;
        doc_cellf(doc, CELL_NUMBER, "%u", stage->stage);
        doc_cellf(doc, CELL_TEXT, "%s: %s", stage->name, stage->objective);
        doc_cell(doc, CELL_TEXT, stage->reason);
        doc_cell(doc, CELL_WORD, stage->outcome);
        doc_cell(doc, CELL_TEXT, stage->cause);
        doc_cellf(doc, CELL_TEXT, "%s → %s", plain_part(&doc->arena, stage->before),
                  plain_part(&doc->arena, stage->after));
    }
    doc_end(doc);
}
