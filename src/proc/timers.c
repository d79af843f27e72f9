/* The loop's timers: see timers.h. */
#include "proc/timers.h"
#include "base/arena.h"
#include <stdlib.h>

static bool is_before(const LoopTimer *a, const LoopTimer *b)
{
    return a->at_mono_ms != b->at_mono_ms ? a->at_mono_ms < b->at_mono_ms : a->order < b->order;
}

static void put(TimerHeap *heap, uint32_t at, LoopTimer *timer)
{
    heap->slots[at] = timer;
    timer->place = at + 1;
}

static void sift_up(TimerHeap *heap, uint32_t at, LoopTimer *timer)
{
    while (at > 0 && is_before(timer, heap->slots[(at - 1) / 2])) {
        put(heap, at, heap->slots[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(heap, at, timer);
}

static void sift_down(TimerHeap *heap, uint32_t at, LoopTimer *timer)
{
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && is_before(heap->slots[child + 1], heap->slots[child]))
            child++;
        if (!is_before(heap->slots[child], timer))
            break;
        put(heap, at, heap->slots[child]);
    }
    put(heap, at, timer);
}

void timers_clear(TimerHeap *heap, LoopTimer *timer)
{
    if (!timer->place)
        return;
    uint32_t at = timer->place - 1;
    LoopTimer *last = heap->slots[--heap->count];
    timer->place = 0;
    if (last == timer)
        return;
    if (at > 0 && is_before(last, heap->slots[(at - 1) / 2]))
        sift_up(heap, at, last);
    else
        sift_down(heap, at, last);
}

void timers_set(TimerHeap *heap, LoopTimer *timer, int64_t at_mono_ms)
{
    timers_clear(heap, timer);
    if (heap->count == heap->size) {
        heap->size = heap->size ? heap->size * 2 : 32;
        heap->slots = mem_grow(heap->slots, heap->size, sizeof *heap->slots);
    }
    /* Not before the round that is being fired: timers_fire relies on it to find its end. */
    timer->at_mono_ms = MAX(at_mono_ms, heap->not_before_ms);
    timer->order = heap->next_order++;
    sift_up(heap, heap->count++, timer);
}

int timers_fire(TimerHeap *heap, int64_t now_ms)
{
    uint64_t first_new = heap->next_order; /* a timer that sets itself again waits for a turn */
    int fired = 0;
    heap->not_before_ms = now_ms;
    while (heap->count && heap->slots[0]->at_mono_ms <= now_ms &&
           heap->slots[0]->order < first_new) {
        LoopTimer *timer = heap->slots[0];
        timers_clear(heap, timer);
        timer->fn(timer->user);
        fired++;
    }
    heap->not_before_ms = INT64_MIN;
    return fired;
}

void timers_done(TimerHeap *heap)
{
    for (uint32_t i = 0; i < heap->count; i++)
        heap->slots[i]->place = 0;
    free(heap->slots);
    *heap = (TimerHeap)TIMER_HEAP_INIT;
}
