/* Dependencies between tasks with what each must have reached: the graph, seen with task ids and
 * needs, in both directions.
 *
 * `reach` of a task says how far it has come: 0 nothing, then one more than the Need it satisfies.
 * It may fall again (retry, rollback): no second path. */
#pragma once
#include "core/types.h"
#include <stdbool.h>

typedef struct Deps Deps;

Deps *deps_new(void);
void deps_free(Deps *deps);
void deps_reserve(Deps *deps, uint32_t tasks, uint32_t edges);
void deps_grow(Deps *deps, TaskId task); /* room for ids up to task */

/* False when the edge would close a cycle (nothing is added); cycle then holds the members in
 * order, at most `most`, their number in *count. An edge that is there gets the new need. */
bool deps_add(Deps *deps, TaskId task, TaskId on, Need need, TaskId *cycle, uint32_t most,
              uint32_t *count);
/* Loading: no cycle test. */
void deps_load(Deps *deps, TaskId task, TaskId on, Need need);
bool deps_has(const Deps *deps, TaskId task, TaskId on);
bool deps_remove(Deps *deps, TaskId task, TaskId on);

/* Tells how far the task has come; each dependent that this frees, or may hold again, is given to
 * the callback. */
typedef void DepsFn(void *user, TaskId dependent);
void deps_reach(Deps *deps, TaskId task, uint8_t reach, DepsFn *fn, void *user);
uint8_t deps_reached(const Deps *deps, TaskId task);

uint32_t deps_open(const Deps *deps, TaskId task);     /* unmet dependencies */
uint32_t deps_unblocks(const Deps *deps, TaskId task); /* tasks that wait for it */
/* Dependencies of a task; returns how many there are, fills at most `most`. */
uint32_t deps_of(const Deps *deps, TaskId task, Dependency *out, uint32_t most);
/* Marks of every task: root[i] = lowest dead task it waits for through unmet edges, 0 none. */
typedef bool DepsDead(const void *user, TaskId task);
void deps_roots(const Deps *deps, TaskId last, DepsDead *is_dead, const void *user, TaskId *root);
