/* What a task left behind: report ID, timeline, export; and prompts as they would be sent. */
#include "agent/prompt.h"
#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/exports.h"
#include "core/field.h"
#include <inttypes.h>
#include <string.h>

/* A text goes to a file, or to standard output as it is made for it. */
static int give_text(Cli *cli, const char *text, const char *file, Err *err)
{
    if (!file || text_equal(file, "-")) {
        if (cli->term.is_terminal)
            str_add_block(&cli->out, text, 0); /* control characters are shown, not sent */
        else
            str_add(&cli->out, text);
        if (cli->out.length && !text_ends(str_text(&cli->out), "\n"))
            str_add_char(&cli->out, '\n');
        return EXIT_DONE;
    }
    if (!file_write_atomic(file, text, strlen(text), 0644, err))
        return EXIT_ERR;
    str_add(&cli->out, "written to ");
    str_add_line(&cli->out, file);
    str_add_char(&cli->out, '\n');
    return EXIT_DONE;
}

int report_task(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    const char *format = args_has(args, "html")      ? "html"
                         : args_has(args, "summary") ? "summary"
                                                     : "markdown";
    if (args_has(args, "html") && args_has(args, "summary"))
        return cli_fail(err, ERR_USAGE, "give --html or --summary, not both");
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64 "/report?format=%s", id,
                  format))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    return give_text(cli, json_text(reply, "text", ""), args_text(args, "out", NULL), err);
}

int command_timeline(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64 "/timeline", id))
        return EXIT_ERR;
    if (args_has(args, "json")) {
        (void)json_object_del(reply, "text"); /* the same, for eyes */
        return cli_print_json(cli, reply);
    }
    str_add_block(&cli->out, json_text(reply, "text", ""), 0);
    return cli_wrap(cli);
}

int command_export(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    size_t count = 0;
    const char *format = args_text(args, "format", NULL);
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!format || (!text_equal(format, "a") && !text_equal(format, "b")))
        return cli_fail(err, ERR_USAGE, "--format says which layout: a or b");
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64 "/export?format=%s", id,
                  format))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    const char *name = json_text(reply, "name", "");
    const char *folder = args_text(args, "out", name);
    if (folder == name && (!export_path_is_fine(name) || strchr(name, '/')))
        return cli_fail(err, ERR_INTERNAL, "the task has no name for a folder; give --out DIR");
    const json_t *files = json_object_get(reply, "files");
    if (!export_write(folder, id, files, args_has(args, "force"), &count, err))
        return EXIT_ERR;
    str_addf(&cli->out, "%zu of %zu file%s written to ", count, json_array_size(files),
             json_array_size(files) == 1 ? "" : "s");
    str_add_line(&cli->out, folder);
    str_add_char(&cli->out, '\n');
    return EXIT_DONE;
}

/* -- prompts --------------------------------------------------------------------------------- */

static int prompt_list(Cli *cli, const Args *args)
{
    size_t count;
    const PromptRow *rows = prompt_rows(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str own = STR_INIT;
        str_addf(&own, PROMPT_FOLDER "/%s.md", rows[i].name);
        bool is_own = path_exists(str_text(&own));
        (void)json_array_append_new(/* fails only without memory */
                                    list, json_pack("{s:s,s:b,s:s,s:b}", "name", rows[i].name,
                                                    "part", rows[i].is_include, "help",
                                                    rows[i].help, "own", is_own));
        if (args_has(args, "json"))
            continue;
        str_add_cell(&cli->out, rows[i].name, 22);
        str_addf(&cli->out, " %s%s%s\n", rows[i].help, rows[i].is_include ? " (a part)" : "",
                 is_own ? "; yours, from " PROMPT_FOLDER : "");
    }
    if (args_has(args, "json"))
        (void)cli_print_json(cli, list); /* never fails */
    json_decref(list);
    return EXIT_DONE;
}

static int prompt_show(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (args->word_count != 3)
        return cli_fail(err, ERR_USAGE, "which one? otto prompt show PHASE ID");
    if (!cli_task_id(args->words[2], &id, err) || !cli_caller(cli, err))
        return EXIT_ERR;
    str_addf(&path, "/api/v1/tasks/%" PRId64 "/prompt?phase=", id);
    cli_add_escaped(&path, args->words[1]);
    if (args_has(args, "checkpoint")) {
        str_add(&path, "&checkpoint=");
        cli_add_escaped(&path, args_text(args, "checkpoint", ""));
    }
    if (!call_api(cli->caller, "GET", str_text(&path), NULL, &reply, err))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    return give_text(cli, json_text(reply, "text", ""), NULL, err);
}

int command_prompt(Cli *cli, const Args *args, Err *err)
{
    if (text_equal(args->words[0], "list") && args->word_count == 1)
        return prompt_list(cli, args);
    if (text_equal(args->words[0], "show"))
        return prompt_show(cli, args, err);
    return cli_fail(err, ERR_USAGE,
                    "'otto prompt' wants list, or show PHASE ID, not '%.40s'; 'otto workflow show' "
                    "names the phases",
                    args->words[0]);
}
