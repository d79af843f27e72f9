/* Objectives: what the target phase answered becomes items, requirements and the stage's direction
 * (B-21, B-35..B-37, B-99..B-104). */
#include "core/convergence.h"
#include "core/refine.h"
#include "core/target.h"
#include "engine/judging.h"
#include <string.h>

typedef struct Building {
    StoreObjective all;
    const StoreObjective *old;
    Arena *arena;
} Building;

/* A requirement that stays keeps what was measured for it (B-75). */
static void keep_coverage(const Building *building, StoreRequirement *row)
{
    for (size_t i = 0; i < building->old->requirement_count; i++) {
        const StoreRequirement *old = &building->old->requirements[i];
        if (text_equal(old->text, row->text)) {
            row->coverage = old->coverage;
            row->previous = old->previous;
            row->reason = old->reason;
            row->source = old->source;
            return;
        }
    }
}

static void add_requirement(Building *building, const json_t *json, uint32_t item)
{
    double weight = 2;
    (void)weight_read(json_object_get(json, "weight"), &weight); /* checked by answer_read */
    StoreRequirement *row = &building->all.requirements[building->all.requirement_count++];
    *row = (StoreRequirement){.number = (uint32_t)building->all.requirement_count,
                              .item = item,
                              .text = json_text(json, "text", ""),
                              .criteria = json_text(json, "criteria", ""),
                              .weight = (uint32_t)weight,
                              .reason = "",
                              .source = "agent"};
    keep_coverage(building, row);
}

static void add_item(Building *building, const char *text, const char *marker, bool is_constraint,
                     uint32_t stage)
{
    building->all.items[building->all.item_count] =
        (StoreItem){.number = (uint32_t)building->all.item_count + 1,
                    .is_constraint = is_constraint,
                    .text = text,
                    .marker = marker,
                    .stage = stage};
    building->all.item_count++;
}

static size_t count_requirements(const json_t *items)
{
    size_t count = 0, i;
    json_t *item;
    json_array_foreach(items, i, item) count +=
        json_array_size(json_object_get(item, "requirements"));
    return count;
}

static void build(Building *building, const json_t *answer, uint32_t stage, bool is_confirmed)
{
    const json_t *items = json_object_get(answer, "items");
    const json_t *bounds = json_object_get(answer, "constraints");
    size_t room = json_array_size(items) + json_array_size(bounds), i, k;
    json_t *item, *requirement;
    building->all.items = arena_alloc(building->arena, (room + 1) * sizeof(StoreItem));
    building->all.requirements =
        arena_alloc(building->arena, (count_requirements(items) + 1) * sizeof(StoreRequirement));
    json_array_foreach(items, i, item)
    {
        bool is_vague = text_equal(json_text(item, "marker", ""), "pending");
        add_item(building, json_text(item, "text", ""),
                 is_vague       ? "pending"
                 : is_confirmed ? "confirmed"
                                : "",
                 false, stage);
        json_array_foreach(json_object_get(item, "requirements"), k, requirement)
            add_requirement(building, requirement, (uint32_t)building->all.item_count);
    }
    json_array_foreach(bounds, i, item)
        add_item(building, json_is_string(item) ? json_string_value(item) : "", "", true, stage);
}

/* "R1 R4" of a list. */
static const char *joined(const json_t *list, Arena *arena)
{
    CLEANUP(str_done) Str out = STR_INIT;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        str_addf(&out, "%s%s", i ? " " : "", json_is_string(item) ? json_string_value(item) : "");
    return arena_strdup(arena, str_text(&out));
}

static void save_stage(Engine *engine, const Run *run, const json_t *stage, uint32_t number,
                       Arena *arena)
{
    const char *differs = json_text(stage, "differs", "");
    const char *reason = arena_printf(arena, "%s%s%s", json_text(stage, "reason", ""),
                                      *differs ? "\nDiffers from what failed: " : "", differs);
    engine_write(engine, &(Write){.kind = WRITE_STAGE,
                                  .stage = {.task = run->task,
                                            .stage = number,
                                            .attempt = 1,
                                            .name = json_text(stage, "name", ""),
                                            .objective = json_text(stage, "objective", ""),
                                            .moves = joined(json_object_get(stage, "moves"), arena),
                                            .reason = reason,
                                            .outcome = "",
                                            .cause = "",
                                            .commit = "",
                                            .before = run->converged,
                                            .after = 0,
                                            .started_ms = engine_now(engine)}});
}

/* Requirements that the answer changed: how much of the work they touch (B-111..B-114). */
static Impact change_of(const StoreObjective *old, const StoreObjective *all, Str *touches)
{
    uint32_t weights[300];
    size_t count = 0;
    for (size_t i = 0; i < all->requirement_count && count < COUNT(weights); i++) {
        bool is_known = false;
        for (size_t k = 0; k < old->requirement_count && !is_known; k++)
            is_known = text_equal(old->requirements[k].text, all->requirements[i].text) &&
                       text_equal(old->requirements[k].criteria, all->requirements[i].criteria);
        if (is_known)
            continue;
        weights[count++] = all->requirements[i].weight;
        str_addf(touches, "%sR%u", touches->length ? " " : "", all->requirements[i].number);
    }
    bool has_less = all->requirement_count < old->requirement_count;
    return refine_impact(weights, count, has_less);
}

/* Does the answer say anything else than what was written down? */
static bool is_other(const StoreObjective *old, const StoreObjective *all)
{
    bool is_same =
        old->item_count == all->item_count && old->requirement_count == all->requirement_count;
    for (size_t i = 0; is_same && i < all->item_count; i++)
        is_same = text_equal(old->items[i].text, all->items[i].text) &&
                  old->items[i].is_constraint == all->items[i].is_constraint;
    for (size_t i = 0; is_same && i < all->requirement_count; i++) {
        const StoreRequirement *a = &old->requirements[i], *b = &all->requirements[i];
        is_same = text_equal(a->text, b->text) && text_equal(a->criteria, b->criteria) &&
                  a->weight == b->weight;
    }
    return !is_same;
}

/* Did one come after the turn had got its prompt? */
typedef struct Late {
    int64_t since_ms;
    bool is_found;
} Late;

static bool find_late(void *user, const StoreRefinement *refinement)
{
    Late *late = user;
    late->is_found |= refinement->at_ms > late->since_ms;
    return !late->is_found;
}

static bool add_asked(void *user, const StoreRefinement *refinement)
{
    str_addf(user, "\n- %s", refinement->text);
    return true;
}

/* What a person asked for was heard, and nothing that is written down is different for it: the
 * person is told, for nobody else will notice that it came to nothing. */
static void tell_unchanged(Engine *engine, const Run *run, const char *asked)
{
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "what was asked for changed nothing in the objective:%s", asked);
    notice_put(engine, run->task, run->id, run->project, "refined", str_text(&text));
    engine_write(engine, &(Write){.kind = WRITE_EVENT,
                                  .event = {.at_ms = engine_now(engine),
                                            .project = run->project,
                                            .task = run->task,
                                            .kind = EV_NOTE,
                                            .why = str_text(&text)}});
}

bool refinements_take(Engine *engine, const Run *run, const char *impact, const char *touches)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTurn turn = {0};
    Err ignored = {0};
    if (!machine_task(engine->machine, run->task)->is_refined)
        return false;
    Late late = {.since_ms = INT64_MAX};
    if (store_turn_get(engine->store, run->id, run->epoch, run->turn, &arena, &turn, &ignored))
        late.since_ms = turn.started_ms;
    IGNORE(store_refinement_list(engine->store, run->task, false, find_late, &late, &ignored));
    if (late.is_found)
        return false; /* it was not heard yet: all of them are taken with it, the next time */
    Event event = {
        .kind = EV_REFINED, .project = run->project, .task = run->task, .a = 0, .text = impact};
    engine_write(engine, &(Write){.kind = WRITE_REFINEMENT_APPLY,
                                  .refinement = {.task = run->task,
                                                 .impact = impact,
                                                 .touches = touches,
                                                 .at_ms = engine_now(engine)}});
    (void)engine_post(engine, &event); /* the task exists */
    return true;
}

/* true: they came to nothing. */
static bool take_refinements(Engine *engine, const Run *run, const StoreObjective *old,
                             const StoreObjective *all, Impact impact, const char *touches)
{
    CLEANUP(str_done) Str asked = STR_INIT;
    bool is_changed = is_other(old, all);
    Err ignored = {0};
    IGNORE(store_refinement_list(engine->store, run->task, false, add_asked, &asked, &ignored));
    bool is_lost = refinements_take(engine, run,
                                    refine_row(is_changed ? impact : IMPACT_NONE)->word, touches) &&
                   !is_changed;
    if (is_lost)
        tell_unchanged(engine, run, str_text(&asked));
    return is_lost;
}

static const char *status_now(const Engine *engine, const Run *run)
{
    return machine_status_word(engine->machine, machine_task(engine->machine, run->task));
}

/* While it is being built, how much a change touches says what follows (B-111..B-114). */
static const char *const at_work[IMPACT_COUNT] = {[IMPACT_NONE] = "(refined-none)",
                                                  [IMPACT_MINOR] = "(refined-minor)",
                                                  [IMPACT_MODERATE] = "(refined-moderate)",
                                                  [IMPACT_MAJOR] = "(refined)"};

json_t *objective_take(Engine *engine, const Run *run, const json_t *answer, Arena *arena)
{
    const Task *task = machine_task(engine->machine, run->task);
    const json_t *stage = json_object_get(answer, "stage");
    StoreObjective old = {0};
    Err ignored = {0};
    CLEANUP(str_done) Str touches = STR_INIT;
    IGNORE(store_objective_get(engine->store, run->task, arena, &old, &ignored));
    Building building = {.old = &old, .arena = arena, .all = old};
    bool is_advance = text_equal(status_now(engine, run), "evolving") && stage;
    bool is_at_work = text_equal(status_now(engine, run), "executing");
    Impact impact = is_at_work ? IMPACT_NONE : IMPACT_MAJOR;
    if (json_flag(answer, "exhausted", false) && !stage)
        return json_pack("{s:s,s:s}", "result", "(exhausted)", "why",
                         "no direction is left that was not tried");
    if (!json_array_size(json_object_get(answer, "items")) && !old.item_count)
        return NULL;
    if (json_array_size(json_object_get(answer, "items"))) {
        building.all = (StoreObjective){0};
        build(&building, answer, run->stage, task->is_confirmed);
        impact = change_of(&old, &building.all, &touches);
        engine_write(engine, &(Write){.kind = WRITE_OBJECTIVE,
                                      .objective = {.task = run->task, .all = building.all}});
    }
    if (stage)
        save_stage(engine, run, stage, run->stage + (is_advance ? 1u : 0u), arena);
    bool is_lost = take_refinements(engine, run, &old, &building.all, impact, str_text(&touches));
    size_t items = building.all.item_count, requirements = building.all.requirement_count;
    char why[200];
    (void)snprintf(why, sizeof why, "%s%zu item%s, %zu requirement%s%s%s",
                   is_lost ? "what was asked for changed nothing; " : "", items,
                   items == 1 ? "" : "s", requirements, requirements == 1 ? "" : "s",
                   stage ? "; stage: " : "", json_text(stage, "name", "")); /* cut is fine */
    const char *result = is_advance   ? "(stage-advanced)"
                         : is_at_work ? at_work[impact]
                                      : "(refined)";
    return json_pack("{s:s,s:s}", "result", result, "why", why);
}

void objective_question(Engine *engine, TaskId task, Str *out)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreObjective all = {0};
    StoreTaskText words = {.title = ""};
    Err ignored = {0};
    IGNORE(store_objective_get(engine->store, task, &arena, &all, &ignored));
    IGNORE(store_task_text_get(engine->store, task, &arena, &words, &ignored));
    Target target = {arena_alloc(&arena, (all.item_count + 1) * sizeof(TargetItem)), all.item_count,
                     arena_alloc(&arena, (all.requirement_count + 1) * sizeof(TargetRequirement)),
                     all.requirement_count};
    for (size_t i = 0; i < all.item_count; i++)
        target.items[i] = (TargetItem){all.items[i].number, all.items[i].is_constraint,
                                       all.items[i].text, all.items[i].marker};
    for (size_t i = 0; i < all.requirement_count; i++) {
        const StoreRequirement *r = &all.requirements[i];
        target.requirements[i] =
            (TargetRequirement){r->number, r->item, r->text, r->criteria, r->weight};
    }
    target_confirmation(&target, words.title, task, out);
}
