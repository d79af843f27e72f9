/* The columns of core's structs, one row each: SQL, binding and reading are made from the same
 * list. FIXED columns are set by the first save and never again, so that their indexes and
 * references cost nothing later. The id is the first column of all; the first column that changes
 * stands alone, because a list in SQL begins without a comma. */
#pragma once
#include "store/sqlite.h"

/*   kind, column, field */
#define PROJECT_FIXED(X)
#define PROJECT_FIRST(X) X(INT, autopilot, autopilot)
#define PROJECT_REST(X)                                                                            \
    X(INT, only_wanted, only_wanted)                                                               \
    X(INT, is_offline, is_offline)                                                                 \
    X(INT, failures, failures)                                                                     \
    X(INT, pause_by_ms, pause_by_ms)                                                               \
    X(INT, slots, limits.slots)                                                                    \
    X(INT, max_turns, limits.max_turns)                                                            \
    X(INT, max_retries, limits.max_retries)                                                        \
    X(INT, max_conflict_tries, limits.max_conflict_tries)                                          \
    X(INT, pause_after, limits.pause_after)                                                        \
    X(INT, stuck_turns, limits.stuck_turns)                                                        \
    X(INT, timeout_ms, limits.timeout_ms)                                                          \
    X(INT, pause_wait_ms, limits.pause_wait_ms)                                                    \
    X(INT, max_steps, limits.max_steps)                                                            \
    X(INT, auto_confirm, limits.auto_confirm)                                                      \
    X(INT, workflow, limits.workflow)                                                              \
    X(INT, pause_on_stuck, limits.pause_on_stuck)                                                  \
    X(INT, has_workspace, limits.has_workspace)

#define TASK_FIXED(X) X(INT, project, project)
#define TASK_FIRST(X) X(INT, state, state)
#define TASK_REST(X)                                                                               \
    X(INT, parent, parent)                                                                         \
    X(INT, run, run)                                                                               \
    X(INT, priority, priority)                                                                     \
    X(INT, tags, tags)                                                                             \
    X(INT, is_wanted, is_wanted)                                                                   \
    X(INT, is_fresh, is_fresh)                                                                     \
    X(INT, is_undoing, is_undoing)                                                                 \
    X(INT, is_filled, is_filled)                                                                   \
    X(INT, is_confirmed, is_confirmed)                                                             \
    X(INT, is_refined, is_refined)                                                                 \
    X(INT, workflow, workflow)                                                                     \
    X(INT, next_phase, next_phase)                                                                 \
    X(INT, retries, retries)                                                                       \
    X(INT, attempts, attempts)                                                                     \
    X(INT, max_turns, max_turns)                                                                   \
    X(INT, turns_used, turns_used)                                                                 \
    X(INT, timeout_ms, timeout_ms)                                                                 \
    X(INT, created_ms, created_ms)                                                                 \
    X(INT, ready_ms, ready_ms)                                                                     \
    X(INT, not_before_ms, not_before_ms)

#define RUN_FIXED(X) X(INT, task, task) X(INT, project, project)
#define RUN_FIRST(X) X(INT, state, state)
#define RUN_REST(X)                                                                                \
    X(INT, epoch, epoch)                                                                           \
    X(INT, turn, turn)                                                                             \
    X(INT, phase, phase)                                                                           \
    X(INT, checkpoint, checkpoint)                                                                 \
    X(INT, workflow, workflow)                                                                     \
    X(INT, status, status)                                                                         \
    X(INT, substate, substate)                                                                     \
    X(INT, result, result)                                                                         \
    X(INT, gate_limit, gate_limit)                                                                 \
    X(INT, asks, asks)                                                                             \
    X(INT, is_rolled_back, is_rolled_back)                                                         \
    X(INT, is_review_wanted, is_review_wanted)                                                     \
    X(INT, steps, steps)                                                                           \
    X(INT, stage, stage)                                                                           \
    X(INT, step_turns, step_turns)                                                                 \
    X(INT, convergence, convergence)                                                               \
    X(INT, converged, converged)                                                                   \
    X(INT, gate_tries, gate_tries)                                                                 \
    X(INT, signal, signal)                                                                         \
    X(INT, stop, stop)                                                                             \
    X(INT, has_workspace, has_workspace)                                                           \
    X(INT, is_empty, is_empty)                                                                     \
    X(INT, is_lost, is_lost)                                                                       \
    X(INT, exit_code, exit_code)                                                                   \
    X(INT, killed_by, killed_by)                                                                   \
    X(INT, tries, tries)                                                                           \
    X(INT, retry_ms, retry_ms)                                                                     \
    X(INT, conflict_tries, conflict_tries)                                                         \
    X(INT, merged_tries, merged_tries)                                                             \
    X(INT, epoch_turns, epoch_turns)                                                               \
    X(INT, cut_turns, cut_turns)                                                                   \
    X(INT, quiet_turns, quiet_turns)                                                               \
    X(INT, commits, commits)                                                                       \
    X(INT, from, from)                                                                             \
    X(INT, started_ms, started_ms)                                                                 \
    X(INT, spent_ms, spent_ms)                                                                     \
    X(INT, slot_ms, slot_ms)                                                                       \
    X(INT, verified_ms, verified_ms)                                                               \
    X(HASH, base, base)                                                                            \
    X(HASH, commit, commit)                                                                        \
    X(HASH, good, good)                                                                            \
    X(HASH, old_tip, old_tip)                                                                      \
    X(HASH, new_tip, new_tip)

#define PROJECT_AFTER_ID(X) PROJECT_FIXED(X) PROJECT_FIRST(X) PROJECT_REST(X)
#define PROJECT_COLUMNS(X) X(INT, id, id) PROJECT_AFTER_ID(X)
#define TASK_AFTER_ID(X) TASK_FIXED(X) TASK_FIRST(X) TASK_REST(X)
#define TASK_COLUMNS(X) X(INT, id, id) TASK_AFTER_ID(X)
#define RUN_AFTER_ID(X) RUN_FIXED(X) RUN_FIRST(X) RUN_REST(X)
#define RUN_COLUMNS(X) X(INT, id, id) RUN_AFTER_ID(X)

#define COLUMN_ONE(kind, column, field) +1
enum {
    PROJECT_WIDTH = 0 PROJECT_COLUMNS(COLUMN_ONE),
    TASK_WIDTH = 0 TASK_COLUMNS(COLUMN_ONE),
    RUN_WIDTH = 0 RUN_COLUMNS(COLUMN_ONE),
};

/* Where a column of a run stands among RUN_NAMES. */
#define RUN_COLUMN_INDEX(kind, column, field) RUN_COLUMN_##column,
enum { RUN_COLUMNS(RUN_COLUMN_INDEX) };

/* All columns of a row in their order, from the table of that name in the query. */
#define COLUMN_NEXT(kind, column, field) ", \"" #column "\""
#define COLUMN_OF_TASK(kind, column, field) ", task.\"" #column "\""
#define PROJECT_NAMES "id" PROJECT_AFTER_ID(COLUMN_NEXT)
#define TASK_NAMES "task.id" TASK_AFTER_ID(COLUMN_OF_TASK)
#define COLUMN_OF_RUN(kind, column, field) ", run.\"" #column "\""
#define RUN_NAMES "run.id" RUN_AFTER_ID(COLUMN_OF_RUN)

/* Fill the struct from columns first, first + 1, …; derived fields and is_dirty become 0. */
void project_read(const Stmt *stmt, int first, Project *project);
void task_read(const Stmt *stmt, int first, Task *task);
void run_read(const Stmt *stmt, int first, Run *run);
