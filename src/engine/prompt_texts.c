/* The blanks of a prompt about turns, the plan, and what was measured and judged. See
 * prompt_values.h. Everything here is data for the agent: the template puts it between fences. */
#include "core/plan.h"
#include "engine/prompt_values.h"
#include <inttypes.h>
#include <string.h>

/* ---- turns and checks, as in the workflow `loop` ---- */

static bool add_attempt(void *user, const StoreTurn *turn)
{
    Str *out = user;
    bool is_known = turn->signal > 0 && turn->signal < SIGNAL_TYPE_COUNT;
    str_addf(out, "turn %u (epoch %u): ", turn->turn, turn->epoch);
    if (!turn->ended_ms)
        str_add(out, "was interrupted");
    else if (turn->killed_by)
        str_addf(out, "was ended by signal %d", turn->killed_by);
    else
        str_addf(out, "exit code %d%s%s", turn->exit_code, is_known ? ", said " : "",
                 is_known ? signal_type_word((SignalType)turn->signal) : "");
    if (turn->payload && *turn->payload)
        str_addf(out, " (%.200s)", turn->payload);
    str_add_char(out, '\n');
    return true;
}

void prompt_fill_attempts(PromptFacts *facts, Str *out)
{
    Err ignored = {0};
    if (facts->is_loop && !text_equal(facts->prompt, "recovery"))
        return;
    if (facts->run->from)
        IGNORE(store_turn_list(facts->engine->store, facts->run->from, add_attempt, out, &ignored));
    IGNORE(store_turn_list(facts->engine->store, facts->run->id, add_attempt, out, &ignored));
    if (!out->length)
        str_add(out, "nothing is known");
}

void prompt_fill_checks(PromptFacts *facts, Str *out)
{
    VerifyCommand *commands = NULL;
    size_t count = 0;
    task_commands(facts->project, facts->words, &facts->arena, &commands, &count);
    for (size_t i = 0; i < count; i++)
        str_addf(out, "%s%s\n", commands[i].command, commands[i].is_required ? "" : "  (optional)");
    if (!count)
        str_add(out, "(none are configured)");
}

/* ---- the plan ---- */

typedef struct Progress {
    int64_t after; /* id of the plan */
    unsigned steps, completed;
} Progress;

/* A worker's notes say how far it came. */
static bool count_completed(void *user, const StoreRecord *record)
{
    Progress *progress = user;
    if (record->id < progress->after || !record->data)
        return true;
    CLEANUP(json_freep) json_t *answer = json_read(record->data, strlen(record->data), NULL);
    if (!json_is_object(answer))
        return true;
    json_object_set_new(answer, "result", json_string(record->result));
    progress->completed = plan_completed(answer, progress->completed, progress->steps);
    return true;
}

unsigned prompt_completed_steps(PromptFacts *facts)
{
    Err err = {0};
    Progress progress = {.after = facts->plan.id,
                         .steps = (unsigned)plan_step_count(facts->plan_data)};
    if (!store_record_list(facts->engine->store, facts->run->task, RECORD_NOTES, count_completed,
                           &progress, &err))
        prompt_facts_failed(facts, &err);
    return progress.completed;
}

void prompt_fill_plan(PromptFacts *facts, Str *out)
{
    if (!facts->plan.id)
        return;
    if (!json_is_object(facts->plan_data)) {
        str_add(out, facts->plan.text);
        return;
    }
    PlanOptions options = {.completed = prompt_completed_steps(facts)};
    plan_markdown(facts->plan_data, &options, out);
}

static bool add_plan_check(void *user, const StoreCheckpoint *check)
{
    bool is_named = *check->command && !text_equal(check->name, check->command);
    str_addf(user, "%u. step %u, %s, %s: %s%s%s\n", check->number, check->step, check->state,
             check->mode, is_named ? check->name : "", is_named ? ": " : "",
             *check->command ? check->command : check->name);
    return true;
}

void prompt_fill_plan_checks(PromptFacts *facts, Str *out)
{
    Err err = {0};
    if (!store_checkpoint_list(facts->engine->store, facts->run->task, add_plan_check, out, &err))
        prompt_facts_failed(facts, &err);
}

void prompt_fill_uncovered(PromptFacts *facts, Str *out)
{
    size_t count = facts->objective.requirement_count;
    uint32_t *numbers = arena_alloc(&facts->arena, (count + 1) * sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = facts->objective.requirements[i].number;
    TextList missing = {0};
    if (count && facts->plan_data)
        missing = plan_missing(facts->plan_data, numbers, count, &facts->arena);
    for (size_t i = 0; i < missing.count; i++)
        str_addf(out, "%s%s", i ? " " : "", missing.items[i]);
    if (!out->length)
        str_add(out, "none");
}

/* ---- checks and what was measured ---- */

static void add_finding(const json_t *finding, Str *out)
{
    const char *file = json_text(finding, "file", ""), *at = json_text(finding, "dimension", "");
    int64_t line = json_int(finding, "line", 0);
    str_addf(out, "- %s%s%s", json_text(finding, "severity", "?"), *at ? " " : "", at);
    if (*file)
        str_addf(out, " %s", file);
    if (*file && line > 0)
        str_addf(out, ":%" PRId64, line);
    str_addf(out, ": %s\n", json_text(finding, "text", ""));
}

static void add_scores(const json_t *scores, Str *out)
{
    const char *key, *between = "Scores: ";
    json_t *value;
    json_object_foreach((json_t *)scores, key, value)
    {
        str_addf(out, "%s%s %.2f", between, key, json_number_value(value));
        between = ", ";
    }
    if (json_object_size(scores))
        str_add_char(out, '\n');
}

static void add_guards(PromptFacts *facts, Str *out)
{
    StoreRecord guard = {0};
    Err err = {0};
    if (!store_record_last(facts->engine->store, facts->run->task, RECORD_GUARD, NULL,
                           &facts->arena, &guard, &err))
        prompt_facts_failed(facts, &err);
    if (guard.id > facts->plan.id && text_equal(guard.result, "fired"))
        str_addf(out, "Guards that fired:\n%s\n", guard.text);
}

void prompt_fill_findings(PromptFacts *facts, Str *out)
{
    size_t i;
    json_t *finding;
    if (!facts->check.id)
        return;
    const char *why = json_text(facts->check_data, "why", "");
    if (*why)
        str_addf(out, "%s\n", why);
    add_scores(json_object_get(facts->check_data, "scores"), out);
    json_array_foreach(json_object_get(facts->check_data, "findings"), i, finding)
        add_finding(finding, out);
    if (facts->check.text && *facts->check.text)
        str_addf(out, "%s\n", facts->check.text);
    add_guards(facts, out);
}

void prompt_fill_verify_results(PromptFacts *facts, Str *out)
{
    size_t i;
    json_t *command;
    if (!facts->verify.id)
        return;
    str_addf(out, "Result %s%s%s\n", facts->verify.result, *facts->verify.text ? ": " : "",
             facts->verify.text);
    json_array_foreach(json_object_get(facts->verify_data, "commands"), i, command)
    {
        str_addf(out, "- %s, exit code %" PRId64 ": %s", json_text(command, "state", "?"),
                 json_int(command, "exit_code", -1), json_text(command, "command", ""));
        if (!json_flag(command, "required", true))
            str_add(out, "  (optional)");
        str_add_char(out, '\n');
    }
    add_guards(facts, out);
}

static void add_outputs(const PromptFacts *facts, bool is_green, Str *out)
{
    size_t i;
    json_t *command;
    json_array_foreach(json_object_get(facts->verify_data, "commands"), i, command)
    {
        const char *output = json_text(command, "output", "");
        bool is_fine = text_equal(json_text(command, "state", ""), "green");
        if (is_fine == is_green && *output)
            str_addf(out, "$ %s\n%s%s", json_text(command, "command", ""), output,
                     text_ends(output, "\n") ? "" : "\n");
    }
}

/* The end is what stays when it is cut, so what failed comes last. */
void prompt_fill_verify_output(PromptFacts *facts, Str *out)
{
    add_outputs(facts, true, out);
    add_outputs(facts, false, out);
}

void prompt_fill_diffstat(PromptFacts *facts, Str *out)
{
    const json_t *stat = json_object_get(facts->verify_data, "diffstat");
    if (!stat) {
        str_add(out, "not measured");
        return;
    }
    static const struct {
        const char *key, *word;
    } parts[] = {{"files", "file"}, {"lines", "line"}, {"dirs", "folder"}};
    for (size_t i = 0; i < COUNT(parts); i++) {
        int64_t number = json_int(stat, parts[i].key, 0);
        str_addf(out, "%s%" PRId64 " %s%s", i ? ", " : "", number, parts[i].word,
                 number == 1 ? "" : "s");
    }
}
