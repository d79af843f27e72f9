/* Snapshots: what a workspace holds, saved in the hub (F21).
 *
 * A snapshot is a commit: the agent's own current commit when the files agree with it, otherwise
 * one on top of it with everything uncommitted and untracked (ignored files excepted). It is kept
 * by refs/otto/runs/RUN/eEPOCH/TURN. The agent may have amended, detached, changed the branch or
 * deleted its .git: the files are saved in any case. */
#pragma once
#include "git/workspace.h"

typedef struct SnapshotSpec {
    const char *title; /* subject of a commit of uncommitted work; NULL: a plain word */
    const WorkspaceKind *kind;
    Workspace ws;                   /* hub, path and name are used */
    const char *run, *epoch, *turn; /* turn: a word of letters and digits */
    Oid base;
    int64_t limit_bytes; /* of untracked files; 0: SNAPSHOT_LIMIT_BYTES */
} SnapshotSpec;
#define SNAPSHOT_LIMIT_BYTES ((int64_t)1 << 30)

typedef struct Snapshot {
    Oid commit, head, tree, base_tree;
    bool has_uncommitted, is_head_lost; /* lost: commits could not be taken over, see why */
    size_t nested, skipped;
    bool has_ignored; /* only when asked for */
    char why[512];
} Snapshot;

bool snapshot_take(const SnapshotSpec *spec, bool ask_ignored, Snapshot *snapshot,
                   Err *err) NODISCARD;
/* The commit that a snapshot was made on: itself, or its parent when it holds uncommitted work. */
bool snapshot_head(const Git *hub, const Oid *snapshot, Oid *head, Err *err) NODISCARD;
/* "refs/otto/runs/RUN/eEPOCH/TURN" */
void snapshot_ref(const char *run, const char *epoch, const char *turn, char out[200]);

/* snapshot {hub, path, kind, run, epoch, turn, base, branch?, limit_bytes?} -> {commit, head,
 * has_uncommitted, commits, files_changed, insertions, deletions, is_empty, nested, skipped,
 * is_head_lost, why} */
bool snapshot_job(const json_t *in, json_t *out, Err *err);
