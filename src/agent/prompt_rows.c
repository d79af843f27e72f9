/* Prompts: every prompt and every blank, and the page that is made of them. See prompt.h. */
#include "agent/prompt.h"
#include "base/macros.h"

/* clang-format off */
static const PromptRow prompts[] = {
  /* name                 part   help */
  {"work",                 false, "loop: the first turn of a task"},
  {"continue",             false, "loop: the turn before ended without a report"},
  {"verify-failed",        false, "loop: a check failed on a clean checkout"},
  {"merged-verify-failed", false, "loop: a check failed on the merged tree"},
  {"review-failed",        false, "as loop, in a workflow with a reviewer: the work was sent back"},
  {"recovery",             false, "loop: the task goes on after an interruption or a retry"},
  {"answer",               false, "loop: a person has answered a question"},
  {"conflict",             false, "the work conflicts with what landed meanwhile"},
  {"objective",            false, "target: what is to be reached, as items and requirements (R#)"},
  {"sub-stage",            false, "target: what the next stage is to do"},
  {"plan",                 false, "the first plan of a task or stage"},
  {"replan",               false, "a new plan after a check, a person or a rollback said so"},
  {"exec",                 false, "the planned work"},
  {"exec-fix",             false, "the work after a check said NEEDS_FIX"},
  {"check-post-plan",      false, "a reviewer judges the plan"},
  {"check-mid-exec",       false, "a reviewer judges the work half-way"},
  {"check-post-exec",      false, "a reviewer judges the finished work"},
  {"research",             false, "what the next step needs to know is looked up"},
  {"annotate",             false, "a person's notes are worked into the plan"},
  {"highlight",            false, "what was learnt is written down"},
  {"answer-invalid",       false, "the structured answer could not be read; into the same conversation"},
  {"compaction",           false, "message: the conversation is about to be shortened"},
  {"loop-break",           false, "message: the agent says the same again and again"},
  {"continuation",         false, "message: a step is complete and nothing follows"},
  {"step-timeout",         false, "message: a step shows no progress"},
  {"auto-a",               false, "start of a self-driving session that reports by .auto-signal"},
  {"auto-b",               false, "start of a self-driving session that reports by .status.json"},
  {"task",                 true,  "the task's text and the checks it must pass"},
  {"rules",                true,  "what holds for all work"},
  {"report",               true,  "how to report by signals"},
  {"result",               true,  "how to give the structured answer, and its shape"},
  {"rubric",               true,  "the six dimensions, their anchors, and how to score"},
  {"guard-prefix",         true,  "what unattended work may not do"},
  {"verify-help",          true,  "what the engine will run afterwards"},
  {"recovery-header",      true,  "where the task stands, for one who remembers nothing"},
  {"requirements",         true,  "the R# with weight and coverage"},
  {"stage-goal",           true,  "what this stage is to do"},
  {"feedback",             true,  "what a person said in a review"},
  {"refinements",          true,  "what a person added while the task ran"},
  {"answered",             true,  "the answer to a question of the agent"},
  {"note",                 true,  "a person's note with a retry"},
  {"trouble",              true,  "a check or merge that failed, where the phase goes on by itself"},
  {"answer-error",         true,  "the structured answer could not be read; for a new conversation"},
  {"experiences",          true,  "what earlier tasks of the same type learnt"},
  {"discoveries",          true,  "what was found out in this repository"},
};

/* Sorted by what gives way first; within one kind from top to bottom. What is never cut is last. */
static const PromptBlank blanks[] = {
  /* name               cut                   end    help */
  {"diff",              PROMPT_CUT_DIFF,       false, "the change of this task"},
  {"verify_output",     PROMPT_CUT_VERIFY,     true,  "output of the checks; what did not pass comes last"},
  {"output",            PROMPT_CUT_VERIFY,     true,  "last lines of the command that failed"},
  {"trouble",           PROMPT_CUT_VERIFY,     true,  "a check or merge that failed just now"},
  {"verify_results",    PROMPT_CUT_VERIFY,     false, "every command the engine ran, its colour and exit code"},
  {"theirs",            PROMPT_CUT_HISTORY,    false, "commits that landed meanwhile"},
  {"attempts",          PROMPT_CUT_HISTORY,    true,  "turns before this one"},
  {"last_turn",         PROMPT_CUT_HISTORY,    true,  "the last turn, or a person's note"},
  {"uncommitted",       PROMPT_CUT_HISTORY,    false, "changes that are not committed"},
  {"history",           PROMPT_CUT_HISTORY,    true,  "steps of the task and how each ended"},
  {"notes",             PROMPT_CUT_HISTORY,    true,  "notes, decisions and issues of the work"},
  {"given",             PROMPT_CUT_HISTORY,    false, "the answer that could not be read"},
  {"discoveries",       PROMPT_CUT_HISTORY,    true,  "what was found out in this repository"},
  {"summary",           PROMPT_CUT_HISTORY,    false, "summary of the task"},
  {"stages",            PROMPT_CUT_HISTORY,    true,  "stages so far, with their outcome and convergence"},
  {"experiences",       PROMPT_CUT_EXPERIENCE, false, "what earlier tasks of the type learnt, newest first"},
  {"plan_checks",       PROMPT_CUT_PLAN,       false, "checks of the plan and their colour"},
  {"plan",              PROMPT_CUT_PLAN,       false, "the newest plan"},
  {"task_id",           PROMPT_KEEP, false, "number of the task"},
  {"title",             PROMPT_KEEP, false, "its title"},
  {"body",              PROMPT_KEEP, false, "its text"},
  {"type",              PROMPT_KEEP, false, "its type"},
  {"checks",            PROMPT_KEEP, false, "commands that must succeed"},
  {"tag",               PROMPT_KEEP, false, "name of the signal element of this run"},
  {"answer_schema",     PROMPT_KEEP, false, "shape of the structured answer"},
  {"workflow",          PROMPT_KEEP, false, "its workflow"},
  {"status",            PROMPT_KEEP, false, "its status in the workflow"},
  {"phase",             PROMPT_KEEP, false, "the phase now"},
  {"checkpoint",        PROMPT_KEEP, false, "the checkpoint now"},
  {"stage",             PROMPT_KEEP, false, "number of the stage"},
  {"turn",              PROMPT_KEEP, false, "turn of this run"},
  {"max_turns",         PROMPT_KEEP, false, "most turns"},
  {"attempt",           PROMPT_KEEP, false, "which attempt at the task this is"},
  {"max_steps",         PROMPT_KEEP, false, "most steps of a stage"},
  {"minutes",           PROMPT_KEEP, false, "minutes that are meant: the limit, or how long a step took"},
  {"objective",         PROMPT_KEEP, false, "objective items and constraints"},
  {"requirements",      PROMPT_KEEP, false, "the R# with criterion, weight and coverage"},
  {"open_requirements", PROMPT_KEEP, false, "those whose coverage is below 1"},
  {"uncovered",         PROMPT_KEEP, false, "R# that no step of the plan covers"},
  {"stage_goal",        PROMPT_KEEP, false, "what this stage is to do"},
  {"failed_directions", PROMPT_KEEP, false, "directions that were tried and taken back"},
  {"convergence",       PROMPT_KEEP, false, "weighted coverage after the last accepted stage"},
  {"diffstat",          PROMPT_KEEP, false, "files, lines and folders of the change"},
  {"audit_rounds",      PROMPT_KEEP, false, "how often a reviewer goes over the work"},
  {"mid_interval",      PROMPT_KEEP, false, "steps after which the work stops for a check in between"},
  {"verdict",           PROMPT_KEEP, false, "result of the last check"},
  {"why",               PROMPT_KEEP, false, "its reason, one sentence"},
  {"findings",          PROMPT_KEEP, false, "what the last check found (at most 32 KB)"},
  {"feedback",          PROMPT_KEEP, false, "what a person said in a review"},
  {"refinements",       PROMPT_KEEP, false, "what a person added while the task ran"},
  {"answered",          PROMPT_KEEP, false, "question of the agent and answer of a person"},
  {"note",              PROMPT_KEEP, false, "a person's note with a retry"},
  {"recovery_header",   PROMPT_KEEP, false, "where the task stands"},
  {"error",             PROMPT_KEEP, false, "why the answer could not be read"},
  {"answer_error",      PROMPT_KEEP, false, "why, and the answer as far as it is kept"},
  {"target",            PROMPT_KEEP, false, "branch that the work lands on"},
  {"target_ref",        PROMPT_KEEP, false, "what to merge"},
  {"files",             PROMPT_KEEP, false, "files in conflict"},
  {"try",               PROMPT_KEEP, false, "try to resolve it"},
  {"max_tries",         PROMPT_KEEP, false, "most tries"},
  {"command",           PROMPT_KEEP, false, "the command that failed"},
  {"result",            PROMPT_KEEP, false, "how it ended"},
  {"question",          PROMPT_KEEP, false, "question of the agent"},
  {"answer",            PROMPT_KEEP, false, "answer of a person"},
  {"task_dir",          PROMPT_KEEP, false, "folder of a self-driving session's files"},
};
/* clang-format on */

static const char *const trims[PROMPT_TRIM_COUNT] = {
#define X(trim, word, help) [trim] = word,
    PROMPT_TRIMS(X)
#undef X
};

static const char *const trim_helps[PROMPT_TRIM_COUNT] = {
#define X(trim, word, help) [trim] = help,
    PROMPT_TRIMS(X)
#undef X
};

const PromptRow *prompt_rows(size_t *count)
{
    *count = COUNT(prompts);
    return prompts;
}

const PromptBlank *prompt_blanks(size_t *count)
{
    *count = COUNT(blanks);
    return blanks;
}

const PromptBlank *prompt_blank_find(const char *name)
{
    for (size_t i = 0; i < COUNT(blanks); i++)
        if (text_equal(blanks[i].name, name))
            return &blanks[i];
    return NULL;
}

const char *prompt_trim_word(PromptTrim trim)
{
    return trims[trim];
}

static const char page_head[] =
    "<!-- Generated from src/agent/prompt_rows.c: `ninja docs-prompts` writes it again. -->\n"
    "# Prompts\n\n"
    "What an agent is told stands in files with named blanks, one per phase and message:\n"
    "`prompts/NAME.md` of the program, or the project's own `" PROMPT_FOLDER "/NAME.md`. A prompt\n"
    "asks for work and for an answer; what follows from the answer is decided by the workflow's\n"
    "tables. `otto prompt show PHASE TASK` prints exactly what would be sent.\n\n"
    "## Blanks\n\n"
    "| in a template | becomes |\n|---|---|\n"
    "| `{{name}}` | the value on one line |\n"
    "| `{{data name}}` | the value between fences that it cannot close |\n"
    "| `{{include name}}` | another prompt, once deep |\n"
    "| `{{optional name}}` | the same, only when the value of that name (with `_` for `-`) is not "
    "empty |\n\n"
    "Values are never read for blanks, and the signal tag is broken wherever a value holds it: an\n"
    "agent that repeats its prompt reports nothing.\n\n";

static const char page_own[] =
    "## A project's own prompts\n\n"
    "A file `" PROMPT_FOLDER "/NAME.md` in the user's checkout takes the place of the program's\n"
    "prompt of that name, an include as well; a name of its own can be used by a workflow of the\n"
    "user. It may be 256 KB long and must be a file inside the repository, not a link that leads\n"
    "out of it. Every blank in it must be one of the list above: a mistake names the file, the\n"
    "line, the blank and the nearest known one, and the turn does not start. The hash stored with\n"
    "each step is that of the texts used, with everything they include.\n\n"
    "Start from the program's own text; keep `{{include result}}` or `{{include report}}`, or the\n"
    "agent does not know how to answer.\n\n";

static void add_trims(Str *out)
{
    str_addf(out,
             "## Size\n\n"
             "A prompt is at most %d KB long. What is longer is cut, in this order, until it "
             "fits;\neach cut says how much was left out:\n\n",
             PROMPT_LIMIT_BYTES >> 10);
    for (size_t i = PROMPT_KEEP + 1; i < PROMPT_TRIM_COUNT; i++) {
        str_addf(out, "%zu. %s:", i, trim_helps[i]);
        const char *between = " ";
        for (size_t j = 0; j < COUNT(blanks); j++) {
            if (blanks[j].trim != i)
                continue;
            str_addf(out, "%s`%s`", between, blanks[j].name);
            between = ", ";
        }
        str_add_char(out, '\n');
    }
    str_addf(out,
             "\nNever cut: the task's text, rules, the shape of the answer, the words of people. "
             "When they\nalone are longer, the prompt is longer, up to %d KB; beyond that the turn "
             "does not start.\n\n",
             PROMPT_MOST_BYTES >> 10);
}

void prompt_markdown(Str *out)
{
    str_add(out, page_head);
    str_add(out, "| blank | cut with | value |\n|---|---|---|\n");
    for (size_t i = 0; i < COUNT(blanks); i++)
        str_addf(out, "| `%s` | %s | %s |\n", blanks[i].name, trims[blanks[i].trim],
                 blanks[i].help);
    str_add_char(out, '\n');
    add_trims(out);
    str_add(out, page_own);
    str_add(out, "## Prompts\n\n| name | when |\n|---|---|\n");
    for (size_t i = 0; i < COUNT(prompts); i++)
        if (!prompts[i].is_include)
            str_addf(out, "| `%s` | %s |\n", prompts[i].name, prompts[i].help);
    str_add(out, "\n## Parts\n\n| name | what |\n|---|---|\n");
    for (size_t i = 0; i < COUNT(prompts); i++)
        if (prompts[i].is_include)
            str_addf(out, "| `%s` | %s |\n", prompts[i].name, prompts[i].help);
}
