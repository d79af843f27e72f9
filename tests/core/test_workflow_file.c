/* Workflow files: reading, writing, defaults, and errors that name their place. */
#include "tests/test.h"

#include "base/file.h"
#include "base/yaml.h"
#include "core/workflow_file.h"
#include "core/workflow_graph.h"
#include <stdlib.h>
#include <string.h>

static const char *page_path; /* docs/workflows.md, given by the build */

static const Workflow *read_yaml(const char *text, Arena *arena, Err *err)
{
    YamlDoc doc = {0};
    if (!yaml_read(text, strlen(text), &doc, err))
        fail_msg("%s", err->text);
    const Workflow *flow = workflow_read(doc.root, arena, err);
    yaml_done(&doc);
    return flow;
}

static const Workflow *must_read(const char *text, Arena *arena)
{
    Err err = {0};
    const Workflow *flow = read_yaml(text, arena, &err);
    if (!flow)
        fail_msg("%s", err.text);
    return flow;
}

static void refuse(const char *text, const char *message)
{
    Err err = {0};
    Arena arena = ARENA_INIT;
    assert_null(read_yaml(text, &arena, &err));
    if (!strstr(err.text, message))
        fail_msg("'%s' lacks '%s'", err.text, message);
    assert_int_equal(err.kind, ERR_USAGE);
    arena_done(&arena);
}

static void must_be_clean(const Workflow *flow)
{
    CLEANUP(str_done) Str problems = STR_INIT;
    if (workflow_check(flow, &problems) != 0)
        fail_msg("%s", str_text(&problems));
}

static RouteStep go(const Workflow *flow, const char *status, const char *step,
                    const char *checkpoint, const char *result)
{
    RouteInput in = {.status = status, .step = step, .checkpoint = checkpoint, .result = result};
    RouteStep out;
    const WorkflowPhase *phase = workflow_phase(flow, step);
    assert_non_null(phase);
    in.result = phase_result(phase, result);
    assert_non_null(in.result);
    if (!workflow_route(flow, &in, &out))
        fail_msg("no row for %s %s", step, result);
    return out;
}

static void leads(const Workflow *flow, const char *step, const char *checkpoint,
                  const char *result, const char *next, const char *status)
{
    RouteStep out = go(flow, "active", step, checkpoint, result);
    if (strcmp(out.next, next) || strcmp(out.status, status))
        fail_msg("%s %s leads to %s %s (row %s)", step, result, out.next, out.status, out.row);
}

static void what_is_written_reads_back_as_it_was(void **state)
{
    (void)state;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) Arena arena = ARENA_INIT;
        CLEANUP(json_freep) json_t *first = workflow_write(all[i]);
        Err err = {0};
        const Workflow *flow = workflow_read(first, &arena, &err);
        if (!flow)
            fail_msg("%s: %s", all[i]->name, err.text);
        CLEANUP(json_freep) json_t *second = workflow_write(flow);
        assert_true(json_equal(first, second));
        assert_int_equal(flow->route_count, all[i]->route_count);
        assert_int_equal(flow->phase_count, all[i]->phase_count);
        assert_int_equal(flow->checkpoint_count, all[i]->checkpoint_count);
        for (unsigned r = 0; r < flow->route_count; r++)
            assert_string_equal(flow->routes[r].id, all[i]->routes[r].id);
        must_be_clean(flow);
    }
}

static char *example_of_the_page(void)
{
    Err err = {0};
    char *page = file_read(page_path, 4 << 20, NULL, &err);
    if (!page)
        fail_msg("%s", err.text);
    char *start = strstr(page, "```yaml\n");
    assert_non_null(start);
    start += strlen("```yaml\n");
    char *end = strstr(start, "```");
    assert_non_null(end);
    char *text = strndup(start, (size_t)(end - start));
    free(page);
    return text;
}

static void the_ten_lines_of_the_page_are_a_whole_workflow(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    char *text = example_of_the_page();
    unsigned lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 10);
    const Workflow *flow = must_read(text, &arena);
    free(text);
    must_be_clean(flow);
    RouteInput in = {.status = "pending"};
    RouteStep step;
    assert_true(workflow_enter(flow, &in, &step));
    assert_string_equal(step.next, "work");
    assert_string_equal(step.status, "active");
    leads(flow, "work", "", "COMPLETE", "test", "active");
    leads(flow, "test", "", "fail", "work", "active");
    leads(flow, "test", "", "pass", "look", "active");
    assert_string_equal(go(flow, "active", "test", "", "pass").checkpoint, "post-exec");
    leads(flow, "look", "post-exec", "NEEDS_FIX", "work", "active");
    leads(flow, "look", "post-exec", "REPLAN", "(stop)", "blocked");
    leads(flow, "look", "post-exec", "ACCEPT", "land", "active");
    leads(flow, "land", "", "landed", "(stop)", "done");
    leads(flow, "land", "", "collides", "work", "active");
    leads(flow, "work", "", "killed", "work", "pending");
    leads(flow, "work", "", "PENDING", "ask", "active");
    leads(flow, "ask", "question-work", "answered", "work", "active");
    leads(flow, "ask", "question-look", "answered", "look", "active");
    leads(flow, "ask", "review", "approved", "land", "active");
}

static void the_page_shows_the_template(void **state)
{
    (void)state;
    CLEANUP(str_done) Str want = STR_INIT;
    char *text = example_of_the_page();
    workflow_template("second-look", &want);
    assert_string_equal(text, str_text(&want));
    free(text);
}

static void a_way_back_is_limited(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    workflow_template("x", &text);
    const Workflow *flow = must_read(str_text(&text), &arena);
    RouteCounter turns = {"turns", 50, -1};
    RouteInput in = {.status = "active",
                     .step = "test",
                     .result = "fail",
                     .counters = &turns,
                     .counter_count = 1};
    RouteStep step;
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.next, "(stop)");
    assert_string_equal(step.status, "timeout");
    in = (RouteInput){
        .status = "active", .step = "look", .result = "ACCEPT", .flags = 1U << FLAG_REVIEW};
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.next, "ask");
    assert_string_equal(step.status, "review");
}

static void a_phase_and_its_landing_are_enough(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Workflow *flow = must_read(
        "name: one\nphases:\n  go: {kind: agent, prompt: work}\n  land: {kind: merge}\n", &arena);
    must_be_clean(flow);
    leads(flow, "land", "", "landed", "(stop)", "done");
    assert_string_equal(flow->first_status, "pending");
    assert_string_equal(flow->routes[0].id, "ask-answered-go");
}

static void every_kind_of_phase_has_its_defaults(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Workflow *flow = must_read("name: all\n"
                                     "phases:\n"
                                     "  drive: {kind: observe, prompt: auto-a}\n"
                                     "  work: {kind: agent, prompt: work}\n"
                                     "  kids: {kind: children}\n"
                                     "  test: {kind: verify}\n"
                                     "  look: {kind: gate, prompt: check, checkpoint: mid-exec}\n"
                                     "  say: {kind: approve}\n"
                                     "  land: {kind: merge}\n"
                                     "  tell: {kind: report}\n"
                                     "limits: {mid-exec: 2, turns: 9}\n"
                                     "thresholds: {mid-exec: 0.5}\n",
                                     &arena);
    CLEANUP(str_done) Str problems = STR_INIT;
    assert_int_equal(workflow_check(flow, &problems), 1); /* nobody runs children yet */
    assert_non_null(strstr(str_text(&problems), "phase 'kids'"));
    leads(flow, "drive", "", "finished", "work", "active");
    leads(flow, "drive", "", "continue", "drive", "active");
    leads(flow, "kids", "", "failed", "(stop)", "blocked");
    leads(flow, "test", "", "pass", "look", "active");
    leads(flow, "look", "mid-exec", "CONTINUE", "say", "review");
    leads(flow, "look", "mid-exec", "NEEDS_FIX", "work", "active");
    leads(flow, "look", "mid-exec", "GUARDED", "ask", "review");
    leads(flow, "ask", "guarded-look", "approved", "say", "review");
    leads(flow, "say", "review", "approved", "land", "active");
    leads(flow, "say", "review", "redo", "work", "active");
    leads(flow, "land", "", "landed", "tell", "active");
    leads(flow, "tell", "", "done", "(stop)", "done");
    assert_int_equal(workflow_limit(flow, "turns")->fallback, 9);
    assert_true(workflow_threshold(flow, "mid-exec", 0) == 0.5);
    RouteCounter spent = {"mid-exec", 2, -1};
    RouteInput in = {.status = "active",
                     .step = "look",
                     .checkpoint = "mid-exec",
                     .result = "NEEDS_FIX",
                     .counters = &spent,
                     .counter_count = 1};
    RouteStep step;
    assert_true(workflow_route(flow, &in, &step));
    assert_string_equal(step.status, "blocked");
}

static void own_statuses_and_rows_can_be_written(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Workflow *flow =
        must_read("name: own\n"
                  "statuses:\n"
                  "  open: {ends: pending, rank: 1}\n"
                  "  shut: {ends: done, final: true}\n"
                  "phases:\n"
                  "  work: {kind: agent, prompt: work, results: [COMPLETE, BLOCKED, none]}\n"
                  "  land: {kind: merge}\n"
                  "limits: {steps: 5, turns: 7}\n"
                  "hooks: {shut: ./tell.sh}\n"
                  "routes:\n"
                  "  - {phase: work, result: COMPLETE, next: land}\n"
                  "  - {phase: land, result: landed, next: shut, why: it is over}\n"
                  "  - {phase: work, result: none, guard: [turns-spent], next: timeout}\n"
                  "  - {phase: work, result: none, next: work}\n",
                  &arena);
    must_be_clean(flow);
    RouteStep step = go(flow, "open", "land", "", "landed");
    assert_string_equal(step.next, "(stop)");
    assert_string_equal(step.status, "shut");
    assert_string_equal(step.ends, "done");
    assert_string_equal(step.why, "it is over");
    step = go(flow, "open", "work", "", "BLOCKED");
    assert_string_equal(step.status, "open");
    assert_string_equal(step.ends, "blocked");
    assert_string_equal(go(flow, "open", "work", "", "none").why, "none of work leads to work");
    assert_string_equal(flow->first_status, "open");
    assert_int_equal(flow->hook_count, 1);
    assert_string_equal(flow->hooks[0].command, "./tell.sh");
    assert_int_equal(flow->statuses[0].rank, 1);
    RouteInput in = {.status = "shut"};
    assert_true(workflow_enter(flow, &in, &step));
    assert_string_equal(step.next, "(stop)");
}

static void a_built_in_one_can_be_extended(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Workflow *flow = must_read("name: polished\n"
                                     "extends: lifecycle\n"
                                     "phases:\n"
                                     "  polish: {kind: agent, prompt: work}\n"
                                     "  check: {tier: light}\n"
                                     "routes:\n"
                                     "  check: {ACCEPT: polish}\n"
                                     "  polish: {COMPLETE: merge}\n"
                                     "limits: {steps: 9, post-plan: 1}\n"
                                     "thresholds: {post-plan: 0.8}\n",
                                     &arena);
    must_be_clean(flow);
    assert_string_equal(go(flow, "executing", "check", "post-exec", "ACCEPT").next, "polish");
    assert_string_equal(go(flow, "executing", "polish", "", "COMPLETE").next, "merge");
    assert_string_equal(go(flow, "executing", "polish", "", "timeout").ends, "timeout");
    assert_string_equal(go(flow, "executing", "polish", "", "timeout").status, "executing");
    assert_string_equal(go(flow, "executing", "ask", "question-polish", "answered").next, "polish");
    assert_string_equal(go(flow, "planning", "check", "post-plan", "PASS").next, "exec");
    assert_int_equal(workflow_limit(flow, "steps")->fallback, 9);
    assert_string_equal(workflow_phase(flow, "check")->tier, "light");
    assert_int_equal(workflow_phase(flow, "check")->kind, PHASE_GATE);
    assert_string_equal(flow->first_status, "draft");
}

static void rows_replace_by_id_or_come_first(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const Workflow *flow =
        must_read("name: loop\n"
                  "extends: loop\n"
                  "routes:\n"
                  "  - {id: verify-pass, phase: verify, result: pass, next: done}\n"
                  "  - {id: quick, phase: work, result: none, guard: retries-left, next: work}\n",
                  &arena);
    assert_int_equal(flow->route_count, workflow_loop.route_count + 1);
    assert_string_equal(flow->routes[0].id, "quick");
    leads(flow, "verify", "", "pass", "(stop)", "done");
    leads(flow, "work", "", "COMPLETE", "verify", "active");
}

static void mistakes_name_their_place(void **state)
{
    (void)state;
#define HEAD "name: x\nphases:\n  work: {kind: agent, prompt: work}\n  test: {kind: verify}\n"
    refuse("[1]", "a map");
    refuse("phases: {}", "name: is missing");
    refuse("name: x", "phases: at least one phase");
    refuse("name: 'a b'\nphases: {}", "name: 'a b' is no name");
    refuse("name: x\nphase: {}", "unknown key 'phase', did you mean 'phases'?");
    refuse("name: x\nphases: {work: {kind: agnet}}",
           "phases.work.kind: unknown kind 'agnet', did you mean 'agent'?");
    refuse("name: x\nphases: {work: {knid: agent}}",
           "phases.work: unknown key 'knid', did you mean 'kind'?");
    refuse("name: x\nphases: {work: {fresh: maybe}}", "phases.work.fresh: must be true or false");
    refuse("name: x\nphases: {work: 5}", "phases.work: must be a map");
    refuse("name: x\nphases: {work: {results: [a b]}}", "phases.work.results[0]");
    refuse(HEAD "routes: {tset: {pass: work}}",
           "routes.tset: unknown phase 'tset', did you mean 'test'?");
    refuse(HEAD "routes: {test: {pas: work}}",
           "routes.test.pas: unknown result 'pas', did you mean 'pass'?");
    refuse(HEAD "routes: {test: {fail: wrok}}",
           "routes.test.fail: unknown phase 'wrok', did you mean 'work'?");
    refuse(HEAD "routes: {test: {fail: 5}}", "routes.test.fail: must be a phase");
    refuse(HEAD "routes: {test: fail}", "routes.test: must be a map");
    refuse(HEAD "routes: 5", "routes: must be a list of rows or a map");
    refuse(HEAD "routes: [{phase: test, result: fail, nxet: work}]",
           "routes[0]: unknown key 'nxet', did you mean 'next'?");
    refuse(HEAD "routes: [{phase: test, result: fail}]", "routes[0]: 'next' is missing");
    refuse(HEAD "routes: [{phase: test, result: fail, next: wrok}]",
           "routes[0].next: unknown phase 'wrok', did you mean 'work'?");
    refuse(HEAD "routes: [{phase: test, result: fail, next: work, guard: turn-spent}]",
           "routes[0].guard: unknown guard 'turn-spent', did you mean 'turns-spent'?");
    refuse(HEAD "routes: [{phase: test, result: fail, next: work, effects: [alrt]}]",
           "routes[0].effects[0]: unknown effect 'alrt', did you mean 'alert'?");
    refuse(HEAD "routes: [{phase: test, result: fail, next: work, to_status: actve}]",
           "routes[0].to_status: unknown status 'actve', did you mean 'active'?");
    refuse(HEAD "routes: [{phase: test, result: fail, next: work, to_checkpoint: verfy}]",
           "routes[0].to_checkpoint: unknown checkpoint 'verfy', did you mean 'verify'?");
    refuse(HEAD "routes: [{phase: test, result: fail, next: (stop)}]", "say in 'to_status'");
    refuse(HEAD "routes: [{id: a, phase: test, result: fail, next: work}, "
                "{id: a, phase: test, result: pass, next: work}]",
           "routes[1]: two rows have the id 'a'");
    refuse(HEAD "limits: {turns: -1}", "limits.turns: must be a whole number");
    refuse(HEAD "thresholds: {post-exec: 2}", "thresholds.post-exec: must be a number from 0 to 1");
    refuse(HEAD "hooks: {dne: x}", "hooks.dne: unknown status 'dne', did you mean 'done'?");
    refuse(HEAD "extends: lifecicle",
           "extends: unknown workflow 'lifecicle', did you mean 'lifecycle'?");
    refuse(HEAD "entries: [{status: pending, next: wrk}]",
           "entries[0].next: unknown phase 'wrk', did you mean 'work'?");
    refuse(HEAD "transitions: [{command: rn, status: pending}]",
           "transitions[0].command: unknown command 'rn', did you mean 'run'?");
    refuse(HEAD "first_status: pendng",
           "first_status: unknown status 'pendng', did you mean 'pending'?");
    refuse(HEAD "statuses: {}", "statuses: must not be empty");
    refuse("name: x\nextends: lifecycle\nroutes: [{phase: check, result: PASS, next: exec, ends: "
           "dne}]",
           "routes[0].ends: unknown state of a task 'dne', did you mean 'done'?");
}

static void sizes_are_limited(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    str_add(&text, "name: x\nphases:\n");
    for (unsigned i = 0; i < 70; i++)
        str_addf(&text, "  p%u: {kind: verify}\n", i);
    refuse(str_text(&text), "phases: has more than 64");
    str_clear(&text);
    str_add(&text, "name: x\nhelp: '");
    for (unsigned i = 0; i < 3000; i++)
        str_add_char(&text, 'a');
    str_add(&text, "'\nphases: {w: {kind: agent, prompt: work}}\n");
    refuse(str_text(&text), "help: is longer");
    assert_false(workflow_name_is_valid("-a"));
    assert_false(workflow_name_is_valid(""));
    assert_false(workflow_name_is_valid("a/b"));
    assert_true(workflow_name_is_valid("a-b_9"));
}

static void a_read_workflow_with_a_mistake_is_told_by_the_check(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str problems = STR_INIT;
    const Workflow *flow = must_read("name: bad\n"
                                     "phases:\n"
                                     "  work: {kind: agent, prompt: work}\n"
                                     "  test: {kind: verify, results: [odd]}\n"
                                     "  lost: {kind: verify}\n"
                                     "routes:\n"
                                     "  - {phase: work, result: COMPLETE, next: test}\n"
                                     "  - {phase: test, result: pass, next: done}\n"
                                     "  - {phase: test, result: fail, next: test}\n",
                                     &arena);
    assert_int_equal(workflow_check(flow, &problems), 4);
    assert_non_null(strstr(str_text(&problems), "the result 'odd' leads nowhere"));
    assert_non_null(strstr(str_text(&problems), "phase 'lost' is never reached"));
    assert_non_null(strstr(str_text(&problems), "the circle test -> test has no limit"));
    assert_non_null(strstr(str_text(&problems), "what 'work' makes never lands"));
}

static void the_schema_lists_the_words_of_the_tables(void **state)
{
    (void)state;
    CLEANUP(str_done) Str text = STR_INIT;
    workflow_schema(&text);
    CLEANUP(json_freep) json_t *schema = json_read(str_text(&text), text.length, NULL);
    assert_non_null(schema);
    const json_t *properties = json_object_get(schema, "properties");
    assert_int_equal(json_object_size(properties), 14);
    assert_non_null(strstr(str_text(&text), "convergence-fell"));
    assert_non_null(strstr(str_text(&text), "enqueue-merge"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back_as_it_was),
        cmocka_unit_test(the_ten_lines_of_the_page_are_a_whole_workflow),
        cmocka_unit_test(the_page_shows_the_template),
        cmocka_unit_test(a_way_back_is_limited),
        cmocka_unit_test(a_phase_and_its_landing_are_enough),
        cmocka_unit_test(every_kind_of_phase_has_its_defaults),
        cmocka_unit_test(own_statuses_and_rows_can_be_written),
        cmocka_unit_test(a_built_in_one_can_be_extended),
        cmocka_unit_test(rows_replace_by_id_or_come_first),
        cmocka_unit_test(mistakes_name_their_place),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(a_read_workflow_with_a_mistake_is_told_by_the_check),
        cmocka_unit_test(the_schema_lists_the_words_of_the_tables),
    };
    page_path = argc > 1 ? argv[1] : "docs/workflows.md";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
