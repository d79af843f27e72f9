/* Commands that wish something of the engine: one request each, one sentence back. */
#include "base/arena.h"
#include "cli/cli.h"
#include <inttypes.h>
#include <string.h>

static int say(Cli *cli, const char *sentence)
{
    str_addf(&cli->out, "%s\n", sentence);
    return EXIT_DONE;
}

/* What the engine is needed for will not happen without one: say so. */
static void hint_offline(Cli *cli)
{
    if (!caller_is_live(cli->caller))
        str_addf(&cli->out, "No engine runs; '%s run' goes on from here.\n", cli->otto);
}

static bool post_project(Cli *cli, const char *verb, const json_t *body, Err *err)
{
    int64_t project;
    return cli_project(cli, false, &project, err) &&
           call_post(cli->caller, body, NULL, err, "/api/v1/projects/%" PRId64 "/%s", project,
                     verb);
}

int command_pause(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_object();
    if (args_has(args, "wait"))
        (void)json_object_set_new(body, "wait_ms", json_integer(args_int(args, "wait", 0) * 1000));
    if (!post_project(cli, "pause", body, err))
        return EXIT_ERR;
    return say(cli, "Pausing: nothing new is started; turns under way end first.");
}

int command_resume(Cli *cli, const Args *args, Err *err)
{
    (void)args; /* it takes none */
    if (!post_project(cli, "resume", NULL, err))
        return EXIT_ERR;
    (void)say(cli, "Resumed."); /* never fails */
    hint_offline(cli);
    return EXIT_DONE;
}

/* One request per task; all are tried, the first refusal is the answer. */
static int each_task(Cli *cli, const Args *args, const char *verb, const json_t *body,
                     const char *done, Err *err)
{
    int code = EXIT_DONE;
    if (!cli_caller(cli, err))
        return EXIT_ERR;
    for (size_t i = 0; i < args->word_count; i++) {
        int64_t id;
        Err problem = {0};
        if (cli_task_id(args->words[i], &id, &problem) &&
            call_post(cli->caller, body, NULL, &problem, "/api/v1/tasks/%" PRId64 "/%s", id,
                      verb)) {
            str_addf(&cli->out, "#%" PRId64 " %s\n", id, done);
            continue;
        }
        if (code != EXIT_DONE)
            cli_error(err->text); /* the earlier one; the last is printed at the end */
        *err = problem;
        code = EXIT_ERR;
    }
    return code;
}

int command_stop(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_pack("{s:b}", "kill", args_has(args, "kill"));
    bool is_all = args_has(args, "all");
    if (is_all == (args->word_count > 0))
        return cli_fail(err, ERR_USAGE, "stop what? Name tasks, or give --all");
    if (!is_all)
        return each_task(cli, args, "stop", body, "is being stopped; its work is kept", err);
    if (!post_project(cli, "stop", body, err))
        return EXIT_ERR;
    return say(cli, "Stopping every agent; their work is kept.");
}

int command_retry(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_pack("{s:b}", "fresh", args_has(args, "fresh"));
    if (args_has(args, "note") && !cli_put_text(body, "note", args_text(args, "note", ""), err))
        return EXIT_ERR;
    int code = each_task(cli, args, "retry", body, "is pending again", err);
    if (code == EXIT_DONE)
        hint_offline(cli);
    return code;
}

int command_skip(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_object();
    if (args_has(args, "note") && !cli_put_text(body, "note", args_text(args, "note", ""), err))
        return EXIT_ERR;
    return each_task(cli, args, "skip", body, "is skipped; 'otto retry' takes it up again", err);
}

int command_rm(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(str_done) Str done = STR_INIT;
    str_addf(&done, "is removed, its work is in the trash; '%s trash restore ID' brings it back",
             cli->otto);
    return each_task(cli, args, "remove", NULL, done.bytes, err);
}

static char *join_words(const Args *args, size_t first)
{
    Str text = STR_INIT;
    for (size_t i = first; i < args->word_count; i++)
        str_addf(&text, "%s%s", i > first ? " " : "", args->words[i]);
    return str_take(&text);
}

int command_answer(Cli *cli, const Args *args, Err *err)
{
    enum { ANSWER_MOST = 256 * 1024 };
    int64_t id;
    if (!cli_task_id(args->words[0], &id, err))
        return EXIT_ERR;
    bool is_input = args->word_count == 2 && text_equal(args->words[1], "-");
    CLEANUP(mem_freep)
    char *text = is_input ? cli_read_input(ANSWER_MOST, err) : join_words(args, 1);
    if (!text)
        return EXIT_ERR;
    CLEANUP(json_freep) json_t *body = json_object();
    if (text[strspn(text, " \t\n")] == '\0')
        return cli_fail(err, ERR_USAGE, "the answer is empty");
    if (!cli_put_text(body, "text", text, err) || !cli_caller(cli, err) ||
        !call_post(cli->caller, body, NULL, err, "/api/v1/tasks/%" PRId64 "/answer", id))
        return EXIT_ERR;
    str_addf(&cli->out, "#%" PRId64 " has its answer and goes on.\n", id);
    hint_offline(cli);
    return EXIT_DONE;
}

/* A command of the task's workflow, by hand; the engine says which row refuses it. */
int command_step(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *body = json_object();
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!cli_task_id(args->words[0], &id, err) ||
        !cli_put_text(body, "command", args->words[1], err) || !cli_caller(cli, err) ||
        !call_post(cli->caller, body, &reply, err, "/api/v1/tasks/%" PRId64 "/step", id))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    str_addf(&cli->out, "#%" PRId64 " ", id);
    str_add_line(&cli->out, args->words[1]);
    str_addf(&cli->out, ": the task is %s", json_text(reply, "state", "?"));
    if (json_text(reply, "status", NULL)) {
        str_add(&cli->out, ", status ");
        str_add_line(&cli->out, json_text(reply, "status", ""));
    }
    str_add_char(&cli->out, '\n');
    hint_offline(cli);
    return EXIT_DONE;
}
