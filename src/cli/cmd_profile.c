/* profile: thresholds and retries per task type, each with its origin (B-289). */
#include "base/arena.h"
#include "cli/cli.h"
#include "core/field.h"
#include "core/profile.h"
#include <inttypes.h>
#include <string.h>

static bool profile_path(Cli *cli, const Args *args, const char *type, Str *path, Err *err)
{
    int64_t project;
    if (!profile_type_is_valid(type))
        return err_set(err, ERR_USAGE,
                       "'%.60s' is no task type: letters, digits, '_', ':' and '-', parts joined "
                       "by '|'",
                       type);
    if (!cli_project(cli, false, &project, err))
        return false;
    str_add(path, "/api/v1/profiles/");
    cli_add_escaped(path, type);
    str_addf(path, "?project=%" PRId64, project);
    if (args_has(args, "workflow")) {
        str_add(path, "&workflow=");
        cli_add_escaped(path, args_text(args, "workflow", ""));
    }
    return true;
}

static void print_profile(Cli *cli, const json_t *profile)
{
    size_t i;
    const json_t *row;
    CLEANUP(str_done) Str type = STR_INIT;
    str_add_line(&type, json_text(profile, "type", ""));
    term_add(&cli->term, &cli->out, STYLE_BOLD, str_text(&type));
    int64_t count = json_int(profile, "sample_count", 0);
    str_addf(&cli->out, ", learnt from %" PRId64 " task%s\n", count, count == 1 ? "" : "s");
    json_array_foreach(json_object_get(profile, "values"), i, row)
    {
        CLEANUP(str_done) Str origin = STR_INIT;
        str_add(&cli->out, "  ");
        str_add_cell(&cli->out, json_text(row, "key", ""), 24);
        str_addf(&cli->out, " %8.4g  ", json_number_value(json_object_get(row, "value")));
        str_add_line(&origin, json_text(row, "origin", ""));
        term_add(&cli->term, &cli->out, STYLE_DIM, str_text(&origin));
        str_add_char(&cli->out, '\n');
    }
    CLEANUP(mem_freep) char *observed = json_write(json_object_get(profile, "observed"));
    if (json_object_size(json_object_get(profile, "observed")) && observed) {
        str_add(&cli->out, "  observed ");
        str_add_line(&cli->out, observed);
        str_add_char(&cli->out, '\n');
    }
    if (*json_text(profile, "rule", "")) {
        str_add(&cli->out, "  ");
        str_add_line(&cli->out, json_text(profile, "rule", ""));
        str_add_char(&cli->out, '\n');
    }
}

static int profile_show(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!profile_path(cli, args, args->words[1], &path, err) ||
        !call_api(cli->caller, "GET", str_text(&path), NULL, &reply, err))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    print_profile(cli, reply);
    return EXIT_DONE;
}

static int profile_list(Cli *cli, const Args *args, Err *err)
{
    int64_t project;
    size_t i;
    const json_t *row;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!cli_project(cli, false, &project, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/profiles?project=%" PRId64, project))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    const json_t *profiles = json_object_get(reply, "profiles");
    json_array_foreach(profiles, i, row)
    {
        str_add_cell(&cli->out, json_text(row, "type", ""), 24);
        int64_t samples = json_int(row, "sample_count", 0);
        size_t values = json_object_size(json_object_get(row, "settings"));
        str_addf(&cli->out, " %5" PRId64 " task%s, %zu value%s set\n", samples,
                 samples == 1 ? "" : "s", values, values == 1 ? "" : "s");
    }
    if (!json_array_size(profiles))
        str_addf(&cli->out,
                 "Nothing was set or observed yet; '%s profile show %s' shows what holds.\n",
                 cli->otto, PROFILE_TYPE_DEFAULT);
    return EXIT_DONE;
}

/* -- set, reset ------------------------------------------------------------------------------ */

static bool unknown_key(const char *key, Err *err)
{
    const char *keys[PROFILE_VALUES];
    CLEANUP(str_done) Str known = STR_INIT;
    for (unsigned i = 0; i < PROFILE_VALUES; i++) {
        keys[i] = profile_key(i);
        str_addf(&known, "%s%s", i ? ", " : "", keys[i]);
    }
    const char *near = text_nearest(key, keys, PROFILE_VALUES);
    if (near)
        return err_set(err, ERR_USAGE, "unknown value '%.60s', did you mean '%s'?", key, near);
    return err_set(err, ERR_USAGE, "unknown value '%.60s'; known: %s", key, str_text(&known));
}

static bool is_known(const char *key)
{
    for (unsigned i = 0; i < PROFILE_VALUES; i++)
        if (text_equal(profile_key(i), key))
            return true;
    return false;
}

/* "thresholds.post-plan=0.8"; the value `default` takes a setting away. */
static bool put_value(const char *word, json_t *set, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    const char *equals = strchr(word, '=');
    if (!equals)
        return err_set(err, ERR_USAGE, "'%.60s' is no KEY=VALUE", word);
    const char *key = arena_strndup(&scratch, word, (size_t)(equals - word)), *text = equals + 1;
    if (!is_known(key))
        return unknown_key(key, err);
    json_t *value = text_equal(text, "default") ? json_null() : NULL;
    if (!value) {
        CLEANUP(str_done) Str list = STR_INIT;
        str_addf(&list, "[%s]", text);
        CLEANUP(json_freep) json_t *read = json_read(str_text(&list), list.length, NULL);
        const json_t *number = json_array_get(read, 0);
        if (json_array_size(read) != 1 || !json_is_number(number))
            return err_set(err, ERR_USAGE, "%s: '%.40s' is neither a number nor 'default'", key,
                           text);
        value = json_copy((json_t *)number);
    }
    (void)json_object_set_new(set, key, value); /* fails only without memory */
    return true;
}

static int profile_change(Cli *cli, const Args *args, const json_t *body, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!profile_path(cli, args, args->words[1], &path, err) ||
        !call_api(cli->caller, "POST", str_text(&path), body, &reply, err))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    print_profile(cli, reply);
    return EXIT_DONE;
}

static int profile_set(Cli *cli, const Args *args, Err *err)
{
    json_t *set = json_object();
    CLEANUP(json_freep) json_t *body = json_pack("{s:o}", "set", set);
    if (args->word_count < 3)
        return cli_fail(err, ERR_USAGE, "set what? otto profile set TYPE KEY=VALUE");
    for (size_t i = 2; i < args->word_count; i++)
        if (!put_value(args->words[i], set, err))
            return EXIT_ERR;
    return profile_change(cli, args, body, err);
}

static int profile_reset(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_pack("{s:b}", "reset", 1);
    return profile_change(cli, args, body, err);
}

typedef struct Verb {
    const char *word;
    bool has_type;
    CommandFn *run;
} Verb;

static const Verb verbs[] = {
    {"list", false, profile_list},
    {"show", true, profile_show},
    {"set", true, profile_set},
    {"reset", true, profile_reset},
};

int command_profile(Cli *cli, const Args *args, Err *err)
{
    for (size_t i = 0; i < COUNT(verbs); i++) {
        if (!text_equal(verbs[i].word, args->words[0]))
            continue;
        if (verbs[i].has_type && args->word_count < 2)
            return cli_fail(err, ERR_USAGE, "which type? otto profile %s TYPE", verbs[i].word);
        if (args->word_count > (verbs[i].has_type ? 2u : 1u) && verbs[i].run != profile_set)
            return cli_fail(err, ERR_USAGE, "there is a word too many; see 'otto help profile'");
        return verbs[i].run(cli, args, err);
    }
    return cli_fail(err, ERR_USAGE, "'otto profile' wants list, show, set or reset, not '%.40s'",
                    args->words[0]);
}
