/* Every decision of `otto decide`: its name, fields, answer and examples. */
#include "core/decide_table.h"
#include "core/graph.h"
#include "core/score.h"
#include "core/verification.h"

#define SIGNAL_WORDS "COMPLETE BLOCKED PENDING PROGRESS RESOLVED DISCOVERY_LOCAL DISCOVERY_GLOBAL"
#define TASK_WORDS "pending ready active blocked done failed timeout review skipped cancelled"
#define OPTIONAL true
#define REQUIRED false
#define NO_DEFAULT NULL

/* clang-format off */
static const DecideField route_fields[] = {
  /* path           type       optional  default     min max words help */
  { "workflow",     IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "name of the workflow" },
  { "status",       IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "status of the task" },
  { "phase",        IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "sub-state of the status, where a workflow has them" },
  { "enter",        IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "true: where does a task of this status start?" },
  { "target_filled", IN_BOOL,  OPTIONAL, "true",     0, 0, NULL, "entering: the target holds real content" },
  { "confirmed",    IN_BOOL,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "the objectives were confirmed; missing: yes after a step, no when entering" },
  { "refined",      IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "refinements wait to be applied" },
  { "step",         IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "the phase that has ended" },
  { "checkpoint",   IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "checkpoint it was at; of a check it may be missing where the result tells it" },
  { "result",       IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "what the step ended with; (step-7) is a result like (step-N)" },
  { "retries",      IN_INT,    OPTIONAL, "0",        0, 0, NULL, "retries used at this checkpoint" },
  { "limits",       IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "other limits than the workflow's, by name" },
  { "counters",     IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "what is used of each limit, by name" },
  { "review",       IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "a person must approve before the merge" },
  { "rolled_back",  IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "a rollback was made before" },
  { "stage",        IN_INT,    OPTIONAL, "1",        1, INT64_MAX, NULL, "number of the stage, from 1" },
  { "convergence",  IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "how much of the objective is met; missing counts as nothing" },
  { "convergence.value",    IN_NUMBER, REQUIRED, NO_DEFAULT, 0, 1, NULL, "at this stage" },
  { "convergence.previous", IN_NUMBER, OPTIONAL, NO_DEFAULT, 0, 1, NULL, "at the last accepted stage; missing: 0" },
};

static const DecideField transition_fields[] = {
  { "workflow",     IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "name of the workflow" },
  { "status",       IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "status of the task" },
  { "command",      IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "what a person asks for" },
  { "phase",        IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "sub-state of the status, where a workflow has them" },
  { "checkpoint",   IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "of a check, which needs it" },
  { "result",       IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "of a check, which needs it; conflict of a merge, (blocked) of exec, the layer of notes" },
  { "accepted",     IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "the last check accepted the work" },
  { "confirmed",    IN_BOOL,   OPTIONAL, "true",     0, 0, NULL, "the objectives are confirmed with this" },
};

static const DecideField signal_fields[] = {
  { "text",         IN_BYTES,  REQUIRED, NO_DEFAULT, 0, 0, NULL, "what the agent wrote" },
  { "tag",          IN_TEXT,   OPTIONAL, "otto",     0, 0, NULL, "name of the tag, as configured (case counts)" },
};

static const DecideField completion_fields[] = {
  { "signal",         IN_WORD, OPTIONAL, NO_DEFAULT, 0, 0, SIGNAL_WORDS, "the deciding signal of the turn; none when missing" },
  { "verification",   IN_WORD, REQUIRED, NO_DEFAULT, 0, 0, "pass fail none", "verdict of the gate; none: no command is configured" },
  { "iterations",     IN_INT,  REQUIRED, NO_DEFAULT, 0, 0, NULL, "turns used, this one included" },
  { "max_iterations", IN_INT,  REQUIRED, NO_DEFAULT, 1, INT64_MAX, NULL, "turns it may use" },
  { "elapsed_ms",     IN_INT,  REQUIRED, NO_DEFAULT, 0, 0, NULL, "time used" },
  { "timeout_ms",     IN_INT,  REQUIRED, NO_DEFAULT, 1, INT64_MAX, NULL, "time it may use" },
  { "mode",           IN_WORD, REQUIRED, NO_DEFAULT, 0, 0, "autopilot semi-auto", "who picks the next task" },
};

static const DecideField exit_fields[] = {
  { "exit_code",    IN_INT,    OPTIONAL, NO_DEFAULT, 0, 255, NULL, "of the agent process; or killed_by" },
  { "killed_by",    IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "name of the signal that ended it, such as SIGKILL" },
  { "by_user",      IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "a person asked for the stop" },
  { "signal",       IN_WORD,   OPTIONAL, NO_DEFAULT, 0, 0, SIGNAL_WORDS, "the deciding signal of its output" },
  { "verified",     IN_BOOL,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "did the checks pass? missing: not run yet" },
};

static const DecideField verification_fields[] = {
  { "config",       IN_ANY,    OPTIONAL, "[]",       0, 0, NULL, "a list of commands (texts or objects), or {default_timeout, commands}" },
  { "results",      IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "what the commands ended with so far, in their order" },
  { "results[]",    IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "one result" },
  { "results[].exit_code", IN_INT, OPTIONAL, NO_DEFAULT, -2147483647, 2147483647, NULL, "needed unless it timed out" },
  { "results[].timed_out", IN_BOOL, OPTIONAL, "false", 0, 0, NULL, "it ran out of time" },
};

static const DecideField select_fields[] = {
  { "tasks",             IN_LIST,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "the tasks" },
  { "tasks[]",           IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "one task" },
  { "tasks[].id",        IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "its id" },
  { "tasks[].state",     IN_WORD,   REQUIRED, NO_DEFAULT, 0, 0, TASK_WORDS, "only pending (or ready) tasks are chosen" },
  { "tasks[].tags",      IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "critical, quick-win, next and later count" },
  { "tasks[].tags[]",    IN_TEXT,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "one tag" },
  { "tasks[].unblocks",  IN_INT,    OPTIONAL, "0",        0, SCORE_COUNT_MAX, NULL, "how many tasks wait for it" },
  { "tasks[].parent",    IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "how far its parent is" },
  { "tasks[].parent.done",  IN_INT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "children done" },
  { "tasks[].parent.total", IN_INT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "children in all" },
  { "tasks[].retries",   IN_INT,    OPTIONAL, "0",        0, SCORE_COUNT_MAX, NULL, "tries that failed" },
  { "tasks[].created_ms", IN_INT,   OPTIONAL, "0",        0, 0, NULL, "when it was added; the oldest wins a tie" },
  { "tasks[].waited_ms", IN_INT,    OPTIONAL, "0",        0, 0, NULL, "how long it has been ready" },
  { "tasks[].ready_ms",  IN_INT,    OPTIONAL, NO_DEFAULT, 0, 0, NULL, "since when it is ready; used with now_ms when waited_ms is missing" },
  { "tasks[].priority",  IN_ANY,    OPTIONAL, NO_DEFAULT, 0, 0, NULL, "P0 to P3, or 0 to 3; missing: nothing is added" },
  { "exclude",           IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "ids that are taken already" },
  { "exclude[]",         IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "one id" },
  { "now_ms",            IN_INT,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "the time" },
};

static const DecideField graph_fields[] = {
  { "tasks",               IN_LIST,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "the tasks" },
  { "tasks[]",             IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "one task" },
  { "tasks[].id",          IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "its id" },
  { "tasks[].state",       IN_WORD,   OPTIONAL, "open",     0, 0, "open closed", "closed tasks hold up nobody" },
  { "tasks[].blocked_by",  IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "ids it waits for" },
  { "tasks[].blocked_by[]", IN_ID,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "one id" },
  { "tasks[].blocks",      IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "ids that wait for it: the other direction of the same" },
  { "tasks[].blocks[]",    IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "one id" },
  { "failed",              IN_LIST,   OPTIONAL, "[]",       0, 0, NULL, "ids that failed" },
  { "failed[]",            IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "one id" },
};

static const DecideField retry_fields[] = {
  { "attempt",      IN_INT,    REQUIRED, NO_DEFAULT, 1, INT64_MAX, NULL, "number of the attempt that ended, from 1" },
  { "clean",        IN_BOOL,   OPTIONAL, "false",    0, 0, NULL, "it ended without an error" },
  { "cap_ms",       IN_INT,    OPTIONAL, "300000",   0, 0, NULL, "the longest wait" },
};

static const DecideField merge_fields[] = {
  { "queue",                 IN_LIST,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "the merge queue" },
  { "queue[]",               IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "one entry" },
  { "queue[].id",            IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "its id" },
  { "queue[].state",         IN_WORD,   REQUIRED, NO_DEFAULT, 0, 0, "waiting ready merging conflict merged", "where it stands" },
  { "queue[].unmerged_deps", IN_INT,    OPTIONAL, "0",        0, 0, NULL, "dependencies that are not merged; fewer go first" },
  { "queue[].completed_ms",  IN_INT,    OPTIONAL, "0",        0, 0, NULL, "when its work was done; the oldest goes first" },
  { "queue[].priority",      IN_INT,    OPTIONAL, "0",        INT64_MIN, INT64_MAX, NULL, "higher goes first" },
  { "queue[].age_ms",        IN_INT,    OPTIONAL, "0",        0, 0, NULL, "time in the queue; decides when all else is equal" },
  { "window",                IN_INT,    OPTIONAL, "1",        1, 1000, NULL, "merges at once" },
};

#define SCORE(path, help) { path, IN_NUMBER, REQUIRED, NO_DEFAULT, 0, 1, NULL, help }
#define WEIGHT(path) { path, IN_NUMBER, OPTIONAL, "1", 0, 1000, NULL, "how much it counts" }
#define THRESHOLD(path) { path, IN_NUMBER, OPTIONAL, NO_DEFAULT, 0, 1, NULL, "overall that is needed" }
#define RETRIES(path) { path, IN_INT, OPTIONAL, NO_DEFAULT, 0, 100, NULL, "how often it may be tried again" }

static const DecideField score_fields[] = {
  { "checkpoint",   IN_WORD,   REQUIRED, NO_DEFAULT, 0, 0, "post-plan mid-exec post-exec", "where the check stands" },
  { "scores",       IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "the six dimensions, each from 0 to 1" },
  SCORE("scores.d1", "correctness; blocks below 0.5"),
  SCORE("scores.d2", "security; blocks below 0.5"),
  SCORE("scores.d3", "reliability; blocks below 0.5"),
  SCORE("scores.d4", "performance"),
  SCORE("scores.d5", "architecture"),
  SCORE("scores.d6", "maintainability"),
  { "weights",      IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "of the dimensions; equal when missing" },
  WEIGHT("weights.d1"), WEIGHT("weights.d2"), WEIGHT("weights.d3"),
  WEIGHT("weights.d4"), WEIGHT("weights.d5"), WEIGHT("weights.d6"),
  { "profile",      IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "values of the task's type, where they differ from the defaults" },
  { "profile.thresholds", IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "defaults 0.70, 0.60, 0.75" },
  THRESHOLD("profile.thresholds.post-plan"), THRESHOLD("profile.thresholds.mid-exec"), THRESHOLD("profile.thresholds.post-exec"),
  { "profile.retries", IN_OBJECT, OPTIONAL, NO_DEFAULT, 0, 0, NULL, "defaults 3, 2, 3" },
  RETRIES("profile.retries.post-plan"), RETRIES("profile.retries.mid-exec"), RETRIES("profile.retries.post-exec"),
  { "retries",      IN_INT,    OPTIONAL, "0",        0, 0, NULL, "used at this checkpoint" },
};

static const DecideField convergence_fields[] = {
  { "requirements",            IN_LIST,   REQUIRED, NO_DEFAULT, 0, 0, NULL, "the R# of the objective; none: the direction is not judged" },
  { "requirements[]",          IN_OBJECT, REQUIRED, NO_DEFAULT, 0, 0, NULL, "one R#" },
  { "requirements[].id",       IN_ID,     REQUIRED, NO_DEFAULT, 0, 0, NULL, "its id" },
  { "requirements[].weight",   IN_ANY,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "a number above 0, or critical (3), important (2), optional (1)" },
  { "requirements[].coverage", IN_NUMBER, REQUIRED, NO_DEFAULT, 0, 1, NULL, "1 done and verified, 0.75 mostly, 0.5 partly, 0.25 begun, 0 nothing" },
  { "requirements[].previous", IN_NUMBER, OPTIONAL, NO_DEFAULT, 0, 1, NULL, "its coverage at the last accepted stage" },
  { "requirements[].reason",   IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "of the coverage; needed when it changed by more than 0.25" },
  { "previous",                IN_NUMBER, OPTIONAL, "0",        0, 1, NULL, "convergence of the last accepted stage" },
  { "policy",                  IN_WORD,   OPTIONAL, "allow-equal", 0, 0, "strict allow-equal ask", "what happens when it is equal" },
};

static const DecideField audit_fields[] = {
  { "files",        IN_INT,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "files that changed" },
  { "lines",        IN_INT,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "lines that changed" },
  { "dirs",         IN_INT,    REQUIRED, NO_DEFAULT, 0, 0, NULL, "folders they are in" },
  { "type",         IN_TEXT,   OPTIONAL, NO_DEFAULT, 0, 0, NULL, "of the task: one round more for software, one more for a mixture A|B" },
};

#define FIELDS(rows) rows, COUNT(rows)

const DecideRow decide_rows[] = {
  { "route", "where a step's result leads, or where a task starts",
    "next (phase, (stop) or (rollback)), checkpoint, status, phase, effects[], row, why", FIELDS(route_fields), decide_route,
    { { "The checks failed and turns are left.",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"verify\",\"result\":\"fail\"}" },
      { "A plan has passed its check.",
        "{\"workflow\":\"lifecycle\",\"status\":\"planning\",\"step\":\"check\",\"checkpoint\":\"post-plan\",\"result\":\"PASS\"}" },
      { "A task whose work was interrupted starts again with facts.",
        "{\"workflow\":\"lifecycle\",\"status\":\"executing\",\"enter\":true}" },
      { "Good work, but fewer requirements are met than before.",
        "{\"workflow\":\"staged\",\"status\":\"executing\",\"step\":\"check\",\"checkpoint\":\"post-exec\",\"result\":\"ACCEPT\",\"stage\":2,\"convergence\":{\"value\":0.5,\"previous\":0.6}}" },
      { "The third fix did not help either.",
        "{\"workflow\":\"staged\",\"status\":\"executing\",\"step\":\"check\",\"checkpoint\":\"post-exec\",\"result\":\"NEEDS_FIX\",\"retries\":3}" },
      { "The objectives are met.",
        "{\"workflow\":\"staged\",\"status\":\"evolving\",\"step\":\"report\",\"result\":\"(generated)\",\"convergence\":{\"value\":0.96}}" },
      { "A third conflict: a person decides.",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"merge\",\"result\":\"conflict\",\"retries\":3}" },
      { "Every turn is used.",
        "{\"workflow\":\"loop\",\"status\":\"active\",\"step\":\"work\",\"result\":\"none\",\"counters\":{\"turns\":50}}" } } },
  { "transition", "may a person do this now, and what follows",
    "allowed, status (a refusal repeats the input), phase, effects[], row, why", FIELDS(transition_fields), decide_transition,
    { { "A fresh budget for a task that timed out.",
        "{\"workflow\":\"loop\",\"status\":\"timeout\",\"command\":\"retry\"}" },
      { "A refusal.",
        "{\"workflow\":\"loop\",\"status\":\"done\",\"command\":\"rm\"}" },
      { "A verdict while the plan is carried out.",
        "{\"workflow\":\"lifecycle\",\"status\":\"executing\",\"command\":\"check\",\"checkpoint\":\"mid-exec\",\"result\":\"REPLAN\"}" },
      { "Only accepted work is merged.",
        "{\"workflow\":\"lifecycle\",\"status\":\"executing\",\"command\":\"merge\"}" },
      { "A refinement reopens what is done.",
        "{\"workflow\":\"staged\",\"status\":\"satisfied\",\"command\":\"target\"}" } } },
  { "signal", "the signals in an agent's text",
    "signals[{type, payload}], invalid[{code, raw}], decides ({type, payload} or null), why", FIELDS(signal_fields), decide_signal,
    { { "The last control signal decides.",
        "{\"text\":\"<otto>PROGRESS:80</otto> nearly there\\n<otto>COMPLETE</otto>\"}" },
      { "Bad signals are reported and ignored.",
        "{\"text\":\"<OTTO>COMPLETE</OTTO> <otto>BLOCKED</otto> <otto>DONE</otto> <otto>PROGRESS:101</otto>\"}" },
      { "Another tag, and a payload with a bracket.",
        "{\"text\":\"<axiom>BLOCKED: a < b fails </axiom>\",\"tag\":\"axiom\"}" } } },
  { "completion", "what a finished turn means for its task",
    "outcome (done, continue, blocked, pause, timeout), task_state, actions[], row, why", FIELDS(completion_fields), decide_completion,
    { { "Done and proven, even in the last turn.",
        "{\"signal\":\"COMPLETE\",\"verification\":\"pass\",\"iterations\":50,\"max_iterations\":50,\"elapsed_ms\":1000,\"timeout_ms\":1800000,\"mode\":\"autopilot\"}" },
      { "Said to be done, but a check failed.",
        "{\"signal\":\"COMPLETE\",\"verification\":\"fail\",\"iterations\":3,\"max_iterations\":50,\"elapsed_ms\":1000,\"timeout_ms\":1800000,\"mode\":\"autopilot\"}" } } },
  { "exit", "what the end of an agent process means for its task",
    "task_state, actions[], row, why", FIELDS(exit_fields), decide_exit,
    { { "Killed by the kernel.", "{\"killed_by\":\"SIGKILL\"}" },
      { "Stopped by a person.", "{\"killed_by\":\"SIGTERM\",\"by_user\":true}" },
      { "An error of the agent.", "{\"exit_code\":1}" } } },
  { "verification", "the commands of the gate in plain form, and what their results mean",
    "commands[{name, command, timeout (s), required}], pass (true, false, or null while results are missing), error (code), command (text), warnings[], row, why", FIELDS(verification_fields), decide_verification,
    { { "A required command ran out of time.",
        "{\"config\":{\"default_timeout\":60,\"commands\":[{\"command\":\"npm run lint\",\"required\":false},{\"name\":\"tests\",\"command\":\"npm test\",\"timeout\":600}]},\"results\":[{\"exit_code\":2},{\"timed_out\":true}]}" },
      { "No command at all.", "{\"config\":[]}" },
      { "Not all have run.", "{\"config\":[\"make\",\"make test\"],\"results\":[{\"exit_code\":0}]}" } } },
  { "select", "which ready task is taken next",
    "id (or null), scores[{id, score, parts}] best first, why", FIELDS(select_fields), decide_select,
    { { "Tags, waiting and retries.",
        "{\"now_ms\":1700000000000,\"tasks\":[{\"id\":1,\"state\":\"pending\",\"tags\":[\"critical\"],\"unblocks\":0,\"retries\":1,\"created_ms\":1},{\"id\":2,\"state\":\"pending\",\"tags\":[\"quick-win\"],\"unblocks\":2,\"retries\":0,\"created_ms\":2,\"parent\":{\"done\":3,\"total\":5}},{\"id\":3,\"state\":\"pending\",\"tags\":[],\"unblocks\":0,\"retries\":0,\"created_ms\":3,\"waited_ms\":2400000},{\"id\":4,\"state\":\"active\",\"tags\":[],\"unblocks\":9,\"retries\":0,\"created_ms\":4}]}" },
      { "Nothing is ready.", "{\"now_ms\":0,\"tasks\":[]}" } } },
  { "graph", "levels, ready tasks, cycles and skips of a dependency graph",
    "levels[][], ready[], independent[], cycles[][], skipped[{id, because}], waiting[] (for a cycle), edges[{from, to}], ignored[{from, to, why}], why", FIELDS(graph_fields), decide_graph,
    { { "A failure, a cycle and an unknown id.",
        "{\"tasks\":[{\"id\":1,\"blocked_by\":[]},{\"id\":2,\"blocked_by\":[1]},{\"id\":3,\"blocked_by\":[2,99]},{\"id\":4,\"blocked_by\":[5]},{\"id\":5,\"blocked_by\":[4]},{\"id\":6,\"state\":\"closed\",\"blocks\":[7]},{\"id\":7,\"blocked_by\":[]},{\"id\":8,\"blocked_by\":[7]}],\"failed\":[1]}" } } },
  { "retry-delay", "how long to wait before the next try",
    "delay_ms, row, why", FIELDS(retry_fields), decide_retry_delay,
    { { "The third failure.", "{\"attempt\":3}" },
      { "The cap.", "{\"attempt\":1000000}" },
      { "A clean end.", "{\"attempt\":1,\"clean\":true}" } } },
  { "merge-plan", "the order of the merge queue, and what may start now",
    "order[] (without the merged), start[], why", FIELDS(merge_fields), decide_merge_plan,
    { { "Ready before waiting, then priority, then the oldest.",
        "{\"queue\":[{\"id\":\"a\",\"state\":\"waiting\",\"unmerged_deps\":1,\"completed_ms\":1},{\"id\":\"b\",\"state\":\"ready\",\"unmerged_deps\":0,\"completed_ms\":3},{\"id\":\"c\",\"state\":\"ready\",\"unmerged_deps\":0,\"completed_ms\":4,\"priority\":100},{\"id\":\"d\",\"state\":\"ready\",\"unmerged_deps\":0,\"completed_ms\":2}],\"window\":2}" } } },
  { "score", "do the scores of a check pass",
    "overall, threshold, floor_broken[] (d2, d1, d3), pass, verdict, retries_left, row, why", FIELDS(score_fields), decide_score,
    { { "Good enough.",
        "{\"checkpoint\":\"post-exec\",\"scores\":{\"d1\":0.8,\"d2\":0.9,\"d3\":0.7,\"d4\":0.8,\"d5\":0.8,\"d6\":0.8}}" },
      { "A high mean does not help below a floor.",
        "{\"checkpoint\":\"post-exec\",\"scores\":{\"d1\":1,\"d2\":0.4,\"d3\":1,\"d4\":1,\"d5\":1,\"d6\":1},\"retries\":1}" },
      { "A plan below the threshold of its type.",
        "{\"checkpoint\":\"post-plan\",\"scores\":{\"d1\":0.7,\"d2\":0.7,\"d3\":0.7,\"d4\":0.7,\"d5\":0.7,\"d6\":0.7},\"profile\":{\"thresholds\":{\"post-plan\":0.75},\"retries\":{\"post-plan\":4}},\"retries\":4}" },
      { "Weights.",
        "{\"checkpoint\":\"mid-exec\",\"scores\":{\"d1\":0.9,\"d2\":0.8,\"d3\":0.6,\"d4\":0,\"d5\":0.2,\"d6\":0.2},\"weights\":{\"d1\":3,\"d3\":2,\"d4\":0,\"d5\":0.5,\"d6\":0.5}}" } } },
  { "convergence", "how much of the objective is met, and may the stage stay",
    "value, verdict (accept, rollback, ask), satisfied (accepted and at least 0.95), unexplained[] (ids), row, why", FIELDS(convergence_fields), decide_convergence,
    { { "Progress.",
        "{\"requirements\":[{\"id\":\"R1\",\"weight\":3,\"coverage\":1},{\"id\":\"R2\",\"weight\":\"optional\",\"coverage\":0.5}],\"previous\":0.6}" },
      { "No progress, strictly.",
        "{\"requirements\":[{\"id\":\"R1\",\"weight\":1,\"coverage\":0.5}],\"previous\":0.5,\"policy\":\"strict\"}" },
      { "Less than before is never kept; a jump wants a reason.",
        "{\"requirements\":[{\"id\":\"R1\",\"weight\":2,\"coverage\":0.25,\"previous\":0.75}],\"previous\":0.75,\"policy\":\"ask\"}" },
      { "Done.",
        "{\"requirements\":[{\"id\":\"R1\",\"weight\":3,\"coverage\":1}],\"previous\":0.9}" } } },
  { "audit-rounds", "how many rounds a review of a change may take",
    "rounds, why", FIELDS(audit_fields), decide_audit_rounds,
    { { "A middling change of software.",
        "{\"files\":7,\"lines\":350,\"dirs\":3,\"type\":\"software\"}" },
      { "A huge one.",
        "{\"files\":400,\"lines\":90000,\"dirs\":60}" } } },
};
/* clang-format on */

const size_t decide_row_count = COUNT(decide_rows);
