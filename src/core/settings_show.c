/* Settings: showing values with their origin, and the reference page. See settings.h. */
#include "core/settings.h"

static json_t *show_struct(FieldTable table, const void *base)
{
    json_t *object = json_object();
    for (size_t i = 0; i < table.count; i++)
        json_object_set_new(object, table.rows[i].key, field_show(&table.rows[i], base));
    return object;
}

static json_t *show_verify(const VerifySettings *verify)
{
    json_t *list = json_array();
    for (size_t i = 0; i < verify->count; i++)
        json_array_append_new(list, show_struct(settings_verify_rows(), &verify->commands[i]));
    return list;
}

static json_t *show_agents(const Settings *settings)
{
    json_t *map = json_object();
    for (size_t i = 0; i < settings->agent_count; i++)
        json_object_set_new(map, settings->agents[i].name,
                            show_struct(settings_agent_rows(), &settings->agents[i]));
    return map;
}

static json_t *show_value(const Settings *settings, const Field *field)
{
    if (text_equal(field->key, "verify"))
        return show_verify(&settings->verify);
    if (text_equal(field->key, "agents"))
        return show_agents(settings);
    return field_show(field, settings);
}

static json_t *show_origin(SettingOrigin origin, const Field *field)
{
    switch (origin.from) {
    case ORIGIN_FILE:
        return json_sprintf(SETTINGS_FILE ":%d", origin.line);
    case ORIGIN_ENV:
        return json_sprintf("environment %s", field->env);
    case ORIGIN_FLAG:
        return json_string("flag");
    case ORIGIN_DEFAULT:
        break;
    }
    return json_string("default");
}

json_t *settings_show_json(const Settings *settings)
{
    const FieldTable table = settings_rows();
    json_t *list = json_array();
    for (size_t i = 0; i < table.count; i++) {
        const Field *field = &table.rows[i];
        json_t *row = json_object();
        json_object_set_new(row, "key", json_string(field->key));
        json_object_set_new(row, "value", show_value(settings, field));
        json_object_set_new(row, "origin", show_origin(settings->origins[i], field));
        json_object_set_new(row, "help", json_string(field->help));
        json_array_append_new(list, row);
    }
    return list;
}

static void add_rows(FieldTable table, Str *out)
{
    str_add(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < table.count; i++) {
        const Field *field = &table.rows[i];
        str_addf(out, "| `%s` | ", field->key);
        field_allowed(field, out);
        str_addf(out, " | %s | %s", field->fallback ? field->fallback : "none", field->help);
        if (field->env)
            str_addf(out, " (`%s`)", field->env);
        str_add(out, " |\n");
    }
}

void settings_markdown(Str *out)
{
    str_add(out, "# Settings\n\nThe file `" SETTINGS_FILE "` lies in the root of the repository. "
                 "Every key may be left out.\nA flag beats an environment variable, which beats "
                 "the file. `otto config show` prints each value\nand where it came from, "
                 "`otto config check` lists every problem.\n\n");
    add_rows(settings_rows(), out);
    str_add(out,
            "\nPath patterns (`protect`, `guards.test_files`): `?` and `*` stay within one name, "
            "`**` crosses\nfolders, `[a-z]` is one character. A pattern without `/` fits at any "
            "depth; one that fits a\nfolder fits everything below it.\n");
    str_add(out, "\n## One agent: `agents.NAME`\n\n");
    add_rows(settings_agent_rows(), out);
    str_add(out, "\n## One command of `verify`\n\n"
                 "An item is a shell command, or a map with these keys. `verify` itself is a list "
                 "of items, or a\nmap with `default_timeout` (seconds, 300) and `commands`.\n\n");
    add_rows(settings_verify_rows(), out);
}
