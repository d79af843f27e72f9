/* Workflow files: a definition (YAML turned into JSON by base/yaml.h) becomes a Workflow, and a
 * Workflow becomes a definition again.
 *
 * Two forms that may be mixed. Short: `phases` with kind and prompt, `routes` as
 * `phase: {result: next}`; statuses, entries, commands and the rows for accidents are those of
 * `loop`. Exact: every list written out, as workflow_write does. `extends: NAME` begins with a
 * built-in one; rows with the id of one of its rows replace that row, other rows come before its
 * own, limits and thresholds replace by name. docs/workflow.schema.json is the schema.
 *
 * Reading checks shape and words of each field; whether the tables make sense is the matter of
 * workflow_check. Pure. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "core/workflow.h"

enum {
    WORKFLOW_FILE_MAX = 256 * 1024, /* bytes of a file; the caller looks before it parses */
    WORKFLOW_NAME_MAX = 40,         /* of names of workflows, phases, statuses, checkpoints */
    WORKFLOW_TEXT_MAX = 2000,       /* of sentences and commands */
    WORKFLOW_ROWS_MAX = 2000,       /* rows of one list */
    WORKFLOW_WORDS_MAX = 64,        /* phases, statuses, checkpoints, commands, limits */
};

/* Everything the workflow points at lives in the arena (or is built in). NULL: err names the path
 * of the field ("routes[2].next: unknown phase 'tset', did you mean 'test'?"). */
const Workflow *workflow_read(const json_t *definition, Arena *arena, Err *err) NODISCARD;

/* The exact form; workflow_read(workflow_write(w)) equals w. The caller frees it. */
json_t *workflow_write(const Workflow *workflow) NODISCARD;

/* A file to begin with: YAML of ten lines, its name filled in. */
void workflow_template(const char *name, Str *out);

/* The schema for editors, docs/workflow.schema.json. */
void workflow_schema(Str *out);
/* The words that a phase of this kind has when its file names none. */
const char *workflow_results(PhaseKind kind);

/* 1 to WORKFLOW_NAME_MAX letters, digits, '-', '_'; begins with a letter or digit. */
bool workflow_name_is_valid(const char *name);
