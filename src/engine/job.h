/* Worker processes: one git job each (`otto do NAME`), JSON in, JSON out, never in the loop.
 *
 * Input and output are memory files, so a job that prints much blocks nobody and needs no pipe.
 * A worker ends with its engine; every job may be repeated. */
#pragma once
#include "base/json.h"
#include "proc/loop.h"

typedef struct Jobs Jobs;

/* result is borrowed; on a failed job err says why and result is NULL. */
typedef void JobDone(void *user, const json_t *result, const Err *err);

Jobs *jobs_new(Loop *loop, const char *program, const char *log_path);
/* Running workers get some seconds, then are ended; their callbacks are not called. */
void jobs_free(Jobs *jobs);
uint32_t jobs_running(const Jobs *jobs);
/* Takes ownership of input. The callback comes from the loop, also when the start failed.
 * user: NULL, or plain memory that the callback frees (or jobs_free, when it is never called). */
void job_start(Jobs *jobs, const char *name, json_t *input, JobDone *done, void *user);
/* The same with a user that stays somebody else's. */
void job_start_borrowed(Jobs *jobs, const char *name, json_t *input, JobDone *done, void *user);
