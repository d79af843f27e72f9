/* Settings: defaults, problems, environment, flags, the agent to use. See settings.h. */
#include "core/settings.h"
#include "core/settings_parts.h"

enum { DEFAULT_TIMEOUT_S = 300 };

void settings_init(Settings *settings)
{
    *settings = (Settings){.arena = ARENA_INIT};
    FieldTable table = settings_rows();
    field_defaults(table, settings, &settings->arena);
    settings->thresholds = (ThresholdSettings){SETTING_UNSET, SETTING_UNSET, SETTING_UNSET};
    settings->retries = (RetrySettings){SETTING_UNSET, SETTING_UNSET, SETTING_UNSET};
    settings->verify.default_timeout_s = DEFAULT_TIMEOUT_S;
    settings->origins = arena_alloc(&settings->arena, table.count * sizeof *settings->origins);
}

void settings_done(Settings *settings)
{
    arena_done(&settings->arena);
    *settings = (Settings){.arena = ARENA_INIT};
}

void settings_problems_done(SettingsProblems *problems)
{
    arena_done(&problems->arena);
    *problems = (SettingsProblems)SETTINGS_PROBLEMS_INIT;
}

/* Line of a path, or of the nearest thing around it that has one. */
int settings_line(const SettingsReader *reader, const char *path)
{
    if (!reader->doc)
        return 0;
    char around[512];
    (void)snprintf(around, sizeof around, "%s", path); /* cut: only a worse line number */
    for (;;) {
        int line = yaml_line(reader->doc, around);
        char *dot = strrchr(around, '.'), *bracket = strrchr(dot ? dot : around, '[');
        char *cut = bracket ? bracket : dot;
        if (line || !cut)
            return line ? line : 1;
        *cut = '\0';
    }
}

void settings_problem_add(SettingsReader *reader, const char *path, const char *what)
{
    SettingsProblems *list = reader->problems;
    if (list->count == SETTINGS_MOST_PROBLEMS)
        return;
    if (!list->items)
        list->items = arena_alloc(&list->arena, SETTINGS_MOST_PROBLEMS * sizeof *list->items);
    int line = settings_line(reader, path);
    CLEANUP(str_done) Str text = STR_INIT;
    if (reader->place)
        str_addf(&text, "%s: ", reader->place);
    else
        str_addf(&text, SETTINGS_FILE ":%d: ", line);
    if (*path)
        str_addf(&text, "%s: ", path);
    str_add(&text, what);
    CLEANUP(str_done) Str safe = STR_INIT; /* keys come from the file and go to a terminal */
    str_add_safe(&safe, str_text(&text), text.length, false);
    list->items[list->count++] = (SettingsProblem){line, arena_strdup(&list->arena, path),
                                                   arena_strdup(&list->arena, str_text(&safe))};
}

void settings_problem_value(SettingsReader *reader, const char *path, const json_t *value,
                            const char *allowed)
{
    enum { MOST_SHOWN = 60 };
    CLEANUP(str_done) Str what = STR_INIT;
    if (json_is_object(value) || json_is_array(value)) {
        str_add(&what, json_is_object(value) ? "this map" : "this list");
    } else {
        char *shown = json_dumps(value, JSON_ENCODE_ANY);
        str_addf(&what, "%.*s%s", MOST_SHOWN, shown, strlen(shown) > MOST_SHOWN ? "..." : "");
        free(shown);
    }
    str_addf(&what, " is not allowed; it must be %s", allowed);
    settings_problem_add(reader, path, str_text(&what));
}

void settings_problem_unknown(SettingsReader *reader, FieldTable table, const char *prefix,
                              const char *key, const char *path)
{
    CLEANUP(str_done) Str what = STR_INIT;
    str_add(&what, "unknown key");
    field_suggest(table, prefix, key, &what);
    settings_problem_add(reader, path, str_text(&what));
}

static void add_agent_names(const Settings *settings, Str *out)
{
    if (!settings->agent_count)
        str_add(out, "; no agents are configured, add one below 'agents:'");
    for (size_t i = 0; i < settings->agent_count; i++)
        str_addf(out, "%s%s", i ? ", " : "; known agents: ", settings->agents[i].name);
}

static const AgentSettings *agent_find(const Settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->agent_count; i++)
        if (text_equal(settings->agents[i].name, name))
            return &settings->agents[i];
    return NULL;
}

void settings_check_agent(SettingsReader *reader, const char *key, const char *name)
{
    const Settings *settings = reader->settings;
    if (!name || agent_find(settings, name))
        return;
    CLEANUP(str_done) Str what = STR_INIT;
    str_addf(&what, "there is no agent '%s'", name);
    add_agent_names(settings, &what);
    settings_problem_add(reader, key, str_text(&what));
}

static bool set_text(SettingsReader *reader, const Field *field, const char *text, int origin)
{
    Settings *settings = reader->settings;
    CLEANUP(str_done) Str allowed = STR_INIT;
    size_t before = reader->problems->count;
    if (!field_parse(field, text, settings, &settings->arena, &allowed)) {
        CLEANUP(str_done) Str what = STR_INIT;
        str_addf(&what, "'%.60s' is not allowed; it must be %s", text, str_text(&allowed));
        settings_problem_add(reader, field->key, str_text(&what));
        return false;
    }
    settings->origins[field - settings_rows().rows] = (SettingOrigin){.from = origin};
    if (text_equal(field->key, "agent"))
        settings_check_agent(reader, "agent", settings->agent);
    if (text_equal(field->key, "reviewer"))
        settings_check_agent(reader, "reviewer", settings->reviewer);
    return reader->problems->count == before;
}

bool settings_read_env(SettingsLookup *lookup, void *data, Settings *settings,
                       SettingsProblems *problems)
{
    bool is_fine = true;
    const FieldTable table = settings_rows();
    for (size_t i = 0; i < table.count; i++) {
        const Field *field = &table.rows[i];
        const char *text = field->env ? lookup(data, field->env) : NULL;
        SettingsReader reader = {.place = field->env, .settings = settings, .problems = problems};
        if (text && *text) /* an empty variable is as good as none */
            is_fine = set_text(&reader, field, text, ORIGIN_ENV) && is_fine;
    }
    return is_fine;
}

bool settings_set_flag(const char *key, const char *text, Settings *settings,
                       SettingsProblems *problems)
{
    SettingsReader reader = {.place = "flag", .settings = settings, .problems = problems};
    const Field *field = field_find(settings_rows(), key);
    if (field)
        return set_text(&reader, field, text, ORIGIN_FLAG);
    settings_problem_unknown(&reader, settings_rows(), "", key, key);
    return false;
}

const AgentSettings *settings_agent(const Settings *settings, const char *name, Err *err)
{
    const char *wanted = name ? name : settings->agent;
    const AgentSettings *agent = wanted ? agent_find(settings, wanted) : NULL;
    if (agent)
        return agent;
    CLEANUP(str_done) Str names = STR_INIT;
    add_agent_names(settings, &names);
    if (wanted)
        (void)err_set(err, ERR_USAGE, "there is no agent '%s'%s", wanted,
                      str_text(&names)); /* NULL says it failed */
    else
        (void)err_set(err, ERR_USAGE,
                      "no agent configured: set 'agent:' in " SETTINGS_FILE " or name one%s",
                      str_text(&names)); /* NULL says it failed */
    return NULL;
}
