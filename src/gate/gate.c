/* The gate: see gate.h. */
#include "gate/gate.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "proc/keep.h"
#include <stdlib.h>
#include <string.h>

struct Gate {
    Loop *loop;
    GateCalls calls;
    void *user;
    Arena arena; /* copies of the spec's texts */
    GateSpec spec;
    GateRow *rows;
    size_t at; /* the command that runs */
    Keep *keep;
    LoopTimer limit, next;
    bool is_late;
    char *tail; /* ring: the last GATE_TAIL_BYTES */
    size_t tail_length;
    char tail_text[GATE_TAIL_BYTES + 1];
};

static void start_command(void *user);

static void finish(Gate *gate, Verdict verdict, int failed, const char *error)
{
    gate->calls.on_done(gate->user, verdict, failed, error);
}

static void keep_tail(Gate *gate, const char *bytes, size_t length)
{
    if (length >= GATE_TAIL_BYTES) {
        memcpy(gate->tail, bytes + length - GATE_TAIL_BYTES, GATE_TAIL_BYTES);
        gate->tail_length = GATE_TAIL_BYTES;
        return;
    }
    size_t keep = MIN(gate->tail_length, GATE_TAIL_BYTES - length);
    memmove(gate->tail, gate->tail + gate->tail_length - keep, keep);
    memcpy(gate->tail + keep, bytes, length);
    gate->tail_length = keep + length;
}

static void on_output(void *user, int stream, const char *bytes, size_t length, int64_t offset)
{
    (void)stream;
    (void)offset;
    keep_tail(user, bytes, length);
}

static void set_tail(Gate *gate, GateRow *row)
{
    size_t length = 0;
    for (size_t i = 0; i < gate->tail_length; i++) /* NUL would cut the rest off */
        gate->tail_text[length++] = gate->tail[i] ? gate->tail[i] : '?';
    gate->tail_text[length] = '\0';
    row->tail = gate->tail_text;
}

static void after_row(Gate *gate, GateRow *row)
{
    size_t index = gate->at++;
    bool is_bad = row->state != GATE_ROW_PASSED && row->command->is_required;
    gate->calls.on_row(gate->user, index, row);
    if (is_bad)
        finish(gate, VERDICT_FAIL, (int)index, NULL);
    else if (gate->at == gate->spec.count)
        finish(gate, VERDICT_PASS, -1, NULL);
    else
        loop_timer_set(gate->loop, &gate->next, 0); /* not from inside the keeper's callback */
}

static void on_exit_row(void *user, const KeepExit *end)
{
    Gate *gate = user;
    GateRow *row = &gate->rows[gate->at];
    loop_timer_clear(gate->loop, &gate->limit);
    if (end->could_not_start || end->lost) {
        char text[256];
        (void)snprintf(text, sizeof text, "'%.60s' could not be run: %.120s", row->command->name,
                       end->lost ? "its keeper vanished" : end->text); /* cut is fine */
        finish(gate, VERDICT_ERROR, (int)gate->at, text);
        return;
    }
    row->took_ms = clock_wall_ms() - row->started_ms;
    row->exit_code = gate->is_late ? -1 : end->exit_code;
    row->state = gate->is_late                         ? GATE_ROW_TIMEOUT
                 : end->exit_code == 0 && !end->signal ? GATE_ROW_PASSED
                                                       : GATE_ROW_FAILED;
    set_tail(gate, row);
    after_row(gate, row);
}

static void on_limit(void *user)
{
    Gate *gate = user;
    gate->is_late = true;
    keep_kill(gate->keep);
}

static const KeepCalls calls = {.on_output = on_output, .on_exit = on_exit_row};

static void start_command(void *user)
{
    Gate *gate = user;
    GateRow *row = &gate->rows[gate->at];
    Err err = {0};
    char name[64];
    (void)snprintf(name, sizeof name, "%s.%zu", gate->spec.name, gate->at); /* short prefix */
    const char *argv[] = {"/bin/sh", "-c", row->command->command, NULL};
    KeepSpec spec = {.keeper = gate->spec.keeper,
                     .merge_err = true,
                     .folder = gate->spec.folder,
                     .name = name,
                     .argv = argv,
                     .envp = gate->spec.envp,
                     .cwd = gate->spec.cwd,
                     .journal_limit_bytes = GATE_JOURNAL_BYTES,
                     .grace_ms = (int)gate->spec.grace_ms};
    keep_free(gate->keep);
    gate->tail_length = 0;
    gate->is_late = false;
    row->state = GATE_ROW_RUNNING;
    row->started_ms = clock_wall_ms();
    gate->keep = keep_start(gate->loop, &spec, &calls, gate, &err);
    if (!gate->keep) {
        finish(gate, VERDICT_ERROR, (int)gate->at, err.text);
        return;
    }
    loop_timer_set(gate->loop, &gate->limit, clock_mono_ms() + row->command->timeout_s * 1000);
}

static void start_first(void *user)
{
    Gate *gate = user;
    if (gate->spec.count == 0)
        finish(gate, VERDICT_NONE, -1, NULL);
    else
        start_command(gate);
}

Gate *gate_start(Loop *loop, const GateSpec *spec, const GateCalls *gate_calls, void *user)
{
    Gate *gate = mem_alloc(sizeof *gate);
    gate->loop = loop;
    gate->calls = *gate_calls;
    gate->user = user;
    gate->spec = *spec;
    gate->spec.keeper = arena_strdup(&gate->arena, spec->keeper);
    gate->spec.folder = arena_strdup(&gate->arena, spec->folder);
    gate->spec.name = arena_strdup(&gate->arena, spec->name);
    gate->spec.cwd = arena_strdup(&gate->arena, spec->cwd);
    size_t vars = 0;
    while (spec->envp[vars])
        vars++;
    const char **env = arena_alloc(&gate->arena, (vars + 1) * sizeof *env);
    for (size_t i = 0; i < vars; i++)
        env[i] = arena_strdup(&gate->arena, spec->envp[i]);
    gate->spec.envp = env;
    gate->rows = mem_alloc(spec->count * sizeof *gate->rows);
    gate->tail = mem_alloc(GATE_TAIL_BYTES);
    for (size_t i = 0; i < spec->count; i++)
        gate->rows[i] = (GateRow){.command = &spec->commands[i], .exit_code = -1};
    gate->limit = (LoopTimer){.fn = on_limit, .user = gate};
    gate->next = (LoopTimer){.fn = spec->count ? start_command : start_first, .user = gate};
    loop_timer_set(loop, &gate->next, 0);
    return gate;
}

const GateRow *gate_rows(const Gate *gate, size_t *count)
{
    *count = gate->spec.count;
    return gate->rows;
}

void gate_free(Gate *gate)
{
    if (!gate)
        return;
    loop_timer_clear(gate->loop, &gate->limit);
    loop_timer_clear(gate->loop, &gate->next);
    if (gate->keep)
        keep_kill(gate->keep);
    keep_free(gate->keep);
    arena_done(&gate->arena);
    free(gate->rows);
    free(gate->tail);
    free(gate);
}
