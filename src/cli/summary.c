/* What a run ends with: see summary.h. */
#include "cli/summary.h"
#include "base/clock.h"
#include "cli/view.h"
#include <inttypes.h>
#include <string.h>

typedef struct EndRow {
    const char *state, *heading;
    size_t shown;     /* more than these are only counted */
    bool is_fine;     /* nothing left to do for a person */
    const char *next; /* command that helps, with the id after it; NULL none */
} EndRow;

/* clang-format off */
static const EndRow ends[] = {
    {"done",    "landed",    12, true,  NULL},
    {"failed",  "failed",    12, false, "retry"},
    {"timeout", "timed out", 12, false, "retry"},
    {"blocked", "blocked",   12, false, "why"},
    {"review",  "to review", 12, false, "approve"},
    {"asking",  "asks",      12, false, NULL},
    {"active",  "not ended", 12, false, "why"},
    {"pending", "waits",     3, false, "why"},
    {"skipped", "skipped",   3, true,  NULL},
};
/* clang-format on */

static bool is_asked(const SummaryRequest *request, int64_t id)
{
    for (size_t i = 0; i < request->count; i++)
        if (request->tasks[i] == id)
            return true;
    return request->count == 0;
}

static const EndRow *end_of(const char *state)
{
    for (size_t i = 0; i < COUNT(ends); i++)
        if (text_equal(ends[i].state, state))
            return &ends[i];
    return NULL;
}

/* The last thing that a person is told about this task, or NULL. */
static const json_t *need_of(const json_t *needs, int64_t task)
{
    size_t index;
    const json_t *row, *last = NULL;
    json_array_foreach(needs, index, row)
    {
        if (json_int(row, "task", 0) == task)
            last = row;
    }
    return last;
}

/* A task whose run waits for an answer is active by its state, but that is not what matters. */
static const char *state_of(const json_t *item, const json_t *needs)
{
    const char *state = json_text(item, "state", "");
    const json_t *need = need_of(needs, json_int(item, "id", 0));
    return text_equal(state, "active") && text_equal(json_text(need, "kind", ""), "question")
               ? "asking"
               : state;
}

static void print_item(Cli *cli, const EndRow *end, const json_t *item, const json_t *need)
{
    int64_t id = json_int(item, "id", 0);
    CLEANUP(str_done) Str head = STR_INIT;
    CLEANUP(str_done) Str note = STR_INIT;
    bool is_unchanged = text_equal(end->state, "done") && !json_text(item, "commit", NULL);
    str_addf(&head, "%s %-9s", view_mark(&cli->term, end->state),
             is_unchanged ? "no change" : end->heading);
    str_add(&cli->out, "  ");
    term_add(&cli->term, &cli->out, view_state_style(end->state), head.bytes);
    str_addf(&cli->out, " #%" PRId64 " ", id);
    (void)str_add_cut(&cli->out, json_text(item, "title", ""), 60); /* the line goes on */
    if (end->is_fine && json_text(item, "commit", NULL))
        str_addf(&cli->out, "  %.9s", json_text(item, "commit", ""));
    CLEANUP(str_done) Str said = STR_INIT;
    str_add_first(&said, need ? json_text(need, "text", "") : json_text(item, "note", ""));
    text_without_ids(str_text(&said), &note);
    if (!end->is_fine && note.length) {
        str_add(&cli->out, ": ");
        (void)str_add_cut(&cli->out, note.bytes, 200); /* the line goes on */
    }
    if (end->next && !need && !text_equal(end->state, "pending"))
        str_addf(&cli->out, "  > %s %s %" PRId64, cli->otto, end->next, id);
    str_add_char(&cli->out, '\n');
}

/* All of one state; long lists are cut, their rest is counted. */
static void print_state(Cli *cli, const SummaryRequest *request, const EndRow *end,
                        const json_t *items, const json_t *needs)
{
    size_t index, count = 0, earlier = 0;
    const json_t *item;
    int64_t since_ms = clock_wall_ms() - request->elapsed_ms - 1000;
    json_array_foreach(items, index, item)
    {
        if (!text_equal(state_of(item, needs), end->state) ||
            !is_asked(request, json_int(item, "id", 0)))
            continue;
        int64_t landed_ms = json_int(item, "landed_ms", 0);
        if (landed_ms && landed_ms < since_ms) { /* not in this run */
            earlier++;
            continue;
        }
        if (count++ < end->shown)
            print_item(cli, end, item, need_of(needs, json_int(item, "id", 0)));
    }
    if (earlier)
        str_addf(&cli->out, "    %zu landed earlier\n", earlier);
    if (count > end->shown)
        str_addf(&cli->out, "    and %zu more: %s list %s\n", count - end->shown, cli->otto,
                 text_equal(end->state, "asking") ? "active" : end->state);
}

static void print_needs(Cli *cli, const json_t *needs)
{
    size_t index;
    const json_t *row;
    if (json_array_size(needs))
        term_add(&cli->term, &cli->out, STYLE_WARN, "Needs you:\n");
    json_array_foreach(needs, index, row)
    {
        str_add(&cli->out, "  ");
        if (json_int(row, "task", 0)) /* else it is about the project */
            str_addf(&cli->out, "#%" PRId64 " ", json_int(row, "task", 0));
        str_add_first(&cli->out, json_text(row, "text", ""));
        str_add(&cli->out, "\n    ");
        cli_add_need(cli, &cli->out, row);
        str_add_char(&cli->out, '\n');
    }
}

static int exit_code_of(const SummaryRequest *request, const json_t *items)
{
    size_t index;
    const json_t *item;
    json_array_foreach(items, index, item)
    {
        const EndRow *end = end_of(json_text(item, "state", ""));
        bool is_left_out = json_flag(item, "left_out", false) && request->count == 0;
        if (end && !end->is_fine && !is_left_out && is_asked(request, json_int(item, "id", 0)))
            return EXIT_PARTLY;
    }
    return EXIT_DONE;
}

static void print_head(Cli *cli, const SummaryRequest *request, const json_t *status,
                       const json_t *report)
{
    const json_t *counts = json_object_get(status, "counts");
    const json_t *project = json_object_get(status, "project");
    char span[32];
    clock_span(request->elapsed_ms, span);
    CLEANUP(str_done) Str head = STR_INIT;
    str_add_line(&head, json_text(project, "name", "otto"));
    term_add(&cli->term, &cli->out, STYLE_BOLD, str_text(&head));
    int64_t total = view_total(counts);
    int64_t turns = json_int(json_object_get(report, "turns"), "total", 0);
    str_addf(&cli->out,
             ": %" PRId64 " of %" PRId64 " task%s done; this run took %s; %" PRId64
             " turn%s since the start\n",
             json_int(counts, "done", 0), total, total == 1 ? "" : "s", span, turns,
             turns == 1 ? "" : "s");
    if (json_text(project, "paused_why", NULL)) {
        str_add(&cli->out, "  paused: ");
        str_add_line(&cli->out, json_text(project, "paused_why", ""));
        str_add_char(&cli->out, '\n');
    }
    if (json_int(project, "verify_count", 1) == 0) /* D-79 */
        str_add(&cli->out, "  warning: no verification configured, claims were believed\n");
    if (json_text(project, "deliver_note", NULL)) {
        str_add(&cli->out, "  not yet in your checkout: ");
        str_add_line(&cli->out, json_text(project, "deliver_note", ""));
        str_add_char(&cli->out, '\n');
    }
}

int summary_print(Cli *cli, const SummaryRequest *request, Err *err)
{
    CLEANUP(json_freep) json_t *status = NULL;
    CLEANUP(json_freep) json_t *report = NULL;
    if (!call_get(cli->caller, &report, err, "/api/v1/report?project=%" PRId64, request->project) ||
        !call_get(cli->caller, &status, err, "/api/v1/status?project=%" PRId64, request->project))
        return EXIT_ERR;
    const json_t *items = json_object_get(report, "items");
    const json_t *needs = json_object_get(status, "needs_you");
    int code = exit_code_of(request, items);
    if (code == EXIT_DONE && json_text(json_object_get(status, "project"), "deliver_note", NULL))
        code = EXIT_PARTLY; /* landed, but a person must make room for it in the checkout */
    if (request->is_json) {
        (void)cli_print_json(cli, report); /* never fails */
        return code;
    }
    print_head(cli, request, status, report);
    for (size_t i = 0; i < COUNT(ends); i++)
        print_state(cli, request, &ends[i], items, needs);
    print_needs(cli, needs);
    str_addf(&cli->out, "Look further: %s report, %s why ID, %s diff ID, %s logs ID\n", cli->otto,
             cli->otto, cli->otto, cli->otto);
    (void)cli_wrap(cli); /* the code says how it ended */
    return code;
}
