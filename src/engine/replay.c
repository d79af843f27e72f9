/* Replaying recorded events: see replay.h. */
#include "engine/replay.h"
#include "base/arena.h"
#include "base/file.h"
#include "core/machine.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Replay {
    Machine *machine;
    Step step;
    ReplayResult *result;
} Replay;

static void replay_begin(Replay *replay, ReplayResult *result)
{
    *result = (ReplayResult){0};
    *replay = (Replay){.machine = machine_new(), .result = result};
}

static void replay_end(Replay *replay)
{
    machine_free(replay->machine);
    step_done(&replay->step);
}

static void compare(Replay *replay, int64_t id, const Event *event, const char *recorded)
{
    const char *made = str_text(&replay->step.decision);
    if (strcmp(made, recorded) == 0)
        return;
    if (replay->result->differences++ == 0)
        replay->result->first =
            json_pack("{s:I,s:s,s:I,s:I,s:s,s:s}", "id", (json_int_t)id, "event",
                      event_word(event->kind), "task", (json_int_t)event->task, "run",
                      (json_int_t)event->run, "recorded", recorded, "replayed", made);
}

static void replay_event(Replay *replay, int64_t id, const Event *event, const char *recorded)
{
    machine_step(replay->machine, event, &replay->step);
    machine_flushed(replay->machine);
    machine_effects_taken(replay->machine);
    replay->result->events++;
    compare(replay, id, event, recorded ? recorded : "");
}

static bool replay_stored(void *user, const StoreEvent *stored)
{
    Event event = {.kind = (EventKind)stored->kind,
                   .at_ms = stored->at_ms,
                   .project = stored->project,
                   .task = stored->task,
                   .run = stored->run,
                   .epoch = stored->epoch,
                   .turn = stored->turn};
    CLEANUP(json_freep)
    json_t *data = stored->data && *stored->data
                       ? json_read(stored->data, strlen(stored->data), NULL)
                       : json_object();
    if (stored->kind < 0 || stored->kind >= EVENT_COUNT)
        return true;
    event_read(&event, data);
    replay_event(user, stored->id, &event, stored->decision);
    return true;
}

bool replay_store(const char *database, ReplayResult *result, Err *err)
{
    Replay replay;
    Store *store = store_open(database, STORE_READ_ONLY, err);
    if (!store)
        return false;
    replay_begin(&replay, result);
    bool is_read = store_event_list(store, 0, 0, 0, replay_stored, &replay, err);
    replay_end(&replay);
    store_free(store);
    return is_read;
}

/* Files: one JSON object per line */

static bool save_event(void *user, const StoreEvent *event)
{
    FILE *out = user;
    Str line = STR_INIT;
    str_addf(&line,
             "{\"id\":%lld,\"at_ms\":%lld,\"event\":\"%s\",\"project\":%u,\"task\":%u,"
             "\"run\":%u,\"epoch\":%u,\"turn\":%u,\"data\":%s,\"decision\":",
             (long long)event->id, (long long)event->at_ms, event_word((EventKind)event->kind),
             event->project, event->task, event->run, event->epoch, event->turn,
             event->data && *event->data ? event->data : "{}");
    str_add_json(&line, event->decision ? event->decision : "");
    str_add(&line, ",\"why\":");
    str_add_json(&line, event->why ? event->why : "");
    str_add(&line, "}\n");
    bool is_written = fwrite(line.bytes, 1, line.length, out) == line.length;
    str_done(&line);
    return is_written;
}

bool replay_save(const char *database, const char *path, int64_t *events, Err *err)
{
    Store *store = store_open(database, STORE_READ_ONLY, err);
    FILE *out = store ? fopen(path, "we") : NULL;
    if (!out) {
        if (store)
            (void)err_errno(err, "cannot write '%s'", path); /* false says it failed */
        store_free(store);
        return false;
    }
    bool is_fine = store_event_list(store, 0, 0, 0, save_event, out, err) &&
                   store_event_last(store, events, err);
    bool is_kept = !ferror(out) && fflush(out) == 0;
    if (fclose(out) != 0 || !is_kept)
        is_fine = err_errno(err, "cannot write '%s'", path);
    store_free(store);
    return is_fine;
}

static bool replay_line(Replay *replay, const char *path, int64_t number, const char *line,
                        size_t length, Err *err)
{
    CLEANUP(json_freep) json_t *json = json_read(line, length, err);
    EventKind kind;
    if (!json)
        return err_add(err, "'%s' line %lld", path, (long long)number);
    if (!event_find(json_text(json, "event", ""), &kind))
        return err_set(err, ERR_USAGE, "'%s' line %lld: unknown event '%.40s'", path,
                       (long long)number, json_text(json, "event", ""));
    Event event = {.kind = kind,
                   .at_ms = json_int(json, "at_ms", 0),
                   .project = (ProjectId)json_int(json, "project", 0),
                   .task = (TaskId)json_int(json, "task", 0),
                   .run = (RunId)json_int(json, "run", 0),
                   .epoch = (uint32_t)json_int(json, "epoch", 0),
                   .turn = (uint32_t)json_int(json, "turn", 0)};
    event_read(&event, json_object_get(json, "data"));
    replay_event(replay, json_int(json, "id", number), &event, json_text(json, "decision", ""));
    return true;
}

bool replay_file(const char *path, ReplayResult *result, Err *err)
{
    FILE *in = fopen(path, "re");
    if (!in) {
        int code = errno;
        (void)err_errno(err, "cannot read '%s'", path); /* false says it failed */
        if (code == ENOENT && err)
            err->kind = ERR_NOT_FOUND;
        return false;
    }
    Replay replay;
    replay_begin(&replay, result);
    char *line = NULL;
    size_t size = 0;
    bool is_fine = true;
    int64_t number = 0;
    for (ssize_t length; is_fine && (length = getline(&line, &size, in)) > 0;)
        is_fine = replay_line(&replay, path, ++number, line, (size_t)length, err);
    if (is_fine && number == 0)
        is_fine = err_set(err, ERR_USAGE, "'%s' holds no events", path);
    free(line);
    (void)fclose(in); /* only read from */
    replay_end(&replay);
    if (!is_fine)
        replay_result_done(result);
    return is_fine;
}

void replay_result_done(ReplayResult *result)
{
    json_decref(result->first);
    result->first = NULL;
}
