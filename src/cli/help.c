/* Help in three forms, all read from the table of commands. */
#include "base/macros.h"
#include "base/str.h"
#include "cli/cli.h"
#include <ctype.h>
#include <string.h>

static void add_wrapped(Str *out, const char *text, size_t indent, size_t width)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > width) {
            str_add_char(out, '\n');
            column = 0;
        }
        for (size_t i = 0; column == 0 && i < indent; i++)
            str_add_char(out, ' ');
        if (column)
            str_add_char(out, ' ');
        column += (column ? 1 : indent) + length;
        str_add_bytes(out, text, length);
        text += length + (text[length] == ' ');
    }
    str_add_char(out, '\n');
}

static void flag_name(const Flag *flag, Str *out)
{
    if (flag->letter)
        str_addf(out, "-%c, ", flag->letter);
    str_addf(out, "--%s", flag->name);
    if (flag->value)
        str_addf(out, " %s", flag->value);
}

static void add_flags(const Flag *flags, Str *out)
{
    for (const Flag *flag = flags; flag && flag->name; flag++) {
        CLEANUP(str_done) Str name = STR_INIT;
        flag_name(flag, &name);
        str_addf(out, "  %-24s ", str_text(&name));
        if (name.length > 24)
            str_addf(out, "\n%27s", "");
        CLEANUP(str_done) Str text = STR_INIT;
        add_wrapped(&text, flag->help, 27, 96);
        str_add(out, text.length > 27 ? str_text(&text) + 27 : "\n");
    }
}

static void add_lines(const char *lines, const char *head, Str *out)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        str_add(out, head);
        str_add_bytes(out, lines, length);
        str_add_char(out, '\n');
        lines += length + (lines[length] == '\n');
    }
}

static void add_usage(const Command *command, Str *out)
{
    str_addf(out, "otto %s", command->name);
    if (*command->args)
        str_addf(out, " %s", command->args);
    if (command->flags && command->flags->name)
        str_add(out, " [flags]");
}

void help_command(const Command *command, Str *out)
{
    str_add(out, "usage: ");
    add_usage(command, out);
    str_addf(out, "\n\n");
    add_wrapped(out, command->help, 0, 96);
    if (command->more) {
        str_add_char(out, '\n');
        add_wrapped(out, command->more, 0, 96);
    }
    if (command->flags && command->flags->name) {
        str_add(out, "\nflags:\n");
        add_flags(command->flags, out);
    }
    str_add(out, "\nflags of every command:\n");
    add_flags(command_common_flags(), out);
    if (command->examples) {
        str_add(out, "\nexamples:\n");
        add_lines(command->examples, "  ", out);
    }
}

void help_overview(Str *out)
{
    size_t count;
    const Command *commands = command_table(&count);
    str_add(out,
            "otto: the autopilot for coding agents. Give it a git repository and a backlog.\n\n"
            "usage: otto [-C DIR] [--state-dir DIR] COMMAND [words and flags]\n\n");
    for (size_t i = 0; i < count; i++)
        if (!commands[i].is_hidden)
            str_addf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    str_add(out, "\nBegin with: otto init, otto add \"…\", otto run. Or watch: otto demo.\n"
                 "'otto help COMMAND' tells more. Exit codes: 0 all asked for is done; 1 bad usage "
                 "or input;\n2 engine or system failure; 3 ended, but something failed, is blocked "
                 "or needs a person;\n130 interrupted.\n");
}

static void markdown_flags(const Flag *flags, Str *out)
{
    str_add(out, "| flag | meaning |\n|---|---|\n");
    for (const Flag *flag = flags; flag->name; flag++) {
        CLEANUP(str_done) Str name = STR_INIT;
        flag_name(flag, &name);
        str_addf(out, "| `%s` | %s |\n", str_text(&name), flag->help);
    }
    str_add_char(out, '\n');
}

static void markdown_command(const Command *command, Str *out)
{
    str_addf(out, "## otto %s\n\n`", command->name);
    add_usage(command, out);
    str_addf(out, "`\n\n%c%s.\n\n", toupper((unsigned char)command->help[0]), command->help + 1);
    if (command->more)
        str_addf(out, "%s\n\n", command->more);
    if (command->flags && command->flags->name)
        markdown_flags(command->flags, out);
    if (command->examples) {
        str_add(out, "```\n");
        add_lines(command->examples, "", out);
        str_add(out, "```\n\n");
    }
}

void help_markdown(Str *out)
{
    size_t count;
    const Command *commands = command_table(&count);
    str_add(out, "# Commands\n\nWritten by `otto help --markdown`; a test compares.\n\n"
                 "Flags of every command:\n\n");
    markdown_flags(command_common_flags(), out);
    str_add(out, "| exit code | meaning |\n|---|---|\n| 0 | all asked for is done |\n"
                 "| 1 | bad usage or input |\n| 2 | engine or system failure |\n"
                 "| 3 | ended, but something failed, is blocked or needs a person |\n"
                 "| 130 | interrupted |\n\n");
    for (size_t i = 0; i < count; i++)
        if (!commands[i].is_hidden)
            markdown_command(&commands[i], out);
    while (out->length > 1 && out->bytes[out->length - 2] == '\n')
        out->bytes[--out->length] = '\0'; /* one newline at the end */
}

int command_help(Cli *cli, const Args *args, Err *err)
{
    if (args_has(args, "markdown")) {
        help_markdown(&cli->out);
        return EXIT_DONE;
    }
    if (args->word_count == 0) {
        help_overview(&cli->out);
        return EXIT_DONE;
    }
    const Command *command = command_find(args->words[0], err);
    if (!command)
        return EXIT_ERR;
    help_command(command, &cli->out);
    return EXIT_DONE;
}
