/* demo/: the embedded demo holds together: settings, backlog and scenario fit, and every task ends
 * as the demo promises, in a real repository. The engine's part is played by hand, in order. */
#include "tests/test.h"

#include "agent/embedded.h"
#include "base/file.h"
#include "core/backlog.h"
#include "tests/agent/lab.h"

typedef struct Demo {
    Lab lab;
    Arena arena;
    Settings settings;
    Backlog backlog;
} Demo;

static void read_settings(Demo *demo)
{
    const EmbeddedFile *file = embedded_find("demo/otto.yaml");
    YamlDoc doc;
    SettingsProblems problems = SETTINGS_PROBLEMS_INIT;
    settings_init(&demo->settings);
    assert_true(yaml_read(file->bytes, file->length, &doc, NULL));
    if (!settings_read(&doc, &demo->settings, &problems))
        fail_msg("%s", problems.items[0].text);
    yaml_done(&doc);
    settings_problems_done(&problems);
}

static void write_repository(Demo *demo)
{
    static const char head[] = "demo/repo/";
    size_t count;
    const EmbeddedFile *files = embedded_all(&count);
    assert_int_equal(lab_shell(&demo->lab, "work", "mkdir lib tests && git init -q -b main"), 0);
    for (size_t i = 0; i < count; i++) {
        char name[256];
        if (!text_starts(files[i].name, head))
            continue;
        (void)snprintf(name, sizeof name, "work/%s", files[i].name + strlen(head));
        lab_write(&demo->lab, name, files[i].bytes);
    }
    assert_int_equal(lab_shell(&demo->lab, "work",
                               "git config user.name t && git config user.email t@t && "
                               "git add -A && git commit -qm seed && git tag seed"),
                     0);
}

static int setup(void **state)
{
    Demo *demo = mem_alloc(sizeof *demo);
    lab_init(&demo->lab);
    read_settings(demo);
    const EmbeddedFile *file = embedded_find("demo/backlog.md");
    BacklogSource source = {.name = "backlog.md", .text = file->bytes, .length = file->length};
    Err err = {0};
    if (!backlog_read(&source, &demo->arena, &demo->backlog, &err))
        fail_msg("%s", err.text);
    write_repository(demo);
    demo->lab.agent = *settings_agent(&demo->settings, NULL, &err);
    *state = demo;
    return 0;
}

static int teardown(void **state)
{
    Demo *demo = *state;
    settings_done(&demo->settings);
    arena_done(&demo->arena);
    lab_done(&demo->lab);
    free(demo);
    return 0;
}

static const BacklogTask *task_get(const Demo *demo, const char *key)
{
    for (size_t i = 0; i < demo->backlog.count; i++)
        if (text_equal(demo->backlog.tasks[i].key, key))
            return &demo->backlog.tasks[i];
    fail_msg("no task '%s'", key);
    return NULL;
}

/* One turn; does the work pass the gate afterwards? */
static bool turn(Demo *demo, const char *key, int number, const char *signal)
{
    Lab *lab = &demo->lab;
    const BacklogTask *task = task_get(demo, key);
    lab->turn.task_key = key;
    lab->turn.task_title = task->title;
    lab->turn.turn = number;
    lab_turn(lab);
    if (lab_exit_code(lab) != 0)
        fail_msg("%s: %s", key, str_text(&lab->err));
    if (!strstr(str_text(&lab->out), signal))
        fail_msg("%s: no %s in: %s", key, signal, str_text(&lab->out));
    assert_int_equal(lab_shell(lab, "work", "test -z \"$(git status --porcelain)\""), 0);
    bool is_good = lab_shell(lab, "work", demo->settings.verify.commands[0].command) == 0;
    for (size_t i = 0; i < task->checks.count; i++)
        is_good = is_good && lab_shell(lab, "work", task->checks.items[i]) == 0;
    return is_good;
}

static const char done[] = ">COMPLETE<";

static void the_seed_passes_its_own_check(void **state)
{
    Demo *demo = *state;
    assert_int_equal(lab_shell(&demo->lab, "work", "sh check.sh"), 0);
    assert_int_equal(demo->backlog.count, 13);
    assert_int_equal(demo->settings.slots, 4);
}

static void every_task_ends_as_promised(void **state)
{
    Demo *demo = *state;
    assert_true(turn(demo, "upper", 1, done));
    assert_true(turn(demo, "lower", 1, done));
    assert_false(turn(demo, "trim", 1, done)); /* fails the tests first */
    assert_true(turn(demo, "trim", 2, done));
    assert_false(turn(demo, "count", 1, done)); /* lies twice */
    assert_false(turn(demo, "count", 2, done));
    assert_true(turn(demo, "count", 3, done));
    (void)turn(demo, "license", 1, ">PENDING:"); /* no work to check yet */
    assert_true(turn(demo, "license", 2, done));
    (void)turn(demo, "publish", 1, ">BLOCKED:"); /* nor here */
    assert_true(turn(demo, "repeat", 1, done));
    assert_true(turn(demo, "slug", 1, done));
    assert_true(turn(demo, "shout", 1, done));
    assert_true(turn(demo, "docs", 1, done));
    assert_true(turn(demo, "greet-name", 1, done));
    assert_true(turn(demo, "release", 1, done));
}

/* Both sides from the same seed; whichever lands second has to resolve. */
static void conflict(Demo *demo, const char *first, const char *second)
{
    Lab *lab = &demo->lab;
    assert_int_equal(lab_shell(lab, "work", "git checkout -q -B first seed"), 0);
    assert_true(turn(demo, first, 1, done));
    assert_int_equal(lab_shell(lab, "work", "git checkout -q -B second seed"), 0);
    assert_true(turn(demo, second, 1, done));
    assert_true(lab_shell(lab, "work", "git merge -q --no-edit first") != 0);
    assert_int_equal(lab_shell(lab, "work", "git merge --abort"), 0);
    lab->turn.checkpoint = "conflict";
    lab->turn.tries = 1;
    lab->turn.target_ref = "first";
    assert_true(turn(demo, second, 2, done));
    assert_int_equal(lab_shell(lab, "work", "git merge-base --is-ancestor first second"), 0);
    lab->turn.checkpoint = NULL;
    lab->turn.tries = 0;
}

static void two_tasks_conflict_and_either_can_resolve(void **state)
{
    Demo *demo = *state;
    conflict(demo, "greet-name", "greet-polite");
    conflict(demo, "greet-polite", "greet-name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_seed_passes_its_own_check, setup, teardown),
        cmocka_unit_test_setup_teardown(every_task_ends_as_promised, setup, teardown),
        cmocka_unit_test_setup_teardown(two_tasks_conflict_and_either_can_resolve, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
