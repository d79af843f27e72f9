/* Events as rows and JSON: see event.h. */
#include "core/event.h"

typedef struct EventRow {
    const char *word;
    const char *a, *b, *text, *ref, *ref2; /* names of the fields, NULL where unused */
    const char *help;
} EventRow;

static const EventRow rows[] = {
#define X(kind, word, a, b, text, ref, ref2, help) [kind] = {word, a, b, text, ref, ref2, help},
    EVENTS(X)
#undef X
};

const char *event_word(EventKind kind)
{
    return rows[kind].word;
}

const char *event_help(EventKind kind)
{
    return rows[kind].help;
}

bool event_find(const char *word, EventKind *kind)
{
    for (unsigned i = 0; i < COUNT(rows); i++)
        if (text_equal(rows[i].word, word)) {
            *kind = (EventKind)i;
            return true;
        }
    return false;
}

static void add_key(Str *out, const char *name)
{
    str_add(out, out->bytes[out->length - 1] == '{' ? "\"" : ",\"");
    str_add(out, name);
    str_add(out, "\":");
}

static void add_number(Str *out, const char *name, int64_t value)
{
    if (!name || value == 0)
        return;
    add_key(out, name);
    str_add_int(out, value);
}

static void add_text(Str *out, const char *name, const char *value)
{
    if (!name || !value)
        return;
    add_key(out, name);
    str_add_json(out, value);
}

void event_write(const Event *event, Str *out)
{
    const EventRow *row = &rows[event->kind];
    str_add_char(out, '{');
    add_number(out, row->a, event->a);
    add_number(out, row->b, event->b);
    add_text(out, row->text, event->text);
    add_text(out, row->ref, event->ref);
    add_text(out, row->ref2, event->ref2);
    str_add_char(out, '}');
}

void event_read(Event *event, const json_t *data)
{
    const EventRow *row = &rows[event->kind];
    event->a = row->a ? json_int(data, row->a, 0) : 0;
    event->b = row->b ? json_int(data, row->b, 0) : 0;
    event->text = row->text ? json_text(data, row->text, NULL) : NULL;
    event->ref = row->ref ? json_text(data, row->ref, NULL) : NULL;
    event->ref2 = row->ref2 ? json_text(data, row->ref2, NULL) : NULL;
}
