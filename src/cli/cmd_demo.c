/* demo: a scripted backlog in a temporary folder, with its own state folder. */
#include "agent/embedded.h"
#include "base/file.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "cli/taskbody.h"
#include "proc/spawn.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which demos there are, and what a person may want to look at afterwards. */
typedef struct DemoRow {
    const char *name;
    const char *folder;      /* of its settings, backlog and scenario */
    const char *commands[8]; /* ended by NULL */
    const char *end;         /* what was promised */
    bool has_timeline;       /* printed at the end: each step with the row that decided */
} DemoRow;

static const DemoRow rows[] = {
    {"loop",
     "demo",
     {"status", "answer 7 \"MIT\"", "run", "why 6", "diff 2", "report"},
     "The demo ended as scripted: one task asks and one is blocked on purpose.",
     false},
    {"lifecycle",
     "demo/lifecycle",
     {"why 1", "report 1", "prompt show plan 1", "workflow show lifecycle"},
     "The demo ended as scripted: plan and work were each sent back once, then it landed.",
     true},
    {"staged",
     "demo/staged",
     {"target 1", "report 1", "profile show software", "export 1 --format b --out exported"},
     "The demo ended as scripted: a stage was rolled back, another way led to the objective.",
     true},
};

typedef struct Demo {
    const DemoRow *row;
    Cli *cli;
    char folder[64];     /* everything lies below */
    char repository[96]; /* with otto.yaml */
    char state_dir[96];
    Str otto; /* how commands that look at it begin */
} Demo;

#define REPOSITORY_HEAD "demo/repo/"

static bool write_file(const Demo *demo, const char *name, const EmbeddedFile *file, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    str_addf(&path, "%s/%s", demo->repository, name);
    char *slash = strrchr(path.bytes, '/');
    *slash = '\0';
    if (!folder_ensure(path.bytes, 0755, err))
        return false;
    *slash = '/';
    return file_write_plain(path.bytes, file->bytes, file->length, 0644, err);
}

static bool git(const Demo *demo, Err *err, const char *const *argv)
{
    CLEANUP(str_done) Str out = STR_INIT;
    int code = child_output(argv, demo->repository, 30000, &out, err);
    if (code > 0)
        return err_set(err, ERR_GIT, "'git %s' failed: %s", argv[1], str_text(&out));
    return code == 0;
}

/* Settings of the person's own git (signing, hooks, templates) stay out of the demo. */
#define GIT(demo, err, ...)                                                                        \
    git(demo, err,                                                                                 \
        (const char *const[]){"git", "-c", "user.name=otto demo", "-c",                            \
                              "user.email=demo@localhost", "-c", "commit.gpgsign=false", "-c",     \
                              "core.hooksPath=/dev/null", "-c", "init.templateDir=", __VA_ARGS__,  \
                              NULL})

static const EmbeddedFile *part_of(const Demo *demo, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", demo->row->folder, name); /* ours, short */
    return embedded_find(path);
}

static bool make_repository(const Demo *demo, Err *err)
{
    size_t count;
    const EmbeddedFile *files = embedded_all(&count), *settings = part_of(demo, "otto.yaml");
    if (!settings || !write_file(demo, "otto.yaml", settings, err))
        return settings ? false : err_set(err, ERR_INTERNAL, "the demo is not in this program");
    for (size_t i = 0; i < count; i++)
        if (text_starts(files[i].name, REPOSITORY_HEAD) &&
            !write_file(demo, files[i].name + strlen(REPOSITORY_HEAD), &files[i], err))
            return false;
    return GIT(demo, err, "init", "-q", "-b", "main") && GIT(demo, err, "add", "-A") &&
           GIT(demo, err, "commit", "-q", "-m", "A small library of shell functions");
}

static bool add_backlog(const Demo *demo, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    const EmbeddedFile *file = part_of(demo, "backlog.md");
    int64_t project;
    Backlog backlog;
    BacklogSource source = {
        .name = "backlog.md", .text = file ? file->bytes : "", .length = file ? file->length : 0};
    if (!cli_project(demo->cli, true, &project, err) ||
        !backlog_read(&source, &scratch, &backlog, err))
        return false;
    json_t *tasks = json_array();
    CLEANUP(json_freep) json_t *body = json_pack("{s:I,s:o}", "project", project, "tasks", tasks);
    for (size_t i = 0; i < backlog.count; i++) {
        json_t *task = json_object();
        (void)json_array_append_new(tasks, task); /* fails only without memory */
        if (!task_from_backlog(&backlog.tasks[i], task, err))
            return false;
    }
    str_addf(&demo->cli->out,
             "A demo: %zu task%s in %s.\nThe agent is a script: no model, no account, no network. "
             "Everything else is real.\n",
             backlog.count, backlog.count == 1 ? "" : "s", demo->repository);
    cli_flush(demo->cli);
    return call_post(demo->cli->caller, body, NULL, err, "/api/v1/tasks");
}

static bool make_folders(Demo *demo, Err *err)
{
    const char *root = getenv("TMPDIR");
    if (!root || *root != '/' || strlen(root) > 30)
        root = "/tmp"; /* short, because a socket lies below */
    (void)snprintf(demo->folder, sizeof demo->folder, "%s/otto-demo-XXXXXX", root); /* fits */
    if (!mkdtemp(demo->folder))
        return err_errno(err, "cannot make a folder for the demo in '%s'", root);
    (void)snprintf(demo->repository, sizeof demo->repository, "%s/demo", demo->folder); /* fits */
    (void)snprintf(demo->state_dir, sizeof demo->state_dir, "%s/state", demo->folder);  /* fits */
    char found[PATH_MAX], real[PATH_MAX];
    bool is_on_path = program_find("otto", getenv("PATH"), found) && realpath(found, real) &&
                      text_equal(real, demo->cli->program);
    str_addf(&demo->otto, "OTTO_STATE_DIR=%s %s -C %s", demo->state_dir,
             is_on_path ? "otto" : demo->cli->program, demo->repository);
    if (!folder_ensure(demo->repository, 0755, err))
        return false;
    free(demo->cli->state_dir);
    demo->cli->state_dir = mem_strdup(demo->state_dir);
    return true;
}

/* Spelled out, so that they can be pasted: the demo has a state folder of its own. */
static void suggest(const Demo *demo)
{
    Str *out = &demo->cli->out;
    str_add(out, "To go on with it, paste these (they name the demo's own folders):\n");
    for (size_t i = 0; i < COUNT(demo->row->commands) && demo->row->commands[i]; i++)
        str_addf(out, "  %s %s\n", str_text(&demo->otto), demo->row->commands[i]);
    str_addf(out, "  git -C %s log --graph --oneline main\n", demo->repository);
}

/* Every step with the row that decided it. */
static void show_timeline(const Demo *demo)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    Err err = {0};
    if (!demo->row->has_timeline)
        return;
    if (cli_caller(demo->cli, &err) &&
        call_get(demo->cli->caller, &reply, &err, "/api/v1/tasks/1/timeline"))
        str_addf(&demo->cli->out, "\n%s\n", json_text(reply, "text", "")); /* made for terminals */
    else
        cli_error(err.text);
}

/* In the first demo one task asks a person and one is blocked, as written: the run ends with
 * "something is left". */
static int judge(const Demo *demo, int code, bool is_kept)
{
    if (is_kept && code != EXIT_ERR)
        suggest(demo);
    if (code != EXIT_DONE && code != EXIT_PARTLY)
        return code;
    if (code == EXIT_PARTLY && demo->row->has_timeline)
        return code;
    str_addf(&demo->cli->out, "%s\n", demo->row->end);
    return EXIT_DONE;
}

/* Kept, so that the commands that were printed work; failures are kept in any case. */
static void leave(const Demo *demo, bool is_kept)
{
    Err err = {0};
    if (is_kept)
        str_addf(&demo->cli->out, "All of it lies in %s; remove that folder when you are done.\n",
                 demo->folder);
    else if (chdir("/") == 0 && folder_remove(demo->folder, &err))
        str_add(&demo->cli->out, "Its folder is removed.\n");
    else
        cli_error(err.text);
    cli_flush(demo->cli);
}

static const DemoRow *find_row(const char *name, Err *err)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (text_equal(rows[i].name, name))
            return &rows[i];
    (void)err_set(err, ERR_USAGE, "unknown demo '%.40s'; there are loop, lifecycle and staged",
                  name); /* NULL says it failed */
    return NULL;
}

int command_demo(Cli *cli, const Args *args, Err *err)
{
    Demo demo = {.cli = cli, .row = find_row(args->word_count ? args->words[0] : "loop", err)};
    if (!demo.row)
        return EXIT_ERR;
    SessionRequest request = {.slots = args_int(args, "slots", 4)};
    int code = EXIT_ERR;
    if (!make_folders(&demo, err)) {
        str_done(&demo.otto);
        return EXIT_ERR;
    }
    if (make_repository(&demo, err) && chdir(demo.repository) == 0 && add_backlog(&demo, err))
        code = session_run(cli, &request, err);
    if (code == EXIT_DONE)
        show_timeline(&demo);
    cli_caller_close(cli);
    bool is_kept = !args_has(args, "rm") || code == EXIT_ERR || code == EXIT_INTERRUPTED;
    code = judge(&demo, code, is_kept);
    leave(&demo, is_kept);
    str_done(&demo.otto);
    return code;
}
