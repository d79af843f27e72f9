/* Old databases open for ever: `test-store-old FILE` for each file of fixtures/. v1.db was written
 * by version 1 and is never written again; each later version adds a file of its own.
 *
 * `test-store-old --write FILE` makes such a file: every value of every list of core/, each beside
 * its word, and a row or more in every table. A list that is reordered or cut later no longer fits
 * the words in the file, and this test says so. */
#include "tests/store/flow_sample.h"

#include "core/event.h"
#include "core/signal.h"
#include "store/migrations.h"

static const char *const task_words[] = {
#define X(state, word, help) word,
    TASK_STATES(X)
#undef X
};
static const char *const run_words[] = {
#define X(state, word, slot, effect, help) word,
    RUN_STATES(X)
#undef X
};
static const char *const need_words[] = {
#define X(need, word, help) word,
    NEEDS(X)
#undef X
};
static const char *const auto_words[] = {
#define X(state, word, help) word,
    AUTO_STATES(X)
#undef X
};
static const char *const signal_words[] = {
#define X(type, word, duty, control, help) word,
    SIGNAL_TYPES(X)
#undef X
};
static const char *const event_words[] = {
#define X(kind, word, a, b, text, ref, ref2, help) word,
    EVENTS(X)
#undef X
};

static const char *const substate_words[] = {
#define X(substate, word, help) word,
    SUBSTATES(X)
#undef X
};

/* The signals that a turn can end with: all before the answer, which is a record. */
enum { TURN_SIGNALS = SIGNAL_RESULT };

static const char *old_file;

/* How long the lists were when the file was written: it says so itself. */
typedef struct Lengths {
    unsigned tasks, runs, needs, autos, signals, events;
    unsigned substates, records; /* from version 2 on */
} Lengths;
#define LENGTHS_FORMAT "%u %u %u %u %u %u %u %u"

static const StoreRunText old_run_text = {.run = 1,
                                          .workspace_path = "/spaces/1",
                                          .workspace_kind = "overlay",
                                          .branch = "otto/1",
                                          .agent = "pi",
                                          .tag = "otto",
                                          .token = "token",
                                          .mark = "mark",
                                          .says = "go on",
                                          .says_kind = 2};

/* ---- writing ---- */

static void write_projects(Store *store, Err *err)
{
    for (ProjectId id = 1; id <= COUNT(auto_words); id++) {
        char path[32];
        Project project = project_sample(id);
        StoreProjectText text = {.id = id,
                                 .path = path,
                                 .hub = "hub",
                                 .target = "main",
                                 .name = auto_words[id - 1],
                                 .settings_json = "{\"slots\":4}",
                                 .added_ms = 7};
        snprintf(path, sizeof path, "/project/%u", id);
        project.autopilot = (AutoState)(id - 1);
        must(store_project_save(store, &project, err), err);
        must(store_project_text_save(store, &text, err), err);
    }
}

static void write_tasks(Store *store, Err *err)
{
    for (TaskId id = 1; id <= COUNT(task_words); id++) {
        char key[16];
        Task task = task_sample(id, 1);
        StoreTaskText text = {.id = id,
                              .project = 1,
                              .title = task_words[id - 1],
                              .body = "body",
                              .key = key,
                              .checks_json = "[]",
                              .tags_json = "[\"critical\"]",
                              .size = "small",
                              .agent = "pi",
                              .workflow = "loop",
                              .type = "docs",
                              .created_ms = 8,
                              .deleted_ms = id == 9 ? 9 : 0};
        snprintf(key, sizeof key, "T-%u", id);
        task.state = (TaskState)(id - 1);
        task.parent = id > 1 ? 1 : 0;
        task.run = id == 1 ? COUNT(run_words) : 0;
        must(store_task_save(store, &task, err), err);
        must(store_task_text_save(store, &text, err), err);
    }
    for (unsigned need = 0; need < COUNT(need_words); need++)
        must(store_dependency_add(store, &(Dependency){5, need + 1, (Need)need}, err), err);
}

static void write_runs(Store *store, Err *err)
{
    for (RunId id = 1; id <= COUNT(run_words); id++) {
        Run run = run_sample(id, 1, 1);
        run.state = (RunState)(id - 1);
        run.from = id > 1 ? id - 1 : 0;
        run.substate = (uint8_t)(id % COUNT(substate_words));
        must(store_run_save(store, &run, err), err);
        StoreRunText text = old_run_text;
        text.run = id;
        text.mark = run_words[id - 1];
        text.session = substate_words[run.substate];
        must(store_run_text_save(store, &text, err), err);
    }
}

static void write_turns(Store *store, Err *err)
{
    for (uint32_t i = 0; i < TURN_SIGNALS; i++) {
        StoreTurn turn = {.run = 1,
                          .epoch = 1,
                          .turn = i + 1,
                          .started_ms = 10,
                          .prompt_hash = "hash",
                          .agent = "pi",
                          .phase = "exec",
                          .checkpoint = "mid-exec",
                          .pid = 11,
                          .start_ticks = 12,
                          .boot_id = "boot",
                          .ended_ms = 13,
                          .exit_code = 14,
                          .killed_by = 15,
                          .signal = (int)i,
                          .payload = signal_words[i],
                          .commit = "commit",
                          .output_bytes = 16};
        must(store_turn_start(store, &turn, err), err);
        must(store_turn_keeper(store, &turn, err), err);
        must(store_turn_end(store, &turn, err), err);
    }
}

static void write_others(Store *store, Err *err)
{
    for (size_t i = 0; i < COUNT(event_words); i++) {
        StoreEvent event = {.at_ms = 20,
                            .project = 1,
                            .task = 2,
                            .run = 3,
                            .epoch = 4,
                            .turn = 5,
                            .kind = (int)i,
                            .data = event_words[i],
                            .decision = "decided",
                            .why = i % 2 ? "because" : NULL};
        must(store_event_put(store, &event, NULL, err), err);
    }
    StoreGateResult gate = {.run = 1,
                            .epoch = 1,
                            .turn = 1,
                            .stage = "gate",
                            .name = "tests",
                            .command = "make",
                            .is_required = true,
                            .exit_code = 2,
                            .started_ms = 21,
                            .took_ms = 22,
                            .limit_s = 23,
                            .output = "a\0b",
                            .output_length = 3};
    must(store_gate_put(store, &gate, err), err);
    gate.stage = "merge";
    must(store_gate_put(store, &gate, err), err);
    StoreLanding landing = {0, 1, 1, "c", "o", "n", 24, 0, NULL};
    must(store_landing_put(store, &landing, err), err);
    must(store_landing_undo(store, 1, "r", 25, err), err);
    StoreNotice notice = {
        .project = 1, .task = 1, .run = 1, .kind = "question", .text = "well?", .at_ms = 26};
    must(store_notice_put(store, &notice, NULL, err), err);
    must(store_notice_close_task(store, 1, NULL, 27, "yes", err), err);
    must(store_notice_put(store, &notice, NULL, err), err);
    must(store_usage_put(store, &(StoreUsage){1, 1, "pi", "m", 1, 2, 3, 4, 28}, err), err);
    StoreDiscovery discovery = {
        .project = 1, .task = 1, .is_global = true, .text = "Found", .at_ms = 29};
    must(store_discovery_put(store, &discovery, NULL, err), err);
}

static void write_lengths(Store *store, Err *err)
{
    char lengths[96];
    snprintf(lengths, sizeof lengths, LENGTHS_FORMAT, (unsigned)COUNT(task_words),
             (unsigned)COUNT(run_words), (unsigned)COUNT(need_words), (unsigned)COUNT(auto_words),
             (unsigned)TURN_SIGNALS, (unsigned)COUNT(event_words), (unsigned)COUNT(substate_words),
             (unsigned)RECORD_KIND_COUNT);
    must(store_meta_set(store, "lengths", lengths, err), err);
}

/* Small pages keep the file small, and no log stays beside it: it is checked in alone. */
static const char shrink[] = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM;"
                             "PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE);";

static int write_file(const char *path)
{
    Err err = {0};
    sqlite3 *db = NULL;
    Store *store = store_must_open(path, STORE_CREATE);
    must(store_begin(store, &err), &err);
    write_projects(store, &err);
    write_tasks(store, &err);
    write_runs(store, &err);
    write_turns(store, &err);
    write_others(store, &err);
    flow_write(store);
    write_lengths(store, &err);
    must(store_commit(store, &err), &err);
    store_free(store);
    bool is_done = sqlite3_open(path, &db) == SQLITE_OK &&
                   sqlite3_exec(db, shrink, NULL, NULL, NULL) == SQLITE_OK;
    return sqlite3_close(db) == SQLITE_OK && is_done ? 0 : 2;
}

/* ---- reading ---- */

typedef struct Old {
    int version; /* that wrote the file */
    Lengths lengths;
    unsigned projects, tasks, dependencies, runs, rows;
} Old;

static void old_project(void *user, const Project *project)
{
    Old *old = user;
    Project want = project_sample(++old->projects);
    want.autopilot = (AutoState)(want.id - 1);
    if (old->version < 2) {
        want.limits.max_steps = 20;
        want.limits.workflow = 0;
        want.limits.auto_confirm = false;
    }
    assert_project(project, &want);
}

static void old_task(void *user, const Task *task)
{
    Old *old = user;
    Task want = task_sample(++old->tasks, 1);
    want.state = (TaskState)(want.id - 1);
    want.parent = want.id > 1 ? 1 : 0;
    want.run = want.id == 1 ? old->lengths.runs : 0;
    if (old->version < 2) {
        want.is_confirmed = want.is_refined = false;
        want.is_filled = true; /* they have a title */
        want.workflow = want.next_phase = 0;
    }
    assert_task(task, &want);
}

static void old_dependency(void *user, const Dependency *dependency)
{
    static const char *const words[] = {"started", "verified", "done"};
    unsigned i = ((Old *)user)->dependencies++;
    assert_int_equal(dependency->task, 5);
    assert_int_equal(dependency->on, i + 1);
    assert_string_equal(need_words[dependency->need], words[i]);
}

/* Version 1 knew one workflow, and no stages. */
static void run_of_version_1(Run *run)
{
    run->workflow = run->status = run->substate = run->result = run->gate_limit = run->asks = 0;
    run->is_rolled_back = run->is_review_wanted = false;
    run->steps = run->step_turns = 0;
    run->stage = 1;
    run->convergence = -1;
    run->converged = 0;
    run->gate_tries = 0;
    run->good[0] = '\0';
}

static void old_run(void *user, const Run *run)
{
    Old *old = user;
    old->runs++;
    Run want = run_sample(run->id, 1, 1);
    want.state = (RunState)(run->id - 1);
    want.from = run->id > 1 ? run->id - 1 : 0;
    if (old->version < 2)
        run_of_version_1(&want);
    else
        want.substate = (uint8_t)(run->id % old->lengths.substates);
    assert_run(run, &want);
}

static bool old_project_text(void *user, const StoreProjectText *text)
{
    assert_int_equal(text->id, ++((Old *)user)->rows);
    assert_string_equal(text->name, auto_words[text->id - 1]);
    assert_string_equal(text->hub, "hub");
    assert_string_equal(text->target, "main");
    assert_string_equal(text->settings_json, "{\"slots\":4}");
    assert_int_equal(text->added_ms, 7);
    return true;
}

static bool old_task_text(void *user, const Task *task, const StoreTaskText *text)
{
    char key[16];
    Old *old = user;
    assert_int_equal(text->id, ++old->rows);
    assert_string_equal(text->type, old->version < 2 ? "" : "docs");
    assert_string_equal(text->title, task_words[task->state]);
    snprintf(key, sizeof key, "T-%u", task->id);
    assert_string_equal(text->key, key);
    assert_string_equal(text->body, "body");
    assert_string_equal(text->checks_json, "[]");
    assert_string_equal(text->tags_json, "[\"critical\"]");
    assert_string_equal(text->size, "small");
    assert_string_equal(text->agent, "pi");
    assert_string_equal(text->workflow, "loop");
    assert_int_equal(text->created_ms, 8);
    assert_int_equal(text->deleted_ms, task->id == 9 ? 9 : 0);
    return true;
}

static bool old_run_texts(void *user, const Run *run, const StoreRunText *text)
{
    Old *old = user;
    assert_int_equal(text->run, ++old->rows);
    assert_string_equal(text->session, old->version < 2 ? "" : substate_words[run->substate]);
    assert_string_equal(text->mark, run_words[run->state]);
    assert_string_equal(text->workspace_path, old_run_text.workspace_path);
    assert_string_equal(text->workspace_kind, old_run_text.workspace_kind);
    assert_string_equal(text->branch, old_run_text.branch);
    assert_string_equal(text->agent, old_run_text.agent);
    assert_string_equal(text->tag, old_run_text.tag);
    assert_string_equal(text->token, old_run_text.token);
    assert_string_equal(text->says, old_run_text.says);
    assert_int_equal(text->says_kind, old_run_text.says_kind);
    return true;
}

static bool old_turn(void *user, const StoreTurn *turn)
{
    Old *old = user;
    assert_int_equal(turn->turn, ++old->rows);
    assert_string_equal(turn->phase, old->version < 2 ? "" : "exec");
    assert_string_equal(turn->checkpoint, old->version < 2 ? "" : "mid-exec");
    assert_string_equal(turn->payload, signal_words[turn->signal]);
    assert_string_equal(turn->prompt_hash, "hash");
    assert_string_equal(turn->agent, "pi");
    assert_string_equal(turn->boot_id, "boot");
    assert_string_equal(turn->commit, "commit");
    assert_int_equal(turn->started_ms + turn->pid + turn->start_ticks + turn->ended_ms,
                     10 + 11 + 12 + 13);
    assert_int_equal(turn->exit_code + turn->killed_by + turn->output_bytes, 14 + 15 + 16);
    return true;
}

static bool old_event(void *user, const StoreEvent *event)
{
    assert_int_equal(event->id, ++((Old *)user)->rows);
    assert_string_equal(event->data, event_words[event->kind]);
    assert_int_equal(event->at_ms, 20);
    assert_int_equal(event->project * 1000 + event->task * 100 + event->run * 10 + event->epoch,
                     1234);
    assert_int_equal(event->turn, 5);
    assert_string_equal(event->decision, "decided");
    if (event->kind % 2)
        assert_string_equal(event->why, "because");
    else
        assert_null(event->why);
    return true;
}

static bool old_gate(void *user, const StoreGateResult *gate)
{
    assert_string_equal(gate->stage, ++((Old *)user)->rows == 1 ? "gate" : "merge");
    assert_string_equal(gate->name, "tests");
    assert_string_equal(gate->command, "make");
    assert_true(gate->is_required && !gate->timed_out);
    assert_int_equal(gate->exit_code, 2);
    assert_int_equal(gate->started_ms + gate->took_ms + gate->limit_s, 21 + 22 + 23);
    assert_int_equal(gate->output_length, 3);
    assert_memory_equal(gate->output, "a\0b", 3);
    return true;
}

static bool old_landing(void *user, const StoreLanding *landing)
{
    ((Old *)user)->rows++;
    assert_string_equal(landing->commit, "c");
    assert_string_equal(landing->old_tip, "o");
    assert_string_equal(landing->new_tip, "n");
    assert_string_equal(landing->undone_by, "r");
    assert_int_equal(landing->at_ms + landing->undone_ms, 24 + 25);
    return true;
}

static bool old_notice(void *user, const StoreNotice *notice)
{
    bool is_first = ++((Old *)user)->rows == 1;
    assert_string_equal(notice->kind, "question");
    assert_string_equal(notice->text, "well?");
    assert_int_equal(notice->at_ms, 26);
    assert_int_equal(notice->closed_ms, is_first ? 27 : 0);
    assert_string_equal(notice->answer, is_first ? "yes" : "");
    return true;
}

static bool old_discovery(void *user, const StoreDiscovery *discovery)
{
    ((Old *)user)->rows++;
    assert_string_equal(discovery->text, "Found");
    assert_true(discovery->is_global);
    assert_int_equal(discovery->at_ms, 29);
    return true;
}

static int version_of(const char *path)
{
    Err err = {0};
    int version = 0;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    must(migrate_look(db, path, &version, &err), &err);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return version;
}

static Store *open_old(Room *room, Old *old)
{
    Err err = {0};
    const char *text = NULL;
    Lengths *is = &old->lengths;
    file_copy(old_file, room->path);
    *old = (Old){.version = version_of(room->path)};
    Store *store = store_must_open(room->path, 0);
    assert_int_equal(store_version(store), store_migration_count);
    must(store_check(store, &err), &err);
    must(store_meta_find(store, "lengths", &room->arena, &text, &err), &err);
    assert_int_equal(sscanf(text, LENGTHS_FORMAT, &is->tasks, &is->runs, &is->needs, &is->autos,
                            &is->signals, &is->events, &is->substates, &is->records),
                     old->version < 2 ? 6 : 8);
    return store;
}

static void the_rows_of_core_are_read_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    Old old;
    Store *store = open_old(room, &old);
    StoreLoader loader = {&old, old_project, old_task, old_dependency, old_run};
    must(store_load(store, &loader, &err), &err);
    assert_int_equal(old.projects, old.lengths.autos);
    assert_int_equal(old.tasks, old.lengths.tasks);
    assert_int_equal(old.dependencies, old.lengths.needs);
    assert_int_equal(old.runs, old.lengths.runs - 1); /* one has ended */
    store_free(store);
}

static void the_texts_are_read_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    Old old;
    Store *store = open_old(room, &old);
    must(store_project_text_list(store, old_project_text, &old, &err), &err);
    assert_int_equal(old.rows, old.lengths.autos);
    old.rows = 0;
    StoreTaskFilter all = {.with_deleted = true};
    must(store_task_list(store, &all, NULL, old_task_text, &old, &err), &err);
    assert_int_equal(old.rows, old.lengths.tasks);
    old.rows = 0;
    must(store_run_list(store, 1, old_run_texts, &old, &err), &err);
    assert_int_equal(old.rows, old.lengths.runs);
    store_free(store);
}

static void everything_else_is_read_back(void **state)
{
    Room *room = *state;
    Err err = {0};
    Old old;
    StoreUsageSum sum;
    Store *store = open_old(room, &old);
    must(store_turn_list(store, 1, old_turn, &old, &err), &err);
    assert_int_equal(old.rows, old.lengths.signals);
    old.rows = 0;
    must(store_event_list(store, 0, 0, 0, old_event, &old, &err), &err);
    assert_int_equal(old.rows, old.lengths.events);
    old.rows = 0;
    must(store_gate_list(store, 1, old_gate, &old, &err), &err);
    assert_int_equal(old.rows, 2);
    old.rows = 0;
    must(store_landing_list(store, 1, 0, old_landing, &old, &err), &err);
    assert_int_equal(old.rows, 1);
    old.rows = 0;
    must(store_notice_list_task(store, 1, old_notice, &old, &err), &err);
    assert_int_equal(old.rows, 2);
    old.rows = 0;
    must(store_discovery_list(store, 1, 0, old_discovery, &old, &err), &err);
    assert_int_equal(old.rows, 1);
    must(store_usage_sum_task(store, 1, &sum, &err), &err);
    assert_int_equal(sum.input * 1000 + sum.output * 100 + sum.cache * 10 + sum.cost_micros, 1234);
    store_free(store);
}

static void what_workflows_left_is_read_back(void **state)
{
    Room *room = *state;
    Old old;
    Store *store = open_old(room, &old);
    if (old.version < 2) {
        flow_assert_empty(store, &room->arena);
        flow_write(store); /* and there is room for it */
        flow_assert(store, &room->arena, RECORD_KIND_COUNT);
    } else {
        flow_assert(store, &room->arena, old.lengths.records);
    }
    store_free(store);
}

static void an_old_store_goes_on_being_written(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t before = 0, after = 0;
    Old old;
    Store *store = open_old(room, &old);
    must(store_event_last(store, &before, &err), &err);
    must(store_begin(store, &err), &err);
    for (int kind = 0; kind < EVENT_COUNT; kind++)
        must(store_event_put(store, &(StoreEvent){.kind = kind}, NULL, &err), &err);
    Task task = task_sample(100, 1);
    for (unsigned value = 0; value < TASK_STATE_COUNT; value++) {
        task.state = (TaskState)value;
        must(store_task_save(store, &task, &err), &err);
    }
    Run run = run_sample(100, 100, 1);
    for (unsigned value = 0; value < RUN_STATE_COUNT; value++) {
        run.state = (RunState)value;
        must(store_run_save(store, &run, &err), &err);
    }
    for (unsigned value = 0; value < STOP_WISH_COUNT; value++) {
        run.stop = (uint8_t)value;
        must(store_run_save(store, &run, &err), &err);
    }
    run.stop = STOP_WISH_COUNT;
    assert_false(store_run_save(store, &run, &err));
    assert_int_equal(err.kind, ERR_STORE);
    must(store_commit(store, &err), &err);
    must(store_event_last(store, &after, &err), &err);
    assert_int_equal(after - before, EVENT_COUNT);
    must(store_check(store, &err), &err);
    store_free(store);
}

/* ---- the definitions ---- */

static char *definitions(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT group_concat(name || ': ' || sql, char(10)) FROM"
                                        " (SELECT name, sql FROM sqlite_schema ORDER BY name)",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    char *text = mem_strdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return text;
}

/* A released step that was changed after all would show here. */
static void an_old_store_becomes_exactly_what_a_new_one_is(void **state)
{
    Room *room = *state;
    Old old;
    store_free(store_must_open(room->path, STORE_CREATE));
    char *new = definitions(room->path);
    store_free(open_old(room, &old));
    char *brought = definitions(room->path);
    assert_string_equal(brought, new);
    free(new);
    free(brought);
}

int main(int argc, char **argv)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(the_rows_of_core_are_read_back),
        ROOM(the_texts_are_read_back),
        ROOM(everything_else_is_read_back),
        ROOM(what_workflows_left_is_read_back),
        ROOM(an_old_store_goes_on_being_written),
        ROOM(an_old_store_becomes_exactly_what_a_new_one_is),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_file(argv[2]);
    if (argc != 2)
        return 2;
    old_file = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
