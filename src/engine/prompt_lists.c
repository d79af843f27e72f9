/* The blanks of a prompt about the way so far, the objective, the stages, and what people and other
 * tasks left. See prompt_values.h. Everything here is data for the agent: the template puts it
 * between fences. */
#include "core/plan.h"
#include "engine/prompt_values.h"
#include <string.h>

enum { MOST_EXPERIENCES = 10, MOST_FEEDBACK = 10, MOST_NOTES = 20, MOST_STEPS = 100 };

/* ---- the way so far ---- */

typedef struct Lines {
    Str *out;
    size_t skip; /* so many of the oldest are left out */
    size_t seen;
} Lines;

static bool count_step(void *user, const StoreStep *step)
{
    (void)step;
    ((Lines *)user)->seen++;
    return true;
}

static bool add_step(void *user, const StoreStep *step)
{
    Lines *lines = user;
    if (lines->seen++ < lines->skip)
        return true;
    if (step->stage > 1)
        str_addf(lines->out, "stage %u ", step->stage);
    str_addf(lines->out, "%s%s%s: %s, then %s (%.200s)\n", step->phase,
             *step->checkpoint ? " at " : "", step->checkpoint, step->result, step->next,
             step->why);
    return true;
}

static void list_steps(PromptFacts *facts, size_t most, Str *out)
{
    Err err = {0};
    Lines count = {0}, lines = {.out = out};
    if (!store_step_list(facts->engine->store, facts->run->task, count_step, &count, &err))
        prompt_facts_failed(facts, &err);
    lines.skip = count.seen > most ? count.seen - most : 0;
    if (lines.skip)
        str_addf(out, "(%zu earlier steps)\n", lines.skip);
    if (!store_step_list(facts->engine->store, facts->run->task, add_step, &lines, &err))
        prompt_facts_failed(facts, &err);
}

void prompt_fill_history(PromptFacts *facts, Str *out)
{
    list_steps(facts, MOST_STEPS, out);
}

typedef struct Recent { /* the newest records of a kind, in their order */
    PromptFacts *facts;
    const char **texts;
    size_t count, most;
} Recent;

static void recent_add(Recent *recent, const char *text)
{
    if (recent->count == recent->most) {
        memmove(recent->texts, recent->texts + 1, (recent->most - 1) * sizeof *recent->texts);
        recent->count--;
    }
    recent->texts[recent->count++] = arena_strdup(&recent->facts->arena, text);
}

static void add_list(const json_t *list, const char *title, Str *out)
{
    size_t i;
    json_t *item;
    if (json_is_string(list))
        str_addf(out, "%s: %s\n", title, json_string_value(list));
    json_array_foreach(list, i, item) if (json_is_string(item))
        str_addf(out, "%s: %s\n", title, json_string_value(item));
}

static bool keep_notes(void *user, const StoreRecord *record)
{
    CLEANUP(str_done) Str text = STR_INIT;
    const char *data = record->data ? record->data : "";
    CLEANUP(json_freep) json_t *json = *data ? json_read(data, strlen(data), NULL) : NULL;
    str_addf(&text, "%s %s\n", record->result, record->text);
    add_list(json_object_get(json, "decisions"), "decided", &text);
    add_list(json_object_get(json, "issues"), "issue", &text);
    add_list(json_object_get(json, "notes"), "note", &text);
    recent_add(user, str_text(&text));
    return true;
}

static bool keep_text(void *user, const StoreRecord *record)
{
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "%s: %s%s", record->result, record->text,
             text_ends(record->text, "\n") ? "" : "\n");
    recent_add(user, str_text(&text));
    return true;
}

static void list_recent(PromptFacts *facts, RecordKind kind, size_t most, StoreRecordFn *keep,
                        Str *out)
{
    Err err = {0};
    Recent recent = {.facts = facts, .most = most};
    recent.texts = arena_alloc(&facts->arena, most * sizeof *recent.texts);
    if (!store_record_list(facts->engine->store, facts->run->task, kind, keep, &recent, &err))
        prompt_facts_failed(facts, &err);
    for (size_t i = 0; i < recent.count; i++)
        str_add(out, recent.texts[i]);
}

void prompt_fill_notes(PromptFacts *facts, Str *out)
{
    list_recent(facts, RECORD_NOTES, MOST_NOTES, keep_notes, out);
}

void prompt_fill_feedback(PromptFacts *facts, Str *out)
{
    list_recent(facts, RECORD_FEEDBACK, MOST_FEEDBACK, keep_text, out);
}

/* ---- the objective ---- */

void prompt_fill_objective(PromptFacts *facts, Str *out)
{
    for (size_t i = 0; i < facts->objective.item_count; i++) {
        const StoreItem *item = &facts->objective.items[i];
        str_addf(out, "%s %u. %s%s%s%s\n", item->is_constraint ? "constraint" : "item",
                 item->number, item->text, *item->marker ? " [" : "", item->marker,
                 *item->marker ? "]" : "");
    }
}

static void add_requirement(const StoreRequirement *r, Str *out)
{
    str_addf(out, "R%u (weight %u, coverage %.2f): %s\n    criterion: %s\n", r->number, r->weight,
             r->coverage / (double)CONVERGENCE_ONE, r->text, r->criteria);
    if (*r->reason)
        str_addf(out, "    seen: %s\n", r->reason);
}

void prompt_fill_requirements(PromptFacts *facts, Str *out)
{
    for (size_t i = 0; i < facts->objective.requirement_count; i++)
        add_requirement(&facts->objective.requirements[i], out);
}

void prompt_fill_open_requirements(PromptFacts *facts, Str *out)
{
    for (size_t i = 0; i < facts->objective.requirement_count; i++)
        if (facts->objective.requirements[i].coverage < CONVERGENCE_ONE)
            add_requirement(&facts->objective.requirements[i], out);
}

/* ---- stages ---- */

typedef struct Stages {
    const PromptFacts *facts;
    Str *out;
} Stages;

static void list_stages(PromptFacts *facts, StoreStageFn *fn, Str *out)
{
    Err err = {0};
    Stages stages = {facts, out};
    if (!store_stage_list(facts->engine->store, facts->run->task, fn, &stages, &err))
        prompt_facts_failed(facts, &err);
}

static bool add_stage(void *user, const StoreStage *stage)
{
    const Stages *stages = user;
    str_addf(stages->out, "stage %u, attempt %u, %s: %s", stage->stage, stage->attempt,
             *stage->outcome ? stage->outcome : "under way", stage->name);
    if (*stage->outcome)
        str_addf(stages->out, ", convergence %.2f to %.2f", stage->before / (double)CONVERGENCE_ONE,
                 stage->after / (double)CONVERGENCE_ONE);
    str_add_char(stages->out, '\n');
    return true;
}

void prompt_fill_stages(PromptFacts *facts, Str *out)
{
    list_stages(facts, add_stage, out);
}

static bool add_goal(void *user, const StoreStage *stage)
{
    const Stages *stages = user;
    if (stage->stage != MAX(stages->facts->run->stage, 1) || *stage->outcome)
        return true;
    str_clear(stages->out); /* the last attempt is the present one */
    str_addf(stages->out, "Stage %u: %s\n%s\nRequirements to move: %s\nWhy this: %s\n",
             stage->stage, stage->name, stage->objective, *stage->moves ? stage->moves : "all",
             stage->reason);
    return true;
}

void prompt_fill_stage_goal(PromptFacts *facts, Str *out)
{
    list_stages(facts, add_goal, out);
}

/* B-80: everything that was taken back. */
static bool add_failed(void *user, const StoreStage *stage)
{
    const Stages *stages = user;
    if (text_equal(stage->outcome, "rolled-back") || text_equal(stage->outcome, "spent"))
        str_addf(stages->out, "- %s: %s\n  because: %s\n  convergence: %.2f to %.2f\n", stage->name,
                 stage->objective, *stage->cause ? stage->cause : "not known",
                 stage->before / (double)CONVERGENCE_ONE, stage->after / (double)CONVERGENCE_ONE);
    return true;
}

void prompt_fill_failed_directions(PromptFacts *facts, Str *out)
{
    list_stages(facts, add_failed, out);
    if (!out->length)
        str_add(out, "none so far");
}

/* ---- what people, tasks and turns left ---- */

typedef struct Asked {
    bool is_planned; /* only what a plan or the objective has taken up */
    Str *out;
} Asked;

static bool add_refinement(void *user, const StoreRefinement *refinement)
{
    const Asked *asked = user;
    if (!refinement->withdrawn_ms && (refinement->applied_ms || !asked->is_planned))
        str_addf(asked->out, "- %s\n", refinement->text);
    return true;
}

void prompt_fill_refinements(PromptFacts *facts, Str *out)
{
    Err err = {0};
    /* a reviewer judges what was planned; what waits is planned after it (B-110) */
    Asked asked = {facts->phase->kind == PHASE_GATE, out};
    if (!store_refinement_list(facts->engine->store, facts->run->task, true, add_refinement, &asked,
                               &err))
        prompt_facts_failed(facts, &err);
}

static bool add_experience(void *user, const StoreExperience *experience)
{
    Lines *lines = user;
    if (text_equal(experience->quality, "invalidated"))
        return true;
    str_addf(lines->out, "- %s (%s): %s\n", experience->topic, experience->quality,
             experience->text);
    return ++lines->seen < MOST_EXPERIENCES;
}

/* Of the type itself, then of its parts: "software|docs" knows what both learnt. */
void prompt_fill_experiences(PromptFacts *facts, Str *out)
{
    Err err = {0};
    Lines lines = {.out = out};
    const char *type = facts->words->type && *facts->words->type ? facts->words->type : "software";
    const char *part = strchr(type, '|') ? type : "";
    if (!store_experience_list(facts->engine->store, facts->run->project, type, 0, add_experience,
                               &lines, &err))
        prompt_facts_failed(facts, &err);
    while (*part && lines.seen < MOST_EXPERIENCES) {
        size_t length = strcspn(part, "|");
        const char *one = arena_strndup(&facts->arena, part, length);
        if (!store_experience_list(facts->engine->store, facts->run->project, one, 0,
                                   add_experience, &lines, &err))
            prompt_facts_failed(facts, &err);
        part += length + (part[length] == '|');
    }
}

static bool add_discovery(void *user, const StoreDiscovery *discovery)
{
    str_addf(user, "- %s\n", discovery->text);
    return true;
}

void prompt_fill_discoveries(PromptFacts *facts, Str *out)
{
    Err err = {0};
    if (!store_discovery_list(facts->engine->store, facts->run->project, facts->run->task,
                              add_discovery, out, &err))
        prompt_facts_failed(facts, &err);
}

/* Where the task stands (B-189): for a conversation that knows nothing of what was before. */
void prompt_fill_recovery_header(PromptFacts *facts, Str *out)
{
    enum { LAST_STEPS = 5 };
    CLEANUP(str_done) Str steps = STR_INIT;
    list_steps(facts, LAST_STEPS, &steps);
    bool is_new = !steps.length && facts->run->turn <= 1 && !facts->run->from;
    if (!facts->is_message && (prompt_remembers(facts) || is_new))
        return;
    str_addf(out, "Task %u: %s\nWorkflow %s, status %s, phase %s", facts->run->task,
             facts->words->title, facts->flow->name, facts->flow->statuses[facts->run->status].name,
             facts->phase->name);
    if (*facts->checkpoint)
        str_addf(out, " at %s", facts->checkpoint);
    str_addf(out, ", stage %u\n", MAX(facts->run->stage, 1u));
    if (facts->text->branch && *facts->text->branch)
        str_addf(out, "Branch: %s\n", facts->text->branch);
    if (facts->run->commit[0])
        str_addf(out, "Last saved commit: %.12s\n", facts->run->commit);
    if (facts->plan_data)
        str_addf(out, "Plan: %u of %zu steps reported as done\n", prompt_completed_steps(facts),
                 plan_step_count(facts->plan_data));
    if (steps.length)
        str_addf(out, "Last steps:\n%s", str_text(&steps));
}
