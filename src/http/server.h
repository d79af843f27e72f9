/* HTTP/1.1 on the engine's unix socket: requests become api_handle calls, one event stream per
 * connection that asks for it.
 *
 * Own code (see request.h for why). Owns the socket file (mode 0600) and its connections; touches
 * nothing else. Everything from outside is bounded: head 16 KB, body 8 MB, 256 connections, 10 s
 * for a head, 60 s for a body, 1 MB waiting for a slow reader of events. Runs in the engine's loop,
 * never blocks, has no timer while nobody is connected. */
#pragma once
#include "base/err.h"
#include "proc/loop.h"

typedef struct Engine Engine;
typedef struct HttpServer HttpServer;

/* Listens. The socket of a dead engine is replaced; a living one is ERR_BUSY. */
bool http_serve(Loop *loop, Engine *engine, const char *socket_path, HttpServer **server,
                Err *err) NODISCARD;
/* Closes all connections and removes the socket file. NULL is fine. Before engine_free. */
void http_server_free(HttpServer *server);
