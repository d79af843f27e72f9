/* core/backlog: the three forms of task files, and every way of being wrong. */
#include "tests/test.h"

#include "core/backlog.h"

static bool known(void *data, const char *key)
{
    return text_equal(data, key);
}

static bool read_text(const char *text, Arena *arena, Backlog *backlog, Err *err)
{
    BacklogSource source = {.name = "b.md", .text = text, .length = strlen(text)};
    return backlog_read(&source, arena, backlog, err);
}

static Backlog read_good(const char *text, Arena *arena)
{
    Backlog backlog = {0};
    Err err = {0};
    if (!read_text(text, arena, &backlog, &err))
        fail_msg("%s", err.text);
    return backlog;
}

static void expect_error(const char *text, const char *sentence)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog backlog = {0};
    Err err = {0};
    assert_false(read_text(text, &arena, &backlog, &err));
    assert_string_equal(err.text, sentence);
    assert_int_equal(backlog.count, 0);
}

static void one_file_can_be_one_task(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("---\ntitle: Dark mode\nkey: dark\nafter: [3, {task: 4, state: verified}]"
                          "\ncheck: npm test\ntags: [quick-win, ui]\npriority: P1\nsize: S\n"
                          "parent: 9\nagent: codex\nworkflow: loop\nmax_turns: 5\n"
                          "timeout_minutes: 9\n---\n\nMake it dark.\n\n## Notes\n\nAll of it.\n\n",
                          &arena);
    assert_int_equal(b.count, 1);
    const BacklogTask *t = b.tasks;
    assert_string_equal(t->title, "Dark mode");
    assert_string_equal(t->key, "dark");
    assert_int_equal(t->after_count, 2);
    assert_int_equal(t->after[0].id, 3);
    assert_int_equal(t->after[0].need, NEED_DONE);
    assert_int_equal(t->after[1].id, 4);
    assert_int_equal(t->after[1].need, NEED_VERIFIED);
    assert_int_equal(t->checks.count, 1);
    assert_string_equal(t->checks.items[0], "npm test");
    assert_string_equal(t->tags.items[1], "ui");
    assert_int_equal(t->priority, 1);
    assert_string_equal(t->size, "S");
    assert_int_equal(t->parent.id, 9);
    assert_string_equal(t->agent, "codex");
    assert_int_equal(t->max_turns, 5);
    assert_int_equal(t->timeout_minutes, 9);
    assert_string_equal(t->body, "Make it dark.\n\n## Notes\n\nAll of it.");
}

static void each_front_matter_begins_a_task(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("\xef\xbb\xbf\r\n---\r\nkey: a\r\n---\r\n# First\r\n\r\nText a.\r\n"
                          "---\r\nkey: b\r\nafter: a\r\ntitle: Second\r\n---\r\n---\r\n---\r\n"
                          "Intro\r\n### Third ###\r\n",
                          &arena);
    assert_int_equal(b.count, 3);
    assert_string_equal(b.tasks[0].title, "First");
    assert_string_equal(b.tasks[0].body, "Text a.");
    assert_int_equal(b.tasks[0].line, 2);
    assert_string_equal(b.tasks[1].title, "Second");
    assert_string_equal(b.tasks[1].after[0].key, "a");
    assert_string_equal(b.tasks[1].body, "");
    assert_string_equal(b.tasks[2].title, "Third");
    assert_string_equal(b.tasks[2].body, "Intro\n### Third ###");
    assert_int_equal(b.tasks[2].priority, PRIORITY_NONE);
}

static void the_shallowest_headings_are_tasks(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("Some words first.\n\n## One\n\n### Detail\n\n- [ ] not a task\n\n## "
                          "Two\n#hashtag\n",
                          &arena);
    assert_int_equal(b.count, 2);
    assert_string_equal(b.tasks[0].title, "One");
    assert_string_equal(b.tasks[0].body, "### Detail\n\n- [ ] not a task");
    assert_string_equal(b.tasks[1].title, "Two");
    assert_string_equal(b.tasks[1].body, "#hashtag");
    assert_int_equal(b.tasks[1].line, 9);
}

static void open_boxes_are_tasks(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("To do:\n\n- [ ] One  \n  more on it\n\n  - [ ] part\n- [x] Done\n"
                          "  of this\n* [ ] Two\n- plain\n",
                          &arena);
    assert_int_equal(b.count, 2);
    assert_string_equal(b.tasks[0].title, "One");
    assert_string_equal(b.tasks[0].body, "  more on it\n\n  - [ ] part");
    assert_string_equal(b.tasks[1].title, "Two");
    assert_string_equal(b.tasks[1].body, "");
}

static void code_fences_never_split_a_task(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("---\ntitle: A\n---\n````sh\n---\n# x\n```\n---\n````\n  ~~~\n---\n~~~\n"
                          "`a` ```b```\n---\ntitle: B\n---\n",
                          &arena);
    assert_int_equal(b.count, 2);
    assert_string_equal(b.tasks[0].body,
                        "````sh\n---\n# x\n```\n---\n````\n  ~~~\n---\n~~~\n`a` ```b```");
    Backlog h = read_good("# A\n```\n# not a task\n```\n# B\n", &arena);
    assert_int_equal(h.count, 2);
    expect_error("# A\n\n```\n# B\n", "b.md:3: the code fence opened here is never closed");
    expect_error("---\ntitle: A\n---\n~~~\n---\ntitle: B\n---\n",
                 "b.md:4: the code fence opened here is never closed");
}

static void errors_name_line_and_key(void **state)
{
    (void)state;
    expect_error("---\ntitle: A\n---\n---\ntitle: B\n\nafer: x\n---\n",
                 "b.md:7: afer: unknown key, did you mean 'after'?");
    expect_error("---\ntitle: A\npriority: P9\n---\n",
                 "b.md:3: priority: \"P9\" is not allowed; it must be 0 to 3 or P0 to P3");
    expect_error("---\ntitle: A\nsize: huge\n---\n",
                 "b.md:3: size: \"huge\" is not allowed; it must be one of XS, S, M, L, XL");
    expect_error("---\ntitle: A\nafter: [{task: 3, state: half}]\n---\n",
                 "b.md:3: after: [{\"task\": 3, \"state\": \"half\"}] is not allowed; it must be a "
                 "list of keys, ids or {task, state}");
    expect_error("---\ntitle: A\nkey: '12'\n---\n",
                 "b.md:3: key: \"12\" is not allowed; it must be at most 64 letters, digits, '-' "
                 "and '_', and not a number alone");
    expect_error("---\ntitle: [A\n---\n", "b.md:3: did not find expected ',' or ']'");
    expect_error("---\ntitle: A\ntitle: B\n---\n", "b.md:3: key 'title' stands twice");
    expect_error("---\nkey: a\n---\ntext only\n",
                 "b.md:1: title: is missing; give it in the front matter or as a heading");
    expect_error("---\ntitle: A\n",
                 "b.md:1: the front matter that begins here has no closing '---' (write '***' for "
                 "a ruler)");
    expect_error("---\ntitle: A\n---\nAbove\n\n---\n\nBelow\n",
                 "b.md:6: the front matter that begins here has no closing '---' (write '***' for "
                 "a ruler)");
    expect_error("---\nonly words\n---\n", "b.md:2: a front matter is a map of keys and values "
                                           "(write '***' for a ruler)");
    expect_error("just text\n", "b.md:1: no task found; a task begins with a front matter ('---'), "
                                "a heading ('# title') or a list item ('- [ ] title')");
    expect_error("", "b.md:1: no task found; a task begins with a front matter ('---'), a heading "
                     "('# title') or a list item ('- [ ] title')");
    expect_error("# \n", "b.md:1: title: the title is empty");
}

static void references_are_checked(void **state)
{
    (void)state;
    expect_error("---\ntitle: A\nkey: login\n---\n---\ntitle: B\nafter: logn\n---\n",
                 "b.md:5: after: there is no task with key 'logn', did you mean 'login'?");
    expect_error("---\ntitle: A\nkey: a\nafter: [a]\n---\n",
                 "b.md:1: after: task 'a' names itself");
    expect_error("---\ntitle: A\nkey: a\n---\n---\ntitle: B\nkey: a\n---\n",
                 "b.md:5: key: 'a' is used already by the task at line 1");
    expect_error("---\ntitle: A\nparent: zzz\n---\n",
                 "b.md:1: parent: there is no task with key 'zzz'");
}

static void tasks_that_exist_count_as_known(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *text = "---\ntitle: A\nafter: old\n---\n",
               *again = "---\ntitle: A\nkey: old\n---\n";
    char old[] = "old";
    BacklogSource source = {"b.md", text, strlen(text), known, old};
    Backlog backlog;
    Err err = {0};
    assert_true(backlog_read(&source, &arena, &backlog, &err));
    source = (BacklogSource){"b.md", again, strlen(again), known, old};
    assert_false(backlog_read(&source, &arena, &backlog, &err));
    assert_string_equal(err.text, "b.md:1: key: a task with key 'old' exists already");
}

static void a_task_brings_its_requirements_along(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog b = read_good("---\ntitle: A\nworkflow: staged\ntype: software:web|docs\n"
                          "confirmed: true\nrequirements:\n"
                          "  - {text: It is fast, criteria: below 1 s, weight: critical}\n"
                          "  - {text: It is small, weight: 1}\n"
                          "  - 'It prints a line :: the line is there :: optional'\n"
                          "  - 'a::b'\n"
                          "  - Only words\n---\n"
                          "---\ntitle: B\nrequirements: 'One :: :: 3'\nconfirmed: false\n---\n",
                          &arena);
    const BacklogTask *t = b.tasks;
    assert_string_equal(t->workflow, "staged");
    assert_string_equal(t->type, "software:web|docs");
    assert_true(t->is_confirmed);
    const struct {
        const char *text, *criteria;
        int64_t weight;
    } rows[] = {{"It is fast", "below 1 s", 3},
                {"It is small", "", 1},
                {"It prints a line", "the line is there", 1},
                {"a", "b", 2},
                {"Only words", "", 2}};
    assert_int_equal(t->requirement_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(t->requirements[i].text, rows[i].text);
        assert_string_equal(t->requirements[i].criteria, rows[i].criteria);
        assert_int_equal(t->requirements[i].weight, rows[i].weight);
    }
    assert_null(b.tasks[1].type);
    assert_false(b.tasks[1].is_confirmed);
    assert_int_equal(b.tasks[1].requirement_count, 1);
    assert_int_equal(b.tasks[1].requirements[0].weight, 3);
}

static void bad_requirements_and_types_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"[{criteria: x}]",
                                      "[{text: ''}]",
                                      "[{text: a, weight: 4}]",
                                      "[{text: a, weight: huge}]",
                                      "[{text: a, wait: 1}]",
                                      "['a :: b :: c']",
                                      "[' :: b']",
                                      "[3]",
                                      "[{text: [a]}]",
                                      "[\"a\\e[31m\"]",
                                      "{}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        CLEANUP(arena_done) Arena arena = ARENA_INIT;
        Backlog backlog = {0};
        Err err = {0};
        const char *text = arena_printf(&arena, "---\ntitle: A\nrequirements: %s\n---\n", bad[i]);
        assert_false(read_text(text, &arena, &backlog, &err));
        if (!strstr(err.text, "b.md:3: requirements: ") ||
            !strstr(err.text, "it must be a list of {text, criteria, weight} or \"text :: "
                              "criteria :: weight\""))
            fail_msg("%s: %s", bad[i], err.text);
    }
    expect_error("---\ntitle: A\ntype: 'a||b'\n---\n",
                 "b.md:3: type: \"a||b\" is not allowed; it must be words of letters, digits, '_', "
                 "':' and '-', joined by '|'");
    assert_null(field_check_type("a|b:c-d_e"));
    assert_non_null(field_check_type(""));
    assert_non_null(field_check_type("a|"));
    assert_non_null(field_check_type("a b"));
    assert_non_null(field_check_type("../a"));
    expect_error("---\ntitle: A\nconfirmed: yes\n---\n",
                 "b.md:3: confirmed: \"yes\" is not allowed; it must be true or false");
}

static void requirements_are_bounded(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Backlog backlog = {0};
    Err err = {0};
    str_add(&text, "---\ntitle: A\nrequirements:\n");
    for (int i = 0; i < BACKLOG_MOST_REQUIREMENTS; i++)
        str_addf(&text, "  - R %d\n", i);
    const char *full = arena_printf(&arena, "%s---\n", str_text(&text));
    assert_int_equal(read_good(full, &arena).tasks[0].requirement_count, BACKLOG_MOST_REQUIREMENTS);
    const char *more = arena_printf(&arena, "%s  - x\n---\n", str_text(&text));
    assert_false(read_text(more, &arena, &backlog, &err));
    str_clear(&text);
    str_add(&text, "---\ntitle: A\nrequirements: ");
    for (int i = 0; i <= BACKLOG_MOST_CRITERIA; i++)
        str_add(&text, "x");
    str_add(&text, "\n---\n");
    assert_false(read_text(str_text(&text), &arena, &backlog, &err));
}

static void a_dependency_may_name_a_status_of_the_lifecycle(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        Need need;
        const char *status;
    } rows[] = {
        {"{task: 3, state: started}", NEED_STARTED, NULL},
        {"{task: 3, need: verified}", NEED_VERIFIED, NULL},
        {"{task: 3, need: draft}", NEED_STARTED, "draft"},
        {"{task: 3, state: planning}", NEED_STARTED, "planning"},
        {"{task: 3, state: review}", NEED_STARTED, "review"},
        {"{module: 3, min_status: executing}", NEED_STARTED, "executing"},
        {"{module: 3, min_status: complete}", NEED_DONE, "complete"},
        {"{task: 3, state: satisfied}", NEED_DONE, "satisfied"},
        {"{module: 3}", NEED_DONE, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CLEANUP(arena_done) Arena arena = ARENA_INIT;
        Backlog b = read_good(
            arena_printf(&arena, "---\ntitle: A\nafter: [%s]\n---\n", rows[i].item), &arena);
        assert_int_equal(b.tasks[0].after[0].id, 3);
        assert_int_equal(b.tasks[0].after[0].need, rows[i].need);
        assert_true(text_equal(b.tasks[0].after[0].status, rows[i].status));
    }
    static const char *const bad[] = {"{task: 3, state: blocked}",
                                      "{task: 3, state: re-planning}",
                                      "{task: 3, state: cancelled}",
                                      "{task: 3, module: 3}",
                                      "{task: 3, state: done, need: done}",
                                      "{state: done}",
                                      "{task: 3, need: 1}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        CLEANUP(arena_done) Arena arena = ARENA_INIT;
        Backlog backlog = {0};
        Err err = {0};
        const char *text = arena_printf(&arena, "---\ntitle: A\nafter: [%s]\n---\n", bad[i]);
        assert_false(read_text(text, &arena, &backlog, &err));
    }
    Need need = NEED_VERIFIED;
    assert_false(backlog_need_find("half", &need));
    assert_false(backlog_need_find(NULL, &need));
    assert_int_equal(need, NEED_VERIFIED);
}

static void titles_are_bounded_and_printable(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    str_add(&text, "# ");
    for (int i = 0; i < 200; i++)
        str_add(&text, "\xc3\xa9");
    assert_int_equal(read_good(str_text(&text), &arena).count, 1);
    str_add(&text, "x");
    expect_error(str_text(&text), "b.md:1: title: the title is longer than 200 characters");
    expect_error("# a\x1b[31m\n", "b.md:1: title: the title holds control characters");
    expect_error("---\ntitle: \"a\\nb\"\n---\n", "b.md:2: title: \"a\\nb\" is not allowed; it must "
                                                 "be one line without control characters");
    expect_error("# a\n\xff\n", "b.md:2: not a text file (not UTF-8)");
    Err err = {0};
    assert_true(backlog_title_check("fine", &err));
    assert_false(backlog_title_check("", &err));
    assert_false(backlog_title_check("a\nb", &err));
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    for (int i = 0; i < BACKLOG_MOST_TASKS; i++)
        str_addf(&text, "---\ntitle: T%d\nkey: k%d\nafter: [k%d]\n---\n", i, i, i ? 0 : 1);
    assert_int_equal(read_good(str_text(&text), &arena).count, BACKLOG_MOST_TASKS);
    str_add(&text, "---\ntitle: one more\n---\n");
    expect_error(str_text(&text), "b.md:50001: more than 10000 tasks in one file");
    str_clear(&text);
    str_add(&text, "# big\n");
    while (text.length < BACKLOG_MOST_BODY + 100)
        str_add(&text, "0123456789abcdef\n");
    expect_error(str_text(&text), "b.md:1: the text of this task is longer than 256 KB");
    BacklogSource huge = {.name = "b.md", .text = "", .length = BACKLOG_MOST_BYTES + 1};
    Backlog backlog;
    Err err = {0};
    assert_false(backlog_read(&huge, &arena, &backlog, &err));
    assert_string_equal(err.text, "'b.md' is larger than 4 MB");
}

static void a_nul_byte_is_not_text(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    BacklogSource source = {.name = "b.md", .text = "# a\n\0\n", .length = 6};
    Backlog backlog;
    Err err = {0};
    assert_false(backlog_read(&source, &arena, &backlog, &err));
    assert_string_equal(err.text, "b.md:2: not a text file (a NUL byte)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_can_be_one_task),
        cmocka_unit_test(each_front_matter_begins_a_task),
        cmocka_unit_test(the_shallowest_headings_are_tasks),
        cmocka_unit_test(open_boxes_are_tasks),
        cmocka_unit_test(code_fences_never_split_a_task),
        cmocka_unit_test(errors_name_line_and_key),
        cmocka_unit_test(references_are_checked),
        cmocka_unit_test(tasks_that_exist_count_as_known),
        cmocka_unit_test(a_task_brings_its_requirements_along),
        cmocka_unit_test(bad_requirements_and_types_are_refused),
        cmocka_unit_test(requirements_are_bounded),
        cmocka_unit_test(a_dependency_may_name_a_status_of_the_lifecycle),
        cmocka_unit_test(titles_are_bounded_and_printable),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(a_nul_byte_is_not_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
