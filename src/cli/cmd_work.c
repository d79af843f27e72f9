/* Commands about what tasks did: diff, rollback, trash. */
#include "base/arena.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/job.h"
#include "engine/engine.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* -- diff --------------------------------------------------------------------------------- */

/* What landed, when something did: the difference that the target saw. */
static bool landed_commits(const json_t *task, const char **base, const char **commit)
{
    size_t index;
    const json_t *row;
    json_array_foreach(json_object_get(task, "landings"), index, row)
    {
        if (json_int(row, "rolled_back_ms", 0) || !json_text(row, "old", NULL))
            continue;
        *base = json_text(row, "old", NULL);
        *commit = json_text(row, "new", NULL);
        return *commit != NULL;
    }
    return false;
}

/* After one turn of the last run. */
static void turn_commits(const json_t *task, int64_t wanted, const char **base, const char **commit)
{
    const json_t *runs = json_object_get(task, "runs"), *turn;
    const json_t *run = json_array_get(runs, json_array_size(runs) - 1);
    size_t index;
    *base = json_text(run, "base", NULL);
    *commit = NULL;
    json_array_foreach(json_object_get(run, "turns"), index, turn)
    {
        if (json_int(turn, "turn", 0) == wanted)
            *commit = json_text(turn, "commit", *commit);
    }
}

static bool pick_commits(const json_t *task, int64_t wanted, const char **base, const char **commit,
                         Err *err)
{
    int64_t id = json_int(task, "id", 0);
    if (wanted) {
        turn_commits(task, wanted, base, commit);
    } else if (!landed_commits(task, base, commit)) {
        *base = json_text(task, "base", NULL);
        *commit = json_text(task, "commit", NULL);
    }
    if (*base && *commit)
        return true;
    return wanted ? err_set(err, ERR_NOT_FOUND, "#%" PRId64 " has no saved work of turn %" PRId64,
                            id, wanted)
                  : err_set(err, ERR_NOT_FOUND, "#%" PRId64 " has changed nothing yet", id);
}

static void print_diff(Cli *cli, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        CLEANUP(str_done) Str line = STR_INIT;
        Style style = *text == '+'   ? STYLE_GOOD
                      : *text == '-' ? STYLE_BAD
                      : *text == '@' ? STYLE_BUSY
                                     : STYLE_NONE;
        str_add_safe(&line, text, length, false);
        term_add(&cli->term, &cli->out, style, str_text(&line));
        str_add_char(&cli->out, '\n');
        text += length + (text[length] == '\n');
    }
}

int diff_show(Cli *cli, int64_t id, bool is_stat, int64_t turn, Err *err)
{
    const char *base, *commit;
    CLEANUP(json_freep) json_t *task = NULL;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!call_get(cli->caller, &task, err, "/api/v1/tasks/%" PRId64, id) ||
        !pick_commits(task, turn, &base, &commit, err))
        return EXIT_ERR;
    CLEANUP(json_freep)
    json_t *input = json_pack("{s:s,s:s,s:s,s:b}", "hub", json_text(task, "hub", ""), "from", base,
                              "to", commit, "stat", is_stat);
    if (!job_run("diff", input, &reply, err))
        return EXIT_ERR;
    print_diff(cli, json_text(reply, "text", ""));
    if (json_flag(reply, "cut", false))
        str_add(&cli->out, "The rest was cut off; --stat shows all files.\n");
    return EXIT_DONE;
}

int command_diff(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err))
        return EXIT_ERR;
    return diff_show(cli, id, args_has(args, "stat"), args_int(args, "turn", 0), err);
}

/* -- rollback ----------------------------------------------------------------------------- */

/* D-252: what will be lost, before anything is done. */
static bool list_losses(Cli *cli, int64_t id, Err *err)
{
    CLEANUP(json_freep) json_t *task = NULL;
    CLEANUP(json_freep) json_t *all = NULL;
    size_t index, at, live = 0;
    const json_t *row, *after;
    if (!call_get(cli->caller, &task, err, "/api/v1/tasks/%" PRId64, id) ||
        !call_get(cli->caller, &all, err, "/api/v1/tasks?limit=100000"))
        return false;
    str_addf(&cli->out, "Rolling back #%" PRId64 " ", id);
    str_add_line(&cli->out, json_text(task, "title", ""));
    str_add(&cli->out, " undoes:\n");
    json_array_foreach(json_object_get(task, "landings"), index, row)
    {
        char at_text[32];
        if (json_int(row, "rolled_back_ms", 0))
            continue;
        live++;
        clock_format(json_int(row, "at_ms", 0), at_text);
        str_addf(&cli->out, "  commit %.12s, landed %s\n",
                 json_text(row, "new", json_text(row, "commit", "")), at_text);
    }
    if (!live)
        return err_set(err, ERR_CONFLICT, "#%" PRId64 " has landed nothing that could be undone",
                       id);
    json_array_foreach(json_object_get(all, "tasks"), index, row)
    {
        json_array_foreach(json_object_get(row, "after"), at, after)
        {
            if (json_int(after, "task", 0) != id)
                continue;
            str_addf(&cli->out, "  #%" PRId64 " (%s) builds on it: ", json_int(row, "id", 0),
                     json_text(row, "state", "?"));
            str_add_line(&cli->out, json_text(row, "title", ""));
            str_add_char(&cli->out, '\n');
        }
    }
    str_add(&cli->out, "The commits stay in the history; a new commit reverts them.\n");
    cli_flush(cli);
    return true;
}

static bool is_undone(Cli *cli, int64_t id, Err *err)
{
    CLEANUP(json_freep) json_t *task = NULL;
    size_t index;
    const json_t *row;
    if (!call_get(cli->caller, &task, err, "/api/v1/tasks/%" PRId64, id))
        return false;
    json_array_foreach(json_object_get(task, "landings"), index, row)
    {
        if (!json_int(row, "rolled_back_ms", 0))
            return err_set(err, ERR_GIT,
                           "#%" PRId64 " could not be rolled back; '%s why %" PRId64 "' tells why",
                           id, cli->otto, id);
    }
    return true;
}

/* Nobody may run who could do it: then an engine of our own, for as long as it takes. */
static bool do_here(Cli *cli, int64_t id, const char *verb, Err *err)
{
    CallerOptions options = cli_caller_options(cli);
    options.is_errand = true;
    cli_caller_close(cli);
    cli->caller = caller_open(&options, err);
    if (!cli->caller ||
        !call_post(cli->caller, NULL, NULL, err, "/api/v1/tasks/%" PRId64 "/%s", id, verb))
        return false;
    Engine *engine = caller_engine(cli->caller); /* NULL: somebody came up meanwhile and does it */
    return !engine || engine_settle(engine, err);
}

static bool rollback_here(Cli *cli, int64_t id, Err *err)
{
    if (!do_here(cli, id, "rollback", err))
        return false;
    return !caller_engine(cli->caller) || is_undone(cli, id, err);
}

int command_rollback(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !list_losses(cli, id, err))
        return EXIT_ERR;
    if (!args_has(args, "yes") && !isatty(STDIN_FILENO))
        return cli_fail(err, ERR_USAGE, "nothing was undone: --yes is needed without a terminal");
    if (!args_has(args, "yes") && !cli_confirm("Undo this?"))
        return cli_fail(err, ERR_USAGE, "nothing was undone");
    bool is_live = caller_is_live(cli->caller);
    bool is_done =
        is_live ? call_post(cli->caller, NULL, NULL, err, "/api/v1/tasks/%" PRId64 "/rollback", id)
                : rollback_here(cli, id, err);
    if (!is_done)
        return EXIT_ERR;
    str_addf(&cli->out, "#%" PRId64 " %s; '%s why %" PRId64 "' tells more\n", id,
             is_live ? "is being rolled back" : "is rolled back", cli->otto, id);
    return EXIT_DONE;
}

/* -- trash -------------------------------------------------------------------------------- */

static bool trash_job(Cli *cli, const char *name, json_t *input, json_t **reply, Err *err)
{
    CLEANUP(str_done) Str folder = STR_INIT;
    str_addf(&folder, "%s/trash", cli->state_dir);
    bool is_done =
        cli_put_text(input, "trash", folder.bytes, err) && job_run(name, input, reply, err);
    json_decref(input);
    return is_done;
}

static void print_entry(Cli *cli, const json_t *entry)
{
    int64_t expires_ms = json_int(entry, "expires_ms", 0);
    char until[32];
    clock_format(expires_ms, until);
    str_add(&cli->out, "  ");
    str_add_line(&cli->out, json_text(entry, "name", ""));
    str_add(&cli->out, "  ");
    str_add_line(&cli->out, json_text(entry, "title", json_text(entry, "what", "")));
    if (expires_ms > clock_wall_ms())
        str_addf(&cli->out, ", kept until %s\n", until);
    else
        str_add(&cli->out, ", the hub has all of it: may go at any time\n");
}

/* Workspaces are named after their project; the trash of others is theirs. */
static json_t *own_entries(const json_t *all, int64_t project)
{
    json_t *own = json_array();
    char prefix[32];
    size_t index;
    json_t *row;
    (void)snprintf(prefix, sizeof prefix, "p%" PRId64 "-", project); /* fits */
    json_array_foreach(all, index, row)
    {
        if (text_starts(json_text(row, "name", ""), prefix))
            (void)json_array_append(own, row); /* fails only without memory */
    }
    return own;
}

static int trash_list(Cli *cli, bool is_json, Err *err)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    CLEANUP(json_freep) json_t *removed = NULL;
    size_t index;
    const json_t *row;
    int64_t project;
    if (!trash_job(cli, "trash-list", json_object(), &reply, err) ||
        !cli_project(cli, false, &project, err) ||
        !call_get(cli->caller, &removed, err,
                  "/api/v1/tasks?state=cancelled&limit=10000&project=%" PRId64, project))
        return EXIT_ERR;
    CLEANUP(json_freep)
    json_t *entries = own_entries(json_object_get(reply, "entries"), project);
    const json_t *tasks = json_object_get(removed, "tasks");
    if (is_json) {
        CLEANUP(json_freep)
        json_t *both = json_pack("{s:O,s:O}", "entries", entries, "tasks", tasks);
        return cli_print_json(cli, both);
    }
    if (json_array_size(tasks))
        str_add(&cli->out, "removed tasks (restore by id):\n");
    json_array_foreach(tasks, index, row)
    {
        str_addf(&cli->out, "  #%" PRId64 " ", json_int(row, "id", 0));
        str_add_line(&cli->out, json_text(row, "title", ""));
        str_add_char(&cli->out, '\n');
    }
    if (json_array_size(entries))
        str_add(&cli->out, "workspaces (restore by name):\n");
    json_array_foreach(entries, index, row)
    {
        print_entry(cli, row);
    }

    if (!json_array_size(tasks) && !json_array_size(entries))
        str_add(&cli->out, "The trash is empty.\n");
    return EXIT_DONE;
}

/* D-136: the workspace goes, the task stays what it is. */
static int trash_put(Cli *cli, const char *name, Err *err)
{
    int64_t id;
    if (!cli_task_id(name, &id, err) || !cli_caller(cli, err) || !do_here(cli, id, "discard", err))
        return EXIT_ERR;
    str_addf(&cli->out, "the workspace of #%" PRId64 " is in the trash\n", id);
    return EXIT_DONE;
}

static int trash_restore(Cli *cli, const char *name, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (cli_task_id(name, &id, NULL)) {
        if (!cli_caller(cli, err) ||
            !call_post(cli->caller, NULL, NULL, err, "/api/v1/tasks/%" PRId64 "/restore", id))
            return EXIT_ERR;
        str_addf(&cli->out, "#%" PRId64 " is back\n", id);
        return EXIT_DONE;
    }
    json_t *input = json_object();
    if (!cli_put_text(input, "name", name, err)) {
        json_decref(input);
        return EXIT_ERR;
    }
    if (!trash_job(cli, "trash-restore", input, &reply, err))
        return EXIT_ERR;
    str_add(&cli->out, "restored to ");
    str_add_line(&cli->out, json_text(reply, "path", "?"));
    str_add_char(&cli->out, '\n');
    return EXIT_DONE;
}

static int trash_empty(Cli *cli, const Args *args, Err *err)
{
    bool is_expired = args_has(args, "expired");
    CLEANUP(json_freep) json_t *reply = NULL;
    int64_t project;
    char prefix[32];
    if (!cli_project(cli, false, &project, err))
        return EXIT_ERR;
    (void)snprintf(prefix, sizeof prefix, "p%" PRId64 "-", project); /* fits */
    if (!is_expired && !args_has(args, "yes") &&
        !cli_confirm("Delete everything in the trash for good?"))
        return cli_fail(err, ERR_USAGE,
                        "nothing was deleted: confirm with --yes, or give --expired "
                        "for what is past its days");
    int64_t now_ms = is_expired ? clock_wall_ms() : INT64_MAX / 4;
    if (!trash_job(cli, "trash-expire", json_pack("{s:I,s:s}", "now_ms", now_ms, "prefix", prefix),
                   &reply, err))
        return EXIT_ERR;
    str_addf(&cli->out, "%zu deleted, %" PRId64 " kept\n",
             json_array_size(json_object_get(reply, "removed")), json_int(reply, "kept", 0));
    return EXIT_DONE;
}

int command_trash(Cli *cli, const Args *args, Err *err)
{
    const char *verb = args->words[0];
    if (text_equal(verb, "list"))
        return trash_list(cli, args_has(args, "json"), err);
    if (text_equal(verb, "restore") && args->word_count == 2)
        return trash_restore(cli, args->words[1], err);
    if (text_equal(verb, "restore"))
        return cli_fail(err, ERR_USAGE, "restore what? 'otto trash list' shows ids and names");
    if (text_equal(verb, "put") && args->word_count == 2)
        return trash_put(cli, args->words[1], err);
    if (text_equal(verb, "put"))
        return cli_fail(err, ERR_USAGE, "put which? give the id of a task whose workspace is kept");
    if (text_equal(verb, "empty"))
        return trash_empty(cli, args, err);
    return cli_fail(err, ERR_USAGE, "'otto trash' wants list, put, restore or empty, not '%.40s'",
                    verb);
}
