/* A naive ready queue: scores by its own sum, best by looking at everybody. */
#include "tests/sim/sim.h"
#include <stdlib.h>

void model_begin(Sim *sim, const Event *event)
{
    for (uint32_t i = 0; i < PROJECTS_MAX; i++) {
        sim->projects[i].claims = sim->projects[i].claimed = 0;
        if (event->kind == EV_ENGINE_STARTED)
            sim->projects[i].cycle = 0; /* queues are made anew */
    }
    for (uint32_t i = 0; i < sim->row_size && sim->has_new; i++)
        sim->model[i].is_new = false;
    sim->has_new = false;
    for (uint32_t i = 0; i < sim->row_size && event->kind == EV_ENGINE_STARTED; i++)
        sim->model[i].cycle = sim->model[i].slack = 0;
}

/* Is it known whether the task counts as starved? */
static bool is_sure(const ModelTask *model, int64_t missed)
{
    return (missed >= 10) == (missed - model->slack >= 10);
}

void model_task(Sim *sim, const Task *old, const Task *now)
{
    ModelTask *model = &sim->model[now->id];
    if (old->ready_ms == now->ready_ms || !now->ready_ms)
        return;
    model->is_new = sim->has_new = true;
    model->slack = 0;
    model->cycle = sim->projects[now->project].cycle;
}

void model_claim(Sim *sim, const Run *run)
{
    ModelProject *project = &sim->projects[run->project];
    project->claims++;
    project->claimed = run->task;
}

int64_t model_score(const Sim *sim, const Task *task, int64_t missed)
{
    const Task *parent = machine_task(sim->machine, task->parent);
    int64_t minutes = sim_now(sim) / 60000 - (task->ready_ms + 59999) / 60000;
    int64_t score = 10 * (int64_t)sim->model[task->id].dependents - 15 * (int64_t)task->retries;
    score += task->tags & TAG_CRITICAL ? 50 : 0;
    score += task->tags & TAG_QUICK_WIN ? 30 : 0;
    score += task->tags & TAG_NEXT ? 200 : 0;
    score -= task->tags & TAG_LATER ? 200 : 0;
    score += parent && 2 * parent->children_done > parent->children ? 20 : 0;
    score += task->priority == PRIORITY_NONE ? 0 : (2 - task->priority) * 100;
    score += MAX(0, MIN(50, minutes)) + (minutes >= 30 ? 50 : 0) + (missed >= 10 ? 100 : 0);
    return score;
}

static bool is_before(const Task *a, int64_t a_score, const Task *b, int64_t b_score)
{
    if (a_score != b_score)
        return a_score > b_score;
    return a->created_ms != b->created_ms ? a->created_ms < b->created_ms : a->id < b->id;
}

/* One slot was given away: nobody who is still ready had more right to it. */
static void claim_test(Sim *sim, ModelProject *project, ProjectId id)
{
    Task best = *machine_task(sim->machine, project->claimed);
    const ModelTask *mine = &sim->model[best.id];
    best.ready_ms = sim->tasks[best.id].ready_ms; /* since when it had waited */
    if (!best.ready_ms || !is_sure(mine, project->cycle - mine->cycle))
        return;
    int64_t score = model_score(sim, &best, project->cycle - mine->cycle);
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        const Task *other = machine_task(sim->machine, i);
        const ModelTask *model = &sim->model[i];
        if (!other || other->project != id || !other->ready_ms || model->is_new ||
            !is_sure(model, project->cycle - model->cycle))
            continue;
        int64_t theirs = model_score(sim, other, project->cycle - model->cycle);
        if (is_before(other, theirs, &best, score))
            sim_fail(sim, "t%u (%lld) was taken, but t%u (%lld) is better", best.id,
                     (long long)score, i, (long long)theirs);
    }
}

/* Tasks that a claim itself made ready came after the slot was given away, the others before. */
static void settle_new(Sim *sim, ModelProject *project, ProjectId id)
{
    for (TaskId i = 1; i <= machine_task_count(sim->machine) && sim->has_new; i++)
        if (sim->model[i].is_new && machine_task(sim->machine, i)->project == id)
            sim->model[i].slack = project->claims;
    project->cycle += project->claims;
}

void model_end(Sim *sim)
{
    for (ProjectId i = 1; i < PROJECTS_MAX; i++) {
        ModelProject *project = &sim->projects[i];
        if (project->claims == 1 && !sim->profile.has_back_jumps)
            claim_test(sim, project, i);
        if (project->claims)
            settle_new(sim, project, i);
    }
}

void model_ready(Sim *sim, ProjectId project)
{
    uint32_t most = machine_task_count(sim->machine) + 1;
    TaskId *ids = mem_alloc(most * sizeof *ids);
    uint32_t count = machine_ready(sim->machine, project, sim_now(sim), ids, most), ready = 0;
    for (TaskId i = 1; i < most; i++) {
        const Task *task = machine_task(sim->machine, i);
        ready += task && task->project == project && task->ready_ms != 0;
    }
    if (ready != count)
        sim_fail(sim, "p%u: %u tasks are ready, the queue holds %u", project, ready, count);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const Task *a = machine_task(sim->machine, ids[i]);
        const Task *b = machine_task(sim->machine, ids[i + 1]);
        const ModelTask *ma = &sim->model[a->id], *mb = &sim->model[b->id];
        int64_t cycle = sim->projects[project].cycle;
        if (is_sure(ma, cycle - ma->cycle) && is_sure(mb, cycle - mb->cycle) &&
            is_before(b, model_score(sim, b, cycle - mb->cycle), a,
                      model_score(sim, a, cycle - ma->cycle)))
            sim_fail(sim, "p%u: t%u stands before t%u in the queue", project, a->id, b->id);
    }
    free(ids);
}
