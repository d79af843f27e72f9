/* One seed: a wild time, then calm until nothing is left to do, then the replay. */
#include "tests/sim/sim.h"
#include <stdlib.h>

enum { CALM_ROUNDS = 12, CALM_EVENTS_PER_TASK = 150 };

static void choose_profile(Sim *sim)
{
    static const uint32_t crashes[] = {0, 2, 10, 40}, failures[] = {0, 20, 60, 200};
    Profile *profile = &sim->profile;
    profile->wishes = sim_random(sim, 3) * 50 + 10;
    profile->crashes = crashes[sim_random(sim, COUNT(crashes))];
    profile->jumps = sim_random(sim, 3) * 5;
    profile->pushes = sim_random(sim, 3) * 20;
    profile->failures = failures[sim_random(sim, COUNT(failures))];
    profile->duplicates = sim_random(sim, 3) * 25;
    profile->has_back_jumps = sim_chance(sim, 400);
    profile->good_answers = sim->is_mixed ? 350 + sim_random(sim, 4) * 200 : 0;
}

/* When the machine's own deadline comes, by the true clock. */
static int64_t tick_ms(const Sim *sim)
{
    int64_t deadline = machine_deadline(sim->machine);
    return deadline == INT64_MAX || !sim->is_online ? INT64_MAX : deadline - sim->skew_ms;
}

/* The next thing the world or the clock has to say; false: silence. */
static bool next_event(Sim *sim)
{
    int64_t tick = tick_ms(sim), reply = reply_next_ms(sim);
    if (tick == INT64_MAX && reply == INT64_MAX)
        return false;
    if (reply <= tick)
        return world_deliver(sim);
    sim->true_ms = MAX(sim->true_ms, tick);
    (void)sim_step(sim, (Event){.kind = EV_TICK}); /* always taken */
    return true;
}

static void batch(Sim *sim)
{
    for (uint32_t left = 1 + sim_random(sim, 4); left && !sim_failed(sim); left--)
        if (sim_chance(sim, sim->profile.wishes) || !next_event(sim))
            wish_random(sim);
}

static void jump(Sim *sim)
{
    int64_t by = sim_chance(sim, 500) ? sim_random(sim, 7200000) : sim_random(sim, 2000);
    sim->skew_ms += sim->profile.has_back_jumps && sim_chance(sim, 500) ? -by : by;
}

/* Offline, only people's wishes are recorded; sooner or later an engine comes back. */
static void offline_time(Sim *sim)
{
    sim_restart(sim, false);
    for (uint32_t left = sim_random(sim, 8); left; left--)
        wish_random(sim);
    if (sim_chance(sim, 800))
        sim_commit(sim);
    sim->true_ms += sim_random(sim, 600000);
    sim_restart(sim, true);
}

static void turn(Sim *sim)
{
    batch(sim);
    if (sim_chance(sim, sim->profile.crashes))
        sim_restart(sim, true); /* before the commit: the batch never was */
    sim_commit(sim);
    if (sim_chance(sim, 50))
        check_saved(sim);
    if (sim_chance(sim, sim->profile.crashes))
        sim_restart(sim, true); /* committed, but nothing was done about it */
    else if (sim_chance(sim, sim->profile.crashes / 4))
        offline_time(sim);
    sim_commit(sim);
    sim_act(sim);
    if (sim_chance(sim, sim->profile.jumps))
        jump(sim);
    if (sim_chance(sim, sim->profile.pushes))
        sim->projects[1 + sim_random(sim, sim->project_count)].tip = ++sim->order << 8;
}

/* Plays until silence; false: it never came. */
static bool drain(Sim *sim)
{
    uint64_t most =
        sim->events + 2000 + (uint64_t)machine_task_count(sim->machine) * CALM_EVENTS_PER_TASK;
    while (next_event(sim) && !sim_failed(sim)) {
        sim_commit(sim);
        sim_act(sim);
        if (sim->events > most)
            return false;
    }
    return true;
}

static bool is_idle(const Sim *sim)
{
    for (ProjectId i = 1; i <= sim->project_count; i++)
        if (machine_project(sim->machine, i)->autopilot != AUTO_IDLE)
            return false;
    return true;
}

static bool has_open(const Sim *sim)
{
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        const Task *task = machine_task(sim->machine, i);
        const Run *run = machine_run(sim->machine, task->run);
        if (task->is_undoing || (run && run->state == RUN_ASKING) ||
            (1u << task->state & (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED)))
            return true;
    }
    return false;
}

static void settle(Sim *sim)
{
    sim->is_calm = true;
    sim_restart(sim, true);
    (void)sim_step(sim, (Event){.kind = EV_DISK, .a = 9000}); /* always taken */
    for (uint32_t round = 0; !sim_failed(sim); round++) {
        wish_everything(sim);
        sim_commit(sim);
        sim_act(sim);
        if (!drain(sim))
            sim_fail(sim, "no silence after %llu events", (unsigned long long)sim->events);
        if (is_idle(sim) && !has_open(sim))
            break;
        if (round == CALM_ROUNDS)
            sim_fail(sim, "people have answered everything %u times, but it does not end", round);
    }
    check_saved(sim);
    check_end(sim);
}

void sim_play(Sim *sim)
{
    sim->random = sim->options.seed;
    sim->true_ms = 1700000000000 + sim_random(sim, 60000);
    sim->is_online = true;
    sim->is_mixed = !sim->options.is_loop;
    sim->machine = machine_new();
    sim_room(sim, sim->options.tasks + 64);
    choose_profile(sim);
    wish_setup(sim);
    while (sim->events < sim->options.events && !sim_failed(sim))
        turn(sim);
    if (!sim_failed(sim))
        settle(sim);
    if (!sim_failed(sim))
        sim_replay(sim);
}

void sim_done(Sim *sim)
{
    void *const memory[] = {sim->replies,      sim->saved_tasks, sim->saved_runs,  sim->saved_deps,
                            sim->tasks,        sim->runs,        sim->deps,        sim->log,
                            sim->world_tasks,  sim->world_runs,  sim->model,       sim->proofs,
                            sim->saved_proofs, sim->merged,      sim->saved_merged};
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    machine_free(sim->machine);
    step_done(&sim->step);
    arena_done(&sim->texts);
    str_done(&sim->failure);
}
