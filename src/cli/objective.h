/* From words and Markdown to edits of an objective, as POST /tasks/:id/target takes them.
 *
 * A requirement is written `TEXT :: CRITERIA :: WEIGHT`; criteria and weight may be left out,
 * WEIGHT is critical, important, optional or 3, 2, 1. Markdown: each list item that is not indented
 * is an item, indented ones below it are its requirements; below a heading that begins with
 * "Constraint" items are constraints. Other lines are left out. Pure. */
#pragma once
#include "base/err.h"
#include "base/json.h"

enum { OBJECTIVE_MOST_BYTES = 256 * 1024, OBJECTIVE_MOST_EDITS = 500 };

/* Sets "text", "criteria" and "weight" of an edit: those that are there. */
bool objective_requirement(const char *text, json_t *edit, Err *err) NODISCARD;
/* Adds the edits of a list to edits. name is for messages. */
bool objective_markdown(const char *name, const char *text, json_t *edits, Err *err) NODISCARD;
