/* workflow: the tables that decide, built in and of the user. No engine is needed. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/flowview.h"
#include "core/field.h"
#include "core/workflow_file.h"
#include "core/workflow_graph.h"
#include "engine/workflows.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool load(WorkflowSet *set, Err *err)
{
    char root[PATH_MAX];
    return workflows_load(caller_repository(root) ? root : NULL, set, err);
}

static bool is_file_name(const char *word)
{
    return strchr(word, '/') || text_ends(word, ".yaml") || text_ends(word, ".yml");
}

static void add_problem(Str *out, const WorkflowProblem *problem)
{
    str_add_line(out, problem->path);
    if (problem->line)
        str_addf(out, ":%d", problem->line);
    str_add(out, ": ");
    str_add_line(out, problem->text);
}

/* Problems of a file that bears this name, so that "unknown" is not all that is said. */
static bool is_file_of(const WorkflowProblem *problem, const char *name)
{
    const char *slash = strrchr(problem->path, '/'), *base = slash ? slash + 1 : problem->path;
    size_t length = strlen(name);
    return strncmp(base, name, length) == 0 && base[length] == '.';
}

static const WorkflowItem *unknown(const WorkflowSet *set, const char *name, Err *err)
{
    const char *names[WORKFLOW_FILES_MAX + WORKFLOW_FIRST_OWN];
    for (size_t i = 0; i < set->problem_count; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        if (!is_file_of(&set->problems[i], name))
            continue;
        add_problem(&text, &set->problems[i]);
        (void)err_set(err, ERR_USAGE, "workflow '%.60s' has a problem: %s", name,
                      str_text(&text)); /* NULL says it failed */
        return NULL;
    }
    for (size_t i = 0; i < set->count; i++)
        names[i] = set->items[i].name;
    const char *near = text_nearest(name, names, set->count);
    (void)err_set(err, ERR_NOT_FOUND, "there is no workflow '%.60s'%s%s%s", name,
                  near ? ", did you mean '" : "; 'otto workflow list' names them", near ? near : "",
                  near ? "'?" : ""); /* NULL says it failed */
    return NULL;
}

/* By name, or from a file that need not stand in one of the folders. */
static const WorkflowItem *find(WorkflowSet *set, const char *word, Err *err)
{
    if (!is_file_name(word)) {
        const WorkflowItem *item = workflows_find(set, word);
        return item ? item : unknown(set, word, err);
    }
    size_t before = set->problem_count;
    if (!workflows_read_file(word, set, err))
        return NULL;
    for (size_t i = set->count; i-- > 0;)
        if (text_equal(set->items[i].path, word))
            return &set->items[i];
    CLEANUP(str_done) Str text = STR_INIT;
    if (set->problem_count > before)
        add_problem(&text, &set->problems[before]);
    (void)err_set(err, ERR_USAGE, "%s; 'otto workflow check' lists all", str_text(&text));
    return NULL;
}

/* -- list ------------------------------------------------------------------------------------ */

static void list_json(Cli *cli, const WorkflowSet *set)
{
    json_t *items = json_array(), *problems = json_array();
    for (size_t i = 0; i < set->count; i++) {
        const WorkflowItem *item = &set->items[i];
        (void)json_array_append_new(/* fails only without memory */
                                    items,
                                    json_pack("{s:s,s:s,s:s?,s:b,s:i}", "name", item->name, "help",
                                              item->workflow->help ? item->workflow->help : "",
                                              "path", *item->path ? item->path : NULL, "override",
                                              item->is_override, "phases",
                                              (int)item->workflow->phase_count));
    }
    for (size_t i = 0; i < set->problem_count; i++)
        (void)json_array_append_new(/* fails only without memory */
                                    problems,
                                    json_pack("{s:s,s:i,s:s}", "path", set->problems[i].path,
                                              "line", set->problems[i].line, "message",
                                              set->problems[i].text));
    CLEANUP(json_freep)
    json_t *both = json_pack("{s:o,s:o}", "workflows", items, "problems", problems);
    (void)cli_print_json(cli, both); /* never fails */
}

static void print_problems(const WorkflowSet *set, size_t first)
{
    for (size_t i = first; i < set->problem_count; i++) {
        CLEANUP(str_done) Str line = STR_INIT;
        add_problem(&line, &set->problems[i]);
        cli_error(str_text(&line));
    }
}

static int flow_list(Cli *cli, const Args *args, WorkflowSet *set, Err *err)
{
    (void)err; /* a list can be made of anything */
    if (args_has(args, "json")) {
        list_json(cli, set);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < set->count; i++) {
        const WorkflowItem *item = &set->items[i];
        CLEANUP(str_done) Str origin = STR_INIT;
        str_add_cell(&cli->out, item->name, 12);
        str_addf(&cli->out, " %2u phases  ", item->workflow->phase_count);
        str_add_line(&cli->out, item->workflow->help ? item->workflow->help : "");
        if (*item->path) {
            str_add(&origin,
                    item->is_override ? "  instead of the built-in one, from " : "  from ");
            str_add_line(&origin, item->path);
            term_add(&cli->term, &cli->out, STYLE_DIM, str_text(&origin));
        }
        str_add_char(&cli->out, '\n');
    }
    cli_flush(cli);
    print_problems(set, 0);
    return EXIT_DONE;
}

/* -- show, graph ----------------------------------------------------------------------------- */

static int flow_show_command(Cli *cli, const Args *args, WorkflowSet *set, Err *err)
{
    const WorkflowItem *item = find(set, args->words[1], err);
    const char *row = args_text(args, "row", NULL);
    if (!item)
        return EXIT_ERR;
    if (row && !flow_show_row(&cli->term, item->workflow, row, &cli->out)) {
        const char *near = flow_nearest_row(item->workflow, row);
        return cli_fail(err, ERR_NOT_FOUND, "workflow '%s' has no row '%.60s'%s%s%s", item->name,
                        row, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (row)
        return EXIT_DONE;
    if (args_has(args, "json")) {
        CLEANUP(json_freep) json_t *json = workflow_write(item->workflow);
        return cli_print_json(cli, json);
    }
    flow_show(&cli->term, item->workflow, item->path, &cli->out);
    return EXIT_DONE;
}

static int flow_graph(Cli *cli, const Args *args, WorkflowSet *set, Err *err)
{
    const WorkflowItem *item = find(set, args->words[1], err);
    const char *svg = args_text(args, "svg", NULL);
    CLEANUP(str_done) Str picture = STR_INIT;
    if (!item)
        return EXIT_ERR;
    if (!svg) {
        workflow_graph_text(item->workflow, &picture);
        str_add_block(&cli->out, str_text(&picture), 0);
        return EXIT_DONE;
    }
    workflow_graph_svg(item->workflow, &picture);
    if (text_equal(svg, "-")) {
        str_add(&cli->out, str_text(&picture));
        return EXIT_DONE;
    }
    if (!file_write_atomic(svg, str_text(&picture), picture.length, 0644, err))
        return EXIT_ERR;
    str_addf(&cli->out, "%s is drawn in ", item->name);
    str_add_line(&cli->out, svg);
    str_add_char(&cli->out, '\n');
    return EXIT_DONE;
}

/* -- check ----------------------------------------------------------------------------------- */

/* Built-in tables are checked as well: whoever changes them sees it here. */
static size_t check_builtin(const WorkflowItem *item)
{
    CLEANUP(str_done) Str lines = STR_INIT;
    size_t count = *item->path ? 0 : workflow_check(item->workflow, &lines);
    for (const char *at = str_text(&lines); *at;) {
        CLEANUP(str_done) Str line = STR_INIT;
        size_t length = strcspn(at, "\n");
        str_add_bytes(&line, at, length);
        cli_error(str_text(&line));
        at += length + (at[length] == '\n');
    }
    return count;
}

static int check_end(Cli *cli, size_t problems, const char *fine)
{
    if (problems)
        return EXIT_PARTLY;
    str_add_line(&cli->out, fine);
    str_add_char(&cli->out, '\n');
    return EXIT_DONE;
}

static int check_all(Cli *cli, WorkflowSet *set)
{
    size_t count = set->problem_count;
    char fine[64];
    for (size_t i = 0; i < set->count; i++)
        count += check_builtin(&set->items[i]);
    print_problems(set, 0);
    (void)snprintf(fine, sizeof fine, "%zu workflows, no problem.", set->count); /* fits */
    return check_end(cli, count, fine);
}

static int check_file(Cli *cli, WorkflowSet *set, const char *path, Err *err)
{
    CLEANUP(str_done) Str fine = STR_INIT;
    size_t first = set->problem_count;
    if (!workflows_read_file(path, set, err))
        return EXIT_ERR;
    print_problems(set, first);
    str_addf(&fine, "'%s' has no problem.", path);
    return check_end(cli, set->problem_count - first, str_text(&fine));
}

static int flow_check(Cli *cli, const Args *args, WorkflowSet *set, Err *err)
{
    if (args->word_count < 2)
        return check_all(cli, set);
    const char *word = args->words[1];
    if (is_file_name(word))
        return check_file(cli, set, word, err);
    const WorkflowItem *item = workflows_find(set, word);
    for (size_t i = 0; i < set->problem_count; i++)
        if (is_file_of(&set->problems[i], word))
            return check_file(cli, set, set->problems[i].path, err);
    if (!item && access(word, F_OK) == 0)
        return check_file(cli, set, word, err);
    if (!item) {
        (void)unknown(set, word, err); /* fills in err */
        return EXIT_ERR;
    }
    CLEANUP(str_done) Str fine = STR_INIT;
    str_addf(&fine, "'%s' has no problem.", item->name);
    return check_end(cli, check_builtin(item), str_text(&fine));
}

/* -- new ------------------------------------------------------------------------------------- */

static void add_extension(const char *name, const Workflow *base, Str *out)
{
    str_addf(out,
             "# A workflow that begins as '%s': 'otto workflow show %s' lists its rows.\n"
             "# A row with the id of one of them takes its place; other rows come before them.\n"
             "name: %s\n"
             "help: %s, with changes of our own\n"
             "extends: %s\n",
             base->name, base->name, name, base->name, base->name);
    if (base->limit_count)
        str_addf(out,
                 "# Limits and thresholds replace by name, for example:\n"
                 "# limits: {%s: %" PRId64 "}\n",
                 base->limits[0].name, base->limits[0].fallback);
    str_add(out, "# Try it: otto workflow check, then otto run --workflow NAME\n");
}

static bool new_path(const Args *args, const char *name, Str *path, Err *err)
{
    char root[PATH_MAX];
    const char *given = args_text(args, "file", NULL);
    if (given) {
        str_add(path, given);
    } else {
        if (!caller_repository(root))
            return err_set(err, ERR_USAGE,
                           "this is no git repository: say with --file where the workflow goes");
        str_addf(path, "%s/.otto/workflows/%s.yaml", root, name);
    }
    if (path_exists(str_text(path)) && !args_has(args, "force"))
        return err_set(err, ERR_CONFLICT, "'%s' exists already; --force writes over it",
                       str_text(path));
    return true;
}

static bool write_new(const char *path, const Str *text, Err *err)
{
    CLEANUP(str_done) Str folder = STR_INIT;
    const char *slash = strrchr(path, '/');
    if (slash && slash != path) {
        str_add_bytes(&folder, path, (size_t)(slash - path));
        if (!folder_ensure(str_text(&folder), 0755, err))
            return false;
    }
    return file_write_atomic(path, str_text(text), text->length, 0644, err);
}

static int flow_new(Cli *cli, const Args *args, WorkflowSet *set, Err *err)
{
    const char *name = args->words[1], *from = args_text(args, "from", NULL);
    CLEANUP(str_done) Str path = STR_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    if (!workflow_name_is_valid(name))
        return cli_fail(err, ERR_USAGE, "'%.60s' is no name: letters, digits, '-' and '_'", name);
    const Workflow *base = from ? workflow_find(from) : NULL;
    if (from && !base)
        return unknown(set, from, err) ? cli_fail(err, ERR_USAGE, "--from wants a built-in one")
                                       : EXIT_ERR;
    if (base)
        add_extension(name, base, &text);
    else
        workflow_template(name, &text);
    if (!new_path(args, name, &path, err) || !write_new(str_text(&path), &text, err))
        return EXIT_ERR;
    str_add_line(&cli->out, str_text(&path));
    str_addf(&cli->out, " is written; '%s run --workflow %s' uses it\n", cli->otto, name);
    return EXIT_DONE;
}

/* -- the command ----------------------------------------------------------------------------- */

typedef struct Verb {
    const char *word;
    size_t min_words, max_words; /* with the verb */
    int (*run)(Cli *cli, const Args *args, WorkflowSet *set, Err *err);
} Verb;

static const Verb verbs[] = {
    {"list", 1, 1, flow_list},   {"show", 2, 2, flow_show_command}, {"check", 1, 2, flow_check},
    {"graph", 2, 2, flow_graph}, {"new", 2, 2, flow_new},
};

static const Verb *find_verb(const char *word, Err *err)
{
    const char *words[COUNT(verbs)];
    for (size_t i = 0; i < COUNT(verbs); i++) {
        if (text_equal(verbs[i].word, word))
            return &verbs[i];
        words[i] = verbs[i].word;
    }
    const char *near = text_nearest(word, words, COUNT(words));
    (void)err_set(err, ERR_USAGE,
                  "'otto workflow' wants list, show, check, graph or new, not '%.40s'%s%s%s", word,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

int command_workflow(Cli *cli, const Args *args, Err *err)
{
    const Verb *verb = find_verb(args->words[0], err);
    if (!verb)
        return EXIT_ERR;
    if (args->word_count < verb->min_words)
        return cli_fail(err, ERR_USAGE, "which one? otto workflow %s NAME", verb->word);
    if (args->word_count > verb->max_words)
        return cli_fail(err, ERR_USAGE, "there is a word too many; see 'otto help workflow'");
    WorkflowSet set = {0};
    int code = load(&set, err) ? verb->run(cli, args, &set, err) : EXIT_ERR;
    workflows_done(&set);
    return code;
}
