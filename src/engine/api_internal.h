/* Shared by the files of the API. */
#pragma once
#include "engine/api.h"
#include "engine/internal.h"

typedef struct Call {
    Engine *engine;
    const ApiRequest *request;
    ApiReply *reply;
    const json_t *body; /* an object, or NULL */
    int64_t id;         /* the :id of the path; 0 none */
    RunId run;          /* of an agent's token */
    uint32_t epoch;
    Err err;
} Call;

/* Each fills reply and returns true, or sets call->err and returns false. */
typedef bool ApiFn(Call *call);

void reply_json(Call *call, json_t *json);                                 /* takes ownership */
bool query_get(const Call *call, const char *key, char *out, size_t size); /* decoded */
int64_t query_int(const Call *call, const char *key, int64_t fallback);
/* Posts, stores; false with err when refused or not stored. */
bool wish(Call *call, const Event *event);
const Task *call_task(Call *call);     /* by the path; NULL with err */
ProjectInfo *call_project(Call *call); /* by ?project= or body; NULL with err */

/* Rows become items of a list. */
typedef struct Lister {
    Engine *engine;
    json_t *list;
} Lister;
bool add_notice(void *user, const StoreNotice *notice);
bool add_landed(void *user, const StoreLanding *landing);

json_t *text_or_null(const char *text);               /* "" is null, too */
json_t *safe_string(const char *text, size_t length); /* bytes that are not UTF-8 replaced */
json_t *parse_or(const char *text, json_t *fallback); /* takes fallback */
json_t *counts_json(const Counts *counts);

/* api_status.c, api_show.c, api_log.c, api_report.c */
bool api_status(Call *call);
bool api_task_list(Call *call);
bool api_task_show(Call *call);
bool api_task_why(Call *call);
bool api_task_log(Call *call);
bool api_report(Call *call);
bool api_projects(Call *call);
bool api_project_config(Call *call);
json_t *project_json(Engine *engine, const ProjectInfo *project);
json_t *needs_you_json(Engine *engine, ProjectId project);

/* api_tasks.c */
bool api_task_add(Call *call);
bool api_task_edit(Call *call);
