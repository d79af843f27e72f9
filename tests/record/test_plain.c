/* Clean texts, columns, names and times; escaping. */
#include "tests/test.h"

#include "record/doc.h"
#include "record/plain.h"
#include <string.h>

static void assert_line(const char *text, size_t max, const char *expected)
{
    CLEANUP(str_done) Str line = STR_INIT;
    plain_add_line(&line, text, max);
    assert_string_equal(str_text(&line), expected);
}

static void a_line_is_clean_and_short(void **state)
{
    (void)state;
    assert_line("  a \n\t b  ", 80, "a b");
    assert_line("\x1b[1;31mred\x1b[0m \x1b]8;;x\x07link\x1b]8;;\x1b\\", 80, "red link");
    assert_line("\x1b", 80, "");
    assert_line("\x1b[", 80, "");
    assert_line("\x1b]never ends", 80, "");
    assert_line("a\x08"
                "b\xffz",
                80,
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbdz");
    assert_line("\xe2\x80\xae"
                "x",
                80,
                "\xef\xbf\xbd"
                "x");
    assert_line("äöü", 4, "äö…");
    assert_line("abc", 3, "abc");
    assert_line("", 3, "");
}

static void a_block_keeps_its_lines(void **state)
{
    (void)state;
    Arena arena = ARENA_INIT;
    assert_string_equal(plain_block(&arena, "a\r\n  b\rc\n\n\n", 80), "a\n  b\nc");
    assert_string_equal(plain_block(&arena, "aäb", 2), "a\n[the rest is left out]");
    assert_string_equal(plain_tail(&arena, "one\ntwo", 3), "[the beginning is left out]\ntwo");
    arena_done(&arena);
}

static void columns_are_counted_not_bytes(void **state)
{
    (void)state;
    CLEANUP(str_done) Str out = STR_INIT;
    assert_int_equal(plain_width("検索 e\xcc\x81"), 6);
    plain_add_padded(&out, "検索", 3);
    str_add_char(&out, '|');
    plain_add_padded(&out, "ab", 3);
    str_add_char(&out, '|');
    plain_add_padded(&out, "abcd", 3);
    assert_string_equal(str_text(&out), "検…|ab |ab…");
}

static void words_are_wrapped(void **state)
{
    (void)state;
    CLEANUP(str_done) Str out = STR_INIT;
    plain_add_wrapped(&out, "one two three fourfourfourfour", 2, 12);
    assert_string_equal(str_text(&out), "  one two\n  three\n  fourfourfo\n  urfour\n");
    str_clear(&out);
    plain_add_wrapped(&out, "", 2, 12);
    assert_string_equal(str_text(&out), "");
}

static void names_are_made_of_safe_characters(void **state)
{
    (void)state;
    Arena arena = ARENA_INIT;
    assert_string_equal(plain_slug(&arena, "Fix: ../a B", 40, "x"), "fix-a-b");
    assert_string_equal(plain_slug(&arena, "../..", 40, "x"), "x");
    assert_string_equal(plain_slug(&arena, "abc def", 4, "x"), "abcd");
    assert_string_equal(plain_slug(&arena, "検索", 40, "x"), "x");
    arena_done(&arena);
}

static void times_are_in_utc_and_never_odd(void **state)
{
    (void)state;
    char out[PLAIN_TIME_SIZE];
    plain_date(1772442000000, out);
    assert_string_equal(out, "2026-03-02");
    plain_time(1772442000000, out);
    assert_string_equal(out, "2026-03-02 09:00:00");
    plain_stamp(1772442000000, out);
    assert_string_equal(out, "2026-03-02T09:00:00Z");
    plain_time(0, out);
    assert_string_equal(out, "");
    plain_date(-1, out);
    assert_string_equal(out, "0000-00-00");
    plain_date(INT64_MAX, out);
    assert_string_equal(out, "0000-00-00");
    plain_stamp(INT64_MAX, out);
    assert_string_equal(out, "1970-01-01T00:00:00Z");
}

static void parts_have_two_digits_or_four(void **state)
{
    (void)state;
    Arena arena = ARENA_INIT;
    assert_string_equal(plain_part(&arena, 6200), "0.62");
    assert_string_equal(plain_part(&arena, 10000), "1.00");
    assert_string_equal(plain_part(&arena, -813), "-0.0813");
    assert_string_equal(plain_took(&arena, 1000, 62000), "1 min 1 s");
    assert_string_equal(plain_took(&arena, 0, 62000), "");
    assert_string_equal(plain_took(&arena, 2000, 1000), "");
    arena_done(&arena);
}

static void assert_escaped(const char *text, MarkdownPlace place, const char *expected)
{
    CLEANUP(str_done) Str out = STR_INIT;
    markdown_escape(&out, text, place);
    assert_string_equal(str_text(&out), expected);
}

static void markdown_means_what_it_says(void **state)
{
    (void)state;
    CLEANUP(str_done) Str out = STR_INIT;
    assert_escaped("a*b* `c` <b> a_b _c_ & &lt; ~~x~~", MARKDOWN_INSIDE,
                   "a\\*b\\* \\`c\\` &lt;b> a_b \\_c\\_ & &amp;lt; \\~\\~x\\~\\~");
    assert_escaped("[a](b) ![c][d] [e]: f [x]", MARKDOWN_INSIDE, "[a\\](b) ![c\\][d] [e\\]: f [x]");
    assert_escaped("a|b", MARKDOWN_TABLE, "a\\|b");
    assert_escaped("a|b", MARKDOWN_INSIDE, "a|b");
    assert_escaped("# a", MARKDOWN_START, "\\# a");
    assert_escaped("12. a", MARKDOWN_START, "12\\. a");
    assert_escaped("- a", MARKDOWN_START, "\\- a");
    markdown_code(&out, "a `b` |", true);
    assert_string_equal(str_text(&out), "``a `b` \\|``");
    str_clear(&out);
    markdown_code(&out, "`", false);
    assert_string_equal(str_text(&out), "`` ` ``");
    str_clear(&out);
    markdown_fence(&out, "```\nx\n````");
    assert_string_equal(str_text(&out), "`````\n```\nx\n````\n`````\n");
    str_clear(&out);
    markdown_quote(&out, "a <b>\n\n[c](d)");
    assert_string_equal(str_text(&out), "> a &lt;b>\n>\n> [c]\\(d)\n");
}

static void a_row_that_is_not_full_is_filled(void **state)
{
    (void)state;
    static const char *const heads[] = {"A", ">B", "C"};
    for (int format = RECORD_AS_MARKDOWN; format <= RECORD_AS_HTML; format++) {
        CLEANUP(doc_done) Doc doc;
        CLEANUP(str_done) Str out = STR_INIT;
        doc_init(&doc, (RecordFormat)format, "T & U");
        doc_table(&doc, heads, COUNT(heads));
        doc_cell(&doc, CELL_TEXT, "1");
        doc_text(&doc, "after");
        doc_finish(&doc, &out);
        if (format == RECORD_AS_MARKDOWN)
            assert_string_equal(str_text(&out), "# T & U\n\n| A | B | C |\n|---|---:|---|\n"
                                                "| 1 | | |\n\nafter\n");
        else
            assert_non_null(strstr(str_text(&out), "<tr><td>1</td><td></td><td></td></tr>\n"
                                                   "</tbody></table></div>\n<p>after</p>"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_clean_and_short),
        cmocka_unit_test(a_block_keeps_its_lines),
        cmocka_unit_test(columns_are_counted_not_bytes),
        cmocka_unit_test(words_are_wrapped),
        cmocka_unit_test(names_are_made_of_safe_characters),
        cmocka_unit_test(times_are_in_utc_and_never_odd),
        cmocka_unit_test(parts_have_two_digits_or_four),
        cmocka_unit_test(markdown_means_what_it_says),
        cmocka_unit_test(a_row_that_is_not_full_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
