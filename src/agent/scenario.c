/* Scenarios: checking. See scenario.h; the choice of a turn is in scenario_find.c. */
#include "agent/scenario.h"

static const StepRow *row_find(const char *name)
{
    size_t count;
    const StepRow *rows = scenario_steps(&count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static int line_of(const YamlDoc *doc, const char *path)
{
    int line = yaml_line(doc, path);
    return line ? line : 1;
}

static bool bad(const YamlDoc *doc, const char *path, Err *err, const char *what)
{
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_safe(&safe, what, strlen(what), false);
    return err_set(err, ERR_USAGE, "line %d: %s", line_of(doc, path), str_text(&safe));
}

static bool unknown(const YamlDoc *doc, const char *path, const char *what, const char *name,
                    const char *const *known, size_t count, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    const char *near = text_nearest(name, known, count);
    str_addf(&text, "unknown %s '%.60s'", what, name);
    if (near)
        str_addf(&text, ", did you mean '%s'?", near);
    return bad(doc, path, err, str_text(&text));
}

static bool unknown_step(const YamlDoc *doc, const char *path, const char *name, Err *err)
{
    const char *known[STEP_COUNT];
    size_t count;
    const StepRow *rows = scenario_steps(&count);
    for (size_t i = 0; i < count; i++)
        known[i] = rows[i].name;
    return unknown(doc, path, "step", name, known, count, err);
}

static bool read_field(const YamlDoc *doc, const StepRow *row, const char *key, const json_t *value,
                       const char *path, Arena *arena, StepArgs *args, Err *err)
{
    CLEANUP(str_done) Str allowed = STR_INIT;
    const Field *field = field_find((FieldTable){row->fields, row->count}, key);
    const char *what;
    if (!field) {
        field_suggest((FieldTable){row->fields, row->count}, "", key, &allowed);
        what = arena_printf(arena, "%s: unknown key '%.60s'%s", row->name, key, str_text(&allowed));
        return bad(doc, path, err, what);
    }
    if (!field_read(field, value, args, arena, &allowed)) {
        what = arena_printf(arena, "%s: %s must be %s", row->name, key, str_text(&allowed));
        return bad(doc, path, err, what);
    }
    args->has_text = args->has_text || text_equal(key, "text");
    args->has_append = args->has_append || text_equal(key, "append");
    return true;
}

static bool has_needed(const StepRow *row, const json_t *value)
{
    if (!row->needs || !json_is_object(value))
        return true; /* a plain value stands for the needed key */
    for (const char *at = row->needs; *at; at += strspn(at, " ")) {
        char key[32];
        size_t length = strcspn(at, " ");
        (void)snprintf(key, sizeof key, "%.*s", (int)length, at); /* our own short words */
        if (json_object_get(value, key))
            return true;
        at += length;
    }
    return false;
}

/* A value of any content. A plain text is taken as it is: that is how broken JSON gets out. */
static bool read_whole(const YamlDoc *doc, const StepRow *row, const json_t *value,
                       const char *path, Arena *arena, StepArgs *args, Err *err)
{
    args->whole = value;
    return json_is_object(value) || json_is_string(value) ||
           bad(doc, path, err, arena_printf(arena, "%s: needs a map, or a text", row->name));
}

static bool read_args(const YamlDoc *doc, const StepRow *row, const json_t *value, const char *path,
                      Arena *arena, StepArgs *args, Err *err)
{
    if (!row->fields)
        return read_whole(doc, row, value, path, arena, args, err);
    field_defaults((FieldTable){row->fields, row->count}, args, arena);
    if (!json_is_object(value)) {
        if (!row->lone)
            return bad(doc, path, err,
                       arena_printf(arena, "%s: needs a map of keys and values", row->name));
        return read_field(doc, row, row->lone, value, path, arena, args, err);
    }
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)value, key, item)
    {
        const char *below = arena_printf(arena, "%s.%s", path, key);
        if (!read_field(doc, row, key, item, below, arena, args, err))
            return false;
    }
    bool has_place = row->kind != STEP_WRITE || args->path;
    if (!has_needed(row, value) || !has_place)
        return bad(doc, path, err,
                   arena_printf(arena, "%s: one of these keys is needed: %s%s", row->name,
                                has_place ? "" : "path; ", row->needs));
    return true;
}

static const char *check_via(const char *text)
{
    return text_equal(text, "tag") || text_equal(text, "command") ? NULL : "tag or command";
}

/* What may stand beside any step: {if_exists: a.txt, say: again}; via beside an answer. */
static const struct Beside {
    const char *key;
    size_t offset; /* into StepArgs */
    const char *(*check)(const char *text);
    const char *must;
} besides[] = {
    {"if_exists", offsetof(StepArgs, if_exists), field_check_inside,
     "must be a relative path inside the workspace"},
    {"if_missing", offsetof(StepArgs, if_missing), field_check_inside,
     "must be a relative path inside the workspace"},
    {"via", offsetof(StepArgs, via), check_via, "must be one of tag, command"},
};

static const struct Beside *beside_find(const char *key)
{
    for (size_t i = 0; i < COUNT(besides); i++)
        if (text_equal(besides[i].key, key))
            return &besides[i];
    return NULL;
}

static bool read_beside(const YamlDoc *doc, const struct Beside *beside, const json_t *value,
                        const char *path, Arena *arena, StepArgs *args, Err *err)
{
    const char *text = json_string_value(value);
    if (!text || beside->check(text))
        return bad(doc, path, err, arena_printf(arena, "%s: %s", beside->key, beside->must));
    const char **member = (const char **)((char *)args + beside->offset);
    *member = arena_strdup(arena, text);
    return true;
}

/* The keys beside the step come last, for the step's own defaults must not undo them. */
static bool read_besides(const YamlDoc *doc, const json_t *step, const char *path, Arena *arena,
                         const StepRow *row, StepArgs *args, Err *err)
{
    for (size_t i = 0; i < COUNT(besides); i++) {
        const struct Beside *beside = &besides[i];
        const json_t *value = json_object_get(step, beside->key);
        const char *below = arena_printf(arena, "%s.%s", path, beside->key);
        if (value && text_equal(beside->key, "via") && row->kind != STEP_ANSWER)
            return bad(doc, below, err, "via: stands beside an answer; here it is a key of signal");
        if (value && !read_beside(doc, beside, value, below, arena, args, err))
            return false;
    }
    return true;
}

bool scenario_step(const YamlDoc *doc, const json_t *step, const char *path, Arena *arena,
                   const StepRow **row, StepArgs *args, Err *err)
{
    *args = (StepArgs){0};
    *row = NULL;
    if (!json_is_object(step))
        return bad(doc, path, err, "a step is a map with one step in it, such as {say: hello}");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)step, key, value)
    {
        const char *below = arena_printf(arena, "%s.%s", path, key);
        const StepRow *found = row_find(key);
        if (beside_find(key))
            continue;
        if (!found)
            return unknown_step(doc, below, key, err);
        if (*row)
            return bad(doc, below, err, "only one step may stand in a map; begin the next with -");
        *row = found;
        if (!read_args(doc, found, value, below, arena, args, err))
            return false;
    }
    if (!*row)
        return bad(doc, path, err, "a condition needs a step beside it");
    return read_besides(doc, step, path, arena, *row, args, err);
}

static bool check_turns(const YamlDoc *doc, const json_t *turns, const char *path, Err *err)
{
    if (!json_is_array(turns) || !json_array_size(turns))
        return bad(doc, path, err, "a list of at least one turn is needed");
    for (size_t i = 0; i < json_array_size(turns); i++) {
        CLEANUP(arena_done) Arena arena = ARENA_INIT;
        const json_t *turn = json_array_get(turns, i);
        const char *turn_path = arena_printf(&arena, "%s[%zu]", path, i);
        if (!json_is_array(turn))
            return bad(doc, turn_path, err, "a turn is a list of steps");
        for (size_t j = 0; j < json_array_size(turn); j++) {
            const StepRow *row;
            StepArgs args;
            if (!scenario_step(doc, json_array_get(turn, j),
                               arena_printf(&arena, "%s[%zu]", turn_path, j), &arena, &row, &args,
                               err))
                return false;
        }
    }
    return true;
}

static bool check_attempts(const YamlDoc *doc, const json_t *attempts, const char *path, Err *err)
{
    if (!json_is_array(attempts) || !json_array_size(attempts))
        return bad(doc, path, err, "a list of attempts is needed, each a list of turns");
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        CLEANUP(str_done) Str below = STR_INIT;
        str_addf(&below, "%s[%zu]", path, i);
        if (!check_turns(doc, json_array_get(attempts, i), str_text(&below), err))
            return false;
    }
    return true;
}

/* {plan: [turns], check@post-plan: [turns]} */
static bool check_phases(const YamlDoc *doc, const json_t *phases, const char *path, Err *err)
{
    if (!json_is_object(phases))
        return bad(doc, path, err, "a map from phases to turns is needed");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)phases, name, value)
    {
        CLEANUP(str_done) Str below = STR_INIT;
        const char *at = strchr(name, '@');
        str_addf(&below, "%s.%s", path, name);
        if (!*name || at == name || (at && !at[1]))
            return bad(doc, str_text(&below), err, "a phase is written PHASE or PHASE@CHECKPOINT");
        if (!check_turns(doc, value, str_text(&below), err))
            return false;
    }
    return true;
}

static bool check_tasks(const YamlDoc *doc, const json_t *tasks, const char *path, Err *err);

/* What may stand in a map of turns: at the top, and below the name of a task. */
static const struct {
    const char *key;
    bool top_only;
    bool (*check)(const YamlDoc *, const json_t *, const char *, Err *);
} parts[] = {
    {"turns", false, check_turns},       {"attempts", false, check_attempts},
    {"on_conflict", false, check_turns}, {"phases", false, check_phases},
    {"tasks", true, check_tasks},
};

static bool check_parts(const YamlDoc *doc, const json_t *map, const char *path, Err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        CLEANUP(str_done) Str below = STR_INIT;
        str_addf(&below, "%s%s%s", path, *path ? "." : "", key);
        const char *known[COUNT(parts)];
        size_t count = 0, found = COUNT(parts);
        for (size_t i = 0; i < COUNT(parts); i++) {
            if (parts[i].top_only && *path)
                continue;
            known[count++] = parts[i].key;
            if (text_equal(parts[i].key, key))
                found = i;
        }
        if (found == COUNT(parts))
            return unknown(doc, str_text(&below), "key", key, known, count, err);
        if (!parts[found].check(doc, value, str_text(&below), err))
            return false;
    }
    return true;
}

static bool check_tasks(const YamlDoc *doc, const json_t *tasks, const char *path, Err *err)
{
    if (!json_is_object(tasks))
        return bad(doc, path, err, "a map from task keys or titles to turns is needed");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)tasks, name, value)
    {
        CLEANUP(str_done) Str below = STR_INIT;
        str_addf(&below, "%s.%s", path, name);
        bool is_good = json_is_object(value) ? check_parts(doc, value, str_text(&below), err)
                                             : check_turns(doc, value, str_text(&below), err);
        if (!is_good)
            return false;
    }
    return true;
}

bool scenario_check(const YamlDoc *doc, Err *err)
{
    if (!json_is_object(doc->root))
        return err_set(err, ERR_USAGE, "line 1: a scenario is a map with 'turns' or 'tasks'");
    return check_parts(doc, doc->root, "", err);
}
