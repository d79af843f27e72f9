/* Objective and plan. */
#include "core/convergence.h"
#include "record/parts.h"
#include "record/plain.h"
#include <string.h>

/* ---- objective ---- */

static const char *weight_text(Past *past, uint32_t weight)
{
    const char *word = weight_word((int)MIN(weight, 100u));
    return *word ? word : arena_printf(&past->arena, "%u", weight);
}

void part_requirements(Doc *doc, Past *past)
{
    static const char *const heads[] = {"R#",     "Requirement", "Acceptance criteria",
                                        "Weight", ">Before",     ">Coverage",
                                        "Reason", "Source"};
    const StoreObjective *objective = &past->objective;
    if (!objective->requirement_count)
        return;
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < objective->requirement_count; i++) {
        const StoreRequirement *row = &objective->requirements[i];
        doc_cellf(doc, CELL_TEXT, "R%u", row->number);
        doc_cell(doc, CELL_TEXT, row->text);
        doc_cell(doc, CELL_TEXT, row->criteria);
        doc_cell(doc, CELL_TEXT, weight_text(past, row->weight));
        doc_cell(doc, CELL_NUMBER, plain_part(&past->arena, row->previous));
        doc_cell(doc, CELL_NUMBER, plain_part(&past->arena, row->coverage));
        doc_cell(doc, CELL_TEXT, row->reason);
        doc_cell(doc, CELL_TEXT, row->source);
    }
    doc_end(doc);
}

static void items_list(Doc *doc, Past *past, bool constraints)
{
    bool has_heading = false;
    for (size_t i = 0; i < past->objective.item_count; i++) {
        const StoreItem *item = &past->objective.items[i];
        if (item->is_constraint != constraints)
            continue;
        if (!has_heading)
            doc_heading(doc, 3, constraints ? "Constraints" : "Items");
        has_heading = true;
        doc_itemf(doc, "%s%s%s%s", item->text, *item->marker ? " (" : "", item->marker,
                  *item->marker ? ")" : "");
    }
    doc_end(doc);
}

static const char *refinement_state(const StoreRefinement *row)
{
    return row->withdrawn_ms ? "withdrawn" : row->applied_ms ? "applied" : "waits";
}

static void refinement_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"Sent (UTC)", "Text", "Impact", "Touches", "State"};
    if (!past->refinements.count)
        return;
    doc_heading(doc, 3, "Refinements");
    size_t first = doc_skip(doc, past->refinements.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->refinements.count; i++) {
        const StoreRefinement *row = &past->refinements.rows[i];
        doc_cell_time(doc, row->at_ms);
        doc_cell(doc, CELL_TEXT, row->text);
        doc_cell(doc, CELL_TEXT, row->impact);
        doc_cell(doc, CELL_TEXT, row->touches);
        doc_cell(doc, CELL_WORD, refinement_state(row));
    }
    doc_end(doc);
}

void part_objective(Doc *doc, Past *past)
{
    bool has_any = *past->text.body || past->objective.item_count ||
                   past->objective.requirement_count || past->refinements.count;
    if (!has_any)
        return;
    doc_heading(doc, 2, "Objective");
    doc_block(doc, BLOCK_QUOTE, past->text.body);
    items_list(doc, past, false);
    if (past->objective.requirement_count) {
        doc_heading(doc, 3, "Requirements");
        part_requirements(doc, past);
    }
    items_list(doc, past, true);
    refinement_table(doc, past);
}

/* ---- plan ---- */

static const char *step_checks(Arena *arena, const json_t *checks)
{
    CLEANUP(str_done) Str text = STR_INIT;
    size_t i;
    json_t *check;
    json_array_foreach(checks, i, check)
    {
        const char *command = json_text(check, "command", "");
        const char *name = json_text(check, "name", command);
        if (text.length > RECORD_CELL_MAX)
            break;
        str_addf(&text, "%s%.*s", text.length ? "; " : "", (int)RECORD_CELL_MAX,
                 *name ? name : command);
    }
    return arena_strdup(arena, str_text(&text));
}

static void step_table(Doc *doc, const json_t *steps)
{
    static const char *const heads[] = {">#", "Step", "Detail", "Covers", "Files", "Checks"};
    size_t i;
    json_t *step;
    if (!json_has_items(steps))
        return;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(steps, i, step)
    {
        if (i >= RECORD_ROWS_MAX)
            break;
        doc_cellf(doc, CELL_NUMBER, "%zu", i + 1);
        doc_cell(doc, CELL_TEXT, json_text(step, "title", ""));
        doc_cell(doc, CELL_TEXT, json_text(step, "detail", ""));
        doc_cell(doc, CELL_TEXT, json_words(&doc->arena, json_object_get(step, "covers")));
        doc_cell(doc, CELL_CODE, json_words(&doc->arena, json_object_get(step, "files")));
        doc_cell(doc, CELL_TEXT, step_checks(&doc->arena, json_object_get(step, "checks")));
    }
    doc_end(doc);
}

static void text_list(Doc *doc, const char *name, const json_t *list)
{
    size_t i;
    json_t *text;
    if (!json_has_items(list))
        return;
    doc_heading(doc, 3, name);
    json_array_foreach(list, i, text) if (i < RECORD_ROWS_MAX && json_is_string(text))
        doc_item(doc, json_string_value(text));
    doc_end(doc);
}

void plan_body(Doc *doc, const StoreRecord *plan)
{
    CLEANUP(json_freep) json_t *data = past_data(plan);
    if (!data) {
        doc_block(doc, BLOCK_QUOTE, plan->text);
        return;
    }
    doc_text(doc, json_text(data, "summary", ""));
    step_table(doc, json_object_get(data, "steps"));
    text_list(doc, "Criteria", json_object_get(data, "criteria"));
    text_list(doc, "Scope", json_object_get(data, "scope"));
    text_list(doc, "Risks", json_object_get(data, "risks"));
}

static void superseded_table(Doc *doc, Past *past, const StoreRecord *newest)
{
    static const char *const heads[] = {">#", "Made (UTC)", ">Stage", ">Steps", "Summary"};
    size_t at = 0, number = 0;
    if (past_count(past, RECORD_PLAN) < 2)
        return;
    doc_heading(doc, 3, "Superseded plans");
    doc_table(doc, heads, COUNT(heads));
    for (const StoreRecord *plan; (plan = past_next(past, RECORD_PLAN, &at)) && plan != newest;) {
        CLEANUP(json_freep) json_t *data = past_data(plan);
        doc_cellf(doc, CELL_NUMBER, "%zu", ++number);
        doc_cell_time(doc, plan->at_ms);
        doc_cellf(doc, CELL_NUMBER, "%u", plan->stage);
        doc_cellf(doc, CELL_NUMBER, "%zu", json_array_size(json_object_get(data, "steps")));
        doc_cell(doc, CELL_TEXT, json_text(data, "summary", plan->text));
    }
    doc_end(doc);
}

void part_plan(Doc *doc, Past *past)
{
    const StoreRecord *plan = past_last(past, RECORD_PLAN);
    if (!plan)
        return;
    char time[PLAIN_TIME_SIZE];
    plain_time(plan->at_ms, time);
    doc_heading(doc, 2, "Plan");
    doc_fact(doc, "Made (UTC)", time);
    doc_factf(doc, "Completed steps", "%u", past->completed_steps);
    plan_body(doc, plan);
    superseded_table(doc, past, plan);
}

/* ---- .target.md (B-102, B-103) ---- */

/* Brackets are the markers' alone: no text may look like one. */
static const char *unmarked(Past *past, const char *text)
{
    char *line = arena_strdup(&past->arena, plain_line(&past->arena, text, RECORD_CELL_MAX));
    for (char *c = line; *c; c++)
        *c = *c == '[' ? '(' : *c == ']' ? ')' : *c;
    return line;
}

static const char *marker_text(const StoreItem *item)
{
    static const struct {
        const char *marker, *text;
    } markers[] = {{"confirmed", " [CONFIRMED]"},
                   {"processed", " [PROCESSED]"},
                   {"pending", " (pending detail)"}};
    for (size_t i = 0; i < COUNT(markers); i++)
        if (!strcmp(markers[i].marker, item->marker))
            return markers[i].text;
    return "";
}

static size_t requirements_of(const StoreObjective *objective, uint32_t item)
{
    size_t count = 0;
    for (size_t i = 0; i < objective->requirement_count; i++)
        count += objective->requirements[i].item == item;
    return count;
}

static void target_items(Doc *doc, Past *past, bool constraints)
{
    const StoreObjective *objective = &past->objective;
    bool has_heading = !constraints;
    for (size_t i = 0; i < objective->item_count; i++) {
        const StoreItem *item = &objective->items[i];
        if (item->is_constraint != constraints)
            continue;
        if (!has_heading)
            doc_heading(doc, 2, "Constraints");
        has_heading = true;
        if (constraints)
            doc_item(doc, unmarked(past, item->text));
        else
            doc_itemf(doc, "%s (R: %zu)%s", unmarked(past, item->text),
                      requirements_of(objective, item->number), marker_text(item));
    }
    doc_end(doc);
}

static void requirement_group(Doc *doc, Past *past, uint32_t item, const char *name)
{
    static const char *const heads[] = {"#", "Requirement", "Acceptance criteria", "Weight"};
    const StoreObjective *objective = &past->objective;
    if (!requirements_of(objective, item))
        return;
    doc_heading(doc, 3, name);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < objective->requirement_count; i++) {
        const StoreRequirement *row = &objective->requirements[i];
        if (row->item != item)
            continue;
        doc_cellf(doc, CELL_TEXT, "R%u", row->number);
        doc_cell(doc, CELL_TEXT, row->text);
        doc_cell(doc, CELL_TEXT, row->criteria);
        doc_cell(doc, CELL_TEXT, weight_text(past, row->weight));
    }
    doc_end(doc);
}

static void requirement_groups(Doc *doc, Past *past)
{
    const StoreObjective *objective = &past->objective;
    if (objective->requirement_count)
        doc_heading(doc, 2, "Requirements");
    for (size_t i = 0; i < objective->item_count; i++)
        requirement_group(doc, past, objective->items[i].number,
                          unmarked(past, objective->items[i].text));
    requirement_group(doc, past, 0, "Of no item");
}

/* Stage sections with their markers; a direction that was rolled back is not one. */
static void stage_sections(Doc *doc, Past *past)
{
    for (size_t i = 0; i < past->stages.count; i++) {
        const StoreStage *stage = &past->stages.rows[i];
        bool is_under_way = !*stage->outcome;
        if (!is_under_way && strcmp(stage->outcome, "accepted") != 0)
            continue;
        doc_heading(doc, 2,
                    arena_printf(&past->arena, "Stage %u: %s [%s]", stage->stage,
                                 unmarked(past, stage->name),
                                 is_under_way ? "ACTIVE" : "COMPLETE"));
        doc_text(doc, stage->objective);
        doc_fact(doc, "Moves", stage->moves);
    }
}

void part_target_file(Past *past, RecordLayout layout, Str *out)
{
    CLEANUP(doc_done) Doc doc = {0};
    doc_init(&doc, RECORD_AS_MARKDOWN, past->text.title);
    doc_heading(&doc, 2, "Objective");
    doc_block(&doc, BLOCK_PLAIN, past->text.body);
    target_items(&doc, past, false);
    requirement_groups(&doc, past);
    target_items(&doc, past, true);
    if (layout == RECORD_LAYOUT_B)
        stage_sections(&doc, past);
    doc_finish(&doc, out);
}
