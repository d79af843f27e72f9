/* inbox, approve, redo, reject, review: what needs a person, and what the person says. */
#include "base/arena.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "core/field.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* -- inbox ----------------------------------------------------------------------------------- */

typedef struct Group {
    const char *name, *heading;
} Group;

/* clang-format off */
static const Group groups[] = { /* in the order shown */
    {"question",   "questions"},
    {"approval",   "approvals"},
    {"check",      "checks for a person"},
    {"blocked",    "blocked"},
    {"escalation", "escalations"},
    {"project",    "the project"},
};
/* clang-format on */

static bool is_of(const json_t *item, const Group *group)
{
    return text_equal(json_text(item, "group", ""), group->name);
}

static void print_lines(Cli *cli, const json_t *lines)
{
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line)
    {
        str_add(&cli->out, "       ");
        str_add_line(&cli->out, json_string_value(line) ? json_string_value(line) : "");
        str_add_char(&cli->out, '\n');
    }
}

static void print_item(Cli *cli, const json_t *item)
{
    int64_t task = json_int(item, "task", 0), at_ms = json_int(item, "at_ms", 0);
    char ago[32];
    str_add(&cli->out, "  ");
    if (task) {
        str_addf(&cli->out, "#%" PRId64 " ", task);
        str_add_line(&cli->out, json_text(item, "title", ""));
        str_add(&cli->out, ": ");
    }
    const char *text = json_text(item, "text", "");
    const json_t *lines = json_object_get(item, "lines");
    str_add_first(&cli->out, text);
    if (at_ms > 0) {
        CLEANUP(str_done) Str age = STR_INIT;
        clock_span(MAX(clock_wall_ms() - at_ms, 0), ago);
        str_addf(&age, "  %s ago", ago);
        term_add(&cli->term, &cli->out, STYLE_DIM, str_text(&age));
    }
    str_add_char(&cli->out, '\n');
    size_t first = strcspn(text, "\n");
    print_lines(cli, lines);
    if (!json_array_size(lines) && text[first] && text[first + 1])
        str_add_block(&cli->out, text + first + 1, 7);
    str_add(&cli->out, "     ");
    cli_add_need(cli, &cli->out, item);
    str_add_char(&cli->out, '\n');
}

static int by_age(const void *a, const void *b)
{
    int64_t left = json_int(*(json_t *const *)a, "at_ms", 0);
    int64_t right = json_int(*(json_t *const *)b, "at_ms", 0);
    return left < right ? -1 : left > right;
}

/* Newest last: it stands nearest to the prompt. */
static void print_group(Cli *cli, const json_t *items, const Group *group)
{
    size_t i, count = 0;
    json_t *item, **sorted = mem_alloc((json_array_size(items) + 1) * sizeof *sorted);
    json_array_foreach(items, i, item)
    {
        if (is_of(item, group))
            sorted[count++] = item;
    }
    if (count) {
        qsort(sorted, count, sizeof *sorted, by_age);
        term_add(&cli->term, &cli->out, STYLE_WARN, group->heading);
        str_add_char(&cli->out, '\n');
    }
    for (i = 0; i < count; i++)
        print_item(cli, sorted[i]);
    free(sorted);
}

static bool get_inbox(Cli *cli, const Args *args, json_t **reply, Err *err)
{
    int64_t project = 0;
    if (args_has(args, "all") ? !cli_caller(cli, err) : !cli_project(cli, false, &project, err))
        return false;
    return call_get(cli->caller, reply, err, "/api/v1/inbox?project=%" PRId64, project);
}

int command_inbox(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    if (!get_inbox(cli, args, &reply, err))
        return EXIT_ERR;
    const json_t *items = json_object_get(reply, "items");
    if (args_has(args, "json"))
        return cli_print_json(cli, reply);
    for (size_t i = 0; i < COUNT(groups); i++)
        print_group(cli, items, &groups[i]);
    if (!json_array_size(items))
        str_add(&cli->out, "Nothing needs you.\n");
    return cli_wrap(cli);
}

/* -- one decision ---------------------------------------------------------------------------- */

static bool post_review(Cli *cli, int64_t id, const json_t *body, json_t **reply, Err *err)
{
    return call_post(cli->caller, body, reply, err, "/api/v1/tasks/%" PRId64 "/review", id);
}

typedef struct Said {
    const char *decision, *sentence;
} Said;

static const Said said[] = {
    {"approve", "is approved"},
    {"redo", "is done again, with what you said"},
    {"reject", "is rejected; its work is kept"},
};

static void say_decision(Cli *cli, int64_t id, const json_t *body)
{
    for (size_t i = 0; i < COUNT(said); i++)
        if (text_equal(said[i].decision, json_text(body, "decision", "")))
            str_addf(&cli->out, "#%" PRId64 " %s\n", id, said[i].sentence);
}

static void hint_offline(Cli *cli)
{
    if (!caller_is_live(cli->caller))
        str_addf(&cli->out, "No engine runs; '%s run' goes on from here.\n", cli->otto);
}

/* All are tried, the first refusal is the answer. */
static int each_review(Cli *cli, const Args *args, const json_t *body, Err *err)
{
    int code = EXIT_DONE;
    if (!cli_caller(cli, err))
        return EXIT_ERR;
    for (size_t i = 0; i < args->word_count; i++) {
        int64_t id;
        Err problem = {0};
        if (cli_task_id(args->words[i], &id, &problem) &&
            post_review(cli, id, body, NULL, &problem)) {
            say_decision(cli, id, body);
            continue;
        }
        if (code != EXIT_DONE)
            cli_error(err->text); /* the earlier one; the last is printed at the end */
        *err = problem;
        code = EXIT_ERR;
    }
    if (code == EXIT_DONE && !text_equal(json_text(body, "decision", ""), "reject"))
        hint_offline(cli);
    return code;
}

static json_t *new_review(const char *decision)
{
    return json_pack("{s:s}", "decision", decision);
}

static bool put_note(const Args *args, json_t *body, Err *err)
{
    return !args_has(args, "note") || cli_put_text(body, "note", args_text(args, "note", ""), err);
}

int command_approve(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = new_review("approve");
    return put_note(args, body, err) ? each_review(cli, args, body, err) : EXIT_ERR;
}

int command_reject(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = new_review("reject");
    const char *note = args_text(args, "note", "");
    if (!note[strspn(note, " \t\n")])
        return cli_fail(err, ERR_USAGE, "a rejection says why: otto reject ID --note TEXT");
    return put_note(args, body, err) ? each_review(cli, args, body, err) : EXIT_ERR;
}

static bool put_how(const Args *args, json_t *body, Err *err)
{
    bool is_fresh = args_has(args, "fresh"), is_turn = args_has(args, "checkpoint");
    if (is_fresh + is_turn + args_has(args, "keep") > 1)
        return err_set(err, ERR_USAGE, "give one of --keep, --fresh and --checkpoint");
    const char *how = is_fresh ? "fresh" : is_turn ? "checkpoint" : "keep";
    if (is_turn) /* setting fails only without memory */
        (void)json_object_set_new(body, "turn", json_integer(args_int(args, "checkpoint", 0)));
    return cli_put_text(body, "how", how, err);
}

static bool put_issues(const Args *args, json_t *body, Err *err)
{
    const char *word;
    json_t *issues = json_array();
    (void)json_object_set_new(body, "issues", issues); /* fails only without memory */
    for (size_t i = 0; (word = args_item(args, "issue", i)); i++) {
        json_t *text = json_string(word);
        if (!text)
            return err_set(err, ERR_USAGE, "--issue is not valid UTF-8 text");
        (void)json_array_append_new(issues, text); /* fails only without memory */
    }
    return true;
}

static bool put_hint(const Args *args, json_t *body, Err *err)
{
    static const char *const words[] = {"normal", "next", "later"};
    const char *hint = args_text(args, "hint", NULL);
    if (!hint)
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (text_equal(words[i], hint))
            return cli_put_text(body, "hint", hint, err);
    const char *near = text_nearest(hint, words, COUNT(words));
    return err_set(err, ERR_USAGE, "--hint is normal, next or later, not '%.40s'%s%s%s", hint,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int command_redo(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *body = new_review("redo");
    bool is_put = put_note(args, body, err) && put_how(args, body, err) &&
                  put_issues(args, body, err) && put_hint(args, body, err);
    return is_put ? each_review(cli, args, body, err) : EXIT_ERR;
}

/* -- review: one after another (D-258) ------------------------------------------------------- */

typedef struct Batch {
    Cli *cli;
    size_t approved, sent_back, rejected, left;
    bool is_over;
} Batch;

/* Asks on standard error, so that standard output can be kept. The state folder is free while a
 * person thinks. */
static void put_question(Cli *cli, const char *question)
{
    cli_flush(cli);
    cli_caller_close(cli);
    (void)fprintf(stderr, "%s ", question); /* a question that is not seen is not answered */
    (void)fflush(stderr);                   /* the same */
}

/* false: no more input. */
static bool ask(Cli *cli, const char *question, char *answer, size_t size)
{
    put_question(cli, question);
    if (!fgets(answer, (int)size, stdin)) {
        (void)fputc('\n', stderr); /* ends the line of the question */
        return false;
    }
    size_t length = strcspn(answer, "\n");
    if (answer[length] == '\0' && !feof(stdin)) /* the rest of a line that was too long */
        for (int c = getchar(); c != '\n' && c != EOF;)
            c = getchar();
    answer[length] = '\0';
    return true;
}

/* One key without Enter. Ctrl-C and Ctrl-D come as keys, too, so that the terminal is always set
 * back; both end the review. */
static bool read_key(char *key)
{
    struct termios before, raw;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0)
        return false;
    ssize_t got;
    do
        got = read(STDIN_FILENO, key, 1);
    while (got < 0 && errno == EINTR);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &before); /* it was just set */
    return got == 1 && *key != 3 && *key != 4;
}

/* A key of a terminal, else the first character of a line; in lower case. false: no more. */
static bool ask_key(Cli *cli, const char *question, char *key)
{
    char answer[16] = "";
    bool is_read;
    if (isatty(STDIN_FILENO)) {
        put_question(cli, question);
        is_read = read_key(&answer[0]);
        (void)fprintf(stderr, "%c\n",
                      is_read && isgraph((unsigned char)answer[0]) ? answer[0] : ' ');
    } else {
        is_read = ask(cli, question, answer, sizeof answer);
    }
    *key = (char)tolower((unsigned char)answer[0]);
    return is_read;
}

static bool decide(Batch *batch, int64_t id, json_t *body, size_t *counter)
{
    Err problem = {0};
    bool is_done =
        cli_caller(batch->cli, &problem) && post_review(batch->cli, id, body, NULL, &problem);
    if (is_done) {
        say_decision(batch->cli, id, body);
        (*counter)++;
    } else {
        cli_flush(batch->cli);
        cli_error(problem.text);
    }
    json_decref(body);
    return is_done;
}

static bool redo_asked(Batch *batch, int64_t id)
{
    char note[4096], how;
    Err problem = {0};
    json_t *body = new_review("redo");
    if (!ask(batch->cli, "What should change?", note, sizeof note) ||
        !ask_key(batch->cli, "[K]eep its work or start [F]resh?", &how)) {
        json_decref(body);
        return false;
    }
    const char *word = how == 'f' ? "fresh" : "keep";
    (void)json_object_set_new(body, "how", json_string(word)); /* fails only without memory */
    if (*note && !cli_put_text(body, "note", note, &problem)) {
        cli_error(problem.text);
        json_decref(body);
        return false;
    }
    return decide(batch, id, body, &batch->sent_back);
}

static bool reject_asked(Batch *batch, int64_t id)
{
    char note[4096];
    Err problem = {0};
    json_t *body = new_review("reject");
    if (!ask(batch->cli, "Why?", note, sizeof note) ||
        !cli_put_text(body, "note", note, &problem)) {
        json_decref(body);
        return false;
    }
    return decide(batch, id, body, &batch->rejected);
}

static void show_item_diff(Batch *batch, int64_t id)
{
    Err problem = {0};
    if (!cli_caller(batch->cli, &problem) ||
        diff_show(batch->cli, id, false, 0, &problem) == EXIT_ERR)
        cli_error(problem.text);
    cli_flush(batch->cli);
}

/* The checks that the decision covers: their questions belong to it. */
static void print_checks(Cli *cli, const json_t *items, const json_t *shown)
{
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        if (item == shown || json_int(item, "task", 0) != json_int(shown, "task", 0) ||
            !text_equal(json_text(item, "group", ""), "check"))
            continue;
        str_add(&cli->out, "       ");
        str_add_line(&cli->out, json_text(item, "text", ""));
        str_add_char(&cli->out, '\n');
    }
}

static void review_one(Batch *batch, const json_t *items, const json_t *item)
{
    int64_t id = json_int(item, "task", 0);
    char key;
    print_item(batch->cli, item);
    print_checks(batch->cli, items, item);
    (void)cli_wrap(batch->cli); /* cannot fail */
    for (;;) {
        if (!ask_key(batch->cli, "[A]pprove [R]edo [X] reject [D]iff [N]ext [Q]uit?", &key)) {
            batch->is_over = true;
            batch->left++;
            return;
        }
        switch (key) {
        case 'a':
            if (decide(batch, id, new_review("approve"), &batch->approved))
                return;
            break;
        case 'r':
            if (redo_asked(batch, id))
                return;
            break;
        case 'x':
            if (reject_asked(batch, id))
                return;
            break;
        case 'd':
            show_item_diff(batch, id);
            break;
        case 'q':
            batch->is_over = true;
            batch->left++;
            return;
        case 'n':
            batch->left++;
            return;
        default:
            break; /* asked again */
        }
    }
}

/* A guard that fired wants eyes on its lines: it is approved by name, or with --guarded. */
static void approve_one(Batch *batch, const json_t *item, bool with_guarded)
{
    int64_t id = json_int(item, "task", 0);
    if (json_array_size(json_object_get(item, "lines")) && !with_guarded) {
        str_addf(&batch->cli->out,
                 "#%" PRId64 " is left: a guard fired; look at it, then '%s approve %" PRId64 "'\n",
                 id, batch->cli->otto, id);
        print_lines(batch->cli, json_object_get(item, "lines"));
        batch->left++;
    } else if (!decide(batch, id, new_review("approve"), &batch->approved)) {
        batch->left++;
    }
}

static bool is_pending(const json_t *item)
{
    const char *group = json_text(item, "group", "");
    return json_int(item, "task", 0) && !text_equal(json_text(item, "kind", ""), "confirm") &&
           (text_equal(group, "approval") || text_equal(group, "check"));
}

/* Several checks of one task are one decision. */
static bool was_seen(const json_t *items, size_t before, int64_t task)
{
    for (size_t i = 0; i < before; i++) {
        const json_t *item = json_array_get(items, i);
        if (is_pending(item) && json_int(item, "task", 0) == task)
            return true;
    }
    return false;
}

/* The list is taken once: what comes meanwhile waits for the next review. */
int command_review(Cli *cli, const Args *args, Err *err)
{
    CLEANUP(json_freep) json_t *reply = NULL;
    Batch batch = {.cli = cli};
    size_t i;
    const json_t *item;
    if (!get_inbox(cli, args, &reply, err))
        return EXIT_ERR;
    const json_t *items = json_object_get(reply, "items");
    json_array_foreach(items, i, item)
    {
        if (!is_pending(item) || was_seen(items, i, json_int(item, "task", 0)))
            continue;
        if (batch.is_over)
            batch.left++;
        else if (args_has(args, "approve-all"))
            approve_one(&batch, item, args_has(args, "guarded"));
        else
            review_one(&batch, items, item);
    }
    str_addf(&cli->out, "%zu approved, %zu sent back, %zu rejected, %zu left\n", batch.approved,
             batch.sent_back, batch.rejected, batch.left);
    if (batch.approved + batch.sent_back + batch.rejected && cli_caller(cli, err))
        hint_offline(cli);
    return batch.left ? EXIT_PARTLY : EXIT_DONE;
}
