/* add: one task from flags, or many from Markdown; all or none. */
#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/taskbody.h"
#include <inttypes.h>
#include <string.h>

/* The keys that the project has; asked for once, and only when a file names one. */
typedef struct Keys {
    Cli *cli;
    int64_t project;
    json_t *known; /* object: key -> true; NULL: not asked yet */
} Keys;

static bool is_known(void *data, const char *key)
{
    Keys *keys = data;
    if (!keys->known) {
        CLEANUP(json_freep) json_t *reply = NULL;
        size_t index;
        const json_t *task;
        keys->known = json_object();
        if (!call_get(keys->cli->caller, &reply, NULL,
                      "/api/v1/tasks?project=%" PRId64 "&limit=100000", keys->project))
            return false; /* the engine checks again and says what is wrong */
        json_array_foreach(json_object_get(reply, "tasks"), index, task)
        {
            const char *name = json_text(task, "key", NULL);
            if (name)
                (void)json_object_set_new(keys->known, name, json_true()); /* only for memory */
        }
    }
    return json_object_get(keys->known, key) != NULL;
}

static bool tasks_from_text(Keys *keys, const char *name, const char *text, json_t *tasks, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    Backlog backlog;
    BacklogSource source = {
        .name = name, .text = text, .length = strlen(text), .known = is_known, .known_data = keys};
    if (!backlog_read(&source, &scratch, &backlog, err))
        return false;
    for (size_t i = 0; i < backlog.count; i++) {
        json_t *task = json_object();
        (void)json_array_append_new(tasks, task); /* fails only without memory */
        if (!task_from_backlog(&backlog.tasks[i], task, err))
            return err_add(err, "%s:%d", name, backlog.tasks[i].line);
    }
    return backlog.count > 0 ||
           err_set(err, ERR_USAGE,
                   "'%s' holds no task: write headings, '- [ ]' items or front "
                   "matter blocks",
                   name);
}

static bool tasks_from_file(Cli *cli, int64_t project, const char *file, json_t *tasks, Err *err)
{
    Keys keys = {.cli = cli, .project = project};
    bool is_input = text_equal(file, "-");
    CLEANUP(mem_freep)
    char *text = is_input ? cli_read_input(BACKLOG_MOST_BYTES, err)
                          : file_read_stream(file, BACKLOG_MOST_BYTES, NULL, err);
    bool is_read =
        text && tasks_from_text(&keys, is_input ? "standard input" : file, text, tasks, err);
    json_decref(keys.known);
    return is_read;
}

static bool task_from_words(const Args *args, json_t *tasks, Err *err)
{
    json_t *task = json_object();
    (void)json_array_append_new(tasks, task); /* fails only without memory */
    return backlog_title_check(args->words[0], err) &&
           cli_put_text(task, "title", args->words[0], err) && task_from_flags(args, task, err);
}

static void print_added(Cli *cli, const json_t *added)
{
    size_t index;
    const json_t *task;
    json_array_foreach(added, index, task)
    {
        str_addf(&cli->out, "#%" PRId64 " ", json_int(task, "id", 0));
        str_add_line(&cli->out, json_text(task, "title", ""));
        str_add_char(&cli->out, '\n');
    }
}

/* "standard input", the file, or NULL when the words say it all. */
static const char *source_file(const Args *args)
{
    const char *file = args_text(args, "from", NULL);
    bool is_dash = args->word_count == 1 && text_equal(args->words[0], "-");
    return file ? file : is_dash ? "-" : NULL;
}

int command_add(Cli *cli, const Args *args, Err *err)
{
    int64_t project;
    const char *file = source_file(args);
    bool has_title = args->word_count == 1 && !text_equal(args->words[0], "-");
    if (!file && !has_title)
        return cli_fail(err, ERR_USAGE, "add what? otto add \"TITLE\", or otto add --from FILE");
    if (file && has_title)
        return cli_fail(err, ERR_USAGE, "give a title or --from, not both");
    static const char *const own[] = {"body",     "body-file", "tag", "after",  "check",
                                      "priority", "agent",     "key", "parent", "max-turns",
                                      "timeout",  "workflow",  "type"};
    for (size_t i = 0; file && i < COUNT(own); i++)
        if (args_has(args, own[i]))
            return cli_fail(err, ERR_USAGE,
                            "--%s is for a single task; in a file each task says it itself",
                            own[i]);
    if (!cli_project(cli, true, &project, err))
        return EXIT_ERR;
    json_t *tasks = json_array();
    CLEANUP(json_freep) json_t *body = json_pack("{s:I,s:o}", "project", project, "tasks", tasks);
    CLEANUP(json_freep) json_t *reply = NULL;
    bool is_made =
        file ? tasks_from_file(cli, project, file, tasks, err) : task_from_words(args, tasks, err);
    if (!is_made || !call_post(cli->caller, body, &reply, err, "/api/v1/tasks"))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    print_added(cli, json_object_get(reply, "added"));
    return EXIT_DONE;
}
