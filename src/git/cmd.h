/* The one place that starts the git program.
 *
 * Every call gets the same clean environment: no system or global configuration, no hooks, no
 * file-system monitor, no pager, no prompt, no helper programs, literal path specifications. What
 * a repository's own configuration could start is switched off by configuration that outranks it.
 * Calls block; they are made in a worker process, never in the engine's loop. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "git/oid.h"
#include <stdint.h>

typedef struct Git {
    const char *dir;        /* --git-dir; NULL: git looks from cwd (the user's own folder only) */
    const char *tree;       /* --work-tree, or NULL */
    const char *index;      /* GIT_INDEX_FILE, or NULL */
    const char *cwd;        /* NULL: the root folder */
    const char *excludes;   /* core.excludesFile, or NULL for none */
    const char *const *env; /* more NAME=value lines, ending with NULL, or NULL */
    int64_t timeout_ms;     /* 0: GIT_TIMEOUT_MS; shorter where an agent's files are read */
} Git;

typedef struct GitOut {
    int code;    /* exit code */
    bool is_cut; /* more output than the limit; the rest was dropped */
    Str out, err;
} GitOut;

typedef struct GitInput {
    const void *bytes;
    size_t length;
} GitInput;

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define GIT_OUT_INIT                                                                               \
    {                                                                                              \
        0, false, STR_INIT, STR_INIT                                                               \
    }
enum { GIT_OUT_LIMIT = 256 << 20, GIT_TIMEOUT_MS = 20 * 60 * 1000, GIT_AGENT_MS = 300 * 1000 };

/* Runs git with these words. True when it ran to its end, whatever its exit code. */
bool git_call(const Git *git, const char *const *words, const GitInput *input, GitOut *out,
              Err *err) NODISCARD;
/* The same with a limit of output; what is over is cut off, not an error. */
bool git_call_limited(const Git *git, const char *const *words, size_t limit_bytes, GitOut *out,
                      Err *err) NODISCARD;
/* As git_call, and every exit code but 0 is an error with git's own first line. */
bool git_run(const Git *git, const char *const *words, const GitInput *input, GitOut *out,
             Err *err) NODISCARD;
/* Exit code must be 0; the output's lines must be exactly `count` object names. */
bool git_oids(const Git *git, const char *const *words, const GitInput *input, Oid *oids,
              size_t count, Err *err) NODISCARD;
/* Turns a failed call into a sentence; a lock held by somebody else becomes ERR_BUSY. */
bool git_failed(const char *const *words, const GitOut *out, Err *err);
void git_out_done(GitOut *out);

/* Runs shell text that the user wrote (a set-up command) in a folder; its output goes to the
 * file. Only the variables in env (and PATH, HOME, LANG, TMPDIR, USER) are passed on. */
typedef struct ShellSpec {
    const char *text, *cwd, *log_path;
    int64_t timeout_ms;
    const char *const *env; /* NAME=value, ending with NULL, or NULL */
} ShellSpec;
bool shell_run(const ShellSpec *spec, Err *err) NODISCARD;

/* The user's name and mail as git would take them in that folder, with the user's own settings;
 * empty when there are none. */
bool git_identity(const char *folder, Str *name, Str *mail, Err *err) NODISCARD;
