/* The hub: see hub.h. */
#include "git/hub.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "git/repo.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const hub_folders[] = {"index", "ws", "merges", "tmp"};

bool hub_path(const char *hub, const char *folder, const char *name, char out[PATH_MAX], Err *err)
{
    if (snprintf(out, PATH_MAX, "%s/otto/%s%s%s", hub, folder, name[0] ? "/" : "", name) >=
        PATH_MAX)
        return err_set(err, ERR_USAGE, "path too long: '%s'", hub);
    return true;
}

bool hub_is_ready(const char *hub)
{
    char path[PATH_MAX];
    return hub_path(hub, "hub.json", "", path, NULL) && path_exists(path);
}

bool hub_check(const char *hub, Err *err)
{
    return hub_is_ready(hub) || err_set(err, ERR_NOT_FOUND, "there is no hub at '%s'", hub);
}

/* A value in git's configuration format: quoted, so that nothing in a name can be syntax. */
static void config_value(Str *text, const char *key, const char *value)
{
    str_addf(text, "\t%s = \"", key);
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\')
            str_add_char(text, '\\');
        if ((unsigned char)*c >= ' ')
            str_add_char(text, *c);
    }
    str_add(text, "\"\n");
}

static void config_text(Str *text, bool is_sha256, const char *name, const char *mail)
{
    str_addf(text, "[core]\n\trepositoryformatversion = %d\n\tbare = true\n\tfilemode = true\n",
             is_sha256 ? 1 : 0);
    str_add(text, "\thooksPath = /dev/null\n\tfsmonitor = false\n\tlogAllRefUpdates = false\n");
    if (is_sha256)
        str_add(text, "[extensions]\n\tobjectformat = sha256\n");
    str_add(text, "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n");
    str_add(text, "[receive]\n\thideRefs = refs\n"); /* nobody pushes into the hub */
    str_add(text, "[fetch]\n\tfsckObjects = true\n\twriteCommitGraph = false\n");
    str_add(text, "[protocol \"ext\"]\n\tallow = never\n[user]\n");
    config_value(text, "name", name);
    config_value(text, "email", mail);
}

static bool config_write(const char *hub, const char *repo, Err *err)
{
    char path[PATH_MAX];
    Str name = STR_INIT, mail = STR_INIT, text = STR_INIT;
    bool is_done = git_identity(repo, &name, &mail, err);
    if (is_done && (name.length == 0 || mail.length == 0)) {
        str_clear(&name);
        str_clear(&mail);
        str_add(&name, "otto");
        str_add(&mail, "otto@localhost");
    }
    is_done = is_done && path_join(path, hub, "config", err);
    CLEANUP(mem_freep) char *old = is_done ? file_read(path, 1 << 20, NULL, NULL) : NULL;
    config_text(&text, old && strstr(old, "objectformat = sha256"), str_text(&name),
                str_text(&mail));
    if (is_done && (!old || strcmp(old, str_text(&text)) != 0))
        is_done = file_write_atomic(path, text.bytes, text.length, 0600, err);
    str_done(&name);
    str_done(&mail);
    str_done(&text);
    return is_done;
}

/* The cloned branches become refs/otto/seed/...: the hub's own branches start empty, and the
 * objects stay reachable, which keeps later fetches short. */
static bool refs_to_seed(const char *hub, Err *err)
{
    char path[PATH_MAX];
    if (!path_join(path, hub, "packed-refs", err))
        return false;
    CLEANUP(mem_freep) char *old = file_read(path, (size_t)256 << 20, NULL, NULL);
    Str text = STR_INIT;
    for (char *line = old; line && *line;) {
        size_t size = strcspn(line, "\n");
        char *ref = memmem(line, size, " refs/heads/", 12);
        if (ref)
            str_addf(&text, "%.*s refs/otto/seed/%.*s\n", (int)(ref - line), line,
                     (int)(line + size - ref - 12), ref + 12);
        line += size + (line[size] == '\n');
    }
    bool is_done = !old || file_write_atomic(path, str_text(&text), text.length, 0600, err);
    str_done(&text);
    return is_done && path_join(path, hub, "HEAD", err) &&
           file_write_atomic(path, "ref: refs/heads/otto/none\n", 26, 0600, err);
}

static bool hub_clone(const char *common_dir, const char *part, Err *err)
{
    Git git = {0};
    GitOut out = GIT_OUT_INIT;
    const char *const *local = ARGV("clone", "--bare", "--local", "--no-tags", "--template=", "-q",
                                    "--", common_dir, part);
    const char *const *copied = ARGV("clone", "--bare", "--no-local", "--no-tags",
                                     "--template=", "-q", "--", common_dir, part);
    bool is_done = git_run(&git, local, NULL, &out, err);
    git_out_done(&out);
    if (is_done)
        return true;
    /* Links inside the objects folder, another owner: git then refuses hard links. */
    is_done = folder_remove(part, err) && git_run(&git, copied, NULL, &out, err);
    git_out_done(&out);
    return is_done;
}

static bool hub_finish(const char *part, const char *repo, Err *err)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < COUNT(hub_folders); i++)
        if (!hub_path(part, hub_folders[i], "", path, err) || !folder_ensure(path, 0700, err))
            return false;
    Str text = STR_INIT;
    str_add(&text, "{\"version\":1,\"repo\":");
    str_add_json(&text, repo);
    str_addf(&text, ",\"made_ms\":%lld}\n", (long long)clock_wall_ms());
    bool is_done = refs_to_seed(part, err) && config_write(part, repo, err) &&
                   hub_path(part, "hub.json", "", path, err) &&
                   file_write_atomic(path, text.bytes, text.length, 0600, err);
    str_done(&text);
    return is_done;
}

static bool hub_make(const char *hub, const char *repo, Err *err)
{
    char common[PATH_MAX], part[PATH_MAX], parent[PATH_MAX];
    if (path_exists(hub))
        return err_set(err, ERR_REFUSED, "'%s' exists and is not a hub of otto", hub);
    if (snprintf(part, sizeof part, "%s.part-%ld", hub, (long)getpid()) >= (int)sizeof part)
        return err_set(err, ERR_USAGE, "path too long: '%s'", hub);
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(hub, '/') - hub), hub);
    if (!repo_common_dir(repo, common, err) || (parent[0] && !folder_ensure(parent, 0700, err)) ||
        !folder_remove(part, err) || !hub_clone(common, part, err) || !hub_finish(part, repo, err))
        return false;
    if (rename(part, hub) == 0)
        return true;
    bool is_there = hub_is_ready(hub); /* somebody else was quicker */
    if (!is_there)
        return err_errno(err, "cannot rename the hub to '%s'", hub);
    return folder_remove(part, err);
}

bool hub_ensure(const char *hub, const char *repo, Err *err)
{
    return hub_is_ready(hub) || hub_make(hub, repo, err) || err_add(err, "hub of '%s'", repo);
}

bool hub_job(const json_t *in, json_t *out, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *hub, *repo;
    const JobField fields[] = {{"hub", JOB_PATH, true, &hub}, {"repo", JOB_PATH, true, &repo}};
    if (!job_read(in, fields, COUNT(fields), &arena, err))
        return false;
    bool was_there = hub_is_ready(hub);
    if (was_there ? !config_write(hub, repo, err) : !hub_ensure(hub, repo, err))
        return false;
    out_flag(out, "created", !was_there);
    return true;
}
