/* Which tasks could start now, and how they score (D-90..D-106). */
#include "core/machine_internal.h"
#include "core/score.h"
#include <stdlib.h>

/* How far a task has come, as its dependents count it. */
static uint8_t reach_of(const Machine *machine, const Task *task)
{
    if (task->state == TASK_DONE)
        return NEED_DONE + 1;
    const Run *run = run_at(machine, task->run);
    if (task->state == TASK_REVIEW) /* its gate has passed, or a person decides before any gate */
        return run && text_equal(run_checkpoint(machine, run), "review") ? NEED_VERIFIED + 1
                                                                         : NEED_STARTED + 1;
    if (task->state != TASK_ACTIVE)
        return 0;
    bool is_verified = run && run->state >= RUN_QUEUED && run->state <= RUN_LANDING;
    return is_verified ? NEED_VERIFIED + 1 : NEED_STARTED + 1;
}

/* Loading knows no time: what was ready stays so, the rest is looked at by the first step. */
static bool is_delayed(const Machine *machine, const Task *task)
{
    return machine->step ? task->not_before_ms > machine->now_ms
                         : task->not_before_ms && !task->ready_ms;
}

/* A person stopped its agent: the autopilot that runs does not undo that. The next start, a resume
 * or naming the task does (wake_all). */
bool task_is_resting(const Machine *machine, const Task *task)
{
    const Run *run = run_at(machine, task->run);
    return task->state == TASK_PENDING && run && run->state == RUN_PARKED &&
           run->stop == STOP_BY_USER;
}

static bool is_ready(const Machine *machine, const ProjectMind *mind, const Task *task)
{
    const Task *parent = task_at(machine, task->parent);
    if (task->state != TASK_PENDING || is_delayed(machine, task) || task_is_resting(machine, task))
        return false;
    if (mind->row.only_wanted && !task->is_wanted)
        return false;
    if ((task->tags & TAG_LATER) && !task->is_wanted)
        return false; /* D-100: `later` is left out unless it is named */
    if (parent && parent->state == TASK_BLOCKED)
        return false; /* D-98 */
    return deps_open(machine->deps, task->id) == 0;
}

static Score score_of(const Machine *machine, const Task *task)
{
    const Task *parent = task_at(machine, task->parent);
    ScoreInput in = {
        .unblocks = deps_unblocks(machine->deps, task->id),
        .parent_done = parent ? parent->children_done : 0,
        .parent_total = parent ? parent->children : 0,
        .retries = task->retries,
        .tags = task->tags,
        .priority = task->priority,
    };
    return score_static(&in);
}

void task_refresh(Machine *machine, Task *task)
{
    ProjectMind *mind = mind_of(machine, task->project);
    bool is_in = queue_has(mind->ready, task->id);
    if (!is_ready(machine, mind, task)) {
        if (is_in)
            queue_remove(mind->ready, task->id);
        if (task->ready_ms) {
            task->ready_ms = 0;
            task_changed(machine, task);
        }
        return;
    }
    int32_t score = score_of(machine, task).total;
    if (!task->ready_ms) {
        task->ready_ms = machine->now_ms ? machine->now_ms : task->created_ms;
        task_changed(machine, task);
    }
    if (is_in)
        queue_update(mind->ready, task->id, score);
    else
        queue_push(mind->ready, task->id, score, task->created_ms, task->ready_ms);
}

bool machine_score(const Machine *machine, TaskId id, int64_t now_ms, Score *score)
{
    const Task *task = task_at(machine, id);
    const ProjectMind *mind = task ? mind_of(machine, task->project) : NULL;
    QueueAge age;
    if (!mind || !queue_age(mind->ready, id, now_ms, &age))
        return false;
    *score = score_of(machine, task);
    score_age(score, age.waited_minutes, age.missed_cycles);
    return true;
}

static void refresh_id(void *user, TaskId id)
{
    Machine *machine = user;
    Task *task = task_at(machine, id);
    if (task)
        task_refresh(machine, task);
}

static void refresh_children(Machine *machine, const Task *parent)
{
    for (TaskId id = machine->first_child[parent->id]; id; id = machine->next_child[id])
        if (machine->tasks[id].state == TASK_PENDING)
            task_refresh(machine, &machine->tasks[id]);
}

void reach_changed(Machine *machine, Task *task)
{
    deps_reach(machine->deps, task->id, reach_of(machine, task), machine->step ? refresh_id : NULL,
               machine);
    if (!machine->step)
        return; /* loading: project_refresh looks at everything once */
    task_refresh(machine, task);
    refresh_children(machine, task); /* a blocked parent holds them, a freed one lets them go */
    const Task *parent = task_at(machine, task->parent);
    if (parent)
        refresh_children(machine, parent); /* a nearly finished parent raises the rest (D-95) */
}

static int by_id(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void sort_ids(IdList *list)
{
    if (list->count)
        qsort(list->ids, list->count, sizeof *list->ids, by_id);
}

void mind_rebuild(Machine *machine, ProjectMind *mind)
{
    queue_free(mind->ready);
    mind->ready = queue_new();
    sort_ids(&mind->waiting);
    sort_ids(&mind->live);
    sort_ids(&mind->merges);
    sort_ids(&mind->later);
    mind->delayed.count = 0;
    mind->alert_ms = 0;
    project_refresh(machine, mind);
}

void project_refresh(Machine *machine, ProjectMind *mind)
{
    for (TaskId i = 1; i <= machine->task_count; i++) {
        Task *task = &machine->tasks[i];
        if (!task->id || task->project != mind->row.id)
            continue;
        if (task->not_before_ms && task->state == TASK_PENDING &&
            !ids_have(&mind->delayed, task->id))
            ids_add(&mind->delayed, task->id);
        task_refresh(machine, task);
    }
}
