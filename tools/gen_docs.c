/* Writes the generated pages of docs/ from the tables: `gen-docs PAGE` prints one page. */
#include "core/backlog.h"
#include "core/effect.h"
#include "core/event.h"
#include "core/settings.h"
#include "core/types.h"
#include "core/workflow_file.h"
#include "core/workflow_graph.h"
#include "engine/api.h"
#include <stdio.h>
#include <string.h>

#define GENERATED "<!-- Generated from the tables; see CONTRIBUTING.md. -->\n"

static void head(Str *out, const char *title, const char *text)
{
    str_addf(out, GENERATED "# %s\n\n%s\n\n", title, text);
}

static void add_states(Str *out)
{
    str_add(out, "## Task states\n\n| state | meaning |\n|---|---|\n");
#define X(state, word, help) str_addf(out, "| `%s` | %s |\n", word, help);
    TASK_STATES(X)
#undef X
    str_add(out, "\n## Run states\n\nA run owes at most one effect; its state says which.\n\n"
                 "| state | holds a slot | owes | meaning |\n|---|---|---|---|\n");
#define X(state, word, slot, effect, help)                                                         \
    str_addf(out, "| `%s` | %s | %s | %s |\n", word, (slot) ? "yes" : "", effect_word(effect),     \
             help);
    RUN_STATES(X)
#undef X
    str_add(out, "\n## What a dependency can ask for\n\n| need | meaning |\n|---|---|\n");
#define X(need, word, help) str_addf(out, "| `%s` | %s |\n", word, help);
    NEEDS(X)
#undef X
    str_add(out, "\n## The autopilot\n\n| state | meaning |\n|---|---|\n");
#define X(state, word, help) str_addf(out, "| `%s` | %s |\n", word, help);
    AUTO_STATES(X)
#undef X
}

static void page_states(Str *out)
{
    head(out, "States",
         "What a task and a run can be. Where each result leads: [workflows](workflows.md).");
    add_states(out);
}

static void page_events(Str *out)
{
    head(out, "Events and effects",
         "Everything that happens is an event, stored for ever; what must then be done is an "
         "effect.");
    str_add(out, "| event | fields | meaning |\n|---|---|---|\n");
#define NAME(x) ((x) ? (x) : "")
#define X(kind, word, a, b, text, ref, ref2, help)                                                 \
    str_addf(out, "| `%s` | %s %s %s %s %s | %s |\n", word, NAME((const char *)a),                 \
             NAME((const char *)b), NAME((const char *)text), NAME((const char *)ref),             \
             NAME((const char *)ref2), help);
    EVENTS(X)
#undef X
    str_add(out, "\n| effect | what is done |\n|---|---|\n");
#define X(effect, word, help) str_addf(out, "| `%s` | %s |\n", word, help);
    EFFECTS(X)
#undef X
}

static void page_settings(Str *out)
{
    str_add(out, GENERATED);
    settings_markdown(out);
}

static void page_backlog(Str *out)
{
    head(out, "Task files",
         "`otto add --from FILE` (or `-` for standard input) reads Markdown. The whole file is "
         "good, "
         "or nothing is added.");
    str_add(
        out,
        "1. A file that begins with `---`: each front matter block begins a task; the text after "
        "it is the body.\n"
        "2. No front matter, but headings: each heading of the shallowest level is a task.\n"
        "3. Neither: each list item `- [ ] title` is a task; `- [x]` is done and left out.\n\n"
        "Nothing inside a code fence begins a task.\n\n");
    backlog_markdown(out);
}

static void page_api(Str *out)
{
    size_t count;
    const ApiRouteInfo *routes = api_routes(&count);
    head(out, "The API",
         "HTTP/1.1 on the socket `sock` in the state folder, JSON in and out. Errors are "
         "`{\"error\":{\"kind\",\"message\"}}`.");
    str_add(out, "| method | path | what | agents |\n|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++)
        str_addf(out, "| %s | `%s` | %s | %s |\n", routes[i].method, routes[i].path, routes[i].help,
                 routes[i].for_agents ? "yes" : "");
}

static void page_workflows(Str *out)
{
    str_add(out, GENERATED);
    workflow_page(out);
}

/* workflow-NAME.svg of a built-in workflow. */
static bool picture(const char *page, Str *out)
{
    char name[64];
    int end = 0;
    if (sscanf(page, "workflow-%63[a-z-].svg%n", name, &end) != 1 || page[end] != '\0' ||
        !workflow_find(name))
        return false;
    workflow_graph_svg(workflow_find(name), out);
    return true;
}

typedef struct Page {
    const char *name;
    void (*write)(Str *out);
} Page;

static const Page pages[] = {
    {"states", page_states},
    {"events", page_events},
    {"settings", page_settings},
    {"backlog", page_backlog},
    {"api", page_api},
    {"workflows", page_workflows},
    {"workflow.schema.json", workflow_schema},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT(pages); i++) {
        if (argc != 2 || strcmp(argv[1], pages[i].name) != 0)
            continue;
        Str out = STR_INIT;
        pages[i].write(&out);
        bool is_written = fputs(str_text(&out), stdout) >= 0;
        str_done(&out);
        return is_written ? 0 : 1;
    }
    CLEANUP(str_done) Str out = STR_INIT;
    if (argc == 2 && picture(argv[1], &out))
        return fputs(str_text(&out), stdout) >= 0 ? 0 : 1;
    (void)fputs("usage: gen-docs states|events|settings|backlog|api|workflows|workflow.schema.json|"
                "workflow-NAME.svg\n",
                stderr); /* usage */
    return 1;
}
