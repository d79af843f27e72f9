/* Terminal output: see term.h. */
#include "cli/term.h"
#include "base/macros.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const style_codes[] = {
#define X(style, code) code,
    STYLES(X)
#undef X
};

static int size_from(const char *variable, int fallback)
{
    int64_t number = 0;
    bool is_usable = text_to_int(getenv(variable), &number) && number >= 1 && number <= 10000;
    return is_usable ? (int)number : fallback;
}

void term_resize(Term *term, int fd)
{
    struct winsize size = {0};
    bool is_known = term->is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0;
    term->width = is_known && size.ws_col ? size.ws_col : size_from("COLUMNS", 80);
    term->height = is_known && size.ws_row ? size.ws_row : size_from("LINES", 24);
}

static bool locale_is_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

void term_init(Term *term, int fd)
{
    const char *kind = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");
    bool is_dumb = !kind || !*kind || text_equal(kind, "dumb");
    term->is_terminal = isatty(fd) && !is_dumb;
    term->has_colour = term->is_terminal && !(no_colour && *no_colour);
    term->has_utf8 = locale_is_utf8();
    term_resize(term, fd);
}

void term_add(const Term *term, Str *out, Style style, const char *text)
{
    if (!term->has_colour || style == STYLE_NONE) {
        str_add(out, text);
        return;
    }
    str_addf(out, "\x1b[%sm", style_codes[style]);
    str_add(out, text);
    str_add(out, "\x1b[0m");
}

typedef struct Range {
    uint32_t first, last;
} Range;

/* clang-format off */
static const Range unseen[] = { /* no column of their own, or harmful: dropped from what we print */
    {0x00ad, 0x00ad}, {0x061c, 0x061c}, {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};
static const Range joined[] = { /* drawn over the character before */
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0x3099, 0x309a},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff},
};
static const Range wide[] = { /* two columns */
    {0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
    {0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
    {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
    {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
    {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
    {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x27b0, 0x27b0}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e},
    {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f},
    {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
    {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};
/* clang-format on */

static bool is_in(uint32_t c, const Range *ranges, size_t count)
{
    for (size_t i = 0; i < count && ranges[i].first <= c; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

static uint32_t decode(const char *text, size_t length)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    return c;
}

typedef struct Glyph {
    char bytes[8]; /* what to print; "" for nothing */
    size_t columns;
} Glyph;

/* The next character of hostile text as it may be printed. Returns the bytes used. */
static size_t take_glyph(const char *text, size_t left, Glyph *glyph)
{
    size_t length = utf8_length(text, left);
    uint32_t c = length ? decode(text, length) : 0;
    bool is_control = length == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0);
    *glyph = (Glyph){.columns = 1};
    if (c == '\t' || c == '\n') {
        glyph->bytes[0] = ' ';
    } else if (is_control) {
        unsigned shown = length ? c : (unsigned char)text[0];
        (void)snprintf(glyph->bytes, sizeof glyph->bytes, "\\x%02x", shown & 0xff); /* fits */
        glyph->columns = 4;
    } else if (is_in(c, unseen, COUNT(unseen))) {
        glyph->columns = 0;
    } else {
        memcpy(glyph->bytes, text, length);
        glyph->columns = is_in(c, joined, COUNT(joined)) ? 0 : is_in(c, wide, COUNT(wide)) ? 2 : 1;
    }
    return length ? length : 1;
}

size_t text_columns(const char *text, size_t length)
{
    size_t columns = 0;
    Glyph glyph;
    for (size_t i = 0; i < length; columns += glyph.columns)
        i += take_glyph(text + i, length - i, &glyph);
    return columns;
}

size_t str_add_cut(Str *out, const char *text, size_t columns)
{
    size_t length = strnlen(text, columns * 16 + 16), used = 0; /* a megabyte is not measured */
    Glyph glyph;
    bool fits = text[length] == '\0' && text_columns(text, length) <= columns;
    size_t room = fits ? columns : columns ? columns - 1 : 0;
    for (size_t i = 0; i < length; used += glyph.columns) {
        i += take_glyph(text + i, length - i, &glyph);
        if (used + glyph.columns > room)
            break;
        str_add(out, glyph.bytes);
    }
    if (fits || columns == 0)
        return MIN(used, columns);
    str_add(out, "\xe2\x80\xa6");
    return MIN(used, room) + 1;
}

void str_add_cell(Str *out, const char *text, size_t columns)
{
    for (size_t used = str_add_cut(out, text, columns); used < columns; used++)
        str_add_char(out, ' ');
}

void str_add_line(Str *out, const char *text)
{
    size_t length = strlen(text);
    Glyph glyph;
    for (size_t i = 0; i < length; str_add(out, glyph.bytes))
        i += take_glyph(text + i, length - i, &glyph);
}

void str_add_first(Str *out, const char *text)
{
    CLEANUP(str_done) Str first = STR_INIT;
    str_add_bytes(&first, text, strcspn(text, "\n"));
    str_add_line(out, str_text(&first));
}

void str_add_block(Str *out, const char *text, size_t indent)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        for (size_t i = 0; i < indent && length; i++)
            str_add_char(out, ' ');
        Glyph glyph;
        for (size_t i = 0; i < length;) {
            size_t step = take_glyph(text + i, length - i, &glyph);
            str_add(out, text[i] == '\t' ? "\t" : glyph.bytes);
            i += step;
        }
        str_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
}

/* The length of " (D-22, D-53)" at text, or 0. */
static size_t ids_at(const char *text)
{
    const char *at = text + 2;
    if (text[0] != ' ' || text[1] != '(')
        return 0;
    while (*at >= 'A' && *at <= 'F') {
        at += strspn(at, "ABCDEF");
        size_t digits = *at == '-' ? strspn(at + 1, "0123456789") : strspn(at, "0123456789");
        if (digits == 0)
            return 0;
        at += digits + (*at == '-');
        if (*at == ')')
            return (size_t)(at - text) + 1;
        at += *at == ',' && at[1] == ' ' ? 2 : 0;
    }
    return 0;
}

void text_without_ids(const char *text, Str *out)
{
    while (*text) {
        size_t skip = ids_at(text);
        if (!skip)
            str_add_char(out, *text);
        text += skip ? skip : 1;
    }
}

size_t styled_columns(const char *line, size_t length)
{
    size_t columns = 0;
    while (length) {
        const char *escape = memchr(line, '\x1b', length);
        size_t plain = escape ? (size_t)(escape - line) : length;
        columns += text_columns(line, plain);
        if (!escape)
            break;
        const char *end = memchr(escape, 'm', length - plain); /* we send colours only */
        size_t used = end ? (size_t)(end - line) + 1 : length;
        line += used;
        length -= used;
    }
    return columns;
}

static void add_blanks(Str *out, size_t count)
{
    while (count-- > 0)
        str_add_char(out, ' ');
}

/* What does not fit goes on below, two columns further in. A word wider than the line is left to
 * the terminal. */
static void wrap_line(Str *out, const char *line, size_t length, size_t width)
{
    size_t indent = strspn(line, " "), at = 0, column = 0;
    size_t hang = MIN(indent + 2, width / 2);
    while (at < length) {
        size_t blanks = strspn(line + at, " ");
        size_t word = strcspn(line + at + blanks, " \n");
        if (!word)
            break; /* blanks at its end */
        size_t columns = styled_columns(line + at + blanks, word);
        bool is_first = column <= indent;
        if (!is_first && column + blanks + columns > width) {
            str_add_char(out, '\n');
            indent = column = hang;
            add_blanks(out, hang);
            at += strspn(line + at, " ");
        } else {
            add_blanks(out, blanks);
            column += blanks;
            at += blanks;
        }
        str_add_bytes(out, line + at, word);
        column += columns;
        at += word;
    }
}

void str_add_wrapped(Str *out, const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (styled_columns(text, length) <= width)
            str_add_bytes(out, text, length);
        else
            wrap_line(out, text, length, width);
        if (text[length])
            str_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
}
