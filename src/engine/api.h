/* Every door's way in: requests become events, answers are snapshots. The HTTP server, and the
 * command line when no engine runs, call the same function. */
#pragma once
#include "base/str.h"
#include "engine/engine.h"

typedef struct ApiRequest {
    const char *method; /* "GET", "POST", "PATCH", "DELETE" */
    const char *path;   /* "/api/v1/tasks/12", without the query */
    const char *query;  /* "state=failed&limit=5" or "" */
    const char *body;   /* JSON or NULL */
    size_t body_length;
    const char *run_token; /* of an agent: only its own run's verbs; NULL for the owner */
} ApiRequest;

typedef struct ApiReply {
    int status;           /* HTTP status */
    Str body;             /* JSON; {"error":{"kind","message"}} for failures */
    bool is_event_stream; /* the server turns this connection into a stream of events */
    int64_t stream_after; /* send stored events after this id first */
    ProjectId stream_project;
    TaskId stream_task;
    bool stream_output;
} ApiReply;

void api_handle(Engine *engine, const ApiRequest *request, ApiReply *reply);
void api_reply_done(ApiReply *reply);

/* For the documentation and for enumerating tests: every route. */
typedef struct ApiRouteInfo {
    const char *method, *path, *help;
    bool for_agents; /* a run token may call it */
} ApiRouteInfo;
const ApiRouteInfo *api_routes(size_t *count);
