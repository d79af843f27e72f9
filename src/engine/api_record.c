/* Records of one task for the doors: report, timeline, export. The engine gives texts; where files
 * go is the affair of the one who asked. */
#include "engine/api_internal.h"
#include "record/record.h"
#include <string.h>

enum { EXPORT_FILES_MOST = 4000, EXPORT_BYTES_MOST = 32 * 1024 * 1024 };

bool api_task_report(Call *call)
{
    char word[16] = "markdown";
    const Task *task = call_task(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts;
    if (!task)
        return false;
    (void)query_get(call, "format", word, sizeof word); /* Markdown when it is not said */
    RecordFormat format = text_equal(word, "html")      ? RECORD_AS_HTML
                          : text_equal(word, "summary") ? RECORD_AS_SUMMARY
                                                        : RECORD_AS_MARKDOWN;
    if (format == RECORD_AS_MARKDOWN && !text_equal(word, "markdown"))
        return err_set(&call->err, ERR_USAGE, "a report is markdown, html or summary, not '%.15s'",
                       word);
    if (!engine_commit(call->engine, &call->err))
        return false;
    record_facts(call->engine, task->id, &arena, &facts);
    if (!record_report(call->engine->store, task->id, &facts, format, &text, &call->err))
        return false;
    reply_json(call, json_pack("{s:I,s:s,s:o}", "task", (json_int_t)task->id, "format", word,
                               "text", safe_string(str_text(&text), text.length)));
    return true;
}

bool api_timeline(Call *call)
{
    const Task *task = call_task(call);
    CLEANUP(str_done) Str text = STR_INIT;
    json_t *json = NULL;
    if (!task || !engine_commit(call->engine, &call->err) ||
        !record_timeline(call->engine->store, task->id, &json, &text, &call->err))
        return false;
    json_object_set_new(json, "text", safe_string(str_text(&text), text.length));
    reply_json(call, json);
    return true;
}

/* -- export ---------------------------------------------------------------------------------- */

typedef struct Files {
    json_t *list;
    size_t bytes;
} Files;

static bool add_file(void *user, const char *path, const char *text, Err *err)
{
    Files *files = user;
    files->bytes += strlen(text);
    if (json_array_size(files->list) == EXPORT_FILES_MOST || files->bytes > EXPORT_BYTES_MOST)
        return err_set(err, ERR_TOO_BIG, "the export is larger than %d files or %d bytes",
                       EXPORT_FILES_MOST, EXPORT_BYTES_MOST);
    json_array_append_new(files->list,
                          json_pack("{s:o,s:o}", "path", safe_string(path, strlen(path)), "text",
                                    safe_string(text, strlen(text))));
    return true;
}

bool api_export(Call *call)
{
    char word[8] = "a";
    const Task *task = call_task(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str name = STR_INIT;
    RecordFacts facts;
    if (!task)
        return false;
    (void)query_get(call, "format", word, sizeof word); /* a when it is not said */
    if (!text_equal(word, "a") && !text_equal(word, "b"))
        return err_set(&call->err, ERR_USAGE, "an export has the format a or b, not '%s'", word);
    RecordLayout layout = text_equal(word, "b") ? RECORD_LAYOUT_B : RECORD_LAYOUT_A;
    if (!engine_commit(call->engine, &call->err))
        return false;
    record_facts(call->engine, task->id, &arena, &facts);
    Files files = {.list = json_array()};
    if (!record_task_name(call->engine->store, task->id, &name, &call->err) ||
        !record_export(call->engine->store, task->id, &facts, layout, add_file, &files,
                       &call->err)) {
        json_decref(files.list);
        return false;
    }
    reply_json(call, json_pack("{s:I,s:s,s:s,s:o}", "task", (json_int_t)task->id, "format", word,
                               "name", str_text(&name), "files", files.list));
    return true;
}
