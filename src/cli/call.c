/* The caller: see call.h. */
#include "cli/call.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "engine/api.h"
#include "http/client.h"
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct Caller {
    CallerOptions options;
    char *socket;
    HttpClient *client; /* one of these two is set */
    Engine *engine;
    bool owns_engine;
};

enum { LOCK_WAIT_MS = 10000, LOCK_STEP_MS = 250 };

static Caller *caller_new(const CallerOptions *options)
{
    Str path = STR_INIT;
    Caller *caller = mem_alloc(sizeof *caller);
    caller->options = *options;
    str_addf(&path, "%s/sock", options->state_dir);
    caller->socket = str_take(&path);
    return caller;
}

/* Between two looks at the socket an engine may come up or go: its lock is waited for in steps. */
static bool reach(Caller *caller, Err *err)
{
    EngineOptions options = {.state_dir = caller->options.state_dir,
                             .program = caller->options.program,
                             .keeper = caller->options.keeper,
                             .is_online = caller->options.is_online,
                             .is_errand = caller->options.is_errand,
                             .lock_wait_ms = LOCK_STEP_MS};
    int64_t give_up_ms = clock_mono_ms() + LOCK_WAIT_MS;
    for (;;) {
        caller->client = http_connect(caller->socket, err);
        if (caller->client)
            return true;
        if (err->kind != ERR_NOT_FOUND)
            return false;
        caller->engine = engine_open(&options, err);
        caller->owns_engine = caller->engine != NULL;
        if (caller->engine)
            return true;
        if (err->kind != ERR_BUSY || clock_mono_ms() > give_up_ms)
            return false;
    }
}

Caller *caller_open(const CallerOptions *options, Err *err)
{
    Err problem = {0}; /* a busy first try leaves no trace in the caller's err */
    Caller *caller = caller_new(options);
    if (reach(caller, &problem))
        return caller;
    if (err)
        *err = problem;
    caller_free(caller);
    return NULL;
}

Caller *caller_around(const CallerOptions *options, Engine *engine)
{
    Caller *caller = caller_new(options);
    caller->engine = engine;
    return caller;
}

void caller_free(Caller *caller)
{
    if (!caller)
        return;
    http_close(caller->client);
    if (caller->owns_engine)
        engine_free(caller->engine);
    mem_freep(&caller->socket);
    mem_freep(&caller);
}

bool caller_is_live(const Caller *caller)
{
    return caller->client != NULL;
}

Engine *caller_engine(Caller *caller)
{
    return caller->engine;
}

const char *caller_socket(const Caller *caller)
{
    return caller->socket;
}

static ErrKind kind_of(const char *name)
{
    for (int kind = ERR_NONE; kind <= ERR_INTERNAL; kind++)
        if (text_equal(err_kind_name((ErrKind)kind), name))
            return (ErrKind)kind;
    return ERR_INTERNAL;
}

static bool take_reply(int status, const char *body, size_t length, json_t **reply, Err *err)
{
    CLEANUP(json_freep) json_t *json = length ? json_read(body, length, err) : json_object();
    if (!json) {
        err->kind = ERR_INTERNAL;
        return err_add(err, "the engine's answer");
    }
    if (status >= 400) {
        const json_t *error = json_object_get(json, "error");
        return err_set(err, kind_of(json_text(error, "kind", "")), "%s",
                       json_text(error, "message", "the engine gave no reason"));
    }
    if (reply)
        *reply = TAKE(json);
    return true;
}

static bool call_inside(Caller *caller, const char *method, const char *path, const char *body,
                        json_t **reply, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    const char *mark = strchr(path, '?');
    ApiRequest request = {.method = method, .body = body, .query = mark ? mark + 1 : ""};
    request.path = mark ? arena_strndup(&scratch, path, (size_t)(mark - path)) : path;
    request.body_length = body ? strlen(body) : 0;
    ApiReply answer = {0};
    api_handle(caller->engine, &request, &answer);
    bool is_taken =
        take_reply(answer.status, str_text(&answer.body), answer.body.length, reply, err);
    api_reply_done(&answer);
    return is_taken;
}

static bool call_outside(Caller *caller, const char *method, const char *path, const char *body,
                         json_t **reply, Err *err)
{
    CLEANUP(str_done) Str answer = STR_INIT;
    int status = 0;
    if (!http_exchange(caller->client, method, path, body, NULL, &status, &answer, err))
        return false;
    return take_reply(status, str_text(&answer), answer.length, reply, err);
}

bool call_api(Caller *caller, const char *method, const char *path, const json_t *body,
              json_t **reply, Err *err)
{
    Err none = {0};
    err = err ? err : &none;
    CLEANUP(mem_freep) char *text = body ? json_write(body) : NULL;
    if (body && !text)
        return err_set(err, ERR_USAGE, "the request holds text that is not valid UTF-8");
    return caller->client ? call_outside(caller, method, path, text, reply, err)
                          : call_inside(caller, method, path, text, reply, err);
}

bool call_get(Caller *caller, json_t **reply, Err *err, const char *path, ...)
{
    char whole[8192];
    va_list args;
    va_start(args, path);
    int length = vsnprintf(whole, sizeof whole, path, args);
    va_end(args);
    if (length < 0 || length >= (int)sizeof whole)
        return err_set(err, ERR_USAGE, "the request is too long");
    return call_api(caller, "GET", whole, NULL, reply, err);
}

bool call_post(Caller *caller, const json_t *body, json_t **reply, Err *err, const char *path, ...)
{
    char whole[1024];
    va_list args;
    va_start(args, path);
    int length = vsnprintf(whole, sizeof whole, path, args);
    va_end(args);
    if (length < 0 || length >= (int)sizeof whole)
        return err_set(err, ERR_USAGE, "the request is too long");
    CLEANUP(json_freep) json_t *empty = json_object();
    return call_api(caller, "POST", whole, body ? body : empty, reply, err);
}

/* Enough to recognise a project that we know already. */
bool caller_repository(char *root)
{
    char probe[PATH_MAX + 8];
    if (!getcwd(root, PATH_MAX))
        return false;
    for (;;) {
        bool is_top = text_equal(root, "/");
        (void)snprintf(probe, sizeof probe, "%s/.git", is_top ? "" : root); /* has the room */
        if (path_exists(probe))
            return true;
        char *slash = strrchr(root, '/');
        if (is_top || !slash)
            return false;
        slash[slash == root ? 1 : 0] = '\0';
    }
}

static bool known_project(Caller *caller, json_t **reply)
{
    char root[PATH_MAX];
    CLEANUP(json_freep) json_t *all = NULL;
    if (!caller_repository(root) || !call_get(caller, &all, NULL, "/api/v1/projects"))
        return false;
    size_t index;
    json_t *project;
    json_array_foreach(json_object_get(all, "projects"), index, project)
    {
        if (!text_equal(json_text(project, "path", ""), root))
            continue;
        *reply = json_pack("{s:O}", "project", project);
        return true;
    }
    return false;
}

bool caller_project(Caller *caller, bool is_fresh, json_t **reply, Err *err)
{
    if (!is_fresh && known_project(caller, reply))
        return true;
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return err_errno(err, "cannot find the current folder");
    CLEANUP(json_freep) json_t *body = json_pack("{s:s}", "path", folder);
    if (!body)
        return err_set(err, ERR_USAGE, "the path of the current folder is not valid UTF-8");
    return call_post(caller, body, reply, err, "/api/v1/projects");
}
