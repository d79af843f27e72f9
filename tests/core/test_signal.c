#include "tests/test.h"

#include "base/str.h"
#include "core/signal.h"
#include <stdlib.h>
#include <string.h>

/* Every report as one line: code or type, payload, raw length. */
static void note(void *context, const Signal *signal)
{
    Str *out = context;
    str_add(out, signal->code == SIGNAL_OK ? signal_type_word(signal->type)
                                           : signal_code_word(signal->code));
    str_add_char(out, '|');
    if (signal->code == SIGNAL_OK && signal->payload)
        str_add_bytes(out, signal->payload, signal->payload_length);
    if (signal->code != SIGNAL_OK)
        str_add_bytes(out, signal->raw, signal->raw_length);
    str_add_char(out, '\n');
}

static void expect_bytes(const char *text, size_t length, const char *tag, const char *want)
{
    CLEANUP(str_done) Str out = STR_INIT;
    signal_scan(text, length, tag, note, &out);
    assert_string_equal(str_text(&out), want);
}

static void expect(const char *text, const char *want)
{
    expect_bytes(text, strlen(text), "otto", want);
}

static void every_type_is_read_with_its_payload(void **state)
{
    (void)state;
    expect("<otto>COMPLETE</otto>", "COMPLETE|\n");
    expect("<otto>BLOCKED:no key</otto>", "BLOCKED|no key\n");
    expect("<otto>PENDING: which port? </otto>", "PENDING|which port?\n");
    expect("<otto>PROGRESS:0</otto><otto>PROGRESS: 100 </otto>", "PROGRESS|0\nPROGRESS|100\n");
    expect("<otto>RESOLVED</otto>", "RESOLVED|\n");
    expect("<otto>DISCOVERY_LOCAL:a</otto><otto>DISCOVERY_GLOBAL:b</otto>",
           "DISCOVERY_LOCAL|a\nDISCOVERY_GLOBAL|b\n");
}

static void all_signals_come_in_order(void **state)
{
    (void)state;
    expect("x <otto>BLOCKED:a</otto>\r\n\xc3\xa4 <otto>PROGRESS:5</otto>y<otto>COMPLETE</otto>",
           "BLOCKED|a\nPROGRESS|5\nCOMPLETE|\n");
}

static void text_without_signals_gives_nothing(void **state)
{
    (void)state;
    expect("", "");
    expect("plain < text > with [brackets] and <otter>COMPLETE</otter>", "");
    expect("</otto> <ott <", "");
    expect("a < b && b[0] <<= 3", "");
}

static void a_payload_may_hold_brackets_and_lines(void **state)
{
    (void)state;
    expect("<otto>BLOCKED:a < b\r\n<c> [d] </x></otto>", "BLOCKED|a < b\r\n<c> [d] </x>\n");
}

static void the_payload_ends_at_the_first_closing_tag(void **state)
{
    (void)state;
    expect("<otto>BLOCKED:a</otto>b</otto>", "BLOCKED|a\n");
    expect("<otto>PENDING:may I write <otto>COMPLETE</otto> now?</otto>",
           "PENDING|may I write <otto>COMPLETE\n");
}

static void a_missing_payload_is_named(void **state)
{
    (void)state;
    expect("<otto>BLOCKED</otto>", "SIGNAL_MISSING_PAYLOAD|<otto>BLOCKED</otto>\n");
    expect("<otto>PENDING: \t</otto>", "SIGNAL_MISSING_PAYLOAD|<otto>PENDING: \t</otto>\n");
    expect("<otto>PROGRESS:</otto>", "SIGNAL_MISSING_PAYLOAD|<otto>PROGRESS:</otto>\n");
    expect("<otto>DISCOVERY_LOCAL</otto>", "SIGNAL_MISSING_PAYLOAD|<otto>DISCOVERY_LOCAL</otto>\n");
}

static void a_wrong_payload_is_named(void **state)
{
    (void)state;
    expect("<otto>PROGRESS:101</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>PROGRESS:101</otto>\n");
    expect("<otto>PROGRESS:-1</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>PROGRESS:-1</otto>\n");
    expect("<otto>PROGRESS:5%</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>PROGRESS:5%</otto>\n");
    expect("<otto>PROGRESS:1.5</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>PROGRESS:1.5</otto>\n");
    expect("<otto>COMPLETE:all</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>COMPLETE:all</otto>\n");
    expect("<otto>RESOLVED:x</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>RESOLVED:x</otto>\n");
    expect("<otto>COMPLETE:</otto>", "COMPLETE|\n");
}

static void an_unknown_type_is_named(void **state)
{
    (void)state;
    expect("<otto>DONE</otto>", "SIGNAL_UNKNOWN_TYPE|<otto>DONE</otto>\n");
    expect("<otto>COMPLETED:x</otto>", "SIGNAL_UNKNOWN_TYPE|<otto>COMPLETED:x</otto>\n");
}

static void wrong_case_and_brackets_are_malformed(void **state)
{
    (void)state;
    expect("<OTTO>COMPLETE</OTTO>", "SIGNAL_MALFORMED|<OTTO>COMPLETE</OTTO>\n");
    expect("<Otto>COMPLETE</otto>", "SIGNAL_MALFORMED|<Otto>COMPLETE</otto>\n");
    expect("[otto]COMPLETE[/otto]", "SIGNAL_MALFORMED|[otto]COMPLETE[/otto]\n");
    expect("<otto>COMPLETE</OTTO>", "SIGNAL_MALFORMED|<otto>COMPLETE</OTTO>\n");
    expect("<otto>complete</otto>", "SIGNAL_MALFORMED|<otto>complete</otto>\n");
    expect("<otto> COMPLETE</otto>", "SIGNAL_MALFORMED|<otto> COMPLETE</otto>\n");
    expect("<otto></otto>", "SIGNAL_MALFORMED|<otto></otto>\n");
    expect("<otto>:x</otto>", "SIGNAL_MALFORMED|<otto>:x</otto>\n");
}

static void an_unclosed_tag_is_malformed_and_swallows_nothing(void **state)
{
    (void)state;
    expect("<otto>COMPLETE", "SIGNAL_MALFORMED|<otto>COMPLETE\n");
    expect("<otto>", "SIGNAL_MALFORMED|<otto>\n");
    expect("<otto>BLOCKED:x", "SIGNAL_MALFORMED|<otto>BLOCKED:x\n");
    expect("<otto><otto>COMPLETE</otto>", "SIGNAL_MALFORMED|<otto>\nCOMPLETE|\n");
    expect("<otto>COMPLETE and <otto>COMPLETE</otto>",
           "SIGNAL_MALFORMED|<otto>COMPLETE and \nCOMPLETE|\n");
    expect("<OTTO>x <otto>COMPLETE</otto>", "SIGNAL_MALFORMED|<OTTO>x \nCOMPLETE|\n");
}

static void a_nul_byte_is_only_a_byte(void **state)
{
    (void)state;
    expect_bytes("a\0<otto>COMPLETE</otto>\0", 23, "otto", "COMPLETE|\n");
    expect_bytes("<otto>COMP\0LETE</otto>", 22, "otto", "SIGNAL_MALFORMED|<otto>COMP");
}

static void the_tag_is_configurable(void **state)
{
    (void)state;
    expect_bytes("<otto>COMPLETE</otto><otto-7f>COMPLETE</otto-7f>", 48, "otto-7f", "COMPLETE|\n");
    assert_true(signal_tag_is_valid("otto"));
    assert_true(signal_tag_is_valid("otto-9_a.B"));
    assert_false(signal_tag_is_valid(""));
    assert_false(signal_tag_is_valid("9a"));
    assert_false(signal_tag_is_valid("a b"));
    assert_false(signal_tag_is_valid("a>"));
}

static char *repeat(const char *head, char fill, size_t count, const char *tail, size_t *length)
{
    Str text = STR_INIT;
    str_add(&text, head);
    for (size_t i = 0; i < count; i++)
        str_add_char(&text, fill);
    str_add(&text, tail);
    *length = text.length;
    return str_take(&text);
}

static void count_codes(void *context, const Signal *signal)
{
    ((size_t *)context)[signal->code]++;
}

static void a_payload_has_a_limit(void **state)
{
    (void)state;
    size_t length, seen[SIGNAL_CODE_COUNT] = {0};
    char *text = repeat("<otto>BLOCKED:", 'x', SIGNAL_PAYLOAD_MAX, "</otto>", &length);
    signal_scan(text, length, "otto", count_codes, seen);
    assert_int_equal(seen[SIGNAL_OK], 1);
    free(text);
    text = repeat("<otto>BLOCKED:", 'x', SIGNAL_PAYLOAD_MAX + 1, "</otto>", &length);
    signal_scan(text, length, "otto", count_codes, seen);
    assert_int_equal(seen[SIGNAL_OK], 1);
    assert_int_equal(seen[SIGNAL_MALFORMED], 1);
    free(text);
    text = repeat("<otto>BLOCKED:", 'x', 100000, "<otto>COMPLETE</otto>", &length);
    signal_scan(text, length, "otto", count_codes, seen);
    assert_int_equal(seen[SIGNAL_OK], 2);
    free(text);
}

static void a_result_carries_a_json_object_over_many_lines(void **state)
{
    (void)state;
    expect("<otto>RESULT:{}</otto>", "RESULT|{}\n");
    expect("<otto>RESULT: {\"a\": [1,\n \"<b> </x> [c]\"],\r\n \"d\": {}}\n </otto> x",
           "RESULT|{\"a\": [1,\n \"<b> </x> [c]\"],\r\n \"d\": {}}\n");
    expect("<otto>RESULT</otto>", "SIGNAL_MISSING_PAYLOAD|<otto>RESULT</otto>\n");
    expect("<otto>RESULT: </otto>", "SIGNAL_MISSING_PAYLOAD|<otto>RESULT: </otto>\n");
    expect("<otto>RESULT:[1]</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>RESULT:[1]</otto>\n");
    expect("<otto>RESULT:{a}</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>RESULT:{a}</otto>\n");
    expect("<otto>RESULT:{\"a\":1,\"a\":2}</otto>",
           "SIGNAL_INVALID_PAYLOAD|<otto>RESULT:{\"a\":1,\"a\":2}</otto>\n");
    expect("<otto>RESULT:{} {}</otto>", "SIGNAL_INVALID_PAYLOAD|<otto>RESULT:{} {}</otto>\n");
    expect("<otto>RESULT:{\"a\":\"\xff\"}</otto>",
           "SIGNAL_INVALID_PAYLOAD|<otto>RESULT:{\"a\":\"\xff\"}</otto>\n");
    expect("<otto>RESULTS:{}</otto>", "SIGNAL_UNKNOWN_TYPE|<otto>RESULTS:{}</otto>\n");
    expect("<otto>RESULT:{", "SIGNAL_MALFORMED|<otto>RESULT:{\n");
}

static void keep_type(void *context, const Signal *signal)
{
    *(SignalType *)context = signal->type;
}

static void a_result_without_its_end_is_known_as_one(void **state)
{
    (void)state;
    SignalType type = SIGNAL_NONE;
    signal_scan("<otto>RESULT:{", 14, "otto", keep_type, &type);
    assert_int_equal(type, SIGNAL_RESULT);
    signal_scan("<otto>BLOCKED:x", 15, "otto", keep_type, &type);
    assert_int_equal(type, SIGNAL_NONE);
}

static size_t scan_result(size_t fill, const char *tail, size_t seen[SIGNAL_CODE_COUNT])
{
    size_t length;
    char *text = repeat("<otto>RESULT:{\"a\":\"", 'x', fill, tail, &length);
    memset(seen, 0, SIGNAL_CODE_COUNT * sizeof *seen);
    signal_scan(text, length, "otto", count_codes, seen);
    free(text);
    return seen[SIGNAL_OK];
}

static void a_result_alone_may_be_long(void **state)
{
    (void)state;
    enum { AROUND = sizeof "{\"a\":\"\"}" - 1 };
    size_t seen[SIGNAL_CODE_COUNT], length;
    assert_int_equal(scan_result(SIGNAL_RESULT_MAX - AROUND, "\"}</otto>", seen), 1);
    assert_int_equal(scan_result(SIGNAL_RESULT_MAX - AROUND + 1, "\"}</otto>", seen), 0);
    assert_true(seen[SIGNAL_MALFORMED] > 0);
    /* Too long: dropped, and what follows is heard. */
    assert_int_equal(scan_result(2 * SIGNAL_RESULT_MAX, "\"}</otto><otto>COMPLETE</otto>", seen),
                     1);
    assert_true(seen[SIGNAL_MALFORMED] > 0);
    /* Another type keeps its own limit, also behind a RESULT that was never closed. */
    memset(seen, 0, sizeof seen);
    char *text =
        repeat("<otto>RESULT:{<otto>BLOCKED:", 'x', 2 * SIGNAL_RESULT_MAX, "</otto>", &length);
    signal_scan(text, length, "otto", count_codes, seen);
    assert_int_equal(seen[SIGNAL_OK], 0);
    assert_int_equal(seen[SIGNAL_MALFORMED], 2);
    free(text);
}

/* Fed byte by byte and in odd pieces, hostile texts of RESULT openings give the same reports. */
static void long_results_do_not_depend_on_their_cuts(void **state)
{
    (void)state;
    static const char *const heads[] = {"<otto>RESULT:{\"a\":\"", "<otto>RESULT:{<otto>RESULT:[",
                                        "[otto]<otto>RESULT:", "<OTTO>RESULT:{"};
    static const size_t fills[] = {5000, SIGNAL_RESULT_MAX - 8, SIGNAL_RESULT_MAX + 200, 600000};
    static const size_t pieces[] = {1, 4099, 70001};
    for (size_t n = 0; n < COUNT(heads) * COUNT(fills); n++) {
        CLEANUP(str_done) Str whole = STR_INIT;
        size_t length;
        char *text = repeat(heads[n % COUNT(heads)], n % 3 ? 'x' : '<', fills[n / COUNT(heads)],
                            "\"}</otto>tail<otto>PROGRESS:7</otto>", &length);
        signal_scan(text, length, "otto", note, &whole);
        for (size_t i = 0; i < COUNT(pieces); i++) {
            CLEANUP(str_done) Str parts = STR_INIT;
            CLEANUP(signal_scanner_done) SignalScanner scanner;
            signal_scanner_init(&scanner, "otto", note, &parts);
            for (size_t at = 0; at < length; at += pieces[i]) {
                signal_scanner_feed(&scanner, text + at, MIN(pieces[i], length - at));
                assert_true(scanner.held_length <= SIGNAL_RESULT_WINDOW + SIGNAL_TAG_MAX + 3);
                assert_true(scanner.held_size <= 4 * SIGNAL_RESULT_MAX);
            }
            signal_scanner_end(&scanner);
            assert_int_equal(scanner.held_length, 0);
            assert_string_equal(str_text(&parts), str_text(&whole));
        }
        free(text);
    }
}

static void many_open_results_cost_no_more_than_their_length(void **state)
{
    (void)state;
    size_t seen[SIGNAL_CODE_COUNT] = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    for (unsigned i = 0; i < 200000; i++)
        str_add(&text, i % 2 ? "<otto>RESULT:" : "<otto>BLOCKED:");
    CLEANUP(signal_scanner_done) SignalScanner scanner;
    signal_scanner_init(&scanner, "otto", count_codes, seen);
    for (size_t at = 0; at < text.length; at += 7)
        signal_scanner_feed(&scanner, text.bytes + at, MIN((size_t)7, text.length - at));
    signal_scanner_end(&scanner);
    assert_int_equal(seen[SIGNAL_MALFORMED], 200000);
}

static void feed_in_pieces(const char *text, size_t length, const size_t *cuts, size_t count,
                           Str *out)
{
    CLEANUP(signal_scanner_done) SignalScanner scanner;
    signal_scanner_init(&scanner, "otto", note, out);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        signal_scanner_feed(&scanner, text + at, cuts[i] - at);
        at = cuts[i];
    }
    signal_scanner_feed(&scanner, text + at, length - at);
    signal_scanner_end(&scanner);
}

static void expect_same_for_every_cut(const char *text, size_t length)
{
    CLEANUP(str_done) Str whole = STR_INIT;
    signal_scan(text, length, "otto", note, &whole);
    for (size_t cut = 0; cut <= length; cut++) {
        CLEANUP(str_done) Str parts = STR_INIT;
        feed_in_pieces(text, length, &cut, 1, &parts);
        assert_string_equal(str_text(&parts), str_text(&whole));
    }
    CLEANUP(str_done) Str bytes = STR_INIT;
    CLEANUP(signal_scanner_done) SignalScanner scanner;
    signal_scanner_init(&scanner, "otto", note, &bytes);
    for (size_t i = 0; i < length; i++)
        signal_scanner_feed(&scanner, text + i, 1);
    signal_scanner_end(&scanner);
    assert_string_equal(str_text(&bytes), str_text(&whole));
}

static void every_split_of_a_stream_gives_the_same_reports(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a<otto>BLOCKED: x </otto>b<OTTO>c</OTTO>[otto]d[/otto]<otto>COMPLETE</otto>",
        "<otto>COMPLETE <otto>PROGRESS:7</otto></otto>",
        "<otto>PENDING:<</ott</otto",
        "[[[<<<otto>RESOLVED</otto><otto",
        "<otto>RESULT: {\"x\":\n[1,\"</ott\"]} </otto>b<otto>RESULT:{</otto>",
        "<otto>RESULT:[]</otto>a<otto>RESULT: </otto>",
        "<otto>RESULT:{\"a\":1}<otto>COMPLETE</otto></otto><otto>RESULT",
        "<otto>RESULT:{\"a\":1}</OTTO></otto>",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        expect_same_for_every_cut(texts[i], strlen(texts[i]));
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Texts made of the pieces that matter, cut at random places. */
static void random_texts_do_not_depend_on_their_cuts(void **state)
{
    (void)state;
    static const char *const words[] = {
        "<otto>", "</otto>", "<OTTO>",      "[otto]", "[/otto]", "<",  "COMPLETE", "BLOCKED:",
        "x",      "</",      "PROGRESS:42", "\n",     "RESULT:", "{}", "{\"a\":",  "1}"};
    for (uint32_t seed = 1; seed <= 400; seed++) {
        uint32_t dice = seed;
        CLEANUP(str_done) Str text = STR_INIT;
        CLEANUP(str_done) Str whole = STR_INIT;
        CLEANUP(str_done) Str parts = STR_INIT;
        size_t cuts[40];
        for (unsigned i = 0; i < 60; i++) {
            str_add(&text, words[random_next(&dice) % COUNT(words)]);
            for (unsigned fill = random_next(&dice) % 30 == 0 ? 4400
                                 : seed % 40 == 0 && i == 30  ? SIGNAL_RESULT_MAX + seed
                                                              : 0;
                 fill; fill--)
                str_add_char(&text, 'y');
        }
        for (unsigned i = 0; i < COUNT(cuts); i++)
            cuts[i] = text.length * (i + 1) / (COUNT(cuts) + 1) + random_next(&dice) % 3;
        signal_scan(str_text(&text), text.length, "otto", note, &whole);
        feed_in_pieces(str_text(&text), text.length, cuts, COUNT(cuts), &parts);
        assert_string_equal(str_text(&parts), str_text(&whole));
    }
}

static void the_table_knows_its_types(void **state)
{
    (void)state;
    SignalType type;
    for (unsigned i = SIGNAL_NONE + 1; i < SIGNAL_TYPE_COUNT; i++) {
        const char *word = signal_type_word((SignalType)i);
        assert_true(signal_type_find(word, strlen(word), &type));
        assert_int_equal(type, i);
        assert_true(*signal_type_help((SignalType)i));
    }
    assert_true(signal_is_control(SIGNAL_COMPLETE) && signal_is_control(SIGNAL_BLOCKED) &&
                signal_is_control(SIGNAL_PENDING));
    assert_false(signal_is_control(SIGNAL_PROGRESS) || signal_is_control(SIGNAL_RESOLVED));
    assert_false(signal_type_find("", 0, &type));
    assert_int_equal(signal_duty(SIGNAL_BLOCKED), DUTY_TEXT);
    assert_int_equal(signal_duty(SIGNAL_RESULT), DUTY_JSON);
    assert_false(signal_is_control(SIGNAL_RESULT));
    assert_int_equal(signal_payload_max(SIGNAL_RESULT), SIGNAL_RESULT_MAX);
    assert_int_equal(signal_payload_max(SIGNAL_BLOCKED), SIGNAL_PAYLOAD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_with_its_payload),
        cmocka_unit_test(all_signals_come_in_order),
        cmocka_unit_test(text_without_signals_gives_nothing),
        cmocka_unit_test(a_payload_may_hold_brackets_and_lines),
        cmocka_unit_test(the_payload_ends_at_the_first_closing_tag),
        cmocka_unit_test(a_missing_payload_is_named),
        cmocka_unit_test(a_wrong_payload_is_named),
        cmocka_unit_test(an_unknown_type_is_named),
        cmocka_unit_test(wrong_case_and_brackets_are_malformed),
        cmocka_unit_test(an_unclosed_tag_is_malformed_and_swallows_nothing),
        cmocka_unit_test(a_nul_byte_is_only_a_byte),
        cmocka_unit_test(the_tag_is_configurable),
        cmocka_unit_test(a_payload_has_a_limit),
        cmocka_unit_test(a_result_carries_a_json_object_over_many_lines),
        cmocka_unit_test(a_result_without_its_end_is_known_as_one),
        cmocka_unit_test(a_result_alone_may_be_long),
        cmocka_unit_test(long_results_do_not_depend_on_their_cuts),
        cmocka_unit_test(many_open_results_cost_no_more_than_their_length),
        cmocka_unit_test(every_split_of_a_stream_gives_the_same_reports),
        cmocka_unit_test(random_texts_do_not_depend_on_their_cuts),
        cmocka_unit_test(the_table_knows_its_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
