/* The scripted agent, inside: steps, files of the workspace, processes. Private to script*.c. */
#pragma once
#include "agent/scenario.h"
#include <sys/types.h>

typedef struct Player {
    YamlDoc doc;
    Arena arena;
    const char *tag;
    Str prompt;
    double pace; /* factor for sleeps */
} Player;

bool script_step(Player *player, const StepRow *row, const StepArgs *args, Err *err) NODISCARD;

/* Files: paths are relative to the current folder, and no link on the way is followed. */
bool script_file_write(const char *path, const char *bytes, size_t length, bool append,
                       bool executable, Err *err) NODISCARD;
bool script_file_fill(const char *path, size_t length, Err *err) NODISCARD;
char *script_file_read(const char *path, size_t limit_bytes, size_t *length, Err *err) NODISCARD;
bool script_file_delete(const char *path, Err *err) NODISCARD;
bool script_file_has(const char *path);

/* Files of a self-driving session, in the folder that OTTO_TASK_DIR names. */
bool script_auto_signal(const StepArgs *args, double pace, Err *err) NODISCARD;
bool script_state_file(const char *name, const json_t *value, Err *err) NODISCARD;
bool script_wait_stop(double seconds, Err *err) NODISCARD;
bool script_auto_clean(Err *err) NODISCARD;

bool script_write(int fd, const char *bytes, size_t length); /* false: the reader is gone */

/* Runs and waits; stdin is empty, stdout goes to stderr (it is a tool's output, not the agent's
 * words). Exit code, 128 + signal, or -1 with err. */
int script_run(const char *const *argv, Err *err);
/* The same with a text on stdin. */
int script_run_with(const char *const *argv, const char *input, size_t length, Err *err);
/* Leaves a process behind: how is child, setsid or daemon. Its id, or -1. */
pid_t script_leave(const char *how, double seconds, bool ignore_term, Err *err);
int script_signal_number(const char *name); /* "TERM" */
void script_ignore_term(void);              /* SIGTERM, SIGINT, SIGHUP */
void script_sleep(double seconds);
