/* What an agent is told: the prompt of a turn, from the templates and what happened before. */
#include "agent/prompt.h"
#include "engine/internal.h"
#include <stdlib.h>
#include <string.h>

typedef struct PromptRow {
    SaysKind says;
    const char *name;
} PromptRow;

static const PromptRow rows[] = {
    {SAYS_VERIFY_FAILED, "verify-failed"},
    {SAYS_MERGED_FAILED, "merged-verify-failed"},
    {SAYS_CONFLICT, "conflict"},
    {SAYS_ANSWER, "answer"},
    {SAYS_NOTE, "recovery"},
};

/* Without a message: the first turn, a turn after an interruption, or simply the next one. */
static const char *prompt_name(const Run *run, int says_kind)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if ((int)rows[i].says == says_kind)
            return rows[i].name;
    if (run->turn == 1 && run->from == 0)
        return "work";
    return run->epoch_turns == 1 ? "recovery" : "continue";
}

static bool add_attempt(void *user, const StoreTurn *turn)
{
    Str *out = user;
    static const char *const words[] = {
#define X(type, word, duty, control, help) word,
        SIGNAL_TYPES(X)
#undef X
    };
    bool is_known = turn->signal > 0 && turn->signal < SIGNAL_TYPE_COUNT;
    str_addf(out, "turn %u (epoch %u): ", turn->turn, turn->epoch);
    if (!turn->ended_ms)
        str_add(out, "was interrupted");
    else if (turn->killed_by)
        str_addf(out, "was ended by signal %d", turn->killed_by);
    else
        str_addf(out, "exit code %d%s%s", turn->exit_code, is_known ? ", said " : "",
                 is_known ? words[turn->signal] : "");
    if (turn->payload && *turn->payload)
        str_addf(out, " (%.200s)", turn->payload);
    str_add_char(out, '\n');
    return true;
}

static void list_attempts(Engine *engine, const Run *run, Str *out)
{
    Err ignored = {0};
    if (run->from)
        IGNORE(store_turn_list(engine->store, run->from, add_attempt, out, &ignored));
    IGNORE(store_turn_list(engine->store, run->id, add_attempt, out, &ignored));
    if (!out->length)
        str_add(out, "nothing is known");
}

static void list_checks(const VerifyCommand *commands, size_t count, Str *out)
{
    for (size_t i = 0; i < count; i++)
        str_addf(out, "%s%s\n", commands[i].command, commands[i].is_required ? "" : "  (optional)");
    if (!count)
        str_add(out, "(none are configured)");
}

typedef struct Texts {
    char turn[16], max_turns[16], task_id[16], attempt[16], tries[16], max_tries[16];
    Str checks, attempts;
} Texts;

static void texts_done(Texts *texts)
{
    str_done(&texts->checks);
    str_done(&texts->attempts);
}

static void fill_texts(Engine *engine, const Run *run, const ProjectInfo *project, Texts *t)
{
    const Task *task = machine_task(engine->machine, run->task);
    uint32_t most = task->max_turns
                        ? task->max_turns
                        : machine_project(engine->machine, run->project)->limits.max_turns;
    (void)snprintf(t->turn, sizeof t->turn, "%u", run->turn - run->cut_turns);     /* always fits */
    (void)snprintf(t->max_turns, sizeof t->max_turns, "%u", most);                 /* always fits */
    (void)snprintf(t->task_id, sizeof t->task_id, "%u", run->task);                /* always fits */
    (void)snprintf(t->attempt, sizeof t->attempt, "%u", task->attempts);           /* always fits */
    (void)snprintf(t->tries, sizeof t->tries, "%u", MAX(run->conflict_tries, 1u)); /* fits */
    (void)snprintf(t->max_tries, sizeof t->max_tries, "%lld",
                   (long long)project->settings.limits.max_conflict_tries); /* fits */
}

bool prompt_of_turn(Engine *engine, const Run *run, ProjectInfo *project,
                    const StoreTaskText *words, const StoreRunText *text, const char *tag, Str *out,
                    uint64_t *hash, Err *err)
{
    CLEANUP(texts_done) Texts t = {.checks = STR_INIT, .attempts = STR_INIT};
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *says_text = text->says ? text->says : "";
    CLEANUP(json_freep)
    json_t *says = *says_text ? json_read(says_text, strlen(says_text), NULL) : NULL;
    const char *name = prompt_name(run, says ? text->says_kind : SAYS_NONE);
    VerifyCommand *commands = NULL;
    size_t count = 0;
    task_commands(project, words, &arena, &commands, &count);
    fill_texts(engine, run, project, &t);
    list_checks(commands, count, &t.checks);
    if (text_equal(name, "recovery"))
        list_attempts(engine, run, &t.attempts);
    const char *note = json_text(says, "note", NULL);
    PromptValues values = PROMPT_VALUES(
        {"turn", t.turn}, {"max_turns", t.max_turns}, {"task_id", t.task_id},
        {"title", words->title}, {"body", *words->body ? words->body : words->title},
        {"checks", str_text(&t.checks)}, {"tag", tag}, {"attempt", t.attempt},
        {"attempts", str_text(&t.attempts)}, {"last_turn", note ? note : "see the list above"},
        {"uncommitted", "as git status shows"}, {"target", project->target},
        {"target_ref", json_text(says, "target_ref", run->old_tip)},
        {"files", json_text(says, "files", "")}, {"theirs", json_text(says, "theirs", "")},
        {"try", t.tries}, {"max_tries", t.max_tries}, {"result", json_text(says, "result", "")},
        {"command", json_text(says, "command", "")}, {"output", json_text(says, "output", "")},
        {"question", json_text(says, "question", "")}, {"answer", json_text(says, "answer", "")});
    *hash = prompt_hash(name);
    return prompt_render(name, values, out, err);
}
