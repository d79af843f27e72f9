/* References and the small questions about commits.
 *
 * Reading is done from the files (loose, then packed), which costs no process; writing goes
 * through git, always in one transaction, always with the old value where there is one. */
#pragma once
#include "git/cmd.h"
#include "git/oid.h"

/* First line of a small ordinary file; false for anything else. Never waits (a planted pipe). */
bool line_read(const char *path, char *out, size_t size);
/* The value of a full reference name ("refs/heads/main") in a git folder; empty when absent.
 * Symbolic references are followed. */
Oid ref_read(const char *git_dir, const char *ref);
/* What HEAD names, "refs/heads/x", or "" when it is detached or unreadable. Caller's buffer. */
void head_branch(const char *git_dir, char *out, size_t size);

/* A transaction of updates, written one after the other and carried out at once. */
typedef struct RefTxn {
    Str lines;
} RefTxn;
#define REF_TXN_INIT                                                                               \
    {                                                                                              \
        STR_INIT                                                                                   \
    }
/* old: NULL = whatever it is; an unset Oid = must not exist. */
void ref_txn_update(RefTxn *txn, const char *ref, const Oid *value, const Oid *old);
void ref_txn_delete(RefTxn *txn, const char *ref);
/* All or nothing; frees the lines either way. Without lines it is true at once. A lost race is
 * ERR_CONFLICT. */
bool ref_txn_commit(RefTxn *txn, const Git *git, Err *err) NODISCARD;

/* Is a an ancestor of (or equal to) b? Unknown objects are an error. */
bool commit_is_ancestor(const Git *git, const Oid *a, const Oid *b, bool *is_ancestor,
                        Err *err) NODISCARD;
/* Count of commits in b that are not in a. */
bool commit_count(const Git *git, const Oid *a, const Oid *b, int64_t *count, Err *err) NODISCARD;
/* Is this a commit that the repository has? */
bool commit_exists(const Git *git, const Oid *oid);

typedef struct CommitSpec {
    Oid tree;
    Oid parents[2]; /* unset ones are left out */
    const char *message;
    const char *author_name, *author_mail; /* NULL: the repository's identity */
} CommitSpec;
bool commit_make(const Git *git, const CommitSpec *spec, Oid *out, Err *err) NODISCARD;
