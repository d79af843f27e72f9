/* Scenarios: which turn is played. See scenario.h.
 *
 * A task is found by key, title, "*", or nothing (the top of the file); the first of these that has
 * turns for the phase, the conflict, the attempt or the turn is taken. */
#include "agent/scenario.h"

/* From 1; past the end the last is repeated. */
static const json_t *nth(const json_t *list, int64_t number, Str *path)
{
    size_t count = json_array_size(list);
    size_t index = number < 1 ? 0 : (size_t)number - 1;
    if (!count)
        return NULL;
    index = MIN(index, count - 1);
    str_addf(path, "[%zu]", index);
    return json_array_get(list, index);
}

/* The turns of the phase at this checkpoint, or those of the phase. */
static const json_t *find_phase(const json_t *map, const char *prefix, const ScenarioTask *task,
                                Str *path)
{
    const json_t *phases = json_object_get(map, "phases"), *turns = NULL;
    CLEANUP(str_done) Str key = STR_INIT;
    int64_t number = task->visit_checkpoint;
    if (!phases || !task->phase)
        return NULL;
    if (task->checkpoint) {
        str_addf(&key, "%s@%s", task->phase, task->checkpoint);
        turns = json_object_get(phases, str_text(&key));
    }
    if (!turns) {
        str_clear(&key);
        str_add(&key, task->phase);
        turns = json_object_get(phases, task->phase);
        number = task->visit;
    }
    str_clear(path);
    str_addf(path, "%s%sphases.%s", prefix, *prefix ? "." : "", str_text(&key));
    return turns ? nth(turns, number, path) : NULL;
}

static const json_t *find_in(const json_t *map, const char *prefix, const ScenarioTask *task,
                             Str *path)
{
    const json_t *list;
    bool is_conflict = text_equal(task->checkpoint, "conflict");
    const json_t *steps = find_phase(map, prefix, task, path);
    if (steps)
        return steps;
    str_clear(path);
    str_add(path, prefix);
    if (json_is_array(map))
        return is_conflict ? NULL : nth(map, task->turn, path);
    if (is_conflict) {
        str_add(path, *prefix ? ".on_conflict" : "on_conflict");
        return nth(json_object_get(map, "on_conflict"), task->tries, path);
    }
    if ((list = json_object_get(map, "attempts"))) {
        str_add(path, *prefix ? ".attempts" : "attempts");
        return nth(nth(list, task->attempt, path), task->turn, path);
    }
    str_add(path, *prefix ? ".turns" : "turns");
    return nth(json_object_get(map, "turns"), task->turn, path);
}

static const json_t *find_named(const json_t *tasks, const char *name, const ScenarioTask *task,
                                Str *path)
{
    const json_t *entry = name ? json_object_get(tasks, name) : NULL;
    CLEANUP(str_done) Str prefix = STR_INIT;
    str_addf(&prefix, "tasks.%s", name ? name : "");
    return entry ? find_in(entry, str_text(&prefix), task, path) : NULL;
}

const json_t *scenario_find(const YamlDoc *doc, const ScenarioTask *task, Str *path)
{
    const json_t *tasks = json_object_get(doc->root, "tasks");
    const char *const names[] = {task->key, task->title, "*"};
    const json_t *steps = NULL;
    for (size_t i = 0; i < COUNT(names) && !steps; i++)
        steps = find_named(tasks, names[i], task, path);
    if (!steps)
        steps = find_in(doc->root, "", task, path);
    if (steps || !text_equal(task->checkpoint, "conflict"))
        return steps;
    /* Nothing is said about conflicts: the agent does what it does at any turn. */
    ScenarioTask plain = *task;
    plain.checkpoint = NULL;
    return scenario_find(doc, &plain, path);
}
