/* Where the task stands, what changed, what people said, what was learnt, what it cost. */
#include "base/clock.h"
#include "record/parts.h"
#include "record/plain.h"
#include <inttypes.h>
#include <string.h>

/* ---- where it stands ---- */

static void fact_time(Doc *doc, const char *name, int64_t ms)
{
    char time[PLAIN_TIME_SIZE];
    plain_time(ms, time);
    doc_fact(doc, name, time);
}

static void fact_progress(Doc *doc, Past *past)
{
    const StoreRecord *plan = past_last(past, RECORD_PLAN);
    CLEANUP(json_freep) json_t *data = past_data(plan);
    size_t steps = json_array_size(json_object_get(data, "steps"));
    if (plan)
        doc_factf(doc, "Progress", "%u of %zu steps", past->completed_steps, steps);
    if (past->stage)
        doc_factf(doc, "Stage", "%u", past->stage);
    if (past_last(past, RECORD_CONVERGENCE))
        doc_fact(doc, "Convergence", convergence_line(past, past_last(past, RECORD_CONVERGENCE)));
    if (past_last(past, RECORD_CHECK))
        doc_fact(doc, "Last check", check_line(past, past_last(past, RECORD_CHECK)));
}

static void fact_effort(Doc *doc, Past *past)
{
    char span[32];
    clock_span(past->spent_ms, span);
    doc_factf(doc, "Runs", "%u", past->runs);
    doc_factf(doc, "Turns", "%u", past->task.turns_used);
    if (past->spent_ms)
        doc_fact(doc, "Time in slots", span);
}

void part_facts(Doc *doc, Past *past)
{
    const RecordFacts *facts = &past->facts;
    doc_heading(doc, 2, "Summary");
    doc_factf(doc, "Task", "#%u %s", past->task.id, past->name);
    doc_fact(doc, "Project", *facts->project ? facts->project : past->project.name);
    doc_fact(doc, "Workflow", past->workflow);
    doc_fact(doc, "Type", past->type);
    doc_fact(doc, "Status", past->status);
    doc_fact(doc, "State", past->state);
    doc_fact(doc, "Why", facts->why);
    doc_factf(doc, "Phase", "%s%s%s", past->phase, *past->checkpoint ? " " : "", past->checkpoint);
    doc_fact(doc, "Next", past->next);
    fact_progress(doc, past);
    doc_fact(doc, "Branch", past->branch);
    doc_fact(doc, "Lands on", *facts->target ? facts->target : past->project.target);
    fact_time(doc, "Created (UTC)", past->text.created_ms);
    fact_time(doc, "Updated (UTC)", past->updated_ms);
    fact_effort(doc, past);
    doc_fact(doc, "Cancelled because", facts->reason);
    fact_time(doc, "Written (UTC)", facts->now_ms);
}

/* ---- changes ---- */

static void landing_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"Landed (UTC)", "Commit", "From", "To", "State"};
    if (!past->landings.count)
        return;
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < MIN(past->landings.count, (size_t)RECORD_ROWS_MAX); i++) {
        const StoreLanding *row = &past->landings.rows[i];
        doc_cell_time(doc, row->at_ms);
        doc_cellf(doc, CELL_CODE, "%.10s", row->commit);
        doc_cellf(doc, CELL_CODE, "%.10s", row->old_tip);
        doc_cellf(doc, CELL_CODE, "%.10s", row->new_tip);
        if (row->undone_ms)
            doc_cellf(doc, CELL_TEXT, "rolled back by %.10s", row->undone_by);
        else
            doc_cell(doc, CELL_WORD, "landed");
    }
    doc_end(doc);
}

void part_changes(Doc *doc, Past *past)
{
    const RecordFacts *facts = &past->facts;
    if (!past->landings.count && !facts->log_count)
        return;
    doc_heading(doc, 2, "Changes");
    landing_table(doc, past);
    if (facts->log_count)
        doc_heading(doc, 3, "Commits");
    for (size_t i = 0; i < facts->log_count; i++)
        doc_item(doc, facts->log[i] ? facts->log[i] : "");
    doc_end(doc);
}

/* ---- issues and notes ---- */

static void list_items(Doc *doc, const json_t *list)
{
    size_t i;
    json_t *text;
    json_array_foreach(list, i, text) if (i < RECORD_ROWS_MAX && json_is_string(text))
        doc_item(doc, json_string_value(text));
}

static bool has_notes(Past *past, const char *key)
{
    size_t at = 0;
    for (const StoreRecord *notes; (notes = past_next(past, RECORD_NOTES, &at));) {
        CLEANUP(json_freep) json_t *data = past_data(notes);
        const json_t *list = json_object_get(data, key);
        if (json_has_items(list) || (json_is_string(list) && *json_string_value(list)))
            return true;
    }
    return false;
}

static void notes_of(Doc *doc, Past *past, const char *key)
{
    size_t at = 0;
    for (const StoreRecord *notes; (notes = past_next(past, RECORD_NOTES, &at));) {
        CLEANUP(json_freep) json_t *data = past_data(notes);
        list_items(doc, json_object_get(data, key));
    }
    doc_end(doc);
}

static void notice_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"At (UTC)", "Kind", "What", "State", "Answer"};
    if (!past->notices.count)
        return;
    doc_heading(doc, 3, "Asked and told");
    size_t first = doc_skip(doc, past->notices.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->notices.count; i++) {
        const StoreNotice *row = &past->notices.rows[i];
        doc_cell_time(doc, row->at_ms);
        doc_cell(doc, CELL_TEXT, row->kind);
        doc_cell(doc, CELL_TEXT, row->text);
        doc_cell(doc, CELL_WORD, row->closed_ms ? "closed" : "open");
        doc_cell(doc, CELL_TEXT, row->answer);
    }
    doc_end(doc);
}

void part_issues(Doc *doc, Past *past)
{
    if (!has_notes(past, "issues") && !past->notices.count)
        return;
    doc_heading(doc, 2, "Issues");
    notes_of(doc, past, "issues");
    notice_table(doc, past);
}

void part_notes(Doc *doc, Past *past)
{
    size_t at = 0;
    if (!has_notes(past, "decisions") && !has_notes(past, "notes"))
        return;
    doc_heading(doc, 2, "Decisions and notes");
    notes_of(doc, past, "decisions");
    for (const StoreRecord *notes; (notes = past_next(past, RECORD_NOTES, &at));) {
        CLEANUP(json_freep) json_t *data = past_data(notes);
        doc_block(doc, BLOCK_QUOTE, json_text(data, "notes", ""));
    }
}

/* ---- people ---- */

void feedback_body(Doc *doc, const StoreRecord *feedback)
{
    static const struct {
        const char *key, *name;
    } fields[] = {{"decision", "Decision"},
                  {"iteration", "Iteration"},
                  {"timestamp", "At"},
                  {"customFeedback", "Said"},
                  {"redoOption", "Redo"},
                  {"selectionHint", "Hint"},
                  {"rejectReason", "Rejected because"}};
    CLEANUP(json_freep) json_t *data = past_data(feedback);
    if (!data) {
        doc_fact(doc, "Decision", feedback->result);
        doc_block(doc, BLOCK_QUOTE, feedback->text);
        return;
    }
    for (size_t i = 0; i < COUNT(fields); i++) {
        const json_t *value = json_object_get(data, fields[i].key);
        if (json_is_integer(value) && !strcmp(fields[i].key, "timestamp"))
            fact_time(doc, "At (UTC)", json_integer_value(value));
        else
            doc_fact(doc, fields[i].name, json_any_text(&doc->arena, value));
    }
    doc_fact(doc, "Issues", json_words(&doc->arena, json_object_get(data, "quickIssues")));
    doc_end(doc);
}

void part_feedback(Doc *doc, Past *past)
{
    size_t at = 0;
    if (!past_last(past, RECORD_FEEDBACK))
        return;
    doc_heading(doc, 2, "Feedback");
    for (const StoreRecord *row; (row = past_next(past, RECORD_FEEDBACK, &at));) {
        char time[PLAIN_TIME_SIZE];
        plain_time(row->at_ms, time);
        doc_textf(doc, "%s:", *time ? time : "Feedback");
        feedback_body(doc, row);
    }
}

void part_dependencies(Doc *doc, Past *past)
{
    static const char *const heads[] = {"Task", "Name", "Title", "Must be", "Is"};
    if (!past->dependencies.count)
        return;
    doc_heading(doc, 2, "Dependencies");
    size_t first = doc_skip(doc, past->dependencies.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->dependencies.count; i++) {
        const PastDependency *row = &past->dependencies.rows[i];
        doc_cellf(doc, CELL_TEXT, "#%u", row->task);
        doc_cell(doc, CELL_TEXT, row->name);
        doc_cell(doc, CELL_TEXT, row->title);
        doc_cell(doc, CELL_TEXT, need_word(row->need));
        doc_cell(doc, CELL_WORD, row->state);
    }
    doc_end(doc);
}

/* ---- lessons ---- */

static void experience_table(Doc *doc, Past *past)
{
    static const char *const heads[] = {"Topic", "Lesson", "Type", "Quality", "At (UTC)"};
    if (!past->experiences.count)
        return;
    size_t first = doc_skip(doc, past->experiences.count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = first; i < past->experiences.count; i++) {
        const StoreExperience *row = &past->experiences.rows[i];
        doc_cell(doc, CELL_TEXT, row->topic);
        doc_cell(doc, CELL_TEXT, row->text);
        doc_cell(doc, CELL_TEXT, row->type);
        doc_cell(doc, CELL_WORD, row->quality);
        doc_cell_time(doc, row->at_ms);
    }
    doc_end(doc);
}

void part_lessons(Doc *doc, Past *past)
{
    static const char *const keys[] = {"worked", "failed", "decisions", "tools"};
    static const char *const names[] = {"Worked", "Did not work", "Decisions", "Tools"};
    const StoreRecord *newest = past_last(past, RECORD_EXPERIENCE);
    CLEANUP(json_freep) json_t *data = past_data(newest);
    if (!past->experiences.count && !newest && !past->discoveries.count)
        return;
    doc_heading(doc, 2, "Lessons");
    experience_table(doc, past);
    for (size_t i = 0; i < COUNT(keys); i++) {
        const json_t *list = json_object_get(data, keys[i]);
        if (json_has_items(list))
            doc_heading(doc, 3, names[i]);
        list_items(doc, list);
    }
    if (newest && !data)
        doc_block(doc, BLOCK_QUOTE, newest->text);
    if (past->discoveries.count)
        doc_heading(doc, 3, "Found on the way");
    for (size_t i = 0; i < past->discoveries.count; i++)
        doc_item(doc, past->discoveries.rows[i].text);
    doc_end(doc);
}

/* ---- the rest ---- */

static bool is_other(RecordKind kind)
{
    return kind == RECORD_OBSERVED || kind == RECORD_HOOK || kind == RECORD_OTHER;
}

/* What a hook without output did. */
static const char *other_text(Doc *doc, const StoreRecord *row)
{
    CLEANUP(json_freep) json_t *data = past_data(row);
    if (*row->text || row->kind != RECORD_HOOK || !data)
        return *row->text ? row->text : row->data;
    if (json_is_true(json_object_get(data, "timed_out")))
        return "took too long and was ended";
    return arena_printf(&doc->arena, "exit code %s",
                        json_number_text(&doc->arena, json_object_get(data, "exit_code")));
}

void part_others(Doc *doc, Past *past)
{
    static const char *const heads[] = {"At (UTC)", "Kind", "Result", "Text"};
    size_t count = 0, number = 0;
    for (size_t i = 0; i < past->records.count; i++)
        count += is_other(past->records.rows[i].kind);
    if (!count)
        return;
    doc_heading(doc, 2, "Other records");
    size_t first = doc_skip(doc, count);
    doc_table(doc, heads, COUNT(heads));
    for (size_t i = 0; i < past->records.count; i++) {
        const StoreRecord *row = &past->records.rows[i];
        if (!is_other(row->kind) || number++ < first)
            continue;
        doc_cell_time(doc, row->at_ms);
        doc_cell(doc, CELL_TEXT, record_kind_word(row->kind));
        doc_cell(doc, CELL_WORD, row->result);
        doc_cell(doc, CELL_TEXT, other_text(doc, row));
    }
    doc_end(doc);
}

void part_cost(Doc *doc, Past *past)
{
    const StoreUsageSum *usage = &past->usage;
    if (!usage->rows)
        return;
    doc_heading(doc, 2, "Cost");
    doc_factf(doc, "Reports", "%" PRId64, usage->rows);
    doc_factf(doc, "Input tokens", "%" PRId64, usage->input);
    doc_factf(doc, "Output tokens", "%" PRId64, usage->output);
    doc_factf(doc, "Cache tokens", "%" PRId64, usage->cache);
    if (usage->cost_micros)
        doc_factf(doc, "Cost", "%.4f", (double)usage->cost_micros / 1e6);
    doc_end(doc);
}
