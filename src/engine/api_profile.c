/* Profiles of task types: thresholds, retries and what was observed (B-289). */
#include "core/profile.h"
#include "engine/api_internal.h"
#include "store/flow.h"
#include <string.h>

/* The type in the path; "A|B" is looked up as its first part. */
static bool read_type(Call *call)
{
    return profile_type_is_valid(call->name) ||
           err_set(&call->err, ERR_USAGE,
                   "'%.60s' is no task type: letters, digits, '_', ':' and '-', parts joined by "
                   "'|'",
                   call->name);
}

/* Of the query; *flow is NULL when none was asked for. */
static bool find_workflow(Call *call, ProjectInfo *project, const Workflow **flow)
{
    char name[64] = "";
    uint32_t number = 0;
    if (!query_get(call, "workflow", name, sizeof name) || !*name)
        return true;
    if (!flow_number(call->engine, project, name, &number, NULL) &&
        (!flows_read(call->engine, project, &call->err) || /* perhaps a new file */
         !flow_number(call->engine, project, name, &number, &call->err)))
        return false;
    *flow = machine_workflow(call->engine->machine, number);
    return true;
}

static json_t *profile_json(const StoreProfile *stored, const char *type, const Workflow *flow)
{
    CLEANUP(json_freep) json_t *settings = parse_or(stored->settings, json_object());
    CLEANUP(json_freep) json_t *observed = parse_or(stored->observed, json_object());
    ProfileInput input = {
        .type = type, .settings = settings, .observed = observed, .workflow = flow};
    json_t *json = profile_show_json(&input);
    json_object_set(json, "settings", settings);
    json_object_set_new(json, "updated_ms", json_integer(stored->updated_ms));
    return json;
}

static bool find_profile(Call *call, const ProjectInfo *project, Arena *arena, StoreProfile *stored)
{
    TextList names = profile_type_names(call->name, arena);
    for (size_t i = 0; i < names.count; i++) {
        if (!store_profile_find(call->engine->store, project->id, names.items[i], arena, stored,
                                &call->err))
            return false;
        if (stored->updated_ms)
            return true;
    }
    return true;
}

bool api_profile_show(Call *call)
{
    ProjectInfo *project = call_project(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreProfile stored = {0};
    const Workflow *flow = NULL;
    if (!project || !read_type(call) || !find_workflow(call, project, &flow) ||
        !engine_commit(call->engine, &call->err) || !find_profile(call, project, &arena, &stored))
        return false;
    reply_json(call, profile_json(&stored, call->name, flow));
    return true;
}

static bool add_profile(void *user, const StoreProfile *stored)
{
    json_array_append_new(user, profile_json(stored, stored->type, NULL));
    return true;
}

bool api_profile_list(Call *call)
{
    ProjectInfo *project = call_project(call);
    json_t *list = json_array();
    if (!project || !engine_commit(call->engine, &call->err) ||
        !store_profile_list(call->engine->store, project->id, add_profile, list, &call->err)) {
        json_decref(list);
        return false;
    }
    reply_json(call, json_pack("{s:o,s:s}", "profiles", list, "rule", profile_rule()));
    return true;
}

/* -- settings by hand ------------------------------------------------------------------------ */

/* "thresholds.post-plan": one level below, or a plain key. */
static bool set_value(Call *call, json_t *settings, const char *key, const json_t *value)
{
    char group[64];
    const char *dot = strchr(key, '.');
    bool is_known = false;
    for (unsigned i = 0; i < PROFILE_VALUES; i++)
        is_known = is_known || text_equal(profile_key(i), key);
    if (!is_known || (dot && (size_t)(dot - key) >= sizeof group))
        return err_set(&call->err, ERR_USAGE, "'%.60s' is no value of a profile", key);
    json_t *place = settings;
    if (dot) {
        memcpy(group, key, (size_t)(dot - key));
        group[dot - key] = '\0';
        place = json_object_get(settings, group);
        if (!json_is_object(place)) {
            place = json_object();
            json_object_set_new(settings, group, place);
        }
        key = dot + 1;
    }
    if (json_is_null(value) || text_equal(json_string_value(value), "default"))
        json_object_del(place, key); /* an absent one is fine */
    else
        json_object_set_new(place, key, json_copy((json_t *)value));
    return true;
}

static bool set_values(Call *call, json_t *settings)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(call->body, "set"), key, value)
    {
        if (!set_value(call, settings, key, value))
            return false;
    }
    return profile_settings_check(settings, &call->err);
}

static bool save_settings(Call *call, ProjectId project, const char *type, const char *settings,
                          const char *observed)
{
    engine_write(call->engine, &(Write){.kind = WRITE_PROFILE,
                                        .profile = {.project = project,
                                                    .type = type,
                                                    .settings = settings,
                                                    .observed = observed,
                                                    .updated_ms = engine_now(call->engine)}});
    return engine_commit(call->engine, &call->err);
}

/* {"set":{key: value}} fixes values, {"reset":true} forgets them and what was observed. */
bool api_profile_set(Call *call)
{
    ProjectInfo *project = call_project(call);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreProfile stored = {0};
    bool is_reset = json_flag(call->body, "reset", false);
    if (!project || !read_type(call) || !engine_commit(call->engine, &call->err))
        return false;
    if (profile_type_is_hybrid(call->name))
        return err_set(&call->err, ERR_USAGE,
                       "'%s' is a mixture: set the values of its parts, one by one", call->name);
    if (!is_reset && !json_object_size(json_object_get(call->body, "set")))
        return err_set(&call->err, ERR_USAGE, "nothing was asked for: set or reset");
    if (!store_profile_find(call->engine->store, project->id, call->name, &arena, &stored,
                            &call->err))
        return false;
    CLEANUP(json_freep)
    json_t *settings = parse_or(is_reset ? NULL : stored.settings, json_object());
    if (!set_values(call, settings))
        return false;
    CLEANUP(mem_freep) char *text = json_write(settings);
    if (!save_settings(call, project->id, call->name, text, is_reset ? "{}" : NULL))
        return false;
    return api_profile_show(call);
}
