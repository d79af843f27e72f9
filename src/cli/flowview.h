/* A workflow as text for a person: tables of its rows, and one row explained. Names and sentences
 * may come from a user's file; all pass through the escaping of term.h. */
#pragma once
#include "cli/term.h"
#include "core/workflow.h"

/* Phases, statuses, limits, entries, routes and commands. */
void flow_show(const Term *term, const Workflow *flow, const char *origin, Str *out);
/* Explains the row with this id; false when there is none. */
bool flow_show_row(const Term *term, const Workflow *flow, const char *id, Str *out);
/* The id that was probably meant, or NULL. */
const char *flow_nearest_row(const Workflow *flow, const char *id);
