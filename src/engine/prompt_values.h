/* What is known for the blanks of a prompt (agent/prompt.h): read from the store, once per prompt.
 * Private to prompts.c and prompt_*.c. */
#pragma once
#include "agent/prompt.h"
#include "engine/internal.h"

enum { PROMPT_VALUE_COUNT = 100 };

typedef struct PromptFacts {
    Engine *engine;
    const Run *run;
    ProjectInfo *project;
    const StoreTaskText *words;
    const StoreRunText *text; /* of the run; texts may be NULL */
    const char *tag;
    const Task *task;
    const Workflow *flow;
    const WorkflowPhase *phase;
    const char *checkpoint;          /* "" none */
    const char *prompt;              /* the chosen one */
    bool is_loop;                    /* the workflow `loop`: it has turns, no records */
    bool is_message;                 /* sent into a conversation that is under way */
    json_t *says;                    /* what the run's text says; NULL nothing */
    int says_kind;                   /* SAYS_NONE when says is NULL */
    StoreRecord plan, check, verify; /* the newest of this task; id 0 none */
    json_t *plan_data, *check_data, *verify_data;
    StoreObjective objective;
    Err failure; /* the first reading that failed */
    Arena arena;
    PromptValue values[PROMPT_VALUE_COUNT];
    size_t count;
} PromptFacts;

/* Fills everything from `says` on but prompt and values; the fields before are the caller's. */
bool prompt_facts_load(PromptFacts *facts, Err *err) NODISCARD;
/* A value for every blank there is. */
bool prompt_facts_fill(PromptFacts *facts, Err *err) NODISCARD;
void prompt_facts_done(PromptFacts *facts);

/* prompt_texts.c, prompt_lists.c: longer texts, one function per blank. */
typedef void PromptFiller(PromptFacts *facts, Str *out);
PromptFiller prompt_fill_attempts, prompt_fill_checks, prompt_fill_plan, prompt_fill_plan_checks,
    prompt_fill_uncovered, prompt_fill_findings, prompt_fill_verify_results,
    prompt_fill_verify_output, prompt_fill_diffstat, prompt_fill_history, prompt_fill_notes,
    prompt_fill_objective, prompt_fill_requirements, prompt_fill_open_requirements,
    prompt_fill_stages, prompt_fill_stage_goal, prompt_fill_failed_directions,
    prompt_fill_refinements, prompt_fill_feedback, prompt_fill_experiences, prompt_fill_discoveries,
    prompt_fill_recovery_header;

/* The turn goes into the conversation of the turn before. */
bool prompt_remembers(const PromptFacts *facts);
unsigned prompt_completed_steps(PromptFacts *facts); /* of the newest plan, as reported */
/* A reading that failed: the first one is kept and the prompt is not sent. */
void prompt_facts_failed(PromptFacts *facts, const Err *err);
