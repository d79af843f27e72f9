/* Settings: reading the file by the rows. See settings.h. */
#include "core/settings.h"
#include "core/settings_parts.h"

enum { MOST_AGENTS = 64, MOST_VERIFY = 64, MOST_TIMEOUT_S = 86400 };

static const char *path_below(SettingsReader *reader, const char *path, const char *key)
{
    return arena_printf(&reader->problems->arena, "%s%s%.200s", path, *path ? "." : "", key);
}

static bool read_field(SettingsReader *reader, const Field *field, const json_t *value, void *base,
                       const char *path)
{
    CLEANUP(str_done) Str allowed = STR_INIT;
    if (field_read(field, value, base, &reader->settings->arena, &allowed))
        return true;
    settings_problem_value(reader, path, value, str_text(&allowed));
    return false;
}

/* A flat map (one agent, one command) into a struct. */
static void read_map(SettingsReader *reader, FieldTable table, const json_t *map, void *base,
                     const char *path)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        const char *below = path_below(reader, path, key);
        const Field *field = field_find(table, key);
        if (!field)
            settings_problem_unknown(reader, table, "", key, below);
        else if (!json_is_null(value)) /* nothing after the colon: the default */
            (void)read_field(reader, field, value, base, below); /* noted as a problem */
    }
}

static void read_verify_item(SettingsReader *reader, const json_t *item, const char *path)
{
    Settings *settings = reader->settings;
    VerifyCommand command = {0};
    field_defaults(settings_verify_rows(), &command, &settings->arena);
    if (json_is_string(item) || json_is_boolean(item))
        (void)read_field(reader, field_find(settings_verify_rows(), "command"), item, &command,
                         path); /* noted as a problem */
    else if (json_is_object(item))
        read_map(reader, settings_verify_rows(), item, &command, path);
    else
        settings_problem_value(reader, path, item, "a command, or a map with command");
    if (!command.command && json_is_object(item) && !json_object_get(item, "command"))
        settings_problem_add(reader, path, "the key 'command' is missing");
    if (!command.command)
        return;
    command.name = command.name ? command.name : command.command;
    command.timeout_s = command.timeout_s ? command.timeout_s : settings->verify.default_timeout_s;
    settings->verify.commands[settings->verify.count++] = command;
}

static void read_verify_list(SettingsReader *reader, const json_t *list, const char *path)
{
    Settings *settings = reader->settings;
    if (!json_is_array(list) || json_array_size(list) > MOST_VERIFY) {
        settings_problem_value(reader, path, list, "a list of at most 64 commands");
        return;
    }
    settings->verify.commands = arena_alloc(
        &settings->arena, (json_array_size(list) + 1) * sizeof *settings->verify.commands);
    settings->verify.count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        read_verify_item(reader, json_array_get(list, i),
                         arena_printf(&reader->problems->arena, "%s[%zu]", path, i));
}

/* D-75: a plain list, or a map with default_timeout and commands. */
static void read_verify(SettingsReader *reader, const Field *field, const json_t *value)
{
    static const Field rows[] = {
        {.key = "default_timeout",
         .type = FIELD_INT,
         .offset = offsetof(VerifySettings, default_timeout_s),
         .min = 1,
         .max = MOST_TIMEOUT_S,
         .unit = "seconds"},
        {.key = "commands", .type = FIELD_OWN},
    };
    const FieldTable table = {rows, COUNT(rows)};
    if (json_is_array(value)) {
        read_verify_list(reader, value, "verify");
        return;
    }
    if (json_is_string(value) || json_is_boolean(value)) { /* one command is a list of one */
        json_t *one = json_pack("[O]", value);
        read_verify_list(reader, one, "verify");
        json_decref(one);
        return;
    }
    if (!json_is_object(value)) {
        settings_problem_value(reader, "verify", value, field->unit);
        return;
    }
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)value, key, item) if (!field_find(table, key))
        settings_problem_unknown(reader, table, "", key, path_below(reader, "verify", key));
    item = json_object_get(value, "default_timeout"); /* first: commands take it over */
    if (item && !json_is_null(item))
        (void)read_field(reader, &rows[0], item, &reader->settings->verify,
                         "verify.default_timeout"); /* noted as a problem */
    item = json_object_get(value, "commands");
    if (item && !json_is_null(item))
        read_verify_list(reader, item, "verify.commands");
}

static void check_agent(SettingsReader *reader, const AgentSettings *agent, const char *path)
{
    bool is_script = text_equal(agent->kind, "script");
    if (is_script && !agent->scenario)
        settings_problem_add(reader, path, "an agent of kind 'script' needs the key 'scenario'");
    if (!is_script && !agent->command.shell && !agent->command.argv.count)
        settings_problem_add(reader, path, "an agent of kind 'command' needs the key 'command'");
}

static void read_agents(SettingsReader *reader, const Field *field, const json_t *value)
{
    Settings *settings = reader->settings;
    if (!json_is_object(value) || json_object_size(value) > MOST_AGENTS) {
        settings_problem_value(reader, "agents", value, field->unit);
        return;
    }
    settings->agents =
        arena_alloc(&settings->arena, (json_object_size(value) + 1) * sizeof *settings->agents);
    settings->agent_count = 0;
    const char *name;
    json_t *item;
    json_object_foreach((json_t *)value, name, item)
    {
        const char *path = path_below(reader, "agents", name);
        if (field_check_name(name) || !json_is_object(item)) {
            settings_problem_add(reader, path,
                                 field_check_name(name)
                                     ? "an agent's name is at most 64 letters, "
                                       "digits, '-' and '_'"
                                     : "an agent is a map: {kind, command, ...}");
            continue;
        }
        AgentSettings *agent = &settings->agents[settings->agent_count++];
        field_defaults(settings_agent_rows(), agent, &settings->arena);
        agent->name = arena_strdup(&settings->arena, name);
        agent->line = settings_line(reader, path);
        size_t before = reader->problems->count;
        read_map(reader, settings_agent_rows(), item, agent, path);
        if (reader->problems->count == before) /* a misspelt key is not also a missing one */
            check_agent(reader, agent, path);
    }
}

static void read_row(SettingsReader *reader, const Field *field, const json_t *value)
{
    Settings *settings = reader->settings;
    if (json_is_null(value))
        return; /* nothing after the colon: the default */
    bool is_read = true;
    if (text_equal(field->key, "verify"))
        read_verify(reader, field, value);
    else if (text_equal(field->key, "agents"))
        read_agents(reader, field, value);
    else
        is_read = read_field(reader, field, value, settings, field->key);
    if (is_read)
        settings->origins[field - settings_rows().rows] =
            (SettingOrigin){ORIGIN_FILE, settings_line(reader, field->key)};
}

static void read_group(SettingsReader *reader, const json_t *map, const char *prefix)
{
    const FieldTable table = settings_rows();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        const char *path = path_below(reader, prefix, key);
        const Field *field = strchr(key, '.') ? NULL : field_find(table, path);
        bool is_group = !field && !*prefix && !strchr(key, '.') && field_is_group(table, path);
        if (field)
            read_row(reader, field, value);
        else if (is_group && json_is_object(value))
            read_group(reader, value, path);
        else if (is_group && !json_is_null(value))
            settings_problem_value(reader, path, value, "a map of keys and values");
        else if (!is_group)
            settings_problem_unknown(reader, table, prefix, key, path);
    }
}

bool settings_read(const YamlDoc *doc, Settings *settings, SettingsProblems *problems)
{
    size_t before = problems->count;
    SettingsReader reader = {.doc = doc, .settings = settings, .problems = problems};
    if (json_is_object(doc->root))
        read_group(&reader, doc->root, "");
    else if (doc->root && !json_is_null(doc->root))
        settings_problem_add(&reader, "", "the file must be a map of keys and values");
    settings_check_agent(&reader, "agent", settings->agent);
    settings_check_agent(&reader, "reviewer", settings->reviewer);
    return problems->count == before;
}
