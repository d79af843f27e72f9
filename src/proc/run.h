/* Running a program to its end: git, checks, hooks. Blocks; for the loop's own long runs there is
 * keep.h.
 *
 * The child has a session of its own. Its end is its exit, never the end of its output: a
 * grandchild that holds the pipe open delays nothing (D-88). What is left of its process group is
 * killed at the end, after a success too. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include <stddef.h>
#include <stdint.h>

enum { RUN_LIMIT_BYTES = 8 * 1024 * 1024, RUN_GRACE_MS = 500 };

typedef struct RunSpec {
    const char *const *argv; /* as in spawn.h */
    const char *const *envp; /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    const char *input;       /* what it reads from stdin; NULL: /dev/null */
    size_t input_length;     /* 0: strlen(input) */
    int64_t timeout_ms;      /* 0: none */
    int64_t grace_ms;        /* between TERM and KILL; 0: RUN_GRACE_MS */
    size_t limit_bytes;      /* kept per stream, the head; 0: RUN_LIMIT_BYTES */
    bool merge_err;          /* stderr goes into out, in the order written */
} RunSpec;

typedef struct RunResult {
    int exit_code; /* -1: it did not exit by itself */
    int signal;    /* that ended it, or 0 */
    bool timed_out;
    bool out_cut, err_cut; /* there was more than limit_bytes */
    Str out, err;
} RunResult;

/* false: it could not be started (ERR_NOT_FOUND: no such program); result is empty then. An exit
 * code other than 0 is not an error here. */
bool proc_run(const RunSpec *spec, RunResult *result, Err *err) NODISCARD;
void run_result_done(RunResult *result); /* fits CLEANUP */
