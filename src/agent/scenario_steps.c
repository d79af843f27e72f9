/* Scenarios: the steps and their keys. A new step is one row here and one function in script.c. */
#include "agent/scenario.h"

#define TEXT(name, member, most, test, words)                                                      \
    {                                                                                              \
        .key = name, .type = FIELD_TEXT, .offset = offsetof(StepArgs, member), .max = most,        \
        .check = test, .help = words                                                               \
    }
#define WORD(name, member, standard, list, text)                                                   \
    {                                                                                              \
        .key = name, .type = FIELD_WORD, .offset = offsetof(StepArgs, member),                     \
        .fallback = standard, .words = list, .help = text                                          \
    }
#define INT(name, member, standard, least, most, text)                                             \
    {                                                                                              \
        .key = name, .type = FIELD_INT, .offset = offsetof(StepArgs, member),                      \
        .fallback = standard, .min = least, .max = most, .help = text                              \
    }
#define REAL(name, member, standard, most, text)                                                   \
    {                                                                                              \
        .key = name, .type = FIELD_REAL, .offset = offsetof(StepArgs, member),                     \
        .fallback = standard, .max = most, .help = text                                            \
    }
#define BOOL(name, member, standard, text)                                                         \
    {                                                                                              \
        .key = name, .type = FIELD_BOOL, .offset = offsetof(StepArgs, member),                     \
        .fallback = standard, .help = text                                                         \
    }

enum { MOST_TEXT = 1 << 20, MOST_PATH = 4096, DAY = 86400 };

/* clang-format off */
static const Field say_keys[] = {
  TEXT("text", text, MOST_TEXT, NULL, "words; {{tag}} becomes the signal tag"),
  TEXT("file", file, MOST_PATH, field_check_inside, "a file to quote"),
  BOOL("prompt", prompt, NULL, "repeat the prompt"),
};
static const Field warn_keys[] = {TEXT("text", text, MOST_TEXT, NULL, "words for stderr")};
static const Field write_keys[] = {
  TEXT("path", path, MOST_PATH, field_check_inside, "file to write; folders are made"),
  TEXT("text", text, MOST_TEXT, NULL, "its new content"),
  TEXT("append", append, MOST_TEXT, NULL, "text added at its end"),
  INT("bytes", bytes, "-1", -1, 1e9, "that many filler bytes as its content"),
  BOOL("executable", executable, NULL, "may be run"),
};
static const Field delete_keys[] = {
  TEXT("path", path, MOST_PATH, field_check_inside, "file or folder; a missing one is fine"),
};
static const Field run_keys[] = {
  TEXT("command", command, MOST_TEXT, NULL, "for the shell; its output goes to stderr"),
  BOOL("may_fail", may_fail, NULL, "go on when it fails"),
};
static const Field commit_keys[] = {TEXT("message", text, 10000, NULL, "commit message")};
static const Field signal_keys[] = {
  TEXT("text", text, MOST_TEXT, NULL, "whole signal: TYPE or TYPE:payload"),
  TEXT("type", type, 64, field_check_line, "its type"),
  TEXT("payload", payload, MOST_TEXT, NULL, "its payload"),
  WORD("via", via, "tag", "tag command", "tag on stdout, or the command otto signal"),
};
static const Field sleep_keys[] = {REAL("seconds", seconds, NULL, DAY, "how long")};
static const Field hang_keys[] = {
  BOOL("on", on, "true", "for ever"),
  BOOL("ignore_term", ignore_term, NULL, "SIGTERM and SIGINT do not end it"),
};
static const Field spew_keys[] = {
  INT("bytes", bytes, NULL, 0, 1e11, "how many"),
  BOOL("line", line, "true", "in lines; false: one endless line"),
  TEXT("pattern", pattern, 1000, NULL, "what is repeated"),
};
static const Field end_keys[] = {INT("code", code, NULL, 0, 255, "exit code")};
static const Field kill_keys[] = {
  WORD("signal", signal, NULL, "TERM KILL INT HUP QUIT ABRT SEGV", "sent to itself"),
};
static const Field fork_keys[] = {
  WORD("how", how, "child", "child setsid daemon", "child, in its own session, or fully detached"),
  REAL("seconds", seconds, "600", DAY, "how long it lives"),
  BOOL("ignore_term", ignore_term, NULL, "SIGTERM and SIGINT do not end it"),
  TEXT("pid_file", pid_file, MOST_PATH, field_check_inside, "file for its process id"),
};
static const Field usage_keys[] = {
  INT("input", input, "0", 0, 1e9, "tokens read"),
  INT("output", output, "0", 0, 1e9, "tokens written"),
  INT("cache", cache, "0", 0, 1e9, "tokens from the cache"),
  REAL("cost", cost, "0", 1e5, "dollars"),
};
static const Field limit_keys[] = {
  TEXT("kind", kind, 64, field_check_line, "quota, rate, ..."),
  INT("reset_s", reset_s, "-1", -1, 1e8, "seconds until it ends; -1 unknown"),
};
static const Field session_keys[] = {TEXT("id", id, 200, field_check_line, "id of the conversation")};
static const Field expect_keys[] = {
  TEXT("contains", contains, MOST_TEXT, NULL, "text that must be there"),
  TEXT("path", path, MOST_PATH, field_check_inside, "file to look into; without it the prompt"),
};
static const Field auto_signal_keys[] = {
  TEXT("step", step, 64, field_check_line, "the step that has just ended"),
  TEXT("result", result, 64, field_check_line, "how it ended"),
  TEXT("next", next, 64, field_check_line, "what comes next, or (stop)"),
  TEXT("checkpoint", checkpoint, 64, field_check_line, "hint for a check"),
  INT("iteration", iteration, "-1", -1, 1e9, "number of the step"),
  TEXT("timestamp", timestamp, 64, field_check_line, "instead of the present time"),
  TEXT("raw", raw, MOST_TEXT, NULL, "content of the file instead of all this"),
  BOOL("slow", slow, NULL, "half of it stands in the file for a while, then the rest"),
  REAL("seconds", seconds, "1", DAY, "how long that while is"),
};
static const Field wait_stop_keys[] = {REAL("seconds", seconds, "60", DAY, "longest wait; then the turn fails")};
static const Field auto_clean_keys[] = {BOOL("on", on, "true", "as said")};

#define FIELDS(table) table, COUNT(table)
static const StepRow rows[] = {
  {STEP_SAY, "say", "text", "text file prompt", FIELDS(say_keys), "writes on stdout, as its own words"},
  {STEP_WARN, "warn", "text", "text", FIELDS(warn_keys), "writes on stderr"},
  {STEP_WRITE, "write", NULL, "text append bytes", FIELDS(write_keys), "writes a file of the workspace"},
  {STEP_DELETE, "delete", "path", "path", FIELDS(delete_keys), "removes a file or folder"},
  {STEP_RUN, "run", "command", "command", FIELDS(run_keys), "runs a shell command"},
  {STEP_COMMIT, "commit", "message", "message", FIELDS(commit_keys), "commits everything that changed"},
  {STEP_SIGNAL, "signal", "text", "text type", FIELDS(signal_keys), "reports to the engine"},
  {STEP_SLEEP, "sleep", "seconds", "seconds", FIELDS(sleep_keys), "waits"},
  {STEP_HANG, "hang", "on", NULL, FIELDS(hang_keys), "never ends by itself"},
  {STEP_SPEW, "spew", "bytes", "bytes", FIELDS(spew_keys), "floods stdout"},
  {STEP_EXIT, "exit", "code", "code", FIELDS(end_keys), "ends the turn at once"},
  {STEP_KILL, "kill", "signal", "signal", FIELDS(kill_keys), "dies of a signal"},
  {STEP_FORK, "fork", "how", NULL, FIELDS(fork_keys), "leaves a process behind"},
  {STEP_USAGE, "usage", NULL, NULL, FIELDS(usage_keys), "reports tokens and cost"},
  {STEP_LIMIT, "limit", "kind", NULL, FIELDS(limit_keys), "reports a spent quota"},
  {STEP_SESSION, "session", "id", "id", FIELDS(session_keys), "reports a conversation id"},
  {STEP_EXPECT, "expect", "contains", "contains path", FIELDS(expect_keys), "fails the turn when something is not there"},
  {STEP_ANSWER, "answer", NULL, NULL, NULL, 0, "gives the structured answer: RESULT with this map as JSON"},
  {STEP_AUTO_SIGNAL, "auto_signal", NULL, "step raw", FIELDS(auto_signal_keys), "a self-driving session reports a step"},
  {STEP_STATUS_FILE, "status_file", NULL, NULL, NULL, 0, "a self-driving session writes .status.json"},
  {STEP_INDEX_FILE, "index_file", NULL, NULL, NULL, 0, "a self-driving session writes .index.json"},
  {STEP_WAIT_STOP, "wait_stop", "seconds", NULL, FIELDS(wait_stop_keys), "waits until .auto-stop is there"},
  {STEP_AUTO_CLEAN, "auto_clean", "on", NULL, FIELDS(auto_clean_keys), "removes the files of the protocol"},
};
/* clang-format on */

const StepRow *scenario_steps(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}
