/* Agent kind "command": any program. Its whole stdout is its own text; see docs for the rest. */
#include "agent/kind.h"

/* The kernel takes at most 128 KB for one argument. */
enum { MOST_ARG = 120 << 10 };

static const char *const *shell_argv(const char *text, const char *prompt, Arena *arena)
{
    const char **argv = arena_alloc(arena, 6 * sizeof *argv);
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = text;
    argv[3] = "otto-agent"; /* $0 */
    argv[4] = prompt;       /* $1, or the end */
    return argv;
}

static const char *const *list_argv(const TextList *list, const char *prompt, Arena *arena)
{
    const char **argv = arena_alloc(arena, (list->count + 2) * sizeof *argv);
    memcpy(argv, list->items, list->count * sizeof *argv);
    argv[list->count] = prompt;
    return argv;
}

static bool command_launch(const AgentTurn *turn, Arena *arena, AgentLaunch *launch, Err *err)
{
    const CommandText *command = &turn->settings->command;
    bool is_arg = text_equal(turn->settings->prompt, "arg");
    const char *prompt = arena_strdup(arena, turn->prompt);
    if (!command->shell && !command->argv.count)
        return err_set(err, ERR_USAGE, "the key 'command' is missing");
    if (is_arg && strlen(prompt) > MOST_ARG)
        return err_set(err, ERR_TOO_BIG,
                       "the prompt is too long for an argument; set 'prompt: stdin'");
    launch->argv = command->shell ? shell_argv(command->shell, is_arg ? prompt : NULL, arena)
                                  : list_argv(&command->argv, is_arg ? prompt : NULL, arena);
    launch->stdin_text = is_arg ? NULL : prompt;
    return true;
}

static void command_end(AgentParser *parser)
{
    (void)parser; /* nothing is held back */
}

const AgentKind agent_kind_command = {
    .name = "command",
    .help = "any program: prompt on stdin or as argument, its output is its text",
    .launch = command_launch,
    .feed = agent_parser_text,
    .end = command_end,
};
