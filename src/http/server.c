/* The listening socket: see server.h. */
#include "http/server.h"
#include "base/arena.h"
#include "http/conn.h"
#include "http/socket.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The connection that has been without a request for longest; it will simply connect again. */
static bool evict_idle(HttpServer *server)
{
    Conn *oldest = NULL;
    for (Conn *conn = server->conns; conn; conn = conn->next)
        if (!conn->is_stream && !conn->request && conn->in.length == 0 && conn->out.length == 0 &&
            (!oldest || conn->used_ms <= oldest->used_ms))
            oldest = conn;
    if (oldest)
        conn_free(oldest);
    return oldest != NULL;
}

static void take_or_refuse(HttpServer *server, int fd)
{
    static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    if (server->conn_count >= HTTP_CONNS_MOST && !evict_idle(server)) {
        (void)send(fd, full, sizeof full - 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* a courtesy */
        (void)close(fd);                                                    /* not taken */
        return;
    }
    conn_take(server, fd);
}

static void on_connect(void *user, uint32_t events)
{
    HttpServer *server = user;
    (void)events;                  /* only EPOLLIN was asked for */
    for (int i = 0; i < 64; i++) { /* then the rest of the loop has its turn */
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            take_or_refuse(server, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return; /* nobody waits; or out of descriptors, then the next one tries again */
    }
}

static void on_sweep(void *user)
{
    HttpServer *server = user;
    for (Conn *conn = server->conns, *next; conn; conn = next) {
        next = conn->next;
        if (conn->is_stream && conn->is_closing)
            conn_free(conn);
    }
}

static bool is_answered(const SocketAddress *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_alive = fd >= 0 && (connect(fd, (const struct sockaddr *)&address->name,
                                        sizeof address->name) == 0 ||
                                errno == EAGAIN);
    if (fd >= 0)
        (void)close(fd); /* only a knock */
    return is_alive;
}

static int listen_on(const char *path, Err *err)
{
    SocketAddress address;
    if (!socket_address(path, &address, err))
        return -1;
    int fd = -1;
    if (is_answered(&address)) {
        (void)err_set(err, ERR_BUSY, "another engine listens on '%s'", path); /* -1 says so */
        goto done;
    }
    (void)unlink(path); /* of a dead engine; bind reports what remains */
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode is set before the file exists, so there is no moment in which others may connect. */
    if (fd < 0 || fchmod(fd, 0600) != 0 ||
        bind(fd, (struct sockaddr *)&address.name, sizeof address.name) != 0 ||
        listen(fd, 128) != 0) {
        (void)err_errno(err, "cannot listen on '%s'", path); /* -1 says so */
        if (fd >= 0)
            (void)close(fd); /* not used */
        fd = -1;
    }
done:
    socket_address_done(&address);
    return fd;
}

bool http_serve(Loop *loop, Engine *engine, const char *socket_path, HttpServer **server, Err *err)
{
    int fd = listen_on(socket_path, err);
    if (fd < 0)
        return false;
    HttpServer *made = mem_alloc(sizeof *made);
    *made = (HttpServer){.loop = loop,
                         .engine = engine,
                         .path = mem_strdup(socket_path),
                         .fd = fd,
                         .listener = -1,
                         .sweep = {.fn = on_sweep, .user = made}};
    if (!loop_watch(loop, fd, EPOLLIN, on_connect, made, err)) {
        http_server_free(made);
        return false;
    }
    *server = made;
    return true;
}

void http_server_free(HttpServer *server)
{
    if (!server)
        return;
    while (server->conns)
        conn_free(server->conns);
    loop_timer_clear(server->loop, &server->sweep);
    loop_timer_clear(server->loop, &server->heartbeat);
    loop_unwatch(server->loop, server->fd);
    (void)close(server->fd);    /* nobody is connected any more */
    (void)unlink(server->path); /* the next engine replaces it anyway */
    free(server->path);
    free(server);
}
