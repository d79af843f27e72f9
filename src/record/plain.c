/* Clean text: see plain.h. */
#include "record/plain.h"
#include <string.h>

static const char unknown[] = "\xef\xbf\xbd";

/* Length of a terminal sequence at text ("ESC [ … m", "ESC ] … BEL"), which begins with ESC. */
static size_t sequence_length(const char *text, size_t left)
{
    enum { MOST = 4096 };
    size_t at = 2, most = MIN(left, (size_t)MOST);
    if (left < 2)
        return 1;
    if (text[1] == '[') {
        while (at < most && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] < 0x40)
            at++;
        return at < left && (unsigned char)text[at] >= 0x40 && (unsigned char)text[at] < 0x7f
                   ? at + 1
                   : at;
    }
    if (!strchr("]PX^_", text[1]))
        return (unsigned char)text[1] >= 0x20 && (unsigned char)text[1] < 0x7f ? 2 : 1;
    for (; at < most && text[at] != '\n'; at++) {
        if (text[at] == '\a')
            return at + 1;
        if (text[at] == '\x1b')
            return at + 1 < left && text[at + 1] == '\\' ? at + 2 : at;
    }
    return at;
}

static uint32_t code_point(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    switch (length) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    case 3:
        return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    }
    return 0;
}

typedef struct Range {
    uint32_t first, last;
} Range;

static bool is_in(const Range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* Characters that hide text or turn its direction; controls; what XML does not know. */
static bool is_banned(uint32_t code)
{
    static const Range ranges[] = {
        {0x00, 0x08},     {0x0b, 0x0c},     {0x0e, 0x1f},       {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200b, 0x200b}, {0x200e, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x2069}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
    };
    return is_in(ranges, COUNT(ranges), code);
}

/* One clean piece at text: *piece and its length; the bytes it took come back. Line ends of every
 * kind become one newline. An empty piece: nothing to print. */
static size_t piece_at(const char *text, size_t left, const char **piece, size_t *length)
{
    size_t step = utf8_length(text, left);
    uint32_t code = step ? code_point(text, step) : 0;
    *piece = text;
    *length = step;
    if (step == 1 && *text == '\x1b') {
        *length = 0;
        return sequence_length(text, left);
    }
    if (step == 1 && *text == '\r') {
        *piece = "\n";
        return left > 1 && text[1] == '\n' ? 2 : 1;
    }
    if (code == 0x2028 || code == 0x2029) {
        *piece = "\n";
        *length = 1;
    } else if (step == 0 || is_banned(code)) {
        *piece = unknown;
        *length = 3;
    }
    return step ? step : 1;
}

void plain_add_line(Str *out, const char *text, size_t max)
{
    size_t left = strlen(text), begin = out->length;
    bool wants_space = false;
    while (left) {
        const char *piece;
        size_t length, took = piece_at(text, left, &piece, &length);
        text += took;
        left -= took;
        if (length == 1 && strchr(" \t\n", *piece)) {
            wants_space = out->length > begin;
        } else if (length) {
            if (out->length - begin + length + wants_space > max) {
                str_add(out, "…");
                return;
            }
            if (wants_space)
                str_add_char(out, ' ');
            str_add_bytes(out, piece, length);
            wants_space = false;
        }
    }
}

const char *plain_line(Arena *arena, const char *text, size_t max)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, text, max);
    return arena_strndup(arena, str_text(&line), line.length);
}

static void trim_end(Str *out, size_t begin)
{
    while (out->length > begin && strchr(" \t\n", out->bytes[out->length - 1]))
        out->bytes[--out->length] = '\0';
}

static void add_clean(Str *out, const char *text, size_t left)
{
    while (left) {
        const char *piece;
        size_t length, took = piece_at(text, left, &piece, &length);
        str_add_bytes(out, piece, length);
        text += took;
        left -= took;
    }
}

/* A cut never falls into a character. */
static size_t cut_before(const char *text, size_t at)
{
    while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void plain_add_block(Str *out, const char *text, size_t max)
{
    size_t length = strlen(text), begin = out->length;
    size_t taken = length > max ? cut_before(text, max) : length;
    add_clean(out, text, taken);
    trim_end(out, begin);
    if (taken < length)
        str_add(out, "\n[the rest is left out]");
}

const char *plain_block(Arena *arena, const char *text, size_t max)
{
    CLEANUP(str_done) Str block = STR_INIT;
    plain_add_block(&block, text, max);
    return arena_strndup(arena, str_text(&block), block.length);
}

const char *plain_tail(Arena *arena, const char *text, size_t max)
{
    CLEANUP(str_done) Str block = STR_INIT;
    size_t length = strlen(text);
    size_t from = length > max ? cut_before(text, length - max) : 0;
    if (from)
        str_add(&block, "[the beginning is left out]\n");
    add_clean(&block, text + from, length - from);
    trim_end(&block, 0);
    return arena_strndup(arena, str_text(&block), block.length);
}

static size_t columns_of(uint32_t code)
{
    static const Range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
        {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
        {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
    };
    static const Range wide[] = {
        {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},
        {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2757},
        {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
        {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
        {0x1f18e, 0x1f19a}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb},
        {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
    };
    if (code < 0x300)
        return 1;
    return is_in(none, COUNT(none), code) ? 0 : is_in(wide, COUNT(wide), code) ? 2 : 1;
}

/* Bytes at the start of text that fit into so many columns; *used of them are taken. */
static size_t fitting(const char *text, size_t columns, size_t *used)
{
    size_t at = 0, left = strlen(text);
    *used = 0;
    while (left) {
        size_t step = utf8_length(text + at, left);
        size_t width = columns_of(code_point(text + at, step));
        if (*used + width > columns)
            break;
        *used += width;
        step = step ? step : 1;
        at += step;
        left -= step;
    }
    return at;
}

size_t plain_width(const char *text)
{
    size_t width;
    (void)fitting(text, SIZE_MAX, &width); /* the whole text */
    return width;
}

void plain_add_padded(Str *out, const char *text, size_t columns)
{
    size_t used, length = fitting(text, columns, &used);
    if (text[length]) {
        length = fitting(text, columns ? columns - 1 : 0, &used);
        str_add_bytes(out, text, length);
        str_add(out, columns ? "…" : "");
        used += columns ? 1 : 0;
    } else {
        str_add_bytes(out, text, length);
    }
    for (; used < columns; used++)
        str_add_char(out, ' ');
}

/* The bytes of the next line: up to the last space that fits, else as much as fits. */
static size_t line_length(const char *text, size_t columns)
{
    size_t used, fits = fitting(text, columns, &used), at = fits;
    if (!text[fits] || text[fits] == ' ')
        return fits;
    while (at && text[at - 1] != ' ')
        at--;
    return at ? at : MAX(fits, 1u);
}

void plain_add_wrapped(Str *out, const char *text, size_t indent, size_t columns)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, text, SIZE_MAX / 2);
    size_t room = columns > indent + 8 ? columns - indent : 8;
    for (const char *rest = str_text(&line); *rest;) {
        size_t length = line_length(rest, room), shown = length;
        while (shown && rest[shown - 1] == ' ')
            shown--;
        str_addf(out, "%*s%.*s\n", (int)indent, "", (int)shown, rest);
        rest += length;
        while (*rest == ' ')
            rest++;
    }
}
