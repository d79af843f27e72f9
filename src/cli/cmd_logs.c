/* logs: what the agent wrote, once or as it comes. */
#include "cli/cli.h"
#include "http/client.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Logs {
    Cli *cli;
    int64_t task, run, turn;                      /* run and turn 0: all */
    int64_t at_run, at_epoch, at_turn, at_offset; /* where the next request begins */
    bool is_raw, is_json;
    int64_t shown_run, shown_turn; /* the last heading */
    bool is_running;
} Logs;

static void print_heading(Logs *logs, const json_t *chunk)
{
    int64_t run = json_int(chunk, "run", 0), turn = json_int(chunk, "turn", 0);
    if (logs->is_raw || (run == logs->shown_run && turn == logs->shown_turn))
        return;
    char text[80];
    (void)snprintf(text, sizeof text, "--- run %" PRId64 ", turn %" PRId64 " ---\n", run,
                   turn); /* fits */
    Str *out = &logs->cli->out;
    if (out->length && out->bytes[out->length - 1] != '\n')
        str_add_char(out, '\n');
    term_add(&logs->cli->term, out, STYLE_DIM, text);
    logs->shown_run = run;
    logs->shown_turn = turn;
}

static void print_chunk(Logs *logs, const json_t *chunk)
{
    Str *out = &logs->cli->out;
    const json_t *text = json_object_get(chunk, "text");
    if (logs->is_json) {
        char *line = json_write(chunk);
        str_addf(out, "%s\n", line);
        free(line);
        return;
    }
    print_heading(logs, chunk);
    if (logs->is_raw)
        str_add_bytes(out, json_string_value(text), json_string_length(text));
    else
        str_add_safe(out, json_string_value(text), json_string_length(text), true);
}

static void log_path(const Logs *logs, Str *path)
{
    str_addf(path, "/api/v1/tasks/%" PRId64 "/log?limit=262144", logs->task);
    if (logs->run)
        str_addf(path, "&run=%" PRId64, logs->run);
    if (logs->turn)
        str_addf(path, "&turn=%" PRId64, logs->turn);
    str_addf(path,
             "&from_run=%" PRId64 "&from_epoch=%" PRId64 "&from_turn=%" PRId64 "&after=%" PRId64,
             logs->at_run, logs->at_epoch, logs->at_turn, logs->at_offset);
}

/* One request; is_more says whether another would give more at once. */
static bool print_more(Logs *logs, bool *is_more, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(json_freep) json_t *reply = NULL;
    size_t index;
    const json_t *chunk;
    log_path(logs, &path);
    if (!call_api(logs->cli->caller, "GET", path.bytes, NULL, &reply, err))
        return false;
    json_array_foreach(json_object_get(reply, "chunks"), index, chunk)
    {
        print_chunk(logs, chunk);
    }

    const json_t *next = json_object_get(reply, "next");
    *is_more = json_flag(reply, "more", false);
    if (json_is_object(next)) {
        logs->at_run = json_int(next, "run", 0);
        logs->at_turn = json_int(next, "turn", 0);
        logs->at_epoch = json_int(next, "epoch", 0);
        logs->at_offset = json_int(next, "offset", 0);
    }
    logs->is_running = json_flag(reply, "running", false);
    cli_flush(logs->cli);
    return true;
}

static bool print_all(Logs *logs, Err *err)
{
    bool is_more = true;
    while (is_more)
        if (!print_more(logs, &is_more, err))
            return false;
    return true;
}

static void wake(void *user, const char *data, size_t length)
{
    (void)data; /* what was written is fetched in order, from where we are */
    (void)length;
    *(bool *)user = true;
}

static bool follow(Logs *logs, Err *err)
{
    char path[96];
    bool is_awake = false;
    (void)snprintf(path, sizeof path, "/api/v1/events?task=%" PRId64 "&output=1&after=%" PRId64,
                   logs->task, INT64_MAX / 2); /* fits; only what is new */
    HttpStream *stream = http_stream_open(caller_socket(logs->cli->caller), path, NULL, err);
    if (!stream)
        return false;
    bool is_fine = print_all(logs, err); /* what came between the first reading and the stream */
    while (is_fine && logs->is_running) {
        if (!http_stream_read(stream, 30000, wake, &is_awake, err)) {
            is_fine = false;
        } else if (is_awake) {
            is_awake = false;
            is_fine = print_all(logs, err);
        }
    }
    http_stream_close(stream);
    return is_fine;
}

int command_logs(Cli *cli, const Args *args, Err *err)
{
    Logs logs = {.cli = cli,
                 .run = args_int(args, "run", 0),
                 .turn = args_int(args, "turn", 0),
                 .is_raw = args_has(args, "raw"),
                 .is_json = args_has(args, "json")};
    if (!cli_task_id(args->words[0], &logs.task, err) || !cli_caller(cli, err) ||
        !print_all(&logs, err))
        return EXIT_ERR;
    bool has_printed = logs.shown_run || logs.is_raw || logs.is_json;
    if (!has_printed && !args_has(args, "follow"))
        str_addf(&cli->out, "#%" PRId64 " has written nothing yet\n", logs.task);
    if (args_has(args, "follow") && caller_is_live(cli->caller) && !follow(&logs, err))
        return EXIT_ERR;
    return EXIT_DONE;
}
