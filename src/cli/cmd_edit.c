/* edit: flags replace what they name; without flags an editor on Markdown with front matter. */
#include "base/arena.h"
#include "base/file.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/taskbody.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool patch(Cli *cli, int64_t id, const json_t *body, Err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/api/v1/tasks/%" PRId64, id); /* fits */
    return call_api(cli->caller, "PATCH", path, body, NULL, err);
}

static bool has_edit_flags(const Args *args)
{
    for (size_t i = 0; i < args->value_count; i++)
        if (!text_equal(args->values[i].flag->name, "directory") &&
            !text_equal(args->values[i].flag->name, "state-dir"))
            return true;
    return false;
}

static bool edit_by_flags(Cli *cli, int64_t id, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_object();
    const char *title = args_text(args, "title", NULL);
    if (title && !(backlog_title_check(title, err) && cli_put_text(body, "title", title, err)))
        return false;
    return task_from_flags(args, body, err) && patch(cli, id, body, err);
}

/* The editor is text that the user wrote for the shell, as with git: "code --wait". */
static bool run_editor(const char *path, Err *err)
{
    const char *editor = getenv("VISUAL");
    if (!editor || !*editor)
        editor = getenv("EDITOR");
    if (!editor || !*editor)
        editor = "vi";
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "%s \"$1\"", editor);
    const char *const argv[] = {"/bin/sh", "-c", text.bytes, editor, path, NULL};
    int code = child_run(argv, err);
    if (code > 0)
        return err_set(err, ERR_PROCESS, "the editor '%s' ended with exit code %d; set $EDITOR",
                       editor, code);
    return code == 0;
}

static bool write_draft(const json_t *task, char *path, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    task_to_markdown(task, &text);
    int fd = mkstemps(path, 3);
    if (fd < 0)
        return err_errno(err, "cannot make a file for the editor");
    (void)close(fd); /* made for its name */
    return file_write_plain(path, text.bytes, text.length, 0600, err);
}

static bool read_draft(const char *path, const char *old, json_t *body, Err *err)
{
    CLEANUP(arena_done) Arena scratch = ARENA_INIT;
    CLEANUP(mem_freep) char *text = file_read(path, BACKLOG_MOST_BYTES, NULL, err);
    if (!text)
        return false;
    if (text_equal(text, old))
        return true; /* body stays empty: nothing to do */
    Backlog backlog;
    BacklogSource source = {.name = path, .text = text, .length = strlen(text)};
    if (!backlog_read(&source, &scratch, &backlog, err))
        return false;
    if (backlog.count != 1)
        return err_set(err, ERR_USAGE, "'%s' must hold one task, not %zu", path, backlog.count);
    return task_from_backlog(&backlog.tasks[0], body, err);
}

static bool edit_by_editor(Cli *cli, int64_t id, bool *is_changed, Err *err)
{
    CLEANUP(json_freep) json_t *task = NULL;
    CLEANUP(json_freep) json_t *body = json_object();
    CLEANUP(str_done) Str old = STR_INIT;
    CLEANUP(str_done) Str path = STR_INIT;
    const char *folder = getenv("TMPDIR");
    str_addf(&path, "%s/otto-task-XXXXXX.md", folder && *folder ? folder : "/tmp");
    if (!call_get(cli->caller, &task, err, "/api/v1/tasks/%" PRId64, id) ||
        !write_draft(task, path.bytes, err))
        return false;
    task_to_markdown(task, &old);
    cli_caller_close(cli); /* the state folder is free while a person thinks */
    if (!run_editor(path.bytes, err) || !read_draft(path.bytes, old.bytes, body, err) ||
        !cli_caller(cli, err) || (json_object_size(body) && !patch(cli, id, body, err)))
        return err_add(err, "your text is kept in '%s'", path.bytes);
    *is_changed = json_object_size(body) > 0;
    (void)unlink(path.bytes); /* its content is stored */
    return true;
}

int command_edit(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    bool is_changed = true;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err))
        return EXIT_ERR;
    bool is_done = has_edit_flags(args) ? edit_by_flags(cli, id, args, err)
                                        : edit_by_editor(cli, id, &is_changed, err);
    if (!is_done)
        return EXIT_ERR;
    str_addf(&cli->out, "#%" PRId64 " %s\n", id, is_changed ? "is changed" : "is as it was");
    return EXIT_DONE;
}
