/* Short words for tests of tasks that follow a workflow; see test_machine_rig.h. */
#pragma once
#include "core/workflow.h"
#include "tests/core/test_machine_rig.h"

/* Adds a task of the workflow with this name; its target is filled and confirmed. */
TaskId flow_task(Rig *rig, const char *workflow);
/* Starts the autopilot and makes the workspace of its first phase. */
void flow_begin(Rig *rig, TaskId task);
bool flow_post(Rig *rig, TaskId task, EventKind kind, const char *text, const char *ref);
/* A turn of the phase now that ends with this answer; snapshots are named by turn: "c3". */
void flow_says(Rig *rig, TaskId task, const char *result);
void flow_says_json(Rig *rig, TaskId task, const char *json);
void flow_ends(Rig *rig, TaskId task, int code, int killed_by); /* the turn, without an answer */
/* plan, verify, check, exec, verify: the work waits for its last check. */
void flow_to_check(Rig *rig, TaskId task);
/* The whole of a stage of `staged`, from its plan to the next target or the landing. */
void flow_stage(Rig *rig, TaskId task, int convergence);

const char *flow_phase(const Rig *rig, TaskId task);
const char *flow_checkpoint(const Rig *rig, TaskId task);
bool flow_command(Rig *rig, TaskId task, const char *command);
bool flow_review(Rig *rig, TaskId task, ReviewDecision decision, RedoHow how, const char *commit);

#define assert_phase(rig, task, word) assert_string_equal(flow_phase(rig, task), word)
#define assert_at(rig, task, word) assert_string_equal(flow_checkpoint(rig, task), word)
#define assert_status(rig, task, word)                                                             \
    assert_string_equal(machine_status_word((rig)->machine, rig_see(rig, task)), word)

int test_machine_people(void);
