/* The engine's inside, shared by its files. Nobody outside engine/ includes this. */
#pragma once
#include "agent/agent.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "core/machine.h"
#include "core/settings.h"
#include "core/signal.h"
#include "core/workflow.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "gate/gate.h"
#include "proc/keep.h"
#include "store/flow.h"
#include "store/store.h"
#include <limits.h>

/* A project as the engine knows it: its row's texts and its settings as last read. */
typedef struct ProjectInfo {
    ProjectId id;
    char *path, *hub, *target, *name;
    Settings settings;
    bool is_read;      /* settings hold what otto.yaml says */
    char *limits;      /* JSON last given to the machine */
    uint32_t behind;   /* commits that wait to be delivered to the user's checkout */
    char *deliver_why; /* NULL: delivered */
    char *agent_flag;  /* `otto run --agent`, NULL none */
    char *flow_flag;   /* `otto run --workflow`, NULL none */
    json_t *flows;     /* the user's workflows: name to number */
} ProjectInfo;

typedef struct FlowRow FlowRow; /* flows.c */

/* What the engine remembers of a run's way between two steps; a restart begins anew. */
typedef struct FlowMemo FlowMemo;
struct FlowMemo {
    FlowMemo *next;
    RunId run;
    int64_t since_ms;
    uint64_t hash;  /* of the prompt of the step */
    uint8_t status; /* 1 + the last one that hooks were told of */
    char agent[64];
    char why[400]; /* the numbers behind the result */
};

/* Which act a report belongs to: carried by every callback, checked by the machine's epochs. */
typedef struct Act {
    Engine *engine;
    RunId run;
    TaskId task;
    ProjectId project;
    uint32_t epoch, turn;
    char merge[HASH_SIZE]; /* the merge it is about: the run may have made another meanwhile */
} Act;

/* One agent at work. */
typedef struct LiveTurn LiveTurn;
struct LiveTurn {
    Act act;
    LiveTurn *next;
    Keep *keep;
    AgentParser *parser;
    SignalScanner scanner;
    uint32_t signals_seen, signals_known; /* re-attached: the first ones are on record already */
    SignalType control;                   /* last control signal and what it said */
    char payload[SIGNAL_PAYLOAD_MAX + 1];
    char line[240]; /* last line of output, for displays */
    size_t line_length;
    int progress; /* 0..100, -1 unknown */
    int64_t output_bytes;
    bool is_over_limit;
    char agent[64], program[100];
    char *answer;                    /* RESULT of this turn as it came; NULL none */
    char problem[240];               /* why an answer of this turn was not taken; "" none */
    char *checkout;                  /* of a reviewer: thrown away at the end; NULL none */
    char session[128];               /* id of the conversation, when the agent told it */
    bool is_waiting;                 /* its checkout is being made */
    uint64_t hash;                   /* of the prompt */
    struct Observation *observation; /* of a self-driving session */
};

typedef struct Verify Verify; /* verify.c */

/* One gate at work: of a run's claim, or of its merged tree. */
typedef struct LiveGate LiveGate;
struct LiveGate {
    Act act;
    LiveGate *next;
    Gate *gate;
    Arena arena; /* commands and texts */
    VerifyCommand *commands;
    size_t count;
    bool is_merge;
    const char *checkout;
    int failed_exit;
    char *failed_tail;
    Verify *verify;  /* of a workflow with plans: see verify.c; NULL the plain gate */
    Verdict verdict; /* while what the work changed is being looked at */
    char *verdict_text;
};

typedef struct Listener {
    int handle;
    EngineListener *fn;
    void *user;
    bool with_output;
} Listener;

/* What the next commit stores, in order. Texts are copied into the turn's arena, so that a commit
 * that fails (full disk) can be tried again with nothing lost. */
typedef enum WriteKind {
    WRITE_EVENT,
    WRITE_PROJECT_TEXT,
    WRITE_TASK_TEXT,
    WRITE_RUN_TEXT,
    WRITE_DEPENDENCY_ADD,
    WRITE_DEPENDENCY_REMOVE,
    WRITE_TURN_START,
    WRITE_TURN_END,
    WRITE_GATE,
    WRITE_LANDING,
    WRITE_LANDING_UNDO,
    WRITE_NOTICE,
    WRITE_NOTICE_CLOSE,
    WRITE_USAGE,
    WRITE_DISCOVERY,
    WRITE_WORKFLOW,
    WRITE_STEP,
    WRITE_RECORD,
    WRITE_OBJECTIVE,
    WRITE_STAGE,
    WRITE_REFINEMENT,
    WRITE_REFINEMENT_APPLY,    /* task, at_ms, impact, touches */
    WRITE_REFINEMENT_WITHDRAW, /* task, id, at_ms */
    WRITE_PROFILE,
    WRITE_EXPERIENCE,
    WRITE_EXPERIENCE_JUDGE, /* task, quality */
    WRITE_CHECKPOINTS,
    WRITE_CHECKPOINT_STATE, /* task, number, state, at_ms */
    WRITE_KIND_COUNT
} WriteKind;

/* Where a run stood when something happened: it may have gone on before that is told. */
typedef struct EventPlace {
    const char *state, *run_state;           /* words of the tables; "" none */
    const char *phase, *checkpoint, *status; /* of its workflow; NULL: of the loop, or no run */
    uint32_t stage;
} EventPlace;

typedef struct Write {
    WriteKind kind;
    EventPlace place; /* of an event */
    union {
        StoreEvent event;
        StoreProjectText project_text;
        StoreTaskText task_text;
        StoreRunText run_text;
        Dependency dependency;
        StoreTurn turn;
        StoreGateResult gate;
        StoreLanding landing; /* undo: run, new_tip = by, at_ms */
        StoreNotice notice;   /* close: project or task, kind, at_ms, answer */
        StoreUsage usage;
        StoreDiscovery discovery;
        StoreWorkflow workflow;
        StoreStep step;
        StoreRecord record;
        struct {
            TaskId task;
            StoreObjective all;
        } objective;
        StoreStage stage;
        StoreRefinement refinement;
        StoreProfile profile;
        StoreExperience experience;
        struct {
            TaskId task;
            const StoreCheckpoint *items;
            size_t count;
        } checkpoints;
        StoreCheckpoint checkpoint;
    };
} Write;

/* What the next prompt of a run begins with; a JSON object in the run's row says the details. */
typedef enum SaysKind {
    SAYS_NONE,
    SAYS_VERIFY_FAILED, /* result, command, output */
    SAYS_MERGED_FAILED, /* the same, on the merged tree */
    SAYS_CONFLICT,      /* files, theirs, target_ref */
    SAYS_ANSWER,        /* question, answer */
    SAYS_NOTE,          /* note: a person's words with a retry */
    SAYS_INVALID,       /* invalid, given: the structured answer could not be read */
} SaysKind;

struct Engine {
    EngineOptions options;
    Loop *loop;
    Store *store;
    Machine *machine;
    Jobs *jobs;
    int lock_fd;
    Step step;
    int64_t wall_zero, mono_zero; /* the engine's clock: wall at the start + monotonic since */
    int64_t started_ms;
    Write *writes;
    uint32_t write_count, write_size;
    Arena turn_arena; /* texts of writes */
    bool is_urgent;   /* something waits for the commit; else it may wait a moment */
    bool is_failing;  /* the last commit failed; effects wait */
    bool is_in_commit;
    bool has_announced; /* EV_ENGINE_STARTED is posted */
    bool is_taking_up;  /* the first acts after a start: an earlier engine may have begun them */
    LoopTimer commit_timer, deadline_timer, disk_timer;
    int64_t deadline_ms;
    ProjectInfo **projects;
    uint32_t project_count;
    FlowRow *flows;
    uint32_t flow_count;
    FlowMemo *memos;
    LiveTurn *turns;
    LiveGate *gates;
    Listener *listeners;
    uint32_t listener_count;
    int next_handle;
    int disk_level;
    uint32_t gate_serial; /* makes names of gate journals unique */
    uint8_t secret[16];   /* of the state folder: tags, tokens and marks come from it */
    char *path_runs, *path_work, *path_gate, *path_trash, *path_socket, *path_hubs, *path_tmp;
};

/* engine.c */
int64_t engine_now(const Engine *engine);
/* Decides at once; stored and carried out at the end of the loop's turn. Texts are copied. */
bool engine_post(Engine *engine, const Event *event);
/* Stores now and, when that worked, acts. Wishes call it before they are acknowledged. */
bool engine_commit(Engine *engine, Err *err);
Event act_event(const Act *act, EventKind kind);
void publish_output(Engine *engine, const LiveTurn *turn, int stream, const char *bytes,
                    size_t length);
/* Copies the texts and keeps the row for the next commit. */
void engine_write(Engine *engine, const Write *write);
bool write_store(Store *store, Write *write, Err *err);
void publish_events(Engine *engine);    /* those of the rows that were just stored */
void engine_probe_disk(Engine *engine); /* D-146, D-152 */

/* secret.c: names that only this state folder can make; nothing is stored for them */
enum { SECRET_TEXT = 40 };
void secret_tag(const Engine *engine, RunId run, char out[SECRET_TEXT]);
void secret_token(const Engine *engine, RunId run, uint32_t epoch, char out[SECRET_TEXT]);
void secret_mark(const Engine *engine, RunId run, uint32_t epoch, char out[SECRET_TEXT]);
bool secret_token_is_valid(const Engine *engine, const char *token, RunId *run, uint32_t *epoch);
bool secret_load(Engine *engine, Err *err);

/* projects.c */
ProjectInfo *project_info(Engine *engine, ProjectId id); /* NULL when unknown */
ProjectInfo *project_open(Engine *engine, const char *path, json_t *warnings, Err *err);
bool project_read_settings(Engine *engine, ProjectInfo *project, Err *err);
void project_set_target(Engine *engine, ProjectInfo *project, const char *target); /* or NULL */
void project_warn_idle(const ProjectInfo *project, json_t *warnings);
json_t *project_problems(const ProjectInfo *project, Err *err); /* of otto.yaml, each one */
bool projects_load(Engine *engine, Err *err);
void projects_free(Engine *engine);
void project_note_delivery(Engine *engine, ProjectInfo *project, const json_t *result);
void project_deliver(Engine *engine, ProjectInfo *project); /* when something waits for it */
void project_default_settings(ProjectInfo *project);

/* act.c: one function per effect */
void act_on(Engine *engine, const Effect *effect);
Act act_of(Engine *engine, const Effect *effect);
Act *act_new(Engine *engine, const Effect *effect);
/* Reports a job that failed: whether trying again can help, and the sentence. */
void post_failure(const Act *act, EventKind kind, const Err *err);
void notice_put(Engine *engine, TaskId task, RunId run, ProjectId project, const char *kind,
                const char *text);
void notices_close(Engine *engine, TaskId task);

/* turns.c */
void turn_start(Engine *engine, const Effect *effect);
void turn_stop(Engine *engine, const Effect *effect, bool is_forced);
LiveTurn *turn_of(Engine *engine, RunId run);
void turns_free(Engine *engine);
bool turn_signal(Engine *engine, RunId run, uint32_t epoch, const char *text, Signal *out,
                 Err *err);
/* `otto signal --result`: the structured answer of the phase; stored at once. */
bool turn_answer(Engine *engine, RunId run, uint32_t epoch, const char *text, size_t length,
                 Err *err);
const WorkflowPhase *engine_phase(const Engine *engine, const Run *run);
const char *engine_checkpoint(const Engine *engine, const Run *run);
/* Which agent works on this phase: the task's, or the reviewer for a gate. */
const AgentSettings *phase_agent(ProjectInfo *project, const WorkflowPhase *phase,
                                 const StoreTaskText *task, Err *err);

/* flows.c: which workflows a project has, and the numbers the machine knows them by */
bool flows_read(Engine *engine, ProjectInfo *project, Err *err);
bool flow_number(Engine *engine, const ProjectInfo *project, const char *name, uint32_t *number,
                 Err *err);
bool flows_load(Engine *engine, Err *err); /* at start, before the machine is loaded */
void flows_free(Engine *engine);

/* answers.c: reading and judging what a phase's turn answered, before its end is posted */
void answer_take(LiveTurn *turn, bool is_clean_end);
/* Has it the shape that the run's phase asks for? A phase without one takes any. */
bool answer_fits(const Engine *engine, const Run *run, const char *text, size_t length, Err *err);
/* steps.c: what the machine decided becomes rows: steps, stages, profiles, hooks */
void steps_before(Engine *engine, const Event *event); /* before the machine decides */
void steps_write(Engine *engine, const Event *event);
FlowMemo *memo_of(Engine *engine, RunId run); /* made when missing */
void memos_free(Engine *engine);
/* records.c */
void record_put(Engine *engine, const Run *run, RecordKind kind, const char *result,
                const char *text, const json_t *data);
struct RecordFacts;
void record_facts(Engine *engine, TaskId task, Arena *arena, struct RecordFacts *facts);
void run_report(Engine *engine, const Effect *effect);
/* api_status.c: why a task is where it is, in one sentence; what a person said about it counts */
void task_note(Engine *engine, const Task *task, Str *out);
void reset_run(Engine *engine, const Effect *effect);

/* checks.c */
void gate_run(Engine *engine, const Effect *effect, bool is_merge);
void gate_skip_empty(Engine *engine,
                     const Effect *effect); /* answers it when nothing is to be run */
LiveGate *gate_of(Engine *engine, RunId run);
/* For verify.c: commands on a checkout, and the end. Texts are copied. */
LiveGate *gate_open(Engine *engine, const Effect *effect, bool is_merge);
void gate_begin(LiveGate *live, const char *cwd, const GateCalls *calls);
void gate_checkout(LiveGate *live, const char *commit, json_t *overlay, JobDone *done);
void gate_post(LiveGate *live, Verdict verdict, bool is_review_wanted, const char *text);
void gate_row_write(LiveGate *live, size_t position, const GateRow *row);
void verify_run(Engine *engine, const Effect *effect);
void verify_free(Verify *verify);
json_t *change_input(const ProjectInfo *project, const Run *run); /* of the job `change` */
void gates_free(Engine *engine);
void gates_stop(Engine *engine); /* those of runs that are being stopped */
void task_commands(const ProjectInfo *project, const StoreTaskText *text, Arena *arena,
                   VerifyCommand **commands, size_t *count);

/* landing.c */
void merge_run(Engine *engine, const Effect *effect);
void land_run(Engine *engine, const Effect *effect);
void rollback_task(Engine *engine, const Effect *effect);
void retire_run(Engine *engine, const Effect *effect);

/* startup.c */
void trash_expire(Engine *engine);
bool engine_take_up(Engine *engine, Err *err); /* after loading: attach, sweep, owe again */
