/* Every door's way in: the route table, and the wishes that are one event each. See api.h. */
#include "engine/api.h"
#include "base/file.h"
#include "engine/api_internal.h"
#include "engine/inspect.h"
#include "proc/spawn.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void reply_json(Call *call, json_t *json)
{
    char *text = json_write(json);
    call->reply->status = 200;
    str_add(&call->reply->body, text ? text : "{}");
    free(text);
    json_decref(json);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

bool query_get(const Call *call, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    for (const char *at = call->request->query ? call->request->query : ""; *at;) {
        const char *end = strchrnul(at, '&');
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            size_t used = 0;
            for (const char *p = at + length + 1; p < end && used + 1 < size; p++) {
                bool is_hex = *p == '%' && end - p > 2 && hex(p[1]) >= 0 && hex(p[2]) >= 0;
                out[used++] = is_hex ? (char)(hex(p[1]) * 16 + hex(p[2])) : *p == '+' ? ' ' : *p;
                p += is_hex ? 2 : 0;
            }
            out[used] = '\0';
            return true;
        }
        at = *end ? end + 1 : end;
    }
    return false;
}

int64_t query_int(const Call *call, const char *key, int64_t fallback)
{
    char text[32];
    int64_t number;
    return query_get(call, key, text, sizeof text) && text_to_int(text, &number) ? number
                                                                                 : fallback;
}

bool wish(Call *call, const Event *event)
{
    if (!machine_check(call->engine->machine, event, &call->err))
        return false;
    bool is_accepted = engine_post(call->engine, event);
    CLEANUP(mem_freep) char *why = mem_strdup(str_text(&call->engine->step.why));
    if (!engine_commit(call->engine, &call->err))
        return err_add(&call->err, "not stored yet");
    if (is_accepted)
        return true;
    return err_set(&call->err, ERR_CONFLICT, "%s: refused%s%s", event_word(event->kind),
                   *why ? ": " : "", why);
}

const Task *call_task(Call *call)
{
    const Task *task = call->id > 0 && call->id <= UINT32_MAX
                           ? machine_task(call->engine->machine, (TaskId)call->id)
                           : NULL;
    if (!task)
        (void)err_set(&call->err, ERR_NOT_FOUND, "there is no task #%lld", (long long)call->id);
    return task;
}

ProjectInfo *call_project(Call *call)
{
    int64_t id = query_int(call, "project", json_int(call->body, "project", call->id));
    ProjectInfo *project =
        id > 0 && id <= UINT32_MAX ? project_info(call->engine, (ProjectId)id) : NULL;
    if (!project)
        (void)err_set(&call->err, ERR_NOT_FOUND, "there is no project %lld", (long long)id);
    return project;
}

/* Projects */

static bool post_project(Call *call)
{
    const char *path = json_text(call->body, "path", NULL);
    if (!path)
        return err_set(&call->err, ERR_USAGE, "'path' is missing");
    json_t *warnings = json_array();
    ProjectInfo *project = project_open(call->engine, path, warnings, &call->err);
    bool is_bad = json_flag(call->body, "settings", true) && project && !project->is_read &&
                  !project_read_settings(call->engine, project, &call->err);
    if (is_bad) { /* a wrong otto.yaml is said where it matters: config, run */
        json_array_append_new(warnings, json_string(call->err.text));
        project_default_settings(project);
        call->err = (Err){0};
    }
    if (!project || !engine_commit(call->engine, &call->err)) {
        json_decref(warnings);
        return false;
    }
    reply_json(call, json_pack("{s:o,s:o}", "project", project_json(call->engine, project),
                               "warnings", warnings));
    return true;
}

/* The agent's program must be there before anything is started (D-141). */
static bool check_agent(Call *call, ProjectInfo *project)
{
    const AgentSettings *agent =
        settings_agent(&project->settings, project->agent_flag, &call->err);
    char found[PATH_MAX];
    if (!agent)
        return false;
    if (text_equal(agent->kind, "script") || agent->command.shell || !agent->command.argv.count)
        return true;
    const char *program = agent->command.argv.items[0];
    if (strchr(program, '/') && program[0] != '/')
        return true; /* looked up in the workspace */
    if (!program_find(program, getenv("PATH"), found))
        return err_set(&call->err, ERR_USAGE,
                       "agent '%s': program '%s' was not found; install it or change "
                       "agents.%s.command in otto.yaml",
                       agent->name, program, agent->name);
    return true;
}

/* The hub is made, and brought in step with the user's branch, before the first claim. */
static bool check_repository(Call *call, ProjectInfo *project, json_t *warnings)
{
    CLEANUP(json_freep) json_t *info = inspect_folder(project->path);
    const char *problem = json_text(info, "problem", NULL);
    if (!json_flag(info, "ok", false) || problem)
        return err_set(&call->err, ERR_USAGE, "%s",
                       problem ? problem : json_text(info, "error", "cannot look at it"));
    if (json_flag(info, "is_empty", false) && json_text(info, "branch", NULL))
        return err_set(&call->err, ERR_USAGE,
                       "'%s' has no commit yet, so there is no branch to land on; make a first "
                       "commit, then run again",
                       project->path);
    const char *target =
        project->settings.target ? project->settings.target : json_text(info, "branch", NULL);
    if (!target)
        return err_set(&call->err, ERR_USAGE,
                       "HEAD of '%s' is detached and no target is configured; check out a branch, "
                       "or write `target: BRANCH` in otto.yaml",
                       project->path);
    project_set_target(call->engine, project, target);
    if (json_flag(info, "is_dirty", false))
        json_array_append_new(
            warnings, json_string("your checkout has uncommitted changes: otto does not touch it; "
                                  "what lands is delivered when it is clean"));
    if (text_equal(project->settings.workspace.kind, "none"))
        return true;
    return hub_prepare(project->hub, project->path, project->target,
                       json_flag(call->body, "accept_rewrite", false), &call->err);
}

static bool post_wanted(Call *call, const json_t *tasks, ProjectId project)
{
    size_t i;
    json_t *item;
    json_array_foreach(tasks, i, item)
    {
        Event event = {.kind = EV_TASK_WANTED, .task = (TaskId)json_integer_value(item)};
        const Task *task = machine_task(call->engine->machine, event.task);
        if (!json_is_integer(item) || !task || task->project != project)
            return err_set(&call->err, ERR_NOT_FOUND, "there is no task #%lld in this project",
                           (long long)json_integer_value(item));
        if (task->state == TASK_ACTIVE)
            continue; /* under way already, or resting half-way: the autopilot goes on with it */
        if (!machine_check(call->engine->machine, &event, &call->err))
            return false;
        (void)engine_post(call->engine, &event); /* just checked */
    }
    return true;
}

/* The workflow of tasks that name none, for this run; a wrong name changes nothing. */
static bool read_for_run(Call *call, ProjectInfo *project)
{
    char *before = project->flow_flag;
    project->flow_flag = mem_strdup(json_text(call->body, "workflow", NULL));
    bool is_read = project_read_settings(call->engine, project, &call->err);
    free(is_read ? before : project->flow_flag);
    if (!is_read)
        project->flow_flag = before;
    return is_read;
}

static bool post_run(Call *call)
{
    ProjectInfo *project = call_project(call);
    if (!project || !read_for_run(call, project))
        return false;
    const char *agent = json_text(call->body, "agent", NULL);
    free(project->agent_flag);
    project->agent_flag = mem_strdup(agent);
    const json_t *tasks = json_object_get(call->body, "tasks");
    int64_t slots = json_int(call->body, "slots", 0);
    CLEANUP(json_freep) json_t *warnings = json_array();
    if (slots < 0 || slots > 64)
        return err_set(&call->err, ERR_USAGE, "slots must be 1 to 64, not %lld", (long long)slots);
    if (!check_repository(call, project, warnings) || !check_agent(call, project) ||
        !post_wanted(call, tasks, project->id))
        return false;
    project_warn_idle(project, warnings);
    if (text_equal(project->settings.workspace.kind, "none") &&
        (slots ? slots : project->settings.slots) > 1)
        json_array_append_new(warnings,
                              json_string("workspace.kind is none: agents work side by side "
                                          "in your own checkout, and nothing is merged"));
    if (text_equal(project->settings.sandbox.mode, "require"))
        return err_set(
            &call->err, ERR_REFUSED,
            "sandbox.mode is 'require', but this version contains no agent: it runs with "
            "your rights; set it to 'off' if you accept that");
    if (project->settings.verify.count == 0)
        json_array_append_new(
            warnings, json_string("no verification is configured: tasks without a check of their "
                                  "own complete on the agent's word (add `verify:` to otto.yaml)"));
    Event event = {.kind = EV_AUTOPILOT_STARTED,
                   .project = project->id,
                   .a = json_array_size(tasks) > 0,
                   .b = slots ? slots : project->settings.slots};
    if (!wish(call, &event))
        return false;
    Counts counts = machine_counts(call->engine->machine, project->id);
    reply_json(call, json_pack("{s:b,s:I,s:I,s:O}", "started", 1, "ready", (json_int_t)counts.ready,
                               "running", (json_int_t)counts.running, "warnings", warnings));
    return true;
}

static bool project_wish(Call *call, EventKind kind, int64_t a)
{
    ProjectInfo *project = call_project(call);
    if (!project)
        return false;
    Event event = {.kind = kind, .project = project->id, .a = a};
    if (!wish(call, &event))
        return false;
    reply_json(call, json_pack("{s:o}", "project", project_json(call->engine, project)));
    return true;
}

static bool post_pause(Call *call)
{
    return project_wish(call, EV_PAUSE, json_int(call->body, "wait_ms", 0));
}

static bool post_resume(Call *call)
{
    return project_wish(call, EV_RESUME, 0);
}

static bool post_stop_all(Call *call)
{
    return project_wish(call, EV_STOP_ALL, json_flag(call->body, "kill", false));
}

/* Tasks: one event each */

static bool task_wish(Call *call, EventKind kind, int64_t a, const char *text)
{
    const Task *task = call_task(call);
    if (!task)
        return false;
    Event event = {.kind = kind, .project = task->project, .task = task->id, .a = a, .text = text};
    if (!machine_check(call->engine->machine, &event, &call->err))
        return false;
    if (kind != EV_STOP && kind != EV_DISCARD)
        notices_close(call->engine, task->id);
    if (!wish(call, &event))
        return false;
    task = machine_task(call->engine->machine, (TaskId)call->id);
    reply_json(call, json_pack("{s:I,s:s}", "task", (json_int_t)call->id, "state",
                               task_state_word(task->state)));
    return true;
}

static bool post_stop(Call *call)
{
    return task_wish(call, EV_STOP, json_flag(call->body, "kill", false), NULL);
}

void keep_words(Call *call, SaysKind kind, json_t *words)
{
    const Task *task = machine_task(call->engine->machine, (TaskId)call->id);
    char *text = json_write(words);
    if (task && task->run)
        engine_write(
            call->engine,
            &(Write){.kind = WRITE_RUN_TEXT,
                     .run_text = {.run = task->run, .says = text, .says_kind = (int)kind}});
    free(text);
    json_decref(words);
}

static bool post_retry(Call *call)
{
    const char *note = json_text(call->body, "note", NULL);
    if (note)
        keep_words(call, SAYS_NOTE, json_pack("{s:s}", "note", note));
    return task_wish(call, EV_RETRY, json_flag(call->body, "fresh", false), note);
}

static bool post_skip(Call *call)
{
    return task_wish(call, EV_SKIP, 0, json_text(call->body, "note", NULL));
}

static bool post_remove(Call *call)
{
    return task_wish(call, EV_REMOVE, 0, NULL);
}

static bool post_discard(Call *call)
{
    return task_wish(call, EV_DISCARD, 0, NULL);
}

static bool post_restore(Call *call)
{
    return task_wish(call, EV_RESTORE, 0, NULL);
}

static bool keep_question(void *user, const StoreNotice *notice)
{
    char **question = user;
    if (notice->closed_ms)
        return true;
    free(*question);
    *question = mem_strdup(notice->text);
    return true;
}

static bool post_answer(Call *call)
{
    const char *text = json_text(call->body, "text", NULL);
    CLEANUP(mem_freep) char *question = NULL;
    if (!text || !*text)
        return err_set(&call->err, ERR_USAGE, "the answer is empty");
    Event event = {.kind = EV_ANSWER, .task = (TaskId)call->id};
    if (!machine_check(call->engine->machine, &event, &call->err) ||
        !store_notice_list_task(call->engine->store, (TaskId)call->id, keep_question, &question,
                                &call->err))
        return false;
    keep_words(
        call, SAYS_ANSWER,
        json_pack("{s:s,s:s}", "question", question ? question : "(see above)", "answer", text));
    return task_wish(call, EV_ANSWER, 0, text);
}

static bool post_rollback(Call *call)
{
    return task_wish(call, EV_ROLLBACK, 0, NULL);
}

/* Agents */

static bool post_signal(Call *call)
{
    const char *text = json_text(call->body, "text", NULL);
    Signal signal;
    if (!text)
        return err_set(&call->err, ERR_USAGE, "'text' is missing");
    if (!call->run)
        return err_set(&call->err, ERR_REFUSED, "only an agent can signal (OTTO_TOKEN is missing)");
    if (!turn_signal(call->engine, call->run, call->epoch, text, &signal, &call->err) ||
        !engine_commit(call->engine, &call->err))
        return false;
    reply_json(call, json_pack("{s:b,s:s}", "accepted", 1, "type", signal_type_word(signal.type)));
    return true;
}

static bool get_events(Call *call)
{
    call->reply->status = 200;
    call->reply->is_event_stream = true;
    call->reply->stream_after = query_int(call, "after", INT64_MAX);
    call->reply->stream_project = (ProjectId)query_int(call, "project", 0);
    call->reply->stream_task = (TaskId)query_int(call, "task", 0);
    call->reply->stream_output = query_int(call, "output", 0) != 0;
    return true;
}

/* The routes */

typedef struct ApiRoute {
    ApiRouteInfo info;
    ApiFn *fn;
} ApiRoute;

/* clang-format off */
static const ApiRoute routes[] = {
    {{"GET",   "/api/v1/status",               "what is going on now", false}, api_status},
    {{"GET",   "/api/v1/projects",             "every known project", false}, api_projects},
    {{"POST",  "/api/v1/projects",             "find or add the project around a folder", false}, post_project},
    {{"GET",   "/api/v1/projects/:id/config",  "settings with their origin, and problems", false}, api_project_config},
    {{"POST",  "/api/v1/projects/:id/run",     "start the autopilot", false}, post_run},
    {{"POST",  "/api/v1/projects/:id/pause",   "take nothing new, let turns end", false}, post_pause},
    {{"POST",  "/api/v1/projects/:id/resume",  "go on", false}, post_resume},
    {{"POST",  "/api/v1/projects/:id/stop",    "stop every agent", false}, post_stop_all},
    {{"GET",   "/api/v1/tasks",                "tasks of a project", false}, api_task_list},
    {{"POST",  "/api/v1/tasks",                "add tasks, all or none", false}, api_task_add},
    {{"GET",   "/api/v1/tasks/:id",            "one task with its runs", false}, api_task_show},
    {{"PATCH", "/api/v1/tasks/:id",            "change a task", false}, api_task_edit},
    {{"GET",   "/api/v1/tasks/:id/why",        "why it is where it is", false}, api_task_why},
    {{"GET",   "/api/v1/tasks/:id/log",        "what its agents printed", false}, api_task_log},
    {{"POST",  "/api/v1/tasks/:id/stop",       "stop its agent", false}, post_stop},
    {{"POST",  "/api/v1/tasks/:id/retry",      "try again", false}, post_retry},
    {{"POST",  "/api/v1/tasks/:id/skip",       "leave it out", false}, post_skip},
    {{"POST",  "/api/v1/tasks/:id/remove",     "remove it", false}, post_remove},
    {{"POST",  "/api/v1/tasks/:id/restore",    "bring it back", false}, post_restore},
    {{"POST",  "/api/v1/tasks/:id/discard",    "put its kept workspace in the trash", false}, post_discard},
    {{"POST",  "/api/v1/tasks/:id/answer",     "answer its question", false}, post_answer},
    {{"POST",  "/api/v1/tasks/:id/rollback",   "undo what it landed", false}, post_rollback},
    {{"GET",   "/api/v1/tasks/:id/target",     "its objective: items, R#, stages, refinements, confirmation", false}, api_target_show},
    {{"POST",  "/api/v1/tasks/:id/target",     "change or confirm its objective, all or nothing", false}, api_target_edit},
    {{"POST",  "/api/v1/tasks/:id/refine",     "queue a refinement, or withdraw one", false}, api_refine},
    {{"POST",  "/api/v1/tasks/:id/review",     "approve, redo or reject its work", false}, api_review},
    {{"POST",  "/api/v1/tasks/:id/step",       "give a command of its workflow", false}, api_step},
    {{"GET",   "/api/v1/tasks/:id/prompt",     "what would be sent to its agent", false}, api_prompt},
    {{"GET",   "/api/v1/tasks/:id/report",     "its report: markdown, html or summary", false}, api_task_report},
    {{"GET",   "/api/v1/tasks/:id/timeline",   "its steps, with the rows that decided", false}, api_timeline},
    {{"GET",   "/api/v1/tasks/:id/export",     "its files in the layout a or b", false}, api_export},
    {{"GET",   "/api/v1/workflows",            "workflows that a project can use, and problems of their files", false}, api_workflows},
    {{"GET",   "/api/v1/profiles",             "profiles of task types that were set or observed", false}, api_profile_list},
    {{"GET",   "/api/v1/profiles/:name",       "one profile, each value with its origin", false}, api_profile_show},
    {{"POST",  "/api/v1/profiles/:name",       "fix values of a profile, or reset it", false}, api_profile_set},
    {{"GET",   "/api/v1/inbox",                "everything that needs a person", false}, api_inbox},
    {{"GET",   "/api/v1/report",               "what was done", false}, api_report},
    {{"GET",   "/api/v1/events",               "the event stream", false}, get_events},
    {{"POST",  "/api/v1/signal",               "an agent's report", true}, post_signal},
    {{"POST",  "/api/v1/result",               "an agent's structured answer", true}, api_result},
};
/* clang-format on */

const ApiRouteInfo *api_routes(size_t *count)
{
    static ApiRouteInfo list[COUNT(routes)]; /* filled from the table, the same every time */
    for (size_t i = 0; i < COUNT(routes); i++)
        list[i] = routes[i].info;
    *count = COUNT(routes);
    return list;
}

/* The last part of the path: any text, decoded. */
static bool name_fits(const char *pattern, const char *path, char *name, size_t size)
{
    size_t head = (size_t)(strstr(pattern, ":name") - pattern), used = 0;
    if (strncmp(pattern, path, head) != 0 || !path[head] || strchr(path + head, '/'))
        return false;
    for (const char *p = path + head; *p; p++) {
        bool is_hex = *p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0;
        char c = is_hex ? (char)(hex(p[1]) * 16 + hex(p[2])) : *p;
        if (!c || used + 1 == size)
            return false;
        name[used++] = c;
        p += is_hex ? 2 : 0;
    }
    name[used] = '\0';
    return true;
}

static bool path_fits(const char *pattern, const char *path, Call *call)
{
    const char *hole = strstr(pattern, ":id");
    if (strstr(pattern, ":name"))
        return name_fits(pattern, path, call->name, sizeof call->name);
    if (!hole)
        return strcmp(pattern, path) == 0;
    size_t head = (size_t)(hole - pattern), digits = 0;
    if (strncmp(pattern, path, head) != 0)
        return false;
    digits = strspn(path + head, "0123456789");
    if (digits == 0 || digits > 10 || strcmp(path + head + digits, hole + 3) != 0)
        return false;
    call->id = strtoll(path + head, NULL, 10);
    return true;
}

static const ApiRoute *route_find(Call *call)
{
    bool is_path = false;
    for (size_t i = 0; i < COUNT(routes); i++) {
        if (!path_fits(routes[i].info.path, call->request->path, call))
            continue;
        is_path = true;
        if (text_equal(routes[i].info.method, call->request->method))
            return &routes[i];
    }
    (void)err_set(&call->err, is_path ? ERR_CONFLICT : ERR_NOT_FOUND, "no such route: %s %.200s",
                  call->request->method, call->request->path); /* NULL says it failed */
    if (is_path)
        call->reply->status = 405;
    return NULL;
}

/* A run's token opens the agents' routes and nothing else; a wrong or old one opens nothing. */
static bool may_call(Call *call, const ApiRoute *route)
{
    const char *token = call->request->run_token;
    if (!token)
        return true;
    if (!secret_token_is_valid(call->engine, token, &call->run, &call->epoch))
        return err_set(&call->err, ERR_REFUSED, "this token is not known here");
    if (!route->info.for_agents)
        return err_set(&call->err, ERR_REFUSED, "an agent may not call %s", route->info.path);
    return true;
}

static bool serve(Call *call)
{
    const ApiRoute *route = route_find(call);
    CLEANUP(json_freep) json_t *body = NULL;
    if (!route || !may_call(call, route))
        return false;
    if (call->request->body && call->request->body_length) {
        body = json_read(call->request->body, call->request->body_length, &call->err);
        if (!body)
            return false;
        if (!json_is_object(body))
            return err_set(&call->err, ERR_USAGE, "the body must be a JSON object");
    }
    call->body = body;
    return route->fn(call);
}

void api_handle(Engine *engine, const ApiRequest *request, ApiReply *reply)
{
    Call call = {.engine = engine, .request = request, .reply = reply};
    if (serve(&call))
        return;
    if (!reply->status || reply->status == 200)
        reply->status = err_http_status(call.err.kind);
    str_clear(&reply->body);
    str_addf(&reply->body,
             "{\"error\":{\"kind\":\"%s\",\"message\":", err_kind_name(call.err.kind));
    str_add_json(&reply->body, call.err.text);
    str_add(&reply->body, "}}");
}

void api_reply_done(ApiReply *reply)
{
    str_done(&reply->body);
}
