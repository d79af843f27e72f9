/* Agents at work: started under keepers, found again after a restart, heard, stopped. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/internal.h"
#include "proc/sweep.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

LiveTurn *turn_of(Engine *engine, RunId run)
{
    for (LiveTurn *turn = engine->turns; turn; turn = turn->next)
        if (turn->act.run == run)
            return turn;
    return NULL;
}

static void turn_free(LiveTurn *turn)
{
    LiveTurn **link = &turn->act.engine->turns;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
    keep_free(turn->keep);
    agent_parser_free(turn->parser);
    signal_scanner_done(&turn->scanner);
    free(turn);
}

void turns_free(Engine *engine)
{
    while (engine->turns)
        turn_free(engine->turns);
}

/* All runs share one folder: making one per run costs more than the rest of a short turn. */
static void turn_name(const Act *act, char out[48])
{
    (void)snprintf(out, 48, "%u-e%ut%u", act->run, act->epoch, act->turn); /* always fits */
}

/* What the agent says */

static void hear(LiveTurn *turn, const Signal *signal, bool by_command)
{
    char payload[SIGNAL_PAYLOAD_MAX + 1];
    size_t length = MIN(signal->payload_length, (size_t)SIGNAL_PAYLOAD_MAX);
    if (signal->payload)
        memcpy(payload, signal->payload, length);
    payload[signal->payload ? length : 0] = '\0';
    if (signal->type == SIGNAL_PROGRESS)
        turn->progress = signal->percent;
    if (signal_is_control(signal->type)) {
        turn->control = signal->type;
        memcpy(turn->payload, payload, sizeof payload);
    }
    if (!by_command && ++turn->signals_seen <= turn->signals_known)
        return; /* on record since before the restart */
    Event event = act_event(&turn->act, EV_SIGNAL);
    event.a = signal->type;
    event.b = by_command;
    event.text = signal->payload ? payload : NULL;
    (void)engine_post(turn->act.engine, &event); /* a late one is refused and recorded */
    if (signal->type == SIGNAL_DISCOVERY_LOCAL || signal->type == SIGNAL_DISCOVERY_GLOBAL)
        engine_write(turn->act.engine,
                     &(Write){.kind = WRITE_DISCOVERY,
                              .discovery = {.project = turn->act.project,
                                            .task = turn->act.task,
                                            .is_global = signal->type == SIGNAL_DISCOVERY_GLOBAL,
                                            .text = payload,
                                            .at_ms = engine_now(turn->act.engine)}});
}

static void on_signal_found(void *user, const Signal *signal)
{
    LiveTurn *turn = user;
    if (signal->code != SIGNAL_OK) /* D-60, D-61: logged and ignored */
        log_line("signal.bad code=%s task=%u run=%u turn=%u", signal_code_word(signal->code),
                 turn->act.task, turn->act.run, turn->act.turn);
    else
        hear(turn, signal, false);
}

static void on_agent_event(void *user, const AgentEvent *event)
{
    LiveTurn *turn = user;
    Engine *engine = turn->act.engine;
    switch (event->kind) {
    case AGENT_TEXT:
        signal_scanner_feed(&turn->scanner, event->text, event->length);
        break;
    case AGENT_USAGE:
        engine_write(engine, &(Write){.kind = WRITE_USAGE,
                                      .usage = {.run = turn->act.run,
                                                .turn = turn->act.turn,
                                                .agent = turn->agent,
                                                .input = event->input_tokens,
                                                .output = event->output_tokens,
                                                .cache = event->cache_tokens,
                                                .cost_micros = (int64_t)(event->cost * 1e6),
                                                .at_ms = engine_now(engine)}});
        break;
    case AGENT_SESSION:
    case AGENT_LIMIT:
        log_line("agent.%s task=%u run=%u", agent_event_word(event->kind), turn->act.task,
                 turn->act.run);
        break;
    }
}

/* Keeps the last line that is not empty, without control bytes. */
static void keep_line(LiveTurn *turn, const char *bytes, size_t length)
{
    size_t end = length;
    while (end && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r' || bytes[end - 1] == ' '))
        end--;
    size_t start = end;
    while (start && bytes[start - 1] != '\n' && end - start < sizeof turn->line / 2)
        start--;
    if (start == end)
        return;
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_safe(&safe, bytes + start, end - start, false);
    (void)snprintf(turn->line, sizeof turn->line, "%s", str_text(&safe)); /* cut is fine */
}

/* What the keeper reports */

static void on_started(void *user, pid_t agent_pid, ProcIdent keeper)
{
    LiveTurn *turn = user;
    (void)keeper; /* the journal holds it; attaching goes by the journal's lock */
    Event event = act_event(&turn->act, EV_TURN_STARTED);
    event.a = agent_pid;
    (void)engine_post(turn->act.engine, &event); /* of an old epoch: refused and recorded */
}

static void on_output(void *user, int stream, const char *bytes, size_t length, int64_t offset)
{
    LiveTurn *turn = user;
    Engine *engine = turn->act.engine;
    ProjectInfo *project = project_info(engine, turn->act.project);
    (void)offset; /* a restart reads the journal from its start; see signals_known */
    turn->output_bytes += (int64_t)length;
    keep_line(turn, bytes, length);
    if (stream == 1)
        agent_parser_feed(turn->parser, bytes, length);
    publish_output(engine, turn, stream, bytes, length);
    int64_t limit = project ? project->settings.limits.max_output_mb * 1024 * 1024 : 0;
    if (limit > 0 && turn->output_bytes > limit && !turn->is_over_limit) {
        turn->is_over_limit = true;
        Event event = act_event(&turn->act, EV_OUTPUT_LIMIT);
        event.a = turn->output_bytes;
        (void)engine_post(engine, &event); /* a stop under way makes it needless */
    }
}

static void sweep_strays(const LiveTurn *turn)
{
    char mark[SECRET_TEXT], entry[80];
    Err err = {0};
    int killed = 0;
    secret_mark(turn->act.engine, turn->act.run, turn->act.epoch, mark);
    (void)snprintf(entry, sizeof entry, "OTTO_MARK=%s", mark); /* our own, short */
    if (!sweep_marked(entry, &killed, &err) || killed)
        log_line("turn.swept run=%u killed=%d error=\"%s\"", turn->act.run, killed, err.text);
}

static void save_turn_end(const LiveTurn *turn, const KeepExit *end)
{
    engine_write(turn->act.engine, &(Write){.kind = WRITE_TURN_END,
                                            .turn = {.run = turn->act.run,
                                                     .epoch = turn->act.epoch,
                                                     .turn = turn->act.turn,
                                                     .ended_ms = engine_now(turn->act.engine),
                                                     .exit_code = end->exit_code,
                                                     .killed_by = end->signal,
                                                     .signal = turn->control,
                                                     .payload = turn->payload,
                                                     .output_bytes = turn->output_bytes}});
}

static void report_refused(const LiveTurn *turn, const KeepExit *end)
{
    Event event = act_event(&turn->act, EV_TURN_REFUSED);
    bool is_final = end->error == ENOENT || end->error == EACCES || end->error == ENOEXEC;
    event.a = !is_final; /* D-141: a missing program or permission is final */
    char text[600];
    bool is_own = strncmp(turn->program, "./", 2) == 0;
    (void)snprintf(text, sizeof text, "agent '%s': '%s': %s%s", turn->agent, turn->program,
                   end->text,
                   is_own ? " (a program of the repository must be committed and executable)"
                          : ""); /* cut is fine */
    event.text = text;
    (void)engine_post(turn->act.engine, &event); /* refused only when old */
}

static void on_ended(void *user, const KeepExit *end)
{
    LiveTurn *turn = user;
    Engine *engine = turn->act.engine;
    agent_parser_end(turn->parser);
    signal_scanner_end(&turn->scanner);
    if (end->lost || end->left_behind)
        sweep_strays(turn);
    if (end->could_not_start) {
        report_refused(turn, end);
    } else {
        save_turn_end(turn, end);
        Event event = act_event(&turn->act, EV_TURN_ENDED);
        event.a = end->lost ? -1 : end->signal ? 0 : end->exit_code;
        event.b = end->lost ? 0 : end->signal;
        (void)engine_post(engine, &event); /* refused only when old */
    }
    turn_free(turn);
}

static const KeepCalls keep_calls = {
    .on_started = on_started, .on_output = on_output, .on_exit = on_ended};

/* Starting */

static const AgentSettings *agent_of(ProjectInfo *project, const StoreTaskText *task, Err *err)
{
    const char *name = task->agent && *task->agent ? task->agent : project->agent_flag;
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
        .checkpoint = run->checkpoint ? workflow_loop.checkpoints[run->checkpoint].name : NULL,
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
    turn->keep = keep_start(engine->loop, &spec, &keep_calls, turn, err);
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
    char hex[20];
    (void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)hash); /* always fits */
    engine_write(turn->act.engine, &(Write){.kind = WRITE_TURN_START,
                                            .turn = {.run = run->id,
                                                     .epoch = run->epoch,
                                                     .turn = run->turn,
                                                     .started_ms = engine_now(turn->act.engine),
                                                     .prompt_hash = hex,
                                                     .agent = turn->agent}});
}

/* D-62: the tag's name may be fixed by the agent's settings. */
static void use_own_tag(LiveTurn *turn, const AgentSettings *agent, char tag[SECRET_TEXT])
{
    if (!agent || !agent->signal_tag || !signal_tag_is_valid(agent->signal_tag))
        return;
    (void)snprintf(tag, SECRET_TEXT, "%s", agent->signal_tag); /* cut would match nothing */
    signal_scanner_done(&turn->scanner);
    signal_scanner_init(&turn->scanner, agent->signal_tag, on_signal_found, turn);
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

static bool turn_launch(LiveTurn *turn, Err *err)
{
    Engine *engine = turn->act.engine;
    const Run *run = machine_run(engine->machine, turn->act.run);
    const Task *task = machine_task(engine->machine, turn->act.task);
    ProjectInfo *project = project_info(engine, turn->act.project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str prompt = STR_INIT;
    StoreTaskText words = {0};
    StoreRunText text = {0};
    RunNames names;
    AgentTurn launch_turn;
    AgentLaunch launch;
    uint64_t hash = 0;
    if (!store_task_text_get(engine->store, task->id, &arena, &words, err) ||
        !run_text_find(engine, run->id, &arena, &text, err) ||
        !words_find(engine, run, &arena, &text, err))
        return false;
    fill_names(engine, run, &names);
    fill_turn(engine, run, task, project, &words, &text, &names, &launch_turn);
    launch_turn.settings = agent_of(project, &words, err);
    use_own_tag(turn, launch_turn.settings, names.tag);
    if (!launch_turn.settings ||
        !prompt_of_turn(engine, run, project, &words, &text, names.tag, &prompt, &hash, err))
        return false;
    launch_turn.prompt = str_text(&prompt);
    if (!agent_launch(&launch_turn, &arena, &launch, err))
        return false;
    (void)snprintf(turn->agent, sizeof turn->agent, "%s", launch_turn.settings->name); /* shown */
    turn->parser = agent_parser_new(launch_turn.settings->kind, on_agent_event, turn);
    (void)snprintf(turn->program, sizeof turn->program, "%s", launch.argv[0]); /* for messages */
    note_start(turn, run, hash);
    if (!start_keeper(turn, &launch, launch_turn.workspace, err))
        return false;
    if (text.says && *text.says) /* said now; not to be said again */
        words_clear(engine, run->id);
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
static bool turn_attach(LiveTurn *turn, Err *err)
{
    Engine *engine = turn->act.engine;
    ProjectInfo *project = project_info(engine, turn->act.project);
    char name[48];
    turn_name(&turn->act, name);
    turn->keep = keep_attach(engine->loop, engine->path_runs, name, 0, &keep_calls, turn, err);
    if (!turn->keep)
        return false;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText words = {0};
    Err ignored = {0};
    const AgentSettings *agent = NULL;
    if (store_task_text_get(engine->store, turn->act.task, &arena, &words, &ignored))
        agent = agent_of(project, &words, &ignored);
    char tag[SECRET_TEXT];
    use_own_tag(turn, agent, tag);
    turn->parser = agent_parser_new(agent ? agent->kind : "command", on_agent_event, turn);
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

static LiveTurn *turn_new(Engine *engine, const Effect *effect)
{
    LiveTurn *turn = mem_alloc(sizeof *turn);
    char tag[SECRET_TEXT];
    turn->act =
        (Act){engine, effect->run, effect->task, effect->project, effect->epoch, effect->turn};
    turn->progress = -1;
    turn->next = engine->turns;
    engine->turns = turn;
    secret_tag(engine, effect->run, tag);
    signal_scanner_init(&turn->scanner, tag, on_signal_found, turn);
    return turn;
}

void turn_start(Engine *engine, const Effect *effect)
{
    if (turn_of(engine, effect->run))
        return; /* it is under way */
    Err err = {0};
    LiveTurn *turn = turn_new(engine, effect);
    if (turn_attach(turn, &err) || (err.kind == ERR_NOT_FOUND && turn_launch(turn, &err)))
        return;
    Event event = act_event(&turn->act, EV_TURN_REFUSED);
    event.a = err_is_retryable(err.kind);
    event.text = err.text;
    turn_free(turn);
    (void)engine_post(engine, &event); /* refused only when old */
}

void turn_stop(Engine *engine, const Effect *effect, bool is_forced)
{
    LiveTurn *turn = turn_of(engine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    if (!turn) { /* after a restart: find it first; it reports its end if it is over */
        turn_start(engine, effect);
        turn = turn_of(engine, effect->run);
    }
    if (!turn)
        return;
    if (is_forced)
        keep_kill(turn->keep);
    else
        keep_stop(turn->keep, (int)((project ? project->settings.stop.grace_s : 10) * 1000));
}

/* `otto signal`: the same judgement as for a tag in the output. */
bool turn_signal(Engine *engine, RunId run, uint32_t epoch, const char *text, Signal *out, Err *err)
{
    LiveTurn *turn = turn_of(engine, run);
    if (!turn || turn->act.epoch != epoch)
        return err_set(err, ERR_REFUSED, "run %u of epoch %u is not at work", run, epoch);
    const char *colon = strchr(text, ':');
    size_t type = colon ? (size_t)(colon - text) : strlen(text);
    const char *payload = colon ? colon + 1 : NULL;
    *out = (Signal){0};
    signal_judge(text, type, payload, payload ? strlen(payload) : 0, out);
    if (out->code != SIGNAL_OK)
        return err_set(err, ERR_USAGE, "%s: '%.60s'", signal_code_word(out->code), text);
    hear(turn, out, true);
    return true;
}
