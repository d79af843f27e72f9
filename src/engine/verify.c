/* Verify: what the engine measures itself before every check (A-216, B-196..B-203). Commands of the
 * project and the task, then the executable checks of the plan, on a clean checkout; what could not
 * be run is run once more; the base's own tests are tried on the new code. It gives no verdict on
 * the work: evidence for the check that follows. */
#include "base/log.h"
#include "core/change.h"
#include "core/green.h"
#include "core/judge.h"
#include "core/plan.h"
#include "engine/internal.h"
#include "engine/judging.h"
#include <stdlib.h>
#include <string.h>

/* One command with what it is and how it ended. */
typedef struct Measured {
    VerifyCommand command;
    bool is_required;  /* of the project or the task */
    uint32_t number;   /* of a check of the plan; 0 none */
    CheckState before; /* of that check */
    int exit_code;
    bool is_timed_out, is_done;
    int64_t took_ms;
    char *output;
} Measured;

struct Verify {
    Measured *rows;
    size_t count;
    size_t *running; /* indexes of the commands under way */
    size_t running_count;
    unsigned tries; /* 1 the first time, 2 for what was broken */
    json_t *change;
    char *base_failed; /* command of the base's tests that failed; NULL none */
    int base_exit;
    bool is_base;      /* the base's tests are running */
    bool has_baseline; /* checks of the plan were run on what the work began with */
    char checkpoint[32];
};

void verify_free(Verify *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->count; i++)
        free(v->rows[i].output);
    free(v->rows);
    free(v->running);
    free(v->base_failed);
    json_decref(v->change);
    free(v);
}

static bool is_at(const Verify *v, const char *checkpoint)
{
    return strcmp(v->checkpoint, checkpoint) == 0;
}

/* Which commands */

typedef struct Adding {
    LiveGate *live;
    Verify *v;
} Adding;

static Measured *row_add(Verify *v)
{
    v->rows = mem_grow(v->rows, v->count + 1, sizeof *v->rows);
    v->rows[v->count] = (Measured){.exit_code = -1};
    return &v->rows[v->count++];
}

static bool add_plan_check(void *user, const StoreCheckpoint *check)
{
    Adding *adding = user;
    Arena *arena = &adding->live->arena;
    if (!text_equal(check->mode, "executable") || !*check->command)
        return true;
    if (command_danger(check->command)) { /* B-64: looked at before it is run; the check names it */
        log_line("verify.unsafe run=%u check=%u", adding->live->act.run, check->number);
        return true;
    }
    Measured *row = row_add(adding->v);
    row->command = (VerifyCommand){arena_strdup(arena, check->name),
                                   arena_strdup(arena, check->command), 300, false};
    row->number = check->number;
    row->before = CHECK_NEW;
    (void)check_state_find(check->state, &row->before); /* unknown: new */
    return true;
}

static bool rows_find(LiveGate *live, Verify *v, Err *err)
{
    Engine *engine = live->act.engine;
    ProjectInfo *project = project_info(engine, live->act.project);
    StoreTaskText text = {0};
    VerifyCommand *commands;
    size_t count;
    Adding adding = {live, v};
    if (!store_task_text_get(engine->store, live->act.task, &live->arena, &text, err))
        return false;
    task_commands(project, &text, &live->arena, &commands, &count);
    for (size_t i = 0; i < count; i++) {
        Measured *row = row_add(v);
        row->command = commands[i];
        row->is_required = commands[i].is_required;
    }
    if (is_at(v, "post-plan"))
        return true; /* B-64: commands of a plan are run when a reviewer has let it pass */
    return store_checkpoint_list(engine->store, live->act.task, add_plan_check, &adding, err);
}

/* What each result means */

static Colour colour_of(const Measured *row)
{
    return green_colour(row->exit_code, row->is_timed_out);
}

static const char *state_of(const Measured *row)
{
    if (row->number)
        return check_state_word(green_step(GREEN_WORK, row->before, colour_of(row))->to);
    Colour colour = colour_of(row);
    return colour == COLOUR_GREEN ? "green" : colour == COLOUR_RED ? "red" : "broken";
}

/* (pass), (fail) or (partial), and the first thing that was not as it should be. */
static const char *result_of(const Verify *v, Str *why)
{
    bool has_failed = false, has_doubt = v->count == 0;
    if (v->count == 0)
        str_add(why, "no command is configured");
    for (size_t i = 0; i < v->count; i++) {
        const Measured *row = &v->rows[i];
        const char *state = state_of(row);
        bool is_baseline = is_at(v, "post-plan");
        bool is_good = text_equal(state, "green") || text_equal(state, "early") ||
                       text_equal(state, "approved");
        bool counts = !is_baseline && (row->is_required || text_equal(state, "regressed") ||
                                       (row->number && is_at(v, "post-exec")));
        if (is_good)
            continue;
        if (!why->length || (counts && !has_failed)) {
            str_clear(why);
            str_addf(why, "'%s' is %s", row->command.name, state);
        }
        has_failed |= counts;
        has_doubt = true;
    }
    return has_failed ? "(fail)" : has_doubt ? "(partial)" : "(pass)";
}

/* Records */

void check_moved(Engine *engine, const Run *run, uint32_t number, const char *name,
                 const GreenRow *move)
{
    engine_write(engine, &(Write){.kind = WRITE_CHECKPOINT_STATE,
                                  .checkpoint = {.task = run->task,
                                                 .number = number,
                                                 .state = check_state_word(move->to),
                                                 .at_ms = engine_now(engine)}});
    if (!move->is_cycle && !move->is_regression)
        return;
    json_t *data = json_pack("{s:i,s:s,s:s}", "step", (int)number, "check", name, "state",
                             check_state_word(move->to));
    record_put(engine, run, RECORD_GREEN, check_state_word(move->to), move->why, data);
    json_decref(data);
}

static void save_states(LiveGate *live, const Verify *v, const Run *run)
{
    for (size_t i = 0; i < v->count; i++) {
        const Measured *row = &v->rows[i];
        if (row->number)
            check_moved(live->act.engine, run, row->number, row->command.name,
                        green_step(GREEN_WORK, row->before, colour_of(row)));
    }
}

/* B-202: checks for a person wait for one when the work is there. */
static bool ask_person(void *user, const StoreCheckpoint *check)
{
    Engine *engine = user;
    if (text_equal(check->mode, "human") && !text_equal(check->state, "approved"))
        engine_write(engine, &(Write){.kind = WRITE_CHECKPOINT_STATE,
                                      .checkpoint = {.task = check->task,
                                                     .number = check->number,
                                                     .state = check_state_word(CHECK_WAITS),
                                                     .at_ms = engine_now(engine)}});
    return true;
}

static json_t *commands_json(const Verify *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->count; i++) {
        const Measured *row = &v->rows[i];
        CLEANUP(str_done) Str safe = STR_INIT;
        size_t length = row->output ? strlen(row->output) : 0;
        size_t from = length > 4000 ? length - 4000 : 0;
        if (length)
            str_add_safe(&safe, row->output + from, length - from, true);
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:s,s:i,s:s,s:b,s:I,s:i}", "name", row->command.name,
                            "command", row->command.command, "state", state_of(row), "exit_code",
                            row->exit_code, "output", str_text(&safe), "required",
                            row->is_required || (row->number && is_at(v, "post-exec")), "took_ms",
                            (json_int_t)row->took_ms, "check", (int)row->number));
    }
    return list;
}

static json_t *diffstat(const LiveGate *live, const Verify *v)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const json_t *totals = json_object_get(v->change, "totals");
    StoreTaskText words = {.type = ""};
    Err ignored = {0};
    IGNORE(store_task_text_get(live->act.engine->store, live->act.task, &arena, &words, &ignored));
    int64_t files = json_int(totals, "files", 0), lines = json_int(totals, "lines", 0),
            dirs = json_int(totals, "dirs", 0);
    const char *type = words.type && *words.type ? words.type : "software";
    return json_pack("{s:I,s:I,s:I,s:i}", "files", (json_int_t)files, "lines", (json_int_t)lines,
                     "dirs", (json_int_t)dirs, "rounds",
                     (int)audit_rounds(files, lines, dirs, type));
}

static void save_record(LiveGate *live, const Verify *v, const Run *run, const char *result,
                        const char *why)
{
    json_t *data = json_pack("{s:s,s:s,s:o,s:o,s:s}", "result", result, "why", why, "commands",
                             commands_json(v), "diffstat", diffstat(live, v), "diff",
                             json_text(v->change, "patch", ""));
    record_put(live->act.engine, run, RECORD_VERIFY, result, why, data);
    json_decref(data);
}

/* The end */

static void finish(LiveGate *live)
{
    Engine *engine = live->act.engine;
    Verify *v = live->verify;
    const Run *run = machine_run(engine->machine, live->act.run);
    CLEANUP(str_done) Str why = STR_INIT;
    const char *result = result_of(v, &why);
    Err ignored = {0};
    save_states(live, v, run);
    if (is_at(v, "post-exec"))
        IGNORE(store_checkpoint_list(engine->store, live->act.task, ask_person, engine, &ignored));
    save_record(live, v, run, result, str_text(&why));
    if (!is_at(v, "post-plan") && v->change)
        (void)guards_fire(engine, run, v->change, v->base_failed, v->base_exit); /* on record */
    Verdict verdict = text_equal(result, "(fail)")   ? VERDICT_FAIL
                      : text_equal(result, "(pass)") ? VERDICT_PASS
                                                     : VERDICT_NONE;
    char *text = mem_strdup(str_text(&why));
    gate_post(live, verdict, false, *text ? text : NULL);
    free(text);
}

/* The base's own tests on the new code: only when the work changed tests, or it would be the same
 */

static json_t *changed_tests(const LiveGate *live, const Verify *v)
{
    const ProjectInfo *project = project_info(live->act.engine, live->act.project);
    ChangeSettings settings = {.tests = project->settings.guards.test_files};
    json_t *paths = json_array();
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(v->change, "files"), i, file)
    {
        const char *path = json_text(file, "path", ""), *old = json_text(file, "old", path);
        if (change_is_test(old, &settings)) /* new ones are taken away: only the base's count */
            json_array_append_new(paths, json_string(old));
    }
    return paths;
}

static void on_base_row(void *user, size_t index, const GateRow *row)
{
    LiveGate *live = user;
    if (row->state == GATE_ROW_PASSED || live->verify->base_failed)
        return;
    live->verify->base_failed = mem_strdup(live->commands[index].command);
    live->verify->base_exit = row->exit_code;
}

static void on_base_done(void *user, Verdict verdict, int failed, const char *error)
{
    LiveGate *live = user;
    (void)failed;
    if (verdict == VERDICT_ERROR)
        log_line("verify.base run=%u error=\"%s\"", live->act.run, error ? error : "");
    finish(live);
}

static const GateCalls base_calls = {on_base_row, on_base_done};

static void on_base_checkout(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    const ProjectInfo *project = project_info(live->act.engine, live->act.project);
    if (!result || !project->settings.verify.count) {
        if (!result)
            log_line("verify.base run=%u error=\"%s\"", live->act.run, err->text);
        finish(live);
        return;
    }
    StoreTaskText nothing = {.checks_json = ""};
    task_commands(project, &nothing, &live->arena, &live->commands, &live->count);
    gate_begin(live, live->checkout, &base_calls);
}

static void base_or_finish(LiveGate *live)
{
    Verify *v = live->verify;
    const Run *run = machine_run(live->act.engine->machine, live->act.run);
    const ProjectInfo *project = project_info(live->act.engine, live->act.project);
    bool is_wanted = project->settings.guards.base_tests && is_at(v, "post-exec") && !v->is_base &&
                     project->settings.verify.count && run->has_workspace;
    json_t *paths = is_wanted ? changed_tests(live, v) : NULL;
    if (!json_array_size(paths)) {
        json_decref(paths);
        finish(live);
        return;
    }
    v->is_base = true;
    gate_checkout(live, run->commit, json_pack("{s:s,s:o}", "commit", run->base, "paths", paths),
                  on_base_checkout);
}

/* Running */

static void on_row(void *user, size_t index, const GateRow *row)
{
    LiveGate *live = user;
    Verify *v = live->verify;
    Measured *measured = &v->rows[v->running[index]];
    free(measured->output);
    measured->output = mem_strdup(row->tail);
    measured->exit_code = row->exit_code;
    measured->is_timed_out = row->state == GATE_ROW_TIMEOUT;
    measured->took_ms = row->took_ms;
    measured->is_done = true;
    GateRow shown = *row;
    VerifyCommand command = measured->command;
    command.is_required = measured->is_required || measured->number;
    shown.command = &command;
    gate_row_write(live, v->running[index], &shown);
}

static void start_running(LiveGate *live, bool only_broken);

static void on_done(void *user, Verdict verdict, int failed, const char *error)
{
    LiveGate *live = user;
    (void)failed;
    if (verdict == VERDICT_ERROR)
        gate_post(live, VERDICT_ERROR, false, error);
    else if (live->verify->tries == 1)
        start_running(live, true); /* B-199: what was broken once more */
    else
        base_or_finish(live);
}

static const GateCalls calls = {on_row, on_done};

static void start_running(LiveGate *live, bool only_broken)
{
    Verify *v = live->verify;
    VerifyCommand *commands = arena_alloc(&live->arena, (v->count + 1) * sizeof *commands);
    v->running = mem_grow(v->running, v->count + 1, sizeof *v->running);
    v->running_count = 0;
    v->tries++;
    for (size_t i = 0; i < v->count; i++) {
        if (only_broken && colour_of(&v->rows[i]) != COLOUR_BROKEN)
            continue;
        commands[v->running_count] = v->rows[i].command;
        commands[v->running_count].is_required = false; /* all of them are measured */
        v->running[v->running_count++] = i;
    }
    if (!v->running_count) {
        base_or_finish(live);
        return;
    }
    live->commands = commands;
    live->count = v->running_count;
    const ProjectInfo *project = project_info(live->act.engine, live->act.project);
    gate_begin(live, live->checkout ? live->checkout : project->path, &calls);
}

static void on_checkout(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    if (result) {
        start_running(live, false);
        return;
    }
    live->checkout = NULL;
    gate_post(live, VERDICT_ERROR, false, err->text);
}

/* The red baseline (B-196, B-200): checks of the plan that were never run are run on the commit
 * that the work began with, so that green afterwards means something. */

static void begin(LiveGate *live);

static void save_baseline(LiveGate *live)
{
    const Verify *v = live->verify;
    const Run *run = machine_run(live->act.engine->machine, live->act.run);
    json_t *list = json_array();
    size_t early = 0;
    for (size_t i = 0; i < v->running_count; i++) {
        const Measured *row = &v->rows[v->running[i]];
        early += row->before == CHECK_EARLY;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:i,s:i}", "name", row->command.name,
                                              "command", row->command.command, "state",
                                              check_state_word(row->before), "exit_code",
                                              row->exit_code, "check", (int)row->number));
    }
    json_t *data = json_pack("{s:o}", "commands", list);
    record_put(live->act.engine, run, RECORD_BASELINE, early ? "(partial)" : "(pass)",
               early ? "some checks were green before the work: they prove nothing"
                     : "every check was red before the work",
               data);
    json_decref(data);
}

static void on_baseline_row(void *user, size_t index, const GateRow *row)
{
    const LiveGate *live = user;
    Measured *measured = &live->verify->rows[live->verify->running[index]];
    measured->exit_code = row->exit_code;
    Colour colour = green_colour(row->exit_code, row->state == GATE_ROW_TIMEOUT);
    measured->before = green_step(GREEN_BASELINE, CHECK_NEW, colour)->to;
}

static void on_baseline_done(void *user, Verdict verdict, int failed, const char *error)
{
    LiveGate *live = user;
    (void)failed;
    if (verdict == VERDICT_ERROR) {
        gate_post(live, VERDICT_ERROR, false, error);
        return;
    }
    save_baseline(live);
    begin(live);
}

static const GateCalls baseline_calls = {on_baseline_row, on_baseline_done};

static void on_baseline_checkout(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    Verify *v = live->verify;
    if (!result) {
        live->checkout = NULL;
        gate_post(live, VERDICT_ERROR, false, err->text);
        return;
    }
    VerifyCommand *commands = arena_alloc(&live->arena, (v->count + 1) * sizeof *commands);
    v->running = mem_grow(v->running, v->count + 1, sizeof *v->running);
    v->running_count = 0;
    for (size_t i = 0; i < v->count; i++)
        if (v->rows[i].number && v->rows[i].before == CHECK_NEW) {
            commands[v->running_count] = v->rows[i].command;
            v->running[v->running_count++] = i;
        }
    live->commands = commands;
    live->count = v->running_count;
    gate_begin(live, live->checkout, &baseline_calls);
}

static bool needs_baseline(const Verify *v)
{
    for (size_t i = 0; !v->has_baseline && i < v->count; i++)
        if (v->rows[i].number && v->rows[i].before == CHECK_NEW)
            return true;
    return false;
}

static void begin(LiveGate *live)
{
    const Run *run = machine_run(live->act.engine->machine, live->act.run);
    if (needs_baseline(live->verify) && run->has_workspace && run->base[0]) {
        live->verify->has_baseline = true;
        gate_checkout(live, run->good[0] ? run->good : run->base, NULL, on_baseline_checkout);
        return;
    }
    if (!live->verify->count)
        base_or_finish(live);
    else if (run->has_workspace && run->commit[0])
        gate_checkout(live, run->commit, NULL, on_checkout);
    else
        start_running(live, false);
}

static void on_change(void *user, const json_t *result, const Err *err)
{
    LiveGate *live = user;
    if (!result) {
        gate_post(live, VERDICT_ERROR, false, err->text);
        return;
    }
    live->verify->change = json_deep_copy(result);
    begin(live);
}

json_t *change_input(const ProjectInfo *project, const Run *run)
{
    size_t count;
    const PatternRow *rows = test_file_rows(&count);
    const TextList *own = &project->settings.guards.test_files;
    json_t *tests = json_array();
    for (size_t i = 0; i < own->count; i++)
        json_array_append_new(tests, json_string(own->items[i]));
    for (size_t i = 0; !own->count && i < count; i++)
        json_array_append_new(tests, json_string(rows[i].pattern));
    json_array_append_new(tests, json_string("*.rs")); /* tests beside the code */
    return json_pack("{s:s,s:s,s:s,s:o}", "hub", project->hub, "base", run->base, "commit",
                     run->commit, "tests", tests);
}

void verify_run(Engine *engine, const Effect *effect)
{
    const Run *run = machine_run(engine->machine, effect->run);
    const ProjectInfo *project = project_info(engine, effect->project);
    LiveGate *live = gate_open(engine, effect, false);
    Verify *v = live->verify = mem_alloc(sizeof *v);
    Err err = {0};
    (void)snprintf(v->checkpoint, sizeof v->checkpoint, "%s", engine_checkpoint(engine, run));
    if (!rows_find(live, v, &err))
        gate_post(live, VERDICT_ERROR, false, err.text);
    else if (run->has_workspace && run->commit[0])
        job_start_borrowed(engine->jobs, "change", change_input(project, run), on_change, live);
    else
        begin(live);
}
