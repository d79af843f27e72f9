/* The scripted agent: plays a scenario file as if it were a coding agent (docs/scenario.md).
 *
 * A program of its own, started like any agent (`otto script-agent FILE`) in its workspace, with
 * the prompt on stdin. Touches the workspace, starts git and shells; used by the demo, the tests
 * and for trying out settings without a model. */
#pragma once

enum { SCRIPT_FAILED = 1, SCRIPT_BAD_SCENARIO = 64 };

/* Plays the turn that the OTTO_* variables name. scenario_path may be "embedded:NAME". Returns the
 * exit code: 0, SCRIPT_FAILED when a step failed, SCRIPT_BAD_SCENARIO with the line on stderr. */
int script_main(const char *scenario_path);
