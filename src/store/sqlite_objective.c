/* Objectives: items and requirements of a task, replaced and read as a whole. */
#include "store/sqlite.h"

/* Carries out one of the statements that empty a list. */
static bool clear(Store *store, Slot slot, const char *sql, TaskId task, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, slot, sql, &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    return stmt_run(&stmt, err);
}

static bool item_put(Store *store, TaskId task, const StoreItem *item, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_OBJECTIVE_PUT,
                   "INSERT INTO objective (task, number, is_constraint, stage, marker, text)"
                   " VALUES (?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, item->number);
    bind_int(&stmt, 3, item->is_constraint);
    bind_int(&stmt, 4, item->stage);
    bind_text(&stmt, 5, item->marker);
    bind_text(&stmt, 6, item->text);
    return stmt_run(&stmt, err);
}

static bool requirement_put(Store *store, TaskId task, const StoreRequirement *requirement,
                            Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REQUIREMENT_PUT,
                   "INSERT INTO requirement (task, number, item, weight, coverage, previous,"
                   " source, text, criteria, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    bind_int(&stmt, 2, requirement->number);
    bind_int(&stmt, 3, requirement->item);
    bind_int(&stmt, 4, requirement->weight);
    bind_int(&stmt, 5, requirement->coverage);
    bind_int(&stmt, 6, requirement->previous);
    bind_text(&stmt, 7, requirement->source);
    bind_text(&stmt, 8, requirement->text);
    bind_text(&stmt, 9, requirement->criteria);
    bind_text(&stmt, 10, requirement->reason);
    return stmt_run(&stmt, err);
}

static bool objective_replace(Store *store, TaskId task, const StoreObjective *objective, Err *err)
{
    bool is_done =
        clear(store, SLOT_OBJECTIVE_CLEAR, "DELETE FROM objective WHERE task = ?", task, err) &&
        clear(store, SLOT_REQUIREMENT_CLEAR, "DELETE FROM requirement WHERE task = ?", task, err);
    for (size_t i = 0; is_done && i < objective->item_count; i++)
        is_done = item_put(store, task, &objective->items[i], err);
    for (size_t i = 0; is_done && i < objective->requirement_count; i++)
        is_done = requirement_put(store, task, &objective->requirements[i], err);
    return is_done;
}

bool sqlite_objective_save(Store *store, TaskId task, const StoreObjective *objective, Err *err)
{
    Group group;
    return group_begin(store, &group, err) &&
           group_end(&group, objective_replace(store, task, objective, err), err);
}

/* ---- reading ---- */

/* Room for one more in an array of the arena, whose length doubles when it is a power of two. */
static void *room_for_one(Arena *arena, void *array, size_t count, size_t size)
{
    if (count & (count - 1) || (count > 0 && count < 4))
        return array;
    void *longer = arena_alloc(arena, MAX(count * 2, (size_t)4) * size);
    if (count)
        memcpy(longer, array, count * size);
    return longer;
}

static bool items_get(Store *store, TaskId task, Arena *arena, StoreObjective *objective, Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_OBJECTIVE_LIST,
                   "SELECT number, is_constraint, stage, marker, text FROM objective"
                   " WHERE task = ? ORDER BY number",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        objective->items = room_for_one(arena, objective->items, objective->item_count,
                                        sizeof objective->items[0]);
        objective->items[objective->item_count++] = (StoreItem){
            .number = (uint32_t)stmt_int(&stmt, 0),
            .is_constraint = stmt_int(&stmt, 1),
            .stage = (uint32_t)stmt_int(&stmt, 2),
            .marker = arena_strdup(arena, stmt_text(&stmt, 3)),
            .text = arena_strdup(arena, stmt_text(&stmt, 4)),
        };
    }
    return stmt_end(&stmt, err);
}

static bool requirements_get(Store *store, TaskId task, Arena *arena, StoreObjective *objective,
                             Err *err)
{
    Stmt stmt;
    if (!stmt_take(store, SLOT_REQUIREMENT_LIST,
                   "SELECT number, item, weight, coverage, previous, source, text, criteria,"
                   " reason FROM requirement WHERE task = ? ORDER BY number",
                   &stmt, err))
        return false;
    bind_int(&stmt, 1, task);
    while (stmt_next(&stmt)) {
        objective->requirements =
            room_for_one(arena, objective->requirements, objective->requirement_count,
                         sizeof objective->requirements[0]);
        objective->requirements[objective->requirement_count++] = (StoreRequirement){
            .number = (uint32_t)stmt_int(&stmt, 0),
            .item = (uint32_t)stmt_int(&stmt, 1),
            .weight = (uint32_t)stmt_int(&stmt, 2),
            .coverage = (int32_t)stmt_int(&stmt, 3),
            .previous = (int32_t)stmt_int(&stmt, 4),
            .source = arena_strdup(arena, stmt_text(&stmt, 5)),
            .text = arena_strdup(arena, stmt_text(&stmt, 6)),
            .criteria = arena_strdup(arena, stmt_text(&stmt, 7)),
            .reason = arena_strdup(arena, stmt_text(&stmt, 8)),
        };
    }
    return stmt_end(&stmt, err);
}

bool sqlite_objective_get(Store *store, TaskId task, Arena *arena, StoreObjective *objective,
                          Err *err)
{
    StoreObjective own = {0};
    if (!items_get(store, task, arena, &own, err) ||
        !requirements_get(store, task, arena, &own, err))
        return false;
    *objective = own;
    return true;
}
