/* What a short workflow file leaves out: the statuses, commands and entries of `loop`, the way from
 * each phase to the next, and the rows of `loop` for every accident. */
#include "core/types.h"
#include "core/workflow_file_parts.h"
#include <string.h>

#define TURN_WORDS "PENDING none failed killed stopped limit timeout output-limit spawn-failed cannot-start"

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
    [PHASE_AGENT] = "COMPLETE",      [PHASE_VERIFY] = "pass",
    [PHASE_GATE] = "PASS CONTINUE ACCEPT", [PHASE_MERGE] = "landed empty",
    [PHASE_APPROVE] = "approved",    [PHASE_REPORT] = "done",
    [PHASE_CHILDREN] = "done",       [PHASE_OBSERVE] = "finished",
};

/* The phase of loop whose rows are copied. */
static const char *const templates[PHASE_KIND_COUNT] = {
    [PHASE_AGENT] = "work",   [PHASE_GATE] = "work",     [PHASE_OBSERVE] = "work",
    [PHASE_VERIFY] = "verify", [PHASE_MERGE] = "merge",  [PHASE_APPROVE] = "ask",
    [PHASE_REPORT] = "",      [PHASE_CHILDREN] = "",
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

#define STOPPED {ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT}
#define ASKED {ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT}
#define MENDED {ACTION_COUNT_RETRY, ACTION_SHOW_FAILURE, ACTION_START_TURN}
#define AGAIN {ACTION_COUNT_RETRY, ACTION_RETRY_LATER}

/* clang-format off */
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
  { PHASE_AGENT,    "invalid",        "invalid",        "",             AIM_STOP, "failed",  STOPPED, "its answer could not be read, not even when it was asked again" },
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

/* Looking around */

static const WorkflowPhase *phase_at(const Reader *reader, unsigned i)
{
    return rows_at(&reader->phases, i);
}

static bool is_agent(const WorkflowPhase *phase)
{
    return phase->kind == PHASE_AGENT || phase->kind == PHASE_OBSERVE;
}

/* The agent whose work a later phase judges: the last one before it, else the first. NULL none. */
static const WorkflowPhase *agent_before(const Reader *reader, unsigned before)
{
    const WorkflowPhase *first = NULL, *last = NULL;
    for (unsigned i = 0; i < reader->phases.count; i++) {
        const WorkflowPhase *phase = phase_at(reader, i);
        if (!is_agent(phase))
            continue;
        first = first ? first : phase;
        last = i < before ? phase : last;
    }
    return last ? last : first;
}

static const WorkflowPhase *first_merge(const Reader *reader)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        if (phase_at(reader, i)->kind == PHASE_MERGE)
            return phase_at(reader, i);
    }
    return NULL;
}

static int index_of(const Reader *reader, const char *name)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        if (text_equal(phase_at(reader, i)->name, name))
            return (int)i;
    }
    return -1;
}

/* What rows need is added when it is missing. */

static void ensure_checkpoint(Reader *reader, const char *name, const char *help)
{
    if (*name && strcmp(name, WF_ANY) && strcmp(name, WF_KEEP))
        (void)reader_add_checkpoint(reader, name, help); /* 250 are more than 64 phases need */
}

static void ensure_limit(Reader *reader, const char *counter)
{
    const WorkflowLimit *limit = workflow_limit(&workflow_loop, counter);
    for (unsigned i = 0; i < reader->limits.count; i++) {
        if (text_equal(((WorkflowLimit *)reader->limits.items)[i].name, counter))
            return;
    }
    if (limit)
        *(WorkflowLimit *)rows_add(reader, &reader->limits) = *limit;
}

/* The phase in which people answer; added at the end when the file has none. */
static const char *ensure_ask(Reader *reader)
{
    static const WorkflowPhase ask = {.name = "ask",
                                      .kind = PHASE_APPROVE,
                                      .prompt = "",
                                      .tier = "",
                                      .results = "answered approved redo rejected",
                                      .help = "a person answers a question or reviews the work",
                                      .answer = "",
                                      .status = WF_KEEP};
    int index = index_of(reader, ask.name);
    if (index >= 0)
        return phase_at(reader, (unsigned)index)->name;
    *(WorkflowPhase *)rows_add(reader, &reader->phases) = ask;
    reader_publish(reader);
    return ask.name;
}

/* Aiming */

static void set_actions(WorkflowRoute *row, const Action actions[ACTIONS_MAX])
{
    memcpy(row->actions, actions, sizeof row->actions);
}

static void kind_actions(WorkflowRoute *row, PhaseKind kind)
{
    static const Action by_kind[PHASE_KIND_COUNT][ACTIONS_MAX] = {
        [PHASE_AGENT] = {ACTION_START_TURN},   [PHASE_GATE] = {ACTION_START_TURN},
        [PHASE_OBSERVE] = {ACTION_START_TURN}, [PHASE_VERIFY] = {ACTION_RUN_GATE},
        [PHASE_MERGE] = {ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT},
        [PHASE_APPROVE] = {ACTION_ASK_PERSON, ACTION_FREE_SLOT},
    };
    set_actions(row, by_kind[kind]);
}

static void stop_actions(WorkflowRoute *row, const char *state)
{
    static const Action done[ACTIONS_MAX] = {ACTION_RETIRE_WORKSPACE, ACTION_RELEASE_DEPENDENTS};
    static const Action asked[ACTIONS_MAX] = ASKED, stopped[ACTIONS_MAX] = STOPPED;
    set_actions(row, !strcmp(state, "done") ? done : !strcmp(state, "blocked") ? asked : stopped);
}

static void aim_phase(Reader *reader, WorkflowRoute *row, unsigned index, bool has_effects)
{
    const WorkflowPhase *phase = phase_at(reader, index);
    bool is_review = phase->kind == PHASE_APPROVE && phase_has_result(phase, "approved");
    row->next = phase->name;
    if (!*row->to_status)
        row->to_status = !reader->has_states ? WF_KEEP : is_review ? "review" : "active";
    if (!*row->to_checkpoint && index < reader->own && reader->stops[index])
        row->to_checkpoint = reader->stops[index];
    else if (!*row->to_checkpoint && is_review && reader->is_short)
        row->to_checkpoint = "review";
    if (!has_effects)
        kind_actions(row, phase->kind);
}

static void aim_stop(Reader *reader, WorkflowRoute *row, const char *state, bool has_effects)
{
    row->next = WF_STOP;
    if (reader->has_states || workflow_has_status(&reader->flow, state)) {
        if (!*row->to_status)
            row->to_status = state;
    } else {
        if (!*row->to_status)
            row->to_status = WF_KEEP;
        if (!*row->ends)
            row->ends = state;
    }
    if (!has_effects)
        stop_actions(row, state);
}

bool route_aim(Reader *reader, const char *path, WorkflowRoute *row, bool has_effects)
{
    const char *word = row->next;
    int index = index_of(reader, word);
    TaskState state;
    if (index >= 0) {
        aim_phase(reader, row, (unsigned)index, has_effects);
    } else if (!strcmp(word, WF_ROLLBACK)) {
        row->to_status = *row->to_status ? row->to_status : WF_KEEP;
    } else if (is_stop(word)) {
        const char *ends = *row->to_status ? row->to_status : row->ends;
        if (reader->has_states && !*ends)
            return read_bad(reader, path, "say in 'to_status' where it ends: done, blocked, failed");
        if (!*row->to_status)
            row->to_status = reader->has_states ? ends : WF_KEEP;
        if (!has_effects)
            stop_actions(row, ends);
    } else if (workflow_has_status(&reader->flow, word) || task_state_find(word, &state)) {
        aim_stop(reader, row, word, has_effects);
    } else {
        return read_unknown(reader, text_ends(path, "]") ? read_path(reader, "%s.next", path) : path,
                            "phase", word, word_of_phase, &reader->phases);
    }
    return true;
}

/* Adding rows */

const char *row_id_of(Reader *reader, const char *head, const char *tail)
{
    char plain[64];
    size_t length = 0;
    for (const char *c = tail; *c && length < sizeof plain - 1; c++) {
        if (!strchr("()*", *c))
            plain[length++] = *c == '_' ? '-' : (char)(*c | (*c >= 'A' && *c <= 'Z' ? 0x20 : 0));
    }
    plain[length] = '\0';
    return arena_printf(reader->arena, "%s%s%s", head, *plain ? "-" : "", plain);
}

static void add_route(Reader *reader, const WorkflowRoute *row)
{
    char word[64];
    for (size_t i = 0; word_at(row->guard, i, word, sizeof word); i++) {
        const char *counter = guard_limit(word);
        if (counter && strcmp(counter, "=") != 0)
            ensure_limit(reader, counter);
    }
    ensure_checkpoint(reader, row->to_checkpoint, "");
    *(WorkflowRoute *)rows_add(reader, &reader->routes) = *row;
}

static const char *guard_and(Reader *reader, const char *guard, const char *more)
{
    return *guard ? arena_printf(reader->arena, "%s %s", guard, more) : more;
}

static bool has_limit(const Reader *reader, const char *counter)
{
    for (unsigned i = 0; i < reader->limits.count; i++) {
        if (text_equal(((WorkflowLimit *)reader->limits.items)[i].name, counter))
            return true;
    }
    return false;
}

/* A way back is taken only while turns (or steps) are left. */
static void add_limit_row(Reader *reader, const WorkflowRoute *way)
{
    bool is_steps = !reader->has_states && has_limit(reader, "steps");
    WorkflowRoute row = *way;
    row.id = arena_printf(reader->arena, "%s-limit", way->id);
    row.guard = guard_and(reader, way->guard, is_steps ? "steps-spent" : "turns-spent");
    row.to_status = row.ends = "";
    row.to_checkpoint = WF_NONE;
    row.why = is_steps ? "every step is used" : "every turn is used and nothing is proven (D-43)";
    aim_stop(reader, &row, "timeout", false);
    add_route(reader, &row);
}

static const char *reviewer_of(Reader *reader)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        const WorkflowPhase *phase = phase_at(reader, i);
        if (phase->kind == PHASE_APPROVE && phase_has_result(phase, "approved"))
            return phase->name;
    }
    return ensure_ask(reader);
}

/* Before a merge a person approves, when the settings or a rule say so. */
static void add_review_row(Reader *reader, const WorkflowRoute *way)
{
    WorkflowRoute row = *way;
    const char *ask = reviewer_of(reader);
    row.id = arena_printf(reader->arena, "%s-review", way->id);
    row.guard = guard_and(reader, way->guard, "review-wanted");
    row.to_status = row.ends = "";
    row.to_checkpoint = "review";
    row.why = "a person must approve before it lands (D-253)";
    aim_phase(reader, &row, (unsigned)index_of(reader, ask), false);
    add_route(reader, &row);
}

/* Where an agent learns what went wrong. */
static const char *failure_checkpoint(const Reader *reader, unsigned from, const char *result)
{
    PhaseKind kind = phase_at(reader, from)->kind;
    if (kind == PHASE_VERIFY)
        return "verify";
    if (kind == PHASE_MERGE)
        return !strcmp(result, "conflict") ? "conflict" : "merged-verify";
    return kind == PHASE_GATE && from < reader->own && reader->stops[from] ? reader->stops[from]
                                                                          : WF_NONE;
}

void route_add_short(Reader *reader, WorkflowRoute row)
{
    int from = index_of(reader, row.phase), to = index_of(reader, row.next);
    PhaseKind kind = phase_at(reader, (unsigned)from)->kind;
    bool is_merge = to >= 0 && phase_at(reader, (unsigned)to)->kind == PHASE_MERGE;
    if (to >= 0 && to <= from && kind != PHASE_APPROVE && !is_merge) {
        static const Action back[ACTIONS_MAX] = MENDED;
        add_limit_row(reader, &row);
        if (!*row.to_checkpoint)
            row.to_checkpoint = failure_checkpoint(reader, (unsigned)from, row.result);
        if (kind != PHASE_AGENT && kind != PHASE_OBSERVE && row.actions[0] == ACTION_START_TURN)
            set_actions(&row, back);
    }
    if (is_merge && kind != PHASE_APPROVE && kind != PHASE_MERGE)
        add_review_row(reader, &row);
    add_route(reader, &row);
}

/* On to the phase that follows in the file; after the last one the task is done. */
static void add_on(Reader *reader, unsigned index, const char *result, const char *tail,
                   const char *why)
{
    const WorkflowPhase *phase = phase_at(reader, index);
    bool is_last = index + 1 >= reader->own;
    const char *next = is_last ? "done" : phase_at(reader, index + 1)->name;
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
        aim_stop(reader, &row, "done", false);
        add_route(reader, &row);
    } else {
        row.next = next;
        aim_phase(reader, &row, index + 1, false);
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
    const WorkflowPhase *agent = agent_before(reader, index);
    row->next = agent ? agent->name : WF_STOP;
    take_state(reader, row, agent ? "active" : "blocked");
}

static void copy_template(Reader *reader, unsigned index, const WorkflowRoute *from)
{
    const WorkflowPhase *phase = phase_at(reader, index);
    const char *template = from->phase;
    bool is_own = !strcmp(from->next, template);
    WorkflowRoute row = *from;
    row.id = arena_printf(reader->arena, "%s%s", phase->name, from->id + strlen(template));
    row.phase = phase->name;
    if (is_own) {
        row.next = phase->name;
    } else if (!strcmp(from->next, "ask")) {
        row.next = ensure_ask(reader);
        row.to_checkpoint = arena_printf(reader->arena, "question-%s", phase->name);
        ensure_checkpoint(reader, row.to_checkpoint, "a person is asked by this phase");
    }
    take_state(reader, &row, from->to_status);
    if (!strcmp(from->next, "work") && !is_own)
        aim_back(reader, index, &row);
    if (phase->kind == PHASE_GATE && !strcmp(row.next, phase->name))
        row.to_checkpoint = WF_KEEP;
    add_route(reader, &row);
}

static void add_extra(Reader *reader, unsigned index, const Extra *extra)
{
    const WorkflowPhase *phase = phase_at(reader, index);
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
    set_actions(&row, extra->actions);
    if (!strcmp(extra->guard, "checkpoint-spent") && !has_limit(reader, stop))
        return; /* nothing to run out of */
    if (extra->aim == AIM_NEXT) {
        add_on(reader, index, extra->result, extra->tail, extra->why);
        return;
    }
    if (extra->aim == AIM_SELF) {
        row.next = phase->name;
        row.to_checkpoint = WF_KEEP;
    } else if (extra->aim == AIM_ASK) {
        row.next = ensure_ask(reader);
        row.to_checkpoint = arena_printf(reader->arena, "guarded-%s", phase->name);
        ensure_checkpoint(reader, row.to_checkpoint, "a guard fired; a person must let it pass");
    }
    take_state(reader, &row, *extra->state ? extra->state : extra->aim == AIM_ASK ? "review" : "active");
    if (extra->aim == AIM_BACK) {
        row.to_checkpoint = *stop ? stop : WF_KEEP;
        aim_back(reader, index, &row);
    }
    add_route(reader, &row);
}

static void add_defaults(Reader *reader, unsigned index, const char *result)
{
    PhaseKind kind = phase_at(reader, index)->kind;
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
    const WorkflowPhase phase = *phase_at(reader, index); /* the list may move */
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
    return (WorkflowRoute){.id = arena_printf(reader->arena, "%s-%s%s%s", ask, result,
                                              *tail ? "-" : "", tail),
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
    const WorkflowPhase phase = *phase_at(reader, index);
    const char *question = arena_printf(reader->arena, "question-%s", phase.name);
    const char *guarded = arena_printf(reader->arena, "guarded-%s", phase.name);
    if (row_leads_to(reader, phase.name, question) && !is_answered(reader, ask, question)) {
        WorkflowRoute row = ask_row(reader, ask, question, "answered", phase.name);
        row.to_checkpoint = phase.kind == PHASE_GATE ? "" : "answer";
        row.why = "the answer goes to the agent that asked (D-22)";
        aim_phase(reader, &row, index, false);
        ensure_checkpoint(reader, row.to_checkpoint, "a person has answered");
        rows_insert(reader, &reader->routes, 0, &row);
    }
    if (!row_leads_to(reader, phase.name, guarded) || is_answered(reader, ask, guarded))
        return;
    WorkflowRoute row = ask_row(reader, ask, guarded, "approved", phase.name);
    row.why = "a person let it pass";
    if (index + 1 < reader->own)
        aim_phase(reader, &row, index + 1, false);
    else
        aim_stop(reader, &row, "done", false);
    rows_insert(reader, &reader->routes, 0, &row);
}

static void add_answer(Reader *reader, const char *ask, const char *result,
                       const WorkflowPhase *to, const char *checkpoint, const char *why)
{
    WorkflowRoute row = ask_row(reader, ask, WF_ANY, result, "");
    row.to_checkpoint = checkpoint;
    row.why = why;
    if (to)
        aim_phase(reader, &row, (unsigned)index_of(reader, to->name), false);
    else
        aim_stop(reader, &row, "failed", false);
    add_route(reader, &row);
}

static bool is_open(const Reader *reader, int index, const char *result)
{
    const WorkflowPhase *phase = phase_at(reader, (unsigned)index);
    return phase_has_result(phase, result) && !is_routed(reader, phase->name, result);
}

static void add_answers(Reader *reader)
{
    int index = index_of(reader, "ask");
    if (index < 0 || phase_at(reader, (unsigned)index)->kind != PHASE_APPROVE)
        return;
    const char *ask = phase_at(reader, (unsigned)index)->name;
    const WorkflowPhase *last = agent_before(reader, reader->own), *merge = first_merge(reader);
    if (is_open(reader, index, "answered"))
        add_answer(reader, ask, "answered", agent_before(reader, 0), "answer",
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
    const char *first = phase_at(reader, 0)->name, *stop = reader->stops[0];
    for (unsigned i = 0; reader->is_short && i < workflow_loop.entry_count; i++) {
        WorkflowEntry row = workflow_loop.entries[i];
        bool has_ask = index_of(reader, "ask") >= 0;
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
        *(WorkflowEntry *)rows_add(reader, &reader->entries) = (WorkflowEntry){
            .id = arena_printf(reader->arena, "enter-%s", status->name),
            .status = status->name,
            .substate = WF_ANY,
            .guard = "",
            .next = status->is_final ? WF_STOP : first,
            .checkpoint = stop ? stop : WF_NONE,
            .to_status = WF_KEEP,
            .to_substate = WF_KEEP,
            .why = arena_printf(reader->arena, "the status %s begins with %s", status->name,
                                status->is_final ? "nothing" : first),
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
