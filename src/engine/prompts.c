/* What an agent is told: which prompt, whose text, for which phase. See prompts.h. */
#include "engine/prompts.h"
#include "base/file.h"
#include "core/judge.h"
#include "engine/prompt_values.h"
#include <string.h>

/* ---- which prompt ---- */

/* Without a message: the first turn, a turn after an interruption, or simply the next one. */
static const char *loop_prompt(const PromptFacts *facts)
{
    static const struct {
        SaysKind says;
        const char *name;
    } said[] = {
        {SAYS_VERIFY_FAILED, "verify-failed"},
        {SAYS_MERGED_FAILED, "merged-verify-failed"},
        {SAYS_CONFLICT, "conflict"},
        {SAYS_ANSWER, "answer"},
        {SAYS_NOTE, "recovery"},
    };
    const Run *run = facts->run;
    for (size_t i = 0; i < COUNT(said); i++)
        if ((int)said[i].says == facts->says_kind)
            return said[i].name;
    if (run->turn <= 1 && run->from == 0)
        return "work";
    return run->epoch_turns <= 1 ? "recovery" : "continue";
}

/* Whoever forgot its answer needs the whole prompt again; it tells of the error by itself. */
static bool was_unreadable(const PromptFacts *facts)
{
    return prompt_remembers(facts) && json_text(facts->says, "invalid", NULL) != NULL;
}

static bool is_merge_broken(const PromptFacts *facts)
{
    return facts->says_kind == SAYS_MERGED_FAILED;
}

/* Did a person ask to begin anew after the plan was made? Then it is of no use to the planner. */
typedef struct Anew {
    int64_t since_ms;
    bool is_found;
} Anew;

static bool find_anew(void *user, const StoreEvent *event)
{
    Anew *anew = user;
    if (event->at_ms < anew->since_ms)
        return false; /* newest first: the plan came after all that follows */
    CLEANUP(json_freep)
    json_t *data = event->data ? json_read(event->data, strlen(event->data), NULL) : NULL;
    anew->is_found = event->kind == EV_ROLLBACK || event->kind == EV_ROLLED_BACK ||
                     (event->kind == EV_RETRY && json_int(data, "fresh", 0)) ||
                     (event->kind == EV_REVIEWED && json_int(data, "how", 0) == REDO_FRESH);
    return !anew->is_found;
}

static bool is_begun_anew(const PromptFacts *facts)
{
    Anew anew = {.since_ms = facts->plan.at_ms};
    Err ignored = {0};
    IGNORE(store_event_list_task(facts->engine->store, facts->run->task, 0, 0, find_anew, &anew,
                                 &ignored));
    return anew.is_found;
}

static bool has_plan(const PromptFacts *facts)
{
    return facts->plan.id && facts->plan.stage == facts->run->stage && !is_begun_anew(facts);
}

static bool needs_fix(const PromptFacts *facts)
{
    return facts->check.id > facts->plan.id && text_equal(facts->check.result, "NEEDS_FIX");
}

/* Came here from a reviewer, and nothing has happened since that the agent must hear of first. */
static bool was_sent_back(const PromptFacts *facts)
{
    return facts->says_kind == SAYS_NONE && facts->check.id &&
           !judge_is_pass(facts->check.result) && *facts->checkpoint &&
           text_equal(facts->check.checkpoint, facts->checkpoint);
}

/* Nothing is written down yet, it is not agreed on, or what a person added must be worked in. */
static bool wants_objective(const PromptFacts *facts)
{
    bool is_open = !facts->task->is_confirmed && facts->run->stage <= 1;
    return !facts->objective.requirement_count || facts->task->is_refined || is_open;
}

typedef struct ChoiceRow {
    const char *prompt, *checkpoint; /* of the phase; WF_ANY fits all */
    bool (*only_if)(const PromptFacts *facts);
    const char *name; /* NULL: as the workflow `loop` chooses */
} ChoiceRow;

/* clang-format off */
static const ChoiceRow choices[] = { /* the first row that fits; without one the phase's own name */
  /* prompt     checkpoint   only if          name */
  { WF_ANY,     WF_ANY,      was_unreadable,  "answer-invalid" },
  { "loop",     WF_ANY,      was_sent_back,   "review-failed" },
  { "work",     WF_ANY,      was_sent_back,   "review-failed" },
  { "loop",     WF_ANY,      NULL,            NULL },
  { "work",     WF_ANY,      NULL,            NULL },
  { WF_ANY,     "continue",  prompt_remembers, "continuation" },
  { "exec",     WF_ANY,      is_merge_broken, "merged-verify-failed" },
  { "exec",     WF_ANY,      needs_fix,       "exec-fix" },
  { "plan",     WF_ANY,      has_plan,        "replan" },
  { "check",    "post-plan", NULL,            "check-post-plan" },
  { "check",    "mid-exec",  NULL,            "check-mid-exec" },
  { "check",    WF_ANY,      NULL,            "check-post-exec" },
  { "target",   WF_ANY,      wants_objective, "objective" },
  { "target",   WF_ANY,      NULL,            "sub-stage" },
  { "resolve",  WF_ANY,      is_merge_broken, "merged-verify-failed" },
  { "conflict", WF_ANY,      is_merge_broken, "merged-verify-failed" },
  { "resolve",  WF_ANY,      NULL,            "conflict" },
};
/* clang-format on */

static bool row_fits(const ChoiceRow *row, const PromptFacts *facts)
{
    return (text_equal(row->prompt, WF_ANY) || text_equal(row->prompt, facts->phase->prompt)) &&
           (text_equal(row->checkpoint, WF_ANY) ||
            text_equal(row->checkpoint, facts->checkpoint)) &&
           (!row->only_if || row->only_if(facts));
}

static const char *prompt_choose(const PromptFacts *facts)
{
    if (facts->is_loop)
        return loop_prompt(facts);
    for (size_t i = 0; i < COUNT(choices); i++)
        if (row_fits(&choices[i], facts))
            return choices[i].name ? choices[i].name : loop_prompt(facts);
    return facts->phase->prompt;
}

bool prompt_is_known(const char *root, const char *name, Arena *arena)
{
    for (size_t i = 0; i < COUNT(choices); i++)
        if (text_equal(choices[i].prompt, name))
            return true;
    if (prompt_text(name))
        return true;
    return !field_check_name(name) &&
           path_exists(arena_printf(arena, "%s/" PROMPT_FOLDER "/%s.md", root, name));
}

/* ---- the project's own texts ---- */

typedef struct OwnText {
    const char *name, *text; /* text NULL: the project has none */
    struct OwnText *next;
} OwnText;

typedef struct OwnTexts {
    const char *root; /* of the user's checkout */
    OwnText *known;
    Arena *arena;
    Err err; /* the first file that could not be used */
} OwnTexts;

static const char *own_read(OwnTexts *own, const char *name)
{
    size_t length = 0;
    const char *path = arena_printf(own->arena, "%s/%s/%s.md", own->root, PROMPT_FOLDER, name);
    Err err = {0};
    if (field_check_name(name) || !path_exists(path))
        return NULL;
    CLEANUP(mem_freep) char *text = NULL;
    if (!path_is_inside(path, own->root))
        (void)err_set(&err, ERR_REFUSED, "it leads out of the repository"); /* told below */
    else
        text = file_read(path, PROMPT_FILE_BYTES, &length, &err);
    if (text && strlen(text) != length)
        (void)err_set(&err, ERR_USAGE, "it is not a text"); /* told below */
    if (err.kind == ERR_NONE)
        return arena_strdup(own->arena, text);
    if (own->err.kind == ERR_NONE)
        (void)err_set(&own->err, err.kind, "'" PROMPT_FOLDER "/%s.md': %s", name, err.text);
    return NULL;
}

static const char *own_find(void *user, const char *name)
{
    OwnTexts *own = user;
    for (const OwnText *text = own->known; text; text = text->next)
        if (text_equal(text->name, name))
            return text->text;
    OwnText *text = arena_alloc(own->arena, sizeof *text);
    *text = (OwnText){arena_strdup(own->arena, name), own_read(own, name), own->known};
    own->known = text;
    return text->text;
}

static bool has_own(const char *root, Arena *arena)
{
    return path_is_folder(arena_printf(arena, "%s/" PROMPT_FOLDER, root));
}

/* ---- putting it together ---- */

static bool build(PromptFacts *facts, Str *out, uint64_t *hash, Err *err)
{
    OwnTexts own = {.root = facts->project->path, .arena = &facts->arena};
    PromptJob job = {.name = facts->prompt, .values = {facts->values, 0}};
    CLEANUP(str_done) Str fresh = STR_INIT;
    if (!prompt_facts_fill(facts, err))
        return false;
    job.values.count = facts->count;
    if (has_own(own.root, own.arena)) {
        job.find = own_find;
        job.user = &own;
    }
    bool is_built = prompt_build(&job, &fresh, hash, err);
    if (own.err.kind != ERR_NONE)
        return err_set(err, own.err.kind, "the prompt cannot be made: %s", own.err.text);
    if (!is_built)
        return err_add(err, "the prompt cannot be made");
    if (is_built)
        str_add_bytes(out, str_text(&fresh), fresh.length);
    return is_built;
}

static void facts_begin(PromptFacts *facts, Engine *engine, const Run *run, ProjectInfo *project,
                        const StoreTaskText *words, const StoreRunText *text, const char *tag)
{
    const Workflow *flow = run_workflow(engine->machine, run);
    *facts = (PromptFacts){.engine = engine,
                           .run = run,
                           .project = project,
                           .words = words,
                           .text = text,
                           .tag = tag,
                           .task = machine_task(engine->machine, run->task),
                           .flow = flow,
                           .phase = &flow->phases[run->phase],
                           .checkpoint = flow->checkpoints[run->checkpoint].name,
                           .is_loop = run->workflow == 0};
}

/* name NULL: the one that the phase and what happened ask for. */
static bool prompt_make(PromptFacts *facts, const char *name, Str *out, uint64_t *hash, Err *err)
{
    bool is_made = false;
    if (prompt_facts_load(facts, err)) {
        facts->prompt = name ? name : prompt_choose(facts);
        facts->is_message = name || text_equal(facts->prompt, "continuation");
        is_made = build(facts, out, hash, err);
    }
    prompt_facts_done(facts);
    return is_made;
}

bool prompt_for_phase(Engine *engine, const Run *run, ProjectInfo *project,
                      const StoreTaskText *words, const StoreRunText *text, const char *tag,
                      Str *out, uint64_t *hash, Err *err)
{
    PromptFacts facts;
    facts_begin(&facts, engine, run, project, words, text, tag);
    return prompt_make(&facts, NULL, out, hash, err);
}

bool prompt_message(Engine *engine, const Run *run, ProjectInfo *project,
                    const StoreTaskText *words, const StoreRunText *text, const char *tag,
                    const char *name, Str *out, uint64_t *hash, Err *err)
{
    PromptFacts facts;
    facts_begin(&facts, engine, run, project, words, text, tag);
    facts.is_loop = false; /* it has records of its own to show */
    return prompt_make(&facts, name, out, hash, err);
}

/* ---- preview ---- */

/* The phase by name, or the run's own; one that no agent is asked in is refused. */
static bool preview_phase(const Workflow *flow, const char *phase, Run *run, Err *err)
{
    int index = phase && *phase ? workflow_phase_index(flow, phase) : run->phase;
    if (index < 0)
        return err_set(err, ERR_USAGE, "the workflow '%s' has no phase '%s'", flow->name, phase);
    PhaseKind kind = flow->phases[index].kind;
    if (kind != PHASE_AGENT && kind != PHASE_GATE && kind != PHASE_OBSERVE)
        return err_set(err, ERR_USAGE, "the phase '%s' of the workflow '%s' asks no agent",
                       flow->phases[index].name, flow->name);
    if (index != run->phase)
        run->checkpoint = 0;
    run->phase = (uint8_t)index;
    return true;
}

/* Given, the run's own, or for a prompt that needs one the first it can have. */
static bool preview_checkpoint(const Workflow *flow, const char *checkpoint, Run *run, Err *err)
{
    if (checkpoint && *checkpoint) {
        int index = workflow_checkpoint_index(flow, checkpoint);
        if (index < 0)
            return err_set(err, ERR_USAGE, "the workflow '%s' has no checkpoint '%s'", flow->name,
                           checkpoint);
        run->checkpoint = (uint8_t)index;
        return true;
    }
    const char *prompt = flow->phases[run->phase].prompt;
    for (size_t i = 0; !run->checkpoint && i < COUNT(choices); i++) {
        int index = text_equal(choices[i].prompt, prompt)
                        ? workflow_checkpoint_index(flow, choices[i].checkpoint)
                        : -1;
        if (index > 0)
            run->checkpoint = (uint8_t)index;
    }
    return true;
}

/* The task's run as it would begin the phase; what was said counts only for the phase it is in. */
static bool preview_run(Engine *engine, const Task *task, const char *phase, const char *checkpoint,
                        Run *run, StoreRunText *text, Arena *arena, Err *err)
{
    const Run *last = machine_run(engine->machine, task->run);
    const Workflow *flow = machine_task_workflow(engine->machine, task);
    *run = (Run){.task = task->id, .project = task->project, .turn = 1, .epoch_turns = 1};
    *text = (StoreRunText){0};
    if (last && run_workflow(engine->machine, last) == flow) {
        *run = *last;
        Err ignored = {0};
        IGNORE(store_run_text_get(engine->store, last->id, arena, text, &ignored));
    }
    if (!last || run_workflow(engine->machine, last) != flow)
        run->workflow =
            task->workflow
                ? (uint8_t)(task->workflow - 1)
                : (uint8_t)machine_project(engine->machine, task->project)->limits.workflow;
    uint8_t before = run->phase;
    if (!preview_phase(flow, phase, run, err) || !preview_checkpoint(flow, checkpoint, run, err))
        return false;
    if (run->phase != before)
        text->says = NULL;
    return true;
}

bool prompt_preview(Engine *engine, TaskId id, const char *phase, const char *checkpoint, Str *out,
                    Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Task *task = machine_task(engine->machine, id);
    ProjectInfo *project = task ? project_info(engine, task->project) : NULL;
    StoreTaskText words = {0};
    StoreRunText text;
    Run run;
    uint64_t hash;
    char tag[SECRET_TEXT] = "otto-TAG";
    if (!task || !project)
        return err_set(err, ERR_NOT_FOUND, "there is no task %u", id);
    if (!store_task_text_get(engine->store, id, &arena, &words, err) ||
        !preview_run(engine, task, phase, checkpoint, &run, &text, &arena, err))
        return false;
    if (run.id)
        secret_tag(engine, run.id, tag);
    return prompt_for_phase(engine, &run, project, &words, &text, tag, out, &hash, err);
}
