/* What needs a person, and what people say: the inbox and reviews (D-253..D-258). */
#include "engine/api_internal.h"
#include "store/flow.h"
#include <string.h>

enum { NOTE_BYTES = 64 * 1024, ISSUES_MOST = 32, GUARD_LINES = 40 };

static json_t *safe_text(const char *text)
{
    return safe_string(text ? text : "", text ? strlen(text) : 0);
}

/* -- the inbox ------------------------------------------------------------------------------- */

typedef struct InboxRow {
    const char *kind;  /* of a notice */
    const char *group; /* where it is shown */
} InboxRow;

static const InboxRow inbox_rows[] = {
    {"question", "question"}, {"confirm", "approval"},    {"review", "approval"},
    {"check", "check"},       {"blocked", "blocked"},     {"conflict", "blocked"},
    {"failed", "blocked"},    {"timeout", "blocked"},     {"alert", "escalation"},
    {"stuck", "escalation"},  {"rollback", "escalation"},
};

static const char *group_of(const StoreNotice *notice)
{
    for (size_t i = 0; i < COUNT(inbox_rows); i++)
        if (text_equal(inbox_rows[i].kind, notice->kind))
            return inbox_rows[i].group;
    return notice->task ? "escalation" : "project";
}

json_t *guard_lines(Engine *engine, TaskId task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreRecord record = {0};
    json_t *list = json_array();
    Err ignored = {0};
    if (!store_record_last(engine->store, task, RECORD_GUARD, NULL, &arena, &record, &ignored) ||
        !record.id)
        return list;
    for (const char *at = record.text; *at && json_array_size(list) < GUARD_LINES;) {
        size_t length = strcspn(at, "\n");
        json_array_append_new(list, safe_string(at, length));
        at += length + (at[length] == '\n');
    }
    return list;
}

typedef struct Inbox {
    Engine *engine;
    json_t *list;
} Inbox;

static bool add_open_notice(void *user, const StoreNotice *notice)
{
    Inbox *inbox = user;
    Lister lister = {inbox->engine, inbox->list};
    if (!add_notice(&lister, notice))
        return false;
    json_t *item = json_array_get(inbox->list, json_array_size(inbox->list) - 1);
    json_object_set_new(item, "group", json_string(group_of(notice)));
    return true;
}

static bool is_listed(const json_t *list, TaskId task, const char *group)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_int(item, "task", 0) == task && text_equal(json_text(item, "group", ""), group))
            return true;
    }
    return false;
}

static json_t *title_json(Engine *engine, TaskId task)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    bool is_found = store_task_text_get(engine->store, task, &arena, &text, NULL);
    return safe_text(is_found ? text.title : "");
}

/* A task that waits for an approval is shown whether or not a notice was made for it. */
static void add_review(Inbox *inbox, const Task *task)
{
    Engine *engine = inbox->engine;
    const Run *run = machine_run(engine->machine, task->run);
    json_t *item = NULL;
    size_t i;
    json_t *row;
    json_array_foreach(inbox->list, i, row)
    {
        if (json_int(row, "task", 0) == task->id &&
            text_equal(json_text(row, "group", ""), "approval"))
            item = row;
    }
    if (!item) {
        CLEANUP(str_done) Str why = STR_INIT;
        machine_explain(engine->machine, task->id, engine_now(engine), &why);
        item =
            json_pack("{s:s,s:s,s:I,s:o,s:o,s:I,s:o}", "kind", "review", "group", "approval",
                      "task", (json_int_t)task->id, "title", title_json(engine, task->id), "text",
                      safe_text(str_text(&why)), "at_ms", (json_int_t)(run ? run->verified_ms : 0),
                      "command", hint_of("review", task->id));
        json_array_append_new(inbox->list, item);
    }
    json_object_set_new(item, "lines", guard_lines(engine, task->id));
    json_object_set_new(item, "iteration", json_integer(run ? run->turn : 0));
    json_object_set_new(item, "commit", text_or_null(run ? run->commit : NULL));
}

static bool add_waiting_check(void *user, const StoreCheckpoint *check)
{
    Inbox *inbox = user;
    if (!text_equal(check->state, "waits"))
        return true;
    CLEANUP(str_done) Str text = STR_INIT;
    str_addf(&text, "a check of the plan is for a person: %s", check->name);
    if (*check->command)
        str_addf(&text, " (%s)", check->command);
    json_array_append_new(
        inbox->list,
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:I,s:I,s:o}", "kind", "check", "group", "check", "task",
                  (json_int_t)check->task, "title", title_json(inbox->engine, check->task), "text",
                  safe_text(str_text(&text)), "check", (json_int_t)check->number, "at_ms",
                  (json_int_t)check->at_ms, "command", hint_of("check", check->task)));
    return true;
}

static void add_tasks(Inbox *inbox, ProjectId project)
{
    Machine *machine = inbox->engine->machine;
    Err ignored = {0};
    for (TaskId id = 1; id <= machine_task_count(machine); id++) {
        const Task *task = machine_task(machine, id);
        if (!task || (project && task->project != project) || task->state == TASK_CANCELLED)
            continue;
        if (task->state == TASK_REVIEW)
            add_review(inbox, task);
        bool may_wait = task->state == TASK_REVIEW || task->state == TASK_BLOCKED;
        if (may_wait && !is_listed(inbox->list, id, "check"))
            IGNORE(store_checkpoint_list(inbox->engine->store, id, add_waiting_check, inbox,
                                         &ignored));
    }
}

bool api_inbox(Call *call)
{
    bool has_project = query_int(call, "project", 0) != 0;
    ProjectInfo *project = has_project ? call_project(call) : NULL;
    if ((has_project && !project) || !engine_commit(call->engine, &call->err))
        return false;
    Inbox inbox = {.engine = call->engine, .list = json_array()};
    if (!store_notice_list_open(call->engine->store, project ? project->id : 0, add_open_notice,
                                &inbox, &call->err)) {
        json_decref(inbox.list);
        return false;
    }
    add_tasks(&inbox, project ? project->id : 0);
    reply_json(call, json_pack("{s:o}", "items", inbox.list));
    return true;
}

/* -- reviews --------------------------------------------------------------------------------- */

static const char *const decision_words[] = {"approve", "redo", "reject"};
static const char *const how_words[] = {"keep", "fresh", "checkpoint"};
static const char *const hint_words[] = {"normal", "next", "later"};

static bool read_word(Call *call, const char *key, const char *const *words, size_t count,
                      size_t *index)
{
    const char *word = json_text(call->body, key, NULL);
    CLEANUP(str_done) Str known = STR_INIT;
    for (size_t i = 0; i < count; i++) {
        str_addf(&known, "%s%s", i ? ", " : "", words[i]);
        if (text_equal(words[i], word)) {
            *index = i;
            return true;
        }
    }
    if (!word && !text_equal(key, "decision"))
        return true; /* the first one */
    return err_set(&call->err, ERR_USAGE, "'%s' is none of %s: '%.40s'", key, str_text(&known),
                   word ? word : "");
}

typedef struct Review {
    size_t decision, how, hint;
    const char *note;
    const json_t *issues; /* list of texts, or NULL */
    char commit[HASH_SIZE];
    Str feedback; /* for the next prompt */
} Review;

typedef struct TurnWanted {
    Review *review;
    int64_t turn;
} TurnWanted;

static bool take_snapshot(void *user, const StoreEvent *event)
{
    TurnWanted *wanted = user;
    if (event->kind != EV_SNAPSHOT_TAKEN || event->turn != wanted->turn || !event->data)
        return true;
    CLEANUP(json_freep) json_t *data = json_read(event->data, strlen(event->data), NULL);
    const char *commit = json_text(data, "commit", "");
    (void)snprintf(wanted->review->commit, HASH_SIZE, "%s", commit); /* hashes fit */
    return !*commit;                                                 /* the newest one counts */
}

static bool find_checkpoint(Call *call, const Task *task, Review *review)
{
    TurnWanted wanted = {review, json_int(call->body, "turn", 0)};
    if (review->decision != REVIEW_REDO || review->how != REDO_CHECKPOINT)
        return true;
    if (wanted.turn < 1)
        return err_set(&call->err, ERR_USAGE, "'turn' must say from which turn to go on");
    if (!store_event_list_task(call->engine->store, task->id, 0, 0, take_snapshot, &wanted,
                               &call->err))
        return false;
    return *review->commit ||
           err_set(&call->err, ERR_NOT_FOUND, "#%u has no saved work of turn %lld", task->id,
                   (long long)wanted.turn);
}

static bool read_issues(Call *call, Review *review)
{
    size_t i;
    const json_t *issue;
    review->issues = json_object_get(call->body, "issues");
    if (review->issues &&
        (!json_is_array(review->issues) || json_array_size(review->issues) > ISSUES_MOST))
        return err_set(&call->err, ERR_USAGE, "'issues' must be a list of at most %d texts",
                       ISSUES_MOST);
    json_array_foreach(review->issues, i, issue)
    {
        const char *text = json_string_value(issue);
        if (!text || !*text || strlen(text) > 200)
            return err_set(&call->err, ERR_USAGE, "'issues' must hold short texts");
        str_addf(&review->feedback, "%s- %s", i ? "\n" : "", text);
    }
    if (review->note && *review->note)
        str_addf(&review->feedback, "%s%s", review->feedback.length ? "\n\n" : "", review->note);
    return true;
}

static bool read_review(Call *call, const Task *task, Review *review)
{
    review->note = json_text(call->body, "note", NULL);
    if (!read_word(call, "decision", decision_words, COUNT(decision_words), &review->decision) ||
        !read_word(call, "how", how_words, COUNT(how_words), &review->how) ||
        !read_word(call, "hint", hint_words, COUNT(hint_words), &review->hint) ||
        !read_issues(call, review) || !find_checkpoint(call, task, review))
        return false;
    if (review->note && strlen(review->note) > NOTE_BYTES)
        return err_set(&call->err, ERR_TOO_BIG, "the note is longer than %d bytes", NOTE_BYTES);
    if (review->decision == REVIEW_REJECT && !review->feedback.length)
        return err_set(&call->err, ERR_USAGE, "a rejection says why: 'note' is missing");
    return true;
}

/* D-257 */
static void keep_feedback(Call *call, const Task *task, const Review *review)
{
    const Run *run = machine_run(call->engine->machine, task->run);
    bool is_redo = review->decision == REVIEW_REDO, is_reject = review->decision == REVIEW_REJECT;
    json_t *data = json_pack(
        "{s:I,s:I,s:s,s:O?,s:s?,s:s?,s:s?,s:s?}", "iteration", (json_int_t)(run ? run->turn : 0),
        "timestamp", (json_int_t)engine_now(call->engine), "decision",
        decision_words[review->decision], "quickIssues", review->issues, "customFeedback",
        is_reject ? NULL : review->note, "redoOption", is_redo ? how_words[review->how] : NULL,
        "selectionHint", is_redo ? hint_words[review->hint] : NULL, "rejectReason",
        is_reject ? review->note : NULL);
    CLEANUP(mem_freep) char *text = json_write(data);
    json_decref(data);
    engine_write(call->engine, &(Write){.kind = WRITE_RECORD,
                                        .record = {.task = task->id,
                                                   .run = task->run,
                                                   .epoch = run ? run->epoch : 0,
                                                   .turn = run ? run->turn : 0,
                                                   .stage = run ? run->stage : 0,
                                                   .kind = RECORD_FEEDBACK,
                                                   .checkpoint = "",
                                                   .result = decision_words[review->decision],
                                                   .text = str_text(&review->feedback),
                                                   .data = text ? text : "",
                                                   .at_ms = engine_now(call->engine)}});
}

/* The loop has no records in its prompts: its agent hears of it once, as a note. */
static void tell_agent(Call *call, const Task *task, const Review *review)
{
    const Run *run = machine_run(call->engine->machine, task->run);
    if (run && run->workflow == 0 && review->decision == REVIEW_REDO && review->feedback.length)
        keep_words(call, SAYS_NOTE, json_pack("{s:s}", "note", str_text(&review->feedback)));
}

/* -- checks for people (B-202) --------------------------------------------------------------- */

typedef struct Checks {
    Engine *engine;
    const char *state; /* what those that wait become */
} Checks;

static bool judge_check(void *user, const StoreCheckpoint *check)
{
    const Checks *checks = user;
    if (text_equal(check->state, "waits"))
        engine_write(checks->engine, &(Write){.kind = WRITE_CHECKPOINT_STATE,
                                              .checkpoint = {.task = check->task,
                                                             .number = check->number,
                                                             .state = checks->state,
                                                             .at_ms = engine_now(checks->engine)}});
    return true;
}

static void judge_checks(Call *call, const Task *task, const Review *review)
{
    Checks checks = {call->engine, review->decision == REVIEW_APPROVE ? "approved" : "red"};
    Err ignored = {0};
    IGNORE(store_checkpoint_list(call->engine->store, task->id, judge_check, &checks, &ignored));
}

/* -- the order in which it comes again ------------------------------------------------------- */

static json_t *tags_with(const char *tags_json, size_t hint)
{
    CLEANUP(json_freep) json_t *old = parse_or(tags_json, json_array());
    json_t *tags = json_array();
    size_t i;
    json_t *tag;
    json_array_foreach(old, i, tag)
    {
        const char *word = json_string_value(tag);
        if (!text_equal(word, "next") && !text_equal(word, "later"))
            json_array_append(tags, tag);
    }
    if (hint)
        json_array_append_new(tags, json_string(hint_words[hint]));
    return tags;
}

/* D-256: the hint is a tag, as if a person had edited it. Best effort: the review stands. */
static void post_hint(Call *call, const Review *review)
{
    Engine *engine = call->engine;
    const Task *task = machine_task(engine->machine, (TaskId)call->id);
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    StoreTaskText text = {0};
    uint8_t bits = (uint8_t)(task->tags & ~(TAG_NEXT | TAG_LATER));
    bits |= review->hint == 1 ? TAG_NEXT : review->hint == 2 ? TAG_LATER : 0;
    if (review->decision != REVIEW_REDO || bits == task->tags ||
        !json_object_get(call->body, "hint") ||
        !store_task_text_get(engine->store, task->id, &arena, &text, NULL))
        return;
    CLEANUP(json_freep) json_t *tags = tags_with(text.tags_json, review->hint);
    CLEANUP(mem_freep) char *tags_text = json_write(tags);
    Event event = {.kind = EV_TASK_EDITED,
                   .project = task->project,
                   .task = task->id,
                   .a = bits,
                   .b = task->priority};
    if (!engine_post(engine, &event))
        return;
    engine_write(engine, &(Write){.kind = WRITE_TASK_TEXT,
                                  .task_text = {.id = task->id,
                                                .project = task->project,
                                                .tags_json = tags_text,
                                                .created_ms = text.created_ms,
                                                .deleted_ms = text.deleted_ms}});
}

static bool post_review(Call *call, const Task *task, const Review *review)
{
    Event event = {.kind = EV_REVIEWED,
                   .project = task->project,
                   .task = task->id,
                   .a = (int64_t)review->decision,
                   .b = review->decision == REVIEW_REDO ? (int64_t)review->how : 0,
                   .text = review->feedback.length ? str_text(&review->feedback) : NULL,
                   .ref = *review->commit ? review->commit : NULL};
    if (!machine_check(call->engine->machine, &event, &call->err))
        return false;
    keep_feedback(call, task, review);
    tell_agent(call, task, review);
    judge_checks(call, task, review);
    notices_close(call->engine, task->id);
    bool is_posted = engine_post(call->engine, &event);
    CLEANUP(mem_freep) char *why = mem_strdup(str_text(&call->engine->step.why));
    if (is_posted)
        post_hint(call, review);
    if (!engine_commit(call->engine, &call->err))
        return err_add(&call->err, "not stored yet");
    return is_posted || err_set(&call->err, ERR_CONFLICT, "the review was refused: %s", why);
}

bool api_review(Call *call)
{
    const Task *task = call_task(call);
    Review review = {.feedback = STR_INIT};
    bool is_done = task && engine_commit(call->engine, &call->err) &&
                   read_review(call, task, &review) && post_review(call, task, &review);
    str_done(&review.feedback);
    if (!is_done)
        return false;
    task = machine_task(call->engine->machine, (TaskId)call->id);
    json_t *reply =
        json_pack("{s:I,s:s,s:s}", "task", (json_int_t)call->id, "decision",
                  decision_words[review.decision], "state", task_state_word(task->state));
    add_flow_fields(call->engine, machine_run(call->engine->machine, task->run), reply);
    reply_json(call, reply);
    return true;
}
