/* Exports in the layouts of A and B. */
#include "base/str.h"
#include "core/observe.h"
#include "tests/record/support.h"
#include <string.h>

static void list_paths(const Files *files, Str *out)
{
    for (size_t i = 0; i < files->count; i++)
        str_addf(out, "%s\n", files->paths[i]);
}

/* The report has its own golden text; the profile's numbers are the matter of core. */
static void all_texts(const Files *files, Str *out)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], ".report.md") && strcmp(files->paths[i], ".type-profile.md"))
            str_addf(out, "==== %s ====\n%s", files->paths[i], files->texts[i]);
}

static void assert_sound(const Files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        assert_clean(files->texts[i]);
        if (strstr(files->paths[i], ".md") && !strstr(files->paths[i], ".experiences"))
            assert_markdown(files->texts[i]);
    }
}

static void layout_a_has_the_files_of_a(void **state)
{
    Room *room = *state;
    CLEANUP(files_done) Files files = {0};
    CLEANUP(str_done) Str paths = STR_INIT;
    CLEANUP(str_done) Str texts = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_export(room->store, 1, &facts, RECORD_LAYOUT_A, files_take, &files, &room->err),
         &room->err);
    list_paths(&files, &paths);
    all_texts(&files, &texts);
    assert_sound(&files);
    assert_golden("export-a.paths", str_text(&paths));
    assert_golden("export-a.txt", str_text(&texts));
}

static void layout_b_has_the_files_of_b(void **state)
{
    Room *room = *state;
    CLEANUP(files_done) Files files = {0};
    CLEANUP(str_done) Str paths = STR_INIT;
    CLEANUP(str_done) Str texts = STR_INIT;
    RecordFacts facts = history_facts();
    history_put(room);
    must(record_export(room->store, 1, &facts, RECORD_LAYOUT_B, files_take, &files, &room->err),
         &room->err);
    list_paths(&files, &paths);
    all_texts(&files, &texts);
    assert_sound(&files);
    assert_golden("export-b.paths", str_text(&paths));
    assert_golden("export-b.txt", str_text(&texts));
    assert_has(files_get(&files, ".type-profile.md"), "\n## Auto Adaptation\n");
    assert_has(files_get(&files, ".type-profile.md"), "| thresholds.post-plan | 0.70 |");
    assert_has(files_get(&files, ".type-profile.md"), "sample_count");
}

static void every_verdict_goes_to_its_folder(void **state)
{
    static const struct {
        const char *checkpoint, *verdict, *folder;
    } rows[] = {
        {"post-plan", "PASS", ".analysis"},     {"post-plan", "NEEDS_REVISION", ".analysis"},
        {"post-plan", "BLOCKED", ".analysis"},  {"mid-exec", "BLOCKED", ".analysis"},
        {"post-exec", "ACCEPT", ".analysis"},   {"post-exec", "NEEDS_FIX", ".analysis"},
        {"post-exec", "REPLAN", ".analysis"},   {"mid-exec", "NEEDS_FIX", ".bugfix"},
        {"mid-exec", "REPLAN", ".bugfix"},      {"mid-exec", "CONTINUE", ""},
        {"post-exec", "ROLLBACK", ".analysis"},
    };
    Room *room = *state;
    for (TaskId i = 0; i < COUNT(rows); i++) {
        CLEANUP(files_done) Files files = {0};
        char path[128];
        task_put(room, i + 1, "A task", "");
        record_put(room, i + 1, 0, 0, RECORD_CHECK, rows[i].checkpoint, rows[i].verdict, "x", "");
        must(record_export(room->store, i + 1, NULL, RECORD_LAYOUT_A, files_take, &files,
                           &room->err),
             &room->err);
        snprintf(path, sizeof path, "%s/2026-03-02-%s.md", rows[i].folder, rows[i].checkpoint);
        assert_int_equal(files_find(&files, path) != NULL, *rows[i].folder != '\0');
        snprintf(path, sizeof path, ".test/2026-03-02-%s-results.md", rows[i].checkpoint);
        assert_int_equal(files_find(&files, path) != NULL,
                         strcmp(rows[i].checkpoint, "post-plan") != 0);
        const char *other =
            strcmp(rows[i].folder, ".bugfix") ? ".bugfix/.summary.md" : ".analysis/.summary.md";
        assert_null(files_find(&files, other));
    }
}

static void state_files_are_read_back_by_the_observer(void **state)
{
    Room *room = *state;
    RecordFacts facts = history_facts();
    history_put(room);
    for (int i = 0; i < 2; i++) {
        CLEANUP(files_done) Files files = {0};
        CLEANUP(str_done) Str warnings = STR_INIT;
        ObservedStatus status = {0};
        ObserveProtocol protocol = i ? OBSERVE_B : OBSERVE_A;
        must(record_export(room->store, 1, &facts, i ? RECORD_LAYOUT_B : RECORD_LAYOUT_A,
                           files_take, &files, &room->err),
             &room->err);
        const char *path = observe_state_file(protocol);
        const char *text = files_get(&files, path);
        assert_string_equal(files.paths[files.count - 1], path); /* the last one */
        must(observe_status_read(text, strlen(text), protocol, &status, &warnings, &room->err),
             &room->err);
        assert_string_equal(str_text(&warnings), "");
        assert_string_equal(status.status, i ? "satisfied" : "complete");
        assert_int_equal(status.completed_steps, 1);
        assert_int_equal(status.stage, i ? 2 : 1);
        assert_int_equal(status.stages_done, i ? 2 : 0);
        assert_string_equal(status.stamp, "2026-03-02T10:04:45Z");
    }
}

static void every_state_of_a_task_has_a_word_in_both_layouts(void **state)
{
    static const char *const words[] = {
        "draft",    "planning",    "review",   "executing", "blocked",           "cancelled",
        "complete", "re-planning", "evolving", "satisfied", "a status of my own"};
    Room *room = *state;
    task_put(room, 1, "A task", "");
    for (size_t i = 0; i < COUNT(words) + TASK_STATE_COUNT; i++)
        for (int b = 0; b < 2; b++) {
            CLEANUP(files_done) Files files = {0};
            ObservedStatus status = {0};
            ObserveProtocol protocol = b ? OBSERVE_B : OBSERVE_A;
            RecordFacts facts = {0};
            if (i < COUNT(words))
                facts.status = words[i];
            else
                facts.state = task_state_word((TaskState)(i - COUNT(words)));
            must(record_export(room->store, 1, &facts, b ? RECORD_LAYOUT_B : RECORD_LAYOUT_A,
                               files_take, &files, &room->err),
                 &room->err);
            const char *text = files_get(&files, observe_state_file(protocol));
            must(observe_status_read(text, strlen(text), protocol, &status, NULL, &room->err),
                 &room->err);
            assert_true(strcmp(status.status, "evolving") || b);
            assert_true(strcmp(status.status, b ? "complete" : "satisfied") != 0);
        }
}

static bool stop_at_second(void *user, const char *path, const char *text, Err *err)
{
    (void)path;
    (void)text;
    return ++*(int *)user < 2 || err_set(err, ERR_NO_SPACE, "the disk is full");
}

static void an_export_ends_when_a_file_cannot_be_written(void **state)
{
    Room *room = *state;
    int calls = 0;
    history_put(room);
    assert_false(
        record_export(room->store, 1, NULL, RECORD_LAYOUT_B, stop_at_second, &calls, &room->err));
    assert_int_equal(calls, 2);
    assert_int_equal(room->err.kind, ERR_NO_SPACE);
    assert_false(record_export(room->store, 1, NULL, RECORD_LAYOUT_OTTO, stop_at_second, &calls,
                               &room->err));
    assert_int_equal(room->err.kind, ERR_USAGE);
}

static void an_empty_task_has_a_small_folder(void **state)
{
    Room *room = *state;
    CLEANUP(files_done) Files files = {0};
    CLEANUP(str_done) Str paths = STR_INIT;
    task_put(room, 1, "", "");
    must(record_export(room->store, 1, NULL, RECORD_LAYOUT_A, files_take, &files, &room->err),
         &room->err);
    list_paths(&files, &paths);
    assert_string_equal(str_text(&paths), ".target.md\n.summary.md\n.report.md\n.index.json\n");
    assert_has(files_get(&files, ".index.json"), "\"status\": \"draft\"");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(layout_a_has_the_files_of_a),
        CASE(layout_b_has_the_files_of_b),
        CASE(every_verdict_goes_to_its_folder),
        CASE(state_files_are_read_back_by_the_observer),
        CASE(every_state_of_a_task_has_a_word_in_both_layouts),
        CASE(an_export_ends_when_a_file_cannot_be_written),
        CASE(an_empty_task_has_a_small_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
