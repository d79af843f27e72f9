/* What the store's tests share: a fresh folder with a database in it, and rows with a value in
 * every field. */
#pragma once
#include "tests/test.h"

#include "base/file.h"
#include "store/flow.h"

typedef struct Room {
    char folder[64];
    char path[128]; /* of the database, not made yet */
    Arena arena;
} Room;

int room_setup(void **state);    /* *state is a Room */
int room_teardown(void **state); /* removes the folder */

Store *store_must_open(const char *path, unsigned flags);
/* Asserts and shows the error. */
void must(bool is_done, const Err *err);

/* A value in every stored field, different in each. */
Project project_sample(ProjectId id);
Task task_sample(TaskId id, ProjectId project);
Run run_sample(RunId id, TaskId task, ProjectId project);

void assert_project(const Project *a, const Project *b);
void assert_task(const Task *a, const Task *b);
void assert_run(const Run *a, const Run *b);

/* Project 1 with tasks 1..tasks and their texts, committed. */
void store_fill(Store *store, TaskId tasks);
/* A new store: project 1, tasks 1 and 2, runs 1 (of task 1) and 2 (of task 2). */
Store *store_with_runs(const char *path);

/* For refused calls: the act failed, and with this kind. */
void must_fail(bool is_done, const Err *err, ErrKind kind);
/* Adds to a text of 256 bytes, which a list's callback makes of its rows. */
void text_addf(char *all, const char *format, ...) PRINTF(2, 3);

void file_copy(const char *from, const char *to);
/* Runs act in a child process; the wait status comes back. */
int child_run(void (*act)(void *user), void *user);
