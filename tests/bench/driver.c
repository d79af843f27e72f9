/* The real decisions on the real store: see driver.h. */
#include "tests/bench/driver.h"
#include "base/arena.h"
#include "core/machine.h"
#include "core/signal.h"
#include "store/store.h"
#include "tests/bench/floor_graph.h"
#include "tests/bench/floor_sql.h"
#include <stdlib.h>

enum { RING = 1024 }; /* events that wait; at most a few per slot */

struct Driver {
    Store *store;
    Machine *machine;
    Step step;
    Str data;
    Event ring[RING];
    unsigned first, count;
    unsigned done;
    int64_t now_ms;
    bool is_open; /* a transaction is */
};

static const char some_commit[] = "0123456789abcdef0123456789abcdef01234567";
static const int64_t start_ms = 1700000000000;

static void post(Driver *driver, const Event *event)
{
    if (driver->count < RING)
        driver->ring[(driver->first + driver->count++) % RING] = *event;
}

static void answer_turn(Driver *driver, Event event)
{
    event.kind = EV_TURN_STARTED;
    event.a = 4711;
    post(driver, &event);
    event.kind = EV_SIGNAL;
    event.a = SIGNAL_COMPLETE;
    post(driver, &event);
    event.kind = EV_TURN_ENDED;
    event.a = 0;
    post(driver, &event);
}

/* What an ideal world reports. */
static void answer(Driver *driver, const Effect *effect)
{
    Event event = {.project = effect->project,
                   .task = effect->task,
                   .run = effect->run,
                   .epoch = effect->epoch,
                   .turn = effect->turn};
    if (effect->kind == FX_START_TURN) {
        answer_turn(driver, event);
        return;
    }
    if (effect->kind == FX_PREPARE)
        event.kind = EV_WORKSPACE_READY, event.text = "/work", event.ref = some_commit;
    else if (effect->kind == FX_SNAPSHOT)
        event.kind = EV_SNAPSHOT_TAKEN, event.a = 1, event.ref = some_commit;
    else if (effect->kind == FX_GATE)
        event.kind = EV_GATE_ENDED, event.a = VERDICT_PASS;
    else if (effect->kind == FX_RETIRE)
        event.kind = EV_RETIRED;
    else
        return; /* notices, and the end of the autopilot */
    post(driver, &event);
}

static bool load_task(Driver *driver, TaskId id, Err *err)
{
    Task task = {.id = id,
                 .project = 1,
                 .state = TASK_PENDING,
                 .priority = (uint8_t)(score_of(id) % 4),
                 .created_ms = start_ms + id};
    StoreTaskText text = {
        .id = id, .project = 1, .title = "A task of the benchmark", .created_ms = task.created_ms};
    machine_load_task(driver->machine, &task);
    return store_task_save(driver->store, &task, err) &&
           store_task_text_save(driver->store, &text, err);
}

static bool load_edges(Driver *driver, TaskId id, unsigned edges, Err *err)
{
    for (unsigned e = 0; e < edges; e++) {
        Dependency dependency = {.task = id, .on = edge_of(id, e), .need = NEED_DONE};
        if (!dependency.on)
            continue;
        machine_load_dependency(driver->machine, &dependency);
        if (!store_dependency_add(driver->store, &dependency, err))
            return false;
    }
    return true;
}

static bool load_all(Driver *driver, const DriverSpec *spec, Err *err)
{
    Project project = {
        .id = 1,
        .limits = {.slots = spec->slots, .max_turns = 50, .max_retries = 3, .timeout_ms = 1800000}};
    StoreProjectText text = {.id = 1,
                             .path = "/bench",
                             .hub = "",
                             .target = "main",
                             .name = "bench",
                             .settings_json = "{}",
                             .added_ms = start_ms};
    machine_reserve(driver->machine, spec->tasks, spec->tasks * spec->edges);
    machine_load_project(driver->machine, &project);
    bool is_fine = store_begin(driver->store, err) &&
                   store_project_save(driver->store, &project, err) &&
                   store_project_text_save(driver->store, &text, err);
    for (TaskId id = 1; is_fine && id <= spec->tasks; id++)
        is_fine = load_task(driver, id, err);
    for (TaskId id = 1; is_fine && id <= spec->tasks; id++)
        is_fine = load_edges(driver, id, spec->edges, err);
    machine_loaded(driver->machine);
    return is_fine && store_commit(driver->store, err);
}

Driver *driver_new(const DriverSpec *spec, Err *err)
{
    Driver *driver = mem_alloc(sizeof *driver);
    driver->now_ms = start_ms + 10000000;
    driver->machine = machine_new();
    driver->store = store_open(spec->path, STORE_CREATE, err);
    if (!driver->store || !load_all(driver, spec, err)) {
        driver_free(driver);
        return NULL;
    }
    post(driver, &(Event){.kind = EV_ENGINE_STARTED, .a = 1, .text = "bench"});
    post(driver, &(Event){.kind = EV_AUTOPILOT_STARTED, .project = 1});
    return driver;
}

void driver_free(Driver *driver)
{
    if (!driver)
        return;
    store_free(driver->store);
    machine_free(driver->machine);
    step_done(&driver->step);
    str_done(&driver->data);
    free(driver);
}

unsigned driver_done(const Driver *driver)
{
    return driver->done;
}

static bool save_event(Driver *driver, const Event *event, Err *err)
{
    int64_t id;
    str_clear(&driver->data);
    event_write(event, &driver->data);
    StoreEvent row = {.at_ms = event->at_ms,
                      .project = event->project,
                      .task = event->task,
                      .run = event->run,
                      .epoch = event->epoch,
                      .turn = event->turn,
                      .kind = event->kind,
                      .data = str_text(&driver->data),
                      .decision = str_text(&driver->step.decision),
                      .why = str_text(&driver->step.why)};
    return store_event_put(driver->store, &row, &id, err);
}

bool driver_step(Driver *driver, Err *err)
{
    if (!driver->count)
        return err_set(err, ERR_INTERNAL, "the machine asked for nothing more");
    if (!driver->is_open && !store_begin(driver->store, err))
        return false;
    driver->is_open = true;
    Event event = driver->ring[driver->first];
    driver->first = (driver->first + 1) % RING;
    driver->count--;
    event.at_ms = ++driver->now_ms;
    machine_step(driver->machine, &event, &driver->step);
    if (!driver->step.is_accepted)
        return err_set(err, ERR_INTERNAL, "'%s' was refused: %s", event_word(event.kind),
                       str_text(&driver->step.why));
    const Task *task = machine_task(driver->machine, event.task);
    driver->done += event.kind == EV_GATE_ENDED && task && task->state == TASK_DONE;
    uint32_t count;
    const Effect *effects = machine_effects(driver->machine, &count);
    for (uint32_t i = 0; i < count; i++)
        answer(driver, &effects[i]);
    machine_effects_taken(driver->machine);
    return save_event(driver, &event, err);
}

/* Changed rows are stored once per commit, as the engine does. */
bool driver_commit(Driver *driver, Err *err)
{
    Dirty dirty = machine_dirty(driver->machine);
    bool is_fine = true;
    for (uint32_t i = 0; is_fine && i < dirty.project_count; i++)
        is_fine = store_project_save(driver->store, dirty.projects[i], err);
    /* A new run before the task that names it: a reference that points nowhere, if only until the
     * next statement, makes SQLite search whole tables. */
    for (uint32_t i = 0; is_fine && i < dirty.run_count; i++)
        is_fine = store_run_save(driver->store, dirty.runs[i], err);
    for (uint32_t i = 0; is_fine && i < dirty.task_count; i++)
        is_fine = store_task_save(driver->store, dirty.tasks[i], err);
    machine_flushed(driver->machine);
    driver->is_open = false;
    return is_fine && store_commit(driver->store, err);
}
