/* Jobs that block: see work.h. */
#include "engine/work.h"
#include "base/str.h"
#include "engine/hook.h"
#include "git/change.h"
#include "git/checkout.h"
#include "git/deliver.h"
#include "git/hub.h"
#include "git/land.h"
#include "git/merge.h"
#include "git/repo.h"
#include "git/retire.h"
#include "git/show.h"
#include "git/snapshot.h"
#include "git/sync.h"
#include "git/trash.h"
#include "git/unlock.h"
#include "git/workspace.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* clang-format off */
static const WorkJob jobs[] = {
    { "inspect",       repo_inspect_job,      "path -> root is_bare is_empty branch is_detached is_dirty git_dir format problem?" },
    { "hub",           hub_job,               "hub repo -> created" },
    { "sync",          sync_job,              "hub repo target accept? -> state tip user_tip why" },
    { "prepare",       workspace_prepare_job, "hub repo target root kind project task run epoch base? restore? copy? setup? setup_timeout_s? setup_log? env? -> path kind base branch head missing" },
    { "snapshot",      snapshot_job,          "hub path kind run epoch turn base limit_bytes? -> commit head has_uncommitted commits files_changed insertions deletions rules is_empty nested skipped is_head_lost why" },
    { "checkout",      checkout_job,          "hub commit path overlay? -> path laid? removed?" },
    { "discard",       discard_job,           "path root ->" },
    { "retire",        retire_job,            "hub path kind run epoch root trash days task title? snapshot landed? aside? -> trashed kept why last" },
    { "merge",         merge_job,             "hub repo target commit message task? run? author_name? author_email? explain? -> state old new same_tree conflicts explain why sync" },
    { "land",          land_job,              "hub repo target old new commit task? deliver? -> state tip delivered why" },
    { "deliver",       deliver_job,           "hub repo target -> delivered why behind" },
    { "prove",         prove_job,             "hub commit target -> landed why" },
    { "rollback",      rollback_job,          "hub repo target landed message task? run? -> state old new conflicts why" },
    { "diff",          diff_job,              "hub from to stat? limit_bytes? -> text cut" },
    { "log",           log_job,               "hub base? commit limit? -> commits truncated" },
    { "change",        change_job,            "hub base? commit tests? patch_bytes? -> files totals tests patch truncated" },
    { "hook",          hook_job,              "command path timeout_s env -> exit_code timed_out output" },
    { "trash-list",    trash_list_job,        "trash -> entries" },
    { "trash-restore", trash_restore_job,     "trash name to? -> path" },
    { "trash-expire",  trash_expire_job,      "trash now_ms -> removed kept unreadable" },
    { "unlock",        unlock_job,            "hub min_age_s? -> removed kept" },
};
/* clang-format on */

const WorkJob *work_jobs(size_t *count)
{
    *count = COUNT(jobs);
    return jobs;
}

const WorkJob *work_job_find(const char *name)
{
    for (size_t i = 0; i < COUNT(jobs); i++)
        if (strcmp(jobs[i].name, name) == 0)
            return &jobs[i];
    return NULL;
}

static json_t *failure(const Err *err)
{
    json_t *out = json_object();
    out_flag(out, "ok", false);
    out_text(out, "kind", err_kind_name(err->kind));
    out_text(out, "error", err->text);
    return out;
}

json_t *work_run(const WorkJob *job, const json_t *in)
{
    Err err = {0};
    json_t *out = json_object();
    out_flag(out, "ok", true);
    if (job->run(in, out, &err))
        return out;
    json_decref(out);
    if (err.kind == ERR_NONE)
        err_set(&err, ERR_INTERNAL, "the job failed without saying why");
    return failure(&err);
}

static json_t *input_read(Err *err)
{
    Str text = STR_INIT;
    char chunk[65536];
    ssize_t got;
    while ((got = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || text.length + (size_t)got > WORK_INPUT_LIMIT)
            break;
        str_add_bytes(&text, chunk, (size_t)got);
    }
    json_t *in = NULL;
    if (got < 0)
        err_errno(err, "cannot read the job's fields");
    else if (got > 0)
        err_set(err, ERR_TOO_BIG, "the job's fields are longer than %d bytes", WORK_INPUT_LIMIT);
    else
        in = json_read(str_text(&text), text.length, err);
    str_done(&text);
    return in;
}

int work_main(const char *name)
{
    Err err = {0};
    const WorkJob *job = work_job_find(name);
    /* A worker ends with its engine; git processes of it go on to their own end. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return 1;
    if (!job) {
        fprintf(stderr, "there is no job '%s'\n", name);
        return 1;
    }
    CLEANUP(json_freep) json_t *in = input_read(&err);
    CLEANUP(json_freep) json_t *out = in ? work_run(job, in) : failure(&err);
    CLEANUP(mem_freep) char *text = json_write(out);
    bool is_printed = text && fputs(text, stdout) >= 0 && fputc('\n', stdout) >= 0;
    return fflush(stdout) == 0 && is_printed ? 0 : 1;
}
