/* Reading the rows of a workflow file: entries, routes, commands. */
#include "core/types.h"
#include "core/workflow_file_parts.h"
#include <stdio.h>
#include <string.h>

/* Texts of a row by key: one table for each kind of row. */
typedef struct RowField {
    const char *key;
    size_t offset;
    const char *fallback; /* NULL: must be given */
} RowField;

#define FIELD(type, key, member, fallback)                                                         \
    {                                                                                              \
        key, offsetof(type, member), fallback                                                      \
    }

/* clang-format off */
static const RowField entry_fields[] = {
  FIELD(WorkflowEntry, "id",          id,          ""),
  FIELD(WorkflowEntry, "status",      status,      WF_ANY),
  FIELD(WorkflowEntry, "substate",    substate,    WF_ANY),
  FIELD(WorkflowEntry, "next",        next,        NULL),
  FIELD(WorkflowEntry, "checkpoint",  checkpoint,  WF_NONE),
  FIELD(WorkflowEntry, "to_status",   to_status,   WF_KEEP),
  FIELD(WorkflowEntry, "to_substate", to_substate, WF_NONE),
  FIELD(WorkflowEntry, "why",         why,         ""),
  FIELD(WorkflowEntry, "ends",        ends,        ""),
};
static const RowField route_fields[] = {
  FIELD(WorkflowRoute, "id",            id,            ""),
  FIELD(WorkflowRoute, "phase",         phase,         NULL),
  FIELD(WorkflowRoute, "checkpoint",    checkpoint,    WF_ANY),
  FIELD(WorkflowRoute, "result",        result,        WF_ANY),
  FIELD(WorkflowRoute, "status",        status,        WF_ANY),
  FIELD(WorkflowRoute, "next",          next,          NULL),
  FIELD(WorkflowRoute, "to_checkpoint", to_checkpoint, ""),
  FIELD(WorkflowRoute, "to_status",     to_status,     ""), /* by the mode: see route_aim */
  FIELD(WorkflowRoute, "to_substate",   to_substate,   WF_NONE),
  FIELD(WorkflowRoute, "why",           why,           ""),
  FIELD(WorkflowRoute, "ends",          ends,          ""),
};
static const RowField command_fields[] = {
  FIELD(WorkflowCommand, "id",          id,          ""),
  FIELD(WorkflowCommand, "command",     command,     NULL),
  FIELD(WorkflowCommand, "status",      status,      WF_ANY),
  FIELD(WorkflowCommand, "checkpoint",  checkpoint,  WF_ANY),
  FIELD(WorkflowCommand, "result",      result,      WF_ANY),
  FIELD(WorkflowCommand, "to_status",   to_status,   WF_KEEP),
  FIELD(WorkflowCommand, "to_substate", to_substate, WF_KEEP),
  FIELD(WorkflowCommand, "why",         why,         ""),
  FIELD(WorkflowCommand, "next",        next,        ""),
};
/* clang-format on */

static const char **text_in(void *row, size_t offset)
{
    return (const char **)(void *)((char *)row + offset);
}

static bool read_row_keys(Reader *reader, const char *path, const json_t *object,
                          const RowField *fields, size_t count, const char *extra)
{
    const char *keys[24] = {0};
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        keys[used++] = fields[i].key;
    keys[used++] = "guard";
    keys[used++] = "effects";
    if (extra)
        keys[used++] = extra;
    return read_keys(reader, path, object, keys);
}

static bool read_guard(Reader *reader, const char *path, const json_t *object, const char **out)
{
    const json_t *value = json_object_get(object, "guard");
    CLEANUP(str_done) Str all = STR_INIT;
    const char *where = read_path(reader, "%s.guard", path);
    *out = "";
    if (!value || json_is_null(value))
        return true;
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value) && i < 16; i++) {
            const char *word = json_string_value(json_array_get(value, i));
            str_addf(&all, "%s%s", i ? " " : "", word ? word : "?");
        }
    } else if (json_is_string(value)) {
        str_add(&all, json_string_value(value));
    } else {
        return read_bad(reader, where, "must be a word or a list of words");
    }
    if (!guard_is_known(str_text(&all))) {
        const char *names[64] = {0};
        for (size_t i = 0; i < COUNT(names) - 1 && guard_name(i, NULL); i++)
            names[i] = guard_name(i, NULL);
        return read_unknown(reader, where, "guard", str_text(&all), word_of_list, names);
    }
    *out = arena_strdup(reader->arena, str_text(&all));
    return true;
}

static bool read_effects(Reader *reader, const char *path, const json_t *object, Action *out)
{
    const json_t *list = json_object_get(object, "effects");
    const char *where = read_path(reader, "%s.effects", path);
    if (!list || json_is_null(list))
        return true;
    if (!json_is_array(list) || json_array_size(list) > ACTIONS_MAX)
        return read_bad(reader, where, "must be a list of up to %d words", ACTIONS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (word && action_find(word, &out[i]) && out[i] != ACTION_NONE)
            continue;
        const char *names[ACTION_COUNT + 1] = {0};
        for (unsigned k = 1; k < ACTION_COUNT; k++)
            names[k - 1] = action_word((Action)k);
        return read_unknown(reader, read_path(reader, "%s[%zu]", where, i), "effect",
                            word ? word : "?", word_of_list, names);
    }
    return true;
}

static bool read_row(Reader *reader, const char *path, const json_t *object, const RowField *fields,
                     size_t count, void *row)
{
    for (size_t i = 0; i < count; i++) {
        const char **text = text_in(row, fields[i].offset);
        if (!*text)
            *text = fields[i].fallback;
        if (!read_text(reader, path, object, fields[i].key, text))
            return false;
        if (!*text)
            return read_bad(reader, path, "'%s' is missing", fields[i].key);
    }
    return true;
}

/* Words of rows */

static bool is_special(const char *word)
{
    return !strcmp(word, WF_ANY) || !strcmp(word, WF_NONE) || !strcmp(word, WF_KEEP);
}

static bool know_status(Reader *reader, const char *path, const char *key, const char *word)
{
    if (is_special(word) || workflow_has_status(&reader->flow, word))
        return true;
    return read_unknown(reader, read_path(reader, "%s.%s", path, key), "status", word,
                        word_of_status, &reader->statuses);
}

static bool know_checkpoint(Reader *reader, const char *path, const char *key, const char *word)
{
    if (is_special(word))
        return true;
    for (unsigned i = 0; i < reader->checkpoints.count; i++) {
        if (text_equal(word_of_checkpoint(&reader->checkpoints, i), word))
            return true;
    }
    return read_unknown(reader, read_path(reader, "%s.%s", path, key), "checkpoint", word,
                        word_of_checkpoint, &reader->checkpoints);
}

static bool know_next(Reader *reader, const char *path, const char *word)
{
    if (!strcmp(word, WF_STOP) || !strcmp(word, WF_ROLLBACK) || workflow_phase(&reader->flow, word))
        return true;
    return read_unknown(reader, read_path(reader, "%s.next", path), "phase", word, word_of_phase,
                        &reader->phases);
}

static bool know_ends(Reader *reader, const char *path, const char *word)
{
    TaskState state;
    if (!*word || task_state_find(word, &state))
        return true;
    const char *names[TASK_STATE_COUNT + 1] = {0};
    for (unsigned i = 0; i < TASK_STATE_COUNT; i++)
        names[i] = task_state_word((TaskState)i);
    return read_unknown(reader, read_path(reader, "%s.ends", path), "state of a task", word,
                        word_of_list, names);
}

static bool know_result(Reader *reader, const char *path, const WorkflowPhase *phase,
                        const char *word)
{
    if (!phase || !strcmp(word, WF_ANY) || phase_has_result(phase, word))
        return true;
    const char *words[WORKFLOW_WORDS_MAX + 1] = {0};
    char one[WORKFLOW_NAME_MAX + 1];
    for (size_t i = 0; i < WORKFLOW_WORDS_MAX && word_at(phase->results, i, one, sizeof one); i++)
        words[i] = arena_strdup(reader->arena, one);
    return read_unknown(reader, path, "result", word, word_of_list, words);
}

/* A row goes in the place of the one with its id, else before the rows of the base. */
static bool put_row(Reader *reader, const char *path, Rows *rows, unsigned *own, const void *row,
                    const char *id)
{
    for (unsigned i = 0; i < rows->count; i++) { /* the id is the first member of every row */
        if (strcmp(*(const char **)rows_at(rows, i), id) != 0)
            continue;
        if (i < *own)
            return read_bad(reader, path, "two rows have the id '%.60s'", id);
        rows_set(rows, i, row);
        return true;
    }
    if (rows->count >= WORKFLOW_ROWS_MAX)
        return read_bad(reader, path, "there are more than %d rows", WORKFLOW_ROWS_MAX);
    rows_insert(reader, rows, (*own)++, row);
    return true;
}

static bool id_is_taken(const Rows *rows, const char *id)
{
    for (unsigned i = 0; i < rows->count; i++) {
        if (strcmp(*(const char **)rows_at(rows, i), id) == 0)
            return true;
    }
    return false;
}

/* "PHASE-result", with a number when that is taken. */
static const char *fresh_id(Reader *reader, const char *head, const char *tail)
{
    const char *plain = row_id_of(reader, head, tail), *id = plain;
    for (unsigned n = 2; id_is_taken(&reader->routes, id) || id_is_taken(&reader->entries, id) ||
                         id_is_taken(&reader->transitions, id);
         n++)
        id = arena_printf(reader->arena, "%s-%u", plain, n);
    return id;
}

/* Entries */

static bool read_entry(Reader *reader, const char *path, const json_t *object, unsigned *own)
{
    WorkflowEntry row = {0};
    if (!read_row_keys(reader, path, object, entry_fields, COUNT(entry_fields), NULL) ||
        !read_row(reader, path, object, entry_fields, COUNT(entry_fields), &row) ||
        !read_guard(reader, path, object, &row.guard) ||
        !read_effects(reader, path, object, row.actions) ||
        !know_status(reader, path, "status", row.status) ||
        !know_status(reader, path, "to_status", row.to_status) ||
        !know_checkpoint(reader, path, "checkpoint", row.checkpoint) ||
        !know_next(reader, path, row.next) || !know_ends(reader, path, row.ends))
        return false;
    if (!*row.id)
        row.id = fresh_id(reader, "enter", row.status);
    if (!*row.why)
        row.why = arena_printf(reader->arena, "the status %s begins with %s", row.status, row.next);
    return put_row(reader, path, &reader->entries, own, &row, row.id);
}

bool read_entries(Reader *reader)
{
    const json_t *list = json_object_get(reader->root, "entries");
    unsigned own = 0;
    if (!list)
        return true;
    if (!json_is_array(list))
        return read_bad(reader, "entries", "must be a list of rows");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_entry(reader, read_path(reader, "entries[%zu]", i), json_array_get(list, i),
                        &own))
            return false;
    }
    reader_publish(reader);
    return true;
}

/* Routes */

static void say_why(Reader *reader, WorkflowRoute *row)
{
    if (*row->why)
        return;
    const char *to = *row->ends && !strcmp(row->next, WF_STOP)           ? row->ends
                     : reader->has_states && !strcmp(row->next, WF_STOP) ? row->to_status
                                                                         : row->next;
    row->why = arena_printf(reader->arena, "%s of %s leads to %s", row->result, row->phase, to);
}

static bool know_route(Reader *reader, const char *path, const WorkflowRoute *row)
{
    const WorkflowPhase *phase = workflow_phase(&reader->flow, row->phase);
    if (!phase && strcmp(row->phase, WF_ANY) != 0)
        return read_unknown(reader, read_path(reader, "%s.phase", path), "phase", row->phase,
                            word_of_phase, &reader->phases);
    return know_result(reader, read_path(reader, "%s.result", path), phase, row->result) &&
           know_status(reader, path, "status", row->status) &&
           know_status(reader, path, "to_status", row->to_status) &&
           know_checkpoint(reader, path, "checkpoint", row->checkpoint) &&
           know_checkpoint(reader, path, "to_checkpoint", row->to_checkpoint) &&
           know_ends(reader, path, row->ends);
}

/* Fills a row from its map; phase and result may be set already. */
static bool read_route_row(Reader *reader, const char *path, const json_t *object,
                           WorkflowRoute *row)
{
    if (!read_row_keys(reader, path, object, route_fields, COUNT(route_fields), NULL) ||
        !read_row(reader, path, object, route_fields, COUNT(route_fields), row) ||
        !read_guard(reader, path, object, &row->guard) ||
        !read_effects(reader, path, object, row->actions))
        return false;
    if (!route_aim(reader, path, row, json_object_get(object, "effects") != NULL))
        return false;
    if (!know_route(reader, path, row))
        return false;
    if (!*row->id)
        row->id = fresh_id(reader, strcmp(row->phase, WF_ANY) ? row->phase : "any", row->result);
    say_why(reader, row);
    return true;
}

static bool read_route_list(Reader *reader, const json_t *list)
{
    unsigned own = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path = read_path(reader, "routes[%zu]", i);
        WorkflowRoute row = {0};
        if (!read_route_row(reader, path, json_array_get(list, i), &row) ||
            !put_row(reader, path, &reader->routes, &own, &row, row.id))
            return false;
    }
    return true;
}

/* A short row stands for everything that the base had said about this result. */
static void drop_base_rows(Reader *reader, const char *phase, const char *result)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < reader->routes.count; i++) {
        const WorkflowRoute *row = rows_at(&reader->routes, i);
        if (strcmp(row->phase, phase) != 0 || strcmp(row->result, result) != 0)
            rows_set(&reader->routes, kept++, row); /* in place, or downwards */
    }
    reader->routes.count = kept;
}

/* `result: next`, or `result: {next: …, guard: …}`. */
static bool read_short_route(Reader *reader, const WorkflowPhase *phase, const char *result,
                             const json_t *value)
{
    const char *path = read_path(reader, "routes.%s.%.60s", phase->name, result);
    WorkflowRoute row = {.phase = phase->name, .result = arena_strdup(reader->arena, result)};
    CLEANUP(json_freep) json_t *map = json_is_string(value) ? json_object() : NULL;
    if (map)
        json_object_set(map, "next", (json_t *)(uintptr_t)value);
    else if (!json_is_object(value))
        return read_bad(reader, path, "must be a phase, a state, or a map with 'next'");
    const json_t *object = map ? map : value;
    if (!know_result(reader, path, phase, result))
        return false;
    drop_base_rows(reader, phase->name, result);
    if (!read_route_row(reader, path, object, &row))
        return false;
    route_add_short(reader, row);
    return true;
}

static bool read_route_map(Reader *reader, const json_t *map)
{
    const char *name, *result;
    json_t *results, *value;
    json_object_foreach((json_t *)(uintptr_t)map, name, results)
    {
        const char *path = read_path(reader, "routes.%.60s", name);
        const WorkflowPhase *phase = workflow_phase(&reader->flow, name);
        if (!phase)
            return read_unknown(reader, path, "phase", name, word_of_phase, &reader->phases);
        if (!json_is_object(results) || json_object_size(results) > WORKFLOW_WORDS_MAX)
            return read_bad(reader, path, "must be a map of results, for example '{pass: merge}'");
        json_object_foreach(results, result, value)
        {
            if (!read_short_route(reader, phase, result, value))
                return false;
        }
    }
    return true;
}

bool read_routes(Reader *reader)
{
    const json_t *routes = json_object_get(reader->root, "routes");
    if (routes && !json_is_array(routes) && !json_is_object(routes))
        return read_bad(reader, "routes", "must be a list of rows or a map of phases");
    if (routes &&
        !(json_is_array(routes) ? read_route_list(reader, routes) : read_route_map(reader, routes)))
        return false;
    reader_publish(reader);
    return true;
}

/* Commands */

static bool read_transition(Reader *reader, const char *path, const json_t *object, unsigned *own)
{
    WorkflowCommand row = {.is_allowed = true};
    if (!read_row_keys(reader, path, object, command_fields, COUNT(command_fields), "allowed") ||
        !read_row(reader, path, object, command_fields, COUNT(command_fields), &row) ||
        !read_guard(reader, path, object, &row.guard) ||
        !read_effects(reader, path, object, row.actions) ||
        !read_flag(reader, path, object, "allowed", &row.is_allowed) ||
        !know_status(reader, path, "status", row.status) ||
        !know_status(reader, path, "to_status", row.to_status) ||
        !know_checkpoint(reader, path, "checkpoint", row.checkpoint) ||
        (*row.next && !know_next(reader, path, row.next)))
        return false;
    if (!workflow_has_command(&reader->flow, row.command))
        return read_unknown(reader, read_path(reader, "%s.command", path), "command", row.command,
                            word_of_command, &reader->commands);
    if (!*row.id)
        row.id = fresh_id(reader, row.command, row.status);
    if (!*row.why)
        row.why = arena_printf(reader->arena, "%s is %s in %s", row.command,
                               row.is_allowed ? "allowed" : "refused",
                               strcmp(row.status, WF_ANY) ? row.status : "every other status");
    return put_row(reader, path, &reader->transitions, own, &row, row.id);
}

bool read_transitions(Reader *reader)
{
    const json_t *list = json_object_get(reader->root, "transitions");
    unsigned own = 0;
    if (!list)
        return true;
    if (!json_is_array(list))
        return read_bad(reader, "transitions", "must be a list of rows");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path = read_path(reader, "transitions[%zu]", i);
        if (!read_transition(reader, path, json_array_get(list, i), &own))
            return false;
    }
    reader_publish(reader);
    return true;
}
