/* Every command, once: name, words, help, flags, examples, function. Help, docs/cli.md, completion
 * and the tests are read from these rows. */
#include "base/macros.h"
#include "base/str.h"
#include "cli/cli.h"
#include "core/field.h"

/* clang-format off */
#define JSON_FLAG {"json", 0, FLAG_BOOL, NULL, "print JSON instead of text", 0, 0}
#define END_FLAG {NULL, 0, FLAG_BOOL, NULL, NULL, 0, 0}

#define TASK_FLAGS \
  {"body", 'b', FLAG_TEXT, "TEXT", "what is to be done, in full", 0, 0}, \
  {"body-file", 0, FLAG_TEXT, "FILE", "read the body from a file; - is standard input", 0, 0}, \
  {"tag", 't', FLAG_LIST, "TAG", "tag, may be repeated; critical, quick-win, next and later count in the selection", 0, 0}, \
  {"after", 'a', FLAG_LIST, "ID[:NEED]", "wait for a task (id or key), may be repeated; NEED is started, verified or done", 0, 0}, \
  {"check", 'c', FLAG_LIST, "CMD", "command that must pass for this task, may be repeated", 0, 0}, \
  {"priority", 'p', FLAG_TEXT, "P", "P0 (or 0) is the most urgent, P3 the least", 0, 0}, \
  {"agent", 0, FLAG_TEXT, "NAME", "agent for this task", 0, 0}, \
  {"max-turns", 0, FLAG_INT, "N", "turns of one run, then the task ends as timeout", 1, 1000}, \
  {"timeout", 0, FLAG_INT, "MINUTES", "time in a slot of one run, then the task ends as timeout", 1, 1440}

static const Flag common_flags[] = {
  {"directory", 'C', FLAG_TEXT, "DIR", "work as if started in this folder", 0, 0},
  {"state-dir", 0, FLAG_TEXT, "DIR", "state folder; without it $OTTO_STATE_DIR, $XDG_STATE_HOME/otto or ~/.local/state/otto", 0, 0},
  {"help", 'h', FLAG_BOOL, NULL, "show help", 0, 0},
  END_FLAG};

static const Flag no_flags[] = {END_FLAG};
static const Flag json_flags[] = {JSON_FLAG, END_FLAG};
static const Flag help_flags[] = {
  {"markdown", 0, FLAG_BOOL, NULL, "print the whole reference as Markdown", 0, 0}, END_FLAG};
static const Flag init_flags[] = {
  {"agent-command", 0, FLAG_TEXT, "CMD", "use this command as the agent; it gets the prompt on standard input", 0, 0},
  {"force", 'f', FLAG_BOOL, NULL, "write over an otto.yaml that is there", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag add_flags[] = {
  TASK_FLAGS,
  {"key", 'k', FLAG_TEXT, "KEY", "name of the task for --after", 0, 0},
  {"parent", 0, FLAG_TEXT, "ID", "task that this one is a part of (id or key)", 0, 0},
  {"from", 0, FLAG_TEXT, "FILE", "take tasks from a Markdown file; - is standard input", 0, 0},
  JSON_FLAG, END_FLAG};
static const Flag list_flags[] = {
  {"state", 's', FLAG_LIST, "STATE", "only tasks in this state, may be repeated", 0, 0},
  {"query", 'q', FLAG_TEXT, "TEXT", "only tasks whose title or body holds this text", 0, 0},
  {"all", 0, FLAG_BOOL, NULL, "tasks of all projects", 0, 0},
  {"limit", 'n', FLAG_INT, "N", "at most this many; without it 1000", 1, 10000}, JSON_FLAG, END_FLAG};
static const Flag edit_flags[] = {
  {"title", 0, FLAG_TEXT, "TEXT", "new title", 0, 0}, TASK_FLAGS, END_FLAG};
static const Flag run_flags[] = {
  {"slots", 'j', FLAG_INT, "N", "agents at once", 1, 64},
  {"agent", 0, FLAG_TEXT, "NAME", "agent for every task that names none", 0, 0},
  {"workflow", 0, FLAG_TEXT, "NAME", "workflow to use", 0, 0},
  {"accept-rewrite", 0, FLAG_BOOL, NULL, "the target branch lost commits since the last run, and that is meant: go on from it as it is", 0, 0},
  {"quiet", 0, FLAG_BOOL, NULL, "no display, only the summary", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag logs_flags[] = {
  {"follow", 'f', FLAG_BOOL, NULL, "go on printing while the task runs", 0, 0},
  {"run", 0, FLAG_INT, "N", "only this run", 1, INT32_MAX},
  {"turn", 0, FLAG_INT, "N", "only this turn", 1, INT32_MAX},
  {"raw", 0, FLAG_BOOL, NULL, "bytes as the agent wrote them; do not send them to a terminal you care about", 0, 0},
  JSON_FLAG, END_FLAG};
static const Flag diff_flags[] = {
  {"stat", 0, FLAG_BOOL, NULL, "only how many lines changed in which files", 0, 0},
  {"turn", 0, FLAG_INT, "N", "as it was after this turn", 1, INT32_MAX}, END_FLAG};
static const Flag pause_flags[] = {
  {"wait", 0, FLAG_INT, "SECONDS", "stop turns that still run after this time; without it they may end by themselves", 0, 86400}, END_FLAG};
static const Flag stop_flags[] = {
  {"all", 0, FLAG_BOOL, NULL, "every agent of the project", 0, 0},
  {"kill", 0, FLAG_BOOL, NULL, "at once, without asking the agent to end", 0, 0}, END_FLAG};
static const Flag retry_flags[] = {
  {"fresh", 0, FLAG_BOOL, NULL, "start again from the target branch, not from the earlier work", 0, 0},
  {"note", 'm', FLAG_TEXT, "TEXT", "what the agent should know this time", 0, 0}, END_FLAG};
static const Flag note_flags[] = {
  {"note", 'm', FLAG_TEXT, "TEXT", "why", 0, 0}, END_FLAG};
static const Flag rollback_flags[] = {
  {"yes", 'y', FLAG_BOOL, NULL, "do not ask", 0, 0}, END_FLAG};
static const Flag trash_flags[] = {
  {"expired", 0, FLAG_BOOL, NULL, "with empty: only what is older than trash.days", 0, 0},
  {"yes", 'y', FLAG_BOOL, NULL, "do not ask", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag replay_flags[] = {
  {"save", 0, FLAG_TEXT, "FILE", "write the recorded events to a file instead", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag decide_flags[] = {
  {"list", 0, FLAG_BOOL, NULL, "print the names of all decisions", 0, 0}, END_FLAG};
static const Flag demo_flags[] = {
  {"slots", 'j', FLAG_INT, "N", "agents at once; without it 4", 1, 64},
  {"rm", 0, FLAG_BOOL, NULL, "remove its folder at the end", 0, 0}, END_FLAG};

static const Command commands[] = {
  {"init", "", "write otto.yaml for the repository around the current folder",
   "Looks at the files of the repository for its language and test command, at the checked-out branch for the target and at PATH for agents, writes otto.yaml and says what it guessed and what is left empty. An otto.yaml that is there is kept unless --force is given.",
   init_flags, "otto init\notto init --agent-command './my-agent.sh'", 0, 0, command_init},
  {"add", "TITLE", "add a task, or many from a file",
   "Prints the ids. A file holds Markdown: each front matter block (--- YAML ---) begins a task; without front matter each heading, or each '- [ ]' item. Either all tasks of a file are added or none. A lone - reads the file from standard input.",
   add_flags, "otto add \"Dark mode\" --tag quick-win --after 3 --check 'npm test'\notto add --from backlog.md\nprintf '# One\\n# Two\\n' | otto add -", 0, 1, command_add},
  {"list", "[STATE…]", "list tasks",
   "STATE is pending, active, review, blocked, done, failed, timeout, skipped or cancelled; without one everything except cancelled is listed.",
   list_flags, "otto list\notto list failed timeout\notto list -q login --json", 0, 16, command_list},
  {"show", "ID", "show a task with its runs, checks and landings", NULL,
   json_flags, "otto show 12", 1, 1, command_show},
  {"edit", "ID", "change a task",
   "Flags replace what they name (--tag, --after and --check replace the whole list). Without flags the task is opened in $VISUAL or $EDITOR as Markdown with front matter.",
   edit_flags, "otto edit 12 --max-turns 80\notto edit 12", 1, 1, command_edit},
  {"rm", "ID…", "remove tasks; their work goes to the trash",
   "Nothing is lost at once: 'otto trash restore ID' brings a task back, its workspace lies in the trash until it expires.",
   no_flags, "otto rm 12 13", 1, 256, command_rm},
  {"run", "[ID…]", "work on all ready tasks, or on the named ones, with a live display",
   "Without a running engine one is started in this process, and every other command works beside it. Ends when nothing is left that can be done. The first Ctrl-C pauses: no new turn starts, turns under way may end (stop.pause_wait_s); the second stops them at once. Both keep all work. With an engine that runs elsewhere (otto serve) Ctrl-C pauses that one too.",
   run_flags, "otto run\notto run 12 --agent codex\notto run --slots 8 >run.log", 0, 256, command_run},
  {"status", "", "what runs, what waits, what needs you", NULL,
   json_flags, "otto status\notto status --json | jq .counts", 0, 0, command_status},
  {"why", "ID", "why a task is where it is: every decision about it", NULL,
   json_flags, "otto why 12", 1, 1, command_why},
  {"logs", "ID", "what the agent of a task wrote",
   "Control characters are shown as \\xNN unless --raw is given.",
   logs_flags, "otto logs -f 12\notto logs 12 --turn 2", 1, 1, command_logs},
  {"diff", "ID", "what a task changed", NULL,
   diff_flags, "otto diff 12 --stat", 1, 1, command_diff},
  {"pause", "", "start nothing new; turns under way end first", NULL,
   pause_flags, "otto pause\notto pause --wait 30", 0, 0, command_pause},
  {"resume", "", "go on after a pause", NULL, no_flags, "otto resume", 0, 0, command_resume},
  {"stop", "[ID…]", "stop agents; their tasks go back to pending with their work", NULL,
   stop_flags, "otto stop 12\notto stop --all --kill", 0, 256, command_stop},
  {"retry", "ID…", "try ended tasks again, from their earlier work or --fresh", NULL,
   retry_flags, "otto retry 12\notto retry 12 --fresh --note 'use the new API'", 1, 256, command_retry},
  {"skip", "ID…", "leave tasks out", NULL, note_flags, "otto skip 12", 1, 256, command_skip},
  {"answer", "ID TEXT", "answer the question of a task; - reads standard input", NULL,
   no_flags, "otto answer 5 \"Use the second layout.\"", 2, 256, command_answer},
  {"rollback", "ID", "undo what a task landed, by a commit that reverts it",
   "Lists what will be undone and asks first. History is not rewritten.",
   rollback_flags, "otto rollback 12", 1, 1, command_rollback},
  {"trash", "list|put|restore|empty [NAME]", "what was removed: list it, bring it back, delete it for good", NULL,
   trash_flags, "otto trash list\notto trash put 12\notto trash restore 12\notto trash empty --expired", 1, 2, command_trash},
  {"report", "", "what was done, as Markdown", NULL, json_flags, "otto report >report.md", 0, 0, command_report},
  {"replay", "[FILE]", "decide all recorded events again and compare",
   "Without FILE the events of the state folder are replayed. Ends with 3 when a decision came out otherwise.",
   replay_flags, "otto replay\notto replay --save events.jsonl\notto replay events.jsonl", 0, 1, command_replay},
  {"decide", "NAME", "make one decision: JSON in, JSON out",
   "Reads the input object from standard input. 'otto decide NAME --help' lists the fields.",
   decide_flags, "otto decide --list\necho '{\"text\":\"<otto>COMPLETE</otto>\"}' | otto decide signal", 0, 8, command_decide, .is_raw = true},
  {"config", "show|check", "settings with their origin, or only their problems", NULL,
   json_flags, "otto config show\notto config check", 1, 1, command_config},
  {"doctor", "", "check the machine, the state folder, the agents and the settings",
   "Ends with 3 when something fails.", json_flags, "otto doctor", 0, 0, command_doctor},
  {"serve", "", "run the engine in the foreground, without display, until it is told to end",
   "Takes up what is owed and answers on the socket of the state folder. SIGTERM or Ctrl-C end it; agents that run go on and are taken up by the next engine.",
   no_flags, "otto serve", 0, 0, command_serve},
  {"signal", "TYPE[:PAYLOAD]", "for agents: tell the engine how the task stands",
   "Uses OTTO_SOCKET and OTTO_TOKEN, which the engine sets for each agent. TYPE is COMPLETE, BLOCKED, PENDING, PROGRESS, RESOLVED, DISCOVERY_LOCAL or DISCOVERY_GLOBAL; further words belong to the payload.",
   no_flags, "otto signal COMPLETE\notto signal PENDING 'Which layout?'\notto signal PROGRESS:40", 1, 256, command_signal},
  {"demo", "", "watch a scripted backlog run in a temporary folder; no agent, account or network is needed",
   "The agent is a script: it pretends to work, commits, fails, asks and conflicts as written in the scenario. Ends with 0 when everything ended as scripted.",
   demo_flags, "otto demo\notto demo --rm", 0, 0, command_demo},
  {"version", "", "print the version", NULL, json_flags, "otto version", 0, 0, command_version},
  {"help", "[COMMAND]", "show help", NULL, help_flags, "otto help run", 0, 1, command_help},
  {"do", "JOB", "carry out one job of the engine", NULL, no_flags, NULL, 1, 1, command_do, .is_hidden = true},
  {"script-agent", "FILE", "play a scenario", NULL, no_flags, NULL, 1, 8, command_script_agent, .is_hidden = true, .is_raw = true},
};
/* clang-format on */

const Command *command_table(size_t *count)
{
    *count = COUNT(commands);
    return commands;
}

const Flag *command_common_flags(void)
{
    return common_flags;
}

const Command *command_find(const char *name, Err *err)
{
    const char *names[COUNT(commands)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (text_equal(commands[i].name, name))
            return &commands[i];
        if (!commands[i].is_hidden)
            names[count++] = commands[i].name;
    }
    const char *near = text_nearest(name, names, count);
    if (near)
        (void)err_set(err, ERR_USAGE, "unknown command '%.60s', did you mean '%s'?", name,
                      near); /* the result below says it failed */
    else
        (void)err_set(err, ERR_USAGE, "unknown command '%.60s'; 'otto help' lists the commands",
                      name); /* the result below says it failed */
    return NULL;
}
