/* The ready queue: see queue.h. */
#include "core/queue.h"
#include "base/arena.h"
#include "core/score.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    NO_COHORT = UINT16_MAX,
    WIDTH = 4,            /* children of a heap node: four entries fill a cache line */
    MERGE_STEP = 32,      /* tasks moved with each call */
    COHORTS_CROWDED = 96, /* from here on a pair is merged whole */
};

typedef struct Entry {
    int32_t score;
    uint32_t id;
    int64_t created_ms;
} Entry;

/* Tasks with one ready minute that missed equally many slots. */
typedef struct Cohort {
    Entry *heap; /* kept when the cohort is dropped, for the next one */
    uint32_t count, size;
    bool is_used;
    uint32_t serial; /* tells a cohort from an earlier one in its place */
    int64_t minute;  /* of the clock, see score_ready_minute */
    int64_t cycle;   /* slots given away before it came */
} Cohort;

/* Where a task lies. Small, because a heap touches it with every step. */
typedef struct Place {
    uint32_t at; /* in the cohort's heap */
    uint16_t cohort;
} Place;

/* A task's own times; cohorts may merge, these stay. */
typedef struct Since {
    int64_t minute, cycle;
} Since;

typedef struct Young {
    uint16_t cohort;
    uint32_t serial;
} Young;

struct Queue {
    Cohort *cohorts;
    int32_t *totals;       /* by cohort: score of its top with the bonus; INT32_MIN when empty */
    uint16_t *order;       /* used cohorts by minute, then cycle */
    uint16_t cohort_count; /* places in use or empty */
    uint16_t order_count, cohort_size;
    Young *young; /* a ring: cohorts that are not starved yet, oldest first */
    uint32_t young_start, young_count, young_size;
    Place *places; /* by id */
    Since *since;  /* by id */
    uint32_t place_count;
    uint32_t serial;
    size_t count;
    int64_t cycle;         /* slots given away so far */
    int64_t minute;        /* that totals were made for */
    int64_t latest_minute; /* of any task; it is not later than now */
    uint16_t crowded;      /* cohorts from which a push tidies up */
    bool is_untidy;        /* alike cohorts wait to be merged */
};

Queue *queue_new(void)
{
    Queue *queue = mem_alloc(sizeof *queue);
    queue->crowded = COHORTS_CROWDED;
    return queue;
}

void queue_free(Queue *queue)
{
    if (!queue)
        return;
    for (uint16_t i = 0; i < queue->cohort_count; i++)
        free(queue->cohorts[i].heap);
    free(queue->cohorts);
    free(queue->totals);
    free(queue->order);
    free(queue->young);
    free(queue->places);
    free(queue->since);
    free(queue);
}

static void places_grow(Queue *queue, uint32_t id)
{
    if (id < queue->place_count)
        return;
    uint32_t count = MAX(id + 1, queue->place_count + queue->place_count / 2);
    queue->places = mem_grow(queue->places, count, sizeof *queue->places);
    queue->since = mem_grow(queue->since, count, sizeof *queue->since);
    for (uint32_t i = queue->place_count; i < count; i++)
        queue->places[i].cohort = NO_COHORT;
    queue->place_count = count;
}

void queue_reserve(Queue *queue, uint32_t most_id, uint32_t tasks)
{
    (void)tasks; /* heaps grow by doubling; only the index is worth making at once */
    places_grow(queue, most_id);
}

/* Does a come before b? equal scores: oldest, then lowest id. */
static inline bool before(const Entry *a, const Entry *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms;
    return a->id < b->id;
}

static inline void put(Queue *queue, Cohort *cohort, uint32_t at, Entry entry)
{
    cohort->heap[at] = entry;
    queue->places[entry.id].at = at;
}

static void sift_up(Queue *queue, Cohort *cohort, uint32_t at, Entry entry)
{
    while (at > 0) {
        uint32_t up = (at - 1) / WIDTH;
        if (!before(&entry, &cohort->heap[up]))
            break;
        put(queue, cohort, at, cohort->heap[up]);
        at = up;
    }
    put(queue, cohort, at, entry);
}

static void sift_down(Queue *queue, Cohort *cohort, uint32_t at, Entry entry)
{
    for (;;) {
        uint32_t first = at * WIDTH + 1, best = first;
        uint32_t end = MIN(first + WIDTH, cohort->count);
        if (first >= cohort->count)
            break;
        for (uint32_t child = first + 1; child < end; child++) {
            if (before(&cohort->heap[child], &cohort->heap[best]))
                best = child;
        }
        if (!before(&cohort->heap[best], &entry))
            break;
        put(queue, cohort, at, cohort->heap[best]);
        at = best;
    }
    put(queue, cohort, at, entry);
}

static void heap_add(Queue *queue, uint16_t index, Entry entry)
{
    Cohort *cohort = &queue->cohorts[index];
    if (cohort->count == cohort->size) {
        cohort->size = cohort->size ? cohort->size * 2 : 16;
        cohort->heap = mem_grow(cohort->heap, cohort->size, sizeof *cohort->heap);
    }
    queue->places[entry.id].cohort = index;
    sift_up(queue, cohort, cohort->count++, entry);
}

static void heap_take(Queue *queue, Cohort *cohort, uint32_t at)
{
    Entry last = cohort->heap[--cohort->count];
    if (at == cohort->count)
        return;
    if (at > 0 && before(&last, &cohort->heap[(at - 1) / WIDTH]))
        sift_up(queue, cohort, at, last);
    else
        sift_down(queue, cohort, at, last);
}

/* Position in order of the first cohort that is not before (minute, cycle). */
static uint16_t order_find(const Queue *queue, int64_t minute, int64_t cycle)
{
    uint16_t low = 0, high = queue->order_count;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        const Cohort *cohort = &queue->cohorts[queue->order[middle]];
        if (cohort->minute < minute || (cohort->minute == minute && cohort->cycle < cycle))
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return low;
}

static uint16_t cohort_place(Queue *queue)
{
    for (uint16_t i = 0; i < queue->cohort_count; i++) {
        if (!queue->cohorts[i].is_used)
            return i;
    }
    if (queue->cohort_count == queue->cohort_size) {
        queue->cohort_size = (uint16_t)(queue->cohort_size ? queue->cohort_size * 2 : 64);
        queue->cohorts = mem_grow(queue->cohorts, queue->cohort_size, sizeof *queue->cohorts);
        queue->totals = mem_grow(queue->totals, queue->cohort_size, sizeof *queue->totals);
        queue->order = mem_grow(queue->order, queue->cohort_size, sizeof *queue->order);
    }
    queue->cohorts[queue->cohort_count] = (Cohort){0};
    return queue->cohort_count++;
}

static void young_add(Queue *queue, uint16_t index)
{
    if (queue->young_count == queue->young_size) {
        uint32_t size = queue->young_size ? queue->young_size * 2 : 32;
        Young *ring = mem_alloc(size * sizeof *ring);
        for (uint32_t i = 0; i < queue->young_count; i++)
            ring[i] = queue->young[(queue->young_start + i) % queue->young_size];
        free(queue->young);
        queue->young = ring;
        queue->young_size = size;
        queue->young_start = 0;
    }
    uint32_t at = (queue->young_start + queue->young_count++) % queue->young_size;
    queue->young[at] = (Young){index, queue->cohorts[index].serial};
}

static uint16_t cohort_for(Queue *queue, int64_t minute, int64_t cycle)
{
    uint16_t at = order_find(queue, minute, cycle);
    if (at < queue->order_count) {
        const Cohort *there = &queue->cohorts[queue->order[at]];
        if (there->minute == minute && there->cycle == cycle)
            return queue->order[at];
    }
    uint16_t index = cohort_place(queue);
    Cohort *cohort = &queue->cohorts[index];
    cohort->is_used = true;
    cohort->minute = minute;
    cohort->cycle = cycle;
    cohort->serial = ++queue->serial;
    queue->totals[index] = INT32_MIN;
    memmove(queue->order + at + 1, queue->order + at,
            (size_t)(queue->order_count - at) * sizeof *queue->order);
    queue->order[at] = index;
    queue->order_count++;
    young_add(queue, index);
    return index;
}

static void order_drop(Queue *queue, uint16_t at)
{
    queue->cohorts[queue->order[at]].is_used = false;
    queue->order_count--;
    memmove(queue->order + at, queue->order + at + 1,
            (size_t)(queue->order_count - at) * sizeof *queue->order);
}

static bool is_starved(const Queue *queue, const Cohort *cohort)
{
    return queue->cycle - cohort->cycle >= STARVED_CYCLES;
}

static bool is_old(const Cohort *cohort, int64_t now_minute)
{
    return now_minute - cohort->minute >= AGE_MAX_MINUTES;
}

/* After any change of a cohort's top or bonus. */
static void total_set(Queue *queue, uint16_t index)
{
    const Cohort *cohort = &queue->cohorts[index];
    queue->totals[index] =
        cohort->count == 0 ? INT32_MIN
                           : cohort->heap[0].score + score_age_bonus(queue->minute - cohort->minute,
                                                                     queue->cycle - cohort->cycle);
}

/* Will the neighbours at and at + 1 have the same bonus from now on for ever? */
static bool are_alike(const Queue *queue, uint16_t at, int64_t now_minute)
{
    const Cohort *a = &queue->cohorts[queue->order[at]];
    const Cohort *b = &queue->cohorts[queue->order[at + 1]];
    bool same_cycle = a->cycle == b->cycle || (is_starved(queue, a) && is_starved(queue, b));
    bool same_age = a->minute == b->minute || (is_old(a, now_minute) && is_old(b, now_minute));
    return same_cycle && same_age;
}

/* Moves up to `most` tasks of the smaller of the cohorts at and at + 1 to the larger, and drops
 * the smaller when it is empty. Returns how many were moved. */
static uint32_t merge_pair(Queue *queue, uint16_t at, uint32_t most)
{
    uint16_t a = queue->order[at], b = queue->order[at + 1];
    bool a_is_smaller = queue->cohorts[a].count <= queue->cohorts[b].count;
    uint16_t from = a_is_smaller ? a : b, to = a_is_smaller ? b : a;
    Cohort *smaller = &queue->cohorts[from];
    uint32_t moved = 0;
    while (moved < most && smaller->count > 0) {
        heap_add(queue, to, smaller->heap[--smaller->count]); /* a leaf: nothing to repair */
        moved++;
    }
    total_set(queue, from);
    total_set(queue, to);
    if (smaller->count == 0)
        order_drop(queue, a_is_smaller ? at : (uint16_t)(at + 1));
    else
        queue->is_untidy = true;
    return moved;
}

/* One walk over the cohorts: drops empty ones and brings alike neighbours together. */
static void tidy(Queue *queue, int64_t now_minute)
{
    uint32_t left = queue->order_count >= COHORTS_CROWDED ? UINT32_MAX : MERGE_STEP;
    queue->is_untidy = false;
    for (uint16_t at = 0; at < queue->order_count;) {
        uint16_t before_count = queue->order_count;
        if (queue->cohorts[queue->order[at]].count == 0)
            order_drop(queue, at);
        else if (at + 1 < queue->order_count && are_alike(queue, at, now_minute))
            left -= merge_pair(queue, at, left);
        at += queue->order_count == before_count;
    }
    queue->crowded = (uint16_t)MAX(COHORTS_CROWDED, queue->order_count * 2);
}

/* Cohorts that missed their tenth slot just now join their minute's. */
static void settle(Queue *queue)
{
    while (queue->young_count) {
        Young first = queue->young[queue->young_start];
        const Cohort *cohort = &queue->cohorts[first.cohort];
        bool is_there = cohort->is_used && cohort->serial == first.serial;
        if (is_there && !is_starved(queue, cohort))
            return;
        queue->young_start = (queue->young_start + 1) % queue->young_size;
        queue->young_count--;
        if (!is_there)
            continue;
        total_set(queue, first.cohort);
        uint16_t at = order_find(queue, cohort->minute, cohort->cycle);
        if (cohort->count == 0)
            order_drop(queue, at);
        else if (at > 0 && are_alike(queue, (uint16_t)(at - 1), queue->minute))
            (void)merge_pair(queue, (uint16_t)(at - 1), MERGE_STEP); /* the rest comes later */
    }
}

void queue_push(Queue *queue, uint32_t id, int32_t score, int64_t created_ms, int64_t ready_ms)
{
    places_grow(queue, id);
    assert(id != 0 && queue->places[id].cohort == NO_COHORT);
    int64_t minute = score_ready_minute(ready_ms);
    queue->latest_minute = MAX(queue->latest_minute, minute);
    if (queue->order_count >= queue->crowded) /* a load of old tasks: each its own minute */
        tidy(queue, queue->latest_minute);
    queue->since[id] = (Since){minute, queue->cycle};
    uint16_t index = cohort_for(queue, minute, queue->cycle);
    heap_add(queue, index, (Entry){score, id, created_ms});
    total_set(queue, index);
    queue->count++;
}

bool queue_has(const Queue *queue, uint32_t id)
{
    return id < queue->place_count && queue->places[id].cohort != NO_COHORT;
}

bool queue_remove(Queue *queue, uint32_t id)
{
    if (!queue_has(queue, id))
        return false;
    Place *place = &queue->places[id];
    uint16_t index = place->cohort;
    heap_take(queue, &queue->cohorts[index], place->at);
    total_set(queue, index);
    place->cohort = NO_COHORT;
    queue->count--;
    return true;
}

bool queue_update(Queue *queue, uint32_t id, int32_t score)
{
    if (!queue_has(queue, id))
        return false;
    Place *place = &queue->places[id];
    Cohort *cohort = &queue->cohorts[place->cohort];
    Entry entry = cohort->heap[place->at], old = entry;
    entry.score = score;
    if (before(&entry, &old))
        sift_up(queue, cohort, place->at, entry);
    else
        sift_down(queue, cohort, place->at, entry);
    total_set(queue, place->cohort);
    return true;
}

size_t queue_count(const Queue *queue)
{
    return queue->count;
}

static void minute_set(Queue *queue, int64_t now_minute)
{
    queue->minute = now_minute;
    tidy(queue, now_minute);
    for (uint16_t i = 0; i < queue->cohort_count; i++)
        total_set(queue, i);
}

/* Equal totals: the tops decide by age, then id. */
static bool top_is_before(const Queue *queue, uint16_t a, uint16_t b)
{
    Entry x = queue->cohorts[a].heap[0], y = queue->cohorts[b].heap[0];
    x.score = y.score = 0;
    return before(&x, &y);
}

uint32_t queue_best(Queue *queue, int64_t now_ms)
{
    if (queue->minute != now_ms / 60000)
        minute_set(queue, now_ms / 60000);
    else if (queue->is_untidy)
        tidy(queue, queue->minute);
    uint16_t best = NO_COHORT;
    int32_t total = INT32_MIN;
    for (uint16_t i = 0; i < queue->cohort_count; i++) {
        int32_t here = queue->totals[i];
        if (here < total || here == INT32_MIN)
            continue;
        if (here > total || top_is_before(queue, i, best)) {
            total = here;
            best = i;
        }
    }
    return best == NO_COHORT ? 0 : queue->cohorts[best].heap[0].id;
}

void queue_cycle(Queue *queue)
{
    queue->cycle++;
    settle(queue);
}

bool queue_age(const Queue *queue, uint32_t id, int64_t now_ms, QueueAge *out)
{
    if (!queue_has(queue, id))
        return false;
    const Place *place = &queue->places[id];
    out->score = queue->cohorts[place->cohort].heap[place->at].score;
    out->waited_minutes = MAX(0, now_ms / 60000 - queue->since[id].minute);
    out->missed_cycles = queue->cycle - queue->since[id].cycle;
    return true;
}
