/* The task's folder in the layouts of A and B: see record.h. */
#include "record/export.h"
#include "record/plain.h"
#include <stdlib.h>
#include <string.h>

/* ---- paths ---- */

static bool is_taken(const Export *export, const char *path)
{
    for (size_t i = 0; i < export->path_count; i++)
        if (!strcmp(export->paths[i], path))
            return true;
    return false;
}

const char *export_free_path(Export *export, const char *path, const char *ending)
{
    Arena *arena = &export->past->arena;
    const char *free_path = arena_printf(arena, "%s%s", path, ending);
    for (unsigned number = 2; is_taken(export, free_path); number++)
        free_path = arena_printf(arena, "%s-%u%s", path, number, ending);
    return free_path;
}

void export_put(Export *export, const char *path, const char *text)
{
    CLEANUP(str_done) Str whole = STR_INIT;
    size_t length = strlen(text);
    if (export->has_failed)
        return;
    if (!length || text[length - 1] != '\n') {
        str_addf(&whole, "%s\n", text);
        text = str_text(&whole);
    }
    export->paths =
        past_push(export->paths, &export->path_count, &export->path_size, sizeof *export->paths);
    export->paths[export->path_count - 1] = arena_strdup(&export->past->arena, path);
    export->has_failed = !export->fn(export->user, path, text, export->err);
}

bool export_is_old_stage(const Export *export, uint32_t stage)
{
    return export->layout == RECORD_LAYOUT_B && stage && stage < export->past->stage;
}

const char *export_stage_folder(Export *export, const char *folder, uint32_t stage)
{
    return export_is_old_stage(export, stage)
               ? arena_printf(&export->past->arena, "%s-stage-%u", folder, stage)
               : folder;
}

/* ---- history folders ---- */

static ExportFolder *folder_of(Export *export, const char *name)
{
    for (size_t i = 0; i < export->folder_count; i++)
        if (!strcmp(export->folders[i].name, name))
            return &export->folders[i];
    if (export->folder_count == EXPORT_FOLDERS_MAX)
        return NULL; /* more stages than anybody reads: those have no condensed summary */
    ExportFolder *folder = &export->folders[export->folder_count++];
    folder->name = name;
    return folder;
}

void export_entry(Export *export, const char *folder, int64_t at_ms, const char *name,
                  const char *ending, const char *line, const char *text)
{
    Arena *arena = &export->past->arena;
    char date[PLAIN_TIME_SIZE];
    plain_date(at_ms, date);
    const char *head = arena_printf(arena, "%s/%s-%s", folder, date, name);
    const char *path = export_free_path(export, head, ending);
    ExportFolder *row = folder_of(export, folder);
    if (row) {
        row->entries++;
        str_addf(&row->lines, "- `%s`: ", strrchr(path, '/') + 1);
        markdown_escape(&row->lines, plain_line(arena, line, 200), MARKDOWN_INSIDE);
        str_add_char(&row->lines, '\n');
    }
    export_put(export, path, text);
}

/* The last lines only: condensed means short. */
static const char *last_lines(const char *text, size_t count)
{
    const char *at = text + strlen(text);
    for (size_t lines = 0; at > text; at--)
        if (at[-1] == '\n' && lines++ == count)
            break;
    return at;
}

void export_folder_summaries(Export *export)
{
    enum { SHOWN = 50 };
    for (size_t i = 0; i < export->folder_count; i++) {
        const ExportFolder *folder = &export->folders[i];
        const char *lines = last_lines(str_text(&folder->lines), SHOWN);
        CLEANUP(str_done) Str text = STR_INIT;
        str_addf(&text, "# Summary of `%s`\n\n%zu entr%s, the newest last.\n\n%s", folder->name,
                 folder->entries, folder->entries == 1 ? "y" : "ies", lines);
        export_put(export, arena_printf(&export->past->arena, "%s/.summary.md", folder->name),
                   str_text(&text));
    }
}

/* ---- the plans (A-106, B-253) ---- */

/* As it was written; a plan that has only its data is written here. */
static const char *plan_text(Export *export, const StoreRecord *plan)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    if (*plan->text)
        return plain_block(&export->past->arena, plan->text, RECORD_TEXT_MAX);
    doc_init(&doc, RECORD_AS_MARKDOWN, "Plan");
    plan_body(&doc, plan);
    doc_finish(&doc, &text);
    return arena_strdup(&export->past->arena, str_text(&text));
}

static bool is_newest_plan(const Export *export, const StoreRecord *plan)
{
    const Past *past = export->past;
    size_t at = (size_t)(plan - past->records.rows) + 1;
    for (const StoreRecord *later; (later = past_next(past, RECORD_PLAN, &at));)
        if (export->layout != RECORD_LAYOUT_B || later->stage == plan->stage)
            return false;
    return true;
}

static void put_plans(Export *export)
{
    Arena *arena = &export->past->arena;
    size_t at = 0;
    for (const StoreRecord *plan; (plan = past_next(export->past, RECORD_PLAN, &at));) {
        bool is_old = export_is_old_stage(export, plan->stage);
        const char *name = is_newest_plan(export, plan) ? ".plan" : ".plan-superseded";
        const char *path = is_old ? arena_printf(arena, "%s-stage-%u", name, plan->stage) : name;
        export_put(export, export_free_path(export, path, ".md"), plan_text(export, plan));
    }
}

/* ---- everything ---- */

static void put_documents(Export *export)
{
    CLEANUP(str_done) Str target = STR_INIT;
    CLEANUP(str_done) Str summary = STR_INIT;
    CLEANUP(str_done) Str report = STR_INIT;
    part_target_file(export->past, export->layout, &target);
    summary_write(export->past, export->layout, &summary);
    report_write(export->past, RECORD_AS_MARKDOWN, &report);
    export_put(export, ".target.md", str_text(&target));
    put_plans(export);
    export_put(export, ".summary.md", str_text(&summary));
    export_put(export, ".report.md", str_text(&report));
}

static void put_timeline(Export *export)
{
    CLEANUP(doc_done) Doc doc = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    if (!export->past->steps.count)
        return;
    doc_init(&doc, RECORD_AS_MARKDOWN, export->past->text.title);
    part_timeline(&doc, export->past);
    doc_finish(&doc, &text);
    export_put(export, ".auto-timeline.md", str_text(&text));
}

static void export_done(Export *export)
{
    for (size_t i = 0; i < export->folder_count; i++)
        str_done(&export->folders[i].lines);
    free(export->paths);
}

bool record_export(Store *store, TaskId task, const RecordFacts *facts, RecordLayout layout,
                   RecordFileFn *fn, void *user, Err *err)
{
    CLEANUP(past_done) Past past;
    if (layout == RECORD_LAYOUT_OTTO)
        return err_set(err, ERR_USAGE, "an export needs the layout of A or B");
    if (!past_load(&past, store, task, facts, err))
        return false;
    CLEANUP(export_done)
    Export export = {.past = &past, .layout = layout, .fn = fn, .user = user, .err = err};
    put_documents(&export);
    put_timeline(&export);
    export_records(&export);
    if (layout == RECORD_LAYOUT_B)
        export_stage_files(&export);
    export_folder_summaries(&export);
    export_state(&export);
    return !export.has_failed;
}
