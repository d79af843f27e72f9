/* The ready queue: the best of very many waiting tasks in microseconds, with exact ageing.
 *
 * Tasks that became ready in the same minute age alike, so they share a cohort: a 4-ary heap by
 * static score. The best task is the best top of the cohorts, each with its cohort's bonus; there
 * are some 50 minutes that differ. Cohorts that differ no more are merged in small steps, a few
 * tasks with each call, so that no call is long.
 *
 * Order: highest score, then oldest, then lowest id. Ids are small numbers (arrays are indexed by
 * them). Memory only; `now` is an argument and must not run backwards by more than a hiccup: a
 * cohort that stopped ageing stays so. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Queue Queue;

Queue *queue_new(void);
void queue_free(Queue *queue);
void queue_reserve(Queue *queue, uint32_t most_id, uint32_t tasks); /* room ahead of a load */

/* The id must not be in the queue. */
void queue_push(Queue *queue, uint32_t id, int32_t score, int64_t created_ms, int64_t ready_ms);
bool queue_has(const Queue *queue, uint32_t id);
bool queue_remove(Queue *queue, uint32_t id);                /* false: was not there */
bool queue_update(Queue *queue, uint32_t id, int32_t score); /* new static score; age is kept */
size_t queue_count(const Queue *queue);

/* The best task, or 0 when empty (ids start at 1). It stays in the queue. */
uint32_t queue_best(Queue *queue, int64_t now_ms) NODISCARD;
/* A slot was given away: everybody still in the queue missed it (D-105). */
void queue_cycle(Queue *queue);

/* What the queue knows of a task: its static score, and how long and how often it was passed by. */
typedef struct QueueAge {
    int32_t score;
    int64_t waited_minutes, missed_cycles;
} QueueAge;
bool queue_age(const Queue *queue, uint32_t id, int64_t now_ms, QueueAge *out);
