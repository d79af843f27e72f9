/* The scripted agent: files of a self-driving session (docs/scenario.md).
 *
 * They lie in the folder that OTTO_TASK_DIR names, which may be made only now. A good session
 * writes beside and renames; a bad one writes in place, slowly. */
#include "agent/script_parts.h"
#include "base/clock.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

static const char signal_name[] = ".auto-signal";
static const char stop_name[] = ".auto-stop";

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool task_path(const char *name, Str *path, Err *err)
{
    const char *folder = getenv("OTTO_TASK_DIR");
    if (!folder || *folder != '/')
        return err_set(err, ERR_USAGE, "OTTO_TASK_DIR names no folder; is the task self-driving?");
    if (!folder_ensure(folder, 0777, err))
        return false;
    str_addf(path, "%s/%s", folder, name);
    return true;
}

static bool write_whole(const char *path, const char *bytes, size_t length, Err *err)
{
    CLEANUP(str_done) Str part = STR_INIT;
    str_addf(&part, "%s.tmp", path);
    if (!file_write_plain(str_text(&part), bytes, length, 0666, err))
        return false;
    return rename(str_text(&part), path) == 0 || err_errno(err, "cannot write '%s'", path);
}

/* The first half stands there for a while, as of a session that does not rename. */
static bool write_slowly(const char *path, const char *bytes, size_t length, double seconds,
                         Err *err)
{
    CLEANUP(close_fd)
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool is_half = fd >= 0 && script_write(fd, bytes, length / 2);
    if (is_half)
        script_sleep(seconds);
    return (is_half && script_write(fd, bytes + length / 2, length - length / 2)) ||
           err_errno(err, "cannot write '%s'", path);
}

static void add_text(Str *out, const char *key, const char *value)
{
    str_addf(out, "%s\"%s\": ", out->length ? ", " : "{", key);
    str_add_json(out, value ? value : "");
}

static void add_time(Str *out)
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&now, &utc))
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc); /* fits */
    add_text(out, "timestamp", text);
}

static void signal_text(const StepArgs *args, Str *out)
{
    if (args->raw) {
        str_add(out, args->raw);
        return;
    }
    add_text(out, "step", args->step);
    add_text(out, "result", args->result);
    add_text(out, "next", args->next);
    add_text(out, "checkpoint", args->checkpoint);
    if (args->iteration >= 0)
        str_addf(out, ", \"iteration\": %" PRId64, args->iteration);
    if (args->timestamp)
        add_text(out, "timestamp", args->timestamp);
    else
        add_time(out);
    str_add(out, "}\n");
}

bool script_auto_signal(const StepArgs *args, double pace, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    signal_text(args, &text);
    if (!task_path(signal_name, &path, err))
        return false;
    if (args->slow)
        return write_slowly(str_text(&path), str_text(&text), text.length, args->seconds * pace,
                            err);
    return write_whole(str_text(&path), str_text(&text), text.length, err);
}

bool script_state_file(const char *name, const json_t *value, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(mem_freep)
    char *text =
        json_is_string(value) ? mem_strdup(json_string_value(value)) : json_write_pretty(value);
    return task_path(name, &path, err) && write_whole(str_text(&path), text, strlen(text), err);
}

bool script_wait_stop(double seconds, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    if (!task_path(stop_name, &path, err))
        return false;
    int64_t until = clock_mono_ms() + (int64_t)(seconds * 1000);
    while (!path_exists(str_text(&path))) {
        if (clock_mono_ms() >= until)
            return err_set(err, ERR_CONFLICT, "%s did not come within %g s", stop_name, seconds);
        script_sleep(0.02);
    }
    return true;
}

/* what a session leaves behind when its loop ends. */
bool script_auto_clean(Err *err)
{
    static const char *const names[] = {signal_name, ".auto-signal.tmp", stop_name};
    for (size_t i = 0; i < COUNT(names); i++) {
        CLEANUP(str_done) Str path = STR_INIT;
        if (!task_path(names[i], &path, err))
            return false;
        if (unlink(str_text(&path)) != 0 && errno != ENOENT)
            return err_errno(err, "cannot remove '%s'", names[i]);
    }
    return true;
}
