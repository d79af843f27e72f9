/* One run's progress: reports of the world become results, the workflow's rows say what follows. */
#include "core/completion.h"
#include "core/exit.h"
#include "core/machine_internal.h"
#include "core/retry.h"
#include "core/signal.h"
#include <string.h>

enum { MOST_STEP_TRIES = 3 }; /* D-141 */

static void next_turn(Machine *machine, Run *run)
{
    Task *task = task_at(machine, run->task);
    if (workflow_loop.phases[run->phase].kind != PHASE_AGENT)
        run->phase = 0; /* stopped in a check: the agent begins the way again */
    run->turn++;
    run->epoch_turns++;
    run->signal = SIGNAL_NONE;
    run->exit_code = run->killed_by = 0;
    run->is_lost = false;
    run->tries = 0;
    task->turns_used++;
    task_changed(machine, task);
    set_run_state(machine, run, RUN_WORKING);
}

/* A pause takes hold between two turns, and before the first. */
static void next_turn_or_wait(Machine *machine, Run *run)
{
    const Project *project = &mind_of(machine, run->project)->row;
    if (run_holds_slot(run->state) && project->autopilot == AUTO_RUNNING && !project->is_offline)
        next_turn(machine, run);
    else
        set_run_state(machine, run, RUN_WAITING);
}

void run_go(Machine *machine, Run *run)
{
    bool needs_workspace = mind_of(machine, run->project)->row.limits.has_workspace;
    if (needs_workspace && !run->has_workspace)
        set_run_state(machine, run, RUN_PREPARING);
    else
        next_turn(machine, run);
}

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
    bool is_left = run->stop && run->stop != STOP_BY_CLOCK && run->stop != STOP_BY_OUTPUT;
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

/* The route */

/* Everything the guards may look at. */
enum { COUNTERS = 6 };

static void fill_counters(const Machine *machine, const Run *run, RouteCounter out[COUNTERS])
{
    const Task *task = task_at(machine, run->task);
    const Limits *limits = &mind_of(machine, run->project)->row.limits;
    const RouteCounter counters[COUNTERS] = {
        {"turns", run->turn - run->cut_turns, task_max_turns(machine, task)},
        {"time-ms", run_elapsed(machine, run), task_timeout(machine, task)},
        {"retries", task->retries, limits->max_retries},
        {"conflict", run->conflict_tries, limits->max_conflict_tries},
        {"merged-verify", run->merged_tries, limits->max_conflict_tries},
        {"moved", 0, -1},
    };
    memcpy(out, counters, sizeof counters);
}

static void end_run(Machine *machine, Run *run, Task *task)
{
    bool is_done = task->state == TASK_DONE;
    merge_leave(machine, run);
    if (is_done)
        task->retries = 0;
    set_run_state(machine, run, is_done && run->has_workspace ? RUN_RETIRING : RUN_ENDED);
    autopilot_count(machine, mind_of(machine, run->project), task);
}

/* The task waits with its work kept; or, when it stays active, only the step is tried again. */
static void retry_later(Machine *machine, Run *run, Task *task, TaskState status)
{
    ProjectMind *mind = mind_of(machine, run->project);
    int64_t at_ms = machine->now_ms + retry_delay_ms(task->retries, false, RETRY_CAP_MS);
    if (status == TASK_ACTIVE) {
        if (run->state >= RUN_MERGING && run->state <= RUN_LANDING)
            set_run_state(machine, run, RUN_QUEUED); /* others merge meanwhile */
        run->tries = 0;
        run->retry_ms = at_ms;
        ids_add(&mind->later, run->id);
        return;
    }
    task->not_before_ms = at_ms;
    ids_add(&mind->delayed, task->id);
    run_park(machine, run, "it is tried again after a pause");
}

static bool asks_for(const RouteStep *step, Action action)
{
    for (size_t i = 0; i < ACTIONS_MAX && step->actions[i] != ACTION_NONE; i++)
        if (step->actions[i] == action)
            return true;
    return false;
}

static void enter_phase(Machine *machine, Run *run, Task *task, PhaseKind kind)
{
    switch (kind) {
    case PHASE_AGENT:
        if (run->stop)
            run_park(machine, run, "stopped between two turns");
        else
            next_turn_or_wait(machine, run);
        break;
    case PHASE_VERIFY:
        run->tries = 0;
        set_run_state(machine, run, RUN_VERIFYING);
        break;
    case PHASE_MERGE:
        run->tries = 0;
        if (run->has_workspace) /* the settings may have changed meanwhile; the work has not */
            merge_enqueue(machine, run);
        else
            run_apply(machine, run, "empty", NULL);
        break;
    case PHASE_APPROVE:
        set_run_state(machine, run, RUN_ASKING);
        break;
    case PHASE_GATE:
    case PHASE_REPORT:
    case PHASE_CHILDREN:
    case PHASE_KIND_COUNT:
        note(machine, "t%u: no such phase", task->id);
        break;
    }
}

/* A retry counts as a conflict, as a merged check, or else as an accident. */
static void count_try(Run *run, Task *task, const char *result, bool is_retry)
{
    bool is_conflict = text_equal(result, "conflict"),
         is_merged = text_equal(result, "gate-failed");
    run->conflict_tries += is_conflict;
    run->merged_tries += is_merged;
    task->retries += is_retry && !is_conflict && !is_merged;
}

/* The sentence of a row without the requirement it comes from: people read this. */
static void say_row(Machine *machine, const RouteStep *step, const char *detail)
{
    const char *mark = strstr(step->why, " (D-");
    int length = mark ? (int)(mark - step->why) : (int)strlen(step->why);
    bool has_detail = detail && *detail;
    say(machine, "%.*s%s%s", length, step->why, has_detail ? ": " : "", has_detail ? detail : "");
}

static RouteStep find_route(const Machine *machine, const Run *run, const char *result)
{
    const Workflow *workflow = &workflow_loop;
    RouteCounter counters[COUNTERS];
    fill_counters(machine, run, counters);
    RouteInput input = {
        .status = task_state_word(task_at(machine, run->task)->state),
        .substate = WF_NONE,
        .step = workflow->phases[run->phase].name,
        .checkpoint = workflow->checkpoints[run->checkpoint].name,
        .result = result,
        .counters = counters,
        .counter_count = COUNTERS,
    };
    RouteStep step;
    if (!workflow_route(workflow, &input, &step)) { /* the table is complete; a bug otherwise */
        static const Action nothing[ACTIONS_MAX] = {ACTION_ALERT};
        step = (RouteStep){.row = "no-row",
                           .why = "no row fits this result",
                           .next = WF_STOP,
                           .checkpoint = WF_NONE,
                           .status = "failed",
                           .substate = WF_NONE,
                           .actions = nothing};
    }
    return step;
}

/* A result of a phase: the workflow's row says what follows, and this carries it out. */
void run_apply(Machine *machine, Run *run, const char *result, const char *detail)
{
    RouteStep step = find_route(machine, run, result);
    Task *task = task_at(machine, run->task);
    TaskState status = task->state;
    int phase = workflow_phase_index(&workflow_loop, step.next);
    int checkpoint = workflow_checkpoint_index(&workflow_loop, step.checkpoint);
    note(machine, "r%u:%s", run->id, step.row);
    say_row(machine, &step, detail);
    count_try(run, task, result, asks_for(&step, ACTION_COUNT_RETRY));
    run->checkpoint = checkpoint > 0 ? (uint8_t)checkpoint : 0;
    run_changed(machine, run);
    task_changed(machine, task);
    (void)task_state_find(step.status, &status); /* the table's words are checked by a test */
    if (asks_for(&step, ACTION_RETRY_LATER)) {
        retry_later(machine, run, task, status);
        return;
    }
    if (run->state >= RUN_MERGING && run->state <= RUN_LANDING)
        merge_leave(machine, run);
    set_task_state(machine, task, status);
    if (phase < 0) {
        end_run(machine, run, task);
    } else {
        run->phase = (uint8_t)phase;
        enter_phase(machine, run, task, workflow_loop.phases[phase].kind);
    }
    if (asks_for(&step, ACTION_ALERT) || asks_for(&step, ACTION_ASK_PERSON))
        emit(machine, FX_NOTICE, task, run, result);
    reach_changed(machine, task_at(machine, run->task));
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
        .iterations = run->turn - run->cut_turns,
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
    say(machine, "%u turns without a commit", run->quiet_turns);
    emit(machine, FX_NOTICE, task_at(machine, run->task), run, "stuck");
    if (limits->pause_on_stuck)
        autopilot_set(machine, mind_of(machine, run->project), AUTO_PAUSING);
}

static void judge_turn(Machine *machine, Run *run)
{
    const char *result = NULL;
    switch ((StopWish)run->stop) {
    case STOP_BY_USER:
    case STOP_BY_PAUSE:
    case STOP_BY_REMOVE:
    case STOP_BY_SKIP:
    case STOP_WISH_COUNT:
        run->cut_turns++;
        run_park(machine, run, "stopped; its work is saved");
        return;
    case STOP_BY_CLOCK:
        result = "timeout";
        break;
    case STOP_BY_OUTPUT:
        result = "output-limit";
        break;
    case STOP_NONE:
        result = exit_result(run);
        break;
    }
    run->stop = STOP_NONE;
    if (!result)
        result = signal_result(machine, run);
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
        next_turn_or_wait(machine, run);
}

static void on_step_failed(Machine *machine, Run *run, const Event *event)
{
    /* D-141: a missing program or permission is final; the rest may be better in a while */
    run_retry_step(machine, run, event, event->a ? "spawn-failed" : "cannot-start");
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
    if (run->has_workspace)
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
    {RUN_RETIRING,  EV_RETIRED,          on_retired,         "put away with proof, or kept"},
};
/* clang-format on */

/* A report of an earlier turn means nothing for this one: an old verdict proves no new work. */
static bool turn_fits(const Run *run, const Event *event)
{
    bool names_turn = event->kind == EV_TURN_STARTED || event->kind == EV_TURN_ENDED ||
                      event->kind == EV_TURN_REFUSED || event->kind == EV_SIGNAL ||
                      event->kind == EV_SNAPSHOT_TAKEN || event->kind == EV_OUTPUT_LIMIT;
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
