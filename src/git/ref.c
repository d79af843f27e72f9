/* References: see ref.h. */
#include "git/ref.h"
#include "base/arena.h"
#include "base/file.h"
#include "git/path.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_REFS_LIMIT = 256 << 20, SYMREF_DEPTH = 5 };

bool line_read(const char *path, char *out, size_t size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t got = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, out, size - 1) : -1;
    (void)close(fd); /* only read from */
    if (got <= 0)
        return false;
    out[got] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return true;
}

static Oid packed_find(const char *git_dir, const char *ref)
{
    Oid found = {""};
    char path[PATH_MAX];
    size_t length = 0;
    if (!path_join(path, git_dir, "packed-refs", NULL))
        return found;
    CLEANUP(mem_freep) char *text = file_read(path, PACKED_REFS_LIMIT, &length, NULL);
    if (!text)
        return found;
    Str name = STR_INIT;
    str_addf(&name, " %s\n", ref);
    char *hit = memmem(text, length, name.bytes, name.length);
    char *line = hit;
    while (line && line > text && line[-1] != '\n')
        line--;
    if (hit && oid_is_hex(line, (size_t)(hit - line)))
        memcpy(found.hex, line, (size_t)(hit - line));
    str_done(&name);
    return found;
}

Oid ref_read(const char *git_dir, const char *ref)
{
    char path[PATH_MAX], text[PATH_MAX], name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s", ref) >= (int)sizeof name)
        return (Oid){""};
    for (int depth = 0; depth < SYMREF_DEPTH; depth++) {
        if (!path_join(path, git_dir, name, NULL))
            return (Oid){""};
        if (!line_read(path, text, sizeof text))
            return packed_find(git_dir, name); /* packed before the loose file goes: no gap */
        if (strncmp(text, "ref: ", 5) != 0)
            return oid_from(text);
        memmove(name, text + 5, strlen(text + 5) + 1);
    }
    return (Oid){""};
}

void head_branch(const char *git_dir, char *out, size_t size)
{
    char path[PATH_MAX], text[PATH_MAX];
    out[0] = '\0';
    if (!path_join(path, git_dir, "HEAD", NULL) || !line_read(path, text, sizeof text) ||
        strncmp(text, "ref: ", 5) != 0)
        return;
    if (snprintf(out, size, "%s", text + 5) >= (int)size)
        out[0] = '\0';
}

void ref_txn_update(RefTxn *txn, const char *ref, const Oid *value, const Oid *old)
{
    str_addf(&txn->lines, "update %s %s", ref, value->hex);
    if (old && oid_is_set(old))
        str_addf(&txn->lines, " %s", old->hex);
    else if (old)
        str_addf(&txn->lines, " %.*s", (int)strlen(value->hex),
                 "0000000000000000000000000000000000000000000000000000000000000000");
    str_add_char(&txn->lines, '\n');
}

void ref_txn_delete(RefTxn *txn, const char *ref)
{
    str_addf(&txn->lines, "delete %s\n", ref);
}

/* git's words for "the reference is not what you think". */
static bool is_lost_race(const char *text)
{
    return strstr(text, "but expected") || strstr(text, "reference already exists") ||
           strstr(text, "unable to resolve reference") || strstr(text, "reference is missing");
}

bool ref_txn_commit(RefTxn *txn, const Git *git, Err *err)
{
    if (txn->lines.length == 0)
        return true;
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("update-ref", "-m", "otto", "--stdin");
    GitInput input = {txn->lines.bytes, txn->lines.length};
    bool is_done = git_call(git, words, &input, &out, err);
    if (is_done && out.code != 0) {
        is_done = is_lost_race(str_text(&out.err))
                      ? err_set(err, ERR_CONFLICT, "the branch moved meanwhile: %.300s",
                                str_text(&out.err))
                      : git_failed(words, &out, err);
    }
    git_out_done(&out);
    str_done(&txn->lines);
    return is_done;
}

bool commit_is_ancestor(const Git *git, const Oid *a, const Oid *b, bool *is_ancestor, Err *err)
{
    if (oid_equal(a, b)) {
        *is_ancestor = true;
        return true;
    }
    GitOut out = GIT_OUT_INIT;
    const char *const *words = ARGV("merge-base", "--is-ancestor", a->hex, b->hex);
    bool is_known = git_call(git, words, NULL, &out, err);
    if (is_known && out.code > 1)
        is_known = git_failed(words, &out, err);
    if (is_known)
        *is_ancestor = out.code == 0;
    git_out_done(&out);
    return is_known;
}

bool commit_count(const Git *git, const Oid *a, const Oid *b, int64_t *count, Err *err)
{
    if (oid_equal(a, b)) {
        *count = 0;
        return true;
    }
    char range[140];
    snprintf(range, sizeof range, "%s..%s", a->hex, b->hex);
    GitOut out = GIT_OUT_INIT;
    bool is_done = git_run(git, ARGV("rev-list", "--count", range), NULL, &out, err);
    if (is_done)
        *count = strtoll(str_text(&out.out), NULL, 10);
    git_out_done(&out);
    return is_done;
}

bool commit_exists(const Git *git, const Oid *oid)
{
    char name[80];
    snprintf(name, sizeof name, "%s^{commit}", oid->hex);
    GitOut out = GIT_OUT_INIT;
    bool is_there = git_call(git, ARGV("cat-file", "-e", name), NULL, &out, NULL) && out.code == 0;
    git_out_done(&out);
    return is_there;
}

bool commit_make(const Git *git, const CommitSpec *spec, Oid *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *words[8] = {"commit-tree", spec->tree.hex};
    size_t count = 2;
    for (size_t i = 0; i < COUNT(spec->parents); i++) {
        if (!oid_is_set(&spec->parents[i]))
            continue;
        words[count++] = "-p";
        words[count++] = spec->parents[i].hex;
    }
    words[count] = NULL;
    const char *env[3] = {NULL};
    if (spec->author_name && spec->author_mail) {
        env[0] = arena_printf(&arena, "GIT_AUTHOR_NAME=%s", spec->author_name);
        env[1] = arena_printf(&arena, "GIT_AUTHOR_EMAIL=%s", spec->author_mail);
    }
    Git with_author = *git;
    if (env[0])
        with_author.env = env;
    GitInput input = {spec->message, strlen(spec->message)};
    return git_oids(&with_author, words, &input, out, 1, err);
}
