/* YAML reading: see yaml.h. */
#include "base/yaml.h"
#include "base/str.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MOST_DEPTH = 64 };

typedef struct Reader {
    yaml_parser_t parser;
    json_t *lines;
    Err *err;
    int depth;
} Reader;

static json_t *read_node(Reader *reader, yaml_event_t *event, const char *path);

static bool next_event(Reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return true;
    const yaml_parser_t *p = &reader->parser;
    return err_set(reader->err, ERR_USAGE, "line %zu: %s", p->problem_mark.line + 1,
                   p->problem ? p->problem : "not valid YAML");
}

static json_t *plain_scalar(const char *text)
{
    if (!*text || text_equal(text, "~") || text_equal(text, "null"))
        return json_null();
    if (text_equal(text, "true"))
        return json_true();
    if (text_equal(text, "false"))
        return json_false();
    int64_t number;
    if (text_to_int(text, &number))
        return json_integer(number);
    if (strspn(text, "0123456789+-.eE") == strlen(text) && strpbrk(text, "0123456789")) {
        char *end = NULL;
        errno = 0;
        double real = strtod(text, &end);
        if (!errno && !*end)
            return json_real(real);
    }
    return NULL;
}

static json_t *read_scalar(Reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        json_t *plain = plain_scalar(text);
        if (plain)
            return plain;
    }
    json_t *string = json_stringn(text, length);
    if (!string)
        (void)err_set(reader->err, ERR_USAGE, "line %zu: text is not valid UTF-8",
                      event->start_mark.line + 1); /* NULL says it failed */
    return string;
}

static json_t *read_list(Reader *reader, const char *path)
{
    json_t *list = json_array();
    for (size_t i = 0;; i++) {
        yaml_event_t event;
        if (!next_event(reader, &event))
            goto fail;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return list;
        }
        CLEANUP(str_done) Str below = STR_INIT;
        str_addf(&below, "%s[%zu]", path, i);
        json_object_set_new(reader->lines, str_text(&below),
                            json_integer((json_int_t)event.start_mark.line + 1));
        json_t *item = read_node(reader, &event, str_text(&below));
        yaml_event_delete(&event);
        if (!item || json_array_append_new(list, item) != 0)
            goto fail;
    }
fail:
    json_decref(list);
    return NULL;
}

/* Reads one key and its value into map. 1: go on, 0: end of the map, -1: failed. */
static int read_pair(Reader *reader, json_t *map, const char *path)
{
    yaml_event_t key, value;
    CLEANUP(str_done) Str below = STR_INIT;
    int verdict = -1;
    if (!next_event(reader, &key))
        return -1;
    if (key.type == YAML_MAPPING_END_EVENT) {
        yaml_event_delete(&key);
        return 0;
    }
    size_t line = key.start_mark.line + 1;
    if (key.type != YAML_SCALAR_EVENT) {
        (void)err_set(reader->err, ERR_USAGE, "line %zu: a key must be plain text", line);
        goto done;
    }
    const char *name = (const char *)key.data.scalar.value;
    if (json_object_get(map, name)) {
        (void)err_set(reader->err, ERR_USAGE, "line %zu: key '%s' stands twice", line, name);
        goto done;
    }
    if (!next_event(reader, &value))
        goto done;
    str_addf(&below, "%s%s%s", path, *path ? "." : "", name);
    json_object_set_new(reader->lines, str_text(&below), json_integer((json_int_t)line));
    json_t *item = read_node(reader, &value, str_text(&below));
    yaml_event_delete(&value);
    if (item && json_object_set_new(map, name, item) == 0)
        verdict = 1;
    else if (item)
        (void)err_set(reader->err, ERR_USAGE, "line %zu: key is not valid UTF-8", line);
done:
    yaml_event_delete(&key);
    return verdict;
}

static json_t *read_map(Reader *reader, const char *path)
{
    json_t *map = json_object();
    int verdict;
    while ((verdict = read_pair(reader, map, path)) > 0)
        continue;
    if (verdict == 0)
        return map;
    json_decref(map);
    return NULL;
}

/* Anchors and tags: a settings file is data, read once from top to bottom. */
static bool is_decorated(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        break;
    }
    return false;
}

static json_t *read_node(Reader *reader, yaml_event_t *event, const char *path)
{
    size_t line = event->start_mark.line + 1;
    json_t *node = NULL;
    if (++reader->depth > MOST_DEPTH)
        (void)err_set(reader->err, ERR_USAGE, "line %zu: nested too deeply", line);
    else if (is_decorated(event))
        (void)err_set(reader->err, ERR_USAGE, "line %zu: anchors and tags are not used here", line);
    else if (event->type == YAML_SCALAR_EVENT)
        node = read_scalar(reader, event);
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        node = read_list(reader, path);
    else if (event->type == YAML_MAPPING_START_EVENT)
        node = read_map(reader, path);
    else
        (void)err_set(reader->err, ERR_USAGE, "line %zu: anchors and aliases are not used here",
                      line); /* NULL says it failed */
    reader->depth--;
    return node;
}

static bool read_document(Reader *reader, YamlDoc *doc)
{
    yaml_event_t event;
    for (;;) {
        if (!next_event(reader, &event))
            return false;
        yaml_event_type_t type = event.type;
        if (type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&event);
            return true;
        }
        bool is_node = type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
                       type != YAML_DOCUMENT_END_EVENT;
        if (is_node && doc->root) {
            (void)err_set(reader->err, ERR_USAGE, "line %zu: only one document is allowed",
                          event.start_mark.line + 1);
            yaml_event_delete(&event);
            return false;
        }
        if (is_node)
            doc->root = read_node(reader, &event, "");
        yaml_event_delete(&event);
        if (is_node && !doc->root)
            return false;
    }
}

bool yaml_read(const char *text, size_t length, YamlDoc *doc, Err *err)
{
    YamlDoc fresh = {NULL, json_object()};
    Reader reader = {.lines = fresh.lines, .err = err};
    if (!yaml_parser_initialize(&reader.parser))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    bool is_read = read_document(&reader, &fresh);
    yaml_parser_delete(&reader.parser);
    if (!is_read) {
        yaml_done(&fresh);
        return false;
    }
    *doc = fresh;
    return true;
}

int yaml_line(const YamlDoc *doc, const char *path)
{
    return (int)json_integer_value(json_object_get(doc->lines, path));
}

void yaml_done(YamlDoc *doc)
{
    json_decref(doc->root);
    json_decref(doc->lines);
    *doc = (YamlDoc){NULL, NULL};
}
