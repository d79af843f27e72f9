/* Invariants of runs that follow a workflow, after every event. */
#include "tests/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* What a run may be doing in a phase of each kind; resting and going back fit all. */
enum {
    EVERYWHERE = 1u << RUN_PARKED | 1u << RUN_ENDED | 1u << RUN_RETIRING | 1u << RUN_RESETTING,
    SLOTTED = 1u << RUN_WAITING | 1u << RUN_PREPARING,
    TURNS = 1u << RUN_WORKING | 1u << RUN_STOPPING,
};

static const uint32_t fitting[PHASE_KIND_COUNT] = {
    [PHASE_AGENT] = SLOTTED | TURNS | 1u << RUN_SAVING,
    [PHASE_OBSERVE] = SLOTTED | TURNS | 1u << RUN_SAVING,
    [PHASE_GATE] = SLOTTED | TURNS,
    [PHASE_VERIFY] = SLOTTED | 1u << RUN_VERIFYING,
    [PHASE_MERGE] = 1u << RUN_QUEUED | 1u << RUN_MERGING | 1u << RUN_PROVING | 1u << RUN_LANDING,
    [PHASE_APPROVE] = 1u << RUN_ASKING,
    [PHASE_REPORT] = 1u << RUN_REPORTING,
};

static void check_new_run(Sim *sim, const Run *run)
{
    const Workflow *flow = run_workflow(sim->machine, run);
    const Task *task = &sim->tasks[run->task]; /* as it was before */
    const Run *last = &sim->runs[task->run];
    bool may_be_fresh = task->is_fresh || sim->event == EV_RETRY || sim->event == EV_ROLLBACK ||
                        sim->event == EV_ROLLED_BACK || sim->event == EV_ROLLBACK_FAILED;
    bool goes_on = last->id && !may_be_fresh && run_workflow(sim->machine, last) == flow;
    if (last->id && run->from == last->id)
        sim->proofs[run->id] = sim->proofs[last->id];
    if (run->stage < 1 || (goes_on && run->stage < last->stage))
        sim_fail(sim, "r%u begins in stage %u after stage %u", run->id, run->stage, last->stage);
    if (goes_on && run->converged < last->converged)
        sim_fail(sim, "r%u has forgotten how far r%u had come", run->id, last->id);
}

void check_flow_run(Sim *sim, const Run *old, const Run *now)
{
    const Workflow *flow = run_workflow(sim->machine, now);
    bool is_own = flow != &workflow_loop; /* else nobody has defined it */
    if (now->phase >= flow->phase_count || now->checkpoint >= flow->checkpoint_count ||
        (is_own && now->status >= flow->status_count)) {
        sim_fail(sim, "r%u is at phase %u, checkpoint %u, status %u, which %s has not", now->id,
                 now->phase, now->checkpoint, now->status, flow->name);
        return;
    }
    PhaseKind kind = flow->phases[now->phase].kind;
    if (!((fitting[kind] | EVERYWHERE) & 1u << now->state))
        sim_fail(sim, "r%u is %s in phase %s of %s", now->id, run_state_word(now->state),
                 flow->phases[now->phase].name, flow->name);
    if (old->id && now->stage < old->stage)
        sim_fail(sim, "r%u went back to stage %u", now->id, now->stage);
    if (!old->id)
        check_new_run(sim, now);
}

void check_flow_task(Sim *sim, const Task *old, const Task *now)
{
    const Run *run = machine_run(sim->machine, now->run);
    if (old->id && old->state == TASK_CANCELLED && now->state != TASK_CANCELLED &&
        sim->event != EV_RESTORE)
        sim_fail(sim, "t%u was removed, but %s makes it %s", now->id, event_word(sim->event),
                 task_state_word(now->state));
    if (now->state != TASK_DONE || !sim->is_mixed || sim->event == EV_ENGINE_STARTED)
        return;
    if (!sim->merged[now->id])
        sim_fail(sim, "t%u is done, but nothing of it was ever merged", now->id);
    const Workflow *flow = run_workflow(sim->machine, run);
    bool has_ends = run->status < flow->status_count && flow->statuses[run->status].ends &&
                    *flow->statuses[run->status].ends;
    if (has_ends && !text_equal(flow->statuses[run->status].ends, "done"))
        sim_fail(sim, "t%u is done, but r%u is %s", now->id, run->id,
                 flow->statuses[run->status].name);
}

/* Lifecycle and staged, and what extends them: only what was accepted lands. A conflict that was
 * resolved since then is proven by the checks of the merged tree. */
void check_flow_land(Sim *sim, const Run *run)
{
    const Proof *proof = &sim->proofs[run->id];
    const Workflow *flow = run_workflow(sim->machine, run);
    bool has_check = workflow_phase(flow, "check") != NULL;
    const char *proven = has_check ? proof->accepted : proof->verified;
    bool is_mended = has_check && run->conflict_tries + run->merged_tries > 0;
    bool is_landed =
        strcmp(proof->landed, run->commit) == 0; /* it was reopened, and is as it was */
    if (strcmp(proven, run->commit) != 0 && !is_landed && !(is_mended && proof->is_merge_gated))
        sim_fail(sim, "r%u of %s lands '%s', proven is '%s'", run->id, flow->name, run->commit,
                 proven);
}

static bool asks_for(const StepRoute *route, Action action)
{
    for (size_t i = 0; i < ACTIONS_MAX && route->actions[i] != ACTION_NONE; i++)
        if (route->actions[i] == action)
            return true;
    return false;
}

static bool is_verdict(const char *result)
{
    static const char *const words[] = {"PASS", "NEEDS_REVISION", "CONTINUE", "NEEDS_FIX",
                                        "REPLAN"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (text_equal(words[i], result))
            return true;
    return false;
}

/* The limits of steps and of a gate's retries, looked at where the tables look at them. */
static void check_gate(Sim *sim, const StepRoute *route, const Workflow *flow, const Before *before)
{
    const Run *run = machine_run(sim->machine, route->run);
    const WorkflowLimit *row = workflow_limit(flow, route->checkpoint);
    const Limits *limits = &machine_project(sim->machine, run->project)->limits;
    int64_t steps = workflow_limit_or(flow, "steps", limits->max_steps);
    bool goes_on = workflow_phase(flow, route->next) != NULL;
    int64_t limit = before->copy.gate_limit ? before->copy.gate_limit - 1
                    : row                   ? row->fallback
                                            : INT64_MAX;
    uint32_t tries = gate_tries_of(&before->copy, before->copy.checkpoint);
    bool is_known = before->run && before->copy.id == run->id;
    if (!is_known || !workflow_limit(flow, "steps"))
        return;
    if (goes_on && is_verdict(route->result) && before->copy.steps >= steps)
        sim_fail(sim, "r%u goes on after %u of %lld steps", run->id, before->copy.steps,
                 (long long)steps);
    if (asks_for(route, ACTION_COUNT_RETRY) && is_verdict(route->result) && tries >= limit)
        sim_fail(sim, "r%u: retry %u at %s, but the limit is %lld", run->id, tries + 1,
                 route->checkpoint, (long long)limit);
    if (!is_verdict(route->result) && !asks_for(route, ACTION_RESET_RETRIES) &&
        !text_equal(route->result, "ROLLBACK") && !text_equal(route->result, "ACCEPT") &&
        run->gate_tries != before->copy.gate_tries)
        sim_fail(sim, "r%u: %s is no verdict, but used a retry (B-46)", run->id, route->result);
}

static void keep_route(Sim *sim, const StepRoute *route, const Before *before)
{
    const Run *run = machine_run(sim->machine, route->run);
    const Workflow *flow = run_workflow(sim->machine, run);
    const WorkflowPhase *phase = workflow_phase(flow, route->phase);
    Proof *proof = &sim->proofs[route->run];
    /* as it was judged: a landing goes back to what was accepted */
    const char *commit =
        before->run && before->copy.id == run->id ? sim->runs[run->id].commit : run->commit;
    if (text_equal(route->row, "no-row"))
        sim_fail(sim, "r%u of %s: no row for %s in %s at '%s'", run->id, flow->name, route->result,
                 route->phase, route->checkpoint);
    bool is_kept = asks_for(route, ACTION_ACCEPT_STAGE) || asks_for(route, ACTION_ENQUEUE_MERGE);
    bool is_accepted =
        (phase->kind == PHASE_GATE && is_kept &&
         (text_equal(route->result, "ACCEPT") || text_equal(route->result, "STALLED"))) ||
        (phase->kind == PHASE_APPROVE && text_equal(route->result, "approved"));
    if (is_accepted)
        (void)snprintf(proof->accepted, HASH_SIZE, "%s", commit); /* a hash */
    if (phase->kind == PHASE_VERIFY && !text_equal(route->result, "error") &&
        !text_equal(route->result, "fail") && !text_equal(route->result, "(fail)"))
        (void)snprintf(proof->verified, HASH_SIZE, "%s", commit); /* a hash */
    if (phase->kind == PHASE_MERGE &&
        (text_equal(route->result, "success") || text_equal(route->result, "landed") ||
         text_equal(route->result, "empty")))
        sim->merged[route->task] = true;
    if (phase->kind == PHASE_GATE && workflow_phase(flow, "check"))
        check_gate(sim, route, flow, before);
}

void check_flow_step(Sim *sim, const Event *event, const Before *before)
{
    Proof *proof = &sim->proofs[event->run];
    bool is_passed = event->a == VERDICT_PASS || event->a == VERDICT_NONE;
    for (uint32_t i = 0; sim->is_mixed && i < sim->step.route_count; i++)
        keep_route(sim, &sim->step.routes[i], before);
    if (event->kind == EV_ROLLED_BACK)
        sim->merged[event->task] = false;
    else if (event->kind == EV_MERGE_CLEAN)
        proof->is_merge_gated = false;
    else if (event->kind == EV_MERGE_GATE_ENDED && is_passed)
        proof->is_merge_gated = true;
    else if (event->kind == EV_LANDED)
        memcpy(proof->landed, before->copy.new_tip, HASH_SIZE);
    else if (event->kind == EV_RESET_DONE) {
        const Run *run = machine_run(sim->machine, event->run);
        bool is_redo = sim->tasks[run->task].next_phase != 0; /* before the step */
        const char *back = is_redo ? before->copy.old_tip : before->copy.good;
        if (strcmp(run->commit, back) != 0 || run->epoch != before->copy.epoch + 1)
            sim_fail(sim, "r%u went back to '%s' in epoch %u, not to '%s'", run->id, run->commit,
                     run->epoch, back);
    }
}
