/* The world: agents, workspaces, checks, the hub and the target branch, carried out by chance.
 *
 * An effect may come twice (a restart owes it again), so each is carried out as the real one is:
 * an agent that runs is found again, a branch that was moved is not moved twice. */
#include "core/signal.h"
#include "tests/sim/sim.h"
#include <stdio.h>
#include <string.h>

static Event report(const Effect *effect, EventKind kind)
{
    return (Event){.kind = kind,
                   .project = effect->project,
                   .task = effect->task,
                   .run = effect->run,
                   .epoch = effect->epoch,
                   .turn = effect->turn};
}

static bool has_trouble(Sim *sim)
{
    return !sim->is_calm && sim_chance(sim, sim->profile.failures);
}

static void answer(Sim *sim, const Event *event)
{
    reply_push(sim, sim->true_ms + sim_delay(sim), event, 0);
}

/* A step that could not be carried out; mostly worth another try. */
static bool answer_trouble(Sim *sim, const Effect *effect, EventKind kind)
{
    if (!has_trouble(sim))
        return false;
    Event event = report(effect, kind);
    event.a = sim_chance(sim, 800);
    event.text = "trouble";
    answer(sim, &event);
    return true;
}

static const char *hash_text(Sim *sim, const char *kind, uint64_t number)
{
    return arena_printf(&sim->texts, "%s%016llx", kind, (unsigned long long)number);
}

static void on_prepare(Sim *sim, const Effect *effect)
{
    if (answer_trouble(sim, effect, EV_WORKSPACE_FAILED))
        return;
    Event event = report(effect, EV_WORKSPACE_READY);
    event.ref = hash_text(sim, "base", sim->projects[effect->project].tip);
    answer(sim, &event);
}

/* Agents */

static uint8_t last_word(Sim *sim)
{
    uint32_t r = sim->is_calm ? 0 : sim_random(sim, 100);
    return r < 55   ? SIGNAL_COMPLETE
           : r < 60 ? SIGNAL_BLOCKED
           : r < 68 ? SIGNAL_PENDING
                    : SIGNAL_NONE;
}

static void choose_end(Sim *sim, Agent *agent)
{
    bool is_quick = sim->is_calm && sim->is_mixed; /* many turns must fit in the time of one run */
    agent->end_ms = sim->true_ms + 1000 + sim_random(sim, is_quick ? 3000 : 120000);
    if (!has_trouble(sim))
        return;
    switch (sim_random(sim, 5)) {
    case 0:
        agent->exit_code = 1 + (int32_t)sim_random(sim, 100);
        break;
    case 1:
        agent->killed_by = 9;
        break;
    case 2:
        agent->exit_code = -1; /* the keeper vanished */
        break;
    case 3:
        agent->end_ms = INT64_MAX;
        break;
    default:
        agent->is_flooding = true;
        agent->end_ms = INT64_MAX;
        break;
    }
}

/* Everything the journal says, as read by the engine that is attached now. */
static void tell_journal(Sim *sim, const Effect *effect, const Agent *agent)
{
    Event event = report(effect, EV_TURN_STARTED);
    int64_t at = MAX(sim->true_ms, MIN(agent->end_ms, sim->true_ms + 100));
    event.a = 1000 + agent->serial;
    reply_push(sim, at, &event, agent->serial);
    event.kind = EV_SIGNAL;
    event.text = "words";
    for (size_t i = 0; i < COUNT(agent->signals); i++) {
        event.a = agent->signals[i];
        at = MIN(agent->end_ms, at + sim_random(sim, 500));
        if (event.a)
            reply_push(sim, MAX(at, sim->true_ms), &event, agent->serial);
    }
    event = report(effect, EV_OUTPUT_LIMIT);
    event.a = 1 << 30;
    if (agent->is_flooding)
        reply_push(sim, at + 500, &event, agent->serial);
    if (agent->answer || agent->observed)
        flow_tell(sim, effect, agent, MAX(at, MIN(agent->end_ms, at + 1000)));
    event = report(effect, EV_TURN_ENDED);
    event.a = agent->exit_code;
    event.b = agent->killed_by;
    if (agent->end_ms != INT64_MAX)
        reply_push(sim, MAX(at, agent->end_ms), &event, agent->serial);
}

static bool is_agent_of(const Agent *agent, const Effect *effect)
{
    return agent->serial && agent->epoch == effect->epoch && agent->turn == effect->turn;
}

static void on_start_turn(Sim *sim, const Effect *effect)
{
    WorldRun *run = &sim->world_runs[effect->run];
    if (!is_agent_of(&run->agent, effect)) {
        if (has_trouble(sim) && answer_trouble(sim, effect, EV_TURN_REFUSED))
            return;
        run->agent = (Agent){.epoch = effect->epoch, .turn = effect->turn};
        run->agent.serial = ++sim->serial;
        run->agent.signals[0] = sim_chance(sim, 300) ? SIGNAL_PROGRESS : SIGNAL_NONE;
        run->agent.signals[1] = sim_chance(sim, 100) ? last_word(sim) : SIGNAL_NONE;
        run->agent.signals[2] = last_word(sim);
        run->commits += sim_random(sim, 3);
        choose_end(sim, &run->agent);
        const Run *row = machine_run(sim->machine, effect->run);
        if (row->workflow)
            flow_choose_answer(sim, row, &run->agent);
    }
    tell_journal(sim, effect, &run->agent);
}

static void on_stop_turn(Sim *sim, const Effect *effect)
{
    Agent *agent = &sim->world_runs[effect->run].agent;
    Event event = report(effect, EV_TURN_ENDED);
    if (!is_agent_of(agent, effect)) {
        event.kind = EV_TURN_REFUSED; /* it never began */
        answer(sim, &event);
        return;
    }
    if (agent->end_ms > sim->true_ms) {
        agent->serial = ++sim->serial; /* what it would have said later is not said */
        agent->end_ms = sim->true_ms + (effect->kind == FX_KILL_TURN ? 5 : sim_random(sim, 5000));
        agent->killed_by = sim_chance(sim, 500) ? 15 : 0;
        agent->exit_code = agent->killed_by ? 0 : (int32_t)sim_random(sim, 2);
    }
    event.a = agent->exit_code;
    event.b = agent->killed_by;
    reply_push(sim, MAX(sim->true_ms, agent->end_ms), &event, agent->serial);
}

static void on_snapshot(Sim *sim, const Effect *effect)
{
    const WorldRun *run = &sim->world_runs[effect->run];
    const Run *row = machine_run(sim->machine, effect->run);
    if (answer_trouble(sim, effect, EV_SNAPSHOT_FAILED))
        return;
    Event event = report(effect, EV_SNAPSHOT_TAKEN);
    event.a = run->commits;
    event.b = run->commits == 0;
    event.ref = hash_text(
        sim, "work", (uint64_t)effect->run << 32 | (uint64_t)effect->epoch << 16 | effect->turn);
    if (row->workflow && row->commit[0] && !run->agent.is_changing)
        event.ref = arena_strdup(&sim->texts, row->commit);
    answer(sim, &event);
}

/* Checks and merges */

static Verdict verdict(Sim *sim)
{
    if (has_trouble(sim))
        return VERDICT_ERROR;
    uint32_t r = sim->is_calm ? 0 : sim_random(sim, 100);
    return r < 70 ? VERDICT_PASS : r < 75 ? VERDICT_NONE : VERDICT_FAIL;
}

static void on_gate(Sim *sim, const Effect *effect)
{
    Event event = report(effect, effect->kind == FX_GATE ? EV_GATE_ENDED : EV_MERGE_GATE_ENDED);
    event.a = verdict(sim);
    event.text = "make test";
    event.b = sim->is_mixed && !sim->is_calm && effect->kind == FX_GATE && sim_chance(sim, 50);
    answer(sim, &event);
}

static void on_merge(Sim *sim, const Effect *effect)
{
    if (answer_trouble(sim, effect, EV_MERGE_FAILED))
        return;
    Event event = report(effect, EV_MERGE_CLEAN);
    uint32_t r = sim->is_calm ? 0 : sim_random(sim, 100);
    if (sim->world_runs[effect->run].is_landed || r >= 97) {
        event.kind = EV_MERGE_EMPTY;
    } else if (r >= 80) {
        event.kind = EV_MERGE_CONFLICT;
        event.text = "a.c";
    } else {
        event.a = sim_chance(sim, 500);
        event.ref = hash_text(sim, "tip", sim->projects[effect->project].tip);
        event.ref2 = hash_text(sim, "tip", ++sim->order << 8);
    }
    answer(sim, &event);
}

/* Compare and swap; a branch that holds the work already says so. */
static void on_land(Sim *sim, const Effect *effect)
{
    WorldRun *world = &sim->world_runs[effect->run];
    ModelProject *project = &sim->projects[effect->project];
    const Run *run = machine_run(sim->machine, effect->run);
    Event event = report(effect, EV_LANDED);
    char tip[HASH_SIZE];
    (void)snprintf(tip, sizeof tip, "tip%016llx", (unsigned long long)project->tip); /* fits */
    if (!world->is_landed && answer_trouble(sim, effect, EV_LAND_FAILED))
        return;
    if (!world->is_landed && strcmp(run->old_tip, tip) != 0) {
        event.kind = EV_LAND_MOVED;
    } else if (!world->is_landed) {
        unsigned long long moved = 0;
        if (sscanf(run->new_tip, "tip%llx", &moved) != 1)
            sim_fail(sim, "r%u lands '%s', which no merge gave", effect->run, run->new_tip);
        project->tip = moved;
        world->is_landed = true;
        sim->landings++;
        const WorldTask *task = &sim->world_tasks[effect->task];
        if (++sim->world_tasks[effect->task].landed > 1 + task->reopened)
            sim_fail(sim, "t%u landed twice", effect->task);
    }
    event.ref = run->new_tip[0] ? arena_strdup(&sim->texts, run->new_tip) : NULL;
    answer(sim, &event);
}

static void on_retire(Sim *sim, const Effect *effect)
{
    const WorldRun *world = &sim->world_runs[effect->run];
    const Run *run = machine_run(sim->machine, effect->run);
    bool is_ordered = run->commit[0] && sim->world_tasks[effect->task].was_removed;
    bool is_kept = run->workflow && !run->commit[0]; /* nothing of it was accepted */
    if (!is_kept && !world->is_landed && !world->was_empty && !is_ordered)
        sim_fail(sim, "the workspace of r%u is retired, but its work has not landed", effect->run);
    Event event = report(effect, EV_RETIRED);
    event.a = sim_chance(sim, 50) || is_kept;
    answer(sim, &event);
}

static void on_rollback(Sim *sim, const Effect *effect)
{
    Event event = report(effect, EV_ROLLED_BACK);
    WorldTask *task = &sim->world_tasks[effect->task];
    event.run = event.epoch = event.turn = 0;
    if (task->landed && has_trouble(sim)) {
        event.kind = EV_ROLLBACK_FAILED;
        event.text = "a conflict";
    } else {
        task->landed = 0;
        sim->projects[effect->project].tip = ++sim->order << 8;
    }
    answer(sim, &event);
}

typedef void ActFn(Sim *sim, const Effect *effect);

static ActFn *const acts[EFFECT_COUNT] = {
    [FX_PREPARE] = on_prepare,     [FX_START_TURN] = on_start_turn, [FX_STOP_TURN] = on_stop_turn,
    [FX_KILL_TURN] = on_stop_turn, [FX_SNAPSHOT] = on_snapshot,     [FX_GATE] = on_gate,
    [FX_MERGE] = on_merge,         [FX_MERGE_GATE] = on_gate,       [FX_LAND] = on_land,
    [FX_RETIRE] = on_retire,       [FX_ROLLBACK] = on_rollback,     [FX_REPORT] = flow_report,
    [FX_RESET] = flow_reset,
};

void world_act(Sim *sim, const Effect *effect)
{
    sim_room(sim, MAX(effect->run, effect->task));
    if (acts[effect->kind])
        acts[effect->kind](sim, effect);
}

/* Delivery */

/* Nothing in these tells two of one turn apart. They come once: from a worker that answers once
 * and ends with its engine. */
static bool comes_once(EventKind kind)
{
    return kind == EV_MERGE_GATE_ENDED || kind == EV_ROLLED_BACK || kind == EV_ROLLBACK_FAILED ||
           kind == EV_LAND_FAILED || kind == EV_LAND_MOVED;
}

/* What an engine that is gone had asked for is mostly lost; some of it comes late. */
static bool is_lost(Sim *sim, const Reply *reply)
{
    const Agent *agent = &sim->world_runs[reply->event.run].agent;
    bool was_stopped =
        reply->serial &&
        is_agent_of(agent, &(Effect){.epoch = reply->event.epoch, .turn = reply->event.turn}) &&
        agent->serial != reply->serial;
    if (was_stopped || !sim->is_online)
        return true;
    if (reply->engine == sim->engine)
        return false;
    return comes_once(reply->event.kind) || sim->is_calm || sim_chance(sim, 700);
}

bool world_deliver(Sim *sim)
{
    Reply reply;
    if (!reply_pop(sim, &reply))
        return false;
    sim->true_ms = MAX(sim->true_ms, reply.due_ms);
    if (is_lost(sim, &reply))
        return true;
    if (!sim->is_calm && !comes_once(reply.event.kind) && sim_chance(sim, sim->profile.duplicates))
        reply_push(sim, sim->true_ms + sim_random(sim, 300000), &reply.event, reply.serial);
    (void)sim_step(sim, reply.event); /* refused when it is old: the checks look at that */
    return true;
}
