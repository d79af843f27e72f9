/* Texts of projects, tasks and runs; lists of tasks; hostile texts. */
#include "tests/store/support.h"

static const StoreTaskText full = {.id = 1,
                                   .project = 1,
                                   .title = "title",
                                   .body = "body",
                                   .key = "T-1",
                                   .checks_json = "[1]",
                                   .tags_json = "[\"a\"]",
                                   .size = "small",
                                   .agent = "pi",
                                   .workflow = "loop",
                                   .type = "software|docs",
                                   .created_ms = 10,
                                   .deleted_ms = 0};

static void assert_task_text(const StoreTaskText *a, const StoreTaskText *b)
{
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->project, b->project);
    assert_string_equal(a->title, b->title);
    assert_string_equal(a->body, b->body);
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->checks_json, b->checks_json);
    assert_string_equal(a->tags_json, b->tags_json);
    assert_string_equal(a->size, b->size);
    assert_string_equal(a->agent, b->agent);
    assert_string_equal(a->workflow, b->workflow);
    assert_string_equal(a->type, b->type);
    assert_int_equal(a->created_ms, b->created_ms);
    assert_int_equal(a->deleted_ms, b->deleted_ms);
}

static void a_task_text_comes_back_and_null_keeps_what_is_stored(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreTaskText text;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    must(store_task_text_save(store, &full, &err), &err);
    must(store_task_text_get(store, 1, &room->arena, &text, &err), &err);
    assert_task_text(&text, &full);

    StoreTaskText change = {.id = 1, .project = 1, .title = "new", .created_ms = 10, .size = ""};
    must(store_task_text_save(store, &change, &err), &err);
    must(store_task_text_get(store, 1, &room->arena, &text, &err), &err);
    StoreTaskText want = full;
    want.title = "new";
    want.size = "";
    assert_task_text(&text, &want);

    assert_false(store_task_text_get(store, 9, &room->arena, &text, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    store_free(store);
}

static void a_key_is_unique_among_tasks_that_are_not_deleted(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreTaskText text;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 3);
    must(store_task_text_find(store, 1, "K", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 0);
    must(store_task_text_find(store, 1, "", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 0);

    StoreTaskText one = {.id = 1, .project = 1, .key = "K"};
    StoreTaskText two = {.id = 2, .project = 1, .key = "K"};
    must(store_begin(store, &err), &err);
    must(store_task_text_save(store, &one, &err), &err);
    assert_false(store_task_text_save(store, &two, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    must(store_commit(store, &err), &err);
    must(store_task_text_find(store, 1, "K", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 1);
    must(store_task_text_find(store, 2, "K", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 0);

    one.deleted_ms = 5;
    must(store_task_text_save(store, &one, &err), &err);
    must(store_task_text_find(store, 1, "K", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 1);
    must(store_task_text_save(store, &two, &err), &err);
    must(store_task_text_find(store, 1, "K", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 2);
    store_free(store);
}

typedef struct Ids {
    uint32_t ids[32];
    unsigned count;
} Ids;

static bool take(void *user, const Task *task, const StoreTaskText *text)
{
    Ids *ids = user;
    assert_int_equal(task->id, text->id);
    assert_int_equal(task->project, text->project);
    ids->ids[ids->count++] = task->id;
    return true;
}

static Ids list(Store *store, StoreTaskFilter filter, uint32_t *total)
{
    Err err = {0};
    Ids ids = {0};
    must(store_task_list(store, &filter, total, take, &ids, &err), &err);
    return ids;
}

/* Ten tasks; the even ones are done, 3 has the word in its body, 4 in its key, 5 is deleted; 11 is
 * of project 2. */
static Store *list_store(Room *room)
{
    Err err = {0};
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 10);
    Project second = project_sample(2);
    must(store_project_save(store, &second, &err), &err);
    for (TaskId id = 1; id <= 11; id++) {
        Task task = task_sample(id, id == 11 ? 2 : 1);
        StoreTaskText text = {.id = id,
                              .project = task.project,
                              .title = id == 2 ? "A Needle%_ here" : "hay",
                              .body = id == 3 ? "some nEEdle%_" : "",
                              .key = id == 4 ? "NEEDLE%_" : "",
                              .deleted_ms = id == 5 ? 9 : 0};
        task.state = id % 2 ? TASK_PENDING : TASK_DONE;
        must(store_task_save(store, &task, &err), &err);
        must(store_task_text_save(store, &text, &err), &err);
    }
    return store;
}

static void tasks_are_listed_by_project_state_text_and_page(void **state)
{
    Room *room = *state;
    uint32_t total = 0;
    Store *store = list_store(room);
    Ids ids = list(store, (StoreTaskFilter){0}, &total);
    assert_int_equal(ids.count, 10);
    assert_int_equal(total, 10);
    ids = list(store, (StoreTaskFilter){.project = 1, .with_deleted = true}, &total);
    assert_int_equal(ids.count, 10);
    ids = list(store, (StoreTaskFilter){.project = 2}, &total);
    assert_int_equal(ids.count, 1);
    assert_int_equal(ids.ids[0], 11);

    ids = list(store, (StoreTaskFilter){.project = 1, .states = 1u << TASK_DONE}, &total);
    assert_int_equal(ids.count, 5);
    assert_int_equal(ids.ids[4], 10);

    ids = list(store, (StoreTaskFilter){.project = 1, .text = "needle%_"}, &total);
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.ids[0], 2);
    assert_int_equal(ids.ids[2], 4);
    ids = list(store, (StoreTaskFilter){.project = 1, .text = "n%e"}, NULL);
    assert_int_equal(ids.count, 0);

    ids = list(store, (StoreTaskFilter){.project = 1, .limit = 3, .offset = 2}, &total);
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.ids[0], 3);
    assert_int_equal(ids.ids[2], 6);
    assert_int_equal(total, 9);
    ids = list(store, (StoreTaskFilter){.project = 1, .after = 8}, NULL);
    assert_int_equal(ids.count, 2);
    store_free(store);
}

static bool count_projects(void *user, const StoreProjectText *text)
{
    assert_non_null(text->path);
    return ++*(unsigned *)user < 2;
}

static void a_project_is_found_by_its_path(void **state)
{
    Room *room = *state;
    Err err = {0};
    unsigned count = 0;
    StoreProjectText text;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 0);
    Project second = project_sample(2);
    must(store_project_save(store, &second, &err), &err);
    StoreProjectText one = {.id = 1,
                            .path = "/a b/c",
                            .hub = "/hub",
                            .target = "main",
                            .name = "c",
                            .settings_json = "{}",
                            .added_ms = 4};
    must(store_project_text_save(store, &one, &err), &err);
    assert_false(
        store_project_text_save(store, &(StoreProjectText){.id = 2, .path = "/a b/c"}, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    must(store_project_text_save(store, &(StoreProjectText){.id = 2, .path = "/d"}, &err), &err);

    must(store_project_text_find(store, "/a b/c", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 1);
    assert_string_equal(text.hub, "/hub");
    must(store_project_text_find(store, "/A b/c", &room->arena, &text, &err), &err);
    assert_int_equal(text.id, 0);
    one = (StoreProjectText){.id = 1, .target = "next", .added_ms = 4};
    must(store_project_text_save(store, &one, &err), &err);
    must(store_project_text_get(store, 1, &room->arena, &text, &err), &err);
    assert_string_equal(text.path, "/a b/c");
    assert_string_equal(text.target, "next");
    assert_string_equal(text.name, "c");
    assert_string_equal(text.settings_json, "{}");
    assert_int_equal(text.added_ms, 4);
    assert_false(store_project_text_get(store, 3, &room->arena, &text, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    must(store_project_text_list(store, count_projects, &count, &err), &err);
    assert_int_equal(count, 2);
    store_free(store);
}

static bool check_run(void *user, const Run *run, const StoreRunText *text)
{
    unsigned *count = user;
    ++*count;
    assert_int_equal(run->id, *count);
    assert_int_equal(text->run, *count);
    assert_string_equal(text->token, *count == 1 ? "secret" : "");
    Run want = run_sample(run->id, 1, 1);
    assert_run(run, &want);
    return true;
}

static void run_texts_are_changed_one_by_one(void **state)
{
    Room *room = *state;
    Err err = {0};
    unsigned count = 0;
    StoreRunText text;
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    for (RunId id = 1; id <= 2; id++) {
        Run run = run_sample(id, 1, 1);
        must(store_run_save(store, &run, &err), &err);
    }
    StoreRunText one = {.run = 1,
                        .workspace_path = "/w",
                        .workspace_kind = "overlay",
                        .branch = "b",
                        .agent = "pi",
                        .tag = "tag",
                        .token = "secret",
                        .mark = "mark",
                        .session = "session",
                        .says = "hello",
                        .says_kind = 3};
    must(store_run_text_save(store, &one, &err), &err);
    must(store_run_text_save(store, &(StoreRunText){.run = 1, .branch = "c"}, &err), &err);
    must(store_run_text_get(store, 1, &room->arena, &text, &err), &err);
    assert_string_equal(text.workspace_path, "/w");
    assert_string_equal(text.workspace_kind, "overlay");
    assert_string_equal(text.branch, "c");
    assert_string_equal(text.agent, "pi");
    assert_string_equal(text.tag, "tag");
    assert_string_equal(text.token, "secret");
    assert_string_equal(text.mark, "mark");
    assert_string_equal(text.session, "session");
    assert_string_equal(text.says, "hello");
    assert_int_equal(text.says_kind, 3);
    StoreRunText change = {.run = 1, .says = "", .session = ""};
    must(store_run_text_save(store, &change, &err), &err);
    must(store_run_text_get(store, 1, &room->arena, &text, &err), &err);
    assert_string_equal(text.session, "");
    assert_string_equal(text.says, "");
    assert_int_equal(text.says_kind, 0);
    assert_false(store_run_text_get(store, 2, &room->arena, &text, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    must(store_run_list(store, 1, check_run, &count, &err), &err);
    assert_int_equal(count, 2);
    store_free(store);
}

static void hostile_texts_come_back_byte_for_byte(void **state)
{
    Room *room = *state;
    Err err = {0};
    char *big = mem_alloc((1 << 20) + 1);
    memset(big, '\'', 1 << 20);
    const char *texts[] = {
        "",
        "'; DROP TABLE task; --",
        "\"quotes\" `and` [brackets] \\ %s %n ?1 :a @b $c",
        "\xff\xfe\x80 broken \xc3( \xed\xa0\x80 \xf8\x88\x80\x80\x80",
        "line\nline\r\n\ttab \x1b[31m\x7f\x01",
        "\xe2\x80\xae right to left, \xf0\x9f\x98\x80",
        big,
    };
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    for (size_t i = 0; i < COUNT(texts); i++) {
        StoreTaskText text = {
            .id = 1, .project = 1, .title = texts[i], .body = texts[i], .key = texts[i]};
        must(store_task_text_save(store, &text, &err), &err);
        must(store_task_text_get(store, 1, &room->arena, &text, &err), &err);
        assert_string_equal(text.title, texts[i]);
        assert_string_equal(text.body, texts[i]);
        StoreTaskText found;
        must(store_task_text_find(store, 1, texts[i], &room->arena, &found, &err), &err);
        assert_int_equal(found.id, texts[i][0] ? 1 : 0);
        assert_int_equal(list(store, (StoreTaskFilter){.text = texts[i]}, NULL).count, 1);
        const char *value = NULL;
        must(store_meta_set(store, texts[i], texts[i], &err), &err);
        must(store_meta_find(store, texts[i], &room->arena, &value, &err), &err);
        assert_string_equal(value, texts[i]);
    }
    must(store_check(store, &err), &err);
    store_free(store);
    free(big);
}

static void a_text_over_the_limit_is_refused_and_changes_nothing(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t last = -1;
    StoreTaskText text;
    size_t length = STORE_TEXT_MAX + 1;
    char *huge = mem_alloc(length + 1);
    memset(huge, 'x', length);
    Store *store = store_must_open(room->path, STORE_CREATE);
    store_fill(store, 1);
    must(store_begin(store, &err), &err);
    assert_false(store_event_put(store, &(StoreEvent){.data = huge}, NULL, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    assert_false(store_task_text_save(store, &(StoreTaskText){.id = 1, .body = huge}, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    huge[length - 100] = '\0'; /* fits alone, but not with the rest of its row */
    assert_false(store_meta_set(store,
                                "some key that is longer than a hundred bytes, one hundred "
                                "bytes and something more, so that the row is too long",
                                huge, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    must(store_event_put(store, &(StoreEvent){.data = "{}"}, NULL, &err), &err);
    must(store_commit(store, &err), &err);
    must(store_event_last(store, &last, &err), &err);
    assert_int_equal(last, 1);
    must(store_task_text_get(store, 1, &room->arena, &text, &err), &err);
    assert_string_equal(text.body, "");
    assert_string_equal(text.title, "a title");
    store_free(store);
    free(huge);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_task_text_comes_back_and_null_keeps_what_is_stored),
        ROOM(a_key_is_unique_among_tasks_that_are_not_deleted),
        ROOM(tasks_are_listed_by_project_state_text_and_page),
        ROOM(a_project_is_found_by_its_path),
        ROOM(run_texts_are_changed_one_by_one),
        ROOM(hostile_texts_come_back_byte_for_byte),
        ROOM(a_text_over_the_limit_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
