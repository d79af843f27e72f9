/* Edits of an objective, all or none: the numbers of one request mean the state before it. Also the
 * requirements that a task brings along when it is added. */
#include "core/backlog.h"
#include "core/target.h"
#include "engine/api_internal.h"
#include "store/flow.h"
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MOST = 200, REQUIREMENTS_MOST = 1000, EDITS_MOST = 500, TEXT_BYTES = 4000 };

typedef struct Editing {
    Call *call;
    Arena *arena;
    StoreObjective objective; /* with room for ITEMS_MOST and REQUIREMENTS_MOST */
    const json_t *edit;
} Editing;

static bool read_text(Editing *editing, const char *key, bool is_needed, const char **out)
{
    const char *text = json_text(editing->edit, key, NULL);
    Err *err = &editing->call->err;
    if (!text || !text[strspn(text, " \t\n")])
        return !is_needed || err_set(err, ERR_USAGE, "'%s' is empty", key);
    if (strlen(text) > TEXT_BYTES)
        return err_set(err, ERR_TOO_BIG, "'%s' is longer than %d bytes", key, TEXT_BYTES);
    if (field_check_line(text))
        return err_set(err, ERR_USAGE, "'%s' must be one line without control characters", key);
    *out = arena_strdup(editing->arena, text);
    return true;
}

/* By its number, or the last goal when no number is given. */
static StoreItem *find_item(Editing *editing)
{
    bool is_last = !json_object_get(editing->edit, "item");
    int64_t number = json_int(editing->edit, "item", 0);
    for (size_t i = editing->objective.item_count; i-- > 0;) {
        StoreItem *item = &editing->objective.items[i];
        if (is_last ? !item->is_constraint : item->number == number)
            return item;
    }
    if (is_last)
        (void)err_set(&editing->call->err, ERR_USAGE,
                      "there is no item yet to which it could "
                      "belong");
    else
        (void)err_set(&editing->call->err, ERR_NOT_FOUND, "there is no item %lld",
                      (long long)number); /* NULL says it failed */
    return NULL;
}

static StoreRequirement *find_requirement(Editing *editing)
{
    int64_t number = json_int(editing->edit, "requirement", 0);
    for (size_t i = 0; i < editing->objective.requirement_count; i++)
        if (editing->objective.requirements[i].number == number)
            return &editing->objective.requirements[i];
    (void)err_set(&editing->call->err, ERR_NOT_FOUND, "there is no requirement R%lld",
                  (long long)number); /* NULL says it failed */
    return NULL;
}

static bool add_item(Editing *editing)
{
    StoreObjective *objective = &editing->objective;
    StoreItem item = {.number = 1, .marker = ""};
    const char *op = json_text(editing->edit, "op", "");
    if (objective->item_count == ITEMS_MOST)
        return err_set(&editing->call->err, ERR_TOO_BIG, "more than %d items", ITEMS_MOST);
    for (size_t i = 0; i < objective->item_count; i++)
        item.number = MAX(item.number, objective->items[i].number + 1);
    item.is_constraint = text_equal(op, "add-constraint");
    if (!read_text(editing, "text", true, &item.text))
        return false;
    objective->items[objective->item_count++] = item;
    return true;
}

/* A changed item is in discussion again (B-100). */
static bool set_item(Editing *editing)
{
    StoreItem *item = find_item(editing);
    if (!item || !read_text(editing, "text", true, &item->text))
        return false;
    item->marker = "";
    return true;
}

static bool remove_item(Editing *editing)
{
    StoreObjective *objective = &editing->objective;
    StoreItem *item = find_item(editing);
    if (!item)
        return false;
    uint32_t number = item->number;
    size_t kept = 0;
    for (size_t i = 0; i < objective->requirement_count; i++)
        if (objective->requirements[i].item != number)
            objective->requirements[kept++] = objective->requirements[i];
    objective->requirement_count = kept;
    size_t at = (size_t)(item - objective->items);
    memmove(item, item + 1, (objective->item_count - at - 1) * sizeof *item);
    objective->item_count--;
    return true;
}

static bool read_weight(Editing *editing, uint32_t *weight)
{
    const json_t *value = json_object_get(editing->edit, "weight");
    int64_t number = value && !json_is_null(value) ? backlog_weight(value) : *weight;
    *weight = (uint32_t)number;
    return number >= 1 || err_set(&editing->call->err, ERR_USAGE,
                                  "'weight' must be 1 to 3, or optional, important or critical");
}

static bool add_requirement(Editing *editing)
{
    StoreObjective *objective = &editing->objective;
    StoreRequirement r = {
        .number = 1, .criteria = "", .weight = 2, .reason = "", .source = "person"};
    if (objective->requirement_count == REQUIREMENTS_MOST)
        return err_set(&editing->call->err, ERR_TOO_BIG, "more than %d requirements",
                       REQUIREMENTS_MOST);
    for (size_t i = 0; i < objective->requirement_count; i++)
        r.number = MAX(r.number, objective->requirements[i].number + 1);
    const StoreItem *item = find_item(editing);
    if (!item || !read_text(editing, "text", true, &r.text) ||
        !read_text(editing, "criteria", false, &r.criteria) || !read_weight(editing, &r.weight))
        return false;
    if (item->is_constraint)
        return err_set(&editing->call->err, ERR_USAGE,
                       "item %u is a constraint: constraints have no requirements", item->number);
    r.item = item->number;
    objective->requirements[objective->requirement_count++] = r;
    return true;
}

static bool set_requirement(Editing *editing)
{
    StoreRequirement *r = find_requirement(editing);
    return r && read_text(editing, "text", false, &r->text) &&
           read_text(editing, "criteria", false, &r->criteria) && read_weight(editing, &r->weight);
}

static bool remove_requirement(Editing *editing)
{
    StoreObjective *objective = &editing->objective;
    StoreRequirement *r = find_requirement(editing);
    if (!r)
        return false;
    size_t at = (size_t)(r - objective->requirements);
    memmove(r, r + 1, (objective->requirement_count - at - 1) * sizeof *r);
    objective->requirement_count--;
    return true;
}

typedef struct EditRow {
    const char *op;
    bool (*fn)(Editing *editing);
} EditRow;

static const EditRow edit_rows[] = {
    {"add-item", add_item},
    {"add-constraint", add_item},
    {"set-item", set_item},
    {"remove-item", remove_item},
    {"add-requirement", add_requirement},
    {"set-requirement", set_requirement},
    {"remove-requirement", remove_requirement},
};

static bool apply_edit(Editing *editing)
{
    const char *op = json_text(editing->edit, "op", "");
    for (size_t i = 0; i < COUNT(edit_rows); i++)
        if (text_equal(edit_rows[i].op, op))
            return edit_rows[i].fn(editing);
    return err_set(&editing->call->err, ERR_USAGE, "unknown edit '%.40s'", op);
}

/* B-102: numbers are global and sequential, R# in the order of their items. The numbers of this
 * request mean the state before it, so they are given anew only at its end. */
static int by_item(const void *a, const void *b)
{
    const StoreRequirement *left = a, *right = b;
    if (left->item != right->item)
        return left->item < right->item ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static void renumber(StoreObjective *objective)
{
    for (size_t i = 0; i < objective->item_count; i++) {
        uint32_t old = objective->items[i].number, now = (uint32_t)i + 1;
        for (size_t k = 0; k < objective->requirement_count; k++)
            if (objective->requirements[k].item == old)
                objective->requirements[k].item = now; /* items are in rising order */
        objective->items[i].number = now;
    }
    if (objective->requirement_count)
        qsort(objective->requirements, objective->requirement_count,
              sizeof *objective->requirements, by_item);
    for (size_t i = 0; i < objective->requirement_count; i++)
        objective->requirements[i].number = (uint32_t)i + 1;
}

static bool load_objective(Editing *editing, TaskId task)
{
    StoreObjective stored = {0};
    StoreObjective *mine = &editing->objective;
    if (!store_objective_get(editing->call->engine->store, task, editing->arena, &stored,
                             &editing->call->err))
        return false;
    mine->item_count = MIN(stored.item_count, (size_t)ITEMS_MOST);
    mine->requirement_count = MIN(stored.requirement_count, (size_t)REQUIREMENTS_MOST);
    mine->items = arena_alloc(editing->arena, ITEMS_MOST * sizeof *mine->items);
    mine->requirements =
        arena_alloc(editing->arena, REQUIREMENTS_MOST * sizeof *mine->requirements);
    if (mine->item_count)
        memcpy(mine->items, stored.items, mine->item_count * sizeof *mine->items);
    if (mine->requirement_count)
        memcpy(mine->requirements, stored.requirements,
               mine->requirement_count * sizeof *mine->requirements);
    return true;
}

static bool apply_edits(Editing *editing, const json_t *edits)
{
    size_t i;
    json_t *edit;
    if (edits && (!json_is_array(edits) || json_array_size(edits) > EDITS_MOST))
        return err_set(&editing->call->err, ERR_USAGE, "'edits' must be a list of at most %d",
                       EDITS_MOST);
    json_array_foreach(edits, i, edit)
    {
        editing->edit = edit;
        if (!apply_edit(editing))
            return false;
    }
    return true;
}

bool objective_edit(Call *call, TaskId task, const json_t *edits, Arena *arena, StoreObjective *out)
{
    Editing editing = {.call = call, .arena = arena};
    if (!load_objective(&editing, task) || !apply_edits(&editing, edits))
        return false;
    if (json_array_size(edits))
        renumber(&editing.objective);
    *out = editing.objective;
    return true;
}

/* -- what a new task brings along (B-99), so that it can run without a dialogue --------------- */

/* A short task says all in its title; a body of placeholders says that it is not written. */
bool objective_is_written(const char *title, const char *body)
{
    return target_is_filled(*body ? body : title);
}

bool objective_read(const json_t *task, json_t *limits, Err *err)
{
    const json_t *list = json_object_get(task, "requirements"), *item;
    size_t i;
    if (list && (!json_is_array(list) || json_array_size(list) > BACKLOG_MOST_REQUIREMENTS))
        return err_set(err, ERR_USAGE, "'requirements' must be a list of at most %d",
                       BACKLOG_MOST_REQUIREMENTS);
    json_array_foreach(list, i, item)
    {
        const char *text = json_text(item, "text", "");
        const json_t *weight = json_object_get(item, "weight");
        if (!*text || strlen(text) + strlen(json_text(item, "criteria", "")) > 2 * TEXT_BYTES)
            return err_set(err, ERR_USAGE, "requirement %zu: 'text' is missing or too long", i + 1);
        if (weight && !backlog_weight(weight))
            return err_set(err, ERR_USAGE,
                           "requirement %zu: 'weight' must be 1 to 3, or optional, important or "
                           "critical",
                           i + 1);
    }
    bool is_filled = json_array_size(list) || objective_is_written(json_text(task, "title", ""),
                                                                   json_text(task, "body", ""));
    json_object_set_new(limits, "filled", json_boolean(is_filled));
    if (json_flag(task, "confirmed", false))
        json_object_set_new(limits, "confirmed", json_true());
    return true;
}

void objective_store(Engine *engine, TaskId id, const char *title, const json_t *task)
{
    const json_t *list = json_object_get(task, "requirements"), *item;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    size_t i, count = json_array_size(list);
    bool is_confirmed = json_flag(task, "confirmed", false);
    StoreItem goal = {.number = 1, .text = title, .marker = is_confirmed ? "confirmed" : ""};
    StoreRequirement *rows = arena_alloc(&arena, (count + 1) * sizeof *rows);
    json_array_foreach(list, i, item)
    {
        const json_t *weight = json_object_get(item, "weight");
        rows[i] = (StoreRequirement){.number = (uint32_t)i + 1,
                                     .item = 1,
                                     .text = json_text(item, "text", ""),
                                     .criteria = json_text(item, "criteria", ""),
                                     .weight = weight ? (uint32_t)backlog_weight(weight) : 2,
                                     .reason = "",
                                     .source = "backlog"};
    }
    StoreObjective all = {
        .items = &goal, .item_count = 1, .requirements = rows, .requirement_count = count};
    if (count)
        engine_write(engine,
                     &(Write){.kind = WRITE_OBJECTIVE, .objective = {.task = id, .all = all}});
}
