/* Chance, the virtual clock, replies on their way, and the first failure. */
#include "tests/sim/sim.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t next_random(Sim *sim)
{
    uint64_t z = sim->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t sim_random(Sim *sim, uint32_t below)
{
    return (uint32_t)((next_random(sim) >> 32) * below >> 32);
}

bool sim_chance(Sim *sim, uint32_t thousandths)
{
    return sim_random(sim, 1000) < thousandths;
}

int64_t sim_delay(Sim *sim)
{
    return sim_chance(sim, 50) ? sim_random(sim, 60000) : sim_random(sim, 900);
}

int64_t sim_now(const Sim *sim)
{
    return sim->true_ms + sim->skew_ms;
}

void sim_fail(Sim *sim, const char *format, ...)
{
    char text[512];
    va_list args;
    if (sim_failed(sim))
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* cut when too long */
    va_end(args);
    str_add(&sim->failure, text);
}

bool sim_failed(const Sim *sim)
{
    return sim->failure.length > 0;
}

static void *grown(void *old, size_t had, size_t has, size_t item_size)
{
    char *rows = mem_grow(old, has, item_size);
    memset(rows + had * item_size, 0, (has - had) * item_size);
    return rows;
}

void sim_room(Sim *sim, uint32_t rows)
{
    uint32_t had = sim->row_size, has = MAX(rows + 1, had * 2);
    if (rows < had)
        return;
    sim->tasks = grown(sim->tasks, had, has, sizeof *sim->tasks);
    sim->runs = grown(sim->runs, had, has, sizeof *sim->runs);
    sim->saved_tasks = grown(sim->saved_tasks, had, has, sizeof *sim->saved_tasks);
    sim->saved_runs = grown(sim->saved_runs, had, has, sizeof *sim->saved_runs);
    sim->world_tasks = grown(sim->world_tasks, had, has, sizeof *sim->world_tasks);
    sim->world_runs = grown(sim->world_runs, had, has, sizeof *sim->world_runs);
    sim->proofs = grown(sim->proofs, had, has, sizeof *sim->proofs);
    sim->saved_proofs = grown(sim->saved_proofs, had, has, sizeof *sim->saved_proofs);
    sim->merged = grown(sim->merged, had, has, sizeof *sim->merged);
    sim->saved_merged = grown(sim->saved_merged, had, has, sizeof *sim->saved_merged);
    sim->model = grown(sim->model, had, has, sizeof *sim->model);
    sim->row_size = has;
}

static bool is_sooner(const Reply *a, const Reply *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void swap(Reply *a, Reply *b)
{
    Reply old = *a;
    *a = *b;
    *b = old;
}

void reply_push(Sim *sim, int64_t due_ms, const Event *event, uint32_t serial)
{
    if (sim->reply_count == sim->reply_size) {
        sim->reply_size = MAX(64u, sim->reply_size * 2);
        sim->replies = mem_grow(sim->replies, sim->reply_size, sizeof *sim->replies);
    }
    uint32_t at = sim->reply_count++;
    sim->replies[at] = (Reply){due_ms, sim->order++, sim->engine, serial, *event};
    for (; at && is_sooner(&sim->replies[at], &sim->replies[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&sim->replies[at], &sim->replies[(at - 1) / 2]);
}

bool reply_pop(Sim *sim, Reply *out)
{
    if (sim->reply_count == 0)
        return false;
    *out = sim->replies[0];
    sim->replies[0] = sim->replies[--sim->reply_count];
    for (uint32_t at = 0;;) {
        uint32_t best = at, left = 2 * at + 1;
        for (uint32_t i = left; i < left + 2 && i < sim->reply_count; i++)
            best = is_sooner(&sim->replies[i], &sim->replies[best]) ? i : best;
        if (best == at)
            return true;
        swap(&sim->replies[at], &sim->replies[best]);
        at = best;
    }
}

int64_t reply_next_ms(const Sim *sim)
{
    return sim->reply_count ? sim->replies[0].due_ms : INT64_MAX;
}
