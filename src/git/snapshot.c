/* Snapshots: see snapshot.h. */
#include "git/snapshot.h"
#include "base/file.h"
#include "base/str.h"
#include "git/index.h"
#include "git/ref.h"
#include "git/scan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char snapshot_mark[] = "\n\nOtto-Snapshot: uncommitted\n";

typedef struct Taking {
    const SnapshotSpec *spec;
    Snapshot *snap;
    Git hub, files; /* files: hub, work tree and a private copy of the index */
    char index[PATH_MAX], part[PATH_MAX], exclude[PATH_MAX], ref[200], import[400];
    Oid head_tree, last, last_tree;
    WorkspaceNote note;
    bool has_note;
} Taking;

void snapshot_ref(const char *run, const char *epoch, const char *turn, char out[200])
{
    snprintf(out, 200, "refs/otto/runs/%s/e%s/%s", run, epoch, turn);
}

/* The index is worked on as a copy: a killed worker leaves the old one whole and no lock. */
static bool index_take(const Taking *t, Err *err)
{
    if (!path_exists(t->index))
        return unlink(t->part) == 0 || errno == ENOENT || err_errno(err, "cannot remove an index");
    return index_copy(t->index, t->part, 0600, err);
}

static bool is_plain_file(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool taking_open(Taking *t, Err *err)
{
    const Workspace *ws = &t->spec->ws;
    char file[300];
    snprintf(file, sizeof file, "%s.%ld", ws->name, (long)getpid());
    if (!hub_path(ws->hub, "index", ws->name, t->index, err) ||
        !hub_path(ws->hub, "tmp", file, t->part, err) ||
        !path_join(t->exclude, ws->path, ".git/info/exclude", err) || !index_take(t, err))
        return false;
    t->hub = (Git){.dir = ws->hub};
    t->files =
        (Git){.dir = ws->hub, .tree = ws->path, .index = t->part, .timeout_ms = GIT_AGENT_MS};
    /* The agent's private ignore list is only a list of patterns: data. */
    if (is_plain_file(t->exclude))
        t->files.excludes = t->exclude;
    snapshot_ref(t->spec->run, t->spec->epoch, t->spec->turn, t->ref);
    snprintf(t->import, sizeof t->import, "refs/otto/import/%s", ws->name);
    t->has_note = workspace_note_read(ws->hub, ws->name, &t->note);
    return true;
}

/* The agent's commit, or the last one known when it cannot be had. */
static bool head_find(Taking *t, Err *err)
{
    Err problem = {0};
    Oid known = t->has_note && oid_is_set(&t->note.head) ? t->note.head : t->spec->base;
    if (t->spec->kind->head(&t->spec->ws, &known, &t->snap->head, &problem))
        return true;
    if (problem.kind != ERR_REFUSED && problem.kind != ERR_GIT && problem.kind != ERR_NOT_FOUND) {
        if (err)
            *err = problem;
        return false;
    }
    t->snap->head = known;
    t->snap->is_head_lost = true;
    snprintf(t->snap->why, sizeof t->snap->why, "%.500s", problem.text);
    return true;
}

/* Trees of base, head and of the snapshot that an earlier try made, in one question. */
static bool trees_find(Taking *t, Err *err)
{
    char names[3][80];
    Oid oids[3] = {{""}};
    t->last = ref_read(t->hub.dir, t->ref);
    bool has_last = oid_is_set(&t->last);
    snprintf(names[0], sizeof names[0], "%s^{tree}", t->spec->base.hex);
    snprintf(names[1], sizeof names[1], "%s^{tree}", t->snap->head.hex);
    snprintf(names[2], sizeof names[2], "%s^{tree}", t->last.hex);
    const char *words[] = {"rev-parse", names[0], names[1], has_last ? names[2] : NULL, NULL};
    if (!git_oids(&t->hub, words, NULL, oids, has_last ? 3 : 2, err))
        return false;
    t->snap->base_tree = oids[0];
    t->head_tree = oids[1];
    t->last_tree = oids[2];
    return true;
}

static bool files_scan(Taking *t, bool ask_ignored, Err *err)
{
    CLEANUP(scan_done) Scan scan = SCAN_INIT;
    GitOut out = GIT_OUT_INIT;
    int64_t limit = t->spec->limit_bytes ? t->spec->limit_bytes : SNAPSHOT_LIMIT_BYTES;
    /* The index becomes the commit's, keeping what it knows of unchanged files. */
    bool is_done =
        git_run(&t->files, ARGV("read-tree", "--reset", t->snap->head.hex), NULL, &out, err);
    git_out_done(&out);
    if (!is_done || !scan_run(&t->files, limit, &scan, err))
        return false;
    t->snap->tree = t->head_tree;
    if ((scan.changed_count || scan.removed_count) &&
        !scan_apply(&t->files, &scan, &t->snap->tree, err))
        return false;
    t->snap->has_uncommitted = !oid_equal(&t->snap->tree, &t->head_tree);
    t->snap->nested = scan.nested;
    t->snap->skipped = scan.skipped;
    return !ask_ignored || scan_has_ignored(&t->files, &t->snap->has_ignored, err);
}

static bool commit_write(Taking *t, Err *err)
{
    if (!t->snap->has_uncommitted) {
        t->snap->commit = t->snap->head;
        return true;
    }
    if (oid_is_set(&t->last_tree) && oid_equal(&t->last_tree, &t->snap->tree)) {
        Oid head;
        if (!snapshot_head(&t->hub, &t->last, &head, err))
            return false;
        if (oid_equal(&head, &t->snap->head) && !oid_equal(&head, &t->last)) {
            t->snap->commit = t->last; /* an earlier try made it already */
            return true;
        }
    }
    Str message = STR_INIT;
    str_addf(&message, "%s\n\nSaved by otto: run %s, epoch %s, turn %s%s",
             t->spec->title && *t->spec->title ? t->spec->title : "Uncommitted work", t->spec->run,
             t->spec->epoch, t->spec->turn, snapshot_mark);
    CommitSpec spec = {
        .tree = t->snap->tree, .parents = {t->snap->head}, .message = str_text(&message)};
    bool is_done = commit_make(&t->hub, &spec, &t->snap->commit, err);
    str_done(&message);
    return is_done;
}

/* The reference, then the index, then the note: each may be missing after a crash without harm. */
static bool taking_close(Taking *t, Err *err)
{
    RefTxn txn = REF_TXN_INIT;
    if (!oid_equal(&t->last, &t->snap->commit))
        ref_txn_update(&txn, t->ref, &t->snap->commit, NULL);
    Oid import = ref_read(t->hub.dir, t->import);
    if (oid_is_set(&import))
        ref_txn_delete(&txn, t->import);
    if (!ref_txn_commit(&txn, &t->hub, err))
        return false;
    if (rename(t->part, t->index) != 0)
        return err_errno(err, "cannot keep the index");
    if (!t->has_note || oid_equal(&t->note.head, &t->snap->head))
        return true;
    t->note.head = t->snap->head;
    return workspace_note_write(t->hub.dir, t->spec->ws.name, &t->note, err);
}

bool snapshot_take(const SnapshotSpec *spec, bool ask_ignored, Snapshot *snapshot, Err *err)
{
    *snapshot = (Snapshot){0};
    Taking t = {.spec = spec, .snap = snapshot};
    bool is_done = taking_open(&t, err) && head_find(&t, err) && trees_find(&t, err) &&
                   files_scan(&t, ask_ignored, err) && commit_write(&t, err) &&
                   taking_close(&t, err);
    if (!is_done && t.part[0])
        (void)unlink(t.part); /* rubbish */
    return is_done || err_add(err, "snapshot of '%s'", spec->ws.path);
}

bool snapshot_head(const Git *hub, const Oid *snapshot, Oid *head, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    if (!git_run(hub, ARGV("cat-file", "commit", snapshot->hex), NULL, &out, err)) {
        git_out_done(&out);
        return false;
    }
    const char *text = str_text(&out.out);
    const char *body = strstr(text, "\n\n");
    const char *parent = strstr(text, "\nparent ");
    *head = *snapshot;
    if (body && text_ends(text, snapshot_mark) && parent && parent < body) {
        char *hex = mem_strdup(parent + 8);
        hex[strcspn(hex, "\n")] = '\0';
        *head = oid_from(hex);
        free(hex);
    }
    git_out_done(&out);
    return oid_is_set(head) || err_set(err, ERR_CORRUPT, "'%s' is not a snapshot", snapshot->hex);
}

typedef struct Stat {
    int64_t files, insertions, deletions;
    const char *rules; /* the first file that says how otto works here; NULL none */
} Stat;

/* What a change of these files means for later tasks is a person's affair. */
static bool is_rule(const char *name)
{
    return strcmp(name, "otto.yaml") == 0 || strncmp(name, ".otto/", 6) == 0 ||
           (strncmp(name, "workflows/", 10) == 0 && strstr(name, ".yaml"));
}

/* Lines of "added TAB removed TAB name"; binary files have dashes. */
static Stat stat_read(char *text)
{
    Stat stat = {0};
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n' ? (*end = '\0', 1) : 0;
        char *removed = strchr(line, '\t'), *name = removed ? strchr(removed + 1, '\t') : NULL;
        if (!name)
            continue;
        stat.files++;
        stat.insertions += strtoll(line, NULL, 10);
        stat.deletions += strtoll(removed + 1, NULL, 10);
        if (!stat.rules && is_rule(name + 1))
            stat.rules = name + 1;
    }
    return stat;
}

static bool report(const Git *hub, const SnapshotSpec *spec, const Snapshot *snap, json_t *out,
                   Err *err)
{
    bool is_empty = oid_equal(&snap->tree, &snap->base_tree);
    int64_t commits = 0;
    GitOut said = GIT_OUT_INIT;
    const char *const *words = ARGV("diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff",
                                    "--no-textconv", snap->base_tree.hex, snap->tree.hex);
    bool is_done = commit_count(hub, &spec->base, &snap->head, &commits, err) &&
                   (is_empty || git_run(hub, words, NULL, &said, err));
    Stat stat = is_done && said.out.length ? stat_read(said.out.bytes) : (Stat){0};
    out_oid(out, "commit", &snap->commit);
    out_oid(out, "head", &snap->head);
    out_flag(out, "has_uncommitted", snap->has_uncommitted);
    out_int(out, "commits", commits);
    out_int(out, "files_changed", stat.files);
    out_int(out, "insertions", stat.insertions);
    out_int(out, "deletions", stat.deletions);
    out_text(out, "rules", stat.rules);
    out_flag(out, "is_empty", is_empty);
    out_int(out, "nested", (int64_t)snap->nested);
    out_int(out, "skipped", (int64_t)snap->skipped);
    out_flag(out, "is_head_lost", snap->is_head_lost);
    out_text(out, "why", snap->why);
    git_out_done(&said);
    return is_done;
}

bool snapshot_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *path, *kind, *run, *epoch, *turn, *base, *title;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},     {"path", JOB_PATH, true, &path},
        {"kind", JOB_ID, true, &kind},     {"run", JOB_ID, true, &run},
        {"epoch", JOB_ID, true, &epoch},   {"turn", JOB_ID, true, &turn},
        {"base", JOB_COMMIT, true, &base}, {"title", JOB_TEXT, false, &title},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    SnapshotSpec spec = {.kind = workspace_kind_get(kind, err),
                         .title = title,
                         .run = run,
                         .epoch = epoch,
                         .turn = turn,
                         .base = oid_from(base),
                         .limit_bytes = json_int(in, "limit_bytes", 0)};
    if (!spec.kind)
        return false;
    spec.ws = (Workspace){.hub = hub, .path = path, .name = strrchr(path, '/') + 1};
    if (!spec.kind->is_ours)
        spec.ws.name = arena_printf(&arena, "none-r%s-e%s", run, epoch);
    if (!workspace_name_is_valid(spec.ws.name))
        return err_set(err, ERR_REFUSED, "'%s' is not a workspace of otto", path);
    Git git = {.dir = hub};
    Snapshot snapshot;
    return snapshot_take(&spec, false, &snapshot, err) && report(&git, &spec, &snapshot, out, err);
}
