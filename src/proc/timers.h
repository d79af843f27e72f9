/* The loop's timers: a binary heap by time, then by order of setting. Private to loop.c. */
#pragma once
#include "proc/loop.h"

typedef struct TimerHeap {
    LoopTimer **slots;
    uint32_t count, size;
    uint64_t next_order;
    int64_t not_before_ms; /* while firing: the round's time, INT64_MIN else */
} TimerHeap;

#define TIMER_HEAP_INIT                                                                            \
    {                                                                                              \
        .not_before_ms = INT64_MIN                                                                 \
    }

void timers_set(TimerHeap *heap, LoopTimer *timer, int64_t at_mono_ms);
void timers_clear(TimerHeap *heap, LoopTimer *timer);
/* Fires what was due and set before the call; returns how many. */
int timers_fire(TimerHeap *heap, int64_t now_ms);
void timers_done(TimerHeap *heap);
