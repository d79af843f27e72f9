/* `otto decide route` and `transition` for the workflows with statuses of their own. */
#include "tests/test.h"

#include "base/json.h"
#include "base/str.h"
#include "core/decide.h"
#include <stdlib.h>
#include <string.h>

static json_t *decide(const char *name, const char *text, int want_exit)
{
    int exit_code = -1;
    char *answer = decide_run(name, text, strlen(text), &exit_code);
    json_t *json = json_loads(answer, 0, NULL);
    if (exit_code != want_exit || !json)
        fail_msg("%s < %s: exit %d: %s", name, text, exit_code, answer);
    free(answer);
    return json;
}

/* Single quotes stand for double ones, so that the cases can be read. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static void expect(const char *name, const char *input, const char *wanted)
{
    char *in = quoted(input), *want = quoted(wanted);
    json_t *have = decide(name, in, 0), *part = json_loads(want, 0, NULL), *value;
    const char *key;
    assert_non_null(part);
    json_object_foreach(part, key, value)
    {
        if (!json_equal(json_object_get(have, key), value)) {
            char *shown = json_write(have);
            fail_msg("%s < %s: '%s' differs in %s", name, in, key, shown);
        }
    }
    assert_true(json_string_length(json_object_get(have, "why")) > 0);
    assert_true(json_string_length(json_object_get(have, "row")) > 0);
    json_decref(have);
    json_decref(part);
    free(in);
    free(want);
}

static void refuse(const char *name, const char *input, const char *field, const char *part)
{
    char *in = quoted(input);
    json_t *have = decide(name, in, 1), *error = json_object_get(have, "error");
    assert_string_equal(json_text(error, "kind", ""), "bad-input");
    assert_string_equal(json_text(error, "field", "(none)"), field);
    if (!strstr(json_text(error, "message", ""), part))
        fail_msg("'%s' lacks '%s'", json_text(error, "message", ""), part);
    json_decref(have);
    free(in);
}

#define A "'workflow':'lifecycle',"
#define B "'workflow':'staged',"
#define CHECK(at, result) "'step':'check','checkpoint':'" at "','result':'" result "'"

static void route_enters_by_status(void **state)
{
    (void)state;
    expect("route", "{" A "'status':'draft','enter':true}",
           "{'next':'plan','checkpoint':null,'status':'draft','phase':null}");
    expect("route", "{" A "'status':'draft','enter':true,'target_filled':false}",
           "{'next':'(stop)','status':'draft'}");
    expect("route", "{" A "'status':'re-planning','phase':'needs-check','enter':true}",
           "{'next':'verify','checkpoint':'post-plan','phase':'needs-check'}");
    expect("route", "{" A "'status':'re-planning','enter':true}", "{'next':'plan'}");
    expect("route", "{" B "'status':'draft','enter':true}", "{'next':'target','status':'draft'}");
    expect("route", "{" B "'status':'planning','enter':true}", "{'next':'plan'}");
    expect("route", "{" B "'status':'evolving','enter':true,'convergence':{'value':0.95}}",
           "{'next':'report'}");
    expect("route", "{" B "'status':'evolving','enter':true}", "{'next':'target'}");
}

static void route_follows_the_results(void **state)
{
    (void)state;
    expect("route", "{" A "'status':'planning'," CHECK("post-plan", "PASS") "}",
           "{'next':'exec','checkpoint':null,'status':'review','phase':null}");
    expect("route", "{" A "'status':'executing','step':'exec','result':'(step-7)'}",
           "{'next':'verify','checkpoint':'mid-exec','status':'executing'}");
    expect("route", "{" A "'status':'executing','step':'merge','result':'conflict'}",
           "{'next':'(stop)','status':'executing'}");
    expect(
        "route", "{" A "'status':'review','step':'plan','result':'(generated)'}",
        "{'next':'verify','checkpoint':'post-plan','status':'re-planning','phase':'needs-check'}");
    expect("route", "{" B "'status':'executing'," CHECK("post-exec", "ACCEPT") "}",
           "{'next':'highlight','checkpoint':'post-exec','status':'evolving'}");
    expect("route", "{" B "'status':'evolving','step':'target','result':'(stage-advanced)'}",
           "{'next':'plan','status':'planning'}");
    expect("route", "{" B "'status':'draft','step':'target','result':'(refined)'}",
           "{'next':'plan','status':'planning'}");
    expect("route",
           "{" B "'status':'draft','step':'target','result':'(refined)','confirmed':false}",
           "{'next':'confirm','status':'draft'}");
    expect("route", "{" B "'status':'evolving','step':'report','result':'(generated)'}",
           "{'next':'target','status':'evolving'}");
    expect("route",
           "{" B "'status':'evolving','step':'report','result':'(generated)',"
           "'convergence':{'value':0.95,'previous':0.5}}",
           "{'next':'(stop)','status':'satisfied','effects':['enqueue-merge','free-slot']}");
}

static void retries_and_stages_count(void **state)
{
    (void)state;
    expect("route",
           "{" B "'status':'planning'," CHECK("post-plan", "NEEDS_REVISION") ",'retries':2}",
           "{'next':'plan','status':'planning'}");
    expect("route",
           "{" B "'status':'planning'," CHECK("post-plan", "NEEDS_REVISION") ",'retries':3}",
           "{'next':'(rollback)','status':'re-planning','phase':'needs-plan'}");
    expect("route",
           "{" B "'status':'planning'," CHECK("post-plan",
                                              "NEEDS_REVISION") ",'retries':3,'rolled_back':true}",
           "{'next':'(stop)','status':'planning'}");
    expect("route",
           "{" B "'status':'executing'," CHECK("mid-exec",
                                               "NEEDS_FIX") ",'retries':2,'limits':{'mid-exec':5}}",
           "{'next':'exec','checkpoint':'mid-exec'}");
    expect("route", "{" B "'status':'executing'," CHECK("mid-exec", "NEEDS_FIX") ",'retries':2}",
           "{'next':'(rollback)'}");
    expect("route", "{" B "'status':'executing'," CHECK("post-exec", "ROLLBACK") "}",
           "{'next':'exec','checkpoint':'post-exec','status':'executing'}");
    expect("route", "{" B "'status':'executing'," CHECK("post-exec", "ROLLBACK") ",'stage':2}",
           "{'next':'(rollback)','checkpoint':'post-exec','status':'evolving'}");
    expect("route",
           "{" B "'status':'executing'," CHECK(
               "post-exec", "ACCEPT") ",'stage':3,'convergence':{'value':0.5,'previous':0.6}}",
           "{'next':'(rollback)','status':'evolving'}");
    expect("route",
           "{" B "'status':'executing'," CHECK(
               "post-exec", "ACCEPT") ",'stage':3,'convergence':{'value':0.6,'previous':0.6}}",
           "{'next':'highlight'}");
    expect("route",
           "{" A "'status':'planning'," CHECK("post-plan", "NEEDS_REVISION") ",'retries':9}",
           "{'next':'plan'}"); /* lifecycle has no retries of its own */
    expect("route",
           "{" A "'status':'planning'," CHECK(
               "post-plan", "NEEDS_REVISION") ",'retries':2,'limits':{'post-plan':2}}",
           "{'next':'(rollback)','status':'re-planning','phase':'needs-plan'}");
}

static void a_missing_checkpoint_is_found_where_there_is_no_choice(void **state)
{
    (void)state;
    expect("route", "{" A "'status':'planning','step':'check','result':'PASS'}", "{'next':'exec'}");
    expect("route", "{" A "'status':'executing','step':'check','result':'ACCEPT'}",
           "{'next':'merge'}");
    expect("route", "{" A "'status':'executing','step':'check','result':'BLOCKED'}",
           "{'next':'(stop)','status':'blocked'}");
    expect("route", "{" A "'status':'planning','step':'check','result':'REPLAN'}",
           "{'next':'plan'}");
    refuse("route", "{" A "'status':'executing','step':'check','result':'NEEDS_FIX'}", "checkpoint",
           "'checkpoint' is missing");
}

static void wrong_words_are_bad_input(void **state)
{
    (void)state;
    refuse("route", "{" A "'status':'planning'," CHECK("mid-exec", "PASS") "}", "checkpoint",
           "cannot say 'PASS'");
    refuse("route", "{" A "'status':'planning'," CHECK("conflict", "BLOCKED") "}", "checkpoint",
           "cannot say");
    refuse("route", "{" A "'status':'planning'," CHECK("moon", "PASS") "}", "checkpoint",
           "unknown");
    refuse("route", "{" A "'status':'satisfied','enter':true}", "status", "unknown");
    refuse("route", "{" A "'status':'planning','enter':true,'phase':'moon'}", "phase",
           "needs-plan");
    refuse("route", "{" A "'status':'planning'," CHECK("post-plan", "ROLLBACK") "}", "result",
           "unknown");
    refuse("route", "{" A "'status':'executing','step':'exec','result':'(step-0)'}", "result",
           "unknown");
    refuse("route", "{" A "'status':'executing','step':'highlight','result':'failed'}", "step",
           "unknown");
    refuse("route", "{" B "'status':'evolving','enter':true,'stage':0}", "stage", "at least 1");
    refuse("route", "{" B "'status':'evolving','enter':true,'convergence':{'value':1.5}}",
           "convergence.value", "from 0 to 1");
    refuse("route", "{" B "'status':'evolving','enter':true,'convergence':{}}", "convergence.value",
           "missing");
    refuse("route", "{" B "'status':'planning','enter':true,'limits':{'post-plan':-1}}",
           "limits.post-plan", "whole number");
    refuse("transition", "{" A "'status':'planning','command':'check'}", "checkpoint", "missing");
    refuse("transition", "{" A "'status':'planning','command':'check','checkpoint':'post-plan'}",
           "result", "missing");
    refuse("transition",
           "{" A "'status':'planning','command':'check','checkpoint':'conflict','result':'PASS'}",
           "checkpoint", "judges nothing");
    refuse("transition", "{" A "'status':'planning','command':'dance'}", "command", "unknown");
}

static void transition_answers_by_the_matrix(void **state)
{
    (void)state;
    expect("transition",
           "{" A
           "'status':'executing','command':'check','checkpoint':'mid-exec','result':'REPLAN'}",
           "{'allowed':true,'status':'re-planning','phase':'needs-plan'}");
    expect("transition", "{" A "'status':'executing','command':'merge'}",
           "{'allowed':false,'status':'executing'}");
    expect("transition", "{" A "'status':'executing','command':'merge','accepted':true}",
           "{'allowed':true,'status':'complete'}");
    expect("transition", "{" A "'status':'complete','command':'target'}",
           "{'allowed':true,'status':'planning'}");
    expect("transition", "{" A "'status':'complete','command':'cancel'}",
           "{'allowed':false,'status':'complete'}");
    expect("transition", "{" A "'status':'re-planning','phase':'needs-plan','command':'exec'}",
           "{'allowed':false,'status':'re-planning','phase':'needs-plan'}");
    expect("transition", "{" B "'status':'satisfied','command':'target'}",
           "{'allowed':true,'status':'evolving'}");
    expect("transition", "{" B "'status':'draft','command':'target','confirmed':false}",
           "{'allowed':true,'status':'draft'}");
    expect("transition",
           "{" B
           "'status':'executing','command':'check','checkpoint':'post-exec','result':'ROLLBACK'}",
           "{'allowed':true,'status':'evolving'}");
    expect("transition", "{" B "'status':'review','command':'annotate','result':'comment'}",
           "{'allowed':true,'status':'review'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(route_enters_by_status),
        cmocka_unit_test(route_follows_the_results),
        cmocka_unit_test(retries_and_stages_count),
        cmocka_unit_test(a_missing_checkpoint_is_found_where_there_is_no_choice),
        cmocka_unit_test(wrong_words_are_bad_input),
        cmocka_unit_test(transition_answers_by_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
