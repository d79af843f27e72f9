/* The full history that the golden texts are written from. */
#include "tests/record/support.h"
#include <stdlib.h>

/* Records are put in the order of time, whatever order the parts below have. */
typedef struct Later {
    int minute, place;
    uint32_t stage;
    RecordKind kind;
    const char *checkpoint, *result, *text, *data;
} Later;

static Later waiting[64];
static int waiting_count;

static void later(int minute, uint32_t stage, RecordKind kind, const char *checkpoint,
                  const char *result, const char *text, const char *data)
{
    assert_true(waiting_count < (int)COUNT(waiting));
    waiting[waiting_count] =
        (Later){minute, waiting_count, stage, kind, checkpoint, result, text, data};
    waiting_count++;
}

static int compare(const void *a, const void *b)
{
    const Later *x = a, *y = b;
    return x->minute != y->minute ? x->minute - y->minute : x->place - y->place;
}

static void put_records(Room *room)
{
    qsort(waiting, (size_t)waiting_count, sizeof *waiting, compare);
    for (int i = 0; i < waiting_count; i++) {
        const Later *row = &waiting[i];
        record_put(room, 1, row->minute, row->stage, row->kind, row->checkpoint, row->result,
                   row->text, row->data);
    }
    waiting_count = 0;
}

static void put_texts(Room *room)
{
    task_put(room, 1, "Give the shop a search", "People cannot find anything.\n\nA search box.");
    task_put(room, 2, "Index the products", "");
    Task task = {.id = 1,
                 .project = 1,
                 .state = TASK_DONE,
                 .created_ms = T0,
                 .run = 1,
                 .priority = PRIORITY_NONE,
                 .attempts = 1,
                 .turns_used = 14};
    Task other = {
        .id = 2, .project = 1, .state = TASK_DONE, .created_ms = T0, .priority = PRIORITY_NONE};
    StoreTaskText text = {.id = 1,
                          .project = 1,
                          .key = "SHOP-7",
                          .tags_json = "[\"search\",\"ui\"]",
                          .type = "software|docs",
                          .workflow = "staged",
                          .created_ms = T0};
    Run run = {.id = 1,
               .task = 1,
               .project = 1,
               .state = RUN_ENDED,
               .epoch = 1,
               .turn = 14,
               .stage = 2,
               .spent_ms = 23 * MINUTE,
               .started_ms = T0};
    StoreRunText run_text = {
        .run = 1, .workspace_path = "/w/1", .branch = "otto/1", .agent = "one"};
    Dependency dependency = {1, 2, NEED_DONE};
    must(store_begin(room->store, &room->err), &room->err);
    must(store_task_save(room->store, &task, &room->err), &room->err);
    must(store_task_save(room->store, &other, &room->err), &room->err);
    must(store_task_text_save(room->store, &text, &room->err), &room->err);
    must(store_run_save(room->store, &run, &room->err), &room->err);
    must(store_run_text_save(room->store, &run_text, &room->err), &room->err);
    must(store_dependency_add(room->store, &dependency, &room->err), &room->err);
    must(store_commit(room->store, &room->err), &room->err);
}

static void put_steps(Room *room)
{
    static const struct {
        int minute;
        uint32_t stage;
        const char *words;
    } steps[] = {
        {0, 1, "target - (generated) staged.target.generated plan planning one -"},
        {2, 1, "plan - (generated) staged.plan.generated verify planning one -"},
        {3, 1, "verify post-plan (pass) staged.verify.post-plan check planning - -"},
        {4, 1, "check post-plan NEEDS_REVISION staged.check.revision plan planning two -"},
        {6, 1, "plan - (generated) staged.plan.generated verify planning one -"},
        {7, 1, "verify post-plan (pass) staged.verify.post-plan check planning - -"},
        {8, 1, "check post-plan PASS staged.check.pass exec review two -"},
        {10, 1, "exec - (mid-exec) staged.exec.mid verify executing one aaaaaaaaaaaaaaaaaaaa"},
        {11, 1, "verify mid-exec (pass) staged.verify.mid check executing - -"},
        {12, 1, "check mid-exec CONTINUE staged.check.continue exec executing two -"},
        {14, 1, "exec - (done) staged.exec.done verify executing one bbbbbbbbbbbbbbbbbbbb"},
        {15, 1, "verify post-exec (fail) staged.verify.post-exec check executing - -"},
        {16, 1, "check post-exec NEEDS_FIX staged.check.fix exec executing two -"},
        {18, 1, "exec - (done) staged.exec.done verify executing one cccccccccccccccccccc"},
        {19, 1, "verify post-exec (pass) staged.verify.post-exec check executing - -"},
        {20, 1, "check post-exec ACCEPT staged.check.accept target evolving two -"},
        {30, 2, "target - (generated) staged.target.stage plan planning one -"},
        {32, 2, "plan - (generated) staged.plan.generated verify planning one -"},
        {40, 2, "exec - (done) staged.exec.done verify executing one dddddddddddddddddddd"},
        {42, 2, "check post-exec ROLLBACK staged.check.rollback (rollback) evolving two -"},
        {50, 2, "target - (generated) staged.target.stage plan planning one -"},
        {52, 2, "plan - (generated) staged.plan.generated verify planning one -"},
        {60, 2, "exec - (done) staged.exec.done verify executing one eeeeeeeeeeeeeeeeeeee"},
        {62, 2, "check post-exec ACCEPT staged.check.accept merge evolving two -"},
        {64, 2, "merge - success staged.merge.success (stop) satisfied - ffffffffffffffffffff"},
    };
    for (size_t i = 0; i < COUNT(steps); i++)
        step_put(room, 1, steps[i].minute, steps[i].stage, steps[i].words);
}

static void put_plans(void)
{
    later(2, 1, RECORD_PLAN, "", "(generated)", "# Plan\n\n1. Everything at once\n",
          "{\"summary\":\"Everything at once\",\"steps\":[{\"title\":\"Do it\"}]}");
    later(6, 1, RECORD_PLAN, "", "(generated)", "# Plan\n\n1. Read the index\n2. Show a box\n",
          "{\"summary\":\"Index first, then the box\",\"steps\":["
          "{\"title\":\"Read the index\",\"covers\":[\"R1\"],\"files\":[\"src/index/**\"],"
          "\"checks\":[{\"name\":\"index\",\"command\":\"make test-index\"}]},"
          "{\"title\":\"Show a box\",\"detail\":\"on every page\",\"covers\":[\"R2\"],"
          "\"checks\":[{\"command\":\"make test-box\",\"mode\":\"executable\"},"
          "{\"name\":\"looks right\",\"command\":\"open the page\",\"mode\":\"human\"}]}],"
          "\"criteria\":[\"a search answers in 100 ms\"],\"scope\":[\"src/**\"],"
          "\"risks\":[\"the index is stale\"]}");
    later(32, 2, RECORD_PLAN, "", "(generated)", "# Plan\n\n1. Rank by price\n",
          "{\"summary\":\"Rank by price\",\"steps\":[{\"title\":\"Rank by price\","
          "\"covers\":[\"R3\"]}]}");
    later(52, 2, RECORD_PLAN, "", "(generated)", "# Plan\n\n1. Rank by sales\n",
          "{\"summary\":\"Rank by sales\",\"steps\":[{\"title\":\"Rank by sales\","
          "\"covers\":[\"R3\"]}],\"criteria\":[\"best sellers come first\"]}");
    later(60, 2, RECORD_ANSWER, "", "(done)", "", "{\"result\":\"(done)\"}");
}

static void put_proof(void)
{
    later(7, 1, RECORD_BASELINE, "post-plan", "(pass)", "Both checks are red.",
          "{\"commands\":[{\"name\":\"index\",\"command\":\"make test-index\","
          "\"state\":\"red\",\"exit_code\":1}]}");
    later(10, 1, RECORD_GREEN, "", "green", "",
          "{\"step\":1,\"check\":\"index\",\"state\":\"green\"}");
    later(11, 1, RECORD_VERIFY, "mid-exec", "(pass)", "",
          "{\"result\":\"(pass)\",\"commands\":[{\"name\":\"index\",\"command\":"
          "\"make test-index\",\"state\":\"green\",\"exit_code\":0,\"output\":\"ok\"}],"
          "\"diffstat\":{\"files\":3,\"lines\":40,\"dirs\":1,\"rounds\":1}}");
    later(15, 1, RECORD_VERIFY, "post-exec", "(fail)", "",
          "{\"result\":\"(fail)\",\"commands\":["
          "{\"name\":\"index\",\"command\":\"make test-index\",\"state\":\"regressed\","
          "\"exit_code\":1,\"output\":\"1 of 4 failed\\nindex.c:12: empty\"},"
          "{\"name\":\"\",\"command\":\"make test-box | tee log\",\"state\":\"green\","
          "\"exit_code\":0}],\"diffstat\":{\"files\":5,\"lines\":90}}");
    later(18, 1, RECORD_GREEN, "", "green", "",
          "{\"step\":2,\"check\":\"make test-box\",\"state\":\"green\"}");
    later(19, 1, RECORD_VERIFY, "post-exec", "(pass)", "",
          "{\"result\":\"(pass)\",\"commands\":[{\"name\":\"index\",\"command\":"
          "\"make test-index\",\"state\":\"green\",\"exit_code\":0}]}");
    later(60, 2, RECORD_GREEN, "", "green", "",
          "{\"step\":1,\"check\":\"ranking\",\"state\":\"green\"}");
}

static void put_checks(void)
{
    later(4, 1, RECORD_CHECK, "post-plan", "NEEDS_REVISION", "",
          "{\"scores\":{\"d1\":0.5,\"d2\":0.7,\"d3\":0.6,\"d4\":0.6,\"d5\":0.5,\"d6\":0.6},"
          "\"overall\":0.58,\"threshold\":0.7,\"verdict\":\"NEEDS_REVISION\","
          "\"why\":\"overall 0.58 is below 0.70\",\"missing\":[\"R2\"],\"rounds\":1,"
          "\"retries\":{\"used\":0,\"limit\":3},\"findings\":[{\"severity\":\"HIGH\","
          "\"dimension\":\"d1\",\"text\":\"one step does everything\"}]}");
    later(8, 1, RECORD_CHECK, "post-plan", "PASS", "",
          "{\"scores\":{\"d1\":0.8,\"d2\":0.8,\"d3\":0.8,\"d4\":0.8,\"d5\":0.8,\"d6\":0.8},"
          "\"overall\":0.8,\"threshold\":0.7,\"verdict\":\"PASS\",\"why\":\"0.80 of 0.70\","
          "\"summary\":\"A plan that can be proven.\",\"rounds\":1}");
    later(12, 1, RECORD_CHECK, "mid-exec", "CONTINUE", "",
          "{\"overall\":0.7,\"threshold\":0.6,\"verdict\":\"CONTINUE\"}");
    later(13, 1, RECORD_CHECK, "mid-exec", "NEEDS_FIX", "",
          "{\"overall\":0.5,\"threshold\":0.6,\"verdict\":\"NEEDS_FIX\"}");
    later(14, 1, RECORD_CHECK, "mid-exec", "BLOCKED", "The index is gone.", "");
    later(16, 1, RECORD_CHECK, "post-exec", "NEEDS_FIX", "",
          "{\"scores\":{\"d1\":0.6,\"d2\":0.35,\"d3\":0.7,\"d4\":0.7,\"d5\":0.7,\"d6\":0.7},"
          "\"overall\":0.62,\"threshold\":0.75,\"floors\":[\"d2\"],\"verdict\":\"NEEDS_FIX\","
          "\"row\":\"judge.floor\",\"why\":\"overall 0.62 is below 0.75\",\"rounds\":2,"
          "\"retries\":{\"used\":1,\"limit\":3},\"findings\":["
          "{\"severity\":\"high\",\"dimension\":\"d2\",\"file\":\"src/box.c\",\"line\":41,"
          "\"text\":\"the query is put into the page unescaped\"},"
          "{\"severity\":\"LOW\",\"file\":\"src/index.c\",\"text\":\"a name | that says "
          "little\"}]}");
    later(20, 1, RECORD_CHECK, "post-exec", "ACCEPT", "",
          "{\"overall\":0.84,\"threshold\":0.75,\"verdict\":\"ACCEPT\"}");
    later(42, 2, RECORD_CHECK, "post-exec", "ROLLBACK", "",
          "{\"overall\":0.78,\"threshold\":0.75,\"verdict\":\"ROLLBACK\","
          "\"why\":\"convergence fell from 0.60 to 0.52\"}");
    later(62, 2, RECORD_CHECK, "post-exec", "ACCEPT", "",
          "{\"overall\":0.9,\"threshold\":0.75,\"verdict\":\"ACCEPT\"}");
    later(15, 1, RECORD_GUARD, "post-exec", "", "",
          "{\"guards\":[{\"guard\":\"deleted-test\",\"path\":\"tests/box.c\",\"line\":7,"
          "\"text\":\"-    assert_true(found);\",\"why\":\"a test is gone\"}]}");
}

static void put_stages(Room *room)
{
    static const StoreStage stages[] = {
        {1, 1, 1, "search works", "A search that answers", "R1 R2", "the base of all else",
         "accepted", "", "cccccccccccccccccccc", 0, 6000, T0, T0 + 21 * MINUTE},
        {1, 2, 1, "rank by price", "Cheap things first", "R3", "price is known", "rolled-back",
         "cheap things are not what people look for", "dddddddddddddddddddd", 6000, 5200,
         T0 + 30 * MINUTE, T0 + 43 * MINUTE},
        {1, 2, 2, "rank by sales", "Best sellers first", "R3",
         "differs from price: sales are what people want", "accepted", "", "eeeeeeeeeeeeeeeeeeee",
         6000, 9600, T0 + 50 * MINUTE, T0 + 63 * MINUTE},
    };
    for (size_t i = 0; i < COUNT(stages); i++)
        must(store_stage_put(room->store, &stages[i], &room->err), &room->err);
    later(20, 1, RECORD_CONVERGENCE, "", "accept", "",
          "{\"previous\":0.0,\"current\":0.6,\"delta\":0.6,\"verdict\":\"accept\","
          "\"requirements\":[{\"id\":\"R1\",\"weight\":3,\"previous\":0,\"current\":1.0,"
          "\"reason\":\"tests pass\"},{\"id\":\"R2\",\"weight\":2,\"previous\":0.0,"
          "\"current\":0.0}]}");
    later(42, 2, RECORD_CONVERGENCE, "", "rollback", "R1 broke on the way.",
          "{\"previous\":0.6,\"current\":0.52,\"delta\":-0.08,\"verdict\":\"rollback\"}");
    later(62, 2, RECORD_CONVERGENCE, "", "accept", "",
          "{\"previous\":0.6,\"current\":0.96,\"delta\":0.36,\"verdict\":\"accept\"}");
}

static void put_objective(Room *room)
{
    StoreItem items[] = {{1, false, "find a product by a word", "processed", 0},
                         {2, false, "see the best first", "confirmed", 1},
                         {3, true, "no new database", "", 0}};
    StoreRequirement requirements[] = {
        {1, 1, "a word finds its products", "test-index passes", 3, 10000, 10000, "tests pass",
         "agent"},
        {2, 1, "a box on every page", "test-box passes", 2, 7500, 7500, "one page is missing",
         "agent"},
        {3, 2, "best sellers come first", "ranking passes", 1, 10000, 0, "", "refinement"}};
    StoreObjective objective = {items, COUNT(items), requirements, COUNT(requirements)};
    must(store_objective_save(room->store, 1, &objective, &room->err), &room->err);
    StoreRefinement applied = {.task = 1,
                               .text = "best sellers first, please",
                               .impact = "",
                               .touches = "R3",
                               .at_ms = T0 + 22 * MINUTE};
    StoreRefinement waits = {.task = 1,
                             .text = "and show the price",
                             .impact = "",
                             .touches = "R2",
                             .at_ms = T0 + 61 * MINUTE};
    must(store_refinement_put(room->store, &applied, NULL, &room->err), &room->err);
    must(store_refinement_apply(room->store, 1, T0 + 23 * MINUTE, "moderate", NULL, NULL,
                                &room->err),
         &room->err);
    must(store_refinement_put(room->store, &waits, NULL, &room->err), &room->err);
}

static void put_people(Room *room)
{
    StoreExperience experience = {.project = 1,
                                  .task = 1,
                                  .type = "software",
                                  .topic = "Ranking",
                                  .text = "Sales say more than prices.",
                                  .quality = "verified",
                                  .at_ms = T0 + 63 * MINUTE};
    StoreCheckpoint checks[] = {
        {1, 1, 1, "index", "make test-index", "executable", "green", T0 + 19 * MINUTE},
        {1, 2, 2, "make test-box", "make test-box", "executable", "green", T0 + 18 * MINUTE},
        {1, 3, 2, "looks right", "open the page", "human", "waits", T0 + 6 * MINUTE}};
    must(store_experience_put(room->store, &experience, &room->err), &room->err);
    must(store_checkpoints_save(room->store, 1, checks, COUNT(checks), &room->err), &room->err);
    later(2, 1, RECORD_NOTES, "", "", "",
          "{\"decisions\":[\"the index is read, not written\"],\"issues\":[],\"notes\":\"\"}");
    later(60, 2, RECORD_NOTES, "", "", "",
          "{\"decisions\":[\"sales of 30 days\"],\"issues\":[\"sales of Sundays are "
          "missing\"],\"notes\":\"Asked the shop.\"}");
    later(61, 2, RECORD_FEEDBACK, "", "redo", "",
          "{\"iteration\":3,\"timestamp\":\"2026-03-02T10:01:00Z\",\"decision\":\"redo\","
          "\"quickIssues\":[\"tests\",\"style\"],\"customFeedback\":\"Please name it "
          "better.\",\"redoOption\":\"keep\",\"selectionHint\":\"next\"}");
    later(63, 2, RECORD_EXPERIENCE, "", "(distilled)", "",
          "{\"worked\":[\"small steps\"],\"failed\":[\"ranking by price\"],"
          "\"tools\":[\"make\"]}");
    later(64, 2, RECORD_HOOK, "", "0", "notify satisfied", "");
}

static void put_ends(Room *room)
{
    StoreLanding landing = {.task = 1,
                            .run = 1,
                            .commit = "ffffffffffffffffffff",
                            .old_tip = "1111111111111111",
                            .new_tip = "2222222222222222",
                            .at_ms = T0 + 64 * MINUTE};
    StoreGateResult gates[] = {{.run = 1,
                                .epoch = 1,
                                .turn = 14,
                                .stage = "gate",
                                .position = 0,
                                .name = "build",
                                .command = "make",
                                .is_required = true,
                                .started_ms = T0 + 19 * MINUTE,
                                .took_ms = 12000,
                                .limit_s = 60,
                                .output = "",
                                .output_length = 0},
                               {.run = 1,
                                .epoch = 1,
                                .turn = 14,
                                .stage = "gate",
                                .position = 1,
                                .name = "lint",
                                .command = "make lint",
                                .is_required = false,
                                .exit_code = 1,
                                .started_ms = T0 + 19 * MINUTE,
                                .took_ms = 3000,
                                .limit_s = 60,
                                .output = "\x1b[31mbox.c:3: long line\x1b[0m\n",
                                .output_length = 28}};
    StoreUsage usage = {.run = 1,
                        .turn = 1,
                        .agent = "one",
                        .model = "m",
                        .input = 12000,
                        .output = 3400,
                        .cache = 500,
                        .cost_micros = 123400,
                        .at_ms = T0};
    StoreNotice notice = {.project = 1,
                          .task = 1,
                          .run = 1,
                          .kind = "review",
                          .text = "look at the box",
                          .at_ms = T0 + 60 * MINUTE};
    must(store_landing_put(room->store, &landing, &room->err), &room->err);
    for (size_t i = 0; i < COUNT(gates); i++)
        must(store_gate_put(room->store, &gates[i], &room->err), &room->err);
    must(store_usage_put(room->store, &usage, &room->err), &room->err);
    must(store_notice_put(room->store, &notice, NULL, &room->err), &room->err);
    must(store_notice_close_task(room->store, 1, NULL, T0 + 61 * MINUTE, "redo", &room->err),
         &room->err);
}

void history_put(Room *room)
{
    put_texts(room);
    put_steps(room);
    put_plans();
    put_proof();
    put_checks();
    put_stages(room);
    put_objective(room);
    put_people(room);
    put_ends(room);
    put_records(room);
}

RecordFacts history_facts(void)
{
    static const char *const log[] = {"ffffffffff Merge the search", "eeeeeeeeee Rank by sales"};
    return (RecordFacts){.now_ms = T0 + 90 * MINUTE,
                         .project = "shop",
                         .target = "main",
                         .workflow = "staged",
                         .state = "done",
                         .status = "satisfied",
                         .why = "everything asked for is met",
                         .branch = "otto/1",
                         .log = log,
                         .log_count = COUNT(log)};
}
