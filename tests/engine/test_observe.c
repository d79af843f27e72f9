/* engine/observe: the task folder and the life of an observation, with real files and a stand-in
 * for the machine and the store. */
#include "tests/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "engine/observe.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, EVENTS = 200 };

typedef struct Stored {
    EventKind kind;
    uint32_t turn;
    int64_t a;
    char *text, *ref;
} Stored;

/* The stand-in: what was posted is stored, steps and stops go to the run's row. */
typedef struct World {
    Engine engine;
    Run run;
    Stored events[EVENTS];
    size_t count;
    char workspace[64], why[200];
    int graces;
    ObservationSpec spec;
    Observation *observation;
} World;

static World *world;

int64_t engine_now(const Engine *engine)
{
    (void)engine;
    return clock_wall_ms();
}

Event act_event(const Act *act, EventKind kind)
{
    return (Event){.kind = kind, .task = act->task, .run = act->run, .turn = act->turn};
}

bool engine_post(Engine *engine, const Event *event)
{
    (void)engine;
    assert_true(world->count < EVENTS);
    world->events[world->count++] =
        (Stored){event->kind, event->turn, event->a, event->text ? strdup(event->text) : NULL,
                 event->ref ? strdup(event->ref) : NULL};
    StopWish stop = observe_text_stop(event->text);
    if (event->kind == EV_OBSERVED && stop != STOP_NONE)
        world->run.stop = (uint8_t)stop;
    if (event->kind == EV_OBSERVED)
        world->run.steps = (uint16_t)event->a;
    return true;
}

const Run *machine_run(const Machine *machine, RunId id)
{
    (void)machine;
    (void)id;
    return &world->run;
}

ProjectInfo *project_info(Engine *engine, ProjectId id)
{
    (void)engine;
    (void)id;
    return NULL;
}

bool store_event_list_task(Store *store, TaskId task, int64_t before, uint32_t limit,
                           StoreEventFn *fn, void *user, Err *err)
{
    (void)store;
    (void)before;
    (void)limit;
    (void)err;
    for (size_t i = world->count; i-- > 0;) {
        const Stored *stored = &world->events[i];
        Event event = {
            .kind = stored->kind, .a = stored->a, .text = stored->text, .ref = stored->ref};
        CLEANUP(str_done) Str data = STR_INIT;
        event_write(&event, &data);
        StoreEvent row = {.kind = (int)stored->kind,
                          .task = task,
                          .run = world->run.id,
                          .turn = stored->turn,
                          .data = str_text(&data)};
        if (!fn(user, &row))
            break;
    }
    return true;
}

/* ---- the room ---- */

static int setup(void **state)
{
    Err err = {0};
    world = calloc(1, sizeof *world);
    *state = world;
    (void)snprintf(world->workspace, sizeof world->workspace, "/tmp/otto-observe.XXXXXX");
    if (!mkdtemp(world->workspace))
        return -1;
    world->engine.loop = loop_new(&err);
    world->run = (Run){.id = 5, .task = 3, .turn = 1};
    world->spec =
        (ObservationSpec){.act = {.engine = &world->engine, .run = 5, .task = 3, .turn = 1},
                          .protocol = OBSERVE_A,
                          .workspace = world->workspace,
                          .key = "T-1",
                          .title = "A title",
                          .body = "What is to be done.",
                          .limits = observe_limits_default()};
    return world->engine.loop ? 0 : -1;
}

static int teardown(void **state)
{
    Err err = {0};
    (void)state;
    observation_free(world->observation);
    loop_free(world->engine.loop);
    for (size_t i = 0; i < world->count; i++) {
        free(world->events[i].text);
        free(world->events[i].ref);
    }
    bool is_removed = folder_remove(world->workspace, &err);
    free(world);
    return is_removed ? 0 : -1;
}

static const char *at(const char *path)
{
    static char full[4][PATH_MAX];
    static unsigned turn;
    char *out = full[turn++ % 4];
    (void)snprintf(out, PATH_MAX, "%s/%s", world->workspace, path);
    return out;
}

static void put(const char *path, const char *text)
{
    Err err = {0};
    if (!file_write_atomic(at(path), text, strlen(text), 0644, &err))
        fail_msg("%s", err.text);
}

static void assert_file(const char *path, const char *expected)
{
    Err err = {0};
    char *text = file_read(at(path), 1 << 20, NULL, &err);
    if (!text)
        fail_msg("%s", err.text);
    if (!strstr(text, expected))
        fail_msg("'%s' does not hold '%s': %s", path, expected, text);
    free(text);
}

static void prepare(void)
{
    Err err = {0};
    char folder[PATH_MAX];
    if (!observation_prepare(&world->spec, folder, &err))
        fail_msg("%s", err.text);
}

static void on_grace_over(void *user, const char *why)
{
    assert_ptr_equal(user, world);
    world->graces++;
    (void)snprintf(world->why, sizeof world->why, "%s", why);
}

static const ObservationCalls calls = {on_grace_over};

static void start(void)
{
    Err err = {0};
    world->observation = observation_start(&world->spec, &calls, world, &err);
    if (!world->observation)
        fail_msg("%s", err.text);
}

static void begin(void)
{
    prepare();
    start();
}

static void signal_put(const char *step, const char *result, const char *next, int number)
{
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text,
             "{\"step\":\"%s\",\"result\":\"%s\",\"next\":\"%s\",\"iteration\":%d,"
             "\"timestamp\":\"2026-01-31T10:%02d:%02dZ\"}",
             step, result, next, number, number / 60, number % 60);
    put("AiTasks/T-1/.auto-signal", str_text(&text));
}

static void state_put(const char *path, const char *status, int number)
{
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "{\"status\":\"%s\",\"completed_steps\":%d,\"updated\":\"%d\"}", status, number,
             number);
    put(path, str_text(&text));
}

static bool has_posted(const char *part)
{
    for (size_t i = 0; i < world->count; i++)
        if (world->events[i].text && strstr(world->events[i].text, part))
            return true;
    return false;
}

#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        int64_t until_ = clock_mono_ms() + PATIENCE_MS;                                            \
        while (!(condition)) {                                                                     \
            if (clock_mono_ms() > until_)                                                          \
                fail_msg("in vain: %s", #condition);                                               \
            (void)loop_run_once(world->engine.loop, 50);                                           \
        }                                                                                          \
    } while (0)

/* As the turn's end does it: the word goes to the store, the next turn begins. */
static const char *end_turn(int exit_code)
{
    ObserveStep step;
    CLEANUP(str_done) Str text = STR_INIT;
    ObservationEnd end = {.exit_code = exit_code};
    observation_ended(world->observation, &end, &step);
    observation_free(world->observation);
    world->observation = NULL;
    str_addf(&text, "{\"result\":\"%s\"}", step.result);
    Event event = act_event(&world->spec.act, EV_STEP_RESULT);
    event.text = str_text(&text);
    (void)engine_post(&world->engine, &event);
    world->spec.act.turn++;
    return step.result;
}

/* An engine that goes and comes back: nothing but the store and the files is left. */
static void restart(void)
{
    observation_free(world->observation);
    world->spec.is_attached = true;
    world->spec.stop = (StopWish)world->run.stop;
    start();
}

/* ---- the folder ---- */

static void the_folder_is_made_with_target_and_state(void **state)
{
    (void)state;
    Err err = {0};
    char folder[PATH_MAX];
    assert_int_equal(mkdir(at(".git"), 0755), 0);
    assert_int_equal(mkdir(at(".git/info"), 0755), 0);
    put(".git/info/exclude", "# own\n/build");
    assert_true(observation_prepare(&world->spec, folder, &err));
    assert_string_equal(folder, at("AiTasks/T-1"));
    assert_file("AiTasks/T-1/.target.md", "# A title\n\nWhat is to be done.\n");
    assert_file("AiTasks/T-1/.index.json", "\"status\": \"draft\"");
    assert_file(".git/info/exclude", "# own\n/build\n/AiTasks/\n");
    put("AiTasks/T-1/.target.md", "changed by a person");
    assert_true(observation_prepare(&world->spec, folder, &err));
    assert_file("AiTasks/T-1/.target.md", "changed by a person");
    char *text = file_read(at(".git/info/exclude"), 1000, NULL, &err);
    assert_string_equal(text, "# own\n/build\n/AiTasks/\n"); /* once */
    free(text);
    assert_false(path_exists(at("AiTasks/.gitignore")));
}

static void b_has_its_own_folder_and_a_stage(void **state)
{
    (void)state;
    world->spec.protocol = OBSERVE_B;
    world->spec.status = "evolving";
    prepare();
    assert_file(".working/.status.json", "\"status\": \"evolving\"");
    assert_file(".working/.status.json", "\"current\": 1");
    assert_file(".working/.gitignore", "*"); /* no .git folder here */
}

static void a_key_that_is_no_name_is_not_used(void **state)
{
    (void)state;
    static const char *const bad[] = {
        NULL,   "",
        "..",   ".git",
        "a/b",  "../x",
        "-rf",  "a b",
        "a\nb", "01234567890123456789012345678901234567890123456789012345678901234"};
    char below[PATH_MAX];
    for (size_t i = 0; i < COUNT(bad); i++) {
        world->spec.key = bad[i];
        observation_folder(&world->spec, below);
        assert_string_equal(below, "AiTasks/task-3");
    }
    world->spec.key = "PROJ-12.b_c";
    observation_folder(&world->spec, below);
    assert_string_equal(below, "AiTasks/PROJ-12.b_c");
}

static void what_an_earlier_session_left_goes_unless_a_stop_is_stored(void **state)
{
    (void)state;
    prepare();
    put("AiTasks/T-1/.auto-stop", "{\"reason\":\"user_stop\"}");
    put("AiTasks/T-1/.auto-signal", "{}");
    world->spec.stop = STOP_BY_USER;
    prepare();
    assert_true(path_exists(at("AiTasks/T-1/.auto-stop")));
    assert_true(path_exists(at("AiTasks/T-1/.auto-signal")));
    world->spec.stop = STOP_NONE;
    prepare();
    assert_false(path_exists(at("AiTasks/T-1/.auto-stop")));
    assert_false(path_exists(at("AiTasks/T-1/.auto-signal")));
}

static void a_planted_link_is_not_followed(void **state)
{
    (void)state;
    Err err = {0};
    char folder[PATH_MAX];
    assert_int_equal(mkdir(at("elsewhere"), 0755), 0);
    put("elsewhere/.auto-stop", "mine");
    assert_int_equal(symlink("elsewhere", at("AiTasks")), 0);
    assert_false(observation_prepare(&world->spec, folder, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_file("elsewhere/.auto-stop", "mine");
}

static void a_broken_state_file_is_written_anew(void **state)
{
    (void)state;
    prepare();
    put("AiTasks/T-1/.index.json", "{\"status\":");
    world->spec.status = "executing";
    prepare();
    assert_file("AiTasks/T-1/.index.json", "\"status\": \"executing\"");
}

static void an_ended_task_is_opened_again_and_keeps_the_rest(void **state)
{
    (void)state;
    prepare();
    put("AiTasks/T-1/.index.json",
        "{\"status\":\"blocked\",\"updated\":\"1\",\"completed_steps\":4,\"own\":true}");
    prepare();
    assert_file("AiTasks/T-1/.index.json", "\"status\": \"re-planning\"");
    assert_file("AiTasks/T-1/.index.json", "\"phase\": \"needs-plan\"");
    assert_file("AiTasks/T-1/.index.json", "\"own\": true");
    assert_file("AiTasks/T-1/.index.json", "\"completed_steps\": 4");
    put("AiTasks/T-1/.index.json", "{\"status\":\"complete\",\"updated\":\"1\"}");
    world->spec.status = "executing";
    prepare();
    assert_file("AiTasks/T-1/.index.json", "\"status\": \"executing\"");
}

/* ---- reports ---- */

static void a_good_signal_is_posted_once_with_the_status(void **state)
{
    (void)state;
    begin();
    state_put("AiTasks/T-1/.index.json", "planning", 0);
    signal_put("plan", "(generated)", "check", 1);
    WAIT_FOR(world->count == 1);
    assert_int_equal(world->events[0].kind, EV_OBSERVED);
    assert_int_equal(world->events[0].a, 1);
    assert_string_equal(world->events[0].ref, "planning");
    assert_non_null(strstr(world->events[0].text, "\"step\":\"plan\""));
    signal_put("plan", "(generated)", "check", 1); /* the same once more */
    signal_put("check", "PASS", "exec", 2);
    WAIT_FOR(world->count == 2);
    assert_int_equal(observation_iterations(world->observation), 2);
}

static void a_bad_signal_is_ignored(void **state)
{
    (void)state;
    begin();
    put("AiTasks/T-1/.auto-signal", "{\"step\":\"pl");
    put("AiTasks/T-1/.index.json", "not json");
    (void)loop_run_once(world->engine.loop, 300);
    signal_put("dance", "PASS", "exec", 1);
    (void)loop_run_once(world->engine.loop, 300);
    signal_put("check", "PASS", "exec", 1);
    WAIT_FOR(world->count == 1);
    assert_non_null(strstr(world->events[0].text, "\"step\":\"check\""));
    assert_string_equal(world->events[0].ref, "draft"); /* the last good one */
}

static void steps_of_b_come_from_its_state_file(void **state)
{
    (void)state;
    world->spec.protocol = OBSERVE_B;
    begin();
    state_put(".working/.status.json", "planning", 0);
    WAIT_FOR(world->count == 1);
    assert_int_equal(world->events[0].a, 1);
    assert_string_equal(world->events[0].ref, "planning");
    state_put(".working/.status.json", "executing", 1);
    WAIT_FOR(world->count == 2);
    assert_int_equal(world->events[1].a, 2);
}

/* ---- limits and stops ---- */

static void a_limit_becomes_a_stored_stop_then_a_file_then_the_ordinary_stop(void **state)
{
    (void)state;
    world->spec.limits.max_iterations = 2;
    world->spec.limits.grace_ms = 20;
    begin();
    signal_put("plan", "(generated)", "check", 1);
    WAIT_FOR(world->count == 1);
    signal_put("check", "PASS", "exec", 2);
    WAIT_FOR(has_posted("\"wish\":\"max_iterations\""));
    assert_false(path_exists(at("AiTasks/T-1/.auto-stop"))); /* not before it is stored */
    assert_int_equal(world->run.stop, STOP_BY_STEPS);
    observation_stop(world->observation, STOP_BY_STEPS);
    assert_file("AiTasks/T-1/.auto-stop", "\"reason\":\"max_iterations\"");
    observation_stop(world->observation, STOP_BY_STEPS); /* a repeat is harmless */
    WAIT_FOR(world->graces == 1);
    assert_string_equal(end_turn(0), "max-iterations");
    assert_false(path_exists(at("AiTasks/T-1/.auto-stop")));
    assert_int_equal(world->graces, 1);
}

static void the_time_limit_becomes_a_wish(void **state)
{
    (void)state;
    world->spec.limits.timeout_ms = 1000;
    world->spec.spent_ms = 995;
    begin();
    WAIT_FOR(has_posted("\"wish\":\"timeout\""));
    assert_int_equal(world->run.stop, STOP_BY_CLOCK);
    assert_int_equal(world->count, 1);
}

static void equal_reports_become_a_wish_and_keep_their_reason(void **state)
{
    (void)state;
    begin();
    for (int i = 1; i <= 6; i++) {
        signal_put("exec", "(mid-exec)", "check", i);
        WAIT_FOR(world->count >= (size_t)i);
    }
    WAIT_FOR(has_posted("reasoning_loop"));
    assert_int_equal(world->run.stop, STOP_BY_STALL);
    observation_stop(world->observation, STOP_BY_STALL);
    assert_file("AiTasks/T-1/.auto-stop", "reasoning_loop");
    restart(); /* the file tells which of the two reasons it was */
    observation_stop(world->observation, STOP_BY_STALL);
    assert_string_equal(end_turn(0), "loop");
}

static void a_stop_file_by_hand_is_a_persons_stop(void **state)
{
    (void)state;
    begin();
    put("AiTasks/T-1/.auto-stop", "{\"reason\":\"timeout\"}");
    WAIT_FOR(has_posted("\"wish\":\"user_stop\""));
    assert_int_equal(world->run.stop, STOP_BY_USER);
    assert_int_equal(unlink(at("AiTasks/T-1/.auto-stop")), 0); /* the session obeys */
    assert_string_equal(end_turn(0), "stopped");
}

static void a_session_that_cannot_be_told_is_stopped_at_once(void **state)
{
    (void)state;
    Err err = {0};
    begin();
    assert_true(folder_remove(at("AiTasks"), &err));
    observation_stop(world->observation, STOP_BY_USER);
    assert_int_equal(world->graces, 0); /* told from the loop */
    WAIT_FOR(world->graces == 1);
}

static void a_session_that_reports_its_end_and_stays_is_stopped(void **state)
{
    (void)state;
    world->spec.limits.grace_ms = 20;
    begin();
    state_put("AiTasks/T-1/.index.json", "complete", 3);
    WAIT_FOR(world->graces == 1);
    assert_non_null(strstr(world->why, "did not go"));
    assert_string_equal(end_turn(0), "finished");
}

/* ---- restarts ---- */

static void a_restart_posts_nothing_twice_and_counts_on(void **state)
{
    (void)state;
    begin();
    signal_put("plan", "(generated)", "check", 1);
    WAIT_FOR(world->count == 1);
    restart();
    signal_put("check", "PASS", "exec", 0);
    WAIT_FOR(world->count == 2);
    assert_int_equal(world->events[1].a, 2);
    assert_non_null(strstr(world->events[1].text, "check"));
}

static void a_signal_that_came_while_no_engine_was_there_is_posted(void **state)
{
    (void)state;
    begin();
    observation_free(world->observation);
    world->observation = NULL;
    signal_put("plan", "(generated)", "check", 1);
    world->spec.is_attached = true;
    start();
    WAIT_FOR(world->count == 1);
}

static void a_restart_never_undoes_a_stop_and_its_time_goes_on(void **state)
{
    (void)state;
    begin();
    world->run.stop = STOP_BY_USER;
    observation_stop(world->observation, STOP_BY_USER);
    struct timespec old[2] = {{.tv_sec = time(NULL) - 59}, {.tv_sec = time(NULL) - 59}};
    assert_int_equal(utimensat(AT_FDCWD, at("AiTasks/T-1/.auto-stop"), old, 0), 0);
    restart();
    prepare(); /* even when asked to make it ready again */
    assert_true(path_exists(at("AiTasks/T-1/.auto-stop")));
    observation_stop(world->observation, STOP_BY_USER);
    WAIT_FOR(world->graces == 1); /* a minute of grace, of which a second was left */
    assert_string_equal(end_turn(143), "stopped");
}

/* ---- ends ---- */

static void the_last_report_counts_even_if_it_came_with_the_end(void **state)
{
    (void)state;
    begin();
    state_put("AiTasks/T-1/.index.json", "complete", 3);
    signal_put("report", "(generated)", "(stop)", 8);
    put("AiTasks/T-1/.auto-signal.tmp", "half");
    assert_string_equal(end_turn(0), "finished");
    assert_int_equal(world->events[0].a, 8);
    assert_string_equal(world->events[0].ref, "complete");
    assert_false(path_exists(at("AiTasks/T-1/.auto-signal")));
    assert_false(path_exists(at("AiTasks/T-1/.auto-signal.tmp")));
    assert_true(path_exists(at("AiTasks/T-1/.index.json")));
}

static void a_session_that_breaks_off_has_vanished(void **state)
{
    (void)state;
    begin();
    assert_string_equal(end_turn(1), "vanished");
}

static void a_block_of_an_earlier_turn_does_not_end_the_next(void **state)
{
    (void)state;
    begin();
    signal_put("check", "BLOCKED", "(stop)", 1);
    assert_string_equal(end_turn(0), "blocked");
    begin(); /* a person answered */
    assert_string_equal(end_turn(0), "continue");
}

static void continuing_without_a_step_ends_at_the_limit_of_recoveries(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        begin();
        assert_string_equal(end_turn(0), "continue");
    }
    begin(); /* a step: the count of this step begins anew */
    signal_put("plan", "(generated)", "check", 1);
    assert_string_equal(end_turn(0), "continue");
    for (int i = 0; i < 3; i++) {
        begin();
        assert_string_equal(end_turn(0), "continue");
    }
    begin();
    assert_string_equal(end_turn(0), "stall-limit");
}

static void a_task_folder_that_is_gone_at_the_end_is_no_end(void **state)
{
    (void)state;
    Err err = {0};
    begin();
    assert_true(folder_remove(at("AiTasks"), &err));
    assert_string_equal(end_turn(0), "continue");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_folder_is_made_with_target_and_state),
        CASE(b_has_its_own_folder_and_a_stage),
        CASE(a_key_that_is_no_name_is_not_used),
        CASE(what_an_earlier_session_left_goes_unless_a_stop_is_stored),
        CASE(a_planted_link_is_not_followed),
        CASE(a_broken_state_file_is_written_anew),
        CASE(an_ended_task_is_opened_again_and_keeps_the_rest),
        CASE(a_good_signal_is_posted_once_with_the_status),
        CASE(a_bad_signal_is_ignored),
        CASE(steps_of_b_come_from_its_state_file),
        CASE(a_limit_becomes_a_stored_stop_then_a_file_then_the_ordinary_stop),
        CASE(the_time_limit_becomes_a_wish),
        CASE(equal_reports_become_a_wish_and_keep_their_reason),
        CASE(a_stop_file_by_hand_is_a_persons_stop),
        CASE(a_session_that_cannot_be_told_is_stopped_at_once),
        CASE(a_session_that_reports_its_end_and_stays_is_stopped),
        CASE(a_restart_posts_nothing_twice_and_counts_on),
        CASE(a_signal_that_came_while_no_engine_was_there_is_posted),
        CASE(a_restart_never_undoes_a_stop_and_its_time_goes_on),
        CASE(the_last_report_counts_even_if_it_came_with_the_end),
        CASE(a_session_that_breaks_off_has_vanished),
        CASE(a_block_of_an_earlier_turn_does_not_end_the_next),
        CASE(continuing_without_a_step_ends_at_the_limit_of_recoveries),
        CASE(a_task_folder_that_is_gone_at_the_end_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
