/* Scenarios: the file behind a scripted agent, read, checked and looked up. Pure. */
#pragma once
#include "base/yaml.h"
#include "core/field.h"

enum { SCENARIO_MOST_BYTES = 4 << 20 };

/* The values of one step; which of them mean something is said by the step's row. */
typedef struct StepArgs {
    const char *text, *path, *file, *append, *contains, *pattern;
    const char *type, *payload, *via;
    const char *command, *how, *signal, *kind, *id, *pid_file;
    const char *step, *result, *next, *checkpoint, *timestamp, *raw;
    const json_t *whole; /* the value itself, of a row that takes any; borrowed from the file */
    const char *if_exists, *if_missing;
    bool prompt, on, line, may_fail, ignore_term, executable, slow;
    int64_t bytes, code, input, output, cache, reset_s, iteration;
    double seconds, cost;
    bool has_text, has_append; /* an empty text is a text */
} StepArgs;

typedef enum StepKind {
    STEP_SAY,
    STEP_WARN,
    STEP_WRITE,
    STEP_DELETE,
    STEP_RUN,
    STEP_COMMIT,
    STEP_SIGNAL,
    STEP_SLEEP,
    STEP_HANG,
    STEP_SPEW,
    STEP_EXIT,
    STEP_KILL,
    STEP_FORK,
    STEP_USAGE,
    STEP_LIMIT,
    STEP_SESSION,
    STEP_EXPECT,
    STEP_ANSWER,
    STEP_AUTO_SIGNAL,
    STEP_STATUS_FILE,
    STEP_INDEX_FILE,
    STEP_WAIT_STOP,
    STEP_AUTO_CLEAN,
    STEP_COUNT
} StepKind;

typedef struct StepRow {
    StepKind kind;
    const char *name;
    const char *lone;  /* key that a plain value stands for; NULL: must be a map */
    const char *needs; /* keys of which at least one must stand, separated by spaces; NULL: none */
    const Field *fields; /* NULL: the value is a map of any content, or a text, taken as it is */
    size_t count;
    const char *help;
} StepRow;

const StepRow *scenario_steps(size_t *count); /* every row, for tests and documentation */

typedef struct ScenarioTask {
    const char *key, *title;         /* NULL: none */
    const char *phase;               /* of the workflow; NULL: none */
    const char *checkpoint;          /* of the workflow; NULL: none */
    int64_t turn, attempt, tries;    /* from 1 */
    int64_t visit, visit_checkpoint; /* of the phase, and of the phase at this checkpoint */
} ScenarioTask;

/* Checks the whole file, every step of it. The error names the line. */
bool scenario_check(const YamlDoc *doc, Err *err) NODISCARD;
/* The steps (a list) for this turn; NULL: the file has none for the task. path gets their place. */
const json_t *scenario_find(const YamlDoc *doc, const ScenarioTask *task, Str *path);
/* One step of a checked scenario. */
bool scenario_step(const YamlDoc *doc, const json_t *step, const char *path, Arena *arena,
                   const StepRow **row, StepArgs *args, Err *err) NODISCARD;
