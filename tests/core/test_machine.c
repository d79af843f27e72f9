/* All tests of the machine, and whether they have used every row of its tables. */
#include "core/workflow.h"
#include "tests/core/test_machine_rig.h"
#include <string.h>

typedef struct Pair {
    RunState from;
    EventKind on;
} Pair;

/* The rows of machine_run.c and machine_merge.c. */
static const Pair pairs[] = {
    {RUN_PREPARING, EV_WORKSPACE_READY},
    {RUN_PREPARING, EV_WORKSPACE_FAILED},
    {RUN_WORKING, EV_TURN_STARTED},
    {RUN_STOPPING, EV_TURN_STARTED},
    {RUN_WORKING, EV_TURN_REFUSED},
    {RUN_WORKING, EV_SIGNAL},
    {RUN_STOPPING, EV_SIGNAL},
    {RUN_WORKING, EV_OUTPUT_LIMIT},
    {RUN_WORKING, EV_TURN_ENDED},
    {RUN_STOPPING, EV_TURN_ENDED},
    {RUN_STOPPING, EV_TURN_REFUSED},
    {RUN_SAVING, EV_SNAPSHOT_TAKEN},
    {RUN_SAVING, EV_SNAPSHOT_FAILED},
    {RUN_VERIFYING, EV_GATE_ENDED},
    {RUN_RETIRING, EV_RETIRED},
    {RUN_MERGING, EV_MERGE_CLEAN},
    {RUN_MERGING, EV_MERGE_CONFLICT},
    {RUN_MERGING, EV_MERGE_EMPTY},
    {RUN_MERGING, EV_MERGE_FAILED},
    {RUN_PROVING, EV_MERGE_GATE_ENDED},
    {RUN_LANDING, EV_LANDED},
    {RUN_LANDING, EV_LAND_MOVED},
    {RUN_LANDING, EV_LAND_FAILED},
};

static void every_row_of_the_run_and_merge_rules_was_used(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (!rig_was_seen(pairs[i].from, pairs[i].on))
            fail_msg("nobody tried %s in %s", event_word(pairs[i].on),
                     run_state_word(pairs[i].from));
}

/* A report means something in the rows above and nowhere else. */
static void no_other_report_was_ever_accepted(void **state)
{
    (void)state;
    for (unsigned from = 0; from < RUN_STATE_COUNT; from++)
        for (unsigned on = EV_WORKSPACE_READY; on <= EV_RETIRED; on++) {
            bool is_row = false;
            for (size_t i = 0; i < COUNT(pairs); i++)
                is_row = is_row || (pairs[i].from == from && pairs[i].on == on);
            if (!is_row && rig_was_seen((RunState)from, (EventKind)on))
                fail_msg("%s was accepted in %s", event_word((EventKind)on),
                         run_state_word((RunState)from));
        }
}

/* Rows for other drivers of the same table: the machine itself judges the limits of a turn before
 * the route (completion.h), parks stopped runs, keeps moved merges in the queue, asks for no
 * review. */
static const char *const unused[] = {
    "work-stopped",   "work-pending-turns", "work-pending-time", "work-none-turns",
    "work-none-time", "verify-pass-review", "merge-moved",       "merge-moved-spent",
    "ask-approved",   "ask-redo",           "ask-rejected",
};

static bool is_unused(const char *row)
{
    for (size_t i = 0; i < COUNT(unused); i++)
        if (strcmp(unused[i], row) == 0)
            return true;
    return false;
}

static void every_route_of_the_loop_was_taken(void **state)
{
    (void)state;
    for (unsigned i = 0; i < workflow_loop.route_count; i++) {
        const char *row = workflow_loop.routes[i].id;
        if (!rig_was_routed(row) && !is_unused(row))
            fail_msg("nobody took the route '%s'", row);
        if (rig_was_routed(row) && is_unused(row))
            fail_msg("the route '%s' is used after all", row);
    }
}

static int test_coverage(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_run_and_merge_rules_was_used),
        cmocka_unit_test(no_other_report_was_ever_accepted),
        cmocka_unit_test(every_route_of_the_loop_was_taken),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}

int main(void)
{
    int failed = test_machine_turns();
    failed += test_machine_wishes();
    failed += test_machine_merges();
    failed += test_machine_queue();
    failed += test_coverage(); /* last: it looks at what the others did */
    return failed;
}
