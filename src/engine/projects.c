/* Projects: finding them by folder, reading otto.yaml, keeping the machine's limits in step. */
#include "base/file.h"
#include "base/log.h"
#include "engine/inspect.h"
#include "engine/internal.h"
#include "engine/workflows.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS_BYTES = 256 * 1024 };

ProjectInfo *project_info(Engine *engine, ProjectId id)
{
    for (uint32_t i = 0; i < engine->project_count; i++)
        if (engine->projects[i]->id == id)
            return engine->projects[i];
    return NULL;
}

static void info_free(ProjectInfo *info)
{
    settings_done(&info->settings);
    char *const texts[] = {info->path,   info->hub,         info->target,     info->name,
                           info->limits, info->deliver_why, info->agent_flag, info->flow_flag};
    json_decref(info->flows);
    for (size_t i = 0; i < COUNT(texts); i++)
        free(texts[i]);
    free(info);
}

void projects_free(Engine *engine)
{
    for (uint32_t i = 0; i < engine->project_count; i++)
        info_free(engine->projects[i]);
    free(engine->projects);
}

static ProjectInfo *info_add(Engine *engine, const StoreProjectText *text)
{
    ProjectInfo *info = mem_alloc(sizeof *info);
    info->id = text->id;
    info->path = mem_strdup(text->path);
    info->hub = mem_strdup(text->hub);
    info->target = mem_strdup(text->target);
    info->name = mem_strdup(text->name);
    info->limits = mem_strdup(text->settings_json);
    settings_init(&info->settings); /* defaults until otto.yaml is read */
    engine->projects =
        mem_grow(engine->projects, engine->project_count + 1, sizeof *engine->projects);
    engine->projects[engine->project_count++] = info;
    return info;
}

static bool load_one(void *user, const StoreProjectText *text)
{
    (void)info_add(user, text); /* kept in the engine's list */
    return true;
}

bool projects_load(Engine *engine, Err *err)
{
    return store_project_text_list(engine->store, load_one, engine, err);
}

/* Settings */

static const char *lookup_env(void *data, const char *variable)
{
    (void)data;
    return getenv(variable);
}

static bool first_problem(const SettingsProblems *problems, Err *err)
{
    const SettingsProblem *first = &problems->items[0];
    if (problems->count > 1)
        return err_set(err, ERR_USAGE, "%s (and %zu more; see `otto config check`)", first->text,
                       problems->count - 1);
    return err_set(err, ERR_USAGE, "%s", first->text);
}

/* Reads otto.yaml if there is one. On failure the settings that were there stay. */
static bool read_file(const char *path, Settings *settings, SettingsProblems *problems, Err *err)
{
    char file[PATH_MAX];
    size_t length = 0;
    (void)snprintf(file, sizeof file, "%s/%s", path, SETTINGS_FILE); /* a cut path is missing */
    if (!path_exists(file))
        return settings_read_env(lookup_env, NULL, settings, problems) ||
               first_problem(problems, err);
    CLEANUP(mem_freep) char *text = file_read(file, MOST_SETTINGS_BYTES, &length, err);
    YamlDoc doc;
    if (!text)
        return false;
    if (!yaml_read(text, length, &doc, err))
        return err_add(err, "'%s'", SETTINGS_FILE);
    bool is_good = settings_read(&doc, settings, problems);
    yaml_done(&doc);
    if (!settings_read_env(lookup_env, NULL, settings, problems) || !is_good)
        return first_problem(problems, err);
    return true;
}

/* The plain loop has no statuses of its own to tell of. */
static bool is_status(const WorkflowSet *set, const char *word)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].workflow != &workflow_loop &&
            workflow_has_status(set->items[i].workflow, word))
            return true;
    return false;
}

/* A hook of a status that no workflow has would never run. */
static void check_hooks(const char *path, const Settings *settings, json_t *list)
{
    WorkflowSet set = {0};
    Err ignored = {0};
    const TextMap *hooks = &settings->hooks.on_status;
    bool is_loaded = hooks->count && workflows_load(path, &set, &ignored);
    for (size_t i = 0; is_loaded && i < hooks->count; i++) {
        const char *word = hooks->items[i].key;
        if (is_status(&set, word))
            continue;
        const char *text = arena_printf(
            &set.arena,
            "hooks.on_status: no workflow has a status '%.60s' ('loop' has none that "
            "hooks hear of), so its command would never run; 'otto workflow show NAME' "
            "lists them",
            word);
        json_array_append_new(list,
                              json_pack("{s:s,s:s}", "key", "hooks.on_status", "message", text));
    }
    workflows_done(&set);
}

json_t *project_problems(const ProjectInfo *project, Err *err)
{
    Settings fresh;
    SettingsProblems problems = SETTINGS_PROBLEMS_INIT;
    json_t *list = json_array();
    settings_init(&fresh);
    bool is_good = read_file(project->path, &fresh, &problems, err);
    for (size_t i = 0; i < problems.count; i++)
        json_array_append_new(list,
                              json_pack("{s:i,s:s?,s:s}", "line", problems.items[i].line, "key",
                                        problems.items[i].key, "message", problems.items[i].text));
    if (!is_good && problems.count == 0)
        json_array_append_new(list, json_pack("{s:s}", "message", err->text));
    if (is_good)
        check_hooks(project->path, &fresh, list);
    settings_problems_done(&problems);
    settings_done(&fresh);
    return list;
}

/* Keys that are read and kept, but that nothing follows yet: said at every run. */
static const char *const idle_keys[] = {"limits.max_tokens", "limits.max_cost", "limits.memory_mb",
                                        "limits.processes",  "sandbox.write",   "sandbox.network"};

void project_warn_idle(const ProjectInfo *project, json_t *warnings)
{
    FieldTable rows = settings_rows();
    for (size_t i = 0; i < COUNT(idle_keys); i++)
        for (size_t k = 0; k < rows.count; k++)
            if (text_equal(rows.rows[k].key, idle_keys[i]) &&
                project->settings.origins[k].from != ORIGIN_DEFAULT) {
                char text[160];
                (void)snprintf(text, sizeof text, "%s is read, but has no effect in this version",
                               idle_keys[i]); /* keys are short */
                json_array_append_new(warnings, json_string(text));
            }
}

static char *limits_text(const Settings *s, uint32_t workflow)
{
    bool has_workspace = !text_equal(s->workspace.kind, "none");
    json_t *json = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:I,s:I,s:b}", "slots",
                             (json_int_t)s->slots, "max_turns", (json_int_t)s->limits.max_turns,
                             "max_retries", (json_int_t)s->limits.max_retries, "max_conflict_tries",
                             (json_int_t)s->limits.max_conflict_tries, "pause_after",
                             (json_int_t)s->limits.pause_after_failures, "stuck_turns",
                             (json_int_t)s->limits.stuck_turns, "timeout_ms",
                             (json_int_t)s->limits.timeout_minutes * 60000, "pause_wait_ms",
                             (json_int_t)s->stop.pause_wait_s * 1000, "pause_on_stuck",
                             s->pause_on_stuck, "has_workspace", has_workspace, "max_steps",
                             (json_int_t)s->limits.max_steps, "workflow", (json_int_t)workflow,
                             "auto_confirm", text_equal(s->objective.confirm, "auto"));
    char *text = json_write(json);
    json_decref(json);
    return text;
}

static void tell_limits(Engine *engine, ProjectInfo *project, uint32_t workflow)
{
    char *text = limits_text(&project->settings, workflow);
    if (!text_equal(text, project->limits)) {
        Event event = {.kind = EV_LIMITS_SET, .project = project->id, .text = text};
        (void)engine_post(engine, &event); /* the project exists */
        engine_write(engine, &(Write){.kind = WRITE_PROJECT_TEXT,
                                      .project_text = {.id = project->id, .settings_json = text}});
    }
    free(project->limits);
    project->limits = text;
}

void project_set_target(Engine *engine, ProjectInfo *project, const char *target)
{
    if (!target || text_equal(target, project->target))
        return;
    free(project->target);
    project->target = mem_strdup(target);
    engine_write(engine, &(Write){.kind = WRITE_PROJECT_TEXT,
                                  .project_text = {.id = project->id, .target = target}});
}

bool project_read_settings(Engine *engine, ProjectInfo *project, Err *err)
{
    Settings fresh;
    SettingsProblems problems = SETTINGS_PROBLEMS_INIT;
    settings_init(&fresh);
    bool is_good = read_file(project->path, &fresh, &problems, err);
    settings_problems_done(&problems);
    if (!is_good) {
        settings_done(&fresh);
        return false;
    }
    uint32_t workflow = 0;
    const char *name = project->flow_flag ? project->flow_flag : fresh.workflow;
    if (!flows_read(engine, project, err) || !flow_number(engine, project, name, &workflow, err)) {
        settings_done(&fresh);
        return false;
    }
    settings_done(&project->settings);
    project->settings = fresh;
    project->is_read = true;
    project_set_target(engine, project, fresh.target);
    tell_limits(engine, project, workflow);
    return true;
}

/* Settings that will do until the file is read well: an old engine's runs are taken up with them.
 */
void project_default_settings(ProjectInfo *project)
{
    project->is_read = true; /* the defaults, or what was read last */
}

/* Finding and adding */

static ProjectInfo *find_around(Engine *engine, const char *path)
{
    ProjectInfo *best = NULL;
    for (uint32_t i = 0; i < engine->project_count; i++) {
        ProjectInfo *info = engine->projects[i];
        size_t length = strlen(info->path);
        bool is_inside =
            strncmp(path, info->path, length) == 0 && (path[length] == '/' || path[length] == '\0');
        if (is_inside && (!best || length > strlen(best->path)))
            best = info;
    }
    return best;
}

/* A repository of its own may lie between the folder and the project's root. */
static bool is_other_repository(const char *path, const char *root)
{
    char at[PATH_MAX], git[PATH_MAX + 8];
    (void)snprintf(at, sizeof at, "%s", path); /* realpath gave it */
    while (strlen(at) > strlen(root)) {
        (void)snprintf(git, sizeof git, "%s/.git", at); /* measured above */
        if (path_exists(git))
            return true;
        char *slash = strrchr(at, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return false;
}

/* Blocking, some milliseconds: only for a folder that is not known yet. */
static bool inspect(const char *path, json_t **out, Err *err)
{
    *out = inspect_folder(path);
    const char *problem = json_text(*out, "problem", NULL);
    bool is_fine = json_flag(*out, "ok", false) && !problem;
    if (!is_fine) {
        (void)err_set(err, ERR_USAGE, "%s",
                      problem ? problem : json_text(*out, "error", "cannot look at the folder"));
        json_decref(*out);
        *out = NULL;
    }
    return is_fine;
}

static ProjectInfo *project_add(Engine *engine, const char *root, const char *branch)
{
    ProjectId id = machine_next_project(engine->machine);
    char hub[PATH_MAX], copy[PATH_MAX];
    (void)snprintf(hub, sizeof hub, "%s/p%u", engine->path_hubs, id); /* state paths are short */
    (void)snprintf(copy, sizeof copy, "%s", root);                    /* realpath gave it */
    StoreProjectText text = {.id = id,
                             .path = root,
                             .hub = hub,
                             .target = branch ? branch : "",
                             .name = basename(copy),
                             .settings_json = "",
                             .added_ms = engine_now(engine)};
    Event event = {.kind = EV_PROJECT_ADDED, .project = id, .text = root};
    (void)engine_post(engine, &event); /* a new id is always accepted */
    engine_write(engine, &(Write){.kind = WRITE_PROJECT_TEXT, .project_text = text});
    return info_add(engine, &text);
}

ProjectInfo *project_open(Engine *engine, const char *path, json_t *warnings, Err *err)
{
    char real[PATH_MAX];
    if (!realpath(path, real)) {
        (void)err_errno(err, "cannot find the folder '%s'", path); /* NULL says it failed */
        return NULL;
    }
    ProjectInfo *known = find_around(engine, real);
    if (known && !is_other_repository(real, known->path))
        return known;
    CLEANUP(json_freep) json_t *info = NULL;
    if (!inspect(real, &info, err))
        return NULL;
    const char *root = json_text(info, "root", real);
    if (json_flag(info, "is_bare", false)) {
        (void)err_set(err, ERR_USAGE, /* NULL says it failed */
                      "'%s' is a bare repository; otto works from a checkout: clone it first",
                      root);
        return NULL;
    }
    known = find_around(engine, root);
    if (known && text_equal(known->path, root))
        return known;
    if (json_flag(info, "is_detached", false) && warnings)
        json_array_append_new(warnings,
                              json_string("HEAD is detached: say `target: BRANCH` in otto.yaml"));
    return project_add(engine, root, json_text(info, "branch", NULL));
}

/* Delivery: what landed in the hub but not yet in the user's checkout */

void project_note_delivery(Engine *engine, ProjectInfo *project, const json_t *result)
{
    const char *state = json_text(result, "delivered", "no");
    bool is_done = text_equal(state, "yes");
    free(project->deliver_why);
    project->deliver_why = is_done ? NULL : mem_strdup(json_text(result, "why", state));
    project->behind = is_done ? 0 : (uint32_t)MAX(json_int(result, "behind", 1), 1);
    if (is_done)
        engine_write(engine, &(Write){.kind = WRITE_NOTICE_CLOSE,
                                      .notice = {.project = project->id,
                                                 .kind = "delivery",
                                                 .at_ms = engine_now(engine)}});
    else
        notice_put(engine, 0, 0, project->id, "delivery", project->deliver_why);
}

typedef struct Errand {
    Engine *engine;
    ProjectId project;
} Errand;

static void on_delivered(void *user, const json_t *result, const Err *err)
{
    Errand *errand = user;
    ProjectInfo *project = project_info(errand->engine, errand->project);
    if (result && project)
        project_note_delivery(errand->engine, project, result);
    else
        log_line("deliver.failed project=%u error=\"%s\"", errand->project, err->text);
    free(errand);
}

void project_deliver(Engine *engine, ProjectInfo *project)
{
    if (!project->behind)
        return;
    Errand *errand = mem_alloc(sizeof *errand);
    *errand = (Errand){engine, project->id};
    json_t *in = json_pack("{s:s,s:s,s:s}", "hub", project->hub, "repo", project->path, "target",
                           project->target);
    job_start(engine->jobs, "deliver", in, on_delivered, errand);
}
