/* Event streams: stored events first, in portions, then new ones as the engine publishes them. */
#include "base/clock.h"
#include "base/json.h"
#include "engine/engine.h"
#include "http/conn.h"
#include <stdlib.h>

enum { PORTION_BYTES = 2 * 1024 * 1024 };

static void add_event(Conn *conn, int64_t id, const char *json, size_t length)
{
    if (id > 0)
        str_addf(&conn->out, "id: %lld\n", (long long)id);
    str_add(&conn->out, "data: ");
    str_add_bytes(&conn->out, json, length);
    str_add(&conn->out, "\n\n");
    if (id > 0)
        conn->after_id = conn->sent_id = id;
}

/* Events of the engine begin with their id. */
static int64_t id_of(const char *json)
{
    return text_starts(json, "{\"id\":") ? strtoll(json + 6, NULL, 10) : 0;
}

static void on_stored(void *user, const char *json, size_t length)
{
    Conn *conn = user;
    if (conn->out.length < PORTION_BYTES) /* the rest is read again after this portion */
        add_event(conn, id_of(json), json, length);
}

/* A reader who is behind gets the next portion when it has read the last; only then is it live. No
 * event can fall between: all of this happens on one thread. */
void stream_go_on(Conn *conn)
{
    while (!conn->is_live && !conn->is_closing && conn->sent == conn->out.length) {
        if (!engine_events_after(conn->server->engine, conn->after_id, conn->project, conn->task,
                                 on_stored, conn, NULL))
            conn->is_closing = true; /* the reader comes back with its last id */
        conn->is_live = conn->out.length < PORTION_BYTES;
        conn_send(conn);
    }
}

static bool is_wanted(const Conn *conn, const json_t *event, bool is_output)
{
    int64_t project = json_int(event, "project", 0), task = json_int(event, "task", 0);
    return conn->is_stream && conn->is_live && !conn->is_closing &&
           (!is_output || conn->with_output) && (!conn->task || conn->task == task) &&
           (!conn->project || !project || conn->project == project);
}

static void on_published(void *user, const char *json, size_t length)
{
    HttpServer *server = user;
    CLEANUP(json_freep) json_t *event = json_read(json, length, NULL);
    bool is_output = text_equal(json_text(event, "event", ""), "output");
    int64_t id = json_int(event, "id", 0);
    for (Conn *conn = server->conns; conn; conn = conn->next) {
        if (!is_wanted(conn, event, is_output) || (id && id <= conn->sent_id))
            continue;
        add_event(conn, id, json, length);
        if (conn->out.length - conn->sent > HTTP_QUEUE_MOST)
            conn->is_closing = true;
        else
            conn_send(conn);
        if (conn->is_closing) /* not freed here: the engine is in the middle of its listeners */
            loop_timer_set(server->loop, &server->sweep, 0);
    }
}

/* Only while clients exist: an idle engine does not wake up (P11). */
static void on_heartbeat(void *user)
{
    HttpServer *server = user;
    bool has_streams = false;
    for (Conn *conn = server->conns, *next; conn; conn = next) {
        next = conn->next;
        if (!conn->is_stream)
            continue;
        has_streams = true;
        str_add(&conn->out, ": still here\n\n");
        if (conn->out.length - conn->sent > HTTP_QUEUE_MOST)
            conn->is_closing = true;
        conn_send(conn);
        if (conn->is_closing)
            conn_free(conn);
    }
    if (has_streams)
        loop_timer_set(server->loop, &server->heartbeat, clock_mono_ms() + HTTP_HEARTBEAT_MS);
}

void streams_changed(HttpServer *server)
{
    bool has_streams = false, wants_output = false;
    for (const Conn *conn = server->conns; conn; conn = conn->next) {
        has_streams = has_streams || conn->is_stream;
        wants_output = wants_output || (conn->is_stream && conn->with_output);
    }
    bool is_right = has_streams == (server->listener >= 0) && wants_output == server->hears_output;
    if (!is_right && server->listener >= 0) {
        engine_unlisten(server->engine, server->listener);
        server->listener = -1;
    }
    if (has_streams && server->listener < 0)
        server->listener = engine_listen(server->engine, on_published, server, wants_output);
    server->hears_output = wants_output;
    server->heartbeat.fn = on_heartbeat;
    server->heartbeat.user = server;
    if (!has_streams)
        loop_timer_clear(server->loop, &server->heartbeat);
    else if (!loop_timer_is_set(&server->heartbeat))
        loop_timer_set(server->loop, &server->heartbeat, clock_mono_ms() + HTTP_HEARTBEAT_MS);
}

void stream_begin(Conn *conn, const ApiReply *reply)
{
    conn->is_stream = true;
    conn->with_output = reply->stream_output;
    conn->project = reply->stream_project;
    conn->task = reply->stream_task;
    conn->after_id = reply->stream_after;
    if (conn->request && conn->request->last_event_id >= 0)
        conn->after_id = conn->request->last_event_id;
    str_add(&conn->out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        "Cache-Control: no-store\r\n\r\n: hello\n\n");
    conn_send(conn);
    streams_changed(conn->server);
    stream_go_on(conn);
}
