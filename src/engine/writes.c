/* Rows for the next commit: copied when they are made, stored in order, kept until that worked. */
#include "base/clock.h"
#include "engine/internal.h"

enum { LAZY_COMMIT_MS = 200 }; /* facts nobody waits for are stored together */

static void copy_text(Engine *engine, const char **text)
{
    if (*text)
        *text = arena_strdup(&engine->turn_arena, *text);
}

static void copy_texts(Engine *engine, Write *w)
{
    const char **texts[12] = {NULL};
    switch (w->kind) {
    case WRITE_EVENT:
        texts[0] = &w->event.data, texts[1] = &w->event.decision, texts[2] = &w->event.why;
        break;
    case WRITE_PROJECT_TEXT:
        texts[0] = &w->project_text.path, texts[1] = &w->project_text.hub;
        texts[2] = &w->project_text.target, texts[3] = &w->project_text.name;
        texts[4] = &w->project_text.settings_json;
        break;
    case WRITE_TASK_TEXT:
        texts[0] = &w->task_text.title, texts[1] = &w->task_text.body, texts[2] = &w->task_text.key;
        texts[3] = &w->task_text.checks_json, texts[4] = &w->task_text.tags_json;
        texts[5] = &w->task_text.size, texts[6] = &w->task_text.agent;
        texts[7] = &w->task_text.workflow;
        break;
    case WRITE_RUN_TEXT:
        texts[0] = &w->run_text.workspace_path, texts[1] = &w->run_text.workspace_kind;
        texts[2] = &w->run_text.branch, texts[3] = &w->run_text.agent, texts[4] = &w->run_text.tag;
        texts[5] = &w->run_text.token, texts[6] = &w->run_text.mark, texts[7] = &w->run_text.says;
        break;
    case WRITE_TURN_START:
    case WRITE_TURN_END:
        texts[0] = &w->turn.prompt_hash, texts[1] = &w->turn.agent, texts[2] = &w->turn.boot_id;
        texts[3] = &w->turn.payload, texts[4] = &w->turn.commit;
        break;
    case WRITE_GATE:
        texts[0] = &w->gate.stage, texts[1] = &w->gate.name, texts[2] = &w->gate.command;
        texts[3] = &w->gate.output;
        break;
    case WRITE_LANDING:
    case WRITE_LANDING_UNDO:
        texts[0] = &w->landing.commit, texts[1] = &w->landing.old_tip;
        texts[2] = &w->landing.new_tip;
        break;
    case WRITE_NOTICE:
    case WRITE_NOTICE_CLOSE:
        texts[0] = &w->notice.kind, texts[1] = &w->notice.text, texts[2] = &w->notice.answer;
        break;
    case WRITE_USAGE:
        texts[0] = &w->usage.agent, texts[1] = &w->usage.model;
        break;
    case WRITE_DISCOVERY:
        texts[0] = &w->discovery.text;
        break;
    case WRITE_DEPENDENCY_ADD:
    case WRITE_DEPENDENCY_REMOVE:
    case WRITE_KIND_COUNT:
        break;
    }
    for (size_t i = 0; i < COUNT(texts) && texts[i]; i++)
        copy_text(engine, texts[i]);
}

void engine_write(Engine *engine, const Write *write)
{
    if (engine->write_count == engine->write_size) {
        engine->write_size = engine->write_size ? engine->write_size * 2 : 32;
        engine->writes = mem_grow(engine->writes, engine->write_size, sizeof *engine->writes);
    }
    engine->writes[engine->write_count] = *write;
    copy_texts(engine, &engine->writes[engine->write_count++]);
    if (!loop_timer_is_set(&engine->commit_timer))
        loop_timer_set(engine->loop, &engine->commit_timer, clock_mono_ms() + LAZY_COMMIT_MS);
}

bool write_store(Store *store, Write *w, Err *err)
{
    switch (w->kind) {
    case WRITE_EVENT:
        return store_event_put(store, &w->event, &w->event.id, err);
    case WRITE_PROJECT_TEXT:
        return store_project_text_save(store, &w->project_text, err);
    case WRITE_TASK_TEXT:
        return store_task_text_save(store, &w->task_text, err);
    case WRITE_RUN_TEXT:
        return store_run_text_save(store, &w->run_text, err);
    case WRITE_DEPENDENCY_ADD:
        return store_dependency_add(store, &w->dependency, err);
    case WRITE_DEPENDENCY_REMOVE:
        return store_dependency_remove(store, w->dependency.task, w->dependency.on, err);
    case WRITE_TURN_START:
        return store_turn_start(store, &w->turn, err);
    case WRITE_TURN_END:
        return store_turn_end(store, &w->turn, err) || err->kind == ERR_NOT_FOUND;
    case WRITE_GATE:
        return store_gate_put(store, &w->gate, err);
    case WRITE_LANDING:
        return store_landing_put(store, &w->landing, err);
    case WRITE_LANDING_UNDO:
        return store_landing_undo(store, w->landing.run, w->landing.new_tip, w->landing.at_ms,
                                  err) ||
               err->kind == ERR_NOT_FOUND;
    case WRITE_NOTICE:
        return store_notice_put(store, &w->notice, NULL, err);
    case WRITE_NOTICE_CLOSE:
        return w->notice.task ? store_notice_close_task(store, w->notice.task, w->notice.kind,
                                                        w->notice.at_ms, w->notice.answer, err)
                              : store_notice_close_project(store, w->notice.project, w->notice.kind,
                                                           w->notice.at_ms, w->notice.answer, err);
    case WRITE_USAGE:
        return store_usage_put(store, &w->usage, err);
    case WRITE_DISCOVERY:
        return store_discovery_put(store, &w->discovery, NULL, err);
    case WRITE_KIND_COUNT:
        break;
    }
    return true;
}
