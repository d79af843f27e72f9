/* What people ask for: at the start, at random, and at the end to bring everything to its end. */
#include "tests/sim/sim.h"

static ProjectId any_project(Sim *sim)
{
    return 1 + sim_random(sim, sim->project_count);
}

static TaskId any_task(Sim *sim)
{
    return 1 + sim_random(sim, machine_task_count(sim->machine));
}

static uint8_t any_tags(Sim *sim)
{
    uint8_t tags = 0;
    for (unsigned bit = TAG_CRITICAL; bit <= TAG_NEXT; bit <<= 1)
        tags |= sim_chance(sim, 150) ? (uint8_t)bit : 0;
    return tags | (sim_chance(sim, 50) ? TAG_LATER : 0);
}

/* One draw a statement, here and elsewhere: a seed means the same with every compiler. */
static const char *any_limits(Sim *sim)
{
    uint32_t parent = machine_task_count(sim->machine) && sim_chance(sim, 300) ? any_task(sim) : 0;
    uint32_t turns = sim_chance(sim, 200) ? 1 + sim_random(sim, 9) : 0;
    uint32_t timeout_ms = sim_chance(sim, 200) ? 60000 + sim_random(sim, 3600000) : 0;
    const char *flow = "";
    if (sim->is_mixed && (sim->event == EV_HOLD || sim_chance(sim, 200))) {
        uint32_t number = flow_any(sim), filled = sim_random(sim, 4), sure = sim_random(sim, 2);
        flow = arena_printf(&sim->texts, ",\"workflow\":%u,\"filled\":%s,\"confirmed\":%s",
                            number + 1, filled ? "true" : "false", sure ? "true" : "false");
    }
    return arena_printf(&sim->texts, "{\"max_turns\":%u,\"timeout_ms\":%u,\"parent\":%u%s}", turns,
                        timeout_ms, parent, flow);
}

static void fill_task(Sim *sim, Event *event)
{
    event->a = any_tags(sim);
    event->b = sim_chance(sim, 500) ? PRIORITY_NONE : (int64_t)sim_random(sim, 4);
    event->text = "a task";
    event->ref = any_limits(sim);
}

/* Mostly onto older tasks; now and then a circle is tried. */
static void add_dependency(Sim *sim, TaskId task)
{
    Event event = {.kind = EV_DEPENDENCY_ADDED, .task = task};
    event.a = task > 1 && sim_chance(sim, 900) ? 1 + sim_random(sim, task - 1) : any_task(sim);
    event.b = sim_random(sim, NEED_COUNT);
    (void)sim_step(sim, event); /* a circle or another project: refused */
}

static void add_task(Sim *sim)
{
    Event event = {.kind = EV_TASK_ADDED, .project = any_project(sim)};
    Event hold = {.kind = EV_HOLD, .project = event.project, .a = 1};
    event.task = machine_next_task(sim->machine);
    fill_task(sim, &event);
    (void)sim_step(sim, hold); /* always taken */
    if (!sim_step(sim, event))
        sim_fail(sim, "a task could not be added");
    for (uint32_t left = sim_chance(sim, 600) ? 1 + sim_random(sim, 2) : 0; left; left--)
        add_dependency(sim, event.task);
    if (machine_task(sim->machine, event.task)->state != TASK_PENDING)
        sim_fail(sim, "t%u was taken before its dependencies were there", event.task);
    hold.a = 0;
    (void)sim_step(sim, hold); /* now it may be taken */
}

static void add_limit(Sim *sim, Str *json, const char *name, uint32_t least, uint32_t range)
{
    str_addf(json, "%c\"%s\":%u", json->length ? ',' : '{', name, least + sim_random(sim, range));
}

static void set_limits(Sim *sim, ProjectId project, bool may_change_kind)
{
    Event event = {.kind = EV_LIMITS_SET, .project = project};
    Str json = STR_INIT;
    add_limit(sim, &json, "slots", 1, 5);
    add_limit(sim, &json, "max_turns", 3, 20);
    add_limit(sim, &json, "max_retries", 0, 4);
    add_limit(sim, &json, "max_conflict_tries", 0, 4);
    add_limit(sim, &json, "pause_after", 0, 6);
    add_limit(sim, &json, "stuck_turns", 0, 5);
    add_limit(sim, &json, "timeout_ms", 120000, 1800000);
    str_addf(&json, ",\"pause_on_stuck\":%s", sim_chance(sim, 200) ? "true" : "false");
    if (sim->is_mixed) {
        add_limit(sim, &json, "max_steps", 3, 24);
        str_addf(&json, ",\"workflow\":%u", flow_any(sim));
        str_addf(&json, ",\"auto_confirm\":%s", sim_chance(sim, 300) ? "true" : "false");
    }
    if (may_change_kind)
        str_addf(&json, ",\"has_workspace\":%s", sim_chance(sim, 850) ? "true" : "false");
    str_add(&json, "}");
    event.text = arena_strdup(&sim->texts, str_text(&json));
    str_done(&json);
    (void)sim_step(sim, event); /* always taken */
}

void wish_setup(Sim *sim)
{
    uint32_t projects = 1 + sim_random(sim, PROJECTS_MAX - 1);
    (void)sim_step(sim, (Event){.kind = EV_ENGINE_STARTED, .a = 1}); /* always taken */
    if (sim->is_mixed)
        flow_setup(sim);
    for (ProjectId i = 1; i <= projects; i++) {
        (void)sim_step(sim, (Event){.kind = EV_PROJECT_ADDED, .project = i}); /* new */
        sim->project_count = i;
        set_limits(sim, i, true);
    }
    for (uint32_t i = 0; i < sim->options.tasks; i++)
        add_task(sim);
    for (ProjectId i = 1; i <= sim->project_count; i++)
        (void)sim_step(sim, (Event){.kind = EV_AUTOPILOT_STARTED, .project = i}); /* taken */
    sim_commit(sim);
    sim_act(sim);
}

static void start_autopilot(Sim *sim)
{
    Event event = {.kind = EV_AUTOPILOT_STARTED, .project = any_project(sim)};
    event.a = sim_chance(sim, 200);
    event.b = sim_chance(sim, 300) ? 1 + sim_random(sim, 5) : 0;
    for (uint32_t i = 0; event.a && i < 5; i++)
        (void)sim_step(sim, (Event){.kind = EV_TASK_WANTED, .task = any_task(sim)}); /* or not */
    (void)sim_step(sim, event); /* always taken */
}

static void edit_task(Sim *sim)
{
    Event event = {.kind = EV_TASK_EDITED, .task = any_task(sim)};
    fill_task(sim, &event);
    (void)sim_step(sim, event); /* a removed one is refused */
}

static void remove_dependency(Sim *sim)
{
    if (sim->dep_count == 0)
        return;
    const Dependency *dep = &sim->deps[sim_random(sim, sim->dep_count)];
    Event event = {.kind = EV_DEPENDENCY_REMOVED, .task = dep->task, .a = dep->on};
    if (!sim_step(sim, event))
        sim_fail(sim, "a dependency could not be removed");
}

static void disk_level(Sim *sim)
{
    Event event = {.kind = EV_DISK, .a = 5000};
    event.b = sim_chance(sim, 700) ? 0 : sim_random(sim, 4);
    (void)sim_step(sim, event); /* always taken */
}

static void on_task(Sim *sim, EventKind kind)
{
    Event event = {.kind = kind, .task = any_task(sim)};
    event.a = sim_chance(sim, 300);
    (void)sim_step(sim, event); /* mostly refused: the wish is blind */
}

static void on_project(Sim *sim, EventKind kind, int64_t a)
{
    (void)sim_step(sim, (Event){.kind = kind, .project = any_project(sim), .a = a});
}

/* A report of a run that is not there, or of an epoch that is not now. */
static void zombie(Sim *sim)
{
    RunId id = 1 + sim_random(sim, machine_run_count(sim->machine) + 2);
    const Run *run = machine_run(sim->machine, id);
    Event event = {.run = id, .task = run ? run->task : 0, .project = run ? run->project : 0};
    do {
        event.kind = EV_WORKSPACE_READY + sim_random(sim, EV_OBSERVED - EV_WORKSPACE_READY + 1);
    } while (!check_is_report(event.kind));
    event.turn = run ? run->turn : 0;
    event.epoch = run ? run->epoch + 1 - 2 * sim_random(sim, 2) : 1;
    event.a = sim_random(sim, 3);
    if (sim_step(sim, event))
        sim_fail(sim, "%s of a zombie was accepted", event_word(event.kind));
}

void wish_random(Sim *sim)
{
    if (sim->is_mixed && sim_chance(sim, 400)) {
        flow_wish(sim);
        return;
    }
    uint32_t r = sim_random(sim, 100);
    if (r < 5)
        add_task(sim);
    else if (r < 10)
        edit_task(sim);
    else if (r < 14)
        add_dependency(sim, any_task(sim));
    else if (r < 18)
        remove_dependency(sim);
    else if (r < 24)
        start_autopilot(sim);
    else if (r < 28)
        on_project(sim, EV_PAUSE, sim_chance(sim, 500) ? 5000 : 0);
    else if (r < 40)
        on_project(sim, EV_RESUME, 0);
    else if (r < 46)
        on_task(sim, EV_STOP);
    else if (r < 47)
        on_project(sim, EV_STOP_ALL, sim_chance(sim, 300));
    else if (r < 60)
        on_task(sim, EV_RETRY);
    else if (r < 63)
        on_task(sim, EV_SKIP);
    else if (r < 66)
        on_task(sim, EV_REMOVE);
    else if (r < 70)
        on_task(sim, EV_RESTORE);
    else if (r < 88)
        on_task(sim, EV_ANSWER);
    else if (r < 94)
        on_task(sim, EV_ROLLBACK);
    else if (r < 96)
        set_limits(sim, any_project(sim), r == 94);
    else if (r < 97)
        disk_level(sim);
    else if (r < 98)
        zombie(sim);
    else
        on_task(sim, EV_TASK_WANTED);
}

void wish_everything(Sim *sim)
{
    for (TaskId i = 1; i <= machine_task_count(sim->machine); i++) {
        const Task *task = machine_task(sim->machine, i);
        const Run *run = machine_run(sim->machine, task->run);
        if (sim->is_mixed)
            flow_answer(sim, i);
        else if (run && run->state == RUN_ASKING)
            (void)sim_step(sim, (Event){.kind = EV_ANSWER, .task = i}); /* it asked */
        else if (1u << task->state & (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED))
            (void)sim_step(sim, (Event){.kind = EV_RETRY, .task = i}); /* it ended */
    }
    for (ProjectId i = 1; i <= sim->project_count; i++)
        if (machine_project(sim->machine, i)->limits.slots == 0)
            set_limits(sim, i, false);
    for (ProjectId i = 1; i <= sim->project_count; i++)
        (void)sim_step(sim, (Event){.kind = EV_AUTOPILOT_STARTED, .project = i}); /* taken */
}
