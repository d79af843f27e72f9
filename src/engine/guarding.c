/* Guards and reviews: what a change did that a person has to stand for, and whether one must look
 * (D-253..D-258). */
#include "core/change.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/signal.h"
#include "engine/judging.h"
#include <stdlib.h>
#include <string.h>

static json_t *parsed(const char *text)
{
    return text && *text ? json_read(text, strlen(text), NULL) : NULL;
}

/* ---- people ---- */

typedef struct Stopped {
    bool is_found;
} Stopped;

static bool find_stop(void *user, const StoreTurn *turn)
{
    Stopped *stopped = user;
    stopped->is_found |= turn->signal == SIGNAL_BLOCKED || turn->signal == SIGNAL_PENDING;
    return true;
}

static TextList labels_of(const StoreTaskText *words, Arena *arena)
{
    CLEANUP(json_freep) json_t *tags = parsed(words->tags_json);
    size_t count = json_array_size(tags);
    TextList list = {arena_alloc(arena, (count + 1) * sizeof(char *)), 0};
    for (size_t i = 0; i < count; i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        if (tag)
            list.items[list.count++] = arena_strdup(arena, tag);
    }
    return list;
}

bool review_is_wanted(Engine *engine, const Run *run, bool is_verified, unsigned guards, Str *why)
{
    const ProjectInfo *project = project_info(engine, run->project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText words = {.tags_json = ""};
    Stopped stopped = {false};
    Err ignored = {0};
    IGNORE(store_task_text_get(engine->store, run->task, &arena, &words, &ignored));
    IGNORE(store_turn_list(engine->store, run->id, find_stop, &stopped, &ignored));
    const TextMap *map = &project->settings.review.labels;
    ReviewLabel *rules = arena_alloc(&arena, (map->count + 1) * sizeof *rules);
    ReviewInput in = {.rules = rules,
                      .labels = labels_of(&words, &arena),
                      .iterations = run->turn - run->cut_turns,
                      .is_verified = is_verified,
                      .was_stopped = stopped.is_found,
                      .guards = guards};
    (void)review_mode_find(project->settings.review.mode, &in.mode); /* a word of the setting */
    for (size_t i = 0; i < map->count; i++) {
        rules[i].label = map->items[i].key;
        (void)review_rule_find(map->items[i].value, &rules[i].rule); /* likewise */
    }
    in.rule_count = map->count;
    ReviewAnswer answer = review_decide(&in);
    str_add(why, answer.why);
    return answer.need != REVIEW_NEED_NONE;
}

/* ---- guards ---- */

static const ChangedLine *lines_of(const json_t *list, Arena *arena, size_t *count)
{
    *count = json_array_size(list);
    ChangedLine *lines = arena_alloc(arena, (*count + 1) * sizeof *lines);
    for (size_t i = 0; i < *count; i++) {
        const json_t *line = json_array_get(list, i);
        lines[i] = (ChangedLine){(uint32_t)json_int(line, "line", 0), json_text(line, "text", "")};
    }
    return lines;
}

static void add_lines(ChangedFile *file, const json_t *tests, Arena *arena)
{
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test) if (text_equal(json_text(test, "path", ""), file->path))
    {
        file->added_lines = lines_of(json_object_get(test, "added"), arena, &file->added_count);
        file->removed_lines =
            lines_of(json_object_get(test, "removed"), arena, &file->removed_count);
        return;
    }
}

static ChangedFile *files_of(const json_t *change, Arena *arena, size_t *count)
{
    const json_t *list = json_object_get(change, "files"),
                 *tests = json_object_get(change, "tests");
    *count = json_array_size(list);
    ChangedFile *files = arena_alloc(arena, (*count + 1) * sizeof *files);
    for (size_t i = 0; i < *count; i++) {
        const json_t *row = json_array_get(list, i);
        files[i] = (ChangedFile){.path = json_text(row, "path", ""),
                                 .status = json_text(row, "status", "M")[0],
                                 .old_path = json_text(row, "old", NULL),
                                 .added = (uint32_t)json_int(row, "added", 0),
                                 .removed = (uint32_t)json_int(row, "removed", 0)};
        add_lines(&files[i], tests, arena);
    }
    return files;
}

static bool is_wanted_guard(const Settings *s, ChangeGuard guard)
{
    bool is_test = guard == CHANGE_TEST_DELETED || guard == CHANGE_TEST_WEAKENED ||
                   guard == CHANGE_TEST_SKIPPED;
    return is_test ? s->guards.tests : guard == CHANGE_OUT_OF_SCOPE ? s->guards.scope : true;
}

static void add_hit(const GuardHit *hit, json_t *list, Str *text)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < hit->line_count; i++)
        json_array_append_new(lines, json_pack("{s:i,s:s}", "line", (int)hit->lines[i].line, "text",
                                               hit->lines[i].text));
    json_array_append_new(list, json_pack("{s:s,s:s,s:i,s:s,s:s,s:o}", "guard",
                                          change_guard_word(hit->guard), "path", hit->path, "line",
                                          hit->line_count ? (int)hit->lines[0].line : 0, "text",
                                          hit->line_count ? hit->lines[0].text : "", "why",
                                          hit->sentence, "lines", lines));
    str_addf(text, "- %s\n", hit->sentence);
    for (size_t i = 0; i < hit->line_count; i++)
        str_addf(text, "      %u: %s\n", hit->lines[i].line, hit->lines[i].text);
}

/* A test file whose changes are too large to be read may hide anything. */
static void add_cut(const json_t *change, json_t *list, Str *text)
{
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(change, "tests"), i, test)
    {
        if (!json_flag(test, "cut", false))
            continue;
        const char *path = json_text(test, "path", "?");
        CLEANUP(str_done) Str why = STR_INIT;
        str_addf(&why, "test-weakened: %s changed too much to be read by the engine", path);
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:i,s:s,s:s}", "guard", "test-weakened", "path",
                                        path, "line", 0, "text", "", "why", str_text(&why)));
        str_addf(text, "- %s\n", str_text(&why));
    }
}

/* What a person let pass in this run is not asked again, as long as its lines are the same. */
typedef struct Approved {
    RunId run;
    int64_t ids[64]; /* of approvals */
    size_t count;
    int64_t last_id; /* of the guards that were open */
    json_t *last;
    json_t *items;
} Approved;

static bool add_approval(void *user, const StoreRecord *record)
{
    Approved *all = user;
    if (record->run == all->run && text_equal(record->result, "approve") &&
        all->count < COUNT(all->ids))
        all->ids[all->count++] = record->id;
    return true;
}

static void settle(Approved *all, int64_t until)
{
    bool is_approved = false;
    for (size_t i = 0; i < all->count; i++)
        is_approved |= all->ids[i] > all->last_id && all->ids[i] < until;
    if (is_approved && all->last)
        json_array_extend(all->items, json_object_get(all->last, "guards"));
    json_decref(all->last);
    all->last = NULL;
}

static bool add_fired(void *user, const StoreRecord *record)
{
    Approved *all = user;
    settle(all, record->id);
    all->last = record->run == all->run ? parsed(record->data) : NULL;
    all->last_id = record->id;
    return true;
}

static json_t *approved_items(Engine *engine, const Run *run)
{
    Approved all = {.run = run->id, .items = json_array()};
    Err ignored = {0};
    IGNORE(
        store_record_list(engine->store, run->task, RECORD_FEEDBACK, add_approval, &all, &ignored));
    if (all.count)
        IGNORE(
            store_record_list(engine->store, run->task, RECORD_GUARD, add_fired, &all, &ignored));
    settle(&all, INT64_MAX);
    return all.items;
}

static void add_new_hit(const GuardHit *hit, const json_t *approved, json_t *list, Str *text)
{
    CLEANUP(str_done) Str words = STR_INIT;
    CLEANUP(json_freep) json_t *one = json_array();
    size_t i;
    const json_t *item;
    add_hit(hit, one, &words);
    json_array_foreach(approved, i, item) if (json_equal(item, json_array_get(one, 0))) return;
    json_array_extend(list, one);
    str_add(text, str_text(&words));
}

unsigned guards_fire(Engine *engine, const Run *run, const json_t *change, const char *base_failed,
                     int base_exit)
{
    const ProjectInfo *project = project_info(engine, run->project);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    CLEANUP(str_done) Str text = STR_INIT;
    size_t count;
    CLEANUP(json_freep) json_t *plan = record_data(engine, run, RECORD_PLAN, NULL, &arena);
    ChangedFile *files = files_of(change, &arena, &count);
    ChangeSettings settings = {.protect = project->settings.protect,
                               .tests = project->settings.guards.test_files};
    if (plan)
        settings.scope = plan_scope(plan, &arena);
    GuardHits hits = change_guards(files, count, &settings, &arena);
    json_t *list = json_array();
    CLEANUP(json_freep) json_t *approved = approved_items(engine, run);
    for (size_t i = 0; i < hits.count; i++)
        if (is_wanted_guard(&project->settings, hits.items[i].guard))
            add_new_hit(&hits.items[i], approved, list, &text);
    add_cut(change, list, &text);
    if (base_failed) {
        GuardHit hit = change_base_tests(base_failed, base_exit, &arena);
        add_hit(&hit, list, &text);
    }
    unsigned fired = (unsigned)json_array_size(list);
    json_t *data = json_pack("{s:o}", "guards", list);
    record_put(engine, run, RECORD_GUARD, fired ? "fired" : "clear", str_text(&text), data);
    json_decref(data);
    return fired;
}
