/* Adding and changing tasks: checked as a whole first, then posted; all or none. */
#include "core/backlog.h"
#include "core/graph.h"
#include "core/profile.h"
#include "core/score.h"
#include "core/target.h"
#include "engine/api_internal.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 10000, MOST_BODY = 256 * 1024, MOST_CHECKS = 64 };

/* One task of the request, resolved. */
typedef struct NewTask {
    const json_t *json;
    TaskId id;
    const char *title, *key;
    uint8_t tags, priority;
    Dependency *after;
    size_t after_count;
    char *limits;
} NewTask;

typedef struct Adding {
    Call *call;
    Arena arena;
    ProjectInfo *project;
    NewTask *tasks;
    size_t count;
} Adding;

static bool bad(Adding *adding, const NewTask *task, const char *format, const char *what)
{
    char text[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text, sizeof text, format, what); /* formats are the constants below */
#pragma GCC diagnostic pop
    if (!task->title) /* an edit that leaves the title alone */
        return err_set(&adding->call->err, ERR_USAGE, "task #%u: %s", task->id, text);
    return err_set(&adding->call->err, ERR_USAGE, "task '%.80s': %s", task->title, text);
}

/* Fields that adding and editing read alike */

static bool read_tags(const json_t *list, uint8_t *bits, Err *err)
{
    size_t i;
    json_t *tag;
    *bits = 0;
    if (list && !json_is_array(list))
        return err_set(err, ERR_USAGE, "'tags' must be a list");
    json_array_foreach(list, i, tag)
    {
        if (!json_is_string(tag) || !*json_string_value(tag))
            return err_set(err, ERR_USAGE, "'tags' must hold texts");
        *bits |= score_tag_bit(json_string_value(tag));
    }
    return true;
}

static bool read_priority(const json_t *value, uint8_t *priority, Err *err)
{
    int64_t level = json_is_integer(value) ? json_integer_value(value) : -1;
    const char *text = json_string_value(value);
    *priority = PRIORITY_NONE;
    if (!value || json_is_null(value))
        return true;
    if (text && (text[0] == 'P' || text[0] == 'p'))
        text++;
    if (text && !text_to_int(text, &level))
        level = -1;
    if (level < 0 || level > 3)
        return err_set(err, ERR_USAGE, "'priority' must be 0 to 3 (or P0 to P3)");
    *priority = (uint8_t)level;
    return true;
}

static bool check_title(const char *title, Err *err)
{
    return title ? backlog_title_check(title, err) : err_set(err, ERR_USAGE, "'title' is missing");
}

static bool check_texts(const json_t *json, Err *err)
{
    const char *body = json_text(json, "body", "");
    const json_t *checks = json_object_get(json, "check");
    size_t i;
    json_t *item;
    if (strlen(body) > MOST_BODY)
        return err_set(err, ERR_TOO_BIG, "the body is longer than %d bytes", MOST_BODY);
    if (checks && (!json_is_array(checks) || json_array_size(checks) > MOST_CHECKS))
        return err_set(err, ERR_USAGE, "'check' must be a list of at most %d commands",
                       MOST_CHECKS);
    json_array_foreach(checks, i, item) if (!json_is_string(item) ||
                                            !*json_string_value(
                                                item)) return err_set(err, ERR_USAGE,
                                                                      "'check' must hold commands");
    return true;
}

static bool read_bound(const json_t *json, const char *key, int64_t most, int64_t *value, Err *err)
{
    const json_t *field = json_object_get(json, key);
    *value = json_int(json, key, 0);
    if (!field || json_is_null(field))
        return true;
    if (!json_is_integer(field) || *value < 0 || *value > most)
        return err_set(err, ERR_USAGE, "'%s' must be 1 to %lld", key, (long long)most);
    return true;
}

/* What an event tells the machine beyond tags and priority. A field that is not there is kept. */
static json_t *limits_json(int64_t max_turns, int64_t timeout_minutes, int64_t parent)
{
    return json_pack("{s:I,s:I,s:I}", "max_turns", (json_int_t)max_turns, "timeout_ms",
                     (json_int_t)timeout_minutes * 60000, "parent", (json_int_t)parent);
}

/* The workflow by its number, which the machine knows it by; "" is the project's. */
static bool read_workflow(Adding *adding, const json_t *json, json_t *limits)
{
    Engine *engine = adding->call->engine;
    const char *name = json_text(json, "workflow", NULL);
    uint32_t number = 0;
    if (!name)
        return true;
    bool is_known = !*name || flow_number(engine, adding->project, name, &number, NULL);
    if (!is_known && (!flows_read(engine, adding->project, &adding->call->err) || /* a new file */
                      !flow_number(engine, adding->project, name, &number, &adding->call->err)))
        return false;
    json_object_set_new(limits, "workflow", json_integer(*name ? (json_int_t)number + 1 : 0));
    return true;
}

static bool check_type(const json_t *json, Err *err)
{
    const char *type = json_text(json, "type", "");
    return !*type || profile_type_is_valid(type) ||
           err_set(err, ERR_USAGE,
                   "'type' must be letters, digits, '_', ':' and '-', parts joined by '|', not "
                   "'%.60s'",
                   type);
}

/* a title and a body that are more than a template. */
static void set_filled(json_t *limits, const char *title, const char *body)
{
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "%s\n\n%s", title ? title : "", body ? body : "");
    if (target_is_filled(str_text(&text)))
        json_object_set_new(limits, "filled", json_true());
    else if (!json_object_get(limits, "filled"))
        json_object_set_new(limits, "filled", json_false());
}

/* Dependencies */

static TaskId find_key(Adding *adding, const char *key)
{
    StoreTaskText text = {0};
    for (size_t i = 0; i < adding->count; i++)
        if (adding->tasks[i].key && text_equal(adding->tasks[i].key, key))
            return adding->tasks[i].id;
    if (store_task_text_find(adding->call->engine->store, adding->project->id, key, &adding->arena,
                             &text, NULL) &&
        text.id && !text.deleted_ms)
        return text.id;
    return 0;
}

static TaskId resolve(Adding *adding, const json_t *item)
{
    int64_t id = json_is_integer(item) ? json_integer_value(item) : 0;
    const char *word = json_string_value(item);
    if (word) {
        TaskId by_key = find_key(adding, word);
        if (by_key)
            return by_key;
        if (!text_to_int(word[0] == '#' ? word + 1 : word, &id))
            return 0;
    }
    for (size_t i = 0; i < adding->count; i++)
        if (adding->tasks[i].id == id)
            return (TaskId)id;
    const Task *task =
        id > 0 && id <= UINT32_MAX ? machine_task(adding->call->engine->machine, (TaskId)id) : NULL;
    return task && task->project == adding->project->id ? task->id : 0;
}

static bool read_after(Adding *adding, NewTask *task)
{
    const json_t *list = json_object_get(task->json, "after");
    size_t i;
    json_t *item;
    if (list && !json_is_array(list))
        return bad(adding, task, "'after' must be %s", "a list");
    task->after = arena_alloc(&adding->arena, (json_array_size(list) + 1) * sizeof *task->after);
    json_array_foreach(list, i, item)
    {
        Need need = NEED_DONE;
        const json_t *on = json_is_object(item) ? json_object_get(item, "task") : item;
        const char *word = json_is_object(item) ? json_text(item, "need", "done") : "done";
        TaskId id = resolve(adding, on);
        CLEANUP(mem_freep) char *shown = json_write(on ? on : item);
        if (!id)
            return bad(adding, task, "waits for %s, which is no task of this project", shown);
        if (!backlog_need_find(word, &need))
            return bad(adding, task, "need '%s' is not one of started, verified, done", word);
        if (id == task->id)
            return bad(adding, task, "waits for %s", "itself");
        task->after[task->after_count++] = (Dependency){task->id, id, need};
    }
    return true;
}

static bool name_cycle(Adding *adding, const uint32_t *members, size_t count)
{
    CLEANUP(str_done) Str text = STR_INIT;
    for (size_t i = 0; i <= count && count; i++) {
        uint32_t id = members[i % count];
        const char *key = NULL;
        for (size_t k = 0; k < adding->count; k++)
            if (adding->tasks[k].id == id)
                key = adding->tasks[k].key ? adding->tasks[k].key : adding->tasks[k].title;
        if (key)
            str_addf(&text, "%s'%.60s'", i ? " -> " : "", key);
        else
            str_addf(&text, "%s#%u", i ? " -> " : "", id);
    }
    return err_set(&adding->call->err, ERR_USAGE, "these tasks wait for each other: %s",
                   str_text(&text));
}

/* New tasks can only wait in a circle among themselves: nothing that exists waits for them. */
static bool check_cycles(Adding *adding)
{
    Graph *graph = graph_new();
    bool is_fine = true;
    for (size_t i = 0; i < adding->count && is_fine; i++)
        for (size_t k = 0; k < adding->tasks[i].after_count && is_fine; k++) {
            const Dependency *d = &adding->tasks[i].after[k];
            GraphNodes cycle;
            GraphAdd added = graph_add_edge(graph, d->on, d->task, d->need + 1, &cycle);
            if (added == GRAPH_CYCLE)
                is_fine = name_cycle(adding, cycle.items, cycle.count);
        }
    graph_free(graph);
    return is_fine;
}

/* Reading the request */

static bool read_one(Adding *adding, NewTask *task)
{
    Err *err = &adding->call->err;
    int64_t max_turns, minutes, parent = 0;
    const json_t *parent_json = json_object_get(task->json, "parent");
    if (!check_title(task->title, err) || !check_texts(task->json, err) ||
        !read_tags(json_object_get(task->json, "tags"), &task->tags, err) ||
        !read_priority(json_object_get(task->json, "priority"), &task->priority, err) ||
        !read_bound(task->json, "max_turns", 100000, &max_turns, err) ||
        !read_bound(task->json, "timeout_minutes", 100000, &minutes, err))
        return err_add(err, "task '%.80s'", task->title ? task->title : "?");
    if (json_array_size(json_object_get(task->json, "check")))
        task->tags |= TAG_CHECKED;
    const char *agent = json_text(task->json, "agent", NULL);
    if (agent && *agent && adding->project->is_read &&
        !settings_agent(&adding->project->settings, agent, err))
        return err_add(err, "task '%.80s'", task->title);
    if (parent_json && !json_is_null(parent_json)) {
        parent = resolve(adding, parent_json);
        if (!parent || parent == task->id)
            return bad(adding, task, "its parent is %s", "no task of this project");
    }
    CLEANUP(json_freep) json_t *limits = limits_json(max_turns, minutes, parent);
    set_filled(limits, task->title, json_text(task->json, "body", ""));
    bool is_fine = check_type(task->json, err) && read_workflow(adding, task->json, limits) &&
                   objective_read(task->json, limits, err);
    task->limits = json_write(limits);
    return is_fine ? read_after(adding, task) : err_add(err, "task '%.80s'", task->title);
}

static bool check_key(Adding *adding, size_t index)
{
    const NewTask *task = &adding->tasks[index];
    StoreTaskText text = {0};
    if (!task->key)
        return true;
    for (size_t i = 0; i < index; i++)
        if (text_equal(adding->tasks[i].key, task->key))
            return bad(adding, task, "key '%s' stands twice", task->key);
    if (store_task_text_find(adding->call->engine->store, adding->project->id, task->key,
                             &adding->arena, &text, NULL) &&
        text.id && !text.deleted_ms)
        return bad(adding, task, "key '%s' belongs to another task already; edit or rm that one",
                   task->key);
    return true;
}

static bool read_all(Adding *adding, const json_t *list)
{
    size_t count = json_array_size(list);
    if (count == 0 || count > MOST_TASKS)
        return err_set(&adding->call->err, ERR_USAGE, "'tasks' must hold 1 to %d tasks",
                       MOST_TASKS);
    adding->tasks = arena_alloc(&adding->arena, count * sizeof *adding->tasks);
    adding->count = count;
    TaskId next = machine_next_task(adding->call->engine->machine);
    for (size_t i = 0; i < adding->count; i++) {
        const json_t *json = json_array_get(list, i);
        const char *key = json_text(json, "key", NULL);
        adding->tasks[i] = (NewTask){.json = json,
                                     .id = next + (TaskId)i,
                                     .title = json_text(json, "title", NULL),
                                     .key = key && *key ? key : NULL};
    }
    for (size_t i = 0; i < adding->count; i++)
        if (!check_key(adding, i) || !read_one(adding, &adding->tasks[i]))
            return false;
    return check_cycles(adding);
}

/* Storing */

static void store_text(Adding *adding, const NewTask *task)
{
    const json_t *checks = json_object_get(task->json, "check"),
                 *tags = json_object_get(task->json, "tags");
    CLEANUP(mem_freep) char *checks_text = checks ? json_write(checks) : NULL;
    CLEANUP(mem_freep) char *tags_text = tags ? json_write(tags) : NULL;
    engine_write(adding->call->engine,
                 &(Write){.kind = WRITE_TASK_TEXT,
                          .task_text = {.id = task->id,
                                        .project = adding->project->id,
                                        .title = task->title,
                                        .body = json_text(task->json, "body", ""),
                                        .key = task->key ? task->key : "",
                                        .checks_json = checks_text ? checks_text : "[]",
                                        .tags_json = tags_text ? tags_text : "[]",
                                        .size = json_text(task->json, "size", ""),
                                        .agent = json_text(task->json, "agent", ""),
                                        .workflow = json_text(task->json, "workflow", ""),
                                        .type = json_text(task->json, "type", ""),
                                        .created_ms = engine_now(adding->call->engine)}});
}

static void post_dependencies(Engine *engine, ProjectId project, const Dependency *list,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Event event = {.kind = EV_DEPENDENCY_ADDED,
                       .project = project,
                       .task = list[i].task,
                       .a = list[i].on,
                       .b = list[i].need};
        if (engine_post(engine, &event))
            engine_write(engine, &(Write){.kind = WRITE_DEPENDENCY_ADD, .dependency = list[i]});
    }
}

/* A task must not be taken between its own event and those of its dependencies, so the first
 * event of a request holds the project's slots and the last one lets them go. */
static void post_all(Adding *adding)
{
    Engine *engine = adding->call->engine;
    Event hold = {.kind = EV_HOLD, .project = adding->project->id, .a = 1};
    (void)engine_post(engine, &hold); /* always accepted */
    for (size_t i = 0; i < adding->count; i++) {
        NewTask *task = &adding->tasks[i];
        Event event = {.kind = EV_TASK_ADDED,
                       .project = adding->project->id,
                       .task = task->id,
                       .a = task->tags,
                       .b = task->priority,
                       .text = task->title,
                       .ref = task->limits};
        (void)engine_post(engine, &event); /* checked above */
        store_text(adding, task);
        objective_store(engine, task->id, task->title, task->json);
    }
    for (size_t i = 0; i < adding->count; i++)
        post_dependencies(engine, adding->project->id, adding->tasks[i].after,
                          adding->tasks[i].after_count);
    hold.a = 0;
    (void)engine_post(engine, &hold); /* now they may be taken */
}

bool api_task_add(Call *call)
{
    Adding adding = {.call = call, .project = call_project(call)};
    bool is_fine = adding.project && engine_commit(call->engine, &call->err) &&
                   read_all(&adding, json_object_get(call->body, "tasks"));
    json_t *added = json_array();
    if (is_fine)
        post_all(&adding);
    for (size_t i = 0; is_fine && i < adding.count; i++)
        json_array_append_new(added, json_pack("{s:I,s:s,s:s?}", "id",
                                               (json_int_t)adding.tasks[i].id, "title",
                                               adding.tasks[i].title, "key", adding.tasks[i].key));
    is_fine = is_fine && engine_commit(call->engine, &call->err);
    for (size_t i = 0; i < adding.count; i++)
        free(adding.tasks[i].limits);
    arena_done(&adding.arena);
    if (is_fine)
        reply_json(call, json_pack("{s:O}", "added", added));
    json_decref(added);
    return is_fine;
}

/* Editing */

static bool replace_after(Adding *adding, NewTask *task)
{
    enum { MOST = 256 };
    Engine *engine = adding->call->engine;
    Dependency old[MOST];
    TaskId cycle[16];
    uint32_t count = 0;
    if (!json_object_get(task->json, "after"))
        return true;
    if (!read_after(adding, task))
        return false;
    for (size_t i = 0; i < task->after_count; i++)
        if (machine_would_circle(engine->machine, task->id, task->after[i].on, cycle, COUNT(cycle),
                                 &count))
            return name_cycle(adding, cycle, count);
    uint32_t known =
        MIN(machine_dependencies(engine->machine, task->id, old, MOST), (uint32_t)MOST);
    Event hold = {.kind = EV_HOLD, .project = adding->project->id, .a = 1};
    (void)engine_post(engine, &hold); /* nothing is taken between removing and adding */
    for (uint32_t i = 0; i < known; i++) {
        Event event = {.kind = EV_DEPENDENCY_REMOVED,
                       .project = adding->project->id,
                       .task = task->id,
                       .a = old[i].on};
        if (engine_post(engine, &event))
            engine_write(engine, &(Write){.kind = WRITE_DEPENDENCY_REMOVE, .dependency = old[i]});
    }
    post_dependencies(engine, adding->project->id, task->after, task->after_count);
    hold.a = 0;
    (void)engine_post(engine, &hold); /* always accepted */
    return true;
}

/* A target that was empty may be written now; what an objective holds besides is left alone. */
static void edit_filled(Adding *adding, const NewTask *task, json_t *limits)
{
    StoreTaskText old = {.title = "", .body = ""};
    StoreObjective objective = {0};
    Store *store = adding->call->engine->store;
    if (!json_object_get(task->json, "title") && !json_object_get(task->json, "body"))
        return;
    IGNORE(store_task_text_get(store, task->id, &adding->arena, &old, NULL));
    IGNORE(store_objective_get(store, task->id, &adding->arena, &objective, NULL));
    bool is_filled =
        objective.item_count || objective_is_written(task->title ? task->title : old.title,
                                                     json_text(task->json, "body", old.body));
    json_object_set_new(limits, "filled", json_boolean(is_filled));
}

/* Every field that is not named keeps its value. */
static bool edit_fields(Adding *adding, NewTask *task, const Task *now)
{
    Err *err = &adding->call->err;
    const json_t *json = task->json;
    int64_t max_turns = now->max_turns, minutes = now->timeout_ms / 60000;
    task->tags = now->tags;
    task->priority = now->priority;
    if ((json_object_get(json, "title") && !check_title(task->title, err)) ||
        !check_texts(json, err) ||
        (json_object_get(json, "tags") &&
         !read_tags(json_object_get(json, "tags"), &task->tags, err)) ||
        (json_object_get(json, "priority") &&
         !read_priority(json_object_get(json, "priority"), &task->priority, err)) ||
        (json_object_get(json, "max_turns") &&
         !read_bound(json, "max_turns", 100000, &max_turns, err)) ||
        (json_object_get(json, "timeout_minutes") &&
         !read_bound(json, "timeout_minutes", 100000, &minutes, err)))
        return false;
    const json_t *checks = json_object_get(json, "check");
    bool is_checked = checks ? json_array_size(checks) > 0 : now->tags & TAG_CHECKED;
    task->tags = (uint8_t)((task->tags & ~TAG_CHECKED) | (is_checked ? TAG_CHECKED : 0));
    const char *agent = json_text(json, "agent", NULL);
    if (agent && *agent && adding->project->is_read &&
        !settings_agent(&adding->project->settings, agent, err))
        return false;
    CLEANUP(json_freep) json_t *limits = limits_json(max_turns, minutes, now->parent);
    StoreTaskText old = {.title = ""};
    if ((task->title || json_object_get(json, "body")) &&
        store_task_text_get(adding->call->engine->store, task->id, &adding->arena, &old, err))
        set_filled(limits, task->title ? task->title : old.title,
                   json_text(json, "body", old.body));
    bool is_fine = check_type(json, err) && read_workflow(adding, json, limits);
    edit_filled(adding, task, limits);
    task->limits = json_write(limits);
    return is_fine;
}

static void store_edit(Adding *adding, const NewTask *task)
{
    const json_t *checks = json_object_get(task->json, "check"),
                 *tags = json_object_get(task->json, "tags");
    CLEANUP(mem_freep) char *checks_text = checks ? json_write(checks) : NULL;
    CLEANUP(mem_freep) char *tags_text = tags ? json_write(tags) : NULL;
    StoreTaskText old = {0};
    if (!store_task_text_get(adding->call->engine->store, task->id, &adding->arena, &old, NULL))
        return;
    engine_write(adding->call->engine,
                 &(Write){.kind = WRITE_TASK_TEXT,
                          .task_text = {.id = task->id,
                                        .project = adding->project->id,
                                        .title = task->title,
                                        .body = json_text(task->json, "body", NULL),
                                        .checks_json = checks_text,
                                        .tags_json = tags_text,
                                        .agent = json_text(task->json, "agent", NULL),
                                        .workflow = json_text(task->json, "workflow", NULL),
                                        .type = json_text(task->json, "type", NULL),
                                        .created_ms = old.created_ms,
                                        .deleted_ms = old.deleted_ms}});
}

bool api_task_edit(Call *call)
{
    const Task *task = call_task(call);
    if (!task)
        return false;
    NewTask edit = {
        .json = call->body, .id = task->id, .title = json_text(call->body, "title", NULL)};
    Adding adding = {.call = call, .project = project_info(call->engine, task->project)};
    Event event = {.kind = EV_TASK_EDITED, .project = task->project, .task = task->id};
    bool is_fine = machine_check(call->engine->machine, &event, &call->err) &&
                   engine_commit(call->engine, &call->err) && edit_fields(&adding, &edit, task) &&
                   replace_after(&adding, &edit);
    if (is_fine) {
        event.a = edit.tags;
        event.b = edit.priority;
        event.text = edit.title;
        event.ref = edit.limits;
        store_edit(&adding, &edit);
        is_fine = wish(call, &event);
    }
    free(edit.limits);
    arena_done(&adding.arena);
    if (is_fine)
        reply_json(call, json_pack("{s:I}", "task", (json_int_t)call->id));
    return is_fine;
}
