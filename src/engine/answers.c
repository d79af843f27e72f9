/* Reading and judging what a turn answered. The agent's words become records; what the machine gets
 * is one result word with the numbers that the engine itself computed (EV_STEP_RESULT). */
#include "base/log.h"
#include "core/answer.h"
#include "core/convergence.h"
#include "core/excerpt.h"
#include "core/plan.h"
#include "core/refine.h"
#include "engine/internal.h"
#include "engine/judging.h"
#include "engine/turns.h"
#include "proc/watch.h"
#include <stdlib.h>
#include <string.h>

typedef struct Taking {
    LiveTurn *turn;
    Engine *engine;
    const Run *run;
    const WorkflowPhase *phase;
    Arena arena;
} Taking;

static void post_result(const Taking *take, json_t *facts)
{
    char *text = json_write(facts);
    FlowMemo *memo = memo_of(take->engine, take->run->id);
    excerpt_mark(memo->why, sizeof memo->why, json_text(facts, "why", ""));
    Event event = act_event(&take->turn->act, EV_STEP_RESULT);
    event.text = text;
    (void)engine_post(take->engine, &event); /* refused only when old */
    free(text);
    json_decref(facts);
}

static void post_word(const Taking *take, const char *result, const char *why)
{
    post_result(take, json_pack("{s:s,s:s}", "result", result, "why", why ? why : ""));
}

/* The next turn hears what was wrong with the answer of this one. */
static void tell(const Taking *take, const char *answer, const char *why)
{
    CLEANUP(str_done) Str start = STR_INIT;
    str_add_safe(&start, answer, MIN(strlen(answer), (size_t)2000), true);
    json_t *says = json_pack("{s:s,s:s}", "invalid", why, "given", str_text(&start));
    char *text = json_write(says);
    engine_write(
        take->engine,
        &(Write){.kind = WRITE_RUN_TEXT,
                 .run_text = {.run = take->run->id, .says = text, .says_kind = SAYS_INVALID}});
    free(text);
    json_decref(says);
}

/* The answer cannot be used: the agent is told why, once. */
static void refuse(const Taking *take, const char *answer, const char *why)
{
    tell(take, answer, why);
    post_word(take, "invalid", why);
}

/* exec: what was done, decided and met on the way */
static void take_result(Taking *take, const json_t *answer)
{
    json_t *notes = json_object();
    const char *const keys[] = {"decisions", "issues", "notes", "completed_steps"};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_object_get(answer, keys[i]))
            json_object_set(notes, keys[i], json_object_get(answer, keys[i]));
    const char *result = answer_result(answer, "(done)"),
               *summary = json_text(answer, "summary", "");
    record_put(take->engine, take->run, RECORD_NOTES, result, summary, notes);
    json_decref(notes);
    post_word(take, result, summary);
}

/* plan: kept whole; its checks begin as new ones, its items count as planned (A-214, B-103) */
static void save_checks(const Taking *take, const json_t *plan)
{
    size_t count;
    const PlanCheck *checks = plan_checks(plan, (Arena *)&take->arena, &count);
    StoreCheckpoint *rows = mem_alloc((count + 1) * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (StoreCheckpoint){.task = take->run->task,
                                    .number = checks[i].number,
                                    .step = checks[i].step,
                                    .name = checks[i].name,
                                    .command = checks[i].command,
                                    .mode = checks[i].mode,
                                    .state = "new",
                                    .at_ms = engine_now(take->engine)};
    engine_write(take->engine,
                 &(Write){.kind = WRITE_CHECKPOINTS,
                          .checkpoints = {.task = take->run->task, .items = rows, .count = count}});
    free(rows);
}

static void mark_items(Taking *take, const char *from, const char *to)
{
    StoreObjective all = {0};
    Err ignored = {0};
    if (!store_objective_get(take->engine->store, take->run->task, &take->arena, &all, &ignored) ||
        !all.item_count)
        return;
    for (size_t i = 0; i < all.item_count; i++)
        if (text_equal(all.items[i].marker, from))
            all.items[i].marker = to;
    engine_write(take->engine, &(Write){.kind = WRITE_OBJECTIVE,
                                        .objective = {.task = take->run->task, .all = all}});
}

/* Does the workflow have a phase that works refinements into objectives? */
static bool has_objectives(const Taking *take)
{
    const Workflow *flow = run_workflow(take->engine->machine, take->run);
    for (unsigned i = 0; i < flow->phase_count; i++)
        if (text_equal(flow->phases[i].answer, "objective"))
            return true;
    return false;
}

static void take_plan(Taking *take, const json_t *answer)
{
    CLEANUP(str_done) Str text = STR_INIT;
    PlanOptions options = {0};
    plan_markdown(answer, &options, &text);
    record_put(take->engine, take->run, RECORD_PLAN, "(generated)", str_text(&text), answer);
    save_checks(take, answer);
    mark_items(take, "confirmed", "processed");
    if (!has_objectives(take)) /* the plan itself takes up what was asked for meanwhile (B-110) */
        (void)refinements_take(take->engine, take->run, NULL, NULL); /* none may wait */
    char why[80];
    size_t steps = plan_step_count(answer);
    (void)snprintf(why, sizeof why, "a plan of %zu step%s", steps,
                   steps == 1 ? "" : "s"); /* fits */
    const char *own = answer_result(answer, "(generated)");
    post_word(take, phase_result(take->phase, own) ? own : "COMPLETE", why);
}

/* Two coverages of one requirement are no measure (B-67). What was never asked for is left alone:
 * it counts for nothing. */
static bool coverage_fits(const json_t *answer, Str *why)
{
    const json_t *list = json_object_get(answer, "coverage");
    size_t i, k;
    json_t *row, *other;
    json_array_foreach(list, i, row)
    {
        uint32_t number = 0, earlier = 0;
        (void)requirement_id_read(json_text(row, "id", ""), &number); /* answer_read looked */
        json_array_foreach(list, k, other)
        {
            (void)requirement_id_read(json_text(other, "id", ""), &earlier); /* likewise */
            if (k < i && earlier == number)
                str_addf(why, "coverage[%zu].id: R%u stands twice", i, number);
            if (k >= i || why->length)
                break;
        }
        if (why->length)
            return false;
    }
    return true;
}

static void take_review(Taking *take, const json_t *answer)
{
    CLEANUP(str_done) Str why = STR_INIT;
    if (coverage_fits(answer, &why)) {
        post_result(take, judge_review(take->engine, take->run, answer));
        return;
    }
    char *text = json_write(answer);
    refuse(take, text ? text : "", str_text(&why));
    free(text);
}

/* highlight: what was learnt, for later plans of the same type (B-79, A-226) */
static void add_list(const json_t *list, const char *title, Str *out)
{
    size_t i;
    json_t *item;
    if (json_array_size(list))
        str_addf(out, "## %s\n\n", title);
    json_array_foreach(list, i, item)
        str_addf(out, "- %s\n", json_is_string(item) ? json_string_value(item) : "");
}

static void take_notes(Taking *take, const json_t *answer)
{
    Engine *engine = take->engine;
    const Run *run = take->run;
    CLEANUP(str_done) Str text = STR_INIT;
    StoreTaskText words = {.type = ""};
    Err ignored = {0};
    IGNORE(store_task_text_get(engine->store, run->task, &take->arena, &words, &ignored));
    add_list(json_object_get(answer, "worked"), "Worked", &text);
    add_list(json_object_get(answer, "failed"), "Did not work", &text);
    add_list(json_object_get(answer, "decisions"), "Decisions", &text);
    add_list(json_object_get(answer, "tools"), "Tools", &text);
    record_put(engine, run, RECORD_EXPERIENCE, "(distilled)", str_text(&text), answer);
    const json_t *list = json_object_get(answer, "experience");
    size_t i;
    json_t *item;
    const ProjectInfo *project = project_info(engine, run->project);
    json_array_foreach(list, i, item) if (project && project->settings.learn) engine_write(
        engine, &(Write){.kind = WRITE_EXPERIENCE,
                         .experience = {.project = run->project,
                                        .task = run->task,
                                        .type = words.type && *words.type ? words.type : "software",
                                        .topic = json_text(item, "topic", ""),
                                        .text = json_text(item, "text", ""),
                                        .quality = "provisional",
                                        .at_ms = engine_now(engine)}});
    post_word(take, "(distilled)", NULL);
}

static void take_objective(Taking *take, const json_t *answer)
{
    json_t *facts = objective_take(take->engine, take->run, answer, &take->arena);
    if (facts)
        post_result(take, facts);
    else
        refuse(take, "",
               "'items' is missing, and nothing is written down yet that a stage could move");
}

typedef struct TakeRow {
    AnswerKind kind;
    bool is_required; /* without it the phase has no result */
    void (*take)(Taking *take, const json_t *answer);
} TakeRow;

static const TakeRow rows[] = {
    {ANSWER_RESULT, false, take_result}, {ANSWER_PLAN, true, take_plan},
    {ANSWER_REVIEW, true, take_review},  {ANSWER_OBJECTIVE, true, take_objective},
    {ANSWER_NOTES, false, take_notes},
};

static const TakeRow *row_of(const WorkflowPhase *phase)
{
    AnswerKind kind;
    if (!phase->answer || !*phase->answer || !answer_kind_find(phase->answer, &kind))
        return NULL;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return NULL;
}

bool answer_fits(const Engine *engine, const Run *run, const char *text, size_t length, Err *err)
{
    const TakeRow *row = run->workflow ? row_of(engine_phase(engine, run)) : NULL;
    CLEANUP(json_freep) json_t *answer = row ? answer_read(row->kind, text, length, err) : NULL;
    return !row || answer;
}

/* The answer that was left in the file OTTO_ANSWER: "" none; err says why one cannot be used. */
static const char *answer_file(Taking *take, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    char name[64];
    turn_answer_name(&take->turn->act, name);
    if (!watch_read(take->engine->path_runs, name, SIGNAL_RESULT_MAX, &text, err)) {
        if (err->kind == ERR_NOT_FOUND)
            *err = (Err){0};
        return "";
    }
    return arena_strdup(&take->arena, str_text(&text));
}

/* What the turn said: heard now, stored before a restart, or left in its file. "" none. */
static const char *answer_text(Taking *take, Err *err)
{
    StoreRecord record = {0};
    Err ignored = {0};
    if (take->turn->answer)
        return take->turn->answer;
    const Act *act = &take->turn->act;
    if (store_record_answer(take->engine->store, act->run, act->epoch, act->turn, &take->arena,
                            &record, &ignored) &&
        record.id && record.data)
        return record.data;
    return answer_file(take, err);
}

/* No answer: a signal decides, or the phase goes on. A reviewer's next turn would know nothing of
 * this one, so it is asked for its answer at once. */
static void take_silence(Taking *take, const TakeRow *row, const Err *err)
{
    const LiveTurn *turn = take->turn;
    SignalType said = turn->control ? turn->control : (SignalType)take->run->signal;
    const char *problem = err->kind != ERR_NONE ? err->text : turn->problem;
    if (said == SIGNAL_BLOCKED || said == SIGNAL_PENDING)
        return;
    if (*problem)
        refuse(take, "", problem);
    else if (row->is_required && said == SIGNAL_COMPLETE)
        refuse(take, "",
               "COMPLETE was reported, which is no answer here: this phase ends with the "
               "structured answer");
    else if (row->is_required && take->phase->kind == PHASE_AGENT)
        tell(take, "", "the last turn ended without a structured answer");
    else if (row->is_required)
        refuse(take, "", "no structured answer was given");
}

static void take_answer(Taking *take, const TakeRow *row)
{
    Err err = {0};
    const char *text = answer_text(take, &err);
    if (!*text) {
        take_silence(take, row, &err);
        return;
    }
    CLEANUP(json_freep) json_t *answer = answer_read(row->kind, text, strlen(text), &err);
    if (answer)
        row->take(take, answer);
    else
        refuse(take, text, err.text);
}

/* A phase without a shape of its own may still name its result. */
static void take_plain(Taking *take)
{
    Err ignored = {0};
    const char *text = answer_text(take, &ignored);
    CLEANUP(json_freep) json_t *answer = *text ? json_read(text, strlen(text), NULL) : NULL;
    const char *result = json_text(answer, "result", NULL);
    if (result && phase_result(take->phase, result))
        post_word(take, result, json_text(answer, "summary", ""));
}

void answer_take(LiveTurn *turn, bool is_clean_end)
{
    Taking take = {.turn = turn, .engine = turn->act.engine};
    take.run = machine_run(take.engine->machine, turn->act.run);
    if (!take.run || take.run->workflow == 0 || !is_clean_end ||
        take.run->epoch != turn->act.epoch || take.run->turn != turn->act.turn)
        return;
    take.phase = engine_phase(take.engine, take.run);
    const TakeRow *row = row_of(take.phase);
    if (row)
        take_answer(&take, row);
    else
        take_plain(&take);
    arena_done(&take.arena);
}
