/* The command line: finds the command, reads its words, runs it, prints. See cli.h. */
#include "cli/cli.h"
#include "base/arena.h"
#include "base/file.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- printing ---------------------------------------------------------------------------- */

/* 0, or what went wrong. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes += put;
        length -= (size_t)put;
    }
    return 0;
}

void cli_flush(Cli *cli)
{
    int problem = write_all(STDOUT_FILENO, str_text(&cli->out), cli->out.length);
    if (!cli->lost_output)
        cli->lost_output = problem; /* what was asked for is done all the same */
    str_clear(&cli->out);
}

int cli_wrap(Cli *cli)
{
    Str wrapped = STR_INIT;
    if (!cli->term.is_terminal)
        return EXIT_DONE;
    str_add_wrapped(&wrapped, str_text(&cli->out), (size_t)MAX(cli->term.width, 20));
    str_done(&cli->out);
    cli->out = wrapped;
    return EXIT_DONE;
}

/* A reader that went away has read enough; anything else is said, with its own exit code. */
static int check_output(const Cli *cli, int code)
{
    if (!cli->lost_output || cli->lost_output == EPIPE)
        return code;
    CLEANUP(str_done) Str line = STR_INIT;
    str_addf(&line, "the output could not be written: %s", strerror(cli->lost_output));
    cli_error(str_text(&line));
    return EXIT_SYSTEM;
}

void cli_error(const char *sentence)
{
    CLEANUP(str_done) Str line = STR_INIT;
    str_add(&line, "otto: ");
    str_add_line(&line, sentence);
    str_add_char(&line, '\n');
    (void)write_all(STDERR_FILENO, line.bytes, line.length); /* there is nowhere else to say it */
}

void cli_warn(const Cli *cli, const json_t *warnings)
{
    (void)cli; /* colour is for results, not for warnings */
    size_t index;
    json_t *warning;
    json_array_foreach(warnings, index, warning)
    {
        CLEANUP(str_done) Str line = STR_INIT;
        const char *text = json_string_value(warning);
        if (!text)
            text = json_text(warning, "message", "");
        str_addf(&line, "warning: %s", text);
        cli_error(str_text(&line));
    }
}

int cli_print_json(Cli *cli, const json_t *json)
{
    CLEANUP(mem_freep) char *text = json_write_pretty(json);
    str_addf(&cli->out, "%s\n", text ? text : "null");
    return EXIT_DONE;
}

/* Every "otto" that begins a command is replaced; a suggestion may hold several. */
void cli_add_command(const Cli *cli, Str *out, const char *command)
{
    CLEANUP(str_done) Str text = STR_INIT;
    for (const char *at = command; *at; at++) {
        bool is_start = at == command || strchr(" ;(`", at[-1]);
        if (is_start && text_starts(at, "otto ")) {
            str_add(&text, cli->otto);
            at += 3;
        } else {
            str_add_char(&text, *at);
        }
    }
    str_add_line(out, str_text(&text));
}

void cli_add_need(const Cli *cli, Str *out, const json_t *need)
{
    const char *command = json_text(need, "command", NULL);
    if (command)
        cli_add_command(cli, out, command);
    else
        str_addf(out, "%s why %" PRId64, cli->otto, json_int(need, "task", 0));
}

void cli_add_escaped(Str *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || strchr("-._~", c);
        if (is_plain)
            str_add_char(out, (char)c);
        else
            str_addf(out, "%%%02X", c);
    }
}

int cli_fail(Err *err, ErrKind kind, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* a cut sentence is still one */
    va_end(args);
    (void)err_set(err, kind, "%s", text); /* the result below says it failed */
    return EXIT_ERR;
}

/* -- what commands share ------------------------------------------------------------------ */

CallerOptions cli_caller_options(const Cli *cli)
{
    return (CallerOptions){
        .state_dir = cli->state_dir, .program = cli->program, .keeper = cli->keeper};
}

Caller *cli_caller(Cli *cli, Err *err)
{
    CallerOptions options = cli_caller_options(cli);
    if (!cli->caller)
        cli->caller = caller_open(&options, err);
    return cli->caller;
}

void cli_caller_close(Cli *cli)
{
    caller_free(cli->caller);
    cli->caller = NULL;
}

bool cli_project(Cli *cli, bool is_fresh, int64_t *id, Err *err)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    Caller *caller = cli_caller(cli, err);
    if (!caller || !caller_project(caller, is_fresh, &reply, err))
        return false;
    cli_warn(cli, json_object_get(reply, "warnings"));
    *id = json_int(json_object_get(reply, "project"), "id", 0);
    return true;
}

bool cli_task_id(const char *word, int64_t *id, Err *err)
{
    const char *digits = *word == '#' ? word + 1 : word;
    if (text_to_int(digits, id) && *id >= 1 && *id <= UINT32_MAX)
        return true;
    return err_set(err, ERR_USAGE, "'%.60s' is no task id; 'otto list' shows them", word);
}

char *cli_read_input(size_t limit_bytes, Err *err)
{
    Str text = STR_INIT;
    char chunk[65536];
    ssize_t got;
    while ((got = read(STDIN_FILENO, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0)
            str_add_bytes(&text, chunk, (size_t)got);
        if (text.length > limit_bytes) {
            str_done(&text);
            (void)err_set(err, ERR_TOO_BIG, "standard input is larger than %zu bytes",
                          limit_bytes); /* NULL says it failed */
            return NULL;
        }
    }
    if (got < 0) {
        (void)err_errno(err, "cannot read standard input"); /* NULL says it failed */
        str_done(&text);
        return NULL;
    }
    return str_take(&text);
}

bool cli_confirm(const char *question)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO))
        return false;
    (void)fprintf(stderr, "%s [y/N] ", question); /* a question that is not seen is not answered */
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

bool cli_put_text(json_t *object, const char *key, const char *text, Err *err)
{
    json_t *value = json_string(text);
    if (!value)
        return err_set(err, ERR_USAGE, "the %s is not valid UTF-8 text", key);
    (void)json_object_set_new(object, key, value); /* fails only without memory */
    return true;
}

/* -- where things are --------------------------------------------------------------------- */

static char *own_program(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return mem_strdup("otto");
    path[length] = '\0';
    return mem_strdup(path);
}

/* Beside the program, where it is installed, or where it was built. */
static char *find_keeper(const char *program)
{
    static const char *const places[] = {"otto-keeper", "../libexec/otto/otto-keeper",
                                         "../keeper/otto-keeper"};
    const char *slash = strrchr(program, '/');
    const char *chosen = getenv("OTTO_KEEPER");
    if (chosen && *chosen)
        return mem_strdup(chosen);
    for (size_t i = 0; slash && i < COUNT(places); i++) {
        Str path = STR_INIT;
        str_add_bytes(&path, program, (size_t)(slash - program) + 1);
        str_add(&path, places[i]);
        if (access(path.bytes, X_OK) == 0)
            return str_take(&path);
        str_done(&path);
    }
    return mem_strdup("");
}

static char *make_absolute(const char *path)
{
    char folder[PATH_MAX];
    if (*path == '/' || !getcwd(folder, sizeof folder))
        return mem_strdup(path);
    Str whole = STR_INIT;
    str_addf(&whole, "%s/%s", folder, path);
    return str_take(&whole);
}

static char *find_state_dir(const char *flag)
{
    const char *home = getenv("HOME"), *own = getenv("OTTO_STATE_DIR");
    const char *xdg = getenv("XDG_STATE_HOME");
    if (flag && *flag)
        return make_absolute(flag);
    if (own && *own)
        return make_absolute(own);
    Str path = STR_INIT;
    if (xdg && *xdg == '/') /* the specification says: a relative one is ignored */
        str_addf(&path, "%s/otto", xdg);
    else
        str_addf(&path, "%s/.local/state/otto", home && *home ? home : "/tmp");
    return str_take(&path);
}

/* -- one command -------------------------------------------------------------------------- */

static bool check_words(const Command *command, const Args *args, Err *err)
{
    if (args->word_count >= command->min_words && args->word_count <= command->max_words)
        return true;
    const char *problem =
        args->word_count < command->min_words ? "something is missing" : "there is a word too many";
    return err_set(err, ERR_USAGE, "%s: otto %s %s; see 'otto help %s'", problem, command->name,
                   command->args, command->name);
}

static bool enter_folder(const Args *args, Err *err)
{
    const char *folder = args_text(args, "directory", NULL);
    if (!folder || chdir(folder) == 0)
        return true;
    (void)err_errno(err, "cannot work in '%s'", folder); /* the result below says it failed */
    err->kind = ERR_USAGE;
    return false;
}

static int run_command(Cli *cli, const Command *command, const Args *args, Err *err)
{
    const char *state_dir = args_text(args, "state-dir", NULL);
    if (!enter_folder(args, err))
        return EXIT_ERR;
    cli->program = own_program();
    cli->keeper = find_keeper(cli->program);
    cli->state_dir = find_state_dir(state_dir);
    Str prefix = STR_INIT;
    str_add(&prefix, "otto");
    if (state_dir)
        str_addf(&prefix, " --state-dir %s", state_dir);
    char *otto = str_take(&prefix);
    cli->otto = otto;
    term_init(&cli->term, STDOUT_FILENO);
    int code = command->run(cli, args, err);
    free(otto);
    return code;
}

/* Words before the command: only the flags of every command, and --version. */
static int skip_global(int argc, char **argv)
{
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1] && !text_equal(argv[at], "--")) {
        bool has_value = text_equal(argv[at], "-C") || text_equal(argv[at], "--directory") ||
                         text_equal(argv[at], "--state-dir");
        at += has_value && at + 1 < argc ? 2 : 1;
    }
    return at;
}

static bool parse(const Command *command, int argc, char **argv, int at, Args *args, Err *err)
{
    static const Flag none[] = {{0}};
    static Args before; /* the flags before the command; large, and needed once */
    if (!args_parse(none, command_common_flags(), at - 1, argv + 1, &before, err))
        return false;
    *args = (Args){0};
    if (command->is_raw) /* its words are its own business */
        for (int i = at + 1; i < argc && args->word_count < ARGS_MOST; i++)
            args->words[args->word_count++] = argv[i];
    else if (!args_parse(command->flags, command_common_flags(), argc - at - 1, argv + at + 1, args,
                         err))
        return false;
    for (size_t i = 0; i < before.value_count && args->value_count < ARGS_MOST; i++)
        if (!args_has(args, before.values[i].flag->name))
            args->values[args->value_count++] = before.values[i];
    return true;
}

/* What an agent may ask: it carries the engine's token in its environment. This keeps a careless
 * one from deciding for a person; one that means harm has the user's rights. */
static bool check_speaker(const Command *command, Err *err)
{
    static const char *const open[] = {"signal", "status",      "list",    "show",   "why",
                                       "logs",   "diff",        "report",  "decide", "timeline",
                                       "prompt", "workflow",    "version", "help",   "config",
                                       "do",     "script-agent"};
    const char *token = getenv("OTTO_TOKEN");
    if (!token || !*token)
        return true;
    for (size_t i = 0; i < COUNT(open); i++)
        if (text_equal(open[i], command->name))
            return true;
    return err_set(err, ERR_REFUSED,
                   "'otto %s' is for people; an agent reports by 'otto signal' (OTTO_TOKEN is set)",
                   command->name);
}

static int dispatch(Cli *cli, int argc, char **argv, Err *err)
{
    static Args args; /* large, and there is one command line */
    int at = skip_global(argc, argv);
    for (int i = 1; i < at; i++) {
        if (text_equal(argv[i], "--version") || text_equal(argv[i], "-V"))
            return command_version(cli, &args, err);
        if (text_equal(argv[i], "--help") || text_equal(argv[i], "-h"))
            return command_help(cli, &args, err);
    }
    if (at >= argc) {
        static const Flag none[] = {{0}};
        if (!args_parse(none, command_common_flags(), argc - 1, argv + 1, &args, err))
            return EXIT_ERR;
        args = (Args){0};
        (void)command_help(cli, &args, err); /* prints the overview; nothing was asked for */
        return EXIT_USAGE;
    }
    const Command *command = command_find(argv[at], err);
    if (!command || !parse(command, argc, argv, at, &args, err))
        return EXIT_ERR;
    if (args_has(&args, "help")) {
        help_command(command, &cli->out);
        return EXIT_DONE;
    }
    if (!check_words(command, &args, err) || !check_speaker(command, err))
        return EXIT_ERR;
    return run_command(cli, command, &args, err);
}

int cli_main(int argc, char **argv)
{
    Cli cli = {.otto = "otto"};
    Err err = {0};
    int code = dispatch(&cli, argc, argv, &err);
    cli_flush(&cli);
    cli_caller_close(&cli);
    if (code == EXIT_ERR) {
        cli_error(err.text);
        code = err_exit_code(err.kind);
    }
    code = check_output(&cli, code);
    free(cli.program);
    free(cli.keeper);
    free(cli.state_dir);
    str_done(&cli.out);
    return code;
}
