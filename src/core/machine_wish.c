/* What people ask for, and what the engine tells about itself. */
#include "core/machine_internal.h"
#include <string.h>

static const Limits default_limits = {
    .slots = 3,
    .max_turns = 50,
    .max_retries = 3,
    .max_conflict_tries = 3,
    .max_steps = 20,
    .pause_after = 3,
    .stuck_turns = 5,
    .timeout_ms = 30 * 60 * 1000,
    .pause_wait_ms = 5000,
    .has_workspace = true,
};

static bool on_project_added(Machine *machine, const Event *event)
{
    if (mind_of(machine, event->project))
        return false;
    Project project = {
        .id = event->project, .limits = default_limits, .is_offline = !machine->is_online};
    machine_load_project(machine, &project);
    project_changed(machine, &mind_of(machine, event->project)->row);
    say(machine, "a new project");
    return true;
}

static uint32_t limit(const json_t *json, const char *key, uint32_t fallback)
{
    int64_t value = json_int(json, key, fallback);
    return value < 0 || value > UINT32_MAX ? fallback : (uint32_t)value;
}

/* Phases that people asked for were those of the workflow that was followed until now. */
static void forget_phases(Machine *machine, ProjectId project)
{
    for (TaskId i = 1; i <= machine->task_count; i++) {
        Task *task = &machine->tasks[i];
        if (task->project != project || task->workflow || !task->next_phase)
            continue;
        task->next_phase = 0;
        task_changed(machine, task);
    }
}

static bool on_limits_set(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    json_t *json = event->text ? json_read(event->text, strlen(event->text), NULL) : NULL;
    if (!mind || !json) {
        json_decref(json);
        return false;
    }
    Limits *l = &mind->row.limits;
    l->slots = limit(json, "slots", l->slots);
    l->max_turns = limit(json, "max_turns", l->max_turns);
    l->max_retries = limit(json, "max_retries", l->max_retries);
    l->max_conflict_tries = limit(json, "max_conflict_tries", l->max_conflict_tries);
    l->pause_after = limit(json, "pause_after", l->pause_after);
    l->stuck_turns = limit(json, "stuck_turns", l->stuck_turns);
    l->max_steps = limit(json, "max_steps", l->max_steps);
    uint32_t workflow = l->workflow;
    l->workflow = limit(json, "workflow", l->workflow);
    if (l->workflow != workflow)
        forget_phases(machine, mind->row.id);
    l->timeout_ms = json_int(json, "timeout_ms", l->timeout_ms);
    l->pause_wait_ms = json_int(json, "pause_wait_ms", l->pause_wait_ms);
    l->pause_on_stuck = json_flag(json, "pause_on_stuck", l->pause_on_stuck);
    l->auto_confirm = json_flag(json, "auto_confirm", l->auto_confirm);
    l->has_workspace = json_flag(json, "has_workspace", l->has_workspace);
    json_decref(json);
    project_changed(machine, &mind->row);
    return true;
}

/* Fields that adding and editing share. */
static void fill_task(const Machine *machine, Task *task, const Event *event)
{
    task->tags = (uint8_t)event->a;
    task->priority = (uint8_t)event->b;
    json_t *json = event->ref ? json_read(event->ref, strlen(event->ref), NULL) : NULL;
    task->max_turns = limit(json, "max_turns", task->max_turns);
    task->timeout_ms = json_int(json, "timeout_ms", task->timeout_ms);
    task->workflow = (uint8_t)limit(json, "workflow", task->workflow);
    task->is_filled = json_flag(json, "filled", task->is_filled);
    task->is_confirmed = json_flag(json, "confirmed", task->is_confirmed);
    const Task *parent = task_at(machine, limit(json, "parent", task->parent));
    bool fits = parent && parent->project == task->project && parent->id != task->id;
    task->parent = fits ? parent->id : 0;
    json_decref(json);
}

static bool on_task_added(Machine *machine, const Event *event)
{
    if (!mind_of(machine, event->project) || task_at(machine, event->task) ||
        event->task != machine_next_task(machine))
        return false;
    Task task = {.id = event->task, .project = event->project, .created_ms = event->at_ms};
    fill_task(machine, &task, event);
    machine_load_task(machine, &task);
    machine_link_child(machine, task.id);
    Task *mine = task_at(machine, task.id);
    task_changed(machine, mine);
    say(machine, "#%u was added", task.id);
    reach_changed(machine, mine);
    return true;
}

/* What a person stopped may go on. */
static void wake_task(Machine *machine, Task *task)
{
    Run *run = run_at(machine, task->run);
    if (!run || run->stop != STOP_BY_USER)
        return;
    bool is_ending = run->state == RUN_STOPPING || run->state == RUN_SAVING;
    run->stop = is_ending ? STOP_BY_PAUSE : STOP_NONE; /* the agent was told to end already */
    run_changed(machine, run);
    task_refresh(machine, task);
}

void back_to_pending(Machine *machine, Task *task, bool is_fresh)
{
    task->retries = 0;
    task->not_before_ms = 0;
    task->is_fresh |= is_fresh; /* what was undone does not come back with a later retry */
    if (is_fresh)
        task->next_phase = 0; /* it begins at the beginning */
    ids_remove(&mind_of(machine, task->project)->delayed, task->id);
    set_task_state(machine, task, TASK_PENDING);
    task_changed(machine, task);
    wake_task(machine, task);
    reach_changed(machine, task);
}

static bool on_task_edited(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task)
        return false;
    uint8_t workflow = task->workflow;
    machine_unlink_child(machine, task->id);
    fill_task(machine, task, event);
    if (task->workflow != workflow)
        task->next_phase = 0; /* a phase of the other one */
    machine_link_child(machine, task->id);
    task_changed(machine, task);
    reach_changed(machine, task);
    say(machine, "#%u was changed", task->id);
    if (1u << task->state & (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED)) {
        say(machine, "so it is tried again"); /* D-134, D-138 */
        people_retry(machine, task);
        back_to_pending(machine, task, false);
    }
    return true;
}

static bool on_dependency_added(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task), *on = task_at(machine, (TaskId)event->a);
    TaskId cycle[8];
    uint32_t count = 0;
    if (!task || !on || task->project != on->project || event->b < 0 || event->b >= NEED_COUNT ||
        !deps_add(machine->deps, task->id, on->id, (Need)event->b, cycle, COUNT(cycle), &count)) {
        say(machine, "refused: %s",
            count ? "it would close a circle" : "there is no such task in this project");
        return false;
    }
    say(machine, "#%u waits for #%u to be %s", task->id, on->id, need_word((Need)event->b));
    task_refresh(machine, task);
    task_refresh(machine, on);
    return true;
}

static bool on_dependency_removed(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task), *on = task_at(machine, (TaskId)event->a);
    if (!task || !on || !deps_remove(machine->deps, task->id, on->id))
        return false;
    say(machine, "#%u waits for #%u no more", task->id, on->id);
    task_refresh(machine, task);
    task_refresh(machine, on);
    return true;
}

static bool on_hold(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    if (mind)
        mind->is_held = event->a;
    return mind != NULL;
}

static void wake_all(Machine *machine, const ProjectMind *mind)
{
    for (TaskId i = 1; i <= machine->task_count; i++)
        if (machine->tasks[i].id && machine->tasks[i].project == mind->row.id)
            wake_task(machine, &machine->tasks[i]);
}

static bool on_task_wanted(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task)
        return false;
    task->is_wanted = true;
    task_changed(machine, task);
    wake_task(machine, task);
    task_refresh(machine, task);
    return true;
}

static bool on_autopilot_started(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    if (!mind)
        return false;
    mind->row.only_wanted = event->a;
    if (event->b > 0)
        mind->row.limits.slots = (uint32_t)event->b;
    mind->row.failures = 0;
    project_changed(machine, &mind->row);
    wake_all(machine, mind);
    project_refresh(machine, mind);
    say(machine, "the autopilot runs with %u slots", mind->row.limits.slots);
    autopilot_set(machine, mind, AUTO_RUNNING);
    return true;
}

static bool on_pause(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    if (!mind || mind->row.autopilot == AUTO_PAUSED)
        return false;
    say(machine, "a person asked for a pause; turns under way may end first");
    autopilot_set(machine, mind, AUTO_PAUSING);
    if (event->a > 0)
        mind->row.pause_by_ms = event->at_ms + event->a;
    project_changed(machine, &mind->row);
    return true;
}

static bool on_resume(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    if (!mind || mind->row.autopilot == AUTO_RUNNING)
        return false;
    mind->row.failures = 0;
    wake_all(machine, mind);
    say(machine, "a person said: go on");
    autopilot_set(machine, mind, mind->row.is_offline ? AUTO_IDLE : AUTO_RUNNING);
    return true;
}

/* Runs that hold no slot and are not merging are put aside at once. */
static void stop_run(Machine *machine, Run *run, StopWish wish, bool is_forced)
{
    if (run->stop == STOP_BY_REMOVE || run->stop == STOP_BY_SKIP)
        wish = (StopWish)run->stop; /* its task is left out; no later stop brings it back */
    if (run->state == RUN_WORKING || run->state == RUN_STOPPING)
        run_stop(machine, run, wish, is_forced);
    else if (run_holds_slot(run->state) || run->state == RUN_RESETTING)
        run->stop = (uint8_t)wish; /* preparing, saving, verifying: at the end of the step */
    else {
        run->stop = (uint8_t)wish;
        run_park(machine, run, "stopped by a person");
    }
    run_changed(machine, run);
}

static bool on_stop(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    Run *run = task ? run_at(machine, task->run) : NULL;
    if (!run || task->state != TASK_ACTIVE ||
        (run->state >= RUN_MERGING && run->state <= RUN_LANDING))
        return false;
    say(machine, "a person stopped it; the next `otto run` takes it up again");
    stop_run(machine, run, STOP_BY_USER, event->a);
    return true;
}

static bool on_stop_all(Machine *machine, const Event *event)
{
    ProjectMind *mind = mind_of(machine, event->project);
    if (!mind)
        return false;
    say(machine, "a person stopped everything");
    autopilot_set(machine, mind, AUTO_PAUSING);
    for (uint32_t i = mind->live.count; i-- > 0;)
        stop_run(machine, run_at(machine, mind->live.ids[i]), STOP_BY_USER, event->a);
    for (uint32_t i = 0; i < mind->merges.count; i++) {
        Run *run = run_at(machine, mind->merges.ids[i]);
        if (run->state == RUN_PROVING) { /* nothing has moved yet */
            run->stop = STOP_BY_USER;
            run_changed(machine, run);
        }
    }
    return true;
}

static bool on_retry(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    say(machine, "a person asked to try again%s", event->a ? ", from the target" : "");
    if (!event->a)
        people_retry(machine, task);
    back_to_pending(machine, task, event->a);
    return true;
}

/* A running agent is stopped first; its end brings the state. */
static bool leave_out(Machine *machine, const Event *event, TaskState state, StopWish wish)
{
    Task *task = task_at(machine, event->task);
    Run *run = run_at(machine, task->run); /* machine_check knows the task */
    if ((task->state != TASK_ACTIVE && task->state != TASK_REVIEW) || !run) {
        set_task_state(machine, task, state);
        reach_changed(machine, task);
        return true;
    }
    run->stop = (uint8_t)wish;
    stop_run(machine, run, wish, false);
    return true;
}

/* The kept workspace of a run that is over goes to the trash; the state stays (D-136). */
static bool put_away(Machine *machine, const Task *task)
{
    Run *run = task ? run_at(machine, task->run) : NULL;
    if (!run || !run->has_workspace || !run->commit[0] ||
        (run->state != RUN_ENDED && run->state != RUN_PARKED))
        return false;
    set_run_state(machine, run, RUN_RETIRING);
    return true;
}

static bool on_skip(Machine *machine, const Event *event)
{
    say(machine, "a person left it out%s%s", event->text ? ": " : "",
        event->text ? event->text : "");
    return leave_out(machine, event, TASK_SKIPPED, STOP_BY_SKIP);
}

static bool on_remove(Machine *machine, const Event *event)
{
    say(machine, "a person removed it");
    if (!leave_out(machine, event, TASK_CANCELLED, STOP_BY_REMOVE))
        return false;
    Task *task = task_at(machine, event->task);
    if (task->state == TASK_CANCELLED)
        (void)put_away(machine, task); /* there may be none */
    return true;
}

static bool on_discard(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task || task->state == TASK_ACTIVE || task->state == TASK_PENDING)
        return false;
    say(machine, "a person put its workspace in the trash");
    return put_away(machine, task);
}

static bool on_restore(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task || task->state != TASK_CANCELLED)
        return false;
    say(machine, "a person brought it back");
    back_to_pending(machine, task, false);
    return true;
}

static bool on_answer(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    Run *run = task ? run_at(machine, task->run) : NULL;
    if (!run)
        return false;
    if (run->state == RUN_ASKING) {
        run_apply(machine, run, "answered", NULL);
        return true;
    }
    if (task->state != TASK_BLOCKED)
        return false;
    say(machine, "a person answered; it goes on from its last snapshot");
    people_retry(machine, task);
    back_to_pending(machine, task, false);
    return true;
}

static bool on_rollback(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task || task->is_undoing)
        return false;
    if (task->state == TASK_DONE) {
        task->is_undoing = true;
        task_changed(machine, task);
        say(machine, "a person asked to undo what it landed");
        emit(machine, FX_ROLLBACK, task, NULL, NULL);
        return true;
    }
    if (!(1u << task->state &
          (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED | 1u << TASK_REVIEW)))
        return false;
    if (task->state == TASK_REVIEW)
        run_park(machine, run_at(machine, task->run), "not approved");
    say(machine, "nothing of it had landed; the next run starts from the target (D-135)");
    back_to_pending(machine, task, true);
    return true;
}

static bool on_rolled_back(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task || !task->is_undoing)
        return false;
    task->is_undoing = false;
    say(machine, "what it landed is undone; it is pending again (D-135)");
    back_to_pending(machine, task, true);
    return true;
}

static bool on_rollback_failed(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    if (!task || !task->is_undoing)
        return false;
    task->is_undoing = false;
    task_changed(machine, task);
    say(machine, "could not be undone: %s", event->text ? event->text : "unknown");
    emit(machine, FX_NOTICE, task, NULL, "rollback");
    return true;
}

/* A workspace of landed work that could not be put away is looked at again. */
static void retire_again(Machine *machine)
{
    for (RunId i = 1; i <= machine->run_count; i++) {
        Run *run = machine->runs[i];
        const Task *task = run ? task_at(machine, run->task) : NULL;
        if (task && task->run == run->id && task->state == TASK_DONE && run->state == RUN_ENDED &&
            run->has_workspace)
            set_run_state(machine, run, RUN_RETIRING);
    }
}

static bool on_engine_started(Machine *machine, const Event *event)
{
    if (event->a)
        retire_again(machine);
    machine->disk_level = 0;
    machine->is_online = event->a;
    for (ProjectId i = 1; i <= machine->project_count; i++)
        if (machine->projects[i]) {
            machine->projects[i]->row.is_offline = !event->a;
            machine->projects[i]->is_held = false;
            project_changed(machine, &machine->projects[i]->row);
            mind_rebuild(machine, machine->projects[i]);
        }
    return true;
}

static bool on_tick(Machine *machine, const Event *event)
{
    (void)event;
    for (ProjectId i = 1; i <= machine->project_count; i++)
        if (machine->projects[i])
            autopilot_tick(machine, machine->projects[i]);
    return true;
}

/* D-152: below 500 MB nothing new starts, below 100 MB everything stops. */
static bool on_disk(Machine *machine, const Event *event)
{
    int before = machine->disk_level;
    machine->disk_level = (int)event->b;
    static const char *const words[] = {"enough disk again", "disk is getting low",
                                        "disk is low: nothing new is started",
                                        "disk is nearly full: agents are stopped"};
    say(machine, "%s (%lld MB free)", words[CLAMP(machine->disk_level, 0, 3)], (long long)event->a);
    for (ProjectId i = 1; i <= machine->project_count; i++) {
        ProjectMind *mind = machine->projects[i];
        for (uint32_t k = mind && machine->disk_level >= 3 && before < 3 ? mind->live.count : 0;
             k-- > 0;)
            stop_run(machine, run_at(machine, mind->live.ids[k]), STOP_BY_PAUSE, false);
    }
    return true;
}

/* Already decided when it was written. */
static bool on_note(Machine *machine, const Event *event)
{
    (void)machine;
    (void)event;
    return true;
}

typedef bool WishFn(Machine *machine, const Event *event);

/* clang-format off */
static WishFn *const handlers[EVENT_COUNT] = {
    [EV_PROJECT_ADDED]      = on_project_added,
    [EV_LIMITS_SET]         = on_limits_set,
    [EV_TASK_ADDED]         = on_task_added,
    [EV_TASK_EDITED]        = on_task_edited,
    [EV_DEPENDENCY_ADDED]   = on_dependency_added,
    [EV_DEPENDENCY_REMOVED] = on_dependency_removed,
    [EV_HOLD]               = on_hold,
    [EV_TASK_WANTED]        = on_task_wanted,
    [EV_AUTOPILOT_STARTED]  = on_autopilot_started,
    [EV_PAUSE]              = on_pause,
    [EV_RESUME]             = on_resume,
    [EV_STOP]               = on_stop,
    [EV_STOP_ALL]           = on_stop_all,
    [EV_RETRY]              = on_retry,
    [EV_SKIP]               = on_skip,
    [EV_REMOVE]             = on_remove,
    [EV_RESTORE]            = on_restore,
    [EV_ANSWER]             = on_answer,
    [EV_ROLLBACK]           = on_rollback,
    [EV_ROLLED_BACK]        = on_rolled_back,
    [EV_ROLLBACK_FAILED]    = on_rollback_failed,
    [EV_ENGINE_STARTED]     = on_engine_started,
    [EV_TICK]               = on_tick,
    [EV_DISK]               = on_disk,
    [EV_NOTE]               = on_note,
    [EV_DISCARD]            = on_discard,
    [EV_WORKFLOW_DEFINED]   = on_workflow_defined,
    [EV_REVIEWED]           = on_reviewed,
    [EV_TARGET_SET]         = on_target_set,
    [EV_REFINED]            = on_refined,
    [EV_COMMAND]            = on_command,
};
/* clang-format on */

bool wish_event(Machine *machine, const Event *event)
{
    WishFn *handler = handlers[event->kind];
    Err err = {0};
    if (!machine_check(machine, event, &err)) {
        say(machine, "refused: %s", err.text);
        return false;
    }
    if (!handler || !handler(machine, event))
        return false;
    if (event->kind == EV_NOTE)
        return true; /* nothing follows from it */
    const Task *task = task_at(machine, event->task);
    ProjectId project = event->project ? event->project : task ? task->project : 0;
    if (mind_of(machine, project))
        slots_fill(machine, mind_of(machine, project));
    else
        for (ProjectId i = 1; i <= machine->project_count; i++)
            if (machine->projects[i])
                slots_fill(machine, machine->projects[i]);
    return true;
}
