/* Looking at commits: see show.h. */
#include "git/show.h"
#include "base/str.h"
#include <stdlib.h>
#include <string.h>

enum { DIFF_LIMIT = 1 << 20, DIFF_LIMIT_MAX = 64 << 20, LOG_LIMIT = 100, LOG_LIMIT_MAX = 10000 };

bool diff_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *from, *to;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"from", JOB_COMMIT, true, &from},
        {"to", JOB_COMMIT, true, &to},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    int64_t limit = json_int(in, "limit_bytes", DIFF_LIMIT);
    limit = MAX(MIN(limit, DIFF_LIMIT_MAX), 1);
    Git git = {.dir = hub};
    GitOut said = GIT_OUT_INIT;
    const char *const *words =
        ARGV("diff-tree", json_flag(in, "stat", false) ? "--stat=100" : "-p", "-r", "-M",
             "--no-ext-diff", "--no-textconv", "--no-color", from, to);
    bool is_done = git_call_limited(&git, words, (size_t)limit, &said, err);
    if (is_done && said.code != 0 && !said.is_cut)
        is_done = git_failed(words, &said, err);
    if (is_done) {
        json_object_set_new(out, "text", json_lossy(str_text(&said.out), said.out.length));
        out_flag(out, "cut", said.is_cut);
    }
    git_out_done(&said);
    return is_done;
}

/* ID NUL AUTHOR NUL SECONDS NUL SUBJECT NUL, again and again. */
static bool log_take(const Str *text, json_t *commits)
{
    const char *end = text->bytes + text->length;
    for (const char *at = text->bytes; at && at < end;) {
        const char *field[4];
        for (size_t i = 0; i < COUNT(field); i++) {
            if (at >= end)
                return false;
            field[i] = at;
            at += strlen(at) + 1;
        }
        json_t *row = json_object();
        out_text(row, "id", field[0]);
        out_text(row, "subject", field[3]);
        out_text(row, "author", field[1]);
        out_int(row, "time_ms", strtoll(field[2], NULL, 10) * 1000);
        json_array_append_new(commits, row);
    }
    return true;
}

bool log_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *from, *to;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"from", JOB_COMMIT, false, &from},
        {"to", JOB_COMMIT, true, &to},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    int64_t limit = MAX(MIN(json_int(in, "limit", LOG_LIMIT), LOG_LIMIT_MAX), 1);
    const char *range = from ? arena_printf(&arena, "%s..%s", from, to) : to;
    const char *count = arena_printf(&arena, "-%lld", (long long)limit);
    Git git = {.dir = hub};
    GitOut said = GIT_OUT_INIT;
    const char *const *words =
        ARGV("log", "-z", count, "--format=%H%x00%an%x00%at%x00%s", range, "--");
    bool is_done = git_run(&git, words, NULL, &said, err);
    json_t *commits = json_array();
    if (is_done && !log_take(&said.out, commits))
        is_done = err_set(err, ERR_GIT, "git log said something unexpected");
    json_object_set_new(out, "commits", commits);
    git_out_done(&said);
    return is_done;
}
