#include "tests/store/support.h"
#include <sys/wait.h>
#include <unistd.h>

int room_setup(void **state)
{
    Room *room = mem_alloc(sizeof *room);
    snprintf(room->folder, sizeof room->folder, "/tmp/otto-store-XXXXXX");
    assert_non_null(mkdtemp(room->folder));
    snprintf(room->path, sizeof room->path, "%s/otto.db", room->folder);
    *state = room;
    return 0;
}

int room_teardown(void **state)
{
    Room *room = *state;
    Err err = {0};
    must(folder_remove(room->folder, &err), &err);
    arena_done(&room->arena);
    free(room);
    return 0;
}

void must(bool is_done, const Err *err)
{
    if (!is_done)
        fail_msg("%s: %s", err_kind_name(err->kind), err->text);
}

Store *store_must_open(const char *path, unsigned flags)
{
    Err err = {0};
    Store *store = store_open(path, flags, &err);
    must(store, &err);
    return store;
}

Project project_sample(ProjectId id)
{
    return (Project){
        .id = id,
        .autopilot = AUTO_PAUSING,
        .only_wanted = true,
        .is_offline = true,
        .failures = 3,
        .pause_by_ms = 1700000000001,
        .limits = {.slots = 4,
                   .max_turns = 50,
                   .max_retries = 5,
                   .max_conflict_tries = 6,
                   .pause_after = 7,
                   .stuck_turns = 8,
                   .timeout_ms = 3600000,
                   .pause_wait_ms = 120000,
                   .max_steps = 9,
                   .workflow = 16,
                   .auto_confirm = true,
                   .pause_on_stuck = true,
                   .has_workspace = true},
    };
}

Task task_sample(TaskId id, ProjectId project)
{
    return (Task){
        .id = id,
        .project = project,
        .state = TASK_REVIEW,
        .priority = 200,
        .tags = TAG_CRITICAL | TAG_LATER,
        .is_wanted = true,
        .is_fresh = true,
        .is_undoing = true,
        .is_filled = true,
        .is_confirmed = true,
        .is_refined = true,
        .workflow = 19,
        .next_phase = 20,
        .retries = 11,
        .attempts = 12,
        .max_turns = 13,
        .turns_used = 14,
        .timeout_ms = 15,
        .created_ms = 1700000000016,
        .ready_ms = 1700000000017,
        .not_before_ms = 1700000000018,
    };
}

Run run_sample(RunId id, TaskId task, ProjectId project)
{
    Run run = {
        .id = id,
        .task = task,
        .project = project,
        .state = RUN_PROVING,
        .epoch = 21,
        .turn = 22,
        .phase = 23,
        .checkpoint = 24,
        .workflow = 250,
        .status = 41,
        .substate = SUB_NEEDS_CHECK,
        .result = 42,
        .gate_limit = 43,
        .asks = 255,
        .is_rolled_back = true,
        .is_review_wanted = true,
        .steps = 45,
        .stage = UINT16_MAX,
        .step_turns = 47,
        .convergence = 8765,
        .converged = -46,
        .gate_tries = 0xfedcba9876543210u, /* more than fits with a sign */
        .signal = 1,
        .stop = STOP_BY_CLOCK,
        .has_workspace = true,
        .is_empty = true,
        .is_lost = true,
        .exit_code = -25,
        .killed_by = 9,
        .tries = 26,
        .retry_ms = 1700000000027,
        .conflict_tries = 28,
        .merged_tries = 38,
        .epoch_turns = 39,
        .cut_turns = 40,
        .quiet_turns = 29,
        .commits = 30,
        .started_ms = 1700000000031,
        .spent_ms = 32,
        .slot_ms = 1700000000033,
        .verified_ms = 1700000000034,
    };
    memset(run.base, 'a', 40);
    memset(run.commit, 'b', HASH_SIZE - 1);
    memset(run.good, 'e', 40);
    memset(run.old_tip, 'c', 64);
    memset(run.new_tip, 'd', 1);
    return run;
}

#define SAME(field) assert_int_equal(a->field, b->field)

void assert_project(const Project *a, const Project *b)
{
    SAME(id);
    SAME(autopilot);
    SAME(only_wanted);
    SAME(is_offline);
    SAME(failures);
    SAME(pause_by_ms);
    SAME(limits.slots);
    SAME(limits.max_turns);
    SAME(limits.max_retries);
    SAME(limits.max_conflict_tries);
    SAME(limits.pause_after);
    SAME(limits.stuck_turns);
    SAME(limits.timeout_ms);
    SAME(limits.pause_wait_ms);
    SAME(limits.max_steps);
    SAME(limits.workflow);
    SAME(limits.auto_confirm);
    SAME(limits.pause_on_stuck);
    SAME(limits.has_workspace);
}

void assert_task(const Task *a, const Task *b)
{
    SAME(id);
    SAME(parent);
    SAME(project);
    SAME(run);
    SAME(state);
    SAME(priority);
    SAME(tags);
    SAME(is_wanted);
    SAME(is_fresh);
    SAME(is_undoing);
    SAME(is_filled);
    SAME(is_confirmed);
    SAME(is_refined);
    SAME(workflow);
    SAME(next_phase);
    SAME(retries);
    SAME(attempts);
    SAME(max_turns);
    SAME(turns_used);
    SAME(timeout_ms);
    SAME(created_ms);
    SAME(ready_ms);
    SAME(not_before_ms);
}

void assert_run(const Run *a, const Run *b)
{
    SAME(id);
    SAME(task);
    SAME(project);
    SAME(state);
    SAME(epoch);
    SAME(turn);
    SAME(phase);
    SAME(checkpoint);
    SAME(workflow);
    SAME(status);
    SAME(substate);
    SAME(result);
    SAME(gate_limit);
    SAME(asks);
    SAME(is_rolled_back);
    SAME(is_review_wanted);
    SAME(steps);
    SAME(stage);
    SAME(step_turns);
    SAME(convergence);
    SAME(converged);
    SAME(gate_tries);
    SAME(signal);
    SAME(stop);
    SAME(has_workspace);
    SAME(is_empty);
    SAME(is_lost);
    SAME(exit_code);
    SAME(killed_by);
    SAME(tries);
    SAME(retry_ms);
    SAME(conflict_tries);
    SAME(merged_tries);
    SAME(epoch_turns);
    SAME(cut_turns);
    SAME(quiet_turns);
    SAME(commits);
    SAME(from);
    SAME(started_ms);
    SAME(spent_ms);
    SAME(slot_ms);
    SAME(verified_ms);
    assert_string_equal(a->base, b->base);
    assert_string_equal(a->commit, b->commit);
    assert_string_equal(a->good, b->good);
    assert_string_equal(a->old_tip, b->old_tip);
    assert_string_equal(a->new_tip, b->new_tip);
}

void store_fill(Store *store, TaskId tasks)
{
    Err err = {0};
    Project project = project_sample(1);
    must(store_begin(store, &err), &err);
    must(store_project_save(store, &project, &err), &err);
    for (TaskId id = 1; id <= tasks; id++) {
        Task task = task_sample(id, 1);
        StoreTaskText text = {.id = id, .project = 1, .title = "a title"};
        must(store_task_save(store, &task, &err), &err);
        must(store_task_text_save(store, &text, &err), &err);
    }
    must(store_commit(store, &err), &err);
}

Store *store_with_runs(const char *path)
{
    Err err = {0};
    Store *store = store_must_open(path, STORE_CREATE);
    store_fill(store, 2);
    for (RunId id = 1; id <= 2; id++) {
        Run run = run_sample(id, id, 1);
        must(store_run_save(store, &run, &err), &err);
    }
    return store;
}

void must_fail(bool is_done, const Err *err, ErrKind kind)
{
    assert_false(is_done);
    if (err->kind != kind)
        fail_msg("expected %s, got %s: %s", err_kind_name(kind), err_kind_name(err->kind),
                 err->text);
}

void text_addf(char *all, const char *format, ...)
{
    va_list args;
    size_t used = strlen(all);
    va_start(args, format);
    vsnprintf(all + used, 256 - used, format, args);
    va_end(args);
}

void file_copy(const char *from, const char *to)
{
    Err err = {0};
    size_t length = 0;
    char *bytes = file_read(from, 64 << 20, &length, &err);
    must(bytes, &err);
    must(file_write_plain(to, bytes, length, 0600, &err), &err);
    free(bytes);
}

int child_run(void (*act)(void *user), void *user)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        act(user);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}
