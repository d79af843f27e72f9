/* What to do about a session that drives itself: see observe.h. */
#include "core/observe.h"
#include <string.h>

const char observe_results[] =
    "finished stopped blocked continue max-iterations timeout stall-limit loop vanished";

static const char *const action_words[] = {
#define X(action, word, help) [action] = word,
    OBSERVE_ACTIONS(X)
#undef X
};

const char *observe_action_word(ObserveAction action)
{
    return action_words[action];
}

ObserveLimits observe_limits_default(void)
{
    return (ObserveLimits){.max_iterations = 20,
                           .timeout_ms = INT64_C(30) * 60 * 1000,
                           .grace_ms = 60 * 1000,
                           .idle_beats = 3,
                           .identical = 6,
                           .recoveries_step = 3,
                           .recoveries_total = 10};
}

/* ---- what is true ---- */

static ObserveEnd status_end(const ObserveInput *in)
{
    if (!in->status || !in->status->is_known)
        return END_NONE;
    const ObserveWord *word = observe_word_find(FIELD_STATUS, in->status->status);
    return word ? word->end : END_NONE;
}

/* Only with next (stop): a BLOCKED that the session deals with itself is a step like others. */
static ObserveEnd signal_end(const ObserveInput *in)
{
    if (!in->signal || strcmp(in->signal->next, "(stop)") != 0)
        return END_NONE;
    const ObserveWord *word = observe_word_find(FIELD_RESULT, in->signal->result);
    if (!word || (word->end == END_FINISHED && strcmp(in->signal->step, "report") != 0))
        return END_NONE;
    return word->end;
}

/* A session ended well and had said COMPLETE the way every other agent does. */
static bool is_claimed(const ObserveInput *in)
{
    return in->is_claimed && in->has_ended && !in->is_lost && !in->killed_by && in->exit_code == 0;
}

/* Any of the three ways to say it counts, unless the state file says that a person is needed
 * it is checked before anything lands, so nothing is believed here. */
static bool is_finished(const ObserveInput *in)
{
    ObserveEnd status = status_end(in), signal = signal_end(in);
    if (status != END_NONE)
        return status == END_FINISHED;
    return signal == END_FINISHED || (signal == END_NONE && is_claimed(in));
}

static bool is_blocked(const ObserveInput *in)
{
    return !is_finished(in) && (status_end(in) == END_BLOCKED || signal_end(in) == END_BLOCKED);
}

static bool steps_spent(const ObserveInput *in)
{
    return in->limits.max_iterations > 0 && in->iterations >= in->limits.max_iterations;
}

static bool time_spent(const ObserveInput *in)
{
    return in->limits.timeout_ms > 0 && in->elapsed_ms - in->waited_ms >= in->limits.timeout_ms;
}

static bool is_looping(const ObserveInput *in)
{
    return in->limits.identical > 0 && in->identical >= in->limits.identical;
}

static bool recoveries_spent(const ObserveInput *in)
{
    const ObserveLimits *limits = &in->limits;
    return (limits->recoveries_step && in->recoveries_step >= limits->recoveries_step) ||
           (limits->recoveries_total && in->recoveries_total >= limits->recoveries_total);
}

static bool is_idle(const ObserveInput *in)
{
    return in->limits.idle_beats && in->idle_beats >= in->limits.idle_beats;
}

/* ---- rows ---- */

static bool ended(const ObserveInput *in)
{
    return in->has_ended;
}
static bool ended_by_person(const ObserveInput *in)
{
    return in->has_ended && in->stop == REASON_USER;
}
static bool ended_finished(const ObserveInput *in)
{
    return in->has_ended && is_finished(in);
}
static bool ended_blocked(const ObserveInput *in)
{
    return in->has_ended && is_blocked(in);
}
static bool ended_by_stop(const ObserveInput *in)
{
    return in->has_ended && in->stop != REASON_NONE;
}
static bool ended_steps(const ObserveInput *in)
{
    return in->has_ended && steps_spent(in);
}
static bool ended_time(const ObserveInput *in)
{
    return in->has_ended && time_spent(in);
}
static bool ended_loop(const ObserveInput *in)
{
    return in->has_ended && is_looping(in);
}
static bool ended_badly(const ObserveInput *in)
{
    return in->has_ended && (in->is_lost || in->killed_by != 0 || in->exit_code != 0);
}
static bool ended_stall(const ObserveInput *in)
{
    return in->has_ended && !in->has_moved && recoveries_spent(in);
}
static bool ended_moved(const ObserveInput *in)
{
    return in->has_ended && in->is_stamp_moved;
}
static bool stop_is_due(const ObserveInput *in)
{
    return in->stop != REASON_NONE && !in->is_stop_written;
}
static bool stop_is_ignored(const ObserveInput *in)
{
    return in->stop != REASON_NONE && in->stopping_ms >= in->limits.grace_ms;
}
static bool stop_is_written(const ObserveInput *in)
{
    return in->stop != REASON_NONE;
}
static bool rests_too_long(const ObserveInput *in)
{
    return (is_finished(in) || is_blocked(in)) && in->resting_ms >= in->limits.grace_ms;
}
static bool stalls(const ObserveInput *in)
{
    return is_idle(in) && recoveries_spent(in);
}
static bool has_reported(const ObserveInput *in)
{
    return in->is_new;
}
static bool always(const ObserveInput *in)
{
    (void)in;
    return true;
}

/* clang-format off */
static const ObserveRow rows[] = { /* the first row that fits wins */
  /* id                when             action            reason             result            why */
  {"ended-by-person",  ended_by_person, OBSERVE_FINISH,   REASON_NONE,       NULL,             "a person stopped the session; a stop is never undone"},
  {"ended-finished",   ended_finished,  OBSERVE_FINISH,   REASON_NONE,       "finished",       "the session says that the task is finished"},
  {"ended-blocked",    ended_blocked,   OBSERVE_FINISH,   REASON_NONE,       "blocked",        "the session cannot go on without a person"},
  {"ended-by-stop",    ended_by_stop,   OBSERVE_FINISH,   REASON_NONE,       NULL,             "the session was stopped by a limit and left its task unfinished"},
  {"ended-steps",      ended_steps,     OBSERVE_FINISH,   REASON_NONE,       "max-iterations", "the limit of steps is reached; it is not continued"},
  {"ended-time",       ended_time,      OBSERVE_FINISH,   REASON_NONE,       "timeout",        "the time limit is reached; it is not continued"},
  {"ended-loop",       ended_loop,      OBSERVE_FINISH,   REASON_NONE,       "loop",           "the same report came too often in a row"},
  {"ended-vanished",   ended_badly,     OBSERVE_FINISH,   REASON_NONE,       "vanished",       "the session broke off and left its task unfinished"},
  {"ended-stall",      ended_stall,     OBSERVE_FINISH,   REASON_NONE,       "stall-limit",    "the session was continued too often without a step"},
  {"ended-moved",      ended_moved,     OBSERVE_NONE,     REASON_NONE,       "",               "the state file was written meanwhile; it is judged again before anything is sent"},
  {"ended-continue",   ended,           OBSERVE_CONTINUE, REASON_NONE,       "continue",       "a step is complete and nothing follows; the session is sent on"},
  {"stop-write",       stop_is_due,     OBSERVE_STOP,     REASON_NONE,       "",               "the stop is stored; the session must be told"},
  {"stop-grace",       stop_is_ignored, OBSERVE_KILL,     REASON_NONE,       "",               "the session had its time to stop by itself"},
  {"stop-wait",        stop_is_written, OBSERVE_NONE,     REASON_NONE,       "",               "the session may end its step first"},
  {"rest-grace",       rests_too_long,  OBSERVE_KILL,     REASON_NONE,       "",               "the session reported its end and did not go"},
  {"rest-finished",    is_finished,     OBSERVE_FINISH,   REASON_NONE,       "finished",       "the session reported that the task is finished; it may go by itself"},
  {"rest-blocked",     is_blocked,      OBSERVE_FINISH,   REASON_NONE,       "blocked",        "the session reported that it cannot go on; it may go by itself"},
  {"time",             time_spent,      OBSERVE_STOP,     REASON_TIMEOUT,    "",               "the time limit is reached"},
  {"steps",            steps_spent,     OBSERVE_STOP,     REASON_ITERATIONS, "",               "the limit of steps is reached"},
  {"loop",             is_looping,      OBSERVE_STOP,     REASON_LOOP,       "",               "the same report came too often in a row"},
  {"stall",            stalls,          OBSERVE_STOP,     REASON_STALL,      "",               "it is idle again and all recoveries are used"},
  {"idle",             is_idle,         OBSERVE_NONE,     REASON_NONE,       "",               "a stall is suspected"},
  {"step",             has_reported,    OBSERVE_NONE,     REASON_NONE,       "",               "a step was reported; the session drives itself"},
  {"quiet",            always,          OBSERVE_NONE,     REASON_NONE,       "",               "nothing is to be done"},
};
/* clang-format on */

const ObserveRow *observe_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

void observe_decide(const ObserveInput *input, ObserveStep *step)
{
    const ObserveRow *row = rows;
    while (!row->fits(input))
        row++;
    bool is_stored = row->action == OBSERVE_STOP && row->reason == REASON_NONE;
    *step = (ObserveStep){.action = row->action,
                          .reason = is_stored ? input->stop : row->reason,
                          .result = row->result ? row->result : observe_reason_result(input->stop),
                          .row = row->id,
                          .why = row->why};
}

/* ---- counting ---- */

static void count_up(ObserveHistory *history, int64_t told)
{
    history->iterations =
        MAX(MAX(history->signals, history->states), MAX(history->iterations, told));
}

int64_t observe_count(ObserveHistory *history, const ObservedSignal *signal, bool *is_new)
{
    *is_new = !history->has_signal || !observe_signal_is_same(&history->signal, signal);
    if (!*is_new)
        return history->iterations;
    bool is_repeat = history->has_signal && observe_signal_is_repeat(&history->signal, signal);
    history->identical = is_repeat ? history->identical + 1 : 1;
    if (!is_repeat)
        history->recoveries_step = 0; /* B-179: progress; the total never goes back */
    history->signal = *signal;
    history->has_signal = true;
    history->signals++;
    count_up(history, signal->iteration);
    return history->iterations;
}

int64_t observe_count_status(ObserveHistory *history, const ObservedStatus *status, bool *is_new)
{
    *is_new = history->has_status && observe_status_moved(&history->status, status);
    history->status = *status;
    history->has_status = true;
    if (!*is_new)
        return history->iterations;
    history->recoveries_step = 0;
    history->states++;
    count_up(history, 0);
    return history->iterations;
}

bool observe_has_moved(const ObserveHistory *history)
{
    return history->iterations > history->turn_iterations;
}

void observe_count_end(ObserveHistory *history, const char *result)
{
    if (text_equal(result, "continue") && !observe_has_moved(history)) {
        history->recoveries_step++;
        history->recoveries_total++;
    }
    history->turn_iterations = history->iterations;
}

/* ---- texts of EV_OBSERVED ---- */

void observe_text_status(const ObservedStatus *status, Str *out)
{
    str_add(out, "{\"step\":\"status\",\"status\":");
    str_add_json(out, status->status);
    str_add(out, ",\"phase\":");
    str_add_json(out, status->phase);
    str_addf(out, ",\"completed_steps\":%lld", (long long)status->completed_steps);
    str_addf(out, ",\"stage\":{\"current\":%lld}", (long long)status->stage);
    str_add(out, ",\"updated\":");
    str_add_json(out, status->stamp);
    str_add_char(out, '}');
}

void observe_text_wish(const ObserveStep *step, Str *out)
{
    str_add(out, "{\"wish\":");
    str_add_json(out, observe_reason_word(step->reason));
    str_add(out, ",\"row\":");
    str_add_json(out, step->row);
    str_add(out, ",\"why\":");
    str_add_json(out, step->why);
    str_add_char(out, '}');
}

StopWish observe_text_stop(const char *text)
{
    ObserveReason reason = REASON_NONE;
    CLEANUP(json_freep) json_t *object = text ? json_read(text, strlen(text), NULL) : NULL;
    if (!observe_reason_find(json_text(object, "wish", NULL), &reason))
        return STOP_NONE;
    return observe_stop_wish(reason);
}

void observe_history_add(ObserveHistory *history, int64_t iteration, const char *text)
{
    bool is_new;
    ObservedSignal signal;
    size_t length = text ? strlen(text) : 0;
    CLEANUP(json_freep) json_t *object = text ? json_read(text, length, NULL) : NULL;
    if (text_equal(json_text(object, "step", NULL), "status")) {
        history->states++; /* it was a step when it was told */
        history->recoveries_step = 0;
        history->has_status =
            observe_status_read(text, length, OBSERVE_B, &history->status, NULL, NULL);
    } else if (object && observe_signal_read(text, length, &signal, NULL)) {
        (void)observe_count(history, &signal, &is_new); /* the count is in the history */
    }
    count_up(history, iteration);
}
