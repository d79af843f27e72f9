/* The subject: the real otto program on a state folder and a repository of its own. */
#pragma once
#include "base/json.h"
#include "tests/bench/bench.h"
#include "tests/bench/program.h"

typedef struct SubjectSpec {
    const char *below; /* bench->disk or bench->memory */
    unsigned slots;
    const char *agent[4]; /* argument vector of the agent, NULL-terminated */
} SubjectSpec;

typedef struct Subject {
    Bench *bench;
    const char *state, *repo, *socket;
    const char *const *env;
} Subject;

/* A repository with one commit and an otto.yaml without workspaces and checks, an empty state. */
bool subject_make(Bench *bench, const SubjectSpec *spec, Subject *subject, Err *err) NODISCARD;
/* Adds tasks as a user would. */
bool subject_add(const Subject *subject, unsigned tasks, Err *err) NODISCARD;
/* Writes tasks into the store directly, each with up to `edges` dependencies: for sizes that would
 * take minutes otherwise. There must be at least one task. */
bool subject_fill(const Subject *subject, unsigned tasks, unsigned edges, Err *err) NODISCARD;
/* `otto run` to its end. */
bool subject_run(const Subject *subject, Cost *cost, Err *err) NODISCARD;
/* `otto serve`, until it answers. */
bool subject_serve(const Subject *subject, Daemon *daemon, Err *err) NODISCARD;
bool subject_wait(const Subject *subject, const Daemon *daemon, Err *err) NODISCARD;
/* One request to the daemon; reply may be NULL, else owned by the caller. */
bool subject_call(const Subject *subject, const char *method, const char *path, const char *body,
                  json_t **reply, Err *err) NODISCARD;
/* Any command of otto in the repository. */
Program subject_program(const Subject *subject, const char *const *argv);
