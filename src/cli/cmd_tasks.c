/* list and show. */
#include "base/arena.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "core/field.h"
#include <inttypes.h>
#include <string.h>

/* -- list --------------------------------------------------------------------------------- */

static const char *const state_words[] = {
#define X(state, word, help) word,
    TASK_STATES(X)
#undef X
};

static bool add_state(Str *states, const char *word, Err *err)
{
    TaskState state;
    if (!task_state_find(word, &state)) {
        const char *near = text_nearest(word, state_words, COUNT(state_words));
        return err_set(err, ERR_USAGE, "unknown state '%.40s'%s%s%s", word,
                       near ? ", did you mean '" : "; 'otto help list' names them",
                       near ? near : "", near ? "'?" : "");
    }
    str_addf(states, "%s%s", states->length ? "," : "", word);
    return true;
}

static bool read_states(const Args *args, Str *states, Err *err)
{
    const char *word;
    for (size_t i = 0; i < args->word_count; i++)
        if (!add_state(states, args->words[i], err))
            return false;
    for (size_t i = 0; (word = args_item(args, "state", i)); i++)
        if (!add_state(states, word, err))
            return false;
    bool is_any = states->length == 0; /* everything but what was removed */
    for (size_t i = 0; i < COUNT(state_words) && is_any; i++)
        if (!text_equal(state_words[i], task_state_word(TASK_CANCELLED)))
            str_addf(states, "%s%s", states->length ? "," : "", state_words[i]);
    return true;
}

static bool list_path(Cli *cli, const Args *args, Str *path, Err *err)
{
    int64_t project;
    CLEANUP(str_done) Str states = STR_INIT;
    if (!read_states(args, &states, err))
        return false;
    str_addf(path, "/api/v1/tasks?state=%s&limit=%" PRId64, states.bytes,
             args_int(args, "limit", 1000));
    if (args_has(args, "query")) {
        str_add(path, "&q=");
        cli_add_escaped(path, args_text(args, "query", ""));
    }
    if (args_has(args, "all"))
        return cli_caller(cli, err) != NULL;
    if (!cli_project(cli, false, &project, err))
        return false;
    str_addf(path, "&project=%" PRId64, project);
    return true;
}

static void list_row(Cli *cli, const json_t *task, size_t width)
{
    const char *state = json_text(task, "state", "");
    const char *run_state = json_text(task, "run_state", NULL);
    const char *shown = text_equal(state, "active") && run_state ? run_state : state;
    CLEANUP(str_done) Str word = STR_INIT;
    char id[24];
    (void)snprintf(id, sizeof id, "#%" PRId64, json_int(task, "id", 0)); /* fits */
    str_addf(&cli->out, "%6s ", id);
    str_addf(&word, "%s ", view_mark(&cli->term, state));
    str_add_cell(&word, shown, 10);
    term_add(&cli->term, &cli->out, view_state_style(state), word.bytes);
    const char *note = json_text(task, "note", "");
    bool has_note = *note && width >= 60;
    size_t left = width > 20 ? width - 20 : 10, title = has_note ? left / 2 : left;
    str_add_char(&cli->out, ' ');
    if (!has_note) {
        (void)str_add_cut(&cli->out, json_text(task, "title", ""), title); /* the line ends here */
    } else {
        CLEANUP(str_done) Str side = STR_INIT;
        str_add_cell(&cli->out, json_text(task, "title", ""), title);
        str_add_char(&cli->out, ' ');
        (void)str_add_cut(&side, note, left - title - 1); /* the line ends here */
        term_add(&cli->term, &cli->out, STYLE_DIM, side.bytes);
    }
    str_add_char(&cli->out, '\n');
}

int command_list(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!list_path(cli, args, &path, err) ||
        !call_api(cli->caller, "GET", path.bytes, NULL, &reply, err))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    const json_t *tasks = json_object_get(reply, "tasks");
    size_t index, width = cli->term.is_terminal ? (size_t)cli->term.width : 160;
    const json_t *task;
    json_array_foreach(tasks, index, task)
    {
        list_row(cli, task, width);
    }

    int64_t total = json_int(reply, "total", 0), shown = (int64_t)json_array_size(tasks);
    if (shown == 0)
        str_addf(&cli->out, "No tasks here. '%s add \"TITLE\"' adds one.\n", cli->otto);
    else if (total > shown)
        str_addf(&cli->out, "%" PRId64 " of %" PRId64 " tasks; --limit shows more\n", shown, total);
    return EXIT_DONE;
}

/* -- show --------------------------------------------------------------------------------- */

static void show_line(Cli *cli, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    str_addf(&cli->out, "  %-10s ", name);
    str_add_line(&cli->out, text);
    str_add_char(&cli->out, '\n');
}

static void show_list(Cli *cli, const char *name, const json_t *list)
{
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        show_line(cli, name, json_string_value(item) ? json_string_value(item) : "");
    }
}

static void show_after(Cli *cli, const json_t *after)
{
    size_t index;
    const json_t *item;
    json_array_foreach(after, index, item)
    {
        str_addf(&cli->out, "  %-10s #%" PRId64 " %s (is %s)\n", "after", json_int(item, "task", 0),
                 json_text(item, "need", "done"), json_text(item, "state", "?"));
    }
}

static void show_gates(Cli *cli, const json_t *gates)
{
    size_t index;
    const json_t *gate;
    json_array_foreach(gates, index, gate)
    {
        char took[32];
        int64_t code = json_int(gate, "exit_code", 0);
        bool is_late = json_flag(gate, "timed_out", false), is_good = code == 0 && !is_late;
        clock_span(json_int(gate, "took_ms", 0), took);
        str_add(&cli->out, "      ");
        term_add(&cli->term, &cli->out, is_good ? STYLE_GOOD : STYLE_BAD,
                 is_good   ? "passed"
                 : is_late ? "timed out"
                           : "failed");
        str_add_char(&cli->out, ' ');
        str_add_line(&cli->out, json_text(gate, "name", json_text(gate, "command", "")));
        str_addf(&cli->out, " (%s, %s%s)\n", json_text(gate, "stage", "gate"), took,
                 json_flag(gate, "required", true) ? "" : ", optional");
        if (!is_good)
            str_add_block(&cli->out, json_text(gate, "output", ""), 8);
    }
}

static void show_turns(Cli *cli, const json_t *turns)
{
    size_t index;
    const json_t *turn;
    json_array_foreach(turns, index, turn)
    {
        char took[32] = "running";
        int64_t ended = json_int(turn, "ended_ms", 0);
        if (ended)
            clock_span(ended - json_int(turn, "started_ms", ended), took);
        str_addf(&cli->out, "      turn %" PRId64 ": %s", json_int(turn, "turn", 0), took);
        if (json_text(turn, "phase", NULL)) {
            str_add(&cli->out, ", ");
            str_add_line(&cli->out, json_text(turn, "phase", ""));
        }
        if (json_text(turn, "signal", NULL)) {
            str_addf(&cli->out, ", %s", json_text(turn, "signal", ""));
            if (json_text(turn, "payload", NULL)) {
                str_add(&cli->out, ": ");
                str_add_line(&cli->out, json_text(turn, "payload", ""));
            }
        }
        if (json_int(turn, "killed_by", 0))
            str_addf(&cli->out, ", killed by signal %" PRId64, json_int(turn, "killed_by", 0));
        else if (json_int(turn, "exit_code", 0))
            str_addf(&cli->out, ", exit code %" PRId64, json_int(turn, "exit_code", 0));
        if (json_text(turn, "commit", NULL))
            str_addf(&cli->out, ", %.9s", json_text(turn, "commit", ""));
        str_add_char(&cli->out, '\n');
    }
}

static void show_runs(Cli *cli, const json_t *runs)
{
    size_t index;
    const json_t *run;
    json_array_foreach(runs, index, run)
    {
        char at[32], spent[32];
        clock_format(json_int(run, "started_ms", 0), at);
        clock_span(json_int(run, "spent_ms", 0), spent);
        str_addf(&cli->out, "  run %" PRId64 ": %s, begun %s, %s at work\n", json_int(run, "id", 0),
                 json_text(run, "state", "?"), at, spent);
        view_flow(&cli->term, run, &cli->out);
        show_line(cli, "    folder", json_text(run, "workspace", NULL));
        show_turns(cli, json_object_get(run, "turns"));
        show_gates(cli, json_object_get(run, "gates"));
    }
}

/* A number that was given, with a word before or after it. */
static void show_number(Cli *cli, const char *name, const json_t *value, const char *before,
                        const char *after)
{
    if (json_integer_value(value) || (json_is_integer(value) && text_equal(before, "P")))
        str_addf(&cli->out, "  %-10s %s%" PRId64 "%s\n", name, before,
                 (int64_t)json_integer_value(value), after);
}

/* Why it would be chosen now, part by part. */
static void show_score(Cli *cli, const json_t *score)
{
    const char *part;
    json_t *value;
    if (!json_is_object(score))
        return;
    str_addf(&cli->out, "  %-10s %" PRId64, "score", json_int(score, "score", 0));
    json_object_foreach(json_object_get(score, "parts"), part, value)
        str_addf(&cli->out, ", %s %" PRId64, part, (int64_t)json_integer_value(value));
    str_add_char(&cli->out, '\n');
}

/* What a person is to stand for, line by line. */
static void show_guards(Cli *cli, const json_t *lines)
{
    size_t i;
    const json_t *line;
    if (json_array_size(lines))
        str_add(&cli->out, "  guards fired:\n");
    json_array_foreach(lines, i, line)
    {
        str_add(&cli->out, "    ");
        str_add_line(&cli->out, json_string_value(line) ? json_string_value(line) : "");
        str_add_char(&cli->out, '\n');
    }
}

static void show_task(Cli *cli, const json_t *task)
{
    const char *state = json_text(task, "state", "?");
    CLEANUP(str_done) Str title = STR_INIT;
    str_addf(&cli->out, "#%" PRId64 " ", json_int(task, "id", 0));
    str_add_line(&title, json_text(task, "title", ""));
    term_add(&cli->term, &cli->out, STYLE_BOLD, str_text(&title));
    str_add(&cli->out, "  ");
    term_add(&cli->term, &cli->out, view_state_style(state), state);
    str_add_char(&cli->out, '\n');
    show_line(cli, "now", json_text(task, "note", NULL));
    show_line(cli, "key", json_text(task, "key", NULL));
    show_list(cli, "tag", json_object_get(task, "tags"));
    show_after(cli, json_object_get(task, "after"));
    show_list(cli, "check", json_object_get(task, "check"));
    show_line(cli, "agent", json_text(task, "agent", NULL));
    show_line(cli, "workflow", json_text(task, "flow", json_text(task, "workflow", NULL)));
    if (!text_equal(json_text(task, "flow", "loop"), "loop")) /* whose status is the state */
        show_line(cli, "status", json_text(task, "status", NULL));
    show_line(cli, "type", json_text(task, "type", NULL));
    show_line(cli, "size", json_text(task, "size", NULL));
    show_number(cli, "priority", json_object_get(task, "priority"), "P", "");
    show_number(cli, "parent", json_object_get(task, "parent"), "#", "");
    show_number(cli, "max turns", json_object_get(task, "max_turns"), "", "");
    show_number(cli, "timeout", json_object_get(task, "timeout_minutes"), "", " min");
    show_score(cli, json_object_get(task, "score"));
    if (*json_text(task, "body", "")) {
        str_add_char(&cli->out, '\n');
        str_add_block(&cli->out, json_text(task, "body", ""), 2);
        str_add_char(&cli->out, '\n');
    }
    show_guards(cli, json_object_get(task, "guards"));
    view_steps(&cli->term, json_object_get(task, "steps"), &cli->out);
    show_runs(cli, json_object_get(task, "runs"));
    size_t index;
    const json_t *landing;
    json_array_foreach(json_object_get(task, "landings"), index, landing)
    {
        char at[32];
        clock_format(json_int(landing, "at_ms", 0), at);
        str_addf(&cli->out, "  landed as %.9s on %s%s\n",
                 json_text(landing, "new", json_text(landing, "commit", "")), at,
                 json_int(landing, "rolled_back_ms", 0) ? ", rolled back" : "");
    }
}

int command_show(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err) ||
        !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64, id))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    show_task(cli, reply);
    return cli_wrap(cli);
}
