/* Str: see str.h. */
#include "base/str.h"
#include "base/arena.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(Str *str, size_t more)
{
    size_t need = str->length + more + 1;
    if (need <= str->size)
        return;
    size_t size = str->size ? str->size * 2 : 64;
    while (size < need)
        size *= 2;
    str->bytes = mem_grow(str->bytes, size, 1);
    str->size = size;
}

void str_add_bytes(Str *str, const void *bytes, size_t length)
{
    reserve(str, length);
    if (length)
        memcpy(str->bytes + str->length, bytes, length);
    str->length += length;
    str->bytes[str->length] = '\0';
}

void str_add(Str *str, const char *text)
{
    str_add_bytes(str, text, strlen(text));
}

void str_add_char(Str *str, char c)
{
    str_add_bytes(str, &c, 1);
}

void str_addf(Str *str, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        abort(); /* out of memory, or a bad format, which is a bug */
    str_add_bytes(str, text, (size_t)length);
    free(text);
}

void str_add_int(Str *str, int64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0)
        digits[--at] = '-';
    str_add_bytes(str, digits + at, sizeof digits - at);
}

size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    if (left == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (length == 0 || s[0] > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, surrogate, beyond Unicode */
    return length;
}

void str_add_json(Str *str, const char *text)
{
    size_t left = strlen(text);
    str_add_char(str, '"');
    while (left) {
        unsigned char c = (unsigned char)*text;
        size_t step = utf8_length(text, left);
        if (c == '"' || c == '\\') {
            str_add_char(str, '\\');
            str_add_char(str, (char)c);
        } else if (c == '\n') {
            str_add(str, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            str_addf(str, "\\u%04x", c);
        } else if (step == 0) {
            str_add(str, "\xef\xbf\xbd");
            step = 1;
        } else {
            str_add_bytes(str, text, step);
        }
        text += step;
        left -= step;
    }
    str_add_char(str, '"');
}

void str_add_safe(Str *str, const char *text, size_t length, bool keep_newlines)
{
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t step = utf8_length(text + i, length - i);
        bool is_c1 = step == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0;
        if (c == '\t' || (c == '\n' && keep_newlines))
            str_add_char(str, (char)c);
        else if (step == 0 || c < 0x20 || c == 0x7f)
            str_addf(str, "\\x%02x", c);
        else if (is_c1)
            str_addf(str, "\\x%02x", (unsigned char)text[i + 1]);
        else
            str_add_bytes(str, text + i, step);
        i += step ? step : 1;
    }
}

void str_clear(Str *str)
{
    str->length = 0;
    if (str->bytes)
        str->bytes[0] = '\0';
}

const char *str_text(const Str *str)
{
    return str->bytes ? str->bytes : "";
}

char *str_take(Str *str)
{
    char *text = str->bytes ? str->bytes : mem_strdup("");
    *str = (Str)STR_INIT;
    return text;
}

void str_done(Str *str)
{
    free(str->bytes);
    *str = (Str)STR_INIT;
}

bool text_starts(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

bool text_ends(const char *text, const char *tail)
{
    size_t a = strlen(text), b = strlen(tail);
    return a >= b && strcmp(text + a - b, tail) == 0;
}

bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool text_to_int(const char *text, int64_t *number)
{
    if (!text || !*text || strchr(" \t\n+", *text))
        return false;
    char *end = NULL;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno || *end)
        return false;
    *number = value;
    return true;
}

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
    enum { MOST = 64 };
    size_t m = strlen(a), n = strlen(b);
    unsigned row[MOST + 1];
    if (m > MOST || n > MOST)
        return limit + 1;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return MIN(row[n], limit + 1);
}
