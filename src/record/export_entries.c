/* The history folders: one dated file per entry. */
#include "record/export.h"
#include "record/plain.h"
#include <string.h>

/* Which verdict goes to which folder; the first row that fits wins. "" has no file of its own: it
 * stands in the results beside the measurement. */
typedef struct VerdictFolder {
    const char *checkpoint, *verdict, *folder;
} VerdictFolder;

/* clang-format off */
static const VerdictFolder verdict_folders[] = {
    /* checkpoint   verdict     folder */
    { "*",          "BLOCKED",  ".analysis" },
    { "mid-exec",   "CONTINUE", ""          },
    { "mid-exec",   "*",        ".bugfix"   },
    { "*",          "*",        ".analysis" },
};
/* clang-format on */

static const char *verdict_folder(const char *checkpoint, const char *verdict)
{
    for (size_t i = 0; i < COUNT(verdict_folders); i++) {
        const VerdictFolder *row = &verdict_folders[i];
        if ((*row->checkpoint == '*' || !strcmp(row->checkpoint, checkpoint)) &&
            (*row->verdict == '*' || !strcmp(row->verdict, verdict)))
            return row->folder;
    }
    return "";
}

static const char *checkpoint_name(Export *export, const StoreRecord *record)
{
    return plain_slug(&export->past->arena, record->checkpoint, 40, "check");
}

static void begin(Doc *doc, Export *export, const char *title, const StoreRecord *record)
{
    char time[PLAIN_TIME_SIZE];
    plain_time(record->at_ms, time);
    doc_init(doc, RECORD_AS_MARKDOWN, title);
    doc_factf(doc, "Task", "#%u %s", export->past->task.id, export->past->text.title);
    doc_fact(doc, "At (UTC)", time);
    if (record->stage)
        doc_factf(doc, "Stage", "%u", record->stage);
}

/* A file of a folder; bugfix files of stages that are over are gone (B-253). */
static void put(Export *export, Doc *doc, const char *folder, const char *name, const char *line,
                const StoreRecord *record)
{
    CLEANUP(str_done) Str text = STR_INIT;
    if (!strcmp(folder, ".bugfix") && export_is_old_stage(export, record->stage))
        return;
    bool is_staged = !strcmp(folder, ".analysis") || !strcmp(folder, ".test");
    doc_finish(doc, &text);
    export_entry(export, is_staged ? export_stage_folder(export, folder, record->stage) : folder,
                 record->at_ms, name, ".md", line, str_text(&text));
}

/* ---- checks and measurements ---- */

static bool is_same_place(const StoreRecord *a, const StoreRecord *b)
{
    return a->stage == b->stage && !strcmp(a->checkpoint, b->checkpoint);
}

/* The check that judged a measurement: the next one there before it was measured again. */
static const StoreRecord *check_after(const Past *past, const StoreRecord *verify)
{
    const StoreRecord *end = past->records.rows + past->records.count;
    for (const StoreRecord *record = verify + 1; record < end; record++)
        if (is_same_place(record, verify) &&
            (record->kind == RECORD_CHECK || record->kind == RECORD_VERIFY))
            return record->kind == RECORD_CHECK ? record : NULL;
    return NULL;
}

static bool has_measurement(const Past *past, const StoreRecord *check)
{
    for (const StoreRecord *record = check; record-- > past->records.rows;)
        if (is_same_place(record, check) &&
            (record->kind == RECORD_CHECK || record->kind == RECORD_VERIFY))
            return record->kind == RECORD_VERIFY;
    return false;
}

static void put_results(Export *export, const StoreRecord *verify, const StoreRecord *check)
{
    CLEANUP(doc_done) Doc doc = {0};
    Past *past = export->past;
    const StoreRecord *record = verify ? verify : check;
    if (!record)
        return; /* one of them is there */
    const char *name = checkpoint_name(export, record);
    begin(&doc, export, arena_printf(&past->arena, "Results: %s", name), record);
    if (verify)
        verify_body(&doc, past, verify);
    if (check) {
        doc_heading(&doc, 2, "Verdict");
        check_body(&doc, check);
    }
    const char *line = check ? check_line(past, check) : record->result;
    put(export, &doc, ".test", arena_printf(&past->arena, "%s-results", name), line, record);
}

static void put_check(Export *export, const StoreRecord *check)
{
    CLEANUP(doc_done) Doc doc = {0};
    Past *past = export->past;
    const char *verdict = check_verdict(past, check);
    const char *folder = verdict_folder(check->checkpoint, verdict);
    const char *name = checkpoint_name(export, check);
    bool is_late = strcmp(check->checkpoint, "post-plan") != 0;
    if (*folder) {
        begin(&doc, export, arena_printf(&past->arena, "Check: %s %s", name, verdict), check);
        check_body(&doc, check);
        put(export, &doc, folder, name, check_line(past, check), check);
    }
    if (is_late && !has_measurement(past, check))
        put_results(export, NULL, check); /* results for mid-exec and post-exec */
}

/* ---- criteria of a plan ---- */

static void criteria_rows(Doc *doc, const json_t *steps)
{
    static const char *const heads[] = {">Step", "Check", "Command", "Mode", "Passes when"};
    size_t i, j;
    json_t *step, *check;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(steps, i, step) json_array_foreach(json_object_get(step, "checks"), j, check)
    {
        const char *mode = json_text(check, "mode", "executable");
        if (j >= RECORD_ROWS_MAX)
            break;
        doc_cellf(doc, CELL_NUMBER, "%zu", i + 1);
        doc_cell(doc, CELL_TEXT, json_text(check, "name", ""));
        doc_cell(doc, CELL_CODE, json_text(check, "command", ""));
        doc_cell(doc, CELL_TEXT, mode);
        doc_cell(doc, CELL_TEXT, strcmp(mode, "executable") ? "it is approved" : "it exits 0");
    }
    doc_end(doc);
}

static bool has_checks(const json_t *steps)
{
    size_t i;
    json_t *step;
    json_array_foreach(steps, i,
                       step) if (json_has_items(json_object_get(step, "checks"))) return true;
    return false;
}

static void put_criteria(Export *export, const StoreRecord *plan, bool is_first)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(json_freep) json_t *data = past_data(plan);
    const json_t *criteria = json_object_get(data, "criteria");
    const json_t *steps = json_object_get(data, "steps");
    size_t i;
    json_t *text;
    if (!json_has_items(criteria) && !has_checks(steps))
        return;
    begin(&doc, export, is_first ? "Criteria of the plan" : "Criteria of the new plan", plan);
    json_array_foreach(criteria, i, text) if (i < RECORD_ROWS_MAX && json_is_string(text))
        doc_item(&doc, json_string_value(text));
    if (has_checks(steps))
        criteria_rows(&doc, steps);
    put(export, &doc, ".test", is_first ? "plan-criteria" : "replan-criteria",
        json_text(data, "summary", ""), plan);
}

/* ---- notes, feedback, guards ---- */

static void list_section(Doc *doc, const json_t *data, const char *key, const char *name)
{
    const json_t *list = json_object_get(data, key);
    size_t i;
    json_t *text;
    if (json_has_items(list))
        doc_heading(doc, 2, name);
    json_array_foreach(list, i, text) if (i < RECORD_ROWS_MAX && json_is_string(text))
        doc_item(doc, json_string_value(text));
    doc_end(doc);
}

/* "<topic>-plan" or "<topic>-exec". */
static const char *note_name(Export *export, const StoreRecord *record, const char *topic)
{
    const char *phase = past_phase_of(export->past, record);
    bool is_plan = strstr(phase, "plan") || !strcmp(phase, "target");
    return arena_printf(&export->past->arena, "%s-%s", topic, is_plan ? "plan" : "exec");
}

static void put_issues(Export *export, const StoreRecord *notes, const json_t *data)
{
    CLEANUP(doc_done) Doc doc = {0};
    const json_t *issues = json_object_get(data, "issues");
    if (!json_has_items(issues))
        return;
    begin(&doc, export, "Issues", notes);
    list_section(&doc, data, "issues", "Issues");
    put(export, &doc, ".bugfix", "issues", json_words(&export->past->arena, issues), notes);
}

static void put_notes(Export *export, const StoreRecord *notes)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(json_freep) json_t *data = past_data(notes);
    const json_t *decisions = json_object_get(data, "decisions");
    const char *free_text = json_text(data, "notes", data ? "" : notes->text);
    put_issues(export, notes, data);
    if (!json_has_items(decisions) && !*free_text)
        return;
    begin(&doc, export, "Notes", notes);
    list_section(&doc, data, "decisions", "Decisions");
    doc_block(&doc, BLOCK_QUOTE, free_text);
    const char *topic = json_has_items(decisions) ? "decisions" : "notes";
    const char *line = json_words(&export->past->arena, decisions);
    put(export, &doc, ".notes", note_name(export, notes, topic), *line ? line : free_text, notes);
}

static void put_feedback(Export *export, const StoreRecord *feedback)
{
    CLEANUP(doc_done) Doc doc = {0};
    begin(&doc, export, "Feedback", feedback);
    feedback_body(&doc, feedback);
    put(export, &doc, ".notes", note_name(export, feedback, "feedback"),
        *feedback->result ? feedback->result : feedback->text, feedback);
}

static void put_guard(Export *export, const StoreRecord *guard)
{
    CLEANUP(doc_done) Doc doc = {0};
    begin(&doc, export, "Guards that fired", guard);
    guard_body(&doc, guard);
    put(export, &doc, ".bugfix", "guards", *guard->result ? guard->result : guard->text, guard);
}

/* The first plan of its stage; what follows is a re-plan. */
static bool is_first_plan(const Past *past, const StoreRecord *plan)
{
    size_t at = 0;
    const StoreRecord *other = past_next(past, RECORD_PLAN, &at);
    while (other != plan && other->stage != plan->stage)
        other = past_next(past, RECORD_PLAN, &at);
    return other == plan;
}

void export_records(Export *export)
{
    const Past *past = export->past;
    for (size_t i = 0; i < past->records.count && !export->has_failed; i++) {
        const StoreRecord *record = &past->records.rows[i];
        if (record->kind == RECORD_PLAN) {
            put_criteria(export, record, is_first_plan(past, record));
        } else if (record->kind == RECORD_CHECK) {
            put_check(export, record);
        } else if (record->kind == RECORD_VERIFY) {
            put_results(export, record, check_after(past, record));
        } else if (record->kind == RECORD_NOTES) {
            put_notes(export, record);
        } else if (record->kind == RECORD_FEEDBACK) {
            put_feedback(export, record);
        } else if (record->kind == RECORD_GUARD && guard_has_fired(record)) {
            put_guard(export, record);
        }
    }
}
