/* What an agent is told: the prompt of a turn, from the templates and what the store knows.
 *
 * Which prompt belongs to a phase is a table (prompts.c): by the prompt name of the phase, the
 * checkpoint and what happened before. Values come from the store; texts of the project's folder
 * .otto/prompts take the place of the program's own. Reads only. */
#pragma once
#include "engine/internal.h"

/* The prompt of the turn that the run is about to begin. For the workflow `loop` it goes by what
 * the run's text says (SaysKind); for others by the run's phase and checkpoint, and
 *   - the run's text with {"invalid": error, "given": the answer} asks once more for a readable
 *     answer: alone when the conversation goes on, else with the whole prompt of the phase;
 *   - a person's feedback (RECORD_FEEDBACK, the newest ten) is part of every prompt of the task,
 *     an answer or a note of the next one.
 * tag is the signal tag of the run. hash is of the templates used. */
bool prompt_for_phase(Engine *engine, const Run *run, ProjectInfo *project,
                      const StoreTaskText *words, const StoreRunText *text, const char *tag,
                      Str *out, uint64_t *hash, Err *err) NODISCARD;

/* A message by its own name, sent into a conversation that is under way: compaction, loop-break,
 * continuation, step-timeout. */
bool prompt_message(Engine *engine, const Run *run, ProjectInfo *project,
                    const StoreTaskText *words, const StoreRunText *text, const char *tag,
                    const char *name, Str *out, uint64_t *hash, Err *err) NODISCARD;

/* Exactly what would be sent for a phase of the task as it stands now. phase NULL: the phase of its
 * run, or the first one. checkpoint NULL or "": none, or the only prompt that the phase has.
 * Without a run the tag is a placeholder. ERR_NOT_FOUND: no such task; ERR_USAGE: the workflow has
 * no such phase or checkpoint, or the phase asks no agent. */
bool prompt_preview(Engine *engine, TaskId task, const char *phase, const char *checkpoint,
                    Str *out, Err *err) NODISCARD;

/* Can a phase ask with this prompt: is it a word of the table, built in, or the project's own? */
bool prompt_is_known(const char *root, const char *name, Arena *arena);
