/* What the tests of records share: a store in a fresh folder, a task with a full staged history,
 * and files of an export kept in memory. */
#pragma once
#include "tests/test.h"

#include "base/file.h"
#include "record/record.h"

#define T0 INT64_C(1772442000000) /* 2026-03-02 09:00:00 UTC */
#define MINUTE INT64_C(60000)

typedef struct Room {
    char folder[64];
    Store *store;
    Err err;
} Room;

int room_setup(void **state); /* project 1 "shop" */
int room_teardown(void **state);
void must(bool is_done, const Err *err);

/* A task without anything but its texts. */
void task_put(Room *room, TaskId id, const char *title, const char *body);
/* Task 1: two stages, a rejected plan, a failed check, a rollback and another try, findings,
 * guards, feedback, refinements, experiences, a landing. Task 2 is its dependency. */
void history_put(Room *room);
void step_put(Room *room, TaskId task, int minute, uint32_t stage, const char *words);
void record_put(Room *room, TaskId task, int minute, uint32_t stage, RecordKind kind,
                const char *checkpoint, const char *result, const char *text, const char *data);
RecordFacts history_facts(void);

typedef struct Files {
    char *paths[512], *texts[512];
    size_t count;
} Files;

bool files_take(void *user, const char *path, const char *text, Err *err);
const char *files_get(const Files *files, const char *path); /* fails the test when absent */
const char *files_find(const Files *files, const char *path);
void files_done(Files *files);

/* Compares with golden/NAME; with OTTO_GOLDEN=write in the environment the file is written. */
void assert_golden(const char *name, const char *text);
void assert_has(const char *text, const char *part);
void assert_has_not(const char *text, const char *part);
/* Every line of a table has as many columns as its head; every fence is closed. */
void assert_markdown(const char *text);
/* No tag and no link outside of code. */
void assert_no_tags(const char *text);
/* Tags are closed in order; no script, no attribute that comes from outside. */
void assert_html(const char *text);
/* No control byte but newline, valid UTF-8, nothing that turns the direction of writing. */
void assert_clean(const char *text);
