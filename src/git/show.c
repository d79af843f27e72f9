/* Looking at commits: see show.h. */
#include "git/show.h"
#include "base/str.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFF_LIMIT = 1 << 20, DIFF_LIMIT_MAX = 64 << 20 };
enum { LOG_LIMIT = 100, LOG_LIMIT_MAX = 200, LOG_TEXT = 200, LOG_BYTES = 8 << 20 };

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

/* Bytes of at most `most`, not cut inside a character. */
static json_t *json_cut(const char *text, size_t most)
{
    size_t length = strlen(text), kept = 0;
    while (kept < length) {
        size_t step = MAX(utf8_length(text + kept, length - kept), 1);
        if (kept + step > most)
            break;
        kept += step;
    }
    return json_lossy(text, kept);
}

/* COMMIT NUL AUTHOR NUL SECONDS NUL SUBJECT NUL, again and again; the last may be torn. */
static bool log_take(const Str *text, json_t *commits)
{
    const char *end = text->bytes + text->length;
    for (const char *at = text->bytes; at && at < end;) {
        const char *field[4];
        for (size_t i = 0; i < COUNT(field); i++) {
            const char *stop = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
            if (!stop)
                return false;
            field[i] = at;
            at = stop + 1;
        }
        /* The date is whatever somebody wrote into the commit. */
        long long seconds = strtoll(field[2], NULL, 10);
        json_t *row = json_object();
        out_text(row, "commit", field[0]);
        out_int(row, "author_ms", CLAMP(seconds, 0, INT64_MAX / 1000) * 1000);
        json_object_set_new(row, "author", json_cut(field[1], LOG_TEXT));
        json_object_set_new(row, "subject", json_cut(field[3], LOG_TEXT));
        json_array_append_new(commits, row);
    }
    return true;
}

static bool log_run(const Git *git, const char *range, int64_t limit, json_t *out, Err *err)
{
    char count[24];
    snprintf(count, sizeof count, "-%d", (int)limit + 1); /* one more tells that there are more */
    GitOut said = GIT_OUT_INIT;
    const char *const *words = ARGV("log", "-z", "--no-mailmap", "--no-show-signature", count,
                                    "--format=%H%x00%an%x00%at%x00%s", range, "--");
    bool is_done = git_call_limited(git, words, LOG_BYTES, &said, err);
    if (is_done && said.code != 0)
        is_done = git_failed(words, &said, err);
    json_t *commits = json_array();
    json_object_set_new(out, "commits", commits);
    if (is_done && !log_take(&said.out, commits) && !said.is_cut)
        is_done = err_set(err, ERR_GIT, "git log said something unexpected");
    bool has_more = json_array_size(commits) > (size_t)limit;
    if (has_more)
        json_array_remove(commits, (size_t)limit);
    out_flag(out, "truncated", has_more || said.is_cut);
    git_out_done(&said);
    return is_done;
}

bool log_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *base, *commit;
    const JobField fields[] = {
        {"hub", JOB_PATH, true, &hub},
        {"base", JOB_TEXT, false, &base},
        {"commit", JOB_COMMIT, true, &commit},
    };
    if (!job_read(in, fields, COUNT(fields), &arena, err) || !hub_check(hub, err))
        return false;
    if (base && *base && !oid_is_hex(base, strlen(base)))
        return err_set(err, ERR_USAGE, "field 'base' must be a full commit name or empty");
    int64_t limit = CLAMP(json_int(in, "limit", LOG_LIMIT), 1, LOG_LIMIT_MAX);
    const char *range = base && *base ? arena_printf(&arena, "%s..%s", base, commit) : commit;
    Git git = {.dir = hub};
    return log_run(&git, range, limit, out, err);
}
