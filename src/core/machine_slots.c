/* Claiming, the autopilot and its deadlines (D-1..D-14, D-101..D-121). */
#include "core/machine_internal.h"
#include "core/score.h"

uint32_t task_max_turns(const Machine *machine, const Task *task)
{
    const Limits *limits = &mind_of(machine, task->project)->row.limits;
    const Workflow *flow = machine_task_workflow(machine, task);
    return task->max_turns ? task->max_turns
                           : (uint32_t)workflow_limit_or(flow, "turns", limits->max_turns);
}

int64_t task_timeout(const Machine *machine, const Task *task)
{
    const Limits *limits = &mind_of(machine, task->project)->row.limits;
    const Workflow *flow = machine_task_workflow(machine, task);
    return task->timeout_ms ? task->timeout_ms
                            : workflow_limit_or(flow, "time-ms", limits->timeout_ms);
}

int64_t run_elapsed(const Machine *machine, const Run *run)
{
    return run->spent_ms + (run->slot_ms ? MAX(machine->now_ms - run->slot_ms, 0) : 0);
}

/* A parked run goes on in a new epoch; otherwise the task begins a new run. */
static void claim(Machine *machine, ProjectMind *mind, Task *task, QueueAge age)
{
    Run *run = run_at(machine, task->run);
    bool is_taken_up =
        run && run->state == RUN_PARKED && !task->is_fresh &&
        run_workflow(machine, run) == machine_task_workflow(machine, task); /* or it was changed */
    if (!is_taken_up && run && run->state == RUN_PARKED)
        set_run_state(machine, run, RUN_ENDED); /* nobody takes it up any more */
    if (!is_taken_up)
        run = run_new(machine, task);
    run->epoch++;
    run->epoch_turns = 0;
    run->has_workspace = false;
    run->stop = STOP_NONE;
    run->tries = 0;
    task->is_fresh = false;
    task->not_before_ms = 0;
    ids_remove(&mind->delayed, task->id);
    say_about(machine, task->id, "chosen: best of %zu ready, score %d; run %u%s",
              queue_count(mind->ready) + 1,
              age.score + score_age_bonus(age.waited_minutes, age.missed_cycles), run->id,
              is_taken_up ? " is taken up again" : " begins");
    set_task_state(machine, task, TASK_ACTIVE);
    run_start(machine, run, is_taken_up);
    reach_changed(machine, task);
}

static bool may_start(const Machine *machine, const ProjectMind *mind)
{
    return mind->row.autopilot == AUTO_RUNNING && !mind->row.is_offline && !mind->is_held &&
           machine->disk_level < 2 && mind->live.count < mind->row.limits.slots;
}

static bool is_merging(const Machine *machine, const ProjectMind *mind)
{
    for (uint32_t i = 0; i < mind->merges.count; i++)
        if (run_at(machine, mind->merges.ids[i])->state != RUN_QUEUED)
            return true;
    return false;
}

/* The end test (D-9): nothing ready, nothing running, nothing that will become either by itself.
 * What is queued to merge now waits for a task that is not under way. */
static void end_test(Machine *machine, ProjectMind *mind)
{
    bool is_still = mind->live.count == 0 && mind->reporting == 0 && !is_merging(machine, mind);
    if (mind->row.autopilot == AUTO_PAUSING && is_still) {
        note(machine, "still");
        autopilot_set(machine, mind, AUTO_PAUSED);
    } else if (mind->row.autopilot == AUTO_RUNNING && is_still && mind->waiting.count == 0 &&
               mind->delayed.count == 0 && mind->later.count == 0 &&
               queue_count(mind->ready) == 0) {
        note(machine, "nothing left");
        autopilot_set(machine, mind, AUTO_IDLE);
    } else {
        return;
    }
    emit(machine, FX_AUTOPILOT_ENDED, NULL, NULL, NULL);
    machine->effects[machine->effect_count - 1].project = mind->row.id;
}

enum { WAIT_ALERT_MS = 60 * 60 * 1000 }; /* D-105: queueMaxWaitMinutes */

/* D-105: once an hour, the task that has waited longest is told of, if it waits that long. */
static void wait_alert(Machine *machine, ProjectMind *mind)
{
    const Task *longest = NULL;
    if (!mind->alert_ms || mind->alert_ms > machine->now_ms)
        return;
    mind->alert_ms = 0;
    note(machine, "p%u:waits", mind->row.id);
    for (TaskId i = 1; i <= machine->task_count; i++) {
        const Task *task = &machine->tasks[i];
        if (task->id && task->project == mind->row.id && task->ready_ms &&
            (!longest || task->ready_ms < longest->ready_ms))
            longest = task;
    }
    if (longest && machine->now_ms - longest->ready_ms >= WAIT_ALERT_MS)
        emit(machine, FX_NOTICE, longest, NULL, "waiting");
}

static void set_wait_alert(Machine *machine, ProjectMind *mind)
{
    bool is_waiting = mind->row.autopilot == AUTO_RUNNING && queue_count(mind->ready) > 0;
    if (!is_waiting)
        mind->alert_ms = 0;
    else if (!mind->alert_ms)
        mind->alert_ms = machine->now_ms + WAIT_ALERT_MS;
}

void slots_fill(Machine *machine, ProjectMind *mind)
{
    merge_next(machine, mind);
    while (may_start(machine, mind)) {
        if (mind->waiting.count) {
            run_go(machine, run_at(machine, mind->waiting.ids[0]));
            continue;
        }
        TaskId best = queue_best(mind->ready, machine->now_ms);
        if (!best)
            break;
        QueueAge age = {0};
        (void)queue_age(mind->ready, best, machine->now_ms, &age); /* it is in the queue */
        queue_remove(mind->ready, best);
        queue_cycle(mind->ready);
        claim(machine, mind, task_at(machine, best), age);
        if (run_at(machine, task_at(machine, best)->run)->state == RUN_QUEUED)
            merge_next(machine, mind); /* a person asked for the merge alone */
    }
    set_wait_alert(machine, mind);
    if (!mind->row.is_offline && !mind->is_held)
        end_test(machine, mind);
}

void autopilot_set(Machine *machine, ProjectMind *mind, AutoState state)
{
    if (mind->row.autopilot == state)
        return;
    note(machine, "p%u:%s>%s", mind->row.id, auto_state_word(mind->row.autopilot),
         auto_state_word(state));
    mind->row.autopilot = state;
    if (state != AUTO_PAUSING)
        mind->row.pause_by_ms = 0;
    project_changed(machine, &mind->row);
}

/* D-118..D-121: failures in a row pause the autopilot; any success begins anew. */
void autopilot_count(Machine *machine, ProjectMind *mind, const Task *task)
{
    uint32_t before = mind->row.failures;
    if (task->state == TASK_DONE)
        mind->row.failures = 0;
    else if (task->state == TASK_FAILED)
        mind->row.failures++;
    if (mind->row.failures != before)
        project_changed(machine, &mind->row);
    if (mind->row.failures < mind->row.limits.pause_after || mind->row.limits.pause_after == 0 ||
        mind->row.failures == before || mind->row.autopilot != AUTO_RUNNING)
        return;
    say(machine, "%u failures in a row: paused until a person looks", mind->row.failures);
    emit(machine, FX_NOTICE, task, NULL, "paused");
    autopilot_set(machine, mind, AUTO_PAUSING);
}

static void wake_tasks(Machine *machine, ProjectMind *mind)
{
    for (uint32_t i = mind->delayed.count; i-- > 0;) {
        Task *task = task_at(machine, mind->delayed.ids[i]);
        if (task->state == TASK_PENDING && task->not_before_ms > machine->now_ms)
            continue;
        ids_remove(&mind->delayed, task->id);
        task->not_before_ms = 0;
        note(machine, "t%u:awake", task->id); /* a tick that decides something is recorded */
        task_changed(machine, task);
        task_refresh(machine, task);
    }
}

static void wake_runs(Machine *machine, ProjectMind *mind)
{
    for (uint32_t i = mind->later.count; i-- > 0;) {
        Run *run = run_at(machine, mind->later.ids[i]);
        if (run->retry_ms > machine->now_ms)
            continue;
        run->retry_ms = 0;
        ids_remove(&mind->later, run->id);
        run_changed(machine, run);
        note(machine, "r%u:again", run->id);
        emit(machine, run_owes(run->state), task_at(machine, run->task), run, NULL);
    }
}

void autopilot_tick(Machine *machine, ProjectMind *mind)
{
    wait_alert(machine, mind);
    wake_tasks(machine, mind);
    bool is_late = mind->row.pause_by_ms && mind->row.pause_by_ms <= machine->now_ms;
    if (is_late) {
        mind->row.pause_by_ms = 0;
        note(machine, "p%u:waited", mind->row.id);
        project_changed(machine, &mind->row);
    }
    for (uint32_t i = mind->live.count; i-- > 0;) {
        Run *run = run_at(machine, mind->live.ids[i]);
        if (run->state == RUN_VERIFYING && is_late && !run->stop) {
            run->stop = STOP_BY_PAUSE; /* the engine ends the check */
            run_changed(machine, run);
        }
        if (run->state != RUN_WORKING)
            continue;
        if (run_elapsed(machine, run) >= task_timeout(machine, task_at(machine, run->task)))
            run_stop(machine, run, STOP_BY_CLOCK, false);
        else if (is_late)
            run_stop(machine, run, STOP_BY_PAUSE, false);
    }
    wake_runs(machine, mind); /* those that were not just stopped */
}

static int64_t mind_deadline(const Machine *machine, const ProjectMind *mind)
{
    int64_t next = mind->row.pause_by_ms ? mind->row.pause_by_ms : INT64_MAX;
    next = mind->alert_ms ? MIN(next, mind->alert_ms) : next;
    for (uint32_t i = 0; i < mind->delayed.count; i++)
        next = MIN(next, task_at(machine, mind->delayed.ids[i])->not_before_ms);
    for (uint32_t i = 0; i < mind->later.count; i++)
        next = MIN(next, run_at(machine, mind->later.ids[i])->retry_ms);
    for (uint32_t i = 0; i < mind->live.count; i++) {
        const Run *run = run_at(machine, mind->live.ids[i]);
        int64_t limit = task_timeout(machine, task_at(machine, run->task));
        if (run->state == RUN_WORKING)
            next = MIN(next, run->slot_ms + limit - run->spent_ms);
    }
    return next;
}

int64_t machine_deadline(const Machine *machine)
{
    int64_t next = INT64_MAX;
    for (ProjectId i = 1; i <= machine->project_count; i++)
        if (machine->projects[i] && !machine->projects[i]->row.is_offline)
            next = MIN(next, mind_deadline(machine, machine->projects[i]));
    return next;
}
