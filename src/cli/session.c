/* One `otto run`: see session.h. */
#include "cli/session.h"
#include "base/clock.h"
#include "cli/display.h"
#include "cli/summary.h"
#include "engine/engine.h"
#include "http/client.h"
#include "http/server.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { DRAW_EVERY_MS = 125, CLOCK_EVERY_MS = 1000 };

typedef struct Session {
    Cli *cli;
    const SessionRequest *request;
    int64_t project, started_ms, drawn_ms;
    Display *display;
    Loop *loop;
    Engine *engine; /* NULL: of another process */
    HttpServer *server;
    HttpStream *stream;
    int listener;
    bool is_stale; /* something happened since the last snapshot */
    bool is_over;
    bool has_lost_engine;
    bool is_shown;  /* there is a display */
    bool has_begun; /* the run was asked for */
    int interrupts, attempts;
} Session;

/* -- events and snapshots ----------------------------------------------------------------- */

static void on_event(void *user, const char *text, size_t length)
{
    Session *session = user;
    CLEANUP(json_freep) json_t *event = json_read(text, length, NULL);
    int64_t project = json_int(event, "project", session->project);
    if (!event || project != session->project)
        return;
    session->is_stale = true;
    const char *word = json_text(event, "event", "");
    bool is_ours =
        session->interrupts && (text_equal(word, "pause") || text_equal(word, "stop.all"));
    if (session->is_shown && !is_ours && !text_equal(word, "output"))
        display_event(session->display, event);
}

static void on_stream(void *user, uint32_t events)
{
    Session *session = user;
    (void)events; /* reading tells what happened */
    Err err = {0};
    if (!http_stream_read(session->stream, 0, on_event, session, &err))
        session->has_lost_engine = true;
}

static bool is_quiet(const Session *session, const json_t *status)
{
    if (session->engine)
        return engine_is_quiet(session->engine, (ProjectId)session->project);
    const char *autopilot = json_text(json_object_get(status, "project"), "autopilot", "idle");
    return (text_equal(autopilot, "idle") || text_equal(autopilot, "paused")) &&
           !json_array_size(json_object_get(status, "running")) &&
           !json_array_size(json_object_get(status, "merging"));
}

static bool look(Session *session, Err *err)
{
    CLEANUP(json_freep) json_t *status = NULL;
    if (!call_get(session->cli->caller, &status, err, "/api/v1/status?project=%" PRId64,
                  session->project))
        return false;
    display_snapshot(session->display, status);
    session->is_stale = false;
    session->is_over = is_quiet(session, status);
    return true;
}

static void show(Session *session)
{
    Str *out = &session->cli->out;
    session->drawn_ms = clock_mono_ms();
    if (session->is_shown)
        display_draw(session->display, session->drawn_ms - session->started_ms, out);
    cli_flush(session->cli);
}

/* -- Ctrl-C ------------------------------------------------------------------------------- */

/* The present state, for the sentence a person gets. */
static json_t *project_status(Session *session)
{
    json_t *status = NULL;
    if (!call_get(session->cli->caller, &status, NULL, "/api/v1/status?project=%" PRId64,
                  session->project))
        return NULL;
    return status;
}

/* D-116: the first asks for an end of turns, the second ends them. */
static void on_interrupt(void *user, int signo)
{
    Session *session = user;
    Err err = {0};
    char text[160];
    if (signo == SIGINT) /* otherwise INT, TERM and HUP mean the same */
        display_echoed(session->display, 2);
    bool is_first = session->interrupts++ == 0, is_asked;
    if (is_first) {
        CLEANUP(json_freep) json_t *status = project_status(session);
        int64_t wait_ms = json_int(json_object_get(status, "project"), "pause_wait_ms", 5000);
        size_t count = json_array_size(json_object_get(status, "running"));
        CLEANUP(json_freep) json_t *body = json_pack("{s:I}", "wait_ms", wait_ms);
        (void)snprintf(
            text, sizeof text,
            "pausing%s: %zu turn%s under way %s %" PRId64 " s to end; Ctrl-C again stops %s now",
            session->engine ? "" : " the engine", count, count == 1 ? "" : "s",
            count == 1 ? "has" : "have", wait_ms / 1000, count == 1 ? "it" : "them"); /* fits */
        display_say(session->display, STYLE_WARN, text);
        is_asked = call_post(session->cli->caller, body, NULL, &err,
                             "/api/v1/projects/%" PRId64 "/pause", session->project);
    } else if (session->interrupts == 2) {
        CLEANUP(json_freep) json_t *body = json_pack("{s:b}", "kill", true);
        display_say(session->display, STYLE_WARN, "stopping every agent now; their work is kept");
        is_asked = call_post(session->cli->caller, body, NULL, &err,
                             "/api/v1/projects/%" PRId64 "/stop", session->project);
    } else {
        session->is_over = is_asked = true; /* agents that still run are taken up next time */
    }
    if (!is_asked)
        display_say(session->display, STYLE_BAD, err.text);
    session->is_stale = true;
}

static void on_resize(void *user, int signo)
{
    Session *session = user;
    (void)signo; /* only WINCH comes here */
    term_resize(&session->cli->term, STDOUT_FILENO);
    display_resize(session->display, session->cli->term.width, session->cli->term.height);
    session->is_stale = true;
}

/* -- start and end ------------------------------------------------------------------------ */

static bool listen_to_signals(Session *session, Err *err)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe ends the display, not the work */
    return loop_on_signal(session->loop, SIGINT, on_interrupt, session, err) &&
           loop_on_signal(session->loop, SIGTERM, on_interrupt, session, err) &&
           loop_on_signal(session->loop, SIGHUP, on_interrupt, session, err) &&
           loop_on_signal(session->loop, SIGWINCH, on_resize, session, err);
}

/* Where events come from. */
static bool attach(Session *session, Err *err)
{
    Caller *caller = session->cli->caller;
    bool wants_output = session->cli->term.is_terminal && session->is_shown;
    session->engine = caller_engine(caller);
    if (session->engine) {
        session->loop = engine_loop(session->engine);
        if (session->is_shown)
            session->listener = engine_listen(session->engine, on_event, session, wants_output);
        return http_serve(session->loop, session->engine, caller_socket(caller), &session->server,
                          err) &&
               listen_to_signals(session, err);
    }
    char path[96];
    (void)snprintf(path, sizeof path, "/api/v1/events?project=%" PRId64 "&after=%" PRId64 "%s",
                   session->project, INT64_MAX / 2, wants_output ? "&output=1" : ""); /* fits */
    session->loop = loop_new(err);
    session->stream =
        session->loop ? http_stream_open(caller_socket(caller), path, NULL, err) : NULL;
    return session->stream &&
           loop_watch(session->loop, http_stream_fd(session->stream), EPOLLIN, on_stream, session,
                      err) &&
           listen_to_signals(session, err);
}

static void detach(Session *session)
{
    if (session->engine) {
        if (session->listener >= 0)
            engine_unlisten(session->engine, session->listener);
        http_server_free(session->server); /* the engine ends with the caller */
    } else {
        if (session->stream && session->loop)
            loop_unwatch(session->loop, http_stream_fd(session->stream));
        http_stream_close(session->stream);
        loop_free(session->loop);
    }
    session->engine = NULL;
    session->server = NULL;
    session->stream = NULL;
    session->loop = NULL;
}

static void learn_titles(Session *session)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    size_t index;
    const json_t *task;
    if (!call_get(session->cli->caller, &reply, NULL,
                  "/api/v1/tasks?project=%" PRId64 "&limit=100000", session->project))
        return; /* lines without titles are still lines */
    json_array_foreach(json_object_get(reply, "tasks"), index, task)
    {
        display_name(session->display, json_int(task, "id", 0), json_text(task, "title", ""));
        display_state(session->display, json_int(task, "id", 0), json_text(task, "state", ""));
    }
}

static bool begin(Session *session, Err *err)
{
    const SessionRequest *request = session->request;
    CLEANUP(json_freep) json_t *body = json_object();
    CLEANUP(json_freep) json_t *reply = NULL;
    if (request->count) {
        json_t *tasks = json_array(); /* setting and appending fail only without memory */
        for (size_t i = 0; i < request->count; i++)
            (void)json_array_append_new(tasks, json_integer(request->tasks[i]));
        (void)json_object_set_new(body, "tasks", tasks);
    }
    if (request->slots)
        (void)json_object_set_new(body, "slots", json_integer(request->slots));
    if ((request->agent && !cli_put_text(body, "agent", request->agent, err)) ||
        (request->workflow && !cli_put_text(body, "workflow", request->workflow, err)) ||
        json_object_set_new(body, "accept_rewrite", json_boolean(request->accept_rewrite)) != 0 ||
        !call_post(session->cli->caller, body, &reply, err, "/api/v1/projects/%" PRId64 "/run",
                   session->project))
        return false;
    cli_warn(session->cli, json_object_get(reply, "warnings"));
    return true;
}

static int64_t next_wait_ms(const Session *session)
{
    int64_t since = clock_mono_ms() - session->drawn_ms;
    if (session->is_stale)
        return MAX(DRAW_EVERY_MS - since, 0);
    return session->cli->term.is_terminal ? MAX(CLOCK_EVERY_MS - since, 0) : -1;
}

/* Wakes for events, the clock of the display and signals; looks at most 8 times a second. The end
 * is looked for at once, whatever the display does. */
static bool follow(Session *session, Err *err)
{
    while (!session->is_over && !session->has_lost_engine) {
        (void)loop_run_once(session->loop, next_wait_ms(session)); /* the count is for tests */
        bool is_due = clock_mono_ms() - session->drawn_ms >= DRAW_EVERY_MS;
        bool may_end = session->engine && is_quiet(session, NULL);
        if (!is_due && !may_end)
            continue;
        if ((session->is_stale || may_end || session->cli->term.is_terminal) && !look(session, err))
            return false;
        show(session);
    }
    return true;
}

static int finish(Session *session, Err *err)
{
    Cli *cli = session->cli;
    SummaryRequest summary = {.project = session->project,
                              .tasks = session->request->tasks,
                              .count = session->request->count,
                              .elapsed_ms = clock_mono_ms() - session->started_ms,
                              .is_json = session->request->is_json};
    int code = summary_print(cli, &summary, err);
    if (session->interrupts && code != EXIT_ERR) {
        if (!session->request->is_json)
            str_addf(&cli->out, "Paused; '%s run' goes on from here.\n", cli->otto);
        return EXIT_INTERRUPTED;
    }
    return code;
}

/* Attaches, asks for the run once, follows it. */
static int run_attached(Session *session, Err *err)
{
    if (!cli_project(session->cli, !session->has_begun, &session->project, err) ||
        !attach(session, err))
        return EXIT_ERR;
    if (session->is_shown && !session->has_begun)
        learn_titles(session);
    if (!session->has_begun && !begin(session, err))
        return EXIT_ERR;
    session->has_begun = true;
    if (!look(session, err))
        return EXIT_ERR;
    show(session);
    if (!follow(session, err))
        return EXIT_ERR;
    if (session->has_lost_engine)
        return cli_fail(err, ERR_IO, "the engine has ended");
    if (session->is_shown)
        display_end(session->display, &session->cli->out);
    cli_flush(session->cli);
    return finish(session, err);
}

/* An engine of another process may end (its own run is over) or be killed: this process then takes
 * its place, as any start would, and goes on. */
static bool may_take_over(const Session *session, const Err *err)
{
    return !session->engine && err->kind == ERR_IO && session->attempts < 20;
}

int session_run(Cli *cli, const SessionRequest *request, Err *err)
{
    CallerOptions options = cli_caller_options(cli);
    Session session = {.cli = cli,
                       .request = request,
                       .started_ms = clock_mono_ms(),
                       .is_shown = !request->is_quiet && !request->is_json};
    int code;
    bool is_again;
    options.is_online = true;
    session.display = display_new(&cli->term, cli->otto);
    do {
        session.listener = -1;
        session.has_lost_engine = session.is_over = false;
        session.attempts++;
        cli_caller_close(cli);
        cli->caller = caller_open(&options, err);
        code = cli->caller ? run_attached(&session, err) : EXIT_ERR;
        is_again = cli->caller && code == EXIT_ERR && may_take_over(&session, err);
        detach(&session);
    } while (is_again);
    if (session.is_shown)
        display_end(session.display, &cli->out); /* empty after a good end */
    display_free(session.display);
    cli_flush(cli);
    cli_caller_close(cli);
    return code;
}
