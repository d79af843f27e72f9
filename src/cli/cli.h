/* The command line: parse, call, print. Holds no rules of its own: what may happen to a task is
 * said by the engine, whether it runs elsewhere or in this process. */
#pragma once
#include "base/err.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/call.h"
#include "cli/term.h"
#include "core/types.h"

enum { /* D: one meaning each, the same for every command */
       EXIT_DONE = 0,
       EXIT_USAGE = 1,
       EXIT_SYSTEM = 2,
       EXIT_PARTLY = 3, /* ended, but something failed, is blocked or needs a person */
       EXIT_INTERRUPTED = 130,
       EXIT_ERR = -1, /* a command's way to say: see err */
};

typedef struct Cli {
    char *program;    /* this program's file, for child processes */
    char *keeper;     /* the keeper program; "" when it was not found */
    char *state_dir;  /* absolute */
    Term term;        /* of standard output */
    Str out;          /* collected, written by cli_flush */
    int lost_output;  /* errno of the first write that failed; 0 none */
    const char *otto; /* how commands that we suggest begin: "otto", or with a state folder */
    Caller *caller;   /* see cli_caller */
} Cli;

typedef int CommandFn(Cli *cli, const Args *args, Err *err);

typedef struct Command {
    const char *name;
    const char *args; /* "ID [TEXT]" for help */
    const char *help; /* one line */
    const char *more; /* paragraphs, or NULL */
    const Flag *flags;
    const char *examples; /* lines, or NULL */
    size_t min_words, max_words;
    CommandFn *run;
    bool is_hidden; /* for the engine's own use */
    bool is_raw;    /* gets its words as they stand; no flag is read */
} Command;

const Command *command_table(size_t *count);
const Flag *command_common_flags(void);
/* Prints on err when there is none: with what was meant. */
const Command *command_find(const char *name, Err *err);

int cli_main(int argc, char **argv);

/* What commands share. */
int cli_fail(Err *err, ErrKind kind, const char *format, ...) PRINTF(3, 4); /* EXIT_ERR */
Caller *cli_caller(Cli *cli, Err *err) NODISCARD; /* opened at first use, kept */
void cli_caller_close(Cli *cli);
CallerOptions cli_caller_options(const Cli *cli);
void cli_flush(Cli *cli);             /* writes out and empties it */
int cli_wrap(Cli *cli);               /* out for the width of a terminal; EXIT_DONE */
void cli_error(const char *sentence); /* "otto: sentence" on standard error */
void cli_warn(const Cli *cli, const json_t *warnings);
int cli_print_json(Cli *cli, const json_t *json); /* EXIT_DONE */
bool cli_project(Cli *cli, bool is_fresh, int64_t *id, Err *err) NODISCARD;
bool cli_task_id(const char *word, int64_t *id, Err *err) NODISCARD; /* "12" or "#12" */
/* Whole standard input as text, at most limit bytes; owned by the caller. */
char *cli_read_input(size_t limit_bytes, Err *err) NODISCARD;
bool cli_confirm(const char *question); /* false without a terminal */
/* Sets key when text is valid UTF-8. */
bool cli_put_text(json_t *object, const char *key, const char *text, Err *err) NODISCARD;
/* A command the engine suggests ("otto answer 5"), as it must be typed here. */
void cli_add_command(const Cli *cli, Str *out, const char *command);
/* The command of an element of needs_you. */
void cli_add_need(const Cli *cli, Str *out, const json_t *need);
/* Text for a query: everything but letters, digits and -._~ as %XX. */
void cli_add_escaped(Str *out, const char *text);
/* What a task changed, in colour; turn 0: all of it. Returns an exit code; EXIT_ERR: see err. */
int diff_show(Cli *cli, int64_t id, bool is_stat, int64_t turn, Err *err);

/* help.c */
int command_help(Cli *cli, const Args *args, Err *err);
void help_command(const Command *command, Str *out);
void help_overview(Str *out);
void help_markdown(Str *out);

/* The commands, by file. */
int command_init(Cli *cli, const Args *args, Err *err);
int command_add(Cli *cli, const Args *args, Err *err);
int command_list(Cli *cli, const Args *args, Err *err);
int command_show(Cli *cli, const Args *args, Err *err);
int command_edit(Cli *cli, const Args *args, Err *err);
int command_rm(Cli *cli, const Args *args, Err *err);
int command_run(Cli *cli, const Args *args, Err *err);
int command_status(Cli *cli, const Args *args, Err *err);
int command_why(Cli *cli, const Args *args, Err *err);
int command_logs(Cli *cli, const Args *args, Err *err);
int command_diff(Cli *cli, const Args *args, Err *err);
int command_pause(Cli *cli, const Args *args, Err *err);
int command_resume(Cli *cli, const Args *args, Err *err);
int command_stop(Cli *cli, const Args *args, Err *err);
int command_retry(Cli *cli, const Args *args, Err *err);
int command_skip(Cli *cli, const Args *args, Err *err);
int command_answer(Cli *cli, const Args *args, Err *err);
int command_rollback(Cli *cli, const Args *args, Err *err);
int command_trash(Cli *cli, const Args *args, Err *err);
int command_report(Cli *cli, const Args *args, Err *err);
int command_replay(Cli *cli, const Args *args, Err *err);
int command_decide(Cli *cli, const Args *args, Err *err);
int command_config(Cli *cli, const Args *args, Err *err);
int command_doctor(Cli *cli, const Args *args, Err *err);
int command_workflow(Cli *cli, const Args *args, Err *err);
int command_target(Cli *cli, const Args *args, Err *err);
int command_step(Cli *cli, const Args *args, Err *err);
int command_inbox(Cli *cli, const Args *args, Err *err);
int command_approve(Cli *cli, const Args *args, Err *err);
int command_redo(Cli *cli, const Args *args, Err *err);
int command_reject(Cli *cli, const Args *args, Err *err);
int command_review(Cli *cli, const Args *args, Err *err);
int command_profile(Cli *cli, const Args *args, Err *err);
int command_prompt(Cli *cli, const Args *args, Err *err);
int command_timeline(Cli *cli, const Args *args, Err *err);
int command_export(Cli *cli, const Args *args, Err *err);
/* `otto report ID`; without an id command_report prints the project's. */
int report_task(Cli *cli, const Args *args, Err *err);
int command_serve(Cli *cli, const Args *args, Err *err);
int command_signal(Cli *cli, const Args *args, Err *err);
int command_version(Cli *cli, const Args *args, Err *err);
int command_demo(Cli *cli, const Args *args, Err *err);
int command_do(Cli *cli, const Args *args, Err *err);
int command_script_agent(Cli *cli, const Args *args, Err *err);
