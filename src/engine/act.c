/* Carrying out effects: one row per kind. Results come back as events. */
#include "base/file.h"
#include "base/log.h"
#include "engine/internal.h"
#include "engine/judging.h"
#include <stdlib.h>
#include <string.h>

Act act_of(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    Act act = {engine, effect->run, effect->task, effect->project, effect->epoch, effect->turn, ""};
    if (run)
        memcpy(act.merge, run->new_tip, HASH_SIZE);
    return act;
}

Act *act_new(Engine *engine, const Effect *effect)
{
    Act *act = mem_alloc(sizeof *act);
    *act = act_of(engine, effect);
    return act;
}

/* A report about a job that failed: whether trying again can help, and the sentence. */
void post_failure(const Act *act, EventKind kind, const Err *err)
{
    Event event = act_event(act, kind);
    bool is_setting_up = kind == EV_WORKSPACE_FAILED; /* a moved folder may come back */
    event.a = is_setting_up || err_is_retryable(err->kind);
    event.text = err->text;
    event.ref2 = kind == EV_LAND_FAILED ? act->merge : NULL;
    (void)engine_post(act->engine, &event); /* refused only when old */
}

/* Notices: the inbox */

void notice_put(Engine *engine, TaskId task, RunId run, ProjectId project, const char *kind,
                const char *text)
{
    engine_write(engine, &(Write){.kind = WRITE_NOTICE,
                                  .notice = {.project = project,
                                             .task = task,
                                             .run = run,
                                             .kind = kind,
                                             .text = text,
                                             .at_ms = engine_now(engine)}});
    engine->is_urgent = true; /* a person waits for it; it must not miss the end of a run */
}

void notices_close(Engine *engine, TaskId task)
{
    engine_write(engine, &(Write){.kind = WRITE_NOTICE_CLOSE,
                                  .notice = {.task = task, .at_ms = engine_now(engine)}});
}

typedef struct NoticeRow {
    const char *result; /* of the workflow, or a word of the machine */
    const char *kind;
    const char *text; /* NULL: what the agent said */
} NoticeRow;

/* clang-format off */
static const NoticeRow notice_rows[] = {
    {"PENDING",      "question", NULL},
    {"BLOCKED",      "blocked",  NULL},
    {"limit",        "timeout",  "ran out of turns; its work is kept"},
    {"timeout",      "timeout",  "ran out of time; its work is kept"},
    {"failed",       "failed",   "the agent ended with an error; its work is kept"},
    {"killed",       "failed",   "the agent was killed again and again; its work is kept"},
    {"output-limit", "failed",   "the agent wrote more than it may; its work is kept"},
    {"spawn-failed", "failed",   "the agent could not be started again and again"},
    {"cannot-start", "failed",   NULL},
    {"error",        "blocked",  "a step could not be carried out again and again; its work is kept"},
    {"fail",         "timeout",  "its checks still fail and its turns or time are used up; its work is kept"},
    {"moved",        "blocked",  "the target branch never holds still"},
    {"conflict",     "conflict", "its work conflicts with what landed, and the agent could not resolve it"},
    {"gate-failed",  "conflict", "its work fails its checks after the merge"},
    {"stuck",        "stuck",    "many turns without a commit"},
    {"paused",       "paused",   "several tasks failed in a row; the autopilot is paused"},
    {"waiting",      "waiting",  "has waited for a slot for over an hour"},
    {"pass",         "review",   "its checks passed; it waits for your approval"},
    {"(blocked)",    "blocked",  NULL},
    {"NEEDS_REVISION", "blocked", "its plan failed review again and again; its work is kept"},
    {"NEEDS_FIX",    "blocked",  "its work failed review again and again; it is kept"},
    {"REPLAN",       "blocked",  "its plans failed again and again; its work is kept"},
    {"STALLED",      "blocked",  "several stages in a row were accepted and moved no requirement; say where to go"},
    {"(exhausted)",  "blocked",  "no direction is left that was not tried; say where to go"},
    {"invalid",      "failed",   "the agent gave no answer that can be used, twice"},
    {"enter-draft-empty", "blocked", "its target is empty: `otto edit` or `otto target` fills it in"},
    {"rollback",     "rollback", "what it landed could not be undone; see `otto why`"},
};
/* clang-format on */

/* One line must say enough for a list: the first guard, and how many more. All lines follow. */
static void add_approval(Str *out, const char *result, const char *guards)
{
    size_t first = strcspn(guards, "\n"), more = 0;
    for (const char *at = guards + first; *at; at++)
        more += at[0] == '\n' && at[1];
    str_add(out, "its work waits for your approval");
    if (!*guards) {
        str_addf(out, " (%s)", result);
        return;
    }
    const char *start = text_starts(guards, "- ") ? guards + 2 : guards;
    str_addf(out, "; a guard fired: %.*s", (int)(guards + first - start), start);
    if (more)
        str_addf(out, " (and %zu more)\n%s", more, guards);
}

/* A person is asked to judge or to confirm: what about, in full. */
static bool notice_review(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const WorkflowPhase *phase = run && run->workflow ? engine_phase(engine, run) : NULL;
    if (!phase || run->state != RUN_ASKING || !phase_has_result(phase, "approved"))
        return false;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    StoreRecord guard = {.text = ""};
    Err ignored = {0};
    if (text_equal(phase->name, "confirm")) {
        objective_question(engine, effect->task, &text);
    } else {
        IGNORE(store_record_last(engine->store, effect->task, RECORD_GUARD, NULL, &arena, &guard,
                                 &ignored));
        add_approval(&text, effect->text, guard.text && guard.run == effect->run ? guard.text : "");
    }
    notice_put(engine, effect->task, effect->run, effect->project,
               text_equal(phase->name, "confirm") ? "confirm" : "review", str_text(&text));
    return true;
}

/* A judgement without a summary: why it was made, and its first finding. */
static const char *finding_words(const json_t *data, Arena *arena)
{
    const json_t *findings = json_object_get(data, "findings");
    const char *finding = json_text(json_array_get(findings, 0), "text", "");
    const char *why = json_text(data, "why", "");
    return arena_printf(arena, "%s%s%s", why, *why && *finding ? ": " : "", finding);
}

/* What the answer of the turn said in words: its record, or the summary of its plan. */
static const char *answer_words(Engine *engine, const Effect *effect, Arena *arena)
{
    static const RecordKind kinds[] = {RECORD_CHECK, RECORD_NOTES, RECORD_PLAN};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        StoreRecord record = {0};
        Err ignored = {0};
        if (!store_record_last(engine->store, effect->task, kinds[i], NULL, arena, &record,
                               &ignored) ||
            !record.id || record.run != effect->run || record.epoch != effect->epoch ||
            record.turn != effect->turn)
            continue;
        CLEANUP(json_freep)
        json_t *data = record.data ? json_read(record.data, strlen(record.data), NULL) : NULL;
        const char *summary = json_text(data, "summary", "");
        if (*summary || (record.text && *record.text))
            return *summary ? arena_strdup(arena, summary) : record.text;
        return finding_words(data, arena);
    }
    return NULL;
}

typedef struct LastWhy {
    Arena *arena;
    const char **text;
} LastWhy;

static bool last_why(void *user, const StoreStep *step)
{
    const LastWhy *last = user;
    *last->text = arena_strdup(last->arena, step->why);
    return true;
}

/* Why the turn could not begin: the program, the prompt or a setting. */
typedef struct Refusal {
    const Effect *effect;
    Arena *arena;
    const char *text;
} Refusal;

static bool find_refusal(void *user, const StoreEvent *event)
{
    Refusal *refusal = user;
    if (event->kind != EV_TURN_REFUSED || event->run != refusal->effect->run || !event->data)
        return event->run == refusal->effect->run || event->run == 0;
    CLEANUP(json_freep) json_t *data = json_read(event->data, strlen(event->data), NULL);
    const char *error = json_text(data, "error", "");
    refusal->text = arena_printf(refusal->arena, "the turn cannot begin: %s", error);
    return false;
}

static const char *refusal_text(Engine *engine, const Effect *effect, Arena *arena)
{
    Refusal refusal = {effect, arena, "the turn cannot begin: see `otto why`"};
    Err ignored = {0};
    IGNORE(
        store_event_list_task(engine->store, effect->task, 0, 0, find_refusal, &refusal, &ignored));
    return refusal.text;
}

/* The answer that could not be used, or the check that could not be made, with the reason: the
 * step that was just written holds it. */
static const char *reason_of(Engine *engine, const Effect *effect, Arena *arena)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const char *text = "";
    Err ignored = {0};
    bool is_check = run && run->workflow && engine_phase(engine, run)->kind == PHASE_GATE;
    if (text_equal(effect->text, "invalid") || (is_check && text_equal(effect->text, "error")))
        IGNORE(store_step_list(engine->store, effect->task, last_why, &(LastWhy){arena, &text},
                               &ignored));
    return text;
}

static void act_notice(Engine *engine, const Effect *effect)
{
    if (notice_review(engine, effect))
        return;
    const NoticeRow *row = NULL;
    for (size_t i = 0; i < COUNT(notice_rows) && !row; i++)
        if (text_equal(notice_rows[i].result, effect->text))
            row = &notice_rows[i];
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTurn turn = {0};
    Err ignored = {0};
    const char *text = row ? row->text : NULL;
    if (text_equal(effect->text, "cannot-start"))
        text = refusal_text(engine, effect, &arena);
    if (!text && store_turn_get(engine->store, effect->run, effect->epoch, effect->turn, &arena,
                                &turn, &ignored))
        text = turn.payload;
    if (row && (!text || !*text))
        text = answer_words(engine, effect, &arena);
    const char *reason = reason_of(engine, effect, &arena);
    if (*reason)
        text = reason;
    else if (!row)
        IGNORE(store_step_list(engine->store, effect->task, last_why, &(LastWhy){&arena, &text},
                               &ignored));
    notice_put(engine, effect->task, effect->run, effect->project, row ? row->kind : "alert",
               text && *text ? text : effect->text);
}

/* Workspaces */

static void on_old_retired(void *user, const json_t *result, const Err *err)
{
    (void)user;
    log_line("workspace.old kept=%d why=\"%s\"", result ? json_flag(result, "kept", false) : true,
             result ? json_text(result, "why", "") : err->text);
}

/* The workspace of an earlier epoch, or of the run this one goes on from: the new one was made from
 * its snapshot, so it can be put away, with the same proof as any other. */
static bool retire_earlier(void *user, const Run *run, const StoreRunText *text)
{
    const Act *act = user;
    const char *mark = strrchr(text->workspace_path, '-');
    const ProjectInfo *project = project_info(act->engine, act->project);
    int64_t epoch = 0;
    if (!project || !mark || mark[1] != 'e' || !text_to_int(mark + 2, &epoch) || !run->commit[0] ||
        (run->id == act->run && epoch == act->epoch) || !path_is_folder(text->workspace_path))
        return true;
    json_t *in =
        json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:I,s:I,s:s}", "hub", project->hub, "path",
                  text->workspace_path, "kind", text->workspace_kind, "run", (json_int_t)run->id,
                  "epoch", (json_int_t)epoch, "root", act->engine->path_work, "trash",
                  act->engine->path_trash, "days", (json_int_t)project->settings.trash.days, "task",
                  (json_int_t)run->task, "snapshot", run->commit);
    job_start(act->engine->jobs, "retire", in, on_old_retired, NULL);
    return true;
}

static void on_prepared(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    Err ignored = {0};
    if (!result) {
        post_failure(act, EV_WORKSPACE_FAILED, err);
        free(act);
        return;
    }
    IGNORE(store_run_list(act->engine->store, act->task, retire_earlier, act, &ignored));
    engine_write(act->engine, &(Write){.kind = WRITE_RUN_TEXT,
                                       .run_text = {.run = act->run,
                                                    .workspace_path = json_text(result, "path", ""),
                                                    .workspace_kind = json_text(result, "kind", ""),
                                                    .branch = json_text(result, "branch", "")}});
    Event event = act_event(act, EV_WORKSPACE_READY);
    event.text = json_text(result, "path", "");
    event.ref = json_text(result, "base", "");
    (void)engine_post(act->engine, &event); /* refused only when old */
    free(act);
}

static json_t *copy_list(const Settings *settings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < settings->workspace.copy.count; i++)
        json_array_append_new(list, json_string(settings->workspace.copy.items[i]));
    return list;
}

static void act_prepare(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    char log[PATH_MAX];
    (void)snprintf(log, sizeof log, "%s/setup-%u-%u.log", engine->path_tmp, run->id,
                   run->epoch); /* state paths are short */
    json_t *in =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:o}", "hub", project->hub, "repo",
                  project->path, "target", project->target, "root", engine->path_work, "kind",
                  project->settings.workspace.kind, "project", (json_int_t)project->id, "task",
                  (json_int_t)run->task, "run", (json_int_t)run->id, "epoch",
                  (json_int_t)run->epoch, "copy", copy_list(&project->settings));
    if (run->commit[0]) /* its own last snapshot, or that of the run before it */
        json_object_set_new(in, "restore", json_string(run->commit));
    if (project->settings.workspace.setup) {
        json_object_set_new(in, "setup", json_string(project->settings.workspace.setup));
        json_object_set_new(in, "setup_timeout_s",
                            json_integer(project->settings.workspace.setup_timeout_s));
        json_object_set_new(in, "setup_log", json_string(log));
    }
    job_start(engine->jobs, "prepare", in, on_prepared, act_new(engine, effect));
}

static void on_snapshot(void *user, const json_t *result, const Err *err)
{
    Act *act = user;
    if (!result) {
        post_failure(act, EV_SNAPSHOT_FAILED, err);
    } else {
        Event event = act_event(act, EV_SNAPSHOT_TAKEN);
        event.a = json_int(result, "commits", 0);
        event.b = json_flag(result, "is_empty", false);
        event.ref = json_text(result, "commit", "");
        event.text = json_text(result, "rules", NULL);
        (void)engine_post(act->engine, &event); /* refused only when old */
    }
    free(act);
}

static void act_snapshot(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreRunText text = {0};
    Err err = {0};
    if (!store_run_text_get(engine->store, effect->run, &arena, &text, &err)) {
        Act act = act_of(engine, effect);
        post_failure(&act, EV_SNAPSHOT_FAILED, &err);
        return;
    }
    StoreTaskText words = {.title = ""};
    IGNORE(store_task_text_get(engine->store, effect->task, &arena, &words, &err)); /* a subject */
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:s}", "title", words.title, "hub",
                           project->hub, "path", text.workspace_path, "kind", text.workspace_kind,
                           "run", (json_int_t)run->id, "epoch", (json_int_t)run->epoch, "turn",
                           (json_int_t)run->turn, "base", run->base, "branch", text.branch);
    job_start(engine->jobs, "snapshot", in, on_snapshot, act_new(engine, effect));
}

static void act_start_turn(Engine *engine, const Effect *effect)
{
    turn_start(engine, effect);
}

static void act_stop_turn(Engine *engine, const Effect *effect)
{
    turn_stop(engine, effect, false);
}

static void act_kill_turn(Engine *engine, const Effect *effect)
{
    turn_stop(engine, effect, true);
}

static void act_gate(Engine *engine, const Effect *effect)
{
    gate_run(engine, effect, false);
}

static void act_merge_gate(Engine *engine, const Effect *effect)
{
    gate_run(engine, effect, true);
}

static void act_ended(Engine *engine, const Effect *effect)
{
    ProjectInfo *project = project_info(engine, effect->project);
    if (project)
        project_deliver(engine, project);
}

typedef struct ActRow {
    EffectKind kind;
    void (*act)(Engine *engine, const Effect *effect);
} ActRow;

/* clang-format off */
static const ActRow acts[] = {
    {FX_PREPARE,         act_prepare},
    {FX_START_TURN,      act_start_turn},
    {FX_STOP_TURN,       act_stop_turn},
    {FX_KILL_TURN,       act_kill_turn},
    {FX_SNAPSHOT,        act_snapshot},
    {FX_GATE,            act_gate},
    {FX_MERGE,           merge_run},
    {FX_MERGE_GATE,      act_merge_gate},
    {FX_LAND,            land_run},
    {FX_RETIRE,          retire_run},
    {FX_REPORT,          run_report},
    {FX_RESET,           reset_run},
    {FX_ROLLBACK,        rollback_task},
    {FX_NOTICE,          act_notice},
    {FX_AUTOPILOT_ENDED, act_ended},
};
/* clang-format on */

static bool is_owed(const Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    bool is_of_run = effect->kind >= FX_PREPARE && effect->kind <= FX_RESET;
    if (!is_of_run)
        return true;
    if (!run || run->epoch != effect->epoch)
        return false;
    return run_owes(run->state) == effect->kind ||
           (effect->kind == FX_KILL_TURN && run->state == RUN_STOPPING);
}

/* Offline, effects stay owed: the rows say so, and the next engine begins with them. Notices are
 * rows themselves and are kept at once. */
void act_on(Engine *engine, const Effect *effect)
{
    bool is_errand =
        engine->options.is_errand && (effect->kind == FX_ROLLBACK || effect->kind == FX_RETIRE);
    if (!engine->options.is_online && !is_errand && effect->kind != FX_NOTICE)
        return;
    if (!is_owed(engine, effect))
        return; /* answered meanwhile */
    for (size_t i = 0; i < COUNT(acts); i++)
        if (acts[i].kind == effect->kind) {
            acts[i].act(engine, effect);
            return;
        }
}
