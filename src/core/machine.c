/* The machine: rows, dirty lists, effects, and the dispatch of events. See machine.h. */
#include "core/machine.h"
#include "core/machine_internal.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ids_add(IdList *list, uint32_t id)
{
    if (list->count == list->size) {
        list->size = list->size ? list->size * 2 : 8;
        list->ids = mem_grow(list->ids, list->size, sizeof *list->ids);
    }
    list->ids[list->count++] = id;
}

void ids_remove(IdList *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ids[i] == id) {
            memmove(&list->ids[i], &list->ids[i + 1], (list->count - i - 1) * sizeof *list->ids);
            list->count--;
            return;
        }
}

bool ids_have(const IdList *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ids[i] == id)
            return true;
    return false;
}

Machine *machine_new(void)
{
    Machine *machine = mem_alloc(sizeof *machine);
    machine->deps = deps_new();
    return machine;
}

static void mind_free(ProjectMind *mind)
{
    if (!mind)
        return;
    queue_free(mind->ready);
    free(mind->waiting.ids);
    free(mind->live.ids);
    free(mind->merges.ids);
    free(mind->delayed.ids);
    free(mind->later.ids);
    free(mind);
}

void machine_free(Machine *machine)
{
    if (!machine)
        return;
    for (uint32_t i = 0; i <= machine->project_count && machine->projects; i++)
        mind_free(machine->projects[i]);
    for (uint32_t i = 0; i <= machine->run_count && machine->runs; i++)
        free(machine->runs[i]);
    deps_free(machine->deps);
    free(machine->projects);
    free(machine->tasks);
    free(machine->runs);
    free(machine->first_child);
    free(machine->next_child);
    free(machine->dirty_projects.ids);
    free(machine->dirty_tasks.ids);
    free(machine->dirty_runs.ids);
    free(machine->out_projects);
    free(machine->out_tasks);
    free(machine->out_runs);
    free(machine->effects);
    arena_done(&machine->texts);
    arena_done(&machine->flow_arena);
    free(machine);
}

/* Rows by id */

ProjectMind *mind_of(const Machine *machine, ProjectId id)
{
    return id && id <= machine->project_count ? machine->projects[id] : NULL;
}

Task *task_at(const Machine *machine, TaskId id)
{
    if (!id || id > machine->task_count || !machine->tasks[id].id)
        return NULL;
    return &machine->tasks[id];
}

Run *run_at(const Machine *machine, RunId id)
{
    return id && id <= machine->run_count ? machine->runs[id] : NULL;
}

static void grow_tasks(Machine *machine, TaskId id)
{
    if (id < machine->task_size) {
        machine->task_count = MAX(machine->task_count, id);
        return;
    }
    uint32_t size = MAX(id + 1, MAX(machine->task_size * 2, 16u));
    uint32_t old = machine->task_size;
    machine->tasks = mem_grow(machine->tasks, size, sizeof *machine->tasks);
    machine->first_child = mem_grow(machine->first_child, size, sizeof(TaskId));
    machine->next_child = mem_grow(machine->next_child, size, sizeof(TaskId));
    memset(machine->tasks + old, 0, (size - old) * sizeof *machine->tasks);
    memset(machine->first_child + old, 0, (size - old) * sizeof(TaskId));
    memset(machine->next_child + old, 0, (size - old) * sizeof(TaskId));
    machine->task_size = size;
    machine->task_count = MAX(machine->task_count, id);
}

static void grow_runs(Machine *machine, RunId id)
{
    if (id >= machine->run_size) {
        uint32_t size = MAX(id + 1, MAX(machine->run_size * 2, 16u));
        machine->runs = mem_grow(machine->runs, size, sizeof *machine->runs);
        memset(machine->runs + machine->run_size, 0,
               (size - machine->run_size) * sizeof *machine->runs);
        machine->run_size = size;
    }
    machine->run_count = MAX(machine->run_count, id);
}

void machine_set_run_count(Machine *machine, RunId highest)
{
    grow_runs(machine, highest);
}

void machine_reserve(Machine *machine, uint32_t tasks, uint32_t dependencies)
{
    uint32_t count = machine->task_count;
    grow_tasks(machine, tasks);
    machine->task_count = count;
    deps_reserve(machine->deps, tasks, dependencies);
}

void machine_load_project(Machine *machine, const Project *project)
{
    if (project->id >= machine->project_size) {
        uint32_t size = MAX(project->id + 1, MAX(machine->project_size * 2, 4u));
        machine->projects = mem_grow(machine->projects, size, sizeof *machine->projects);
        memset(machine->projects + machine->project_size, 0,
               (size - machine->project_size) * sizeof *machine->projects);
        machine->project_size = size;
    }
    machine->project_count = MAX(machine->project_count, project->id);
    ProjectMind *mind = machine->projects[project->id];
    if (!mind) {
        mind = machine->projects[project->id] = mem_alloc(sizeof *mind);
        mind->ready = queue_new();
    }
    mind->row = *project;
    mind->row.slots_used = mind->live.count;
    mind->row.is_dirty = false;
}

void machine_link_child(Machine *machine, TaskId id)
{
    Task *task = task_at(machine, id), *parent = task ? task_at(machine, task->parent) : NULL;
    if (!parent || machine->next_child[id] || machine->first_child[parent->id] == id)
        return;
    machine->next_child[id] = machine->first_child[parent->id];
    machine->first_child[parent->id] = id;
    parent->children++;
    parent->children_done += task->state == TASK_DONE;
}

void machine_unlink_child(Machine *machine, TaskId id)
{
    Task *task = task_at(machine, id), *parent = task ? task_at(machine, task->parent) : NULL;
    TaskId *at = parent ? &machine->first_child[parent->id] : NULL;
    while (at && *at && *at != id)
        at = &machine->next_child[*at];
    if (!at || !*at)
        return;
    *at = machine->next_child[id];
    machine->next_child[id] = 0;
    parent->children--;
    parent->children_done -= task->state == TASK_DONE;
    for (TaskId other = machine->first_child[parent->id]; other; other = machine->next_child[other])
        task_refresh(machine, task_at(machine, other)); /* its share of the whole has changed */
}

void machine_load_task(Machine *machine, const Task *task)
{
    grow_tasks(machine, task->id);
    Task *mine = &machine->tasks[task->id];
    *mine = *task;
    mine->is_dirty = false;
    mine->children = mine->children_done = 0;
    deps_grow(machine->deps, task->id);
}

void machine_load_run(Machine *machine, const Run *run)
{
    grow_runs(machine, run->id);
    if (!machine->runs[run->id])
        machine->runs[run->id] = mem_alloc(sizeof(Run));
    *machine->runs[run->id] = *run;
    machine->runs[run->id]->is_dirty = false;
}

void machine_load_dependency(Machine *machine, const Dependency *dependency)
{
    deps_load(machine->deps, dependency->task, dependency->on, dependency->need);
}

/* No agent and no slot, and yet something goes on: reports and resets. */
static bool is_engine_work(RunState state)
{
    return state == RUN_REPORTING || state == RUN_RESETTING;
}

static void place_run(Machine *machine, Run *run)
{
    ProjectMind *mind = mind_of(machine, run->project);
    if (!mind)
        return;
    if (run_holds_slot(run->state))
        ids_add(&mind->live, run->id);
    if (run->state == RUN_WAITING)
        ids_add(&mind->waiting, run->id);
    if (run->state >= RUN_QUEUED && run->state <= RUN_LANDING)
        ids_add(&mind->merges, run->id);
    if (run->retry_ms)
        ids_add(&mind->later, run->id);
    mind->reporting += is_engine_work(run->state);
    mind->row.slots_used = mind->live.count;
}

void machine_loaded(Machine *machine)
{
    for (RunId i = 1; i <= machine->run_count; i++)
        if (machine->runs[i])
            place_run(machine, machine->runs[i]);
    for (TaskId i = 1; i <= machine->task_count; i++)
        machine_link_child(machine, i);
    for (TaskId i = 1; i <= machine->task_count; i++)
        if (machine->tasks[i].id)
            reach_changed(machine, &machine->tasks[i]);
    for (ProjectId i = 1; i <= machine->project_count; i++)
        if (machine->projects[i])
            mind_rebuild(machine, machine->projects[i]);
}

TaskId machine_next_task(const Machine *machine)
{
    return machine->task_count + 1;
}

ProjectId machine_next_project(const Machine *machine)
{
    return machine->project_count + 1;
}

const Project *machine_project(const Machine *machine, ProjectId id)
{
    const ProjectMind *mind = mind_of(machine, id);
    return mind ? &mind->row : NULL;
}

const Task *machine_task(const Machine *machine, TaskId id)
{
    return task_at(machine, id);
}

const Run *machine_run(const Machine *machine, RunId id)
{
    return run_at(machine, id);
}

uint32_t machine_task_count(const Machine *machine)
{
    return machine->task_count;
}

uint32_t machine_run_count(const Machine *machine)
{
    return machine->run_count;
}

/* Changes, reasons, effects */

void project_changed(Machine *machine, Project *project)
{
    if (!project->is_dirty)
        ids_add(&machine->dirty_projects, project->id);
    project->is_dirty = true;
}

void task_changed(Machine *machine, Task *task)
{
    if (!task->is_dirty)
        ids_add(&machine->dirty_tasks, task->id);
    task->is_dirty = true;
}

void run_changed(Machine *machine, Run *run)
{
    if (!run->is_dirty)
        ids_add(&machine->dirty_runs, run->id);
    run->is_dirty = true;
}

Dirty machine_dirty(Machine *machine)
{
    const IdList *p = &machine->dirty_projects, *t = &machine->dirty_tasks,
                 *r = &machine->dirty_runs;
    machine->out_projects = mem_grow(machine->out_projects, p->count, sizeof(Project *));
    machine->out_tasks = mem_grow(machine->out_tasks, t->count, sizeof(Task *));
    machine->out_runs = mem_grow(machine->out_runs, r->count, sizeof(Run *));
    for (uint32_t i = 0; i < p->count; i++)
        machine->out_projects[i] = &machine->projects[p->ids[i]]->row;
    for (uint32_t i = 0; i < t->count; i++)
        machine->out_tasks[i] = &machine->tasks[t->ids[i]];
    for (uint32_t i = 0; i < r->count; i++)
        machine->out_runs[i] = machine->runs[r->ids[i]];
    return (Dirty){
        machine->out_projects, machine->out_tasks, machine->out_runs, p->count, t->count, r->count};
}

/* A run that is over and is not its task's latest is not needed for any decision. */
static void forget_run(Machine *machine, RunId id)
{
    Run *run = machine->runs[id];
    const Task *task = task_at(machine, run->task);
    if (run->state != RUN_ENDED || (task && task->run == id))
        return;
    free(run);
    machine->runs[id] = NULL;
}

void machine_flushed(Machine *machine)
{
    for (uint32_t i = 0; i < machine->dirty_projects.count; i++)
        machine->projects[machine->dirty_projects.ids[i]]->row.is_dirty = false;
    for (uint32_t i = 0; i < machine->dirty_tasks.count; i++)
        machine->tasks[machine->dirty_tasks.ids[i]].is_dirty = false;
    for (uint32_t i = 0; i < machine->dirty_runs.count; i++) {
        machine->runs[machine->dirty_runs.ids[i]]->is_dirty = false;
        forget_run(machine, machine->dirty_runs.ids[i]);
    }
    machine->dirty_projects.count = machine->dirty_tasks.count = machine->dirty_runs.count = 0;
}

void note(Machine *machine, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (machine->step->decision.length)
        str_add_char(&machine->step->decision, ' ');
    str_add_bytes(&machine->step->decision, text, MIN((size_t)MAX(length, 0), sizeof text - 1));
}

void say(Machine *machine, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (machine->step->why.length)
        str_add(&machine->step->why, "; ");
    str_add_bytes(&machine->step->why, text, MIN((size_t)MAX(length, 0), sizeof text - 1));
}

void say_about(Machine *machine, TaskId task, const char *format, ...)
{
    StepNote entry = {.task = task};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(entry.text, sizeof entry.text, format, args); /* cut is fine */
    va_end(args);
    if (task == machine->about) {
        say(machine, "%s", entry.text);
        return;
    }
    Step *step = machine->step;
    if (step->note_count == step->note_size) {
        step->note_size = step->note_size ? step->note_size * 2 : 4;
        step->notes = mem_grow(step->notes, step->note_size, sizeof *step->notes);
    }
    step->notes[step->note_count++] = entry;
}

void emit(Machine *machine, EffectKind kind, const Task *task, const Run *run, const char *text)
{
    if (kind == FX_NONE)
        return;
    if (machine->effect_count == machine->effect_size) {
        machine->effect_size = machine->effect_size ? machine->effect_size * 2 : 16;
        machine->effects =
            mem_grow(machine->effects, machine->effect_size, sizeof *machine->effects);
    }
    machine->effects[machine->effect_count++] = (Effect){
        .kind = kind,
        .project = task ? task->project : 0,
        .task = task ? task->id : 0,
        .run = run ? run->id : 0,
        .epoch = run ? run->epoch : 0,
        .turn = run ? run->turn : 0,
        .text = arena_strdup(&machine->texts, text),
    };
    if (machine->step && kind != FX_NOTICE)
        note(machine, "fx:%s", effect_word(kind));
}

const Effect *machine_effects(Machine *machine, uint32_t *count)
{
    *count = machine->effect_count;
    return machine->effects;
}

void machine_effects_taken(Machine *machine)
{
    machine->effect_count = 0;
    arena_reset(&machine->texts);
}

/* What a step of the start decided is owed too, and must not be owed twice. */
static void drop_owed(Machine *machine)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < machine->effect_count; i++) {
        EffectKind kind = machine->effects[i].kind;
        if (kind == FX_NOTICE || kind == FX_AUTOPILOT_ENDED || kind == FX_KILL_TURN)
            machine->effects[kept++] = machine->effects[i];
    }
    machine->effect_count = kept;
}

void machine_owe_again(Machine *machine)
{
    drop_owed(machine);
    for (RunId i = 1; i <= machine->run_count; i++) {
        const Run *run = machine->runs[i];
        if (run && !run->retry_ms)
            emit(machine, run_owes(run->state), task_at(machine, run->task), run, NULL);
    }
    for (TaskId i = 1; i <= machine->task_count; i++)
        if (machine->tasks[i].is_undoing)
            emit(machine, FX_ROLLBACK, &machine->tasks[i], NULL, NULL);
}

void set_task_state(Machine *machine, Task *task, TaskState state)
{
    if (task->state == state)
        return;
    note(machine, "t%u:%s>%s", task->id, task_state_word(task->state), task_state_word(state));
    Task *parent = task_at(machine, task->parent);
    if (parent)
        parent->children_done += (uint32_t)((state == TASK_DONE) - (task->state == TASK_DONE));
    task->state = state;
    task_changed(machine, task);
}

/* Slots follow from states: nothing else takes or gives one. */
static void move_slot(Machine *machine, ProjectMind *mind, Run *run, RunState state)
{
    bool had = run_holds_slot(run->state), has = run_holds_slot(state);
    if (had && !has) {
        run->spent_ms += MAX(machine->now_ms - run->slot_ms, 0);
        run->slot_ms = 0;
        ids_remove(&mind->live, run->id);
    } else if (has && !had) {
        run->slot_ms = machine->now_ms;
        ids_add(&mind->live, run->id);
    }
    mind->row.slots_used = mind->live.count;
}

void set_run_state(Machine *machine, Run *run, RunState state)
{
    ProjectMind *mind = mind_of(machine, run->project);
    move_slot(machine, mind, run, state);
    note(machine, "r%u:%s>%s", run->id, run_state_word(run->state), run_state_word(state));
    mind->reporting += (uint32_t)(is_engine_work(state) - is_engine_work(run->state));
    if (run->state == RUN_WAITING)
        ids_remove(&mind->waiting, run->id);
    run->state = state;
    if (state == RUN_WAITING)
        ids_add(&mind->waiting, run->id);
    if (run->retry_ms) {
        run->retry_ms = 0;
        ids_remove(&mind->later, run->id);
    }
    run_changed(machine, run);
    emit(machine, run_owes(state), task_at(machine, run->task), run, NULL);
}

Run *run_new(Machine *machine, Task *task)
{
    RunId id = machine->run_count + 1;
    grow_runs(machine, id);
    Run *run = machine->runs[id] = mem_alloc(sizeof *run);
    *run = (Run){.id = id,
                 .task = task->id,
                 .project = task->project,
                 .state = RUN_PARKED,
                 .started_ms = machine->now_ms};
    const Run *last = run_at(machine, task->run);
    if (last && last->commit[0] && !task->is_fresh) {
        run->from = last->id;
        memcpy(run->commit, last->commit, HASH_SIZE); /* what it begins with */
        memcpy(run->base, last->base, HASH_SIZE);     /* until a workspace says otherwise */
    }
    run_flow_init(machine, run, last, task);
    task->run = id;
    task->attempts++;
    task_changed(machine, task);
    return run;
}

/* The step */

void step_done(Step *step)
{
    str_done(&step->decision);
    str_done(&step->why);
    free(step->notes);
    free(step->routes);
    *step = (Step){0};
}

static bool is_report(EventKind kind)
{
    return (kind >= EV_WORKSPACE_READY && kind <= EV_RETIRED) || kind == EV_STEP_RESULT ||
           kind == EV_REPORTED || kind == EV_RESET_DONE || kind == EV_RESET_FAILED ||
           kind == EV_OBSERVED;
}

void machine_step(Machine *machine, const Event *event, Step *step)
{
    str_clear(&step->decision);
    str_clear(&step->why);
    step->note_count = step->route_count = 0;
    machine->step = step;
    const Run *run = run_at(machine, event->run);
    machine->about = event->task ? event->task : run ? run->task : 0;
    machine->now_ms = event->at_ms;
    step->is_accepted =
        is_report(event->kind) ? run_event(machine, event) : wish_event(machine, event);
    if (!step->is_accepted)
        note(machine, "refused");
    machine->step = NULL;
}
