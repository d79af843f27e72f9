/* One event into the machine; the commit, the crash, and the replay at the end. */
#include "tests/sim/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_EVERY = 64 };

static uint64_t hash_step(const Step *step)
{
    uint64_t hash = 0xcbf29ce484222325u + step->is_accepted; /* FNV-1a */
    for (size_t i = 0; i < step->decision.length; i++)
        hash = (hash ^ (uint8_t)step->decision.bytes[i]) * 0x100000001b3u;
    return hash;
}

static void keep_log(Sim *sim, const Event *event)
{
    bool has_decided = sim->step.decision.length || sim->step.why.length;
    if (event->kind == EV_TICK && !has_decided)
        return; /* the engine stores no row for it, so a replay must do without */
    if (sim->log_count == sim->log_size) {
        sim->log_size = MAX(1024u, sim->log_size * 2);
        sim->log = mem_grow(sim->log, sim->log_size, sizeof *sim->log);
    }
    sim->log[sim->log_count++] = (Logged){*event, hash_step(&sim->step), sim->step.is_accepted};
}

static void keep_trace(Sim *sim, const Event *e)
{
    if (!sim->is_tracing)
        return;
    char *line = sim->trace[sim->trace_count++ % TRACE_EVENTS];
    (void)snprintf(line, TRACE_TEXT, "%lld e%u %s p%u t%u r%u.%u.%u a=%lld b=%lld %s%s -> %s | %s",
                   (long long)e->at_ms, sim->engine, event_word(e->kind), e->project, e->task,
                   e->run, e->epoch, e->turn, (long long)e->a, (long long)e->b,
                   e->text ? e->text : "", sim->step.is_accepted ? "" : " REFUSED",
                   str_text(&sim->step.decision), str_text(&sim->step.why)); /* cut */
    if (sim->options.is_verbose)
        (void)puts(line);
}

/* The dependencies as people asked for them. */
static void keep_dependency(Sim *sim, const Event *event)
{
    uint32_t at = 0;
    while (at < sim->dep_count &&
           (sim->deps[at].task != event->task || sim->deps[at].on != (TaskId)event->a))
        at++;
    if (event->kind == EV_DEPENDENCY_REMOVED) {
        sim->deps[at] = sim->deps[--sim->dep_count];
        sim->model[event->a].dependents--;
        return;
    }
    if (at == sim->dep_size) {
        sim->dep_size = MAX(64u, sim->dep_size * 2);
        sim->deps = mem_grow(sim->deps, sim->dep_size, sizeof *sim->deps);
    }
    sim->model[event->a].dependents += at == sim->dep_count;
    sim->dep_count = MAX(sim->dep_count, at + 1);
    sim->deps[at] = (Dependency){event->task, (TaskId)event->a, (Need)event->b};
}

bool sim_step(Sim *sim, Event event)
{
    Before before;
    if (sim_failed(sim))
        return false;
    event.at_ms = sim_now(sim);
    sim->event = event.kind;
    check_before(sim, &event, &before);
    machine_step(sim->machine, &event, &sim->step);
    sim->events++;
    sim->accepted += sim->step.is_accepted;
    keep_log(sim, &event);
    keep_trace(sim, &event);
    bool is_accepted = sim->step.is_accepted;
    sim_room(sim, MAX(machine_task_count(sim->machine), machine_run_count(sim->machine)));
    if (is_accepted && (event.kind == EV_DEPENDENCY_ADDED || event.kind == EV_DEPENDENCY_REMOVED))
        keep_dependency(sim, &event);
    check_after(sim, &event, &before);
    if (sim->events % FULL_EVERY == 0)
        check_full(sim);
    return is_accepted;
}

/* What a store keeps: everything but what can be derived. */
static Task stored_task(const Task *row)
{
    Task task = *row;
    task.because = task.children = task.children_done = 0;
    task.is_dirty = false;
    return task;
}

static Run stored_run(const Run *row)
{
    Run run = *row;
    run.is_dirty = false;
    return run;
}

void sim_commit(Sim *sim)
{
    Dirty dirty = machine_dirty(sim->machine);
    for (uint32_t i = 0; i < dirty.project_count; i++) {
        Project *project = &sim->saved_projects[dirty.projects[i]->id];
        *project = *dirty.projects[i];
        project->slots_used = 0;
        project->is_dirty = false;
    }
    for (uint32_t i = 0; i < dirty.task_count; i++) {
        TaskId id = dirty.tasks[i]->id;
        sim->saved_tasks[id] = stored_task(dirty.tasks[i]);
        sim->saved_merged[id] = sim->merged[id];
    }
    for (uint32_t i = 0; i < dirty.run_count; i++) {
        RunId id = dirty.runs[i]->id;
        sim->saved_runs[id] = stored_run(dirty.runs[i]);
        sim->saved_proofs[id] = sim->proofs[id];
    }
    sim->saved_task_count = machine_task_count(sim->machine);
    sim->saved_run_count = machine_run_count(sim->machine);
    if (sim->dep_count > sim->saved_dep_size) {
        sim->saved_dep_size = sim->dep_size;
        sim->saved_deps = mem_grow(sim->saved_deps, sim->dep_size, sizeof *sim->saved_deps);
    }
    if (sim->dep_count)
        memcpy(sim->saved_deps, sim->deps, sim->dep_count * sizeof *sim->deps);
    sim->saved_dep_count = sim->dep_count;
    sim->saved_flow_count = sim->flow_count;
    sim->log_committed = sim->log_count;
    machine_flushed(sim->machine);
}

void sim_act(Sim *sim)
{
    uint32_t count;
    const Effect *effects = machine_effects(sim->machine, &count);
    for (uint32_t i = 0; i < count && !sim_failed(sim); i++)
        world_act(sim, &effects[i]);
    machine_effects_taken(sim->machine);
    sim->effects_seen = 0;
}

static bool is_needed(const Sim *sim, const Run *run)
{
    return run->id && (run->state != RUN_ENDED || sim->saved_tasks[run->task].run == run->id);
}

static Machine *load(Sim *sim)
{
    Machine *machine = machine_new();
    machine_reserve(machine, sim->saved_task_count, sim->saved_dep_count);
    for (uint32_t i = 0; i < sim->saved_flow_count; i++)
        if (!machine_load_workflow(machine, WORKFLOW_FIRST_OWN + i, sim->flows[i], NULL))
            sim_fail(sim, "workflow %u could be read once, but not again", i);
    for (ProjectId i = 1; i < PROJECTS_MAX; i++)
        if (sim->saved_projects[i].id)
            machine_load_project(machine, &sim->saved_projects[i]);
    for (TaskId i = 1; i <= sim->saved_task_count; i++)
        machine_load_task(machine, &sim->saved_tasks[i]);
    for (uint32_t i = 0; i < sim->saved_dep_count; i++)
        machine_load_dependency(machine, &sim->saved_deps[i]);
    for (RunId i = 1; i <= sim->saved_run_count; i++)
        if (is_needed(sim, &sim->saved_runs[i]))
            machine_load_run(machine, &sim->saved_runs[i]);
    machine_set_run_count(machine, sim->saved_run_count);
    machine_loaded(machine);
    return machine;
}

/* What the checks remembered of steps that were never committed is forgotten with them. */
static void forget_uncommitted(Sim *sim)
{
    for (uint32_t i = 0; i < sim->row_size; i++) {
        sim->tasks[i] = i <= sim->saved_task_count ? sim->saved_tasks[i] : (Task){0};
        sim->runs[i] = i <= sim->saved_run_count ? sim->saved_runs[i] : (Run){0};
        sim->model[i] = (ModelTask){0};
    }
    for (uint32_t i = 0; i < PROJECTS_MAX; i++) {
        sim->projects[i].live = sim->projects[i].merging = 0;
        sim->projects[i].cycle = 0;
    }
    for (uint32_t i = 1; i <= sim->saved_run_count; i++) {
        const Run *run = &sim->runs[i];
        sim->projects[run->project].live += run_holds_slot(run->state);
        sim->projects[run->project].merging +=
            run->state >= RUN_MERGING && run->state <= RUN_LANDING;
    }
    sim->task_count = sim->saved_task_count;
    sim->run_count = sim->saved_run_count;
    sim->dep_count = sim->saved_dep_count;
    if (sim->dep_count)
        memcpy(sim->deps, sim->saved_deps, sim->dep_count * sizeof *sim->deps);
    for (uint32_t i = 0; i < sim->dep_count; i++)
        sim->model[sim->deps[i].on].dependents++;
    sim->log_count = sim->log_committed;
    sim->flow_count = sim->saved_flow_count;
    if (sim->is_mixed)
        memcpy(sim->proofs, sim->saved_proofs, sim->row_size * sizeof *sim->proofs);
    memcpy(sim->merged, sim->saved_merged, sim->row_size);
    for (uint32_t i = 0; i < sim->row_size; i++) {
        sim->world_tasks[i].accepted = 0;
        sim->world_tasks[i].left_out = TASK_PENDING;
        WorldRun *run = &sim->world_runs[i];
        run->passed_epoch = run->passed_turn = run->is_merge_proven = run->was_empty = 0;
    }
    for (uint32_t i = 0; i < sim->log_count; i++)
        if (sim->log[i].is_accepted)
            proof_keep(sim, &sim->log[i].event);
}

void sim_restart(Sim *sim, bool is_online)
{
    machine_free(sim->machine);
    sim->machine = load(sim);
    sim->engine++;
    sim->crashes++;
    sim->is_online = is_online;
    sim->effects_seen = 0;
    forget_uncommitted(sim);
    check_full(sim);
    bool is_owed_first = sim_chance(sim, 500);
    if (is_online && is_owed_first)
        machine_owe_again(sim->machine);
    (void)machine_effects(sim->machine, &sim->effects_seen);
    (void)sim_step(sim, (Event){.kind = EV_ENGINE_STARTED, .a = is_online}); /* always taken */
    if (is_online && !is_owed_first)
        machine_owe_again(sim->machine); /* those just decided come twice: that is allowed */
    (void)machine_effects(sim->machine, &sim->effects_seen);
}

void sim_replay(Sim *sim)
{
    Machine *machine = machine_new();
    Step step = {0};
    for (uint32_t i = 0; i < sim->log_count && !sim_failed(sim); i++) {
        const Event *event = &sim->log[i].event;
        machine_step(machine, event, &step);
        machine_effects_taken(machine);
        if (hash_step(&step) != sim->log[i].decision)
            sim_fail(sim, "replay: event %u (%s t%u r%u) decides otherwise: %s", i + 1,
                     event_word(event->kind), event->task, event->run, str_text(&step.decision));
    }
    step_done(&step);
    machine_free(machine);
}
