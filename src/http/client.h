/* HTTP client on a unix socket, blocking: what the command line uses to reach a running engine.
 *
 * Touches the socket only. Replies are bounded (64 MB); a server that goes away is an ERR_IO. */
#pragma once
#include "base/err.h"
#include "base/str.h"

typedef struct HttpClient HttpClient; /* one kept-alive connection */

/* ERR_NOT_FOUND: nobody listens there (no socket, or its engine is gone). */
HttpClient *http_connect(const char *socket_path, Err *err) NODISCARD;
void http_close(HttpClient *client); /* NULL is fine */

/* One request. body may be NULL, token may be NULL. reply is overwritten with the body. False only
 * when the exchange itself failed: a refusal is a status. */
bool http_exchange(HttpClient *client, const char *method, const char *path, const char *body,
                   const char *token, int *status, Str *reply, Err *err) NODISCARD;

/* Connects, asks once, closes. */
bool http_call(const char *socket_path, const char *method, const char *path, const char *body,
               const char *token, int *status, Str *reply, Err *err) NODISCARD;

typedef struct HttpStream HttpStream; /* a connection that carries events */

/* path with its query. A refusal is an error with the server's sentence. */
HttpStream *http_stream_open(const char *socket_path, const char *path, const char *token,
                             Err *err) NODISCARD;
int http_stream_fd(const HttpStream *stream); /* for poll */
/* Called with the data of each event; valid during the call. */
typedef void HttpEvent(void *user, const char *data, size_t length);
/* Reads what has arrived (waits at most wait_ms for the first byte) and calls on_event for each
 * whole event. False: the stream has ended, see err. */
bool http_stream_read(HttpStream *stream, int wait_ms, HttpEvent *on_event, void *user,
                      Err *err) NODISCARD;
void http_stream_close(HttpStream *stream); /* NULL is fine */
