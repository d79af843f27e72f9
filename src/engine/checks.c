/* Gates: a clean checkout of the commit, the commands of the project and the task, the verdict. */
#include "base/log.h"
#include "engine/internal.h"
#include "engine/judging.h"
#include "proc/sweep.h"
#include <stdlib.h>
#include <string.h>

extern char **environ;

LiveGate *gate_of(Engine *engine, RunId run)
{
    for (LiveGate *live = engine->gates; live; live = live->next)
        if (live->act.run == run)
            return live;
    return NULL;
}

static void live_free(LiveGate *live)
{
    LiveGate **link = &live->act.engine->gates;
    while (*link != live)
        link = &(*link)->next;
    *link = live->next;
    gate_free(live->gate);
    verify_free(live->verify);
    free(live->verdict_text);
    free(live->failed_tail);
    arena_done(&live->arena);
    free(live);
}

void gates_free(Engine *engine)
{
    while (engine->gates)
        live_free(engine->gates);
}

/* The project's commands, then the task's own conditions: all of them required. */
void task_commands(const ProjectInfo *project, const StoreTaskText *text, Arena *arena,
                   VerifyCommand **commands, size_t *count)
{
    bool has_checks = !text_equal(text->checks_json, "") && !text_equal(text->checks_json, "[]");
    CLEANUP(json_freep)
    json_t *checks =
        has_checks ? json_read(text->checks_json, strlen(text->checks_json), NULL) : NULL;
    const VerifySettings *verify = &project->settings.verify;
    size_t own = json_array_size(checks);
    *count = verify->count + own;
    *commands = arena_alloc(arena, (*count + 1) * sizeof **commands);
    for (size_t i = 0; i < verify->count; i++) {
        const VerifyCommand *from = &verify->commands[i];
        (*commands)[i] =
            (VerifyCommand){arena_strdup(arena, from->name), arena_strdup(arena, from->command),
                            from->timeout_s, from->is_required};
    }
    for (size_t i = 0; i < own; i++) {
        const char *command = json_string_value(json_array_get(checks, i));
        command = arena_strdup(arena, command ? command : "false");
        (*commands)[verify->count + i] =
            (VerifyCommand){command, command, verify->default_timeout_s, true};
    }
}

static void discard(void *user, const json_t *result, const Err *err)
{
    (void)user;
    if (!result)
        log_line("gate.discard error=\"%s\"", err->text); /* the next start sweeps it */
}

static void drop_checkout(LiveGate *live)
{
    if (!live->checkout)
        return;
    json_t *in =
        json_pack("{s:s,s:s}", "path", live->checkout, "root", live->act.engine->path_gate);
    job_start(live->act.engine->jobs, "discard", in, discard, NULL);
}

/* What the agent is told when the claim does not hold. */
static void write_says(LiveGate *live, int failed)
{
    const VerifyCommand *command = &live->commands[failed];
    char result[64];
    if (live->failed_exit < 0)
        (void)snprintf(result, sizeof result, "timed out after %lld s",
                       (long long)command->timeout_s); /* always fits */
    else
        (void)snprintf(result, sizeof result, "exit code %d", live->failed_exit); /* fits */
    const char *tail = live->failed_tail ? live->failed_tail : "";
    size_t length = strlen(tail);
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_safe(&safe, length > 8000 ? tail + length - 8000 : tail, MIN(length, (size_t)8000),
                 true);
    const Run *run = machine_run(live->act.engine->machine, live->act.run);
    json_t *says = json_pack("{s:s,s:s,s:s,s:s}", "result", result, "command", command->command,
                             "output", str_text(&safe), "target_ref", run->old_tip);
    char *text = json_write(says);
    engine_write(live->act.engine,
                 &(Write){.kind = WRITE_RUN_TEXT,
                          .run_text = {.run = live->act.run,
                                       .says = text,
                                       .says_kind = live->is_merge ? SAYS_MERGED_FAILED
                                                                   : SAYS_VERIFY_FAILED}});
    free(text);
    json_decref(says);
}

void gate_post(LiveGate *live, Verdict verdict, bool is_review_wanted, const char *text)
{
    Event event = act_event(&live->act, live->is_merge ? EV_MERGE_GATE_ENDED : EV_GATE_ENDED);
    event.a = verdict;
    event.b = is_review_wanted;
    event.text = text;
    event.ref2 = live->is_merge ? live->act.merge : NULL;
    drop_checkout(live);
    (void)engine_post(live->act.engine, &event); /* refused only when old */
    live_free(live);
}

/* Must somebody look at what passed? Only labels, modes and protected paths can say so, and only
 * then is it worth looking at what changed. */
static bool may_need_review(const ProjectInfo *project)
{
    const Settings *s = &project->settings;
    return s->protect.count || s->review.labels.count || !text_equal(s->review.mode, "auto");
}

static void on_change(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    Engine *engine = live->act.engine;
    const Run *run = machine_run(engine->machine, live->act.run);
    if (!result) {
        gate_post(live, VERDICT_ERROR, false, err->text);
        return;
    }
    unsigned fired = guards_fire(engine, run, result, NULL, 0);
    CLEANUP(str_done) Str why = STR_INIT;
    bool is_wanted = review_is_wanted(engine, run, live->verdict == VERDICT_PASS, fired, &why);
    gate_post(live, live->verdict, is_wanted, is_wanted ? str_text(&why) : live->verdict_text);
}

static void post_verdict(LiveGate *live, Verdict verdict, const char *text)
{
    const Run *run = machine_run(live->act.engine->machine, live->act.run);
    const ProjectInfo *project = project_info(live->act.engine, live->act.project);
    bool is_good = verdict == VERDICT_PASS || verdict == VERDICT_NONE;
    if (live->is_merge || !is_good || !run->has_workspace || !may_need_review(project)) {
        gate_post(live, verdict, false, text);
        return;
    }
    live->verdict = verdict;
    live->verdict_text = text ? mem_strdup(text) : NULL;
    job_start_borrowed(live->act.engine->jobs, "change", change_input(project, run), on_change,
                       live);
}

void gate_row_write(LiveGate *live, size_t index, const GateRow *row)
{
    engine_write(live->act.engine, &(Write){.kind = WRITE_GATE,
                                            .gate = {.run = live->act.run,
                                                     .epoch = live->act.epoch,
                                                     .turn = live->act.turn,
                                                     .stage = live->is_merge ? "merge" : "gate",
                                                     .position = (uint32_t)index,
                                                     .name = row->command->name,
                                                     .command = row->command->command,
                                                     .is_required = row->command->is_required,
                                                     .timed_out = row->state == GATE_ROW_TIMEOUT,
                                                     .exit_code = row->exit_code,
                                                     .started_ms = row->started_ms,
                                                     .took_ms = row->took_ms,
                                                     .limit_s = row->command->timeout_s,
                                                     .output = row->tail,
                                                     .output_length = strlen(row->tail)}});
}

static void on_row(void *user, size_t index, const GateRow *row)
{
    LiveGate *live = user;
    if (row->state != GATE_ROW_PASSED && row->command->is_required) {
        live->failed_exit = row->state == GATE_ROW_TIMEOUT ? -1 : row->exit_code;
        free(live->failed_tail);
        live->failed_tail = mem_strdup(row->tail);
    }
    if (row->state != GATE_ROW_PASSED && !row->command->is_required) /* D-67, D-69, D-87 */
        log_line("gate.skipped code=VERIFICATION_SKIPPED task=%u run=%u index=%zu", live->act.task,
                 live->act.run, index);
    gate_row_write(live, index, row);
}

/* D-79: believed, with a warning everywhere it shows. */
static void post_empty(const Act *act)
{
    Event event = act_event(act, EV_GATE_ENDED);
    event.a = VERDICT_NONE;
    event.text = "VERIFICATION_EMPTY: no verification is configured";
    log_line("gate.empty code=VERIFICATION_EMPTY task=%u run=%u", act->task, act->run);
    (void)engine_post(act->engine, &event); /* refused only when old */
}

static void on_done(void *user, Verdict verdict, int failed, const char *error)
{
    LiveGate *live = user;
    CLEANUP(str_done) Str text = STR_INIT;
    if (verdict == VERDICT_FAIL) {
        write_says(live, failed);
        str_addf(&text, "%s: %s",
                 live->failed_exit < 0 ? "VERIFICATION_TIMEOUT" : "VERIFICATION_FAILED",
                 live->commands[failed].name);
    } else if (error) {
        str_add(&text, error);
    }
    post_verdict(live, verdict, text.length ? str_text(&text) : NULL);
}

static const GateCalls gate_calls = {on_row, on_done};

/* D-86: what a verification command finds in its environment. */
static const char *const *gate_env(LiveGate *live)
{
    static const char *const hidden[] = {"OTTO_", "GIT_"};
    size_t count = 0;
    while (environ[count])
        count++;
    const char **env = arena_alloc(&live->arena, (count + 8) * sizeof *env);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!text_starts(environ[i], hidden[0]) && !text_starts(environ[i], hidden[1]) &&
            !text_starts(environ[i], "PWD="))
            env[kept++] = environ[i];
    char mark[SECRET_TEXT];
    secret_mark(live->act.engine, live->act.run, live->act.epoch, mark);
    env[kept++] = arena_printf(&live->arena, "OTTO_TASK_ID=%u", live->act.task);
    env[kept++] = arena_printf(&live->arena, "OTTO_RUN_ID=%u", live->act.run);
    env[kept++] = arena_printf(&live->arena, "OTTO_TURN=%u", live->act.turn);
    env[kept++] = arena_printf(&live->arena, "PWD=%s", live->checkout ? live->checkout : "/");
    env[kept++] = arena_printf(&live->arena, "OTTO_MARK=%s-check", mark);
    return env;
}

void gate_begin(LiveGate *live, const char *cwd, const GateCalls *calls)
{
    Engine *engine = live->act.engine;
    const ProjectInfo *project = project_info(engine, live->act.project);
    char name[64];
    (void)snprintf(name, sizeof name, "%u-%s%ut%u.%llx.%u", live->act.run,
                   live->is_merge ? "m" : "g", live->act.epoch, live->act.turn,
                   (unsigned long long)engine->started_ms, ++engine->gate_serial); /* always fits */
    GateSpec spec = {.keeper = engine->options.keeper,
                     .folder = engine->path_runs,
                     .name = name,
                     .cwd = cwd,
                     .envp = gate_env(live),
                     .commands = live->commands,
                     .count = live->count,
                     .grace_ms = project->settings.stop.grace_s * 1000};
    gate_free(live->gate);
    live->gate = gate_start(engine->loop, &spec, calls, live);
}

static void on_checkout(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    if (!result) {
        live->checkout = NULL;
        post_verdict(live, VERDICT_ERROR, err->text);
        return;
    }
    gate_begin(live, live->checkout, &gate_calls);
}

/* Strays of a gate that an earlier engine began: they carry the run's mark. */
static void sweep_old(LiveGate *live)
{
    char mark[SECRET_TEXT], entry[80];
    int killed = 0;
    secret_mark(live->act.engine, live->act.run, live->act.epoch, mark);
    (void)snprintf(entry, sizeof entry, "OTTO_MARK=%s-check", mark); /* always fits */
    if (sweep_marked(entry, &killed, NULL) && killed)
        log_line("gate.swept run=%u killed=%d", live->act.run, killed);
}

void gate_skip_empty(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const Task *task = machine_task(engine->machine, effect->task);
    const ProjectInfo *project = project_info(engine, effect->project);
    if (!run || run->state != RUN_VERIFYING || !project || project->settings.verify.count ||
        task->tags & TAG_CHECKED || run->workflow || may_need_review(project))
        return;
    Act act = act_of(engine, effect);
    post_empty(&act);
}

LiveGate *gate_open(Engine *engine, const Effect *effect, bool is_merge)
{
    LiveGate *live = mem_alloc(sizeof *live);
    live->act = act_of(engine, effect);
    live->is_merge = is_merge;
    live->next = engine->gates;
    engine->gates = live;
    if (engine->is_taking_up)
        sweep_old(live);
    return live;
}

void gate_checkout(LiveGate *live, const char *commit, json_t *overlay, JobDone *done)
{
    Engine *engine = live->act.engine;
    const ProjectInfo *project = project_info(engine, live->act.project);
    drop_checkout(live);
    live->checkout =
        arena_printf(&live->arena, "%s/r%u-e%u-t%u-%c%llx-%u", engine->path_gate, live->act.run,
                     live->act.epoch, live->act.turn, live->is_merge ? 'm' : 'g',
                     (unsigned long long)engine->started_ms, ++engine->gate_serial);
    json_t *in =
        json_pack("{s:s,s:s,s:s}", "hub", project->hub, "commit", commit, "path", live->checkout);
    if (overlay)
        json_object_set_new(in, "overlay", overlay);
    job_start_borrowed(engine->jobs, "checkout", in, done, live);
}

void gate_run(Engine *engine, const Effect *effect, bool is_merge)
{
    if (gate_of(engine, effect->run))
        return; /* it is under way */
    const Run *run = machine_run(engine->machine, effect->run);
    if (run->workflow && !is_merge) {
        verify_run(engine, effect);
        return;
    }
    ProjectInfo *project = project_info(engine, effect->project);
    LiveGate *live = gate_open(engine, effect, is_merge);
    Err err = {0};
    /* never empty here, except for a merged tree: see gate_skip_empty */
    StoreTaskText text = {0};
    if (!store_task_text_get(engine->store, effect->task, &live->arena, &text, &err)) {
        post_verdict(live, VERDICT_ERROR, err.text);
        return;
    }
    task_commands(project, &text, &live->arena, &live->commands, &live->count);
    if (live->count == 0) {
        post_verdict(live, VERDICT_NONE, NULL);
        return;
    }
    if (!run->has_workspace) {
        gate_begin(live, project->path, &gate_calls);
        return;
    }
    gate_checkout(live, is_merge ? run->new_tip : run->commit, NULL, on_checkout);
}

/* A stop does not wait for a check: it says nothing about the work, and may take minutes. */
void gates_stop(Engine *engine)
{
    for (LiveGate *live = engine->gates, *next; live; live = next) {
        const Run *run = machine_run(engine->machine, live->act.run);
        next = live->next;
        if (run && run->stop && live->gate &&
            (run->state == RUN_VERIFYING || run->state == RUN_PROVING))
            gate_post(live, VERDICT_ERROR, false, "the check was stopped");
    }
}
