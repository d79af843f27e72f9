/* doctor: looks at everything that a run needs, one line each: ok, warn or fail with the next step.
 */
#include "base/clock.h"
#include "base/file.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/guess.h"
#include "http/client.h"
#include "proc/spawn.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef enum Health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL } Health;

static const char *const health_words[] = {"ok", "warn", "fail"};
static const Style health_styles[] = {STYLE_GOOD, STYLE_WARN, STYLE_BAD};

typedef struct Visit {
    Cli *cli;
    json_t *lines;
    size_t failed;
} Visit;

static void note(Visit *visit, Health health, const char *what, const char *format, ...)
    PRINTF(4, 5);

static void note(Visit *visit, Health health, const char *what, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* a cut sentence is still one */
    va_end(args);
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_line(&safe, text);
    json_t *line = json_pack("{s:s,s:s,s:s}", "check", what, "health", health_words[health], "text",
                             str_text(&safe));
    (void)json_array_append_new(visit->lines, line); /* fails only without memory */
    visit->failed += health == HEALTH_FAIL;
}

/* "2.39" or newer: merge-tree --write-tree came with 2.38. */
static void check_git(Visit *visit)
{
    CLEANUP(str_done) Str out = STR_INIT;
    Err err = {0};
    const char *const argv[] = {"git", "--version", NULL};
    int code = child_output(argv, NULL, 10000, &out, &err);
    const char *digits = strpbrk(str_text(&out), "0123456789");
    char *end = NULL;
    long major = digits ? strtol(digits, &end, 10) : 0;
    long minor = end && *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (code != 0)
        note(visit, HEALTH_FAIL, "git", "git does not run: %s; install git 2.38 or newer",
             err.kind ? err.text : "it failed");
    else if (major < 2 || (major == 2 && minor < 38))
        note(visit, HEALTH_FAIL, "git", "git %ld.%ld is too old; install 2.38 or newer", major,
             minor);
    else
        note(visit, HEALTH_OK, "git", "git %ld.%ld", major, minor);
}

static void check_state_folder(Visit *visit)
{
    const char *folder = visit->cli->state_dir;
    Err err = {0};
    CLEANUP(str_done) Str probe = STR_INIT;
    str_addf(&probe, "%s/probe.%d", folder, (int)getpid());
    if (!folder_ensure(folder, 0700, &err) || !file_write_plain(probe.bytes, "x", 1, 0600, &err)) {
        note(visit, HEALTH_FAIL, "state folder", "%s; choose another with OTTO_STATE_DIR",
             err.text);
        return;
    }
    (void)unlink(probe.bytes); /* made by us */
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) {
        note(visit, HEALTH_WARN, "state folder", "'%s': free space is unknown", folder);
        return;
    }
    uint64_t free_mb = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    Health health = free_mb < 500 ? HEALTH_FAIL : free_mb < 2048 ? HEALTH_WARN : HEALTH_OK;
    note(visit, health, "state folder", "'%s' is writable, %" PRIu64 " MB free%s", folder, free_mb,
         health == HEALTH_OK ? "" : "; make room, or choose another disk with OTTO_STATE_DIR");
}

static void check_keeper(Visit *visit)
{
    const char *keeper = visit->cli->keeper;
    if (!*keeper)
        note(visit, HEALTH_FAIL, "keeper",
             "otto-keeper was not found beside the program; install it there or set OTTO_KEEPER");
    else if (access(keeper, X_OK) != 0)
        note(visit, HEALTH_FAIL, "keeper", "'%s' cannot be run: %s", keeper, strerror(errno));
    else
        note(visit, HEALTH_OK, "keeper", "%s", keeper);
}

static void check_agent(Visit *visit, const KnownAgent *agent, size_t *found)
{
    char path[PATH_MAX];
    CLEANUP(str_done) Str out = STR_INIT;
    Err err = {0};
    if (!program_find(agent->name, getenv("PATH"), path))
        return;
    ++*found;
    const char *const argv[] = {path, "--version", NULL};
    int code = child_output(argv, NULL, 10000, &out, &err);
    if (out.length)
        out.bytes[strcspn(out.bytes, "\n")] = '\0';
    if (code == 0)
        note(visit, HEALTH_OK, "agent", "%s: %.100s (%s)", agent->name, str_text(&out), path);
    else
        note(visit, HEALTH_WARN, "agent", "%s is there but does not run: %s", agent->name,
             err.kind ? err.text : str_text(&out));
}

static void check_agents(Visit *visit)
{
    const KnownAgent *agent;
    size_t found = 0;
    for (size_t i = 0; (agent = known_agent(i)); i++)
        check_agent(visit, agent, &found);
    if (!found)
        note(
            visit, HEALTH_WARN, "agent",
            "none of claude, codex, gemini, opencode, qwen, pi is on PATH; any command can be one: "
            "see 'agents' in otto.yaml, or try 'otto demo'");
}

/* A lock is stale only when nobody holds it; then opening the state folder simply works. */
static void check_engine(Visit *visit)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(str_done) Str reply = STR_INIT;
    Err err = {0};
    int status = 0;
    str_addf(&path, "%s/sock", visit->cli->state_dir);
    if (http_call(path.bytes, "GET", "/api/v1/status", NULL, NULL, &status, &reply, &err)) {
        CLEANUP(json_freep) json_t *json = json_read(str_text(&reply), reply.length, NULL);
        const json_t *engine = json_object_get(json, "engine");
        note(visit, HEALTH_OK, "engine", "runs, pid %" PRId64 ", version %s",
             json_int(engine, "pid", 0), json_text(engine, "version", "?"));
    } else if (err.kind == ERR_NOT_FOUND) {
        note(visit, HEALTH_OK, "engine", "none runs; 'otto run' or 'otto serve' start one%s",
             path_exists(path.bytes) ? " (a socket of a dead one is replaced then)" : "");
    } else {
        note(visit, HEALTH_FAIL, "engine", "%s", err.text);
    }
}

static void check_agent_choice(Visit *visit, const json_t *project)
{
    const char *agent = json_text(project, "agent", NULL);
    if (agent)
        note(visit, HEALTH_OK, "settings", "agent '%s', target '%s'", agent,
             json_text(project, "target", "?"));
    else
        note(visit, HEALTH_FAIL, "settings",
             "no agent is configured; 'otto init' writes one, or name it in otto.yaml");
    if (json_int(project, "verify_count", 0) == 0)
        note(
            visit, HEALTH_WARN, "settings",
            "no verification configured: claims of agents are believed; add 'verify' to otto.yaml");
}

static void check_project(Visit *visit)
{
    Cli *cli = visit->cli;
    Err err = {0};
    CLEANUP(json_freep) json_t *reply = NULL;
    CLEANUP(json_freep) json_t *config = NULL;
    CLEANUP(json_freep) json_t *status = NULL;
    if (!cli_caller(cli, &err) || !caller_project(cli->caller, true, &reply, &err)) {
        note(visit, HEALTH_FAIL, "project", "%s", err.text);
        return;
    }
    int64_t id = json_int(json_object_get(reply, "project"), "id", 0);
    note(visit, HEALTH_OK, "project", "%s",
         json_text(json_object_get(reply, "project"), "path", "?"));
    size_t index;
    const json_t *row;
    if (call_get(cli->caller, &config, &err, "/api/v1/projects/%" PRId64 "/config", id))
        json_array_foreach(json_object_get(config, "problems"), index, row)
        {
            note(visit, HEALTH_FAIL, "settings", "%s", json_text(row, "message", "?"));
        }

    if (call_get(cli->caller, &status, &err, "/api/v1/status?project=%" PRId64, id))
        check_agent_choice(visit, json_object_get(status, "project"));
}

/* What a workspace needs of the machine: hard links between the repository and the state folder
 * make clones cheap; user namespaces allow the stronger sandboxes. */
static void check_workspaces(Visit *visit)
{
    bool has_overlay = false;
    char *text = file_read("/proc/filesystems", 65536, NULL, NULL);
    has_overlay = text && strstr(text, "\toverlay\n");
    free(text);
    note(visit, HEALTH_OK, "workspaces", "clone and worktree work everywhere; overlay %s",
         has_overlay && geteuid() == 0 ? "is possible here" : "is not possible here");
}

static int print_visit(Visit *visit, bool is_json)
{
    Cli *cli = visit->cli;
    int code = visit->failed ? EXIT_PARTLY : EXIT_DONE;
    size_t index;
    const json_t *line;
    if (is_json) {
        CLEANUP(json_freep) json_t *json = json_pack("{s:O}", "checks", visit->lines);
        (void)cli_print_json(cli, json); /* never fails */
        return code;
    }
    json_array_foreach(visit->lines, index, line)
    {
        const char *word = json_text(line, "health", "");
        Health health = text_equal(word, "ok")     ? HEALTH_OK
                        : text_equal(word, "warn") ? HEALTH_WARN
                                                   : HEALTH_FAIL;
        CLEANUP(str_done) Str head = STR_INIT;
        str_addf(&head, "%-4s", word);
        term_add(&cli->term, &cli->out, health_styles[health], head.bytes);
        str_addf(&cli->out, "  %-13s %s\n", json_text(line, "check", ""),
                 json_text(line, "text", ""));
    }
    return code;
}

int command_doctor(Cli *cli, const Args *args, Err *err)
{
    (void)err; /* what is wrong is a line of the answer */
    Visit visit = {.cli = cli, .lines = json_array()};
    check_git(&visit);
    check_state_folder(&visit);
    check_keeper(&visit);
    check_engine(&visit);
    check_agents(&visit);
    check_workspaces(&visit);
    check_project(&visit);
    int code = print_visit(&visit, args_has(args, "json"));
    json_decref(visit.lines);
    return code;
}
