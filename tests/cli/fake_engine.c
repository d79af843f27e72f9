/* A stand-in for the engine: see fake_engine.h. */
#include "tests/cli/fake_engine.h"
#include <stdio.h>
#include <string.h>

FakeEngine fake;

void api_handle(Engine *engine, const ApiRequest *request, ApiReply *reply)
{
    (void)engine;
    fake.calls++;
    (void)snprintf(fake.last, sizeof fake.last, "%s %s?%s token=%s body=%.40s", request->method,
                   request->path, request->query, request->run_token ? request->run_token : "-",
                   request->body ? request->body : "-");
    reply->status = 200;
    if (text_equal(request->path, "/api/v1/events")) {
        reply->is_event_stream = true;
        reply->stream_output = strstr(request->query, "output=1") != NULL;
        reply->stream_task = strstr(request->query, "task=7") ? 7 : 0;
    } else if (text_equal(request->path, "/missing")) {
        reply->status = 404;
        str_add(&reply->body, "{\"error\":{\"kind\":\"not-found\",\"message\":\"no such thing\"}}");
    } else if (text_equal(request->path, "/big")) {
        str_add_char(&reply->body, '"');
        for (int i = 0; i < 300000; i++)
            str_add(&reply->body, "0123456789");
        str_add_char(&reply->body, '"');
    } else {
        str_addf(&reply->body, "{\"n\":%d,\"body\":%zu}", fake.calls, request->body_length);
    }
}

void api_reply_done(ApiReply *reply)
{
    str_done(&reply->body);
}

int engine_listen(Engine *engine, EngineListener *listener, void *user, bool with_output)
{
    (void)engine;
    fake.listener = listener;
    fake.user = user;
    fake.with_output = with_output;
    return fake.listen_count++;
}

void engine_unlisten(Engine *engine, int handle)
{
    (void)engine;
    (void)handle;
    fake.listen_count--;
    fake.listener = NULL;
}

void fake_publish(const char *json)
{
    if (fake.listener)
        fake.listener(fake.user, json, strlen(json));
}

bool engine_events_after(Engine *engine, int64_t after, ProjectId project, TaskId task,
                         EngineListener *fn, void *user, Err *err)
{
    (void)engine;
    (void)project;
    (void)task;
    (void)err;
    for (int64_t id = after + 1; id <= fake.stored; id++) {
        Str json = STR_INIT;
        str_addf(&json, "{\"id\":%lld,\"pad\":\"%*s\"}", (long long)id, (int)fake.event_bytes, "");
        fn(user, json.bytes, json.length);
        str_done(&json);
    }
    return true;
}
