/* One run's progress: reports of the world become results, the workflow's rows say what follows. */
#include "core/completion.h"
#include "core/exit.h"
#include "core/machine_internal.h"
#include "core/observe.h"
#include "core/retry.h"
#include "core/signal.h"
#include <string.h>

enum { MOST_STEP_TRIES = 3 }; /* D-141 */

/* Back to pending with everything kept (D-114, D-131, D-132). */
void run_park(Machine *machine, Run *run, const char *why)
{
    Task *task = task_at(machine, run->task);
    StopWish wish = (StopWish)run->stop;
    say_about(machine, run->task, "%s", why);
    merge_leave(machine, run);
    run->stop = wish == STOP_BY_USER ? STOP_BY_USER : STOP_NONE; /* see task_is_resting */
    set_run_state(machine, run, RUN_PARKED);
    set_task_state(machine, task,
                   wish == STOP_BY_REMOVE ? TASK_CANCELLED
                   : wish == STOP_BY_SKIP ? TASK_SKIPPED
                                          : TASK_PENDING);
    reach_changed(machine, task);
}

void run_stop(Machine *machine, Run *run, StopWish wish, bool is_forced)
{
    static const char *const why[] = {
        [STOP_NONE] = "",
        [STOP_BY_USER] = "a person stopped the agent",
        [STOP_BY_PAUSE] = "the pause did not wait longer for this turn",
        [STOP_BY_CLOCK] = "the time limit is reached",
        [STOP_BY_OUTPUT] = "the output limit is reached",
        [STOP_BY_REMOVE] = "the task was removed",
        [STOP_BY_SKIP] = "the task was left out",
        [STOP_BY_STEPS] = "the step limit is reached",
        [STOP_BY_STALL] = "it stalled again and again",
    };
    say_about(machine, run->task, "%s", why[wish]);
    run->stop = (uint8_t)wish;
    if (run->state != RUN_STOPPING)
        set_run_state(machine, run, RUN_STOPPING);
    if (is_forced && machine->effect_count &&
        machine->effects[machine->effect_count - 1].kind == FX_STOP_TURN)
        machine->effect_count--; /* one order, not two: the keeper would walk its tree twice */
    if (is_forced)
        emit(machine, FX_KILL_TURN, task_at(machine, run->task), run, NULL);
    run_changed(machine, run);
}

/* A step that could not be carried out is tried again after 1, 2, 3 seconds (D-141). */
void run_retry_step(Machine *machine, Run *run, const Event *event, const char *result)
{
    bool may_retry = event->kind == EV_GATE_ENDED || event->kind == EV_MERGE_GATE_ENDED || event->a;
    bool is_left = run->stop && run->stop != STOP_BY_CLOCK && run->stop != STOP_BY_OUTPUT &&
                   run->stop != STOP_BY_STEPS && run->stop != STOP_BY_STALL;
    if (!may_retry || ++run->tries >= MOST_STEP_TRIES) {
        if (is_left)
            run_park(machine, run, "stopped; its last step could not be carried out");
        else
            run_apply(machine, run, result, event->text);
        return;
    }
    run->retry_ms = machine->now_ms + (int64_t)run->tries * 1000;
    ids_add(&mind_of(machine, run->project)->later, run->id);
    run_changed(machine, run);
    say(machine, "try %u failed (%s); again in %u s", run->tries, event->text ? event->text : "?",
        run->tries);
}

/* Judging the end of a turn */

static const char *exit_result(const Run *run)
{
    ExitInput in = {
        .end = run->killed_by || run->is_lost ? EXIT_KILLED
               : run->exit_code               ? EXIT_NONZERO
                                              : EXIT_ZERO,
        .signal = (SignalType)run->signal,
    };
    switch (exit_decide(&in)->state) {
    case TASK_FAILED:
        return "failed";
    case TASK_PENDING:
        return "killed";
    case TASK_ACTIVE:
    case TASK_REVIEW:
    case TASK_BLOCKED:
    case TASK_DONE:
    case TASK_TIMEOUT:
    case TASK_SKIPPED:
    case TASK_CANCELLED:
    case TASK_STATE_COUNT:
        break;
    }
    return NULL; /* the signal decides */
}

static CompletionInput completion_input(const Machine *machine, const Run *run, GateResult gate)
{
    const Task *task = task_at(machine, run->task);
    return (CompletionInput){
        .signal = (SignalType)run->signal,
        .gate = gate,
        .mode = MODE_AUTOPILOT,
        .iterations = flow_has_states(run_workflow(machine, run)) ? run->turn - run->cut_turns
                                                                  : run->step_turns,
        .max_iterations = task_max_turns(machine, task),
        .elapsed_ms = run_elapsed(machine, run),
        .timeout_ms = task_timeout(machine, task),
    };
}

static const char *signal_result(const Machine *machine, const Run *run)
{
    if (run->signal == SIGNAL_COMPLETE)
        return "COMPLETE"; /* the gate decides, also at a limit */
    CompletionInput in = completion_input(machine, run, GATE_NONE);
    const CompletionRow *row = completion_decide(&in);
    switch (row->outcome) {
    case OUTCOME_BLOCKED:
        return "BLOCKED";
    case OUTCOME_PAUSE:
        return "PENDING";
    case OUTCOME_TIMEOUT:
        return row->limit == LIMIT_CLOCK ? "timeout" : "limit";
    case OUTCOME_DONE:
    case OUTCOME_CONTINUE:
    case OUTCOME_COUNT:
        break;
    }
    return "none";
}

/* D-26..D-29: turns without a commit are a warning, not an end. */
static void stuck_test(Machine *machine, Run *run)
{
    const Limits *limits = &mind_of(machine, run->project)->row.limits;
    if (limits->stuck_turns == 0 || run->quiet_turns != limits->stuck_turns)
        return;
    say(machine, "%u turn%s without a commit", run->quiet_turns, run->quiet_turns == 1 ? "" : "s");
    emit(machine, FX_NOTICE, task_at(machine, run->task), run, "stuck");
    if (limits->pause_on_stuck)
        autopilot_set(machine, mind_of(machine, run->project), AUTO_PAUSING);
}

static bool answer_word(Machine *machine, const Run *run)
{
    return run->result && word_at(run_phase(machine, run)->results, run->result - 1u, machine->word,
                                  sizeof machine->word);
}

/* A self-driving session: how it ended was judged with its files, stop and exit known; one that
 * finished while it was being stopped has finished. A question is asked where it would go on. */
static const char *session_result(Machine *machine, const Run *run)
{
    bool is_session = run_phase(machine, run)->kind == PHASE_OBSERVE;
    if (!is_session || run->stop == STOP_BY_OUTPUT || !answer_word(machine, run))
        return NULL;
    bool asks = run->signal == SIGNAL_PENDING && text_equal(machine->word, "continue");
    return asks ? "PENDING" : machine->word;
}

/* What a turn's end means: the wish that ended it, an accident, the answer, or the signal. */
static const char *turn_result(Machine *machine, const Run *run)
{
    static const char *const stopped[STOP_WISH_COUNT] = {
        [STOP_BY_CLOCK] = "timeout",
        [STOP_BY_OUTPUT] = "output-limit",
        [STOP_BY_STEPS] = "max-iterations",
        [STOP_BY_STALL] = "stall-limit",
    };
    const char *own = session_result(machine, run);
    if (own)
        return own;
    if (stopped[run->stop])
        return stopped[run->stop];
    const char *accident = exit_result(run);
    if (accident)
        return accident;
    return answer_word(machine, run) ? machine->word : signal_result(machine, run);
}

/* An answer that cannot be read is asked for once more; that is no step of its own. */
static bool ask_again(Machine *machine, Run *run, const char *result)
{
    enum { MOST_ASKS = 1 };
    const char *own = phase_result(run_phase(machine, run), "invalid"); /* of a gate: error */
    if (!run->result || !text_equal(result, own) || run->asks >= MOST_ASKS)
        return false;
    run->asks++;
    say(machine, "its answer could not be read; it is asked once more");
    phase_begin_or_wait(machine, run);
    return true;
}

static void judge_turn(Machine *machine, Run *run)
{
    if (run->stop == STOP_BY_USER || run->stop == STOP_BY_PAUSE || run->stop == STOP_BY_REMOVE ||
        run->stop == STOP_BY_SKIP) {
        run->cut_turns++;
        run_park(machine, run, "stopped; its work is saved");
        return;
    }
    const char *result = turn_result(machine, run);
    run->stop = STOP_NONE;
    if (result != machine->word)
        run->result = 0; /* something else than its answer decides: no round of a gate (B-46) */
    if (ask_again(machine, run, result))
        return;
    if (text_equal(result, "none"))
        stuck_test(machine, run);
    run_apply(machine, run, result, NULL);
}

static void judge_gate(Machine *machine, Run *run, const Event *event)
{
    if (run->stop) {
        run_park(machine, run, "stopped after its check");
        return;
    }
    if (event->a == VERDICT_ERROR) {
        run_retry_step(machine, run, event, "error");
        return;
    }
    run->is_review_wanted |= event->b != 0;
    if (run->workflow) { /* the loop alone goes by the table of completion (D-36) */
        run_apply(machine, run,
                  event->a == VERDICT_PASS   ? "pass"
                  : event->a == VERDICT_NONE ? "partial"
                                             : "fail",
                  event->text);
        return;
    }
    GateResult gate = event->a == VERDICT_PASS   ? GATE_PASS
                      : event->a == VERDICT_NONE ? GATE_NONE
                                                 : GATE_FAIL;
    CompletionInput in = completion_input(machine, run, gate);
    const CompletionRow *row = completion_decide(&in);
    /* a failed gate at a limit is told by the route's own guards */
    run_apply(machine, run, row->outcome == OUTCOME_DONE ? "pass" : "fail", event->text);
}

/* Reports, one function per kind; each knows in which states it makes sense. */

static void on_workspace_ready(Machine *machine, Run *run, const Event *event)
{
    (void)snprintf(run->base, HASH_SIZE, "%s", event->ref ? event->ref : ""); /* always a hash */
    run->has_workspace = true;
    say(machine, "the workspace is ready, from %.10s", run->base);
    if (run->stop)
        run_park(machine, run, "stopped before its first turn");
    else
        phase_begin_or_wait(machine, run);
}

static void on_step_failed(Machine *machine, Run *run, const Event *event)
{
    /* D-141: a missing program or permission is final; the rest may be better in a while */
    const char *result = event->a ? "spawn-failed" : "cannot-start";
    bool has_agent = phase_result(run_phase(machine, run), result) != NULL; /* checks have none */
    run_retry_step(machine, run, event, has_agent ? result : "error");
}

static void on_turn_started(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    run->tries = 0;
    run_changed(machine, run);
}

static void on_signal(Machine *machine, Run *run, const Event *event)
{
    if (event->a <= 0 || event->a >= SIGNAL_TYPE_COUNT)
        return; /* not a signal */
    if (signal_is_control((SignalType)event->a)) {
        run->signal = (uint8_t)event->a;
        run_changed(machine, run);
    }
    say(machine, "the agent says %s%s%s", signal_type_word((SignalType)event->a),
        event->text ? ": " : "", event->text ? event->text : "");
}

static void on_output_limit(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    run_stop(machine, run, STOP_BY_OUTPUT, false);
}

static void on_turn_ended(Machine *machine, Run *run, const Event *event)
{
    run->exit_code = (int32_t)event->a;
    run->killed_by = (int32_t)event->b;
    run->is_lost = event->a < 0 && event->b == 0;
    if (run->is_lost)
        say(machine, "the agent vanished with its keeper");
    else if (event->b)
        say(machine, "the agent was ended by signal %lld", (long long)event->b);
    else
        say(machine, "the agent ended with exit code %lld", (long long)event->a);
    bool is_review = run_phase(machine, run)->kind == PHASE_GATE; /* it worked on a copy */
    if (run->has_workspace && !is_review)
        set_run_state(machine, run, RUN_SAVING);
    else
        judge_turn(machine, run);
}

static void on_snapshot(Machine *machine, Run *run, const Event *event)
{
    bool has_commit = event->a > (int64_t)run->commits;
    run->quiet_turns = has_commit ? 0 : run->quiet_turns + 1;
    run->commits = (uint32_t)event->a;
    run->is_empty = event->b;
    (void)snprintf(run->commit, HASH_SIZE, "%s", event->ref ? event->ref : ""); /* a hash */
    run->is_review_wanted |= event->text != NULL;
    if (event->text)
        say(machine, "it changes '%s', which says how later tasks are worked on: a person looks",
            event->text);
    run_changed(machine, run);
    judge_turn(machine, run);
}

static void on_snapshot_failed(Machine *machine, Run *run, const Event *event)
{
    run_retry_step(machine, run, event, "failed");
}

static void on_retired(Machine *machine, Run *run, const Event *event)
{
    run->has_workspace = event->a;
    say(machine, "its workspace %s%s%s", event->a ? "is kept" : "was put away",
        event->text ? ": " : "", event->text ? event->text : "");
    set_run_state(machine, run, RUN_ENDED);
}

/* The answer of the step, read and judged by the engine with core's own functions. */
static void on_step_result(Machine *machine, Run *run, const Event *event)
{
    CLEANUP(json_freep)
    json_t *json = event->text ? json_read(event->text, strlen(event->text), NULL) : NULL;
    const WorkflowPhase *phase = run_phase(machine, run);
    const char *word = json_text(json, "result", "invalid"), *why = json_text(json, "why", "");
    int64_t limit = json_int(json, "limit", -1), value = json_int(json, "convergence", -1);
    const char *own = phase_result(phase, word);
    int index = phase_result_index(phase, own ? own : word);
    run->result = (uint8_t)(index < 0 ? phase_result_index(phase, "invalid") + 1 : index + 1);
    run->gate_limit = limit >= 0 && limit < 255 ? (uint8_t)(limit + 1) : 0;
    if (value >= 0)
        run->convergence = (int32_t)MIN(value, CONVERGENCE_ONE);
    run->is_review_wanted |= json_flag(json, "review", false);
    if (run->stop == STOP_NONE) /* a session that a person stopped by hand */
        run->stop = (uint8_t)observe_text_stop(event->text);
    run_changed(machine, run);
    note(machine, "r%u:says:%s", run->id, word);
    say(machine, "%s%s%s", word, *why ? ": " : "", why);
}

/* Only a landing makes a task done and only a person gives it up, whatever the session says. */
static int told_status(const Workflow *flow, const char *word)
{
    int status = word ? workflow_status_index(flow, word) : -1;
    bool is_end = status >= 0 && (flow->statuses[status].is_final ||
                                  text_equal(flow->statuses[status].ends, "done"));
    return is_end ? -1 : status;
}

/* A self-driving session counts its own steps; the engine counts with it. */
static void on_observed(Machine *machine, Run *run, const Event *event)
{
    const Workflow *flow = run_workflow(machine, run);
    const Limits *limits = &mind_of(machine, run->project)->row.limits;
    int status = told_status(flow, event->ref);
    StopWish wish = event->text ? observe_text_stop(event->text) : STOP_NONE;
    run->steps = (uint16_t)CLAMP(event->a, (int64_t)run->steps, UINT16_MAX);
    if (status >= 0)
        run->status = (uint8_t)status;
    run_changed(machine, run);
    note(machine, "r%u:step:%u", run->id, run->steps);
    say(machine, "step %u of at most %u%s%s", run->steps, limits->max_steps,
        status >= 0 ? ", now " : "", status >= 0 ? event->ref : "");
    if (run->state == RUN_WORKING && wish != STOP_NONE)
        run_stop(machine, run, wish, false);
}

static void on_reported(Machine *machine, Run *run, const Event *event)
{
    run_apply(machine, run, "done", event->text);
}

static void on_reset(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    run_reset_done(machine, run);
}

static void on_reset_failed(Machine *machine, Run *run, const Event *event)
{
    run_reset_failed(machine, run, event);
}

typedef struct RunRule {
    RunState from;
    EventKind on;
    void (*act)(Machine *machine, Run *run, const Event *event);
    const char *why;
} RunRule;

/* clang-format off */
static const RunRule rules[] = { /* every report that means something; others are refused */
    {RUN_PREPARING, EV_WORKSPACE_READY,  on_workspace_ready, "the agent can begin"},
    {RUN_PREPARING, EV_WORKSPACE_FAILED, on_step_failed,     "the world may be better in a second"},
    {RUN_WORKING,   EV_TURN_STARTED,     on_turn_started,    "the process is known"},
    {RUN_STOPPING,  EV_TURN_STARTED,     on_turn_started,    "the process is known"},
    {RUN_WORKING,   EV_TURN_REFUSED,     on_step_failed,     "a missing program is final, the rest is tried again"},
    {RUN_WORKING,   EV_SIGNAL,           on_signal,          "the last control signal of a turn decides"},
    {RUN_STOPPING,  EV_SIGNAL,           on_signal,          "said before the stop arrived"},
    {RUN_WORKING,   EV_OUTPUT_LIMIT,     on_output_limit,    "nothing runs away"},
    {RUN_WORKING,   EV_TURN_ENDED,       on_turn_ended,      "save first, judge then"},
    {RUN_STOPPING,  EV_TURN_ENDED,       on_turn_ended,      "save first, judge then"},
    {RUN_STOPPING,  EV_TURN_REFUSED,     on_turn_ended,      "it never began"},
    {RUN_SAVING,    EV_SNAPSHOT_TAKEN,   on_snapshot,        "the work is safe"},
    {RUN_SAVING,    EV_SNAPSHOT_FAILED,  on_snapshot_failed, "nothing is judged before it is safe"},
    {RUN_VERIFYING, EV_GATE_ENDED,       judge_gate,         "a claim is checked, not believed"},
    {RUN_WORKING,   EV_STEP_RESULT,      on_step_result,     "the answer of a phase"},
    {RUN_STOPPING,  EV_STEP_RESULT,      on_step_result,     "given before the stop arrived"},
    {RUN_WORKING,   EV_OBSERVED,         on_observed,        "a self-driving session reports"},
    {RUN_STOPPING,  EV_OBSERVED,         on_observed,        "reported before the stop arrived"},
    {RUN_REPORTING, EV_REPORTED,         on_reported,        "the report is there"},
    {RUN_RESETTING, EV_RESET_DONE,       on_reset,           "the work goes on from the good commit"},
    {RUN_RESETTING, EV_RESET_FAILED,     on_reset_failed,    "nothing was thrown away"},
    {RUN_RETIRING,  EV_RETIRED,          on_retired,         "put away with proof, or kept"},
};
/* clang-format on */

/* A report of an earlier turn means nothing for this one: an old verdict proves no new work. */
static bool turn_fits(const Run *run, const Event *event)
{
    bool names_turn = event->kind == EV_TURN_STARTED || event->kind == EV_TURN_ENDED ||
                      event->kind == EV_TURN_REFUSED || event->kind == EV_SIGNAL ||
                      event->kind == EV_SNAPSHOT_TAKEN || event->kind == EV_OUTPUT_LIMIT ||
                      event->kind == EV_STEP_RESULT || event->kind == EV_OBSERVED ||
                      event->kind == EV_GATE_ENDED ||
                      (event->kind >= EV_MERGE_CLEAN && event->kind <= EV_LAND_FAILED);
    return event->turn == run->turn || (!names_turn && event->turn == 0);
}

static bool dispatch(Machine *machine, Run *run, const Event *event)
{
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].from == run->state && rules[i].on == event->kind) {
            rules[i].act(machine, run, event);
            return true;
        }
    return merge_event(machine, run, event);
}

bool run_event(Machine *machine, const Event *event)
{
    Run *run = run_at(machine, event->run);
    if (!run || run->retry_ms)
        return false;
    if (event->epoch != run->epoch || !turn_fits(run, event)) {
        say(machine, "refused: it comes from epoch %u turn %u, the run is at epoch %u turn %u",
            event->epoch, event->turn, run->epoch, run->turn);
        return false;
    }
    if (!dispatch(machine, run, event))
        return false;
    slots_fill(machine, mind_of(machine, run->project));
    return true;
}
