/* The simulator: the real machine under a virtual clock, in a world made of seeded chance.
 *
 * One Sim is one seed. The world (agents, hub, target branch) outlives the engine; the machine is
 * thrown away at a crash and built again from the rows of the last commit, as the engine does it.
 * Everything that happens follows from the seed, so a failure is one number. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "core/machine.h"

typedef struct SimOptions {
    uint64_t seed;
    uint32_t events; /* before the world calms down */
    uint32_t tasks;
    bool is_verbose;
    bool is_loop; /* every task follows `loop`; else any workflow */
} SimOptions;

/* How wild a seed is, in thousandths; chosen from the seed. */
typedef struct Profile {
    uint32_t wishes, crashes, jumps, pushes, failures, duplicates;
    bool has_back_jumps;
    uint32_t good_answers; /* of agents that follow a workflow */
} Profile;

/* An answer on its way to the engine. */
typedef struct Reply {
    int64_t due_ms;
    uint64_t order;  /* of those due together */
    uint32_t engine; /* the incarnation that asked */
    uint32_t serial; /* of the agent process it comes from; 0: a worker's answer */
    Event event;
} Reply;

/* An agent process; it goes on while engines come and go, and its journal is read again. */
typedef struct Agent {
    uint32_t epoch, turn, serial; /* serial 0: there never was one */
    int64_t end_ms;               /* INT64_MAX: it hangs until it is stopped */
    int32_t exit_code, killed_by;
    uint8_t signals[3];
    bool is_flooding;     /* writes more than it may */
    bool is_changing;     /* the work differs afterwards */
    const char *answer;   /* JSON of EV_STEP_RESULT; NULL none */
    const char *observed; /* JSON of EV_OBSERVED; NULL none */
    const char *status;   /* that a self-driving session tells */
} Agent;

typedef struct WorldRun {
    Agent agent;
    uint32_t commits;
    bool is_landed, was_empty;          /* what a removal needs as proof */
    uint32_t passed_epoch, passed_turn; /* the accepted verdict */
    bool is_merge_proven;               /* of the merge computed last */
} WorldRun;

typedef struct WorldTask {
    uint32_t reopened;  /* times that a person had more done after a landing, at least */
    uint32_t landed;    /* landings that were not undone */
    uint32_t accepted;  /* EV_LANDED that the machine took, since the last undoing */
    TaskState left_out; /* skipped or cancelled by a person; TASK_PENDING: it is not */
    bool was_removed;   /* once: a saved workspace may then go to the trash */
} WorldTask;

/* What the checks know of a task besides its row. */
typedef struct ModelTask {
    int64_t cycle; /* slots given away before it became ready */
    uint32_t dependents;
    uint32_t slack; /* or up to so many later */
    bool is_new;    /* became ready in this step */
} ModelTask;

/* What was proven of a run, by the routes alone; saved and forgotten with the rows. */
typedef struct Proof {
    char verified[HASH_SIZE]; /* commit whose checks passed */
    char accepted[HASH_SIZE]; /* commit that a check or a person let pass */
    char landed[HASH_SIZE];   /* what the target held after it */
    bool is_merge_gated;      /* the checks of the merge computed last passed */
} Proof;

typedef struct ModelProject {
    int64_t cycle; /* slots given away */
    uint32_t live, merging;
    uint32_t claims; /* in this step */
    TaskId claimed;  /* the last of them */
    uint64_t tip;    /* of the target branch; the world's */
} ModelProject;

typedef struct Logged {
    Event event;
    uint64_t decision; /* hash */
    bool is_accepted;
} Logged;

enum { TRACE_EVENTS = 40, TRACE_TEXT = 600, PROJECTS_MAX = 4, OWN_FLOWS_MAX = 12 };

typedef struct Sim {
    SimOptions options;
    Profile profile;
    uint64_t random;
    Machine *machine;
    Step step;
    Arena texts; /* of events; live as long as the seed */

    int64_t true_ms, skew_ms; /* the wall clock shows the sum */
    uint32_t engine;          /* incarnation */
    bool is_online, is_calm;  /* calm: no more faults, everything succeeds */
    bool is_mixed;            /* tasks follow any workflow */
    EventKind event;          /* of the step under way */
    uint64_t events, accepted, crashes, landings;
    uint64_t order;
    uint32_t serial;

    Reply *replies; /* a heap by due_ms, order */
    uint32_t reply_count, reply_size;

    /* saved by the last commit */
    Project saved_projects[PROJECTS_MAX];
    Task *saved_tasks;
    Run *saved_runs;
    Dependency *saved_deps;
    Proof *saved_proofs;
    bool *saved_merged;
    uint32_t saved_task_count, saved_run_count, saved_dep_count, saved_flow_count;

    /* as they were after the last step */
    Task *tasks;
    Run *runs;
    Dependency *deps;
    uint32_t task_count, run_count, dep_count, row_size, dep_size, saved_dep_size;
    WorldTask *world_tasks;
    WorldRun *world_runs;
    ModelTask *model;
    Proof *proofs;                    /* by run id */
    bool *merged;                     /* by task id: landed, or there was nothing to land */
    const char *flows[OWN_FLOWS_MAX]; /* definitions; the first has the number
                                         WORKFLOW_FIRST_OWN */
    uint32_t flow_count;
    ModelProject projects[PROJECTS_MAX];
    uint32_t project_count;
    uint32_t effects_seen;
    bool has_new; /* any task became ready in the last step */

    Logged *log;
    uint32_t log_count, log_size, log_committed;
    char trace[TRACE_EVENTS][TRACE_TEXT];
    uint64_t trace_count;
    bool is_tracing;
    Str failure; /* the first broken invariant; empty: none */
} Sim;

/* sim_tools.c */
uint32_t sim_random(Sim *sim, uint32_t below); /* 0 to below - 1 */
bool sim_chance(Sim *sim, uint32_t thousandths);
int64_t sim_delay(Sim *sim);     /* of a worker, in ms: mostly short */
int64_t sim_now(const Sim *sim); /* what the wall clock shows */
void sim_fail(Sim *sim, const char *format, ...) PRINTF(2, 3);
bool sim_failed(const Sim *sim);
void sim_room(Sim *sim, uint32_t rows); /* for rows with ids up to this */
void reply_push(Sim *sim, int64_t due_ms, const Event *event, uint32_t serial);
bool reply_pop(Sim *sim, Reply *out);
int64_t reply_next_ms(const Sim *sim); /* INT64_MAX: none */

/* sim_drive.c: one seed from its start to its end */
void sim_play(Sim *sim);
void sim_done(Sim *sim);

/* sim_step.c: one event into the machine, with its checks; commit; crash */
bool sim_step(Sim *sim, Event event); /* was it accepted? */
void sim_commit(Sim *sim);
void sim_act(Sim *sim); /* hands the effects to the world */
void sim_restart(Sim *sim, bool is_online);
void sim_replay(Sim *sim);

/* sim_world.c */
void world_act(Sim *sim, const Effect *effect);
bool world_deliver(Sim *sim); /* the next reply; false: there is none */

/* sim_flow.c: workflows: what agents answer, what people say */
void flow_setup(Sim *sim);
uint32_t flow_any(Sim *sim); /* the number of a workflow */
void flow_choose_answer(Sim *sim, const Run *run, Agent *agent);
void flow_tell(Sim *sim, const Effect *effect, const Agent *agent, int64_t at_ms);
void flow_report(Sim *sim, const Effect *effect);
void flow_reset(Sim *sim, const Effect *effect);
void flow_wish(Sim *sim);
void flow_answer(Sim *sim, TaskId task); /* what a person does to let the task go on */

/* sim_wish.c */
void wish_setup(Sim *sim);
void wish_random(Sim *sim);
void wish_everything(Sim *sim); /* answers, retries, resumes: what people can do to finish */

/* sim_check.c: after every event */
typedef struct Before {
    const Run *run; /* the row named by the event, copied */
    Run copy;
    bool may_be_accepted; /* machine_check */
    uint32_t dirty_rows, effects;
} Before;
void check_before(Sim *sim, const Event *event, Before *before);
void check_after(Sim *sim, const Event *event, const Before *before);
/* What an accepted event proves or asks for; kept for the landing and the end. */
void proof_keep(Sim *sim, const Event *event);
/* sim_flow_check.c */
void check_flow_run(Sim *sim, const Run *old, const Run *now);
void check_flow_task(Sim *sim, const Task *old, const Task *now);
void check_flow_step(Sim *sim, const Event *event, const Before *before);
void check_flow_land(Sim *sim, const Run *run);
bool check_is_report(EventKind kind);
bool check_need(const Sim *sim, const Dependency *dependency); /* by the rows alone */

/* sim_full.c: now and then */
void check_full(Sim *sim);
void check_saved(Sim *sim); /* after a commit: memory equals the saved rows */
void check_end(Sim *sim);   /* everything is over or explained */

/* sim_model.c: a naive ready queue */
void model_begin(Sim *sim, const Event *event);
void model_task(Sim *sim, const Task *old, const Task *now);
void model_claim(Sim *sim, const Run *run);
void model_end(Sim *sim);
int64_t model_score(const Sim *sim, const Task *task, int64_t missed);
void model_ready(Sim *sim, ProjectId project); /* the whole order */
