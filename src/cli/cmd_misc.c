/* Small commands: decide, replay, signal, and the two that the engine itself starts. */
#include "agent/script.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "core/decide.h"
#include "engine/replay.h"
#include "engine/work.h"
#include "http/client.h"
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_owned(Cli *cli, char *text)
{
    str_add(&cli->out, text);
    if (*text && !text_ends(text, "\n"))
        str_add_char(&cli->out, '\n');
    free(text);
    return EXIT_DONE;
}

static int decide_usage(Cli *cli, const char *name, Err *err)
{
    char *help = name ? decide_help(name) : NULL;
    if (help)
        return print_owned(cli, help);
    if (name)
        return cli_fail(err, ERR_USAGE, "unknown decision '%.60s'; 'otto decide --list' names them",
                        name);
    const Command *command = command_find("decide", err);
    help_command(command, &cli->out);
    return EXIT_DONE;
}

int command_decide(Cli *cli, const Args *args, Err *err)
{
    const char *name = NULL;
    for (size_t i = 0; i < args->word_count; i++) {
        if (text_equal(args->words[i], "--list"))
            return print_owned(cli, decide_list());
        if (args->words[i][0] != '-')
            name = name ? name : args->words[i];
    }
    for (size_t i = 0; i < args->word_count; i++)
        if (text_equal(args->words[i], "--help") || text_equal(args->words[i], "-h"))
            return decide_usage(cli, name, err);
    if (!name || args->word_count != 1)
        return cli_fail(err, ERR_USAGE,
                        "otto decide NAME <in.json; 'otto decide --list' names the "
                        "decisions");
    CLEANUP(mem_freep) char *input = cli_read_input(DECIDE_INPUT_MAX, err);
    if (!input)
        return EXIT_ERR;
    int code = 0;
    char *answer = decide_run(name, input, strlen(input), &code);
    CLEANUP(mem_freep) char *message = decide_error_message(answer);
    if (message)
        cli_error(message);
    (void)print_owned(cli, answer); /* the code says how it went */
    return code;
}

static int print_replay(Cli *cli, const ReplayResult *result, bool is_json)
{
    int code = result->differences ? EXIT_PARTLY : EXIT_DONE;
    if (is_json) {
        CLEANUP(json_freep)
        json_t *json = json_pack("{s:I,s:I,s:O?}", "events", result->events, "differences",
                                 result->differences, "first", result->first);
        (void)cli_print_json(cli, json); /* never fails */
        return code;
    }
    str_addf(&cli->out, "%" PRId64 " events replayed, %" PRId64 " decisions differ\n",
             result->events, result->differences);
    CLEANUP(mem_freep) char *first = result->first ? json_write_pretty(result->first) : NULL;
    if (first)
        str_add_block(&cli->out, first, 2);
    return code;
}

int command_replay(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(str_done) Str database = STR_INIT;
    const char *save = args_text(args, "save", NULL);
    ReplayResult result = {0};
    int64_t events = 0;
    str_addf(&database, "%s/otto.db", cli->state_dir);
    if (save) {
        if (!replay_save(database.bytes, save, &events, err))
            return EXIT_ERR;
        str_addf(&cli->out, "%" PRId64 " events written to '%s'\n", events, save);
        return EXIT_DONE;
    }
    bool is_read = args->word_count ? replay_file(args->words[0], &result, err)
                                    : replay_store(database.bytes, &result, err);
    if (!is_read)
        return EXIT_ERR;
    int code = print_replay(cli, &result, args_has(args, "json"));
    replay_result_done(&result);
    return code;
}

/* `otto signal PENDING which layout` means PENDING:which layout. */
static char *signal_text(const Args *args)
{
    Str text = STR_INIT;
    str_add(&text, args->words[0]);
    for (size_t i = 1; i < args->word_count; i++) {
        const char *between = i == 1 && !strchr(args->words[0], ':') ? ":" : " ";
        str_addf(&text, "%s%s", between, args->words[i]);
    }
    return str_take(&text);
}

static int signal_refused(const Str *reply, Err *err)
{
    CLEANUP(json_freep) json_t *json = json_read(str_text(reply), reply->length, NULL);
    return cli_fail(
        err, ERR_USAGE, "%s",
        json_text(json_object_get(json, "error"), "message", "the engine refused the signal"));
}

enum { SIGNAL_WAIT_MS = 60000, SIGNAL_STEP_MS = 100 };

/* Agents go on while the engine is restarted or its disk is full: a signal waits for better times.
 * Saying it twice does no harm, so an exchange that broke is tried again as well. */
static bool signal_send(const char *path, const char *route, const char *json, const char *token,
                        int *status, Str *reply, Err *err)
{
    int64_t until_ms = clock_mono_ms() + SIGNAL_WAIT_MS;
    for (;;) {
        Err problem = {0};
        bool is_heard = http_call(path, "POST", route, json, token, status, reply, &problem);
        bool is_gone = !is_heard && (problem.kind == ERR_NOT_FOUND || problem.kind == ERR_IO);
        bool is_in_trouble = is_heard && *status >= 500;
        if ((!is_gone && !is_in_trouble) || clock_mono_ms() > until_ms) {
            *err = problem;
            return is_heard;
        }
        (void)poll(NULL, 0, SIGNAL_STEP_MS); /* cut short is fine */
    }
}

enum { RESULT_MOST = 256 * 1024 };

/* The structured answer of a phase: read and bounded here, so that a slip is told at once. */
static json_t *result_body(const char *file, Err *err)
{
    CLEANUP(mem_freep)
    char *text = text_equal(file, "-") ? cli_read_input(RESULT_MOST, err)
                                       : file_read_stream(file, RESULT_MOST, NULL, err);
    json_t *result = text ? json_read(text, strlen(text), err) : NULL;
    if (!result) {
        (void)err_add(err, "the result"); /* NULL says it failed */
        return NULL;
    }
    if (json_is_object(result))
        return json_pack("{s:o}", "result", result);
    json_decref(result);
    (void)err_set(err, ERR_USAGE, "the result must be a JSON object"); /* NULL says it failed */
    return NULL;
}

static json_t *signal_body(const Args *args, Err *err)
{
    CLEANUP(mem_freep) char *text = signal_text(args);
    json_t *body = json_object();
    if (cli_put_text(body, "text", text, err))
        return body;
    json_decref(body);
    return NULL;
}

int command_signal(Cli *cli, const Args *args, Err *err)
{
    const char *path = getenv("OTTO_SOCKET"), *token = getenv("OTTO_TOKEN");
    const char *file = args_text(args, "result", NULL);
    if ((file != NULL) == (args->word_count > 0))
        return cli_fail(err, ERR_USAGE,
                        "signal what? otto signal TYPE[:PAYLOAD], or otto signal "
                        "--result FILE");
    if (!path || !*path || !token || !*token)
        return cli_fail(err, ERR_USAGE,
                        "'otto signal' is for agents that otto started: OTTO_SOCKET "
                        "and OTTO_TOKEN are not set");
    CLEANUP(json_freep) json_t *body = file ? result_body(file, err) : signal_body(args, err);
    CLEANUP(str_done) Str reply = STR_INIT;
    int status = 0;
    if (!body)
        return EXIT_ERR;
    CLEANUP(mem_freep) char *json = json_write(body);
    const char *route = file ? "/api/v1/result" : "/api/v1/signal";
    if (!signal_send(path, route, json, token, &status, &reply, err))
        return EXIT_ERR;
    if (status >= 400)
        return signal_refused(&reply, err);
    str_add(&cli->out, "The engine has noted it.\n");
    return EXIT_DONE;
}

int command_do(Cli *cli, const Args *args, Err *err)
{
    (void)cli; /* a job reads and writes its own descriptors */
    (void)err;
    return work_main(args->words[0]);
}

int command_script_agent(Cli *cli, const Args *args, Err *err)
{
    (void)cli; /* the scripted agent speaks for itself */
    (void)err;
    return script_main(args->words[0]);
}
