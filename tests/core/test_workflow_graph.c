/* Pictures and pages of workflows. */
#include "tests/test.h"

#include "core/workflow_graph.h"
#include <string.h>

static void no_line_is_wider_than_a_terminal(void **state)
{
    (void)state;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        workflow_graph_text(all[i], &text);
        for (const char *at = str_text(&text); *at;) {
            size_t length = strcspn(at, "\n");
            if (length > 80)
                fail_msg("%s: %.*s", all[i]->name, (int)length, at);
            at += length + (at[length] == '\n');
        }
    }
}

static void the_text_tells_every_phase_and_result(void **state)
{
    (void)state;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    char result[64];
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str text = STR_INIT;
        workflow_graph_text(all[i], &text);
        for (unsigned p = 0; p < all[i]->phase_count; p++) {
            const WorkflowPhase *phase = &all[i]->phases[p];
            assert_non_null(strstr(str_text(&text), phase->name));
            for (size_t r = 0; word_at(phase->results, r, result, sizeof result); r++)
                assert_non_null(strstr(str_text(&text), result));
        }
    }
}

static void the_picture_is_well_formed(void **state)
{
    (void)state;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str svg = STR_INIT;
        long open = 0;
        workflow_graph_svg(all[i], &svg);
        const char *text = str_text(&svg);
        assert_true(text_starts(text, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert_true(text_ends(text, "</svg>\n"));
        for (const char *at = text; *at; at++) { /* every tag is closed, in order of depth */
            if (*at != '<')
                continue;
            const char *end = strchr(at, '>');
            assert_non_null(end);
            open += at[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
            assert_true(open >= 0);
        }
        assert_int_equal(open, 0);
        assert_null(strstr(text, "href"));
        for (unsigned p = 0; p < all[i]->phase_count; p++)
            assert_non_null(strstr(text, all[i]->phases[p].name));
    }
}

static void text_of_others_never_becomes_markup(void **state)
{
    (void)state;
    Workflow flow = workflow_loop;
    WorkflowPhase phases[8];
    memcpy(phases, workflow_loop.phases, flow.phase_count * sizeof *phases);
    flow.phases = phases;
    flow.name = "<script>alert(1)</script>";
    flow.help = "a & \"b\" \x1b[2J";
    phases[0].help = "| pipe | <b>";
    CLEANUP(str_done) Str svg = STR_INIT;
    workflow_graph_svg(&flow, &svg);
    assert_null(strstr(str_text(&svg), "<script"));
    assert_null(strchr(str_text(&svg), '\x1b'));
    assert_non_null(strstr(str_text(&svg), "&lt;script&gt;"));
    assert_non_null(strstr(str_text(&svg), "a &amp; &quot;b&quot;"));
    CLEANUP(str_done) Str text = STR_INIT;
    workflow_graph_text(&flow, &text);
    assert_null(strchr(str_text(&text), '\x1b'));
    CLEANUP(str_done) Str page = STR_INIT;
    workflow_markdown(&flow, &page);
    assert_non_null(strstr(str_text(&page), "\\| pipe \\| \\<b>"));
}

static void the_page_holds_every_row(void **state)
{
    (void)state;
    CLEANUP(str_done) Str page = STR_INIT;
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    workflow_page(&page);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(str_done) Str image = STR_INIT;
        str_addf(&image, "(workflow-%s.svg)", all[i]->name);
        assert_non_null(strstr(str_text(&page), str_text(&image)));
        for (unsigned r = 0; r < all[i]->route_count; r++)
            assert_non_null(strstr(str_text(&page), all[i]->routes[r].id));
        for (unsigned r = 0; r < all[i]->transition_count; r++)
            assert_non_null(strstr(str_text(&page), all[i]->transitions[r].id));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_wider_than_a_terminal),
        cmocka_unit_test(the_text_tells_every_phase_and_result),
        cmocka_unit_test(the_picture_is_well_formed),
        cmocka_unit_test(text_of_others_never_becomes_markup),
        cmocka_unit_test(the_page_holds_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
