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
    char name[136];     /* the :name of the path, decoded; "" none */
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
/* What a person says goes into the next prompt of the run that goes on, or of the next one. Takes
 * words. */
void keep_words(Call *call, SaysKind kind, json_t *words);
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
json_t *hint_of(const char *kind, TaskId task); /* the command that answers a notice, or null */

/* api_tasks.c */
bool api_task_add(Call *call);
bool api_task_edit(Call *call);

/* api_flow.c */
bool api_workflows(Call *call);
bool api_step(Call *call);
bool api_result(Call *call);
bool api_prompt(Call *call);
json_t *steps_json(Engine *engine, TaskId task);
/* The lines that made a guard fire, for the approval they ask for. */
json_t *guard_lines(Engine *engine, TaskId task);
/* workflow, phase, checkpoint, status, substate, stage, steps_used, convergence; run NULL: none */
void add_flow_fields(Engine *engine, const Run *run, json_t *json);

/* api_target.c */
bool api_target_show(Call *call);
bool api_target_edit(Call *call);
bool api_refine(Call *call);

/* api_target_edit.c */
/* The objective of a task with the edits of a request applied; texts live in the arena. */
bool objective_edit(Call *call, TaskId task, const json_t *edits, Arena *arena,
                    StoreObjective *out);
bool objective_is_written(const char *title, const char *body);
/* Requirements of a new task: checked, and told in the limits of its event; then stored. */
bool objective_read(const json_t *task, json_t *limits, Err *err);
void objective_store(Engine *engine, TaskId id, const char *title, const json_t *task);

/* api_review.c */
bool api_inbox(Call *call);
bool api_review(Call *call);

/* api_profile.c */
bool api_profile_list(Call *call);
bool api_profile_show(Call *call);
bool api_profile_set(Call *call);

/* api_record.c */
bool api_task_report(Call *call);
bool api_timeline(Call *call);
bool api_export(Call *call);
