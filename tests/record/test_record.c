/* Timelines, reports and summaries of a whole history, compared with golden texts. */
#include "tests/record/support.h"
#include <string.h>

static void a_timeline_names_the_row_that_decided_every_step(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(json_freep) json_t *json = NULL;
    history_put(room);
    must(record_timeline(room->store, 1, &json, &text, &room->err), &room->err);

    assert_golden("timeline.txt", str_text(&text));
    assert_int_equal(json_array_size(json_object_get(json, "steps")), 25);
    const json_t *step = json_array_get(json_object_get(json, "steps"), 3);
    assert_string_equal(json_text(step, "phase", ""), "check");
    assert_string_equal(json_text(step, "checkpoint", ""), "post-plan");
    assert_string_equal(json_text(step, "result", ""), "NEEDS_REVISION");
    assert_string_equal(json_text(step, "row", ""), "staged.check.revision");
    assert_string_equal(json_text(step, "next", ""), "plan");
    assert_int_equal(json_int(step, "took_ms", 0), 45000);
    assert_int_equal(json_int(step, "stage", 0), 1);
    assert_int_equal(json_int(json, "took_ms", 0), 25 * 45000);
    assert_has(json_text(json, "flow", ""),
               "target → plan → verify → check(NEEDS_REVISION) → plan");
    assert_has(json_text(json, "flow", ""), "merge → satisfied");
}

static void no_line_of_the_timeline_is_wider_than_80_columns(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    task_put(room, 1, "検索を付ける 検索を付ける 検索を付ける 検索を付ける 検索を付ける 検索を",
             "");
    step_put(room, 1, 0, 1,
             "a-phase-with-a-very-long-name with-a-checkpoint-just-as-long-as-that "
             "AND_A_RESULT_THAT_NEVER_ENDS_AT_ALL "
             "row.row.row.row.row.row.row.row.row.row.row.row.row.row.row.ro "
             "a-next-phase-with-a-long-name a-long-status agent commitcommitcommit");
    must(record_timeline(room->store, 1, NULL, &text, &room->err), &room->err);
    for (const char *line = str_text(&text); *line; line += strcspn(line, "\n") + 1) {
        size_t columns = 0, length = strcspn(line, "\n");
        for (size_t i = 0; i < length; i++) /* wide characters of this test have three bytes */
            columns += (unsigned char)line[i] < 0x80    ? 1
                       : (unsigned char)line[i] == 0xe2 ? 1
                       : (unsigned char)line[i] >= 0xe3 ? 2
                       : (unsigned char)line[i] == 0xc2 ? 1
                                                        : 0;
        assert_in_range(columns, 0, 80);
    }
    assert_clean(str_text(&text));
}

static void a_report_holds_the_whole_history(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_report(room->store, 1, &facts, RECORD_AS_MARKDOWN, &text, &room->err), &room->err);
    assert_markdown(str_text(&text));
    assert_clean(str_text(&text));
    assert_golden("report.md", str_text(&text));
}

static void a_report_in_html_is_one_sound_file(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_report(room->store, 1, &facts, RECORD_AS_HTML, &text, &room->err), &room->err);
    assert_html(str_text(&text));
    assert_clean(str_text(&text));
    assert_has_not(str_text(&text), "http://");
    assert_has_not(str_text(&text), "https://");
    assert_has_not(str_text(&text), "<script");
    assert_has(str_text(&text), "prefers-color-scheme:dark");
    assert_has(str_text(&text), "<span class=\"chip bad\">ROLLBACK</span>");
    assert_has(str_text(&text), "<code>src/box.c:41</code>");
    assert_golden("report.html", str_text(&text));
}

static void a_short_report_fits_on_a_screen(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_report(room->store, 1, &facts, RECORD_AS_SUMMARY, &text, &room->err), &room->err);
    assert_markdown(str_text(&text));
    assert_golden("report-short.md", str_text(&text));
}

static void a_summary_begins_with_the_recovery_header(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_summary(room->store, 1, &facts, RECORD_LAYOUT_OTTO, &text, &room->err), &room->err);
    assert_int_equal(strncmp(str_text(&text), "> **Recovery header**\n", 22), 0);
    assert_markdown(str_text(&text));
    assert_golden("summary.md", str_text(&text));
}

static void a_task_without_work_gets_a_short_notice(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(str_done) Str summary = STR_INIT;
    CLEANUP(str_done) Str timeline = STR_INIT;
    task_put(room, 1, "Later", "");
    must(record_report(room->store, 1, NULL, RECORD_AS_MARKDOWN, &text, &room->err), &room->err);
    assert_string_equal(str_text(&text),
                        "# Report: Later\n\nTask #1 (pending) has no plan and no step yet: there "
                        "is nothing to report.\n");
    must(record_summary(room->store, 1, NULL, RECORD_LAYOUT_A, &summary, &room->err), &room->err);
    assert_has(str_text(&summary), "> - Status: pending\n> - Phase: none\n> - Next step: none\n");
    must(record_timeline(room->store, 1, NULL, &timeline, &room->err), &room->err);
    assert_string_equal(str_text(&timeline), "#1 Later (staged, pending)\nno step has ended yet\n");
}

static void a_report_shows_nothing_raw_and_no_guard_that_did_not_fire(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    RecordFacts facts = history_facts();
    StoreCheckpoint check = {1, 1, 1, "greets", "test -f a", "executable", "green", T0};
    StoreGateResult red = {.run = 1,
                           .epoch = 1,
                           .turn = 1,
                           .stage = "gate",
                           .name = "greets",
                           .command = "test -f a",
                           .is_required = true,
                           .exit_code = 1,
                           .started_ms = T0,
                           .output = "not there",
                           .output_length = 9};
    Run run = {.id = 1, .task = 1, .project = 1, .epoch = 1, .state = RUN_ENDED};
    task_put(room, 1, "Greet", "");
    must(store_run_save(room->store, &run, &room->err), &room->err);
    step_put(room, 1, 0, 1, "plan - (generated) plan-generated check planning agent -");
    must(store_checkpoints_save(room->store, 1, &check, 1, &room->err), &room->err);
    must(store_gate_put(room->store, &red, &room->err), &room->err);
    record_put(room, 1, 1, 1, RECORD_GUARD, "", "clear", "", "{\"guards\":[]}");
    record_put(room, 1, 2, 1, RECORD_HOOK, "", "planning", "",
               "{\"ok\":true,\"exit_code\":3,\"timed_out\":false,\"output\":\"\"}");
    record_put(room, 1, 3, 1, RECORD_FEEDBACK, "", "reject", "no",
               "{\"decision\":\"reject\",\"timestamp\":1772442000000,\"rejectReason\":\"no\"}");
    must(record_report(room->store, 1, &facts, RECORD_AS_MARKDOWN, &text, &room->err), &room->err);
    assert_has_not(str_text(&text), "Guards that fired");
    assert_has_not(str_text(&text), "exit_code");
    assert_has(str_text(&text), "exit code 3");
    assert_has_not(str_text(&text), "1772442000000");
    assert_has(str_text(&text), "- **At (UTC):** 2026-03-02 09:00:00");
    assert_has(str_text(&text), "| `test -f a` | red | 1 |");
    assert_has_not(str_text(&text), "not there");
}

static void a_task_that_is_not_there_is_an_error(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    assert_false(record_report(room->store, 9, NULL, RECORD_AS_HTML, &text, &room->err));
    assert_int_equal(room->err.kind, ERR_NOT_FOUND);
    assert_false(record_timeline(room->store, 0, NULL, &text, &room->err));
    assert_int_equal(room->err.kind, ERR_NOT_FOUND);
    assert_int_equal(text.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_timeline_names_the_row_that_decided_every_step,
                                        room_setup, room_teardown),
        cmocka_unit_test_setup_teardown(no_line_of_the_timeline_is_wider_than_80_columns,
                                        room_setup, room_teardown),
        cmocka_unit_test_setup_teardown(a_report_holds_the_whole_history, room_setup,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(a_report_in_html_is_one_sound_file, room_setup,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(a_short_report_fits_on_a_screen, room_setup, room_teardown),
        cmocka_unit_test_setup_teardown(a_summary_begins_with_the_recovery_header, room_setup,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(a_task_without_work_gets_a_short_notice, room_setup,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(a_report_shows_nothing_raw_and_no_guard_that_did_not_fire,
                                        room_setup, room_teardown),
        cmocka_unit_test_setup_teardown(a_task_that_is_not_there_is_an_error, room_setup,
                                        room_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
