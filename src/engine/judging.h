/* Judging reviews and objectives: from answers and measured evidence to the facts of an
 * EV_STEP_RESULT. Writes the records on the way. */
#pragma once
#include "engine/internal.h"

/* {"result","why","limit","convergence","review"}; the caller frees it. */
json_t *judge_review(Engine *engine, const Run *run, const json_t *answer);
/* NULL: nothing is written down yet and the answer names no goal. */
json_t *objective_take(Engine *engine, const Run *run, const json_t *answer, Arena *arena);
/* Refinements that wait were part of the turn's prompt and are marked as applied; if one came
 * later, all of them wait for the next turn. impact and touches may be NULL. false: none was taken.
 */
bool refinements_take(Engine *engine, const Run *run, const char *impact, const char *touches);
/* The confirmation question (B-95), added to out. */
void objective_question(Engine *engine, TaskId task, Str *out);
/* Thresholds and retries for a task of this type: settings, profile, workflow, default. */
struct Profile;
void profile_of(Engine *engine, const Run *run, Arena *arena, struct Profile *profile);
/* The data of the task's newest record of a kind, also when an earlier run left it; NULL none. What
 * an earlier run measured counts only for the newest plan. checkpoint NULL: at any. */
json_t *record_data(Engine *engine, const Run *run, RecordKind kind, const char *checkpoint,
                    Arena *arena);
/* A check of the plan has another state now: stored, and a cycle or a loss is logged (verify.c). */
struct GreenRow;
void check_moved(Engine *engine, const Run *run, uint32_t number, const char *name,
                 const struct GreenRow *move);
/* Must a person look, by mode, labels and guards (D-253..D-255)? why gets the sentence. */
bool review_is_wanted(Engine *engine, const Run *run, bool is_verified, unsigned guards, Str *why);
/* The guards that fired on what the work changed; records them. Returns how many. */
unsigned guards_fire(Engine *engine, const Run *run, const json_t *change, const char *base_failed,
                     int base_exit);
