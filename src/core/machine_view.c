/* Looking at the machine: counts, explanations, what would come next. Changes nothing. */
#include "core/machine_internal.h"
#include "core/score.h"
#include <stdlib.h>
#include <string.h>

static bool is_dead(const void *user, TaskId id)
{
    const Task *task = task_at(user, id);
    if (!task)
        return false;
    return (1u << task->state) & (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED |
                                  1u << TASK_SKIPPED | 1u << TASK_CANCELLED);
}

Counts machine_counts(const Machine *machine, ProjectId project)
{
    Counts counts = {0};
    const ProjectMind *mind = mind_of(machine, project);
    if (!mind)
        return counts;
    TaskId *roots = mem_alloc((machine->task_count + 1) * sizeof *roots);
    deps_roots(machine->deps, machine->task_count, is_dead, machine, roots);
    for (TaskId i = 1; i <= machine->task_count; i++) {
        const Task *task = &machine->tasks[i];
        if (!task->id || task->project != project)
            continue;
        const Run *run = run_at(machine, task->run);
        counts.by_state[task->state]++;
        counts.asking += task->state == TASK_ACTIVE && run && run->state == RUN_ASKING;
        counts.resting += task_is_resting(machine, task) && !roots[i];
        counts.skipped += task->state == TASK_PENDING && roots[i];
    }
    free(roots);
    counts.ready = (uint32_t)queue_count(mind->ready);
    counts.running = mind->live.count;
    counts.merging = mind->merges.count;
    counts.waiting = mind->waiting.count;
    return counts;
}

bool machine_is_resting(const Machine *machine, TaskId id)
{
    const Task *task = task_at(machine, id);
    return task && task_is_resting(machine, task);
}

TaskId machine_root_cause(const Machine *machine, TaskId id)
{
    const Task *task = task_at(machine, id);
    if (!task || task->state != TASK_PENDING || deps_open(machine->deps, id) == 0)
        return 0;
    TaskId *roots = mem_alloc((machine->task_count + 1) * sizeof *roots);
    deps_roots(machine->deps, machine->task_count, is_dead, machine, roots);
    TaskId root = roots[id];
    free(roots);
    return root;
}

uint32_t machine_dependencies(const Machine *machine, TaskId task, Dependency *out, uint32_t most)
{
    return deps_of(machine->deps, task, out, most);
}

bool machine_would_circle(Machine *machine, TaskId task, TaskId on, TaskId *members, uint32_t most,
                          uint32_t *count)
{
    if (deps_has(machine->deps, task, on))
        return false;
    if (!deps_add(machine->deps, task, on, NEED_DONE, members, most, count))
        return true;
    (void)deps_remove(machine->deps, task, on); /* it was added just now */
    return false;
}

typedef struct Ranked {
    TaskId id;
    int32_t score;
    int64_t created_ms;
} Ranked;

static int by_rank(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

uint32_t machine_ready(const Machine *machine, ProjectId project, int64_t now_ms, TaskId *out,
                       uint32_t most)
{
    const ProjectMind *mind = mind_of(machine, project);
    size_t count = 0, ready = mind ? queue_count(mind->ready) : 0;
    Ranked *ranks = mem_alloc((ready + 1) * sizeof *ranks);
    for (TaskId i = 1; i <= machine->task_count && count < ready; i++) {
        QueueAge age;
        if (queue_age(mind->ready, i, now_ms, &age))
            ranks[count++] =
                (Ranked){i, age.score + score_age_bonus(age.waited_minutes, age.missed_cycles),
                         machine->tasks[i].created_ms};
    }
    qsort(ranks, count, sizeof *ranks, by_rank);
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = ranks[i].id;
    free(ranks);
    return (uint32_t)count;
}

static void explain_open(const Machine *machine, const Task *task, Str *out)
{
    enum { MOST = 32 };
    Dependency list[MOST];
    uint32_t count = MIN(deps_of(machine->deps, task->id, list, MOST), (uint32_t)MOST), shown = 0;
    str_add(out, "waits for");
    for (uint32_t i = 0; i < count; i++) {
        if (deps_reached(machine->deps, list[i].on) > (uint8_t)list[i].need)
            continue;
        const Task *on = task_at(machine, list[i].on);
        str_addf(out, "%s #%u (%s)", shown++ ? "," : "", list[i].on,
                 on ? task_state_word(on->state) : "unknown");
    }
    TaskId root = machine_root_cause(machine, task->id);
    if (root)
        str_addf(out, "; skipped because #%u is %s", root,
                 task_state_word(task_at(machine, root)->state));
}

static void explain_pending(const Machine *machine, const Task *task, int64_t now_ms, Str *out)
{
    const ProjectMind *mind = mind_of(machine, task->project);
    const Task *parent = task_at(machine, task->parent);
    if (deps_open(machine->deps, task->id))
        explain_open(machine, task, out);
    else if (task_is_resting(machine, task))
        str_addf(out, "a person stopped it; `otto run` goes on from its work");
    else if (task->not_before_ms > now_ms)
        str_addf(out, "tried again in %lld s after %u crashes",
                 (long long)((task->not_before_ms - now_ms + 999) / 1000), task->retries);
    else if (parent && parent->state == TASK_BLOCKED)
        str_addf(out, "its parent #%u is blocked", parent->id);
    else if ((task->tags & TAG_LATER) && !task->is_wanted)
        str_addf(out, "tagged `later`: taken only when named (otto run %u)", task->id);
    else if (mind->row.only_wanted && !task->is_wanted && mind->row.autopilot == AUTO_RUNNING)
        str_add(out, "ready, but the autopilot was asked for other tasks");
    else if (mind->row.autopilot == AUTO_IDLE || !machine->is_online)
        str_add(out, "ready; the autopilot is not running (otto run)");
    else if (mind->row.autopilot != AUTO_RUNNING)
        str_add(out, "ready; the autopilot is paused (otto resume)");
    else if (machine->disk_level >= 2)
        str_add(out, "ready; the disk is too full to start anything");
    else
        str_addf(out, "ready; all %u slots are taken, %zu tasks wait", mind->row.limits.slots,
                 queue_count(mind->ready));
}

static void explain_run(const Machine *machine, const Run *run, Str *out)
{
    static const char *const help[] = {
#define X(state, word, slot, effect, text) [state] = text,
        RUN_STATES(X)
#undef X
    };
    const Task *task = task_at(machine, run->task);
    const Workflow *flow = run_workflow(machine, run);
    if (flow_has_states(flow)) {
        str_addf(out, "%s (run %u, turn %u of %u)", help[run->state], run->id,
                 run->turn - run->cut_turns, task_max_turns(machine, task));
    } else {
        const char *checkpoint = run_checkpoint(machine, run);
        str_addf(out, "%s: %s%s%s, status %s, stage %u (run %u, step %u of %u)", help[run->state],
                 run_phase(machine, run)->name, *checkpoint ? " at " : "", checkpoint,
                 machine_status_word(machine, task), run->stage, run->id, run->steps + 1u,
                 mind_of(machine, run->project)->row.limits.max_steps);
    }
    if (run->retry_ms)
        str_add(out, "; the step failed and is tried again shortly");
}

void machine_explain(const Machine *machine, TaskId id, int64_t now_ms, Str *out)
{
    static const char *const help[] = {
#define X(state, word, text) [state] = text,
        TASK_STATES(X)
#undef X
    };
    const Task *task = task_at(machine, id);
    if (!task)
        return;
    const Run *run = run_at(machine, task->run);
    if (task->state == TASK_PENDING)
        explain_pending(machine, task, now_ms, out);
    else if (task->state == TASK_ACTIVE && run)
        explain_run(machine, run, out);
    else
        str_add(out, help[task->state]);
}

/* Wishes that would be refused, with the reason (the workflow's table of commands). */

typedef struct WishCommand {
    EventKind kind;
    const char *command;
} WishCommand;

static const WishCommand commands[] = {
    {EV_STOP, "stop"}, {EV_RETRY, "retry"},   {EV_SKIP, "skip"},         {EV_TASK_EDITED, "edit"},
    {EV_REMOVE, "rm"}, {EV_ANSWER, "answer"}, {EV_ROLLBACK, "rollback"}, {EV_TASK_WANTED, "run"},
};

static bool check_answer(const Machine *machine, const Task *task, Err *err)
{
    const Run *run = run_at(machine, task->run);
    bool is_asking = run && run->state == RUN_ASKING;
    if (is_asking && run_is_reviewed(machine, run))
        return err_set(err, ERR_CONFLICT, "task #%u waits for a review: approve, redo or reject it",
                       task->id);
    if (task->state == TASK_BLOCKED || is_asking)
        return true;
    return err_set(err, ERR_CONFLICT, "task #%u has asked nothing (it is %s)", task->id,
                   task_state_word(task->state));
}

/* Landed, or about to be what people asked for: only its report is missing. */
static bool is_done_status(const Machine *machine, const Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    bool is_done =
        run->status < flow->status_count && text_equal(flow->statuses[run->status].ends, "done");
    return is_done || run->new_tip[0];
}

/* Its agent is still being ended, but the task is gone for whoever removed it. */
static bool is_leaving(const Machine *machine, const Task *task)
{
    const Run *run = run_at(machine, task->run);
    return run && run->stop == STOP_BY_REMOVE &&
           (task->state == TASK_ACTIVE || task->state == TASK_REVIEW);
}

/* What must not happen to a run at this moment, whatever its task's state. */
static bool check_run(const Machine *machine, const Task *task, Err *err)
{
    const Run *run = run_at(machine, task->run);
    if (task->is_undoing)
        return err_set(err, ERR_CONFLICT, "the landing of task #%u is being undone", task->id);
    if (run && run->state >= RUN_MERGING && run->state <= RUN_LANDING)
        return err_set(err, ERR_CONFLICT, "task #%u is being merged; wait a moment", task->id);
    if (run && run->state == RUN_REPORTING && task->state == TASK_ACTIVE &&
        is_done_status(machine, run))
        return err_set(err, ERR_CONFLICT, "task #%u is done, its report is being written",
                       task->id);
    return true;
}

bool machine_check(const Machine *machine, const Event *event, Err *err)
{
    if (event->kind == EV_REVIEWED || event->kind == EV_COMMAND || event->kind == EV_TARGET_SET ||
        event->kind == EV_REFINED)
        return people_check(machine, event, err);
    if (event->kind == EV_DISCARD) {
        const Task *task = task_at(machine, event->task);
        const Run *run = task ? run_at(machine, task->run) : NULL;
        if (!task)
            return err_set(err, ERR_NOT_FOUND, "there is no task #%u", event->task);
        if (!run || !run->has_workspace || !run->commit[0] || run->state != RUN_ENDED)
            return err_set(err, ERR_CONFLICT, "task #%u has no kept workspace (it is %s)", task->id,
                           task_state_word(task->state));
    }
    if (event->kind == EV_RESTORE) {
        const Task *task = task_at(machine, event->task);
        if (task && task->state != TASK_CANCELLED)
            return err_set(err, ERR_CONFLICT, "task #%u was not removed (it is %s)", task->id,
                           task_state_word(task->state));
    }
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (commands[i].kind != event->kind)
            continue;
        const Task *task = task_at(machine, event->task);
        if (!task)
            return err_set(err, ERR_NOT_FOUND, "there is no task #%u", event->task);
        if (event->kind == EV_ANSWER)
            return check_answer(machine, task, err);
        bool is_gone = event->kind == EV_SKIP && is_leaving(machine, task);
        RouteInput input = {.status = task_state_word(is_gone ? TASK_CANCELLED : task->state),
                            .substate = WF_NONE};
        RouteStep step = {.why = "that cannot be done now"};
        if (!workflow_transition(&workflow_loop, &input, commands[i].command, &step) ||
            !step.is_allowed)
            return err_set(err, ERR_CONFLICT, "task #%u is %s: %s", task->id,
                           task_state_word(task->state), step.why);
        return event->kind == EV_TASK_EDITED || check_run(machine, task, err);
    }
    return true;
}
