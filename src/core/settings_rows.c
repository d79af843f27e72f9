/* Settings: the rows. A new setting is one row here and one member in settings.h. */
#include "core/settings.h"

#define AT(member) offsetof(Settings, member)

/* clang-format off */
static const Field rows[] = {
  /* key, type, offset, default, min, max, unit, words, check, env, help */
  {"target", FIELD_TEXT, AT(target), NULL, 1, 200, NULL, NULL, field_check_branch, "OTTO_TARGET",
   "branch that work lands on; without it the branch that is checked out"},
  {"workflow", FIELD_WORD, AT(workflow), "loop", 0, 0, NULL, "loop", NULL, NULL,
   "how a task goes from idea to landed commit"},
  {"agent", FIELD_TEXT, AT(agent), NULL, 1, 64, NULL, NULL, field_check_name, "OTTO_AGENT",
   "agent used when a task names none; one of the names below agents"},
  {"slots", FIELD_INT, AT(slots), "3", 1, 64, "agents", NULL, NULL, "OTTO_SLOTS",
   "how many agents work at once"},
  {"verify", FIELD_OWN, AT(verify), NULL, 0, 64,
   "a list of commands, or a map with default_timeout and commands", NULL, NULL, NULL,
   "commands that must pass before work lands; none: a claim is believed"},
  {"limits.max_turns", FIELD_INT, AT(limits.max_turns), "50", 1, 1000, "turns", NULL, NULL, NULL,
   "turns of one run, then the task ends as timeout"},
  {"limits.timeout_minutes", FIELD_INT, AT(limits.timeout_minutes), "30", 1, 1440, "minutes", NULL, NULL, NULL,
   "time in a slot of one run, then the task ends as timeout"},
  {"limits.max_retries", FIELD_INT, AT(limits.max_retries), "3", 0, 100, "tries", NULL, NULL, NULL,
   "crashes after which a task is tried again"},
  {"limits.max_output_mb", FIELD_INT, AT(limits.max_output_mb), "64", 1, 4096, "MB", NULL, NULL, NULL,
   "output of one turn, then it is stopped"},
  {"limits.max_conflict_tries", FIELD_INT, AT(limits.max_conflict_tries), "3", 0, 20, "tries", NULL, NULL, NULL,
   "how often an agent may resolve a merge conflict before a person is asked"},
  {"limits.pause_after_failures", FIELD_INT, AT(limits.pause_after_failures), "3", 0, 1000, "failures", NULL, NULL, NULL,
   "failed tasks in a row that pause the autopilot; 0: never"},
  {"limits.stuck_turns", FIELD_INT, AT(limits.stuck_turns), "5", 0, 1000, "turns", NULL, NULL, NULL,
   "turns without a commit before a task counts as stuck; 0: never"},
  {"limits.max_tokens", FIELD_INT, AT(limits.max_tokens), "0", 0, 1e12, "tokens", NULL, NULL, NULL,
   "tokens of one run; 0: no limit (no effect yet)"},
  {"limits.max_cost", FIELD_REAL, AT(limits.max_cost), "0", 0, 1e6, "dollars", NULL, NULL, NULL,
   "cost of one run; 0: no limit (no effect yet)"},
  {"limits.memory_mb", FIELD_INT, AT(limits.memory_mb), "0", 0, 1 << 24, "MB", NULL, NULL, NULL,
   "memory of one agent with its children; 0: no limit (no effect yet)"},
  {"limits.processes", FIELD_INT, AT(limits.processes), "0", 0, 1 << 20, "processes", NULL, NULL, NULL,
   "processes of one agent; 0: no limit (no effect yet)"},
  {"agents", FIELD_OWN, AT(agents), NULL, 0, 64, "a map of NAME: {kind, command, ...}", NULL, NULL, NULL,
   "the agents that can be used, by name"},
  {"workspace.kind", FIELD_WORD, AT(workspace.kind), "auto", 0, 0, NULL, "auto clone worktree none", NULL, NULL,
   "how each run gets its own checkout; none works in the repository itself"},
  {"workspace.copy", FIELD_TEXTS, AT(workspace.copy), NULL, 0, 256, NULL, NULL, field_check_inside, NULL,
   "ignored files to copy into each workspace, such as .env"},
  {"workspace.setup", FIELD_TEXT, AT(workspace.setup), NULL, 1, 8192, NULL, NULL, field_check_shell, NULL,
   "shell command that prepares a new workspace"},
  {"workspace.setup_timeout_s", FIELD_INT, AT(workspace.setup_timeout_s), "600", 1, 86400, "seconds", NULL, NULL, NULL,
   "time for the setup command"},
  {"sandbox.mode", FIELD_WORD, AT(sandbox.mode), "auto", 0, 0, NULL, "auto require off", NULL, NULL,
   "whether agents are kept from writing outside their workspace (not yet: auto and off run them with your rights, require refuses to run)"},
  {"sandbox.write", FIELD_TEXTS, AT(sandbox.write), NULL, 0, 64, NULL, NULL, field_check_line, NULL,
   "more folders that agents may write (no effect yet)"},
  {"sandbox.network", FIELD_WORD, AT(sandbox.network), "on", 0, 0, NULL, "on off", NULL, NULL,
   "whether agents may use the network (no effect yet)"},
  {"land.mode", FIELD_WORD, AT(land.mode), "merge", 0, 0, NULL, "merge", NULL, NULL,
   "proven work is merged into the target"},
  {"review.mode", FIELD_WORD, AT(review.mode), "auto", 0, 0, NULL, "auto batch per-task skip", NULL, NULL,
   "when a person approves work (no effect yet)"},
  {"protect", FIELD_TEXTS, AT(protect), NULL, 0, 256, NULL, NULL, field_check_line, NULL,
   "path patterns whose change needs a person (no effect yet)"},
  {"stop.grace_s", FIELD_INT, AT(stop.grace_s), "10", 0, 3600, "seconds", NULL, NULL, NULL,
   "how long a stopped agent may take to end before it is killed"},
  {"stop.pause_wait_s", FIELD_INT, AT(stop.pause_wait_s), "5", 0, 3600, "seconds", NULL, NULL, NULL,
   "how long a pause waits for turns to end by themselves"},
  {"trash.days", FIELD_INT, AT(trash.days), "7", 0, 3650, "days", NULL, NULL, NULL,
   "how long removed workspaces are kept"},
  {"pause_on_stuck", FIELD_BOOL, AT(pause_on_stuck), "false", 0, 0, NULL, NULL, NULL, NULL,
   "ask a person when a task counts as stuck, instead of only warning"},
};

#undef AT
#define AT(member) offsetof(AgentSettings, member)
static const Field agent_rows[] = {
  {"kind", FIELD_WORD, AT(kind), "command", 0, 0, NULL, AGENT_KIND_WORDS, NULL, NULL,
   "command: any program; script: plays a scenario file"},
  {"command", FIELD_COMMAND, AT(command), NULL, 0, 0, NULL, NULL, NULL, NULL,
   "the program; as one text it is given to the shell"},
  {"prompt", FIELD_WORD, AT(prompt), "stdin", 0, 0, NULL, "stdin arg", NULL, NULL,
   "how the prompt is handed over; arg: as last argument ($1 of shell text)"},
  {"model", FIELD_TEXT, AT(model), NULL, 1, 200, NULL, NULL, field_check_line, NULL,
   "model name, given as OTTO_MODEL"},
  {"env", FIELD_ENV, AT(env), NULL, 0, 0, NULL, NULL, NULL, NULL,
   "more environment variables"},
  {"scenario", FIELD_TEXT, AT(scenario), NULL, 1, 4096, NULL, NULL, field_check_line, NULL,
   "file that a script agent plays, relative to the repository"},
  {"signal_tag", FIELD_TEXT, AT(signal_tag), NULL, 1, 64, NULL, NULL, field_check_tag, NULL,
   "fixed name of the signal tag; without it each run gets its own"},
};

#undef AT
#define AT(member) offsetof(VerifyCommand, member)
static const Field verify_rows[] = {
  {"name", FIELD_TEXT, AT(name), NULL, 1, 200, NULL, NULL, field_check_line, NULL,
   "name shown to people; without it the command"},
  {"command", FIELD_TEXT, AT(command), NULL, 1, 8192, NULL, NULL, field_check_shell, NULL,
   "shell command; must stand"},
  {"timeout", FIELD_INT, AT(timeout_s), NULL, 1, 86400, "seconds", NULL, NULL, NULL,
   "time for this command; without it default_timeout (300)"},
  {"required", FIELD_BOOL, AT(is_required), "true", 0, 0, NULL, NULL, NULL, NULL,
   "false: a failure is only a warning"},
};
/* clang-format on */

FieldTable settings_rows(void)
{
    return (FieldTable){rows, COUNT(rows)};
}

FieldTable settings_agent_rows(void)
{
    return (FieldTable){agent_rows, COUNT(agent_rows)};
}

FieldTable settings_verify_rows(void)
{
    return (FieldTable){verify_rows, COUNT(verify_rows)};
}
