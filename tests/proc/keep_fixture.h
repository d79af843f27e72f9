/* For the keeper's tests: a loop, a folder, an agent whose callbacks are written down. */
#pragma once
#include "base/str.h"
#include "proc/keep.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SH(script) ARGV("sh", "-c", script)

typedef struct Watcher {
    Loop *loop;
    Keep *keep;
    char *folder;
    char mark[64]; /* in the environment of everything it starts */
    const char *env[3];
    Str out, err, both; /* what was heard; both: in order of hearing */
    int64_t offset;     /* after the last output */
    int64_t bytes;
    int outputs, starts, exits;
    pid_t agent;
    ProcIdent keeper;
    KeepExit exit;
    bool is_forgetful;  /* count bytes, do not keep them */
    bool frees_at_exit; /* keep_free inside on_exit */
    int stop_at_output; /* keep_free inside the n-th on_output */
} Watcher;

int watcher_setup(void **state); /* *state: Watcher * */
int watcher_teardown(void **state);

KeepSpec spec_of(Watcher *watcher, const char *const *argv); /* name "a", marked environment */
void start(Watcher *watcher, const KeepSpec *spec);
void attach(Watcher *watcher, int64_t offset); /* name "a" */
void detach(Watcher *watcher);                 /* and forget what was heard */
/* Turns the loop until the condition holds; fails after a minute. */
#define UNTIL(watcher, condition)                                                                  \
    for (int64_t end_ = until_begin(); !(condition); until_turn((watcher), end_, #condition))      \
    continue
int64_t until_begin(void);
void until_turn(Watcher *watcher, int64_t end_ms, const char *condition);
void until_exit(Watcher *watcher);
const KeepExit *run_to_end(Watcher *watcher, const char *const *argv);
/* Processes with our mark; ends them. After a proper exit there are none. */
int strays(Watcher *watcher);
char *path_in(Watcher *watcher, const char *name); /* owned by the caller */
bool exists_in(Watcher *watcher, const char *name);
