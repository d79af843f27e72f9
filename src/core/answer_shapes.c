/* The shapes of structured answers: one row per field. */
#include "core/answer.h"

#define OPTIONAL true
#define REQUIRED false
#define LONG ANSWER_TEXT_MAX
#define LINE 500 /* characters of a title, a name, a line */

/* clang-format off */
static const AnswerField result_fields[] = {
  /* path              type      optional  min max words example help */
  { "result",          AS_WORD,  REQUIRED, 0, 0, "(done) (mid-exec) (step-N) (blocked)", "\"(done)\"", "how the work stands" },
  { "summary",         AS_TEXT,  REQUIRED, 1, LONG, NULL, "\"what was done\"", "for the person who reads the timeline" },
  { "completed_steps", AS_WHOLE, OPTIONAL, 0, ANSWER_STEPS_MAX, NULL, "3", "steps of the plan that are finished, counted from the first" },
  { "decisions",       AS_LIST,  OPTIONAL, 0, 50, NULL, NULL, "choices that later steps must know" },
  { "decisions[]",     AS_TEXT,  REQUIRED, 1, LONG, NULL, "\"kept the old parser, because …\"", "one choice with its reason" },
  { "issues",          AS_LIST,  OPTIONAL, 0, 50, NULL, NULL, "what went wrong or is still open" },
  { "issues[]",        AS_TEXT,  REQUIRED, 1, LONG, NULL, "\"the cache is not thread safe\"", "one issue" },
  { "notes",           AS_TEXT,  OPTIONAL, 0, LONG, NULL, "\"\"", "anything else" },
};

static const AnswerField plan_fields[] = {
  { "result",                  AS_WORD, OPTIONAL, 0, 0, "(generated)", "\"(generated)\"", "always the same" },
  { "summary",                 AS_TEXT, REQUIRED, 1, LONG, NULL, "\"the idea of the plan in a few sentences\"", "the approach and why" },
  { "type",                    AS_TEXT, OPTIONAL, 0, 128, NULL, "\"software\"", "kind of task; A|B for a mixture, the main one first" },
  { "steps",                   AS_LIST, REQUIRED, 1, ANSWER_STEPS_MAX, NULL, NULL, "in the order of the work" },
  { "steps[]",                 AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one step" },
  { "steps[].title",           AS_TEXT, REQUIRED, 1, LINE, NULL, "\"read the file\"", "what the step does" },
  { "steps[].detail",          AS_TEXT, OPTIONAL, 0, LONG, NULL, "\"how\"", "how it is done" },
  { "steps[].covers",          AS_LIST, OPTIONAL, 0, ANSWER_REQUIREMENTS_MAX, NULL, NULL, "requirements that it moves" },
  { "steps[].covers[]",        AS_R,    REQUIRED, 0, 0, NULL, "\"R1\"", "one R#" },
  { "steps[].files",           AS_LIST, OPTIONAL, 0, 50, NULL, NULL, "files it will touch" },
  { "steps[].files[]",         AS_TEXT, REQUIRED, 1, 200, NULL, "\"src/**\"", "a path or a pattern" },
  { "steps[].checks",          AS_LIST, OPTIONAL, 0, 20, NULL, NULL, "what proves the step: fails now, passes after it" },
  { "steps[].checks[]",        AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one check" },
  { "steps[].checks[].name",   AS_TEXT, OPTIONAL, 0, LINE, NULL, "\"reads an empty file\"", "shown in reports" },
  { "steps[].checks[].command", AS_TEXT, REQUIRED, 1, 4000, NULL, "\"npm test -- read\"", "shell command: exit 0 passes, 1 fails; or what is to be looked at" },
  { "steps[].checks[].mode",   AS_WORD, OPTIONAL, 0, 0, "executable inspectable human", "\"executable\"", "who judges: the exit code, the reviewer, a person" },
  { "criteria",                AS_LIST, OPTIONAL, 0, 100, NULL, NULL, "when the whole is done" },
  { "criteria[]",              AS_TEXT, REQUIRED, 1, LONG, NULL, "\"all tests pass\"", "one measurable condition" },
  { "scope",                   AS_LIST, OPTIONAL, 0, 100, NULL, NULL, "what may be changed at all" },
  { "scope[]",                 AS_TEXT, REQUIRED, 1, 200, NULL, "\"src/**\"", "a path or a pattern" },
  { "risks",                   AS_LIST, OPTIONAL, 0, 50, NULL, NULL, "what could go wrong" },
  { "risks[]",                 AS_TEXT, REQUIRED, 1, LONG, NULL, "\"…\"", "one risk and what is done about it" },
};

static const AnswerField review_fields[] = {
  { "scores",               AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "each dimension on its own, against its anchor" },
  { "scores.d1",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.8", "correctness" },
  { "scores.d2",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.9", "security" },
  { "scores.d3",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.7", "reliability" },
  { "scores.d4",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.8", "performance" },
  { "scores.d5",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.8", "architecture" },
  { "scores.d6",            AS_NUMBER, REQUIRED, 0, 1, NULL, "0.9", "maintainability" },
  { "verdict",              AS_WORD,   OPTIONAL, 0, 0, "PASS NEEDS_REVISION CONTINUE NEEDS_FIX REPLAN BLOCKED ACCEPT ROLLBACK", "\"NEEDS_FIX\"", "your opinion" },
  { "findings",             AS_LIST,   OPTIONAL, 0, ANSWER_FINDINGS_MAX, NULL, NULL, "what is wrong, the worst first" },
  { "findings[]",           AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one finding" },
  { "findings[].severity",  AS_WORD,   REQUIRED, 0, 0, "HIGH MEDIUM LOW", "\"HIGH\"", "HIGH: must not go on like this" },
  { "findings[].dimension", AS_WORD,   OPTIONAL, 0, 0, "d1 d2 d3 d4 d5 d6", "\"d1\"", "which score it lowers" },
  { "findings[].file",      AS_TEXT,   OPTIONAL, 0, LINE, NULL, "\"src/read.c\"", "where" },
  { "findings[].line",      AS_WHOLE,  OPTIONAL, 0, 10000000, NULL, "42", "where" },
  { "findings[].text",      AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"an empty file is refused\"", "what is wrong and what would be right" },
  { "coverage",             AS_LIST,   OPTIONAL, 0, ANSWER_REQUIREMENTS_MAX, NULL, NULL, "each R# that was listed" },
  { "coverage[]",           AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one R#" },
  { "coverage[].id",        AS_R,      REQUIRED, 0, 0, NULL, "\"R1\"", "its number" },
  { "coverage[].coverage",  AS_NUMBER, REQUIRED, 0, 1, NULL, "0.75", "1 done and verified, 0.75 mostly, 0.5 partly, 0.25 begun, 0 nothing" },
  { "coverage[].reason",    AS_TEXT,   OPTIONAL, 0, LONG, NULL, "\"why\"", "needed when it changed by more than 0.25" },
  { "answers",              AS_WORDS_BY_NAME, OPTIONAL, 0, 100, "approve reject", "{\"name of the check\": \"approve\"}", "checks that only a reader can judge" },
  { "summary",              AS_TEXT,   OPTIONAL, 0, LONG, NULL, "\"\"", "the review in a few sentences" },
};

static const AnswerField objective_fields[] = {
  { "items",                           AS_LIST,   OPTIONAL, 0, 100, NULL, NULL, "what is wanted: one goal each, with one verb" },
  { "items[]",                         AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one goal" },
  { "items[].text",                    AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"read CSV files\"", "in one line" },
  { "items[].marker",                  AS_WORD,   OPTIONAL, 0, 0, "confirmed processed pending", "\"pending\"", "pending: too vague to be split" },
  { "items[].requirements",            AS_LIST,   OPTIONAL, 0, ANSWER_REQUIREMENTS_MAX, NULL, NULL, "what the goal is split into; not for a pending one" },
  { "items[].requirements[]",          AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one requirement" },
  { "items[].requirements[].text",     AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"an empty file gives no rows\"", "one behaviour that can be verified" },
  { "items[].requirements[].criteria", AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"an empty input returns []\"", "how to see that it holds" },
  { "items[].requirements[].weight",   AS_WEIGHT, REQUIRED, 1, 3, "critical important optional", "3", "3 or critical, 2 or important, 1 or optional" },
  { "constraints",                     AS_LIST,   OPTIONAL, 0, 100, NULL, NULL, "limits that hold for everything; they are not split" },
  { "constraints[]",                   AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"no new dependency\"", "one limit" },
  { "stage",                           AS_OBJECT, OPTIONAL, 0, 0, NULL, NULL, "what the next stage is to reach" },
  { "stage.name",                      AS_TEXT,   REQUIRED, 1, LINE, NULL, "\"streaming\"", "short" },
  { "stage.objective",                 AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "small enough for one stage" },
  { "stage.moves",                     AS_LIST,   REQUIRED, 1, ANSWER_REQUIREMENTS_MAX, NULL, NULL, "requirements that it raises" },
  { "stage.moves[]",                   AS_R,      REQUIRED, 0, 0, NULL, "\"R1\"", "one R#" },
  { "stage.reason",                    AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "why this comes next" },
  { "stage.differs",                   AS_TEXT,   OPTIONAL, 0, LONG, NULL, "\"…\"", "how it differs from the directions that failed" },
  { "exhausted",                       AS_BOOL,   OPTIONAL, 0, 0, NULL, "false", "true: no direction is left" },
};

static const AnswerField notes_fields[] = {
  { "worked",             AS_LIST,   OPTIONAL, 0, 50, NULL, NULL, "what worked" },
  { "worked[]",           AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "one thing" },
  { "failed",             AS_LIST,   OPTIONAL, 0, 50, NULL, NULL, "what did not" },
  { "failed[]",           AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "one thing and its cause" },
  { "decisions",          AS_LIST,   OPTIONAL, 0, 50, NULL, NULL, "choices with their reasons" },
  { "decisions[]",        AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "one choice" },
  { "tools",              AS_LIST,   OPTIONAL, 0, 50, NULL, NULL, "commands and tools that helped" },
  { "tools[]",            AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "one tool" },
  { "experience",         AS_LIST,   OPTIONAL, 0, 50, NULL, NULL, "what a later task of this type should know" },
  { "experience[]",       AS_OBJECT, REQUIRED, 0, 0, NULL, NULL, "one lesson" },
  { "experience[].topic", AS_TEXT,   REQUIRED, 1, LINE, NULL, "\"flaky tests\"", "named by its topic, not by this task" },
  { "experience[].text",  AS_TEXT,   REQUIRED, 1, LONG, NULL, "\"…\"", "the lesson" },
};

#define FIELDS(rows) rows, COUNT(rows)
static const AnswerShape shapes[ANSWER_KIND_COUNT] = {
  [ANSWER_RESULT] = { "result", "how the work went", FIELDS(result_fields),
    "(done): every step is finished.\n"
    "(mid-exec): a significant problem came up, or a check in between is due.\n"
    "(step-N): step N was asked for alone and is finished.\n"
    "(blocked): it cannot go on; the summary says what is missing.\n" },
  [ANSWER_PLAN] = { "plan", "a plan: steps, what each covers, and the checks that will prove it", FIELDS(plan_fields),
    "Every R# that was listed must be covered by some step.\n"
    "A check must fail before the work and pass after it; a shell command ends with 0 or 1.\n"
    "A step is rated by its executable checks: in at least half of the rated steps all of them must\n"
    "have been red before the work and be green after it. One that is green already rates nothing.\n"
    "An inspectable check is judged by the reviewer, who must not reject it; a human one by a person.\n"
    "Commands must not delete, download and run, or touch anything outside the project.\n" },
  [ANSWER_REVIEW] = { "review", "scores of the six dimensions, findings, coverage of the R#", FIELDS(review_fields),
    "Score each dimension from 0 to 1 against what it is anchored on, not by impression.\n"
    "Do not add the scores up: the total, the threshold and the result are computed.\n"
    "When in doubt, score lower. Name file and line of each finding.\n" },
  [ANSWER_OBJECTIVE] = { "objective", "objective items with their R#, or the next stage's target", FIELDS(objective_fields),
    "One goal per item; split what joins two wishes; mark a vague one as pending.\n"
    "A requirement is one behaviour that can be verified and scored alone.\n"
    "Constraints are not split.\n"
    "Give items, or a stage, or both, or say that no direction is left.\n" },
  [ANSWER_NOTES] = { "notes", "what was learnt", FIELDS(notes_fields),
    "Write only what was learnt here and can be used again.\n" },
};
/* clang-format on */

const AnswerShape *answer_shape(AnswerKind kind)
{
    return &shapes[kind];
}
