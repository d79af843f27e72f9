/* One HTTP/1.1 request head, read strictly.
 *
 * Own code, as is the server: libmicrohttpd pulls gnutls and its constructors into every start of
 * the program, and `otto status` must be quicker than `git rev-parse`. What is needed is small: a
 * bounded head, a body with a stated length, keep-alive. Everything unusual is refused. Pure;
 * touches nothing but the struct. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_HEAD_MOST = 16 * 1024,
    HTTP_BODY_MOST = 8 * 1024 * 1024,
    HTTP_TARGET_MOST = 8 * 1024,
    HTTP_HEADERS_MOST = 64,
};

typedef struct HttpRequest {
    char method[12];
    char path[HTTP_TARGET_MOST];  /* without the query; as sent, nothing is decoded */
    char query[HTTP_TARGET_MOST]; /* after '?', "" when there is none */
    char token[256];              /* of "Authorization: Bearer", "" when there is none */
    size_t head_length;           /* with the empty line */
    size_t body_length;           /* Content-Length, 0 when absent */
    int64_t last_event_id;        /* -1 when absent */
    bool has_token;               /* an Authorization header was sent, good or bad */
    bool has_length;
    bool is_keep_alive;
    bool wants_continue; /* Expect: 100-continue */
} HttpRequest;

enum { HTTP_MORE = -1, HTTP_OK = 0 };

/* HTTP_OK: the head is complete and request is filled. HTTP_MORE: send more bytes. Otherwise the
 * HTTP status of the refusal (400, 411, 413, 414, 417, 431, 501, 505); the connection must close.
 */
int http_request_parse(const char *bytes, size_t length, HttpRequest *request);

const char *http_status_text(int status);
