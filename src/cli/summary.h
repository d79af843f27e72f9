/* What a run ends with: what landed, what failed, what waits, what to type next. */
#pragma once
#include "cli/cli.h"

typedef struct SummaryRequest {
    int64_t project;
    const int64_t *tasks; /* named by the person; count 0: all of the project */
    size_t count;
    int64_t elapsed_ms;
    bool is_json;
} SummaryRequest;

/* Adds to cli->out. EXIT_DONE when everything asked for is done, else EXIT_PARTLY; EXIT_ERR: err.
 */
int summary_print(Cli *cli, const SummaryRequest *request, Err *err);
