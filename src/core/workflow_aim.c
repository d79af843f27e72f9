/* Rows of short workflow files: finding one's way among the phases, aiming a row at a phase or a
 * stop, and the rows that go before it. */
#include "core/types.h"
#include "core/workflow_file_parts.h"
#include <string.h>

static bool is_stop(const char *next)
{
    return !strcmp(next, WF_STOP);
}

/* Looking around */

const WorkflowPhase *reader_phase(const Reader *reader, unsigned i)
{
    return rows_at(&reader->phases, i);
}

static bool is_agent(const WorkflowPhase *phase)
{
    return phase->kind == PHASE_AGENT || phase->kind == PHASE_OBSERVE;
}

/* The agent whose work a later phase judges: the last one before it, else the first. NULL none. */
const WorkflowPhase *reader_agent_before(const Reader *reader, unsigned before)
{
    const WorkflowPhase *first = NULL, *last = NULL;
    for (unsigned i = 0; i < reader->phases.count; i++) {
        const WorkflowPhase *phase = reader_phase(reader, i);
        if (!is_agent(phase))
            continue;
        first = first ? first : phase;
        last = i < before ? phase : last;
    }
    return last ? last : first;
}

const WorkflowPhase *reader_merge(const Reader *reader)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        if (reader_phase(reader, i)->kind == PHASE_MERGE)
            return reader_phase(reader, i);
    }
    return NULL;
}

int reader_phase_index(const Reader *reader, const char *name)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        if (text_equal(reader_phase(reader, i)->name, name))
            return (int)i;
    }
    return -1;
}

/* What rows need is added when it is missing. */

void reader_need_checkpoint(Reader *reader, const char *name, const char *help)
{
    if (*name && strcmp(name, WF_ANY) != 0 && strcmp(name, WF_KEEP) != 0)
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
const char *reader_need_ask(Reader *reader)
{
    static const WorkflowPhase ask = {.name = "ask",
                                      .kind = PHASE_APPROVE,
                                      .prompt = "",
                                      .tier = "",
                                      .results = "answered approved redo rejected",
                                      .help = "a person answers a question or reviews the work",
                                      .answer = "",
                                      .status = WF_KEEP};
    int index = reader_phase_index(reader, ask.name);
    if (index >= 0)
        return reader_phase(reader, (unsigned)index)->name;
    *(WorkflowPhase *)rows_add(reader, &reader->phases) = ask;
    reader_publish(reader);
    return ask.name;
}

/* Aiming */

void row_set_actions(WorkflowRoute *row, const Action actions[ACTIONS_MAX])
{
    memcpy(row->actions, actions, sizeof row->actions);
}

static void kind_actions(WorkflowRoute *row, PhaseKind kind)
{
    static const Action by_kind[PHASE_KIND_COUNT][ACTIONS_MAX] = {
        [PHASE_AGENT] = {ACTION_START_TURN},
        [PHASE_GATE] = {ACTION_START_TURN},
        [PHASE_OBSERVE] = {ACTION_START_TURN},
        [PHASE_VERIFY] = {ACTION_RUN_GATE},
        [PHASE_MERGE] = {ACTION_ENQUEUE_MERGE, ACTION_FREE_SLOT},
        [PHASE_APPROVE] = {ACTION_ASK_PERSON, ACTION_FREE_SLOT},
    };
    row_set_actions(row, by_kind[kind]);
}

static void stop_actions(WorkflowRoute *row, const char *state)
{
    static const Action done[ACTIONS_MAX] = {ACTION_RETIRE_WORKSPACE, ACTION_RELEASE_DEPENDENTS};
    static const Action asked[ACTIONS_MAX] = ASKED, stopped[ACTIONS_MAX] = STOPPED;
    row_set_actions(row, !strcmp(state, "done")      ? done
                         : !strcmp(state, "blocked") ? asked
                                                     : stopped);
}

void row_aim_phase(Reader *reader, WorkflowRoute *row, unsigned index, bool has_effects)
{
    const WorkflowPhase *phase = reader_phase(reader, index);
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

void row_aim_stop(Reader *reader, WorkflowRoute *row, const char *state, bool has_effects)
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
    int index = reader_phase_index(reader, word);
    TaskState state;
    if (index >= 0) {
        row_aim_phase(reader, row, (unsigned)index, has_effects);
    } else if (!strcmp(word, WF_ROLLBACK)) {
        row->to_status = *row->to_status ? row->to_status : WF_KEEP;
    } else if (is_stop(word)) {
        const char *ends = *row->to_status ? row->to_status : row->ends;
        if (reader->has_states && !*ends)
            return read_bad(reader, path,
                            "say in 'to_status' where it ends: done, blocked, failed");
        if (!*row->to_status)
            row->to_status = reader->has_states ? ends : WF_KEEP;
        if (!has_effects)
            stop_actions(row, ends);
    } else if (workflow_has_status(&reader->flow, word) || task_state_find(word, &state)) {
        row_aim_stop(reader, row, word, has_effects);
    } else {
        return read_unknown(reader,
                            text_ends(path, "]") ? read_path(reader, "%s.next", path) : path,
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

void reader_add_route(Reader *reader, const WorkflowRoute *row)
{
    char word[64];
    for (size_t i = 0; word_at(row->guard, i, word, sizeof word); i++) {
        const char *counter = guard_limit(word);
        if (counter && strcmp(counter, "=") != 0)
            ensure_limit(reader, counter);
    }
    reader_need_checkpoint(reader, row->to_checkpoint, "");
    *(WorkflowRoute *)rows_add(reader, &reader->routes) = *row;
}

static const char *guard_and(Reader *reader, const char *guard, const char *more)
{
    return *guard ? arena_printf(reader->arena, "%s %s", guard, more) : more;
}

bool reader_has_limit(const Reader *reader, const char *counter)
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
    bool is_steps = !reader->has_states && reader_has_limit(reader, "steps");
    WorkflowRoute row = *way;
    row.id = arena_printf(reader->arena, "%s-limit", way->id);
    row.guard = guard_and(reader, way->guard, is_steps ? "steps-spent" : "turns-spent");
    row.to_status = row.ends = "";
    row.to_checkpoint = WF_NONE;
    row.why = is_steps ? "every step is used" : "every turn is used and nothing is proven (D-43)";
    row_aim_stop(reader, &row, "timeout", false);
    reader_add_route(reader, &row);
}

static const char *reviewer_of(Reader *reader)
{
    for (unsigned i = 0; i < reader->phases.count; i++) {
        const WorkflowPhase *phase = reader_phase(reader, i);
        if (phase->kind == PHASE_APPROVE && phase_has_result(phase, "approved"))
            return phase->name;
    }
    return reader_need_ask(reader);
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
    row_aim_phase(reader, &row, (unsigned)reader_phase_index(reader, ask), false);
    reader_add_route(reader, &row);
}

/* Where an agent learns what went wrong. */
static const char *failure_checkpoint(const Reader *reader, unsigned from, const char *result)
{
    PhaseKind kind = reader_phase(reader, from)->kind;
    if (kind == PHASE_VERIFY)
        return "verify";
    if (kind == PHASE_MERGE)
        return !strcmp(result, "conflict") ? "conflict" : "merged-verify";
    return kind == PHASE_GATE && from < reader->own && reader->stops[from] ? reader->stops[from]
                                                                           : WF_NONE;
}

void route_add_short(Reader *reader, WorkflowRoute row)
{
    int from = reader_phase_index(reader, row.phase), to = reader_phase_index(reader, row.next);
    PhaseKind kind = reader_phase(reader, (unsigned)from)->kind;
    bool is_merge = to >= 0 && reader_phase(reader, (unsigned)to)->kind == PHASE_MERGE;
    if (to >= 0 && to <= from && kind != PHASE_APPROVE && !is_merge) {
        static const Action back[ACTIONS_MAX] = MENDED;
        add_limit_row(reader, &row);
        if (!*row.to_checkpoint)
            row.to_checkpoint = failure_checkpoint(reader, (unsigned)from, row.result);
        if (kind != PHASE_AGENT && kind != PHASE_OBSERVE && row.actions[0] == ACTION_START_TURN)
            row_set_actions(&row, back);
    }
    if (is_merge && kind != PHASE_APPROVE && kind != PHASE_MERGE)
        add_review_row(reader, &row);
    reader_add_route(reader, &row);
}
