/* What a task leaves behind on its way through a workflow: steps, records, objectives, stages,
 * refinements, profiles, experiences. The rules of store.h hold here as well (transactions, texts,
 * callbacks, "get" and "find"). */
#pragma once
#include "store/store.h"

/* ---- workflows of users: the definition that a number stands for; never changed ---- */

typedef struct StoreWorkflow {
    uint32_t number;  /* WORKFLOW_FIRST_OWN and up */
    const char *name; /* several numbers may have one name: the highest is the present one */
    const char *text; /* the definition as JSON */
    int64_t at_ms;
} StoreWorkflow;

typedef bool StoreWorkflowFn(void *user, const StoreWorkflow *workflow);

/* The same number again: ERR_CONFLICT unless name and text are equal. */
bool store_workflow_put(Store *store, const StoreWorkflow *workflow, Err *err) NODISCARD;
/* By number. */
bool store_workflow_list(Store *store, StoreWorkflowFn *fn, void *user, Err *err) NODISCARD;

/* ---- steps: the timeline of a task; one row per phase that ended, with the row that decided ----
 */

typedef struct StoreStep {
    int64_t id; /* given by the store, rising */
    TaskId task;
    RunId run; /* 0 none */
    uint32_t epoch, turn;
    uint32_t stage; /* 0: the workflow has none */
    const char *phase, *checkpoint, *result;
    const char *row, *why; /* of the table, and its sentence with details */
    const char *next;      /* phase, "(stop)" or "(rollback)" */
    const char *status;    /* of the task afterwards */
    const char *commit;    /* snapshot at its end; "" none */
    const char *agent;     /* "" the engine itself */
    const char *prompt_hash;
    int64_t started_ms, ended_ms;
} StoreStep;

typedef bool StoreStepFn(void *user, const StoreStep *step);

/* id may be NULL. */
bool store_step_put(Store *store, const StoreStep *step, int64_t *id, Err *err) NODISCARD;
bool store_step_list(Store *store, TaskId task, StoreStepFn *fn, void *user,
                     Err *err) NODISCARD; /* oldest first */

/* ---- records: texts that steps left (history files of A-103 as rows) ---- */

/*    kind                word            meaning */
#define RECORD_KINDS(X)                                                                            \
    X(RECORD_ANSWER, "answer", "a structured answer as the agent gave it; one per turn")           \
    X(RECORD_PLAN, "plan", "a plan (A-214); the newest counts, older ones are superseded")         \
    X(RECORD_CHECK, "check", "scores, findings and verdict of a check (A-116)")                    \
    X(RECORD_VERIFY, "verify", "what the engine measured before a check (A-216)")                  \
    X(RECORD_GUARD, "guard", "a guard that fired, with the lines")                                 \
    X(RECORD_CONVERGENCE, "convergence", "convergence of a stage, with the parts (B-72)")          \
    X(RECORD_BASELINE, "baseline", "the red baseline of the plan's checks (B-196)")                \
    X(RECORD_GREEN, "green", "one line of the cumulative green log (B-193)")                       \
    X(RECORD_NOTES, "notes", "notes, decisions and issues of a step (A-103)")                      \
    X(RECORD_EXPERIENCE, "experience", "what a finished stage or task learnt (B-79, A-226)")       \
    X(RECORD_FEEDBACK, "feedback", "what a person said in a review (D-257)")                       \
    X(RECORD_SUMMARY, "summary", "the task's summary with its recovery header (B-189)")            \
    X(RECORD_REPORT, "report", "the report (A-221)")                                               \
    X(RECORD_OBSERVED, "observed", "a step that a self-driving session reported (A-85)")           \
    X(RECORD_HOOK, "hook", "a hook that ran, and how it ended (A-230)")                            \
    X(RECORD_OTHER, "other", "anything else")

typedef enum RecordKind {
#define X(kind, word, help) kind,
    RECORD_KINDS(X)
#undef X
        RECORD_KIND_COUNT
} RecordKind;

const char *record_kind_word(RecordKind kind);
bool record_kind_find(const char *word, RecordKind *kind);

typedef struct StoreRecord {
    int64_t id; /* given by the store, rising */
    TaskId task;
    RunId run; /* 0: of the task as a whole */
    uint32_t epoch, turn, stage;
    RecordKind kind;
    const char *checkpoint; /* "" none */
    const char *result;     /* "" none */
    const char *text;       /* for people: Markdown */
    const char *data;       /* for programs: JSON; "" none */
    int64_t at_ms;
} StoreRecord;

typedef bool StoreRecordFn(void *user, const StoreRecord *record);

/* An answer of the same run, epoch and turn overwrites the one before; all else is added. id may be
 * NULL. */
bool store_record_put(Store *store, const StoreRecord *record, int64_t *id, Err *err) NODISCARD;
/* Oldest first. kind RECORD_KIND_COUNT: of every kind. */
bool store_record_list(Store *store, TaskId task, RecordKind kind, StoreRecordFn *fn, void *user,
                       Err *err) NODISCARD;
/* The newest of its kind; checkpoint NULL: at any. find. */
bool store_record_last(Store *store, TaskId task, RecordKind kind, const char *checkpoint,
                       Arena *arena, StoreRecord *record, Err *err) NODISCARD;
/* The answer of one turn. find. */
bool store_record_answer(Store *store, RunId run, uint32_t epoch, uint32_t turn, Arena *arena,
                         StoreRecord *record, Err *err) NODISCARD;

/* ---- objectives: items, and the requirements (R#) they are split into (B-99..B-103) ---- */

typedef struct StoreItem {
    uint32_t number; /* from 1, in order */
    bool is_constraint;
    const char *text;
    const char *marker; /* "" in discussion, "confirmed", "processed", "pending" (needs detail) */
    uint32_t stage;     /* in which it came; 0: from the beginning */
} StoreItem;

typedef struct StoreRequirement {
    uint32_t number; /* R#, global and sequential per task */
    uint32_t item;   /* of which objective item; 0 none */
    const char *text, *criteria;
    uint32_t weight;    /* 3 critical, 2 important, 1 optional (B-69) */
    int32_t coverage;   /* in 1/10000 */
    int32_t previous;   /* at the last accepted stage */
    const char *reason; /* of the coverage */
    const char *source; /* "backlog", "agent", "person", "refinement" */
} StoreRequirement;

typedef struct StoreObjective {
    StoreItem *items;
    size_t item_count;
    StoreRequirement *requirements;
    size_t requirement_count;
} StoreObjective;

/* Everything at once: an objective is small and is changed as a whole. ERR_CONFLICT: a number
 * appears twice; what was stored stays. */
bool store_objective_save(Store *store, TaskId task, const StoreObjective *objective,
                          Err *err) NODISCARD;
/* By number; empty lists when there is none. */
bool store_objective_get(Store *store, TaskId task, Arena *arena, StoreObjective *objective,
                         Err *err) NODISCARD;

/* ---- stages: the ledger (B-227) and the directions that failed (B-79, B-80) ---- */

typedef struct StoreStage {
    TaskId task;
    uint32_t stage;   /* from 1 */
    uint32_t attempt; /* from 1: a stage that was rolled back is tried another way */
    const char *name, *objective;
    const char *moves;     /* R# it should move: "R1 R4" */
    const char *reason;    /* why this direction; how it differs from failed ones */
    const char *outcome;   /* "" under way, "accepted", "rolled-back", "spent" */
    const char *cause;     /* of a failure */
    const char *commit;    /* at its end */
    int32_t before, after; /* convergence in 1/10000 */
    int64_t started_ms, ended_ms;
} StoreStage;

typedef bool StoreStageFn(void *user, const StoreStage *stage);

/* Inserts, or overwrites the row of the same task, stage and attempt. */
bool store_stage_put(Store *store, const StoreStage *stage, Err *err) NODISCARD;
/* By stage, then attempt. */
bool store_stage_list(Store *store, TaskId task, StoreStageFn *fn, void *user, Err *err) NODISCARD;

/* ---- refinements: messages while a task runs (B-105..B-115) ---- */

typedef struct StoreRefinement {
    int64_t id; /* given by the store */
    TaskId task;
    const char *text;
    const char *impact;  /* "", "none", "minor", "moderate", "major" */
    const char *touches; /* "R1 R4" */
    int64_t at_ms;
    int64_t applied_ms, withdrawn_ms; /* 0: waits */
} StoreRefinement;

typedef bool StoreRefinementFn(void *user, const StoreRefinement *refinement);

/* id may be NULL. */
bool store_refinement_put(Store *store, const StoreRefinement *refinement, int64_t *id,
                          Err *err) NODISCARD;
/* Those that wait are marked as applied; impact and touches as given (NULL keeps). count may be
 * NULL. */
bool store_refinement_apply(Store *store, TaskId task, int64_t at_ms, const char *impact,
                            const char *touches, uint32_t *count, Err *err) NODISCARD;
/* ERR_NOT_FOUND: no such one; ERR_CONFLICT: applied or withdrawn already. */
bool store_refinement_withdraw(Store *store, TaskId task, int64_t id, int64_t at_ms,
                               Err *err) NODISCARD;
/* Oldest first; with_ended: the applied and the withdrawn ones too. */
bool store_refinement_list(Store *store, TaskId task, bool with_ended, StoreRefinementFn *fn,
                           void *user, Err *err) NODISCARD;

/* ---- profiles: thresholds and retries per task type, and what was observed (B-289) ---- */

typedef struct StoreProfile {
    ProjectId project;
    const char *type;
    const char *settings; /* JSON of core/profile.h: what a person or a file fixed; "" none */
    const char *observed; /* JSON of core/profile.h: sums and sample counts; "" none */
    int64_t updated_ms;
} StoreProfile;

typedef bool StoreProfileFn(void *user, const StoreProfile *profile);

/* NULL texts keep what is stored. */
bool store_profile_save(Store *store, const StoreProfile *profile, Err *err) NODISCARD;
/* find: updated_ms is 0 when there is none. */
bool store_profile_find(Store *store, ProjectId project, const char *type, Arena *arena,
                        StoreProfile *profile, Err *err) NODISCARD;
/* By type. */
bool store_profile_list(Store *store, ProjectId project, StoreProfileFn *fn, void *user,
                        Err *err) NODISCARD;

/* ---- experiences: what finished work learnt, for later plans of the same type (B-291) ---- */

typedef struct StoreExperience {
    int64_t id; /* given by the store */
    ProjectId project;
    TaskId task; /* who learnt it */
    const char *type;
    const char *topic, *text;
    const char *quality; /* "provisional", "verified", "invalidated" */
    int64_t at_ms;
} StoreExperience;

typedef bool StoreExperienceFn(void *user, const StoreExperience *experience);

/* The same topic of a project, type and task overwrites text, quality and time. */
bool store_experience_put(Store *store, const StoreExperience *experience, Err *err) NODISCARD;
/* Newest first; type NULL: of every type; limit 0: all. */
bool store_experience_list(Store *store, ProjectId project, const char *type, uint32_t limit,
                           StoreExperienceFn *fn, void *user, Err *err) NODISCARD;
/* Every experience of a task gets this quality. */
bool store_experience_judge(Store *store, TaskId task, const char *quality, Err *err) NODISCARD;

/* ---- checks of the plan: verification hooks with their colour (B-192..B-203) ---- */

typedef struct StoreCheckpoint {
    TaskId task;
    uint32_t number; /* in the plan, from 1 */
    uint32_t step;   /* of the plan, from 1 */
    const char *name, *command;
    const char *mode;  /* "executable", "inspectable", "human" */
    const char *state; /* "new", "red", "green", "broken", "early" (green before the work),
                          "regressed", "approved", "waits" */
    int64_t at_ms;
} StoreCheckpoint;

typedef bool StoreCheckpointFn(void *user, const StoreCheckpoint *check);

/* Replaces all of the task; the field task of the rows is not read. */
bool store_checkpoints_save(Store *store, TaskId task, const StoreCheckpoint *checks, size_t count,
                            Err *err) NODISCARD;
/* ERR_NOT_FOUND: the plan has no such check. */
bool store_checkpoint_state(Store *store, TaskId task, uint32_t number, const char *state,
                            int64_t at_ms, Err *err) NODISCARD;
/* By number. */
bool store_checkpoint_list(Store *store, TaskId task, StoreCheckpointFn *fn, void *user,
                           Err *err) NODISCARD;
