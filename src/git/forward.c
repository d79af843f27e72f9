/* Moving a checked-out branch forward: see forward.h. */
#include "git/forward.h"
#include "base/file.h"
#include "base/str.h"
#include "git/forward_check.h"
#include "git/ref.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Moving {
    Forward *f;
    Delivery *delivery;
    Git user; /* the user's work tree, with our copy of the index */
    char intent[PATH_MAX], index[PATH_MAX], copy[PATH_MAX], lock[PATH_MAX], mine[PATH_MAX];
    bool is_started; /* files may have changed */
    ino_t inode;     /* of the lock that is ours */
} Moving;

static const char own_prefix[] = "otto-own-";
static const char *const committer[] = {"GIT_COMMITTER_NAME=otto",
                                        "GIT_COMMITTER_EMAIL=otto@localhost", NULL};

static bool answer(Moving *m, const char *state, const char *why)
{
    m->delivery->state = state;
    snprintf(m->delivery->why, sizeof m->delivery->why, "%.500s", why);
    return true;
}

/* git makes the pack inside the user's repository while it may read the hub's objects: one
 * process, nothing fetched, no settings of a remote involved. */
bool forward_send(const Git *hub, const char *common, const Oid *old, const Oid *new, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Str borrow = STR_INIT;
    char lines[160];
    int length = snprintf(lines, sizeof lines, "%s\n^%s\n", new->hex, old->hex);
    /* Quoted: a colon in the path would otherwise end it. */
    str_add(&borrow, "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"");
    for (const char *c = hub->dir; *c; c++) {
        if (*c == '"' || *c == '\\')
            str_add_char(&borrow, '\\');
        str_add_char(&borrow, *c);
    }
    str_add(&borrow, "/objects\"");
    const char *pack = arena_printf(&arena, "%s/objects/pack/pack", common);
    Git user = {.dir = common, .env = ARGV(str_text(&borrow))};
    GitInput input = {lines, (size_t)length};
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(&user, ARGV("pack-objects", "-q", "--revs", pack), &input, &out, err);
    str_done(&borrow);
    git_out_done(&out);
    return is_done;
}

/* -- the intent ----------------------------------------------------------------------------- */

/* One file per target; a slash in the name cannot be a folder. */
static bool intent_path(const char *hub, const char *target, char out[PATH_MAX], Err *err)
{
    Str name = STR_INIT;
    str_add(&name, "forward-");
    for (const char *c = target; *c; c++)
        if (*c == '/' || *c == '%')
            str_addf(&name, "%%%02x", (unsigned)*c);
        else
            str_add_char(&name, *c);
    bool is_done = hub_path(hub, "tmp", str_text(&name), out, err);
    str_done(&name);
    return is_done;
}

static bool intent_write(const Moving *m, bool is_started, Err *err)
{
    CLEANUP(json_freep) json_t *json = json_object();
    out_text(json, "target", m->f->target);
    out_oid(json, "old", &m->f->old);
    out_oid(json, "new", &m->f->new);
    out_int(json, "inode", (int64_t)m->inode);
    out_flag(json, "is_started", is_started);
    CLEANUP(mem_freep) char *text = json_write(json);
    return file_write_atomic(m->intent, text, strlen(text), 0600, err);
}

static bool intent_read(const char *path, Oid *old, Oid *new, ino_t *inode, bool *is_started)
{
    CLEANUP(json_freep) json_t *json = json_read_file(path, 1 << 16, NULL);
    *old = oid_from(json_text(json, "old", NULL));
    *new = oid_from(json_text(json, "new", NULL));
    *inode = (ino_t)json_int(json, "inode", 0);
    *is_started = json_flag(json, "is_started", false);
    return oid_is_set(old) && oid_is_set(new);
}

bool forward_pending(const char *hub, const char *target, Oid *old, Oid *new)
{
    char path[PATH_MAX];
    ino_t inode;
    bool is_started;
    return intent_path(hub, target, path, NULL) && path_exists(path) &&
           intent_read(path, old, new, &inode, &is_started);
}

/* -- the lock ------------------------------------------------------------------------------- */

static ino_t inode_of(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 ? info.st_ino : 0;
}

/* The lock is a second name of a file whose number is in the intent: after a crash it can be told
 * from a lock of the user's. */
static bool lock_take(Moving *m, bool *is_ours, Err *err)
{
    *is_ours = m->f->is_again && m->inode != 0 && inode_of(m->lock) == m->inode;
    if (*is_ours)
        return true; /* it was left by the worker that died */
    if (path_exists(m->lock))
        return true;
    if ((unlink(m->mine) != 0 && errno != ENOENT) || !file_write_plain(m->mine, "", 0, 0600, err))
        return err_errno(err, "cannot make '%s'", m->mine);
    m->inode = inode_of(m->mine);
    if (!intent_write(m, m->is_started, err))
        return false;
    *is_ours = link(m->mine, m->lock) == 0;
    return *is_ours || errno == EEXIST || err_errno(err, "cannot lock '%s'", m->index);
}

/* Our own small files beside the user's index, also those of workers that died. */
static void own_files_remove(const Moving *m)
{
    char path[PATH_MAX];
    DIR *list = opendir(m->f->tree.git_dir);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (text_starts(entry->d_name, own_prefix) &&
            path_join(path, m->f->tree.git_dir, entry->d_name, NULL))
            (void)unlink(path); /* the next delivery tries again */
    if (list)
        (void)closedir(list); /* only read from */
}

/* The intent goes last: until then a lock that stays is known to be ours by its number. */
static void unlock_all(Moving *m, bool is_over)
{
    if (m->inode && inode_of(m->lock) == m->inode)
        (void)unlink(m->lock); /* a failure shows as busy next time */
    own_files_remove(m);
    if (is_over)
        (void)unlink(m->intent); /* read again next time when it stays */
}

/* -- moving --------------------------------------------------------------------------------- */

static bool index_copy(const Moving *m, Err *err)
{
    size_t length = 0;
    CLEANUP(mem_freep) char *bytes = file_read(m->index, (size_t)1 << 30, &length, err);
    return bytes && file_write_plain(m->copy, bytes, length, 0644, err);
}

static bool files_move(const Moving *m, const char *from, const char *to, Err *err)
{
    GitOut out = GIT_OUT_INIT;
    bool is_done = from
                       ? git_run(&m->user, ARGV("read-tree", "-m", "-u", from, to), NULL, &out, err)
                       : git_run(&m->user, ARGV("read-tree", "--reset", "-u", to), NULL, &out, err);
    git_out_done(&out);
    return is_done;
}

static bool branch_move(const Moving *m, Err *err)
{
    char ref[300];
    snprintf(ref, sizeof ref, "refs/heads/%s", m->f->target);
    Oid now = ref_read(m->f->common, ref);
    if (oid_equal(&now, &m->f->new))
        return true; /* the worker that died got this far */
    Git user = {.dir = m->f->common, .env = committer};
    RefTxn txn = REF_TXN_INIT;
    ref_txn_update(&txn, ref, &m->f->new, &m->f->old);
    if (ref_txn_commit(&txn, &user, err))
        return true;
    /* The git of a killed worker outlives it and may have moved the branch just now. */
    now = ref_read(m->f->common, ref);
    return oid_equal(&now, &m->f->new);
}

/* Under the lock: files, branch, index. */
static bool move_all(Moving *m, Err *err)
{
    const Forward *f = m->f;
    Err problem = {0};
    if (!forward_send(&f->hub, f->common, &f->old, &f->new, err) || !intent_write(m, true, err) ||
        !index_copy(m, err))
        return false;
    bool was_started = m->is_started;
    m->is_started = true;
    if (!files_move(m, was_started ? NULL : f->old.hex, f->new.hex, &problem))
        return answer(m, "dirty", problem.text);
    if (!branch_move(m, &problem)) {
        m->is_started = !files_move(m, f->new.hex, f->old.hex, NULL);
        return answer(m, "busy", "your branch moved at this moment; it is tried again");
    }
    if (rename(m->copy, m->index) != 0)
        return err_errno(err, "cannot replace '%s'", m->index);
    m->is_started = false;
    return answer(m, "yes", "your branch and its files were moved forward");
}

static bool check_and_move(Moving *m, Err *err)
{
    char why[400] = "";
    bool is_filtered = false;
    ForwardCheck check = {.hub = &m->f->hub,
                          .tree = &m->f->tree,
                          .common = m->f->common,
                          .old = &m->f->old,
                          .new = &m->f->new,
                          .is_started = m->is_started};
    if (!forward_check(&check, why, sizeof why, &is_filtered, err))
        return false;
    if (!why[0])
        return move_all(m, err);
    if (is_filtered && !forward_send(&m->f->hub, m->f->common, &m->f->old, &m->f->new, err))
        return false;
    return answer(m, "dirty", why);
}

static bool moving_open(Moving *m, Err *err)
{
    const char *git_dir = m->f->tree.git_dir;
    char copy[64], mine[64];
    snprintf(copy, sizeof copy, "%sindex.%ld", own_prefix, (long)getpid());
    snprintf(mine, sizeof mine, "%slock.%ld", own_prefix, (long)getpid());
    if (!path_join(m->index, git_dir, "index", err) || !path_join(m->copy, git_dir, copy, err) ||
        !path_join(m->lock, git_dir, "index.lock", err) || !path_join(m->mine, git_dir, mine, err))
        return false;
    m->user = (Git){.dir = git_dir, .tree = m->f->tree.path, .index = m->copy, .env = committer};
    if (!intent_path(m->f->hub.dir, m->f->target, m->intent, err))
        return false;
    Oid old, new;
    if (m->f->is_again)
        (void)intent_read(m->intent, &old, &new, &m->inode, &m->is_started); /* seen a moment ago */
    return true;
}

/* The branch went elsewhere after the worker died: its intent means nothing any more. */
static bool is_overtaken(const Forward *f)
{
    char ref[300];
    snprintf(ref, sizeof ref, "refs/heads/%s", f->target);
    Oid now = ref_read(f->common, ref);
    return !oid_equal(&now, &f->old) && !oid_equal(&now, &f->new);
}

bool forward_run(Forward *forward, Delivery *delivery, Err *err)
{
    Moving m = {.f = forward, .delivery = delivery};
    bool is_ours = false;
    if (!moving_open(&m, err))
        return false;
    if (is_overtaken(forward)) {
        unlock_all(&m, true);
        return answer(&m, "busy", "your branch moved at this moment; it is tried again");
    }
    const char *busy = repo_busy_with(forward->tree.git_dir);
    char why[100];
    snprintf(why, sizeof why, "%s is going on in your checkout", busy ? busy : "something");
    if (busy)
        return answer(&m, "busy", why);
    if (!lock_take(&m, &is_ours, err))
        return false;
    if (!is_ours) {
        (void)unlink(m.mine); /* a second name only */
        if (!m.is_started)
            (void)unlink(m.intent); /* nothing was begun */
        return answer(&m, "busy", "git is at work in your checkout");
    }
    bool is_done = check_and_move(&m, err);
    unlock_all(&m, !m.is_started);
    return is_done;
}
