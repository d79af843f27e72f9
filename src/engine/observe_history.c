/* Observed sessions: what the stored reports of a run say. See observe.h. */
#include "base/log.h"
#include "engine/observe.h"
#include <stdlib.h>
#include <string.h>

enum { REPORTS_MAX = 5000 }; /* stored reports of a run that are looked at */

typedef struct Report {
    uint32_t turn;
    int64_t iteration;
    const char *text;   /* of EV_OBSERVED */
    const char *result; /* of EV_STEP_RESULT */
} Report;

typedef struct Reports {
    const Act *act;
    Arena arena;
    Report *items; /* newest first */
    size_t count;
} Reports;

static void report_take(Reports *reports, const StoreEvent *event, const json_t *data)
{
    Report report = {.turn = event->turn, .iteration = json_int(data, "iteration", 0)};
    if (event->kind == EV_OBSERVED) {
        report.text = arena_strdup(&reports->arena, json_text(data, "signal", ""));
    } else {
        const char *text = json_text(data, "result", "");
        CLEANUP(json_freep) json_t *facts = json_read(text, strlen(text), NULL);
        report.result = arena_strdup(&reports->arena, json_text(facts, "result", ""));
    }
    reports->items = mem_grow(reports->items, reports->count + 1, sizeof *reports->items);
    reports->items[reports->count++] = report;
}

static bool on_stored(void *user, const StoreEvent *event)
{
    Reports *reports = user;
    bool is_ours = event->run == reports->act->run && event->epoch == reports->act->epoch;
    if (is_ours && event->data && (event->kind == EV_OBSERVED || event->kind == EV_STEP_RESULT)) {
        CLEANUP(json_freep)
        json_t *data = json_read(event->data, strlen(event->data), NULL);
        report_take(reports, event, data);
    }
    return reports->count < REPORTS_MAX && (event->run == reports->act->run || event->run == 0);
}

static void report_add(const Act *act, const Report *report, ObserveHistory *history, bool *is_step,
                       bool *is_signal)
{
    int64_t signals = history->signals;
    *is_step =
        report->turn == act->turn && report->text && observe_text_stop(report->text) == STOP_NONE;
    if (report->result)
        observe_count_end(history, report->result);
    else
        observe_history_add(history, report->iteration, report->text);
    *is_signal = *is_step && history->signals > signals;
}

void observation_history(const Act *act, ObserveHistory *history, bool *has_signal)
{
    Err err = {0};
    Reports reports = {.act = act};
    const Run *run = machine_run(act->engine->machine, act->run);
    bool has_moved = false, is_step, is_signal;
    *has_signal = false;
    if (!store_event_list_task(act->engine->store, act->task, 0, 0, on_stored, &reports, &err))
        log_line("observe.history run=%u error=\"%s\"", act->run, err.text);
    for (size_t i = reports.count; i-- > 0;) {
        report_add(act, &reports.items[i], history, &is_step, &is_signal);
        has_moved = has_moved || is_step;
        *has_signal = *has_signal || is_signal;
    }
    int64_t steps = run ? run->steps : 0;
    history->iterations = history->signals = history->states = steps;
    history->turn_iterations = has_moved ? steps - 1 : steps;
    arena_done(&reports.arena);
    free(reports.items);
}
