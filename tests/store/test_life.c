/* What happens in a run's life: turns, gates, landings, notices, usage, discoveries, facts. */
#include "tests/store/support.h"

static bool count_turn(void *user, const StoreTurn *turn)
{
    unsigned *count = user;
    ++*count;
    assert_int_equal(turn->epoch * 10 + turn->turn, *count == 1 ? 11 : *count == 2 ? 12 : 21);
    return true;
}

static void a_turn_starts_once_is_kept_and_ends(void **state)
{
    Room *room = *state;
    Err err = {0};
    unsigned count = 0;
    StoreTurn got;
    Store *store = store_with_runs(room->path);
    StoreTurn turn = {.run = 1,
                      .epoch = 1,
                      .turn = 1,
                      .started_ms = 5,
                      .prompt_hash = "p",
                      .agent = "pi",
                      .phase = "check",
                      .checkpoint = "post-plan",
                      .pid = 42,
                      .start_ticks = 43,
                      .boot_id = "boot",
                      .ended_ms = 6,
                      .exit_code = 7,
                      .killed_by = 9,
                      .signal = 2,
                      .payload = "why",
                      .commit = "abc",
                      .output_bytes = 1LL << 40};
    assert_false(store_turn_keeper(store, &turn, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(store_turn_end(store, &turn, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(store_turn_get(store, 1, 1, 1, &room->arena, &got, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);

    must(store_turn_start(store, &turn, &err), &err);
    must(store_turn_get(store, 1, 1, 1, &room->arena, &got, &err), &err);
    assert_int_equal(got.pid, 0);
    assert_int_equal(got.ended_ms, 0);
    assert_int_equal(got.exit_code, -1);
    must(store_turn_keeper(store, &turn, &err), &err);
    must(store_turn_end(store, &turn, &err), &err);
    turn.started_ms = 100;
    turn.phase = "another";
    must(store_turn_start(store, &turn, &err), &err);

    must(store_turn_get(store, 1, 1, 1, &room->arena, &got, &err), &err);
    assert_int_equal(got.started_ms, 5);
    assert_string_equal(got.prompt_hash, "p");
    assert_string_equal(got.agent, "pi");
    assert_string_equal(got.phase, "check");
    assert_string_equal(got.checkpoint, "post-plan");
    assert_int_equal(got.pid, 42);
    assert_int_equal(got.start_ticks, 43);
    assert_string_equal(got.boot_id, "boot");
    assert_int_equal(got.ended_ms, 6);
    assert_int_equal(got.exit_code, 7);
    assert_int_equal(got.killed_by, 9);
    assert_int_equal(got.signal, 2);
    assert_string_equal(got.payload, "why");
    assert_string_equal(got.commit, "abc");
    assert_int_equal(got.output_bytes, 1LL << 40);

    must(store_turn_start(store, &(StoreTurn){.run = 1, .epoch = 2, .turn = 1}, &err), &err);
    must(store_turn_start(store, &(StoreTurn){.run = 1, .epoch = 1, .turn = 2}, &err), &err);
    must(store_turn_start(store, &(StoreTurn){.run = 2, .epoch = 1, .turn = 1}, &err), &err);
    must(store_turn_list(store, 1, count_turn, &count, &err), &err);
    assert_int_equal(count, 3);
    store_free(store);
}

typedef struct Gates {
    char names[256];
    StoreGateResult last;
    char output[STORE_OUTPUT_MAX];
} Gates;

static bool take_gate(void *user, const StoreGateResult *result)
{
    Gates *gates = user;
    size_t used = strlen(gates->names);
    snprintf(gates->names + used, sizeof gates->names - used, "%s:%s;", result->stage,
             result->name);
    gates->last = *result;
    memcpy(gates->output, result->output, result->output_length);
    return true;
}

static void gate_results_keep_order_and_the_tail_of_the_output(void **state)
{
    Room *room = *state;
    Err err = {0};
    Gates gates = {0};
    char output[STORE_OUTPUT_MAX + 10];
    Store *store = store_with_runs(room->path);
    StoreGateResult result = {.run = 1, .epoch = 1, .turn = 1, .stage = "merge", .name = "m"};
    must(store_gate_put(store, &result, &err), &err);
    result = (StoreGateResult){.run = 1, .epoch = 1, .turn = 1, .stage = "gate", .position = 1};
    result.name = "old";
    must(store_gate_put(store, &result, &err), &err);
    memset(output, 0, sizeof output);
    output[9] = 'x';
    output[10] = 'a';
    output[sizeof output - 1] = '\xff';
    result = (StoreGateResult){.run = 1,
                               .epoch = 1,
                               .turn = 1,
                               .stage = "gate",
                               .position = 1,
                               .name = "two",
                               .command = "make test",
                               .is_required = true,
                               .timed_out = true,
                               .exit_code = -1,
                               .started_ms = 2,
                               .took_ms = 3,
                               .limit_s = 4,
                               .output = output,
                               .output_length = sizeof output};
    must(store_gate_put(store, &result, &err), &err);
    must(store_gate_list(store, 1, take_gate, &gates, &err), &err);
    assert_string_equal(gates.names, "gate:two;merge:m;");
    assert_int_equal(gates.last.output_length, 0);

    result.epoch = 2;
    must(store_gate_put(store, &result, &err), &err);
    must(store_gate_list(store, 1, take_gate, &gates, &err), &err);
    assert_int_equal(gates.last.epoch, 2);
    assert_true(gates.last.is_required && gates.last.timed_out);
    assert_int_equal(gates.last.exit_code, -1);
    assert_int_equal(gates.last.started_ms, 2);
    assert_int_equal(gates.last.took_ms, 3);
    assert_int_equal(gates.last.limit_s, 4);
    assert_int_equal(gates.last.output_length, STORE_OUTPUT_MAX);
    assert_memory_equal(gates.output, output + 10, STORE_OUTPUT_MAX);
    result.stage = "elsewhere";
    assert_false(store_gate_put(store, &result, &err));
    assert_int_equal(err.kind, ERR_STORE);
    store_free(store);
}

typedef struct Landings {
    int64_t tasks[8];
    unsigned count;
    StoreLanding last;
    char by[32];
} Landings;

static bool take_landing(void *user, const StoreLanding *landing)
{
    Landings *landings = user;
    landings->tasks[landings->count++] = landing->task;
    landings->last = *landing;
    snprintf(landings->by, sizeof landings->by, "%s %s %s %s", landing->commit, landing->old_tip,
             landing->new_tip, landing->undone_by);
    return true;
}

static void a_landing_is_kept_once_and_can_be_undone(void **state)
{
    Room *room = *state;
    Err err = {0};
    Landings landings = {0};
    Store *store = store_with_runs(room->path);
    StoreLanding landing = {
        .task = 1, .run = 1, .commit = "c", .old_tip = "o", .new_tip = "n", .at_ms = 5};
    must(store_landing_put(store, &landing, &err), &err);
    landing.at_ms = 6;
    must(store_landing_put(store, &landing, &err), &err);
    landing.task = landing.run = 2;
    must(store_landing_put(store, &landing, &err), &err);

    must(store_landing_list(store, 1, 0, take_landing, &landings, &err), &err);
    assert_int_equal(landings.count, 2);
    assert_int_equal(landings.tasks[0], 2);
    landings.count = 0;
    must(store_landing_list(store, 1, 1, take_landing, &landings, &err), &err);
    assert_int_equal(landings.count, 1);
    landings.count = 0;
    must(store_landing_list(store, 2, 0, take_landing, &landings, &err), &err);
    assert_int_equal(landings.count, 0);

    must(store_landing_undo(store, 1, "r", 9, &err), &err);
    assert_false(store_landing_undo(store, 1, "r", 9, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    must(store_landing_list_task(store, 1, take_landing, &landings, &err), &err);
    assert_int_equal(landings.count, 1);
    assert_int_equal(landings.last.at_ms, 5);
    assert_int_equal(landings.last.undone_ms, 9);
    assert_string_equal(landings.by, "c o n r");
    store_free(store);
}

typedef struct Notices {
    unsigned count;
    int64_t ids[8];
    char last[64];
    StoreNotice row;
} Notices;

static bool take_notice(void *user, const StoreNotice *notice)
{
    Notices *notices = user;
    notices->ids[notices->count++] = notice->id;
    notices->row = *notice;
    snprintf(notices->last, sizeof notices->last, "%s:%s:%s", notice->kind, notice->text,
             notice->answer);
    return true;
}

static Notices open_notices(Store *store)
{
    Err err = {0};
    Notices notices = {0};
    must(store_notice_list_open(store, 1, take_notice, &notices, &err), &err);
    return notices;
}

static void one_notice_is_open_for_each_task_and_kind(void **state)
{
    Room *room = *state;
    Err err = {0};
    int64_t first = 0, again = 0, other = 0;
    Store *store = store_with_runs(room->path);
    StoreNotice notice = {
        .project = 1, .task = 1, .run = 1, .kind = "question", .text = "a?", .at_ms = 5};
    must(store_notice_put(store, &notice, &first, &err), &err);
    notice.text = "b?";
    notice.at_ms = 6;
    must(store_notice_put(store, &notice, &again, &err), &err);
    assert_int_equal(first, again);
    Notices notices = open_notices(store);
    assert_int_equal(notices.count, 1);
    assert_string_equal(notices.last, "question:b?:");
    assert_int_equal(notices.row.at_ms, 6);

    notice.kind = "blocked";
    must(store_notice_put(store, &notice, &other, &err), &err);
    assert_true(other != first);
    notice.task = 0;
    notice.run = 0;
    notice.kind = "disk";
    must(store_notice_put(store, &notice, NULL, &err), &err);
    must(store_notice_put(store, &notice, NULL, &err), &err);
    assert_int_equal(open_notices(store).count, 3);

    must(store_notice_close_task(store, 1, "question", 7, "yes", &err), &err);
    must(store_notice_close_task(store, 1, "question", 8, "no", &err), &err);
    assert_int_equal(open_notices(store).count, 2);
    must(store_notice_close_project(store, 1, "disk", 8, NULL, &err), &err);
    assert_int_equal(open_notices(store).count, 1);
    must(store_notice_close_task(store, 1, NULL, 9, NULL, &err), &err);
    assert_int_equal(open_notices(store).count, 0);

    notice = (StoreNotice){.project = 1, .task = 1, .kind = "question", .text = "c?"};
    must(store_notice_put(store, &notice, &again, &err), &err);
    assert_true(again > other);
    notices = (Notices){0};
    must(store_notice_list_task(store, 1, take_notice, &notices, &err), &err);
    assert_int_equal(notices.count, 3);
    assert_string_equal(notices.last, "question:c?:");
    store_free(store);
}

static void an_answer_is_kept_with_its_notice(void **state)
{
    Room *room = *state;
    Err err = {0};
    Notices notices = {0};
    Store *store = store_with_runs(room->path);
    StoreNotice notice = {.project = 1, .task = 2, .run = 2, .kind = "q", .text = "t"};
    must(store_notice_put(store, &notice, NULL, &err), &err);
    must(store_notice_close_task(store, 2, NULL, 7, "yes", &err), &err);
    must(store_notice_list_task(store, 2, take_notice, &notices, &err), &err);
    assert_string_equal(notices.last, "q:t:yes");
    assert_int_equal(notices.row.closed_ms, 7);
    assert_int_equal(notices.row.run, 2);
    store_free(store);
}

static void usage_is_summed_by_task_and_project(void **state)
{
    Room *room = *state;
    Err err = {0};
    StoreUsageSum sum = {.rows = 9};
    Store *store = store_with_runs(room->path);
    must(store_usage_sum_project(store, 1, &sum, &err), &err);
    assert_int_equal(sum.rows + sum.input + sum.cost_micros, 0);
    for (RunId run = 1; run <= 2; run++)
        for (uint32_t turn = 1; turn <= 2; turn++) {
            StoreUsage usage = {run, turn, "pi", "m", 10 * run, 2, 3, 1LL << 33, 5};
            must(store_usage_put(store, &usage, &err), &err);
        }
    must(store_usage_sum_task(store, 2, &sum, &err), &err);
    assert_int_equal(sum.rows, 2);
    assert_int_equal(sum.input, 40);
    must(store_usage_sum_project(store, 1, &sum, &err), &err);
    assert_int_equal(sum.rows, 4);
    assert_int_equal(sum.input, 60);
    assert_int_equal(sum.output, 8);
    assert_int_equal(sum.cache, 12);
    assert_int_equal(sum.cost_micros, 1LL << 35);
    store_free(store);
}

static bool take_discovery(void *user, const StoreDiscovery *discovery)
{
    char *all = user;
    size_t used = strlen(all);
    snprintf(all + used, 256 - used, "%s%s;", discovery->text, discovery->is_global ? "!" : "");
    return true;
}

static void a_discovery_is_kept_once_per_project(void **state)
{
    Room *room = *state;
    Err err = {0};
    bool is_new = false;
    char all[256] = "";
    Store *store = store_with_runs(room->path);
    StoreDiscovery one = {.project = 1, .task = 1, .text = "Use \xc3\x84 make"};
    must(store_discovery_put(store, &one, &is_new, &err), &err);
    assert_true(is_new);
    one.text = " \t use \xc3\x84 MAKE \n";
    must(store_discovery_put(store, &one, &is_new, &err), &err);
    assert_false(is_new);
    StoreDiscovery two = {.project = 1, .task = 2, .is_global = true, .text = "global"};
    must(store_discovery_put(store, &two, NULL, &err), &err);

    must(store_discovery_list(store, 1, 1, take_discovery, all, &err), &err);
    assert_string_equal(all, "Use \xc3\x84 make;global!;");
    all[0] = '\0';
    must(store_discovery_list(store, 1, 2, take_discovery, all, &err), &err);
    assert_string_equal(all, "global!;");
    one.is_global = true;
    must(store_discovery_put(store, &one, &is_new, &err), &err);
    assert_false(is_new);
    all[0] = '\0';
    must(store_discovery_list(store, 1, 0, take_discovery, all, &err), &err);
    assert_string_equal(all, "Use \xc3\x84 make!;global!;");
    store_free(store);
}

static void a_fact_is_set_and_found(void **state)
{
    Room *room = *state;
    Err err = {0};
    const char *value = "untouched";
    Store *store = store_must_open(room->path, STORE_CREATE);
    must(store_meta_find(store, "k", &room->arena, &value, &err), &err);
    assert_null(value);
    must(store_meta_set(store, "k", "1", &err), &err);
    must(store_meta_set(store, "k", "2", &err), &err);
    must(store_meta_find(store, "k", &room->arena, &value, &err), &err);
    assert_string_equal(value, "2");
    store_free(store);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(a_turn_starts_once_is_kept_and_ends),
        ROOM(gate_results_keep_order_and_the_tail_of_the_output),
        ROOM(a_landing_is_kept_once_and_can_be_undone),
        ROOM(one_notice_is_open_for_each_task_and_kind),
        ROOM(an_answer_is_kept_with_its_notice),
        ROOM(usage_is_summed_by_task_and_project),
        ROOM(a_discovery_is_kept_once_per_project),
        ROOM(a_fact_is_set_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
