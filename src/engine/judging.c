/* Judging: see judging.h. */
#include "engine/judging.h"
#include "core/green.h"
#include "core/judge.h"
#include "core/plan.h"
#include "core/profile.h"
#include <stdlib.h>
#include <string.h>

static json_t *parsed(const char *text)
{
    return text && *text ? json_read(text, strlen(text), NULL) : NULL;
}

/* ---- profiles ---- */

/* What otto.yaml says beats what was stored for the type. */
static json_t *settings_over(const ProjectInfo *project, json_t *stored)
{
    json_t *all = stored ? stored : json_object();
    const Settings *s = &project->settings;
    const struct {
        const char *group, *key;
        double value;
    } rows[] = {
        {"thresholds", "post-plan", s->thresholds.post_plan},
        {"thresholds", "mid-exec", s->thresholds.mid_exec},
        {"thresholds", "post-exec", s->thresholds.post_exec},
        {"retries", "post-plan", (double)s->retries.post_plan},
        {"retries", "mid-exec", (double)s->retries.mid_exec},
        {"retries", "post-exec", (double)s->retries.post_exec},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].value < 0)
            continue;
        json_t *group = json_object_get(all, rows[i].group);
        if (!json_is_object(group)) {
            group = json_object();
            json_object_set_new(all, rows[i].group, group);
        }
        json_object_set_new(group, rows[i].key, json_real(rows[i].value));
    }
    return all;
}

void profile_of(Engine *engine, const Run *run, Arena *arena, Profile *profile)
{
    const ProjectInfo *project = project_info(engine, run->project);
    StoreTaskText words = {.type = ""};
    StoreProfile stored = {0};
    Err ignored = {0};
    IGNORE(store_task_text_get(engine->store, run->task, arena, &words, &ignored));
    TextList names = profile_type_names(words.type, arena);
    for (size_t i = 0; i < names.count && !stored.updated_ms; i++)
        IGNORE(store_profile_find(engine->store, run->project, names.items[i], arena, &stored,
                                  &ignored));
    json_t *settings = settings_over(project, parsed(stored.settings));
    CLEANUP(json_freep)
    json_t *observed = project->settings.learn ? parsed(stored.observed) : NULL;
    ProfileInput input = {.type = words.type,
                          .settings = settings,
                          .observed = observed,
                          .workflow = run_workflow(engine->machine, run)};
    profile_resolve(&input, profile);
    json_decref(settings);
}

/* ---- evidence ---- */

typedef struct Evidence {
    JudgeInput in;
    StoreObjective objective;
    json_t *plan, *verify, *guards;
    Arena *arena;
    unsigned rounds;
    bool has_limit, has_checks; /* the workflow has a phase that verifies */
} Evidence;

typedef struct Names {
    const char **items;
    size_t count;
} Names;

static void names_add(Names *names, Arena *arena, const char *text)
{
    enum { MOST = 64 };
    if (!names->items)
        names->items = arena_alloc(arena, MOST * sizeof *names->items);
    if (names->count < MOST)
        names->items[names->count++] = arena_strdup(arena, text);
}

static JudgeNames given(const Names *names)
{
    return (JudgeNames){names->items, names->count};
}

static JudgeNames listed(TextList list)
{
    return (JudgeNames){(const char *const *)list.items, list.count};
}

json_t *record_data(Engine *engine, const Run *run, RecordKind kind, const char *checkpoint,
                    Arena *arena)
{
    StoreRecord record = {0}, plan = {0};
    Err ignored = {0};
    if (!store_record_last(engine->store, run->task, kind, checkpoint, arena, &record, &ignored) ||
        !record.id)
        return NULL;
    if (kind != RECORD_PLAN && record.run != run->id)
        IGNORE(
            store_record_last(engine->store, run->task, RECORD_PLAN, NULL, arena, &plan, &ignored));
    return record.id > plan.id ? parsed(record.data) : NULL;
}

static bool has_verify(const Workflow *flow)
{
    for (unsigned i = 0; i < flow->phase_count; i++)
        if (flow->phases[i].kind == PHASE_VERIFY)
            return true;
    return false;
}

/* What the engine measured just before (verify.c). */
static void add_verify(Evidence *e)
{
    Names broken = {0}, regressed = {0};
    const char *result = json_text(e->verify, "result", "");
    size_t i;
    json_t *row;
    e->in.verify = text_equal(result, "(pass)")      ? OUTCOME_PASS
                   : text_equal(result, "(partial)") ? OUTCOME_PARTIAL
                   : text_equal(result, "(fail)")    ? OUTCOME_FAIL
                                                     : OUTCOME_NONE;
    if (!e->verify && !e->has_checks)
        e->in.verify = OUTCOME_PARTIAL; /* the workflow has none that could be run */
    e->in.verify_why = json_text(e->verify, "why", "");
    json_array_foreach(json_object_get(e->verify, "commands"), i, row)
    {
        const char *state = json_text(row, "state", ""), *name = json_text(row, "name", "?");
        if (text_equal(state, "broken"))
            names_add(&broken, e->arena, name);
        if (text_equal(state, "regressed"))
            names_add(&regressed, e->arena, name);
    }
    e->in.broken = given(&broken);
    e->in.regressed = given(&regressed);
    const json_t *stat = json_object_get(e->verify, "diffstat");
    e->rounds = (unsigned)json_int(stat, "rounds", AUDIT_ROUNDS_ALONE);
}

/* Checks that only a person can make (B-202) hold the work up like a guard. */
typedef struct Human {
    Names *names;
    Arena *arena;
} Human;

static bool add_human(void *user, const StoreCheckpoint *row)
{
    const Human *human = user;
    if (text_equal(row->mode, "human") && !text_equal(row->state, "approved"))
        names_add(human->names, human->arena,
                  arena_printf(human->arena, "a person must look: %s", row->name));
    return true;
}

static void add_guards(Evidence *e, Engine *engine, const Run *run)
{
    Names fired = {0};
    Human human = {&fired, e->arena};
    Err ignored = {0};
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(e->guards, "guards"), i, row)
        names_add(&fired, e->arena, json_text(row, "why", "a guard fired"));
    if (text_equal(e->in.checkpoint, "post-exec"))
        IGNORE(store_checkpoint_list(engine->store, run->task, add_human, &human, &ignored));
    e->in.guards = given(&fired);
}

/* The direction of this stage: "R1 R4"; "" all that is open. */
typedef struct Direction {
    uint32_t stage;
    Arena *arena;
    const char *moves;
} Direction;

static bool find_direction(void *user, const StoreStage *row)
{
    Direction *direction = user;
    if (row->stage == direction->stage)
        direction->moves = arena_strdup(direction->arena, row->moves);
    return true;
}

static bool is_moved(const char *moves, uint32_t number)
{
    char word[16];
    for (size_t i = 0; word_at(moves, i, word, sizeof word); i++) {
        uint32_t moved;
        if (requirement_id_read(word, &moved) && moved == number)
            return true;
    }
    return false;
}

/* B-62: what the plan must cover is what the stage is to move, or else all that is open. */
static void add_plan(Evidence *e, Engine *engine, const Run *run)
{
    Direction direction = {.stage = run->stage, .arena = e->arena, .moves = ""};
    size_t most = e->objective.requirement_count, count = 0;
    uint32_t *required = arena_alloc(e->arena, (most + 1) * sizeof *required);
    Err ignored = {0};
    if (!e->plan || !text_equal(e->in.checkpoint, "post-plan"))
        return;
    IGNORE(store_stage_list(engine->store, run->task, find_direction, &direction, &ignored));
    for (size_t i = 0; i < most; i++) {
        const StoreRequirement *r = &e->objective.requirements[i];
        bool is_wanted =
            *direction.moves ? is_moved(direction.moves, r->number) : r->coverage < CONVERGENCE_ONE;
        if (is_wanted)
            required[count++] = r->number;
    }
    e->in.missing = listed(plan_missing(e->plan, required, count, e->arena));
    e->in.unsafe = listed(plan_unsafe(e->plan, e->arena));
}

static void add_findings(Evidence *e, const json_t *answer)
{
    Names high = {0};
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "findings"), i,
                       row) if (text_equal(json_text(row, "severity", ""), "HIGH"))
        names_add(&high, e->arena, json_text(row, "text", "?"));
    e->in.high = given(&high);
}

/* The checks of the plan with what the reviewer said about those that only a reader can judge. */
typedef struct Checks {
    Evidence *e;
    Engine *engine;
    const Run *run;
    const json_t *answers;
    GreenCheck items[512];
    size_t count;
    Names refused, early;
} Checks;

/* B-198: the reviewer's yes or no is the colour; nobody else has one for it. */
static CheckState inspected(const Checks *all, const StoreCheckpoint *row, CheckState state)
{
    const char *said =
        json_text(all->answers, row->name, json_text(all->answers, row->command, ""));
    Colour colour;
    if (text_equal(all->e->in.checkpoint, "post-plan") || !text_equal(row->mode, "inspectable") ||
        !green_inspected(said, &colour))
        return state;
    const GreenRow *move = green_step(GREEN_WORK, state, colour);
    check_moved(all->engine, all->run, row->number, row->name, move);
    return move->to;
}

static bool add_check(void *user, const StoreCheckpoint *row)
{
    Checks *all = user;
    CheckState state = CHECK_NEW;
    bool is_read = text_equal(row->mode, "inspectable"), is_human = text_equal(row->mode, "human");
    (void)check_state_find(row->state, &state); /* unknown: new */
    state = inspected(all, row, state);
    if (state == CHECK_EARLY)
        names_add(&all->early, all->e->arena, row->name);
    if (is_read && (state == CHECK_RED || state == CHECK_REGRESSED))
        names_add(&all->refused, all->e->arena, row->name);
    if (all->count < COUNT(all->items))
        all->items[all->count++] = (GreenCheck){row->step,
                                                is_human  ? "human"
                                                : is_read ? "inspectable"
                                                          : "executable",
                                                state};
    return true;
}

static void add_checks(Evidence *e, Engine *engine, const Run *run, const json_t *answer)
{
    Checks all = {
        .e = e, .engine = engine, .run = run, .answers = json_object_get(answer, "answers")};
    Err ignored = {0};
    IGNORE(store_checkpoint_list(engine->store, run->task, add_check, &all, &ignored));
    e->in.refused = given(&all.refused);
    e->in.early = given(&all.early);
    if (text_equal(e->in.checkpoint, "post-exec") && all.count)
        e->in.discipline = green_discipline(all.items, all.count, 0);
}

/* ---- convergence ---- */

static int32_t in_parts(double value)
{
    return (int32_t)(value * CONVERGENCE_ONE + 0.5);
}

static void take_coverage(StoreObjective *all, const json_t *answer)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "coverage"), i, row)
    {
        uint32_t number = 0;
        if (!requirement_id_read(json_text(row, "id", ""), &number))
            continue;
        for (size_t k = 0; k < all->requirement_count; k++)
            if (all->requirements[k].number == number) {
                all->requirements[k].coverage =
                    in_parts(CLAMP(json_number_value(json_object_get(row, "coverage")), 0.0, 1.0));
                all->requirements[k].reason = json_text(row, "reason", "");
            }
    }
}

static double objective_value(const StoreObjective *all, Arena *arena)
{
    Requirement *list = arena_alloc(arena, (all->requirement_count + 1) * sizeof *list);
    for (size_t i = 0; i < all->requirement_count; i++)
        list[i] =
            (Requirement){.id = "R",
                          .weight = all->requirements[i].weight,
                          .coverage = (double)all->requirements[i].coverage / CONVERGENCE_ONE};
    return convergence_value(list, all->requirement_count);
}

static json_t *parts_json(const StoreObjective *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->requirement_count; i++) {
        const StoreRequirement *r = &all->requirements[i];
        char id[16];
        (void)snprintf(id, sizeof id, "R%u", r->number); /* fits */
        json_array_append_new(list,
                              json_pack("{s:s,s:i,s:f,s:f,s:s}", "id", id, "weight", (int)r->weight,
                                        "previous", (double)r->previous / CONVERGENCE_ONE,
                                        "current", (double)r->coverage / CONVERGENCE_ONE, "reason",
                                        r->reason ? r->reason : ""));
    }
    return list;
}

static void add_convergence(Evidence *e, Engine *engine, const Run *run, const json_t *answer)
{
    const ProjectInfo *project = project_info(engine, run->project);
    ConvergencePolicy policy = POLICY_ALLOW_EQUAL;
    (void)convergence_policy_find(project->settings.convergence.policy, &policy); /* a word */
    take_coverage(&e->objective, answer);
    bool is_end = text_equal(e->in.checkpoint, "post-exec");
    e->in.convergence =
        (ConvergenceInput){.has_requirements = is_end && e->objective.requirement_count > 0,
                           .value = objective_value(&e->objective, e->arena),
                           .previous = (double)run->converged / CONVERGENCE_ONE,
                           .policy = policy};
}

/* The measured coverage is kept; what was accepted becomes the next stage's measure. */
static void save_coverage(const Evidence *e, Engine *engine, const Run *run, const char *result)
{
    if (!e->in.convergence.has_requirements)
        return;
    const ConvergenceRow *row = convergence_judge(&e->in.convergence);
    CLEANUP(json_freep)
    json_t *data = json_pack("{s:f,s:f,s:f,s:s,s:o}", "previous", e->in.convergence.previous,
                             "current", e->in.convergence.value, "delta",
                             e->in.convergence.value - e->in.convergence.previous, "verdict",
                             convergence_verdict_word(row->verdict), "requirements",
                             parts_json(&e->objective));
    record_put(engine, run, RECORD_CONVERGENCE, result, row->why, data);
    bool is_accepted = text_equal(result, "ACCEPT");
    for (size_t i = 0; is_accepted && i < e->objective.requirement_count; i++)
        e->objective.requirements[i].previous = e->objective.requirements[i].coverage;
    engine_write(engine, &(Write){.kind = WRITE_OBJECTIVE,
                                  .objective = {.task = run->task, .all = e->objective}});
}

/* ---- standstill ---- */

typedef struct Standstill {
    int64_t since_ms; /* of this run: a person who lets it go on gives it as many again */
    unsigned equal;   /* accepted stages in a row without a gain */
} Standstill;

static bool count_equal(void *user, const StoreStage *stage)
{
    Standstill *still = user;
    if (stage->ended_ms < still->since_ms || !text_equal(stage->outcome, "accepted"))
        return true;
    still->equal = stage->after > stage->before ? 0 : still->equal + 1;
    return true;
}

/* Stage after stage passes and none moves a requirement: that would go on to the last stage. */
static bool is_stalled(const Evidence *e, Engine *engine, const Run *run, const char *result)
{
    const WorkflowLimit *limit = workflow_limit(run_workflow(engine->machine, run), "equal-stages");
    const ConvergenceInput *now = &e->in.convergence;
    Standstill still = {.since_ms = run->started_ms};
    Err ignored = {0};
    if (!limit || !phase_has_result(engine_phase(engine, run), "STALLED") ||
        !text_equal(result, "ACCEPT") ||
        (now->has_requirements && (now->value > now->previous + NUMBERS_NEAR ||
                                   now->value >= CONVERGENCE_SATISFIED - NUMBERS_NEAR)))
        return false;
    IGNORE(store_stage_list(engine->store, run->task, count_equal, &still, &ignored));
    return still.equal + 1 >= (uint64_t)limit->fallback;
}

/* ---- the check ---- */

static json_t *floors_json(const Judgement *judgement)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < judgement->floor_count; i++)
        json_array_append_new(list, json_string(dimensions()[judgement->floors[i]].key));
    return list;
}

static json_t *names_json(JudgeNames names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names.count; i++)
        json_array_append_new(list, json_string(names.items[i]));
    return list;
}

static void save_check(const Evidence *e, Engine *engine, const Run *run, const json_t *answer,
                       const Judgement *judgement)
{
    json_t *data =
        json_pack("{s:O?,s:f,s:f,s:o,s:s,s:s,s:s,s:O?,s:s,s:i,s:o,s:{s:i,s:i}}", "scores",
                  json_object_get(answer, "scores"), "overall", judgement->overall, "threshold",
                  judgement->threshold, "floors", floors_json(judgement), "verdict",
                  judgement->result, "row", judgement->row, "why", judgement->why, "findings",
                  json_object_get(answer, "findings"), "summary", json_text(answer, "summary", ""),
                  "rounds", (int)e->rounds, "missing", names_json(e->in.missing), "retries", "used",
                  (int)gate_tries_of(run, run->checkpoint), "limit", (int)judgement->retries);
    record_put(engine, run, RECORD_CHECK, judgement->result, json_text(answer, "summary", ""),
               data);
    json_decref(data);
}

static void gather(Evidence *e, Engine *engine, const Run *run, const json_t *answer)
{
    Profile profile;
    Err ignored = {0};
    profile_of(engine, run, e->arena, &profile);
    e->in = (JudgeInput)JUDGE_INPUT_INIT;
    e->in.checkpoint = engine_checkpoint(engine, run);
    e->in.threshold = profile_threshold(&profile, e->in.checkpoint);
    e->in.retries = (int)profile_retries(&profile, e->in.checkpoint);
    const ProfileValue *retries =
        &profile.values[PROFILE_RETRIES + judge_checkpoint_index(e->in.checkpoint)];
    e->has_limit = retries->from == PROFILE_FROM_SETTING ||
                   workflow_limit(run_workflow(engine->machine, run), e->in.checkpoint);
    Scores *weights = arena_alloc(e->arena, sizeof *weights);
    *weights = profile_weights(&profile);
    e->in.weights = weights;
    e->in.stage = run->stage;
    e->in.verdict = json_text(answer, "verdict", "");
    scores_read(json_object_get(answer, "scores"), &e->in.scores);
    IGNORE(store_objective_get(engine->store, run->task, e->arena, &e->objective, &ignored));
    e->plan = record_data(engine, run, RECORD_PLAN, NULL, e->arena);
    e->verify = record_data(engine, run, RECORD_VERIFY, e->in.checkpoint, e->arena);
    e->guards = record_data(engine, run, RECORD_GUARD, e->in.checkpoint, e->arena);
    e->has_checks = has_verify(run_workflow(engine->machine, run));
    add_verify(e);
    add_guards(e, engine, run);
    add_plan(e, engine, run);
    add_findings(e, answer);
    add_checks(e, engine, run, answer);
    add_convergence(e, engine, run, answer);
}

json_t *judge_review(Engine *engine, const Run *run, const json_t *answer)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Evidence e = {.arena = &arena};
    Judgement judgement;
    const char *checkpoint = engine_checkpoint(engine, run);
    if (judge_checkpoint_index(checkpoint) < 0)
        return json_pack("{s:s,s:s}", "result", "error", "why",
                         "this checkpoint has no rules for a review");
    gather(&e, engine, run, answer);
    judge_check(&e.in, &judgement);
    save_coverage(&e, engine, run, judgement.result);
    save_check(&e, engine, run, answer, &judgement);
    CLEANUP(str_done) Str why = STR_INIT;
    bool is_end = text_equal(judgement.result, "ACCEPT") || text_equal(judgement.result, "GUARDED");
    bool is_verified = e.in.verify == OUTCOME_PASS;
    bool has_stalled = is_stalled(&e, engine, run, judgement.result);
    bool is_wanted =
        is_end && review_is_wanted(engine, run, is_verified, (unsigned)e.in.guards.count, &why);
    json_t *facts = json_pack("{s:s,s:s,s:b}", "result", has_stalled ? "STALLED" : judgement.result,
                              "why", judgement.why, "review", is_wanted);
    if (e.has_limit) /* the lifecycle limits its steps only, unless somebody asked for more */
        json_object_set_new(facts, "limit", json_integer((int)judgement.retries));
    if (e.in.convergence.has_requirements)
        json_object_set_new(facts, "convergence", json_integer(in_parts(e.in.convergence.value)));
    json_decref(e.plan);
    json_decref(e.verify);
    json_decref(e.guards);
    return facts;
}
