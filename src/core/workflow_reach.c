/* Where routes can lead in a workflow: phases that nothing leads to, phases that never end, and
 * circles that no counter ends. Phases are bits of a 64-bit word. */
#include "core/workflow_parts.h"
#include <string.h>

typedef uint64_t Phases;

static Phases bit_of(const Workflow *flow, const char *phase)
{
    int index = phase ? workflow_phase_index(flow, phase) : -1;
    return index < 0 ? 0 : UINT64_C(1) << index;
}

static bool has_action(const WorkflowRoute *row, Action action)
{
    for (unsigned i = 0; i < ACTIONS_MAX && row->actions[i] != ACTION_NONE; i++) {
        if (row->actions[i] == action)
            return true;
    }
    return false;
}

/* Phases that a run may begin with in this status (WF_KEEP: in any). */
static Phases entered(const Workflow *flow, const char *status)
{
    Phases phases = 0;
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        if (!strcmp(status, WF_KEEP) || wf_covers(row->status, status))
            phases |= bit_of(flow, row->next);
    }
    return phases;
}

/* Where a row leads: a phase; by a rollback to where its status begins; by a last landing to the
 * merge. */
static Phases leads_to(const Workflow *flow, const WorkflowRoute *row)
{
    Phases merges = 0;
    if (!strcmp(row->next, WF_ROLLBACK))
        return entered(flow, row->to_status);
    if (strcmp(row->next, WF_STOP) != 0)
        return bit_of(flow, row->next);
    for (unsigned p = 0; p < flow->phase_count && has_action(row, ACTION_ENQUEUE_MERGE); p++) {
        if (flow->phases[p].kind == PHASE_MERGE)
            merges |= UINT64_C(1) << p;
    }
    return merges;
}

static bool row_is_of(const Workflow *flow, const WorkflowRoute *row, unsigned phase)
{
    return wf_covers(row->phase, flow->phases[phase].name);
}

void check_phase_reach(Check *check)
{
    const Workflow *flow = check->flow;
    Phases seen = entered(flow, WF_KEEP), before;
    for (unsigned i = 0; i < flow->transition_count; i++)
        seen |= bit_of(flow, flow->transitions[i].next);
    do {
        before = seen;
        for (unsigned p = 0; p < flow->phase_count; p++) {
            for (unsigned i = 0; (seen >> p & 1) && i < flow->route_count; i++) {
                if (row_is_of(flow, &flow->routes[i], p))
                    seen |= leads_to(flow, &flow->routes[i]);
            }
        }
    } while (seen != before);
    for (unsigned p = 0; p < flow->phase_count; p++) {
        if (!(seen >> p & 1))
            check_problem(check, "phase '%s' is never reached; let an entry or a route lead to it",
                          flow->phases[p].name);
    }
}

void check_phase_ends(Check *check)
{
    const Workflow *flow = check->flow;
    Phases ends = 0, before;
    do {
        before = ends;
        for (unsigned i = 0; i < flow->route_count; i++) {
            const WorkflowRoute *row = &flow->routes[i];
            bool has_end = !strcmp(row->next, WF_STOP) || (ends & leads_to(flow, row)) != 0;
            for (unsigned p = 0; has_end && p < flow->phase_count; p++) {
                if (row_is_of(flow, row, p))
                    ends |= UINT64_C(1) << p;
            }
        }
    } while (ends != before);
    for (unsigned p = 0; p < flow->phase_count; p++) {
        if (!(ends >> p & 1))
            check_problem(check, "phase '%s' never ends; let one of its results lead to %s",
                          flow->phases[p].name, WF_STOP);
    }
}

/* Circles */

static bool is_turn(PhaseKind kind)
{
    return kind == PHASE_AGENT || kind == PHASE_GATE || kind == PHASE_OBSERVE;
}

static bool has_stage_count(const Workflow *flow)
{
    for (unsigned i = 0; i < flow->route_count; i++) {
        if (has_action(&flow->routes[i], ACTION_NEXT_STAGE))
            return true;
    }
    return false;
}

/* Does going along this row from phase p use up the counter? */
static bool is_counted(const Workflow *flow, const WorkflowRoute *row, unsigned p,
                       const char *counter)
{
    const WorkflowPhase *next = workflow_phase(flow, row->next);
    if (!strcmp(counter, "="))
        counter = row->checkpoint;
    if (!workflow_limit(flow, counter))
        return false;
    if (!strcmp(counter, "steps") || !strcmp(counter, "time-ms"))
        return true;
    if (!strcmp(counter, "turns"))
        return is_turn(flow->phases[p].kind) || (next && is_turn(next->kind));
    if (!strcmp(counter, "stages"))
        return has_stage_count(flow);
    if (!strcmp(counter, "moved"))
        return flow->phases[p].kind == PHASE_MERGE;
    return has_action(row, ACTION_COUNT_RETRY);
}

/* The row itself needs something left of a counter. */
static bool needs_left(const Workflow *flow, const WorkflowRoute *row, unsigned p)
{
    char word[64];
    for (size_t i = 0; word_at(row->guard, i, word, sizeof word); i++) {
        const char *counter = guard_limit(word);
        if (counter && !guard_is_spent(word) && is_counted(flow, row, p, counter))
            return true;
        if (!strcmp(word, "not-rolled-back") && !strcmp(row->next, WF_ROLLBACK))
            return true; /* the rollback itself ends that */
    }
    return false;
}

/* An earlier row takes over when a counter is spent and asks for nothing that row does not. */
static bool takes_over(const Workflow *flow, const WorkflowRoute *first, const WorkflowRoute *row,
                       unsigned p)
{
    char word[64];
    unsigned spent = 0;
    if (!row_is_of(flow, first, p) || !wf_covers(first->checkpoint, row->checkpoint) ||
        !wf_covers(first->result, row->result) || !wf_covers(first->status, row->status))
        return false;
    for (size_t i = 0; word_at(first->guard, i, word, sizeof word); i++) {
        if (guard_is_spent(word) && is_counted(flow, row, p, guard_limit(word)))
            spent++;
        else if (!wf_guard_has(row->guard, word))
            return false;
    }
    return spent == 1;
}

static bool is_bounded(const Workflow *flow, unsigned index, unsigned p)
{
    const WorkflowRoute *row = &flow->routes[index];
    PhaseKind kind = flow->phases[p].kind;
    if (kind == PHASE_APPROVE || kind == PHASE_CHILDREN)
        return true; /* a person or other tasks come between */
    if (needs_left(flow, row, p))
        return true;
    for (unsigned i = 0; i < index; i++) {
        if (takes_over(flow, &flow->routes[i], row, p))
            return true;
    }
    return false;
}

/* A way from one phase back to itself, as words; found by going from each phase to the first next
 * one that still reaches the start. */
static void tell_circle(Check *check, const Phases *edges, const Phases *reach, unsigned start)
{
    CLEANUP(str_done) Str way = STR_INIT;
    Phases seen = 0;
    unsigned at = start;
    str_add(&way, check->flow->phases[start].name);
    do {
        seen |= UINT64_C(1) << at;
        unsigned next = start;
        for (unsigned p = 0; p < check->flow->phase_count && !(edges[at] >> start & 1); p++) {
            if ((edges[at] >> p & 1) && (reach[p] >> start & 1) && !(seen >> p & 1)) {
                next = p;
                break;
            }
        }
        at = next;
        str_addf(&way, " -> %s", check->flow->phases[at].name);
    } while (at != start);
    check_problem(check,
                  "the circle %s has no limit; put a row with a guard such as 'turns-spent' or "
                  "'steps-spent' that leads to %s before one of its rows",
                  str_text(&way), WF_STOP);
}

void check_circles(Check *check)
{
    const Workflow *flow = check->flow;
    Phases edges[64] = {0}, reach[64], told = 0;
    for (unsigned p = 0; p < flow->phase_count; p++) {
        for (unsigned i = 0; i < flow->route_count; i++) {
            if (row_is_of(flow, &flow->routes[i], p) && !is_bounded(flow, i, p))
                edges[p] |= leads_to(flow, &flow->routes[i]);
        }
    }
    memcpy(reach, edges, sizeof reach);
    for (unsigned k = 0; k < flow->phase_count; k++) {
        for (unsigned p = 0; p < flow->phase_count; p++)
            reach[p] |= reach[p] >> k & 1 ? reach[k] : 0;
    }
    for (unsigned p = 0; p < flow->phase_count; p++) {
        if (!(reach[p] >> p & 1) || (told >> p & 1))
            continue;
        tell_circle(check, edges, reach, p);
        for (unsigned q = 0; q < flow->phase_count; q++)
            told |= (reach[p] >> q & 1) && (reach[q] >> p & 1) ? UINT64_C(1) << q : 0;
    }
}
