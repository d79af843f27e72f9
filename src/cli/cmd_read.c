/* Commands that read: status, why, report, config, version. */
#include "base/arena.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/view.h"
#include <inttypes.h>

static size_t line_width(const Cli *cli)
{
    return cli->term.is_terminal ? (size_t)MAX(cli->term.width, 20) : 120;
}

static void end_line(Cli *cli)
{
    str_add_char(&cli->out, '\n');
}

static void print_needs(Cli *cli, const json_t *needs)
{
    size_t index;
    const json_t *row;
    if (json_array_size(needs))
        term_add(&cli->term, &cli->out, STYLE_WARN, "needs you\n");
    json_array_foreach(needs, index, row)
    {
        str_add(&cli->out, "  ");
        if (json_int(row, "task", 0)) { /* else it is about the project */
            str_addf(&cli->out, "#%" PRId64 " ", json_int(row, "task", 0));
            str_add_line(&cli->out, json_text(row, "title", ""));
            str_add(&cli->out, ": ");
        }
        str_add_first(&cli->out, json_text(row, "text", ""));
        str_add(&cli->out, "\n     ");
        cli_add_need(cli, &cli->out, row);
        end_line(cli);
    }
}

static void print_landed(Cli *cli, const json_t *landed)
{
    size_t index;
    const json_t *row;
    if (json_array_size(landed))
        term_add(&cli->term, &cli->out, STYLE_BOLD, "landed\n");
    json_array_foreach(landed, index, row)
    {
        char ago[32];
        clock_span(MAX(clock_wall_ms() - json_int(row, "at_ms", 0), 0), ago);
        str_addf(&cli->out, "  #%" PRId64 " ", json_int(row, "task", 0));
        str_add_cell(&cli->out, json_text(row, "title", ""), line_width(cli) / 2);
        str_addf(&cli->out, " %.9s  %s ago\n", json_text(row, "commit", ""), ago);
    }
}

static void print_stopped(Cli *cli, const json_t *stopped)
{
    size_t index;
    const json_t *row;
    json_array_foreach(stopped, index, row)
    {
        str_addf(&cli->out, "  #%" PRId64 " ", json_int(row, "task", 0));
        str_add_line(&cli->out, json_text(row, "title", ""));
        str_addf(&cli->out, ": stopped, '%s run' goes on\n", cli->otto);
    }
}

static void print_status(Cli *cli, const json_t *status)
{
    size_t index, width = line_width(cli);
    const json_t *row, *project = json_object_get(status, "project");
    view_project(&cli->term, status, -1, width, &cli->out);
    end_line(cli);
    view_progress(&cli->term, json_object_get(status, "counts"), width, &cli->out);
    end_line(cli);
    if (json_int(project, "verify_count", 1) == 0) /* D-79, D-80 */
        str_add(&cli->out, "warning: no verification configured, claims are believed; add 'verify' "
                           "to otto.yaml\n");
    if (json_int(project, "undelivered", 0) > 0) {
        int64_t count = json_int(project, "undelivered", 0);
        str_addf(&cli->out, "%" PRId64 " landed task%s not yet in your checkout: ", count,
                 count == 1 ? " is" : "s are");
        str_add_line(&cli->out, json_text(project, "deliver_note", ""));
        end_line(cli);
    }
    json_array_foreach(json_object_get(status, "running"), index, row)
    {
        str_add(&cli->out, "  ");
        view_running(&cli->term, row, width - 2, &cli->out);
        end_line(cli);
    }
    if (json_array_size(json_object_get(status, "merging"))) {
        view_merging(&cli->term, json_object_get(status, "merging"), width, &cli->out);
        end_line(cli);
    }
    print_stopped(cli, json_object_get(status, "stopped"));
    print_needs(cli, json_object_get(status, "needs_you"));
    print_landed(cli, json_object_get(status, "landed"));
}

int command_status(Cli *cli, const Args *args, Err *err)
{
    int64_t project;
    CLEANUP(json_freep) json_t *status = NULL;
    if (!cli_project(cli, false, &project, err) ||
        !call_get(cli->caller, &status, err, "/api/v1/status?project=%" PRId64, project))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, status);
    print_status(cli, status);
    if (!caller_is_live(cli->caller)) {
        CLEANUP(str_done) Str note = STR_INIT;
        str_addf(&note, "no engine runs; '%s run' starts one\n", cli->otto);
        term_add(&cli->term, &cli->out, STYLE_DIM, note.bytes);
    }
    return cli_wrap(cli);
}

int command_why(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64 "/why", id))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    str_addf(&cli->out, "#%" PRId64 ": ", id);
    str_add_line(&cli->out, json_text(reply, "now", "nothing is known"));
    end_line(cli);
    view_flow(&cli->term, reply, &cli->out);
    view_steps(&cli->term, json_object_get(reply, "steps"), &cli->out);
    size_t index;
    const json_t *row;
    json_array_foreach(json_object_get(reply, "history"), index, row)
    {
        char at[32];
        clock_format(json_int(row, "at_ms", 0), at);
        CLEANUP(str_done) Str event = STR_INIT;
        str_add_cell(&event, json_text(row, "event", ""), 18);
        term_add(&cli->term, &cli->out, STYLE_DIM, at);
        str_addf(&cli->out, "  %s  ", event.bytes);
        const char *why = json_text(row, "why", "");
        str_add_line(&cli->out, *why ? why : json_text(row, "decision", ""));
        end_line(cli);
    }
    return cli_wrap(cli);
}

/* -- report ------------------------------------------------------------------------------- */

static void add_cell_text(Str *out, const char *text)
{
    for (; *text; text++) /* a bar would end the cell of a Markdown table */
        if (*text == '|')
            str_add(out, "\\|");
        else
            str_add_char(out, *text);
}

static void report_items(Str *out, const json_t *items)
{
    size_t index;
    const json_t *item;
    str_add(out, "| task | title | state | turns | time | commit | note |\n"
                 "|---|---|---|---|---|---|---|\n");
    json_array_foreach(items, index, item)
    {
        CLEANUP(str_done) Str title = STR_INIT;
        CLEANUP(str_done) Str note = STR_INIT;
        char took[32];
        clock_span(json_int(item, "took_ms", 0), took);
        str_add_line(&title, json_text(item, "title", ""));
        str_add_line(&note, json_text(item, "note", ""));
        str_addf(out, "| #%" PRId64 " | ", json_int(item, "id", 0));
        add_cell_text(out, str_text(&title));
        str_addf(out, " | %s | %" PRId64 " | %s | %.9s | ", json_text(item, "state", ""),
                 json_int(item, "turns", 0), took, json_text(item, "commit", "")),
            add_cell_text(out, str_text(&note));
        str_add(out, " |\n");
    }
}

static void report_numbers(Str *out, const json_t *reply)
{
    const json_t *tasks = json_object_get(reply, "tasks"), *turns = json_object_get(reply, "turns");
    const json_t *merges = json_object_get(reply, "merges");
    char span[32];
    clock_span(json_int(reply, "runtime_ms", 0), span);
    str_addf(out,
             "- tasks: %" PRId64 " done, %" PRId64 " failed, %" PRId64 " timed out, %" PRId64
             " blocked, %" PRId64 " to review, %" PRId64 " asking, %" PRId64 " skipped, %" PRId64
             " remaining\n",
             json_int(tasks, "done", 0), json_int(tasks, "failed", 0),
             json_int(tasks, "timeout", 0), json_int(tasks, "blocked", 0),
             json_int(tasks, "review", 0), json_int(tasks, "asking", 0),
             json_int(tasks, "skipped", 0),
             json_int(tasks, "pending", 0) + json_int(tasks, "active", 0) -
                 json_int(tasks, "asking", 0));
    str_addf(
        out,
        "- time: %s\n- turns: %" PRId64 " in total, %.1f on average, %" PRId64 " to %" PRId64
        "\n- merges: %" PRId64 " landed, %" PRId64 " conflicts resolved, %" PRId64 " pending\n\n",
        span, json_int(turns, "total", 0), json_number_value(json_object_get(turns, "average")),
        json_int(turns, "fastest", 0), json_int(turns, "slowest", 0), json_int(merges, "landed", 0),
        json_int(merges, "conflicts_resolved", 0), json_int(merges, "pending", 0));
}

static const char *project_name(const json_t *reply)
{
    const json_t *project = json_object_get(reply, "project");
    const char *name = json_string_value(project);
    return name ? name : json_text(project, "name", "this project");
}

int command_report(Cli *cli, const Args *args, Err *err)
{
    int64_t project;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (args->word_count)
        return report_task(cli, args, err);
    if (args_has(args, "html") || args_has(args, "summary") || args_has(args, "out"))
        return cli_fail(err, ERR_USAGE,
                        "--html, --summary and --out are for the report of a task: "
                        "otto report ID");
    if (!cli_project(cli, false, &project, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/report?project=%" PRId64, project))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    str_add(&cli->out, "# Report: ");
    str_add_line(&cli->out, project_name(reply));
    str_add(&cli->out, "\n\n");
    report_numbers(&cli->out, reply);
    report_items(&cli->out, json_object_get(reply, "items"));
    const json_t *needs = json_object_get(reply, "needs_you");
    size_t index;
    const json_t *row;
    if (json_array_size(needs))
        str_add(&cli->out, "\n## Needs you\n\n");
    json_array_foreach(needs, index, row)
    {
        str_add(&cli->out, "- ");
        if (json_int(row, "task", 0)) /* else it is about the project */
            str_addf(&cli->out, "#%" PRId64 " ", json_int(row, "task", 0));
        str_add_first(&cli->out, json_text(row, "text", ""));
        str_add(&cli->out, ": `");
        cli_add_need(cli, &cli->out, row);
        str_add(&cli->out, "`\n");
    }
    return EXIT_DONE;
}

/* -- config ------------------------------------------------------------------------------- */

static void print_settings(Cli *cli, const json_t *settings)
{
    size_t index;
    const json_t *row;
    json_array_foreach(settings, index, row)
    {
        CLEANUP(mem_freep) char *value = json_write(json_object_get(row, "value"));
        const char *plain = json_string_value(json_object_get(row, "value"));
        str_add_cell(&cli->out, json_text(row, "key", ""), 30);
        str_add_char(&cli->out, ' ');
        str_add_cell(&cli->out, plain ? plain : value ? value : "", 28);
        str_add_char(&cli->out, ' ');
        CLEANUP(str_done) Str origin = STR_INIT;
        str_add_line(&origin, json_text(row, "origin", ""));
        term_add(&cli->term, &cli->out, STYLE_DIM, str_text(&origin));
        end_line(cli);
    }
}

static void print_problems(const json_t *problems)
{
    size_t index;
    const json_t *row;
    json_array_foreach(problems, index, row)
    {
        cli_error(json_text(row, "message", "?"));
    }
}

int command_config(Cli *cli, const Args *args, Err *err)
{
    int64_t project;
    CLEANUP(json_freep) json_t *reply = NULL;
    bool is_check = text_equal(args->words[0], "check");
    if (!is_check && !text_equal(args->words[0], "show"))
        return cli_fail(err, ERR_USAGE, "'otto config' wants show or check, not '%.40s'",
                        args->words[0]);
    if (!cli_project(cli, false, &project, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/projects/%" PRId64 "/config", project))
        return EXIT_ERR;
    const json_t *problems = json_object_get(reply, "problems");
    int code = json_array_size(problems) ? EXIT_USAGE : EXIT_DONE;
    if (args_has(args, "json"))
        (void)cli_print_json(cli, reply); /* never fails */
    else if (!is_check)
        print_settings(cli, json_object_get(reply, "settings"));
    else if (code == EXIT_DONE)
        str_add(&cli->out, "The settings are fine.\n");
    if (!args_has(args, "json"))
        print_problems(problems);
    return code;
}

int command_version(Cli *cli, const Args *args, Err *err)
{
    (void)err; /* cannot fail */
    str_addf(&cli->out, args_has(args, "json") ? "{\"version\":\"%s\"}\n" : "otto %s\n",
             OTTO_VERSION);
    return EXIT_DONE;
}
