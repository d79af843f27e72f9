/* Observed sessions: the engine's side of a turn whose phase is of kind observe.
 *
 * Order of calls for a turn: observation_prepare (before the launch; also gives OTTO_TASK_DIR),
 * observation_start (just before the keeper is started, so that nothing runs unobserved; or after
 * an earlier engine's turn was attached to), observation_stop when the run's stored stop is to be
 * carried out, observation_ended when the process tree is gone, observation_free.
 *
 * It never decides about the run: what it sees is posted as EV_OBSERVED; a limit that is reached is
 * posted as a wish in the same event, the machine stores the stop, and only then observation_stop
 * writes `.auto-stop`. So a stop outlives the engine and is never undone (defects 4 and 5). */
#pragma once
#include "core/observe.h"
#include "engine/internal.h"

typedef struct ObservationSpec {
    Act act;
    ObserveProtocol protocol;
    const char *workspace; /* absolute; the agent's folder */
    const char *key;       /* of the task; may be NULL or unfit for a name: task-ID then */
    const char *title, *body, *type, *branch;
    const char *status;   /* of the run, for a new state file; NULL: draft */
    ObserveLimits limits; /* observe_limits_default() and what the settings say */
    int64_t spent_ms;     /* Run.spent_ms: time before the present slot, without waits */
    StopWish stop;        /* Run.stop */
    bool is_attached;     /* an earlier engine started this turn */
} ObservationSpec;

typedef struct ObservationCalls {
    /* The grace time is over, or `.auto-stop` could not be written: stop the turn the ordinary
     * way (keep_stop). Called once, from the loop. */
    void (*on_grace_over)(void *user, const char *why);
} ObservationCalls;

typedef struct Observation Observation;

/* Path of the task folder relative to the workspace: "AiTasks/KEY" or ".working". */
void observation_folder(const ObservationSpec *spec, char out[PATH_MAX]);
/* Makes the folder, `.target.md` and, when there is none that can be read, the state file; keeps
 * the folder out of commits; drops what an earlier session left, unless a stop is stored. May be
 * repeated. The absolute path goes to folder: OTTO_TASK_DIR. */
bool observation_prepare(const ObservationSpec *spec, char folder[PATH_MAX], Err *err) NODISCARD;

/* Watches from now on. NULL: see err. */
Observation *observation_start(const ObservationSpec *spec, const ObservationCalls *calls,
                               void *user, Err *err) NODISCARD;
/* The run's stop is stored: writes `.auto-stop`, then waits for the grace time. A repeat does not
 * begin the time anew. */
void observation_stop(Observation *observation, StopWish stop);
/* Bytes of output were seen: the session is not idle. */
void observation_heard(Observation *observation);

typedef struct ObservationEnd {
    bool is_lost;
    int exit_code, killed_by;
    bool is_claimed; /* the turn said COMPLETE */
} ObservationEnd;

/* The process tree is gone: reads the files once more, posts what is new, decides, removes what is
 * left of the transient files. step.result is the word of the phase, to be posted as
 * {"result":…} with EV_STEP_RESULT: the recoveries of the next turn are counted from those.
 * step.reason is a stop that nobody stored yet (a stop file put there by hand), for "wish". */
void observation_ended(Observation *observation, const ObservationEnd *end, ObserveStep *step);
void observation_free(Observation *observation); /* NULL is fine; leaves the files as they are */

/* Transient files of the protocol. */
void observation_clean(int folder);
/* The state file as it is now; false: not there or broken, status is as it was. */
bool observation_read_status(const char *workspace, const char *below, ObserveProtocol protocol,
                             ObservedStatus *status, Err *err);

/* What was stored of this run and epoch so far: last reports, equal ones, recoveries. The number of
 * steps is that of the run's row. has_signal: the last signal is of the present turn. */
void observation_history(const Act *act, ObserveHistory *history, bool *has_signal);

/* For displays: numbers of the moment. */
int64_t observation_iterations(const Observation *observation);
const ObservedStatus *observation_status(const Observation *observation);
