/* What the layout of B adds: convergence, refinements, verification-first files, profile and
 * experiences (B-72, B-73, B-79, B-105, B-193, B-196, B-289). */
#include "core/convergence.h"
#include "core/profile.h"
#include "record/export.h"
#include "record/plain.h"
#include <string.h>

static void put_doc(Export *export, Doc *doc, const char *path)
{
    CLEANUP(str_done) Str text = STR_INIT;
    doc_finish(doc, &text);
    export_put(export, path, str_text(&text));
}

/* ---- requirements and refinements ---- */

static void put_baseline(Export *export)
{
    static const char *const heads[] = {"#", "Requirement", "Acceptance criteria", "Weight",
                                        "Source"};
    CLEANUP(doc_done) Doc doc = {0};
    const Past *past = export->past;
    char time[PLAIN_TIME_SIZE];
    if (!past->objective.requirement_count)
        return;
    plain_stamp(past->updated_ms, time);
    doc_init(&doc, RECORD_AS_MARKDOWN, "Convergence baseline");
    doc_factf(&doc, "Origin", "objective of task #%u (%s)", past->task.id, past->name);
    doc_fact(&doc, "Updated", time);
    doc_table(&doc, heads, COUNT(heads));
    for (size_t i = 0; i < past->objective.requirement_count; i++) {
        const StoreRequirement *row = &past->objective.requirements[i];
        const char *weight = weight_word((int)MIN(row->weight, 100u));
        doc_cellf(&doc, CELL_TEXT, "R%u", row->number);
        doc_cell(&doc, CELL_TEXT, row->text);
        doc_cell(&doc, CELL_TEXT, row->criteria);
        doc_cellf(&doc, CELL_TEXT, "%s%s(%u)", weight, *weight ? " " : "", row->weight);
        doc_cell(&doc, CELL_TEXT, row->source);
    }
    put_doc(export, &doc, ".convergence-baseline.md");
}

static void put_refinements(Export *export)
{
    CLEANUP(str_done) Str text = STR_INIT;
    const Past *past = export->past;
    for (size_t i = 0; i < past->refinements.count; i++) {
        const StoreRefinement *row = &past->refinements.rows[i];
        char time[PLAIN_TIME_SIZE];
        if (row->applied_ms || row->withdrawn_ms)
            continue;
        plain_stamp(row->at_ms, time);
        str_addf(&text, "- [%s] ", time);
        plain_add_line(&text, row->text, RECORD_CELL_MAX);
        if (*row->touches)
            str_addf(&text, " (touches %s)", plain_line(&export->past->arena, row->touches, 80));
        str_add_char(&text, '\n');
    }
    if (text.length)
        export_put(export, ".pending-refinements.md", str_text(&text));
}

/* ---- convergence ---- */

/* The stage that a rollback ended, for its cause. */
static const StoreStage *failed_stage(const Past *past, const StoreRecord *convergence)
{
    for (size_t i = 0; i < past->stages.count; i++) {
        const StoreStage *stage = &past->stages.rows[i];
        if (stage->stage == convergence->stage && !strcmp(stage->outcome, "rolled-back") &&
            (!stage->ended_ms || stage->ended_ms >= convergence->at_ms))
            return stage;
    }
    return NULL;
}

static void put_convergence(Export *export, const StoreRecord *record)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(json_freep) json_t *data = past_data(record);
    Past *past = export->past;
    bool is_rollback = !strcmp(json_text(data, "verdict", record->result), "rollback");
    const StoreStage *failed = is_rollback ? failed_stage(past, record) : NULL;
    doc_init(&doc, RECORD_AS_MARKDOWN, is_rollback ? "Convergence, rolled back" : "Convergence");
    convergence_body(&doc, record);
    if (failed) {
        doc_heading(&doc, 2, "What failed");
        doc_fact(&doc, "Direction", failed->name);
        doc_fact(&doc, "Objective", failed->objective);
        doc_fact(&doc, "Cause", failed->cause);
    }
    doc_finish(&doc, &text);
    export_entry(export, export_stage_folder(export, ".analysis", record->stage), record->at_ms,
                 is_rollback ? "convergence-rollback" : "convergence", ".md",
                 convergence_line(past, record), str_text(&text));
}

/* ---- verification first ---- */

static void put_red(Export *export, const StoreRecord *record)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(json_freep) json_t *data = past_data(record);
    char time[PLAIN_TIME_SIZE];
    plain_time(record->at_ms, time);
    doc_init(&doc, RECORD_AS_MARKDOWN, "Red baseline");
    doc_fact(&doc, "Measured (UTC)", time);
    verify_body(&doc, export->past, record);
    if (data && !json_has_items(json_object_get(data, "commands")))
        doc_block(&doc, BLOCK_QUOTE, record->text);
    const char *folder = export_stage_folder(export, ".test", record->stage);
    put_doc(export, &doc,
            export_free_path(export, arena_printf(&export->past->arena, "%s/vh-baseline", folder),
                             ".md"));
}

static void green_line(Export *export, const StoreRecord *record, Str *out)
{
    CLEANUP(json_freep) json_t *data = past_data(record);
    Arena *arena = &export->past->arena;
    char time[PLAIN_TIME_SIZE];
    plain_stamp(record->at_ms, time);
    const char *check = json_any_text(arena, json_object_get(data, "check"));
    str_addf(out, "{\"timestamp\":\"%s\",\"step\":", time);
    str_add_int(out, json_int(data, "step", 0));
    str_add(out, ",\"check\":");
    str_add_json(out, plain_line(arena, check, RECORD_CELL_MAX));
    str_add(out, ",\"state\":");
    str_add_json(out, plain_line(arena, json_text(data, "state", record->result), 40));
    str_add(out, "}\n");
}

static bool is_same_log(const StoreRecord *a, const StoreRecord *b)
{
    char day_a[PLAIN_TIME_SIZE], day_b[PLAIN_TIME_SIZE];
    plain_date(a->at_ms, day_a);
    plain_date(b->at_ms, day_b);
    return a->stage == b->stage && !strcmp(day_a, day_b);
}

/* One log per day and stage. */
static void put_green(Export *export)
{
    const Past *past = export->past;
    size_t at = 0;
    for (const StoreRecord *first = past_next(past, RECORD_GREEN, &at); first;) {
        CLEANUP(str_done) Str text = STR_INIT;
        const StoreRecord *record = first;
        size_t lines = 0;
        for (; record && is_same_log(first, record); lines++) {
            green_line(export, record, &text);
            record = past_next(past, RECORD_GREEN, &at);
        }
        export_entry(export, export_stage_folder(export, ".test", first->stage), first->at_ms,
                     "cumulative-green", ".jsonl",
                     arena_printf(&export->past->arena, "%zu change%s of colour", lines,
                                  lines == 1 ? "" : "s"),
                     str_text(&text));
        first = record;
    }
}

/* ---- profile ---- */

static json_t *read_object(const char *text)
{
    Err ignored = {0};
    return text && *text ? json_read(text, strlen(text), &ignored) : NULL;
}

static void profile_values(Doc *doc, const json_t *shown)
{
    static const char *const heads[] = {"Setting", ">Value", "From"};
    size_t i;
    json_t *row;
    doc_table(doc, heads, COUNT(heads));
    json_array_foreach(json_object_get(shown, "values"), i, row)
    {
        doc_cell(doc, CELL_TEXT, json_text(row, "key", ""));
        doc_cell(doc, CELL_NUMBER, json_number_text(&doc->arena, json_object_get(row, "value")));
        doc_cell(doc, CELL_TEXT, json_text(row, "origin", ""));
    }
    doc_end(doc);
}

static void profile_observed(Doc *doc, const json_t *shown)
{
    const char *key;
    json_t *value;
    doc_heading(doc, 3, "Observed");
    doc_fact(doc, "sample_count",
             json_number_text(&doc->arena, json_object_get(shown, "sample_count")));
    json_object_foreach(json_object_get(shown, "observed"), key, value)
    {
        if (!strcmp(key, "sample_count"))
            continue;
        CLEANUP(mem_freep) char *inner = json_is_object(value) ? json_write(value) : NULL;
        doc_fact(doc, plain_line(&doc->arena, key, 40),
                 inner ? inner : json_any_text(&doc->arena, value));
    }
    doc_end(doc);
}

static void put_profile(Export *export)
{
    CLEANUP(doc_done) Doc doc = {0};
    const Past *past = export->past;
    CLEANUP(json_freep) json_t *settings = read_object(past->profile.settings);
    CLEANUP(json_freep) json_t *observed = read_object(past->profile.observed);
    ProfileInput input = {past->type, settings, observed, workflow_find(past->workflow)};
    CLEANUP(json_freep) json_t *shown = profile_show_json(&input);
    doc_init(&doc, RECORD_AS_MARKDOWN, "Type profile");
    doc_fact(&doc, "Type", past->type);
    doc_heading(&doc, 2, "Auto Adaptation");
    profile_values(&doc, shown);
    profile_observed(&doc, shown);
    doc_text(&doc, json_text(shown, "rule", ""));
    put_doc(export, &doc, ".type-profile.md");
}

/* ---- experiences ---- */

/* The folder of a type: its first segment, ":" as "-" (A-210). */
static const char *type_folder(Export *export, const char *type)
{
    char *name = arena_strndup(&export->past->arena, type, MIN(strcspn(type, "|"), (size_t)40));
    for (char *c = name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
            *c = '-';
    return *name ? name : PROFILE_TYPE_DEFAULT;
}

static void head_field(Export *export, Str *out, const char *name, const char *text)
{
    str_addf(out, "%s: ", name);
    str_add_json(out, plain_line(&export->past->arena, text, RECORD_CELL_MAX)); /* is YAML too */
    str_add_char(out, '\n');
}

static void head_sources(Export *export, Str *out, uint32_t stage, int64_t at_ms)
{
    const Past *past = export->past;
    const char *project = *past->facts.project ? past->facts.project : past->project.name;
    char date[PLAIN_TIME_SIZE];
    plain_date(at_ms, date);
    str_add(out, "---\nsources:\n");
    head_field(export, out, "  - notebook", past->name);
    head_field(export, out, "    project", project);
    str_addf(out, "    stage: %u\n    date: \"%s\"\n", stage, date);
}

static void put_failure(Export *export, const StoreStage *stage)
{
    CLEANUP(str_done) Str text = STR_INIT;
    Past *past = export->past;
    Arena *arena = &past->arena;
    const char *change = arena_printf(arena, "%s → %s", plain_part(arena, stage->before),
                                      plain_part(arena, stage->after));
    head_sources(export, &text, stage->stage, stage->ended_ms);
    head_field(export, &text, "direction", *stage->objective ? stage->objective : stage->name);
    head_field(export, &text, "cause", *stage->cause ? stage->cause : stage->outcome);
    head_field(export, &text, "convergence", change);
    str_add(&text, "---\n\n# Failed: ");
    markdown_escape(&text, plain_line(arena, stage->name, 120), MARKDOWN_INSIDE);
    str_add(&text, "\n\n");
    markdown_escape(&text, plain_line(arena, stage->reason, RECORD_CELL_MAX), MARKDOWN_START);
    const char *path =
        arena_printf(arena, ".experiences/%s/%s-failed", type_folder(export, past->type),
                     plain_slug(arena, stage->name, 48, past->name));
    export_put(export, export_free_path(export, path, ".md"), str_text(&text));
}

static void put_experience(Export *export, const StoreExperience *row)
{
    CLEANUP(str_done) Str text = STR_INIT;
    Arena *arena = &export->past->arena;
    head_sources(export, &text, export->past->stage, row->at_ms);
    head_field(export, &text, "quality", row->quality);
    str_add(&text, "---\n\n# ");
    markdown_escape(&text, plain_line(arena, row->topic, 120), MARKDOWN_INSIDE);
    str_add(&text, "\n\n");
    plain_add_block(&text, row->text, RECORD_TEXT_MAX);
    const char *path = arena_printf(arena, ".experiences/%s/%s", type_folder(export, row->type),
                                    plain_slug(arena, row->topic, 48, "experience"));
    export_put(export, export_free_path(export, path, ".md"), str_text(&text));
}

void export_stage_files(Export *export)
{
    const Past *past = export->past;
    size_t at = 0, red = 0;
    put_baseline(export);
    put_refinements(export);
    for (const StoreRecord *record; (record = past_next(past, RECORD_CONVERGENCE, &at));)
        put_convergence(export, record);
    for (const StoreRecord *record; (record = past_next(past, RECORD_BASELINE, &red));)
        put_red(export, record);
    put_green(export);
    put_profile(export);
    for (size_t i = 0; i < past->stages.count; i++)
        if (!strcmp(past->stages.rows[i].outcome, "rolled-back"))
            put_failure(export, &past->stages.rows[i]);
    for (size_t i = 0; i < past->experiences.count; i++)
        put_experience(export, &past->experiences.rows[i]);
}
