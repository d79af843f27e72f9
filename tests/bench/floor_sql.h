/* Raw SQLite: what storing and reading tasks costs without any engine. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct SqlFloor SqlFloor;
typedef enum SqlSync { SQL_NORMAL, SQL_FULL } SqlSync;
typedef enum SqlState { SQL_READY, SQL_RUNNING, SQL_DONE, SQL_WAITING } SqlState;

SqlFloor *sql_open(const char *path, SqlSync sync); /* write-ahead log; NULL on failure */
void sql_free(SqlFloor *floor);
bool sql_begin(SqlFloor *floor);
bool sql_commit(SqlFloor *floor);
/* Tasks 1 to count, each waiting for up to `edges` earlier ones, in one transaction. */
bool sql_fill(SqlFloor *floor, unsigned count, unsigned edges);
/* One transition: the task's row and an event row. */
bool sql_transition(SqlFloor *floor, unsigned task, SqlState state);
unsigned sql_best(SqlFloor *floor); /* best ready task by index; 0 none */
/* Best ready task by index, running, done, dependents released: one stored scheduling cycle. */
bool sql_cycle(SqlFloor *floor);
/* Reads tasks and dependencies into arrays, as a start would; returns how many rows. */
int64_t sql_read_back(SqlFloor *floor);
/* The task that task `id` waits for as its edge-th dependency; 0: none. The same for all sides. */
unsigned edge_of(unsigned id, unsigned edge);
