/* The scripted agent: one function per step. See scenario_steps.c for their keys. */
#include "agent/script_parts.h"
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_QUOTED = 8 << 20 };

typedef bool Play(Player *player, const StepArgs *args, Err *err);

static bool say_bytes(const char *bytes, size_t length, Err *err)
{
    return script_write(1, bytes, length) || err_errno(err, "stdout is gone");
}

/* {{tag}} in a text becomes the signal tag of the run, which no file can know beforehand. */
static void expand(const Player *player, const char *text, Str *out)
{
    static const char blank[] = "{{tag}}";
    const char *found;
    while ((found = strstr(text, blank))) {
        str_add_bytes(out, text, (size_t)(found - text));
        str_add(out, player->tag);
        text = found + strlen(blank);
    }
    str_add(out, text);
}

static bool play_say(Player *player, const StepArgs *args, Err *err)
{
    CLEANUP(str_done) Str out = STR_INIT;
    if (args->text)
        expand(player, args->text, &out);
    if (args->prompt)
        str_add_bytes(&out, str_text(&player->prompt), player->prompt.length);
    if (args->file) {
        size_t length;
        char *bytes = script_file_read(args->file, MOST_QUOTED, &length, err);
        if (!bytes)
            return false;
        str_add_bytes(&out, bytes, length);
        free(bytes);
    }
    if (!out.length || out.bytes[out.length - 1] != '\n')
        str_add_char(&out, '\n');
    return say_bytes(str_text(&out), out.length, err);
}

static bool play_warn(Player *player, const StepArgs *args, Err *err)
{
    CLEANUP(str_done) Str out = STR_INIT;
    expand(player, args->text, &out);
    str_add_char(&out, '\n');
    return script_write(2, str_text(&out), out.length) || err_errno(err, "stderr is gone");
}

static bool play_write(Player *player, const StepArgs *args, Err *err)
{
    CLEANUP(str_done) Str out = STR_INIT;
    if (args->bytes >= 0)
        return script_file_fill(args->path, (size_t)args->bytes, err);
    expand(player, args->has_append ? args->append : args->text, &out);
    return script_file_write(args->path, str_text(&out), out.length, args->has_append,
                             args->executable, err);
}

static bool play_delete(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    return script_file_delete(args->path, err);
}

static bool run_argv(const char *const *argv, bool may_fail, Err *err)
{
    int code = script_run(argv, err);
    if (code < 0)
        return false;
    return code == 0 || may_fail || err_set(err, ERR_PROCESS, "'%s' ended with %d", argv[0], code);
}

static bool play_run(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    const char *const argv[] = {"/bin/sh", "-c", args->command, NULL};
    return run_argv(argv, args->may_fail, err);
}

/* Whether there is anything to commit: a change, or a merge to conclude. */
static bool has_change(void)
{
    const char *const diff[] = {"git", "diff", "--cached", "--quiet", NULL};
    const char *const merge[] = {"git", "rev-parse", "-q", "--verify", "MERGE_HEAD", NULL};
    return script_run(diff, NULL) != 0 || script_run(merge, NULL) == 0;
}

static bool play_commit(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    const char *const add[] = {"git", "add", "-A", NULL};
    /* Hooks and signing belong to people; they could wait for input here. */
    const char *const commit[] = {"git",
                                  "-c",
                                  "core.hooksPath=/dev/null",
                                  "-c",
                                  "commit.gpgSign=false",
                                  "commit",
                                  "-q",
                                  "-m",
                                  args->text,
                                  NULL};
    if (!run_argv(add, false, err))
        return false;
    return !has_change() || run_argv(commit, false, err); /* done before: nothing to do */
}

static bool play_signal(Player *player, const StepArgs *args, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    if (args->type)
        str_addf(&text, "%s%s%s", args->type, args->payload ? ":" : "",
                 args->payload ? args->payload : "");
    else
        str_add(&text, args->text);
    if (text_equal(args->via, "command")) {
        const char *const argv[] = {"otto", "signal", str_text(&text), NULL};
        return run_argv(argv, false, err);
    }
    CLEANUP(str_done) Str line = STR_INIT;
    str_addf(&line, "<%s>%s</%s>\n", player->tag, str_text(&text), player->tag);
    return say_bytes(str_text(&line), line.length, err);
}

/* {{tag}} is not expanded: whoever asks for it would break the answer apart. */
static bool play_answer(Player *player, const StepArgs *args, Err *err)
{
    CLEANUP(mem_freep)
    char *json = json_is_string(args->whole) ? mem_strdup(json_string_value(args->whole))
                                             : json_write(args->whole);
    if (text_equal(args->via, "command")) {
        const char *const argv[] = {"otto", "signal", "--result", "-", NULL};
        int code = script_run_with(argv, json, strlen(json), err);
        return code == 0 ||
               (code > 0 && err_set(err, ERR_PROCESS, "'otto signal' ended with %d", code));
    }
    CLEANUP(str_done) Str line = STR_INIT;
    str_addf(&line, "<%s>RESULT:%s</%s>\n", player->tag, json, player->tag);
    return say_bytes(str_text(&line), line.length, err);
}

static bool play_auto_signal(Player *player, const StepArgs *args, Err *err)
{
    return script_auto_signal(args, player->pace, err);
}

static bool play_status_file(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    return script_state_file(".status.json", args->whole, err);
}

static bool play_index_file(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    return script_state_file(".index.json", args->whole, err);
}

static bool play_wait_stop(Player *player, const StepArgs *args, Err *err)
{
    (void)player; /* a wait for something is no sleep: the pace does not count */
    return script_wait_stop(args->seconds, err);
}

static bool play_auto_clean(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    return !args->on || script_auto_clean(err);
}

static bool play_sleep(Player *player, const StepArgs *args, Err *err)
{
    (void)err;
    script_sleep(args->seconds * player->pace);
    return true;
}

static bool play_hang(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    (void)err;
    if (args->ignore_term)
        script_ignore_term();
    while (args->on)
        (void)pause(); /* returns only for a handled signal; there is none */
    return true;
}

static bool play_spew(Player *player, const StepArgs *args, Err *err)
{
    enum { BLOCK = 64000, COLUMNS = 80 };
    static char block[BLOCK];
    (void)player;
    const char *pattern = args->pattern && *args->pattern ? args->pattern : "spam ";
    size_t length = strlen(pattern), at = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        bool is_end = args->line && i % COLUMNS == COLUMNS - 1;
        block[i] = is_end ? '\n' : pattern[at++ % length];
    }
    for (int64_t done = 0; done < args->bytes;) {
        int64_t part = MIN((int64_t)BLOCK, args->bytes - done);
        if (!say_bytes(block, (size_t)part, err))
            return false;
        done += part;
    }
    return true;
}

static bool play_exit(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    (void)err;
    _exit((int)args->code); /* all output is written already; a real crash cleans up nothing */
}

static bool play_kill(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    int number = script_signal_number(args->signal);
    (void)signal(number, SIG_DFL); /* SIGKILL says no, and needs no help */
    return kill(getpid(), number) == 0 || err_errno(err, "kill");
}

static bool play_fork(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    pid_t pid = script_leave(args->how, args->seconds, args->ignore_term, err);
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%d\n", (int)pid);
    return pid > 0 && (!args->pid_file || script_file_write(args->pid_file, digits, (size_t)length,
                                                            false, false, err));
}

static bool play_usage(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    CLEANUP(str_done) Str line = STR_INIT;
    str_addf(&line,
             "{\"otto\":\"usage\",\"input\":%" PRId64 ",\"output\":%" PRId64 ",\"cache\":%" PRId64
             ",\"cost\":%.6f}\n",
             args->input, args->output, args->cache, args->cost);
    return say_bytes(str_text(&line), line.length, err);
}

static bool play_limit(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    CLEANUP(str_done) Str line = STR_INIT;
    str_add(&line, "{\"otto\":\"limit\",\"kind\":");
    str_add_json(&line, args->kind ? args->kind : "quota");
    str_addf(&line, ",\"reset_s\":%" PRId64 "}\n", args->reset_s);
    return say_bytes(str_text(&line), line.length, err);
}

static bool play_session(Player *player, const StepArgs *args, Err *err)
{
    (void)player;
    CLEANUP(str_done) Str line = STR_INIT;
    str_add(&line, "{\"otto\":\"session\",\"id\":");
    str_add_json(&line, args->id);
    str_add(&line, "}\n");
    return say_bytes(str_text(&line), line.length, err);
}

static bool play_expect(Player *player, const StepArgs *args, Err *err)
{
    size_t length;
    const char *place = args->path ? args->path : "the prompt";
    CLEANUP(mem_freep)
    char *bytes = args->path ? script_file_read(args->path, MOST_QUOTED, &length, err) : NULL;
    if (args->path && !bytes)
        return false;
    const char *text = bytes ? bytes : str_text(&player->prompt);
    if (args->contains && !strstr(text, args->contains))
        return err_set(err, ERR_CONFLICT, "expected '%.100s' in %s", args->contains, place);
    return true;
}

static Play *const plays[STEP_COUNT] = {
    [STEP_SAY] = play_say,
    [STEP_WARN] = play_warn,
    [STEP_WRITE] = play_write,
    [STEP_DELETE] = play_delete,
    [STEP_RUN] = play_run,
    [STEP_COMMIT] = play_commit,
    [STEP_SIGNAL] = play_signal,
    [STEP_SLEEP] = play_sleep,
    [STEP_HANG] = play_hang,
    [STEP_SPEW] = play_spew,
    [STEP_EXIT] = play_exit,
    [STEP_KILL] = play_kill,
    [STEP_FORK] = play_fork,
    [STEP_USAGE] = play_usage,
    [STEP_LIMIT] = play_limit,
    [STEP_SESSION] = play_session,
    [STEP_EXPECT] = play_expect,
    [STEP_ANSWER] = play_answer,
    [STEP_AUTO_SIGNAL] = play_auto_signal,
    [STEP_STATUS_FILE] = play_status_file,
    [STEP_INDEX_FILE] = play_index_file,
    [STEP_WAIT_STOP] = play_wait_stop,
    [STEP_AUTO_CLEAN] = play_auto_clean,
};

bool script_step(Player *player, const StepRow *row, const StepArgs *args, Err *err)
{
    return plays[row->kind](player, args, err);
}
