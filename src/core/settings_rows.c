/* Settings: the rows. A new setting is one row here and one member in settings.h. */
#include "core/settings.h"

#define AT(member) offsetof(Settings, member)

static const char *check_hook(const char *text)
{
    return strlen(text) > 8192 ? "a map of status: shell command of at most 8192 bytes"
                               : field_check_shell(text);
}

/* clang-format off */
static const Field rows[] = {
  /* key, type, offset, default, min, max, unit, words, check, env, help */
  {"target", FIELD_TEXT, AT(target), NULL, 1, 200, NULL, NULL, field_check_branch, "OTTO_TARGET",
   "branch that work lands on; without it the branch that is checked out"},
  {"workflow", FIELD_TEXT, AT(workflow), "loop", 1, 64, NULL, NULL, field_check_name, NULL,
   "how a task goes from idea to landed commit: loop, lifecycle, staged or one of your own files"},
  {"agent", FIELD_TEXT, AT(agent), NULL, 1, 64, NULL, NULL, field_check_name, "OTTO_AGENT",
   "agent used when a task names none; one of the names below agents"},
  {"reviewer", FIELD_TEXT, AT(reviewer), NULL, 1, 64, NULL, NULL, field_check_name, NULL,
   "agent that scores work in checks, in a conversation of its own; without it the agent of the task"},
  {"slots", FIELD_INT, AT(slots), "3", 1, 64, "agents", NULL, NULL, "OTTO_SLOTS",
   "how many agents work at once"},
  {"verify", FIELD_OWN, AT(verify), NULL, 0, 64,
   "a list of commands, or a map with default_timeout and commands", NULL, NULL, NULL,
   "commands that must pass before work lands; none: a claim is believed"},
  {"limits.max_turns", FIELD_INT, AT(limits.max_turns), "50", 1, 1000, "turns", NULL, NULL, NULL,
   "turns of one run in `loop`, of one step (plan, exec, ...) in other workflows; then the task ends as timeout"},
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
  {"limits.max_steps", FIELD_INT, AT(limits.max_steps), "20", 1, 1000, "steps", NULL, NULL, NULL,
   "steps (plan, check, work, ...) of one stage, then the run stops"},
  {"limits.max_tokens", FIELD_INT, AT(limits.max_tokens), "0", 0, 1e12, "tokens", NULL, NULL, NULL,
   "tokens of one run; 0: no limit (no effect yet)"},
  {"limits.max_cost", FIELD_REAL, AT(limits.max_cost), "0", 0, 1e6, "dollars", NULL, NULL, NULL,
   "cost of one run; 0: no limit (no effect yet)"},
  {"limits.memory_mb", FIELD_INT, AT(limits.memory_mb), "0", 0, 1 << 24, "MB", NULL, NULL, NULL,
   "memory of one agent with its children; 0: no limit (no effect yet)"},
  {"limits.processes", FIELD_INT, AT(limits.processes), "0", 0, 1 << 20, "processes", NULL, NULL, NULL,
   "processes of one agent; 0: no limit (no effect yet)"},
  {"thresholds.post_plan", FIELD_REAL, AT(thresholds.post_plan), NULL, 0, 1, NULL, NULL, NULL, NULL,
   "score that a plan needs; without it the profile of the task's type, then the workflow decides"},
  {"thresholds.mid_exec", FIELD_REAL, AT(thresholds.mid_exec), NULL, 0, 1, NULL, NULL, NULL, NULL,
   "score that work under way needs"},
  {"thresholds.post_exec", FIELD_REAL, AT(thresholds.post_exec), NULL, 0, 1, NULL, NULL, NULL, NULL,
   "score that finished work needs"},
  {"retries.post_plan", FIELD_INT, AT(retries.post_plan), NULL, 0, 100, "tries", NULL, NULL, NULL,
   "how often a plan may be sent back; without it the profile of the task's type, then the workflow decides"},
  {"retries.mid_exec", FIELD_INT, AT(retries.mid_exec), NULL, 0, 100, "tries", NULL, NULL, NULL,
   "how often work under way may be sent back"},
  {"retries.post_exec", FIELD_INT, AT(retries.post_exec), NULL, 0, 100, "tries", NULL, NULL, NULL,
   "how often finished work may be sent back"},
  {"convergence.policy", FIELD_WORD, AT(convergence.policy), "allow-equal", 0, 0, NULL, CONVERGENCE_POLICY_WORDS, NULL, NULL,
   "whether a stage that passed its checks counts when it came no nearer to the objective: strict never, allow-equal when it lost nothing, ask a person"},
  {"objective.confirm", FIELD_WORD, AT(objective.confirm), "ask", 0, 0, NULL, "ask auto", NULL, NULL,
   "ask: a person confirms the objective of a task once; auto: approved beforehand, for unattended use"},
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
  {"review.mode", FIELD_WORD, AT(review.mode), "auto", 0, 0, NULL, REVIEW_MODE_WORDS, NULL, NULL,
   "when a person approves work: auto (only what did not go smoothly), batch (when it suits), per-task (each), skip (never)"},
  {"review.labels", FIELD_MAP, AT(review.labels), NULL, 0, 64, "label: rule", REVIEW_RULE_WORDS, NULL, NULL,
   "rules for tasks with a tag; they beat the mode, and of several the strictest wins (the order here)"},
  {"protect", FIELD_TEXTS, AT(protect), NULL, 0, 256, NULL, NULL, field_check_line, NULL,
   "path patterns, such as .github/**, whose change needs a person"},
  {"guards.tests", FIELD_BOOL, AT(guards.tests), "true", 0, 0, NULL, NULL, NULL, NULL,
   "deleted, weakened or skipped tests need a person or a changed plan"},
  {"guards.scope", FIELD_BOOL, AT(guards.scope), "true", 0, 0, NULL, NULL, NULL, NULL,
   "edits outside the files that the plan names need a person or a changed plan"},
  {"guards.base_tests", FIELD_BOOL, AT(guards.base_tests), "true", 0, 0, NULL, NULL, NULL, NULL,
   "new code must also pass the tests as they were before, when it changed them"},
  {"guards.test_files", FIELD_TEXTS, AT(guards.test_files), NULL, 0, 256, NULL, NULL, field_check_line, NULL,
   "path patterns of test files; none: the usual names of many languages"},
  {"stop.grace_s", FIELD_INT, AT(stop.grace_s), "10", 0, 3600, "seconds", NULL, NULL, NULL,
   "how long a stopped agent may take to end before it is killed"},
  {"stop.pause_wait_s", FIELD_INT, AT(stop.pause_wait_s), "5", 0, 3600, "seconds", NULL, NULL, NULL,
   "how long a pause waits for turns to end by themselves"},
  {"observe.grace_s", FIELD_INT, AT(observe.grace_s), "60", 0, 86400, "seconds", NULL, NULL, NULL,
   "how long a self-driving session that was asked to stop may take before it is killed"},
  {"observe.poll_ms", FIELD_INT, AT(observe.poll_ms), "2000", 100, 600000, "milliseconds", NULL, NULL, NULL,
   "how often the files of a self-driving session are looked at, besides being watched"},
  {"hooks.timeout_s", FIELD_INT, AT(hooks.timeout_s), "10", 1, 3600, "seconds", NULL, NULL, NULL,
   "time for one hook"},
  {"hooks.on_status", FIELD_MAP, AT(hooks.on_status), NULL, 0, 64, "status: shell command", NULL, check_hook, NULL,
   "commands run after a task reached a status; a failure is only noted"},
  {"trash.days", FIELD_INT, AT(trash.days), "7", 0, 3650, "days", NULL, NULL, NULL,
   "how long removed workspaces are kept"},
  {"learn", FIELD_BOOL, AT(learn), "true", 0, 0, NULL, NULL, NULL, NULL,
   "keep observed averages and experiences per type of task, and use them"},
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
