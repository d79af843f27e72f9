/* The interpreter of workflows: see workflow.h. */
#include "core/workflow.h"
#include <string.h>

/* The place is stored with runs: add at the end only. */
static const Workflow *const built_in[] = {&workflow_loop, &workflow_lifecycle, &workflow_staged,
                                           &workflow_auto_a, &workflow_auto_b};

static const struct {
    const char *word;
} kinds[PHASE_KIND_COUNT] = {
#define X(kind, word, help) [kind] = {word},
    PHASE_KINDS(X)
#undef X
};

const Workflow *const *workflow_all(size_t *count)
{
    *count = COUNT(built_in);
    return built_in;
}

const Workflow *workflow_find(const char *name)
{
    for (size_t i = 0; i < COUNT(built_in); i++) {
        if (text_equal(built_in[i]->name, name))
            return built_in[i];
    }
    return NULL;
}

int workflow_number(const char *name)
{
    for (size_t i = 0; i < COUNT(built_in); i++) {
        if (text_equal(built_in[i]->name, name))
            return (int)i;
    }
    return -1;
}

const char *phase_kind_word(PhaseKind kind)
{
    return kinds[kind].word;
}

bool phase_kind_find(const char *word, PhaseKind *kind)
{
    for (unsigned i = 0; i < PHASE_KIND_COUNT; i++) {
        if (text_equal(kinds[i].word, word)) {
            *kind = (PhaseKind)i;
            return true;
        }
    }
    return false;
}

int workflow_phase_index(const Workflow *workflow, const char *name)
{
    for (unsigned i = 0; i < workflow->phase_count; i++) {
        if (text_equal(workflow->phases[i].name, name))
            return (int)i;
    }
    return -1;
}

const WorkflowPhase *workflow_phase(const Workflow *workflow, const char *name)
{
    int index = workflow_phase_index(workflow, name);
    return index < 0 ? NULL : &workflow->phases[index];
}

static int word_index(const WorkflowWord *words, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (text_equal(words[i].name, name))
            return (int)i;
    }
    return -1;
}

int workflow_checkpoint_index(const Workflow *workflow, const char *name)
{
    return word_index(workflow->checkpoints, workflow->checkpoint_count, name);
}

int workflow_status_index(const Workflow *workflow, const char *name)
{
    for (unsigned i = 0; i < workflow->status_count; i++) {
        if (text_equal(workflow->statuses[i].name, name))
            return (int)i;
    }
    return -1;
}

bool workflow_has_status(const Workflow *workflow, const char *status)
{
    return workflow_status_index(workflow, status) >= 0;
}

double workflow_threshold(const Workflow *workflow, const char *checkpoint, double fallback)
{
    for (unsigned i = 0; i < workflow->threshold_count; i++) {
        if (text_equal(workflow->thresholds[i].checkpoint, checkpoint))
            return workflow->thresholds[i].value;
    }
    return fallback;
}

bool workflow_has_command(const Workflow *workflow, const char *command)
{
    return word_index(workflow->commands, workflow->command_count, command) >= 0;
}

const WorkflowLimit *workflow_limit(const Workflow *workflow, const char *counter)
{
    for (unsigned i = 0; i < workflow->limit_count; i++) {
        if (text_equal(workflow->limits[i].name, counter))
            return &workflow->limits[i];
    }
    return NULL;
}

int64_t workflow_limit_or(const Workflow *workflow, const char *counter, int64_t given)
{
    for (size_t i = 0; i < COUNT(built_in); i++)
        if (built_in[i] == workflow)
            return given; /* its numbers are the settings' defaults */
    const WorkflowLimit *own = workflow_limit(workflow, counter);
    const WorkflowLimit *usual = workflow_limit(&workflow_lifecycle, counter);
    return own && usual && own->fallback != usual->fallback ? own->fallback : given;
}

static const char *given(const char *text)
{
    return text ? text : WF_NONE;
}

static bool fits(const char *pattern, const char *text)
{
    return strcmp(pattern, WF_ANY) == 0 || strcmp(pattern, given(text)) == 0;
}

static const char *set(const char *value, const char *old)
{
    return strcmp(value, WF_KEEP) == 0 ? given(old) : value;
}

/* The task state of a stop: the row's own, else the status's, else the status itself. */
static const char *ends_of(const Workflow *workflow, const char *next, const char *own,
                           const char *status)
{
    if (strcmp(next, WF_STOP) != 0)
        return WF_NONE;
    if (own && *own)
        return own;
    int index = workflow_status_index(workflow, status);
    const char *ends = index < 0 ? NULL : workflow->statuses[index].ends;
    return ends && *ends ? ends : status;
}

bool workflow_enter(const Workflow *workflow, const RouteInput *input, RouteStep *step)
{
    for (unsigned i = 0; i < workflow->entry_count; i++) {
        const WorkflowEntry *row = &workflow->entries[i];
        if (!fits(row->status, input->status) || !fits(row->substate, input->substate) ||
            !guard_holds(workflow, row->guard, input))
            continue;
        *step = (RouteStep){.row = row->id,
                            .why = row->why,
                            .next = row->next,
                            .checkpoint = set(row->checkpoint, input->checkpoint),
                            .status = set(row->to_status, input->status),
                            .substate = set(row->to_substate, input->substate),
                            .actions = row->actions,
                            .is_allowed = true};
        step->ends = ends_of(workflow, row->next, row->ends, step->status);
        return true;
    }
    return false;
}

bool workflow_route(const Workflow *workflow, const RouteInput *input, RouteStep *step)
{
    for (unsigned i = 0; i < workflow->route_count; i++) {
        const WorkflowRoute *row = &workflow->routes[i];
        if (!fits(row->phase, input->step) || !result_fits(row->result, given(input->result)) ||
            !fits(row->checkpoint, input->checkpoint) || !fits(row->status, input->status) ||
            !guard_holds(workflow, row->guard, input))
            continue;
        *step = (RouteStep){.row = row->id,
                            .why = row->why,
                            .next = row->next,
                            .checkpoint = set(row->to_checkpoint, input->checkpoint),
                            .status = set(row->to_status, input->status),
                            .substate = set(row->to_substate, input->substate),
                            .actions = row->actions,
                            .is_allowed = true};
        step->ends = ends_of(workflow, row->next, row->ends, step->status);
        return true;
    }
    return false;
}

bool workflow_transition(const Workflow *workflow, const RouteInput *input, const char *command,
                         RouteStep *step)
{
    for (unsigned i = 0; i < workflow->transition_count; i++) {
        const WorkflowCommand *row = &workflow->transitions[i];
        if (!fits(row->command, command) || !fits(row->status, input->status) ||
            !fits(row->checkpoint, input->checkpoint) ||
            !result_fits(row->result, given(input->result)) ||
            !guard_holds(workflow, row->guard, input))
            continue;
        *step = (RouteStep){.row = row->id,
                            .why = row->why,
                            .next = given(row->next),
                            .checkpoint = given(input->checkpoint),
                            .status = set(row->to_status, input->status),
                            .substate = set(row->to_substate, input->substate),
                            .actions = row->actions,
                            .is_allowed = row->is_allowed,
                            .ends = WF_NONE};
        return true;
    }
    return false;
}
