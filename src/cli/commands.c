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
  {"workflow", 0, FLAG_TEXT, "NAME", "workflow of this task; 'otto workflow list' names them", 0, 0}, \
  {"type", 0, FLAG_TEXT, "TYPE", "kind of work, whose profile sets thresholds and retries: software, docs, software|docs", 0, 0}, \
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
  {"workflow", 0, FLAG_TEXT, "NAME", "workflow for every task that names none", 0, 0},
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
static const Flag workflow_flags[] = {
  {"row", 0, FLAG_TEXT, "ID", "with show: explain this row only", 0, 0},
  {"svg", 0, FLAG_TEXT, "FILE", "with graph: draw into a file; - is standard output", 0, 0},
  {"from", 0, FLAG_TEXT, "NAME", "with new: begin with this built-in workflow", 0, 0},
  {"file", 0, FLAG_TEXT, "PATH", "with new: write here; without it .otto/workflows/NAME.yaml of the repository", 0, 0},
  {"force", 'f', FLAG_BOOL, NULL, "with new: write over a file that is there", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag target_flags[] = {
  {"add", 0, FLAG_LIST, "TEXT", "add an item, may be repeated", 0, 0},
  {"require", 0, FLAG_LIST, "R", "add a requirement \"TEXT :: CRITERIA :: WEIGHT\" to an item, may be repeated; WEIGHT is critical, important or optional", 0, 0},
  {"of", 0, FLAG_INT, "N", "with --require: the item it belongs to; without it the last one", 1, 1000000},
  {"constraint", 0, FLAG_LIST, "TEXT", "add a constraint, may be repeated", 0, 0},
  {"item", 0, FLAG_INT, "N", "change this item, with --text", 1, 1000000},
  {"requirement", 0, FLAG_INT, "N", "change this requirement, with --text \"TEXT :: CRITERIA :: WEIGHT\"; an empty part stays as it is", 1, 1000000},
  {"text", 0, FLAG_TEXT, "TEXT", "the new text of --item or --requirement", 0, 0},
  {"rm", 0, FLAG_LIST, "N", "remove an item with its requirements, may be repeated", 0, 0},
  {"rm-require", 0, FLAG_LIST, "N", "remove a requirement, may be repeated", 0, 0},
  {"from", 0, FLAG_TEXT, "FILE", "add the items of a Markdown list; indented items are requirements; - is standard input", 0, 0},
  {"confirm", 0, FLAG_BOOL, NULL, "confirm the objective, once for the whole task; before there is one: whatever the agent finds", 0, 0},
  {"refine", 0, FLAG_TEXT, "TEXT", "queue a refinement while the task runs; a finished task is taken up again", 0, 0},
  {"withdraw", 0, FLAG_INT, "N", "take back a refinement that still waits", 1, INT32_MAX},
  {"satisfy", 0, FLAG_BOOL, NULL, "the objective is met as it is: end an evolving task", 0, 0},
  {"all", 0, FLAG_BOOL, NULL, "show refinements that were applied or withdrawn, too", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag inbox_flags[] = {
  {"all", 0, FLAG_BOOL, NULL, "of all projects", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag redo_flags[] = {
  {"keep", 0, FLAG_BOOL, NULL, "go on from its work (this is what happens without a flag)", 0, 0},
  {"fresh", 0, FLAG_BOOL, NULL, "begin the work again from the target branch (a plan that passed stays)", 0, 0},
  {"checkpoint", 0, FLAG_INT, "TURN", "go on from its work as it was after this turn", 1, INT32_MAX},
  {"note", 'm', FLAG_TEXT, "TEXT", "what should change; goes into the next prompt", 0, 0},
  {"issue", 'i', FLAG_LIST, "WORD", "what is wrong in a word (tests, style, scope, …), may be repeated", 0, 0},
  {"hint", 0, FLAG_TEXT, "WHEN", "normal, next or later: when it comes again", 0, 0}, END_FLAG};
static const Flag reject_flags[] = {
  {"note", 'm', FLAG_TEXT, "TEXT", "why; must be given", 0, 0}, END_FLAG};
static const Flag review_flags[] = {
  {"approve-all", 0, FLAG_BOOL, NULL, "approve all that wait now, without asking", 0, 0},
  {"guarded", 0, FLAG_BOOL, NULL, "with --approve-all: also those whose guard fired", 0, 0},
  {"all", 0, FLAG_BOOL, NULL, "of all projects", 0, 0}, END_FLAG};
static const Flag profile_flags[] = {
  {"workflow", 0, FLAG_TEXT, "NAME", "with show: as tasks of this workflow see it", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag prompt_flags[] = {
  {"checkpoint", 0, FLAG_TEXT, "NAME", "of the phase: post-plan, mid-exec, post-exec, …", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag report_flags[] = {
  {"html", 0, FLAG_BOOL, NULL, "of a task: one HTML file that loads nothing", 0, 0},
  {"summary", 0, FLAG_BOOL, NULL, "of a task: on one screen", 0, 0},
  {"out", 'o', FLAG_TEXT, "FILE", "of a task: write it to a file", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag export_flags[] = {
  {"format", 0, FLAG_TEXT, "F", "layout: a or b", 0, 0},
  {"out", 'o', FLAG_TEXT, "DIR", "folder to write; without it one named after the task", 0, 0},
  {"force", 'f', FLAG_BOOL, NULL, "write over files that are not from an earlier export of this task", 0, 0}, JSON_FLAG, END_FLAG};
static const Flag signal_flags[] = {
  {"result", 0, FLAG_TEXT, "FILE", "send the structured answer of the phase, a JSON object of at most 256 KB; - is standard input", 0, 0}, END_FLAG};
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
  {"why", "ID", "why a task is where it is: every decision about it",
   "First the steps of its workflow, each with the row that decided ('otto workflow show NAME --row ID' explains a row), then the events, newest first.",
   json_flags, "otto why 12", 1, 1, command_why},
  {"logs", "ID", "what the agent of a task wrote",
   "Control characters are shown as \\xNN unless --raw is given.",
   logs_flags, "otto logs -f 12\notto logs 12 --turn 2", 1, 1, command_logs},
  {"diff", "ID", "what a task changed", NULL,
   diff_flags, "otto diff 12 --stat", 1, 1, command_diff},
  {"pause", "", "start nothing new; turns under way end first", NULL,
   pause_flags, "otto pause\notto pause --wait 30", 0, 0, command_pause},
  {"resume", "", "go on after a pause", NULL, no_flags, "otto resume", 0, 0, command_resume},
  {"stop", "[ID…]", "stop agents; their tasks go back to pending with their work",
   "A stopped task rests until the next 'otto run'; nothing takes it up before, not even a restart of the engine.",
   stop_flags, "otto stop 12\notto stop --all --kill", 0, 256, command_stop},
  {"retry", "ID…", "try ended tasks again, from their earlier work or --fresh", NULL,
   retry_flags, "otto retry 12\notto retry 12 --fresh --note 'use the new API'", 1, 256, command_retry},
  {"skip", "ID…", "leave tasks out", NULL, note_flags, "otto skip 12", 1, 256, command_skip},
  {"answer", "ID TEXT", "answer the question of a task; - reads standard input", NULL,
   no_flags, "otto answer 5 \"Use the second layout.\"", 2, 256, command_answer},
  {"inbox", "", "everything that needs you, each with the command that answers it",
   "Questions, approvals (with the lines that made a guard fire), checks for a person, what is blocked, escalations; newest last.",
   inbox_flags, "otto inbox\notto inbox --json", 0, 0, command_inbox},
  {"approve", "ID…", "approve the work of tasks that wait for it", NULL,
   note_flags, "otto approve 12\notto approve 12 13 --note 'well done'", 1, 256, command_approve},
  {"redo", "ID…", "send work back with what should change", NULL,
   redo_flags, "otto redo 12 --note 'keep the old flag working' --issue scope\notto redo 12 --fresh --hint later\notto redo 12 --checkpoint 3", 1, 256, command_redo},
  {"reject", "ID…", "refuse work for good; it is kept, but does not land", NULL,
   reject_flags, "otto reject 12 --note 'we no longer want this'", 1, 256, command_reject},
  {"review", "", "look at all work that waits, one after another",
   "Works on those that wait now; what comes meanwhile waits for the next review. Keys: A approve, R redo, X reject, D diff, N next, Q quit. Ends with 3 when something is left.",
   review_flags, "otto review\notto review --approve-all", 0, 0, command_review},
  {"target", "ID", "the objective of a task: show, change, confirm, refine it",
   "Items with their requirements (R#), criteria, weights and coverage; stages with convergence; directions that failed; refinements that wait. One confirmation starts the work; given before a run, it approves what the agent will find. While agents work, changes go by --refine.",
   target_flags, "otto target 12\notto target 12 --add 'Export as CSV' --require 'writes RFC 4180 :: opens in a spreadsheet :: critical'\notto target 12 --item 2 --text 'Import from CSV'\notto target 12 --from objective.md --confirm\notto target 12 --refine 'also accept semicolons'", 1, 1, command_target},
  {"step", "ID COMMAND", "give a command of the task's workflow by hand",
   "COMMAND is plan, exec, verify, check, research, annotate, merge, report, cancel or another one of its workflow ('otto workflow show NAME'). What the workflow does not allow now is refused with the row's reason.",
   json_flags, "otto step 12 plan\notto step 12 cancel", 2, 2, command_step},
  {"rollback", "ID", "undo what a task landed, by a commit that reverts it",
   "Lists what will be undone and asks first. History is not rewritten.",
   rollback_flags, "otto rollback 12", 1, 1, command_rollback},
  {"trash", "list|put|restore|empty [NAME]", "what was removed: list it, bring it back, delete it for good", NULL,
   trash_flags, "otto trash list\notto trash put 12\notto trash restore 12\notto trash empty --expired", 1, 2, command_trash},
  {"report", "[ID]", "what was done, as Markdown: of the project, or of one task", NULL,
   report_flags, "otto report >report.md\notto report 12 --html --out report.html", 0, 1, command_report},
  {"timeline", "ID", "the steps of a task, each with the row that decided", NULL,
   json_flags, "otto timeline 12\notto timeline 12 --json", 1, 1, command_timeline},
  {"export", "ID", "write a task's files in the layout of systems A or B",
   "State, summary with recovery header, report, plan, analysis and test files. Nothing is written outside the folder.",
   export_flags, "otto export 12 --format a --out exported", 1, 1, command_export},
  {"workflow", "list|show|check|graph|new [NAME]", "the tables that decide where each result leads",
   "Built-in ones, and yours in workflows/ and .otto/workflows/ of the repository or in $XDG_CONFIG_HOME/otto/workflows; a file with the name of a built-in one takes its place. NAME may also be a file. check ends with 3 when there are problems. No engine is needed.",
   workflow_flags, "otto workflow list\notto workflow show loop --row work-complete\notto workflow check workflows/mine.yaml\notto workflow graph staged --svg staged.svg\notto workflow new mine --from lifecycle", 1, 2, command_workflow},
  {"profile", "list|show|set|reset [TYPE]", "thresholds and retries per task type, and what was observed",
   "set fixes values by hand (KEY=VALUE; the value 'default' takes one away), reset forgets them and what was observed.",
   profile_flags, "otto profile show software\notto profile set docs thresholds.post-plan=0.8 retries.post-exec=2\notto profile reset docs", 1, 32, command_profile},
  {"prompt", "list|show [PHASE ID]", "prompts: all of them, or exactly what would be sent to a task's agent",
   "A file .otto/prompts/NAME.md of the repository takes the place of the built-in one.",
   prompt_flags, "otto prompt list\notto prompt show plan 12\notto prompt show check 12 --checkpoint post-exec", 1, 3, command_prompt},
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
   signal_flags, "otto signal COMPLETE\notto signal PENDING 'Which layout?'\notto signal PROGRESS:40\notto signal --result answer.json", 0, 256, command_signal},
  {"demo", "[loop|lifecycle|staged]", "watch a scripted backlog run in a temporary folder; no agent, account or network is needed",
   "The agent is a script: it pretends to work, commits, fails, asks and conflicts as written in the scenario. Ends with 0 when everything ended as scripted.",
   demo_flags, "otto demo\notto demo staged\notto demo lifecycle --rm", 0, 1, command_demo},
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
