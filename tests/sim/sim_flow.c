/* Workflows in the world: what agents answer, what people say about plans and work.
 *
 * Answers are chosen by the tables, not by the names of phases: a result that leads on is as likely
 * as the seed says, any other word that has a route takes the rest. */
#include "core/signal.h"
#include "core/workflow.h"
#include "tests/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* Phases of small workflows as a user writes them, put together by chance. */
#define WORK "\"work\":{\"kind\":\"agent\",\"prompt\":\"work\"}"
#define FIRST "\"first\":{\"kind\":\"agent\",\"prompt\":\"work\"}"
#define TEST "\"test\":{\"kind\":\"verify\"}"
#define LOOK                                                                                       \
    "\"look\":{\"kind\":\"gate\",\"prompt\":\"check\",\"answer\":\"review\",\"fresh\":true}"
#define NOD "\"nod\":{\"kind\":\"approve\"}"
#define LAND "\"land\":{\"kind\":\"merge\"}"
#define TELL "\"tell\":{\"kind\":\"report\",\"prompt\":\"report\"}"

static const char *any_phases(Sim *sim)
{
    /* clang-format off */
    static const char *const agents[] = {WORK, (FIRST "," WORK)};
    static const char *const proofs[] = {TEST, (TEST "," LOOK), (NOD "," TEST), (TEST "," NOD)};
    static const char *const ends[] = {LAND, (LAND "," TELL)};
    /* clang-format on */
    uint32_t agent = sim_random(sim, COUNT(agents)), proof = sim_random(sim, COUNT(proofs)),
             end = sim_random(sim, COUNT(ends));
    return arena_printf(&sim->texts, "%s,%s,%s", agents[agent], proofs[proof], ends[end]);
}

static void define(Sim *sim)
{
    const char *extends[] = {"lifecycle", "staged"}, *text;
    uint32_t kind = sim_random(sim, 6), number = sim->flow_count;
    if (number == OWN_FLOWS_MAX)
        return;
    if (kind < 2)
        text = arena_printf(&sim->texts,
                            "{\"name\":\"own%u\",\"extends\":\"%s\",\"limits\":{\"steps\":9}}",
                            number, extends[kind]);
    else
        text = arena_printf(&sim->texts, "{\"name\":\"own%u\",\"phases\":{%s}}", number,
                            any_phases(sim));
    Event event = {.kind = EV_WORKFLOW_DEFINED, .a = WORKFLOW_FIRST_OWN + number, .text = text};
    if (!sim_step(sim, event))
        sim_fail(sim, "%s was refused: %s", text, str_text(&sim->step.why));
    sim->flows[number] = text;
    sim->flow_count++;
}

static void define_badly(Sim *sim)
{
    Event event = {.kind = EV_WORKFLOW_DEFINED, .a = WORKFLOW_FIRST_OWN, .text = "{\"name\":"};
    if (sim_step(sim, event))
        sim_fail(sim, "half a definition was accepted");
}

void flow_setup(Sim *sim)
{
    for (uint32_t left = 1 + sim_random(sim, 3); left; left--)
        define(sim);
}

uint32_t flow_any(Sim *sim)
{
    uint32_t r = sim_random(sim, 100);
    if (r < 20)
        return 0; /* loop */
    if (r < 45)
        return 1; /* lifecycle */
    if (r < 70)
        return 2; /* staged */
    if (r < 85)
        return 3 + sim_random(sim, 2); /* self-driving */
    if (r < 98 && sim->flow_count)
        return WORKFLOW_FIRST_OWN + sim_random(sim, sim->flow_count);
    return WORKFLOW_NUMBER_MAX; /* nobody has defined it: the loop takes its place */
}

/* Answers */

static const WorkflowPhase *phase_of(const Sim *sim, const Run *run)
{
    return &run_workflow(sim->machine, run)->phases[run->phase];
}

/* Words that an engine reports, and no agent answers. */
static bool is_accident(const char *word)
{
    static const char *const words[] = {
        "none",    "PENDING",        "failed",      "killed",       "stopped",      "limit",
        "timeout", "output-limit",   "error",       "spawn-failed", "cannot-start", "invalid",
        "loop",    "max-iterations", "stall-limit", "vanished",     "continue"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* The words that lead on, in the order of preference. */
static bool good_word(const Sim *sim, const Run *run, char *out, size_t size)
{
    static const char *const gates[] = {"PASS", "CONTINUE", "ACCEPT"};
    const Workflow *flow = run_workflow(sim->machine, run);
    const WorkflowPhase *phase = phase_of(sim, run);
    const char *checkpoint = flow->checkpoints[run->checkpoint].name;
    for (size_t i = 0; phase->kind == PHASE_GATE && i < COUNT(gates); i++)
        if (phase_has_result(phase, gates[i]) &&
            phase_result_at(flow, phase, checkpoint, gates[i])) {
            (void)snprintf(out, size, "%s", gates[i]); /* short */
            return true;
        }
    return phase->kind != PHASE_GATE && word_at(phase->results, 0, out, size);
}

static bool any_word(Sim *sim, const Run *run, char *out, size_t size)
{
    const Workflow *flow = run_workflow(sim->machine, run);
    const WorkflowPhase *phase = phase_of(sim, run);
    const char *checkpoint = flow->checkpoints[run->checkpoint].name;
    char word[64];
    uint32_t seen = 0;
    for (size_t i = 0; word_at(phase->results, i, word, sizeof word); i++) {
        if (is_accident(word) || !phase_result_at(flow, phase, checkpoint, word))
            continue;
        if (sim_random(sim, ++seen) == 0)
            (void)snprintf(out, size, "%s",
                           strcmp(word, "(step-N)") ? word : "(step-3)"); /* fits */
    }
    return seen > 0;
}

static const char *answer_text(Sim *sim, const char *word)
{
    Str json = STR_INIT;
    str_addf(&json, "{\"result\":\"%s\"", word);
    if (sim->is_calm) {
        str_add(&json, ",\"convergence\":10000");
    } else {
        if (sim_chance(sim, 700))
            str_addf(&json, ",\"convergence\":%u", sim_random(sim, 10001));
        if (sim_chance(sim, 200))
            str_addf(&json, ",\"limit\":%u", sim_random(sim, 5));
        if (sim_chance(sim, 50))
            str_add(&json, ",\"review\":true");
    }
    str_add(&json, "}");
    const char *text = arena_strdup(&sim->texts, str_text(&json));
    str_done(&json);
    return text;
}

static void choose_observed(Sim *sim, const Run *run, Agent *agent)
{
    static const char *const wishes[] = {"timeout", "max_iterations", "stall_limit",
                                         "reasoning_loop"};
    const Workflow *flow = run_workflow(sim->machine, run);
    uint32_t status = sim_random(sim, flow->status_count), wish = sim_random(sim, COUNT(wishes));
    agent->status = flow->statuses[status].name;
    agent->observed =
        sim_chance(sim, 100) && !sim->is_calm
            ? arena_printf(&sim->texts, "{\"step\":\"exec\",\"wish\":\"%s\"}", wishes[wish])
            : "{\"step\":\"exec\",\"result\":\"(done)\"}";
}

void flow_choose_answer(Sim *sim, const Run *run, Agent *agent)
{
    char word[64] = "nonsense";
    const WorkflowPhase *phase = phase_of(sim, run);
    bool is_good = sim->is_calm || sim_chance(sim, sim->profile.good_answers);
    bool is_silent = !is_good && sim_chance(sim, 200);
    bool is_unreadable = !is_good && sim_chance(sim, 100);
    bool has_word =
        is_good ? good_word(sim, run, word, sizeof word) : any_word(sim, run, word, sizeof word);
    bool is_work = text_equal(phase->answer, "result") || !*phase->answer;
    uint32_t change = sim_random(sim, 100);
    agent->is_changing = is_work || change < 20;
    if (phase->kind == PHASE_OBSERVE && sim_chance(sim, 700))
        choose_observed(sim, run, agent);
    if (is_unreadable)
        agent->answer = sim_chance(sim, 500) ? "{\"result\":\"invalid\"}" : "{\"resu";
    else if (has_word && !is_silent)
        agent->answer = answer_text(sim, word);
    if (is_good)
        agent->signals[1] = agent->signals[2] = SIGNAL_NONE;
}

void flow_tell(Sim *sim, const Effect *effect, const Agent *agent, int64_t at_ms)
{
    Event event = {.kind = EV_OBSERVED,
                   .project = effect->project,
                   .task = effect->task,
                   .run = effect->run,
                   .epoch = effect->epoch,
                   .turn = effect->turn};
    const Task *task = machine_task(sim->machine, effect->task);
    if (agent->observed) {
        event.a = effect->turn + sim_random(sim, 3);
        event.text = agent->observed;
        event.ref = agent->status;
        reply_push(sim, at_ms, &event, agent->serial);
    }
    event.kind = EV_STEP_RESULT;
    event.a = 0;
    event.text = agent->answer;
    event.ref = NULL;
    if (!agent->answer || agent->end_ms == INT64_MAX)
        return;
    reply_push(sim, MAX(at_ms, agent->end_ms), &event, agent->serial);
    const Run *run = machine_run(sim->machine, effect->run);
    const char *shape = phase_of(sim, run)->answer;
    bool is_applied = text_equal(shape, "plan") || text_equal(shape, "objective");
    if (task->is_refined && is_applied)
        reply_push(sim, MAX(at_ms, agent->end_ms),
                   &(Event){.kind = EV_REFINED, .project = effect->project, .task = effect->task},
                   0);
}

static Event report(const Effect *effect, EventKind kind)
{
    return (Event){.kind = kind,
                   .project = effect->project,
                   .task = effect->task,
                   .run = effect->run,
                   .epoch = effect->epoch,
                   .turn = effect->turn};
}

void flow_report(Sim *sim, const Effect *effect)
{
    Event event = report(effect, EV_REPORTED);
    reply_push(sim, sim->true_ms + sim_delay(sim), &event, 0);
}

void flow_reset(Sim *sim, const Effect *effect)
{
    const Run *run = machine_run(sim->machine, effect->run);
    bool has_trouble = !sim->is_calm && sim_chance(sim, sim->profile.failures);
    Event event = report(effect, EV_RESET_DONE);
    if (!run->has_workspace || has_trouble) {
        event.kind = EV_RESET_FAILED;
        event.a = run->has_workspace && sim_chance(sim, 800);
        event.text = "trouble";
    }
    reply_push(sim, sim->true_ms + sim_delay(sim), &event, 0);
}

/* People */

static TaskId any_task(Sim *sim)
{
    return 1 + sim_random(sim, machine_task_count(sim->machine));
}

/* Somebody looks into the inbox: a task that waits for a person, if there is one. */
static TaskId asking_task(Sim *sim)
{
    TaskId start = any_task(sim), last = machine_task_count(sim->machine);
    for (TaskId i = 0; i < last; i++) {
        TaskId id = 1 + (start + i) % last;
        const Run *run = machine_run(sim->machine, machine_task(sim->machine, id)->run);
        if (run && run->state == RUN_ASKING)
            return id;
    }
    return start;
}

static void review(Sim *sim, TaskId task)
{
    const Run *run = machine_run(sim->machine, machine_task(sim->machine, task)->run);
    uint32_t r = sim_random(sim, 100);
    Event event = {.kind = EV_REVIEWED, .task = task, .text = "feedback"};
    event.a = r < 55 ? REVIEW_APPROVE : r < 85 ? REVIEW_REDO : REVIEW_REJECT;
    event.b = sim_random(sim, 3);
    if (event.b == REDO_CHECKPOINT && run && run->commit[0])
        event.ref = arena_strdup(&sim->texts, run->commit);
    if (!sim_step(sim, event)) /* it asks nothing, or asks a question */
        (void)sim_step(sim, (Event){.kind = EV_ANSWER, .task = task});
}

static void command(Sim *sim, TaskId task)
{
    const Workflow *flow = machine_task_workflow(sim->machine, machine_task(sim->machine, task));
    uint32_t which = sim_random(sim, flow->command_count);
    Event event = {.kind = EV_COMMAND, .task = task, .text = flow->commands[which].name};
    if (sim_step(sim, event))
        sim->world_tasks[task].reopened++;
}

static void set_target(Sim *sim, TaskId task)
{
    Event event = {.kind = EV_TARGET_SET, .task = task};
    event.a = sim_chance(sim, 900);
    event.b = sim_chance(sim, 800);
    (void)sim_step(sim, event); /* or it was removed */
}

void flow_wish(Sim *sim)
{
    uint32_t r = sim_random(sim, 100);
    TaskId task = any_task(sim);
    if (r < 45)
        review(sim, asking_task(sim));
    else if (r < 70)
        command(sim, task);
    else if (r < 82)
        set_target(sim, task);
    else if (r < 92) {
        bool was_done = machine_task(sim->machine, task)->state == TASK_DONE;
        Event event = {.kind = EV_REFINED, .task = task, .a = sim_random(sim, 3)};
        if (sim_step(sim, event))
            sim->world_tasks[task].reopened += was_done;
    } else if (r < 96)
        define(sim);
    else
        define_badly(sim);
}

void flow_answer(Sim *sim, TaskId id)
{
    const Task *task = machine_task(sim->machine, id);
    const Run *run = machine_run(sim->machine, task->run);
    if (!task->is_filled || !task->is_confirmed)
        (void)sim_step(sim, (Event){.kind = EV_TARGET_SET, .task = id, .a = 1, .b = 1});
    if (run && run->state == RUN_ASKING &&
        !sim_step(sim, (Event){.kind = EV_REVIEWED, .task = id, .a = REVIEW_APPROVE}))
        (void)sim_step(sim, (Event){.kind = EV_ANSWER, .task = id}); /* it asked */
    else if (1u << task->state & (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_BLOCKED))
        (void)sim_step(sim, (Event){.kind = EV_RETRY, .task = id}); /* it ended */
}
