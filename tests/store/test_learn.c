/* Profiles of task types, and experiences. */
#include "tests/store/support.h"

static Store *two_projects(Room *room)
{
    Err err = {0};
    Store *store = store_with_runs(room->path);
    Project second = project_sample(2);
    must(store_project_save(store, &second, &err), &err);
    return store;
}

static bool take_profile(void *user, const StoreProfile *profile)
{
    text_addf(user, "%u.%s:%s:%s:%d;", profile->project, profile->type, profile->settings,
              profile->observed, (int)profile->updated_ms);
    return true;
}

static void a_profile_is_saved_by_type_and_null_keeps(void **state)
{
    Room *room = *state;
    Err err = {0};
    char all[256] = "";
    StoreProfile got = {.updated_ms = 9};
    Store *store = two_projects(room);
    must(store_profile_find(store, 1, "docs", &room->arena, &got, &err), &err);
    assert_int_equal(got.updated_ms, 0);
    assert_string_equal(got.settings, "");
    assert_string_equal(got.observed, "");

    must(store_profile_save(store, &(StoreProfile){1, "software", "s", NULL, 1}, &err), &err);
    must(store_profile_save(store, &(StoreProfile){1, "docs", "a", "b", 2}, &err), &err);
    must(store_profile_save(store, &(StoreProfile){2, "docs", "x", "y", 3}, &err), &err);
    must(store_profile_save(store, &(StoreProfile){1, "docs", NULL, "c", 4}, &err), &err);
    must(store_profile_find(store, 1, "docs", &room->arena, &got, &err), &err);
    assert_int_equal(got.project, 1);
    assert_string_equal(got.type, "docs");
    assert_string_equal(got.settings, "a");
    assert_string_equal(got.observed, "c");
    assert_int_equal(got.updated_ms, 4);
    must(store_profile_save(store, &(StoreProfile){1, "docs", "", NULL, 5}, &err), &err);
    must(store_profile_list(store, 1, take_profile, all, &err), &err);
    assert_string_equal(all, "1.docs::c:5;1.software:s::1;");
    must(store_profile_find(store, 1, "Docs", &room->arena, &got, &err), &err);
    assert_int_equal(got.updated_ms, 0);
    must_fail(store_profile_save(store, &(StoreProfile){9, "docs", "", "", 1}, &err), &err,
              ERR_STORE);
    store_free(store);
}

static bool take(void *user, const StoreExperience *experience)
{
    text_addf(user, "%u.%s.%s:%s:%s:%d;", experience->task, experience->type, experience->topic,
              experience->text, experience->quality, (int)experience->at_ms);
    return true;
}

static bool take_two(void *user, const StoreExperience *experience)
{
    take(user, experience);
    return strchr(user, ';') == strrchr(user, ';');
}

static void put(Store *store, ProjectId project, TaskId task, const char *type, const char *topic,
                const char *text, int64_t at_ms)
{
    Err err = {0};
    StoreExperience experience = {.project = project,
                                  .task = task,
                                  .type = type,
                                  .topic = topic,
                                  .text = text,
                                  .quality = "provisional",
                                  .at_ms = at_ms};
    must(store_experience_put(store, &experience, &err), &err);
}

static void assert_list(Store *store, ProjectId project, const char *type, uint32_t limit,
                        const char *want)
{
    Err err = {0};
    char all[256] = "";
    must(store_experience_list(store, project, type, limit, take, all, &err), &err);
    assert_string_equal(all, want);
}

static void experiences_are_listed_newest_first(void **state)
{
    Room *room = *state;
    Err err = {0};
    char all[256] = "";
    Store *store = two_projects(room);
    put(store, 1, 1, "docs", "t", "a", 5);
    put(store, 1, 1, "docs", "u", "b", 7);
    put(store, 1, 2, "software", "t", "c", 6);
    put(store, 1, 2, "docs", "t", "d", 7); /* in the same moment: the later one first */
    put(store, 2, 2, "docs", "t", "e", 9);
    assert_list(store, 1, NULL, 0,
                "2.docs.t:d:provisional:7;1.docs.u:b:provisional:7;"
                "2.software.t:c:provisional:6;1.docs.t:a:provisional:5;");
    assert_list(store, 1, "docs", 2, "2.docs.t:d:provisional:7;1.docs.u:b:provisional:7;");
    assert_list(store, 1, "software", 0, "2.software.t:c:provisional:6;");
    assert_list(store, 1, "", 0, "");
    assert_list(store, 3, NULL, 0, "");
    must(store_experience_list(store, 1, NULL, 0, take_two, all, &err), &err);
    assert_string_equal(all, "2.docs.t:d:provisional:7;1.docs.u:b:provisional:7;");
    store_free(store);
}

static void the_same_topic_is_overwritten_and_becomes_new(void **state)
{
    Room *room = *state;
    Store *store = two_projects(room);
    put(store, 1, 1, "docs", "t", "a", 5);
    put(store, 1, 1, "docs", "u", "b", 6);
    put(store, 1, 1, "docs", "t", "better", 7);
    assert_list(store, 1, NULL, 0, "1.docs.t:better:provisional:7;1.docs.u:b:provisional:6;");
    put(store, 1, 2, "docs", "t", "of another task", 8);
    put(store, 1, 1, "software", "t", "of another type", 9);
    assert_list(store, 1, "docs", 0,
                "2.docs.t:of another task:provisional:8;1.docs.t:better:provisional:7;"
                "1.docs.u:b:provisional:6;");
    store_free(store);
}

static void a_task_s_experiences_are_judged_together(void **state)
{
    Room *room = *state;
    Err err = {0};
    Store *store = two_projects(room);
    put(store, 1, 1, "docs", "t", "a", 1);
    put(store, 1, 1, "software", "t", "b", 2);
    put(store, 1, 2, "docs", "t", "c", 3);
    must(store_experience_judge(store, 1, "verified", &err), &err);
    must(store_experience_judge(store, 2, "invalidated", &err), &err);
    must(store_experience_judge(store, 9, "verified", &err), &err); /* nothing learnt: fine */
    assert_list(store, 1, NULL, 0,
                "2.docs.t:c:invalidated:3;1.software.t:b:verified:2;1.docs.t:a:verified:1;");
    StoreExperience nowhere = {.project = 9, .task = 1};
    must_fail(store_experience_put(store, &nowhere, &err), &err, ERR_STORE);
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_profile_is_saved_by_type_and_null_keeps),
        ROOM(experiences_are_listed_newest_first),
        ROOM(the_same_topic_is_overwritten_and_becomes_new),
        ROOM(a_task_s_experiences_are_judged_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
