/* Everything the store knows about one task, read once and bounded; the documents are written
 * from it. Texts are as they were stored: whoever prints them cleans them (doc.h, plain.h). */
#pragma once
#include "base/arena.h"
#include "record/record.h"

enum {
    PAST_STEPS_MAX = 5000,           /* the newest */
    PAST_ROWS_MAX = 2000,            /* of records the newest, of other lists the first */
    PAST_DATA_MAX = 4 * 1024 * 1024, /* bytes of one record's JSON; more counts as none */
};

typedef struct PastDependency {
    TaskId task;
    Need need;
    const char *name, *title, *state;
} PastDependency;

/* A list in the order of the store. left_out: older rows that were not read. */
#define PAST_LIST(type, name)                                                                      \
    struct {                                                                                       \
        type *rows;                                                                                \
        size_t count, size, left_out;                                                              \
    } name

typedef struct Past {
    Arena arena;
    RecordFacts facts; /* as given; texts that were NULL are "" here */
    Task task;
    StoreTaskText text;
    StoreProjectText project;
    Run run; /* the latest; id 0: none */
    StoreRunText run_text;
    uint32_t runs;
    int64_t spent_ms; /* in slots, over all runs */
    PAST_LIST(StoreStep, steps);
    PAST_LIST(StoreRecord, records);
    PAST_LIST(StoreStage, stages);
    PAST_LIST(StoreRefinement, refinements);
    PAST_LIST(StoreExperience, experiences); /* of this task */
    PAST_LIST(StoreCheckpoint, checks);
    PAST_LIST(StoreLanding, landings);
    PAST_LIST(StoreGateResult, gates); /* of the latest run; output is a text here */
    PAST_LIST(StoreNotice, notices);
    PAST_LIST(StoreDiscovery, discoveries); /* of this task */
    PAST_LIST(PastDependency, dependencies);
    StoreObjective objective;
    StoreProfile profile;
    StoreUsageSum usage;
    /* drawn from the above; never NULL */
    const char *name;     /* of the task's folder */
    const char *type;     /* valid; "software" when none */
    const char *workflow; /* "" unknown */
    const char *state;    /* word of the task's state */
    const char *status;   /* of the workflow */
    const char *phase, *checkpoint, *next;
    const char *branch, *worktree;
    uint32_t stage; /* the present one; 0: the workflow has none */
    int64_t updated_ms;
    uint32_t completed_steps;
} Past;

/* facts may be NULL. A Past that failed is empty. */
bool past_load(Past *past, Store *store, TaskId task, const RecordFacts *facts, Err *err) NODISCARD;
void past_done(Past *past); /* fits CLEANUP */

/* The record's JSON object as a new reference, or NULL: none, broken, or too big. */
json_t *past_data(const StoreRecord *record);
/* The next record of a kind at or after *at, which is moved behind it; NULL at the end. */
const StoreRecord *past_next(const Past *past, RecordKind kind, size_t *at);
size_t past_count(const Past *past, RecordKind kind);
const StoreRecord *past_last(const Past *past, RecordKind kind); /* or NULL */
/* The phase of the step that left a record; "" unknown. */
const char *past_phase_of(const Past *past, const StoreRecord *record);
/* "check post-plan": phase and checkpoint of a step. */
const char *past_step_name(Past *past, const StoreStep *step);
/* No plan, no step, no work of any kind yet. */
bool past_is_blank(const Past *past);

/* The inside of past_load: rows of flow.h (past_flow.c) and what is drawn from them. */
bool past_load_flow(Past *past, Store *store, Err *err) NODISCARD;
void past_derive(Past *past);
const char *past_keep(Past *past, const char *text); /* bounded copy; NULL becomes "" */
void *past_push(void *rows, size_t *count, size_t *size, size_t item_size);
/* A place for one more row. */
#define PAST_PUSH(list)                                                                            \
    ((list).rows = past_push((list).rows, &(list).count, &(list).size, sizeof *(list).rows),       \
     &(list).rows[(list).count - 1])
