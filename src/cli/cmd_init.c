/* init: guesses what otto.yaml should say, writes it, tells what it guessed and what is empty. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/guess.h"
#include "cli/job.h"
#include "core/settings.h"
#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A branch of these needs no quotes in YAML. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"

typedef struct Plan {
    char path[PATH_MAX]; /* of otto.yaml */
    TestGuess test;
    const char *target;        /* NULL: none to be had */
    const char *agent_command; /* --agent-command */
    json_t *repository;        /* reply of the inspect job */
    json_t *agents;            /* names found on PATH */
    json_t *warnings;
} Plan;

static void warn(Plan *plan, const char *text)
{
    (void)json_array_append_new(plan->warnings, json_string(text)); /* only for want of memory */
}

static bool look_at_repository(Plan *plan, Err *err)
{
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return err_errno(err, "cannot find the current folder");
    CLEANUP(json_freep) json_t *input = json_pack("{s:s}", "path", folder);
    if (!input)
        return err_set(err, ERR_USAGE, "the path of the current folder is not valid UTF-8");
    if (!job_run("inspect", input, &plan->repository, err))
        return false;
    const char *root = json_text(plan->repository, "root", NULL);
    const char *problem = json_text(plan->repository, "problem", NULL);
    if (json_flag(plan->repository, "is_bare", false))
        return err_set(err, ERR_USAGE, "'%s' is a bare repository; clone it and start there",
                       folder);
    bool is_usable = root != NULL;
    if (problem && !(is_usable && json_flag(plan->repository, "is_detached", false)))
        return err_set(err, ERR_USAGE, "%s", problem);
    if (!is_usable)
        return err_set(err, ERR_USAGE, "'%s' is not in a git repository; 'git init' makes one",
                       folder);
    int length = snprintf(plan->path, sizeof plan->path, "%s/%s", root, SETTINGS_FILE);
    plan->test = guess_test(root);
    return length < (int)sizeof plan->path || err_set(err, ERR_USAGE, "path too long: '%s'", root);
}

static void look_around(Plan *plan)
{
    const KnownAgent *agent;
    if (!json_flag(plan->repository, "is_detached", false))
        plan->target = json_text(plan->repository, "branch", NULL);
    if (!plan->target)
        warn(plan, "no branch is checked out: set 'target' in otto.yaml to the branch that work "
                   "lands on");
    for (size_t i = 0; (agent = guess_agent(i)); i++) /* appending fails only without memory */
        (void)json_array_append_new(plan->agents, json_string(agent->name));
    if (!plan->agent_command && !json_array_size(plan->agents))
        warn(plan, "no known agent is on PATH (claude, codex, gemini, opencode, qwen, pi): name "
                   "yours below 'agents', or try 'otto demo'");
    if (!plan->test.command) /* D-77..D-79 */
        warn(plan, "no verification configured: claims of agents are believed, not checked; add "
                   "commands below 'verify'");
}

static void write_verify(const Plan *plan, Str *out)
{
    if (!plan->test.command) {
        str_add(out, "# verify:                       # commands that must pass before work lands\n"
                     "#   - {name: tests, command: make test, timeout: 600}\n");
        return;
    }
    str_add(out, "verify:                         # must pass before work lands\n"
                 "  - {name: tests, timeout: 600, command: ");
    str_add_json(out, plan->test.command);
    str_add(out, "}\n");
}

static void write_agents(const Plan *plan, Str *out)
{
    const KnownAgent *agent;
    if (plan->agent_command) {
        str_add(out, "agent: mine\nagents:\n  mine: {kind: command, command: ");
        str_add_json(out, plan->agent_command);
        str_add(out, "}\n");
    } else if (guess_agent(0)) {
        str_addf(out, "agent: %s\nagents:\n", guess_agent(0)->name);
    } else {
        str_add(out, "# agent: mine\n# agents:\n#   mine: {kind: command, command: [./agent.sh]}  "
                     "# gets the prompt on standard input\n");
        return;
    }
    for (size_t i = 0; (agent = guess_agent(i)); i++)
        str_addf(out, "  %s: {kind: command, command: %s, prompt: %s}  # %s\n", agent->name,
                 agent->argv, agent->prompt, agent->note);
}

static void write_settings(const Plan *plan, Str *out)
{
    str_add(out, "# Settings of otto; 'otto config show' prints every key with its value.\n");
    if (plan->target) {
        CLEANUP(str_done) Str name = STR_INIT;
        bool is_plain = isalpha((unsigned char)plan->target[0]) &&
                        plan->target[strspn(plan->target, PLAIN)] == '\0';
        if (is_plain)
            str_add(&name, plan->target);
        else
            str_add_json(&name, plan->target);
        str_addf(out, "target: %-23s # branch that work lands on\n", name.bytes);
    } else {
        str_add(out, "# target: main                  # branch that work lands on\n");
    }
    write_agents(plan, out);
    str_add(out, "slots: 3                        # agents at once\n");
    write_verify(plan, out);
}

static int print_json_plan(Cli *cli, const Plan *plan)
{
    CLEANUP(json_freep)
    json_t *json =
        json_pack("{s:s,s:s?,s:s?,s:s?,s:O,s:O}", "path", plan->path, "language",
                  plan->test.language, "target", plan->target, "verify", plan->test.command,
                  "agents", plan->agents, "warnings", plan->warnings);
    return cli_print_json(cli, json);
}

static int print_plan(Cli *cli, const Plan *plan)
{
    size_t index;
    const json_t *name;
    str_add(&cli->out, "Wrote ");
    str_add_line(&cli->out, plan->path);
    str_addf(&cli->out, "\n  language  %s", plan->test.language ? plan->test.language : "unknown");
    if (plan->test.file)
        str_addf(&cli->out, " (%s)", plan->test.file);
    str_add(&cli->out, "\n  target    ");
    str_add_line(&cli->out, plan->target ? plan->target : "none");
    str_addf(&cli->out, "\n  verify    %s\n  agent     ",
             plan->test.command ? plan->test.command : "nothing");
    str_add_line(&cli->out, plan->agent_command ? plan->agent_command : "");
    json_array_foreach(plan->agents, index, name)
    {
        str_addf(&cli->out, "%s%s", index || plan->agent_command ? ", " : "",
                 json_string_value(name));
    }

    if (!plan->agent_command && !json_array_size(plan->agents))
        str_add(&cli->out, "none");
    str_add(&cli->out,
            "\nThese are guesses: look at the file, then 'otto add \"…\"' and 'otto run'.\n");
    cli_flush(cli);
    cli_warn(cli, plan->warnings);
    return EXIT_DONE;
}

static bool write_file(const Plan *plan, bool is_forced, Err *err)
{
    CLEANUP(str_done) Str text = STR_INIT;
    if (path_exists(plan->path) && !is_forced)
        return err_set(err, ERR_CONFLICT,
                       "'%s' is there already and was left as it is; --force "
                       "writes over it",
                       plan->path);
    write_settings(plan, &text);
    return file_write_atomic(plan->path, text.bytes, text.length, 0644, err);
}

int command_init(Cli *cli, const Args *args, Err *err)
{
    Plan plan = {.agent_command = args_text(args, "agent-command", NULL),
                 .agents = json_array(),
                 .warnings = json_array()};
    int code = EXIT_ERR;
    if (look_at_repository(&plan, err)) {
        look_around(&plan);
        if (write_file(&plan, args_has(args, "force"), err))
            code = args_has(args, "json") ? print_json_plan(cli, &plan) : print_plan(cli, &plan);
    }
    json_decref(plan.repository);
    json_decref(plan.agents);
    json_decref(plan.warnings);
    return code;
}
