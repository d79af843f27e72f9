/* Observed sessions: the task folder, made ready before the session starts. See observe.h. */
#include "base/file.h"
#include "base/log.h"
#include "engine/observe.h"
#include "proc/watch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_MAX = 64, EXCLUDE_MAX = 1 << 20 };

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* a folder handle */
}

/* The key comes from a backlog file: only what is surely one plain, visible name. */
static bool key_is_name(const char *key)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = key ? strlen(key) : 0;
    return length && length <= KEY_MAX && key[0] != '.' && key[0] != '-' &&
           strspn(key, good) == length;
}

static const char *top_folder(ObserveProtocol protocol)
{
    return protocol == OBSERVE_A ? "AiTasks" : ".working";
}

void observation_folder(const ObservationSpec *spec, char out[PATH_MAX])
{
    const char *top = top_folder(spec->protocol);
    if (spec->protocol == OBSERVE_B)
        (void)snprintf(out, PATH_MAX, "%s", top); /* short */
    else if (key_is_name(spec->key))
        (void)snprintf(out, PATH_MAX, "%s/%s", top, spec->key); /* short */
    else
        (void)snprintf(out, PATH_MAX, "%s/task-%u", top, spec->act.task); /* short */
}

void observation_clean(int folder)
{
    static const char *const names[] = {OBSERVE_SIGNAL_FILE, OBSERVE_SIGNAL_PART, OBSERVE_STOP_FILE,
                                        OBSERVE_STOP_FILE ".tmp"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (unlinkat(folder, names[i], 0) != 0 && errno != ENOENT)
            log_line("observe.clean file=\"%s\" errno=%d", names[i], errno);
}

static bool status_read_at(int folder, ObserveProtocol protocol, ObservedStatus *status, Str *text,
                           Err *err)
{
    const char *name = observe_state_file(protocol);
    return watch_read_at(folder, name, OBSERVE_FILE_MAX, text, err) &&
           observe_status_read(str_text(text), text->length, protocol, status, NULL, err);
}

bool observation_read_status(const char *workspace, const char *below, ObserveProtocol protocol,
                             ObservedStatus *status, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    CLEANUP(fd_close) int folder = watch_open(workspace, below, false, err);
    return folder >= 0 && status_read_at(folder, protocol, status, &text, err);
}

/* ---- state file ---- */

static bool is_end(const char *status)
{
    const ObserveWord *word = observe_word_find(FIELD_STATUS, status);
    return word && word->end != END_NONE;
}

/* Status of a session that begins: the run's own, where that is one to work in. */
static const char *first_status(const ObservationSpec *spec, const char *fallback)
{
    bool is_known = spec->status && observe_word_find(FIELD_STATUS, spec->status);
    return is_known && !is_end(spec->status) ? spec->status : fallback;
}

static bool state_create(const ObservationSpec *spec, int folder, const char *now, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    ObserveTask task = {.title = spec->title,
                        .type = spec->type,
                        .status = first_status(spec, "draft"),
                        .branch = spec->branch,
                        .worktree = spec->workspace,
                        .created = now};
    observe_state_write(&task, spec->protocol, &text);
    return watch_write_at(folder, observe_state_file(spec->protocol), str_text(&text), err);
}

/* An ended task was taken up again (an answer, a refinement, a retry): without this the session
 * would read that there is nothing to do. All else in the file stays. */
static bool state_reopen(const ObservationSpec *spec, int folder, const ObservedStatus *status,
                         const Str *old, const char *now, Err *err)
{
    bool is_done =
        text_equal(status->status, "complete") || text_equal(status->status, "satisfied");
    const char *fallback = is_done && spec->protocol == OBSERVE_B ? "evolving" : "re-planning";
    const char *word = first_status(spec, fallback);
    CLEANUP(json_freep) json_t *object = json_read(old->bytes, old->length, err);
    if (!object)
        return false;
    json_object_set_new(object, "status", json_string(word));
    json_object_set_new(object, "phase",
                        json_string(text_equal(word, "re-planning") ? "needs-plan" : ""));
    json_object_set_new(object, "updated", json_string(now));
    char *text = json_write_pretty(object);
    bool is_written = text && watch_write_at(folder, observe_state_file(spec->protocol), text, err);
    free(text);
    return is_written;
}

/* Missing or broken: a new one (B-229). */
static bool state_prepare(const ObservationSpec *spec, int folder, const char *now, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    ObservedStatus status = {0};
    Err problem = {0};
    if (!status_read_at(folder, spec->protocol, &status, &text, &problem)) {
        if (problem.kind != ERR_NOT_FOUND)
            log_line("observe.state task=%u run=%u error=\"%s\"", spec->act.task, spec->act.run,
                     problem.text);
        return state_create(spec, folder, now, err);
    }
    return !is_end(status.status) || state_reopen(spec, folder, &status, &text, now, err);
}

/* People may have changed it: written only once. */
static bool target_prepare(const ObservationSpec *spec, int folder, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    Err problem = {0};
    if (watch_read_at(folder, OBSERVE_TARGET_FILE, OBSERVE_FILE_MAX, &text, &problem) ||
        problem.kind == ERR_TOO_BIG)
        return true;
    str_clear(&text);
    str_addf(&text, "# %s\n", spec->title ? spec->title : "");
    if (spec->body && *spec->body)
        str_addf(&text, "\n%s%s", spec->body, text_ends(spec->body, "\n") ? "" : "\n");
    return watch_write_at(folder, OBSERVE_TARGET_FILE, str_text(&text), err);
}

/* ---- kept out of commits (A-99) ---- */

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at += length)
        if ((at == text || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
            return true;
    return false;
}

static bool exclude_in(int info, const char *line, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    Err problem = {0};
    if (!watch_read_at(info, "exclude", EXCLUDE_MAX, &text, &problem) &&
        problem.kind != ERR_NOT_FOUND) {
        *err = problem;
        return false;
    }
    if (has_line(str_text(&text), line))
        return true;
    if (text.length && text.bytes[text.length - 1] != '\n')
        str_add_char(&text, '\n');
    str_addf(&text, "%s\n", line);
    return watch_write_at(info, "exclude", str_text(&text), err);
}

/* A workspace whose `.git` is no folder (a linked tree) has no list of its own: then the folder
 * ignores itself. */
static bool exclude(const ObservationSpec *spec, Err *err)
{
    char line[80];
    const char *top = top_folder(spec->protocol);
    CLEANUP(fd_close) int info = watch_open(spec->workspace, ".git/info", false, NULL);
    if (info >= 0) {
        (void)snprintf(line, sizeof line, "/%s/", top); /* short */
        return exclude_in(info, line, err);
    }
    CLEANUP(fd_close) int folder = watch_open(spec->workspace, top, false, err);
    CLEANUP(str_done) Str text = STR_INIT;
    if (folder < 0)
        return false;
    return watch_read_at(folder, ".gitignore", EXCLUDE_MAX, &text, NULL) ||
           watch_write_at(folder, ".gitignore", "*\n", err);
}

bool observation_prepare(const ObservationSpec *spec, char folder[PATH_MAX], Err *err)
{
    char below[PATH_MAX], now[OBSERVE_TIME_SIZE];
    observation_folder(spec, below);
    if (snprintf(folder, PATH_MAX, "%s/%s", spec->workspace, below) >= PATH_MAX)
        return err_set(err, ERR_USAGE, "path too long: '%s'", spec->workspace);
    CLEANUP(fd_close) int fd = watch_open(spec->workspace, below, true, err);
    if (fd < 0)
        return err_add(err, "task folder");
    if (spec->stop == STOP_NONE && !spec->is_attached)
        observation_clean(fd); /* a stored stop is never undone (defect 4) */
    observe_time_text(engine_now(spec->act.engine), now);
    if (!target_prepare(spec, fd, err) || !state_prepare(spec, fd, now, err) || !exclude(spec, err))
        return err_add(err, "task folder '%s'", below);
    return true;
}
