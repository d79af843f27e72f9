/* Workflows that may be used in a repository: see workflows.h. */
#include "engine/workflows.h"
#include "agent/prompt.h"
#include "base/file.h"
#include "base/yaml.h"
#include "core/workflow_file.h"
#include "engine/prompts.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One file while it is read. */
typedef struct Source {
    WorkflowSet *set;
    const char *path;
    YamlDoc doc;
} Source;

static void add_problem(Source *source, int line, const char *text)
{
    WorkflowSet *set = source->set;
    if (set->problem_count == WORKFLOW_PROBLEMS_MAX)
        return;
    if (!set->problems)
        set->problems = arena_alloc(&set->arena, WORKFLOW_PROBLEMS_MAX * sizeof *set->problems);
    set->problems[set->problem_count++] =
        (WorkflowProblem){source->path, line, arena_strdup(&set->arena, text)};
}

/* -- lines: the sentence names a path of the file, or a row or phase by its name ------------- */

static int line_of_path(const YamlDoc *doc, const char *text)
{
    char path[200];
    size_t length = strcspn(text, ": ");
    if (!length || length >= sizeof path)
        return 0;
    memcpy(path, text, length);
    path[length] = '\0';
    for (;;) { /* the nearest part that stands in the file */
        int line = yaml_line(doc, path);
        char *cut = strrchr(path, '.'), *bracket = strrchr(path, '[');
        cut = bracket > cut ? bracket : cut;
        if (line || !cut)
            return line;
        *cut = '\0';
    }
}

static bool is_named(const json_t *row, const char *name)
{
    return text_equal(json_text(row, "id", NULL), name) ||
           text_equal(json_text(row, "name", NULL), name);
}

static int line_of_name(const YamlDoc *doc, const char *name)
{
    char path[200];
    const char *key;
    json_t *value;
    json_object_foreach(doc->root, key, value)
    {
        size_t i;
        const json_t *row;
        json_array_foreach(value, i, row)
        {
            (void)snprintf(path, sizeof path, "%s[%zu]", key, i); /* a cut one is not found */
            if (is_named(row, name) && yaml_line(doc, path))
                return yaml_line(doc, path);
        }
        (void)snprintf(path, sizeof path, "%s.%s", key, name); /* a cut one is not found */
        if (json_object_get(value, name) && yaml_line(doc, path))
            return yaml_line(doc, path);
    }
    return 0;
}

static int line_of(const YamlDoc *doc, const char *text)
{
    char name[120];
    int line = line_of_path(doc, text);
    const char *open = strchr(text, '\'');
    size_t length = open ? strcspn(open + 1, "'") : 0;
    if (line || !open || !length || length >= sizeof name)
        return line;
    memcpy(name, open + 1, length);
    name[length] = '\0';
    return line_of_name(doc, name);
}

/* libyaml's own sentences begin with "line N". */
static int line_said(const char *text)
{
    const char *at = strstr(text, "line ");
    return at ? (int)strtol(at + 5, NULL, 10) : 0;
}

static const char *past_line(const char *text)
{
    const char *colon = text_starts(text, "line ") ? strstr(text, ": ") : NULL;
    return colon ? colon + 2 : text;
}

/* -- one file -------------------------------------------------------------------------------- */

static bool check_rows(Source *source, const Workflow *workflow)
{
    CLEANUP(str_done) Str lines = STR_INIT;
    size_t count = workflow_check(workflow, &lines), head = strlen(workflow->name);
    for (char *at = lines.bytes; at && *at;) {
        char *end = strchrnul(at, '\n');
        bool has_name = strncmp(at, workflow->name, head) == 0 && at[head] == ':';
        bool is_last = *end == '\0';
        *end = '\0';
        const char *text = has_name ? at + head + 1 + (at[head + 1] == ' ') : at;
        add_problem(source, line_of(&source->doc, text), text);
        at = is_last ? end : end + 1;
    }
    return count == 0;
}

/* A prompt that nobody has would be noticed only when its turn comes. Without a repository nothing
 * is known of prompts of its own. */
static bool check_prompts(Source *source, const Workflow *workflow)
{
    WorkflowSet *set = source->set;
    bool is_fine = true;
    for (unsigned i = 0; set->repo && i < workflow->phase_count; i++) {
        const WorkflowPhase *phase = &workflow->phases[i];
        bool is_asked =
            phase->kind == PHASE_AGENT || phase->kind == PHASE_GATE || phase->kind == PHASE_OBSERVE;
        if (!is_asked || !phase->prompt || !*phase->prompt ||
            prompt_is_known(set->repo, phase->prompt, &set->arena))
            continue;
        const char *text = arena_printf(&set->arena,
                                        "phase '%s': there is no prompt '%s', neither built in nor "
                                        "as " PROMPT_FOLDER "/%s.md",
                                        phase->name, phase->prompt, phase->prompt);
        add_problem(source, line_of(&source->doc, text), text);
        is_fine = false;
    }
    return is_fine;
}

static void put_item(WorkflowSet *set, const WorkflowItem *item)
{
    for (size_t i = 0; i < set->count; i++)
        if (text_equal(set->items[i].name, item->name)) {
            set->items[i] = *item;
            return;
        }
    set->items[set->count++] = *item;
}

static void take_definition(Source *source)
{
    WorkflowSet *set = source->set;
    Err err = {0};
    const Workflow *workflow = workflow_read(source->doc.root, &set->arena, &err);
    if (!workflow) {
        add_problem(source, line_of(&source->doc, err.text), err.text);
        return;
    }
    if (!check_rows(source, workflow) || !check_prompts(source, workflow))
        return;
    CLEANUP(mem_freep) char *text = json_write(source->doc.root);
    put_item(set, &(WorkflowItem){.name = workflow->name,
                                  .path = source->path,
                                  .workflow = workflow,
                                  .definition = arena_strdup(&set->arena, text ? text : "{}"),
                                  .is_override = workflow_find(workflow->name) != NULL});
}

/* A folder of this name may hold files of other tools; ours have phases or build on another. */
static bool is_ours(const json_t *root)
{
    return json_object_get(root, "phases") || json_object_get(root, "extends");
}

static bool read_one(WorkflowSet *set, const char *path, bool is_shared_folder, Err *err)
{
    Source source = {.set = set, .path = arena_strdup(&set->arena, path)};
    Err problem = {0};
    size_t length = 0;
    CLEANUP(mem_freep) char *text = file_read(path, WORKFLOW_FILE_MAX, &length, err);
    if (!text)
        return false;
    if (strlen(text) != length || !yaml_read(text, length, &source.doc, &problem)) {
        if (!is_shared_folder)
            add_problem(&source, line_said(problem.text),
                        *problem.text ? past_line(problem.text) : "holds NUL bytes");
        return true;
    }
    if (is_ours(source.doc.root))
        take_definition(&source);
    else if (!is_shared_folder)
        add_problem(&source, 0, "this is no workflow: it has neither `phases` nor `extends`");
    yaml_done(&source.doc);
    return true;
}

/* -- folders --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t list_files(WorkflowSet *set, const char *folder, const char **names)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat info;
        const char *path = arena_printf(&set->arena, "%s/%s", folder, entry->d_name);
        bool is_yaml = text_ends(entry->d_name, ".yaml") || text_ends(entry->d_name, ".yml");
        if (is_yaml && entry->d_name[0] != '.' && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
            count < WORKFLOW_FILES_MAX)
            names[count++] = path;
    }
    if (dir)
        (void)closedir(dir); /* only read */
    if (count)
        qsort(names, count, sizeof *names, by_name);
    return count;
}

/* In one folder a name may stand once: which of two would count is nobody's guess. */
static void refuse_twice(WorkflowSet *set, const char *folder, const WorkflowItem *old, size_t i)
{
    const WorkflowItem *now = &set->items[i];
    size_t head = strlen(folder);
    bool is_twice = now->path != old->path && text_starts(old->path, folder) &&
                    old->path[head] == '/' && !strchr(old->path + head + 1, '/');
    Source source = {.set = set, .path = now->path};
    if (is_twice)
        add_problem(&source, 0,
                    arena_printf(&set->arena, "workflow '%s' stands in '%s' already", now->name,
                                 old->path));
}

static void read_folder(WorkflowSet *set, const char *folder, bool is_shared)
{
    const char *names[WORKFLOW_FILES_MAX];
    size_t count = list_files(set, folder, names);
    for (size_t i = 0; i < count && set->count < WORKFLOW_FILES_MAX; i++) {
        Err err = {0};
        size_t known = set->count;
        WorkflowItem *before = arena_alloc(&set->arena, (known + 1) * sizeof *before);
        memcpy(before, set->items, known * sizeof *before);
        if (!read_one(set, names[i], is_shared, &err)) {
            Source source = {.set = set, .path = names[i]};
            add_problem(&source, 0, err.text);
        }
        for (size_t k = 0; k < known; k++)
            if (set->items[k].path != before[k].path)
                refuse_twice(set, folder, &before[k], k);
    }
}

static void read_own(WorkflowSet *set)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/') /* the specification says: a relative one is ignored */
        read_folder(set, arena_printf(&set->arena, "%s/otto/workflows", config), false);
    else if (home && *home == '/')
        read_folder(set, arena_printf(&set->arena, "%s/.config/otto/workflows", home), false);
}

static void begin(WorkflowSet *set)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    enum { ROOM = WORKFLOW_FILES_MAX + WORKFLOW_FIRST_OWN };
    if (set->items)
        return;
    set->items = arena_alloc(&set->arena, ROOM * sizeof *set->items);
    for (size_t i = 0; i < count; i++)
        set->items[set->count++] =
            (WorkflowItem){.name = all[i]->name, .path = "", .workflow = all[i], .definition = ""};
}

bool workflows_load(const char *repo, WorkflowSet *set, Err *err)
{
    *set = (WorkflowSet){0};
    begin(set);
    set->repo = repo ? arena_strdup(&set->arena, repo) : NULL;
    if (repo && strlen(repo) > PATH_MAX - 64)
        return err_set(err, ERR_USAGE, "the path of the repository is too long");
    read_own(set);
    if (repo) {
        read_folder(set, arena_printf(&set->arena, "%s/workflows", repo), true);
        read_folder(set, arena_printf(&set->arena, "%s/.otto/workflows", repo), false);
    }
    return true;
}

bool workflows_read_file(const char *path, WorkflowSet *set, Err *err)
{
    struct stat info;
    begin(set);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return err_set(err, ERR_USAGE, "'%s' is no ordinary file", path);
    return read_one(set, path, false, err);
}

void workflows_done(WorkflowSet *set)
{
    arena_done(&set->arena);
    *set = (WorkflowSet){0};
}

const WorkflowItem *workflows_find(const WorkflowSet *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (text_equal(set->items[i].name, name))
            return &set->items[i];
    return NULL;
}
