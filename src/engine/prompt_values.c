/* The blanks of a prompt, one row each: where its value comes from. See prompt_values.h. */
#include "engine/prompt_values.h"
#include "core/answer.h"
#include "core/profile.h"
#include "engine/judging.h"
#include "engine/observe.h"
#include <assert.h>
#include <string.h>

enum { MOST_FINDINGS = 32 << 10, DEFAULT_ROUNDS = 3, STEP_MINUTES = 10 };

void prompt_facts_failed(PromptFacts *facts, const Err *err)
{
    if (facts->failure.kind == ERR_NONE)
        facts->failure = *err;
}

/* ---- loading ---- */

static json_t *data_of(const StoreRecord *record)
{
    const char *text = record->id && record->data ? record->data : "";
    return *text ? json_read(text, strlen(text), NULL) : NULL;
}

static void load_record(PromptFacts *facts, RecordKind kind, StoreRecord *record, json_t **data)
{
    Err err = {0};
    if (!store_record_last(facts->engine->store, facts->run->task, kind, NULL, &facts->arena,
                           record, &err))
        prompt_facts_failed(facts, &err);
    *data = data_of(record);
}

static void load_says(PromptFacts *facts)
{
    const char *says = facts->text->says ? facts->text->says : "";
    facts->says = *says ? json_read(says, strlen(says), NULL) : NULL;
    facts->says_kind = facts->says ? facts->text->says_kind : SAYS_NONE;
}

bool prompt_facts_load(PromptFacts *facts, Err *err)
{
    Err failed = {0};
    load_says(facts);
    if (facts->is_loop)
        return true;
    load_record(facts, RECORD_PLAN, &facts->plan, &facts->plan_data);
    load_record(facts, RECORD_CHECK, &facts->check, &facts->check_data);
    load_record(facts, RECORD_VERIFY, &facts->verify, &facts->verify_data);
    if (!store_objective_get(facts->engine->store, facts->run->task, &facts->arena,
                             &facts->objective, &failed))
        prompt_facts_failed(facts, &failed);
    if (facts->failure.kind != ERR_NONE)
        return err_set(err, facts->failure.kind, "the task's records: %s", facts->failure.text);
    return true;
}

void prompt_facts_done(PromptFacts *facts)
{
    json_decref(facts->says);
    json_decref(facts->plan_data);
    json_decref(facts->check_data);
    json_decref(facts->verify_data);
    arena_done(&facts->arena);
}

bool prompt_remembers(const PromptFacts *facts)
{
    const char *session = facts->text->session;
    return session && *session && !facts->phase->is_fresh && facts->phase->kind != PHASE_GATE;
}

/* ---- short values ---- */

static void says(const PromptFacts *facts, const char *key, const char *fallback, Str *out)
{
    str_add(out, json_text(facts->says, key, fallback));
}

#define FROM_SAYS(name, fallback)                                                                  \
    static void fill_##name(PromptFacts *facts, Str *out)                                          \
    {                                                                                              \
        says(facts, #name, fallback, out);                                                         \
    }
FROM_SAYS(files, "")
FROM_SAYS(theirs, "")
FROM_SAYS(result, "")
FROM_SAYS(command, "")
FROM_SAYS(output, "")
FROM_SAYS(question, "")
FROM_SAYS(answer, "")
FROM_SAYS(note, "")
FROM_SAYS(given, "")
#undef FROM_SAYS

static void fill_error(PromptFacts *facts, Str *out)
{
    says(facts, "invalid", "", out);
}

static void fill_answer_error(PromptFacts *facts, Str *out)
{
    const char *why = json_text(facts->says, "invalid", NULL);
    const char *given = json_text(facts->says, "given", "");
    if (why)
        str_addf(out, "%s\n%s%s\n", why, *given ? "This is what arrived:\n" : "", given);
}

static void fill_target_ref(PromptFacts *facts, Str *out)
{
    says(facts, "target_ref", facts->run->old_tip, out);
}

static void fill_last_turn(PromptFacts *facts, Str *out)
{
    says(facts, "note", "see the list above", out);
}

static void fill_answered(PromptFacts *facts, Str *out)
{
    const char *answer = json_text(facts->says, "answer", NULL);
    if (answer)
        str_addf(out, "Question: %s\nAnswer: %s\n", json_text(facts->says, "question", ""), answer);
}

static void fill_trouble(PromptFacts *facts, Str *out)
{
    const char *output = json_text(facts->says, "output", "");
    switch ((SaysKind)facts->says_kind) {
    case SAYS_VERIFY_FAILED:
    case SAYS_MERGED_FAILED:
        str_addf(out, "A check failed on %s (%s):\n%s\n%s%s\n",
                 facts->says_kind == SAYS_MERGED_FAILED ? "the tree merged with what has landed"
                                                        : "a clean checkout of the commit",
                 json_text(facts->says, "result", ""), json_text(facts->says, "command", ""),
                 *output ? "Its last lines:\n" : "", output);
        break;
    case SAYS_CONFLICT:
        str_addf(out, "The work and what has landed changed the same lines, in:\n%s\n%s\n",
                 json_text(facts->says, "files", ""), json_text(facts->says, "theirs", ""));
        break;
    case SAYS_NONE:
    case SAYS_ANSWER:
    case SAYS_NOTE:
    case SAYS_INVALID:
        break;
    }
}

static void fill_uncommitted(PromptFacts *facts, Str *out)
{
    (void)facts;
    str_add(out, "as git status shows");
}

static void fill_task_id(PromptFacts *facts, Str *out)
{
    str_add_int(out, facts->run->task);
}

static void fill_title(PromptFacts *facts, Str *out)
{
    str_add(out, facts->words->title);
}

static void fill_body(PromptFacts *facts, Str *out)
{
    str_add(out, *facts->words->body ? facts->words->body : facts->words->title);
}

static void fill_type(PromptFacts *facts, Str *out)
{
    const char *type = facts->words->type;
    str_add(out, type && *type ? type : "software");
}

static void fill_tag(PromptFacts *facts, Str *out)
{
    str_add(out, facts->tag);
}

static void fill_target(PromptFacts *facts, Str *out)
{
    str_add(out, facts->project->target ? facts->project->target : "");
}

static void fill_turn(PromptFacts *facts, Str *out)
{
    str_add_int(out, (int64_t)facts->run->turn - facts->run->cut_turns);
}

static void fill_max_turns(PromptFacts *facts, Str *out)
{
    const Project *project = machine_project(facts->engine->machine, facts->run->project);
    str_add_int(out, facts->task->max_turns ? facts->task->max_turns : project->limits.max_turns);
}

static void fill_attempt(PromptFacts *facts, Str *out)
{
    str_add_int(out, facts->task->attempts);
}

static void fill_try(PromptFacts *facts, Str *out)
{
    str_add_int(out, MAX(facts->run->conflict_tries, 1u));
}

static void fill_max_tries(PromptFacts *facts, Str *out)
{
    str_add_int(out, facts->project->settings.limits.max_conflict_tries);
}

static void fill_max_steps(PromptFacts *facts, Str *out)
{
    const Project *project = machine_project(facts->engine->machine, facts->run->project);
    str_add_int(out, project->limits.max_steps);
}

/* A step that shows no progress is spoken to after ten minutes (B-176). */
static void fill_minutes(PromptFacts *facts, Str *out)
{
    const Project *project = machine_project(facts->engine->machine, facts->run->project);
    int64_t limit_ms =
        facts->task->timeout_ms ? facts->task->timeout_ms : project->limits.timeout_ms;
    bool is_step = text_equal(facts->prompt, "step-timeout");
    str_add_int(out, is_step ? STEP_MINUTES : limit_ms / 60000);
}

static void fill_workflow(PromptFacts *facts, Str *out)
{
    str_add(out, facts->flow->name);
}

static void fill_status(PromptFacts *facts, Str *out)
{
    str_add(out, facts->flow->statuses[facts->run->status].name);
}

static void fill_phase(PromptFacts *facts, Str *out)
{
    str_add(out, facts->phase->name);
}

static void fill_checkpoint(PromptFacts *facts, Str *out)
{
    str_add(out, facts->checkpoint);
}

static void fill_stage(PromptFacts *facts, Str *out)
{
    str_add_int(out, MAX(facts->run->stage, 1));
}

static void fill_convergence(PromptFacts *facts, Str *out)
{
    if (facts->run->converged > 0)
        str_addf(out, "%.2f", facts->run->converged / (double)CONVERGENCE_ONE);
    else
        str_add(out, "none yet");
}

/* The shape that the phase asks for; a prompt whose phase names none has one of its own. */
static void fill_answer_schema(PromptFacts *facts, Str *out)
{
    static const struct {
        const char *prompt;
        AnswerKind kind;
    } usual[] = {{"plan", ANSWER_PLAN},           {"replan", ANSWER_PLAN},
                 {"annotate", ANSWER_PLAN},       {"objective", ANSWER_OBJECTIVE},
                 {"sub-stage", ANSWER_OBJECTIVE}, {"highlight", ANSWER_NOTES},
                 {"check", ANSWER_REVIEW},        {"", ANSWER_RESULT}};
    AnswerKind kind;
    const char *word = facts->phase->answer ? facts->phase->answer : "";
    if (!*word || !answer_kind_find(word, &kind)) {
        size_t i = 0;
        while (!text_starts(facts->prompt, usual[i].prompt))
            i++; /* the last one fits every name */
        kind = usual[i].kind;
    }
    answer_schema(kind, out);
}

/* B-25: a look from outside every few steps, as the type of the work has shown to be good. */
static void fill_mid_interval(PromptFacts *facts, Str *out)
{
    Profile profile;
    profile_of(facts->engine, facts->run, &facts->arena, &profile);
    str_addf(out, "%u", profile_mid_interval(&profile));
}

static void fill_audit_rounds(PromptFacts *facts, Str *out)
{
    const json_t *stat = json_object_get(facts->verify_data, "diffstat");
    str_add_int(out, json_int(stat, "rounds", DEFAULT_ROUNDS));
}

static void fill_diff(PromptFacts *facts, Str *out)
{
    str_add(out, json_text(facts->verify_data, "diff", ""));
}

static void fill_verdict(PromptFacts *facts, Str *out)
{
    str_add(out, facts->check.id ? facts->check.result : "none yet");
}

/* One sentence: the last check's when it sent the work back, else what else may have. */
static void fill_why(PromptFacts *facts, Str *out)
{
    static const char *const back[] = {"NEEDS_REVISION", "REPLAN", "NEEDS_FIX", "GUARDED"};
    const char *why = NULL;
    for (size_t i = 0; facts->check.id && i < COUNT(back); i++)
        if (text_equal(facts->check.result, back[i]))
            why = json_text(facts->check_data, "why", NULL);
    str_add(out, why && *why ? why : "what was there did not hold, or a person asked for it");
    if (!text_ends(str_text(out), "."))
        str_add_char(out, '.');
}

static void fill_summary(PromptFacts *facts, Str *out)
{
    StoreRecord record = {0};
    Err err = {0};
    if (!store_record_last(facts->engine->store, facts->run->task, RECORD_SUMMARY, NULL,
                           &facts->arena, &record, &err))
        prompt_facts_failed(facts, &err);
    if (record.id)
        str_add(out, record.text);
}

/* What was said to be at most so long is cut here, for the prompt itself never cuts it. */
static void fill_findings(PromptFacts *facts, Str *out)
{
    CLEANUP(str_done) Str whole = STR_INIT;
    prompt_fill_findings(facts, &whole);
    prompt_cut(str_text(&whole), MOST_FINDINGS, false, out);
}

static void fill_task_dir(PromptFacts *facts, Str *out)
{
    if (facts->phase->kind != PHASE_OBSERVE)
        return;
    char folder[PATH_MAX];
    const char *workspace = facts->text->workspace_path;
    ObservationSpec spec = {.key = facts->words->key, .title = facts->words->title};
    spec.act = (Act){.engine = facts->engine, .run = facts->run->id, .task = facts->run->task};
    spec.workspace = workspace && *workspace ? workspace : facts->project->path;
    spec.protocol = observe_protocol_of(facts->flow);
    observation_folder(&spec, folder);
    str_addf(out, "%s/%s", spec.workspace, folder);
}

/* ---- the table ---- */

typedef struct ValueRow {
    const char *name;
    PromptFiller *fill;
    bool in_loop; /* the workflow `loop` knows it too */
} ValueRow;

/* clang-format off */
static const ValueRow rows[] = {
  {"diff",              fill_diff, false},
  {"verify_output",     prompt_fill_verify_output, false},
  {"output",            fill_output, true},
  {"trouble",           fill_trouble, false},
  {"verify_results",    prompt_fill_verify_results, false},
  {"theirs",            fill_theirs, true},
  {"attempts",          prompt_fill_attempts, true},
  {"last_turn",         fill_last_turn, true},
  {"uncommitted",       fill_uncommitted, true},
  {"history",           prompt_fill_history, false},
  {"notes",             prompt_fill_notes, false},
  {"given",             fill_given, false},
  {"discoveries",       prompt_fill_discoveries, true},
  {"summary",           fill_summary, false},
  {"stages",            prompt_fill_stages, false},
  {"experiences",       prompt_fill_experiences, false},
  {"plan_checks",       prompt_fill_plan_checks, false},
  {"plan",              prompt_fill_plan, false},
  {"task_id",           fill_task_id, true},
  {"title",             fill_title, true},
  {"body",              fill_body, true},
  {"type",              fill_type, true},
  {"checks",            prompt_fill_checks, true},
  {"tag",               fill_tag, true},
  {"answer_schema",     fill_answer_schema, false},
  {"workflow",          fill_workflow, true},
  {"status",            fill_status, true},
  {"phase",             fill_phase, true},
  {"checkpoint",        fill_checkpoint, true},
  {"stage",             fill_stage, false},
  {"turn",              fill_turn, true},
  {"max_turns",         fill_max_turns, true},
  {"attempt",           fill_attempt, true},
  {"max_steps",         fill_max_steps, true},
  {"minutes",           fill_minutes, true},
  {"objective",         prompt_fill_objective, false},
  {"requirements",      prompt_fill_requirements, false},
  {"open_requirements", prompt_fill_open_requirements, false},
  {"uncovered",         prompt_fill_uncovered, false},
  {"stage_goal",        prompt_fill_stage_goal, false},
  {"failed_directions", prompt_fill_failed_directions, false},
  {"convergence",       fill_convergence, false},
  {"diffstat",          prompt_fill_diffstat, false},
  {"audit_rounds",      fill_audit_rounds, false},
  {"mid_interval",      fill_mid_interval, false},
  {"verdict",           fill_verdict, false},
  {"why",               fill_why, false},
  {"findings",          fill_findings, false},
  {"feedback",          prompt_fill_feedback, false},
  {"refinements",       prompt_fill_refinements, false},
  {"answered",          fill_answered, true},
  {"note",              fill_note, true},
  {"recovery_header",   prompt_fill_recovery_header, false},
  {"error",             fill_error, false},
  {"answer_error",      fill_answer_error, false},
  {"target",            fill_target, true},
  {"target_ref",        fill_target_ref, true},
  {"files",             fill_files, true},
  {"try",               fill_try, true},
  {"max_tries",         fill_max_tries, true},
  {"command",           fill_command, true},
  {"result",            fill_result, true},
  {"question",          fill_question, true},
  {"answer",            fill_answer, true},
  {"task_dir",          fill_task_dir, false},
};
/* clang-format on */

bool prompt_facts_fill(PromptFacts *facts, Err *err)
{
    static_assert(COUNT(rows) <= PROMPT_VALUE_COUNT, "more blanks than room for values");
    for (size_t i = 0; i < COUNT(rows); i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        if (!facts->is_loop || rows[i].in_loop)
            rows[i].fill(facts, &text);
        facts->values[facts->count++] = (PromptValue){
            rows[i].name, text.length ? arena_strdup(&facts->arena, str_text(&text)) : ""};
    }
    if (facts->failure.kind != ERR_NONE)
        return err_set(err, facts->failure.kind, "the task's records: %s", facts->failure.text);
    return true;
}
