/* The caller: one way to ask the engine, whether one runs or not.
 *
 * Tries the socket of the state folder; when no engine listens, opens the folder itself with an
 * offline engine and calls the same function that the server calls. Touches the socket, or the
 * state folder through the engine. */
#pragma once
#include "base/err.h"
#include "base/json.h"

typedef struct CallerOptions {
    const char *state_dir; /* borrowed for the caller's life, as are the others */
    const char *program, *keeper;
    bool is_errand; /* when no engine runs, carry out what is asked for now, and nothing else */
    bool is_online; /* when no engine runs, be one that works (run, serve), not one that notes */
} CallerOptions;

typedef struct Caller Caller;
typedef struct Engine Engine;

Caller *caller_open(const CallerOptions *options, Err *err) NODISCARD;
/* Around an engine that this process already holds; it is not freed with the caller. */
Caller *caller_around(const CallerOptions *options, Engine *engine);
void caller_free(Caller *caller); /* NULL is fine */

bool caller_is_live(const Caller *caller); /* an engine of another process answers */
Engine *caller_engine(Caller *caller);     /* of this process; NULL when another one answers */
const char *caller_socket(const Caller *caller);

/* body and reply may be NULL. A refusal by the API becomes an Err of its kind. path may carry a
 * query. reply is owned by the caller of this function. */
bool call_api(Caller *caller, const char *method, const char *path, const json_t *body,
              json_t **reply, Err *err) NODISCARD;
bool call_get(Caller *caller, json_t **reply, Err *err, const char *path, ...)
    PRINTF(4, 5) NODISCARD;
bool call_post(Caller *caller, const json_t *body, json_t **reply, Err *err, const char *path, ...)
    PRINTF(5, 6) NODISCARD;

/* The project around the current folder. A known one is found without reading its settings again;
 * with is_fresh (or when it is new) the engine looks at the repository and reply also holds
 * "warnings". reply is {"project":{...}}. */
bool caller_project(Caller *caller, bool is_fresh, json_t **reply, Err *err) NODISCARD;
/* The nearest folder upwards that holds .git, in a buffer of PATH_MAX; false: there is none. */
bool caller_repository(char *root);
