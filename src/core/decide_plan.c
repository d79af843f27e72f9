/* Decisions about order: select, merge-plan, retry-delay. */
#include "base/str.h"
#include "core/decide_table.h"
#include "core/mergeplan.h"
#include "core/retry.h"
#include "core/score.h"
#include <stdlib.h>
#include <string.h>

typedef struct Choice {
    const json_t *id;
    Score score;
    int64_t created_ms;
    uint32_t rank; /* order of the ids */
} Choice;

/* The same order as the ready queue's: highest score, oldest, lowest id. */
static int by_choice(const void *x, const void *y)
{
    const Choice *a = x, *b = y;
    if (a->score.total != b->score.total)
        return a->score.total > b->score.total ? -1 : 1;
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static bool read_priority(DecideInput *in, const json_t *task, size_t i, uint8_t *out)
{
    const json_t *value = decide_value(in, task, "tasks[].priority");
    const char *word = json_string_value(value);
    int64_t level = -1;
    *out = PRIORITY_NONE;
    if (!value)
        return true;
    if (word && word[0] == 'P' && word[1] >= '0' && word[1] <= '3' && word[2] == '\0')
        level = word[1] - '0';
    else if (!word)
        (void)decide_to_int(value, &level); /* -1 stays when it is none */
    if (level < 0 || level > 3)
        return decide_fail(in, arena_printf(&in->arena, "tasks[%zu].priority", i), value,
                           decide_words("P0 P1 P2 P3"),
                           "'tasks[%zu].priority' must be P0 to P3 or 0 to 3", i);
    *out = (uint8_t)level;
    return true;
}

static bool read_parent(DecideInput *in, const json_t *task, size_t i, ScoreInput *out)
{
    const json_t *parent = decide_value(in, task, "tasks[].parent");
    if (!parent)
        return true;
    out->parent_done = decide_int(in, parent, "tasks[].parent.done");
    out->parent_total = decide_int(in, parent, "tasks[].parent.total");
    if (out->parent_done > out->parent_total)
        return decide_fail(in, arena_printf(&in->arena, "tasks[%zu].parent.done", i),
                           json_object_get(parent, "done"), NULL,
                           "'tasks[%zu].parent.done' is more than its total", i);
    return true;
}

static int64_t waited_minutes(const DecideInput *in, const json_t *task)
{
    if (decide_value(in, task, "tasks[].ready_ms") &&
        !decide_value(in, task, "tasks[].waited_ms")) {
        int64_t now_ms = decide_int(in, in->root, "now_ms");
        int64_t ready_ms = decide_int(in, task, "tasks[].ready_ms");
        return now_ms > ready_ms ? (now_ms - ready_ms) / 60000 : 0;
    }
    return decide_int(in, task, "tasks[].waited_ms") / 60000;
}

static bool read_choice(DecideInput *in, const json_t *task, size_t i, Choice *out)
{
    ScoreInput input = {.unblocks = decide_int(in, task, "tasks[].unblocks"),
                        .retries = decide_int(in, task, "tasks[].retries")};
    const json_t *tags = decide_value(in, task, "tasks[].tags");
    for (size_t t = 0; t < json_array_size(tags); t++)
        input.tags |= score_tag_bit(json_string_value(json_array_get(tags, t)));
    if (!read_priority(in, task, i, &input.priority) || !read_parent(in, task, i, &input))
        return false;
    out->id = json_object_get(task, "id");
    out->created_ms = decide_int(in, task, "tasks[].created_ms");
    out->score = score_static(&input);
    score_age(&out->score, waited_minutes(in, task), 0);
    return true;
}

static json_t *choice_json(const Choice *choice)
{
    json_t *item = json_object(), *parts = json_object();
    for (unsigned p = 0; p < SCORE_PART_COUNT; p++) {
        if (choice->score.parts[p])
            json_object_set_new(parts, score_part_word((ScorePart)p),
                                json_integer(choice->score.parts[p]));
    }
    json_object_set(item, "id", (json_t *)(uintptr_t)choice->id);
    json_object_set_new(item, "score", json_integer(choice->score.total));
    json_object_set_new(item, "parts", parts);
    return item;
}

static bool is_candidate(const DecideInput *in, const json_t *task)
{
    const char *state = decide_text(in, task, "tasks[].state");
    return text_equal(state, "pending") || text_equal(state, "ready");
}

static void put_choices(json_t *out, const Choice *choices, size_t count)
{
    json_t *scores = json_array();
    CLEANUP(str_done) Str why = STR_INIT;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(scores, choice_json(&choices[i]));
    if (count == 0)
        str_add(&why, "no task is ready");
    else if (count > 1 && choices[0].score.total == choices[1].score.total)
        str_addf(&why, "score %d is shared; the oldest, then the lowest id goes first",
                 choices[0].score.total);
    else
        str_addf(&why, "score %d is the highest of %zu", choices[0].score.total, count);
    if (count)
        json_object_set(out, "id", (json_t *)(uintptr_t)choices[0].id);
    else
        json_object_set_new(out, "id", json_null());
    json_object_set_new(out, "scores", scores);
    decide_put_row(out, NULL, str_text(&why));
}

bool decide_select(DecideInput *in, json_t *out)
{
    const json_t *tasks = decide_value(in, in->root, "tasks");
    const json_t *exclude = decide_value(in, in->root, "exclude");
    DecideIds ids;
    if (!decide_ids(in, tasks, "tasks", &ids))
        return false;
    bool *is_excluded = arena_alloc(&in->arena, ids.count + 1);
    for (size_t i = 0; i < json_array_size(exclude); i++) {
        int64_t at = decide_id_find(&ids, json_array_get(exclude, i));
        if (at >= 0)
            is_excluded[at] = true;
    }
    Choice *choices = arena_alloc(&in->arena, (ids.count + 1) * sizeof *choices);
    size_t count = 0;
    for (size_t i = 0; i < ids.count; i++) {
        const json_t *task = json_array_get(tasks, i);
        Choice choice = {.rank = ids.rank[i]};
        if (!read_choice(in, task, i, &choice))
            return false; /* also for a task that is no candidate: bad is bad */
        if (is_candidate(in, task) && !is_excluded[ids.rank[i]])
            choices[count++] = choice;
    }
    if (count)
        qsort(choices, count, sizeof *choices, by_choice);
    put_choices(out, choices, count);
    return true;
}

bool decide_retry_delay(DecideInput *in, json_t *out)
{
    bool is_clean = decide_bool(in, in->root, "clean");
    int64_t cap = decide_int(in, in->root, "cap_ms");
    int64_t delay = retry_delay_ms(decide_int(in, in->root, "attempt"), is_clean, cap);
    json_object_set_new(out, "delay_ms", json_integer(delay));
    decide_put_row(out,
                   is_clean       ? "clean"
                   : delay == cap ? "capped"
                                  : "doubled",
                   is_clean       ? "it ended cleanly, so a second is enough"
                   : delay == cap ? "10 s doubled with each attempt has reached the cap"
                                  : "10 s doubled with each attempt");
    return true;
}

static MergeEntry read_entry(const DecideInput *in, const json_t *item, uint32_t rank)
{
    MergeEntry entry = {.unmerged_deps = decide_int(in, item, "queue[].unmerged_deps"),
                        .priority = decide_int(in, item, "queue[].priority"),
                        .completed_ms = decide_int(in, item, "queue[].completed_ms"),
                        .age_ms = decide_int(in, item, "queue[].age_ms"),
                        .rank = rank};
    (void)merge_state_find(decide_text(in, item, "queue[].state"), &entry.state); /* checked */
    return entry;
}

bool decide_merge_plan(DecideInput *in, json_t *out)
{
    const json_t *queue = decide_value(in, in->root, "queue");
    DecideIds ids;
    if (!decide_ids(in, queue, "queue", &ids))
        return false;
    MergeEntry *entries = arena_alloc(&in->arena, (ids.count + 1) * sizeof *entries);
    uint32_t *order = arena_alloc(&in->arena, (ids.count + 1) * sizeof *order);
    for (uint32_t i = 0; i < ids.count; i++)
        entries[i] = read_entry(in, json_array_get(queue, i), ids.rank[i]);
    size_t count = mergeplan_order(entries, ids.count, order);
    size_t slots = mergeplan_free(entries, ids.count, (size_t)decide_int(in, in->root, "window"));
    json_t *all = json_array(), *start = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *id = json_object_get(json_array_get(queue, order[i]), "id");
        json_array_append(all, id);
        if (entries[order[i]].state == MERGE_READY && entries[order[i]].unmerged_deps == 0 &&
            json_array_size(start) < slots) /* D-239 */
            json_array_append(start, id);
    }
    bool starts = json_array_size(start) > 0;
    json_object_set_new(out, "order", all);
    json_object_set_new(out, "start", start);
    decide_put_row(out, NULL,
                   starts  ? "ready before waiting, fewer unmerged dependencies, higher "
                             "priority, oldest completion, lowest id"
                   : slots ? "nothing is ready to merge"
                           : "the window is full of merges under way");
    return true;
}
