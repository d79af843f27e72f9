/* What a short workflow file leaves out: the statuses, commands and entries of `loop`, the way from
 * each phase to the next, and the rows of `loop` for every accident. */
#include "core/types.h"
#include "core/workflow_file_parts.h"
#include <string.h>

#define TURN_WORDS                                                                                 \
    "PENDING none failed killed stopped limit timeout output-limit spawn-failed cannot-start"

const char *const default_results[PHASE_KIND_COUNT] = {
    [PHASE_AGENT] = "COMPLETE BLOCKED " TURN_WORDS " invalid",
    [PHASE_VERIFY] = "pass fail error",
    [PHASE_GATE] = "PASS NEEDS_REVISION CONTINUE NEEDS_FIX REPLAN BLOCKED ACCEPT ROLLBACK GUARDED "
                   "error " TURN_WORDS,
    [PHASE_MERGE] = "landed empty conflict gate-failed moved error",
    [PHASE_APPROVE] = "approved redo rejected answered",
    [PHASE_REPORT] = "done error",
    [PHASE_CHILDREN] = "done failed",
    [PHASE_OBSERVE] = "finished blocked continue max-iterations stall-limit loop vanished "
                      "" TURN_WORDS,
};

const char *workflow_results(PhaseKind kind)
{
    return default_results[kind];
}

/* Results that lead on to the next phase. */
static const char *const good_results[PHASE_KIND_COUNT] = {
    [PHASE_AGENT] = "COMPLETE",
    [PHASE_VERIFY] = "pass",
    [PHASE_GATE] = "PASS CONTINUE ACCEPT",
    [PHASE_MERGE] = "landed empty",
    [PHASE_APPROVE] = "approved",
    [PHASE_REPORT] = "done",
    [PHASE_CHILDREN] = "done",
    [PHASE_OBSERVE] = "finished",
};

/* The phase of loop whose rows are copied. */
static const char *const templates[PHASE_KIND_COUNT] = {
    [PHASE_AGENT] = "work",    [PHASE_GATE] = "work",   [PHASE_OBSERVE] = "work",
    [PHASE_VERIFY] = "verify", [PHASE_MERGE] = "merge", [PHASE_APPROVE] = "ask",
    [PHASE_REPORT] = "",       [PHASE_CHILDREN] = "",
};

typedef enum Aim { AIM_STOP, AIM_SELF, AIM_BACK, AIM_NEXT, AIM_ASK } Aim;

typedef struct Extra { /* rows that loop does not have */
    PhaseKind kind;
    const char *result, *tail, *guard;
    Aim aim;
    const char *state; /* of a stop */
    Action actions[ACTIONS_MAX];
    const char *why;
} Extra;

/* clang-format off */
#define AGAIN { ACTION_COUNT_RETRY, ACTION_RETRY_LATER }
#define JUDGED_AGAIN(RESULT, WORD) \
  { PHASE_GATE, RESULT, WORD "-turns", "turns-spent",      AIM_STOP, "timeout", STOPPED, "it is not good enough and no turn is left to mend it (D-43)" }, \
  { PHASE_GATE, RESULT, WORD "-spent", "checkpoint-spent", AIM_STOP, "blocked", ASKED,   "it was not good enough too often; a person decides" }, \
  { PHASE_GATE, RESULT, WORD,          "",                 AIM_BACK, "",        MENDED,  "it is not good enough yet; the agent sees why" }

static const Extra extras[] = {
  JUDGED_AGAIN("NEEDS_REVISION", "revise"),
  JUDGED_AGAIN("NEEDS_FIX", "fix"),
  JUDGED_AGAIN("REPLAN", "replan"),
  JUDGED_AGAIN("ROLLBACK", "rollback"),
  { PHASE_GATE,     "GUARDED",        "guarded",        "",             AIM_ASK,  "",        { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_FREE_SLOT }, "a guard saw something that only a person may let pass" },
  { PHASE_GATE,     "error",          "error",          "",             AIM_STOP, "blocked", ASKED,   "the check could not be made, which is no low score (B-46)" },
  { PHASE_AGENT,    "invalid",        "invalid",        "",             AIM_STOP, "failed",  STOPPED, "it gave no answer that can be used, not even when it was asked again" },
  { PHASE_REPORT,   "error",          "error",          "retries-left", AIM_SELF, "",        AGAIN,   "the report could not be written, which says nothing about the work" },
  { PHASE_REPORT,   "error",          "error-spent",    "",             AIM_NEXT, "",        { ACTION_ALERT }, "the report could not be written again and again; what was done stays done" },
  { PHASE_CHILDREN, "failed",         "failed",         "",             AIM_STOP, "blocked", ASKED,   "not all sub-tasks could be done; a person decides" },
  { PHASE_OBSERVE,  "blocked",        "blocked",        "",             AIM_STOP, "blocked", ASKED,   "the session is blocked; a person clears the way" },
  { PHASE_OBSERVE,  "continue",       "continue-turns", "turns-spent",  AIM_STOP, "timeout", STOPPED, "every turn is used and it is not done" },
  { PHASE_OBSERVE,  "continue",       "continue",       "",             AIM_SELF, "",        { ACTION_COUNT_TURN, ACTION_START_TURN }, "the turn ended and nothing follows, so it is told to go on (B-122)" },
  { PHASE_OBSERVE,  "max-iterations", "max-iterations", "",             AIM_STOP, "timeout", STOPPED, "every step is used (A-198)" },
  { PHASE_OBSERVE,  "stall-limit",    "stall-limit",    "",             AIM_STOP, "failed",  STOPPED, "it stood still too often (A-132)" },
  { PHASE_OBSERVE,  "loop",           "loop",           "",             AIM_STOP, "failed",  STOPPED, "it said the same again and again (B-175)" },
  { PHASE_OBSERVE,  "vanished",       "vanished",       "retries-left", AIM_SELF, "",        AGAIN,   "the session vanished; it is started again (B-172)" },
  { PHASE_OBSERVE,  "vanished",       "vanished-spent", "",             AIM_STOP, "failed",  STOPPED, "the session vanished too often" },
};
/* clang-format on */

static bool has_word(const char *words, const char *word)
{
    WorkflowPhase list = {.results = words};
    return phase_has_result(&list, word);
}

static bool is_stop(const char *next)
{
    return !strcmp(next, WF_STOP);
}

/* On to the phase that follows in the file; after the last one the task is done. */
static void add_on(Reader *reader, unsigned index, const char *result, const char *tail,
                   const char *why)
{
    const WorkflowPhase *phase = reader_phase(reader, index);
    bool is_last = index + 1 >= reader->own;
    const char *next = is_last ? "done" : reader_phase(reader, index + 1)->name;
    if (!why)
        why = arena_printf(reader->arena, "%s of %s leads to %s", result, phase->name, next);
    WorkflowRoute row = {.id = row_id_of(reader, phase->name, tail),
                         .phase = phase->name,
                         .checkpoint = WF_ANY,
                         .result = result,
                         .status = WF_ANY,
                         .guard = "",
                         .to_checkpoint = "",
                         .to_status = "",
                         .to_substate = reader->has_states ? WF_NONE : WF_KEEP,
                         .ends = "",
                         .why = why};
    if (is_last) {
        row_aim_stop(reader, &row, "done", false);
        reader_add_route(reader, &row);
    } else {
        row.next = next;
        row_aim_phase(reader, &row, index + 1, false);
        route_add_short(reader, row);
    }
}

/* The status of a copied row: a state of tasks, or kept with the state it ends in. */
static void take_state(const Reader *reader, WorkflowRoute *row, const char *state)
{
    row->to_status = reader->has_states ? state : WF_KEEP;
    row->to_substate = reader->has_states ? WF_NONE : WF_KEEP;
    row->ends = !reader->has_states && is_stop(row->next) ? state : "";
}

static void aim_back(Reader *reader, unsigned index, WorkflowRoute *row)
{
    const WorkflowPhase *agent = reader_agent_before(reader, index);
    row->next = agent ? agent->name : WF_STOP;
    take_state(reader, row, agent ? "active" : "blocked");
}

static void copy_template(Reader *reader, unsigned index, const WorkflowRoute *from)
{
    const WorkflowPhase *phase = reader_phase(reader, index);
    const char *template = from->phase;
    bool is_own = !strcmp(from->next, template);
    WorkflowRoute row = *from;
    row.id = arena_printf(reader->arena, "%s%s", phase->name, from->id + strlen(template));
    row.phase = phase->name;
    if (is_own) {
        row.next = phase->name;
    } else if (!strcmp(from->next, "ask")) {
        row.next = reader_need_ask(reader);
        row.to_checkpoint = arena_printf(reader->arena, "question-%s", phase->name);
        reader_need_checkpoint(reader, row.to_checkpoint, "a person is asked by this phase");
    }
    take_state(reader, &row, from->to_status);
    if (!strcmp(from->next, "work") && !is_own)
        aim_back(reader, index, &row);
    if (phase->kind == PHASE_GATE && !strcmp(row.next, phase->name))
        row.to_checkpoint = WF_KEEP;
    reader_add_route(reader, &row);
}

static void add_extra(Reader *reader, unsigned index, const Extra *extra)
{
    const WorkflowPhase *phase = reader_phase(reader, index);
    const char *stop = reader->stops[index] ? reader->stops[index] : "";
    WorkflowRoute row = {.id = arena_printf(reader->arena, "%s-%s", phase->name, extra->tail),
                         .phase = phase->name,
                         .checkpoint = WF_ANY,
                         .result = extra->result,
                         .status = WF_ANY,
                         .guard = extra->guard,
                         .next = WF_STOP,
                         .to_checkpoint = WF_NONE,
                         .why = extra->why};
    row_set_actions(&row, extra->actions);
    if (!strcmp(extra->guard, "checkpoint-spent") && !reader_has_limit(reader, stop))
        return; /* nothing to run out of */
    if (extra->aim == AIM_NEXT) {
        add_on(reader, index, extra->result, extra->tail, extra->why);
        return;
    }
    if (extra->aim == AIM_SELF) {
        row.next = phase->name;
        row.to_checkpoint = WF_KEEP;
    } else if (extra->aim == AIM_ASK) {
        row.next = reader_need_ask(reader);
        row.to_checkpoint = arena_printf(reader->arena, "guarded-%s", phase->name);
        reader_need_checkpoint(reader, row.to_checkpoint,
                               "a guard fired; a person must let it pass");
    }
    take_state(reader, &row,
               *extra->state           ? extra->state
               : extra->aim == AIM_ASK ? "review"
                                       : "active");
    if (extra->aim == AIM_BACK) {
        row.to_checkpoint = *stop ? stop : WF_KEEP;
        aim_back(reader, index, &row);
    }
    reader_add_route(reader, &row);
}

static void add_defaults(Reader *reader, unsigned index, const char *result)
{
    PhaseKind kind = reader_phase(reader, index)->kind;
    if (has_word(good_results[kind], result)) {
        add_on(reader, index, result, result, NULL);
        return;
    }
    for (size_t i = 0; i < COUNT(extras); i++) {
        if (extras[i].kind == kind && !strcmp(extras[i].result, result))
            add_extra(reader, index, &extras[i]);
    }
    for (unsigned i = 0; i < workflow_loop.route_count; i++) {
        const WorkflowRoute *row = &workflow_loop.routes[i];
        if (!strcmp(row->phase, templates[kind]) && !strcmp(row->result, result) &&
            !(kind == PHASE_AGENT && !strcmp(result, "COMPLETE")))
            copy_template(reader, index, row);
    }
}

static bool is_routed(const Reader *reader, const char *phase, const char *result)
{
    for (unsigned i = 0; i < reader->routes.count; i++) {
        const WorkflowRoute *row = rows_at(&reader->routes, i);
        if ((!strcmp(row->phase, WF_ANY) || !strcmp(row->phase, phase)) &&
            result_fits(row->result, result))
            return true;
    }
    return false;
}

static void route_results(Reader *reader, unsigned index)
{
    const WorkflowPhase phase = *reader_phase(reader, index); /* the list may move */
    char result[64];
    for (size_t i = 0; word_at(phase.results, i, result, sizeof result); i++) {
        bool is_answer = phase.kind == PHASE_APPROVE && !strcmp(phase.name, "ask") &&
                         !strcmp(result, "answered"); /* see add_answers */
        if (!is_answer && !is_routed(reader, phase.name, result))
            add_defaults(reader, index, arena_strdup(reader->arena, result));
    }
}

/* Answers go back to who asked. */

static WorkflowRoute ask_row(Reader *reader, const char *ask, const char *checkpoint,
                             const char *result, const char *tail)
{
    return (WorkflowRoute){
        .id = arena_printf(reader->arena, "%s-%s%s%s", ask, result, *tail ? "-" : "", tail),
        .phase = ask,
        .checkpoint = checkpoint,
        .result = result,
        .status = WF_ANY,
        .guard = "",
        .to_checkpoint = "",
        .to_status = "",
        .to_substate = reader->has_states ? WF_NONE : WF_KEEP,
        .ends = ""};
}

static bool row_leads_to(const Reader *reader, const char *phase, const char *checkpoint)
{
    for (unsigned i = 0; i < reader->routes.count; i++) {
        const WorkflowRoute *row = rows_at(&reader->routes, i);
        if (!strcmp(row->phase, phase) && !strcmp(row->to_checkpoint, checkpoint))
            return true;
    }
    return false;
}

static bool is_answered(const Reader *reader, const char *ask, const char *checkpoint)
{
    for (unsigned i = 0; i < reader->routes.count; i++) {
        const WorkflowRoute *row = rows_at(&reader->routes, i);
        if (!strcmp(row->phase, ask) && !strcmp(row->checkpoint, checkpoint))
            return true;
    }
    return false;
}

/* These come before all other rows: they know best. */
static void add_answers_of(Reader *reader, const char *ask, unsigned index)
{
    const WorkflowPhase phase = *reader_phase(reader, index);
    const char *question = arena_printf(reader->arena, "question-%s", phase.name);
    const char *guarded = arena_printf(reader->arena, "guarded-%s", phase.name);
    if (row_leads_to(reader, phase.name, question) && !is_answered(reader, ask, question)) {
        WorkflowRoute row = ask_row(reader, ask, question, "answered", phase.name);
        row.to_checkpoint = phase.kind == PHASE_GATE ? "" : "answer";
        row.why = "the answer goes to the agent that asked (D-22)";
        row_aim_phase(reader, &row, index, false);
        reader_need_checkpoint(reader, row.to_checkpoint, "a person has answered");
        rows_insert(reader, &reader->routes, 0, &row);
    }
    if (!row_leads_to(reader, phase.name, guarded) || is_answered(reader, ask, guarded))
        return;
    WorkflowRoute row = ask_row(reader, ask, guarded, "approved", phase.name);
    row.why = "a person let it pass";
    if (index + 1 < reader->own)
        row_aim_phase(reader, &row, index + 1, false);
    else
        row_aim_stop(reader, &row, "done", false);
    rows_insert(reader, &reader->routes, 0, &row);
}

static void add_answer(Reader *reader, const char *ask, const char *result, const WorkflowPhase *to,
                       const char *checkpoint, const char *why)
{
    WorkflowRoute row = ask_row(reader, ask, WF_ANY, result, "");
    row.to_checkpoint = checkpoint;
    row.why = why;
    if (to)
        row_aim_phase(reader, &row, (unsigned)reader_phase_index(reader, to->name), false);
    else
        row_aim_stop(reader, &row, "failed", false);
    reader_add_route(reader, &row);
}

static bool is_open(const Reader *reader, int index, const char *result)
{
    const WorkflowPhase *phase = reader_phase(reader, (unsigned)index);
    return phase_has_result(phase, result) && !is_routed(reader, phase->name, result);
}

static void add_answers(Reader *reader)
{
    int index = reader_phase_index(reader, "ask");
    if (index < 0 || reader_phase(reader, (unsigned)index)->kind != PHASE_APPROVE)
        return;
    const char *ask = reader_phase(reader, (unsigned)index)->name;
    const WorkflowPhase *last = reader_agent_before(reader, reader->own),
                        *merge = reader_merge(reader);
    if (is_open(reader, index, "answered"))
        add_answer(reader, ask, "answered", reader_agent_before(reader, 0), "answer",
                   "the answer goes to the agent (D-22)");
    if (is_open(reader, index, "approved"))
        add_answer(reader, ask, "approved", merge ? merge : last, "",
                   "a person approved the work (D-256)");
    if (is_open(reader, index, "redo"))
        add_answer(reader, ask, "redo", last, "review", "a person asked for changes (D-256)");
    if (is_open(reader, index, "rejected"))
        add_answer(reader, ask, "rejected", NULL, "",
                   "a person rejected the work; it is kept, not landed");
    for (unsigned i = 0; i < reader->own; i++)
        add_answers_of(reader, ask, i);
}

/* Lists, entries, commands */

void defaults_lists(Reader *reader)
{
    const Workflow *loop = &workflow_loop;
    if (!reader->is_short)
        return;
    for (unsigned i = 0; i < loop->status_count; i++)
        *(WorkflowStatus *)rows_add(reader, &reader->statuses) = loop->statuses[i];
    for (unsigned i = 1; i < loop->checkpoint_count; i++)
        *(WorkflowWord *)rows_add(reader, &reader->checkpoints) = loop->checkpoints[i];
    for (unsigned i = 0; i < loop->command_count; i++)
        *(WorkflowWord *)rows_add(reader, &reader->commands) = loop->commands[i];
    for (unsigned i = 0; i < loop->limit_count; i++)
        *(WorkflowLimit *)rows_add(reader, &reader->limits) = loop->limits[i];
    if (!reader->flow.first_status)
        reader->flow.first_status = loop->first_status;
}

static void default_entries(Reader *reader)
{
    const char *first = reader_phase(reader, 0)->name, *stop = reader->stops[0];
    for (unsigned i = 0; reader->is_short && i < workflow_loop.entry_count; i++) {
        WorkflowEntry row = workflow_loop.entries[i];
        bool has_ask = reader_phase_index(reader, "ask") >= 0;
        if (!strcmp(row.next, "work")) {
            row.next = first;
            row.checkpoint = stop ? stop : row.checkpoint;
        } else if (!strcmp(row.next, "ask") && !has_ask) {
            row.next = WF_STOP;
            row.checkpoint = WF_NONE;
        }
        *(WorkflowEntry *)rows_add(reader, &reader->entries) = row;
    }
    for (unsigned i = 0; !reader->is_short && i < reader->statuses.count; i++) {
        const WorkflowStatus *status = rows_at(&reader->statuses, i);
        *(WorkflowEntry *)rows_add(reader, &reader->entries) =
            (WorkflowEntry){.id = arena_printf(reader->arena, "enter-%s", status->name),
                            .status = status->name,
                            .substate = WF_ANY,
                            .guard = "",
                            .next = status->is_final ? WF_STOP : first,
                            .checkpoint = stop ? stop : WF_NONE,
                            .to_status = WF_KEEP,
                            .to_substate = WF_KEEP,
                            .why = arena_printf(reader->arena, "the status %s begins with %s",
                                                status->name, status->is_final ? "nothing" : first),
                            .ends = ""};
    }
}

void defaults_rows(Reader *reader)
{
    reader_publish(reader);
    for (unsigned i = 0; i < reader->own; i++)
        route_results(reader, i);
    add_answers(reader);
    if (reader->entries.count == 0)
        default_entries(reader);
    for (unsigned i = 0; reader->is_short && !json_object_get(reader->root, "transitions") &&
                         i < workflow_loop.transition_count;
         i++)
        *(WorkflowCommand *)rows_add(reader, &reader->transitions) = workflow_loop.transitions[i];
}
