/* Connections of the server, private to http/. */
#pragma once
#include "base/str.h"
#include "core/types.h"
#include "engine/api.h"
#include "http/request.h"
#include "proc/loop.h"

enum {
    HTTP_CONNS_MOST = 256,
    HTTP_HEAD_WAIT_MS = 10 * 1000,
    HTTP_BODY_WAIT_MS = 60 * 1000,
    HTTP_WRITE_WAIT_MS = 60 * 1000,
    HTTP_HEARTBEAT_MS = 30 * 1000,
    HTTP_QUEUE_MOST = 1024 * 1024,
    HTTP_BODY_LARGE = 64 * 1024,
    HTTP_LARGE_MOST = 8,
};

typedef struct HttpServer HttpServer;
typedef struct Conn Conn;

struct Conn {
    HttpServer *server;
    Conn *next, **link; /* newest first */
    int fd;
    uint32_t watched; /* events the loop looks for */
    Str in, out;
    size_t sent; /* of out */
    LoopTimer timer;
    int64_t used_ms;      /* when it last began or ended a request */
    HttpRequest *request; /* its head is read, the body not yet */
    bool is_closing;      /* when out is sent */
    bool is_stream;
    /* of a stream */
    bool is_live; /* stored events were sent, new ones come as they happen */
    bool with_output;
    int64_t after_id; /* stored events after this one are wanted; may lie in the future */
    int64_t sent_id;  /* of the last event sent; 0 none yet */
    ProjectId project;
    TaskId task;
};

struct HttpServer {
    Loop *loop;
    Engine *engine;
    char *path;
    int fd;
    Conn *conns;
    size_t conn_count;
    int listener; /* of the engine, while streams exist; -1 */
    bool hears_output;
    LoopTimer heartbeat;
    LoopTimer sweep; /* cuts streams marked is_closing, outside the engine's publishing */
};

/* conn.c */
void conn_take(HttpServer *server, int fd);
void conn_free(Conn *conn);
void conn_send(Conn *conn); /* what it can; arms the loop for the rest */
void conn_fail(Conn *conn, int status, const char *message);

/* stream.c */
void stream_begin(Conn *conn, const ApiReply *reply);
void stream_go_on(Conn *conn);            /* out is empty: more stored events */
void streams_changed(HttpServer *server); /* after a connection came or went */
