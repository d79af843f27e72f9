/* Git jobs in this process, for commands that need one answer: JSON in, JSON out. */
#pragma once
#include "base/err.h"
#include "base/json.h"

bool job_run(const char *name, const json_t *input, json_t **reply, Err *err) NODISCARD;
