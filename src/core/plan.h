/* Plans: what the engine reads out of a plan answer (see answer.h; it was checked there).
 *
 * Coverage of requirements (B-62), checks, scope, the floor of safety for its commands (B-64,
 * B-270), and its text for people. Texts are borrowed from the answer or the arena. Pure. */
#pragma once
#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "core/field.h"

typedef struct PlanCheck {
    unsigned number, step; /* both from 1 */
    const char *name;      /* the command's text when it has none */
    const char *command;
    const char *mode; /* "executable", "inspectable", "human" */
} PlanCheck;

size_t plan_step_count(const json_t *plan);
const PlanCheck *plan_checks(const json_t *plan, Arena *arena, size_t *count);

/* The required R# numbers that no step covers, ascending, as "R3". */
TextList plan_missing(const json_t *plan, const uint32_t *required, size_t count, Arena *arena);

/* Globs of what the plan may touch: its scope and the files of its steps. Empty: it does not say
 * (no scope, and some step names no files), so nothing is out of scope. */
TextList plan_scope(const json_t *plan, Arena *arena);

/* Steps done after an answer of the work: "completed_steps" or "(step-N)", never fewer than
 * before, at most all; all of them for "(done)". */
unsigned plan_completed(const json_t *answer, unsigned before, unsigned steps);

typedef struct PlanOptions {
    const char *title; /* NULL: "Plan" */
    unsigned completed;
} PlanOptions;

/* Markdown, with "Covers:" lines and check marks for completed steps. */
void plan_markdown(const json_t *plan, const PlanOptions *options, Str *out);

typedef struct DangerRow {
    const char *id;
    const char *pattern; /* extended regular expression, case ignored */
    const char *unless;  /* another one that excuses it; NULL none */
    const char *why;
} DangerRow;

const DangerRow *danger_rows(size_t *count);
/* The first row that a shell command hits; NULL none. */
const DangerRow *command_danger(const char *command);

/* One sentence per command of the plan that hits a row: step, row and the line. */
TextList plan_unsafe(const json_t *plan, Arena *arena);
