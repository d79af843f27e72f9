/* Results, the rows of the workflow that follow from them, and the phases they lead to. */
#include "core/excerpt.h"
#include "core/machine_internal.h"
#include "core/retry.h"
#include "core/signal.h"
#include <string.h>

/* Slots, workspaces, phases */

static bool needs_slot(PhaseKind kind)
{
    return kind == PHASE_AGENT || kind == PHASE_GATE || kind == PHASE_OBSERVE ||
           kind == PHASE_VERIFY;
}

static void take_turn(Machine *machine, Run *run)
{
    Task *task = task_at(machine, run->task);
    run->turn++;
    run->epoch_turns++;
    run->step_turns++;
    run->signal = SIGNAL_NONE;
    run->result = run->gate_limit = 0;
    run->exit_code = run->killed_by = 0;
    run->is_lost = false;
    run->tries = 0;
    task->turns_used++;
    task_changed(machine, task);
    set_run_state(machine, run, RUN_WORKING);
}

void phase_begin(Machine *machine, Run *run)
{
    if (run_phase(machine, run)->kind == PHASE_VERIFY) {
        run->tries = 0;
        set_run_state(machine, run, RUN_VERIFYING);
    } else {
        take_turn(machine, run);
    }
}

void phase_begin_or_wait(Machine *machine, Run *run)
{
    const Project *project = &mind_of(machine, run->project)->row;
    bool is_verify = run_phase(machine, run)->kind == PHASE_VERIFY; /* costs nothing: no pause */
    bool may_go = (project->autopilot == AUTO_RUNNING || is_verify) && !project->is_offline;
    bool is_whole = run->has_workspace || !project->limits.has_workspace;
    if (run_holds_slot(run->state) && may_go && is_whole)
        phase_begin(machine, run);
    else if (run_holds_slot(run->state) && may_go)
        set_run_state(machine, run, RUN_PREPARING);
    else
        set_run_state(machine, run, RUN_WAITING);
}

void run_go(Machine *machine, Run *run)
{
    bool needs_workspace = mind_of(machine, run->project)->row.limits.has_workspace;
    if (needs_workspace && !run->has_workspace)
        set_run_state(machine, run, RUN_PREPARING);
    else
        phase_begin(machine, run);
}

static void set_status(Machine *machine, Run *run, const char *word)
{
    int index = workflow_status_index(run_workflow(machine, run), word);
    if (index < 0 || index == run->status)
        return;
    note(machine, "r%u:%s", run->id, word);
    run->status = (uint8_t)index;
}

static TaskState stop_state(const Workflow *flow, const RouteStep *step, TaskState now)
{
    int status = workflow_status_index(flow, step->status);
    const char *ends = step->ends && *step->ends ? step->ends
                       : status >= 0             ? flow->statuses[status].ends
                                                 : NULL;
    TaskState state = now;
    (void)task_state_find(ends && *ends ? ends : step->status, &state); /* checked by a test */
    return state;
}

/* While a person judges, the task shows it; else it is simply under way. */
static TaskState phase_state(const Workflow *flow, const WorkflowPhase *phase,
                             const RouteStep *step)
{
    TaskState state = TASK_ACTIVE;
    if (flow_has_states(flow))
        (void)task_state_find(step->status, &state); /* the table's words are checked by a test */
    else if (phase->kind == PHASE_APPROVE && phase_has_result(phase, "approved"))
        state = TASK_REVIEW;
    return state;
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

static void show_phase(Machine *machine, Run *run)
{
    const char *status = run_phase(machine, run)->status;
    if (status && *status && strcmp(status, WF_KEEP) != 0)
        set_status(machine, run, status);
}

/* A kind of phase that nobody carries out: a person should see it. */
static void cannot_enter(Machine *machine, Run *run)
{
    Task *task = task_at(machine, run->task);
    say(machine, "phase '%s' cannot be carried out", run_phase(machine, run)->name);
    set_task_state(machine, task, TASK_BLOCKED);
    end_run(machine, run, task);
    emit(machine, FX_NOTICE, task, run, "phase");
}

static void enter_phase(Machine *machine, Run *run)
{
    const WorkflowPhase *phase = run_phase(machine, run);
    show_phase(machine, run);
    run->tries = 0;
    switch (phase->kind) {
    case PHASE_AGENT:
    case PHASE_GATE:
    case PHASE_OBSERVE:
        if (run->stop)
            run_park(machine, run, "stopped between two turns");
        else
            phase_begin_or_wait(machine, run);
        break;
    case PHASE_VERIFY:
        if (run->workflow == 0) /* the loop comes here with its slot */
            set_run_state(machine, run, RUN_VERIFYING);
        else
            phase_begin_or_wait(machine, run);
        break;
    case PHASE_MERGE:
        if ((run->has_workspace && run->workflow == 0) || run->commit[0]) /* or the settings may
                                                                             have changed */
            merge_enqueue(machine, run);
        else
            run_apply(machine, run, "empty", NULL);
        break;
    case PHASE_APPROVE:
        set_run_state(machine, run, RUN_ASKING);
        break;
    case PHASE_REPORT:
        set_run_state(machine, run, RUN_REPORTING);
        break;
    case PHASE_CHILDREN:
    case PHASE_KIND_COUNT:
        cannot_enter(machine, run);
        break;
    }
}

/* Carrying out a row */

static bool asks_for(const RouteStep *step, Action action)
{
    for (size_t i = 0; i < ACTIONS_MAX && step->actions[i] != ACTION_NONE; i++)
        if (step->actions[i] == action)
            return true;
    return false;
}

/* The task waits with its work kept; or, when it stays active, only the step is tried again. */
static void retry_later(Machine *machine, Run *run, Task *task, bool is_parked)
{
    ProjectMind *mind = mind_of(machine, run->project);
    int64_t at_ms = machine->now_ms + retry_delay_ms(task->retries, false, RETRY_CAP_MS);
    if (!is_parked) {
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

static bool is_parking(const Machine *machine, const Run *run, const RouteStep *step)
{
    if (flow_has_states(run_workflow(machine, run)))
        return !text_equal(step->status, "active");
    PhaseKind kind = run_phase(machine, run)->kind;
    return kind == PHASE_AGENT || kind == PHASE_GATE || kind == PHASE_OBSERVE;
}

/* A retry counts as a conflict, as a merged check, as a round of its gate, or as an accident. */
static void count_try(const Machine *machine, Run *run, Task *task, const char *result,
                      bool is_retry)
{
    bool is_conflict = text_equal(result, "conflict") || text_equal(result, "collides"),
         is_merged = text_equal(result, "gate-failed"),
         is_round = run->result && run_phase(machine, run)->kind == PHASE_GATE;
    run->conflict_tries += is_conflict;
    run->merged_tries += is_merged;
    if (is_retry && is_round)
        gate_tries_add(run);
    task->retries += is_retry && !is_conflict && !is_merged && !is_round;
}

/* B-27, B-253: an accepted stage is the good commit; the next one begins its own counts. */
static void count_stage(Run *run, const RouteStep *step)
{
    if (asks_for(step, ACTION_ACCEPT_STAGE)) {
        memcpy(run->good, run->commit, HASH_SIZE);
        run->converged = MAX(run->convergence, 0);
    }
    if (asks_for(step, ACTION_NEXT_STAGE)) {
        run->stage++;
        run->steps = 0;
        run->is_rolled_back = false;
        run->gate_tries = 0;
    }
    if (asks_for(step, ACTION_RESET_RETRIES))
        run->gate_tries = 0;
}

/* The sentence of a row without the requirement it comes from: people read this. */
static int plain_length(const char *why)
{
    static const char *const marks[] = {" (A-", " (B-", " (D-"};
    size_t length = strlen(why);
    for (size_t i = 0; i < COUNT(marks); i++) {
        const char *mark = strstr(why, marks[i]);
        length = mark ? MIN(length, (size_t)(mark - why)) : length;
    }
    return (int)length;
}

static void tell_route(Machine *machine, const Run *run, const RouteStep *step, const char *result,
                       const char *detail)
{
    bool has_detail = detail && *detail;
    Step *out = machine->step;
    StepRoute route = {.task = run->task,
                       .run = run->id,
                       .epoch = run->epoch,
                       .turn = run->turn,
                       .stage = run->stage,
                       .phase = run_phase(machine, run)->name,
                       .checkpoint = run_checkpoint(machine, run),
                       .row = step->row,
                       .next = step->next,
                       .actions = step->actions,
                       .status = strcmp(step->status, WF_KEEP) ? step->status
                                                               : run_status_word(machine, run)};
    (void)snprintf(route.result, sizeof route.result, "%s", result); /* a word of the table */
    CLEANUP(str_done) Str why = STR_INIT;
    str_addf(&why, "%.*s%s%s", plain_length(step->why), step->why, has_detail ? ": " : "",
             has_detail ? detail : "");
    excerpt_mark(route.why, sizeof route.why, str_text(&why));
    note(machine, "r%u:%s", run->id, step->row);
    say(machine, "%s", route.why);
    if (out->route_count == out->route_size) {
        out->route_size = out->route_size ? out->route_size * 2 : 4;
        out->routes = mem_grow(out->routes, out->route_size, sizeof *out->routes);
    }
    out->routes[out->route_count++] = route;
}

static int phase_of_kind(const Workflow *flow, PhaseKind kind)
{
    for (unsigned i = 0; i < flow->phase_count; i++)
        if (flow->phases[i].kind == kind)
            return (int)i;
    return -1;
}

static bool is_last_landing(const RouteStep *step)
{
    return text_equal(step->next, WF_STOP) && asks_for(step, ACTION_ENQUEUE_MERGE);
}

/* Where the row leads: a phase, the last landing of a run that stops, or -1. */
static int next_phase(const Workflow *flow, const RouteStep *step)
{
    return is_last_landing(step) ? phase_of_kind(flow, PHASE_MERGE)
                                 : workflow_phase_index(flow, step->next);
}

/* What a check or a person let pass is good; what was written after that does not land with it. */
static void mark_accepted(Machine *machine, Run *run, const RouteStep *step)
{
    const Workflow *flow = run_workflow(machine, run);
    PhaseKind kind = run_phase(machine, run)->kind;
    int phase = next_phase(flow, step);
    bool is_landing = phase >= 0 && flow->phases[phase].kind == PHASE_MERGE;
    bool is_verdict = kind == PHASE_GATE || kind == PHASE_APPROVE;
    if (flow_has_states(flow) || !is_landing)
        return;
    if (is_last_landing(step))
        memcpy(run->commit, run->good, HASH_SIZE);
    else if (is_verdict)
        memcpy(run->good, run->commit, HASH_SIZE);
}

static void follow(Machine *machine, Run *run, Task *task, const RouteStep *step)
{
    const Workflow *flow = run_workflow(machine, run);
    int phase = next_phase(flow, step);
    if (run->state >= RUN_MERGING && run->state <= RUN_LANDING)
        merge_leave(machine, run);
    if (text_equal(step->next, WF_ROLLBACK)) {
        run->is_rolled_back |= run->substate == SUB_NEEDS_PLAN;
        set_run_state(machine, run, RUN_RESETTING);
    } else if (phase < 0) {
        set_task_state(machine, task, stop_state(flow, step, task->state));
        end_run(machine, run, task);
    } else {
        run->phase = (uint8_t)phase;
        set_task_state(machine, task, phase_state(flow, &flow->phases[phase], step));
        enter_phase(machine, run);
    }
}

/* A result of a phase: the workflow's row says what follows, and this carries it out. */
void run_apply(Machine *machine, Run *run, const char *word, const char *detail)
{
    const Workflow *flow = run_workflow(machine, run);
    const char *result = phase_result(run_phase(machine, run), word);
    RouteStep step = route_find(machine, run, result ? result : word);
    Task *task = task_at(machine, run->task);
    tell_route(machine, run, &step, result ? result : word, detail);
    count_try(machine, run, task, word, asks_for(&step, ACTION_COUNT_RETRY));
    count_stage(run, &step);
    mark_accepted(machine, run, &step);
    bool is_going_on =
        text_equal(word, "none") && text_equal(step.next, run_phase(machine, run)->name);
    run->steps += !flow_has_states(flow) && !is_going_on && run->steps < UINT16_MAX;
    if (!is_going_on)
        run->step_turns = 0;
    int checkpoint = workflow_checkpoint_index(flow, step.checkpoint);
    run->checkpoint = checkpoint > 0 ? (uint8_t)checkpoint : 0;
    Substate substate = SUB_NONE;
    (void)substate_find(step.substate, &substate); /* "" and unknown: none */
    run->substate = (uint8_t)substate;
    run->asks = run->result = run->gate_limit = 0;
    set_status(machine, run, step.status);
    run_changed(machine, run);
    task_changed(machine, task);
    if (asks_for(&step, ACTION_RETRY_LATER)) {
        retry_later(machine, run, task, is_parking(machine, run, &step));
        return;
    }
    follow(machine, run, task, &step);
    if (asks_for(&step, ACTION_ALERT) || asks_for(&step, ACTION_ASK_PERSON))
        emit(machine, FX_NOTICE, task, run, result ? result : word);
    reach_changed(machine, task_at(machine, run->task));
}

/* Beginning */

static void set_phase(Machine *machine, Run *run, int phase, const char *checkpoint)
{
    const Workflow *flow = run_workflow(machine, run);
    int index = workflow_checkpoint_index(flow, checkpoint);
    run->phase = phase > 0 ? (uint8_t)phase : 0;
    run->checkpoint = index > 0 ? (uint8_t)index : 0;
    if (!flow_has_states(flow))
        note(machine, "r%u:at:%s", run->id, run_phase(machine, run)->name);
}

static bool enter_by_status(Machine *machine, Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    Task *task = task_at(machine, run->task);
    RouteStep step = route_enter(machine, run);
    int phase = workflow_phase_index(flow, step.next);
    if (!flow_has_states(flow)) {
        note(machine, "r%u:%s", run->id, step.row);
        say_about(machine, run->task, "%.*s", plain_length(step.why), step.why);
        set_status(machine, run, step.status);
    }
    if (phase >= 0) {
        set_phase(machine, run, phase, step.checkpoint);
        return true;
    }
    set_task_state(machine, task, stop_state(flow, &step, TASK_BLOCKED));
    end_run(machine, run, task);
    emit(machine, FX_NOTICE, task, run, step.row);
    reach_changed(machine, task);
    return false;
}

/* A run that rested goes on where it was; a new one begins where its status says (A-53..A-60). */
static bool run_enter(Machine *machine, Run *run, bool is_taken_up)
{
    const Workflow *flow = run_workflow(machine, run);
    Task *task = task_at(machine, run->task);
    PhaseKind kind = run_phase(machine, run)->kind;
    run->step_turns = 0;
    int wanted = task->next_phase - 1;
    if (wanted >= 0) {
        task->next_phase = 0;
        task_changed(machine, task);
    }
    if (wanted >= 0 && wanted < flow->phase_count) {
        set_phase(machine, run, wanted, WF_NONE);
        return true;
    }
    if (is_taken_up && (flow_has_states(flow) ? kind == PHASE_AGENT : needs_slot(kind)))
        return true;
    return enter_by_status(machine, run);
}

void run_start(Machine *machine, Run *run, bool is_taken_up)
{
    if (!run_enter(machine, run, is_taken_up))
        return;
    if (needs_slot(run_phase(machine, run)->kind)) {
        show_phase(machine, run);
        run_go(machine, run);
    } else {
        enter_phase(machine, run);
    }
}

/* Did a person ask for the work to be made again? Only then a run under way has a phase to go to.
 */
static bool is_redone(const Machine *machine, const Run *run)
{
    return task_at(machine, run->task)->next_phase == run->phase + 1;
}

/* To the good commit; or to where a person wants it, who says nothing about what is good. */
static void go_back(const Machine *machine, Run *run)
{
    memcpy(run->commit, is_redone(machine, run) ? run->old_tip : run->good, HASH_SIZE);
    run->old_tip[0] = '\0';
}

/* The workspace is put aside: the work goes on from the good commit, in a new epoch. */
void run_reset_done(Machine *machine, Run *run)
{
    bool is_redo = is_redone(machine, run);
    go_back(machine, run);
    run->epoch++;
    run->epoch_turns = 0;
    run->has_workspace = false;
    run->is_empty = run->commit[0] == '\0';
    run->gate_tries = 0;
    run->steps = 0; /* another way has its own steps; a rollback for spent retries comes once */
    uint8_t checkpoint = run->checkpoint;
    run_changed(machine, run);
    say(machine, "its work goes on from %s",
        !run->commit[0] ? "the base"
        : is_redo       ? "the commit that was asked for"
                        : "the commit of the last accepted stage");
    bool is_left = run->stop == STOP_BY_REMOVE || run->stop == STOP_BY_SKIP;
    if (!is_left && !run_enter(machine, run, false))
        return;
    if (is_redo && !is_left)
        run->checkpoint = checkpoint; /* a person asked for it: the agent is told so */
    if (run->stop)
        run_park(machine, run, "stopped after the rollback");
    else
        enter_phase(machine, run);
}

/* The workspace could not be put aside: a person looks. Whoever goes on does so from the good
 * commit all the same, since that was decided. */
void run_reset_failed(Machine *machine, Run *run, const Event *event)
{
    bool has_error = phase_has_result(run_phase(machine, run), "error");
    run_retry_step(machine, run, event, has_error ? "error" : "failed");
    if (run->state != RUN_RESETTING)
        go_back(machine, run);
}
