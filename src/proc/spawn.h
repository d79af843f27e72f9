/* Starting programs: posix_spawn from argument vectors, never fork, never a shell.
 *
 * The child has default signals, an empty signal mask, and no descriptors but those named here. */
#pragma once
#include "base/err.h"
#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    SPAWN_SESSION = 1u << 0,  /* new session: own group too, and no controlling terminal */
    SPAWN_GROUP = 1u << 1,    /* new process group in our session */
    SPAWN_NO_PIDFD = 1u << 2, /* the caller learns of the end in another way; saves a call */
};

typedef struct SpawnFd {
    int fd; /* ours */
    int as; /* the child's, 3 and up */
} SpawnFd;

typedef struct SpawnSpec {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH without a slash */
    const char *const *envp; /* NULL: ours; the PATH of this one counts */
    const char *cwd;         /* NULL: ours */
    int in, out, err;        /* ours; -1: /dev/null */
    const SpawnFd *fds;
    size_t fd_count; /* at most SPAWN_FDS */
    unsigned flags;
} SpawnSpec;

enum { SPAWN_FDS = 8 };

/* For designated initialisers: nothing connected. */
#define SPAWN_SPEC_INIT .in = -1, .out = -1, .err = -1

typedef struct Spawned {
    pid_t pid;
    int pidfd; /* close-on-exec, owned by the caller; -1 with SPAWN_NO_PIDFD */
} Spawned;

/* The caller must reap it: waitid(P_PIDFD, ...) or waitpid. ERR_NOT_FOUND: there is no such
 * program (named in the text) or folder. */
bool spawn_process(const SpawnSpec *spec, Spawned *spawned, Err *err) NODISCARD;

/* Where a program is. A name with a slash is only checked. path_env NULL: the usual folders. */
bool program_find(const char *name, const char *path_env, char out[PATH_MAX]) NODISCARD;
