/* Invariants over everything, now and then: counted again from the rows, naively. */
#include "tests/sim/sim.h"
#include <stdlib.h>
#include <string.h>

static bool needs_met(const Sim *sim, TaskId task)
{
    for (uint32_t i = 0; i < sim->dep_count; i++)
        if (sim->deps[i].task == task && !check_need(sim, &sim->deps[i]))
            return false;
    return true;
}

/* Stopped by a person, and not started again since. */
static bool is_resting(const Sim *sim, const Task *task)
{
    const Run *run = machine_run(sim->machine, task->run);
    return run && run->state == RUN_PARKED && run->stop == STOP_BY_USER;
}

static bool is_free(const Sim *sim, const Task *task)
{
    const Project *project = machine_project(sim->machine, task->project);
    const Task *parent = machine_task(sim->machine, task->parent);
    return task->state == TASK_PENDING && (task->is_wanted || !project->only_wanted) &&
           (task->is_wanted || !(task->tags & TAG_LATER)) &&
           !(parent && parent->state == TASK_BLOCKED) && !is_resting(sim, task) &&
           needs_met(sim, task->id);
}

static bool is_over(RunState state)
{
    return state == RUN_ENDED || state == RUN_PARKED || state == RUN_RETIRING;
}

static void check_task(Sim *sim, const Task *task)
{
    const Run *run = machine_run(sim->machine, task->run);
    Str why = STR_INIT;
    machine_explain(sim->machine, task->id, sim_now(sim), &why);
    if (why.length == 0)
        sim_fail(sim, "t%u has no explanation", task->id);
    str_done(&why);
    if (!task->not_before_ms && is_free(sim, task) != (task->ready_ms != 0))
        sim_fail(sim, "t%u is %s, but %s ready", task->id, task->ready_ms ? "held" : "free",
                 task->ready_ms ? "counts as" : "is not");
    TaskState left_out = sim->world_tasks[task->id].left_out;
    if (left_out != TASK_PENDING && task->state != left_out &&
        !(task->state == TASK_ACTIVE && run &&
          (run_holds_slot(run->state) || run->state == RUN_RESETTING)))
        sim_fail(sim, "t%u should be %s, but is %s", task->id, task_state_word(left_out),
                 task_state_word(task->state));
    if (task->run && !run)
        sim_fail(sim, "t%u has lost its run", task->id);
    bool is_under_way = task->state == TASK_ACTIVE || task->state == TASK_REVIEW;
    if (is_under_way && (!run || is_over(run->state)))
        sim_fail(sim, "t%u is %s without a run", task->id, task_state_word(task->state));
    if (task->state == TASK_REVIEW && run && run->state != RUN_ASKING)
        sim_fail(sim, "t%u is in review, but r%u is %s", task->id, run->id,
                 run_state_word(run->state));
    if (!is_under_way && run && !is_over(run->state))
        sim_fail(sim, "t%u is %s, but r%u is %s", task->id, task_state_word(task->state), run->id,
                 run_state_word(run->state));
}

static void check_children(Sim *sim)
{
    uint32_t last = machine_task_count(sim->machine);
    uint32_t *count = mem_alloc((last + 1) * sizeof *count);
    uint32_t *done = mem_alloc((last + 1) * sizeof *done);
    for (TaskId i = 1; i <= last; i++) {
        const Task *task = machine_task(sim->machine, i);
        if (machine_task(sim->machine, task->parent)) {
            count[task->parent]++;
            done[task->parent] += task->state == TASK_DONE;
        }
    }
    for (TaskId i = 1; i <= last; i++) {
        const Task *task = machine_task(sim->machine, i);
        if (task->children != count[i] || task->children_done != done[i])
            sim_fail(sim, "t%u counts %u of %u children done, it is %u of %u", i,
                     task->children_done, task->children, done[i], count[i]);
    }
    free(count);
    free(done);
}

static void check_counts(Sim *sim, ProjectId project)
{
    Counts want = {0}, have = machine_counts(sim->machine, project);
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        const Task *task = machine_task(sim->machine, i);
        if (task->project != project)
            continue;
        want.by_state[task->state]++;
        want.ready += task->ready_ms != 0;
    }
    for (RunId i = 1; i <= machine_run_count(sim->machine); i++) {
        const Run *run = machine_run(sim->machine, i);
        if (!run || run->project != project)
            continue;
        if (run->state != RUN_ENDED && run->state != RUN_RETIRING &&
            machine_task(sim->machine, run->task)->run != i)
            sim_fail(sim, "r%u is %s, but its task has a newer run", i, run_state_word(run->state));
        want.running += run_holds_slot(run->state);
        want.merging += run->state >= RUN_QUEUED && run->state <= RUN_LANDING;
        want.asking +=
            run->state == RUN_ASKING && machine_task(sim->machine, run->task)->state == TASK_ACTIVE;
        want.waiting += run->state == RUN_WAITING;
    }
    want.skipped = have.skipped;
    want.resting = have.resting;
    uint64_t parts = have.ready + have.running + have.merging + have.asking + have.waiting +
                     have.skipped + have.resting;
    if (parts > have.by_state[TASK_PENDING] + have.by_state[TASK_ACTIVE])
        sim_fail(sim, "p%u: a task is counted twice", project);
    if (memcmp(&want, &have, sizeof want) != 0)
        sim_fail(sim, "p%u: the counts are wrong", project);
}

/* A pending task is skipped when something dead stands before it, however far. */
static void check_roots(Sim *sim)
{
    enum {
        DEAD = 1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED | 1u << TASK_SKIPPED |
               1u << TASK_CANCELLED
    };
    for (uint32_t i = 0; i < sim->dep_count; i++) {
        const Dependency *dep = &sim->deps[i];
        const Task *task = machine_task(sim->machine, dep->task);
        const Task *on = machine_task(sim->machine, dep->on);
        if (task->state != TASK_PENDING || check_need(sim, dep))
            continue;
        bool is_dead = (1u << on->state & DEAD) != 0;
        TaskId root = machine_root_cause(sim->machine, task->id);
        if (!root && (is_dead || machine_root_cause(sim->machine, on->id)))
            sim_fail(sim, "t%u waits for t%u in vain, but has no root cause", task->id, on->id);
        if (root && !(1u << machine_task(sim->machine, root)->state & DEAD))
            sim_fail(sim, "t%u: its root cause t%u is %s", task->id, root,
                     task_state_word(machine_task(sim->machine, root)->state));
    }
}

void check_full(Sim *sim)
{
    uint32_t last = machine_task_count(sim->machine);
    if (last < sim->task_count)
        sim_fail(sim, "%u tasks became %u", sim->task_count, last);
    for (TaskId i = 1; i <= last && !sim_failed(sim); i++) {
        if (!machine_task(sim->machine, i))
            sim_fail(sim, "t%u is lost", i);
        else
            check_task(sim, machine_task(sim->machine, i));
    }
    if (sim_failed(sim))
        return;
    check_children(sim);
    for (ProjectId i = 1; i <= sim->project_count; i++) {
        if (!machine_project(sim->machine, i)) {
            sim_fail(sim, "p%u is lost", i);
            return;
        }
        check_counts(sim, i);
        model_ready(sim, i);
    }
    if (sim_chance(sim, 100))
        check_roots(sim);
}

void check_saved(Sim *sim)
{
    for (ProjectId i = 1; i <= sim->project_count; i++) {
        Project row = *machine_project(sim->machine, i);
        row.slots_used = 0;
        if (memcmp(&row, &sim->saved_projects[i], sizeof row) != 0)
            sim_fail(sim, "p%u changed without being marked", i);
    }
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        Task row = *machine_task(sim->machine, i);
        row.because = row.children = row.children_done = 0;
        if (memcmp(&row, &sim->saved_tasks[i], sizeof row) != 0)
            sim_fail(sim, "t%u changed without being marked", i);
    }
    for (RunId i = 1; i <= machine_run_count(sim->machine); i++) {
        const Run *row = machine_run(sim->machine, i);
        if (row && memcmp(row, &sim->saved_runs[i], sizeof *row) != 0)
            sim_fail(sim, "r%u changed without being marked", i);
        if (!row && sim->saved_runs[i].state != RUN_ENDED)
            sim_fail(sim, "r%u was forgotten, but is %s", i,
                     run_state_word(sim->saved_runs[i].state));
    }
}

static bool may_rest(const Sim *sim, const Task *task)
{
    switch (task->state) {
    case TASK_DONE:
    case TASK_SKIPPED:
    case TASK_CANCELLED:
        return true;
    case TASK_PENDING:
        return machine_root_cause(sim->machine, task->id) ||
               ((task->tags & TAG_LATER) && !task->is_wanted);
    case TASK_ACTIVE:
    case TASK_REVIEW:
    case TASK_BLOCKED:
    case TASK_FAILED:
    case TASK_TIMEOUT:
    case TASK_STATE_COUNT:
        break;
    }
    return false;
}

/* Proven and waiting to merge behind a task that a person has left out. */
static bool waits_to_merge(const Sim *sim, const Task *task)
{
    const Run *run = machine_run(sim->machine, task->run);
    if (task->state != TASK_ACTIVE || !run || run->state != RUN_QUEUED)
        return false;
    for (uint32_t i = 0; i < sim->dep_count; i++)
        if (sim->deps[i].task == task->id &&
            machine_task(sim->machine, sim->deps[i].on)->state != TASK_DONE)
            return true;
    return false;
}

/* Waits for a task of the kind above, or for one that waits for such a task. */
static bool waits_for_other(const Sim *sim, const Task *task)
{
    for (uint32_t i = 0; i < sim->dep_count; i++) {
        const Task *on = machine_task(sim->machine, sim->deps[i].on);
        if (sim->deps[i].task == task->id && task->state == TASK_PENDING &&
            !check_need(sim, &sim->deps[i]) &&
            (on->state == TASK_PENDING || waits_to_merge(sim, on)))
            return true;
    }
    return false;
}

void check_end(Sim *sim)
{
    check_full(sim);
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        const Task *task = machine_task(sim->machine, i);
        bool is_stopped = task->state == TASK_PENDING && is_resting(sim, task);
        if (!may_rest(sim, task) && !waits_to_merge(sim, task) && !waits_for_other(sim, task) &&
            !is_stopped)
            sim_fail(sim, "everything is over, but t%u is %s", i, task_state_word(task->state));
        if (task->state == TASK_DONE && sim->world_tasks[i].accepted > sim->world_tasks[i].landed)
            sim_fail(sim, "t%u is done, but the target does not hold its work", i);
    }
    for (RunId i = 1; i <= machine_run_count(sim->machine); i++) {
        const Run *run = machine_run(sim->machine, i);
        if (run && run->state != RUN_ENDED && run->state != RUN_PARKED && run->state != RUN_QUEUED)
            sim_fail(sim, "everything is over, but r%u is %s", i, run_state_word(run->state));
    }
    for (ProjectId i = 1; i <= sim->project_count; i++)
        if (machine_project(sim->machine, i)->autopilot != AUTO_IDLE)
            sim_fail(sim, "everything is over, but the autopilot of p%u is %s", i,
                     auto_state_word(machine_project(sim->machine, i)->autopilot));
}
