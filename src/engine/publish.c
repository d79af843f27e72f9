/* What is told after a commit: listeners get events and, if they want it, the agents' output. */
#include "engine/internal.h"
#include <string.h>

int engine_listen(Engine *engine, EngineListener *fn, void *user, bool with_output)
{
    engine->listeners =
        mem_grow(engine->listeners, engine->listener_count + 1, sizeof *engine->listeners);
    engine->listeners[engine->listener_count++] =
        (Listener){++engine->next_handle, fn, user, with_output};
    return engine->next_handle;
}

void engine_unlisten(Engine *engine, int handle)
{
    for (uint32_t i = 0; i < engine->listener_count; i++)
        if (engine->listeners[i].handle == handle) {
            engine->listeners[i] = engine->listeners[--engine->listener_count];
            return;
        }
}

static void tell(Engine *engine, const Str *json, bool is_output)
{
    for (uint32_t i = engine->listener_count; i-- > 0;)
        if (i < engine->listener_count && (!is_output || engine->listeners[i].with_output))
            engine->listeners[i].fn(engine->listeners[i].user, json->bytes, json->length);
}

/* place NULL: nobody remembers where it stood then, and where it stands now would be a lie. */
static void event_json(const StoreEvent *event, const EventPlace *place, Str *out)
{
    str_addf(out, "{\"id\":%lld,\"at_ms\":%lld,\"event\":\"%s\"", (long long)event->id,
             (long long)event->at_ms, event_word((EventKind)event->kind));
    if (event->project)
        str_addf(out, ",\"project\":%u", event->project);
    if (event->task)
        str_addf(out, ",\"task\":%u", event->task);
    if (event->run)
        str_addf(out, ",\"run\":%u,\"epoch\":%u,\"turn\":%u", event->run, event->epoch,
                 event->turn);
    str_addf(out, ",\"data\":%s", event->data && *event->data ? event->data : "{}");
    if (event->why && *event->why) {
        str_add(out, ",\"why\":");
        str_add_json(out, event->why);
    }
    if (place && place->state && *place->state)
        str_addf(out, ",\"state\":\"%s\"", place->state);
    if (place && place->run_state && *place->run_state)
        str_addf(out, ",\"run_state\":\"%s\"", place->run_state);
    if (place && place->phase) /* names of a workflow are plain words */
        str_addf(out, ",\"phase\":\"%s\",\"checkpoint\":\"%s\",\"status\":\"%s\",\"stage\":%u",
                 place->phase, place->checkpoint, place->status ? place->status : "", place->stage);
    str_add_char(out, '}');
}

void publish_events(Engine *engine)
{
    if (!engine->listener_count)
        return;
    CLEANUP(str_done) Str json = STR_INIT;
    for (uint32_t i = 0; i < engine->write_count; i++) {
        if (engine->writes[i].kind != WRITE_EVENT)
            continue;
        str_clear(&json);
        event_json(&engine->writes[i].event, &engine->writes[i].place, &json);
        tell(engine, &json, false);
    }
}

void publish_output(Engine *engine, const LiveTurn *turn, int stream, const char *bytes,
                    size_t length)
{
    bool is_wanted = false;
    for (uint32_t i = 0; i < engine->listener_count; i++)
        is_wanted = is_wanted || engine->listeners[i].with_output;
    if (!is_wanted)
        return;
    CLEANUP(str_done) Str json = STR_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    for (size_t i = 0; i < length; i++) /* NUL would cut the JSON text */
        str_add_char(&text, bytes[i] ? bytes[i] : '?');
    str_addf(&json,
             "{\"event\":\"output\",\"project\":%u,\"task\":%u,\"run\":%u,\"turn\":%u,"
             "\"stream\":%d,\"text\":",
             turn->act.project, turn->act.task, turn->act.run, turn->act.turn, stream);
    str_add_json(&json, str_text(&text));
    str_add_char(&json, '}');
    tell(engine, &json, true);
}

typedef struct Backlog {
    EngineListener *fn;
    void *user;
    TaskId task;
    Str json;
} Backlog;

static bool send_stored(void *user, const StoreEvent *event)
{
    Backlog *backlog = user;
    if (backlog->task && event->task != backlog->task)
        return true;
    str_clear(&backlog->json);
    event_json(event, NULL, &backlog->json);
    backlog->fn(backlog->user, backlog->json.bytes, backlog->json.length);
    return true;
}

bool engine_events_after(Engine *engine, int64_t after, ProjectId project, TaskId task,
                         EngineListener *fn, void *user, Err *err)
{
    Backlog backlog = {fn, user, task, STR_INIT};
    bool is_read = store_event_list(engine->store, project, after, 0, send_stored, &backlog, err);
    str_done(&backlog.json);
    return is_read;
}
