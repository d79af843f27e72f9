/* cli/objective: words and Markdown become edits of an objective. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/str.h"
#include "cli/objective.h"
#include <stdlib.h>
#include <string.h>

static char *read_markdown(const char *text, Err *err)
{
    json_t *edits = json_array();
    bool is_read = objective_markdown("goals.md", text, edits, err);
    char *json = is_read ? json_write(edits) : NULL;
    json_decref(edits);
    return json;
}

static void expect(const char *text, const char *json)
{
    Err err = {0};
    char *got = read_markdown(text, &err);
    if (!got)
        fail_msg("'%s': %s", text, err.text);
    assert_string_equal(got, json);
    free(got);
}

static void a_requirement_has_three_parts(void **state)
{
    (void)state;
    Err err = {0};
    json_t *edit = json_object();
    assert_true(objective_requirement(" writes CSV ::opens in a sheet:: critical ", edit, &err));
    assert_string_equal(json_text(edit, "text", ""), "writes CSV");
    assert_string_equal(json_text(edit, "criteria", ""), "opens in a sheet");
    assert_string_equal(json_text(edit, "weight", ""), "critical");
    json_decref(edit);
}

static void an_empty_part_changes_nothing(void **state)
{
    (void)state;
    Err err = {0};
    json_t *edit = json_object();
    assert_true(objective_requirement(":: :: 3", edit, &err));
    assert_int_equal(json_object_size(edit), 1);
    assert_int_equal(json_int(edit, "weight", 0), 3);
    json_decref(edit);
}

static void a_fourth_part_is_refused(void **state)
{
    (void)state;
    Err err = {0};
    json_t *edit = json_object();
    assert_false(objective_requirement("a :: b :: 3 :: d", edit, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    json_decref(edit);
}

static void items_and_their_requirements_are_read(void **state)
{
    (void)state;
    expect("# Goals\n\nSome words.\n\n- Export (R: 1) [CONFIRMED]\n  - writes CSV :: opens :: 3\n"
           "1. [ ] Import\n",
           "[{\"op\":\"add-item\",\"text\":\"Export\"},"
           "{\"op\":\"add-requirement\",\"text\":\"writes CSV\",\"criteria\":\"opens\","
           "\"weight\":3},{\"op\":\"add-item\",\"text\":\"Import\"}]");
}

static void below_a_heading_constraints_there_are_constraints(void **state)
{
    (void)state;
    expect("* Export\r\n## Constraints\r\n* no new dependency\r\n# More\r\n* Import\r\n",
           "[{\"op\":\"add-item\",\"text\":\"Export\"},"
           "{\"op\":\"add-constraint\",\"text\":\"no new dependency\"},"
           "{\"op\":\"add-item\",\"text\":\"Import\"}]");
}

static void nothing_inside_a_fence_counts(void **state)
{
    (void)state;
    expect("- Export\n```\n- not this\n```\n", "[{\"op\":\"add-item\",\"text\":\"Export\"}]");
}

static void a_file_without_a_list_says_so(void **state)
{
    (void)state;
    Err err = {0};
    assert_null(read_markdown("just words\n", &err));
    assert_non_null(strstr(err.text, "goals.md"));
    assert_null(read_markdown("", &err));
}

static void a_requirement_without_an_item_names_its_line(void **state)
{
    (void)state;
    Err err = {0};
    assert_null(read_markdown("# G\n   - lost\n", &err));
    assert_non_null(strstr(err.text, "goals.md:2"));
}

static void hostile_bytes_are_survived(void **state)
{
    (void)state;
    Err err = {0};
    for (int value = 1; value < 256; value++) {
        char line[8] = {'-', ' ', (char)value, '\n', '\0'};
        free(read_markdown(line, &err));
    }
    Str long_text = STR_INIT;
    for (int i = 0; i <= OBJECTIVE_MOST_EDITS; i++)
        str_add(&long_text, "- item\n");
    assert_null(read_markdown(long_text.bytes, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    str_done(&long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_requirement_has_three_parts),
        cmocka_unit_test(an_empty_part_changes_nothing),
        cmocka_unit_test(a_fourth_part_is_refused),
        cmocka_unit_test(items_and_their_requirements_are_read),
        cmocka_unit_test(below_a_heading_constraints_there_are_constraints),
        cmocka_unit_test(nothing_inside_a_fence_counts),
        cmocka_unit_test(a_file_without_a_list_says_so),
        cmocka_unit_test(a_requirement_without_an_item_names_its_line),
        cmocka_unit_test(hostile_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
