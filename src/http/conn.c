/* One connection: bytes in, requests, bytes out. See conn.h. */
#include "http/conn.h"
#include "base/arena.h"
#include "base/clock.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_ready(void *user, uint32_t events);

static void conn_unlink(Conn *conn)
{
    *conn->link = conn->next;
    if (conn->next)
        conn->next->link = conn->link;
    conn->server->conn_count--;
}

void conn_free(Conn *conn)
{
    HttpServer *server = conn->server;
    bool was_stream = conn->is_stream;
    loop_timer_clear(server->loop, &conn->timer);
    loop_unwatch(server->loop, conn->fd);
    (void)close(conn->fd); /* what could be sent was sent */
    conn_unlink(conn);
    str_done(&conn->in);
    str_done(&conn->out);
    free(conn->request);
    free(conn);
    if (was_stream)
        streams_changed(server);
}

static void on_late(void *user)
{
    Conn *conn = user;
    if (conn->out.length > conn->sent || conn->is_stream) {
        conn_free(conn); /* does not read what we send */
        return;
    }
    conn_fail(conn, 408, "the request did not arrive in time");
    conn_free(conn);
}

static void conn_watch(Conn *conn, uint32_t events)
{
    if (conn->watched == events)
        return;
    Err err = {0};
    if (loop_watch(conn->server->loop, conn->fd, events, on_ready, conn, &err))
        conn->watched = events;
    else
        conn->is_closing = true; /* out of kernel memory: the client sees a closed connection */
}

static void conn_deadline(Conn *conn, int64_t wait_ms)
{
    loop_timer_set(conn->server->loop, &conn->timer, clock_mono_ms() + wait_ms);
}

/* While something waits to be sent nothing is read: a client that does not read cannot make us
 * collect its requests. A stream reads on, to see its end. */
void conn_send(Conn *conn)
{
    while (conn->sent < conn->out.length) {
        ssize_t put = send(conn->fd, conn->out.bytes + conn->sent, conn->out.length - conn->sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            break;
        if (put < 0) {
            conn->is_closing = true;
            conn->sent = conn->out.length;
            break;
        }
        conn->sent += (size_t)put;
    }
    if (conn->sent < conn->out.length) {
        conn_watch(conn, conn->is_stream ? EPOLLIN | EPOLLOUT : EPOLLOUT);
        if (!conn->is_stream)
            conn_deadline(conn, HTTP_WRITE_WAIT_MS);
        if (conn->sent > HTTP_QUEUE_MOST / 4) { /* sent bytes are not kept */
            memmove(conn->out.bytes, conn->out.bytes + conn->sent, conn->out.length - conn->sent);
            conn->out.length -= conn->sent;
            conn->sent = 0;
        }
        return;
    }
    str_clear(&conn->out);
    conn->sent = 0;
    conn_watch(conn, EPOLLIN);
}

static void add_reply(Conn *conn, int status, const char *body, size_t length, bool is_kept)
{
    str_addf(&conn->out,
             "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
             "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s\r\n",
             status, http_status_text(status), length, is_kept ? "" : "Connection: close\r\n");
    str_add_bytes(&conn->out, body, length);
}

void conn_fail(Conn *conn, int status, const char *message)
{
    CLEANUP(str_done) Str body = STR_INIT;
    str_addf(&body, "{\"error\":{\"kind\":\"%s\",\"message\":\"%s\"}}",
             err_kind_name(status == 413 ? ERR_TOO_BIG : ERR_USAGE), message);
    add_reply(conn, status, body.bytes, body.length, false);
    conn->is_closing = true;
    conn_send(conn);
}

static void drop_input(Conn *conn, size_t length)
{
    memmove(conn->in.bytes, conn->in.bytes + length, conn->in.length - length + 1);
    conn->in.length -= length;
}

/* The whole request is there. */
static void conn_answer(Conn *conn)
{
    const HttpRequest *head = conn->request;
    char *body = conn->in.bytes + head->head_length, after = body[head->body_length];
    ApiRequest request = {.method = head->method,
                          .path = head->path,
                          .query = head->query,
                          .body = head->body_length ? body : NULL,
                          .body_length = head->body_length,
                          .run_token = head->has_token ? head->token : NULL};
    ApiReply reply = {0};
    body[head->body_length] = '\0'; /* the next request may stand there */
    api_handle(conn->server->engine, &request, &reply);
    body[head->body_length] = after;
    drop_input(conn, head->head_length + head->body_length);
    if (reply.is_event_stream) {
        stream_begin(conn, &reply);
    } else {
        add_reply(conn, reply.status, str_text(&reply.body), reply.body.length,
                  head->is_keep_alive);
        conn->is_closing = !head->is_keep_alive;
        conn_send(conn);
    }
    api_reply_done(&reply);
    free(conn->request);
    conn->request = NULL;
    conn->used_ms = clock_mono_ms();
}

typedef struct Refusal {
    int status;
    const char *message;
} Refusal;

/* clang-format off */
static const Refusal refusals[] = {
    {400, "not a valid HTTP/1.1 request"},
    {411, "send a body with Content-Length, not in chunks"},
    {413, "the body is larger than 8 MB"},
    {414, "the path is too long"},
    {417, "only 100-continue may be expected"},
    {431, "the head is larger than 16 KB or has too many lines"},
    {501, "this method or transfer coding is not supported"},
    {503, "too many large requests at once"},
    {505, "only HTTP/1.0 and HTTP/1.1 are spoken here"},
};
/* clang-format on */

static void conn_refuse(Conn *conn, int status)
{
    const char *message = "the request was refused";
    for (size_t i = 0; i < COUNT(refusals); i++)
        if (refusals[i].status == status)
            message = refusals[i].message;
    conn_fail(conn, status, message);
}

/* Large bodies are kept in memory until they are whole: only a few at a time. */
static bool body_has_room(const Conn *conn, const HttpRequest *request)
{
    size_t large = 0;
    for (const Conn *other = conn->server->conns; other; other = other->next)
        large += other->request && other->request->body_length > HTTP_BODY_LARGE;
    return request->body_length <= HTTP_BODY_LARGE || large < HTTP_LARGE_MOST;
}

/* Reads the head once. False: not complete, or refused. */
static bool conn_head(Conn *conn)
{
    if (conn->request)
        return true;
    HttpRequest *request = mem_alloc(sizeof *request);
    int status = http_request_parse(str_text(&conn->in), conn->in.length, request);
    if (status == HTTP_OK && !body_has_room(conn, request))
        status = 503;
    if (status == HTTP_OK) {
        conn->request = request;
        conn_deadline(conn, HTTP_BODY_WAIT_MS);
        return true;
    }
    free(request);
    if (status != HTTP_MORE)
        conn_refuse(conn, status);
    else if (!loop_timer_is_set(&conn->timer) && conn->in.length)
        conn_deadline(conn, HTTP_HEAD_WAIT_MS); /* from its first byte, not from its last */
    return false;
}

static bool conn_body(Conn *conn)
{
    HttpRequest *head = conn->request;
    if (conn->in.length >= head->head_length + head->body_length)
        return true;
    if (head->wants_continue) {
        head->wants_continue = false;
        str_add(&conn->out, "HTTP/1.1 100 Continue\r\n\r\n");
        conn_send(conn);
    }
    return false;
}

/* Requests one after the other, as long as their answers can be sent. */
static void conn_work(Conn *conn)
{
    while (!conn->is_closing && !conn->is_stream && conn->out.length == 0 && conn_head(conn) &&
           conn_body(conn)) {
        loop_timer_clear(conn->server->loop, &conn->timer);
        conn_answer(conn);
    }
}

/* False: the other side is gone. */
static bool conn_receive(Conn *conn)
{
    char chunk[16384];
    ssize_t got = recv(conn->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got == 0)
        return false;
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (!conn->is_stream) /* nothing more is expected of a reader of events */
        str_add_bytes(&conn->in, chunk, (size_t)got);
    return true;
}

static void on_ready(void *user, uint32_t events)
{
    Conn *conn = user;
    if ((events & EPOLLIN) && !conn_receive(conn)) {
        conn_free(conn);
        return;
    }
    if (!(events & EPOLLIN) && (events & (EPOLLERR | EPOLLHUP)))
        conn->is_closing = true;
    if (conn->out.length) {
        size_t before = conn->sent;
        conn_send(conn);
        if (conn->out.length == 0 && !conn->request)
            loop_timer_clear(conn->server->loop, &conn->timer);
        else if (conn->sent != before && !conn->is_stream)
            conn_deadline(conn, HTTP_WRITE_WAIT_MS); /* it reads, if slowly */
    }
    if (conn->is_stream && conn->out.length == 0)
        stream_go_on(conn);
    conn_work(conn);
    if (conn->is_closing && conn->out.length == 0)
        conn_free(conn);
    else if (conn->is_closing && (events & (EPOLLERR | EPOLLHUP)))
        conn_free(conn);
}

void conn_take(HttpServer *server, int fd)
{
    Conn *conn = mem_alloc(sizeof *conn);
    *conn = (Conn){.server = server,
                   .fd = fd,
                   .next = server->conns,
                   .link = &server->conns,
                   .timer = {.fn = on_late, .user = conn},
                   .used_ms = clock_mono_ms()};
    if (conn->next)
        conn->next->link = &conn->next;
    server->conns = conn;
    server->conn_count++;
    conn_watch(conn, EPOLLIN);
    conn_deadline(conn, HTTP_HEAD_WAIT_MS);
    if (conn->is_closing)
        conn_free(conn);
}
