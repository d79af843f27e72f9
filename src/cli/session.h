/* One `otto run` from start to end: an engine here or elsewhere, the display, Ctrl-C.
 *
 * Touches the terminal and signals. With an engine of another process it follows that one's events;
 * without, this process becomes the engine and listens on the same socket, so that every other
 * command works beside it. */
#pragma once
#include "cli/cli.h"

typedef struct SessionRequest {
    const int64_t *tasks; /* count 0: all ready ones */
    size_t count;
    int64_t slots; /* 0: as configured */
    const char *agent, *workflow;
    bool accept_rewrite; /* the user's branch lost commits, and that is meant */
    bool is_quiet, is_json;
} SessionRequest;

/* Returns the exit code of run; EXIT_ERR: see err. */
int session_run(Cli *cli, const SessionRequest *request, Err *err);
