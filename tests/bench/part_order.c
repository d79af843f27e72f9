/* P13: from an operator's order on the socket to the event on the stream. The floors are one round
 * trip on a unix socket between two processes, and a renamed file seen through inotify. */
#include "base/clock.h"
#include "http/client.h"
#include "tests/bench/watchers.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_SAMPLES = 4000, ANSWER_MS = 10000 };

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path); /* checked by connect */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int64_t until = clock_mono_ms() + 5000;
    while (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (clock_mono_ms() > until) {
            (void)close(fd);
            return -1;
        }
        usleep(500); /* the wait of this loop */
    }
    return fd;
}

static bool socket_floor(Bench *bench, unsigned count, double *p50, double *p99, Err *err)
{
    double times[MOST_SAMPLES];
    const char *path = arena_printf(&bench->arena, "%s/s", bench_folder(bench, bench->disk));
    const char *argv[] = {bench->floor, "answer", path, NULL};
    Daemon daemon = {0, -1};
    if (!daemon_start(&(Program){.argv = argv}, &daemon, err))
        return false;
    int fd = connect_to(path);
    bool is_fine = fd >= 0;
    for (unsigned i = 0; i < count && is_fine; i++) {
        char byte = 'x';
        int64_t began_ns = now_ns();
        is_fine =
            write(fd, &byte, 1) == 1 && wait_readable(fd, ANSWER_MS) && read(fd, &byte, 1) == 1;
        times[i] = (double)(now_ns() - began_ns) / 1e3;
    }
    if (fd >= 0)
        (void)close(fd);
    daemon_kill(&daemon);
    *p50 = median(times, count);
    *p99 = percentile(times, count, 0.99);
    return is_fine || err_set(err, ERR_IO, "the floor's socket failed");
}

static bool inotify_floor(Bench *bench, unsigned count, double *p50, Err *err)
{
    double times[MOST_SAMPLES];
    const char *folder = bench_folder(bench, bench->disk);
    const char *names[] = {arena_printf(&bench->arena, "%s/a", folder),
                           arena_printf(&bench->arena, "%s/b", folder)};
    int fd = inotify_init1(IN_CLOEXEC);
    int file = open(names[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool is_fine = file >= 0 && inotify_add_watch(fd, folder, IN_MOVED_TO) >= 0;
    for (unsigned i = 0; i < count && is_fine; i++) {
        char events[4096];
        int64_t began_ns = now_ns();
        is_fine = rename(names[i % 2], names[(i + 1) % 2]) == 0 && wait_readable(fd, ANSWER_MS);
        times[i] = (double)(now_ns() - began_ns) / 1e3;
        is_fine = is_fine && read(fd, events, sizeof events) > 0;
    }
    (void)close(fd);
    (void)close(file);
    *p50 = median(times, count);
    return is_fine || err_set(err, ERR_IO, "inotify failed");
}

/* Reads one whole reply; they are small. */
static bool read_reply(int fd)
{
    char bytes[8192];
    size_t length = 0;
    while (length < sizeof bytes - 1 && wait_readable(fd, ANSWER_MS)) {
        ssize_t got = read(fd, bytes + length, sizeof bytes - 1 - length);
        if (got <= 0)
            return false;
        length += (size_t)got;
        bytes[length] = '\0';
        const char *end = strstr(bytes, "\r\n\r\n");
        const char *size = strcasestr(bytes, "content-length:");
        if (end && size && length >= (size_t)(end + 4 - bytes) + strtoul(size + 15, NULL, 10))
            return strstr(bytes, " 200 ") || strstr(bytes, " 202 ") || strstr(bytes, " 201 ");
    }
    return false;
}

static void drain(int fd)
{
    char bytes[8192];
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static bool order_once(int fd, int stream, const char *verb, double *us, Err *err)
{
    char request[256];
    int length = snprintf(request, sizeof request,
                          "POST /api/v1/projects/1/%s HTTP/1.1\r\nHost: otto\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
                          verb);
    drain(stream);
    int64_t began_ns = now_ns();
    if (write(fd, request, (size_t)length) != length)
        return err_errno(err, "cannot send the order");
    bool is_seen = wait_readable(stream, ANSWER_MS);
    *us = (double)(now_ns() - began_ns) / 1e3;
    if (!read_reply(fd))
        return err_set(err, ERR_PROCESS, "'%s' was not accepted", verb);
    return is_seen || err_set(err, ERR_BUSY, "no event followed '%s'", verb);
}

static bool orders(const Subject *subject, unsigned count, double *times, Err *err)
{
    HttpStream *stream = http_stream_open(subject->socket, "/api/v1/events", NULL, err);
    int fd = stream ? connect_to(subject->socket) : -1;
    bool is_fine = fd >= 0;
    wait_readable(stream ? http_stream_fd(stream) : -1, 300); /* the past comes first */
    for (unsigned i = 0; i < count && is_fine; i++) /* each pause is followed by its resume */
        is_fine =
            order_once(fd, http_stream_fd(stream), i % 2 ? "resume" : "pause", &times[i], err);
    if (fd >= 0)
        (void)close(fd);
    http_stream_close(stream);
    return is_fine;
}

/* An agent is at work all the time, so that a pause has something to pause. */
static bool measure_otto(Bench *bench, const char *below, unsigned count, double *times, Err *err)
{
    const char *file = arena_printf(&bench->arena, "%s/pids", bench_folder(bench, bench->disk));
    SubjectSpec spec = {.below = below, .slots = 1, .agent = {bench->agent, "sleep", file}};
    Subject subject;
    Daemon daemon = {0, -1};
    Watched watched = {.count = 0};
    bool is_fine = subject_make(bench, &spec, &subject, err) && subject_add(&subject, 1, err) &&
                   subject_serve(&subject, &daemon, err) &&
                   subject_call(&subject, "POST", "/api/v1/projects/1/run", "{}", NULL, err) &&
                   watched_wait(&watched, file, 1, err) && orders(&subject, count, times, err);
    daemon_stop(&daemon);
    (void)children_end(); /* the agent lives on by design */
    return is_fine;
}

static void order_row(Bench *bench, const char *below)
{
    Err err = {0};
    double times[MOST_SAMPLES];
    unsigned count = pick(bench, 2000, 600);
    double socket_us = NAN, socket_p99_us = NAN, inotify_us = NAN;
    Row *row = table_add(&bench->table, "P13", "us",
                         "order on the socket to its event on the stream, p99, %s",
                         disk_word(bench, below));
    if (!socket_floor(bench, count, &socket_us, &socket_p99_us, &err) ||
        !inotify_floor(bench, count, &inotify_us, &err) ||
        !measure_otto(bench, below, count, times, &err)) {
        row_fail(row, "%s", err.text);
        return;
    }
    row_floor(row, socket_us, "round trip on a unix socket, p50 (p99 %.0f us; inotify p50 %.0f us)",
              socket_p99_us, inotify_us);
    row->otto = percentile(times, count, 0.99);
    row->ratio = row->otto / socket_us;
    row_note(row, "otto p50 %.0f us, durable before it is told", median(times, count));
    row_goal(row, row->ratio <= 5, "p99 <= 5 x floor median");
}

void part_order(Bench *bench)
{
    if (bench->memory)
        order_row(bench, bench->memory);
    order_row(bench, bench->disk);
}
