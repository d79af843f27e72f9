/* target: the objective of a task, its requirements, stages and refinements (B-99..B-115). */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/objective.h"
#include "cli/view.h"
#include <inttypes.h>
#include <string.h>

static void end_line(Cli *cli)
{
    str_add_char(&cli->out, '\n');
}

static void add_dim(Cli *cli, const char *text)
{
    CLEANUP(str_done) Str safe = STR_INIT;
    str_add_line(&safe, text);
    term_add(&cli->term, &cli->out, STYLE_DIM, str_text(&safe));
}

static void heading(Cli *cli, const char *text)
{
    end_line(cli);
    term_add(&cli->term, &cli->out, STYLE_BOLD, text);
    end_line(cli);
}

/* -- showing --------------------------------------------------------------------------------- */

static const char *weight_word(int64_t weight)
{
    return weight == 3 ? "critical" : weight == 1 ? "optional" : "important";
}

static int percent(double part)
{
    return (int)(part * 100 + 0.5);
}

static void show_requirement(Cli *cli, const json_t *r)
{
    char head[64];
    (void)snprintf(head, sizeof head, "R%" PRId64, json_int(r, "number", 0)); /* fits */
    str_addf(&cli->out, "     %-4s %-9s %3d %%  ", head, weight_word(json_int(r, "weight", 2)),
             percent(json_number_value(json_object_get(r, "coverage"))));
    str_add_line(&cli->out, json_text(r, "text", ""));
    end_line(cli);
    if (*json_text(r, "criteria", "")) {
        str_addf(&cli->out, "     %21s", "");
        str_add_line(&cli->out, json_text(r, "criteria", ""));
        end_line(cli);
    }
    if (*json_text(r, "reason", "")) {
        str_addf(&cli->out, "     %21s", "");
        add_dim(cli, json_text(r, "reason", ""));
        end_line(cli);
    }
}

static void show_items(Cli *cli, const json_t *reply, bool is_constraint)
{
    size_t i, k;
    const json_t *item, *r;
    json_array_foreach(json_object_get(reply, "items"), i, item)
    {
        int64_t number = json_int(item, "number", 0);
        if (json_flag(item, "constraint", false) != is_constraint)
            continue;
        str_addf(&cli->out, "  %" PRId64 ". ", number);
        str_add_line(&cli->out, json_text(item, "text", ""));
        if (*json_text(item, "marker", "")) {
            str_add(&cli->out, "  ");
            add_dim(cli, json_text(item, "marker", ""));
        }
        end_line(cli);
        json_array_foreach(json_object_get(reply, "requirements"), k, r)
        {
            if (json_int(r, "item", 0) == number && !is_constraint)
                show_requirement(cli, r);
        }
    }
}

static bool has_items(const json_t *reply, bool is_constraint)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(reply, "items"), i, item)
    {
        if (json_flag(item, "constraint", false) == is_constraint)
            return true;
    }
    return false;
}

static void show_stage(Cli *cli, const json_t *stage)
{
    const char *outcome = json_text(stage, "outcome", "");
    Style style = text_equal(outcome, "accepted") ? STYLE_GOOD : *outcome ? STYLE_BAD : STYLE_BUSY;
    CLEANUP(str_done) Str word = STR_INIT;
    str_add_cell(&word, *outcome ? outcome : "under way", 11);
    str_addf(&cli->out, "  %" PRId64 ".%" PRId64 "  ", json_int(stage, "stage", 0),
             json_int(stage, "attempt", 0));
    term_add(&cli->term, &cli->out, style, str_text(&word));
    str_addf(&cli->out, " %.2f -> %.2f  %.9s  ",
             json_number_value(json_object_get(stage, "before")),
             json_number_value(json_object_get(stage, "after")), json_text(stage, "commit", "-"));
    str_add_line(&cli->out, json_text(stage, "name", ""));
    if (*json_text(stage, "moves", "")) {
        str_add(&cli->out, "; moves ");
        str_add_line(&cli->out, json_text(stage, "moves", ""));
    }
    end_line(cli);
    if (*json_text(stage, "objective", ""))
        str_add_block(&cli->out, json_text(stage, "objective", ""), 7);
}

/* B-79: what was tried and must not be tried again the same way. */
static void show_failed(Cli *cli, const json_t *stages)
{
    size_t i;
    const json_t *stage;
    bool is_first = true;
    json_array_foreach(stages, i, stage)
    {
        if (!text_equal(json_text(stage, "outcome", ""), "rolled-back"))
            continue;
        if (is_first)
            heading(cli, "directions that failed");
        is_first = false;
        str_addf(&cli->out, "  %" PRId64 ".%" PRId64 "  ", json_int(stage, "stage", 0),
                 json_int(stage, "attempt", 0));
        str_add_line(&cli->out, json_text(stage, "objective", json_text(stage, "name", "")));
        str_add(&cli->out, ": ");
        str_add_line(&cli->out, json_text(stage, "cause", ""));
        end_line(cli);
    }
}

static void show_refinements(Cli *cli, const json_t *reply, int64_t id, bool with_ended)
{
    size_t i;
    const json_t *row;
    bool is_first = true;
    json_array_foreach(json_object_get(reply, "refinements"), i, row)
    {
        char at[32];
        int64_t applied = json_int(row, "applied_ms", 0), gone = json_int(row, "withdrawn_ms", 0);
        if ((applied || gone) && !with_ended)
            continue;
        if (is_first)
            heading(cli, "refinements");
        is_first = false;
        clock_format(json_int(row, "at_ms", 0), at);
        str_addf(&cli->out, "  %" PRId64 "  %s  %s  ", json_int(row, "id", 0), at,
                 applied ? "applied"
                 : gone  ? "withdrawn"
                         : "waits");
        str_add_line(&cli->out, json_text(row, "text", ""));
        if (*json_text(row, "impact", "")) {
            str_add(&cli->out, "; impact ");
            str_add_line(&cli->out, json_text(row, "impact", ""));
        }
        end_line(cli);
        if (!applied && !gone)
            str_addf(&cli->out, "     %s target %" PRId64 " --withdraw %" PRId64 "\n", cli->otto,
                     id, json_int(row, "id", 0));
    }
}

static void show_head(Cli *cli, const json_t *reply)
{
    CLEANUP(str_done) Str title = STR_INIT;
    str_addf(&cli->out, "#%" PRId64 " ", json_int(reply, "task", 0));
    str_add_line(&title, json_text(reply, "title", ""));
    term_add(&cli->term, &cli->out, STYLE_BOLD, str_text(&title));
    str_add(&cli->out, "  ");
    str_add_line(&cli->out, json_text(reply, "workflow", ""));
    str_add(&cli->out, ", ");
    str_add_line(&cli->out, json_text(reply, "status", ""));
    if (json_int(reply, "stage", 0) > 0 && json_array_size(json_object_get(reply, "stages")))
        str_addf(&cli->out, ", stage %" PRId64, json_int(reply, "stage", 0));
    if (json_is_number(json_object_get(reply, "convergence")))
        str_addf(&cli->out, ", convergence %.2f",
                 json_number_value(json_object_get(reply, "convergence")));
    end_line(cli);
}

static void show_confirmation(Cli *cli, const json_t *reply, int64_t id)
{
    size_t i;
    const json_t *problem;
    if (!json_flag(reply, "is_used", true)) {
        str_add(&cli->out, "Workflow ");
        str_add_line(&cli->out, json_text(reply, "workflow", ""));
        str_addf(&cli->out, " uses no objective; '%s edit %" PRId64 " --workflow staged' would.\n",
                 cli->otto, id);
        return;
    }
    if (!json_flag(reply, "is_found", true)) {
        str_add(&cli->out, "Workflow ");
        str_add_line(&cli->out, json_text(reply, "workflow", ""));
        str_add(&cli->out, " has no objective phase: nothing is asked or confirmed; the task is "
                           "planned as it is written, with the items given here.\n");
        return;
    }
    if (json_flag(reply, "confirmed", false)) {
        str_add(&cli->out, has_items(reply, false)
                               ? "The objective is confirmed.\n"
                               : "Confirmed beforehand: what the agent finds needs no question.\n");
        return;
    }
    json_array_foreach(json_object_get(reply, "problems"), i, problem)
    {
        str_add(&cli->out, "  note: ");
        str_add_line(&cli->out, json_string_value(problem) ? json_string_value(problem) : "");
        end_line(cli);
    }
    if (*json_text(reply, "confirmation", "")) {
        end_line(cli);
        str_add_block(&cli->out, json_text(reply, "confirmation", ""), 2);
    }
    str_addf(&cli->out, "Not confirmed yet: %s target %" PRId64 " --confirm\n", cli->otto, id);
}

static void show_target(Cli *cli, const json_t *reply, bool with_ended)
{
    int64_t id = json_int(reply, "task", 0);
    const json_t *stages = json_object_get(reply, "stages");
    size_t i;
    const json_t *stage;
    show_head(cli, reply);
    if (has_items(reply, false))
        show_items(cli, reply, false);
    else
        str_addf(&cli->out,
                 json_flag(reply, "is_found", true)
                     ? "  No items yet: the agent finds them, or %s target %" PRId64
                       " --add \"TEXT\".\n"
                     : "  No items, and none are needed: %s target %" PRId64 " --add \"TEXT\".\n",
                 cli->otto, id);
    if (has_items(reply, true)) {
        heading(cli, "constraints");
        show_items(cli, reply, true);
    }
    if (json_array_size(stages))
        heading(cli, "stages");
    json_array_foreach(stages, i, stage)
    {
        show_stage(cli, stage);
    }
    show_failed(cli, stages);
    show_refinements(cli, reply, id, with_ended);
    end_line(cli);
    show_confirmation(cli, reply, id);
}

/* -- edits from flags ------------------------------------------------------------------------ */

static json_t *new_edit(json_t *edits, const char *op)
{
    json_t *edit = json_pack("{s:s}", "op", op);
    (void)json_array_append_new(edits, edit); /* fails only without memory */
    return edit;
}

static void put_number(json_t *edit, const char *key, int64_t number)
{
    (void)json_object_set_new(edit, key, json_integer(number)); /* fails only without memory */
}

/* One edit for each value of a flag that holds a text. */
static bool add_texts(const Args *args, const char *flag, const char *op, json_t *edits, Err *err)
{
    const char *text;
    for (size_t i = 0; (text = args_item(args, flag, i)); i++)
        if (!cli_put_text(new_edit(edits, op), "text", text, err))
            return false;
    return true;
}

static bool add_requirements(const Args *args, json_t *edits, Err *err)
{
    const char *text;
    if (args_has(args, "of") && !args_has(args, "require"))
        return err_set(err, ERR_USAGE, "--of says whose requirement it is: give --require, too");
    for (size_t i = 0; (text = args_item(args, "require", i)); i++) {
        json_t *edit = new_edit(edits, "add-requirement");
        if (args_has(args, "of")) /* without it: the last item */
            put_number(edit, "item", args_int(args, "of", 0));
        if (!objective_requirement(text, edit, err))
            return false;
    }
    return true;
}

/* --text belongs to --item or to --requirement. */
static bool add_change(const Args *args, json_t *edits, Err *err)
{
    const char *text = args_text(args, "text", NULL);
    bool has_item = args_has(args, "item"), has_r = args_has(args, "requirement");
    if (!has_item && !has_r && !text)
        return true;
    if (has_item == has_r || !text)
        return err_set(err, ERR_USAGE,
                       "to change something give --item N --text TEXT, or --requirement N --text "
                       "\"TEXT :: CRITERIA :: WEIGHT\"");
    json_t *edit = new_edit(edits, has_item ? "set-item" : "set-requirement");
    put_number(edit, has_item ? "item" : "requirement",
               args_int(args, has_item ? "item" : "requirement", 0));
    return has_item ? cli_put_text(edit, "text", text, err)
                    : objective_requirement(text, edit, err);
}

static bool add_removals(const Args *args, const char *flag, const char *op, const char *key,
                         json_t *edits, Err *err)
{
    const char *word;
    for (size_t i = 0; (word = args_item(args, flag, i)); i++) {
        int64_t number;
        const char *digits = *word == 'R' || *word == 'r' ? word + 1 : word;
        if (!text_to_int(digits, &number) || number < 1)
            return err_set(err, ERR_USAGE, "--%s wants a number, not '%.40s'", flag, word);
        put_number(new_edit(edits, op), key, number);
    }
    return true;
}

static bool add_file(const Args *args, json_t *edits, Err *err)
{
    const char *file = args_text(args, "from", NULL);
    if (!file)
        return true;
    CLEANUP(mem_freep)
    char *text = text_equal(file, "-") ? cli_read_input(OBJECTIVE_MOST_BYTES, err)
                                       : file_read_stream(file, OBJECTIVE_MOST_BYTES, NULL, err);
    return text &&
           objective_markdown(text_equal(file, "-") ? "standard input" : file, text, edits, err);
}

/* Numbers mean what is shown now, so removals come first and additions last. */
static bool read_edits(const Args *args, json_t *edits, Err *err)
{
    return add_change(args, edits, err) &&
           add_removals(args, "rm-require", "remove-requirement", "requirement", edits, err) &&
           add_removals(args, "rm", "remove-item", "item", edits, err) &&
           add_file(args, edits, err) && add_texts(args, "add", "add-item", edits, err) &&
           add_requirements(args, edits, err) &&
           add_texts(args, "constraint", "add-constraint", edits, err);
}

static int post_target(Cli *cli, int64_t id, const Args *args, json_t **reply, Err *err)
{
    json_t *edits = json_array();
    CLEANUP(json_freep)
    json_t *body = json_pack("{s:b,s:b}", "confirm", args_has(args, "confirm"), "satisfy",
                             args_has(args, "satisfy"));
    bool is_read = read_edits(args, edits, err), is_some = json_array_size(edits) > 0;
    if (is_some)
        (void)json_object_set_new(body, "edits", edits); /* fails only without memory */
    else
        json_decref(edits);
    bool is_wanted = is_some || args_has(args, "confirm") || args_has(args, "satisfy");
    if (!is_read || !is_wanted)
        return is_read ? EXIT_DONE : EXIT_ERR;
    return call_post(cli->caller, body, reply, err, "/api/v1/tasks/%" PRId64 "/target", id)
               ? EXIT_DONE
               : EXIT_ERR;
}

static int post_refinement(Cli *cli, int64_t id, const Args *args, json_t **reply, Err *err)
{
    CLEANUP(json_freep) json_t *body = json_object();
    bool is_withdrawal = args_has(args, "withdraw");
    if (is_withdrawal == args_has(args, "refine"))
        return cli_fail(err, ERR_USAGE, "give --refine or --withdraw, not both");
    if (is_withdrawal)
        put_number(body, "withdraw", args_int(args, "withdraw", 0));
    else if (!cli_put_text(body, "text", args_text(args, "refine", ""), err))
        return EXIT_ERR;
    return call_post(cli->caller, body, reply, err, "/api/v1/tasks/%" PRId64 "/refine", id)
               ? EXIT_DONE
               : EXIT_ERR;
}

int command_target(Cli *cli, const Args *args, Err *err)
{
    int64_t id;
    CLEANUP(json_freep) json_t *reply = NULL;
    bool is_refinement = args_has(args, "refine") || args_has(args, "withdraw");
    if (!cli_task_id(args->words[0], &id, err) || !cli_caller(cli, err))
        return EXIT_ERR;
    int code = is_refinement ? post_refinement(cli, id, args, &reply, err)
                             : post_target(cli, id, args, &reply, err);
    if (code != EXIT_DONE)
        return code;
    if (!reply && !call_get(cli->caller, &reply, err, "/api/v1/tasks/%" PRId64 "/target", id))
        return EXIT_ERR;
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    show_target(cli, reply, args_has(args, "all"));
    return EXIT_DONE;
}
