/* The JSON schema of workflow files, with the words of the tables: see workflow_file.h. */
#include "core/answer.h"
#include "core/types.h"
#include "core/workflow_file.h"

static json_t *type_of(const char *type, const char *help)
{
    json_t *schema = json_object();
    json_object_set_new(schema, "type", json_string(type));
    if (help)
        json_object_set_new(schema, "description", json_string(help));
    return schema;
}

static json_t *map_of(json_t *values, const char *help)
{
    json_t *schema = type_of("object", help);
    json_object_set_new(schema, "additionalProperties", values);
    return schema;
}

static json_t *list_of(json_t *items, const char *help)
{
    json_t *schema = type_of("array", help);
    json_object_set_new(schema, "items", items);
    return schema;
}

static json_t *either(json_t *a, json_t *b)
{
    json_t *schema = json_object(), *both = json_array();
    json_array_append_new(both, a);
    json_array_append_new(both, b);
    json_object_set_new(schema, "anyOf", both);
    return schema;
}

static json_t *object_of(json_t *properties, const char *required)
{
    json_t *schema = type_of("object", NULL), *names = json_array();
    char word[64];
    for (size_t i = 0; word_at(required, i, word, sizeof word); i++)
        json_array_append_new(names, json_string(word));
    json_object_set_new(schema, "properties", properties);
    if (json_array_size(names) > 0)
        json_object_set(schema, "required", names);
    json_decref(names);
    json_object_set_new(schema, "additionalProperties", json_false());
    return schema;
}

typedef const char *NameFn(unsigned i);

static json_t *words_of(NameFn *name)
{
    json_t *schema = type_of("string", NULL), *words = json_array();
    for (unsigned i = 0; name(i); i++)
        json_array_append_new(words, json_string(name(i)));
    json_object_set_new(schema, "enum", words);
    return schema;
}

static const char *kind_name(unsigned i)
{
    return i < PHASE_KIND_COUNT ? phase_kind_word((PhaseKind)i) : NULL;
}

static const char *state_name(unsigned i)
{
    return i < TASK_STATE_COUNT ? task_state_word((TaskState)i) : NULL;
}

static const char *action_name(unsigned i)
{
    return i + 1 < ACTION_COUNT ? action_word((Action)(i + 1)) : NULL;
}

static const char *answer_name(unsigned i)
{
    return i < ANSWER_KIND_COUNT ? answer_kind_word((AnswerKind)i) : NULL;
}

static const char *guard_word(unsigned i)
{
    return guard_name(i, NULL);
}

static const char *flow_name(unsigned i)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    return i < count ? all[i]->name : NULL;
}

static json_t *phase_schema(void)
{
    json_t *p = json_object();
    json_object_set_new(p, "kind", words_of(kind_name));
    json_object_set_new(p, "prompt", type_of("string", "name of the prompt file"));
    json_object_set_new(p, "tier",
                        type_of("string", "heavy, medium or light; empty: the task's own"));
    json_object_set_new(p, "fresh", type_of("boolean", "starts a new conversation"));
    json_object_set_new(p, "results",
                        list_of(type_of("string", NULL), "words that it may end with"));
    json_object_set_new(p, "answer", words_of(answer_name));
    json_object_set_new(p, "checkpoint",
                        type_of("string", "at which it is entered by short routes"));
    json_object_set_new(p, "status", type_of("string", "of the task while it runs; = keeps"));
    json_object_set_new(p, "help", type_of("string", NULL));
    return object_of(p, "");
}

/* Texts by name, then what every row has. */
static json_t *row_schema(const char *texts, const char *required)
{
    json_t *p = json_object();
    char word[64];
    for (size_t i = 0; word_at(texts, i, word, sizeof word); i++)
        json_object_set_new(p, word, type_of("string", NULL));
    json_object_set_new(p, "guard",
                        either(type_of("string", "words separated by single spaces"),
                               list_of(words_of(guard_word), "all must hold")));
    json_object_set_new(p, "effects", list_of(words_of(action_name), NULL));
    return object_of(p, required);
}

static json_t *routes_schema(void)
{
    json_t *row =
        row_schema("id checkpoint status next to_checkpoint to_status to_substate why", "next");
    json_t *full =
        row_schema("id phase checkpoint result status next to_checkpoint to_status to_substate why",
                   "phase next");
    json_object_set_new(json_object_get(row, "properties"), "ends", words_of(state_name));
    json_object_set_new(json_object_get(full, "properties"), "ends", words_of(state_name));
    return either(
        list_of(full, "rows; the first that fits decides"),
        map_of(map_of(either(type_of("string", "a phase, or a state to stop in"), row), NULL),
               "phase: {result: next}"));
}

static json_t *status_schema(void)
{
    json_t *p = json_object();
    json_object_set_new(p, "ends", words_of(state_name));
    json_object_set_new(p, "rank",
                        type_of("integer", "order for dependencies with a minimum status"));
    json_object_set_new(p, "final", type_of("boolean", "nothing leads away from it"));
    json_object_set_new(p, "help", type_of("string", NULL));
    return object_of(p, "");
}

static json_t *limit_schema(void)
{
    json_t *p = json_object(), *number = type_of("integer", NULL);
    json_object_set_new(number, "minimum", json_integer(0));
    json_object_set(p, "value", number);
    json_object_set_new(p, "retry", type_of("boolean", "counts retries of a checkpoint"));
    json_object_set_new(p, "help", type_of("string", NULL));
    return either(number, object_of(p, "value"));
}

static json_t *entry_schema(void)
{
    json_t *row =
        row_schema("id status substate next checkpoint to_status to_substate why", "next");
    json_object_set_new(json_object_get(row, "properties"), "ends", words_of(state_name));
    return row;
}

static json_t *command_schema(void)
{
    json_t *row =
        row_schema("id command status checkpoint result to_status to_substate next why", "command");
    json_object_set_new(json_object_get(row, "properties"), "allowed",
                        type_of("boolean", "false: refused"));
    return row;
}

static json_t *threshold_schema(void)
{
    json_t *number = type_of("number", NULL);
    json_object_set_new(number, "minimum", json_integer(0));
    json_object_set_new(number, "maximum", json_integer(1));
    return number;
}

void workflow_schema(Str *out)
{
    json_t *p = json_object();
    json_object_set_new(p, "name", type_of("string", "of the workflow"));
    json_object_set_new(p, "help", type_of("string", "one line about it"));
    json_object_set_new(p, "extends", words_of(flow_name));
    json_object_set_new(p, "first_status", type_of("string", "of a new task"));
    json_object_set_new(p, "phases", map_of(phase_schema(), "in their order"));
    json_object_set_new(
        p, "statuses",
        map_of(either(type_of("string", NULL), status_schema()), "instead of the states of tasks"));
    json_object_set_new(p, "checkpoints", map_of(type_of("string", NULL), NULL));
    json_object_set_new(p, "commands", map_of(type_of("string", NULL), NULL));
    json_object_set_new(p, "limits", map_of(limit_schema(), NULL));
    json_object_set_new(p, "thresholds", map_of(threshold_schema(), NULL));
    json_object_set_new(p, "hooks", map_of(type_of("string", NULL), "status: command"));
    json_object_set_new(p, "entries", list_of(entry_schema(), NULL));
    json_object_set_new(p, "routes", routes_schema());
    json_object_set_new(p, "transitions", list_of(command_schema(), NULL));
    CLEANUP(json_freep) json_t *schema = object_of(p, "name");
    json_object_set_new(schema, "$schema",
                        json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_string("Workflow of otto"));
    char *text = json_write_pretty(schema);
    str_add(out, text);
    if (!text_ends(text, "\n"))
        str_add_char(out, '\n');
    mem_freep(&text);
}
