/* Observer mode: one session drives itself by the file protocol of system A or B; the engine reads
 * its files, enforces the limits and stops it. Here are the words, the reading of the files and the
 * decisions; watching and writing is done elsewhere. Pure: no files, no clock.
 *
 * Files in the task folder: the session writes `.auto-signal` (A-84; B knows it in its early form)
 * and the state file (`.index.json` of A, `.status.json` of B); the engine writes `.auto-stop`.
 * They come from an agent: everything is bounded, checked against one table of words, and what does
 * not fit is reported and otherwise ignored. */
#pragma once
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "core/types.h"
#include "core/workflow.h"

typedef enum ObserveProtocol { OBSERVE_A, OBSERVE_B } ObserveProtocol;

#define OBSERVE_SIGNAL_FILE ".auto-signal"
#define OBSERVE_SIGNAL_PART ".auto-signal.tmp"
#define OBSERVE_STOP_FILE ".auto-stop"
#define OBSERVE_TARGET_FILE ".target.md"

enum {
    OBSERVE_FILE_MAX = 256 * 1024, /* bytes of a file that is read */
    OBSERVE_WORD_MAX = 40,
    OBSERVE_TIME_SIZE = 40,
    OBSERVE_STAMP_SIZE = 72,
    OBSERVE_FAILURES_MAX = 100, /* entries of delegation_failures */
};

const char *observe_protocol_word(ObserveProtocol protocol); /* "a", "b" */
const char *observe_state_file(ObserveProtocol protocol);    /* ".index.json", ".status.json" */
/* Of workflow auto-a or auto-b; false: another workflow. */
bool observe_protocol_find(const char *workflow, ObserveProtocol *protocol);
/* Of any workflow with a phase of kind observe, a user's as well: B's tasks become satisfied. */
ObserveProtocol observe_protocol_of(const Workflow *workflow);

/* ---- words: the one vocabulary that validation, documentation and tests use (defect 19) ---- */

typedef enum ObserveField {
    FIELD_STEP = 1,
    FIELD_RESULT = 2,
    FIELD_NEXT = 4,
    FIELD_CHECKPOINT = 8,
    FIELD_STATUS = 16,
} ObserveField;

/* What a word means for the session as a whole. */
typedef enum ObserveEnd { END_NONE, END_FINISHED, END_BLOCKED } ObserveEnd;

typedef struct ObserveWord {
    const char *word; /* "-N" before the end stands for a number from 1 */
    unsigned fields;  /* ObserveField bits: where it may stand */
    ObserveEnd end;   /* of a status by itself; of a result when next is (stop) */
    const char *from; /* requirement it comes from */
} ObserveWord;

const ObserveWord *observe_words(size_t *count);
/* NULL: the word may not stand there. */
const ObserveWord *observe_word_find(ObserveField field, const char *word);
/* "2026-01-31T10:00:00Z", with fraction, offset or neither. */
bool observe_time_is_valid(const char *text);
void observe_time_text(int64_t wall_ms, char out[OBSERVE_TIME_SIZE]); /* in UTC */

/* ---- .auto-signal ---- */

typedef struct ObservedSignal {
    char step[OBSERVE_WORD_MAX], result[OBSERVE_WORD_MAX], next[OBSERVE_WORD_MAX];
    char checkpoint[OBSERVE_WORD_MAX]; /* "" none */
    char timestamp[OBSERVE_TIME_SIZE];
    int64_t iteration;                                 /* -1: not told (A-85: only in auto mode) */
    int64_t compaction_count, vfp_cycles, retry_count; /* -1: not told */
    /* of the early form of B (B-165) */
    char phase[OBSERVE_WORD_MAX];
    double phase_progress;        /* 0..1, -1: not told */
    int64_t stage, stage_total;   /* 0: not told */
    double overall, d[6];         /* 0..1, -1: not told */
    uint32_t delegation_failures; /* how many */
} ObservedSignal;

/* Checks the whole file. false: err says which field, what was found and what is expected; out is
 * untouched. */
bool observe_signal_read(const char *text, size_t length, ObservedSignal *out, Err *err) NODISCARD;
/* Only what was checked, as one JSON object. */
void observe_signal_write(const ObservedSignal *signal, Str *out);
bool observe_signal_is_same(const ObservedSignal *a, const ObservedSignal *b); /* read twice */
/* The same step told again: all but iteration and time are equal. */
bool observe_signal_is_repeat(const ObservedSignal *a, const ObservedSignal *b);

/* ---- .index.json, .status.json ---- */

typedef struct ObservedStatus {
    bool is_known; /* a good file was read */
    char status[OBSERVE_WORD_MAX], phase[OBSERVE_WORD_MAX];
    int64_t completed_steps;
    int64_t stage;                  /* from 1; only grows (B-227) */
    uint32_t stages_done;           /* entries of stage.history */
    char stamp[OBSERVE_STAMP_SIZE]; /* `updated` or `updated_at`, as text (defect 16) */
} ObservedStatus;

/* now: the last good one (or zero); it is replaced when the file is good and kept when it is not
 * (false: err says why). What was mended is said in warnings, one line each; may be NULL. */
bool observe_status_read(const char *text, size_t length, ObserveProtocol protocol,
                         ObservedStatus *now, Str *warnings, Err *err) NODISCARD;
/* A step was made: status, phase, completed steps or stage differ. The stamp alone is no step. */
bool observe_status_moved(const ObservedStatus *before, const ObservedStatus *now);

/* What a new state file says (A-101, B-226). */
typedef struct ObserveTask {
    const char *title, *type, *status, *branch, *worktree; /* NULL: "" */
    const char *created;                                   /* time text */
} ObserveTask;

void observe_state_write(const ObserveTask *task, ObserveProtocol protocol, Str *out);

/* ---- .auto-stop ---- */

/*    reason                 file word          result           stop of the run  why */
#define OBSERVE_REASONS(X)                                                                         \
    X(REASON_NONE, "", "", STOP_NONE, "nothing")                                                   \
    X(REASON_TIMEOUT, "timeout", "timeout", STOP_BY_CLOCK, "the time limit is reached")            \
    X(REASON_ITERATIONS, "max_iterations", "max-iterations", STOP_BY_STEPS,                        \
      "the limit of steps is reached")                                                             \
    X(REASON_USER, "user_stop", "stopped", STOP_BY_USER, "a person stopped it")                    \
    X(REASON_STALL, "stall_limit", "stall-limit", STOP_BY_STALL, "too many recoveries")            \
    X(REASON_LOOP, "reasoning_loop", "loop", STOP_BY_STALL, "it says the same again and again")

typedef enum ObserveReason {
#define X(reason, word, result, stop, help) reason,
    OBSERVE_REASONS(X)
#undef X
        OBSERVE_REASON_COUNT
} ObserveReason;

const char *observe_reason_word(ObserveReason reason);
const char *observe_reason_result(ObserveReason reason); /* word of the phase */
const char *observe_reason_help(ObserveReason reason);
bool observe_reason_find(const char *word, ObserveReason *reason); /* not "" */
StopWish observe_stop_wish(ObserveReason reason);
/* What a stored stop says in the file; wishes of people are all user_stop. */
ObserveReason observe_reason_of(StopWish stop);

void observe_stop_write(ObserveReason reason, const char *timestamp, Str *out);
/* REASON_NONE: not a stop file. A file with a reason that is not known is a person's stop. */
ObserveReason observe_stop_read(const char *text, size_t length);

/* ---- decisions ---- */

typedef struct ObserveLimits {
    int64_t max_iterations; /* */
    int64_t timeout_ms;     /* */
    int64_t grace_ms;       /* after .auto-stop, or after the last report; then the ordinary stop */
    uint32_t idle_beats;    /* in a row: a suspected stall */
    uint32_t identical;     /* equal reports in a row that end it: 3 and 3 more (B-175) */
    uint32_t recoveries_step, recoveries_total; /* B-178 */
} ObserveLimits;

/* 20 steps, 30 minutes, 60 s, 3 beats, 6 reports, 3 and 10 recoveries. */
ObserveLimits observe_limits_default(void);

typedef struct ObserveInput {
    ObserveProtocol protocol;
    ObserveLimits limits;         /* a limit of 0 or less is none */
    const ObservedSignal *signal; /* the last good one; NULL none */
    const ObservedStatus *status; /* the last good one; NULL none */
    bool is_new;                  /* the signal or the status came just now */
    bool has_ended;               /* the process tree is gone */
    bool is_lost;                 /* … without an exit record */
    int exit_code, killed_by;
    bool is_claimed;               /* it said COMPLETE (`otto signal`, or the tag) in this turn */
    int64_t elapsed_ms, waited_ms; /* waits for a quota do not count */
    int64_t iterations;            /* see observe_count */
    bool has_moved;                /* a step was reported in this turn */
    ObserveReason stop;            /* the stored stop */
    bool is_stop_written;
    int64_t stopping_ms; /* since the stop was written */
    int64_t resting_ms;  /* since it reported its end; 0 it has not */
    uint32_t identical;  /* equal reports in a row, the first included */
    uint32_t idle_beats; /* in a row */
    uint32_t recoveries_step, recoveries_total;
    bool is_stamp_moved; /* the state file was written since it was judged (B-123) */
} ObserveInput;

/*    action            word          meaning */
#define OBSERVE_ACTIONS(X)                                                                         \
    X(OBSERVE_NONE, "none", "nothing is to be done")                                               \
    X(OBSERVE_STOP, "write-stop", "store the stop, then write .auto-stop with the reason")         \
    X(OBSERVE_CONTINUE, "continue", "send a continuation turn")                                    \
    X(OBSERVE_FINISH, "finish", "the session is over with this result")                            \
    X(OBSERVE_KILL, "kill-after-grace", "it had its time: the ordinary stop, then the kill")

typedef enum ObserveAction {
#define X(action, word, help) action,
    OBSERVE_ACTIONS(X)
#undef X
        OBSERVE_ACTION_COUNT
} ObserveAction;

typedef struct ObserveStep {
    ObserveAction action;
    ObserveReason reason; /* of OBSERVE_STOP */
    const char *result;   /* of OBSERVE_FINISH and OBSERVE_CONTINUE: word of the phase; else "" */
    const char *row, *why;
} ObserveStep;

typedef struct ObserveRow {
    const char *id;
    bool (*fits)(const ObserveInput *input);
    ObserveAction action;
    ObserveReason reason; /* REASON_NONE for OBSERVE_STOP: the stored one */
    const char *result;   /* NULL: that of the stored stop */
    const char *why;
} ObserveRow;

/* The first row that fits; the last one always does. */
void observe_decide(const ObserveInput *input, ObserveStep *step);
const ObserveRow *observe_rows(size_t *count);
const char *observe_action_word(ObserveAction action);
/* Every result that a phase of kind observe can have, separated by single spaces. */
extern const char observe_results[];

/* ---- what earlier reports say: counters are the engine's own and survive it (defect 1) ---- */

/* The reports of one run, oldest first, from the texts of its EV_OBSERVED. */
typedef struct ObserveHistory {
    int64_t iterations;      /* the highest of the three ways to count */
    int64_t signals, states; /* reports of each file */
    bool has_signal, has_status;
    ObservedSignal signal; /* the last one told */
    ObservedStatus status;
    uint32_t identical;
    uint32_t recoveries_step, recoveries_total;
    int64_t turn_iterations; /* at the start of the present turn */
} ObserveHistory;

/* The engine counts reports itself and believes a higher number of the session. Returns the new
 * count; *is_new is false for a report that is known already. */
int64_t observe_count(ObserveHistory *history, const ObservedSignal *signal, bool *is_new);
/* The same for the state file, which is all that B has; the first one read is where it starts. */
int64_t observe_count_status(ObserveHistory *history, const ObservedStatus *status, bool *is_new);
/* A turn ended. To go on after one without a step is a recovery (B-178, B-179). */
void observe_count_end(ObserveHistory *history, const char *result);
bool observe_has_moved(const ObserveHistory *history); /* in the present turn */
/* Takes up a stored report: iteration and text of one EV_OBSERVED. */
void observe_history_add(ObserveHistory *history, int64_t iteration, const char *text);

/* Texts of EV_OBSERVED. A step: the signal, or {"step":"status","status":…,"stage":…} where only
 * the state file tells of it. A wish, which is no step: {"wish":"timeout","row":…,"why":…}. */
void observe_text_status(const ObservedStatus *status, Str *out);
void observe_text_wish(const ObserveStep *step, Str *out);
/* For the machine: the stop that such a text asks for; STOP_NONE: none. */
StopWish observe_text_stop(const char *text);
