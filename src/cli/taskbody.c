/* From flags and Markdown to the task objects of the API: see taskbody.h. */
#include "cli/taskbody.h"
#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include <inttypes.h>
#include <string.h>

static const char *const need_words[] = {
#define X(need, word, help) word,
    NEEDS(X)
#undef X
};

static json_t *task_reference(const char *name, Err *err)
{
    int64_t id;
    if (text_to_int(*name == '#' ? name + 1 : name, &id))
        return json_integer(id);
    json_t *key = *name ? json_string(name) : NULL;
    if (!key)
        (void)err_set(err, ERR_USAGE, "'%s' is neither an id nor a key", name); /* NULL says so */
    return key;
}

json_t *task_after(const char *text, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    const char *colon = strrchr(text, ':'), *need = colon ? colon + 1 : "done";
    Need found;
    if (!backlog_need_find(need, &found)) {
        const char *near = text_nearest(need, need_words, COUNT(need_words));
        (void)err_set(err, ERR_USAGE,
                      "--after '%.60s': '%.20s' is none of started, verified, done%s%s%s", text,
                      need, near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : ""); /* NULL says it failed */
        return NULL;
    }
    char *name = colon ? arena_strndup(&scratch, text, (size_t)(colon - text))
                       : arena_strdup(&scratch, text);
    json_t *task = task_reference(name, err);
    return task ? json_pack("{s:o,s:s}", "task", task, "need", need) : NULL;
}

static bool put_list(const Args *args, const char *flag, json_t *task, const char *key, Err *err)
{
    if (!args_has(args, flag))
        return true;
    json_t *list = json_array();
    (void)json_object_set_new(task, key, list); /* fails only without memory */
    const char *item;
    for (size_t i = 0; (item = args_item(args, flag, i)); i++) {
        json_t *text = json_string(item);
        if (!text)
            return err_set(err, ERR_USAGE, "--%s is not valid UTF-8 text", flag);
        (void)json_array_append_new(list, text); /* fails only without memory */
    }
    return true;
}

static bool put_after(const Args *args, json_t *task, Err *err)
{
    if (!args_has(args, "after"))
        return true;
    json_t *list = json_array();
    (void)json_object_set_new(task, "after", list); /* fails only without memory */
    const char *item;
    for (size_t i = 0; (item = args_item(args, "after", i)); i++) {
        json_t *after = task_after(item, err);
        if (!after)
            return false;
        (void)json_array_append_new(list, after); /* fails only without memory */
    }
    return true;
}

static bool put_body(const Args *args, json_t *task, Err *err)
{
    const char *file = args_text(args, "body-file", NULL);
    if (!file)
        return !args_has(args, "body") ||
               cli_put_text(task, "body", args_text(args, "body", ""), err);
    if (args_has(args, "body"))
        return err_set(err, ERR_USAGE, "give --body or --body-file, not both");
    CLEANUP(mem_freep)
    char *text = text_equal(file, "-") ? cli_read_input(BACKLOG_MOST_BODY, err)
                                       : file_read_stream(file, BACKLOG_MOST_BODY, NULL, err);
    return text && cli_put_text(task, "body", text, err);
}

static void put_number(const Args *args, const char *flag, json_t *task, const char *key)
{
    if (args_has(args, flag)) /* setting fails only without memory */
        (void)json_object_set_new(task, key, json_integer(args_int(args, flag, 0)));
}

bool task_from_flags(const Args *args, json_t *task, Err *err)
{
    const char *priority = args_text(args, "priority", NULL);
    if (priority && !cli_put_text(task, "priority", priority, err))
        return false;
    put_number(args, "max-turns", task, "max_turns");
    put_number(args, "timeout", task, "timeout_minutes");
    const char *key = args_text(args, "key", NULL), *agent = args_text(args, "agent", NULL);
    const char *parent = args_text(args, "parent", NULL);
    if (parent) {
        json_t *reference = task_reference(parent, err);
        if (!reference)
            return false;
        (void)json_object_set_new(task, "parent", reference); /* fails only without memory */
    }
    const char *workflow = args_text(args, "workflow", NULL), *type = args_text(args, "type", NULL);
    return put_body(args, task, err) && (!key || cli_put_text(task, "key", key, err)) &&
           (!agent || cli_put_text(task, "agent", agent, err)) &&
           (!workflow || cli_put_text(task, "workflow", workflow, err)) &&
           (!type || cli_put_text(task, "type", type, err)) &&
           put_list(args, "tag", task, "tags", err) &&
           put_list(args, "check", task, "check", err) && put_after(args, task, err);
}

static json_t *list_of(const TextList *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) /* appending fails only without memory */
        (void)json_array_append_new(array, json_string(list->items[i]));
    return array;
}

static json_t *reference_of(const BacklogAfter *after)
{
    return after->key ? json_string(after->key) : json_integer(after->id);
}

static void put_optional(json_t *task, const char *key, const char *text)
{
    if (text) /* read by the YAML reader, so it is valid UTF-8 */
        (void)json_object_set_new(task, key, json_string(text));
}

static void put_requirements(const BacklogTask *from, json_t *task)
{
    json_t *list = json_array(); /* setting and appending fail only without memory */
    for (size_t i = 0; i < from->requirement_count; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:s,s:s,s:I}", "text", from->requirements[i].text,
                                              "criteria", from->requirements[i].criteria, "weight",
                                              (json_int_t)from->requirements[i].weight));
    if (from->requirement_count)
        (void)json_object_set(task, "requirements", list);
    json_decref(list);
    if (from->is_confirmed)
        (void)json_object_set_new(task, "confirmed", json_true());
}

bool task_from_backlog(const BacklogTask *from, json_t *task, Err *err)
{
    if (!cli_put_text(task, "title", from->title, err) ||
        !cli_put_text(task, "body", from->body, err))
        return false;
    put_optional(task, "key", from->key);
    put_optional(task, "size", from->size);
    put_optional(task, "agent", from->agent);
    put_optional(task, "workflow", from->workflow);
    put_optional(task, "type", from->type);
    put_requirements(from, task);
    json_t *after = json_array(); /* setting and appending fail only without memory */
    for (size_t i = 0; i < from->after_count; i++)
        (void)json_array_append_new(after,
                                    json_pack("{s:o,s:s}", "task", reference_of(&from->after[i]),
                                              "need", need_word(from->after[i].need)));
    (void)json_object_set_new(task, "after", after);
    (void)json_object_set_new(task, "check", list_of(&from->checks));
    (void)json_object_set_new(task, "tags", list_of(&from->tags));
    if (from->priority != PRIORITY_NONE)
        (void)json_object_set_new(task, "priority", json_integer(from->priority));
    if (from->parent.key || from->parent.id)
        (void)json_object_set_new(task, "parent", reference_of(&from->parent));
    if (from->max_turns)
        (void)json_object_set_new(task, "max_turns", json_integer(from->max_turns));
    if (from->timeout_minutes)
        (void)json_object_set_new(task, "timeout_minutes", json_integer(from->timeout_minutes));
    return true;
}

static void add_list(Str *out, const char *key, const json_t *list)
{
    size_t index;
    const json_t *item;
    if (!json_array_size(list))
        return;
    str_addf(out, "%s:\n", key);
    json_array_foreach(list, index, item)
    {
        str_add(out, "  - ");
        str_add_json(out, json_string_value(item) ? json_string_value(item) : "");
        str_add_char(out, '\n');
    }
}

static void add_after(Str *out, const json_t *list)
{
    size_t index;
    const json_t *item;
    if (!json_array_size(list))
        return;
    str_add(out, "after:\n");
    json_array_foreach(list, index, item)
    {
        str_addf(out, "  - {task: %" PRId64 ", state: %s}\n", json_int(item, "task", 0),
                 json_text(item, "need", "done"));
    }
}

static void add_number(Str *out, const char *key, const json_t *value)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        str_addf(out, "%s: %" PRId64 "\n", key, (int64_t)json_integer_value(value));
}

void task_to_markdown(const json_t *task, Str *out)
{
    str_add(out, "---\ntitle: ");
    str_add_json(out, json_text(task, "title", ""));
    str_add_char(out, '\n');
    add_list(out, "tags", json_object_get(task, "tags"));
    add_after(out, json_object_get(task, "after"));
    add_list(out, "check", json_object_get(task, "check"));
    add_number(out, "priority", json_object_get(task, "priority"));
    if (json_int(task, "max_turns", 0) > 0)
        add_number(out, "max_turns", json_object_get(task, "max_turns"));
    if (json_int(task, "timeout_minutes", 0) > 0)
        add_number(out, "timeout_minutes", json_object_get(task, "timeout_minutes"));
    static const char *const texts[] = {"agent", "workflow", "type"};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (json_text(task, texts[i], NULL)) {
            str_addf(out, "%s: ", texts[i]);
            str_add_json(out, json_text(task, texts[i], ""));
            str_add_char(out, '\n');
        }
    str_addf(out, "---\n%s", json_text(task, "body", ""));
    if (out->bytes[out->length - 1] != '\n')
        str_add_char(out, '\n');
}
