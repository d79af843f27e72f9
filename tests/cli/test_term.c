/* cli/term: hostile text and columns. */
#include "tests/test.h"

#include "cli/term.h"
#include <stdlib.h>
#include <string.h>

static char *cut(const char *text, size_t columns)
{
    static Str out;
    str_clear(&out);
    size_t used = str_add_cut(&out, text, columns);
    assert_true(used <= columns);
    assert_int_equal(text_columns(str_text(&out), out.length), used);
    return out.bytes ? out.bytes : (char *)"";
}

static void short_text_stays_and_long_text_is_cut(void **state)
{
    (void)state;
    assert_string_equal(cut("hello", 5), "hello");
    assert_string_equal(cut("hello!", 5), "hell…");
    assert_string_equal(cut("hello", 1), "…");
    assert_string_equal(cut("hello", 0), "");
    assert_string_equal(cut("", 5), "");
}

static void wide_and_joined_characters_count_as_they_look(void **state)
{
    (void)state;
    assert_int_equal(text_columns("日本", 6), 4);
    assert_string_equal(cut("日本語", 6), "日本語");
    assert_string_equal(cut("日本語", 5), "日本…");
    assert_string_equal(cut("日本語", 4), "日…");
    assert_int_equal(text_columns("e\u0301", 3), 1);
    assert_int_equal(text_columns("\U0001f600", 4), 2);
}

/* T5: nothing that a terminal would obey gets through, in whatever wrapping. */
static void nothing_a_terminal_obeys_gets_through(void **state)
{
    (void)state;
    static const char *const evil[] = {
        "\x1b[31mred",
        "\x1b]0;title\x07",
        "\x1b]52;c;AAAA\x1b\\",
        "a\rb",
        "a\bb",
        "\x9b"
        "31m",
        "\xc2\x9b"
        "31m",
        "\x1bP1$r\x1b\\",
        "\x7f\x01\x02\x03",
        "\xff\xfe\xc0\x80",
        "\u202egnp.exe",
        "a\u200bb\u2066c",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "new\nline",
        "\xe2\x80",
    };
    for (size_t i = 0; i < COUNT(evil); i++) {
        Str out = STR_INIT;
        str_add_line(&out, evil[i]);
        (void)str_add_cut(&out, evil[i], 40); /* the bytes are looked at below */
        str_add_cell(&out, evil[i], 40);
        str_add_block(&out, evil[i], 2);
        for (size_t at = 0; at < out.length;) {
            unsigned char c = (unsigned char)out.bytes[at];
            size_t length = utf8_length(out.bytes + at, out.length - at);
            assert_true(length > 0);
            assert_true(c >= 0x20 || c == '\n');
            assert_true(c != 0x7f && !(c == 0xc2 && (unsigned char)out.bytes[at + 1] < 0xa0));
            assert_false(length == 3 && memcmp(out.bytes + at, "\u202e", 3) == 0);
            assert_false(length == 3 && memcmp(out.bytes + at, "\u2066", 3) == 0);
            at += length;
        }
        str_done(&out);
    }
}

static void one_line_stays_one_line(void **state)
{
    (void)state;
    Str out = STR_INIT;
    str_add_line(&out, "a\nb\tc");
    assert_string_equal(out.bytes, "a b c");
    str_done(&out);
}

static void a_block_is_indented_line_by_line(void **state)
{
    (void)state;
    Str out = STR_INIT;
    str_add_block(&out, "a\n\nb\x1b[2J", 2);
    assert_string_equal(out.bytes, "  a\n\n  b\\x1b[2J\n");
    str_done(&out);
}

static void wide_lines_break_between_words(void **state)
{
    (void)state;
    CLEANUP(str_done) Str out = STR_INIT;
    str_add_wrapped(&out, "short\n  one two three four\n\x1b[32mgreen\x1b[0m stays whole\n", 12);
    assert_string_equal(str_text(&out), "short\n  one two\n    three\n    four\n"
                                        "\x1b[32mgreen\x1b[0m stays\n  whole\n");
    str_clear(&out);
    str_add_wrapped(&out, "a-word-that-fits-nowhere at all", 10);
    assert_string_equal(str_text(&out), "a-word-that-fits-nowhere\n  at all");
}

static void random_bytes_are_survived(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 3000; round++) {
        char text[64] = "";
        size_t length = (size_t)rand_r(&seed) % (sizeof text - 1);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(rand_r(&seed) % 255 + 1);
        (void)cut(text, (size_t)rand_r(&seed) % 30); /* checks its own width */
    }
}

static void colour_only_where_the_terminal_has_it(void **state)
{
    (void)state;
    Str out = STR_INIT;
    Term plain = {0}, coloured = {.is_terminal = true, .has_colour = true};
    term_add(&plain, &out, STYLE_BAD, "x");
    assert_string_equal(out.bytes, "x");
    term_add(&coloured, &out, STYLE_BAD, "y");
    assert_string_equal(out.bytes, "x\x1b[31my\x1b[0m");
    str_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_text_stays_and_long_text_is_cut),
        cmocka_unit_test(wide_and_joined_characters_count_as_they_look),
        cmocka_unit_test(nothing_a_terminal_obeys_gets_through),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(a_block_is_indented_line_by_line),
        cmocka_unit_test(wide_lines_break_between_words),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(colour_only_where_the_terminal_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
