/* The engine: opening, the turn (decide, commit, act, publish), listeners. See engine.h. */
#include "engine/engine.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/internal.h"
#include "proc/lock.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    RETRY_COMMIT_MS = 1000, /* after a failed commit (full disk) */
    DISK_PROBE_MS = 30000,  /* only while agents are at work */
};

int64_t engine_now(const Engine *engine)
{
    return engine->wall_zero + (clock_mono_ms() - engine->mono_zero);
}

Loop *engine_loop(Engine *engine)
{
    return engine->loop;
}

bool engine_is_online(const Engine *engine)
{
    return engine->options.is_online;
}

Event act_event(const Act *act, EventKind kind)
{
    return (Event){.kind = kind,
                   .project = act->project,
                   .task = act->task,
                   .run = act->run,
                   .epoch = act->epoch,
                   .turn = act->turn};
}

/* Deciding */

static bool is_lazy(EventKind kind)
{
    return kind == EV_TURN_STARTED || kind == EV_SIGNAL || kind == EV_TICK;
}

/* The log must say whether effects are carried out before it says anything else. */
static void announce(Engine *engine)
{
    if (engine->has_announced)
        return;
    engine->has_announced = true;
    Event event = {.kind = EV_ENGINE_STARTED, .a = engine->options.is_online, .text = OTTO_VERSION};
    (void)engine_post(engine, &event); /* always accepted */
}

/* What was decided about other tasks: their history, not input of any decision. */
static void write_notes(Engine *engine, const Event *event)
{
    for (uint32_t i = 0; i < engine->step.note_count; i++) {
        const StepNote *entry = &engine->step.notes[i];
        const Task *task = machine_task(engine->machine, entry->task);
        engine_write(engine, &(Write){.kind = WRITE_EVENT,
                                      .place = {.state = task ? task_state_word(task->state) : ""},
                                      .event = {.at_ms = event->at_ms,
                                                .project = task ? task->project : 0,
                                                .task = entry->task,
                                                .kind = EV_NOTE,
                                                .why = entry->text}});
    }
}

/* The phase in which it happened is the one before the decision: an answer belongs to the phase
 * that gave it. The states are those it led to. */
static EventPlace place_before(const Engine *engine, const Event *event)
{
    const Run *run = machine_run(engine->machine, event->run);
    if (!run || !run->workflow) /* names of a workflow are plain words */
        return (EventPlace){0};
    return (EventPlace){.phase = engine_phase(engine, run)->name,
                        .checkpoint = engine_checkpoint(engine, run),
                        .stage = run->stage};
}

static void place_after(const Engine *engine, const Event *event, EventPlace *place)
{
    const Task *task = machine_task(engine->machine, event->task);
    const Run *run = machine_run(engine->machine, event->run);
    place->state = task ? task_state_word(task->state) : "";
    place->run_state = run ? run_state_word(run->state) : "";
    place->status =
        run && run->workflow && task ? machine_status_word(engine->machine, task) : NULL;
}

/* A pause that the engine made is over: nobody is needed for it any more. */
static void close_pause(Engine *engine, const Event *event)
{
    if (engine->step.is_accepted &&
        (event->kind == EV_RESUME || event->kind == EV_AUTOPILOT_STARTED))
        engine_write(engine, &(Write){.kind = WRITE_NOTICE_CLOSE,
                                      .notice = {.project = event->project,
                                                 .kind = "paused",
                                                 .at_ms = event->at_ms}});
}

bool engine_post(Engine *engine, const Event *given)
{
    announce(engine);
    Event event = *given;
    event.at_ms = event.at_ms ? event.at_ms : engine_now(engine);
    EventPlace place = place_before(engine, &event);
    steps_before(engine, &event);
    machine_step(engine->machine, &event, &engine->step);
    place_after(engine, &event, &place);
    bool has_decided = engine->step.decision.length || engine->step.why.length;
    if (event.kind == EV_TICK && !has_decided)
        return true; /* nothing happened; not worth a row */
    CLEANUP(str_done) Str data = STR_INIT;
    event_write(&event, &data);
    engine_write(
        engine,
        &(Write){.kind = WRITE_EVENT,
                 .place = place,
                 .event = {.at_ms = event.at_ms,
                           .project = event.project,
                           .task = event.task,
                           .run = event.run,
                           .epoch = event.epoch,
                           .turn = event.turn,
                           .kind = (int)event.kind,
                           .data = data.length > 2 ? str_text(&data) : NULL,
                           .decision = str_text(&engine->step.decision),
                           .why = engine->step.why.length ? str_text(&engine->step.why) : NULL}});
    write_notes(engine, &event);
    steps_write(engine, &event);
    close_pause(engine, &event);
    engine->is_urgent = engine->is_urgent || !is_lazy(event.kind);
    return engine->step.is_accepted;
}

/* Committing */

static bool store_rows(Engine *engine, Err *err)
{
    Dirty dirty = machine_dirty(engine->machine);
    for (uint32_t i = 0; i < dirty.project_count; i++)
        if (!store_project_save(engine->store, dirty.projects[i], err))
            return false;
    for (uint32_t i = 0; i < dirty.task_count; i++)
        if (!store_task_save(engine->store, dirty.tasks[i], err))
            return false;
    for (uint32_t i = 0; i < dirty.run_count; i++)
        if (!store_run_save(engine->store, dirty.runs[i], err))
            return false;
    for (uint32_t i = 0; i < engine->write_count; i++)
        if (!write_store(engine->store, &engine->writes[i], err))
            return err_add(err, "row kind %d", (int)engine->writes[i].kind);
    return true;
}

static bool store_turn_rows(Engine *engine, Err *err)
{
    if (!store_begin(engine->store, err))
        return false;
    if (store_rows(engine, err))
        return store_commit(engine->store, err);
    store_rollback(engine->store);
    return false;
}

static void commit_failed(Engine *engine, const Err *err)
{
    if (!engine->is_failing)
        log_line("commit.failed error=\"%s\"", err->text);
    engine->is_failing = true;
    loop_timer_set(engine->loop, &engine->commit_timer, clock_mono_ms() + RETRY_COMMIT_MS);
}

static void act_all(Engine *engine)
{
    uint32_t count;
    const Effect *effects = machine_effects(engine->machine, &count);
    if (count == 0)
        return;
    Arena arena = ARENA_INIT; /* acting may decide again, so the list is copied first */
    Effect *copy = arena_alloc(&arena, count * sizeof *copy);
    memcpy(copy, effects, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        copy[i].text = arena_strdup(&arena, copy[i].text);
    machine_effects_taken(engine->machine);
    for (uint32_t i = 0; i < count; i++)
        act_on(engine, &copy[i]);
    arena_done(&arena);
}

/* A gate without commands needs nothing from the world: it is answered before the commit, so that
 * the claim and its end are one transaction. */
static void answer_empty_gates(Engine *engine)
{
    uint32_t count;
    (void)machine_effects(engine->machine, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t now;
        Effect effect = machine_effects(engine->machine, &now)[i];
        if (effect.kind == FX_GATE && engine->options.is_online)
            gate_skip_empty(engine, &effect);
    }
}

bool engine_commit(Engine *engine, Err *err)
{
    Err problem = {0};
    if (engine->is_in_commit)
        return true; /* called while acting; the turn commits again */
    engine->is_in_commit = true;
    bool is_stored = true;
    for (int round = 0; is_stored && round < 64; round++) {
        uint32_t effects;
        answer_empty_gates(engine);
        (void)machine_effects(engine->machine, &effects);
        Dirty dirty = machine_dirty(engine->machine);
        if (!engine->write_count && !dirty.task_count && !dirty.run_count && !dirty.project_count &&
            !effects)
            break;
        if (round && !effects && !engine->is_urgent)
            break; /* what acting left behind may wait */
        is_stored = store_turn_rows(engine, &problem);
        if (!is_stored)
            break;
        engine->is_failing = engine->is_urgent = false;
        loop_timer_clear(engine->loop, &engine->commit_timer);
        machine_flushed(engine->machine);
        publish_events(engine);
        engine->write_count = 0;
        arena_reset(&engine->turn_arena);
        act_all(engine);
    }
    engine->is_in_commit = false;
    if (!is_stored)
        commit_failed(engine, &problem);
    if (!is_stored && err)
        *err = problem;
    return is_stored;
}

static void on_lazy_commit(void *user)
{
    Engine *engine = user;
    engine->is_urgent = true; /* the turn that follows stores it */
}

static void on_deadline(void *user)
{
    Engine *engine = user;
    Event event = {.kind = EV_TICK};
    engine->deadline_ms = 0;
    (void)engine_post(engine, &event); /* always accepted */
}

static void set_deadline(Engine *engine)
{
    int64_t next = machine_deadline(engine->machine);
    if (next == engine->deadline_ms)
        return;
    engine->deadline_ms = next;
    if (next == INT64_MAX)
        loop_timer_clear(engine->loop, &engine->deadline_timer);
    else
        loop_timer_set(engine->loop, &engine->deadline_timer,
                       next - engine->wall_zero + engine->mono_zero);
}

static void tell_disk(Engine *engine, ProjectId project, int level)
{
    if (level)
        notice_put(engine, 0, 0, project, "disk", "the disk is getting full");
    else
        engine_write(
            engine,
            &(Write){.kind = WRITE_NOTICE_CLOSE,
                     .notice = {.project = project, .kind = "disk", .at_ms = engine_now(engine)}});
}

/* D-152. Looked at when something starts and, while agents work, now and then. */
static void probe_disk(void *user)
{
    Engine *engine = user;
    struct statvfs fs;
    if (statvfs(engine->options.state_dir, &fs) != 0)
        return; /* unknown is not full */
    int64_t free_mb = (int64_t)((uint64_t)fs.f_bavail * fs.f_frsize >> 20);
    int level = free_mb < 100 ? 3 : free_mb < 500 ? 2 : free_mb < 1000 ? 1 : 0;
    if (level != engine->disk_level) {
        engine->disk_level = level;
        Event event = {.kind = EV_DISK, .a = free_mb, .b = level};
        (void)engine_post(engine, &event); /* always accepted */
        for (uint32_t i = 0; i < engine->project_count; i++)
            tell_disk(engine, engine->projects[i]->id, level);
        if (level >= 2)
            trash_expire(engine);
    }
    if (engine->turns || level)
        loop_timer_set(engine->loop, &engine->disk_timer, clock_mono_ms() + DISK_PROBE_MS);
}

void engine_probe_disk(Engine *engine)
{
    probe_disk(engine);
}

static void on_turn(void *user)
{
    Engine *engine = user;
    uint32_t effects;
    gates_stop(engine);
    (void)machine_effects(engine->machine, &effects);
    if (effects || (engine->is_urgent && !engine->is_failing) ||
        (engine->is_failing && !loop_timer_is_set(&engine->commit_timer)))
        (void)engine_commit(engine, NULL); /* a failure is kept and tried again */
    set_deadline(engine);
    if (engine->turns && !loop_timer_is_set(&engine->disk_timer))
        loop_timer_set(engine->loop, &engine->disk_timer, clock_mono_ms() + DISK_PROBE_MS);
}

/* Opening */

static void load_project(void *user, const Project *project)
{
    machine_load_project(user, project);
}

static void load_task(void *user, const Task *task)
{
    machine_load_task(user, task);
}

static void load_dependency(void *user, const Dependency *dependency)
{
    machine_load_dependency(user, dependency);
}

static void load_run(void *user, const Run *run)
{
    machine_load_run(user, run);
}

static bool load_machine(Engine *engine, Err *err)
{
    StoreCounts counts;
    StoreLoader loader = {engine->machine, load_project, load_task, load_dependency, load_run};
    if (!store_counts(engine->store, &counts, err))
        return false;
    machine_reserve(engine->machine, counts.max_task, counts.dependencies);
    if (!flows_load(engine, err) || !store_load(engine->store, &loader, err))
        return false;
    machine_set_run_count(engine->machine, counts.max_run);
    machine_loaded(engine->machine);
    return true;
}

static char *below(const EngineOptions *options, const char *name)
{
    Str path = STR_INIT;
    str_addf(&path, "%s/%s", options->state_dir, name);
    return str_take(&path);
}

static bool make_folders(Engine *engine, Err *err)
{
    const EngineOptions *o = &engine->options;
    engine->path_runs = below(o, "runs");
    engine->path_work = below(o, "work");
    engine->path_gate = below(o, "gate");
    engine->path_trash = below(o, "trash");
    engine->path_hubs = below(o, "hubs");
    engine->path_tmp = below(o, "tmp");
    engine->path_socket = below(o, "sock");
    char *const folders[] = {engine->path_runs,  engine->path_work, engine->path_gate,
                             engine->path_trash, engine->path_hubs, engine->path_tmp};
    for (size_t i = 0; i < COUNT(folders); i++)
        if (!folder_ensure(folders[i], 0700, err))
            return err_add(err, "state folder '%s'", o->state_dir);
    return true;
}

static bool take_state(Engine *engine, Err *err)
{
    const EngineOptions *o = &engine->options;
    CLEANUP(mem_freep) char *lock = below(o, "lock");
    CLEANUP(mem_freep) char *database = below(o, "otto.db");
    CLEANUP(mem_freep) char *log = below(o, "log");
    if (!folder_ensure(o->state_dir, 0700, err))
        return err_add(err, "state folder '%s'", o->state_dir);
    if (access(o->state_dir, W_OK) != 0)
        return err_errno(err, "state folder '%s' cannot be written", o->state_dir);
    if (!lock_take(lock, o->lock_wait_ms > 0, o->lock_wait_ms, &engine->lock_fd, err)) {
        if (err->kind == ERR_BUSY)
            return err_add(err, "another engine holds the state folder '%s'", o->state_dir);
        return false;
    }
    (void)log_open(log); /* an engine without a log still works */
    if (!make_folders(engine, err))
        return false;
    engine->store = store_open(database, STORE_CREATE, err);
    return engine->store != NULL;
}

static bool engine_begin(Engine *engine, Err *err)
{
    engine->machine = machine_new();
    engine->loop = loop_new(err);
    if (!engine->loop)
        return false;
    CLEANUP(mem_freep) char *log = below(&engine->options, "log");
    engine->jobs = jobs_new(engine->loop, engine->options.program, log);
    engine->commit_timer = (LoopTimer){.fn = on_lazy_commit, .user = engine};
    engine->deadline_timer = (LoopTimer){.fn = on_deadline, .user = engine};
    engine->disk_timer = (LoopTimer){.fn = probe_disk, .user = engine};
    loop_set_turn(engine->loop, on_turn, engine);
    return secret_load(engine, err) && projects_load(engine, err) && load_machine(engine, err) &&
           engine_take_up(engine, err);
}

Engine *engine_open(const EngineOptions *options, Err *err)
{
    Engine *engine = mem_alloc(sizeof *engine);
    engine->options = *options;
    engine->options.state_dir = mem_strdup(options->state_dir);
    engine->options.program = mem_strdup(options->program);
    engine->options.keeper = mem_strdup(options->keeper);
    engine->lock_fd = -1;
    engine->wall_zero = engine->started_ms = clock_wall_ms();
    engine->mono_zero = clock_mono_ms();
    if (take_state(engine, err) && engine_begin(engine, err)) {
        log_line("engine.started online=%d version=%s", options->is_online, OTTO_VERSION);
        return engine;
    }
    engine_free(engine);
    return NULL;
}

void engine_free(Engine *engine)
{
    if (!engine)
        return;
    if (engine->store && engine->loop && !engine->is_failing)
        (void)engine_commit(engine, NULL); /* lazily kept facts; nobody waits for them */
    jobs_free(engine->jobs);
    turns_free(engine);
    gates_free(engine);
    projects_free(engine);
    flows_free(engine);
    memos_free(engine);
    loop_free(engine->loop);
    store_free(engine->store);
    machine_free(engine->machine);
    step_done(&engine->step);
    arena_done(&engine->turn_arena);
    free(engine->writes);
    free(engine->listeners);
    char *const texts[] = {engine->path_runs,
                           engine->path_work,
                           engine->path_gate,
                           engine->path_trash,
                           engine->path_hubs,
                           engine->path_tmp,
                           engine->path_socket,
                           (char *)engine->options.state_dir,
                           (char *)engine->options.program,
                           (char *)engine->options.keeper};
    for (size_t i = 0; i < COUNT(texts); i++)
        free(texts[i]);
    lock_drop(&engine->lock_fd);
    log_close();
    free(engine);
}

/* Waiting */

static bool is_busy(const Engine *engine)
{
    uint32_t effects;
    (void)machine_effects(engine->machine, &effects);
    return engine->turns || engine->gates || jobs_running(engine->jobs) || effects ||
           engine->is_urgent;
}

bool engine_settle(Engine *engine, Err *err)
{
    if (!engine_commit(engine, err))
        return false;
    while (is_busy(engine)) {
        (void)loop_run_once(engine->loop, -1); /* the turn does the work */
        if (engine->is_failing)
            return engine_commit(engine, err);
    }
    return engine_commit(engine, err);
}

bool engine_is_quiet(const Engine *engine, ProjectId id)
{
    const Project *project = machine_project(engine->machine, id);
    bool is_still =
        !project || project->autopilot == AUTO_IDLE || project->autopilot == AUTO_PAUSED;
    return is_still && !is_busy(engine);
}
