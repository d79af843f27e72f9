/* Writing the answer of a decision, and ids. */
#include "core/decide_table.h"
#include <stdlib.h>
#include <string.h>

void decide_put_text(json_t *out, const char *key, const char *text)
{
    json_object_set_new(out, key, text && *text ? json_string(text) : json_null());
}

void decide_put_actions(json_t *out, const char *key, const Action *actions)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < ACTIONS_MAX && actions[i] != ACTION_NONE; i++)
        json_array_append_new(list, json_string(action_word(actions[i])));
    json_object_set_new(out, key, list);
}

void decide_put_row(json_t *out, const char *row, const char *why)
{
    if (row)
        json_object_set_new(out, "row", json_string(row));
    json_object_set_new(out, "why", json_string(why));
}

int decide_id_compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) != json_is_integer(b))
        return json_is_integer(a) ? -1 : 1;
    if (json_is_integer(a)) {
        json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    size_t x = json_string_length(a), y = json_string_length(b);
    int order = memcmp(json_string_value(a), json_string_value(b), MIN(x, y));
    return order ? order : (x > y) - (x < y);
}

static int by_id(const void *a, const void *b, void *list)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = decide_id_compare(json_object_get(json_array_get(list, x), "id"),
                                  json_object_get(json_array_get(list, y), "id"));
    return order ? order : (x > y) - (x < y);
}

bool decide_ids(DecideInput *in, const json_t *list, const char *path, DecideIds *out)
{
    uint32_t count = (uint32_t)json_array_size(list);
    out->count = count;
    out->ids = arena_alloc(&in->arena, (count + 1) * sizeof *out->ids);
    out->index = arena_alloc(&in->arena, (count + 1) * sizeof *out->index);
    out->rank = arena_alloc(&in->arena, (count + 1) * sizeof *out->rank);
    for (uint32_t i = 0; i < count; i++)
        out->index[i] = i;
    if (count)
        qsort_r(out->index, count, sizeof *out->index, by_id, (void *)(uintptr_t)list);
    for (uint32_t i = 0; i < count; i++) {
        out->ids[i] = json_object_get(json_array_get(list, out->index[i]), "id");
        out->rank[out->index[i]] = i;
        if (i > 0 && decide_id_compare(out->ids[i - 1], out->ids[i]) == 0)
            return decide_fail(in, arena_printf(&in->arena, "%s[%u].id", path, out->index[i]),
                               out->ids[i], NULL, "'%s' holds the same id twice, at %u and %u",
                               path, out->index[i - 1], out->index[i]);
    }
    return true;
}

int64_t decide_id_find(const DecideIds *ids, const json_t *id)
{
    uint32_t low = 0, high = ids->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = decide_id_compare(ids->ids[middle], id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
