/* A machine in a test: one project, a clock that stands still until told, short words for events.
 *
 * Everything that is accepted is noted, so that a last test can ask whether every row of the
 * machine's tables was used. */
#pragma once
#include "core/machine.h"
#include "core/signal.h"
#include "tests/test.h"

typedef struct Rig {
    Machine *machine;
    Step step;
    int64_t now_ms;
} Rig;

enum { RIG_START_MS = 1700000040000 }; /* a whole minute */

Rig *rig_new(uint32_t slots); /* online, not yet running */
void rig_free(Rig *rig);      /* fits CLEANUP through rig_freep */
void rig_freep(Rig **rig);
#define RIG CLEANUP(rig_freep) Rig *

/* Steps; was it accepted? The time is the rig's. */
bool rig_post(Rig *rig, Event event);
bool rig_wish(Rig *rig, EventKind kind, TaskId task, int64_t a); /* of a task, or 0: the project */
/* A report of the task's latest run, with its epoch and turn. */
bool rig_report(Rig *rig, TaskId task, EventKind kind, int64_t a, int64_t b);
bool rig_tick(Rig *rig, int64_t after_ms); /* the clock moves, then a tick */
void rig_limits(Rig *rig, const char *json);
/* Throws the machine away and loads all its rows into a new one; an engine starts with it. */
void rig_reload(Rig *rig, bool is_online);

TaskId rig_task(Rig *rig); /* adds a plain task */
TaskId rig_task_of(Rig *rig, uint8_t tags, uint8_t priority, const char *limits);
bool rig_after(Rig *rig, TaskId task, TaskId on, Need need);
void rig_run(Rig *rig); /* the autopilot starts */

const Task *rig_see(const Rig *rig, TaskId task);
const Run *rig_run_of(const Rig *rig, TaskId task); /* the latest */
AutoState rig_autopilot(const Rig *rig);
const char *rig_explain(Rig *rig, TaskId task); /* valid until the next step */

/* Passages, each beginning where the one before it ends. */
void rig_begin(Rig *rig, TaskId task);                         /* preparing > working */
void rig_end(Rig *rig, TaskId task, SignalType signal);        /* working > judged, exit 0 */
void rig_exit(Rig *rig, TaskId task, int code, int killed_by); /* working > judged, no signal */
void rig_gate(Rig *rig, TaskId task, Verdict verdict);         /* verifying > judged */
void rig_merge(Rig *rig, TaskId task);                         /* merging > landing */
void rig_land(Rig *rig, TaskId task);                          /* landing > ended, task done */
void rig_finish(Rig *rig, TaskId task);                        /* preparing > done */

/* Effects since the last time they were taken. */
uint32_t rig_effects(Rig *rig, EffectKind kind); /* how many of this kind */
void rig_take(Rig *rig);

#define assert_task(rig, task, word)                                                               \
    assert_string_equal(task_state_word(rig_see(rig, task)->state), word)
#define assert_run(rig, task, word)                                                                \
    assert_string_equal(run_state_word(rig_run_of(rig, task)->state), word)
#define assert_auto(rig, word) assert_string_equal(auto_state_word(rig_autopilot(rig)), word)
#define assert_says(text, part) assert_non_null(strstr(text, part))

/* Was this report ever accepted in this state? Was this row of the workflow ever taken? */
bool rig_was_seen(RunState from, EventKind on);
bool rig_was_routed(const char *row);

int test_machine_turns(void);
int test_machine_wishes(void);
int test_machine_merges(void);
int test_machine_queue(void);
