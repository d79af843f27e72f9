/* Request heads: see request.h. */
#include "http/request.h"
#include "base/macros.h"
#include "base/str.h"
#include <string.h>
#include <strings.h>

typedef struct Span {
    const char *at;
    size_t length;
} Span;

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool span_is(Span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.at, word, span.length) == 0;
}

static bool span_copy(Span span, char *out, size_t size)
{
    if (span.length >= size)
        return false;
    memcpy(out, span.at, span.length);
    out[span.length] = '\0';
    return true;
}

static Span span_trim(Span span)
{
    while (span.length && (*span.at == ' ' || *span.at == '\t')) {
        span.at++;
        span.length--;
    }
    while (span.length && strchr(" \t", span.at[span.length - 1]))
        span.length--;
    return span;
}

/* Digits only: no sign, no blanks, at most 18 of them, so that it cannot overflow. */
static bool span_number(Span span, int64_t *number)
{
    if (span.length == 0 || span.length > 18)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < span.length; i++) {
        if (span.at[i] < '0' || span.at[i] > '9')
            return false;
        value = value * 10 + (span.at[i] - '0');
    }
    *number = value;
    return true;
}

/* The next line without its CRLF; false at a bare LF or CR, or when there is none. */
static bool take_line(Span *rest, Span *line)
{
    const char *end = memchr(rest->at, '\n', rest->length);
    if (!end || end == rest->at || end[-1] != '\r')
        return false;
    *line = (Span){rest->at, (size_t)(end - rest->at) - 1};
    rest->length -= (size_t)(end - rest->at) + 1;
    rest->at = end + 1;
    return !memchr(line->at, '\r', line->length);
}

static int read_target(Span target, HttpRequest *request)
{
    if (target.length == 0 || *target.at != '/')
        return 400;
    for (size_t i = 0; i < target.length; i++)
        if ((unsigned char)target.at[i] <= ' ' || target.at[i] == 0x7f)
            return 400;
    const char *mark = memchr(target.at, '?', target.length);
    Span path = {target.at, mark ? (size_t)(mark - target.at) : target.length};
    Span query = {mark ? mark + 1 : "", mark ? target.length - path.length - 1 : 0};
    bool fits = span_copy(path, request->path, sizeof request->path) &&
                span_copy(query, request->query, sizeof request->query);
    return fits ? HTTP_OK : 414;
}

static int read_first_line(Span line, HttpRequest *request)
{
    const char *first = memchr(line.at, ' ', line.length);
    if (!first)
        return 400;
    Span method = {line.at, (size_t)(first - line.at)};
    Span rest = {first + 1, line.length - method.length - 1};
    const char *second = memchr(rest.at, ' ', rest.length);
    if (!second || method.length == 0)
        return 400;
    for (size_t i = 0; i < method.length; i++)
        if (!is_token_char(method.at[i]))
            return 400;
    Span target = {rest.at, (size_t)(second - rest.at)};
    Span version = {second + 1, rest.length - target.length - 1};
    if (version.length != 8 || memcmp(version.at, "HTTP/", 5) != 0)
        return 400;
    if (memcmp(version.at + 5, "1.", 2) != 0 || (version.at[7] != '0' && version.at[7] != '1'))
        return 505;
    request->is_keep_alive = version.at[7] == '1';
    if (!span_copy(method, request->method, sizeof request->method))
        return 501;
    return read_target(target, request);
}

static int take_length(Span value, HttpRequest *request)
{
    int64_t length = 0;
    if (request->has_length || !span_number(value, &length))
        return 400; /* two lengths are how requests are smuggled */
    if (length > HTTP_BODY_MOST)
        return 413;
    request->has_length = true;
    request->body_length = (size_t)length;
    return HTTP_OK;
}

static int take_coding(Span value, HttpRequest *request)
{
    (void)request; /* nothing to keep: every coding is refused */
    return span_is(value, "chunked") ? 411 : 501;
}

static int take_connection(Span value, HttpRequest *request)
{
    if (span_is(value, "close"))
        request->is_keep_alive = false;
    else if (span_is(value, "keep-alive"))
        request->is_keep_alive = true;
    return HTTP_OK;
}

static int take_authorization(Span value, HttpRequest *request)
{
    request->has_token = true;
    if (value.length < 7 || strncasecmp(value.at, "Bearer ", 7) != 0)
        return HTTP_OK; /* an empty token is refused by the API */
    Span token = span_trim((Span){value.at + 7, value.length - 7});
    return span_copy(token, request->token, sizeof request->token) ? HTTP_OK : 431;
}

static int take_last_id(Span value, HttpRequest *request)
{
    return span_number(value, &request->last_event_id) ? HTTP_OK : 400;
}

static int take_expect(Span value, HttpRequest *request)
{
    request->wants_continue = span_is(value, "100-continue");
    return request->wants_continue ? HTTP_OK : 417;
}

typedef struct HeaderRow {
    const char *name;
    int (*take)(Span value, HttpRequest *request);
} HeaderRow;

/* clang-format off */
static const HeaderRow header_rows[] = { /* every header that means something here */
    {"content-length",    take_length},
    {"transfer-encoding", take_coding},
    {"connection",        take_connection},
    {"authorization",     take_authorization},
    {"last-event-id",     take_last_id},
    {"expect",            take_expect},
};
/* clang-format on */

static int read_header(Span line, HttpRequest *request)
{
    const char *colon = memchr(line.at, ':', line.length);
    if (!colon || colon == line.at)
        return 400;
    Span name = {line.at, (size_t)(colon - line.at)};
    for (size_t i = 0; i < name.length; i++)
        if (!is_token_char(name.at[i]))
            return 400; /* also folded lines, which begin with a blank */
    Span value = span_trim((Span){colon + 1, line.length - name.length - 1});
    for (size_t i = 0; i < COUNT(header_rows); i++)
        if (span_is(name, header_rows[i].name))
            return header_rows[i].take(value, request);
    return HTTP_OK;
}

static int read_head(Span head, HttpRequest *request)
{
    Span line;
    if (!take_line(&head, &line))
        return 400;
    int status = read_first_line(line, request);
    for (int count = 0; status == HTTP_OK; count++) {
        if (!take_line(&head, &line))
            return 400;
        if (line.length == 0)
            return HTTP_OK;
        if (count == HTTP_HEADERS_MOST)
            return 431;
        status = read_header(line, request);
    }
    return status;
}

int http_request_parse(const char *bytes, size_t length, HttpRequest *request)
{
    const char *end = length >= 4 ? memmem(bytes, length, "\r\n\r\n", 4) : NULL;
    size_t head_length = end ? (size_t)(end - bytes) + 4 : length;
    if (head_length > HTTP_HEAD_MOST)
        return 431;
    if (memchr(bytes, '\0', head_length))
        return 400;
    if (!end) /* garbage is refused at its first bytes, not at the time-out */
        return length && !is_token_char(bytes[0]) ? 400 : HTTP_MORE;
    *request = (HttpRequest){.last_event_id = -1, .head_length = head_length};
    return read_head((Span){bytes, head_length}, request);
}

typedef struct StatusRow {
    int status;
    const char *text;
} StatusRow;

/* clang-format off */
static const StatusRow status_rows[] = {
    {200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"},
    {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
    {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"},
    {411, "Length Required"}, {413, "Content Too Large"}, {414, "URI Too Long"},
    {417, "Expectation Failed"}, {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"}, {501, "Not Implemented"}, {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"}, {507, "Insufficient Storage"},
};
/* clang-format on */

const char *http_status_text(int status)
{
    for (size_t i = 0; i < COUNT(status_rows); i++)
        if (status_rows[i].status == status)
            return status_rows[i].text;
    return "Unknown";
}
