/* The page docs/workflows.md, made from the tables: see workflow_graph.h. */
#include "core/answer.h"
#include "core/types.h"
#include "core/workflow_file.h"
#include "core/workflow_graph.h"
#include <string.h>

/* Text of others stays inside its cell. */
static void add_cell(Str *out, const char *text)
{
    str_add(out, "| ");
    for (; text && *text; text++) {
        if (*text == '|' || *text == '*' || *text == '_' || *text == '<' || *text == '`')
            str_add_char(out, '\\');
        str_add_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
    }
    str_add_char(out, ' ');
}

/* The words for anything, none and unchanged, as a reader says them. */
static void add_match(Str *out, const char *word)
{
    add_cell(out, !strcmp(word, WF_ANY) ? "" : !*word ? "none" : word);
}

static void add_set(Str *out, const char *word)
{
    add_cell(out, !word || !strcmp(word, WF_KEEP) ? "" : !*word ? "none" : word);
}

static void add_row_end(Str *out)
{
    str_add(out, "|\n");
}

static void add_head(Str *out, const char *title, const char *columns)
{
    unsigned count = 0;
    str_addf(out, "%s\n\n%s\n", title, columns);
    for (const char *at = columns; *at; at++)
        count += *at == '|';
    str_add_char(out, '|');
    for (unsigned i = 1; i < count; i++)
        str_add(out, "---|");
    str_add_char(out, '\n');
}

static void add_phases(const Workflow *flow, Str *out)
{
    add_head(out, "#### Phases", "| phase | kind | prompt | tier | conversation | answer | what |");
    for (unsigned i = 0; i < flow->phase_count; i++) {
        const WorkflowPhase *phase = &flow->phases[i];
        bool has_agent =
            phase->kind == PHASE_AGENT || phase->kind == PHASE_GATE || phase->kind == PHASE_OBSERVE;
        add_cell(out, phase->name);
        add_cell(out, phase_kind_word(phase->kind));
        add_cell(out, phase->prompt);
        add_cell(out, phase->tier);
        add_cell(out, !has_agent ? "" : phase->is_fresh ? "fresh" : "goes on");
        add_cell(out, phase->answer);
        add_cell(out, phase->help);
        add_row_end(out);
    }
}

static void add_statuses(const Workflow *flow, Str *out)
{
    add_head(out, "\n#### Statuses", "| status | task, when a run rests here | rank | meaning |");
    for (unsigned i = 0; i < flow->status_count; i++) {
        const WorkflowStatus *status = &flow->statuses[i];
        bool has_ends = status->ends && *status->ends;
        add_cell(out, status->name);
        add_cell(out, has_ends ? status->ends : status->name);
        str_add(out, "| ");
        if (status->rank)
            str_add_int(out, status->rank);
        str_add_char(out, ' ');
        add_cell(out, status->help);
        add_row_end(out);
    }
}

static void add_limits(const Workflow *flow, Str *out)
{
    add_head(out, "\n#### Limits", "| counter | limit | what |");
    for (unsigned i = 0; i < flow->limit_count; i++) {
        add_cell(out, flow->limits[i].name);
        str_addf(out, "| %lld ", (long long)flow->limits[i].fallback);
        add_cell(out, flow->limits[i].help);
        add_row_end(out);
    }
    if (flow->threshold_count == 0)
        return;
    add_head(out, "\n#### Thresholds", "| checkpoint | overall that is needed |");
    for (unsigned i = 0; i < flow->threshold_count; i++)
        str_addf(out, "| %s | %.2f |\n", flow->thresholds[i].checkpoint, flow->thresholds[i].value);
}

static void add_entries(const Workflow *flow, Str *out)
{
    add_head(out, "\n#### Where a task starts",
             "| row | status | sub-state | only if | next | checkpoint | why |");
    for (unsigned i = 0; i < flow->entry_count; i++) {
        const WorkflowEntry *row = &flow->entries[i];
        add_cell(out, row->id);
        add_match(out, row->status);
        add_match(out, row->substate);
        add_cell(out, row->guard);
        add_cell(out, row->next);
        add_set(out, row->checkpoint);
        add_cell(out, row->why);
        add_row_end(out);
    }
}

static void add_actions(const Action *actions, Str *out)
{
    str_add(out, "| ");
    for (unsigned i = 0; i < ACTIONS_MAX && actions[i] != ACTION_NONE; i++)
        str_addf(out, "%s%s", i ? ", " : "", action_word(actions[i]));
    str_add_char(out, ' ');
}

static void add_routes(const Workflow *flow, Str *out)
{
    add_head(out,
             "\n#### Where results lead\n\nThe first row that fits decides. An empty cell fits "
             "everything, or changes nothing.",
             "| row | phase | at | result | status | only if | next | at | status then | sub-state "
             "| task | effects | why |");
    for (unsigned i = 0; i < flow->route_count; i++) {
        const WorkflowRoute *row = &flow->routes[i];
        add_cell(out, row->id);
        add_match(out, row->phase);
        add_match(out, row->checkpoint);
        add_match(out, row->result);
        add_match(out, row->status);
        add_cell(out, row->guard);
        add_cell(out, row->next);
        add_set(out, row->to_checkpoint);
        add_set(out, row->to_status);
        add_cell(out, strcmp(row->to_substate, WF_KEEP) ? row->to_substate : "");
        add_cell(out, row->ends);
        add_actions(row->actions, out);
        add_cell(out, row->why);
        add_row_end(out);
    }
}

static void add_commands(const Workflow *flow, Str *out)
{
    add_head(
        out, "\n#### What a person may do",
        "| row | command | status | at | result | only if | answer | status then | sub-state | "
        "next | why |");
    for (unsigned i = 0; i < flow->transition_count; i++) {
        const WorkflowCommand *row = &flow->transitions[i];
        add_cell(out, row->id);
        add_cell(out, row->command);
        add_match(out, row->status);
        add_match(out, row->checkpoint);
        add_match(out, row->result);
        add_cell(out, row->guard);
        add_cell(out, row->is_allowed ? "allowed" : "refused");
        add_set(out, row->to_status);
        add_cell(out, strcmp(row->to_substate, WF_KEEP) ? row->to_substate : "");
        add_cell(out, row->next);
        add_cell(out, row->why);
        add_row_end(out);
    }
}

void workflow_markdown(const Workflow *workflow, Str *out)
{
    str_addf(out, "\n### `%s`\n\n%s.\n\n![phases of %s](workflow-%s.svg)\n\n", workflow->name,
             workflow->help, workflow->name, workflow->name);
    add_phases(workflow, out);
    add_statuses(workflow, out);
    add_limits(workflow, out);
    add_entries(workflow, out);
    add_routes(workflow, out);
    if (workflow->transition_count)
        add_commands(workflow, out);
}

/* Words of the format */

static void add_words(Str *out)
{
    const char *help;
    add_head(out, "\n### Kinds of phases", "| kind | what | results |");
#define X(kind, word, text)                                                                        \
    str_addf(out, "| `%s` | %s | %s |\n", word, text, workflow_results(kind));
    PHASE_KINDS(X)
#undef X
    add_head(out, "\n### Guards", "| guard | holds when |");
    for (size_t i = 0; guard_name(i, &help); i++)
        str_addf(out, "| `%s` | %s |\n", guard_name(i, NULL), help);
    add_head(out, "\n### Effects", "| effect | meaning |");
    for (unsigned i = 1; i < ACTION_COUNT; i++)
        str_addf(out, "| `%s` | %s |\n", action_word((Action)i), action_help((Action)i));
}

void workflow_page(Str *out)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    str_add(
        out,
        "# Workflows\n\n"
        "A workflow is a table: phases, and where each result of a phase leads. One interpreter "
        "reads them all; the built-in ones below and your own are the same data. `otto workflow "
        "list` names them, `show` prints one as a definition, `check FILE` looks for mistakes, "
        "`graph` draws, `new NAME` writes a file to begin with.\n\n"
        "## Your own\n\n"
        "Put YAML files into `.otto/workflows/` or `workflows/` of the repository, or into "
        "`otto/workflows/` of your configuration folder. A file with the name of a built-in "
        "workflow takes its place. This is a whole one:\n\n```yaml\n");
    workflow_template("second-look", out);
    str_add(
        out,
        "```\n\n"
        "A phase leads on to the next one in the file when it went well; after the last one the "
        "task is done. `routes` says where other results lead: to a phase, or to a state in which "
        "the run stops (`done`, `blocked`, `failed`, `timeout`, `skipped`). A way back is limited "
        "by "
        "the turns. Everything that is not said is as in `loop`: statuses, commands, limits, what "
        "follows from a killed agent, a timeout, a merge conflict or a question, and a person's "
        "approval before the merge where the settings ask for it.\n\n"
        "| key | what |\n|---|---|\n"
        "| `name` | of the workflow; required |\n"
        "| `help` | one line about it |\n"
        "| `extends` | a built-in workflow to begin with. Rows with the id of one of its rows take "
        "its place, other rows come first; short routes replace all its rows for that result; "
        "limits, thresholds and words replace by name |\n"
        "| `phases` | a map: `kind`, `prompt` (a file of `.otto/prompts` or a built-in one), "
        "`tier` "
        "(`heavy`, `medium`, `light`), `fresh` (a new conversation), `answer` (the shape that is "
        "asked for), `results` (more words that it may end with), `checkpoint` (at which it is "
        "entered; `post-exec` for gates), `status` (while it runs), `help` |\n"
        "| `routes` | a map `phase: {result: next}`, where next may be a map with the keys of a "
        "row; "
        "or a list of rows with `phase`, `checkpoint`, `result`, `status`, `guard` to match and "
        "`next`, `to_checkpoint`, `to_status`, `to_substate`, `ends`, `effects`, `why`, `id` to "
        "set. "
        "The first row that fits decides. `*` fits everything, `''` only none; `=` keeps |\n"
        "| `limits` | a map of counters and numbers, or of `{value, retry, help}` |\n"
        "| `thresholds` | a map of checkpoints and the overall score that is needed, 0 to 1 |\n"
        "| `hooks` | a map of statuses and commands that run when a task gets there (10 s at most; "
        "a failure is logged and changes nothing) |\n"
        "| `statuses` | a map of `{ends, rank, final, help}`: own statuses instead of the states "
        "of "
        "tasks; `ends` is the state of the task when a run rests there |\n"
        "| `first_status` | of a new task; the first one |\n"
        "| `checkpoints`, `commands` | maps of words and what they mean |\n"
        "| `entries` | rows with `status`, `substate`, `guard` to match and `next`, `checkpoint`, "
        "`to_status`, `to_substate`, `ends`, `effects`, `why`, `id` to set; else every status "
        "begins "
        "with the first phase |\n"
        "| `transitions` | rows with `command`, `status`, `checkpoint`, `result`, `guard` to match "
        "and `allowed`, `to_status`, `to_substate`, `next`, `effects`, `why`, `id` to set |\n\n"
        "Unknown keys and words are refused with their place in the file. The schema for editors "
        "is "
        "[workflow.schema.json](workflow.schema.json). `otto workflow check` also finds phases "
        "that "
        "nothing leads to, results that lead nowhere, rows that never decide and circles without a "
        "limit.\n");
    add_words(out);
    str_add(out, "\n## Built in\n");
    for (size_t i = 0; i < count; i++)
        workflow_markdown(all[i], out);
}
