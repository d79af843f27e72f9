/* Jobs that block: done by a short-lived process of our own (`otto do JOB`), never in the loop.
 *
 * The job's fields come as one JSON object on stdin, its result leaves as one JSON object on
 * stdout: {"ok": true, ...} or {"ok": false, "kind": "git", "error": "sentence"}. Every job can be
 * repeated after a crash at any point and then finishes the work. */
#pragma once
#include "git/job.h"
#include <stddef.h>

typedef struct WorkJob {
    const char *name;
    JobFn run;
    const char *fields; /* what it takes -> what it gives */
} WorkJob;

enum { WORK_INPUT_LIMIT = 4 << 20 };

const WorkJob *work_jobs(size_t *count);
const WorkJob *work_job_find(const char *name);
/* Runs one job; the result is never NULL and owned by the caller. */
json_t *work_run(const WorkJob *job, const json_t *in);
/* The whole process: reads stdin, prints, returns the exit code: 0 (also for a failed job), 1 for
 * an unknown job or a result that could not be printed. */
int work_main(const char *job);
