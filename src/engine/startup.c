/* Starting is the ordinary case: settings, what is owed, what the world looks like. */
#include "base/file.h"
#include "base/log.h"
#include "engine/internal.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* A project whose settings cannot be read now is taken up with defaults: its runs are not lost. */
static void read_all_settings(Engine *engine)
{
    for (uint32_t i = 0; i < engine->project_count; i++) {
        ProjectInfo *project = engine->projects[i];
        Err err = {0};
        if (machine_project(engine->machine, project->id) &&
            !project_read_settings(engine, project, &err)) {
            log_line("settings.bad project=%u error=\"%s\"", project->id, err.text);
            project_default_settings(project);
        }
    }
}

static void on_swept(void *user, const json_t *result, const Err *err)
{
    (void)user;
    if (!result)
        log_line("sweep.failed error=\"%s\"", err->text);
}

/* The copy that a reviewer of an earlier engine still works on, or will. */
static bool is_reviewed(const Engine *engine, const char *name)
{
    unsigned run_id, epoch, turn;
    if (sscanf(name, "review-r%u-e%u-t%u", &run_id, &epoch, &turn) != 3)
        return false;
    const Run *run = machine_run(engine->machine, run_id);
    return run && run->epoch == epoch && run->turn == turn &&
           (run->state == RUN_WORKING || run->state == RUN_STOPPING);
}

/* Checkouts of gates are ours alone and hold nothing: all of an earlier engine's go. */
static void sweep_gates(Engine *engine)
{
    DIR *folder = opendir(engine->path_gate);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[PATH_MAX];
        if (entry->d_name[0] == '.' || is_reviewed(engine, entry->d_name))
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", engine->path_gate, entry->d_name);
        if (length < 0 || length >= (int)sizeof path)
            continue;
        json_t *in = json_pack("{s:s,s:s}", "path", path, "root", engine->path_gate);
        job_start(engine->jobs, "discard", in, on_swept, NULL);
    }
    (void)closedir(folder); /* only read from */
}

/* What is past its days, or whole in the hub, goes; at a start and when the disk fills (D-152). */
void trash_expire(Engine *engine)
{
    json_t *in = json_pack("{s:s,s:I}", "trash", engine->path_trash, "now_ms",
                           (json_int_t)engine_now(engine));
    job_start(engine->jobs, "trash-expire", in, on_swept, NULL);
}

static void unlock_hubs(Engine *engine)
{
    for (uint32_t i = 0; i < engine->project_count; i++) {
        ProjectInfo *project = engine->projects[i];
        if (!path_is_folder(project->hub))
            continue;
        json_t *in = json_pack("{s:s}", "hub", project->hub);
        job_start(engine->jobs, "unlock", in, on_swept, NULL);
        project->behind = 1; /* whether something waits for delivery is not known: ask */
        project_deliver(engine, project);
    }
    trash_expire(engine);
}

/* Notices are written after what they tell of. Those that an earlier engine did not come to write
 * are written now: whoever waits for a person must be seen. */

enum { WORD_SIZE = 64 };

typedef struct Told {
    RunId run;
    bool is_open, is_told;
} Told;

static bool look_at_notice(void *user, const StoreNotice *notice)
{
    Told *told = user;
    told->is_open |= !notice->closed_ms;
    told->is_told |= notice->run == told->run;
    return true;
}

static bool last_result(void *user, const StoreStep *step)
{
    char *word = user;
    (void)snprintf(word, WORD_SIZE, "%s", step->result); /* a word of the table */
    return true;
}

static const char *word_of(Engine *engine, const Task *task, const Run *run, char *word)
{
    Err ignored = {0};
    if (run->workflow)
        IGNORE(store_step_list(engine->store, task->id, last_result, word, &ignored));
    if (*word)
        return word;
    if (task->state == TASK_BLOCKED || run->state == RUN_ASKING)
        return run->signal == SIGNAL_BLOCKED   ? "BLOCKED"
               : run->signal == SIGNAL_PENDING ? "PENDING"
               : task->state == TASK_REVIEW    ? "pass"
                                               : "error";
    return task_state_word(task->state);
}

static void tell_again(Engine *engine, const Task *task, const Run *run)
{
    char word[WORD_SIZE] = "";
    Told told = {.run = run->id};
    Err ignored = {0};
    bool is_asking = run->state == RUN_ASKING;
    bool is_over =
        task->state == TASK_BLOCKED || task->state == TASK_FAILED || task->state == TASK_TIMEOUT;
    if (!is_asking && !is_over)
        return;
    IGNORE(store_notice_list_task(engine->store, task->id, look_at_notice, &told, &ignored));
    if (is_asking ? told.is_open : told.is_open || told.is_told)
        return;
    act_on(engine, &(Effect){.kind = FX_NOTICE,
                             .project = task->project,
                             .task = task->id,
                             .run = run->id,
                             .epoch = run->epoch,
                             .turn = run->turn,
                             .text = word_of(engine, task, run, word)});
}

static void tell_all_again(Engine *engine)
{
    for (TaskId id = 1; id <= machine_task_count(engine->machine); id++) {
        const Task *task = machine_task(engine->machine, id);
        const Run *run = task ? machine_run(engine->machine, task->run) : NULL;
        if (run)
            tell_again(engine, task, run);
    }
}

bool engine_take_up(Engine *engine, Err *err)
{
    if (engine->options.is_errand)
        read_all_settings(engine);
    if (!engine->options.is_online)
        return true; /* reading changes nothing; the first wish announces it */
    Event event = {.kind = EV_TICK};
    (void)engine_post(engine, &event); /* announces the engine; deadlines that passed meanwhile */
    read_all_settings(engine);
    engine_probe_disk(engine);
    sweep_gates(engine);
    unlock_hubs(engine);
    machine_owe_again(engine->machine);
    tell_all_again(engine);
    engine->is_taking_up = true;
    bool is_stored = engine_commit(engine, err);
    engine->is_taking_up = false;
    return is_stored;
}
