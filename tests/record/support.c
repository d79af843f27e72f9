#include "tests/record/support.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void must(bool is_done, const Err *err)
{
    if (!is_done)
        fail_msg("%s: %s", err_kind_name(err->kind), err->text);
}

int room_setup(void **state)
{
    Room *room = mem_alloc(sizeof *room);
    char path[128];
    snprintf(room->folder, sizeof room->folder, "/tmp/otto-record-XXXXXX");
    assert_non_null(mkdtemp(room->folder));
    snprintf(path, sizeof path, "%s/otto.db", room->folder);
    room->store = store_open(path, STORE_CREATE, &room->err);
    must(room->store, &room->err);
    Project project = {.id = 1};
    StoreProjectText text = {.id = 1,
                             .path = "/shop",
                             .hub = "",
                             .target = "main",
                             .name = "shop",
                             .settings_json = "{}",
                             .added_ms = T0};
    must(store_begin(room->store, &room->err), &room->err);
    must(store_project_save(room->store, &project, &room->err), &room->err);
    must(store_project_text_save(room->store, &text, &room->err), &room->err);
    must(store_commit(room->store, &room->err), &room->err);
    *state = room;
    return 0;
}

int room_teardown(void **state)
{
    Room *room = *state;
    store_free(room->store);
    must(folder_remove(room->folder, &room->err), &room->err);
    free(room);
    return 0;
}

void task_put(Room *room, TaskId id, const char *title, const char *body)
{
    Task task = {
        .id = id, .project = 1, .state = TASK_PENDING, .created_ms = T0, .priority = PRIORITY_NONE};
    StoreTaskText text = {.id = id,
                          .project = 1,
                          .title = title,
                          .body = body,
                          .key = "",
                          .checks_json = "[]",
                          .tags_json = "[]",
                          .size = "",
                          .agent = "",
                          .workflow = "staged",
                          .type = "software",
                          .created_ms = T0};
    must(store_begin(room->store, &room->err), &room->err);
    must(store_task_save(room->store, &task, &room->err), &room->err);
    must(store_task_text_save(room->store, &text, &room->err), &room->err);
    must(store_commit(room->store, &room->err), &room->err);
}

static const char *word_of(char words[8][64], size_t i)
{
    return strcmp(words[i], "-") ? words[i] : "";
}

/* words: "phase checkpoint result row next status agent commit", "-" for none. */
void step_put(Room *room, TaskId task, int minute, uint32_t stage, const char *words)
{
    char word[8][64];
    assert_int_equal(sscanf(words, "%63s %63s %63s %63s %63s %63s %63s %63s", word[0], word[1],
                            word[2], word[3], word[4], word[5], word[6], word[7]),
                     8);
    StoreStep step = {.task = task,
                      .run = 1,
                      .epoch = 1,
                      .turn = (uint32_t)minute + 1,
                      .stage = stage,
                      .phase = word_of(word, 0),
                      .checkpoint = word_of(word, 1),
                      .result = word_of(word, 2),
                      .row = word_of(word, 3),
                      .why = "because the row says so",
                      .next = word_of(word, 4),
                      .status = word_of(word, 5),
                      .agent = word_of(word, 6),
                      .commit = word_of(word, 7),
                      .prompt_hash = "",
                      .started_ms = T0 + minute * MINUTE,
                      .ended_ms = T0 + minute * MINUTE + 45000};
    must(store_step_put(room->store, &step, NULL, &room->err), &room->err);
}

void record_put(Room *room, TaskId task, int minute, uint32_t stage, RecordKind kind,
                const char *checkpoint, const char *result, const char *text, const char *data)
{
    StoreRecord record = {.task = task,
                          .run = 1,
                          .epoch = 1,
                          .turn = (uint32_t)minute + 1,
                          .stage = stage,
                          .kind = kind,
                          .checkpoint = checkpoint,
                          .result = result,
                          .text = text,
                          .data = data,
                          .at_ms = T0 + minute * MINUTE + 45000};
    must(store_record_put(room->store, &record, NULL, &room->err), &room->err);
}

/* ---- files ---- */

bool files_take(void *user, const char *path, const char *text, Err *err)
{
    Files *files = user;
    (void)err;
    assert_true(files->count < COUNT(files->paths));
    assert_null(files_find(files, path));
    assert_true(text[0] && text[strlen(text) - 1] == '\n');
    assert_true(path[0] != '/' && !strstr(path, "..") && !strstr(path, "//"));
    assert_int_equal(strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_./"),
                     strlen(path));
    files->paths[files->count] = mem_strdup(path);
    files->texts[files->count++] = mem_strdup(text);
    return true;
}

const char *files_find(const Files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (!strcmp(files->paths[i], path))
            return files->texts[i];
    return NULL;
}

const char *files_get(const Files *files, const char *path)
{
    const char *text = files_find(files, path);
    if (!text)
        fail_msg("no file '%s'", path);
    return text;
}

void files_done(Files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->paths[i]);
        free(files->texts[i]);
    }
    files->count = 0;
}

/* ---- looking at texts ---- */

void assert_golden(const char *name, const char *text)
{
    Err err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    const char *mode = getenv("OTTO_GOLDEN");
    if (mode && !strcmp(mode, "write"))
        must(file_write_plain(path, text, strlen(text), 0644, &err), &err);
    char *golden = file_read(path, 1 << 24, NULL, &err);
    must(golden, &err);
    assert_string_equal(text, golden);
    free(golden);
}

void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is missing in:\n%.4000s", part, text);
}

void assert_has_not(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    if (at)
        fail_msg("'%s' is there: …%.200s", part, at);
}

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    return columns;
}

void assert_markdown(const char *text)
{
    size_t columns = 0, fence = 0;
    bool was_empty = true;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), ticks = strspn(line, "`");
        if (ticks >= 3 && ticks == length && (!fence || ticks == fence)) {
            fence = fence ? 0 : ticks;
        } else if (!fence && *line == '|') {
            size_t here = columns_of(line, length);
            if (columns && here != columns)
                fail_msg("a row with %zu columns instead of %zu: %.200s", here, columns, line);
            if (!columns && !was_empty)
                fail_msg("a table without an empty line before it: %.200s", line);
            columns = here;
        } else if (!fence) {
            columns = 0;
            if (*line == '#' && !was_empty)
                fail_msg("a heading without an empty line before it: %.200s", line);
        }
        was_empty = length == 0;
        line += length + (line[length] == '\n');
    }
    assert_int_equal(fence, 0);
}

/* Behind the code span that begins at text; text itself when it does not end in its line. */
static const char *behind_code(const char *text)
{
    size_t ticks = strspn(text, "`");
    for (const char *at = text + ticks; *at && *at != '\n';) {
        size_t run = strspn(at, "`");
        if (run == ticks)
            return at + run;
        at += run ? run : 1;
    }
    return text;
}

void assert_no_tags(const char *text)
{
    size_t fence = 0;
    bool is_start = true;
    while (*text) {
        size_t ticks = strspn(text, "`");
        bool is_fence = is_start && ticks >= 3 && (text[ticks] == '\n' || !text[ticks]);
        if (is_fence && (!fence || ticks == fence)) {
            fence = fence ? 0 : ticks;
            text += ticks;
            continue;
        }
        if (!fence && ticks && behind_code(text) > text) {
            text = behind_code(text);
            continue;
        }
        if (!fence && *text == '<')
            fail_msg("a tag: %.100s", text);
        if (!fence && *text == ']' && (text[1] == '(' || text[1] == '['))
            fail_msg("a link: %.100s", text);
        is_start = *text == '\n';
        text += !fence && *text == '\\' && text[1] ? 2 : 1;
    }
}

enum { DEPTH_MAX = 64 };

static bool is_known_tag(const char *tag)
{
    static const char *const tags[] = {
        "html", "head", "title", "style", "body",  "header",     "nav",  "main",
        "h1",   "h2",   "h3",    "h4",    "p",     "ul",         "li",   "a",
        "dl",   "div",  "dt",    "dd",    "pre",   "code",       "span", "table",
        "tr",   "th",   "td",    "thead", "tbody", "blockquote", "meta"};
    for (size_t i = 0; i < COUNT(tags); i++)
        if (!strcmp(tags[i], tag))
            return true;
    return false;
}

void assert_html(const char *text)
{
    char open[DEPTH_MAX][16];
    size_t depth = 0;
    assert_int_equal(strncmp(text, "<!DOCTYPE html>\n", 16), 0);
    for (const char *at = text + 16; (at = strchr(at, '<')); at++) {
        bool is_end = at[1] == '/';
        char tag[16] = "";
        const char *end = strchr(at, '>');
        assert_non_null(end);
        assert_int_equal(sscanf(at + 1 + is_end, "%15[a-z0-9]", tag), 1);
        if (!is_known_tag(tag))
            fail_msg("a tag that is not ours: %.100s", at);
        if (is_end) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], tag);
        } else if (end[-1] != '/') {
            assert_true(depth < DEPTH_MAX);
            memcpy(open[depth++], tag, sizeof tag);
        }
    }
    assert_int_equal(depth, 0);
}

void assert_clean(const char *text)
{
    size_t left = strlen(text);
    while (left) {
        unsigned char c = (unsigned char)*text;
        size_t step = utf8_length(text, left);
        if (step == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
            (c == 0xc2 && (unsigned char)text[1] < 0xa0))
            fail_msg("a byte 0x%02x is left before: %.40s", c, text + (step ? step : 1));
        if (step == 3 && c == 0xe2 && (unsigned char)text[1] == 0x80 &&
            (unsigned char)text[2] >= 0xaa && (unsigned char)text[2] <= 0xae)
            fail_msg("the direction of writing is turned");
        text += step;
        left -= step;
    }
}
