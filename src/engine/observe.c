/* Observed sessions: watching, reporting, stopping. See observe.h. */
#include "engine/observe.h"
#include "base/clock.h"
#include "base/log.h"
#include "proc/watch.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BEAT_MS = 60 * 1000, /* */
    REST_MS = 50,        /* after a change of a file */
    POLL_MS = 2000,      /* when the settings say nothing */
    CAS_TRIES = 5,       /* readings of a state file that somebody else writes */
};

struct Observation {
    Act act;
    ObserveProtocol protocol;
    ObserveLimits limits;
    ObservationCalls calls;
    void *user;
    char *workspace, below[PATH_MAX];
    Watch *watch;
    LoopTimer timer;
    ObserveHistory history;
    ObservedStatus status; /* the last good one */
    int64_t started_ms;    /* engine's clock, moved back by the time of earlier turns */
    int64_t heard_ms;      /* last sign of life */
    int64_t beat_ms;       /* next beat */
    int64_t stop_ms;       /* when the stop was written */
    int64_t rest_ms;       /* since when it reports its end; 0 it does not */
    uint32_t idle_beats;   /* in a row */
    ObserveReason stop;    /* stored with the run */
    ObserveReason wished;  /* posted, so that it becomes stored */
    bool has_signal;       /* the history's last signal is of this turn */
    bool is_stop_written, is_told, is_attached;
    const char *row; /* that decided last */
};

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* a folder handle */
}

static int64_t now_of(const Observation *o)
{
    return engine_now(o->act.engine);
}

/* ---- telling ---- */

static void post(const Observation *o, const char *text)
{
    Event event = act_event(&o->act, EV_OBSERVED);
    event.a = o->history.iterations;
    event.text = text;
    event.ref = o->status.is_known ? o->status.status : NULL;
    (void)engine_post(o->act.engine, &event); /* refused only when old */
}

/* The machine stores the stop; observation_stop follows from that. */
static void wish(Observation *o, const ObserveStep *step)
{
    const Run *run = machine_run(o->act.engine->machine, o->act.run);
    bool is_on_its_way = o->wished != REASON_NONE || !run || run->stop != STOP_NONE;
    if (o->wished == REASON_NONE)
        o->wished = step->reason;
    if (is_on_its_way)
        return;
    CLEANUP(str_done) Str text = STR_INIT;
    observe_text_wish(step, &text);
    post(o, str_text(&text));
}

/* ---- deciding ---- */

static void input_fill(const Observation *o, bool is_new, ObserveInput *in)
{
    int64_t now = now_of(o);
    *in = (ObserveInput){.protocol = o->protocol,
                         .limits = o->limits,
                         .signal = o->has_signal ? &o->history.signal : NULL,
                         .status = &o->status,
                         .is_new = is_new,
                         .elapsed_ms = now - o->started_ms,
                         .iterations = o->history.iterations,
                         .has_moved = observe_has_moved(&o->history),
                         .stop = o->stop,
                         .is_stop_written = o->is_stop_written,
                         .stopping_ms = o->is_stop_written ? now - o->stop_ms : 0,
                         .resting_ms = o->rest_ms ? now - o->rest_ms : 0,
                         .identical = o->history.identical,
                         .idle_beats = o->idle_beats,
                         .recoveries_step = o->history.recoveries_step,
                         .recoveries_total = o->history.recoveries_total};
}

static void decide(Observation *o, const ObserveInput *in, ObserveStep *step)
{
    observe_decide(in, step);
    if (o->row != step->row) /* A-135; rows are constants */
        log_line("observe.%s task=%u run=%u turn=%u iteration=%lld status=%s why=\"%s\"", step->row,
                 o->act.task, o->act.run, o->act.turn, (long long)in->iterations,
                 o->status.is_known ? o->status.status : "?", step->why);
    o->row = step->row;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a && (!b || a < b) ? a : b;
}

/* One timer for everything that comes by itself. */
static void timer_next(Observation *o)
{
    int64_t at = o->beat_ms;
    if (o->limits.timeout_ms > 0 && o->stop == REASON_NONE && o->wished == REASON_NONE)
        at = sooner(o->started_ms + o->limits.timeout_ms, at);
    if (o->is_stop_written && !o->is_told)
        at = sooner(o->stop_ms + o->limits.grace_ms, at);
    if (o->rest_ms && !o->is_told)
        at = sooner(o->rest_ms + o->limits.grace_ms, at);
    int64_t wait_ms = CLAMP(at - now_of(o), 0, (int64_t)BEAT_MS);
    loop_timer_set(o->act.engine->loop, &o->timer, clock_mono_ms() + wait_ms);
}

/* After a restart the grace time goes on where it was. */
static int64_t stop_time(const Observation *o, int folder)
{
    struct stat info;
    int64_t now = now_of(o);
    if (!o->is_attached || fstatat(folder, OBSERVE_STOP_FILE, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
        return now;
    int64_t at = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
    return CLAMP(at, now - o->limits.grace_ms, now);
}

/* An earlier engine wrote it: its time counts, so it is left as it is. */
static bool stop_is_there(const Observation *o, int folder, ObserveReason reason)
{
    CLEANUP(str_done) Str text = STR_INIT;
    return o->is_attached &&
           watch_read_at(folder, OBSERVE_STOP_FILE, OBSERVE_FILE_MAX, &text, NULL) &&
           observe_stop_read(str_text(&text), text.length) == reason;
}

static bool stop_put(Observation *o, ObserveReason reason, Err *err)
{
    char now[OBSERVE_TIME_SIZE];
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(fd_close) int folder = watch_open(o->workspace, o->below, false, err);
    if (folder < 0)
        return false;
    o->stop_ms = stop_time(o, folder);
    observe_time_text(now_of(o), now);
    observe_stop_write(reason, now, &text);
    return stop_is_there(o, folder, reason) ||
           watch_write_at(folder, OBSERVE_STOP_FILE, str_text(&text), err);
}

/* A session that cannot be told is stopped the ordinary way: its grace time is over at once. */
static void stop_write(Observation *o, ObserveReason reason)
{
    Err err = {0};
    o->is_stop_written = true;
    if (stop_put(o, reason, &err))
        return;
    o->stop_ms = now_of(o) - o->limits.grace_ms;
    log_line("observe.stop-failed task=%u run=%u error=\"%s\"", o->act.task, o->act.run, err.text);
}

static void carry_out(Observation *o, const ObserveStep *step)
{
    bool is_resting = step->action == OBSERVE_FINISH || strcmp(step->row, "rest-grace") == 0;
    o->rest_ms = !is_resting ? 0 : o->rest_ms ? o->rest_ms : now_of(o);
    if (step->action == OBSERVE_STOP && o->stop != REASON_NONE)
        stop_write(o, step->reason);
    else if (step->action == OBSERVE_STOP)
        wish(o, step);
    if (step->action == OBSERVE_KILL && !o->is_told) {
        o->is_told = true;
        o->calls.on_grace_over(o->user, step->why);
    }
}

static void judge(Observation *o, bool is_new)
{
    ObserveInput in;
    ObserveStep step;
    input_fill(o, is_new, &in);
    decide(o, &in, &step);
    carry_out(o, &step);
    timer_next(o);
}

static void on_timer(void *user)
{
    Observation *o = user;
    int64_t now = now_of(o);
    if (now >= o->beat_ms) {
        o->idle_beats = now - o->heard_ms >= BEAT_MS ? o->idle_beats + 1 : 0;
        o->beat_ms = now + BEAT_MS;
    }
    judge(o, false);
}

/* ---- reading ---- */

static bool file_get(const Observation *o, const char *name, Str *text)
{
    Err err = {0};
    CLEANUP(fd_close) int folder = watch_open(o->workspace, o->below, false, &err);
    if (folder >= 0 && watch_read_at(folder, name, OBSERVE_FILE_MAX, text, &err))
        return true;
    if (err.kind != ERR_NOT_FOUND)
        log_line("observe.unread task=%u run=%u error=\"%s\"", o->act.task, o->act.run, err.text);
    return false;
}

static void bad_file(const Observation *o, const char *name, const char *why)
{
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_safe(&safe, why, strlen(why), false);
    log_line("observe.bad task=%u run=%u file=\"%s\" why=\"%s\"", o->act.task, o->act.run, name,
             str_text(&safe)); /* logged and otherwise ignored */
}

/* True: the state file tells of a step that no signal tells (B-117). */
static bool status_take(Observation *o)
{
    bool is_new = false;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT, warnings = STR_INIT;
    const char *name = observe_state_file(o->protocol);
    if (!file_get(o, name, &text))
        return false;
    if (!observe_status_read(str_text(&text), text.length, o->protocol, &o->status, &warnings,
                             &err)) {
        bad_file(o, name, err.text);
        return false;
    }
    if (warnings.length)
        bad_file(o, name, str_text(&warnings));
    if (o->protocol == OBSERVE_B)
        (void)observe_count_status(&o->history, &o->status, &is_new); /* the count is in history */
    return is_new;
}

static bool signal_take(Observation *o)
{
    bool is_new = false;
    ObservedSignal signal;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    if (!file_get(o, OBSERVE_SIGNAL_FILE, &text))
        return false;
    if (observe_signal_read(str_text(&text), text.length, &signal, &err))
        (void)observe_count(&o->history, &signal, &is_new); /* the count is in history */
    else
        bad_file(o, OBSERVE_SIGNAL_FILE, err.text);
    o->has_signal = o->has_signal || is_new;
    return is_new;
}

/* Reads both files and posts what is new; returns whether something was. */
static bool steps_take(Observation *o)
{
    CLEANUP(str_done) Str text = STR_INIT;
    bool has_status = status_take(o); /* first: the signal is posted with the status it led to */
    if (has_status) {
        observe_text_status(&o->status, &text);
        post(o, str_text(&text));
    }
    bool has_signal = signal_take(o);
    if (has_signal) {
        str_clear(&text);
        observe_signal_write(&o->history.signal, &text);
        post(o, str_text(&text));
    }
    return has_status || has_signal;
}

/* A stop file that we did not write is a person's. */
static bool is_stopped_by_hand(const Observation *o)
{
    CLEANUP(str_done) Str text = STR_INIT;
    return !o->is_stop_written && o->stop == REASON_NONE && file_get(o, OBSERVE_STOP_FILE, &text) &&
           observe_stop_read(str_text(&text), text.length) != REASON_NONE;
}

static void on_change(void *user, const char *name)
{
    Observation *o = user;
    observation_heard(o);
    if (strcmp(name, OBSERVE_STOP_FILE) == 0) {
        ObserveStep step = {.reason = REASON_USER,
                            .row = "stop-file",
                            .why = "a stop file was put into the task folder"};
        if (is_stopped_by_hand(o))
            wish(o, &step);
        return;
    }
    judge(o, steps_take(o));
}

/* ---- life ---- */

static bool watch_open_all(Observation *o, Err *err)
{
    const ProjectInfo *project = project_info(o->act.engine, o->act.project);
    int64_t poll_ms = project ? project->settings.observe.poll_ms : 0;
    const char *const names[] = {OBSERVE_SIGNAL_FILE, observe_state_file(o->protocol),
                                 OBSERVE_STOP_FILE};
    WatchSpec spec = {.root = o->workspace,
                      .below = o->below,
                      .names = names,
                      .name_count = COUNT(names),
                      .poll_ms = poll_ms > 0 ? poll_ms : POLL_MS,
                      .debounce_ms = REST_MS};
    o->watch = watch_start(o->act.engine->loop, &spec, on_change, o, err);
    return o->watch != NULL;
}

/* A new turn begins where the state file stands; of an attached one the stored reports tell. */
static void baseline_take(Observation *o)
{
    Err err = {0};
    bool is_new;
    if (o->is_attached && o->history.has_status)
        return;
    if (!observation_read_status(o->workspace, o->below, o->protocol, &o->status, &err))
        return;
    o->history.has_status = false;
    (void)observe_count_status(&o->history, &o->status, &is_new); /* where it starts is no step */
}

Observation *observation_start(const ObservationSpec *spec, const ObservationCalls *calls,
                               void *user, Err *err)
{
    Observation *o = mem_alloc(sizeof *o);
    const Run *run = machine_run(spec->act.engine->machine, spec->act.run);
    int64_t now = engine_now(spec->act.engine);
    int64_t since = run && run->slot_ms ? run->slot_ms : now; /* as the run's own clock */
    *o = (Observation){.act = spec->act,
                       .protocol = spec->protocol,
                       .limits = spec->limits,
                       .calls = *calls,
                       .user = user,
                       .workspace = mem_strdup(spec->workspace),
                       .timer = {.fn = on_timer, .user = o},
                       .started_ms = since - spec->spent_ms,
                       .heard_ms = now,
                       .beat_ms = now + BEAT_MS,
                       .is_attached = spec->is_attached};
    observation_folder(spec, o->below);
    observation_history(&o->act, &o->history, &o->has_signal);
    baseline_take(o);
    if (!watch_open_all(o, err)) {
        observation_free(o);
        return NULL;
    }
    timer_next(o);
    return o;
}

void observation_free(Observation *o)
{
    if (!o)
        return;
    watch_free(o->watch);
    loop_timer_clear(o->act.engine->loop, &o->timer);
    free(o->workspace);
    free(o);
}

void observation_heard(Observation *o)
{
    o->heard_ms = now_of(o);
    o->idle_beats = 0;
}

/* Two reasons share one stored stop: the file, or what we wished, says which. */
static ObserveReason reason_of(const Observation *o, StopWish stop)
{
    CLEANUP(str_done) Str text = STR_INIT;
    ObserveReason told = o->wished;
    if (o->is_attached && told == REASON_NONE && file_get(o, OBSERVE_STOP_FILE, &text))
        told = observe_stop_read(str_text(&text), text.length);
    return told != REASON_NONE && observe_stop_wish(told) == stop ? told : observe_reason_of(stop);
}

void observation_stop(Observation *o, StopWish stop)
{
    if (o->stop == REASON_NONE)
        o->stop = reason_of(o, stop == STOP_NONE ? STOP_BY_USER : stop);
    judge(o, false);
}

/* Sends on only what still stands as it was judged (B-123). */
static void end_decide(Observation *o, const ObservationEnd *end, ObserveStep *step)
{
    ObserveInput in;
    for (int i = 0; i < CAS_TRIES; i++) {
        (void)steps_take(o); /* what is new is posted */
        input_fill(o, false, &in);
        in.has_ended = true;
        in.is_lost = end->is_lost;
        in.exit_code = end->exit_code;
        in.killed_by = end->killed_by;
        in.is_claimed = end->is_claimed;
        decide(o, &in, step);
        if (step->action != OBSERVE_CONTINUE)
            return;
        ObservedStatus now = o->status;
        Err err = {0};
        in.is_stamp_moved =
            observation_read_status(o->workspace, o->below, o->protocol, &now, &err) &&
            (strcmp(now.stamp, o->status.stamp) != 0 || observe_status_moved(&o->status, &now));
        decide(o, &in, step);
        if (step->action == OBSERVE_CONTINUE)
            return;
    }
    *step = (ObserveStep){.action = OBSERVE_FINISH,
                          .result = "blocked",
                          .row = "ended-contested",
                          .why = "something else writes the state file; a person must look"};
}

void observation_ended(Observation *o, const ObservationEnd *end, ObserveStep *step)
{
    const Run *run = machine_run(o->act.engine->machine, o->act.run);
    Err err = {0};
    watch_free(o->watch);
    o->watch = NULL;
    loop_timer_clear(o->act.engine->loop, &o->timer);
    if (o->stop == REASON_NONE && run && run->stop != STOP_NONE)
        o->stop = reason_of(o, (StopWish)run->stop); /* killed without a word to the session */
    bool is_by_hand = is_stopped_by_hand(o);
    if (is_by_hand)
        o->stop = REASON_USER;
    end_decide(o, end, step);
    step->reason = is_by_hand ? REASON_USER : REASON_NONE; /* the machine does not know it yet */
    CLEANUP(fd_close) int folder = watch_open(o->workspace, o->below, false, &err);
    if (folder >= 0)
        observation_clean(folder);
}

int64_t observation_iterations(const Observation *o)
{
    return o->history.iterations;
}

const ObservedStatus *observation_status(const Observation *o)
{
    return &o->status;
}
