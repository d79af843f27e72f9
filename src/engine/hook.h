/* hook {command, path, timeout_s, env} -> {exit_code, timed_out, output}. A failure of the command
 * is a result, never an error: hooks are told, not asked. */
#pragma once
#include "base/err.h"
#include "base/json.h"

bool hook_job(const json_t *in, json_t *out, Err *err);
