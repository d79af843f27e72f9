/* Workflows as text: see workflow_graph.h. */
#include "core/workflow_graph.h"
#include "core/workflow_draw.h"
#include <string.h>

enum { WIDTH = 80 };

bool draw_is_accident(const char *result)
{
    static const char words[] =
        "none failed killed stopped limit timeout output-limit spawn-failed "
        "cannot-start invalid error moved vanished";
    WorkflowPhase list = {.results = words};
    return phase_has_result(&list, result);
}

/* The state of the task after a stop, as far as the row tells it. */
static const char *stop_state(const Workflow *flow, const WorkflowRoute *row)
{
    if (row->ends && *row->ends)
        return row->ends;
    int status =
        workflow_status_index(flow, strcmp(row->to_status, WF_KEEP) ? row->to_status : row->status);
    if (status < 0)
        return "as it was";
    const char *ends = flow->statuses[status].ends;
    return ends && *ends ? ends : flow->statuses[status].name;
}

static const char *label_of(const WorkflowRoute *row, Arena *arena)
{
    bool has_checkpoint = strcmp(row->checkpoint, WF_ANY) != 0;
    bool has_status = strcmp(row->status, WF_ANY) != 0;
    return arena_printf(
        arena, "%s%s%s%s%s%s%s%s", strcmp(row->result, WF_ANY) ? row->result : "anything else",
        !has_checkpoint    ? ""
        : *row->checkpoint ? " at "
                           : " without a checkpoint",
        has_checkpoint ? row->checkpoint : "", has_status ? " in " : "",
        has_status ? row->status : "", *row->guard ? " [" : "", row->guard, *row->guard ? "]" : "");
}

static bool has_label(const char *labels, const char *label)
{
    size_t length = strlen(label);
    for (const char *at = strstr(labels, label); at; at = strstr(at + 1, label)) {
        bool begins = at == labels || at[-1] == ' ', ends = at[length] == '\0' || at[length] == ',';
        if (begins && ends)
            return true;
    }
    return false;
}

/* A row for one status or for no checkpoint that leads where the general row leads says nothing new
 * in a picture. */
static bool is_told(const Workflow *flow, const WorkflowRoute *row)
{
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *other = &flow->routes[i];
        bool is_wider = !strcmp(other->status, WF_ANY) && strcmp(row->status, WF_ANY) != 0;
        bool is_same_place = !strcmp(other->checkpoint, row->checkpoint) ||
                             (!strcmp(other->checkpoint, WF_ANY) && !*row->checkpoint);
        if (is_wider && is_same_place && !strcmp(other->phase, row->phase) &&
            !strcmp(other->result, row->result) && !strcmp(other->guard, row->guard) &&
            !strcmp(other->next, row->next) &&
            (strcmp(row->next, WF_STOP) != 0 ||
             !strcmp(stop_state(flow, other), stop_state(flow, row))))
            return true;
    }
    return false;
}

/* A stop that lands the work goes through the merge first. */
static const char *landing_of(const Workflow *flow, const WorkflowRoute *row)
{
    bool is_landing = false;
    for (unsigned i = 0; i < ACTIONS_MAX && row->actions[i] != ACTION_NONE; i++)
        is_landing |= row->actions[i] == ACTION_ENQUEUE_MERGE;
    for (unsigned i = 0; is_landing && !strcmp(row->next, WF_STOP) && i < flow->phase_count; i++) {
        if (flow->phases[i].kind == PHASE_MERGE)
            return flow->phases[i].name;
    }
    return row->next;
}

static void add_way(const Workflow *flow, const WorkflowRoute *row, Arena *arena, Way *ways,
                    unsigned *count)
{
    const char *to = landing_of(flow, row);
    bool is_stop = !strcmp(to, WF_STOP), is_back = !strcmp(to, WF_ROLLBACK);
    const char *state = is_stop ? stop_state(flow, row) : is_back ? row->to_status : "";
    const char *label = label_of(row, arena);
    unsigned i = 0;
    while (i < *count && (strcmp(ways[i].to, to) != 0 || strcmp(ways[i].state, state) != 0))
        i++;
    if (i == WAYS_MAX)
        return;
    if (i == *count) {
        ways[(*count)++] = (Way){to, state, label};
        return;
    }
    if (!has_label(ways[i].labels, label))
        ways[i].labels = arena_printf(arena, "%s, %s", ways[i].labels, label);
}

unsigned draw_ways(const Workflow *flow, unsigned phase, bool with_accidents, Arena *arena,
                   Way ways[WAYS_MAX])
{
    unsigned count = 0;
    const char *name = flow->phases[phase].name;
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        if (strcmp(row->phase, name) != 0 && strcmp(row->phase, WF_ANY) != 0)
            continue;
        bool is_accident = draw_is_accident(row->result) || !strcmp(row->guard, "turns-spent") ||
                           !strcmp(row->guard, "time-spent");
        if ((!with_accidents && is_accident) || is_told(flow, row))
            continue;
        add_way(flow, row, arena, ways, &count);
    }
    return count;
}

const char *draw_entries(const Workflow *flow, const char *phase, Arena *arena)
{
    const char *all = "";
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        const char *status = strcmp(row->status, WF_ANY) ? row->status : "any other status";
        if (strcmp(row->next, phase) == 0 && !has_label(all, status))
            all = *all ? arena_printf(arena, "%s, %s", all, status) : status;
    }
    return all;
}

/* Words of text after a head; lines go on under the place where the text began. Words that are
 * wider than a line are cut. */
static void add_wrapped(Str *out, const char *head, unsigned indent, const char *text)
{
    unsigned column = indent;
    str_addf(out, "%-*s", (int)indent, head);
    if (strlen(head) >= indent && *head)
        str_addf(out, "\n%*s", (int)indent, "");
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " "), shown = MIN(length, WIDTH - indent);
        if (column > indent && column + 1 + shown > WIDTH) {
            str_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            str_add_char(out, ' ');
            column++;
        }
        str_add_safe(out, at, shown, false);
        column += (unsigned)shown;
        at += length + (at[length] == ' ');
    }
    str_add_char(out, '\n');
}

static void add_phase(const Workflow *flow, unsigned index, Arena *arena, Str *out)
{
    const WorkflowPhase *phase = &flow->phases[index];
    Way ways[WAYS_MAX];
    unsigned count = draw_ways(flow, index, true, arena, ways);
    const char *entries = draw_entries(flow, phase->name, arena);
    const char *line =
        arena_printf(arena, "%s%s%s", phase_kind_word(phase->kind),
                     phase->help && *phase->help ? ": " : "", phase->help ? phase->help : "");
    str_add_char(out, '\n');
    add_wrapped(out, arena_printf(arena, "%-11.40s", phase->name), 12, line);
    if (*entries)
        add_wrapped(out, "  begins with", 16, entries);
    for (unsigned i = 0; i < count; i++) {
        bool is_stop = !strcmp(ways[i].to, WF_STOP), is_back = !strcmp(ways[i].to, WF_ROLLBACK);
        const char *head = arena_printf(arena, "  %s %.40s",
                                        is_stop   ? "=|"
                                        : is_back ? "<<"
                                                  : "->",
                                        is_stop || is_back ? ways[i].state : ways[i].to);
        add_wrapped(out, head, 16, ways[i].labels);
    }
}

void workflow_graph_text(const Workflow *workflow, Str *out)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    add_wrapped(out, arena_printf(&arena, "%-11.40s", workflow->name), 12, workflow->help);
    add_wrapped(out, "", 12,
                "-> leads to a phase, =| stops the run in a state of the task, << rolls "
                "back and goes on in a status");
    for (unsigned i = 0; i < workflow->phase_count; i++)
        add_phase(workflow, i, &arena, out);
}
