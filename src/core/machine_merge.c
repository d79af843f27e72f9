/* The merge queue: one merge at a time, in the order of D-238. */
#include "core/machine_internal.h"
#include "core/mergeplan.h"
#include <stdlib.h>

void merge_enqueue(Machine *machine, Run *run)
{
    ProjectMind *mind = mind_of(machine, run->project);
    if (!ids_have(&mind->merges, run->id))
        ids_add(&mind->merges, run->id);
    run->verified_ms = machine->now_ms;
    set_run_state(machine, run, RUN_QUEUED);
}

void merge_leave(Machine *machine, Run *run)
{
    ids_remove(&mind_of(machine, run->project)->merges, run->id);
}

/* Dependencies that must land first: a task may start early, but never lands before them. */
static uint32_t unmerged(const Machine *machine, TaskId task)
{
    uint32_t count = deps_of(machine->deps, task, NULL, 0), open = 0;
    if (count == 0)
        return 0;
    Dependency *list = mem_alloc(count * sizeof *list);
    (void)deps_of(machine->deps, task, list, count); /* counted above */
    for (uint32_t i = 0; i < count; i++)
        open += deps_reached(machine->deps, list[i].on) <= NEED_DONE;
    free(list);
    return open;
}

static MergeEntry entry_of(const Machine *machine, const Run *run)
{
    const Task *task = task_at(machine, run->task);
    uint32_t waits = unmerged(machine, run->task);
    return (MergeEntry){.rank = run->id,
                        .state = run->state != RUN_QUEUED ? MERGE_MERGING
                                 : waits || run->retry_ms ? MERGE_WAITING
                                                          : MERGE_READY,
                        .unmerged_deps = waits,
                        .completed_ms = run->verified_ms,
                        .priority = task->priority == PRIORITY_NONE ? 0 : 3 - task->priority};
}

static RunId first_to_merge(const Machine *machine, const ProjectMind *mind)
{
    enum { WINDOW = 1 }; /* serial: the tested commit is the landed commit */
    uint32_t count = mind->merges.count;
    MergeEntry *entries = mem_alloc(count * sizeof *entries);
    uint32_t *order = mem_alloc(count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = entry_of(machine, run_at(machine, mind->merges.ids[i]));
    RunId next = 0;
    size_t left = mergeplan_order(entries, count, order);
    for (size_t i = 0; i < left && !next && mergeplan_free(entries, count, WINDOW); i++)
        if (entries[order[i]].state == MERGE_READY)
            next = mind->merges.ids[order[i]];
    free(entries);
    free(order);
    return next;
}

void merge_next(Machine *machine, ProjectMind *mind)
{
    if (mind->merges.count == 0 || mind->row.is_offline || mind->row.autopilot != AUTO_RUNNING)
        return;
    RunId next = first_to_merge(machine, mind);
    if (!next)
        return;
    Run *run = run_at(machine, next);
    run->old_tip[0] = run->new_tip[0] = '\0';
    say_about(machine, run->task, "first in the merge queue");
    set_run_state(machine, run, RUN_MERGING);
}

static void keep_hash(char out[HASH_SIZE], const char *hash)
{
    (void)snprintf(out, HASH_SIZE, "%s", hash ? hash : ""); /* longer is not a hash */
}

static void on_clean(Machine *machine, Run *run, const Event *event)
{
    keep_hash(run->old_tip, event->ref);
    keep_hash(run->new_tip, event->ref2);
    /* after a conflict was resolved no check has seen the work */
    bool is_checked = flow_has_states(run_workflow(machine, run)) ||
                      (run->conflict_tries == 0 && run->merged_tries == 0);
    if (event->a && is_checked) {
        say(machine, "merges cleanly; the merged tree is the one that was checked");
        set_run_state(machine, run, RUN_LANDING);
    } else {
        say(machine, "merges cleanly; the merged tree is checked before it lands");
        set_run_state(machine, run, RUN_PROVING);
    }
}

static void on_gate(Machine *machine, Run *run, const Event *event)
{
    if (run->stop && event->a != VERDICT_PASS && event->a != VERDICT_NONE) {
        run_park(machine, run, "stopped while the merged tree was checked");
        return;
    }
    if (event->a == VERDICT_PASS || event->a == VERDICT_NONE) {
        say(machine, "the merged tree passed");
        set_run_state(machine, run, RUN_LANDING);
    } else if (event->a == VERDICT_ERROR) {
        run_retry_step(machine, run, event, "error");
    } else {
        run_apply(machine, run, "gate-failed", event->text);
    }
}

typedef struct MergeRule {
    RunState from;
    EventKind on;
    void (*act)(Machine *machine, Run *run, const Event *event);
} MergeRule;

static void on_moved(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    say(machine, "the target moved meanwhile; the merge is computed again");
    run->old_tip[0] = run->new_tip[0] = '\0'; /* it did not land */
    set_run_state(machine, run, RUN_MERGING);
}

static void on_failed(Machine *machine, Run *run, const Event *event)
{
    run_retry_step(machine, run, event, "error");
}

static void on_landed(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    run_apply(machine, run, "landed", run->new_tip);
}

static void on_conflict(Machine *machine, Run *run, const Event *event)
{
    keep_hash(run->old_tip, event->ref); /* what the agent is asked to merge */
    run_apply(machine, run, "collides", event->text);
}

static void on_empty(Machine *machine, Run *run, const Event *event)
{
    (void)event;
    run_apply(machine, run, "empty", NULL);
}

/* clang-format off */
static const MergeRule rules[] = {
    {RUN_MERGING, EV_MERGE_CLEAN,      on_clean},
    {RUN_MERGING, EV_MERGE_CONFLICT,   on_conflict},
    {RUN_MERGING, EV_MERGE_EMPTY,      on_empty},
    {RUN_MERGING, EV_MERGE_FAILED,     on_failed},
    {RUN_PROVING, EV_MERGE_GATE_ENDED, on_gate},
    {RUN_LANDING, EV_LANDED,           on_landed},
    {RUN_LANDING, EV_LAND_MOVED,       on_moved},
    {RUN_LANDING, EV_LAND_FAILED,      on_failed},
};
/* clang-format on */

/* A report about an earlier merge of the same turn came late or twice. */
static bool is_of_this_merge(const Run *run, const Event *event)
{
    return run->state == RUN_MERGING || !event->ref2 || text_equal(event->ref2, run->new_tip);
}

bool merge_event(Machine *machine, Run *run, const Event *event)
{
    if (!is_of_this_merge(run, event))
        return false;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].from == run->state && rules[i].on == event->kind) {
            rules[i].act(machine, run, event);
            return true;
        }
    return false;
}
