/* The engine: one loop, one queue, one writer. Takes events, asks core/, commits, then acts.
 *
 * One engine owns a state folder (lock file). Online it carries out effects; offline it only
 * records wishes: commands use that when no engine runs, through the same api_handle. Touches
 * nothing by itself: the store, the keepers, worker processes and the clock are reached through
 * their rooms. */
#pragma once
#include "base/err.h"
#include "base/json.h"
#include "core/event.h"
#include "proc/loop.h"

typedef struct Engine Engine;

typedef struct EngineOptions {
    const char *state_dir; /* created when missing */
    const char *program;   /* this program, for worker processes and the script agent */
    const char *keeper;    /* the keeper program */
    bool is_online;        /* carry out effects */
    bool is_errand;        /* offline, but for what a person just asked for (a rollback) */
    int64_t lock_wait_ms;  /* how long to wait for another short-lived owner */
} EngineOptions;

/* Takes the lock (ERR_BUSY names the holder), opens the store, reads the state back. An online
 * engine then attaches to living keepers and takes up what is owed (from its loop). */
Engine *engine_open(const EngineOptions *options, Err *err) NODISCARD;
void engine_free(Engine *engine); /* agents that run go on; the next engine re-adopts them */

Loop *engine_loop(Engine *engine);

/* What is published after each commit: one JSON text per event, valid during the call.
 * {"id":17,"at_ms":…,"event":"turn.ended","project":1,"task":3,"run":5,"turn":2,"data":{…},
 *  "why":"…","state":"active","run_state":"saving"}; output of agents comes as
 * {"event":"output","task":3,"run":5,"turn":2,"stream":1,"text":"…"}. */
typedef void EngineListener(void *user, const char *json, size_t length);
/* Returns a handle for engine_unlisten. with_output: agents' output too. */
int engine_listen(Engine *engine, EngineListener *listener, void *user, bool with_output);
void engine_unlisten(Engine *engine, int handle);

/* Stored events after an id, oldest first, in the same form. task 0: all. */
bool engine_events_after(Engine *engine, int64_t after, ProjectId project, TaskId task,
                         EngineListener *fn, void *user, Err *err) NODISCARD;

/* Runs the loop until nothing is owed or in flight (for commands that need an effect now). */
bool engine_settle(Engine *engine, Err *err) NODISCARD;
/* Autopilot of the project is idle or paused and nothing of it is in flight. */
bool engine_is_quiet(const Engine *engine, ProjectId project);
bool engine_is_online(const Engine *engine);
