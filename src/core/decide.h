/* `otto decide NAME`: any single decision as JSON in, JSON out.
 *
 * Thin wrappers: each reads its fields by one table, calls the function that the engine calls and
 * writes down the answer. The table also makes --list, --help and docs/decide.md. Pure. */
#pragma once
#include "base/macros.h"
#include <stddef.h>

enum { DECIDE_INPUT_MAX = 16 * 1024 * 1024 };

/* The answer as compact JSON, owned by the caller; never NULL. exit_code is 0, or 1 with
 * {"error":{"kind":"bad-input","message",…}} as the answer. */
char *decide_run(const char *name, const char *json, size_t length, int *exit_code);
/* The message of such an error, for people (owned by the caller); NULL when it is none. */
char *decide_error_message(const char *answer);

/* Texts for people, owned by the caller. decide_help is NULL for an unknown name. */
char *decide_list(void);
char *decide_help(const char *name);
/* The whole of docs/decide.md, each example with its answer. */
char *decide_document(void);
