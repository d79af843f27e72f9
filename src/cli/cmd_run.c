/* run and serve. */
#include "cli/cli.h"
#include "cli/session.h"
#include "engine/engine.h"
#include "http/client.h"
#include "http/server.h"
#include <signal.h>
#include <unistd.h>

int command_run(Cli *cli, const Args *args, Err *err)
{
    int64_t tasks[ARGS_MOST];
    SessionRequest request = {.tasks = tasks,
                              .slots = args_int(args, "slots", 0),
                              .agent = args_text(args, "agent", NULL),
                              .workflow = args_text(args, "workflow", NULL),
                              .accept_rewrite = args_has(args, "accept-rewrite"),
                              .is_quiet = args_has(args, "quiet"),
                              .is_json = args_has(args, "json")};
    for (; request.count < args->word_count; request.count++)
        if (!cli_task_id(args->words[request.count], &tasks[request.count], err))
            return EXIT_ERR;
    return session_run(cli, &request, err);
}

static void on_end(void *user, int signo)
{
    (void)signo; /* INT, TERM and HUP mean the same */
    loop_stop(user);
}

static bool serve(Cli *cli, Engine *engine, Err *err)
{
    Loop *loop = engine_loop(engine);
    HttpServer *server = NULL;
    CLEANUP(str_done) Str path = STR_INIT;
    str_addf(&path, "%s/sock", cli->state_dir);
    (void)signal(SIGPIPE, SIG_IGN); /* a client that goes away is no reason to end */
    if (!http_serve(loop, engine, path.bytes, &server, err))
        return false;
    bool is_ready = loop_on_signal(loop, SIGINT, on_end, loop, err) &&
                    loop_on_signal(loop, SIGTERM, on_end, loop, err) &&
                    loop_on_signal(loop, SIGHUP, on_end, loop, err);
    if (is_ready) {
        str_addf(&cli->out, "engine %s, pid %d, listens on %s\n", OTTO_VERSION, (int)getpid(),
                 path.bytes);
        cli_flush(cli);
        loop_run(loop);
    }
    http_server_free(server);
    return is_ready;
}

int command_serve(Cli *cli, const Args *args, Err *err)
{
    (void)args; /* it takes none */
    CLEANUP(str_done) Str path = STR_INIT;
    str_addf(&path, "%s/sock", cli->state_dir);
    HttpClient *other = http_connect(path.bytes, NULL);
    http_close(other);
    /* Only a short-lived owner of the lock is worth waiting for; the lock names the other one. */
    EngineOptions options = {.state_dir = cli->state_dir,
                             .program = cli->program,
                             .keeper = cli->keeper,
                             .is_online = true,
                             .lock_wait_ms = other ? 0 : 10000};
    Engine *engine = engine_open(&options, err);
    if (!engine)
        return EXIT_ERR;
    bool is_served = serve(cli, engine, err);
    engine_free(engine); /* agents go on; the next engine takes them up */
    return is_served ? EXIT_DONE : EXIT_ERR;
}
