/* A workflow as text for a person: see flowview.h. */
#include "cli/flowview.h"
#include "core/field.h"
#include <inttypes.h>
#include <string.h>

enum { ID_COLUMNS = 24, ROWS_MOST = 6000 };

static void heading(const Term *term, Str *out, const char *text, const char *note)
{
    str_add_char(out, '\n');
    term_add(term, out, STYLE_BOLD, text);
    if (*note) {
        str_add_char(out, ' ');
        term_add(term, out, STYLE_DIM, note);
    }
    str_add_char(out, '\n');
}

static bool is_set(const char *word)
{
    return word && *word;
}

/* -- words of rows as people say them -------------------------------------------------------- */

static void add_match(Str *out, const char *name, const char *word)
{
    if (text_equal(word, WF_ANY))
        return;
    str_addf(out, "%s%s ", out->length ? ", " : "", name);
    str_add_line(out, is_set(word) ? word : "none");
}

static void add_change(Str *out, const char *name, const char *word)
{
    if (!word || text_equal(word, WF_KEEP))
        return;
    str_addf(out, ", %s ", name);
    str_add_line(out, *word ? word : "none");
}

static void add_actions(Str *out, const Action *actions)
{
    for (size_t i = 0; i < ACTIONS_MAX && actions[i] != ACTION_NONE; i++)
        str_addf(out, "%s%s", i ? ", " : "", action_word(actions[i]));
}

/* -- the parts of a row, the same for all three kinds ---------------------------------------- */

typedef struct RowView {
    const char *id, *kind, *why, *guard;
    const Action *actions;
    Str when, then; /* filled in by the kind */
} RowView;

static void view_entry(const WorkflowEntry *row, RowView *view)
{
    *view = (RowView){row->id, "entry", row->why, row->guard, row->actions, STR_INIT, STR_INIT};
    add_match(&view->when, "status", row->status);
    add_match(&view->when, "sub-state", row->substate);
    str_add_line(&view->then, row->next);
    add_change(&view->then, "checkpoint", is_set(row->checkpoint) ? row->checkpoint : NULL);
    add_change(&view->then, "status", row->to_status);
    add_change(&view->then, "sub-state", is_set(row->to_substate) ? row->to_substate : NULL);
    if (is_set(row->ends))
        add_change(&view->then, "the task is", row->ends);
}

static void view_route(const WorkflowRoute *row, RowView *view)
{
    *view = (RowView){row->id, "route", row->why, row->guard, row->actions, STR_INIT, STR_INIT};
    str_add_line(&view->when, text_equal(row->phase, WF_ANY) ? "any phase" : row->phase);
    str_add_char(&view->when, ' ');
    str_add_line(&view->when, text_equal(row->result, WF_ANY) ? "any result" : row->result);
    add_match(&view->when, "checkpoint", row->checkpoint);
    add_match(&view->when, "status", row->status);
    str_add_line(&view->then, row->next);
    add_change(&view->then, "checkpoint", is_set(row->to_checkpoint) ? row->to_checkpoint : NULL);
    add_change(&view->then, "status", row->to_status);
    add_change(&view->then, "sub-state", is_set(row->to_substate) ? row->to_substate : NULL);
    if (is_set(row->ends))
        add_change(&view->then, "the task is", row->ends);
}

static void view_command(const WorkflowCommand *row, RowView *view)
{
    *view = (RowView){row->id, "command", row->why, row->guard, row->actions, STR_INIT, STR_INIT};
    str_add_line(&view->when, row->command);
    add_match(&view->when, "status", row->status);
    add_match(&view->when, "checkpoint", row->checkpoint);
    add_match(&view->when, "result", row->result);
    str_add(&view->then, row->is_allowed ? "allowed" : "refused");
    add_change(&view->then, "status", row->to_status);
    add_change(&view->then, "sub-state", is_set(row->to_substate) ? row->to_substate : NULL);
    if (is_set(row->next))
        add_change(&view->then, "goes on with", row->next);
}

static void view_done(RowView *view)
{
    str_done(&view->when);
    str_done(&view->then);
}

/* Two lines: what leads where, and why. */
static void add_row(const Term *term, RowView *view, Str *out)
{
    CLEANUP(str_done) Str why = STR_INIT;
    str_add(out, "  ");
    str_add_cell(out, view->id, ID_COLUMNS);
    str_addf(out, " %s", str_text(&view->when));
    if (is_set(view->guard)) {
        str_add(out, ", if ");
        str_add_line(out, view->guard);
    }
    str_addf(out, "  %s  %s\n", term->has_utf8 ? "→" : "->", str_text(&view->then));
    str_addf(out, "  %*s ", ID_COLUMNS, "");
    str_add_line(&why, view->why ? view->why : "");
    term_add(term, out, STYLE_DIM, str_text(&why));
    str_add_char(out, '\n');
    view_done(view);
}

/* -- the tables ------------------------------------------------------------------------------ */

static void add_phases(const Term *term, const Workflow *flow, Str *out)
{
    heading(term, out, "phases", "");
    for (size_t i = 0; i < flow->phase_count; i++) {
        const WorkflowPhase *phase = &flow->phases[i];
        CLEANUP(str_done) Str results = STR_INIT;
        str_add(out, "  ");
        str_add_cell(out, phase->name, 12);
        str_addf(out, " %-8s ", phase_kind_word(phase->kind));
        str_add_line(out, is_set(phase->help) ? phase->help : "");
        if (is_set(phase->prompt)) {
            str_add(out, "; prompt ");
            str_add_line(out, phase->prompt);
        }
        if (is_set(phase->answer)) {
            str_add(out, "; answers ");
            str_add_line(out, phase->answer);
        }
        if (is_set(phase->tier)) {
            str_add(out, "; tier ");
            str_add_line(out, phase->tier);
        }
        str_addf(out, "%s\n", phase->is_fresh ? "; a new conversation" : "");
        str_addf(out, "  %22s", "");
        str_add_line(&results, is_set(phase->results) ? phase->results : "");
        term_add(term, out, STYLE_DIM, str_text(&results));
        str_add_char(out, '\n');
    }
}

static void add_statuses(const Term *term, const Workflow *flow, Str *out)
{
    heading(term, out, "statuses", "");
    for (size_t i = 0; i < flow->status_count; i++) {
        const WorkflowStatus *status = &flow->statuses[i];
        str_add(out, "  ");
        str_add_cell(out, status->name, 12);
        str_add_char(out, ' ');
        str_add_line(out, is_set(status->help) ? status->help : "");
        if (is_set(status->ends)) {
            str_add(out, "; a task that rests here is ");
            str_add_line(out, status->ends);
        }
        str_addf(out, "%s%s\n", text_equal(status->name, flow->first_status) ? "; the first" : "",
                 status->is_final ? "; final" : "");
    }
}

static void add_limits(const Term *term, const Workflow *flow, Str *out)
{
    if (!flow->limit_count && !flow->threshold_count)
        return;
    heading(term, out, "limits and thresholds", "");
    for (size_t i = 0; i < flow->limit_count; i++) {
        const WorkflowLimit *limit = &flow->limits[i];
        str_add(out, "  ");
        str_add_cell(out, limit->name, 16);
        str_addf(out, " %9" PRId64 "  ", limit->fallback);
        str_add_line(out, is_set(limit->help) ? limit->help : "");
        str_addf(out, "%s\n", limit->is_retry ? "; counts retries" : "");
    }
    for (size_t i = 0; i < flow->threshold_count; i++) {
        str_add(out, "  ");
        str_add_cell(out, flow->thresholds[i].checkpoint, 16);
        str_addf(out, " %9.2f  least overall score\n", flow->thresholds[i].value);
    }
    for (size_t i = 0; i < flow->hook_count; i++) {
        str_add(out, "  hook at ");
        str_add_line(out, flow->hooks[i].status);
        str_add(out, ": ");
        str_add_line(out, flow->hooks[i].command);
        str_add_char(out, '\n');
    }
}

static void add_rows(const Term *term, const Workflow *flow, Str *out)
{
    RowView view;
    heading(term, out, "entries", "where a task of a status starts; the first row that fits wins");
    for (size_t i = 0; i < flow->entry_count; i++) {
        view_entry(&flow->entries[i], &view);
        add_row(term, &view, out);
    }
    heading(term, out, "routes", "where a result leads; the first row that fits wins");
    for (size_t i = 0; i < flow->route_count; i++) {
        view_route(&flow->routes[i], &view);
        add_row(term, &view, out);
    }
    heading(term, out, "commands", "what a person may do; the first row that fits wins");
    for (size_t i = 0; i < flow->transition_count; i++) {
        view_command(&flow->transitions[i], &view);
        add_row(term, &view, out);
    }
}

void flow_show(const Term *term, const Workflow *flow, const char *origin, Str *out)
{
    CLEANUP(str_done) Str name = STR_INIT;
    str_add_line(&name, flow->name);
    term_add(term, out, STYLE_BOLD, str_text(&name));
    str_add(out, ": ");
    str_add_line(out, is_set(flow->help) ? flow->help : "");
    str_add(out, "\nfrom ");
    str_add_line(out, *origin ? origin : "the program itself");
    str_add_char(out, '\n');
    add_phases(term, flow, out);
    add_statuses(term, flow, out);
    add_limits(term, flow, out);
    add_rows(term, flow, out);
}

/* -- one row --------------------------------------------------------------------------------- */

static bool find_row(const Workflow *flow, const char *id, RowView *view)
{
    for (size_t i = 0; i < flow->entry_count; i++)
        if (text_equal(flow->entries[i].id, id)) {
            view_entry(&flow->entries[i], view);
            return true;
        }
    for (size_t i = 0; i < flow->route_count; i++)
        if (text_equal(flow->routes[i].id, id)) {
            view_route(&flow->routes[i], view);
            return true;
        }
    for (size_t i = 0; i < flow->transition_count; i++)
        if (text_equal(flow->transitions[i].id, id)) {
            view_command(&flow->transitions[i], view);
            return true;
        }
    return false;
}

static void add_part(Str *out, const char *name, const char *text)
{
    if (!is_set(text))
        return;
    str_addf(out, "  %-8s ", name);
    str_add_line(out, text);
    str_add_char(out, '\n');
}

static void add_guard(const Workflow *flow, const char *guard, Str *out)
{
    CLEANUP(str_done) Str text = STR_INIT;
    const char *counter = is_set(guard) ? guard_limit(guard) : NULL;
    const WorkflowLimit *limit =
        counter && !text_equal(counter, "=") ? workflow_limit(flow, counter) : NULL;
    if (!is_set(guard))
        return;
    str_add(&text, guard);
    if (limit)
        str_addf(&text, " (looks at the limit '%s', %" PRId64 " unless it is set)", limit->name,
                 limit->fallback);
    else if (counter)
        str_add(&text, " (looks at the retries of the checkpoint)");
    add_part(out, "only if", str_text(&text));
}

bool flow_show_row(const Term *term, const Workflow *flow, const char *id, Str *out)
{
    RowView view;
    CLEANUP(str_done) Str head = STR_INIT;
    CLEANUP(str_done) Str actions = STR_INIT;
    if (!find_row(flow, id, &view))
        return false;
    str_add_line(&head, view.id);
    term_add(term, out, STYLE_BOLD, str_text(&head));
    str_addf(out, ", %s of workflow ", view.kind);
    str_add_line(out, flow->name);
    str_add_char(out, '\n');
    add_part(out, "when", view.when.length ? str_text(&view.when) : "always");
    add_guard(flow, view.guard, out);
    add_part(out, "then", str_text(&view.then));
    add_actions(&actions, view.actions);
    add_part(out, "does", str_text(&actions));
    add_part(out, "why", view.why);
    view_done(&view);
    return true;
}

const char *flow_nearest_row(const Workflow *flow, const char *id)
{
    const char *ids[ROWS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < flow->entry_count && count < ROWS_MOST; i++)
        ids[count++] = flow->entries[i].id;
    for (size_t i = 0; i < flow->route_count && count < ROWS_MOST; i++)
        ids[count++] = flow->routes[i].id;
    for (size_t i = 0; i < flow->transition_count && count < ROWS_MOST; i++)
        ids[count++] = flow->transitions[i].id;
    return text_nearest(id, ids, count);
}
