/* The rig: see test_machine_rig.h. */
#include "tests/core/test_machine_rig.h"
#include "base/arena.h"
#include "core/workflow.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUTES = 64 };
static bool seen[RUN_STATE_COUNT][EVENT_COUNT];
static bool routed[MOST_ROUTES];

bool rig_was_seen(RunState from, EventKind on)
{
    return seen[from][on];
}

static void keep_routes(const char *decision)
{
    assert_true(workflow_loop.route_count <= MOST_ROUTES);
    for (unsigned i = 0; i < workflow_loop.route_count; i++) {
        char word[80];
        (void)snprintf(word, sizeof word, ":%s", workflow_loop.routes[i].id); /* ids are short */
        const char *at = strstr(decision, word);
        routed[i] = routed[i] || (at && (at[strlen(word)] == ' ' || !at[strlen(word)]));
    }
}

bool rig_was_routed(const char *row)
{
    for (unsigned i = 0; i < workflow_loop.route_count; i++)
        if (strcmp(workflow_loop.routes[i].id, row) == 0)
            return routed[i];
    return false;
}

Rig *rig_new(uint32_t slots)
{
    Rig *rig = mem_alloc(sizeof *rig);
    rig->machine = machine_new();
    rig->now_ms = RIG_START_MS;
    assert_true(rig_post(rig, (Event){.kind = EV_ENGINE_STARTED, .a = 1}));
    assert_true(rig_post(rig, (Event){.kind = EV_PROJECT_ADDED, .project = 1}));
    char limits[64];
    (void)snprintf(limits, sizeof limits, "{\"slots\":%u}", slots); /* fits */
    rig_limits(rig, limits);
    return rig;
}

void rig_free(Rig *rig)
{
    if (!rig)
        return;
    machine_free(rig->machine);
    step_done(&rig->step);
    free(rig);
}

void rig_freep(Rig **rig)
{
    rig_free(*rig);
}

bool rig_post(Rig *rig, Event event)
{
    const Run *run = machine_run(rig->machine, event.run);
    RunState from = run ? run->state : RUN_STATE_COUNT;
    event.at_ms = rig->now_ms;
    machine_step(rig->machine, &event, &rig->step);
    if (rig->step.is_accepted && from < RUN_STATE_COUNT)
        seen[from][event.kind] = true;
    keep_routes(str_text(&rig->step.decision));
    return rig->step.is_accepted;
}

bool rig_wish(Rig *rig, EventKind kind, TaskId task, int64_t a)
{
    return rig_post(rig, (Event){.kind = kind, .project = task ? 0 : 1, .task = task, .a = a});
}

bool rig_report(Rig *rig, TaskId task, EventKind kind, int64_t a, int64_t b)
{
    const Run *run = rig_run_of(rig, task);
    return rig_post(rig, (Event){.kind = kind,
                                 .project = 1,
                                 .task = task,
                                 .run = run->id,
                                 .epoch = run->epoch,
                                 .turn = run->turn,
                                 .a = a,
                                 .b = b,
                                 .ref = "aaaa",
                                 .ref2 = "bbbb"});
}

bool rig_tick(Rig *rig, int64_t after_ms)
{
    rig->now_ms += after_ms;
    return rig_post(rig, (Event){.kind = EV_TICK});
}

void rig_limits(Rig *rig, const char *json)
{
    assert_true(rig_post(rig, (Event){.kind = EV_LIMITS_SET, .project = 1, .text = json}));
}

void rig_reload(Rig *rig, bool is_online)
{
    Machine *old = rig->machine, *new = machine_new();
    machine_load_project(new, machine_project(old, 1));
    for (TaskId i = 1; i <= machine_task_count(old); i++)
        machine_load_task(new, machine_task(old, i));
    for (TaskId i = 1; i <= machine_task_count(old); i++) {
        Dependency list[16];
        uint32_t count = machine_dependencies(old, i, list, COUNT(list));
        for (uint32_t k = 0; k < count; k++)
            machine_load_dependency(new, &list[k]);
    }
    for (RunId i = 1; i <= machine_run_count(old); i++)
        if (machine_run(old, i))
            machine_load_run(new, machine_run(old, i));
    machine_set_run_count(new, machine_run_count(old));
    machine_loaded(new);
    machine_free(old);
    rig->machine = new;
    if (is_online)
        machine_owe_again(new);
    assert_true(rig_post(rig, (Event){.kind = EV_ENGINE_STARTED, .a = is_online}));
}

TaskId rig_task_of(Rig *rig, uint8_t tags, uint8_t priority, const char *limits)
{
    TaskId id = machine_next_task(rig->machine);
    assert_true(rig_post(rig, (Event){.kind = EV_TASK_ADDED,
                                      .project = 1,
                                      .task = id,
                                      .a = tags,
                                      .b = priority,
                                      .text = "a task",
                                      .ref = limits}));
    return id;
}

TaskId rig_task(Rig *rig)
{
    return rig_task_of(rig, 0, PRIORITY_NONE, NULL);
}

bool rig_after(Rig *rig, TaskId task, TaskId on, Need need)
{
    return rig_post(rig, (Event){.kind = EV_DEPENDENCY_ADDED, .task = task, .a = on, .b = need});
}

void rig_run(Rig *rig)
{
    assert_true(rig_wish(rig, EV_AUTOPILOT_STARTED, 0, 0));
}

const Task *rig_see(const Rig *rig, TaskId task)
{
    const Task *row = machine_task(rig->machine, task);
    assert_non_null(row);
    return row;
}

const Run *rig_run_of(const Rig *rig, TaskId task)
{
    const Run *run = machine_run(rig->machine, rig_see(rig, task)->run);
    assert_non_null(run);
    return run;
}

AutoState rig_autopilot(const Rig *rig)
{
    return machine_project(rig->machine, 1)->autopilot;
}

const char *rig_explain(Rig *rig, TaskId task)
{
    str_clear(&rig->step.why);
    machine_explain(rig->machine, task, rig->now_ms, &rig->step.why);
    return str_text(&rig->step.why);
}

void rig_begin(Rig *rig, TaskId task)
{
    assert_true(rig_report(rig, task, EV_WORKSPACE_READY, 0, 0));
    assert_run(rig, task, "working");
}

void rig_end(Rig *rig, TaskId task, SignalType signal)
{
    if (signal)
        assert_true(rig_report(rig, task, EV_SIGNAL, signal, 0));
    rig_exit(rig, task, 0, 0);
}

void rig_exit(Rig *rig, TaskId task, int code, int killed_by)
{
    uint32_t commits = rig_run_of(rig, task)->commits;
    assert_true(rig_report(rig, task, EV_TURN_ENDED, code, killed_by));
    assert_run(rig, task, "saving");
    assert_true(rig_report(rig, task, EV_SNAPSHOT_TAKEN, commits + 1, 0));
}

void rig_gate(Rig *rig, TaskId task, Verdict verdict)
{
    assert_run(rig, task, "verifying");
    assert_true(rig_report(rig, task, EV_GATE_ENDED, verdict, 0));
}

void rig_merge(Rig *rig, TaskId task)
{
    assert_run(rig, task, "merging");
    assert_true(rig_report(rig, task, EV_MERGE_CLEAN, 1, 0));
    assert_run(rig, task, "landing");
}

void rig_land(Rig *rig, TaskId task)
{
    assert_true(rig_report(rig, task, EV_LANDED, 0, 0));
    assert_run(rig, task, "retiring");
    assert_true(rig_report(rig, task, EV_RETIRED, 0, 0));
    assert_run(rig, task, "ended");
    assert_task(rig, task, "done");
}

void rig_finish(Rig *rig, TaskId task)
{
    rig_begin(rig, task);
    rig_end(rig, task, SIGNAL_COMPLETE);
    rig_gate(rig, task, VERDICT_PASS);
    rig_merge(rig, task);
    rig_land(rig, task);
}

uint32_t rig_effects(Rig *rig, EffectKind kind)
{
    uint32_t count, same = 0;
    const Effect *effects = machine_effects(rig->machine, &count);
    for (uint32_t i = 0; i < count; i++)
        same += effects[i].kind == kind;
    return same;
}

void rig_take(Rig *rig)
{
    machine_effects_taken(rig->machine);
}
