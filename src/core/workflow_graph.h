/* Pictures and pages of a workflow, made from its tables. Pure. */
#pragma once
#include "base/str.h"
#include "core/workflow.h"

/* Phases with their results and where each leads; no line is wider than 80 columns. */
void workflow_graph_text(const Workflow *workflow, Str *out);
/* A self-contained SVG: phases as boxes in layers, routes as arrows with their results, ends and
 * rollbacks in their own styles. Names of the user are escaped. */
void workflow_graph_svg(const Workflow *workflow, Str *out);
/* Tables of phases, statuses, entries, routes, commands and limits for docs/workflows.md. */
void workflow_markdown(const Workflow *workflow, Str *out);
/* The page docs/workflows.md: the file format with its ten-line example, then every built-in. */
void workflow_page(Str *out);
