/* Whatever is stored, the outputs are clean, sound and bounded. */
#include "base/arena.h"
#include "tests/record/support.h"
#include <stdlib.h>
#include <string.h>

#define NASTY                                                                                      \
    "<script>alert(1)</script><img src=x onerror=y> </td></table> & &amp; \"q\" 'q' "              \
    "\x1b[31mred\x1b[0m\x1b]0;title\x07 | a | b | `tick` ``two`` *star* _under_ "                  \
    "[link](javascript:x) ![p](http://e.org/p) [a]: http://e.org\r\n# head\n- item\n```\nfence\n"  \
    "\x80\xff\xc0\xaf \xe2\x80\xae turned \xc2\x9b"                                                \
    "31m \x01\x02\x7f ../../etc/passwd"

static void outputs_are_sound(Room *room, TaskId task, const RecordFacts *facts)
{
    for (int format = RECORD_AS_MARKDOWN; format <= RECORD_AS_SUMMARY; format++) {
        CLEANUP(str_done) Str text = STR_INIT;
        must(record_report(room->store, task, facts, (RecordFormat)format, &text, &room->err),
             &room->err);
        assert_clean(str_text(&text));
        if (format == RECORD_AS_HTML)
            assert_html(str_text(&text));
        else
            assert_markdown(str_text(&text));
        if (format != RECORD_AS_HTML)
            assert_no_tags(str_text(&text));
        assert_in_range(text.length, 1, RECORD_DOCUMENT_MAX + 1024 * 1024);
    }
    for (int layout = RECORD_LAYOUT_A; layout <= RECORD_LAYOUT_B; layout++) {
        CLEANUP(files_done) Files files = {0};
        must(record_export(room->store, task, facts, (RecordLayout)layout, files_take, &files,
                           &room->err),
             &room->err);
        for (size_t i = 0; i < files.count; i++)
            assert_clean(files.texts[i]);
    }
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(json_freep) json_t *json = NULL;
    must(record_timeline(room->store, task, &json, &text, &room->err), &room->err);
    assert_clean(str_text(&text));
    CLEANUP(str_done) Str summary = STR_INIT;
    must(record_summary(room->store, task, facts, RECORD_LAYOUT_B, &summary, &room->err),
         &room->err);
    assert_clean(str_text(&summary));
    assert_markdown(str_text(&summary));
    assert_no_tags(str_text(&summary));
}

static void nasty_rows(Room *room, TaskId task)
{
    StoreStep step = {.task = task,
                      .run = 1,
                      .epoch = 1,
                      .turn = 1,
                      .stage = 1,
                      .phase = NASTY,
                      .checkpoint = NASTY,
                      .result = NASTY,
                      .row = NASTY,
                      .why = NASTY,
                      .next = NASTY,
                      .status = NASTY,
                      .commit = NASTY,
                      .agent = NASTY,
                      .prompt_hash = NASTY,
                      .started_ms = INT64_MAX,
                      .ended_ms = -5};
    StoreStage stage = {.task = task,
                        .stage = 1,
                        .attempt = 1,
                        .name = NASTY,
                        .objective = NASTY,
                        .moves = NASTY,
                        .reason = NASTY,
                        .outcome = "rolled-back",
                        .cause = NASTY,
                        .commit = NASTY,
                        .before = INT32_MIN,
                        .after = INT32_MAX,
                        .ended_ms = INT64_MAX};
    StoreItem item = {1, false, NASTY "[CONFIRMED]", NASTY, 0};
    StoreRequirement requirement = {1, 1, NASTY, NASTY, UINT32_MAX, -1, 7, NASTY, NASTY};
    StoreObjective objective = {&item, 1, &requirement, 1};
    StoreRefinement refinement = {.task = task, .text = NASTY, .impact = "", .touches = NASTY};
    StoreExperience experience = {.project = 1,
                                  .task = task,
                                  .type = NASTY,
                                  .topic = NASTY,
                                  .text = NASTY,
                                  .quality = "verified",
                                  .at_ms = -1};
    StoreCheckpoint check = {task, 1, 1, NASTY, NASTY, "human", "red", -1};
    StoreNotice notice = {.project = 1, .task = task, .kind = NASTY, .text = NASTY};
    must(store_step_put(room->store, &step, NULL, &room->err), &room->err);
    must(store_stage_put(room->store, &stage, &room->err), &room->err);
    must(store_objective_save(room->store, task, &objective, &room->err), &room->err);
    must(store_refinement_put(room->store, &refinement, NULL, &room->err), &room->err);
    must(store_experience_put(room->store, &experience, &room->err), &room->err);
    must(store_checkpoints_save(room->store, task, &check, 1, &room->err), &room->err);
    must(store_notice_put(room->store, &notice, NULL, &room->err), &room->err);
}

static void texts_from_outside_never_break_a_document(void **state)
{
    Room *room = *state;
    static const char *const log[] = {NASTY, NULL, ""};
    RecordFacts facts = {.project = NASTY,
                         .target = NASTY,
                         .workflow = NASTY,
                         .status = NASTY,
                         .phase = NASTY,
                         .next = NASTY,
                         .why = NASTY,
                         .branch = NASTY,
                         .worktree = NASTY,
                         .reason = NASTY,
                         .log = log,
                         .log_count = COUNT(log)};
    task_put(room, 1, NASTY, NASTY);
    nasty_rows(room, 1);
    for (int kind = 0; kind < RECORD_KIND_COUNT; kind++)
        record_put(room, 1, kind, (uint32_t)kind % 3, (RecordKind)kind, NASTY, NASTY, NASTY, "");
    outputs_are_sound(room, 1, &facts);
    outputs_are_sound(room, 1, NULL);
}

/* The same text in every place where data may hold one. */
static char *nasty_data(void)
{
    json_t *text = json_string("<script>x</script> | \x1b[1m ../.. `t` \xe2\x80\xae ```\n# h");
    json_t *list = json_pack("[O,O,i,n,[],{}]", text, text, 7);
    json_t *object = json_object();
    static const char *const texts[] = {
        "summary",      "title",   "verdict",  "row",       "why",      "result",
        "name",         "command", "state",    "output",    "diff",     "reason",
        "id",           "guard",   "path",     "text",      "decision", "customFeedback",
        "rejectReason", "notes",   "severity", "dimension", "file",     "check",
        "mode"};
    static const char *const lists[] = {"criteria", "scope",  "risks",     "floors", "missing",
                                        "covers",   "files",  "decisions", "issues", "quickIssues",
                                        "worked",   "failed", "tools"};
    static const char *const nests[] = {"steps",        "findings", "commands",
                                        "requirements", "guards",   "checks"};
    for (size_t i = 0; i < COUNT(texts); i++)
        json_object_set(object, texts[i], text);
    for (size_t i = 0; i < COUNT(lists); i++)
        json_object_set(object, lists[i], list);
    json_t *inner = json_deep_copy(object);
    json_object_set_new(inner, "checks", json_pack("[o,O]", json_deep_copy(object), text));
    for (size_t i = 0; i < COUNT(nests); i++)
        json_object_set_new(object, nests[i], json_pack("[O,O,O]", inner, text, list));
    char *data = json_write(object);
    assert_non_null(data);
    json_decref(inner);
    json_decref(object);
    json_decref(list);
    json_decref(text);
    return data;
}

static void data_of_any_shape_is_shown_or_passed_over(void **state)
{
    static const char *const shapes[] = {
        "null",
        "[]",
        "7",
        "\"text\"",
        "{",
        "{\"steps\":7,\"findings\":{\"a\":1},\"scores\":[1]}",
        "{\"steps\":[1,null,\"x\",[],{\"title\":7,\"checks\":[7,{}],\"covers\":\"R1\"}]}",
        ("{\"scores\":{\"d1\":\"high\",\"d2\":1e300,\"d3\":-1},\"overall\":true,\"retries\":7,"
         "\"findings\":[7,\"a text\",{\"line\":\"x\",\"file\":7}]}"),
        "{\"commands\":[{\"exit_code\":\"x\",\"output\":7,\"state\":null},7],\"diffstat\":\"x\"}",
        "{\"previous\":\"x\",\"requirements\":[{\"id\":7,\"weight\":\"critical\"},7]}",
        "{\"guards\":\"x\"}",
        "{\"guards\":[7,{\"line\":-1}]}",
        "{\"decisions\":{},\"notes\":[]}",
        "{\"decision\":{},\"quickIssues\":7}",
        "{\"step\":\"x\",\"check\":{},\"state\":7}",
        "{\"completed_steps\":-7,\"result\":7}",
        "{\"a\":1,\"a\":2}",
        "{\"thresholds\":7,\"retries\":[],\"mid_interval\":\"x\",\"sample_count\":-1}"};
    Room *room = *state;
    CLEANUP(mem_freep) char *nasty = nasty_data();
    task_put(room, 1, "A task", "");
    int minute = 0;
    for (int kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        for (size_t i = 0; i < COUNT(shapes); i++)
            record_put(room, 1, minute++, 1 + (uint32_t)i % 2, (RecordKind)kind, "post-exec", "r",
                       "", shapes[i]);
        record_put(room, 1, minute++, 2, (RecordKind)kind, "mid-exec", "r", "", nasty);
    }
    outputs_are_sound(room, 1, NULL);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        StoreProfile profile = {1, "software", shapes[i], shapes[COUNT(shapes) - 1 - i], T0};
        CLEANUP(files_done) Files files = {0};
        must(store_profile_save(room->store, &profile, &room->err), &room->err);
        must(record_export(room->store, 1, NULL, RECORD_LAYOUT_B, files_take, &files, &room->err),
             &room->err);
    }
}

static void names_of_files_hold_safe_characters_only(void **state)
{
    Room *room = *state;
    CLEANUP(files_done) Files files = {0};
    CLEANUP(str_done) Str name = STR_INIT;
    task_put(room, 1, "../../etc/passwd", "");
    record_put(room, 1, 0, 1, RECORD_CHECK, "../../x y", "PASS", "t", "");
    record_put(room, 1, 1, 1, RECORD_CHECK, "\xff/\x01", "PASS", "t", "");
    must(record_export(room->store, 1, NULL, RECORD_LAYOUT_B, files_take, &files, &room->err),
         &room->err); /* files_take looks at every path */
    (void)files_get(&files, ".analysis/2026-03-02-x-y.md");
    (void)files_get(&files, ".analysis/2026-03-02-check.md");
    must(record_task_name(room->store, 1, &name, &room->err), &room->err);
    assert_string_equal(str_text(&name), "etc-passwd");
}

static char *repeat(const char *part, size_t times)
{
    Str text = STR_INIT;
    for (size_t i = 0; i < times; i++)
        str_add(&text, part);
    return str_take(&text);
}

static void a_summary_is_always_short(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str out = STR_INIT;
    CLEANUP(mem_freep) char *steps = repeat("{\"title\":\"a step\"},", 1000);
    CLEANUP(mem_freep) char *issues = repeat("\"an issue\",", 1000);
    Arena arena = ARENA_INIT;
    task_put(room, 1, "A task", "");
    record_put(room, 1, 0, 1, RECORD_PLAN, "", "", "",
               arena_printf(&arena, "{\"summary\":\"s\",\"steps\":[%s{}]}", steps));
    record_put(
        room, 1, 1, 1, RECORD_NOTES, "", "", "",
        arena_printf(&arena, "{\"issues\":[%s\"\"],\"decisions\":[%s\"\"]}", issues, issues));
    for (uint32_t i = 1; i <= 50; i++) {
        StoreStage stage = {.task = 1,
                            .stage = i,
                            .attempt = 1,
                            .name = "n",
                            .objective = "",
                            .moves = "",
                            .reason = "",
                            .outcome = "rolled-back",
                            .cause = "c",
                            .commit = ""};
        StoreRefinement refinement = {.task = 1, .text = "more", .impact = "", .touches = ""};
        must(store_stage_put(room->store, &stage, &room->err), &room->err);
        must(store_refinement_put(room->store, &refinement, NULL, &room->err), &room->err);
    }
    must(record_summary(room->store, 1, NULL, RECORD_LAYOUT_B, &out, &room->err), &room->err);
    size_t lines = 0;
    for (const char *at = str_text(&out); *at; at++)
        lines += *at == '\n';
    assert_in_range(lines, 100, RECORD_SUMMARY_LINES - 1);
    assert_has(str_text(&out), "(more in the report)");
    arena_done(&arena);
}

static void huge_texts_and_long_histories_are_bounded(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str markdown = STR_INIT;
    CLEANUP(str_done) Str html = STR_INIT;
    CLEANUP(mem_freep) char *huge = repeat("0123456789 <b> \x1b[1m", 60000); /* about 1 MB */
    task_put(room, 1, "A task", huge);
    must(store_begin(room->store, &room->err), &room->err);
    for (int i = 0; i < 700; i++)
        step_put(room, 1, i, 1, "exec - (done) row.row verify executing one -");
    for (int i = 0; i < 40; i++)
        record_put(room, 1, i, 1, i % 2 ? RECORD_CHECK : RECORD_NOTES, "post-exec", "", huge, "");
    for (int i = 0; i < 200; i++)
        record_put(room, 1, i, 1, RECORD_FEEDBACK, "", "", huge, "");
    must(store_commit(room->store, &room->err), &room->err);
    must(record_report(room->store, 1, NULL, RECORD_AS_MARKDOWN, &markdown, &room->err),
         &room->err);
    must(record_report(room->store, 1, NULL, RECORD_AS_HTML, &html, &room->err), &room->err);
    assert_in_range(markdown.length, 1, RECORD_DOCUMENT_MAX + 1024 * 1024);
    assert_in_range(html.length, 1, RECORD_DOCUMENT_MAX + 1024 * 1024);
    assert_has(str_text(&markdown), "200 older rows are left out.");
    assert_has(str_text(&markdown), "[the rest is left out]");
    assert_has(str_text(&markdown), "The rest is left out: the document would be too long.");
    assert_markdown(str_text(&markdown));
    assert_html(str_text(&html));
    assert_clean(str_text(&html));
}

static void the_output_of_a_command_may_hold_any_byte(void **state)
{
    Room *room = *state;
    CLEANUP(str_done) Str text = STR_INIT;
    Run run = {.id = 1, .task = 1, .project = 1, .state = RUN_ENDED};
    StoreGateResult gate = {.run = 1,
                            .epoch = 1,
                            .turn = 1,
                            .stage = "gate",
                            .name = "n",
                            .command = "c",
                            .is_required = true,
                            .exit_code = 1,
                            .output = "before\0after",
                            .output_length = 12};
    task_put(room, 1, "A task", "");
    step_put(room, 1, 0, 0, "exec - (done) row verify executing one -");
    must(store_run_save(room->store, &run, &room->err), &room->err);
    must(store_gate_put(room->store, &gate, &room->err), &room->err);
    must(record_report(room->store, 1, NULL, RECORD_AS_MARKDOWN, &text, &room->err), &room->err);
    assert_has(str_text(&text), "before\xef\xbf\xbd"
                                "after");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(texts_from_outside_never_break_a_document),
        CASE(data_of_any_shape_is_shown_or_passed_over),
        CASE(names_of_files_hold_safe_characters_only),
        CASE(a_summary_is_always_short),
        CASE(huge_texts_and_long_histories_are_bounded),
        CASE(the_output_of_a_command_may_hold_any_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
