/* The machine's inside, shared by its few files. Nobody else includes this. */
#pragma once
#include "base/arena.h"
#include "core/deps.h"
#include "core/machine.h"
#include "core/queue.h"
#include "core/workflow.h"

typedef struct IdList {
    uint32_t *ids;
    uint32_t count, size;
} IdList;

void ids_add(IdList *list, uint32_t id);
void ids_remove(IdList *list, uint32_t id); /* keeps the order; absent is fine */
bool ids_have(const IdList *list, uint32_t id);

typedef struct ProjectMind {
    Project row;
    Queue *ready;       /* tasks that could start now */
    IdList waiting;     /* runs that want a slot, oldest first */
    IdList live;        /* runs that hold a slot */
    IdList merges;      /* runs between verified and landed */
    IdList delayed;     /* tasks with a back-off */
    IdList later;       /* runs whose step is tried again later */
    uint32_t reporting; /* or resetting */
    bool is_held;       /* tasks are being added */
    int64_t alert_ms;   /* when to look for tasks that wait too long (D-105); 0: not set */
} ProjectMind;

struct Machine {
    ProjectMind **projects; /* by id */
    uint32_t project_count, project_size;
    Task *tasks; /* by id */
    uint32_t task_count, task_size;
    Run **runs; /* by id; NULL when not loaded */
    uint32_t run_count, run_size;
    Deps *deps;
    TaskId *first_child, *next_child; /* by task id */
    IdList dirty_projects, dirty_tasks, dirty_runs;
    const Project **out_projects;
    const Task **out_tasks;
    const Run **out_runs;
    Effect *effects;
    uint32_t effect_count, effect_size;
    const Workflow *flows[WORKFLOW_NUMBER_MAX + 1]; /* of users, by number */
    Arena flow_arena;                               /* owns them */
    Arena texts;                                    /* of effects not yet taken */
    bool is_online;                                 /* an engine carries out effects */
    int disk_level; /* 0 fine, 1 warn, 2 nothing new, 3 stop (D-152) */
    /* during a step */
    Step *step;
    TaskId about; /* the event's own task */
    int64_t now_ms;
    char word[64]; /* a result of a phase */
};

/* machine.c */
ProjectMind *mind_of(const Machine *machine, ProjectId id); /* NULL when unknown */
Task *task_at(const Machine *machine, TaskId id);           /* NULL when unknown */
Run *run_at(const Machine *machine, RunId id);              /* NULL when not loaded */
void project_changed(Machine *machine, Project *project);
void task_changed(Machine *machine, Task *task);
void run_changed(Machine *machine, Run *run);
void note(Machine *machine, const char *format, ...) PRINTF(2, 3); /* into the decision */
void say(Machine *machine, const char *format, ...) PRINTF(2, 3);  /* into the why */
/* The same about a task that need not be the event's own. */
void say_about(Machine *machine, TaskId task, const char *format, ...) PRINTF(3, 4);
void emit(Machine *machine, EffectKind kind, const Task *task, const Run *run, const char *text);
void set_task_state(Machine *machine, Task *task, TaskState state);
void set_run_state(Machine *machine, Run *run, RunState state);
Run *run_new(Machine *machine, Task *task);
void machine_link_child(Machine *machine, TaskId task);   /* parent -> child list */
void machine_unlink_child(Machine *machine, TaskId task); /* before its parent changes */

/* machine_ready.c: which tasks could start, and how they score */
void task_refresh(Machine *machine, Task *task);
bool task_is_resting(const Machine *machine, const Task *task); /* stopped by a person */
void project_refresh(Machine *machine, ProjectMind *mind);
/* What is kept in memory only, made anew as after loading: a replay passes through the same. */
void mind_rebuild(Machine *machine, ProjectMind *mind);
void reach_changed(Machine *machine, Task *task); /* after any change of state: tell dependents */

/* machine_slots.c: claiming, the autopilot, deadlines */
void slots_fill(Machine *machine, ProjectMind *mind);
int64_t run_elapsed(const Machine *machine, const Run *run);
int64_t task_timeout(const Machine *machine, const Task *task);
uint32_t task_max_turns(const Machine *machine, const Task *task);
void autopilot_count(Machine *machine, ProjectMind *mind, const Task *task);
void autopilot_set(Machine *machine, ProjectMind *mind, AutoState state);
void autopilot_tick(Machine *machine, ProjectMind *mind);

/* machine_route.c: which row of its workflow fits a run now */
RouteStep route_find(const Machine *machine, const Run *run, const char *result);
RouteStep route_enter(const Machine *machine, const Run *run); /* by its status */
const char *run_status_word(const Machine *machine, const Run *run);
void gate_tries_add(Run *run);

/* machine_flow.c: results, the rows that follow from them, phases */
void run_apply(Machine *machine, Run *run, const char *result, const char *detail);
void run_go(Machine *machine, Run *run); /* a slot was found: make the workspace or go on */
void run_start(Machine *machine, Run *run, bool is_taken_up); /* a new epoch begins */
void phase_begin(Machine *machine, Run *run);                 /* with workspace and slot */
void phase_begin_or_wait(Machine *machine, Run *run); /* a pause takes hold between two turns */
const WorkflowPhase *run_phase(const Machine *machine, const Run *run);
bool flow_has_states(const Workflow *flow); /* its statuses are the states of tasks */
const char *run_checkpoint(const Machine *machine, const Run *run); /* the word; "" none */
bool run_is_accepted(const Run *run); /* a check or a person accepted its present commit */
void run_reset_done(Machine *machine, Run *run);
void run_reset_failed(Machine *machine, Run *run, const Event *event);
void run_flow_init(Machine *machine, Run *run, const Run *last, const Task *task);

/* machine_run.c: reports of the world about one run */
void run_park(Machine *machine, Run *run, const char *why);
void run_stop(Machine *machine, Run *run, StopWish wish, bool is_forced);
bool run_event(Machine *machine, const Event *event);
void run_retry_step(Machine *machine, Run *run, const Event *event, const char *result);
bool merge_event(Machine *machine, Run *run, const Event *event);

/* machine_merge.c: the serial merge queue */
void merge_enqueue(Machine *machine, Run *run);
void merge_next(Machine *machine, ProjectMind *mind);
void merge_leave(Machine *machine, Run *run);

/* machine_people.c: reviews, objectives, refinements, commands of workflows */
bool on_reviewed(Machine *machine, const Event *event);
bool on_target_set(Machine *machine, const Event *event);
bool on_refined(Machine *machine, const Event *event);
bool on_command(Machine *machine, const Event *event);
bool on_workflow_defined(Machine *machine, const Event *event);
bool run_is_reviewed(const Machine *machine, const Run *run); /* a person judges, not answers */
void people_retry(Machine *machine, Task *task); /* the workflow's own row for a retry */
bool people_check(const Machine *machine, const Event *event, Err *err);

/* machine_wish.c: what people ask for */
void back_to_pending(Machine *machine, Task *task, bool is_fresh);
bool wish_event(Machine *machine, const Event *event);
