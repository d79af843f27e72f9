/* The workflow of a run: its table, its status, and which row fits a result now. */
#include "core/machine_internal.h"
#include "core/workflow_file.h"
#include <string.h>

const Workflow *machine_workflow(const Machine *machine, uint32_t number)
{
    size_t count;
    const Workflow *const *built_in = workflow_all(&count);
    if (number < count)
        return built_in[number];
    if (number <= WORKFLOW_NUMBER_MAX && machine->flows[number])
        return machine->flows[number];
    return &workflow_loop;
}

bool machine_load_workflow(Machine *machine, uint32_t number, const char *definition, Err *err)
{
    if (number < WORKFLOW_FIRST_OWN || number > WORKFLOW_NUMBER_MAX)
        return err_set(err, ERR_USAGE, "%u is no number of a workflow", number);
    CLEANUP(json_freep) json_t *json = json_read(definition, strlen(definition), err);
    if (!json)
        return false;
    const Workflow *flow = workflow_read(json, &machine->flow_arena, err);
    if (!flow)
        return false;
    machine->flows[number] = flow;
    return true;
}

static uint32_t task_flow_number(const Machine *machine, const Task *task)
{
    return task->workflow ? task->workflow - 1u
                          : mind_of(machine, task->project)->row.limits.workflow;
}

const Workflow *machine_task_workflow(const Machine *machine, const Task *task)
{
    return machine_workflow(machine, task_flow_number(machine, task));
}

const Workflow *run_workflow(const Machine *machine, const Run *run)
{
    return machine_workflow(machine, run->workflow);
}

const WorkflowPhase *run_phase(const Machine *machine, const Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    return &flow->phases[run->phase < flow->phase_count ? run->phase : 0];
}

/* Of a workflow that cannot be read any more the loop takes the place: its list may be shorter. */
const char *run_checkpoint(const Machine *machine, const Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    return run->checkpoint < flow->checkpoint_count ? flow->checkpoints[run->checkpoint].name
                                                    : WF_NONE;
}

bool run_is_accepted(const Run *run)
{
    return run->commit[0] && strcmp(run->commit, run->good) == 0;
}

bool flow_has_states(const Workflow *flow)
{
    const char *ends = flow->statuses[0].ends;
    return !ends || !*ends; /* statuses of its own say how they end */
}

const char *run_status_word(const Machine *machine, const Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    if (flow_has_states(flow))
        return task_state_word(task_at(machine, run->task)->state);
    return flow->statuses[run->status < flow->status_count ? run->status : 0].name;
}

const char *machine_status_word(const Machine *machine, const Task *task)
{
    const Run *run = run_at(machine, task->run);
    const Workflow *flow = machine_task_workflow(machine, task);
    if (flow_has_states(flow))
        return task_state_word(task->state);
    if (task->state == TASK_CANCELLED && workflow_has_status(flow, "cancelled"))
        return "cancelled";
    bool fits = run && run_workflow(machine, run) == flow && !task->is_fresh;
    return fits ? run_status_word(machine, run) : flow->first_status;
}

/* Retries used, a byte per checkpoint; those beyond the eighth share the first. */
static unsigned tries_shift(uint32_t checkpoint)
{
    return 8 * (checkpoint < 8 ? checkpoint : 0);
}

uint32_t gate_tries_of(const Run *run, uint32_t checkpoint)
{
    return (uint32_t)(run->gate_tries >> tries_shift(checkpoint) & 0xff);
}

void gate_tries_add(Run *run)
{
    if (gate_tries_of(run, run->checkpoint) < 0xff)
        run->gate_tries += (uint64_t)1 << tries_shift(run->checkpoint);
}

/* A new run goes on in the status of the one before it, if that followed the same workflow. */
void run_flow_init(Machine *machine, Run *run, const Run *last, const Task *task)
{
    run->workflow = (uint8_t)task_flow_number(machine, task);
    run->stage = 1;
    run->convergence = -1;
    const Workflow *flow = run_workflow(machine, run);
    int first = workflow_status_index(flow, flow->first_status);
    run->status = first > 0 ? (uint8_t)first : 0;
    if (!last || run_workflow(machine, last) != flow || task->is_fresh)
        return;
    run->status = last->status;
    run->substate = last->substate;
    run->stage = last->stage;
    run->convergence = last->convergence;
    run->converged = last->converged;
    memcpy(run->good, last->good, HASH_SIZE);
}

/* What the guards may look at */

enum { COUNTERS = 9 };

static void fill_counters(const Machine *machine, const Run *run, RouteCounter out[COUNTERS])
{
    const Task *task = task_at(machine, run->task);
    const Workflow *flow = run_workflow(machine, run);
    const Limits *limits = &mind_of(machine, run->project)->row.limits;
    bool is_loop = flow_has_states(flow);
    const RouteCounter counters[COUNTERS] = {
        {"turns", is_loop ? run->turn - run->cut_turns : run->step_turns,
         task_max_turns(machine, task)},
        {"time-ms", run_elapsed(machine, run), task_timeout(machine, task)},
        {"retries", task->retries, workflow_limit_or(flow, "retries", limits->max_retries)},
        {"conflict", run->conflict_tries,
         workflow_limit_or(flow, "conflict", limits->max_conflict_tries)},
        {"merged-verify", run->merged_tries,
         workflow_limit_or(flow, "merged-verify", limits->max_conflict_tries)},
        {"moved", 0, -1},
        {"steps", run->steps, workflow_limit_or(flow, "steps", limits->max_steps)},
        {"stages", run->stage, -1},
        {run_checkpoint(machine, run), gate_tries_of(run, run->checkpoint),
         run->gate_limit ? run->gate_limit - 1 : -1},
    };
    memcpy(out, counters, sizeof counters);
}

static uint32_t route_flags(const Machine *machine, const Task *task, const Run *run)
{
    bool is_confirmed =
        task->is_confirmed || mind_of(machine, task->project)->row.limits.auto_confirm;
    return (uint32_t)task->is_filled << FLAG_TARGET_FILLED |
           (uint32_t)is_confirmed << FLAG_CONFIRMED | (uint32_t)task->is_refined << FLAG_REFINED |
           (uint32_t)run->is_rolled_back << FLAG_ROLLED_BACK |
           (uint32_t)run->is_review_wanted << FLAG_REVIEW |
           (uint32_t)run_is_accepted(run) << FLAG_ACCEPTED;
}

static RouteInput route_input(const Machine *machine, const Run *run, const char *result,
                              RouteCounter counters[COUNTERS])
{
    fill_counters(machine, run, counters);
    return (RouteInput){
        .status = run_status_word(machine, run),
        .substate = substate_word((Substate)run->substate),
        .step = run_phase(machine, run)->name,
        .checkpoint = run_checkpoint(machine, run),
        .result = result,
        .counters = counters,
        .counter_count = COUNTERS,
        .flags = route_flags(machine, task_at(machine, run->task), run),
        .stage = run->stage,
        .has_convergence = run->convergence >= 0,
        .convergence = (double)MAX(run->convergence, 0) / CONVERGENCE_ONE,
        .previous = (double)run->converged / CONVERGENCE_ONE,
    };
}

/* The tables are complete; a bug otherwise, and a person should see it. */
static const RouteStep no_row = {.row = "no-row",
                                 .why = "no row fits this result",
                                 .next = WF_STOP,
                                 .checkpoint = WF_NONE,
                                 .status = WF_KEEP,
                                 .substate = WF_NONE,
                                 .actions = (const Action[ACTIONS_MAX]){ACTION_ALERT},
                                 .ends = "failed"};

RouteStep route_find(const Machine *machine, const Run *run, const char *result)
{
    RouteCounter counters[COUNTERS];
    RouteInput input = route_input(machine, run, result, counters);
    RouteStep step;
    return workflow_route(run_workflow(machine, run), &input, &step) ? step : no_row;
}

RouteStep route_enter(const Machine *machine, const Run *run)
{
    const Workflow *flow = run_workflow(machine, run);
    RouteCounter counters[COUNTERS];
    RouteInput input = route_input(machine, run, WF_NONE, counters);
    RouteStep step;
    if (flow_has_states(flow))
        input.status = "pending";
    return workflow_enter(flow, &input, &step) ? step : no_row;
}
