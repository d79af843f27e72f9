/* The machine: the whole engine's mind. Events in; state, owed effects and reasons out.
 *
 * Pure: no clock, files, randomness; an event carries its time. Order of calls: machine_new, load
 * rows (any order of tasks before their dependencies and runs), machine_loaded, then machine_step
 * for each event; after a batch take the dirty rows and the effects. Ids of tasks are given by the
 * caller (machine_next_task), ids of runs by the machine. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "core/effect.h"
#include "core/event.h"
#include "core/score.h"
#include "core/types.h"
#include "core/workflow.h"

typedef struct Machine Machine;

Machine *machine_new(void);
void machine_free(Machine *machine);

/* Loading from the store; the structs are copied. */
void machine_load_project(Machine *machine, const Project *project);
void machine_load_task(Machine *machine, const Task *task);
void machine_load_run(Machine *machine, const Run *run);
void machine_load_dependency(Machine *machine, const Dependency *dependency);
/* A workflow of the user; built-in ones are known. false: the definition cannot be read. */
bool machine_load_workflow(Machine *machine, uint32_t number, const char *definition, Err *err);
void machine_loaded(Machine *machine); /* builds the graph, the ready queue, the merge queue */
void machine_set_run_count(Machine *machine, RunId highest); /* ids given before, loaded or not */
void machine_reserve(Machine *machine, uint32_t tasks, uint32_t dependencies);

/* A decision about another task than the event's own: why it was taken now, for example. */
typedef struct StepNote {
    TaskId task;
    char text[160];
} StepNote;

/* A phase that ended: which row of the workflow decided, and what follows. The words belong to the
 * workflow's tables. */
typedef struct StepRoute {
    TaskId task;
    RunId run;
    uint32_t epoch, turn;
    uint32_t stage; /* in which it ended */
    const char *phase, *checkpoint, *row, *next, *status;
    char result[48], why[400];
    const Action *actions; /* ended by ACTION_NONE or ACTIONS_MAX */
} StepRoute;

typedef struct Step {
    bool is_accepted; /* false: the event was refused; state is unchanged */
    Str decision;     /* what was decided, in one fixed form; equal on every replay */
    Str why;          /* one sentence for people; empty when nothing was decided */
    StepNote *notes;
    uint32_t note_count, note_size;
    StepRoute *routes;
    uint32_t route_count, route_size;
} Step;

void step_done(Step *step);

/* Decides. Texts in step are overwritten. The event must carry its epoch where it names a run; an
 * old one is refused (and says so). */
void machine_step(Machine *machine, const Event *event, Step *step);
/* Would the event be refused? Sets err with the reason. For doors, before they promise. */
bool machine_check(const Machine *machine, const Event *event, Err *err);

/* The next time something is due by itself (EV_TICK), or INT64_MAX. */
int64_t machine_deadline(const Machine *machine);

/* Everything changed since the last call; rows stay owned by the machine, flags are cleared by
 * machine_flushed. */
typedef struct Dirty {
    const Project *const *projects;
    const Task *const *tasks;
    const Run *const *runs;
    uint32_t project_count, task_count, run_count;
} Dirty;
Dirty machine_dirty(Machine *machine);
void machine_flushed(Machine *machine);

/* Effects decided since the last call, oldest first; valid until the next step. */
const Effect *machine_effects(Machine *machine, uint32_t *count);
void machine_effects_taken(Machine *machine);
/* Start-up: the effects that all runs owe now, as if just decided. */
void machine_owe_again(Machine *machine);

/* By number, built-in or the user's; the loop when it is unknown. Never NULL. */
const Workflow *machine_workflow(const Machine *machine, uint32_t number);
/* The workflow that the task's next run would follow. */
const Workflow *machine_task_workflow(const Machine *machine, const Task *task);
const Workflow *run_workflow(const Machine *machine, const Run *run);
/* Status of the task in its workflow: of its latest run, or the workflow's first. */
const char *machine_status_word(const Machine *machine, const Task *task);
uint32_t gate_tries_of(const Run *run, uint32_t checkpoint);

TaskId machine_next_task(const Machine *machine);
ProjectId machine_next_project(const Machine *machine);
const Project *machine_project(const Machine *machine, ProjectId id); /* NULL when unknown */
const Task *machine_task(const Machine *machine, TaskId id);
const Run *machine_run(const Machine *machine, RunId id);
uint32_t machine_task_count(const Machine *machine); /* highest id */
uint32_t machine_run_count(const Machine *machine);  /* highest id */

typedef struct Counts {
    uint32_t by_state[TASK_STATE_COUNT];
    uint32_t ready, running, merging, skipped, waiting;
    uint32_t asking;  /* with a question; those to be reviewed have a state of their own */
    uint32_t resting; /* stopped by a person; the next run takes them up */
} Counts;
Counts machine_counts(const Machine *machine, ProjectId project);
bool machine_is_resting(const Machine *machine, TaskId task); /* stopped by a person */

/* One sentence: why the task is not being worked on now, or what it is doing. */
void machine_explain(const Machine *machine, TaskId task, int64_t now_ms, Str *out);
/* The failed, blocked or left-out task for which this pending one cannot go on; 0 none. */
TaskId machine_root_cause(const Machine *machine, TaskId task);
/* Dependencies of a task; returns how many there are, fills at most `most`. */
uint32_t machine_dependencies(const Machine *machine, TaskId task, Dependency *out, uint32_t most);
/* Would making `task` wait for `on` close a circle? Its members then, at most `most`. */
bool machine_would_circle(Machine *machine, TaskId task, TaskId on, TaskId *members, uint32_t most,
                          uint32_t *count);
/* Score with its parts as it stands now; false when the task is not ready. */
bool machine_score(const Machine *machine, TaskId task, int64_t now_ms, Score *score);
/* Ready tasks of a project, best first, as they would be chosen now; at most `most`. */
uint32_t machine_ready(const Machine *machine, ProjectId project, int64_t now_ms, TaskId *out,
                       uint32_t most);
