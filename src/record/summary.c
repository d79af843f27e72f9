/* The task's summary: the recovery source after a loss of context (A-105, B-189). Every list has
 * its own bound, and together they stay below RECORD_SUMMARY_LINES. */
#include "record/parts.h"
#include "record/plain.h"
#include <assert.h>
#include <string.h>

enum {
    LINE_MAX_BYTES = 240,
    PLAN_LINES = 40,
    STATE_LINES = 20,
    LIST_LINES = 20, /* of decisions, issues, lessons, requirements */
};
static_assert(40 + PLAN_LINES + STATE_LINES + 4 * LIST_LINES < RECORD_SUMMARY_LINES,
              "headings and lists together");

typedef struct Summary {
    Past *past;
    Str *out;
    size_t left; /* lines that the present list may still have */
} Summary;

static void add_escaped(Summary *summary, const char *text)
{
    markdown_escape(summary->out, plain_line(&summary->past->arena, text, LINE_MAX_BYTES),
                    MARKDOWN_INSIDE);
}

static void header_line(Summary *summary, const char *name, const char *text)
{
    str_addf(summary->out, "> - %s: ", name);
    add_escaped(summary, *text ? text : "none");
    str_add_char(summary->out, '\n');
}

/* What to read first, by layout. */
static const char *what_to_read(Past *past, RecordLayout layout)
{
    unsigned id = past->task.id;
    switch (layout) {
    case RECORD_LAYOUT_A:
        return "`.index.json` (status), this file, `.target.md`, `.plan.md`, then the newest file "
               "in `.analysis/`, `.bugfix/` and `.test/`";
    case RECORD_LAYOUT_B:
        return "`.status.json` (status, stage), this file, `.target.md`, "
               "`.convergence-baseline.md`, `.plan.md`, then the newest file in `.analysis/`, "
               "`.bugfix/` and `.test/`";
    case RECORD_LAYOUT_OTTO:
        break;
    }
    return arena_printf(&past->arena,
                        "this text, then `otto show %u`, `otto target %u` and `otto report %u`", id,
                        id, id);
}

static void recovery_header(Summary *summary, RecordLayout layout)
{
    Past *past = summary->past;
    Arena *arena = &past->arena;
    str_add(summary->out, "> **Recovery header**\n");
    str_addf(summary->out, "> - Read: %s\n", what_to_read(past, layout));
    header_line(summary, "Task",
                arena_printf(arena, "#%u %s (%s)", past->task.id, past->text.title, past->name));
    header_line(summary, "Status", past->status);
    header_line(
        summary, "Phase",
        arena_printf(arena, "%s%s%s", past->phase, *past->checkpoint ? " " : "", past->checkpoint));
    header_line(summary, "Next step", past->next);
    header_line(summary, "Branch", past->branch);
}

static void head(Summary *summary, const char *name, size_t lines)
{
    str_addf(summary->out, "\n## %s\n\n", name);
    summary->left = lines;
}

static void marked_item(Summary *summary, const char *mark, const char *text)
{
    if (!text || !*plain_line(&summary->past->arena, text, LINE_MAX_BYTES))
        return;
    if (summary->left == 1)
        str_add(summary->out, "- (more in the report)\n");
    if (summary->left)
        summary->left--;
    if (!summary->left)
        return;
    str_addf(summary->out, "- %s", mark);
    add_escaped(summary, text);
    str_add_char(summary->out, '\n');
}

static void item(Summary *summary, const char *text)
{
    marked_item(summary, "", text);
}

static void none(Summary *summary, size_t lines)
{
    if (summary->left == lines)
        str_add(summary->out, "None.\n");
}

static void plan_overview(Summary *summary)
{
    Past *past = summary->past;
    const StoreRecord *plan = past_last(past, RECORD_PLAN);
    CLEANUP(json_freep) json_t *data = past_data(plan);
    size_t i;
    json_t *step;
    head(summary, "Plan overview", PLAN_LINES);
    item(summary, json_text(data, "summary", ""));
    json_array_foreach(json_object_get(data, "steps"), i, step)
    {
        const char *covers = json_words(&past->arena, json_object_get(step, "covers"));
        marked_item(summary, i < past->completed_steps ? "[x] " : "[ ] ",
                    arena_printf(&past->arena, "step %zu: %s%s%s%s", i + 1,
                                 json_text(step, "title", ""), *covers ? " (covers " : "", covers,
                                 *covers ? ")" : ""));
    }
    if (plan && !data)
        item(summary, plan->text);
    none(summary, PLAN_LINES);
}

static size_t count_checks(const Past *past, const char *state)
{
    size_t count = 0;
    for (size_t i = 0; i < past->checks.count; i++)
        count += !strcmp(past->checks.rows[i].state, state);
    return count;
}

static void colours_item(Summary *summary)
{
    Past *past = summary->past;
    if (past->checks.count)
        item(summary, arena_printf(&past->arena,
                                   "plan checks: %zu of %zu green, %zu red, %zu broken, "
                                   "%zu regressed",
                                   count_checks(past, "green") + count_checks(past, "approved"),
                                   past->checks.count, count_checks(past, "red"),
                                   count_checks(past, "broken"), count_checks(past, "regressed")));
}

static void stage_items(Summary *summary)
{
    Past *past = summary->past;
    const StoreStage *now = past->stages.count ? &past->stages.rows[past->stages.count - 1] : NULL;
    const StoreRecord *convergence = past_last(past, RECORD_CONVERGENCE);
    if (now)
        item(summary, arena_printf(&past->arena, "stage %u, try %u, %s: %s, moves %s", now->stage,
                                   now->attempt, *now->outcome ? now->outcome : "under way",
                                   now->name, *now->moves ? now->moves : "nothing named"));
    if (convergence)
        item(summary,
             arena_printf(&past->arena, "convergence %s", convergence_line(past, convergence)));
}

static void state_list(Summary *summary)
{
    Past *past = summary->past;
    const StoreRecord *check = past_last(past, RECORD_CHECK);
    const StoreRecord *verify = past_last(past, RECORD_VERIFY);
    const StoreStep *last = past->steps.count ? &past->steps.rows[past->steps.count - 1] : NULL;
    head(summary, "Current state", STATE_LINES);
    item(summary, past->facts.why);
    if (last)
        item(summary, arena_printf(&past->arena, "last step: %s %s → %s (%s: %s)",
                                   past_step_name(past, last), last->result, last->next, last->row,
                                   last->why));
    if (check)
        item(summary, arena_printf(&past->arena, "last check: %s", check_line(past, check)));
    if (verify)
        item(summary,
             arena_printf(&past->arena, "last verify: %s %s", verify->checkpoint, verify->result));
    colours_item(summary);
    stage_items(summary);
    for (size_t i = 0; i < past->refinements.count; i++)
        if (!past->refinements.rows[i].applied_ms && !past->refinements.rows[i].withdrawn_ms)
            item(summary, arena_printf(&past->arena, "refinement waits: %s",
                                       past->refinements.rows[i].text));
    none(summary, STATE_LINES);
}

static void requirement_list(Summary *summary)
{
    Past *past = summary->past;
    if (!past->objective.requirement_count)
        return;
    head(summary, "Requirements", LIST_LINES);
    for (size_t i = 0; i < past->objective.requirement_count; i++) {
        const StoreRequirement *row = &past->objective.requirements[i];
        item(summary, arena_printf(&past->arena, "R%u %s: %s", row->number,
                                   plain_part(&past->arena, row->coverage), row->text));
    }
}

/* The newest first: what was said last matters most. */
static void notes_list(Summary *summary, const char *key)
{
    Past *past = summary->past;
    for (size_t i = past->records.count; i--;) {
        const StoreRecord *record = &past->records.rows[i];
        CLEANUP(json_freep) json_t *data = record->kind == RECORD_NOTES ? past_data(record) : NULL;
        size_t at;
        json_t *text;
        json_array_foreach(json_object_get(data, key), at, text)
            item(summary, json_string_value(text));
    }
}

static void issue_list(Summary *summary)
{
    Past *past = summary->past;
    CLEANUP(json_freep) json_t *data = past_data(past_last(past, RECORD_CHECK));
    size_t at;
    json_t *finding;
    head(summary, "Known issues", LIST_LINES);
    for (size_t i = 0; i < past->notices.count; i++)
        if (!past->notices.rows[i].closed_ms)
            item(summary, past->notices.rows[i].text);
    json_array_foreach(json_object_get(data, "findings"), at, finding)
        item(summary, arena_printf(&past->arena, "%s %s: %s", json_text(finding, "severity", ""),
                                   json_text(finding, "file", ""), json_text(finding, "text", "")));
    notes_list(summary, "issues");
    none(summary, LIST_LINES);
}

static void lesson_list(Summary *summary)
{
    Past *past = summary->past;
    head(summary, "Lessons learned", LIST_LINES);
    for (size_t i = 0; i < past->stages.count; i++) {
        const StoreStage *stage = &past->stages.rows[i];
        if (*stage->outcome && strcmp(stage->outcome, "accepted") != 0)
            item(summary, arena_printf(&past->arena, "not again: %s (%s)", stage->name,
                                       *stage->cause ? stage->cause : stage->outcome));
    }
    for (size_t i = 0; i < past->experiences.count; i++)
        item(summary, arena_printf(&past->arena, "%s: %s", past->experiences.rows[i].topic,
                                   past->experiences.rows[i].text));
    none(summary, LIST_LINES);
}

static void progress_line(Summary *summary)
{
    Past *past = summary->past;
    CLEANUP(json_freep) json_t *data = past_data(past_last(past, RECORD_PLAN));
    str_add(summary->out, "\n# ");
    add_escaped(summary, past->text.title);
    str_add(summary->out, "\n\nStatus ");
    add_escaped(summary, past->status);
    str_add(summary->out, ", phase ");
    add_escaped(summary, *past->phase ? past->phase : "none");
    str_addf(summary->out, ", %u of %zu steps done", past->completed_steps,
             json_array_size(json_object_get(data, "steps")));
    if (past->stage)
        str_addf(summary->out, ", stage %u", past->stage);
    str_add(summary->out, ".\n");
}

void summary_write(Past *past, RecordLayout layout, Str *out)
{
    Summary summary = {past, out, 0};
    recovery_header(&summary, layout);
    progress_line(&summary);
    plan_overview(&summary);
    state_list(&summary);
    requirement_list(&summary);
    head(&summary, "Key decisions", LIST_LINES);
    notes_list(&summary, "decisions");
    none(&summary, LIST_LINES);
    issue_list(&summary);
    lesson_list(&summary);
}

bool record_summary(Store *store, TaskId task, const RecordFacts *facts, RecordLayout layout,
                    Str *out, Err *err)
{
    CLEANUP(past_done) Past past;
    if (!past_load(&past, store, task, facts, err))
        return false;
    summary_write(&past, layout, out);
    return true;
}
