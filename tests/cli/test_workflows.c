/* engine/workflows and cli/flowview: the user's files beside the built-in tables. */
#include "tests/test.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/flowview.h"
#include "core/workflow_file.h"
#include "engine/workflows.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int open_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/otto-flows-XXXXXX"); /* fits */
    if (!mkdtemp(folder))
        return -1;
    Str config = STR_INIT;
    str_addf(&config, "%s/config", folder);
    int failed = setenv("XDG_CONFIG_HOME", str_text(&config), 1);
    str_done(&config);
    return failed;
}

static int close_folder(void **state)
{
    (void)state;
    Err err = {0};
    return folder_remove(folder, &err) ? 0 : -1;
}

/* Writes a file below the folder, with the folders on the way; the path is the caller's. */
static char *put(const char *name, const char *text)
{
    Err err = {0};
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", folder, name);
    char *slash = strrchr(path.bytes, '/');
    *slash = '\0';
    if (!folder_ensure(path.bytes, 0755, &err))
        fail_msg("%s", err.text);
    *slash = '/';
    if (!file_write_plain(path.bytes, text, strlen(text), 0644, &err))
        fail_msg("%s", err.text);
    return str_take(&path);
}

static void put_template(const char *name, const char *workflow)
{
    Str text = STR_INIT;
    workflow_template(workflow, &text);
    free(put(name, str_text(&text)));
    str_done(&text);
}

static void load(WorkflowSet *set)
{
    Err err = {0};
    if (!workflows_load(folder, set, &err))
        fail_msg("%s", err.text);
}

static void without_files_there_are_the_built_in_ones(void **state)
{
    (void)state;
    WorkflowSet set;
    size_t count;
    (void)workflow_all(&count);
    load(&set);
    assert_int_equal(set.count, count);
    assert_int_equal(set.problem_count, 0);
    assert_ptr_equal(workflows_find(&set, "loop")->workflow, &workflow_loop);
    assert_string_equal(workflows_find(&set, "loop")->path, "");
    assert_null(workflows_find(&set, "nothing"));
    workflows_done(&set);
}

static void files_of_all_three_folders_are_found(void **state)
{
    (void)state;
    WorkflowSet set;
    put_template("config/otto/workflows/one.yaml", "one");
    put_template("workflows/two.yaml", "two");
    put_template(".otto/workflows/three.yml", "three");
    load(&set);
    assert_int_equal(set.problem_count, 0);
    assert_non_null(workflows_find(&set, "one"));
    assert_non_null(workflows_find(&set, "two"));
    assert_non_null(workflows_find(&set, "three"));
    workflows_done(&set);
}

static void a_later_folder_and_a_file_of_a_built_in_name_win(void **state)
{
    (void)state;
    WorkflowSet set;
    put_template("config/otto/workflows/mine.yaml", "mine");
    put_template(".otto/workflows/other.yaml", "mine");
    put_template("workflows/loop.yaml", "loop");
    load(&set);
    assert_int_equal(set.problem_count, 0);
    assert_true(text_ends(workflows_find(&set, "mine")->path, "other.yaml"));
    assert_true(workflows_find(&set, "loop")->is_override);
    assert_ptr_not_equal(workflows_find(&set, "loop")->workflow, &workflow_loop);
    assert_true(workflows_find(&set, "loop")->definition[0] == '{');
    workflows_done(&set);
}

static void the_same_name_twice_in_a_folder_is_a_problem(void **state)
{
    (void)state;
    WorkflowSet set;
    put_template(".otto/workflows/a.yaml", "mine");
    put_template(".otto/workflows/b.yaml", "mine");
    load(&set);
    assert_int_equal(set.problem_count, 1);
    assert_true(text_ends(set.problems[0].path, "b.yaml"));
    workflows_done(&set);
}

static void a_broken_file_is_a_problem_with_its_line_and_harms_no_other(void **state)
{
    (void)state;
    WorkflowSet set;
    free(put(".otto/workflows/bad.yaml", "name: bad\nphases: [\n"));
    free(put(".otto/workflows/half.yaml",
             "name: half\nphases:\n  work: {kind: agent, prompt: work}\n  test: {kind: verify}\n"
             "routes:\n  work: {COMPLETE: tset}\n"));
    put_template(".otto/workflows/good.yaml", "good");
    load(&set);
    assert_non_null(workflows_find(&set, "good"));
    assert_null(workflows_find(&set, "half"));
    assert_int_equal(set.problem_count, 2);
    assert_true(set.problems[0].line >= 2);
    assert_non_null(strstr(set.problems[1].text, "tset"));
    assert_int_equal(set.problems[1].line, 6);
    workflows_done(&set);
}

static void files_of_other_tools_are_left_alone(void **state)
{
    (void)state;
    WorkflowSet set;
    free(put("workflows/ci.yaml", "on: push\njobs: {}\n"));
    free(put("workflows/list.yaml", "- a\n- b\n"));
    free(put("workflows/odd.yml", "{{ template }}\n"));
    free(put("workflows/readme.md", "words\n"));
    free(put("workflows/.hidden.yaml", "phases: 3\n"));
    load(&set);
    assert_int_equal(set.problem_count, 0);
    workflows_done(&set);
}

static void in_our_own_folder_every_file_must_be_one(void **state)
{
    (void)state;
    WorkflowSet set;
    free(put(".otto/workflows/ci.yaml", "on: push\n"));
    load(&set);
    assert_int_equal(set.problem_count, 1);
    workflows_done(&set);
}

static void pipes_folders_and_huge_files_do_not_hold_it_up(void **state)
{
    (void)state;
    WorkflowSet set;
    Str huge = STR_INIT, pipe = STR_INIT;
    free(put(".otto/workflows/dir.yaml/x", ""));
    str_addf(&pipe, "%s/.otto/workflows/pipe.yaml", folder);
    assert_int_equal(mkfifo(pipe.bytes, 0600), 0);
    for (int i = 0; i < 40000; i++)
        str_add(&huge, "# a comment\n");
    free(put(".otto/workflows/huge.yaml", huge.bytes));
    load(&set);
    assert_int_equal(set.problem_count, 1);
    assert_non_null(strstr(set.problems[0].text, "larger"));
    Err err = {0};
    assert_false(workflows_read_file(pipe.bytes, &set, &err));
    workflows_done(&set);
    str_done(&huge);
    str_done(&pipe);
}

static void every_row_of_every_workflow_can_be_shown_and_explained(void **state)
{
    (void)state;
    Term term = {.width = 80};
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    for (size_t i = 0; i < count; i++) {
        Str page = STR_INIT;
        flow_show(&term, all[i], "", &page);
        for (size_t k = 0; k < all[i]->route_count; k++) {
            Str row = STR_INIT;
            assert_true(flow_show_row(&term, all[i], all[i]->routes[k].id, &row));
            assert_non_null(strstr(row.bytes, "why"));
            str_done(&row);
        }
        assert_null(memchr(page.bytes, '\x1b', page.length));
        str_done(&page);
    }
}

static void an_unknown_row_names_the_nearest(void **state)
{
    (void)state;
    Term term = {.width = 80};
    Str out = STR_INIT;
    assert_false(flow_show_row(&term, &workflow_loop, "enter-pendig", &out));
    assert_string_equal(flow_nearest_row(&workflow_loop, "enter-pendig"), "enter-pending");
    str_done(&out);
}

int main(void)
{
#define IN_FOLDER(fn) cmocka_unit_test_setup_teardown(fn, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(without_files_there_are_the_built_in_ones),
        IN_FOLDER(files_of_all_three_folders_are_found),
        IN_FOLDER(a_later_folder_and_a_file_of_a_built_in_name_win),
        IN_FOLDER(the_same_name_twice_in_a_folder_is_a_problem),
        IN_FOLDER(a_broken_file_is_a_problem_with_its_line_and_harms_no_other),
        IN_FOLDER(files_of_other_tools_are_left_alone),
        IN_FOLDER(in_our_own_folder_every_file_must_be_one),
        IN_FOLDER(pipes_folders_and_huge_files_do_not_hold_it_up),
        cmocka_unit_test(every_row_of_every_workflow_can_be_shown_and_explained),
        cmocka_unit_test(an_unknown_row_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
