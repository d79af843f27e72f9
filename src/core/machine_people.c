/* What people say about work in a workflow: reviews, objectives, refinements, commands. */
#include "core/machine_internal.h"
#include <string.h>

static Run *asking_run(const Machine *machine, const Task *task)
{
    Run *run = task ? run_at(machine, task->run) : NULL;
    return run && run->state == RUN_ASKING ? run : NULL;
}

/* Is a person asked to judge, and not only to answer? */
bool run_is_reviewed(const Machine *machine, const Run *run)
{
    const WorkflowPhase *phase = run_phase(machine, run);
    return phase_has_result(phase, "approved") &&
           !text_starts(run_checkpoint(machine, run), "question"); /* of users: question-PHASE */
}

/* The work starts again from an earlier commit: the workspace is put aside first (D-256). */
static void redo_from(Machine *machine, Run *run, const char *commit)
{
    Task *task = task_at(machine, run->task);
    task->next_phase = (uint8_t)(run->phase + 1);
    task_changed(machine, task);
    (void)snprintf(run->old_tip, HASH_SIZE, "%s", commit ? commit : ""); /* a hash, or the base */
    if (!commit)
        run->good[0] = '\0'; /* nothing of it is left to go back to */
    set_run_state(machine, run, RUN_RESETTING);
}

static const char *const results[] = {
    [REVIEW_APPROVE] = "approved", [REVIEW_REDO] = "redo", [REVIEW_REJECT] = "rejected"};

bool on_reviewed(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    Run *run = asking_run(machine, task);
    if (!run || event->a < 0 || event->a >= (int64_t)COUNT(results))
        return false;
    if (event->a == REVIEW_APPROVE) {
        run->is_review_wanted = false;
        task->is_confirmed |= text_equal(run_phase(machine, run)->name, "confirm");
    }
    run_apply(machine, run, results[event->a], event->text);
    bool is_back = event->a == REVIEW_REDO && event->b != REDO_KEEP &&
                   (run->state == RUN_WAITING || run_holds_slot(run->state));
    if (is_back && run->has_workspace)
        redo_from(machine, run, event->b == REDO_CHECKPOINT ? event->ref : NULL);
    return true;
}

bool on_target_set(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    Run *run = asking_run(machine, task);
    if (!task)
        return false;
    bool is_new = event->b && !task->is_confirmed;
    task->is_filled = event->a != 0;
    task->is_confirmed = event->b != 0;
    task_changed(machine, task);
    note(machine, "t%u:target", task->id);
    say(machine, "its objective was %s", is_new ? "confirmed" : "changed");
    if (run && event->b && text_equal(run_phase(machine, run)->name, "confirm"))
        run_apply(machine, run, "approved", NULL);
    return true;
}

static uint32_t command_flags(const Machine *machine, const Task *task)
{
    const Run *run = run_at(machine, task->run);
    bool is_accepted = run && !task->is_fresh && run_is_accepted(run);
    bool is_confirmed =
        task->is_confirmed || mind_of(machine, task->project)->row.limits.auto_confirm;
    return (uint32_t)task->is_filled << FLAG_TARGET_FILLED |
           (uint32_t)is_confirmed << FLAG_CONFIRMED | (uint32_t)task->is_refined << FLAG_REFINED |
           (uint32_t)is_accepted << FLAG_ACCEPTED;
}

/* The status that a command brings; the next run begins with its phase. */
static bool command_row(const Machine *machine, const Task *task, const char *command,
                        RouteStep *step)
{
    RouteInput input = {.status = machine_status_word(machine, task),
                        .substate = WF_NONE,
                        .flags = command_flags(machine, task)};
    return workflow_transition(machine_task_workflow(machine, task), &input, command, step);
}

static uint8_t phase_of_command(const Machine *machine, const Task *task, const RouteStep *step)
{
    const Workflow *flow = machine_task_workflow(machine, task);
    return (uint8_t)(step->next ? workflow_phase_index(flow, step->next) + 1 : 0);
}

static void set_by_command(Machine *machine, Task *task, const RouteStep *step)
{
    const Workflow *flow = machine_task_workflow(machine, task);
    Run *run = run_at(machine, task->run);
    int phase = phase_of_command(machine, task, step) - 1;
    int status = workflow_status_index(flow, step->status);
    Substate substate = SUB_NONE;
    /* only the merge itself brings the status that follows from it */
    bool is_merge = phase >= 0 && flow->phases[phase].kind == PHASE_MERGE;
    if (run && run_workflow(machine, run) == flow && status >= 0 && !is_merge) {
        (void)substate_find(step->substate, &substate); /* "" and unknown: none */
        run->status = (uint8_t)status;
        run->substate = (uint8_t)substate;
        run_changed(machine, run);
    }
    if (run && task->state == TASK_DONE && run->new_tip[0]) { /* it goes on from what it landed */
        memcpy(run->commit, run->new_tip, HASH_SIZE);
        memcpy(run->good, run->new_tip, HASH_SIZE);
        run_changed(machine, run);
    }
    task->next_phase = (uint8_t)(phase + 1);
    note(machine, "t%u:%s", task->id, step->row);
}

static void take_command(Machine *machine, Task *task, const RouteStep *step)
{
    const Workflow *flow = machine_task_workflow(machine, task);
    int status = workflow_status_index(flow, step->status);
    say(machine, "%s", step->why);
    if (status >= 0 && flow->statuses[status].is_final) { /* given up: as if it was removed */
        set_task_state(machine, task, TASK_CANCELLED);
        reach_changed(machine, task);
        return;
    }
    set_by_command(machine, task, step);
    back_to_pending(machine, task, task->is_fresh);
    task->next_phase = phase_of_command(machine, task, step);
}

void people_retry(Machine *machine, Task *task)
{
    const Workflow *flow = machine_task_workflow(machine, task);
    RouteStep step;
    if (!flow_has_states(flow) && workflow_has_command(flow, "retry") &&
        command_row(machine, task, "retry", &step) && step.is_allowed)
        set_by_command(machine, task, &step);
}

bool on_command(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    RouteStep step;
    if (!task || !event->text || !command_row(machine, task, event->text, &step) ||
        !step.is_allowed)
        return false;
    take_command(machine, task, &step);
    return true;
}

/* Instead of confirming the objective a person says what should be different: it is written anew
 * with that, and asked about again. */
static bool is_adjusted(const Machine *machine, const Run *run)
{
    return run && text_equal(run_phase(machine, run)->name, "confirm") &&
           phase_result(run_phase(machine, run), "redo");
}

/* B-33, B-105: done work is taken up again; work under way hears of it at its next check. */
bool on_refined(Machine *machine, const Event *event)
{
    Task *task = task_at(machine, event->task);
    Run *run = asking_run(machine, task);
    RouteStep step;
    if (!task)
        return false;
    task->is_refined = event->a > 0;
    task_changed(machine, task);
    note(machine, "t%u:refined:%lld", task->id, (long long)event->a);
    say(machine, event->a > 0 ? "a refinement waits to be applied" : "no refinement waits");
    if (task->state == TASK_DONE && !task->is_undoing && event->a > 0 &&
        command_row(machine, task, "target", &step) && step.is_allowed)
        take_command(machine, task, &step);
    if (event->a > 0 && is_adjusted(machine, run))
        run_apply(machine, run, "redo", NULL);
    return true;
}

bool on_workflow_defined(Machine *machine, const Event *event)
{
    Err err = {0};
    if (!event->text || event->a < 0 || event->a > WORKFLOW_NUMBER_MAX ||
        !machine_load_workflow(machine, (uint32_t)event->a, event->text, &err)) {
        say(machine, "refused: %s", err.text);
        return false;
    }
    note(machine, "w%lld", (long long)event->a);
    say(machine, "workflow '%s' is number %lld", event->ref ? event->ref : "?",
        (long long)event->a);
    return true;
}

static bool check_command(const Machine *machine, const Task *task, const char *command, Err *err)
{
    const Workflow *flow = machine_task_workflow(machine, task);
    RouteStep step = {.why = "that cannot be done now"};
    if (!command || !workflow_has_command(flow, command) || flow_has_states(flow))
        return err_set(err, ERR_USAGE, "workflow '%s' has no command '%.60s'", flow->name,
                       command ? command : "");
    if (task->is_undoing)
        return err_set(err, ERR_CONFLICT, "the landing of task #%u is being undone", task->id);
    if (task->state == TASK_ACTIVE || task->state == TASK_REVIEW)
        return err_set(err, ERR_CONFLICT, "task #%u is %s: stop it first", task->id,
                       task_state_word(task->state));
    if (!command_row(machine, task, command, &step) || !step.is_allowed)
        return err_set(err, ERR_CONFLICT, "task #%u is %s: %s", task->id,
                       machine_status_word(machine, task), step.why);
    int status = workflow_status_index(flow, step.status);
    if (task->state == TASK_DONE && status >= 0 && flow->statuses[status].is_final)
        return err_set(err, ERR_CONFLICT,
                       "task #%u is done and landed; 'otto rollback %u' undoes it", task->id,
                       task->id); /* giving up would hide what is on the target */
    return true;
}

/* Would it be refused, and why? For doors, before they promise. */
bool people_check(const Machine *machine, const Event *event, Err *err)
{
    const Task *task = task_at(machine, event->task);
    if (!task)
        return err_set(err, ERR_NOT_FOUND, "there is no task #%u", event->task);
    const Run *run = asking_run(machine, task);
    if (event->kind == EV_REVIEWED && (!run || !run_is_reviewed(machine, run)))
        return err_set(err, ERR_CONFLICT, "task #%u waits for no review (it is %s)", task->id,
                       task_state_word(task->state));
    if (event->kind == EV_REVIEWED && (event->a < 0 || event->a >= (int64_t)COUNT(results) ||
                                       !phase_result(run_phase(machine, run), results[event->a])))
        return err_set(err, ERR_CONFLICT, "that is no answer to what task #%u asks", task->id);
    if (event->kind == EV_COMMAND)
        return check_command(machine, task, event->text, err);
    if (task->state == TASK_CANCELLED)
        return err_set(err, ERR_CONFLICT, "task #%u was removed", task->id);
    return true;
}
