/* Workspaces: one isolated checkout per run and epoch.
 *
 * Owns the folders ROOT/pPROJECT-tTASK-rRUN-eEPOCH and nothing outside (T7, T9). A path is made
 * from ids only and never used twice. A kind is a row of functions; nothing above this room knows
 * the difference between kinds. */
#pragma once
#include "git/hub.h"
#include "git/oid.h"

typedef struct Workspace {
    const char *hub, *repo, *root, *path;
    const char *name;   /* last part of path; names the note in the hub */
    const char *index;  /* names the index in the hub; NULL: name */
    const char *branch; /* otto/task-TASK */
    const char *target;
    Oid head;  /* commit that the branch starts at */
    Oid files; /* commit whose files are laid down; differs from head when work is restored */
} Workspace;

typedef struct WorkspaceKind {
    const char *name;
    bool is_ours; /* we made the folder, so we may remove it */
    const char *why;
    /* Makes the folder complete at ws->path, with the hub's index for it. Nobody has worked in it
     * yet: what a killed try left is made anew. */
    bool (*make)(const Workspace *ws, Err *err);
    /* Brings the workspace's current commit into the hub. False with ERR_REFUSED or ERR_GIT when
     * there is none to be had; the files can still be saved. known: what it was last time. */
    bool (*head)(const Workspace *ws, const Oid *known, Oid *head, Err *err);
    /* After the folder was moved to the trash entry: put away what lies elsewhere. */
    bool (*discard)(const Workspace *ws, const char *trash_entry, Err *err);
} WorkspaceKind;

/* NULL when there is no such kind; "auto" is the best that the machine allows. */
const WorkspaceKind *workspace_kind(const char *name);
const WorkspaceKind *workspace_kind_get(const char *name, Err *err) NODISCARD;

/* What the hub remembers of a workspace: outside the agent's reach. */
typedef struct WorkspaceNote {
    bool is_ready;
    Oid base, head;
    char branch[64];
} WorkspaceNote;
bool workspace_note_read(const char *hub, const char *name, WorkspaceNote *note);
bool workspace_note_write(const char *hub, const char *name, const WorkspaceNote *note,
                          Err *err) NODISCARD;

/* Letters, digits and dashes only: it becomes part of file and reference names. */
bool workspace_name_is_valid(const char *name);

/* For the kinds: lays files down in a folder and writes the hub's index for the workspace. */
bool workspace_fill(const Workspace *ws, const char *folder, Err *err) NODISCARD;
/* For the kinds: an empty folder beside ws->path that becomes it by rename at the end. Opening
 * removes what earlier tries left, ws->path included. */
bool workspace_part_open(const Workspace *ws, char part[PATH_MAX], Err *err) NODISCARD;
bool workspace_part_close(const Workspace *ws, const char *part, Err *err) NODISCARD;

extern const WorkspaceKind workspace_clone, workspace_worktree, workspace_none;

/* prepare {hub, repo, target, root, kind, project, task, run, epoch, base?, restore?, copy?,
 * setup?, setup_timeout_s?, setup_log?, env?} -> {path, kind, base, branch, head, missing} */
bool workspace_prepare_job(const json_t *in, json_t *out, Err *err);
