/* The data: projects, tasks, dependencies, runs. Plain structs, filled by the machine, saved by the
 * store row by row. Texts (titles, bodies, prompts) live in the store; only what a decision needs
 * is kept in memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t ProjectId; /* all ids start at 1; 0 means none */
typedef uint32_t TaskId;
typedef uint32_t RunId;

/* Task states (D-204). Order is not progress; see NEEDS for what satisfies a dependency. */
#define TASK_STATES(X)                                                                             \
    X(TASK_PENDING, "pending", "waits for its turn, its dependencies or a retry")                  \
    X(TASK_ACTIVE, "active", "a run is under way, waits for a person or waits to merge")           \
    X(TASK_REVIEW, "review", "waits for a person's approval")                                      \
    X(TASK_BLOCKED, "blocked", "the agent or the merge needs a person before it can go on")        \
    X(TASK_DONE, "done", "proven and landed, or there was nothing to land")                        \
    X(TASK_FAILED, "failed", "ended with an error; its work is kept")                              \
    X(TASK_TIMEOUT, "timeout", "ran out of turns or time; its work is kept")                       \
    X(TASK_SKIPPED, "skipped", "left out by a person")                                             \
    X(TASK_CANCELLED, "cancelled", "removed by a person")

typedef enum TaskState {
#define X(state, word, help) state,
    TASK_STATES(X)
#undef X
        TASK_STATE_COUNT
} TaskState;

/* Run states: where one passage of a task stands. Which of them hold a slot and which owe an
 * effect is a column, not a rule elsewhere. */
/*    state          word         slot   effect owed    meaning */
#define RUN_STATES(X)                                                                              \
    X(RUN_WAITING, "waiting", false, FX_NONE, "wants a slot to go on")                             \
    X(RUN_PREPARING, "preparing", true, FX_PREPARE, "its workspace is being made")                 \
    X(RUN_WORKING, "working", true, FX_START_TURN, "the agent is at work")                         \
    X(RUN_STOPPING, "stopping", true, FX_STOP_TURN, "the agent is being stopped")                  \
    X(RUN_SAVING, "saving", true, FX_SNAPSHOT, "the turn ended; its work is being saved")          \
    X(RUN_VERIFYING, "verifying", true, FX_GATE, "the engine checks the claim")                    \
    X(RUN_QUEUED, "queued", false, FX_NONE, "verified; waits for the merge queue")                 \
    X(RUN_MERGING, "merging", false, FX_MERGE, "the merge is being computed")                      \
    X(RUN_PROVING, "proving", false, FX_MERGE_GATE, "the merged tree is being checked")            \
    X(RUN_LANDING, "landing", false, FX_LAND, "the target branch is being moved")                  \
    X(RUN_ASKING, "asking", false, FX_NONE, "waits for a person's answer")                         \
    X(RUN_PARKED, "parked", false, FX_NONE, "stopped or crashed; can be taken up again")           \
    X(RUN_ENDED, "ended", false, FX_NONE, "over")                                                  \
    X(RUN_RETIRING, "retiring", false, FX_RETIRE, "over; its workspace is being put away")         \
    X(RUN_REPORTING, "reporting", false, FX_REPORT, "its report is being written")                 \
    X(RUN_RESETTING, "resetting", false, FX_RESET, "its work goes back to the last good commit")

typedef enum RunState {
#define X(state, word, slot, effect, help) state,
    RUN_STATES(X)
#undef X
        RUN_STATE_COUNT
} RunState;

/* What a dependency must have reached. */
#define NEEDS(X)                                                                                   \
    X(NEED_STARTED, "started", "the other task has been started")                                  \
    X(NEED_VERIFIED, "verified", "the other task has passed its gate")                             \
    X(NEED_DONE, "done", "the other task has landed")

typedef enum Need {
#define X(need, word, help) need,
    NEEDS(X)
#undef X
        NEED_COUNT
} Need;

/* The autopilot of a project (D-10..D-14). */
#define AUTO_STATES(X)                                                                             \
    X(AUTO_IDLE, "idle", "nothing was asked for, or everything asked for has ended")               \
    X(AUTO_RUNNING, "running", "takes ready tasks while slots are free")                           \
    X(AUTO_PAUSING, "pausing", "takes nothing new; turns under way end first")                     \
    X(AUTO_PAUSED, "paused", "takes nothing until it is resumed")

typedef enum AutoState {
#define X(state, word, help) state,
    AUTO_STATES(X)
#undef X
        AUTO_STATE_COUNT
} AutoState;

/* Tags that count in selection; all tags are kept as text in the store. */
enum {
    TAG_CRITICAL = 1,
    TAG_QUICK_WIN = 2,
    TAG_NEXT = 4,
    TAG_LATER = 8,
    TAG_CHECKED = 16, /* not a tag: it has checks of its own */
};

enum { PRIORITY_NONE = 255, HASH_SIZE = 65 /* SHA-256 in hex and NUL; SHA-1 fits */ };

/* Limits of a project, or of one task where a field is not 0. */
typedef struct Limits {
    uint32_t slots;              /* agents at once */
    uint32_t max_turns;          /* D-25 */
    uint32_t max_retries;        /* after crashes; then failed */
    uint32_t max_conflict_tries; /* then a person */
    uint32_t pause_after;        /* failures in a row that pause the autopilot (D-118) */
    uint32_t stuck_turns;        /* turns without a commit before a warning (D-26) */
    int64_t timeout_ms;          /* time in slots (D-27) */
    int64_t pause_wait_ms;       /* how long a first Ctrl-C waits for turns to end (D-116) */
    uint32_t max_steps;          /* steps of a stage (A-198, B-277) */
    uint32_t workflow;           /* number of the workflow of tasks that name none */
    bool pause_on_stuck;
    bool auto_confirm;  /* objectives count as confirmed (B-11) */
    bool has_workspace; /* false: the agent works in the project's folder and nothing is merged */
} Limits;

typedef struct Project {
    ProjectId id;
    AutoState autopilot;
    bool only_wanted;    /* the autopilot takes wanted tasks only */
    bool is_offline;     /* nothing is claimed: no engine loop carries out effects */
    uint32_t failures;   /* in a row */
    uint32_t slots_used; /* derived */
    int64_t pause_by_ms; /* stop turns still running then; 0 none */
    Limits limits;
    bool is_dirty; /* to be saved */
} Project;

typedef struct Task {
    TaskId id, parent;
    ProjectId project;
    RunId run; /* the latest */
    TaskState state;
    uint8_t priority;    /* 0 is the most urgent; PRIORITY_NONE */
    uint8_t tags;        /* TAG_* bits */
    bool is_wanted;      /* named by `otto run ID` */
    bool is_fresh;       /* the next run starts from the target, not from earlier work */
    bool is_undoing;     /* its landing is being rolled back: owes FX_ROLLBACK */
    bool is_dirty;       /* to be saved */
    bool is_filled;      /* its target holds real content */
    bool is_confirmed;   /* a person, or a standing approval, confirmed the objective (B-11) */
    bool is_refined;     /* refinements wait to be applied (B-105) */
    uint8_t workflow;    /* 1 + number of its own workflow; 0: the project's */
    uint8_t next_phase;  /* 1 + phase that a person asked for; 0: by the status */
    uint32_t retries;    /* crashes since the last success or retry by hand */
    uint32_t attempts;   /* runs so far */
    uint32_t max_turns;  /* 0: the project's */
    uint32_t turns_used; /* over its lifetime */
    int64_t timeout_ms;  /* 0: the project's */
    int64_t created_ms;
    int64_t ready_ms;                 /* since when it waits for a slot; 0 not ready */
    int64_t not_before_ms;            /* back-off after a crash; 0 none */
    TaskId because;                   /* root cause of a skip; derived; 0 none */
    uint32_t children, children_done; /* derived */
} Task;

/* Why a turn under way is being stopped. */
typedef enum StopWish {
    STOP_NONE,
    STOP_BY_USER,   /* back to pending (D-114, D-131) */
    STOP_BY_PAUSE,  /* the pause could not wait longer; back to pending (D-116) */
    STOP_BY_CLOCK,  /* the time limit (D-44) */
    STOP_BY_OUTPUT, /* the output limit */
    STOP_BY_REMOVE, /* the task was removed while its agent ran */
    STOP_BY_SKIP,   /* the task was left out while its agent ran */
    STOP_BY_STEPS,  /* the step limit of a self-driving session */
    STOP_BY_STALL,  /* too many recoveries of a self-driving session */
    STOP_WISH_COUNT
} StopWish;

typedef struct Run {
    RunId id;
    TaskId task;
    ProjectId project;
    RunState state;
    uint32_t epoch;          /* raised at each (re)start; old acts are refused */
    uint32_t turn;           /* of this run, from 1 */
    uint32_t epoch_turns;    /* turns in this epoch */
    uint32_t cut_turns;      /* turns that a person cut short: they do not count */
    uint8_t workflow;        /* number; see workflow_numbered */
    uint8_t phase;           /* index in the workflow */
    uint8_t checkpoint;      /* index in the workflow's checkpoint words */
    uint8_t status;          /* index in the workflow's statuses */
    uint8_t substate;        /* Substate: A-31 */
    uint8_t result;          /* 1 + index of the phase's result told in this turn; 0 none */
    uint8_t gate_limit;      /* 1 + retry limit told with that result; 0: the workflow's */
    uint8_t asks;            /* answers of this step that could not be read */
    bool is_rolled_back;     /* spent retries were answered by a rollback in this stage */
    bool is_review_wanted;   /* a person must approve before the merge */
    uint16_t steps;          /* steps of this stage */
    uint16_t stage;          /* from 1 */
    uint16_t step_turns;     /* turns of the present step, without those cut short */
    int32_t convergence;     /* of this stage, in 1/10000; -1 not measured */
    int32_t converged;       /* of the last accepted stage; 0 none (B-71) */
    uint64_t gate_tries;     /* retries used, a byte per checkpoint (B-45) */
    uint8_t signal;          /* last control signal of the turn (SignalType) or none */
    uint8_t stop;            /* StopWish */
    bool has_workspace;      /* of this epoch */
    bool is_empty;           /* the last snapshot equals the base */
    bool is_dirty;           /* to be saved */
    bool is_lost;            /* the keeper vanished without an exit record */
    int32_t exit_code;       /* of the last turn */
    int32_t killed_by;       /* signal number or 0 */
    uint32_t tries;          /* failed starts of this step (D-141) */
    int64_t retry_ms;        /* when the step is tried again; 0 now */
    uint32_t conflict_tries; /* merges that conflicted */
    uint32_t merged_tries;   /* merged trees that failed their check */
    uint32_t quiet_turns;    /* turns without a commit */
    uint32_t commits;        /* at the last snapshot */
    RunId from;              /* run whose last snapshot this one starts from; 0 the target */
    int64_t started_ms;
    int64_t spent_ms;                            /* time in slots, without the present stretch */
    int64_t slot_ms;                             /* since when it holds its slot; 0 none */
    int64_t verified_ms;                         /* when it entered the merge queue */
    char base[HASH_SIZE];                        /* commit the workspace started from */
    char commit[HASH_SIZE];                      /* last snapshot */
    char good[HASH_SIZE];                        /* commit of the last accepted stage; "" base */
    char old_tip[HASH_SIZE], new_tip[HASH_SIZE]; /* merge intent, then what landed */
} Run;

/* What a status in motion still needs. */
#define SUBSTATES(X)                                                                               \
    X(SUB_NONE, "", "nothing")                                                                     \
    X(SUB_NEEDS_PLAN, "needs-plan", "the verdict is given, the new plan is not made yet")          \
    X(SUB_NEEDS_CHECK, "needs-check", "the new plan waits to be checked")

typedef enum Substate {
#define X(sub, word, help) sub,
    SUBSTATES(X)
#undef X
        SUBSTATE_COUNT
} Substate;

enum { CONVERGENCE_ONE = 10000 }; /* 1.0 in Run.convergence */

typedef struct Dependency {
    TaskId task, on;
    Need need;
} Dependency;

const char *task_state_word(TaskState state);
bool task_state_find(const char *word, TaskState *state);
const char *run_state_word(RunState state);
const char *substate_word(Substate sub);
bool substate_find(const char *word, Substate *sub);
bool run_state_find(const char *word, RunState *state);
bool run_holds_slot(RunState state);
const char *need_word(Need need);
bool need_find(const char *word, Need *need);
const char *auto_state_word(AutoState state);
bool auto_state_find(const char *word, AutoState *state);
