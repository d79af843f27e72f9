/* http/request: heads are read strictly. */
#include "tests/test.h"

#include "base/macros.h"
#include "http/request.h"
#include <stdlib.h>
#include <string.h>

typedef struct Case {
    const char *text;
    int status;
} Case;

/* clang-format off */
static const Case cases[] = {
    {"GET / HTTP/1.1\r\n\r\n", HTTP_OK},
    {"GET / HTTP/1.0\r\nHost: x\r\n\r\n", HTTP_OK},
    {"GET / HTTP/1.1\r\n", HTTP_MORE},
    {"GET / HTTP/1.1\r\nHost: x\r\n", HTTP_MORE},
    {"GE", HTTP_MORE},
    {"", HTTP_MORE},
    {"\x16\x03\x01", 400},
    {" GET / HTTP/1.1\r\n\r\n", 400},
    {"GET  / HTTP/1.1\r\n\r\n", 400},
    {"GET / HTTP/1.1 \r\n\r\n", 400},
    {"GET /a b HTTP/1.1\r\n\r\n", 400},
    {"GET http://x/ HTTP/1.1\r\n\r\n", 400},
    {"GET * HTTP/1.1\r\n\r\n", 400},
    {"GET /\x7f HTTP/1.1\r\n\r\n", 400},
    {"G(T / HTTP/1.1\r\n\r\n", 400},
    {"GET / HTTP/2.0\r\n\r\n", 505},
    {"GET / HTTX/1.1\r\n\r\n", 400},
    {"AVERYLONGMETHOD / HTTP/1.1\r\n\r\n", 501},
    {"GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\n: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nA : b\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", HTTP_OK},
    {"POST / HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n", HTTP_OK},
    {"POST / HTTP/1.1\r\nContent-Length: 8388609\r\n\r\n", 413},
    {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
    {"POST / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n", HTTP_OK},
    {"POST / HTTP/1.1\r\nExpect: a miracle\r\n\r\n", 417},
    {"GET / HTTP/1.1\r\nLast-Event-ID: abc\r\n\r\n", 400},
};
/* clang-format on */

static void every_head_has_its_one_answer(void **state)
{
    (void)state;
    HttpRequest request;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int status = http_request_parse(cases[i].text, strlen(cases[i].text), &request);
        if (status != cases[i].status)
            fail_msg("'%s' gave %d, not %d", cases[i].text, status, cases[i].status);
    }
}

static void the_parts_of_a_head_are_found(void **state)
{
    (void)state;
    const char *text = "PATCH /api/v1/tasks/3?a=b&c HTTP/1.1\r\nauthorization: bearer  abc \r\n"
                       "CONTENT-LENGTH: 12\r\nLast-Event-ID: 77\r\nConnection: Close\r\n\r\nrest";
    HttpRequest request;
    assert_int_equal(http_request_parse(text, strlen(text), &request), HTTP_OK);
    assert_string_equal(request.method, "PATCH");
    assert_string_equal(request.path, "/api/v1/tasks/3");
    assert_string_equal(request.query, "a=b&c");
    assert_string_equal(request.token, "abc");
    assert_true(request.has_token);
    assert_int_equal(request.body_length, 12);
    assert_int_equal(request.last_event_id, 77);
    assert_false(request.is_keep_alive);
    assert_int_equal(request.head_length, strlen(text) - 4);
}

static void other_schemes_give_an_empty_token_not_none(void **state)
{
    (void)state;
    const char *text = "GET / HTTP/1.1\r\nAuthorization: Basic abc\r\n\r\n";
    HttpRequest request;
    assert_int_equal(http_request_parse(text, strlen(text), &request), HTTP_OK);
    assert_true(request.has_token);
    assert_string_equal(request.token, "");
}

static void heads_over_the_limit_and_nul_bytes_are_refused(void **state)
{
    (void)state;
    HttpRequest request;
    size_t size = HTTP_HEAD_MOST + 100;
    char *text = malloc(size);
    memset(text, 'a', size);
    assert_int_equal(http_request_parse(text, HTTP_HEAD_MOST, &request), HTTP_MORE);
    assert_int_equal(http_request_parse(text, size, &request), 431);
    text[50] = '\0';
    assert_int_equal(http_request_parse(text, 100, &request), 400);
    free(text);
}

static void too_many_header_lines_are_refused(void **state)
{
    (void)state;
    HttpRequest request;
    char text[2000] = "GET / HTTP/1.1\r\n";
    size_t at = strlen(text);
    for (int i = 0; i < HTTP_HEADERS_MOST + 1; i++) {
        memcpy(text + at, "A: b\r\n", 6);
        at += 6;
    }
    memcpy(text + at, "\r\n", 2);
    assert_int_equal(http_request_parse(text, at + 2, &request), 431);
}

/* Every byte of a good request replaced by every value: any answer is fine, a crash is not. */
static void damaged_heads_are_survived(void **state)
{
    (void)state;
    const char good[] =
        "POST /a?b HTTP/1.1\r\nContent-Length: 3\r\nAuthorization: Bearer x\r\n\r\n";
    HttpRequest request;
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (int value = 0; value < 256; value++) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[i] = (char)value;
            int status = http_request_parse(text, sizeof good - 1, &request);
            assert_true(status == HTTP_MORE || status == HTTP_OK || status >= 400);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_has_its_one_answer),
        cmocka_unit_test(the_parts_of_a_head_are_found),
        cmocka_unit_test(other_schemes_give_an_empty_token_not_none),
        cmocka_unit_test(heads_over_the_limit_and_nul_bytes_are_refused),
        cmocka_unit_test(too_many_header_lines_are_refused),
        cmocka_unit_test(damaged_heads_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
