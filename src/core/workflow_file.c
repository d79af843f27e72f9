/* Reading workflow files: see workflow_file.h. Here are the lists of words; rows are read in
 * workflow_file_rows.c, what a short file leaves out comes from workflow_defaults.c. */
#include "core/workflow_file_parts.h"
#include <string.h>

/* Phases */

static const char *word_of_kind(const void *list, size_t i)
{
    (void)list;
    return i < PHASE_KIND_COUNT ? phase_kind_word((PhaseKind)i) : NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool result_is_valid(const char *word)
{
    size_t length = strlen(word);
    return length > 0 && length <= WORKFLOW_NAME_MAX && strspn(word, LETTERS "-_()") == length;
}

/* A list of words; those it has already are not repeated. */
static bool read_results(Reader *reader, const char *path, const json_t *list, bool is_exact,
                         WorkflowPhase *phase)
{
    CLEANUP(str_done) Str words = STR_INIT;
    const char *where = read_path(reader, "%s.results", path);
    if (!json_is_array(list) || json_array_size(list) > WORKFLOW_WORDS_MAX)
        return read_bad(reader, where, "must be a list of up to %d words", WORKFLOW_WORDS_MAX);
    if (!is_exact)
        str_add(&words, phase->results);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (!word || !result_is_valid(word))
            return read_bad(reader, read_path(reader, "%s[%zu]", where, i),
                            "must be a word of letters, digits, '-', '_', '(', ')'");
        WorkflowPhase so_far = {.results = str_text(&words)};
        if (phase_result_index(&so_far, word) >= 0)
            continue;
        str_addf(&words, "%s%s", words.length ? " " : "", word);
    }
    phase->results = arena_strdup(reader->arena, str_text(&words));
    return true;
}

static bool read_kind(Reader *reader, const char *path, const json_t *object, bool is_known,
                      WorkflowPhase *phase)
{
    const char *kind = NULL;
    if (!read_text(reader, path, object, "kind", &kind))
        return false;
    if (!kind && is_known)
        return true;
    if (kind && !phase_kind_find(kind, &phase->kind))
        return read_unknown(reader, read_path(reader, "%s.kind", path), "kind", kind, word_of_kind,
                            NULL);
    phase->results = default_results[phase->kind];
    return true;
}

static bool read_phase(Reader *reader, const char *path, const char *name, const json_t *object)
{
    static const char *const keys[] = {"kind", "prompt", "tier",   "fresh",      "results",
                                       "help", "answer", "status", "checkpoint", NULL};
    int old = -1;
    for (unsigned i = 0; i < reader->phases.count; i++) {
        if (text_equal(((WorkflowPhase *)reader->phases.items)[i].name, name))
            old = (int)i;
    }
    WorkflowPhase phase = {.name = arena_strdup(reader->arena, name),
                           .prompt = "",
                           .tier = "",
                           .help = "",
                           .answer = "",
                           .status = WF_KEEP};
    if (old >= 0)
        phase = *(WorkflowPhase *)rows_at(&reader->phases, (unsigned)old);
    if (!read_name(reader, path, name, "phase") || !read_keys(reader, path, object, keys) ||
        !read_kind(reader, path, object, old >= 0, &phase) ||
        !read_text(reader, path, object, "prompt", &phase.prompt) ||
        !read_text(reader, path, object, "tier", &phase.tier) ||
        !read_flag(reader, path, object, "fresh", &phase.is_fresh) ||
        !read_text(reader, path, object, "help", &phase.help) ||
        !read_text(reader, path, object, "answer", &phase.answer) ||
        !read_text(reader, path, object, "status", &phase.status))
        return false;
    const json_t *results = json_object_get(object, "results");
    bool is_exact = json_object_get(reader->root, "statuses") != NULL || old >= 0;
    if (results && !read_results(reader, path, results, is_exact, &phase))
        return false;
    if (old >= 0)
        rows_set(&reader->phases, (unsigned)old, &phase);
    else
        *(WorkflowPhase *)rows_add(reader, &reader->phases) = phase;
    return true;
}

static bool is_small_map(Reader *reader, const char *path, const json_t *object)
{
    if (!json_is_object(object))
        return read_bad(reader, path, "must be a map");
    if (json_object_size(object) > WORKFLOW_WORDS_MAX)
        return read_bad(reader, path, "has more than %d entries", WORKFLOW_WORDS_MAX);
    return true;
}

static bool read_phases(Reader *reader)
{
    const json_t *phases = json_object_get(reader->root, "phases");
    const char *name;
    json_t *object;
    if (!phases && reader->base)
        return true;
    if (!phases || json_object_size(phases) == 0)
        return read_bad(reader, "phases",
                        "at least one phase is needed, for example "
                        "'work: {kind: agent, prompt: work}'");
    if (!is_small_map(reader, "phases", phases))
        return false;
    json_object_foreach((json_t *)(uintptr_t)phases, name, object)
    {
        if (!read_phase(reader, read_path(reader, "phases.%.60s", name), name, object))
            return false;
    }
    return reader->phases.count <= WORKFLOW_WORDS_MAX ||
           read_bad(reader, "phases", "there are more than %d", WORKFLOW_WORDS_MAX);
}

/* A gate, or the checks that a gate goes by: no work comes between. */
static bool is_of_gate(const Reader *reader, unsigned i)
{
    const WorkflowPhase *phase = rows_at(&reader->phases, i);
    while (phase->kind == PHASE_VERIFY && ++i < reader->phases.count)
        phase = rows_at(&reader->phases, i);
    return phase->kind == PHASE_GATE;
}

/* The checkpoint at which a phase is entered by short rows. */
static bool read_stops(Reader *reader)
{
    const json_t *phases = json_object_get(reader->root, "phases");
    reader->stops = arena_alloc(reader->arena, reader->phases.count * sizeof *reader->stops);
    for (unsigned i = 0; i < reader->phases.count; i++) {
        const WorkflowPhase *phase = rows_at(&reader->phases, i);
        const json_t *object = json_object_get(phases, phase->name);
        const char *path = read_path(reader, "phases.%s", phase->name);
        if (reader->is_short && is_of_gate(reader, i))
            reader->stops[i] = "post-exec";
        if (!read_text(reader, path, object, "checkpoint", &reader->stops[i]))
            return false;
        const char *stop = reader->stops[i];
        if (stop && *stop &&
            (!read_name(reader, read_path(reader, "%s.checkpoint", path), stop, "checkpoint") ||
             !reader_add_checkpoint(reader, stop, "where the work is judged")))
            return false;
    }
    return true;
}

/* Statuses, checkpoints, commands */

static bool read_status(Reader *reader, const char *name, const json_t *object)
{
    static const char *const keys[] = {"final", "help", "ends", "rank", NULL};
    const char *path = read_path(reader, "statuses.%.60s", name);
    WorkflowStatus status = {.name = arena_strdup(reader->arena, name), .help = "", .ends = ""};
    if (!read_name(reader, path, name, "status"))
        return false;
    if (json_is_string(object))
        status.help = arena_strdup(reader->arena, json_string_value(object));
    else if (!json_is_null(object)) {
        const json_t *rank = json_object_get(object, "rank");
        if (!read_keys(reader, path, object, keys) ||
            !read_flag(reader, path, object, "final", &status.is_final) ||
            !read_text(reader, path, object, "help", &status.help) ||
            !read_text(reader, path, object, "ends", &status.ends))
            return false;
        if (rank && (!json_is_integer(rank) || json_integer_value(rank) < 0 ||
                     json_integer_value(rank) > 1000))
            return read_bad(reader, read_path(reader, "%s.rank", path),
                            "must be a whole number from 0 to 1000");
        status.rank = rank ? (int)json_integer_value(rank) : 0;
    }
    for (unsigned i = 0; i < reader->statuses.count; i++) {
        if (text_equal(((WorkflowStatus *)reader->statuses.items)[i].name, name)) {
            rows_set(&reader->statuses, i, &status);
            return true;
        }
    }
    *(WorkflowStatus *)rows_add(reader, &reader->statuses) = status;
    return true;
}

static bool read_statuses(Reader *reader)
{
    const json_t *statuses = json_object_get(reader->root, "statuses");
    const char *name;
    json_t *object;
    if (!statuses)
        return true;
    if (!is_small_map(reader, "statuses", statuses))
        return false;
    json_object_foreach((json_t *)(uintptr_t)statuses, name, object)
    {
        if (!read_status(reader, name, object))
            return false;
    }
    return true;
}

static void put_word(Reader *reader, Rows *rows, const char *name, const char *help)
{
    WorkflowWord word = {arena_strdup(reader->arena, name), arena_strdup(reader->arena, help)};
    for (unsigned i = 0; i < rows->count; i++) {
        if (text_equal(((WorkflowWord *)rows->items)[i].name, name)) {
            rows_set(rows, i, &word);
            return;
        }
    }
    *(WorkflowWord *)rows_add(reader, rows) = word;
}

bool reader_add_checkpoint(Reader *reader, const char *name, const char *help)
{
    for (unsigned i = 0; i < reader->checkpoints.count; i++) {
        if (text_equal(((WorkflowWord *)reader->checkpoints.items)[i].name, name))
            return true;
    }
    if (reader->checkpoints.count >= 250) /* the index is stored in a byte */
        return read_bad(reader, "checkpoints", "there are more than 250");
    put_word(reader, &reader->checkpoints, name, help);
    return true;
}

/* A map of words and what they mean. The empty word is the checkpoint "none". */
static bool read_words(Reader *reader, const char *list, const char *what, Rows *rows)
{
    const json_t *words = json_object_get(reader->root, list);
    const char *name;
    json_t *help;
    if (!words)
        return true;
    if (!is_small_map(reader, list, words))
        return false;
    json_object_foreach((json_t *)(uintptr_t)words, name, help)
    {
        const char *path = read_path(reader, "%s.%.60s", list, name);
        const char *text = json_is_null(help) ? "" : json_string_value(help);
        if (*name && !read_name(reader, path, name, what))
            return false;
        if (!text || strlen(text) > WORKFLOW_TEXT_MAX)
            return read_bad(reader, path, "must be a text of up to %d bytes", WORKFLOW_TEXT_MAX);
        put_word(reader, rows, name, text);
    }
    return true;
}

/* Limits, thresholds, hooks */

static bool read_limit(Reader *reader, const char *name, const json_t *value)
{
    static const char *const keys[] = {"value", "retry", "help", NULL};
    const char *path = read_path(reader, "limits.%.60s", name);
    const WorkflowLimit *old = NULL;
    for (unsigned i = 0; i < reader->limits.count; i++) {
        WorkflowLimit *limit = rows_at(&reader->limits, i);
        old = text_equal(limit->name, name) ? limit : old;
    }
    WorkflowLimit limit =
        old ? *old : (WorkflowLimit){arena_strdup(reader->arena, name), 0, true, ""};
    const json_t *number = json_is_object(value) ? json_object_get(value, "value") : value;
    if (!read_name(reader, path, name, "limit") ||
        (json_is_object(value) && (!read_keys(reader, path, value, keys) ||
                                   !read_flag(reader, path, value, "retry", &limit.is_retry) ||
                                   !read_text(reader, path, value, "help", &limit.help))))
        return false;
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        return read_bad(reader, path, "must be a whole number from 0");
    limit.fallback = json_integer_value(number);
    if (old)
        *(WorkflowLimit *)(uintptr_t)old = limit;
    else
        *(WorkflowLimit *)rows_add(reader, &reader->limits) = limit;
    return true;
}

static bool read_limits(Reader *reader)
{
    const json_t *limits = json_object_get(reader->root, "limits");
    const char *name;
    json_t *value;
    if (!limits)
        return true;
    if (!is_small_map(reader, "limits", limits))
        return false;
    json_object_foreach((json_t *)(uintptr_t)limits, name, value)
    {
        if (!read_limit(reader, name, value))
            return false;
    }
    return true;
}

static bool read_threshold(Reader *reader, const char *name, const json_t *value)
{
    const char *path = read_path(reader, "thresholds.%.60s", name);
    WorkflowThreshold threshold = {arena_strdup(reader->arena, name), json_number_value(value)};
    if (!read_name(reader, path, name, "checkpoint"))
        return false;
    if (!json_is_number(value) || !(threshold.value >= 0 && threshold.value <= 1))
        return read_bad(reader, path, "must be a number from 0 to 1");
    for (unsigned i = 0; i < reader->thresholds.count; i++) {
        if (text_equal(((WorkflowThreshold *)reader->thresholds.items)[i].checkpoint, name)) {
            rows_set(&reader->thresholds, i, &threshold);
            return true;
        }
    }
    *(WorkflowThreshold *)rows_add(reader, &reader->thresholds) = threshold;
    return reader_add_checkpoint(reader, name, "where the work is judged");
}

static bool read_thresholds(Reader *reader)
{
    const json_t *thresholds = json_object_get(reader->root, "thresholds");
    const char *name;
    json_t *value;
    if (!thresholds)
        return true;
    if (!is_small_map(reader, "thresholds", thresholds))
        return false;
    json_object_foreach((json_t *)(uintptr_t)thresholds, name, value)
    {
        if (!read_threshold(reader, name, value))
            return false;
    }
    return true;
}

static bool read_hooks(Reader *reader)
{
    const json_t *hooks = json_object_get(reader->root, "hooks");
    const char *status;
    json_t *value;
    if (!hooks)
        return true;
    if (!is_small_map(reader, "hooks", hooks))
        return false;
    json_object_foreach((json_t *)(uintptr_t)hooks, status, value)
    {
        const char *path = read_path(reader, "hooks.%.60s", status), *command = NULL;
        if (workflow_status_index(&reader->flow, status) < 0)
            return read_unknown(reader, path, "status", status, word_of_status, &reader->statuses);
        if (!read_text(reader, "hooks", hooks, status, &command))
            return false;
        if (!command || !*command)
            return read_bad(reader, path, "must be a command");
        *(WorkflowHook *)rows_add(reader, &reader->hooks) =
            (WorkflowHook){arena_strdup(reader->arena, status), command};
    }
    return true;
}

/* The whole */

static void reader_init(Reader *reader)
{
    reader->phases.item_size = sizeof(WorkflowPhase);
    reader->statuses.item_size = sizeof(WorkflowStatus);
    reader->checkpoints.item_size = sizeof(WorkflowWord);
    reader->commands.item_size = sizeof(WorkflowWord);
    reader->limits.item_size = sizeof(WorkflowLimit);
    reader->thresholds.item_size = sizeof(WorkflowThreshold);
    reader->hooks.item_size = sizeof(WorkflowHook);
    reader->entries.item_size = sizeof(WorkflowEntry);
    reader->routes.item_size = sizeof(WorkflowRoute);
    reader->transitions.item_size = sizeof(WorkflowCommand);
}

static void rows_copy(Reader *reader, Rows *rows, const void *items, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        memcpy(rows_add(reader, rows), (const char *)items + i * rows->item_size, rows->item_size);
}

static void take_base(Reader *reader)
{
    const Workflow *base = reader->base;
    rows_copy(reader, &reader->phases, base->phases, base->phase_count);
    rows_copy(reader, &reader->statuses, base->statuses, base->status_count);
    rows_copy(reader, &reader->checkpoints, base->checkpoints, base->checkpoint_count);
    rows_copy(reader, &reader->commands, base->commands, base->command_count);
    rows_copy(reader, &reader->limits, base->limits, base->limit_count);
    rows_copy(reader, &reader->thresholds, base->thresholds, base->threshold_count);
    rows_copy(reader, &reader->hooks, base->hooks, base->hook_count);
    rows_copy(reader, &reader->entries, base->entries, base->entry_count);
    rows_copy(reader, &reader->routes, base->routes, base->route_count);
    rows_copy(reader, &reader->transitions, base->transitions, base->transition_count);
    reader->flow.help = base->help;
    reader->flow.first_status = base->first_status;
}

static const char *word_of_built_in(const void *list, size_t i)
{
    size_t count;
    const Workflow *const *all = workflow_all(&count);
    (void)list;
    return i < count ? all[i]->name : NULL;
}

static bool read_head(Reader *reader)
{
    const char *base = NULL;
    reader->flow.help = "";
    if (!read_text(reader, "", reader->root, "name", &reader->flow.name) ||
        !read_text(reader, "", reader->root, "extends", &base))
        return false;
    if (!reader->flow.name)
        return read_bad(reader, "name", "is missing");
    if (!read_name(reader, "name", reader->flow.name, "workflow"))
        return false;
    if (base && !(reader->base = workflow_find(base)))
        return read_unknown(reader, "extends", "workflow", base, word_of_built_in, NULL);
    if (reader->base)
        take_base(reader);
    reader->is_short = !reader->base && !json_object_get(reader->root, "statuses");
    return read_text(reader, "", reader->root, "help", &reader->flow.help) &&
           read_text(reader, "", reader->root, "first_status", &reader->flow.first_status);
}

static bool read_first_status(Reader *reader)
{
    Workflow *flow = &reader->flow;
    if (!flow->first_status)
        flow->first_status = flow->statuses[0].name;
    if (workflow_status_index(flow, flow->first_status) >= 0)
        return true;
    return read_unknown(reader, "first_status", "status", flow->first_status, word_of_status,
                        &reader->statuses);
}

static bool read_lists(Reader *reader)
{
    if (reader->checkpoints.count == 0)
        put_word(reader, &reader->checkpoints, WF_NONE, "none");
    if (!read_phases(reader))
        return false;
    reader->own = reader->phases.count;
    defaults_lists(reader);
    if (!read_statuses(reader) ||
        !read_words(reader, "checkpoints", "checkpoint", &reader->checkpoints) ||
        !read_words(reader, "commands", "command", &reader->commands) || !read_limits(reader) ||
        !read_thresholds(reader) || !read_stops(reader))
        return false;
    reader_publish(reader);
    reader->has_states = workflow_has_status(&reader->flow, "active");
    return reader->statuses.count > 0 ? read_first_status(reader) && read_hooks(reader)
                                      : read_bad(reader, "statuses", "must not be empty");
}

const Workflow *workflow_read(const json_t *definition, Arena *arena, Err *err)
{
    static const char *const keys[] = {"name",   "help",        "extends",     "first_status",
                                       "phases", "statuses",    "checkpoints", "commands",
                                       "limits", "thresholds",  "hooks",       "entries",
                                       "routes", "transitions", NULL};
    Reader reader = {.arena = arena, .err = err, .root = definition};
    reader_init(&reader);
    if (!json_is_object(definition)) {
        (void)read_bad(&reader, "",
                       "a workflow is a map with 'name' and 'phases'"); /* NULL: failed */
        return NULL;
    }
    if (!read_keys(&reader, "", definition, keys) || !read_head(&reader) || !read_lists(&reader) ||
        !read_entries(&reader) || !read_routes(&reader) || !read_transitions(&reader))
        return NULL;
    defaults_rows(&reader);
    reader_publish(&reader);
    if (reader.routes.count > WORKFLOW_ROWS_MAX) {
        (void)read_bad(&reader, "routes", "there are more than %d",
                       WORKFLOW_ROWS_MAX); /* likewise */
        return NULL;
    }
    Workflow *flow = arena_alloc(arena, sizeof *flow);
    *flow = reader.flow;
    return flow;
}
