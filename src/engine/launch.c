/* Beginning a turn: which agent, which prompt, which folder; or finding the turn that an earlier
 * engine began. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/observe.h"
#include "engine/prompts.h"
#include "engine/turns.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

const AgentSettings *phase_agent(ProjectInfo *project, const WorkflowPhase *phase,
                                 const StoreTaskText *task, Err *err)
{
    const char *name = task->agent && *task->agent ? task->agent : project->agent_flag;
    if (phase && phase->kind == PHASE_GATE && project->settings.reviewer)
        name = project->settings.reviewer;
    return settings_agent(&project->settings, name, err);
}

/* Names of this run; they live as long as the launch. */
typedef struct RunNames {
    char tag[SECRET_TEXT], token[SECRET_TEXT], mark[SECRET_TEXT];
} RunNames;

static void fill_names(const Engine *engine, const Run *run, RunNames *names)
{
    secret_tag(engine, run->id, names->tag);
    secret_token(engine, run->id, run->epoch, names->token);
    secret_mark(engine, run->id, run->epoch, names->mark);
}

static void fill_turn(const Engine *engine, const Run *run, const Task *task,
                      const ProjectInfo *project, const StoreTaskText *words,
                      const StoreRunText *text, const RunNames *names, AgentTurn *turn)
{
    *turn = (AgentTurn){
        .task_id = run->task,
        .run_id = run->id,
        .epoch = run->epoch,
        .turn = run->turn,
        .attempt = MAX(task->attempts, 1u),
        .task_title = words->title,
        .task_key = words->key,
        .workspace =
            text->workspace_path && *text->workspace_path ? text->workspace_path : project->path,
        .project_root = project->path,
        .program = engine->options.program,
        .socket = engine->path_socket,
        .token = names->token,
        .signal_tag = names->tag,
        .mark = names->mark,
        .checkpoint = run->checkpoint ? engine_checkpoint(engine, run) : NULL,
        .phase = engine_phase(engine, run)->name,
        .stage = run->workflow ? run->stage : 0,
        .tries = run->checkpoint ? MAX(run->conflict_tries, 1u) : 0,
        .target_ref = run->old_tip[0] ? run->old_tip : NULL,
        .base_env = (const char *const *)environ,
    };
}

static bool start_keeper(LiveTurn *turn, const AgentLaunch *launch, const char *cwd, Err *err)
{
    Engine *engine = turn->act.engine;
    const ProjectInfo *project = project_info(engine, turn->act.project);
    char name[48], prompt[PATH_MAX];
    turn_name(&turn->act, name);
    (void)snprintf(prompt, sizeof prompt, "%s/%s.prompt", engine->path_runs, name); /* short */
    const char *text = launch->stdin_text;
    if (text && !file_write_plain(prompt, text, strlen(text), 0600, err))
        return false;
    KeepSpec spec = {
        .keeper = engine->options.keeper,
        .folder = engine->path_runs,
        .name = name,
        .argv = launch->argv,
        .envp = launch->env,
        .cwd = cwd,
        .stdin_path = text ? prompt : NULL,
        .journal_limit_bytes = (project->settings.limits.max_output_mb + 1) * 1024 * 1024,
        .grace_ms = (int)(project->settings.stop.grace_s * 1000),
    };
    turn->keep = keep_start(engine->loop, &spec, &turn_keep_calls, turn, err);
    return turn->keep != NULL;
}

/* Texts are absent for a run without a workspace of its own. */
static bool run_text_find(Engine *engine, RunId run, Arena *arena, StoreRunText *text, Err *err)
{
    *text = (StoreRunText){.run = run};
    if (store_run_text_get(engine->store, run, arena, text, err))
        return true;
    return err->kind == ERR_NOT_FOUND;
}

static void note_start(const LiveTurn *turn, const Run *run, uint64_t hash)
{
    Engine *engine = turn->act.engine;
    char hex[20];
    if (run->workflow) {
        FlowMemo *memo = memo_of(engine, run->id);
        memo->hash = hash;
        memo->why[0] = '\0'; /* of an answer that is asked for again */
        (void)snprintf(memo->agent, sizeof memo->agent, "%s", turn->agent); /* the same size */
    }
    (void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)hash); /* always fits */
    engine_write(turn->act.engine, &(Write){.kind = WRITE_TURN_START,
                                            .turn = {.run = run->id,
                                                     .epoch = run->epoch,
                                                     .turn = run->turn,
                                                     .started_ms = engine_now(turn->act.engine),
                                                     .prompt_hash = hex,
                                                     .phase = engine_phase(engine, run)->name,
                                                     .checkpoint = engine_checkpoint(engine, run),
                                                     .agent = turn->agent}});
}

/* D-62: the tag's name may be fixed by the agent's settings. */
static void use_own_tag(LiveTurn *turn, const AgentSettings *agent, char tag[SECRET_TEXT])
{
    if (!agent || !agent->signal_tag || !signal_tag_is_valid(agent->signal_tag))
        return;
    (void)snprintf(tag, SECRET_TEXT, "%s", agent->signal_tag); /* cut would match nothing */
    signal_scanner_done(&turn->scanner);
    signal_scanner_init(&turn->scanner, agent->signal_tag, turn_signal_found, turn);
}

/* What a person said after the run before this one had ended (an answer, a note with a retry). */
typedef struct LastWords {
    RunId before;
    Arena *arena;
    StoreRunText *text;
} LastWords;

static bool take_words(void *user, const Run *run, const StoreRunText *text)
{
    const LastWords *last = user;
    bool is_said = text->says_kind == SAYS_ANSWER || text->says_kind == SAYS_NOTE;
    if (run->id < last->before) { /* oldest first: the run just before stays */
        last->text->says = is_said ? arena_strdup(last->arena, text->says) : NULL;
        last->text->says_kind = is_said ? text->says_kind : SAYS_NONE;
    }
    return true;
}

static bool words_find(Engine *engine, const Run *run, Arena *arena, StoreRunText *text, Err *err)
{
    LastWords last = {.before = run->id, .arena = arena, .text = text};
    bool is_first = run->turn == 1 && !(text->says && *text->says);
    return !is_first || store_run_list(engine->store, run->task, take_words, &last, err);
}

static void words_clear(Engine *engine, RunId run)
{
    engine_write(engine, &(Write){.kind = WRITE_RUN_TEXT,
                                  .run_text = {.run = run, .says = "", .says_kind = SAYS_NONE}});
}

/* How often this phase was worked on, for scenarios and prompts. */
typedef struct Visits {
    Engine *engine;
    const char *phase, *checkpoint;
    int64_t all, here;
} Visits;

static bool count_turn(void *user, const StoreTurn *turn)
{
    Visits *visits = user;
    if (!text_equal(turn->phase, visits->phase))
        return true;
    visits->all++;
    visits->here += text_equal(turn->checkpoint, visits->checkpoint);
    return true;
}

static bool count_run(void *user, const Run *run, const StoreRunText *text)
{
    Visits *visits = user;
    Err ignored = {0};
    (void)text;
    IGNORE(store_turn_list(visits->engine->store, run->id, count_turn, visits, &ignored));
    return true;
}

static void fill_visits(Engine *engine, const Run *run, AgentTurn *turn)
{
    Visits visits = {engine, turn->phase, engine_checkpoint(engine, run), 0, 0};
    Err ignored = {0};
    if (!run->workflow)
        return; /* the loop goes by turns */
    IGNORE(store_run_list(engine->store, run->task, count_run, &visits, &ignored));
    turn->visit = visits.all + 1;
    turn->visit_checkpoint = visits.here + 1;
}

/* Everything a launch needs; lives as long as it. */
typedef struct Launch {
    LiveTurn *turn;
    const Run *run;
    const Task *task;
    const WorkflowPhase *phase;
    ProjectInfo *project;
    Arena arena;
    StoreTaskText words;
    StoreRunText text;
    RunNames names;
    AgentTurn agent;
    Str prompt;
    char folder[PATH_MAX]; /* of a self-driving session */
    char answer[PATH_MAX]; /* file for the structured answer */
} Launch;

static void launch_done(Launch *launch)
{
    arena_done(&launch->arena);
    str_done(&launch->prompt);
}

static bool launch_open(Launch *launch, LiveTurn *turn, Err *err)
{
    Engine *engine = turn->act.engine;
    launch->turn = turn;
    launch->run = machine_run(engine->machine, turn->act.run);
    launch->task = machine_task(engine->machine, turn->act.task);
    launch->project = project_info(engine, turn->act.project);
    launch->phase = engine_phase(engine, launch->run);
    return store_task_text_get(engine->store, turn->act.task, &launch->arena, &launch->words,
                               err) &&
           run_text_find(engine, turn->act.run, &launch->arena, &launch->text, err) &&
           words_find(engine, launch->run, &launch->arena, &launch->text, err);
}

static void observation_spec(const Launch *launch, ObservationSpec *spec)
{
    Engine *engine = launch->turn->act.engine;
    const Settings *s = &launch->project->settings;
    const Project *project = machine_project(engine->machine, launch->run->project);
    *spec = (ObservationSpec){
        .act = launch->turn->act,
        .protocol = observe_protocol_of(run_workflow(engine->machine, launch->run)),
        .workspace = launch->text.workspace_path && *launch->text.workspace_path
                         ? launch->text.workspace_path
                         : launch->project->path,
        .key = launch->words.key,
        .title = launch->words.title,
        .body = launch->words.body,
        .type = launch->words.type,
        .branch = launch->text.branch,
        .status = machine_status_word(engine->machine, launch->task),
        .limits = observe_limits_default(),
        .spent_ms = launch->run->spent_ms,
        .stop = (StopWish)launch->run->stop};
    const Workflow *flow = run_workflow(engine->machine, launch->run);
    spec->limits.max_iterations = workflow_limit_or(flow, "steps", project->limits.max_steps);
    spec->limits.timeout_ms = launch->task->timeout_ms
                                  ? launch->task->timeout_ms
                                  : workflow_limit_or(flow, "time-ms", project->limits.timeout_ms);
    spec->limits.grace_ms = s->observe.grace_s * 1000;
}

static void on_grace_over(void *user, const char *why)
{
    LiveTurn *turn = user;
    const ProjectInfo *project = project_info(turn->act.engine, turn->act.project);
    log_line("observe.grace run=%u why=\"%s\"", turn->act.run, why);
    keep_stop(turn->keep, (int)((project ? project->settings.stop.grace_s : 10) * 1000));
}

static const ObservationCalls observation_calls = {on_grace_over};

static bool observe(Launch *launch, bool is_attached, Err *err)
{
    ObservationSpec spec;
    if (launch->phase->kind != PHASE_OBSERVE)
        return true;
    observation_spec(launch, &spec);
    spec.is_attached = is_attached;
    launch->turn->observation = observation_start(&spec, &observation_calls, launch->turn, err);
    return launch->turn->observation != NULL;
}

/* Outside the checkout: a file in there would count as work. */
static void offer_answer(Launch *launch)
{
    char name[64];
    const char *shape = launch->phase->answer;
    if (!launch->run->workflow || !shape || !*shape)
        return;
    turn_answer_name(&launch->turn->act, name);
    (void)snprintf(launch->answer, PATH_MAX, "%s/%s", launch->turn->act.engine->path_runs,
                   name);         /* a cut one is not found */
    (void)unlink(launch->answer); /* of a launch that did not come about; mostly there is none */
    launch->agent.answer_path = launch->answer;
}

static bool launch_fill(Launch *launch, Err *err)
{
    LiveTurn *turn = launch->turn;
    Engine *engine = turn->act.engine;
    fill_names(engine, launch->run, &launch->names);
    fill_turn(engine, launch->run, launch->task, launch->project, &launch->words, &launch->text,
              &launch->names, &launch->agent);
    fill_visits(engine, launch->run, &launch->agent);
    if (turn->checkout)
        launch->agent.workspace = turn->checkout;
    offer_answer(launch);
    if (!launch->phase->is_fresh && launch->phase->kind != PHASE_GATE)
        launch->agent.resume_id = launch->text.session;
    if (launch->phase->kind == PHASE_OBSERVE) {
        ObservationSpec spec;
        observation_spec(launch, &spec);
        if (!observation_prepare(&spec, launch->folder, err))
            return false;
        launch->agent.task_dir = launch->folder;
    }
    launch->agent.settings = phase_agent(launch->project, launch->phase, &launch->words, err);
    use_own_tag(turn, launch->agent.settings, launch->names.tag);
    return launch->agent.settings &&
           prompt_for_phase(engine, launch->run, launch->project, &launch->words, &launch->text,
                            launch->names.tag, &launch->prompt, &turn->hash, err);
}

bool turn_launch(LiveTurn *turn, Err *err)
{
    CLEANUP(launch_done) Launch launch = {.prompt = STR_INIT};
    AgentLaunch how;
    if (!launch_open(&launch, turn, err) || !launch_fill(&launch, err))
        return false;
    launch.agent.prompt = str_text(&launch.prompt);
    if (!agent_launch(&launch.agent, &launch.arena, &how, err))
        return false;
    const AgentSettings *agent = launch.agent.settings;
    (void)snprintf(turn->agent, sizeof turn->agent, "%s", agent->name); /* shown */
    turn->parser = agent_parser_new(agent->kind, turn_agent_event, turn);
    (void)snprintf(turn->program, sizeof turn->program, "%s", how.argv[0]); /* for messages */
    note_start(turn, launch.run, turn->hash);
    if (!observe(&launch, false, err) || !start_keeper(turn, &how, launch.agent.workspace, err))
        return false;
    if (launch.text.says && *launch.text.says) /* said now; not to be said again */
        words_clear(turn->act.engine, turn->act.run);
    return true;
}

void turn_refuse(LiveTurn *turn, const Err *err)
{
    Engine *engine = turn->act.engine;
    Event event = act_event(&turn->act, EV_TURN_REFUSED);
    event.a = err_is_retryable(err->kind);
    event.text = err->text;
    turn_drop_copy(turn);
    turn_free(turn);
    (void)engine_post(engine, &event); /* refused only when old */
}

/* A reviewer works on a copy that is thrown away: nothing it does to it is kept. The name says for
 * which turn, so that an engine that starts anew finds it. */
static char *review_path(const Act *act)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/review-r%u-e%u-t%u", act->engine->path_gate, act->run, act->epoch,
             act->turn);
    return str_take(&path);
}

static LiveTurn *waiting_turn(const Act *act)
{
    LiveTurn *turn = turn_of(act->engine, act->run);
    bool is_it =
        turn && turn->is_waiting && turn->act.epoch == act->epoch && turn->act.turn == act->turn;
    return is_it ? turn : NULL;
}

static void on_review_ready(void *user, const json_t *result, const Err *failure)
{
    Act *act = user;
    LiveTurn *turn = waiting_turn(act);
    Err err = {0};
    if (turn) {
        turn->is_waiting = false;
        if (!result)
            turn_refuse(turn, failure);
        else if (!turn_launch(turn, &err))
            turn_refuse(turn, &err);
    }
    free(act);
}

static void on_review_cleared(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    const LiveTurn *turn = waiting_turn(act);
    const Run *run = machine_run(act->engine->machine, act->run);
    const ProjectInfo *project = project_info(act->engine, act->project);
    if (!turn || !run || !project) {
        free(act);
        return;
    }
    if (!result)
        log_line("review.clear error=\"%s\"", err->text); /* the checkout will say */
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", project->hub, "commit", run->commit, "path",
                           turn->checkout);
    job_start(act->engine->jobs, "checkout", in, on_review_ready, act);
}

/* true: the turn begins when its copy is there. */
bool review_begin(LiveTurn *turn, const Run *run)
{
    Engine *engine = turn->act.engine;
    if (engine_phase(engine, run)->kind != PHASE_GATE || !run->has_workspace || !run->commit[0])
        return false;
    turn->checkout = review_path(&turn->act);
    turn->is_waiting = true;
    Act *act = mem_alloc(sizeof *act);
    *act = turn->act;
    json_t *in = json_pack("{s:s,s:s}", "path", turn->checkout, "root", engine->path_gate);
    job_start(engine->jobs, "discard", in, on_review_cleared, act);
    return true;
}

static bool count_tag_signal(void *user, const StoreEvent *event)
{
    LiveTurn *turn = user;
    bool is_ours = event->kind == EV_SIGNAL && event->run == turn->act.run &&
                   event->epoch == turn->act.epoch && event->turn == turn->act.turn;
    turn->signals_known += is_ours && !(event->data && strstr(event->data, "\"by_command\":1"));
    return event->run == turn->act.run || event->run == 0;
}

/* A turn that an earlier engine started: its journal says everything. */
bool turn_attach(LiveTurn *turn, Err *err)
{
    Engine *engine = turn->act.engine;
    ProjectInfo *project = project_info(engine, turn->act.project);
    char name[48];
    turn_name(&turn->act, name);
    turn->keep = keep_attach(engine->loop, engine->path_runs, name, 0, &turn_keep_calls, turn, err);
    if (!turn->keep)
        return false;
    CLEANUP(launch_done) Launch launch = {.prompt = STR_INIT};
    Err ignored = {0};
    const AgentSettings *agent = NULL;
    if (launch_open(&launch, turn, &ignored))
        agent = phase_agent(project, launch.phase, &launch.words, &ignored);
    if (launch.phase && launch.phase->kind == PHASE_GATE)
        turn->checkout = review_path(&turn->act);
    if (launch.phase && !observe(&launch, true, &ignored))
        log_line("observe.attach run=%u error=\"%s\"", turn->act.run, ignored.text);
    char tag[SECRET_TEXT];
    use_own_tag(turn, agent, tag);
    turn->parser = agent_parser_new(agent ? agent->kind : "command", turn_agent_event, turn);
    (void)snprintf(turn->agent, sizeof turn->agent, "%s", agent ? agent->name : "?"); /* shown */
    note_start(turn, machine_run(engine->machine, turn->act.run), 0); /* if it is not there yet */
    words_clear(engine, turn->act.run);                               /* its prompt held them */
    if (!store_event_list_task(engine->store, turn->act.task, 0, 0, count_tag_signal, turn,
                               &ignored))
        log_line("turn.signals run=%u error=\"%s\"", turn->act.run, ignored.text);
    log_line("turn.attached task=%u run=%u epoch=%u turn=%u", turn->act.task, turn->act.run,
             turn->act.epoch, turn->act.turn);
    return true;
}
