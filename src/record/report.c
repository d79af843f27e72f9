/* Timeline and report: see record.h. */
#include "record/parts.h"

bool record_timeline(Store *store, TaskId task, json_t **json, Str *text, Err *err)
{
    CLEANUP(past_done) Past past;
    if (!past_load(&past, store, task, NULL, err))
        return false;
    if (text)
        timeline_text(&past, text);
    if (json)
        *json = timeline_json(&past);
    return true;
}

/* The sections of A-221 in their order; each is silent when it has nothing to say. */
typedef void Part(Doc *doc, Past *past);

static Part *const whole[] = {
    part_facts,  part_timeline, part_objective,    part_plan,    part_changes,  part_verification,
    part_checks, part_guards,   part_convergence,  part_stages,  part_failures, part_issues,
    part_notes,  part_feedback, part_dependencies, part_lessons, part_others,   part_cost,
};

static void write_summary(Doc *doc, Past *past)
{
    part_facts(doc, past);
    if (past->steps.count) {
        doc_heading(doc, 2, "Flow");
        doc_text(doc, flow_line(past));
    }
    part_stages(doc, past);
    part_cost(doc, past);
}

void report_write(Past *past, RecordFormat format, Str *out)
{
    CLEANUP(doc_done) Doc doc = {0};
    doc_init(&doc, format, arena_printf(&past->arena, "Report: %s", past->text.title));
    if (past_is_blank(past))
        doc_textf(&doc, "Task #%u (%s) has no plan and no step yet: there is nothing to report.",
                  past->task.id, past->status);
    else if (format == RECORD_AS_SUMMARY)
        write_summary(&doc, past);
    else
        for (size_t i = 0; i < COUNT(whole); i++)
            whole[i](&doc, past);
    doc_finish(&doc, out);
}

bool record_report(Store *store, TaskId task, const RecordFacts *facts, RecordFormat format,
                   Str *out, Err *err)
{
    CLEANUP(past_done) Past past;
    if (!past_load(&past, store, task, facts, err))
        return false;
    report_write(&past, format, out);
    return true;
}

bool record_task_name(Store *store, TaskId task, Str *out, Err *err)
{
    CLEANUP(past_done) Past past;
    if (!past_load(&past, store, task, NULL, err))
        return false;
    str_add(out, past.name);
    return true;
}
