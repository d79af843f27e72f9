/* Programs that a command starts and waits for: the editor, git, an agent asked for its version. */
#pragma once
#include "base/err.h"
#include "base/str.h"

/* In the foreground, with our terminal. Returns its exit code; -1: see err. */
int child_run(const char *const *argv, Err *err);
/* Collects its first bytes of output (standard error too), gives it at most wait_ms. Returns its
 * exit code; -1: see err (ERR_NOT_FOUND: there is no such program). */
int child_output(const char *const *argv, const char *folder, int wait_ms, Str *out, Err *err);
