/* What the machine decided about a workflow becomes rows: the step with its row, the stage ledger,
 * what a finished task teaches, and hooks at a change of status. */
#include "base/log.h"
#include "core/excerpt.h"
#include "core/profile.h"
#include "engine/internal.h"
#include <stdlib.h>
#include <string.h>

const WorkflowPhase *engine_phase(const Engine *engine, const Run *run)
{
    const Workflow *flow = run_workflow(engine->machine, run);
    return &flow->phases[run->phase < flow->phase_count ? run->phase : 0];
}

const char *engine_checkpoint(const Engine *engine, const Run *run)
{
    const Workflow *flow = run_workflow(engine->machine, run);
    return flow->checkpoints[run->checkpoint < flow->checkpoint_count ? run->checkpoint : 0].name;
}

FlowMemo *memo_of(Engine *engine, RunId run)
{
    for (FlowMemo *memo = engine->memos; memo; memo = memo->next)
        if (memo->run == run)
            return memo;
    FlowMemo *memo = mem_alloc(sizeof *memo);
    memo->run = run;
    memo->next = engine->memos;
    engine->memos = memo;
    return memo;
}

static void memo_drop(Engine *engine, RunId run)
{
    for (FlowMemo **link = &engine->memos; *link; link = &(*link)->next)
        if ((*link)->run == run) {
            FlowMemo *gone = *link;
            *link = gone->next;
            free(gone);
            return;
        }
}

void memos_free(Engine *engine)
{
    while (engine->memos)
        memo_drop(engine, engine->memos->run);
}

static bool has_action(const StepRoute *route, Action action)
{
    for (size_t i = 0; i < ACTIONS_MAX && route->actions[i] != ACTION_NONE; i++)
        if (route->actions[i] == action)
            return true;
    return false;
}

/* Stages */

typedef struct StageFind {
    Arena *arena;
    uint32_t stage;
    int32_t before; /* where the last accepted stage before it ended */
    StoreStage found;
} StageFind;

static bool find_stage(void *user, const StoreStage *row)
{
    StageFind *find = user;
    if (row->stage < find->stage && text_equal(row->outcome, "accepted"))
        find->before = row->after;
    if (row->stage != find->stage)
        return true;
    find->found = *row;
    const char **texts[] = {&find->found.name,   &find->found.objective, &find->found.moves,
                            &find->found.reason, &find->found.outcome,   &find->found.cause,
                            &find->found.commit};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = arena_strdup(find->arena, *texts[i]);
    return true;
}

static StoreStage stage_of(Engine *engine, const Run *run, uint32_t stage, Arena *arena)
{
    StageFind find = {.arena = arena, .stage = stage};
    Err ignored = {0};
    IGNORE(store_stage_list(engine->store, run->task, find_stage, &find, &ignored));
    if (find.found.task && *find.found.outcome) { /* the same stage, tried another way */
        find.found.attempt++;
        find.found.started_ms = find.found.ended_ms;
    }
    if (!find.found.task)
        find.found = (StoreStage){.task = run->task,
                                  .stage = stage,
                                  .attempt = 1,
                                  .name = stage == 1 ? "first stage" : "",
                                  .objective = "",
                                  .moves = "",
                                  .reason = "",
                                  .outcome = "",
                                  .cause = "",
                                  .commit = "",
                                  .before = find.before,
                                  .started_ms = run->started_ms};
    return find.found;
}

/* The end of a stage: accepted, or rolled back with the cause, which later plans must avoid. */
static void end_stage(Engine *engine, const Run *run, const StepRoute *route, const char *why)
{
    bool is_back = text_equal(route->next, WF_ROLLBACK);
    bool is_spent = is_back && text_equal(route->status, "re-planning");
    if (!is_back && !has_action(route, ACTION_ACCEPT_STAGE))
        return;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreStage stage = stage_of(engine, run, route->stage, &arena);
    stage.outcome = is_spent ? "spent" : is_back ? "rolled-back" : "accepted";
    stage.cause = is_back ? why : "";
    stage.commit = run->commit;
    stage.before = is_back ? run->converged : stage.before;
    stage.after = MAX(run->convergence, 0);
    stage.ended_ms = engine_now(engine);
    engine_write(engine, &(Write){.kind = WRITE_STAGE, .stage = stage});
    if (is_back)
        engine_write(engine, &(Write){.kind = WRITE_EXPERIENCE_JUDGE,
                                      .experience = {.task = run->task, .quality = "invalidated"}});
}

/* Learning (B-133, B-289): one sample per task that ended well */

typedef struct Sampled {
    ProfileSample sample;
    ProfileDuration durations[PROFILE_PHASES_MAX];
    Arena *arena;
} Sampled;

static void add_duration(Sampled *all, const StoreStep *step)
{
    int64_t took = step->started_ms ? MAX(step->ended_ms - step->started_ms, 0) : 0;
    for (size_t i = 0; i < all->sample.duration_count; i++)
        if (text_equal(all->durations[i].phase, step->phase)) {
            all->durations[i].ms += took;
            return;
        }
    if (all->sample.duration_count < COUNT(all->durations))
        all->durations[all->sample.duration_count++] =
            (ProfileDuration){arena_strdup(all->arena, step->phase), took};
}

static bool sample_step(void *user, const StoreStep *step)
{
    Sampled *all = user;
    int checkpoint = judge_checkpoint_index(step->checkpoint);
    bool is_check = text_equal(step->phase, "check");
    all->sample.iterations++;
    if (is_check && checkpoint >= 0 && !judge_is_pass(step->result))
        all->sample.retries[checkpoint]++;
    all->sample.mid_checks += is_check && text_equal(step->checkpoint, "mid-exec");
    add_duration(all, step);
    return true;
}

static void learn(Engine *engine, const Run *run, const ProjectInfo *project)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText words = {0};
    StoreProfile profile = {0};
    Sampled all = {.arena = &arena};
    Err err = {0};
    all.sample.durations = all.durations;
    if (!project->settings.learn ||
        !store_task_text_get(engine->store, run->task, &arena, &words, &err) ||
        !store_step_list(engine->store, run->task, sample_step, &all, &err))
        return;
    TextList names = profile_type_names(words.type, &arena);
    const char *type = names.count ? names.items[0] : PROFILE_TYPE_DEFAULT;
    if (!store_profile_find(engine->store, project->id, type, &arena, &profile, &err))
        return;
    CLEANUP(json_freep)
    json_t *before = profile.observed && *profile.observed
                         ? json_read(profile.observed, strlen(profile.observed), NULL)
                         : NULL;
    CLEANUP(json_freep) json_t *after = profile_observe(before, &all.sample);
    char *text = json_write(after);
    engine_write(engine, &(Write){.kind = WRITE_PROFILE,
                                  .profile = {.project = project->id,
                                              .type = type,
                                              .observed = text,
                                              .updated_ms = engine_now(engine)}});
    engine_write(engine, &(Write){.kind = WRITE_EXPERIENCE_JUDGE,
                                  .experience = {.task = run->task, .quality = "verified"}});
    free(text);
}

/* Hooks: after the commit, bounded, logged, never in the way */

enum { HOOK_SAID_BYTES = 200 };

typedef struct Hook {
    Engine *engine;
    TaskId task;
    RunId run;
    char status[48];
} Hook;

/* A line of `otto why`: what went wrong changes nothing, but somebody wants to know. */
static void note_hook(const Hook *hook, const Run *run, const json_t *result, const Err *err)
{
    CLEANUP(str_done) Str why = STR_INIT;
    CLEANUP(str_done) Str said = STR_INIT;
    const char *output = result ? json_text(result, "output", "") : err->text;
    if (json_flag(result, "timed_out", false))
        str_addf(&why, "the hook for '%s' took too long", hook->status);
    else if (result)
        str_addf(&why, "the hook for '%s' ended with exit code %lld", hook->status,
                 (long long)json_int(result, "exit_code", -1));
    else
        str_addf(&why, "the hook for '%s' could not be run", hook->status);
    excerpt_add(&said, output, HOOK_SAID_BYTES);
    str_addf(&why, "%s%s; nothing else changes", said.length ? ": " : "", str_text(&said));
    engine_write(hook->engine, &(Write){.kind = WRITE_EVENT,
                                        .event = {.at_ms = engine_now(hook->engine),
                                                  .project = run->project,
                                                  .task = hook->task,
                                                  .kind = EV_NOTE,
                                                  .why = str_text(&why)}});
    hook->engine->is_urgent = true; /* it must not miss the end of a run */
}

static void on_hook_done(void *user, const json_t *result, const Err *err)
{
    Hook *hook = user;
    log_line("hook.ended task=%u status=%s exit=%lld error=\"%s\"", hook->task, hook->status,
             result ? (long long)json_int(result, "exit_code", -1) : -1, result ? "" : err->text);
    const Run *run = machine_run(hook->engine->machine, hook->run);
    if (run)
        record_put(hook->engine, run, RECORD_HOOK, hook->status,
                   result ? json_text(result, "output", "") : err->text, result);
    if (run && (!result || json_int(result, "exit_code", -1) != 0))
        note_hook(hook, run, result, err);
    free(hook);
}

static void run_hook(Engine *engine, const Run *run, const ProjectInfo *project, const char *status,
                     const char *command, const char *title)
{
    Hook *hook = mem_alloc(sizeof *hook);
    hook->engine = engine;
    hook->task = run->task;
    hook->run = run->id;
    (void)snprintf(hook->status, sizeof hook->status, "%s", status); /* a word of the table */
    char module[32];
    (void)snprintf(module, sizeof module, "task-%u", run->task); /* fits */
    json_t *in =
        json_pack("{s:s,s:s,s:I,s:{s:s,s:s,s:s,s:s,s:s}}", "command", command, "path",
                  project->path, "timeout_s", (json_int_t)project->settings.hooks.timeout_s, "env",
                  "MODULE", module, "STATUS", status, "TITLE", title ? title : "", "OTTO",
                  engine->options.program, "OTTO_STATE_DIR", engine->options.state_dir);
    job_start(engine->jobs, "hook", in, on_hook_done, hook);
}

/* Every status that it comes to, also one that it leaves in the same step. */
static void tell_hooks(Engine *engine, const Run *run, unsigned index)
{
    const Workflow *flow = run_workflow(engine->machine, run);
    const ProjectInfo *project = project_info(engine, run->project);
    FlowMemo *memo = memo_of(engine, run->id);
    if (memo->status == index + 1u || !project || !engine->options.is_online)
        return;
    bool is_first = memo->status == 0 && run->steps > 0; /* after a restart: told before */
    memo->status = (uint8_t)(index + 1);
    const char *status = flow->statuses[index].name;
    const char *own = text_map_find(&project->settings.hooks.on_status, status);
    bool is_wanted = own != NULL;
    for (unsigned i = 0; i < flow->hook_count; i++)
        is_wanted |= text_equal(flow->hooks[i].status, status);
    if (is_first || !is_wanted)
        return;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText words = {.title = ""};
    Err ignored = {0};
    IGNORE(store_task_text_get(engine->store, run->task, &arena, &words, &ignored));
    for (unsigned i = 0; i < flow->hook_count; i++)
        if (text_equal(flow->hooks[i].status, status))
            run_hook(engine, run, project, status, flow->hooks[i].command, words.title);
    if (own)
        run_hook(engine, run, project, status, own, words.title);
}

/* What a person's yes means for the rows: objectives are confirmed, checks that only a person can
 * make are made. */

typedef struct Approving {
    Engine *engine;
    TaskId task;
} Approving;

static bool approve_check(void *user, const StoreCheckpoint *check)
{
    const Approving *approving = user;
    if (text_equal(check->mode, "human"))
        engine_write(approving->engine,
                     &(Write){.kind = WRITE_CHECKPOINT_STATE,
                              .checkpoint = {.task = approving->task,
                                             .number = check->number,
                                             .state = "approved",
                                             .at_ms = engine_now(approving->engine)}});
    return true;
}

static void confirm_items(Engine *engine, TaskId task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreObjective all = {0};
    Err ignored = {0};
    if (!store_objective_get(engine->store, task, &arena, &all, &ignored) || !all.item_count)
        return;
    for (size_t i = 0; i < all.item_count; i++)
        if (!all.items[i].is_constraint && !*all.items[i].marker)
            all.items[i].marker = "confirmed";
    engine_write(engine,
                 &(Write){.kind = WRITE_OBJECTIVE, .objective = {.task = task, .all = all}});
}

static void take_approval(Engine *engine, const StepRoute *route)
{
    Approving approving = {engine, route->task};
    Err ignored = {0};
    if (!text_equal(route->result, "approved"))
        return;
    if (text_equal(route->phase, "confirm"))
        confirm_items(engine, route->task);
    else
        IGNORE(
            store_checkpoint_list(engine->store, route->task, approve_check, &approving, &ignored));
}

/* Steps */

/* Of a step that another engine may have begun: with its turn, if that went on until now. */
static int64_t began_ms(Engine *engine, const Run *run)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTurn turn = {0};
    Err ignored = {0};
    if (run->started_ms >= engine->started_ms)
        return run->started_ms;
    bool has_turn =
        store_turn_get(engine->store, run->id, run->epoch, run->turn, &arena, &turn, &ignored) &&
        (!turn.ended_ms || turn.ended_ms >= engine->started_ms);
    return has_turn ? turn.started_ms : engine->started_ms;
}

/* Time in which it waited for a person, or rested, is not time that the step took. */
void steps_before(Engine *engine, const Event *event)
{
    const Task *task = machine_task(engine->machine, event->task);
    RunId id = event->run ? event->run : task ? task->run : 0;
    const Run *run = machine_run(engine->machine, id);
    if (run && run->workflow && (run->state == RUN_ASKING || event->kind == EV_WORKSPACE_READY))
        memo_of(engine, id)->since_ms = event->at_ms;
}

static void write_step(Engine *engine, const StepRoute *route, int64_t at_ms)
{
    const Run *run = machine_run(engine->machine, route->run);
    FlowMemo *memo = memo_of(engine, route->run);
    char hash[20] = "";
    CLEANUP(str_done) Str why = STR_INIT;
    if (memo->hash)
        (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)memo->hash); /* fits */
    str_addf(&why, "%s%s%s", route->why, memo->why[0] ? ": " : "", memo->why);
    engine_write(engine, &(Write){.kind = WRITE_STEP,
                                  .step = {.task = route->task,
                                           .run = route->run,
                                           .epoch = route->epoch,
                                           .turn = route->turn,
                                           .stage = route->stage,
                                           .phase = route->phase,
                                           .checkpoint = route->checkpoint,
                                           .result = route->result,
                                           .row = route->row,
                                           .why = str_text(&why),
                                           .next = route->next,
                                           .status = route->status,
                                           .commit = run->commit,
                                           .agent = memo->agent,
                                           .prompt_hash = hash,
                                           .started_ms = memo->since_ms ? memo->since_ms
                                                                        : began_ms(engine, run),
                                           .ended_ms = at_ms}});
    end_stage(engine, run, route, str_text(&why));
    take_approval(engine, route);
    memo->since_ms = at_ms;
    memo->hash = 0;
    memo->agent[0] = memo->why[0] = '\0';
}

void steps_write(Engine *engine, const Event *event)
{
    const Step *step = &engine->step;
    const Run *run = machine_run(engine->machine, event->run);
    if (!run && event->task)
        run = machine_run(engine->machine, machine_task(engine->machine, event->task)
                                               ? machine_task(engine->machine, event->task)->run
                                               : 0);
    for (uint32_t i = 0; i < step->route_count; i++) {
        const Run *of = machine_run(engine->machine, step->routes[i].run);
        if (!of || !of->workflow)
            continue;
        int status =
            workflow_status_index(run_workflow(engine->machine, of), step->routes[i].status);
        write_step(engine, &step->routes[i], event->at_ms);
        if (status >= 0)
            tell_hooks(engine, of, (unsigned)status);
    }
    if (!run || !run->workflow)
        return;
    tell_hooks(engine, run, run->status);
    const Task *task = machine_task(engine->machine, run->task);
    const ProjectInfo *project = project_info(engine, run->project);
    if (step->route_count && task->state == TASK_DONE && project)
        learn(engine, run, project);
    if (run->state == RUN_ENDED || run->state == RUN_RETIRING)
        memo_drop(engine, run->id);
}
