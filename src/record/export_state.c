/* The state files: .index.json and .status.json (B-226, B-227). */
#include "record/export.h"
#include "record/plain.h"
#include <stdlib.h>
#include <string.h>

/* Words of otto in the words of A and B. */
typedef struct StatusWord {
    const char *word, *a, *b;
} StatusWord;

/* clang-format off */
static const StatusWord status_words[] = {
    /* otto           A               B */
    { "draft",        "draft",        "draft"       },
    { "planning",     "planning",     "planning"    },
    { "review",       "review",       "review"      },
    { "executing",    "executing",    "executing"   },
    { "re-planning",  "re-planning",  "re-planning" },
    { "complete",     "complete",     "satisfied"   },
    { "evolving",     "executing",    "evolving"    },
    { "satisfied",    "complete",     "satisfied"   },
    { "blocked",      "blocked",      "blocked"     },
    { "cancelled",    "cancelled",    "cancelled"   },
    { "pending",      "draft",        "draft"       },
    { "active",       "executing",    "executing"   },
    { "done",         "complete",     "satisfied"   },
    { "failed",       "blocked",      "blocked"     },
    { "timeout",      "blocked",      "blocked"     },
    { "skipped",      "cancelled",    "cancelled"   },
};
/* clang-format on */

static const char *word_for(const char *word, RecordLayout layout)
{
    for (size_t i = 0; i < COUNT(status_words); i++)
        if (!strcmp(status_words[i].word, word))
            return layout == RECORD_LAYOUT_B ? status_words[i].b : status_words[i].a;
    return NULL;
}

/* The status of a user's own workflow may be any word: then the task's state speaks. */
static const char *status_for(const Past *past, RecordLayout layout)
{
    const char *word = word_for(past->status, layout);
    word = word ? word : word_for(past->state, layout);
    return word ? word : "draft";
}

static json_t *clean(Past *past, const char *text)
{
    return json_string(plain_line(&past->arena, text, RECORD_CELL_MAX));
}

static json_t *stamp(int64_t ms)
{
    char time[PLAIN_TIME_SIZE];
    plain_stamp(ms, time);
    return json_string(time);
}

/* A plain name must be complete; less is an object. */
static json_t *dependencies(Past *past)
{
    static const char *const least[] = {
        [NEED_STARTED] = "planning", [NEED_VERIFIED] = "executing", [NEED_DONE] = ""};
    json_t *list = json_array();
    for (size_t i = 0; i < MIN(past->dependencies.count, (size_t)RECORD_ROWS_MAX); i++) {
        const PastDependency *row = &past->dependencies.rows[i];
        const char *status = row->need < NEED_COUNT ? least[row->need] : "";
        json_array_append_new(
            list, *status ? json_pack("{s:s,s:s}", "module", row->name, "min_status", status)
                          : json_string(row->name));
    }
    return list;
}

static json_t *tags(Past *past)
{
    enum { MOST = 100 };
    Err ignored = {0};
    json_t *list = json_array(), *tag;
    size_t i;
    const char *text = past->text.tags_json;
    CLEANUP(json_freep) json_t *stored = *text ? json_read(text, strlen(text), &ignored) : NULL;
    json_array_foreach(stored, i, tag) if (i < MOST && json_is_string(tag))
        json_array_append_new(list, clean(past, json_string_value(tag)));
    return list;
}

static json_t *stage_history(Past *past)
{
    json_t *list = json_array();
    for (size_t i = 0; i < past->stages.count; i++) {
        const StoreStage *stage = &past->stages.rows[i];
        if (strcmp(stage->outcome, "accepted") != 0)
            continue;
        json_array_append_new(
            list, json_pack("{s:I,s:o,s:o,s:o,s:f}", "stage", (json_int_t)stage->stage, "name",
                            clean(past, stage->name), "completed_at", stamp(stage->ended_ms),
                            "commit", clean(past, stage->commit), "convergence",
                            (double)stage->after / CONVERGENCE_ONE));
    }
    return list;
}

/* only a re-planning is told apart further. */
static const char *sub_phase(const Past *past, const char *status)
{
    bool is_open = !strcmp(status, "re-planning") && past->run.id;
    return is_open && past->run.substate < SUBSTATE_COUNT ? substate_word(past->run.substate) : "";
}

void export_state(Export *export)
{
    Past *past = export->past;
    bool is_b = export->layout == RECORD_LAYOUT_B;
    const char *status = status_for(past, export->layout);
    CLEANUP(json_freep)
    json_t *json = json_pack("{s:o,s:o,s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "title",
                             clean(past, past->text.title), "type", clean(past, past->type),
                             "status", status, "phase", sub_phase(past, status), "completed_steps",
                             (json_int_t)past->completed_steps, "created",
                             stamp(past->text.created_ms), "updated", stamp(past->updated_ms),
                             "depends_on", dependencies(past), "tags", tags(past), "branch",
                             clean(past, past->branch), "worktree", clean(past, past->worktree));
    if (is_b)
        json_object_set_new(json, "stage",
                            json_pack("{s:I,s:o}", "current", (json_int_t)MAX(past->stage, 1u),
                                      "history", stage_history(past)));
    if (is_b && *past->facts.reason)
        json_object_set_new(json, "cancel_reason", clean(past, past->facts.reason));
    CLEANUP(mem_freep) char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    export_put(export, is_b ? ".status.json" : ".index.json", text ? text : "{}");
}
