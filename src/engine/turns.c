/* Agents at work: started under keepers, found again after a restart, heard, stopped. */
#include "engine/turns.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/internal.h"
#include "engine/observe.h"
#include "proc/sweep.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

LiveTurn *turn_of(Engine *engine, RunId run)
{
    for (LiveTurn *turn = engine->turns; turn; turn = turn->next)
        if (turn->act.run == run)
            return turn;
    return NULL;
}

void turn_free(LiveTurn *turn)
{
    LiveTurn **link = &turn->act.engine->turns;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
    keep_free(turn->keep);
    agent_parser_free(turn->parser);
    signal_scanner_done(&turn->scanner);
    observation_free(turn->observation);
    free(turn->answer);
    free(turn->checkout);
    free(turn);
}

void turns_free(Engine *engine)
{
    while (engine->turns)
        turn_free(engine->turns);
}

/* All runs share one folder: making one per run costs more than the rest of a short turn. */
void turn_name(const Act *act, char out[48])
{
    (void)snprintf(out, 48, "%u-e%ut%u", act->run, act->epoch, act->turn); /* always fits */
}

void turn_answer_name(const Act *act, char out[64])
{
    char name[48];
    turn_name(act, name);
    (void)snprintf(out, 64, "%s.answer", name); /* always fits */
}

/* What the agent says */

static void hear_answer(LiveTurn *turn, const char *text, size_t length)
{
    free(turn->answer);
    turn->answer = mem_alloc(length + 1);
    memcpy(turn->answer, text, length); /* the last one counts */
    turn->answer[length] = '\0';
}

static void hear(LiveTurn *turn, const Signal *signal, bool by_command)
{
    if (signal->type == SIGNAL_RESULT) {
        hear_answer(turn, signal->payload, signal->payload_length);
        return; /* judged when the turn is over */
    }
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

void turn_signal_found(void *user, const Signal *signal)
{
    LiveTurn *turn = user;
    if (signal->code == SIGNAL_INVALID_PAYLOAD && signal->type == SIGNAL_RESULT && !turn->answer)
        hear_answer(turn, signal->payload, signal->payload_length); /* it is told what is wrong */
    if (signal->code == SIGNAL_MALFORMED && signal->type == SIGNAL_RESULT)
        (void)snprintf(turn->problem, sizeof turn->problem,
                       "an answer was begun, but its closing tag did not come within %d bytes: it "
                       "is too long, or the tag is missing",
                       SIGNAL_RESULT_MAX); /* fits */
    if (signal->code != SIGNAL_OK)         /* D-60, D-61: logged and ignored */
        log_line("signal.bad code=%s task=%u run=%u turn=%u", signal_code_word(signal->code),
                 turn->act.task, turn->act.run, turn->act.turn);
    else
        hear(turn, signal, false);
}

void turn_agent_event(void *user, const AgentEvent *event)
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
        (void)snprintf(turn->session, sizeof turn->session, "%.*s", (int)MIN(event->length, 127u),
                       event->text); /* cut: it then cannot be resumed */
        log_line("agent.session task=%u run=%u", turn->act.task, turn->act.run);
        break;
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
    if (turn->observation)
        observation_heard(turn->observation);
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

static void on_discarded(void *user, const json_t *result, const Err *err)
{
    (void)user;
    if (!result)
        log_line("review.discard error=\"%s\"", err->text); /* the next start sweeps it */
}

void turn_drop_copy(LiveTurn *turn)
{
    Engine *engine = turn->act.engine;
    if (!turn->checkout)
        return;
    json_t *in = json_pack("{s:s,s:s}", "path", turn->checkout, "root", engine->path_gate);
    job_start(engine->jobs, "discard", in, on_discarded, NULL);
}

/* The conversation goes on with the next phase, unless this one was to be fresh. */
static void keep_session(const LiveTurn *turn)
{
    const Run *run = machine_run(turn->act.engine->machine, turn->act.run);
    if (!run || !turn->session[0] || engine_phase(turn->act.engine, run)->is_fresh ||
        engine_phase(turn->act.engine, run)->kind == PHASE_GATE) /* a reviewer is nobody's past */
        return;
    engine_write(turn->act.engine,
                 &(Write){.kind = WRITE_RUN_TEXT,
                          .run_text = {.run = turn->act.run, .session = turn->session}});
}

/* What a self-driving session came to. */
static void end_observation(LiveTurn *turn, const KeepExit *end)
{
    const Run *run = machine_run(turn->act.engine->machine, turn->act.run);
    ObservationEnd how = {.is_lost = end->lost,
                          .exit_code = end->exit_code,
                          .killed_by = end->signal,
                          .is_claimed = run && run->signal == SIGNAL_COMPLETE};
    ObserveStep step;
    observation_ended(turn->observation, &how, &step);
    json_t *facts =
        json_pack("{s:s,s:s}", "result", step.result && *step.result ? step.result : "continue",
                  "why", step.why ? step.why : "");
    if (step.reason != REASON_NONE)
        json_object_set_new(facts, "wish", json_string(observe_reason_word(step.reason)));
    char *text = json_write(facts);
    Event event = act_event(&turn->act, EV_STEP_RESULT);
    event.text = text;
    (void)engine_post(turn->act.engine, &event); /* refused only when old */
    free(text);
    json_decref(facts);
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
        keep_session(turn);
        if (turn->observation)
            end_observation(turn, end);
        else
            answer_take(turn, !end->lost && !end->signal && end->exit_code == 0);
        Event event = act_event(&turn->act, EV_TURN_ENDED);
        event.a = end->lost ? -1 : end->signal ? 0 : end->exit_code;
        event.b = end->lost ? 0 : end->signal;
        (void)engine_post(engine, &event); /* refused only when old */
    }
    turn_drop_copy(turn);
    turn_free(turn);
}

const KeepCalls turn_keep_calls = {
    .on_started = on_started, .on_output = on_output, .on_exit = on_ended};

static LiveTurn *turn_new(Engine *engine, const Effect *effect)
{
    LiveTurn *turn = mem_alloc(sizeof *turn);
    char tag[SECRET_TEXT];
    turn->act =
        (Act){engine, effect->run, effect->task, effect->project, effect->epoch, effect->turn, ""};
    turn->progress = -1;
    turn->next = engine->turns;
    engine->turns = turn;
    secret_tag(engine, effect->run, tag);
    signal_scanner_init(&turn->scanner, tag, turn_signal_found, turn);
    return turn;
}

void turn_start(Engine *engine, const Effect *effect)
{
    if (turn_of(engine, effect->run))
        return; /* it is under way */
    Err err = {0};
    LiveTurn *turn = turn_new(engine, effect);
    if (turn_attach(turn, &err))
        return;
    const Run *run = machine_run(engine->machine, effect->run);
    bool is_new = err.kind == ERR_NOT_FOUND;
    if (is_new && (review_begin(turn, run) || turn_launch(turn, &err)))
        return;
    turn_refuse(turn, &err);
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
    if (turn->is_waiting) {
        Err err = {0};
        (void)err_set(&err, ERR_REFUSED, "stopped before it began"); /* told below */
        turn_refuse(turn, &err);
        return;
    }
    const Run *run = machine_run(engine->machine, effect->run);
    if (turn->observation && !is_forced && run) {
        observation_stop(turn->observation, (StopWish)run->stop); /* it may finish its step */
        return;
    }
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

bool turn_answer(Engine *engine, RunId run, uint32_t epoch, const char *text, size_t length,
                 Err *err)
{
    LiveTurn *turn = turn_of(engine, run);
    const Run *row = machine_run(engine->machine, run);
    if (!turn || !row || turn->act.epoch != epoch)
        return err_set(err, ERR_REFUSED, "run %u of epoch %u is not at work", run, epoch);
    if (length > SIGNAL_RESULT_MAX)
        return err_set(err, ERR_TOO_BIG, "the answer is longer than %d bytes", SIGNAL_RESULT_MAX);
    if (!answer_fits(engine, row, text, length, err)) { /* told at once, while it can be mended */
        (void)snprintf(turn->problem, sizeof turn->problem, "%.*s", (int)sizeof turn->problem - 1,
                       err->text); /* cut is fine */
        return false;
    }
    hear_answer(turn, text, length);
    engine_write(engine, &(Write){.kind = WRITE_RECORD,
                                  .record = {.task = row->task,
                                             .run = run,
                                             .epoch = epoch,
                                             .turn = turn->act.turn,
                                             .stage = row->stage,
                                             .kind = RECORD_ANSWER,
                                             .checkpoint = engine_checkpoint(engine, row),
                                             .result = "",
                                             .text = "",
                                             .data = turn->answer,
                                             .at_ms = engine_now(engine)}});
    return true;
}
