/* Which workflows a project has, and the numbers that the machine knows them by. A definition that
 * was used once keeps its number for ever, so that old events can be replayed. */
#include "base/log.h"
#include "core/workflow_file.h"
#include "engine/internal.h"
#include "engine/workflows.h"
#include <stdlib.h>
#include <string.h>

/* A definition that has a number. */
struct FlowRow {
    uint32_t number;
    char *name, *text;
};

static void add_row(Engine *engine, uint32_t number, const char *name, const char *text)
{
    engine->flows = mem_grow(engine->flows, engine->flow_count + 1, sizeof *engine->flows);
    engine->flows[engine->flow_count++] = (FlowRow){number, mem_strdup(name), mem_strdup(text)};
}

void flows_free(Engine *engine)
{
    for (uint32_t i = 0; i < engine->flow_count; i++) {
        free(engine->flows[i].name);
        free(engine->flows[i].text);
    }
    free(engine->flows);
}

static bool load_one(void *user, const StoreWorkflow *row)
{
    Engine *engine = user;
    Err err = {0};
    add_row(engine, row->number, row->name, row->text);
    if (!machine_load_workflow(engine->machine, row->number, row->text, &err))
        log_line("workflow.bad number=%u error=\"%s\"", row->number, err.text);
    return true;
}

bool flows_load(Engine *engine, Err *err)
{
    return store_workflow_list(engine->store, load_one, engine, err);
}

static const FlowRow *find_row(const Engine *engine, const char *name, const char *text)
{
    for (uint32_t i = 0; i < engine->flow_count; i++)
        if (text_equal(engine->flows[i].name, name) && text_equal(engine->flows[i].text, text))
            return &engine->flows[i];
    return NULL;
}

static uint32_t next_number(const Engine *engine)
{
    uint32_t number = WORKFLOW_FIRST_OWN;
    for (uint32_t i = 0; i < engine->flow_count; i++)
        number = MAX(number, engine->flows[i].number + 1);
    return number;
}

/* The number of a definition; a new one is told to the machine and stored. 0: no number is left. */
static uint32_t number_of(Engine *engine, const char *name, const char *text)
{
    const FlowRow *known = find_row(engine, name, text);
    if (known)
        return known->number;
    uint32_t number = next_number(engine);
    if (number > WORKFLOW_NUMBER_MAX)
        return 0;
    Event event = {.kind = EV_WORKFLOW_DEFINED, .a = number, .text = text, .ref = name};
    if (!engine_post(engine, &event))
        return 0;
    engine_write(
        engine,
        &(Write){.kind = WRITE_WORKFLOW,
                 .workflow = {
                     .number = number, .name = name, .text = text, .at_ms = engine_now(engine)}});
    add_row(engine, number, name, text);
    return number;
}

/* With everything written out: what it extends may be another one in the next version. */
static void take_item(Engine *engine, ProjectInfo *project, const WorkflowItem *item)
{
    json_t *whole = workflow_write(item->workflow);
    char *text = json_write(whole);
    uint32_t number = text ? number_of(engine, item->name, text) : 0;
    if (number)
        json_object_set_new(project->flows, item->name, json_integer(number));
    else
        log_line("workflow.refused name=%s", item->name);
    free(text);
    json_decref(whole);
}

bool flows_read(Engine *engine, ProjectInfo *project, Err *err)
{
    WorkflowSet set = {0};
    bool is_read = workflows_load(project->path, &set, err);
    json_decref(project->flows);
    project->flows = json_object();
    for (size_t i = 0; is_read && i < set.count; i++)
        if (*set.items[i].path)
            take_item(engine, project, &set.items[i]);
    for (size_t i = 0; i < set.problem_count; i++)
        log_line("workflow.bad file=\"%s\" line=%d error=\"%s\"", set.problems[i].path,
                 set.problems[i].line, set.problems[i].text);
    workflows_done(&set);
    return is_read;
}

static void known_names(const ProjectInfo *project, Str *out)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    const char *key;
    json_t *value;
    for (size_t i = 0; i < count; i++)
        str_addf(out, "%s%s", i ? ", " : "", all[i]->name);
    json_object_foreach(project->flows, key, value) if (!workflow_find(key))
        str_addf(out, ", %s", key);
}

bool flow_number(Engine *engine, const ProjectInfo *project, const char *name, uint32_t *number,
                 Err *err)
{
    (void)engine;
    int64_t own = json_int(project->flows, name, -1);
    int built_in = workflow_number(name);
    if (own >= 0 || built_in >= 0) {
        *number = (uint32_t)(own >= 0 ? own : built_in);
        return true;
    }
    CLEANUP(str_done) Str known = STR_INIT;
    known_names(project, &known);
    return err_set(err, ERR_USAGE,
                   "unknown workflow '%.60s'; known: %s (see `otto workflow check`)", name,
                   str_text(&known));
}
