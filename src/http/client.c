/* HTTP client: see client.h. */
#include "http/client.h"
#include "base/arena.h"
#include "base/json.h"
#include "http/socket.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_MOST = 64 * 1024 * 1024, HEAD_MOST = 64 * 1024, EVENT_MOST = 8 * 1024 * 1024 };

struct HttpClient {
    int fd;
    Str in; /* bytes read and not yet used */
};

struct HttpStream {
    HttpClient *client;
    Str data; /* of the event being read */
};

static bool connect_to(int fd, const char *path, Err *err)
{
    SocketAddress address;
    Err problem = {0};
    if (!socket_address(path, &address, &problem)) /* a missing folder: nobody listens there */
        return err_set(err, problem.kind == ERR_IO ? ERR_NOT_FOUND : problem.kind, "%s",
                       problem.text);
    int result = connect(fd, (struct sockaddr *)&address.name, sizeof address.name);
    int code = errno;
    socket_address_done(&address);
    if (result == 0)
        return true;
    if (code == ENOENT || code == ECONNREFUSED || code == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "no engine listens on '%s'", path);
    errno = code;
    return err_errno(err, "cannot reach the engine on '%s'", path);
}

HttpClient *http_connect(const char *socket_path, Err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        (void)err_errno(err, "cannot make a socket"); /* the result below says it failed */
        return NULL;
    }
    if (!connect_to(fd, socket_path, err)) {
        (void)close(fd); /* nothing was sent */
        return NULL;
    }
    HttpClient *client = mem_alloc(sizeof *client);
    client->fd = fd;
    return client;
}

void http_close(HttpClient *client)
{
    if (!client)
        return;
    (void)close(client->fd); /* everything wanted was read */
    str_done(&client->in);
    mem_freep(&client);
}

static bool send_all(HttpClient *client, const Str *text, Err *err)
{
    for (size_t at = 0; at < text->length;) {
        ssize_t put = send(client->fd, text->bytes + at, text->length - at, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EPIPE)
            return true; /* it may have answered before it closed */
        if (put < 0)
            return err_errno(err, "cannot write to the engine");
        at += (size_t)put;
    }
    return true;
}

/* Reads once. 0: the other side closed. */
static ssize_t fill(HttpClient *client, Err *err)
{
    char chunk[65536];
    ssize_t got;
    do
        got = recv(client->fd, chunk, sizeof chunk, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno != ECONNRESET)
        (void)err_errno(err, "cannot read from the engine"); /* the caller sees -1 */
    if (got < 0)
        return errno == ECONNRESET ? 0 : -1;
    str_add_bytes(&client->in, chunk, (size_t)got);
    return got;
}

static void drop(HttpClient *client, size_t length)
{
    Str *in = &client->in;
    if (length)
        memmove(in->bytes, in->bytes + length, in->length - length + 1);
    in->length -= length;
}

static bool fill_more(HttpClient *client, Err *err)
{
    ssize_t got = fill(client, err);
    if (got == 0)
        return err_set(err, ERR_IO, "the engine closed the connection before it answered");
    return got > 0;
}

static void send_head(Str *out, const char *method, const char *path, const char *token)
{
    str_addf(out, "%s %s HTTP/1.1\r\nHost: otto\r\n", method, path);
    if (token)
        str_addf(out, "Authorization: Bearer %s\r\n", token);
}

/* The head is in the buffer: its status, and the length of the body (-1: until the end). */
static bool read_head(HttpClient *client, int *status, int64_t *length, Err *err)
{
    const char *end;
    while (!(end = client->in.length ? memmem(client->in.bytes, client->in.length, "\r\n\r\n", 4)
                                     : NULL))
        if (client->in.length > HEAD_MOST)
            return err_set(err, ERR_TOO_BIG, "the engine's answer has too long a head");
        else if (!fill_more(client, err))
            return false;
    const char *text = client->in.bytes;
    size_t head_length = (size_t)(end - text) + 4;
    if (head_length < 16 || !text_starts(text, "HTTP/1.1 ") || strspn(text + 9, "0123456789") != 3)
        return err_set(err, ERR_IO, "what listens on the engine's socket does not speak HTTP");
    *status = (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
    *length = -1;
    for (const char *line = strchr(text, '\n') + 1; line < end; line = strchr(line, '\n') + 1)
        if (strncasecmp(line, "content-length: ", 16) == 0)
            *length = strtoll(line + 16, NULL, 10);
    drop(client, head_length);
    return true;
}

static bool read_body(HttpClient *client, int64_t length, Str *reply, Err *err)
{
    if (length < 0 || length > REPLY_MOST)
        return err_set(err, ERR_TOO_BIG, "the engine's answer has no usable length");
    while ((int64_t)client->in.length < length)
        if (!fill_more(client, err))
            return false;
    str_clear(reply);
    str_add_bytes(reply, client->in.length ? client->in.bytes : "", (size_t)length);
    drop(client, (size_t)length);
    return true;
}

bool http_exchange(HttpClient *client, const char *method, const char *path, const char *body,
                   const char *token, int *status, Str *reply, Err *err)
{
    CLEANUP(str_done) Str out = STR_INIT;
    send_head(&out, method, path, token);
    if (body)
        str_addf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(body), body);
    else
        str_add(&out, "\r\n");
    int64_t length = -1;
    return send_all(client, &out, err) && read_head(client, status, &length, err) &&
           read_body(client, length, reply, err);
}

bool http_call(const char *socket_path, const char *method, const char *path, const char *body,
               const char *token, int *status, Str *reply, Err *err)
{
    HttpClient *client = http_connect(socket_path, err);
    if (!client)
        return false;
    bool is_answered = http_exchange(client, method, path, body, token, status, reply, err);
    http_close(client);
    return is_answered;
}

static bool stream_begin(HttpClient *client, const char *path, const char *token, Err *err)
{
    CLEANUP(str_done) Str out = STR_INIT;
    CLEANUP(str_done) Str reply = STR_INIT;
    int status = 0;
    int64_t length = -1;
    send_head(&out, "GET", path, token);
    str_add(&out, "Accept: text/event-stream\r\n\r\n");
    if (!send_all(client, &out, err) || !read_head(client, &status, &length, err))
        return false;
    if (status == 200)
        return true;
    if (!read_body(client, length, &reply, err))
        return false;
    CLEANUP(json_freep) json_t *json = json_read(str_text(&reply), reply.length, NULL);
    return err_set(err, ERR_IO, "the engine refused the event stream: %s",
                   json_text(json_object_get(json, "error"), "message", "no reason given"));
}

HttpStream *http_stream_open(const char *socket_path, const char *path, const char *token, Err *err)
{
    HttpClient *client = http_connect(socket_path, err);
    if (!client)
        return NULL;
    if (!stream_begin(client, path, token, err)) {
        http_close(client);
        return NULL;
    }
    HttpStream *stream = mem_alloc(sizeof *stream);
    stream->client = client;
    return stream;
}

int http_stream_fd(const HttpStream *stream)
{
    return stream->client->fd;
}

static void take_event_line(HttpStream *stream, const char *line, size_t length,
                            HttpEvent *on_event, void *user)
{
    if (length == 0) {
        if (stream->data.length)
            on_event(user, stream->data.bytes, stream->data.length);
        str_clear(&stream->data);
    } else if (length > 5 && memcmp(line, "data:", 5) == 0) {
        size_t skip = line[5] == ' ' ? 6 : 5;
        if (stream->data.length)
            str_add_char(&stream->data, '\n');
        str_add_bytes(&stream->data, line + skip, length - skip);
    } /* ids are in the data too; comments are heartbeats */
}

static bool take_lines(HttpStream *stream, HttpEvent *on_event, void *user, Err *err)
{
    Str *in = &stream->client->in;
    size_t used = 0;
    for (const char *end;
         used < in->length && (end = memchr(in->bytes + used, '\n', in->length - used));) {
        const char *line = in->bytes + used;
        take_event_line(stream, line, (size_t)(end - line), on_event, user);
        used = (size_t)(end - in->bytes) + 1;
    }
    drop(stream->client, used);
    if (in->length > EVENT_MOST || stream->data.length > EVENT_MOST)
        return err_set(err, ERR_TOO_BIG, "the engine sent an event over %d bytes", EVENT_MOST);
    return true;
}

bool http_stream_read(HttpStream *stream, int wait_ms, HttpEvent *on_event, void *user, Err *err)
{
    if (stream->client->in.length && !take_lines(stream, on_event, user, err))
        return false;
    struct pollfd wait = {.fd = stream->client->fd, .events = POLLIN};
    if (poll(&wait, 1, wait_ms) <= 0)
        return true; /* nothing yet, or a signal: the caller looks around and comes back */
    ssize_t got = fill(stream->client, err);
    if (got == 0)
        return err_set(err, ERR_IO, "the engine closed the event stream");
    return got > 0 && take_lines(stream, on_event, user, err);
}

void http_stream_close(HttpStream *stream)
{
    if (!stream)
        return;
    http_close(stream->client);
    str_done(&stream->data);
    mem_freep(&stream);
}
