/* Backlog: the keys of a front matter. See backlog.h. */
#include "base/yaml.h"
#include "core/backlog_parts.h"

#define AT(member) offsetof(BacklogTask, member)

static const char *check_key(const char *text)
{
    int64_t number;
    if (field_check_name(text) || text_to_int(text, &number))
        return "at most 64 letters, digits, '-' and '_', and not a number alone";
    return NULL;
}

/* clang-format off */
static const Field rows[] = {
  /* key, type, offset, default, min, max, unit, words, check, env, help */
  {"title", FIELD_TEXT, AT(title), NULL, 1, BACKLOG_MOST_TITLE, NULL, NULL, field_check_line, NULL,
   "what is to be done, in one line; without it the first heading of the text"},
  {"key", FIELD_TEXT, AT(key), NULL, 1, 64, NULL, NULL, check_key, NULL,
   "lasting name of the task, for after and parent"},
  {"after", FIELD_OWN, AT(after), NULL, 0, BACKLOG_MOST_AFTER,
   "a list of keys, ids or {task, state}", NULL, NULL, NULL,
   "tasks that come first; state is started, verified or done (done when left out), or a status of "
   "the lifecycle: draft, planning, review, executing (as started), complete, satisfied (as done); "
   "{module, min_status} is the same"},
  {"check", FIELD_TEXTS, AT(checks), NULL, 1, 64, NULL, NULL, field_check_shell, NULL,
   "shell commands that must pass before this task is done, besides those of verify"},
  {"tags", FIELD_TEXTS, AT(tags), NULL, 0, 32, NULL, NULL, field_check_line, NULL,
   "words such as critical, quick-win, next, later"},
  {"priority", FIELD_OWN, AT(priority), NULL, 0, 3, "0 to 3 or P0 to P3", NULL, NULL, NULL,
   "P0 is the most urgent"},
  {"size", FIELD_WORD, AT(size), NULL, 0, 0, NULL, "XS S M L XL", NULL, NULL,
   "how big it is thought to be"},
  {"parent", FIELD_OWN, AT(parent), NULL, 0, 0, "a key or an id", NULL, NULL, NULL,
   "task that this one is a part of"},
  {"agent", FIELD_TEXT, AT(agent), NULL, 1, 64, NULL, NULL, field_check_name, NULL,
   "agent for this task"},
  {"workflow", FIELD_TEXT, AT(workflow), NULL, 1, 64, NULL, NULL, field_check_name, NULL,
   "workflow for this task: a built-in one or one of your own files"},
  {"type", FIELD_TEXT, AT(type), NULL, 1, 100, NULL, NULL, field_check_type, NULL,
   "kind of work, such as software or docs; picks the profile of thresholds and experiences"},
  {"confirmed", FIELD_BOOL, AT(is_confirmed), NULL, 0, 0, NULL, NULL, NULL, NULL,
   "true: the objective is approved beforehand, nobody is asked"},
  {"requirements", FIELD_OWN, AT(requirements), NULL, 0, BACKLOG_MOST_REQUIREMENTS,
   "a list of {text, criteria, weight} or \"text :: criteria :: weight\"", NULL, NULL, NULL,
   "what must be true in the end, as R1, R2, ...; criteria and weight may be left out; weight is "
   "critical (3), important (2, when left out) or optional (1)"},
  {"max_turns", FIELD_INT, AT(max_turns), NULL, 1, 1000, "turns", NULL, NULL, NULL,
   "limit for this task: of a run in `loop`, of a step in other workflows"},
  {"timeout_minutes", FIELD_INT, AT(timeout_minutes), NULL, 1, 1440, "minutes", NULL, NULL, NULL,
   "limit for this task"},
};
/* clang-format on */

FieldTable backlog_rows(void)
{
    return (FieldTable){rows, COUNT(rows)};
}

void backlog_markdown(Str *out)
{
    str_add(out, "| key | value | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        str_addf(out, "| `%s` | ", rows[i].key);
        field_allowed(&rows[i], out);
        str_addf(out, " | %s |\n", rows[i].help);
    }
    str_add(out,
            "\nA task that brings its requirements along needs no dialogue:\n\n"
            "```markdown\n---\ntitle: Export as CSV\nworkflow: staged\ntype: software\n"
            "confirmed: true\nafter: [{task: tables, state: executing}]\nrequirements:\n"
            "  - {text: The export holds every row, criteria: counts agree, weight: critical}\n"
            "  - 'Names with commas survive :: a test reads them back :: important'\n"
            "  - Large tables do not fill the memory\n---\n```\n");
}

static bool read_reference(const json_t *value, Arena *arena, BacklogAfter *out)
{
    if (json_is_integer(value)) {
        json_int_t id = json_integer_value(value);
        out->id = id > 0 && id <= INT32_MAX ? (TaskId)id : 0;
        return out->id != 0;
    }
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value) || check_key(text))
        return false;
    out->key = arena_strdup(arena, text);
    return true;
}

typedef struct NeedWord {
    const char *word;
    Need need;
    bool is_status; /* of the lifecycle */
} NeedWord;

/* clang-format off */
static const NeedWord need_words[] = {
#define X(need, word, help) {word, need, false},
  NEEDS(X)
#undef X
  {"draft",     NEED_STARTED, true},
  {"planning",  NEED_STARTED, true},
  {"review",    NEED_STARTED, true},
  {"executing", NEED_STARTED, true},
  {"complete",  NEED_DONE,    true},
  {"satisfied", NEED_DONE,    true},
};
/* clang-format on */

static const NeedWord *need_word_find(const char *word)
{
    for (size_t i = 0; word && i < COUNT(need_words); i++)
        if (text_equal(need_words[i].word, word))
            return &need_words[i]; /* a row of the table */
    return NULL;
}

bool backlog_need_find(const char *word, Need *need)
{
    const NeedWord *row = need_word_find(word);
    if (row)
        *need = row->need;
    return row;
}

/* The value under whichever of the two names stands. */
static const json_t *either(const json_t *map, const char *name, const char *other)
{
    const json_t *value = json_object_get(map, name);
    return value ? value : json_object_get(map, other);
}

static bool read_after_item(const json_t *value, Arena *arena, BacklogAfter *out)
{
    *out = (BacklogAfter){.need = NEED_DONE};
    if (!json_is_object(value))
        return read_reference(value, arena, out);
    const json_t *task = either(value, "task", "module");
    const json_t *state = either(value, "state", "need");
    state = state ? state : json_object_get(value, "min_status");
    const NeedWord *row = need_word_find(json_string_value(state));
    if (row) {
        out->need = row->need;
        out->status = row->is_status ? row->word : NULL;
    }
    return json_object_size(value) == (state ? 2 : 1) && task && read_reference(task, arena, out) &&
           (!state || row);
}

static bool read_after(const json_t *value, Arena *arena, BacklogTask *task)
{
    bool is_one = !json_is_array(value); /* `after: login` is a list of one */
    size_t count = is_one ? 1 : json_array_size(value);
    if (count > BACKLOG_MOST_AFTER)
        return false;
    task->after = arena_alloc(arena, (count + 1) * sizeof *task->after);
    for (; task->after_count < count; task->after_count++)
        if (!read_after_item(is_one ? value : json_array_get(value, task->after_count), arena,
                             &task->after[task->after_count]))
            return false;
    return true;
}

static bool read_priority(const json_t *value, int64_t *priority)
{
    int64_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    const char *text = json_string_value(value);
    if (text && (text[0] == 'P' || text[0] == 'p') && text[1] >= '0' && text[1] <= '3' && !text[2])
        number = text[1] - '0';
    if (number < 0 || number > 3)
        return false;
    *priority = number;
    return true;
}

static bool read_own(const Field *field, const json_t *value, Arena *arena, BacklogTask *task)
{
    if (text_equal(field->key, "after"))
        return read_after(value, arena, task);
    if (text_equal(field->key, "priority"))
        return read_priority(value, &task->priority);
    if (text_equal(field->key, "requirements"))
        return backlog_requirements(value, arena, task);
    return read_reference(value, arena, &task->parent);
}

static bool read_value(const Field *field, const json_t *value, Arena *arena, BacklogTask *task,
                       Str *allowed)
{
    if (field->type != FIELD_OWN)
        return field_read(field, value, task, arena, allowed);
    bool is_read = read_own(field, value, arena, task);
    if (!is_read)
        field_allowed(field, allowed);
    return is_read;
}

static bool refuse_value(int line, const char *key, const json_t *value, const char *allowed,
                         Err *err)
{
    char *shown = json_dumps(value, JSON_ENCODE_ANY);
    (void)err_set(err, ERR_USAGE, "%d: %s: %.60s%s is not allowed; it must be %s", line, key, shown,
                  strlen(shown) > 60 ? "..." : "", allowed); /* false is returned below */
    free(shown);
    return false;
}

static bool read_key(int line, const char *key, const json_t *value, Arena *arena,
                     BacklogTask *task, Err *err)
{
    CLEANUP(str_done) Str allowed = STR_INIT;
    const Field *field = field_find(backlog_rows(), key);
    if (!field) {
        CLEANUP(str_done) Str shown = STR_INIT; /* the key is the file's; it goes to a terminal */
        str_add_safe(&shown, key, strlen(key), false);
        field_suggest(backlog_rows(), "", key, &allowed);
        return err_set(err, ERR_USAGE, "%d: %.100s: unknown key%s", line, str_text(&shown),
                       str_text(&allowed));
    }
    if (json_is_null(value) || read_value(field, value, arena, task, &allowed))
        return true; /* nothing after the colon: as if the key were not there */
    return refuse_value(line, key, value, str_text(&allowed), err);
}

/* The reader counts from the block's first line; people count from the file's. */
static bool shift_line(int by, Err *err)
{
    int line = 0, used = 0;
    if (!err || sscanf(err->text, "line %d: %n", &line, &used) != 1 || !used)
        return err_add(err, "%d", by);
    char rest[sizeof err->text];
    (void)snprintf(rest, sizeof rest, "%s", err->text + used); /* fits: it came from there */
    return err_set(err, ERR_USAGE, "%d: %s", line + by - 1, rest);
}

bool backlog_front_matter(const BacklogPart *part, Arena *arena, BacklogTask *task, Err *err)
{
    CLEANUP(yaml_done) YamlDoc doc = {NULL, NULL};
    if (!yaml_read(part->yaml, part->yaml_length, &doc, err))
        return shift_line(part->yaml_line, err);
    if (!doc.root || json_is_null(doc.root))
        return true; /* an empty block: the title is in the text */
    if (!json_is_object(doc.root))
        return err_set(err, ERR_USAGE,
                       "%d: a front matter is a map of keys and values (write '***' for a ruler)",
                       part->yaml_line);
    const char *key;
    json_t *value;
    json_object_foreach(doc.root, key, value)
    {
        int line = part->yaml_line + MAX(yaml_line(&doc, key), 1) - 1;
        if (!read_key(line, key, value, arena, task, err))
            return false;
    }
    return true;
}
