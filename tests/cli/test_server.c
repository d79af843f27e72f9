/* http/: server and client on a real socket, with a stand-in for the engine. */
#include "tests/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "http/client.h"
#include "http/conn.h"
#include "http/server.h"
#include "tests/cli/fake_engine.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct Bench {
    char folder[64], path[100];
    Loop *loop;
    HttpServer *server;
} Bench;

static int bench_open(void **state)
{
    Err err = {0};
    Bench *bench = calloc(1, sizeof *bench);
    (void)snprintf(bench->folder, sizeof bench->folder, "/tmp/otto-http-XXXXXX"); /* fits */
    assert_non_null(mkdtemp(bench->folder));
    (void)snprintf(bench->path, sizeof bench->path, "%s/sock", bench->folder); /* fits */
    fake = (FakeEngine){0};
    bench->loop = loop_new(&err);
    assert_non_null(bench->loop);
    assert_true(http_serve(bench->loop, NULL, bench->path, &bench->server, &err));
    *state = bench;
    return 0;
}

static int bench_close(void **state)
{
    Bench *bench = *state;
    http_server_free(bench->server);
    assert_false(path_exists(bench->path));
    loop_free(bench->loop);
    assert_int_equal(rmdir(bench->folder), 0);
    free(bench);
    return 0;
}

static int knock(const Bench *bench)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", bench->path); /* fits */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

static void turn(Bench *bench)
{
    while (loop_run_once(bench->loop, 0) > 0)
        ;
}

/* Sends, lets the server work, reads until `stop` was seen or the connection ended. */
static bool talk(Bench *bench, int fd, const char *bytes, size_t length, const char *stop, Str *got)
{
    char chunk[65536];
    while (length) {
        ssize_t put = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && errno != EAGAIN)
            break;
        if (put > 0) {
            bytes += put;
            length -= (size_t)put;
        }
        turn(bench);
    }
    for (;;) {
        turn(bench);
        ssize_t in = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
        if (in > 0)
            str_add_bytes(got, chunk, (size_t)in);
        else if (in == 0 || errno != EAGAIN)
            return false;
        if (stop && got->length && memmem(got->bytes, got->length, stop, strlen(stop)))
            return true;
        if (in < 0 && !stop)
            return true;
    }
}

#define TALK(bench, fd, text, stop, got) talk(bench, fd, text, strlen(text), stop, got)

static void the_socket_is_for_its_owner_only(void **state)
{
    Bench *bench = *state;
    struct stat info;
    assert_int_equal(stat(bench->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void a_living_socket_is_not_replaced_and_a_dead_one_is(void **state)
{
    Bench *bench = *state;
    Err err = {0};
    HttpServer *second = NULL;
    assert_false(http_serve(bench->loop, NULL, bench->path, &second, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    char dead[160];
    (void)snprintf(dead, sizeof dead, "%s/dead", bench->folder); /* fits */
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, dead, strlen(dead) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
    assert_true(http_serve(bench->loop, NULL, dead, &second, &err));
    http_server_free(second);
}

static void a_request_torn_into_single_bytes_is_answered(void **state)
{
    Bench *bench = *state;
    const char *text = "POST /x?y=1 HTTP/1.1\r\nContent-Length: 5\r\n"
                       "Authorization: Bearer tok\r\n\r\nhello";
    int fd = knock(bench);
    for (const char *at = text; at[1]; at++) {
        assert_int_equal(send(fd, at, 1, 0), 1);
        turn(bench);
        assert_int_equal(fake.calls, 0);
    }
    Str got = STR_INIT;
    assert_true(TALK(bench, fd, "o", "\"body\":5}", &got));
    assert_true(text_starts(got.bytes, "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(fake.last, "POST /x?y=1 token=tok body=hello");
    str_done(&got);
    close(fd);
    turn(bench);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    Bench *bench = *state;
    Str text = STR_INIT, got = STR_INIT;
    for (int i = 0; i < 50; i++)
        str_add(&text, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}");
    int fd = knock(bench);
    assert_true(talk(bench, fd, text.bytes, text.length, "\"n\":50", &got));
    const char *at = got.bytes;
    for (int i = 1; i <= 50; i++) {
        char want[24];
        (void)snprintf(want, sizeof want, "{\"n\":%d,", i); /* fits */
        at = strstr(at, want);
        assert_non_null(at);
    }
    str_done(&text);
    str_done(&got);
    close(fd);
    turn(bench);
}

static void refusals_close_the_connection(void **state)
{
    Bench *bench = *state;
    const char *const bad[] = {
        "\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
        "{\"json\":true}\n",
    };
    const char *const status[] = {"400", "400", "505", "411", "413", "400"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        Str got = STR_INIT;
        int fd = knock(bench);
        assert_false(TALK(bench, fd, bad[i], NULL, &got) && got.length == 0);
        turn(bench);
        assert_true(got.length > 13);
        assert_memory_equal(got.bytes + 9, status[i], 3);
        assert_non_null(strstr(got.bytes, "Connection: close"));
        str_done(&got);
        close(fd);
        turn(bench);
    }
    assert_int_equal(fake.calls, 0);
    assert_null(bench->server->conns);
}

static void random_bytes_do_no_harm(void **state)
{
    Bench *bench = *state;
    unsigned seed = 1;
    for (int round = 0; round < 500; round++) {
        char bytes[700];
        size_t length = (size_t)rand_r(&seed) % sizeof bytes + 1;
        for (size_t i = 0; i < length; i++)
            bytes[i] =
                round % 2 ? (char)rand_r(&seed) : "GET /: \r\n0123HTP.1a"[rand_r(&seed) % 18];
        Str got = STR_INIT;
        int fd = knock(bench);
        (void)talk(bench, fd, bytes, length, NULL, &got); /* any answer will do */
        str_done(&got);
        close(fd);
        turn(bench);
    }
    assert_null(bench->server->conns);
}

static void a_slow_head_is_cut_off(void **state)
{
    Bench *bench = *state;
    int fd = knock(bench);
    Str got = STR_INIT;
    assert_true(TALK(bench, fd, "GET / HT", NULL, &got));
    LoopTimer *timer = &bench->server->conns->timer;
    assert_true(loop_timer_is_set(timer));
    int64_t at_ms = timer->at_mono_ms;
    assert_true(TALK(bench, fd, "TP", NULL, &got)); /* more bytes buy no more time */
    assert_int_equal(timer->at_mono_ms, at_ms);
    loop_timer_set(bench->loop, timer, 0); /* the time has passed */
    assert_false(TALK(bench, fd, "", NULL, &got) && bench->server->conns);
    assert_true(text_starts(str_text(&got), "HTTP/1.1 408"));
    assert_null(bench->server->conns);
    str_done(&got);
    close(fd);
}

static void an_idle_kept_connection_has_no_timer(void **state)
{
    Bench *bench = *state;
    int fd = knock(bench);
    Str got = STR_INIT;
    assert_true(TALK(bench, fd, "GET / HTTP/1.1\r\n\r\n", "}", &got));
    assert_false(loop_timer_is_set(&bench->server->conns->timer));
    str_done(&got);
    close(fd);
    turn(bench);
}

static void when_full_the_longest_idle_makes_room_and_busy_ones_stay(void **state)
{
    Bench *bench = *state;
    int fds[HTTP_CONNS_MOST + 1];
    for (int i = 0; i < HTTP_CONNS_MOST; i++) {
        fds[i] = knock(bench);
        if (i > 0) /* the first one is idle, the others have begun a request */
            assert_int_equal(send(fds[i], "GET", 3, 0), 3);
        turn(bench);
    }
    assert_int_equal(bench->server->conn_count, HTTP_CONNS_MOST);
    int extra = knock(bench);
    Str got = STR_INIT;
    assert_true(TALK(bench, extra, "GET / HTTP/1.1\r\n\r\n", "}", &got));
    char byte;
    assert_int_equal(recv(fds[0], &byte, 1, MSG_DONTWAIT), 0); /* it was let go */
    assert_int_equal(send(extra, "GET", 3, 0), 3);
    turn(bench);
    int refused = knock(bench);
    str_clear(&got);
    assert_false(TALK(bench, refused, "", NULL, &got) && got.length == 0);
    assert_true(text_starts(str_text(&got), "HTTP/1.1 503"));
    for (int i = 0; i < HTTP_CONNS_MOST; i++)
        close(fds[i]);
    close(extra);
    close(refused);
    turn(bench);
    assert_int_equal(bench->server->conn_count, 0);
    str_done(&got);
}

static void a_large_body_is_announced_and_a_large_answer_arrives(void **state)
{
    Bench *bench = *state;
    Str got = STR_INIT;
    int fd = knock(bench);
    assert_true(TALK(bench, fd,
                     "POST / HTTP/1.1\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n",
                     "100 Continue", &got));
    char *body = calloc(1, 2000000);
    memset(body, 'x', 2000000);
    assert_true(talk(bench, fd, body, 2000000, "\"body\":2000000}", &got));
    str_clear(&got);
    assert_false(TALK(bench, fd, "GET /big HTTP/1.0\r\n\r\n", NULL, &got) && got.length == 0);
    while (bench->server->conns) /* the server ends it after the last byte */
        (void)TALK(bench, fd, "", NULL, &got);
    (void)TALK(bench, fd, "", NULL, &got); /* what is still in the socket */
    assert_true(got.length > 3000000);
    free(body);
    str_done(&got);
    close(fd);
    turn(bench);
}

static void few_large_bodies_at_a_time(void **state)
{
    Bench *bench = *state;
    int fds[HTTP_LARGE_MOST + 1];
    Str got = STR_INIT;
    for (int i = 0; i <= HTTP_LARGE_MOST; i++) {
        fds[i] = knock(bench);
        str_clear(&got);
        (void)TALK(bench, fds[i], "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n", NULL, &got);
    }
    assert_true(text_starts(str_text(&got), "HTTP/1.1 503"));
    for (int i = 0; i <= HTTP_LARGE_MOST; i++)
        close(fds[i]);
    turn(bench);
    str_done(&got);
}

/* -- streams ----------------------------------------------------------------------------- */

static void stored_events_come_first_then_live_ones_and_none_twice(void **state)
{
    Bench *bench = *state;
    Str got = STR_INIT;
    fake.stored = 5;
    int fd = knock(bench);
    assert_true(TALK(bench, fd, "GET /api/v1/events HTTP/1.1\r\nLast-Event-ID: 3\r\n\r\n",
                     "id: 5\n", &got));
    assert_null(strstr(got.bytes, "id: 3\n"));
    assert_non_null(strstr(got.bytes, "id: 4\n"));
    fake_publish("{\"id\":5,\"event\":\"again\"}");
    fake_publish("{\"id\":6,\"event\":\"new\"}");
    assert_true(TALK(bench, fd, "", "\"new\"}\n\n", &got));
    assert_null(strstr(got.bytes, "again"));
    str_done(&got);
    close(fd);
    turn(bench);
    assert_int_equal(fake.listen_count, 0);
    assert_false(loop_timer_is_set(&bench->server->heartbeat));
}

static void a_reader_that_wants_no_stored_events_gets_new_ones(void **state)
{
    Bench *bench = *state;
    Str got = STR_INIT;
    fake.stored = 5;
    int fd = knock(bench);
    assert_true(TALK(bench, fd,
                     "GET /api/v1/events HTTP/1.1\r\nLast-Event-ID: 999999999999999999\r\n\r\n",
                     "hello", &got));
    fake_publish("{\"id\":6,\"event\":\"new\"}");
    assert_true(TALK(bench, fd, "", "\"new\"}\n\n", &got));
    assert_null(strstr(got.bytes, "id: 5\n"));
    str_done(&got);
    close(fd);
    turn(bench);
}

static void filters_and_output_are_per_stream(void **state)
{
    Bench *bench = *state;
    Str all = STR_INIT, seven = STR_INIT;
    int a = knock(bench), b = knock(bench);
    assert_true(TALK(bench, a, "GET /api/v1/events HTTP/1.1\r\n\r\n", "hello", &all));
    assert_false(fake.with_output);
    assert_true(
        TALK(bench, b, "GET /api/v1/events?task=7&output=1 HTTP/1.1\r\n\r\n", "hello", &seven));
    assert_true(fake.with_output);
    fake_publish("{\"id\":1,\"event\":\"x\",\"task\":3}");
    fake_publish("{\"id\":2,\"event\":\"y\",\"task\":7}");
    fake_publish("{\"event\":\"output\",\"task\":7,\"text\":\"z\"}");
    assert_true(TALK(bench, b, "", "output", &seven));
    assert_null(strstr(seven.bytes, "\"x\""));
    assert_true(TALK(bench, a, "", "\"y\"", &all));
    assert_null(strstr(all.bytes, "output"));
    close(b);
    turn(bench);
    assert_false(fake.with_output);
    close(a);
    turn(bench);
    str_done(&all);
    str_done(&seven);
}

static void a_long_backlog_comes_whole_without_being_collected(void **state)
{
    Bench *bench = *state;
    Str got = STR_INIT;
    fake.stored = 400;
    fake.event_bytes = 20000;
    int fd = knock(bench);
    (void)send(fd, "GET /api/v1/events HTTP/1.1\r\n\r\n", 31, 0);
    turn(bench);
    assert_true(bench->server->conns->out.length < 4 * 1024 * 1024);
    assert_false(bench->server->conns->is_live);
    assert_true(TALK(bench, fd, "", "id: 400\n", &got));
    for (int i = 1; i <= 400; i++) {
        char want[24];
        (void)snprintf(want, sizeof want, "id: %d\n", i); /* fits */
        assert_non_null(strstr(got.bytes, want));
    }
    close(fd);
    turn(bench);
    str_done(&got);
}

static void a_reader_that_stops_is_cut_and_others_go_on(void **state)
{
    Bench *bench = *state;
    Str got = STR_INIT, slow_got = STR_INIT;
    int slow = knock(bench), good = knock(bench);
    assert_true(TALK(bench, slow, "GET /api/v1/events HTTP/1.1\r\n\r\n", "hello", &slow_got));
    assert_true(TALK(bench, good, "GET /api/v1/events HTTP/1.1\r\n\r\n", "hello", &got));
    Str event = STR_INIT;
    for (int id = 1; id <= 200; id++) {
        str_clear(&event);
        str_addf(&event, "{\"id\":%d,\"event\":\"%*s\"}", id, 20000, "");
        fake_publish(event.bytes);
        char want[24];
        (void)snprintf(want, sizeof want, "id: %d\n", id); /* fits */
        assert_true(TALK(bench, good, "", want, &got));
    }
    assert_int_equal(bench->server->conn_count, 1);
    close(slow);
    close(good);
    turn(bench);
    str_done(&event);
    str_done(&got);
    str_done(&slow_got);
}

/* -- the client -------------------------------------------------------------------------- */

typedef struct Job {
    const Bench *bench;
    const char *method, *path, *body;
    int status;
    Str reply;
    Err err;
    bool is_fine;
    int events;
    atomic_bool is_done;
} Job;

static void *call_in_thread(void *user)
{
    Job *job = user;
    job->is_fine = http_call(job->bench->path, job->method, job->path, job->body, "tok",
                             &job->status, &job->reply, &job->err);
    atomic_store(&job->is_done, true);
    return NULL;
}

static void run_job(Bench *bench, Job *job, void *(*fn)(void *))
{
    pthread_t thread;
    job->bench = bench;
    assert_int_equal(pthread_create(&thread, NULL, fn, job), 0);
    while (!atomic_load(&job->is_done))
        (void)loop_run_once(bench->loop, 20); /* the client waits for us, we for it */
    pthread_join(thread, NULL);
    turn(bench);
}

static void the_client_reads_what_the_server_says(void **state)
{
    Bench *bench = *state;
    Job job = {.method = "POST", .path = "/api/v1/x?q=1", .body = "{}"};
    run_job(bench, &job, call_in_thread);
    assert_true(job.is_fine);
    assert_int_equal(job.status, 200);
    assert_string_equal(str_text(&job.reply), "{\"n\":1,\"body\":2}");
    assert_string_equal(fake.last, "POST /api/v1/x?q=1 token=tok body={}");
    str_done(&job.reply);
    Job missing = {.method = "GET", .path = "/missing"};
    run_job(bench, &missing, call_in_thread);
    assert_true(missing.is_fine);
    assert_int_equal(missing.status, 404);
    str_done(&missing.reply);
    Job big = {.method = "GET", .path = "/big"};
    run_job(bench, &big, call_in_thread);
    assert_int_equal(big.reply.length, 3000002);
    str_done(&big.reply);
}

static void count_event(void *user, const char *data, size_t length)
{
    Job *job = user;
    (void)length;
    job->events += text_starts(data, "{\"id\":");
}

static void *stream_in_thread(void *user)
{
    Job *job = user;
    HttpStream *stream =
        http_stream_open(job->bench->path, "/api/v1/events?after=0", NULL, &job->err);
    job->is_fine = stream != NULL;
    while (job->is_fine && job->events < 30)
        job->is_fine = http_stream_read(stream, 1000, count_event, job, &job->err);
    http_stream_close(stream);
    atomic_store(&job->is_done, true);
    return NULL;
}

static void the_client_reads_streams(void **state)
{
    Bench *bench = *state;
    fake.stored = 30;
    fake.event_bytes = 30000;
    Job job = {0};
    run_job(bench, &job, stream_in_thread);
    assert_true(job.is_fine);
    assert_int_equal(job.events, 30);
}

static void nobody_listening_is_not_found(void **state)
{
    (void)state;
    Err err = {0};
    assert_null(http_connect("/tmp/otto-there-is-no-such-folder/sock", &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void a_path_longer_than_the_kernel_allows_works(void **state)
{
    Bench *bench = *state;
    Err err = {0};
    Str folder = STR_INIT, path = STR_INIT;
    str_addf(&folder, "%s/%0150d", bench->folder, 1);
    str_addf(&path, "%s/sock", folder.bytes);
    assert_int_equal(mkdir(folder.bytes, 0700), 0);
    HttpServer *server = NULL;
    assert_true(http_serve(bench->loop, NULL, path.bytes, &server, &err));
    HttpClient *client = http_connect(path.bytes, &err);
    assert_non_null(client);
    http_close(client);
    http_server_free(server);
    assert_null(http_connect(path.bytes, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(rmdir(folder.bytes), 0);
    str_done(&folder);
    str_done(&path);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(the_socket_is_for_its_owner_only),
        WITH_BENCH(a_living_socket_is_not_replaced_and_a_dead_one_is),
        WITH_BENCH(a_request_torn_into_single_bytes_is_answered),
        WITH_BENCH(pipelined_requests_are_answered_in_order),
        WITH_BENCH(refusals_close_the_connection),
        WITH_BENCH(random_bytes_do_no_harm),
        WITH_BENCH(a_slow_head_is_cut_off),
        WITH_BENCH(an_idle_kept_connection_has_no_timer),
        WITH_BENCH(when_full_the_longest_idle_makes_room_and_busy_ones_stay),
        WITH_BENCH(a_large_body_is_announced_and_a_large_answer_arrives),
        WITH_BENCH(few_large_bodies_at_a_time),
        WITH_BENCH(stored_events_come_first_then_live_ones_and_none_twice),
        WITH_BENCH(a_reader_that_wants_no_stored_events_gets_new_ones),
        WITH_BENCH(filters_and_output_are_per_stream),
        WITH_BENCH(a_long_backlog_comes_whole_without_being_collected),
        WITH_BENCH(a_reader_that_stops_is_cut_and_others_go_on),
        WITH_BENCH(the_client_reads_what_the_server_says),
        WITH_BENCH(the_client_reads_streams),
        cmocka_unit_test(nobody_listening_is_not_found),
        WITH_BENCH(a_path_longer_than_the_kernel_allows_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
