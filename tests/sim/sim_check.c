/* Invariants after every event: looks only at what the step has changed. */
#include "tests/sim/sim.h"

static uint32_t dirty_rows(Sim *sim)
{
    Dirty dirty = machine_dirty(sim->machine);
    return dirty.project_count + dirty.task_count + dirty.run_count;
}

void check_before(Sim *sim, const Event *event, Before *before)
{
    const Run *run = machine_run(sim->machine, event->run);
    *before = (Before){.may_be_accepted = machine_check(sim->machine, event, NULL),
                       .dirty_rows = dirty_rows(sim)};
    if (run) {
        before->copy = *run;
        before->run = &before->copy;
    }
    (void)machine_effects(sim->machine, &before->effects);
    model_begin(sim, event);
}

static bool is_verified(RunState state)
{
    return state >= RUN_QUEUED && state <= RUN_LANDING;
}

bool check_need(const Sim *sim, const Dependency *dependency)
{
    const Task *on = machine_task(sim->machine, dependency->on);
    const Run *run = on ? machine_run(sim->machine, on->run) : NULL;
    if (!on || on->state == TASK_DONE)
        return on != NULL;
    const Workflow *flow = run ? run_workflow(sim->machine, run) : NULL;
    bool is_judged = on->state == TASK_REVIEW && run &&
                     text_equal(flow->checkpoints[run->checkpoint].name, "review");
    switch (dependency->need) {
    case NEED_STARTED:
        return on->state == TASK_ACTIVE || on->state == TASK_REVIEW;
    case NEED_VERIFIED:
        return is_judged || (on->state == TASK_ACTIVE && run && is_verified(run->state));
    case NEED_DONE:
    case NEED_COUNT:
        break;
    }
    return false;
}

/* A run took a slot in a new epoch: was its task free to start? */
static void check_claim(Sim *sim, const Run *run)
{
    const Task *task = machine_task(sim->machine, run->task);
    const Project *project = machine_project(sim->machine, run->project);
    bool is_over = !run_holds_slot(run->state); /* at once: it was the last thing to do */
    if ((project->autopilot != AUTO_RUNNING && !is_over) || project->is_offline)
        sim_fail(sim, "t%u was taken while the autopilot is %s%s", task->id,
                 auto_state_word(project->autopilot), project->is_offline ? " and offline" : "");
    if (project->only_wanted && !task->is_wanted)
        sim_fail(sim, "t%u was taken, but nobody wanted it", task->id);
    if ((task->tags & TAG_LATER) && !task->is_wanted)
        sim_fail(sim, "t%u was taken, but it is for later", task->id);
    for (uint32_t i = 0; i < sim->dep_count; i++)
        if (sim->deps[i].task == task->id && !check_need(sim, &sim->deps[i]))
            sim_fail(sim, "t%u was taken before t%u was %s", task->id, sim->deps[i].on,
                     need_word(sim->deps[i].need));
    model_claim(sim, run);
}

static bool is_merging(RunState state)
{
    return state >= RUN_MERGING && state <= RUN_LANDING;
}

static void check_run(Sim *sim, const Run *now)
{
    Run *old = &sim->runs[now->id];
    ModelProject *project = &sim->projects[now->project];
    const Project *row = machine_project(sim->machine, now->project);
    bool is_known = old->id != 0;
    bool had_slot = is_known && run_holds_slot(old->state), has_slot = run_holds_slot(now->state);
    if (now->state >= RUN_STATE_COUNT)
        sim_fail(sim, "r%u has no legal state", now->id);
    if (now->epoch > old->epoch && sim->event != EV_RESET_DONE)
        check_claim(sim, now);
    if (now->workflow)
        check_flow_run(sim, old, now);
    if (now->epoch < old->epoch || now->turn < old->turn)
        sim_fail(sim, "r%u went back to epoch %u turn %u", now->id, now->epoch, now->turn);
    if (now->turn > old->turn && row->autopilot != AUTO_RUNNING)
        sim_fail(sim, "r%u begins a turn while the autopilot is %s", now->id,
                 auto_state_word(row->autopilot));
    if (is_known && old->state == RUN_QUEUED && now->state == RUN_MERGING &&
        row->autopilot != AUTO_RUNNING)
        sim_fail(sim, "r%u begins to merge while the autopilot is %s", now->id,
                 auto_state_word(row->autopilot));
    project->live += (uint32_t)has_slot - had_slot;
    project->merging += (uint32_t)is_merging(now->state) - (is_known && is_merging(old->state));
    *old = *now;
}

static void check_project(Sim *sim, ProjectId id, uint32_t live_before)
{
    const Project *row = machine_project(sim->machine, id);
    const ModelProject *project = &sim->projects[id];
    if (row->slots_used != project->live)
        sim_fail(sim, "p%u counts %u slots used, but %u runs hold one", id, row->slots_used,
                 project->live);
    if (project->live > live_before && project->live > row->limits.slots)
        sim_fail(sim, "p%u uses %u of %u slots", id, project->live, row->limits.slots);
    if (project->merging > 1)
        sim_fail(sim, "p%u merges %u at once", id, project->merging);
    if (row->autopilot == AUTO_PAUSED && project->live)
        sim_fail(sim, "p%u is paused, but %u agents are at work", id, project->live);
}

static void check_rows(Sim *sim)
{
    Dirty dirty = machine_dirty(sim->machine);
    uint32_t live[PROJECTS_MAX];
    for (uint32_t i = 0; i < PROJECTS_MAX; i++)
        live[i] = sim->projects[i].live;
    for (uint32_t i = 0; i < dirty.task_count; i++)
        model_task(sim, &sim->tasks[dirty.tasks[i]->id], dirty.tasks[i]);
    for (uint32_t i = 0; i < dirty.run_count; i++)
        check_run(sim, dirty.runs[i]);
    for (ProjectId i = 1; i <= sim->project_count; i++)
        check_project(sim, i, live[i]);
    model_end(sim);
    for (uint32_t i = 0; i < dirty.task_count; i++) {
        const Task *task = dirty.tasks[i];
        if (task->state >= TASK_STATE_COUNT)
            sim_fail(sim, "t%u has no legal state", task->id);
        check_flow_task(sim, &sim->tasks[task->id], task);
        sim->tasks[task->id] = *task;
    }
    sim->task_count = machine_task_count(sim->machine);
    sim->run_count = machine_run_count(sim->machine);
}

/* Effects */

static void check_land(Sim *sim, const Run *run)
{
    const WorldRun *world = &sim->world_runs[run->id];
    if (run->workflow)
        check_flow_land(sim, run);
    else if (world->passed_epoch != run->epoch || world->passed_turn != run->turn)
        sim_fail(sim, "r%u lands unchecked work: turn %u.%u, checked was %u.%u", run->id,
                 run->epoch, run->turn, world->passed_epoch, world->passed_turn);
    if (!world->is_merge_proven)
        sim_fail(sim, "r%u lands a merged tree that nobody checked", run->id);
}

static void check_effect(Sim *sim, const Effect *effect)
{
    const Run *run = machine_run(sim->machine, effect->run);
    const Project *project = machine_project(sim->machine, effect->project);
    if (effect->kind == FX_NOTICE || effect->kind == FX_AUTOPILOT_ENDED)
        return;
    if (effect->kind == FX_ROLLBACK) {
        if (!machine_task(sim->machine, effect->task)->is_undoing)
            sim_fail(sim, "t%u is rolled back, but nobody asked", effect->task);
        return;
    }
    EffectKind kind = effect->kind == FX_KILL_TURN ? FX_STOP_TURN : effect->kind;
    if (!run || run_owes(run->state) != kind || run->epoch != effect->epoch ||
        run->turn != effect->turn || run->retry_ms)
        sim_fail(sim, "effect %s of r%u is not owed (%s)", effect_word(effect->kind), effect->run,
                 run ? run_state_word(run->state) : "gone");
    else if (effect->kind == FX_LAND)
        check_land(sim, run);
    if (effect->kind == FX_START_TURN &&
        (project->is_offline || project->autopilot == AUTO_PAUSED ||
         project->autopilot == AUTO_IDLE))
        sim_fail(sim, "r%u starts a turn while %s", effect->run,
                 project->is_offline ? "offline" : auto_state_word(project->autopilot));
}

static void check_effects(Sim *sim)
{
    uint32_t count;
    const Effect *effects = machine_effects(sim->machine, &count);
    for (uint32_t i = sim->effects_seen; i < count; i++)
        check_effect(sim, &effects[i]);
    sim->effects_seen = count;
}

/* Reports */

bool check_is_report(EventKind kind)
{
    return (kind >= EV_WORKSPACE_READY && kind <= EV_RETIRED) || kind == EV_STEP_RESULT ||
           kind == EV_REPORTED || kind == EV_RESET_DONE || kind == EV_RESET_FAILED ||
           kind == EV_OBSERVED;
}

void proof_keep(Sim *sim, const Event *event)
{
    WorldRun *world = &sim->world_runs[event->run];
    bool is_passed = event->a == VERDICT_PASS || event->a == VERDICT_NONE;
    if (event->kind == EV_GATE_ENDED && is_passed) {
        world->passed_epoch = event->epoch;
        world->passed_turn = event->turn;
    } else if (event->kind == EV_MERGE_CLEAN) {
        world->is_merge_proven = event->a;
    } else if (event->kind == EV_MERGE_GATE_ENDED && is_passed) {
        world->is_merge_proven = true;
    } else if (event->kind == EV_MERGE_EMPTY) {
        world->was_empty = true;
    } else if (event->kind == EV_LANDED) {
        sim->world_tasks[event->task].accepted++;
    } else if (event->kind == EV_ROLLED_BACK) {
        sim->world_tasks[event->task].accepted = 0;
    } else if (event->kind == EV_SKIP || event->kind == EV_REMOVE) {
        sim->world_tasks[event->task].left_out =
            event->kind == EV_SKIP ? TASK_SKIPPED : TASK_CANCELLED;
        sim->world_tasks[event->task].was_removed |= event->kind == EV_REMOVE;
    } else if (event->kind == EV_RETRY || event->kind == EV_RESTORE || event->kind == EV_COMMAND) {
        bool is_given_up = event->kind == EV_COMMAND && text_equal(event->text, "cancel");
        sim->world_tasks[event->task].was_removed |= is_given_up;
        sim->world_tasks[event->task].left_out = TASK_PENDING;
    }
}

static bool is_command(EventKind kind)
{
    return kind == EV_STOP || kind == EV_RETRY || kind == EV_SKIP || kind == EV_REMOVE ||
           kind == EV_ANSWER || kind == EV_ROLLBACK || kind == EV_TASK_EDITED ||
           kind == EV_TASK_WANTED || kind == EV_REVIEWED || kind == EV_COMMAND ||
           kind == EV_TARGET_SET || kind == EV_REFINED;
}

static void check_refused(Sim *sim, const Event *event, const Before *before)
{
    uint32_t effects;
    (void)machine_effects(sim->machine, &effects);
    if (dirty_rows(sim) != before->dirty_rows || effects != before->effects)
        sim_fail(sim, "%s was refused, but changed something", event_word(event->kind));
}

void check_after(Sim *sim, const Event *event, const Before *before)
{
    bool is_accepted = sim->step.is_accepted;
    if (!is_accepted)
        check_refused(sim, event, before);
    if (is_accepted && !before->may_be_accepted)
        sim_fail(sim, "%s was accepted, though the check refuses it", event_word(event->kind));
    if (is_accepted && check_is_report(event->kind) &&
        (!before->run || before->run->epoch != event->epoch || before->run->turn != event->turn))
        sim_fail(sim, "%s of r%u is old, but was accepted", event_word(event->kind), event->run);
    if (!is_accepted && before->may_be_accepted && is_command(event->kind))
        sim_fail(sim, "%s was refused, though the check allows it", event_word(event->kind));
    if (is_accepted)
        proof_keep(sim, event);
    if (is_accepted)
        check_flow_step(sim, event, before);
    if (sim->world_tasks[event->task].accepted > 1 + sim->world_tasks[event->task].reopened)
        sim_fail(sim, "t%u: a second landing was accepted", event->task);
    check_rows(sim);
    check_effects(sim);
}
